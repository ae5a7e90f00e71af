"""Operations as expressions: what each is spelled like, once its operands are.

Displays with stars grow while they are pending: ``[*a, b]`` is made empty, extended by ``a``, and ``b`` is inserted.

>>> import gast
>>> from srcgrad.frontend.lowering import lowered
>>> from srcgrad.ir.restoring import restored
>>> print(gast.unparse(restored(lowered(lambda f, a, k: f(*a, 1, *[a[1:], -k], **k)))))
lambda f, a, k: f(*a, 1, *[a[1:], -k], **k)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from srcgrad.ir import operations as ir
from srcgrad.ir.regions import Assign
from srcgrad.ir.restoring.pending import (
    Entry,
    Pad,
    Part,
    builtin,
    emit,
    plain,
    push,
    take,
    take_values,
    waiting,
)
from srcgrad.ir.restoring.tree import OPERATORS, UNARY, assigned, call, name, of_version

_CONVERSIONS = {None: -1, "str": 115, "repr": 114, "ascii": 97}
_DISPLAYS = (gast.List, gast.Set, gast.Dict)


def expression(pad: Pad, statement: Assign) -> bool:
    """Let the value of an operation wait; whether it is an expression at all."""
    made = statement.operation
    part = _part(pad, made, statement)
    if part is None:
        return False
    part.node = statement.node
    part.value.statement = statement
    if statement.targets:
        push(pad, statement.targets[0], part)
    else:
        emit(pad, gast.Expr(plain(pad.plan, part.value)))
    return True


def _part(pad: Pad, made: ir.Operation, statement: Assign) -> Part | None:
    match made:
        case ir.ReadCell(cell=cell):
            return Part(name(cell.variable))
        case ir.ReadGlobal(name=text) | ir.ReadName(name=text):
            return Part(name(text))
        case ir.GetAttribute(base=base, name=text):
            return Part(gast.Attribute(*take_values(pad, [base]), text, gast.Load()))
        case ir.GetItem(base=base, index=index):
            whole, place = take(pad, [base, index])
            return Part(gast.Subscript(plain(pad.plan, whole.value), place.value, gast.Load()))
        case ir.Operator(in_place=True):
            return None
        case ir.Operator(symbol="bool", operands=operands):
            (part,) = take(pad, operands)
            test = part.tested
            return Part(gast.IfExp(test, gast.Constant(True, None), gast.Constant(False, None)), test)
        case ir.Operator(symbol="not", operands=operands):
            (part,) = take(pad, operands)
            value = gast.UnaryOp(gast.Not(), plain(pad.plan, part.value))
            return Part(value, None if part.test is None else gast.UnaryOp(gast.Not(), part.test))
        case ir.Operator(symbol=symbol, operands=(_,) as operands):
            return Part(gast.UnaryOp(UNARY[symbol](), *take_values(pad, operands)))
        case ir.Operator(symbol=symbol, operands=operands):
            left, right = take_values(pad, operands)
            return Part(gast.BinOp(left, OPERATORS[symbol](), right))
        case ir.Call():
            return Part(_call(pad, made, statement.node))
        case ir.Make():
            pad.plan.kinds[statement.targets[0]] = made.kind
            return Part(_display(pad, made, statement.node))
        case ir.Iterate(source=source):
            (given,) = take_values(pad, [source])
            return Part(call(builtin(pad.plan, "iter"), given), source=given)
        case ir.Next(iterator=iterator):
            end = pad.plan.ends[statement.targets[0]] = ir.Version("end")
            emit(pad, assigned([of_version(end, gast.Store)], call(builtin(pad.plan, "object"))))
            (given,) = take_values(pad, [iterator])
            return Part(call(builtin(pad.plan, "next"), given, of_version(end)))
        case ir.Format(value=value, conversion=conversion, specification=specification):
            asked = [value] if specification is None else [value, specification]
            given, *form = take(pad, asked)
            spelled = plain(pad.plan, given.value)
            return Part(gast.FormattedValue(spelled, _CONVERSIONS[conversion], _text(form[0].value) if form else None))
        case ir.Join(parts=parts):
            return Part(gast.JoinedStr([_piece(part.value) for part in take(pad, parts)]))
        case ir.Super(function=function):
            return Part(call(*take_values(pad, [function])))
        case ir.Yield(value=ir.Literal(value=None)) if getattr(statement.node, "value", None) is None:
            return Part(gast.Yield(None))
        case ir.Yield(value=value):
            return Part(gast.Yield(*take_values(pad, [value])))
        case ir.YieldFrom(source=source):
            return Part(gast.YieldFrom(*take_values(pad, [source])))
        case ir.Import():
            return Part(_loaded(pad, made))
        case ir.ImportName(module=module, name=text):
            return Part(gast.Attribute(*take_values(pad, [module]), text, gast.Load()))
    return None


def _text(value: Any) -> Any:
    return value if isinstance(value, gast.JoinedStr) else gast.JoinedStr([_piece(value)])


def _piece(value: Any) -> Any:
    if isinstance(value, gast.FormattedValue) or isinstance(value, gast.Constant) and isinstance(value.value, str):
        return value
    return gast.FormattedValue(value, -1, None)


def _loaded(pad: Pad, made: ir.Import) -> Any:
    """A module on its own, as the statement that binds it would find it."""
    names = gast.Tuple([gast.Constant(text, None) for text in made.names], gast.Load())
    given = [gast.Constant(made.module, None), call(builtin(pad.plan, "globals")), gast.Constant(None, None), names]
    loaded = call(builtin(pad.plan, "__import__"), *given, gast.Constant(made.level, None))
    for text in [] if made.names or made.whole else made.module.split(".")[1:]:
        loaded = gast.Attribute(loaded, text, gast.Load())
    return loaded


# --- displays --------------------------------------------------------------------------------------------------------
def _display(pad: Pad, made: ir.Make, node: gast.AST) -> Any:
    if made.kind == "dict":
        pairs = [part for pair in zip(made.keys, made.elements, strict=True) for part in pair]
        given = take_values(pad, pairs)
        return gast.Dict(given[::2], given[1::2])
    parts = take(pad, made.elements)
    if made.kind == "slice":
        asked = [getattr(node, field, None) for field in ("lower", "upper", "step")]
        bounds = [
            None if isinstance(operand, ir.Literal) and operand.value is None and old is None
            else plain(pad.plan, part.value)
            for operand, part, old in zip(made.elements, parts, asked, strict=True)
        ]
        return gast.Slice(*bounds)
    if made.kind == "tuple":
        return gast.Tuple([_within_index(pad, part.value) for part in parts], gast.Load())
    elements = [plain(pad.plan, part.value) for part in parts]
    if made.kind == "list":
        return gast.List(elements, gast.Load())
    return gast.Set(elements) if elements else call(builtin(pad.plan, "set"))


def _within_index(pad: Pad, value: Any) -> Any:
    """An element of a tuple: a slice may still turn out to be one of an index."""
    return value if isinstance(value, gast.Slice) else plain(pad.plan, value)


def growing(pad: Pad, statement: Assign) -> bool:
    """Whether an insertion belongs to a display that is pending, to which it is added."""
    made = statement.operation
    if isinstance(made, ir.Insert):
        container, operands = made.container, [made.value] if made.key is None else [made.key, made.value]
    elif isinstance(made, ir.Extend):
        container, operands = made.container, [made.source]
    else:
        return False
    entry = waiting(pad, container)
    if entry is None or not isinstance(entry.part.value, _DISPLAYS) and not _is_empty_set(entry):
        return False
    place = pad.pending.index(entry)
    above = pad.pending[place + 1 :]
    if any(other.key not in operands or other.uses != 1 and not other.named for other in above):
        return False
    rest = Pad(pad.plan, pending=above)
    sources = [other.part.node for other in above]
    parts = take(rest, operands)
    if not rest.is_clear:
        return False
    del pad.pending[place + 1 :]
    entry.uses -= 1
    if isinstance(made, ir.Extend) and made.function is not None:
        called = waiting(pad, made.function)
        if called is not None:
            called.uses -= 1
        entry.part.is_keywords = True
    values = [plain(pad.plan, part.value) for part in parts]
    _grow(entry, made, values, bool(sources) and sources[0] is statement.node)
    return True


def _is_empty_set(entry: Entry) -> bool:
    return isinstance(entry.part.value, gast.Call) and isinstance(entry.part.node, gast.Set)


def _grow(entry: Entry, made: ir.Operation, values: list[Any], together: bool) -> None:
    display = entry.part.value
    if not isinstance(display, _DISPLAYS):
        display = entry.part.value = gast.Set([])
    if isinstance(display, gast.Dict):
        if isinstance(made, ir.Insert):
            display.keys, display.values = [*display.keys, values[0]], [*display.values, values[1]]
        elif together and isinstance(values[0], gast.Dict):
            display.keys, display.values = [*display.keys, *values[0].keys], [*display.values, *values[0].values]
        else:
            display.keys, display.values = [*display.keys, None], [*display.values, values[0]]
        return
    added = gast.Starred(values[0], gast.Load()) if isinstance(made, ir.Extend) else values[0]
    display.elts = [*display.elts, added]


def insert(pad: Pad, statement: Assign) -> None:
    """An insertion on its own."""
    made = statement.operation
    if isinstance(made, ir.Insert) and made.key is not None:
        container, key, value = take_values(pad, [made.container, made.key, made.value])
        emit(pad, gast.Expr(call(gast.Attribute(container, "__setitem__", gast.Load()), key, value)))
    elif isinstance(made, ir.Insert):
        container, value = take_values(pad, [made.container, made.value])
        method = "add" if pad.plan.kinds.get(made.container) == "set" else "append"
        emit(pad, gast.Expr(call(gast.Attribute(container, method, gast.Load()), value)))
    elif isinstance(made, ir.Extend) and made.function is not None:
        container, source = take_values(pad, [made.container, made.source])
        emit(pad, _spread(pad, container, source))
    elif isinstance(made, ir.Extend):
        container, source = take_values(pad, [made.container, made.source])
        method = "extend" if pad.plan.kinds.get(made.container) == "list" else "update"
        emit(pad, gast.Expr(call(gast.Attribute(container, method, gast.Load()), source)))


def _spread(pad: Pad, container: Any, source: Any) -> Any:
    """Keywords that a dict of keywords takes over, each once, as a call does: ``d.update(dict(**d, **source))``."""
    together = gast.Call(
        builtin(pad.plan, "dict"), [], [gast.keyword(None, container), gast.keyword(None, source)]
    )
    return gast.Expr(call(gast.Attribute(container, "update", gast.Load()), together))


# --- calls -----------------------------------------------------------------------------------------------------------
def _call(pad: Pad, made: ir.Call, node: gast.AST) -> Any:
    if isinstance(made.function, ir.Literal) and made.function.value is tuple and len(made.positional) == 1:
        (part,) = take(pad, made.positional)
        if isinstance(part.value, gast.List) and any(isinstance(e, gast.Starred) for e in part.value.elts):
            return gast.Tuple(part.value.elts, gast.Load())
        return call(builtin(pad.plan, "tuple"), plain(pad.plan, part.value))
    operands = [made.function, *made.positional]
    if made.star is not None:
        operands.append(made.star)
    operands += [value for _, value in made.keywords]
    if made.rest is not None:
        operands.append(made.rest)
    parts = iter(take(pad, operands))
    function = plain(pad.plan, next(parts).value)
    arguments = [plain(pad.plan, next(parts).value) for _ in made.positional]
    if made.star is not None:
        star = next(parts)
        spread = isinstance(star.value, gast.List) and star.node is node
        arguments += star.value.elts if spread else [gast.Starred(plain(pad.plan, star.value), gast.Load())]
    keywords = [gast.keyword(text, plain(pad.plan, next(parts).value)) for text, _ in made.keywords]
    if made.rest is not None:
        keywords += keywords_of(next(parts), node)
    return gast.Call(function, arguments, keywords)


def keywords_of(part: Part, node: gast.AST) -> list[Any]:
    """The keywords of a call or class from the dict that they are."""
    display = part.value
    named = [key.value for key in getattr(display, "keys", []) if isinstance(key, gast.Constant)]
    is_made_here = part.is_keywords or part.node is node
    if isinstance(display, gast.Dict) and is_made_here and all(map(_is_keyword, display.keys)) and (
        len({*named}) == len(named)
    ):
        pairs = zip(display.keys, display.values, strict=True)
        return [gast.keyword(None if key is None else key.value, value) for key, value in pairs]
    return [] if isinstance(display, gast.Dict) and not display.keys else [gast.keyword(None, display)]


def _is_keyword(key: Any) -> bool:
    return key is None or isinstance(key, gast.Constant) and isinstance(key.value, str)


# --- stores ----------------------------------------------------------------------------------------------------------
def place_of(made: ir.Operation, targets: Sequence[ir.Version]) -> Any:
    """The name that an operation assigns to, if it does."""
    match made:
        case ir.Copy():
            return of_version(targets[0], gast.Store)
        case ir.WriteCell(cell=cell):
            return name(cell.variable, gast.Store)
        case ir.WriteGlobal(name=text) | ir.WriteName(name=text):
            return name(text, gast.Store)
    return None


def deleted(pad: Pad, made: ir.Operation) -> Any:
    """``del`` of what an operation deletes."""
    match made:
        case ir.DeleteCell(cell=cell):
            target = name(cell.variable, gast.Del)
        case ir.DeleteGlobal(name=text) | ir.DeleteName(name=text):
            target = name(text, gast.Del)
        case ir.DeleteAttribute(base=base, name=text):
            target = gast.Attribute(*take_values(pad, [base]), text, gast.Del())
        case ir.DeleteItem(base=base, index=index):
            whole, place = take(pad, [base, index])
            target = gast.Subscript(plain(pad.plan, whole.value), place.value, gast.Del())
        case _:
            return None
    return gast.Delete([target])
