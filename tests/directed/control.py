"""Closures, callables chosen at run time, and control flow around stores."""

import functools

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


@directed(vector(4), 0.5)
def closure_over_an_array_that_is_stored_into(x, a):
    y = np.sin(x)

    def put(i, v):
        y[i] = v * y[i + 1]
        return y[i]

    s = put(0, a)
    y[1] = s * x[0]
    return put(1, s) * a + np.sum(y * y)


@directed(vector(4), 0.5)
def closure_over_an_array_that_is_rebound(x, a):
    y = np.sin(x)
    z = y

    def total():
        return np.sum(y * y)

    s = total()
    y = np.cos(x)
    y[0] = a * s
    z[1] = total()
    return s * total() + np.sum(z)


def make_store(amount):
    def store(y, i):
        y[i] = y[i] * amount
        return y

    return store


@directed(vector(4), 0.5)
def a_factory_of_functions_that_store(x, a):
    y = np.sin(x)
    one, other = make_store(a), make_store(a * a)
    one(y, 0)
    other(y, 1)
    one(other(y, 0), 3)
    return np.sum(y * y)


@directed(vector(4), 0.5)
def functions_chosen_at_run_time(x, a):
    y = np.sin(x)
    for f in [make_store(a), lambda v, i: v * v[i], make_store(x[0])]:
        y = f(y, 1)
    return np.sum(y * y)


def add_into(y, v, *, at):
    y[at] += v
    return y[at]


@directed(vector(4), 0.5)
def partial_of_a_function_that_stores(x, a):
    y = np.sin(x)
    into = functools.partial(add_into, y, at=2)
    s = into(a)
    s = s * into(v=s)
    return s + np.sum(y * y)


def doubled(f):
    @functools.wraps(f)
    def call(y, a):
        return f(y, a) + f(y, a * 2.0)

    return call


@doubled
def stores_when_called(y, a):
    y[0] = y[0] * a
    return y[0] * y[1]


@directed(vector(4), 0.5)
def a_decorated_callee_that_stores(x, a):
    y = np.sin(x)
    return stores_when_called(y, a) + np.sum(y)


@directed(vector(4), 0.5)
def a_store_in_try_with_finally(x, a):
    y = np.sin(x)
    try:
        y[0] = a * y[1]
        s = np.sum(y * y)
    finally:
        y[1] = 2.0
    return s * y[0] + y[1] * y[2]


@directed(vector(4), 0.5)
def the_path_taken_through_an_exception(x, a):
    y = np.sin(x)
    s = 0.0
    for i in range(6):
        try:
            y[i] = y[i] * a
            s = s + y[i]
        except IndexError:
            s = s * x[0]
            break
        else:
            y[0] = y[0] + s
    return s * np.sum(y)


def fails_after_a_store(y, a):
    y[0] = y[1] * a
    if y[0] < 100.0:
        raise ValueError("after the store")
    y[1] = 0.0
    return y[0]


@directed(vector(4), 0.5)
def a_callee_raises_after_a_store(x, a):
    y = np.sin(x)
    try:
        fails_after_a_store(y, a)
    except ValueError:
        y[2] = y[0] * x[0]
    return np.sum(y * y)


@directed(vector(4), 0.5)
def deleted_names_and_items(x, a):
    y = np.sin(x)
    items = [y, x * a, x]
    del items[1]
    z = items[1] * a
    del y
    items[0][0] = z[1]
    return np.sum(items[0] * z)


@directed(vector(4), 0.5)
def while_true_with_stores(x, a):
    y = np.zeros(4)
    i = 0
    while True:
        y[i] = x[i] * a + y[i - 1]
        if i >= 3:
            break
        i += 1
    return np.sum(y * y)


@directed(vector(4), 0.5)
def assignment_expressions_and_chained_comparisons(x, a):
    y = np.sin(x)
    total = 0.0
    if -5.0 < (s := y[0] * a) < y[1] + 10.0:
        y[1] = s
        total = s * y[2]
    values = [t for v in y if (t := v * s) > -100.0]
    return total + sum(values) * t


@directed(vector(4), 0.5)
def for_else_with_stores(x, a):
    y = np.sin(x)
    for i in range(4):
        y[i] *= a
        if y[i] > 50.0:
            break
    else:
        y[0] = y[1] * y[2]
    for i in range(4):
        if i == 2:
            break
        y[i] = y[i] * y[3]
    else:
        y[0] = 100.0
    return np.sum(y * x)


def countdown(y, n):
    if n == 0:
        return y[0]
    y[n % 4] = y[n % 4] * 0.9 + y[(n + 1) % 4] * 0.1
    return countdown(y, n - 1)


@directed(vector(4), 100)
def deep_recursion_with_stores(x, n):
    y = np.sin(x)
    return countdown(y, n) * y[1]


TABLE = np.array([0.3, 0.5, 0.7, 0.9])


@directed(vector(4))
def a_global_array_is_read(x):
    y = TABLE * x
    y[0] = TABLE[1] * y[2]
    return np.sum(y * TABLE)


@directed(vector(4))
def keyword_binding_of_arrays(x):
    y = np.sin(x)
    z = np.cos(x)
    s = binds(1, z=y, *(2,), y=z, more=x)
    return s * np.sum(y * z)


def binds(i, j, y, *, z, **others):
    y[i] = z[j] * others["more"][0]
    z[j] = y[i] + z[0]
    return y[j] * z[i]


@directed(vector(4))
def starred_arguments_that_are_stored_into(x):
    y = np.sin(x)
    parts = [y[:2], y[2:]]
    s = stores_into_all(x[0], *parts)
    return s * np.sum(y * y)


def stores_into_all(a, *arrays):
    s = 0.0
    for k, array in enumerate(arrays):
        array[0] = array[1] * a + k
        s = s + array[0]
    return s


@directed(vector(4), 0.5)
def local_functions_in_a_list_beside_a_store(x, a):
    y = np.sin(x)
    parts = [lambda v: v * a, lambda v: v * y[1] + a]
    y[0] = a * parts[0](y[2])
    s = parts[1](y[0])
    y[1] = s * y[3]
    return s * parts[1](y[1]) + np.sum(y * y)


@directed(vector(4), 0.5)
def a_local_function_in_a_dict_returns_a_view(x, a):
    y = np.sin(x)
    known = {"rest": lambda v: v[1:], "y": y, "scaled": lambda v: v * a}
    rest = known["rest"](y)
    rest[0] = a * rest[1]
    known["y"][0] = known["scaled"](rest)[2]
    return np.sum(y * y) * rest[0]


@directed(vector(4), 0.5)
def local_functions_in_a_list_that_changes(x, a):
    parts = [lambda v: v * a, np.sin, lambda v: v * v + a]
    held = parts
    s = x[0]
    for part in held:
        s = part(s) * x[1]
    held[0] = held[2]
    return parts[0](s)


@directed(vector(4), 0.5)
def a_list_of_functions_around_a_store(x, a):
    y = np.sin(x)
    for part in [lambda v: v * a, np.cos, lambda v: v]:
        y = part(y)
        y[0] = a * y[1]
    return np.sum(y * y)


@directed(vector(4), 0.5)
def a_branch_on_a_list_that_grows_after_it(x, a):
    steps = []
    s = a
    for i in range(4):
        s = s + 0.1 * steps[-1] * x[i] if steps else s * x[i]
        steps.append(s * s)
    if steps:
        s = s * a
    while steps:
        s = s + steps.pop() * a
    return s


class Switch:
    def __init__(self):
        self.on = False

    def __bool__(self):
        return self.on


@directed(vector(4), 0.5)
def branches_on_objects_and_arrays_whose_truth_changes(x, a):
    switch, mark = Switch(), np.zeros(1)
    s = a
    for i in range(3):
        s = s + x[i] if switch else s * x[i]
        s = s * s + x[3] if mark else s * a
        switch.on = i == 0
        mark[0] = s if i == 1 else 0.0
    return s


def total_of(t):
    if isinstance(t, dict):
        return sum(total_of(t[k]) for k in t)
    if isinstance(t, (list, tuple)):
        return sum(total_of(v) for v in t)
    return np.sum(t * t * t)


@directed({"a": np.array([1.0, 2.0]), "b": [np.array([3.0]), (np.array([0.5]), {"c": np.array([2.0, 1.0])})]})
def recursion_over_a_nested_structure(t):
    """Once refused: a loop of the branch for lists was held against a dict that never comes there."""
    return total_of(t)


@directed({"a": np.array([1.0, 2.0]), "b": [np.array([3.0]), (np.array([0.5]), {"c": np.array([2.0, 1.0])})]})
def local_recursion_to_the_leaves(t):
    def leaves(t):
        if isinstance(t, dict):
            return [leaf for k in sorted(t) for leaf in leaves(t[k])]
        if isinstance(t, (list, tuple)):
            return [leaf for v in t for leaf in leaves(v)]
        return [t]

    return sum(np.sum(leaf**3) for leaf in leaves(t))


@directed(vector(3))
def tests_that_are_asked_again_inside_of_each_other(x):
    """Once wrong in silence: what was joined stood in a block that was joined before, and was joined once more."""
    s, c, d = x[0], x[1] > -5.0, x[2] > -5.0
    if c:
        s = s + x[1]
    if c:
        if d:
            s = s * s
        if d:
            s = s * 3.0 * x[1]
    return s * x[2]
