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


# --- exits -----------------------------------------------------------------------------------------------------------
def leaves_and_goes_on(x, n):
    s, k = x[0], 0
    while checkpointed(True, snapshots=S, recorded=R):
        k += 1
        if k % 3 == 0:
            continue
        s = np.sin(s) * x[1] + x[2]
        if k > n:
            break
        s = s * 1.1
    return s * k


def leaves_an_inner_loop(x, n):
    s = x[0]
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        for j in range(4):
            if j > i:
                break
            s = s * x[j % 3] + 0.1
    return s


def while_else(x, n):
    s = x[0]
    while checkpointed(s < n, snapshots=S, recorded=R):
        s = s * x[1]
    else:
        s = s + x[2]
    return s


def never(x, n):
    u, s = x * 1.0, x[0]
    while checkpointed(s > 100.0 + n, snapshots=S, recorded=R):
        u[0], s = 3.0, s * 2.0
    return np.sum(u) * s


def caught(x, n):
    s = x[0]
    try:
        for i in checkpointed(range(n), snapshots=S, recorded=R):
            s = s * x[i]
    except IndexError:
        s = s + 1.0
    return s


def under_errstate(x, n):
    s = x[0]
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        with np.errstate(all="ignore"):
            s = s * x[1] + np.sqrt(s)
    return s


# --- memory ----------------------------------------------------------------------------------------------------------
def seen_through_a_view_behind(x, n):
    w = x * 1.0
    v = w[1:]
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        w[i % 3] = w[i % 3] * x[0] + 1.0
    return np.sum(v * v)


def stored_through_a_view(x, n):
    w = x * 1.0
    v = w[1:]
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        v[i % 2] = v[i % 2] * x[0] + 1.0
    return np.sum(w * w)


def rows_as_views(x, n):
    w = np.outer(x, x)
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        r = w[i % 3]
        r *= x[1]
        r[0] = r[1]
    return np.sum(w * w)


def argument_stored_into(x, n):
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        x[i % 3] = np.sin(x[i % 3]) * x[0] + 1.0
    return np.sum(x * x)


def alias_if(x, n):
    u = x * 1.0
    w = u if n > 1 else x * 2.0
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        u[0] = u[0] * x[1]
    return np.sum(u) + np.sum(w)


def previous(x, n):
    u, p = x * 1.0, x * 2.0
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        p[:] = u
        u[0] = np.sin(u[1]) * p[0]
        u[1] = p[2]
    return np.sum(u * p)


def swapped_and_stored(x, n):
    a, b = x * 1.0, x * 2.0
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        a[0] = np.sin(b[1]) * a[0]
        a, b = b, a
    return np.sum(a * b * x)


def masks_and_outputs(x, n):
    u = x * 1.0
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        u[u > 1] *= 0.5
        u[[0, 1]] = u[[1, 2]] * 1.3
        np.sin(u, out=u[:])
    return np.sum(u * u)


def flags_change_later(x, n):
    s, flags = x[0], np.array([1, 0, 1])
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        s = s * x[1] if flags[i % 3] else s * x[2]
    flags[:] = 0
    return s + flags[0]


def stored_into_in_two_loops(x, n):
    u = x * 1.0
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        u[0] = np.sin(u[0] * u[1])
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        u[1] = np.sin(u[0] + u[2])
    return np.sum(u)


def stores_in_nested_loops(x, n):
    u = x * 1.0
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        for j in checkpointed(range(3), snapshots=S, recorded=R):
            u[j] = np.sin(u[j] * u[i % 3]) + 0.1
    return np.sum(u)


def storing_loop(u, n):
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        u[i % 3] = np.sin(u[i % 3]) * u[0] + 1.0
    return u[1:]


def loops_that_are_called(x, n):
    u = x * 1.0
    for _ in range(3):
        v = storing_loop(u, n)
        v[0] = v[0] * 0.5
    return np.sum(u * u)


# --- state -----------------------------------------------------------------------------------------------------------
class Model:
    def __init__(self, a):
        self.a = a
        self.u = np.array([1.0, 2.0, 3.0])

    def step(self, s):
        return s * self.a + self.u[1]

    def advance(self):
        self.u[0] = self.u[0] * self.a + self.u[1]


def methods(x, n):
    model, s = Model(x[0]), x[1]
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        s = model.step(s) + model.u[2]
    return s


def objects_made_inside(x, n):
    s = x[0]
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        model = Model(s)
        model.a = model.a * 2.0
        model.advance()
        s = np.sin(model.step(s) + model.u[0])
    return s


def object_bound_anew(x, n):
    model = Model(x[0])
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        model = Model(model.a * x[1])
    return model.a


def lists_and_dicts_read(x, n):
    held, s = [x[0], {"a": x[1]}, x[2]], 1.0
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        made = []
        for j in range(2):
            made.append(s * held[0] + j)
        s = sum(made) * held[1]["a"] + held[2]
    return s


def lists_and_sets_bound_anew(x, n):
    s, out, seen = x[0], [], set()
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        s = s * x[1] + 1.0
        out, seen = out + [s], seen | {i % 2}
    return s + sum(out) * len(seen)


def varied_later(x, n):
    a, b, c = 1.0, 2.0, x[0]
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        a, b, c = b, c, a * x[1] + b
    return a * b * c


def integers(x, n):
    k, s = np.arange(3), x[0]
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        k[i % 3] += i
        s = s * x[k[0] % 3] + k[1]
    return s * k[2]


def complex_numbers(x, n):
    z = x[0] + 1j * x[1]
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        z = z * z * 0.5 + 0.1j * x[2]
    return np.abs(z)


def nonlocal_state(x, n):
    s = x[0]

    def step():
        nonlocal s
        s = s * x[1] + 0.1

    for i in checkpointed(range(n), snapshots=S, recorded=R):
        step()
    return s


def bounds_change(x, n):
    s = x[0]
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        n = n + 1
        s = s * x[1] + n
    return s * n


def rows_of_an_array(x, n):
    s = x[0]
    for r in checkpointed(np.outer(x, x), snapshots=S, recorded=R):
        s = s * np.sum(r) + n
    return s


def pairs(x, n):
    s = x[0]
    for a, b in checkpointed(zip(x, x[1:]), snapshots=S, recorded=R):
        s = s * a + b * n
    return s


# --- arrays that are written and not read ----------------------------------------------------------------------------
def trajectory(x, n):
    out, s = np.ones((n + 1, 3)), x * 1.0
    out[0] = s
    for j in checkpointed(range(n), snapshots=S, recorded=R):
        s = np.sin(s) + x[::-1] * 0.1
        out[j + 1] = s
        out[j, 1:] = s[0]
    return np.sum(out * out)


def written_twice(x, n):
    """Passes overwrite what others wrote, and some of what stood there before stays."""
    out, s = np.outer(x, x), x[0]
    v = out[1:]
    for j in checkpointed(range(n), snapshots=S, recorded=R):
        s = np.sin(s) + x[1] * 0.1
        if j % 3:
            out[j % 2] = s * x
    out[2, 0] = out[0, 0] * 2.0
    return np.sum(out * out) * v[0, 0]


def independent(x, n):
    out = np.zeros(n + 3)
    for j in checkpointed(range(n), snapshots=S, recorded=R):
        out[j] = np.sin(x[j % 3]) * x[0]
    return np.sum(out * out) + x[1]


def written_until(x, n):
    out = x * 2.0
    for j in checkpointed(range(n), snapshots=S, recorded=R):
        if x[j % 3] > 1.0 and j > 3:
            break
        out[j % 3] = np.sin(x[j % 3])
    return np.sum(out * out) + x[1]


def written_by_argument(out, n):
    for j in checkpointed(range(n), snapshots=S, recorded=R):
        out[j % 3] = 1.5


def written_in_a_callee(x, n):
    u = x * 2.0
    v = u[1:]
    for j in range(2):
        written_by_argument(u, j * n)
        v[1] = v[1] * u[0] * x[1]
    return np.sum(u * u) + x[0]


def written_and_bound(x, n):
    a, b = x * 1.0, x * 2.0
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        a[i % 3] = x[1] * i
        a, b = b, a
    return np.sum(a * a * x) + np.sum(b)


def written_and_times(x, n):
    t, out, flags, s = np.zeros(n), np.zeros(n, np.complex128), np.zeros(n, int), x[0]
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        s = np.sin(s * x[1])
        t[i], flags[i] = i * 0.5, i % 2
        out[i] = s * 1j + x[2]
    return np.sum(t * flags) * np.sum(np.abs(out) ** 2) + x[0]


# --- returns ---------------------------------------------------------------------------------------------------------
def returns(x, n):
    s = x[0]
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        s = s * x[1]
        if i == 2:
            return s * x[2]
    return s


def returns_only_inside(x, n):
    s = x[0]
    while checkpointed(True, snapshots=S, recorded=R):
        s = s * x[1] + 0.1 * n
        if s > 2.0:
            return s * x[2]
        if s < -1.0:
            return 3.0


def returns_from_nested_loops(x, n):
    u = x * 1.0
    for i in checkpointed(range(n), snapshots=S, recorded=R):
        for j in range(3):
            u[j] = u[j] * x[1] + 0.1
            if u[j] > 2.0:
                return np.sum(u * u)
        for j in checkpointed(range(3), snapshots=S, recorded=R):
            with np.errstate(all="ignore"):
                if u[j] > 1.9:
                    return u[j] * x[0]
    return u[0]
