"""Programs that store into memory which other names see: the shadow pass is tested with them.

Names say what each one is about; ``ARGUMENTS`` are those of all of them.
"""

from __future__ import annotations

import numpy as np
from numpy import exp, sin, tanh

ARGUMENTS = (
    0.7,
    -0.4,
    np.array([0.3, -0.7, 1.1, 0.2]),
    np.array([0.5, 0.9, -0.3, 0.8]),
    np.array([[0.2, 0.4], [-0.6, 0.9]]),
)
tot = np.sum


def a_store_through_a_view(a, b, x, y, m):
    v = sin(x)
    w = v[1:3]
    w[0] = a * w[1]
    return tot(v*v)


def an_integer_index_is_a_view(a, b, x, y, m):
    k = sin(m)
    p = k[1]
    p[0] = a
    return tot(k*k)


def stores_into_a_parameter(a, b, x, y, m):
    y[0] = a*x[1]
    y[1:3] = x[0:2]*b
    return tot(y*y)


def overlapping_slices(a, b, x, y, m):
    y[1:3] = y[0:2]
    return tot(y*x)


def a_broadcast_store(a, b, x, y, m):
    y[:] = a
    y[2] += b
    return tot(y*x)


def an_index_changed_after_its_use(a, b, x, y, m):
    z = sin(x)
    i = 0
    z[i] = a
    i = 2
    z[i] = b * z[0]
    return z


def stores_before_exits_of_a_loop(a, b, x, y, m):
    z = np.zeros(4)
    for i in range(4):
        if x[i] < 0:
            continue
        z[i] = x[i]*a
        if i == 2:
            break
    return tot(z*y)


def a_return_from_a_loop_that_stores(a, b, x, y, m):
    z = sin(x)
    for i in range(3):
        z[i+1] = z[i]*a + z[i+1]
        if z[i+1] > 0.9:
            return tot(z)
    return tot(z*z)


def a_masked_store(a, b, x, y, m):
    z = sin(x)
    z[z > 0.25] = a
    return tot(z*y)


def a_store_at_repeated_places(a, b, x, y, m):
    z = sin(x)
    z[[0,0,1]] = y[:3]*a
    return tot(z*x)


def a_copy_of_a_reshaped_view(a, b, x, y, m):
    z = x.T.reshape(2,2)
    w = z.copy()
    w[0] = m[1]
    w[:,1] += a
    return tot(w*w)


def a_store_through_a_reshaped_view(a, b, x, y, m):
    w = sin(x)
    z = w.reshape(2,2)
    z[0,1] = a
    z[1] *= b
    return tot(w*y)


def a_view_or_a_copy(a, b, x, y, m):
    w = sin(m)
    z = w.T
    z[0] = x[:2]
    q = z.ravel()
    q[0] = a
    return tot(w*w)*tot(q)


def numbers_read_between_stores(a, b, x, y, m):
    z = x*2
    z[0] = 3.0
    s = z[1]*z[2]
    z[1] = s*a
    z[2] = z[1]*s
    return z[1]*z[2]


def a_march(a, b, x, y, m):
    n = 3
    u = np.zeros(n+1)
    u[0] = a
    for k in range(n):
        u[k+1] = sin(u[k])*b
    return u[n]


def an_alias_of_one_branch(a, b, x, y, m):
    z = sin(x)
    v = z
    if a > 0:
        v = y * 1.0
    v[1] = a * v[0]
    z[0] = v[1] * b
    return tot(z*v)


def a_parameter_rebound_after_a_store(a, b, x, y, m):
    x[0] = a
    x = x * 2.0
    x[1] = b * x[0]
    return tot(x * y)


def a_table_filled_in_two_loops(a, b, x, y, m):
    z = np.empty((2,2))
    for i in range(2):
        for j in range(2):
            z[i,j] = m[j,i]*a + i
    z[0] -= x[:2]
    return tot(z*z)


def a_while_loop_that_stores(a, b, x, y, m):
    z = sin(x)
    k = 0
    while k < 3:
        z[k] = z[k]*z[k+1]
        k += 1
    return tot(z*z)


def an_output_divided_by_its_sum(a, b, x, y, m):
    z = exp(x)
    s = tot(z)
    z[0] = s
    t = z / s
    t[1] = a
    return tot(t*z)


def a_reversed_view(a, b, x, y, m):
    z = np.zeros(4)
    z[0] = a
    w = z[::-1]
    w[0] = b*w[3]
    z = w + y
    z[1] = w[2]*a
    return z*w


def a_constant_that_is_filled(a, b, x, y, m):
    c = np.zeros(4)
    c[1] = 2.0
    c[2] = 3.0
    return tot(c*x*a)


def iterating_what_is_stored_into(a, b, x, y, m):
    z = sin(x)
    s = 0.0
    for v in z:
        s = s + v*a
        z[0] = s
    return s + tot(z)


def rows_that_are_stored_into(a, b, x, y, m):
    w = sin(m)
    for r in w:
        r[0] = a*r[1]
    return tot(w*w)


def an_overlapping_addition(a, b, x, y, m):
    z = x.copy()
    z[1:] += z[:-1]
    return tot(z*y)


def augmented_stores_of_every_kind(a, b, x, y, m):
    z = x.copy()
    z[:-1] -= z[1:]*a
    z[0] /= b
    z[1:3] **= 2
    return tot(z*y)


def _over(y):
    y[0] = 0.5
    return 0.1


def _own(y, x):
    z = exp(y)
    w = tanh(z)
    return z


def a_callee_keeps_its_own_result(a, b, x, y, m):
    z = _own(y, x)
    z[1:3] = z[1:3]*0.5
    w = _own(z, z)
    z[0] = w[1]
    return tot(z * w)


def _relax(y, a):
    for i in range(3):
        if y[i] > 0.9:
            return i
        y[i] = y[i] * y[i + 1] + a
    return 3


def a_callee_returns_from_its_loop(a, b, x, y, m):
    z = y * y
    w = z[::-1]
    k = _relax(w, a)
    return tot(z * z) + k


def _cond(y, c):
    if c > 0:
        return y
    return y * 2.0


def a_callee_returns_its_argument_or_not(a, b, x, y, m):
    z = sin(y)
    p = _cond(z, a)
    q = _cond(z, b)
    p[0] = a
    q[1] = b
    return tot(z*x) + tot(p*q)


def _rec(y, n):
    if n == 0:
        return y[0]
    y[n] = y[n-1] * y[n]
    return _rec(y, n-1) + y[n]


def a_recursive_callee_stores(a, b, x, y, m):
    z = sin(y)
    s = _rec(z, 3)
    return s * tot(z)


def _fill(out, x, a):
    for i in range(4):
        out[i] = x[i] * a


def a_callee_fills_an_array(a, b, x, y, m):
    z = np.zeros(4)
    _fill(z, x, a)
    w = np.zeros(4)
    _fill(w, z, b)
    return tot(w*y) + z[1]


def _row(r, a):
    r[0] = a * r[1]
    return r


def a_callee_returns_what_it_stored_into(a, b, x, y, m):
    k = sin(m)
    for i in range(2):
        p = _row(k[i], a)
        p[1] = p[0] * b
    return tot(k * k)


def _min(y):
    return tot(y*y)


def a_callee_reads_what_changes(a, b, x, y, m):
    z = sin(y)
    s = 0.0
    for i in range(4):
        s = s + _min(z)
        z[i] = s * a
    return s + tot(z)


def _swap(x, y):
    t = x.copy()
    x[:] = y
    y[:] = t * 2.0


def a_callee_swaps_two_arrays(a, b, x, y, m):
    z = sin(y)
    w = exp(x)
    _swap(z, w)
    _swap(w, z)
    return tot(z*w) + tot(z)


def _land(y, x, c):
    w = y
    if c > 0:
        w = x
    w[0] = c
    return tot(w)


def an_argument_lands_in_another_class(a, b, x, y, m):
    z = sin(y)
    w = sin(x)
    s = _land(z, w, a)
    return s + tot(z*w)


def _inner(v, a):
    v[0] = a
    return v[1]


def _outer(v, a):
    s = _inner(v, a)
    v[1] = s * v[0]
    return s * a


def callees_of_callees_store(a, b, x, y, m):
    z = sin(y)
    s = _outer(z[1:], a)
    return s * tot(z*z)


def a_load_before_a_call_that_stores(a, b, x, y, m):
    z = sin(y)
    s = _over(z) + tot(z)
    z[0] += _over(z)
    return s + tot(z*x)


def a_parameter_is_handed_on(a, b, x, y, m):
    s = _outer(x, a)
    return s + tot(x*y)


def stores_in_branches(a, b, x, y, m):
    z = sin(x)
    c = z[1]
    z[1] = c*a
    if z[1] > 0:
        z = z * b
        z[0] = a
    else:
        w = z[2:]
        w[0] = z[1]*b
    return tot(z*z)


def columns_and_strides(a, b, x, y, m):
    z = np.zeros((2,3))
    z[:, 1:] = m
    z[0] = a
    z[1, ::2] += np.array([1.0, 2.0])*b
    return tot(z*z)


def rows_at_repeated_places(a, b, x, y, m):
    z = sin(m)
    idx = np.array([1,0,1])
    z[idx] = np.stack([x[:2], y[:2], x[2:]])
    z[idx, [0,1,0]] *= a
    return tot(z*m)


def an_array_of_places_that_changes(a, b, x, y, m):
    z = np.zeros(4)
    k = np.array([3,1,2,0])
    for i in range(3):
        z[k[i]] = x[k[i]]*a
        k[i] = 0
    k[0] = 3
    return tot(z*y)+z[k[0]]


def views_by_split(a, b, x, y, m):
    z = sin(x)
    p, q = np.split(z, 2)
    p[0] = a*q[1]
    q[:] = p*b
    return tot(z*y)


def a_loop_with_an_else(a, b, x, y, m):
    z = sin(x)
    for i in range(3):
        if y[i] < 0:
            z = z*a
            continue
        w = z[i:]
        w[0] = w[1]*b
        if w[0] > 2.0:
            break
    else:
        z[3] = a
    return tot(z*z)


def elimination(a, b, x, y, m):
    A = sin(m) + 2*np.eye(2)
    n = 2
    for k in range(n):
        for i in range(k+1, n):
            A[i,k] = A[i,k]/A[k,k]
            A[i,k+1:] -= A[i,k]*A[k,k+1:]
    return tot(A*A)


def diffusion(a, b, x, y, m):
    u = np.sin(x)
    for t in range(3):
        u[1:-1] = u[1:-1] + a*(u[2:] - 2*u[1:-1] + u[:-2])
    return tot(u*u)


def a_test_that_reads_what_changes(a, b, x, y, m):
    s = 0.0
    z = sin(x)
    while z[0] < 2.0:
        z[0] = z[0] + 0.7 + a*a
        z[1] = z[1]*z[0]
        s = s + z[1]
    return s*z[0]


def a_view_of_a_reshaped_transpose(a, b, x, y, m):
    z = np.empty(4)
    z[...] = x
    v = z.reshape(2,2).T
    v[0] = y[:2]
    return tot(z*y)


def an_augmented_parameter(a, b, x, y, m):
    x += y
    x *= a
    return tot(x*x)


def an_augmented_alias(a, b, x, y, m):
    z = x
    z += y
    return tot(x*z)


def a_number_beside_an_array(a, b, x, y, m):
    z = np.where(x>0, x, y)
    z[z<0.4] = 0.0
    z[1] = b
    return z, z[1]*a


def masks_and_their_complements(a, b, x, y, m):
    mask = x > 0
    z = sin(x)
    z[mask] = y[mask]*a
    z[~mask] += b
    return tot(z*z)


def swapped_references(a, b, x, y, m):
    q = np.zeros(4)
    q[0] = a
    r = q
    for i in range(3):
        r, q = q, r*b
        r[i+1] = q[i] + x[i]
    return tot(q*r)


def a_store_in_a_with_block(a, b, x, y, m):
    with np.errstate(divide='ignore'):
        z = sin(x)
        z[0] = a/z[1]
    return tot(z*z)


def swapped_elements(a, b, x, y, m):
    z = sin(x)
    z[0], z[1] = z[1], z[0]
    z[2], t = a*z[0], z[2]
    return tot(z*y)*t


def stores_between_returns(a, b, x, y, m):
    z = sin(x)
    if z[0] > 5:
        return a
    z[0] = b
    if z[1] < 0:
        z[2] = z[0]*a
        return tot(z)
    z[3] = a
    return tot(z*z)


def a_name_rebound_to_its_views(a, b, x, y, m):
    z = sin(x)
    z = z[1:]
    z[0] = a
    z = z[::-1]
    z[0] = z[2]*b
    return tot(z*z)


def arrays_in_a_list(a, b, x, y, m):
    L = [sin(x), y*a]
    L[0][1] = b
    L.append(L[0]*L[1])
    z = L[2]
    z[0] = a
    return tot(L[2]*L[0])


def numbers_in_a_list(a, b, x, y, m):
    L = [a, b, 2.0]
    L[1] = L[0]*L[1]
    L.append(L[1]*sin(L[0]))
    s = 0.0
    for v in L:
        s = s + v*v
    L[0] = 5.0
    return s*L[3]


def a_stack_of_a_list_that_changes(a, b, x, y, m):
    L = []
    z = sin(x)
    for i in range(3):
        L.append(z)
        z = z*a
        z[i] = b
    s = np.stack(L)
    L[0][0] = a*a
    L.pop()
    L.append(y)
    q = np.stack(L)
    return tot(s*q)


def a_tuple_of_an_array_and_a_number(a, b, x, y, m):
    t = (sin(x), a)
    u, c = t
    u[0] = c*b
    return tot(t[0])*t[1]


def arrays_swapped_in_a_list(a, b, x, y, m):
    L = [x*a, y*b]
    M = L
    for v in M:
        v[0] = v[1]*a
    L[0], L[1] = L[1], L[0]
    L[0] += 1.0
    return tot(L[0]*L[0]) + M[1][0]


def a_table_of_results(a, b, x, y, m):
    memo = {}
    memo[0] = a
    memo[1] = b
    for k in range(2, 6):
        memo[k] = sin(memo[k-1])*memo[k-2] + x[0]
    return memo[5]


def _push(L, v):
    L.append(v)
    L[0][1] = v[0]*L[0][0]


def a_callee_appends(a, b, x, y, m):
    L = [sin(x)]
    _push(L, y*a)
    _push(L, L[1])
    return tot(L[2]*L[0])


def a_list_copied_and_joined(a, b, x, y, m):
    L = [sin(x), y*a]
    L2 = list(L)
    L.pop(0)
    L2[0][0] = a
    K = L2 + L
    K[2][1] = b
    return tot(K[0]*K[1]*K[2])


def a_stack_of_numbers(a, b, x, y, m):
    S = [a]
    while len(S) < 5:
        S.append(S[-1]*b + x[0])
    s = 0.0
    while S:
        s = s*a + S.pop()
    return s


def a_starred_target(a, b, x, y, m):
    z = sin(x)
    p, q, *r = z
    z[0] = q*a
    return tot(z)*p + r[1]


def a_local_function_stores(a, b, x, y, m):
    z = sin(x)
    def put(i, v):
        z[i] = v * z[i]
    for i in range(3):
        put(i, a*y[i])
    return tot(z*z)


def complex_memory(a, b, x, y, m):
    z = np.zeros(4, dtype=complex)
    z[0] = a
    z[1] = a*1j*b
    z[2:] = x[:2]*(1+2j)
    w = z*z
    w[1] += 2.0
    return tot(w.real) + tot(abs(w)**2)


def rows_filled_from_rows(a, b, x, y, m):
    buf = np.zeros((3,4))
    for i in range(3):
        row = buf[i]
        row[:] = x*a if i == 0 else buf[i-1]*y
        row[i] = b
    return tot(buf*buf)


def a_bubble_sort_with_exits(a, b, x, y, m):
    z = sin(x)
    s = 0.0
    for i in range(4):
        for j in range(i):
            if z[j] > z[i]:
                t = z[i]
                z[i] = z[j]
                z[j] = t
                continue
            z[j] += a*0.1
        s += z[i]*i
        if s > 3.0:
            break
    return s*tot(z*y)


def views_of_views(a, b, x, y, m):
    z = x.copy()
    w = z[1:3]
    u = w[::-1]
    z[2] = a
    u[1] = u[0]*b
    z = z + w[0]
    w[0] = 7.0
    return tot(z*z)*tot(w)*u[1]


def _newton(f, v, n):
    for _ in range(n):
        v[0] = v[0] - f(v[0])*0.1
    return v[0]


def a_function_given_to_a_callee_that_stores(a, b, x, y, m):
    z = sin(x)
    r = _newton(lambda t: t*t-a, z, 4)
    return r*z[0] + z[1]


def an_element_read_three_times(a, b, x, y, m):
    z = sin(x)
    e = z[0]
    z[0] = e*e
    f = z[0]
    z[0] = f*a
    return e*f*z[0]


def results_written_into_out(a, b, x, y, m):
    out = np.empty(4)
    np.multiply(x, a, out=out)
    out[1:] = np.cumsum(out[:-1])
    np.add(out, y, out=out)
    return tot(out*out)


def an_endless_loop_that_stores(a, b, x, y, m):
    z = sin(x)
    k = 0
    while True:
        z[k] = z[k]*a
        k += 1
        if k == 3:
            break
        if z[k] < 0:
            continue
        z[k] = z[k]+z[k-1]
    return tot(z*z)


def a_parameter_or_a_copy(a, b, x, y, m):
    if a > 0:
        z = x
    else:
        z = y.copy()
    z[0] = b*z[1]
    return tot(z*x)


def two_results_that_are_stored_into(a, b, x, y, m):
    q, r = np.linalg.qr(m + 2*np.eye(2))
    q[0] = a
    r[0,1] = q[1,1]*b
    return tot(q@r)


def augmented_names(a, b, x, y, m):
    z = sin(x)
    s = tot(z**3)
    z /= s
    z *= z
    return tot(z*y)


def _half(v, k):
    if k == 0:
        return v
    v[0] = v[0]*0.5
    w = _half(v[1:], k-1)
    w[0] += v[0]
    return w


def recursion_over_views(a, b, x, y, m):
    z = x*a
    w = _half(z, 2)
    w[1] = b
    return tot(z*z)


def a_history_of_copies(a, b, x, y, m):
    hist = []
    z = sin(x)
    for i in range(3):
        z[i] = z[i+1]*a
        hist.append(z.copy())
    H = np.array(hist)
    H[1] = y
    return tot(H*H) + hist[2][0]


def a_state_in_a_dict(a, b, x, y, m):
    st = {'p': x*a, 'v': y*b}
    for t in range(3):
        st['p'] = st['p'] + 0.1*st['v']
        st['v'][0] -= 0.1*st['p'][0]
    return tot(st['p']*st['v'])


def a_real_part_that_is_stored_into(a, b, x, y, m):
    z = np.zeros(4, dtype=complex)
    z[0] = a
    z[1:] = x[1:]*(1+2j)
    r = z.real
    z[2] = b
    r[1] = a*b
    return tot(r*r) + tot(abs(z)**2)
