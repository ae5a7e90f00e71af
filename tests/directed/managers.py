"""Objects of user classes as context managers: entered, changed in the body, left on every path."""

from tests.corpus.example import vector
from tests.directed.program import directed


class Scale:
    def __init__(self, w):
        self.w = w
        self.n = 0

    def __enter__(self):
        self.w = self.w * 2.0
        self.n += 1
        return self

    def __exit__(self, *what):
        self.w = self.w * self.w


class Restored:
    """Another object's field, put back in the end."""

    def __init__(self, owner):
        self.owner = owner
        self.before = None

    def __enter__(self):
        self.before = self.owner.w
        self.owner.w = self.before * 3.0

    def __exit__(self, *what):
        self.owner.w = self.before


class Lock:
    def __init__(self, owner):
        self.owner = owner

    def __enter__(self):
        self.owner.locked = True
        return self.owner.items

    def __exit__(self, *what):
        self.owner.locked = False


class Account:
    def __init__(self, first):
        self.items = [first]
        self.locked = False

    def lock(self):
        return Lock(self)

    def add(self, v):
        with self.lock() as items:
            items.append(items[-1] * v)


class Recorder:
    def __init__(self):
        self.out = None
        self.log = []

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        if kind is None:
            self.log.append(self.out)
        return False


@directed(vector(4), 0.7)
def a_manager_that_changes_itself(x, a):
    m = Scale(a)
    with m:
        y = m.w * x
    return sum(y) * m.w


@directed(vector(4), 0.7)
def a_manager_that_changes_another(x, a):
    m = Scale(1.0)
    with Restored(m):
        y = m.w * x * a
        m.w = a
    return sum(y) * m.w


@directed(vector(4), 0.7)
def a_manager_that_the_body_stores_into(x, a):
    with Recorder() as r:
        r.out = x * a
    r.out = x[0]
    return sum(r.log[0] * x) + r.out


@directed(vector(4), 0.7)
def a_manager_that_a_method_makes(x, a):
    account = Account(a)
    for v in x:
        account.add(v)
    return sum(account.items)


@directed(vector(4), 0.7)
def a_manager_left_by_continue_and_break(x, a):
    m = Scale(a)
    t = 0.0
    for i in range(4):
        with m as n:
            n.w = n.w * 0.7
            if i == 1:
                continue
            if i == 3:
                break
            t = t + n.w * x[i]
    return t * m.w


def found(m, v, wanted):
    with m:
        if wanted == 0:
            return v * m.w
        for j in range(3):
            if j == wanted:
                return m.w * j
            with Restored(m):
                m.w = m.w + v
    return m.w


@directed(vector(4), 0.7)
def a_manager_left_by_returns(x, a):
    m = Scale(a)
    return found(m, x[0], 0) * m.w + found(m, x[1], 2) * m.w + found(m, x[2], 5)


@directed(vector(4), 0.7)
def two_managers_whose_names_are_bound_again(x, a):
    with Scale(a) as m, Scale(x[0]) as n:
        m.w = m.w * n.w
        m = n
    return m.w * n.w


def risky(m, v):
    with m:
        if v > 0.5:
            raise ValueError("large")
        return v * m.w


@directed(vector(4), 0.7)
def left_by_an_exception_that_is_caught(x, a):
    m = Scale(a)
    t = 0.0
    for v in x:
        try:
            t = t + risky(m, v)
        except ValueError:
            t = t + m.w
    return t * m.w


class Widened:
    def __init__(self, v, k):
        self.v, self.k = v, k

    def __enter__(self):
        self.v *= self.k
        return self.v

    def __exit__(self, *exc):
        return False


@directed(vector(4), 0.7)
def in_the_else_of_a_loop_that_is_attempted(x, a):
    """Once an InternalError: what makes a refusal was attempted, and left a loop that had ended."""
    v = x * 1.0
    try:
        if a > 10.0:
            return v
        for i in range(2):
            if v[i] < -10.0:
                break
        else:
            with Widened(v, a) as wide:
                a = wide[0] * 2.0
    finally:
        kept = {"v": v}
    return kept["v"] * a
