"""Programs that call functions under ``remat``; ``refused_`` those that cannot be run again."""

import numpy as np

from srcgrad import remat

ROWS = np.array([1.0, 2.0, 3.0])


@remat
def plain(u, a):
    return np.sin(u) * a + u[0]


@remat
def with_more(u, *more, b=2.0, **named):
    return u * more[0] + b * u * u + named["c"]


@remat
def storing(u):
    w = u * 1.0
    w[0] = w[1] * w[2]
    np.multiply(w, w[0], out=w)
    return w


@remat
def branching(u, flags):
    """Its derivative reads no argument when it is recorded: a branch alone depends on them."""
    return 2.0 * u if flags[0] > 0 else 3.0 * u


@remat
def first(u):
    return u[0] if u[0] > u[2] else 3.0 * u[1]


@remat
def tail(u):
    return u[1:]


@remat
def pair(u):
    return u[0] * u[1], [np.sin(u)]


@remat
def power(u, n):
    return u if n == 0 else power(u * u[0], n - 1)


@remat
def looping(u, n):
    s = u[0]
    for i in range(n):
        if i == 3:
            break
        s = s * u[i % 3] + np.cos(s)
    return s


@remat
def raising(u):
    if u[0] > 100.0:
        raise ValueError("too large")
    return 1.0 / u[0]


@remat
def inner(u):
    return np.sin(u) * u


@remat
def outer(u):
    return inner(inner(u)) * u


@remat
def by_rows(u):
    return u * ROWS * u


class Scale:
    def __init__(self, a):
        self.a = a
        self.flags = np.array([1.0])

    @remat
    def scaled(self, u):
        return u * self.a * u

    @remat
    def chosen(self, u):
        return 2.0 * u if self.flags[0] > 0 else 3.0 * u

    @staticmethod
    @remat
    def cubed(u):
        return u * u * u

    @classmethod
    @remat
    def squared(cls, u):
        return u * u


def positional(x):
    return np.sum(plain(x, 2.0) ** 2)


def by_keyword(x):
    return np.sum(plain(a=x[1], u=x) ** 2)


def with_more_arguments(x):
    return np.sum(with_more(x, x[2], b=x[0], c=x[1]) ** 2)


def stores_into_its_own(x):
    return np.sum(storing(x) ** 2)


def argument_stored_into_later(x):
    y = x * 1.0
    s = plain(y, 2.0)
    y[0] = y[1] * 4.0
    return np.sum(s * y)


def argument_sorted_later(x):
    y = x * 1.0
    s = first(y)
    y.sort()
    return s + y[0]


def argument_decides_and_is_stored_into_later(x):
    y = x * 1.0
    s = branching(y, y)
    np.negative(y, out=y)
    return np.sum(s) + y[1]


def flags_stored_into_later(x):
    flags = np.array([1, 0, 2])
    s = branching(x, flags)
    flags[:] = 0
    return np.sum(s) + flags[0]


def flags_change_in_a_loop(x):
    flags, s = np.array([1.0, -1.0]), x
    for _ in range(3):
        s = branching(s, flags) + x
        flags *= -1.0
    return np.sum(s)


def returns_a_view(x):
    z = tail(x)
    return np.sum(z * z)


def returns_more(x):
    a, held = pair(x)
    held.append(x[0])
    held[0] = held[0] * 2.0
    return a * np.sum(held[0]) + held[1]


def recursive(x):
    return np.sum(power(x, 3))


def in_a_loop(x):
    h = x
    for i in range(5):
        h = plain(h, 0.3 * i)
    return np.sum(h)


def a_loop_in_it(x):
    return looping(x, 7) * x[0]


def raises_and_is_caught(x):
    try:
        return raising(x * 1000.0) * x[1]
    except ValueError:
        return raising(x) * x[2]


def one_in_another(x):
    return np.sum(outer(x))


def mapped(x):
    return sum(map(inner, [x[0], x[1], x[2]]))


def as_a_value(x):
    f = inner if x[0] > 0 else outer
    return np.sum(f(x))


def reads_a_global(x):
    return np.sum(by_rows(x))


def methods(x):
    s = Scale(x[0])
    return np.sum(s.scaled(x)) + np.sum(Scale.cubed(x)) + np.sum(Scale.squared(x))


def array_of_the_object_changes_later(x):
    s = Scale(x[0])
    y = s.chosen(x)
    s.flags[0] = -1.0
    return np.sum(y) * s.a


# --- what cannot be run again ----------------------------------------------------------------------------------------
@remat
def storing_into(u):
    u[0] = u[1] * u[0]
    return u[2] * u[0]


@remat
def writing_to(u, w):
    np.multiply(u, u, out=w)
    return w[0]


@remat
def popping(u, xs):
    return u[0] * xs.pop() * u[1]


@remat
def of_dict(u, d):
    return u[0] * d["a"] * u[1]


@remat
def counting(s, u):
    s.a += 1.0
    return u * s.a


@remat
def drawing(u):
    return u * np.random.rand()


@remat
def drawing_from(u, rng):
    return u * rng.normal() * u


@remat
def printing(u):
    print(end="")
    return u


def refused_E0122_stores_into_its_argument(x):
    y = x * 1.0
    return storing_into(y) + np.sum(y * y)


def refused_E0122_writes_to_its_argument(x):
    w = np.zeros(3)
    return writing_to(x, w) * np.sum(w)


def refused_E0122_pops(x):
    xs = [1.0, 2.0, 3.0]
    return popping(x, xs) + popping(x, xs)


def refused_E0122_dict_that_changes_later(x):
    d = {"a": 3.0}
    s = of_dict(x, d)
    d["a"] = 5.0
    return s * d["a"]


def refused_E0122_object_that_changes(x):
    s = Scale(1.0)
    return np.sum(counting(s, x)) + np.sum(counting(s, x))


def refused_E0122_view_that_is_stored_into(x):
    y = x * 1.0
    z = tail(y)
    z[0] = 5.0 * y[0]
    return np.sum(y * y)


def refused_E0123_draws(x):
    return np.sum(drawing(x))


def refused_E0123_draws_from_a_generator(x):
    return np.sum(drawing_from(x, np.random.default_rng(3)))


def refused_E0123_prints(x):
    return np.sum(printing(x))
