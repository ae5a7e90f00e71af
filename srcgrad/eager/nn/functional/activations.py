"""Activations as functions; some are functions of the module and methods of tensors too."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager.constants import constants_checked
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.elementwise import elementwise_unary
from srcgrad.eager.generators import default_generator, uniform
from srcgrad.eager.graph import node_class
from srcgrad.eager.lifted_arrays import by_rule
from srcgrad.eager.operations.inplace import in_place
from srcgrad.eager.operations.shaping import wrapped
from srcgrad.eager.registry import function, offer
from srcgrad.eager.tensor import Tensor
from srcgrad.runtime import neural

F = "nn.functional"
_SLOTS = {"x": "self", "z": "result", "y": "result"}


def _simple(f: Callable[[Any], Any], node: str, name: str, *, floats: bool = True) -> Callable[[Tensor], Tensor]:
    return elementwise_unary(f, Operation(f, node, _SLOTS), name, floats=floats)


_relu_by_rule = by_rule(neural.relu)


def _rectified(x: Any) -> Any:
    if x.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    return neural.relu(x) if type(x) is np.ndarray else _relu_by_rule(x)


_relu = elementwise_unary(_rectified, Operation(neural.relu, "ReluBackward0", _SLOTS), "relu", floats=False)
_sigmoid = _simple(neural.sigmoid, "SigmoidBackward0", "sigmoid")
_silu = _simple(neural.silu, "SiluBackward0", "silu")
_mish = _simple(neural.mish, "MishBackward0", "mish")
_hardsigmoid_of = _simple(neural.hardsigmoid, "HardsigmoidBackward0", "hardsigmoid")
_hardswish_of = _simple(neural.hardswish, "HardswishBackward0", "hardswish")
_log_sigmoid = Operation(neural.log_sigmoid, "LogSigmoidBackward0", _SLOTS)
_leaky_relu = Operation(neural.leaky_relu, "LeakyReluBackward0", _SLOTS)
_prelu = Operation(neural.prelu, "PreluKernelBackward0", _SLOTS)
_rrelu = Operation(neural.leaky_relu, "RreluWithNoiseBackward0", _SLOTS)
_rrelu_noise = Operation(neural.prelu, "RreluWithNoiseBackward0", {**_SLOTS, "weight": "noise"})
_elu = Operation(neural.elu, "EluBackward0", _SLOTS)
_celu = Operation(neural.elu, "CeluBackward0", _SLOTS)
_gelu = Operation(neural.gelu, "GeluBackward0", _SLOTS)
_hardtanh = Operation(neural.hardtanh, "HardtanhBackward0", {**_SLOTS, "low": "min_val", "high": "max_val"})
_hardshrink = Operation(neural.hardshrink, "HardshrinkBackward0", {**_SLOTS, "width": "lambd"})
_softshrink = Operation(neural.softshrink, "SoftshrinkBackward0", {**_SLOTS, "width": "lambd"})
_softplus = Operation(neural.softplus, "SoftplusBackward0", {**_SLOTS, "bound": "threshold"})
_threshold = Operation(neural.threshold, "ThresholdBackward0", {**_SLOTS, "bound": "threshold"})
_glu = Operation(neural.glu, "GluBackward0", {**_SLOTS, "axis": "dim"})
_softmax = Operation(neural.softmax, "SoftmaxBackward0", {**_SLOTS, "axis": "dim"})
_log_softmax = Operation(neural.log_softmax, "LogSoftmaxBackward0", {**_SLOTS, "axis": "dim"})


def _floating(input: Tensor, kernel: str) -> Tensor:
    """The input, which must be of floating-point numbers."""
    if input.dtype.category < 2:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.long_name}'")
    return input


def _called(operation: Operation, saved: dict[str, Any] | None = None, **values: Any) -> Tensor:
    made: Tensor = call(operation, values, saved=saved)
    return made


#: What PyTorch calls the nodes of those that have another one in place.
_IN_PLACE = {
    "elu": "EluBackward1", "selu": "EluBackward1", "celu": "CeluBackward1", "leaky_relu": "LeakyReluBackward1",
    "threshold": "ThresholdBackward1", "rrelu": "RreluWithNoiseBackward1",
}  # fmt: skip
_WITHOUT = ("silu", "mish", "hardsigmoid", "hardswish", "relu6")  # those that are offered only with inplace=


def _stored(f: Callable[..., Tensor], name: str) -> Callable[..., Tensor]:
    """The function in place, its node under the name that it has then."""
    if name not in _IN_PLACE:
        return in_place(f, f"{name}_")
    kind = node_class(_IN_PLACE[name])

    def renamed(*args: Any, **kwargs: Any) -> Tensor:
        made = f(*args, **kwargs)
        if made.node is not None:
            made.node.__class__, made.node.direct = kind, None
        return made

    return in_place(renamed, f"{name}_")


def _switched(f: Callable[..., Tensor], name: str) -> Callable[..., Tensor]:
    """A function with ``inplace=``, as PyTorch's modules call it."""
    f = constants_checked(f)
    stored = _stored(f, name)

    def either(input: Tensor, *args: Any, inplace: bool = False, **kwargs: Any) -> Tensor:
        return stored(input, *args, **kwargs) if inplace else f(input, *args, **kwargs)

    either.__name__ = either.__qualname__ = name
    either.__doc__ = f.__doc__
    function(name, module=F)(either)
    if name not in _WITHOUT:
        function(f"{name}_", module=F)(stored)
    return either


# --- switches --------------------------------------------------------------------------------------------------------
def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """The input where it is positive, else a share of it."""
    return _called(
        _leaky_relu, {"negative_slope": negative_slope}, x=_floating(input, "leaky_relu_cpu"),
        negative_slope=negative_slope,
    )  # fmt: skip


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """The input between two bounds."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _called(_hardtanh, {"min_val": min_val, "max_val": max_val}, x=input, low=min_val, high=max_val)


def relu6(input: Tensor) -> Tensor:
    """The input between 0 and 6."""
    return _called(_hardtanh, {"min_val": 0.0, "max_val": 6.0}, x=input, low=0.0, high=6.0)


def _hardsigmoid(input: Tensor) -> Tensor:
    """A line from 0 at -3 to 1 at 3."""
    return _hardsigmoid_of(_floating(input, "hardsigmoid_cpu"))


def _hardswish(input: Tensor) -> Tensor:
    """The input times its hardsigmoid."""
    return _hardswish_of(_floating(input, "hardswish_cpu"))


def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """The input where it is above a bound, else a value."""
    return _called(_threshold, {"threshold": threshold}, x=input, bound=threshold, value=value)


@function("hardshrink", method=True)
@function("hardshrink", module=F)
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """The input, zero where it is near zero."""
    return _called(_hardshrink, {"lambd": lambd}, x=_floating(input, "hardshrink_cpu"), width=lambd)


@function("softshrink", module=F)
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """The input moved towards zero."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd:g}.")
    return _called(_softshrink, {"lambd": lambd}, x=_floating(input, "softshrink_cpu"), width=lambd)


@function("prelu", method=True)
@function("prelu", module=F)
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """The input where it is positive, else times a weight, one for all or one per channel."""
    if weight.array.ndim and input.array.ndim > 1:
        if weight.array.size not in (1, input.array.shape[1]):
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.array.size} "
                f"and channel size = {input.array.shape[1]}."
            )
        weight = weight.reshape(*([1, -1] + [1] * (input.array.ndim - 2)))
    return _called(_prelu, x=input, weight=weight)


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False) -> Tensor:
    """The input where it is positive, else a share of it that is random in training."""
    saved = {"lower": lower, "upper": upper, "training": training}
    if not training:
        slope = (lower + upper) / 2
        return _called(_rrelu, {**saved, "noise": Tensor.of(np.empty(0))}, x=input, negative_slope=slope)
    noise = np.ones(input.array.shape, input.array.dtype)
    below = input.array <= 0
    drawn = uniform(default_generator, int(below.sum()), np.dtype(np.float64)) * (upper - lower) + lower
    noise[below] = drawn
    return _called(_rrelu_noise, saved, x=input, weight=noise)


# --- exponentials ----------------------------------------------------------------------------------------------------
def elu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """The input where it is positive, else ``alpha * (exp(input) - 1)``."""
    return _scaled(input, alpha, 1.0)


def selu(input: Tensor) -> Tensor:
    """``elu`` with the two numbers that keep mean 0 and variance 1."""
    return _scaled(input, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)


def _scaled(input: Tensor, alpha: float, scale: float) -> Tensor:
    saved = {"alpha": alpha, "scale": scale, "input_scale": 1.0}
    return _called(_elu, saved, x=_floating(input, "elu_cpu"), alpha=alpha, scale=scale, input_scale=1.0)


def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``elu`` that is smooth at 0 for every alpha."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _called(
        _celu, {"alpha": alpha}, x=_floating(input, "elu_cpu"), alpha=alpha, scale=1.0, input_scale=1.0 / alpha
    )


@function("gelu", module=F)
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """The input times the chance of a smaller normal number."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    saved = {"approximate": approximate}
    return _called(_gelu, saved, x=_floating(input, "GeluKernelImpl"), approximate=approximate)


@function("softplus", module=F)
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """``log(1 + exp(beta * input)) / beta``, linear above a threshold."""
    saved = {"beta": beta, "threshold": threshold}
    return _called(_softplus, saved, x=_floating(input, "softplus_cpu"), beta=beta, bound=threshold)


@function("logsigmoid", module=F)
def logsigmoid(input: Tensor) -> Tensor:
    """The logarithm of the logistic function."""
    return _called(_log_sigmoid, {"buffer": Tensor.of(np.empty(0, np.float32))}, x=_floating(input, "log_sigmoid_cpu"))


@function("softsign", module=F)
def softsign(input: Tensor) -> Tensor:
    """``input / (1 + abs(input))``."""
    made: Tensor = input / (input.abs() + 1)
    return made


@function("tanhshrink", module=F)
def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``."""
    made: Tensor = input - input.tanh()
    return made


@function("tanh", module=F)
def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    made: Tensor = input.tanh()
    return made


@function("glu", module=F)
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along a dimension times the logistic function of the second."""
    axis = wrapped(dim, input.array.ndim)
    if input.array.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    if input.array.shape[axis] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {axis} is size {input.array.shape[axis]}")
    return _called(_glu, {"dim": axis}, x=input, axis=axis)


# --- along a dimension -----------------------------------------------------------------------------------------------
def _along(operation: Operation, input: Tensor, dim: int, dtype: Any, kernel: str) -> Tensor:
    if dtype is not None and input.dtype is not dtype:
        input = input.to(dtype)
    if input.dtype.category < 2:
        raise NotImplementedError(f"\"{kernel}_lastdim_kernel_impl\" not implemented for '{input.dtype.long_name}'")
    axis = wrapped(dim, input.array.ndim)
    if not input.array.ndim:
        return _called(operation, {"dim": dim}, x=input, axis=None)
    return _called(operation, {"dim": axis}, x=input, axis=axis)


@function("softmax", method=True)
def softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Exponentials divided by their sum along a dimension."""
    return _along(_softmax, input, dim, dtype, "softmax")


@function("log_softmax", method=True)
def log_softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """The logarithm of ``softmax``."""
    return _along(_log_softmax, input, dim, dtype, "log_softmax")


def _chosen(name: str, input: Tensor, dim: int | None) -> int:
    """The dimension of a softmax that is not given one."""
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=4,
    )
    return 0 if input.array.ndim in (0, 1, 3) else 1


def _with_choice(name: str, f: Callable[..., Tensor]) -> None:
    def chosen(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
        return f(input, _chosen(name, input, dim), dtype)

    chosen.__name__ = chosen.__qualname__ = name
    chosen.__doc__ = f.__doc__
    function(name, module=F)(chosen)


def softmin(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """``softmax`` of the negative."""
    return softmax(-input, dim, dtype)


_with_choice("softmax", softmax)
_with_choice("log_softmax", log_softmax)
_with_choice("softmin", softmin)


@function("gumbel_softmax", module=F)
def gumbel_softmax(logits: Tensor, tau: Any = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """``softmax`` of logits to which random numbers of Gumbel's distribution are added."""
    noise = -np.log(-np.log1p(-default_generator.doubles(logits.array.size)))
    drawn = Tensor.of(noise.astype(logits.array.dtype).reshape(logits.array.shape))
    soft = softmax((logits + drawn) / tau, dim)
    if not hard:
        return soft
    places = np.expand_dims(np.argmax(soft.array, axis=dim), dim)
    picked = np.zeros_like(soft.array)
    np.put_along_axis(picked, places, 1.0, axis=dim)
    made: Tensor = Tensor.of(picked) - soft.detach() + soft
    return made


# --- where they are offered ------------------------------------------------------------------------------------------
relu = _switched(_relu, "relu")
for _f, _name in (
    (leaky_relu, "leaky_relu"), (hardtanh, "hardtanh"), (relu6, "relu6"), (threshold, "threshold"), (rrelu, "rrelu"),
    (elu, "elu"), (selu, "selu"), (celu, "celu"), (_silu, "silu"), (_mish, "mish"),
    (_hardsigmoid, "hardsigmoid"), (_hardswish, "hardswish"),
):  # fmt: skip
    _switched(_f, _name)
offer(_relu, "relu")
offer(_sigmoid, "sigmoid")
function("sigmoid", module=F)(_sigmoid)
for _f in (threshold, rrelu, selu, celu):
    function(_f.__name__)(_f)
for _name, _f in (("relu", _relu), ("sigmoid", _sigmoid)):
    offer(_stored(_f, _name), f"{_name}_")
for _f in (threshold, rrelu, selu, celu):
    function(f"{_f.__name__}_")(_stored(constants_checked(_f), _f.__name__))

__all__ = ["F", "relu", "softmax", "log_softmax"]
