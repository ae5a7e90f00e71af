"""The text of a reverse sweep with its placeholders replaced, when the plan stands.

Enters: statements with ``Reference``s, ``Hidden`` values, ``Decision``s, ``Restore``s and ``PassHead``s, and the plan.
Leaves: the same statements, which read the locals that the plan gives them.
"""

from __future__ import annotations

from typing import Protocol

import gast

from srcgrad.analysis.references import Backward, Decision, Hidden, Reference
from srcgrad.analysis.required import Plan, Planner
from srcgrad.ir.normal_form import Block, Statement
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.marks import in_role
from srcgrad.syntax.parse import BELOW, clone
from srcgrad.transform.build import assign, load, method, store, unpack
from srcgrad.transform.calls import pair_of
from srcgrad.transform.control import PassHead, placed
from srcgrad.transform.stores import Restore
from srcgrad.transform.sweep import ReverseSweep

_LEAVES = (Reference, Hidden, Decision, Backward)


class Sweep(Protocol):
    """What is asked of the sweep that the text belongs to."""

    planner: Planner
    state: ReverseSweep
    idle: str

    def exits(self) -> dict[int, str]: ...


def settled(code: list[gast.stmt], undone: set[Statement]) -> list[gast.stmt]:
    """The text with the stores that are undone undone in place."""

    def expanded(statements: list[gast.stmt]) -> list[gast.stmt]:
        found: list[gast.stmt] = []
        for statement in statements:
            if not isinstance(statement, Restore):
                found.append(statement)
            elif statement.store in undone:
                found += [placed(s, statement.store.span) for s in statement.code]
        return found

    code = expanded(code)
    pending = list(code)
    while pending:
        node = pending.pop()
        for field in ("body", "orelse"):
            inner = getattr(node, field, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], gast.stmt):
                made = expanded(inner)
                setattr(node, field, made or ([gast.Pass()] if field == "body" else []))
                pending += made
    return code


class Resolver:
    """Replaces references, hidden values, decisions and loop heads, in place, without recursing over a block."""

    def __init__(self, sweep: Sweep, plan: Plan) -> None:
        self.sweep = sweep
        self.plan = plan
        self.layout = plan.layout

    def resolve(self, root: gast.stmt) -> None:
        pending: list[gast.AST] = [root]
        while pending:
            node = pending.pop()
            if isinstance(node, gast.For):
                self._turn(node)
            here = node.__dict__
            fields = BELOW[node.__class__]
            for field in node._fields if fields is None else fields:
                value = here.get(field)
                if isinstance(value, list):
                    if value and isinstance(value[0], PassHead):
                        value = self.opening(value[0].block) + value[1:] or [gast.Pass()]
                    made = [self._leaf(v) if isinstance(v, _LEAVES) else v for v in value]
                    here[field] = made
                    pending += [v for v in made if isinstance(v, gast.AST)]
                elif isinstance(value, _LEAVES):
                    here[field] = leaf = self._leaf(value)
                    pending.append(leaf)
                elif isinstance(value, gast.AST) and value._fields:
                    pending.append(value)

    def _leaf(self, node: gast.AST) -> gast.AST:
        while True:
            match node:
                case Reference():
                    slot = self.layout.slot(node.id, node.block, node.position)
                    if slot in self.plan.inline:
                        return clone(self.plan.inline[slot])
                    return gast.Name(self.plan.names[slot], node.ctx, None, None)
                case Backward():
                    return pair_of(self.sweep.state, node.owner)[1]
                case Hidden():
                    kept = self.plan.kept.get((node.owner, node.role))
                    if kept is not None:
                        return load(kept)
                    made = self.sweep.planner.ranges[node.owner]
                    assert made is not None
                    node = clone(made)
                case Decision():
                    test = self.plan.tests[node.owner]
                    if test is None:
                        return load(self.plan.kept[node.owner, "test"])
                    node = clone(test)
                case _:
                    return node

    def opening(self, block: Block) -> list[gast.stmt]:
        """What a reversed pass reads back before anything else."""
        code: list[gast.stmt] = []
        order = self.layout.orders[block]
        exits = self.sweep.exits()
        if order in exits:
            code.append(in_role(assign(self.sweep.state.leave[order], method(exits[order], "pop")), "recall"))
        for lane in self.plan.lanes.get(block, ()):
            names = [self.plan.names[slot] for slot in lane.slots]
            popped = method(lane.tape, "pop")
            read = assign(names[0], popped) if len(names) == 1 else unpack(names, popped)
            code.append(in_role(read, "recall"))
        for name, expression, span in self.plan.remade.get(block, ()):
            code.append(in_role(placed(assign(name, clone(expression)), span), "recompute"))
        return code

    def _turn(self, loop: gast.For) -> None:
        """Name the index of a reversed loop, and turn its range: ``reversed(reversed(r))`` is ``r``."""
        head = loop.body[0]
        if not isinstance(head, PassHead):
            return
        loop.target = store(self.plan.indices.get(head.block, self.sweep.idle))
        assert isinstance(loop.iter, gast.Call)
        if not isinstance(loop.iter.args[0], Hidden):
            return
        made = self._leaf(loop.iter.args[0])
        loop.iter.args[0] = made
        if isinstance(made, gast.Call):
            function = made.func
            if isinstance(function, GlobalReference) and function.binding.value is reversed:
                loop.iter = made.args[0]
