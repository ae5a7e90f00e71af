"""Compiling takes time in proportion to the program: processor time, against other Python work on this machine."""

from __future__ import annotations

import argparse
import ast
import gc
import inspect
import itertools
from pathlib import Path
from time import process_time

import numpy as np
import pytest

from benchmarks.compile_time import load, straight_line
from srcgrad import UnsupportedSyntax, grad
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
    turns = [(yardstick(), seconds(160, tmp_path), seconds(640, tmp_path)) for _ in range(3)]
    unit, few, many = map(min, zip(*turns, strict=True))  # in turns: a machine that slows down slows all three
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
