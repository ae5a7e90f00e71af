"""MPI: the same bits from ``mpi4py.futures``, where ``mpiexec`` is found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parallel.conftest import missing

ROOT = Path(__file__).parent.parent.parent
MPIEXEC = shutil.which("mpiexec")

pytestmark = pytest.mark.skipif(
    MPIEXEC is None or missing("mpi4py"),
    reason=f"MPI is not tested: {'mpiexec is not found' if MPIEXEC is None else 'mpi4py is not installed'}",
)


def under_mpi(processes: int, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python in so many processes, one of which is the client; more of them than cores may be."""
    version = subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True).stdout
    options = ["--allow-run-as-root", "--oversubscribe"] if "Open MPI" in version or "OpenRTE" in version else []
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [MPIEXEC, *options, "-n", str(processes), sys.executable, "-m", "mpi4py.futures", *command],
        capture_output=True, text=True, cwd=ROOT, env=environment, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("workers", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 4))])
def test_the_same_bits(workers):
    found = under_mpi(workers + 1, str(Path(__file__).with_name("mpi_script.py")))
    assert found.stdout.split(maxsplit=3)[:3] == [str(workers), "True", "True"], found.stdout + found.stderr
    assert "raised ValueError: a target is negative" in found.stdout
