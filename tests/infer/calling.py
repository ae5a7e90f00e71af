"""Programs about what one call of a function says of another: what it is given, can reach, and leaves behind."""

from __future__ import annotations

import dataclasses
import re
from types import FunctionType

HELD = [1.0]


@dataclasses.dataclass
class Box:
    value: object
    more: object = None


def made(value):
    return [value]


def two_of_one_site(x):
    one = made(x)
    other = made("text")
    one.append(2)
    return other[0], one[0], one[1]


def appended(held):
    held.append(held[0])
    return held[-1]


def the_same_list_with_other_items(x):
    held = [1.0]
    first = appended(held)
    held[0] = "text"
    return first, appended(held)


def last_held():
    return HELD[-1]


def a_global_that_changes_between(x):
    first = last_held()
    HELD.append("text")
    try:
        return first, last_held()
    finally:
        del HELD[1:]


def a_cell_that_changes_between(x):
    held = 1.0

    def read():
        return held

    first = read()
    held = "text"
    return first, read()


def an_object_in_a_global_that_changes_between(x):
    box = Box(1.0)
    HELD.append(box)
    try:
        first = last_held().value
        box.value = "text"
        return first, last_held().value
    finally:
        del HELD[1:]


def added(items, value):
    items.append(value)
    return items


def what_is_put_into_what_unknown_code_has_seen(x):
    def call(function):
        return function()

    held = added([], 1.0)
    sorted([held], key=lambda items: len(items))
    other = added([], [x])
    inner = other[0]
    inner.append("text")
    return call(lambda: held[0]), other[0][-1]


def a_tree_of_lists(depth, leaf):
    if depth == 0:
        return leaf
    return [a_tree_of_lists(depth - 1, leaf), a_tree_of_lists(depth - 1, [leaf])]


def trees(x):
    made = a_tree_of_lists(2, x)
    text = a_tree_of_lists(1, "text")
    return made[0][0], text[0], made[1][1][0]


def even(n, seen):
    seen.append(n)
    return "even" if n == 0 else odd(n - 1, seen)


def odd(n, seen):
    seen.append(float(n))
    return "odd" if n == 0 else even(n - 1, seen)


def two_that_call_each_other(x):
    seen = []
    return even(4, seen), odd(4, seen), seen[0], seen[-1]


def linked(n, rest):
    return rest if n == 0 else linked(n - 1, Box(float(n), rest))


def longest(chain):
    return 0 if chain is None else 1 + longest(chain.more)


def a_list_of_boxes(x):
    chain = linked(3, None)
    chain.more.value = "text"
    return longest(chain), chain.value, chain.more.value, chain.more.more.value


def deep(n, box):
    if n == 0:
        box.value = "text"
        raise ValueError
    box.value = n
    deep(n - 1, box)


def what_a_recursion_left_when_it_raised(x):
    box = Box(x)
    try:
        deep(3, box)
    except ValueError:
        return box.value
    return None


def kinds(n, value):
    """Each call with a value of another class."""
    if n == 0:
        return value
    if n % 2:
        return kinds(n - 1, [value])
    return kinds(n - 1, (value, 1.0))


def values_of_other_classes(x):
    return kinds(4, x), kinds(1, "text"), kinds(9, None)


def apply_often(function, n, value):
    return value if n == 0 else apply_often(function, n - 1, function(value))


def functions_that_are_passed_on(x):
    def outer(depth):
        kept = [depth]

        def inner(value):
            kept.append(value)
            return inner if value == 3 else kept

        return inner if depth == 0 else outer(depth - 1)

    found = outer(2)
    return apply_often(lambda v: v + 1, 3, 1.0), apply_often(lambda v: v + "a", 3, "b"), found(3)(4)[-1]


def asked(items):
    return next(items)


def a_generator_asked_by_two_calls(x):
    def told():
        kept = [1.0]
        yield kept
        kept = "text"
        yield kept

    items = told()
    first = asked(items)
    first.append(2)
    return first, asked(items)


def put_in_between(items, value):
    held = next(items)
    held.append(value)
    return held


def what_a_suspended_body_holds(x):
    def told():
        kept = []
        while True:
            yield kept

    items = told()
    put_in_between(items, 1.0)
    put_in_between(items, "text")
    return next(items)[-1]


def what_unknown_code_makes_a_suspended_body_give(x):
    def told():
        kept = [1.0]
        while True:
            yield kept

    items = told()
    first = next(items)
    re.sub("a", lambda match: next(items).append("text") or "b", "a")
    return first[1]


def ping(n):
    return "text" if n <= 0 else pong(n - 1)


def pong(n):
    return 1.0 if n <= 0 else [ping(n - 1)]


def each_in_a_list_of_the_other(x):
    n = len(x) + int(x[0])
    return ping(n), ping(n - 1)


def counted(n):
    """Calls itself at two places, once to no effect."""
    if n < 2:
        return n
    left = counted(n - 1)
    if left is None:
        return "never"
    return left + counted(n - 2)


def fibonacci(x):
    return counted(6), counted(6.0), counted(True)


def sum_of(tree):
    return sum_of(tree.more[0]) + sum_of(tree.more[1]) if isinstance(tree, Box) else tree * 2.0


def a_tree_of_numbers(x):
    found = sum_of(Box(None, (Box(None, (1.0, 2.0)), Box(None, (Box(None, (3.0, 4.0)), 5.0)))))
    return found


def stores(box, n):
    if n > 0:
        box.more = stores(Box(n), n - 1)
    return box


def what_a_recursion_stores(x):
    box = stores(Box(x), 3)
    other = stores(Box("text"), 1)
    return box.more.more.value, other.value, other.more.value, box.value


def raises_at_the_end(n):
    if n == 0:
        raise KeyError(HELD)
    return raises_at_the_end(n - 1)


def what_is_raised_out_of_a_recursion(x):
    try:
        raises_at_the_end(3)
    except KeyError as error:
        (held,) = error.args
        held.append("text")
        return HELD.pop()


def many_kinds(x):
    found = [appended([part]) for part in (1, 2.0, "a", None, x, (1,), [2], {3: 4}, b"", True, 1j)]
    return found[3], found[-1]


PROGRAMS = [
    program for program in list(globals().values())
    if isinstance(program, FunctionType) and program.__module__ == __name__
    and program.__code__.co_varnames[: program.__code__.co_argcount] == ("x",)
]  # fmt: skip
