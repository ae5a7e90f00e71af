"""Statements as operations and regions, with Python's order of evaluation (*The Python Language Reference*, 7 and 8).

Statements behind an exit of their block are never reached, and are left out; the variables that they bind are local all
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast

from srcgrad.frontend.lowering.checkpoints import checkpointed, keeping, only_reads
from srcgrad.frontend.lowering.context import NOTHING, Context, Variable
from srcgrad.frontend.lowering.expressions import (
    annotation,
    assign_name,
    cell_of,
    condition,
    iterate,
    read,
    symbol_of,
    truth,
    value_of,
)
from srcgrad.frontend.lowering.names import Scope, names_bound, nodes_within
from srcgrad.frontend.lowering.patterns import match
from srcgrad.ir.operations import (
    Call,
    DeleteAttribute,
    DeleteCell,
    DeleteGlobal,
    DeleteItem,
    DeleteName,
    GetAttribute,
    GetItem,
    Import,
    ImportName,
    Iterate,
    Literal,
    Operand,
    Operator,
    ReadName,
    SetAttribute,
    SetItem,
    Unpack,
    Yield,
)
from srcgrad.ir.regions import Block, Fall, Handler, Raise, Return, Try, With


def run(ctx: Context, body: Sequence[gast.stmt]) -> None:
    """Statements one after the other."""
    for statement in body:
        if ctx.is_left:
            return
        _statement(ctx, statement)


def written(ctx: Context, body: Sequence[gast.stmt]) -> Callable[[], tuple[Operand, ...]]:
    """What writes statements into a block of their own."""

    def write() -> tuple[Operand, ...]:
        run(ctx, body)
        return ()

    return write


def _statement(ctx: Context, node: gast.stmt) -> None:
    match node:
        case gast.Expr(value=gast.YieldFrom(value=source)):
            _each_given(ctx, source, node)
        case gast.Expr(value=value):
            value_of(ctx, value)
        case gast.Assign(targets=targets, value=value):
            held = value_of(ctx, value)
            for target in targets:
                assign(ctx, target, held, node)
        case gast.AnnAssign():
            _annotated(ctx, node)
        case gast.AugAssign():
            _augmented(ctx, node)
        case gast.Return(value=value):
            ctx.leave(Return(Literal(None) if value is None else value_of(ctx, value), node))
        case gast.If(test=test, body=body, orelse=orelse):
            ctx.branch(condition(ctx, test), written(ctx, body), written(ctx, orelse), node)
        case gast.While():
            _while(ctx, node)
        case gast.For():
            _for(ctx, node)
        case gast.Break():
            ctx.stop()
        case gast.Continue():
            ctx.again()
        case gast.Delete(targets=targets):
            for target in targets:
                _delete(ctx, target)
        case gast.Raise(exc=exception, cause=cause):
            raised = None if exception is None else value_of(ctx, exception)
            ctx.leave(Raise(raised, None if cause is None else value_of(ctx, cause), node))
        case gast.Assert(test=test, msg=message):
            ctx.branch(condition(ctx, test), tuple, lambda: _failed(ctx, message, node), node)
        case gast.With(items=items, body=body):
            _with(ctx, items, body, node)
        case gast.Try():
            _try(ctx, node)
        case gast.Match(subject=subject, cases=cases):
            match_cases(ctx, value_of(ctx, subject), cases, node)
        case gast.FunctionDef() | gast.ClassDef():
            from srcgrad.frontend.lowering.functions import define

            define(ctx, node)
        case gast.Import(names=names):
            for alias in names:
                found = ctx.bind(Import(alias.name, whole=alias.asname is None), node)
                assign_name(ctx, alias.asname or alias.name.split(".")[0], found, node)
        case gast.ImportFrom(module=module, names=names, level=level):
            asked = tuple(alias.name for alias in names)
            found = ctx.bind(Import(module or "", asked, level or 0), node)
            for alias in names:
                assign_name(ctx, alias.asname or alias.name, ctx.bind(ImportName(found, alias.name), node), node)
        case gast.Pass() | gast.Global() | gast.Nonlocal():
            pass
        case gast.AsyncFunctionDef() | gast.AsyncFor() | gast.AsyncWith():
            hint = "differentiate a plain function, and await around the call"
            raise ctx.refuse("E0101", node, "asynchronous code cannot be differentiated", hint)
        case _:
            hint = "test the condition with if before it fails, or catch around the differentiated call"
            raise ctx.refuse("E0104", node, "a handler of groups of exceptions cannot be differentiated", hint)


# --- assignment ------------------------------------------------------------------------------------------------------
def assign(ctx: Context, target: gast.expr, value: Operand, node: gast.AST) -> None:
    """Put a value where a target says."""
    match target:
        case gast.Name(id=name):
            assign_name(ctx, name, value, node)
        case gast.Attribute(value=base, attr=name):
            ctx.run(SetAttribute(value_of(ctx, base), name, value), node)
        case gast.Subscript(value=base, slice=index):
            held = value_of(ctx, base)
            ctx.run(SetItem(held, value_of(ctx, index), value), node)
        case gast.Starred(value=inner):
            assign(ctx, inner, value, node)
        case gast.Tuple(elts=elements) | gast.List(elts=elements):
            stars = [j for j, element in enumerate(elements) if isinstance(element, gast.Starred)]
            items = [ctx.version() for _ in elements]
            unpack = Unpack(value, len(elements), stars[0] if stars else None)
            ctx.assign(tuple(items), unpack, node)
            for element, item in zip(elements, items, strict=True):
                assign(ctx, element, item, node)
        case _:
            raise ctx.refuse("E0105", target, f"{type(target).__name__} is no target")


def _annotated(ctx: Context, node: gast.AnnAssign) -> None:
    held = None if node.value is None else value_of(ctx, node.value)
    if held is not None:
        assign(ctx, node.target, held, node)
    elif not isinstance(node.target, gast.Name):
        value_of(ctx, node.target.value)  # of ``a.b: T`` the base is evaluated
        if isinstance(node.target, gast.Subscript):
            value_of(ctx, node.target.slice)
    if ctx.scope.is_class and not node.simple:
        value_of(ctx, node.annotation)
    elif ctx.scope.is_class:
        annotations = ctx.bind(ReadName("__annotations__"), node)
        ctx.run(SetItem(annotations, Literal(node.target.id), annotation(ctx, node.annotation)), node)


def _augmented(ctx: Context, node: gast.AugAssign) -> None:
    symbol = symbol_of(node.op)
    match node.target:
        case gast.Name(id=name):
            held = read(ctx, name, node)
            assign_name(ctx, name, _in_place(ctx, symbol, held, node), node)
        case gast.Attribute(value=base, attr=name):
            whole = value_of(ctx, base)
            held = ctx.bind(GetAttribute(whole, name), node)
            ctx.run(SetAttribute(whole, name, _in_place(ctx, symbol, held, node)), node)
        case gast.Subscript(value=base, slice=index):
            whole = value_of(ctx, base)
            place = value_of(ctx, index)
            held = ctx.bind(GetItem(whole, place), node)
            ctx.run(SetItem(whole, place, _in_place(ctx, symbol, held, node)), node)


def _in_place(ctx: Context, symbol: str, held: Operand, node: gast.AugAssign) -> Operand:
    return ctx.bind(Operator(symbol, (held, value_of(ctx, node.value)), in_place=True), node)


def _delete(ctx: Context, target: gast.expr) -> None:
    match target:
        case gast.Name(id=name):
            _forget(ctx, name, target)
        case gast.Attribute(value=base, attr=name):
            ctx.run(DeleteAttribute(value_of(ctx, base), name), target)
        case gast.Subscript(value=base, slice=index):
            held = value_of(ctx, base)
            ctx.run(DeleteItem(held, value_of(ctx, index)), target)
        case gast.Tuple(elts=elements) | gast.List(elts=elements):
            for element in elements:
                _delete(ctx, element)


def _forget(ctx: Context, name: str, node: gast.AST) -> None:
    owner = ctx.scope.find(name)
    if ctx.scope.is_global(name):
        ctx.run(DeleteGlobal(name), node)
    elif owner is not None and owner is ctx.scope and owner.is_class:
        ctx.run(DeleteName(name), node)
    elif owner is None or name in owner.cells:
        cell = cell_of(ctx, name)
        assert cell is not None
        ctx.run(DeleteCell(cell), node)
    else:
        read(ctx, name, node)  # it must hold something
        ctx.values[owner, name] = NOTHING


# --- loops -----------------------------------------------------------------------------------------------------------
def _assigned(ctx: Context, parts: Sequence[gast.AST]) -> list[Variable]:
    """The variables that a loop may bind."""
    found: list[Variable] = []
    for name in names_bound(parts):
        owner = ctx.scope.find(name)
        if owner is not None and owner.function is ctx.scope.function:
            found.append((owner, name))
    return found


def _deletes(parts: Sequence[gast.AST]) -> bool:
    return any(isinstance(n, gast.Name) and isinstance(n.ctx, gast.Del) for n in nodes_within(parts))


def _while(ctx: Context, node: gast.While) -> None:
    source, numbers = checkpointed(ctx, node.test)
    parts = [source, *node.body]

    def loop(ended: Callable[[], None], assigned: list[Variable]) -> None:
        def stop() -> tuple[Operand, ...]:
            ended()
            if not ctx.is_left:
                ctx.stop()
            return ()

        def go_on() -> tuple[Operand, ...]:
            if numbers is not None:
                keeping(ctx, [value_of(ctx, number) for number in numbers], node)
            run(ctx, node.body)
            if not ctx.is_left:
                ctx.again()
            return ()

        def round_() -> None:
            ctx.branch(condition(ctx, source), go_on, stop, node)

        ctx.loop(round_, assigned, node, _deletes([*parts, *node.orelse]))

    _with_else(ctx, loop, parts, node)


def _for(ctx: Context, node: gast.For) -> None:
    source, numbers = checkpointed(ctx, node.iter)
    # An enumerate, say, is the loop's alone if nothing stands in between; how many states are kept changes no value.
    is_first = numbers is not None and only_reads(ctx, numbers, source)
    kept = [value_of(ctx, number) for number in numbers or ()] if is_first else []
    passes = value_of(ctx, source)
    kept = kept or [value_of(ctx, number) for number in numbers or ()]
    iterator = ctx.bind(Iterate(passes), node)
    parts = [node.target, *node.body]

    def body(item: Operand) -> None:
        assign(ctx, node.target, item, node)
        if kept:
            keeping(ctx, kept, node)
        run(ctx, node.body)

    def loop(ended: Callable[[], None], assigned: list[Variable]) -> None:
        iterate(ctx, iterator, body, ended, assigned, node, _deletes([*parts, *node.orelse]))

    _with_else(ctx, loop, parts, node)


def _each_given(ctx: Context, source: gast.expr, node: gast.AST) -> None:
    """``yield from source`` as a loop, where nothing reads what it gives."""
    iterator = ctx.bind(Iterate(value_of(ctx, source)), node)
    item = gast.Name(ctx.namer.fresh("item"), gast.Store(), None, None)
    loop = gast.copy_location(gast.For(item, source, [], [], None), node)
    iterate(ctx, iterator, lambda given: ctx.run(Yield(given), node), lambda: None, (), loop)


def _with_else(
    ctx: Context,
    loop: Callable[[Callable[[], None], list[Variable]], None],
    parts: Sequence[gast.AST],
    node: gast.For | gast.While,
) -> None:
    """A loop with what follows where it was not broken: at its end, or behind it if that leaves the loop around."""
    if not _leaves_a_loop(node.orelse):
        loop(lambda: run(ctx, node.orelse), _assigned(ctx, [*parts, *node.orelse]))
        return
    flag: Variable = Scope(node, ctx.scope), "ended"
    ctx.values[flag] = Literal(False)

    def ended() -> None:
        ctx.values[flag] = Literal(True)

    loop(ended, [*_assigned(ctx, parts), flag])
    if not ctx.is_left:
        ctx.branch(ctx.values.pop(flag), written(ctx, node.orelse), tuple, node)


def _leaves_a_loop(body: Sequence[gast.AST]) -> bool:
    """Whether statements hold a ``break`` or ``continue`` of a loop around them."""
    pending = list(body)
    while pending:
        node = pending.pop()
        match node:
            case gast.Break() | gast.Continue():
                return True
            case gast.For() | gast.While():
                pending += node.orelse
            case gast.FunctionDef() | gast.ClassDef() | gast.expr():
                pass
            case _:
                pending += gast.iter_child_nodes(node)
    return False


# --- exceptions ------------------------------------------------------------------------------------------------------
def _failed(ctx: Context, message: gast.expr | None, node: gast.AST) -> tuple[Operand, ...]:
    given = () if message is None else (value_of(ctx, message),)
    error = ctx.bind(Call(Literal(AssertionError), given), node)
    ctx.leave(Raise(error, None, node))
    return ()


def _with(ctx: Context, items: Sequence[gast.AST], body: Sequence[gast.stmt], node: gast.AST) -> None:
    first, *rest = items
    manager = value_of(ctx, first.context_expr)
    entered = ctx.version()

    def inside() -> tuple[Operand, ...]:
        if first.optional_vars is not None:
            assign(ctx, first.optional_vars, entered, node)
        if rest:
            _with(ctx, rest, body, node)
        else:
            run(ctx, body)
        return ()

    ctx.statements.append(With(manager, entered, ctx.block(inside), node))


def _try(ctx: Context, node: gast.Try) -> None:
    body = ctx.block(written(ctx, node.body))
    handlers = tuple(_handler(ctx, handler) for handler in node.handlers)
    orelse = ctx.block(written(ctx, node.orelse))
    final = ctx.block(written(ctx, node.finalbody))
    ctx.statements.append(Try(body, handlers, orelse, final, node))
    inside = [orelse if isinstance(body.exit, Fall) else body, *(handler.body for handler in handlers)]
    if not isinstance(final.exit, Fall) or not any(isinstance(block.exit, Fall) for block in inside):
        ctx.unreachable()


def _handler(ctx: Context, node: gast.ExceptHandler) -> Handler:
    kinds: Block | None = None
    if node.type is not None:
        caught_by = node.type
        kinds = ctx.block(lambda: (value_of(ctx, caught_by),))
    caught = ctx.version()

    def inside() -> tuple[Operand, ...]:
        if node.name is None:
            run(ctx, node.body)
            return ()
        name = node.name.id
        assign_name(ctx, name, caught, node)
        body = ctx.block(written(ctx, node.body))

        def forget() -> tuple[Operand, ...]:  # the name is gone behind the handler, however it is left
            assign_name(ctx, name, Literal(None), node)
            _forget(ctx, name, node)
            return ()

        nothing = Block((), Fall())
        ctx.statements.append(Try(body, (), nothing, ctx.block(forget), node))
        if not isinstance(body.exit, Fall):
            ctx.unreachable()
        return ()

    return Handler(kinds, caught, ctx.block(inside), node)


# --- match -----------------------------------------------------------------------------------------------------------
def match_cases(ctx: Context, subject: Operand, cases: Sequence[gast.AST], node: gast.AST) -> None:
    """The first case whose pattern and guard hold."""
    if not cases:
        return
    first, *rest = cases
    found, captured = match(ctx, first.pattern, subject)

    def other() -> tuple[Operand, ...]:
        match_cases(ctx, subject, rest, node)
        return ()

    def guarded() -> tuple[Operand, ...]:
        for name, value in captured.items():
            assign_name(ctx, name, value, first.pattern)
        return () if first.guard is None else (truth(ctx, condition(ctx, first.guard), node),)

    if first.guard is None:

        def taken() -> tuple[Operand, ...]:
            guarded()
            run(ctx, first.body)
            return ()

        ctx.branch(found, taken, other, node)
    else:
        (found,) = ctx.branch(found, guarded, lambda: (Literal(False),), node, 1)
        ctx.branch(found, written(ctx, first.body), other, node)

