"""The same text on every run: two interpreters, two hash seeds, whatever was compiled before."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from srcgrad.api.derivative import Derivative
from tests.corpus import CASES, OF_DATA
from tests.directed.program import collected
from tests.parameters import at_night

ROOT = Path(__file__).parent.parent
NAMES = [case.name for case in OF_DATA if not case.name[-1].isdigit()][::4]
PROGRAM = """
import json, sys
from tests import test_deterministic
asked = json.loads(sys.argv[1])
print(json.dumps([getattr(test_deterministic, what)(given) for what, given in asked]))
"""
#: Once written in an order that changed from run to run: functions that are called alike, lists that are made arrays,
#: and names that several versions of a variable need.
ONCE_IN_ANY_ORDER = (
    "choose_lambda", "dataclasses_of_functions", "a_receiver_and_limits_are_evaluated_before_the_output_is_found",
    "extremes_of_pairs", "reduced_while_it_is_stored_into",
)  # fmt: skip


def digests(names: list[str]) -> dict[str, str]:
    """A digest of the three programs of each function."""
    found = {}
    for name in names:
        case = next(case for case in CASES if case.name == name)
        texts = [Derivative(case.function, case.argnums, mode=mode).source for mode in ("reverse", "split", "forward")]
        found[name] = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    return found


def texts(names: list[str]) -> dict[str, str]:
    """The program of each function for its arguments."""
    importlib.import_module("tests.directed.running")  # which loads them all
    found = {}
    for case in (*CASES, *collected()):
        if case.name in names:
            found[case.name] = Derivative(case.function, case.argnums, mode="split").source_for(*case.arguments)
    return found


def in_a_process_of_its_own(asked: list[tuple[str, list[str]]], seed: str) -> list[dict[str, str]]:
    """What functions of this module give for names: a process takes seconds to start, and is asked for all at once."""
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM, json.dumps(asked)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: list[dict[str, str]] = json.loads(done.stdout.splitlines()[-1])
    return result


@pytest.mark.slow
@pytest.mark.parametrize(("names", "seed"), [
    pytest.param(NAMES[::36], "31337", id="some"), at_night(NAMES, "31337", id="more"),
    *(at_night(NAMES[::18], seed, id=f"some-{seed}") for seed in ("2", "3", "4")),
])  # fmt: skip
def test_two_hash_seeds_and_another_order(names, seed):
    """And the order of sets decides nothing: of the programs of which it once did the text for their arguments."""
    once = list(ONCE_IN_ANY_ORDER)
    first, texts = in_a_process_of_its_own([("digests", names), ("texts", once)], "1")
    second, others = in_a_process_of_its_own([("digests", names[::-1]), ("texts", once)], seed)
    assert {name: first[name] == second[name] for name in names} == dict.fromkeys(names, True)
    assert texts.keys() == set(once) and others == texts


@pytest.mark.parametrize("names", [NAMES[::72], at_night(NAMES[::6])], ids=["some", "more"])
def test_twice_in_one_process(names):
    assert digests(names) == digests(names)
