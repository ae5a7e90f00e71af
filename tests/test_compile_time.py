"""Compiling takes time in proportion to the program, and memory while its function is there.

Times are processor time, against other Python work on this machine.
"""

from __future__ import annotations

import argparse
import ast
import gc
import inspect
import itertools
from pathlib import Path
from time import process_time
from types import FunctionType
from weakref import ref

import numpy as np
import pytest

from benchmarks.compile_time import load, straight_line
from srcgrad import UnsupportedSyntax, grad, jvp, value_and_grad
from srcgrad.rules.table import lookup
from srcgrad.syntax.parse import quote

_numbers = itertools.count()


def seconds(statements: int, folder: Path) -> float:
    function = load(straight_line(statements), f"straight_{statements}_{next(_numbers)}", folder)
    begin = process_time()
    grad(function, (0, 1))(0.5, 0.25)
    return process_time() - begin


def yardstick() -> float:
    """Processor time in which this machine parses a module of 2,500 lines and writes it out again."""
    text = inspect.getsource(argparse)
    begin = process_time()
    ast.unparse(ast.parse(text))
    return process_time() - begin


def test_compiling_is_fast_and_linear(tmp_path: Path) -> None:
    seconds(8, tmp_path)  # loads the rules
    turns: list[tuple[float, ...]] = []
    for _ in range(2):  # in turns: a machine that slows down slows all three; the second where the first says too much
        turns.append((yardstick(), seconds(160, tmp_path), seconds(640, tmp_path)))
        unit, few, many = map(min, zip(*turns, strict=True))
        if few < 25 * unit and many < 10 * few:
            return
    assert few < 25 * unit  # 8 to 14 measured; 10 units are about 0.4 s
    assert many < 10 * few  # 4 when linear, 16 when quadratic; 4.2 to 8.2 measured


def test_the_garbage_collector_runs_again_afterwards() -> None:
    assert gc.isenabled()
    grad(lambda x: x * x)(2.0)
    assert gc.isenabled()
    with pytest.raises(UnsupportedSyntax):
        grad(lambda x: (yield x))(2.0)
    assert gc.isenabled()
    gc.disable()
    try:
        grad(lambda x: x * x)(2.0)
        assert not gc.isenabled()
    finally:
        gc.enable()


def _called(x):
    total = 0.0
    for v in x:
        total = total + np.sin(v) * _squared(v)
    return total


def _squared(v):
    return v * v


def test_what_is_compiled_of_a_function_goes_with_it() -> None:
    """Tables of blocks and of their statements, which lead to the function, kept every program for good."""
    module: dict[str, object] = {"np": np}
    module["_squared"] = FunctionType(_squared.__code__, module)
    module["alike"] = alike = FunctionType(_called.__code__, module, "alike")
    x = np.ones(2)
    value_and_grad(alike)(x)
    jvp(alike, (x,), (x,))
    kept = ref(alike)
    del alike, module
    gc.collect()
    assert kept() is None


def test_calls_alike_share_one_slice() -> None:
    """What is cut from a template depends on which arguments are given and which of them are numbers."""
    rule = lookup(np.multiply)
    assert rule is not None
    first, second = rule.parameters[:2]

    def cut(a: str, b: str) -> object:
        return rule.adjoint_slice({first}, {first: quote(a), second: quote(b)})

    assert cut("u", "v") is cut("s", "t")
    assert cut("u", "2.0") is cut("s", "3.0")
    assert cut("u", "v") is not cut("u", "2.0")
