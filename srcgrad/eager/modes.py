"""Whether operations are recorded: ``no_grad`` and its kin, per thread.

Each is a context manager and a decorator; around a generator or a coroutine function it holds while the body runs and
is put back whenever the body gives control away.
"""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from srcgrad.runtime import StopsGradients

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


class _State(threading.local):
    """What holds in this thread; a new thread starts with what the class says."""

    recording = True
    inference = False
    enabled_inside = False  # what inference mode was told of recording, which it never does
    saved_hooks: tuple[tuple[Callable[..., Any], Callable[..., Any]], ...] = ()
    saved_hooks_disabled: str | None = None
    mutation_allowed: Any = None
    transform_level = 0
    drawing: Any = None  # set while random numbers are drawn for every example at once
    transforms: tuple[Any, ...] = ()  # the running transforms, the innermost last


state = _State()


class _Anomaly:
    """Whether errors name the operation in the forward pass; for all threads."""

    enabled = False
    check_nan = True


anomaly = _Anomaly()


def is_grad_enabled() -> bool:
    """Whether operations are recorded in this thread; in inference mode, whether they were asked to be."""
    return state.enabled_inside if state.inference else state.recording


def _record(mode: bool) -> None:
    if state.inference:
        state.enabled_inside = mode
    else:
        state.recording = mode


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return state.inference


class _Mode:
    """A context manager that is a decorator too."""

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        raise NotImplementedError

    def clone(self) -> _Mode:
        """A mode of the same kind for one call of a decorated function."""
        return type(self)()

    def __call__(self, function: AnyFunction) -> AnyFunction:
        return decorated(self.clone, function)


def decorated(make: Callable[[], Any], function: AnyFunction) -> AnyFunction:
    """``function`` run inside ``make()``, which is left around every yield and await."""
    if inspect.isclass(function):
        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
            "functions or methods. To preserve the current behavior of class decoration, you can directly decorate the "
            "`__init__` method and nothing else.",
            FutureWarning,
            stacklevel=3,
        )
        setattr(function, "__init__", decorated(make, function.__init__))  # noqa: B010
        return function
    if inspect.isgeneratorfunction(function):
        return _around_generator(make, function)  # type: ignore[return-value]
    if inspect.iscoroutinefunction(function):
        return _around_coroutine(make, function)  # type: ignore[return-value]

    @functools.wraps(function)
    def inside(*args: Any, **kwargs: Any) -> Any:
        with make():
            return function(*args, **kwargs)

    return inside  # type: ignore[return-value]


def _around_generator(make: Callable[[], Any], function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inside(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        try:
            with make():
                answer = generator.send(None)
            while True:
                try:
                    request = yield answer
                except GeneratorExit:
                    with make():
                        generator.close()
                    raise
                except BaseException as error:
                    with make():
                        answer = generator.throw(error)
                else:
                    with make():
                        answer = generator.send(request)
        except StopIteration as stop:
            return stop.value

    return inside


class _Steps:
    """An awaitable that drives a coroutine inside a mode."""

    def __init__(self, make: Callable[[], Any], coroutine: Any) -> None:
        self.make, self.coroutine = make, coroutine

    def __await__(self) -> Any:
        answer, error = None, None
        while True:
            try:
                with self.make():
                    request = self.coroutine.send(answer) if error is None else self.coroutine.throw(error)
            except StopIteration as stop:
                return stop.value
            answer, error = None, None
            try:
                answer = yield request
            except BaseException as raised:
                error = raised


def _around_coroutine(make: Callable[[], Any], function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def inside(*args: Any, **kwargs: Any) -> Any:
        return await _Steps(make, function(*args, **kwargs))

    return inside


class no_grad(_Mode, StopsGradients):
    """Operations inside are not recorded; their results require no gradient."""

    def __new__(cls, function: Any = None) -> Any:
        made = super().__new__(cls)
        return made if function is None else decorated(cls, function)

    def __init__(self, function: Any = None) -> None:
        self.before = False

    def __enter__(self) -> None:
        self.before = is_grad_enabled()
        _record(False)

    def __exit__(self, kind: Any, error: Any, at: Any) -> None:
        _record(self.before)


class enable_grad(_Mode):
    """Operations inside are recorded, also inside ``no_grad``."""

    def __new__(cls, function: Any = None) -> Any:
        made = super().__new__(cls)
        return made if function is None else decorated(cls, function)

    def __init__(self, function: Any = None) -> None:
        self.before = False

    def __enter__(self) -> None:
        self.before = is_grad_enabled()
        _record(True)

    def __exit__(self, kind: Any, error: Any, at: Any) -> None:
        _record(self.before)


class set_grad_enabled(_Mode):
    """Record or not, at once; as a context manager until its end."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.mode = mode
        self.before = is_grad_enabled()
        _record(mode)

    def __enter__(self) -> None:
        _record(self.mode)

    def __exit__(self, kind: Any, error: Any, at: Any) -> None:
        _record(self.before)

    def __call__(self, function: AnyFunction) -> AnyFunction:
        _record(self.before)
        return super().__call__(function)

    def clone(self) -> set_grad_enabled:
        return type(self)(self.mode)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


class inference_mode(_Mode):
    """No recording, no version counters: tensors made inside cannot take part in a graph later."""

    def __new__(cls, mode: Any = True) -> Any:
        made = super().__new__(cls)
        return made if isinstance(mode, bool) else decorated(cls, mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self.before: tuple[bool, bool, bool] = (True, False, False)

    def __enter__(self) -> None:
        self.before = (state.recording, state.inference, state.enabled_inside)
        state.recording, state.inference, state.enabled_inside = not self.mode, self.mode, False

    def __exit__(self, kind: Any, error: Any, at: Any) -> None:
        state.recording, state.inference, state.enabled_inside = self.before

    def clone(self) -> inference_mode:
        return type(self)(self.mode)


for _class in (no_grad, enable_grad, set_grad_enabled, inference_mode):
    _class.__module__ = "torch.autograd.grad_mode"  # as PyTorch prints them
