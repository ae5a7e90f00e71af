"""Blocks and regions on abstract values: branches that the values decide, loops to their fixed points, every way out.

Enters: a block, the frame that holds its operands, the heap.  Leaves: ``Ways``, how the block may be left::

    s = 0.0                            s: 0.0
    for v in x:                        v: float64
        s = s + v                      s: 0.0 | float64, in every round
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import _GeneratorContextManager
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.infer import exceptions
from srcgrad.infer.arithmetic import is_single
from srcgrad.infer.builtin import answer_of
from srcgrad.infer.dispatch import truth_by_methods
from srcgrad.infer.frames import Frame, Way, Ways, merged
from srcgrad.infer.generators import is_left_by_exceptions, may_resume, ran_around
from srcgrad.infer.heap import Heap, Site
from srcgrad.infer.objects import (
    class_of,
    data,
    is_method,
    is_plain,
    looked_up,
    of_each,
    truth,
)
from srcgrad.infer.operations import run
from srcgrad.infer.values import ANY, SCALARS, At, Atom, Exact, Value, at, exact, union, widened
from srcgrad.ir import operations as ir
from srcgrad.ir.regions import (
    Assign,
    Block,
    Break,
    Continue,
    Fall,
    If,
    Loop,
    Raise,
    Return,
    Statement,
    Try,
    With,
    walk,
)
from srcgrad.ir.restoring.pending import uses_of
from srcgrad.language.models import PASSING
from srcgrad.runtime import StopsGradients
from srcgrad.runtime.doors import Leaving

if TYPE_CHECKING:
    from srcgrad.infer.interpreter import Analysis

_ROUNDS = 12  # of a loop, after which it is given up: everything that it binds may be anything
_EXACT = 3  # of which constants are kept apart


def run_block(analysis: Analysis, frame: Frame, block: Block, heap: Heap) -> Ways:
    """Run a block; what tests in it tell of versions holds to its end."""
    analysis.spend(len(block.statements))
    before: dict[ir.Version, Value] = {}
    ways = _run(analysis, frame, block, heap, before)
    frame.values.update(before)
    return ways


def _run(analysis: Analysis, frame: Frame, block: Block, heap: Heap, before: dict[ir.Version, Value]) -> Ways:
    """Run the statements of a block; ``before`` gets what versions were that are narrowed in it."""
    ways = Ways()
    for statement in block.statements:
        analysis.facts.reached.add(statement)
        frame.reached.add(statement)
        if isinstance(statement, Assign):
            frame.may_raise(heap)
            if frame.raised is not None:
                analysis.carried.update(exceptions.held_by(frame, statement.operation))
            around, analysis.at = analysis.at, (frame, statement)
            made = run(analysis, frame, statement, heap)
            analysis.at = around
            if made is None or statement in analysis.facts.stops:
                return ways
            values, heap = made
            frame.may_raise(heap)  # an exception may come after what the operation changes
            frame.bind_all(statement.targets, values)
            frame.made.update((target, statement.operation) for target in statement.targets)
            analysis.facts.note_heap(heap)
            continue
        around, analysis.at = analysis.at, None
        inner = _REGIONS[type(statement)](analysis, frame, statement, heap)
        analysis.at = around
        ways.take(inner)
        if inner.fell is None:
            return ways
        heap = inner.fell[1]
        for version, narrow in inner.narrowed.items():
            before.setdefault(version, frame.values[version])
            frame.values[version] = narrow
    match block.exit:
        case Fall(values=left):
            ways.fell = frame.all(left), heap
        case Break(values=left):
            ways.broke.append((frame.all(left), heap))
        case Continue(values=left):
            ways.continued.append((frame.all(left), heap))
        case Return(value=value):
            ways.returned.append(((frame[value],), heap))
        case Raise(exception=exception, cause=cause):
            given = [frame[part] for part in (exception, cause) if part is not None]
            frame.may_raise(exceptions.raised(analysis, frame, given, heap))
    return ways


def special(
    analysis: Analysis, frame: Frame, statement: Statement, value: Value, name: str, given: tuple[Value, ...],
    heap: Heap,
) -> tuple[Value, Heap] | None:  # fmt: skip
    """A method that Python looks up on the class: the user's, or unknown code."""
    kinds = {atom.site.kind if isinstance(atom, At) else None for atom in value.atoms}
    if len(kinds) > 1 and not value.is_any:
        return of_each(value, heap, lambda atom, heap: special(
            analysis, frame, statement, Value(frozenset((atom,))), name, given, heap))  # fmt: skip
    if len(kinds) == 1 and not value.is_any:
        (kind,) = kinds
        if kind is np.errstate or isinstance(kind, type) and issubclass(kind, StopsGradients):
            return exact(None), heap
        method = None if kind is None else looked_up(kind, name)
        if is_method(method):
            return analysis.call(frame, statement, exact(method), (value, *given), heap)
    # It runs nothing of the user's, but methods of an exception of which nothing is known: these reach what was seen.
    if kinds == {None} and not value.is_any and (name == "__exit__" or not any(each.is_any for each in given)):
        frame.may_raise(heap)
        held = union(value, *(heap[atom.site].items for atom in value.atoms if isinstance(atom, At)))
        return data(frame, statement, heap, held, part=name)
    frame.may_raise(heap)
    return ANY, analysis.unknown([value, *given], heap)


def _if(analysis: Analysis, frame: Frame, statement: If, heap: Heap) -> Ways:
    ways, fell = Ways(), list[Way | None]()
    around, analysis.at = analysis.at, (frame, statement)
    tested = truth_by_methods(analysis, frame, statement, frame[statement.test], heap)
    analysis.at = around
    if tested is None:
        return ways
    decided, heap = tested
    frame.may_raise(heap)
    narrowed: list[dict[ir.Version, Value]] = []
    for holds, block in ((True, statement.body), (False, statement.orelse)):
        if holds in decided:
            narrow = narrowing(analysis, frame, statement.test, holds, heap)
            before = {version: frame.values[version] for version in narrow}
            frame.values.update(narrow)
            inner = run_block(analysis, frame, block, heap)
            frame.values.update(before)
            ways.take(inner)
            fell.append(inner.fell)
            if inner.fell is not None:
                narrowed.append(narrow)
    if len(narrowed) == 1:  # what follows is behind that block alone
        ways.narrowed = narrowed[0]
    ways.fell = merged(fell)
    if ways.fell is not None:
        frame.bind_all(statement.targets, ways.fell[0])
    return ways


def narrowing(analysis: Analysis, frame: Frame, test: ir.Operand, holds: bool, heap: Heap) -> dict[ir.Version, Value]:
    """What versions may be where a test holds, or does not: of ``is`` with a constant, ``==`` with a text, and of what
    asks for classes and attributes."""
    match frame.made.get(test) if isinstance(test, ir.Version) else None:
        case ir.Operator(symbol="bool" | "not" as symbol, operands=(inner,)):
            return narrowing(analysis, frame, inner, holds is (symbol == "bool"), heap)
        case ir.Copy(source=source):  # of a version, which is never bound again
            return narrowing(analysis, frame, source, holds, heap)
        case ir.Compare(symbol="is" | "is not" as symbol, left=ir.Version() as tested, right=right):
            value, constant = frame[tested], frame[right]
            if len(constant.atoms) != 1 or not is_single(next(iter(constant.atoms))):
                return {}
            if holds is (symbol == "is"):
                return {tested: constant}
            return {tested: Value(value.atoms - constant.atoms, value.is_any)}
        case ir.Compare(symbol="==" | "!=" as symbol, left=ir.Version() as tested, right=ir.Literal(value=str(text))):
            value, is_equal = frame[tested], holds is (symbol == "==")
            kept = frozenset(atom for atom in value.atoms if _equals(atom, text) in (None, is_equal))
            return {tested: Value(kept, value.is_any)}
        case ir.Call(
            function=function, positional=(ir.Version() as tested, *others), keywords=(), star=None, rest=None
        ):
            asked, value = frame[function], frame[tested]
            (one,) = asked.atoms if len(asked.atoms) == 1 and not asked.is_any else (None,)
            given, called = tuple(map(frame.__getitem__, others)), getattr(one, "value", None)
            answers = {atom: answer_of(analysis, called, atom, given, heap) for atom in value.atoms}
            if set(answers.values()) != {None}:
                kept = frozenset(atom for atom, answer in answers.items() if answer in (None, holds))
                return {tested: Value(kept, value.is_any)}
    return {}


def _equals(atom: Atom, text: str) -> bool | None:
    """Whether what an atom stands for equals a text; None where that is not known."""
    if isinstance(atom, Exact) and type(atom.value) in SCALARS:
        return bool(atom.value == text)
    return False if isinstance(atom, At) and atom.site.kind in (tuple, list, dict) else None


def _loop(analysis: Analysis, frame: Frame, statement: Loop, heap: Heap) -> Ways:
    """Rounds, until what holds at the head of one holds at the head of the next."""
    values = frame.all(statement.initial)
    for count in range(_ROUNDS + 1):
        frame.bind_all(statement.heads, values)
        inner = run_block(analysis, frame, statement.body, heap)
        after = merged([(values, heap), *inner.continued])
        assert after is not None
        more = after[0] if count < _EXACT else tuple(map(widened, after[0]))
        if all(new <= old for new, old in zip(more, values, strict=True)) and after[1] <= heap:
            break
        values, heap = more, after[1]
        if count == _ROUNDS - 1:  # given up
            heap = analysis.unknown([*values, *map(at, heap)], heap)
            values = tuple(ANY for _ in values)
    ways = Ways()
    ways.take(inner, loop=True)
    ways.fell = merged(inner.broke)
    if ways.fell is not None:
        frame.bind_all(statement.targets, ways.fell[0])
        ways.fell = (), ways.fell[1]
    return ways


def _try(analysis: Analysis, frame: Frame, statement: Try, heap: Heap) -> Ways:
    outer, frame.raised = frame.raised, [heap]
    inner = run_block(analysis, frame, statement.body, heap)
    is_followed = outer is not None or statement.final.statements or not isinstance(statement.final.exit, Fall)
    raised, frame.raised = frame.raised, [] if is_followed else None
    fell = list[Way | None]()
    if inner.fell is not None:
        after = run_block(analysis, frame, statement.orelse, inner.fell[1])
        inner.take(after)
        fell.append(after.fell)
    caught = raised[0]
    for other in raised[1:]:
        caught = caught.join(other)
    for handler in statement.handlers:
        frame.bind(handler.caught, ANY)
        if handler.kinds is not None:
            kinds = run_block(analysis, frame, handler.kinds, caught)
            caught = caught if kinds.fell is None else kinds.fell[1]
            analysis.local_classes.catch(caught, () if kinds.fell is None else kinds.fell[0])
        bound, caught = exceptions.caught(analysis, frame, statement, handler, caught)
        frame.bind(handler.caught, bound)
        after = run_block(analysis, frame, handler.body, caught)
        inner.take(after)
        fell.append(after.fell)
    escaped = [caught, *(frame.raised or ())]
    frame.raised = outer
    return _finally(analysis, frame, statement, inner, merged(fell), escaped)


def _finally(
    analysis: Analysis, frame: Frame, statement: Try, inner: Ways, fell: Way | None, escaped: list[Heap]
) -> Ways:
    """The last block runs on every way out."""
    ways = Ways()

    def last(heap: Heap) -> Heap | None:
        after = run_block(analysis, frame, statement.final, heap)
        ways.take(after)
        return None if after.fell is None else after.fell[1]

    for left, kept in (
        (inner.returned, ways.returned), (inner.broke, ways.broke), (inner.continued, ways.continued),
    ):  # fmt: skip
        for values, heap in left:
            after = last(heap)
            if after is not None:
                kept.append((values, after))
    if fell is not None:
        after = last(fell[1])
        ways.fell = None if after is None else (fell[0], after)
    heap = escaped[0]
    for other in escaped[1:]:
        heap = heap.join(other)
    if (after := last(heap)) is not None:
        frame.may_raise(after)
    return ways


def _is_passed(analysis: Analysis, atom: Atom, heap: Heap) -> bool:
    """Whether an exception leaves a context manager, which runs nothing: one of a generator that catches nothing, or
    ``np.errstate``."""
    if class_of(atom) is np.errstate:
        return True
    if not isinstance(atom, At) or atom.site.kind is not _GeneratorContextManager or heap.is_seen(atom.site):
        return False
    held = heap[atom.site].get("gen")
    sites = [one.site for one in held.atoms if isinstance(one, At)]
    return not held.is_any and len(sites) == len(held.atoms) > 0 and all(
        is_left_by_exceptions(analysis, site, heap) for site in sites
    )  # fmt: skip


def _generator_of(manager: Value, heap: Heap) -> Site | None:
    """The generator of a manager of ``contextlib``'s, where it is one alone."""
    found = [atom.site if isinstance(atom, At) else None for atom in manager.atoms]
    site = found[0] if len(found) == 1 and not manager.is_any else None
    if site is None or site.kind is not _GeneratorContextManager or heap.is_seen(site):
        return None
    held = heap[site].get("gen")
    inner = [atom.site if isinstance(atom, At) else None for atom in held.atoms]
    return inner[0] if len(inner) == 1 and not held.is_any else None


def _told(manager: Value, heap: Heap) -> Value:
    """The managers whose methods get what is raised: in place of what only leaves another one, that one."""
    leaving = [atom for atom in manager.atoms if isinstance(atom, At) and atom.site.kind is Leaving]
    rest = replace(manager, atoms=manager.atoms - frozenset(leaving))
    return union(rest, *(heap[atom.site].get("manager") for atom in leaving))


def _ignores_exceptions(analysis: Analysis, kind: type | None) -> bool:
    """Whether a context manager of the user's reads nothing that it is given where it is left, and calls nothing."""
    method = None if kind is None else looked_up(kind, "__exit__")
    function = analysis.lowered(method) if isinstance(method, FunctionType) else None
    if function is None or not is_method(method):
        return False
    statements = [statement for _, statement in walk(function.body)]
    if any(isinstance(s, With | Try) or isinstance(s, Assign) and isinstance(s.operation, ir.Call) for s in statements):
        return False
    _, *given = function.parameters
    uses = uses_of(function)
    return not any(uses[version] for version in given)


def _with(analysis: Analysis, frame: Frame, statement: With, heap: Heap) -> Ways:
    """The methods of a context manager run around a block; that at its end may end an exception."""
    manager = frame[statement.manager]
    site = _generator_of(manager, heap)
    if site in analysis.generators and may_resume(analysis, frame, site, heap):
        def run_inside(given: Value, heap: Heap) -> Ways:
            frame.bind(statement.entered, given)
            return run_block(analysis, frame, statement.body, heap)

        return ran_around(analysis, frame, site, heap, run_inside)
    entered = special(analysis, frame, statement, manager, "__enter__", (), heap)
    if entered is None:
        return Ways()
    frame.bind(statement.entered, entered[0])
    outer, frame.raised = frame.raised, [entered[1]]
    inner = run_block(analysis, frame, statement.body, entered[1])
    raised, frame.raised = frame.raised, outer

    def leave(values: tuple[Value, ...], heap: Heap, given: Value) -> Way | None:
        left = special(analysis, frame, statement, manager, "__exit__", (given,) * 3, heap)
        return None if left is None else (values, left[1])

    ways = Ways()
    for left, kept in (
        (inner.returned, ways.returned), (inner.broke, ways.broke), (inner.continued, ways.continued),
    ):  # fmt: skip
        for values, heap in left:
            way = leave(values, heap, exact(None))
            if way is not None:
                kept.append(way)
    thrown = raised[0]
    for other in raised[1:]:
        thrown = thrown.join(other)
    is_passed = not manager.is_any and all(_is_passed(analysis, atom, thrown) for atom in manager.atoms)
    told = _told(manager, thrown)
    is_passing = not told.is_any and all(
        class_of(atom) in PASSING or _ignores_exceptions(analysis, class_of(atom)) for atom in told.atoms
    )
    if not is_passed and not is_passing and not is_plain(analysis, thrown, manager):
        # its method gets the exception, and what that holds
        thrown = analysis.unknown(list(analysis.carried), thrown)
    answer: Way | Any = (exact(False), thrown)
    if not is_passed:
        answer = special(analysis, frame, statement, manager, "__exit__", (ANY,) * 3, thrown)
    ended: Way | None = None
    if answer is not None:
        frame.may_raise(answer[1])
        tested = truth(analysis, frame, *answer)
        ended = None if tested is None or True not in tested[0] else ((), tested[1])
    ways.fell = merged([None if inner.fell is None else leave(inner.fell[0], inner.fell[1], exact(None)), ended])
    return ways


_REGIONS: dict[type[Statement], Callable[[Analysis, Frame, Any, Heap], Ways]] = {
    If: _if,
    Loop: _loop,
    Try: _try,
    With: _with,
}
