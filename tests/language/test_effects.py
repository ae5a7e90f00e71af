"""The table of effects against Python and NumPy: every member of the classes listed is called and observed."""

from __future__ import annotations

import copy
import heapq
import inspect
import operator
import random
import warnings
from typing import Any

import gast
import numpy as np
import pytest

from srcgrad import runtime
from srcgrad.language import effects
from tests.language.observing import OBJECTS, observe
from tests.rules.samples import SAMPLES

#: What would need a file, a device or a thread of its own, or a value that no test can make: not called, listed alone.
_NOT_CALLED = {"__release_buffer__"}


def test_every_member_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    members = [(kind, name) for kind in OBJECTS for name in dir(kind)]
    missing = [f"{kind.__name__}.{name}" for kind, name in members if not effects.member(kind, name).is_known]
    with capsys.disabled():
        print(f" [{len(members) - len(missing)} of {len(members)} members listed] ", end="")
    assert set(OBJECTS) == set(effects.KINDS) and not missing, missing


@pytest.mark.parametrize("kind", OBJECTS, ids=lambda kind: kind.__name__)
@pytest.mark.costly(2, first=1)
def test_what_is_observed_is_what_is_listed(kind: type) -> None:
    wrong: list[str] = []
    updating = 0
    for name in dir(kind):
        if name in _NOT_CALLED:
            continue
        listed, seen = effects.member(kind, name), observe(kind, name)
        updates = bool(listed.updates) or listed.output is not None
        updating += bool(seen.updates)
        most = max(map(effects.RETURNS.index, seen.returns), default=0)
        allowed = effects.RETURNS.index("alias" if listed.output is not None else listed.returns)
        complaints = [
            (bool(seen.updates - {"arguments"}) and not (0 in listed.updates or listed.draws), "updates its object"),
            (
                "arguments" in seen.updates and not (listed.updates - {0} or listed.output is not None),
                "updates another",
            ),
            (seen.keeps and not (listed.keeps or listed.items), "keeps what it is given"),
            (seen.lengths and not listed.lengths, "changes lengths"),
            (most > allowed, f"returns an {effects.RETURNS[most]}"),
            (seen.calls and updates and not seen.updates and not name.startswith("__"), "is not seen to update"),
            (not listed.raises and bool(seen.raises - {TypeError}), f"raises {seen.raises}"),
            (not listed.raises and "no arity" in seen.notes, "raises a TypeError that is not about arguments"),
        ]
        wrong += [f"{kind.__name__}.{name} {what}" for is_wrong, what in complaints if is_wrong]
    assert not wrong, "\n".join(wrong)
    assert updating or kind in (tuple, frozenset, str, bytes)


def test_what_is_not_listed_updates_and_keeps_everything() -> None:
    for made in (effects.method("no_such"), effects.member(list, "no_such"), effects.of_function(pytest.raises)):
        assert effects.ALL in made.updates and made.keeps and made.returns == "alias" and not made.is_known
    assert not effects.member(type("Own", (list,), {}), "append").is_known


def test_compiled_functions_of_private_modules_may_store_into_what_they_are_given() -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    assert not effects.of_function(ndimage._nd_image.min_or_max_filter1d).is_known
    assert effects.of_function(pytest.importorskip("scipy.optimize").linear_sum_assignment).is_known


@pytest.mark.parametrize(
    ("function", "updates"),
    [
        (heapq.heappush, {0}), (operator.setitem, {0}), (operator.iadd, {0}), (operator.add, set()),
        (np.random.shuffle, {0}), (random.shuffle, {0}), (np.put, {0}), (np.add.at, {0}), (np.sin, set()),
        (list.append, {0}), (np.ndarray.fill, {0}), (np.cumsum, set()), (len, set()), ([].append, {effects.ALL}),
    ],
    ids=lambda each: getattr(each, "__qualname__", None),
)  # fmt: skip
def test_functions(function: object, updates: set[int]) -> None:
    assert effects.of_function(function).updates == updates


def test_outputs_stand_where_the_signatures_of_numpy_have_them() -> None:
    for name in dir(np.ndarray):
        listed, function = effects.member(np.ndarray, name).output, getattr(np, name, None)
        if listed is not None and not isinstance(function, np.ufunc):
            assert list(inspect.signature(function).parameters).index("out") == listed, name  # type: ignore[arg-type]
    assert effects.of_function(np.sin).updated(2) == {1} and not effects.of_function(np.sin).updated(1)
    assert effects.of_function(np.einsum).updated(4) == frozenset()
    assert effects.of_function(np.einsum).updated(2, ["out"])


def _operands() -> list[tuple[Any, ...]]:
    """Arguments that functions of arrays may take, matrices in the layout that LAPACK overwrites."""
    square = np.asfortranarray(4.0 * np.eye(4) + np.arange(16.0).reshape(4, 4) / 16.0)
    row, holed, pivots = np.array([1.0, 4.0, 3.0, 2.0]), np.array([1.0, np.nan, 3.0, 2.0]), np.arange(4)
    made = [(square,), (square, square + 0.0), (square, row), (row,), (holed,), (row, row + 0.0), (square, 2), (row, 2)]
    return [*made, ((square, pivots), row), ((square, False), row), ((1, 1), square, row), (row, row + 0.0, row + 1.0)]


@pytest.mark.parametrize("home", ["numpy", "numpy.linalg", "numpy.fft", "scipy.linalg", "scipy.fft", "scipy.signal"])
def test_operands_that_a_parameter_lets_a_function_change_are_listed(home: str) -> None:
    """``copy=False``, ``overwrite_a=True``: what changes when functions are called so is what the table says."""
    wrong, seen = [], 0
    for name, function in list(vars(pytest.importorskip(home)).items()):
        effect = effects.of_function(function) if callable(function) else effects.UNKNOWN
        if name.startswith("_") or isinstance(function, type | np.ufunc) or not effect.is_known:
            continue
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            continue
        for word in [p for p in parameters if p.startswith("overwrite") or p in ("copy", "inplace")]:
            for k in range(len(_operands())):
                given = _operands()[k]
                arrays = [[part for part in (a if isinstance(a, tuple) else (a,)) if isinstance(part, np.ndarray)]
                          for a in given]  # fmt: skip
                before = [[np.array(part) for part in parts] for parts in arrays]
                try:
                    with np.errstate(all="ignore"), warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        function(*given, **{word: word.startswith("overwrite")})
                except Exception:
                    continue  # it takes other operands
                changed = {
                    place for place, (parts, were) in enumerate(zip(arrays, before, strict=True))
                    if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(parts, were, strict=True))
                }  # fmt: skip
                listed = effect.updated(len(given), [word])
                seen += bool(changed)
                if not changed <= listed and effects.ALL not in listed:
                    wrong.append(f"{name}({word}) changes {changed}, listed {set(listed)}")
    assert not wrong, "\n".join(wrong)
    assert seen or home in ("numpy.linalg", "numpy.fft", "scipy.special")


def test_options_that_change_nothing() -> None:
    def updates(text: str) -> frozenset[int]:
        call = gast.parse(text).body[0].value
        function = getattr(np, call.func.attr)
        return effects.of_function(function).without_idle(call.args, call.keywords).updated(
            len(call.args), [str(k.arg) for k in call.keywords])  # fmt: skip

    for text in ("np.nan_to_num(y)", "np.nan_to_num(y, copy=True)", "np.nan_to_num(y, True)", "np.median(y)",
                 "np.median(y, overwrite_input=False)"):  # fmt: skip
        assert not updates(text), text
    for text in ("np.nan_to_num(y, copy=c)", "np.nan_to_num(y, False)", "np.median(y, None, None, True)"):
        assert updates(text) == {0} or 0 in updates(text), text
    assert not effects.of_function(np.ma.add).is_known


@pytest.mark.filterwarnings("ignore")
def test_functions_of_emitted_code_change_what_is_listed_alone() -> None:
    """Every sample of a rule of theirs is called, and what it was given is compared with what it was."""
    called = 0
    for function, samples in SAMPLES.items():
        effect = effects.of_function(function)
        if not effects.is_of_emitted(function) or not effect.is_known or effect.updates:
            continue
        for sample in samples:
            before = copy.deepcopy((sample.args, sample.kwargs))
            with np.errstate(all="ignore"):
                function(*sample.args, **sample.kwargs)
            np.testing.assert_equal((sample.args, sample.kwargs), before, err_msg=function.__name__)
            called += 1
    assert called > 200


def test_what_emitted_code_updates_is_listed() -> None:
    assert effects.updating_in_emitted() == {
        "accumulate", "add_at", "claim", "put_back", "step", "tangent_like", "unrest"
    }  # fmt: skip
    assert set(effects._of_runtime()) <= set(runtime.__all__)
