"""Programs that cover the language feature by feature, each with the arguments of one or more calls."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

X = np.array([0.3, -1.2, 2.0, 0.7])
W = np.array([[1.0, 2.0], [3.0, -4.0], [0.5, 0.25]])
G = 3.0
TABLE = {"a": 2.0, "b": -1.0}
LIST = [1.0, 2.5, -0.5]
PROGRAMS = []


def program(*calls):
    """Registers a function with the argument tuples (or dicts of keywords) that it is run on."""

    def register(function):
        PROGRAMS.append((function, calls))
        return function

    return register


# --- straight lines --------------------------------------------------------------------------------------------------
@program((2.0, 3.0))
def operators(x, y):
    return x + y * 2 - x / y + x**2 - -y + x // y + y % x


@program((W, W.T))
def matrix_product(a, b):
    return a @ b


@program((1.5,))
def constants(x):
    """A docstring."""
    half = 1 / 2
    return half * x + 2 * np.pi * x * G - (-3) * x


@program((2.0, 5.0))
def swap(a, b):
    a, b = b, a + b
    (a, b), c = (b, a), a * 3.0
    return a - 2 * b + c


@program(((1.0, 2.0, 3.0, 4.0),))
def starred_unpacking(xs):
    a, *rest = xs
    b, *middle, c = xs
    [d, (e, *f)] = a, (b, c, 7.0)
    *g, h = 1.0, 2.0, a
    return a * 2 + rest[1] + middle[0] * c + d + e + f[0] + f[1] + g[1] + h


@program((1.0, (2.0, (3.0, 4.0))))
def nested_unpacking(x, t):
    a, (b, c) = t
    p, q = r = (a * x, b)
    return a + b * c + p * q + r[0]


@program((3.0,))
def chained(x):
    a = b = c = x * 2
    a = b + 1
    return a * b * c


@program((3.0,))
def annotated(x: float) -> float:
    y: float = x * 2
    z: float
    z = y + 1
    return z


@program((3.0, 4.0))
def walrus(x, y):
    z = (t := x * y) + t
    u = x + (x := y * 2) + x
    return z * u + t + x


@program((2.0,))
def walrus_in_tests(x):
    n = 0
    while (y := x * n) < 5 and n < 10:
        n += 1
        if (h := y / 2) > 1 and h < 2:
            continue
        x = x + h * 0.01
    return x + y + n


@program((1.0, 2.0))
def augmented(x, y):
    s = x * 1.0
    s += y
    s *= s
    s -= x
    s /= 2
    s **= 2
    return s


@program((X.copy(),))
def augmented_array(x):
    s = x * 2.0
    s += 1.0
    s *= x
    return s.sum()


@program((0.5, 2.0), (2.0, 0.5))
def comparisons(x, y):
    a = x < y
    b = 0 < x < 1 < y
    c = (x < y) and not (y == 2.0) or x >= 3
    return float(a) + b * x + (y if c else -y) + (x is y) + (x is not None)


@program((1.0, 0.0), (0.0, 5.0), (0.0, 0.0))
def and_or_values(x, y):
    a = x or y
    b = x and y * 2
    c = x or y or 3.0
    a = a or x + 1
    return a + b * 2 + c * 3


@program((2.0, True), (2.0, False))
def ternary(x, flag):
    y = x * (x + 1 if flag else x - 1) + (1.0 if flag else -1.0)
    x = x if flag else (y if y > 0 else -y)
    return x * y


@program((2.0,))
def membership(x):
    return x * (1 if "a" in TABLE else 2) + (x in (1.0, 2.0)) * x + (3 not in [1, 2])


@program((2.0,), (-2.0,))
def strings(x):
    name = "neg" if x < 0 else "pos"
    text = f"{name}:{x:.2f}" + "!" + "%d" % 3
    assert text.startswith(("neg", "pos")), f"bad {text}"
    kind = name.upper()
    return x * len(text) + (kind == "NEG")


# --- branches --------------------------------------------------------------------------------------------------------
@program((3.0,), (0.5,), (-1.0,))
def if_elif_else(x):
    if x > 2:
        y = x * x
    elif x > 0:
        y = x + 1
    else:
        y = -x
    return y


@program((3.0,), (0.5,), (-1.0,), (-9.0,))
def early_returns(x):
    if x > 2:
        return x * x
    y = x + 1
    if x > 0:
        y = y * 2
        return y
    elif x < -5:
        return -x
    return y - 3


@program((3.0,), (0.5,), (-1.0,))
def partly_returning(x):
    if x < 1:
        if x < 0:
            return x * 2
        x = x + 10
    y = x * 3
    return y


@program((1.0,), (-1.0,))
def falls_off(x):
    if x > 0:
        return x


@program((1.0, "sin"), (1.0, "cos"), (1.0, "cosine"), (1.0, None), (1.0, 3), (1.0, "?"))
def match_statement(x, kind):
    match kind:
        case "sin":
            y = np.sin(x)
        case "cos" | "cosine":
            y = np.cos(x)
        case None:
            y = x
        case 3 if x > 0:
            y = x * 3
        case _:
            y = 0.0
    return y


@program((2,), (-3,), (0,))
def match_expression(n):
    match n * 2:
        case 4:
            return 1.0
        case -6:
            return 2.0
    return 3.0


# --- loops -----------------------------------------------------------------------------------------------------------
@program((0.5, 4), (0.5, 0))
def range_loop(x, n):
    s = 0.0
    for i in range(n):
        s = s + x * i
    for i in range(1, n):
        s += i
    for i in range(n, 0, -2):
        s = s * x + i
    return s


@program((0.5, 4), (0.5, 0), (0.5, 1))
def reversed_loop(x, n):
    s = x
    for i in reversed(range(n)):
        s = s * 0.5 + i
    for i in reversed(range(1, n)):
        s = s * 0.5 + i
    for i in reversed(range(-1, n, 2)):
        s = s * 0.5 + i
    for v in reversed([x, s, 2.0]):
        s = s + v * s
    return s


@program((X,), (X[:0],), ([1.0, 2.0],), ((3.0,),))
def over_elements(xs):
    s = 0.0
    for v in xs:
        s = s * 0.5 + v * v
    return s


@program((W,))
def over_rows(m):
    s = 0.0
    for a, b in m:
        s = s + a * b
    for row in m:
        for v in row:
            s = s * 0.9 + v
    return s


@program((X, LIST))
def over_pairs(xs, ys):
    s = 0.0
    for a, b in zip(xs, ys):
        s += a * b
    for i, v in enumerate(xs):
        s += v * i
    for i, v in enumerate(ys, 2):
        s += v * i
    for i, (a, b) in enumerate(zip(xs, ys)):
        s += a * b * i
    for a, (b, c) in zip(xs, zip(ys, ys)):
        s += a * b - c
    for pair in zip(xs, ys):
        s += pair[0] * pair[1]
    for pair in enumerate(ys):
        s += pair[0] * pair[1]
    for a, i in zip(xs, range(1, 9, 2)):
        s += a * i
    for a, b in reversed(list(zip(ys, ys))):
        s = s * 0.5 + a * b
    for i, a in reversed(list(enumerate(ys))):
        s = s * 0.5 + a * i
    return s


@program((X, X), (X, LIST))
def strict_zip(xs, ys):
    s = 0.0
    for a, b in zip(xs, ys, strict=True):
        s += a * b
    return s


@program(({"a": 1.0, "b": 2.0},), ({},))
def over_dict(d):
    s = 0.0
    for k, v in d.items():
        s += v * len(k)
    for v in d.values():
        s = s * 0.5 + v
    for k in d.keys():
        s += d[k]
    for k in d:
        s += d[k] * 2
    for k in d:
        s = s + d.get(k, 1.0) + d.get("zz", 0.25)
    return s + sum(d.values())


@program((2.0,))
def over_globals(x):
    s = 0.0
    for v in LIST:
        s = s * x + v
    for k in TABLE:
        s += TABLE[k] * x
    for k, v in TABLE.items():
        s += v * len(k) * x
    for c in "abc":
        s += x * (c == "b")
    return s + LIST[1] * x + W[0, 1] + X.sum() * x


@program((2.0,))
def over_iterators(x):
    s = 0.0
    for i, j in itertools.product(range(3), range(2)):
        s += x * i - j
    for p in itertools.combinations((1, 2, 3), 2):
        s += x * p[0] * p[1]
    for i in filter(None, [0, 1, 2]):
        s += x * i
    return s


@program((X,))
def over_map(xs):
    s = 0.0
    for v in map(math.sin, xs):
        s += v
    for v, w in zip(map(lambda y: y * 2, xs), xs):
        s += v * w
    return s


@program((X,))
def iterable_rebound(xs):
    s = 0.0
    for v in xs:
        xs = xs * 0.5
        s += v
    for i, v in enumerate(xs):
        i = i * 2
        s += v * i
    return s + xs.sum()


@program((X,), (X[:0],))
def loop_variable_after(xs):
    v = 0.0
    i = -1
    for i, v in enumerate(xs):
        if v > 1:
            break
    return v * 2 + i


@program((40.0,), (1.0,))
def while_loop(x):
    n = 0
    while abs(x) > 1.0:
        x = x * 0.5
        n += 1
    return x + n


@program((X, 0.5), (X, 9.0), (X[:0], 1.0))
def loop_else(xs, limit):
    s = 0.0
    for v in xs:
        if v > limit:
            break
        s += v
    else:
        s -= 100.0
    n = 0
    while n < 3:
        for k in range(5):
            if k > n:
                break
        else:
            break
        n += 1
    else:
        s *= 2
    return s


@program((X,))
def else_without_break(xs):
    s = 0.0
    for v in xs:
        s += v
    else:
        s *= 2
    return s


@program((X, 1.0), (X, 100.0))
def break_and_continue(xs, limit):
    s = 0.0
    for i in range(len(xs)):
        if xs[i] < 0:
            continue
        for j in range(i):
            if s > limit:
                break
            s = s + xs[j] * xs[i]
        if s > 2 * limit:
            break
    return s


@program((X, 0.5), (X, 50.0))
def return_from_loops(xs, limit):
    s = 1.0
    for i in range(4):
        for v in xs:
            s = s + v * v
            if s > limit:
                return s * i
    if s > 1:
        return -s
    return s


# --- comprehensions --------------------------------------------------------------------------------------------------
@program((X,))
def comprehensions(xs):
    ys = [v * v for v in xs]
    zs = [a * b for a in ys for b in xs if b > 0 if a < 3]
    v = 5.0
    ys = [v + y for y in ys]
    nested = [[v * w for w in ys] for v in xs]
    return sum(ys) + sum(zs) * v + nested[1][2] + len(nested)


@program((X,))
def comprehension_scopes(xs):
    i = 10
    G = [i * x for i, x in enumerate(xs)]
    x = [x for x in xs]
    x = [[x for x in xs if x > 0] for xs in [x, G]]
    return i + G[1] + x[0][1] + x[1][0]


@program((X,))
def consumed_generators(xs):
    total = sum(v * v for v in xs)
    total += sum((v for v in xs if v > 0), 10.0)
    total += max(v * 2 for v in xs) - min([v for v in xs])
    if any(v > 1 for v in xs) and all(v > -5 for v in xs):
        total *= 2
    flag = any(v > 100 for v in xs) or any([v > 100 for v in xs])
    if all([v > -9 for v in xs]) and not any(a > b + 99 for a in xs for b in xs):
        total += 1
    return total + flag + sum(list(v for v in xs)) + sum(tuple(v * 3 for v in xs))


@program((X,))
def lambda_in_comprehension(xs):
    v = 3.0
    return sum((lambda y: y * v)(2.0) for v in xs) + sum([(lambda v: v * w)(v) for w in xs])


# --- calls -----------------------------------------------------------------------------------------------------------
def affine(x, a=2.0, *, b=1.0):
    return a * x + b


def pair(x, y):
    return x * y, x + y


def variadic(first, *rest, **options):
    s = first
    for v in rest:
        s = s * 0.5 + v
    return s + options.get("offset", 0.0)


def compose(outer, inner, x):
    return outer(inner(x))


def apply_twice(function, x):
    return function(function(x))


def wrapper_of(function):
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 2.0

    return wrapper


@wrapper_of
def decorated(x, y=3.0, *, z=1.0):
    return x * y + z


def defaulted_array(x, w=X):
    return (x * w).sum()


def with_activation(x, act=np.tanh):
    return act(x)


def even(n, x):
    return x if n == 0 else odd(n - 1, x * 2)


def odd(n, x):
    return x + 1 if n == 0 else even(n - 1, x * 3)


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def optional_function(x, act=None, w=None):
    if w is None:
        w = 2.0
    y = x * w if act is None else act(x) * w
    if act is not None:
        y = act(y)
    return y


@program((1.5,))
def optional_functions(x):
    return optional_function(x) + optional_function(x, np.sin) * optional_function(x, act=None, w=x)


@program((1.5,))
def partial_applications(x):
    return applied(x) + applied(x, a=x)


applied = functools.partial(affine, b=4.0)


@program((1.5,))
def user_calls(x):
    p, q = pair(x, affine(x, b=x))
    return affine(p) + affine(a=q, x=2.0) * affine(x, 3.0, b=4.0)


@program((1.5, (2.0, 3.0), {"offset": 4.0}))
def variadic_calls(x, xs, options):
    a = variadic(x)
    b = variadic(x, a, 2.0, offset=x)
    c = variadic(*xs)
    d = variadic(x, *xs)
    e = variadic(x, *xs, **options)
    f, g = pair(*xs)
    h = affine(*(x,), **{"b": 2.0})
    return a + b * c - d * e + f * g + h


@program((1.5, 2.0, 3.0))
def star_parameters(x, *args, **kwargs):
    a = variadic(*args)
    b = variadic(x, *args, **kwargs)
    s = 0.0
    for v in args:
        s += v
    return a + b * args[1] + s + len(args)


@program((1.5,))
def through_a_decorator(x):
    return decorated(x) + decorated(x, 2.0) * decorated(x, y=x, z=3.0)


@program((1.5,))
def array_default(x):
    return defaulted_array(x) + defaulted_array(x, X * 2)


@program((1.5,))
def functions_as_arguments(x):
    a = 3.0
    u = apply_twice(np.sin, x) + compose(math.exp, lambda y: y * a, x)
    v = with_activation(x) + with_activation(x, np.cos) + with_activation(x, act=affine)

    def local(y):
        return y * a + x

    return u * v + apply_twice(local, 2.0) + compose(local, affine, x) + compose(local, local, 1.0)


@program((1.5, 3), (2.0, 4))
def recursion(x, n):
    return power(x, n) + even(n, x)


@program((1.5,))
def local_functions(x):
    a = x * 2
    square = lambda y: y * y

    def scale(y, k=a, *, m=2.0):
        return square(y) * k * m + a

    first = scale(1.0)
    a = 100.0

    def ladder(y, n):
        if n == 0:
            return y
        return ladder(y * x, n - 1) + a

    return first + scale(x) + scale(2.0, 3.0, m=x) + ladder(1.0, 3)


@program((1.5, 3))
def nested_local_functions(x, n):
    b = 2.0

    def outer(y):
        c = y * b

        def inner(z):
            return z * c + x

        b_inner = inner(y)
        return b_inner + other(inner, c)

    def other(f, b):
        return f(b) + x

    return outer(n) + other(outer, 1.0) + (lambda q: q * b)(x)


@program((1.5,))
def captured_name_clash(x):
    b = x * 2

    def h(y):
        return y * b

    def g(b):
        return h(b) + 1

    return g(x)


@program((1.5, 4))
def captured_read_at_call(x, n):
    s = 0.0
    f = lambda y: y * s + i
    for i in range(n):
        s = s + f(x) + 1
    return s


@program((2.0,))
def function_aliases(x):
    g = np.sin
    h = g
    k = affine
    fft = math.sqrt
    return h(x) + k(x) * fft(x)


def growing(f, x, n):
    if n == 0:
        return f(x)
    return growing(f, x * 2, n - 1) + f(x)


@program((2.0,))
def recursion_with_a_function(x):
    return growing(lambda y: y * x, x, 3)


def fixed_lambda(x, n, f=None):
    if n == 0:
        return x
    return apply_twice(lambda y: y + 1, x) + fixed_lambda(x * 2, n - 1)


@program((2.0, 3))
def recursion_makes_lambdas(x, n):
    return fixed_lambda(x, n)


def _closure(a):
    w = np.array([1.0, a])

    def inside(x):
        return (x * w).sum() + a

    return inside


closure_cells = program((2.0,))(_closure(3.0))


# --- arrays, containers, effects -------------------------------------------------------------------------------------
@program((W,))
def methods(m):
    a = m.sum(axis=0) + m.mean(0) + m.T.sum(axis=1)
    b = m.dot(m.T) @ m
    c = m.reshape(2, 3) + m.reshape((2, -1)) + m.reshape(-1)[:6].reshape(2, 3)
    d = m.transpose(1, 0) + m.T + m.transpose()
    n = m.shape[0] * m.ndim + m.size + len(m)
    e = m.astype(float).copy().ravel()
    return a.sum() + b.max() + c.sum() + d.sum() * n + e[0] + m.argmax() + m[m.argmax() // 2, -1] + m[:1, 0].item()


@program((X, W))
def indexing(x, m):
    i = 1
    a = x[i] + x[-1] + x[i + 1] + x[np.argmax(x)]
    b = x[1:3] * x[::2] + x[[0, 0]] + x[x > 0.6]
    c = m[0] + m[:, 1][:2] + m[i][None, :][0] + m[..., 0][0]
    return a + b.sum() + c.sum() + x[x.argmax() :].sum() + m[1:, :1].sum()


@program((X,))
def numpy_functions(x):
    y = np.where(x > 0, x, np.zeros_like(x)) + np.maximum(x, 0.5) + np.clip(x, -1, 1)
    z = np.concatenate([x, y, np.ones(2)]) * 2
    t = np.stack((x, y), axis=1)
    return np.sum(z) + np.sum(t, axis=-1)[0] + np.sum(np.array([x[0], y[1], 3.0])) + np.roll(x, 1)[0]


@program(([1.0, (2.0, X)], {"w": 3.0, "v": [4.0, 5.0]}))
def reading_containers(xs, params):
    a, (b, c) = xs
    t = (a, b * 2, [c, params["w"]])
    d = {"k": a * 2, "m": t}
    return {"r": d["k"] + t[2][1] + params["v"][1], "t": (d["m"][0], xs[1][0], [c[0]])}


@program((2.0,))
def builtins(x):
    q, r = divmod(7.5, x)
    return abs(-x) + max(x, 3.0, q) + min(x, r) + sum([x, x * 2]) + pow(x, 3) + round(x, 1) + len([x, x]) + float(x)


@program((2.0,))
def effects(x):
    print("x is", x, end="\n")
    assert x > 0, "positive"
    affine(x)
    np.random.seed(0)
    noise = np.random.normal(size=3)
    if x < -1:
        raise ValueError(f"bad {x}")
    return x * noise.sum()


@program((X,))
def errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(np.maximum(x, 0.0))
        y = np.where(x > 0, y, 0.0)
    return y.sum()


@program((0.5,))
def shadowed_builtins(x):
    sum = x * 2
    max = lambda a, b: a * b
    len = max(sum, x)
    t = len + sum
    np_ = t
    return np_ * max(x, t)


@program((2.0,))
def names_like_ours(t):
    t2 = t * 3
    value = t2 + (t if t2 > 1 else t2)
    if value > 3:
        return value * (t + t2) / (t - 5)
    broke = i = 1.0
    return broke + i


@program((1.0, 2.0))
def calls_in_tests(x, y):
    scale = lambda v: v * y
    if scale(x) > 1 and affine(x) < 10:
        x = x + 1
    while scale(x) < 20:
        x = x * 2
    z = x if 0 < scale(x) < 100 else y
    assert scale(x) > 0
    return z + (1.0 if scale(z) > 3 else 2.0)


@program((3,), (0,))
def empty_blocks(n):
    s = 0.0
    for i in range(n):
        pass
    if n > 1:
        pass
    else:
        s = 1.0
    while False:
        s = 2.0
    return s


@program((2.0,))
def long_chain(x):
    return x + x + x - x * x * x / x + (x + (x + (x + x))) - 1 + 2 * 3 * x


@program((5,), (0,))
def bits(n):
    mask = np.arange(4) > 1
    other = ~mask & (np.arange(4) < 3) | (np.arange(4) == 0)
    return (X * other).sum() + (n << 1) + (n ^ 3)


lambda_program = program((2.0, 3.0))(lambda x, y=4.0: x * y + np.sin(x))


# --- order of evaluation ---------------------------------------------------------------------------------------------
def show(value):
    print(value, end=" ")
    return value


def three(a, b=7, *rest, c=8, **others):
    return a * 100 + b * 10 + c + sum(rest) + len(others)


@program((1.0,))
def order_of_operands(x):
    a = show(1) + (show(2) if show(3) > 0 else show(4)) * show(5) - show(6)
    b = [show(v) for v in (show(1), show(2))][show(0)] + show(9)
    c = show(1) < show(2) < show(0) < show(9)
    local = lambda v: show(v * x)
    d = local(1) < local(2) < local(0) < local(9) or local(3) == 3
    e = show(0) or show(2) and local(3)
    print()
    return a + b + c + d + e


@program((X,))
def order_of_arguments(x):
    local = lambda v: show(v)
    a = three(show(1), *[show(2), local(3)], c=show(4), z=show(5))
    b = {"a": show(1), "b": local(2)}["b"] + x[show(0) : local(2)].sum() + x[local(1)]
    c, d = show(1), local(2)
    print(show(1), show(2) if local(3) else show(4), show(5))
    print(show(1), local(3), show(5), sep=local("-"))
    e = np.sum(show(1) * x, axis=show(0)) + np.sum(show(1) * x, axis=local(0)) + len([show(1), local(2)])
    text = f"{show(1)} {local(2):>{local(5)}} {show(3)!r}"
    print(text)
    return a + b + c + d + e + len(text)


@program((2.0,), (-2.0,))
def order_of_walrus(x):
    y = 1.0
    t = (show(y), (y := show(x)), y + show(3), y)
    u = y + (y := y * 2) * y + (y := y + 1)
    z = x + y if (x := x * 2) > 0 else x - y
    assert show(1) < (w := show(5)) < 9, f"{w}"
    v = [show(w), w := 3, w][2] + w
    k = np.maximum(x, (x := x * 3)) + x
    if (n := show(2)) > 1 and (m := n * 2) > show(3):
        z = z + m
    return t[0] + t[1] * t[2] + t[3] + u + z + v + k + n


@program((X,))
def walrus_in_comprehensions(xs):
    last = 0.0
    ys = [(last := v) * 2 for v in xs if (w := v * 3) > 0]
    zs = [y for v in xs if (y := v * 2) > 0 for _ in range(2)]
    n = 0
    while n < sum([1 for v in xs if v > 0]) and any(v > n for v in xs):
        n += 1
    return sum(ys) + last + w + sum(zs) + y + n


@program((X,))
def comprehensions_in_odd_places(xs, ys=[v for v in (1.0, 2.0)]):
    def local(y, zs=[v * 2 for v in (1.0, 3.0)]):
        return y * sum(z for z in zs)

    for v, w in [(v, v * 2) for v in xs if v > 0]:
        xs = xs + v * w
    if [v for v in xs if v > 1]:
        xs = xs * 2
    a = np.array([[v * w for w in ys] for v in ys]).sum() + max([v for v in xs][:2])
    b = [lambda_sum(lambda y: y * v) for v in ys][1] + xs[[i for i in range(2)]].sum()
    c = {"k": [v for v in ys]}["k"][0] + (sum(v for v in ys) if len(ys) > 1 else sum(v for v in xs))
    return a + b + local(2.0) + c + np.sum([v * w for v, w in zip(ys, ys)])


def lambda_sum(f):
    return f(2.0) + f(3.0)


@program((2.0, 3), (2.0, 0))
def everything_in_loops(x, n):
    total = 0.0
    for k in range(n):
        scale = lambda v, k=k: v * k + total
        total += apply_twice(scale, x) if k % 2 else scale(x)
        items = [scale(j) for j in range(k)]
        for j, item in enumerate(items):
            if item > 50:
                break
            total += (item or 1.0) * (j and 2.0)
        else:
            total = -total
        while (total := total * 0.5) > 10:
            if total > 1000:
                continue
            total -= 1
    else:
        total += 1
    return total


@program((1.5,))
def shadowed_globals(x):
    np_sum = sum([x, x])
    W = x * 2
    affine = lambda v: v + W
    TABLE = {"a": affine(x)}
    G = [TABLE["a"] for TABLE in [TABLE]]
    return np_sum + affine(3.0) + G[0]


@program((X, 2), (X, 1))
def returning_containers(x, n):
    if n == 1:
        return x, [x[0], {"a": x * 2}], (), None, "text"
    return {"x": (x, x), "n": n}


@program((2.0,))
def deep_closures(x):
    def first(a):
        def second(b):
            def third(c):
                return a * b * c * x + (fourth(c) if c > 1 else 0.0)

            return third(b) + apply_twice(third, a)

        def fourth(d):
            return d * a

        return second(a + 1) + apply_twice(lambda z: second(z) * 0.1, a)

    return first(x) + first(0.5)
