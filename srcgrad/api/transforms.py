"""``grad``, ``value_and_grad``, ``vjp`` and ``jvp``: derivatives that take one sweep.

Enters: a user's function.  Leaves: a function, or for ``vjp`` and ``jvp`` the value with its pullback or tangent.
Gradients have the structure, shapes and dtypes of the arguments they belong to.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, overload

import numpy as np

from srcgrad.api.arguments import Argnums, described, holds_objects, is_floating, is_integer, positions
from srcgrad.api.derivative import Derivative
from srcgrad.api.door import ELSEWHERE
from srcgrad.api.kept import beside
from srcgrad.api.outside import Outside
from srcgrad.api.repeatable import quietly, runs_alike
from srcgrad.api.saved import Unpickled, read_outside
from srcgrad.api.typed import Decorator, Gradient, R, Several, X, Y
from srcgrad.errors import ArgumentError, SeedError
from srcgrad.runtime import add, as_cotangent, zeros_like
from srcgrad.runtime.defaults import dict_like
from srcgrad.runtime.exact import inside, why_refused
from srcgrad.runtime.isolation import is_apart, kept_apart, shared_outside
from srcgrad.runtime.objects import cotangents_of, fields_of, is_object, made
from srcgrad.runtime.reaching import all_names
from srcgrad.runtime.refusals import RefusedValue
from srcgrad.runtime.shadows import cloned
from srcgrad.tracebacks import door, hide_frames

if TYPE_CHECKING:
    from srcgrad.programs import Compiled

_PLAIN = (float, np.ndarray)  # which no function is
_NUMBERS = (float, np.float64, int, bool)  # of which there is no copy
_WITHOUT = (int, bool, str, type(None))  # parts of a value that have no derivative
_AGAIN = "call vjp again"
_SPENT = object()  # in place of what was saved, where the first call of a pullback gets it
_FIXED = {"cmath", "math", "numpy", "operator", "scipy", "srcgrad"}  # what these modules hold does not change

P = ParamSpec("P")
A = TypeVar("A")
T = TypeVar("T")


@overload
def grad(
    f: Callable[Concatenate[Several, P], R], argnums: Literal[0] = 0, *, has_aux: Literal[False] = False,
    holomorphic: bool = False,
) -> Gradient[Concatenate[Any, P], Any]: ...
@overload
def grad(
    f: Callable[Concatenate[X, P], R], argnums: Literal[0] = 0, *, has_aux: Literal[False] = False,
    holomorphic: bool = False,
) -> Gradient[Concatenate[X, P], X]: ...
@overload
def grad(
    f: Callable[Concatenate[X, Y, P], R], argnums: Literal[1], *, has_aux: Literal[False] = False,
    holomorphic: bool = False,
) -> Gradient[Concatenate[X, Y, P], Y]: ...
@overload
def grad(
    f: Callable[Concatenate[X, Y, P], R], argnums: tuple[Literal[0], Literal[1]], *,
    has_aux: Literal[False] = False, holomorphic: bool = False,
) -> Gradient[Concatenate[X, Y, P], tuple[X, Y]]: ...
@overload
def grad(
    f: Callable[Concatenate[X, P], tuple[R, A]], argnums: Literal[0] = 0, *, has_aux: Literal[True],
    holomorphic: bool = False,
) -> Gradient[Concatenate[X, P], tuple[X, A]]: ...
@overload
def grad(
    f: Callable[P, R], argnums: tuple[int | str, ...], *, has_aux: Literal[False] = False, holomorphic: bool = False
) -> Gradient[P, tuple[Any, ...]]: ...
@overload
def grad(
    f: Callable[P, R], argnums: int | str = 0, *, has_aux: Literal[False] = False, holomorphic: bool = False
) -> Gradient[P, Any]: ...
@overload
def grad(
    f: Callable[P, tuple[R, A]], argnums: Argnums = 0, *, has_aux: Literal[True], holomorphic: bool = False
) -> Gradient[P, tuple[Any, A]]: ...
@overload
def grad(
    f: None = None, argnums: Argnums = 0, *, has_aux: bool = False, holomorphic: bool = False
) -> Decorator: ...
@door
def grad(
    f: Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Any:
    """The gradient of ``f``, a function that returns one real number.

    ``grad(f)`` takes f's arguments and returns the gradient with respect to ``argnums``: a position, a name, or a tuple
    of them (then a tuple is returned).  Arguments may be floating-point numbers, arrays of any shape, and nested
    tuples, lists, dicts and objects of these.  The gradient has the same structure, with None where such a container
    holds an integer, a string or None.  With ``has_aux=True`` f has to return ``(value, auxiliary)``, and the result is
    ``(gradient, auxiliary)``.  Also a decorator: ``@grad``, ``@grad(argnums=(0, "w"))``.

    The gradient of the real value L with respect to a complex argument x is ::

        x_bar = dL/dRe(x) - 1j * dL/dIm(x),    so that    dL = Re(sum(x_bar * dx)),

    as in HIPS autograd and JAX.  PyTorch returns the conjugate of this, which is the direction of steepest ascent.  The
    gradient with respect to a real argument is real, even if f computes with complex numbers.  With
    ``holomorphic=True`` f takes complex arguments and returns one complex number, and the result is the complex
    derivative f'(x).  The Cauchy-Riemann equations are checked, at the cost of a second backward pass; if they do not
    hold, ``SeedError`` is raised.

    Raises ``ArgumentError`` for integer arguments and ``SeedError`` if f does not return a scalar.  Raises
    ``LanguageError`` or ``MissingRule`` if f cannot be differentiated, with the place in its source.
    """
    if f is None:
        return lambda function: grad(function, argnums, has_aux=has_aux, holomorphic=holomorphic)
    return Derivative(f, argnums, mode="reverse", has_aux=has_aux, holomorphic=holomorphic)


@overload
def value_and_grad(
    f: Callable[Concatenate[Several, P], R], argnums: Literal[0] = 0, *, has_aux: Literal[False] = False,
    holomorphic: bool = False,
) -> Gradient[Concatenate[Any, P], tuple[R, Any]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[X, P], R], argnums: Literal[0] = 0, *, has_aux: Literal[False] = False,
    holomorphic: bool = False,
) -> Gradient[Concatenate[X, P], tuple[R, X]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[X, Y, P], R], argnums: Literal[1], *, has_aux: Literal[False] = False,
    holomorphic: bool = False,
) -> Gradient[Concatenate[X, Y, P], tuple[R, Y]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[X, Y, P], R], argnums: tuple[Literal[0], Literal[1]], *,
    has_aux: Literal[False] = False, holomorphic: bool = False,
) -> Gradient[Concatenate[X, Y, P], tuple[R, tuple[X, Y]]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[X, P], tuple[R, A]], argnums: Literal[0] = 0, *, has_aux: Literal[True],
    holomorphic: bool = False,
) -> Gradient[Concatenate[X, P], tuple[tuple[R, A], X]]: ...
@overload
def value_and_grad(
    f: Callable[P, R], argnums: tuple[int | str, ...], *, has_aux: Literal[False] = False, holomorphic: bool = False
) -> Gradient[P, tuple[R, tuple[Any, ...]]]: ...
@overload
def value_and_grad(
    f: Callable[P, R], argnums: int | str = 0, *, has_aux: Literal[False] = False, holomorphic: bool = False
) -> Gradient[P, tuple[R, Any]]: ...
@overload
def value_and_grad(
    f: Callable[P, tuple[R, A]], argnums: Argnums = 0, *, has_aux: Literal[True], holomorphic: bool = False
) -> Gradient[P, tuple[tuple[R, A], Any]]: ...
@overload
def value_and_grad(
    f: None = None, argnums: Argnums = 0, *, has_aux: bool = False, holomorphic: bool = False
) -> Decorator: ...
@door
def value_and_grad(
    f: Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Any:
    """Like ``grad``, but the result is ``(value, gradient)``; with ``has_aux``, ``((value, auxiliary), gradient)``."""
    if f is None:
        return lambda function: value_and_grad(function, argnums, has_aux=has_aux, holomorphic=holomorphic)
    return Derivative(f, argnums, mode="value", has_aux=has_aux, holomorphic=holomorphic)


class Pullback:
    """The linear map from a cotangent of f's value to cotangents of its arguments; can be called any number of times.

    The arguments are copied, and so is the value that is returned.  Data that f reads from globals and closures are not
    copied.  If the backward pass needs such data and they have changed since, a call raises an error.  To find this
    out, ``vjp`` and each call go through all of these data.  Where f stores into arrays, the first call may use up what
    was recorded; then the second one runs f once more.
    """

    def __init__(self, derivative: Derivative, values: tuple[Any, ...], *, watched: bool = True) -> None:
        self._derivative: Derivative | Unpickled = derivative
        derivative.verify(values)
        compiled = derivative.program(values, "split")
        if watched:
            derivative.doors.note(derivative, compiled, values)
        self._compiled: Compiled | Unpickled = compiled
        self._once: list[Any] = []  # what was saved, for the one call that may use it up
        # A pullback that nobody keeps runs backwards before its arguments can change.  Where an argument that is stored
        # into is a global as well, the program itself checks that.
        is_global = compiled.changes_saved and shared_outside(values, compiled.globals)
        if (watched or compiled.changes_saved) and not is_global:
            values = kept_apart(values, compiled.changes_saved)
        self._values = values
        outcome, self._saved = derivative.run(compiled.entry, *derivative.arguments(values))
        if watched and not is_global:
            self._hand_out_once(compiled)
        backward = compiled.backward
        assert backward is not None
        self._outside = None
        if watched and compiled.reads_outside:
            self._outside = Outside(compiled.entry, backward, compiled.names_read)
        self._pull: Callable[..., Any] | None = None
        self.value = unshared(derivative.finished(outcome, values))
        # A gradient has None where its program has zeros, which want seeds.
        self._seeded = outcome if isinstance(derivative.primal, Derivative) else self.value

    @staticmethod
    def of_door(
        derivative: Derivative, compiled: Compiled, values: tuple[Any, ...], outcome: Any, pull: Callable[..., Any]
    ) -> tuple[Any, Pullback]:
        """Value and pullback where a door ran the forward half on copies of the arguments; ``pull`` runs the other."""
        made = Pullback.__new__(Pullback)
        made._derivative, made._compiled, made._values, made._pull = derivative, compiled, values, pull
        made._once = []
        outcome, made._saved = outcome
        made._hand_out_once(compiled)
        made._outside = None
        if compiled.reads_outside:
            assert compiled.backward is not None
            made._outside = Outside(compiled.entry, compiled.backward, compiled.names_read)
        made.value = made._seeded = unshared(outcome)
        return made.value, made

    def __call__(self, seed: Any) -> tuple[Any, ...]:
        """``seed`` has the structure and shapes of f's value; returns one cotangent per differentiated argument.

        The seed of a complex value y may be complex: for the seed ``y_bar`` the result is the gradient of
        Re(sum(y_bar * y)).  So 1.0 gives the gradient of the real part of y, and -1j that of the imaginary part.
        """
        try:
            if self._pull is not None and (given := _given(seed, self.value)) is not ELSEWHERE:
                require_unchanged(self._outside, self._saved, self._derivative, _AGAIN)
                pulled: tuple[Any, ...] = self._pull(self._taken(), given, *self._values)
                return pulled
            require_exact_seed(seed, "the value")
            require_unchanged(self._outside, self._saved, self._derivative, _AGAIN)
            return self.pulled(seed)
        except Exception as failure:
            hide_frames(failure)
            raise

    def pulled(self, seed: Any) -> tuple[Any, ...]:
        """The same for a seed of ours, where nothing can have changed since."""
        check_seed(seed, self.value, "the value")
        backward = self._compiled.backward
        assert backward is not None
        given = self.cotangent(seed)
        return self.fitted(self._derivative.run(backward, self._taken(), given))

    def _hand_out_once(self, compiled: Compiled) -> None:
        """Keep what was saved for the first call alone, where the forward half can be run again for later ones."""
        if compiled.changes_saved and runs_alike(compiled, self._values):
            self._once, self._saved = [self._saved], _SPENT

    def _kept(self) -> Any:
        """What the forward half saved, which nobody may store into; it is run again where the first call has used that
        up."""
        if self._saved is _SPENT:
            derivative, compiled = self._derivative, self._compiled
            assert isinstance(derivative, Derivative) and not isinstance(compiled, Unpickled)
            if (once := self._popped()) is not None:
                self._saved = once[0]
            else:
                with quietly():
                    self._saved = derivative.run(compiled.entry, *derivative.arguments(self._values))[1]
        return self._saved

    def _popped(self) -> tuple[Any] | None:
        """What is kept for one call, for that one; threads may call at once."""
        try:
            return (self._once.pop(),)
        except IndexError:
            return None

    def _taken(self) -> Any:
        """What the backward half is given, which takes back what the forward half stored: the first call gets what was
        saved, where nobody else needs it, and later ones a copy each, so that all start from the same."""
        if not self._compiled.changes_saved:
            return self._saved
        once = self._popped()
        return cloned(self._kept(), keys=True) if once is None else once[0]

    def cotangent(self, seed: Any) -> Any:
        """A seed as programs take it: in the structure and dtypes of the value, dicts of the fields of objects."""
        cotangent = as_cotangent(self._derivative.spread(seed, self._seeded), self._seeded)
        return filled(cotangent, self._seeded) if holds_objects(self._seeded) else cotangent

    def fitted(self, raw: Any) -> tuple[Any, ...]:
        """What a program returned, in the structure and dtypes of the arguments."""
        return self.as_tuple(self._derivative.fitted(raw, self._values, shared=True))

    def as_tuple(self, fitted: Any) -> tuple[Any, ...]:
        """One cotangent for each argument."""
        return fitted if isinstance(fitted, tuple) and isinstance(self._derivative.argnums, tuple) else (fitted,)

    def __reduce__(self) -> Any:
        """By the text of the backward sweep and what it was given: reading it takes neither function nor compiler."""
        derivative = self._derivative
        if isinstance(derivative, Derivative):
            derivative = self._as_text(derivative)
        state = derivative, self._values, self._kept(), self.value, self._seeded
        return _unpickled, state

    def _as_text(self, derivative: Derivative) -> Unpickled:
        compiled, backward = self._compiled, self._compiled.backward
        assert backward is not None and not isinstance(compiled, Unpickled)
        refused = f"{self!r} is not pickled: "
        hint = "pickle the function and its arguments, and call vjp again"
        if self._outside is not None and (what := self._outside.changed(self._saved)) is not None:
            raise ArgumentError(f"{refused}{what} has changed since the value was computed", hint=hint)
        for identifier, binding in compiled.emission.bindings if self._outside is not None else ():
            if isinstance(binding.value, ModuleType) and identifier in all_names(backward):
                if binding.value.__name__.partition(".")[0] not in _FIXED:
                    raise ArgumentError(f"{refused}it reads the module {identifier}, which may change", hint=hint)
        if not is_apart(self._kept(), memory=compiled.changes_saved):
            raise ArgumentError(f"{refused}what it stores into is seen under several names", hint=hint)
        outside = read_outside(compiled.emission, whole=True)
        name = derivative.__module__, derivative.__qualname__
        kept = compiled.emission.text, backward.__name__, outside, derivative.results, derivative._inner
        return Unpickled(*kept, compiled.changes_saved, name)

    def __copy__(self) -> Pullback:
        return self  # each call gives what it would give alone

    def __deepcopy__(self, memo: object) -> Pullback:
        return self

    def __repr__(self) -> str:
        return f"<srcgrad pullback of {self._derivative.__module__}.{self._derivative.__qualname__}>"


def _given(seed: Any, value: Any) -> Any:
    """A seed that has the types, shapes and dtypes of the value, as ``as_cotangent`` makes it; ``ELSEWHERE`` for any
    other."""
    kind: Any = type(value)
    if kind is float or kind is np.float64:
        return kind(seed) if type(seed) is float or type(seed) is np.float64 else ELSEWHERE
    if kind is np.ndarray:
        if type(seed) is np.ndarray and seed.shape == value.shape and seed.dtype == value.dtype:
            return seed.copy("K") if seed.dtype.kind in "fc" else ELSEWHERE
        return ELSEWHERE
    if (kind is tuple or kind is list) and type(seed) is kind and len(seed) == len(value):
        parts = [
            None if part is None and type(item) in _WITHOUT else _given(part, item)
            for part, item in zip(seed, value, strict=True)
        ]
        return ELSEWHERE if any(part is ELSEWHERE for part in parts) else kind(parts)
    return None if value is None and seed is None else ELSEWHERE


def require_unchanged(outside: Outside | None, saved: Any, derivative: Derivative | Unpickled, hint: str) -> None:
    """Refuse to run a backward half that reads what has changed since the forward half ran."""
    if outside is not None and (what := outside.changed(saved)) is not None:
        from srcgrad.frontend.source import source_of  # importing srcgrad loads no compiler

        refusal = RefusedValue("E0712", f"{what} has changed since the value was computed, which read it; {hint}")
        primal = getattr(derivative, "primal", None)
        if isinstance(primal, FunctionType | MethodType):
            refusal.place(source_of(primal).span())
        raise refusal


def _unpickled(derivative: Unpickled, values: tuple[Any, ...], saved: Any, value: Any, seeded: Any) -> Pullback:
    made = Pullback.__new__(Pullback)
    made._derivative = made._compiled = derivative
    made._values, made._saved, made.value, made._seeded = values, saved, value, seeded
    made._outside = made._pull = None
    made._once = []
    return made


@overload
def vjp(f: Callable[..., T], /, *primals: Any, argnums: Argnums, **kwargs: Any) -> tuple[T, Pullback]: ...
@overload
def vjp(f: Callable[P, T], /, *primals: P.args, **kwargs: P.kwargs) -> tuple[T, Pullback]: ...
def vjp(  # type: ignore[misc]  # a parameter called argnums is refused below
    f: Callable[..., Any], /, *primals: Any, argnums: Argnums | None = None, **kwargs: Any
) -> tuple[Any, Pullback]:
    """Return ``(value, pullback)`` at ``primals``; ``pullback(seed)`` is the vector-Jacobian product with ``seed``.

    The pullback returns a tuple of cotangents, one per differentiated argument, also if there is only one.  These are
    all positional arguments that are not functions, unless ``argnums`` chooses others.  The seed must have the
    structure and shapes of the value (a plain number will do for a 0-d array), else ``SeedError`` is raised.
    """
    try:
        of_class = _of_class(f, primals, argnums)
        outcome: tuple[Any, Pullback]
        if of_class is not None:
            outcome = of_class.doors.through((f.__self__, *primals), kwargs)  # type: ignore[attr-defined]
            if outcome is not ELSEWHERE:
                return outcome
        derivative = chosen_by("vjp", f, primals, argnums)
        outcome = derivative.doors.through(primals, kwargs)
        if outcome is not ELSEWHERE:
            return outcome
        values = derivative.bind(primals, kwargs)
        derivative.check(values)
        pullback = Pullback(derivative, values)
        compiled = pullback._compiled
        if of_class is not None and not isinstance(compiled, Unpickled) and compiled not in derivative.holding:
            of_class.doors.note(of_class, compiled, values)
        return pullback.value, pullback
    except Exception as failure:
        hide_frames(failure)
        raise


def _of_class(f: Any, primals: tuple[Any, ...], argnums: Argnums | None) -> Derivative | None:
    """Of a method of an object: the derivative of its function, which takes the object first, and is kept with its
    doors for all objects of the class.  A call that goes through none makes a derivative for the object alone, which
    says in the words of the method what is wrong.
    """
    if type(f) is not MethodType or not is_object(f.__self__) or not isinstance(f.__func__, FunctionType):
        return None
    several = _several(primals, argnums)
    if not all(type(which) is int and which >= 0 for which in several) or "argnums" in f.__code__.co_varnames:
        return None
    key = "of a method", tuple([int(which) + 1 for which in several])
    kept = beside(f.__func__).derivatives
    if key not in kept:  # apart from those of the function, which may store into the object
        try:
            kept[key] = Derivative(f.__func__, key[1], mode="split")
        except ArgumentError:  # which the derivative for the object says in its own words
            return None
    return kept[key]


def _several(primals: tuple[Any, ...], argnums: Argnums | None) -> tuple[int | str, ...]:
    """The arguments that ``argnums`` chooses, by default all positional ones that are not functions."""
    if argnums is None:
        return tuple([j for j, p in enumerate(primals) if type(p) in _PLAIN or is_object(p) or not callable(p)])
    chosen = argnums if _are_positions(argnums) else positions(argnums)
    return chosen if isinstance(chosen, tuple) else (chosen,)


def chosen_by(name: str, f: Callable[..., Any], primals: tuple[Any, ...], argnums: Argnums | None) -> Derivative:
    """The halves of a function by all positional arguments that are not functions, or those that ``argnums`` says;
    ``name`` is that of the function that takes ``argnums=``."""
    several = _several(primals, argnums)
    kept = beside(f).derivatives.get(("split", several)) if type(f) is FunctionType else None
    derivative = made_once(f, several, "split") if kept is None else kept
    if argnums is not None and "argnums" in derivative.parameters.names[len(primals) :]:
        raise ArgumentError(
            f"argnums= is {name}'s own, and a parameter of {derivative.__qualname__}",
            hint="pass the parameter by its position",
        )
    return derivative


def selected(derivative: Derivative, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The differentiated arguments."""
    found = dict(zip(derivative.parameters.names, values, strict=True))
    return tuple(found[name] if at is None else found[name][at] for name, at in derivative.chosen)


def jvp(
    f: Callable[..., T], primals: tuple[Any, ...] | list[Any], tangents: tuple[Any, ...] | list[Any]
) -> tuple[T, T]:
    """Return ``(value, tangent)``: f and its derivative at ``primals`` in the direction ``tangents``.

    ``primals`` and ``tangents`` are tuples or lists of equal length and structure.  A tangent of None means that the
    argument, or that part of a container, is constant.  The tangent of a complex primal may be complex.
    """
    try:
        for what, given in (("primals", primals), ("tangents", tangents)):
            if not isinstance(given, tuple | list):
                raise ArgumentError(
                    f"the {what} of jvp are a tuple or a list of arguments, not {described(given)}",
                    hint="of one argument: jvp(f, (x,), (v,))",
                )
        if len(primals) != len(tangents):
            raise ArgumentError(f"{len(primals)} primals need as many tangents, not {len(tangents)}")
        moving = tuple(j for j, tangent in enumerate(tangents) if tangent is not None)
        derivative = made_once(f, moving, "forward")
        values = derivative.bind(tuple(primals), {})
        derivative.check(values)
        directions = tuple(directed(tangents[j], primals[j], f"primal {j}") for j in moving)
        return pushed(derivative, values, directions)
    except Exception as failure:
        hide_frames(failure)
        raise


def directed(direction: Any, value: Any, of: str) -> Any:
    """A tangent of ``value`` as programs take it: structure, shapes and dtypes of the value, zeros for None."""
    require_exact_seed(direction, of)
    whole = filled(direction, value)
    check_seed(whole, value, of)
    return filled(as_cotangent(whole, value, set()), value)


def filled(direction: Any, value: Any) -> Any:
    """The direction with a zero at each part of a container where it has None."""
    if direction is None:
        return zeros_like(value)
    several = isinstance(value, tuple | list | deque) and isinstance(direction, tuple | list | deque)
    if several and len(value) == len(direction):
        items = [filled(part, item) for part, item in zip(direction, value, strict=True)]
        if isinstance(value, deque):
            return deque(items, value.maxlen)
        return type(value)(*items) if hasattr(value, "_fields") else items
    if isinstance(value, dict) and isinstance(direction, dict) and value.keys() == direction.keys():
        return {key: filled(direction[key], item) for key, item in value.items()}
    if is_object(value) and (isinstance(direction, dict) or is_object(direction)):
        parts = cotangents_of(direction, value)
        return {name: filled(parts.get(name), item) for name, item in fields_of(value).items()}
    return direction


def unshared(value: Any, owner: tuple[Any, Any] = (None, None)) -> Any:
    """The value with arrays and containers of its own; ``owner``: the object that keeps it in a field, and its copy."""
    if type(value) in _NUMBERS:
        return value
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, tuple | list | deque):
        items = [unshared(item, owner) for item in value]
        if isinstance(value, list):
            return items
        if isinstance(value, deque):
            return deque(items, value.maxlen)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, dict):
        return dict_like(value, {key: unshared(item, owner) for key, item in value.items()})
    if isinstance(value, MethodType) and value.__self__ is owner[0]:
        return MethodType(value.__func__, owner[1])
    if not is_object(value):
        return value
    own = made(type(value), {})
    for name, item in fields_of(value).items():
        object.__setattr__(own, name, unshared(item, (value, own)))
    return own


def directions_of(derivative: Derivative, values: tuple[Any, ...], directions: tuple[Any, ...]) -> list[Any]:
    """One tangent per differentiated parameter, from one per chosen argument: the sum of what is chosen of it, where
    that is more than one thing; what does not move inside ``*args`` has the tangent zero."""
    made: dict[str, Any] = {}
    for (name, position), direction in zip(derivative.chosen, directions, strict=True):
        if position is not None:
            whole = values[derivative.parameters.names.index(name)]
            direction = tuple(direction if k == position else zeros_like(item) for k, item in enumerate(whole))
        made[name] = add(made[name], direction) if name in made else direction
    return list(made.values())


def seeds_between(entry: FunctionType, arguments: tuple[Any, ...], dots: list[Any]) -> tuple[Any, ...]:
    """The defaults of what a tangent program takes between its arguments and its tangents: the seeds of a gradient."""
    count = entry.__code__.co_argcount
    defaults = entry.__defaults__ or ()
    return tuple(defaults[j - count] for j in range(len(arguments), count - len(dots)))


def before_seed(derivative: Derivative, values: tuple[Any, ...], entry: FunctionType) -> tuple[Any, ...]:
    """What a text that takes a seed behind its arguments is given before it: those, and the seeds of a gradient."""
    arguments = derivative.arguments(values)
    lacking = entry.__code__.co_argcount - len(arguments) - 1
    if not lacking:
        return arguments
    defaults = getattr(derivative.function(values), "__defaults__", None) or ()
    return (*arguments, *defaults[-lacking:])


def pushed(derivative: Derivative, values: tuple[Any, ...], directions: tuple[Any, ...]) -> tuple[Any, Any]:
    """``(value, tangent)`` of a tangent program, along one direction per chosen argument."""
    derivative.verify(values)
    compiled = derivative.program(values, "forward")
    dots = directions_of(derivative, values, directions)
    arguments = derivative.arguments(values)
    value, tangent = derivative.run(compiled.entry, *arguments, *seeds_between(compiled.entry, arguments, dots), *dots)
    value = derivative.finished(value, values)
    return value, as_cotangent(derivative.finished(tangent, values), value)


def made_once(f: Callable[..., Any], argnums: Argnums, mode: str) -> Derivative:
    """The derivative object of a function, kept beside the function so that a second call compiles nothing."""
    if not _are_positions(argnums):
        argnums = positions(argnums)
    if isinstance(f, MethodType) or is_object(f):
        return Derivative(f, argnums, mode=mode)  # a method's attributes are its function's, an object's are its fields
    kept, key = beside(f).derivatives, (mode, argnums)
    if key not in kept:
        kept[key] = Derivative(f, argnums, mode=mode)
    return kept[key]


def _are_positions(argnums: Argnums) -> bool:
    """Whether these are positions already, as ``positions`` gives them."""
    return type(argnums) is tuple and set(map(type, argnums)) <= {int}


def require_exact_seed(seed: Any, of: str) -> None:
    """Refuse a seed or tangent that is, or holds, what is computed with by methods of its own class: a masked array."""
    for part, place in inside(seed, of):
        refused = why_refused(part)
        if refused is not None:
            raise SeedError(f"the seed of {place} is {refused[0]}", hint=refused[1])


def check_seed(seed: Any, value: Any, of: str) -> None:
    """Refuse a seed or tangent that does not have the structure and shapes of what it belongs to."""
    if isinstance(value, tuple | list | deque):
        if not isinstance(seed, tuple | list | deque) or len(seed) != len(value):
            raise SeedError(f"{of} is a {type(value).__name__} of {len(value)}: the seed must be one too")
        for position, (part, item) in enumerate(zip(seed, value, strict=True)):
            check_seed(part, item, f"{of}[{position}]")
    elif isinstance(value, dict):
        if not isinstance(seed, dict) or seed.keys() != value.keys():
            raise SeedError(f"{of} is a dict with keys {sorted(map(str, value))}: the seed must have them too")
        for key, item in value.items():
            check_seed(seed[key], item, f"{of}[{key!r}]")
    elif is_object(value):
        if not isinstance(seed, dict) and not is_object(seed):
            raise SeedError(f"{of} is a {type(value).__name__}: the seed must have its fields")
        parts = cotangents_of(seed, value)
        for name, item in fields_of(value).items():
            if parts.get(name) is not None:
                check_seed(parts[name], item, f"{of}.{name}")
    elif is_floating(value) or is_integer(value) and seed is not None:
        shape = _shape_of_numbers(seed, value, of)
        if shape != np.shape(value):
            reason = f"{of} has shape {np.shape(value)}, the seed {'no shape' if shape is None else shape}"
            raise SeedError(reason, hint=f"pass {_like(np.shape(value))}")
        if np.iscomplexobj(seed) and not np.iscomplexobj(value):
            raise SeedError(f"{of} is real, the seed complex", hint="pass its real part")


def _like(shape: tuple[int, ...]) -> str:
    return f"an array of shape {shape}" if shape else "a number"


def _shape_of_numbers(seed: Any, value: Any, of: str) -> tuple[int, ...] | None:
    """The shape of a seed; None has none, and what is no number, array or list of numbers is refused."""
    if seed is None:
        return None
    try:
        numbers: Any = np.asarray(seed) if isinstance(seed, list) else seed
    except ValueError:  # rows of several lengths
        numbers = None
    if not (is_floating(numbers) or is_integer(numbers)):
        dtype = getattr(numbers, "dtype", None)
        what = f"a {type(seed).__name__}" if dtype is None else f"a {type(seed).__name__} of {dtype}"
        reason = f"{of} has shape {np.shape(value)}, and its seed is {what}, where numbers are expected"
        raise SeedError(reason, hint="pass floats, or an array of them")
    shape: tuple[int, ...] = np.shape(numbers)
    return shape


grad.__srcgrad_transform__ = "reverse"  # type: ignore[attr-defined]
value_and_grad.__srcgrad_transform__ = "value"  # type: ignore[attr-defined]
vjp.__srcgrad_transform__ = "vjp"  # type: ignore[attr-defined]
jvp.__srcgrad_transform__ = "jvp"  # type: ignore[attr-defined]
