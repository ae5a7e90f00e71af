"""L-BFGS: steps by an approximation of the inverse Hessian from the last changes of parameters and gradient.

Nocedal & Wright, *Numerical Optimization*, algorithms 7.4 (two loops), 3.5 and 3.6 (a step that meets the strong Wolfe
conditions), 3.59 (minimum of a cubic).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcgrad.eager.modes import enable_grad, no_grad
from srcgrad.eager.optim.optimizer import Optimizer, check, number
from srcgrad.eager.tensor import Tensor

_DECREASE, _CURVATURE = 1e-4, 0.9  # the constants of the Wolfe conditions
_LEAST_CURVATURE = 1e-10  # of a change that is taken into the approximation


@dataclass(frozen=True)
class _Point:
    """A step along a direction: its length, the loss and the gradient there, and the slope along the direction."""

    t: float
    f: float
    g: Any
    slope: float


class LBFGS(Optimizer):
    """Limited-memory BFGS; ``step`` takes a closure that computes the loss and its gradient again."""

    def __init__(
        self, params: Any, lr: Any = 1, max_iter: int = 20, max_eval: int | None = None, tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        check(number(lr) >= 0, "learning rate", lr)
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        })  # fmt: skip
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params: list[Tensor] = self.param_groups[0]["params"]

    # --- parameters as one vector ------------------------------------------------------------------------------------
    def _gradient(self) -> Any:
        parts = []
        for p in self._params:
            g = np.zeros(p.array.size, p.array.dtype) if p.gradient is None else p.gradient.array
            parts.append(np.asarray(g).reshape(-1))
        return np.concatenate(parts)

    def _moved(self, t: float, direction: Any) -> None:
        """Move the parameters along a direction."""
        start = 0
        for p in self._params:
            storage = p.storage_array()
            part = direction[start : start + storage.size].reshape(storage.shape)
            storage += np.asarray(t, storage.dtype) * part.astype(storage.dtype, copy=False)
            start += storage.size
            if p.counter is None:
                p.counter = [0]
            p.counter[0] += 1

    def _restored(self, values: list[Any]) -> None:
        for p, value in zip(self._params, values, strict=True):
            p.storage_array()[...] = value
            if p.counter is None:
                p.counter = [0]
            p.counter[0] += 1

    # --- a step ------------------------------------------------------------------------------------------------------
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Up to ``max_iter`` iterations; returns the loss before them."""
        for hook in list(self._pre_hooks.values()):
            hook(self, (closure,), {})

        def evaluated() -> Any:
            with enable_grad():
                return closure()

        with no_grad():
            loss = self._iterated(evaluated)
        for hook in list(self._post_hooks.values()):
            hook(self, (closure,), {})
        return loss

    def _iterated(self, closure: Callable[[], Any]) -> Any:
        group, state = self.param_groups[0], self.state[self._params[0]]
        tolerance = group["tolerance_change"]
        first = closure()
        loss, g, evaluations = float(first), self._gradient(), 1
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        state["func_evals"] += 1
        kept = _Kept.of(state)
        done = bool(np.abs(g).max() <= group["tolerance_grad"])
        iterations = 0
        while not done and iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            kept.turn(g, group["history_size"], state["n_iter"] == 1)
            before = loss
            kept.t = number(group["lr"])
            if state["n_iter"] == 1:
                kept.t *= min(1.0, 1.0 / float(np.abs(g).sum()))
            slope = float(g @ kept.d)
            if slope > -tolerance:
                break
            tried = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                left = group["max_eval"] - evaluations
                found, tried = self._searched(closure, _Point(0.0, loss, g, slope), kept.t, kept.d, tolerance, left)
                loss, g, kept.t = found.f, found.g, found.t
                self._moved(kept.t, kept.d)
                done = bool(np.abs(g).max() <= group["tolerance_grad"])
            else:
                self._moved(kept.t, kept.d)
                if iterations != group["max_iter"]:
                    loss, g, tried = float(closure()), self._gradient(), 1
                    done = bool(np.abs(g).max() <= group["tolerance_grad"])
            evaluations += tried
            state["func_evals"] += tried
            still = np.abs(kept.d * np.asarray(kept.t, kept.d.dtype)).max() <= tolerance
            if evaluations >= group["max_eval"] or still or abs(loss - before) < tolerance:
                break
        kept.store(state, loss)
        return first

    # --- the length of a step ----------------------------------------------------------------------------------------
    def _searched(
        self, closure: Callable[[], Any], start: _Point, t: float, d: Any, tolerance: float, left: int
    ) -> tuple[_Point, int]:
        """A step that meets the strong Wolfe conditions, or the best of one and ``left`` more; how often the loss was
        computed."""
        origin = [np.array(p.storage_array()) for p in self._params]
        count = 0

        def at(t: float) -> _Point:
            nonlocal count
            count += 1
            self._moved(t, d)
            loss, g = float(closure()), self._gradient()
            self._restored(origin)
            return _Point(t, loss, g, float(g @ d))

        bracket, left = _bracketed(at, start, t, left)
        if len(bracket) == 1:
            return bracket[0], count
        return _zoomed(at, start, bracket, left, float(np.abs(d).max()), tolerance), count


def _too_high(point: _Point, start: _Point) -> bool:
    return point.f > start.f + _DECREASE * point.t * start.slope


def _flat(point: _Point, start: _Point) -> bool:
    return abs(point.slope) <= -_CURVATURE * start.slope


def _bracketed(at: Callable[[float], _Point], start: _Point, t: float, left: int) -> tuple[list[_Point], int]:
    """A point that meets the conditions, or two with such a one between them; how many more may be tried."""
    before, now = start, at(t)
    for tried in range(left):
        if _too_high(now, start) or (tried > 1 and now.f >= before.f):
            return [before, now], left - tried
        if _flat(now, start):
            return [now], 0
        if now.slope >= 0:
            return [before, now], left - tried
        least, most = now.t + 0.01 * (now.t - before.t), now.t * 10
        before, now = now, at(_least_of_cubic(before, now, least, most))
    return [start, now], 0


def _zoomed(
    at: Callable[[float], _Point], start: _Point, bracket: list[_Point], left: int, length: float, tolerance: float
) -> _Point:
    """The bracket made smaller until its lower end meets the conditions."""
    stuck = False
    low, high = (0, 1) if bracket[0].f <= bracket[1].f else (1, 0)
    for _ in range(left):
        ends = bracket[0].t, bracket[1].t
        if abs(ends[1] - ends[0]) * length < tolerance:
            break
        t = _least_of_cubic(bracket[0], bracket[1], min(ends), max(ends))
        margin = 0.1 * (max(ends) - min(ends))
        if min(max(ends) - t, t - min(ends)) < margin:
            if stuck or t >= max(ends) or t <= min(ends):
                t = max(ends) - margin if abs(t - max(ends)) < abs(t - min(ends)) else min(ends) + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        now = at(t)
        if _too_high(now, start) or now.f >= bracket[low].f:
            bracket[high] = now
            low, high = (0, 1) if bracket[0].f <= bracket[1].f else (1, 0)
            continue
        met = _flat(now, start)
        if not met and now.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = now
        if met:
            break
    return bracket[low]


def _least_of_cubic(a: _Point, b: _Point, least: float, most: float) -> float:
    """Where the cubic through two points with their slopes is least, within bounds."""
    try:
        d1 = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t)
        square = d1 * d1 - a.slope * b.slope
        if not square >= 0:
            return (least + most) / 2.0
        if a.t > b.t:
            a, b = b, a
        d2 = math.sqrt(square)
        found = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    except ZeroDivisionError:
        return (least + most) / 2.0
    return min(max(found, least), most)


class _Kept:
    """The direction, the last gradient, and the changes that the approximation is made of."""

    def __init__(self) -> None:
        self.d: Any = None
        self.t: float = 0.0
        self.g: Any = None
        self.changes: list[tuple[Any, Any, float]] = []  # of gradient and parameters, and 1 / their product
        self.scale: float = 1.0

    @staticmethod
    def of(state: dict[str, Any]) -> _Kept:
        """What was stored in an optimizer's state, under PyTorch's names."""
        made = _Kept()
        if state.get("d") is not None:
            made.d, made.t, made.g = state["d"].array, state["t"], state["prev_flat_grad"].array
            columns = (state["old_dirs"], state["old_stps"], state["ro"])
            made.changes = [(y.array, s.array, float(r.array)) for y, s, r in zip(*columns, strict=True)]
            made.scale = float(state["H_diag"])
        return made

    def store(self, state: dict[str, Any], loss: float) -> None:
        """Into an optimizer's state, as tensors and numbers."""
        if self.d is None:
            return
        state.update(d=Tensor.of(self.d), t=self.t, prev_flat_grad=Tensor.of(self.g), prev_loss=loss, H_diag=self.scale)
        state["old_dirs"] = [Tensor.of(y) for y, _, _ in self.changes]
        state["old_stps"] = [Tensor.of(s) for _, s, _ in self.changes]
        state["ro"] = [Tensor.of(np.asarray(r, self.d.dtype)) for _, _, r in self.changes]

    def turn(self, g: Any, history: int, first: bool) -> None:
        """The next direction, from the gradient and the changes so far."""
        if first:
            self.d, self.changes, self.scale = -g, [], 1.0
            self.g = g
            return
        y, s = g - self.g, self.d * np.asarray(self.t, self.d.dtype)
        product = float(y @ s)
        if product > _LEAST_CURVATURE:
            if len(self.changes) == history:
                self.changes.pop(0)
            self.changes.append((y, s, 1.0 / product))
            self.scale = product / float(y @ y)
        q, shares = -g, []
        for y, s, r in reversed(self.changes):
            shares.append(float(s @ q) * r)
            q = q - y * np.asarray(shares[-1], q.dtype)
        d = q * np.asarray(self.scale, q.dtype)
        for (y, s, r), share in zip(self.changes, reversed(shares), strict=True):
            d = d + s * np.asarray(share - float(y @ d) * r, d.dtype)
        self.d, self.g = d, g
