"""Functions, classes and generator expressions, each a ``Function`` of its own.

``lowered`` is the door: the IR of a function object.  Its free variables are the cells that the object captured.
``converted`` is the door of the compiler, for which classes inside are made once.
What reads the frame that it runs in (``locals``, ``globals``, ``eval``) finds that of whoever runs the IR.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence, Set
from typing import Any

import gast

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.journal import remembered
from srcgrad.frontend.lowering.context import Context
from srcgrad.frontend.lowering.expressions import annotation, assign_name, comprehend, keywords_of, value_of
from srcgrad.frontend.lowering.listed import list_generators
from srcgrad.frontend.lowering.local_classes import convert_classes
from srcgrad.frontend.lowering.names import Scope, annotations_of, nodes_within, scopes_of
from srcgrad.frontend.lowering.settled import settle
from srcgrad.frontend.lowering.statements import run
from srcgrad.frontend.mangling import written_name
from srcgrad.frontend.source import Source, source_of
from srcgrad.ir import operations as ir
from srcgrad.ir import regions
from srcgrad.ir.pruning import pruned
from srcgrad.syntax.depth import unless_too_deep
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import walk

#: What to do in place of asynchronous code.
SYNC = "differentiate a plain function, and await around the call"


@remembered
def lowered(function: Callable[..., object]) -> regions.Function:
    """The IR of a function or method whose text can be found; raises ``UnsupportedSyntax`` for coroutines."""
    return lower(source_of(function))


@remembered
def converted(function: Callable[..., object]) -> regions.Function:
    """The IR of a function in which classes that it defines are made once, as far as they can be, and functions read
    what they captured under a name of their own where that is bound no more."""
    source = source_of(function)
    convert_classes(source)
    settle(source)
    return lower(source)


def with_lists(function: Callable[..., object], places: Set[tuple[int, int]]) -> regions.Function | None:
    """The same, with lists in place of the generator expressions that stand at some places; None where none does."""
    source = source_of(function)
    convert_classes(source)
    if not list_generators(source, places):
        return None
    settle(source)
    return lower(source)


def lower(source: Source) -> regions.Function:
    """The IR of the function that a source holds."""
    node = source.node
    if isinstance(node, gast.AsyncFunctionDef):
        raise UnsupportedSyntax(
            "an async function cannot be differentiated", source.span(node), code="E0101", hint=SYNC
        )
    name = node.name if isinstance(node, gast.FunctionDef) else "<lambda>"

    def written() -> regions.Function:
        outside = {variable: ir.Cell(variable, variable) for variable in source.function.__code__.co_freevars}
        ctx = Context(source, scopes_of(node), Namer(_identifiers(node)), {}, outside)
        return pruned(_function(ctx, name, source.qualname))

    return unless_too_deep(written)


def _identifiers(root: gast.AST) -> set[str]:
    """Every name in a tree."""
    found: set[str] = set()
    for node in walk(root):
        match node:
            case gast.Name(id=name) | gast.FunctionDef(name=name) | gast.ClassDef(name=name):
                found.add(name)
            case gast.alias():
                found.add((node.asname or node.name).split(".")[0])
            case gast.Global(names=names) | gast.Nonlocal(names=names):
                found.update(names)
            case gast.MatchAs(name=str() as name) | gast.MatchStar(name=str() as name):
                found.add(name)
    return found


# --- bodies ----------------------------------------------------------------------------------------------------------
def _function(ctx: Context, name: str, qualname: str) -> regions.Function:
    """The function whose scope the context has."""
    node: Any = ctx.scope.node
    parameters = _parameters(ctx, node)
    own = _own_cells(ctx)
    for parameter in parameters:
        assert parameter.variable is not None
        if parameter.variable in ctx.scope.cells:
            ctx.run(ir.WriteCell(ctx.cells[ctx.scope, parameter.variable], parameter), node)
        else:
            ctx.values[ctx.scope, parameter.variable] = parameter
    if isinstance(node, gast.Lambda):
        ctx.leave(regions.Return(value_of(ctx, node.body), node.body))
    else:
        run(ctx, node.body)
        if not ctx.is_left:
            ctx.leave(regions.Return(ir.Literal(None)))
    generates = any(isinstance(n, gast.Yield | gast.YieldFrom) for n in ctx.scope.parts)
    text = _documentation(node) if isinstance(node, gast.FunctionDef) else None
    return _made(ctx, name, qualname, parameters, own, generates, text)


def _made(
    ctx: Context,
    name: str,
    qualname: str,
    parameters: regions.Parameters,
    own: Sequence[ir.Cell],
    generates: bool = False,
    documentation: str | None = None,
) -> regions.Function:
    assert ctx.exit is not None
    body = regions.Block(tuple(ctx.statements), ctx.exit)
    free = [cell for cell in ctx.used if cell not in own]
    return regions.Function(
        name, qualname, parameters, tuple(own), tuple(free), body, ctx.scope.node, generates, documentation
    )


def _own_cells(ctx: Context) -> list[ir.Cell]:
    made: list[ir.Cell] = []
    for name in sorted(ctx.scope.cells):
        cell = ctx.cells[ctx.scope, name] = ir.Cell(_spelling(ctx, name), name)
        made.append(cell)
    return made


def _spelling(ctx: Context, name: str) -> str:
    """A cell is called like its variable, unless a cell of a function around is."""
    return ctx.namer.fresh(name) if any(cell.name == name for cell in ctx.cells.values()) else name


def _parameters(ctx: Context, node: gast.FunctionDef | gast.Lambda) -> regions.Parameters:
    arguments = node.args

    def versions(names: Sequence[gast.Name]) -> tuple[ir.Version, ...]:
        return tuple(_parameter(ctx, each.id) for each in names)

    return regions.Parameters(
        versions(arguments.posonlyargs),
        versions(arguments.args),
        None if arguments.vararg is None else _parameter(ctx, arguments.vararg.id),
        versions(arguments.kwonlyargs),
        None if arguments.kwarg is None else _parameter(ctx, arguments.kwarg.id),
    )


def _parameter(ctx: Context, name: str) -> ir.Version:
    ctx.named.add(name)
    return ir.Version(name, name)


def _documentation(node: gast.FunctionDef | gast.ClassDef) -> str | None:
    match node.body[0]:
        case gast.Expr(value=gast.Constant(value=str() as text)):
            return inspect.cleandoc(text) if sys.version_info >= (3, 13) else text
    return None


# --- what makes them -------------------------------------------------------------------------------------------------
def _inside(ctx: Context, node: gast.AST) -> Context:
    """The context of a function or class inside of this one."""
    scope: Scope = ctx.scope.inner[node]
    return Context(ctx.source, scope, ctx.namer.copy(), dict(ctx.cells), ctx.outside)


def _qualified(ctx: Context, name: str) -> str:
    """The qualified name of what is defined here."""
    parts = [name]
    scope: Scope | None = ctx.scope
    while scope is not None:
        node = scope.node
        own = written_name(node) if isinstance(node, gast.FunctionDef | gast.ClassDef) else None
        if scope.parent is None:
            return ".".join([f"{ctx.source.qualname}.<locals>", *parts])
        if scope.is_class:
            parts.insert(0, str(own))
        elif not scope.is_inline:
            parts.insert(0, f"{own or ('<lambda>' if isinstance(node, gast.Lambda) else '<genexpr>')}.<locals>")
        scope = scope.parent
    raise AssertionError(name)


def _captured(ctx: Context, made: regions.Function) -> None:
    """What an inner function captures from around this one, this one has to hold as well."""
    own = {id(cell) for (scope, _), cell in ctx.cells.items() if scope.function is ctx.scope.function}
    ctx.used.update((cell, None) for cell in made.free if id(cell) not in own)


def make_function(ctx: Context, node: gast.FunctionDef | gast.Lambda) -> ir.Operand:
    """A function object, from its text; its defaults are evaluated here."""
    defaults = tuple(value_of(ctx, default) for default in node.args.defaults)
    pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    by_name = tuple((p.id, value_of(ctx, default)) for p, default in pairs if default is not None)
    name = written_name(node) if isinstance(node, gast.FunctionDef) else "<lambda>"
    annotations: tuple[tuple[str, ir.Operand], ...] = ()
    if isinstance(node, gast.FunctionDef) and sys.version_info < (3, 14):  # which evaluates them when they are read
        annotations = tuple((parameter, annotation(ctx, kind)) for parameter, kind in annotations_of(node))
    made = _function(_inside(ctx, node), name, _qualified(ctx, name))
    _captured(ctx, made)
    return ctx.bind(ir.MakeFunction(made, defaults, by_name, annotations), node)


def generator_expression(ctx: Context, node: gast.GeneratorExp) -> ir.Operand:
    """A generator over what the first iterable gives, which is evaluated here."""
    first = ctx.bind(ir.Iterate(value_of(ctx, node.generators[0].iter)), node)
    inner = _inside(ctx, node)
    inner.is_generator = True
    own = _own_cells(inner)
    given = ir.Version(inner.namer.fresh("items"), None)

    def give() -> None:
        inner.run(ir.Yield(value_of(inner, node.elt)), node)

    comprehend(inner, node, given, give)
    if not inner.is_left:
        inner.leave(regions.Return(ir.Literal(None)))
    made = _made(inner, "<genexpr>", _qualified(ctx, "<genexpr>"), regions.Parameters((given,)), own, True)
    _captured(ctx, made)
    function = ctx.bind(ir.MakeFunction(made), node)
    return ctx.bind(ir.Call(function, (first,)), node)


def define(ctx: Context, node: gast.FunctionDef | gast.ClassDef) -> None:
    """``def`` or ``class``, with its decorators."""
    if getattr(node, "type_params", None):
        raise ctx.refuse("E0105", node, "parameters of types are not lowered")
    decorators = [value_of(ctx, decorator) for decorator in node.decorator_list]
    held = make_function(ctx, node) if isinstance(node, gast.FunctionDef) else _class(ctx, node)
    for decorator in reversed(decorators):
        held = ctx.bind(ir.Call(decorator, (held,)), node)
    assign_name(ctx, node.name, held, node)


def _class(ctx: Context, node: gast.ClassDef) -> ir.Operand:
    given, named = _class_arguments(ctx, node)
    inner = _inside(ctx, node)
    own = _own_cells(inner)
    if (text := _documentation(node)) is not None:
        inner.run(ir.WriteName("__doc__", ir.Literal(text)), node)
    if any(isinstance(statement, gast.AnnAssign) for statement in nodes_within(node.body)):
        inner.run(ir.WriteName("__annotations__", inner.bind(ir.Make("dict"), node)), node)
    run(inner, node.body)
    if not inner.is_left:
        inner.leave(regions.Return(ir.Literal(None)))
    name = written_name(node)
    made = _made(inner, name, _qualified(ctx, name), regions.Parameters(), own)
    _captured(ctx, made)
    known, why = getattr(node, "made", None), getattr(node, "refused", None)
    return ctx.bind(ir.MakeClass(made, given, named, known, why), node)


def _class_arguments(ctx: Context, node: gast.ClassDef) -> tuple[ir.Operand, ir.Operand]:
    """The bases as a tuple and the keywords as a dict."""
    bases = value_of(ctx, gast.copy_location(gast.Tuple(list(node.bases), gast.Load()), node))
    return bases, keywords_of(ctx, node.keywords, ir.Literal(node.name), node)
