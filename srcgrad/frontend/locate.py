"""Where in a file a function was written, and whether the file still says what was compiled.

Enters: the text of a file and a code object.  Leaves: the place of its ``def`` or ``lambda`` in the parsed file.  A
file is parsed once for each text it has had.  A function is found by first line and name; several lambdas on one line
by the columns in their code objects (PEP 657); a function that only moved, by its qualified name and its code.

>>> double, triple = lambda x: 2 * x, lambda x: 3 * x
>>> text = "double, triple = lambda x: 2 * x, lambda x: 3 * x"
>>> place, edited = locate(triple.__code__, parsed(text, "model.py"))
>>> ast.unparse(place.node), edited
('lambda x: 3 * x', False)
"""

from __future__ import annotations

import ast
import dis
import hashlib
import inspect
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import CodeType

from srcgrad.syntax.parse import read

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# Instructions that the compiler adds; 3.11 places RESUME and RETURN_VALUE at column 0.
_ADDED = frozenset({"RESUME", "COPY_FREE_VARS", "MAKE_CELL", "RETURN_GENERATOR", "RETURN_VALUE", "POP_TOP", "NOP"})

_TAKES_MORE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


@dataclass(frozen=True, eq=False)
class Place:
    """One ``def`` or ``lambda`` of a file; ``owner`` is the innermost class around it, which mangles private names."""

    node: Definition
    name: str
    qualname: str
    first_line: int
    owner: str | None


@dataclass(frozen=True, eq=False)
class File:
    """A parsed file and the functions in it."""

    text: str
    filename: str
    tree: ast.Module

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(self.text.split("\n"))

    @cached_property
    def places(self) -> dict[str, list[Place]]:
        """The functions of the file by name."""
        found: dict[str, list[Place]] = {}
        for place in _places(self.tree):
            found.setdefault(place.name, []).append(place)
        return found


@lru_cache(maxsize=64)
def parsed(text: str, filename: str) -> File:
    """The file of this text, parsed once; raises SyntaxError if it is no Python."""
    return File(text, filename, read(text, filename))


@lru_cache(maxsize=64)
def _codes(text: str, filename: str, future: int) -> dict[str, list[CodeType]]:
    """The code objects that a text compiles to now, by qualified name.

    A notebook compiles each statement of a cell by itself.  The code differs: 3.11 and 3.12 call attributes of what the
    same text imports in another way.
    """
    found: dict[str, list[CodeType]] = {}
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | future  # a cell may await at top level, and inherits the notebook's flags
    try:
        wholes = [compile(text, filename, "exec", flags, dont_inherit=True)]
        if not os.path.exists(filename):
            alone = [ast.Module([statement], []) for statement in read(text, filename).body]
            wholes += [compile(module, filename, "exec", flags, dont_inherit=True) for module in alone]
    except SyntaxError:
        return found
    for code in (code for whole in wholes for code in _nested(whole)):
        found.setdefault(code.co_qualname, []).append(code)
    return found


def locate(code: CodeType, file: File) -> tuple[Place, bool]:
    """The place of ``code``, and whether its text was edited since it was compiled.

    Raises LookupError, which says why, where there is no such place.
    """
    named = file.places.get(code.co_name, [])
    here = _narrow(code, [place for place in named if place.first_line == code.co_firstlineno])
    if _is_rewritten(code):
        if len(here) == 1:
            return here[0], False
    else:
        codes = _codes(file.text, file.filename, code.co_flags & annotations.compiler_flag)
        twins = [twin for twin in codes.get(code.co_qualname, []) if _same_code(code, twin)]
        if len(here) == 1 and any(twin.co_firstlineno == code.co_firstlineno for twin in twins):
            return here[0], False
        for twin in sorted(twins, key=lambda twin: abs(twin.co_firstlineno - code.co_firstlineno)):
            there = _narrow(twin, [place for place in named if place.first_line == twin.co_firstlineno])
            if len(there) == 1:
                return there[0], False
        if len(here) == 1:
            return here[0], True
    if len(here) > 1:
        raise LookupError(f"{len(here)} functions on line {code.co_firstlineno} cannot be told apart")
    moved = [place for place in named if place.qualname == code.co_qualname]
    if len(moved) == 1:
        return moved[0], True
    raise LookupError(f"line {code.co_firstlineno} holds no function {code.co_name!r} any more")


# Operators and contexts are the same objects in all trees, and a debugger may have hung its own tree on them (IPython's
# tracebacks give every node its parent).
_LEAVES = (ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def _places(tree: ast.Module) -> Iterator[Place]:
    pending: list[tuple[ast.AST, str, str | None]] = [(tree, "", None)]
    while pending:
        node, prefix, owner = pending.pop()
        inner, inner_owner = prefix, owner
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
                decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
                first_line = min([node.lineno, *(decorator.lineno for decorator in decorators)])
                yield Place(node, name, prefix + name, first_line, owner)
                inner = f"{prefix}{name}.<locals>."
            case ast.ClassDef():
                inner, inner_owner = f"{prefix}{node.name}.", node.name
        for part in vars(node).values():  # of a whole file: ``ast.iter_child_nodes`` takes three times as long
            for child in part if part.__class__ is list else (part,):
                if isinstance(child, ast.AST) and not isinstance(child, _LEAVES):
                    pending.append((child, inner, inner_owner))


def _nested(code: CodeType) -> Iterator[CodeType]:
    pending = [code]
    while pending:
        code = pending.pop()
        yield code
        pending.extend(constant for constant in code.co_consts if isinstance(constant, CodeType))


def _narrow(code: CodeType, places: list[Place]) -> list[Place]:
    """Of functions that start on one line, those that ``code`` can be: by the columns it spans, if it knows them."""
    if len(places) < 2:
        return places
    counts = code.co_posonlyargcount, code.co_argcount, code.co_kwonlyargcount
    places = [place for place in places if _counts(place.node.args) == counts]
    extent = _extent(code)
    if extent is not None:
        around = [place for place in places if _body(place)[0] <= extent[0] and extent[1] <= _body(place)[1]]
        innermost = max((_body(place)[0] for place in around), default=None)
        places = [place for place in around if _body(place)[0] == innermost]
    if len({ast.dump(place.node) for place in places}) == 1:
        return places[:1]  # the same text twice: either is right
    return places


def _counts(arguments: ast.arguments) -> tuple[int, int, int]:
    positional_only = len(arguments.posonlyargs)
    return positional_only, positional_only + len(arguments.args), len(arguments.kwonlyargs)


def _body(place: Place) -> tuple[tuple[int, int], tuple[int, int]]:
    body = place.node.body
    first, last = (body[0], body[-1]) if isinstance(body, list) else (body, body)
    return (first.lineno, first.col_offset), (last.end_lineno or 0, last.end_col_offset or 0)


def _extent(code: CodeType) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """From where to where the instructions of ``code`` were written; None where it was compiled without columns."""
    starts: list[tuple[int, int]] = []
    ends: list[tuple[int, int]] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname in _ADDED or instruction.positions is None:
            continue
        line, end_line, column, end_column = instruction.positions
        if line is None or end_line is None or column is None or end_column is None:
            continue
        starts.append((line, column))
        ends.append((end_line, end_column))
    return (min(starts), max(ends)) if starts else None


def _same_code(a: CodeType, b: CodeType) -> bool:
    """Whether two code objects do the same, wherever in a file they stand."""
    pending: list[tuple[object, object]] = [(a, b)]
    while pending:
        left, right = pending.pop()
        if type(left) is not type(right):
            return False
        match left, right:
            case CodeType(), CodeType():
                if _signature(left) != _signature(right) or len(left.co_consts) != len(right.co_consts):
                    return False
                pending.extend(zip(left.co_consts, right.co_consts))
            case frozenset(), frozenset():
                if left != right:  # its order is not fixed
                    return False
            case _:
                if repr(left) != repr(right):
                    return False
    return True


def _signature(code: CodeType) -> tuple[object, ...]:
    takes = code.co_posonlyargcount, code.co_argcount, code.co_kwonlyargcount, code.co_flags & _TAKES_MORE
    return takes, code.co_name, code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars


def _is_rewritten(code: CodeType) -> bool:
    """Whether pytest compiled its own version of the text, with every ``assert`` rewritten."""
    return any(name.startswith("@py") for each in _nested(code) for name in (*each.co_names, *each.co_varnames))
