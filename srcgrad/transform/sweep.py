"""What the adjoints of statements share: the facts of the function, and the state of its reverse sweep.

Enters: a function's layout, activity, facts and shadows, and how callees are reached.  Leaves: ``ReverseSweep``, which
every function that writes the adjoint of a statement is given first.  ``bars`` is the only part that goes back and
forth, where two paths are walked from one point; all else only grows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import gast

from srcgrad.analysis.activity import Activity
from srcgrad.analysis.layout import Layout
from srcgrad.analysis.references import Reference, reference
from srcgrad.ir.normal_form import Append, Bind, Block, Callee, For, Pop, Statement, While
from srcgrad.rules.facts import UNKNOWN, Array, Fact, is_floating
from srcgrad.syntax.namer import Namer
from srcgrad.transform.build import load
from srcgrad.transform.cotangents import Cotangents
from srcgrad.transform.deferral import Deferral, deferral_of
from srcgrad.transform.lending import Lent, lent_by_bases
from srcgrad.transform.operands import fact_of_operand
from srcgrad.transform.shadows import PLAIN, Modes, Shadows


class Calls(Protocol):
    """How a call site reaches the derivative of its callee: names of functions beside this one.

    ``strong_zeros``: how rules are written (``rules.strong_zeros``); ``shown``: the text is made to be read."""

    strong_zeros: bool
    shown: bool

    def pair(
        self, callee: Callee, active: tuple[bool, ...], facts: tuple[Fact, ...], modes: Modes = PLAIN
    ) -> tuple[gast.expr, gast.expr]: ...

    def primal(self, callee: Callee) -> gast.expr | None: ...

    def reads_again(
        self, callee: Callee, active: tuple[bool, ...], facts: tuple[Fact, ...], modes: Modes
    ) -> bool: ...

    def added_to(self, callee: Callee, facts: tuple[Fact, ...]) -> frozenset[int]: ...


Mark = tuple[int, int, int, frozenset[Bind]]


@dataclass(eq=False)
class Requests:
    """What the reverse sweep requires of the forward sweep besides values of names."""

    decisions: list[tuple[Statement, gast.expr]] = field(default_factory=list)  # tests that are repeated
    iterables: list[Statement] = field(default_factory=list)  # loops whose items are gone over again
    counted: list[Statement] = field(default_factory=list)  # loops whose passes are counted
    saved_calls: set[Bind] = field(default_factory=set)  # calls that are reversed
    masks: dict[tuple[Bind, str], gast.expr] = field(default_factory=dict)  # (statement, role) -> kept in its place

    def mark(self) -> Mark:
        return len(self.decisions), len(self.iterables), len(self.counted), frozenset(self.saved_calls)

    def reset(self, mark: Mark) -> None:
        """Forget what was required since the mark."""
        del self.decisions[mark[0] :], self.iterables[mark[1] :], self.counted[mark[2] :]
        self.saved_calls = set(mark[3])


@dataclass(eq=False)
class ReverseSweep:
    """One reverse sweep: the facts of its function first, then where it stands and what it has made so far."""

    layout: Layout
    activity: Activity
    facts: Mapping[str, Fact]
    calls: Calls
    namer: Namer
    seed: gast.expr
    shadows: Shadows | None
    leave: dict[int, str]  # order of a loop body (0: the function) -> the name of its exit number
    shadowed: Mapping[str, str]  # name -> its shadow
    lists: frozenset[str]  # lists that are filled or emptied, and have no shadow
    deferral: Deferral
    handed: frozenset[str] = frozenset()  # parameters whose adjoints are buffers of the caller's
    lendable: Mapping[str, Lent] = field(default_factory=dict)  # views whose adjoint may be a view of their array's
    lent: set[str] = field(default_factory=set)  # those that are at the present point
    bars: Cotangents = field(default_factory=Cotangents)  # the adjoints at the present point
    names: dict[str, str] = field(default_factory=dict)  # name -> its adjoint
    temporaries: set[str] = field(default_factory=set)
    seeds: dict[Statement, str] = field(default_factory=dict)  # adjoints of results of which parts may be operands'
    requests: Requests = field(default_factory=Requests)
    touched: dict[Statement, frozenset[str]] = field(default_factory=dict)  # classes whose contents an adjoint reads
    reread: dict[Statement, frozenset[str]] = field(default_factory=dict)  # call -> classes that its callee alone reads
    unrestored: frozenset[Statement] = frozenset()  # calls before which nothing reads what they stored into
    here: tuple[Block, int, int] | None = None  # where the sweep stands: before and after
    now: Statement | None = None  # the statement that it passes

    # --- names and facts ---------------------------------------------------------------------------------------------
    def bar(self, name: str) -> str:
        """The name of the adjoint of ``name``."""
        if name not in self.names:
            self.names[name] = self.namer.fresh(f"{name}_bar")
        return self.names[name]

    def fresh(self, stem: str) -> str:
        name = self.namer.fresh(stem)
        self.temporaries.add(name)
        return name

    def lenders(self) -> set[str]:
        """The arrays that lend their adjoints at the present point: these stay the buffers that they are, also where
        nothing else reads them."""
        return {self.lendable[view].base for view in self.lent}

    def leave_of(self, loop: For | While) -> str:
        """The name of the exit number of a loop."""
        order = self.layout.orders[loop.body]
        if order not in self.leave:
            self.leave[order] = self.namer.fresh("leave")
        return self.leave[order]

    def fact(self, name: str) -> Fact:
        return self.facts.get(name, UNKNOWN)

    def fact_of(self, operand: gast.expr) -> Fact:
        return fact_of_operand(operand, self.fact)

    def is_scalar(self, name: str) -> bool:
        fact = self.fact(name)
        return isinstance(fact, Array) and fact.shape == ()

    def is_array(self, name: str) -> bool:
        """Provably an ``ndarray`` of one or more dimensions."""
        fact = self.fact(name)
        return isinstance(fact, Array) and not fact.scalar and bool(fact.shape)

    # --- shadows -----------------------------------------------------------------------------------------------------
    def stand(self, statement: Statement, block: Block, position: int) -> None:
        """The sweep is about to pass a statement."""
        self.now = statement
        start, end = position, position + 1
        if self.shadows is not None:
            start, end = self.shadows.groups.get(statement, (start, end))
        self.here = block, start, end

    def shadow(self, name: str, *, after: bool = False) -> Reference:
        """The shadow of ``name`` before or after the present statement."""
        assert self.here is not None and self.now is not None and self.shadows is not None
        block, start, end = self.here
        if after and self.now in self.shadows.results_frozen:
            return reference(self.shadows.results_frozen[self.now], block, end)
        if not after and name in self.shadows.frozen.get(self.now, ()):
            return reference(self.shadows.frozen[self.now][name][1], block, end)
        return reference(self.shadowed[name], block, end if after else start)

    def bar_name(self, name: str) -> gast.Name:
        """The adjoint of what the present statement binds to ``name``, or of a functional name."""
        return self.shadow(name, after=True) if name in self.shadowed else load(self.bar(name))

    def adds_in_place(self, name: str) -> bool:
        """Whether the shadow of a name is surely an array that takes any adjoint of the name."""
        fact = self.fact(name)
        return self.is_array(name) and isinstance(fact, Array) and is_floating(fact.dtype)


def reverse_sweep(
    layout: Layout,
    activity: Activity,
    facts: Mapping[str, Fact],
    calls: Calls,
    namer: Namer,
    seed: gast.expr,
    leave: str,
    shadows: Shadows | None = None,
    handed: frozenset[str] = frozenset(),
) -> ReverseSweep:
    """A sweep that stands at the end of its function; ``leave`` is the name of the function's exit number."""
    shadowed: Mapping[str, str] = {} if shadows is None else shadows.bars
    lists = {s.sequence for s in activity.graph.heads if isinstance(s, Append | Pop)}
    deferral = deferral_of(activity.function, facts, shadowed)
    others = {*shadowed, *lists, *deferral.reducing, *deferral.real, *deferral.spread}
    return ReverseSweep(
        layout, activity, facts, calls, namer, seed, shadows, {0: leave}, shadowed, frozenset(lists - set(shadowed)),
        deferral, handed, lent_by_bases(activity.function, facts, others),
    )  # fmt: skip
