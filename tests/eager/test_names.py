"""Names of gradient functions, their edges, and whether a graph can be gone through twice: recorded from PyTorch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import srcgrad.eager as torch
from tests.parameters import for_each

RECORDED = json.loads((Path(__file__).parent / "recorded" / "names.json").read_text())
EXPRESSIONS: dict[str, Any] = RECORDED["expressions"]

ABSENT = {e for e in EXPRESSIONS if e.startswith("F.grid_sample(")}  # what the module does not offer


def scope() -> dict[str, Any]:
    """The letters that the expressions are made of."""
    names: dict[str, Any] = {"torch": torch, "F": getattr(getattr(torch, "nn", None), "functional", None)}
    names["LA"] = torch.linalg
    for line in RECORDED["leaves"]:
        exec(line, names)
    return names


def name_of(node: Any) -> str | None:
    return None if node is None else type(node).__name__


def made(expression: str) -> Any:
    return eval(expression, scope())


@for_each([e for e in EXPRESSIONS if e not in ABSENT])
def test_node_has_the_recorded_name(expression: str) -> None:
    assert name_of(made(expression).grad_fn) == EXPRESSIONS[expression][0]


OWN = [e for e in EXPRESSIONS if not e.startswith("F.") and EXPRESSIONS[e][1] is not None and "copy_" not in e]


@for_each(OWN)
def test_node_has_the_recorded_edges(expression: str) -> None:
    edges = [name_of(node) for node, _ in made(expression).grad_fn.next_functions]
    assert edges == EXPRESSIONS[expression][1]


@for_each([e for e in OWN if EXPRESSIONS[e][2] in ("ok", "freed")])
def test_graph_can_be_gone_through_twice_as_recorded(expression: str) -> None:
    tensor = made(expression)
    tensor.backward(torch.ones_like(tensor))
    if EXPRESSIONS[expression][2] == "ok":
        tensor.backward(torch.ones_like(tensor))
    else:
        with pytest.raises(RuntimeError, match="a second time"):
            tensor.backward(torch.ones_like(tensor))


def test_what_is_absent_says_so() -> None:
    assert len(ABSENT) == 1
    for expression in ABSENT:
        with pytest.raises(AttributeError, match="grid_sample"):
            made(expression)
