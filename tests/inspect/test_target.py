"""Functions named on a command line: files, packages, modules, and everything that can be wrong with them."""

from __future__ import annotations

import math
import sys

import pytest

from srcgrad.inspect.target import BadTarget, resolve


@pytest.fixture(autouse=True)
def fresh_imports(monkeypatch):
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_function_of_a_file(tmp_path):
    file = tmp_path / "target_model.py"
    file.write_text("import target_sibling\n\ndef f(x):\n    return target_sibling.two * x\n")
    (tmp_path / "target_sibling.py").write_text("two = 2\n")
    assert resolve(f"{file}:f")(4) == 8


def test_a_method_of_a_class_in_a_file(tmp_path):
    file = tmp_path / "target_class.py"
    file.write_text("class Model:\n    @staticmethod\n    def f(x):\n        return x\n")
    assert resolve(f"{file}:Model.f")(3) == 3


def test_a_file_whose_name_is_taken_by_another_module(tmp_path):
    file = tmp_path / "math.py"
    file.write_text("def f(x):\n    return x\n")
    assert resolve(f"{file}:f")(3) == 3
    assert sys.modules["math"] is math


def test_a_file_in_a_package_keeps_its_relative_imports(tmp_path):
    package = tmp_path / "target_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "constants.py").write_text("two = 2\n")
    (package / "model.py").write_text("from .constants import two\n\ndef f(x):\n    return two * x\n")
    f = resolve(f"{package / 'model.py'}:f")
    assert f(4) == 8 and f.__module__ == "target_package.model"


def test_a_function_of_a_module_in_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "target_here.py").write_text("def f(x):\n    return x\n")
    monkeypatch.chdir(tmp_path)
    assert resolve("target_here:f")(3) == 3


def test_a_function_of_an_installed_module():
    assert resolve("math:sin") is math.sin


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("model.py", "expected FILE.py:function or package.module:function, found 'model.py'"),
        ("nowhere.py:f", "no such file: nowhere.py"),
        ("no_such_package.model:f", "no module named 'no_such_package'"),
        ("math.nothing:f", "no module named 'math.nothing'"),
        ("math:nothing", "no function 'nothing' in math"),
        ("math:pi", "'pi' in math is not a function but float"),
    ],
)
def test_bad_targets_are_named_in_one_line(target, message):
    with pytest.raises(BadTarget) as raised:
        resolve(target)
    assert str(raised.value).startswith(message) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("def f(:\n", "SyntaxError: "),
        ("import no_such_package\n", "ModuleNotFoundError: No module named 'no_such_package'"),
    ],
)
def test_a_file_that_does_not_import(tmp_path, text, reason):
    file = tmp_path / "target_broken.py"
    file.write_text(text)
    with pytest.raises(BadTarget) as raised:
        resolve(f"{file}:f")
    assert f"failed: {reason}" in str(raised.value) and "\n" not in str(raised.value)
    assert "target_broken" not in sys.modules


def test_a_missing_function_names_the_one_that_is_nearly_called_so(tmp_path):
    file = tmp_path / "target_names.py"
    file.write_text("from math import sin\n\ndef loss(x):\n    return sin(x)\n\ndef _inner(x):\n    return x\n")
    with pytest.raises(BadTarget, match=r"no function 'los' in .*target_names.py; did you mean 'loss'\?"):
        resolve(f"{file}:los")
