"""The policy at kinks and singular points, row by row: data, which any of the machines can run.

A row is an expression of NumPy over named arguments and the gradient of the sum of its elements.  ``torch`` is the same
expression in PyTorch where it has one; ``differs`` says why where PyTorch's gradient is another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

INF, NAN = float("inf"), float("nan")


@dataclass(frozen=True)
class Row:
    """``expression`` at ``arguments`` has ``gradient``, one entry per argument."""

    expression: str
    arguments: Mapping[str, Any]
    gradient: Mapping[str, Any]
    because: str
    torch: str | None = None
    differs: str | None = None
    forward: Mapping[str, Any] | None = None  # where the forward mode knows more: a zero meets no infinity there


@dataclass(frozen=True)
class Theme:
    title: str
    policy: str
    rows: tuple[Row, ...]


THEMES = (
    Theme(
        "Corners",
        "At the corner of an absolute value or a norm the gradient is the subgradient of least norm: 0 at the origin.",
        (
            Row("np.abs(x)", {"x": 0.0}, {"x": 0.0}, "the middle of [-1, 1]", "torch.abs(x)"),
            Row("abs(x)", {"x": [-2.0, 0.0, 3.0]}, {"x": [-1.0, 0.0, 1.0]}, "element by element", "abs(x)"),
            Row(
                "np.hypot(x, y)",
                {"x": 0.0, "y": 0.0},
                {"x": 0.0, "y": 0.0},
                "the tip of a cone",
                "torch.hypot(x, y)",
                "PyTorch divides 0 by 0 and gives nan",
            ),
            Row("np.linalg.norm(x)", {"x": [0.0, 0.0]}, {"x": [0.0, 0.0]}, "the tip of a cone", "torch.linalg.norm(x)"),
            Row(
                "np.linalg.norm(x, 1)",
                {"x": [0.0, 2.0]},
                {"x": [0.0, 1.0]},
                "a sum of absolute values",
                "torch.linalg.norm(x, 1)",
            ),
            Row(
                "np.linalg.norm(x, 3)",
                {"x": [0.0, 0.0]},
                {"x": [0.0, 0.0]},
                "the tip of a cone",
                "torch.linalg.norm(x, 3)",
            ),
            Row(
                "np.linalg.norm(x, np.inf)",
                {"x": [-2.0, 2.0, 1.0]},
                {"x": [-0.5, 0.5, 0.0]},
                "ties share",
                "torch.linalg.norm(x, float('inf'))",
            ),
            Row(
                "np.linalg.norm(x, axis=1)",
                {"x": [[0.0, 0.0], [3.0, 4.0]]},
                {"x": [[0.0, 0.0], [0.6, 0.8]]},
                "row by row",
                "torch.linalg.norm(x, dim=1)",
            ),
            Row(
                "np.linalg.norm(x)",
                {"x": [[0.0, 0.0], [0.0, 0.0]]},
                {"x": [[0.0, 0.0], [0.0, 0.0]]},
                "Frobenius, the tip of a cone",
                "torch.linalg.norm(x)",
            ),
            Row(
                "np.std(x)",
                {"x": [2.0, 2.0]},
                {"x": [0.0, 0.0]},
                "the root of a variance that is 0",
                "torch.std(x, correction=0)",
            ),
            Row("np.sign(x)", {"x": 0.0}, {"x": 0.0}, "a step: 0 on both sides", "torch.sign(x)"),
            Row("np.copysign(x, y)", {"x": 0.0, "y": -1.0}, {"x": 0.0, "y": 0.0}, "|x| at 0", "torch.copysign(x, y)"),
            Row("np.arctan2(y, x)", {"y": 0.0, "x": 0.0}, {"y": 0.0, "x": 0.0}, "no direction at the origin"),
            Row("np.sinc(x)", {"x": 0.0}, {"x": 0.0}, "smooth, an even function", "torch.sinc(x)"),
            Row(
                "np.sinc(x)",
                {"x": [1e-9, -1e-9]},
                {"x": [-3.289868133696453e-9, 3.289868133696453e-9]},
                "no cancellation near 0",
            ),
        ),
    ),
    Theme(
        "Steps",
        "A function that is constant between jumps has derivative 0, at the jumps as well.",
        (
            Row("np.floor(x)", {"x": 2.0}, {"x": 0.0}, "a step", "torch.floor(x)"),
            Row("np.round(x)", {"x": 2.5}, {"x": 0.0}, "a step", "torch.round(x)"),
            Row("np.trunc(x)", {"x": -1.0}, {"x": 0.0}, "a step", "torch.trunc(x)"),
            Row("x // y", {"x": 3.0, "y": 1.5}, {"x": 0.0, "y": 0.0}, "a step"),
            Row("x % y", {"x": 3.0, "y": 1.5}, {"x": 1.0, "y": -2.0}, "x - y * (x // y), the quotient a constant"),
            Row(
                "np.fmod(x, y)", {"x": -3.0, "y": 1.5}, {"x": 1.0, "y": 2.0}, "x - y * trunc(x / y)", "torch.fmod(x, y)"
            ),
            Row(
                "np.heaviside(x, y)",
                {"x": 0.0, "y": 0.5},
                {"x": 0.0, "y": 1.0},
                "the value at 0 is the second argument",
            ),
        ),
    ),
    Theme(
        "Ties",
        "Where several elements or arguments attain a maximum or minimum, they share the gradient evenly. Functions "
        "that choose an element by its position (sort, the median of an odd number) give it to that element; equal "
        "elements keep their order.",
        (
            Row("np.maximum(x, y)", {"x": 1.0, "y": 1.0}, {"x": 0.5, "y": 0.5}, "two share", "torch.maximum(x, y)"),
            Row(
                "np.minimum(x, y)",
                {"x": [1.0, 2.0], "y": [1.0, 3.0]},
                {"x": [0.5, 1.0], "y": [0.5, 0.0]},
                "two share",
                "torch.minimum(x, y)",
            ),
            Row(
                "np.fmax(x, y)",
                {"x": 1.0, "y": 1.0},
                {"x": 0.5, "y": 0.5},
                "two share",
                "torch.fmax(x, y)",
                "PyTorch 2.13 gives all to the first",
            ),
            Row(
                "np.fmin(x, y)",
                {"x": NAN, "y": 1.0},
                {"x": 0.0, "y": 1.0},
                "nan does not take part",
                "torch.fmin(x, y)",
            ),
            Row("np.max(x)", {"x": [3.0, 1.0, 3.0]}, {"x": [0.5, 0.0, 0.5]}, "ties share", "torch.amax(x)"),
            Row("np.max(x)", {"x": [1.0, NAN, 2.0]}, {"x": [0.0, 1.0, 0.0]}, "nan is the value", "torch.max(x)"),
            Row("np.median(x)", {"x": [1.0, NAN, 2.0]}, {"x": [0.0, 1.0, 0.0]}, "nan is the value", "torch.median(x)"),
            Row(
                "np.quantile(x, 0.3)",
                {"x": [1.0, NAN, 2.0]},
                {"x": [0.0, 1.0, 0.0]},
                "nan is the value",
                "torch.quantile(x, 0.3)",
            ),
            Row(
                "np.min(x, axis=0)",
                {"x": [[1.0, 2.0], [1.0, 3.0]]},
                {"x": [[0.5, 1.0], [0.5, 0.0]]},
                "ties share",
                "torch.amin(x, dim=0)",
            ),
            Row("np.ptp(x)", {"x": [3.0, 1.0, 3.0]}, {"x": [0.5, -1.0, 0.5]}, "the greatest less the smallest"),
            Row("max(x, y)", {"x": 1.0, "y": 1.0}, {"x": 1.0, "y": 0.0}, "max returns the first of equal arguments"),
            Row(
                "np.sort(x) * np.array([1.0, 2.0, 3.0])",
                {"x": [2.0, 1.0, 2.0]},
                {"x": [2.0, 1.0, 3.0]},
                "a permutation, equal elements in their order",
                "torch.sort(x, stable=True).values * torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)",
            ),
            Row("np.median(x)", {"x": [3.0, 1.0, 2.0]}, {"x": [0.0, 0.0, 1.0]}, "the middle one", "torch.median(x)"),
            Row(
                "np.median(x)",
                {"x": [4.0, 1.0, 2.0, 3.0]},
                {"x": [0.0, 0.0, 0.5, 0.5]},
                "the mean of the two in the middle",
                "torch.quantile(x, 0.5)",
            ),
            Row(
                "np.clip(x, 0.0, 1.0)",
                {"x": [-1.0, 0.0, 0.5, 1.0, 2.0]},
                {"x": [0.0, 1.0, 1.0, 1.0, 0.0]},
                "at a bound the value is still x",
                "torch.clamp(x, 0.0, 1.0)",
            ),
            Row("np.nanmax(x)", {"x": [NAN, 1.0, 1.0]}, {"x": [0.0, 0.5, 0.5]}, "nan gets an exact 0"),
            Row("np.maximum.reduce(x)", {"x": [3.0, 1.0, 3.0]}, {"x": [0.5, 0.0, 0.5]}, "as np.max"),
        ),
    ),
    Theme(
        "Products",
        "A product is a polynomial. Its derivatives of every order are exact, also where factors are zero.",
        (
            Row(
                "np.prod(x)",
                {"x": [2.0, 0.0, 3.0]},
                {"x": [0.0, 6.0, 0.0]},
                "the product of the others",
                "torch.prod(x)",
            ),
            Row(
                "np.prod(x)",
                {"x": [2.0, 0.0, 0.0]},
                {"x": [0.0, 0.0, 0.0]},
                "the product of the others",
                "torch.prod(x)",
            ),
            Row(
                "np.cumprod(x)",
                {"x": [2.0, 0.0, 3.0]},
                {"x": [1.0, 8.0, 0.0]},
                "a sum of products of the others",
                "torch.cumprod(x, 0)",
            ),
            Row("np.multiply.reduce(x)", {"x": [2.0, 0.0, 3.0]}, {"x": [0.0, 6.0, 0.0]}, "as np.prod"),
            Row("np.nanprod(x)", {"x": [2.0, NAN, 0.0]}, {"x": [0.0, 0.0, 2.0]}, "nan counts as 1"),
            Row(
                "np.linalg.det(x)",
                {"x": [[1.0, 2.0], [2.0, 4.0]]},
                {"x": [[4.0, -2.0], [-2.0, 1.0]]},
                "the cofactors, of a singular matrix too",
                "torch.linalg.det(x)",
                "PyTorch gives zeros",
            ),
            Row(
                "np.linalg.det(x)",
                {"x": [[0.0, 0.0], [0.0, 0.0]]},
                {"x": [[0.0, 0.0], [0.0, 0.0]]},
                "all cofactors are 0",
                "torch.linalg.det(x)",
            ),
        ),
    ),
    Theme(
        "Powers and roots",
        "An infinite slope gives inf, or nan (0 * inf) where the adjoint that it is multiplied by is 0. A power with "
        "exponent 0 does not depend on its base, and has slope 0.",
        (
            Row("np.sqrt(x)", {"x": 0.0}, {"x": INF}, "vertical tangent", "torch.sqrt(x)"),
            Row("math.sqrt(x)", {"x": 0.0}, {"x": INF}, "vertical tangent"),
            Row("np.cbrt(x)", {"x": 0.0}, {"x": INF}, "vertical tangent"),
            Row("x ** 0.5", {"x": 0.0}, {"x": INF}, "vertical tangent", "x ** 0.5"),
            Row("x ** 0", {"x": 0.0}, {"x": 0.0}, "1, whatever x is", "x ** 0"),
            Row("x ** 1", {"x": 0.0}, {"x": 1.0}, "x", "x ** 1"),
            Row("x ** 2", {"x": 0.0}, {"x": 0.0}, "2x", "x ** 2"),
            Row("x ** p", {"x": 0.0, "p": 2.0}, {"x": 0.0, "p": 0.0}, "0 ** p stays 0", "x ** p"),
            Row("x ** 3", {"x": [-2.0]}, {"x": [12.0]}, "a negative base, an integer exponent"),
            Row(
                "np.float_power(x, 3)",
                {"x": [-2.0, 0.0]},
                {"x": [12.0, 0.0]},
                "a negative base",
                "torch.float_power(x, 3)",
            ),
            Row(
                "np.power(x, p)",
                {"x": [-2.0], "p": [3.0]},
                {"x": [12.0], "p": [NAN]},
                "no real logarithm of a negative base",
                "torch.pow(x, p)",
            ),
            Row("np.reciprocal(x)", {"x": INF}, {"x": 0.0}, "flat at infinity", "torch.reciprocal(x)"),
        ),
    ),
    Theme(
        "Exponentials and logarithms",
        "Finite derivatives are computed without overflow. An infinite argument gets the limit of its "
        "share of the sum; where that does not exist, equal arguments share evenly.",
        (
            Row("np.log(x)", {"x": 0.0}, {"x": INF}, "the limit of 1 / x from the right", "torch.log(x)"),
            Row(
                "np.logaddexp(x, y)",
                {"x": 1000.0, "y": 0.0},
                {"x": 1.0, "y": 0.0},
                "shares of the sum",
                "torch.logaddexp(x, y)",
            ),
            Row(
                "np.logaddexp(x, y)",
                {"x": -INF, "y": 0.0},
                {"x": 0.0, "y": 1.0},
                "exp(-inf) takes no share",
                "torch.logaddexp(x, y)",
            ),
            Row(
                "np.logaddexp(x, y)",
                {"x": -INF, "y": -INF},
                {"x": 0.5, "y": 0.5},
                "equal terms share",
                "torch.logaddexp(x, y)",
                "PyTorch subtracts infinities and gives nan",
            ),
            Row(
                "np.logaddexp2(x, y)",
                {"x": INF, "y": 0.0},
                {"x": 1.0, "y": 0.0},
                "all of the sum",
                "torch.logaddexp2(x, y)",
            ),
            Row(
                "np.logaddexp.reduce(x)",
                {"x": [-INF, 0.0, 0.0]},
                {"x": [0.0, 0.5, 0.5]},
                "shares of the sum",
                "torch.logsumexp(x, 0)",
            ),
            Row("np.exp(x)", {"x": -INF}, {"x": 0.0}, "flat", "torch.exp(x)"),
            Row("np.tanh(x)", {"x": [INF, -INF]}, {"x": [0.0, 0.0]}, "flat", "torch.tanh(x)"),
        ),
    ),
    Theme(
        "Choices",
        "An alternative that is not chosen gets the gradient zero, whatever its value. But if the program itself "
        "computes an infinite slope there, this zero is multiplied by it, and 0 * inf is nan. Guard the argument "
        "instead of the result: np.log(np.where(x > 0, x, 1.0)).",
        (
            Row(
                "np.where(x > 0, x, y)",
                {"x": [1.0, -1.0], "y": [NAN, 2.0]},
                {"x": [1.0, 0.0], "y": [0.0, 1.0]},
                "zero where it is not chosen",
                "torch.where(x > 0, x, y)",
            ),
            Row(
                "np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), 0.0)",
                {"x": [0.0, 2.0]},
                {"x": [0.0, 0.5]},
                "the argument is guarded",
            ),
            Row(
                "np.where(x > 0, np.log(x), 0.0)",
                {"x": [0.0, 2.0]},
                {"x": [NAN, 0.5]},
                "0 * inf, only the result is guarded",
                "torch.where(x > 0, torch.log(x), torch.zeros_like(x))",
                forward={"x": [0.0, 0.5]},
            ),
            Row(
                "np.nan_to_num(x)",
                {"x": [NAN, INF, 2.0]},
                {"x": [0.0, 0.0, 1.0]},
                "replaced elements are constant",
                "torch.nan_to_num(x)",
            ),
        ),
    ),
    Theme(
        "Missing values",
        "The nan-functions compute as if nan were not there, and give it the gradient zero.",
        (
            Row("np.nansum(x)", {"x": [1.0, NAN]}, {"x": [1.0, 0.0]}, "as if absent", "torch.nansum(x)"),
            Row("np.nanmean(x)", {"x": [1.0, NAN, 3.0]}, {"x": [0.5, 0.0, 0.5]}, "as if absent", "torch.nanmean(x)"),
            Row("np.nanstd(x)", {"x": [1.0, NAN, 1.0]}, {"x": [0.0, 0.0, 0.0]}, "no spread"),
            Row(
                "np.nanmedian(x)",
                {"x": [1.0, NAN, 3.0, 2.0]},
                {"x": [0.0, 0.0, 0.0, 1.0]},
                "as if absent",
                "torch.nanmedian(x)",
            ),
        ),
    ),
    Theme(
        "Complex numbers",
        "A gradient is dL/dRe - i dL/dIm, the conjugate of PyTorch's, so that the change of L is the real part of "
        "sum(gradient * change). At the corner of abs, 0, the gradient is 0.",
        (
            Row("np.abs(z)", {"z": 0j}, {"z": 0j}, "the tip of a cone", "torch.abs(z)"),
            Row("np.abs(z)", {"z": 3 + 4j}, {"z": 0.6 - 0.8j}, "conj(z) / |z|", "torch.abs(z)"),
            Row("np.real(z)", {"z": 1 + 2j}, {"z": 1 + 0j}, "dL/dRe", "z.real"),
            Row("np.imag(z)", {"z": 1 + 2j}, {"z": -1j}, "-i dL/dIm", "z.imag"),
            Row("np.angle(z)", {"z": 0j}, {"z": 0j}, "no direction at the origin", "torch.angle(z)"),
        ),
    ),
    Theme(
        "Special functions of SciPy",
        "x log y is 0 where x is 0. Softmax and the tails of distributions are computed without overflow.",
        (
            Row(
                "special.xlogy(x, y)",
                {"x": 0.0, "y": 2.0},
                {"x": 0.6931471805599453, "y": 0.0},
                "log y and x / y",
                "torch.special.xlogy(x, y)",
            ),
            Row(
                "special.xlogy(x, y)",
                {"x": 0.0, "y": 0.0},
                {"x": 0.0, "y": 0.0},
                "x log y is defined as 0 there",
                "torch.special.xlogy(x, y)",
                "PyTorch divides 0 by 0 and gives nan for y",
            ),
            Row(
                "special.logsumexp(x)",
                {"x": [-INF, 0.0]},
                {"x": [0.0, 1.0]},
                "shares of the sum",
                "torch.logsumexp(x, 0)",
            ),
            Row(
                "special.logsumexp(x)",
                {"x": [1000.0, 1000.0]},
                {"x": [0.5, 0.5]},
                "no overflow",
                "torch.logsumexp(x, 0)",
            ),
            Row(
                "special.softmax(x) * np.array([1.0, 2.0])",
                {"x": [1000.0, 1000.0]},
                {"x": [-0.25, 0.25]},
                "no overflow",
                "torch.softmax(x, 0) * torch.tensor([1.0, 2.0], dtype=torch.float64)",
            ),
            Row(
                "special.softmax(x) * np.array([1.0, 2.0])",
                {"x": [-INF, 0.0]},
                {"x": [0.0, 0.0]},
                "exp(-inf) takes no share",
                "torch.softmax(x, 0) * torch.tensor([1.0, 2.0], dtype=torch.float64)",
            ),
            Row("special.expit(x)", {"x": [INF, -INF]}, {"x": [0.0, 0.0]}, "flat", "torch.sigmoid(x)"),
            Row(
                "special.log_expit(x)",
                {"x": [-1000.0, 1000.0]},
                {"x": [1.0, 0.0]},
                "no overflow",
                "torch.nn.functional.logsigmoid(x)",
            ),
            Row(
                "special.log_ndtr(x)",
                {"x": [-40.0]},
                {"x": [40.02496884720726]},
                "the tail, without underflow",
                "torch.special.log_ndtr(x)",
            ),
            Row("special.entr(x)", {"x": 0.0}, {"x": INF}, "vertical tangent", "torch.special.entr(x)"),
        ),
    ),
)
