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
from srcgrad.analysis.layout import Layout
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
from srcgrad.transform.cotangents import Cotangents
from srcgrad.transform.reverse import StatementAdjoint


class PassHead(gast.stmt):
    """Stands at the head of a reversed block until the plan says what is read back there."""

    _fields = ()
    block: Block


class ReverseSweep:
    """Walks blocks backwards; ``decisions`` collects the tests that the sweep asks again."""

    def __init__(self, layout: Layout, adjoint: StatementAdjoint, leave: str) -> None:
        self.layout = layout
        self.adjoint = adjoint
        self.leave = {0: leave}  # order of a loop body (0: the function) -> the name of its exit number
        self.decisions: list[tuple[Statement, gast.expr]] = []
        self.iterables: list[Statement] = []
        self.counted: list[Statement] = []
        self.touched: dict[Statement, frozenset[str]] = {}  # classes whose contents the adjoint of a statement reads

    @property
    def bars(self) -> Cotangents:
        return self.adjoint.bars

    @bars.setter
    def bars(self, bars: Cotangents) -> None:
        self.adjoint.bars = bars

    # --- blocks ------------------------------------------------------------------------------------------------------
    def block(self, block: Block, leave: str, legal: set[str]) -> list[gast.stmt]:
        """The adjoint of a block.  ``legal``: the adjoints set where the innermost exits of this block start."""
        frame = self.layout.frame(block)
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
                code += self._run(block, first, j, leave, legal)
            else:
                code += self._guarded(block, first, j, guard, leave, legal)
            j = first - 1
        if code and frame.parent is not None:
            code.insert(0, pass_head(block))
        return code

    def _run(self, block: Block, first: int, last: int, leave: str, legal: set[str]) -> list[gast.stmt]:
        code: list[gast.stmt] = []
        shown: Span | None = None
        for j in range(last, first - 1, -1):
            statement = block.statements[j]
            made = self.statement(statement, block, j, leave, legal)
            if not made:
                continue
            if self.adjoint.shadowed:
                self._touch(statement, made)
            if not isinstance(statement, If | For | While | With):
                if shown is None or statement.span.line != shown.line:
                    code.append(commented(statement.span))
                shown = statement.span
            else:
                shown = None
            code += [placed(s, statement.span) for s in made]
        return code

    def _touch(self, statement: Statement, made: list[gast.stmt]) -> None:
        """Note the mutable classes of which the text of an adjoint reads elements."""
        if isinstance(statement, If | For | While):
            return  # their own tests are never asked again of what may have changed
        assert self.adjoint.shadows is not None
        roots: set[str] = set()
        if isinstance(statement, Bind) and statement in self.adjoint.saved_calls:
            # What a callee saved are references to what it was given, and to what it made.
            names = {statement.target, *inputs(statement)}.intersection(self.adjoint.shadowed)
            roots |= {self.adjoint.shadows.root(name) for name in names}
        roots |= {self.adjoint.shadows.root(name) for name in self.adjoint.shadows.frozen.get(statement, ())}
        for tree in [item for node in made for item in (node.items if isinstance(node, gast.With) else [node])]:
            for node in nodes_of(tree):
                if isinstance(node, Reference) and not node.shape_only and node.id in self.adjoint.shadowed:
                    roots.add(self.adjoint.shadows.root(node.id))
        if roots:
            self.touched[statement] = self.touched.get(statement, frozenset()) | roots

    def _guarded(
        self, block: Block, first: int, last: int, guard: int, leave: str, legal: set[str]
    ) -> list[gast.stmt]:
        """Statements that ran only if no exit before them was taken."""
        skipped = self.bars.copy()
        code = self._run(block, first, last, leave, legal)
        through = self.bars
        for name in list(skipped.owned):
            if name not in through:
                code += self.adjoint.zero(name, block, first)
        self.bars = joined = Cotangents(
            {n: through.owned[n] and skipped.owned.get(n, True) for n in through.owned},
            through.pending | skipped.pending,
        )
        otherwise: list[gast.stmt] = []
        for name in through.owned:
            if name not in skipped:
                scalar = self.adjoint.is_scalar(name)
                otherwise.append(assign(self.adjoint.bar(name), constant(0.0 if scalar else None)))
                if not scalar:
                    joined.pending.add(name)
        if not code and not otherwise:
            return []
        test = gast.Compare(load(leave), [gast.Lt()], [constant(guard)])
        return [gast.If(test, code or [gast.Pass()], otherwise)]

    # --- statements --------------------------------------------------------------------------------------------------
    def statement(
        self, statement: Statement, block: Block, position: int, leave: str, legal: set[str]
    ) -> list[gast.stmt]:
        adjoint = self.adjoint
        adjoint.stand(statement, block, position)
        match statement:
            case Bind():
                return adjoint.bind(statement, block, position)
            case Unpack() | Append() | Pop() | SetField() | Delete() if self._is_mirrored(statement):
                return adjoint.mirrored(statement, block, position)
            case Unpack():
                return adjoint.unpack(statement, block, position)
            case Append():
                return adjoint.append(statement, block, position)
            case Pop():
                return adjoint.pop(statement, block, position)
            case Store() | AugStore():
                return adjoint.store(statement, block, position)
            case AddAt():
                return adjoint.add_up(statement, block, position)
            case Effect():
                return []
            case If():
                return self._if(statement, block, position, leave, legal)
            case For() | While():
                return self._loop(statement, block, position, legal)
            case With():
                refuse_seen(statement, self.adjoint.activity)
                body = self.block(statement.body, leave, legal)
                if statement.once:
                    return [gast.If(constant(True), body, [])] if body else []
                items = [self._item(item, block, position) for item in statement.items]
                return [gast.With(items, body, None)] if body else []
            case Break() | Continue():
                return self._exit(block, position, legal)
            case Return():
                code = self._exit(block, position, set())
                return code + adjoint.leave(statement, block, position)
            case Delete(base=name):  # nothing that can be deleted from, or it had a shadow
                raise UnsupportedSyntax(
                    f"an item of {name!r} is deleted, which is no container here", statement.span, code="E0311"
                )
        raise InternalError(f"the adjoint of {type(statement).__name__} is not known", statement.span)

    def _is_mirrored(self, statement: Statement) -> bool:
        """Whether a container that is changed, or taken apart, has a shadow."""
        names = {*stores_of(statement), *(inputs(statement) if isinstance(statement, Unpack) else ())}
        return not names.isdisjoint(self.adjoint.shadowed)

    @staticmethod
    def _item(item: gast.AST, block: Block, position: int) -> gast.withitem:
        return gast.withitem(referring(item.context_expr, block, position), None)

    def _exit(self, block: Block, position: int, legal: set[str]) -> list[gast.stmt]:
        """Where an exit was taken, what only the other path made is zero."""
        code: list[gast.stmt] = []
        for name in [n for n in self.bars.owned if n in self.bars.pending and n not in legal]:
            code += self.adjoint.zero(name, block, position)
        return code

    def _if(self, statement: If, block: Block, position: int, leave: str, legal: set[str]) -> list[gast.stmt]:
        before = self.bars
        self.bars = before.copy()
        body = self.block(statement.body, leave, legal)
        after_body = self.bars
        self.bars = before.copy()
        orelse = self.block(statement.orelse, leave, legal)
        after_orelse = self.bars
        active = set(self.adjoint.activity.active_before(statement))
        kept = [n for n in dict.fromkeys([*after_body.owned, *after_orelse.owned]) if n in active]
        after: list[Cotangents] = []
        for bars, code in ((after_body, body), (after_orelse, orelse)):
            self.bars = bars
            for name in kept:
                if name not in bars:
                    code += self.adjoint.zero(name, block, position)
            after.append(self.bars)
        self.bars = Cotangents(
            {n: after[0].owned[n] and after[1].owned[n] for n in kept},
            {n for n in kept if n in after[0].pending and n in after[1].pending},
        )
        if not body and not orelse:
            return []
        self.decisions.append((statement, statement.test))
        return [gast.If(decision(statement), body or [gast.Pass()], orelse)]

    def _loop(self, loop: For | While, block: Block, position: int, outer: set[str]) -> list[gast.stmt]:
        adjoint = self.adjoint
        activity = adjoint.activity
        frame = self.layout.frame(loop.body)
        bases, read = self._touched(loop.body)
        carried = set(activity.active_before(loop))
        if any(isinstance(s, Break) for s in self._own_exits(loop)) or isinstance(loop, While):
            carried |= set(activity.active_after(loop))
        names = [
            n
            for n in activity.names.listed
            if n not in adjoint.shadowed and n in carried and (n in self.bars or n in read)
        ]
        code: list[gast.stmt] = []
        for name in names:
            if name not in self.bars:
                code += adjoint.zero(name, block, position + 1)
                if self.layout.frame(block).exits[position] and not adjoint.is_scalar(name):
                    self.bars.pending.add(name)  # a return inside leaves before the value that has its shape
            if name in bases and name not in self.bars.pending:
                code += adjoint.own(name)
        pending = {n for n in self.bars.pending if n in names}
        owned = {n for n in names if self.bars.owned[n]}
        leaves = any(frame.exits)
        leave = self._leave(loop) if leaves else ""
        while True:
            mark = self._mark()
            self.bars = Cotangents({n: n in owned for n in names}, set(pending))
            body = self._pass(loop.body, leave, names, bases, loop.index if isinstance(loop, For) else None)
            lost = {n for n in owned if not self.bars.owned[n]}
            if not lost:
                break
            # A pass that hands its buffer on cannot start the next one owning it: make it again, assuming less.
            owned -= lost
            self._reset(mark)
        self.bars = Cotangents({n: n in owned for n in names})
        if len(body) == 1:
            return code
        code.append(self._reversed(loop, body, leaves))
        return code

    def _pass(
        self, body: Block, leave: str, names: list[str], bases: set[str], index: str | None
    ) -> list[gast.stmt]:
        """One reversed pass; it ends with the adjoints set that it started with."""
        adjoint = self.adjoint
        code = self.block(body, leave, set(names)) or [pass_head(body)]
        if index is not None:
            self.bars.drop(index)  # the pass bound it
        for name in names:
            if name not in self.bars:
                code += adjoint.zero(name, body, 0)
            if name in bases:
                code += adjoint.own(name)
        return code

    def _mark(self) -> tuple[int, int, int, frozenset[Bind]]:
        saved = frozenset(self.adjoint.saved_calls)
        return len(self.decisions), len(self.iterables), len(self.counted), saved

    def _reset(self, mark: tuple[int, int, int, frozenset[Bind]]) -> None:
        del self.decisions[mark[0] :], self.iterables[mark[1] :], self.counted[mark[2] :]
        self.adjoint.saved_calls = set(mark[3])

    def _leave(self, loop: For | While) -> str:
        order = self.layout.orders[loop.body]
        if order not in self.leave:
            self.leave[order] = self.adjoint.namer.fresh("leave")
        return self.leave[order]

    def _touched(self, body: Block) -> tuple[set[str], set[str]]:
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

    def _own_exits(self, loop: For | While) -> list[Statement]:
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

    def _reversed(self, loop: For | While, body: list[gast.stmt], leaves: bool) -> gast.stmt:
        """The loop that makes the passes again, last first."""
        if isinstance(loop, For) and loop.counted:
            self.iterables.append(loop)
            passes: gast.expr = hidden(loop, "iterable")
            if leaves and self._own_exits(loop):
                self.counted.append(loop)
                passes = subscript(passes, gast.Slice(None, hidden(loop, "passes"), None))
            passes = builtin_call(reversed, passes)
            target = loop.index
        else:
            self.counted.append(loop)
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
