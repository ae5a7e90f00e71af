"""The codes E04xx: objects, containers and loops."""

from __future__ import annotations

from srcgrad.refusals.entry import Entry

ENTRIES = (
    Entry(
        "E0401",
        "a loop over what gives its items in a way of its own",
        "Loops go over arrays, ranges, lists, tuples, dicts, sets, generators and what zip, enumerate, map and "
        "their like make of them, and objects whose __iter__ is a generator or gives an iterator of these. An object "
        "that is its own iterator, or that a library made, is not followed.",
        """
class Doubled:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return self

    def __next__(self):
        if not self.items:
            raise StopIteration
        return 2.0 * self.items.pop(0)


def f(x):
    total = 1.0
    for item in Doubled([x, x * x]):
        total = total * item
    return total
""",
        """
def doubled(items):
    for item in items:
        yield 2.0 * item


def f(x):
    total = 1.0
    for item in doubled([x, x * x]):
        total = total * item
    return total
""",
    ),
    Entry(
        "E0402",
        "a container that changes its length while it is looped over",
        "Which items such a loop sees depends on when the container changes. Loop over a copy of it, or write a "
        "while loop.",
        """
def f(x):
    items = {"a": x}
    total = 0.0
    for name in items:
        total += items[name]
        items["b"] = x * x
    return total
""",
        """
def f(x):
    items = {"a": x}
    total = 0.0
    for name in list(items):
        total += items[name]
        items["b"] = x * x
    return total
""",
    ),
    Entry(
        "E0403",
        "an iterator, or another object of a moment, that is kept",
        "An iterator gives other items each time it is asked. One under a name is followed where a loop or "
        "next() asks it; one in a container, or that may be one of several, is not.",
        """
def f(x):
    held = [iter([x, x * x])]
    return next(held[0]) * next(held[0])
""",
        """
def f(x):
    items = iter([x, x * x])
    return next(items) * next(items)
""",
    ),
    Entry(
        "E0404",
        "a view of a dict that is kept",
        "d.keys(), d.values() and d.items() show what the dict holds at any later time. A view under a name is "
        "made again where it is read; one that is put away, or given to what may change the dict, is not.",
        """
def f(x):
    d = {"a": x}
    held = [d.values()]
    d["b"] = x * x
    return sum(held[0])
""",
        """
def f(x):
    d = {"a": x}
    d["b"] = x * x
    return sum(d.values())
""",
    ),
    Entry(
        "E0405",
        "a method of a container or array that is not followed",
        "The method does something to its container, or with what it is given, that no derivative is written "
        "for.",
        """
from collections import OrderedDict


def f(x):
    d = OrderedDict(a=x, b=2.0)
    d.move_to_end("a")
    total = 0.0
    for value in d.values():
        total = total * x + value
    return total
""",
        """
def f(x):
    d = {"a": x, "b": 2.0}
    d["a"] = d.pop("a")
    total = 0.0
    for value in d.values():
        total = total * x + value
    return total
""",
        at="0.5",
    ),
    Entry(
        "E0406",
        "a container that is made of, or filled from, something else than a container",
        "What a list, dict or deque is made of has to be a container or an array, so that its items are known.",
        """
def f(x):
    options = {}
    if x[0] > 9.0:
        options["tensor"] = False
    return np.sum(np.polynomial.polynomial.polyval(0.5, x, **options))
""",
        """
def f(x):
    if x[0] > 9.0:
        return np.sum(np.polynomial.polynomial.polyval(0.5, x, tensor=False))
    return np.sum(np.polynomial.polynomial.polyval(0.5, x))
""",
        at="np.array([0.5, 1.5])",
    ),
    Entry(
        "E0407",
        "an operation on a set that is not followed",
        "A set holds what tells its items apart, numbers, texts, tuples of them, or objects of yours that equal "
        "themselves alone. One that says by __eq__ what it equals would be read from the set later without a "
        "derivative, and so would what is in a set that was made outside.",
        """
class Node:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other.value

    def __hash__(self):
        return 1


def f(x):
    nodes = {Node(x), Node(2.0 * x)}
    return sum(node.value for node in nodes)
""",
        """
class Node:
    def __init__(self, value):
        self.value = value


def f(x):
    nodes = {Node(x), Node(2.0 * x)}
    return sum(node.value for node in nodes)
""",
    ),
    Entry(
        "E0408",
        "an object that is made in a way that is not followed",
        "Objects are made by __init__, by a dataclass or by a named tuple. What a metaclass, __new__ or a class "
        "of a library makes is not known.",
        """
class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)


class Model(metaclass=Meta):
    def __init__(self, scale):
        self.scale = scale


def f(x):
    return Model(x).scale * x
""",
        """
class Model:
    def __init__(self, scale):
        self.scale = scale


def f(x):
    return Model(x).scale * x
""",
    ),
    Entry(
        "E0410",
        "a class that decides itself what its attributes or items are",
        "__getattr__, __getattribute__, __setattr__, descriptors and their like run code wherever a field is "
        "read or stored to.",
        """
class Model:
    def __init__(self, scale):
        self.fields = {"scale": scale}

    def __getattr__(self, name):
        return self.fields[name]


def f(x):
    return Model(x).scale * x
""",
        """
class Model:
    def __init__(self, scale):
        self.fields = {"scale": scale}

    def field(self, name):
        return self.fields[name]


def f(x):
    return Model(x).field("scale") * x
""",
    ),
    Entry(
        "E0412",
        "a missing key of a defaultdict, of which it is not known what it makes",
        "What a defaultdict makes of a missing key has to be known where the key is read: where the dict is "
        "made, or in the function that reads.",
        """
from collections import defaultdict


def f(d):
    return d["b"] * d["a"]
""",
        """
from collections import defaultdict


def f(d):
    return d.get("b", 0.0) * d["a"]
""",
        at='defaultdict(float, {"a": 1.5})',
    ),
    Entry(
        "E0413",
        "an operator of objects or containers that is not followed",
        "What an operator of objects does is decided by their methods; where these may be several, or decline, "
        "or where one operand may be a container and the other an array, it is not known which.",
        """
class Amount:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        if isinstance(other, Amount):
            return Amount(self.value + other.value)
        return NotImplemented if other > 9.0 else self.value


def f(x):
    return (Amount(x) + x) * x
""",
        """
class Amount:
    def __init__(self, value):
        self.value = value

    def plus(self, other):
        return self.value + other


def f(x):
    return Amount(x).plus(x) * x
""",
    ),
    Entry(
        "E0414",
        "StopIteration that may leave a generator",
        "Python ends the loop, or raises RuntimeError, where StopIteration leaves what a generator or map() "
        "runs. Written as a loop it would do something else.",
        """
def f(x):
    items = iter([x])

    def step(k):
        return next(items) * k

    return sum(map(step, [1.0, 2.0]))
""",
        """
def f(x):
    items = [x, 2.0 * x]

    def step(k):
        return items[int(k) - 1] * k

    return sum(map(step, [1.0, 2.0]))
""",
    ),
    Entry(
        "E0415",
        "an order by comparisons that are not followed",
        "Sorting and extrema call the comparisons of what they are given, as often as they like. Those of "
        "objects that store something, and of tuples with names, are not followed.",
        """
class Node:
    asked = 0

    def __init__(self, value):
        self.value = value
        self.asked = 0

    def __lt__(self, other):
        self.asked = self.asked + 1
        return self.value < other.value


def f(x):
    nodes = sorted([Node(x), Node(x * x)])
    return nodes[0].value * x
""",
        """
class Node:
    def __init__(self, value):
        self.value = value


def f(x):
    nodes = sorted([Node(x), Node(x * x)], key=lambda node: node.value)
    return nodes[0].value * x
""",
    ),
    Entry(
        "E0416",
        "a method that is kept as a value",
        "A method that is kept goes with its object, which may change before it is called. It is followed where "
        "one method of one class is kept.",
        """
import scipy.stats


def f(x):
    total = 0.0
    for distribution in [scipy.stats.norm, scipy.stats.expon]:
        act = distribution.logpdf
        total += act(x)
    return total
""",
        """
import scipy.stats


def f(x):
    return scipy.stats.norm.logpdf(x) + scipy.stats.expon.logpdf(x)
""",
    ),
    Entry(
        "E0417",
        "a field that may not exist",
        "__init__ gives the object this field in some cases only. Give it a value in every case.",
        """
class Model:
    def __init__(self, scale, k):
        if k:
            self.scale = scale


def f(x, k=1):
    return Model(x, k).scale * x
""",
        """
class Model:
    def __init__(self, scale, k):
        self.scale = scale if k else 0.0


def f(x, k=1):
    return Model(x, k).scale * x
""",
    ),
    Entry(
        "E0418",
        "a dict where numbers or items are expected",
        "A loop over a dict gives its keys, which have no derivative, and NumPy makes an array of objects of "
        "one.",
        """
def f(x):
    params = {"weight": x, "bias": 2.0 * x}
    weight, bias = params
    return len(weight) * x
""",
        """
def f(x):
    params = {"weight": x, "bias": 2.0 * x}
    weight, bias = params.values()
    return weight * bias
""",
        at="0.5",
    ),
    Entry(
        "E0420",
        "an index of np.r_ or np.c_ that is not known",
        "np.r_ and np.c_ take numbers, arrays and slices between brackets; which of them each part is has to be "
        "seen there.",
        """
def f(x):
    parts = (x, 2.0 * x)
    return np.sum(np.r_[parts] ** 2)
""",
        """
def f(x):
    return np.sum(np.r_[x, 2.0 * x] ** 2)
""",
        at="np.array([0.5, 1.5])",
    ),
)
