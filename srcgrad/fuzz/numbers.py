"""What the derivatives of a random program are, by numbers alone: complex step, with differences behind it.

Enters: the text of a module that defines ``f``.  Leaves: its value at a point, and the derivatives of the value's
numbers along a few directions.  The text runs unchanged on complex numbers: comparisons look at real parts first (NumPy
orders complex numbers lexicographically), ``np`` makes complex arrays where it would make real ones, ``math`` becomes
NumPy, ``abs`` a branch, and an imaginary part that would be lost is an error.  Then differences with two step sizes
decide.  Numbers live at the floating-point leaves of nested tuples, lists, deques, dicts and objects.
"""

from __future__ import annotations

import ast
import copy
import itertools
import linecache
import sys
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

STEP = 1e-25  # the complex step: no subtraction, hence no cancellation
LARGEST = 1e6
_numbers = itertools.count()
Vector = np.ndarray


class Unsuitable(Exception):
    """The program itself fails, or its numbers are not tame: it says nothing about the compiler."""


# --- trees of numbers ------------------------------------------------------------------------------------------------
def is_inexact(leaf: Any) -> bool:
    """True for floats, complex numbers and arrays of them."""
    if isinstance(leaf, np.ndarray | np.generic):
        return bool(np.issubdtype(leaf.dtype, np.inexact))
    return isinstance(leaf, float | complex)


def is_object(tree: Any) -> bool:
    """Whether this is an object of a class of a random program, or a gradient of one."""
    known = type(tree).__module__ == "generated" or isinstance(tree, SimpleNamespace)
    return known and hasattr(tree, "__dict__")


def mapped(tree: Any, make: Callable[[Any], Any]) -> Any:
    """The same structure, made anew, with ``make(leaf)`` at each leaf."""
    if isinstance(tree, Mapping):
        return {key: mapped(item, make) for key, item in tree.items()}
    if isinstance(tree, tuple):
        items = [mapped(item, make) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)
    if isinstance(tree, deque):
        return deque((mapped(item, make) for item in tree), tree.maxlen)
    if isinstance(tree, list):
        return [mapped(item, make) for item in tree]
    if is_object(tree):
        other = copy.copy(tree)
        vars(other).update({name: mapped(item, make) for name, item in vars(tree).items()})
        return other
    return make(tree)


def leaves(tree: Any) -> list[Any]:
    """The leaves of a tree, in order."""
    if isinstance(tree, Mapping):
        return [leaf for item in tree.values() for leaf in leaves(item)]
    if isinstance(tree, tuple | list | deque):
        return [leaf for item in tree for leaf in leaves(item)]
    if is_object(tree):
        return [leaf for item in vars(tree).values() for leaf in leaves(item)]
    return [tree]


def copied(tree: Any) -> Any:
    """A copy that shares nothing."""
    return mapped(tree, lambda leaf: leaf.copy(order="K") if isinstance(leaf, np.ndarray) else leaf)


def ravel(tree: Any) -> Vector:
    """All floating-point numbers of a tree as one vector."""
    parts = [np.asarray(leaf).ravel() for leaf in leaves(tree) if is_inexact(leaf)]
    return np.concatenate(parts) if parts else np.zeros(0)


def unravel(tree: Any, point: Vector) -> Any:
    """The tree with its floating-point numbers replaced by those of the point.

    A Python float becomes a NumPy number when the point is complex: Python does not order complex numbers at all.
    """
    position = 0

    def make(leaf: Any) -> Any:
        nonlocal position
        if not is_inexact(leaf):
            return leaf
        size = int(np.size(leaf))
        values = point[position : position + size]
        position += size
        if isinstance(leaf, np.ndarray):
            return values.reshape(leaf.shape).copy()
        return values[0] if np.iscomplexobj(point) else float(values[0])

    return mapped(tree, make)


def random_like(tree: Any, seed: int) -> Any:
    """Random numbers at the floating-point leaves, None at the others; kinds and dtypes are kept."""
    generator = np.random.default_rng(seed)

    def make(leaf: Any) -> Any:
        if not is_inexact(leaf):
            return None
        values = generator.uniform(0.3, 1.0, np.shape(leaf)) * generator.choice((-1.0, 1.0), np.shape(leaf))
        if isinstance(leaf, np.ndarray):
            return np.asarray(values, dtype=leaf.dtype)
        return leaf.dtype.type(values) if isinstance(leaf, np.generic) else float(values)

    return mapped(tree, make)


def same(one: Any, other: Any) -> bool:
    """Whether two trees have the same structure and exactly the same leaves."""
    left, right = leaves(one), leaves(other)
    # Each load of a program makes its classes again.
    own = [kind.__qualname__ for kind in (type(one), type(other)) if kind.__module__ == "generated"]
    alike = type(one) is type(other) or len(own) == 2 and own[0] == own[1]
    if len(left) != len(right) or not (alike or is_inexact(one) and is_inexact(other)):
        return False
    return all(
        np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b)))
        for a, b in zip(left, right, strict=True)
    )


# --- programs --------------------------------------------------------------------------------------------------------
def load(text: str, *, complex_: bool = False) -> Callable[..., Any]:
    """The function ``f`` of a module's text; its source can be found."""
    name = "<complex program>" if complex_ else f"<program {next(_numbers)}>"
    module = sys.modules["generated"] = ModuleType("generated")  # dataclasses look their module up
    namespace = vars(module)
    exec(_code(text, name), namespace)
    if complex_:
        namespace.update(_COMPLEX)
    else:
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    function: Callable[..., Any] = namespace["f"]
    return function


def _swapped(b: int) -> int:
    b, b = (b, 2)
    return b


#: CPython 3.11.2 leaves ``b`` as it is in ``b, b = (b, 2)``; the value of such a program says nothing there.
SWAPS_WRONGLY = _swapped(7) != 2


def binds_twice(text: str) -> bool:
    """Whether a tuple of targets names one variable twice.

    >>> binds_twice("a, b = b, a"), binds_twice("b, b = b, 2")
    (False, True)
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store):
            names = [part.id for part in node.elts if isinstance(part, ast.Name)]
            if len(set(names)) < len(names):
                return True
    return False


@lru_cache(maxsize=2)
def _code(text: str, name: str) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(text, name, "exec")


def forget(function: Callable[..., Any]) -> None:
    """Drop the text of a function that is not needed any more, and what is compiled of its module.

    The module itself stays: what is found out about a class is kept for good, and its methods know their module.
    """
    linecache.cache.pop(function.__code__.co_filename, None)
    for made in function.__globals__.values():
        if isinstance(made, FunctionType):
            vars(made).pop("__srcgrad_kept__", None)


#: What a parameter of ``f`` is given, by its name.
GIVEN: dict[str, Any] = {
    "a": 0.73,
    "b": -0.41,
    "x": np.array([0.62, -0.87, 0.34, 0.15]),
    "y": np.array([-0.29, 0.91, -0.53, 0.77]),
    "m": np.array([[0.55, -0.38], [0.24, 0.69]]),
    "c": np.array([[[0.31, -0.62], [0.47, 0.83]], [[-0.15, 0.58], [0.92, -0.36]]]),
    "h": [np.array([0.44, -0.21, 0.67, -0.95]), np.array([-0.74, 0.36, 0.12, 0.51])],
    "d": {"p": np.array([0.27, 0.65, -0.48, -0.13]), "q": 0.59},
}


def point_of(function: Callable[..., Any]) -> tuple[Any, ...]:
    """The arguments of a program's ``f``; an object is one of the program's own class ``Box``."""
    code = function.__code__

    def given(name: str) -> Any:
        if name == "o":
            return function.__globals__["Box"](np.array([0.39, -0.56, 0.18, 0.72]), 0.46)
        return copied(GIVEN[name])

    return tuple(given(name) for name in code.co_varnames[: code.co_argcount])


@dataclass(frozen=True, eq=False)
class Truth:
    """A program at a point: its value, and the derivatives of its numbers along directions."""

    value: Any
    directions: tuple[Vector, ...]
    tangents: tuple[Vector, ...]
    exact: bool  # by complex step

    @property
    def tolerance(self) -> float:
        return 1e-9 if self.exact else 2e-5


def truth(text: str, moving: Sequence[int] | None = None, shift: float = 0.0) -> Truth:
    """Value and derivatives where only the arguments ``moving`` (all by default) move; ``Unsuitable`` if not tame."""
    if SWAPS_WRONGLY and binds_twice(text):
        raise Unsuitable("this Python binds one of two equal names to another value")
    try:
        function = load(text)
        point = point_of(function)
    except Exception as error:  # shrinking has broken the module, or its class
        raise Unsuitable(repr(error)) from error
    forget(function)
    flat = ravel(point) + shift * np.random.default_rng(9).uniform(-1.0, 1.0, ravel(point).size)
    at = unravel(point, flat)
    directions = tuple(_direction(point, moving, seed) for seed in (3, 4))
    with np.errstate(all="ignore"):
        try:
            with np.errstate(over="raise"):  # zero times what overflowed on the way, unread, is no number
                value = function(*copied(at))
        except Exception as error:
            raise Unsuitable(repr(error)) from error
        try:
            inside = leaves(value)
        except RecursionError as error:
            raise Unsuitable("the result holds itself") from error
        if not all(map(is_inexact, inside)) or not inside:
            raise Unsuitable("the result is not of floating-point numbers")
        value = copied(value)
        _tame(ravel(value))
        try:
            tangents = tuple(_complex_step(text, at, flat, d, value) for d in directions)
            exact = True
        except Unsuitable:
            raise
        except Exception:  # the program is not one of complex numbers
            tangents = tuple(differences(function, at, flat, d) for d in directions)
            exact = False
    for numbers in tangents:
        _tame(numbers)
    return Truth(value, directions, tangents, exact)


def _direction(point: tuple[Any, ...], moving: Sequence[int] | None, seed: int) -> Vector:
    parts = [ravel(random_like(part, seed + 10 * k)) for k, part in enumerate(point)]
    return np.concatenate([p if moving is None or k in moving else np.zeros_like(p) for k, p in enumerate(parts)])


def _tame(numbers: Vector) -> None:
    if not np.all(np.isfinite(numbers)) or np.max(np.abs(numbers), initial=0.0) > LARGEST:
        raise Unsuitable("the numbers are not tame")


def _complex_step(text: str, at: Any, flat: Vector, direction: Vector, like: Any) -> Vector:
    """d/dt f(point + t * direction) by one complex evaluation (Squire & Trapp, SIAM Review 40, 1998)."""
    function = load(text, complex_=True)
    given = unravel(at, flat + 1j * STEP * direction)
    if any(name == "o" for name in function.__code__.co_varnames[: function.__code__.co_argcount]):
        given = _rehoused(function, given)
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        result = function(*given)
    expected = [is_inexact(leaf) for leaf in leaves(like)]
    parts = [np.asarray(leaf, complex).ravel() for leaf, it in zip(leaves(result), expected, strict=True) if it]
    made: Vector = np.concatenate(parts)
    if not np.allclose(np.real(made), ravel(like), rtol=1e-6, atol=1e-9):
        raise Unsuitable("the complex program takes another path: numbers that are compared are all but equal")
    return np.imag(made) / STEP


def _rehoused(function: Callable[..., Any], given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The object among the arguments, made of the class of this loading of the module."""

    def housed(value: Any) -> Any:
        if type(value).__name__ != "Box":
            return value
        other = object.__new__(function.__globals__["Box"])
        vars(other).update(vars(value))
        return other

    return tuple(map(housed, given))


def differences(function: Callable[..., Any], at: Any, flat: Vector, direction: Vector) -> Vector:
    """Extrapolated central differences; two step sizes must agree."""

    def slope(h: float) -> Vector:
        upper, lower = (ravel(function(*unravel(at, flat + sign * h * direction))) for sign in (1.0, -1.0))
        made: Vector = (upper - lower) / (2.0 * h)
        return made

    def extrapolated(h: float) -> Vector:
        coarse, fine = slope(h), slope(h / 2.0)
        made: Vector = fine + (fine - coarse) / 3.0
        return made

    try:
        one, other = extrapolated(2e-3), extrapolated(7e-4)
    except Exception as error:  # a neighbour takes another path
        raise Unsuitable(repr(error)) from error
    if one.shape != other.shape or not np.all(np.abs(one - other) <= 2e-6 * max(1.0, np.max(np.abs(one), initial=0.0))):
        raise Unsuitable("differences do not converge: a kink or a jump is near")
    return other


def is_smooth(text: str, found: Truth, moving: Sequence[int] | None = None) -> bool:
    """Whether differences agree with the truth: they do not at a kink, a tie or a jump."""
    function = load(text)
    try:
        point = point_of(function)
        flat = ravel(point)
        with np.errstate(all="ignore"):
            for direction, tangent in zip(found.directions, found.tangents, strict=True):
                numeric = differences(function, point, flat, direction)
                size = max(1.0, float(np.max(np.abs(tangent), initial=0.0)))
                if np.max(np.abs(numeric - tangent), initial=0.0) > 1e-5 * size:
                    return False
    except Unsuitable:
        return False
    finally:
        forget(function)
    return True


# --- NumPy as a program of complex numbers sees it -------------------------------------------------------------------
def _absolute(value: Any) -> Any:
    return np.where(np.real(value) >= 0.0, value, -value)[()]


class _ComplexNumpy:
    """NumPy, but arrays that would be made of real floating-point numbers are complex."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def _complex(made: np.ndarray) -> np.ndarray:
        return made.astype(complex) if made.dtype.kind == "f" else made


def _making(name: str) -> Callable[..., Any]:
    make = getattr(np, name)
    return staticmethod(lambda *args, **kwargs: _ComplexNumpy._complex(make(*args, **kwargs)))


for _name in ("zeros", "ones", "empty", "full", "eye", "array", "linspace"):
    setattr(_ComplexNumpy, _name, _making(_name))
_COMPLEX = {"np": _ComplexNumpy(), "math": SimpleNamespace(sin=np.sin), "abs": _absolute, "float": complex}
