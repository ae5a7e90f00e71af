"""Blocks: each statement of the IR in turn, as the statement or the part of an expression that it is in Python.

>>> import gast
>>> from srcgrad.frontend.lowering import lowered
>>> from srcgrad.ir.restoring import restored
>>> def read(path):
...     try:
...         with open(path) as file:
...             return file.read()
...     except OSError as error:
...         raise ValueError(path) from error
>>> print(gast.unparse(restored(lowered(read))).strip())
def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError as error:
        raise ValueError(path) from error
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gast

from srcgrad.errors import InternalError, Span
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import UNBOUND, Literal, Version
from srcgrad.ir.regions import (
    Assign,
    Block,
    Break,
    Continue,
    Fall,
    Handler,
    If,
    Loop,
    Raise,
    Return,
    Statement,
    Try,
    With,
    walk,
)
from srcgrad.ir.restoring.choices import choice, comparison, comprehension
from srcgrad.ir.restoring.functions import annotated, class_, function, generator_expression
from srcgrad.ir.restoring.loops import loop
from srcgrad.ir.restoring.matching import match, pattern_test
from srcgrad.ir.restoring.operations import deleted, expression, growing, insert
from srcgrad.ir.restoring.pending import Entry, Pad, Part, Plan, builtin, emit, flush, plain, reads_of, settle, take
from srcgrad.ir.restoring.targets import augmented, augmented_place, store, stored, target
from srcgrad.ir.restoring.tree import Copies, assigned, body_of, call, name, of_version


@dataclass(frozen=True)
class Around:
    """What the exits of a block bind: those that fall through, leave the loop and go on with it.

    ``breaks`` and ``heads`` are None in what is tried as an expression, which an exit of a loop cannot be part of."""

    falls: Sequence[Version] = ()
    breaks: Sequence[Version] | None = None
    heads: Sequence[Version] | None = None
    behind: tuple[Copies, ...] = ()  # what is bound as well where the loop is left
    is_body: bool = False  # whether the next round follows
    dropped: frozenset[ir.Operand] = frozenset()  # what says that a loop ended by itself, where its ``else`` does

    def within(self, falls: Sequence[Version] = ()) -> Around:
        """Of a block in a block."""
        return Around(falls, self.breaks, self.heads, self.behind, dropped=self.dropped)


def block(plan: Plan, given: Block, around: Around, start: int = 0) -> list[Any]:
    """The statements of a block, with what its exit does."""
    pad = Pad(plan)
    run(pad, given.statements[start:], None, around)
    leave(pad, given, around)
    return pad.out


def leave(pad: Pad, given: Block, around: Around) -> None:
    match given.exit:
        case Fall(values=values):
            _copy(pad, around.falls, values, around)
        case Break(values=values):
            if around.breaks is not None:
                _copy(pad, around.breaks, values, around)
            pad.out += [*around.behind, gast.Break()]
        case Continue(values=values):
            if around.heads is not None:
                _copy(pad, around.heads, values, around)
            pad.out += [] if around.is_body else [gast.Continue()]
        case Return(value=value, node=node):
            (part,) = take(pad, [value])
            pad.here = node
            emit(pad, gast.Return(plain(pad.plan, part.value)))
        case Raise(exception=exception, cause=cause):
            parts = take(pad, [part for part in (exception, cause) if part is not None])
            raised: list[Any] = [plain(pad.plan, part.value) for part in parts]
            emit(pad, gast.Raise(*raised, *[None] * (2 - len(raised))))
        case _:
            flush(pad, len(pad.pending))


def _copy(pad: Pad, targets: Sequence[Version], values: Sequence[ir.Operand], around: Around) -> None:
    parts = take(pad, values)
    flush(pad, len(pad.pending))
    pairs = [(t, plain(pad.plan, p.value)) for t, p in zip(targets, parts, strict=True) if t not in around.dropped]
    if pairs:
        pad.out.append(Copies([t for t, _ in pairs], [v for _, v in pairs]))


def run(pad: Pad, statements: Sequence[Statement], behind: Statement | None, around: Around = Around()) -> None:
    """Statements one after the other; ``behind`` follows them."""
    given = [*statements, *([] if behind is None else [behind])]
    at = 0
    while at < len(statements):
        here = statements[at]
        pad.here = here.node
        if isinstance(here, Assign) and (end := match(pad, given, at, around)) is not None:
            at = end
        elif isinstance(here, Assign):
            at = _operation(pad, here, given, at)
        else:
            at = _region(pad, here, given, at, around)
    pad.here = None


def _operation(pad: Pad, here: Assign, given: Sequence[Statement], at: int) -> int:
    made = here.operation
    match made:
        case ir.Copy(source=Literal(value=value)) if value is UNBOUND:
            emit(pad, Copies(here.targets, [gast.Constant(UNBOUND, None)]))
        case ir.Bound(source=source):
            _check(pad, here, source)
        case ir.Compare():
            comparison(pad, here, made, given[at + 1] if at + 1 < len(given) else None)
        case ir.Make(kind="list" | "set" | "dict") if isinstance(
            here.node, gast.ListComp | gast.SetComp | gast.DictComp
        ) and (found := comprehension(pad, given, at)) is not None:
            return found
        case ir.GetAttribute() | ir.GetItem() if isinstance(here.node, gast.AugAssign) and (
            found := augmented_place(pad, given, at)
        ) is not None:
            return found
        case ir.Operator(in_place=True):
            return augmented(pad, given, at)
        case ir.Insert() | ir.Extend():
            if not growing(pad, here):
                insert(pad, here)
        case ir.MakeFunction():
            if isinstance(here.node, gast.GeneratorExp) and generator_expression(pad, given, at):
                return at + 2
            return function(pad, given, at)
        case ir.MakeClass():
            return class_(pad, given, at)
        case ir.ReadName(name="__annotations__") if isinstance(here.node, gast.AnnAssign) and (
            found := annotated(pad, given, at)
        ) is not None:
            return found
        case ir.Import():
            return _import(pad, given, at)
        case ir.FreshCell(cell=cell):
            _require_once(pad.plan, here, cell)
            emit(pad, assigned([name(cell.variable, gast.Store)], gast.Constant(None, None)))
            emit(pad, gast.Delete([name(cell.variable, gast.Del)]))
        case ir.MatchSequence() | ir.MatchMapping() | ir.MatchKeys() | ir.MatchClass():
            pattern_test(pad, here)
        case _:
            return _other(pad, here, given, at)
    return at + 1


def _require_once(plan: Plan, here: Assign, cell: ir.Cell) -> None:
    """A variable of a function is one cell; functions that captured it in an earlier round would see it change."""
    loops = [statement for _, statement in walk(plan.function.body) if isinstance(statement, Loop)]
    if any(inner is here for loop_ in loops for _, inner in walk(loop_.body)):
        reason = f"the variable {cell.variable} of {plan.function.name} is a new one in each round"
        raise InternalError(reason, Span.unknown(), door=str(plan.function))


def _other(pad: Pad, here: Assign, given: Sequence[Statement], at: int) -> int:
    if stored(here) is not None:
        return store(pad, given, at)
    gone = deleted(pad, here.operation)
    if gone is not None:
        emit(pad, gone)
    elif isinstance(here.operation, ir.Copy):  # a name for a temporary
        (part,) = take(pad, [here.operation.source])
        emit(pad, assigned([of_version(here.targets[0], gast.Store)], plain(pad.plan, part.value)))
    elif not expression(pad, here):
        raise AssertionError(here.operation)
    return at + 1


def _check(pad: Pad, here: Assign, source: Version) -> None:
    """A variable that may hold nothing: reading it is the check."""
    same = pad.plan.same
    same[here.targets[0]] = same.get(source, source)
    is_deleted = isinstance(getattr(here.node, "ctx", None), gast.Del)
    read = of_version(same[source] if source in same else source, gast.Del if is_deleted else gast.Load)
    if is_deleted:
        emit(pad, gast.Delete([read]))
    elif not pad.plan.uses[here.targets[0]]:
        emit(pad, gast.Expr(read))
    else:
        pad.pending.append(Entry(here.targets[0], Part(read), 1, named=True))


def _import(pad: Pad, given: Sequence[Statement], at: int) -> int:
    """``import`` and ``from … import``, with all names of one statement."""
    node, made = given[at].node, given[at]
    assert isinstance(made, Assign) and isinstance(made.operation, ir.Import)
    is_from = bool(made.operation.names)
    aliases: list[Any] = []
    place = at if not is_from else at + 1
    while place + 1 < len(given):
        load, bind = given[place], given[place + 1]
        if not (isinstance(load, Assign) and isinstance(bind, Assign) and load.node is node and bind.node is node):
            break
        found = load.operation
        target_name = _imported(pad, bind, load.targets[0]) if load.targets else None
        if target_name is None or not isinstance(found, ir.ImportName if is_from else ir.Import):
            break
        aliases.append((found.name if isinstance(found, ir.ImportName) else found.module, found, target_name))
        place += 2
    if not aliases or is_from and len(aliases) < len(made.operation.names):
        expression(pad, made)
        return at + 1
    spelled = [_alias(text, found, to) for text, found, to in aliases]
    if is_from:
        emit(pad, gast.ImportFrom(made.operation.module or None, spelled, made.operation.level))
    else:
        emit(pad, gast.Import(spelled))
    return place


def _imported(pad: Pad, bind: Assign, value: Version) -> Any:
    from srcgrad.ir.restoring.operations import place_of

    if stored(bind) is not value or pad.plan.uses[value] != 1:
        return None
    return place_of(bind.operation, bind.targets)


def _alias(text: str, found: ir.Operation, to: Any) -> Any:
    """An alias whose name is decided with those of the versions."""
    made = gast.alias(text, None)
    made.target = to
    made.plain = text.split(".")[0] if isinstance(found, ir.Import) else text
    made.renamed = isinstance(found, ir.Import) and not found.whole
    return made


# --- regions ---------------------------------------------------------------------------------------------------------
def _region(pad: Pad, here: Statement, given: Sequence[Statement], at: int, around: Around) -> int:
    match here:
        case If():
            if not choice(pad, here):
                _if(pad, here, around)
        case Loop():
            return loop(pad, given, at, around)
        case With():
            _with(pad, here, around)
        case Try():
            settle(pad, reads_of([here]))
            emit(pad, _try(pad.plan, here, around))
    return at + 1


def _if(pad: Pad, here: If, around: Around) -> None:
    settle(pad, reads_of([], here.body, here.orelse))
    (given,) = take(pad, [here.test])
    flush(pad, len(pad.pending))
    body = block(pad.plan, here.body, around.within(here.targets))
    orelse = block(pad.plan, here.orelse, around.within(here.targets))
    if isinstance(here.node, gast.Assert) and not body and len(orelse) == 1 and (made := _assertion(here, orelse[0])):
        emit(pad, gast.Assert(given.tested, made[0]))
    else:
        emit(pad, gast.If(given.tested, body, orelse))


def _assertion(here: If, failed: Any) -> list[Any] | None:
    exit = here.orelse.exit
    last = here.orelse.statements[-1] if here.orelse.statements else None
    if not isinstance(exit, Raise) or not isinstance(failed, gast.Raise) or failed.cause is not None:
        return None
    match last:
        case Assign(operation=ir.Call(function=Literal(value=kind), star=None, keywords=(), rest=None)) if (
            kind is AssertionError and exit.exception is last.targets[0] and len(failed.exc.args) < 2
        ):
            return failed.exc.args or [None]
    return None


def _with(pad: Pad, here: With, around: Around) -> None:
    settle(pad, reads_of([], here.body))
    (given,) = take(pad, [here.manager])
    flush(pad, len(pad.pending))
    items = [gast.withitem(plain(pad.plan, given.value), None)]
    body = _managed(pad.plan, here, items, around)
    emit(pad, gast.With(items, body, None))


def _managed(plan: Plan, here: With, items: list[Any], around: Around) -> list[Any]:
    """The body of a manager, and the further managers of the same statement."""
    statements = here.body.statements
    start = 0
    if plan.uses[here.entered]:
        forms = [item.optional_vars for item in getattr(here.node, "items", [])]
        form = forms[len(items) - 1] if len(items) <= len(forms) else None
        once = plan.uses[here.entered] == 1
        found = target(plan, statements, 0, here.entered, here.node, form) if once else None
        items[-1].optional_vars, start = found or (of_version(here.entered, gast.Store), 0)
    last = statements[-1] if len(statements) > start else None
    if isinstance(last, With) and last.node is here.node and isinstance(here.body.exit, Fall):
        pad = Pad(plan)
        run(pad, statements[start:-1], last)
        if not pad.out:
            (given,) = take(pad, [last.manager])
            if pad.is_clear:
                items.append(gast.withitem(plain(plan, given.value), None))
                return _managed(plan, last, items, around)
    return block(plan, here.body, around.within(), start)


def _try(plan: Plan, here: Try, around: Around) -> Any:
    inside = around.within()
    body = block(plan, here.body, inside)
    handlers = _handlers(plan, here.handlers, inside)
    orelse, final = block(plan, here.orelse, inside), block(plan, here.final, inside)
    if not handlers and orelse:
        body, orelse = [*body, *orelse], []  # nothing is caught before them
    if not handlers and not final:
        final = [gast.Pass()]
    return gast.Try(body_of(body), handlers, orelse, final)


def _handlers(plan: Plan, handlers: Sequence[Handler], around: Around) -> list[Any]:
    if not handlers:
        return []
    first, *rest = handlers
    if first.kinds is None:
        return [_handler(plan, first, None, around)]
    pad = Pad(plan)
    run(pad, first.kinds.statements, None)
    assert isinstance(first.kinds.exit, Fall)
    (given,) = take(pad, first.kinds.exit.values)
    kinds = plain(plan, given.value)
    flush(pad, len(pad.pending))
    if pad.is_clear:
        return [_handler(plan, first, kinds, around), *_handlers(plan, rest, around)]
    return [_asked(plan, first, pad, kinds, _handlers(plan, rest, around), around)]


def _asked(plan: Plan, first: Handler, pad: Pad, kinds: Any, rest: list[Any], around: Around) -> Any:
    """A handler of which statements compute what it catches: it catches everything, and raises again what it should
    not have."""
    error = first.caught
    test = call(builtin(plan, "isinstance"), of_version(error), kinds)
    again = [gast.Raise(None, None)]
    body = block(plan, first.body, around)
    ask = gast.If(test, body, [gast.Try(again, rest, [], [])] if rest else again)
    caught = of_version(error, gast.Store)
    return gast.ExceptHandler(builtin(plan, "BaseException"), caught, [*pad.out, ask])


def _handler(plan: Plan, handler: Handler, kinds: Any, around: Around) -> Any:
    match handler.body.statements:
        case (Assign() as first, Try(handlers=(), final=final) as rest) if (
            stored(first) is handler.caught and plan.uses[handler.caught] == 1 and rest.node is handler.node
            and _forgets(first, final) and isinstance(handler.body.exit, Fall | type(None)) | _never(handler.body)
        ):
            from srcgrad.ir.restoring.operations import place_of

            body = block(plan, rest.body, around)
            return gast.ExceptHandler(kinds, place_of(first.operation, first.targets), body_of(body))
    caught = of_version(handler.caught, gast.Store) if plan.uses[handler.caught] else None
    return gast.ExceptHandler(kinds, caught, body_of(block(plan, handler.body, around)))


def _never(given: Block) -> bool:
    return not isinstance(given.exit, Fall | Return | Raise | Break | Continue)


def _forgets(first: Assign, final: Block) -> bool:
    """Whether a block does what Python does with the name of a handler behind it."""
    match first.operation, final.statements:
        case ir.WriteCell(cell=cell), (
            Assign(operation=ir.WriteCell(cell=to, value=Literal(value=None))), Assign(operation=ir.DeleteCell(cell=of))
        ):
            return cell is to is of
        case ir.WriteGlobal(name=text), (
            Assign(operation=ir.WriteGlobal(name=to_name, value=Literal(value=None))),
            Assign(operation=ir.DeleteGlobal(name=of_name)),
        ):
            return text == to_name == of_name
        case ir.WriteName(name=text), (
            Assign(operation=ir.WriteName(name=to_name, value=Literal(value=None))),
            Assign(operation=ir.DeleteName(name=of_name)),
        ):
            return text == to_name == of_name
    return False

