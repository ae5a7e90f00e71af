"""Random tensors, drawn from the generator that ``manual_seed`` seeds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import dtypes, generators
from srcgrad.eager.generators import Generator, default_generator
from srcgrad.eager.modes import state
from srcgrad.eager.operations.creation import leaf, on_cpu
from srcgrad.eager.operations.filling import checked_shape
from srcgrad.eager.registry import function, method
from srcgrad.eager.tensor import Tensor
from srcgrad.eager.views import write

Draw = Callable[[Generator, int, Any], Any]


@function("manual_seed")
def manual_seed(seed: Any) -> Generator:
    """Start the generator again from a number."""
    return default_generator.manual_seed(int(seed))


@function("seed")
def seed() -> int:
    """Start the generator from a number that nobody knows beforehand."""
    return default_generator.seed()


@function("initial_seed")
def initial_seed() -> int:
    """The number that the generator was started from."""
    return default_generator.initial_seed()


@function("get_rng_state")
def get_rng_state() -> Tensor:
    """The state of the generator."""
    made: Tensor = default_generator.get_state()
    return made


@function("set_rng_state")
def set_rng_state(new_state: Tensor) -> None:
    """Put the generator into a state."""
    default_generator.set_state(new_state)


def _array(draw: Draw, shape: tuple[int, ...], d: Any, generator: Generator | None) -> Any:
    def of(wanted: tuple[int, ...]) -> Any:
        return np.asarray(draw(generator or default_generator, math.prod(wanted), d)).astype(d).reshape(wanted)

    if state.transform_level:
        return generators.drawn(of, shape)
    return of(shape)


def _drawing(name: str, draw: Draw, kernel: str) -> None:
    def floating(d: dtypes.dtype) -> Any:
        if d.category == 3:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{d.long_name}'")
        if d.category < 2:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{d.long_name}'")
        return d.numpy

    def f(
        *args: Any,
        size: Any = None,
        generator: Generator | None = None,
        out: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Tensor:
        on_cpu(device)
        shape = checked_shape(name, args if size is None else (tuple(size),))
        return leaf(_array(draw, shape, floating(dtype or dtypes.get_default_dtype()), generator), requires_grad)

    def like(
        input: Tensor,
        *,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        on_cpu(device)
        return leaf(_array(draw, input.array.shape, floating(dtype or input.dtype), None), requires_grad)

    f.__name__ = f.__qualname__ = name
    like.__name__ = like.__qualname__ = f"{name}_like"
    f.__doc__ = f"Random numbers ({name})."
    like.__doc__ = f"Random numbers in the shape of another tensor ({name})."
    function(name)(f)
    function(f"{name}_like")(like)


_drawing("rand", generators.uniform, "check_uniform_bounds")
_drawing("randn", generators.normal, "normal_kernel_cpu")


@function("randint")
def randint(
    *args: Any, low: int = 0, high: int | None = None, size: Any = None, generator: Generator | None = None,
    out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Random whole numbers from ``low`` on, below ``high``."""
    on_cpu(device)
    given = list(args)
    if size is None:
        size = given.pop()
    if len(given) == 2:
        low, high = given
    elif len(given) == 1:
        high = given[0]
    assert high is not None
    return leaf(_whole(int(low), int(high), tuple(size), dtype or dtypes.int64, generator), requires_grad)


def _whole(low: int, high: int, shape: tuple[int, ...], d: dtypes.dtype, generator: Generator | None) -> Any:
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    shape = checked_shape("randint", (shape,))
    drawn = generators.integers(generator or default_generator, low, high, math.prod(shape))
    return drawn.astype(d.numpy).reshape(shape)


@function("randint_like")
def randint_like(input: Tensor, *bounds: int, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Random whole numbers in the shape and dtype of another tensor."""
    low, high = (0, bounds[0]) if len(bounds) == 1 else bounds
    return leaf(_whole(low, high, input.array.shape, dtype or input.dtype, None), requires_grad)


@function("randperm")
def randperm(
    n: int, *, generator: Generator | None = None, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The numbers below ``n`` in random order."""
    on_cpu(device)
    checked_shape("randperm", (n,))
    made = generators.permutation(generator or default_generator, n)
    return leaf(made.astype((dtype or dtypes.int64).numpy), requires_grad)


@function("normal")
def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None, out: Any = None,
    dtype: Any = None, device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Normal numbers of a mean and a standard deviation."""
    on_cpu(device)
    given = [value for value in (mean, std) if isinstance(value, Tensor)]
    if not isinstance(std, Tensor) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if isinstance(std, Tensor) and np.any(std.array < 0):
        raise RuntimeError("normal expects all elements of std >= 0.0")
    d = dtype.numpy if dtype else given[0].array.dtype if given else dtypes.get_default_dtype().numpy
    shape = tuple(size) if size is not None else np.broadcast_shapes(*(t.array.shape for t in given))
    spread = std.array if isinstance(std, Tensor) else std
    centre = mean.array if isinstance(mean, Tensor) else mean
    drawn = np.asarray(generators.normal(generator or default_generator, math.prod(shape), d)).reshape(shape)
    made = leaf((drawn * spread + centre).astype(d), requires_grad)
    if not given:
        return made
    number = 3 if len(given) == 2 else 1 if isinstance(mean, Tensor) else 2
    return unmoved(f"NormalBackward{number}", made, *given)


def unmoved(name: str, made: Tensor, *inputs: Tensor, keeps: bool = True) -> Tensor:
    """A result of inputs whose gradients are zero."""
    from srcgrad.eager.composed import composed
    from srcgrad.eager.operations.picking import where

    def compute(*given: Tensor) -> Tensor:
        result = made
        for t in given:
            result = where(leaf(np.ones(made.array.shape, bool)), result, t)
        return result

    result: Tensor = composed(name, compute, *inputs, keeps=keeps, slots=("self", "other"))
    return result


@function("poisson")
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Counts of a Poisson distribution with the rates that the input holds."""
    seeds = generators.integers(generator or default_generator, 0, 2**31, 4)
    drawn = np.random.default_rng(np.asarray(seeds)).poisson(input.array)
    return forgetting(leaf(np.asarray(drawn, input.array.dtype)), input, "PoissonBackward0")


@function("bernoulli", method=True)
def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None, out: Any = None) -> Tensor:
    """Ones with the probabilities that the input holds, else zeros."""
    d = input.array.dtype
    if p is not None:
        return leaf(_array(lambda g, n, _: g.doubles(n) < p, input.array.shape, d, generator))
    chances = np.asarray(input.array)
    if chances.size and not (chances.min() >= 0 and chances.max() <= 1):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    drawn = np.asarray(generators.uniform(generator or default_generator, chances.size, d)).reshape(chances.shape)
    made = leaf((drawn < chances).astype(d))
    return forgetting(made, input, "BernoulliBackward0")


def forgetting(made: Tensor, input: Tensor, name: str) -> Tensor:
    """A result that the input has a part in, but no gradient reaches it."""
    from srcgrad.eager.modes import state
    from srcgrad.eager.views import forgetful

    if state.recording and input.requires_grad:
        made.node = forgetful(name, input)
    return made


@function("multinomial", method=True)
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Indices drawn with the weights that rows hold."""
    stream = generator or default_generator
    weights = np.atleast_2d(np.asarray(input.array, np.float64))
    if replacement:
        shares = np.cumsum(weights / weights.sum(1, keepdims=True), 1)
        drawn = stream.doubles(len(weights) * num_samples).reshape(len(weights), num_samples)
        picked = np.stack([np.searchsorted(row, u, "right") for row, u in zip(shares, drawn, strict=True)])
    else:
        waits = -np.log1p(-stream.doubles(weights.size)).reshape(weights.shape)
        with np.errstate(divide="ignore"):
            picked = np.argsort(-(weights / waits), 1, kind="stable")[:, :num_samples]
    return leaf(picked.astype(np.int64) if input.array.ndim > 1 else picked[0].astype(np.int64))


# --- in place --------------------------------------------------------------------------------------------------------
def _redrawn(self: Tensor, draw: Draw, name: str, generator: Generator | None) -> Tensor:
    def compute(old: Tensor) -> Tensor:
        return Tensor.of(_array(draw, old.array.shape, old.array.dtype, generator))

    return write(self, compute, name=name)


@method()
def uniform_(self: Tensor, a: float = 0, b: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Store random numbers between ``a`` and ``b``."""
    if a > b:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a:g} > to={b:g}")
    draw: Draw = lambda g, n, d: generators.uniform(g, n, d) * (b - a) + a
    return _redrawn(self, draw, "UniformBackward0", generator)


@method()
def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Store normal numbers."""
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    draw: Draw = lambda g, n, d: np.asarray(generators.normal(g, n, d)) * std + mean
    return _redrawn(self, draw, "NormalBackward0", generator)


@method()
def bernoulli_(self: Tensor, p: float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Store ones with a probability, else zeros."""
    return _redrawn(self, lambda g, n, d: g.doubles(n) < p, "BernoulliBackward2", generator)


@method()
def exponential_(self: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Store exponentially distributed numbers."""
    return _redrawn(self, lambda g, n, d: -np.log1p(-g.doubles(n)) / lambd, "ExponentialBackward0", generator)


@method()
def random_(self: Tensor, *bounds: int, generator: Generator | None = None) -> Tensor:
    """Store random whole numbers: those that are given bounds for, else all that the elements hold exactly."""
    if not bounds:
        return _redrawn(self, generators.all_whole, "RandomBackward0", generator)
    low, high = (0, bounds[0]) if len(bounds) == 1 else bounds
    return _redrawn(self, lambda g, n, d: generators.integers(g, low, high, n), "RandomBackward0", generator)
