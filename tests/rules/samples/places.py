"""What is selected under a mask, and put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

n = Draws(23).n

_mask = np.array([[True, False, True], [False, False, True]])
SAMPLES: dict[Callable[..., Any], list[Call]] = {
    runtime.at_mask: [call(n(2, 3), _mask), call(n(3), _mask), call(n(2, 1), _mask), call(0.3, _mask)],
    runtime.off_mask: [
        call(n(3), n(2, 3), _mask),
        call(n(3), n(3), _mask),
        call(n(3), n(2, 1), _mask),
        call(0.2, 0.3, _mask),
    ],
}
# ``off_mask`` gives a real array the real part of what it is given, as every cotangent: no analytic function.
ANALYTIC: set[Callable[..., Any]] = {runtime.at_mask}
