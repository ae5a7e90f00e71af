"""Objects, operators and patterns: which method runs is written down, and what the values decide is not compiled."""

from __future__ import annotations

from collections import defaultdict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import UnsupportedSyntax
from tests.directed import running
from tests.directed.program import Program
from tests.specialise.serving import is_served, serving, written
from tests.specialise.test_specialise import text

X = np.array([0.7, 1.3, -0.4])
SERVED: list[Program] = []


def served(function: Callable[..., Any]) -> Callable[..., Any]:
    """A program that is written, and right in both directions."""
    SERVED.append(Program(function.__name__, "objects", function, (X,), {}, (0,), True, 2, 1e-7, {}))
    return function


class Vec:
    def __init__(self, a, b=1.0):
        self.a, self.b = a, b

    def __add__(self, other):
        if isinstance(other, Vec):
            return Vec(self.a + other.a, self.b * other.b)
        return Vec(self.a + other, self.b)

    def __radd__(self, other):
        return Vec(other - self.a, self.b)

    def __neg__(self):
        return Vec(-self.a, self.b)

    def __lt__(self, other):
        return self.a < other.a

    def __getitem__(self, place):
        return self.a if place == 0 else self.b

    def __setitem__(self, place, value):
        if place == 0:
            self.a = value * 2.0
        else:
            self.b = value

    @property
    def size(self):
        return self.a * self.b

    @size.setter
    def size(self, value):
        self.a = value / self.b


class Longer(Vec):
    def __init__(self, a, b):
        super().__init__(a, b)
        self.c = a * b

    def __radd__(self, other):
        return Vec(self.c * 3.0, self.b)


@served
def operators_and_their_reflections(x):
    v = 2.0 + Vec(x[0], x[1])
    w = x[2] + (v + Vec(x[1])) + x[0]
    return w.a * w.b + (-v).a


@served
def the_method_of_a_subclass_is_tried_first(x):
    v = Vec(x[0], x[1]) + Longer(x[1], x[2])
    return v.a * v.b


@served
def items_and_properties_that_are_set(x):
    v = Vec(x[0], x[1])
    v[0] = x[2]
    v[0] += x[1]
    v.size = x[0] * v[0]
    v.size *= x[1]
    return v.a + v.size * x[2]


@served
def a_comparison_decides_between_objects(x):
    v, w = Vec(x[0]), Vec(x[1])
    best = v if v < w else w
    best.a = best.a * x[2]
    return v.a * w.a


class Square:
    def __init__(self, side):
        self.side = side

    def area(self, by=1.0):
        self.side = self.side * by
        return self.side**2


class Disk:
    def __init__(self, radius):
        self.side = radius

    def area(self, by=2.0):
        return np.pi * self.side**2 * by


@served
def a_method_of_one_of_two_classes_that_stores(x):
    shapes = [Square(x[0]), Disk(x[1])]
    total = 0.0
    for shape in shapes:
        total = total + shape.area(by=x[2]) * shape.area()
        shape.side = shape.side * x[0]
    return total + shapes[0].side * shapes[1].side


@served
def a_method_is_of_the_object_that_it_was_read_of(x):
    v = Square(x[0])
    area = v.area
    v = Square(x[1])
    return area(x[2]) * v.area(x[0]) + area()


@dataclass
class Setting:
    rate: float
    parts: list = field(default_factory=list)
    scale: float = 2.0

    def __post_init__(self):
        self.scale = self.scale * self.rate


@served
def a_dataclass_with_a_list_of_its_own(x):
    one, two = Setting(x[0]), Setting(x[1], scale=x[2])
    one.parts.append(x[2])
    two.parts.append(x[0] * x[1])
    return one.parts[0] * two.parts[0] + one.scale * two.scale + len(one.parts)


Pair = namedtuple("Pair", "first second", defaults=[3.0])


@served
def named_tuples(x):
    p, q = Pair(x[0]), Pair(second=x[1], first=x[2])
    return p.first * q.second + p[1] * q[0]


class Stack:
    depth = 2.0

    def __init__(self, a):
        self.items = []
        self.push(a)
        self.last = self.items[0] * self.depth

    def push(self, a):
        self.items.append(a * self.depth)


@served
def an_object_that_runs_its_own_methods_while_it_is_made(x):
    s, t = Stack(x[0]), Stack(x[1])
    s.push(x[2])
    return s.items[1] * s.last + t.last * Stack.depth


# --- patterns --------------------------------------------------------------------------------------------------------
@served
def sequences_with_stars(x):
    match (x[0], x[1], x[2], 2.0):
        case (a, b):
            return a * b
        case (a, *rest, c) if len(rest) == 2:
            return a * rest[0] * rest[1] * c
    return x[0]


@served
def mappings_in_mappings(x):
    for kind in ("linear", "other"):
        match {"kind": "linear", "by": {"rate": x[0], "shift": x[1]}}:
            case {"kind": "square"}:
                return x[2]
            case {"by": {"rate": rate, "shift": shift}} if kind == "linear":
                x = x * rate + shift
    return np.sum(x)


@served
def a_guard_that_changes_what_was_captured(x):
    def grow(values):
        values[0] = values[0] * x[1]
        return values[0] > 100.0

    values = [x[0], x[2]]
    match values:
        case [a, b] if grow(values):
            return a
        case [a, b]:
            return a * b
    return x[0]


@dataclass(slots=True)
class Gained:
    value: float
    gain: float = field(init=False, default=2.0)


@served
def a_default_that_init_sets(x):
    held = Gained(x[0])
    held.gain = held.gain * x[1]
    return held.value * held.gain + Gained(x[2]).gain


@dataclass
class Node:
    kind: str
    left: Any
    right: Any = None


@served
def attributes_and_values(x):
    node = Node("mul", x[0], Node("leaf", x[1]))
    match node:
        case Node("add", u, v):
            return u
        case Node(kind="mul", left=u, right=Node("leaf", v)):
            return u * v * x[2]
    return x[0]


@served
def lengths_that_are_not_known(x):
    values = []
    for v in x:
        if v > 0.0:
            values.append(v)
    match values:
        case [a]:
            return a
        case [a, b]:
            return a * b * x[2]
    return x[0]


class Gas(Enum):
    AIR = 1.4
    HELIUM = 1.66

    def __init__(self, gamma):
        self.gamma = gamma

    def heated(self, t):
        return self.value * t


@dataclass
class Chamber:
    pressure: Any
    gas: Gas = Gas.HELIUM


@served
def members_of_an_enumeration(x):
    chamber = Chamber(x[0] * x[1])
    s = chamber.gas.heated(x[2]) if chamber.gas is Gas.HELIUM else x[0]
    weights = {Gas.AIR: x[1], Gas.HELIUM: x[0] * Gas.AIR.gamma}
    return s * chamber.pressure + weights[chamber.gas] * len(Gas.AIR.name)


class Sums:
    def __init__(self):
        self.parts = defaultdict(float)


def put(d, k, v):
    d[k] += v
    return d[k]


@served
def dicts_that_make_what_is_missing(x):
    sums, start = Sums(), defaultdict(int, {"a": x[0]})
    rows = defaultdict(lambda: defaultdict(list))
    for i, v in enumerate(x):
        put(sums.parts, "ab"[i % 2], v * v)
        rows[i % 2]["squares"].append(v * v)
        start["b" if v > 0.5 else "a"] += v
    s = sums.parts["a"] * sums.parts["b"] + sums.parts["c"]
    for row in rows.values():
        s = s + sum(row["squares"]) ** 2
    return s * start["a"] * start["b"] + len(sums.parts) * x[0] + start["none"]


@pytest.mark.parametrize("program", SERVED, ids=lambda program: program.name)
@pytest.mark.costly(2, first=1)
def test_right_in_both_directions(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    assert written(program) is not None
    with serving(program, monkeypatch.setattr):
        assert is_served(lambda: running.run_reverse(program, sink=True))
        assert is_served(lambda: running.run_forward(program))


def test_patterns_that_the_values_decide_are_not_compiled():
    assert "if" not in text(attributes_and_values, X)


def test_a_branch_on_the_class():
    made = text(a_method_of_one_of_two_classes_that_stores, X)
    assert "if type(shape) is Disk:" in made and "shape.area(" in made


class Power(Enum):
    SQUARE = 2
    CUBE = 3

    def __call__(self, v):
        return v**self.value


def calls_members(x):
    return np.sum(Power.SQUARE(x) * Power.CUBE(x))


def test_a_member_that_is_called_is_refused():
    """It was taken for what cannot be called: the program raised AssertionError."""
    with pytest.raises(UnsupportedSyntax):
        srcgrad.grad(calls_members)(X)


class Planet(Enum):
    EARTH = 1.0

    def __init__(self, mass):
        self.mass = mass

    def pull(self, v):
        return self.mass * v


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


class Speed(IntEnum):
    SLOW = 1
    FAST = 2


def by_member(x, member):
    return np.sum(x**2) if member is Size.LARGE else np.sum(x**3) if member is Speed.FAST else np.sum(x)


def by_members(x):
    return by_member(x, Size.LARGE) + 3.0 * by_member(x, 2) + 5.0 * by_member(x, Speed.FAST)


def test_equal_members_of_two_enumerations_are_told_apart():
    """Integers and members that are equal, and show as the same text, are different kinds of arguments."""
    derivative = srcgrad.grad(by_member)
    for member, expected in ((Size.LARGE, 2 * X), (Speed.FAST, 3 * X**2), (2, X**0), (Size.SMALL, X**0)):
        assert np.allclose(derivative(X, member), expected)
    assert np.allclose(srcgrad.grad(by_members)(X), 2 * X + 3.0 + 15 * X**2)


class Peculiar(Enum):
    ONE = 1
    TWO = 2

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1


class Lenient(Enum):
    ONE = 1.0

    @classmethod
    def _missing_(cls, value):
        return cls.ONE


def compares_members(x):
    return np.sum(x**2) if Peculiar.ONE in (Peculiar.TWO, 3) else np.sum(x)


def finds_a_member(x):
    return np.sum(x) * Lenient(3.0).value


def stores_into_a_member(x):
    Planet.EARTH.mass = x[0]
    return np.sum(x) * Planet.EARTH.mass


@pytest.mark.parametrize("function", [compares_members, finds_a_member, stores_into_a_member])
def test_what_the_class_of_a_member_decides_is_refused(function):
    with pytest.raises(UnsupportedSyntax):
        srcgrad.grad(function)(X)
    assert Planet.EARTH.mass == 1.0


class Reflected:
    def __rmul__(self, other):
        return other * other


def pulled_by_a_field(v):
    return v * Planet.EARTH.mass


def pulled_by_a_method(v):
    return v * Planet.EARTH.pull(v)


def test_what_a_member_holds_may_change_between_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient was that of what the member held before: of a field that is of another class now, or hides a method.
    """
    by_field, by_method = srcgrad.grad(pulled_by_a_field), srcgrad.grad(pulled_by_a_method)
    assert (by_field(1.5), by_method(1.5)) == (1.0, 3.0)
    with monkeypatch.context() as inside:
        inside.setattr(Planet.EARTH, "mass", Reflected())
        assert by_field(1.5) == 3.0
    with monkeypatch.context() as inside:
        inside.setattr(Planet.EARTH, "pull", lambda v: v * v)
        with pytest.raises(UnsupportedSyntax):
            by_method(1.5)
    assert (by_field(1.5), by_method(1.5)) == (1.0, 3.0)
