"""Sets of objects that equal themselves alone: made, gone over, combined and changed; what they hold has derivatives.

No result depends on the order of a set, which in Python is that of addresses.
"""

import copy

import numpy as np

from tests.directed.program import directed

#: Of few bits: sums are exact, in whatever order Python goes over a set.
X = np.array([0.5, 1.25, 0.75])


class Node:
    def __init__(self, v, near=()):
        self.v = v
        self.near = set(near)


@directed(X)
def one_object_twice(x):
    a = Node(x[0])
    b = Node(x[1] * x[2], (a, a))
    held = {a, b, a}
    total = 0.0
    for node in held:
        total = total + node.v**2
    return total * len(held) + len(b.near)


@directed(X)
def a_store_into_what_is_taken_out(x):
    a, b = Node(x[0]), Node(x[1])
    for node in {a, b}:
        node.v = node.v * node.v * x[2]
    return a.v + 3.0 * b.v


@directed(X)
def objects_in_two_sets(x):
    a, b = Node(x[0]), Node(x[1])
    one, both = {a}, {a, b}
    for node in one:
        node.v = node.v + x[2]
    for node in both:
        node.v = node.v * 2.0
    return sum(node.v**2 for node in both) + sum(node.v for node in one)


@directed(X)
def operators_of_sets_of_objects(x):
    a, b, c = Node(x[0]), Node(x[1]), Node(x[2])
    one, other = {a, b}, {b, c}
    total = 0.0
    for node in one | other:
        total = total + node.v**2
    for node in one & other:
        total = total + 3.0 * node.v**3
    for node in one - other:
        total = total + 5.0 * node.v**2
    for node in one ^ other:
        total = total + 7.0 * node.v**3
    return total * len(one | other) * (2.0 if one <= {b, a} and {a} < one and one != other else 1.0)


@directed(X)
def operators_in_place_change_the_set(x):
    a, b, c = Node(x[0]), Node(x[1]), Node(x[2])
    one = {a, b}
    same = one
    one &= {b, c}
    same ^= {c, a}
    one |= {b}
    one -= one & {c}
    return sum(node.v**2 for node in same) * len(one)


@directed(X)
def copies_of_sets(x):
    a, b = Node(x[0]), Node(x[1])
    held = {a, b}
    one, other, third = held.copy(), set(held), copy.copy(held)
    one.discard(a)
    other.add(Node(x[2]))
    third.remove(b)
    counted = 10.0 * len(one) + len(other) + len(third) + len(held)
    return counted * sum(n.v**2 for n in one) + sum(n.v**3 for n in other) + sum(n.v for n in third)


@directed(X)
def sets_in_objects_of_a_set(x):
    a = Node(x[0])
    b = Node(x[1], (a,))
    c = Node(x[2], {a, b})
    return sum(far.v * node.v for node in {a, b, c} for far in node.near)


@directed(X)
def a_set_that_is_empty_at_first(x):
    a, b, seen = Node(x[0]), Node(x[1]), set()
    seen.add(a)
    seen.update([b, a])
    held = set() if x[2] > 100.0 else {a}
    product = 1.0
    for node in seen:
        product = product * node.v
    for node in held:
        product = product * node.v
    return product * x[2] if b in seen and b not in held and seen else product


@directed(X)
def a_comprehension_with_stars_and_places(x):
    nodes = [Node(v) for v in x]
    chosen = {node for node in nodes if node.v > -100.0}
    (only,) = {nodes[0]}
    every = {*chosen, *nodes, only}
    first = sorted(every, key=lambda node: node.v)[0]
    return sum(node.v**2 for node in every) * len(list(every)) + first.v**3 + {only}.pop().v


@directed(X)
def places_by_identity(x):
    nodes = [Node(v) for v in x]
    place = {id(node): i for i, node in enumerate(nodes)}
    held = {}
    for node in nodes:
        held[id(node)] = node
    return sum(node.v ** (place[key] + 2) for key, node in held.items()) * (2.0 if id(nodes[1]) in held else 1.0)


@directed(X)
def comprehensions_of_what_is_made_there(x):
    held = {Node(v * w) for v in x[:2] for w in (2.0,)}  # of two, whose order rounds nothing
    named = {"a": Node(x[0]), "b": Node(x[1])}
    some = {node for _, node in named.items()}
    return sum(node.v**2 for node in held) * len({node for node in some}) + sum(node.v for node in {*some})


class Tree:
    def __init__(self, v, depth):
        self.v = v
        self.kids = {Tree(v * 0.5, depth - 1), Tree(v * v, depth - 1)} if depth else set()

    def total(self):
        return self.v + sum(kid.total() for kid in self.kids)

    def depth(self):
        return 1 + max((kid.depth() for kid in self.kids), default=0)


@directed(0.75, order=1)
def a_tree_adds_up_its_kids(x):
    tree = Tree(x, 3)
    return tree.total() * tree.depth()


class Sum:
    def __init__(self, *terms):
        self.terms = terms

    def value(self):
        return sum(term.value() for term in self.terms)


class Product(Sum):
    def value(self):
        result = 1.0
        for term in self.terms:
            result = result * term.value()
        return result


class Leaf:
    def __init__(self, v):
        self.v = v

    def value(self):
        return self.v


@directed(X)
def expressions_are_asked_by_sums(x):
    return Sum(Leaf(x[0]), Product(Leaf(x[1]), Sum(Leaf(2.0), Leaf(x[2]))), Leaf(x[1])).value()


def folded(items):
    return sum(folded(item) if isinstance(item, list) else item**2 for item in items)


@directed(X)
def lists_in_lists(x):
    return folded([x[0], [x[1] * 2.0, [x[2] * x[0]]], 3.0])
