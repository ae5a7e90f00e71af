"""Options and profiles of the suite.

``pytest --bless`` rewrites the expected texts (golden files) with what the compiler emits now; read the diff before
committing it.  Hypothesis: ``ci`` (the default: derandomised, 10 programs), ``dev`` (fast and random) and ``nightly``
(5,000 programs); choose with ``pytest --hypothesis-profile=nightly``.
"""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

# Read where srcgrad is imported, which the modules of the suite do.
os.environ.setdefault("SRCGRAD_CHECK", "1")  # every program of the suite is checked at the doors (srcgrad/spec.py)
os.environ["SRCGRAD_CACHE"] = "off"  # a fault is looked for in what is compiled now, and nobody's cache is touched
os.environ.setdefault("SRCGRAD_TRACEBACK", "full")  # what fails in the suite is a fault of ours as often as not

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.fuzz.modes import Asking
from tests.parameters import ON_ONE_PYTHON, SHARES_ON_OTHERS, WHOLE, places_by_day

_SLOW_DRAWS = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
settings.register_profile(
    "ci", max_examples=10, derandomize=True, deadline=None, database=None, suppress_health_check=_SLOW_DRAWS
)
settings.register_profile("dev", max_examples=50, deadline=None, suppress_health_check=_SLOW_DRAWS)
settings.register_profile("nightly", max_examples=5000, deadline=None, suppress_health_check=_SLOW_DRAWS)
settings.register_profile(  # for planted faults: red or green is all that matters
    "planted",
    max_examples=150,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=_SLOW_DRAWS,
)
settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--bless``."""
    parser.addoption("--bless", action="store_true", default=False, help="rewrite the expected texts")


#: The tests of which no item was made of the parameters that wait for the night: there is nothing more to choose.
_CHOSEN = pytest.StashKey[set[str]]()


def _name(item: pytest.Item) -> str:
    """The test that an item is one of the parameters of."""
    return item.nodeid.partition("[")[0]


def _costly(item: pytest.Item) -> tuple[int, int] | None:
    """The arguments of the mark ``costly``."""
    mark = item.get_closest_marker("costly")
    return None if mark is None else (mark.args[0], mark.kwargs.get("first", 0))


def _asks_by_day_only(config: pytest.Config) -> bool:
    """Whether nothing of the night is asked for, and no parameter by its name."""
    asked = str(config.getoption("markexpr"))
    return "not nightly" in asked.split(" and ") and " or " not in asked and not any("[" in at for at in config.args)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # around those that give a test its parameters
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """By day no items are made of the parameters that wait for the night, which are five of six: they cost as much
    as reading the files.

    Where pytest keeps its parameters elsewhere, they are made and left out, as when a part of the night is asked for.
    """
    yield
    calls, definition = getattr(metafunc, "_calls", None), metafunc.definition
    if not calls or not _asks_by_day_only(metafunc.config) or definition.get_closest_marker("nightly"):
        return
    calls = [call for call in calls if not any(mark.name == "nightly" for mark in call.marks)]
    if not definition.nodeid.startswith(WHOLE):
        places = places_by_day(len(calls), _costly(definition))
        calls = [call for place, call in enumerate(calls) if place in places]
    if calls:  # of none pytest would make one without parameters
        metafunc._calls[:] = calls  # type: ignore[attr-defined]
        metafunc.config.stash.setdefault(_CHOSEN, set()).add(definition.nodeid)


@pytest.hookimpl(tryfirst=True)  # before marks are looked at
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shares of tests by day, and what runs on the first Python only (``tests.parameters``)."""
    left_out: set[pytest.Item] = set()
    met: Counter[str] = Counter()
    chosen = config.stash.get(_CHOSEN, set())
    each = Counter(_name(item) for item in items if item.get_closest_marker("nightly") is None)
    for item in items:
        name = _name(item)
        if not name.startswith(WHOLE) and name not in chosen and item.get_closest_marker("nightly") is None:
            if met[name] not in places_by_day(each[name], _costly(item)):
                if item.get_closest_marker("sampled"):
                    left_out.add(item)
                item.add_marker(pytest.mark.nightly)
            met[name] += 1
        if name.startswith(ON_ONE_PYTHON):
            item.add_marker(pytest.mark.slow)
        for start, share in SHARES_ON_OTHERS.items():
            if name.startswith(start) and item.get_closest_marker("nightly") is None:
                if met[start] % share:
                    item.add_marker(pytest.mark.slow)
                met[start] += 1
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Hardly anything that is made meanwhile goes: looking for it is a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """The collector does not look through the tests themselves again and again: a tenth of the time of a run."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """True when expected texts are to be rewritten."""
    return bool(request.config.getoption("--bless"))


@pytest.fixture
def expect_text(bless: bool) -> Callable[[Path, str], None]:
    """``expect_text(path, text)``: the file holds the text, or holds it from now on when blessing."""

    def check(path: Path, text: str) -> None:
        if bless:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        assert path.exists(), f"{path} is missing; run pytest --bless and read what it writes"
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture(params=["telling", pytest.param("every", marks=pytest.mark.nightly)])
def ask(request: pytest.FixtureRequest) -> Asking:
    """Asks a program that was wrong once in the telling modes, and in every mode at night."""
    return Asking(every=request.param == "every")
