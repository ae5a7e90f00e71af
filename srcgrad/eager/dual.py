"""An array with its tangent: functions compute their result and, by the tangent of their rule, its tangent.

The pair may also be a cotangent: what flows back towards the primal and the tangent of an earlier result.  Such a pair
is ``paired``: of what arrives at ``(x, x_dot)`` the tangent part belongs to ``x`` and the primal part to ``x_dot``, for
the product of two pairs is read off at its tangent.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcgrad.eager.lifted_arrays import Escape, Lifted, in_order, is_lifted, opened, repeated, replaced, with_memory
from srcgrad.rules.facts import fact_of
from srcgrad.rules.rewriting import item, read, rebuilt
from srcgrad.rules.table import is_constant, lookup
from srcgrad.syntax.globals import GlobalReference


class Dual(Lifted):
    """A primal and a tangent of one shape and dtype."""

    def __init__(self, level: int, primal: Any, tangent: Any, paired: bool = False) -> None:
        self.level = level
        self.primal = primal
        self.tangent = tangent
        self.paired = paired

    @property
    def shape(self) -> Any:
        return self.primal.shape

    @property
    def dtype(self) -> Any:
        return self.primal.dtype

    @property
    def flags(self) -> Any:
        return self.primal.flags

    @property
    def strides(self) -> Any:
        return self.primal.strides

    def applied(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        return pushed(self, function, args, kwargs)

    def has_tangent(self) -> bool:
        return True

    def repeated(self, array: Any) -> Any:
        return repeated(array, self.primal)

    def detached(self) -> Any:
        primal = self.primal
        return primal.detached() if is_lifted(primal) else primal

    def _both(self, change: Callable[[Any], Any]) -> Dual:
        return Dual(self.level, change(self.primal), change(self.tangent), self.paired)

    def __getitem__(self, key: Any) -> Any:
        return self._both(lambda array: array[key])

    def assign(self, key: Any, value: Any) -> None:
        with_memory(self)
        if is_lifted(value) and value.level == self.level:
            self.primal[key], self.tangent[key] = value.primal, value.tangent
        else:
            self.primal[key], self.tangent[key] = value, 0

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """Both in another dtype; whole numbers have no tangent."""
        if np.dtype(dtype).kind not in "fc":
            return self.primal.astype(dtype, *args, **kwargs)
        return self._both(lambda array: array.astype(dtype, *args, **kwargs))

    def view(self, *args: Any) -> Dual:
        """Both seen as another dtype."""
        if not self.tangent.flags.c_contiguous:
            self.tangent = in_order(self.tangent)
        return self._both(lambda array: array.view(*args))

    def number(self) -> Any:
        """The primal, as PyTorch answers: a number that a program asked for is a constant."""
        return self.primal.number() if is_lifted(self.primal) else self.primal.item()


_plans: dict[Any, Any] = {}
_LINEAR: set[Any] = {np.reshape, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze, np.broadcast_to}
_LINEAR |= {np.ravel, np.copy, np.negative, np.real, np.imag, np.conjugate, np.flip, np.zeros_like}
_CONSTANT: set[Any] = {np.ones_like, np.empty_like, np.argsort, np.argmax, np.argmin, np.nonzero, np.any, np.all}


def pushed(top: Dual, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A function of duals of one level and other values, with its tangent."""
    level = top.level

    def primal(value: Any) -> Any:
        return replaced(value, lambda array: array.primal if array.level == level else array)

    def tangent(value: Any) -> Any:
        return replaced(value, lambda array: array.tangent if array.level == level else array)

    if function in _LINEAR and is_lifted(args[0]) and args[0].level == level:
        a = args[0]
        return Dual(level, function(a.primal, *args[1:], **kwargs), function(a.tangent, *args[1:], **kwargs), a.paired)
    run = opened(function)
    plain = run(*primal(args), **primal(kwargs))
    if function in _CONSTANT or _is_discrete(plain):
        return plain
    rule = lookup(function)
    if rule is None:
        if is_constant(function):
            return plain
        body = getattr(function, "_implementation", None)
        if body is None:
            raise Escape(f"there is no tangent for {function}")
        return body(*args, **kwargs)
    # Numbers of Python choose among formulas as literals; the rest is told by kinds.
    given, values, dots = _bound(rule, function, args, kwargs, level)
    active = tuple(dots)
    if not set(active) & rule.differentiable:
        return plain
    active = tuple(p for p in active if p in rule.differentiable)
    facts = {p: fact_of(primal(v), p) for p, v in values.items() if hasattr(v, "dtype")}
    key = (function, active, tuple((p, ast.dump(gast.gast_to_ast(e))) for p, e in given.items()), tuple(facts.items()))
    program = _plans.get(key)
    if program is None:
        program = _plans[key] = _compiled(rule, active, given, facts)
    dot = program(primal(values), {p: dots[p] for p in active}, plain)
    paired = any(array.paired for array in _duals((args, kwargs), level))
    return _joined(level, plain, dot, paired)


def _is_discrete(value: Any) -> bool:
    several = value if isinstance(value, tuple | list) else (value,)
    if value is None or any(isinstance(v, float | complex) for v in several):
        return False  # None: of what was done to an argument
    return not any(getattr(v, "dtype", np.dtype(bool)).kind in "fc" for v in several)


def _duals(value: Any, level: int) -> list[Any]:
    found: list[Any] = []
    replaced(value, lambda array: found.append(array) if array.level == level else None)
    return found


def _joined(level: int, plain: Any, dot: Any, paired: bool) -> Any:
    if isinstance(plain, float | complex):
        plain = np.asarray(plain)[()]
    if isinstance(plain, tuple | list):
        made = [_joined(level, a, d, paired) for a, d in zip(plain, dot, strict=True)]
        return type(plain)(*made) if hasattr(plain, "_fields") else type(plain)(made)
    if getattr(plain, "dtype", np.dtype(bool)).kind not in "fc" or dot is None:
        return plain
    if np.shape(dot) != plain.shape:
        dot = np.broadcast_to(dot, plain.shape)
    if not hasattr(dot, "dtype") or dot.dtype != plain.dtype:
        dot = dot.astype(plain.dtype) if hasattr(dot, "dtype") else np.full(plain.shape, dot, plain.dtype)[()]
    return Dual(level, plain, dot, paired)


def _bound(rule: Any, function: Any, args: Any, kwargs: Any, level: int) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The arguments by parameter: as expressions, as values, and the tangents of those that have one."""
    from srcgrad.eager.lifting import _is_literal
    from srcgrad.rules.formula import constant

    places: dict[int, Any] = {}

    def expression(value: Any) -> gast.expr:
        # Python's own numbers: ast.dump cannot tell NumPy's from an empty list.
        made = constant(value.item() if isinstance(value, np.generic) else value) if _is_literal(value) else read("x")
        places[id(made)] = value
        return made

    expressions = [expression(value) for value in args]
    keywords = {name: expression(value) for name, value in kwargs.items()}
    bound = rule.bind(function, expressions, keywords)
    given: dict[str, gast.expr] = {}
    values: dict[str, Any] = {}
    dots: dict[str, Any] = {}

    def of_level(value: Any) -> bool:
        return is_lifted(value) and value.level == level

    for p, made in bound.items():
        if p == rule.variadic:
            items = [places[id(e)] for e in made.elts]
            values[p] = tuple(items)
            given[p] = gast.Tuple([item(p, i) for i in range(len(items))], gast.Load())
            if any(map(of_level, items)):
                dots[p] = tuple(v.tangent if of_level(v) else None for v in items)
                given[f"{p}_dot"] = gast.Tuple(
                    [item(f"{p}_dot", i) if of_level(v) else constant(None) for i, v in enumerate(items)], gast.Load()
                )
            continue
        value = values[p] = places[id(made)]
        if isinstance(value, tuple | list) and any(map(of_level, value)):
            given[p] = read(p)
            dots[p] = type(value)(
                v.tangent if of_level(v) else np.zeros(np.shape(v), getattr(v, "dtype", None)) for v in value
            )
            continue
        given[p] = made if not isinstance(made, gast.Name) else read(p)
        if of_level(value):
            dots[p] = value.tangent
    return given, values, dots


def _compiled(rule: Any, active: Any, given: Any, facts: Any) -> Callable[..., Any]:
    """The tangent of a rule as a function of values, tangents and the result."""
    piece = rule.tangent_slice(active, given, facts=facts)
    namespace: dict[str, Any] = {}
    seen: dict[int, str] = {}

    def change(node: gast.AST) -> gast.expr | None:
        if isinstance(node, GlobalReference):
            value = node.binding.value
            if id(value) not in seen:
                seen[id(value)] = f"global_{len(seen)}"
                namespace[seen[id(value)]] = opened(value)
            return read(seen[id(value)])
        return None

    body: list[gast.stmt] = [rebuilt(statement, change) for statement in piece.body]
    body.append(gast.Return(rebuilt(piece.values[f"{rule.result}_dot"], change)))
    names = [gast.Name(p, gast.Param(), None, None) for p in ("_values", "_dots", rule.result)]
    arguments = gast.arguments(names, [], None, [], [], None, [])
    tree = gast.gast_to_ast(gast.Module([gast.FunctionDef("tangent", arguments, body, [], None, None, [])], []))
    lines = [f"{p} = _values[{p!r}]" for p in given if not p.endswith("_dot") or p in rule.parameters]
    lines += [f"{p}_dot = _dots[{p!r}]" for p in active]
    tree.body[0].body[:0] = ast.parse("\n".join(lines)).body
    exec(compile(ast.fix_missing_locations(tree), f"<tangent of {rule.name}>", "exec"), namespace)
    return namespace["tangent"]  # type: ignore[no-any-return]
