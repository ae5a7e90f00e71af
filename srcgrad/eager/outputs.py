"""``out=``: a result stored in a tensor that is there already; never recorded, as in PyTorch."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import messages
from srcgrad.eager.tensor import Tensor


def stored(name: str, made: Tensor, out: Any) -> Tensor:
    """A result put into a tensor that is there already."""
    from srcgrad.eager.views import bump, check_cast, check_writable

    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if made.requires_grad or out.requires_grad:
        raise RuntimeError(messages.OUT_REQUIRES_GRAD.format(name=name))
    check_cast(made, out)
    check_writable(out)
    storage, array = out.storage_array(), made.storage_array()
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
        made = f(*args, **kwargs)
        if out is None:
            return made
        if not isinstance(made, tuple):
            return stored(name, made, out)
        if not isinstance(out, tuple | list) or len(out) != len(made):
            raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
        parts = [stored(name, one, place) for one, place in zip(made, out, strict=True)]
        return type(made)(*parts) if hasattr(made, "_fields") else type(made)(parts)

    return storing
