"""Random programs run eagerly, against complex step: the compiler has no part in either."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad.eager import plain
from tests.generator import RandomChoices, Unsuitable, program
from tests.generator.agreement import EVERY, POINT, difference, forget, load, truth
from tests.oracle import ravel, rebuild, seed_like


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_eager_agrees_with_complex_step(start: int) -> None:
    tried = 0
    for seed in range(10_000 + start, 10_050 + start):
        text = program(RandomChoices(seed))
        try:
            expected = truth(text, POINT)
        except Unsuitable:
            continue
        function = load(text)
        arguments = rebuild(POINT, lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf)
        value, pullback = plain.vjp(function, *arguments, argnums=EVERY)
        weights = seed_like(expected.value, 1)
        complaint = difference(pullback(weights), POINT, ravel(weights) @ expected.jacobian)
        forget(function)
        np.testing.assert_array_equal(ravel(value), ravel(expected.value), err_msg=text)
        assert not complaint, f"program {seed}: {complaint}\n{text}"
        tried += 1
    assert tried > 30
