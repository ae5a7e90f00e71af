"""What programs do every day around the numbers: parameters that are left out, flags, texts, decorators, wrappers."""

import collections
import functools
from typing import NamedTuple

import numpy as np

from tests.directed.program import directed

X = np.array([0.3, 1.1, -0.7, 0.9])


def weighted(x, w=None, power=2.0):
    if w is None:
        w = np.ones_like(x)
    return np.sum(w * x**power)


@directed(X)
def parameters_that_are_left_out(x):
    """The exponent does not vary: no derivative asks for the logarithm of what is negative."""
    return weighted(x) + weighted(x, x) + weighted(x, power=3)


class Dropout:
    def __init__(self, share, seed):
        self.share, self.state = share, np.random.RandomState(seed)

    def __call__(self, x):
        return x * (self.state.rand(*x.shape) > self.share)


@directed(X)
def draws_of_a_state(x):
    state, drop = np.random.RandomState(0), Dropout(0.3, 1)
    noise = state.randn(4) * x + state.normal(0.0, 0.1, x.shape)
    return np.sum(drop(drop(x) ** 2)) + np.sum(noise**2) + x[state.randint(0, 4)] * state.uniform()


@directed(X)
def a_module_that_may_be_missing(x):
    try:
        import module_that_nobody_has as backend
    except ImportError:
        backend = np
    return backend.sum(backend.sin(x) * x)


@directed(X)
def a_flag_of_an_optional_import(x):
    try:
        from module_that_nobody_has.inner import scaled

        is_there = True
    except ModuleNotFoundError:
        is_there = False
    if is_there:
        return scaled(x)
    return np.sum(x**2)


def doubled(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs) * 2.0

    return inner


@doubled
def powers(x, power=2, *, shift=0.0):
    return np.sum((x + shift) ** power)


def called_with(function, *args, **kwargs):
    return function(*args, **kwargs)


def with_options(x, **options):
    scale = options.get("scale", 1.0)
    power = options.get("power", None)
    if power is None:
        power = 2.0
    return np.sum(scale * x**power)


@directed(X, analytic=False)
def keywords_through_wrappers(x):
    chosen = {"shift": 1.0, "power": 2} | {"power": 3}
    s = powers(x, **chosen) + powers(x, power=3, shift=x[0])
    return s + called_with(np.mean, x**2) + called_with(np.linalg.norm, x, ord=3) + with_options(x, scale=x[1])


class Totals:
    def __init__(self):
        self.seen = []

    @doubled
    def total(self):
        return sum(self.seen)

    def push(self, v):
        self.seen.append(v)


@directed(X)
def decorated_methods(x):
    totals = Totals()
    for v in x:
        totals.push(v * v)
    return totals.total() ** 2


SHAPES = {}


def registered(kind):
    SHAPES[kind.__name__] = kind
    return kind


@registered
class Scaled:
    def __init__(self, a):
        self.a = a

    def at(self, x):
        return np.sum(x * self.a)


@registered
class Squared(Scaled):
    def at(self, x):
        return super().at(x) ** 2


class Moments:
    def __init__(self, x):
        self.x = x
        self.both = (self.square(), self.cube())

    def square(self):
        return self.x**2

    def cube(self):
        return self.x**3


@directed(X)
def classes_by_their_names(x):
    square, cube = Moments(x).both
    return SHAPES["Squared"](x[0]).at(x) + SHAPES["Scaled"](x[1]).at(x) + np.sum(square * cube)


@directed(X)
def states_that_are_functions(x):
    out = []

    def start(v):
        out.append(v)
        return low if v < 0.5 else high

    def low(v):
        out.append(v * v)
        return high

    def high(v):
        out.append(np.sin(v))
        return start

    state = start
    for v in x:
        state = state(v)
    return sum(out) * out[1]


@directed(np.array([0.4, 1.3, 0.8]), order=1)
def a_counter_of_keywords(x):
    counts = collections.Counter(a=2, b=1)
    counts["a"] += 1
    return counts["a"] * x[0] * x[1] + sum(counts.values()) * x[2]


class Adam:
    """An optimizer that makes a place for the moments of a parameter when it first meets its name."""

    def __init__(self, rate):
        self.rate, self.moments = rate, {}

    def step(self, name, w, gradient):
        mean, square, count = self.moments.get(name, (0.0, 0.0, 0))
        count += 1
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        self.moments[name] = (mean, square, count)
        return w - self.rate * mean / (1.0 - 0.9**count) / (np.sqrt(square / (1.0 - 0.99**count)) + 1e-8)


@directed(0.7)
def steps_of_an_optimizer(rate):
    """No step is given what all others are given, so that one text has to do for the first and for the rest."""
    optimizer, w = Adam(rate), np.array([1.0, -2.0])
    for _ in range(4):
        w = optimizer.step("w", w, 2.0 * w)
    return np.sum(w**2)


class Path(NamedTuple):
    position: np.ndarray
    time: float = 0.0

    @property
    def energy(self):
        return 0.5 * np.sum(self.position**2)

    def moved(self, by):
        return self._replace(position=self.position + by, time=self.time + 0.1)


@directed(X)
def a_property_of_tuples_of_two_places(x):
    path = Path(x * 2.0)
    for _ in range(3):
        path = path.moved(x * path.time)
    return path.energy + path.time
