"""Joint programs from text, and what they compute."""

from __future__ import annotations

import textwrap

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.emit.load import load
from srcgrad.emit.printer import emit
from srcgrad.optimize import optimize
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.globals import builtin, reference
from srcgrad.syntax.parse import parse

LOG: list[object] = []


def noise(value: object) -> float:
    """A call that no table knows: it can be seen from outside, and its result depends on the calls before."""
    LOG.append(np.array(value, dtype=float))
    return float(np.sum(value)) * 0.1 + len(LOG) * 0.01


def mangle(array: np.ndarray, value: float) -> None:
    """A call that changes its argument."""
    LOG.append(np.array(array))
    array[0] = value


def add_at(buffer: np.ndarray, index: object, value: float) -> None:
    buffer[index] += value


GLOBALS = {
    "np": GlobalBinding("np", np, "numpy"),
    "noise": GlobalBinding("noise", noise, __name__, "noise"),
    "mangle": GlobalBinding("mangle", mangle, __name__, "mangle"),
    "zeros_like": GlobalBinding("zeros_like", runtime.zeros_like, "srcgrad.runtime", "zeros_like"),
    "add_at": GlobalBinding("add_at", add_at, "srcgrad.runtime", "add_at"),
    **{name: builtin(name) for name in ("range", "reversed", "len", "sum", "print")},
}


class _Reader(gast.NodeTransformer):
    def visit_Name(self, node):
        found = GLOBALS.get(node.id)
        return reference(found) if found is not None and isinstance(node.ctx, gast.Load) else node

    def visit_Expr(self, node):
        match node.value:
            case gast.Constant(value=str() as text) if text.startswith("#"):
                return Comment(text[1:].strip())
        return self.generic_visit(node)


def program(text: str) -> gast.FunctionDef:
    """A function whose globals are references and whose ``"# ..."`` statements are comments."""
    return _Reader().visit(parse(textwrap.dedent(text).strip() + "\n").body[0])


def body(function: gast.FunctionDef) -> str:
    """The text of a function below its header."""
    lines = emit([function]).text.split("def ", 1)[1].split("\n")[1:]
    return textwrap.dedent("\n".join(lines)).strip()


def optimized(text: str, temporaries: str = "") -> str:
    """The body of a program after optimisation."""
    return body(optimize(program(text), frozenset(temporaries.split())))


def outcome(function: gast.FunctionDef) -> list[object]:
    """Results, effects and changed arguments of a program ``f(s, u, x, y)`` on three sets of arguments."""
    loaded = load(emit([function]), "f", label="test")
    found: list[object] = []
    for s, u in ((0.3, -0.2), (0.05, 0.7), (-0.6, 0.2)):
        LOG.clear()
        x, y = np.array([0.1, 0.2, -0.3]), np.array([0.5, -0.4, 0.05])
        with np.errstate(all="ignore"):
            result = loaded(s, u, x, y)
        found.append([_frozen(part) for part in (result, list(LOG), x, y)])
    return found


def _frozen(value: object) -> object:
    """A value that ``==`` compares exactly, nan included."""
    if isinstance(value, (tuple, list)):
        return [_frozen(part) for part in value]
    return repr(np.asarray(value, dtype=float).tolist())
