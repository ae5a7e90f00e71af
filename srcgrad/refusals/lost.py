"""The codes E06xx: where a derivative would be lost."""

from __future__ import annotations

from srcgrad.refusals.entry import Entry

ENTRIES = (
    Entry(
        "E0601",
        "a number that is read from text",
        "Text carries no derivative: a number that is written as text and read again would count as a constant.",
        """
def f(x):
    return float(f"{x:.3f}") * x
""",
        """
def f(x):
    return x * x
""",
    ),
    Entry(
        "E0602",
        "text of what varies in a set",
        "Text that is made of a value that varies is the same for equal values only, and what is read from the "
        "set by it would have no derivative.",
        """
def f(x):
    names = {str(x), str(2.0 * x)}
    return len(sorted(names)) * x
""",
        """
def f(x):
    names = [str(x), str(2.0 * x)]
    return len(sorted(names)) * x
""",
    ),
    Entry(
        "E0603",
        "a key that varies",
        "Keys of dicts carry no derivative. A number that varies may be a key and find its value, but not be "
        "read back.",
        """
def f(x):
    d = {x: 1.0}
    total = 0.0
    for key in d:
        total += key * x
    return total
""",
        """
def f(x):
    d = {"first": x}
    total = 0.0
    for value in d.values():
        total += value * x
    return total
""",
    ),
    Entry(
        "E0604",
        "a value that varies in a set",
        "What is put into a set is there to be told apart, and carries no derivative.",
        """
def f(x):
    values = {x, 2.0 * x}
    return sum(values)
""",
        """
def f(x):
    values = [x, 2.0 * x]
    return sum(values)
""",
    ),
    Entry(
        "E0605",
        "an index or bound that varies, or is an array that may change",
        "A slice holds its bounds. Where one is an array that may be stored into, it is another slice later; and "
        "an index that is computed from what is differentiated has no derivative.",
        """
def f(x, n):
    bound = np.array([n, n])[:1]
    part = slice(0, bound)
    bound += 1
    return np.sum(x[part])
""",
        """
def f(x, n):
    return np.sum(x[slice(0, int(n))])
""",
        at="np.array([0.5, 1.5]), 1",
    ),
)
