"""What the inspector shows: the user's functions, the program at each stage, and which lines belong together.

Enters: a ``Compiled`` program, and perhaps a ``Profile`` of a run.  Leaves: a ``Listing``, plain data without HTML.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import gast

from srcgrad.analysis.cfg import walk
from srcgrad.analysis.references import names_mentioned
from srcgrad.emit.emission import Emission
from srcgrad.emit.load import of_users
from srcgrad.emit.printer import emit
from srcgrad.errors import Span
from srcgrad.ir.as_python import as_python
from srcgrad.ir.normal_form import Bind, Call, Callee, Function
from srcgrad.language.folders import is_installed
from srcgrad.observe.profile import Cost, Profile
from srcgrad.observe.reading import Reading, Statement, reading_of
from srcgrad.pipeline import Module, compile_request, inferred
from srcgrad.programs import Compiled, options
from srcgrad.requests import Request
from srcgrad.syntax.depth import alone
from srcgrad.syntax.marks import Role
from srcgrad.syntax.namer import Namer
from srcgrad.transform.build import load
from srcgrad.transform.entries import stem

Key = tuple[int, int]  # which file, and the line in it

_STAGES = {
    "normal": ("Normal form", "One operation per statement: what the transforms read."),
    "reverse": ("Derivative", "As the transform writes it, before it is optimised."),
    "optimised": ("Optimised", "What runs."),
}

#: Functions of emitted text that raise a refusal where it is reached.
_REFUSING = ("RefusedMode", "unwritten")


@dataclass(frozen=True)
class Line:
    """A line of text: the user's line that it belongs to, and what it is for; of the user's own lines neither."""

    number: int
    text: str
    key: Key | None = None
    role: Role | None = None


@dataclass(frozen=True)
class Part:
    """A function, or what stands above the functions."""

    name: str
    lines: tuple[Line, ...]
    place: str = ""


@dataclass(frozen=True)
class Stage:
    """The whole program at one stage of the compiler."""

    name: str
    title: str
    about: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Marks:
    """What is said of a line of the user's."""

    active: bool = False
    recorded: tuple[str, ...] = ()  # names of values that are kept for the reverse sweep
    recomputed: tuple[str, ...] = ()  # names of values that the reverse sweep computes again
    refused: tuple[str, ...] = ()  # reasons
    cost: Cost | None = None


@dataclass(frozen=True)
class Listing:
    title: str
    sources: tuple[Part, ...]
    stages: tuple[Stage, ...]
    marks: Mapping[Key, Marks] = field(default_factory=dict)
    total: Cost | None = None
    notes: tuple[str, ...] = ()


def listing(compiled: Compiled, title: str, profile: Profile | None = None) -> Listing:
    """All that the inspector shows of a program; the other stages are compiled for it."""
    normal = _normal(compiled)
    with options(optimise=False, finite=False):
        unoptimised = compile_request(compiled.of()).emission
    files = _Files()
    reading = reading_of(compiled.emission)
    stages = tuple(
        Stage(name, *_STAGES[name], parts)
        for name, parts in {
            "normal": files.parts(normal)[1:],  # without imports, of which there is no text to load
            "reverse": files.parts(unoptimised),
            "optimised": files.parts(compiled.emission),
        }.items()
    )
    marks = _marks(reading, files)
    if profile is not None:
        for span, cost in profile.lines.items():
            key = files.key(span)
            if key is not None:
                marks[key] = replace(marks.get(key, Marks()), cost=cost)
    total = None if profile is None else profile.total
    return Listing(title, files.sources(compiled.span), stages, marks, total)


def _normal(compiled: Compiled) -> Emission:
    """The normal forms of the function and of what it calls."""
    request: Request = compiled.of()
    module = Module(generic=request.facts is None, shown=request.shown)
    request = inferred(module, request)
    found: dict[Callee, Function] = {}
    pending = [request.callee]
    while pending:
        callee = pending.pop(0)
        if callee not in found:
            found[callee] = function = module.normalized(callee)
            calls = (s.operation for s in walk(function.body) if isinstance(s, Bind) and isinstance(s.operation, Call))
            pending += [made.callee for made in calls]
    namer = Namer(name for function in found.values() for s in walk(function.body) for name in names_mentioned(s))
    names = {callee: namer.fresh(stem(callee)) for callee in found}
    texts: dict[str, gast.FunctionDef] = {}
    for callee, function in found.items():
        made = as_python(function, inside=lambda other: load(names[other]))
        made.name = names[callee]
        texts.setdefault(f"{stem(callee)}{function}", made)
    return emit(list(texts.values()), spans=lambda made: of_users(getattr(made, "span", None)))


def _marks(reading: Reading, files: _Files) -> dict[Key, Marks]:
    """What the text of the program says of the user's lines."""
    marks: dict[Key, Marks] = {}

    def mark(span: Span | None, **changes: object) -> None:
        key = None if span is None else files.key(span)
        if key is not None:
            old = marks.get(key, Marks())
            joined = {
                name: tuple(dict.fromkeys((*getattr(old, name), *new))) if isinstance(new, tuple) else new
                for name, new in changes.items()
            }
            marks[key] = replace(old, **joined)  # type: ignore[arg-type]

    nodes = {node.lineno: node for node in ast.walk(reading.tree) if isinstance(node, ast.stmt)}
    for line, statement in reading.statements.items():
        node = nodes[line]
        if statement.role == "adjoint" and _is_derivative(node) or _binds_tangent(statement):
            mark(statement.span, active=True)
        if statement.role == "recompute":
            mark(statement.span, recomputed=statement.binds)
    for called in ast.walk(reading.tree):
        match called:
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(), ast.Constant(value=str() as reason), *_]):
                if name in _REFUSING:
                    mark(reading.span(called.lineno), refused=(reason.splitlines()[0],))
    for kept in (one for several in reading.kept.values() for one in several):
        mark(reading.span(kept.made), recorded=(kept.name,))
    return marks


def _binds_tangent(statement: Statement) -> bool:
    return statement.role == "tangent" and any(name.endswith("_dot") for name in statement.binds)


def _is_derivative(node: ast.stmt) -> bool:
    """Whether a statement of a reverse sweep computes something, and does not only lead to what does."""
    match node:
        case ast.Return(value=value):
            parts = value.elts if isinstance(value, ast.Tuple) else [value]
            return any(not isinstance(part, ast.Name | ast.Constant) for part in parts)
        case ast.Assign(value=ast.Call(func=ast.Name(id="zeros_like"))):
            return False  # where contributions are added up
        case ast.Assign() | ast.AugAssign() | ast.Expr():
            return True
    return False


class _Files:
    """The files that a program comes from, numbered as they are met, and their functions."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.met: dict[str, set[int]] = {}
        self.spans: dict[str, Span] = {}

    def key(self, span: Span) -> Key | None:
        """The place of a line that the user can read; library code and lines that no one wrote have none."""
        if not span.known or is_installed(span.filename) or not linecache.getlines(span.filename):
            return None
        number = self.numbers.setdefault(span.filename, len(self.numbers))
        self.met.setdefault(span.filename, set()).add(span.line)
        self.spans.setdefault(span.filename, span)
        return number, span.line

    def parts(self, emission: Emission) -> tuple[Part, ...]:
        """The functions of an emitted text, each with its lines."""
        texts = emission.text.rstrip("\n").split("\n")
        functions = [node for node in alone(ast.parse)(emission.text).body if isinstance(node, ast.FunctionDef)]
        bounds = [1, *(node.lineno for node in functions), len(texts) + 1]
        parts = []
        for name, start, end in zip(["", *(node.name for node in functions)], bounds, bounds[1:], strict=False):
            lines = [self._line(n, texts[n - 1], emission) for n in range(start, end)]
            while lines and not lines[-1].text:
                lines.pop()
            if lines:
                parts.append(Part(name, tuple(lines)))
        return tuple(parts)

    def _line(self, number: int, text: str, emission: Emission) -> Line:
        span = emission.line_map.get(number)
        return Line(number, text, None if span is None else self.key(span), emission.roles.get(number))

    def sources(self, entry: Span) -> tuple[Part, ...]:
        """The user's functions whose lines were met, that of ``entry`` first."""
        found: list[tuple[bool, int, int, Part]] = []
        for filename, number in self.numbers.items():
            lines = linecache.getlines(filename)
            for name, first, last in _functions(lines, self.met[filename]):
                texts = [lines[n - 1].rstrip("\n") for n in range(first, min(last, len(lines)) + 1)]
                place = f"{self.spans[filename].file}:{first}"
                part = Part(name, tuple(Line(first + j, t, (number, first + j)) for j, t in enumerate(texts)), place)
                is_entry = filename == entry.filename and first <= entry.line <= last
                found.append((not is_entry, number, first, part))
        return tuple(part for *_, part in sorted(found, key=lambda one: one[:3]))


def _functions(lines: list[str], met: Iterable[int]) -> Iterator[tuple[str, int, int]]:
    """The outermost functions and methods around lines of a file, and statements that stand in none, with extents."""
    try:
        tree = alone(ast.parse)("".join(lines))
    except SyntaxError:  # a cell with magics, whose lines stand for themselves
        tree = ast.Module([], [])
    extents = list(_definitions(tree.body, ""))
    found: dict[tuple[str, int, int], None] = {}
    for line in sorted(met):
        found[next((one for one in extents if one[1] <= line <= one[2]), ("", line, line))] = None
    return iter(found)


def _definitions(body: Iterable[ast.stmt], prefix: str) -> Iterator[tuple[str, int, int]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            yield f"{prefix}{node.name}", first, node.end_lineno or first
        elif isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While):
            for name in ("body", "orelse", "finalbody"):
                yield from _definitions(getattr(node, name, []), prefix)
        else:
            yield "", node.lineno, node.end_lineno or node.lineno
