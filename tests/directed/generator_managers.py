"""Managers that ``contextlib`` makes of what varies: the generator runs around the body."""

from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


@contextmanager
def scaled(v, k=2.0):
    yield v * k


@contextmanager
def changed(box, k):
    old = box[0]
    box[0] = old * k
    yield box
    box[0] = box[0] + old


@contextmanager
def larger(v):
    if v > 0.5:
        w = v * v
    else:
        w = 3.0 * v
    yield w


@directed(vector(3))
def what_a_generator_gives(x):
    with scaled(x[0]) as a:
        s = a * x[1]
    return s * a


@directed(vector(3))
def a_return_inside_the_body(x):
    box = [x[0]]
    with changed(box, x[2]) as c:
        return c[0] * np.sin(x[1])


@directed(vector(3))
def what_stands_behind_the_yield(x):
    box = [x[0]]
    with changed(box, k=x[2]) as c:
        s = c[0] * x[1]
        c[0] = c[0] * s
    return s * box[0]


@directed(vector(4), vector(2))
def several_managers_in_a_loop(x, y):
    s = 0.0
    for v in x:
        with larger(v) as w, scaled(w, y[0]) as z:
            s = s + w * z
        with scaled(s, k=y[1]) as s:
            if v > 0.9:
                break
    return s


@directed(vector(3))
def an_exception_leaves_the_generator(x):
    box, s = [x[0]], 0.0
    try:
        with changed(box, x[1]) as c:
            s = c[0]
            if x[0] > 0.0:
                raise ValueError
            s = 100.0
    except ValueError:
        s = s + box[0]
    return s * box[0]


@directed(vector(3))
def a_round_that_ends_in_the_body(x):
    box, s = [x[0]], 0.0
    for v in x:
        with changed(box, v) as c:
            s = s + c[0]
            continue
    return s * box[0]


@directed(vector(3))
def a_generator_that_is_made_inside(x):
    n, s, box = 0.0, 0.0, [x[0]]

    @contextmanager
    def counted(v, k=x[2]):
        nonlocal n
        n = n + v * k
        yield n * box[0]
        box[0] = box[0] + v

    for v in x:
        with counted(v) as a, counted(x[1], v) as b:
            s = s + a * b
    return s * n


# --- managers that wait in a try, are methods, or give in branches ---------------------------------------------------
class Layer:
    def __init__(self, k):
        self.k, self.training = k, True

    def close(self):
        self.k = self.k * 3.0

    @contextmanager
    def evaluating(self):
        was, self.training = self.training, False
        try:
            yield self
        finally:
            self.training = was

    def __call__(self, v):
        return self.k * v * (0.5 if self.training else 1.0)


class Doubling(Layer):
    @contextmanager
    def evaluating(self):
        with super().evaluating() as held:
            self.k = self.k * 2.0
            yield held


@contextmanager
def holding(layer, k):
    old = layer.k
    layer.k = k
    try:
        yield layer
    finally:
        layer.k = old


@contextmanager
def cleaned(layer):
    try:
        yield layer
    except ValueError as error:
        layer.k = layer.k * 3.0
        raise RuntimeError("no") from error
    except KeyError:
        layer.k = layer.k * 5.0
    else:
        layer.k = layer.k * 7.0
    finally:
        layer.k = layer.k * 11.0


@contextmanager
def frozen(*layers, by):
    olds = [layer.k for layer in layers]
    for layer in layers:
        layer.k = layer.k * by
    try:
        yield olds
    finally:
        for layer, old in zip(layers, olds, strict=True):
            layer.k = old


@contextmanager
def if_asked(layer, k, is_asked):
    if not is_asked:
        yield layer
        return
    with holding(layer, k) as held, np.errstate(all="ignore"):
        yield held


@directed(vector(3))
def a_field_that_is_put_back_in_a_last_block(x):
    layer, s = Layer(x[0]), 0.0
    for v in x:
        with holding(layer, v * layer.k) as held:
            if v > 2.0:
                break
            s = s + held.k
            if v > 1.0:
                continue
            s = s * held.k
    return s * layer.k


@directed(vector(3))
def a_return_through_a_last_block(x):
    layer = Layer(x[0])

    def inside():
        with holding(layer, x[1] * x[2]):
            return layer.k**2

    return inside() * layer.k


@directed(vector(3), order=1)
def exceptions_that_a_generator_handles(x):
    layer, s = Layer(x[0]), 0.0
    for place in range(3):
        with cleaned(layer) as held:
            s = s + x[place] * held.k
            if place == 1:
                raise KeyError
            s = s * 2.0
    try:
        with cleaned(layer):
            raise ValueError
    except RuntimeError:
        s = s + layer.k
    return s * layer.k


@directed(vector(3))
def a_body_that_is_left_before_its_end_where_the_generator_goes_on(x):
    layer, s = Layer(x[0]), 0.0
    for v in x:
        with cleaned(layer) as held:
            if v > 2.0:
                break
            if v > 1.0:
                continue
            s = s + v * held.k
    return s * layer.k


@directed(vector(3))
def an_exception_leaves_what_stands_behind_the_yield_undone(x):
    box, s = [x[0]], 0.0
    try:
        with changed(box, x[1]):
            s = box[0] * x[2]
            raise ValueError
    except ValueError:
        s = s * 2.0 + box[0]
    return s * box[0]


@directed(vector(3))
def methods_that_are_managers(x):
    layer, other = Layer(x[0]), Doubling(x[1])
    with layer.evaluating() as one, other.evaluating() as two:
        s = one(x[2]) * two(x[2])
    return s + layer(x[1]) * other(x[0])


@directed(vector(3))
def a_generator_that_gives_in_branches(x):
    layer = Layer(x[0])
    with if_asked(layer, x[1], True):
        s = layer.k**2
    with if_asked(layer, x[2], False):
        s = s + layer.k**2 * 3.0
    return s + layer.k


@directed(vector(3))
def several_objects_of_one_manager(x):
    one, two = Layer(x[0]), Layer(x[1] * x[2])
    with frozen(one, two, by=x[2]) as olds, cleaned(one) as held:
        held.k = held.k * x[1]
        s = one.k * two.k * olds[0]
    return s + one.k * two.k


@directed(vector(3))
def a_manager_that_is_made_before(x):
    layer = Layer(x[0])
    manager = holding(layer, x[1])
    layer.k = layer.k * 3.0
    with manager as held:
        s = held.k**2
    return s * layer.k


@directed(vector(3))
def nothing_entered_and_something_closed(x):
    layer = Layer(x[0])
    with nullcontext(x * 2.0) as y, closing(layer) as held:
        s = held.k * np.sum(y**2)
    return s * layer.k


@directed(vector(3))
def what_is_put_on_a_stack(x):
    layer, s = Layer(x[0]), x[1]
    with ExitStack() as stack:
        stack.enter_context(suppress(ValueError))
        stack.callback(layer.close)
        held = stack.enter_context(holding(layer, s * layer.k))
        if x[2] > 0.0:
            stack.callback(setattr, held, "training", False)
        s = s * held.k * x[2]
        raise ValueError
    return s * layer.k * layer(x[1])
