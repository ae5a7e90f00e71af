"""Gradient descent with momentum, and methods that scale it by what gradients were: every step as PyTorch computes it.

Sutskever et al. 2013 (SGD), Kingma & Ba 2015 (Adam, Adamax), Loshchilov & Hutter 2019 (AdamW), Hinton 2012 (RMSprop),
Duchi et al. 2011 (Adagrad), Zeiler 2012 (Adadelta).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager.optim.optimizer import Optimizer, buffer, check, counted, number
from srcgrad.eager.tensor import Tensor


def _decayed(gradient: Any, parameter: Any, group: dict[str, Any]) -> Any:
    """The gradient to descend along: its sign for ``maximize``, the slope of weight decay added."""
    if group["maximize"]:
        gradient = -gradient
    return gradient + parameter * group["weight_decay"] if group["weight_decay"] else gradient


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum if it is given."""

    def __init__(
        self, params: Any, lr: Any = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:  # fmt: skip
        check(number(lr) >= 0, "learning rate", lr)
        check(momentum >= 0, "momentum value", momentum)
        check(weight_decay >= 0, "weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach, "differentiable": differentiable,
            "fused": fused,
        })  # fmt: skip

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        g = _decayed(gradient, parameter, group)
        momentum = group["momentum"]
        if momentum:
            kept = state.get("momentum_buffer")
            if kept is None:
                state["momentum_buffer"] = Tensor.of(np.array(g))
                direction = g
            else:
                kept.array *= momentum
                kept.array += g * (1 - group["dampening"])
                direction = kept.array
            g = g + direction * momentum if group["nesterov"] else direction
        parameter -= g * number(group["lr"])


def _check_moments(lr: Any, betas: tuple[float, float], eps: float, weight_decay: float) -> None:
    check(number(lr) >= 0, "learning rate", lr)
    check(eps >= 0, "epsilon value", eps)
    check(0 <= betas[0] < 1, "beta parameter at index 0", betas[0])
    check(0 <= betas[1] < 1, "beta parameter at index 1", betas[1])
    check(weight_decay >= 0, "weight_decay value", weight_decay)


class Adam(Optimizer):
    """Steps scaled by running means of gradients and of their squares."""

    decoupled = False

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        _check_moments(lr, betas, eps, weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay or self.decoupled,
        })  # fmt: skip

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        step = counted(state)
        lr, (beta1, beta2) = number(group["lr"]), map(number, group["betas"])
        if group["decoupled_weight_decay"]:
            g = -gradient if group["maximize"] else gradient
            if group["weight_decay"]:
                parameter *= 1 - lr * group["weight_decay"]
        else:
            g = _decayed(gradient, parameter, group)
        mean, square = buffer(state, "exp_avg", parameter), buffer(state, "exp_avg_sq", parameter)
        mean += (g - mean) * (1 - beta1)
        square *= beta2
        square += g * g * (1 - beta2)
        largest = square
        if group["amsgrad"]:
            largest = buffer(state, "max_exp_avg_sq", parameter)
            np.maximum(largest, square, out=largest)
        root = np.sqrt(largest) / (1 - beta2**step) ** 0.5 + group["eps"]
        parameter -= (lr / (1 - beta1**step)) * (mean / root)

    def _writes(self, group: dict[str, Any]) -> int:
        return 2 if group["decoupled_weight_decay"] and group["weight_decay"] else 1


class AdamW(Adam):
    """Adam with weight decay apart from the gradient."""

    decoupled = True

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **options)


class Adamax(Optimizer):
    """Adam with the largest gradient in place of the mean of squares."""

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        _check_moments(lr, betas, eps, weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        })  # fmt: skip

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        step = counted(state)
        beta1, beta2 = group["betas"]
        g = _decayed(gradient, parameter, group)
        mean, largest = buffer(state, "exp_avg", parameter), buffer(state, "exp_inf", parameter)
        mean += (g - mean) * (1 - beta1)
        largest *= beta2
        np.maximum(largest, np.abs(g) + group["eps"], out=largest)
        parameter -= (number(group["lr"]) / (1 - beta1**step)) * (mean / largest)


class RMSprop(Optimizer):
    """Steps scaled by a running mean of squares of gradients."""

    def __init__(
        self, params: Any, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check(number(lr) >= 0, "learning rate", lr)
        check(eps >= 0, "epsilon value", eps)
        check(momentum >= 0, "momentum value", momentum)
        check(weight_decay >= 0, "weight_decay value", weight_decay)
        check(alpha >= 0, "alpha value", alpha)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        })  # fmt: skip

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        counted(state)
        g = _decayed(gradient, parameter, group)
        alpha, lr = group["alpha"], number(group["lr"])
        square = buffer(state, "square_avg", parameter)
        square *= alpha
        square += g * g * (1 - alpha)
        spread = square
        if group["momentum"] > 0:
            buffer(state, "momentum_buffer", parameter)
        if group["centered"]:
            mean = buffer(state, "grad_avg", parameter)
            mean += (g - mean) * (1 - alpha)
            spread = square - mean * mean
        scaled = g / (np.sqrt(spread) + group["eps"])
        if group["momentum"] > 0:
            kept = buffer(state, "momentum_buffer", parameter)
            kept *= group["momentum"]
            kept += scaled
            scaled = kept
        parameter -= scaled * lr


class Adagrad(Optimizer):
    """Steps scaled by the sum of squares of gradients."""

    def __init__(
        self, params: Any, lr: Any = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check(number(lr) >= 0, "learning rate", lr)
        check(lr_decay >= 0, "lr_decay value", lr_decay)
        check(weight_decay >= 0, "weight_decay value", weight_decay)
        check(initial_accumulator_value >= 0, "initial_accumulator_value value", initial_accumulator_value)
        check(eps >= 0, "epsilon value", eps)
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        })  # fmt: skip
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["step"] = Tensor.of(np.zeros((), np.float32))
                self.state[p]["sum"] = Tensor.of(np.full_like(np.asarray(p.array), initial_accumulator_value))

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        step = counted(state)
        g = _decayed(gradient, parameter, group)
        rate = number(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        total = buffer(state, "sum", parameter)
        total += g * g
        parameter -= rate * (g / (np.sqrt(total) + group["eps"]))


class Adadelta(Optimizer):
    """Steps as long as earlier steps, relative to gradients."""

    def __init__(
        self, params: Any, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        check(number(lr) >= 0, "learning rate", lr)
        check(0 <= rho <= 1, "rho value", rho)
        check(eps >= 0, "epsilon value", eps)
        check(weight_decay >= 0, "weight_decay value", weight_decay)
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        })  # fmt: skip

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        counted(state)
        g = _decayed(gradient, parameter, group)
        rho, eps = group["rho"], group["eps"]
        square, moved = buffer(state, "square_avg", parameter), buffer(state, "acc_delta", parameter)
        square *= rho
        square += g * g * (1 - rho)
        step = np.sqrt(moved + eps) / np.sqrt(square + eps) * g
        moved *= rho
        moved += step * step * (1 - rho)
        parameter -= number(group["lr"]) * step
