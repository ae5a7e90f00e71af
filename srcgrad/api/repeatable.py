"""Whether the forward half of a program gives the same when it runs again on copies of its arguments.

Enters: a program, and the arguments of a call.  Leaves: the answer, by the text: it reads nothing outside, and all that
it names is known to depend on its arguments alone.  Then a pullback that is called once need not keep what its backward
half stores into: should it be called again, the forward half is run again.  What is not listed here is not known:
functions with state (random numbers, clocks, files, print options), objects, whose classes may run anything.

>>> namespace = {"np": np, "__builtins__": builtins}
>>> is_known("def f(x): return np.sin(x.sum())", namespace), is_known("def f(x): return np.random.rand()", namespace)
(True, False)
"""

from __future__ import annotations

import ast
import builtins
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from srcgrad.programs import Compiled

_BUILTINS = frozenset(
    "abs all any bool complex dict divmod enumerate float int isinstance len list max min pow range reversed round "
    "slice sorted sum tuple type zip".split()
)
_NUMPY = frozenset(
    "abs all allclose amax amin any append arange argmax argmin argpartition argsort around array array_equal "
    "asanyarray asarray ascontiguousarray asfortranarray atleast_1d atleast_2d atleast_3d average bincount block bmat "
    "broadcast_arrays broadcast_shapes broadcast_to can_cast choose clip column_stack common_type compress "
    "concatenate convolve copy copyto corrcoef correlate count_nonzero cov cross cumprod cumsum cumulative_prod "
    "cumulative_sum delete diag diag_indices diagflat diagonal diff digitize dot dsplit dstack einsum empty "
    "empty_like errstate expand_dims extract eye fill_diagonal finfo flatnonzero flip fliplr flipud full full_like "
    "geomspace gradient hsplit hstack hypot identity iinfo imag indices inner insert interp isclose iscomplexobj "
    "isrealobj isscalar issubdtype iterable kron lexsort linspace logspace matmul matrix_transpose max mean median "
    "meshgrid min min_scalar_type moveaxis nan_to_num nanmax nanmean nanmin nanstd nansum nanvar ndim nonzero ones "
    "ones_like outer pad partition percentile piecewise place poly polyadd polyder polyfit polyint polymul polysub "
    "polyval prod promote_types ptp put put_along_axis putmask quantile ravel ravel_multi_index real repeat reshape "
    "resize result_type roll rollaxis roots rot90 round searchsorted select shape sinc size sort split squeeze stack "
    "std sum swapaxes take take_along_axis tensordot tile trace transpose trapezoid tri tril tril_indices trim_zeros "
    "triu triu_indices unique unravel_index unwrap vander var vdot vecdot vsplit vstack where zeros zeros_like".split()
)
#: Modules and packages of which all functions depend on their arguments alone.
_PURE = (
    "math", "cmath", "_operator", "collections", "numpy.linalg", "numpy.fft", "numpy.polynomial",
    "numpy.lib.array_utils", "scipy.special", "scipy.fft",
)  # fmt: skip
_WITH_STATE = {"shuffled"}  # functions of the runtime that draw
#: Of numbers, texts, arrays and Python's containers.
_METHODS = frozenset(
    name for kind in (float, complex, str, tuple, list, dict, deque, np.ndarray) for name in dir(kind) if name[0] != "_"
) - {"tofile", "dump", "dumps", "format", "format_map"}  # fmt: skip
_FIXED = (int, float, complex, str, bytes, np.generic, np.dtype, slice, range, type(None), type(Ellipsis), ModuleType)
_VALUES = frozenset({float, int, bool, complex, str, type(None), np.float64, np.float32, np.int64, np.bool_})
_CALLING = {"raise", "call", "print", "log"}  # what ``np.errstate`` may do besides to warn
_filtering = Lock()
_NAME = "__srcgrad_runs_alike__"
_UNKNOWN = object()  # what a name stands for that is none of the namespace


def runs_alike(compiled: Compiled, values: tuple[Any, ...]) -> bool:
    """Whether the forward half of a program may be run again, on copies of these values, in place of keeping what it
    saved."""
    kept: bool | None = vars(compiled.entry).get(_NAME)
    if kept is None:
        emission = compiled.emission
        is_closed = not compiled.reads_outside and all(binding.cell is None for _, binding in emission.bindings)
        kept = is_closed and is_known(emission.text, compiled.entry.__globals__)
        vars(compiled.entry)[_NAME] = kept
    return kept and _are_plain(values) and _warnings_raise_nothing() and not _CALLING & set(np.geterr().values())


def _warnings_raise_nothing() -> bool:
    return all(action != "error" for action, *_ in warnings.filters)


@contextmanager
def quietly() -> Iterator[None]:
    """While a forward half runs again: nothing raises, or is said, that did not where it ran first.  Programs may catch
    what NumPy's floating-point events and warnings raise, so that they decide what it computes."""
    with np.errstate(all="ignore"):
        if _warnings_raise_nothing():
            yield
        else:
            with _filtering, warnings.catch_warnings():  # by one thread alone: filters are the process's
                warnings.simplefilter("ignore")
                yield


def _are_plain(values: Iterable[Any]) -> bool:
    """Whether values are numbers, texts, arrays of numbers, and Python's containers of these."""
    for value in values:
        kind: Any = type(value)
        if kind in _VALUES:
            continue
        if kind is np.ndarray:
            if value.dtype.kind not in "biufc":
                return False
        elif kind is list or kind is tuple or kind is dict:
            if not _are_plain(value.values() if kind is dict else value):
                return False
        else:
            return False
    return True


def is_known(text: str, namespace: Mapping[str, Any]) -> bool:
    """Whether all that a text calls, or hands on, depends on its arguments alone."""
    return all(_is_node_known(node, namespace) for node in _evaluated(ast.parse(text)))


def _evaluated(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a text but for what an exception says."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.Raise):
            pending.extend(ast.iter_child_nodes(node))


def _is_node_known(node: ast.AST, namespace: Mapping[str, Any]) -> bool:
    if isinstance(node, ast.Call) and _meant(node.func, namespace) is _UNKNOWN:
        return isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS
    if isinstance(node, ast.Name | ast.Attribute):
        meant = _meant(node, namespace)
        return meant is _UNKNOWN or isinstance(meant, _FIXED) or _depends_on_arguments(meant, namespace)
    if isinstance(node, ast.Constant):
        return node.value not in ("now", "today")  # which NumPy makes times of
    return not isinstance(node, ast.JoinedStr)  # as arrays are printed


def _meant(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """What a global name, or an attribute of what it stands for, stands for; ``_UNKNOWN`` for a value of the program.
    """
    if isinstance(node, ast.Name):
        return namespace.get(node.id, vars(builtins).get(node.id, _UNKNOWN))
    if isinstance(node, ast.Attribute):
        holder = _meant(node.value, namespace)
        return _UNKNOWN if holder is _UNKNOWN else getattr(holder, node.attr, _UNKNOWN)
    return _UNKNOWN


def _depends_on_arguments(function: Any, namespace: Mapping[str, Any]) -> bool:
    if isinstance(function, FunctionType) and function.__globals__ is namespace:
        return True
    if isinstance(function, np.ufunc) or isinstance(getattr(function, "__self__", None), np.ufunc):
        return True
    if isinstance(function, type) and issubclass(function, np.generic | np.ndarray | np.dtype | BaseException):
        return function.__module__ in ("builtins", "numpy", "numpy.dtypes", "numpy.exceptions")
    name, home = getattr(function, "__name__", None), getattr(function, "__module__", None) or ""
    if home == "builtins":
        return name in _BUILTINS
    if home in ("numpy", "numpy.lib.stride_tricks"):
        return name in _NUMPY
    if home.startswith("srcgrad.runtime"):
        return name not in _WITH_STATE
    return home in _PURE or home.startswith(tuple(f"{package}." for package in _PURE))
