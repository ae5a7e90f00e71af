"""Columns of rows, tuples of what is iterated over, dicts that are walked while they change."""

from collections import deque

import numpy as np

from tests.directed.program import directed


@directed([[1.0,2.0],[3.0,4.0],[0.5,0.7]])
def columns_in_a_loop(rows):
    total = 0.0
    for a, b, c in zip(*rows):
        total += a*b - c*c
    return total


@directed([[1.0,2.0],[3.0,4.0],[0.5,0.7]])
def sums_of_columns(rows):
    return sum(s*s for s in [sum(c) for c in zip(*rows)])


@directed([[1.0,2.0],[3.0,4.0],[0.5,0.7]])
def columns_as_a_list(rows):
    t = list(zip(*rows))
    return t[0][1]*t[1][2]+t[1][0]


@directed([(1.0,2.0),(3.0,4.0),(0.5,0.7)])
def columns_unpacked(pairs):
    a, b = zip(*pairs)
    return sum(a)*sum(b) + a[0]*b[1]


@directed(np.array([[1.0,2.0],[3.0,4.0],[0.5,0.7]]))
def columns_of_a_matrix(x):
    t = 0.0
    for col in zip(*x):
        t += col[0]*col[2]
    return t


@directed(np.array([[1.0,2.0],[3.0,4.0],[0.5,0.7]]))
def columns_of_a_matrix_unpacked(x):
    a, b = zip(*x)
    return np.sum(np.array(a)*np.array(b))


@directed([np.array([1.0,2.0]),np.array([3.0,4.0])])
def columns_of_arrays_counted(rows):
    t = 0.0
    for i, (a, b) in enumerate(zip(*rows)):
        t += (i+1)*a*b
    return t


@directed(np.array([1.0,2.0,3.0]))
def a_dict_of_two_rows(x):
    rows = [["a","b","c"], x*x]
    d = dict(zip(*rows))
    return d["a"]*d["c"]


@directed([np.array([1.0,2.0]),np.array([3.0,4.0])], 2.0)
def columns_of_rows_that_are_stored_into(rows, k):
    rows[0][1] = k*rows[1][0]
    t = 0.0
    for a, b in zip(*rows):
        t += a*b
    rows[1][:] = 0.0
    return t


@directed([(1.0,2.0),(3.0,4.0),(0.5,0.7)])
def columns_of_sorted_pairs(pairs):
    xs, ys = map(list, zip(*sorted(pairs)))
    return xs[0]*ys[1]+ys[2]


@directed([(1.0,2.0),(3.0,4.0),(0.5,0.7)], 2.0)
def columns_of_tuples(pairs, k):
    t = 0.0
    for a, b, c in zip(*pairs, ):
        t += a*b*c*k
    return t


@directed([[1.0,2.0],[3.0,4.0]], [5.0, 6.0])
def rows_and_one_more(rows, w):
    t = 0.0
    for a, b, c in zip(*rows, w):
        t += a*b*c
    return t


@directed(np.array([1.0,2.0,3.0]))
def columns_of_pairs_that_were_appended(x):
    pairs = []
    for v in x:
        pairs.append((v*v, np.sin(v)))
    a, b = zip(*pairs)
    return sum(p*q for p, q in zip(a, b))


@directed(np.array([1.0,2.0,3.0]))
def columns_of_pairs_of_arrays(x):
    pairs = [(v*x, np.sin(v)*x) for v in x]
    a, b = zip(*pairs)
    return np.sum(np.array(a)*np.stack(b))


@directed([[1.0,2.0],[3.0,4.0],[0.5,0.7]])
def columns_as_lists_stored_into(rows):
    cols = [list(c) for c in zip(*rows)]
    cols[0][1] = cols[0][1]*cols[1][0]
    return sum(sum(c) for c in cols) * cols[0][1]


@directed([[1.0,2.0],[3.0,4.0],[0.5,0.7]])
def a_table_is_turned(rows):
    m = [list(r)[::-1] for r in zip(*rows)]
    return m[0][0]*m[1][2]


@directed(2.0)
def columns_of_no_rows(x):
    rows = []
    t = x
    for c in zip(*rows):
        t = t * 2.0
    return t


@directed([[1.0,2.0,9.0],[3.0,4.0]])
def columns_of_rows_of_two_lengths(rows):
    return sum(a*b for a, b in zip(*rows))


@directed([[1.0,2.0,9.0],[3.0,4.0,2.0]])
def a_function_of_columns(rows):
    return sum(map(lambda c: c[0]*c[1], zip(*rows)))


@directed([[1.0,2.0,9.0],[3.0,4.0,2.0]])
def a_function_of_several_rows(rows):
    return max(map(lambda a, b: a*b, *rows))


@directed([1.0,2.0])
def tuple_of_list(rows):
    t = tuple(rows)
    return t[0]*t[1]


@directed([1.0,2.0])
def tuple_of_generator(rows):
    t = tuple(v*v for v in rows)
    return t[0]*t[1]


@directed(np.array([1.0,2.0]))
def tuple_of_array(rows):
    t = tuple(rows)
    return t[0]*t[1]


@directed(np.array([1.0,2.0]))
def tuple_of_map(rows):
    t = tuple(map(np.sin, rows))
    return t[0]*t[1], t


@directed(np.array([1.0,2.0]))
def tuple_of_tuple(rows):
    t = tuple((rows[0], rows*2))
    t[1][0] = 7.0*rows[1]
    return t[0]*t[1][0]


@directed(np.array([1.0,2.0]))
def tuple_of_stored(x):
    rows = [x*1.0, x*x]
    t = tuple(rows)
    rows[0][1] = x[0]**2
    rows[1] = 5.0
    return t[0][1]*np.sum(t[1])


@directed([np.array([1.0,2.0]),np.array([1.0,2.0])])
def tuple_of_matrix(x):
    t = tuple(r*r for r in x)
    u = t + (x[0],)
    return sum(map(np.sum, u))


@directed(np.array([1.0, 2.0, 3.0]))
def the_greatest_and_the_least_of_a_deque(x):
    queue = deque(x)
    return max(queue) * min(queue)
