"""Expressions as operations, in the order in which Python evaluates their parts, each part once.

``x[i] * f(y)`` becomes ``t = x[i]``, ``t2 = f(y)``, ``t3 = t * t2``; ``and``, ``or``, conditional expressions, chained
comparisons and comprehensions become regions (*The Python Language Reference*, 6.16).
"""

from __future__ import annotations
import __future__

import itertools
from collections.abc import Callable, Sequence

import gast

from srcgrad.frontend.lowering.context import NOTHING, Context, Variable
from srcgrad.frontend.lowering.names import Comprehension, Scope, names_bound, own_parts
from srcgrad.ir.operations import (
    END,
    Bound,
    Call,
    Cell,
    Compare,
    Copy,
    Extend,
    Format,
    FreshCell,
    GetAttribute,
    GetItem,
    Insert,
    Iterate,
    Join,
    Literal,
    Make,
    Next,
    Operand,
    Operator,
    ReadCell,
    ReadGlobal,
    ReadName,
    Super,
    WriteCell,
    WriteGlobal,
    WriteName,
    Yield,
    YieldFrom,
)

_BINARY = {
    gast.Add: "+", gast.Sub: "-", gast.Mult: "*", gast.Div: "/", gast.FloorDiv: "//", gast.Mod: "%", gast.Pow: "**",
    gast.MatMult: "@", gast.LShift: "<<", gast.RShift: ">>", gast.BitAnd: "&", gast.BitOr: "|", gast.BitXor: "^",
}  # fmt: skip
_UNARY = {gast.UAdd: "+", gast.USub: "-", gast.Invert: "~", gast.Not: "not"}
_COMPARING = {
    gast.Eq: "==", gast.NotEq: "!=", gast.Lt: "<", gast.LtE: "<=", gast.Gt: ">", gast.GtE: ">=", gast.Is: "is",
    gast.IsNot: "is not", gast.In: "in", gast.NotIn: "not in",
}  # fmt: skip
AS_TEXT = __future__.annotations.compiler_flag  # ``from __future__ import annotations``
_CONVERSIONS = {-1: None, 115: "str", 114: "repr", 97: "ascii"}


def symbol_of(operator: gast.AST) -> str:
    """How an operator is spelled."""
    return _BINARY[type(operator)]


def value_of(ctx: Context, node: gast.expr) -> Operand:
    """The operand that an expression evaluates to."""
    match node:
        case gast.Constant(value=value):
            return Literal(value)
        case gast.Name(id=name):
            return read(ctx, name, node)
        case gast.NamedExpr(target=target, value=value):
            held = value_of(ctx, value)
            return assign_name(ctx, target.id, held, node)
        case gast.Attribute(value=base, attr=name):
            return ctx.bind(GetAttribute(value_of(ctx, base), name), node)
        case gast.Subscript(value=base, slice=index):
            held = value_of(ctx, base)
            return ctx.bind(GetItem(held, value_of(ctx, index)), node)
        case gast.Slice(lower=lower, upper=upper, step=step):
            parts = [Literal(None) if part is None else value_of(ctx, part) for part in (lower, upper, step)]
            return ctx.bind(Make("slice", tuple(parts)), node)
        case gast.BinOp(left=left, op=op, right=right):
            first = value_of(ctx, left)
            return ctx.bind(Operator(symbol_of(op), (first, value_of(ctx, right))), node)
        case gast.UnaryOp(op=op, operand=operand):
            return ctx.bind(Operator(_UNARY[type(op)], (value_of(ctx, operand),)), node)
        case gast.BoolOp(op=op, values=values):
            return _either(ctx, values, isinstance(op, gast.And), node)
        case gast.IfExp(test=test, body=body, orelse=orelse):
            return ctx.branch(
                condition(ctx, test), lambda: (value_of(ctx, body),), lambda: (value_of(ctx, orelse),), node, 1
            )[0]
        case gast.Compare(left=left, ops=ops, comparators=others):
            return _compared(ctx, value_of(ctx, left), list(zip(ops, others, strict=True)), node)
        case gast.Call():
            return _call(ctx, node)
        case gast.Tuple(elts=elements) | gast.List(elts=elements) | gast.Set(elts=elements):
            return _display(ctx, type(node).__name__.lower(), elements, node)
        case gast.Dict(keys=keys, values=values):
            return _dict(ctx, keys, values, node)
        case gast.ListComp() | gast.SetComp() | gast.DictComp():
            return _comprehension(ctx, node)
        case gast.JoinedStr(values=parts):
            return ctx.bind(Join(tuple(value_of(ctx, part) for part in parts)), node)
        case gast.FormattedValue(value=value, conversion=conversion, format_spec=specification):
            held = value_of(ctx, value)
            form = None if specification is None else value_of(ctx, specification)
            return ctx.bind(Format(held, _CONVERSIONS[conversion], form), node)
        case gast.Lambda() | gast.GeneratorExp():
            from srcgrad.frontend.lowering.functions import generator_expression, make_function

            return generator_expression(ctx, node) if isinstance(node, gast.GeneratorExp) else make_function(ctx, node)
        case gast.Yield(value=value):
            return ctx.bind(Yield(Literal(None) if value is None else value_of(ctx, value)), node)
        case gast.YieldFrom(value=value):
            return ctx.bind(YieldFrom(value_of(ctx, value)), node)
    raise ctx.refuse("E0105", node, f"{type(node).__name__} is not lowered")


# --- names -----------------------------------------------------------------------------------------------------------
def read(ctx: Context, name: str, node: gast.AST) -> Operand:
    """What a name holds."""
    owner = ctx.scope.find(name)
    if owner is not None and owner is ctx.scope and owner.is_class:
        return ctx.bind(ReadName(name), node)
    if owner is not None and name not in owner.cells:
        held = ctx.values.get((owner, name), NOTHING)
        if not ctx.is_doubtful(held):
            return held
        if isinstance(held, Literal):
            held = ctx.bind(Copy(held), node, name)
        checked = ctx.bind(Bound(held, name), node, name)
        ctx.values[owner, name] = checked
        return checked
    cell = cell_of(ctx, name)
    if ctx.scope.is_class and not ctx.scope.is_global(name):
        return ctx.bind(ReadName(name, cell), node)
    return ctx.bind(ReadGlobal(name) if cell is None else ReadCell(cell), node)


def cell_of(ctx: Context, name: str, scope: Scope | None = None) -> Cell | None:
    """The cell that a name means here, or in ``scope``, if it is one; one of a function around is noted."""
    scope = scope or ctx.scope
    owner = scope.find(name)
    if owner is None:
        cell = None if scope.is_global(name) else ctx.outside.get(name)
        if cell is not None:
            ctx.used[cell] = None
        return cell
    if name not in owner.cells:
        return None
    cell = ctx.cells[owner, name]
    if owner.function is not ctx.scope.function:
        ctx.used[cell] = None
    return cell


def assign_name(ctx: Context, name: str, value: Operand, node: gast.AST) -> Operand:
    """Bind a name; what it holds now."""
    if isinstance(node, gast.NamedExpr):  # of the function around a comprehension
        scope = ctx.scope.function
    else:
        scope = ctx.scope
    owner = scope.find(name)
    if scope.is_global(name):
        ctx.run(WriteGlobal(name, value), node)
    elif owner is not None and owner is scope.function and owner.is_class and name not in owner.outer_names:
        ctx.run(WriteName(name, value), node)
    elif owner is None or name in owner.cells:
        cell = cell_of(ctx, name, scope)
        assert cell is not None, name
        ctx.run(WriteCell(cell, value), node)
    else:
        value = ctx.bind(Copy(value), node, name)
        ctx.values[owner, name] = value
    return value


def truth(ctx: Context, value: Operand, node: gast.AST) -> Operand:
    """Whether a value is true, which is computed once."""
    return ctx.bind(Operator("bool", (value,)), node)


def condition(ctx: Context, node: gast.expr) -> Operand:
    """What a test branches on.  Of ``and``, ``or`` and a chain of comparisons every part is asked once."""
    match node:
        case gast.BoolOp(op=op, values=values):
            return _all_or_any(ctx, values, isinstance(op, gast.And), node)
        case gast.UnaryOp(op=gast.Not(), operand=operand):
            return ctx.bind(Operator("not", (condition(ctx, operand),)), node)
        case gast.Compare(left=left, ops=[_, _, *_] as ops, comparators=others):
            return _compared(ctx, value_of(ctx, left), list(zip(ops, others, strict=True)), node, tested=True)
    return value_of(ctx, node)


def _all_or_any(ctx: Context, values: Sequence[gast.expr], every: bool, node: gast.AST) -> Operand:
    first = condition(ctx, values[0])
    if len(values) == 1:
        return truth(ctx, first, node)

    def rest() -> tuple[Operand]:
        return (_all_or_any(ctx, values[1:], every, node),)

    def done() -> tuple[Operand]:
        return (Literal(not every),)

    return ctx.branch(first, *((rest, done) if every else (done, rest)), node, 1)[0]


def annotation(ctx: Context, node: gast.expr) -> Operand:
    """What an annotation gives: its text, where the module says so."""
    if ctx.source.function.__code__.co_flags & AS_TEXT:
        return Literal(gast.unparse(node).strip())
    return value_of(ctx, node)


# --- choices ---------------------------------------------------------------------------------------------------------
def _either(ctx: Context, values: Sequence[gast.expr], every: bool, node: gast.AST) -> Operand:
    first = value_of(ctx, values[0])
    if len(values) == 1:
        return first

    def rest() -> tuple[Operand]:
        return (_either(ctx, values[1:], every, node),)

    def done() -> tuple[Operand]:
        return (first,)

    return ctx.branch(first, *((rest, done) if every else (done, rest)), node, 1)[0]


def _compared(
    ctx: Context, left: Operand, rest: list[tuple[gast.AST, gast.expr]], node: gast.AST, tested: bool = False
) -> Operand:
    """A chain of comparisons: the first result that is false, or the last one; ``tested``: whether it is true."""
    operator, other = rest[0]
    right = value_of(ctx, other)
    result = ctx.bind(Compare(_COMPARING[type(operator)], left, right), node)
    if len(rest) == 1:
        return truth(ctx, result, node) if tested else result

    def others() -> tuple[Operand]:
        return (_compared(ctx, right, rest[1:], node, tested),)

    return ctx.branch(result, others, lambda: (Literal(False) if tested else result,), node, 1)[0]


# --- calls and displays ----------------------------------------------------------------------------------------------
def _call(ctx: Context, node: gast.Call) -> Operand:
    if isinstance(node.func, gast.Name) and node.func.id == "super" and not node.args and not node.keywords:
        return ctx.bind(Super(read(ctx, "super", node), cell_of(ctx, "__class__"), _first_argument(ctx, node)), node)
    function = value_of(ctx, node.func)
    stars = [j for j, argument in enumerate(node.args) if isinstance(argument, gast.Starred)]
    positional: tuple[Operand, ...] = ()
    star: Operand | None = None
    if not stars:
        positional = tuple(value_of(ctx, argument) for argument in node.args)
    elif len(node.args) == 1:
        star = _spread(ctx, node.args[0].value)
    else:
        star = _display(ctx, "list", node.args, node)
    if all(keyword.arg is not None for keyword in node.keywords):
        keywords = tuple((str(keyword.arg), value_of(ctx, keyword.value)) for keyword in node.keywords)
        return ctx.bind(Call(function, positional, star, keywords), node)
    return ctx.bind(Call(function, positional, star, (), keywords_of(ctx, node.keywords, function, node)), node)


def keywords_of(ctx: Context, keywords: Sequence[gast.keyword], function: Operand, node: gast.AST) -> Operand:
    """A dict of keywords, those between two ``**`` evaluated together."""
    made = ctx.bind(Make("dict"), node)
    for is_rest, group in itertools.groupby(keywords, lambda keyword: keyword.arg is None):
        if is_rest:
            for keyword in group:
                ctx.run(Extend(made, value_of(ctx, keyword.value), function), node)
        else:
            pairs = [(Literal(keyword.arg), value_of(ctx, keyword.value)) for keyword in group]
            one = ctx.bind(Make("dict", tuple(v for _, v in pairs), tuple(k for k, _ in pairs)), node)
            ctx.run(Extend(made, one, function), node)
    return made


def _first_argument(ctx: Context, node: gast.AST) -> Operand:
    """The first argument of the method around, which ``super()`` takes from its frame."""
    scope = ctx.scope.function
    arguments = getattr(scope.node, "args", None)
    first = [*arguments.posonlyargs, *arguments.args][:1] if arguments is not None else []
    if not first:
        return NOTHING
    name = first[0].id
    return read(ctx, name, node) if name in scope.cells else ctx.values.get((scope, name), NOTHING)


def _display(ctx: Context, kind: str, elements: Sequence[gast.expr], node: gast.AST) -> Operand:
    if not any(isinstance(element, gast.Starred) for element in elements):
        return ctx.bind(Make(kind, tuple(value_of(ctx, element) for element in elements)), node)
    making = "list" if kind == "tuple" else kind
    first: list[Operand] = []
    rest = list(elements)
    while not isinstance(rest[0], gast.Starred):
        first.append(value_of(ctx, rest.pop(0)))
    made = ctx.bind(Make(making, tuple(first)), node)
    for element in rest:
        if isinstance(element, gast.Starred):
            ctx.run(Extend(made, _spread(ctx, element.value)), node)
        else:
            ctx.run(Insert(made, value_of(ctx, element)), node)
    return ctx.bind(Call(Literal(tuple), (made,)), node) if kind == "tuple" else made


def _spread(ctx: Context, node: gast.expr) -> Operand:
    """What stands behind a star: of a generator expression the list of its items, all of which it gives there."""
    given = value_of(ctx, node)
    return ctx.bind(Call(Literal(list), (given,)), node) if isinstance(node, gast.GeneratorExp) else given


def _dict(ctx: Context, keys: Sequence[gast.expr | None], values: Sequence[gast.expr], node: gast.AST) -> Operand:
    """A dict display: the pairs between two ``**`` are evaluated together."""
    made: Operand | None = None
    for is_rest, group in itertools.groupby(zip(keys, values, strict=True), lambda pair: pair[0] is None):
        if is_rest:
            made = ctx.bind(Make("dict"), node) if made is None else made
            for _, value in group:
                ctx.run(Extend(made, value_of(ctx, value)), node)
            continue
        pairs = [(value_of(ctx, key), value_of(ctx, value)) for key, value in group if key is not None]
        part = ctx.bind(Make("dict", tuple(v for _, v in pairs), tuple(k for k, _ in pairs)), node)
        if made is None:
            made = part
        else:
            ctx.run(Extend(made, part), node)
    return ctx.bind(Make("dict"), node) if made is None else made


# --- loops over what is iterated -------------------------------------------------------------------------------------
def iterate(
    ctx: Context,
    iterator: Operand,
    body: Callable[[Operand], None],
    ended: Callable[[], None],
    assigned: Sequence[Variable],
    node: gast.AST,
    deletes: bool = False,
) -> None:
    """A loop over an iterator: ``body`` with each item, and ``ended`` when there is none any more."""

    def round_() -> None:
        item = ctx.bind(Next(iterator), node)
        is_over = ctx.bind(Compare("is", item, Literal(END)), node)

        def stop() -> tuple[Operand, ...]:
            ended()
            if not ctx.is_left:
                ctx.stop()
            return ()

        def go_on() -> tuple[Operand, ...]:
            body(item)
            if not ctx.is_left:
                ctx.again()
            return ()

        ctx.branch(is_over, stop, go_on, node)

    ctx.loop(round_, assigned, node, deletes)


def _comprehension(ctx: Context, node: Comprehension) -> Operand:
    first = ctx.bind(Iterate(value_of(ctx, node.generators[0].iter)), node)
    kind = {gast.ListComp: "list", gast.SetComp: "set", gast.DictComp: "dict"}[type(node)]
    outer, scope = ctx.scope, ctx.scope.inner[node]
    result = ctx.bind(Make(kind), node)
    ctx.scope = scope
    for name in sorted(scope.cells):
        cell = ctx.cells[scope, name] = Cell(ctx.namer.fresh(name), name)
        ctx.run(FreshCell(cell), node)

    def insert() -> None:
        if isinstance(node, gast.DictComp):
            key = value_of(ctx, node.key)
            ctx.run(Insert(result, value_of(ctx, node.value), key), node)
        else:
            ctx.run(Insert(result, value_of(ctx, node.elt)), node)

    comprehend(ctx, node, first, insert)
    ctx.scope = outer
    for name in scope.bound:
        ctx.values.pop((scope, name), None)
    return result


def comprehend(
    ctx: Context, node: Comprehension | gast.GeneratorExp, first: Operand, result: Callable[[], None]
) -> None:
    """The loops of a comprehension, whose first iterator is given; ``result`` writes what stands in front."""
    from srcgrad.frontend.lowering.statements import assign

    scope = ctx.scope
    around = scope.function
    walrus = [(owner, name) for name in names_bound([node]) if (owner := around.find(name)) is around]
    assigned: list[Variable] = [*((scope, name) for name in sorted(scope.bound)), *walrus]
    if scope is around:  # of a generator expression
        assigned = [(scope, name) for name in names_bound(own_parts(node))]

    def level(depth: int) -> None:
        if depth == len(node.generators):
            result()
            return
        generator = node.generators[depth]
        if generator.is_async:
            raise ctx.refuse("E0101", node, "an asynchronous comprehension is not lowered")
        iterator = first if depth == 0 else ctx.bind(Iterate(value_of(ctx, generator.iter)), node)

        def body(item: Operand) -> None:
            assign(ctx, generator.target, item, node)
            conditions(generator.ifs, depth)

        iterate(ctx, iterator, body, lambda: None, assigned, node)

    def conditions(tests: Sequence[gast.expr], depth: int) -> None:
        if not tests:
            level(depth + 1)
            return

        def then() -> tuple[Operand, ...]:
            conditions(tests[1:], depth)
            return ()

        ctx.branch(condition(ctx, tests[0]), then, tuple, node)

    level(0)

