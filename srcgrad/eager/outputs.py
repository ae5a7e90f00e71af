"""``out=``: a result stored in a tensor that is there already; never recorded, as in PyTorch."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcgrad.eager import messages
from srcgrad.eager.lifted_arrays import Escape, is_lifted
from srcgrad.eager.modes import no_grad, state
from srcgrad.eager.tensor import Tensor


def stored(name: str, compute: Callable[[], Tensor], out: Any, *read: Any) -> Tensor:
    """A result put into a tensor that is there already; ``read`` are the operands."""
    check_out(name, out, read)
    with no_grad():
        return put_into(compute(), out, read)


def check_out(name: str, out: Any, read: Sequence[Any]) -> None:
    """Refuse what is no tensor, and where a derivative would be wanted."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if state.recording and any(_requires(value) for value in (out, *read)):
        raise RuntimeError(messages.OUT_REQUIRES_GRAD.format(name=name))


def _requires(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_requires, value))
    return isinstance(value, Tensor) and value.requires_grad


def put_into(made: Tensor, out: Tensor, read: Sequence[Any]) -> Tensor:
    """Store a result in a tensor, in the shape of the result."""
    from srcgrad.eager.views import bump, check_cast, check_free

    check_cast(made, out)
    check_free(out, *read)
    storage, array = out.storage_array(), made.storage_array()
    if is_lifted(array) and array.has_tangent() and not is_lifted(storage):
        raise Escape(messages.OUT_WITH_TANGENT)
    if storage.shape == array.shape:
        storage[...] = array
    else:
        out.array = np.array(array, storage.dtype)
    bump(out)
    return out


def takes_out(f: Callable[..., Any]) -> bool:
    """Whether a function has a parameter ``out`` that only says it may be given."""
    code = getattr(f, "__code__", None)
    if code is None or "out" not in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        return False
    return "stored" not in code.co_names and inspect.signature(f).parameters["out"].default is None


def with_out(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its results stored in ``out`` where that is given, one tensor or a tuple of them."""

    @functools.wraps(f)
    def storing(*args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if out is None:
            return f(*args, **kwargs)
        read = (*args, *kwargs.values())
        for one in out if isinstance(out, tuple | list) else (out,):
            check_out(name, one, read)
        with no_grad():
            made = f(*args, **kwargs)
        if not isinstance(made, tuple):
            return put_into(made, out, read)
        if not isinstance(out, tuple | list) or len(out) != len(made):
            raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
        parts = [put_into(one, place, read) for one, place in zip(made, out, strict=True)]
        return type(made)(*parts) if hasattr(made, "_fields") else type(made)(parts)

    return storing
