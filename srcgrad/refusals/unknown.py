"""The codes E02xx: values and calls that are not known."""

from __future__ import annotations

from srcgrad.refusals.entry import Entry

ENTRIES = (
    Entry(
        "E0201",
        "a call of which it is not known what it runs",
        "What is called is known only when the program runs, or is an object that tells nothing of what it "
        "does.",
        """
import operator

choose = operator.attrgetter("imag")


def f(x):
    return choose(x * x) * x
""",
        """
def f(x):
    return (x * x).imag * x
""",
    ),
    Entry(
        "E0202",
        "an operation of which it is not known what it runs",
        "What this operation is given may be anything, so that it may run any code.",
        """
class Meta(type):
    @property
    def scale(cls):
        return 2.0


class Model(metaclass=Meta):
    pass


def f(x):
    return Model.scale * x
""",
        """
class Model:
    scale = 2.0


def f(x):
    return Model.scale * x
""",
    ),
    Entry(
        "E0203",
        "an object whose class is not known when this is compiled",
        "The text of a derivative is compiled ahead of time for numbers, arrays and containers. An attribute "
        "that no array has belongs to an object of a class, and which class is known only where the derivative "
        "is called.",
        """
class Model:
    def __init__(self, scale):
        self.scale = scale


def f(model):
    return model.scale * model.scale
""",
        """
class Model:
    def __init__(self, scale):
        self.scale = scale


def f(x):
    model = Model(x)
    return model.scale * model.scale
""",
        at="0.5",
        by="grad",
        asked="srcgrad.grad(f).source",
    ),
    Entry(
        "E0205",
        "a function that is given to a function of a library",
        "A function of a library that calls what it is given runs it in compiled code, where no statement of it "
        "is seen.",
        """
def f(x):
    return np.sum(np.apply_over_axes(np.max, x, [0]))
""",
        """
def f(x):
    return np.sum(np.max(x, axis=0, keepdims=True))
""",
        at="np.array([0.5, 1.5])",
    ),
    Entry(
        "E0206",
        "a call whose arguments are spread by stars",
        "How many arguments * and ** pass has to be known where it decides which parameters get them.",
        """
def f(x):
    parts = [x, 2.0] if x > 0.0 else [x]
    return np.maximum(*parts, *parts[:1]) * x
""",
        """
def f(x):
    return np.maximum(x, 2.0) * x
""",
        at="0.5",
    ),
    Entry(
        "E0207",
        "a call that does not fit the function",
        "The function takes no such arguments: Python would raise TypeError here.",
        """
def scaled(x, by):
    return by * x


def f(x):
    return scaled(x, 2.0, 3.0)
""",
        """
def scaled(x, by):
    return by * x


def f(x):
    return scaled(x, 2.0)
""",
        at="0.5",
    ),
    Entry(
        "E0208",
        "a program that is too long, too deep or too large to be worked out",
        "The analysis of a program has a budget, so that refusing takes no longer than compiling.",
        """
class Unit:
    def __init__(self, weight):
        self.weight = weight


units = [Unit(0.1 * k) for k in range(30_000)]


def f(x):
    return x * sum(unit.weight for unit in units)
""",
        """
weights = 0.1 * np.arange(30_000)


def f(x):
    return x * np.sum(weights)
""",
    ),
    Entry(
        "E0209",
        "an object whose class decides what operators mean",
        "Masked arrays, matrices, data frames, tensors of other libraries and their like compute in a way of "
        "their own, which the rules for arrays do not describe.",
        """
weights = np.ma.masked_array([1.0, 2.0], mask=[False, True])


def f(x):
    return np.sum(weights * x)
""",
        """
weights = np.array([1.0, 2.0])
mask = np.array([False, True])


def f(x):
    return np.sum(np.where(mask, 0.0, weights * x))
""",
        at="np.array([0.5, 1.5])",
    ),
    Entry(
        "E0210",
        "an object that does not tell what it holds",
        "Objects of compiled classes hold what no statement shows, so that it is not known what they share with "
        "others.",
        """
import io


def f(x, log):
    held = [log]
    return x * len(held[0].getvalue())
""",
        """
def f(x, log):
    return x * len(log)
""",
        at='0.5, io.StringIO("abc")',
        instead_at='0.5, "abc"',
    ),
    Entry(
        "E0211",
        "a local function that is returned, compared, copied, or handed to what is not known",
        "A local function is kept as its text and what it captured, which mean something inside of the program "
        "only. It may be kept in lists, dicts and fields, given to functions with source, and called.",
        """
def f(x):
    return lambda y: x * y
""",
        """
def f(x):
    scaled = lambda y: x * y
    return scaled(2.0)
""",
    ),
    Entry(
        "E0212",
        "a cached function that is made inside, or is given more than numbers and texts",
        "functools.cache returns what was computed for equal arguments before, with whatever derivative it had "
        "then; of arrays and objects it is not known whether they still hold what they held.",
        """
from functools import lru_cache


def f(x):
    @lru_cache
    def power(n):
        return x**n

    return power(2) + power(3)
""",
        """
def f(x):
    def power(n):
        return x**n

    return power(2) + power(3)
""",
    ),
    Entry(
        "E0213",
        "a derivative inside of a program that cannot be differentiated again",
        "The derivative that is asked for inside runs its function more than once; one that draws random "
        "numbers draws others each time.",
        """
def f(x):
    value, pullback = srcgrad.vjp(lambda y: y * np.random.rand(), x)
    return pullback(1.0)[0] * x
""",
        """
def f(x):
    noise = np.random.default_rng(1).random()
    value, pullback = srcgrad.vjp(lambda y: y * noise, x)
    return pullback(1.0)[0] * x
""",
        at="0.5",
    ),
    Entry(
        "E0214",
        "methods of objects that run where no call is written",
        "len(), str(), in, sorting and their like call methods of the objects they are given. Where such a "
        "method is not written out as a call, what it stores would be lost.",
        """
class Box:
    def __init__(self, value):
        self.value = value
        self.asked = 0

    def __eq__(self, other):
        self.asked += 1
        return self.value == other


def f(x):
    box = Box(x)
    found = 1.0 if 2.0 in [box] else 2.0
    return box.value * found * box.asked
""",
        """
class Box:
    def __init__(self, value):
        self.value = value
        self.asked = 0

    def is_equal(self, other):
        self.asked += 1
        return self.value == other


def f(x):
    box = Box(x)
    found = 1.0 if box.is_equal(2.0) else 2.0
    return box.value * found * box.asked
""",
    ),
    Entry(
        "E0215",
        "a function whose text cannot be found",
        "srcgrad reads the text of the function it differentiates. What is compiled from a string, typed after "
        "python -c or written in C has none.",
        """
f = eval("lambda x: x * x")
""",
        """
def f(x):
    return x * x
""",
    ),
)
