"""Functions as values, calls of every form: right in both directions against numbers, or refused."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from srcgrad import UnsupportedSyntax, grad, hvp, jvp, options
from tests.directed import running
from tests.directed.program import Program
from tests.specialise.serving import check_refused, is_served, serving, written

X = np.array([0.7, 1.3, -0.4])


def late_binding(x):
    a = x[0]
    f = lambda v: v * a
    g = lambda v: v + a
    chosen = f if x[1] > 1.0 else g
    a = np.sin(x[1])
    return chosen(x[2]) * a


def defaults_of_each_iteration(x):
    kept, s = None, 0.0
    for k in range(3):
        def f(v, c=x[k]):
            return v * c
        if k == 0:
            kept = f
        s = s + kept(x[1]) + f(x[2])
    return s


def defaults_of_two_functions(x):
    c = x[0]
    f = lambda v, c=c: v * c
    c = x[1] * 3.0
    g = lambda v, c=c: v + c
    fs = [f, g]
    return fs[0](x[2]) * fs[1](x[2]) * c


def made_in_a_loop(x):
    def scaled(k):
        w = k * k
        return lambda v: v * w + k

    s = 0.0
    for k in range(3):
        m = scaled(x[k])
        s = s + m(x[0]) * m(s)
    return s


def kept_from_a_loop(x):
    def scaled(k):
        return lambda v: v * k

    fs = []
    for k in range(3):
        fs.append(scaled(x[k]))
    return fs[0](x[1]) + fs[2](x[0])


def two_of_one_factory(x):
    def scaled(k):
        def inner(v):
            nonlocal k
            k = k * 2.0
            return v * k
        return inner

    f, g = scaled(x[0]), scaled(x[1])
    return f(x[2]) + g(x[2]) * f(1.0) + g(1.0)


def one_or_the_other(x, n):
    def scaled(k):
        return lambda v: v * k

    f = scaled(x[0]) if n > 1 else scaled(x[1])
    return f(x[2])


def counter(x):
    n = x[0]

    def bump(by):
        nonlocal n
        n = n * by
        return n

    def twice(f, v):
        return f(v) + f(v)

    return twice(bump, x[1]) * n


def effects_in_order(x):
    out = []

    def note(v):
        out.append(v)
        return v * len(out)

    pick = note if x[0] > 0 else np.sin
    return pick(x[0]) * note(x[1]) + pick(x[2]) * out[0]


def stars_and_stores(x):
    y = x * 1.0
    pair = [y, 2.0]

    def change():
        pair[1] = 5.0
        y[0] = x[1]
        return 3.0

    def product(a, b, c, *rest, **named):
        s = a[0] * b * c
        for r in rest:
            s = s + r
        return s * named["k"]

    return product(*pair, change(), x[2], *[x[0], x[1]], k=x[0], **{"j": 1.0}) + pair[1]


def keywords_that_change(x):
    def inner(**k):
        k["a"] = x[1]
        return other(**k)

    def other(a, b):
        return a * b

    return inner(a=x[0], b=x[2])


def logged(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 2.0 * f(*args, **kwargs)

    return wrapper


def decorated_inside(x):
    @logged
    @logged
    def f(a, /, b=x[0], *, c):
        return a * b + c

    return f(x[1], c=x[2]) + f(x[0], x[2], c=1.0)


def recursive_with_captured(x):
    k = x[0]

    def down(v, n):
        if n == 0:
            return v
        for _ in range(2):
            if v > 10.0:
                return v * k
            v = v + down(v * k, n - 1)
        return v

    first = down(x[1], 2)
    k = x[2]
    return first * down(x[1], 1)


def recursion_that_binds(x):
    s = x[0]

    def down(n):
        nonlocal s
        if n > 0:
            s = s * x[1]
            down(n - 1)
        return s

    return down(3) * s


def compose(*fs):
    def run(v):
        for f in fs:
            v = f(v)
        return v

    return run


def composed(x):
    return compose(np.sin, lambda v: v * x[0], np.exp)(x[1])


def folded(x):
    return functools.reduce(lambda a, b: a * b + x[0], [x[0], x[1], x[2]])


def chosen_by_key(x, key):
    scale = x[0] * 2.0
    table = {"a": lambda v: v * scale, "b": np.sin, "c": lambda v: v + scale}
    scale = scale * x[1]
    return table[key](x[2])


def none_or_function(x, n):
    f = None if n > 1 else (lambda v: v * x[0])
    s = x[1]
    if f is not None:
        s = s * f(x[2])
    return s if f else s * 2.0


def returned_in_a_pair(x):
    def make(k):
        def up(v):
            return v * k
        return up, k * 2.0

    f, w = make(x[0])
    g, u = make(x[1])
    return f(w) * g(u)


def partials(x):
    def f(a, b, c=1.0):
        return a * b + c

    g = functools.partial(f, x[0], c=x[1])
    h = functools.partial(g, x[2])
    return g(x[2]) * h() + g(x[1], c=x[2])


def star_of_a_comprehension(x):
    def total(*items):
        return len(items) * items[0]

    return total(*[2.0 for v in x]) * x[0] + total(*[v * x[1] for v in x])


class Holding:
    def __init__(self, f):
        self.f = f

    def run(self, y):
        return self.f(y)


def partials_that_are_kept(x):
    by_name = {"a": functools.partial(scaled, x[0]), "b": functools.partial(scaled, u=x)}
    one = functools.partial(scaled, x[1]) if x[0] > 0.5 else functools.partial(scaled, x[2])
    kept = None
    for k in range(3):
        made = functools.partial(scaled, x[k])
        kept = made if k == 1 else kept

    def inside(y):
        return one(y) * kept(y)

    by_items = sum(f(x) for f in [functools.partial(scaled, a) for a in x])
    whole = 2.0 if isinstance(one, functools.partial) else 7.0
    return by_name["a"](x) * by_name["b"](x[2]) + inside(x) * Holding(made).run(x) * whole + by_items


def scaled(a, u):
    return np.sum(np.sin(a * u) * u[0])


def keywords_of_partials(x):
    f = functools.partial(functools.partial(lambda a, b, c: a * b + c**2, x[0]), c=x[2])
    whole = np.apply_along_axis(functools.partial(np.dot, x), 0, np.outer(x, x))
    return f(x[1]) * f(2.0, c=x[1]) * functools.partial(scaled, *[x[0]], **{"u": x})() + np.sum(whole)


class Weighted:
    def __init__(self, w):
        self.w = w


class Linear(Weighted):
    def go(self, v):
        return self.w @ v


class Squared(Weighted):
    def go(self, v):
        return np.sum(self.w**2) * v[0]


@dataclass
class Doubled:
    w: Any

    def __post_init__(self):
        self.w = self.w * 2.0

    def go(self, v):
        return np.sum(np.tanh(self.w) * v)


LAYERS = {"linear": Linear, "squared": Squared, "doubled": Doubled}
ACTIVATIONS = {"tanh": np.tanh, "square": lambda v: v * v}


def classes_by_their_names(x):
    """Two of them share their ``__init__``."""
    names = [("linear", "tanh"), ("squared", "square"), ("doubled", "tanh")]
    layers = [(LAYERS[a](x), ACTIVATIONS[b]) for a, b in names]
    total = sum(f(layer.go(x)) for layer, f in layers)
    for kind, k in ((Linear, 1.0), (Squared, 2.0)):
        total = total + kind(x * k).go(x)
    chosen = Linear if x[0] > 0.0 else (lambda w: Squared(w))
    return total * chosen(x).go(x)


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (late_binding, (X,)), (defaults_of_each_iteration, (X,)), (defaults_of_two_functions, (X,)),
    (made_in_a_loop, (X,)), (kept_from_a_loop, (X,)), (two_of_one_factory, (X,)), (one_or_the_other, (X, 2)),
    (one_or_the_other, (X, 0)), (counter, (X,)), (effects_in_order, (X,)), (effects_in_order, (-X,)),
    (stars_and_stores, (X,)), (keywords_that_change, (X,)), (decorated_inside, (X,)), (recursive_with_captured, (X,)),
    (recursion_that_binds, (X,)), (composed, (X,)), (folded, (X,)), (chosen_by_key, (X, "a")),
    (chosen_by_key, (X, "b")), (chosen_by_key, (X, "c")), (none_or_function, (X, 2)), (none_or_function, (X, 0)),
    (returned_in_a_pair, (X,)), (partials, (X,)), (partials_that_are_kept, (X,)), (keywords_of_partials, (X,)),
    (classes_by_their_names, (X,)), (classes_by_their_names, (-X,)),
    (star_of_a_comprehension, (X,)),
]  # fmt: skip
#: What is refused: a function whose captured variables are not available where it is called.
REFUSED = frozenset({"recursion_that_binds"})


def check(function: Any, arguments: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a program is served; it is right if it is."""
    case = Program(function.__name__, "functions", function, arguments, argnums=(0,), analytic=False)
    if written(case) is None:
        return False
    with serving(case, monkeypatch.setattr):
        return is_served(lambda: running.run_reverse(case, sink=True)) and is_served(lambda: running.run_forward(case))


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=lambda part: getattr(part, "__name__", ""))
@pytest.mark.costly(2)
def test_functions(function: Any, arguments: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(function, arguments, monkeypatch) == (function.__name__ not in REFUSED)


def reads_a_new_variable_in_each_round(x):
    s = 0.0
    for v in (x, x * x):
        s += sum([(lambda: k * v)() for k in (1.0, v)])
    return s


def test_a_variable_that_is_new_in_each_round_is_not_specialised(monkeypatch):
    """It was an InternalError."""
    check_refused(reads_a_new_variable_in_each_round, monkeypatch, 0.7)


def powered(x, k=2.0, *, n=3):
    return x * k**n


def by_names(x):
    named = dict(zip(list(inspect.signature(powered).parameters), [x, x * x, 2], strict=True))
    return named["x"] * named["k"] ** named["n"]


def by_defaults_and_kinds(x):
    total = x * len(inspect.signature(powered).parameters)
    for name, parameter in inspect.signature(powered).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY or name == "k":
            total = total + x ** inspect.signature(powered).parameters["n"].default
    return total if not isinstance(inspect.signature(powered).parameters, dict) else x


def by_what_is_taken(x):
    taken, given = inspect.signature(powered).parameters, {}
    for name, value in {"k": x, "w": 2.0}.items():
        if name in taken:
            given[name] = value
    return powered(x, k=given["k"])


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("function", [by_names, by_defaults_and_kinds, by_what_is_taken])
@pytest.mark.costly(2)
def test_what_a_function_tells_of_its_parameters_is_known(function, specialise):
    x, step = 1.3, 1e-4
    slope = (function(x + step) - function(x - step)) / (2 * step)
    curvature = (function(x + step) - 2 * function(x) + function(x - step)) / step**2
    with options(specialise=specialise):
        assert np.isclose(grad(function)(x), slope, rtol=1e-6)
        assert np.allclose(jvp(function, (x,), (1.0,)), (function(x), slope), rtol=1e-6)
        assert np.isclose(hvp(function)(x, 1.0), curvature, rtol=1e-5)


def test_what_a_function_tells_is_asked_again_when_it_has_changed(monkeypatch):
    derivative = grad(by_defaults_and_kinds)
    before = derivative(1.3)
    monkeypatch.setitem(powered.__kwdefaults__, "n", 1)
    assert derivative(1.3) == 5.0 != before
    monkeypatch.setattr(powered, "__signature__", inspect.Signature(), raising=False)
    with pytest.raises(UnsupportedSyntax):
        derivative(1.3)
