"""A plain NumPy program run eagerly, without being changed and without being compiled: the third opinion.

The program's own code runs with followed values for its arguments (``plain_values``) and translated names for what it
reads (``plain_names``), so that it means what it means in NumPy: dtypes, weak Python numbers, ``isinstance``, stores.
Running it on ``Tensor``s through NumPy's protocols would not do: ``math.sin(x)``, ``float(x)``, ``np.array([x, y])``
and ``a = np.zeros(3); a[0] = x`` ask no protocol, and operators of tensors promote by PyTorch's rules.  Nothing of the
compiler takes part (not its front end either), only the rule table and the engine are shared, so that a fault of the
compiler shows as a difference.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from srcgrad.eager import engine
from srcgrad.eager.modes import enable_grad
from srcgrad.eager.plain_names import Names
from srcgrad.eager.plain_objects import gathered, is_floating, is_object
from srcgrad.eager.plain_operators import NotFollowed
from srcgrad.eager.plain_values import Followed, unfollowed
from srcgrad.eager.tensor import Tensor
from srcgrad.runtime import as_cotangent
from srcgrad.runtime.objects import fields_of, made


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
        names = Names()
        given = [None if j in argnums else names.private.of(arg) for j, arg in enumerate(args)]
        for j in argnums:
            leaves: list[Tensor] = []
            given[j] = names.private.of(args[j], leaves)
            self._leaves.append(leaves)
        named = {name: names.private.of(value) for name, value in (kwargs or {}).items()}
        with enable_grad():
            try:
                self.outcome = names.translated(f)(*given, **named)
            except NotFollowed as refusal:
                raise NotImplementedError(*refusal.args) from refusal
        self.value = _changed(self.outcome, unfollowed, lambda kind: names.originals.get(kind, kind))

    def __call__(self, seed: Any) -> tuple[Any, ...]:
        """One cotangent per differentiated argument, in its structure, shapes and dtypes."""
        outputs: list[Tensor] = []
        seeds: list[Tensor] = []
        for one, part in _pairs(self.outcome, seed):
            if isinstance(one, Followed) and one.varies and part is not None:
                outputs.append(one.tensor)
                array = one.tensor.array
                seeds.append(Tensor.of(np.conjugate(np.asarray(part, array.dtype)).reshape(array.shape)))
        flat = [leaf for leaves in self._leaves for leaf in leaves]
        grads: Iterator[Any]
        if outputs:
            grads = iter(engine.grad(outputs, flat, seeds, retain_graph=True, allow_unused=True))
        else:
            grads = iter([None] * len(flat))
        return tuple(as_cotangent(gathered(arg, grads), arg) for arg in self.arguments)

    def second(self, directions: Sequence[Any]) -> tuple[Any, ...]:
        """The change of the gradient of a value that is one number, along ``directions``: both passes recorded."""
        flat = [leaf for leaves in self._leaves for leaf in leaves]
        moved = [part for arg, along in zip(self.arguments, directions, strict=True) for part in _floats(arg, along)]
        changes: Iterator[Any] = iter([None] * len(flat))
        if isinstance(self.outcome, Followed) and self.outcome.varies:
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
        return tuple(as_cotangent(gathered(arg, changes), arg) for arg in self.arguments)


def _real(tensor: Tensor) -> Any:
    return tensor.real if tensor.array.dtype.kind == "c" else tensor


def _floats(value: Any, along: Any) -> Iterator[Any]:
    """The leaves of a direction where its argument has floating-point numbers."""
    for one, part in _pairs(value, along):
        if is_floating(one):
            yield part


def vjp(
    f: Callable[..., Any], *args: Any, argnums: Sequence[int], kwargs: Mapping[str, Any] | None = None
) -> tuple[Any, Run]:
    """``(value, pullback)`` of a plain program, as ``srcgrad.vjp`` gives it, by running the program eagerly."""
    run = Run(f, args, argnums, kwargs)
    return run.value, run


def _changed(value: Any, change: Callable[[Any], Any], kind: Callable[[type], type]) -> Any:
    """The structure of a result with its leaves changed, and its objects of other classes."""
    if isinstance(value, list | tuple | deque):
        items = [_changed(item, change, kind) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: _changed(item, change, kind) for key, item in value.items()}
    if is_object(value):
        fields = {name: _changed(item, change, kind) for name, item in fields_of(value).items()}
        return made(kind(type(value)), fields)
    return change(value)


def _pairs(value: Any, seed: Any) -> Iterator[tuple[Any, Any]]:
    """The leaves of a value with those of its seed."""
    if isinstance(value, list | tuple | deque):
        for item, part in zip(value, seed, strict=True):
            yield from _pairs(item, part)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _pairs(item, seed[key])
    elif is_object(value):
        parts = seed if isinstance(seed, dict) else fields_of(seed)
        for name, item in fields_of(value).items():
            yield from _pairs(item, parts.get(name))
    else:
        yield value, seed
