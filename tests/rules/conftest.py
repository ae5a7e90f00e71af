"""Numbers do not depend on the Python that computes them: the table is tried on the first Python, its laws on all."""

from __future__ import annotations

from pathlib import Path

import pytest

LAWS = {"test_lists.py", "test_signatures.py", "test_table_is_closed.py", "test_templates.py", "test_constants.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the numeric tests of the table as slow."""
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here and item.path.name not in LAWS:
            item.add_marker(pytest.mark.slow)
