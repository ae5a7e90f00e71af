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

from collections.abc import Sequence
from dataclasses import replace

import gast

from srcgrad import runtime
from srcgrad.frontend.source import Source
from srcgrad.infer.emitted import RAISED
from srcgrad.infer.values import ANY, Value
from srcgrad.ir import operations as ir
from srcgrad.ir.copied import Renaming, bound_by
from srcgrad.ir.operations import Cell, Literal, Operand, Version
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
    Raise,
    Return,
    Statement,
    Try,
    Unreachable,
    With,
    blocks_of,
    walk,
)
from srcgrad.ir.restoring.pending import uses_of
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.runtime.refusals import Refused
from srcgrad.specialise.inlining import has_attempts
from srcgrad.specialise.instances import Instance
from srcgrad.specialise.managers import are_known, early, is_indifferent, is_silent, opened_and_left, suppressed, tried
from srcgrad.specialise.parts import TRUTH, Apart, Around, attempted, called_where_read, without_lookups
from srcgrad.specialise.raising import caught_of, raises
from srcgrad.specialise.reduced import Reduced
from srcgrad.specialise.returning import returned_behind
from srcgrad.syntax.globals import builtin, importable, of_runtime, reference

_NOTHING = Literal(None)  # of what is read only where nothing was raised


def without_try(made: Reduced, function: Function, instance: Instance, source: Source) -> Block:
    """The body of a function in which each ``try`` is taken apart, and the context managers of the user's classes."""
    here = Apart(made, function, instance, source)
    if not has_attempts(function.body):
        if (alone := _raised_alone(function.body)) is not None:
            raise here.refuse("E0112", alone.node, "a raise of no exception, outside of a handler,")
        return function.body
    _require_unread(here, function.body)
    here.managers.intersection_update(are_known(here))
    body, _ = _block(here, returned_behind(here, function.body), Around())
    body = called_where_read(here, body)
    return without_lookups(here, body, uses_of(replace(function, body=body)))


def _require_unread(here: Apart, body: Block) -> None:
    """Refuse a handler's name that is read elsewhere: it is gone behind the handler, and here it is not."""
    for _, statement in walk(body):
        if not isinstance(statement, Try) or statement.handlers:
            continue
        gone = {cell for cell in map(_deleted, statement.final.statements) if cell is not None}
        inside = {id(s) for _, s in walk(statement.body)}
        for _, other in walk(body):
            operation = other.operation if isinstance(other, Assign) else None
            if isinstance(operation, ir.ReadCell) and operation.cell in gone and id(other) not in inside:
                raise here.refuse("E0112", other.node, "the name of a caught exception, outside of its handler,")


def _deleted(statement: Statement) -> Cell | None:
    is_deletion = isinstance(statement, Assign) and isinstance(statement.operation, ir.DeleteCell)
    return statement.operation.cell if is_deletion else None  # type: ignore[union-attr]


# --- blocks ----------------------------------------------------------------------------------------------------------
def _block(here: Apart, block: Block, around: Around) -> tuple[Block, bool]:
    """A block without ``try``, and whether something may have been raised when its end is reached."""
    is_left = isinstance(around.fail, Break)  # where failing leaves the loop as well: at its end, whatever was
    if isinstance(block.exit, Break) and around.raised is not None and not around.leaving and is_left:
        made, may = _block(here, Block(block.statements, Fall(block.exit.values)), _falling(around, block.exit.values))
        return (Block(made.statements, Break(made.exit.values)) if isinstance(made.exit, Fall) else made), may
    out: list[Statement] = []
    pending = list(block.statements)
    while pending:
        statement = pending[0]
        if isinstance(statement, Assign):
            count, tried = attempted(here, pending, around)
            out += pending[:count] if tried is None else tried.statements
            pending[:count] = [] if tried is None else tried.taken
            if tried is not None:
                return _go_on(here, out, Block(tuple(pending), block.exit), around), True
            continue
        if isinstance(statement, If) and (asked := _tested(here, statement, around)) is not None:
            pending[:1] = asked
            continue
        if isinstance(statement, With) and (opened := opened_and_left(here, statement)) is not None:
            pending[:1] = opened
            continue
        del pending[0]
        region, end, may = _region(here, statement, around)
        out += region
        if end is not None:
            return Block(tuple(out), end), may
        if may:
            return _go_on(here, out, Block(tuple(pending), block.exit), around), True
    return _leave(here, out, block.exit, around)


def _tested(here: Apart, statement: If, around: Around) -> list[Statement] | None:
    """A branch behind the question whether its test is true, where that may raise: an array has no truth value."""
    test = here.version(TRUTH)
    asked = Assign((test,), ir.Operator("bool", (statement.test,)), statement.node)
    if around.raised is None or not raises(here.made, asked, around.caught):
        return None
    here.uses[test] = 1
    return [asked, replace(statement, test=test)]


def _go_on(here: Apart, out: list[Statement], rest: Block, around: Around) -> Block:
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


def _asked(here: Apart, out: list[Statement], around: Around, symbol: str, node: gast.AST) -> Version:
    """Whether something was raised, or nothing."""
    assert around.raised is not None
    return _compared(here, out, around.raised, symbol, node)


def _compared(here: Apart, out: list[Statement], raised: Cell, symbol: str, node: gast.AST) -> Version:
    held, test = here.version(RAISED), here.version(TRUTH)
    out.append(Assign((held,), ir.ReadCell(raised), node))
    out.append(Assign((test,), ir.Compare(symbol, held, Literal(None)), node))
    return test


def _region(here: Apart, statement: Statement, around: Around) -> tuple[list[Statement], Exit | None, bool]:
    """A region, the exit behind which nothing follows, if that is how it ends, and whether it may raise."""
    match statement:
        case If(targets=targets, body=body, orelse=orelse):
            inside = around if isinstance(around.fail, Break) else _falling(around, targets)
            first, may_first = _block(here, body, inside)
            second, may_second = _block(here, orelse, inside)
            return [replace(statement, body=first, orelse=second)], None, may_first or may_second
        case Loop(targets=targets, body=body):
            left = Break((_NOTHING,) * len(targets))
            body, may = _block(here, body, replace(around, fail=left, leaving=()))
            return [replace(statement, body=body)], None, may
        case With():
            return _with(here, statement, around)
        case Try():
            return _finally(here, statement, around)
    raise AssertionError(statement)


def _falling(around: Around, values: Sequence[object]) -> Around:
    """Around a block that falls through with as many values."""
    return replace(around, fail=Fall((_NOTHING,) * len(values)))


def _leave(here: Apart, out: list[Statement], exit: Exit, around: Around) -> tuple[Block, bool]:
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
            raise here.refuse(
                "E0120", final.statements[0].node, "a finally that may raise, inside of another try,"
            )
        out += made.statements
        if not isinstance(made.exit, Fall):  # which comes in place of how the block was to be left
            return Block(tuple(out), made.exit), False
    return Block(tuple(out), exit), False


def _again(here: Apart, block: Block) -> Block:
    """A block with versions of its own."""

    def note(new: Statement, old: Statement) -> None:
        here.made.renewed(old, new)
        for one, other in zip(bound_by(new), bound_by(old), strict=True):
            here.made.values[one] = here.made.value(other)
            here.uses[one] = here.uses.get(other, 0)
            if other in here.lookups and isinstance(new, Assign):
                here.lookups[one] = new

    return Renaming({}, {}, lambda version: here.made.namer.fresh(version.variable or "t"), note).block(block)


# --- try -------------------------------------------------------------------------------------------------------------
def _try(here: Apart, statement: Try, around: Around) -> tuple[list[Statement], Exit | None, bool]:
    """The body, then what handles what it raised, or what follows it where it raised nothing."""
    node = statement.node
    if not statement.handlers:
        return _spliced(*_block(here, _followed(statement.body, statement.orelse), _inside(around)))
    kinds = [caught_of(here.made, handler) for handler in statement.handlers]
    if any(kind is None for kind in kinds):
        unclear = next(h for h, kind in zip(statement.handlers, kinds, strict=True) if kind is None)
        place = getattr(unclear.node, "type", None) or node
        raise here.refuse(
            "E0112", place, "a handler of exceptions whose classes are not known", hint="name their classes"
        )
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


def _inside(around: Around) -> Around:
    """Around a region that has no targets."""
    return around if isinstance(around.fail, Break) else _falling(around, ())


def _spliced(block: Block, may: bool) -> tuple[list[Statement], Exit | None, bool]:
    """A block in the place of a region that has no targets."""
    return list(block.statements), None if isinstance(block.exit, Fall) else block.exit, may


def _followed(first: Block, second: Block) -> Block:
    return Block((*first.statements, *second.statements), second.exit) if isinstance(first.exit, Fall) else first


def _dispatched(
    here: Apart, handlers: Sequence[Handler], raised: Cell, around: Around
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
    asked, test = here.version(RAISED), here.version(TRUTH)
    out.append(Assign((asked,), ir.ReadCell(raised), first.node))
    out += first.kinds.statements
    assert isinstance(first.kinds.exit, Fall)
    function = Literal(Spelled(reference(builtin("isinstance")), isinstance))
    out.append(Assign((test,), ir.Call(function, (asked, *first.kinds.exit.values)), first.node))
    other, may_other = _dispatched(here, rest, raised, around)
    out.append(If((), test, body, other, first.node))
    return Block(tuple(out), Fall()), may or may_other


def _passed(here: Apart, raised: Cell, around: Around) -> tuple[Block, bool]:
    """What was raised, as raised in the ``try`` around."""
    held = here.version(RAISED)
    node = here.source.node
    return _leave(here, [Assign((held,), ir.ReadCell(raised), node)], Raise(held, None, node), around)


def _raised_alone(block: Block) -> Raise | None:
    """A bare ``raise`` of a block, which raises what is handled where it stands."""
    inner = (_raised_alone(part) for statement in block.statements for part in blocks_of(statement))
    if isinstance(block.exit, Raise) and block.exit.exception is None:
        return block.exit
    return next((found for found in inner if found is not None), None)


def _finally(here: Apart, statement: Try, around: Around) -> tuple[list[Statement], Exit | None, bool]:
    """A ``try`` without its last block, which runs wherever it is left."""
    final, node = statement.final, statement.node
    inner = replace(statement, final=Block((), Fall()))
    if isinstance(final.exit, Fall) and all(map(_forgets, final.statements)):  # names of handled exceptions, or nothing
        return _try(here, inner, around)
    if around.handled is not None and _raised_alone(final) is not None:
        raise here.refuse("E0120", node, "a raise of what is handled, in a finally,")
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
        return [*out, *after.statements], None if isinstance(after.exit, Fall) else after.exit, may_after
    out = [Assign((), ir.WriteCell(raised, Literal(None)), node), *out, *after.statements]
    if not isinstance(after.exit, Fall):
        return out, after.exit, may_after
    passed, may_pass = _passed(here, raised, _inside(around))
    again: list[Statement] = []
    test = _compared(here, again, raised, "is not", node)
    again.append(If((), test, passed, Block((), Fall()), node))
    if may_after:  # what the last block raised comes in place of what was raised before
        test = _asked(here, out, around, "is", node)
        again = [If((), test, Block(tuple(again), Fall()), Block((), Fall()), node)]
    return [*out, *again], None, may_pass or may_after


# --- with ------------------------------------------------------------------------------------------------------------
def _with(here: Apart, statement: With, around: Around) -> tuple[list[Statement], Exit | None, bool]:
    """What a context manager suppresses is handled by nothing; what making, entering or leaving it raises is raised."""
    maker, node = here.makers.get(statement.manager), statement.node
    kinds = suppressed(here.made, maker)
    if maker is not None and kinds is not None:
        here.lookups[statement.manager] = maker  # which nothing reads now
        return _suppressing(here, statement, kinds, around)
    inside, left, token = _inside(around), here.leaving.get(statement.manager), None
    if around.raised is not None and left is None and not is_silent(here.made, statement.manager, maker):
        token = here.version(ANY)
        left = early(token, node)
    if left is not None:
        last = ((left, around),)
        inside = replace(inside, returning=last + around.returning, leaving=last + around.leaving)
    body, may = _block(here, statement.body, inside)
    if may and (statement.manager in here.leaving or not is_indifferent(here.made, statement.manager, maker)):
        raise here.refuse("E0111", node, "what may raise in a context manager, and is caught around it,")
    if token is not None:
        return tried(here, replace(statement, body=body), around, token), None, True
    return [replace(statement, body=body)], None, may


def _suppressing(
    here: Apart, statement: With, kinds: Sequence[Operand], around: Around
) -> tuple[list[Statement], Exit | None, bool]:
    node, nothing = statement.node, Block((), Fall())
    entered = Assign((statement.entered,), ir.Copy(Literal(None)), node)
    body = Block((*((entered,) if here.uses.get(statement.entered) else ()), *statement.body.statements),
                 statement.body.exit)  # fmt: skip
    of = here.version(RAISED)
    caught = Block((Assign((of,), ir.Make("tuple", tuple(kinds)), node),), Fall((of,)))
    handlers = (Handler(caught, here.version(RAISED), nothing, node),) if kinds else ()
    return _try(here, Try(body, handlers, nothing, nothing, node), around)


def _forgets(statement: Statement) -> bool:
    match statement:
        case Assign(operation=ir.WriteCell(value=Literal(value=None)) | ir.DeleteCell()):
            return isinstance(statement.node, gast.ExceptHandler)
    return False


def _is_refusal(value: Value) -> bool:
    kinds = [getattr(atom, "kind", None) or getattr(getattr(atom, "site", None), "kind", None) for atom in value.atoms]
    return bool(kinds) and all(isinstance(kind, type) and issubclass(kind, Refused) for kind in kinds)


def _raise(here: Apart, out: list[Statement], exit: Raise, around: Around) -> tuple[Block, bool]:
    """``raise``: of what may be caught here, it is what was raised."""
    exception, node = exit.exception, exit.node
    if exception is None:
        if around.handled is None:
            raise here.refuse("E0112", node, "a raise of no exception, outside of a handler,")
        exception = here.version(RAISED)
        out.append(Assign((exception,), ir.ReadCell(around.handled), node))
    if around.raised is None or _is_refusal(here.made.value(exception)):  # which nothing catches
        return Block(tuple(out), replace(exit, exception=exception)), False
    if isinstance(exception, Version):
        here.made.values[exception] = RAISED
    made, test = here.version(RAISED), here.version(TRUTH)
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
