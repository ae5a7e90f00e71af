"""Context managers: which are entered again in the reverse sweep, and which in the forward sweep alone.

    with np.errstate(all="ignore"):      stays, in both sweeps
        y = np.log(x)

    with timer(log) as clock:            manager = once(timer(log))
        y = f(x) * clock          ->     with manager:
                                             clock = entered(manager)
                                             y = f(x) * clock

    with model as m:                     m = model.__enter__()
        m.y = f(x)                ->     with leaving(model):        (which leaves it where the body raises)
                                             m.y = f(x)
                                         model.__exit__(None, None, None)

    try:                                 with once(tried(timer(log), (ValueError,))) as t:
        with timer(log): y = f(x)            raised = raised_by_manager(t)
    except ValueError: y = x      ->         if raised is None: y = f(x)
                                         if raised is None: raised = raised_by_manager(t)

What a manager of the forward sweep was made of may not vary, since nothing is known of what it does with it.
"""

from __future__ import annotations

import contextlib
import inspect
import threading
import warnings
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.classes import found, is_user_class
from srcgrad.infer.emitted import RAISED
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import ANY, NEVER, At, Bound, Exact, Value, exact
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import (
    Assign,
    Block,
    Fall,
    If,
    Statement,
    With,
    walk,
)
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.parts import TRUTH, Apart, Around
from srcgrad.specialise.reduced import Reduced
from srcgrad.syntax.globals import importable, of_runtime, reference

#: What makes locks, which hold nothing of the program.
LOCKS = (threading.Lock, threading.RLock)
_LOCKED = (type(threading.Lock()), type(threading.RLock()))
#: Those that do the same whether their body raises or not.
_INDIFFERENT = (np.errstate, warnings.catch_warnings, contextlib.nullcontext, *LOCKS)
_OF_GENERATORS: Any = contextlib.contextmanager(iter)


# --- in the IR -------------------------------------------------------------------------------------------------------
def class_to_enter(made: Reduced, statement: With, maker: Assign | None, is_seen: bool) -> type | None:
    """The class of the user's whose methods are called where its object is entered and left: not of one that is made
    here of nothing, and seen by nothing else."""
    value = made.value(statement.manager)
    kinds = {atom.site.kind if isinstance(atom, At) else None for atom in value.atoms}
    kind = kinds.pop() if len(kinds) == 1 and not value.is_any else None
    if kind is None or not is_user_class(kind):
        return None
    if not all(isinstance(found(kind, name), FunctionType) for name in ("__enter__", "__exit__")):
        return None
    call = None if maker is None else maker.operation
    is_plain = isinstance(call, ir.Call) and not (call.positional or call.keywords or call.star or call.rest)
    return None if is_plain and not is_seen else kind


def is_indifferent(made: Reduced, manager: Operand, maker: Assign | None) -> bool:
    """Whether a manager does the same whether its body raises or not."""
    return _is_lock(made, manager, maker) or _function(made, maker) in _INDIFFERENT


def is_silent(made: Reduced, manager: Operand, maker: Assign | None) -> bool:
    """Whether making, entering and leaving a manager raises nothing."""
    kind, call = _function(made, maker), None if maker is None else maker.operation
    if _is_lock(made, manager, maker):
        return True
    if kind not in _INDIFFERENT or not isinstance(call, ir.Call) or call.star is not None or call.rest is not None:
        return False
    if kind is contextlib.nullcontext:
        named = [name for name, _ in call.keywords]
        return len(call.positional) + len(named) < 2 and named in ([], ["enter_result"])
    operands = (*call.positional, *(operand for _, operand in call.keywords))
    atoms = [made.value(operand).atoms for operand in operands]
    exact_ones = [atom.value for each in atoms for atom in each if isinstance(atom, Exact)]
    if not len(exact_ones) == sum(map(len, atoms)) == len(operands):
        return False  # options that vary may be wrong ones
    given = exact_ones[: len(call.positional)]
    options = zip((name for name, _ in call.keywords), exact_ones[len(given) :], strict=True)
    try:
        with kind(*given, **dict(options)):
            return True
    except Exception:
        return False


def _function(made: Reduced, maker: Assign | None) -> Any:
    """What is called to make a manager."""
    return static_of(made.value(maker.operation.function)) if maker and isinstance(maker.operation, ir.Call) else None


def _is_lock(made: Reduced, manager: Operand, maker: Assign | None) -> bool:
    if maker is not None and isinstance(maker.operation, ir.ReadGlobal):
        return isinstance(made.owner.__globals__.get(maker.operation.name), _LOCKED)
    value = made.value(manager)
    kinds = [atom.site.kind if isinstance(atom, At) else None for atom in value.atoms]
    return bool(kinds) and not value.is_any and all(kind in _LOCKED for kind in kinds)


def are_known(here: Apart) -> Iterator[Operand]:
    """The managers whose making raises nothing: it is read there what they are."""
    for manager in here.managers:
        maker = here.makers.get(manager)
        if suppressed(here.made, maker) is not None or is_silent(here.made, manager, maker):
            yield manager
        elif maker is not None and _is_of_generator(here.made, maker):
            yield manager


def _is_of_generator(made: Reduced, maker: Assign) -> bool:
    """Whether a call of a function that ``contextlib.contextmanager`` made begins a generator with what fits it."""
    function, call = _function(made, maker), maker.operation
    if not isinstance(function, FunctionType) or function.__code__ is not _OF_GENERATORS.__code__:
        return False
    generator: Any = function.__wrapped__  # type: ignore[attr-defined]
    is_begun = inspect.isgeneratorfunction(generator)
    if not is_begun or not isinstance(call, ir.Call) or call.star is not None or call.rest is not None:
        return False
    try:
        inspect.signature(generator).bind(*call.positional, **dict(call.keywords))
    except TypeError:
        return False
    return True


def suppressed(made: Reduced, maker: Assign | None) -> tuple[Operand, ...] | None:
    """What ``contextlib.suppress`` is given; None of any other manager."""
    call = None if maker is None else maker.operation
    if not isinstance(call, ir.Call) or static_of(made.value(call.function)) is not contextlib.suppress:
        return None
    return None if call.star or call.keywords or call.rest else call.positional


def is_read(here: Apart, statement: With) -> bool:
    """Whether what a manager gives where it is entered is read."""
    cells = {
        s.operation.cell for s in statement.body.statements
        if isinstance(s, Assign) and isinstance(s.operation, ir.WriteCell) and s.operation.value is statement.entered
    }  # fmt: skip
    reads = [s.operation for _, s in walk(here.function.body) if isinstance(s, Assign)]
    is_named = any(isinstance(read, ir.ReadCell) and read.cell in cells for read in reads)
    return is_named or here.uses.get(statement.entered, 0) > len(cells)


def opened_and_left(here: Apart, statement: With) -> list[Statement] | None:
    """A manager of the user's, and the calls of its methods around its body; None of any other."""
    manager, node, maker = statement.manager, statement.node, here.makers.get(statement.manager)
    if manager in here.leaving or suppressed(here.made, maker) is not None:
        return None
    is_seen = here.uses.get(manager, 0) > 1 or is_read(here, statement)
    kind = class_to_enter(here.made, statement, maker, is_seen)
    if kind is None:
        return None
    enter = method_call(here, statement, kind, "__enter__", (), statement.entered)
    leave = method_call(here, statement, kind, "__exit__", (Literal(None),) * 3, here.version(ANY))
    held = here.version(here.made.value(manager))
    here.managers.add(held)
    here.leaving[held] = Block(leave, Fall())
    made = Assign((held,), ir.Call(of_ours(runtime.leaving), (manager,)), node)
    inside = With(held, here.version(ANY), statement.body, node)
    return [*enter, made, inside, *(leave if isinstance(statement.body.exit, Fall) else ())]


def tried(here: Apart, statement: With, around: Around, token: Version) -> list[Statement]:
    """A manager of which it is not known what entering and leaving it raises: where that is caught, it is looked at.
    ``token`` stands for it in the statements that leave its body early."""
    node, body, manager = statement.node, statement.body, here.version(here.made.value(statement.manager))
    assert around.raised is not None
    of, before, test, held, is_none, after = (here.version(ANY) for _ in range(6))
    here.made.values.update(dict.fromkeys((before, after, held), RAISED) | dict.fromkeys((test, is_none), TRUTH))
    kinds = [Literal(Spelled(reference(importable(kind.__name__, kind)), kind)) for kind in around.caught]
    value = Assign((statement.entered,), ir.Call(of_ours(runtime.entered), (token,)), node)
    entering: list[Statement] = [
        Assign((before,), ir.Call(of_ours(runtime.raised_by_manager), (token,)), node),
        Assign((), ir.WriteCell(around.raised, before), node),
        Assign((test,), ir.Compare("is", before, Literal(None)), node),
        If((), test, Block((value, *body.statements), body.exit), Block((), Fall()), node),
    ]
    leaving: list[Statement] = [
        Assign((after,), ir.Call(of_ours(runtime.raised_by_manager), (token,)), node),
        Assign((), ir.WriteCell(around.raised, after), node),
    ]
    return [
        Assign((of,), ir.Make("tuple", tuple(kinds)), node),
        Assign((manager,), ir.Call(of_ours(runtime.tried), (statement.manager, of)), node),
        With(manager, token, Block(tuple(entering), Fall()), node),
        Assign((held,), ir.ReadCell(around.raised), node),
        Assign((is_none,), ir.Compare("is", held, Literal(None)), node),
        If((), is_none, Block(tuple(leaving), Fall()), Block((), Fall()), node),
    ]


def early(token: Version, node: gast.AST) -> Block:
    """What leaves a manager that is tried where its body is left before its end."""
    return Block((Assign((), ir.Call(of_ours(runtime.left_early), (token,)), node),), Fall())


def of_ours(function: Callable[..., object]) -> Literal:
    return Literal(Spelled(reference(of_runtime(function)), function))


def method_call(
    here: Apart, statement: With, kind: type, name: str, given: tuple[Operand, ...], target: Version
) -> tuple[Statement, ...]:
    """A call of a method of a manager, when nothing was raised."""
    method = found(kind, name)
    lookup = here.version(Value(frozenset((Bound(here.made.value(statement.manager), name, method),))))
    read = Assign((lookup,), ir.GetAttribute(statement.manager, name), statement.node)
    call = Assign((target,), ir.Call(lookup, given), statement.node)
    summaries = [each for each in here.made.calls.get(statement, ()) if each.function.name == name]
    plain = [each for each in summaries if _is_given_nothing(each)]
    if not plain:
        raise here.refuse("E0113", statement.node, f"what {name} of {kind.__name__} does")
    here.made.calls[call] = plain
    here.lookups[lookup] = read
    return read, call


def _is_given_nothing(summary: Summary) -> bool:
    """Whether a method is called with None for all but its object, one by one or as one tuple."""
    _, *given = summary.arguments.values()
    nothing = exact(None)
    for value in given:
        tuples = [atom.site for atom in value.atoms if isinstance(atom, At) and atom.site.kind is tuple]
        if value != nothing and (value.is_any or not tuples or len(tuples) < len(value.atoms)):
            return False
        if not all(part == nothing for site in tuples for part in summary.heap[site].parts or (NEVER,)):
            return False
    return True
