"""Local functions and lambdas in fields of objects and in containers that objects hold, and what calls of them do."""

import dataclasses
import functools

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


class Solver:
    def __init__(self, f, h=0.1):
        self.f = f
        self.h = h

    def step(self, t, y):
        return y + self.h * self.f(t, y)

    def solve(self, y, n):
        t = 0.0
        for _ in range(n):
            y = self.step(t, y)
            t += self.h
        return y


@directed(vector(3))
def a_solver_of_a_local_function(x):
    k = x[0] * 2.0

    def rhs(t, y):
        return -k * y + t

    s = Solver(rhs)
    return np.sum(s.solve(x, 3))


@directed(vector(3))
def a_solver_of_a_lambda_that_captures_nothing(x):
    s = Solver(lambda t, y: y * y)
    return np.sum(s.solve(x, 3))


@directed(vector(3))
def a_function_that_is_replaced(x):
    s = Solver(lambda t, y: y * x[0])
    a = s.solve(x, 2)
    s.f = lambda t, y: y * y * x[1]
    return np.sum(s.solve(a, 2))


class Holder:
    def __init__(self):
        self.fs = []

    def add(self, f):
        self.fs.append(f)
        return self

    def run(self, x):
        for f in self.fs:
            x = f(x)
        return x


@directed(vector(3))
def functions_in_the_list_of_a_field(x):
    h = Holder()
    h.add(lambda v: v * x[0])
    h.add(lambda v: np.sin(v))
    return np.sum(h.run(x))


@directed(vector(3))
def functions_added_in_a_chain(x):
    return np.sum(Holder().add(lambda v: v * x[0]).add(np.tanh).run(x))


@dataclasses.dataclass
class Problem:
    f: object
    x0: object

    def value(self):
        return self.f(self.x0)


@directed(vector(3))
def dataclasses_of_functions(x):
    ps = [Problem(lambda v: np.sum(v * v * x[0]), x), Problem(lambda v: np.sum(v * x[1]), x * 2)]
    return sum(p.value() for p in ps)


def make(x):
    def f(v):
        return v * x

    return Problem(f, x)


@directed(vector(3))
def made_by_a_callee(x):
    return np.sum(make(x * 2.0).value())


class Held:
    def __init__(self, f, k=1.0):
        self.f = f
        self.k = k
        self.n = 0.0

    def go(self, v):
        self.n = self.n + 1.0
        return self.f(v) * self.k

    def named(self, v):
        return self.f(v=v)

    def stars(self, *vs):
        return self.f(*vs)


@directed(vector(3))
def a_captured_array_changes(x):
    y = x * 1.0
    h = Held(lambda v: y * v)
    a = h.go(x)
    y[0] = x[1] * 2.0
    return np.sum(a * h.go(x * 3.0))


@directed(vector(3))
def a_captured_object_changes(x):
    k = Held(None, x[0])
    h = Held(lambda v: k.k * v)
    a = h.go(x)
    k.k = x[1] * 2.0
    return np.sum(a * h.go(x * 3.0))


def scale(a):
    return lambda v: v * a


@directed(vector(3))
def one_text_with_two_captures(x):
    h, g = Held(scale(x[0])), Held(scale(x[1] * 2.0))
    hs = [h, g, Held(np.sin)]
    y = x
    for q in hs:
        y = q.go(y)
    return np.sum(y) * h.n


@directed(vector(3))
def functions_with_defaults_set_in_a_loop(x):
    h = Held(np.sin)
    y = x
    for j in range(3):
        y = h.go(y)
        h.f = lambda v, j=j, s=x[j]: v * s + j
    return np.sum(y)


@directed(vector(3))
def a_function_that_stores(x):
    def clip(v):
        v[0] = v[1] * x[2]
        return v

    h = Held(clip)
    y = x * 2.0
    z = h.go(y)
    return np.sum(y * z)


@directed(vector(3))
def a_function_that_makes_an_object(x):
    h = Held(lambda v: Held(np.sin, v))
    o = h.f(x[0])
    return o.go(x[1]) * o.k


@directed(vector(3))
def a_function_that_is_given_an_object(x):
    h = Held(lambda o: o.k * x[1])
    o = Held(None, x[0])
    return h.f(o) * o.k + h.go(o)


class Shifted(Held):
    def __init__(self, f, k):
        super().__init__(f, k)
        self.extra = k * 2.0

    def go(self, v):
        return self.f(v) + self.extra


@directed(vector(3))
def functions_in_objects_of_two_classes(x):
    s = 0.0
    for o in [Held(lambda v: v * x[0], x[1]), Shifted(lambda v: v * v, x[2]), Shifted(np.cos, 2.0)]:
        s = s * 0.5 + np.sum(o.go(x))
    return s


def swap(a, b):
    a.f, b.f = b.f, a.f


@directed(vector(3))
def functions_swapped_by_a_callee(x):
    a, b = Held(lambda v: v * x[0], x[1]), Held(lambda v: v * v, x[2])
    swap(a, b)
    return np.sum(a.go(x) * b.go(x * 2.0))


@directed(vector(3))
def a_partial_application_in_a_field(x):
    def prod(a, v):
        return a * v * x[1]

    return np.sum(Held(functools.partial(prod, x[0])).go(x))


@directed(vector(3))
def functions_called_by_keywords_and_stars(x):
    h = Held(lambda v: v * x[0])
    return np.sum(h.named(x) * h.stars(x) + h.stars(*[x]))


class Layer:
    def __init__(self, w, act=None):
        self.w = w
        self.act = act

    def __call__(self, v):
        y = self.w * v
        if self.act is not None:
            y = self.act(y)
        return y


@directed(vector(3))
def functions_that_may_be_none(x):
    layers = [Layer(x[0]), Layer(x[1], lambda v: np.tanh(v * x[2])), Layer(x, np.sin)]
    y = x
    for layer in layers:
        y = layer(y)
    return np.sum(y)


class Registry:
    def __init__(self):
        self.table = {}

    def on(self, name, f):
        self.table[name] = f

    def fire(self, name, v):
        return self.table[name](v)


@directed(vector(3))
def a_registry_of_functions(x):
    b = Registry()
    b.on("a", lambda v: v * x[0])
    b.on("b", lambda v: v * v)
    return np.sum(b.fire("a", x) * b.fire("b", x))


@directed(vector(3))
def a_function_that_counts_in_a_variable(x):
    total = 0.0

    def cb(v):
        nonlocal total
        total = total + np.sum(v) * x[0]
        return v

    h = Held(cb)
    h.go(x)
    h.go(x * 2.0)
    return total


@directed(vector(3))
def a_function_that_captures_its_object(x):
    o = Held(None, x[0])
    o.f = lambda v: o.k * v
    a = o.go(x)
    o.k = x[1]
    return np.sum(a * o.go(x))


class Built:
    def __init__(self, f):
        self.f = f
        self.build()

    def build(self):
        self.c = self.f(2.0)

    def go(self, v):
        return self.f(v) * self.c


@directed(vector(3))
def an_init_that_calls_its_function(x):
    return np.sum(Built(lambda v: v * x[0]).go(x))


@directed(vector(3))
def a_function_that_calls_another_object(x):
    inner = Held(lambda v: v * x[0])
    outer = Held(lambda v: inner.go(v) + inner.n, x[1])
    a = outer.go(x)
    inner.f = lambda v: v * v
    return np.sum(a * outer.go(x))


@directed(vector(3))
def functions_chosen_by_a_test(x):
    f = (lambda v: v * x[0]) if x[0] > 0 else (lambda v: v * v)
    g = (lambda v: v * x[0]) if x[0] > 100 else np.sin
    return np.sum(Held(f).go(x) * Held(g).go(x))


def composed(*functions):
    return functools.reduce(lambda f, g: lambda v: g(f(v)), functions)


def after(f, g):
    return lambda v: g(f(v))


@directed(vector(3))
def functions_composed_by_reduce(x):
    layers = [Solver(np.sin, x[0]), lambda v: v * x[1], after(np.cos, np.exp)]
    net = composed(np.sin, lambda v: v * v, functools.partial(Solver.step, layers[0], 0.0), layers[1])
    both = functools.reduce(after, layers[1:], net)
    weights = []

    def weighted(f, g):
        weights.append(x[2] * len(weights) + 1.0)
        return lambda v: g(f(v)) * weights[-1]

    s = np.sum(net(x)) + np.sum(both(x * 2.0)) + np.sum(composed(*[np.sin] * 3)(x))
    return s * np.sum(functools.reduce(weighted, (np.sin, net, np.tanh))(x))


@directed(vector(3))
def a_list_of_functions_that_changes_while_it_is_composed(x):
    functions = [np.sin, np.cos]

    def joined(f, g):
        functions[1] = np.exp
        return after(f, g)

    return np.sum(functools.reduce(joined, functions, lambda v: v * x[0])(x))


@directed(vector(3))
def kept_functions_and_variables_that_are_bound_again(x):
    before = x[0] if x[1] > -100.0 else 1.0
    before = before * x[1]
    after = x[2]
    after = after * x[0]
    kept, others = [lambda: before * after], []
    for k in range(3):
        scale = before * k
        scale = scale + x[2]
        others.append(lambda u, scale=scale: before * u + scale)
    first = kept[0]() + others[2](x[0])
    after = after * x[1]
    return first * kept[0]() + others[1](2.0)


@directed(vector(3))
def functions_of_one_list_that_take_other_arguments(x):
    kept = [lambda: x[0]]
    for k in range(3):
        kept.append(lambda u, scale=x[1] * k: u * scale)
    return kept[0]() + kept[-1](x[2]) + sum(f(x[0]) for f in kept[1:])


@directed(vector(3))
def a_call_that_fits_one_of_two_functions(x):
    f = (lambda u: u * x[0]) if x[1] > 100.0 else (lambda: x[1] * x[2])
    return f()
