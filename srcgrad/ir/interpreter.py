"""What the IR means: a direct interpreter, which runs a function as Python would.

Enters: a ``Function``, the globals and the captured cells of the function object that it was lowered from.  Leaves: a
Python function with the same signature.  It is slow, and the specification of every operation: whatever reads the IR
agrees with it.

A block is run by a generator, so that a ``Yield`` anywhere in it can suspend the function.  An exception is an outcome
of a block, not raised through these generators, which would turn ``StopIteration`` into ``RuntimeError``.
"""

from __future__ import annotations

import keyword
import types
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from types import CellType, FunctionType
from typing import Any, TypeAlias

from srcgrad.ir.evaluating import RUN, Frame
from srcgrad.ir.operations import (
    Cell,
    MakeClass,
    MakeFunction,
    MatchClass,
    MatchKeys,
    Operation,
    Unpack,
    Yield,
    YieldFrom,
)
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
    Raise,
    Return,
    Statement,
    Try,
    With,
)


# --- outcomes --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Fell:
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Broke:
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Continued:
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Returned:
    value: Any


@dataclass(frozen=True)
class Raised:
    exception: BaseException


Outcome: TypeAlias = Fell | Broke | Continued | Returned | Raised
Running: TypeAlias = Generator[Any, Any, Outcome]


# --- functions -------------------------------------------------------------------------------------------------------
def interpreted(function: Function, of: FunctionType) -> FunctionType:
    """A function that runs the IR of ``of`` in the interpreter."""
    captured = dict(zip(of.__code__.co_freevars, of.__closure__ or (), strict=True))
    cells = {cell: captured[cell.variable] for cell in function.free}
    made = _function(function, of.__globals__, cells, of.__defaults__ or (), of.__kwdefaults__ or {})
    made.__dict__.update(of.__dict__)
    return made


def _function(
    function: Function,
    namespace: dict[str, Any],
    cells: Mapping[Cell, CellType],
    defaults: tuple[Any, ...],
    by_name: Mapping[str, Any],
) -> FunctionType:
    """A Python function of the same signature, which enters the IR with its arguments."""

    def enter(*arguments: Any) -> Any:
        frame = Frame(function, namespace, {**cells, **{cell: CellType() for cell in function.cells}})
        frame.values.update(zip(function.parameters, arguments, strict=True))
        if not function.is_generator:
            return _finish(frame)
        generator: Any = _generate(frame)
        generator.__name__, generator.__qualname__ = function.name, function.qualname
        return generator

    made = _with_signature(function, enter)
    made.__defaults__, made.__kwdefaults__ = defaults or None, dict(by_name) or None
    made.__name__, made.__qualname__ = function.name, function.qualname
    made.__module__, made.__doc__ = namespace.get("__name__", "builtins"), function.documentation
    return made


def _with_signature(function: Function, enter: Callable[..., Any]) -> FunctionType:
    given = function.parameters
    names = [parameter.name for parameter in given]
    parts = [version.name for version in given.positional_only]
    parts += ["/"] * bool(given.positional_only)
    parts += [version.name for version in given.positional]
    if given.variadic is not None:
        parts.append(f"*{given.variadic.name}")
    elif given.keyword_only:
        parts.append("*")
    parts += [version.name for version in given.keyword_only]
    if given.rest is not None:
        parts.append(f"**{given.rest.name}")
    entry = "enter_"
    while entry in names:
        entry += "_"
    name = function.name if function.name.isidentifier() and not keyword.iskeyword(function.name) else "function"
    space: dict[str, Any] = {entry: enter}
    exec(f"def {name}({', '.join(parts)}):\n    return {entry}({', '.join(names)})", space)
    made: FunctionType = space[name]
    return made


def _finish(frame: Frame) -> Any:
    """What a function that suspends nowhere returns."""
    running = _block(frame, frame.function.body)
    try:
        next(running)
    except StopIteration as stop:
        outcome: Outcome = stop.value
    else:
        raise AssertionError(f"{frame.function.name} was suspended")
    return _result(outcome)


class _Thrown(Exception):
    """What ``throw`` or ``close`` brings to a ``Yield``; ``GeneratorExit`` as it is would close all generators here."""

    def __init__(self, exception: BaseException) -> None:
        self.exception = exception


def _generate(frame: Frame) -> Generator[Any, Any, Any]:
    """The generator of the user, which drives those of the interpreter."""
    running = _block(frame, frame.function.body)
    sent: Any = None
    thrown: _Thrown | None = None
    while True:
        try:
            item = running.send(sent) if thrown is None else running.throw(thrown)
        except StopIteration as stop:
            outcome: Outcome = stop.value
            break
        sent, thrown = None, None
        try:
            sent = yield item
        except BaseException as exception:
            thrown = _Thrown(exception)
    return _result(outcome)


def _delegated(iterator: Any) -> Generator[Any, Any, Any]:
    """``yield from`` (PEP 380), with exceptions that come as ``_Thrown``."""
    sent: Any = None
    thrown: BaseException | None = None
    while True:
        try:
            if isinstance(thrown, GeneratorExit):
                if hasattr(iterator, "close"):
                    iterator.close()
                raise thrown
            if thrown is not None:
                if not hasattr(iterator, "throw"):
                    raise thrown
                item = iterator.throw(thrown)
            else:
                item = next(iterator) if sent is None else iterator.send(sent)
        except StopIteration as stop:
            return stop.value
        sent, thrown = None, None
        try:
            sent = yield item
        except _Thrown as given:
            thrown = given.exception


def _result(outcome: Outcome) -> Any:
    match outcome:
        case Returned(value=value):
            return value
        case Raised(exception=exception):
            context = exception.__context__
            try:
                raise exception
            finally:
                exception.__context__ = context  # and not what the caller handles
                del exception, outcome  # a traceback holds this frame
    raise AssertionError(outcome)


# --- blocks and regions ----------------------------------------------------------------------------------------------
def _block(frame: Frame, block: Block) -> Running:
    for statement in block.statements:
        if isinstance(statement, Assign):
            try:
                match statement.operation:
                    case Yield(value=value):
                        found = yield frame[value]
                    case YieldFrom(source=source):
                        found = yield from _delegated(iter(frame[source]))
                    case operation:
                        found = _RUN[type(operation)](frame, operation)
            except _Thrown as thrown:
                if thrown.exception.__context__ is None:
                    thrown.exception.__context__ = thrown.__context__
                return Raised(thrown.exception)
            except BaseException as exception:
                return Raised(exception)
            if isinstance(statement.operation, Unpack | MatchKeys | MatchClass):
                frame.values.update(zip(statement.targets, found, strict=True))
            elif statement.targets:
                frame.values[statement.targets[0]] = found
            continue
        outcome = yield from _REGIONS[type(statement)](frame, statement)
        if not isinstance(outcome, Fell):
            return outcome
    return _left(frame, block)


def _left(frame: Frame, block: Block) -> Outcome:
    match block.exit:
        case Fall(values=values):
            return Fell(frame.all(values))
        case Break(values=values):
            return Broke(frame.all(values))
        case Continue(values=values):
            return Continued(frame.all(values))
        case Return(value=value):
            return Returned(frame[value])
        case Raise(exception=exception, cause=cause):
            try:
                if exception is None:
                    raise
                if cause is None:
                    raise frame[exception]
                raise frame[exception] from frame[cause]
            except BaseException as raised:
                return Raised(raised)
    raise AssertionError(f"the end of a block of {frame.function.name} is reached")


def _if(frame: Frame, statement: If) -> Running:
    try:
        holds = bool(frame[statement.test])
    except BaseException as exception:
        return Raised(exception)
    outcome = yield from _block(frame, statement.body if holds else statement.orelse)
    if isinstance(outcome, Fell):
        frame.values.update(zip(statement.targets, outcome.values, strict=True))
    return outcome


def _loop(frame: Frame, statement: Loop) -> Running:
    values = frame.all(statement.initial)
    while True:
        frame.values.update(zip(statement.heads, values, strict=True))
        outcome = yield from _block(frame, statement.body)
        match outcome:
            case Continued(values=values):
                continue
            case Broke(values=values):
                frame.values.update(zip(statement.targets, values, strict=True))
                return Fell(())
        return outcome


def _special(value: object, name: str) -> Any:
    """A method that Python looks up on the class, bound to the value."""
    kind = type(value)
    for each in kind.__mro__:
        if name in vars(each):
            found = vars(each)[name]
            return found.__get__(value, kind) if hasattr(type(found), "__get__") else found
    missed = f" (missed {name} method)" if name == "__exit__" else ""
    raise TypeError(f"'{kind.__name__}' object does not support the context manager protocol{missed}")


def _with(frame: Frame, statement: With) -> Running:
    manager = frame[statement.manager]
    try:
        enter, leave = _special(manager, "__enter__"), _special(manager, "__exit__")
        frame.values[statement.entered] = enter()
    except BaseException as exception:
        return Raised(exception)
    outcome = yield from _block(frame, statement.body)
    try:
        if isinstance(outcome, Raised):
            context = outcome.exception.__context__
            try:
                raise outcome.exception
            except BaseException as raised:
                raised.__context__ = context
                return Fell(()) if leave(type(raised), raised, raised.__traceback__) else outcome
        leave(None, None, None)
    except BaseException as exception:
        return Raised(exception)
    return outcome


def _try(frame: Frame, statement: Try) -> Running:
    outcome = yield from _caught(frame, statement)
    if not isinstance(outcome, Raised):
        last = yield from _block(frame, statement.final)
        return outcome if isinstance(last, Fell) else last
    context = outcome.exception.__context__
    try:
        raise outcome.exception  # so that it is the context of what the block raises
    except BaseException as exception:
        exception.__context__ = context
        last = yield from _block(frame, statement.final)
    return outcome if isinstance(last, Fell) else last


def _caught(frame: Frame, statement: Try) -> Running:
    outcome = yield from _block(frame, statement.body)
    if isinstance(outcome, Fell):
        return (yield from _block(frame, statement.orelse))
    if not isinstance(outcome, Raised):
        return outcome
    context = outcome.exception.__context__
    try:
        raise outcome.exception
    except BaseException as exception:
        exception.__context__ = context  # and not what was handled around it
        for handler in statement.handlers:
            chosen = yield from _chosen(frame, handler, exception)
            if isinstance(chosen, Raised):
                return chosen
            assert isinstance(chosen, Fell)
            if chosen.values[0]:
                frame.values[handler.caught] = exception
                return (yield from _block(frame, handler.body))
    return outcome


def _chosen(frame: Frame, handler: Handler, exception: BaseException) -> Running:
    """Whether a handler catches an exception."""
    if handler.kinds is None:
        return Fell((True,))
    kinds = yield from _block(frame, handler.kinds)
    if not isinstance(kinds, Fell):
        return kinds
    context = exception.__context__
    try:
        try:
            raise exception
        except kinds.values[0]:
            return Fell((True,))
    except BaseException as other:
        return Fell((False,)) if other is exception else Raised(other)
    finally:
        exception.__context__ = context


_REGIONS: dict[type[Statement], Callable[[Frame, Any], Running]] = {If: _if, Loop: _loop, With: _with, Try: _try}


def _make_function(frame: Frame, made: MakeFunction) -> FunctionType:
    cells = {cell: frame.cells[cell] for cell in made.function.free}
    by_name = {name: frame[value] for name, value in made.keyword_defaults}
    function = _function(made.function, frame.namespace, cells, frame.all(made.defaults), by_name)
    function.__annotations__ = {name: frame[value] for name, value in made.annotations}
    return function


def _make_class(frame: Frame, made: MakeClass) -> Any:
    body = made.body
    bases = types.resolve_bases(frame[made.bases])
    metaclass, namespace, keywords = types.prepare_class(body.name, bases, frame[made.keywords])
    namespace["__module__"] = frame.namespace.get("__name__", "builtins")
    namespace["__qualname__"] = body.qualname
    if bases is not frame[made.bases]:
        namespace["__orig_bases__"] = frame[made.bases]
    cells = {cell: frame.cells[cell] for cell in body.free} | {cell: CellType() for cell in body.cells}
    _finish(Frame(body, frame.namespace, cells, names=namespace))
    for cell in body.cells:
        if cell.variable == "__class__":
            namespace["__classcell__"] = cells[cell]  # which ``type`` fills before it calls anything of the class
    return metaclass(body.name, bases, namespace, **keywords)


_MAKING: dict[type[Operation], Callable[[Frame, Any], Any]] = {MakeFunction: _make_function, MakeClass: _make_class}
_RUN = {**RUN, **_MAKING}
