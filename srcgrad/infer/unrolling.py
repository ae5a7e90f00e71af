"""Loops whose rounds are followed one by one, since what they go over says which attributes are read or stored.

Enters: a call of ``getattr``, ``setattr`` or ``hasattr`` whose name is another one in each round of a loop around it,
over a short tuple.  Leaves: the IR of the function with the rounds one after the other, with which the analysis starts
again::

    for name in ("a", "b"):                      name = "a";  setattr(d, name, 2.0 * getattr(d, name))
        setattr(d, name, 2.0 * getattr(d, name))    name = "b";  setattr(d, name, 2.0 * getattr(d, name))

Where another call of the function goes over something else there, the loop stays one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import gast

from srcgrad.infer.values import At, Exact, Value, exact
from srcgrad.ir import operations as ir
from srcgrad.ir.copied import Renaming, continued
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import (
    Assign,
    Block,
    Break,
    Continue,
    Fall,
    Function,
    Handler,
    If,
    Loop,
    Statement,
    Try,
    With,
    blocks_of,
    walk,
)
from srcgrad.ir.restoring.pending import uses_of

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.heap import Heap

_MOST = 16  # rounds of a loop
_LARGEST = 400  # statements of all of them
_CONSTANTS = frozenset({str, int, float, bool, type(None)})


#: Of a loop in its text, which may be read again; what stands at such a place in another file is checked like all.
Place: TypeAlias = tuple[int, ...]


def _place(loop: Loop) -> Place:
    names = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    return tuple(getattr(loop.node, name, None) or 0 for name in names)


class Again(Exception):
    """The analysis knows more now, and starts again."""


@dataclass(frozen=True)
class Items:
    """What a loop goes over: constants, or as many items of a tuple."""

    count: int
    constants: tuple[Value, ...] | None


@dataclass(eq=False)
class Unrolled:
    """The loops of a program whose rounds stand one after the other, by their place in the text."""

    noted: dict[Place, Items] = field(default_factory=dict)
    declined: set[Place] = field(default_factory=set)
    checked: dict[Statement, Place] = field(default_factory=dict)  # statements that hold what is gone over

    def note(self, frame: Frame, statement: Statement, heap: Heap) -> None:
        """Note the loops around a statement; raises ``Again`` if there are any."""
        is_new = False
        for loop in _around(frame.function, statement):
            source = _source(frame.function, loop)
            items = None if source is None else _items_of(frame, source, heap)
            if items is None or _place(loop) in self.noted or _place(loop) in self.declined:
                continue
            if items.count <= _MOST and items.count * sum(1 for _ in walk(loop.body)) <= _LARGEST:
                self.noted[_place(loop)] = items
                is_new = True
        if is_new:
            raise Again

    def check(self, frame: Frame, statement: Statement, source: Operand, heap: Heap) -> None:
        """Raises ``Again`` where a loop goes over something else than it did."""
        place = self.checked[statement]
        items, noted = _items_of(frame, source, heap), self.noted[place]
        if items == noted:
            return
        if items is not None and items.count == noted.count and noted.constants is not None and _has_places(
            frame, source
        ):
            self.noted[place] = replace(noted, constants=None)
        elif items is None or items.count != noted.count or noted.constants is not None:
            del self.noted[place]
            self.declined.add(place)
        else:
            return
        raise Again

    def written(self, function: Function) -> Function:
        """A function with the rounds of these loops one after the other."""
        if not self.noted or not any(_place(s) in self.noted for s in statements_of(function) if isinstance(s, Loop)):
            return function
        return _Writer(self, function).function()


# --- what is gone over -----------------------------------------------------------------------------------------------
def _items_of(frame: Frame, source: Operand, heap: Heap) -> Items | None:
    """What a loop goes over, where that is always the same number of items."""
    value = frame[source]
    constants = _constants(value, heap)
    if constants is not None:
        return Items(len(constants), constants)
    (atom,) = value.atoms if len(value.atoms) == 1 and not value.is_any else (None,)
    if isinstance(atom, Exact) and type(atom.value) is tuple:
        return Items(len(atom.value), None)
    if isinstance(atom, At) and atom.site.kind is tuple and not heap.is_seen(atom.site):
        parts = heap[atom.site].parts
        return None if parts is None else Items(len(parts), None)
    return None


def _has_places(frame: Frame, source: Operand) -> bool:
    return all(
        isinstance(a, Exact) and type(a.value) is tuple or isinstance(a, At) and a.site.kind is tuple
        for a in frame[source].atoms
    )


def _constants(value: Value, heap: Heap) -> tuple[Value, ...] | None:
    """The items of what is gone over, where each of them is a constant."""
    (atom,) = value.atoms if len(value.atoms) == 1 and not value.is_any else (None,)
    if isinstance(atom, Exact) and type(atom.value) is tuple:
        found: tuple[Value, ...] | None = tuple(map(exact, atom.value))
    elif not isinstance(atom, At) or heap.is_seen(atom.site):
        return None
    elif atom.site.kind is tuple:
        found = heap[atom.site].parts
    elif isinstance(atom.site.kind, type) and issubclass(atom.site.kind, dict):
        entries = heap[atom.site].entries
        found = None if entries is None else tuple(exact(key) for key, _ in entries)
    elif atom.site.kind in (type(iter(())), type(iter({}))):
        return _constants(heap[atom.site].get("of"), heap)
    else:
        return None
    return found if found is not None and all(map(_is_constant, found)) else None


def _is_constant(value: Value) -> bool:
    return not value.is_any and len(value.atoms) == 1 and all(
        isinstance(a, Exact) and type(a.value) in _CONSTANTS for a in value.atoms
    )  # fmt: skip


# --- loops -----------------------------------------------------------------------------------------------------------
def statements_of(function: Function) -> Iterator[Statement]:
    """The statements of a function, and of those that it makes."""
    for _, statement in walk(function.body):
        yield statement
        if isinstance(statement, Assign) and isinstance(statement.operation, ir.MakeFunction):
            yield from statements_of(statement.operation.function)


def _around(function: Function, statement: Statement) -> list[Loop]:
    """The loops around a statement, that alone stand at their place in the text."""
    loops = [s for _, s in walk(function.body) if isinstance(s, Loop)]
    around = [loop for loop in loops if any(s is statement for _, s in walk(loop.body))]
    return [loop for loop in around if sum(_place(other) == _place(loop) for other in loops) == 1]


def _parts(loop: Loop) -> tuple[Operand, Version, Block, Block] | None:
    """The iterator of a loop, its item, what it does at its end, and what it does with an item."""
    match loop.body.statements:
        case (
            Assign(targets=(item,), operation=ir.Next(iterator=iterator)),
            Assign(targets=(over,), operation=ir.Compare()),
            If(targets=(), test=test, body=end, orelse=each),
        ) if test is over and isinstance(end.exit, Break):
            return iterator, item, end, each
    return None


def _begun(function: Function, loop: Loop) -> Assign | None:
    """The statement that makes the iterator of a loop."""
    parts = _parts(loop)
    found = [s for _, s in walk(function.body) if parts is not None and isinstance(s, Assign) and parts[0] in s.targets]
    return found[0] if len(found) == 1 else None


def _source(function: Function, loop: Loop) -> Operand | None:
    """What a loop goes over: its iterator itself, of a generator expression, which is given it."""
    parts, begun = _parts(loop), _begun(function, loop)
    if parts is None or uses_of(function)[parts[0]] > 1 or _goes_on_inside(parts[3]):
        return None
    if begun is not None:
        return begun.operation.source if isinstance(begun.operation, ir.Iterate) else None
    return parts[0] if parts[0] in set(function.parameters) else None


def _exits(block: Block, kind: type) -> bool:
    """Whether a round is left by exits of a class, in whichever block of it."""
    inner = [side for s in block.statements if not isinstance(s, Loop) for side in blocks_of(s)]
    return isinstance(block.exit, kind) or any(_exits(side, kind) for side in inner)


def _goes_on_inside(block: Block) -> bool:
    """Whether a ``try`` or ``with`` of a round goes on to the next one."""
    inner = [(s, side) for s in block.statements if not isinstance(s, Loop | Assign) for side in blocks_of(s)]
    return any(_goes_on_inside(side) if isinstance(s, If) else _exits(side, Continue) for s, side in inner)


def _literal(value: Value) -> Literal:
    return Literal(next(atom.value for atom in value.atoms if isinstance(atom, Exact)))


# --- what is written -------------------------------------------------------------------------------------------------
@dataclass(eq=False)
class _Writer:
    """A function that is written with the rounds of loops one after the other."""

    unrolled: Unrolled
    source: Function
    count: int = 0

    def function(self) -> Function:
        return replace(self.source, body=self.block(self.source.body))

    def block(self, block: Block) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            match statement:
                case Loop() if _place(statement) in self.unrolled.noted:
                    statements += self.rounds(statement)
                case Loop(body=body) | With(body=body):
                    statements.append(replace(statement, body=self.block(body)))
                case If(body=body, orelse=orelse):
                    statements.append(replace(statement, body=self.block(body), orelse=self.block(orelse)))
                case Try(body=body, orelse=orelse, final=final):
                    handlers = tuple(map(self.handler, statement.handlers))
                    sides = [self.block(side) for side in (body, orelse, final)]
                    statements.append(Try(sides[0], handlers, sides[1], sides[2], statement.node))
                case Assign(operation=ir.MakeFunction(function=inner) as making):
                    written = self.unrolled.written(inner)
                    is_same = written is inner
                    operation = making if is_same else replace(making, function=written)
                    statements.append(statement if is_same else replace(statement, operation=operation))
                case _:
                    statements.append(statement)
        begun = {
            _begun(self.source, s) for s in block.statements if isinstance(s, Loop) and _place(s) in self.unrolled.noted
        }
        return Block(tuple(s for s in statements if s not in begun), block.exit)

    def handler(self, handler: Handler) -> Handler:
        return replace(handler, body=self.block(handler.body))

    def rounds(self, loop: Loop) -> list[Statement]:
        """The rounds of a loop, and what it does at its end."""
        parts, source, items = _parts(loop), _source(self.source, loop), self.unrolled.noted[_place(loop)]
        assert parts is not None and source is not None
        _, item, end, each = parts
        held = self.version("t")
        first = Assign((held,), ir.Copy(source), loop.node)
        self.unrolled.checked[first] = _place(loop)
        statements: list[Statement] = []
        heads: dict[Operand, Operand] = dict(zip(loop.heads, loop.initial, strict=True))
        each, end = self.straight(self.block(each), loop), self.block(end)
        is_plain = not _exits(each, Break)
        for place in range(items.count):
            constant = items.constants
            value = self.version(item.variable or "t")
            taken = ir.GetItem(source, Literal(place)) if constant is None else ir.Copy(_literal(constant[place]))
            statements.append(Assign((value,), taken, loop.node))
            again = self.copied(each, {**heads, item: value})
            statements += again.statements
            if isinstance(again.exit, Continue):
                heads = dict(zip(loop.heads, again.exit.values, strict=True))
            else:
                return [first, *self.whole(loop, Block(tuple(statements), again.exit), is_plain=False)]
        last = self.copied(end, heads)
        whole = Block((*statements, *last.statements), last.exit)
        return [first, *self.whole(loop, whole, is_plain=is_plain)]

    def straight(self, block: Block, loop: Loop) -> Block:
        """A round that goes on to the next one at its end alone: what follows a branch that does is in the other."""
        for place, statement in enumerate(block.statements):
            if not isinstance(statement, If) or not any(_exits(side, Continue) for side in blocks_of(statement)):
                continue
            sides: list[Block] = []
            for side in blocks_of(statement):
                whole = self.copied(self.straight(continued(side, statement, block, place + 1), loop), {})
                is_end = isinstance(whole.exit, Continue)
                sides.append(Block(whole.statements, Fall(whole.exit.values)) if is_end else whole)  # type: ignore[union-attr]
            heads = tuple(self.version(head.variable or "t") for head in loop.heads)
            joined = If(heads, statement.test, sides[0], sides[1], statement.node)
            return Block((*block.statements[:place], joined), Continue(heads))
        return block

    def whole(self, loop: Loop, body: Block, *, is_plain: bool) -> list[Statement]:
        """The rounds by themselves, or in a loop that is left at their end."""
        if is_plain and isinstance(body.exit, Break):
            bound = zip(loop.targets, body.exit.values, strict=True)
            return [*body.statements, *(Assign((t,), ir.Copy(value), loop.node) for t, value in bound)]
        once = gast.copy_location(gast.While(gast.Constant(True, None), [], []), loop.node)
        return [Loop(loop.targets, (), (), body, once)]

    def version(self, stem: str) -> Version:
        self.count += 1
        return Version(f"{stem}_{self.count}", None if stem == "t" else stem)

    def copied(self, block: Block, versions: dict[Operand, Operand]) -> Block:
        def named(version: Version) -> str:
            self.count += 1
            return f"{version.name}_{self.count}"

        def note(new: Statement, old: Statement) -> None:
            if old in self.unrolled.checked:
                self.unrolled.checked[new] = self.unrolled.checked[old]

        return Renaming(versions, {}, named, note).block(block)
