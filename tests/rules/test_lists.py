"""Every public callable is ruled, constant or refused: in exactly one of the three lists, on the NumPy that is here."""

from __future__ import annotations

import pytest

from srcgrad.rules.catalogue import NUMPY, PYTHON, Entry, entries, installed_libraries, statuses
from srcgrad.rules.table import lookup, refusal

LIBRARIES = installed_libraries()


@pytest.mark.parametrize("library", [*NUMPY, *PYTHON, *LIBRARIES])
def test_every_public_callable_is_in_exactly_one_list(library: str) -> None:
    found = entries((library,))
    assert len(found) > 10
    assert {entry.name: entry.statuses for entry in found if len(entry.statuses) != 1} == {}


def test_a_name_in_no_list_is_noticed() -> None:
    assert statuses(lambda x: x) == ()
    assert Entry("new", len, ()).status is None


def test_how_many_functions_are_ruled() -> None:
    """NumPy's, ``math``'s and Python's own; each has an adjoint and a tangent."""
    ruled = [entry for entry in entries() if entry.status == "ruled" and not entry.name.startswith("ndarray.")]
    assert len(ruled) >= 330
    for entry in ruled:
        rule = lookup(entry.function)
        assert rule is not None and rule.has_tangent


@pytest.mark.parametrize("library", [*NUMPY, *PYTHON, *LIBRARIES])
def test_a_refusal_says_why_and_what_to_do(library: str) -> None:
    for entry in entries((library,)):
        if entry.status == "refused" and not entry.name.startswith("ndarray."):
            found = refusal(entry.function)
            assert found is not None and found.reason and found.hint
