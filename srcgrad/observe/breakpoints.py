"""A compiled program at which a debugger stops where the user has set a breakpoint.

Enters: a ``Compiled`` program.  Leaves: the same program with functions of its own, which compute the same.  Their code
has the file, the name and the line of the user's function, and each statement of the forward sweep has the line of the
user's that it computes, so that ``bdb``, on which ``pdb`` and ``debugpy`` stand, finds the breakpoints of that file.
The reverse sweep, which computes what no line of the user's does, stands at the line of the ``def``.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from types import CodeType, FunctionType
from typing import Any

from srcgrad.errors import Span
from srcgrad.programs import Compiled
from srcgrad.syntax.depth import alone
from srcgrad.syntax.marks import Role

_COMPUTES = ("primal", "tangent")


def stopping(compiled: Compiled) -> Compiled:
    """The program with the places of the user's files.

    A line that was written out of another file than that of the function, as a model of ours, counts as the line with
    its call.
    """
    emission = compiled.emission
    tree = alone(ast.parse)(emission.text)
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    tree.body = [*functions]
    homes: dict[str, Span] = {}
    spans: dict[int, Span] = {}
    roles: dict[int, Role] = {}
    for function in functions:
        home = emission.line_map.get(function.lineno)
        if home is not None and home.known:
            homes[function.name] = home
            spans[home.line], roles[home.line] = home, "adjoint"
            _move(function, home, compiled)
    for line, span in emission.line_map.items():
        if emission.roles.get(line) in _COMPUTES:
            spans[span.line], roles[span.line] = span, emission.roles[line]
    code = alone(compile)(tree, compiled.entry.__code__.co_filename, "exec", dont_inherit=True)
    namespace: dict[str, Any] = dict(compiled.entry.__globals__)
    namespace |= {"__srcgrad_line_map__": spans, "__srcgrad_roles__": roles}  # by lines as the code has them now
    exec(code, namespace)
    for function in functions:
        made: FunctionType = namespace[function.name]
        made.__srcgrad_source__ = emission.text  # type: ignore[attr-defined]
        if function.name in homes:
            made.__code__ = _at_home(made.__code__, homes[function.name])
    entry: FunctionType = namespace[compiled.entry.__name__]
    backward = None if compiled.backward is None else namespace[compiled.backward.__name__]
    return replace(compiled, entry=entry, backward=backward)


def _move(function: ast.FunctionDef, home: Span, compiled: Compiled) -> None:
    """Give every node the line of the user's that it computes, or that of the ``def``; what keeps something for the
    reverse sweep stands at the line before it."""
    line = home.line
    pending: list[ast.AST] = [function]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.stmt) and node is not function:
            at, role = compiled.emission.line_map.get(node.lineno), compiled.emission.roles.get(node.lineno)
            if role not in (*_COMPUTES, "record"):
                line = home.line
            elif role in _COMPUTES and at is not None and at.filename == home.filename and at.known:
                line = at.line
        pending += reversed(list(ast.iter_child_nodes(node)))  # in the order of the text
        if "lineno" in node._attributes:
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]


def _at_home(code: CodeType, home: Span) -> CodeType:
    constants = tuple(_at_home(one, home) if isinstance(one, CodeType) else one for one in code.co_consts)
    name = home.function.rsplit(".", 1)[-1] if code.co_name.isidentifier() else code.co_name
    return code.replace(co_filename=home.filename, co_name=name, co_consts=constants)
