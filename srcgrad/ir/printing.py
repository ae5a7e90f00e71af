"""The IR as Python text, for people to read.

Regions print as the statements of Python that they are: a ``Loop`` is a ``while True``, whose heads are assigned before
it and before each ``continue``; what a block falls through with is assigned at its end.  What Python has no expression
for prints as ``END``, ``UNBOUND`` and calls that say what they do (``bound``, ``in_place``, ``insert``, ``extend``,
``unpack``, ``load``, ``member``, ``matches``).  Cells are variables of the function that owns them, declared
``nonlocal`` where another function writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import BuiltinFunctionType

from srcgrad.ir.operations import (
    UNBOUND,
    Bound,
    Call,
    Compare,
    Copy,
    DeleteAttribute,
    DeleteCell,
    DeleteGlobal,
    DeleteItem,
    DeleteName,
    Extend,
    Format,
    FreshCell,
    GetAttribute,
    GetItem,
    Import,
    ImportName,
    Insert,
    Iterate,
    Join,
    Literal,
    Make,
    MakeClass,
    MakeFunction,
    MatchClass,
    MatchKeys,
    MatchMapping,
    MatchSequence,
    Next,
    Operand,
    Operation,
    Operator,
    ReadCell,
    ReadGlobal,
    ReadName,
    SetAttribute,
    SetItem,
    Super,
    Unpack,
    Version,
    WriteCell,
    WriteGlobal,
    WriteName,
    Yield,
    YieldFrom,
)
from srcgrad.ir.regions import (
    Assign,
    Block,
    Break,
    Continue,
    Fall,
    Function,
    Handler,
    If,
    Loop,
    Parameters,
    Raise,
    Return,
    Statement,
    Try,
    With,
    walk,
)
from srcgrad.syntax.depth import unless_too_deep

_INDENT = "    "


#: What is said of a version, behind the statement that binds it.
Notes = Mapping[Version, str]


def text_of(function: Function, notes: Notes | None = None) -> str:
    """The definition of a function, with ``notes`` on what its versions are."""
    name = function.name if function.name.isidentifier() else "function"
    return unless_too_deep(lambda: "\n".join(_function(function, name, notes or {})) + "\n")


def _noted(line: str, versions: Sequence[Version], notes: Notes) -> str:
    said = [notes[version] for version in versions if version in notes]
    return f"{line:<40}  # {', '.join(said)}" if said else line


def _function(
    function: Function,
    name: str,
    notes: Notes,
    defaults: Sequence[Operand] = (),
    by_name: Sequence[tuple[str, Operand]] = (),
) -> Iterator[str]:
    head = f"def {name}({', '.join(_parameters(function.parameters, defaults, dict(by_name)))}):"
    yield _noted(head, list(function.parameters), notes)
    yield from _indented(_body(function, notes))


def _parameters(given: Parameters, defaults: Sequence[Operand], by_name: dict[str, Operand]) -> Iterator[str]:
    positional = [*given.positional_only, *given.positional]
    first = len(positional) - len(defaults)
    for place, version in enumerate(positional):
        yield version.name if place < first else f"{version.name}={_operand(defaults[place - first])}"
        if given.positional_only and place + 1 == len(given.positional_only):
            yield "/"
    if given.variadic is not None:
        yield f"*{given.variadic.name}"
    elif given.keyword_only:
        yield "*"
    for version in given.keyword_only:
        yield f"{version.name}={_operand(by_name[version.name])}" if version.name in by_name else version.name
    if given.rest is not None:
        yield f"**{given.rest.name}"


def _body(function: Function, notes: Notes) -> Iterator[str]:
    operations = [s.operation for _, s in walk(function.body) if isinstance(s, Assign)]
    written = {o.cell for o in operations if isinstance(o, WriteCell | DeleteCell)}
    outer = [cell.name for cell in function.free if cell in written]
    if outer:
        yield f"nonlocal {', '.join(outer)}"
    named = sorted({o.name for o in operations if isinstance(o, WriteGlobal | DeleteGlobal)})
    if named:
        yield f"global {', '.join(named)}"
    yield from _block(function.body, None, None, None, notes)


def _indented(lines: Iterator[str]) -> Iterator[str]:
    empty = True
    for line in lines:
        empty = False
        yield _INDENT + line
    if empty:
        yield _INDENT + "pass"


_Targets = Sequence[Version] | None


def _block(
    block: Block, falls: _Targets, breaks: _Targets, continues: _Targets, notes: Notes
) -> Iterator[str]:
    for statement in block.statements:
        yield from _statement(statement, breaks, continues, notes)
    match block.exit:
        case Fall(values=values) if falls is not None:
            yield from _copies(falls, values)
        case Break(values=values):
            yield from _copies(breaks or (), values)
            yield "break"
        case Continue(values=values):
            yield from _copies(continues or (), values)
            yield "continue"
        case Return(value=value):
            yield f"return {_operand(value)}"
        case Raise(exception=None):
            yield "raise"
        case Raise(exception=exception, cause=cause):
            assert exception is not None
            yield f"raise {_operand(exception)}" + ("" if cause is None else f" from {_operand(cause)}")


def _copies(targets: Sequence[Version], values: Sequence[Operand]) -> Iterator[str]:
    """What versions are bound to, all at once."""
    pairs = [(target, value) for target, value in zip(targets, values, strict=True) if target is not value]
    if pairs:
        yield f"{', '.join(t.name for t, _ in pairs)} = {', '.join(_operand(v) for _, v in pairs)}"


def _statement(statement: Statement, breaks: _Targets, continues: _Targets, notes: Notes) -> Iterator[str]:
    match statement:
        case Assign(targets=targets, operation=MakeFunction() as made):
            inner = made.function
            yield from _function(inner, targets[0].name, {}, made.defaults, made.keyword_defaults)
            if made.annotations:
                kinds = ", ".join(f"{name!r}: {_operand(kind)}" for name, kind in made.annotations)
                yield f"{targets[0].name}.__annotations__ = {{{kinds}}}"
        case Assign(targets=targets, operation=MakeClass() as made):
            bases, keywords = _operand(made.bases), _operand(made.keywords)
            yield f"class {targets[0].name}(*{bases}, **{keywords}):  # {made.body.name}"
            yield from _indented(_body(made.body, {}))
        case Assign(targets=targets, operation=operation):
            text = _operation(operation)
            names = ", ".join(target.name for target in targets) + ("," if isinstance(operation, Unpack) else "")
            yield _noted(f"{names} = {text}", targets, notes) if targets else text
        case If(targets=targets, test=test, body=body, orelse=orelse):
            yield _noted(f"if {_operand(test)}:", targets, notes)
            yield from _indented(_block(body, targets, breaks, continues, notes))
            other = list(_block(orelse, targets, breaks, continues, notes))
            if other:
                yield "else:"
                yield from _indented(iter(other))
        case Loop(targets=targets, heads=heads, initial=initial, body=body):
            yield from _copies(heads, initial)
            yield _noted("while True:", heads, notes)
            yield from _indented(_block(body, None, targets, heads, notes))
        case With(manager=manager, entered=entered, body=body):
            yield f"with {_operand(manager)} as {entered.name}:"
            yield from _indented(_block(body, None, breaks, continues, notes))
        case Try():
            yield from _try(statement, breaks, continues, notes)


def _try(statement: Try, breaks: _Targets, continues: _Targets, notes: Notes) -> Iterator[str]:
    def inner(block: Block) -> list[str]:
        return list(_block(block, None, breaks, continues, notes))

    final = inner(statement.final)
    if not statement.handlers and not final:
        yield from inner(statement.body)
        yield from inner(statement.orelse)
        return
    yield "try:"
    yield from _indented(iter(inner(statement.body)))
    if statement.handlers:
        yield "except BaseException as caught:"
        yield from _indented(_handlers(statement.handlers, inner))
    orelse = inner(statement.orelse)
    if orelse and not statement.handlers:  # Python has no ``else`` without ``except``
        yield "except ():"
        yield _INDENT + "pass"
    if orelse:
        yield "else:"
        yield from _indented(iter(orelse))
    if final:
        yield "finally:"
        yield from _indented(iter(final))


def _handlers(handlers: Sequence[Handler], inner: Callable[[Block], list[str]]) -> Iterator[str]:
    """The first handler that catches ``caught``, which is raised again where none does."""
    if not handlers:
        yield "raise"
        return
    first, *rest = handlers
    body = [f"{first.caught.name} = caught", *inner(first.body)]
    if first.kinds is None:
        yield from body
        return
    assert isinstance(first.kinds.exit, Fall)
    yield from inner(first.kinds)
    yield f"if matches(caught, {_operand(first.kinds.exit.values[0])}):"
    yield from _indented(iter(body))
    yield "else:"
    yield from _indented(_handlers(rest, inner))


def _operand(operand: Operand) -> str:
    if isinstance(operand, Version):
        return operand.name
    value = operand.value
    if isinstance(value, type | BuiltinFunctionType):
        return value.__name__
    return "UNBOUND" if value is UNBOUND else repr(value)


def _listed(operands: Sequence[Operand]) -> str:
    return ", ".join(map(_operand, operands))


def _operation(made: Operation) -> str:
    match made:
        case Copy(source=source):
            return _operand(source)
        case Bound(source=source, variable=variable):
            return f"bound({source.name}, {variable!r})"
        case ReadCell(cell=cell):
            return cell.name
        case WriteCell(cell=cell, value=value):
            return f"{cell.name} = {_operand(value)}"
        case FreshCell(cell=cell):
            return f"{cell.name} = UNBOUND"
        case DeleteCell(cell=cell):
            return f"del {cell.name}"
        case ReadGlobal(name=name) | ReadName(name=name):
            return name
        case WriteGlobal(name=name, value=value) | WriteName(name=name, value=value):
            return f"{name} = {_operand(value)}"
        case DeleteGlobal(name=name) | DeleteName(name=name):
            return f"del {name}"
        case GetAttribute(base=base, name=name):
            return f"{_based(base)}.{name}"
        case SetAttribute(base=base, name=name, value=value):
            return f"{_based(base)}.{name} = {_operand(value)}"
        case DeleteAttribute(base=base, name=name):
            return f"del {_based(base)}.{name}"
        case GetItem(base=base, index=index):
            return f"{_operand(base)}[{_operand(index)}]"
        case SetItem(base=base, index=index, value=value):
            return f"{_operand(base)}[{_operand(index)}] = {_operand(value)}"
        case DeleteItem(base=base, index=index):
            return f"del {_operand(base)}[{_operand(index)}]"
        case Operator(symbol=symbol, operands=(operand,)):
            if symbol == "bool":
                return f"bool({_operand(operand)})"
            return f"{symbol} {_operand(operand)}" if symbol == "not" else f"{symbol}{_factor(operand)}"
        case Operator(symbol=symbol, operands=(left, right), in_place=True):
            return f"in_place({symbol + '='!r}, {_operand(left)}, {_operand(right)})"
        case Operator(symbol=symbol, operands=(left, right)):
            return f"{_factor(left)} {symbol} {_factor(right)}"
        case Compare(symbol=symbol, left=left, right=right):
            return f"{_operand(left)} {symbol} {_operand(right)}"
        case Call():
            return f"{_based(made.function)}({', '.join(_arguments(made))})"
        case Make():
            return _made(made)
    return _helped(made)


def _based(operand: Operand) -> str:
    """An operand before an attribute or a call."""
    text = _operand(operand)
    return text if isinstance(operand, Version) or text.isidentifier() else f"({text})"


def _factor(operand: Operand) -> str:
    """An operand beside an operator, which may bind tighter than a sign."""
    text = _operand(operand)
    return f"({text})" if text.startswith("-") or isinstance(operand, Literal) and "j" in text else text


def _arguments(made: Call) -> Iterator[str]:
    yield from map(_operand, made.positional)
    if made.star is not None:
        yield f"*{_operand(made.star)}"
    yield from (f"{name}={_operand(value)}" for name, value in made.keywords)
    if made.rest is not None:
        yield f"**{_operand(made.rest)}"


def _made(made: Make) -> str:
    elements = _listed(made.elements)
    match made.kind:
        case "tuple":
            return f"({elements},)" if len(made.elements) == 1 else f"({elements})"
        case "list":
            return f"[{elements}]"
        case "set":
            return f"{{{elements}}}" if elements else "set()"
        case "slice":
            return f"slice({elements})"
    pairs = zip(made.keys, made.elements, strict=True)
    return "{" + ", ".join(f"{_operand(key)}: {_operand(value)}" for key, value in pairs) + "}"


def _helped(made: Operation) -> str:
    match made:
        case Insert(container=container, value=value, key=None):
            return f"insert({_operand(container)}, {_operand(value)})"
        case Insert(container=container, value=value, key=key):
            assert key is not None
            return f"{_operand(container)}[{_operand(key)}] = {_operand(value)}"
        case Extend(container=container, source=source, function=function):
            of = "" if function is None else f", {_operand(function)}"
            return f"extend({_operand(container)}, {_operand(source)}{of})"
        case Unpack(source=source, count=count, star=star):
            return f"unpack({_operand(source)}, {count}, {star})"
        case Iterate(source=source):
            return f"iter({_operand(source)})"
        case Next(iterator=iterator):
            return f"next({_operand(iterator)}, END)"
        case Format(value=value, conversion=conversion, specification=specification):
            text = _operand(value) if conversion is None else f"{conversion}({_operand(value)})"
            return f"format({text}, {repr('') if specification is None else _operand(specification)})"
        case Join(parts=parts):
            return f"''.join([{_listed(parts)}])"
        case Import(module=module, names=names, level=level, whole=whole):
            return f"load({module!r}, {names!r}, {level}, {whole})"
        case ImportName(module=module, name=name):
            return f"member({_operand(module)}, {name!r})"
        case MatchSequence(subject=subject, count=count, at_least=at_least):
            return f"is_sequence({_operand(subject)}, {count}, at_least={at_least})"
        case MatchMapping(subject=subject, count=count):
            return f"is_mapping({_operand(subject)}, {count})"
        case MatchKeys(subject=subject, keys=keys, rest=rest):
            return f"match_keys({_operand(subject)}, [{_listed(keys)}], rest={rest})"
        case MatchClass(subject=subject, of=of, count=count, names=names):
            return f"match_class({_operand(subject)}, {_operand(of)}, {count}, {names!r})"
        case Super(function=function, cell=cell, first=first):
            return f"{_based(function)}({'' if cell is None else cell.name}, {_operand(first)})"
        case Yield(value=value):
            return f"yield {_operand(value)}"
        case YieldFrom(source=source):
            return f"yield from {_operand(source)}"
    raise AssertionError(made)
