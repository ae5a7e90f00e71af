"""``srcgrad rules``: the table, one rule, and the page of the documentation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from srcgrad.inspect import rulebook
from srcgrad.inspect.cli import main
from srcgrad.rules.catalogue import entries

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"


def output(capsys: Any, *arguments: str) -> str:
    assert main(["rules", *arguments]) == 0
    text: str = capsys.readouterr().out
    return text


def test_one_rule_shows_its_list_kind_call_form_and_text(capsys: Any) -> None:
    text = output(capsys, "np.arctan2")
    assert text.startswith("np.arctan2: ruled\n")
    assert "kind:           elementwise" in text
    assert "derivatives by: x1, x2" in text
    assert "def arctan2(x1, x2, *, z, z_bar):" in text


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("np.floor", "np.floor: constant"),
        ("np.unique", "hint: "),
        ("ndarray.sum", "ndarray.sum: as np.sum"),
        ("ndarray.shape", "ndarray.shape: constant"),
        ("ndarray.fill", "ndarray.fill: refused"),
        ("numpy.linalg.inv", "numpy.linalg.inv: ruled"),
        ("sum", "sum: ruled"),
        ("os.getcwd", "os.getcwd: in no list"),
    ],
)
def test_every_list_is_described(capsys: Any, name: str, part: str) -> None:
    assert part in output(capsys, name)


def test_a_rule_that_is_written_for_the_operands_of_a_call_shows_what_it_writes(capsys: Any) -> None:
    text = output(capsys, "np.einsum")
    assert "return None" not in text
    assert "return (uneinsum(transposed_subscripts(subscripts, 0, 2), operands[0], y_bar, operands[1])" in text
    assert "# its tangent for 2 operands:\nnp.einsum(" in text


@pytest.mark.parametrize("name", ["np.no_such_function", "ndarray.no_such_method", "nothing.at.all"])
def test_a_name_that_is_not_there_is_one_clear_line(capsys: Any, name: str) -> None:
    assert main(["rules", name]) == 2
    error = capsys.readouterr().err
    assert error.startswith("srcgrad: ") and len(error.splitlines()) == 1


def test_the_list_can_be_narrowed(capsys: Any) -> None:
    text = output(capsys, "--match", "linalg.inv")
    assert [line.split() for line in text.splitlines()[:2]] == [
        ["function", "kind", "derivatives", "by"],
        ["np.linalg.inv", "rule", "a"],
    ]
    assert "np.histogram2d " in output(capsys, "--list", "refused")
    assert "np.floor" in output(capsys, "--list", "constant")


def test_every_ruled_function_can_be_described() -> None:
    for entry in entries():
        if entry.status == "ruled":
            assert "def " in rulebook.describe(entry.name)


def test_the_page_is_made_from_the_table(expect_text: Any, bless: bool) -> None:
    """``pytest tests/inspect/test_rulebook.py --bless`` writes it; on other libraries the table has other functions."""
    if not bless and f"for {rulebook.versions()}." not in PAGE.read_text(encoding="utf-8"):
        pytest.skip(f"the page is about other versions than {rulebook.versions()}")
    expect_text(PAGE, rulebook.page())
