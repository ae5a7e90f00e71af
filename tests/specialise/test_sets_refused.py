"""Sets: what would lose a derivative in one is refused, on whatever way it is put in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad.errors import SrcgradError
from srcgrad.runtime.refusals import Refused
from tests import derivatives
from tests.specialise.serving import program_of, serving

X = np.array([1.1, 0.6, 2.2, 0.7])
OUT = {0, 2}


def put_in(seen, t):
    seen.add(t)


def puts(h, t):
    h["s"].add(t)


class Held:
    def __init__(self):
        self.s = set()
    def put(self, t):
        self.s.add(t)
        return 0


def total(seen):
    s = 0.0
    for v in seen:
        s = s + v
    return s


def of_text_callee(x):
    seen = set()
    put_in(seen, float(str(x[0])))
    return sum(seen) * x[1]


def of_text_dict_callee(x):
    h = {"s": set(), "t": x[0]}
    puts(h, float(str(x[0])))
    return sum(h["s"]) * x[1]


def of_text_object(x):
    h = Held()
    h.put(float(str(x[0])))
    return sum(h.s) * x[1]


def of_text_here(x):
    seen = set()
    seen.add(float(str(x[0])))
    return sum(seen) * x[1]


def of_text_put(x):
    seen = {str(x[0])}
    return float(seen.pop()) * x[1]


def of_text_put_callee(x):
    seen = set()
    put_in(seen, str(x[0]))
    return float(seen.pop()) * x[1]


def of_number(x):
    seen = set()
    seen.add(x[0])
    return sum(seen) * x[1]


def of_number_callee(x):
    seen = set()
    put_in(seen, x[0])
    return sum(seen) * x[1]


def of_number_field(x):
    h = Held()
    h.put(x[0])
    return total(h.s) * x[1]


def of_display(x):
    return sum({x[0], x[1]}) * x[2]


def of_from_array(x):
    s = 0.0
    for v in set(x):
        s = s + v * x[0]
    return s


def of_comp(x):
    return max({v * v for v in x}) * x[2]


def of_update(x):
    s = {0.0}
    s.update(x[:2])
    s |= {x[2]}
    return sum(s) * x[2]


def of_union(x):
    s = {0.0}
    t = s.union([x[0]])
    return sum(t) * x[2]


def of_tuple(x):
    s = {(0, x[0])}
    r = 0.0
    for i, v in s:
        r = r + v * x[1]
    return r


def of_alias(x):
    a = set()
    b = a
    b.add(x[0])
    return sum(a) * x[1]


def of_in_list(x):
    a = [set()]
    a[0].add(x[0])
    return sum(a[0]) * x[1]


def of_dict_values(x):
    d = {"a": x[0], "b": x[1]}
    s = set(d.values())
    return sum(s) * x[1]


def of_keys(x):
    d = {x[0]: 1.0}
    s = set(d)
    return sum(s) * x[1]


def of_keys2(x):
    d = {}
    d[x[0]] = 1.0
    s = set()
    s |= set(d)
    for k in s:
        return k * x[1]
    return x[0]


def returned(x):
    s = set()
    s.add(x)
    return s


def of_returned(x):
    return sum(returned(x[0])) * x[1]


def of_returned2(x):
    s = returned(x[0])
    s.add(2.0)
    t = list(s)
    return t[0] * t[1] * x[1]


def of_pop(x):
    s = {x[0] * 2.0}
    return s.pop() * x[1]


def of_intersection(x):
    s = {1.1, 2.0}
    s &= {x[0]}
    return sum(s) * x[1]


def of_intersect_tuple(x):
    s = {v * 2.0 for v in (1.0, 2.0)}
    t = s.symmetric_difference((x[0],))
    r = 0.0
    for v in sorted(t):
        r = r * v + v
    return r * x[1]


def of_except(x):
    s = set()
    try:
        s.remove(x[0])
    except KeyError as e:
        return e.args[0] * x[1]
    return x[0]


def of_fromkeys(x):
    s = {x[0]}
    d = dict.fromkeys(s, 1.0)
    for k in d:
        return k * x[1]
    return 0.0


def of_nested2(x):
    return float(min({str(x[0])} | {"9"})) * x[1]


def of_functions(x):
    k = x[0]

    def g(v):
        return v * k

    for f in {g}:
        return f(x[1])
    return 0.0


def put_number(seen, t):
    seen.add(float(t))


def of_text_read_in_callee(x):
    seen = set()
    put_number(seen, str(x[0]))
    return sum(seen) * x[1]


def of_text_read_in_attempt(x):
    seen = set()
    try:
        seen.add(float(str(x[0])))
    except KeyError:
        pass
    return sum(seen) * x[1]


def set_or_list(x):
    s = {1, 2} if x[0] > 1.0 else [1, 2]
    for i in s:
        return x[i]
    return 0.0


def set_outside_that_changes(x):
    OUT.add(1)
    return x[0] * len(OUT)


@pytest.mark.parametrize("function", [
    of_text_callee, of_text_dict_callee, of_text_object, of_text_here, of_text_put, of_text_put_callee,
    of_number, of_number_callee, of_number_field, of_display, of_from_array, of_comp, of_update, of_union,
    of_tuple, of_alias, of_in_list, of_dict_values, of_keys, of_keys2, of_returned, of_returned2, of_pop,
    of_intersection, of_intersect_tuple, of_except, of_fromkeys, of_nested2,
    of_text_read_in_callee, of_text_read_in_attempt, of_functions, set_or_list, set_outside_that_changes,
])  # fmt: skip
def test_refused(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    case = program_of(function, (X,))
    with pytest.raises((SrcgradError, Refused)), serving(case, monkeypatch.setattr):
        derivatives.reverse(case, 1.0)
