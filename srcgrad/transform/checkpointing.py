"""The derivative of a loop of which few states are kept, and of a function that is run again instead of recorded.

Enters: a callee, and the facts of a call's arguments.  Leaves: the two halves of its derivative, which call those of a
stretch of passes for a few passes at a time::

    def f_loop_fwd(passes, snapshots, recorded, s, x):
        kept = []
        for first, last in stretches(kept, passes, snapshots, recorded):
            kept.append((first, (s,)))
            s, = f_passes(first, last, s, x)
        return (s,), (kept, passes, snapshots, recorded, x)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import Activity
from srcgrad.analysis.cfg import walk
from srcgrad.analysis.memory import MemoryClasses, memory_classes
from srcgrad.analysis.repeating import run_once
from srcgrad.analysis.shapes import Outcome
from srcgrad.analysis.summaries import Summary
from srcgrad.errors import UnsupportedSyntax
from srcgrad.ir.normal_form import Callee, Checkpointed, Function, Return
from srcgrad.rules.facts import Array, Fact, Sequence, Unknown, is_floating, join, number
from srcgrad.syntax.globals import of_runtime
from srcgrad.syntax.marks import Role
from srcgrad.syntax.namer import Namer
from srcgrad.transform.shadows import PLAIN, Modes

Facts = tuple[Fact, ...]
_NAMES = ("stretches", "reversal", "add", "as_list", "zeros_like")
RUNTIME = {name: of_runtime(getattr(runtime, name)) for name in _NAMES}


class Repeating(Protocol):
    """What a module of emitted functions provides for what is run again."""

    def normalized(self, callee: Callee) -> Function: ...

    def prepared(self, callee: Callee, facts: Facts) -> tuple[Function, Mapping[str, Fact]]: ...

    def active(
        self, function: Function, wanted: tuple[str, ...], facts: Mapping[str, Fact],
        classes: MemoryClasses | None = None,
    ) -> Activity: ...  # fmt: skip

    def outcome_of(self, callee: Callee, facts: Facts) -> Outcome: ...

    def summary_of(self, callee: Callee, facts: Facts) -> Summary: ...

    def copied(self, callee: Callee) -> gast.expr: ...

    def pair(
        self, callee: Callee, active: tuple[bool, ...], facts: Facts, modes: Modes = PLAIN
    ) -> tuple[gast.expr, gast.expr]: ...


Define = Callable[[str, Role], gast.FunctionDef]


def loop_pair(
    module: Repeating, loop: Checkpointed, callee: Callee, active: tuple[bool, ...], facts: Facts, modes: Modes,
    names: tuple[str, str], define: Define,
) -> tuple[gast.FunctionDef, gast.FunctionDef]:  # fmt: skip
    """The halves of a loop's derivative, for a call with these active arguments."""
    function = module.normalized(callee)
    if modes != PLAIN:
        raise UnsupportedSyntax(
            "the state of a loop of which few states are kept may share memory with what is stored into elsewhere",
            function.span, code="E0122", hint="copy the arrays that the loop reads and that are changed elsewhere",
        )  # fmt: skip
    known, moving = _settled(module, loop, facts, active)
    first = 2 + loop.states
    written = module.normalized(loop.stretch).parameters[first : first + loop.written]
    shadowed = (*written, *_added_to(module, loop, known, moving))
    inner = Modes(tuple(p in shadowed for p in module.normalized(loop.stretch).parameters)) if shadowed else PLAIN
    forward, backward = map(_spelling, module.pair(loop.stretch, moving, known, inner))
    return _Text(module, loop, function, active, moving, shadowed, forward, backward).halves(names, define)


def is_run_again(callee: Callee) -> bool:
    """Whether a function is run again in the reverse sweep, instead of recorded (``srcgrad.remat``)."""
    is_marked = getattr(callee.function, "__srcgrad_remat__", False)
    return is_marked and callee.makes is None and not callee.recorded


def repeated_pair(
    module: Repeating, callee: Callee, active: tuple[bool, ...], facts: Facts, modes: Modes, names: tuple[str, str],
    spelled: str, define: Define,
) -> tuple[gast.FunctionDef, gast.FunctionDef]:  # fmt: skip
    """The halves of the derivative of a function that keeps its arguments alone::

        def f_fwd(x, a):                        def f_bwd(saved, value_bar=1.0):
            return f(x, a), (x, a)                  x, a = saved
                                                    _, record = f_fwd2(x, a)
                                                    return f_bwd2(record, value_bar)
    """
    function = module.normalized(callee)
    if modes != PLAIN:
        raise UnsupportedSyntax(
            f"{function.name} stores into what it is given, or returns memory that is stored into: it cannot be run "
            "again", function.span, code="E0122", hint="work on a copy, or leave remat out",
        )  # fmt: skip
    if (once := run_once(function.body, module.normalized)) is not None:
        raise UnsupportedSyntax(
            f"{function.name} is run again in the reverse sweep, and this {once.what}", once.span, code="E0123",
            hint="do this outside of the function, or leave remat out",
        )  # fmt: skip
    forward, backward = map(_spelling, module.pair(replace(callee, recorded=True), active, facts))
    namer = Namer([*function.parameters, spelled, forward, backward])
    saved, record, value_bar = (namer.fresh(n) for n in ("saved", "record", "value_bar"))
    given = ", ".join(function.parameters)
    row = _row(list(function.parameters))
    first = f"def {names[0]}({given}):\n    return {spelled}({given}), ({row})\n"
    second = (
        f"def {names[1]}({saved}, {value_bar}=1.0):\n"
        f"    {row} = {saved}\n"
        f"    _, {record} = {forward}({given})\n"
        f"    return {backward}({record}, {value_bar})\n"
    )
    return define(first, "primal"), define(second, "adjoint")


def _settled(
    module: Repeating, loop: Checkpointed, facts: Facts, active: tuple[bool, ...]
) -> tuple[Facts, tuple[bool, ...]]:
    """The facts of the arguments of any stretch, and which of them vary; of the state, as stretches return it."""
    integer = number("int")
    known: Facts = (integer, integer, *facts[3:])
    written = 2 + loop.states + loop.written
    moving = (False, False, *active[3 : 3 + loop.states], *[True] * loop.written, *active[1 + written :])
    for _ in range(8):
        result = module.outcome_of(loop.stretch, known).result
        function, inside = module.prepared(loop.stretch, known)
        wanted = tuple(p for p, moves in zip(function.parameters, moving, strict=True) if moves)
        activity = module.active(function, wanted, inside, memory_classes(function, inside, module.summary_of))
        items = result.items if isinstance(result, Sequence) and result.items is not None else None
        told = items[loop.ends :] if items is not None else (Unknown(),) * loop.states
        states = slice(2, 2 + loop.states)
        joined = tuple(join(a, b) for a, b in zip(known[states], told, strict=True))
        final = [s for s in walk(function.body) if isinstance(s, Return)]
        packed = _returned(function)[loop.ends :]
        varied = tuple(
            moves or any(name in activity.varied_before(s) for s in final)
            for moves, name in zip(moving[states], packed, strict=True)
        )
        if joined == known[states] and varied == moving[states]:
            return known, moving
        known = (*known[:2], *joined, *known[states.stop :])
        moving = (*moving[:2], *varied, *moving[states.stop :])
    return (*known[:2], *(Unknown() for _ in known[2:])), moving


def _returned(function: Function) -> list[str]:
    """The names of which the result is made."""
    packed = function.body.statements[-2]
    return [e.id for e in packed.expression.elts]  # type: ignore[union-attr]


def _added_to(module: Repeating, loop: Checkpointed, known: Facts, moving: tuple[bool, ...]) -> tuple[str, ...]:
    """The arrays to whose adjoints the passes add: what they read alone, and hand on to no state."""
    function, inside = module.prepared(loop.stretch, known)
    parameters = function.parameters
    first = 2 + loop.states + loop.written
    found = [
        p for p, fact, moves in list(zip(parameters, known, moving, strict=True))[first:]
        if moves and isinstance(fact, Array) and not fact.scalar and fact.shape and is_floating(fact.dtype)
    ]  # fmt: skip
    classes = memory_classes(function, inside, module.summary_of)
    returned = {classes.root(name) for name in _returned(function)}
    others = {classes.root(p) for p in parameters if p not in found} | returned
    return tuple(p for p in found if classes.root(p) not in others)


def _spelling(half: gast.expr) -> str:
    assert isinstance(half, gast.Name)
    return str(half.id)


class _Text:
    """The text of the two halves."""

    def __init__(
        self, module: Repeating, loop: Checkpointed, function: Function, active: tuple[bool, ...],
        moving: tuple[bool, ...], shadowed: tuple[str, ...], forward: str, backward: str,
    ) -> None:  # fmt: skip
        self.loop, self.function = loop, function
        self.passes, self.snapshots, self.recorded, *given = function.parameters
        self.run, self.forward, self.backward = _spelling(module.copied(loop.stretch)), forward, backward
        namer = Namer([*function.parameters, self.run, forward, backward])
        self.namer = namer
        inner = module.normalized(loop.stretch).parameters
        arrays = slice(loop.states, loop.states + loop.written)
        self.copied = dict(zip(given[arrays], map(namer.fresh, inner[2:][arrays]), strict=True))
        given = [self.copied.get(p, p) for p in given]
        self.state, self.written, self.fixed = given[: loop.states], given[arrays], given[arrays.stop :]
        self.bars = {p: namer.fresh(f"{p}_bar") for p in given}
        own = dict(zip(inner[2:], given, strict=True))  # what the parameters of the stretch are called here
        self.shadowed = [own[p] for p in shadowed]
        self.moving = [own[p] for p, moves in zip(inner, moving, strict=True) if moves]
        self.active = [p for p, is_active in zip(function.parameters[3:], active[3:], strict=True) if is_active]
        self.active = [self.copied.get(p, p) for p in self.active]
        self.kept, self.first, self.last, self.ended, self.saved, self.action, self.record = (
            namer.fresh(n) for n in ("kept", "first", "last", "ended", "saved", "action", "record")
        )

    def halves(self, names: tuple[str, str], define: Define) -> tuple[gast.FunctionDef, gast.FunctionDef]:
        return define(self.forward_half(names[0]), "primal"), define(self.backward_half(names[1]), "adjoint")

    def _stretch(self) -> str:
        told = f"{self.ended}, " if self.loop.ends else ""
        given = ", ".join([self.first, self.last, *self.state, *self.written, *self.fixed])
        targets = f"{told}{_row(self.state)} = " if told or self.state else ""
        return f"{targets}{self.run}({given})"

    def forward_half(self, name: str) -> str:
        state, kept, passes = _row(self.state), self.kept, self.passes
        lines = [
            f"def {name}({', '.join(self.function.parameters)}):",
            f"    {kept} = []",
            *(f"    {copy} = {p}.copy()" for p, copy in self.copied.items()),
            f"    for {self.first}, {self.last} in "
            f"__srcgrad_stretches__({kept}, {passes}, {self.snapshots}, {self.recorded}):",
            f"        {kept}.append(({self.first}, ({state})))",
            f"        {self._stretch()}",
        ]
        if self.loop.ends:
            lines += [
                f"        if {self.ended} is not None:",
                f"            {passes} = {self.ended}",
                "            break",
            ]
        saved = ", ".join([kept, passes, self.snapshots, self.recorded, *self.written, *self.fixed])
        lines.append(f"    return ({_row([*self.state, *self.written])}), ({saved})")
        return "\n".join(lines) + "\n"

    def backward_half(self, name: str) -> str:
        kept, bars = self.kept, self.bars
        state, seeds = _row(self.state), _row([bars[p] for p in self.state])
        given = _row([bars[p] for p in (*self.state, *self.written)])
        moving = [p for p in self.moving if p in self.fixed]
        added = [p for p in moving if p not in self.shadowed]
        part = {p: self.namer.fresh(f"{p}_part") for p in added}
        value_bar = self.namer.fresh("value_bar")
        passed = [self.first, self.last]
        for p in (*self.state, *self.written, *self.fixed):
            passed += [p, bars[p]] if p in self.shadowed else [p]
        results = [bars[p] for p in self.moving if p in self.state] + [part[p] for p in added]
        pulled = f"{self.backward}({self.record}, ({'None, ' if self.loop.ends else ''}{seeds}))"
        held = ", ".join([kept, self.passes, self.snapshots, self.recorded, *self.written, *self.fixed])
        lines = [
            f"def {name}({self.saved}, {value_bar}=1.0):",
            f"    {held} = {self.saved}",
            f"    {kept} = __srcgrad_as_list__({kept})",
            f"    {given} = {value_bar}",
            *(f"    {bars[p]} = __srcgrad_add__(__srcgrad_zeros_like__({p}), {bars[p]})" for p in self.written),
            *(f"    {bars[p]} = __srcgrad_zeros_like__({p})" for p in moving),
            f"    for {self.action}, {self.first}, {self.last} in "
            f"__srcgrad_reversal__({kept}, {self.passes}, {self.snapshots}, {self.recorded}):",
            f'        if {self.action} == "restore":',
            f"            _, ({state}) = {kept}[-1]",
            f'        elif {self.action} == "advance":',
            f"            {self._stretch()}",
            f'        elif {self.action} == "keep":',
            f"            {kept}.append(({self.first}, ({state})))",
            "        else:",
            f"            _, {self.record} = {self.forward}({', '.join(passed)})",
            f"            {', '.join(results)} = {pulled}" if results else f"            {pulled}",
            *(f"            {bars[p]} = __srcgrad_add__({bars[p]}, {part[p]})" for p in added),
            f"    return {', '.join(bars[p] for p in self.active)}",
        ]
        return "\n".join(lines) + "\n"


def _row(names: list[str]) -> str:
    """Names as the parts of a tuple."""
    return f"{names[0]}," if len(names) == 1 else ", ".join(names)
