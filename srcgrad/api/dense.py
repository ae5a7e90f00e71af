"""``jacobian``, ``jacfwd``, ``hessian`` and ``hvp``: derivatives made of many sweeps, or of second order.

Enters: a user's function.  Leaves: a callable that runs a program once per element of the output (``jacobian``) or of
the input (``jacfwd``, ``hessian``), or once along a direction (``hvp``).  Second derivatives are forward over reverse:
the tangent of the gradient program is the smallest program that has them (Griewank & Walther, ch. 5).
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from inspect import Parameter, Signature
from types import MethodType
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, overload

import numpy as np

from srcgrad.api.arguments import (
    Argnums,
    Behind,
    Parameters,
    described,
    is_floating,
    is_integer,
    leaves_of,
    positions,
)
from srcgrad.api.derivative import Derivative
from srcgrad.api.help import Help, text
from srcgrad.api.holomorphic import HOLOMORPHIC_OR_VJP, require_holomorphic
from srcgrad.api.saved import import_object, imported
from srcgrad.api.sweeps import Sweeps, along_all, is_plain, pushed_all, rows, stacked
from srcgrad.api.transforms import (
    Pullback,
    before_seed,
    directed,
    directions_of,
    filled,
    pushed,
    seeds_between,
    selected,
)
from srcgrad.api.typed import Along, DenseDecorator, R, X
from srcgrad.api.vmap import repeated
from srcgrad.errors import ArgumentError, CheaperMode, SeedError
from srcgrad.runtime import as_cotangent, zeros_like
from srcgrad.runtime.objects import fields_of, is_object, mirrored
from srcgrad.tracebacks import door

P = ParamSpec("P")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")


@overload
def jacobian(
    f: Callable[P, Any], argnums: Argnums = 0, *, holomorphic: bool = False, sparsity: Any = None
) -> Along[P, Any]: ...
@overload
def jacobian(
    f: None = None, argnums: Argnums = 0, *, holomorphic: bool = False, sparsity: Any = None
) -> DenseDecorator: ...
@door
def jacobian(
    f: Callable[..., Any] | None = None, argnums: Argnums = 0, *, holomorphic: bool = False, sparsity: Any = None
) -> Any:
    """The Jacobian by reverse mode; for an argument of shape m and a result of shape n its shape is ``(*n, *m)``.

    The backward pass runs once for all elements of the output where it has a program over a batch (``vmap``), else
    once for each.  If the argument or the result is a container or an object, so
    is the Jacobian: the structure of the result outside, that of the argument inside, None where one of these has an
    integer or a string.  Entries have the precision of the argument.  They follow the convention of ``grad``: for a
    real output y and a complex argument x they are ``dy/dRe(x) - 1j * dy/dIm(x)``, and for a complex output and a real
    argument ``dRe(y)/dx + 1j * dIm(y)/dx`` (two passes per element).  If both are complex, one complex number cannot
    hold the derivative in general, and an error is raised; with ``holomorphic=True`` the entry is the complex
    derivative, after a check that it exists.

    With ``sparsity`` the result is a SciPy sparse array of shape (outputs, inputs), of a real array by one real array,
    both flattened.  It is a pattern, a matrix that is not zero where the Jacobian may be (sparse or dense), or
    ``"auto"``.  Columns, or rows, that do not meet are found together (Curtis, Powell & Reid, 1974), so that the
    Jacobian takes as many products as these have colours.  ``"auto"`` finds the whole Jacobian at the first point and
    takes its entries for the pattern.  At every call a product with a random vector is compared: where entries are
    missing, a given pattern raises ``SparsityError``, and ``"auto"`` finds the whole Jacobian again.
    """
    if sparsity is None:
        return _dense(Jacobian, f, argnums, holomorphic)
    if holomorphic:
        raise ArgumentError("a sparse Jacobian is of real numbers", hint="leave out holomorphic=True, or sparsity")
    from srcgrad.api.sparse import SparseJacobian

    return (lambda g: SparseJacobian(g, argnums, sparsity)) if f is None else SparseJacobian(f, argnums, sparsity)


@overload
def jacfwd(f: Callable[P, Any], argnums: Argnums = 0, *, holomorphic: bool = False) -> Along[P, Any]: ...
@overload
def jacfwd(f: None = None, argnums: Argnums = 0, *, holomorphic: bool = False) -> DenseDecorator: ...
@door
def jacfwd(
    f: Callable[..., Any] | None = None, argnums: Argnums = 0, *, holomorphic: bool = False
) -> Any:
    """The Jacobian by forward mode: the result of ``jacobian``, along each real input element, twice along a complex.

    All directions are one pass where that has a program over a batch (``vmap``); the primal runs once in it.

    It is cheaper than ``jacobian`` if there are fewer input elements than output elements.
    """
    return _dense(ForwardJacobian, f, argnums, holomorphic)


@overload
def hessian(f: Callable[P, R], argnums: Argnums = 0) -> Along[P, Any]: ...
@overload
def hessian(f: None = None, argnums: Argnums = 0) -> DenseDecorator: ...
@door
def hessian(f: Callable[..., Any] | None = None, argnums: Argnums = 0) -> Any:
    """The Hessian of a function that returns one real number: shape ``(*m, *m)`` for an argument of shape m.

    With a tuple of ``argnums`` it is a tuple of tuples: ``result[i][j]`` is the derivative with respect to arguments i
    and j, with the axes of i first.  Arguments must be real, because second derivatives with respect to complex
    arguments do not form a complex matrix.  For these use ``hvp``.
    """
    return _dense(Hessian, f, argnums)


# The vector stands behind f's parameters, which ``ParamSpec`` cannot say: up to four of them are written out.
@overload
def hvp(f: Callable[[X], R], argnums: Literal[0] = 0) -> Along[[X, X], X]: ...
@overload
def hvp(f: Callable[[X, T1], R], argnums: Literal[0] = 0) -> Along[[X, T1, X], X]: ...
@overload
def hvp(f: Callable[[X, T1, T2], R], argnums: Literal[0] = 0) -> Along[[X, T1, T2, X], X]: ...
@overload
def hvp(f: Callable[[X, T1, T2, T3], R], argnums: Literal[0] = 0) -> Along[[X, T1, T2, T3, X], X]: ...
@overload
def hvp(f: Callable[..., R], argnums: Argnums = 0) -> Along[..., Any]: ...
@overload
def hvp(f: None = None, argnums: Argnums = 0) -> DenseDecorator: ...
@door
def hvp(f: Callable[..., Any] | None = None, argnums: Argnums = 0) -> Any:
    """A function that takes f's arguments and then a vector v, and returns the product of the Hessian of f with v.

    v has the structure and shapes of the differentiated argument, and is a tuple of such if ``argnums`` is a tuple.
    The result is the directional derivative of the gradient along v.  Both may be complex.  The Hessian is not formed.
    """
    return _dense(HessianVector, f, argnums)


@door
def hessp(f: Callable[Concatenate[X, P], R]) -> Along[Concatenate[X, X, P], X]:
    """A function of f's first argument x, a vector p and f's other arguments; it returns the Hessian in x times p.

    It is ``hvp(f)`` with the arguments in the order in which ``scipy.optimize.minimize`` passes them to ``hessp=``:
    ``hessp(f)(x, p, *args)`` is ``hvp(f)(x, *args, p)``.
    """
    return HessianProduct(f, 0)


def _dense(kind: type[Dense], f: Callable[..., Any] | None, argnums: Argnums, holomorphic: bool = False) -> Any:
    if f is None:
        return lambda function: kind(function, argnums, holomorphic)
    return kind(f, argnums, holomorphic)


#: From so many outputs on, and so many times as many as inputs, ``jacobian`` says that ``jacfwd`` is cheaper.
_MANY, _MANY_TIMES = 50, 5


class Slope(Derivative):
    """The tangent program of a gradient program."""

    def __init__(self, gradient: Derivative) -> None:
        self.gradient = gradient
        super().__init__(gradient, gradient.wanted, mode="forward")

    @property
    def title(self) -> str:
        return f"Tangent of the {self.gradient.title[0].lower()}{self.gradient.title[1:]}"

    def along_all(self, values: tuple[Any, ...], directions: list[tuple[Any, ...]], sweeps: Sweeps) -> list[Any] | None:
        """``along`` each of many directions, in one sweep; None where there is no program for that."""
        if not all(map(is_plain, values)):
            return None
        self.verify(values)
        found = along_all(self, self.gradient, values, directions, sweeps)
        if found is None:
            return None
        whole = tuple(repeated(value, len(directions)) for value in values)
        return rows(self.gradient.fitted(found[1], whole, shared=True), len(directions))

    def along(self, values: tuple[Any, ...], directions: tuple[Any, ...]) -> Any:
        """The change of the gradient along ``directions``, one per differentiated argument."""
        gradient = self.gradient
        self.verify(values)
        compiled = self.program(values, "forward")
        dots = directions_of(gradient, values, directions)
        arguments = self.arguments(values)
        seeds = seeds_between(compiled.entry, arguments, dots)
        _, change = self.run(compiled.entry, *arguments, *seeds, *dots)
        return gradient.fitted(change, values, shared=True)


class Dense:
    __doc__ = Help("""What ``jacobian``, ``jacfwd``, ``hessian`` and ``hvp`` return; it runs ``self.program``.""")

    name = "derivative"
    title = "Derivative"
    transform: Callable[..., Any] = staticmethod(jacobian)
    mode = "reverse"

    def __init__(self, primal: Callable[..., Any], argnums: Argnums, holomorphic: bool = False) -> None:
        argnums = positions(argnums)
        self.primal = primal
        self.argnums = argnums
        self.holomorphic = holomorphic
        self._text: tuple[Signature, Any] | None = None
        self._called: Any = None
        self.derivative = Derivative(primal, argnums, mode=self.mode)
        self.program: Derivative = self.derivative
        self.sweeps = Sweeps()
        self.__wrapped__ = primal
        self.__name__ = f"{self.name}_{getattr(primal, '__name__', 'function')}"
        self.__qualname__ = self.derivative.__qualname__
        self.__module__ = self.derivative.__module__

    def __init_subclass__(cls) -> None:
        cls.__doc__ = Help(cls.__doc__ or "")  # type: ignore[assignment]

    def _help(self) -> str:
        of, doc = self.derivative, getattr(self.primal, "__doc__", None)
        return text(self.title, of._name, of.wanted, doc, self._called_with(of._name))

    def _called_with(self, name: str) -> str | None:
        """How it is called, where it takes more than the arguments of its function."""

    @property
    def __signature__(self) -> Signature:
        """The parameters that a caller passes."""
        return Parameters(self.bound).passed

    @property
    def bound(self) -> Signature:
        """How a call binds its arguments: as the function does."""
        parameters = self.derivative._follow().parameters
        return Signature(list(parameters.signature.parameters.values())[len(parameters.first) :])

    def __srcgrad_underivable__(self) -> tuple[str, str] | None:
        """Why this is not differentiated itself, and what to write instead; None if it is."""
        if not self.holomorphic:
            return None
        return f"{self.name}(f, holomorphic=True) is not differentiated", "write a function of real arguments"

    def __srcgrad_function__(self) -> Any:
        """A function with a text that does the same for any arguments."""
        if self._called is None:
            self._called = self._written(_ANY)
        return self._called

    def __srcgrad_text__(self) -> Any:
        """The same, with a parameter for each that is bound, of which a derivative may be taken."""
        bound = self.bound
        for name, _ in self.derivative.chosen:
            if name not in self.derivative.parameters.places(is_whole=True):
                raise ArgumentError(
                    f"{self!r} by {name}, which is passed by its name, is not differentiated itself",
                    hint="write a function with parameters that are passed by their places",
                )
        if self._text is None or self._text[0] != bound:
            self._text = bound, self._written(bound)
        return self._text[1]

    def _written(self, signature: Signature) -> Any:
        from srcgrad.frontend.applying import transforming  # with the compiler

        places = self.derivative.parameters.places(is_whole=signature is not _ANY)
        chosen = [places[name] + (at or 0) if name in places else name for name, at in self.derivative.chosen]
        argnums = tuple(chosen) if isinstance(self.argnums, tuple) else chosen[0]
        return transforming(self.transform, self.primal, repr(argnums), self, signature, Parameters(signature).behind)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    @property
    def source(self) -> str:
        """The generated source of the program that runs, as in ``grad(f).source``."""
        return self.program.source

    @property
    def line_map(self) -> Any:
        return self.program.line_map

    @property
    def generic_source(self) -> str:
        """The source that assumes nothing about the types of the arguments."""
        return self.program.generic_source

    @door
    def source_for(self, /, *args: Any, **kwargs: Any) -> str:
        """The source that runs for arguments like these, which are those of the function."""
        return self.program.source_for(*args, **kwargs)

    def explain(self, at: str = "normalize") -> str:
        return self.derivative.explain(at)

    @door
    def annotate(self, /, *args: Any, **kwargs: Any) -> Any:
        """The page of ``grad(f).annotate`` for the program that runs; with arguments, that of the first derivative."""
        return (self.derivative if args or kwargs else self.program).annotate(*args, **kwargs)

    def _repr_html_(self) -> str:
        return self.program._repr_html_()

    @door
    def save(self, path: str | os.PathLike[str]) -> None:
        """Not supported: raises ``ArgumentError``, since the generated source alone does not give the result."""
        raise ArgumentError(
            f"{self.name}(f) is not saved as a file: its program is run along one direction after another, or along one"
            " that has to be fitted, which is not in the text",
            hint="save grad(f); .source is the text of the program",
        )

    def __repr__(self) -> str:
        return f"<srcgrad {self.name} of {self.derivative.__module__}.{self.derivative.__qualname__}>"

    def __reduce__(self) -> Any:
        if imported(self.primal) is self:
            return import_object, (self.__module__, self.__qualname__)
        return type(self), (self.primal, self.argnums, self.holomorphic)

    @door
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        values = self.derivative.bind(args, kwargs)
        self.derivative.check(values)
        return self.at(values, selected(self.derivative, values))

    def at(self, values: tuple[Any, ...], inputs: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def by_argument(self, parts: tuple[Any, ...]) -> Any:
        return parts if isinstance(self.argnums, tuple) else parts[0]

    def require_one_number(self) -> None:
        """Refuse the derivative of a complex output by a complex argument, unless it is to be the complex one."""
        if not self.holomorphic:
            raise SeedError(
                "the derivative of a complex value by a complex argument is not one number",
                hint=HOLOMORPHIC_OR_VJP,
            )

    def from_columns(
        self,
        inputs: tuple[Any, ...],
        push: Callable[[tuple[Any, ...]], Any],
        push_all: Callable[[list[tuple[Any, ...]]], list[Any] | None],
    ) -> Any:
        """Run ``push`` along every unit direction of the inputs, ``push_all`` along all at once where it can, and
        arrange what comes out, input axes last."""

        def along(k: int, units: Sequence[Any] | np.ndarray) -> list[Any]:
            directions = [tuple(unit if j == k else _zero(a) for j, a in enumerate(inputs)) for unit in units]
            found = push_all(directions) if len(directions) > 1 else None
            return [push(direction) for direction in directions] if found is None else found

        columns = [along(k, _units(argument)) for k, argument in enumerate(inputs)]
        turned = [along(k, _units(argument, 1j)) for k, argument in enumerate(inputs)]
        first = next((tangents[0] for tangents in columns if tangents), None)
        sample = push(tuple(_zero(a) for a in inputs)) if first is None else first

        def block(output: Any, path: tuple[Any, ...]) -> Any:
            if not _has_block(output, path):
                return None
            return self.by_argument(
                tuple(
                    self._taken(argument, _all_at(path, one), _all_at(path, other), output)
                    for argument, one, other in zip(inputs, columns, turned, strict=True)
                )
            )

        return _map_leaves(sample, block)

    def _taken(self, argument: Any, tangents: Iterator[Any], turned: Iterator[Any], output: Any) -> Any:
        """Arrange tangents, one per element of the argument's leaves, with the leaf's axes last.

        ``turned`` are those along 1j, of complex leaves only.
        """

        def leaf(value: Any, path: tuple[Any, ...]) -> Any:
            if not is_floating(value):
                return None
            one = _columns(tangents, value, output)
            if not np.iscomplexobj(value):
                return one
            other = _columns(turned, value, output)
            if not np.iscomplexobj(output):
                return one - 1j * other
            self.require_one_number()
            require_holomorphic(one, other, None)
            return one

        return _map_leaves(argument, leaf)


class Jacobian(Dense):
    name = "jacobian"
    title = "Jacobian"
    mode = "split"
    _is_advised = False

    def at(self, values: tuple[Any, ...], inputs: tuple[Any, ...]) -> Any:
        pullback = Pullback(self.derivative, values, watched=False)
        self._advise(_count(pullback.value), _count(inputs))

        def block(output: Any, path: tuple[Any, ...]) -> Any:
            if not _has_block(output, path):
                return None
            found = self.pulled(pullback, values, path, _units(output))
            turned = self.pulled(pullback, values, path, _units(output, -1j)) if np.iscomplexobj(output) else found
            return self.by_argument(
                tuple(
                    self._arranged(argument, one, other, output)
                    for argument, one, other in zip(inputs, found, turned, strict=True)
                )
            )

        return _map_leaves(pullback.value, block)

    def pulled(
        self, pullback: Pullback, values: tuple[Any, ...], path: tuple[Any, ...], units: Sequence[Any] | np.ndarray
    ) -> tuple[Any, ...]:
        """The cotangents of the arguments for these seeds of one part of the output: along a first axis by one sweep,
        or as ``_Rows`` where there is no program for many."""
        seeds = [_placed(pullback.value, path, unit) for unit in units] if path else units
        if len(seeds) > 1 and all(map(is_plain, values)):
            derivative = self.derivative
            entry = derivative.program(values, "nested pulled").entry
            if path or derivative._inner is not None or not isinstance(pullback.value, np.ndarray):
                given = stacked([pullback.cotangent(seed) for seed in seeds])
            else:
                given = np.asarray(units)
            raw = self.sweeps.run(entry, before_seed(derivative, values, entry), (given,))
            if raw is not None:
                wanted = derivative.wanted
                named = zip(derivative.parameters.names, values, strict=True)
                whole = tuple(repeated(value, len(seeds)) if name in wanted else value for name, value in named)
                return pullback.as_tuple(derivative.fitted(raw, whole, shared=True))
        return tuple(_Rows(column) for column in zip(*(pullback.pulled(seed) for seed in seeds), strict=True)) or (
            (_Rows(),) * len(self.derivative.chosen)
        )

    def _advise(self, outputs: int, inputs: int) -> None:
        """Say once that forward mode takes fewer sweeps, where it takes far fewer."""
        if not self._is_advised and outputs >= _MANY and outputs >= _MANY_TIMES * inputs:
            self._is_advised = True
            told = f"jacobian goes backward for {outputs} outputs here; jacfwd goes forward for the inputs, {inputs}"
            warnings.warn(f"{told}, and gives the same", CheaperMode, stacklevel=5)

    def _arranged(self, argument: Any, found: Any, turned: Any, output: Any) -> Any:
        """Arrange cotangents of the argument, one per element of the output leaf, with the output's axes first.

        ``turned`` are those of the seeds -1j, which ask for imaginary parts; only a complex output has them.
        """

        def leaf(value: Any, path: tuple[Any, ...]) -> Any:
            if not is_floating(value):
                return None
            one = _rows(found, path, value, output)
            if not np.iscomplexobj(output):
                return one
            other = _rows(turned, path, value, output)
            if not np.iscomplexobj(value):
                return one + 1j * other
            self.require_one_number()
            require_holomorphic(one, -other, None)
            return one

        return _map_leaves(argument, leaf)


class ForwardJacobian(Dense):
    name = "jacfwd"
    title = "Jacobian"
    mode = "forward"

    def at(self, values: tuple[Any, ...], inputs: tuple[Any, ...]) -> Any:
        return self.from_columns(
            inputs,
            lambda directions: pushed(self.derivative, values, directions)[1],
            lambda directions: pushed_all(self.derivative, values, directions, self.sweeps),
        )


class Hessian(Dense):
    name = "hessian"
    title = "Hessian"
    transform: Callable[..., Any] = staticmethod(hessian)

    def __init__(self, primal: Callable[..., Any], argnums: Argnums, holomorphic: bool = False) -> None:
        super().__init__(primal, argnums, holomorphic)
        self.program = self.slope = Slope(self.derivative)

    def at(self, values: tuple[Any, ...], inputs: tuple[Any, ...]) -> Any:
        for (name, _), value in zip(self.derivative.chosen, inputs, strict=True):
            for leaf, place in leaves_of(value, name):
                if np.iscomplexobj(leaf):
                    raise ArgumentError(
                        f"argument {place} is complex: a second derivative by it is no complex matrix",
                        hint="use hvp, or make its real and its imaginary part two arguments",
                    )
        return self.from_columns(
            inputs,
            lambda directions: self.slope.along(values, directions),
            lambda directions: self.slope.along_all(values, directions, self.sweeps),
        )


class HessianVector(Hessian):
    name = "hvp"
    title = "Hessian times a vector"
    transform = staticmethod(hvp)

    def _called_with(self, name: str) -> str:
        return f"Takes the arguments of {name}, and then the vector: {self.__signature__}."

    @property
    def bound(self) -> Signature:
        """As the function does, and the vector behind what is passed by its place."""
        bound = list(super().bound.parameters.values())
        if any(p.kind is p.VAR_POSITIONAL for p in bound):
            return Signature(bound)  # the vector is the last of them
        taken = {p.name for p in bound}
        name = next(name for name in ("v" + "_" * count for count in itertools.count()) if name not in taken)
        place = len(bound) - (bound[-1].kind is Parameter.VAR_KEYWORD)
        return Signature([*bound[:place], Behind(name, Parameter.KEYWORD_ONLY), *bound[place:]])

    @door
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if not args:
            raise ArgumentError("hvp needs the function's arguments and then the vector")
        *positional, v = args
        try:
            values = self.derivative.bind(tuple(positional), kwargs)
        except ArgumentError as error:
            name = self.derivative._name
            error.hint = f"hvp({name}) is called with what {name} takes, and then the vector; {error.hint}"
            raise
        self.derivative.check(values)
        if isinstance(self.argnums, tuple) and not isinstance(v, tuple | list):
            raise ArgumentError(
                f"a tuple of argnums needs a tuple of vectors, not {described(v)}",
                hint="of one argument: hvp(f, (0,))(x, (v,))",
            )
        directions = tuple(v) if isinstance(self.argnums, tuple) else (v,)
        inputs = selected(self.derivative, values)
        if len(directions) != len(inputs):
            raise ArgumentError(f"{len(inputs)} differentiated arguments need as many vectors, not {len(directions)}")
        named = zip(self.derivative.chosen, inputs, directions, strict=True)
        return self.slope.along(values, tuple(directed(v, value, f"argument {name}") for (name, _), value, v in named))


class HessianProduct(HessianVector):
    name = "hessp"

    def _called_with(self, name: str) -> str:
        return f"Takes the first argument of {name}, the vector p, and its other arguments: {self.__signature__}."

    @property
    def __signature__(self) -> Signature:
        """The parameters that a caller passes."""
        every = list(Dense.bound.fget(self).parameters.values())  # type: ignore[attr-defined]
        taken = {p.name for p in every}
        name = next(name for name in ("p" + "_" * count for count in itertools.count()) if name not in taken)
        kind = Parameter.POSITIONAL_ONLY if every[0].kind is not Parameter.POSITIONAL_OR_KEYWORD else every[0].kind
        first = [] if every[0].kind is Parameter.VAR_POSITIONAL else [every.pop(0).replace(default=Parameter.empty)]
        return Signature([*first, Parameter(name, kind), *every])

    def __srcgrad_underivable__(self) -> tuple[str, str] | None:
        return "hessp(f) is not differentiated itself", "differentiate hvp(f), which takes the vector last"

    @door
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if len(args) < 2:
            reason = f"hessp({self.derivative._name}) needs x and the vector p, by their places"
            raise ArgumentError(reason, hint="the function's other arguments follow them")
        x, p, *others = args
        return super().__call__(x, *others, p, **kwargs)


# --- nested tuples, lists and dicts, leaf by leaf ---------------------------------------------------------------------
def _count(value: Any) -> int:
    """How many floating-point numbers a value holds."""
    return sum(np.size(leaf) for leaf, _ in leaves_of(value, "") if is_floating(leaf))


def _items(value: Any) -> list[tuple[Any, Any]] | None:
    """What a container or an object holds, each under its key, place or field; None of anything else."""
    if isinstance(value, tuple | list | deque):
        return list(enumerate(value))
    if isinstance(value, dict):
        return list(value.items())
    return list(fields_of(value).items()) if is_object(value) else None


def _map_leaves(value: Any, make: Callable[[Any, tuple[Any, ...]], Any], path: tuple[Any, ...] = ()) -> Any:
    """``make`` of every leaf, in the structure in which a gradient by ``value`` is handed out."""
    items = _items(value)
    if items is None:
        return None if value is None else make(value, path)
    parts = {key: _map_leaves(item, make, (*path, key)) for key, item in items}
    return mirrored(value, parts) if is_object(value) else _in_kind(value, parts)


def _in_kind(value: Any, parts: dict[Any, Any]) -> Any:
    """Parts as a tuple, deque, list or dict, whatever the value is; those of an object's fields as a dict."""
    if isinstance(value, deque):
        return deque(parts.values(), value.maxlen)
    if isinstance(value, tuple):
        return type(value)(*parts.values()) if hasattr(value, "_fields") else tuple(parts.values())
    return list(parts.values()) if isinstance(value, list) else parts


def _has_block(output: Any, path: tuple[Any, ...]) -> bool:
    """Whether there is a derivative of this part of the output: an integer has one, zero, where it is the whole."""
    return is_floating(output) or not path and is_integer(output)


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = fields_of(value)[key] if is_object(value) else value[key]
    return value


def _all_at(path: tuple[Any, ...], values: list[Any]) -> Iterator[Any]:
    return (_at(value, path) for value in values)


def _zero(value: Any) -> Any:
    return filled(as_cotangent(zeros_like(value), value), value)


def _placed(value: Any, path: tuple[Any, ...], unit: Any) -> Any:
    """A zero in the structure of ``value`` with ``unit`` at ``path``; of objects dicts, as programs take them."""
    if not path:
        return unit
    items = _items(value) or []
    return _in_kind(value, {k: _placed(item, path[1:], unit) if k == path[0] else _zero(item) for k, item in items})


def _units(value: Any, factor: complex = 1.0) -> list[Any] | np.ndarray:
    """Unit directions (``factor`` times those of complex elements), one per element, in the structure of ``value``;
    of an array along a first axis."""
    items = _items(value)
    if items is not None:
        return [_placed(value, (key,), unit) for key, item in items for unit in _units(item, factor)]
    if not (np.iscomplexobj(value) if isinstance(factor, complex) else is_floating(value)):
        return []
    dtype = value.dtype if is_floating(value) and hasattr(value, "dtype") else np.result_type(value, 0.0)
    if isinstance(value, np.ndarray):
        units = np.zeros((value.size, value.size), dtype)
        np.fill_diagonal(units, factor)
        return units.reshape(value.size, *value.shape)
    kind = type(value) if type(value) in (float, complex) else dtype.type  # in whose arithmetic programs run
    return [kind(factor)]


def _columns(tangents: Iterator[Any], value: Any, output: Any) -> Any:
    """The next tangents, one for each element of ``value``, whose axes come last."""
    group = [np.asarray(next(tangents)) for _ in range(np.size(value))]
    shape, dtype = (*np.shape(output), *np.shape(value)), _dtype_of_entries(value, output)
    return np.stack(group, axis=-1).reshape(shape).astype(dtype, copy=False) if group else np.zeros(shape, dtype)


def _dtype_of_entries(value: Any, output: Any) -> Any:
    """The dtype of tangents of ``output`` along ``value``: the precision is the argument's, as in a gradient."""
    dtype = np.asarray(value).dtype
    real = np.zeros(0, dtype).real.dtype
    return np.result_type(real, np.complex64) if np.iscomplexobj(output) else real


class _Rows(tuple[Any, ...]):
    """Cotangents of an argument, one for each seed."""


def _rows(found: Any, path: tuple[Any, ...], value: Any, output: Any) -> Any:
    """The cotangents of ``value``, found at ``path``, whose first axis is made those of the output."""
    if isinstance(found, _Rows):
        group = [np.asarray(_at(row, path)) for row in found]
        shape = (*np.shape(output), *np.shape(value))
        return np.stack(group).reshape(shape) if group else np.zeros(shape, np.asarray(value).dtype)
    return np.asarray(_at(found, path)).reshape((*np.shape(output), *np.shape(value)))


#: The parameters of a function that is given anything.
_ANY = Signature([Parameter("args", Parameter.VAR_POSITIONAL), Parameter("keywords", Parameter.VAR_KEYWORD)])

jacobian.__srcgrad_transform__ = "jacobian"  # type: ignore[attr-defined]
jacfwd.__srcgrad_transform__ = "jacobian"  # type: ignore[attr-defined]
hessian.__srcgrad_transform__ = "hessian"  # type: ignore[attr-defined]
hvp.__srcgrad_transform__ = "hvp"  # type: ignore[attr-defined]
