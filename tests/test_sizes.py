"""Programs for patterns of sizes: which dimensions of the arguments are equal, and which are 0 or 1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import pytest

from srcgrad import grad, hvp, jvp, runtime, value_and_grad, vjp
from srcgrad.api.derivative import Derivative
from srcgrad.api.sizes import PATTERNS, pattern_of, shapes_told
from srcgrad.programs import options


def arrays(*shapes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """Arrays of these shapes, different ones for different places."""
    random = np.random.default_rng(0)
    return tuple(random.normal(size=shape) for shape in shapes)


# --- programs in which a dimension of 1 is a broadcast, and which differ where sizes are equal ------------------------
def beside(x, b):
    return np.sum(np.tanh(x + b) * b)


def rows_and_columns(x, b, c):
    return np.sum(np.exp(0.1 * (x * b)) + x * c[:, np.newaxis])


def shifted(x, y):
    inner = x[1:] * y[:-1]
    return np.sum(inner * x[:-1]) + np.sum(x[1:-1] * y[:-2])


def in_a_loop(x, b):
    h = b
    for _ in range(3):
        h = np.tanh(h * x + b)
    return np.sum(h)


def made_inside(x, y):
    r = np.zeros(len(x))
    r[:] = x * y
    s = np.ones(y.shape[0]) + y
    n = len(x)
    return np.sum(r * x[:n]) + np.sum(s * y[: len(y) - 1 + 1])


def stored(x, y):
    z = np.zeros_like(x)
    z[1:] += y[: len(x) - 1] if len(y) > 1 else y
    z *= x
    return np.sum(z * z)


def scaled(u, v):
    return u * v + v


def called(x, y):
    return np.sum(scaled(x, y)) + np.sum(scaled(y, y)) + np.sum(scaled(x[1:], x[:-1]))


def halves(u, n):
    return u if n == 0 else halves(np.sin(u[:1] * u), n - 1)


def recursive(x, y):
    return np.sum(halves(x * y, len(x)))


def branching(x, y):
    z = x * y if np.sum(x) > 0.0 else y
    return np.sum(z * x)


def reshaped(x, y):
    flat = np.reshape(x, -1)
    again = np.reshape(flat, len(y) if len(flat) == len(y) else -1)
    return np.sum(again * flat) + np.sum(y)


def outside_of_order(x, y):
    return np.sum(np.sum(x * y, axis=0) * y) + np.sum(x, axis=0, keepdims=True)[0] * np.sum(y)


def left_early(x, y):
    s, h = 0.0, x
    for i in range(4):
        t = h * y
        s = s + np.sum(t + h)
        if s > 4.0:
            break
        h = np.tanh(t)
        s = s + np.sum(h + y) / 3.0
        if i == 2:
            continue
        h = h * 0.5 if s > 0.5 else y
    return s + np.sum(h)


def summed(x, y):
    s = np.sum(x * y)
    for i in range(3):
        p = x * y
        if s > 1.0:
            break
        s = s + np.sum(np.tanh(x) * y)
        if i == 1 or s < -1.0:
            s = s + np.sum(p)
    outer = np.sum(x[:, np.newaxis] * y, axis=1) * np.sum(y[:, np.newaxis] * x, axis=0)
    whole = np.sum(x[:, np.newaxis] * np.cos(y)[np.newaxis, :], axis=(0, -1))
    kept = np.sum(x * (y + x)[:, np.newaxis], axis=0, keepdims=True)
    return s + np.sum(outer * x) + whole + np.sum(kept * y)


LENGTHS = (0, 1, 2, 3)
VECTORS = (
    beside, shifted, in_a_loop, made_inside, stored, called, recursive, branching, reshaped, outside_of_order,
    left_early, summed,
)  # fmt: skip


@cache
def without_sizes(f, count: int):
    return grad(f, tuple(range(count)))


def agrees(f, compiled, arguments) -> bool:
    """Whether a derivative that was called with other sizes before is what a program gives that knows no sizes; False
    where the program itself raises."""
    try:
        value = f(*arguments)
    except (ValueError, IndexError):
        return False
    with options(specialise=False):
        expected = without_sizes(f, len(arguments))(*arguments)
    got_value, got = compiled(*arguments)
    assert got_value == value
    for one, other, argument in zip(got, expected, arguments, strict=True):
        assert one.shape == argument.shape
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    return True


@pytest.mark.parametrize("f", VECTORS)
def test_sizes_that_coincide_and_then_differ(f):
    compiled = value_and_grad(f, (0, 1))
    pairs = [(n, m) for n, m in product(LENGTHS, LENGTHS)]
    ran = [agrees(f, compiled, arrays((n,), (m,))) for n, m in [*pairs, *reversed(pairs)]]
    assert sum(ran) >= 6


def test_matrices_that_are_square_and_then_are_not():
    compiled = value_and_grad(rows_and_columns, (0, 1, 2))
    for n, m, k in product((1, 2, 3), (1, 2, 3), (1, 2, 3)):
        agrees(rows_and_columns, compiled, arrays((n, m), (m,), (n,)))
        agrees(rows_and_columns, compiled, arrays((n, m), (k,), (n,)))
        agrees(rows_and_columns, compiled, arrays((1, m), (k,), (n,)))


def test_arrays_without_axes_and_numbers():
    compiled = value_and_grad(beside, (0, 1))
    for shapes in [((), (3,)), ((3,), ()), ((3,), (3,)), ((), ()), ((1,), ()), ((2, 3), (3,)), ((3, 3), (3,))]:
        assert agrees(beside, compiled, arrays(*shapes))
    value, (x_bar, _) = compiled(0.5, np.array([1.0, 2.0]))
    assert isinstance(x_bar, float) and value == beside(0.5, np.array([1.0, 2.0]))


def test_a_direction_and_a_vector_along_other_sizes():
    product_of = hvp(beside, (0, 1))
    for n, m in [(3, 3), (3, 1), (1, 3), (2, 2), (1, 1)]:
        x, b, u, v = arrays((n,), (m,), (n,), (m,))
        value, tangent = jvp(beside, (x, b), (u, v))
        step = 1e-6
        ahead, behind = beside(x + step * u, b + step * v), beside(x - step * u, b - step * v)
        np.testing.assert_allclose(tangent, (ahead - behind) / (2.0 * step), rtol=1e-7)
        got = product_of(x, b, (u, v))
        gradient = grad(beside, (0, 1))
        up, down = gradient(x + step * u, b + step * v), gradient(x - step * u, b - step * v)
        for one, a, c in zip(got, up, down, strict=True):
            np.testing.assert_allclose(one, (a - c) / (2.0 * step), rtol=1e-6, atol=1e-8)


def test_a_pullback_is_that_of_its_own_sizes():
    x, b, one = arrays((3,), (3,), (1,))
    value, same = vjp(beside, x, b)
    _, other = vjp(beside, x, one)
    assert same(1.0)[1].shape == (3,) and other(1.0)[1].shape == (1,)
    np.testing.assert_array_equal(same(1.0)[1], grad(beside, 1)(x, b))


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray


def layers(stack, x):
    for layer in stack:
        x = np.tanh(layer.w @ x + layer.b)
    return np.sum(x)


def test_arrays_in_containers_and_in_fields():
    gradient = grad(layers, 0)
    for sizes in [(3, 3, 3), (3, 2, 3), (3, 1, 2), (2, 1, 1), (4, 4, 2)]:
        made = arrays(*((n, m) for m, n in zip(sizes, sizes[1:])), *((n,) for n in sizes[1:]), (sizes[0],))
        stack = [Layer(w, b) for w, b in zip(made[:2], made[2:4])]
        with options(specialise=False):
            expected = grad(layers, 0)(stack, made[-1])
        for got, wanted in zip(gradient(stack, made[-1]), expected, strict=True):
            np.testing.assert_allclose(got.w, wanted.w, rtol=1e-12)
            np.testing.assert_allclose(got.b, wanted.b, rtol=1e-12)


# --- facts of dimensions, and values that are recorded ----------------------------------------------------------------
def test_what_is_proved_to_broadcast_nothing_is_not_summed_down():
    x, b, one = arrays((3,), (3,), (1,))
    assert "unbroadcast" not in grad(beside, (0, 1)).source_for(x, b)
    assert "unbroadcast" in grad(beside, (0, 1)).source_for(x, one)
    with options(sizes=False):
        assert "unbroadcast" in grad(beside, (0, 1)).source_for(x, b)


def test_the_shape_of_a_value_is_read_off_another_that_is_needed():
    text = grad(added, 1).source_for(*arrays((3,), (3,)))
    assert "unreduce(value_bar, y) * np.cos(y)" in text, "the sum is not computed"
    text = grad(added, 1).source_for(*arrays((3,), (1,)))
    assert "unreduce(value_bar, x)" in text, "y is not of that shape"


def added(x, y):
    return np.sum(x + np.sin(y))


def test_the_cotangent_of_a_sum_is_not_spread_over_a_product():
    assert "return value_bar * y\n" in grad(squares).source_for(*arrays((3,), (3,)))
    assert "unproduct(value_bar, y, x)" in grad(squares).source_for(*arrays((3,), (1,)))


def squares(x, y):
    return np.sum(x * y)


def test_one_program_serves_all_sizes_of_a_pattern():
    derivative = Derivative(beside, (0, 1))
    first = derivative.program(arrays((3,), (3,)))
    assert derivative.program(arrays((5,), (5,))) is first
    assert derivative.program(arrays((5,), (1,))) is not first
    assert derivative.program(arrays((5,), (4,))) is not first
    assert derivative.program(arrays((7,), (7,))) is first


def many(xs):
    total = 0.0
    for x in xs:
        total = total + np.sum(x * x)
    return total


def test_patterns_without_end_get_a_program_that_knows_no_sizes():
    derivative = Derivative(many, 0, mode="value")
    programs = []
    for count in range(2 * PATTERNS):
        sizes = [2 + ((count >> k) & 1) for k in range(5)]
        xs = list(arrays(*((n,) for n in [2, *sizes])))
        value, got = derivative(xs)
        assert value == many(xs)
        for one, x in zip(got, xs, strict=True):
            np.testing.assert_array_equal(one, 2.0 * x)
        programs.append(derivative.ran)
    assert len(set(map(id, programs[:PATTERNS]))) == PATTERNS
    assert len(set(map(id, programs[PATTERNS:]))) == 1, "one for all others"
    assert " alone" not in programs[-1].emission.text
    before = dict(derivative._variants)
    derivative(xs)
    assert derivative._variants == before, "which is found at once"


def test_an_outer_derivative_without_sizes_has_an_inner_one_without():
    gradient = Derivative(beside, 0)
    slope = Derivative(gradient, 0, mode="forward")
    with options(sizes=False):
        text = slope.program(arrays((3,), (3,))).emission.text
    assert "rebroadcast" in text or "unbroadcast" in text
    assert " alone" not in text


def test_patterns():
    x, w, b = arrays((5, 7), (7, 5), (5,))
    assert pattern_of((x, w, b)) == (2, 3, 3, 2, 2)
    assert pattern_of((0.5, [b, {"k": x[:1]}], b[:0])) == (2, 1, 3, 0)
    assert pattern_of(({"layer": Layer(w, b)},)) == (2, 3, 3)
    assert pattern_of((1.0, 2, "text", None)) == ()


def test_a_text_says_which_sizes_it_is_right_for():
    x, w, b = arrays((5, 7), (7, 5), (5,))
    assert shapes_told("xwb", (x, w, b)) == (
        "For x (n, m), w (m, n), b (n,) alone, where n and m differ and are more than 1."
    )
    assert shapes_told("n", (b,)) == "For n (m,) alone, where m is more than 1."
    assert shapes_told(["p"], ([x[:1], b[:0]],)) == "For p[0] (1, n), p[1] (0,) alone, where n is more than 1."
    assert shapes_told("xy", (0.5, np.array(0.5))) == ""
    assert ", 3 more arrays alone" in shapes_told("x", ([b] * 15,))
    derivative = grad(beside, 0)
    derivative(b, b)
    assert "For x (n,), b (n,) alone, where n is more than 1." in derivative.source
    assert " alone" not in derivative.generic_source


def test_a_saved_text_serves_all_sizes(tmp_path):
    derivative = grad(beside, (0, 1))
    derivative(*arrays((3,), (3,)))
    derivative.save(tmp_path / "saved_sizes.py")
    namespace: dict = {}
    exec(compile((tmp_path / "saved_sizes.py").read_text(), "saved_sizes", "exec"), namespace)
    x, b = arrays((3,), (1,))
    for one, other in zip(namespace["grad_beside"](x, b), derivative(x, b), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def in_complex_numbers(x, y):
    total = np.sum(x * y, dtype=complex) * np.mean(x[:, np.newaxis] * y, dtype=complex)
    return np.real(total * (1.0 + 2.0j)) + x[0]


def test_a_sum_in_complex_numbers_has_an_adjoint_of_its_floats():
    x, y = arrays((3,), (3,))
    got = grad(in_complex_numbers, (0, 1))(x, y)
    dot, mean = x @ y, np.mean(x) * np.mean(y)
    np.testing.assert_allclose(got[0], y * mean + dot * np.mean(y) / 3.0 + [1.0, 0.0, 0.0], rtol=1e-12)
    np.testing.assert_allclose(got[1], x * mean + dot * np.mean(x) / 3.0, rtol=1e-12)


@pytest.mark.parametrize("few", [0, 8192])
def test_a_product_that_is_summed_is_contracted(few, monkeypatch):
    monkeypatch.setattr(runtime.products, "_FEW", few)
    runtime.products._contraction.cache_clear()
    random = np.random.default_rng(1)
    for of_like, of_b in product([(), (1,), (3,), (2, 3), (2, 1), (4, 1, 3), (0, 3)], repeat=2):
        try:
            whole = np.broadcast_shapes(of_like, of_b)
        except ValueError:
            continue
        like, b = np.ones(of_like), random.normal(size=of_b)
        for axes in product(*[(n, 1) for n in whole]):
            g = random.normal(size=axes)
            expected = runtime.unbroadcast(np.broadcast_to(g * b, whole), like)
            got = runtime.unproduct(g, b, like)
            assert np.shape(got) == of_like
            np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-14)


def averaged(x, w):
    return np.mean(x[:, :, np.newaxis] * w) + np.sum(np.mean(x[:, :, np.newaxis] * w, axis=(0, 1)) ** 2)


def test_sums_of_products_of_the_second_order():
    x, w, u, v = arrays((2, 3), (3, 4), (2, 3), (3, 4))
    assert "unproduct" in grad(averaged, (0, 1)).source_for(x, w)
    got = hvp(averaged, (0, 1))(x, w, (u, v))
    gradient, step = grad(averaged, (0, 1)), 1e-5
    up, down = gradient(x + step * u, w + step * v), gradient(x - step * u, w - step * v)
    for one, a, c in zip(got, up, down, strict=True):
        np.testing.assert_allclose(one, (a - c) / (2.0 * step), rtol=1e-6, atol=1e-9)
    _, pullback = vjp(gradient, x, w, argnums=(0, 1))
    for one, other in zip(pullback((u, v)), got, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
