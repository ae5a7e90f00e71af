"""Arguments and results of transforms: which are differentiated, and PyTorch's words where they are not right."""

from __future__ import annotations

from typing import Any

from srcgrad.eager import pytree
from srcgrad.eager.tensor import Tensor


def checked_argnum(argnum: Any, count: int) -> int:
    """The number of a positional argument."""
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if -count <= argnum < count:
        return argnum % count
    raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")


def chosen(args: tuple[Any, ...], argnums: Any) -> Any:
    """The arguments that are differentiated: one, or a tuple of them."""
    if isinstance(argnums, int):
        return args[checked_argnum(argnums, len(args))]
    if isinstance(argnums, tuple):
        if not argnums:
            raise RuntimeError("argnums must be non-empty")
        places = [checked_argnum(argnum, len(args)) for argnum in argnums]
        if len(set(places)) != len(places):
            raise RuntimeError(f"argnums elements must be unique, got {argnums}")
        return tuple(args[place] for place in places)
    raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")


def put(args: tuple[Any, ...], argnums: Any, values: Any) -> tuple[Any, ...]:
    """The arguments with the chosen ones replaced."""
    made = list(args)
    if isinstance(argnums, int):
        made[argnums] = values
    else:
        for argnum, value in zip(argnums, values, strict=True):
            made[argnum] = value
    return tuple(made)


def require_tensors(leaves: list[Any]) -> None:
    """Refuse anything but tensors."""
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")


def split_aux(output: Any, api: str) -> tuple[Any, Any]:
    """``(output, aux)``."""
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(f"{api}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return output


def require_outputs(output: Any, api: str) -> tuple[list[Any], pytree.Spec]:
    """The tensors that a function returned, and their containers."""
    leaves, spec = pytree.flatten(output)
    if not leaves:
        raise RuntimeError(f"{api}: Expected f to be a function that has non-empty output (got output = {leaves})")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{api}: expected f(*primals) to return only tensors, got unsupported type {type(leaf)}")
    return leaves, spec
