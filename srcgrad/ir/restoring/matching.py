"""``match``: its cases from the tests that lowering makes of their patterns, or these tests one by one.

>>> import gast
>>> from srcgrad.frontend.lowering import lowered
>>> from srcgrad.ir.restoring import restored
>>> def size(v):
...     match v:
...         case [x, *_] if x:
...             return x
...         case {"size": 0 | 1 as x} | x:
...             return x
>>> print(gast.unparse(restored(lowered(size))).strip())
def size(v):
    match v:
        case [x, *_] if x:
            return x
        case {'size': 0 | 1 as x} | x:
            return x
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gast

from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Operand, Version
from srcgrad.ir.regions import Assign, Block, Fall, If, Statement
from srcgrad.ir.restoring.operations import place_of
from srcgrad.ir.restoring.patterns import Reader, is_irrefutable, read
from srcgrad.ir.restoring.pending import Pad, Plan, builtin, emit, reads_of, settle, take, take_values, waiting
from srcgrad.ir.restoring.targets import stored
from srcgrad.ir.restoring.tree import Branch, Copies, assigned, call, is_nothing, name, of_version, operand

if TYPE_CHECKING:
    from srcgrad.ir.restoring.statements import Around


@dataclass(eq=False)
class _Cases:
    """The cases of a statement, in order, and where it ends."""

    plan: Plan
    node: Any
    subject: Operand
    around: Around
    top: If  # which is refused where names cannot be shared
    cases: list[Any]
    end: int = -1

    def rest(
        self, statements: Sequence[Statement], at: int, number: int, block: Block | None, behind: list[Any],
        falls: Sequence[Version],
    ) -> list[Any] | None:  # fmt: skip
        """The shape of the cases from one on, which are what is left of a block.

        ``behind`` are the block arguments of the blocks around, innermost first, whose targets are ``falls``."""
        from srcgrad.ir.restoring.statements import block as written
        from srcgrad.ir.restoring.statements import run

        if number == len(self.node.cases):
            return [self.tied(copies) for copies in behind] if at == len(statements) else None
        case = self.node.cases[number]
        reader = Reader(self.plan, run, statements, at)
        got = read(reader, case.pattern, self.subject)
        if got is None:
            return None
        made = gast.match_case(got.pattern, None, [])
        captured = dict.fromkeys(got.captured)
        if case.guard is None and is_irrefutable(got.found):
            start = self.captures(statements, reader.at, got.captured, case.pattern, captured)
            if block is None or start is None or number + 1 < len(self.node.cases):
                return None
            body = written(self.plan, block, self.around.within(falls), start)
            return self.taken(made, captured, body, block, behind[1:])
        joins: list[Any] = [[], []]
        found = got.found
        if case.guard is not None:
            guarded = self.guard(statements, reader, got.found, got.captured, case, captured, made)
            if guarded is None:
                return None
            found, joins = guarded
        here = reader.within(found, self.node)
        if here is None:
            return None
        if block is None:
            self.end = reader.at
        elif reader.at < len(statements):
            return None
        inner = 0
        if case.guard is None:
            start = self.captures(here.body.statements, 0, got.captured, case.pattern, captured)
            if start is None:
                return None
            inner = start
        body = written(self.plan, here.body, self.around.within(here.targets), inner)
        self.cases.append(made)
        other = here.orelse.exit
        left = [*([self.copies(here.targets, other.values)] if isinstance(other, Fall) else []), *behind]
        others = self.rest(here.orelse.statements, 0, number + 1, here.orelse, left, here.targets)
        if others is None:
            return None
        if isinstance(here.body.exit, Fall):
            body += self.again(behind)
        made.body = body
        binds = [gast.Assign([target], gast.Constant(None, None), None) for target in captured.values()]
        self.fill(made.pattern, captured)
        values = [gast.Expr(part) for part in _values(made.pattern)]
        if case.guard is None:
            return [*values, Branch(None, [*binds, *body], others)]
        inside = [*binds, gast.Expr(made.guard), *joins[0]]
        if is_irrefutable(got.found):
            return [*values, *inside, Branch(None, body, others)]
        return [*values, Branch(None, inside, joins[1]), Branch(None, body, others)]

    def taken(self, made: Any, captured: dict[str, Any], body: list[Any], block: Block, behind: list[Any]) -> list[Any]:
        """The last case, which holds always."""
        if isinstance(block.exit, Fall):
            body += self.again(behind)
        made.body = body
        self.fill(made.pattern, captured)
        self.cases.append(made)
        binds = [gast.Assign([target], gast.Constant(None, None), None) for target in captured.values()]
        return [*binds, *body]

    def again(self, behind: Sequence[Any]) -> list[Any]:
        return [Copies(copies.targets, list(copies.values)) for copies in behind]

    def copies(self, targets: Sequence[Version], values: Sequence[Operand]) -> Copies:
        same = self.plan.same
        return Copies(targets, [operand(same.get(v, v) if isinstance(v, Version) else v) for v in values])

    def tied(self, copies: Copies) -> Copies:
        """The same where nothing can be written."""
        if any(not (isinstance(value, gast.Name) or is_nothing(value)) for value in copies.values):
            self.plan.refused.add(self.top)
        return Copies(copies.targets, copies.values, self.top)

    def captures(
        self, statements: Sequence[Statement], at: int, wanted: dict[str, Operand], pattern: Any, found: dict[str, Any]
    ) -> int | None:
        """Read the statements that bind what a pattern captures; where they end."""
        for text, value in wanted.items():
            here = statements[at] if at < len(statements) else None
            if not isinstance(here, Assign) or stored(here) is not value or here.node is not pattern:
                return None
            place = place_of(here.operation, here.targets)
            if place is None:
                return None
            found[text] = place
            at += 1
        return at

    def guard(
        self, statements: Sequence[Statement], reader: Reader, found: Operand, wanted: dict[str, Operand], case: Any,
        captured: dict[str, Any], made: Any,
    ) -> tuple[Operand, list[Any]] | None:  # fmt: skip
        """Read a guard; the operand that decides, and what its ways leave variables with."""
        from srcgrad.ir.restoring.statements import run

        inside: Sequence[Statement] = statements
        here: If | None = None
        at = reader.at
        if not is_irrefutable(found):
            here = reader.within(found, self.node)
            if here is None or here.orelse.statements:
                return None
            inside, at = here.body.statements, 0
        start = self.captures(inside, at, wanted, case.pattern, captured)
        if start is None:
            return None
        end = start
        while end < len(inside) and not (_is_truth(inside[end]) and inside[end].node is self.node):
            end += 1
        if end == len(inside):
            return None
        pad = Pad(self.plan)
        run(pad, inside[start:end], None)
        asked = inside[end]
        assert isinstance(asked, Assign) and isinstance(asked.operation, ir.Operator)
        (part,) = take(pad, asked.operation.operands)
        if not pad.is_clear:
            return None
        made.guard = part.tested
        if here is None:
            reader.at = end + 1
            return asked.targets[0], [[], []]
        body, orelse = here.body.exit, here.orelse.exit
        if end + 1 != len(inside) or not isinstance(body, Fall) or not isinstance(orelse, Fall):
            return None
        if body.values[:1] != (asked.targets[0],) or getattr(orelse.values[0], "value", None) is not False:
            return None
        ways = [self.copies(here.targets[1:], values[1:]) for values in (body.values, orelse.values)]
        return here.targets[0], [[self.tied(copies)] for copies in ways]

    def fill(self, pattern: Any, captured: dict[str, Any]) -> None:
        """Tell the parts of a pattern which variable each captures."""
        for node in gast.walk(pattern):
            if isinstance(node, gast.MatchMapping) and node.rest is not None:
                node.target = captured[str(getattr(node.rest, "id", node.rest))]
            elif isinstance(node, gast.MatchAs | gast.MatchStar) and node.name is not None:
                node.target = captured[str(getattr(node.name, "id", node.name))]


def _is_truth(statement: Statement) -> bool:
    return isinstance(statement, Assign) and isinstance(statement.operation, ir.Operator) and (
        statement.operation.symbol == "bool"
    )


def _values(pattern: Any) -> list[Any]:
    """The expressions of a pattern."""
    found: list[Any] = []
    for node in gast.walk(pattern):
        match node:
            case gast.MatchValue(value=value):
                found.append(value)
            case gast.MatchMapping(keys=keys):
                found += keys
            case gast.MatchClass(cls=kind):
                found.append(kind)
    return found


def match(pad: Pad, statements: Sequence[Statement], at: int, around: Around) -> int | None:
    """A ``match`` statement that begins at a statement with the test of its first pattern; where it ends."""
    here = statements[at]
    if not pad.plan.has_match:
        return None
    behind = next((s for s in statements[at:] if isinstance(s, If) and isinstance(s.node, gast.Match)), None)
    if behind is None or behind in pad.plan.refused:
        return None
    node: Any = behind.node
    if not any(part is here.node for part in gast.walk(node.cases[0].pattern)):
        return None
    subject = _subject(statements, at, node.cases[0].pattern)
    if subject is None:
        return None
    cases = _Cases(pad.plan, node, subject, around, behind, [])
    shape = cases.rest(statements, at, 0, None, [], ())
    if shape is None:
        return None
    region = statements[at : cases.end]
    entry = waiting(pad, subject)
    read_there = reads_of(region)
    settle(pad, read_there - {subject})
    once = entry is not None and entry in pad.pending and all(
        subject is not given for s in statements[cases.end :] for given in reads_of([s])
    )
    allow = {subject: entry.uses} if entry is not None and once else None
    (value,) = take_values(pad, [subject], allow)
    made = gast.Match(value, cases.cases)
    made.shape = [gast.Expr(value), *shape]
    emit(pad, made)
    return cases.end


def _subject(statements: Sequence[Statement], at: int, pattern: Any) -> Operand | None:
    """What is matched: the operand that the first test of the pattern is about."""
    parts = list(gast.walk(pattern))
    for here in statements[at:]:
        if not isinstance(here, Assign):
            return None
        if not any(part is here.node for part in parts):
            continue
        match here.operation:
            case ir.MatchSequence(subject=given) | ir.MatchMapping(subject=given) | ir.MatchClass(subject=given):
                return given
            case ir.Compare(left=given):
                return given
        if (value := stored(here)) is not None:
            return value
    return None


# --- tests on their own ----------------------------------------------------------------------------------------------
def pattern_test(pad: Pad, here: Assign) -> None:
    """One test of a pattern, as a ``match`` of two cases."""
    made, targets = here.operation, here.targets
    wild = gast.MatchAs(None, None)
    items: list[Version] = []

    def item() -> Any:
        items.append(Version("item"))
        capture = gast.MatchAs(None, "item")
        capture.target = of_version(items[-1], gast.Store)
        return capture

    values: list[Any] = []
    match made:
        case ir.MatchSequence(subject=subject, count=count, at_least=at_least):
            (value,) = take_values(pad, [subject])
            pattern = gast.MatchSequence([wild] * count + [gast.MatchStar(None)] * at_least)
            answers = [gast.Constant(True, None)]
        case ir.MatchMapping(subject=subject, count=count):
            (value,) = take_values(pad, [subject])
            pattern = gast.MatchMapping([], [], None)
            answers = [gast.Constant(True, None)]
            if count:
                temporary = Version("subject")
                emit(pad, assigned([of_version(temporary, gast.Store)], value))
                value = of_version(temporary)
                size = call(builtin(pad.plan, "len"), of_version(temporary))
                answers = [gast.Compare(size, [gast.GtE()], [gast.Constant(count, None)])]
        case ir.MatchKeys(subject=subject, keys=keys, rest=rest):
            value, *given = take_values(pad, [subject, *keys])
            value, values = _kept(pad, value), [_kept(pad, key) for key in given]
            space = call(gast.Attribute(call(name("__import__"), gast.Constant("types", None)), "SimpleNamespace",
                                        gast.Load()))  # fmt: skip
            space.keywords = [gast.keyword(f"k{j}", key) for j, key in enumerate(values)]
            held = _kept(pad, space)
            keys_read = [gast.Attribute(of_version(held.version), f"k{j}", gast.Load()) for j in range(len(keys))]
            pattern = gast.MatchMapping(keys_read, [item() for _ in keys], None)
            if rest:
                items.append(Version("rest"))
                pattern.rest, pattern.target = "rest", of_version(items[-1], gast.Store)
            answers = [gast.Constant(True, None), gast.Tuple([of_version(i) for i in items], gast.Load())]
        case ir.MatchClass(subject=subject, of=of, count=count, names=names):
            value, kind = (_kept(pad, part) for part in take_values(pad, [subject, of]))
            pattern = gast.MatchClass(kind, [item() for _ in range(count)], list(names), [item() for _ in names])
            answers = [gast.Constant(True, None), gast.Tuple([of_version(i) for i in items], gast.Load())]
        case _:
            raise AssertionError(made)
    failed = [gast.Constant(False, None), gast.Tuple([], gast.Load())][: len(targets)]
    ways = [
        [assigned([of_version(target, gast.Store)], answer) for target, answer in zip(targets, given_answers)]
        for given_answers in (answers, failed)
    ]
    node = gast.Match(value, [gast.match_case(pattern, None, ways[0]), gast.match_case(wild, None, ways[1])])
    binds = [assigned([of_version(i, gast.Store)], gast.Constant(None, None)) for i in items]
    node.shape = [gast.Expr(value), *map(gast.Expr, _values(pattern)), Branch(None, [*binds, *ways[0]], ways[1])]
    emit(pad, node)


def _kept(pad: Pad, value: Any) -> Any:
    """A value under a name."""
    if isinstance(value, gast.Name) and hasattr(value, "version"):
        return value
    temporary = Version("t")
    emit(pad, assigned([of_version(temporary, gast.Store)], value))
    return of_version(temporary)

