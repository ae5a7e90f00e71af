"""A call bound to the parameters of a rule; what the rule does not know is refused by name, never ignored.

Enters: the function that is called, its positional and keyword expressions.  Leaves: parameter -> expression, only what
is given.  A position means what it means in the *called* function: ``np.sum(x, 0, np.float32)`` gives ``dtype``.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import gast

from srcgrad.rules.formula import constant, displayed, literal
from srcgrad.rules.laws import is_own
from srcgrad.runtime.binding import documented_signature, is_of_library

if TYPE_CHECKING:
    from srcgrad.rules.template import Rule

#: Arguments that change nothing when they are given as this literal.
NEUTRAL: Mapping[str, object] = {
    "out": None,
    "overwrite_input": False,
    "weights": None,
    "where": True,
    "dtype": None,
    "casting": "same_kind",
    "order": "K",
    "subok": True,
    "like": None,
    "key": None,
    "correction": 0,
    "copy": None,
    "device": None,
}


class UnsupportedCall(TypeError):
    """A ruled function is called in a form whose derivative is not known; the message names function and argument."""


def signature_of(function: Any) -> inspect.Signature | None:
    """The signature of a function, if it tells one that NumPy's argument names can be read from.

    Functions of the user's may get other defaults; those of libraries are asked once."""
    if type(function).__name__ == "ufunc":
        return None
    return (_told_once if is_of_library(function) else _told)(function)


def _told(function: Any) -> inspect.Signature | None:
    try:
        return documented_signature(function)
    except (TypeError, ValueError):
        return None


_told_once = cache(_told)


#: What the positions of a ufunc's methods mean; their signatures do not tell of all.
METHODS = {
    "reduce": ("array", "axis", "dtype", "out", "keepdims", "initial", "where"),
    "accumulate": ("array", "axis", "dtype", "out"),
    "reduceat": ("array", "indices", "axis", "dtype", "out"),
    "outer": ("A", "B"),
}


def _positions(rule: Rule, function: object) -> list[str]:
    """What each position means: names of the called function, the rule's own where those are positional-only."""
    own = [p for p in rule.parameters if p != rule.variadic and not (rule.variadic and p in rule.defaults)]
    signature = signature_of(function)
    if type(getattr(function, "__self__", None)).__name__ == "ufunc":
        return list(METHODS[function.__name__])  # type: ignore[attr-defined]
    if type(function).__name__ == "ufunc":
        own = own[: function.nin]  # type: ignore[attr-defined]
        return [*own, *["out"] * function.nout]  # type: ignore[attr-defined]
    if signature is None:
        return own
    parameters = list(signature.parameters.values())
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return own
    names: list[str] = []
    for position, parameter in enumerate(parameters):
        if parameter.kind is parameter.KEYWORD_ONLY or parameter.kind is parameter.VAR_KEYWORD:
            break
        if parameter.kind is parameter.POSITIONAL_ONLY and position < len(own):
            names.append(parameter.name if parameter.name in own else own[position])
        else:
            names.append(parameter.name)
    return names


def bind(
    rule: Rule, function: object, args: list[gast.expr], keywords: Mapping[str, gast.expr]
) -> dict[str, gast.expr]:
    """The given arguments of a call by parameter of the rule."""
    rule.follow()
    args = args if rule.arranged is None else rule.arranged(args)
    names = _positions(rule, function)
    if any(isinstance(argument, gast.Starred) for argument in args):
        what = "the number of arguments after * is not known when this is compiled"
        raise UnsupportedCall(f"{displayed(function)}: {what}")
    if len(args) > len(names) and rule.variadic is None:
        raise UnsupportedCall(f"{displayed(function)} takes {len(names)} arguments here, {len(args)} are given")
    bound: dict[str, gast.expr] = {}
    for name, argument in zip(names, args, strict=False):
        _give(rule, function, bound, name, argument)
    if rule.variadic is not None:
        bound[rule.variadic] = gast.Tuple(list(args[len(names) :]), gast.Load())
    for name, argument in keywords.items():
        _give(rule, function, bound, name, argument)
    if rule.casts and getattr(function, "__module__", None) == "cmath":
        bound.setdefault("dtype", gast.Constant("complex128", None))  # what it computes in, whatever it is given
    for parameter in rule.parameters:
        if parameter not in bound and parameter not in rule.defaults and parameter != rule.variadic:
            raise UnsupportedCall(f"{displayed(function)}: its derivative needs the argument {parameter!r}")
    return bound


def _give(rule: Rule, function: object, bound: dict[str, gast.expr], name: str, argument: gast.expr) -> None:
    parameter = rule.synonyms.get(name, name)
    if parameter in bound:
        raise UnsupportedCall(f"{displayed(function)}: the argument {name!r} is given twice")
    if parameter in rule.parameters and parameter != rule.variadic:
        if parameter in rule.allowed:
            value = _meant(argument, rule.allowed[parameter])
            if value is None:
                values = " or ".join(map(repr, rule.allowed[parameter]))
                raise UnsupportedCall(f"{displayed(function)}: the argument {name!r} must be the literal {values}")
            argument = value
        elif is_own(rule.template):
            argument = _settled(rule, parameter, argument)
        if not _is_idle(rule, parameter, argument):
            bound[parameter] = argument
        return
    is_ufunc = type(function).__name__ == "ufunc"
    if name in rule.ignored or (is_ufunc and name in _OF_UFUNCS):
        return
    neutral = rule.neutral if name in rule.neutral else NEUTRAL if is_own(rule.template) else {}
    known, value = literal(argument)
    if known and name in neutral and type(value) is type(neutral[name]) and value == neutral[name]:
        return
    if known and name not in rule.neutral and _says_default(function, name, value):
        return
    if name in rule.neutral:
        raise UnsupportedCall(f"{displayed(function)}: the argument {name!r} must be the literal {neutral[name]!r}")
    if name in rule.options and getattr(function, "__module__", None) not in ("math", "cmath", "builtins"):
        bound[name] = argument
        return
    if name == "where" and (is_ufunc or rule.casts):
        raise UnsupportedCall(
            f"{displayed(function)}: the argument 'where' is not supported: where it is false the result is memory that"
            " nobody has written; choose with np.where"
        )
    raise UnsupportedCall(f"{displayed(function)}: the argument {name!r} is not supported")


def _meant(argument: gast.expr, allowed: tuple[object, ...]) -> gast.expr | None:
    """An argument as the allowed literal that it equals: 1 is True where truth values are allowed, and True is 1 where
    numbers are.  So the formula that is chosen by the literal is that of the call."""
    known, value = literal(argument)
    equal = [other for other in allowed if known and other == value]
    if not equal:
        return None
    if any(type(other) is type(value) for other in equal):
        return argument
    return gast.copy_location(constant(equal[0]), argument)


def _settled(rule: Rule, parameter: str, argument: gast.expr) -> gast.expr:
    """An option as the truth value or integer that it equals, where the usual one is of that type, or it is an axis:
    NumPy takes 1 for True and True for 1, in some functions 1.0 for both; formulas and facts ask for the type."""
    usual = literal(rule.defaults[parameter])[1] if parameter in rule.defaults else None
    if isinstance(usual, bool):
        return _meant(argument, (False, True)) or argument
    known, value = literal(argument)
    counts = parameter.startswith("axis") or isinstance(usual, int) and parameter not in rule.sensitive
    if known and counts and (isinstance(value, bool) or (isinstance(value, float) and value.is_integer())):
        return gast.copy_location(constant(int(value)), argument)
    return argument


def _is_idle(rule: Rule, parameter: str, argument: gast.expr) -> bool:
    """Whether an argument says ``dtype=None``, ``where=True`` or ``initial=None``, as if it were not given."""
    if parameter not in ("dtype", "where", "initial") or parameter not in rule.defaults:
        return False
    known, value = literal(argument)
    if parameter == "initial":
        return known and value is None
    usual = literal(rule.defaults[parameter])[1]
    return known and all(type(value) is type(other) and value == other for other in (usual, NEUTRAL[parameter]))


def _says_default(function: object, name: str, value: object) -> bool:
    """Whether an argument is given as what the function assumes when it is not given."""
    signature = signature_of(function)
    parameter = None if signature is None else signature.parameters.get(name)
    return parameter is not None and type(value) is type(parameter.default) and bool(value == parameter.default)


#: Keywords of every ufunc that change no value: which casts are allowed, the layout and the class of the result.
_OF_UFUNCS = frozenset({"casting", "order", "subok"})
