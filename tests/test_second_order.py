"""Second and third derivatives of taped loops with branches, in every combination of modes."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from tests import derivatives, oracle
from tests.corpus.example import Case, matrix, vector
from tests.parameters import share_by_day


def scalar_loop(x, a):
    s = x
    for i in range(5):
        if s > 0.3:
            s = np.sin(s) * a
        else:
            s = s * s + x * (i + 1)
    return s * x


def loop_with_exits(x, a):
    s = a
    for i in range(6):
        s = s * 1.4 + x[i % 4] * s
        if s > 2.0:
            break
        if x[i % 4] < 0.0:
            s = s + a * a
            continue
        s = np.tanh(s) + x[0]
    return s * s


def return_in_nested_loops(x, a):
    s = a
    for i in range(3):
        t = s * x[i]
        for value in x:
            t = t * value + a
            if t > 0.9:
                return t * s
        s = s + t * t
    return s


def recurrent(w, h):
    total = 0.0
    for k in range(4):
        h = np.tanh(w @ h)
        if k % 2 == 0:
            total = total + np.sum(h**3)
        else:
            total = total * np.sum(h)
    return total


def while_with_callee(x, a):
    def step(v, k):
        if v > 1.0:
            return v / 3.0 + k
        return v * v + a

    n = 0
    while n < 5:
        x = step(x, a * n) + 0.1 * x
        n += 1
    return x * x


def structured(parameters, x):
    for w, b in parameters["layers"]:
        x = np.tanh(w @ x + b)
        if np.sum(x) < 0.0:
            x = x * parameters["scale"]
    return np.sum(x**2)


PROGRAMS = [
    Case("scalar_loop", "second", scalar_loop, (0.4, 0.9), {}, (0, 1)),
    Case("loop_with_exits", "second", loop_with_exits, (vector(4), 0.5), {}, (0, 1)),
    Case("return_in_nested_loops", "second", return_in_nested_loops, (vector(4, 3), 0.6), {}, (0, 1)),
    Case("recurrent", "second", recurrent, (matrix(3, 3), vector(3)), {}, (0, 1)),
    Case("while_with_callee", "second", while_with_callee, (0.7, 0.3), {}, (0, 1)),
    Case(
        "structured",
        "second",
        structured,
        ({"layers": [(matrix(2, 3), vector(2)), (matrix(2, 2, 1), vector(2, 1))], "scale": 0.5}, vector(3)),
        {},
        (0, 1),
    ),
]
EVERY = pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in PROGRAMS])


def numeric(case: Case, direction: tuple) -> oracle.Measured:
    """The derivative of the complex-step gradient along the direction."""

    def gradient(point: np.ndarray) -> np.ndarray:
        arguments = list(case.arguments)
        for k, value in zip(case.argnums, oracle.unravel(derivatives.chosen(case), point), strict=True):
            arguments[k] = value
        return oracle.jacobian(case.function, arguments, case.argnums, analytic=True).value[0]

    return oracle.differences(gradient, oracle.ravel(derivatives.chosen(case)), oracle.ravel(direction))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "case"),
    [
        *(pytest.param("optimised", case, id=f"optimised-{case.name}") for case in PROGRAMS),
        *share_by_day([pytest.param(s, c, id=f"{s}-{c.name}") for s in ("plain", "generic") for c in PROGRAMS], 5),
    ],
)
@pytest.mark.costly(2)
def test_three_ways_and_numbers(case, settings):
    like = derivatives.chosen(case)
    direction = oracle.seed_like(like, 3)
    measured = numeric(case, direction)
    results = {}
    with derivatives.settings(settings):
        for name, way in derivatives.SECOND_ORDER.items():
            product = way(case, direction)
            numbers = derivatives.numbers_like(product, like)
            oracle.assert_close(numbers, measured.value, error=measured.error, what=name)
            results[name] = oracle.ravel(numbers)
    (first, expected), *others = results.items()
    for name, got in others:
        oracle.assert_close([got], expected, tolerance=1e-9, what=f"{name} against {first}")


@EVERY
@pytest.mark.costly(2)
def test_hvp_is_the_hessian_times_the_vector(case):
    if case.name == "structured":
        pytest.skip("blocks of containers have no product")
    direction = oracle.seed_like(derivatives.chosen(case), 5)
    blocks = srcgrad.hessian(case.function, argnums=case.argnums)(*case.arguments)
    product = srcgrad.hvp(case.function, argnums=case.argnums)(*case.arguments, direction)
    sizes = [np.size(value) for value in derivatives.chosen(case)]
    dense = np.block([[np.reshape(blocks[i][j], (m, n)) for j, n in enumerate(sizes)] for i, m in enumerate(sizes)])
    np.testing.assert_allclose(dense, dense.T, rtol=1e-9, atol=1e-11)
    oracle.assert_close(product, dense @ oracle.ravel(direction), tolerance=1e-10)


def test_hessian_by_all_ways():
    """hessian, jacobian of grad, jacfwd of grad."""
    x = vector(4)
    expected = srcgrad.hessian(loop_with_exits)(x, 0.5)
    gradient = srcgrad.grad(loop_with_exits)
    np.testing.assert_allclose(srcgrad.jacobian(gradient)(x, 0.5), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(srcgrad.jacfwd(gradient)(x, 0.5), expected, rtol=1e-10, atol=1e-12)


def quintic(x):
    p = 1.0
    for _ in range(5):
        if x > 0.0:
            p = p * x
        else:
            p = -p * x
    return p


@pytest.mark.parametrize("x", [1.3, -0.7])
@pytest.mark.costly(1, first=1)
def test_third_derivative(x):
    third = srcgrad.grad(srcgrad.grad(srcgrad.grad(quintic)))
    assert third(x) == pytest.approx(60.0 * x**2 * (1.0 if x > 0.0 else -1.0), rel=1e-12)


def test_a_derivative_called_inside_a_differentiated_function_is_followed():
    slope = srcgrad.grad(scalar_loop)

    def penalised(x, a):
        g = slope(x, a)
        return g * g + x

    numeric = (penalised(0.4 + 1e-6, 0.9) - penalised(0.4 - 1e-6, 0.9)) / 2e-6
    assert abs(srcgrad.grad(penalised)(0.4, 0.9) - numeric) < 1e-7 * max(1.0, abs(numeric))


def filled(x):
    rows = [0.0, 1.0]
    r = x
    for _ in range(6):
        r = r * r * 0.8 + 0.3
        rows.append(r)
    return rows


def read_from_its_start(x):
    """Once -229: the adjoint of a list was taken to be empty in the end, as a tape is."""
    rows = filled(x)
    return rows[3] * rows[2] + rows[5] ** 2


def read_from_its_end(x):
    """Once an IndexError, for the same reason."""
    total = 0.0
    for j in range(2):
        rows = [0.0, x]
        r = x + j
        for _ in range(4):
            r = r * r * 0.3 + 0.3
            rows.append(r)
            if r < 0.1:
                break
        total += rows[-2] * rows[2] + rows[1]
    return total


@pytest.mark.parametrize("f", [read_from_its_start, read_from_its_end])
@pytest.mark.costly(1)
def test_what_a_list_held_before_loops_appended_to_it_is_in_its_adjoint_in_the_end(f):
    slope = srcgrad.grad(f)
    numeric = (slope(0.9 + 1e-6) - slope(0.9 - 1e-6)) / 2e-6
    assert srcgrad.grad(slope)(0.9) == pytest.approx(numeric, rel=1e-7)
    assert srcgrad.grad(lambda x: slope(x))(0.9) == pytest.approx(numeric, rel=1e-7)


def popped_by_the_program(x):
    stack = []
    for k in range(3):
        stack.append(x * (k + 1))
        stack.append(stack[-1])
        b, a = stack.pop(), stack.pop()
        stack.append(a * b)
    return stack[-1] * stack[0] + stack[1]


def test_a_list_that_begins_empty_need_not_be_empty_in_the_end():
    """Once an IndexError: the adjoint of every list that is popped was taken to be empty in the end."""
    assert srcgrad.grad(srcgrad.grad(popped_by_the_program))(0.9) == pytest.approx(108 * 0.9**2 + 8.0, rel=1e-12)


def test_the_pullback_of_a_derivative_by_an_object_takes_an_object():
    """What a derivative by an object hands out was no seed of its pullback: within, it is a dict of the fields."""

    class Box:
        def __init__(self, v, s):
            self.v, self.s = v, s

    def f(x, o):
        return np.sum(x**3) + np.sum(o.v * o.s)

    x, box = np.array([1.0, 2.0]), Box(np.array([0.3, 0.4]), 1.5)
    value, pullback = srcgrad.vjp(srcgrad.grad(f, (0, 1)), x, box, argnums=(0, 1))
    x_bar, box_bar = pullback(value)
    np.testing.assert_allclose(x_bar, 6.0 * x * 3.0 * x**2)
    np.testing.assert_allclose(box_bar.v, [np.sum(box.v)] * 2)
    np.testing.assert_allclose(box_bar.s, 2.0 * box.s)


def power_of_a_parameter(x, exponent=2.0):
    return np.sum(x * x**exponent)


def its_default(x):
    return power_of_a_parameter(x) + power_of_a_parameter(x, 3)


def test_exponents_that_do_not_move_need_no_logarithm():
    x, v = np.array([0.5, -0.7]), np.array([1.0, 2.0])
    assert np.allclose(srcgrad.hvp(its_default)(x, v), (6.0 * x + 12.0 * x**2) * v)
    assert np.allclose(srcgrad.jvp(np.power, (x, np.array([2.0, 3.0])), (v, np.zeros(2)))[1], [2 * 0.5, 2 * 3 * 0.49])
