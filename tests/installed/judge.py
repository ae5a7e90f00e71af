"""One verdict per function: its gradient against numeric differences, or the refusal, or whose fault it is."""

from __future__ import annotations

import traceback
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

import srcgrad
from srcgrad.errors import InternalError, SrcgradError
from srcgrad.runtime.refusals import Refused
from tests.installed.entry import Entry
from tests.oracle import as_vector_function, differences, is_inexact, leaves, ravel, seed_like

TOLERANCE = 1e-6


@dataclass(frozen=True)
class Verdict:
    """``kind`` is right, refused, wrong, crash or absent; ``why`` the reason, ``text`` the whole message, ``code`` that
    of a refusal."""

    entry: Entry
    kind: str
    why: str = ""
    text: str = ""
    code: str = ""


def judge(entry: Entry) -> Verdict:
    """Never raises for what the compiler does; raises where the function itself does not run on its arguments."""
    try:
        function = entry.function()
    except ImportError as error:
        return Verdict(entry, "absent", str(error))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = function(*_fresh(entry.arguments), **_fresh(entry.keywords))
        seed = seed_like(plain(expected), seed=11)
        arguments, keywords = _fresh(entry.arguments), _fresh(entry.keywords)
        try:
            value, pullback = srcgrad.vjp(function, *arguments, argnums=entry.wrt, **keywords)
            gradient = pullback(seed)
        except InternalError as error:
            return Verdict(entry, "crash", error.reason.split("\n")[0], str(error))
        except (SrcgradError, Refused) as error:
            placed = error.span is not None and error.span.known
            return Verdict(entry, "refused" if placed else "crash", _reason(error), str(error), error.code or "")
        except Exception as error:
            text = "".join(traceback.format_exception(error))
            return Verdict(entry, "crash", f"{type(error).__name__}: {str(error).splitlines()[:1]}", text)
        if _differ(arguments, entry.arguments) or _differ(keywords, entry.keywords):
            return Verdict(entry, "wrong", "an argument was changed")
        return Verdict(entry, *_compared(entry, function, (expected, value), seed, gradient))


def _reason(error: SrcgradError | Refused) -> str:
    """Why it was refused; of a library's function without a rule, why it could not be read."""
    _, found, deeper = (getattr(error, "hint", None) or "").partition("it cannot be read: ")
    return deeper.rpartition(" (")[0] or deeper if found else error.reason.split("\n")[0]


def _compared(entry: Entry, function: Any, values: tuple[Any, Any], seed: Any, gradient: Any) -> tuple[str, str]:
    expected, value = values
    wanted, got = ravel(expected), ravel(value)
    if wanted.shape != got.shape or not np.allclose(got, wanted, rtol=1e-9, atol=1e-12, equal_nan=True):
        return "wrong", f"the value is {got}, not {wanted}"
    # None in a seed stands at an integer, which has no derivative
    numbers = ravel([s for s, leaf in zip(leaves(seed), leaves(expected), strict=True) if is_inexact(leaf)])

    def called(*values: Any) -> Any:
        arguments = list(_fresh(entry.arguments))
        for position, given in zip(entry.wrt, values, strict=True):
            arguments[position] = given
        return function(*arguments, **_fresh(entry.keywords))

    chosen = [_fresh(entry.arguments[position]) for position in entry.wrt]
    at, point = as_vector_function(called, chosen, range(len(chosen)))
    units = [direction for direction in np.eye(point.size)]
    units += [1j * direction for direction in units] if np.iscomplexobj(point) else []
    columns = [differences(_finite(at), point, direction) for direction in units]
    numeric = np.array([np.real(np.sum(numbers * column.value)) for column in columns])
    found = ravel(gradient)
    if np.iscomplexobj(point):  # cotangents pair with tangents without conjugation
        found = np.concatenate([found.real, -found.imag])
    scale = max(1.0, float(np.max(np.abs(numeric), initial=0.0)))
    slack = TOLERANCE * scale + 4.0 * float(np.sum(np.abs(numbers))) * max((c.error for c in columns), default=0.0)
    if slack > 1e-3 * scale:
        raise AssertionError(f"{entry.name}: numeric differences are good to {slack:.1e} only; change its arguments")
    if found.shape != numeric.shape or not np.max(np.abs(found - numeric), initial=0.0) <= slack:
        return "wrong", f"{found}, not {numeric}"
    return "right", ""


def _finite(at: Any) -> Any:
    """Not-a-numbers are the function's own, the same at every point: they have no derivative."""
    return lambda point: np.nan_to_num(at(point), nan=0.0, posinf=0.0, neginf=0.0)


def _fresh(tree: Any) -> Any:
    """The arguments again, sharing no array and no list."""
    if isinstance(tree, dict):
        return {key: _fresh(item) for key, item in tree.items()}
    if isinstance(tree, tuple | list):
        return (list if isinstance(tree, list) else tuple)(map(_fresh, tree))
    return tree.copy() if isinstance(tree, np.ndarray) else tree


def plain(tree: Any) -> Any:
    """Named tuples as tuples: some that SciPy makes cannot be made from their items alone."""
    if isinstance(tree, tuple | list):
        return (list if isinstance(tree, list) else tuple)(map(plain, tree))
    return tree


def _differ(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return list(one) != list(other) or any(_differ(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) != len(other) or any(_differ(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, np.ndarray):
        return not np.array_equal(one, other)
    return False
