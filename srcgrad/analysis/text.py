"""Text that is made of values which vary, and read back as a number: the derivative would be lost on the way.

Enters: ``Function`` with its ``Activity``, and the normal forms of what it calls.  Leaves: nothing, or a refusal where
such text becomes a number that is of use.  Text that is printed, compared, measured or rounded to an integer loses
nothing::

    s = f"{x}"          s is text of x
    t = "x = " + s      t too
    return float(s)     refused
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.activity import Activity, inputs
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.analysis.memory import related
from srcgrad.analysis.sets import put_into_sets
from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.normal_form import (
    Append,
    Apply,
    Bind,
    Call,
    Callee,
    Dynamic,
    Exchange,
    Fixed,
    For,
    Function,
    Guarded,
    Return,
    SetField,
    Statement,
    Store,
    Unpack,
    Unruled,
    unguarded,
)
from srcgrad.rules.facts import Array, Fact
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import names_read
from srcgrad.syntax.parse import walk as nodes_of

_WRITERS = (str, repr, ascii, format, np.str_, np.bytes_)
_METHODS = frozenset(
    "array2string array_repr array_str format format_float_positional format_float_scientific join".split()
)
_READERS = (float, complex, np.float64, np.float32, np.complex128)
_ARRAYS = (np.array, np.asarray)  # arrays of text, but with a dtype
_JOINS = (operator.add, operator.iadd, operator.mod, np.add)
_CHOOSERS = (max, min)
_HANDING_ON = (
    *_CHOOSERS, list, tuple, set, dict, reversed, sorted,
    runtime.from_pairs, runtime.joined, runtime.keyed, runtime.operand, runtime.unvaried,
)  # fmt: skip


@dataclass(frozen=True)
class _Flow:
    """What a callee does with text: whether it returns text of what varies, reads text as a number, or puts such text
    into a set, and the positions of the arguments that it puts such text into."""

    returned: bool = False
    read: bool = False
    put: bool = False
    kept: tuple[int, ...] = ()


class TextReader:
    """The check of the functions of one module: what is text is followed into callees and out of them."""

    def __init__(self, normalized: Callable[[Callee], Function]) -> None:
        self.normalized = normalized
        self.flows: dict[tuple[Callee, tuple[bool, ...], tuple[bool, ...]], _Flow] = {}

    def refuse_numbers(self, function: Function, activity: Activity, facts: Mapping[str, Fact]) -> None:
        """Refuse a number that is read from text of what varies; what is known to be an array is no text."""
        statements = list(walk(function.body))
        textual = self._textual(function, activity.varied_before, set(), facts)
        kept = put_into_sets(statements)
        for statement in statements:
            if self._puts(statement, activity.varied_before, textual):
                raise UnsupportedSyntax(
                    "text that is made of a value which varies is put into a set",
                    statement.span,
                    label="its derivative could be lost there",
                    hint="keep such text in a list or dict",
                )
            stored = _stored_as_numbers(statement, facts)
            if textual.isdisjoint(stored) and not self._reads(statement, activity.varied_before, textual):
                continue
            of_use = (name in kept or name in activity.useful_after(statement) for name in bound_here(statement))
            if stored or any(of_use):
                raise UnsupportedSyntax(
                    "a number is read from text that is made of a value which varies",
                    statement.span,
                    label="its derivative is lost here",
                    hint="pass the value itself; text is for printing, keys and tests",
                )

    def _textual(
        self,
        function: Function,
        varied_before: Callable[[Statement], Container[str]],
        textual: set[str],
        facts: Mapping[str, Fact],
    ) -> set[str]:
        """The names that may hold text of what varies, where those given do."""
        statements, kin = list(walk(function.body)), cache(lambda: related(function))
        before = -1
        while len(textual) != before:
            before = len(textual)
            for statement in statements:
                if self._writes(statement, varied_before, textual) or _stores_text(statement, varied_before, facts):
                    told = not self._is_text(statement, textual, facts)
                    textual.update(n for n in _receivers(statement) if not (told and isinstance(facts.get(n), Array)))
                for name in self._containers(statement, varied_before, textual):
                    textual.update(n for n in kin()(name) if not isinstance(facts.get(n), Array))
        return textual

    def _containers(
        self, statement: Statement, varied_before: Callable[[Statement], Container[str]], textual: set[str]
    ) -> Iterable[str]:
        """The containers that a statement puts text of what varies into."""
        match statement:
            case Bind(operation=Call() as made):
                kept = self._flow(made, varied_before(statement), textual).kept
                return [name for j in kept for name in names_read(made.arguments[j])]
        changed = _changed(statement)
        return () if changed is None or not self._writes(statement, varied_before, textual) else (changed,)

    def _is_text(self, statement: Statement, textual: Container[str], facts: Mapping[str, Fact]) -> bool:
        """Whether text alone is bound here, which facts may take for a number: they are told of numbers."""
        match statement:
            case Bind(operation=Apply(function=function, arguments=arguments)):
                if any(function is known for known in (*_CHOOSERS, *_ARRAYS)):
                    return True
                joined = any(isinstance(e, gast.Constant) and isinstance(e.value, str) for e in arguments.values())
                if joined or _makes_text(statement.expression):
                    return True
            case Bind(expression=expression) if _makes_text(expression):
                return True
        if isinstance(statement, Store) and _is_of_text(facts.get(statement.base)):
            return True
        return any(name in textual and isinstance(facts.get(name), Array) for name in _passed_on(statement))

    def _writes(
        self, statement: Statement, varied_before: Callable[[Statement], Container[str]], textual: set[str]
    ) -> bool:
        """Whether a statement makes text of a value that varies, or hands such text on."""
        match statement:
            case Bind(operation=Call() as made):
                return self._flow(made, varied_before(statement), textual).returned
            case Bind(expression=expression) if any(map(_makes_text, nodes_of(expression))):
                varied = varied_before(statement)
                if any(name in varied for name in names_read(expression)):
                    return True
        return not textual.isdisjoint(_passed_on(statement))

    def _reads(
        self, statement: Statement, varied_before: Callable[[Statement], Container[str]], textual: set[str]
    ) -> bool:
        """Whether a statement reads text as a number."""
        match statement:
            case Bind(operation=Call() as made):
                return self._flow(made, (), textual).read
            case Bind(operation=Unruled(given=None)):
                return self._writes(statement, varied_before, textual)
        return not textual.isdisjoint(_read_back(statement))

    def _puts(
        self, statement: Statement, varied_before: Callable[[Statement], Container[str]], textual: set[str]
    ) -> bool:
        """Whether a statement puts text of what varies into a set, which has too many names to be followed."""
        match statement:
            case Bind(operation=Call() as made):
                return self._flow(made, varied_before(statement), textual).put
            case Bind(operation=Unruled(given=tuple()), expression=expression):
                return not textual.isdisjoint(names_read(expression))
        return False

    def _flow(self, made: Call, varied: Container[str], textual: Container[str]) -> _Flow:
        """What a call does with text, by which arguments vary and which are text."""
        callee = made.callee
        if isinstance(callee.function, Dynamic):
            return _Flow()
        if isinstance(callee.function, Guarded):
            callee = unguarded(callee)
        varies, is_text = (
            tuple(any(name in among for name in names_read(argument)) for argument in made.arguments)
            for among in (varied, textual)
        )
        key = (callee, varies, is_text)
        if key not in self.flows:
            self.flows[key] = _Flow()  # a recursive call adds nothing by itself
            self.flows[key] = self._flow_inside(self.normalized(callee), varies, is_text)
        return self.flows[key]

    def _flow_inside(self, function: Function, varies: tuple[bool, ...], is_text: tuple[bool, ...]) -> _Flow:
        statements = list(walk(function.body))
        derived = {p for p, flag in zip(function.parameters, varies, strict=True) if flag}
        before = -1
        while len(derived) != before:
            before = len(derived)
            for statement in statements:
                if not derived.isdisjoint(inputs(statement)):
                    derived.update(_receivers(statement))
        texts = {p for p, flag in zip(function.parameters, is_text, strict=True) if flag}
        textual = self._textual(function, lambda _: derived, set(texts), {})
        returned = any(
            not textual.isdisjoint(names_read(s.value)) for s in statements if isinstance(s, Return)
        )
        read, put = (any(f(s, lambda _: derived, textual) for s in statements) for f in (self._reads, self._puts))
        kept = tuple(j for j, p in enumerate(function.parameters) if p in textual and p not in texts)
        return _Flow(returned, read, put, kept)


def _is_of_text(fact: Fact | None) -> bool:
    return isinstance(fact, Array) and (fact.dtype or "").lstrip("<>=|").startswith(("U", "S", "str", "bytes"))


def _stores_text(
    statement: Statement, varied_before: Callable[[Statement], Container[str]], facts: Mapping[str, Fact]
) -> bool:
    """Whether what varies is stored into an array of text."""
    if not isinstance(statement, Store) or not _is_of_text(facts.get(statement.base)):
        return False
    varied = varied_before(statement)
    return any(name in varied for name in names_read(statement.value))


def _stored_as_numbers(statement: Statement, facts: Mapping[str, Fact]) -> list[str]:
    """The arrays of text that are stored into one of numbers, which reads them as such."""
    match statement:
        case Store(base=base, value=value) if isinstance(fact := facts.get(base), Array) and not _is_of_text(fact):
            return [name for name in names_read(value) if _is_of_text(facts.get(name))]
    return []


def _makes_text(node: gast.AST) -> bool:
    match node:
        case gast.FormattedValue() | gast.BinOp(left=gast.Constant(value=str()), op=gast.Mod()):
            return True
        case gast.Call(func=gast.Attribute(attr="astype"), args=[GlobalReference(binding=binding)]):
            return _is_writer(binding.value)
        case gast.Call(func=gast.Attribute(value=GlobalReference(binding=binding), attr=attr)):
            return attr in _METHODS or _is_writer(getattr(binding.value, attr, None))
        case gast.Call(func=gast.Attribute(attr=attr)):
            return attr in _METHODS
        case gast.Call(func=GlobalReference(binding=binding)):
            return _is_writer(binding.value)
    return False


def _is_writer(function: object) -> bool:
    """Whether a function makes text, or an exception, which is read as text alone."""
    raised = isinstance(function, type) and issubclass(function, BaseException)
    return raised or any(function is writer for writer in _WRITERS)


def _passed_on(statement: Statement) -> Iterable[str]:
    """The names whose text is part of what a statement binds, or puts into a container."""
    match statement:
        case Bind(operation=Fixed(), expression=expression):
            return names_read(expression) if _keeps_text(expression) else ()
        case Bind(operation=Apply(function=function, arguments=arguments)):
            joins = any(function is join for join in (*_JOINS, *_ARRAYS, *_HANDING_ON))
            return [n for e in arguments.values() for n in names_read(e)] if joins else ()
        case Bind(operation=Call()):
            return ()
        case Bind(expression=expression):
            return names_read(expression)
        case For(iterable=iterable):
            return names_read(iterable) if not statement.counted else ()
        case Store(index=index, value=value):
            return names_read(index, value)
        case Append(value=value) | SetField(value=value):
            return names_read(value)
        case Unpack(source=source):
            return (source,)
    return ()


def _receivers(statement: Statement) -> tuple[str, ...]:
    changed = _changed(statement)
    return (*bound_here(statement), *(() if changed is None else (changed,)))


def _changed(statement: Statement) -> str | None:
    """The container that a statement puts something into."""
    match statement:
        case Append(sequence=name) | Store(base=name) | SetField(base=name):
            return name
        case Bind(operation=Exchange(base=name) | Unruled(changes=str() as name)):
            return name
    return None


def _keeps_text(expression: gast.expr) -> bool:
    match expression:
        case gast.Call(func=GlobalReference(binding=binding)):
            return _makes_text(expression) or any(binding.value is known for known in _HANDING_ON)
        case gast.Compare() | gast.UnaryOp():
            return False
    return True


def _read_back(statement: Statement) -> Iterable[str]:
    """What a conversion to a number reads."""
    match statement:
        case Bind(operation=Apply(function=function, arguments=arguments)):
            readers = (*_READERS, *_ARRAYS) if "dtype" in arguments else _READERS
            if any(function is reader for reader in readers) or getattr(function, "__name__", "") == "astype":
                return [name for e in arguments.values() for name in names_read(e)]
        case Bind(expression=gast.Call(func=gast.Attribute(attr="fromstring")) as made):
            return names_read(made)
        case Bind(expression=gast.Call(func=GlobalReference(binding=binding)) as made):
            if any(binding.value is reader for reader in _READERS):
                return names_read(made)
    return ()
