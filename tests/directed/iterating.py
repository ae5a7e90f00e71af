"""Columns of rows, tuples of what is iterated over, dicts that are walked while they change."""

import enum
import functools
import itertools
import math
from collections import deque

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


@directed([[1.0,2.0],[3.0,4.0],[0.5,0.7]])
def columns_in_a_loop(rows):
    total = 0.0
    for a, b, c in zip(*rows):
        total += a*b - c*c
    return total


@directed([[1.0,2.0],[3.0,4.0],[0.5,0.7]])
def sums_of_columns(rows):
    return sum(s*s for s in [sum(c) for c in zip(*rows)])


@directed([[1.0,2.0],[3.0,4.0],[0.5,0.7]])
def columns_as_a_list(rows):
    t = list(zip(*rows))
    return t[0][1]*t[1][2]+t[1][0]


@directed([(1.0,2.0),(3.0,4.0),(0.5,0.7)])
def columns_unpacked(pairs):
    a, b = zip(*pairs)
    return sum(a)*sum(b) + a[0]*b[1]


@directed(np.array([[1.0,2.0],[3.0,4.0],[0.5,0.7]]))
def columns_of_a_matrix(x):
    t = 0.0
    for col in zip(*x):
        t += col[0]*col[2]
    return t


@directed(np.array([[1.0,2.0],[3.0,4.0],[0.5,0.7]]))
def columns_of_a_matrix_unpacked(x):
    a, b = zip(*x)
    return np.sum(np.array(a)*np.array(b))


@directed([np.array([1.0,2.0]),np.array([3.0,4.0])])
def columns_of_arrays_counted(rows):
    t = 0.0
    for i, (a, b) in enumerate(zip(*rows)):
        t += (i+1)*a*b
    return t


@directed(np.array([1.0,2.0,3.0]))
def a_dict_of_two_rows(x):
    rows = [["a","b","c"], x*x]
    d = dict(zip(*rows))
    return d["a"]*d["c"]


@directed([np.array([1.0,2.0]),np.array([3.0,4.0])], 2.0)
def columns_of_rows_that_are_stored_into(rows, k):
    rows[0][1] = k*rows[1][0]
    t = 0.0
    for a, b in zip(*rows):
        t += a*b
    rows[1][:] = 0.0
    return t


@directed([(1.0,2.0),(3.0,4.0),(0.5,0.7)])
def columns_of_sorted_pairs(pairs):
    xs, ys = map(list, zip(*sorted(pairs)))
    return xs[0]*ys[1]+ys[2]


@directed([(1.0,2.0),(3.0,4.0),(0.5,0.7)], 2.0)
def columns_of_tuples(pairs, k):
    t = 0.0
    for a, b, c in zip(*pairs, ):
        t += a*b*c*k
    return t


@directed([[1.0,2.0],[3.0,4.0]], [5.0, 6.0])
def rows_and_one_more(rows, w):
    t = 0.0
    for a, b, c in zip(*rows, w):
        t += a*b*c
    return t


@directed(np.array([1.0,2.0,3.0]))
def columns_of_pairs_that_were_appended(x):
    pairs = []
    for v in x:
        pairs.append((v*v, np.sin(v)))
    a, b = zip(*pairs)
    return sum(p*q for p, q in zip(a, b))


@directed(np.array([1.0,2.0,3.0]))
def columns_of_pairs_of_arrays(x):
    pairs = [(v*x, np.sin(v)*x) for v in x]
    a, b = zip(*pairs)
    return np.sum(np.array(a)*np.stack(b))


@directed([[1.0,2.0],[3.0,4.0],[0.5,0.7]])
def columns_as_lists_stored_into(rows):
    cols = [list(c) for c in zip(*rows)]
    cols[0][1] = cols[0][1]*cols[1][0]
    return sum(sum(c) for c in cols) * cols[0][1]


@directed([[1.0,2.0],[3.0,4.0],[0.5,0.7]])
def a_table_is_turned(rows):
    m = [list(r)[::-1] for r in zip(*rows)]
    return m[0][0]*m[1][2]


@directed(2.0)
def columns_of_no_rows(x):
    rows = []
    t = x
    for c in zip(*rows):
        t = t * 2.0
    return t


@directed([[1.0,2.0,9.0],[3.0,4.0]])
def columns_of_rows_of_two_lengths(rows):
    return sum(a*b for a, b in zip(*rows))


@directed([[1.0,2.0,9.0],[3.0,4.0,2.0]])
def a_function_of_columns(rows):
    return sum(map(lambda c: c[0]*c[1], zip(*rows)))


@directed([[1.0,2.0,9.0],[3.0,4.0,2.0]])
def a_function_of_several_rows(rows):
    return max(map(lambda a, b: a*b, *rows))


@directed([1.0,2.0])
def tuple_of_list(rows):
    t = tuple(rows)
    return t[0]*t[1]


@directed([1.0,2.0])
def tuple_of_generator(rows):
    t = tuple(v*v for v in rows)
    return t[0]*t[1]


@directed(np.array([1.0,2.0]))
def tuple_of_array(rows):
    t = tuple(rows)
    return t[0]*t[1]


@directed(np.array([1.0,2.0]))
def tuple_of_map(rows):
    t = tuple(map(np.sin, rows))
    return t[0]*t[1], t


@directed(np.array([1.0,2.0]))
def tuple_of_tuple(rows):
    t = tuple((rows[0], rows*2))
    t[1][0] = 7.0*rows[1]
    return t[0]*t[1][0]


@directed(np.array([1.0,2.0]))
def tuple_of_stored(x):
    rows = [x*1.0, x*x]
    t = tuple(rows)
    rows[0][1] = x[0]**2
    rows[1] = 5.0
    return t[0][1]*np.sum(t[1])


@directed([np.array([1.0,2.0]),np.array([1.0,2.0])])
def tuple_of_matrix(x):
    t = tuple(r*r for r in x)
    u = t + (x[0],)
    return sum(map(np.sum, u))


@directed(np.array([1.0, 2.0, 3.0]))
def the_greatest_and_the_least_of_a_deque(x):
    queue = deque(x)
    return max(queue) * min(queue)


@directed({"w": np.array([1.0, 2.0]), "b": 0.5}, 0.1)
def keys_update(params, lr):
    for k in params:
        params[k] = params[k] - lr * params[k] * params[k]
    return np.sum(params["w"]) * params["b"]


@directed({"w": 1.5, "b": 0.5}, {"w": 0.3, "b": 0.7}, 0.1)
def keys_steps(params, g, lr):
    for _ in range(3):
        for k in params:
            params[k] -= lr * g[k] * params[k]
    t = 0.0
    for k in params:
        t += params[k]**2
    return t


@directed({"w": 1.5, "b": 0.5}, {"w": 0.3, "b": 0.7}, 0.1)
def keys_items(params, g, lr):
    for k, v in params.items():
        params[k] = v - lr * g[k]*v
    for k, v in g.items():
        params[k] = params[k]*v
    return params["w"]*params["b"]


@directed({"w": np.array([1.0,2.0]), "b": np.array([0.5])}, 0.1)
def keys_in_place(params, lr):
    for k in params:
        params[k] -= lr * params[k]**2
        params[k][0] = 2.0*params[k][-1]
    return np.sum(params["w"]) * params["b"][0]


def sgd(params, grads, lr):
    for k in params:
        params[k] = params[k] - lr*grads[k]


@directed({"w": 1.5, "b": 0.5}, 0.1)
def keys_callee(params, lr):
    for i in range(2):
        sgd(params, {k: 2*params[k]*params["w"] for k in params}, lr)
    return params["w"]*params["b"]


def upd(params, k, lr):
    params[k] = params[k]*lr


@directed({"w": 1.5, "b": 0.5}, 0.1)
def keys_through_callee(params, lr):
    for k in params:
        upd(params, k, lr)
        lr = lr + params[k]
    return params["w"]*params["b"]


@directed({"w": 1.5, "b": 0.5}, 0.1)
def keys_alias(params, lr):
    q = params
    for k in q:
        params[k] = q[k]*lr
    return params["w"]*q["b"]


@directed(np.array([1.5, 0.5]))
def keys_made(x):
    d = {}
    for i in range(2):
        d[i] = x[i]*x[0]
    for k in d:
        d[k] = d[k]*d[0]
    return d[0]*d[1]


@directed({"w": 1.5, "b": 0.5}, 0.1)
def keys_nested(params, lr):
    new = {}
    for k in params:
        new[k] = params[k] - lr*params[k]
    for k in new:
        if k == "w":
            continue
        new[k] *= 2.0
    return new["w"]*new["b"]


@directed([{"w": 1.5, "b": 0.5}, {"w": 0.3}], 0.1)
def keys_layers(ps, lr):
    for layer in ps:
        for k in layer:
            layer[k] = layer[k]*lr
    return ps[0]["w"]*ps[1]["w"]


@directed([2, 0, 1], [1.0, 2.0, 3.0])
def keys_list_index(perm, v):
    t = 0.0
    for k in perm:
        v[k] = v[k]*v[perm[k]]
    return v[0]*v[1]+v[2]


@directed(np.array([1.0,2.0,3.0]))
def keys_sorted_loop(x):
    v = [x[2], x[0], x[1]]
    v.sort()
    s = 0.0
    for i in sorted(range(3), key=lambda i: v[i]):
        v[i] = v[i]*x[i]
        s += v[i]
    return s


@directed([2, 0, 1], [1.0, 2.0, 3.0])
def keys_list_changed(perm, v):
    t = 0.0
    for k in perm:
        perm[2] = 0
        v[k] = v[k]*v[perm[k]]
        t += perm[k]*v[k]
    return v[0]*v[1]+v[2]+t


def total(params):
    t = 0.0
    for k in params:
        t += params[k]*params[k]
    return t


@directed({"w": 1.5, "b": 0.5}, 0.1)
def keys_reading_callee(params, lr):
    t = 0.0
    for i in range(2):
        t += total(params)
        for k, v in params.items():
            params[k] = v*lr + t
    return t + total(params)


@directed({"w": np.array([1.5, 2.0]), "b": np.array([0.5])}, 0.1)
def keys_velocities(params, lr):
    vel = {k: np.zeros_like(params[k]) for k in params}
    for _ in range(3):
        for k in params:
            g = 2*params[k]
            vel[k] = 0.9*vel[k] + g
            params[k] = params[k] - lr*vel[k]
    return sum(np.sum(params[k]**2) for k in params)


@directed(np.array([1.0,2.0,3.0]))
def view_values_then_alias_changes(x):
    d = {"a": x[0]*x[0], "b": x[1]}
    e = d
    v = d.values()
    e["a"] = x[2]*x[1]
    return sum(v)*d["a"]


def change(d, v):
    d["a"] = v


@directed(np.array([1.0,2.0,3.0]))
def view_values_then_callee_changes(x):
    d = {"a": x[0]*x[0], "b": x[1]}
    v = d.values()
    change(d, x[2]*x[1])
    return sum(v)*d["a"]


@directed(np.array([1.0,2.0,3.0]))
def view_items_then_alias(x):
    d = {"a": x[0]*x[0], "b": x[1]}
    e = [d]
    v = d.items()
    e[0]["c"] = x[2]*x[1]
    t = 0.0
    for k, w in v:
        t += w*w*len(k)
    return t


@directed(np.array([1.0,2.0,3.0]))
def view_keys_then_alias(x):
    d = {"a": x[0]*x[0], "b": x[1]}
    e = d
    v = d.keys()
    e["c"] = x[2]*x[1]
    t = 0.0
    for k in v:
        t += d[k]*d[k]
    return t*len(v)


@directed(vector(3))
def views_are_no_lists(x):
    d, e = {"a": x[0], "b": x[1]}, {"b": x[2], "a": x[0]}
    q, r = d.keys(), e.keys()
    same = q
    total = x[0] * 3.0 if q == r else x[1]
    total = total * x[1] if isinstance(same, list) else total * x[2]
    return total * x[0] if d.values() == d.values() else total


@directed(vector(3))
def a_view_that_a_local_function_returns(x):
    d = {"a": x[0], "b": x[1]}
    names = lambda: d.keys()
    return d["a"] * x[2] if names() == {"a", "b"} else d["b"]


@directed(vector(3))
def entries_that_are_compared(x):
    d = {"a": x[0], "b": x[1]}
    v, w = d.values(), d.values()
    return sum(v) * x[2] if v == w else x[0] * x[1] + len(w)


@directed({"a": 1.0, "b": 2.0}, 3.0)
def view_argument(d, k):
    v = d.values()
    change(d, k*k)
    return sum(v)*k


@directed({"a": 1.0, "b": 2.0}, 3.0)
def view_argument_items(d, k):
    v = d.items()
    change(d, k*k)
    return sum(w for _, w in v)*k


@directed({"a": 1.0, "b": 2.0}, 3.0)
def view_unchanged(d, k):
    v = d.values()
    w = d.items()
    u = d.keys()
    t = sum(v)*k
    for n in u:
        t += d[n]
    for n, z in w:
        t += z*z*len(n)
    return t + len(v)


class Holder:
    def __init__(self, d):
        self.d = d

    def put(self, v):
        self.d["a"] = v


@directed(np.array([1.0,2.0,3.0]))
def view_in_object(x):
    b = Holder({"a": x[0]*x[0], "b": x[1]})
    v = b.d.values()
    b.put(x[2]*x[1])
    return sum(v)


@directed(np.array([1.0,2.0,3.0]))
def view_given_to_callee(x):
    d = {"a": x[0]*x[0], "b": x[1]}
    return through(d.values(), d, x[2])


def through(v, d, z):
    d["a"] = z*z
    return sum(v)


@directed(np.array([0.3,0.4,0.5,0.7]))
def extended_by_what_it_holds(x):
    """Once wrong in silence: the generator was run through before the first item was in the list."""
    items, last, first = [x[0]], deque([x[0]], maxlen=3), deque([x[1]])
    items.extend(items[-1]*v + len(items) for v in x)
    last.extend(sum(last)*v for v in x if v > 0.35)
    first.extendleft(first[0]*v for v in x)
    return sum(items)*items[-1] + sum(last)*last[-1] + first[0]*first[1]


@directed(np.array([0.3,0.4,0.5,0.7]))
def iterators_of_what_is_stored_into(x):
    """Once wrong in silence: what an iterator runs through was read before the loop began."""
    items, s = list(x), 0.0
    for i, v in enumerate(itertools.chain(items[:1], items)):
        s += v*(i + 1)
        items[3] = s*v
    for a, b in itertools.pairwise(items):
        s += a*b
        items[2] = a*3.0
    for v in itertools.islice(items, 1, None, 2):
        s += v*v
        items[3] = s
    for t in itertools.accumulate(items):
        s += 0.1*t*t
        items[2] = 0.1*s
    return s


@directed(np.array([0.3,0.4,0.5,0.7]))
def functions_of_iterators_read_what_is_bound_in_the_loop(x):
    """Once wrong in silence: the functions were called before the loop began."""
    items, s = list(x), 0.0
    for v in filter(lambda v: v > 0.5*s, items):
        s += v*v
        items[3] = s*2.0
    for i, v in enumerate(itertools.starmap(lambda a, b: a*b*s, zip(items, x))):
        s += v*(i + 1)
        if v > 0.1:
            break
        items[i + 1] = s
    for t in itertools.accumulate(items, lambda a, b: a*b + s):
        s += t
    return s*v


def raised(y, v):
    y[0] += v
    return y[0] > 0.65


@directed(np.array([0.3,0.4,0.5,0.7]))
def any_and_all_stop(x):
    """Once wrong in silence: a function that stores was called for all items."""
    y, z, w = x*1.0, x*2.0, x*1.0
    a = any(map(functools.partial(raised, y), x))
    b = all(filter(lambda v: raised(z, v) and v > 0.45, x))
    c = any(raised(w, u*v) for u in x for v in x if v > 0.35)
    return y[0]*(1 + a) + z[0]*z[0]*(2 + b) + w[0]**3*(1 + c)


@directed(np.array([0.3,0.4,0.5,0.7]))
def what_a_loop_counts_by_is_bound_again(x):
    """Once wrong in silence: start and range, or the dict, were read at each pass."""
    items, n, s = list(x), 1, 0.0
    for i, v in enumerate(items, n):
        n += 2
        s += i*v*n
    for i, v in zip(range(n - 7, n), items):
        n += i
        s += v*i
    d = {"a": x[0], "b": x[1]}
    for _, v in d.items():
        d = {"a": x[2]*v, "b": x[3]}
        s += v*2.0
    return s*n


@directed(np.array([0.3,0.4,0.5,0.7]))
def reduced_while_it_is_stored_into(x):
    """Once wrong in silence: the list was copied before it was run through."""
    items = list(x)

    def joined(a, b):
        items[-1] = a
        return a*b + items[0]

    return functools.reduce(joined, items) + functools.reduce(joined, items[1:], items[-1]) + items[-1]


@directed(np.array([0.3,0.4,0.5,0.7]))
def items_made_as_they_are_asked_for(x):
    """Once wrong in silence: all items were made before the first was taken in."""
    y, items, last = x*1.0, [x[0]], deque([x[0]], 3)

    def grown(v):
        y[0] += v
        return y[0]*y[1]

    s = functools.reduce(lambda a, b: a*y[0] + b, map(grown, x), y[0]*2.0)
    s += functools.reduce(lambda a, b: a*y[0] + b, (grown(v) for v in x))
    items.extend(map(lambda v: items[-1]*v + len(items), x))
    last.extend(filter(lambda v: v > 0.4*sum(last), x))
    return s + sum(items)*items[-1] + last[0]*last[1]


@directed(np.array([0.3,0.4,0.5,0.7]))
def reduced_from_nothing(x):
    """Once None, or an IndexError: ``reduce`` of nothing raises what a handler waits for."""
    s = 0.0
    for items in (x[:0], x[1:3]):
        try:
            s += functools.reduce(lambda a, b: a*b, map(lambda v: v*v, items))
            s += functools.reduce(lambda a, b: a*b, items)
        except TypeError:
            s += x[0]*x[3]
    return s*s


@directed(np.array([0.3,0.4,0.5,0.7]))
def a_chain_that_is_left(x):
    """Once wrong in silence: all items were read before the first pass."""
    y, z, s = x[:2]*1.0, x[2:]*1.0, 0.0
    for v in itertools.chain(y, z):
        s += v*v
        y[1], z[0] = s*0.9, v*2.0
        if s > 0.6:
            break
    else:
        s *= 100.0
    return s + y[1]*z[0]


@directed(np.array([0.7,1.3,0.4]), np.array([1.1,0.6]))
def zip_asks_a_map_once_more(x, y):
    """Once wrong in silence: what is made before the shorter list ends is made, and stored."""
    buffer, seen, s = np.ones(1), [1.0], 0.0

    def grown(v):
        buffer[0] *= v
        seen.append(v*buffer[0])
        return v*seen[-2]

    for a, b in zip(map(grown, x), y):
        s += a*b
    for a, v, b in zip(y, map(grown, x), x):
        s += a*b*v
    pairs = list(zip(map(grown, x), y))
    return s + sum(a*b for a, b in pairs)*buffer[0] + sum(seen)


@directed(np.array([0.7,1.3,0.4]), np.array([1.1,0.6]))
def iterators_in_a_zip(x, y):
    """Once wrong in silence: the items of an iterator inside ``zip`` were read beforehand."""
    z, s = x*1.0, 0.0
    for (i, a), b in zip(enumerate(itertools.chain(z, y)), range(10)):
        if i == 3:
            continue
        s += a*a*(b + 1)
        z[2] = s*0.3
    for a, b in zip(itertools.accumulate(z), y):
        s += a*b
        z[1] = s*0.2
    for b, a in zip(y, filter(lambda v: v > 0.0, z)):
        s += a*b
        z[1] = s*0.3
    return s*z[1]


@directed(np.array([0.3,1.2,-0.5,2.0]), 0.7)
def iterators_keep_their_functions(x, y):
    """Once wrong in silence: the function was read again in each pass, by a name that the loop had bound anew."""
    s, wanted, tested, joined, paired = 0.0, lambda v: v > 0, lambda v: v < 1.5, lambda a, v: a*y + v, lambda a, v: a*v
    for v in filter(wanted, x):
        s, wanted = s + v**2*y, lambda v: v < 0
    for v in itertools.takewhile(tested, x):
        s, tested = s + v**2*y, lambda v: v < 1
    for v in itertools.accumulate(x, joined):
        s, joined = s + v**2*y, lambda a, v: a*v
    for v in itertools.starmap(paired, [(x[0], y), (x[1], x[2])]):
        s, paired = s + v**2*y, lambda a, v: a*y
    return s


@directed(np.array([0.3,1.2,-0.5,2.0]), 0.7)
def iterators_keep_the_defaults_of_their_functions(x, y):
    """Once wrong in silence: a default was taken again in each pass."""
    s, limit, k = 0.0, 0.0, y
    for v in filter(lambda v, limit=limit: v > limit, x):
        s, limit = s + v**2*y, limit + 1.0
    for v in map(lambda v, k=k: v*k, x):
        s, k = s + v, k*v
    for v in filter(functools.partial(np.less, limit - 3.0), x):
        s, limit = s*v + y, 9.0
    return s


@directed({"b": 0.5, "a": 1.5}, np.array([0.3,0.4]))
def a_dict_made_a_list_of_its_keys(s, y):
    """Once an AttributeError: what is bound to the keys of a dict was taken for a dict."""
    total = s["a"]*y[0] + s["b"]
    s = sorted(s)
    for j, name in enumerate(s):
        total = total*y[j] if name == "a" else total + y[j]**2
    for name in s:
        total = total + (y[0] if name == "b" else y[1])**3
    return total


@directed(np.array([0.7,1.3,0.4]))
def keys_that_come_twice(x):
    """Once a TypeError: what a later pair replaces was made by a function that stores."""
    buffer = np.ones(1)

    def grown(v):
        buffer[0] *= v
        return v*buffer[0]

    d = {i % 2: grown(x[i]) for i in range(3)}
    return d[0]*2.0 + d[1] + buffer[0]


@directed(vector(4), 0.2)
def letters_beside_what_varies(x, a):
    """Forward mode once lost the tangent of ``v`` in silence; the rest was refused."""
    p, q = {}, {g: a * k for k, g in enumerate("ifog")}
    for k, v in zip("abcd", x):
        p[k] = v * a
    p["a"] *= p["b"]
    q["f"] += p["a"]
    r = dict(zip("uv", x))
    return p["a"] * p["d"] + q["f"] * q["g"] + r["v"]


class Doubled:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, k):
        return self.items[k] * 2.0


class Handing:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


@directed(np.array([0.7, 1.3, 0.4]), without={"eager": "converted to a float"})
def objects_that_are_run_through(x):
    """Once tangents of zero, in silence, and errors in the reverse sweep: functions took objects for lists."""
    y = Doubled(x * x)
    return sum(y) * max(y) + math.fsum(Handing(x)) * min(Handing(x)) + sorted(y)[1] * tuple(Handing(x))[0]


class Phase(enum.Enum):
    GAS = 0
    LIQUID = 1


@directed(np.array([0.7, 1.3, 0.4]), 0.3)
def members_of_an_enumeration_are_keys(x, k):
    """Once a gradient of zero, in silence: a record held copies of members, which find nothing."""
    rates, energy = {Phase.GAS: k, Phase.LIQUID: k * k}, {Phase.GAS: 0.0, Phase.LIQUID: 1.0}
    phase = Phase.GAS
    for v in x:
        energy[phase] += rates[phase] * v * v
        phase = Phase.LIQUID if v > 1.0 else Phase.GAS
    return energy[Phase.GAS] * energy[Phase.LIQUID]
