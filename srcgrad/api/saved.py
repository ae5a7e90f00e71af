"""Derivatives that are pickled by their text, and the look-up by which others are pickled by name."""

from __future__ import annotations

import importlib
from typing import Any

from srcgrad.api.arguments import Parameters
from srcgrad.api.holomorphic import complex_derivative, require_one_number
from srcgrad.runtime import as_cotangent, zeros_like
from srcgrad.runtime.binding import called_signature
from srcgrad.runtime.shadows import cloned


class Saved:
    """A gradient that was pickled by its text: it runs without the function it was made from."""

    def __init__(
        self,
        source: str,
        names: tuple[str, str],
        mode: str,
        wanted: tuple[str, ...],
        tupled: bool,
        has_aux: bool,
        holomorphic: bool,
    ) -> None:
        self._made = source, names, mode, wanted, tupled, has_aux, holomorphic
        self.source = source
        self.mode = mode
        self.wanted = wanted
        self.tupled = tupled
        self.has_aux = has_aux
        self.holomorphic = holomorphic
        namespace: dict[str, Any] = {}
        exec(compile(source, f"<srcgrad {names[0]}>", "exec"), namespace)
        self.forward, self.backward = (namespace[name] for name in names)
        self.parameters = Parameters(called_signature(self.forward))

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        values = self.parameters.bind(args, kwargs)
        outcome, saved = self.forward(*values)
        value, auxiliary = outcome if self.has_aux else (outcome, None)
        require_one_number(value, holomorphic=self.holomorphic)
        by_name = dict(zip(self.parameters.names, values, strict=False))

        def at(seed: complex) -> Any:
            raw = self.backward(cloned(saved, keys=True), (seed, zeros_like(auxiliary)) if self.has_aux else seed)
            pairs = zip(self.wanted, raw if self.tupled else (raw,), strict=True)
            fits = tuple(as_cotangent(g, by_name[name]) for name, g in pairs)
            return fits if self.tupled else fits[0]

        gradient = complex_derivative(at) if self.holomorphic else at(1.0)
        if self.has_aux:
            return ((value, auxiliary), gradient) if self.mode == "value" else (gradient, auxiliary)
        return (value, gradient) if self.mode == "value" else gradient

    def __reduce__(self) -> Any:
        return type(self), self._made

    def __repr__(self) -> str:
        return f"<srcgrad {self.forward.__name__} with respect to {', '.join(self.wanted)}>"


def imported(primal: Any) -> Any:
    """What stands under the function's name in its module."""
    try:
        found: Any = importlib.import_module(primal.__module__)
        for part in primal.__qualname__.split("."):
            found = getattr(found, part)
    except (AttributeError, ImportError, ValueError):
        return None
    return found


def import_object(module: str, qualname: str) -> Any:
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found
