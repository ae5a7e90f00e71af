"""Derivatives that are pickled by their text, and the look-up by which others are pickled by name."""

from __future__ import annotations

import importlib
from typing import Any

from srcgrad.api.arguments import Parameters
from srcgrad.runtime import as_cotangent


class Saved:
    """A derivative that was pickled by its text: it runs without the function it was made from."""

    def __init__(self, source: str, entry: str, mode: str, wanted: tuple[str, ...], tupled: bool) -> None:
        self.tupled = tupled
        self.source = source
        self.entry = entry
        self.mode = mode
        self.wanted = wanted
        namespace: dict[str, Any] = {}
        exec(compile(source, f"<srcgrad {entry}>", "exec"), namespace)
        self.function = namespace[entry]
        self.parameters = Parameters(self.function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self.parameters.bind(args, kwargs)
        raw = self.function(*values)
        value, gradients = raw if self.mode == "value" else (None, raw)
        gradients = gradients if self.tupled else (gradients,)
        by_name = dict(zip(self.parameters.names, values, strict=False))
        fits = tuple(as_cotangent(g, by_name[n]) for n, g in zip(self.wanted, gradients, strict=True))
        fitted = fits if self.tupled else fits[0]
        return (value, fitted) if self.mode == "value" else fitted

    def __reduce__(self) -> Any:
        return type(self), (self.source, self.entry, self.mode, self.wanted, self.tupled)

    def __repr__(self) -> str:
        return f"<srcgrad {self.entry} with respect to {', '.join(self.wanted)}>"


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
