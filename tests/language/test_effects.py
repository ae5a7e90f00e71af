"""The table of effects against Python and NumPy: every member of the classes listed is called and observed."""

from __future__ import annotations

import heapq
import inspect
import operator
import random

import numpy as np
import pytest

from srcgrad.language import effects
from tests.language.observing import OBJECTS, observe

#: What would need a file, a device or a thread of its own, or a value that no test can make: not called, listed alone.
_NOT_CALLED = {"__release_buffer__"}


def test_every_member_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    members = [(kind, name) for kind in OBJECTS for name in dir(kind)]
    missing = [f"{kind.__name__}.{name}" for kind, name in members if not effects.member(kind, name).is_known]
    with capsys.disabled():
        print(f" [{len(members) - len(missing)} of {len(members)} members listed] ", end="")
    assert set(OBJECTS) == set(effects.KINDS) and not missing, missing


@pytest.mark.parametrize("kind", OBJECTS, ids=lambda kind: kind.__name__)
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
