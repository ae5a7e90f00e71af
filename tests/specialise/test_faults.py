"""Programs that the front end refuses, and of which a fault of what is inferred says nothing."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import grad, options
from srcgrad.errors import UnsupportedSyntax


def leaves_by_two_ways(m, c):
    for _, e in m:
        try:
            while c:
                return np
        except ValueError:
            pass
        finally:
            if c:
                continue
    return e


def test_what_was_refused_is_said():
    """The fault was raised in place of the refusal."""
    with pytest.raises(UnsupportedSyntax, match=r"(?s)test_faults.*\^"), options(check=False):
        grad(leaves_by_two_ways)(np.ones((2, 2)), 0.5)
