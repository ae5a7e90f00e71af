"""Special functions of each element: error functions, gamma functions, Bessel functions; SciPy computes them.

SciPy is asked for when one of them is called first; without it that call raises ImportError.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.elementwise import elementwise_binary, elementwise_unary
from srcgrad.eager.policy import following
from srcgrad.eager.registry import FUNCTIONS, function
from srcgrad.eager.tensor import Tensor
from srcgrad.rules.table import lookup

SAVED = {"x": "self", "y": "result", "z": "result"}


def of_scipy(name: str, caller: str) -> Any:
    """A function of ``scipy.special``; a clear error where SciPy is not there."""
    try:
        from scipy import special
    except ImportError:
        raise ImportError(
            f"torch.{caller} is computed by SciPy, which is not installed; install srcgrad[scipy]"
        ) from None
    return getattr(special, name)


@cache
def _unary(caller: str, name: str, node: str) -> Callable[[Tensor], Tensor]:
    f = of_scipy(name, caller)
    rule = lookup(f)
    assert rule is not None
    (parameter,) = rule.parameters[:1]
    slots = {parameter: "self", rule.result: "result"}
    return elementwise_unary(f, Operation(f, node, slots), caller.rpartition(".")[2], parameter=parameter)


def _lazily(caller: str, name: str, node: str) -> Callable[..., Tensor]:
    def f(input: Tensor, *, out: Any = None) -> Tensor:
        if getattr(input, "dtype", None) is dtypes.float16:  # which SciPy widens
            half: Tensor = composed(node, lambda x: g(x.to(dtypes.float32)).to(dtypes.float16), input)
            return half
        return g(input)

    def g(input: Tensor) -> Tensor:
        return _unary(caller, name, node)(input)

    f.__name__ = f.__qualname__ = caller.rpartition(".")[2]
    f.__doc__ = f"``{f.__name__}`` of each element."
    return f


#: names in the module and among methods, names in torch.special, SciPy's name, the node
UNARY: tuple[tuple[str, str, str, str], ...] = (
    ("erf", "erf", "erf", "ErfBackward0"),
    ("erfc", "erfc", "erfc", "ErfcBackward0"),
    ("erfinv", "erfinv", "erfinv", "ErfinvBackward0"),
    ("lgamma", "gammaln", "gammaln", "LgammaBackward0"),
    ("digamma", "digamma psi", "psi", "DigammaBackward0"),
    ("i0", "i0", "i0", "I0Backward0"),
    ("", "i0e", "i0e", "SpecialI0EBackward0"),
    ("", "i1", "i1", "SpecialI1Backward0"),
    ("", "i1e", "i1e", "SpecialI1EBackward0"),
    ("", "erfcx", "erfcx", "SpecialErfcxBackward0"),
    ("", "log_ndtr", "log_ndtr", "SpecialLogNdtrBackward0"),
    ("", "ndtri", "ndtri", "SpecialNdtriBackward0"),
    ("", "entr", "entr", "SpecialEntrBackward0"),
)
#: names in torch.special of functions that PyTorch computes without a derivative, and SciPy's names
MORE = {
    "bessel_j0": "j0", "bessel_j1": "j1", "bessel_y0": "y0", "bessel_y1": "y1", "modified_bessel_i0": "i0",
    "modified_bessel_i1": "i1", "modified_bessel_k0": "k0", "modified_bessel_k1": "k1",
    "scaled_modified_bessel_k0": "k0e", "scaled_modified_bessel_k1": "k1e",
}  # fmt: skip
MADE: dict[str, Callable[..., Tensor]] = {}
for _names, _special, _scipy, _node in UNARY:
    _f = _lazily(_names or f"special.{_special}", _scipy, _node)
    if _names:
        MADE[_names] = function(_names, method=True)(_f)
    function(*_special.split(), module="special")(_f)


for _special, _scipy in MORE.items():
    _node = "Special" + _special.title().replace("_", "") + "Backward0"
    function(_special, module="special")(_lazily(f"special.{_special}", _scipy, _node))


@function("ndtr", module="special")
def ndtr(input: Tensor) -> Tensor:
    """The normal distribution's area up to each element."""
    scaled = input * np.sqrt(0.5).item()
    one_more = composed("AddBackward1", lambda x: x + 1, MADE["erf"](scaled))
    made: Tensor = composed("MulBackward1", lambda x: x * 0.5, one_more)
    return made


@cache
def _binary(name: str, node: str, alone: bool) -> Callable[[Any, Any], Tensor]:
    f = of_scipy(name, name)
    return elementwise_binary(
        f, following(Operation(f, node)), name, floats=True, parameters=_pair(f), alone=alone
    )  # fmt: skip


def _pair(f: Any) -> tuple[str, str]:
    rule = lookup(f)
    assert rule is not None
    first, second = rule.parameters[:2]
    return first, second


def _log_product(name: str, node: str) -> Callable[[Any, Any], Tensor]:
    def f(input: Any, other: Any, *, out: Any = None) -> Tensor:
        if isinstance(input, Tensor) and isinstance(other, Tensor):
            return _binary(name, f"{node}Backward0", False)(input, other)
        return _binary(name, f"{node}Backward{2 if isinstance(input, Tensor) else 1}", True)(input, other)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"``{name}`` of each pair of elements, one of which may be a number."
    return f


xlogy = function("xlogy", method=True)(_log_product("xlogy", "Xlogy"))
function("xlogy", module="special")(xlogy)
function("xlog1py", module="special")(_log_product("xlog1py", "SpecialXlog1Py"))


function("zeta", module="special")(_log_product("zeta", "SpecialZeta"))


def _incomplete(name: str, special: str, scipy_name: str, node: str) -> None:
    def f(input: Tensor, other: Tensor) -> Tensor:
        return _binary(scipy_name, node, False)(input, other)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The incomplete gamma function ``{name}``, a share of the whole."
    function(name, method=True)(f)
    function(special, module="special")(f)


_incomplete("igamma", "gammainc", "gammainc", "IgammaBackward0")
_incomplete("igammac", "gammaincc", "gammaincc", "IgammacBackward0")


@cache
def _polygamma() -> Operation:
    return Operation(of_scipy("polygamma", "polygamma"), "PolygammaBackward0", {"x": "self"})


@function("polygamma", module="special")
def polygamma(n: int, input: Tensor) -> Tensor:
    """The derivative of order ``n`` of digamma."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return MADE["digamma"](input)
    if input.dtype.category < 2:
        input = input.to(dtypes.get_default_dtype())
    array = _polygamma().function(n, input.array).astype(input.array.dtype)
    made: Tensor = call(_polygamma(), {"n": n, "x": input}, saved={"n": n}, array=array)
    return made


function("polygamma")(polygamma)
setattr(Tensor, "polygamma", lambda self, n: polygamma(n, self))  # noqa: B010


@function("mvlgamma", method=True)
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the gamma function of ``p`` dimensions."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")

    def compute(x: Tensor) -> Tensor:
        total: Tensor = MADE["lgamma"](x)
        for j in range(1, p):
            total = total + MADE["lgamma"](x - j / 2)
        made: Tensor = total + p * (p - 1) / 4 * np.log(np.pi).item()
        return made

    made: Tensor = composed("MvlgammaBackward0", compute, input, slots=("self",), saved={"p": p})
    return made


function("multigammaln", module="special")(mvlgamma)


@function("expit", module="special")
def expit(input: Tensor) -> Tensor:
    """The logistic function."""
    made: Tensor = FUNCTIONS[""]["sigmoid"](input)
    return made


@function("logit", method=True)
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """The inverse of the logistic function, of elements kept ``eps`` away from 0 and 1."""

    def compute(x: Tensor) -> Tensor:
        if eps is not None:
            x = x.clamp(eps, 1 - eps)
        a = x.array
        outside = (a < 0) | (a > 1)
        if np.any(outside):
            x = x * Tensor.of(np.where(outside, np.nan, 1.0).astype(a.dtype))
        made: Tensor = x.log() - (1 - x).log()
        with np.errstate(divide="ignore", invalid="ignore"):
            made.array = np.log(x.array / (1 - x.array))
        return made

    if input.dtype.category < 2:
        input = input.to(dtypes.get_default_dtype())
    made: Tensor = composed("LogitBackward0", compute, input, slots=("self",), saved={"eps": eps})
    return made


function("logit", module="special")(logit)
for _name in ("exp2", "expm1", "log1p", "sinc", "logsumexp", "round", "softmax", "log_softmax"):
    if _name in FUNCTIONS[""]:
        function(_name, module="special")(FUNCTIONS[""][_name])
