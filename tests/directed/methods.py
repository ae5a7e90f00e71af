"""Methods as values, derivatives of methods, objects that hold others of their class, generators of random numbers."""

import functools

import numpy as np

import srcgrad
from tests.corpus.example import vector
from tests.directed.program import directed


class Unit:
    def __init__(self, w, b=0.5):
        self.w = w
        self.b = b

    def loss(self, x):
        return np.sum(np.tanh(self.w * x + self.b) ** 2)

    def layer(self, x):
        return np.tanh(self.w * x + self.b)

    def scaled(self, x, k=2.0):
        return k * np.sum(x * self.w)

    def both(self, x):
        f = self.layer
        return np.sum(f(x) * f(x * 2.0))

    def grow(self, x):
        self.w = self.w * x
        return self.w

    def slope(self, x):
        return np.sum(srcgrad.grad(self.loss)(x) ** 2)

    def mapped(self, xs):
        return sum(map(self.layer, [x for x in xs]))

    @staticmethod
    def square(v):
        return v * v

    @classmethod
    def of(cls, w):
        return cls(w)


def apply(f, x):
    return f(x) * 2.0


@directed(vector(3))
def methods_under_names(x):
    unit = Unit(x)
    f, g = unit.loss, unit.scaled
    return f(x * x) * g(x, k=x[0]) + unit.both(x)


@directed(vector(3))
def methods_passed_to_functions(x):
    unit = Unit(x[0])
    ys = list(map(unit.layer, [x[0], x[1], x[2]]))
    return apply(unit.loss, x) * ys[0] * ys[1] + unit.mapped(x) + sorted(ys, key=unit.layer)[0]


@directed(vector(3))
def methods_keep_the_object_that_they_were_read_of(x):
    unit = Unit(x)
    f = unit.loss
    unit.b = x[1]
    unit = Unit(x * 2.0)
    return f(x) + unit.loss(x)


@directed(vector(3))
def methods_that_store_as_values(x):
    unit = Unit(x)
    f = unit.grow
    f(x)
    f(x[::-1])
    return np.sum(unit.w)


@directed(vector(3))
def methods_in_containers(x):
    unit, other = Unit(x), Unit(x * 2.0)
    total = 0.0
    for f in [unit.loss, other.scaled, lambda v: other.loss(v)]:
        total = total + f(x)
    table = {"loss": unit.loss, "scaled": unit.scaled}
    return total * table["loss"](x) + table["scaled"](x)


@directed(vector(3))
def methods_chosen_by_a_test(x):
    unit = Unit(x)
    f = unit.loss if x[0] > 0 else unit.scaled
    return f(x)


@directed(vector(3))
def static_and_class_methods_as_values(x):
    square, of = Unit(x).square, Unit(x).of
    return np.sum(square(x) * of(x * 2.0).w)


@directed(vector(3))
def partial_applications_of_methods(x):
    unit = Unit(x)
    f = functools.partial(unit.scaled, x * 2.0)
    unit = Unit(x * 3.0)
    return f(k=x[0]) + f() * unit.scaled(x)


@directed(vector(3))
def partial_applications_keep_their_function(x):
    def product(a, b):
        return a * b

    f = functools.partial(product, x[0])
    product = Unit.square
    return f(x[1]) + product(x[2])


@directed(vector(3), order=1, without={"eager": "is a Followed"})
def gradients_of_methods_inside(x):
    unit = Unit(x)
    g = srcgrad.grad(unit.loss)
    return np.sum(g(x) * g(x * 2.0)) + unit.slope(x)


@directed(vector(3), order=1, without={"eager": "is a Followed"})
def other_derivatives_of_methods_inside(x):
    unit = Unit(x)
    value, slope = srcgrad.value_and_grad(unit.loss)(x)
    out, pullback = srcgrad.vjp(unit.loss, x)
    _, moved = srcgrad.jvp(unit.loss, (x,), (x * 2.0,))
    return value * np.sum(slope) + out * np.sum(pullback(2.0)[0]) + moved


class Term:
    def __init__(self, weight, kids):
        self.weight = weight
        self.kids = kids

    def value(self, x):
        total = self.weight * x
        for kid in self.kids:
            total = total * kid.value(x) + kid.weight
        return total

    def add(self, d):
        self.weight = self.weight + d
        for kid in self.kids:
            kid.add(d * 2.0)


@directed(vector(3))
def a_tree_of_terms(x):
    tree = Term(x[0], [Term(x[1], []), Term(x[2], [Term(x[0], [])])])
    tree.add(x[2])
    return tree.value(x[1])


TREE = Term(0.3, [Term(0.5, []), Term(0.2, [Term(0.1, [Term(0.7, [])])])])


@directed(TREE, 0.4, argnums=(1,))
def a_tree_as_an_argument(tree, x):
    return tree.value(x)


class Link:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


def folded(link):
    if link is None:
        return 0.0
    return link.value**2 + folded(link.next) * link.value


@directed(vector(4))
def a_linked_list_made_in_a_loop(x):
    head = None
    for v in x:
        head = Link(v, head)
    total = 0.0
    link = head
    while link is not None:
        total += link.value * x[0]
        link.value = link.value * total
        link = link.next
    return total * folded(head)


@directed(vector(3))
def a_linked_list_grown_at_its_end(x):
    head = Link(x[0])
    head.next = Link(x[1])
    head.next.next = Link(x[2])
    return folded(head)


class Pair:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __mul__(self, other):
        if isinstance(other, Pair):
            return Pair(self.a * other.a, self.b * other.b)
        return Pair(self.a * other, self.b * other)

    def __rmul__(self, other):
        return self * other

    def __abs__(self):
        return np.sqrt(self.a**2 + self.b**2)

    def __float__(self):
        return self.a

    def __lt__(self, other):
        return self.a < other.a

    def __iter__(self):
        return iter((self.a, self.b))


@directed(vector(3))
def operators_that_call_one_another(x):
    p = 2.0 * Pair(x[0], x[1]) * x[2]
    p *= Pair(x[1], x[2])
    a, b = p
    return abs(p) * a + sum(v * v for v in p) * b


@directed(vector(3), without={"eager": "returned non-float"})
def an_object_as_a_float(x):
    return float(Pair(x[0], x[1])) * x[2]


@directed(vector(3))
def comparisons_by_the_reflected_method(x):
    p, q = Pair(x[0], x[1]), Pair(x[1], x[2])
    return p.a * q.b if p > q else p.b * q.a


@directed(vector(3))
def draws_of_a_generator_made_inside(x):
    rng = np.random.default_rng(0)
    rng.normal()
    y = np.zeros(3)
    for i in range(3):
        if rng.random() > 0.3:
            y[i] = x[i] * rng.normal(0.0, 1.0)
        else:
            y[i] = y[i - 1] + x[i] * rng.uniform()
    return np.sum(y * y * rng.standard_normal(3))


def stretched(x, rest=1.0, given=2.0):
    return given * np.sum((x - rest) ** 2)


@directed(vector(3))
def partial_applications_with_keywords_of_any_name(x):
    f = functools.partial(stretched, x * x, rest=x[0], given=x[1])
    return f() * f(rest=x[2])


@directed(vector(4), 0.5)
def draws_as_many_numbers_as_an_array_has(x, a):
    rng = np.random.default_rng(3)
    y = x.copy()
    for _ in range(2):
        y += a * rng.normal(size=len(y)) + rng.standard_normal(y.shape) * x
        y *= rng.uniform(0.5, 1.0, size=(2, y.shape[0]))[0]
    return np.sum(y * y * rng.random(np.size(x)))


class Walker:
    def __init__(self, place):
        self.place = place

    def step(self, t):
        self.place[0] = t * self.place[1]
        return self.place[0]


def walked(walker, t):
    return walker.step(np.sin(t))


@directed(vector(4))
def a_test_calls_what_stores_by_a_method(x):
    """Once wrong in silence: the call stayed in the test, and what it stored had no derivative."""
    y = np.cos(x)
    walker = Walker(y)
    if walked(walker, x[1]) > -9.0:
        k = int(walked(walker, x[2]) > 9.0)
        return y[k] * y[1] + np.sum(y)
    return y[2]


class Ray:
    def __init__(self, x):
        self.x = x

    def unit(self):
        return Ray(self.x / 2.0)

    def dot(self, other):
        return self.x * other.x


@directed(vector(3))
def a_local_function_that_calls_itself_and_methods_of_what_methods_make(x):
    """Once a ``KeyError`` of the compiler: it read the text that it was in the midst of rewriting."""

    def bounced(x, depth=0):
        light = x * Ray(x).dot(Ray(0.3).unit())
        if depth < 2:
            light += bounced(x * x, depth + 1)
        return light * Ray(x).unit().x

    return bounced(x[0]) * x[1]


class Area:
    def __init__(self, side):
        self.side = side

    def __radd__(self, other):
        return self.side * self.side + other


@directed(vector(3))
def a_list_of_objects_is_summed_by_the_reflected_operator(x):
    """Once an IndexError: a list that was made of objects was taken for one of numbers."""
    areas = [Area(x[0]), Area(x[1])]
    return sum(areas) * sum([Area(x[2]), Area(x[0])], x[1])


class Stack:
    def __init__(self):
        self.items = []
        self.total = 0.0

    def append(self, v):
        self.items.append(v * 2.0)
        return self

    def fill(self, v):
        self.total = self.total + v * 3.0

    def update(self, v):
        self.total = self.total * v + v

    def pop(self):
        return self.items[0] * self.total


def picked(stacks, k):
    return stacks[k]


@directed(vector(3))
def what_a_call_gives_has_methods_named_like_those_of_lists(x):
    """Once errors when it ran, and in forward mode wrong in silence: the methods were taken for those of lists."""
    stacks = [Stack(), Stack()]
    picked(stacks, 0).append(x[0]).append(x[1])
    picked(stacks, 0).fill(x[1])
    picked(stacks, 1).append(x[2])
    picked(stacks, 1).update(x[0])
    (stacks[0] if x[0] > 50.0 else stacks[1]).update(x[1])
    value = picked(stacks, 1).pop()
    return value * stacks[0].total * stacks[0].items[1]
