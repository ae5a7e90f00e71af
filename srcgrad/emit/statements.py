"""Statements of ``ast`` trees as lines of text, each line with the statement it comes from.

Block structure, comments and docstrings are written here; what stands on one logical line is printed by astor.
"""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gast

from srcgrad.emit.convert import CommentLine, same_ast
from srcgrad.emit.layout import WIDTH, lay_out
from srcgrad.errors import InternalError
from srcgrad.syntax.depth import alone

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # astor touches ast.Num and its kin
    from astor.code_gen import SourceGenerator
    from astor.op_util import Precedence

_INDENT = "    "


@dataclass(frozen=True)
class Printed:
    """Lines, and for each the gast statement it was made from."""

    texts: list[str]
    origins: list[gast.stmt | None]

    def add(self, lines: Sequence[str], origin: gast.stmt | None) -> None:
        self.texts.extend(lines)
        self.origins.extend([origin] * len(lines))

    def blank(self, count: int = 1) -> None:
        """At least ``count`` blank lines here, none at the top."""
        while self.texts and any(self.texts[-count:]):
            self.add([""], None)


def print_statements(trees: Sequence[ast.AST], careful: bool) -> Printed:
    """Print top-level functions, two blank lines between; ``careful`` reads every statement back by itself."""
    printed = Printed([], [])
    for tree in trees:
        printed.blank(2)
        _Writer(printed, careful).statement(tree, 0)
    return printed


class _Writer:
    def __init__(self, printed: Printed, careful: bool) -> None:
        self.printed = printed
        self.careful = careful
        self.generator = _Generator(_INDENT, False, lambda text, *_: _literal(text))

    def block(self, statements: Sequence[ast.AST], depth: int) -> None:
        """The statements of one block; blank lines at its ends vanish, and a block of comments gets a ``pass``."""
        printed = self.printed
        pending_blank = after_function = False
        written = 0
        for statement in statements:
            if isinstance(statement, CommentLine) and not statement.text.strip():
                pending_blank = written > 0
                continue
            is_function = isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            if pending_blank or after_function or (is_function and written):
                printed.blank()
            pending_blank, after_function = False, is_function
            self.statement(statement, depth)
            written += 1
        if all(isinstance(statement, CommentLine) for statement in statements):
            printed.add([_INDENT * depth + "pass"], None)

    def statement(self, node: ast.AST, depth: int) -> None:
        """One statement with everything below it."""
        match node:
            case CommentLine():
                lines = [_comment(line, depth) for line in node.text.strip().split("\n")]
                self.printed.add(lines, _origin(node))
            case ast.FunctionDef(decorator_list=[]):
                self.header(_without_body(node), depth, _origin(node))
                body = node.body
                if body and _is_docstring(body[0]):
                    self.printed.add(_docstring(body[0].value.value, depth + 1), _origin(body[0]))  # type: ignore[attr-defined]
                    body = body[1:]
                    if not body:
                        return
                self.block(body, depth + 1)
            case ast.If():
                self.branches(node, depth)
            case ast.For() | ast.While():
                self.header(_without_body(node), depth, _origin(node))
                self.block(node.body, depth + 1)
                self.suite("else", node.orelse, depth)
            case ast.With():
                self.header(_without_body(node), depth, _origin(node))
                self.block(node.body, depth + 1)
            case ast.Try():
                self.suite("try", node.body, depth)
                for handler in node.handlers:
                    self.header(_without_body(handler), depth, _origin(handler))
                    self.block(handler.body, depth + 1)
                self.suite("else", node.orelse, depth)
                self.suite("finally", node.finalbody, depth)
            case ast.Match() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.AsyncFor():
                text = ast.unparse(ast.fix_missing_locations(node))
                self.printed.add([(_INDENT * depth + line).rstrip() for line in text.split("\n")], _origin(node))
            case ast.Expr() if _is_docstring(node):
                self.printed.add([_INDENT * depth + _literal(node.value.value)], _origin(node))  # type: ignore[attr-defined]
            case _:
                self.printed.add(self.lines(node, depth), _origin(node))

    def branches(self, node: ast.If, depth: int) -> None:
        """An ``if`` with its ``elif`` chain, in a loop."""
        word = "if"
        while True:
            self.header(_without_body(node), depth, _origin(node), word)
            self.block(node.body, depth + 1)
            match node.orelse:
                case [ast.If() as node]:
                    word = "elif"
                case rest:
                    self.suite("else", rest, depth)
                    return

    def suite(self, word: str, statements: Sequence[ast.AST], depth: int) -> None:
        """A block under a bare keyword, if there is anything in it."""
        if statements:
            self.printed.add([f"{_INDENT * depth}{word}:"], None)
            self.block(statements, depth + 1)

    def header(self, node: ast.AST, depth: int, origin: gast.stmt | None, word: str = "") -> None:
        self.printed.add(self.lines(node, depth, word), origin)

    def lines(self, node: ast.AST, depth: int, word: str = "") -> Sequence[str]:
        """What stands on one logical line; ``word`` replaces the first keyword (``elif``)."""
        if not self.careful:
            try:
                return lay_out(_worded(self.generator.line(node), word), depth)
            except (AttributeError, ValueError, TypeError, KeyError):  # a node that astor does not know
                return lay_out(_worded(_unparse(node), word), depth)
        for text in (self.generator.line, _unparse):
            for layout in (lay_out, _as_it_is):
                try:
                    if _reads_back(layout(text(node), 0), node):
                        return layout(_worded(text(node), word), depth)
                except (AttributeError, ValueError, TypeError, KeyError, SyntaxError):
                    continue
        raise InternalError("a statement cannot be printed", stage="emit", door=ast.dump(node))


class _Generator(SourceGenerator):
    """astor, with the parentheses that black puts: ``-(x**2)``, ``(x,) = y``."""

    def line(self, node: ast.AST) -> str:
        """``node`` on one line; a compound statement has an empty body, and an empty target list is impossible."""
        self.result.clear()
        self.new_lines, self.indentation, self.colinfo = 0, 0, (0, 0)
        self.visit(node)
        return "".join(self.result).strip()

    def visit_Slice(self, node: ast.Slice) -> None:
        for position, bound in enumerate((node.lower, node.upper, node.step)):
            if position == 1 or (position == 2 and bound is not None):
                self.write(":")
            if bound is not None:
                bound._pp = Precedence.Comma  # type: ignore[attr-defined]
                self.write(bound)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        if len(node.elts) == 1:
            node._pp = Precedence.highest  # type: ignore[attr-defined]
        super().visit_Tuple(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        operand = node.operand
        if isinstance(operand, ast.BinOp) and isinstance(operand.op, ast.Pow) and not isinstance(node.op, ast.Not):
            with self.delimit(node, node.op):
                self.write({ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)])
                operand._pp = Precedence.highest  # type: ignore[attr-defined]
                self.write(operand)
        else:
            super().visit_UnaryOp(node)


def _unparse(node: ast.AST) -> str:
    if not _is_compound(node):
        return ast.unparse(ast.fix_missing_locations(node))
    if isinstance(node, ast.ExceptHandler):
        return ast.unparse(ast.Try([], [_with_body(node)], [], [])).strip().split("\n")[1]
    return "".join(ast.unparse(_with_body(node)).strip().rsplit("\n", 1)[:1])


def _as_it_is(text: str, depth: int) -> list[str]:
    return [_INDENT * depth + text]


def _worded(text: str, word: str) -> str:
    return word + text[text.index(" ") :] if word and not text.startswith(f"{word} ") else text


def _reads_back(lines: Sequence[str], node: ast.AST) -> bool:
    text = "\n".join(lines)
    if isinstance(node, ast.ExceptHandler):
        read = ast.parse(f"try:\n    pass\n{text}\n    pass\n").body[0].handlers[0]  # type: ignore[attr-defined]
    else:
        read = alone(ast.parse)(f"{text}\n    pass\n" if _is_compound(node) else text).body[0]
    return same_ast(_with_body(node), read)


def _is_compound(node: ast.AST) -> bool:
    return "body" in node._fields


def _with_body(node: ast.AST) -> Any:
    """The same header over a ``pass``."""
    if not _is_compound(node):
        return node
    made = _without_body(node)
    made.body = [ast.Pass()]
    return ast.fix_missing_locations(made)


def _without_body(node: ast.AST) -> Any:
    """The header of a compound statement alone."""
    made = type(node)(**{name: getattr(node, name) for name in node._fields if hasattr(node, name)})
    for name in ("body", "orelse"):
        if name in node._fields:
            setattr(made, name, [])
    return made


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


_SHOWN = 24  # characters of a comment that stand however deep it is


def _comment(text: str, depth: int) -> str:
    """One line of comment; what quotes a longer line of the user's is cut where lines end."""
    indent = _INDENT * depth
    room = max(WIDTH - len(indent) - len("# "), _SHOWN)
    if len(text) > room:
        text = text[: room - len(" …")].rstrip() + " …"
    return f"{indent}# {text}".rstrip()


def _docstring(text: str, depth: int) -> list[str]:
    """Triple-quoted and indented as black does it; lines that are too long are filled anew."""
    body = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    lines = [line.strip() and line.rstrip() for line in body.expandtabs().split("\n")]
    margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line), default=0)
    indent = _INDENT * depth
    lines = [part for line in [lines[0], *(line[margin:] for line in lines[1:])] for part in _filled(line, depth)]
    lines = [lines[0], *(indent + line if line else "" for line in lines[1:])]
    if lines[-1].endswith('"'):
        lines[-1] += " "
    lines[0] = f'{indent}"""{lines[0]}'
    if len(lines) > 1 and len(lines[-1]) + 3 > WIDTH:
        return [*lines, f'{indent}"""']
    lines[-1] += '"""'
    return lines


def _filled(line: str, depth: int) -> list[str]:
    """A line of a docstring as lines that fit; words stay whole."""
    width = WIDTH - len(_INDENT) * depth - 3
    if len(line) <= width:
        return [line]
    start = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(line, width, subsequent_indent=start, break_long_words=False, break_on_hyphens=False)


def _literal(text: str) -> str:
    """A string literal in the quotes that black prefers."""
    plain = repr(text)
    if plain.startswith("'") and text.count('"') <= text.count("'"):
        body = plain[1:-1].replace("\\'", "'").replace('"', '\\"')
        return f'"{body}"'
    return plain


def _origin(node: ast.AST) -> gast.stmt | None:
    return getattr(node, "origin", None)
