"""Parameters of tests that run over the corpus and the tables: readable names, and what waits for the night."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice
from typing import Any

import pytest

from tests.corpus.example import Case

ParameterSet = type(pytest.param(None))

#: A test that asks the same of many programs asks it by day of one in so many, and of no fewer than so many; at night
#: of all of them.
_ONE_IN, _NO_FEWER = 5, 4
#: Tests whose parameters are pages and texts that people read, each of which is looked at on every run.
WHOLE = ("tests/refusals/", "tests/test_golden.py", "tests/test_examples.py", "tests/test_layers.py")
#: Tests that depend on NumPy and on the machine, and not on the Python: they run on the first one only.
ON_ONE_PYTHON = (
    "tests/fuzz/", "tests/installed/", "tests/kinks/", "tests/parallel/", "tests/rules/", "tests/test_compile_time.py",
    "tests/test_complex.py", "tests/test_dtypes.py", "tests/test_generated.py", "tests/test_nothing_changes.py",
    "tests/test_output_is_input.py", "tests/test_second_order.py", "tests/test_second_order_stores.py",
)  # fmt: skip
#: Of programs that all Pythons run alike, one in so many on the other Pythons.
SHARES_ON_OTHERS = {"tests/directed/": 3, "tests/eager/": 3, "tests/test_corpus.py": 3}


@cache
def places_by_day(count: int, costly: tuple[int, int] | None = None) -> frozenset[int]:
    """Which of so many parameters a test asks on every run: some that are evenly spread.

    Of these a test marked ``costly`` asks no more than so many, from that one on: ``(1, 2)`` says the third alone.
    """
    kept = max(_NO_FEWER, -(-count // _ONE_IN))
    sample = [k for k in range(count) if count <= kept or k * kept // count != (k - 1) * kept // count]
    most, first = costly or (count, 0)
    return frozenset(sample[first :: max(1, -(-(len(sample) - first) // most))] or sample)


def cases(chosen: Iterable[Case]) -> list[Any]:
    """Every program at every run."""
    return [pytest.param(case, id=f"{case.theme}-{case.name}") for case in chosen]


def some_by_day(chosen: Iterable[Case], every: int) -> list[Any]:
    """One program of so many at every run, the others at night (``pytest -m nightly``)."""
    return [
        pytest.param(case, id=f"{case.theme}-{case.name}", marks=pytest.mark.nightly if k % every else ())
        for k, case in enumerate(chosen)
    ]


def share_by_day(entries: Iterable[Any], every: int) -> list[Any]:
    """One of so many parameters of any kind at every run, the others at night; their ids and marks are kept.

    A tuple holds the values of several arguments.
    """
    made = []
    for k, entry in enumerate(entries):
        values = entry if isinstance(entry, tuple) else (entry,)
        given = entry if isinstance(entry, ParameterSet) else pytest.param(*values)
        night = [pytest.mark.nightly] if k % every else []
        made.append(pytest.param(*given.values, id=given.id, marks=[*given.marks, *night]))
    return made


def at_night(*values: Any, **more: Any) -> Any:
    """A parameter of the long run."""
    return pytest.param(*values, marks=pytest.mark.nightly, **more)


def for_each(
    entries: Iterable[Any], name: Callable[[Any], str] = str, by_day: int = 1
) -> Callable[..., Callable[..., None]]:
    """One test that looks at every entry of a table and reports all that fail, by ``name``; at one of so many by day.

    Where an entry takes microseconds, a test of its own costs a hundred times as much as what it looks at.
    """

    def decorate(check: Callable[[Any], None]) -> Callable[..., None]:
        def look(every: int) -> None:
            failures: list[Exception] = []
            count = 0
            for count, entry in enumerate(islice(entries, 0, None, every), 1):
                try:
                    check(entry)
                except Exception as failure:
                    failure.add_note(f"in {name(entry)}")
                    failures.append(failure)
            assert count, "nothing was looked at: an iterator gives its entries once"
            if failures:
                raise ExceptionGroup(f"{len(failures)} entries fail", failures)

        def test() -> None:
            look(1)

        made = test if by_day == 1 else look
        made.__doc__, made.__name__, made.__module__ = check.__doc__, check.__name__, check.__module__
        return made if by_day == 1 else pytest.mark.parametrize("every", [by_day, at_night(1)])(made)

    return decorate
