"""The codes E01xx: syntax and the language."""

from __future__ import annotations

from srcgrad.refusals.entry import Entry

ENTRIES = (
    Entry(
        "E0101",
        "asynchronous code",
        "An event loop decides when the parts of an asynchronous function run, so the order of a sweep back is "
        "not known when it is compiled.",
        """
async def f(x):
    return x * x
""",
        """
def f(x):
    return x * x
""",
    ),
    Entry(
        "E0102",
        "a generator is differentiated",
        "A function with yield gives its items one by one, to whoever asks; a derivative needs one result. "
        "Generators may be called inside of what is differentiated.",
        """
def f(x):
    yield x * x
""",
        """
def f(x):
    return x * x
""",
    ),
    Entry(
        "E0103",
        "a generator expression that is kept",
        "A generator expression computes its items where they are asked for, which may be anywhere. It is "
        "differentiated where loops and functions ask for them that are given it itself, or a name of it.",
        """
def f(x):
    both = [(x**n for n in range(3)), (n * x for n in range(3))]
    return sum(sum(each) for each in both)
""",
        """
def f(x):
    both = [[x**n for n in range(3)], [n * x for n in range(3)]]
    return sum(sum(each) for each in both)
""",
    ),
    Entry(
        "E0104",
        "a handler of groups of exceptions",
        "`except*` runs several handlers for one exception. Which of them ran is not kept for the sweep back.",
        """
def f(x):
    try:
        return 1.0 / x
    except* ZeroDivisionError:
        y = x
    return y
""",
        """
def f(x):
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return x
""",
    ),
    Entry(
        "E0105",
        "syntax that is not compiled",
        "Parameters of types, statements that make names for types, and a few forms in places where their parts "
        "cannot be taken apart mean nothing for a derivative, or are not compiled.",
        """
def f(x):
    def twice[T](y: T) -> T:
        return 2.0 * y

    return twice(x)
""",
        """
def f(x):
    def twice(y):
        return 2.0 * y

    return twice(x)
""",
        since=(3, 12),
    ),
    Entry(
        "E0106",
        "a class that each call creates again",
        "A class statement inside of a function makes another class in each call. It is compiled as one class where "
        "that cannot be told: its statement, which stands in no loop, defines methods and constants, its bases and "
        "decorators are known, and what its methods read of the function is bound before the class, and never again. "
        "Its objects do not leave the function that is differentiated, what is stored goes into objects, and where "
        "they leave the function inside that defines it, nothing asks for their class.",
        """
def f(x):
    class Scaled:
        factor = x

    return Scaled.factor * x
""",
        """
class Scaled:
    def __init__(self, factor):
        self.factor = factor


def f(x):
    return Scaled(x).factor * x
""",
    ),
    Entry(
        "E0107",
        "an import that cannot be done when the function is compiled",
        "Imports inside of a function are done once, when it is compiled. One that fails, is relative, or binds "
        "a name that is bound elsewhere too cannot be.",
        """
def f(x):
    import a_module_that_is_nowhere

    return a_module_that_is_nowhere.scale * x
""",
        """
import math


def f(x):
    return math.pi * x
""",
    ),
    Entry(
        "E0108",
        "a store into a variable of somebody else",
        "A derivative runs the function forwards and backwards, and may run it again; a global, or a variable "
        "of an enclosing function, would be stored to more than once.",
        """
total = 0.0


def f(x):
    global total
    total = x * x
    return total
""",
        """
def f(x):
    total = x * x
    return total
""",
    ),
    Entry(
        "E0109",
        "names or fields that are reached in ways that cannot be followed",
        "locals(), exec, frames, vars(o) that is kept or stored into, setattr with a name that varies and their like "
        "reach variables and objects past every statement that a compiler can read.",
        """
def f(x):
    y = 2.0 * x
    return locals()["y"] * x
""",
        """
def f(x):
    y = 2.0 * x
    return y * x
""",
    ),
    Entry(
        "E0110",
        "super() of a class that is not known",
        "super() goes by the class of the object. Where that is not known when the function is compiled, "
        "neither is the method.",
        """
class Base:
    def energy(self, x):
        return x * x


class Model(Base):
    def energy(self, x):
        return 2.0 * super().energy(x)


f = Model.energy
""",
        """
class Base:
    def energy(self, x):
        return x * x


class Model(Base):
    def energy(self, x):
        return 2.0 * Base.energy(self, x)


f = Model().energy
""",
        asked="srcgrad.grad(f).source",
    ),
    Entry(
        "E0111",
        "an operation in try of which it is not known what it leaves behind",
        "In a try the derivative keeps which statement raised. An assignment in place, or a store of which a "
        "part may be done before it raises, leaves an array half changed.",
        """
def f(x):
    parts = (x * 1.0, x * 2.0)
    try:
        parts[0] += x
    except TypeError:
        return np.sum(parts[0] * parts[1])
    return np.sum(x)
""",
        """
def f(x):
    parts = [x * 1.0, x * 2.0]
    try:
        parts[0] = parts[0] + x
    except TypeError:
        return np.sum(x)
    return np.sum(parts[0] * parts[1])
""",
        at="np.ones(3)",
    ),
    Entry(
        "E0112",
        "a handler or a raise whose exceptions are not known",
        "Which classes a handler catches has to be known when the function is compiled, and what a bare raise "
        "raises.",
        """
def kinds():
    return (ZeroDivisionError,)


def f(x):
    try:
        return 1.0 / x
    except kinds():
        return x
""",
        """
def f(x):
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return x
""",
    ),
    Entry(
        "E0113",
        "a context manager that is not followed",
        "What a context manager of a library does with values that vary, or with exceptions, is not known. "
        "np.errstate, and managers with source that change nothing that varies, are followed.",
        """
import contextlib

kept = []


@contextlib.contextmanager
def noted(value):
    kept.append(value)
    yield value


def f(x):
    with noted(x) as y:
        return y * y
""",
        """
def f(x):
    with np.errstate(all="ignore"):
        return x * x
""",
    ),
    Entry(
        "E0114",
        "a variable that may have no value",
        "A variable that is deleted, or bound in some cases only, and read where it may have no value.",
        """
def f(x):
    try:
        y = act(lambda: late)
    except NameError:
        y = 3.0 * x
    late = x
    return y * late


def act(function):
    return function()
""",
        """
def f(x):
    late = x
    y = act(lambda: late)
    return y * late


def act(function):
    return function()
""",
    ),
    Entry(
        "E0115",
        "a name that means nothing",
        "The name is no local variable, global or built-in function where the derivative is made.",
        """
def f(x):
    return x * scale
""",
        """
scale = 3.0


def f(x):
    return x * scale
""",
    ),
    Entry(
        "E0116",
        "a pattern that is not compiled",
        "Of a match statement it has to be known which keys a mapping has, where the rest of them is asked for.",
        """
def f(x):
    match x:
        case {"scale": scale, **rest}:
            return scale * len(rest)
    return 0.0
""",
        """
def f(x):
    match x:
        case {"scale": scale, "shift": shift}:
            return scale * shift
    return 0.0
""",
        at='{"scale": 2.0, "shift": 3.0}',
    ),
    Entry(
        "E0117",
        "a change under no_grad",
        "What is changed in place under no_grad would have another value than its derivative says.",
        """
def f(x):
    y = x * x
    with srcgrad.no_grad():
        y += 1.0
    return y
""",
        """
def f(x):
    y = x * x
    with srcgrad.no_grad():
        step = 2.0
    y += 1.0
    return y * step
""",
    ),
    Entry(
        "E0118",
        "a function that is kept, and reads a variable that changes",
        "A function reads the variables around it when it is called, not when it is made. One that is kept "
        "beyond that, and reads a variable that has another value by then, is not compiled.",
        """
def f(x):
    total = 0.0
    for v in (x, x * x):
        total += sum([(lambda: k * v)() for k in (1.0, v)])
    return total
""",
        """
def f(x):
    total = 0.0
    for v in (x, x * x):
        total += sum([k * v for k in (1.0, v)])
    return total
""",
    ),
    Entry(
        "E0120",
        "a last block that leaves in a way of its own",
        "A finally that may raise inside of another try, or that returns out of a loop, decides what becomes of "
        "an exception on its way.",
        """
def f(x):
    try:
        try:
            return 1.0 / x
        finally:
            y = 2.0 / (x - 1.0)
    except ZeroDivisionError:
        return x
""",
        """
def f(x):
    try:
        y = 1.0 / x
        z = 2.0 / (x - 1.0)
    except ZeroDivisionError:
        return x
    return y
""",
    ),
    Entry(
        "E0121",
        "checkpointed, but not around a loop",
        "`srcgrad.checkpointed` is written around what a `for` runs over, or around the test of a `while`. A number "
        "that went through it elsewhere would lose its derivative.",
        """
import srcgrad

def f(x):
    y = srcgrad.checkpointed(x, 3)
    return y * y
""",
        """
import srcgrad

def f(x):
    y = x
    for i in srcgrad.checkpointed(range(3), snapshots=2):
        y = y * y
    return y
""",
    ),
    Entry(
        "E0122",
        "the state of a checkpointed loop is not known",
        "Few states of a checkpointed loop are kept: the variables that its body binds and reads again, and copies of "
        "the arrays that it stores into and reads. Containers and objects that change, a variable that may have no "
        "value before the loop, and arrays that share memory with others are not followed there. Of a function "
        "under `srcgrad.remat` the arguments alone are kept, so that it may store into none of them.",
        """
import srcgrad

def f(x):
    best = {"y": x}
    for i in srcgrad.checkpointed(range(3), snapshots=2):
        best["y"] = best["y"] * x
    return best["y"]
""",
        """
import srcgrad

def f(x):
    y = x
    for i in srcgrad.checkpointed(range(3), snapshots=2):
        y = y * x
    return y
""",
    ),
    Entry(
        "E0123",
        "what is run again would not be the same",
        "The passes of a checkpointed loop, and functions under `srcgrad.remat`, are run again in the reverse sweep. "
        "So they may draw no random numbers, print nothing, read no files, and call nothing that may do more than "
        "compute.",
        """
import numpy as np
import srcgrad

def f(x):
    y = x
    for i in srcgrad.checkpointed(range(3), snapshots=2):
        y = y * x + np.random.rand()
    return y
""",
        """
import numpy as np
import srcgrad

def f(x):
    y, noise = x, np.cos(np.arange(3))
    for i in srcgrad.checkpointed(range(3), snapshots=2):
        y = y * x + noise[i]
    return y
""",
    ),
)
