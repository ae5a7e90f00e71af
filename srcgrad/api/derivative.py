"""The compiled object: one function, one kind of derivative, and the programs made for it so far.

Enters: a user's function, what to differentiate and how.  Leaves: a callable.  At each call the arguments are bound,
their kinds looked up, and the program for those kinds is run (compiled on first meeting); its results are fitted to the
structure, shapes and dtypes of the arguments.  ``.source`` is the program that assumes nothing about its arguments.

The compiler is imported where it is first needed, inside functions, so that ``import srcgrad`` is fast.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.errors import ArgumentError, SeedError, Span
from srcgrad.rules.facts import fact_of
from srcgrad.runtime import as_cotangent, zeros_like

if TYPE_CHECKING:
    from srcgrad.frontend.normal_form import Callee
    from srcgrad.pipeline import Compiled

Argnums = int | str | tuple[int | str, ...]


class Parameters:
    """How a function's arguments are passed, and in which order its programs take them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.signature = inspect.signature(function)
        kinds = inspect.Parameter
        self.names = tuple(self.signature.parameters)
        self.plain = all(
            p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD) for p in self.signature.parameters.values()
        )
        self.variadic = next(
            (n for n, p in self.signature.parameters.items() if p.kind is kinds.VAR_POSITIONAL), None
        )

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """One value per parameter, defaults included; ``*args`` is a tuple, ``**kwargs`` a dict."""
        if self.plain and not kwargs and len(args) == len(self.names):
            return args
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return tuple(bound.arguments[name] for name in self.names)

    def lengths(self, values: tuple[Any, ...] | None) -> tuple[tuple[str, int | tuple[str, ...]], ...]:
        """What a call tells about ``*args`` and ``**kwargs``: how many, and which."""
        if values is None or self.plain:
            return ()
        known: list[tuple[str, int | tuple[str, ...]]] = []
        for (name, parameter), value in zip(self.signature.parameters.items(), values, strict=False):
            if parameter.kind is parameter.VAR_POSITIONAL:
                known.append((name, len(value)))
            elif parameter.kind is parameter.VAR_KEYWORD:
                known.append((name, tuple(value)))
        return tuple(known)

    def chosen(self, argnums: Argnums) -> tuple[tuple[str, int | None], ...]:
        """Each differentiated argument as (parameter, position inside ``*args`` or None)."""
        wanted = argnums if isinstance(argnums, tuple) else (argnums,)
        return tuple(self._one(which) for which in wanted)

    def _one(self, which: int | str) -> tuple[str, int | None]:
        names = list(self.names)
        if isinstance(which, str):
            if which not in names:
                raise ArgumentError(f"there is no argument {which!r}", hint=f"the arguments are {', '.join(names)}")
            return which, None
        fixed = names[: names.index(self.variadic)] if self.variadic else names
        position = which + len(names) if which < 0 and not self.variadic else which
        if 0 <= position < len(fixed):
            return fixed[position], None
        if self.variadic and position >= len(fixed):
            return self.variadic, position - len(fixed)
        raise ArgumentError(f"there is no argument {which}", hint=f"the arguments are {', '.join(names)}")


def is_static(value: object) -> bool:
    """Whether an argument is compiled in: a function, or None, which its function asks about."""
    return value is None or isinstance(value, FunctionType | np.ufunc | BuiltinFunctionType)


def kind_of(value: object) -> object:
    """What a specialisation may depend on: type, rank and dtype, never a value; functions by identity."""
    if type(value) is float or type(value) is int:
        return type(value)
    if type(value) is np.ndarray:
        return value.ndim, value.dtype.char
    if isinstance(value, tuple | list):
        return type(value), tuple(kind_of(item) for item in value)
    if isinstance(value, dict):
        return dict, tuple((key, kind_of(item)) for key, item in value.items())
    if isinstance(value, np.ndarray):
        return type(value), value.ndim, value.dtype.char
    if is_static(value):
        return value
    return type(value)


class Derivative:
    """A function compiled into one of its derivatives; ``mode`` is reverse, value, split or forward."""

    def __init__(
        self, primal: Callable[..., Any], argnums: Argnums = 0, *, mode: str = "reverse", has_aux: bool = False
    ) -> None:
        if not callable(primal):
            raise ArgumentError(f"a function is expected, not {type(primal).__name__}")
        self.primal = primal
        self.argnums = argnums
        self.mode = mode
        self.has_aux = has_aux
        self.parameters = Parameters(primal)
        self.chosen = self.parameters.chosen(argnums)
        self._variants: dict[object, Compiled] = {}
        self.__name__ = f"{mode}_{getattr(primal, '__name__', 'function')}"
        self.__qualname__ = getattr(primal, "__qualname__", self.__name__)
        self.__module__ = getattr(primal, "__module__", __name__)
        self.__doc__ = getattr(primal, "__doc__", None)
        self.__wrapped__ = primal

    # --- programs ----------------------------------------------------------------------------------------------------
    @property
    def wanted(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _ in self.chosen))

    def _callee(self, values: tuple[Any, ...] | None) -> Callee:
        """The function to compile, with the functions among its arguments fixed."""
        from srcgrad.frontend.normal_form import Callee

        function = self.primal
        if isinstance(function, Derivative):
            function = function.program(self._inner_values(values), "value" if self._valued(values) else None).entry
        statics: tuple[tuple[str, object], ...] = ()
        if values is not None:
            named = zip(self.parameters.names, values, strict=False)
            statics = tuple((n, v) for n, v in named if is_static(v))
        return Callee(function, statics, self.parameters.lengths(values))  # type: ignore[arg-type]

    def _valued(self, values: tuple[Any, ...] | None) -> bool:
        """Whether a differentiated derivative hands out its value too (second order)."""
        return False

    def _inner_values(self, values: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        return values

    def program(self, values: tuple[Any, ...] | None, mode: str | None = None) -> Compiled:
        """The compiled program for arguments like ``values`` (None: for any arguments)."""
        from srcgrad.pipeline import present_options

        mode = mode or self.mode
        options = present_options()
        if not options.specialise:
            functions_only = values is not None and any(is_static(v) for v in values)
            values = values if functions_only else None
        key = (mode, options, None if values is None else tuple(map(kind_of, values)))
        found = self._variants.get(key)
        if found is None:
            found = self._variants[key] = self._compile(values, mode)
        found.refresh()
        return found

    def _compile(self, values: tuple[Any, ...] | None, mode: str) -> Compiled:
        from srcgrad.pipeline import Request, compile_request, present_options

        callee = self._callee(values)
        facts = None
        if values is not None and present_options().specialise:
            named = zip(self.parameters.names, values, strict=False)
            facts = {name: fact_of(value, name) for name, value in named if not is_static(value)}
        return compile_request(Request(callee, self.wanted, mode, facts, isinstance(self.argnums, tuple)))

    def arguments(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The values that a program takes: functions are compiled in, not passed."""
        if any(is_static(v) for v in values):
            return tuple(v for v in values if not is_static(v))
        return values

    # --- running -----------------------------------------------------------------------------------------------------
    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call an emitted function; a failure inside it says which of the user's lines it is the derivative of."""
        try:
            return function(*arguments)
        except Exception as failure:
            from srcgrad.emit.load import annotate

            annotate(failure, function, "adjoint" if self.mode != "forward" else "tangent")  # type: ignore[arg-type]
            raise

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self.parameters.bind(args, kwargs)
        self.check(values)
        if self.has_aux:
            return self._with_aux(values)
        compiled = self.program(values)
        if not compiled.scalar_result:
            value, gradient = self._checked(values)
            return (value, gradient) if self.mode == "value" else gradient
        outcome = self.run(compiled.entry, *self.arguments(values))
        if self.mode == "value":
            value, raw = outcome
            self.require_scalar(value, compiled)
            return value, self.fitted(raw, values, shared=True)
        return self.fitted(outcome, values, shared=compiled.reads_arrays)

    def _checked(self, values: tuple[Any, ...]) -> tuple[Any, Any]:
        """Value and gradient where types do not prove the value to be one number: looked at before it is seeded."""
        compiled = self.program(values, "split")
        value, saved = self.run(compiled.entry, *self.arguments(values))
        self.require_scalar(value, compiled)
        assert compiled.backward is not None
        return value, self.fitted(self.run(compiled.backward, saved, 1.0), values, shared=True)

    def _with_aux(self, values: tuple[Any, ...]) -> Any:
        compiled = self.program(values, "split")
        outcome, saved = self.run(compiled.entry, *self.arguments(values))
        if not isinstance(outcome, tuple) or len(outcome) != 2:
            raise SeedError(
                f"with has_aux=True a function returns (value, auxiliary), not {_described(outcome)}",
                compiled.function.span,
            )
        value, auxiliary = outcome
        self.require_scalar(value, compiled)
        assert compiled.backward is not None
        raw = self.run(compiled.backward, saved, (1.0, zeros_like(auxiliary)))
        gradient = self.fitted(raw, values, shared=True)
        return ((value, auxiliary), gradient) if self.mode == "value" else (gradient, auxiliary)

    def check(self, values: tuple[Any, ...]) -> None:
        """Refuse arguments that have no derivative."""
        for name, inner in self.chosen:
            value = values[self.parameters.names.index(name)]
            check_differentiable(value[inner] if inner is not None else value, name)

    def require_scalar(self, value: Any, compiled: Compiled) -> None:
        if isinstance(value, float):
            return
        kind = "the gradient of"
        span: Span = compiled.function.span
        if value is None or isinstance(value, str | tuple | list | dict):
            raise SeedError(f"{kind} a function needs one real number, but it returned {_described(value)}", span)
        if np.shape(value) != ():
            raise SeedError(
                f"{kind} a function needs one real number, but it returned an array of shape {np.shape(value)}",
                span,
                hint="use jacobian, or vjp with a seed of that shape",
            )
        if np.iscomplexobj(value):
            raise SeedError(f"{kind} a function needs one real number, but it returned a complex one", span)
        if not np.issubdtype(np.result_type(value), np.floating):
            raise SeedError(f"{kind} a function needs one real number, but it returned {_described(value)}", span)

    def finished(self, outcome: Any, values: tuple[Any, ...]) -> Any:
        """What the differentiated function would have returned: a derivative fits its program's raw result."""
        inner = self.primal
        if not isinstance(inner, Derivative):
            return outcome
        if inner.mode == "value":
            return outcome[0], inner.fitted(outcome[1], values, shared=True)
        return inner.fitted(outcome, values, shared=True)

    def fitted(self, raw: Any, values: tuple[Any, ...], *, shared: bool = False) -> Any:
        """Raw cotangents in the structure, shapes and dtypes of the arguments they belong to.

        ``shared``: something besides the arguments may still hold the arrays, so that they are copied.
        """
        by_name = dict(zip(self.wanted, raw if isinstance(self.argnums, tuple) else (raw,), strict=True))
        held = None if shared else _identities(values)
        fits = [
            self._fit(by_name[name], values[self.parameters.names.index(name)], inner, held)
            for name, inner in self.chosen
        ]
        return tuple(fits) if isinstance(self.argnums, tuple) else fits[0]

    @staticmethod
    def _fit(raw: Any, value: Any, inner: int | None, held: set[int] | None) -> Any:
        fit = as_cotangent(raw, value, held)
        return fit if inner is None else fit[inner]

    # --- looking -----------------------------------------------------------------------------------------------------
    @property
    def source(self) -> str:
        """The text of the derivative program that assumes nothing about its arguments."""
        return self.program(None).emission.text

    def source_for(self, *args: Any, **kwargs: Any) -> str:
        """The text of the program that runs for arguments of these kinds."""
        return self.program(self.parameters.bind(args, kwargs)).emission.text

    @property
    def line_map(self) -> dict[int, Span]:
        """Line of ``source`` -> place in the user's file."""
        return dict(self.program(None).emission.line_map)

    def explain(self, at: str = "normalize") -> str:
        """The program as it stands at one door of the compiler: source, normalize, analysis, reverse or emit."""
        from srcgrad.pipeline import door

        return door(self._callee(None), at, self.wanted)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write ``source`` as a file that can be imported without the compiler."""
        from srcgrad.emit.load import save

        save(self.program(None).emission, path)

    def __repr__(self) -> str:
        names = ", ".join(self.wanted)
        place = f"{self.__module__}.{self.__qualname__}"
        what = {"reverse": "gradient", "value": "value and gradient", "split": "pullback", "forward": "tangent"}
        return f"<srcgrad {what[self.mode]} of {place} with respect to {names}>"

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        raise ArgumentError(
            f"{self.__qualname__} is a method: its object cannot be differentiated yet",
            hint="differentiate a function of the arrays that the object holds",
        )

    def __reduce__(self) -> Any:
        found = _imported(self.primal)
        if found is self:
            return _import, (self.__module__, self.__qualname__)
        if found is self.primal:
            return type(self), (self.primal, self.argnums), {"mode": self.mode, "has_aux": self.has_aux}
        compiled = self.program(None)
        tupled = isinstance(self.argnums, tuple)
        return Saved, (compiled.emission.text, compiled.entry.__name__, self.mode, self.wanted, tupled)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.mode, self.has_aux = state["mode"], state["has_aux"]


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


def _imported(primal: Any) -> Any:
    """What stands under the function's name in its module."""
    try:
        found: Any = importlib.import_module(primal.__module__)
        for part in primal.__qualname__.split("."):
            found = getattr(found, part)
    except (AttributeError, ImportError, ValueError):
        return None
    return found


def _import(module: str, qualname: str) -> Any:
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


def check_differentiable(value: Any, name: str) -> None:
    """Refuse what has no derivative: integers, booleans, complex numbers for now, strings, None."""
    if isinstance(value, tuple | list):
        for position, item in enumerate(value):
            _check_leaf(item, f"{name}[{position}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_leaf(item, f"{name}[{key!r}]")
    elif isinstance(value, bool | int | np.integer | np.bool_):
        raise ArgumentError(
            f"argument {name} is {_described(value)}: only real numbers have a derivative",
            hint=f"pass {float(value)!r}",
        )
    elif isinstance(value, np.ndarray):
        if np.iscomplexobj(value):
            raise ArgumentError(f"argument {name} is complex: derivatives of complex arrays are not defined here yet")
        if not np.issubdtype(value.dtype, np.floating):
            raise ArgumentError(
                f"argument {name} is an array of {value.dtype}: only real numbers have a derivative",
                hint=f"pass {name}.astype(float)",
            )
    elif isinstance(value, complex | np.complexfloating):
        raise ArgumentError(f"argument {name} is complex: derivatives of complex numbers are not defined here yet")
    elif not isinstance(value, float | np.floating):
        raise ArgumentError(f"argument {name} is {_described(value)}, which has no derivative")


def _check_leaf(value: Any, name: str) -> None:
    """Inside a container, strings and None are passed over; numbers must be real."""
    if value is None or isinstance(value, str | bytes) or callable(value):
        return
    check_differentiable(value, name)


def _described(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, bool | int | np.integer | np.bool_):
        return f"the {'truth value' if isinstance(value, bool | np.bool_) else 'integer'} {value}"
    return f"a {type(value).__name__}"


def _identities(values: tuple[Any, ...]) -> set[int]:
    """The identities of all arrays among the arguments, containers included."""
    found: set[int] = set()
    pending: list[Any] = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, np.ndarray):
            found.add(id(value))
        elif isinstance(value, tuple | list):
            pending += value
        elif isinstance(value, dict):
            pending += value.values()
    return found
