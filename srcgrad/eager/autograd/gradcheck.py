"""``gradcheck`` and ``gradgradcheck``: derivatives of the graph against differences.

Slow mode compares whole Jacobians, in the layout of PyTorch's messages: a row for each element of the input.  Fast mode
compares one number, the product with random vectors on both sides.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcgrad.eager.autograd import gradcheck_messages as messages
from srcgrad.eager.autograd.gradcheck_jacobians import (
    GradcheckError,
    Jacobians,
    adjusted,
    allclose,
    by_differences,
    by_pullback,
    by_tangents,
    products_by_differences,
    products_by_pullback,
    products_by_tangents,
    undefined,
    vectors,
)  # fmt: skip
from srcgrad.eager.engine import grad
from srcgrad.eager.func.batching import batched
from srcgrad.eager.generators import default_generator, uniform
from srcgrad.eager.tensor import Tensor

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


@dataclass(frozen=True)
class _Options:
    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_dtypes: bool
    fast: bool


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the gradients of ``func`` agree with central differences; raises GradcheckError where they do not."""
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    options = _Options(eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode)
    try:
        xs = as_tuple(inputs)
        _check_inputs(xs)
        result = func(*xs)
        ys = _differentiable(result)
        if check_backward_ad:
            _check_backward(func, xs, result, options)
        if check_forward_ad:
            _check_forward(func, xs, options)
        if not check_backward_ad:
            return True
        for place, y in enumerate(ys):
            if check_batched_grad:
                _check_batch(xs, y, place)
        _check_proportional(ys, xs)
        if check_undefined_grad:
            _check_undefined(func, xs)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def as_tuple(value: Any) -> tuple[Any, ...]:
    """One value or several as a tuple."""
    return value if isinstance(value, tuple) else tuple(value) if isinstance(value, list) else (value,)


def _differentiable(result: Any) -> tuple[Tensor, ...]:
    return tuple(y for y in as_tuple(result) if isinstance(y, Tensor) and y.requires_grad)


def _needs(xs: Sequence[Any]) -> list[Tensor]:
    return [x for x in xs if isinstance(x, Tensor) and x.requires_grad]


def _check_inputs(xs: Sequence[Any]) -> None:
    for place, x in enumerate(xs):
        if not (isinstance(x, Tensor) and x.requires_grad):
            continue
        if x.array.dtype not in (np.float64, np.complex128):
            warnings.warn(messages.NOT_DOUBLE.format(place=place), stacklevel=3)
        if any(not stride and n > 1 for stride, n in zip(x.array.strides, x.array.shape, strict=True)):
            raise RuntimeError(messages.OVERLAPPING.format(place=place))
    if not _needs(xs):
        raise ValueError(messages.NO_INPUT)


# --- backward --------------------------------------------------------------------------------------------------------
def _part(func: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The real or the imaginary parts of complex outputs."""

    def parts(*xs: Any) -> Any:
        return tuple(getattr(y, name) if y.is_complex() else y for y in as_tuple(func(*xs)))

    return parts


def _check_backward(func: Callable[..., Any], xs: Sequence[Any], result: Any, options: _Options) -> None:
    ys = as_tuple(result)
    complexes = [i for i, y in enumerate(_differentiable(result)) if y.is_complex()]
    if not any(y.is_complex() for y in ys):
        _compare_backward(func, xs, result, options, None, [])
        return
    for name, long_name in (("imag", "imaginary"), ("real", "real")):
        taken = _part(func, name)
        _compare_backward(taken, xs, taken(*xs), options, long_name, complexes)


def _compare_backward(
    func: Callable[..., Any], xs: Sequence[Any], result: Any, options: _Options, part: str | None, complexes: list[int]
) -> None:
    ys = _differentiable(result)
    needs = [y.requires_grad for y in as_tuple(result)]
    if not ys:
        _check_constant(func, xs, options)
        return

    def said(i: int) -> str | None:
        return part if i in complexes else None

    if options.fast:
        us, vs = vectors(_needs(xs), ys)
        numerical = products_by_differences(func, xs, us, options.eps)
        numerical = [row for row, need in zip(numerical, needs, strict=True) if need]
        for i, y in enumerate(ys):
            analytical = products_by_pullback(xs, y, vs[i], us, options.nondet_tol, options.check_dtypes)
            for j, a in enumerate(analytical):
                n = (numerical[i][j] * vs[i]).sum()
                if not allclose(a, n, options.rtol, adjusted(options.atol, us[j], vs[i])):
                    text = messages.mismatch(Tensor.of(a), Tensor.of(n), i, j, said(i), False)
                    whole = by_differences(func, xs, options.eps)
                    whole = [row for row, need in zip(whole, needs, strict=True) if need]
                    found = by_pullback(xs, y, float("inf"), False)
                    raise GradcheckError(text + _slowly(whole[i][j], found[j], options))
        return
    numerical = by_differences(func, xs, options.eps)
    numerical = [row for row, need in zip(numerical, needs, strict=True) if need]
    for i, y in enumerate(ys):
        for j, a in enumerate(by_pullback(xs, y, options.nondet_tol, options.check_dtypes)):
            n = numerical[i][j]
            if not allclose(a, n, options.rtol, options.atol):
                raise GradcheckError(messages.mismatch(Tensor.of(a), Tensor.of(n), i, j, said(i), False))


def _slowly(numerical: Any, analytical: Any, options: _Options) -> str:
    difference = Tensor.of(np.abs(numerical - analytical).max())
    passes = np.allclose(analytical, numerical, options.rtol, options.atol)
    return messages.slowly(Tensor.of(numerical), Tensor.of(analytical), difference, passes)


def _check_constant(func: Callable[..., Any], xs: Sequence[Any], options: _Options) -> None:
    for row in by_differences(func, xs, options.eps):
        for jacobian in row:
            if np.any(jacobian != 0):
                raise GradcheckError("Numerical gradient for function expected to be zero")


# --- forward ---------------------------------------------------------------------------------------------------------
def _check_forward(func: Callable[..., Any], xs: Sequence[Any], options: _Options) -> None:
    complexes = [i for i, x in enumerate(xs) if isinstance(x, Tensor) and x.is_complex()]
    if not complexes:
        _compare_forward(func, xs, options, None, [])
        return
    for name, long_name in (("imag", "imaginary"), ("real", "real")):

        def taken(*values: Any, name: str = name) -> Any:
            made = list(values)
            for i in complexes:
                other = xs[i].detach()
                made[i] = other.real + 1j * values[i] if name == "imag" else values[i] + 1j * other.imag
            return func(*made)

        halves = [getattr(x.detach(), name).requires_grad_() if i in complexes else x for i, x in enumerate(xs)]
        _compare_forward(taken, halves, options, long_name, complexes)


def _compare_forward(
    func: Callable[..., Any], xs: Sequence[Any], options: _Options, part: str | None, complexes: list[int]
) -> None:
    result = as_tuple(func(*xs))
    needs = [y.requires_grad for y in result]
    if not any(needs):
        _check_constant(func, xs, options)
        return

    def compare(analytical: Jacobians, numerical: Jacobians, us: Any) -> None:
        for i in (i for i, need in enumerate(needs) if need):
            for j, (a, n) in enumerate(zip(analytical[i], numerical[i], strict=True)):
                atol = options.atol if us is None else adjusted(options.atol, us[j], None)
                if not allclose(a, n, options.rtol, atol):
                    said = part if j in complexes else None
                    text = messages.mismatch(Tensor.of(a), Tensor.of(n), i, j, said, True)
                    if us is not None:
                        whole = by_differences(func, xs, options.eps)[i][j]
                        text += _slowly(whole, by_tangents(func, xs, False)[i][j], options)
                    raise GradcheckError(text)

    if options.fast:
        us, _ = vectors(_needs(xs), ())
        compare(products_by_tangents(func, xs, us), products_by_differences(func, xs, us, options.eps), us)
    else:
        compare(by_tangents(func, xs, options.check_dtypes), by_differences(func, xs, options.eps), None)


# --- what else must hold ---------------------------------------------------------------------------------------------
def _check_batch(xs: Sequence[Any], y: Tensor, place: int) -> None:
    from srcgrad.eager.operations.joining import stack

    needs = _needs(xs)

    def pulled(seed: Tensor) -> Any:
        found = grad(y, needs, seed, retain_graph=True, allow_unused=True)
        return tuple(
            Tensor.of(np.zeros(x.array.shape, x.array.dtype)) if g is None else g
            for g, x in zip(found, needs, strict=True)
        )

    seeds = [Tensor.of(_random(y)) for _ in range(2)]
    expected = [stack(list(column)) for column in zip(*map(pulled, seeds), strict=True)]
    try:
        result = batched(pulled)(stack(seeds))
    except RuntimeError as error:
        raise GradcheckError(f"While computing batched gradients, got: {error}\n\n{messages.BATCHED}") from error
    for j, (a, b) in enumerate(zip(result, expected, strict=True)):
        if not np.allclose(a.array, b.array, 1e-5, 1e-8):
            raise GradcheckError(messages.batched(place, j, a, b))


def _random(y: Tensor) -> Any:
    draw = uniform(default_generator, y.array.size, np.float64).reshape(y.array.shape)
    return (2 * draw - 1).astype(y.array.dtype)


def _check_proportional(ys: Sequence[Tensor], xs: Sequence[Any]) -> None:
    needs = _needs(xs)
    zeros = [Tensor.of(np.zeros(y.array.shape, y.array.dtype)) for y in ys]
    found = grad(ys, needs, zeros, allow_unused=True) if ys else ()
    for g, x in zip(found, needs, strict=False):
        if g is None:
            continue
        if not np.all(g.array == 0):
            raise GradcheckError("backward not multiplied by grad_output")
        if g.array.dtype != x.array.dtype:
            raise GradcheckError("grad is incorrect type")
        if g.array.shape != x.array.shape:
            raise GradcheckError("grad is incorrect size")


def _check_undefined(func: Callable[..., Any], xs: Sequence[Any]) -> None:
    """Gradients that do not arrive must do no more than zeros."""
    needs = _needs(xs)

    def check(ys: Sequence[Tensor]) -> None:
        zeros = [Tensor.of(np.zeros(y.array.shape, y.array.dtype)) for y in ys]
        try:
            found = grad(ys, needs, zeros, allow_unused=True)
        except RuntimeError as error:
            warnings.warn(messages.UNDEFINED_WARNING, stacklevel=2)
            raise GradcheckError(messages.UNDEFINED_RAISES) from error
        if any(g is not None and not np.all(g.array == 0) for g in found):
            warnings.warn(messages.UNDEFINED_WARNING, stacklevel=2)
            raise GradcheckError(messages.UNDEFINED_NOT_ZERO)

    ys = _differentiable(func(*xs))
    if not ys:
        return
    check([undefined(y) for y in ys])
    if len(ys) > 1:
        for place in range(len(ys)):
            again = _differentiable(func(*xs))
            check([undefined(y) if i == place else y for i, y in enumerate(again)])


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Whether the second derivatives of ``func`` agree with differences of its gradients."""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    for name, given in (("check_undefined_grad", check_undefined_grad), ("check_batched_grad", check_batched_grad)):
        if given and not check_rev_over_rev:
            raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    xs = as_tuple(inputs)
    if grad_outputs is None:
        seeds = tuple(Tensor.of(_random(y)).requires_grad_() for y in _differentiable(func(*xs)))
    else:
        seeds = as_tuple(grad_outputs)
    wanted = [isinstance(x, Tensor) and x.requires_grad for x in xs]
    moving = [s.requires_grad for s in seeds]

    def slope(*args: Any) -> Any:
        count = len(args) - len(seeds)
        given = [x.requires_grad_() if need else x for x, need in zip(args[:count], wanted, strict=True)]
        ys = _differentiable(func(*given))
        gs = [s.requires_grad_() if need else s for s, need in zip(args[count:], moving, strict=True)]
        needs = [x for x, need in zip(given, wanted, strict=True) if need]
        found = grad(ys, needs, gs, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        slope, xs + seeds, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, fast_mode=fast_mode, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, masked=masked,
    )  # fmt: skip
