"""Exact types: whether operators on a value mean what they mean for NumPy's arrays and Python's numbers.

The rules differentiate arrays, numbers and containers as NumPy and Python define them.  A class on top of one that
overrides an operator or a method (a masked array, a matrix, a quantity with a unit) computes something else, and its
derivative would be silently wrong.  So would that of an iterator: what it gives depends on what asked before, and a
derivative asks again.  The answer depends on the class alone and is kept by it:

>>> overrides(np.ndarray), overrides(np.memmap), overrides(float), overrides(np.matrix)
(None, None, None, '__mul__')
"""

from __future__ import annotations

import io
import sys
from collections import deque
from collections.abc import Iterator
from enum import Enum
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from srcgrad.runtime.objects import LIBRARIES, fields_of, has_fields, has_operators, is_object, kept_by_class
from srcgrad.runtime.refusals import RefusedType

#: Subclasses of NumPy's own that compute as arrays do, and whose sums are numbers.
_AS_ARRAYS = (np.memmap,)
#: Objects that compute with what they are indexed by.
_INDEXED = (type(np.r_), type(np.c_), type(np.mgrid), type(np.ogrid))
#: What a class may define without changing what is computed with its values.
_HARMLESS = frozenset(
    """__module__ __doc__ __new__ __init__ __init_subclass__ __class_getitem__ __dict__ __weakref__ __slots__ __repr__
    __str__ __format__ __reduce__ __reduce_ex__ __getstate__ __setstate__ __getnewargs__ __getnewargs_ex__ __hash__
    __annotations__ __orig_bases__ __parameters__ __qualname__ __firstlineno__ __static_attributes__ __annotate__
    __annotate_func__ __annotations_cache__ __match_args__ __sizeof__ __dir__ __array_priority__ __del__ __copy__
    __deepcopy__ __abstractmethods__ _abc_impl __type_params__ __exit__ __enter__ __dataclass_fields__
    __dataclass_params__ __replace__""".split()
)
#: Of a container: comparing and attributes lose nothing, since neither gives its items.
_OF_CONTAINERS = _HARMLESS | frozenset("__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __setattr__ __delattr__".split())
_ITEMS = frozenset("__getitem__ __iter__ __len__ __reversed__".split())
_ARITHMETIC = frozenset(
    f"__{side}{name}__"
    for name in "add sub mul truediv floordiv mod pow matmul divmod".split()
    for side in ("", "r", "i")
) | frozenset("__neg__ __pos__ __abs__ __float__ __complex__ __array__ __array_ufunc__ __getattribute__".split())
_WRAP = "__array_wrap__"
_PROTOCOLS = ("__array__", "__array_ufunc__", "__array_function__")
_TRUSTED = frozenset({"numpy", "torch", "srcgrad"})


@kept_by_class
def overrides(kind: Any) -> str | None:
    """The method by which a class computes otherwise than the arrays, numbers or containers whose subclass it is, or in
    whose place it stands by NumPy's protocols; None where it does not."""
    if kind in _AS_ARRAYS or is_sparse(kind):
        return None
    if issubclass(kind, _INDEXED):
        return "__getitem__"
    if issubclass(kind, Enum):  # a constant, in which the standard library writes methods of its own
        return next((name for name in _defined(kind, object) if name in _ARITHMETIC), None)
    for base in (np.ndarray, np.generic, float, complex, int):
        if issubclass(kind, base):
            found = [name for name in _defined(kind, base) if _matters(name, base)]
            own = next((name for name in found if name in _ARITHMETIC), found[0] if found else None)
            return _WRAP if own is None and _keeps_sums(kind) else own
    for container in (list, dict, tuple, set, frozenset, deque):
        if issubclass(kind, container):
            changed = (name for name in _defined(kind, container) if _changes_items(name, container, kind))
            return next(changed, None)
    return _stands_for_arrays(kind)


def _keeps_sums(kind: type) -> bool:
    """Whether sums and extremes of arrays of a class are of that class too, without axes: ``a *= 2.0`` of a sum changes
    all that has been bound to it then, and not of a number."""
    wrap = getattr(kind, _WRAP, None)
    return issubclass(kind, np.ndarray) and kind is not np.ndarray and wrap is getattr(np.ndarray, _WRAP)


def _defined(kind: type, base: type) -> Iterator[str]:
    """The names that classes define between one and the built-in that it is a subclass of, those of libraries of
    numbers and of enumerations left out."""
    for each in kind.__mro__:
        if each is base:
            return
        if each in _AS_ARRAYS or each.__module__ in ("builtins", "enum"):
            continue
        if issubclass(each, np.generic) and each.__module__ == "numpy":
            continue
        yield from (name for name, held in vars(each).items() if not (name == "__array_finalize__" and held is None))


def _matters(name: str, base: type) -> bool:
    is_read = hasattr(base, name) or hasattr(np.ndarray, name) or name.startswith("__") and name.endswith("__")
    return name not in _HARMLESS and is_read


def _changes_items(name: str, base: type, kind: type) -> bool:
    if kind.__module__.partition(".")[0] in LIBRARIES:
        return False
    if hasattr(kind, "_fields"):  # a named tuple: its operators and methods are read like those of objects
        return name in _ITEMS and any(isinstance(vars(each).get(name), FunctionType) for each in kind.__mro__)
    is_read = hasattr(base, name) or hasattr(np.ndarray, name)
    return name == "__missing__" or name not in _OF_CONTAINERS and is_read


def _stands_for_arrays(kind: type) -> str | None:
    """The protocol by which objects that are no arrays answer for NumPy: quantities, series, arrays of other
    libraries."""
    if any(base.__module__.partition(".")[0] in _TRUSTED for base in kind.__mro__):
        return None
    has = [name for name in _PROTOCOLS if callable(getattr(kind, name, None))]
    return has[0] if "__array__" in has or len(has) == 2 else None


def is_sparse(kind: Any) -> bool:
    """Whether a class is one of SciPy's sparse matrices and arrays."""
    return "scipy.sparse" in sys.modules and _is_sparse(kind)


@cache
def _is_sparse(kind: Any) -> bool:
    sparse = sys.modules.get("scipy.sparse")
    is_one = sparse is not None and issubclass(kind, (sparse.sparray, sparse.spmatrix))
    return is_one and str(kind.__module__).partition(".")[0] == "scipy"


def is_foreign(kind: Any) -> bool:
    """Whether values of a class are computed with by methods of its own."""
    return overrides(kind) is not None or is_sparse(kind) or gives_once(kind)


@kept_by_class
def gives_once(kind: Any) -> bool:
    """Whether values of a class are iterators that are read to their end once: no files, which are written to as well,
    and none that have places.  Methods of a user's class are read."""
    is_iterator = issubclass(kind, Iterator) and not issubclass(kind, io.IOBase) and not has_fields(kind)
    return is_iterator and not hasattr(kind, "__len__")


def is_structured(x: Any) -> bool:
    """Whether an array, or an element of one, has fields."""
    return isinstance(x, np.ndarray | np.generic) and x.dtype.names is not None


def named(kind: type) -> str:
    """A class with its module, where it is not one that everybody knows."""
    module = kind.__module__.partition(".")[0]
    return kind.__name__ if module in ("builtins", "__main__") else f"{module}.{kind.__name__}"


def why_refused(x: Any) -> tuple[str, str] | None:
    """Why a value cannot be computed with by the rules of arrays and numbers, and what to write instead."""
    kind: Any = type(x)
    if is_structured(x):
        fields = ", ".join(x.dtype.names)
        return f"a structured array with the fields {fields}", "pass its fields, a['name'], one by one"
    return refused_kind(kind)


@kept_by_class
def refused_kind(kind: Any) -> tuple[str, str] | None:
    """The same for all values of a class."""
    if gives_once(kind):
        return f"a {named(kind)}, an iterator, which gives its items once", "make it a list: list(...)"
    name = overrides(kind)
    if name is None:
        return None
    reason = f"a {named(kind)}, a class whose {name} decides what is computed with it"
    if name == _WRAP and _keeps_sums(kind):
        return f"a {named(kind)}, a subclass of arrays whose sums are arrays, not numbers", "pass np.asarray(x)"
    if issubclass(kind, _INDEXED):
        return f"a {named(kind)}, which computes with what it is indexed by", "index it by its name: np.r_[...]"
    if issubclass(kind, np.ma.MaskedArray):
        return f"a {named(kind)}, whose mask no derivative rule sees", "pass .filled(0.0), and the mask as an array"
    if issubclass(kind, np.matrix):
        return f"a {named(kind)}, which multiplies as a matrix where an array does not", "pass np.asarray(m), use @"
    if issubclass(kind, list | dict | tuple | set | frozenset | deque):
        return f"a {named(kind)}, whose class decides by {name} what its items are", "pass a plain tuple, list or dict"
    plain = "float(x)" if issubclass(kind, float | int | complex) else "np.asarray(x), in units of your choice"
    return reason, f"pass a plain {'number' if 'float' in plain else 'array'}: {plain}"


def inside(x: Any, place: str) -> Iterator[tuple[Any, str]]:
    """A value and what nested containers and objects in it hold, each with its place: ``w[0]['bias']``; what is refused
    is not looked into."""
    pending, seen = [(x, place)], set()
    while pending:
        value, here = pending.pop()
        yield value, here
        kind: Any = type(value)
        if id(value) in seen or overrides(kind) is not None:
            continue
        if isinstance(value, tuple | list | deque):
            seen.add(id(value))
            pending += [(item, f"{here}[{k}]") for k, item in enumerate(value)][::-1]
        elif isinstance(value, dict):
            seen.add(id(value))
            pending += [(item, f"{here}[{key!r}]") for key, item in value.items()][::-1]
        elif is_object(value):
            seen.add(id(value))
            pending += [(item, f"{here}.{name}") for name, item in fields_of(value).items()][::-1]


def require_exact(x: Any, place: str) -> Any:
    """``x``; refused at ``place`` where it, or what it holds, is computed with by methods of its own class."""
    if type(x) is np.ndarray and x.dtype.names is None or type(x) is float:
        return x
    for value, where in inside(x, place):
        if is_sparse(type(value)):
            what = f"{where} is a {named(type(value))}, which was not known when this was compiled"
            raise RefusedType("E0508", f"{what}; make it outside, as a global or argument, or use A.toarray()")
        refused = why_refused(value)
        if refused is not None:
            raise RefusedType("E0209", f"{where} is {refused[0]}; {refused[1]}")
    return x


def kind_of(x: Any) -> str | None:
    """What a saved program relies on of an object, in words: its class, and the kinds of its fields.

    Numbers by their class, arrays by dtype and number of axes, containers by what they hold; None where something in it
    is none of these.

    >>> kind_of((1.0, [2, np.ones((2, 3))]))
    '(float, [int, float64[2]])'
    """
    if isinstance(x, np.ndarray):
        return f"{x.dtype}[{x.ndim}]" if type(x) is np.ndarray and x.dtype.kind in "biufc" else None
    if isinstance(x, np.number | np.bool_):
        return "bool_" if isinstance(x, np.bool_) else str(x.dtype)  # the dtype has the name of Python's class
    if type(x) in (bool, int, float, complex, str, type(None)):
        return type(x).__name__
    if type(x) in (list, tuple, dict) or is_object(x):
        fields = fields_of(x) if is_object(x) else x if type(x) is dict else dict(enumerate(x))
        kinds = {name: kind_of(value) for name, value in fields.items()}
        if None in kinds.values() or not all(type(name) in (str, int) for name in kinds):
            return None
        if is_object(x):
            told = ", ".join(f"{name}: {kind}" for name, kind in kinds.items())
            return f"{type(x).__module__}.{type(x).__qualname__}({told})"
        if type(x) is dict:
            return f"{{{', '.join(f'{name!r}: {kind}' for name, kind in kinds.items())}}}"  # 1 is not '1'
        told = ", ".join(map(str, kinds.values()))
        return f"[{told}]" if type(x) is list else f"({told})"
    return None


def require_kind(x: Any, kind: str, place: str) -> None:
    """Refuse an object that is not as the one for which a saved program was made."""
    try:
        found = kind_of(x)
    except RecursionError:  # it contains itself
        found = None
    if found != kind:
        raise RefusedType(
            "E0203", f"{place} is {found or named(type(x))}, and this program was saved for {kind}; save it for both"
        )


def require_plain(x: Any, place: str) -> Any:
    """``x``, an argument of which nothing is known: a number, an array, a container of such, or whatever else is no
    object of a user's class; refused at ``place`` otherwise, and where ``require_exact`` refuses it."""
    if type(x) is np.ndarray and x.dtype.kind in "biufc" or type(x) is float:
        return x
    held = [*inside(require_exact(x, place), place)]
    for value, where in held:
        if isinstance(value, dict | set | frozenset):
            held += [(key, f"a key of {where}") for key in value]
        elif isinstance(value, np.ndarray) and value.dtype.kind == "O":
            held += [(item, f"an item of {where}") for item in value.flat]
        if is_object(value) or has_operators(type(value)):
            what = f"{where} is an object of class {named(type(value))}, which was not known when this was compiled"
            raise RefusedType(
                "E0203", f"{what}; call the derivative with it, grad(f)(...), or pass its fields one by one"
            )
    return x
