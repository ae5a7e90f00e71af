"""The codes E05xx: functions without a derivative."""

from __future__ import annotations

from srcgrad.refusals.entry import Entry

ENTRIES = (
    Entry(
        "E0501",
        "a function without a rule",
        "The function is compiled code, or of a library that is not read, and no rule says what its derivative "
        "is. Write one, or declare that it has none (docs/own_rules.md).",
        """
import scipy.spatial.distance


def f(x):
    return np.sum(scipy.spatial.distance.cdist(x[:, None], x[:, None]))
""",
        """
def f(x):
    return np.sum(np.abs(x[:, None] - x[None, :]))
""",
        at="np.array([0.5, 1.5, 2.0])",
    ),
    Entry(
        "E0502",
        "a function whose values change by jumps, or are a matter of chance",
        "What the function finds, counts or compares changes by jumps: its derivative is zero or does not "
        "exist.",
        """
def f(x):
    return np.sum(np.unique(x))
""",
        """
def f(x):
    return np.sum(np.sort(x))
""",
        at="np.array([0.5, 1.5])",
    ),
    Entry(
        "E0503",
        "a function of a library whose derivative is not written",
        "The function has a derivative, which nobody has written here. The hint says with which functions it "
        "can be written.",
        """
import scipy.signal


def f(x):
    return np.sum(scipy.signal.medfilt(x, 3))
""",
        """
def f(x):
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, 1), 3)
    return np.sum(np.median(windows, axis=1))
""",
        at="np.array([0.5, 1.5, 2.5])",
    ),
    Entry(
        "E0504",
        "an argument by which a function has no derivative",
        "The function has a rule, but none for this argument, or for this form of call. Keep the argument "
        "constant.",
        """
def f(x):
    return np.linalg.norm(np.array([1.0, 2.0]), x)
""",
        """
def f(x):
    return np.linalg.norm(np.array([1.0, 2.0]) * x, 3)
""",
        at="3.0",
    ),
    Entry(
        "E0505",
        "a function of a library that makes objects, iterators or files",
        "What the function makes is no number or array, and a derivative follows nothing through it.",
        """
def f(x):
    total = 0.0
    for a, b in np.broadcast(x, 2.0):
        total += a * b
    return total
""",
        """
def f(x):
    total = 0.0
    for a, b in zip(x, np.broadcast_to(2.0, x.shape)):
        total += a * b
    return total
""",
        at="np.array([0.5, 1.5])",
    ),
    Entry(
        "E0506",
        "a rule of your own without a tangent",
        "Forward mode needs how the result moves with the arguments: a rule that is not linear or elementwise "
        "says so itself.",
        """
def scaled(x):
    return np.exp(x) * x[0]


@srcgrad.rule(scaled)
def scaled_rule(x, *, y, y_bar):
    return y_bar * y + np.array([1.0, 0.0]) * np.sum(y_bar * np.exp(x))


def f(x):
    return np.sum(scaled(x))
""",
        """
def scaled(x):
    return np.exp(x) * x[0]


def f(x):
    return np.sum(scaled(x))
""",
        at="np.ones(2)",
        by="grad",
        asked="srcgrad.jvp(f, (np.ones(2),), (np.ones(2),))",
    ),
    Entry(
        "E0507",
        "integers or objects where floating numbers are needed",
        "Integers are rounded and wrap around, and arrays of objects hold anything; neither has a derivative.",
        """
def f(x):
    return np.sum(x.astype(object) * x)
""",
        """
def f(x):
    return np.sum(x.astype(float) * x)
""",
        at="np.array([0.5, 1.5])",
    ),
    Entry(
        "E0508",
        "a sparse matrix that is more than a constant factor",
        "Sparse matrices are constants: A @ x, A.T @ x and 2.0 * A are followed. What changes a sparse matrix, "
        "or makes one of what varies, is not.",
        """
import scipy.sparse

A = scipy.sparse.csr_array(np.eye(2))


def f(x):
    return np.sum((A * x[0]) @ x)
""",
        """
import scipy.sparse

A = scipy.sparse.csr_array(np.eye(2))


def f(x):
    return np.sum((A @ x) * x[0])
""",
        at="np.array([0.5, 1.5])",
    ),
    Entry(
        "E0509",
        "a method or attribute of arrays that is not differentiated",
        "The method changes its array in place, hands out its memory, or reads its bytes.",
        """
def f(x):
    y = np.sin(x)
    y.resize((3,))
    return np.sum(y)
""",
        """
def f(x):
    y = np.resize(np.sin(x), (3,))
    return np.sum(y)
""",
        at="np.array([0.5, 1.5])",
    ),
    Entry(
        "E0510",
        "a function that reads the real part of a complex number alone",
        "Given a complex number the function drops the imaginary part. Write z.real where that is meant.",
        """
import math


def f(x):
    z = x * np.exp(1j * x)
    return math.sin(z[0]) * x[1]
""",
        """
import math


def f(x):
    z = x * np.exp(1j * x)
    return math.sin(z[0].real) * x[1]
""",
        at="np.array([0.5, 1.5])",
    ),
    Entry(
        "E0511",
        "a vector or number in the place of a matrix",
        "The function takes matrices and also less; its derivative is written for matrices.",
        """
import scipy.linalg


def f(x):
    return np.sum(scipy.linalg.expm(x))
""",
        """
import scipy.linalg


def f(x):
    return np.sum(scipy.linalg.expm(np.atleast_2d(x)))
""",
    ),
    Entry(
        "E0512",
        "an axis that varies",
        "The axis is read from what is differentiated, so this may be no method of an array at all.",
        """
def f(x):
    return np.sum(np.sum(np.ones((2, 2)), axis=x) * x)
""",
        """
def f(x):
    return np.sum(np.sum(np.ones((2, 2)), axis=0) * x)
""",
    ),
    Entry(
        "E0513",
        "a result that is arbitrary in part",
        "The function returns vectors or bases that may be turned or change sign without being wrong, so they "
        "have no derivative; what does not depend on the choice has one.",
        """
import scipy.linalg


def f(x):
    return np.sum(scipy.linalg.schur(x)[0])
""",
        """
import scipy.linalg


def f(x):
    return np.sum(scipy.linalg.eigvalsh(x))
""",
        at="np.array([[2.0, 0.5], [0.5, 1.0]])",
    ),
)
