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

from srcgrad.infer.calls import model_of
from srcgrad.infer.values import NEVER, Array, At
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Break, Continue, Loop, Return, Statement, Try, With, blocks_of, walk
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.ir.rewriting import with_operands
from srcgrad.specialise.carrying import carries
from srcgrad.specialise.driving import gone_over
from srcgrad.specialise.functions import cells_of, function_at, is_made
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
    function, body = _wrapped(made, call), _generator(made, statement.manager)
    if function is None or body is None or isinstance(function, Literal) and not _takes_part(made, call, body):
        return None
    first: list[Statement] = []
    gone = gone_over(made, start, replace(call, function=function), body, first, reduce)
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


def begins_generator(made: Reduced, statement: Assign, call: ir.Call, block: Block) -> bool:
    """Whether a call makes a manager of a generator function of the program for the ``with`` behind it, which takes the
    call away: so what makes the manager is not written out."""
    (manager,) = statement.targets
    entering = (s for s in block.statements if isinstance(s, With) and s.manager is manager)
    if made.uses[manager] > 1 or _generator(made, manager) is None or (entered := next(entering, None)) is None:
        return False
    if block.statements[block.statements.index(entered) - 1] is not statement:
        return False
    return isinstance(_wrapped(made, with_operands(call, made.known.get)), Version)


def _wrapped(made: Reduced, call: ir.Call) -> Operand | None:
    """The generator function of what ``contextmanager`` made, where that is called; None of anything else."""
    value = made.value(call.function)
    function, (atom, *others) = static_of(value), (*value.atoms, None)
    if isinstance(function, FunctionType) and function.__code__ is _MADE.__code__:
        wrapped: Any = function.__wrapped__  # type: ignore[attr-defined]
        return Literal(Spelled(reference(importable(wrapped.__name__, wrapped)), wrapped))
    owner = made.functions.owners.get(function_at(atom)) if is_made(atom) else None
    if value.is_any or len(others) != 1 or owner is None or owner is not model_of(contextmanager):
        return None
    sites = [site for cell, site in cells_of(atom).items() if cell.variable == "func"]
    held = made.facts.contents[sites[0]].get("cell") if sites and sites[0] in made.facts.contents else NEVER
    return made.version("f", held) if held.consists_of(is_made) and len(held.atoms) == 1 else None


def _takes_part(made: Reduced, call: ir.Call, body: Generator) -> bool:
    """Whether a generator from outside is given what may carry a derivative, and reads nothing that is kept outside:
    any other is entered as it is, in the forward sweep, and may keep there what it likes."""
    given = (*call.positional, *(operand for _, operand in call.keywords))
    reads = [s.targets[0] for _, s in walk(body.function.body)
             if isinstance(s, Assign) and isinstance(s.operation, ir.ReadGlobal)]  # fmt: skip
    is_apart = not any(isinstance(a, At | Array) for read in reads for a in body.values.get(read, NEVER).atoms)
    return is_apart and any(
        carries(made.facts, made.value(operand)) for operand in given if not isinstance(operand, Literal)
    )


def _generator(made: Reduced, manager: Operand) -> Generator | None:
    """What the generator of a manager runs."""
    value = made.value(manager)
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
