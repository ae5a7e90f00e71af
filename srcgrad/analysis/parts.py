"""Imaginary parts of arrays that are stored into, read from a copy where that is the same.

The adjoint of a real part is a view of the adjoint; that of an imaginary part is its negative, which no view shows.
Enters: ``Function``, the facts, what works out memory classes.  Leaves: all three of the function in which such a part
is taken of a copy, if all that reads the part, or a view of it, follows before anything is stored or called::

    s = np.sum(np.imag(y) ** 2)     ->      s = np.sum(np.imag(np.copy(y)) ** 2)

Any other is a view while its program runs, and is refused when its shadow is made (``runtime.shadows``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import gast
import numpy as np

from srcgrad.analysis.cfg import blocks_of, bound_here, walk
from srcgrad.analysis.memory import MemoryClasses
from srcgrad.analysis.stores import Lowering
from srcgrad.ir.normal_form import Apply, Bind, Block, Fixed, Function, Index, Statement
from srcgrad.ir.renaming import mentioned, renamed
from srcgrad.rules.facts import Array, Fact
from srcgrad.rules.memory import makes_new
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import names_read

Facts = Mapping[str, Fact]


def parts_copied(
    function: Function, facts: Facts, classes_of: Callable[[Function, Facts], MemoryClasses]
) -> tuple[Function, Facts, MemoryClasses]:
    """The function, its facts and memory classes; the same function where no such part is read."""
    classes = classes_of(function, facts)
    taken = {part for part in _parts(function) if _whole(part) in classes.shadowed and _may_be_complex(part, facts)}
    copied = {part for block in _blocks(function.body) for part in _read_at_once(block, taken, function)}
    if not copied:
        return function, facts, classes
    lowering = _Copies(function, facts, copied)
    made = lowering.function()
    facts = {**facts, **{copy: facts[whole] for copy, whole in lowering.copies.items() if whole in facts}}
    return made, facts, classes_of(made, facts)


def _parts(function: Function) -> Iterator[Bind]:
    for statement in walk(function.body):
        if isinstance(statement, Bind) and isinstance(statement.operation, Apply):
            if statement.operation.function is np.imag and _whole(statement):
                yield statement


def _whole(part: Bind) -> str:
    """The name whose imaginary part is taken; empty where that is no local name."""
    assert isinstance(part.operation, Apply)
    operand = next(iter(part.operation.arguments.values()), None)
    is_local = isinstance(operand, gast.Name) and not isinstance(operand, GlobalReference)
    return operand.id if is_local else ""  # type: ignore[union-attr]


def _may_be_complex(part: Bind, facts: Facts) -> bool:
    fact = facts.get(_whole(part))
    return not (isinstance(fact, Array) and fact.real)


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for statement in walk(block):
        yield from blocks_of(statement)


def _read_at_once(block: Block, parts: set[Bind], function: Function) -> Iterator[Bind]:
    """The parts bound in a block that nothing stored or called afterwards can change before they are last read."""
    statements = block.statements
    for at, part in enumerate(statements):
        if isinstance(part, Bind) and part in parts:
            seen = {part.target}
            read: Counter[str] = Counter()
            for statement in statements[at + 1 :]:
                if not isinstance(statement, Bind) or statement.inplace:
                    break
                if not isinstance(statement.operation, Apply | Fixed | Index):
                    break
                here = seen.intersection(names_read(statement.expression))
                read.update(here)
                if here and not _is_new(statement):
                    seen.add(statement.target)
            if _is_all(seen, read, function):
                yield part


def _is_new(statement: Bind) -> bool:
    made = statement.operation
    return isinstance(made, Apply) and (isinstance(statement.expression, gast.BinOp) or makes_new(made.function))


def _is_all(names: set[str], read: Counter[str], function: Function) -> bool:
    """Whether these names are bound once each, and no other statement reads them."""
    bound: Counter[str] = Counter()
    everywhere: Counter[str] = Counter()
    for statement in walk(function.body):
        bound.update(names.intersection(bound_here(statement)))
        everywhere.update(names.intersection(mentioned(statement)).difference(bound_here(statement)))
    return all(bound[name] == 1 and everywhere[name] == read[name] for name in names)


class _Copies(Lowering):
    """Takes parts of copies."""

    def __init__(self, function: Function, facts: Facts, parts: set[Bind]) -> None:
        super().__init__(function, facts)
        self.parts = parts
        self.copies: dict[str, str] = {}

    def replaced(self, statement: Statement) -> list[Statement] | None:
        if not isinstance(statement, Bind) or statement not in self.parts:
            return None
        whole = _whole(statement)
        copy = self.array_of(gast.Name(whole, gast.Load(), None, None), statement.span, np.copy)
        self.copies[copy.target] = whole
        return [copy, renamed(statement, {whole: copy.target})]
