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
names = json.loads(sys.argv[1])
print(json.dumps(getattr(test_deterministic, sys.argv[2])(names)))
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


def in_a_process_of_its_own(names: list[str], seed: str, what: str = "digests") -> dict[str, str]:
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM, json.dumps(names), what]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return result


@pytest.mark.slow
@pytest.mark.parametrize("names", [NAMES[::18], at_night(NAMES)], ids=["some", "more"])
def test_two_hash_seeds_and_another_order(names):
    first = in_a_process_of_its_own(names, "1")
    second = in_a_process_of_its_own(names[::-1], "31337")
    assert {name: first[name] == second[name] for name in names} == dict.fromkeys(names, True)


@pytest.mark.parametrize("names", [NAMES[::36], at_night(NAMES[::6])], ids=["some", "more"])
def test_twice_in_one_process(names):
    assert digests(names) == digests(names)


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["2", at_night("3"), at_night("4")])
def test_order_of_sets_decides_nothing(seed):
    names = list(ONCE_IN_ANY_ORDER)
    first = in_a_process_of_its_own(names, "1", "texts")
    assert list(first) and first.keys() == set(names)
    assert in_a_process_of_its_own(names, seed, "texts") == first
