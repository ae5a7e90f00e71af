"""The examples run, and say the same on all executors."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parallel.conftest import missing
from tests.parallel.test_mpi import MPIEXEC, under_mpi
from tests.parameters import at_night

ROOT = Path(__file__).parent.parent.parent


def output(*command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = (sys.executable, *command)
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment, timeout=120)
    assert run.returncode == 0, run.stderr
    return run.stdout


#: What fitting one shard after the other prints.
FITTED = ["alpha  0.54605   true 0.55", "beta   0.02761   true 0.028", "gamma  0.80598   true 0.8",
          "delta  0.02418   true 0.024"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [["processes"], at_night(["processes", "threads"])], ids=["processes", "both"])
def test_the_ensemble_is_fitted_alike(kinds):
    """To the digits that were recorded; at night by threads and by processes to the same bits."""
    fitted, *others = (output("examples/ensemble.py", kind).split("\n")[:5] for kind in kinds)
    assert [line.rstrip() for line in fitted[:4]] == FITTED and fitted[4].startswith("error 5.79275993")
    assert all(other == fitted for other in others)
    if MPIEXEC is not None and not missing("mpi4py"):
        assert under_mpi(2, "examples/ensemble.py", "mpi").stdout.split("\n")[:5] == fitted


@pytest.mark.nightly
@pytest.mark.skipif(missing("distributed"), reason="Dask is not installed: pip install 'srcgrad[dask]'")
def test_the_logistic_regression_finds_its_weights():
    found = output("examples/logistic_chunks.py", "--rows", "60000")
    assert float(re.search(r"error of a weight ([\d.]+)", found).group(1)) < 0.1


def test_the_simulation_knows_the_ideal():
    """With costs of nothing a call takes the shards' time over the workers'."""
    from benchmarks.scale_simulation import Costs, Job, on_dask, on_pool

    free = Costs(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e30)
    job = Job(20_000, 0.1, 8, 50)
    for run in (on_pool, on_dask):
        assert run(job, free)[0] == pytest.approx(40.0, rel=0.02)
    busy = on_pool(Job(1000, 1e-9, 0, 10), Costs(client_task=0.5, bandwidth=1e30))
    assert busy[0] == pytest.approx(busy[1], rel=0.01)  # the client is all there is
