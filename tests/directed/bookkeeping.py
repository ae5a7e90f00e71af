"""Sets that hold nothing that varies: what has been seen, what is free, what is known by name."""

from __future__ import annotations

from collections import defaultdict, deque

import numpy as np

from tests.directed.program import directed

POINT = np.array([1.1, 0.6, 2.2, 0.7])


@directed(POINT)
def seen_in_a_search(x):
    graph = {0: [1, 2], 1: [3], 2: [3, 0], 3: []}
    seen = set()
    queue = deque([0])
    total = 0.0
    while queue:
        i = queue.popleft()
        if i in seen:
            continue
        seen.add(i)
        total = total * x[i] + x[i] * x[i] * len(seen)
        for j in graph[i]:
            queue.append(j)
    return total


def follows(seen, x, i):
    return x[i] * x[i] if i in seen else np.sin(x[i])


@directed(POINT)
def asked_in_a_callee_and_changed_after(x):
    seen = {0}
    total = 1.0
    for i in range(4):
        total = total * follows(seen, x, i)
        seen.add(i + 2)
        seen.discard(i)
        total = total + follows(seen, x, i) ** 2
    return total


@directed(POINT)
def asked_before_and_after_a_change(x):
    free = {0, 1, 2, 3}
    total = 0.0
    for i in range(6):
        k = i % 4
        if k in free:
            total = total + x[k] ** 2
        free.remove(k) if k in free else free.add(k)
        total = total * x[k] if k in free else total * np.cos(x[k])
    return total


@directed(POINT)
def what_is_free(x):
    free = set(range(4))
    total = 0.0
    for i in range(3):
        free.discard(i)
        for j in sorted(free):
            total = total + x[i] * x[j]
        weight = len(free)
        total = total * weight * np.sin(x[i])
    return total


@directed(POINT)
def emptied_by_a_while(x):
    left = {3, 1, 2, 0}
    total = 1.0
    while left:
        i = left.pop()
        total = total * (x[i] + len(left))
        if i == 1 and 2 in left:
            left.remove(2)
    return total


@directed(POINT)
def two_names_for_one_set(x):
    seen = set()
    same = seen
    total = 0.0
    for i in (0, 1, 0, 2):
        if i in seen:
            total = total * x[i]
        else:
            total = total + x[i] ** 2
        same.add(i)
        seen |= {i + 1}
    other = seen
    other -= {0, 1}
    return total * len(same)


@directed(POINT)
def a_union_is_another_set(x):
    seen = {0}
    before = seen
    total = 0.0
    for i in range(3):
        seen = seen | {i + 1}
        before.add(i + 5)
        total = total + x[i] * len(seen) * len(before) if i in before else total * x[i]
    return total + x[3] * len(before)


@directed(POINT)
def operators_of_sets(x):
    a, b = {0, 1, 2}, {1, 2, 3}
    total = 0.0
    for i in sorted(a & b):
        total = total + x[i] ** 2
    for i in a - b:
        total = total * x[i]
    for k, i in enumerate(a ^ b):
        total = total + (k + 1) * x[i] * total
    if a.issubset({0, 1, 2, 3}) and not a.isdisjoint(b) and a & b <= b:
        total = total * len(a.union(b, [7])) * x[1]
    return total * len(a.intersection([2, 5]))


@directed(POINT)
def a_set_comprehension(x):
    places = {i % 3 for i in range(7) if i != 4}
    ends = frozenset(2 * i for i in places)
    return sum(x[i] ** 2 for i in places) * len(ends) + max(places) * x[3] * x[min(ends)]


class Walk:
    def __init__(self, weights):
        self.weights = weights
        self.seen = set()

    def visit(self, i):
        if i in self.seen or i > 3:
            return 0.0
        self.seen.add(i)
        return self.weights[i] * self.weights[0] + 0.5 * self.visit(i + 1) * self.visit(2 * i)


@directed(POINT)
def a_set_in_a_field(x):
    walk = Walk(x * x)
    first = walk.visit(1)
    second = walk.visit(2)
    walk.weights = walk.weights * np.sin(x)
    return first * len(walk.seen) + second + walk.visit(0) ** 2


class Groups:
    def __init__(self, weights):
        self.weights = weights
        self.members = defaultdict(set)

    def score(self, k):
        total = 0.0
        for i in sorted(self.members[k]):
            total = total + self.weights[i] ** 2 * len(self.members[k])
        return total


@directed(POINT)
def sets_in_a_dict_in_a_field(x):
    groups = Groups(np.sin(x))
    for i in range(4):
        groups.members[i % 2].add(i)
    first = groups.score(0)
    groups.members[0].discard(2)
    return first * groups.score(1) + groups.score(0)


@directed(POINT)
def sets_in_a_dict(x):
    graph = defaultdict(set)
    for i in range(4):
        graph[i % 2].add(i)
        graph[i].add((i + 1) % 4)
    total = 0.0
    for i in range(4):
        for j in sorted(graph[i]):
            total = total + x[i] * x[j] ** 2
        graph[3].update(graph[i])
        total = total * len(graph[3])
    return total


@directed(POINT)
def sets_put_in_by_setdefault(x):
    groups = {}
    for i in range(4):
        groups.setdefault(i % 3, set()).add(i)
    total = 1.0
    for key, members in groups.items():
        for i in members:
            total = total * x[i] + key
    return total


@directed(POINT, {0, 2})
def an_argument_is_changed(x, seen):
    total = 0.0
    for i in range(4):
        if i in seen:
            total = total + x[i] ** 2
            seen.remove(i)
        else:
            total = total * x[i]
            seen.add(i)
    return total * len(seen)


def mark(seen, i):
    new = i not in seen
    seen.add(i)
    return new


@directed(POINT)
def a_callee_adds(x):
    seen = set()
    total = 0.0
    for i in (0, 1, 1, 3, 0):
        if mark(seen, i):
            total = total + x[i] ** 2
        elif mark(seen, i + 1):
            total = total * x[i]
    return total * len(seen)


@directed(POINT)
def a_local_function_adds(x):
    seen = set()

    def depth(i):
        if i > 3 or i in seen:
            return 0.0
        seen.add(i)
        return x[i] + x[i] * depth(i + 1) + depth(2 * i + 1) * len(seen)

    return depth(0) * depth(2) + depth(1) + x[0] * len(seen)


@directed(POINT)
def caught_in_between(x):
    free = {0, 1, 2}
    total = 1.0
    for i in (0, 2, 2, 1, 3):
        try:
            free.remove(i)
            total = total * x[i]
        except KeyError:
            free.add(3)
            total = total + x[i] ** 2
    return total * len(free)


@directed(POINT)
def names_and_pairs(x):
    known = {"a": 0, "b": 1, "c": 2}
    used = set()
    edges = {(0, 1), (1, 2)}
    total = 0.0
    for name in ("a", "c", "a", "b"):
        i = known[name]
        if name not in used and (i, i + 1) in edges:
            used.add(name)
            edges.discard((i, i + 1))
            edges.add((i + 1, i))
            total = total + x[i] * x[i + 1]
        else:
            total = total * x[i]
    return total * len(edges - {(0, 1)})


def fresh_set(i, seen=None):
    if seen is None:
        seen = set()
    seen.add(i)
    return seen


@directed(POINT)
def a_set_made_by_a_callee(x):
    one = fresh_set(0)
    two = fresh_set(1, one)
    three = fresh_set(2)
    two.add(3)
    return sum(x[i] ** 2 for i in one) * len(three) + x[2] * len(one)


@directed(POINT)
def left_when_seen_again(x):
    seen = set()
    total = x[3]
    i = 0
    while True:
        if i in seen:
            return total * len(seen)
        seen.add(i)
        total = total * x[i] + 1.0
        i = (3 * i + 1) % 4


@directed(POINT)
def stored_by_places_from_sets(x):
    y = x * x
    done = set()
    for i in (2, 0, 2, 1):
        if i in done:
            y[i] *= y[3]
        else:
            y[i] = y[i] * np.sin(y[(i + 1) % 4])
            done.add(i)
        y[list(done)] += x[len(done)]
    return np.sum(y * y)
