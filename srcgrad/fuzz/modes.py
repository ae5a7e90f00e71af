"""The modes in which a random program is asked for its derivatives, each compared with numbers.

Enters: a ``Case``, a program with what numbers say of it.  Leaves: what is wrong with the mode's answer, an empty text
if nothing is.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any
from zlib import crc32

import numpy as np

from srcgrad.api.arguments import holds_objects, is_floating
from srcgrad.api.dense import hvp, jacfwd, jacobian
from srcgrad.api.derivative import Derivative
from srcgrad.api.linearization import linearize
from srcgrad.api.transforms import grad, jvp, value_and_grad, vjp
from srcgrad.api.vmap import vmap
from srcgrad.errors import ArgumentError, CheaperMode, ExampleByExample
from srcgrad.fuzz.numbers import (
    LARGEST,
    Truth,
    Unsuitable,
    Vector,
    copied,
    forget,
    is_inexact,
    is_object,
    leaves,
    load,
    mapped,
    point_of,
    random_like,
    ravel,
    same,
    truth,
    unravel,
)
from srcgrad.fuzz.repeated import repeated
from srcgrad.requests import keeping_forms


@dataclass(frozen=True)
class Case:
    """One program that is judged."""

    text: str
    function: Callable[..., Any]
    expected: Truth
    moving: tuple[int, ...] | None

    @property
    def argnums(self) -> tuple[int, ...]:
        every = range(len(self.arguments()))
        return tuple(k for k in every if self.moving is None or k in self.moving)

    def arguments(self) -> tuple[Any, ...]:
        return point_of(self.function)

    @property
    def is_number(self) -> bool:
        return is_inexact(self.expected.value) and np.shape(self.expected.value) == ()

    def chosen(self, tree: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(tree[k] for k in self.argnums)

    def seed(self, number: int) -> Any:
        return random_like(self.expected.value, number)

    def direction(self, k: int) -> tuple[Any, ...]:
        """A direction in the structure of the arguments: nothing where none is differentiated."""
        arguments = self.arguments()
        whole = unravel(arguments, self.expected.directions[k])
        return tuple(part if j in self.argnums else None for j, part in enumerate(whole))

    def wrong(self, cotangents: Sequence[Any], seed: Any) -> str:
        """What is wrong with cotangents: they must give the derivative along each direction."""
        arguments = self.arguments()
        for k, j in enumerate(self.argnums):
            complaint = misfit(cotangents[k], arguments[j], f"the cotangent of argument {j}")
            if complaint:
                return complaint
        got = ravel(tuple(cotangents))
        weights = ravel(seed)
        for direction, tangent in zip(self.expected.directions, self.expected.tangents, strict=True):
            along = ravel(self.chosen(unravel(arguments, direction)))
            left, right = float(got @ along), float(weights @ tangent)
            scale = max(1.0, float(np.abs(got) @ np.abs(along)), float(np.abs(weights) @ np.abs(tangent)))
            if not abs(left - right) <= self.expected.tolerance * scale:
                return f"wrong derivative {left!r} along a direction where numbers give {right!r}: cotangents {got}"
        return ""

    def kept(self, arguments: Sequence[Any]) -> str:
        return "" if same(tuple(arguments), self.arguments()) else "changed argument: the caller's own"


def misfit(got: Any, like: Any, what: str) -> str:
    """Whether a cotangent has the shapes of what it belongs to."""
    here = [leaf for leaf in leaves(got) if is_floating(leaf)]
    there = [leaf for leaf in leaves(like) if is_floating(leaf)]
    if [np.shape(leaf) for leaf in here] != [np.shape(leaf) for leaf in there]:
        return f"misfit: {what} has the shapes {[*map(np.shape, here)]}, not {[*map(np.shape, there)]}"
    return ""


# --- the modes -------------------------------------------------------------------------------------------------------
def _joint(case: Case) -> str:
    if not case.is_number:
        return ""
    arguments = case.arguments()
    value, gradient = value_and_grad(case.function, argnums=case.argnums)(*arguments)
    if not value == case.expected.value:
        return f"different value {value!r}, not {case.expected.value!r}"
    return case.wrong(gradient, np.float64(1.0)) or case.kept(arguments)


def _pair(case: Case) -> str:
    arguments = case.arguments()
    value, pullback = vjp(case.function, *arguments, argnums=case.argnums)
    if not same(value, case.expected.value):
        return f"different value {value!r}, not {case.expected.value!r}"
    kept = copied(value)
    first = pullback(case.seed(1))
    complaint = case.wrong(first, case.seed(1))
    if complaint:
        return complaint
    first = copied(first)
    complaint = case.wrong(pullback(case.seed(2)), case.seed(2))
    if complaint:
        return f"second pullback: {complaint}"
    if not same(pullback(case.seed(1)), first):
        return "third pullback differs from the first"
    if not same(value, kept):
        return "value handed out was changed by the pullback"
    for _ in range(2):  # through a door, at last
        value, pullback = vjp(case.function, *arguments, argnums=case.argnums)
        if not same(value, kept) or not same(pullback(case.seed(1)), first):
            return "a later call of vjp differs from the first"
    return case.kept(arguments)


def _forward(case: Case) -> str:
    arguments = case.arguments()
    value, tangent = jvp(case.function, arguments, case.direction(0))
    return _wrong_tangent(case, value, tangent, 0) or case.kept(arguments)


def _linear(case: Case) -> str:
    """Along one direction, another, and the first again."""
    arguments = case.arguments()
    value, along = linearize(case.function, *arguments, argnums=case.argnums)
    for k in (0, 1, 0):
        complaint = _wrong_tangent(case, value, along(*case.chosen(case.direction(k))), k)
        if complaint:
            return complaint
    return case.kept(arguments)


def _wrong_tangent(case: Case, value: Any, tangent: Any, k: int) -> str:
    if not same(value, case.expected.value):
        return f"different value {value!r}, not {case.expected.value!r}"
    complaint = misfit(tangent, case.expected.value, "the tangent")
    if complaint:
        return complaint
    got, wanted = ravel(tangent), case.expected.tangents[k]
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    if not np.all(np.abs(got - wanted) <= case.expected.tolerance * scale):
        return f"wrong tangent {got} where numbers give {wanted}"
    return ""


def _slope(case: Case) -> Vector:
    """The change of the compiled gradient along a direction, by numbers."""
    arguments = case.arguments()
    flat, along = ravel(arguments), case.expected.directions[0]
    compiled = grad(case.function, argnums=case.argnums)

    def gradient(point: Vector) -> Vector:
        try:
            case.function(*unravel(arguments, point))
        except Exception as error:  # beyond a branch of which the point lies on the border
            raise Unsuitable(f"the program raises {type(error).__name__} near the point") from error
        return ravel(compiled(*unravel(arguments, point)))

    def central(h: float) -> Vector:
        slope: Vector = (gradient(flat + h * along) - gradient(flat - h * along)) / (2.0 * h)
        return slope

    one, other = central(2e-4), central(1e-4)
    made: Vector = other + (other - one) / 3.0
    size = np.max(np.abs(made), initial=0.0)
    if not size < LARGEST or np.max(np.abs(one - other), initial=0.0) > 1e-4 * max(1.0, size):
        raise Unsuitable("no second derivative by numbers")
    return made


def _second(case: Case) -> str:
    """Forward over reverse."""
    if not case.is_number:
        return ""
    arguments = case.arguments()
    got = ravel(hvp(case.function, argnums=case.argnums)(*arguments, case.chosen(case.direction(0))))
    return _unequal(got, _slope(case)) or case.kept(arguments)


def _twice(case: Case) -> str:
    """Reverse over reverse: the adjoint of the gradient's own text."""
    if not case.is_number:
        return ""
    arguments = case.arguments()
    gradient = Derivative(case.function, case.argnums, mode="reverse")
    _, pullback = vjp(gradient, *arguments, argnums=case.argnums)
    return _unequal(ravel(pullback(case.chosen(case.direction(0)))), _slope(case)) or case.kept(arguments)


def _unequal(got: Vector, wanted: Vector) -> str:
    if got.shape != wanted.shape:
        return f"misfit: {got.size} second derivatives where there are {wanted.size}"
    if not np.all(np.abs(got - wanted) <= 1e-5 * max(1.0, float(np.max(np.abs(wanted), initial=0.0)))):
        return f"wrong second derivative {got} where numbers give {wanted}"
    return ""


def _eager(case: Case) -> str:
    from srcgrad.eager import plain

    arguments = case.arguments()
    if any(map(is_object, arguments)):
        raise NotImplementedError("an object among the arguments")
    value, pullback = plain.vjp(case.function, *arguments, argnums=case.argnums)
    if not same(value, case.expected.value):
        if _is_refused_inside(case):
            raise Unsuitable("the program catches what the eager library refuses")
        return f"different value {value!r}, not {case.expected.value!r}"
    return case.wrong(pullback(case.seed(1)), case.seed(1)) or case.kept(arguments)


def _is_refused_inside(case: Case) -> bool:
    """Whether the eager library refuses something while a program runs, which the program does not let through: by
    ``return`` in a last block, or a handler of all errors."""
    from srcgrad.eager import plain
    from srcgrad.eager.plain_operators import NotFollowed

    found: list[type[BaseException]] = []

    def traced(frame: FrameType, event: str, given: Any) -> Any:
        if event == "exception" and frame.f_globals.get("__name__", "").startswith("srcgrad.eager"):
            found.append(given[0])
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        plain.vjp(case.function, *case.arguments(), argnums=case.argnums)
    finally:
        sys.settrace(before)
    return any(kind in (RuntimeError, NotImplementedError, NotFollowed) for kind in found)


# --- many at once ----------------------------------------------------------------------------------------------------
def _batched(case: Case) -> str:
    """The function over a batch, its gradient over one, and the pullback of the batch, against a loop over examples.

    The batch is as large as some dimension of the arguments, or has one example.
    """
    size = 1 + crc32(case.text.encode()) % 4
    arguments = case.arguments()
    flat, along = ravel(arguments), case.expected.directions[0]
    points = [unravel(arguments, flat + 1e-3 * k * along) for k in range(size)]
    axes = tuple(0 if k in case.argnums and _is_stackable(a) else None for k, a in enumerate(arguments))
    if not any(axis == 0 for axis in axes):
        return ""
    every = tuple(_stacked([one[k] for one in points]) if axis == 0 else a for k, (a, axis) in enumerate(
        zip(arguments, axes, strict=True)))  # fmt: skip

    def examples() -> list[tuple[Any, ...]]:
        return [tuple(_row(a, i) if axis == 0 else copied(a) for a, axis in zip(every, axes, strict=True))
                for i in range(size)]  # fmt: skip

    before = copied(every)
    for what, function in [("", case.function)] + [("gradient: ", grad(case.function, case.argnums))] * case.is_number:
        try:
            wanted = [function(*one) for one in examples()]
        except Exception as error:
            if not what:
                raise Unsuitable(f"the program raises {type(error).__name__} for an example") from error
            raise
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ExampleByExample)
                got = vmap(function, axes)(*every)
        except ArgumentError as error:
            raise Unsuitable(f"the results are not stacked: {error.reason}") from error
        complaint = _other_than(got, wanted)
        if complaint:
            return f"{what}{complaint}"
        if not same(every, before):
            return f"{what}changed argument: the caller's own"
    return ""


def _is_stackable(value: Any) -> bool:
    return not holds_objects(value) and all(map(is_inexact, leaves(value)))


def _stacked(values: list[Any]) -> Any:
    columns = zip(*map(leaves, values), strict=True)
    stacks = iter([np.stack(column) for column in columns])
    return mapped(values[0], lambda leaf: next(stacks))


def _row(value: Any, i: int) -> Any:
    return copied(mapped(value, lambda leaf: leaf[i]))


def _other_than(got: Any, wanted: list[Any]) -> str:
    """What is wrong with the results of a batch."""
    found, columns = leaves(got), list(zip(*map(leaves, wanted), strict=True))
    if len(found) != len(columns):
        return f"misfit: {len(found)} parts over a batch where examples have {len(columns)}"
    for one, column in zip(found, columns, strict=True):
        if column[0] is None and one is None:
            continue
        whole = np.stack(column)
        if np.shape(one) != whole.shape or np.asarray(one).dtype != whole.dtype:
            return f"misfit: {np.shape(one)} {np.asarray(one).dtype}, not {whole.shape} {whole.dtype}"
        scale = max(1.0, float(np.max(np.abs(whole), initial=0.0)))
        if not np.all(np.abs(one - whole) <= 1e-8 * scale if whole.dtype.kind != "b" else one == whole):
            return f"wrong over a batch: {one} where examples give {whole}"
    return ""


def _one_sweep(case: Case) -> str:
    """Jacobians, whose sweeps are one for all outputs, or all inputs; of a gradient, too, where there is one."""
    value, arguments = case.expected.value, case.arguments()
    if not is_inexact(value) or np.ndim(value) > 2:
        return ""
    for make in (jacobian, jacfwd):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CheaperMode)
            found = make(case.function, case.argnums)(*case.arguments())
        for direction, tangent in zip(case.expected.directions, case.expected.tangents, strict=True):
            got = np.zeros(np.shape(value))
            for block, part in zip(found, case.chosen(unravel(arguments, direction)), strict=True):
                for one, moved in zip(leaves(block), leaves(part), strict=True):
                    if is_inexact(moved):
                        got = got + np.tensordot(one, moved, np.ndim(moved))
            scale = max(1.0, float(np.max(np.abs(tangent), initial=0.0)))
            if not np.all(np.abs(ravel(got) - tangent) <= case.expected.tolerance * scale):
                return f"wrong {make.__name__}: {got} along a direction where numbers give {tangent}"
    return case.kept(arguments)


# --- what is run again -----------------------------------------------------------------------------------------------
def _repeated(case: Case) -> str:
    """Few states are kept of every loop, and functions are run again: the derivative must be what it was."""
    number = crc32(case.text.encode())
    text = repeated(case.text, 1 + number % 3, (None, 1, 2)[number // 3 % 3], functions=number % 2 == 0)
    now = Case(text, load(text), case.expected, case.moving)
    try:
        return _pair(now)
    finally:
        forget(now.function)


# --- what a call may meet --------------------------------------------------------------------------------------------
def _bound_again(case: Case) -> str:
    """A function that f calls is bound again after a derivative was made: it must be that of the new one."""
    if not case.is_number:
        return ""
    texts = [through_a_callee(case.text, factor) for factor in ("1.0", "0.75")]
    now = Case(texts[1], load(texts[0]), truth(texts[1], case.moving), case.moving)
    derivative, other = value_and_grad(now.function, argnums=case.argnums), load(texts[1])
    try:
        derivative(*case.arguments())
        now.function.__globals__["rescaled"] = other.__globals__["rescaled"]
        with keeping_forms():  # of what the functions are now
            value, gradient = derivative(*case.arguments())
    finally:
        forget(now.function)
        forget(other)
    if not value == now.expected.value:
        return f"different value {value!r} after a callee was bound again, not {now.expected.value!r}"
    return now.wrong(gradient, np.float64(1.0))


def through_a_callee(text: str, factor: str) -> str:
    """The module where ``f`` returns what it did by way of a function that multiplies it."""
    tree = ast.parse(text)
    (f,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "f")
    pending: list[ast.AST] = list(f.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            node.value = ast.Call(ast.Name("rescaled", ast.Load()), [node.value], [])
        elif not isinstance(node, ast.FunctionDef | ast.Lambda):
            pending += ast.iter_child_nodes(node)
    return f"{ast.unparse(ast.fix_missing_locations(tree))}\n\n\ndef rescaled(v):\n    return v * {factor}\n"


CHECKS: dict[str, Callable[[Case], str]] = {
    "joint": _joint,
    "pair": _pair,
    "forward": _forward,
    "second": _second,
    "reverse over reverse": _twice,
    "eager": _eager,
    "bound again": _bound_again,
    "batched": _batched,
    "one sweep": _one_sweep,
    "linear": _linear,
    "run again": _repeated,
}
