"""Lists, dicts, tuples, named tuples and deques of arrays and numbers, changed and aliased."""

import functools
import itertools
from collections import defaultdict, deque, namedtuple

import numpy as np

from tests.corpus.example import matrix, positive, vector
from tests.directed.program import directed

Pair = namedtuple("Pair", "left right")


@directed(vector(4))
def list_of_arrays_appended_and_stored_into(x):
    rows = []
    for i in range(3):
        rows.append(np.sin(x) * (i + 1))
        rows[i][0] = x[i] * rows[0][1]
    rows[1][2] = 0.0
    return np.sum(rows[0] * rows[1] * rows[2])


@directed(vector(4))
def the_same_array_in_a_list_twice(x):
    y = np.sin(x)
    pair = [y, y]
    pair[0][1] = pair[1][2] * x[0]
    pair[1][0] *= pair[0][1]
    return np.sum(pair[0] * pair[1])


@directed(vector(4))
def a_list_item_is_replaced(x):
    y = np.sin(x)
    items = [y, x * 2.0]
    items[0] = items[0] * items[1]
    items[0][1] = x[0]
    y[2] = x[1]
    return np.sum(items[0]) + np.sum(y * y)


@directed(vector(4))
def two_names_of_one_list(x):
    items = [x[0], x[1] * x[2]]
    other = items
    other.append(x[3] * x[0])
    other[0] = items[1] * 2.0
    return sum(items) * len(other)


@directed(vector(4))
def numbers_in_a_list_stored_over(x):
    v = [0.0] * 4
    for i in range(4):
        v[i] = x[i] * x[3 - i]
    for i in range(1, 4):
        v[i] += v[i - 1] * x[i]
    return v[3] * v[1]


@directed(vector(4))
def list_methods(x):
    v = [x[0], x[1]]
    v.append(x[2] * v[0])
    v.extend([x[3], v[2] * 2.0])
    v.insert(1, x[3] * x[0])
    last = v.pop()
    first = v.pop(0)
    v.reverse()
    v += [first * last]
    w = v.copy()
    w[0] = 1.0
    del v[1]
    return v[0] * v[1] + v[2] * w[0] + sum(w) + len(v)


@directed(vector(5), analytic=False)
def sorted_lists_of_numbers(x):
    v = [x[i] * x[0] for i in range(5)]
    v.sort()
    w = sorted(v, key=lambda e: -e)
    return v[0] * x[1] + w[0] * x[2] + v[2] * w[1]


@directed(vector(4))
def slices_of_lists(x):
    v = [x[0], x[1], x[2], x[3]]
    v[1:3] = [x[0] * x[1], x[2] * 2.0, x[3] * x[3]]
    w = v[::-1]
    w[0] = 2.0
    return v[4] * v[1] + w[0] * w[1] + sum(v[1:3])


@directed(vector(4))
def a_stack_machine(x):
    stack = []
    for i in range(4):
        stack.append(np.sin(x[i]))
        if i % 2:
            b = stack.pop()
            a = stack.pop()
            stack.append(a * b + x[0])
    return stack.pop() * stack.pop()


@directed(vector(4))
def a_list_of_lists(x):
    grid = [[x[i] * x[j] for j in range(3)] for i in range(3)]
    row = grid[1]
    row[2] = grid[0][1] * x[3]
    grid[2], grid[0] = grid[0], grid[2]
    grid[0][0] *= row[2]
    return sum(sum(r) for r in grid) + row[2] * grid[2][1]


@directed(vector(4))
def rows_of_the_same_list(x):
    grid = [[x[0], x[1]]] * 2
    grid[0][1] = x[2] * x[3]
    return grid[1][1] * grid[0][0]


@directed(vector(4))
def dict_of_arrays(x):
    d = {"a": np.sin(x), "b": x * 2.0}
    d["a"][0] = d["b"][1] * x[2]
    d["c"] = d["a"]
    d["c"][3] *= 2.0
    d["b"] = d["b"] * d["a"]
    return sum(np.sum(v * v) for v in d.values())


@directed(vector(4))
def dict_methods(x):
    d = {"a": x[0], "b": x[1] * x[2]}
    d.update(c=x[3], a=d["a"] * 2.0)
    d.setdefault("e", x[0] * x[1])
    d.setdefault("a", 100.0)
    p = d.pop("b")
    q = d.get("missing", x[2])
    s = 0.0
    for key, value in d.items():
        s = s + value * len(key)
    if "a" in d:
        s = s * d["a"]
    del d["c"]
    return s + p * q + sum(d.values()) + len(d)


@directed(vector(4))
def accumulating_in_a_dict(x):
    totals = {}
    for i in range(4):
        key = i % 2
        totals[key] = totals.get(key, 0.0) + x[i] * x[0]
    totals[0] *= totals[1]
    return totals[0] + totals[1] ** 2


@directed(vector(4))
def a_defaultdict_of_lists(x):
    groups = defaultdict(list)
    for i in range(4):
        groups[i % 2].append(x[i] * x[3 - i])
    return sum(groups[0]) * groups[1][0] + groups[1][1]


@directed(vector(4))
def a_deque_window(x):
    window = deque(maxlen=3)
    s = 0.0
    for i in range(4):
        window.append(x[i] * x[0])
        window[0] = window[0] * 1.5
        s = s + sum(window) * x[i]
    window.appendleft(s)
    return window.popleft() * window[0] + window.pop()


@directed(vector(4))
def a_queue(x):
    queue = deque([x[0]])
    total = 0.0
    while queue:
        v = queue.popleft()
        total = total + v * v
        if total < 0.7 and len(queue) < 3:
            queue.append(v * x[1])
            queue.append(np.sin(v) + x[2])
    return total


@directed(vector(4))
def named_tuples(x):
    p = Pair(np.sin(x), right=x * 2.0)
    p.left[0] = p.right[1] * x[3]
    q = p._replace(right=p.left)
    q.right[2] *= 3.0
    left, right = q
    return np.sum(left * right) + np.sum(p.right)


@directed([vector(3), vector(3, 1)], {"w": vector(3, 2), "b": 0.3})
def containers_as_arguments_are_changed(rows, parameters):
    rows[0][1] = parameters["b"] * rows[1][0]
    rows.append(parameters["w"] * rows[0])
    parameters["w"][0] = rows[2][1]
    parameters["c"] = parameters["b"] * 2.0
    return np.sum(rows[2] * parameters["w"]) * parameters["c"]


@directed([1.5, 0.4, 0.6])
def the_list_given_is_emptied(v):
    s = 1.0
    while v:
        s = s * v.pop() + 0.1
    return s


@directed(vector(3), 0.4)
def containers_as_results(x, a):
    y = np.sin(x)
    d = {"y": y, "numbers": [a * x[0], (a, y[1:])]}
    y[1] = a * x[2]
    d["numbers"][0] = d["numbers"][0] * 2.0
    return d


@directed(vector(4))
def unpacked_and_swapped(x):
    y = [np.sin(x), np.cos(x), x * 1.0]
    y[0], y[1] = y[1], y[0]
    first, *rest = y
    first[0] = x[1]
    rest[0][1] = first[0] * x[2]
    (p, q), r = rest, first
    q[2] = p[1] * r[0]
    return np.sum(y[0] * y[1] * y[2])


@directed(matrix(3, 4))
def no_row_left_for_a_star(m):
    first, *rest = m[:1]
    a, *between, b = m
    return np.sum(first * a) + len(rest) + np.sum(between[0] * b)


@directed(vector(3))
def a_star_takes_the_rest_of_a_queue(x):
    first, *rest = deque([x[0], x[1] * x[2], x[2]])
    return first * rest[0] + rest[1]


@directed(matrix(3, 4))
def columns_by_zip_of_rows(m):
    rows = [m[0] * 1.0, m[1] * 2.0, np.sin(m[2])]
    s = 0.0
    for a, b, c in zip(*rows):
        s = s + a * b * c
    rows[0][0] = s
    return sum(sum(column) ** 2 for column in zip(*rows))


@directed(vector(5))
def pairwise_and_accumulate(x):
    s = 0.0
    for a, b in itertools.pairwise(x):
        s = s + a * b
    for t in itertools.accumulate(x * 2.0):
        s = s + t * t
    return s


@directed(vector(5))
def product_chain_islice_and_repeat(x):
    s = 0.5
    for a, b in itertools.product(x[:2], x[2:4]):
        s = s * 0.9 + a * b
    for v in itertools.chain([s], x[:2]):
        s = s + v
    for v in itertools.islice(x, 1, 4, 2):
        s = s * v
    for v in itertools.repeat(x[0], 2):
        s = s + v * x[1]
    return s


@directed(vector(4))
def items_of_an_iterator_that_are_not_used(x):
    s = x[0]
    n = 0
    for pair in itertools.pairwise(x):
        n += 1
        s = s * x[n]
    return s * n


@directed(vector(5))
def map_filter_and_reduce(x):
    y = np.sin(x)
    v = list(map(lambda e: e * y[0], y))
    y[0] = x[1]
    w = [e for e in filter(lambda e: e > -10.0, v)]
    return functools.reduce(lambda s, e: s * 0.5 + e * y[0], w, x[0])


@directed(vector(4))
def generator_over_a_mutated_array(x):
    y = np.sin(x)
    total = sum(v * v for v in y)
    y[1] = total
    return total * max(v * 2.0 for v in y)


@directed(vector(4))
def iterating_a_list_that_grows(x):
    v = [x[0]]
    for e in v:
        if len(v) < 5:
            v.append(e * x[1] + 0.1)
    return sum(v) * v[-1]


@directed(vector(4))
def iterating_an_array_that_is_stored_into(x):
    y = np.sin(x)
    s = 0.0
    i = 0
    for v in y:
        s = s + v * v
        if i < 3:
            y[i + 1] = v * x[i]
        i += 1
    return s


@directed(vector(4))
def iterating_an_enumerated_array_that_is_stored_into(x):
    y = np.sin(x)
    s = 0.0
    for i, v in enumerate(y):
        y[3 - i] = v * x[i] + s
        s = s + v * y[0]
    return s * np.sum(y)


@directed(vector(4))
def iterating_reversed_and_strided(x):
    y = np.sin(x)
    for v, w in zip(reversed(y), y[::2]):
        y[1] = y[1] * v + w
    return np.sum(y * y)


@directed(vector(4))
def a_callee_grows_a_list(x):
    history = []
    s = x[0]
    for i in range(3):
        s = step_and_record(s, x[i + 1], history)
    history[0][1] = s
    return history[0][1] * history[1][0] + history[2][0] * len(history)


def step_and_record(s, v, history):
    state = np.zeros(2)
    state[0] = s * v
    history.append(state)
    return np.sin(state[0]) + s


@directed(vector(4))
def a_callee_returns_a_container_of_views(x):
    y = np.sin(x)
    left, right = halves(y)
    left[0] = right[1] * x[0]
    both = {"l": left, "r": right}
    both["r"][0] *= both["l"][0]
    return np.sum(y * y)


def halves(y):
    return y[:2], y[2:]


@directed(positive(3))
def stack_of_a_list_that_changes_later(x):
    rows = [x * 1.0, np.sin(x)]
    s = np.stack(rows)
    rows[0][0] = 5.0
    rows.append(x)
    t = np.concatenate(rows)
    rows[1][:] = 0.0
    return np.sum(s * s) + np.sum(t * t)


@directed(positive(3))
def sum_of_a_list_that_changes_later(x):
    v = [x[0] * x[1], x[2]]
    s = sum(v)
    v[0] = 0.0
    v.append(s * s)
    return s * sum(v)


@directed(vector(4), (1, 3))
def arrays_in_a_tuple_by_a_computed_place(x, order):
    parts = (x * 1.0, np.sin(x), np.cos(x), x * x)
    for k in order:
        parts[k][0] = parts[k - 1][1] * x[k]
    return sum(np.sum(p * p) for p in parts)


@directed(vector(4))
def conditional_alias_in_a_container(x):
    y = np.sin(x)
    z = np.cos(x)
    chosen = [y if x[0] > 0.0 else z, z if x[1] > 5.0 else y]
    chosen[0][1] = x[2] * chosen[1][3]
    chosen[1][0] = chosen[0][1]
    return np.sum(y * z)


@directed(vector(4))
def comprehension_of_views(x):
    y = np.sin(x)
    views = [y[i : i + 2] for i in range(3)]
    for v in views:
        v[0] = v[1] * x[0]
    table = {i: v for i, v in enumerate(views)}
    table[1][1] = x[3]
    return np.sum(y * y) + sum(np.sum(v) for v in views)


@directed(vector(3), 4)
def a_history_of_states_is_read_backwards(x, n):
    history = [x * 1.0]
    for i in range(n):
        new = np.empty(3)
        new[0] = history[-1][1] * 0.9
        new[1:] = np.sin(history[-1][:2]) + history[0][2]
        history.append(new)
    s = 0.0
    while history:
        state = history.pop()
        s = s * 0.7 + np.sum(state * state)
    return s


@directed(vector(5))
def the_length_of_a_growing_list_decides(x):
    v = [x[0]]
    for i in range(4):
        if len(v) < 3:
            v.append(v[i] * x[i + 1])
    s = v[1] * v[2]
    while len(v) < 5:
        v.append(v[-1] * x[len(v) - 1] + s)
    return v[4] * v[2] * len(v)


@directed(vector(5))
def the_length_of_a_growing_list_is_a_factor(x):
    v = [x[0]]
    s = 1.0
    for i in range(5):
        s = s * x[i] + len(v) * s
        if i % 2:
            v.append(s)
    return s + v[-1]


@directed(vector(5))
def the_last_item_of_a_growing_list_decides(x):
    v = [x[0]]
    for i in range(4):
        if v[-1] > 0.1:
            v.append(v[-1] * x[i])
        else:
            v.append(v[-1] + x[i] * v[i - 1])
    return v[4] * v[2]


def puts(items, i, v):
    if i == 0:
        items[0] = v
    else:
        items[1] = v


@directed(vector(4))
def a_callee_only_moves_references(x):
    v = [x[0], x[1]]
    puts(v, 0, v[1] * x[2])
    puts(v, 1, v[0] + x[3])
    return v[0] * v[1]


@directed(vector(4), [0.3, 0.7, 1.1])
def a_copy_of_a_given_list(x, v):
    w = v.copy()
    w[0] = x[0] * v[2]
    v[1] = x[3]
    return x[1] * v[0] * v[1] + w[0] * w[1] + x[2] * sum(w)


@directed(vector(4))
def copies_of_lists_of_arrays(x):
    v = [x * x, x[:2] * x[0]]
    w = v.copy()
    v[0] = v[1]
    w[1][0] = x[3] * w[0][1]
    return np.sum(w[0]) * v[0][1] + np.sum(w[1]) * v[1][0]


@directed(vector(4))
def copies_of_dicts(x):
    d = {"a": x * x, "b": x[0] * x[1]}
    e = d.copy()
    d["a"] = np.sin(x)
    e["a"][0] = e["b"] * x[2]
    return np.sum(d["a"] * e["a"]) + e["b"] * d["b"]


@directed(vector(4))
def one_array_twice_in_a_list(x):
    y = np.sin(x)
    v = [y, y, y[1:]]
    for i in range(2):
        v[i][i] = v[2][1] * x[i]
    w = list(v)
    return np.sum(w[0] * w[1]) + w[2][0] * w[1][3]


@directed(vector(4))
def copies_that_nothing_is_stored_into(x):
    d = {"a": x * x, "b": x[0] * x[1]}
    v = [d["b"], x[:2]]
    e, w = d.copy(), v.copy()
    return np.sum(e["a"]) * e["b"] + w[0] * np.sum(w[1])


@directed(vector(4), {"a": 0.4, "b": 0.9})
def dicts_made_of_a_given_dict(x, d):
    e = dict(d)
    e["a"] = x[0] * d["b"]
    f = dict(d, c=x[1])
    return e["a"] * e["b"] * d["a"] + f["c"] * f["a"] * x[3]


def a_queue_of(value, room):
    queue = deque([value], maxlen=room)
    return queue


@directed(vector(4))
def queues_that_drop_their_first_items(x):
    q = a_queue_of(0.5, 2)
    p = q
    p.append(x[0])
    p.append(x[1] * x[0])
    p.append(x[2])
    r = deque(maxlen=2)
    for i in range(4):
        r.append(x[i] * x[3])
    r.rotate(1)
    kept = deque(x * x, 3)
    return q[0] * q[1] + r[0] * r.popleft() + kept[0] * kept[-1] * len(kept)


@directed(np.array([0.3, 0.4, -0.2, 0.5, 0.6]), analytic=False)
def groups_numbered_in_a_generator(x):
    """The range that the generator runs through is saved; second order reads the parts of its zero."""
    groups = []
    current = [x[0]]
    for a, b in zip(x, x[1:]):
        if (a > 0) == (b > 0):
            current.append(b)
        else:
            groups.append(current)
            current = [b]
    groups.append(current)
    return sum((sum(g) / len(g)) ** 2 * (i + 1) for i, g in enumerate(groups))


@directed(vector(5))
def displays_with_the_items_of_others(x):
    """``[*rows, a]`` is ``list(rows) + [a]``, whatever the lengths."""
    first, *middle, last = x
    t = (*middle, first * last)
    v = [*t, *t[1:], 2.0]
    v = [*v, v[0] * v[4]]
    v[1] = v[1] * first
    return sum(k * e * e for k, e in enumerate([1.0, *v, *x[:2]])) + len((*v,))


@directed(positive(3))
def sorted_keys_that_are_numbers(x):
    """What runs through a dict runs through its keys, which have no derivative: not the values at their places."""
    d = {0: x[0], 1: x[1] * x[2], 2: x[2]}
    late = {}
    for i in range(3):
        late[2 - i] = x[i] * x[i]
    s = 0.0
    for k in sorted(d):
        s = s + (k + 1) * d[k] ** 2
    for k in sorted(late, reverse=True):
        s = s + (k + 1) * late[k] ** 2
    return s + sum(d) * d[1] + sum(late) * late[0] + max(late.keys()) * d[0]


@directed(np.array([0.3,0.4,0.55,0.7]))
def displays_of_a_dict_that_changes_meanwhile(x):
    """Once wrong in silence: the dict was read when all of the display had been computed, or before its keywords."""
    d = {"a": x[0], "b": x[1]}
    first = {"z": d["b"]*3.0, **d, "b": d.pop("b")*2.0, **d}
    second = dict(d, c=d.pop("a"), q=x[2])
    return sum(v*v*(i + 1) for i, v in enumerate(first.values()))*len(first) + len(second)*second["c"]


def stretched(y):
    y[0] *= 1.5
    return y[0] + y[1]


@directed(np.array([0.3,0.4,0.55,0.7]))
def an_output_that_a_call_chooses(x):
    """Once wrong in silence: the output was evaluated before the operands."""
    y, z = x*1.0, np.zeros((2, 2))

    def row(i):
        y[i] = 3.0*y[0]
        return z[i]

    np.multiply(y[:2], stretched(y), out=row(0))
    np.sum(y.reshape(2, 2)*stretched(y), axis=1, out=row(1))
    return np.sum(z*z) + np.sum(y)


@directed(positive(3))
def keys_of_a_dict_comprehension(x):
    d = {i: v * v for i, v in enumerate(x)}
    s = 0.0
    for k in d:
        s = s + (k + 1) * d[k]
    best = max(d, key=lambda k: abs(d[k]))
    for k in sorted(d, key=lambda k: -d[k]):
        s = 0.5 * s + d[k]
    return s * d[best]


def as_items(x, whole):
    return [x[0], x[1], x[0]] if whole else x[0] * x[1]


@directed(vector(3))
def an_array_made_a_list_by_a_callee(x):
    """Once wrong in silence: the adjoints of a name that held an array first were joined."""
    r = x * 2.0
    s = np.sum(r * r)
    r = as_items(r, True)
    return sum(r) * sum(r) + sum(r) * s


@directed(vector(3))
def an_array_made_a_list_in_a_loop(x):
    r, s = x * 2.0, 0.0
    for i in range(3):
        s = s + sum(r) * sum(r)
        if i == 0:
            r = as_items(r, True)
    return s


def a_list_or_a_number(x, whole):
    r = as_items(x, whole)
    return sum(r) * sum(r) if whole else r**2


@directed(vector(3))
def a_list_or_a_number_by_a_flag(x):
    return a_list_or_a_number(x, True) * a_list_or_a_number(x, False)


@directed(np.array([0.6, 1.1, 1.7, 0.4]))
def the_rest_of_an_array_is_stored_into(x):
    """Once wrong in silence in reverse mode: the array got the adjoints of what the list held in the end."""
    a, *b, c = x
    b[0] *= a
    s = b[0] * b[1] * c
    for k in range(2):
        first, *rest = x * (k + 1.0)
        rest[0] *= first
        rest.append(first * 2.0)
        rest[1] = rest[0] * x[2]
        s += rest[0] * rest[1] * rest[-1]
    for head, *tail in np.outer(x, x):
        tail[0] *= head
        s += tail[0] * tail[1]
    return s


def sum_over_tree(tree):
    if isinstance(tree, dict):
        return sum(sum_over_tree(branch) for branch in tree.values())
    if isinstance(tree, (list, tuple)):
        total = 0.0
        for branch in tree:
            total = total + sum_over_tree(branch)
        return total
    return np.sum(tree**2)


def scaled_tree(tree, by):
    if isinstance(tree, dict):
        return {name: scaled_tree(branch, by) for name, branch in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [scaled_tree(branch, by) for branch in tree]
    return tree * by


@directed(np.array([0.6, 1.1, 1.7, 0.4]))
def trees_of_dicts_and_lists(x):
    """Once an exception: a name that is a dict in one branch was looped over as one in all."""
    tree = {"w": x[:2], "layers": [x[2], {"b": x[3], "pair": (x[0], x[1] * x[2])}]}
    return sum_over_tree(tree) * sum_over_tree(scaled_tree(tree["layers"], x[0]))


class Slope:
    def __init__(self, by):
        self.by = by

    def __mul__(self, other):
        return self.by * other * other

    __rmul__ = __mul__


@directed(np.array([0.6, 1.1, 1.7, 0.4]))
def objects_in_copies_of_containers(x):
    """Once wrong in silence: an object in a copy was multiplied as a number is, which its ``__rmul__`` lets pass."""
    table = {"a": Slope(x[0]), "b": Slope(2.0)}
    listed = [Slope(x[1]), Slope(3.0)]
    copied, joined, spread = dict(table), table | {"c": listed[0]}, {**table, "d": Slope(x[2])}
    fixed = tuple(listed)
    s = copied["a"] * x[3] + table.copy()["b"] * x[0] + joined["c"] * x[2] + spread["d"] * x[1]
    for slope in fixed:
        s = s + x[2] * slope
    for slope in joined.values():
        s = s + slope * x[0]
    return s * (fixed[0] * x[3])


@directed(vector(3), without={"eager": "only integer tensors|a list has no shape"})
def an_array_is_multiplied_by_lists_more_than_once(x):
    """Once a gradient of zero, in silence: the second list was taken to be repeated, as often as the product says."""
    weights, rates = [2.0, 3.0, 4.0], (1.0, 2.0, 1.5)
    scaled = x * weights
    residual = x - weights
    return np.sum(scaled * weights) + np.sum(rates * residual**2) + np.sum(x * weights * [1.0, 2.0, x[0]])


@directed(vector(3), without={"eager": "only integer tensors|a list has no shape"})
def an_array_is_multiplied_by_a_list_in_a_loop(x):
    weights = [0.2, 0.3, x[0]]
    for _ in range(3):
        x = x * weights
    y = x * weights
    numbers = list(y)
    numbers[0] = numbers[1] ** 2
    return np.sum(y * numbers) + np.sum(x)
