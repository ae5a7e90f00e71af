"""What ``torch.autograd.functional`` accepts, and its words where it does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from srcgrad.eager.tensor import Tensor

_JACOBIAN = "torch.autograd.functional.jacobian: "
STRATEGY = 'Expected strategy to be either "forward-mode" or "reverse-mode".'
STRATEGY_WITH_HINT = (
    f"{STRATEGY} Hint: If your function has more outputs than inputs, "
    '"forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
)
FORWARD_WITH_GRAPH = (
    f'{_JACOBIAN}`create_graph=True` and `strategy="forward-mode"` are not supported together (yet). Please either set '
    '`create_graph=False` or `strategy="reverse-mode"`.'
)
FORWARD_WITH_STRICT = (
    f'{_JACOBIAN}`strict=True` and `strategy="forward-mode"` are not supported together (yet). Please either set '
    '`strict=False` or `strategy="reverse-mode"`.'
)
FORWARD_WITHOUT_VECTORIZE = (
    "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`."
)
STRICT_WITH_VECTORIZE = (
    f"{_JACOBIAN}`strict=True` and `vectorized=True` are not supported together. Please either set `strict=False` or "
    "`vectorize=False`."
)


def zeros_like(x: Tensor, shape: tuple[int, ...] | None = None, requires_grad: bool = False) -> Tensor:
    """Zeros in the shape and dtype of a tensor, or in another shape."""
    made = Tensor.of(np.zeros(x.array.shape if shape is None else shape, x.array.dtype))
    made.leaf_grad = requires_grad
    return made


def ones_like(x: Tensor) -> Tensor:
    """Ones in the shape and dtype of a tensor."""
    return Tensor.of(np.ones(x.array.shape, x.array.dtype))


def tensors_of(value: Any, what: str, api: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether a value is a tuple, and its tensors."""
    several = isinstance(value, tuple)
    values = value if several else (value,)
    for place, one in enumerate(values):
        if not isinstance(one, Tensor):
            where = f"value at index {place}" if several else f"given {what}"
            raise TypeError(
                f"The {what} given to {api} must be either a Tensor or a tuple of Tensors but the {where} has type "
                f"{type(one)}."
            )
    return several, values


def check_vector(v: Sequence[Tensor], like: Sequence[Tensor], several: bool) -> None:
    """Refuse a vector that does not fit."""
    if len(v) != len(like):
        if several:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for place, (one, other) in enumerate(zip(v, like, strict=True)):
        if one.shape != other.shape:
            entry = f"Entry {place} in " if several else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {other.shape} but got {one.shape}.")


def check_single(ys: Sequence[Tensor], several: bool, api: str) -> None:
    """Refuse outputs that are not one tensor with one element."""
    if several:
        raise RuntimeError(f"The function given to {api} should return a single Tensor")
    if ys[0].array.size != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {api} should contain a single element")


def check_strict(values: Any, what: str, strict: bool) -> None:
    """In strict mode, refuse what does not depend on the inputs."""
    if not strict:
        return
    for place, value in enumerate(values):
        if value is None:
            raise RuntimeError(
                f"The output of the user-provided function is independent of input {place}. This is not allowed in "
                "strict mode."
            )
        if not value.requires_grad:
            raise RuntimeError(_NOT_DEPENDENT[what].format(place=place))


_NOT_DEPENDENT = {
    "outputs": (
        "Output {place} of the user-provided function does not require gradients. The outputs must be computed in a "
        "differentiable manner from the input when running in strict mode."
    ),
    "grad_inputs": (
        "The gradient with respect to input {place} is independent of the inputs of the user-provided function. This "
        "is not allowed in strict mode."
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input "
        "{place} is independent of the input. This is not allowed in strict mode. You should ensure that your function "
        "is twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear "
        "function for example)."
    ),
    "hessian": (
        "The hessian of the user-provided function with respect to input {place} is independent of the input. This is "
        "not allowed in strict mode. You should ensure that your function is thrice differentiable and that the "
        "hessian depends on the inputs."
    ),
}
_NO_GRADIENT = {
    "back": (
        "The output of the user-provided function is independent of input {place}. This is not allowed in strict mode."
    ),
    "back_trick": (
        "The gradient with respect to the input is independent of entry {place} in the grad_outputs when using the "
        "double backward trick to compute forward mode gradients. This is not allowed in strict mode."
    ),
    "double_back": (
        "The jacobian of the user-provided function is independent of input {place}. This is not allowed in strict "
        "mode."
    ),
    "double_back_trick": (
        "The hessian of the user-provided function is independent of entry {place} in the grad_jacobian. This is not "
        "allowed in strict mode as it prevents from using the double backward trick to replace forward mode AD."
    ),
}


def filled(grads: Sequence[Any], like: Sequence[Tensor], strict: bool, create: bool, stage: str) -> tuple[Tensor, ...]:
    """Gradients with zeros where there are none, which strict mode refuses."""
    made: list[Tensor] = []
    for place, (g, x) in enumerate(zip(grads, like, strict=True)):
        if g is None:
            if strict:
                raise RuntimeError(_NO_GRADIENT[stage].format(place=place))
            g = zeros_like(x)
        elif strict and create and not g.requires_grad:
            which = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {which} of the user-provided function is independent of input {place}. This is not allowed in "
                "strict mode when create_graph=True."
            )
        made.append(g)
    return tuple(made)
