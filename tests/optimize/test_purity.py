"""What the optimizer must not drop: the checks that a program makes while it runs."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad import runtime
from srcgrad.optimize.purity import pure
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import reference
from srcgrad.syntax.parse import quote

#: Gives back what it was given: where nobody reads that, nothing was divided by a difference that it would refuse.
READ = {"require_distinct"}


@pytest.mark.parametrize("name", [name for name in runtime.__all__ if name.startswith("require_") and name not in READ])
def test_a_check_is_an_effect(name):
    call = quote("check(x)")
    call.func = reference(GlobalBinding(name, getattr(runtime, name), "srcgrad.runtime", name))
    assert not pure(call)


class Pair:
    def __init__(self, a):
        self.a = a

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return (self.a, 2.0 * self.a)[i]

    def __rmul__(self, factor):
        return self.a * factor


def test_a_number_of_numpys_times_an_object_is_refused():
    """Once silently wrong: NumPy makes an array of the object, and the optimizer had dropped the check."""
    with pytest.raises(srcgrad.SrcgradError, match="__rmul__ of class Pair"):
        srcgrad.grad(lambda x: np.sum(x[1] * Pair(x[0])))(np.array([0.5, 1.2]))
