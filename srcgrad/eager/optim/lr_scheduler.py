"""Learning rates that change from step to step."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from typing import Any

from srcgrad.eager.absent import absent_from
from srcgrad.eager.optim.optimizer import Optimizer


class LRScheduler:
    """Sets the learning rates of an optimizer; subclasses write ``get_lr``."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch != -1 and "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when resuming scheduler with "
                    "last_epoch >= 0"
                )
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self.step()

    def get_lr(self) -> list[float]:
        """The learning rates of this epoch."""
        raise NotImplementedError

    def closed_form(self) -> list[float]:
        """The learning rates of this epoch from the first ones, whatever was set since."""
        return self.get_lr()

    def get_last_lr(self) -> list[float]:
        """The learning rates that were set last."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        rates = self.get_lr() if epoch is None else self.closed_form()
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = lr
        self._last_lr = self._current()

    def _current(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Where the scheduler stands."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what ``state_dict`` gave."""
        self.__dict__.update(state_dict)


class LambdaLR(LRScheduler):
    """The first learning rate times a function of the epoch."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        given = list(lr_lambda) if isinstance(lr_lambda, list | tuple) else [lr_lambda] * len(optimizer.param_groups)
        self.lr_lambdas: list[Callable[[int], float]] = given
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of this epoch."""
        return [lr * f(self.last_epoch) for lr, f in zip(self.base_lrs, self.lr_lambdas, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Where the scheduler stands; of the functions, what objects that are called hold."""
        state = super().state_dict()
        state["lr_lambdas"] = [None if hasattr(f, "__code__") else dict(vars(f)) for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what ``state_dict`` gave, with the functions that are there."""
        self.__dict__.update({name: value for name, value in state_dict.items() if name != "lr_lambdas"})
        for f, held in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if held is not None:
                vars(f).update(held)


class StepLR(LRScheduler):
    """A factor every few epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of this epoch."""
        if self.last_epoch == 0 or self.last_epoch % self.step_size:
            return self._current()
        return [lr * self.gamma for lr in self._current()]

    def closed_form(self) -> list[float]:
        """The learning rates of this epoch."""
        return [lr * self.gamma ** (self.last_epoch // self.step_size) for lr in self.base_lrs]


class MultiStepLR(LRScheduler):
    """A factor at certain epochs."""

    def __init__(self, optimizer: Optimizer, milestones: Any, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = list(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of this epoch."""
        return [lr * self.gamma ** self.milestones.count(self.last_epoch) for lr in self._current()]

    def closed_form(self) -> list[float]:
        """The learning rates of this epoch."""
        passed = sum(milestone <= self.last_epoch for milestone in self.milestones)
        return [lr * self.gamma**passed for lr in self.base_lrs]


class ExponentialLR(LRScheduler):
    """A factor every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of this epoch."""
        return self._current() if self.last_epoch == 0 else [lr * self.gamma for lr in self._current()]

    def closed_form(self) -> list[float]:
        """The learning rates of this epoch."""
        return [lr * self.gamma**self.last_epoch for lr in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine down to a least learning rate (Loshchilov & Hutter 2017)."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of this epoch, by recurrence as PyTorch has them."""
        if self.last_epoch == 0:
            return self._current()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            turn = (1 - math.cos(math.pi / self.T_max)) / 2
            return [lr + (base - self.eta_min) * turn for lr, base in zip(self._current(), self.base_lrs, strict=True)]
        now, before = (1 + math.cos(math.pi * e / self.T_max) for e in (self.last_epoch, self.last_epoch - 1))
        return [now / before * (lr - self.eta_min) + self.eta_min for lr in self._current()]

    def closed_form(self) -> list[float]:
        """The learning rates of this epoch."""
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (lr - self.eta_min) * share for lr in self.base_lrs]


class LinearLR(LRScheduler):
    """A factor that goes in a line from one number to another."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of this epoch, by recurrence as PyTorch has them."""
        if self.last_epoch == 0:
            return [lr * self.start_factor for lr in self._current()]
        if self.last_epoch > self.total_iters:
            return self._current()
        rise = self.end_factor - self.start_factor
        below = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return [lr * (1.0 + rise / below) for lr in self._current()]

    def closed_form(self) -> list[float]:
        """The learning rates of this epoch."""
        rise = self.end_factor - self.start_factor
        share = self.start_factor + rise * min(self.total_iters, self.last_epoch) / self.total_iters
        return [lr * share for lr in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine down, again and again, each time longer by a factor (Loshchilov & Hutter 2017)."""

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, int | float):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of this epoch."""
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (lr - self.eta_min) * share for lr in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on to the next epoch, or to a part of one."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            epoch = 0 if epoch is None else epoch
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self.T_i, self.T_cur = self.T_0, epoch
            if epoch >= self.T_0 and self.T_mult == 1:
                self.T_cur = epoch % self.T_0
            elif epoch >= self.T_0:
                n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
                self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
                self.T_i = self.T_0 * self.T_mult**n
        self.last_epoch = math.floor(epoch)
        for group, lr in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = lr
        self._last_lr = self._current()


class OneCycleLR(LRScheduler):
    """Up to a largest learning rate and down to nearly nothing, the momentum the other way (Smith & Topin 2018)."""

    def __init__(
        self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos",
        cycle_momentum: bool = True, base_momentum: Any = 0.85, max_momentum: Any = 0.95, div_factor: float = 25.0,
        final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        up = float(pct_start * self.total_steps) - 1
        down = float(2 * pct_start * self.total_steps) - 2
        whole = self.total_steps - 1
        #: (end, the rates it begins with and ends with, the momenta too)
        self._schedule_phases = (
            [(up, "initial_lr", "max_lr", "max_momentum", "base_momentum"),
             (down, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
             (whole, "initial_lr", "min_lr", "max_momentum", "max_momentum")]
            if three_phase
            else [(up, "initial_lr", "max_lr", "max_momentum", "base_momentum"),
                  (whole, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        )  # fmt: skip
        groups = optimizer.param_groups
        if last_epoch == -1:
            for group, largest in zip(groups, _each("max_lr", max_lr, groups), strict=True):
                group["max_lr"], group["initial_lr"] = largest, largest / div_factor
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        self.use_beta1 = "betas" in optimizer.defaults
        if cycle_momentum:
            if "momentum" not in optimizer.defaults and not self.use_beta1:
                raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
            if last_epoch == -1:
                momenta = _each("max_momentum", max_momentum, groups), _each("base_momentum", base_momentum, groups)
                for group, most, least in zip(groups, *momenta, strict=True):
                    group["max_momentum"], group["base_momentum"] = most, least
                    self._set_momentum(group, most)
        super().__init__(optimizer, last_epoch)

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum

    def _between(self, start: float, end: float, share: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)

    def get_lr(self) -> list[float]:
        """The learning rates of this step; momenta are set on the way."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is {self.total_steps}"
            )
        ends = [phase[0] for phase in self._schedule_phases]
        turn = min(bisect.bisect_left(ends, step), len(ends) - 1)
        begin, names = ends[turn - 1] if turn else 0.0, self._schedule_phases[turn][1:]
        share = (step - begin) / (ends[turn] - begin)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[names[0]], group[names[1]], share))
            if self.cycle_momentum:
                self._set_momentum(group, self._between(group[names[2]], group[names[3]], share))
        return rates


def _total(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    """How many steps there are, said in one of two ways."""
    if total_steps is not None:
        if total_steps <= 0 or not isinstance(total_steps, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        return total_steps
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, value in (("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return epochs * steps_per_epoch


def _each(name: str, value: Any, groups: list[Any]) -> list[Any]:
    """A setting of each group: given for each, or for all."""
    if not isinstance(value, list | tuple):
        return [value] * len(groups)
    if len(value) != len(groups):
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
                         f"param_groups has {len(groups)}.")
    return list(value)


class SequentialLR(LRScheduler):
    """Schedules one after the other, changed at certain epochs."""

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        for number, scheduler in enumerate(schedulers):
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{type(self).__name__} does not support `ReduceLROnPlateau` scheduler as it requires additional "
                    f"kwargs to be specified when calling `step`, but got one at index {number} in the given "
                    "schedulers sequence."
                )
            if scheduler.optimizer != optimizer:
                raise ValueError(
                    f"{type(self).__name__} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {number} has {scheduler.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        self._schedulers, self._milestones, self.optimizer = schedulers, milestones, optimizer
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in schedulers:  # each has made its first step already, on the rates of those before it
            scheduler.last_epoch -= 1
        schedulers[0].step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Go on to the next epoch, in the schedule whose turn it is."""
        self.last_epoch += 1
        turn = bisect.bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[turn]
        if turn and self._milestones[turn - 1] == self.last_epoch:
            scheduler.step(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """Where the schedules stand."""
        state = {name: value for name, value in self.__dict__.items() if name not in ("optimizer", "_schedulers")}
        return {**state, "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what ``state_dict`` gave."""
        self.__dict__.update({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class ReduceLROnPlateau(LRScheduler):
    """A factor whenever a number has not become better for some epochs."""

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0, min_lr: Any = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        if isinstance(min_lr, list | tuple) and len(min_lr) != len(optimizer.param_groups):
            raise ValueError(f"expected {len(optimizer.param_groups)} min_lrs, got {len(min_lr)}")
        self.min_lrs = _each("min_lr", min_lr, optimizer.param_groups)
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        self.last_epoch = 0
        self._reset()
        self._last_lr = self._current()

    def _reset(self) -> None:
        self.best = math.inf if self.mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether numbers are not looked at, as the rates have just changed."""
        return self.cooldown_counter > 0

    def is_better(self, a: float, best: float) -> bool:
        """Whether a number is better than the best one by more than the threshold."""
        sign = 1 if self.mode == "min" else -1
        if self.threshold_mode == "rel":
            return sign * a < sign * best * (1.0 - sign * self.threshold)
        return sign * a < sign * best - self.threshold

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Look at the number of an epoch."""
        now = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(now, self.best):
            self.best, self.num_bad_epochs = now, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
                lr = max(group["lr"] * self.factor, least)
                if group["lr"] - lr > self.eps:
                    group["lr"] = lr
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._current()

__getattr__ = absent_from("torch.optim.lr_scheduler")
