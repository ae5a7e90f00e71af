"""The adjoint of control flow: blocks, branches, loops and exits, walked backwards.

Enters: a block of the normal form and the adjoints that are set after it.  Leaves: the statements of its reverse
sweep.  Every statement's adjoint runs once for every time the statement ran, in the opposite order; where an exit left
a block, the adjoints of the statements that it skipped are skipped too::

    s1                          if leave < m:       # not left inside s2
    s2   (contains an exit)         adjoint of s3
    s3                          adjoint of s2
                                adjoint of s1

(Hascoët & Pascual, *The Tapenade automatic differentiation tool*, §5.3, on reversing structured control flow.)  The
adjoints that are set must be the same on both sides of a join and at both ends of a loop; what one side lacks is given
a zero there.
"""

from __future__ import annotations

import gast

from srcgrad.analysis.activity import inputs, refuse_seen
from srcgrad.analysis.cfg import stores_of, walk
from srcgrad.analysis.references import Reference, decision, hidden, referring
from srcgrad.errors import InternalError, Span, UnsupportedSyntax
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    AugStore,
    Bind,
    Block,
    Break,
    Continue,
    Delete,
    Effect,
    For,
    If,
    Index,
    Pop,
    Return,
    SetField,
    Statement,
    Store,
    Unpack,
    While,
    With,
)
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.parse import walk as nodes_of
from srcgrad.transform.build import assign, builtin_call, constant, load, store, subscript
from srcgrad.transform.calls import added_to, held_by
from srcgrad.transform.contributions import own, zero
from srcgrad.transform.cotangents import Cotangents
from srcgrad.transform.reverse import bind_adjoint, return_adjoint
from srcgrad.transform.sequences import addition_adjoint, append_adjoint, pop_adjoint, unpack_adjoint
from srcgrad.transform.stores import mirrored_adjoint, store_adjoint, stored_addition_adjoint
from srcgrad.transform.sweep import ReverseSweep


class PassHead(gast.stmt):
    """Stands at the head of a reversed block until the plan says what is read back there."""

    _fields = ()
    block: Block


def block_adjoint(sweep: ReverseSweep, block: Block, leave: str, legal: set[str]) -> list[gast.stmt]:
    """The adjoint of a block.  ``legal``: the adjoints set where the innermost exits of this block start."""
    frame = sweep.layout.frame(block)
    if frame.parent is not None and not any(frame.exits) and _raises(block):
        return []  # nothing is reversed behind an exception: what the forward sweep would save is not saved
    code: list[gast.stmt] = []
    j = len(block.statements) - 1
    while j >= 0:
        guard = frame.guards[j]
        first = j
        while first > 0 and frame.guards[first - 1] == guard:
            first -= 1
        if guard is None:
            code += _run(sweep, block, first, j, leave, legal)
        else:
            code += _guarded(sweep, block, first, j, guard, leave, legal)
        j = first - 1
    if code and frame.parent is not None:
        code.insert(0, pass_head(block))
    return code


def _run(sweep: ReverseSweep, block: Block, first: int, last: int, leave: str, legal: set[str]) -> list[gast.stmt]:
    code: list[gast.stmt] = []
    shown: Span | None = None
    for j in range(last, first - 1, -1):
        statement = block.statements[j]
        made = _statement(sweep, statement, block, j, leave, legal)
        if not made:
            continue
        if sweep.shadowed:
            _touch(sweep, statement, made)
        if not isinstance(statement, If | For | While | With):
            if shown is None or statement.span.line != shown.line:
                code.append(commented(statement.span))
            shown = statement.span
        else:
            shown = None
        code += [placed(s, statement.span) for s in made]
    return code


def _touch(sweep: ReverseSweep, statement: Statement, made: list[gast.stmt]) -> None:
    """Note the mutable classes of which the text of an adjoint reads elements."""
    if isinstance(statement, If | For | While):
        return  # their own tests are never asked again of what may have changed
    assert sweep.shadows is not None
    roots: set[str] = set()
    if isinstance(statement, Bind) and statement in sweep.requests.saved_calls:
        # What a callee saved are references to what it was given, and to what it made.
        read, sweep.reread[statement] = map(frozenset, held_by(sweep, statement))
        roots |= read
    roots |= {sweep.shadows.root(name) for name in sweep.shadows.frozen.get(statement, ())}
    for tree in [item for node in made for item in (node.items if isinstance(node, gast.With) else [node])]:
        for node in nodes_of(tree):
            if isinstance(node, Reference) and not node.shape_only and node.id in sweep.shadowed:
                roots.add(sweep.shadows.root(node.id))
    if roots:
        sweep.touched[statement] = sweep.touched.get(statement, frozenset()) | roots


def _guarded(
    sweep: ReverseSweep, block: Block, first: int, last: int, guard: int, leave: str, legal: set[str]
) -> list[gast.stmt]:
    """Statements that ran only if no exit before them was taken."""
    skipped = sweep.bars.copy()
    code = _run(sweep, block, first, last, leave, legal)
    through = sweep.bars
    for name in list(skipped.owned):
        if name not in through:
            code += zero(sweep, name, block, first)
    sweep.bars = joined = Cotangents(
        {n: through.owned[n] and skipped.owned.get(n, True) for n in through.owned},
        through.pending | skipped.pending,
    )
    otherwise: list[gast.stmt] = []
    for name in through.owned:
        if name not in skipped:
            scalar = sweep.is_scalar(name)
            otherwise.append(assign(sweep.bar(name), constant(0.0 if scalar else None)))
            if not scalar:
                joined.pending.add(name)
    if not code and not otherwise:
        return []
    test = gast.Compare(load(leave), [gast.Lt()], [constant(guard)])
    return [gast.If(test, code or [gast.Pass()], otherwise)]


def _statement(
    sweep: ReverseSweep, statement: Statement, block: Block, position: int, leave: str, legal: set[str]
) -> list[gast.stmt]:
    sweep.stand(statement, block, position)
    match statement:
        case Bind():
            return bind_adjoint(sweep, statement, block, position)
        case Unpack() | Append() | Pop() | SetField() | Delete() if _is_mirrored(sweep, statement):
            return mirrored_adjoint(sweep, statement, block, position)
        case Unpack():
            return unpack_adjoint(sweep, statement, block, position)
        case Append():
            return append_adjoint(sweep, statement, block, position)
        case Pop():
            return pop_adjoint(sweep, statement, block, position)
        case Store() | AugStore():
            return store_adjoint(sweep, statement, block, position)
        case AddAt(buffer=name) if name in sweep.shadowed:
            return stored_addition_adjoint(sweep, statement, block, position)
        case AddAt():
            return addition_adjoint(sweep, statement, block, position)
        case Effect():
            return []
        case If():
            return _if(sweep, statement, block, position, leave, legal)
        case For() | While():
            return _loop(sweep, statement, block, position)
        case With():
            refuse_seen(statement, sweep.activity)
            body = block_adjoint(sweep, statement.body, leave, legal)
            if statement.once:
                return [gast.If(constant(True), body, [])] if body else []
            items = [_item(item, block, position) for item in statement.items]
            return [gast.With(items, body, None)] if body else []
        case Break() | Continue():
            return _exit(sweep, block, position, legal)
        case Return():
            code = _exit(sweep, block, position, set())
            return code + return_adjoint(sweep, statement, block, position)
        case Delete(base=name):  # nothing that can be deleted from, or it had a shadow
            raise UnsupportedSyntax(
                f"an item of {name!r} is deleted, which is no container here", statement.span, code="E0311"
            )
    raise InternalError(f"the adjoint of {type(statement).__name__} is not known", statement.span)


def _is_mirrored(sweep: ReverseSweep, statement: Statement) -> bool:
    """Whether a container that is changed, or taken apart, has a shadow."""
    names = {*stores_of(statement), *(inputs(statement) if isinstance(statement, Unpack) else ())}
    idle = frozenset() if sweep.shadows is None else sweep.shadows.idle
    return not (names.isdisjoint(sweep.shadowed) and names.isdisjoint(idle))


def _item(item: gast.AST, block: Block, position: int) -> gast.withitem:
    return gast.withitem(referring(item.context_expr, block, position), None)


def _exit(sweep: ReverseSweep, block: Block, position: int, legal: set[str]) -> list[gast.stmt]:
    """Where an exit was taken, what only the other path made is zero."""
    code: list[gast.stmt] = []
    for name in [n for n in sweep.bars.owned if n in sweep.bars.pending and n not in legal]:
        code += zero(sweep, name, block, position)
    return code


def _if(
    sweep: ReverseSweep, statement: If, block: Block, position: int, leave: str, legal: set[str]
) -> list[gast.stmt]:
    before = sweep.bars
    sweep.bars = before.copy()
    body = block_adjoint(sweep, statement.body, leave, legal)
    after_body = sweep.bars
    sweep.bars = before.copy()
    orelse = block_adjoint(sweep, statement.orelse, leave, legal)
    after_orelse = sweep.bars
    active = set(sweep.activity.active_before(statement)) | sweep.lenders()
    kept = [n for n in dict.fromkeys([*after_body.owned, *after_orelse.owned]) if n in active]
    after: list[Cotangents] = []
    for bars, code in ((after_body, body), (after_orelse, orelse)):
        sweep.bars = bars
        for name in kept:
            if name not in bars:
                code += zero(sweep, name, block, position)
        after.append(sweep.bars)
    sweep.bars = Cotangents(
        {n: after[0].owned[n] and after[1].owned[n] for n in kept},
        {n for n in kept if n in after[0].pending and n in after[1].pending},
    )
    if not body and not orelse:
        return []
    sweep.requests.decisions.append((statement, statement.test))
    return [gast.If(decision(statement), body or [gast.Pass()], orelse)]


def _loop(sweep: ReverseSweep, loop: For | While, block: Block, position: int) -> list[gast.stmt]:
    activity = sweep.activity
    frame = sweep.layout.frame(loop.body)
    bases, read = _touched(loop.body)
    bases |= {name for s in walk(loop.body) if isinstance(s, Bind) for name in added_to(sweep, s)}
    carried = set(activity.active_before(loop))
    if any(isinstance(s, Break) for s in _own_exits(loop)) or isinstance(loop, While):
        carried |= set(activity.active_after(loop))
    carried |= sweep.lenders()
    names = [
        n
        for n in activity.names.listed
        if n not in sweep.shadowed and n not in sweep.handed and n in carried and (n in sweep.bars or n in read)
    ]
    code: list[gast.stmt] = []
    for name in names:
        if name not in sweep.bars:
            code += zero(sweep, name, block, position + 1)
            if sweep.layout.frame(block).exits[position] and not sweep.is_scalar(name):
                sweep.bars.pending.add(name)  # a return inside leaves before the value that has its shape
        if name in bases and name not in sweep.bars.pending:
            code += own(sweep, name)
    pending = {n for n in sweep.bars.pending if n in names}
    owned = {n for n in names if sweep.bars.owned[n]}
    leaves = any(frame.exits)
    leave = sweep.leave_of(loop) if leaves else ""
    while True:
        mark = sweep.requests.mark()
        sweep.bars = Cotangents({n: n in owned for n in names}, set(pending))
        body = _pass(sweep, loop.body, leave, names, bases, loop.index if isinstance(loop, For) else None)
        lost = {n for n in owned if not sweep.bars.owned[n]}
        if not lost:
            break
        # A pass that hands its buffer on cannot start the next one owning it: make it again, assuming less.
        owned -= lost
        sweep.requests.reset(mark)
    sweep.bars = Cotangents({n: n in owned for n in names})
    if len(body) == 1:
        return code
    code.append(_reversed(sweep, loop, body, leaves))
    return code


def _pass(
    sweep: ReverseSweep, body: Block, leave: str, names: list[str], bases: set[str], index: str | None
) -> list[gast.stmt]:
    """One reversed pass; it ends with the adjoints set that it started with."""
    code = block_adjoint(sweep, body, leave, set(names)) or [pass_head(body)]
    if index is not None:
        sweep.bars.drop(index)  # the pass bound it
    for name in names:
        if name not in sweep.bars:
            code += zero(sweep, name, body, 0)
        if name in bases:
            code += own(sweep, name)
    return code


def _touched(body: Block) -> tuple[set[str], set[str]]:
    """The names whose adjoint a pass adds to in place, and all through which an adjoint passes."""
    bases: set[str] = set()
    read: set[str] = set()
    for statement in walk(body):
        read.update(inputs(statement))
        match statement:
            case Bind(operation=Index(base=base)):
                bases.add(base)
            case Append(sequence=sequence) | Pop(sequence=sequence):
                bases.add(sequence)
                read.add(sequence)
            case AddAt(buffer=buffer):
                read.add(buffer)
    return bases, read


def _own_exits(loop: For | While) -> list[Statement]:
    """The exits that end a loop from inside."""
    inner: list[Statement] = []
    stack = [loop.body]
    while stack:
        for statement in stack.pop().statements:
            match statement:
                case Break() | Return():
                    inner.append(statement)
                case If(body=body, orelse=orelse):
                    stack += [body, orelse]
                case With(body=body):
                    stack.append(body)
                case For(body=body) | While(body=body):
                    inner += [s for s in walk(body) if isinstance(s, Return)]
    return inner


def _reversed(sweep: ReverseSweep, loop: For | While, body: list[gast.stmt], leaves: bool) -> gast.stmt:
    """The loop that makes the passes again, last first."""
    if isinstance(loop, For) and loop.counted:
        sweep.requests.iterables.append(loop)
        passes: gast.expr = hidden(loop, "iterable")
        if leaves and _own_exits(loop):
            sweep.requests.counted.append(loop)
            passes = subscript(passes, gast.Slice(None, hidden(loop, "passes"), None))
        passes = builtin_call(reversed, passes)
        target = loop.index
    else:
        sweep.requests.counted.append(loop)
        passes = builtin_call(range, hidden(loop, "passes"))
        target = "_"
    node = gast.For(store(target), passes, body, [], None)
    return node


def _raises(block: Block) -> bool:
    """Whether a block without exits ends in an exception each time it runs."""
    match block.statements[-1:]:
        case (Effect(statement=gast.Raise()),):
            return True
        case (If(body=body, orelse=orelse),):
            return _raises(body) and _raises(orelse)
    return False


def pass_head(block: Block) -> PassHead:
    head = PassHead()
    head.block = block
    return head


def commented(span: Span) -> gast.stmt:
    """The user's line above its adjoint."""
    text = span.text.strip().splitlines()[0] if span.text.strip() else ""
    return placed(Comment(f"{span.origin}   {text}"), span)


def placed(statement: gast.stmt, span: Span) -> gast.stmt:
    """Give a made statement, and what it holds, the place of the user's statement it comes from."""
    if not hasattr(statement, "lineno") or statement.lineno is None:
        statement.lineno, statement.col_offset = span.line, span.column
        statement.end_lineno, statement.end_col_offset = span.end_line, span.end_column
    if not hasattr(statement, "span"):
        statement.span = span
    return statement
