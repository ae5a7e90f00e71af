"""Derivatives that are pickled or saved by their text, and the look-up by which others are pickled by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from inspect import Signature
from typing import TYPE_CHECKING, Any

from srcgrad.api.arguments import Parameters, require_pair
from srcgrad.api.fitting import Inner, Wanted, check_chosen, finished, spread
from srcgrad.api.holomorphic import complex_derivative, require_one_number
from srcgrad.errors import ArgumentError
from srcgrad.runtime import private, zeros_like
from srcgrad.runtime.isolation import without_factories
from srcgrad.runtime.shadows import cloned
from srcgrad.tracebacks import door

if TYPE_CHECKING:
    from srcgrad.emit.emission import Emission


class Saved:
    """A gradient that was pickled by its text: it runs without the function it was made from."""

    def __init__(
        self,
        source: str,
        names: tuple[str, str],
        mode: str,
        signature: Signature,
        results: Wanted,
        inner: Inner | None,
        has_aux: bool,
        holomorphic: bool,
        outside: Mapping[str, Any] | None = None,
    ) -> None:
        self._made = source, names, mode, signature, results, inner, has_aux, holomorphic, outside
        self.source = source
        self.mode = mode
        self.results = results
        self.inner = inner
        self.has_aux = has_aux
        self.holomorphic = holomorphic
        namespace = executed(source, names[0], outside or {})
        self.forward, self.backward = (namespace[name] for name in names)
        self.parameters = Parameters(signature)

    @door
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        values = self.parameters.bind(args, kwargs)
        check_chosen(self.results, values, holomorphic=self.holomorphic)
        outcome, saved = self.forward(*without_factories(values))
        if self.has_aux:
            require_pair(outcome)
            value, auxiliary = private(outcome)
        else:
            value, auxiliary = finished(self.inner, outcome, values), None
        require_one_number(value, holomorphic=self.holomorphic)

        def at(seed: complex) -> Any:
            seeds = (seed, zeros_like(auxiliary)) if self.has_aux else spread(self.inner, seed, outcome)
            return self.results.fitted(self.backward(cloned(saved, keys=True), seeds), values, shared=True)

        gradient = complex_derivative(at) if self.holomorphic else at(1.0)
        if self.has_aux:
            return ((value, auxiliary), gradient) if self.mode == "value" else (gradient, auxiliary)
        return (value, gradient) if self.mode == "value" else gradient

    def __reduce__(self) -> Any:
        return type(self), self._made

    def __repr__(self) -> str:
        return f"<srcgrad {self.forward.__name__} with respect to {', '.join(self.results.wanted)}>"


class Unpickled:
    """What a pullback needs of its derivative and of its program, where it was pickled: the text, and how its results
    are fitted."""

    def __init__(
        self,
        source: str,
        backward: str,
        outside: Mapping[str, Any],
        results: Wanted,
        inner: Inner | None,
        changes_saved: bool,
        name: tuple[str, str],
    ) -> None:
        self._made = source, backward, outside, results, inner, changes_saved, name
        self.backward = executed(source, backward, outside)[backward]
        self.results, self.inner, self.changes_saved = results, inner, changes_saved
        self.argnums: object = () if results.tupled else 0
        self.__module__, self.__qualname__ = name

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return function(*arguments)

    def spread(self, seed: Any, outcome: Any) -> Any:
        return spread(self.inner, seed, outcome)

    def fitted(self, raw: Any, values: tuple[Any, ...], *, shared: bool) -> Any:
        return self.results.fitted(raw, values, shared=shared)

    def __reduce__(self) -> Any:
        return type(self), self._made


def executed(source: str, name: str, outside: Mapping[str, Any]) -> dict[str, Any]:
    """The namespace of a text; ``outside`` is what it reads that it neither imports nor spells."""
    namespace = dict(outside)
    exec(compile(source, f"<srcgrad {name}>", "exec"), namespace)
    namespace.update(outside)  # which may be newer than the numbers that the text spells
    return namespace


def read_outside(emission: Emission, *, whole: bool = False) -> dict[str, Any]:
    """What a text reads besides its arguments as it is now, by name: what another process could not import; ``whole``:
    all that is data."""
    from srcgrad.emit.imports import is_importable

    bindings = [(name, b) for name, b in emission.bindings if not is_importable(b) or whole and b.cell is not None]
    return {name: b.value if b.cell is None else b.cell() for name, b in bindings}


def without_annotations(signature: Signature) -> Signature:
    """A signature as it is pickled: what binds arguments."""
    return Signature([p.replace(annotation=p.empty) for p in signature.parameters.values()])


def require_text_alone(
    parameters: Parameters, results: Wanted, inner: Inner | None, *, has_aux: bool, holomorphic: bool
) -> None:
    """Refuse to write as a file what the text of a program alone does not do."""
    starred = [str(p) for p in parameters.signature.parameters.values() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    hint = "pickle it instead, or write a function whose gradient by its parameters is what you want"
    if starred:
        reason = f"in a file {starred[0].lstrip('*')} of {starred[0]} would be one argument"
    elif not results.is_plain or inner is not None and not inner[1].is_plain:
        reason, hint = "an argument is asked for twice", "save the gradient by each argument once"
    elif holomorphic:
        reason = "the check that there is a complex derivative (holomorphic=True) is not in the text"
    elif has_aux:
        reason, hint = "the text knows no has_aux=True", "save the gradient of the value alone: lambda x: f(x)[0]"
    else:
        return
    raise ArgumentError(f"this derivative is not saved as a file: {reason}", hint=hint)


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
