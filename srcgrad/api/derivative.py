"""The compiled object: one function, one kind of derivative, and the programs made for it so far.

Enters: a user's function, what to differentiate and how.  Leaves: a callable.  At each call the arguments are bound,
their kinds looked up, and the program for those kinds is run (compiled on first meeting); its results are fitted to the
structure, shapes and dtypes of the arguments.  ``.source`` is the program that assumes nothing about its arguments.

The compiler is imported where it is first needed, inside functions, so that ``import srcgrad`` is fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from inspect import Signature
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np

from srcgrad.api.advice import advise, misfit
from srcgrad.api.arguments import (
    Argnums,
    Parameters,
    holds_objects,
    is_static,
    kinds_of,
    positions,
    require_captured_apart,
    require_derivable,
    require_exact_types,
    require_pair,
)
from srcgrad.api.compiling import made
from srcgrad.api.door import ELSEWHERE, Doors
from srcgrad.api.fitting import Inner, Wanted, check_chosen, finished, spread
from srcgrad.api.help import Help, text
from srcgrad.api.holomorphic import complex_derivative, require_one_number
from srcgrad.api.kept import Kept, Slot, Variant, beside, is_made_per_call, keep
from srcgrad.api.saved import Saved, import_object, imported, read_outside, require_text_alone, without_annotations
from srcgrad.api.sizes import PATTERNS, pattern_of
from srcgrad.errors import ArgumentError, SeedError, Span, SrcgradError
from srcgrad.rules.edition import edition
from srcgrad.runtime import private, zeros_like
from srcgrad.runtime.binding import called_signature, decides_binding
from srcgrad.runtime.closures import NotOneNumber
from srcgrad.runtime.isolation import without_factories
from srcgrad.runtime.objects import defines, is_object
from srcgrad.runtime.shadows import cloned
from srcgrad.tracebacks import door, hide_frames

if TYPE_CHECKING:
    from srcgrad.observe.page import Annotation, Explanation
    from srcgrad.observe.profile import Profile
    from srcgrad.programs import Compiled


_NAMES = {"reverse": "grad", "value": "value_and_grad", "split": "vjp", "forward": "jvp", "batched": "vmap"}


class Derivative:
    __doc__ = Help("""A function compiled into one of its derivatives, such as ``grad(f)``; called like the function.

    ``mode`` is ``"reverse"`` for ``grad``, ``"value"`` for ``value_and_grad``, ``"split"`` for ``vjp`` (forward and
    backward pass apart) and ``"forward"`` for ``jvp``.
    """)

    seeds_later = False  # whether its last argument is a seed, of which the compiler is given None and not the kind

    def __init__(
        self, primal: Callable[..., Any], argnums: Argnums = 0, *, mode: str = "reverse", has_aux: bool = False,
        holomorphic: bool = False,
    ) -> None:  # fmt: skip
        require_derivable(primal)
        has_function = defines(type(primal), "__srcgrad_function__") and not defines(type(primal), "__srcgrad_text__")
        if has_function and not isinstance(primal, Derivative):
            primal = primal.__srcgrad_function__()  # type: ignore[attr-defined]
        self._asked = primal, positions(argnums)
        of_class = isinstance(primal, MethodType) and isinstance(primal.__self__, type)
        tells = defines(type(primal), "__srcgrad_text__")
        is_read_again = is_object(primal) or isinstance(primal, partial) or tells or of_class
        self.called = primal if is_read_again else None
        self.primal, receiver = _unbound(primal)
        self.argnums = _shifted(positions(argnums)) if receiver else positions(argnums)
        self.mode = mode
        self.has_aux = has_aux
        self.holomorphic = holomorphic
        self._is_of_pair = has_aux or holomorphic  # two halves: what comes of the first is looked at before the second
        # A gradient looks itself whether its value is one number, where that is what the function returns.
        is_gradient = mode in ("reverse", "value") and not self._is_of_pair
        self.looks = is_gradient and not isinstance(self.primal, Derivative)
        self._read(receiver)
        self._variants: dict[Slot, Compiled] = {}
        self.ran: Compiled | None = None  # at the last call
        self.holding: WeakSet[Compiled] = WeakSet()  # those for arguments that hold functions
        self.doors = Doors()
        self._edition = edition()
        primal = self.primal
        self.__name__ = f"{_NAMES[mode]}_{getattr(primal, '__name__', 'function')}"
        self.__qualname__ = getattr(primal, "__qualname__", self.__name__)
        self.__module__ = getattr(primal, "__module__", __name__)
        self.__wrapped__ = primal

    def _help(self) -> str:
        what = {"reverse": "Gradient", "value": "Value and gradient", "split": "Pullback", "forward": "Tangent"}
        what["batched"] = "Batch"
        doc = getattr(self.primal, "__doc__", None)
        return text(what[self.mode], self._name, self.wanted, doc)

    @property
    def _name(self) -> str:
        """The name of the function as messages say it."""
        return self.__qualname__.rsplit("<locals>.", 1)[-1]

    def __srcgrad_derived__(self) -> tuple[str, object, Argnums] | None:
        """What this is where a differentiated function calls it: mode, function, arguments; None if it has no text."""
        if self.has_aux or self.holomorphic or self.mode not in ("reverse", "value") or self.parameters.first:
            return None
        return self.mode, self._follow().primal, self.argnums

    def __srcgrad_underivable__(self) -> tuple[str, str] | None:
        """Why this is not differentiated itself, and what to write instead; None if it is."""
        if not self.has_aux:
            return None
        reason = f"a derivative of {self.__qualname__} with has_aux=True is not differentiated itself"
        return reason, "take the derivatives of a function of the value alone: lambda x: f(x)[0]"

    # --- the function ------------------------------------------------------------------------------------------------
    def _read(self, receiver: tuple[Any, ...]) -> None:
        telling = self.called if defines(type(self.called), "__srcgrad_text__") else None
        self.parameters = parameters_of(telling or self.primal, receiver)
        self.chosen = self.parameters.chosen(self.argnums)
        self.results = Wanted(self.parameters.names, self.wanted, self.chosen, isinstance(self.argnums, tuple))
        self._decides = _decides_binding(self.primal)

    @property
    def __signature__(self) -> Signature:
        """The parameters that a caller passes."""
        return self.parameters.passed

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """One value per parameter of the function as it is now."""
        self._follow()
        if self.parameters.behind:
            self._require_places(len(args))
        try:
            return self.parameters.bind(args, kwargs)
        except TypeError as error:
            if isinstance(error, ArgumentError):
                raise
            reason, hint = misfit(self._name, str(error), self.parameters.passed, kwargs)
            raise ArgumentError(reason, self.span, hint=hint) from None

    def _require_places(self, count: int) -> None:
        """Refuse positions that name another argument where optional ones are passed by their places."""
        places = [p for p in self.parameters.passed.parameters.values() if p.kind < p.VAR_POSITIONAL]
        needed = len(places) - len(self.parameters.behind)
        asked = self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)
        if count > len(places) and any(isinstance(one, int) and not 0 <= one < needed for one in asked):
            told = f"{self.__qualname__}{self.__signature__}"
            reason = f"argnums counts the arguments of {told}, and this call passes more by their places"
            raise ArgumentError(reason, hint="choose by the name of the parameter, or pass what is optional by name")

    def _follow(self) -> Derivative:
        """Read the function again where its class has another ``__call__``, where a partial application has other
        arguments, or where its code or its defaults are others."""
        if self.called is not None:
            primal, receiver = _unbound(self.called)
            if primal is not self.primal:
                self.primal = primal
                self._variants.clear()
        else:
            receiver = self.parameters.first
        present = _decides_binding(self.primal)
        if len(present) != len(self._decides) or any(a is not b for a, b in zip(present, self._decides, strict=True)):
            self._read(receiver)
        return self

    # --- programs ----------------------------------------------------------------------------------------------------
    @property
    def span(self) -> Span | None:
        """The place of the differentiated function, if it has a text."""
        from srcgrad.frontend.source import source_of

        try:
            return source_of(self.primal).span()
        except SrcgradError:
            return None

    @property
    def wanted(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _ in self.chosen))

    def function(self, values: tuple[Any, ...] | None, *, of_flat: bool = True) -> Callable[..., Any]:
        """The function to compile: of a derivative of a derivative, the program of that one; ``of_flat``: the text in
        which what it calls is written out."""
        from srcgrad import programs

        if not isinstance(self.primal, Derivative):
            return self.primal
        with programs.options(debug=False, finite=False):  # what is read here is the text
            return self.primal.text_of(values, is_flat=of_flat)

    def text_of(self, values: tuple[Any, ...] | None, *, is_flat: bool = True) -> FunctionType:
        """The function whose text a derivative of this differentiates."""
        return self._differentiable(values, is_flat=is_flat).entry

    def _differentiable(self, values: tuple[Any, ...] | None, *, is_flat: bool = True) -> Compiled:
        """The program that a derivative of this one differentiates: it looks at its value where types prove nothing."""
        from srcgrad import programs

        compiled = self.variant(values, Variant(self.mode, is_flat=is_flat))
        if compiled.repeats:
            with programs.options(repeat=False):
                compiled = self.variant(values, Variant(self.mode, is_flat=is_flat))
        if compiled.scalar_result or self._is_of_pair or self.mode not in ("reverse", "value"):
            return compiled
        return self.variant(values, Variant("nested" if self.mode == "reverse" else "nested value", is_flat=is_flat))

    def program(self, values: tuple[Any, ...] | None, mode: str | None = None, *, shown: bool = False) -> Compiled:
        """The compiled program for arguments like ``values`` (None: for any arguments), or what is shown of it."""
        return self.variant(values, Variant(mode or self.mode, shown))

    def variant(self, values: tuple[Any, ...] | None, variant: Variant) -> Compiled:
        """One of the programs for arguments like ``values``; None: for any arguments."""
        from srcgrad.programs import present_options

        if values is None:
            self._follow()
        if self._edition != edition():
            self._variants.clear()  # compiled with other rules
            self._edition = edition()
        options = present_options()
        if not options.specialise:
            require_exact_types(self.parameters.names, () if values is None else values)
            decides = values is not None and (
                any(is_static(v) or holds_objects(v) for v in values) or self.parameters.may_be_left_out
            )
            values = values if decides else None
        constants = () if values is None else self.parameters.constants(values, options.varying)
        key = (variant, options, None if values is None else kinds_of(values), constants)
        pattern = pattern_of(values) if values is not None and options.sizes and options.specialise else ()
        found = self._variants.get((key, pattern))
        if found is None or not found.is_current():
            found = self._kept(values, variant, key, pattern)
        elif found in self.holding:
            require_captured_apart(self.parameters.names, values or (), self.wanted)
        found.refresh()
        return found

    def _kept(
        self, values: tuple[Any, ...] | None, variant: Variant, key: object, pattern: tuple[int, ...]
    ) -> Compiled:
        """The program that is kept beside the function for arguments like these, or a new one."""
        from srcgrad.api.moved import patterns_kept
        from srcgrad.programs import present, present_options

        require_exact_types(self.parameters.names, () if values is None else values)
        holds = require_captured_apart(self.parameters.names, values or (), self.wanted)
        function = self.function(values)
        own = self.wanted, isinstance(self.argnums, tuple), len(self.parameters.first), self.looks, edition()
        slot = (own, key), pattern
        programs = (Kept() if is_made_per_call(key) else beside(function)).programs
        found = programs.get(slot)
        if found is None or not found.is_current():
            same = patterns_kept(function, slot[0])
            others = [*self._variants.items(), *programs.items()] if pattern else []
            same.update(one.pattern for (kinds, _), one in others if kinds in (key, slot[0]) and one.is_current())
            if pattern in same or len(same - {()}) < PATTERNS:
                found = made(self, function, values, variant, slot)
                keep(programs, slot, found)
            else:
                with present(replace(present_options(), sizes=False)):
                    found = self.variant(values, variant)
        self.holding.update([found] if holds else ())
        keep(self._variants, (key, pattern), found)
        return found

    def asked(self) -> tuple[object, ...] | None:
        """What a derivative is of, as the key of the cache has it; None where its programs are not kept there."""
        function = self.primal.asked() if isinstance(self.primal, Derivative) else (self.primal,)
        if function is None:
            return None
        own = self.mode, self._asked[1], self.chosen, self.has_aux, self.holomorphic
        return *own, self.parameters.names, len(self.parameters.first), function

    def arguments(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The values that a program takes: functions are compiled in, not passed."""
        return without_factories(tuple(v for v in values if not is_static(v)))

    # --- running -----------------------------------------------------------------------------------------------------
    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call an emitted function; a failure inside it says which of the user's lines it is the derivative of."""
        try:
            return function(*arguments)
        except Exception as failure:
            self.failed(failure, function, arguments)
            raise

    def failed(self, failure: Exception, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Say of a failure in an emitted function where it is, and what the arguments have to do with it."""
        if isinstance(failure, NotOneNumber):
            try:
                require_one_number(failure.value, self.span if self.ran is None else self.ran.span)
            except SeedError as refusal:
                raise refusal from None
        from srcgrad.emit.load import annotate

        annotate(failure, function)  # type: ignore[arg-type]
        names = function.__code__.co_varnames[: len(arguments)]
        advise(failure, {n: v for n, v in zip(names, arguments) if n in self.parameters.names})

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        try:  # a door that costs nothing where nothing fails
            if self.doors.open and (outcome := self.doors.through(args, kwargs)) is not ELSEWHERE:
                return outcome
            if "srcgrad.eager.tensor" in sys.modules:
                from srcgrad.api.bridge import meets_tensors, on_tensors

                if meets_tensors(args, kwargs):
                    return on_tensors(self, args, kwargs)
            values = self.bind(args, kwargs)
            self.check(values)
            self.verify(values)
            if self.has_aux:
                return self._with_aux(values)
            compiled = None if self.holomorphic else self.program(values)
            if compiled is None or not compiled.is_of_one_number:
                value, gradient = self._checked(values)
                return (value, gradient) if self.mode == "value" else gradient
            self.doors.note(self, compiled, values)
            self.ran = compiled
            outcome = self.run(compiled.entry, *self.arguments(values))
            if self.mode == "value":
                value, raw = outcome
                self.require_scalar(value, compiled)
                return value, self.fitted(raw, values, shared=compiled.reads_arrays or isinstance(value, np.ndarray))
            return self.fitted(outcome, values, shared=compiled.reads_arrays)
        except Exception as failure:
            hide_frames(failure)
            raise

    def _checked(self, values: tuple[Any, ...]) -> tuple[Any, Any]:
        """Value and gradient where types do not prove the value to be one number: looked at before it is seeded."""
        self.ran = compiled = self.program(values, "split")
        outcome, saved = self.run(compiled.entry, *self.arguments(values))
        value = self.finished(outcome, values)
        self.require_scalar(value, compiled)
        return value, self._pulled(compiled, saved, outcome, (), values)

    def _pulled(
        self, compiled: Compiled, saved: Any, outcome: Any, auxiliary: tuple[Any, ...], values: tuple[Any, ...]
    ) -> Any:
        """The gradient from what the forward half returned and saved; ``auxiliary`` is returned beside the value."""
        backward = compiled.backward
        assert backward is not None

        def at(seed: complex) -> Any:
            seeds = (seed, *map(zeros_like, auxiliary)) if auxiliary else self.spread(seed, outcome)
            is_kept = compiled.changes_saved and self.holomorphic  # which pulls twice
            held = cloned(saved, keys=True) if is_kept else saved
            return self.fitted(self.run(backward, held, seeds), values, shared=True)

        return at(1.0) if not self.holomorphic else complex_derivative(at, compiled.span)

    def _with_aux(self, values: tuple[Any, ...]) -> Any:
        self.ran = compiled = self.program(values, "split")
        outcome, saved = self.run(compiled.entry, *self.arguments(values))
        require_pair(outcome, compiled.span)
        value, auxiliary = private(outcome) if compiled.changes_saved else outcome
        self.require_scalar(value, compiled)
        gradient = self._pulled(compiled, saved, outcome, (auxiliary,), values)
        return ((value, auxiliary), gradient) if self.mode == "value" else (gradient, auxiliary)

    def check(self, values: tuple[Any, ...]) -> None:
        """Refuse arguments that have no derivative."""
        try:
            check_chosen(self.results, values, holomorphic=self.holomorphic)
        except ArgumentError as error:
            if self.chosen[0] == ("self", None) and self.parameters.names[:2][-1] != "self":
                error.hint = "self is the object of a method: choose a parameter by argnums, as in @grad(argnums=1)"
            raise

    def verify(self, values: tuple[Any, ...]) -> None:
        """Where this differentiates a gradient: refuse what the gradient itself would refuse."""
        inner = self.primal
        if isinstance(inner, Derivative) and inner.mode in ("reverse", "value"):
            inner.verify(values)
            compiled = inner._differentiable(values)
            if not compiled.scalar_result and not compiled.of().mode.startswith("nested"):
                inner.require_scalar(inner.parameters.call(inner.primal, values), compiled)

    def require_scalar(self, value: Any, compiled: Compiled) -> None:
        require_one_number(value, compiled.span, holomorphic=self.holomorphic)

    def finished(self, outcome: Any, values: tuple[Any, ...]) -> Any:
        """What the differentiated function would have returned: a derivative fits its program's raw result."""
        return finished(self._inner, outcome, values)

    def spread(self, seed: Any, outcome: Any) -> Any:
        """The seed of what ``finished`` returned as one of ``outcome``, what the program returned."""
        return spread(self._inner, seed, outcome)

    @property
    def _inner(self) -> Inner | None:
        """Of a derivative of a derivative: the mode of that one, and how its results are fitted."""
        inner = self.primal
        return (inner.mode, inner.results) if isinstance(inner, Derivative) and inner.mode != "batched" else None

    def fitted(self, raw: Any, values: tuple[Any, ...], *, shared: bool = False) -> Any:
        """Raw cotangents in the structure, shapes and dtypes of the arguments they belong to.

        ``shared``: something besides the arguments may still hold the arrays, so that they are copied.
        """
        return self.results.fitted(raw, values, shared=shared)

    # --- looking -----------------------------------------------------------------------------------------------------
    @property
    @door
    def source(self) -> str:
        """The generated source of the derivative: the one that ran in the last call.

        Before the first call it is the source for arguments of the annotated types (``x: float``,
        ``x: NDArray[np.float64]``).  Without annotations it is ``generic_source``.
        """
        return self.shown().emission.text

    @property
    @door
    def generic_source(self) -> str:
        """The source that assumes nothing about the types of the arguments; checks of them for dicts are left out."""
        return self.program(None, shown=True).emission.text

    @door
    def source_for(self, /, *args: Any, **kwargs: Any) -> str:
        """The source that runs for arguments with the types, dtypes and numbers of dimensions of these, and with
        dimensions that are equal, or 0 or 1, in the same places.  Its docstring says in which."""
        return self.program_for(self.bind(args, kwargs)).emission.text

    @property
    @door
    def line_map(self) -> dict[int, Span]:
        """A dict from the line numbers of ``source`` to the places in your file that these lines come from."""
        return dict(self.shown().emission.line_map)

    def shown(self) -> Compiled:
        """The program whose text ``source`` is."""
        from srcgrad.api.looking import shown

        self._follow()
        if self._edition != edition():
            self.ran = None  # compiled with other rules
        return shown(self)

    def program_for(self, values: tuple[Any, ...]) -> Compiled:
        """The program that a call with arguments like these runs."""
        if self.mode not in ("reverse", "value"):
            return self.program(values)
        compiled = None if self._is_of_pair else self.program(values)
        return compiled if compiled is not None and compiled.is_of_one_number else self.program(values, "split")

    @door
    def explain(self, at: str = "normalize") -> Explanation:
        """The program after one stage of the compiler: ``at`` is source, lower, infer, normalize, passes, analysis,
        reverse, optimize or emit.  ``at="refusals"`` lists everything in the program that srcgrad cannot differentiate.
        In a notebook it is shown as the page of ``annotate``, with that stage open."""
        from srcgrad.api.looking import explained

        return explained(self, at)

    @door
    def annotate(self, /, *args: Any, **kwargs: Any) -> Annotation:
        """A page with the function beside its derivative, in which lines that belong together are highlighted together.

        It marks the lines that are active (they depend on a differentiated argument and affect the result), those whose
        values are saved for the backward pass or computed again there, and those that srcgrad cannot differentiate.
        Tabs show the stages of the compiler.  With arguments the derivative is run, as by ``profile``: lines show their
        times and are shaded by the bytes saved for them.  Without arguments the page shows ``source``.  A notebook
        displays the page; ``annotate(...).save("f.html")`` writes it as one file.
        """
        from srcgrad.api.looking import annotated

        if not args and not kwargs:
            return annotated(self, self.shown())
        return annotated(self, self.program_for(self.bind(args, kwargs)), self.profile(*args, **kwargs))

    @property
    def title(self) -> str:
        """What this is, in words: ``Gradient of model.energy with respect to x``."""
        kinds = {"reverse": "Gradient", "value": "Value and gradient", "split": "Pullback", "forward": "Tangent"}
        if self.mode == "batched":
            return f"Batch of {self.__module__}.{self.__qualname__}"
        return f"{kinds[self.mode]} of {self.__module__}.{self.__qualname__} with respect to {', '.join(self.wanted)}"

    def _repr_html_(self) -> str:
        from srcgrad.api.looking import as_html

        return as_html(self)

    @door
    def profile(self, /, *args: Any, **kwargs: Any) -> Profile:
        """Run the derivative with these arguments and measure each line of the function: the time of its statements in
        the forward and the backward pass, the bytes saved for it between the two, and the peak memory.

        ``print`` the result for a table; a notebook shows it beside the function and its gradient.  The derivative runs
        three times: once to warm up, once to measure the times and once, slower, to measure the memory.
        """
        from srcgrad.api.looking import measured

        values = self.bind(args, kwargs)
        self.check(values)
        self.verify(values)
        return measured(self, values)

    @door
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the derivative to a Python file that can be imported and runs without the compiler.

        The file assumes nothing about the types of the arguments.

        For a bound method, the saved function takes the object as its first argument.  It raises an error for an object
        of another class, or with other fields, dtypes or numbers of dimensions.
        """
        from srcgrad.emit.saving import save

        asked = {"has_aux": self.has_aux, "holomorphic": self.holomorphic}
        require_text_alone(self.parameters, self.results, self._inner, **asked)
        from srcgrad.api.looking import saved_for

        save(saved_for(self).emission, path)

    def __repr__(self) -> str:
        return f"<srcgrad {self.title[0].lower()}{self.title[1:]}>"

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        found = imported(self.primal)
        if found is self:
            return import_object, (self.__module__, self.__qualname__)
        if found is self.primal or self.parameters.first:
            state = {"mode": self.mode, "has_aux": self.has_aux, "holomorphic": self.holomorphic}
            return type(self), self._asked, state
        compiled = self.program(None, "split")
        assert compiled.backward is not None
        names = compiled.entry.__name__, compiled.backward.__name__
        how = without_annotations(self.parameters.signature), self.results, self._inner, self.has_aux, self.holomorphic
        return Saved, (compiled.emission.text, names, self.mode, *how, read_outside(compiled.emission))

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.mode, self.has_aux, self.holomorphic = state["mode"], state["has_aux"], state["holomorphic"]


def _unbound(primal: Callable[..., Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function that a call runs, and the object that is passed to it first: of a method, or of an object."""
    if defines(type(primal), "__srcgrad_text__"):
        return primal.__srcgrad_text__(), ()  # type: ignore[attr-defined]
    if is_object(primal):
        primal = primal.__call__  # type: ignore[operator]
    if isinstance(primal, MethodType) and is_object(primal.__self__):
        return primal.__func__, (primal.__self__,)
    if isinstance(primal, Derivative):
        return primal, primal.parameters.first
    if isinstance(primal, FunctionType):
        return primal, ()
    from srcgrad.frontend.applying import written_out

    return written_out(primal), ()


def parameters_of(primal: Callable[..., Any], receiver: tuple[Any, ...] = ()) -> Parameters:
    """The parameters of a function; those of a derivative are its function's."""
    if isinstance(primal, Derivative):
        return Parameters(primal.parameters.signature, receiver)
    if defines(type(primal), "__srcgrad_text__"):
        return Parameters(primal.bound)  # type: ignore[attr-defined]
    try:
        return Parameters(called_signature(primal), receiver)
    except ValueError:  # a built-in function that does not tell
        reason = f"nothing tells which arguments {getattr(primal, '__name__', repr(primal))} takes"
        raise ArgumentError(reason, hint="write a function of them that calls it") from None


def _decides_binding(primal: Callable[..., Any]) -> tuple[object, ...]:
    """What the binding of arguments depends on."""
    return (primal._follow().parameters,) if isinstance(primal, Derivative) else decides_binding(primal)


def _shifted(argnums: Argnums) -> Argnums:
    """Positions in the arguments of a bound method as positions in those of its function."""
    if isinstance(argnums, tuple):
        return tuple(one + 1 if isinstance(one, int) and one >= 0 else one for one in argnums)
    return argnums + 1 if isinstance(argnums, int) and argnums >= 0 else argnums
