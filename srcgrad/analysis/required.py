"""Required values: which versions of which names the reverse sweep reads, and how each one reaches it.

Enters: ``Layout`` and the ``Reference``s that the text of the reverse sweep was made with (the text of every
statement is made first; nothing else is required).  Leaves: ``Plan``: what to record where in the forward sweep, what
to read back at the head of every reversed pass, and the name under which each reference finds its value.

Three kinds of facts can be required: *bindings* (the versions planned here), *shadow bindings* (the adjoint buffer that
belongs to memory that is stored into: a local of the forward sweep, planned here like any other) and *contents* (what a
place held before a store: ``analysis.contents``).  A record of a name of a mutable class is a reference; nothing that
reads its elements is asked again.

A block that runs once keeps its versions in locals.  A block that repeats appends one tuple of values and one of
decisions per pass, at the last position where every version is still held by its own name::

    for i in range(n):            tape.append((s, u))   is placed here if s and u are read,
        u = np.sin(s)             <- after this and
        s = u * x + s / 3.0       <- before this
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from functools import cached_property

import gast

from srcgrad.analysis.asking import changes_nothing
from srcgrad.analysis.cfg import Graph, definitely_assigned, graph_of
from srcgrad.analysis.layout import Frame, Layout, Slot
from srcgrad.analysis.references import (
    Reference,
    is_cheap,
    local_names,
    names_mentioned,
    referring,
)
from srcgrad.analysis.regions import reads_contents
from srcgrad.analysis.sinking import Sinking
from srcgrad.errors import Span
from srcgrad.ir.normal_form import Apply, Bind, Block, Copy, Fixed, For, Function, Index, Return, Statement
from srcgrad.rules.facts import Array, Fact, Unknown
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import walk as nodes_of


# --- the plan ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Record:
    """One append: ``names`` (None where the name is not bound yet) go on ``tape``."""

    tape: str
    names: tuple[str | None, ...]


@dataclass(eq=False)
class Lane:
    """The slots of one repeating block that one tape carries.  ``point`` None: append at the end and at every exit."""

    tape: str
    slots: tuple[Slot, ...]
    point: int | None
    copies: dict[Slot, str] = field(default_factory=dict)


@dataclass(eq=False)
class Plan:
    layout: Layout
    names: dict[Slot, str]  # slot -> the local that holds it in the reverse sweep
    copies: dict[tuple[Block, int], list[tuple[str, str]]]  # (block, before this position) -> (copy, source)
    lanes: dict[Block, list[Lane]]
    remade: dict[Block, list[tuple[str, gast.expr, Span]]]  # assignments at the head of a reversed pass
    inline: dict[Slot, gast.expr]  # slots that are literals
    kept: dict[tuple[Statement, str], str]  # hidden values -> the local that the forward sweep binds
    tests: dict[Statement, gast.expr | None]  # decisions: the test itself if it can be asked again, else None (kept)
    indices: dict[Block, str]  # counted loop body -> the name of its reversed index
    saved: tuple[Slot, ...]  # the slots of blocks that run once, for the saved tuple of a pair
    holders: dict[Slot, str]  # those slots -> the local that holds them when the forward sweep ends
    unset: list[str]  # names bound to None at entry, so that a record may read them on every path
    contents: frozenset[str]  # names whose contents change in place: a record of them is a copy


class Planner:
    """Resolves references one by one, records what must be recorded, and makes again what need not be."""

    def __init__(
        self,
        layout: Layout,
        namer: Namer,
        *,
        pair: bool,
        can_index: Callable[[str], bool],
        is_number: Callable[[str], bool],
        fact: Callable[[str], Fact],
        shadowed: Set[str] = frozenset(),
    ) -> None:
        """``shadowed`` names hold memory that is stored into: nothing that reads its elements is asked again."""
        self.shadowed = shadowed
        self.sinking: Sinking | None = None
        self.sunk: Set[str] = frozenset()  # shadows that the reverse sweep makes for itself
        self.is_number = is_number
        self.fact = fact
        self.told = any(not isinstance(fact(p), Unknown) for p in layout.function.parameters)
        self.layout = layout
        self.namer = namer
        self.pair = pair
        self.can_index = can_index
        self.slots: dict[Slot, bool] = {}  # slot -> whether some read needs its contents
        self.expressions: dict[Slot, gast.expr] = {}  # slots made again instead of recorded
        self.hidden: dict[tuple[Statement, str], Slot] = {}
        self.tests: dict[Statement, gast.expr | None] = {}
        self.ranges: dict[Statement, gast.expr | None] = {}
        self.positions: dict[Statement, tuple[Block, int]] = {
            s: (f.block, j) for f in layout.frames for j, s in enumerate(f.block.statements)
        }

    @cached_property
    def bound(self) -> _Bound:
        return _Bound(self.layout.function)

    # --- what is asked for -------------------------------------------------------------------------------------------
    def need(self, node: Reference) -> Slot:
        slot = self.layout.slot(node.id, node.block, node.position)
        if slot not in self.slots:
            self.slots[slot] = not node.shape_only
            again = self._again(slot)
            if again is not None:
                self.expressions[slot] = again
                for name in local_names(again):
                    assert isinstance(name, Reference)
                    self.need(name)
        elif not node.shape_only:
            self.slots[slot] = True
        return slot

    def need_all(self, *expressions: gast.AST) -> None:
        """Values that are read for their shape alone come last: one that is needed anyway may have that shape."""
        nodes = [node for tree in expressions for node in nodes_of(tree) if isinstance(node, Reference)]
        for node in sorted(nodes, key=lambda node: node.shape_only):
            if node.shape_only:
                self._stand_in(node)
            self.need(node)

    def _stand_in(self, node: Reference) -> None:
        """Read the shape of another value if that is needed anyway, or an argument, and surely has the same."""
        slot = self.layout.slot(node.id, node.block, node.position)
        fact, barred = self.fact(node.id), self.shadowed | self.sunk
        if not _is_told(fact) or slot.name in barred or self.slots.get(slot):
            return
        if slot.defined < 0 and self.layout.frames[slot.order].parent is None:
            return  # an argument itself
        statement = self.layout.frames[slot.order].block.statements[slot.defined]
        operands = names_mentioned(statement)
        needed = sorted((s.name not in operands, s) for s, read in self.slots.items() if read)
        for other in [*(s for _, s in needed), *self._arguments()]:
            if other.name not in barred and self.fact(other.name) == fact and self._read_instead(node, other):
                return

    def _arguments(self) -> list[Slot]:
        """The parameters that keep what they are given."""
        root, slots = self.layout.function.body, []
        for name in self.layout.function.parameters:
            slot = self.layout.slot(name, root, 0)
            if slot.until == len(root.statements) and not self.layout.rebound_after(slot):
                slots.append(slot)
        return slots

    def _read_instead(self, node: Reference, other: Slot) -> bool:
        """Make this a read of another version, if that is bound wherever this is read."""
        frame: Frame | None = self.layout.frame(node.block)
        position = node.position
        while frame is not None:
            if self.layout.orders[frame.block] == other.order:
                at = other.defined + 1
                is_bound = at <= position and self.bound.before(frame.block, at, other.name)  # in no branch alone
                if not is_bound or self.layout.slot(other.name, frame.block, at) != other:
                    return False
                node.id, node.block, node.position = other.name, frame.block, at
                return True
            position, frame = frame.position, frame.parent
        return False

    def need_hidden(self, owner: Statement, role: str) -> None:
        block, position = self.positions[owner]
        name = {"test": "taken"}.get(role, role)
        order = self.layout.orders[block]
        slot = Slot(order, position, f"{name} {len(self.hidden)}", len(block.statements), hidden=True)
        self.hidden.setdefault((owner, role), slot)

    def settle(self, decisions: Iterable[tuple[Statement, gast.expr]]) -> None:
        """Choose for each test: recompute it if all it reads is available anyway, else keep the answer."""
        for owner, test in decisions:
            block, position = self.positions[owner]
            at_hand = all(self._at_hand(n.id, block, position) for n in local_names(test))
            if self._is_cheap(test, truth=True) and at_hand:
                self.tests[owner] = made = referring(test, block, position)
                self.need_all(made)
            else:
                self.tests[owner] = None
                self.need_hidden(owner, "test")

    def settle_iterable(self, loop: For) -> None:
        """Choose for a counted loop: form its range again if that needs no record, else keep it."""
        block, position = self.positions[loop]
        free = (self._is_free(self.layout.slot(n.id, block, position)) for n in local_names(loop.iterable))
        if self._is_cheap(loop.iterable) and all(free):
            self.ranges[loop] = made = referring(loop.iterable, block, position)
            self.need_all(made)
        else:
            self.ranges[loop] = None
            self.need_hidden(loop, "iterable")

    def _is_cheap(self, expression: gast.expr, *, truth: bool = False) -> bool:
        """Whether evaluating again costs no more than recording, and gives and changes what it did before."""
        if not is_cheap(expression) or reads_contents(expression, self.shadowed):
            return False
        return changes_nothing(expression, self.fact, truth=truth, told=self.told)

    def _at_hand(self, name: str, block: Block, position: int) -> bool:
        slot = self.layout.slot(name, block, position)
        return slot in self.slots or self._is_free(slot)

    def _is_free(self, slot: Slot) -> bool:
        """Whether reading this version costs no record: it runs once, or it is the index of a reversed loop."""
        frame = self.layout.frames[slot.order]
        return not frame.repeats or self._is_index(frame, slot)

    @staticmethod
    def _is_index(frame: Frame, slot: Slot) -> bool:
        owner = frame.owner
        return isinstance(owner, For) and owner.counted and owner.index == slot.name and slot.defined < 0

    def _again(self, slot: Slot) -> gast.expr | None:
        """The expression that makes a repeating block's version again from what needs no record, if there is one."""
        frame = self.layout.frames[slot.order]
        if slot.name in self.sunk and self.sinking is not None:
            return self.sinking.made_again(slot)
        if not frame.repeats or slot.defined < 0 or slot.hidden or slot.defined >= frame.first_exit:
            return None
        if slot.name in self.shadowed:  # it was stored into since, and others may hold it
            return None
        statement = frame.block.statements[slot.defined]
        if not isinstance(statement, Bind):
            return None
        made = statement.operation
        if not (isinstance(made, Copy | Fixed | Index) or (isinstance(made, Apply) and self.is_number(slot.name))):
            return None
        expression = statement.expression
        if not self._is_cheap(expression):
            return None
        if self.layout.stored and any(n.id in self.layout.stored for n in local_names(expression)):
            return None
        if isinstance(statement.operation, Index) and not self.can_index(statement.operation.base):
            return None
        for name in local_names(expression):
            source = self.layout.slot(name.id, frame.block, slot.defined)
            if not self._is_free(source) and source not in self.expressions and self._chain(source) is None:
                return None
        return referring(expression, frame.block, slot.defined)

    def _chain(self, slot: Slot) -> gast.expr | None:
        """One more step: an index computed from indices."""
        frame = self.layout.frames[slot.order]
        if slot.defined < 0 or slot.defined >= frame.first_exit or slot.name in self.shadowed:
            return None
        statement = frame.block.statements[slot.defined]
        if not isinstance(statement, Bind) or not isinstance(statement.operation, Fixed):
            return None
        if not self._is_cheap(statement.expression):
            return None
        names = local_names(statement.expression)
        if all(self._is_free(self.layout.slot(n.id, frame.block, slot.defined)) for n in names):
            return statement.expression
        return None

    # --- where it is kept --------------------------------------------------------------------------------------------
    def plan(self) -> Plan:
        function = self.layout.function
        stored = {s.name for s, read in self.slots.items() if read and s.name in self.layout.stored}
        contents = frozenset(name for name in stored if not self.is_number(name))
        plan = Plan(self.layout, {}, {}, {}, {}, {}, {}, dict(self.tests), {}, (), {}, [], contents)
        made = {s for s in self.expressions if s.name in self.sunk}
        once = [s for s in sorted(self.slots) if not self.layout.frames[s.order].repeats and s not in made]
        again = [s for s in sorted(self.slots) if self.layout.frames[s.order].repeats or s in made]
        bound = self.bound
        used: set[str] = set()
        self._hold(plan, once, bound, used)
        for (owner, role), slot in self.hidden.items():
            word = {"test": "taken", "iterable": "items"}.get(role, role)
            plan.kept[owner, role] = plan.names[slot] = self.namer.fresh(word)
        lanes: dict[Block, list[Slot]] = {}
        same: dict[object, str] = {}  # expressions made again, so that each is made once per pass
        alike: object = None
        for slot in again:
            frame = self.layout.frames[slot.order]
            if slot in self.expressions:
                expression = self.expressions[slot]
                if isinstance(expression, gast.Constant):
                    plan.inline[slot] = expression
                    continue
                alike = (frame.block, gast.dump(expression), tuple(self._versions(expression)))
                if alike in same:
                    plan.names[slot] = same[alike]
                    continue
            name = slot.name if slot.name not in used else self.namer.fresh(slot.name)
            used.add(name)
            plan.names[slot] = name
            if self._is_index(frame, slot):
                plan.indices[frame.block] = name
            elif slot in self.expressions:
                at = frame.block.statements[max(slot.defined, 0)].span
                plan.remade.setdefault(frame.block, []).append((name, self.expressions[slot], at))
                same[alike] = name
            else:
                lanes.setdefault(frame.block, []).append(slot)
        decided: dict[Block, list[Slot]] = {}
        for (_, role), slot in self.hidden.items():
            frame = self.layout.frames[slot.order]
            if frame.repeats:
                (decided if role in ("test", "passes") else lanes).setdefault(frame.block, []).append(slot)
        for frame in self.layout.frames:
            for group, word in ((lanes, "tape"), (decided, "path")):
                if frame.block in group:
                    slots = tuple(sorted(group[frame.block], key=lambda s: (s.defined, s.hidden, s.name)))
                    lane = Lane(self.namer.fresh(word), slots, self._point(frame, slots))
                    self._place(plan, frame, lane, bound)
                    plan.lanes.setdefault(frame.block, []).append(lane)
        kept_once = [s for s in self.hidden.values() if not self.layout.frames[s.order].repeats]
        plan.saved = (*once, *kept_once)
        for slot in kept_once:
            plan.holders[slot] = plan.names[slot]
            if self.pair and self.layout.frames[slot.order].parent is not None:
                plan.unset.append(plan.names[slot])
        plan.unset = [n for n in dict.fromkeys(plan.unset) if n not in function.parameters]
        return plan

    def _versions(self, expression: gast.expr) -> list[Slot]:
        nodes = [n for n in gast.walk(expression) if isinstance(n, Reference)]
        return [self.layout.slot(n.id, n.block, n.position) for n in nodes]

    def _hold(self, plan: Plan, once: list[Slot], bound: _Bound, used: set[str]) -> None:
        """Blocks that run once: a version that is bound again later is copied to a local of its own."""
        for slot in once:
            frame = self.layout.frames[slot.order]
            if slot.until == len(frame.block.statements) and not self.layout.rebound_after(slot):
                plan.holders[slot] = plan.names[slot] = slot.name
                used.add(slot.name)
        for slot in once:
            frame = self.layout.frames[slot.order]
            if not bound.throughout(frame, slot):
                plan.unset.append(slot.name)
            if slot not in plan.holders:
                copy = self.namer.fresh(slot.name)
                plan.holders[slot] = plan.names[slot] = copy
                plan.copies.setdefault((frame.block, slot.until), []).append((copy, slot.name))
            holder = plan.holders[slot]
            if self.pair and self._may_be_skipped(frame, holder, bound):
                plan.unset.append(holder)
            elif self.pair and holder != slot.name and len(self.layout.returns()) > 1:
                plan.unset.append(holder)

    @staticmethod
    def _may_be_skipped(frame: Frame, holder: str, bound: _Bound) -> bool:
        """Whether a return outside a branch, or one before it, may ask for what is not bound there."""
        outermost = frame
        while outermost.parent is not None and outermost.parent.parent is not None:
            outermost = outermost.parent
        if outermost.parent is None:
            return False
        before = min(outermost.position, outermost.parent.first_exit)
        return not bound.before(outermost.parent.block, before, holder)

    def _point(self, frame: Frame, slots: tuple[Slot, ...]) -> int | None:
        """The last position where every slot is held by its own name, not after the first exit."""
        latest = min(min(s.until for s in slots), frame.first_exit)
        return latest if max(s.defined for s in slots) < latest else None

    def _place(self, plan: Plan, frame: Frame, lane: Lane, bound: _Bound) -> None:
        length = len(frame.block.statements)
        if lane.point is not None:
            for slot in lane.slots:
                if not slot.hidden and not bound.before(frame.block, lane.point, slot.name):
                    plan.unset.append(slot.name)
            return
        for slot in lane.slots:
            if slot.hidden:
                continue
            if not bound.throughout(frame, slot):
                plan.unset.append(slot.name)
            if slot.until < length:
                copy = self.namer.fresh(slot.name)
                lane.copies[slot] = copy
                plan.unset.append(copy)
                plan.copies.setdefault((frame.block, slot.until), []).append((copy, slot.name))


def _is_told(fact: Fact) -> bool:
    """Whether a fact tells all that is to be known of a shape: another name of the same fact has the same."""
    if not isinstance(fact, Array) or not fact.shape or fact.dtype is None:
        return False
    return None not in fact.shape


class _Bound:
    """Whether a name is bound on every path to a position."""

    def __init__(self, function: Function) -> None:
        self.graph: Graph = graph_of(function)
        self.names, self.ins, self.outs = definitely_assigned(function, self.graph)

    def throughout(self, frame: Frame, slot: Slot) -> bool:
        """Whether a version has a value at its end, and at an exit before it, which asks for it whether it is read or
        not."""
        exit_ = min(max(frame.first_exit, slot.defined + 1), slot.until)
        return all(self.before(frame.block, position, slot.name) for position in {exit_, slot.until})

    def before(self, block: Block, position: int, name: str) -> bool:
        statements = block.statements
        if position < len(statements):
            bits = self.ins[self.graph.heads[statements[position]]]
        elif statements:
            bits = self.outs[self.graph.tails[statements[-1]]]
        else:
            return False
        return bool(bits & self.names.mask((name,)))


def entries_at(plan: Plan, lane: Lane, frame: Frame, exit_position: int | None) -> tuple[str | None, ...]:
    """What a lane appends at its point, at the end of a pass (None), or at an exit inside the given statement."""
    entries: list[str | None] = []
    for slot in lane.slots:
        if slot.hidden:
            held: str | None = plan.names[slot]
            entries.append(held if exit_position is None or slot.defined <= exit_position else None)
        elif exit_position is None:
            entries.append(lane.copies.get(slot, slot.name))
        elif slot.defined >= exit_position:
            entries.append(None)
        elif slot.until <= exit_position:
            entries.append(lane.copies.get(slot, slot.name))
        else:
            entries.append(slot.name)
    return tuple(entries)


def saved_names(plan: Plan) -> list[str]:
    """The locals that a pair hands over, each once: two versions may be held by one name."""
    return list(dict.fromkeys(plan.names[slot] for slot in plan.saved))


def saved_at(plan: Plan, exit: Return, positions: dict[Block, int]) -> tuple[str | None, ...]:
    """What each of ``saved_names`` is held by at a return; ``positions``: the blocks that it stands in."""
    entries: dict[str, str | None] = {}
    for slot in plan.saved:
        block = plan.layout.frames[slot.order].block
        held: str | None = plan.holders[slot]
        if block in positions:
            if slot.defined > positions[block] or (slot.defined == positions[block] and not slot.hidden):
                held = None
            elif not slot.hidden and slot.until > positions[block]:
                held = slot.name
        entries[plan.names[slot]] = held if held is not None else entries.get(plan.names[slot])
    return tuple(entries.values())
