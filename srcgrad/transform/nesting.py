"""Text that stands between a call and a derivative that may be caught when it raises, or is itself differentiated.

Enters: names.  Leaves: definitions, plain Python that is compiled again for the next order::

    def grad_g(x):
        value, saved = g_fwd(x)
        return g_bwd(saved, one_for(value, "g"))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType
from typing import Protocol

import gast

from srcgrad import runtime
from srcgrad.analysis.changes import stores_midway
from srcgrad.analysis.summaries import Summary
from srcgrad.ir.normal_form import Callee, Checkpointed, Guarded, unguarded
from srcgrad.rules.facts import Fact, Unknown
from srcgrad.rules.rewriting import rebuilt
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import GlobalReference, importable, of_runtime, reference
from srcgrad.syntax.marks import Role, in_role
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone, quote_statements
from srcgrad.transform.adjoint import AdjointProgram
from srcgrad.transform.checkpointing import RUNTIME as REPEATING
from srcgrad.transform.checkpointing import Define, Repeating, is_run_again, loop_pair, repeated_pair
from srcgrad.transform.control import placed
from srcgrad.transform.entries import stem
from srcgrad.transform.local_texts import TextsHeld
from srcgrad.transform.results_apart import Returning, Sweeps, keep_results_apart
from srcgrad.transform.shadows import PLAIN, Modes

_NAMES = ("one_for", "or_zeros", "private", "closure", "attempt", "attempt_store", "attempt_whole", "zeros_like")
_RUNTIME = {name: of_runtime(getattr(runtime, name)) for name in _NAMES}


def definition(text: str, bindings: Mapping[str, GlobalBinding], role: Role = "primal") -> gast.FunctionDef:
    """One function, with what ``bindings`` mean for ``__srcgrad_name__``, which is no name of a user's, in its role."""

    def resolved(node: gast.AST) -> gast.expr | None:
        if isinstance(node, gast.Name) and not isinstance(node, GlobalReference) and node.id.startswith("__srcgrad_"):
            return reference(bindings[node.id.removeprefix("__srcgrad_").removesuffix("__")])
        return None

    (made,) = quote_statements(text)
    node: gast.FunctionDef = rebuilt(made, resolved)
    return in_role(node, role)


def gradient(
    name: str, of: str, parameters: Sequence[str], forward: str, backward: str, *, with_value: bool
) -> gast.FunctionDef:
    """The gradient of a function, with a seed that is right only for one number."""
    namer = Namer([*parameters, forward, backward])
    value, saved = namer.fresh("value"), namer.fresh("saved")
    kept = f"{value}, " if with_value else ""
    text = (
        f"def {name}({', '.join(parameters)}):\n"
        f"    {value}, {saved} = {forward}({', '.join(parameters)})\n"
        f"    return {kept}{backward}({saved}, __srcgrad_one_for__({value}, {of!r}))\n"
    )
    return definition(text, _RUNTIME)


def pulled(name: str, parameters: Sequence[str], forward: str, backward: str) -> gast.FunctionDef:
    """The gradient of a function for the seed that stands behind its arguments."""
    namer = Namer([*parameters, forward, backward])
    value, saved, seed = namer.fresh("value"), namer.fresh("saved"), namer.fresh("value_bar")
    text = (
        f"def {name}({', '.join([*parameters, seed])}):\n"
        f"    {value}, {saved} = {forward}({', '.join(parameters)})\n"
        f"    return {backward}({saved}, {seed})\n"
    )
    return definition(text, {})


def linear(
    name: str, parameters: Sequence[str], forward: str, backward: str, *, stores: bool
) -> gast.FunctionDef:
    """The value of a function, and its gradient for a seed that is zero unless one is given: linear in the seed.

    ``stores``: the backward half takes back what the forward half stored, so that the value is copied before it.
    """
    namer = Namer([*parameters, forward, backward])
    value, saved, seed = namer.fresh("value"), namer.fresh("saved"), namer.fresh("seed")
    text = (
        f"def {name}({', '.join([*parameters, seed])}):\n"
        f"    {value}, {saved} = {forward}({', '.join(parameters)})\n"
        + (f"    {value} = __srcgrad_private__({value})\n" if stores else "")
        + f"    return {value}, {backward}({saved}, __srcgrad_or_zeros__({seed}, {value}))\n"
    )
    return definition(text, _RUNTIME)


def pullback(
    name: str, parameters: Sequence[str], forward: str, backward: str, pull: str
) -> tuple[gast.FunctionDef, gast.FunctionDef]:
    """The value of a function and its pullback, as a value; and what that calls."""
    namer = Namer([*parameters, forward, backward, pull])
    value, saved = namer.fresh("value"), namer.fresh("saved")
    text = (
        f"def {name}({', '.join(parameters)}):\n"
        f"    {value}, {saved} = {forward}({', '.join(parameters)})\n"
        f"    return {value}, __srcgrad_closure__({pull}, '', {saved})\n"
    )
    pulled = f"def {pull}(value_bar, *, saved):\n    return {backward}(saved, value_bar)\n"
    return definition(text, _RUNTIME), definition(pulled, {}, "adjoint")


def attempt_forward(
    name: str, inner: str, parameters: Sequence[str], active: Sequence[bool], guarded: Guarded, modes: Modes = PLAIN
) -> gast.FunctionDef:
    """Where it raised, what is kept are the arguments that want zeros; those that come with shadows want none."""
    namer = Namer([*parameters, inner])
    outcome, raised, value, saved = (namer.fresh(n) for n in ("outcome", "raised", "value", "saved"))
    with_shadow = modes.shadowed(parameters)
    passed = [n for p in parameters for n in ((p, namer.fresh(f"{p}_bar")) if p in with_shadow else (p,))]
    moving = (p for p, moves in zip(parameters, active, strict=True) if moves and p not in with_shadow)
    wanted = "".join(f"{p}, " for p in moving)
    value_bar, none_bar, some_bar = "", "", ""
    if modes.result:
        bar = namer.fresh("value_bar")
        value_bar, none_bar, some_bar = f"{bar}, ", "(None, None), ", f"({bar}, None), "
    text = (
        f"def {name}({', '.join(passed)}):\n"
        f"    {outcome}, {raised} = {_attempt(inner, passed, guarded)}\n"
        f"    if {raised} is not None:\n"
        f"        return (None, {raised}), {none_bar}(False, ({wanted}))\n"
        f"    {value}, {value_bar}{saved} = {outcome}\n"
        f"    return ({value}, None), {some_bar}(True, {saved})\n"
    )
    return definition(text, _guarding(guarded))


def attempt_backward(name: str, inner: str, count: int, modes: Modes = PLAIN) -> gast.FunctionDef:
    """``count`` arguments get an adjoint; a result that goes out with its shadow has no seed."""
    zeros = ", ".join(f"__srcgrad_zeros_like__(kept[{j}])" for j in range(count)) or "None"
    seed, seeds = ("", "") if modes.result else (", value_bar=1.0", ", value_bar[0]")
    text = (
        f"def {name}(saved{seed}):\n"
        "    done, kept = saved\n"
        "    if not done:\n"
        f"        return {zeros}\n"
        f"    return {inner}(kept{seeds})\n"
    )
    return definition(text, _RUNTIME, "adjoint")


def attempt_tangent(
    name: str, inner: str, parameters: Sequence[str], active: Sequence[bool], guarded: Guarded
) -> gast.FunctionDef:
    namer = Namer([*parameters, inner])
    every = [*parameters, *(namer.fresh(f"{p}_dot") for p, moves in zip(parameters, active, strict=True) if moves)]
    outcome, raised, value, dot = (namer.fresh(n) for n in ("outcome", "raised", "value", "value_dot"))
    text = (
        f"def {name}({', '.join(every)}):\n"
        f"    {outcome}, {raised} = {_attempt(inner, every, guarded)}\n"
        f"    if {raised} is not None:\n"
        f"        return (None, {raised}), (None, None)\n"
        f"    {value}, {dot} = {outcome}\n"
        f"    return ({value}, None), ({dot}, None)\n"
    )
    return definition(text, _guarding(guarded), "tangent")


def attempt_primal(name: str, inner: str, parameters: Sequence[str], guarded: Guarded) -> gast.FunctionDef:
    text = f"def {name}({', '.join(parameters)}):\n    return {_attempt(inner, parameters, guarded)}\n"
    return definition(text, _guarding(guarded))


def _attempt(inner: str, passed: Sequence[str], guarded: Guarded) -> str:
    caught = "".join(f"__srcgrad_caught{j}__, " for j in range(len(guarded.caught)))
    return f"__srcgrad_{guarded.by}__({', '.join([inner, f'({caught})', *passed])})"


def _guarding(guarded: Guarded) -> dict[str, GlobalBinding]:
    """What the text of an attempt names; a function that is no part of this module by its own name."""
    made = {f"caught{j}": importable(kind.__name__, kind) for j, kind in enumerate(guarded.caught)}
    if isinstance(guarded.function, FunctionType):
        made["function"] = importable(guarded.function.__name__, guarded.function)
    return {**_RUNTIME, **made}


def _spelling(half: gast.expr) -> str:
    assert isinstance(half, gast.Name)
    return str(half.id)


class Emitting(TextsHeld, Repeating, Protocol):
    """What a module of emitted functions provides for functions that are values and derivatives of derivatives."""

    tried: bool
    repeats: bool
    repeated: bool
    generic: bool
    changes_saved: bool  # whether a backward half takes back what its forward half stored
    apart: dict[str, Returning]  # what hands its results out, where nobody copies them

    def summary_of(self, callee: Callee, facts: tuple[Fact, ...]) -> Summary: ...

    def primal(self, callee: Callee) -> gast.expr | None: ...

    def pair(
        self, callee: Callee, active: tuple[bool, ...], facts: tuple[Fact, ...], modes: Modes = PLAIN
    ) -> tuple[gast.expr, gast.expr]: ...

    def tangent(self, callee: Callee, active: tuple[bool, ...], facts: tuple[Fact, ...]) -> gast.expr: ...

    def split(
        self,
        callee: Callee,
        wanted: tuple[str, ...],
        facts: tuple[Fact, ...],
        forward: str,
        backward: str,
        *,
        tupled: bool = False,
        door: bool = False,
    ) -> None: ...

    def program(
        self, callee: Callee, wanted: tuple[str, ...], facts: tuple[Fact, ...], *, door: bool = False
    ) -> AdjointProgram: ...


def made_pair(
    module: Emitting,
    callee: Callee,
    active: tuple[bool, ...],
    facts: tuple[Fact, ...],
    modes: Modes,
    names: tuple[str, str],
) -> bool:
    """Write the halves of a callee that is no function with a text of its own; whether it is such a one."""
    match callee.function:
        case Guarded() as guarded:
            _attempt_pair(module, callee, guarded, active, facts, modes, names)
            return True
        case Checkpointed() as loop:
            module.repeated = True
            halves = loop_pair(module, loop, callee, active, facts, modes, names, _repeated())
            _later(module, *(placed(half, module.normalized(callee).span) for half in halves))
            return True
        case FunctionType() as function if module.repeats and is_run_again(callee):
            module.repeated = True
            is_plain = _takes(function, module.normalized(callee).parameters)
            own = module.primal(callee) if is_plain else module.copied(callee)
            spelled = "__srcgrad_function__" if own is None else _spelling(own)
            halves = repeated_pair(module, callee, active, facts, modes, names, spelled, _repeated(function))
            _later(module, *(placed(half, module.normalized(callee).span) for half in halves))
            return True
    return False


def made_tangent(
    module: Emitting, callee: Callee, active: tuple[bool, ...], facts: tuple[Fact, ...], name: str
) -> bool:
    match callee.function:
        case Guarded() as guarded:
            _attempt_tangent(module, callee, guarded, active, facts, name)
            return True
    return False


def made_primal(module: Emitting, callee: Callee, name: str) -> bool:
    match callee.function:
        case Guarded() as guarded:
            _attempt_primal(module, callee, guarded, name)
            return True
    return False


def _takes(function: FunctionType, parameters: tuple[str, ...]) -> bool:
    """Whether a function takes these parameters by position: no others by keyword, and none as they come."""
    code = function.__code__
    is_plain = not code.co_kwonlyargcount and not code.co_flags & (CO_VARARGS | CO_VARKEYWORDS)
    return is_plain and code.co_varnames[: code.co_argcount] == parameters


def _repeated(function: FunctionType | None = None) -> Define:
    """How the text of what is run again is made, which calls a function that is no part of this module by its name."""
    own = {} if function is None else {"function": importable(function.__name__, function)}
    return lambda text, role: definition(text, {**REPEATING, **own}, role)


def _later(module: Emitting, *made: gast.FunctionDef) -> None:
    """The entry of a module stands first."""
    module.pending.append(lambda: module.functions.extend(made))


def _attempt_pair(
    module: Emitting,
    callee: Callee,
    guarded: Guarded,
    active: tuple[bool, ...],
    facts: tuple[Fact, ...],
    modes: Modes,
    names: tuple[str, str],
) -> None:
    module.tried = True
    forward, backward = (_spelling(half) for half in module.pair(unguarded(callee), active, facts, modes))
    parameters = module.normalized(callee).parameters
    if module.summary_of(callee, facts).stored:
        midway = stores_midway(module.normalized(callee))
        guarded = replace(guarded, by="attempt_whole" if midway else "attempt_store")
    by_value = sum(a and p not in modes.shadowed(parameters) for a, p in zip(active, parameters, strict=True))
    _later(module, attempt_forward(names[0], forward, parameters, active, guarded, modes))
    _later(module, attempt_backward(names[1], backward, by_value, modes))


def _attempt_tangent(
    module: Emitting, callee: Callee, guarded: Guarded, active: tuple[bool, ...], facts: tuple[Fact, ...], name: str
) -> None:
    module.tried = True
    inner = _spelling(module.tangent(unguarded(callee), active, facts))
    if guarded.by == "attempt" and module.summary_of(callee, facts).stored:
        guarded = replace(guarded, by="attempt_store")
    _later(module, attempt_tangent(name, inner, module.normalized(callee).parameters, active, guarded))


def _attempt_primal(module: Emitting, callee: Callee, guarded: Guarded, name: str) -> None:
    module.tried = True
    inner = module.primal(unguarded(callee))
    spelled = "__srcgrad_function__" if inner is None else _spelling(inner)
    unknown = tuple(Unknown() for _ in module.normalized(callee).parameters)
    if inner is not None and guarded.by == "attempt" and module.summary_of(callee, unknown).stored:
        guarded = replace(guarded, by="attempt_store")
    _later(module, attempt_primal(name, spelled, module.normalized(callee).parameters, guarded))


def keep_apart(module: Emitting, halves: Iterable[str]) -> None:
    """Let no results that are handed out share memory; ``halves``: the backward functions of this module."""
    if not module.generic:  # called through the interface alone, which copies
        return
    names = set(halves)
    sweeps = Sweeps(function for function in module.functions if function.name in names)
    for function in module.functions:
        if function.name in module.apart:
            keep_results_apart(function, module.apart[function.name], sweeps)


def nested(
    module: Emitting, callee: Callee, mode: str, wanted: tuple[str, ...], facts: tuple[Fact, ...], *, tupled: bool
) -> str:
    """A derivative that is differentiated itself: the entry stands first, its halves follow if it has to have some.

    One function is better where one will do: there it is seen name by name what varies in its reverse sweep.
    """
    of = stem(callee)
    is_seeded = mode in ("nested split", "nested pulled", "nested linear")
    if not is_seeded:
        program = module.program(callee, wanted, facts, door=True)
        if program.has_single_return and program.shadows is None:
            with_value = mode == "nested value"
            entry = module.namer.fresh(f"{'value_and_' if with_value else ''}grad_{of}")
            made = program.joint(entry, with_value=with_value, tupled=tupled, of=of)
            module.add(made, program.temporaries, program.data)
            module.apart[entry] = Returning(beside=with_value)
            return entry
    forward, backward = module.namer.fresh(f"{of}_fwd"), module.namer.fresh(f"{of}_bwd")
    parameters = module.normalized(callee).parameters
    if mode == "nested split":
        entry = module.namer.fresh(f"vjp_{of}")
        module.functions += pullback(entry, parameters, forward, backward, module.namer.fresh("pullback"))
    elif mode == "nested pulled":
        entry = module.namer.fresh(f"pulled_{of}")
        module.functions.append(pulled(entry, parameters, forward, backward))
    elif mode == "nested linear":
        entry = module.namer.fresh(f"linear_{of}")
        first = len(module.functions)
    else:
        with_value = mode == "nested value"
        entry = module.namer.fresh(f"{'value_and_' if with_value else ''}grad_{of}")
        module.functions.append(gradient(entry, of, parameters, forward, backward, with_value=with_value))
    module.split(callee, wanted, facts, forward, backward, tupled=tupled, door=True)
    if mode == "nested linear":
        stores = module.changes_saved
        module.functions.insert(first, linear(entry, parameters, forward, backward, stores=stores))
    made = {function.name: function.args for function in module.functions}
    seed = None if is_seeded else made[backward].args[-1].id
    module.apart[backward] = Returning(seed=seed, is_sweep=True)
    if mode not in ("nested pulled", "nested linear"):  # which are called with all arguments, and a seed behind them
        made[entry].defaults = [clone(default) for default in made[forward].defaults]
    return entry
