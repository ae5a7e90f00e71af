"""Python code of the user's that runs where no call of it is written: the gradient is right, or refused."""

import numpy as np
import pytest

from srcgrad import grad
from srcgrad.errors import SrcgradError

LOG = [1.0]
X = np.array([1.3, 0.7])


class Noting:
    """Its special methods change a global."""

    def __init__(self, v):
        self.v = v

    def __len__(self):
        LOG.append(2.0)
        return 3

    def __str__(self):
        LOG.append(3.0)
        return "noting"

    def __lt__(self, other):
        LOG.append(4.0)
        return self.v < other.v

    def __eq__(self, other):
        LOG.append(5.0)
        return True

    def __hash__(self):
        LOG.append(6.0)
        return 1


class NotingArray(Noting):
    """It is not looked into."""

    def __array__(self, dtype=None, copy=None):
        LOG.append(7.0)
        return np.ones(2)


OUTSIDE, AS_ARRAY = Noting(1.0), NotingArray(1.0)


def note(v):
    LOG.append(8.0)
    return v


UFUNC, VECTORIZED = np.frompyfunc(note, 1, 1), np.vectorize(note)


def written(head, expression, result):
    lines = ["def f(x, given):", f"    {head}", f"    {result}{expression}", "    return LOG[-1] * x[0] * x[1]"]
    return "\n".join(lines) + "\n"


EXPRESSIONS = ["len(k)", "str(k)", "f'{k}'", "not k", "sorted([k, k])", "k == k", "k in [k]", "{k}"]
HEADS = ["k = OUTSIDE", "k = Noting(2.0)", "k = given", "k = AS_ARRAY"]
CALLS = ["UFUNC(2.0)", "VECTORIZED(2.0)", "np.sum(AS_ARRAY)", "np.multiply(AS_ARRAY, 2.0)"]
PROGRAMS = [(head, made) for head in HEADS for made in EXPRESSIONS] + [("pass", made) for made in CALLS]


def outcome(text, tmp_path):
    """The gradient, or what refuses it, and what numbers give."""
    file = tmp_path / "unseen.py"
    file.write_text(text, encoding="utf-8")
    space = globals().copy()
    exec(compile(text, str(file), "exec"), space)
    LOG[:] = [1.0]
    expected = space["f"](X, Noting(3.0)) / X
    LOG[:] = [1.0]
    try:
        return grad(space["f"])(X, Noting(3.0)), expected
    except SrcgradError as refused:
        return refused, expected


@pytest.mark.parametrize(("head", "expression"), PROGRAMS)
def test_what_runs_unseen_is_run_or_refused(head, expression, tmp_path):
    for number, result in enumerate(("", "z = ")):
        folder = tmp_path / str(number)
        folder.mkdir()
        found, expected = outcome(written(head, expression, result), folder)
        if not isinstance(found, SrcgradError):
            np.testing.assert_allclose(found, expected, err_msg=f"{head}; {result}{expression}")
