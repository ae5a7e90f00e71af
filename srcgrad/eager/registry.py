"""Which functions the module offers, and which of them are methods of tensors too.

    @function("add", method=True)
    def add(input, other, *, alpha=1): ...

makes ``torch.add`` and ``Tensor.add``.  Sub-modules (``linalg``, ``nn.functional``) have tables of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from srcgrad.eager.constants import constants_checked
from srcgrad.eager.outputs import takes_out, with_out
from srcgrad.eager.tensor import Tensor

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

FUNCTIONS: dict[str, dict[str, Callable[..., Any]]] = {"": {}}


def function(*names: str, method: bool | str = False, module: str = "") -> Callable[[AnyFunction], AnyFunction]:
    """Decorator: offer a function under ``names`` in a module; ``method``: as a method of tensors too."""

    def export(f: AnyFunction) -> AnyFunction:
        table = FUNCTIONS.setdefault(module, {})
        offered = takes_out(f)
        f = constants_checked(f)
        for name in names or (f.__name__,):
            table[name] = with_out(name, f) if offered else f
            if method is True:
                setattr(Tensor, name, f)
        if isinstance(method, str):
            setattr(Tensor, method, f)
        return f

    return export


def method(*names: str) -> Callable[[AnyFunction], AnyFunction]:
    """Decorator: a method of tensors only."""

    def export(f: AnyFunction) -> AnyFunction:
        f = constants_checked(f)
        for name in names or (f.__name__,):
            setattr(Tensor, name, f)
        return f

    return export


def offer(f: AnyFunction, *names: str, method: bool = True, module: str = "") -> AnyFunction:
    """``function`` for a function that exists already."""
    return function(*names, method=method, module=module)(f)
