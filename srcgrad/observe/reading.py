"""An emitted program, statement by statement: what each reads and binds, and what the forward sweep records.

Enters: an ``Emission``.  Leaves: a ``Reading``: its statements by line, with the user's line and the role of each, and
the values that are kept from the forward to the reverse sweep, each with the line that computed it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field

from srcgrad.emit.emission import Emission
from srcgrad.errors import Span
from srcgrad.syntax.depth import alone
from srcgrad.syntax.marks import SWEEP, Role

#: ``np.inf``, ``float("nan")``: a line that spells what is not finite means it.
_SPELLED = {"inf", "nan", "infty", "Infinity", "NaN", "NINF", "PINF"}


@dataclass(frozen=True)
class Statement:
    """A statement of the text, compound ones by their headings."""

    line: int
    text: str
    function: str
    span: Span | None
    role: Role
    reads: tuple[str, ...]  # local names
    binds: tuple[str, ...]  # local names that it binds, or whose arrays it may change
    loops: tuple[int, ...]  # the lines of the loops around it, outermost first
    means_it: bool  # spells an infinity or a NaN
    outside: tuple[str, ...] = ()  # what else it reads by name: ``LIMIT``, ``self.limit``
    called: str | None = None  # the function by that name returns what it binds: ``y, saved = f_fwd(self.one, x)``

    @property
    def sweep(self) -> Role:
        return SWEEP[self.role]


@dataclass(frozen=True)
class Kept:
    """A value that the reverse sweep reads: ``name`` is kept at ``line`` and was computed at ``made``."""

    name: str
    line: int
    made: int


@dataclass(frozen=True)
class Reading:
    """The statements of a program by line, and what each line keeps."""

    tree: ast.Module
    emission: Emission
    statements: Mapping[int, Statement]
    kept: Mapping[int, tuple[Kept, ...]]  # by the line at which it is kept
    functions: Mapping[str, int] = field(default_factory=dict)  # name -> line

    def span(self, line: int) -> Span | None:
        return self.emission.line_map.get(line)


def reading_of(emission: Emission) -> Reading:
    """Parse an emission; its text is what the compiler has verified."""
    tree = alone(ast.parse)(emission.text)
    statements: dict[int, Statement] = {}
    kept: dict[int, tuple[Kept, ...]] = {}
    functions: dict[str, int] = {}
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            functions[function.name] = function.lineno
            own = {inner.id for inner in _names(function) if isinstance(inner.ctx, ast.Store)}
            own.update(argument.arg for argument in function.args.args)
            found = list(_statements(function, function.body, emission, (), own))
            statements.update((one.line, one) for one in found)
            for one in _kept(function, found):
                kept[one.line] = (*kept.get(one.line, ()), one)
    return Reading(tree, emission, statements, kept, functions)


def _statements(
    function: ast.FunctionDef, block: list[ast.stmt], emission: Emission, loops: tuple[int, ...], own: Set[str]
) -> Iterator[Statement]:
    for node in block:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # the docstring
        head = _heading(node)
        line = node.lineno
        yield Statement(
            line,
            _text(node),
            function.name,
            emission.line_map.get(line),
            emission.roles.get(line, "primal"),
            tuple(dict.fromkeys(_read(node, head))),
            tuple(dict.fromkeys(_bound(node))),
            loops,
            any(map(_spells, head)),
            tuple(dict.fromkeys(path for part in head for path in _paths(part, own))),
            _called(node),
        )
        inner = (*loops, line) if isinstance(node, ast.For | ast.While) else loops
        for inside in blocks_of(node):
            yield from _statements(function, inside, emission, inner, own)


def blocks_of(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks inside of a statement, but for those of functions and classes defined there."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        if block := getattr(node, name, None):
            yield block
    for handler in getattr(node, "handlers", ()):
        yield handler.body
    for case in getattr(node, "cases", ()):
        yield case.body


def _heading(node: ast.stmt) -> list[ast.AST]:
    """What of a statement is evaluated where it stands."""
    match node:
        case ast.If() | ast.While():
            return [node.test]
        case ast.For():
            return [node.target, node.iter]
        case ast.With():
            return list(node.items)
        case ast.Try():
            return []
        case ast.Match():
            return [node.subject]
    return [node]


def _text(node: ast.stmt) -> str:
    text = ast.unparse(node)
    return text if not any(True for _ in blocks_of(node)) else text.split("\n", 1)[0]


def _names(node: ast.AST) -> Iterator[ast.Name]:
    return (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))


def _read(node: ast.stmt, head: list[ast.AST]) -> Iterator[str]:
    yield from (n.id for part in head for n in _names(part) if not isinstance(n.ctx, ast.Store))
    if isinstance(node, ast.AugAssign):
        yield from _targets(node.target)


def _paths(node: ast.AST, own: Set[str]) -> Iterator[str]:
    """The names that are no local ones, and what is read of objects, dotted; none of what is called."""
    match node:
        case ast.Call(func=called, args=given, keywords=named):
            if isinstance(called, ast.Attribute):
                yield from _paths(called.value, own)
            for part in (*given, *named):
                yield from _paths(part, own)
        case ast.Name(id=name, ctx=ast.Load()) if name not in own:
            yield name
        case ast.Attribute(value=value, attr=name, ctx=ast.Load()):
            whole = ast.unparse(node)
            if all(part.isidentifier() for part in whole.split(".")):
                yield whole
            else:
                yield from _paths(value, own)
        case _:
            for inner in ast.iter_child_nodes(node):
                yield from _paths(inner, own)


def _called(node: ast.stmt) -> str | None:
    match node:
        case ast.Assign(value=ast.Call(func=ast.Name(id=name), args=given, keywords=[])):
            return name if all(isinstance(one, ast.Name | ast.Attribute | ast.Constant) for one in given) else None
    return None


def _bound(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Assign(targets=targets):
            yield from (name for target in targets for name in _targets(target))
        case ast.AugAssign(target=target) | ast.For(target=target):
            yield from _targets(target)
        case ast.With(items=items):
            yield from (n for item in items if item.optional_vars is not None for n in _targets(item.optional_vars))
        case ast.Expr(value=ast.Call(func=ast.Name(), args=[ast.Name(id=name), *_])):
            yield name  # ``add_at(x_bar, i, e)``


def _targets(target: ast.expr) -> Iterator[str]:
    """The names that a target binds; of a store into an array, its name."""
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _targets(part)
        case ast.Starred(value=inner) | ast.Subscript(value=inner) | ast.Attribute(value=inner):
            yield from _targets(inner)


def _spells(node: ast.AST) -> bool:
    for inner in ast.walk(node):
        match inner:
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in _SPELLED:
                return True
            case ast.Constant(value=float() as number) if number - number != 0.0:
                return True
            case ast.Constant(value=str() as text) if text.strip("+- ").lower() in ("inf", "nan", "infinity"):
                return True
    return False


def _kept(function: ast.FunctionDef, statements: list[Statement]) -> Iterator[Kept]:
    """What is appended to tapes, what a forward half returns for the other half, and what stays in names of a joint
    function until its reverse sweep reads it."""
    made: dict[str, int] = {}
    nodes = {node.lineno: node for node in ast.walk(function) if isinstance(node, ast.stmt)}
    forward = [one for one in statements if one.sweep == "primal"]
    reverse = [one for one in statements if one.sweep == "adjoint"]
    for one in forward:
        node = nodes[one.line]
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append"), args=[given])) if one.role == "record":
                for name in dict.fromkeys(n.id for n in _names(given)):
                    yield Kept(name, one.line, made.get(name, one.line))
            case ast.Return(value=ast.Tuple(elts=[_, *rest])) if not reverse:
                for name in dict.fromkeys(n.id for part in rest for n in _names(part)):
                    if name in made:
                        yield Kept(name, one.line, made[name])
        if one.role == "record":  # a copy, or another name, of what was computed before
            made.update((name, made.get(source, one.line)) for name in one.binds for source in one.reads[:1])
        else:
            made.update(dict.fromkeys(one.binds, one.line))
    if not reverse or not forward:
        return
    last = forward[-1].line
    bound: set[str] = set()
    for one in reverse:
        for name in one.reads:
            if name in made and name not in bound and one.role != "recall":
                yield Kept(name, last, made[name])
                bound.add(name)
        bound.update(one.binds)
