"""Dicts that make what is missing, and dicts that keep an order."""

import collections
from collections import OrderedDict, defaultdict

import numpy as np

from tests.directed.program import directed


@directed(np.array([1.0,2.0,3.0]))
def default_sums_by_group(x):
    d = defaultdict(float)
    for i, v in enumerate(x):
        d[i % 2] += v*v
    return d[0]*d[1]


@directed(np.array([1.0,2.0,3.0]))
def default_lists_by_group(x):
    d = defaultdict(list)
    for i, v in enumerate(x):
        d["even" if i % 2 == 0 else "odd"].append(v*v)
    total = 0.0
    for k, vs in d.items():
        total += sum(vs)**2
    return total + d["even"][0]*len(d)


@directed(np.array([1.0,2.0,3.0]))
def default_by_lambda(x):
    d = defaultdict(lambda: 1.0)
    for i, v in enumerate(x):
        d[i] *= v
        d[i+1] = d[i]*d[i+1]
    return sum(d.values())


@directed(np.array([1.0,2.0,3.0]))
def default_by_lambda_array(x):
    d = collections.defaultdict(lambda: np.zeros(3))
    for i in range(3):
        d[i % 2] += x*x[i]
        d[0][i] = x[i]
    return np.sum(d[0]*d[1])


@directed(np.array([1.0,2.0,3.0]))
def default_ordered_pairs(x):
    d = OrderedDict([("a", x[0]), ("b", x[1]*2)])
    e = OrderedDict(a=x[2])
    return d["a"]*d["b"]*e["a"] + sum(d.values())


@directed(np.array([1.0,2.0,3.0]))
def default_missing_read(x):
    d = defaultdict(float)
    d["a"] = x[0]*x[1]
    y = d["b"] + d["a"]
    return y*y*len(d)


@directed(np.array([1.0,2.0,3.0]))
def default_nested(x):
    d = defaultdict(lambda: defaultdict(float))
    for i, v in enumerate(x):
        d[i % 2]["s"] += v*v
        d[i % 2]["n"] += 1.0
    return sum(g["s"]/g["n"] for g in d.values())


def add(d, k, v):
    d[k] += v
    return d[k]


@directed(np.array([1.0,2.0,3.0]))
def default_in_callee(x):
    d = defaultdict(float)
    t = 0.0
    for i, v in enumerate(x):
        t += add(d, i % 2, v*v)
    return t*d[1]


@directed(OrderedDict([("a", 1.0), ("b", 2.0)]), 3.0)
def default_ordered_argument(d, k):
    t = 0.0
    for name, v in d.items():
        t = t*k + v
    return t


@directed(np.array([1.0,2.0,3.0]))
def default_get_and_in(x):
    d = defaultdict(float)
    d["a"] += x[0]*x[0]
    y = d.get("b", x[1])
    if "b" not in d:
        y = y*d["b"] + x[2]*y
    d.setdefault("c", x[2])
    return y + d["c"]*d["a"]


@directed(np.array([1.0,2.0,3.0]))
def default_returned(x):
    d = defaultdict(list)
    for i, v in enumerate(x):
        d[i % 2].append(v*v)
    return d


@directed(np.array([1.0,2.0,3.0]))
def default_of_int(x):
    d = defaultdict(int)
    e = defaultdict(dict)
    for i, v in enumerate(x):
        d[i % 2] += 1
        e[i % 2][i] = v*v
    return sum(sum(e[i].values())/d[i] for i in sorted(d))


@directed(np.array([1.0, 2.0, 3.0]))
def default_read_in_try(x):
    d = defaultdict(lambda: 2.0, {"a": x[0]*x[1]})
    e = d
    try:
        y = d["b"]*x[0] + e["c"]
    except KeyError:
        y = x[2]
    def f(k):
        try:
            return d[k]*x[1]
        except KeyError:
            return 9.0
    return y*f("a")*f("z")*len(d)*isinstance(d, defaultdict)


def caught(d, k):
    try:
        return d[k]
    except KeyError:
        return 100.0


@directed(np.array([1.0, 2.0, 3.0]))
def default_caught_in_a_callee(x):
    d = defaultdict(float)
    d["a"] = x[0]*x[1]
    return caught(d, "a")*x[2] + caught(d, "b")*x[0]


@directed(np.array([1.0, 2.0, 3.0]))
def default_given_what_is_there(x):
    d = defaultdict(float)
    d["a"] = x[0]*x[1]
    rows = [d, d.copy()]
    return caught(d, "a")*caught(rows[1], "a") + add(rows[0], "a", x[2])*rows[0].get("b", x[0])


class Groups:
    def __init__(self):
        self.sums = defaultdict(float)

    def get(self, k):
        try:
            return self.sums[k]
        except KeyError:
            return 7.0


@directed(np.array([1.0, 2.0, 3.0]))
def default_in_a_field(x):
    groups = Groups()
    groups.sums["a"] = x[0]*x[1]
    return groups.get("b")*x[0] + groups.get("a")


def grouped(x):
    d = defaultdict(float)
    d["a"] = x[0]*x[1]
    return d


@directed(np.array([1.0, 2.0, 3.0]))
def default_of_a_callee(x):
    d = grouped(x)
    try:
        v = d["b"]
    except KeyError:
        v = x[2]
    return v*x[0] + d["a"]


@directed(defaultdict(float, {"a": 1.5}), np.array([1.0, 2.0, 3.0]))
def default_argument(d, x):
    try:
        v = d["b"]
    except KeyError:
        v = 3.0*x[1]
    return v*x[0] + d["a"]**2


@directed(defaultdict(float, {"a": 1.5}), np.array([1.0, 2.0, 3.0]))
def default_argument_that_has_all(d, x):
    if "b" not in d:
        d["b"] = x[0]*d["a"]
    return d["b"]*d["a"] + d.get("c", x[1])*len(d)


class Kept:
    def __init__(self):
        self.rows = defaultdict(list)

    def add(self, k, v):
        self.rows[k].append(v)


class Totals:
    def __init__(self):
        self.sums: dict = defaultdict(float)

    def add(self, k, v):
        self.sums[k] += v * 2.0


@directed(np.array([1.0, 2.0, 3.0]))
def lists_in_a_field(x):
    kept, other = Kept(), Kept()
    for i in range(3):
        kept.add("ab"[i % 2], x[i] * x[0])
    other.rows = kept.rows
    other.rows["a"].append(x[1])
    other.rows["c"].append(x[2])
    return sum(kept.rows["a"]) * kept.rows["c"][0] * len(kept.rows) + sum(kept.rows["d"])


@directed(np.array([1.0, 2.0, 3.0]))
def sums_in_a_field(x):
    totals = Totals()
    for i in range(3):
        totals.add(i % 2, x[i] * x[0])
    totals.sums["new"] += x[1]
    return totals.sums[0] * totals.sums["new"] + totals.sums["none"] * x[0] + len(totals.sums)


def counted(x):
    totals = defaultdict(float)
    for i in range(3):
        totals["ab"[i % 2]] += x[i]
    return totals


@directed(np.array([1.0, 2.0, 3.0]))
def keys_of_a_dict_that_makes_what_is_missing(x):
    """Once value and gradient were wrong in silence: items 0 and 1 were made, and read."""
    totals, nested, numbered = defaultdict(float), defaultdict(lambda: defaultdict(float)), defaultdict(list)
    for i in range(3):
        totals["ab"[i % 2]] += x[i]
        nested["ab"[i % 2]][i] += x[i] * x[0]
        numbered[i % 2].append(x[i])
    for k in sorted(totals, key=totals.get, reverse=True)[:1]:
        totals[k] *= 1.5
    best = max(totals, key=totals.get)
    s = totals[best]
    for k in list(totals):
        s += totals[k] ** 2
    for j, k in enumerate(totals):
        s += totals[k] * (j + 1.0)
    for k, v in zip(totals, x):
        s += totals[k] * v
    for k in [*totals]:
        totals[k] *= s
    for k in nested:
        for j in nested[k]:
            s += nested[k][j] ** 2
    for k in numbered:
        s += sum(numbered[k]) * k
    return s + sum(totals[k] for k in reversed(totals)) + len(totals) * x[0]
