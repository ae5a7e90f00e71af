"""Managers that ``contextlib.contextmanager`` makes of a generator function, written out where they are entered: what
stands in their body is done where the generator yields.

Enters: a ``with``, behind the call that makes its manager.  Leaves: the statements of the generator around those of the
body::

    @contextlib.contextmanager         def f(x):                          t = 2.0 * x
    def scaled(v):                         with scaled(x) as a:    ->     s = np.sin(t)
        yield 2.0 * v                          s = np.sin(a)

An exception of the body is thrown into the generator at its ``yield``, around which no ``try`` stands: so it leaves
both, as it leaves these statements.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import _GeneratorContextManager, contextmanager
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

from srcgrad.infer.values import At
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal
from srcgrad.ir.regions import Assign, Block, Break, Continue, Loop, Return, Statement, Try, With, blocks_of, walk
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.specialise.driving import gone_over
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.stepping import generator_of
from srcgrad.syntax.globals import importable, reference

if TYPE_CHECKING:
    from srcgrad.infer.generators import Generator
    from srcgrad.specialise.reduced import Reduced

_MADE: Any = contextmanager(iter)


def opened_by_generator(
    made: Reduced, statement: With, before: list[Statement], reduce: Callable[[Reduced, Block], Block]
) -> Block | None:
    """What a manager and the body of its ``with`` do; None of any other manager.  ``before``: the statements that end
    with the call that makes it, which is taken away."""
    match before[-1:]:
        case [Assign(targets=(manager,), operation=ir.Call(star=None, rest=None) as call) as start] if (
            manager is statement.manager and made.uses[manager] <= 1
        ):
            pass
        case _:
            return None
    function, body = static_of(made.value(call.function)), _generator(made, statement)
    if body is None or not isinstance(function, FunctionType) or function.__code__ is not _MADE.__code__:
        return None
    wrapped: Any = function.__wrapped__  # type: ignore[attr-defined]
    whole = Literal(Spelled(reference(importable(wrapped.__name__, wrapped)), wrapped))
    first: list[Statement] = []
    gone = gone_over(made, start, replace(call, function=whole), body, first, reduce)
    place = None if gone is None else _only_yield(made, gone)
    if gone is None or place is None:
        return None
    given, after = gone.statements[place], gone.statements[place + 1 :]
    if after and _is_left_inside(statement.body, in_loop=False):
        return None
    assert isinstance(given, Assign) and isinstance(given.operation, ir.Yield)
    del before[-1:]
    entered = Assign((statement.entered,), ir.Copy(given.operation.value), statement.node)
    inner = reduce(made, statement.body)
    return Block((*first, *gone.statements[:place], entered, *inner.statements, *after), inner.exit)


def _generator(made: Reduced, statement: With) -> Generator | None:
    """What the generator of a manager runs."""
    value = made.value(statement.manager)
    sites = [atom.site for atom in value.atoms if isinstance(atom, At)]
    if value.is_any or len(sites) != 1 or len(value.atoms) != 1 or sites[0].kind is not _GeneratorContextManager:
        return None
    contents = made.facts.contents.get(sites[0])
    if contents is None or made.facts.is_seen(sites[0]):
        return None
    return generator_of(made, contents.get("gen"))


def _only_yield(made: Reduced, block: Block) -> int | None:
    """The place of the one ``yield`` of a generator that does not stand in any branch, and gets nothing sent."""
    found = [s for _, s in walk(block) if isinstance(s, Assign) and isinstance(s.operation, ir.Yield | ir.YieldFrom)]
    if len(found) != 1 or found[0] not in block.statements or not isinstance(found[0].operation, ir.Yield):
        return None
    if any(isinstance(s, Try | With) for _, s in walk(block)) or any(made.uses[target] for target in found[0].targets):
        return None
    returns = any(isinstance(inner.exit, Return) for inner, _ in walk(block) if inner is not block)
    return None if returns or not isinstance(block.exit, Return) else block.statements.index(found[0])


def _is_left_inside(block: Block, *, in_loop: bool) -> bool:
    """Whether a block is left otherwise than at its own end."""
    for statement in block.statements:
        within = in_loop or isinstance(statement, Loop)
        for inner in blocks_of(statement):
            leaves = Return if within else Return | Break | Continue
            if isinstance(inner.exit, leaves) or _is_left_inside(inner, in_loop=within):
                return True
    return False
