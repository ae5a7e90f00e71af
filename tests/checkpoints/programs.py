"""Programs with loops of which few states are kept.  ``S`` and ``R`` stand for numbers that the tests write there."""

import numpy as np

from srcgrad import checkpointed

S, R = 2, 1


def simple(x, n):
    s = 0.5
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        s = np.sin(s) * x[i % 3] + s
    return s


def by_number(x, n):
    s, a = x[0], x[2]
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        s = s * a + i
    return s


def heat(x, a, n):
    u = np.zeros(8)
    u[2:5] = x
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        u[1:-1] = u[1:-1] + a * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def swap(x, a, n):
    u = np.zeros(5)
    u[1:4] = x
    w = np.zeros(5)
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        w[1:-1] = u[1:-1] + a * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u, w = w, u
    return np.sum(u * u)


def fresh(x, a, n):
    u = np.concatenate((x, x))
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        u = u + a * np.sin(u)
        u[0] = 0.5 * a
    return np.sum(u * u)


def newton(x, n):
    s = x[0]
    k = 0
    while checkpointed(k < n and abs(s * s - x[1]) > 1e-12, snapshots=S, recorded=R):
        s = s - 0.3 * (s * s - x[1]) / (2.0 * s)
        k += 1
    return s * x[2] + k


def breaking(x, n):
    s = 0.5
    for i in checkpointed(range(1000), snapshots=S, recorded=R):
        if i == 2:
            continue
        s = np.sin(s) + x[i % 3]
        if i >= n:
            break
        s = s * 0.9
    return s * s


def items(x, n):
    t = 0.0
    for j, v in checkpointed(enumerate(x), snapshots=S, recorded=R):
        if j == n:
            continue
        t = t * v + np.cos(v)
    return t


def backwards(x, n):
    t = x[0]
    for j in checkpointed(range(n, 0, -1), snapshots=S, recorded=R):
        t = t * 0.9 + j * x[j % 3]
    return t


def stepper(u, a):
    u[1:] = u[1:] * a + u[:-1]
    return a * 0.99


def callee(x, n):
    u = x * 2.0
    b = 0.5
    for j in checkpointed(range(n), snapshots=S, recorded=R):
        b = stepper(u, b)
    return np.sum(u) * b


def nested(x, n):
    t = 0.0
    for j in checkpointed(range(n), snapshots=S, recorded=R):
        s = x[0]
        for k in range(3):
            s = s * x[k] + 0.1 * j
        t = t * 0.5 + s
    return t


def twice(x, n):
    t = 0.0
    for j in checkpointed(range(n), snapshots=S, recorded=R):
        s = x[0]
        for k in checkpointed(range(4), snapshots=S, recorded=R):
            s = s * x[k % 3] + 0.1 * j
        t = t * 0.5 + s
    return t


def matrix(x, n):
    W = np.outer(x, x)
    b = x * 0.1
    h = np.zeros(3)
    for j in checkpointed(range(n), snapshots=S, recorded=R):
        h = np.tanh(W @ h + b)
    return np.sum(h)


def tuples(x, n):
    s = (x[0], 2.0)
    for j in checkpointed(range(n), snapshots=S, recorded=R):
        a, b = s
        s = (b * 0.5, a * x[1] + b)
    return s[0] + s[1]


def history(x, n):
    out = np.zeros(n)
    s = x[0]
    for j in checkpointed(range(n), snapshots=S, recorded=R):
        s = np.sin(s) + x[1] * 0.1
        out[j] = s
    return np.sum(out * out) + x[2]


def untouched(x, n):
    s = x[0] * 2.0
    k = 0
    for j in checkpointed(range(n), snapshots=S, recorded=R):
        k = k + j
    return s * k


def started(x, n):
    s = x[1]
    t = 3.0
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        s = s * t
        t = x[0]
    return s


def views2(x, n):
    u = x * 2.0
    v = u[1:]
    for i in checkpointed(range(n % 4), snapshots=S, recorded=R):
        u[2] = u[2] * 0.5
    return np.sum(u) + np.sum(v * v)


def prev2(x, n):
    u = x * 2.0
    p = x * 3.0
    for i in checkpointed(range(n % 3), snapshots=S, recorded=R):
        p = u
        u = u + 1.0
        u[0] = p[0] * 0.5 + i
    return np.sum(u) + np.sum(p * p)


def elements(x, n):
    t = 0.0
    for v in checkpointed(x, snapshots=S, recorded=R):
        x[0] = x[0] + 1.0
        t = t * v + v
    return t


def later(x, n):
    y = x * 2.0
    t = x[0]
    for i in checkpointed(range(n % 3), snapshots=S, recorded=R):
        t = t * y[i]
    y[1] = 5.0
    return t * np.sum(y)


def rebinding_index(x, n):
    t = x[0]
    for i in checkpointed(range(n % 3), snapshots=S, recorded=R):
        t = t * x[i]
        i = 2 * i
        t = t + i * x[0]
    return t


def index_after(x, n):
    t = x[0]
    i = 7
    for i in checkpointed(range(n % 3), snapshots=S, recorded=R):
        t = t * x[i]
    return t * i


def none_state(x, n):
    t = None
    for i in checkpointed(range(n % 3), snapshots=S, recorded=R):
        t = x[i] if t is None else t * x[i]
    return t


def grows(x, n):
    u = x
    for i in checkpointed(range(n % 3), snapshots=S, recorded=R):
        u = np.concatenate((u, u * x[0]))
    return np.sum(u)


def while_true(x, n):
    s = x[0]
    while checkpointed(True, snapshots=S, recorded=R):
        s = s * x[1]
        if s > 4.0:
            break
    return s


def for_else(x, n):
    s = x[0]
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        s = s * x[1]
        if s > 100.0:
            break
    else:
        s = s * s
    return s


def tried(x, n):
    s = x[0]
    for i in checkpointed(range(5), snapshots=S, recorded=R):
        try:
            s = s * x[i]
        except IndexError:
            s = s + 1.0
    return s


def lambdas(x, n):
    def f(v):
        return v * x[0]

    s = x[1]
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        s = f(s) + 1.0
    return s


def iterator(x, n):
    it = iter([1.0, 2.0, 3.0, 4.0])
    s = x[0]
    for i in checkpointed(range(n % 4), snapshots=S, recorded=R):
        s = s * x[1] + next(it)
    return s
