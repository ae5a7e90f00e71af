"""``vars(o)`` and ``o.__dict__`` that are read where they are made: right against numbers, or refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pytest import MonkeyPatch

from srcgrad import grad, hvp, options
from srcgrad.errors import UnsupportedSyntax
from srcgrad.runtime.objects import require_fields
from srcgrad.runtime.refusals import RefusedMode
from tests.specialise.serving import check_right


class Pair:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def total(self):
        return sum(k * v for k, v in enumerate(vars(self).values(), 1))

    def __repr__(self):
        return f"Pair({', '.join(f'{name}={value}' for name, value in self.__dict__.items())})"


@dataclass
class Setting:
    rate: float
    scale: float = 2.0


def by_name(x):
    pair = Pair(x, x * x)
    return vars(pair)["a"] * pair.__dict__["b"] * vars(pair).get("c", 3.0)


def in_a_loop(x):
    total = 0.0
    for name, value in vars(Pair(x, x * x)).items():
        total += value * len(name + name)
    return total


def in_a_method(x):
    return Pair(x * 2.0, x * x).total() * len(repr(Pair(1, 2)))


def of_a_dataclass(x):
    return sum(vars(Setting(x * x)).values()) * vars(Setting(scale=x, rate=1.0))["scale"]


def of_a_namespace(x):
    made = SimpleNamespace(u=x, v=x * x)
    return sum(k * v for k, v in enumerate(vars(made).values())) + len(vars(made))


def as_arguments(x):
    def product(a, b):
        return a * b * b

    return product(**vars(Pair(x, x * x)))


def in_other_dicts(x):
    pair = Pair(x, x * x)
    merged = {**vars(pair), "c": x * 3.0}
    copied = dict(vars(pair))
    copied["a"] = x * 9.0
    return sum(merged.values()) * copied["a"] * pair.a


def that_has_more_by_now(x):
    pair = Pair(x, x * x)
    pair.c = x * 3.0
    return sum(k * v for k, v in enumerate(vars(pair).values()))


def of_what_was_taken_out_and_put_back(x):
    pair = Pair(x, x * x)
    del pair.a
    pair.a = x * 5.0
    return list(vars(pair).values())[0] * pair.a


def of_a_name_that_it_lacks(x):
    try:
        return vars(Pair(x, x))["c"]
    except KeyError:
        return x * 7.0


def of_arrays(x):
    pair = Pair(np.ones(2) * x, np.arange(2.0))
    for value in vars(pair).values():
        value *= x
    held = dict(vars(pair))
    held["b"][0] = x * 5.0
    return np.sum(pair.a * pair.b)


@pytest.mark.parametrize(
    "f", [by_name, in_a_loop, in_a_method, of_a_dataclass, of_a_namespace, as_arguments, in_other_dicts,
          that_has_more_by_now, of_what_was_taken_out_and_put_back, of_a_name_that_it_lacks, of_arrays],
)  # fmt: skip
def test_right(f: Callable[..., Any], monkeypatch: MonkeyPatch) -> None:
    check_right(f, monkeypatch, 0.7)


class Shown:
    def __init__(self, a):
        self.a = a

    @property
    def __dict__(self):
        return {"a": self.a * self.a}


def decided_by_a_class(x):
    return Shown(x).__dict__["a"]


def test_a_dict_that_a_class_decides_is_not_that_of_the_fields(monkeypatch: MonkeyPatch) -> None:
    check_right(decided_by_a_class, monkeypatch, 0.7)
    with pytest.raises(UnsupportedSyntax):
        grad(lambda x: vars(Shown(x))["a"])(0.7)


def weighted(pair):
    return sum(k * v * v for k, v in enumerate(vars(pair).values(), 1))


def test_an_argument_may_have_its_fields_in_another_order() -> None:
    derivative = grad(weighted)
    found = derivative(Pair(0.5, 0.7))
    assert (found.a, found.b) == (1.0, 2.8)
    other = Pair(0.5, 0.7)
    del other.a
    other.a = 0.5
    found = derivative(other)
    assert (found.a, found.b) == (2.0, 1.4)


def test_other_fields_than_were_inferred_are_refused() -> None:
    require_fields(Pair(1, 2), ("a", "b"))
    with pytest.raises(RefusedMode, match="holds"):
        require_fields(Pair(1, 2), ("b", "a"))


def test_second_derivatives() -> None:
    assert np.isclose(hvp(in_a_loop)(0.7, 1.0), 4.0)


class Flipped:
    def __init__(self, x, is_flipped):
        if is_flipped:
            self.b = x
            self.a = x * x
        else:
            self.a = x * x
            self.b = x


def in_an_order_that_varies(x):
    return list(vars(Flipped(x, x < 0.0)).values())[0]


def kept(x):
    pair = Pair(x, 2.0)
    held = vars(pair)
    pair.a = x * x
    return held["a"]


def stored_into(x):
    pair = Pair(x, 2.0)
    vars(pair)["a"] = x * x
    return pair.a


def updated(x):
    pair = Pair(x, 2.0)
    pair.__dict__.update(a=x * x)
    return pair.a


def stored_in_its_loop(x):
    pair, total = Pair(x, x * 2.0), 0.0
    for value in vars(pair).values():
        total += value
        pair.b = x * x * x
    return total


def set_in_its_loop(x):
    pair = Pair(x, x * 2.0)
    for name, value in vars(pair).items():
        setattr(pair, name, value * value)
    return pair.a + pair.b


def handed_on(x):
    def product(held):
        return held["a"] * held["b"]

    return product(vars(Pair(x, x * x)))


def bumped(pair):
    pair.b = pair.b * 5.0
    return 1.0


def stored_by_an_argument(x):
    pair = Pair(x, x * x)
    return vars(pair).get("b", bumped(pair))


def stored_by_what_runs_in_its_loop(x):
    pair, total = Pair(x, x * x), 0.0
    for value in vars(pair).values():
        total += value * sum(map(lambda k: k * bumped(pair), [1.0, 2.0]))
    return total


def stored_by_a_generator_beside_it(x):
    pair, total = Pair(x, x * x), 0.0

    def steps():
        for k in range(2):
            bumped(pair)
            yield k + 1.0

    for step, value in zip(steps(), vars(pair).values()):
        total += step * value
    return total


def stored_by_one_of_two_functions(x):
    pair, total = Pair(x, x * 2.0), 0.0
    for value in vars(pair).values():
        total += value
        (setattr if total > 0.0 else isinstance)(pair, "b", x * x * x)
    return total


def stored_by_a_key(x):
    pair = Pair(x, x * x)
    return max(vars(pair).values(), key=lambda value: value * bumped(pair))


def mapped(x):
    return sum(held["a"] for held in map(vars, [Pair(x, 1.0), Pair(2.0 * x, x)]))


@pytest.mark.parametrize(
    "f", [in_an_order_that_varies, kept, stored_into, updated, stored_in_its_loop, set_in_its_loop, handed_on, mapped,
          stored_by_an_argument, stored_by_what_runs_in_its_loop, stored_by_a_generator_beside_it,
          stored_by_one_of_two_functions, stored_by_a_key],
)  # fmt: skip
@pytest.mark.parametrize("specialise", [True, False])
def test_refused(f: Callable[..., Any], specialise: bool) -> None:
    with options(specialise=specialise), pytest.raises(UnsupportedSyntax) as refusal:
        grad(f)(0.7)
    assert refusal.value.code in ("E0109", "E0214")
