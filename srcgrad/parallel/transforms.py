"""``value_and_grad``, ``grad``, ``jvp``, ``hvp`` and ``map`` over shards.

Enters: a user's function of parameters and a shard.  Leaves: a callable that takes parameters and shards, whose result
is that of all shards, to the last bit the same on every executor.
"""

from __future__ import annotations

import builtins
import operator
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.api.arguments import Argnums, positions
from srcgrad.api.dense import HessianVector
from srcgrad.api.derivative import Derivative
from srcgrad.api.transforms import directed, directions_of
from srcgrad.errors import ArgumentError
from srcgrad.parallel.dask_shards import source_on_dask
from srcgrad.parallel.executors import is_client, lane_of
from srcgrad.parallel.layout import snapshot
from srcgrad.parallel.reporting import progress, reporting
from srcgrad.parallel.request import EMPTY, Compiles, Request, bound
from srcgrad.parallel.scheduling import Limits, Run
from srcgrad.parallel.shards import Chunks, Source, is_held, is_stored, located, source_of, weights_of
from srcgrad.parallel.step import Step
from srcgrad.parallel.structure import added, over
from srcgrad.parallel.tree import Block

if TYPE_CHECKING:
    from srcgrad.programs import Compiled

Reduce = str | Callable[[Any, Any], Any]
Weights = Iterable[float] | Callable[[Any], float]


@dataclass(frozen=True)
class Choices:
    """How a call runs: what ``value_and_grad`` and the others are given besides the function and ``argnums``."""

    executor: Any = None
    reduce: Reduce = "sum"
    weights: Weights | None = None
    chunks: Chunks | None = None
    in_flight: int | None = None
    timeout: float | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        if not callable(self.reduce) and self.reduce not in ("sum", "mean"):
            raise ArgumentError(f"reduce is 'sum', 'mean' or a function of two results, not {self.reduce!r}")
        if self.in_flight is not None and not isinstance(self.in_flight, int | np.integer):
            raise ArgumentError(f"in_flight is {self.in_flight!r}: a number of shards is expected")
        if self.in_flight is not None and self.in_flight < 1:
            raise ArgumentError(f"in_flight is {self.in_flight}: at least one shard is in flight")
        if self.timeout is not None and not isinstance(self.timeout, int | float | np.number):
            raise ArgumentError(f"timeout is {self.timeout!r}: seconds are expected")
        if self.timeout is not None and not self.timeout > 0.0:
            raise ArgumentError(f"timeout is {self.timeout}: a time limit is more than 0 seconds")

    @property
    def limit(self) -> float | None:
        """The time limit, None where it lies beyond what clocks count to."""
        return None if self.timeout is None or self.timeout > threading.TIMEOUT_MAX else self.timeout

    @property
    def combine(self) -> Callable[[Any, Any], Any]:
        return _OfCopies(self.reduce) if callable(self.reduce) else added

    def reduced(self, whole: Block) -> Any:
        """What is handed out of the combined result of all shards."""
        if self.reduce != "mean":
            return whole.result
        if whole.weight == 0.0:
            raise ArgumentError("the weights add up to 0: there is no mean")
        return over(whole.result, whole.weight)


@dataclass(frozen=True)
class _OfCopies:
    """A reduction of the user's, which may change what it is given: results are needed again, where a worker dies."""

    reduce: Callable[[Any, Any], Any]

    def __call__(self, left: Any, right: Any) -> Any:
        copies = snapshot()
        return self.reduce(copies(left), copies(right))


def value_and_grad(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    executor: Any = None,
    reduce: Reduce = "sum",
    weights: Weights | None = None,
    chunks: Chunks | None = None,
    in_flight: int | None = None,
    timeout: float | None = None,
    progress: bool = False,
) -> Sharded:
    """The value and the gradient of a loss that is a sum over shards.

    ``g = value_and_grad(f)`` is called as ``g(params, shards, *same_for_all)`` and returns ``(value, gradient)``, where
    ``f(params, shard, *same_for_all)`` is the loss of one shard, one real number.  ``argnums`` names any arguments of f
    but the shard; the gradient has their structure, shapes and dtypes, as of ``srcgrad.value_and_grad``.

    ``shards``: a list; an iterator, of which a bounded number is in flight; with ``chunks`` (rows of a shard, or a list
    of them) an array, or arrays of equally many rows in a tuple, list or dict; with a Dask client its arrays, bags and
    delayed values.  A shard that is a path (``.npy``, ``.npz``) or a callable is loaded where it runs.

    ``executor``: None for threads; an executor of ``concurrent.futures``, ``loky`` or ``mpi4py.futures``; a ``Client``
    of ``dask.distributed``.  It stays the caller's to shut down.

    ``reduce``: ``"sum"``; ``"mean"``, the sum divided by the number of shards, or by the sum of the weights; or a
    function of two results, as this returns them, that is associative and makes one.  ``weights``: a number for each
    shard, or a function of the shard that runs where it is; results are multiplied by it before they are reduced.

    Results are combined in one pairwise tree over the shards' order, so that the same bits come out for any number of
    workers, any executor and any order of arrival, given one NumPy, BLAS and kind of CPU; workers compute with one BLAS
    thread.  A worker that dies is replaced once in a call, and only what it had not finished runs again.

    ``in_flight``: how many shards are submitted and not done at most.  ``timeout``: seconds that one shard may take.
    ``progress``: show a bar.

    Raises ``ShardError``, with the shard and the user's line, where a shard raises; ``ShardTimeout``; ``SendingError``
    where something cannot be pickled; ``WorkerLost``; ``ArgumentError`` as ``srcgrad.grad`` does, and where there are
    no shards; ``LanguageError`` and ``MissingRule`` where f cannot be differentiated.
    """
    choices = Choices(executor, reduce, weights, chunks, in_flight, timeout, progress)
    return Sharded("value_and_grad", Reverse(Derivative(f, argnums, mode="value")), choices)


def grad(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    executor: Any = None,
    reduce: Reduce = "sum",
    weights: Weights | None = None,
    chunks: Chunks | None = None,
    in_flight: int | None = None,
    timeout: float | None = None,
    progress: bool = False,
) -> Sharded:
    """The gradient alone; see ``value_and_grad``."""
    choices = Choices(executor, reduce, weights, chunks, in_flight, timeout, progress)
    return Sharded("grad", Reverse(Derivative(f, argnums, mode="reverse")), choices)


def jvp(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    executor: Any = None,
    reduce: Reduce = "sum",
    weights: Weights | None = None,
    chunks: Chunks | None = None,
    in_flight: int | None = None,
    timeout: float | None = None,
    progress: bool = False,
) -> Sharded:
    """The value of a sum over shards and its derivative along a direction.

    Called as ``jvp(f)(params, shards, *same_for_all, v)``, it returns ``(value, tangent)``.  ``v`` has the structure
    and shapes of the argument; it is a tuple of such if ``argnums`` is a tuple.  f may return arrays, and containers of
    them, of one shape for all shards.  See ``value_and_grad``.
    """
    if isinstance(f, Derivative):
        raise ArgumentError(
            "jvp over shards takes a plain function, not a derivative", hint="call the derivative inside of a function"
        )
    choices = Choices(executor, reduce, weights, chunks, in_flight, timeout, progress)
    return Sharded("jvp", Tangent(Derivative(f, argnums, mode="forward")), choices)


def hvp(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    executor: Any = None,
    reduce: Reduce = "sum",
    weights: Weights | None = None,
    chunks: Chunks | None = None,
    in_flight: int | None = None,
    timeout: float | None = None,
    progress: bool = False,
) -> Sharded:
    """The Hessian of a sum over shards, applied to a vector: ``hvp(f)(params, shards, *same_for_all, v)``.

    ``v`` has the structure and shapes of the argument, and so has the result; tuples of such if ``argnums`` is a tuple.
    See ``value_and_grad``.
    """
    choices = Choices(executor, reduce, weights, chunks, in_flight, timeout, progress)
    return Sharded("hvp", Curvature(HessianVector(f, positions(argnums))), choices)


def map(
    f: Callable[[Any], Any],
    items: Any,
    *,
    executor: Any = None,
    in_flight: int | None = None,
    timeout: float | None = None,
    progress: bool = False,
) -> list[Any]:
    """``[f(item) for item in items]`` over workers: a list in the order of the items.

    ``executor``, ``in_flight``, ``timeout`` and ``progress`` as of ``value_and_grad``.  Items are passed as they are,
    paths and callables too; what an iterator makes is copied.  A gradient, ``srcgrad.grad(f)`` or
    ``srcgrad.value_and_grad(f)`` of a function of one, is compiled here and sent as text; others are pickled.
    """
    if not callable(f):
        raise ArgumentError(f"map takes a function, not a {type(f).__name__}")
    choices = Choices(executor, operator.add, in_flight=in_flight, timeout=timeout, progress=progress)
    compiles: Compiles | None = None
    base = Step((None,), (0, None), (), operator.add, function=f)
    if isinstance(f, Derivative) and f.__srcgrad_derived__() is not None and len(f.bind((EMPTY,), {})) == 1:
        compiles, base = Reverse(f), replace(base, function=None)
    base = replace(base, listed=True, loads=False)
    whole = _run(Request(compiles, replace(base, timeout=choices.limit)), items, choices, f"map {_name(f)}")
    return [] if whole is None else whole.result


def _name(f: object) -> str:
    return str(getattr(f, "__name__", type(f).__name__))


# --- which derivative ------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Reverse:
    """Gradients, with the value or without."""

    derivative: Derivative

    def prepared(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Step:
        return bound(self.derivative, args, kwargs)

    def compiled(self, values: tuple[Any, ...]) -> tuple[str, Compiled]:
        derivative = self.derivative
        compiled = derivative.program(values)
        if not compiled.scalar_result:
            compiled = derivative.program(values, "split")
        return derivative.mode, compiled


@dataclass(frozen=True)
class Tangent:
    """Derivatives along a direction."""

    derivative: Derivative

    def prepared(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Step:
        return _along(self.derivative, args, kwargs)

    def compiled(self, values: tuple[Any, ...]) -> tuple[str, Compiled]:
        return "forward", self.derivative.program(values, "forward")


@dataclass(frozen=True)
class Curvature:
    """Tangents of gradients."""

    whole: HessianVector

    @property
    def derivative(self) -> Derivative:
        return self.whole.derivative

    def prepared(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Step:
        return _along(self.derivative, args, kwargs)

    def compiled(self, values: tuple[Any, ...]) -> tuple[str, Compiled]:
        return "slope", self.whole.slope.program(values, "forward")


def _along(derivative: Derivative, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Step:
    """A step whose last argument is the direction."""
    *positional, v = args
    if v is EMPTY:
        raise ArgumentError("the parameters, the shards and then the vector are expected")
    step = bound(derivative, tuple(positional), kwargs)
    names = derivative.parameters.names
    if step.place[1] is not None and any(names.index(name) == step.place[0] for name, _ in derivative.chosen):
        raise ArgumentError(
            f"the shard stands in *{names[step.place[0]]}, beside an argument that is differentiated along a vector",
            hint="give the shard a parameter of its own",
        )
    directions = tuple(v) if isinstance(derivative.argnums, tuple) else (v,)
    if len(directions) != len(derivative.chosen):
        raise ArgumentError(
            f"{len(derivative.chosen)} differentiated arguments need as many vectors, not {len(directions)}"
        )
    whole: list[Any] = []
    for (name, inner), direction in zip(derivative.chosen, directions, strict=True):
        value = step.values[derivative.parameters.names.index(name)]
        whole.append(directed(direction, value if inner is None else value[inner], f"argument {name}"))
    return replace(step, dots=tuple(directions_of(derivative, step.values, tuple(whole))))


# --- the callable ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Sharded:
    """A derivative of a sum over shards; see ``value_and_grad``."""

    name: str
    kind: Reverse | Tangent | Curvature
    choices: Choices

    def __call__(self, params: Any, shards: Any, /, *same_for_all: Any, **named: Any) -> Any:
        step = self.kind.prepared((params, EMPTY, *same_for_all), named)
        choices = self.choices
        weigh = choices.weights if callable(choices.weights) else None
        request = Request(self.kind, replace(step, combine=choices.combine, weigh=weigh, timeout=choices.limit))
        whole = _run(request, shards, choices, f"{self.name} {_name(self.kind.derivative.primal)}")
        if whole is None:
            raise ArgumentError("there are no shards: a sum of nothing has no value", hint="give at least one shard")
        return choices.reduced(whole)

    @property
    def source(self) -> str:
        """The text of the program of one shard, assuming nothing about its arguments."""
        if isinstance(self.kind, Curvature):
            return self.kind.whole.source
        return self.kind.derivative.source

    def __repr__(self) -> str:
        derivative = self.kind.derivative
        return f"<srcgrad.parallel {self.name} of {derivative.__module__}.{derivative.__qualname__}>"


def _run(request: Request, shards: Any, choices: Choices, what: str) -> Block | None:
    """The combined result of all shards, on the executor that was chosen; None where there are none."""
    limits = Limits(choices.in_flight, choices.limit)
    with reporting() as report:
        try:
            if is_client(choices.executor):
                from srcgrad.parallel.on_dask import DaskRun

                source = _supplied(request, source_on_dask(shards, choices.chunks, request.base.loads), choices)
                with progress(choices.progress, source.count, what) as advance:
                    name = what.replace(" ", "_")
                    return DaskRun(choices.executor, request, source, limits, report, advance, name).root()
            if is_held(shards):
                raise ArgumentError("shards are Dask's: only a Client of Dask can run them", hint="executor=client")
            source = _supplied(request, source_of(shards, choices.chunks, request.base.loads), choices)
            with (
                progress(choices.progress, source.count, what) as advance,
                lane_of(choices.executor, request, report) as lane,
            ):
                return Run(request, lane, source, limits, report, advance).root()
        finally:
            report.compiled = request.version
            if isinstance(choices.weights, Generator):
                choices.weights.close()


def _supplied(request: Request, source: Source, choices: Choices) -> Source:
    """The shards with their weights; what pulling them may change is kept as it is."""
    source.weights = weights_of(choices.weights)
    if source.runs or source.weights is not None and not is_stored(choices.weights):
        request.freeze()
    if request.base.loads:
        source.items = builtins.map(located, source.items)
    return source
