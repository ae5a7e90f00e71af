"""What all optimizers share: groups of parameters with settings, their state, hooks around steps, printing."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from srcgrad.eager.handles import RemovableHandle
from srcgrad.eager.modes import enable_grad, no_grad
from srcgrad.eager.tensor import Tensor

required: Any = object()


class Optimizer:
    """Changes parameters by their gradients; subclasses write ``_update``."""

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"torch.{params.dtype.type_name}"
            )
        self.defaults = defaults
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._pre_hooks: OrderedDict[int, Any] = OrderedDict()
        self._post_hooks: OrderedDict[int, Any] = OrderedDict()
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Take more parameters, with settings of their own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, Tensor):
            given = [given]
        elif isinstance(given, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        given = list(given)
        if given and isinstance(given[0], tuple):
            param_group["param_names"] = [name for name, _ in given]
            given = [parameter for _, parameter in given]
        for parameter in given:
            if not isinstance(parameter, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {_name(parameter)}")
            if not (parameter.is_leaf or parameter.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        param_group["params"] = given
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        taken = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in taken for p in given):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    # --- stepping ----------------------------------------------------------------------------------------------------
    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Change the array of one parameter by that of its gradient."""
        raise NotImplementedError

    def _writes(self, group: dict[str, Any]) -> int:
        """How often a step writes to a parameter, which its version counts."""
        return 1

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change all parameters that have a gradient; ``closure`` computes the loss anew before that."""
        for hook in list(self._pre_hooks.values()):
            hook(self, (closure,) if closure is not None else (), {})
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.gradient is None:
                        continue
                    state = self.state.get(p, {})
                    self._update(p.storage_array(), np.asarray(p.gradient.array), state, group)
                    if state:
                        self.state[p] = state
                    if p.counter is None:
                        p.counter = [0]
                    p.counter[0] += self._writes(group)
        for hook in list(self._post_hooks.values()):
            hook(self, (closure,) if closure is not None else (), {})
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to zero."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.gradient is None:
                    continue
                if set_to_none:
                    p.gradient = None
                else:
                    if p.gradient.grad_fn is not None:
                        p.gradient.detach_()
                    else:
                        p.gradient.requires_grad_(False)
                    p.gradient.zero_()

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before every step."""
        return RemovableHandle(self._pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after every step."""
        return RemovableHandle(self._post_hooks, hook)

    # --- state -------------------------------------------------------------------------------------------------------
    def state_dict(self) -> dict[str, Any]:
        """State and settings, parameters by their numbers."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            packed = {name: value for name, value in group.items() if name != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {numbers[id(p)]: values for p, values in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what ``state_dict`` gave."""
        groups = deepcopy(state_dict["param_groups"])
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(groups, self.param_groups, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        parameters = [p for group in self.param_groups for p in group["params"]]
        for given, group in zip(groups, self.param_groups, strict=True):
            group.update({name: value for name, value in given.items() if name != "params"})
        self.state = defaultdict(dict)
        for number, values in state_dict["state"].items():
            self.state[parameters[number]] = deepcopy(values)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {i}"] if i else [f"Parameter Group {i}"]
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join(lines) + "\n)"


def buffer(state: dict[str, Any], name: str, like: Any) -> Any:
    """The array of a tensor of the state, zeros at first."""
    if name not in state:
        state[name] = Tensor.of(np.zeros_like(like))
    return state[name].array


def counted(state: dict[str, Any]) -> int:
    """The number of this step, the first of which is 1; kept as a tensor, as PyTorch does."""
    step = state.get("step")
    if step is None:
        step = state["step"] = Tensor.of(np.zeros((), np.float32))
    step.array = np.asarray(step.array + np.float32(1))
    return int(step.array)


def check(condition: bool, text: str, value: Any) -> None:
    """Refuse a setting that makes no sense."""
    if not condition:
        raise ValueError(f"Invalid {text}: {value}")


def number(value: Any) -> float:
    """A setting that may be a tensor."""
    return float(value.array) if isinstance(value, Tensor) else value


def _name(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
