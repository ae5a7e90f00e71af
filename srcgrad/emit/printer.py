"""Text of generated functions, and which of its lines comes from which line of the user's.

Enters: gast functions whose non-local names are ``GlobalReference`` leaves and whose remarks are ``Comment`` statements
(an empty one is a blank line).  A plain name of another function in the same sequence stands for that function.
Leaves: an ``Emission``, verified: the text parses to the trees it was made from.

Each statement is printed on one line by astor, laid out by ``emit.layout``, and read back.  Where astor prints another
program than it was given (it does, for some constants and f-strings), ``ast.unparse`` prints the statement instead.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gast

from srcgrad.emit.convert import same_ast, to_ast
from srcgrad.emit.imports import preamble
from srcgrad.emit.naming import name_globals
from srcgrad.emit.statements import Printed, print_statements
from srcgrad.errors import InternalError, Span
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.depth import alone, unless_too_deep
from srcgrad.syntax.globals import GlobalBinding
from srcgrad.syntax.marks import is_seen_elsewhere


@dataclass(frozen=True)
class Emission:
    """Text of a module, the spans of its lines (from 1), what its global identifiers mean, and how many lines (header,
    imports, constants) stand above its functions.  ``shared`` are the lines that add to memory of several names."""

    text: str
    line_map: Mapping[int, Span] = field(default_factory=dict)
    bindings: tuple[tuple[str, GlobalBinding], ...] = ()
    above: int = 0
    shared: frozenset[int] = frozenset()

    def __str__(self) -> str:
        return self.text


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
    line_map: dict[int, Span] = {}
    if spans is not None:
        above: Span | None = None  # what the optimizer put together has no place of its own: that of the comment above
        for line, origin in enumerate(printed.origins, offset):
            span = None if origin is None else spans(origin)
            if isinstance(origin, Comment):
                above = span
            elif isinstance(origin, gast.FunctionDef):
                above = None
            if origin is not None and (span := span or above) is not None:
                line_map[line] = span
    marked = (line for line, origin in enumerate(printed.origins, offset) if origin is not None)
    shared = frozenset(line for line in marked if is_seen_elsewhere(printed.origins[line - offset]))
    return Emission("\n".join(texts) + "\n", line_map, naming.bindings, offset - 1, shared)


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
