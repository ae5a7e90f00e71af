"""What random programs under transforms answer: run, taken down to a few numbers, compared, recorded.

``python -m tests.eager.transform_answers FIRST COUNT`` runs programs beside an installed PyTorch and prints where the
two differ; with ``--record`` it writes what the tests read.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.eager.transform_programs import HEAD, Program, program

CLOSE = 1e-7
RECORDED = Path(__file__).parent / "recorded" / "transforms.json"


def answer(made: Program, torch: Any) -> Any:
    """The result of a program as a list of arrays, or the exception that ends it."""
    names: dict[str, Any] = {"torch": torch}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            exec(compile(HEAD + made.text, f"<program {made.seed}>", "exec"), names)
            return [np.asarray(leaf.detach().numpy()) for leaf in leaves(names["result"])]
        except Exception as raised:
            return raised


def leaves(tree: Any) -> Iterator[Any]:
    """The tensors of a result in their order."""
    if isinstance(tree, dict):
        for key in sorted(tree):
            yield from leaves(tree[key])
    elif isinstance(tree, tuple | list):
        for item in tree:
            yield from leaves(item)
    else:
        yield tree


def digest(found: Any) -> list[Any] | None:
    """What is recorded of an answer: its shapes, two projections on fixed directions, its size; None of a refusal."""
    if isinstance(found, Exception):
        return None
    shapes = " ".join("x".join(map(str, one.shape)) or "-" for one in found)
    flat = np.concatenate([np.asarray(one, float).ravel() for one in found])
    flat = np.nan_to_num(flat, nan=7.25, posinf=1234.5, neginf=-4321.5)
    at = np.arange(1, flat.size + 1)
    numbers = flat @ np.sin(at), flat @ np.cos(at * at), np.max(np.abs(flat), initial=0.0)
    return [shapes, *(float(f"{number:.9g}") for number in numbers)]


def same(mine: list[Any], theirs: list[Any]) -> bool:
    """Whether two digests are of the same answer."""
    allowed = CLOSE * max(1.0, theirs[3]) * 8
    return mine[0] == theirs[0] and all(abs(p - q) <= allowed for p, q in zip(mine[1:], theirs[1:], strict=True))


def main() -> None:
    """Run programs beside an installed PyTorch."""
    import torch as theirs

    import srcgrad.eager as ours
    import srcgrad.eager.autograd.forward_ad
    import srcgrad.eager.func  # noqa: F401

    first, count = int(sys.argv[1]), int(sys.argv[2])
    records: list[Any] = []
    counts = {"same": 0, "both refuse": 0, "only PyTorch answers": 0, "only we answer": 0, "WRONG": 0}
    for seed in range(first, first + count):
        made = program(seed)
        expected = answer(made, theirs)
        records.append(digest(expected))
        if "--record" in sys.argv:
            continue
        got = answer(made, ours)
        kind = "WRONG"
        if isinstance(got, Exception):
            kind = "both refuse" if isinstance(expected, Exception) else "only PyTorch answers"
        elif isinstance(expected, Exception):
            kind = "only we answer"
        elif same(digest(got) or [], records[-1]):
            kind = "same"
        counts[kind] += 1
        if kind == "WRONG" or (kind.startswith("only") and "-v" in sys.argv):
            print(f"--- {seed}: {kind}: {got!r:.200}\nPyTorch: {expected!r:.200}\n{made.text}")
    if "--record" in sys.argv:
        lines = (json.dumps(record, separators=(",", ":")) for record in records)
        RECORDED.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    print(counts)


if __name__ == "__main__":
    main()
