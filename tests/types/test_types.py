"""mypy and pyright see of derivatives what ``user_code.py`` says, and each mistake in it."""

from __future__ import annotations

import pytest

from tests.types.checking import differences, expected, tool


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_what_type_checkers_see(checker: str) -> None:
    if tool(checker) is None:
        pytest.skip(f"{checker} is not installed (extra: lint)")
    assert len(expected(checker)) >= 15
    assert differences(checker) == []
