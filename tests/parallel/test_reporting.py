"""What a call tells of itself: the report, progress, and environments that differ."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from srcgrad.parallel import EnvironmentWarning, Report, grad, report
from srcgrad.parallel.environment import Environment, differences, environment, one_thread
from tests.parallel.losses import shards_of, squares

W = np.linspace(-1.0, 1.0, 4)
HERE = Environment("3.12.1", "0.1.0", "2.2.0", "1.15.0", "openblas 0.3.28 Haswell", "a CPU", 1)
ROOT = Path(__file__).parent.parent.parent


def test_the_report_adds_up(processes):
    grad(squares, executor=processes)(W, shards_of(50))
    found = report()
    assert found.shards == 50 and 4 <= found.tasks <= 50 and found.compiled == 1
    assert 0.0 < found.computing and found.waiting + found.sending + found.adding <= found.total
    assert found.sent > 50 * shards_of(1)[0][0].nbytes and found.received > 0
    assert 1 <= len(found.environments) <= 2
    lines = str(found).splitlines()
    assert lines[0].startswith("50 shards in ") and "a second, in " in lines[0] and "NumPy" in lines[-1]


def test_without_a_call_there_is_no_report():
    program = "import srcgrad.parallel as p\ntry: p.report()\nexcept Exception as e: print(type(e).__name__, e)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert found.stdout == "ArgumentError nothing has run in parallel yet\n"


def test_workers_that_differ_warn_once():
    found = Report()
    found.meet(frozenset({("a", HERE), ("b", HERE)}))
    other = replace(HERE, threads=4, cpu="another")
    text = r"^workers differ in cpu \(a CPU, another\); threads \(1, 4\): results may differ in their last bits"
    with pytest.warns(EnvironmentWarning, match=text):
        found.meet(frozenset({("c", other)}))
    found.meet(frozenset({("d", other)}))


def test_what_differs_is_said():
    assert differences([HERE, HERE]) is None and differences([]) is None
    assert differences([HERE, replace(HERE, numpy="2.3.0")]) == "numpy (2.2.0, 2.3.0)"
    assert "1 BLAS thread" in str(HERE) and "4 BLAS threads" in str(replace(HERE, threads=4))
    assert "an unknown number of BLAS threads" in str(replace(HERE, threads=None))


def test_blas_has_one_thread_while_a_call_runs_and_its_own_number_again():
    pytest.importorskip("threadpoolctl", reason="threadpoolctl sets the number of BLAS threads")
    program = (
        "import srcgrad.parallel as p\nfrom srcgrad.parallel.environment import environment\n"
        "from tests.parallel.losses import product\nbefore = environment().threads\np.grad(product)(2.0, [1.0])\n"
        "inside = next(iter(p.report().environments.values())).threads\nprint(before, inside, environment().threads)"
    )
    variables = {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "PATH": "/usr/bin"}
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True, env=variables
    )
    assert found.stdout.split() in (["2", "1", "2"], ["1", "1", "1"])


def test_the_limit_of_threads_is_counted():
    with one_thread():
        with one_thread():
            assert environment().threads in (1, None)
        assert environment().threads in (1, None)


def test_progress_with_tqdm(capsys):
    pytest.importorskip("tqdm")
    grad(squares, progress=True)(W, shards_of(5))
    shown = capsys.readouterr().err
    assert "grad squares" in shown and "5/5" in shown and "shard/s" in shown


def test_progress_without_tqdm(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    grad(squares, progress=True)(W, shards_of(5))
    last = capsys.readouterr().err.split("\r")[-1]
    assert last.startswith("grad squares: 5/5 shards, ") and last.endswith(" shard/s\n")
    grad(squares, progress=True)(W, iter(shards_of(5)))
    assert "\rgrad squares: 5 shards, " in capsys.readouterr().err


def test_nothing_is_imported_unless_it_is_used():
    program = (
        "import sys, srcgrad.parallel as p\nfrom tests.parallel.losses import product\n"
        "assert p.grad(product)(2.0, [1.0, 2.0]) == 3.0\n"
        "print([m for m in ('dask', 'distributed', 'loky', 'mpi4py', 'tqdm', 'cloudpickle') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert found.stdout == "[]\n", found.stderr
