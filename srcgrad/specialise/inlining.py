"""Local functions, written out where they are called: a closure cannot stand in the emitted module.

Enters: a function of the IR for one kind of call, its operands.  Leaves: its statements with versions of their own, and
the operand that holds what it returns; None where its text does not end in one place::

    inner = lambda v: v * k
    s = inner(x) + 1.0             t = x * k;  s = t + 1.0

What it captured are cells of the function around, which it reads and writes as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Cell, Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Fall, Function, If, Loop, Return, Statement, Try, Unreachable, With, walk
from srcgrad.ir.rewriting import with_operands

#: How many statements one may have: what follows a branch that may return is written once for each way to it.
_LARGEST = 100


class Renaming:
    """Versions of a function under names of their own, each time that it is written out."""

    def __init__(self, given: Mapping[Version, Operand], name: Callable[[Version], str]) -> None:
        self.versions: dict[Operand, Operand] = {}
        for version, operand in given.items():
            self.versions[version] = operand
        self.cells: dict[Cell, Cell] = {}
        self._name = name

    def target(self, version: Version) -> Version:
        if version not in self.versions:
            self.versions[version] = Version(self._name(version), version.variable)
        made = self.versions[version]
        assert isinstance(made, Version)
        return made

    def operation(self, operation: ir.Operation) -> ir.Operation:
        """An operation on the new versions, and on the new variables."""
        made = with_operands(operation, self.operand)
        if isinstance(made, ir.ReadCell | ir.WriteCell | ir.DeleteCell | ir.FreshCell) and made.cell in self.cells:
            return replace(made, cell=self.cells[made.cell])
        return made

    def operand(self, operand: Operand, default: Any = None) -> Operand:
        return self.versions.get(operand, operand)


def inlined(
    function: Function,
    given: Mapping[Version, Operand],
    fresh: Callable[[str], str],
    note: Callable[[Statement, Statement], None],
) -> tuple[list[Statement], Operand, set[Cell]] | None:
    """The statements of a function, what it returns, and its variables that are no versions; ``note`` gets each
    statement with the one it was made from."""
    if function.is_generator or _captures(function):
        return None

    def name(version: Version) -> str:
        return fresh(version.variable or "t")

    body = _with_one_end(function.body, name)
    if body is None or not isinstance(body.exit, Return):
        return None
    if any(isinstance(s, Try | With) for _, s in walk(body)) or _returns_inside(body):
        return None
    if sum(1 for _ in walk(body)) > _LARGEST:
        return None
    renaming = Renaming(given, name)
    renaming.cells = {cell: Cell(text, text) for cell in function.cells for text in [fresh(cell.variable)]}
    made = renamed(renaming, body, note)
    assert isinstance(made.exit, Return)
    return list(made.statements), made.exit.value, set(renaming.cells.values())


def _captures(function: Function) -> bool:
    """Whether a function that is made inside has variables of this one."""
    made = [s.operation for _, s in walk(function.body) if isinstance(s, Assign)]
    inner = {cell for each in made if isinstance(each, ir.MakeFunction) for cell in each.function.free}
    return not inner.isdisjoint(function.cells)


def _with_one_end(block: Block, name: Callable[[Version], str]) -> Block | None:
    """A block that returns at its end: what follows a branch that returns is done in the other branch."""
    for place, statement in enumerate(block.statements):
        if not isinstance(statement, If) or not any(map(_returns, _sides(statement))):
            continue
        sides: list[Block] = []
        for side in _sides(statement):
            whole = _with_one_end(_continued(side, statement, block, place + 1), name)
            if whole is None or not isinstance(whole.exit, Return):
                return None
            sides.append(Block(whole.statements, Fall((whole.exit.value,))))
        result = Version(name(Version("result")), None)
        joined = replace(statement, targets=(result,), body=sides[0], orelse=sides[1])
        return Block((*block.statements[:place], joined), Return(result))
    if isinstance(block.exit, Unreachable):
        return Block(block.statements, Return(Literal(None)))
    return block if isinstance(block.exit, Return) else None


def _continued(side: Block, statement: If, around: Block, place: int) -> Block:
    """A side that goes on behind its region, with what follows there."""
    if not isinstance(side.exit, Fall):
        return side
    pairs = zip(statement.targets, side.exit.values, strict=True)
    bound = [Assign((target,), ir.Copy(value), statement.node) for target, value in pairs]
    return Block((*side.statements, *bound, *around.statements[place:]), around.exit)


def _returns(block: Block) -> bool:
    """Whether a block may return from where it stands, in no loop."""
    inner = [side for statement in block.statements if isinstance(statement, If) for side in _sides(statement)]
    return isinstance(block.exit, Return) or any(map(_returns, inner))


def _returns_inside(body: Block) -> bool:
    pending = [inner for _, s in walk(body) for inner in _sides(s)]
    return any(isinstance(block.exit, Return) for block in pending)


def _sides(statement: Statement) -> Sequence[Block]:
    match statement:
        case If(body=body, orelse=orelse):
            return body, orelse
        case Loop(body=body):
            return (body,)
    return ()


def renamed(renaming: Renaming, block: Block, note: Callable[[Statement, Statement], None]) -> Block:
    """A block under other names; ``note`` gets each statement with the one it was made from."""
    statements: list[Statement] = []
    for statement in block.statements:
        made: Statement
        match statement:
            case Assign(targets=targets, operation=operation):
                changed = renaming.operation(operation)
                made = replace(statement, targets=tuple(map(renaming.target, targets)), operation=changed)
            case If(targets=targets, test=test, body=body, orelse=orelse):
                sides = renamed(renaming, body, note), renamed(renaming, orelse, note)
                tested = renaming.operand(test)
                bound = tuple(map(renaming.target, targets))
                made = replace(statement, targets=bound, test=tested, body=sides[0], orelse=sides[1])
            case Loop(targets=targets, heads=heads, initial=initial, body=body):
                first = tuple(map(renaming.operand, initial))
                begun = tuple(map(renaming.target, heads))
                inner = renamed(renaming, body, note)
                made = replace(statement, targets=tuple(map(renaming.target, targets)), heads=begun, initial=first,
                               body=inner)  # fmt: skip
            case _:
                raise AssertionError(statement)
        note(made, statement)
        statements.append(made)
    return Block(tuple(statements), with_operands(block.exit, renaming.operand))


