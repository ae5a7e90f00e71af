"""Functions as values, closures made and chosen, and derivatives taken inside of functions."""

import functools
import operator

import numpy as np

import srcgrad
from srcgrad import grad, jvp, value_and_grad, vjp
from tests.corpus.example import example, vector


@example(0.7, analytic=False)
def late_binding(x):
    a = x
    def inner(v):
        return a * v
    fs = inner
    a = np.sin(x)
    return fs(x)


def make_model(n):
    w = n * 0.5
    def model(x):
        return np.tanh(w * x) + n
    return model


MODEL = make_model(3)


@example(0.7, analytic=False)
def factory_outside(x):
    return MODEL(x) * x


@example(0.7, analytic=False)
def factory_inside(x):
    m = make_model(2.0)
    return m(x) * x


@example(0.7, analytic=False)
def factory_inside_active(x):
    m = make_model(x)
    return m(x) * x


@example(0.7, analytic=False)
def factory_local(x):
    def mk(k):
        def g(v):
            return k * v * x
        return g
    h = mk(x)
    return h(2.0) + mk(3.0)(x)


@example(0.7, analytic=False)
def immediately_called_factory(x):
    return make_model(x)(x)


@example(0.7, 3, analytic=False)
def choose_ufunc(x, n):
    f = np.sin if n > 2 else np.cos
    return f(x) * x


@example(0.7, 3, analytic=False)
def choose_by_if(x, n):
    if n > 2:
        f = np.sin
    else:
        f = np.cos
    return f(x)


def sq(x):
    return x * x


def cube_value(x):
    return x ** 3


@example(0.7, 3, analytic=False)
def choose_user(x, n):
    f = sq if n > 2 else cube_value
    return f(x) * x


@example(0.7, 3, analytic=False)
def choose_lambda(x, n):
    a = x * 2
    f = (lambda v: v * a) if n > 2 else (lambda v: v + a)
    return f(x)


TABLE = {"sin": np.sin, "sq": sq, "lam": lambda v: v * 3.0}


@example(0.7, "sq", analytic=False)
def dispatch_global_dict(x, key):
    return TABLE[key](x) * x


@example(0.7, "b", analytic=False)
def dispatch_local_dict(x, key):
    table = {"a": np.sin, "b": sq}
    return table[key](x)


ACTS = [np.tanh, sq, np.sin]


@example(0.7, analytic=False)
def iterate_global_list(x):
    for f in ACTS:
        x = f(x)
    return x


@example(0.7, analytic=False)
def iterate_zip(x):
    s = 0.0
    for w, f in zip((0.5, 1.5), (np.tanh, sq)):
        s = s + w * f(x)
    return s


def compose(f, g):
    return lambda x: f(g(x))


@example(0.7, analytic=False)
def compose_inside(x):
    h = compose(np.sin, sq)
    return h(x)


H = compose(np.sin, sq)


@example(0.7, analytic=False)
def compose_outside(x):
    return H(x) + x


@example(0.7, analytic=False)
def returns_function_tuple(x):
    fs = (np.sin, sq)
    f, g = fs
    return f(g(x))


def logged(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 2.0 * f(*args, **kwargs)
    return wrapper


@logged
def deco(x, k=2.0):
    return x ** k


@example(0.7, analytic=False)
def decorated_callee_value(x):
    return deco(x) + deco(x, k=3.0)


@example(0.7, analytic=False)
def decorated_nested(x):
    @logged
    def g(v):
        return v * x
    return g(x)


def scaled_value(c):
    def deco(f):
        def w(x):
            return c * f(x)
        return w
    return deco


@scaled_value(3.0)
def scf(x):
    return x * x


@example(0.7, analytic=False)
def param_decorator(x):
    return scf(x)


@example(0.7, analytic=False)
def nested_param_decorator(x):
    @scaled_value(x)
    def g(v):
        return v * x
    return g(x)


def pw(x, p, q=1.0):
    return x ** p * q


PART = functools.partial(pw, p=3.0, q=2.0)


@example(0.7, analytic=False)
def partial_outside(x):
    return PART(x)


@example(0.7, analytic=False)
def partial_inside(x):
    g = functools.partial(pw, p=3.0, q=x)
    return g(x)


@example(0.7, analytic=False)
def partial_inside_direct(x):
    return functools.partial(pw, x)(2.0)


@example(0.7, analytic=False)
def partial_passed(x):
    def ap(f, v):
        return f(v) + v
    return ap(functools.partial(pw, p=2.0), x)


@functools.lru_cache(maxsize=None)
def cached(x):
    return x * x * x


@example(0.7, analytic=False)
def lru_cached(x):
    return cached(x) * x


@functools.cache
def cached_n(n):
    return 1.0 / n


@example(0.7, analytic=False)
def cache_const(x):
    return x * cached_n(3)


@example(0.7, analytic=False)
def itemget(x):
    g = operator.itemgetter(1)
    return g((x, x * x))


@example(0.7, analytic=False)
def itemget_direct(x):
    return operator.itemgetter(1)((x, x*x))


@example(vector(3, 4), analytic=False)
def methodcall(x):
    return operator.methodcaller("sum")(x * x)


@example(0.7, analytic=False)
def lambda_in_lambda(x):
    f = lambda a: lambda b: a * b
    return f(x)(x)


@example(0.7, analytic=False)
def iife(x):
    return (lambda v: v * v + x)(x)


@example(0.7, analytic=False)
def iife_def(x):
    return (lambda a, b=x: a * b)(x * 2)


class Counter: n = 0


@example(0.7, analytic=False)
def nonlocal_read(x):
    c = x
    def inner():
        nonlocal c
        return c * x
    return inner()


G = 3.0


@example(0.7, analytic=False)
def global_read(x):
    global G
    return x * G


def kwonly(x, *, k, j=2.0):
    return x * k + j * x * x


@example(0.7, analytic=False)
def kwonly_call(x):
    return kwonly(x, k=x)


def posonly(x, y=3.0, /, z=1.0):
    return x * y * z


@example(0.7, analytic=False)
def posonly_call(x):
    return posonly(x, z=x) + posonly(x, x)


def passthrough(*args, **kw):
    return pw(*args, **kw)


@example(0.7, analytic=False)
def star_pass(x):
    return passthrough(x, 2.0, q=x)


def starpass2(f, *args, **kw):
    return f(*args, **kw)


@example(0.7, analytic=False)
def star_pass_fn(x):
    return starpass2(pw, x, p=2.0)


def rec(x, n):
    return x if n == 0 else np.sin(rec(x, n - 1)) + x * 0.1


def ev(x, n):
    return x * 2 if n == 0 else od(x * 1.1, n - 1)


def od(x, n):
    return x if n == 0 else ev(np.sin(x), n - 1)


@example(0.7, 5, analytic=False)
def mutual(x, n):
    return ev(x, n)


@example(0.7, analytic=False)
def local_mutual(x):
    def a(v, n):
        return v if n == 0 else b(v * x, n - 1)
    def b(v, n):
        return v if n == 0 else a(v + x, n - 1)
    return a(x, 5)


@example(0.7, analytic=False)
def fn_in_dict_of_local(x):
    def a(v):
        return v * x
    def b(v):
        return v + x
    ops = {"a": a, "b": b}
    return ops["a"](x) + ops["b"](x)


@functools.singledispatch
def sd(x):
    return x * x


@example(vector(3, 4), analytic=False)
def apply_along(x):
    return np.sum(np.array([f(x) for f in (np.sum, np.prod)]))


@example(0.7, analytic=False)
def newton_value(x):
    def solve(f, df, z, n):
        for _ in range(n): z = z - f(z) / df(z)
        return z
    return solve(lambda z: z * z - x, lambda z: 2 * z, 1.0, 6)


@example(0.7, analytic=False)
def retfn_conditional(x):
    def pick(k):
        if k > 0:
            return np.sin
        return np.cos
    return pick(1)(x)


@example(0.7, analytic=False)
def listcomp_of_lambdas(x):
    fs = [lambda v, k=k: v ** k for k in range(3)]
    return sum(f(x) for f in fs)


@example(0.7, analytic=False)
def nested_grad_local(x):
    def g(y):
        return x * y ** 3
    return grad(g)(x) * x


def gg(y):
    return np.sin(y) * y


@example(0.7, analytic=False)
def nested_grad_global(x):
    return grad(gg)(x) * x


GRAD = grad(gg)


@example(0.7, analytic=False)
def nested_grad_made(x):
    return GRAD(x) * x


@example(0.7, analytic=False)
def confusion(x):
    return x * grad(lambda y: x + y)(x)


@example(0.7, analytic=False)
def confusion2(x):
    return grad(lambda y: x * y * y)(2.0)


def loss(w, d):
    return np.sum((w * d - 1.0) ** 2)


@example(vector(3, 4), vector(3, 5) + 1.0, analytic=False)
def meta(w, d):
    w2 = w - 0.1 * grad(loss)(w, d)
    return loss(w2, d)


@example(0.7, analytic=False)
def nested_vag(x):
    v, g = value_and_grad(gg)(x)
    return v * g


@example(vector(3, 4), analytic=False)
def nested_vjp(x):
    y, pb = vjp(lambda z: np.sin(z) * x, x)
    (g,) = pb(np.ones(3))
    return np.sum(y * g)


@example(vector(3, 4), analytic=False)
def nested_jvp(x):
    y, t = jvp(lambda z: np.sin(z) * x, (x,), (np.ones(3),))
    return np.sum(y * t)


@example(vector(3, 4), analytic=False)
def nested_hess(x):
    return np.sum(srcgrad.hessian(lambda z: np.sum(z ** 3 * x))(x))


@example(vector(3, 4), analytic=False)
def nested_jac(x):
    return np.sum(srcgrad.jacobian(lambda z: z ** 2 * x)(x))


@example(vector(3, 4), vector(2, 5), analytic=False)
def nested_jac_by_two(x, y):
    by_x, by_y = srcgrad.jacobian(lambda a, b: np.outer(a * x, b ** 2), (0, 1))(x, y)
    return np.sum(by_x * by_x) + np.sum(by_y[:, :, 0] * y)


def reprojected(camera, point, weight):
    turned = point * camera[:3] + np.cross(camera[:3], point)
    return weight * (turned[:2] / turned[2] - camera[1:3])


@example(vector(3, 4), vector(3, 5), 0.7, analytic=False)
def nested_jac_by_three(camera, point, weight):
    blocks = srcgrad.jacobian(reprojected, argnums=(2, 0, 1))(camera, point + 2.0, weight)
    return np.sum(blocks[0]) + np.sum(blocks[1] ** 2) + np.sum(blocks[2] * weight)


@example(vector(3, 4), analytic=False)
def nested_hvp(x):
    return np.sum(srcgrad.hvp(lambda z: np.sum(z ** 3 * x))(x, x))


def pinn_u(t, p):
    return p[0] * np.sin(p[1] * t)


@example(vector(3, 4), analytic=False)
def pinn(p):
    s = 0.0
    for t in (0.1, 0.5, 0.9):
        r = grad(grad(pinn_u))(t, p) + pinn_u(t, p)
        s = s + r * r
    return s


@example(vector(3, 4), analytic=False)
def inner_argnums(p):
    a, b = grad(loss, argnums=(0, 1))(p, p * 2)
    return np.sum(a * b)


@example(vector(3, 4), analytic=False)
def nested_in_loop(w):
    d = np.ones(3) * 0.5
    for _ in range(3): w = w - 0.1 * grad(loss)(w, d)
    return loss(w, d)


@example(0.7, analytic=False)
def recursion_closure(x):
    def fact(n):
        return x if n == 0 else n * fact(n - 1) * x
    h = {"f": fact}
    return h["f"](3)


@example(0.7, analytic=False)
def closure_in_closure(x):
    def mk(a):
        def inner(b):
            def inn2(c):
                return a * b * c * x
            return inn2
        return inner
    return mk(x)(2.0)(x)


@example(0.7, analytic=False)
def kwargs_dyn(x):
    def g(a, b=2.0, *, c=x):
        return a * b + c
    t = (g, g)
    return t[0](x) + t[1](x, b=x) + t[0](x, c=3.0) + t[1](b=1.0, a=x)


@example(0.7, analytic=False)
def star_dyn(x):
    fs = {"g": lambda a, b, c=1.0: a * b * c}
    args = (x, 2.0)
    kw = {"c": x}
    return fs["g"](*args, **kw) + fs["g"](x, *(3.0,))


@example(0.7, analytic=False)
def choose_grad(x):
    def a(v):
        return v ** 3
    def b(v):
        return v * x
    g = grad(a) if x > 0.5 else grad(b)
    return g(x) * x


@example(0.7, analytic=False)
def grad_in_loop_closure(x):
    s = x
    for k in range(3):
        def f(v):
            return v * s * v
        s = s + 0.1 * grad(f)(x)
    return s


@example(0.7, analytic=False)
def grad_default(x):
    def f(v, c=x):
        return v * v * c
    return grad(f)(x) + grad(f)(x, 2.0)


@example(0.7, analytic=False)
def vag_tuple(x):
    v, (a, b) = value_and_grad(lambda p, q: p * q * x, argnums=(0, 1))(x, 2.0)
    return v * a * b


@example(0.7, analytic=False)
def if_grad_test(x):
    if grad(lambda y: y * y)(x) > 1.0:
        return x * x
    return x


@example(0.7, analytic=False)
def global_fn_list_active(x):
    acc = x
    for w, f in [(x, np.sin), (2.0, lambda v: v * v)]:
        acc = w * f(acc)
    return acc


@example(0.7, analytic=False)
def early_deco(x):
    def twice(f):
        @functools.wraps(f)
        def w(*a, **k):
            return f(f(*a, **k))
        return w
    @twice
    @twice
    def g(v):
        return v * x
    return g(x)


@example(2.0, 3.0, 4.0, analytic=False)
def names_of_what_a_nested_gradient_is_written_with(value, saved, one_for):
    def g(saved, value):
        return saved * value * one_for

    return grad(g)(value, saved) * one_for * value


@example(0.7, analytic=False)
def local_recursion_in_a_list(x):
    def f(v, n):
        return v if n == 0 else f(v * x, n - 1)

    g = [f, f]
    return g[0](x, 3) * g[1](v=x, n=1)
