"""Lists that grow or shrink when nobody reads them any more, or when something else holds them: an adjoint has an entry
for every entry all the same, also of what was written by us."""

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


@directed(vector(3), 0.5)
def appended_to_at_the_end(x, a):
    u = [e for e in x]
    z = 0.0
    for j in range(3):
        z += u[1] * u[j]
    u.append(a)
    return z


@directed(vector(3), 0.5)
@directed(vector(3), -0.5)
def appended_to_in_branches(x, a):
    u = [e * e for e in x]
    z = u[0] * u[1]
    if a > 0:
        u.append(a)
        u.append(z)
    else:
        z = z * a
        u.append(x[0])
    return z


@directed(vector(3), 0.5)
def appended_to_in_a_later_loop(x, a):
    u = [e for e in x]
    z = u[0] * u[1]
    for _ in range(3):
        u.append(a * z)
    return z


@directed(vector(3), 0.5)
@directed(vector(3), -0.5)
def read_in_one_branch_only(x, a):
    u = [e for e in x]
    z = u[1] * u[0]
    u.append(a)
    if a > 0:
        z += u[3] * u[0]
    else:
        z *= 3.0
    u.append(z)
    u.append(z)
    return z


@directed(vector(3), 0.5)
def two_lists_that_read_each_other(x, a):
    u, v = [e for e in x], [a]
    z = u[1] * u[0]
    v.append(u[2])
    z += v[0] * v[1]
    u.append(v[1])
    v.append(u[1])
    return z


@directed(vector(3), 0.5)
def appended_to_before_a_break(x, a):
    u = [e for e in x]
    z, i = u[1] * u[0], 0
    while i < 3:
        z = z + u[i] * u[i]
        i += 1
        if i == 2:
            u.append(a)
            break
    u.append(z)
    return z


@directed(vector(3), 0.5)
@directed(vector(3), -0.5)
@directed(vector(3), 7.0)
def appended_to_before_returns(x, a):
    u = [e for e in x]
    z = u[1] * u[0]
    if a > 5.0:
        u.append(a)
        return z * u[-1]
    if a < 0.0:
        u.append(a)
        u.append(a)
        return z * 2
    u.append(z)
    return z * u[1]


@directed(vector(3), 0.5)
def appended_to_in_loops_of_loops(x, a):
    u = [e for e in x]
    z = 0.0
    for k in range(2):
        for j in range(3):
            z += u[1] * u[j + k]
            u.append(a * z)
        u.append(a)
    u.append(z)
    return z


@directed(vector(3), 0.5)
def pairs_that_nobody_takes_apart(x, a):
    u = [(e, a) for e in x]
    z = u[1][0] * u[0][1]
    u.append((a, z))
    return z


@directed(vector(3), 0.5)
def vectors_after_a_continue(x, a):
    u = [e * x for e in x]
    z = np.sum(u[1] * u[2])
    for k in range(2):
        if a > k:
            u.append(u[0])
        else:
            continue
        u.append(u[0])
    return z


@directed(vector(3), 0.5)
def appended_to_where_it_may_raise(x, a):
    u = [e for e in x]
    try:
        z = u[1] * u[0]
        u.append(a)
    except IndexError:
        z = u[0]
    return z


@directed(vector(3), 0.5)
def popped_where_it_may_raise(x, a):
    u = [e for e in x]
    s = u[0] * a
    u.append(a)
    try:
        u.pop()
    except IndexError:
        s = s * 2
    return s


@directed(vector(3), 0.5)
def the_last_by_its_place(x, a):
    u = [e for e in x]
    s = u[len(u) - 1]
    u.append(a)
    return s * s * u[0]


@directed(vector(3), 0.5)
def of_use_to_nobody(x, a):
    u = [e for e in x]
    u += [a]
    i = 0
    while i < 2:
        i += 1
        u.append(a)
    return a * x[0]


@directed(vector(3))
def held_by_a_dict_before_it_grows(x):
    losses = []
    history = {"loss": losses}
    p = x * 1.0
    for _ in range(3):
        loss = np.sum(p * p * p)
        losses.append(loss)
        p = p - 0.1 * p * loss
    return history["loss"][-1] * losses[0]


@directed(vector(3))
def held_by_another_name(x):
    v = [e * 2 for e in x]
    m = v
    v.append(x[0] * x[2])
    return m[-1] * m[0]


@directed(vector(3))
def held_by_a_tuple_when_it_shrinks(x):
    u = [e * e for e in x]
    t = (u, 2)
    u.pop()
    return t[0][-1] * t[0][0]


@directed(vector(3))
def held_twice_before_a_loop_appends(x):
    u = []
    z = list(enumerate([u, u]))
    for k in range(3):
        u.append(x[k] * x[k])
    return z[0][1][-1] * z[1][1][0]


@directed(vector(3), 0.5)
def chosen_before_it_grows(x, a):
    u, v = [e for e in x], [e * 2 for e in x]
    m = u if a > 1 else v
    w = u or v
    v.append(x[0] * x[2])
    u.append(m[-1])
    return m[-1] * m[0] * w[-1]


def pieces(x):
    u = [e for e in x]
    return u[1] * u[0], u


@directed(vector(3))
def returned_with_another_value(x):
    z, u = pieces(x)
    u.append(z)
    return z


def three(x):
    return [e for e in x], [e * 2 for e in x], x[0] * x[1]


@directed(vector(3))
def returned_and_popped(x):
    u, v, z = three(x)
    u.pop()
    v.pop()
    return z


@directed(vector(3))
def of_use_to_a_list_that_is_of_none(x):
    u, v = [e * 1.0 for e in x], [x[0]]
    z = u[1] * u[0]
    u.append(v[-1])
    v.pop()
    return z


@directed(vector(4))
def places_that_grow_after_a_store(x):
    y, at = x * 1, [2]
    y[at] = x[0]
    at.append(0)
    y[at] *= x[1]
    at.append(3)
    np.add.at(y, at, x[2])
    at.append(1)
    return np.sum(y * y)


@directed(1.5, vector(4))
def places_in_an_argument_that_grow_after_a_store(a, y):
    at = [2]
    y[at] = a
    at.append(0)
    view = y
    return np.sum(view * view)


# --- lists of the rest of a tuple, which has no shadow ----------------------------------------------------------------
@directed(0.83)
def rest_of_a_tuple_is_stored_into(a):
    t = (a, 1.0)
    p, *q = t
    q[0] = a * 2.0
    return p * q[0]


def with_a_sum(*p):
    h, *r = p
    r.append(h)
    return sum(r)


@directed(0.83)
def rest_of_the_arguments_grows(a):
    return with_a_sum(a, a * 2.0)


@directed(0.83)
def rest_of_a_literal_grows(a):
    p, *q = a, 1.0
    q.append(a)
    return p * q[1]


@directed(0.83)
@directed(0.3)
def rest_of_a_tuple_whose_length_varies(a):
    t = (a, 2.0) if a > 0.5 else (a, 2.0, a)
    p, *r = t
    r.append(a)
    return r[-1] * p * r[0] * r[0] * len(r)


@directed(0.83)
def rest_in_front_in_a_loop(a):
    t = (a, 2.0, a * a, a)
    for _ in range(3):
        k, *r, p = t
        r[0] *= a
        t = (k, r[0] * p, a, p * a)
    return r[0] * t[0] * t[1]


@directed(0.83)
def rest_under_the_name_of_the_tuple(a):
    t = (a, 2.0, a * a)
    k, *t = t
    t[0] *= a
    return k * t[0] * t[1]


@directed(0.83)
def rest_under_two_names(a):
    t = (a, 2.0, a * a)
    k, *q = t
    w = q
    q[0] *= a
    q.append(k)
    return w[-1] * t[2] * w[0] + len(w)


@directed(0.83)
def rest_of_each_row(a):
    out = 0.0
    for p, *q in ((a, 1.0), (2.0 * a, a, a)):
        q[0] *= a
        out += p * q[0] * len(q)
    return out


@directed(0.83)
@directed(0.3)
def rest_of_what_is_too_short(a):
    t = (a,) if a > 0.5 else (a, 2.0)
    try:
        p, q, *r = t
    except ValueError:
        return a * 3.0
    r.append(a)
    return r[-1] * q * p
