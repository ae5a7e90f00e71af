"""``python -m srcgrad.eager SCRIPT.py``: scripts for which ``import torch`` means this module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SCRIPT = """
import sys

import torch
import torch.autograd as autograd
from torch.autograd import Function, grad
import neighbour


class Twice(Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g


x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Twice.apply(x).pow(2).sum()
print(grad(y, x)[0], y.grad_fn)
print(sys.argv[1:], __name__, neighbour.NAME, autograd.Function is Function)
try:
    import torch.distributed
except ModuleNotFoundError as error:
    print(error)
"""


def run(*arguments: str, at: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "srcgrad.eager", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=at, timeout=60, check=False)


def test_torch_means_this_module(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "neighbour.py").write_text("import torch\nNAME = torch.ones(1).dtype\n", encoding="utf-8")
    done = run(str(tmp_path / "script.py"), "--epochs", "3")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("tensor([ 8., 16.]) <SumBackward0 object at 0x")
    assert lines[1] == "['--epochs', '3'] __main__ torch.float32 True"
    assert lines[2].startswith("No module named 'torch.distributed': torch here is srcgrad.eager, which runs in")


def test_a_script_that_fails_shows_its_own_lines(tmp_path: Path) -> None:
    (tmp_path / "failing.py").write_text("import torch\ntorch.ones(2, requires_grad=True).backward()\n")
    done = run(str(tmp_path / "failing.py"))
    assert done.returncode == 1
    assert "failing.py" in done.stderr and "grad can be implicitly created only for scalar outputs" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ((), 2, "usage: python -m srcgrad.eager SCRIPT.py [ARGS]"),
        (("nowhere.py",), 2, "srcgrad.eager: no such file: nowhere.py"),
    ],
)
@pytest.mark.costly(1)
def test_wrong_command_lines(arguments: tuple[str, ...], status: int, message: str) -> None:
    done = run(*arguments)
    assert done.returncode == status and done.stderr.strip() == message
