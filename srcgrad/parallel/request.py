"""One call on the client: its arguments, the programs for the kinds of shards that it has met, and what is sent.

Enters: the derivative that is asked for, and the arguments.  Leaves: ``Step`` and programs, compiled here and nowhere
else: at the first shard of each kind, or of a specimen that a worker sends of a shard that only it can see.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

from srcgrad.api.arguments import is_static, kind_of
from srcgrad.errors import ArgumentError, SrcgradError
from srcgrad.parallel.errors import SendingError
from srcgrad.parallel.layout import snapshot
from srcgrad.parallel.pickling import dumps
from srcgrad.parallel.program import Program, program_of, sent_outside
from srcgrad.parallel.references import Seal, Sealed
from srcgrad.parallel.step import Step

if TYPE_CHECKING:
    from srcgrad.api.derivative import Derivative
    from srcgrad.programs import Compiled


class Empty:
    """What stands where the shard will be while arguments are bound."""


EMPTY = Empty()


class Compiles(Protocol):
    """A derivative with a program for arguments of given kinds: mode and program, and whose arguments it fits."""

    @property
    def derivative(self) -> Derivative: ...

    def compiled(self, values: tuple[Any, ...]) -> tuple[str, Compiled]: ...


@dataclass
class Request:
    """``base`` is the step without what depends on programs; ``version`` rises with each program."""

    compiles: Compiles | None  # None: a plain function is mapped
    base: Step
    version: int = 0
    call: str = field(default_factory=lambda: uuid.uuid4().hex)
    seal: Seal = field(default_factory=Seal)
    _made: dict[object, tuple[Program, Compiled]] = field(default_factory=dict)
    _snapshot: Callable[[Any], Any] = field(default=lambda value: value)

    @property
    def programs(self) -> dict[object, Program]:
        return {kind: program for kind, (program, _) in self._made.items()}

    def is_remote(self, item: Any) -> bool:
        """Whether a shard is loaded where it runs, so that its kind is not known here."""
        return self.base.loads and (callable(item) or isinstance(item, PathLike))

    def meet(self, shard: Any) -> None:
        """Compile for a shard, or a specimen of one, unless there is a program for its kind."""
        if self.compiles is None:
            return
        kind = kind_of(shard)
        if kind in self._made:
            return
        from srcgrad.programs import options, present_options

        values = self.base.with_shard(shard)
        if self.base.listed:
            self.compiles.derivative.check(values)  # it differentiates by the shard
        shards = self.compiles.derivative.parameters.names[self.base.place[0]]
        with options(varying=(*present_options().varying, shards), sizes=False):  # one program for all shards of a kind
            mode, compiled = self.compiles.compiled(values)
        self._made[kind] = program_of(self.compiles.derivative, compiled, mode), compiled
        self.version += 1

    def freeze(self) -> None:
        """Keep the arguments, the functions and what the programs read as they are: pulling shards may change them."""
        self._snapshot = snapshot()
        parts = ("values", "dots", "function", "weigh", "combine")
        self.base = replace(self.base, **{name: self._snapshot(getattr(self.base, name)) for name in parts})

    def step(self, read: Callable[[Compiled], Mapping[str, Any]]) -> Step:
        """The step; ``read`` gives what a program reads besides its arguments."""
        outside = [read(compiled) for _, compiled in self._made.values()]
        values = tuple(None if is_static(value) else value for value in self.base.values)  # those are compiled in
        return replace(self.base, values=values, outside=self._snapshot(outside), call=self.call)

    def sealed(self, by_value: bool) -> tuple[Sealed, Sealed]:
        """The programs and the step in bytes; ``SendingError`` names what cannot be pickled."""
        step = self.step(lambda compiled: sent_outside(compiled, by_value))
        try:
            return self.seal(self.programs, by_value), self.seal(step, by_value)
        except Exception as error:
            raise _named(step, self._parameters(), error, by_value) from error

    def sealed_shard(self, number: int, item: Any, by_value: bool) -> Sealed:
        """One shard in bytes."""
        try:
            return self.seal(item, by_value)
        except SendingError as refused:
            reason = f"shard {number} cannot be sent to a worker: {refused.reason}"
            raise SendingError(reason, hint=refused.hint) from refused
        except Exception as error:
            raise SendingError(
                f"shard {number} cannot be sent to a worker: {error}",
                hint="a function of a module can be sent, and functools.partial of one; so can arrays and plain data",
            ) from error

    def _parameters(self) -> tuple[str, ...]:
        if self.compiles is None:
            return ()
        names: tuple[str, ...] = self.compiles.derivative.parameters.names
        return names


_HINT = "Dask and loky take functions that no module defines; data that cannot be pickled work on threads alone"


def _named(step: Step, names: tuple[str, ...], error: Exception, by_value: bool) -> SendingError:
    """The error that says which part of a step cannot be sent."""
    parts: list[tuple[str, object]] = [(f"argument {n}", value) for n, value in zip(names, step.values, strict=False)]
    for outside in step.outside:
        parts += [(f"{name}, which the function reads,", value) for name, value in outside.items()]
    parts += [("the function", step.function), ("reduce", step.combine), ("weights", step.weigh)]
    for what, part in parts:
        try:
            dumps(part, by_value)
        except Exception as reason:
            return SendingError(f"{what} cannot be sent to a worker: {reason}", hint=_HINT)
    return error if isinstance(error, SendingError) else SendingError(f"the call cannot be sent to a worker: {error}")


def bound(derivative: Derivative, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Step:
    """The arguments of a call, one per parameter, with the shard left out; checked as a derivative checks them."""
    values = derivative.bind(args, kwargs)
    place = _place(values)
    position, inner = place
    if (derivative.parameters.names[position], inner) in derivative.chosen:
        raise ArgumentError(
            f"argnums names {derivative.parameters.names[position]}, the shard: its derivative would be one per shard",
            hint="srcgrad.parallel.map gives the results of all shards",
        )
    derivative.check(values)
    if inner is not None:
        items = values[position]
        values = (*values[:position], (*items[:inner], None, *items[inner + 1 :]), *values[position + 1 :])
    else:
        values = (*values[:position], None, *values[position + 1 :])
    return Step(values, place, (), _no_reduction)


def _no_reduction(left: Any, right: Any) -> Any:
    raise SrcgradError("no reduction was chosen")


def _place(values: tuple[Any, ...]) -> tuple[int, int | None]:
    for position, value in enumerate(values):
        if value is EMPTY:
            return position, None
        if isinstance(value, tuple):
            for inner, item in enumerate(value):
                if item is EMPTY:
                    return position, inner
    raise ArgumentError("a shard is passed as the second argument of the function, which takes no second one")


