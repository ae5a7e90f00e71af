"""Functions of the rule table on tensors: what the text of a rule calls when derivatives are themselves recorded.

``lifted(np)`` is NumPy with every function lifted; ``lifted(f)`` computes ``f`` on arrays and records a node with the
rule of ``f``.  Without a tensor among the arguments a lifted function is the function itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import ModuleType
from typing import Any

import gast
import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.dispatch import Operation, call, unwrapped
from srcgrad.eager.lifted_arrays import on_arrays
from srcgrad.eager.nesting import is_nested, recorded_tree
from srcgrad.eager.tensor import Tensor
from srcgrad.rules.formula import constant, literal
from srcgrad.rules.rewriting import read
from srcgrad.rules.table import is_constant, lookup
from srcgrad.rules.template import Rule
from srcgrad.runtime import require_matrix


class LiftedModule:
    """A module whose functions take tensors."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        made = lifted(getattr(self._module, name))
        setattr(self, name, made)
        return made


@cache
def _module(module: ModuleType) -> LiftedModule:
    return LiftedModule(module)


def lifted(value: Any) -> Any:
    """What stands for a global of a rule's text when its values are tensors."""
    if isinstance(value, ModuleType):
        return _module(value)
    if isinstance(value, type) or not callable(value):
        return value
    return _function(value)


@cache
def _function(function: Callable[..., Any]) -> Callable[..., Any]:
    run = on_arrays(function)
    known: dict[Any, tuple[Operation, tuple[str, ...]]] = {}  # calls by position alone, by what decides their plan

    def on_tensors(*args: Any, **kwargs: Any) -> Any:
        form = None if kwargs else _form(args)
        plain = known.get(form) if form is not None else None
        if plain is not None:
            array = run(*[a.array if isinstance(a, Tensor) else a for a in args])
            if isinstance(array, np.ndarray | np.generic):
                return call(plain[0], dict(zip(plain[1], args, strict=True)), facts=True, array=array)
        if not (any(map(_holds_tensor, args)) or any(map(_holds_tensor, kwargs.values()))):
            made = run(*args, **kwargs)
            floating = isinstance(made, np.ndarray) and made.dtype.kind in "fc"
            return Tensor.of(made) if floating else made  # an operator of an array would not let a tensor join
        args = tuple(map(_as_numpy, args))
        kwargs = {name: _as_numpy(value) for name, value in kwargs.items()}
        rule = lookup(function)
        if rule is None:
            made = run(*map(unwrapped, args), **{name: unwrapped(value) for name, value in kwargs.items()})
            if not is_constant(function) and any(map(requires, (*args, *kwargs.values()))):
                raise NotImplementedError(f"there is no derivative rule for {function}")
            return Tensor.of(made) if isinstance(made, np.ndarray | np.generic) else made
        array = run(*map(unwrapped, args), **{name: unwrapped(value) for name, value in kwargs.items()})
        made = recorded(function, rule, args, kwargs, strong(array))
        if form is not None and isinstance(made, Tensor) and not (rule.matrices or rule.options or rule.variadic):
            operation, places, _ = _plans[_plan_key(function, rule, args, kwargs)]
            if [*places.values()] == [*range(len(args))]:
                known[form] = operation, tuple(places)
        return made

    if isinstance(function, np.ufunc):
        for name in ("reduce", "accumulate", "reduceat", "outer"):
            setattr(on_tensors, name, lifted(getattr(function, name)))
    return on_tensors


def strong(value: Any) -> Any:
    """A result as arrays and NumPy's numbers: one of Python's has no dtype, and would be taken for no number."""
    if isinstance(value, list | tuple):
        return [*map(strong, value)] if isinstance(value, list) else tuple(map(strong, value))
    if isinstance(value, dict):
        return {key: strong(item) for key, item in value.items()}
    return value if hasattr(value, "dtype") else np.asarray(value)[()]


_PLAIN = frozenset((bool, int, float, str, type(None)))


def _form(args: tuple[Any, ...]) -> Any:
    """What decides the plan of a call by position of tensors, numbers and tuples of integers; None for other calls."""
    form: list[Any] = []
    for value in args:
        kind = type(value)
        if isinstance(value, Tensor):
            form.append(Tensor)
        elif kind in _PLAIN or (kind is tuple and all(type(item) is int for item in value)):
            form.append((kind, value))
        else:
            return None
    return tuple(form) if Tensor in form else None


def _plan_key(function: Callable[..., Any], rule: Rule, args: Any, kwargs: Any) -> Any:
    return function, id(rule), tuple(map(_key, args)), tuple((name, _key(value)) for name, value in kwargs.items())


_plans: dict[Any, tuple[Operation, dict[str, Any], Mapping[str, gast.expr]]] = {}


def recorded(function: Callable[..., Any], rule: Rule, args: Any, kwargs: Any, array: Any) -> Any:
    """``array``, which is what ``function`` makes of these arguments, as tensors of a node with its rule."""
    key = _plan_key(function, rule, args, kwargs)
    plan = _plans.get(key)
    if plan is None:
        plan = _plans[key] = _plan(function, rule, args, kwargs)
    operation, places, expressions = plan
    values = {p: _taken(place, args, kwargs) for p, place in places.items()}
    for p in rule.matrices:
        require_matrix(values[p], rule.name)
    for p in rule.options:
        if values.get(p) is not None:  # by name, which is a literal, so that the rule can tell what it casts to
            values[p] = np.dtype(values[p]).name
    if is_nested(array) or any(map(_is_deep, values.values())):
        return recorded_tree(rule, expressions, values, array, operation.node)
    return call(operation, values, facts=True, array=array)


def _is_deep(value: Any) -> bool:
    """Whether lists inside lists, or a named tuple, hold tensors."""
    return (is_nested(value) or hasattr(value, "_fields")) and _holds_tensor(value)


class _Implied:
    """A literal that the form of a call implies."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _plan(
    function: Callable[..., Any], rule: Rule, args: Any, kwargs: Any
) -> tuple[Operation, dict[str, Any], Mapping[str, gast.expr]]:
    """The operation, where each parameter of the rule is found among the arguments, and its expression."""
    places: dict[int, Any] = {}

    def expression(value: Any, place: Any) -> gast.expr:
        made = read("x") if _holds_tensor(value) or not _is_literal(value) else constant(value)
        places[id(made)] = place
        return made

    given = [expression(value, i) for i, value in enumerate(args)]
    keywords = {name: expression(value, name) for name, value in kwargs.items()}
    bound = rule.bind(function, given, keywords)
    found: dict[str, Any] = {}
    for p, made in bound.items():
        if p == rule.variadic:
            found[p] = [places[id(e)] for e in made.elts]
        else:
            found[p] = places[id(made)] if id(made) in places else _Implied(literal(made)[1])
    name = names_of_nodes().get(function) or f"{rule.name.title().replace('_', '')}Backward0"
    return Operation(function, name, rule=rule), found, bound


def names_of_nodes() -> dict[Any, str]:
    """PyTorch's names for the nodes of functions that rules call."""
    from srcgrad.eager.names import NODES

    return NODES


def _taken(place: Any, args: Any, kwargs: Any) -> Any:
    if isinstance(place, _Implied):
        return place.value
    if isinstance(place, list):
        return tuple(args[i] for i in place)
    return kwargs[place] if isinstance(place, str) else args[place]


def requires(value: Any) -> bool:
    """Whether a tensor that requires grad is here, in lists too."""
    if isinstance(value, list | tuple):
        return any(map(requires, value))
    return isinstance(value, Tensor) and value.requires_grad


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_tensor, value.values()))
    return isinstance(value, Tensor) or (isinstance(value, list | tuple) and any(map(_holds_tensor, value)))


def _as_numpy(value: Any) -> Any:
    return value.numpy if isinstance(value, dtypes.dtype) else value


def _is_literal(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_literal, value))
    return value is None or isinstance(value, bool | int | float | str)


def _key(value: Any) -> Any:
    """What of an argument decides how it is bound."""
    if isinstance(value, Tensor):
        return Tensor
    if isinstance(value, list | tuple):
        return type(value), tuple(map(_key, value))
    if isinstance(value, dict):
        return dict, tuple((key, _key(item)) for key, item in value.items())
    return (type(value), value) if _is_literal(value) else type(value)
