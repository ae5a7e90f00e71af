"""The rule table: which functions have a derivative, which carry none, and what operators and methods stand for.

``lookup`` and ``is_constant`` are what both machines ask.  The modules of rules are imported at the first question, so
that importing srcgrad is fast; ``rule``, ``elementwise``, ``linear`` and ``constant`` add to the table, for users too::

    @elementwise(my_softplus)
    def my_softplus_rule(x, *, y, y_bar):
        return y_bar / (1.0 + np.exp(-x))
"""

from __future__ import annotations

import importlib
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeVar, cast

import gast
import numpy as np

from srcgrad.rules.edition import reading, renew
from srcgrad.rules.laws import check_function
from srcgrad.rules.template import Rule

__all__ = [
    "Rule",
    "also",
    "attribute",
    "constant",
    "elementwise",
    "is_constant",
    "linear",
    "lookup",
    "made_arrays",
    "method",
    "operator_of",
    "refusal",
    "refused",
    "rule",
    "rules",
]

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])
Answer = TypeVar("Answer")

MODULES = (
    "constants",
    "elementwise",
    "powers",
    "trigonometric",
    "choices",
    "complex_parts",
    "special",
    "reductions",
    "extrema",
    "cumulative",
    "differences",
    "statistics",
    "counting",
    "products",
    "einsum",
    "chains",
    "linalg",
    "decompositions",
    "singular_values",
    "norms",
    "fourier",
    "convolution",
    "polynomials",
    "shaping",
    "joining",
    "repeating",
    "indexing",
    "places",
    "sequences",
    "sorting",
    "construction",
    "ranges",
    "builtins",
    "runtime",
    "runtime_reductions",
    "ufunc_methods",
    "runtime_shaping",
    "runtime_products",
    "runtime_decompositions",
    "runtime_memory",
    "runtime_batches",
    "random",
    "replacing",
    "neural",
    "neural_losses",
    "neural_layers",
    "refusals",
)
#: Rules of libraries that may not be installed, imported at the first question about a function of theirs.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "scipy._lib._array_api": ("scipy.namespaces",),
    "scipy.special": (
        "scipy.special",
        "scipy.softmax",
        "scipy.error_functions",
        "scipy.gamma",
        "scipy.probability",
        "scipy.bessel",
        "scipy.polynomials",
        "scipy.special_limits",
    ),
    "scipy.linalg": (
        "scipy.linalg",
        "scipy.factors",
        "scipy.eigenvalues",
        "scipy.matrix_functions",
        "scipy.matrices",
        "scipy.systems",
    ),
    "scipy.sparse._base": ("scipy.sparse",),
    "scipy.fft": ("scipy.fourier",),
    "scipy.signal": ("scipy.signal", "scipy.filtering"),
    "scipy.ndimage": ("scipy.ndimage", "scipy.smoothing"),
    "scipy.stats": (
        "scipy.stats",
        "scipy.stats_positive",
        "scipy.stats_heavy",
        "scipy.stats_bounded",
        "scipy.stats_discrete",
        "scipy.stats_multivariate",
        "scipy.stats_limits",
    ),
}


@dataclass(frozen=True)
class Refusal:
    """Why a function has no derivative although its value varies, with the code of that, and what to write instead."""

    code: str
    reason: str
    hint: str


_rules: dict[Callable[..., object], Rule] = {}
_constants: set[Callable[..., object]] = set()
_refusals: dict[Callable[..., object], Refusal] = {}
_loaded: set[str] = set()


def _load() -> None:
    """Import the modules of rules, once; what users add comes after them and replaces them."""
    if not _loaded:
        _loaded.update(MODULES)
        with reading():
            for name in MODULES:
                importlib.import_module(f"srcgrad.rules.{name}")


def load_library(library: str) -> None:
    """Import the rules of one of ``LIBRARIES``, which imports the library itself."""
    _load()
    for name in LIBRARIES[library]:
        if name not in _loaded:
            _loaded.add(name)
            with reading():
                importlib.import_module(f"srcgrad.rules.{name}")


def _loads_more(function: object) -> bool:
    """Whether a question about ``function`` brought in rules of a library; whoever holds it has imported it."""
    module = getattr(function, "__module__", None) or ""
    if not (module.startswith(("scipy", "srcgrad.runtime.scipy")) or type(function).__name__ == "ufunc"):
        return False
    before = len(_loaded)
    for library in LIBRARIES:
        if library in sys.modules:
            load_library(library)
    return len(_loaded) > before


def _find(found: Callable[[], Answer], function: object) -> Answer:
    _load()
    try:
        answer = found()
        return found() if not answer and _loads_more(function) else answer
    except TypeError:  # what cannot be hashed is in no table
        return cast("Answer", None)


def _add(kind: str, functions: tuple[Callable[..., object], ...], names: tuple[str, ...] = ()) -> Any:
    _load()
    for function in functions:
        check_function(function, kind)

    def decorate(template: FunctionType) -> Rule:
        return enter(Rule(kind, tuple(dict.fromkeys(functions)), template, names))

    return decorate


def enter(made: Rule) -> Rule:
    """Put a rule into the table, for each of its functions."""
    for function in made.functions:
        _rules[function] = made
        _constants.discard(function)
        _refusals.pop(function, None)
    renew()
    return made


def also(made: Rule, *functions: Callable[..., object]) -> Rule:
    """Let more functions have a rule: those of a library that compute what NumPy's do, by names that they share."""
    made.functions = tuple(dict.fromkeys((*made.functions, *functions)))
    made.guests |= frozenset(functions)
    return enter(made)


def rule(function: Callable[..., object], *aliases: Callable[..., object]) -> Callable[[Callable[..., Any]], Rule]:
    """Decorator: the derivative of ``function``, and of ``aliases`` with the same formula and parameters.

    What is decorated is a *template*: straight-line assignments and one return, with the parameters of the function
    and, keyword-only, its result and the adjoint of that.  It returns one partial per parameter, None for one without a
    derivative, each in the shape and dtype of its argument.  Its text is written where the function is called::

        def energy(x, w):
            return float(np.dot(w, x * x))

        @srcgrad.rule(energy)
        def energy_rule(x, w, *, y, y_bar):
            return y_bar * 2.0 * w * x, y_bar * x * x

        @energy_rule.tangent
        def energy_tangent(x, w, *, y, x_dot, w_dot):
            return 2.0 * np.dot(w * x, x_dot), np.dot(x * x, w_dot)

    The tangent, one term per moving parameter, is needed in forward mode and for Hessians.  A template for an option
    goes below ``@energy_rule.when(option=value)``; ``energy_rule.accept(ignored=("verbose",))`` names parameters that
    change no value.  Raises ``RuleError``, with the place in the template, for what breaks these laws.
    """
    return _add("rule", (function, *aliases))  # type: ignore[no-any-return]


def elementwise(
    function: Callable[..., object], *aliases: Callable[..., object]
) -> Callable[[Callable[..., Any]], Rule]:
    """Decorator: the derivative of a function that acts on each element by itself and broadcasts as NumPy does.

    A template as for ``rule``, of one element: the tangent and the sums over broadcast axes follow from the kind::

        def softplus(x):
            return np.log1p(np.exp(x))

        @srcgrad.elementwise(softplus)
        def softplus_rule(x, *, y, y_bar):
            return y_bar / (1.0 + np.exp(-x))
    """
    return _add("elementwise", (function, *aliases))  # type: ignore[no-any-return]


def linear(
    function: Callable[..., object], *names: str | Callable[..., object]
) -> Callable[[Callable[..., Any]], Rule]:
    """Decorator: the derivative of a function that is linear in each of the named parameters by itself.

    A template as for ``rule``, which returns the transpose, one partial for each named parameter; the tangent is the
    function itself.  More functions that share the formula may precede the names::

        def smoothed(x, kernel):
            return np.convolve(x, kernel, "valid")

        @srcgrad.linear(smoothed, "x")
        def smoothed_rule(x, kernel, *, y, y_bar):
            return np.convolve(y_bar, kernel[::-1])
    """
    functions = (function, *(f for f in names if not isinstance(f, str)))
    return _add("linear", functions, tuple(n for n in names if isinstance(n, str)))  # type: ignore[no-any-return]


def constant(function: AnyFunction, *more: Callable[..., object]) -> AnyFunction:
    """Declare that functions carry no derivative whatever they are given; returns the first, as a decorator does.

    Only for what is constant between jumps, or is no real number: a declared constant is never looked into::

        @srcgrad.constant
        def bin_of(x, edges):
            return np.searchsorted(edges, x)
    """
    _load()
    functions: tuple[Callable[..., object], ...] = (function, *more)
    for f in functions:
        check_function(f, "constant")
        _constants.add(f)
        _rules.pop(f, None)
        _refusals.pop(f, None)
    renew()
    return function


def refused(code: str, reason: str, *functions: Callable[..., object], hint: str) -> None:
    """Declare functions whose value varies with what they are given, but which have no derivative here, and why."""
    _load()
    for f in functions:
        _refusals[f] = Refusal(code, reason, hint)


def lookup(function: object) -> Rule | None:
    """The rule of a function, or None."""
    return _find(lambda: _rules.get(function), function)  # type: ignore[call-overload, no-any-return]


#: What takes several arrays, by the names that NumPy and SciPy give such parameters, and what makes arrays of lists
#: itself.
_SEVERAL = frozenset({"arrays", "tup", "choices", "choicelist", "arrs", "lu_and_piv", "c_and_lower"})
_MAKERS = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)


def made_arrays(function: object) -> frozenset[str]:
    """The parameters in whose place a function of NumPy or SciPy, or a ufunc, computes with a list as with an array."""
    known = lookup(function)
    is_theirs = (getattr(function, "__module__", None) or "").partition(".")[0] in ("numpy", "scipy")
    if known is None or function in _MAKERS or not (is_theirs or isinstance(function, np.ufunc)):
        return frozenset()
    return known.differentiable - _SEVERAL


def is_constant(function: object) -> bool:
    """Whether a function is declared to carry no derivative."""
    return bool(_find(lambda: function in _constants, function))


def refusal(function: object) -> Refusal | None:
    """Why a function is refused where its arguments vary, or None."""
    return _find(lambda: _refusals.get(function), function)  # type: ignore[call-overload, no-any-return]


def rules() -> list[Rule]:
    """Every rule that is loaded, once, in the order in which they were written."""
    _load()
    return list(dict.fromkeys(_rules.values()))


# --- operators -------------------------------------------------------------------------------------------------------
_OPERATORS: dict[type, Callable[..., object]] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
    gast.Not: operator.not_,
    gast.Invert: operator.invert,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.Is: operator.is_,
    gast.IsNot: operator.is_not,
}


def operator_of(op: type) -> Callable[..., object]:
    """The function of the ``operator`` module that an operator node means."""
    return _OPERATORS[op]


# --- methods and attributes of arrays --------------------------------------------------------------------------------
def method(name: str) -> Callable[..., object] | None:
    """The function that an array's method means, taking the array first; None when it is not one of them."""
    _load()
    return _METHODS.get(name)


def attribute(name: str) -> Callable[..., object] | None:
    """The function that an array's attribute means; None when it is not one of them."""
    return _ATTRIBUTES.get(name)


#: Fields of the named tuples that functions of the table return; a derivative finds their places in the tuple.
FIELDS = frozenset("eigenvalues eigenvectors U S Vh Q R sign logabsdet".split())


_METHODS: dict[str, Callable[..., object]] = {
    name: getattr(np, name)
    for name in (
        "all any argmax argmin argpartition argsort choose clip cumprod cumsum diagonal dot max mean min nonzero prod "
        "ravel "
        "repeat reshape round searchsorted squeeze std sum swapaxes take trace transpose var"
    ).split()
} | {"conj": np.conjugate, "conjugate": np.conjugate, "copy": np.copy, "flatten": np.ravel}
_ATTRIBUTES: dict[str, Callable[..., object]] = {
    "T": np.transpose,
    "mT": np.matrix_transpose,
    "real": np.real,
    "imag": np.imag,
    "flat": np.ravel,
}


def add_method(name: str, function: Callable[..., object]) -> None:
    """Let an array's method mean a function of the table."""
    _METHODS[name] = function


#: Attributes and methods of arrays that tell of shapes, kinds and memory, not of numbers.
CONSTANT_MEMBERS = frozenset(
    "shape ndim size dtype itemsize nbytes strides flags device dump tofile setflags maxlen".split()
)
_STORED = Refusal("E0509", "it gives no value; what it stores is differentiated", "write it as a statement of its own")
_STORES = Refusal("E0509", "it changes its array in place", "use the NumPy function, which makes a new array")
_BYTES = Refusal("E0509", "it reads the bytes of the array as other numbers", "use astype, which converts the numbers")
_MEMORY = Refusal(
    "E0509", "it hands out the memory of the array, or its bytes, which are not followed", "use the array itself"
)
_MEMBER_REFUSALS: dict[str, Refusal] = {
    **dict.fromkeys("fill partition put sort".split(), _STORED),
    **dict.fromkeys("itemset resize setfield".split(), _STORES),
    **dict.fromkeys("byteswap getfield view".split(), _BYTES),
    **dict.fromkeys("ctypes data dumps tobytes tostring".split(), _MEMORY),
    "ptp": Refusal("E0509", "NumPy 2 has no such method", "use np.ptp"),
    "newbyteorder": Refusal("E0509", "NumPy 2 has no such method", "use x.view(x.dtype.newbyteorder()) outside"),
    "base": Refusal("E0509", "which array owns the memory is not followed", "use the array itself"),
    "to_device": Refusal("E0509", "arrays of other devices are not followed", "use the array itself"),
}


def member_refusal(name: str) -> Refusal | None:
    """Why an array's method or attribute is refused, or None."""
    return _MEMBER_REFUSALS.get(name)
