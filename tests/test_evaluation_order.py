"""Every operand is evaluated once, in Python's order: forms of statements and expressions whose operands change."""

from __future__ import annotations

import functools
import itertools
import zlib

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import LanguageError
from tests.evaluation_order import FORMS, STATES, Ordered, patterns, program

POINT = np.array([1.3, 0.7, 1.1])
DIRECTION = np.array([0.3, -0.2, 0.5])
PROGRAMS = [(form, state, pattern) for form in FORMS for state in STATES for pattern in patterns(form)]
#: What may be refused, with a place.
_REASONS = (
    "the axis of sum varies",
    "a number is read from text",
    "an exception handler around this",
    "a store into an enclosing function",
    "which classes the objects in program have is not known",
)


def _numeric(made: Ordered) -> np.ndarray:
    step = 1e-5
    ends = [(made.function(POINT + e), made.function(POINT - e)) for e in step * np.eye(3)]
    return np.array([(up - down) / (2.0 * step) for up, down in ends])


def _judge(name: tuple[str, str, str], *, second: bool = False) -> bool:
    """Compare one program with Python and with numbers; whether there was anything to compare."""
    try:
        made = program(*name)
        value = made.function(POINT.copy())
        slope = _numeric(made)
    except (SyntaxError, IndexError, KeyError, UnboundLocalError):
        return False  # Python does not run it
    try:
        got, gradient = srcgrad.value_and_grad(made.function)(POINT.copy())
        moved, change = srcgrad.jvp(made.function, (POINT.copy(),), (DIRECTION,))
    except LanguageError as refusal:
        assert refusal.span is not None and any(why in str(refusal) for why in _REASONS), (made.text, str(refusal))
        return False
    assert got == value == moved, made.text
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-7, err_msg=made.text)
    np.testing.assert_allclose(change, slope @ DIRECTION, rtol=1e-6, atol=1e-7, err_msg=made.text)
    if second:
        at = srcgrad.grad(made.function)
        step = 1e-5 * DIRECTION
        numeric = (at(POINT + step) - at(POINT - step)) / 2e-5
        try:
            curved = srcgrad.hvp(made.function)(POINT.copy(), DIRECTION)
        except LanguageError as refusal:  # places that the first derivative saved, read from text
            assert refusal.span is not None and "read from text" in str(refusal), (made.text, str(refusal))
            return True
        np.testing.assert_allclose(curved, numeric, rtol=1e-5, atol=1e-6, err_msg=made.text)
    return True



@pytest.mark.parametrize("form", [form for form in FORMS if zlib.crc32(form.encode()) % 6 == 0])
@pytest.mark.costly(2)
def test_a_form_evaluates_its_operands_as_python_does(form: str) -> None:
    """One state and pattern of every sixth form; all of them are asked nightly."""
    number = zlib.crc32(form.encode())
    ours = [name for name in PROGRAMS if name[0] == form]
    for shift in range(len(ours)):
        if _judge(ours[(number + 7 * shift) % len(ours)], second=number % 4 == 0):
            return
    raise AssertionError("every program of this form is refused, or raises")


@pytest.mark.nightly
@pytest.mark.parametrize("form", FORMS)
def test_every_operand_of_a_form_in_every_state(form: str) -> None:
    """All states and patterns of a form, second order included."""
    judged = [_judge(name, second=True) for name in PROGRAMS if name[0] == form]
    assert sum(judged) > len(judged) // 3


def _run(function: object, *arguments: np.ndarray) -> None:
    """Value and gradient, forward and second order of a program with a written answer are those of numbers."""
    case = Ordered(str(function), "", function)  # type: ignore[arg-type]
    value, gradient = srcgrad.value_and_grad(case.function)(*arguments)
    assert value == case.function(*arguments)
    at = srcgrad.grad(case.function)
    point, step = arguments[0], 1e-5
    numeric = [(case.function(point + e) - case.function(point - e)) / (2 * step) for e in step * np.eye(point.size)]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-7)
    direction = np.linspace(0.3, -0.5, point.size)
    moved, change = srcgrad.jvp(case.function, (point,), (direction,))
    assert moved == value
    np.testing.assert_allclose(change, gradient @ direction, rtol=1e-6, atol=1e-7)
    curved = (at(point + step * direction) - at(point - step * direction)) / (2 * step)
    np.testing.assert_allclose(srcgrad.hvp(case.function)(point, direction), curved, rtol=1e-5, atol=1e-6)


def popped_while_indexed(x):
    q, out = [x[0], x[1], x[2]], np.zeros(6)
    out[len(q)] += q.pop() ** 2
    return np.sum(out * np.arange(6.0)) + x[0] * x[1]


def bound_again_while_augmented(x):
    y = np.zeros(3)
    y[:] = x
    z = y
    y += (y := 2.0 * y) * x
    return np.sum(y * y) + 10.0 * np.sum(z)


def start_of_a_count_that_the_loop_changes(x):
    c, s = [1.0], 0.0
    for k, v in enumerate(x, int(c[0])):
        c[0] = c[0] + 5.0
        s = s + k * v * v
    return s + c[0]


def spread_before_it_changes(x):
    q = [x[0], x[1], x[2]]
    t = [*q, q.pop() ** 2]
    return len(t) * t[2] * t[-1] + len(q)


@pytest.mark.parametrize(
    "function",
    [
        popped_while_indexed, bound_again_while_augmented, start_of_a_count_that_the_loop_changes,
        spread_before_it_changes,
    ],
)  # fmt: skip
@pytest.mark.costly(2)
def test_programs_that_were_wrong(function: object) -> None:
    """Found outside of the table, or at its start."""
    _run(function, POINT)


def display_before_a_name(x):
    t = [(x[0], x[1]), x[2]]
    (b, c), b = t
    return b * c


def name_before_a_display(x):
    t = [x[2], (x[0], x[1])]
    b, (b, c) = t
    return b * c


def display_of_a_loop(x):
    s = 0.0
    for (b, c), b in zip([(x[0], x[1])], [x[2]]):
        s = s + b * c
    for b, b in enumerate(x):
        s = s + b * b
    return s


def display_of_a_comprehension(x):
    return sum([b * c for (b, c), b in [((x[0], x[1]), x[2])]]) + sum(b for b, b in {1.0: x[0], 2.0: x[1]}.items())


def place_of_a_store_between(x):
    y, k, t = [0.0, 0.0, 0.0], 0, [1, x[1], 2]
    k, y[k], k = t
    return y[1] * y[1] * x[k]


def results_of_a_call(x):
    def pair(v, w):
        return v, v * w

    b, b = pair(x[0], x[1])
    return b * b


def rest_of_a_list(x):
    t = [x[1], x[2], x[0], x[1]]
    b, *b, c = t
    return b[0] * b[1] * c


@pytest.mark.parametrize(
    "function",
    [
        display_before_a_name, name_before_a_display, display_of_a_loop, display_of_a_comprehension,
        place_of_a_store_between, results_of_a_call, rest_of_a_list,
    ],
)  # fmt: skip
@pytest.mark.costly(2, first=1)
def test_a_name_that_one_target_binds_twice(function: object) -> None:
    """The last value is kept, however the target is nested."""
    _run(function, POINT)


def last(*items, k):
    return items[-1] * k


def unpacked_alone(x):
    q = [x[0], x[1], x[2]]
    return last(*q, k=q.pop() ** 2)


def test_arguments_that_are_unpacked_after_the_keywords():
    """Python takes the items of a list that is unpacked alone after the keywords: value and gradient were wrong."""
    _run(unpacked_alone, POINT)


def summed(x, d, grown):
    return sum(d.values(), grown(3.0))


def numbered(x, d, grown):
    return sum([v * i for i, v in enumerate(d.values(), grown(1))])


def paired_with_views(x, d, grown):
    return sum([v * w for v, w in zip(d.values(), grown([1.0, 2.0, 3.0]))])


def paired_with_keys(x, d, grown):
    return sum([d[k] * w for k, w in zip(d, grown([1.0, 2.0, 3.0]))])


def reduced(x, d, grown):
    return functools.reduce(lambda a, b: a + b * b, d.values(), grown(2.0))


def chained(x, d, grown):
    return sum([v * v for v in itertools.chain(d.values(), grown([7.0 * x[1]]))])


def compared(x, d, grown):
    return x[2] * 3.0 if d.keys() == grown({"a", "b", "c"}) else x[1]


def summed_set(x, d, grown):
    s = {1.0, 2.0}

    def more():
        s.add(4.0)
        return x[0] * x[0]

    return sum(s, more())


@pytest.mark.parametrize("form", [
    paired_with_keys, summed_set,
])  # fmt: skip
@pytest.mark.costly(1, first=1)
def test_a_view_shows_what_later_operands_change(form: object) -> None:
    """It was taken for a list of what the dict held before, and a set was read before."""

    def program(x):
        d = {"a": x[0], "b": 2.0 * x[1]}

        def grown(given):
            d["c"] = 5.0 * x[2]
            return given

        return form(x, d, grown)

    _run(program, POINT)


@pytest.mark.parametrize("form", [summed, numbered, paired_with_views, compared])
def test_a_view_before_an_operand_that_changes_its_dict_is_refused(form: object) -> None:
    def program(x):
        d = {"a": x[0], "b": 2.0 * x[1]}

        def grown(given):
            d["c"] = 5.0 * x[2]
            return given

        return form(x, d, grown)

    with pytest.raises(srcgrad.UnsupportedSyntax, match=r"\^"):
        srcgrad.grad(program)(POINT)


@pytest.mark.parametrize("form", [reduced, chained])
@pytest.mark.costly(1)
def test_a_view_that_is_gone_over_later_shows_what_changed(form: object) -> None:
    """Where nothing is said of the dict, the text of the derivative is not differentiated again."""

    def program(x):
        d = {"a": x[0], "b": 2.0 * x[1]}

        def grown(given):
            d["c"] = 5.0 * x[2]
            return given

        return form(x, d, grown)

    numeric = [(program(POINT + e) - program(POINT - e)) / 2e-6 for e in 1e-6 * np.eye(POINT.size)]
    np.testing.assert_allclose(srcgrad.grad(program)(POINT), numeric, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(srcgrad.jvp(program, (POINT,), (POINT,))[1], numeric @ POINT, rtol=1e-6)


def generator_over_a_dict(x):
    d = {"a": x[0]}

    def grown():
        d["b"] = x[1]
        return 0.0

    return sum((v for v in d.values()), grown())


def from_the_end(x):
    q = [x[0], x[1]]

    def grown():
        q.append(x[2])
        return [1.0, 2.0, 3.0]

    return sum([a * b for a, b in zip(reversed(q), grown())])


@pytest.mark.parametrize("function", [generator_over_a_dict, from_the_end])
def test_iterators_of_what_later_operands_change_are_refused(function: object) -> None:
    with pytest.raises(srcgrad.UnsupportedSyntax, match=r"\^"):
        srcgrad.grad(function)(POINT)
