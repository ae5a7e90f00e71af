"""``linearize``: the value of a function at a point, and its derivative there as a linear map of tangents.

Enters: a function and its arguments.  Leaves: the value and a ``LinearMap``.  A pullback is linear in its seed, and the
pullback of what is linear is its transpose at any seed: the pullback of the pullback takes a tangent of the arguments
to one of the value (Townsend, *A new trick for calculating Jacobian vector products*, 2017).  Its forward half runs f
and its pullback once, for a seed of zero; what the map runs for each tangent is its backward half, in which nothing of
f is left but what was recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, overload

from srcgrad.api.arguments import Argnums
from srcgrad.api.derivative import Derivative
from srcgrad.api.outside import Outside
from srcgrad.api.transforms import (
    before_seed,
    chosen_by,
    directed,
    directions_of,
    require_unchanged,
    selected,
    unshared,
)
from srcgrad.errors import ArgumentError
from srcgrad.runtime import as_cotangent, zeros_like
from srcgrad.runtime.isolation import kept_apart, shared_outside
from srcgrad.runtime.shadows import cloned
from srcgrad.tracebacks import hide_frames

P = ParamSpec("P")
T = TypeVar("T")


class _Transposed(Derivative):
    """The halves of a text that returns a value, and a gradient that is linear in the last parameter, by that."""

    def __init__(self, text: FunctionType) -> None:
        super().__init__(text, text.__code__.co_varnames[text.__code__.co_argcount - 1], mode="split")

    seeds_later = True

    def asked(self) -> None:
        """Its programs are not kept in the cache."""
        return None


class LinearMap(Generic[T]):
    """The derivative of a function at a point: takes one tangent per differentiated argument to that of the value.

    It can be called any number of times.  If it reads global data that have changed since it was made, a call raises
    an error.
    """

    def __init__(self, derivative: Derivative, values: tuple[Any, ...]) -> None:
        derivative.verify(values)
        self._derivative = derivative
        text = derivative.program(values, "nested linear").entry
        kept = vars(text).setdefault("__srcgrad_transposed__", [])
        if not kept:
            kept.append(_Transposed(text))
        self._transposed: _Transposed = kept[0]
        given = before_seed(derivative, values, text)
        compiled = self._compiled = self._transposed.program((*given, None))
        if not compiled.changes_saved or not shared_outside(given, compiled.globals):
            given = kept_apart(given, compiled.changes_saved)
        self._values = values
        (outcome, _), self._saved = derivative.run(compiled.entry, *given, None)
        assert compiled.backward is not None
        self._outside = None
        if compiled.reads_outside:
            self._outside = Outside(compiled.entry, compiled.backward, compiled.names_read)
        self._raw = zeros_like(outcome)
        self.value = unshared(derivative.finished(outcome, values))

    def __call__(self, *tangents: Any) -> T:
        """One tangent per differentiated argument, in its structure and shapes, None for one that stays; raises
        ``ArgumentError`` for another number of them, ``SeedError`` for other shapes."""
        try:
            derivative = self._derivative
            if len(tangents) != len(derivative.chosen):
                told = ", ".join(name if at is None else f"{name}[{at}]" for name, at in derivative.chosen)
                raise ArgumentError(f"the derivative takes a tangent of each of {told}, not {len(tangents)} tangents")
            require_unchanged(self._outside, self._saved, derivative, "call linearize again")
            primals = selected(derivative, self._values)
            directions = [
                directed(tangent, value, f"argument {name}")
                for tangent, value, (name, _) in zip(tangents, primals, derivative.chosen, strict=True)
            ]
            made: T = self.along(tuple(directions))
            return made
        except Exception as failure:
            hide_frames(failure)
            raise

    def along(self, directions: tuple[Any, ...]) -> Any:
        """The same for directions as programs take them."""
        compiled, derivative = self._compiled, self._derivative
        assert compiled.backward is not None
        saved = cloned(self._saved, keys=True) if compiled.changes_saved else self._saved
        dots = directions_of(derivative, self._values, directions)
        moved = tuple(dots) if isinstance(derivative.argnums, tuple) else dots[0]  # as the pullback returns them
        raw = derivative.run(compiled.backward, saved, (self._raw, moved))
        return as_cotangent(derivative.finished(raw, self._values), self.value)

    def __reduce__(self) -> Any:
        hint = "pickle the function and its arguments, and call linearize again"
        raise ArgumentError(f"{self!r} is not pickled", hint=hint)

    def __copy__(self) -> LinearMap[T]:
        return self  # nothing changes it

    def __deepcopy__(self, memo: object) -> LinearMap[T]:
        return self

    def __repr__(self) -> str:
        return f"<srcgrad derivative of {self._derivative.__module__}.{self._derivative.__qualname__} at a point>"


@overload
def linearize(f: Callable[..., T], /, *primals: Any, argnums: Argnums, **kwargs: Any) -> tuple[T, LinearMap[T]]: ...
@overload
def linearize(f: Callable[P, T], /, *primals: P.args, **kwargs: P.kwargs) -> tuple[T, LinearMap[T]]: ...
def linearize(  # type: ignore[misc]  # a parameter called argnums is refused below
    f: Callable[..., Any], /, *primals: Any, argnums: Argnums | None = None, **kwargs: Any
) -> tuple[Any, LinearMap[Any]]:
    """Return ``(value, derivative)`` at ``primals``; ``derivative(*tangents)`` is the tangent of the value along these.

    ``derivative`` takes one tangent per differentiated argument: all positional ones that are not functions, unless
    ``argnums`` chooses others.  It is what ``jvp`` gives, but f runs once, here, and not again for each tangent.
    A tangent of None means that the argument, or that part of a container, is constant.  Tangents of a wrong number
    raise ``ArgumentError``, of a wrong structure or shape ``SeedError``.  What is recorded grows with the number of
    operations that f runs, as for ``vjp``.  Along few directions ``jvp`` is cheaper, and so it is where f stores into
    arrays, since the map takes their stores back, in a copy, at each call.
    """
    try:
        derivative = chosen_by("linearize", f, primals, argnums)
        values = derivative.bind(primals, kwargs)
        derivative.check(values)
        made = LinearMap[Any](derivative, values)
        return made.value, made
    except Exception as failure:
        hide_frames(failure)
        raise
