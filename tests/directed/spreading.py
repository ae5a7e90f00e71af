"""What stars pass on: tuples and dicts of the callee's own, of the items and keys that there are when it is called."""

from dataclasses import dataclass, replace

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


@dataclass(frozen=True)
class Gain:
    by: float
    times: float = 1.0

    def with_fields(self, **fields):
        return replace(self, **fields)


@directed(0.7, 1.3)
def replace_of_what_keywords_hold(x, a):
    gain = Gain(x).with_fields(times=a * 3.0)
    return gain.by * gain.times


def doubling(**options):
    options["u"] = 2.0 * options["u"]
    return options["u"]


@directed(0.7)
def a_dict_passed_on_is_not_changed(x):
    held = {"u": x}
    return doubling(**held) * held["u"]


def after_append(items, *rest):
    items.append(4.0)
    return len(rest) * rest[0]


@directed(vector(3))
def a_list_passed_on_does_not_grow(x):
    items = [x[0]]
    return after_append(items, *items) * x[1]


def after_store(y, *rest):
    y[0] = 5.0
    return rest[0] * rest[1]


@directed(vector(3))
def items_of_an_array_are_read_at_the_call(x):
    y = x * 1.0
    return after_store(y, *y) * y[0]


def longer(*items):
    kind = 2.0 if isinstance(items, tuple) else 3.0
    return sum(items + (items[0] * kind,))


@directed(vector(3))
def an_array_passed_on_is_a_tuple(x):
    return longer(*x) * x[1]


def product(u=1.0, w=2.0):
    return u * w


def one_more(*items):
    items = items + (5.0,)
    return product(*items)


@directed(0.7)
def items_bound_again(x):
    return one_more(x)


def growing(**options):
    options["w"] = 3.0
    return product(**options)


def add_to(options):
    options["w"] = 4.0


def grown_by_a_callee(**options):
    add_to(options)
    return product(**options)


def grown_through_an_alias(**options):
    same = options
    same.update(w=7.0)
    return product(**options)


@directed(0.7)
def keywords_that_grow(x):
    return growing(u=x)


@directed(0.7)
def keywords_that_a_callee_adds_to(x):
    return grown_by_a_callee(u=x)


@directed(0.7)
def keywords_that_an_alias_adds_to(x):
    return grown_through_an_alias(u=x)


def running_product(head, *rest):
    if rest:
        head, *rest = rest
    return head * sum(rest)


@directed(vector(4))
def the_rest_of_the_rest(x):
    *items, last = [x[0], x[1], x[2]]
    last, *items = items
    return running_product(*x) * last * items[0]


def with_defaults(function):
    def wrapper(*args, **kw):
        kw.setdefault("shift", 1.0)
        return function(*args, **kw)

    return wrapper


def scaled(function):
    def wrapper(*args, **kw):
        k = kw.pop("scale", 2.0)
        kw["shift"] = k
        args = list(args)
        args[0] = args[0] * k
        return function(*args, **kw) * k

    return wrapper


@with_defaults
def shifted_product(y, w, shift=0.0):
    return np.sum(y * w) + shift * w


@scaled
def overwriting(y, w, shift=0.0):
    y[0] = w * shift
    return np.sum(y * y)


@directed(np.array([1.1, 0.6, 2.2, 0.4]))
def decorators_put_in_and_take_out_keywords(x):
    """Once wrong in silence: the callee was given the keywords that the wrapper had been."""
    first = shifted_product(x, x[1]) + shifted_product(x, x[0], shift=x[2])
    return first + overwriting(x, x[1]) + overwriting(x, x[0], scale=x[2])


def averaged(y, *rest, **options):
    return np.mean(y, *rest, **options)


@directed(vector(3))
def keywords_of_library_functions_that_are_known(x):
    """``**`` of nothing, of displays, of dicts that are only read or changed at once, and of a caller's keywords."""
    table = np.outer(x, x**2)
    options = {"axis": 0}
    options["keepdims"] = True
    plain, made = {}, dict(axis=1)
    chosen = {"a_min": 0.5 * x[0], "a_max": 1.5}
    total = averaged(table) + np.sum(averaged(table, 0, keepdims=True) * x) + np.exp(x, **plain)[1]
    for k in range(2):
        total = total + np.sum(np.cumsum(table, **{"axis": 1}) ** 2) + k * np.sum(np.mean(table, **options) * x)
    return total + table.sum(**made) @ x + np.sum(np.clip(x, **chosen) ** 2) + np.sum(x, **{"axis": 0}, **{}) * x[2]


def squared_into(x, **options):
    np.multiply(x, x, **options)


@directed(vector(3))
def results_stored_into_what_stars_give(x):
    """Once wrong in silence: the call was left out, and with it the store."""
    a, b, c, d, e, f = np.zeros((6, 3))
    held = {"out": c}
    np.multiply(x, x, **{"out": a})
    np.multiply(*(x, x, b))
    np.exp(x, **held)
    np.sin(x, *[d])
    np.subtract(x, 2.0, **{}, **{"out": e})
    squared_into(x, out=f)
    return a @ x + b @ x**2 + c @ x + d @ x + e @ x + f @ x**3


@directed(vector(3))
def a_part_of_a_condition_that_stores_its_result(x):
    a = np.zeros(3)
    if np.sum(np.multiply(x, 2.0, **{"out": a})) > 0.0:
        return a @ x
    return x[0]
