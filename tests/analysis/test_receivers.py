"""Methods and objects that are differentiated as functions: what they store into their own object is refused."""

from __future__ import annotations

import copy  # noqa: F401
import heapq  # noqa: F401
import itertools
import linecache
from collections import deque

import numpy as np
import pytest

import srcgrad.eager as torch
from srcgrad import UnsupportedSyntax, grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp
from srcgrad.runtime.refusals import Refused, RefusedType

POINT = np.array([0.5, 0.7])
NUMBERS = itertools.count()


class Layer:
    def __init__(self, k):
        self.k, self.calls = k, 0

    def __call__(self, x):
        self.calls += 1
        return x * self.k

    def pure(self, x):
        return x * self.k


class Model:
    def __init__(self):
        self.w, self.base = np.array([2.0, 3.0]), 1.5
        self.n, self.last, self.buffer = 0, 0.0, np.zeros(2)
        self.seen, self.named, self.marks, self.queue = [], {}, set(), deque()
        self.layer, self.layers = Layer(2.0), [Layer(2.0), Layer(3.0)]
        self.cached = None

    def note(self, v):
        self.seen.append(v)

    def squared(self):
        if self.cached is None:
            self.cached = self.w * 2.0
        return self.cached

    @property
    def latest(self):
        return self.last

    @latest.setter
    def latest(self, v):
        self.last = v

    def counted(self, x):
        self.n += 1
        return np.sum(self.w * x**2) * self.n


def noted(seen, v):
    seen.append(v)


STORES = {
    "a counter": "self.n += 1",
    "a field": "self.last = x[0]",
    "a new field": "self.brand = x[0]",
    "several fields": "self.n, self.last = 1, x[0]",
    "the index of a loop": "for self.n in range(2): pass",
    "a deleted field": "del self.last",
    "a list": "self.seen.append(x[0])",
    "a heap": "heapq.heappush(self.seen, x[0])",
    "a deleted slice": "del self.seen[:]",
    "a dict": "self.named['a'] = x[0]",
    "a method of a dict": "self.named.setdefault('a', x[0])",
    "a set": "self.marks.add(3)",
    "a queue": "self.queue.appendleft(x[0])",
    "an element": "self.buffer[0] = x[0]",
    "an array in place": "self.buffer += x",
    "another name": "b = self.buffer; b += x",
    "a view": "b = self.buffer[:1]; b[:] = x[:1]",
    "a container around it": "b = [self.seen]; b[0].append(x[0])",
    "an object around it": "b = Layer(self.seen); b.k.append(x[0])",
    "an argument out=": "np.add(x, 1.0, out=self.buffer)",
    "a function of NumPy": "np.copyto(self.buffer, x)",
    "np.add.at": "np.add.at(self.buffer, [0], x[0])",
    "another method": "self.note(x[0])",
    "a function": "noted(self.seen, x[0])",
    "a property": "self.latest = x[0]",
    "a result that is kept": "x = x * self.squared()",
    "an object in a field": "x = self.layer(x)",
    "objects in a list": "for layer in self.layers: x = layer(x)",
    "a local function": "note = lambda v: self.note(v); note(x[0])",
    "an attempt": "try:\n        self.note(x[0])\n    except ValueError:\n        pass",
}
KEEPS = {
    "nothing": "",
    "a list of its own": "t = [self.w]; t.append(x); x = t[0] * t[1]",
    "a list given to a function": "t = [self.w]; noted(t, x); x = t[0] * t[1]",
    "lists made of its lists": "t = list(self.layers); t.pop(); u = self.seen + [x]; u.append(x); x = u[0] * len(t)",
    "a dict of its own": "d = {'w': self.w}; d['x'] = x; d.update(y=x * 2.0); x = d['w'] * d['y']",
    "an array of its own": "t = np.zeros(2); t[0] = x[0] * self.w[0]; t += x * self.w; x = t",
    "a copied array": "t = self.w.copy(); t += x; x = t",
    "its argument": "x = x * self.w; x[0] = 3.0 * x[1]",
    "a number": "e = self.base; e += np.sum(x); x = e * x",
    "an object of its own": "t = Layer(self.w); t.calls = 1; x = t.pure(x)",
    "a copy of itself": "c = copy.deepcopy(self); c.n += 1; c.note(x[0]); x = x * c.n",
    "objects in a list": "for layer in self.layers: x = layer.pure(x)",
}
MODES = {
    "grad": lambda f: grad(f)(POINT),
    "value_and_grad": lambda f: value_and_grad(f)(POINT),
    "vjp": lambda f: vjp(f, POINT),
    "jvp": lambda f: jvp(f, (POINT,), (POINT,)),
    "jacobian": lambda f: jacobian(f)(POINT),
    "hessian": lambda f: hessian(f)(POINT),
    "hvp": lambda f: hvp(f)(POINT, POINT),
    "a tensor": lambda f: grad(f)(torch.tensor(POINT)),
}


def method(statements):
    """A method of ``Model`` with these statements before its result."""
    text = f"def method(self, x):\n    {statements or 'pass'}\n    return self.base + np.sum(self.w * x**3)\n"
    return written(text, "method")


def written(text, name):
    """What ``text`` defines as ``name``; its lines can be shown."""
    filename = f"<method {next(NUMBERS)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names = dict(globals())
    exec(compile(text, filename, "exec"), names)
    return names[name]


class Bound(Model):
    """A model with one more method, as ``run`` and as its call."""

    def __init__(self, run):
        super().__init__()
        type(self).run = type(self).__call__ = run


def bound(statements):
    """A new class each time: a derivative is compiled for the methods that a class has."""
    return type("Bound", (Bound,), {})(method(statements))


def assert_refused(caught):
    text = str(caught.value)
    if isinstance(caught.value, RefusedType):  # what is written from values is looked at in the run
        assert "would be lost" in text and "as an argument" in text
        return
    assert "would be lost" in caught.value.reason or "may store into" in caught.value.reason
    assert caught.value.span.line and "^" in text and "as an argument" in text


@pytest.mark.parametrize("statements", STORES.values(), ids=STORES)
def test_what_would_be_lost_is_refused(statements):
    """Once the object stayed as it was, whatever its method stored, and the caller was not told."""
    model = bound(statements)
    with pytest.raises((UnsupportedSyntax, RefusedType)) as caught:
        value_and_grad(model.run)(POINT)
    assert_refused(caught)
    with pytest.raises((UnsupportedSyntax, RefusedType)) as caught:
        jvp(model, (POINT,), (POINT,))
    assert_refused(caught)


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_every_derivative_refuses(mode):
    with pytest.raises((UnsupportedSyntax, RefusedType)) as caught:
        mode(Model().counted)
    assert_refused(caught)


@pytest.mark.parametrize("statements", KEEPS.values(), ids=KEEPS)
def test_what_a_method_makes_itself_may_change(statements):
    run, model = method(statements), bound(statements)
    steps = np.eye(2) * 1e-6
    expected = [(run(Model(), POINT + h) - run(Model(), POINT - h)) / 2e-6 for h in steps]
    value, gradient = value_and_grad(model.run)(POINT)
    np.testing.assert_allclose(value, run(Model(), POINT), rtol=1e-13)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(model, (POINT,), (np.ones(2),))[1], np.sum(expected), rtol=1e-6)


def test_a_derivative_inside_of_a_method_that_stores_is_refused():
    def of_the_method(m, x):
        slope = grad(m.counted)
        return np.sum(slope(x)) * m.n

    def of_a_function_around_it(m, x):
        slope = grad(lambda y: m.counted(y))
        return np.sum(slope(x)) * m.n

    for function in (of_the_method, of_a_function_around_it):
        with pytest.raises((UnsupportedSyntax, RefusedType)):
            grad(function, argnums=1)(Model(), POINT)


def test_an_object_as_an_argument_is_not_refused():
    model = Model()
    np.testing.assert_allclose(grad(Model.counted, argnums=1)(model, POINT), 2.0 * model.w * POINT)
    assert model.n == 0


def alias(b, v):
    b += v


CAPTURED = {
    "another name": "s = b\ns += y\nreturn np.sum(s * s)",
    "another name in a loop": "s = b\nfor _ in range(2):\n    s += y\nreturn np.sum(s * s)",
    "elements": "b[:] = y * x[0]\nreturn np.sum(b * b)",
    "a callee": "alias(b, y)\nreturn np.sum(b * b)",
    "one of two": "s = b if y[0] > 0.0 else y * 1.0\ns += y\nreturn np.sum(s * y)",
}


def differentiating(statements, made):
    """A function that differentiates a local one, and reads what that captured before and afterwards."""
    body = "\n".join("        " + line for line in statements.splitlines())
    text = f"def f(x):\n    b = {made}\n    def g(y):\n{body}\n    return np.sum(grad(g)(x)) + np.sum(b)\n"
    return written(text, "f")


@pytest.mark.parametrize("statements", CAPTURED.values(), ids=CAPTURED)
@pytest.mark.costly(2, first=1)
def test_an_array_that_a_differentiated_local_function_changes_is_refused(statements):
    """Once the derivative changed a copy of ``b``, and ``np.sum(b)`` afterwards saw nothing of it."""
    with pytest.raises((UnsupportedSyntax, Refused), match="would be lost"):
        grad(differentiating(statements, "x * 1.0"))(POINT)


def test_a_number_that_a_differentiated_local_function_adds_to_stays_as_it_is():
    function = differentiating("s = b\nfor k in range(2):\n    s += y[k] ** 2\nreturn s * s", "x[0] * 2.0")

    def plain(x):  # the gradient of g by hand
        return np.sum(4.0 * (2.0 * x[0] + np.sum(x**2)) * x) + 2.0 * x[0]

    expected = [(plain(POINT + h) - plain(POINT - h)) / 2e-6 for h in np.eye(2) * 1e-6]
    np.testing.assert_allclose(grad(function)(POINT), expected, rtol=1e-6)
