"""What a worker does: it keeps programs and steps by their addresses, and runs shards.

Enters: a ``Task``.  Leaves: an ``Outcome``, whatever happens; an exception of a shard is a ``Failure`` in it.  The
compiler is not imported, unless a program calls functions that are known only when it runs.
"""

from __future__ import annotations

import os
import pickle
import platform
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from srcgrad.api.arguments import is_static, kind_of
from srcgrad.api.holomorphic import require_one_number
from srcgrad.api.transforms import seeds_between
from srcgrad.parallel.deadline import Expired, within
from srcgrad.parallel.environment import environment, use_one_thread
from srcgrad.parallel.errors import Failure, SendingError, ShardTimeout, failure_of
from srcgrad.parallel.layout import laid_out
from srcgrad.parallel.pickling import dumps
from srcgrad.parallel.program import Program
from srcgrad.parallel.references import Sealed
from srcgrad.parallel.shards import Shards, loaded
from srcgrad.parallel.step import Outcome, Programs, Step
from srcgrad.parallel.structure import times
from srcgrad.parallel.tree import Block, Forest
from srcgrad.runtime import as_cotangent
from srcgrad.runtime.isolation import without_factories
from srcgrad.runtime.objects import is_object, mapped
from srcgrad.runtime.shadows import cloned


class Recent:
    """The last values by their addresses, made where they are not there; a worker's only state."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._lock = threading.Lock()
        self._values: OrderedDict[object, Any] = OrderedDict()

    def get(self, address: object, make: Callable[[], Any]) -> Any:
        with self._lock:
            if address not in self._values:
                self._values[address] = make()
                while len(self._values) > self._count:
                    self._values.popitem(last=False)
            self._values.move_to_end(address)
            return self._values[address]

    def find(self, address: object, make: Callable[[], Any] | None) -> Any:
        """The value of an address: kept, or made; None where neither is possible."""
        with self._lock:
            found = self._values.get(address)
        return self.get(address, make) if found is None and make is not None else found


_codes = Recent(256)
_programs = Recent(32)
_prepared = Recent(2)  # each holds arguments, and the next call brings others


class Runner:
    """A program with its functions, for one step."""

    def __init__(self, program: Program, step: Step, outside: Mapping[str, Any]) -> None:
        self.program = program
        self.dots = list(step.dots)
        code = _codes.get(program.address, program.code)
        self.entry, self.backward = program.functions(code, outside)

    def __call__(self, values: tuple[Any, ...]) -> Any:
        program = self.program
        arguments = without_factories(tuple(value for value in values if not is_static(value)))
        if program.mode == "forward":
            value, tangent = self.entry(*arguments, *seeds_between(self.entry, arguments, self.dots), *self.dots)
            return value, as_cotangent(tangent, value)
        if program.mode == "slope":
            _, raw = self.entry(*arguments, *seeds_between(self.entry, arguments, self.dots), *self.dots)
            return program.wanted.fitted(raw, values, shared=True)
        if self.backward is None:
            return self._joint(arguments, values)
        return self._pair(arguments, values)

    def _joint(self, arguments: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        outcome = self.entry(*arguments)
        shared = self.program.reads_arrays
        if self.program.mode == "reverse":
            return self.program.wanted.fitted(outcome, values, shared=shared)
        value, raw = outcome
        require_one_number(value, self.program.function)
        return value, self.program.wanted.fitted(raw, values, shared=shared or isinstance(value, np.ndarray))

    def _pair(self, arguments: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        """Where types do not prove the result to be one number it is looked at before it is seeded."""
        assert self.backward is not None
        value, saved = self.entry(*arguments)
        require_one_number(value, self.program.function)
        raw = self.backward(cloned(saved, keys=True) if self.program.changes_saved else saved, 1.0)
        gradient = self.program.wanted.fitted(raw, values, shared=True)
        return gradient if self.program.mode == "reverse" else (value, gradient)


class Prepared:
    """A step with its programs, each made into functions at the first shard of its kind."""

    def __init__(self, programs: Programs, step: Step) -> None:
        values, dots, outside = laid_out((step.values, step.dots, step.outside))
        self.step = replace(step, values=values, dots=dots, outside=outside)
        self._programs = {kind: (program, outside[k]) for k, (kind, program) in enumerate(programs.items())}
        self._runners: dict[object, Runner] = {}

    def knows(self, shard: Any) -> bool:
        return self.step.function is not None or kind_of(shard) in self._programs

    def result(self, shard: Any) -> Any:
        if self.step.function is not None:
            return self.step.function(shard)
        kind = kind_of(shard)
        if kind not in self._runners:
            program, outside = self._programs[kind]
            self._runners[kind] = Runner(program, self.step, outside)
        return self._runners[kind](self.step.with_shard(shard))

    @property
    def lines(self) -> Mapping[str, Mapping[int, Any]]:
        return {one.program.filename: dict(one.program.lines) for one in self._runners.values()}


def run(
    prepared: Prepared,
    shards: Shards,
    read: Callable[[Any], Any] = lambda item: item,
    stopped: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Run neighbouring shards and combine their results; ``read`` makes a shard of what was sent."""
    step = prepared.step
    forest = Forest(step.combine)
    unmet: list[tuple[int, Any]] = []
    computing = loading = 0.0
    failure: Failure | None = None
    for number, item in enumerate(shards.items, shards.first):
        if stopped():
            break
        spent = [0.0, 0.0]
        try:
            one = within(step.timeout, lambda: _one(prepared, item, read, spent))  # noqa: B023 (called at once)
        except Expired:
            reason = f"shard {number} took longer than its time limit of {step.timeout:g} s"
            failure = Failure(number, reason, kind=ShardTimeout)
            break
        except SendingError as refused:
            failure = Failure(number, refused.reason, hint=refused.hint, kind=SendingError)
            break
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as raised:  # also what ends a program, or a coroutine
            failure = failure_of(number, raised, prepared.lines)
            break
        finally:
            loading += spent[0]
            computing += spent[1]
        if isinstance(one, Unmet):
            unmet.append((number, one.specimen))
            continue
        result, weight = one
        try:
            if shards.weights is not None:
                weight = shards.weights[number - shards.first]
            if weight is not None:
                result = times(result, weight)
            forest.add(Block(0, number, 1.0 if weight is None else weight, [result] if step.listed else result))
        except Exception as raised:
            failure = failure_of(number, raised, {})
            break
    return Outcome(
        forest.blocks,
        failure,
        tuple(unmet),
        environments=frozenset({(worker(), environment())}),
        computing=computing,
        loading=loading,
    )


@dataclass(frozen=True)
class Unmet:
    """A shard of a kind for which there is no program yet."""

    specimen: Any


def _one(
    prepared: Prepared, item: Any, read: Callable[[Any], Any], spent: list[float]
) -> Unmet | tuple[Any, float | None]:
    """The result of one shard and its weight; ``spent`` notes seconds of loading and of computing."""
    begin = time.perf_counter()
    shard = laid_out(loaded(read(item)) if prepared.step.loads else read(item))
    middle = time.perf_counter()
    spent[0] = middle - begin
    if not prepared.knows(shard):
        return Unmet(specimen(shard))
    result = prepared.result(shard)
    weight = None if prepared.step.weigh is None else float(prepared.step.weigh(shard))
    spent[1] = time.perf_counter() - middle
    return result, weight


def specimen(value: Any) -> Any:
    """A value of the same kind without its numbers: arrays are empty.  The client compiles for it."""
    if type(value) is np.ndarray and value.dtype.kind != "O":
        return np.zeros((0,) * value.ndim, value.dtype)
    if isinstance(value, tuple | list | deque):
        items = [specimen(item) for item in value]
        if isinstance(value, deque):
            return deque(items, value.maxlen)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items) if isinstance(value, tuple) else items
    if type(value) is dict:
        return {key: specimen(item) for key, item in value.items()}
    return mapped(value, specimen) if is_object(value) else value


def worker() -> str:
    """This worker's name: its machine and its process."""
    return f"{platform.node()}:{os.getpid()}"


# --- what arrives in bytes -------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Payload:
    """The programs and the step of a call, by their addresses; None where the worker should have them."""

    addresses: tuple[str, str]
    programs: Sealed | None
    step: Sealed | None

    def prepared(self) -> Prepared | tuple[str, ...]:
        """The step, ready to run; or the addresses of what is missing."""
        sealed, step = self.programs, self.step
        programs = _programs.find(self.addresses[0], None if sealed is None else lambda: sealed.opened())
        make = None if step is None or programs is None else lambda: Prepared(programs, step.opened())
        made: Prepared | None = _prepared.find(self.addresses, make)
        if made is not None:
            return made
        missing = zip(self.addresses, (programs, made), strict=True)
        return tuple(address for address, value in missing if value is None)


@dataclass(frozen=True)
class Task:
    """Shards for another process, each sealed by itself, so that what cannot be read is named.  ``by_value``: results
    may hold functions and classes that no module defines."""

    payload: Payload
    shards: Shards
    by_value: bool = False


def run_task(task: Task) -> bytes:
    """Run a task; an ``Outcome``, pickled."""
    use_one_thread()
    try:
        prepared = task.payload.prepared()
        if isinstance(prepared, Prepared):
            for item in task.shards.items:  # before any of them runs, which may change what others read
                item.compare()
            outcome = run(prepared, task.shards, _opened)
        else:
            outcome = Outcome(missing=prepared)
    except SendingError as refused:
        outcome = Outcome(failure=Failure(None, refused.reason, hint=refused.hint, kind=SendingError))
    except Exception as raised:  # what was sent cannot be read here
        failure = Failure(
            None, f"a worker cannot read what it was sent: {type(raised).__name__}: {raised}",
            hint="install on the workers what the client imports", kind=SendingError,
        )  # fmt: skip
        outcome = Outcome(failure=failure)
    try:
        return dumps(outcome, task.by_value)
    except Exception as raised:
        first, end = task.shards.first, task.shards.first + len(task.shards.items)
        which = f"shard {first}" if end - first == 1 else f"shards {first} to {end - 1}"
        reason = f"the result of {which} cannot be sent back: {type(raised).__name__}: {raised}"
        return pickle.dumps(Outcome(failure=Failure(first, reason, kind=SendingError)))


def _opened(item: Any) -> Any:
    """A shard of what was sent: what Dask holds comes as it is."""
    return item.opened() if isinstance(item, Sealed) else item


def merged(combine: Callable[[Any, Any], Any], outcomes: Sequence[Outcome]) -> Outcome:
    """Several outcomes as one."""
    forest = Forest(combine)
    whole = Outcome()
    for outcome in outcomes:
        forest.take(outcome.blocks)
        whole = replace(
            whole,
            failure=whole.failure or outcome.failure,
            unmet=(*whole.unmet, *outcome.unmet),
            environments=whole.environments | outcome.environments,
            computing=whole.computing + outcome.computing,
            loading=whole.loading + outcome.loading,
            received=whole.received + outcome.received,
        )
    return replace(whole, blocks=forest.blocks)


def pickled_outcome(pickled: bytes) -> Outcome:
    """An outcome as it came back, which notes its size."""
    outcome: Outcome = pickle.loads(pickled)
    return replace(outcome, received=len(pickled))


# --- what Dask runs --------------------------------------------------------------------------------------------------
def ready(payload: Payload) -> Prepared:
    """The step of a payload that holds all of it."""
    prepared = payload.prepared()
    assert isinstance(prepared, Prepared)
    return prepared


def pass_on(payload: Payload) -> Payload:
    """A payload as the result of a task."""
    return payload


def look_at(item: Any, loads: bool, number: int) -> Any:
    """A specimen of a shard that is loaded here."""
    try:
        shard = _opened(item)
        return specimen(loaded(shard) if loads else shard)
    except SendingError:
        raise
    except Exception as raised:
        raise failure_of(number, raised, {}).error() from raised


def run_shards(payload: Payload, first: int, items: Sequence[Any], weights: Sequence[float] | None) -> Outcome:
    """Run neighbouring shards; the outcome stays on this worker, what fails raises."""
    use_one_thread()
    outcome = run(ready(payload), Shards(first, items, weights), _opened)
    if outcome.failure is not None:
        raise outcome.failure.error()
    return outcome


def combine_outcomes(payload: Payload, outcomes: Sequence[Outcome]) -> Outcome:
    """Combine outcomes on this worker."""
    return merged(ready(payload).step.combine, outcomes)


def finish_outcomes(payload: Payload, outcomes: Sequence[Outcome], count: int) -> bytes:
    """Combine all outcomes as far as they go, to the whole if they are complete; pickled."""
    combine = ready(payload).step.combine
    outcome = merged(combine, outcomes)
    forest = Forest(combine)
    forest.take(outcome.blocks)
    if not forest.missing(count):
        outcome = replace(outcome, blocks=(), whole=forest.root(count))
    return dumps(outcome, by_value=True)
