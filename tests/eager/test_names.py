"""Names of gradient functions, their edges, and whether a graph can be gone through twice: recorded from PyTorch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import srcgrad.eager as torch

RECORDED = json.loads((Path(__file__).parent / "recorded" / "names.json").read_text())
EXPRESSIONS: dict[str, Any] = RECORDED["expressions"]
LEAST = 0.9  # the share of the recorded expressions that must exist

# Operations whose node keeps nothing here and frees something there, or the other way round.
TWICE_OTHERWISE = {"v().sgn()"}


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
    """The tensor; skipped where the module lacks a function."""
    try:
        return eval(expression, scope())
    except (AttributeError, ImportError) as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_node_has_the_recorded_name(expression: str) -> None:
    assert name_of(made(expression).grad_fn) == EXPRESSIONS[expression][0]


OWN = [e for e in EXPRESSIONS if not e.startswith("F.") and EXPRESSIONS[e][1] is not None and "copy_" not in e]


@pytest.mark.parametrize("expression", OWN)
def test_node_has_the_recorded_edges(expression: str) -> None:
    edges = [name_of(node) for node, _ in made(expression).grad_fn.next_functions]
    assert edges == EXPRESSIONS[expression][1]


@pytest.mark.parametrize("expression", [e for e in OWN if EXPRESSIONS[e][2] in ("ok", "freed")])
def test_graph_can_be_gone_through_twice_as_recorded(expression: str) -> None:
    if expression in TWICE_OTHERWISE:
        pytest.skip("frees something in PyTorch alone")
    tensor = made(expression)
    tensor.backward(torch.ones_like(tensor))
    if EXPRESSIONS[expression][2] == "ok":
        tensor.backward(torch.ones_like(tensor))
    else:
        with pytest.raises(RuntimeError, match="a second time"):
            tensor.backward(torch.ones_like(tensor))


def test_most_recorded_expressions_exist() -> None:
    names = scope()
    lacking = []
    for expression in EXPRESSIONS:
        try:
            eval(expression, names)
        except (AttributeError, TypeError, NotImplementedError) as error:
            lacking.append(f"{expression}: {error}")
    assert len(lacking) <= (1 - LEAST) * len(EXPRESSIONS), lacking
