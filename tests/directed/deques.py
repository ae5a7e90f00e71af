"""Deques as arguments, as results, and made inside: windows, queues, rotations."""

import functools
from collections import deque

import numpy as np

from tests.directed.program import directed


@directed(np.array([1.0,2.0,3.0,4.0,5.0]))
def deque_moving_average(x):
    window = deque(maxlen=3)
    total = 0.0
    for v in x:
        window.append(v*v)
        total += sum(window)/len(window)*v
    return total


@directed(np.array([1.0,2.0,3.0,4.0,5.0]))
def deque_queue_loop(x):
    q = deque([x[0], x[1]])
    s = 0.0
    n = 0
    while q:
        v = q.popleft()
        s += v*v*x[2]
        if n < 3:
            q.append(v*x[3])
            q.appendleft(v+x[4])
        n += 1
        if n > 8:
            break
    return s


@directed(deque([1.0,2.0,3.0]))
def deque_as_argument(q):
    t = 0.0
    for i in range(len(q)):
        t += q[i]*q[i-1]*(i+1)
    return t


@directed(deque([1.0,2.0,3.0]), 2.0)
def deque_argument_changed(q, k):
    q.append(q[0]*k)
    a = q.popleft()
    q.rotate(1)
    return q[0]*q[1]*a + q[2]**2


@directed(deque([np.array([1.0,2.0]),np.array([3.0,4.0])], maxlen=2))
def deque_arrays_in_argument(q):
    q[0][1] = q[1][0]**2
    q.append(q[0]*q[1])
    return np.sum(q[0]*q[1])


@directed(np.array([1.0,2.0,3.0]))
def deque_returned(x):
    q = deque(maxlen=2)
    for v in x:
        q.append(v*v)
    return q


@directed(np.array([1.0,2.0,3.0]))
def deque_rotations(x):
    q = deque([x[0], x[1]*2, x[2]])
    q.rotate(1)
    q.rotate(-2)
    q.rotate()
    q.extend([x[0]*x[1]])
    q.extendleft([x[2]**2, x[0]])
    a = q.pop()
    return q[0]*q[1]+a*q[-1]+q[2]**3


@directed(np.array([1.0,2.0,3.0]))
def deque_iterated(x):
    q = deque(x)
    s = 0.0
    for i, v in enumerate(q):
        s += (i+1)*v*v
    for v in reversed(q):
        s = s*v
    return s + max(q)*min(q)


@directed(deque([1.0,2.0,3.0]))
def deque_arg_iterated(q):
    return sum(v*v for v in q) + sum(q)*q[0] + max(q)


@directed(deque([1.0,2.0,3.0]))
def deque_arg_to_array(q):
    x = np.array(q)
    y = list(q)
    z = tuple(q)
    return np.sum(x*x)*y[0]+z[1]


@directed(deque([1.0,2.0,3.0]))
def deque_arg_returned(q):
    q.append(5.0*q[0])
    return q


@directed([deque([1.0,2.0]), deque([3.0])])
def deque_nested_arg(qs):
    qs[0].append(qs[1].pop())
    return qs[0][2]*qs[0][1]


@directed({"a": deque([1.0,2.0], maxlen=2)}, 3.0)
def deque_in_dict(d, k):
    d["a"].append(k*d["a"][0])
    return d["a"][0]*d["a"][1]


def push(q, v):
    q.append(v*v)
    return q[0]


@directed(deque([1.0,2.0], maxlen=3), 3.0)
def deque_callee(q, k):
    s = 0.0
    for i in range(3):
        s += push(q, k)*q[-1]
        q[0] *= 2.0
    return s


@directed(np.array([1.0,2.0,3.0]))
def deque_copied(x):
    q = deque([x[0]*1.0, x[1], x[2]])
    r = q.copy()
    r[0] = x[2]**2
    s = deque(q, maxlen=2)
    s.append(x[0]*x[1])
    return q[0]*r[0]*s[1] + len(s) + s[0]


@directed(np.array([1.0,2.0,3.0]))
def deque_unpacked(x):
    q = deque([x[0]*1.0, x[1], x[2]])
    a, b, c = q
    q.reverse()
    q.insert(1, x[0]**2)
    del q[0]
    q[0] += a
    q.clear()
    q.append(b)
    return a*b*c + q[0] + (x[0] in q) + q.count(3.0)


@directed(deque([1.0, 2.0, 3.0]))
def deque_with_while(q):
    s = 1.0
    while len(q) > 1:
        s *= q.popleft() + q[0]
    return s


@directed((deque([np.array([1.0,2.0])]), 2.0))
def deque_tuple_arg(t):
    q, k = t
    q.append(q[0]*k)
    q[0][0] = 7.0
    return np.sum(q[0]*q[1])


@directed(np.array([1.0,2.0,3.0]))
def deque_comprehension(x):
    q = deque(v*v for v in x)
    r = deque([v*2 for v in q], 2)
    return sum(a*b for a, b in zip(q, r))


@directed(np.array([1.0,2.0,3.0]))
def deque_fixed(x):
    q = deque([0.0]*3, maxlen=3)
    for v in x:
        q.append(v * q[0] + v)
    return q[0]*q[1]*q[2]


@directed(np.array([1.0,2.0,3.0]))
def deque_stacked(x):
    q = deque(maxlen=2)
    for i in range(4):
        q.append(x*x[i % 3])
        q[0][0] = 2.0*x[1]
    return np.sum(np.stack(q)) + np.sum(np.array(q)[0]**2)


@directed(np.array([1.0,2.0,3.0]))
def deque_generators(x):
    items = [x[0]]
    items.extend(v*v for v in x)
    q = deque((v*v for v in items), maxlen=3)
    q.extendleft(v*2.0 for v in x[:1])
    d = dict((i, v*v) for i, v in enumerate(q))
    return functools.reduce(lambda a, b: a*b, (v + 1.0 for v in q), 2.0) + d[1]
