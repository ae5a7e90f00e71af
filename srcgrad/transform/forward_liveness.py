"""Which tangents are read later: the liveness of tangent variables over the primal program.

Enters: ``Activity``.  Leaves: ``Tangents``.  The tangent of a name is *live* at a point if a path from there reads it
before the name is bound again; only operands that are varied are read::

    s = 0.0                     s_dot is live: the loop reads it
    for i in range(n):
        t = 2.0                 t_dot is not: t is not varied
        s = s + t * x[i]

The tangent of a tape carries the positions of its tuples whose tangent is live somewhere, all of them if the tape is
more than appended to and popped.  The tangents of a mutable class that moves are live throughout, if any of them is
live somewhere: where nothing is read from a class, nothing that is stored into it needs a tangent.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import gast

from srcgrad.analysis.activity import Activity, atoms, entry_name, inputs
from srcgrad.analysis.cfg import ENTRY, bound_here, solve, walk
from srcgrad.analysis.moving import Moving
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    Apply,
    AugStore,
    Bind,
    Block,
    Call,
    Copy,
    Exchange,
    Fixed,
    For,
    Function,
    Pack,
    Pop,
    Return,
    SetField,
    Statement,
    Store,
    Unpack,
)


@dataclass(frozen=True, eq=False)
class Tangents:
    """Answers by statement; ``before`` and ``after`` hold the live sets of the graph's nodes."""

    activity: Activity
    before: list[int]
    after: list[int]
    escaping: frozenset[str]  # tapes that are read as a whole
    buffers: frozenset[str]  # names that may hold an array that is added to in place
    ever: int  # what is live somewhere
    mirrored: frozenset[str] = frozenset()  # names of mutable classes that move: always live and varied
    renewed: frozenset[str] = frozenset()  # names of buffers that are added to in place under no other name

    def _whole(self, name: str) -> int:
        names, width = self.activity.names, self.activity.tapes.get(name, 0)
        return names.mask([name, *(entry_name(name, j) for j in range(width))])

    def is_live(self, name: str) -> bool:
        """Whether the tangent of ``name`` is live somewhere."""
        return bool(self.ever & self._whole(name))

    def varied(self, name: str, statement: Statement) -> bool:
        """Whether a name is varied just before a statement."""
        return bool(self.activity.varied_in[self.activity.graph.heads[statement]] & self._whole(name))

    def moves(self, statement: Statement) -> bool:
        """Whether some operand is varied."""
        return any(self.varied(name, statement) for name in inputs(statement))

    def needed_after(self, name: str, statement: Statement) -> bool:
        """Whether the tangent of ``name`` is live after a simple statement."""
        return name in self.mirrored or bool(self.after[self.activity.graph.heads[statement]] & self._whole(name))

    def needed_at_entry(self, name: str) -> bool:
        return name in self.mirrored or bool(self.before[ENTRY] & self._whole(name))

    def needed_in(self, body: Block, name: str) -> bool:
        """Whether the tangent of a loop's index is live where a pass starts."""
        if not body.statements:
            return False
        return bool(self.before[self.activity.graph.heads[body.statements[0]]] & self._whole(name))

    def pops(self, statement: Pop) -> bool:
        """Whether the tangent of a sequence is there to be popped."""
        sequence = statement.sequence
        live = self.before[self.activity.graph.heads[statement]]
        return sequence in self.mirrored or bool(live & self._whole(sequence))

    def needed_entry(self, statement: Append, position: int) -> bool:
        """Whether the tangent at one position of a tape's tuples is live after an append."""
        wanted = self.activity.names.mask([statement.sequence, entry_name(statement.sequence, position)])
        return statement.sequence in self.mirrored or bool(self.after[self.activity.graph.heads[statement]] & wanted)

    def moves_entry(self, statement: Pop, position: int) -> bool:
        """Whether what is popped at one position is varied."""
        sequence = statement.sequence
        read = self.activity.names.mask([sequence, entry_name(sequence, position)] if statement.tupled else [sequence])
        return bool(self.activity.varied_in[self.activity.graph.heads[statement]] & read)

    def positions(self, tape: str) -> tuple[int, ...]:
        """The positions of a tape's tuples that its tangent carries."""
        width = self.activity.tapes[tape]
        names = self.activity.names
        if tape in self.escaping:
            return tuple(range(width))
        return tuple(j for j in range(width) if self.ever & names.mask((entry_name(tape, j),)))


def tangents_of(activity: Activity, mirrored: frozenset[str] = frozenset()) -> Tangents:
    escaping: set[str] = (set(activity.function.parameters) | mirrored) & set(activity.tapes)
    copies: list[tuple[str, str]] = []
    buffers: set[str] = set()
    for statement in activity.graph.heads:
        match statement:
            case AddAt(buffer=buffer):
                buffers.add(buffer)
            case Bind(target=target, operation=Copy(source=source)):
                copies.append((target, source))
        made = statement.operation if isinstance(statement, Bind) else None
        if not (isinstance(made, Pack) and not made.elements):
            escaping.update(name for name in (*bound_here(statement), *inputs(statement)) if name in activity.tapes)
    renewed = _renewed(activity.function) - mirrored
    buffers |= renewed
    changed = bool(buffers)
    while changed:
        size = len(buffers)
        for pair in copies:
            if buffers.intersection(pair):
                buffers.update(pair)
        changed = len(buffers) > size
    transfer = _Transfer(activity, mirrored)
    after, before = solve(activity.graph, transfer, 0, backward=True)
    ever = 0
    for state in (*before, *after):
        ever |= state
    return Tangents(activity, before, after, frozenset(escaping), frozenset(buffers), ever, mirrored, renewed)


def _renewed(function: Function) -> frozenset[str]:
    """The buffers that our own output makes and adds to, and that no callee makes or is given: a callee's tangent may
    be memory of another one where its value is not."""
    found: set[str] = set()
    others = set(function.parameters)
    for statement in walk(function.body):
        match statement:
            case Bind(target=target, owned=True):
                found.add(target)
            case Bind(target=target, operation=Call(arguments=arguments)):
                others.update((target, *(name for argument in arguments for name in atoms(argument))))
            case Bind(operation=Apply() | Fixed()):
                pass
            case _:
                others.update(bound_here(statement))
    return frozenset(found - others)


def mirrored_in(moved: Moving, seen: Collection[str]) -> frozenset[str]:
    """The names of classes that move of which some tangent is live; those of ``seen`` are read by the caller."""
    roots = {moved.classes.root(name) for name in moved.names.intersection(seen)}
    while True:
        found = frozenset(name for name in moved.names if moved.classes.root(name) in roots)
        tangents = tangents_of(moved.activity, found)
        live = {moved.classes.root(name) for name in moved.names if tangents.is_live(name)}
        if live <= roots:
            return found
        roots |= live


class _Transfer:
    """From the tangents live after a node to those live before it."""

    def __init__(self, activity: Activity, mirrored: frozenset[str]) -> None:
        self.activity = activity
        self.graph = activity.graph
        self.names = activity.names
        self.entries = {
            tape: self.names.mask(entry_name(tape, j) for j in range(width)) for tape, width in activity.tapes.items()
        }
        self.reads: dict[int, int] = {}
        self.binds: dict[int, int] = {}
        for node, statement in enumerate(self.graph.statements):
            if statement is not None and not self.graph.is_tail[node]:
                self.reads[node] = self._whole(inputs(statement)) & activity.varied_in[node]
                self.binds[node] = self._whole(bound_here(statement))
        self.mirrored = self._whole(tuple(mirrored))

    def _whole(self, listed: tuple[str, ...]) -> int:
        bits = self.names.mask(listed)
        for name in listed:
            bits |= self.entries.get(name, 0)
        return bits

    def __call__(self, node: int, state: int) -> int:
        return self._before(node, state | self.mirrored) | self.mirrored

    def _before(self, node: int, state: int) -> int:
        statement = None if self.graph.is_tail[node] else self.graph.statements[node]
        match statement:
            case Bind(operation=Exchange(base=base)) | Store(base=base) | AugStore(base=base) | SetField(base=base):
                changed = self.binds[node] | self._whole((base,))
                return state | self.reads[node] if state & changed else state
            case Bind(operation=Call()) if self.reads[node] & self.mirrored:
                return state & ~self.binds[node] | self.reads[node]
            case Bind() | Unpack():
                if state & self.binds[node]:
                    return state & ~self.binds[node] | self.reads[node]
            case For():
                # Bound on the way into the body only; before the loop the tangent of an older value may be live.
                return state
            case Return():
                return self.reads[node]
            case Append(sequence=sequence, value=gast.Tuple(elts=elements)):
                if state & self._whole((sequence,)):
                    for position, element in enumerate(elements):
                        if state & self.names.mask((sequence, entry_name(sequence, position))):
                            state |= self._whole(atoms(element)) & self.activity.varied_in[node]
            case Append(sequence=sequence):
                if state & self._whole((sequence,)):
                    return state | self.reads[node]
            case Pop(sequence=sequence, targets=targets, tupled=tupled):
                varied = self.activity.varied_in[node]
                made = state & ~self.binds[node]
                for position, target in enumerate(targets):
                    source = self.names.mask((sequence, entry_name(sequence, position)) if tupled else (sequence,))
                    if state & self.names.mask((target,)) and varied & source:
                        made |= self.names.mask((entry_name(sequence, position) if tupled else sequence,))
                return made
            case AddAt(buffer=buffer):
                if state & self.names.mask((buffer,)):
                    return state | self.reads[node]
        return state
