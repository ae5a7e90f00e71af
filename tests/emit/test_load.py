"""Emissions become functions, and files."""

from __future__ import annotations

import gc
import importlib.util
import inspect
import linecache
import math
import re
import subprocess
import sys
import traceback

import numpy as np
import pytest

import srcgrad
from srcgrad.emit.emission import Emission
from srcgrad.emit.load import annotate, load, refresh
from srcgrad.emit.printer import emit
from srcgrad.emit.saving import save
from srcgrad.errors import Span, SrcgradError
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import builtin
from tests.emit.test_printer import NP, function

RATE = [2.0]


def emission() -> Emission:
    made = function(
        "def f(x):\n    y = A.sin(x)\n    return g(y) * B",
        A=NP,
        B=GlobalBinding("rate", 2.0, None, None, lambda: RATE[0]),
    )
    helper = function("def g(y):\n    return -S([y])", S=builtin("sum"))
    return emit([made, helper], spans=lambda node: Span("model.py", "f", 7, 4, 7, 17, "    y = np.sin(x) # sine"))


def test_functions_run_with_the_objects_themselves():
    f = load(emission(), "f", label="demo.f:adjoint")
    assert f(0.5) == -2 * math.sin(0.5)
    assert f.__globals__["np"] is np
    assert f.__srcgrad_source__ == f.__globals__["g"].__srcgrad_source__ == emission().text
    assert set(f.__globals__["__srcgrad_bindings__"]) == {"np", "rate", "sum"}


def test_live_bindings_are_read_again():
    f = load(emission(), "f", label="demo.f:adjoint")
    RATE[0] = 3.0
    try:
        assert f(0.5) == -2 * math.sin(0.5)
        refresh(f)
        assert f(0.5) == -3 * math.sin(0.5)
    finally:
        RATE[0] = 2.0


def test_source_is_there_while_a_function_lives():
    one, other = (load(emission(), "f", label="demo.f:adjoint") for _ in range(2))
    filename = one.__code__.co_filename
    assert filename.startswith("<srcgrad demo.f:adjoint ")
    linecache.checkcache()
    assert inspect.getsource(one).startswith("def f(x):  # model.py:7\n    y = np.sin(x)  # model.py:7\n")
    del one
    gc.collect()
    assert inspect.getsource(other)
    del other
    gc.collect()
    load(emit([function("def h(x):\n    return x")]), "h", label="demo.h:adjoint")
    assert filename not in linecache.cache


def test_a_function_may_die_while_linecache_looks_through_its_entries():
    f = load(emission(), "f", label="demo.dying:adjoint")
    names = list(linecache.cache)
    assert f.__code__.co_filename in names
    del f
    gc.collect()
    assert all(linecache.cache[name] for name in names)  # ``checkcache`` lists the names first, then looks them up


def test_source_that_is_loaded_again_before_it_goes_stays():
    f = load(emission(), "f", label="demo.again:adjoint")
    filename = f.__code__.co_filename
    del f
    gc.collect()
    again = load(emission(), "f", label="demo.again:adjoint")
    load(emit([function("def h(x):\n    return x")]), "h", label="demo.h:adjoint")
    assert again.__code__.co_filename == filename
    assert inspect.getsource(again).startswith("def f(x):  # model.py:7")


def test_a_failure_names_the_users_line_once():
    f = load(emission(), "f", label="demo.f:adjoint")
    with pytest.raises(TypeError) as caught:
        f("a")
    annotate(caught.value, f)
    annotate(caught.value, f)
    assert caught.value.__notes__ == ["in the adjoint of model.py:7: `y = np.sin(x)`"]
    assert "    y = np.sin(x)  # model.py:7\n" in "".join(traceback.format_exception(caught.value))


def test_a_saved_file_can_be_imported(tmp_path):
    path = tmp_path / "saved.py"
    save(emission(), path)
    spec = importlib.util.spec_from_file_location("saved", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.f(0.5) == -2 * math.sin(0.5)


@pytest.mark.parametrize(
    ("binding", "message"),
    [
        (GlobalBinding("table", np.ones(2)), "table is a ndarray that a saved file can neither import nor spell"),
        (GlobalBinding("helper", test_live_bindings_are_read_again, "__main__", "helper"), "helper lives in __main__"),
    ],
)
def test_what_cannot_be_saved(tmp_path, binding, message):
    made = emit([function("def f(x):\n    return x * T", T=binding)])
    with pytest.raises(SrcgradError, match=message):
        save(made, tmp_path / "saved.py")
    assert not (tmp_path / "saved.py").exists()


def quotient(x):
    y = x * 2.0
    return 1.0 / (y - y)


@pytest.mark.parametrize(
    "compiled",
    [srcgrad.grad(quotient), lambda x: srcgrad.vjp(quotient, x)],
    ids=["gradient", "pair"],
)
def test_a_failure_of_the_forward_sweep_says_that_it_was_computing(compiled):
    with pytest.raises(ZeroDivisionError) as caught:
        compiled(1.0)
    line = quotient.__code__.co_firstlineno + 2
    (said,) = caught.value.__notes__
    assert said.startswith("while computing ") and said.endswith(f"test_load.py:{line}: `1.0 / (y - y)`")


def test_every_statement_is_shown_with_the_line_that_it_comes_from():
    shown = inspect.getsource(srcgrad.grad(quotient).program(None, shown=True).entry).splitlines()
    first = quotient.__code__.co_firstlineno
    assert shown[0].endswith(f":  # test_load.py:{first}")
    assert any(line.endswith(f"t2 = 1.0 / t  # test_load.py:{first + 2}") for line in shown)


def root_of_double(x):
    y = x * 2.0
    return np.sqrt(y)


def test_a_warning_shows_the_users_line():
    code = "import srcgrad\nfrom tests.emit.test_load import root_of_double\nprint(srcgrad.grad(root_of_double)(0.0))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "inf\n"
    place, line = done.stderr.splitlines()
    assert re.fullmatch(r"<srcgrad .*>:\d+: RuntimeWarning: divide by zero encountered in divide", place)
    assert line.endswith(f"# test_load.py:{root_of_double.__code__.co_firstlineno + 2}")
