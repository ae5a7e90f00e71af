"""Arguments for every rule of the table: ``SAMPLES[function]`` is a list of calls, gathered from the modules here.

A rule whose function is not here fails ``test_rules.py``; so does a rule none of whose samples gives one of its
parameters.  Values are fixed, off kinks and ties unless a sample is about them.  Each module of samples has ``SAMPLES``
and ``ANALYTIC``, the functions whose formula continues to complex numbers, so that a complex step is exact.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable
from typing import Any

from srcgrad.rules.table import LIBRARIES, load_library
from tests.rules.samples.calls import Call, call

__all__ = ["ALIKE", "ANALYTIC", "SAMPLES", "Call", "call"]

SAMPLES: dict[Callable[..., Any], list[Call]] = {}
ANALYTIC: set[Callable[..., Any]] = set()
#: For functions whose results leave signs open: what gives a result the signs of another nearby.
ALIKE: dict[Callable[..., Any], Callable[[Any, Any], Any]] = {}

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    if _module == "calls":
        continue
    if _module.startswith("scipy_"):
        # SciPy is an extra: without it its rules are not loaded, and not tested.
        if importlib.util.find_spec("scipy") is None:
            continue
    _samples = importlib.import_module(f"{__name__}.{_module}")
    SAMPLES |= _samples.SAMPLES
    ANALYTIC |= _samples.ANALYTIC
    ALIKE |= getattr(_samples, "ALIKE", {})

if importlib.util.find_spec("scipy") is not None:
    for _library in LIBRARIES:
        load_library(_library)
