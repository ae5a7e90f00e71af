"""Programs that the front end refuses, and of which a fault of what is inferred says nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from srcgrad import grad
from srcgrad.infer.outside import Outside


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


def test_the_return_is_never_taken() -> None:
    np.testing.assert_array_equal(grad(leaves_by_two_ways)(np.ones((2, 2)), 0.5), [[0.0, 0.0], [0.0, 1.0]])


def test_a_derivative_that_a_program_names_is_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that it had compiled before was gone through: minutes, once it had compiled much."""
    whole, seen = Outside._whole, list[Any]()
    monkeypatch.setattr(Outside, "_whole", lambda self, found: (seen.append(found), whole(self, found))[1])
    x = np.array(0.7)
    assert grad(lambda x: INNER(x) * x)(0.7) == pytest.approx(np.cos(x) - x * np.sin(x))
    assert not any(isinstance(each, type(INNER)) for each in seen)


INNER = grad(lambda x: np.sin(x))
