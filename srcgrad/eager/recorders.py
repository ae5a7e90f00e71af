"""Operations applied and recorded by functions made for each formula: what ``dispatch`` decides, decided once.

Enters: a formula and the class of its nodes.  ``recorder`` leaves ``recorder(result, edges, *operands)``, which makes
the node of a result with real elements, or returns False where something rare has to be looked at, before it has done
anything.  ``applier`` leaves a function that computes the result too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from srcgrad.eager.formulas import INPUT, PLAIN, RESULT, Formula, stand_in
from srcgrad.eager.graph import Node, sequence
from srcgrad.eager.lifted_arrays import is_escape, on_arrays
from srcgrad.eager.tensor import SavedResult, Tensor, new

REAL = frozenset(map(np.dtype, (np.float16, np.float32, np.float64)))
Recorder = Callable[..., bool]


def recorder(formula: Formula, kind: type[Node], parameters: tuple[str, ...], keeps: bool = False) -> Recorder:
    """The function that records the nodes of one formula; ``keeps``: what they save need not be freed."""
    operands = {p: f"operand{i}" for i, p in enumerate(parameters)}
    lines = [f"def recorder(result, edges, {', '.join(operands.values())}):"]
    saved, versions = [], list[str]()
    for source, p in formula.sources:
        if source is INPUT:
            version = f"version{len(versions)}"
            versions.append(version)
            lines += [
                f"    {version} = 0",
                f"    counter = {operands[p]}.counter",
                "    if counter is not None:",
                f"        if {operands[p]}.inference:",
                "            return False",
                f"        {version} = counter[0]",
            ]
        else:
            versions.append("0")
    written = [version for version in versions if version != "0"]
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
    if written:
        lines += [f"    if {' or '.join(written)}:", f"        node.versions = ({', '.join(versions)},)"]
    if formula.keeps or keeps:
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


def applier(
    function: Callable[..., Any], record: Recorder, parameters: Mapping[str, bool], arguments: list[tuple[str, bool]],
    edges: Mapping[str, bool],
) -> Callable[..., Any]:  # fmt: skip
    """``f(array, *operands)``: the result as a tensor with its node; as an array where it is not recorded here.

    ``array`` is the result where it is known, else None.
    ``parameters``: which of the operands, in order, are tensors; ``arguments``: those that the function takes, and
    whether by name; ``edges``: the operands with edges, and whether a gradient is wanted.
    """
    operands = {p: f"operand{i}" for i, p in enumerate(parameters)}
    values = [
        (f"{p}=" if by_name else "") + operands[p] + (".array" if parameters[p] else "") for p, by_name in arguments
    ]
    given = ", ".join(values)
    lines = [
        f"def applier(array, {', '.join(operands.values())}):",
        "    if array is None:",
        "        try:",
        f"            array = function({given})",
        "        except Exception as error:",
        "            if not is_escape(error):",
        "                raise",
        f"            array = on_arrays(function)({given})",
        "    if array.dtype not in REAL:",
        "        return array",
        "    result = new(Tensor)",
        "    result.array = array",
    ]
    ends: list[str] = []
    for p, wanted in edges.items():
        if wanted:
            o, end = operands[p], f"edge{len(ends)}"
            lines += [
                f"    made = {o}.node",
                f"    {end} = (made, {o}.number) if made is not None and {o}.alias is None else {o}.edge()",
            ]
            ends.append(end)
        else:
            ends.append("NOWHERE")
    lines += [
        f"    if record(result, ({', '.join(ends)},), {', '.join(operands.values())}):",
        "        return result",
        "    return array",
    ]
    namespace: dict[str, Any] = {
        "function": function, "on_arrays": on_arrays, "is_escape": is_escape, "REAL": REAL, "new": new,
        "Tensor": Tensor, "record": record, "NOWHERE": (None, 0),
    }  # fmt: skip
    exec(compile("\n".join(lines), f"<{getattr(function, '__name__', 'function')} applied>", "exec"), namespace)
    made: Callable[..., Any] = namespace["applier"]
    return made
