"""Nodes of elementwise functions, recorded by a function made for each formula: what ``record`` decides, decided once.

Enters: a formula and the class of its nodes.  Leaves: ``recorder(result, edges, *operands)``, which makes the node of a
result with real elements, or returns False where something rare has to be looked at, before it has done anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from srcgrad.eager.formulas import INPUT, PLAIN, RESULT, Formula, stand_in
from srcgrad.eager.graph import Node, sequence
from srcgrad.eager.tensor import SavedResult, new

Recorder = Callable[..., bool]


def recorder(formula: Formula, kind: type[Node], parameters: tuple[str, ...]) -> Recorder:
    """The function that records the nodes of one formula."""
    operands = {p: f"operand{i}" for i, p in enumerate(parameters)}
    lines = [f"def recorder(result, edges, {', '.join(operands.values())}):"]
    saved = []
    for source, p in formula.sources:
        if source is INPUT:
            lines += [
                f"    counter = {operands[p]}.counter",
                f"    if counter is not None and (counter[0] or {operands[p]}.inference):",
                "        return False",
            ]
    lines += [
        "    node = new(kind)",
        "    node.edges = edges",
        "    node.formula = formula",
        "    node.sequence = number()",
        "    array = result.array",
        "    node.shape = array.shape",
        "    node.dtype = array.dtype",
        "    node.slots = slots",
    ]
    for source, p in formula.sources:
        if source is INPUT or source is PLAIN:
            saved.append(operands[p])
        elif source is RESULT:
            lines += [
                "    kept = new(SavedResult)",
                "    kept.array = array",
                "    kept.counter = result.counter = [0]",
                "    kept.number = 0",
            ]
            saved.append("kept")
        else:
            array = f"{operands[p]}.array" if p in operands else "array"
            saved.append(f"stand_in({array}.shape, {array}.dtype)")
    if saved:
        lines.append(f"    node.saved = ({', '.join(saved)},)")
    if formula.keeps:
        lines.append("    node.keeps = True")
    if kind.apply is Node.apply:
        lines.append("    node.direct = run")
    lines += ["    result.node = node", "    return True"]
    namespace: dict[str, Any] = {
        "new": new, "kind": kind, "formula": formula, "number": sequence.__next__, "slots": formula.slots,
        "SavedResult": SavedResult, "stand_in": stand_in, "run": formula.run,
    }  # fmt: skip
    exec(compile("\n".join(lines), f"<recorder of {kind.__name__}>", "exec"), namespace)
    made: Recorder = namespace["recorder"]
    return made
