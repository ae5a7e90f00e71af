"""Blocks, versions and exits: where in a function a name is bound, and how control leaves a block early.

Enters: ``Function``.  Leaves: ``Layout``, in which every block knows its parent, whether it repeats, which of its
statements may bind each name, and which numbered exits leave it.  The *version* v.k of a name in a block is what it
holds after the k-th statement of the block that may bind it; v.0 is what it holds when the pass starts.  Exits are
numbered against the program order, so that ``leave < m`` says "not left before that point" (0: fell through)::

    for i in range(n):          # the body repeats; it binds s (twice) and t
        t = s * x               # reads s.0, binds t.1
        if t > 9.0:
            break               # exit 2
        s = t + 1.0             # binds s.1
        if s < 0.0:
            continue            # exit 1
        s = s * 2.0             # binds s.2;  runs when leave < 1
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from srcgrad.analysis.activity import inputs
from srcgrad.analysis.cfg import blocks_of, bound_here, walk
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    Apply,
    Bind,
    Block,
    Break,
    Continue,
    Fixed,
    For,
    Function,
    Return,
    Statement,
    While,
)
from srcgrad.rules.memory import LIBRARIES, home_of


@dataclass(frozen=True, eq=False)
class Frame:
    """One block in its surroundings."""

    block: Block
    parent: Frame | None
    position: int  # of the compound statement that holds this block, in the parent
    owner: Statement | None  # that compound statement
    repeats: bool  # runs more than once in one call
    binders: Mapping[str, tuple[int, ...]]  # name -> positions of the statements that may bind it
    exits: tuple[tuple[int, ...], ...]  # per statement: the numbers of the exits in it that leave this block
    guards: tuple[int | None, ...]  # per statement: the m of ``leave < m`` under which it ran; None if it always did

    @property
    def is_loop(self) -> bool:
        return isinstance(self.owner, For | While)

    @cached_property
    def first_exit(self) -> int:
        """The position of the first statement that contains an exit from this block (its length if there is none)."""
        return next((j for j, numbers in enumerate(self.exits) if numbers), len(self.block.statements))

    def binds(self, name: str) -> bool:
        return name in self.binders or (isinstance(self.owner, For) and self.owner.index == name)


class Slot(NamedTuple):
    """One version of a name in one block; what the reverse sweep may ask for."""

    order: int  # of the block, in program order
    defined: int  # the position that binds it, -1 at the start of a pass
    name: str
    until: int  # the position of the statement that binds the name next, or the block's length
    hidden: bool = False  # a decision, trip count or saved tuple that the compiler binds at ``defined``


@dataclass(frozen=True, eq=False)
class Layout:
    function: Function
    frames: tuple[Frame, ...]  # in program order; the first is the function body
    number_of: Mapping[Statement, int]  # exit statement -> number
    orders: Mapping[Block, int]
    numbers: frozenset[str]  # names that hold one number: recorded where they are bound, not once per branch
    stored: frozenset[str]  # names that may share memory with a buffer that is added to in place

    def frame(self, block: Block) -> Frame:
        return self.frames[self.orders[block]]

    def slot(self, name: str, block: Block, position: int) -> Slot:
        """The version of ``name`` that a read just before ``position`` of ``block`` sees."""
        frame: Frame = self.frame(block)
        while True:
            positions = frame.binders.get(name, ())
            k = bisect_left(positions, position)
            inherited = not k and frame.repeats and not frame.is_loop and name in self.numbers
            if (k or frame.binds(name) or frame.parent is None) and not inherited:
                length = len(frame.block.statements)
                return Slot(
                    self.orders[frame.block],
                    positions[k - 1] if k else -1,
                    name,
                    positions[k] if k < len(positions) else length,
                )
            assert frame.parent is not None
            frame, position = frame.parent, frame.position

    def rebound_after(self, slot: Slot) -> bool:
        """Whether anything after the slot's block, in the blocks around it, may bind its name again."""
        frame = self.frames[slot.order]
        while frame.parent is not None:
            positions = frame.parent.binders.get(slot.name, ())
            if frame.is_loop or bisect_left(positions, frame.position + 1) < len(positions):
                return True
            frame = frame.parent
        return False

    def returns(self) -> tuple[Return, ...]:
        return tuple(s for s in self.number_of if isinstance(s, Return))

    def single_return(self) -> bool:
        """Whether the only return is the last statement of the function body."""
        statements = self.function.body.statements
        return len(self.returns()) == 1 and bool(statements) and isinstance(statements[-1], Return)


def layout_of(
    function: Function, numbers: frozenset[str] = frozenset(), shadowed: frozenset[str] = frozenset()
) -> Layout:
    """``shadowed``: names of mutable classes, whose records are references and whose stores make no versions."""
    exits = [s for s in walk(function.body) if isinstance(s, Break | Continue | Return)]
    number_of: dict[Statement, int] = {s: len(exits) - k for k, s in enumerate(exits)}
    frames: list[Frame] = []
    orders: dict[Block, int] = {}
    bound: dict[Statement, tuple[str, ...]] = {}
    leaving: dict[Statement, tuple[int, ...]] = {}
    returns = frozenset(number for s, number in number_of.items() if isinstance(s, Return))
    classes = _stored_classes(function, shadowed)
    _summarise(function.body, number_of, returns, classes, bound, leaving)
    _frames(function.body, None, 0, None, False, bound, leaving, frames, orders)
    return Layout(function, tuple(frames), number_of, orders, numbers, frozenset(classes))


def _stored_classes(function: Function, shadowed: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """For each name that may share memory with a stored buffer: all the names of its class (union-find).

    Only elementwise functions of NumPy and Python's operators are known to make a new array; every other operation may
    hand on a view of an operand.
    """
    buffers = [s.buffer for s in walk(function.body) if isinstance(s, AddAt) and s.buffer not in shadowed]
    if not buffers:
        return {}
    parents: dict[str, str] = {}

    def root(name: str) -> str:
        while parents.setdefault(name, name) != name:
            parents[name] = parents[parents[name]]
            name = parents[name]
        return name

    for statement in walk(function.body):
        match statement:
            case AddAt() | Append() | Return() | Bind(operation=Fixed()):
                continue
            case Bind(operation=Apply(rule=rule, function=called)) if rule.kind == "elementwise":
                if home_of(called) in LIBRARIES:
                    continue
        # A buffer that is not shadowed shares memory with nothing that is: the memory classes prove it.
        linked = [name for name in (*bound_here(statement), *inputs(statement)) if name not in shadowed]
        for name in linked[1:]:
            parents[root(name)] = root(linked[0])
    stored = {root(buffer) for buffer in buffers}
    members: dict[str, list[str]] = {}
    for name in list(parents):
        members.setdefault(root(name), []).append(name)
    return {name: tuple(sorted(members[top])) for top in stored for name in members[top]}


def _summarise(
    block: Block,
    number_of: Mapping[Statement, int],
    returns: Set[int],
    classes: Mapping[str, tuple[str, ...]],
    bound: dict[Statement, tuple[str, ...]],
    leaving: dict[Statement, tuple[int, ...]],
) -> None:
    """For every statement: the names it may bind, and the exits in it that leave the block it stands in."""
    for statement in block.statements:
        names = dict.fromkeys(bound_here(statement))
        if isinstance(statement, AddAt) and statement.buffer in classes:
            # What a buffer holds after a store is another version, of every name that may show it.
            names = dict.fromkeys(classes[statement.buffer])
        numbers: list[int] = [number_of[statement]] if statement in number_of else []
        for inner in blocks_of(statement):
            _summarise(inner, number_of, returns, classes, bound, leaving)
            for nested in inner.statements:
                names.update(dict.fromkeys(bound[nested]))
                numbers.extend(leaving[nested])
        if isinstance(statement, For | While):
            numbers = [n for n in numbers if n in returns]
        bound[statement] = tuple(names)
        leaving[statement] = tuple(numbers)


def _guards(exits: Iterable[tuple[int, ...]]) -> tuple[int | None, ...]:
    guards: list[int | None] = []
    least: int | None = None
    for numbers in exits:
        guards.append(least)
        least = min((n for n in (least, *numbers) if n is not None), default=None)
    return tuple(guards)


def _frames(
    block: Block,
    parent: Frame | None,
    position: int,
    owner: Statement | None,
    repeats: bool,
    bound: Mapping[Statement, tuple[str, ...]],
    leaving: Mapping[Statement, tuple[int, ...]],
    frames: list[Frame],
    orders: dict[Block, int],
) -> None:
    binders: dict[str, list[int]] = {}
    for j, statement in enumerate(block.statements):
        for name in bound[statement]:
            binders.setdefault(name, []).append(j)
    frame = Frame(
        block,
        parent,
        position,
        owner,
        repeats,
        {name: tuple(positions) for name, positions in binders.items()},
        tuple(leaving[statement] for statement in block.statements),
        _guards(leaving[statement] for statement in block.statements),
    )
    orders[block] = len(frames)
    frames.append(frame)
    for j, statement in enumerate(block.statements):
        for inner in blocks_of(statement):
            again = repeats or isinstance(statement, For | While)
            _frames(inner, frame, j, statement, again, bound, leaving, frames, orders)
