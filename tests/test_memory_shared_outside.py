"""Arguments that are stored into and are something else as well: another such argument, or what the program, or what it
calls, reads outside.  A derivative stores into a copy, so that these are refused when they are met."""

from __future__ import annotations

import functools
from types import SimpleNamespace

import numpy as np
import pytest

import srcgrad
from srcgrad import programs
from srcgrad.runtime.reaching import reached
from tests import memory_elsewhere

GRID = np.array([0.7, -0.4, 1.3])
OTHER = np.array([0.2, 0.9, -0.6])


class Holder:
    shared = GRID

    def __init__(self, w):
        self.w = w
        self.parts = [w]

    def scaled(self, x):
        return self.w[0] * x.sum()

    @property
    def first(self):
        return self.w[0]


class Reader:
    def scaled(self, x):
        return GRID[0] * x.sum()

    @property
    def first(self):
        return GRID[0]

    def __call__(self, x):
        return GRID[0] * x.sum()


HOLDER, READER, NESTED = Holder(GRID), Reader(), (1.0, (GRID,))
APART = Holder(OTHER)
SPACE = SimpleNamespace(w=np.ones(3), parts=[np.ones(3)])
SPACES = (SPACE,)
TABLE = {"w": np.ones(3)}
KNOWN = {id(SPACE.parts)}
FACTORS = {HOLDER: 3.0}


def first():
    return GRID[0]


def scaled(x):
    return GRID[0] * x.sum()


def deeper(k):
    return k * first()


def down(x, n):
    return GRID[0] if n == 0 else down(x, n - 1) * x[n]


def capturing():
    w = GRID
    return lambda x: w[0] * x.sum()


CAPTURED, FUNCTIONS, GIVEN = capturing(), [scaled], functools.partial(lambda g, x: g[0] * x.sum(), GRID)


def storing(read):
    """A program that stores into x before ``read(x)``, without a call of a function that only the run tells."""

    def program(x):
        x[0] = 2.0 * x[1]
        return read(x) + x.sum()

    return program


READS = {
    "callee": lambda x: first(),
    "callee of a callee": lambda x: deeper(2.0),
    "recursion": lambda x: down(x, 2),
    "test": lambda x: 1.0 if first() > 0.0 else 3.0,
    "field": lambda x: HOLDER.w[0],
    "item of a field": lambda x: HOLDER.parts[0][0],
    "getattr": lambda x: getattr(HOLDER, "w")[0],
    "class attribute": lambda x: Holder.shared[0],
    "class attribute of a new object": lambda x: Holder(OTHER).shared[0],
    "module attribute": lambda x: memory_elsewhere.PLACE[0],
    "item of a module": lambda x: memory_elsewhere.PLACES[0][0],
    "function of a module": lambda x: memory_elsewhere.first(),
    "nested tuple": lambda x: NESTED[1][0][0],
    "method": lambda x: HOLDER.scaled(x),
    "property": lambda x: HOLDER.first,
    "method that reads a global": lambda x: READER.scaled(x),
    "property that reads a global": lambda x: READER.first,
    "object that is called": lambda x: READER(x),
    "function in a list": lambda x: FUNCTIONS[0](x),
    "function in a dict": lambda x: {"a": scaled}["a"](x),
    "closure": lambda x: CAPTURED(x),
    "partial": lambda x: GIVEN(x),
}


def refused(function, arguments, match, argnums=0):
    """All four programs refuse the call: in reverse and forward mode, for these kinds of arguments and for any."""
    chosen = argnums if isinstance(argnums, tuple) else (argnums,)
    tangents = tuple(_ones(a) if j in chosen else None for j, a in enumerate(arguments))
    for specialise in (True, False):
        with programs.options(specialise=specialise):
            for run in (
                lambda: srcgrad.value_and_grad(function, argnums)(*arguments),
                lambda: srcgrad.vjp(function, *arguments, argnums=argnums),
                lambda: srcgrad.jvp(function, arguments, tangents),
            ):
                with pytest.raises((ValueError, srcgrad.SrcgradError), match=match):
                    run()


def _ones(value):
    if isinstance(value, list):
        return [_ones(part) for part in value]
    if isinstance(value, SimpleNamespace):
        return SimpleNamespace(**{name: _ones(part) for name, part in vars(value).items()})
    return np.ones(np.shape(value))




@pytest.mark.parametrize("name", READS)
@pytest.mark.costly(2, first=1)
def test_what_is_read_outside_is_apart(name):
    x = memory_elsewhere.PLACE if "module" in name else GRID
    before = x.copy()
    refused(storing(READS[name]), (x,), "x is stored into and shares memory with|this call")
    refused(storing(READS[name]), (x[::-1],), "x is stored into and shares memory with|this call")
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("name", READS)
def test_a_copy_is_apart(name):
    program, x = storing(READS[name]), OTHER.copy()
    value, gradient = srcgrad.value_and_grad(program)(x)
    assert value == program(x.copy())
    expected = [(program(x + h) - program(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)


def put_in_dict(x, d):
    d["w"] = x
    return np.sum(table_read())


def table_read():
    return TABLE["w"]


def field_set(x, s):
    s.w = x * 2.0
    return SPACE.w.sum()


def field_set_in_a_tuple(x, s):
    s.w = x * 2.0
    return SPACES[0].w.sum()


def item_set(x, items):
    items[0] = x * 2.0
    return SPACE.parts[0].sum()


def with_function(x, f):
    x[0] = 2.0 * x[1]
    return f(x)


def with_functions(x, fs):
    x[0] = 2.0 * x[1]
    return fs[0](x)


def is_it(x, p):
    p.w = p.w * x
    return p.w.sum() * (3.0 if p is HOLDER else 1.0)


def is_in(x, p):
    p.w = p.w * x
    return p.w.sum() * (3.0 if p in [HOLDER] else 1.0)


def is_key(x, p):
    p.w = p.w * x
    return p.w.sum() * {HOLDER: 3.0}.get(p, 1.0)


def is_key_outside(x, p):
    p.w = p.w * x
    return p.w.sum() * FACTORS.get(p, 1.0)


def has_place(x, items):
    items[0] = items[0] * x
    return items[0].sum() * (3.0 if id(items) in KNOWN else 1.0)


@pytest.mark.parametrize(
    ("function", "other"),
    [
        (put_in_dict, TABLE), (field_set, SPACE), (field_set_in_a_tuple, SPACE), (item_set, SPACE.parts),
        (is_it, HOLDER), (is_in, HOLDER), (is_key, HOLDER), (is_key_outside, HOLDER), (has_place, SPACE.parts),
    ],
)  # fmt: skip
@pytest.mark.costly(2, first=1)
def test_containers_and_objects_are_apart(function, other):
    refused(function, (OTHER, other), "is stored into and shares memory with|is not known|methods of class Holder")


def test_functions_that_are_passed_read_nothing_that_is_stored_into():
    refused(with_function, (GRID, scaled), "x is stored into and shares memory with")
    refused(with_functions, (GRID, [scaled]), "x is stored into and shares memory with|this call")


def both_scaled(a, b):
    a *= 2.0
    b += 1.0
    return b.sum()


def crossing(a, b):
    a[0] = 2.0 * b[1]
    b[2] = a[0]
    return (a * b).sum()


def crossing_in_list(a, rows):
    a[0] = 2.0 * rows[0][1]
    rows[0][2] = a[0]
    return (a * rows[0]).sum()


def crossing_in_object(s, a):
    s.u[0] = 2.0 * a[1]
    a[2] = s.u[0]
    return (a * s.u).sum()


def fields_scaled(s, t):
    s.u = s.u * 2.0
    t.u = t.u * 3.0
    return (s.u * t.u).sum()


def items_scaled(rows, others):
    rows[0] = rows[0] * 2.0
    others[0] = others[0] * 3.0
    return (rows[0] * others[0]).sum()


def appended(rows, others):
    rows.append(rows[0] * others[0])
    others[1][0] = 0.5
    return sum(v.sum() for v in rows) * sum(v.prod() for v in others)


LINE, SPACED, ROWS = np.array([0.7, -0.4, 1.3, 0.2]), SimpleNamespace(u=GRID), [GRID]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (both_scaled, (GRID, GRID)), (crossing, (GRID, GRID)), (crossing, (LINE[:3], LINE[2::-1])),
        (crossing_in_list, (GRID, [GRID])), (crossing_in_object, (SPACED, GRID)), (fields_scaled, (SPACED, SPACED)),
        (items_scaled, (ROWS, ROWS)), (items_scaled, ([GRID], [GRID])), (appended, ([GRID], [GRID, OTHER])),
    ],
)  # fmt: skip
@pytest.mark.costly(2)
def test_arguments_that_are_stored_into_are_apart(function, arguments):
    for argnums in ((0, 1), 1):
        refused(function, arguments, "are stored into and share memory", argnums)


def test_arguments_that_are_stored_into_may_be_interleaved():
    value, gradients = srcgrad.value_and_grad(crossing, (0, 1))(np.arange(6.0)[::2], np.arange(6.0)[1::2])
    assert value == 6.0 * 1.0 + 2.0 * 3.0 + 4.0 * 6.0
    assert [g.tolist() for g in gradients] == [[0.0, 3.0, 6.0], [6.0, 2.0 + 2.0 + 8.0, 0.0]]


def test_integers_that_two_arguments_share_go_on_being_shared():
    def program(x, counts, again):
        counts[0] += 2
        again[1] = again[0]
        return x.sum() * counts[1]

    counts = np.array([1, 0])
    assert srcgrad.grad(program)(GRID, counts, counts).tolist() == [3.0, 3.0, 3.0]
    assert counts.tolist() == [1, 0]


def both_stored(a, b):
    a *= 2.0
    b *= 3.0
    return (a * b * b).sum()


def test_a_derivative_inside_is_refused_as_well():
    def outer(x):
        y = x * OTHER
        return (srcgrad.grad(both_stored)(y, y) * x).sum()

    refused(outer, (GRID,), "a and b are stored into and share memory")


def test_second_derivatives_pass_the_check():
    def program(x):
        x[0] = x[0] * x[1]
        factor = 2.0 if GRID[0] + APART.w[1] > 0.0 and first() > 0.0 else 3.0
        return np.sum(x**3) * factor * len(ROWS)

    x = OTHER.copy()
    gradient = srcgrad.grad(program)
    expected = [(gradient(x + h) - gradient(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(srcgrad.hessian(program)(x), expected, rtol=1e-5, atol=1e-7)
    for second in (srcgrad.hessian(program), srcgrad.jacobian(gradient)):
        with pytest.raises(ValueError, match="x is stored into and shares memory with"):
            second(GRID)



def test_what_is_reached():
    def reaches(value, other):
        return any(part is other for part in reached([value]))

    assert all(reaches(value, GRID) for value in (first, deeper, CAPTURED, GIVEN, READER, HOLDER.scaled, Holder))
    assert reaches({HOLDER}, GRID) and reaches({HOLDER: 1.0}, GRID) and reaches(srcgrad.grad(deeper), GRID)
    assert reaches(memory_elsewhere.first, memory_elsewhere.PLACE)
    assert not reaches(table_read, GRID) and not reaches(np.sum, GRID) and not reaches(APART.w, GRID)
