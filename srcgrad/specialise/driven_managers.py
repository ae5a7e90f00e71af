"""Managers that ``contextlib.contextmanager`` makes of a generator function, written out where they are entered: what
stands in their body is done where the generator yields.

Enters: a ``with``, behind the call that makes its manager.  Leaves: the statements of the generator around those of the
body::

    @contextlib.contextmanager         def f(x):                          t = 2.0 * x
    def scaled(v):                         with scaled(x) as a:    ->     s = np.sin(t)
        yield 2.0 * v                          s = np.sin(a)

An exception of the body is thrown into the generator at its ``yield``: the ``try`` that stands there handles it.  Where
the body is left by ``return``, ``break`` or ``continue`` the generator goes on to its end first.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import _GeneratorContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

import gast

from srcgrad.frontend.classes import found
from srcgrad.infer.calls import model_of
from srcgrad.infer.values import NEVER, At, Exact, of
from srcgrad.ir import operations as ir
from srcgrad.ir.copied import continued
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import (
    Assign,
    Block,
    Break,
    Continue,
    Fall,
    If,
    Loop,
    Return,
    Statement,
    Try,
    Unreachable,
    With,
    blocks_of,
    walk,
)
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.ir.rewriting import with_operands
from srcgrad.language.models import CLASSES
from srcgrad.specialise import records
from srcgrad.specialise.callees import of_closure, outer_closure
from srcgrad.specialise.carrying import carries
from srcgrad.specialise.driving import LARGEST, NotWritten, copied_again, gone_over
from srcgrad.specialise.functions import cells_of, function_at, is_made
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.raising import raises
from srcgrad.specialise.receivers import is_method, receiver_of
from srcgrad.specialise.returning import has_exit
from srcgrad.specialise.stepping import generator_of
from srcgrad.syntax.globals import importable, reference

if TYPE_CHECKING:
    from srcgrad.infer.generators import Generator
    from srcgrad.specialise.reduced import Reduced

_MADE: Any = contextmanager(iter)
#: Those whose models say what they do, whatever is raised in their body.
_MODELLED = (nullcontext, closing)


def opened_by_generator(
    made: Reduced, statement: With, before: list[Statement], reduce: Callable[[Reduced, Block], Block]
) -> Block | None:
    """What a manager and the body of its ``with`` do; None of any other manager.  ``before``: the statements that end
    with the call that makes it, which is taken away."""
    made_by = _maker(made, statement.manager, before)
    if made_by is None:
        return None
    start, places = made_by
    assert isinstance(start.operation, ir.Call)
    call, first = start.operation, list[Statement]()
    function, body = _wrapped(made, call), _generator(made, statement.manager)
    if function is None or body is None or isinstance(function, Literal) and not _takes_part(made, call, body):
        return None
    if is_method(only_atom(made, call.function)):
        receiver = _receiver(made, call, statement, first)
        if receiver is None:
            return None
        call = replace(call, positional=(receiver, *call.positional))
    gone = gone_over(made, start, replace(call, function=function), body, first, reduce)
    try:
        whole = None if gone is None else _ended(gone, is_last=True)
        if whole is None or _given(made, whole) != {1}:
            return None
        written = _around(made, statement, whole, reduce)
    except NotWritten:
        return None
    for place in places:
        del before[place]
    lookup = made.origins.get(call.function)
    if isinstance(_above(made, call), ir.Super) and isinstance(lookup, ir.GetAttribute):  # no object of its own here
        gone_too = {v for v in (call.function, lookup.base) if made.uses[v] <= 1}
        before[:] = [s for s in before if not isinstance(s, Assign) or gone_too.isdisjoint(s.targets)]
    return Block((*first, *written.statements), written.exit)


def opened_by_model(
    made: Reduced, statement: With, before: list[Statement], reduce: Callable[[Reduced, Block], Block]
) -> Block | None:
    """What ``nullcontext`` and ``closing`` do around the body of a ``with``: their methods, written out."""
    made_by = _maker(made, statement.manager, before)
    if made_by is None:
        return None
    start, places = made_by
    assert isinstance(start.operation, ir.Call)
    kind = static_of(made.value(start.operation.function))
    if kind not in _MODELLED or len(start.operation.positional) + len(start.operation.keywords) > 1:
        return None
    manager, node, given = start.targets[0], statement.node, list[Statement]()
    records.note_made(made, start, start.operation, CLASSES[kind])
    left, result = made.version("t", NEVER), made.version("t", made.value(statement.entered))
    written: list[Statement] = []
    for name, target, operands in (("__enter__", result, ()), ("__exit__", left, (Literal(None),) * 3)):
        method, summaries = found(CLASSES[kind], name), [
            each for each in made.called.get(statement, ()) if each.function.name == name]  # fmt: skip
        call = Assign((target,), ir.Call(Literal(None), (manager, *operands)), node)
        done = None
        if summaries and all(each.function is summaries[0].function for each in summaries):
            closure = outer_closure(method, summaries[0].function)
            assert isinstance(call.operation, ir.Call)
            done = of_closure(made, call, call.operation, closure, summaries, lambda block: reduce(made, block))
        if done is None:
            return None
        if name == "__enter__":
            given = [*done[0], Assign((statement.entered,), ir.Copy(done[1] or result), node)]
        else:
            written = done[0]
    for place in places:
        del before[place]
    body, nothing = reduce(made, statement.body), Block((), Fall())
    if not written:
        return Block((*given, *body.statements), body.exit)
    whole = Try(body, (), nothing, Block(tuple(written), Fall()), node)
    return Block((*given, whole), Unreachable() if _leaves(whole) else Fall())


def _maker(made: Reduced, manager: Operand, before: list[Statement]) -> tuple[Assign, list[int]] | None:
    """The call that makes a manager, which nothing but its ``with`` reads; where it and its copies stand."""
    places: list[int] = []
    for place in reversed(range(len(before))):
        match before[place]:
            case Assign(targets=(target,), operation=operation) as found if target is manager:
                places.append(place)
                if made.uses[target] > 1:
                    return None
                match operation:
                    case ir.Call(star=None, rest=None):
                        return found, places
                    case ir.Copy(source=source):
                        manager = source
    return None


def _receiver(made: Reduced, call: ir.Call, statement: With, before: list[Statement]) -> Operand | None:
    """The object of a method that makes a manager, of ``super()`` too."""
    if isinstance(above := _above(made, call), ir.Super):
        return made.known.get(above.first, above.first)
    read = receiver_of(made, call, statement.node)
    before += [] if read is None else read[2]
    return None if read is None else read[0]


def _above(made: Reduced, call: ir.Call) -> ir.Operation | None:
    """What made the object on which what is called was looked up."""
    lookup = made.origins.get(call.function)
    return made.origins.get(lookup.base) if isinstance(lookup, ir.GetAttribute) else None


# --- what the generator runs ------------------------------------------------------------------------------------------
def _ended(block: Block, *, is_last: bool) -> Block:
    """A block of a generator that ends where its text ends: what follows a branch that returns is in the other one."""
    for place, statement in enumerate(block.statements):
        if not any(has_exit(side, Return) for side in blocks_of(statement)):
            continue
        is_end = is_last and place == len(block.statements) - 1
        match statement:
            case If(body=body, orelse=orelse) if is_last:
                sides = [_ended(continued(side, statement, block, place + 1), is_last=True) for side in (body, orelse)]
                joined = replace(statement, targets=(), body=sides[0], orelse=sides[1])
                return Block((*block.statements[:place], joined), Fall())
            case Try(body=body, handlers=handlers, orelse=orelse) if is_end and not has_exit(statement.final, Return):
                tried = _ended(body, is_last=not orelse.statements)
                caught = tuple(replace(each, body=_ended(each.body, is_last=True)) for each in handlers)
                last = replace(statement, body=tried, handlers=caught, orelse=_ended(orelse, is_last=True))
                return Block((*block.statements[:place], last), Fall())
            case _:
                raise NotWritten
    if isinstance(block.exit, Return) and not is_last:
        raise NotWritten
    return Block(block.statements, Fall()) if isinstance(block.exit, Return) else block


def _given(made: Reduced, block: Block) -> set[int]:
    """How often a generator may have given something where the end of a block is reached: once, if it is written."""
    counts = {0}
    for statement in block.statements:
        match statement:
            case Assign(targets=targets, operation=ir.Yield()):
                if counts != {0} or any(made.uses[target] for target in targets):  # of what ``send`` gives
                    raise NotWritten
                counts = {1}
            case _ if not any(map(_gives, blocks_of(statement))):
                pass
            case If(body=body, orelse=orelse) if counts == {0}:
                counts = set[int]().union(*(_given(made, side) for side in (body, orelse) if not _never_falls(side)))
            case Try(body=body, handlers=handlers, orelse=orelse, final=final) if counts == {0}:
                others = [*(handler.body for handler in handlers), orelse, final]
                if any(map(_gives, others)) or not isinstance(final.exit, Fall) or handlers and not _begins(made, body):
                    raise NotWritten
                counts = _given(made, body)
            case With(body=body) if counts == {0} and (_begins(made, body) or not _is_suppress(made, statement)):
                counts = _given(made, body)
            case _:
                raise NotWritten
    return counts


def _begins(made: Reduced, block: Block) -> bool:
    """Whether nothing raises in a block before it gives something: what is caught then would end the generator."""
    for statement in block.statements:
        if _gives(Block((statement,), Fall())):
            inner = blocks_of(statement)
            return not inner or isinstance(statement, Try | With) and _begins(made, inner[0])
        if not isinstance(statement, Assign) or raises(made, statement, (BaseException,)):
            return False
    return False


def _is_suppress(made: Reduced, statement: With) -> bool:
    call = made.origins.get(statement.manager)
    return not isinstance(call, ir.Call) or static_of(made.value(call.function)) is suppress


def _gives(block: Block) -> bool:
    """Whether a ``yield`` stands in a block, or in one inside of it."""
    return any(isinstance(s, Assign) and isinstance(s.operation, ir.Yield | ir.YieldFrom) for _, s in walk(block))


def _never_falls(block: Block) -> bool:
    """Whether the end of a block is never reached."""
    return not isinstance(block.exit, Fall) or any(map(_leaves, block.statements))


def _leaves(statement: Statement) -> bool:
    match statement:
        case If(body=body, orelse=orelse):
            return _never_falls(body) and _never_falls(orelse)
        case Try(body=body, handlers=handlers):
            return _never_falls(body) and all(_never_falls(handler.body) for handler in handlers)
    return False


def _goes_on(block: Block) -> bool:
    """Whether a generator does anything behind its ``yield``, but for its last blocks."""
    for place, statement in enumerate(block.statements):
        inner = [side for side in blocks_of(statement) if _gives(side)]
        if inner or isinstance(statement, Assign) and isinstance(statement.operation, ir.Yield):
            is_behind = place + 1 < len(block.statements) or isinstance(statement, Try) and statement.orelse.statements
            return bool(is_behind) or any(map(_goes_on, inner)) or not isinstance(block.exit, Fall)
    return False


# --- the body ---------------------------------------------------------------------------------------------------------
def _around(
    made: Reduced, statement: With, whole: Block, reduce: Callable[[Reduced, Block], Block]
) -> Block:
    """The statements of a generator, with the body in place of each ``yield``."""
    node, inside, begun, behind = statement.node, statement.body, list[Statement](), list[Statement]()
    goes_on, bodies = _goes_on(whole), 0

    def body_of(entered: Version) -> Block:
        nonlocal bodies
        bodies += 1
        if bodies > 1 and bodies * sum(1 for _ in walk(inside)) > LARGEST:
            raise NotWritten
        again = inside if bodies == 1 else copied_again(made, inside, {statement.entered: entered})
        done = reduce(made, again)
        return _at_its_end(made, done, begun, behind, node) if goes_on else done

    def put(block: Block) -> Block:
        statements: list[Statement] = []
        for part in block.statements:
            match part:
                case Assign(operation=ir.Yield(value=value)):
                    is_first = bodies == 0
                    entered = statement.entered if is_first else made.version("t", made.value(statement.entered))
                    statements.append(Assign((entered,), ir.Copy(value), node))
                    written = body_of(entered)
                    statements += written.statements
                    if not isinstance(written.exit, Fall):
                        return Block(tuple(statements), written.exit)
                    continue
                case If(body=body, orelse=orelse) if _gives(body) or _gives(orelse):
                    part = replace(part, body=put(body), orelse=put(orelse))
                case Try(body=body) | With(body=body) if _gives(body):
                    part = replace(part, body=put(body))
            statements.append(part)
            if _leaves(part):
                return Block(tuple(statements), Unreachable())
        return Block(tuple(statements), block.exit)

    written = put(whole)
    if behind:
        made.is_conditional = True
    return Block((*begun, *written.statements, *behind), written.exit)


def _at_its_end(
    made: Reduced, block: Block, begun: list[Statement], behind: list[Statement], node: gast.AST
) -> Block:
    """A body that is left at its end alone, since its generator goes on: how it is left otherwise is kept in variables,
    and done ``behind``."""
    for place, statement in enumerate(block.statements):
        match statement:
            case If(body=body, orelse=orelse) if _is_left_inside(Block((statement,), Fall()), in_loop=False):
                sides = [_at_its_end(made, continued(side, statement, block, place + 1), begun, behind, node)
                         for side in (body, orelse)]  # fmt: skip
                joined = replace(statement, targets=(), body=sides[0], orelse=sides[1])
                return Block((*block.statements[:place], joined), Fall())
            case _ if _is_left_inside(Block((statement,), Fall()), in_loop=False):
                raise NotWritten
    if not isinstance(block.exit, Return | Break | Continue):
        return block
    flag, is_left = made.new_cell("left"), made.version("t", of(bool))
    values = (block.exit.value,) if isinstance(block.exit, Return) else block.exit.values
    kept, reads, held = list[Statement](), list[Statement](), dict[Operand, Operand]()
    for value in values:
        if isinstance(value, Version) and value not in held:
            home, again = made.new_cell(value.variable or "result"), made.version("t", made.value(value))
            kept.append(Assign((), ir.WriteCell(home, value), node))
            reads.append(Assign((again,), ir.ReadCell(home), node))
            held[value] = again
    begun.append(Assign((), ir.WriteCell(flag, Literal(False)), node))
    kept.append(Assign((), ir.WriteCell(flag, Literal(True)), node))
    behind.append(Assign((is_left,), ir.ReadCell(flag), node))
    exit = with_operands(block.exit, held.get)
    behind.append(If((), is_left, Block(tuple(reads), exit), Block((), Fall()), node))
    return Block((*block.statements, *kept), Fall())


def begins_generator(made: Reduced, statement: Assign, call: ir.Call, block: Block) -> bool:
    """Whether a call makes a manager of a generator function of the program for the ``with`` behind it, which takes the
    call away: so what makes the manager is not written out."""
    (manager,) = statement.targets
    if _generator(made, manager) is None:
        return False
    for behind in block.statements[block.statements.index(statement) + 1 :]:
        match behind:
            case Assign(targets=(copy,), operation=ir.Copy(source=source)) if source is manager:
                manager = copy
            case With(manager=entered) if entered is manager:
                break
    else:
        return False
    if made.uses[manager] > 1 or (body := _generator(made, manager)) is None:
        return False
    function = _wrapped(made, with_operands(call, made.known.get))
    return isinstance(function, Version) or function is not None and _takes_part(made, call, body)


def _wrapped(made: Reduced, call: ir.Call) -> Operand | None:
    """The generator function of what ``contextmanager`` made, where that is called; None of anything else."""
    atom = only_atom(made, call.function)
    function = atom.function if is_method(atom) else atom.value if isinstance(atom, Exact) else None
    if isinstance(function, FunctionType) and function.__code__ is _MADE.__code__:
        wrapped: Any = function.__wrapped__  # type: ignore[attr-defined]
        return Literal(Spelled(reference(importable(wrapped.__name__, wrapped)), wrapped))
    owner = made.functions.owners.get(function_at(atom)) if is_made(atom) else None
    if owner is None or owner is not model_of(contextmanager):
        return None
    sites = [site for cell, site in cells_of(atom).items() if cell.variable == "func"]
    held = made.facts.contents[sites[0]].get("cell") if sites and sites[0] in made.facts.contents else NEVER
    return made.version("f", held) if held.consists_of(is_made) and len(held.atoms) == 1 else None


def only_atom(made: Reduced, operand: Operand) -> Any:
    """What an operand is, where that is one thing; else None."""
    value = made.value(operand)
    return next(iter(value.atoms)) if len(value.atoms) == 1 and not value.is_any else None


def _takes_part(made: Reduced, call: ir.Call, body: Generator) -> bool:
    """Whether a generator from outside is a method, or is given what may carry a derivative and stores into nothing
    that is kept outside: any other is entered as it is, in the forward sweep, and may keep there what it likes."""
    given = (*call.positional, *(operand for _, operand in call.keywords))
    is_apart = not any(site.context == "outside" for site in body.stored)
    return is_method(only_atom(made, call.function)) or is_apart and any(
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


def _is_left_inside(block: Block, *, in_loop: bool) -> bool:
    """Whether a block is left otherwise than at its own end."""
    for statement in block.statements:
        within = in_loop or isinstance(statement, Loop)
        for inner in blocks_of(statement):
            leaves = Return if within else Return | Break | Continue
            if isinstance(inner.exit, leaves) or _is_left_inside(inner, in_loop=within):
                return True
    return False
