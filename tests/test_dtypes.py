"""dtypes end to end: cotangents in the dtype of their argument, tangents in that of the result, nothing wider."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, hvp, jvp, vjp
from srcgrad.api.derivative import Derivative
from tests import derivatives
from tests.parameters import share_by_day
from tests.watched import watched, watching, wider

RANDOM = np.random.default_rng(11)


def draw(dtype, *shape):
    values = RANDOM.uniform(0.2, 0.8, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * RANDOM.uniform(0.2, 0.8, shape)
    return np.asarray(values).astype(dtype)


# --- programs --------------------------------------------------------------------------------------------------------
def running(x, y):
    s = 0
    total = np.zeros_like(x)
    for k in range(3):
        s = s * x[k] + y[k] / 2
        total = total * s + x
    return total + s


def branching(x, y):
    z = x * y if abs(x[0]) > 0.1 else x
    for v in z:
        x = x * v + 0.5
    return x


def unpacked(x, y):
    a, *b = x
    return a * y + b[0] * b[1]


def layered(x, y):
    pair = {"w": x, "parts": [y, x * 2]}
    return np.tanh(pair["w"] * pair["parts"][0]) + pair["parts"][1]


def helped(x, y):
    def inner(u):
        return np.tanh(u) / (1 + np.abs(u))

    return inner(x * y) + inner(x)


PROGRAMS = {
    "arithmetic": lambda x, y: x * 2.0 + 1 + y / 3.0 - 0.5 * x**2 + x**3 + 2.0**x * np.e - (-x) * y,
    "powers": lambda x, y: x**y + x**0.5 + np.sqrt(x) + np.square(y) + np.reciprocal(x),
    "exponentials": lambda x, y: np.exp(x) + np.log(y) + np.log1p(x) + np.expm1(y) + np.exp2(x) + np.log2(y),
    "circular": lambda x, y: np.sin(x) * np.cos(y) + np.tan(x) + np.arctan(y) + np.arcsin(x) + np.sinh(x) * np.tanh(y),
    "absolute": lambda x, y: abs(x) * y + np.abs(y),
    "parts": lambda x, y: np.real(x) * np.imag(y) + np.conj(x) * y,
    "sums": lambda x, y: np.sum(x * y) * x + np.mean(x) * y + np.sum(x[:, None] * y, axis=0),
    "spread": lambda x, y: (x - x.mean()) / (np.std(np.abs(x)) + 1) + np.var(np.abs(y)),
    "products": lambda x, y: np.prod(x) * y + np.cumprod(x) * np.cumsum(y),
    "norms": lambda x, y: np.linalg.norm(x) * y,
    "matrices": lambda x, y: np.outer(x, y) @ x + np.dot(x, y) * y + np.einsum("i,j->j", x, y) + np.trace(np.diag(x)),
    "solutions": lambda x, y: np.linalg.solve(np.outer(x, y) + np.diag(x), y) * np.linalg.det(np.diag(x)),
    "shapes": lambda x, y: np.concatenate([x, y * x])[1:4] * np.stack([x, y]).T[:, 0] + np.tile(x, 2)[:3],
    "places": lambda x, y: x[[0, 1, 1]] * y[0] + np.roll(x, 1) * np.flip(y) + np.take(x, [2, 0, 2]) + np.pad(y, 1)[1:4],
    "arrays": lambda x, y: np.array([x[0], y[1], x[1] * y[0]]) * np.array([v * v for v in x]) + np.full(3, x[0]),
    "choices": lambda x, y: np.where(np.abs(x) > 0.4, x * y, y) + np.where(np.abs(y) > 0.4, x, 0.0),
    "integers": lambda x, y: x * 3 + y * True + x * len(y) / x.size - y * (x.ndim + 2),
    "numbers": lambda x, y: x[0] * y + x[1] * x[2] + sum([x[0], x[1] * y[0]]),
    "loops": running,
    "branches": branching,
    "unpacking": unpacked,
    "containers": layered,
    "calls": helped,
}
ORDERED = {
    "extrema": lambda x, y: np.maximum(x, y) * x + np.minimum(x, 0.5) + np.clip(y, 0.3, 0.6) + max(x[0], y[0]) * y,
    "sorted": lambda x, y: np.sort(x) * y + np.median(x),
    "angles": lambda x, y: np.arctan2(x, y) + np.hypot(x, y) + np.degrees(x) / 100 + np.logaddexp(x, y),
    "remainders": lambda x, y: np.fmod(x, y) + np.remainder(x, y) + np.floor(x) * y,
}


def name_of(part):
    return getattr(part, "__name__", part)


NARROW = [(name, dtype) for name in [*PROGRAMS, *ORDERED] for dtype in (np.float16, np.float32, np.complex64)]
WIDE = [(name, dtype) for name in ("arithmetic", "sums", "loops") for dtype in (np.longdouble, np.complex128)]


@pytest.mark.parametrize(("name", "dtype"), share_by_day(NARROW, 2) + WIDE, ids=name_of)
@pytest.mark.costly(4, first=2)
def test_adjoints_and_tangents_keep_the_dtype_and_make_nothing_wider(name, dtype):
    function = (PROGRAMS | ORDERED)[name]
    if np.dtype(dtype).kind == "c" and name in ORDERED:
        return
    if name == "solutions" and np.dtype(dtype).char in "eg":
        return  # LAPACK has neither
    x, y = draw(dtype, 3), draw(dtype, 3)
    # NumPy's own means of float16 go by float32, and what it computes of them is not ours to judge.
    with watching() as primal:
        value = function(watched(x), watched(y))
    split = Derivative(function, (0, 1), mode="split").program((x, y))
    outcome, saved = split.entry(watched(x), watched(y))
    assert outcome.dtype == value.dtype
    with watching() as made:
        bars = split.backward(saved, watched(np.ones_like(np.asarray(value))))
    allowed = {found[1] for found in wider(primal, dtype)} | ({"float32"} if dtype is np.float16 else set())
    assert [found for found in wider(made, dtype) if found[1] not in allowed] == []
    assert [bar.dtype for bar in bars] == [x.dtype, y.dtype]
    tangent = Derivative(function, (0, 1), mode="forward").program((x, y))
    with watching() as made:
        _, dot = tangent.entry(*map(watched, (x, y, x, y)))
    assert [found for found in wider(made, dtype) if found[1] not in allowed] == []
    assert dot.dtype == value.dtype


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dtype"), share_by_day(NARROW[1:] + NARROW[:1], 2), ids=name_of
)
@pytest.mark.costly(3)
def test_values_agree_with_those_of_double_precision(name, dtype):
    function = (PROGRAMS | ORDERED)[name]
    if (np.dtype(dtype).kind == "c" and name in ORDERED) or (name == "solutions" and np.dtype(dtype).char in "eg"):
        return
    double = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
    x, y = draw(dtype, 3), draw(dtype, 3)
    _, pullback = vjp(function, x, y)
    _, exact = vjp(function, x.astype(double), y.astype(double))
    expected = exact(np.ones(3, double))
    for got, bar in zip(pullback(np.ones(3)), expected, strict=True):
        assert np.max(np.abs(got - bar)) <= 300 * np.finfo(dtype).eps * max(1.0, np.max(np.abs(bar)))


# --- partners of another dtype ---------------------------------------------------------------------------------------
def mixed_loop(x, y):
    s = 0
    for k in range(3):
        s = (s + x * k) * y
    return s


MIXED = {
    "product": lambda x, y: x * y + x,
    "quotient": lambda x, y: x / (y + 2) - y,
    "sums": lambda x, y: np.sum(x) * y + np.mean(x * y),
    "chain of casts": lambda x, y: np.abs(np.asarray(x) * y).astype(np.float32) * 2.5 + np.abs(x),
    "array": lambda x, y: np.array([np.sum(x), np.sum(y)]),
    "where": lambda x, y: np.where(np.abs(x) > 0.4, x, y),
    "integer partners": lambda x, y: x * 3 + y * np.int64(2) + x * np.arange(3) + True * y,
    "loop": mixed_loop,
}
KINDS = {
    "half": draw(np.float16, 3),
    "single": draw(np.float32, 3),
    "double": draw(np.float64, 3),
    "complex single": draw(np.complex64, 3),
    "complex": draw(np.complex128, 3),
    "single scalar": np.float32(0.4),
    "double scalar": np.float64(0.7),
    "complex scalar": np.complex64(0.3 + 0.2j),
    "0-d single": np.array(0.6, np.float32),
    "0-d complex": np.array(0.6 + 0.1j),
    "float": 0.3,
    "Python complex": 0.3 - 0.5j,
}


@pytest.mark.parametrize("options", ["optimised", "generic"])
@pytest.mark.parametrize("name", MIXED)
@pytest.mark.costly(2)
def test_each_of_two_partners_has_its_own_dtype(name, options):
    function = MIXED[name]
    pairs = list(itertools.product(KINDS, KINDS))
    for one, other in (pairs[k] for k in RANDOM.permutation(len(pairs))[:9]):
        x, y = KINDS[one], KINDS[other]
        with derivatives.settings(options), warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            value, pullback = vjp(function, x, y)
            seed = np.ones(np.shape(value), np.asarray(value).dtype)
            bars = pullback(seed if isinstance(value, np.ndarray) else seed[()])
            primal, tangent = jvp(function, (x, y), (x, y))
        where = f"{name}({one}, {other})"
        for bar, argument in zip(bars, (x, y), strict=True):
            assert type(bar) is type(argument), where
            assert np.asarray(bar).dtype == np.asarray(argument).dtype, where
        assert np.asarray(tangent).dtype == np.asarray(primal).dtype, where
        left, right = np.sum(tangent).real, sum(np.sum(b * a).real for b, a in zip(bars, (x, y), strict=True))
        coarsest = max(np.finfo(np.asarray(v).dtype).eps for v in (x, y, value, np.float32(0)))
        assert abs(float(left) - float(right)) <= 300 * coarsest * max(1.0, abs(float(left))), where


# --- random compositions ---------------------------------------------------------------------------------------------
UNARY = "np.sin({})|np.exp(-{})|np.tanh({})|{} ** 2|np.sqrt(np.abs({}) + 1)|{}[::-1]|-{}|np.cumsum({})".split("|")
BINARY = "{} * {}|{} + {}|{} / ({} + 2)|np.sum({}) * {}|{} - 0.5 * {}|np.dot({}, {}) * x|{}[[0, 1, 1]] * {}".split("|")
PAIRS = [(np.float32, np.float32), (np.float32, np.complex64), (np.float16, np.float64), (np.complex64, np.complex64)]


def composed(seed):
    """A function of x and y in random steps, some of them repeated."""
    random = np.random.default_rng(seed)
    names, lines = ["x", "y"], ["def f(x, y):"]
    for k in range(6):
        template = random.choice(UNARY if random.random() < 0.4 else BINARY)
        expression = template.format(*(random.choice(names) for _ in range(template.count("{}"))))
        if random.random() < 0.3:
            lines += [f"    v{k} = {expression}", "    for k in range(3):"]
            lines += [f"        v{k} = v{k} * x[k] + {random.choice(names)}"]
        else:
            lines += [f"    v{k} = {expression}"]
        names.append(f"v{k}")
    return "\n".join([*lines, f"    return v5 * {random.choice(names)}", ""])


@pytest.mark.slow
@pytest.mark.parametrize("seed", share_by_day(range(8), 4))
@pytest.mark.costly(1, first=1)
def test_random_programs(seed, tmp_path, monkeypatch):
    path = tmp_path / f"random_program_{seed}.py"
    path.write_text("import numpy as np\n\n\n" + composed(seed))
    monkeypatch.syspath_prepend(str(tmp_path))
    function = __import__(path.stem).f
    for one, other in PAIRS:
        x, y = draw(one, 3) / 2, draw(other, 3) / 2
        value, pullback = vjp(function, x, y)
        bars = pullback(np.ones_like(value))
        assert [bar.dtype for bar in bars] == [x.dtype, y.dtype]
        primal, tangent = jvp(function, (x, y), (x, y))
        assert tangent.dtype == primal.dtype
        wide = [np.asarray(a, np.result_type(a, np.float64)) for a in (x, y)]
        exact, pull = vjp(function, *wide)
        scale = max(1.0, float(np.max(np.abs(exact))))
        for bar, expected in zip(bars, pull(np.ones_like(exact)), strict=True):
            bound = 1e4 * np.finfo(one).eps * max(scale, float(np.max(np.abs(expected))))
            assert np.max(np.abs(bar - expected)) <= bound, path.read_text()
        if np.finfo(one).bits == np.finfo(other).bits:
            with watching() as made:
                split = Derivative(function, (0, 1), mode="split").program((x, y))
                outcome, saved = split.entry(watched(x), watched(y))
                split.backward(saved, watched(np.ones_like(np.asarray(outcome))))
            assert wider(made, one) == [], path.read_text()


# --- single numbers, orders, containers ------------------------------------------------------------------------------
@pytest.mark.parametrize("number", [np.float16, np.float32, np.longdouble, np.complex64, float, complex])
@pytest.mark.costly(2)
def test_single_numbers_keep_their_type(number):
    a = number(0.3)
    functions = (lambda a: abs(a * a), lambda a: abs(a) ** 2 * 3 + abs(np.sin(a)), lambda a: abs(a * np.float64(2.0)))
    for function in functions:
        assert type(grad(function)(a)) is number
        assert type(hvp(function)(a, a)) is number


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64])
@pytest.mark.costly(1, first=2)
def test_second_order_keeps_the_dtype(dtype):
    x = draw(dtype, 3)

    def f(x):
        s = 0.0
        for v in x:
            s = s + abs(v * v) * abs(np.sum(x))
        return s

    assert hvp(f)(x, x).dtype == dtype
    (change,) = vjp(grad(f), x)[1](x)
    assert change.dtype == dtype


def test_a_loop_accumulates_in_the_dtype_of_its_buffer():
    def f(x, y):
        s = 0.0
        for i in range(len(x)):
            s = s + x[i] * y[i] * np.float64(2.0)
        return s

    x, y = draw(np.float32, 5), draw(np.float64, 5)
    bars = grad(f, (0, 1))(x, y)
    assert [bar.dtype for bar in bars] == [np.float32, np.float64]


def test_integer_arguments_of_functions_and_rules_do_not_matter():
    x = draw(np.float32, 3)
    for partner in (2, np.int8(2), np.uint64(2), True, np.array([1, 2, 3], np.int16), np.array([True, False, True])):
        assert grad(lambda x, n: np.sum(x * n + x**2 + n), 0)(x, partner).dtype == np.float32
        assert jvp(lambda x, n: x * n, (x, partner), (x, None))[1].dtype == (x * partner).dtype


def test_object_arrays_are_refused():
    with pytest.raises(srcgrad.ArgumentError, match="object"):
        grad(lambda x: np.sum(x))(np.array([1.0, None]))


REFUSED, REASON = (srcgrad.errors.MissingRule, TypeError), "dtype (is |of )?(object|timedelta64)"


@pytest.mark.parametrize("dtype", [object, "O", np.object_, np.dtype(object), np.timedelta64])
@pytest.mark.parametrize(
    "f",
    [
        lambda x, dtype: np.sum(x, dtype=dtype),
        lambda x, dtype: np.mean(x, dtype=dtype),
        lambda x, dtype: np.var(x, dtype=dtype),
        lambda x, dtype: np.nansum(x, dtype=dtype),
        lambda x, dtype: np.trace(x, dtype=dtype),
        lambda x, dtype: np.prod(x, dtype=dtype),
        lambda x, dtype: np.sum(np.cumsum(x, dtype=dtype)),
        lambda x, dtype: np.sum(np.cumprod(x, dtype=dtype)),
        lambda x, dtype: np.add.reduce(x.ravel(), dtype=dtype),
        lambda x, dtype: np.sum(np.add.accumulate(x.ravel(), dtype=dtype)),
        lambda x, dtype: np.sum(np.add.reduceat(x.ravel(), [0, 2], dtype=dtype)),
        lambda x, dtype: np.multiply.reduce(x.ravel(), dtype=dtype),
        lambda x, dtype: np.einsum("ii->", x, dtype=dtype),
    ],
)
def test_reductions_to_objects_and_dates_are_refused(f, dtype):
    x = draw(np.float64, 3, 3)
    try:
        f(x, dtype)
    except TypeError:
        return  # NumPy refuses dates in most of them
    with pytest.raises(REFUSED, match=REASON):
        jvp(f, (x, dtype), (x, None))
    with pytest.raises(REFUSED, match=REASON):
        vjp(lambda x: f(x, dtype), x)[1](1.0)


@pytest.mark.parametrize("f", [
    lambda x: np.sum(x, dtype=object),
    lambda x: np.cumsum(x, dtype="O")[0],
    lambda x: np.add.accumulate(x.ravel(), dtype=np.object_)[0],
    lambda x: np.sum(x, dtype="m8[s]"),
])
def test_a_dtype_of_objects_is_refused_with_its_place(f):
    for derivative in (lambda: vjp(f, np.ones(3)), lambda: jvp(f, (np.ones(3),), (np.ones(3),))):
        with pytest.raises(srcgrad.errors.MissingRule, match="its dtype is|dtype of objects"):
            derivative()


@pytest.mark.parametrize("dtype", [np.float64, np.longdouble, np.complex128])
@pytest.mark.parametrize("f", [
    lambda x, out: np.sum(x, axis=0, out=out),
    lambda x, out: np.mean(x, axis=0, out=out),
    lambda x, out: x.mean(0, None, out),
    lambda x, out: np.std(x, axis=0, out=out),
    lambda x, out: np.nanvar(x, axis=0, out=out),
    lambda x, out: np.add.reduce(x, 0, None, out),
    lambda x, out: np.cumprod(x[0], out=out),
    lambda x, out: np.einsum("ij,ij->j", x, x, out=out),
])
def test_an_output_decides_in_which_dtype_is_computed(f, dtype):
    x, out = draw(np.float32, 3, 2), np.zeros(2, dtype)
    for derivative in (lambda: vjp(f, x, out), lambda: jvp(f, (x, out), (x, out))):
        with pytest.raises(TypeError, match="NumPy computes in the dtype of an output"):
            derivative()


@pytest.mark.parametrize("f", [
    lambda x, out: np.sum(x, axis=0, dtype=np.float64, out=out),
    lambda x, out: np.add(x[0], x[1], out=out),
    lambda x, out: np.max(x, axis=0, out=out),
    lambda x, out: np.concatenate([x[0, :1], x[1, :1]], out=out),
    lambda x, out: np.sum(x > 0.5, axis=0, out=out) * x[0],
])
def test_an_output_of_another_dtype_is_filled(f):
    x = draw(np.float32, 3, 2)
    value, tangent = jvp(f, (x, np.zeros(2)), (x, np.zeros(2)))
    assert np.array_equal(value, f(x, np.zeros(2))) and value.dtype == tangent.dtype == np.float64
    assert vjp(f, x, np.zeros(2))[1](value)[0].dtype == np.float32


@pytest.mark.parametrize("f", [
    lambda x, out: np.take(x, [0, 1], out=out),
    lambda x, out: np.compress([True, True, False], x, out=out),
])
def test_what_is_taken_into_a_wider_output_raises_as_in_numpy(f):
    """Since NumPy 2.5 it is stored."""
    x, out = draw(np.float32, 3), np.zeros(2)
    try:
        f(x, out.copy())
    except TypeError:
        with pytest.raises(TypeError, match="cast"):
            vjp(f, x, out)
    else:
        value, pullback = vjp(f, x, out)
        assert value.dtype == np.float64 and np.array_equal(pullback(np.ones(2))[0], [1.0, 1.0, 0.0])


OTHER_ORDER = np.array([1.0, 2.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x) * (2.0 if x.dtype == np.float64 else 3.0),
        lambda x: np.sum(x) * (2.0 if x.dtype in (np.float32, np.float64) else 3.0),
        lambda x: np.sum(x) * (2.0 if x.copy().dtype == float else 3.0),
        lambda x: np.sum(x) * (2.0 if (x * 1.0).dtype == x.dtype else 3.0),
        lambda x: np.sum(x) * (2.0 if np.zeros_like(x[1:]).dtype == "f8" else 3.0),
        lambda x: np.sum(x) * (2.0 if OTHER_ORDER.dtype == float else 3.0),
    ],
)
def test_arrays_of_another_order_of_bytes(f, monkeypatch):
    """They were taken for arrays of this machine's order, in a program for those as well."""
    for order in ("<f8", ">f8", "<f8"):
        x = np.array([0.5, 1.2]).astype(order)
        monkeypatch.setitem(globals(), "OTHER_ORDER", np.array([1.0, 2.0]).astype(order))
        value, gradient = srcgrad.value_and_grad(f)(x)
        assert value == f(x) == jvp(f, (x,), (x,))[0]
        np.testing.assert_allclose(gradient, 2 * [f(x) / np.sum(x)])


@pytest.mark.parametrize("f", [lambda x: np.object_(x[0]) ** 2, lambda x: np.object_(x)[0] ** 2])
def test_what_object_gives_varies(f):
    """Silently zero once: it gives what it is given, and counted as constant."""
    for derivative in (lambda: vjp(f, np.ones(3)), lambda: jvp(f, (np.ones(3),), (np.ones(3),))):
        with pytest.raises(srcgrad.errors.MissingRule, match="E0507"):
            derivative()
