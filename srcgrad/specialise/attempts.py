"""``try`` as attempts and branches: what may raise what is caught is a function of its own, which is attempted.

Enters: the reduced IR of a function.  Leaves: the same without ``Try``.  Operations that only compute are attempted
together, up to one that may change something::

    try:                              raised = None
        y = f(x[i])                   t, raised = attempt(x, i)       (of  lambda x, i: f(x[i]))
        z = y * a                     if raised is None:
    except ValueError:      ->            y = t
        z = a                             z = y * a                   (of floats: it does not raise)
                                      if raised is not None:
                                          z = a

What was raised is a variable, one for each ``try``, which is asked behind every region that may have set it.  An
attempt catches what any ``try`` around it does; what the inner one does not catch is raised in the outer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import gast

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.normal_form import Callee, Guarded, LocalFunction
from srcgrad.frontend.scope import importable
from srcgrad.frontend.source import Source
from srcgrad.infer.heap import Site
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import ANY, Bound, Exact, Of, Value, at, exact, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import UNBOUND, Cell, Literal, Operand, Version
from srcgrad.ir.regions import (
    Assign,
    Block,
    Break,
    Continue,
    Exit,
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
    Unreachable,
    With,
    operands_of,
    walk,
)
from srcgrad.ir.restoring.pending import uses_of
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.specialise.inlining import Renaming, renamed
from srcgrad.specialise.instances import Instance
from srcgrad.specialise.raising import caught_of, raises
from srcgrad.specialise.reducing import Reduced, changes_nothing, fixed_parameters
from srcgrad.syntax.globals import GlobalBinding, builtin, of_runtime, reference
from srcgrad.syntax.namer import Namer

#: What an attempt raised: None, or an exception, of which nothing is read that varies.
RAISED = union(exact(None), at(Site(BaseException, "raised")))
_TRUTH = union(exact(True), exact(False))
_NOTHING = Literal(UNBOUND)


@dataclass(frozen=True)
class _Around:
    """The ``try`` statements around a block, and how the block is left when something was raised in it."""

    raised: Cell | None = None  # of the innermost, None outside of any
    caught: tuple[type[BaseException], ...] = ()  # by any of them
    outer: _Around | None = None
    fail: Exit = field(default_factory=Fall)
    handled: Cell | None = None  # what ``raise`` alone raises
    returning: tuple[tuple[Block, _Around], ...] = ()  # the last blocks that run before a return, innermost first
    leaving: tuple[tuple[Block, _Around], ...] = ()  # those that run before the loop is left or goes on


@dataclass(eq=False)
class _Function:
    """A function that is taken apart."""

    made: Reduced
    instance: Instance
    source: Source
    uses: dict[Operand, int] = field(default_factory=dict)
    lookups: dict[Operand, Assign] = field(default_factory=dict)  # of methods, which are the same later
    taken: set[Statement] = field(default_factory=set)  # what takes apart what an attempt gave
    count: int = 0

    def version(self, value: Value, stem: str = "t") -> Version:
        made = Version(self.made.namer.fresh(stem))
        self.made.values[made] = value
        return made

    def cell(self, stem: str) -> Cell:
        name = self.made.namer.fresh(stem)
        made = Cell(name, name)
        self.made.cells.add(made)
        return made

    def refuse(self, node: gast.AST, what: str) -> UnsupportedSyntax:
        return UnsupportedSyntax(f"{what} is not specialised yet", self.source.span(node))


def without_try(made: Reduced, instance: Instance, source: Source) -> None:
    """Take apart each ``try`` of a function."""
    if not any(isinstance(statement, Try) for _, statement in walk(made.function.body)):
        return
    here = _Function(made, instance, source, dict(uses_of(made.function)))
    for _, statement in walk(made.function.body):
        if isinstance(statement, Assign) and isinstance(statement.operation, ir.GetAttribute):
            value = made.value(statement.targets[0])
            if not value.is_any and value.atoms and all(isinstance(atom, Bound) for atom in value.atoms):
                here.lookups[statement.targets[0]] = statement
    _require_unread(here, made.function.body)
    body, _ = _block(here, made.function.body, _Around())
    made.function = replace(made.function, body=body)
    made.function = replace(made.function, body=_without(made.function, body, here.lookups))


def _require_unread(here: _Function, body: Block) -> None:
    """Refuse a handler's name that is read elsewhere: it is gone behind the handler, and here it is not."""
    for _, statement in walk(body):
        if not isinstance(statement, Try) or statement.handlers:
            continue
        gone = {cell for cell in map(_deleted, statement.final.statements) if cell is not None}
        inside = {id(s) for _, s in walk(statement.body)}
        for _, other in walk(body):
            operation = other.operation if isinstance(other, Assign) else None
            if isinstance(operation, ir.ReadCell) and operation.cell in gone and id(other) not in inside:
                raise here.refuse(other.node, "the name of an exception elsewhere")


def _deleted(statement: Statement) -> Cell | None:
    is_deletion = isinstance(statement, Assign) and isinstance(statement.operation, ir.DeleteCell)
    return statement.operation.cell if is_deletion else None  # type: ignore[union-attr]


def _without(function: Function, block: Block, lookups: dict[Operand, Assign]) -> Block:
    """A block without methods that are looked up, and called in attempts alone, which look them up again."""
    uses = uses_of(function)
    unused = {id(lookup) for target, lookup in lookups.items() if not uses[target]}
    return _filtered(block, unused) if unused else block


def _filtered(block: Block, unused: set[int]) -> Block:
    kept: list[Statement] = []
    for statement in block.statements:
        match statement:
            case If(body=body, orelse=orelse):
                kept.append(replace(statement, body=_filtered(body, unused), orelse=_filtered(orelse, unused)))
            case Loop(body=body) | With(body=body):
                kept.append(replace(statement, body=_filtered(body, unused)))
            case _ if id(statement) not in unused:
                kept.append(statement)
    return Block(tuple(kept), block.exit)


# --- blocks ----------------------------------------------------------------------------------------------------------
def _block(here: _Function, block: Block, around: _Around) -> tuple[Block, bool]:
    """A block without ``try``, and whether something may have been raised when its end is reached."""
    out: list[Statement] = []
    pending = list(block.statements)
    while pending:
        statement = pending[0]
        if isinstance(statement, Assign):
            count, tried = _run(here, pending, around)
            out += pending[:count] if tried is None else tried.statements
            pending[:count] = [] if tried is None else tried.taken
            if tried is not None:
                return _go_on(here, out, Block(tuple(pending), block.exit), around), True
            continue
        del pending[0]
        made, end, may = _region(here, statement, around)
        out += made
        if end is not None:
            return Block(tuple(out), end), may
        if may:
            return _go_on(here, out, Block(tuple(pending), block.exit), around), True
    return _leave(here, out, block.exit, around)


def _go_on(here: _Function, out: list[Statement], rest: Block, around: _Around) -> Block:
    """What follows, if nothing was raised."""
    node = out[-1].node
    inner, _ = _block(here, rest, around)
    if not inner.statements and (isinstance(inner.exit, Unreachable) or inner.exit == around.fail):
        return Block(tuple(out), around.fail)
    if not isinstance(around.fail, Fall):
        test = _asked(here, out, around, "is not", node)
        out.append(If((), test, Block((), around.fail), Block((), Fall()), node))
        return Block((*out, *inner.statements), inner.exit)
    if not inner.statements and isinstance(inner.exit, Fall) and not inner.exit.values:
        return Block(tuple(out), inner.exit)
    test = _asked(here, out, around, "is", node)
    if not isinstance(inner.exit, Fall):
        out.append(If((), test, inner, Block((), Fall()), node))
        return Block(tuple(out), around.fail)
    joined = tuple(here.version(here.made.value(operand)) for operand in inner.exit.values)
    out.append(If(joined, test, inner, Block((), around.fail), node))
    return Block(tuple(out), Fall(joined))


def _asked(here: _Function, out: list[Statement], around: _Around, symbol: str, node: gast.AST) -> Version:
    """Whether something was raised, or nothing."""
    assert around.raised is not None
    return _compared(here, out, around.raised, symbol, node)


def _compared(here: _Function, out: list[Statement], raised: Cell, symbol: str, node: gast.AST) -> Version:
    held, test = here.version(RAISED), here.version(_TRUTH)
    out.append(Assign((held,), ir.ReadCell(raised), node))
    out.append(Assign((test,), ir.Compare(symbol, held, Literal(None)), node))
    return test


def _region(here: _Function, statement: Statement, around: _Around) -> tuple[list[Statement], Exit | None, bool]:
    """A region, the exit behind which nothing follows, if that is how it ends, and whether it may raise."""
    match statement:
        case If(targets=targets, body=body, orelse=orelse):
            inside = around if isinstance(around.fail, Break) else replace(around, fail=_unbound(Fall, targets))
            first, may_first = _block(here, body, inside)
            second, may_second = _block(here, orelse, inside)
            return [replace(statement, body=first, orelse=second)], None, may_first or may_second
        case Loop(targets=targets, body=body):
            body, may = _block(here, body, replace(around, fail=_unbound(Break, targets), leaving=()))
            return [replace(statement, body=body)], None, may
        case With(body=body):
            body, may = _block(here, body, _inside(around))
            if may:
                raise here.refuse(statement.node, "what may raise in a context manager, and is caught around it,")
            return [replace(statement, body=body)], None, may
        case Try():
            return _finally(here, statement, around) if statement.final.statements else _try(here, statement, around)
    raise AssertionError(statement)


def _unbound(kind: type[Fall] | type[Break], targets: Sequence[Version]) -> Exit:
    return kind((_NOTHING,) * len(targets))


def _leave(here: _Function, out: list[Statement], exit: Exit, around: _Around) -> tuple[Block, bool]:
    """The end of a block: the last blocks of what it leaves run first."""
    match exit:
        case Raise():
            return _raise(here, out, exit, around)
        case Return():
            left = around.returning
        case Break() | Continue():
            left = around.leaving
        case _:
            left = ()
    for final, outside in left:
        made, may = _block(here, _again(here, final), outside)
        if may:
            raise here.refuse(out[-1].node if out else here.source.node, "a last block that may raise in another try")
        out += made.statements
    return Block(tuple(out), exit), False


def _again(here: _Function, block: Block) -> Block:
    """A block with versions of its own."""

    def note(new: Statement, old: Statement) -> None:
        if old in here.made.calls:
            here.made.calls[new] = here.made.calls[old]
        for one, other in zip(getattr(new, "targets", ()), getattr(old, "targets", ()), strict=True):
            here.made.values[one] = here.made.value(other)
            here.uses[one] = here.uses.get(other, 0)
            if other in here.lookups and isinstance(new, Assign):
                here.lookups[one] = new
        for one, other in zip(getattr(new, "heads", ()), getattr(old, "heads", ()), strict=True):
            here.made.values[one] = here.made.value(other)

    if any(isinstance(statement, Try | With) for _, statement in walk(block)):
        raise here.refuse(block.statements[0].node, "a try in a last block that runs in several places")
    return renamed(Renaming({}, lambda version: here.made.namer.fresh(version.variable or "t")), block, note)


# --- try -------------------------------------------------------------------------------------------------------------
def _try(here: _Function, statement: Try, around: _Around) -> tuple[list[Statement], Exit | None, bool]:
    """The body, then what handles what it raised, or what follows it where it raised nothing."""
    node = statement.node
    if not statement.handlers:
        return _spliced(*_block(here, _followed(statement.body, statement.orelse), _inside(around)))
    kinds = [caught_of(here.made, handler) for handler in statement.handlers]
    if any(kind is None for kind in kinds):
        raise here.refuse(node, "a handler of exceptions that the values do not say")
    own = tuple(dict.fromkeys(each for kind in kinds for each in kind or ()))
    raised = here.cell("raised")
    inside = replace(
        around, raised=raised, caught=tuple(dict.fromkeys((*own, *around.caught))), outer=around, fail=Fall(),
    )  # fmt: skip
    body, may = _block(here, statement.body, inside)
    if not may:
        whole, may = _block(here, statement.orelse, _inside(around))
        return _spliced(_followed(body, whole), may and isinstance(body.exit, Fall))
    out: list[Statement] = [Assign((), ir.WriteCell(raised, Literal(None)), node), *body.statements]
    handled, may_handled = _dispatched(here, statement.handlers, raised, replace(_inside(around), handled=raised))
    orelse, may_else = _block(here, statement.orelse, _inside(around))
    test = _compared(here, out, raised, "is not", node)
    out.append(If((), test, handled, orelse if isinstance(body.exit, Fall) else Block((), Fall()), node))
    return out, None, may_handled or may_else


def _inside(around: _Around) -> _Around:
    """Around a region that has no targets."""
    return around if isinstance(around.fail, Break) else replace(around, fail=Fall())


def _spliced(block: Block, may: bool) -> tuple[list[Statement], Exit | None, bool]:
    """A block in the place of a region that has no targets."""
    return list(block.statements), None if isinstance(block.exit, Fall) else block.exit, may


def _followed(first: Block, second: Block) -> Block:
    return Block((*first.statements, *second.statements), second.exit) if isinstance(first.exit, Fall) else first


def _dispatched(
    here: _Function, handlers: Sequence[Handler], raised: Cell, around: _Around
) -> tuple[Block, bool]:
    """The handler of what was raised; what none of them handles was raised in the ``try`` around."""
    if not handlers:
        return _passed(here, raised, around)
    first, *rest = handlers
    out: list[Statement] = []
    statements = first.body.statements
    if here.uses.get(first.caught):
        here.made.values[first.caught] = RAISED
        statements = (Assign((first.caught,), ir.ReadCell(raised), first.node), *statements)
    body, may = _block(here, Block(statements, first.body.exit), around)
    if first.kinds is None or not rest and around.raised is None:
        return body, may
    asked, test = here.version(RAISED), here.version(_TRUTH)
    out.append(Assign((asked,), ir.ReadCell(raised), first.node))
    out += first.kinds.statements
    assert isinstance(first.kinds.exit, Fall)
    function = Literal(Spelled(reference(builtin("isinstance")), isinstance))
    out.append(Assign((test,), ir.Call(function, (asked, *first.kinds.exit.values)), first.node))
    other, may_other = _dispatched(here, rest, raised, around)
    out.append(If((), test, body, other, first.node))
    return Block(tuple(out), Fall()), may or may_other


def _passed(here: _Function, raised: Cell, around: _Around) -> tuple[Block, bool]:
    """What was raised, as raised in the ``try`` around."""
    held = here.version(RAISED)
    node = here.source.node
    return _leave(here, [Assign((held,), ir.ReadCell(raised), node)], Raise(held, None, node), around)


def _finally(here: _Function, statement: Try, around: _Around) -> tuple[list[Statement], Exit | None, bool]:
    """A ``try`` without its last block, which runs wherever it is left."""
    final, node = statement.final, statement.node
    inner = replace(statement, final=Block((), Fall()))
    if not isinstance(final.exit, Fall) or any(
        isinstance(part.exit, Return) for _, s in walk(final) for part in _sides(s)
    ):
        raise here.refuse(node, "a last block that is left otherwise than at its end")
    if all(_forgets(part) for part in final.statements):  # the name of an exception that was handled
        return _try(here, inner, around)
    raised = here.cell("raised")
    last = ((final, around),)
    inside = replace(
        around, raised=raised, caught=(BaseException,), outer=around, fail=Fall(), returning=last + around.returning,
        leaving=last + around.leaving,
    )  # fmt: skip
    body, may = _block(here, Block((inner,), Fall()), inside)
    after, may_after = _block(here, _again(here, final), _inside(around))
    out: list[Statement] = [*body.statements]
    if not may:
        if not isinstance(body.exit, Fall):
            return out, body.exit, False
        return [*out, *after.statements], None, may_after
    if may_after:
        raise here.refuse(node, "a last block that may raise in another try")
    out = [Assign((), ir.WriteCell(raised, Literal(None)), node), *out, *after.statements]
    passed, may_pass = _passed(here, raised, _inside(around))
    test = _compared(here, out, raised, "is not", node)
    out.append(If((), test, passed, Block((), Fall()), node))
    return out, None, may_pass


def _sides(statement: Statement) -> Iterator[Block]:
    match statement:
        case If(body=body, orelse=orelse):
            yield from (body, orelse)
        case Loop(body=body) | With(body=body):
            yield body


def _forgets(statement: Statement) -> bool:
    match statement:
        case Assign(operation=ir.WriteCell(value=Literal(value=None)) | ir.DeleteCell()):
            return isinstance(statement.node, gast.ExceptHandler)
    return False


def _raise(here: _Function, out: list[Statement], exit: Raise, around: _Around) -> tuple[Block, bool]:
    """``raise``: of what may be caught here, it is what was raised."""
    exception, node = exit.exception, exit.node
    if exception is None:
        if around.handled is None:
            raise here.refuse(node, "raise alone outside of a handler")
        exception = here.version(RAISED)
        out.append(Assign((exception,), ir.ReadCell(around.handled), node))
    if around.raised is None:
        return Block(tuple(out), replace(exit, exception=exception)), False
    here.made.values[exception] = RAISED
    made, test = here.version(RAISED), here.version(_TRUTH)
    function = Literal(Spelled(reference(of_runtime(runtime.raisable)), runtime.raisable))
    out.append(Assign((made,), ir.Call(function, (exception,)), node))
    out.append(Assign((), ir.WriteCell(around.raised, made), node))
    if BaseException in around.caught:
        return Block(tuple(out), around.fail), True
    held = here.version(RAISED)
    out.append(Assign((held,), ir.ReadCell(around.raised), node))
    kinds = [Literal(Spelled(reference(importable(kind.__name__, kind)), kind)) for kind in around.caught]
    of = here.version(RAISED)
    out.append(Assign((of,), ir.Make("tuple", tuple(kinds)), node))
    asks = Literal(Spelled(reference(builtin("isinstance")), isinstance))
    out.append(Assign((test,), ir.Call(asks, (held, of)), node))
    again = here.version(RAISED)
    escaped = Block((Assign((again,), ir.ReadCell(around.raised), node),), Raise(again, None, node))
    out.append(If((), test, Block((), Fall()), escaped, node))
    return Block(tuple(out), around.fail), True


# --- attempts --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Tried:
    """An attempt, and what follows it where nothing was raised."""

    statements: list[Statement]
    taken: list[Statement]


def _run(here: _Function, pending: Sequence[Statement], around: _Around) -> tuple[int, _Tried | None]:
    """How many of the next statements are written as they are, or, with the last of them, what attempts them."""
    start: int | None = None
    last = count = 0
    for statement in pending:
        if not isinstance(statement, Assign):
            break
        count += 1
        may = around.raised is not None and statement not in here.taken
        may = may and raises(here.made, statement, around.caught)
        if may and start is None:
            start = count - 1
        if start is None:
            continue
        if not _is_of_part(here, statement, may):
            count -= 1
            break
        last = count if may else last
        if not _only_computes(here, statement):
            break
    if start is None:
        return count, None
    outside = [s for s in pending[:last] if isinstance(s, Assign)]
    part = [s for s in outside[start:] if not isinstance(s.operation, ir.ReadCell)]
    tried = [*outside[:start], *(s for s in outside[start:] if isinstance(s.operation, ir.ReadCell))]
    made = _attempt(here, part, around)
    return last, replace(made, statements=[*tried, *made.statements])


_PARTS = (
    ir.Operator, ir.Compare, ir.GetAttribute, ir.GetItem, ir.Call, ir.Make, ir.Unpack, ir.Format, ir.Join, ir.Copy,
    ir.SetItem, ir.DeleteItem, ir.SetAttribute,
)  # fmt: skip


def _is_of_part(here: _Function, statement: Assign, may: bool) -> bool:
    """Whether a statement is attempted with others; a variable may be read before them."""
    operation = statement.operation
    if may and not isinstance(operation, _PARTS):
        raise here.refuse(statement.node, "an operation that may raise what is caught")
    if isinstance(operation, ir.Operator) and operation.in_place and may:
        value = here.made.value(operation.operands[0])
        if value.is_any or not all(isinstance(atom, Exact | Of) for atom in value.atoms):
            raise here.refuse(statement.node, "an assignment in place that may raise what is caught")
    return isinstance(operation, (*_PARTS, ir.ReadCell))


def _only_computes(here: _Function, statement: Assign) -> bool:
    match statement.operation:
        case ir.Copy() | ir.Unpack() | ir.Format() | ir.Join():
            return statement not in here.made.calls
        case ir.Operator(in_place=True):  # of a number
            return statement not in here.made.calls
    return changes_nothing(here.made, statement)


def _attempt(here: _Function, part: Sequence[Assign], around: _Around) -> _Tried:
    """The attempt of statements as a function: what they compute, and what was raised."""
    node = part[-1].node
    needed = {operand for statement in part for operand in operands_of(statement.operation)}
    part = [*(lookup for target, lookup in here.lookups.items() if target in needed and lookup not in part), *part]
    bound = {target for statement in part for target in statement.targets}
    read: Counter[Operand] = Counter(operand for statement in part for operand in operands_of(statement.operation))
    given = [operand for operand in read if isinstance(operand, Version) and operand not in bound]
    targets = [target for statement in part for target in statement.targets]
    computed = [v for v in targets if here.uses.get(v, 0) > read[v] and v not in here.lookups]
    instance = _function_of(here, part, given, computed)
    fixed = fixed_parameters(instance.summary)
    passed = [v for v, own in zip(given, instance.summary.function.parameters, strict=True) if own not in fixed]
    local = LocalFunction("part", here.source.node, here.source, (), instance)
    callee = Callee(Guarded(local, around.caught), instance=instance)
    head = Literal(Spelled(reference(GlobalBinding("attempt", callee)), callee))
    pair, value, raised = here.version(RAISED, "t"), here.version(RAISED, "t"), here.version(RAISED, "t")
    taken: list[Statement] = []
    if len(computed) == 1:
        value = computed[0]
    elif computed:
        taken.append(Assign(tuple(computed), ir.Unpack(value, len(computed)), node))
        here.taken.update(taken)
    assert around.raised is not None
    made: list[Statement] = [
        Assign((pair,), ir.Call(head, tuple(passed)), node), Assign((value, raised), ir.Unpack(pair, 2), node),
        Assign((), ir.WriteCell(around.raised, raised), node),
    ]  # fmt: skip
    return _Tried(made, taken)


def _function_of(
    here: _Function, part: Sequence[Assign], given: Sequence[Version], computed: Sequence[Version]
) -> Instance:
    """Statements as a function of their operands, for the values that these have here."""
    made, namer = here.made, Namer(())
    parameters = tuple(Version(name, name) for name in (namer.fresh(v.variable or "a") for v in given))
    values = dict(made.values) | {own: made.value(outer) for own, outer in zip(parameters, given, strict=True)}
    calls: dict[Statement, list[Summary]] = {}

    def note(new: Statement, old: Statement) -> None:
        if old in made.calls:
            calls[new] = made.calls[old]
        for one, other in zip(getattr(new, "targets", ()), getattr(old, "targets", ()), strict=True):
            values[one] = made.value(other)

    renaming = Renaming(dict(zip(given, parameters, strict=True)), lambda v: namer.fresh(v.variable or "t"))
    value: Operand = computed[0] if computed else Literal(None)
    if len(computed) > 1:
        value = Version(namer.fresh("t"))
        values[value] = ANY
        part = [*part, Assign((value,), ir.Make("tuple", tuple(computed)), part[-1].node)]
    body = renamed(renaming, Block(tuple(map(_out_of_place, part)), Return(value)), note)
    function = Function("part", "part", Parameters(positional=parameters), (), (), body, part[-1].node)
    arguments = {version: values[version] for version in parameters}
    summary = replace(
        made.summary, function=function, cells={}, arguments=arguments, generators={}, returned=None, raised=None,
        values=values, calls=calls,
    )  # fmt: skip
    here.count += 1
    return replace(here.instance, key=f"{here.instance.key}, part {here.count}", summary=summary, made=None)


def _out_of_place(statement: Assign) -> Assign:
    """Numbers are computed in place as they are otherwise."""
    operation = statement.operation
    if not isinstance(operation, ir.Operator) or not operation.in_place:
        return statement
    return replace(statement, operation=replace(operation, in_place=False))
