"""Lists and dicts that change: items put in, taken out, replaced, in callees and under two names."""

from __future__ import annotations

import numpy as np

from tests.corpus.example import example, vector


@example(vector(3))
def popped_and_inserted(x):
    items = [x * 2.0, np.sin(x)]
    y = items.pop()
    items.append(y * 3.0)
    items.insert(0, y)
    z = items.pop(1)
    return np.sum(items[0] * items[1]) + np.sum(z * z)


@example(vector(3))
def items_replaced(x):
    items = [1.0, 2.0, 3.0]
    items[1] = x[0] * x[1]
    items[0] = items[1] * items[1]
    items[2] += x[2]
    del items[1]
    return items[0] * items[1]


@example(vector(3))
def dict_that_changes(x):
    d = {}
    d["a"] = x * x
    d["b"] = np.sum(d["a"])
    d["a"] = d["a"] * d["b"]
    v = d.pop("b")
    e = d.setdefault("c", v * 2.0)
    f = d.setdefault("c", v * 5.0)
    d.update(q=x[0])
    return np.sum(d["a"]) * v + e * f + d["q"] * d.get("none", v)


def push(items, v):
    items.append(v * v)
    return items


@example(vector(3))
def list_changed_by_a_callee(x):
    items = [x[0]]
    more = push(items, x[1])
    push(more, x[2])
    return items[1] * more[2] * items[0]


@example([1.0, 2.0, 3.0], 0.4)
def argument_list_that_grows(items, v):
    items.append(v * items[0])
    items[1] = items[1] * items[3]
    return items[1] * items[2]


@example({"a": 1.5, "b": vector(2)}, 0.4)
def argument_dict_that_changes(d, v):
    d["a"] = d["a"] * v
    d["b"][0] = d["a"] ** 2
    d["c"] = d["a"] * np.sum(d["b"])
    return d["c"]


@example(vector(3))
def lists_joined(x):
    first = [x[0], x * 2.0]
    second = [x[1]]
    whole = first + second
    twice = whole + whole
    return whole[0] * whole[2] + np.sum(twice[1] * twice[4])


@example(vector(3))
def lists_repeated(x):
    items = [x[0], x[1]] * 3
    more = 2 * [x[2]]
    return items[0] * items[4] + items[3] * more[1] + len(items)


@example(vector(3))
def slots_filled_in_a_loop(x):
    items = [0.0] * 3
    for i in range(3):
        items[i] = x[i] * x[0]
    return items[0] * items[1] + items[2]


@example({"a": 1.0, "b": 2.0})
def dicts_of_computed_keys(d):
    e = {k: v * v for k, v in d.items()}
    f = {**e, "c": e["a"] * 3.0, "a": e["b"]}
    key = "z"
    g = {key: f["a"], "y": d["a"]}
    h = e | g
    m = dict(zip(["p", "q"], [h["z"], h["a"]]))
    n = dict([("u", m["p"])], w=m["q"])
    return f["a"] * f["c"] + h["y"] + m["p"] * n["u"] + n["w"] + sum(h.values())
