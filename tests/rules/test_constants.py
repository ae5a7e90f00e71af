"""What is declared constant does not vary: every such function, on numbers, vectors and matrices, by differences."""

from __future__ import annotations

import contextlib
import io
import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from srcgrad.rules.catalogue import Entry, entries
from tests.parameters import for_each

#: Random draws vary by themselves; a reduction of one element hands it on; texts are no numbers.
PASSED_OVER = ("np.random", "np.test", "np.show", "np.mintypecode", "np.get", "np.from")
rng = np.random.default_rng(0)
ARGUMENTS: dict[str, Callable[[], Any]] = {
    "number": lambda: float(rng.uniform(0.3, 0.9)),
    "vector": lambda: rng.uniform(0.3, 0.9, 3),
    "matrix": lambda: rng.uniform(0.3, 0.9, (3, 3)),
    "complex vector": lambda: rng.uniform(0.3, 0.9, 3) + 0.3j,
}
LIBRARIES = ("numpy", "numpy.linalg", "numpy.fft", "math", "builtins")


def constants() -> Iterator[Entry]:
    for entry in entries(LIBRARIES):
        is_method = entry.name.startswith("ndarray.")
        if entry.status == "constant" and not is_method and not entry.name.startswith(PASSED_OVER):
            yield entry


def numbers(value: Any) -> Any:
    """The result as one array, or None where it is no floating-point number."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return None
    return array.ravel().astype(complex) if array.dtype.kind in "fc" else None


def result(function: Callable[..., Any], arguments: list[Any]) -> Any:
    try:
        return numbers(function(*arguments))
    except Exception:  # whatever it does not take
        return None


def varies(function: Callable[..., Any], arguments: list[Any]) -> bool:
    """Whether differences at two distances agree on a slope that is not zero."""
    if result(function, arguments) is None:
        return False
    for i, argument in enumerate(arguments):
        direction = np.ones_like(np.asarray(argument))[()]
        slopes = []
        for h in (1e-4, 2e-4):
            ends = [
                result(function, [a + s * direction if j == i else a for j, a in enumerate(arguments)]) for s in (h, -h)
            ]
            if ends[0] is None or ends[1] is None or ends[0].shape != ends[1].shape:
                break
            slopes.append((ends[0] - ends[1]) / (2 * h))
        if len(slopes) == 2 and np.all(np.isfinite(slopes[0])):
            if np.any(np.abs(slopes[0]) > 1e-6) and np.allclose(*slopes, rtol=1e-3):
                return True
    return False


@for_each(list(constants()), lambda entry: entry.name)
def test_no_constant_varies(entry: Entry) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for count in (1, 2):
            for kinds in itertools.product(ARGUMENTS, repeat=count):
                assert not varies(entry.function, [ARGUMENTS[kind]() for kind in kinds]), kinds
