"""From the normal form back to Python, for people to read and for tests to run.

Enters: ``Function`` or ``Block``.  Leaves: gast statements, loops with the headings that the user wrote, or text::

    text_of(normalize(Callee(f)))
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

import gast

from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    AugStore,
    Bind,
    Block,
    Break,
    Call,
    Callee,
    Continue,
    Delete,
    Effect,
    For,
    Function,
    If,
    Pop,
    Return,
    SetField,
    Statement,
    Store,
    Unpack,
    While,
    With,
)
from srcgrad.ir.walking import statements_of, walked
from srcgrad.rules.rewriting import rebuilt
from srcgrad.runtime import accumulate
from srcgrad.syntax.build import placed
from srcgrad.syntax.globals import LOAD, STORE, GlobalReference
from srcgrad.syntax.marks import seen_elsewhere
from srcgrad.syntax.parse import clone, walk


def as_python(
    function: Function, *, aligned: bool = False, inside: Callable[[Callee], gast.expr | None] | None = None
) -> gast.FunctionDef:
    """The definition of a function; ``aligned``: every parameter plain and positional, as ``Call`` passes them.

    ``inside``: what is called in place of a callee, if anything is.
    """
    parameters = [name for name in function.parameters if name not in function.captured]
    rest = (function.variadic, function.keywords)
    plain = list(function.parameters) if aligned else [
        name for name in parameters if name not in rest and name not in function.keyword_only
    ]
    captured = [] if aligned else list(function.captured)
    only = [] if aligned else [name for name in parameters if name in function.keyword_only]
    defaults = {} if aligned else function.defaults
    trailing: list[gast.expr] = []
    for name in reversed(plain):
        if name not in defaults:
            break
        trailing.insert(0, defaults[name])
    arguments = gast.arguments(
        [_parameter(name) for name in plain],
        [],
        None if aligned or function.variadic is None else _parameter(function.variadic),
        [_parameter(name) for name in [*only, *captured]],
        [*(defaults.get(name) for name in only), *(None for _ in captured)],
        None if aligned or function.keywords is None else _parameter(function.keywords),
        trailing,
    )
    made = gast.FunctionDef(function.name, arguments, block_as_python(function.body), [], None, None, [])
    made.span = function.span
    calls = {} if inside is None else _calls(function, inside)
    return rebuilt(made, lambda node: calls.get(id(node))) if calls else made


def _calls(function: Function, inside: Callable[[Callee], gast.expr | None]) -> dict[int, gast.expr]:
    """Calls as they are spelled, by identity, and as they are written instead."""
    found: dict[int, gast.expr] = {}
    for statement in statements_of(function.body):
        match statement:
            case Bind(operation=Call(callee=callee, arguments=arguments), expression=spelled):
                head = inside(callee)
                if head is not None:
                    found[id(spelled)] = gast.Call(head, list(map(clone, arguments)), [])
    return found


def block_as_python(block: Block) -> list[gast.stmt]:
    """The statements of a block; an empty one passes."""
    written = [statement_as_python(statement) for statement in block.statements if walked(statement) is None]
    return written or [gast.Pass()]


def statement_as_python(statement: Statement) -> gast.stmt:
    """One statement, located at the user's line."""
    made = _statement(statement)
    span = statement.span
    if span.known:
        made.lineno, made.col_offset = span.line, span.column
        made.end_lineno, made.end_col_offset = span.end_line, span.end_column
        made.span = span
    return made


def _statement(statement: Statement) -> gast.stmt:
    match statement:
        case Bind(target=target, expression=gast.BinOp(left=gast.Name(id=left), op=op, right=right), inplace=True) if (
            left == target
        ):
            return gast.AugAssign(_store(target), op, right)  # what shares its memory changes too
        case Bind(inplace=True):
            raise AssertionError(statement)
        case Bind(target=target, expression=expression):
            return gast.Assign([_store(target)], expression, None)
        case Unpack(targets=targets, source=source, star=star):
            names: list[gast.expr] = [_store(name) for name in targets]
            if star is not None:
                names[star] = gast.Starred(names[star], gast.Store())
            return gast.Assign([gast.Tuple(names, gast.Store())], _load(source), None)
        case Append(sequence=sequence, value=value):
            return gast.Expr(gast.Call(gast.Attribute(_load(sequence), "append", gast.Load()), [value], []))
        case Pop(targets=targets, sequence=sequence, tupled=tupled):
            popped = gast.Call(gast.Attribute(_load(sequence), "pop", gast.Load()), [], [])
            if tupled:
                return gast.Assign([gast.Tuple([_store(name) for name in targets], gast.Store())], popped, None)
            return gast.Assign([_store(targets[0])], popped, None)
        case AddAt(shared=True):
            return seen_elsewhere(_statement(replace(statement, shared=False)))
        case AddAt(buffer=buffer, index=index, value=value):
            if statement.function is not None:
                place = [] if _adds_to_all(statement.function) else [index]
                return gast.Expr(gast.Call(statement.function, [_load(buffer), *place, value], []))
            return gast.AugAssign(gast.Subscript(_load(buffer), index, gast.Store()), gast.Add(), value)
        case Store(base=base, index=index, value=value):
            return gast.Assign([gast.Subscript(_load(base), index, gast.Store())], value, None)
        case AugStore(base=base, index=index, operator=operator, value=value):
            return seen_elsewhere(gast.AugAssign(gast.Subscript(_load(base), index, gast.Store()), operator, value))
        case SetField(base=base, name=name, value=value):
            return gast.Assign([gast.Attribute(_load(base), name, gast.Store())], value, None)
        case Delete(base=base, index=index, name=name):
            if index is None:
                assert name is not None
                return gast.Delete([gast.Attribute(_load(base), name, gast.Del())])
            return gast.Delete([gast.Subscript(_load(base), index, gast.Del())])
        case Effect(statement=inner):
            return clone(inner)
        case If(test=test, body=body, orelse=orelse):
            return gast.If(test, block_as_python(body), block_as_python(orelse) if orelse.statements else [])
        case For():
            return _loop(statement)
        case While(test=test, body=body):
            return gast.While(test, block_as_python(body), [])
        case With(items=items, body=body):
            return gast.With(list(items), block_as_python(body), None)
        case Break():
            return gast.Break()
        case Continue():
            return gast.Continue()
        case Return(value=value):
            return gast.Return(value)
    raise AssertionError(statement)


def _loop(statement: For) -> gast.For:
    body = statement.body.statements
    if statement.heading is None:
        return gast.For(_store(statement.index), statement.iterable, block_as_python(statement.body), [], None)
    target, iterable = statement.heading
    return gast.For(target, iterable, block_as_python(Block(body[statement.elements :])), [], None)


def text_of(function: Function, *, aligned: bool = False) -> str:
    """The function as Python text, every global under its preferred name."""
    return unparse(as_python(function, aligned=aligned))


def unparse(node: gast.AST) -> str:
    """The text of a tree; references to globals are spelled as the user spelled them."""
    made = clone(node)
    for inner in walk(made):
        for name in inner._fields:
            child = getattr(inner, name, None)
            if isinstance(child, list):
                child[:] = [_spelled(item) for item in child]
            elif isinstance(child, GlobalReference):
                setattr(inner, name, _spelled(child))
    if isinstance(made, GlobalReference):
        made = _spelled(made)
    return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(made)))


def _spelled(node: object) -> object:
    return placed(gast.Name(node.id, gast.Load(), None, None), node) if isinstance(node, GlobalReference) else node


def _parameter(name: str) -> gast.Name:
    return gast.Name(name, gast.Param(), None, None)


def _load(name: str) -> gast.Name:
    return gast.Name(name, LOAD, None, None)


def _store(name: str) -> gast.Name:
    return gast.Name(name, STORE, None, None)


def _adds_to_all(function: gast.expr) -> bool:
    """Whether the call is ``accumulate(v, e)``, which names no place."""
    return isinstance(function, GlobalReference) and function.binding.value is accumulate
