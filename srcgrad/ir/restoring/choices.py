"""Regions that are expressions: ``and``, ``or``, conditional expressions, chains of comparisons, comprehensions.

A region becomes an expression if each of its blocks is one, and if what its blocks leave variables with can share the
variables' names, for an expression copies nothing.  A region for which that does not hold is ``refused``, and is
written as the statement that it is otherwise.

>>> import gast
>>> from srcgrad.frontend.lowering import lowered
>>> from srcgrad.ir.restoring import restored
>>> print(gast.unparse(restored(lowered(lambda x: [v for v in x if 0 < v < 1 and v or not x]))))
lambda x: [v for v in x if 0 < v < 1 and v or not x]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import gast

from srcgrad.ir import operations as ir
from srcgrad.ir.operations import END, UNBOUND, Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Break, Continue, Fall, If, Loop, Statement
from srcgrad.ir.restoring.pending import Entry, Pad, Part, Plan, emit, plain, push, reads_of, settle, take, waiting
from srcgrad.ir.restoring.tree import COMPARING, Branch, Copies, Inner, is_nothing, of_version, operand

Comprehension = gast.ListComp | gast.SetComp | gast.DictComp


# --- comparisons -----------------------------------------------------------------------------------------------------
def comparison(pad: Pad, statement: Assign, made: ir.Compare, behind: Statement | None) -> None:
    """A comparison, which may be the first of a chain: then its right operand is read by the next one too."""
    target = statement.targets[0]
    chained = (
        isinstance(behind, If) and behind.test is target and behind not in pad.plan.refused
        and isinstance(behind.node, gast.Compare) and behind.node is statement.node
    )  # fmt: skip
    if made.left in pad.plan.ends and isinstance(made.right, Literal) and made.right.value is END:
        (item,) = take(pad, [made.left])
        over_ = gast.Compare(plain(pad.plan, item.value), [gast.Is()], [of_version(pad.plan.ends[made.left])])
        push(pad, target, Part(over_, node=statement.node))
        return
    parts = take(pad, [made.left, made.right], {made.right: 2} if chained else None)
    left, right = (plain(pad.plan, part.value) for part in parts)
    node = gast.Compare(left, [COMPARING[made.symbol]()], [right])
    node.first, node.rest = made.left, [gast.Expr(right)]
    entry = push(pad, target, Part(node, node=statement.node))
    if entry is not None and chained:
        entry.shared = made.right


def _joined(pad: Pad, entry: Entry, inner: Part, statement: If, tested: bool, copies: Sequence[Copies]) -> Any:
    """The chain of a comparison and of those that follow where it holds; None if these begin with something else."""
    last = inner.tested if tested else inner.value
    if not isinstance(last, gast.Compare) or getattr(last, "first", None) is not entry.shared:
        return None
    here = entry.part.value
    made = gast.Compare(here.left, [*here.ops, *last.ops], [*here.comparators, *last.comparators])
    made.first = here.first
    made.rest = [*here.rest, Branch(None, [*last.rest, copies[0]], [copies[1]])]
    made.shape = [gast.Expr(made.left), *made.rest]
    return made


# --- choices ---------------------------------------------------------------------------------------------------------
def block_value(plan: Plan, block: Block) -> list[Part] | None:
    """What a block falls through with, if it is nothing but expressions."""
    from srcgrad.ir.restoring.statements import run

    pad = Pad(plan)
    run(pad, block.statements, None)
    if not isinstance(block.exit, Fall):
        return None
    unused = None
    if len(pad.out) == 1 and isinstance(pad.out[0], gast.Expr) and not pad.pending:
        unused = pad.out.pop().value  # an expression that is a statement
    parts = take(pad, block.exit.values)
    if not pad.is_clear:
        return None
    return [Part(unused), *parts] if unused is not None else parts


_CHOICES = gast.BoolOp | gast.IfExp | gast.Compare | gast.MatchOr


def choice(pad: Pad, statement: If) -> bool:
    """Let the value of a region wait; whether it is an expression."""
    plan, targets, test = pad.plan, statement.targets, statement.test
    if statement in plan.refused or not isinstance(statement.node, _CHOICES):
        return False
    is_value = bool(targets) and targets[0].variable is None
    changed = targets[1:] if is_value else targets
    sides = [block_value(plan, block) for block in (statement.body, statement.orelse)]
    if sides[0] is None or sides[1] is None:
        return False
    body, orelse = (_sides(side, is_value, len(changed)) for side in sides)
    if body is None or orelse is None:
        return False
    copies = [Copies(changed, [part.value for part in side[1:]], statement) for side in (body, orelse)]
    ends = [block.exit for block in (statement.body, statement.orelse)]
    first = [end.values[0] if is_value and isinstance(end, Fall) else None for end in ends]
    empty = [not block.statements for block in (statement.body, statement.orelse)]
    entry = waiting(pad, test)
    can_be = [
        empty[j] and (not is_value or _is_short(first[j], test, bool(j), statement)) for j in (0, 1)
    ]
    short = 1 if can_be[1] else 0 if can_be[0] else None
    tested = short is not None and first[short] is not test
    settle(pad, reads_of([], statement.body, statement.orelse) - ({test} if short is not None else set()))
    shared = {test: 1 + (first[short] is test)} if short is not None else None
    (given,) = take(pad, [test], shared)
    if entry is not None and entry.shared is not None and short == 1:
        made = _joined(pad, entry, body[0], statement, tested, copies)
        if made is None:
            plan.refused.add(statement)
            return False
        return _give(pad, statement, is_value, made, tested)
    if short is None:
        made = gast.IfExp(given.tested, plain(plan, body[0].value), plain(plan, orelse[0].value))
        made.shape = [Branch(made.test, [gast.Expr(made.body), copies[0]], [gast.Expr(made.orelse), copies[1]])]
        return _give(pad, statement, is_value, made, False)
    other = (body, orelse)[1 - short][0]
    condition = given.tested if tested else plain(plan, given.value)
    rest = other.tested if tested else plain(plan, other.value)
    made = gast.BoolOp(gast.And() if short else gast.Or(), [condition, rest])
    made.origin = statement.node
    ways = [[gast.Expr(rest), copies[1 - short]], [copies[short]]]
    made.shape = [Branch(condition, *(ways if short else ways[::-1]))]
    return _give(pad, statement, is_value, made, tested and is_value)


def _sides(side: list[Part] | None, is_value: bool, changed: int) -> list[Part] | None:
    """The value of a side, and the names of what it leaves the changed variables with."""
    assert side is not None
    if len(side) == changed:
        side = [Part(gast.Constant(None, None)), *side]
    if len(side) != 1 + changed:
        return None
    return side if all(isinstance(part.value, gast.Name) or is_nothing(part.value) for part in side[1:]) else None


def _is_short(value: Operand | None, test: Operand, every: bool, statement: If) -> bool:
    """Whether a side gives what decided: of ``and``, ``or`` or a chain, the test or that it failed or held."""
    if isinstance(statement.node, gast.IfExp) or isinstance(statement.node, gast.Compare) and not every:
        return False
    return value is test or isinstance(value, Literal) and value.value is (not every)


def _give(pad: Pad, statement: If, is_value: bool, made: Any, tested: bool) -> bool:
    value = made
    if tested:
        value = gast.IfExp(made, gast.Constant(True, None), gast.Constant(False, None))
    if not is_value:
        emit(pad, gast.Expr(value))
        return True
    push(pad, statement.targets[0], Part(value, made if tested else None, node=statement.node))
    return True


# --- loops over iterators --------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Over:
    """The parts of a loop over an iterator."""

    iterator: Operand
    item: Version
    ended: Block
    body: Block


def over(loop: Loop) -> Over | None:
    """A loop that takes the next item first of all, and is over when there is none."""
    match loop.body.statements:
        case (
            Assign(targets=(item,), operation=ir.Next(iterator=iterator)),
            Assign(targets=(is_over,), operation=ir.Compare(symbol="is", left=left, right=Literal(value=end))),
            If(test=test, body=ended, orelse=body),
        ) if left is item and end is END and test is is_over:
            return Over(iterator, item, ended, body)
    return None


def comprehension(pad: Pad, statements: Sequence[Statement], at: int) -> int | None:
    """A comprehension, which begins at a statement with an empty container; where it ends."""
    start = statements[at]
    assert isinstance(start, Assign)
    behind = at + 1
    while behind < len(statements) and _is_fresh_cell(statements[behind], start.node):
        behind += 1
    loop = statements[behind] if behind < len(statements) else None
    result = start.targets[0]
    if not isinstance(loop, Loop) or loop.node is not start.node:
        return None
    if loop in pad.plan.refused or loop in pad.plan.layout.spread:
        return None
    first = over(loop)
    source = pad.pending[-1] if pad.pending else None
    if first is None or source is None or source.key is not first.iterator or source.uses != 1:
        return None
    if source.part.source is None:
        return None
    read = reads_of([], loop.body) - {source.key}
    if any(entry.key in read for entry in pad.pending):
        return None
    made = _Comprehension(pad.plan, loop, result, [])
    shape = made.level(loop, source.part.source, first=True)
    if shape is None or made.results is None:
        return None
    pad.pending.pop()
    node = _display(loop.node, made)
    node.shape = [gast.Expr(source.part.source), Inner(made.bound, made.cells, shape)]
    push(pad, result, Part(node, node=loop.node), pad.plan.uses[result] - 1)
    return behind + 1


def _is_fresh_cell(statement: Statement, node: gast.AST) -> bool:
    return isinstance(statement, Assign) and isinstance(statement.operation, ir.FreshCell) and statement.node is node


def _display(node: gast.AST, made: _Comprehension) -> Any:
    assert made.results is not None
    if isinstance(node, gast.DictComp):
        return gast.DictComp(*made.results, made.generators)
    return (gast.SetComp if isinstance(node, gast.SetComp) else gast.ListComp)(*made.results, made.generators)


def generator(plan: Plan, loop: Loop, source: Any) -> Any:
    """A generator expression from the loop that its function is; None if it is something else."""
    made = _Comprehension(plan, loop, None, [])
    shape = made.level(loop, source, first=True)
    if shape is None or made.results is None:
        return None
    node = gast.GeneratorExp(*made.results, made.generators)
    node.body_shape = [Inner(made.bound, made.cells, shape)]
    return node


@dataclass
class _Comprehension:
    """The loops and conditions of a comprehension, outermost first."""

    plan: Plan
    whole: Loop
    container: Version | None  # of a generator expression none
    generators: list[Any]
    bound: list[Version] = field(default_factory=list)
    cells: set[str] = field(default_factory=set)
    results: list[Any] | None = None

    def level(self, loop: Loop, source: Any, first: bool = False) -> list[Any] | None:
        """The shape of a loop."""
        from srcgrad.ir.restoring.targets import bound_in, cells_in, target

        parts = over(loop)
        if parts is None or parts.ended.statements or not isinstance(parts.ended.exit, Break):
            return None
        form = loop.node.generators[len(self.generators)].target if len(self.generators) < len(
            loop.node.generators
        ) else None
        found = target(self.plan, parts.body.statements, 0, parts.item, loop.node, form)
        if found is None:
            return None
        place, start = found
        self.bound += bound_in(place)
        self.cells |= cells_in(place)
        clause = gast.comprehension(place, source, [], 0)
        self.generators.append(clause)
        body = self.rest(parts.body.statements[start:], clause)
        if body is None or not isinstance(parts.body.exit, Continue):
            return None
        around = self._copies(loop.heads, loop.initial), self._copies(loop.heads, parts.body.exit.values)
        after = self._copies(loop.targets, parts.ended.exit.values)
        if after is None or None in around:
            return None
        made = gast.For(place, None if first else source, [*body, around[1]], [after], None)
        made.heads = around[0]
        return [around[0], made]

    def rest(self, statements: Sequence[Statement], clause: Any) -> list[Any] | None:
        """What stands in a loop: a condition, another loop, or the result."""
        from srcgrad.ir.restoring.statements import run

        if not statements:
            return None
        pad, last = Pad(self.plan), statements[-1]
        run(pad, statements[:-1], last)
        match last:
            case If(test=test, targets=targets, body=body, orelse=orelse) if last.node is self.whole.node:
                (given,) = take(pad, [test])
                within = self.rest(body.statements, clause) if pad.is_clear and not orelse.statements else None
                if within is None or not (isinstance(body.exit, Fall) and isinstance(orelse.exit, Fall)):
                    return None
                clause.ifs = [given.tested, *clause.ifs]
                copies = [self._copies(targets, body.exit.values), self._copies(targets, orelse.exit.values)]
                return None if None in copies else [Branch(given.tested, [*within, copies[0]], [copies[1]])]
            case Loop() if last.node is self.whole.node and pad.pending:
                entry = pad.pending.pop()
                inner = over(last)
                known = inner is not None and entry.key is inner.iterator and entry.part.source is not None
                return self.level(last, entry.part.source) if known and entry.uses == 1 and pad.is_clear else None
            case Assign(operation=ir.Insert(container=container, key=key, value=value)) if container is self.container:
                return self.result(pad, [value] if key is None else [key, value])
            case Assign(operation=ir.Yield(value=value), targets=()) if self.container is None:
                return self.result(pad, [value])
        return None

    def result(self, pad: Pad, operands: list[Operand]) -> list[Any] | None:
        parts = take(pad, operands)
        if not pad.is_clear:
            return None
        self.results = [plain(self.plan, part.value) for part in parts]
        return [gast.Expr(value) for value in self.results]

    def _copies(self, targets: Sequence[Version], values: Sequence[Operand]) -> Copies | None:
        if any(isinstance(value, Literal) and value.value is not UNBOUND for value in values):
            return None
        same = self.plan.same
        read = [operand(same.get(value, value) if isinstance(value, Version) else value) for value in values]
        return Copies(targets, read, self.whole)
