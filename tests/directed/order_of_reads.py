"""What is read before something else is evaluated, which rebinds it or raises."""

import functools
import math

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


@directed(0.7, analytic=False)
def an_item_is_read_before_what_is_added(x):
    """Once silently wrong: the value raised first, and another handler ran."""
    y, d, s = [x, x], {"a": x}, x
    try:
        y[5] += math.sqrt(-x)
    except IndexError:
        s = s * 2.0
    except ValueError:
        s = s * 3.0
    try:
        d["b"] += math.sqrt(-x)
    except KeyError:
        s = s * 5.0
    except ValueError:
        s = s * 7.0
    return s


def adds(y, i, x):
    y[i] += math.sqrt(-x)
    return x


@directed(0.7, analytic=False)
def an_item_is_read_first_in_a_callee(x):
    """Once silently wrong: what a function called in ``try`` adds raised first."""
    y, s = [x, x], x
    for i in range(1, 3):
        try:
            s = adds(y, i, x)
        except IndexError:
            s = s * 2.0
        except ValueError:
            s = s * 3.0
    return s * y[1]


@directed(0.7, analytic=False)
def an_array_is_read_before_what_is_added(x):
    y, s = np.array([x, x]), x
    for i in range(3):
        try:
            y[i] += math.sqrt(x - 0.5 * i)
        except IndexError:
            s = s * 2.0
        except ValueError:
            s = s * 3.0
    return s * y[1] * y[0]


@directed(0.7, 1, analytic=False)
@directed(0.7, 5, analytic=False)
def a_method_is_looked_up_before_its_argument(x, n):
    """Once silently wrong: None has no ``append``, which was not seen, or too late."""
    xs, s = [x] if n > 3 else None, x
    try:
        xs.append(x)
        s = s * 2.0
    except AttributeError:
        s = s * 3.0
    try:
        xs.append(math.sqrt(-x))
    except AttributeError:
        s = s * 5.0
    except ValueError:
        s = s * 7.0
    return s


@directed(0.7)
def what_a_generator_goes_over_is_evaluated_when_it_is_made(x):
    """Once silently wrong: it was looked at when the other argument had been evaluated, which binds it again."""
    xs, d = [x, x * 2.0], {"a": x, "b": x * x}

    def start():
        nonlocal xs, d
        xs, d = [x * 5.0], {"a": x * 9.0}
        return x * 7.0

    first = sum((v * v for v in xs), start()) + sum(xs)
    xs, d = [x, x * 3.0], {"a": x, "b": x * x}
    second = sum((v * i for i, (_, v) in enumerate(d.items())), start()) * d["a"]
    xs = [x, x * 3.0]
    third = functools.reduce(lambda a, b: a * b, (v + 1.0 for v in xs), start())
    return first + second + third * xs[0]


@directed(vector(3))
def what_a_generator_takes_an_item_of(x):
    """Once silently wrong, as above; what its elements read is read as it goes, and so are the items."""
    rows, k = [[x[0], x[1]]], 2.0

    def start():
        nonlocal k
        rows[0][1] = x[2]
        rows[0] = [x[0]]
        k = x[1]
        return x[2]

    return sum((v * v * k for v in rows[0]), start()) + rows[0][0]


@directed(0.7)
def decorators_are_evaluated_before_defaults(x):
    """Once silently wrong: the other way round."""
    seen = []

    def noted(v):
        seen.append(v)
        return v

    def scaled(v):
        seen.append(v)

        def decorate(f):
            return lambda *given: f(*given) * v

        return decorate

    @scaled(x)
    @scaled(x * 3.0)
    def product(k, a=noted(x * 2.0)):
        return a * k

    return seen[0] + 3.0 * seen[1] * product(2.0) + seen[2] ** 2
