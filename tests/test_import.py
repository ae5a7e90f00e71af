"""``import srcgrad`` is fast because it imports no compiler; the first derivative does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

import srcgrad
import srcgrad.runtime

ROOT = Path(__file__).parent.parent

#: What stays out until something is compiled.
COMPILER = ("astor", "gast", "srcgrad.emit", "srcgrad.frontend", "srcgrad.pipeline", "srcgrad.rules.table")


def fresh(program: str) -> str:
    """What a program prints in an interpreter of its own."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, timeout=60).stdout


@pytest.mark.parametrize("wanted", ["import srcgrad", "from srcgrad import grad, jvp, check_grads"])
def test_importing_loads_no_compiler(wanted: str) -> None:
    found = fresh(f"import sys\n{wanted}\nprint([name for name in {COMPILER} if name in sys.modules])")
    assert found.strip() == "[]"


def test_importing_loads_what_is_asked_for() -> None:
    found = fresh(
        "import sys, srcgrad\nprint([name for name in sys.modules if name.startswith('srcgrad.')])\n"
        "srcgrad.grad\nprint('srcgrad.api.transforms' in sys.modules)"
    )
    assert found.splitlines() == ["[]", "True"]


def test_making_a_derivative_loads_no_compiler_and_calling_it_does(tmp_path: Path) -> None:
    path = tmp_path / "demo.py"
    path.write_text("def square(x):\n    return x * x\n", encoding="utf-8")
    found = fresh(
        f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport demo, srcgrad\ng = srcgrad.grad(demo.square)\n"
        "print('srcgrad.pipeline' in sys.modules, g(3.0), 'srcgrad.pipeline' in sys.modules)"
    )
    assert found.split() == ["False", "6.0", "True"]


def test_saved_source_runs_without_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "demo.py").write_text("def square(x):\n    return x * x\n", encoding="utf-8")
    fresh(
        f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport demo, srcgrad\n"
        f"srcgrad.grad(demo.square).save({str(tmp_path / 'made.py')!r})"
    )
    found = fresh(
        f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport made\n"
        f"print(made.grad_square(3.0), [name for name in {COMPILER} if name in sys.modules])"
    )
    assert found.strip() == "6.0 []"


def test_importing_takes_little_time() -> None:
    """Beside NumPy's own import, which takes as long as ours: processor time by itself doubles on a machine whose cores
    are shared, and so each run is set beside itself.  The bound is for an interpreter that keeps no bytecode."""
    program = (
        "from time import process_time\nbegin = process_time()\nimport numpy\nmiddle = process_time()\n"
        "from srcgrad import check_grads, grad, hessian, stop_gradient\n"
        "print((process_time() - middle) / (middle - begin))"
    )
    assert median(float(fresh(program)) for _ in range(5)) < 2.0


def test_emitted_code_loads_the_modules_that_it_names() -> None:
    found = fresh(
        "import sys\nfrom srcgrad.runtime import unbroadcast\n"
        "print('srcgrad.runtime.broadcasting' in sys.modules, 'srcgrad.runtime.decompositions' in sys.modules)"
    )
    assert found.split() == ["True", "False"]


def test_no_module_of_the_runtime_hides_a_function_of_its_name() -> None:
    modules = {path.stem for path in (ROOT / "srcgrad" / "runtime").iterdir()}
    assert not modules & set(srcgrad.runtime.__all__)


def test_every_public_name_is_there() -> None:
    public = {name for name in dir(srcgrad) if not name.startswith("__")}
    assert public == {*srcgrad.__all__, "eager", "parallel", "scipy"}
    assert all(getattr(srcgrad, name) is not None for name in srcgrad.__all__)
    namespace: dict[str, object] = {}
    exec("from srcgrad import *", namespace)
    assert set(srcgrad.__all__) <= set(namespace)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'srcgrad' has no attribute 'gradient'"):
        srcgrad.gradient  # type: ignore[attr-defined]
