"""A plain NumPy program run eagerly, without being changed and without being compiled: the third opinion.

The program's own code runs with followed values for its arguments (``plain_values``) and translated names for what it
reads (``plain_names``), so that it means what it means in NumPy: dtypes, weak Python numbers, ``isinstance``, stores.
Running it on ``Tensor``s through NumPy's protocols would not do: ``math.sin(x)``, ``float(x)``, ``np.array([x, y])``
and ``a = np.zeros(3); a[0] = x`` ask no protocol, and operators of tensors promote by PyTorch's rules.  Nothing of the
compiler takes part (not its front end either), only the rule table and the engine are shared, so that a fault of the
compiler shows as a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from srcgrad.eager import engine
from srcgrad.eager.modes import enable_grad
from srcgrad.eager.plain_names import Names
from srcgrad.eager.plain_values import Followed, followed, unfollowed
from srcgrad.eager.tensor import Tensor
from srcgrad.runtime import as_cotangent


class Run:
    """One run of ``f``: its value, and its pullback in the convention of ``srcgrad.vjp`` (no conjugation)."""

    def __init__(
        self,
        f: Callable[..., Any],
        args: Sequence[Any],
        argnums: Sequence[int],
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        self.arguments = [args[j] for j in argnums]
        self._leaves: list[list[Tensor]] = []
        given = [followed(_copied(arg)) for arg in args]
        for j in argnums:
            leaves: list[Tensor] = []
            given[j] = _watched(args[j], leaves)
            self._leaves.append(leaves)
        named = {name: followed(_copied(value)) for name, value in (kwargs or {}).items()}
        with enable_grad():
            self.outcome = Names().translated(f)(*given, **named)
        self.value = unfollowed(self.outcome)

    def __call__(self, seed: Any) -> tuple[Any, ...]:
        """One cotangent per differentiated argument, in its structure, shapes and dtypes."""
        outputs: list[Tensor] = []
        seeds: list[Tensor] = []
        for one, part in _pairs(self.outcome, seed):
            if isinstance(one, Followed) and one.tensor.requires_grad and part is not None:
                outputs.append(one.tensor)
                array = one.tensor.array
                seeds.append(Tensor.of(np.conjugate(np.asarray(part, array.dtype)).reshape(array.shape)))
        flat = [leaf for leaves in self._leaves for leaf in leaves]
        grads: Iterator[Any]
        if outputs:
            grads = iter(engine.grad(outputs, flat, seeds, retain_graph=True, allow_unused=True))
        else:
            grads = iter([None] * len(flat))
        return tuple(as_cotangent(_gathered(arg, grads), arg) for arg in self.arguments)

    def second(self, directions: Sequence[Any]) -> tuple[Any, ...]:
        """The change of the gradient of a value that is one number, along ``directions``: both passes recorded."""
        flat = [leaf for leaves in self._leaves for leaf in leaves]
        moved = [part for arg, along in zip(self.arguments, directions, strict=True) for part in _floats(arg, along)]
        changes: Iterator[Any] = iter([None] * len(flat))
        if isinstance(self.outcome, Followed) and self.outcome.tensor.requires_grad:
            grads = engine.grad([self.outcome.tensor], flat, create_graph=True, allow_unused=True)
            with enable_grad():
                terms = [
                    _real(g.conj() * Tensor.of(np.asarray(along, leaf.array.dtype))).sum()
                    for leaf, g, along in zip(flat, grads, moved, strict=True)
                    if g is not None and g.requires_grad
                ]
            if terms:
                ones = [Tensor.of(np.ones((), term.array.dtype)) for term in terms]
                changes = iter(engine.grad(terms, flat, ones, retain_graph=True, allow_unused=True))
        return tuple(as_cotangent(_gathered(arg, changes), arg) for arg in self.arguments)


def _real(tensor: Tensor) -> Any:
    return tensor.real if tensor.array.dtype.kind == "c" else tensor


def _floats(value: Any, along: Any) -> Iterator[Any]:
    """The leaves of a direction where its argument has floating-point numbers."""
    for one, part in _pairs(value, along):
        if _is_floating(one):
            yield part


def vjp(
    f: Callable[..., Any], *args: Any, argnums: Sequence[int], kwargs: Mapping[str, Any] | None = None
) -> tuple[Any, Run]:
    """``(value, pullback)`` of a plain program, as ``srcgrad.vjp`` gives it, by running the program eagerly."""
    run = Run(f, args, argnums, kwargs)
    return run.value, run


def _is_floating(value: Any) -> bool:
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex)


def _watched(value: Any, leaves: list[Tensor]) -> Any:
    """The argument with a leaf of the graph for each of its floating-point numbers and arrays."""
    if _is_floating(value):
        array = np.array(value) if isinstance(value, np.ndarray) else np.asarray(value)[()]
        leaf = Tensor.of(array, requires_grad=True)
        leaves.append(leaf)
        return Followed(leaf, python=not isinstance(value, np.ndarray | np.generic))
    if isinstance(value, list | tuple):
        items = [_watched(item, leaves) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: _watched(item, leaves) for key, item in value.items()}
    return _given(value)


def _given(value: Any) -> Any:
    """Functions among the arguments, translated."""
    return Names().translated(value) if isinstance(value, FunctionType | MethodType | np.ufunc) else value


def _copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    if isinstance(value, dict):
        return {key: followed(_copied(item)) for key, item in value.items()}
    return _given(value)


def _gathered(value: Any, grads: Iterator[Any]) -> Any:
    """The gradients of an argument's leaves in its structure, None where there is none."""
    if _is_floating(value):
        g = next(grads)
        return None if g is None else np.conjugate(g.array)
    if isinstance(value, list | tuple):
        items = [_gathered(item, grads) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: _gathered(item, grads) for key, item in value.items()}
    return None


def _pairs(value: Any, seed: Any) -> Iterator[tuple[Any, Any]]:
    """The leaves of a value with those of its seed."""
    if isinstance(value, list | tuple):
        for item, part in zip(value, seed, strict=True):
            yield from _pairs(item, part)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _pairs(item, seed[key])
    else:
        yield value, seed
