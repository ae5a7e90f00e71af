"""What a call of a built-in method or a library function does to its operands: one table, read by every pass.

Enters: a class and the name of a member, the name of a method of an unknown class, or a function.  Leaves: an
``Effect``.  What is not listed updates everything that is reachable from its operands, and keeps it (``UNKNOWN``).
``tests/language`` calls every member of the classes listed and compares what it observes with the table.

>>> from collections import deque
>>> member(deque, "extendleft").updates, member(list, "pop").returns, method("no such method").is_known
(frozenset({0}), 'element', False)
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import TypeGuard

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.language.members import FUNCTIONS, MEMBERS, NOT_READING, OBJECT, READING, RUNTIME
from srcgrad.language.members import KINDS as KINDS

#: Whose memory a result is, from the least to the most: its own; items of an operand, or a container of them; memory
#: of an operand, seen otherwise; an operand itself.
RETURNS = ("fresh", "element", "view", "alias")
ALL = -1  #: in place of the position of an operand: everything reachable from every operand
BY_NAME = sys.maxsize  #: in place of the position of an output: it is given by name only


@dataclass(frozen=True)
class Option:
    """A parameter that makes a function change an operand: ``copy=False``, ``overwrite_a=True``, ``output=y``."""

    name: str
    place: int | None  # where it stands among the arguments, if it may be given by position
    operand: int
    idle: tuple[object, ...]  # literals that change nothing


@dataclass(frozen=True)
class Effect:
    """Operands count from the receiver of a method, or the first argument of a function: 0, 1, ...; all are read."""

    updates: frozenset[int] = frozenset()  # operands that it changes
    output: int | None = None  # the operand that it changes if it is given: ``out``
    options: tuple[Option, ...] = ()  # parameters under which it changes others
    keeps: bool = False  # references to its arguments, in what it updates
    items: bool = False  # references to the items of its arguments, there too
    returns: str = "fresh"
    lengths: bool = False  # what it updates may have another number of items
    raises: bool = True  # whether some operands, as many as it takes, make it raise
    draws: bool = False  # random numbers: another call returns others
    calls: bool = False  # functions that it is given
    is_known: bool = True
    sources: tuple[slice, ...] = ()  # operands of which what it returns and keeps is; of all if there are none

    def updated(
        self, positional: int, named: Collection[str] = (), *, star: bool = False, rest: bool = False
    ) -> frozenset[int]:
        """The operands that a call with so many positional operands, the receiver included, updates.

        ``star``, ``rest``: it is given more operands by position, or by name, and it is not known how many."""
        positional = BY_NAME if star else positional
        given = self.output is not None and (positional > self.output or "out" in named or rest)
        made = self.updates | {self.output} if given and self.output is not None else self.updates
        return made.union(
            option.operand
            for option in self.options
            if option.name in named or rest or option.place is not None and positional > option.place
        )

    def without_idle(self, arguments: Sequence[gast.expr], keywords: Sequence[gast.keyword]) -> Effect:
        """Without the options that a call, whose arguments are those of the function, gives as idle literals."""

        def is_idle(option: Option) -> bool:
            place = len(arguments) if option.place is None else option.place
            found = [k.value for k in keywords if k.arg in (option.name, None)] + list(arguments[place : place + 1])
            return all(isinstance(v, gast.Constant) and v.value in option.idle for v in found)

        is_plain = not any(isinstance(argument, gast.Starred) for argument in arguments)
        return replace(self, options=tuple(o for o in self.options if not (is_plain and is_idle(o))))


UNKNOWN = Effect(frozenset((ALL,)), keeps=True, items=True, returns="alias", lengths=True, calls=True, is_known=False)


def member(kind: type, name: str) -> Effect:
    """What a member of a built-in class does; ``UNKNOWN`` of what is not listed.

    A subclass that a user writes may do something else.
    """
    return _members().get(kind, {}).get(name, UNKNOWN)


@cache
def method(name: str) -> Effect:
    """What a method of this name may do, whichever built-in class its receiver is of: all that one of them does."""
    found = [effects[name] for effects in _members().values() if name in effects]
    return _joined(found) if found else UNKNOWN


@cache
def updating() -> frozenset[str]:
    """The names of the methods that update their receiver, in one of the classes."""
    return frozenset(name for effects in _members().values() for name, made in effects.items() if 0 in made.updates)


@cache
def resizing() -> frozenset[str]:
    """The names of the methods after which a container may have another number of items."""
    return frozenset(name for kind in KINDS if kind is not np.ndarray for name, made in _members()[kind].items()
                     if made.lengths)  # fmt: skip


@cache
def returning(kind: type, returned: str) -> frozenset[str]:
    """The names of the methods of a class whose result is, at most, this part of the receiver."""
    return frozenset(n for n, made in _members()[kind].items() if made.returns == returned and not n.startswith("__"))


@cache
def reading(*kinds: type) -> frozenset[str]:
    """The names of the methods of these classes that update nothing, of whichever class the receiver is."""
    return frozenset(n for kind in kinds for n in _members()[kind] if is_reading(method(n)))


def is_reading(effect: Effect) -> bool:
    """Whether no call with the positional operands that it needs updates anything."""
    return effect.is_known and not effect.updates


def of_function(function: object) -> Effect:
    """What a function, class or bound method of NumPy or the standard library does; ``UNKNOWN`` if it is not listed."""
    if is_compiled_ufunc(function):
        return Effect(output=function.nin)
    name = getattr(function, "__name__", "")
    owner = getattr(function, "__self__", None)
    if isinstance(function, np.ufunc) or isinstance(owner, np.ufunc) and not is_compiled_ufunc(owner):
        return UNKNOWN
    if isinstance(owner, np.ufunc):
        return _OF_UFUNCS.get(name, UNKNOWN)
    kind = getattr(function, "__objclass__", None)
    if isinstance(kind, type) and kind in _members():
        return member(kind, name)  # ``list.append`` takes its receiver first
    if isinstance(owner, type) and owner in _members():
        return _shifted(member(owner, name))  # ``dict.fromkeys`` takes its class first
    if owner is not None and type(owner) in _members():
        return _shifted(member(type(owner), name))
    home = _home(function)
    if is_of_emitted(function):
        return _of_runtime().get(name, _HANDING_ON)
    root = home.partition(".")[0]
    found = _functions().get((home, name)) or _functions().get((root, name))
    if found is None and (root not in READING or home.startswith(NOT_READING) or _is_private_core(function, home)):
        return UNKNOWN
    found = found or Effect()
    return found if root not in _LIBRARIES else _with_options(found, function)


_HANDING_ON = Effect(returns="alias")
_EMITTED = frozenset(runtime.__all__)


def is_of_emitted(function: object) -> bool:
    """Whether a function is one of the runtime's that emitted code names."""
    name = getattr(function, "__name__", "")
    return name in _EMITTED and getattr(runtime, name) is function


def is_listed(function: object) -> bool:
    """Whether the table says what one of the functions does that emitted code names."""
    return is_of_emitted(function) and getattr(function, "__name__", "") in _of_runtime()


def updating_in_emitted() -> frozenset[str]:
    """The names of the functions that emitted code names and that update an operand."""
    return frozenset(name for name, made in _of_runtime().items() if made.is_known and made.updates)


@cache
def _of_runtime() -> dict[str, Effect]:
    """Of the functions that emitted code names."""
    return dict(_read(RUNTIME))


_COMPILED = (BuiltinFunctionType, type(np.random.default_rng))  # of C, and by Cython


def _is_private_core(function: object, home: str) -> bool:
    """Whether a function is compiled and of a private module, whose functions may store into what they are given."""
    return isinstance(function, _COMPILED) and any(part.startswith("_") for part in home.split(".")[1:])


def is_function(value: object) -> bool:
    """Whether a callable is a function, method or class, or is found in its module under its own name, as the functions
    of ``scipy.fft`` are.

    Of other objects of a library's class (``np.vectorize``, ``functools.partial``) the library does not say what a call
    does, since it may call what they hold.
    """
    if isinstance(value, _FUNCTIONS):
        return True
    module = sys.modules.get(str(getattr(value, "__module__", None)))
    return value is not None and vars(module or sys).get(str(getattr(value, "__name__", None))) is value


_FUNCTIONS = (
    type, FunctionType, BuiltinFunctionType, MethodType, MethodDescriptorType, WrapperDescriptorType, MethodWrapperType,
    ClassMethodDescriptorType, np.ufunc, type(np.sum),
)  # fmt: skip


def is_compiled_ufunc(function: object) -> TypeGuard[np.ufunc]:
    """Whether a ufunc computes with numbers; one that has no loop but over objects calls a Python function
    (``np.frompyfunc``), which may do anything."""
    return isinstance(function, np.ufunc) and any("O" not in loop for loop in function.types)


def names_of(*homes: str) -> frozenset[str]:
    """The names of the functions listed for these modules that update one of their operands."""
    return frozenset(n for (home, n), made in _functions().items() if made.updates and (not homes or home in homes))


# --- the table, read -------------------------------------------------------------------------------------------------
def _read(text: str) -> Iterator[tuple[str, Effect]]:
    """Lines of ``words: names``; ``updates=1`` is an operand, ``updates`` the first, ``out=2`` where ``out`` stands,
    ``unless=copy`` an option."""
    for line in text.strip().splitlines():
        words, _, names = line.partition(":")
        made = Effect()
        for word in words.split():
            key, _, value = word.partition("=")
            match key:
                case "updates":
                    made = replace(made, updates=made.updates | {int(value or 0)})
                case "unless":  # the first operand, unless this is true
                    made = replace(made, options=(Option(value, None, 0, (True,)),))
                case "out":
                    made = replace(made, output=int(value))
                case "of":  # ``2``, or ``2+``
                    start = int(value.rstrip("+"))
                    places = slice(start, None, 2) if value.endswith("+") else slice(start, start + 1)
                    made = replace(made, sources=(*made.sources, places))
                case "keeps" | "items" | "lengths" | "draws" | "calls":
                    made = replace(made, **{key: True})  # type: ignore[arg-type]
                case "unknown":
                    made = UNKNOWN
                case "quiet":
                    made = replace(made, raises=False)
                case _:
                    assert key in RETURNS, key
                    made = replace(made, returns=key)
        yield from ((name, made) for name in names.split())


@cache
def _members() -> dict[type, dict[str, Effect]]:
    shared = dict(_read(OBJECT))
    return {kind: shared | {n: e for text in texts for n, e in _read(text)} for kind, texts in MEMBERS.items()}


@cache
def _functions() -> dict[tuple[str, str], Effect]:
    return {(home, name): made for home, text in FUNCTIONS.items() for name, made in _read(text)}


def _joined(effects: list[Effect]) -> Effect:
    """All that one of several may do."""
    places = {effect.output for effect in effects if effect.output is not None}
    return Effect(
        frozenset().union(*(effect.updates for effect in effects)),
        min(places, default=None),
        tuple(option for effect in effects for option in effect.options),
        any(effect.keeps for effect in effects),
        any(effect.items for effect in effects),
        max((effect.returns for effect in effects), key=RETURNS.index),
        any(effect.lengths for effect in effects),
        any(effect.raises for effect in effects),
        any(effect.draws for effect in effects),
        any(effect.calls for effect in effects),
    )


def _shifted(effect: Effect) -> Effect:
    """Of a bound method: its operands are the arguments alone; what it does to its receiver concerns all."""
    if not effect.is_known or 0 in effect.updates:
        return UNKNOWN
    output = None if effect.output is None else effect.output - 1
    return replace(effect, updates=frozenset(place - 1 for place in effect.updates), output=output)


def _home(function: object) -> str:
    """The module of a function, or the class of the object that it is bound to; ``_heapq`` is ``heapq``."""
    owner = getattr(function, "__self__", None)
    module = getattr(function, "__module__", None)
    if module is None and owner is not None:
        module = type(owner).__module__
    if not is_function(function) or module is None:
        return ""
    return str(module).lstrip("_")


def _with_options(found: Effect, function: object) -> Effect:
    """With what the signature says of outputs and of operands that may be overwritten."""
    try:
        places = _places_in_signature(function)
    except TypeError:  # it has no hash
        return replace(found, output=None, options=())
    options = []
    for name, place in places.items():
        word, _, operand = name.partition("_")
        if word == "overwrite":
            place_of_operand = 0 if operand == "input" else places.get(operand)
            options.append(Option(name, place, ALL if place_of_operand is None else place_of_operand, (False,)))
        elif name == "output":
            options.append(Option(name, place, ALL if place is None else place, (None,)))
    options += [replace(option, place=places.get(option.name)) for option in found.options]
    output = None if "out" not in places else BY_NAME if places["out"] is None else places["out"]
    return replace(found, output=output, options=tuple(options))


@cache
def _places_in_signature(function: object) -> dict[str, int | None]:
    """The parameters and where they stand; None of those that are given by name alone."""
    try:
        parameters = inspect.signature(function).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return {}
    several = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters.values())
    return {
        name: None if several or parameter.kind is parameter.KEYWORD_ONLY else place
        for place, (name, parameter) in enumerate(parameters.items())
    }


_LIBRARIES = ("numpy", "scipy")
_OF_UFUNCS = {
    "at": Effect(frozenset((0,))),
    "reduce": Effect(output=3),
    "accumulate": Effect(output=3),
    "reduceat": Effect(output=4),
    "outer": Effect(),
}
