"""Programs that ``srcgrad fuzz`` found wrong or failing once, each shrunk, in telling modes, at night in all."""

from __future__ import annotations

import textwrap

import pytest

from srcgrad.fuzz import Check, Plan, agree
from tests.fuzz.modes import FIRST_ORDER, laid_out, refused

pytestmark = pytest.mark.slow


def test_a_callee_in_a_comparison_stores_into_its_argument(ask):
    ask("""
    def g0(h0):
        h0[0] = 4.0
        return h0

    def f(a, b, x, y, m):
        w = g0(x) < b
        return x
    """)


def test_callees_in_tests_store_into_views(ask):
    ask("""
    def g0(h0, c):
        h0[0] = c * h0[1]
        return np.sum(h0)

    def f(a, b, x, y, m):
        z = x * 1.0
        if x[0] > g0(z, a) or g0(z, b) > 0.1:
            return np.sum(z * x)
        n = 0
        while n < 3 and g0(z[::-1], b) < 10:
            n += 1
        return np.sum(z * z)
    """)


def test_a_callee_in_a_flag_stores_what_an_early_return_does_not_read(ask):
    ask("""
    def g0(h0):
        h0[0] = np.sum(np.ones(4))
        return np.sum(h0)

    def f(a, b, x, y, m):
        if not x @ y > b:
            flag = g0(y) > x[1]
            return b
        return np.sum(y)
    """)


def test_the_whole_of_a_number(ask):
    ask("""
    def f(a, b, x, y, m):
        s = np.sin(b)[()]
        return s * x
    """)


def test_parts_of_an_item_that_are_views(ask):
    ask("""
    def g0(l0):
        l0[1][::-1].reshape(2, 2).ravel()[:2] = 0.5
        u = np.split(l0[1], 2)[1]
        return np.sum(u * u)

    def f(a, b, x, y, m):
        return g0([x[-2] * x, np.asarray(y)]) * a
    """)


def test_items_put_into_an_array_and_read_from_a_dict(ask):
    ask("""
    def f(a, b, x, y, m):
        y.put([1, 3], a)
        p = {"p": y, "q": 0.5}
        return np.sum(p["p"] * p["q"])
    """)


def test_the_second_derivative_leaves_an_argument_that_a_list_was_made_of(ask):
    ask.twice("""
    def g(l, w):
        w[:] = w
        return sum(np.sum(e * e) for e in l)

    def f(a, b, x, y, m):
        x[0] = b * y[3]
        a -= g([x * k for k in range(2)], np.ones(2))
        return a + np.sum(x * x)
    """)


def test_a_list_of_arguments_is_inserted_into_and_an_item_scaled(ask):
    ask("""
    def f(a, b, x, y, m, h):
        h.insert(1, x - b)
        h[0] *= b
        return np.sum(x) + sum(np.sum(e * e) for e in h)
    """)


def test_items_are_swapped_then_stored_into(ask):
    ask("""
    def f(a, b, x, y, m):
        L = [x, y]
        L[0], L[1] = L[1], L[0]
        L[0] += a
        L.append(L[0][::-1])
        L[-1][1:3] *= b
        for e in L:
            e[0] = e[1] * a
        return np.sum(L[0] * L[1] * L[2]) + np.sum(x * y)
    """)


def test_numbers_are_unpacked_to_the_name_of_an_array(ask):
    ask("""
    def g1(d):
        return d * 0.6, np.sin(d)

    def f(a, b, x, y, m):
        s, k = g1(a)
        u = s * k
        s = x
        s[1] = 0.5 * u
        return np.sum(x * s)
    """)


def test_numbers_of_rows_are_unpacked_to_the_name_of_their_matrix(ask):
    ask("""
    def g0(w0):
        return np.sum(w0), np.sum(w0 * w0)

    def f(a, b, x, y, m):
        for row in m:
            row[0] = row[1] * a
            b, z = g0(row)
            a = a + b * z
        z = m
        z[1] = a
        return np.sum(m * z) * a
    """)


def test_an_object_that_was_an_argument_is_replaced(ask):
    ask.first_order("""
    class Box:
        def __init__(self, v, s):
            self.v = v
            self.s = s

    def f(a, b, x, y, m, o):
        o = Box(x, a)
        x[1] = 0.5
        return np.sum(x * x)
    """)


def test_a_method_that_sets_a_field_of_an_argument_is_called_twice(ask):
    ask.first_order("""
    class Box:
        def __init__(self, v, s):
            self.v = v
            self.s = s

        def step(self, t):
            self.s = self.s + t
            return self.s

    def f(a, b, x, y, m, o):
        o.step(b * a)
        a, b = (b, o.step(b))
        return o.s * a * b
    """)


def test_what_a_callee_returns_takes_the_name_of_what_it_was_given(ask):
    ask("""
    def g(z, a):
        z[0] = a
        return z[::-1]

    def f(a, b, x, y, m):
        z = x * y
        z = g(z, b)
        z = g(z, a)
        return np.sum(z * x)
    """)


def test_an_object_takes_the_name_of_another(ask):
    ask("""
    class Box:
        def __init__(self, v, s):
            self.v = v
            self.s = s

    def f(a, b, x, y, m):
        o = Box(y * 1.5, b)
        x[1] = o.v[1] * o.s
        o = Box(x, a)
        x[1] = x[0] * a
        return np.sum(x * o.v)
    """)


def test_a_shifted_array_keeps_its_tangent_when_the_array_is_stored_into(ask):
    ask("""
    def f(a, b, x, y, m):
        z = y - 0.3
        y[1] -= x @ z
        return z
    """)


def test_only_what_is_stored_varies():
    agree(
        textwrap.dedent("""
        def f(a, b, x, y, m):
            z = y - 0.3
            y[1] -= x @ z
            return z
        """),
        Plan(FIRST_ORDER.checks, (0, 2)),
    )


def test_a_fresh_result_takes_the_name_of_what_the_callee_was_given(ask):
    ask("""
    def g(r):
        return r + 0.5

    def f(a, b, x, y, m):
        z = x
        z = g(z)
        z[0] = a * b
        return np.sum(z * z * x)
    """)


def test_a_deque_of_the_numbers_of_an_array():
    agree(
        textwrap.dedent("""
        from collections import deque

        def f(a, b, x, y, m):
            p = deque(y)
            return p[0] * a
        """),
        FIRST_ORDER,
    )


def test_a_name_holds_a_number_and_then_a_dict_that_is_returned_from_try(ask):
    ask("""
    def f(a, b, x, y, m):
        t = b
        t = dict(p=y, q=abs(b))
        try:
            return t["p"]
        except ValueError:
            pass
        return t
    """)


def test_rows_of_unknown_kind_that_nobody_reads():
    agree(
        textwrap.dedent("""
        def f(a, b, x, y, m):
            count1 = 0
            while True:
                count1 += 1
                if count1 > 1:
                    break
                for ej, dj in m:
                    w = count1
            return a + b
        """),
        Plan((Check("forward", ("specialise",)),), (1, 3)),
    )


def test_a_name_is_a_dict_and_then_an_array_that_is_run_through(ask):
    ask("""
    def f(a, b, x, y, m):
        s = {"p": x, "q": a}
        s = y
        return [e for e in s]
    """)


def test_a_name_is_a_dict_in_one_loop_and_an_array_in_the_next(ask):
    ask("""
    def f(a, b, x, y, m):
        s = {"p": x, "q": a}
        t = 0.0
        for k in s:
            t = t + len(k) * np.sum(s[k]) * b
        s = np.array(list(s.values())[0])
        for v in s:
            t = t + v * v
        return t
    """)


def test_a_list_of_objects_is_copied_in_try(ask):
    ask.first_order("""
    class Wave:
        def __init__(self, v):
            self.v = v

        def value(self):
            return np.sin(self.v)

    class Still:
        def value(self):
            return 2.0

    def f(a, b, x, y, m):
        u = 0.0
        for row in m:
            try:
                parts = [Wave(x[3]), Still(), Wave(b)]
                others = parts.copy()
                others.pop(0)
                parts = others + [Wave(np.tanh(b))]
                parts.append(parts.pop(0))
            except ValueError:
                continue
            u = u + sum([part.value() for part in parts])
        return a * u
    """)


def test_a_view_of_what_a_callee_made_is_stored_into(ask):
    ask("""
    def g1(r):
        r = r + 0.5
        return r[2:]

    def f(a, b, x, y, m):
        k = g1(y)
        k[0] = a * k[1]
        return np.sum(k * k) * b
    """)


def test_a_local_function_changes_in_place_what_does_not_vary(ask):
    ask("""
    def f(a, b, x, y, m):
        c = np.array([1.0, 2.0])
        k = c

        def double(v):
            v *= 2.0

        double(c)
        return a * np.sum(k)
    """)


def test_a_field_that_does_not_vary_changes_in_place_in_try(ask):
    ask.refused("""
    class Box:
        def __init__(self, v):
            self.v = v

    def f(a, b, x, y, m):
        box = Box(np.array([1.0, 2.0]))
        k = box.v
        try:
            box.v *= box.v
        except ValueError:
            pass
        return a * np.sum(k)
    """, "an assignment in place that may raise what is caught")


def test_a_callee_returns_a_view_with_gaps(ask):
    ask("""
    def g0():
        p = np.ones((2, 2, 2))
        return np.moveaxis(p, 0, 2)[1]

    def f(a, b, x, y, m):
        k = g0()
        k[0] = a
        return np.sum(k * k.T) * b
    """)


def test_a_list_loses_an_item_that_its_derivative_reads_no_more(ask):
    ask("""
    def f(a, b, x, y, m):
        n = [e for e in y]
        z = n.pop()
        return sum(n)
    """)


def test_a_diagonal_is_as_long_in_memory_as_the_whole(ask):
    ask("""
    def f(a, b, x, y, m):
        while True:
            m[..., 1] = np.sin(np.diag(m))
            return np.sum(x) + np.sum(y * y) + np.sum(m * m)
    """)


def test_a_slice_of_a_list_beside_a_store_is_differentiated_twice(ask):
    ask.twice("""
    def f(a, b, x, y, m, h):
        m[:] = m
        n = h[::1]
        return np.sum(m) + sum((np.sum(e * e) for e in n))
    """)


def test_all_of_what_may_be_a_container_is_read_and_differentiated_twice(ask):
    ask.twice("""
    def f(a, b, x, y, m, d):
        m = d.get('p')[...]
        return np.sum(m * m)
    """)


def test_a_number_is_augmented_in_try_beside_arrays_that_are_only_read(ask):
    ask("""
    def f(a, b, x, y, m):
        try:
            z = m[1]
            a *= z[0]
        except ValueError:
            pass
        finally:
            z = np.zeros
        return a * b
    """)


def test_a_method_copies_to_the_order_of_c(ask):
    ask("""
    def f(a, b, x, y, m, h):
        m = np.reshape(h, (2, -1)).T.copy()
        m[1] = m.ravel()[1]
        return b + np.sum(m * m)
    """)


def test_an_output_is_found_after_what_is_given_is_evaluated(ask):
    ask("""
    from dataclasses import dataclass

    @dataclass
    class Box:
        v: np.ndarray
        s: float

        def shift(self):
            self.v = self.v + self.s
            return self

    def g0(o0):
        try:
            flag1 = abs(0.3)
        except ValueError:
            pass
        finally:
            np.sin(o0.shift().v, out=o0.v)

    def f(a, b, x, y, m):
        g0(Box(y, a ** 2))
        return np.sum(y * y)
    """)


def test_a_function_is_added_to_what_is_read_only(ask):
    ask("""
    def f(a, b, x, y, m):
        z = np.diag(m)
        try:
            z += np.sum
        except ValueError:
            x[::1] = x
        return y
    """)


def test_an_array_of_objects_holds_what_does_not_vary(ask):
    ask("""
    def f(a, b, x, y, m):
        p = {"p": y, "q": m}
        p = p.setdefault("p", np.zeros_like(p))
        p -= x
        return np.sum(p * y)
    """)


def test_the_shadow_of_a_reversed_view_does_not_move():
    agree(laid_out("""
    class Log:
        def __init__(self):
            self.kept = []

        def put(self, t):
            self.kept.append(t * t)
            return sum(self.kept)

        def top(self):
            return max(self.kept)

    def g0(c0, r1, r2):
        r2, r1 = (r1, r1.copy())
        return r1[::-1].reshape(2, 2)

    def f(a, b, x, y, m, h, d):
        log1 = Log()
        u = log1.put(d["q"]) * log1.top()
        s = g0(np.sum(np.ones((2, 2, 2)) ** 2), y, x)
        s[::-1] = 0.7 * m[:] @ m
        return sum((np.sum(e * e) for e in h)) + np.sum(d["p"] * d["q"])
    """), Plan((Check("second"),), (1, 2)))


def test_an_argument_that_becomes_an_index(ask):
    ask("""
    class Box:
        def __init__(self, v, s):
            self.v = 0.5

    def g0(r0, k1):
        for k1 in range(2):
            np
        return (k1, r0)

    def f(a, b, x, y, m):
        a, s = g0(x, np.multiply(np.ones(2), m))
        n = Box(x, s)
        return n.v
    """)


def test_a_list_that_grows_after_it_was_read(ask):
    ask("""
    def f(a, b, x, y, m, c):
        u = [e for e in y.astype(float, copy=False)]
        z = np.zeros(4)
        for j in range(4):
            z[j] = u[1]
        u.append(a)
        return z
    """)


def test_an_operand_whose_adjoint_begins_where_a_result_may_be_another():
    """Its adjoint was unbound where the result shares the other operand's memory."""
    agree(textwrap.dedent("""
    import math
    from collections import namedtuple
    import numpy as np
    Pair = namedtuple("Pair", "v s")

    class Wave:
        def __init__(self, v):
            self.v = v

        def value(self):
            return np.sin(self.v)

    class Cube:
        def __init__(self, v):
            self.v = v

    def f(a, b, x, y, m):
        parts = [Wave(math.sin(a)), Cube(m[0][0])]
        others = parts.copy()
        others[0].v *= np.sum(m)
        others[0] = others[1]
        b = parts[0].value()
        q = np.full(4, 0.3)
        q[0] = y[2]
        t = Pair(q, min(b, a))
        return t.v
    """), Plan((Check("pair"), Check("joint")), None))


def test_a_view_of_a_result_whose_operand_lies_otherwise_than_its_tangent(ask):
    ask("""
    def f(a, b, x, y, m, h):
        t = m.T.copy() if np.sum(m) < 90.0 else np.asarray(m.T, order="C")
        u = 0.5 * m.T.copy()
        h.insert(0, np.ravel(u))
        v = np.ravel(np.where(t > 0.3, t, m.T))
        v[1] = b
        return u[0, 0] * v[1] + sum((e for e in h))
    """)


def test_extrema_of_a_list_that_has_the_name_of_a_parameter():
    refused(textwrap.dedent("""
    import numpy as np

    def f(a, b, x, y, m):
        try:
            x = [a, b]
        except 0.5:
            pass
        finally:
            y = np.split(y, 2)[1]
            y[...] = y
        return np.maximum(x, x) + np.fmin(x, x)
    """), "a handler of exceptions whose classes are not known",
    Plan((Check("forward", ("specialise",)), Check("forward")), (0, 1)))  # fmt: skip


def test_a_list_and_a_number_that_does_not_vary_are_added_forward():
    agree(textwrap.dedent("""
    import numpy as np

    def f(a, b, x, y, m):
        count1 = 0
        while count1 < 3:
            count1 += 1
            a = [0, 3, 1, 2]
            b = np.sin(0.5)
        return a + b - b
    """), Plan((Check("forward"),), None))


def test_a_list_of_indices_one_of_which_is_stored_into_where_they_point():
    """The place was saved with the array of indices itself, and its old numbers went back to other places."""
    agree(textwrap.dedent("""
    import numpy as np

    def f(a, b, x, y, m):
        order = np.argsort(y)
        places = [order]
        w = y[places]
        order[places] = 1
        return w
    """), Plan((Check("pair"), Check("pair", ("sink",))), None))


def test_a_return_that_stands_before_a_name_is_bound():
    agree(textwrap.dedent("""
    import numpy as np

    def f(a, b, x, y, m):
        with np.errstate(under='ignore'):
            if b:
                return a
            k = k
            k = y
        return k
    """), Plan((Check("pair"), Check("pair", ("sink",))), None))


def test_a_place_that_is_read_of_what_a_store_changes_forward_inside_try(ask):
    ask("""
    from collections import deque

    def f(a, b, x, y, m):
        z = deque([x, y])
        q = [y, b]
        try:
            for row in m:
                row[1] = 0.5
                z[-1][z[-1] > 0.1] = np.repeat(x[1:3], 2)[z[-1] > 0.1]
                q[0][q[0] < -0.3] = a
        except ValueError:
            pass
        finally:
            k = a
        return m * k + z[1][1] + np.sum(q[0])
    """)


def test_a_variable_that_only_branches_which_are_not_taken_bind(ask):
    """It was copied where the branches end, without a value."""
    ask.refused("""
    def f(a, b, x, y, m):
        if a is None:
            v = 0
        if a is None:
            v = {}
        for v, a in zip(y, x):
            m[1] = v
        return v * b + m[1, 0]
    """, "this try cannot be differentiated")


def test_a_deque_of_an_array_and_a_number_twice():
    """Of what the deque shares with its items the tangent was added twice."""
    agree(textwrap.dedent("""
    from collections import deque
    import numpy as np

    def f(a, b, x, y, m):
        n = x
        s = np.sum(np.sin(n))
        n[::2] = np.ones(2)
        try:
            q = deque([x, s], maxlen=2)
        except ValueError:
            return np.sum(s * s)
        return np.sum(x * x * x) + q[1] * y[0] * y[0]
    """), Plan((Check("second"), Check("second", ("sink",)), Check("reverse over reverse"), Check("pair")), None))


def test_a_variable_that_is_read_before_it_is_bound_and_never_used():
    """Where the binding was dropped, the read was one of a global."""
    agree(textwrap.dedent("""
    import numpy as np

    class Held:
        def __init__(self, v):
            self.v = v

        def __enter__(self):
            return 0.5

        def __exit__(self, *error):
            return False

    def f(a, b, x, y, m):
        if not b:
            z = np.sum(z)
        else:
            with Held(y) as held:
                n = 0.5
        return a
    """), Plan((Check("forward"), Check("forward", ("specialise",))), None))
