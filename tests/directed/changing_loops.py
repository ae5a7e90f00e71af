"""Loops over dicts, sets and deques that change meanwhile, where Python goes on with them."""

from collections import defaultdict, deque

import numpy as np

from tests.directed.program import directed


@directed(0.7)
def entries_that_are_there_are_replaced(x):
    d, s = {"a": x, "b": x * 2.0}, x
    for k, v in d.items():
        d[k] = v * x
        d["b"] = d["b"] * s
        s = s * 3.0 + d[k]
    return s


@directed(0.7)
def the_loop_is_left_after_the_change(x):
    d, s = {"a": x, "b": x * 2.0}, x
    for k in d:
        if d[k] > 1.0:
            d["c"] = s
            s = s * d.pop("a") * d.pop("b")
            break
        s = s * 3.0 + d[k]
    for v in d.values():
        d["e"] = v
        return s * d["e"] + d["c"]
    return s


@directed(0.7)
def an_entry_comes_and_goes_in_one_pass(x):
    d, s = {"a": x, "b": x * 2.0}, x
    for k in d:
        d["n"] = s
        s = s * 3.0 + d[k] * d.pop("n")
    return s


@directed(0.7)
def a_copy_is_looped_over(x):
    d, s = {"a": x, "b": x * 2.0}, x
    for k, v in list(d.items()):
        s = s * 3.0 + v * d.pop(k)
        d[k + "n"] = s
    for k in sorted(d):
        d[k + "m"] = d[k] * x
    return s + sum(d.values())


@directed(0.7)
def other_dicts_grow_meanwhile(x):
    d, e, s = {"a": x, "b": x * 2.0}, defaultdict(list), x
    for k, v in d.items():
        e[k + "n"].append(v * v)
        inner = {"u": v}
        inner["w"] = v * x
        s = s * 3.0 + sum(inner.values())
    return s + sum(w for row in e.values() for w in row)


@directed(0.7)
def items_of_a_deque_are_replaced(x):
    q, seen, s = deque([x, x * 2.0]), {1, 2}, x
    for v in q:
        q[1] = v * x
        s = s * 3.0 + v
    for j in seen:
        seen.add(j)
        s = s * (j + 1.0)
    return s


@directed(0.7, np.array([1.1, 0.4]))
def a_view_is_read_at_the_place_of_the_loop(x, y):
    for i, v in enumerate(y):
        try:
            y[0] = y
        except ValueError:
            pass
        finally:
            y[:][i] **= 2
    return x * y[1] + y[0]


def grown(items, v):
    if len(items) < 6:
        items.append(v)


@directed(0.7)
def lists_that_grow_under_enumerate_and_in_a_callee(x):
    v, w, s = [x, x * 2.0], [x * 3.0], x
    for i, e in enumerate(zip(v, range(5))):
        s = s * 0.5 + e[0] * (i + 1)
        v.append(s * e[1])
    for e in w:
        s = s * e + x
        grown(w, s)
    return s + v[-1] * w[-1]


@directed(0.7)
def views_that_are_bound_in_a_loop_and_unpacked(x):
    rows, s = [{"a": x}, {"a": x * x, "b": x * 3.0}], x
    for row in rows:
        values = row.values()
        row["c"] = s
        s = s * 0.5 + sum(values) * len(values)
    first, *others = rows[1].values()
    return s * first + others[0] * len([*rows[0].values()])
