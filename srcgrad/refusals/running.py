"""The codes E07xx: what only the run shows."""

from __future__ import annotations

from srcgrad.refusals.entry import Entry

ENTRIES = (
    Entry(
        "E0701",
        "arguments that share memory, and one of them is stored into",
        "A store into one argument would change another one, or what the function reads outside. Pass a copy.",
        """
def f(x, y):
    x[0] = 2.0 * y[1]
    return np.sum(x * y)


data = np.ones(3)
""",
        """
def f(x, y):
    x[0] = 2.0 * y[1]
    return np.sum(x * y)


data = np.ones(3)
""",
        at="data, data",
        instead_at="data, data.copy()",
    ),
    Entry(
        "E0702",
        "a store into memory that shows an element more than once",
        "A view made by broadcasting, or by strides that overlap, shows one element in several places; which "
        "store into it comes last is a matter of order. Store into a copy.",
        """
def f(x, y):
    y[:, 1] = x
    return np.sum(y * x)
""",
        """
def f(x, y):
    y[:, 1] = x
    return np.sum(y * x)
""",
        at="np.array([0.5, 1.5]), np.lib.stride_tricks.as_strided(np.ones(3), (2, 2), (8, 8))",
        instead_at="np.array([0.5, 1.5]), np.ones((2, 2))",
    ),
    Entry(
        "E0704",
        "a variable or field that is None, or has no value yet",
        "What is read is None in this run, where a number or array was expected.",
        """
def f(x, n):
    def act(k):
        if k > 5:
            return x
        elif isinstance(scale, float):
            return x * scale
        return x * 2.0

    total = act(9)
    if n:
        scale = 3.0
    return total * act(n)
""",
        """
def f(x, n):
    def act(k):
        if k > 5:
            return x
        elif isinstance(scale, float):
            return x * scale
        return x * 2.0

    scale = 2.0
    total = act(9)
    if n:
        scale = 3.0
    return total * act(n)
""",
        at="0.5, 0",
    ),
    Entry(
        "E0707",
        "a point at which the derivative is not known",
        "The function has a derivative elsewhere, but not at these values: they are equal, singular, empty or "
        "out of order.",
        """
def f(x):
    return np.interp(1.5, np.array([2.0, 1.0]), x)
""",
        """
def f(x):
    return np.interp(1.5, np.array([1.0, 2.0]), x)
""",
        at="np.array([0.5, 1.5])",
    ),
    Entry(
        "E0708",
        "an option for which the derivative is not written",
        "The function has a derivative with other options, or with these as literals in the call.",
        """
def f(x, w):
    return np.sum(np.polyfit(x + 1j, np.array([1.0, 2.0, 4.0]), 1).real)
""",
        """
def f(x, w):
    return np.sum(np.polyfit(x, np.array([1.0, 2.0, 4.0]), 1))
""",
        at="np.array([0.5, 1.5, 2.0]), 1.0",
    ),
    Entry(
        "E0710",
        "arithmetic of lists with arrays or numbers that vary",
        "A list times an array is an array to NumPy, and a longer list to Python where the array is a whole "
        "number. Make an array of the list.",
        """
def f(x, n):
    return np.sum([1.0, 2.0] * n * x)
""",
        """
def f(x, n):
    return np.sum(np.array([1.0, 2.0]) * n * x)
""",
        at="np.array([0.5, 1.5]), np.array(2)",
    ),
    Entry(
        "E0711",
        "an exception whose way through the program is not known",
        "A function that is called in a try stored before it raised, or raises alone what somebody else "
        "handles: what was stored, or raised, is known to Python only.",
        """
def step(y, k):
    y[0] = 2.0 * y[0]
    if k:
        raise ValueError
    return y[0]


def f(x, k):
    y = np.sin(x)
    try:
        total = step(y, k)
    except ValueError:
        total = y[1]
    return total * np.sum(y)
""",
        """
def step(y, k):
    if k:
        raise ValueError
    y[0] = 2.0 * y[0]
    return y[0]


def f(x, k):
    y = np.sin(x)
    try:
        total = step(y, k)
    except ValueError:
        total = y[1]
    return total * np.sum(y)
""",
        at="np.array([0.5, 1.5]), 1",
    ),
    Entry(
        "E0712",
        "data that has changed since the value was computed",
        "vjp computes the value at once, and the derivative when the pullback is called. What the function read "
        "outside has changed in between.",
        """
scale = np.ones(2)


def f(x):
    return np.sum(np.sin(scale * x))


def pulled(x):
    value, pullback = srcgrad.vjp(f, x)
    scale[0] = 3.0
    return pullback(1.0)
""",
        """
scale = np.ones(2)


def f(x):
    return np.sum(np.sin(scale * x))
""",
        at="np.array([0.5, 1.5])",
        asked="pulled(np.array([0.5, 1.5]))",
    ),
    Entry(
        "E0717",
        "a view of an array that is stored into, which the derivative cannot mirror",
        "A derivative keeps an array of its own beside each array that is stored into, with the same views. A "
        "view of another dtype or layout, or of a part whose whole is not followed, has no such mirror.",
        """
def f(x):
    y = np.sin(x) + 1j
    held = [y.imag]
    y[0] = 2.0 * y[1]
    return np.sum(held[0] * y.real)
""",
        """
def f(x):
    y = np.sin(x) + 1j
    held = [y.imag.copy()]
    y[0] = 2.0 * y[1]
    return np.sum(held[0] * y.real)
""",
        at="np.array([0.5, 1.5])",
    ),
)
