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

from srcgrad.fuzz.repeated import repeated


class _Undecorated(ast.NodeTransformer):
    """Without what records the examples of the corpus."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.decorator_list = [each for each in node.decorator_list if "example" not in ast.unparse(each)]
        return node


def wrapped(text: str, snapshots: int = 2, recorded: int | None = 1) -> str:
    """The text with every loop wrapped."""
    return repeated(ast.unparse(_Undecorated().visit(ast.parse(text))), snapshots, recorded, functions=False)


def module_of(text: str, name: str, folder: Path) -> ModuleType:
    """A module from a text, in a file."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
