"""Checkpoints (``torch.utils.checkpoint``): what a part of a program would save is computed again in the backward pass.

Two ways, as in PyTorch.  Without re-entering the engine, the part is recorded as usual while its saved tensors are
packed away as places in a list; the first one that is needed runs the function again, up to the last one that is.
With ``use_reentrant=True`` the part is one node whose backward runs the function and a backward pass of its own.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from srcgrad.eager import engine
from srcgrad.eager.autograd.function import Function
from srcgrad.eager.generators import default_generator
from srcgrad.eager.messages import CHECKPOINT
from srcgrad.eager.modes import enable_grad, state
from srcgrad.eager.saved import saved_tensors_hooks
from srcgrad.eager.tasks import current_task
from srcgrad.eager.tensor import Tensor

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]
_outside = itertools.count(-1, -1)  # numbers for what is asked for outside of any backward pass


class CheckpointError(RuntimeError):
    """The function did something else the second time."""


CheckpointError.__module__ = "torch.utils.checkpoint"


def noop_context_fn() -> Contexts:
    """No contexts for the forward pass and the recomputation."""
    return contextlib.nullcontext(), contextlib.nullcontext()


class _Settings:
    """What the module was told for all checkpoints to come."""

    early_stop: bool | None = None
    debug: bool | None = None


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether recomputation ends at the last tensor that is needed, whatever the checkpoints say."""
    before, _Settings.early_stop = _Settings.early_stop, enable
    try:
        yield
    finally:
        _Settings.early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Accepted for the sake of programs that have it; errors say the same with it and without."""
    before, _Settings.debug = _Settings.debug, enabled
    try:
        yield
    finally:
        _Settings.debug = before


@contextlib.contextmanager
def _random_state(of: Any) -> Iterator[None]:
    """The generator as it was, and afterwards as it is now."""
    if of is None:
        yield
        return
    now = default_generator.get_state()
    default_generator.set_state(of)
    try:
        yield
    finally:
        default_generator.set_state(now)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tensors outside of the graph that require grad where those given do."""
    made: list[Any] = []
    for one in inputs:
        if isinstance(one, Tensor):
            alias = one.detach()
            if one.requires_grad:
                alias.requires_grad_()
            made.append(alias)
        else:
            made.append(one)
    return tuple(made)


def check_backward_validity(inputs: Sequence[Any]) -> None:
    """Warn where no gradient can come of it."""
    if not any(isinstance(one, Tensor) and one.requires_grad for one in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=3)


# --- without re-entering ---------------------------------------------------------------------------------------------
class _Stop(Exception):
    """Everything that is needed has been recomputed."""


class _Place:
    """Stands for a saved tensor while it is not there."""

    __slots__ = ("__weakref__", "number")

    def __init__(self, number: int) -> None:
        self.number = number


def _facts(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


class _Frame:
    """One checkpointed call: how it is run again, and what it saved the first time."""

    def __init__(self, again: Callable[[], Any], early_stop: bool, check: bool) -> None:
        self.again = again
        self.early_stop = early_stop
        self.check = check
        self.places: list[weakref.ref[_Place]] = []
        self.facts: list[dict[str, Any]] = []
        self.found: dict[int, dict[int, Tensor]] = {}  # by the number of the backward pass, then by place

    def pack(self, tensor: Tensor) -> _Place:
        """Let go of a tensor."""
        place = _Place(len(self.places))
        self.places.append(weakref.ref(place))
        self.facts.append(_facts(tensor))
        return place

    def unpack(self, place: _Place) -> Tensor:
        """The tensor again, from a second run where there was none in this backward pass."""
        task = current_task()
        number = next(_outside) if task is None else task.number
        if place.number not in self.found.get(number, {}):
            self.found = {number: self._recomputed()}
        made = self.found[number].pop(place.number)
        if not self.found[number]:
            del self.found[number]
        return made

    def _recomputed(self) -> dict[int, Tensor]:
        made: dict[int, Tensor] = {}
        counted = 0
        last = max((i for i, place in enumerate(self.places) if place() is not None), default=-1)

        def keep(tensor: Tensor) -> Tensor:
            nonlocal counted
            place, counted = counted, counted + 1
            if place < len(self.places) and self.places[place]() is not None:
                made[place] = tensor.detach()
            if self.early_stop and place == last:
                raise _Stop
            return tensor

        with saved_tensors_hooks(keep, lambda tensor: tensor), contextlib.suppress(_Stop):
            self.again()
        self._compare(made, counted)
        return made

    def _compare(self, made: dict[int, Tensor], counted: int) -> None:
        expected = len(self.places)
        if counted != expected and not (self.early_stop and counted and len(made) == self._alive()):
            raise CheckpointError(CHECKPOINT["count"].format(forward=expected, again=counted) + CHECKPOINT["tip"])
        if not self.check:
            return
        different = [
            CHECKPOINT["tensor"].format(place=i, forward=self.facts[i], again=_facts(tensor))
            for i, tensor in sorted(made.items())
            if _facts(tensor) != self.facts[i]
        ]
        if different:
            raise CheckpointError(CHECKPOINT["facts"].format(tensors="\n".join(different)) + CHECKPOINT["tip"])

    def _alive(self) -> int:
        return sum(place() is not None for place in self.places)


def _recorded(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    preserve: bool,
    contexts: Contexts,
    early_stop: bool,
    check: bool,
) -> Any:
    if not state.recording:
        return function(*args, **kwargs)
    before = default_generator.get_state() if preserve else None
    forward, second = contexts

    def again() -> None:
        with _random_state(before), enable_grad(), second:
            function(*args, **kwargs)

    frame = _Frame(again, early_stop, check)
    with saved_tensors_hooks(frame.pack, frame.unpack), forward:
        return function(*args, **kwargs)


# --- as one node -----------------------------------------------------------------------------------------------------
class CheckpointFunction(Function):
    """The function as one node, run again by its backward."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
        """Run without recording; keep the arguments."""
        check_backward_validity(args)
        ctx.function = function
        ctx.random = default_generator.get_state() if preserve else None
        ctx.rest = tuple(None if isinstance(one, Tensor) else one for one in args)
        ctx.places = tuple(i for i, one in enumerate(args) if isinstance(one, Tensor))
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Run with recording, and go backward from what comes out."""
        task = current_task()
        if task is None or task.captures is not None:
            raise RuntimeError(CHECKPOINT["reentrant"])
        args = list(ctx.rest)
        for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[place] = tensor
        detached = detach_variable(tuple(args))
        with _random_state(ctx.random), enable_grad():
            outputs = ctx.function(*detached)
        several = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [
            (one, g)
            for one, g in zip(several, grads, strict=True)
            if isinstance(one, Tensor) and one.requires_grad and g is not None
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        engine.backward([one for one, _ in pairs], [g for _, g in pairs])
        return None, None, *(one.grad if isinstance(one, Tensor) else None for one in detached)


CheckpointFunction.__module__ = "torch.utils.checkpoint"


# --- the doors -------------------------------------------------------------------------------------------------------
def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, whose intermediate results are computed again for the backward pass.

    ``use_reentrant=False`` is the better choice: it takes keyword arguments and nested structures, and works with
    ``autograd.grad``.
    """
    if use_reentrant is None:
        warnings.warn(CHECKPOINT["explicit"], UserWarning, stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    stops = early_stop if _Settings.early_stop is None else _Settings.early_stop
    return _recorded(function, args, kwargs, preserve, context_fn(), stops, determinism_check == "default")


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """A chain of functions in ``segments`` parts, all but the last of them checkpointed."""
    if use_reentrant is None:
        warnings.warn(CHECKPOINT["explicit"], UserWarning, stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    chain = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(chain) // segments

    def part(start: int, stop: int) -> Callable[[Any], Any]:
        def run(value: Any) -> Any:
            for f in chain[start:stop]:
                value = f(value)
            return value

        return run

    stop = 0
    for start in range(0, size * (segments - 1), size):
        stop = start + size
        input = checkpoint(part(start, stop), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return part(stop, len(chain))(input)


__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "detach_variable",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]
