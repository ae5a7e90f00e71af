"""Arrays that are stored into, where an exception may be caught."""

import contextlib

import numpy as np

from tests.corpus.example import matrix, vector
from tests.directed.program import directed


@directed(vector(4), 0.5)
def a_view_is_made_in_try_and_stored_into_after(x, a):
    y = np.sin(x)
    try:
        v = y[1:3]
        v[0] = a * v[1]
    except IndexError:
        y[1] = 2.0
    y[2] = y[2] * v[0]
    return np.sum(y * y) + v[1] * x[0]


@directed(vector(4), 0.5)
def a_view_that_cannot_be_made(x, a):
    y = np.sin(x)
    v = y[:2]
    try:
        v = y[1:3, 0]
        v[0] = a
    except IndexError:
        v[1] = a * y[1]
    y[0] = y[0] * v[1]
    return np.sum(y * y)


@directed(vector(4), 0.5)
def the_path_taken_by_an_index_that_is_read(x, a):
    y = np.sin(x)
    s = a
    i = 0
    while True:
        try:
            row = y[i:][0]
            y[i] = row * s
            s = s + y[i] * x[0]
        except IndexError:
            break
        i += 1
    return s * np.sum(y * y)


def either_half(y, first):
    if first:
        return y[:2]
    if y.size < 9:
        raise ValueError("no second half")
    return y[2:]


@directed(vector(4), 0.5)
def a_callee_returns_a_view_or_raises(x, a):
    y = np.sin(x)
    s = 0.0
    for first in (True, False, True):
        try:
            half = either_half(y, first)
        except ValueError:
            half = y[1:]
            half[1] = half[0] * a
        half[0] = half[1] * a + s
        s = s + np.sum(half)
    return s * np.sum(y * y)


@directed(vector(4), 0.5)
def a_view_returned_out_of_try_with_finally(x, a):
    y = np.sin(x)
    z = taken(y, a)
    z[0] = z[1] * x[0]
    return np.sum(y * y) + np.sum(z)


def taken(y, a):
    try:
        return y[1:]
    finally:
        y[1] = a * y[1]


@directed(vector(4), 0.5)
def an_item_of_a_dict_that_may_be_missing(x, a):
    known = {"y": np.sin(x)}
    s = 0.0
    for key in ("y", "z", "z"):
        try:
            v = known[key]
        except KeyError:
            v = known["y"] * a
            known[key] = v
        v[0] = v[1] * a
        s = s + np.sum(v * v)
    return s + known["z"][0]


@directed(vector(4), 0.5)
def an_array_of_a_list_that_may_be_too_short(x, a):
    rows = [np.sin(x), np.cos(x)]
    s = 0.0
    for i in (0, 2, 1):
        try:
            row = rows[i]
        except IndexError as error:
            row = rows[-1]
            s = s + len(str(error)) * a
        row[i % 2] = row[3] * a
        s = s + np.sum(row * rows[0])
    return s


@directed(vector(4), 0.5)
def asarray_in_try_and_a_store(x, a):
    y = np.sin(x)
    try:
        z = np.asarray(y)
        w = z.reshape(2, 2)
    except (TypeError, ValueError):
        w = np.zeros((2, 2))
    w[0, 1] = a * w[1, 0]
    y[2] = w[0, 1] * w[0, 0]
    return np.sum(y * w.ravel()) + z[2]


@directed(vector(4), 0.5)
def a_reshape_that_fails(x, a):
    y = np.sin(x)
    try:
        w = y.reshape(3, 2)
        w[0, 0] = 5.0
    except ValueError:
        w = y.reshape(2, 2)
        w[0, 0] = a * w[1, 1]
    else:
        w = w * 2.0
    y[3] = w[0, 0] * w[0, 1]
    return np.sum(w * w) * y[3]


@directed(vector(4), 0.5)
def try_in_try_around_a_view(x, a):
    y = np.sin(x)
    try:
        try:
            v = inner_view(y)
        finally:
            y[0] = a * y[1]
        v[0] = v[1] * a
    except ValueError:
        y[1] = y[0] * x[2]
    return np.sum(y * y)


def inner_view(y):
    try:
        return y[5:][0:1].reshape(1, 1)
    except ValueError:
        return y[1:]


@directed(vector(4), 0.5)
def a_tuple_of_views_is_returned_in_try(x, a):
    y = np.sin(x)
    try:
        left, right = halves(y)
    except ValueError:
        left = right = y
    left[0] = right[1] * a
    right[0] = left[1] * left[0]
    return np.sum(y * y)


def halves(y):
    if y.ndim != 1:
        raise ValueError
    return y[:2], y[2:]


@directed(vector(4), 0.5)
def a_copy_or_the_array_itself(x, a):
    y = np.sin(x)
    s = 0.0
    for scale in (0.0, 2.0):
        try:
            z = divided(y, scale)
        except ZeroDivisionError:
            z = y
        z[1] = z[0] * a
        s = s + np.sum(z * y)
    return s


def divided(y, scale):
    if scale == 0.0:
        raise ZeroDivisionError
    return y / scale if scale > 3.0 else y


@directed(vector(4), 0.5)
def a_part_that_is_added_to_may_be_missing(x, a):
    y = np.sin(x)
    known = {"a": a}
    s = 0.0
    for key in ("a", "b", "b"):
        try:
            known[key] += a * x[0]
        except KeyError:
            known[key] = 2.0 * a
        s = s + known[key]
    for i in (1, 5, 3):
        try:
            y[i] += s * a
        except IndexError:
            y[0] = y[1] * s
    return np.sum(y * y) * s


@directed(vector(4), 0.8)
def an_attempt_to_store_ends_the_loop(x, a):
    y = x * a
    for i in range(6):
        try:
            y[i] = y[i] * y[i - 1]
        except IndexError:
            y[0] += y[1] ** 2
            break
        finally:
            y[-1] *= a
    return np.sum(y**3)


@directed(vector(4), 0.5)
def stores_that_raise(x, a):
    y = np.sin(x)
    for i in (1, 10, -1, -9):
        try:
            y[i] = a * y[0]
        except IndexError:
            y[0] = y[1] * a + x[2]
    try:
        y[1:3] = x * a
    except ValueError:
        y[1:3] *= x[:2] * a
    try:
        y[0] += shifted(y)
        y[2:] *= x
    except ValueError:
        y[3] = y[0] * a
    return np.sum(y * y)


def shifted(y):
    y[0] = y[0] + 1.0
    return y[0]


@directed(vector(4), 0.5)
def changes_of_containers_that_raise(x, a):
    known, items, s = {"a": x[0] * a, "b": x[1]}, [x[2] * a, x[3]], a
    for key in ("a", "c", "a"):
        try:
            s = s * a + known.pop(key)
        except KeyError:
            known[key] = s * x[0]
            items.append(s)
    while True:
        try:
            s = s + items.pop() * x[1]
            del items[2]
        except IndexError:
            s = s * a
            if not items:
                break
    try:
        del known["z"]
    except KeyError:
        s = s * known["b"]
    return s + sum(known.values())


class Meter:
    """Raises before it stores, but in ``doubled``."""

    def __init__(self, scale):
        self.scale = scale
        self.seen = []

    def __getitem__(self, i):
        if i > 2:
            raise IndexError(i)
        return self.scale * i

    def __setitem__(self, i, value):
        if i > 2:
            raise IndexError(i)
        self.scale = self.scale * value + i

    def times(self, x):
        if x < 0:
            raise ValueError("negative")
        return self.scale * x

    def push(self, x):
        self.seen.append(self.times(x))
        return len(self.seen)

    def doubled(self, x):
        self.scale = self.scale * 2.0
        return self.times(x)


@directed(vector(4), 0.7)
def methods_in_try(x, a):
    meter = Meter(a)
    s = 0.0
    for i in range(5):
        try:
            s += meter[i] * x[i] + meter.times(x[1] - i * 0.3)
        except IndexError:
            s = s * meter.scale
        except ValueError:
            s += x[0] * meter.scale
    return s


@directed(vector(4), 0.7)
def methods_that_store_in_try(x, a):
    meter = Meter(a)
    s = 0.0
    for i in range(4):
        try:
            meter[i] = x[1]
            s += meter.push(x[i] - i * 0.2) * x[0]
        except ValueError:
            meter.seen.append(x[2] * meter.scale)
            continue
        except IndexError:
            meter.scale = meter.scale * x[3]
    return s + sum(meter.seen) * meter.scale


@directed(vector(4), 0.7)
def a_method_that_stores_before_it_raises(x, a):
    meter = Meter(a)
    try:
        meter.doubled(-x[0] * x[0])
    except ValueError:
        meter.scale = meter.scale * x[1]
    return meter.scale * x[0]


@directed(vector(4), 0.7)
def a_method_returned_in_try_with_finally(x, a):
    meter = Meter(a)
    return first_of(meter, x) * meter.scale + sum(meter.seen)


def first_of(meter, x):
    for i in range(4):
        try:
            return meter.times(x[i] - 0.5)
        except ValueError:
            meter.scale = meter.scale * x[0]
        finally:
            meter.scale = meter.scale + x[2]
            meter.seen.append(meter.scale)
    return 0.0


@directed(vector(4), 0.7)
def suppressed_stores(x, a):
    meter = Meter(a)
    y = x * 2.0
    for i in range(4):
        with contextlib.suppress(ValueError, IndexError):
            y[i + 2] = y[i] * meter.times(x[i])
            y[i] = y[i] * meter.push(x[i] - 0.4)
    return np.sum(y) * meter.scale


def asks_for(y, i):
    y[i]
    return 1.0


def asks_in_vain(x, known, key):
    t = 0.0
    for i in range(3):
        t = t + x[i]
    a, b = x[: len(key)]
    known[key]
    return x[0]


@directed(vector(4), 0.5)
def what_raises_is_evaluated_for_nothing(x, a):
    y = np.sin(x)
    known = {"ab": a}
    s = a
    try:
        y[10]
    except IndexError:
        y[0] = y[1] * a
    for i in (1, 7):
        try:
            s = s + asks_for(y, i) * x[0]
        except IndexError:
            s = s * y[2]
    for key in ("ab", "abc", "ba"):
        try:
            s = s + asks_in_vain(x, known, key)
        except ValueError:
            s = s * x[1]
        except KeyError:
            s = s * x[2]
    try:
        u, v, w = y[:2]
    except (IndexError, ValueError) as error:
        s = s * y[3] * isinstance(error, ValueError)
    return s * np.sum(y * y)


def weighted(x, y):
    total = 0.0
    for part in x:
        total = total + part * y
    return total


@directed(vector(3))
def a_callee_has_a_name_that_an_attempt_is_called_by(x):
    """Once an error of ours: the functions made of what is attempted are called ``part``."""
    y = x[0]
    try:
        if not abs(2) < 20.0:
            raise ValueError
    except ValueError:
        y = x[2]
    return weighted(x, y)


@directed(vector(4), 0.5)
def suppressed_beside_another_manager(x, a):
    """Once wrong in silence: what raises and is of no use was left out."""
    y = x * a
    with np.errstate(all="ignore"), contextlib.suppress(KeyError):
        y[1] = y[0] * a
        {}["missing"]
        y[2] = 9.0
    return np.sum(y * y)


@directed(vector(4), 0.5)
def a_name_for_a_dict_and_for_what_it_holds(x, a):
    """Once an error of ours: a list was asked for its keys."""
    d = {"a": {"b": [x[0] * a, x[1]]}, "c": [x[2]]}
    s = sum(d.get("c"))
    d = d.get("a")
    d = d.pop("b")
    for v in d:
        s = s + v * v
    return s * a


@directed(vector(3))
def an_augmented_assignment_of_other_shape_raises(x):
    """Once wrong in silence: only what is added was attempted, and nobody reads ``k``."""
    k = np.ones(3)
    y = x * 2.0
    try:
        k += np.ones(2)
    except ValueError:
        y[::2] = y[::2] * x[1]
    return np.sum(y * x)


@directed(vector(3), matrix(3, 3))
def an_augmented_assignment_of_what_is_read_only(x, m):
    """Once a ValueError, raised outside of the try."""
    z = np.diag(m)
    y = x * z
    try:
        z += 2.0
    except ValueError:
        y *= x
    try:
        z += np.exp
    except ValueError:
        y[0] = y[1] * x[2]
    return np.sum(y * y)


@directed(vector(3))
def augmented_assignments_that_no_dtype_allows(x):
    k = np.arange(3)
    y = x * 2
    text, count = "", 0
    pair = (x[0],)
    try:
        k += 1
        y[k - 1] *= x
        k += 0.5
    except TypeError:
        y *= k
    try:
        text += "ab"
        count += 1
        text += count
    except TypeError:
        count += 10
    try:
        pair += (x[1],)
        pair += [x[2]]
    except TypeError:
        pair += (x[2] * 3,)
    return np.sum(y) * count * len(text) + pair[0] * pair[1] * pair[2]


class Adding:
    """Its additions run once, in ``try`` too."""

    def __init__(self, v):
        self.v = v

    def __iadd__(self, other):
        self.v = self.v + other
        return self

    def __radd__(self, other):
        self.v = self.v * 2
        return other * self.v


@directed(vector(3))
def augmented_assignments_of_objects_run_once(x):
    o = Adding(x[0])
    s = x[1]
    try:
        o += x[1]
        s += o
    except ValueError:
        s = 0.0
    return s * o.v


@directed(vector(3))
def augmented_assignments_in_loops_that_run_out(x):
    y, total = x.copy(), 0.0
    try:
        for k in range(4):
            y += x * k
            y -= y[k]
            y /= x[k]
            total += y[k - 1]
    except IndexError:
        y **= 2
    return np.sum(y) * total


@directed(vector(3))
def what_comes_after_an_augmented_assignment_that_raises(x):
    y, s, n = x * 2.0, x[0], 0
    try:
        y += np.ones(4)
        y *= 100.0
        s = s * 7.0
    except ValueError:
        s = s * x[1]
    try:
        n += 1
        y += np.concatenate([x, x])
        n += 1
    except ValueError:
        n += 10
    finally:
        s += n
    for k in range(3):
        try:
            y -= x[:k]
            s = s + 1.0
        except ValueError:
            s = s * x[2]
            continue
        s = s + x[k]
    return np.sum(y * y) * s


@directed(vector(3))
def what_comes_after_an_assertion_that_fails(x):
    """Once wrong in silence: it was run."""
    s = x[0]
    try:
        assert x[1] > 5.0
        s = s * 100.0
    except AssertionError:
        s = s * x[1]
    try:
        assert s < 5.0
        assert np.sum(x) > 50.0, "small"
        s = s * 100.0
    except AssertionError:
        s = s * x[2]
    return s


@directed(vector(3))
def many_augmented_assignments_stand_side_by_side(x):
    """Once an error of ours: each stood in the one before it."""
    s, a = x[0], x[1]
    try:
        s += a
        s += a
        s += a
        s += a
        s += a
        s += a
        s += a
        s += a
        s += a
        s += a
        s += a
        s += a
        s += a
        s += a
        s += a
        s += a
        s += a
        s += a
        s += a
        s += a
        s *= x[7]
    except IndexError:
        s = s * x[2]
    return s


@directed(vector(3), 0.5)
def an_array_that_is_asked_whether_it_is_true(x, a):
    y = x * 2.0
    try:
        if y:
            y = y * 3.0
    except ValueError:
        y = y * x
    try:
        assert y, "one number"
    except ValueError:
        y = y * a
    try:
        while not y:
            y = y * 7.0
    except ValueError:
        y = y * y
    return np.sum(y)


@directed(matrix(3, 2), vector(3))
def a_loop_whose_items_do_not_fit_its_target(m, x):
    s = np.sum(x)
    try:
        for u, v in zip(*m):
            s = s + u * v
    except ValueError:
        s = s * x[0]
    try:
        for i, (u, v, w) in enumerate(m):
            s = s * u * v * w + i
    except ValueError:
        s = s * x[1]
    try:
        try:
            for m, z in m:
                s, m = s * m * z, [x, x]
        finally:
            s = s * 3.0
    except TypeError:
        s = s * x[2]
    return s


@directed(vector(3), 0.5)
def a_loop_over_what_cannot_be_iterated(x, a):
    s = a * a
    for q in [x, a, 2.0 * x]:
        try:
            for v in q:
                s = s * v
            for i, v in enumerate(q):
                s = s + i * v
        except TypeError:
            s = s * x[0]
    try:
        for v in x:
            for w in v:
                s = s + w
    except Exception:
        s = s * x[1]
    return s


@directed(vector(3), 0.5)
def a_loop_by_what_raises_before_it_begins(x, a):
    """What stands right of the parts that do not fit is not bound."""
    i, n = a, 2.5
    try:
        for (u, v), i in zip([(x[0],)], [x[1]]):
            a = a * u * v * 7.0
    except ValueError:
        i = i + a * x[0]
    try:
        for k in range(n):
            i = i * k
    except TypeError:
        i = i * x[2]
    return i


@directed(vector(3), 0.5)
def a_set_that_is_reversed(x, a):
    """Once silently wrong: Python raises, and the items were taken in some order."""
    try:
        for v in reversed({1.0, 2.0}):
            a = a * v * x[0]
    except TypeError:
        a = a * x[1]
    return a


@directed(np.array([0.7, 1.3, 2.1]), 0.4)
def an_attempt_in_what_every_way_out_runs(x, a):
    """Once an InternalError: each copy of the last block attempted under the same names."""
    kept = [a]

    def chosen(v):
        try:
            if v > 1.0:
                return v * a
        finally:
            try:
                kept.append(v)
                kept[5] = a
            except IndexError:
                kept[0] = kept[0] * v
        return v * v

    return chosen(x[0]) + chosen(x[1]) * kept[0] + kept[-1] * kept[0]


@directed(np.array([0.7, 1.3, 2.1, 0.4]), np.array([[0.3, 1.1], [0.9, 1.7]]))
def a_view_made_in_an_attempt_is_changed_in_place(x, y):
    """Once an InternalError, and what was put into the view was lost: a tuple that held a slice had no derivative."""
    try:
        np.reshape(x, (2, -1))[::-1] += y * 2.0
        if x[0] > 100.0:
            raise ValueError
    except ValueError:
        x[1:3] = 0.0
    return np.sum(x * x)
