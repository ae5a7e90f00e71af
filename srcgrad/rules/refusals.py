"""What varies with its arguments and still has no derivative here: each with its reason and what to write instead.

A refusal is raised only where a derivative would flow through the call; on constant data these functions run as ever.
"""

from __future__ import annotations

import numpy as np

from srcgrad.rules.table import refused

refused(
    "which values are found, and how many, changes by jumps",
    np.unique,
    hint="sort with np.sort, or take values at indices found with stop_gradient",
)
