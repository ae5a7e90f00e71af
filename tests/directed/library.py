"""Pieces of the standard library and NumPy's iterators: copies, heaps, sorted lists, elements with their indices."""

import bisect
import copy
import heapq
import itertools
import math
import statistics
from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np

from tests.directed.program import directed

X = np.array([0.3, 1.5, 0.7, -0.2])
A = np.array([[0.3, 1.2, -0.5], [0.9, 0.4, 2.0]])
T = namedtuple("T", "a b")
L = [0.52, 1.5, 0.25]


def f1(v, k=2.0):
    return v**k if v > 0.5 else k * v


def f3(a, b, c):
    return a * b + c


def relu(v):
    return v if v > 0 else 0


gf = np.vectorize(relu, otypes=[float])
gs = np.vectorize(math.sin)


@dataclass
class P:
    x: float
    y: float


@dataclass(frozen=True)
class F:
    v: np.ndarray
    k: float = 2.0


@dataclass
class N:
    items: list = field(default_factory=list)
    sub: P = None


@directed(X)
def history_of_copies(x):
    state = {"p": x*1.0, "t": 0.0}
    h = []
    for i in range(3):
        h.append(copy.deepcopy(state))
        state["p"][i] = state["p"][i+1]**2
        state["t"] += 0.5*state["p"][0]
    return sum(np.sum(s["p"]**2)*s["t"] for s in h) + state["t"]

@directed(A)
def copies_of_views(a):
    b = copy.deepcopy(a[:, ::2]); c = copy.deepcopy(a.T)
    b[0] = c[1]
    c *= 2.0
    return np.sum(b*a[:, 1:]) + np.sum(c**2)

@directed(A)
def shallow_copy_shares_rows(a):
    rows = [a[0]*1.0, a[1]*2.0]
    other = copy.copy(rows)
    other[0][1] = rows[1][0]**2
    other[1] = a[0]
    return np.sum(rows[0]*other[1]) + np.sum(rows[1])*other[0][1]

@directed(F(X.copy()))
def deep_copy_of_frozen(f):
    g = copy.deepcopy(f); g.v[0] = f.k*f.v[1]; return np.sum(g.v*f.v)*g.k

@directed(T(X.copy(), 0.5))
def deep_copy_of_named_tuple(s):
    t = copy.deepcopy(s); t.a[1] = s.b**2; return np.sum(s.a*t.a)*s.b*t.b

@directed([P(0.5, 1.5), P(0.25, 2.0)])
def deep_copy_of_objects_in_list(ps):
    qs = copy.deepcopy(ps)
    for q in qs: q.x *= q.y
    return sum(p.x*q.x + q.y for p, q in zip(ps, qs))

@directed(X)
def deep_copy_keeps_aliases_of_objects(x):
    p = P(x[0], x[1]); n = N([p, p], p); m = copy.deepcopy(n)
    m.items[0].x = x[2]**2
    return m.sub.x*n.sub.x + m.items[1].x*p.y

@directed(X)
def deep_copy_keeps_aliases_of_arrays(x):
    a = x*2.0; n = N([a], P(a, a)); m = copy.deepcopy(n)
    m.items[0][0] = x[2]**2
    m.sub.y[1] *= x[0]
    return np.sum(m.sub.x*n.sub.x) + np.sum(m.items[0]**2*a)

@directed(X)
def copies_of_tuples(x):
    t = (x*1.0, [x[0]]); u = copy.deepcopy(t); v = copy.copy(t)
    u[0][0] = x[1]**2; v[1][0] = x[2]**3
    return np.sum(t[0]*u[0])*u[1][0]*t[1][0]

@directed({"w":A.copy(),"b":X[:2].copy()}, X[:3].copy())
def deep_copy_of_parameters(p, x):
    q = copy.deepcopy(p)
    q["w"] *= 2.0
    q["w"][0] = x
    return np.sum((p["w"]@x + q["b"])*(q["w"]@x))

@directed(A)
def ndenumerate_with_stores(a):
    y = np.zeros_like(a)
    for idx, v in np.ndenumerate(a):
        y[idx] = v*v
    return np.sum(y*a)

@directed(A)
def ndenumerate_reads_as_it_goes(a):
    y = a*1.0
    s = 0.0
    for idx, v in np.ndenumerate(y):
        y[1, 2] = v*v
        s += v*idx[1]
    return s + np.sum(y**2)

@directed(A)
def ndindex_in_a_loop(a):
    s = 0.0
    for i, j in np.ndindex(a.shape):
        s += a[i, j]*a[i-1, j]*(i+1)
    return s

@directed(X)
def least_of_nothing(x):
    xs = [v for v in x if v > 0.5]
    return max(xs, default=0.0)**2 + min([v for v in x if v > 9.0], default=x[1])

@directed(X)
def heap_of_plain_entries(x):
    h = [(2, 0), (1, 1)]
    heapq.heapify(h)
    s = 0.0
    heapq.heappush(h, (0, 2))
    w = 1.0
    while h:
        d, i = heapq.heappop(h)
        s += w*x[i]**2; w *= 2.0
    return s

@directed(X)
def heap_of_numbers(x):
    h = []
    for v in x: heapq.heappush(h, v*v)
    a = heapq.heappop(h); b = heapq.heappop(h)
    return a*b*b

@directed(X)
def largest_and_smallest(x):
    return sum(heapq.nlargest(2, x))**2 + heapq.nsmallest(1, list(x))[0]

@directed(X)
def sorted_insertion(x):
    l = []
    for v in x: bisect.insort(l, v)
    return l[0]*l[1]**2

@directed(X)
def fromkeys_shares_its_value(x):
    d = dict.fromkeys("ab", x*2.0)
    d["a"][0] = x[1]**2
    return np.sum(d["b"]*x)


@directed(X)
def next_of_several_iterators(x):
    return 2.0*next(v for v in x if v > 0.5)*next(iter(x)) + next(zip(x, x[1:]))[1]**2


@directed(X)
def next_of_nothing_raises(x):
    try:
        v = next(v for v in x if v > 50)
    except StopIteration:
        v = x[0]**2
    return v*x[1]


@directed(X)
def next_reads_no_further(x):
    xs = [x[0], x[1], 0.0*x[2]]
    return next(1.0/v for v in xs if 1.0/v > 0)


@directed(X)
def next_in_a_loop(x):
    s = 0.0
    for i in range(3):
        j = next((j for j in range(i+1, 4) if x[j] < x[i]), i)
        s += x[i]*x[j]**2
    return s


@directed(X)
def generator_after_a_star(x): return f3(*(v*v for v in x[:3]))


@directed(X)
def hypot_of_any_number(x): return math.hypot(*[v*v for v in x])*math.hypot(*x)


@directed(X)
def vectorized_to_floats(x): return np.sum(np.vectorize(relu, otypes=[float])(-x)*x)


@directed(X)
def vectorized_outside(x): return np.sum(gf(-x)*x) + np.sum(gs(x)*x)


@directed(X)
def vectorized_to_integers(x): return np.sum(np.vectorize(relu)(-x)*x)


@directed(X, A)
def vectorized_of_several(x, a):
    return np.sum(np.vectorize(f1)(a[:, :1], x[1:]) * np.vectorize(lambda p, q, r: p * q + r)(a, 2.0, x[:3]))


@directed(X, 0.4)
def vectorized_closure(x, k):
    def g(v):
        return v*k if v > 0.5 else v**2
    h = np.vectorize(g)
    return np.sum(h(x))*h(k)


@directed(X, 0.4)
def vectorized_asks_a_first_call_for_the_dtype(x, k):
    """Once wrong in silence: NumPy calls the function once more than there are elements."""
    seen = []
    def g(v):
        seen.append(v)
        return v*k
    s = np.sum(np.vectorize(g)(x))*len(seen) + sum(seen)
    return s + np.sum(np.vectorize(g, otypes=[float])(x))*len(seen) + sum(seen)


@directed(A)
def along_axis_with_arguments(a): return np.sum(np.apply_along_axis(lambda r, k: r*k[0], 0, a, a[:, 0]))


@directed(A)
def along_axis_of_rows(a): return np.sum(np.apply_along_axis(lambda r: r[::-1]*r, 0, a)*a)


@directed(A)
def along_axis_in_place(a):
    b = a*1.0
    def g(r):
        r[0] = r[1]**2
        return np.sum(r)
    s = np.sum(np.apply_along_axis(g, 1, b))
    return s + np.sum(b**2)


@directed(A)
def along_axis_of_matrices(a): return np.sum(np.apply_along_axis(lambda r: np.outer(r, r), 1, a)[..., 0]*a)


@directed(X, 0.4, without={"eager": "a number would lose its derivative"})
def piecewise_of_functions(x, k):
    def low(v): return v*k
    y = np.piecewise(x, [x < 0.0, x > 0.5], [low, lambda v: v**2*np.sum(v), np.exp])
    return np.sum(y*x)


@directed(X, 0.4, without={"eager": "piecewise"})
def piecewise_with_numbers_and_arguments(x, k):
    y = np.piecewise(x, [x < 0.5, x > 1.0], [-1.0, lambda v, p: v**2*p, lambda v, p: np.sin(v*p)], k)
    return np.sum(y*x) + np.piecewise(k, [k > 0.2], [np.square, 0.0])*k


@directed(X, without={"eager": "piecewise"})
def piecewise_of_many(x):
    fs = [lambda v, n=n: v**n for n in range(6)]
    return np.sum(np.piecewise(x, [x < 0.1*n for n in range(6)], fs)*x)


@directed(X, without={"eager": "piecewise"})
def piecewise_in_place(x):
    y = x*1.0
    def low(v):
        v[0] = v[0]**2
        y[0] = v[0]*3.0
        return v
    return np.sum(np.piecewise(y, [y < 5.0], [low, 0.0])*x) + np.sum(y**2)


@directed(X)
def from_function_of_places(x):
    return np.sum(np.fromfunction(lambda i, j: x[0]*i + x[1]*j**2, (2, 3)))*np.prod(np.fromfunction(
        lambda i: x[i]*1.5, (2,), dtype=int))


@directed(X, without={"eager": "converted to a float"})
def means_of_iterators(x):
    return statistics.fmean(map(math.sin, x)) * statistics.stdev(v*v for v in x) + statistics.mean(iter(x))


@directed(X, without={"eager": "geometric_mean|data point|float"})
def geometric_and_harmonic_means(x):
    y = x**2 + 0.1
    return statistics.geometric_mean(y) * statistics.harmonic_mean(list(y)) + statistics.harmonic_mean(
        [y[0], y[1]], weights=[1.0, y[2]])


@directed(X)
def takewhile_reads_as_it_goes(x):
    y = x*1.0; s = 0.0
    for v in itertools.takewhile(lambda v: v > 0.0, y):
        y[2] = v*v+0.3
        if v > 1.4: continue
        s += v*v
    else:
        s += x[0]
    return s + np.sum(y**2)


@directed(X)
def dropwhile_reads_as_it_goes(x):
    y = x*1.0; s = 0.0
    for v in itertools.dropwhile(lambda v: v < 1.0, y):
        y[3] = v*v
        s += v*v
    return s


@directed(X)
def compress_reads_as_it_goes(x):
    y = x*1.0; s = 0.0
    for v in itertools.compress(y, [1, 0, 1, 1]):
        y[2] = v*v+1.0
        s += v**3
    return s


@directed(X, L)
def zip_longest_reads_as_it_goes(x, l):
    y = x*1.0; s = 0.0
    for a, b in itertools.zip_longest(y, l, fillvalue=x[0]):
        y[3] = a*b
        s += a*b*b
    return s


@directed(X, L)
def zip_longest_of_none(x, l):
    s = 0.0
    for a, b in itertools.zip_longest(l, x):
        s += b*b if a is None else a*b
    return s


@directed(X)
def iterators_consumed(x):
    a = list(itertools.takewhile(lambda v: v > 0, x)); b = list(itertools.dropwhile(lambda v: v < 1.0, x))
    c = max(itertools.filterfalse(lambda v: v > 1.0, x)); d = sum(itertools.compress(x, x > 0.5))
    return a[0]*b[0]*c**2*d*sum(itertools.takewhile(lambda v: v > 0, x))


@directed(X)
def permutations_of_values(x):
    s = 0.0
    for i, (a, b, c) in enumerate(itertools.permutations(x, 3)): s += i*a*b**2*c**3
    for i, (a, b) in enumerate(itertools.combinations_with_replacement(x, 2)): s += i*a*b**2
    for i, (a,) in enumerate(itertools.permutations(x, 1)): s += i*a
    return s


@directed(X)
def islice_of_a_name_bound_again(x):
    y = x*1.0; s = 0.0
    for a in itertools.islice(y, 3):
        y = y*2.0
        s += a*a
    return s + np.sum(y)


@directed(X)
def pairwise_of_a_name_bound_again(x):
    y = x*1.0; s = 0.0
    for a, b in itertools.pairwise(y):
        y = y*2.0
        s += a*a*b
    return s + np.sum(y)


@directed(X)
def zip_longest_of_a_name_bound_again(x):
    y = x*1.0; s = 0.0
    for a, b in itertools.zip_longest(y, x):
        y = y*2.0
        s += a*a*b
    return s + np.sum(y)


@directed([0.3, 0.9, 1.5])
def spread_of_values(xs):
    return statistics.fmean([math.sin(v) for v in xs]) * statistics.stdev(xs) + xs[0] / statistics.pvariance(xs)


@directed(np.array([0.6, 1.1, 1.7]))
def extremes_of_pairs(x):
    """An ``IndexError`` in the adjoint once: tuples were chosen as numbers are, by a product with a truth value."""
    low, high = (9.0, 0), (-9.0, 0)
    for k, v in enumerate(x):
        low, high = min(low, (v, k)), max((v * v * np.sin(v), k), high)
    return low[0] * high[0] * x[high[1]] + max((x[0], 2), (x[1], x[2]), (x[2], 0))[0]


@directed(np.array([0.6, 1.1, 1.7]))
def the_least_of_tuples_by_their_names(x):
    """Once an exception in the adjoint."""
    best = (x[0] * x[0], 0)
    for i in range(1, 3):
        candidate = (x[i] * x[0], i)
        best = min(best, candidate)
    return best[0] * x[best[1]]


@directed(np.array([0.7, 1.3, 0.4, 2.1, 0.9]))
def shortest_paths_by_a_heap(x):
    """Once refused: what is put into ``seen`` seemed to vary.  Nothing is read from it, and so nothing is lost."""
    length = x**2 + 0.2
    roads = {0: [(1, 0), (2, 1)], 1: [(3, 2)], 2: [(3, 3), (1, 4)], 3: []}
    heap = [(0.0, 0)]
    seen = set()
    far = {}
    while heap:
        cost, place = heapq.heappop(heap)
        if place in seen:
            continue
        seen.add(place)
        far[place] = cost
        for to, road in roads[place]:
            if to not in seen:
                heapq.heappush(heap, (cost + length[road], to))
    return far[3] * far[1] * len(seen)
