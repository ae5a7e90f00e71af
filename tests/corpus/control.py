"""Exceptions, context managers, patterns, and the statements that leave no trace."""

import contextlib
import threading
import warnings

import numpy as np

from tests.corpus.example import example, vector


@example(0.7, analytic=False)
def try_ok(x):
    try:
        y = np.sin(x)
    except ValueError:
        y = x
    return y * x


def fail(x):
    if x > 0.5:
        raise ValueError("big")
    return x * x


@example(0.7, analytic=False)
def try_raised_callee(x):
    try:
        y = fail(x)
    except ValueError:
        y = x * x * x
    return y * x


@example(0.4, analytic=False)
def try_not_raised_callee(x):
    try:
        y = fail(x)
    except ValueError:
        y = x * x * x
    return y * x


@example(0.7, analytic=False)
def try_progress(x):
    a = x
    try:
        a = a * x
        b = fail(x)
        a = a * 10.0
    except ValueError:
        a = a * 3.0
    return a


@example(vector(3, 4), analytic=False)
def try_linalg(x):
    m = np.outer(x, x) * 0.0
    try:
        r = np.linalg.inv(m)
    except np.linalg.LinAlgError:
        r = np.eye(3) * x
    return np.sum(r * x)


@example(vector(3, 4), analytic=False)
def try_cholesky_ok(x):
    m = np.eye(3) * 2 + np.outer(x, x)
    try:
        r = np.linalg.cholesky(m)
    except np.linalg.LinAlgError:
        r = np.linalg.cholesky(m + np.eye(3))
    return np.sum(r * r * x)


@example(0.7, 0, analytic=False)
def try_zerodiv(x, n):
    try:
        y = x / n
    except ZeroDivisionError:
        y = x * 2
    return y


@example(0.7, analytic=False)
def try_else_finally(x):
    log = 0.0
    try:
        y = x * x
    except ValueError:
        y = x
    else:
        y = y * 2
    finally:
        z = x * 3
    return y * z


@example(0.7, analytic=False)
def try_finally_only(x):
    try:
        y = x * x
    finally:
        z = x + 1.0
    return y * z


@example(0.7, analytic=False)
def try_in_loop(x):
    s = 0.0
    for k in range(4):
        try:
            if k == 2:
                raise KeyError(k)
            s = s + x * k
        except KeyError:
            s = s * x
    return s


@example(0.7, analytic=False)
def try_return(x):
    try:
        return fail(x)
    except ValueError as e:
        return x * 2 * len(str(e))


@example(0.7, analytic=False)
def try_break(x):
    s = x
    while True:
        try:
            s = s * 1.5
            fail(s)
            s = s + x
        except ValueError:
            break
    return s


@example(0.7, analytic=False)
def try_reraise(x):
    try:
        try:
            y = fail(x)
        except ValueError:
            y = 1.0
            raise KeyError("k")
    except KeyError:
        y = y * x
    return y


@example(0.7, analytic=False)
def try_several(x):
    try:
        y = fail(x)
    except (TypeError, KeyError):
        y = x
    except ValueError:
        y = x * 4
    except Exception:
        y = 0.0
    return y * x


class Stop(Exception):
    pass


@example(0.7, analytic=False)
def try_custom(x):
    s = x
    try:
        for k in range(10):
            s = s * 1.2
            if s > 1.1:
                raise Stop()
    except Stop:
        s = s * x
    return s


@example(vector(3, 4), analytic=False)
def try_keyerror(x):
    d = {"a": x}
    try:
        y = d["b"]
    except KeyError:
        y = d["a"] * 2.0
    return np.sum(y * x)


@example(vector(3, 4), analytic=False)
def try_index(x):
    s = 0.0
    k = 0
    while True:
        try:
            s = s + x[k] ** 2
        except IndexError:
            break
        k = k + 1
    return s


@example(0.7, analytic=False)
def with_lock(x):
    lock = threading.RLock()
    with lock:
        y = x * x
    return y * x


LOCK = threading.Lock()


@example(0.7, analytic=False)
def with_global_lock(x):
    with LOCK:
        y = x * x
    return y * x


@contextlib.contextmanager
def timer():
    EVENTS.append("in")
    yield 3.0
    EVENTS.append("out")


EVENTS=[]


@example(0.7, analytic=False)
def with_contextmanager(x):
    with timer():
        y = x * x
    return y


@example(0.7, analytic=False)
def with_contextmanager_as(x):
    with timer() as k:
        y = x * x * k
    return y


class M:
    def __enter__(self):
        EVENTS.append("in"); return self
    def __exit__(self, *a):
        EVENTS.append("out"); return False


@example(0.7, analytic=False)
def with_class(x):
    with M():
        y = x * x
    return y


@example(0.7, analytic=False)
def with_class_as(x):
    with M() as m:
        y = x * x
    return y


@example(0.7, analytic=False)
def with_warnings(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = x * x
    return y


@example(0.7, analytic=False)
def with_errstate_return(x):
    with np.errstate(all="ignore"):
        return x * x


@example(0.7, analytic=False)
def with_suppress(x):
    y = x
    with contextlib.suppress(ValueError):
        y = y * 2
        y = fail(x)
    return y * x


@example(0.7, analytic=False)
def with_two(x):
    with LOCK, timer() as k:
        y = x * k
    return y * x


@example(0.7, analytic=False)
def with_return_in(x):
    for k in range(3):
        with LOCK:
            if k == 1:
                return x * x * k
            x = x * 1.5
    return x


@example(0.7, analytic=False)
def del_name(x):
    y = x * x
    z = y * 2
    del y
    return z * x


@example(0.7, analytic=False)
def del_two(x):
    a = x
    b = a * x
    del a, x
    return b


@example(0.75, analytic=False)
def while_true(x):
    n = 0
    while True:
        x = x * 1.1
        n += 1
        if x > 2.0:
            break
    return x


@example(0.75, analytic=False)
def while_true_return(x):
    while True:
        x = x * 1.1
        if x > 2.0:
            return x * x


@example(0.7, analytic=False)
def while_else_path(x):
    n = 0
    while n < 3:
        x = x * 1.1
        n += 1
    else:
        x = x * 2
    return x


@example(vector(3, 4), analytic=False)
def walrus_comp(x):
    return sum([(y := v * v) * y for v in x])


@example(vector(3, 4), analytic=False)
def walrus_filter(x):
    return sum([y for v in x if (y := v * 2.0) > 0])


@example(0.7, 0.2, analytic=False)
def chained_cmp(x, a):
    return x * x if a < x < 2 * x else x


@example(0.7, analytic=False)
def chained_cmp_calls(x):
    if 0 < (y := x * 2) < 3:
        return y * y
    return x


@example(0.7, analytic=False)
def nested_cond(x):
    return x if x > 2 else (x * x if x > 1 else (x ** 3 if x > 0.5 else 0.0))


@example(vector(3, 4), analytic=False)
def match_seq(x):
    match (x[0], x[1]):
        case (a, b): return a * b
    return x[0]


@example(0.7, analytic=False)
def match_map(x):
    d = {"op": "sq", "v": x}
    match d:
        case {"op": "sq", "v": v}: return v * v
        case {"op": "id", "v": v}: return v
    return 0.0


@example(0.7, analytic=False)
def match_cap(x):
    match x:
        case 0.0: return x
        case y if y > 0.5: return y * y
        case y: return y


@example(0.7, analytic=False)
def match_as(x):
    match ("add", x):
        case ("mul", v): return v
        case ("add", v) as w: return v * w[1]


@example(0.7, analytic=False)
def match_cls(x):
    match x:
        case int(): return 1.0 * x
        case float(): return x * x
    return x


@example(0.7, analytic=False)
def match_star(x):
    match [x, x * 2, x * 3]:
        case [a, *rest]: return a * rest[0] * len(rest)


@example(0.7, analytic=False)
def import_inside(x):
    import math as m

    from numpy import sin as s
    return m.cos(x) * s(x)


@example(0.7, analytic=False)
def assert_msg(x):
    assert x > 0, f"bad {x}"
    return x * x


@example(0.7, analytic=False)
def annotated(x: float) -> float:
    y: float = x * x
    z: float
    z = y
    return z


@example(vector(3, 4), analytic=False)
def star_expr(x):
    a, *b = x
    return a * b[0] + sum(b)


@example(0.7, analytic=False)
def bool_ops(x):
    return (x and x * x) + (0.0 or x * 3)


@example(0.7, analytic=False)
def raise_assert_in_branch(x):
    if x < 0:
        raise ValueError(f"neg {x}")
    return np.sqrt(x)


@example(0.7, analytic=False)
def try_state_list(x):
    out = []
    for k in range(3):
        try:
            out.append(x * k if k != 1 else fail(x))
        except ValueError:
            out.append(x)
    return sum(out)


@example(0.7, analytic=False)
def fin_return(x):
    def g(v):
        n = 0.0
        try:
            return v * fail(v)
        except ValueError:
            return v * 3.0
        finally:
            n = 1.0
    return g(x) * x


@example(0.7, analytic=False)
def fin_continue(x):
    s = 0.0
    for k in range(4):
        try:
            if k == 1:
                continue
            if k == 3:
                break
            s = s + x * k
        finally:
            s = s * x + 1.0
    return s


@example(0.7, analytic=False)
def fin_order(x):
    s = x
    try:
        try:
            s = s * fail(x)
        finally:
            s = s * 2.0
    except ValueError:
        s = s + x * x
    return s


@example(0.7, analytic=False)
def handler_raises(x):
    s = x
    try:
        try:
            s = s * fail(x)
        except ValueError as e:
            s = s * 2.0
            s = s * (1.0 / 0)
    except ZeroDivisionError:
        s = s + x * x
    return s


@example(0.7, analytic=False)
def partial_unpack(x):
    a = b = x
    try:
        a, b = x * 2, fail(x)
    except ValueError:
        b = b * 4
    return a * b


@example(0.7, analytic=False)
def aug_in_try(x):
    s = x
    n = 0
    try:
        s += x * x
        s /= n
        s += 100.0
    except ZeroDivisionError:
        s *= 3.0
    return s


@example(0.7, analytic=False)
def loop_in_try_partial(x):
    s = x
    k = 0
    try:
        while True:
            s = s * 1.3
            fail(s - 1.0)
            k += 1
    except ValueError:
        pass
    return s * k


@example(0.7, analytic=False)
def else_raises(x):
    try:
        y = x * x
    except ValueError:
        y = 0.0
    else:
        try:
            y = y + fail(x)
        except ValueError:
            y = y * 5
    return y


@example(0.7, analytic=False)
def nested_fn_try(x):
    def safe(f, v, d):
        try:
            return f(v)
        except ValueError:
            return d * v
    return safe(fail, x, 2.0) + safe(fail, x * 0.5, 2.0)


@example(0.7, analytic=False)
def try_closure(x):
    fs = [fail, lambda v: v * x]
    s = 0.0
    for f in fs:
        try:
            s = s + f(x)
        except ValueError:
            s = s + 10.0 * x
    return s


@example(0.7, analytic=False)
def with_in_loop_break(x):
    s = x
    for k in range(5):
        with contextlib.nullcontext(k) as j:
            s = s * 1.2
            if j == 3:
                break
            s = s + x
    return s


@example(0.7, analytic=False)
def match_guard_fall(x):
    match (x, 2.0):
        case (a, b) if a > 1.0: return a
        case (a, 2.0) if a > 0.5: return a * a * 3
    return 0.0


@example(0.7, analytic=False)
def star_unpack(x):
    a = b = x
    try:
        a, *b = x * 2, fail(x), 1.0
    except ValueError:
        b = [b * 4]
    return a * b[0]


@example(0.7, analytic=False)
def nested_unpack_path(x):
    a = b = c = x
    try:
        a, (b, c) = x * 2, (fail(x), 2.0)
    except ValueError:
        c = c * 4
    return a * b * c


@example(0.7, analytic=False)
def chain_unpack(x):
    a = b = c = d = x
    try:
        a, b = c, d = x * 2, fail(x)
    except ValueError:
        c = c * 4
    return a * b * c * d


@example(0.7, analytic=False)
def nested_call_args(x):
    try:
        y = np.sin(fail(x * 0.5)) + fail(x)
    except ValueError:
        y = x ** 4
    return y


@example(2.0, 3.0, analytic=False)
def names_of_what_an_attempt_is_written_with(outcome, raised):
    try:
        attempt = outcome * raised
        value = attempt / outcome
    except ZeroDivisionError:
        value = raised
    return value * attempt
