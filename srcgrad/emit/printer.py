"""Text of generated functions, and which of its lines comes from which line of the user's.

Enters: gast functions whose non-local names are ``GlobalReference`` leaves and whose remarks are ``Comment`` statements
(an empty one is a blank line).  A plain name of another function in the same sequence stands for that function.
Leaves: an ``Emission``, verified: the text parses to the trees it was made from.

Each statement is printed on one line by astor, laid out by ``emit.layout``, and read back.  Where astor prints another
program than it was given (it does, for some constants and f-strings), ``ast.unparse`` prints the statement instead.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gast

from srcgrad.emit.convert import same_ast, to_ast
from srcgrad.emit.emission import Emission
from srcgrad.emit.imports import preamble
from srcgrad.emit.naming import name_globals
from srcgrad.emit.statements import Printed, print_statements
from srcgrad.errors import InternalError, Span
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.depth import alone, unless_too_deep
from srcgrad.syntax.marks import SWEEP, Role, is_seen_elsewhere, role_of


def emit(
    functions: Sequence[gast.FunctionDef],
    *,
    header: str = "",
    spans: Callable[[gast.stmt], Span | None] | None = None,
) -> Emission:
    """Print functions as one module: header, imports, functions.  Equal trees give equal text."""
    naming = name_globals(functions)
    trees: list[Any] = unless_too_deep(lambda: [to_ast(function, naming.of) for function in functions])
    printed = unless_too_deep(lambda: _verified(trees))
    top = preamble(header, naming.bindings)
    texts = [*top, *([""] * 2 if top else []), *printed.texts]
    offset = len(texts) - len(printed.texts) + 1
    line_map, roles = _lines(printed, spans or (lambda _: None), offset)
    marked = (line for line, origin in enumerate(printed.origins, offset) if origin is not None)
    shared = frozenset(line for line in marked if is_seen_elsewhere(printed.origins[line - offset]))
    return Emission("\n".join(texts) + "\n", line_map, naming.bindings, offset - 1, shared, roles)


def with_constants(emission: Emission, bindings: tuple[tuple[str, GlobalBinding], ...]) -> Emission | None:
    """The emission with other values, of the same types, for what its functions read; None where the lines that spell
    the values would be more or fewer, so that places were other ones."""
    if not any(b.cell is not None and type(b.value) in _SPELLED for _, b in bindings):
        return replace(emission, bindings=bindings)
    top = preamble("", bindings)
    lines = [*top, *([""] * 2 if top else [])]
    if len(lines) != emission.above:
        return None
    functions = emission.text.split("\n", emission.above)[-1]
    return replace(emission, text="\n".join([*lines, functions]), bindings=bindings)


_SPELLED = (bool, int, float, complex, str, bytes, type(None), tuple)


@dataclass
class _Open:
    """A statement that may hold others, while these are gone through."""

    indent: int
    span: Span | None
    sweep: Role | None  # to which it belongs
    quoted: Span | None = None  # the user's line that a comment in its block quotes
    inside: Role | None = None  # the sweep to which the last statement in its block belongs


def _lines(
    printed: Printed, spans: Callable[[gast.stmt], Span | None], first: int
) -> tuple[dict[int, Span], dict[int, Role]]:
    """The place and the role of each line, the first of which is ``first``.

    What the compiler or the optimizer put together has no place of its own: its place is the user's line that is quoted
    above it in its block, else that of the loop, test or function in which it stands.  What has no role belongs to the
    sweep of what stands before it in its block, else to that of what it stands in.
    """
    line_map: dict[int, Span] = {}
    roles: dict[int, Role] = {}
    opened = [_Open(-1, None, None)]
    before: gast.stmt | None = None
    span: Span | None = None
    role: Role | None = None
    for line, (text, origin) in enumerate(zip(printed.texts, printed.origins, strict=True), first):
        if not text:
            continue
        if origin is None or origin is not before:
            indent = len(text) - len(text.lstrip())
            ended = opened[-1]
            while opened[-1].indent >= indent:
                ended = opened.pop()
            around = opened[-1]
            if origin is None:  # ``else:`` and its kin go on with the statement that ended here
                span, role = (ended.span, ended.sweep) if ended.indent == indent else (around.span, around.sweep)
            else:
                own = spans(origin)
                if isinstance(origin, Comment):
                    around.quoted = own
                span = own or around.quoted or around.span
                role = role_of(origin) or (None if isinstance(origin, gast.FunctionDef) else around.inside)
                role = role or around.sweep
            sweep = around.inside = None if role is None else SWEEP[role]
            opened.append(_Open(indent, span, sweep))
        before = origin
        if span is not None:
            line_map[line] = span
        if role is not None:
            roles[line] = role
    return line_map, roles


def _verified(trees: list[Any]) -> Printed:
    """Print, read back, compare; on a difference print again, statement by statement with care."""
    printed = Printed([], [])
    for careful in (False, True):
        printed = print_statements(trees, careful)
        text = "\n".join(printed.texts) + "\n"
        try:
            read = alone(ast.parse)(text)
        except SyntaxError:
            continue
        if same_ast(ast.Module(trees, []), read):
            return printed
    raise InternalError("the text is another program than the tree", stage="emit", door="\n".join(printed.texts))
