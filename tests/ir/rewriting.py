"""Functions compiled from the text that ``ir.restoring`` gives of their IR, and that text beside the user's."""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import CodeType, FunctionType

import gast

from srcgrad.errors import SourceUnavailable, UnsupportedSyntax
from srcgrad.frontend.source import source_of
from srcgrad.ir.operations import MakeClass, MakeFunction
from srcgrad.ir.regions import Assign, Block, Function, If, Loop, Raise, Statement, Try, With
from srcgrad.ir.restoring import restored
from srcgrad.syntax.depth import unless_too_deep
from tests.ir.running import checked


def text_of(made: Function) -> str:
    """The restored text of a function."""
    tree = restored(made)
    return unless_too_deep(lambda: gast.unparse(tree)).strip()


def code_of(function: FunctionType, made: Function | None = None) -> CodeType:
    """Code from restored text, which captures what the function does."""
    tree = restored(made or checked(function))
    text = unless_too_deep(lambda: gast.unparse(tree)).strip()
    captured = function.__code__.co_freevars
    if isinstance(tree, gast.Lambda):
        text = f"def function({gast.unparse(tree.args).strip()}):\n    return ({gast.unparse(tree.body).strip()})"
    name = text.split("(", 1)[0].split()[-1]
    text = text.replace(f"def {name}(", "def function_(", 1)  # by its own name it may mean a global
    head, _, body = text.partition("\n")
    kept = f"    if False: ({', '.join(captured)},)\n" if captured else ""
    whole = f"def outer({', '.join(captured)}):\n" + textwrap.indent(f"{head}\n{_declared_first(body, kept)}", "    ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        module = unless_too_deep(lambda: compile(whole, "<restored>", "exec", dont_inherit=True))
    outer = next(part for part in module.co_consts if isinstance(part, CodeType))
    code = next(part for part in outer.co_consts if isinstance(part, CodeType) and part.co_name == "function_")
    assert code.co_freevars == captured, (code.co_freevars, captured, whole)
    own = function.__code__
    return _qualified(code, "outer.<locals>.function_", own.co_qualname).replace(co_name=own.co_name)


def _declared_first(body: str, kept: str) -> str:
    """The body with a line behind its documentation and declarations, which come first."""
    (function,) = ast.parse(f"def function():\n{body}").body  # as it is: lines of its documentation may stand anywhere
    assert isinstance(function, ast.FunctionDef)
    last = 0
    for statement in function.body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not (is_text or isinstance(statement, ast.Global | ast.Nonlocal)):
            break
        last = statement.end_lineno - 1
    lines = body.splitlines(keepends=True)
    if last == len(lines) and lines:
        lines[-1] = lines[-1].rstrip("\n") + "\n"
    return "".join([*lines[:last], kept, *lines[last:]])


def _qualified(code: CodeType, old: str, new: str) -> CodeType:
    """Code whose parts are called as those of the function that it stands for."""

    def renamed(part: object) -> object:
        if isinstance(part, CodeType):
            return _qualified(part, old, new)
        return new + part[len(old) :] if isinstance(part, str) and part.startswith(old) else part

    qualname = new + code.co_qualname[len(old) :] if code.co_qualname.startswith(old) else code.co_qualname
    return code.replace(co_consts=tuple(map(renamed, code.co_consts)), co_qualname=qualname)


@contextmanager
def rewriting(
    functions: Iterable[FunctionType], change: Callable[[Function], Function] = lambda made: made
) -> Iterator[None]:
    """However these functions are called, the text restored from their changed IR runs; their own where none can be
    read."""
    kept = [(function, function.__code__) for function in functions]
    codes = [(function, _code(function, change)) for function, _ in kept]
    try:
        for function, code in codes:
            function.__code__ = code or function.__code__
        yield
    finally:
        for function, code in kept:
            function.__code__ = code


def _code(function: FunctionType, change: Callable[[Function], Function]) -> CodeType | None:
    try:
        made = checked(function)
    except (UnsupportedSyntax, SourceUnavailable, OSError, SyntaxError, RecursionError):
        return None
    return code_of(function, change(made))


# --- origins ---------------------------------------------------------------------------------------------------------
def without_origins(function: Function) -> Function:
    """The function, each of whose statements comes from nowhere."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    leaving = replace(block.exit, node=gast.Pass()) if isinstance(block.exit, Raise) else block.exit
    return Block(tuple(map(_statement, block.statements)), leaving)


def _statement(made: Statement) -> Statement:
    match made:
        case Assign(operation=MakeFunction(function=function) as operation):
            made = replace(made, operation=replace(operation, function=without_origins(function)))
        case Assign(operation=MakeClass(body=function) as operation):
            made = replace(made, operation=replace(operation, body=without_origins(function)))
        case If(body=body, orelse=orelse):
            made = replace(made, body=_block(body), orelse=_block(orelse))
        case Loop(body=body) | With(body=body):
            made = replace(made, body=_block(body))
        case Try(body=body, orelse=orelse, final=final, handlers=handlers):
            caught = tuple(
                replace(h, kinds=h.kinds and _block(h.kinds), body=_block(h.body), node=gast.Pass()) for h in handlers
            )
            made = replace(made, body=_block(body), orelse=_block(orelse), final=_block(final), handlers=caught)
    return replace(made, node=gast.Pass())


# --- text ------------------------------------------------------------------------------------------------------------
def user_text(function: FunctionType) -> str:
    """The text of a function as the user wrote it, without comments."""
    tree = source_of(function).node
    return unless_too_deep(lambda: gast.unparse(tree))


def comparable(text: str) -> str:
    """A text without documentation, annotations and the defaults of the outermost function, which its object has."""
    tree = ast.parse(text.strip())
    top = tree.body[0]
    function = top.value if isinstance(top, ast.Expr) else top
    assert isinstance(function, ast.FunctionDef | ast.Lambda)
    function.args.defaults, function.args.kw_defaults = [], [None] * len(function.args.kwonlyargs)
    return ast.unparse(_Plain().visit(tree))


class _Plain(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self._suite(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._suite(node)

    def _suite(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            del node.body[0]
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(node.arg)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        return None if node.value is None else ast.Assign([node.target], node.value, lineno=0)
