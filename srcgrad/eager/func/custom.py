"""Functions of one's own inside transforms: their ``jvp`` and ``vmap`` in place of what their ``forward`` does."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from srcgrad.eager import pytree
from srcgrad.eager.func.batched import Batched
from srcgrad.eager.func.levels import Level, enter, leave, level_of, made_of, pair, part
from srcgrad.eager.lifted_arrays import is_lifted, topmost
from srcgrad.eager.modes import no_grad, state
from srcgrad.eager.tensor import Tensor

_NEEDS_SETUP = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override "
    "the setup_context staticmethod. For more details, please see "
    "https://pytorch.org/docs/main/notes/extending.func.html"
)
_NEEDS_JVP = "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."


class VmapInfo(NamedTuple):
    """What ``Function.vmap`` is told."""

    batch_size: int
    randomness: str


def applied(cls: Any, separate: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``cls.apply`` inside transforms; NotImplemented where it is the same as outside."""
    if not separate and any(level.strict for level in state.transforms):
        raise RuntimeError(_NEEDS_SETUP)
    top = topmost([arg.array for arg in args if isinstance(arg, Tensor)])
    level = None if top is None else level_of(top)
    if level is None:
        return NotImplemented
    if not isinstance_of(top, Batched):
        return _with_tangents(cls, separate, args, kwargs, level)
    own = getattr(cls, "vmap", None)
    if own is None:
        if level.strict and not cls.generate_vmap_rule:
            raise RuntimeError(
                f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and "
                "implement the vmap staticmethod or set generate_vmap_rule=True. For more information, please see "
                "https://pytorch.org/docs/main/notes/extending.func.html"
            )
        return NotImplemented
    in_dims = tuple(0 if _of(arg, level) else None for arg in args)
    given = [leave(arg, level, 0) if d == 0 else arg for arg, d in zip(args, in_dims, strict=True)]
    output, out_dims = own(VmapInfo(level.count, level.randomness), in_dims, *given)
    leaves, spec = pytree.flatten(output)
    dims = pytree.spread(out_dims, spec, lambda d: d is None or isinstance(d, int)) or [0] * len(leaves)
    return pytree.unflatten(
        spec, [one if d is None else enter(one, level, d) for one, d in zip(leaves, dims, strict=True)]
    )


def isinstance_of(array: Any, kind: type) -> bool:
    """``isinstance`` by the type itself, for lifted arrays say that they are NumPy's."""
    return issubclass(type(array), kind)


def _of(arg: Any, level: Level) -> bool:
    return isinstance(arg, Tensor) and is_lifted(arg.array) and bool(arg.array.level == level.id)


def _with_tangents(cls: Any, separate: bool, args: Any, kwargs: Any, level: Level) -> Any:
    from srcgrad.eager.autograd.function import Function

    primals = [part(arg, level, "primal") if _of(arg, level) else arg for arg in args]
    if cls.jvp is Function.jvp:
        raise NotImplementedError(_NEEDS_JVP)
    if state.recording and any(isinstance(p, Tensor) and p.requires_grad for p in primals):
        output = cls.apply(*primals, **kwargs)
        context = next(one.node for one in pytree.flatten(output)[0] if isinstance(one, Tensor) and one.node)
    else:
        context = cls._backward_cls()
        context.needs_input_grad = (False,) * len(args)
        with no_grad():
            output = cls.forward(*primals, **kwargs) if separate else cls.forward(context, *primals, **kwargs)
            if separate:
                cls.setup_context(context, tuple(primals), output)
    tangents = cls.jvp(context, *(_tangent(context, arg, level) for arg in args), **_forward_saves(context))
    outputs = output if isinstance(output, tuple) else (output,)
    dots = tangents if isinstance(tangents, tuple) else (tangents,)
    made = tuple(
        one if dot is None or not isinstance(one, Tensor) else pair(one, dot, level)
        for one, dot in zip(outputs, dots, strict=True)
    )
    return made if isinstance(output, tuple) else made[0]


def _forward_saves(context: Any) -> dict[str, Any]:
    """What was saved for the forward mode becomes what ``saved_tensors`` gives."""
    if context.saved_for_forward:
        context.kept, context.to_save = None, context.saved_for_forward
    return {}


def _tangent(context: Any, arg: Any, level: Level) -> Any:
    if _of(arg, level):
        return part(arg, level, "tangent")
    if isinstance(arg, Tensor) and context.materialize and arg.array.dtype.kind in "fc":
        return made_of(np.zeros(arg.array.shape, arg.array.dtype))
    return None
