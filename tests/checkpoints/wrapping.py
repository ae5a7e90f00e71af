"""Programs with every loop put into ``srcgrad.checkpointed``, by a rewriting of their text.

>>> print(wrapped("while s < n:\\n    s = s * x"))
from srcgrad import checkpointed as few_states
while few_states(s < n, 2, 1):
    s = s * x
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

NAME = "few_states"


class _Wrapping(ast.NodeTransformer):
    def __init__(self, snapshots: int, recorded: int | None) -> None:
        self.numbers = [ast.Constant(snapshots), ast.Constant(recorded)]

    def _in(self, node: ast.expr) -> ast.expr:
        return ast.Call(ast.Name(NAME, ast.Load()), [node, *self.numbers], [])

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        node.iter = self._in(node.iter)
        return node

    def visit_While(self, node: ast.While) -> ast.While:
        self.generic_visit(node)
        node.test = self._in(node.test)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.decorator_list = [each for each in node.decorator_list if "example" not in ast.unparse(each)]
        return node


def wrapped(text: str, snapshots: int = 2, recorded: int | None = 1) -> str:
    """The text with every loop wrapped; what records the examples of the corpus is left out."""
    tree = ast.fix_missing_locations(_Wrapping(snapshots, recorded).visit(ast.parse(text)))
    head = [each for each in tree.body if isinstance(each, ast.ImportFrom) and each.module == "__future__"]
    rest = [each for each in tree.body if each not in head]
    lines = [ast.unparse(each) for each in (*head, ast.parse(f"from srcgrad import checkpointed as {NAME}").body[0])]
    return "\n".join([*lines, *map(ast.unparse, rest)])


def module_of(text: str, name: str, folder: Path) -> ModuleType:
    """A module from a text, in a file."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
