"""The same program with few states kept of every loop, and with functions that are run again.

Enters: a program as text.  Leaves: what computes the same, and has another reverse sweep::

    @remat
    def g(v):                                  def g(v):
    for i in few_states(range(3), 2, 1):       for i in range(3):
        s = s * g(x[i])                            s = s * g(x[i])
"""

from __future__ import annotations

import ast

KEPT, AGAIN = "few_states", "again"


def repeated(text: str, snapshots: int = 2, recorded: int | None = 1, *, functions: bool = True) -> str:
    """The program with every loop wrapped, and the functions of the module but ``f`` under ``remat``."""
    tree = ast.parse(text)
    wrapping = _Wrapping(snapshots, recorded)
    tree = ast.fix_missing_locations(wrapping.visit(tree))
    future = [each for each in tree.body if isinstance(each, ast.ImportFrom) and each.module == "__future__"]
    others = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name != "f"]
    for function in others if functions else ():
        function.decorator_list.insert(0, ast.Name(AGAIN, ast.Load()))
    imported = f"from srcgrad import checkpointed as {KEPT}\n" + (f"from srcgrad import remat as {AGAIN}\n" * functions)
    tree.body = [*future, *ast.parse(imported).body, *(each for each in tree.body if each not in future)]
    return ast.unparse(ast.fix_missing_locations(tree))


class _Wrapping(ast.NodeTransformer):
    def __init__(self, snapshots: int, recorded: int | None) -> None:
        self.numbers = [ast.Constant(snapshots), ast.Constant(recorded)]

    def _in(self, node: ast.expr) -> ast.expr:
        return ast.Call(ast.Name(KEPT, ast.Load()), [node, *self.numbers], [])

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        node.iter = self._in(node.iter)
        return node

    def visit_While(self, node: ast.While) -> ast.While:
        self.generic_visit(node)
        node.test = self._in(node.test)
        return node
