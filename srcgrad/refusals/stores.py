"""The codes E03xx: stores and memory."""

from __future__ import annotations

from srcgrad.refusals.entry import Entry

ENTRIES = (
    Entry(
        "E0301",
        "a store into an object whose class is not known when this is compiled",
        "A store into a field, or an item, of an object goes by its class, which is not known ahead of time.",
        """
def f(model):
    model.scale = 2.0
    return model.scale
""",
        """
class Model:
    def __init__(self, scale):
        self.scale = scale


def f(x):
    model = Model(x)
    model.scale = 2.0 * model.scale
    return model.scale
""",
        at="0.5",
        asked="srcgrad.grad(f).source",
    ),
    Entry(
        "E0302",
        "a call that stores into an array",
        "Functions that store into one of their arguments are differentiated where it is known which array that "
        "is, as statements of their own.",
        """
def f(x):
    y = np.ones(3)
    np.multiply.at(y, [0, 0, 1], x)
    return np.sum(y)
""",
        """
def f(x):
    y = np.ones(3)
    for i, e in zip([0, 0, 1], x):
        y[i] = y[i] * e
    return np.sum(y)
""",
        at="np.array([0.5, 1.5, 2.0])",
    ),
    Entry(
        "E0303",
        "an augmented assignment that other names may see",
        "x += e changes an array in place, so that every name of it sees the change; of a number it binds the "
        "name again. Where it is not known which of the two happens, the derivative would be that of another "
        "program.",
        """
def f(x):
    y = x.values()
    items = {"list": [1.0, 2.0]}
    items["list"] *= 2
    return sum(y) * items["list"][3]
""",
        """
def f(x):
    y = x.values()
    items = {"list": [1.0, 2.0] * 2}
    return sum(y) * items["list"][3]
""",
        at='{"a": 0.5}',
    ),
    Entry(
        "E0304",
        "a store that cannot be reversed",
        "What is stored into may be an array or a list, or is looped over at the same time. The derivative "
        "looks at it when it runs, which cannot be differentiated again.",
        """
def f(x):
    first, *rest = x * 2.0
    rest[0] *= first
    return rest[0] * x[2]
""",
        """
def f(x):
    first, second, third = x * 2.0
    return first * second * x[2]
""",
        at="np.array([0.5, 1.5, 2.0])",
        by="hessian",
        asked="srcgrad.jacobian(srcgrad.grad(f))(np.array([0.5, 1.5, 2.0]))",
    ),
    Entry(
        "E0305",
        "a store into what belongs to a differentiated method or function",
        "A method that is differentiated by its arguments takes its object as it is; a store into that object "
        "would change it for the caller, and be lost to the derivative.",
        """
class Model:
    def __init__(self):
        self.total = np.zeros(2)

    def add(self, x):
        self.total += x
        return np.sum(self.total * x)


f = Model().add
""",
        """
class Model:
    def __init__(self):
        self.total = np.zeros(2)

    def added(self, x):
        return np.sum((self.total + x) * x)


f = Model().added
""",
        at="np.array([0.5, 1.5])",
    ),
    Entry(
        "E0306",
        "a shape that is set in place",
        "x.shape = ... changes the array for every name of it. Where nothing else holds the array, it is a new "
        "binding of the name; else it cannot be followed.",
        """
def f(x):
    y = np.sin(x)
    kept = [y]
    y.shape = (2, 1)
    return np.sum(kept[0] * y)
""",
        """
def f(x):
    y = np.sin(x)
    kept = [y]
    y = y.reshape(2, 1)
    return np.sum(kept[0] * y)
""",
        at="np.array([0.5, 1.5])",
    ),
    Entry(
        "E0307",
        "what a class holds for all of its objects, and is changed",
        "An array or a list that is an attribute of the class is one for every object: a store into it would be "
        "seen by all of them, and outlive the call.",
        """
class Model:
    total = np.zeros(2)

    def add(self, x):
        self.total += x
        return np.sum(self.total * x)


def f(x):
    return Model().add(x)
""",
        """
class Model:
    def __init__(self):
        self.total = np.zeros(2)

    def add(self, x):
        self.total += x
        return np.sum(self.total * x)


def f(x):
    return Model().add(x)
""",
        at="np.array([0.5, 1.5])",
    ),
    Entry(
        "E0308",
        "a store into a global, or into what a function captured",
        "What lies outside of the function would be changed by each run of the derivative.",
        """
state = np.zeros(2)


def f(x):
    state[0] = x
    return state[0] * x
""",
        """
def f(x):
    state = np.zeros(2)
    state[0] = x
    return state[0] * x
""",
    ),
    Entry(
        "E0311",
        "an assignment in place that cannot be reversed",
        "An operator in place changes a list for every name of it and makes another tuple; a del takes an item "
        "away. It has to be known which container that is.",
        """
def f(x):
    items = [x, x * x]
    held = [items]
    items *= 2
    return held[0][3] * x
""",
        """
def f(x):
    items = [x, x * x]
    held = [items]
    items.extend([x, x * x])
    return held[0][3] * x
""",
    ),
)
