"""The bridge: a compiled function called with eager tensors is one node of the eager graph.

Enters: a function or a derivative, and a call with tensors among the arguments, in containers too.  Leaves: its value
as tensors, whose ``grad_fn`` (``LossBackward`` for a function ``loss``) pulls gradients back through the compiled
pullback.  Under ``create_graph=True`` the pullback is a compiled function called with tensors in its turn, so that it
is one node again and every order exists.  Without a tensor that requires grad, or under ``no_grad``, the function just
runs.

The eager machine is imported where a tensor is met: whoever passes one has imported it.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from srcgrad.api.derivative import Derivative, parameters_of
from srcgrad.api.transforms import Pullback, made_once, unshared
from srcgrad.errors import ArgumentError
from srcgrad.tracebacks import door

_EAGER = "srcgrad.eager.tensor"


@door
def compile(f: Callable[..., Any] | None = None) -> Any:
    """A function that runs as it is on numbers and arrays, and as one compiled node on eager tensors.

    ``step = srcgrad.compile(step)``, or as a decorator.  Called with tensors (``import srcgrad.eager as torch``) it
    runs NumPy's program on their arrays; gradients go back through the compiled derivative, which is made at the first
    call for arguments of each kind.  Inside, ``with no_grad():`` and ``.detach()`` mean ``stop_gradient``.  Floating
    numbers that f returns become tensors where an argument is one; integers, text and None are returned as they are.
    """
    return CompiledFunction if f is None else CompiledFunction(f)


class CompiledFunction:
    """A function that knows how to be one node of the eager graph."""

    def __init__(self, primal: Callable[..., Any]) -> None:
        if not callable(primal):
            raise ArgumentError(f"a function is expected, not {type(primal).__name__}")
        self.primal = primal
        self.__name__ = getattr(primal, "__name__", "function")
        self.__qualname__ = getattr(primal, "__qualname__", self.__name__)
        self.__module__ = getattr(primal, "__module__", __name__)
        self.__doc__ = getattr(primal, "__doc__", None)
        self.__wrapped__ = primal

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if meets_tensors(args, kwargs):
            return on_tensors(self.primal, args, kwargs)
        return self.primal(*args, **kwargs)

    def __srcgrad_function__(self) -> Any:
        """What a derivative of a program that calls this is compiled from."""
        return self.primal

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        raise ArgumentError(
            f"{self.__qualname__} is a method: its object cannot be differentiated yet",
            hint="compile a function of the arrays that the object holds",
        )

    def __repr__(self) -> str:
        return f"<srcgrad compiled {self.__module__}.{self.__qualname__}>"


def meets_tensors(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether a call passes eager tensors; without the eager machine there are none."""
    module = sys.modules.get(_EAGER)
    if module is None:
        return False
    pending, seen = [*args, *kwargs.values()], set[int]()
    while pending:
        value = pending.pop()
        if isinstance(value, module.Tensor):
            return True
        if isinstance(value, tuple | list | deque | dict) and id(value) not in seen:  # one may contain itself
            seen.add(id(value))
            pending += value.values() if isinstance(value, dict) else value
    return False


def leaves_of(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list | deque):
        for item in value:
            yield from leaves_of(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves_of(item)
    else:
        yield value


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The structure of nested containers with every leaf changed."""
    if isinstance(value, deque):
        return deque((mapped(item, change) for item in value), value.maxlen)
    if isinstance(value, tuple | list):
        items = [mapped(item, change) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    return change(value)


@door
def on_tensors(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], name: str | None = None
) -> Any:
    """``f`` called with tensors: its value as tensors, recorded as one node where a gradient is wanted."""
    from srcgrad.eager.modes import state
    from srcgrad.eager.tensor import Tensor

    def requires(value: Any) -> bool:
        return any(isinstance(leaf, Tensor) and leaf.requires_grad for leaf in leaves_of(value))

    def array(leaf: Any) -> Any:
        return leaf.array[()] if isinstance(leaf, Tensor) else leaf

    try:
        given = tuple(mapped(value, array) for value in args)
        named = {name: mapped(value, array) for name, value in kwargs.items()}
    except RecursionError:
        raise ArgumentError("an argument contains itself, or is nested too deep", hint="pass its parts") from None
    wanted: list[int | str] = []
    if state.recording:
        wanted += [place for place, value in enumerate(args) if requires(value)]
        wanted += [name for name, value in kwargs.items() if requires(value)]
    if not wanted:
        return _unrecorded(f, given, named)
    if isinstance(f, Derivative) and (f.has_aux or f.holomorphic):
        raise ArgumentError(
            "a derivative with has_aux or holomorphic is not recorded on tensors that require grad",
            hint="call it under no_grad(), or on x.detach()",
        )
    for key in wanted:
        if isinstance(key, str) and key not in parameters_of(f).names:
            raise ArgumentError(f"{key} is given through **: a tensor that requires grad is passed by a parameter")
    derivative = made_once(f, tuple(wanted), "split")
    from srcgrad.api.bridge_node import record

    values = derivative.bind(given, named)
    derivative.check(values)
    bound = derivative.bind(args, kwargs)
    return record(derivative, Pullback(derivative, values), bound, name or name_of(f))


def _unrecorded(f: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    from srcgrad.eager.tensor import Tensor

    def tensor(leaf: Any) -> Any:
        if isinstance(leaf, np.ndarray | np.generic):
            return Tensor.of(leaf)
        return Tensor.of(np.asarray(leaf)[()]) if isinstance(leaf, float | complex) else leaf

    code = getattr(f, "__code__", None)
    if code is not None and "detach" in code.co_names:  # arrays have no such method: what is compiled needs none
        derivative = made_once(f, (), "split")
        values = derivative.bind(args, kwargs)
        value, _ = derivative.run(derivative.program(values, "split").entry, *derivative.arguments(values))
    else:
        value = f(*args, **kwargs)
    return mapped(unshared(value), tensor)


def name_of(f: Callable[..., Any]) -> str:
    """The name of the node of a function: ``LossBackward`` for ``loss``, ``GradLossBackward`` for its gradient."""
    if isinstance(f, Derivative):
        before = {"value": "ValueAndGrad", "forward": "Tangent"}.get(f.mode, "Grad")
        return before + name_of(f.primal)
    name = getattr(f, "__name__", type(f).__name__).strip("<>")
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) + "Backward"
