"""Objects that record how they were computed in functions that they hold, as small autograd engines do."""

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


class Number:
    def __init__(self, data, parts=()):
        self.data = data
        self.grad = 0.0
        self.parts = parts
        self.backward = lambda: None

    def __mul__(self, other):
        out = Number(self.data * other.data, (self, other))

        def backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.backward = backward
        return out

    def tanh(self):
        out = Number(np.tanh(self.data), (self,))

        def backward():
            self.grad += (1.0 - out.data**2) * out.grad

        out.backward = backward
        return out


@directed(vector(3))
def an_operator_returns_an_object_with_a_function(x):
    a, b = Number(x[0]), Number(x[1])
    return ((a * b).tanh() * b).data


@directed(vector(3), order=1)
def the_functions_are_called_in_reverse(x):
    a, b = Number(x[0]), Number(x[1])
    c = a * b
    d = (c * b).tanh()
    d.grad = 1.0
    for number in [d, *d.parts, c, b, a]:
        number.backward()
    return a.grad * b.grad + d.data


@directed(vector(3), order=1)
def objects_of_a_loop_in_a_list(x):
    total, recorded = Number(x[0]), []
    for i in range(3):
        total = total * Number(x[i])
        recorded.append(total)
    total.grad = 1.0
    for number in reversed(recorded):
        number.backward()
    return recorded[0].parts[0].grad + recorded[1].parts[1].grad


@directed(vector(3), order=1)
def a_recursion_orders_the_objects(x):
    a, b = Number(x[0]), Number(x[1])
    c = (a * b).tanh() * a
    order = []

    def build(number):
        for part in number.parts:
            build(part)
        order.append(number)

    build(c)
    c.grad = 1.0
    for number in reversed(order):
        number.backward()
        number.backward = lambda: None
    return a.grad * b.grad + c.data


def weighted(k, n):
    """A function that has captured what it needs, made behind a recursion."""
    return (lambda v: v * k) if n == 0 else weighted(k * k, n - 1)


@directed(vector(3))
def a_recursion_returns_a_function(x):
    return np.sum(weighted(x[0], 2)(x))


class Counter:
    def __init__(self, start):
        self.start = start
        self.step = None

    def counting(self, k):
        """The function binds what it captured, which is bound again after it is made."""
        total = self.start
        other = Counter(self.start)

        def step(v):
            nonlocal total
            total = total + v * k
            return total

        other.step = step
        k = k * k
        return other


@directed(vector(3))
def a_method_returns_an_object_with_a_counter(x):
    one, other = Counter(x[0]).counting(x[1]), Counter(x[1]).counting(x[2])
    one.step(x[2])
    return one.step(x[0]) * other.step(x[1])


def ordered(number):
    """All numbers that one was computed of, each once, and behind those that it was computed of."""
    order, seen = [], set()

    def build(one):
        if one not in seen:
            seen.add(one)
            for part in one.parts:
                build(part)
            order.append(one)

    build(number)
    return order


@directed(vector(3), order=1)
def a_set_of_objects_that_were_met(x):
    a, b = Number(x[0]), Number(x[1])
    c = a * b
    d = (c * b).tanh()
    d.grad = 1.0
    for number in reversed(ordered(d)):
        number.backward()
    return a.grad * b.grad + d.data


@directed(vector(3), order=1)
def an_object_that_changes_stays_in_a_set(x):
    numbers = [Number(v) for v in x]
    seen, total = set(), x[0]
    for number in numbers + numbers[::-1]:
        if number in seen:
            total = total * number.data
            seen.discard(number)
        else:
            seen.add(number)
            number.data = number.data * x[1]
    return total + len(seen) * x[2]


class Value:
    """As micrograd has it: what it was computed from is a set, and an operand that is a number becomes a value."""

    def __init__(self, data, kids=()):
        self.data = data
        self.grad = 0.0
        self._backward = lambda: None
        self._prev = set(kids)

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other))

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other))

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def backward(self):
        topo, visited = [], set()

        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build_topo(child)
                topo.append(v)

        build_topo(self)
        self.grad = 1.0
        for v in reversed(topo):
            v._backward()


@directed(0.7, 1.3)
def values_of_a_graph_of_sets(x, y):
    a, b = Value(x), Value(y)
    c = a * b + a * 3.0 + b
    return c.data * c.data


@directed(0.7, 1.3)
def gradients_of_a_graph_of_sets(x, y):
    a, b = Value(x), Value(y)
    c = a * b + a * 2.0
    c.backward()
    return a.grad * b.grad
