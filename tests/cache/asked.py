"""What another process gives for programs, and which of them it compiles: ``python -m tests.cache.asked NAMES``."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tests import derivatives, oracle

MARK = "outcomes: "
ROOT = Path(__file__).parent.parent.parent


def outcomes(names: list[str]) -> dict[str, Any]:
    """By name: a digest of values, cotangents and tangents, to the last bit, and which programs were compiled."""
    import srcgrad
    from srcgrad.api import compiling
    from srcgrad.api.kept import Variant
    from tests.corpus import CASES

    compiled: list[str] = []
    plain = compiling.compiled

    def counted(derivative: Any, function: Any, values: Any, variant: Variant) -> Any:
        compiled.append(variant.mode)
        return plain(derivative, function, values, variant)

    compiling.compiled = counted
    by_name = {case.name: case for case in CASES}
    found = {}
    for name in names:
        case = by_name[name]
        compiled.clear()
        made: list[bytes] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = case.function(*derivatives.fresh(case.arguments), **case.keywords)
            got, cotangents = derivatives.reverse(case, oracle.seed_like(value, 1))
            made += [*map(bits, oracle.leaves(got)), *map(bits, oracle.leaves(cotangents))]
            if not case.keywords:
                tangents = oracle.seed_like(derivatives.chosen(case), 2)
                made += [*map(bits, oracle.leaves(derivatives.forward(case, tangents)))]
            if np.shape(value) == () and oracle.is_inexact(value) and not np.iscomplexobj(value):
                gradient = srcgrad.value_and_grad(case.function, argnums=case.argnums)
                made += [*map(bits, oracle.leaves(gradient(*derivatives.fresh(case.arguments), **case.keywords)))]
        found[name] = hashlib.sha256(b"|".join(made)).hexdigest(), list(compiled)
    return found


def bits(leaf: Any) -> bytes:
    if isinstance(leaf, np.ndarray | np.generic | float | int | complex):
        array = np.asarray(leaf)
        return f"{type(leaf).__name__} {array.dtype.str} {array.shape} ".encode() + array.tobytes()
    return repr(leaf).encode()


def in_a_process(names: list[str], folder: Path | str, **environment: str) -> dict[str, Any]:
    """``outcomes`` of another process, which keeps its programs in a folder."""
    known = os.environ | {"SRCGRAD_CACHE": str(folder), "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-m", "tests.cache.asked", json.dumps(names)]
    done = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = next(line for line in done.stdout.splitlines() if line.startswith(MARK))  # programs print, too
    made: dict[str, Any] = json.loads(told.removeprefix(MARK))
    return made


if __name__ == "__main__":
    print(f"\n{MARK}{json.dumps(outcomes(json.loads(sys.argv[1])))}")
