"""Tests whether a value is of the kind of another one, as Python text that is run at every call.

Enters: a value, and the text that reads another one in its place.  Leaves: expressions that are all true only if both
have the same types, dtypes, ranks, lengths, keys in the same order, and fields.  They are sufficient and not necessary:
what looks at a value more closely is asked where they are false, and where there are none.

>>> text = Spelling()
>>> same_kind(np.zeros((2, 3)), "x", text)
['type(x) is __srcgrad_0__', 'x.dtype is __srcgrad_1__', 'x.ndim == 2']
>>> text.objects["__srcgrad_0__"], text.objects["__srcgrad_1__"]
(<class 'numpy.ndarray'>, dtype('float64'))
"""

from __future__ import annotations

import operator
from contextvars import ContextVar
from enum import Enum
from functools import lru_cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType, UnionType
from typing import Any

import numpy as np

from srcgrad.runtime.objects import has_fields, slots_of

#: Tests of one value: each takes some 40 ns, a look at the value as a whole some microseconds.
MOST = 1000
#: From so many items on those of one kind are tested together: each takes some 20 ns.
_MANY = 4
_DEEPEST = 8
_SCALARS = frozenset({float, int, bool, complex, np.float64, np.float32, np.complex128, np.int64, np.bool_})
_FIXED = (
    FunctionType, BuiltinFunctionType, ModuleType, np.ufunc, Enum, type, UnionType, str, bytes, ContextVar,
)  # fmt: skip


Arrays = list[tuple[str, tuple[int, ...]]]


class Spelling:
    """Names for objects that a text reads, and for variables that it binds; none is a name of the user's."""

    def __init__(self) -> None:
        self.objects: dict[str, object] = {}
        self._names: dict[int, str] = {}
        self._variables = 0

    def of(self, value: object) -> str:
        name = self._names.setdefault(id(value), f"__srcgrad_{len(self._names)}__")
        self.objects[name] = value
        return name

    def function(self, text: str) -> Any:
        """The function ``made`` of a text that reads what was named; equal texts are compiled once."""
        namespace = dict(self.objects)
        exec(_code(text), namespace)
        return namespace["made"]

    def variable(self) -> str:
        self._variables += 1
        return f"__srcgrad_v{self._variables}__"


@lru_cache(maxsize=256)
def _code(text: str) -> CodeType:
    return compile(text, __file__, "exec", dont_inherit=True)  # whose frames no traceback shows


def same_kind(value: object, read: str, text: Spelling, met: Arrays | None = None) -> list[str] | None:
    """Tests of what the expression ``read``, which is evaluated once for each of them, gives; None where none tell.

    ``met`` takes the names by which the tests that follow may read the arrays, with their shapes.
    """
    tests: list[str] = []
    is_told = _tests(value, read, text, tests, [] if met is None else met, 0)
    return tests if is_told and len(tests) <= MOST else None


def same_pattern(arrays: Arrays, text: Spelling) -> list[str]:
    """Tests whether arrays, whose ranks are told, have equal sizes, and sizes of 0 and 1, in just the places in which
    these shapes have them."""
    tests: list[str] = []
    named = {0: "0", 1: "1"}
    for name, shape in arrays:
        before = len(named)
        for axis, size in enumerate(shape):
            if size not in named:
                named[size] = text.variable()
                tests.append(f"({named[size]} := {name}.shape[{axis}]) > 1")
        if len(named) < before + len(shape):  # some have been named
            tests.append(f"{name}.shape == ({', '.join(named[size] for size in shape)},)")
    if len(named) > 3:
        tests.append(f"len({{{', '.join(list(named.values())[2:])}}}) == {len(named) - 2}")
    return tests


def _tests(value: Any, read: str, text: Spelling, tests: list[str], met: Arrays, depth: int) -> bool:
    kind: Any = type(value)
    if depth > _DEEPEST or len(tests) > MOST:
        return False
    if value is None or isinstance(value, _FIXED):
        tests.append(f"{read} is {text.of(value)}")
        return True
    if kind in _SCALARS:
        tests.append(f"type({read}) is {text.of(kind)}")
        return True
    name = read if read.isidentifier() else text.variable()
    first = read if read.isidentifier() else f"({name} := {read})"
    tests.append(f"type({first}) is {text.of(kind)}")
    if kind is np.ndarray:
        met.append((name, value.shape))
        tests.extend([f"{name}.dtype is {text.of(value.dtype)}", f"{name}.ndim == {value.ndim}"])
        return value.dtype.kind in "biufc"
    if kind is list or kind is tuple:
        tests.append(f"len({name}) == {len(value)}")
        return _tests_of_each(dict(enumerate(value)), name, name, text, tests, met, depth)
    if kind is dict:
        return _tests_of_items(value, name, text, tests, met, depth)
    if kind is frozenset and all(isinstance(item, _FIXED) for item in value):
        tests.append(f"{read} is {text.of(value)}")
        return True
    if kind is set:  # equal items may be of other kinds
        kinds = frozenset(map(type, value))
        tests.append(f"{name} == {text.of(frozenset(value))} and set(map(type, {name})) == {text.of(kinds)}")
        return kinds <= {str}
    if has_fields(kind) and not slots_of(kind):
        held = object.__getattribute__(value, "__dict__")
        fields = text.variable()
        tests.append(f"type({fields} := {text.of(object.__getattribute__)}({name}, '__dict__')) is {text.of(dict)}")
        return type(held) is dict and _tests_of_items(held, fields, text, tests, met, depth)
    return False


def _tests_of_items(
    held: dict[Any, Any], name: str, text: Spelling, tests: list[str], met: Arrays, depth: int
) -> bool:
    keys = tuple(held)
    tests.append(f"len({name}) == {len(keys)}")
    if keys:  # the very same: a key that is only equal may be of another class
        tests.append(f"all(map({text.of(operator.is_)}, {name}, {text.of(keys)}))")
    return _tests_of_each(held, name, f"{name}.values()", text, tests, met, depth)


def _tests_of_each(
    held: dict[Any, Any], name: str, several: str, text: Spelling, tests: list[str], met: Arrays, depth: int
) -> bool:
    """Tests of the items ``name[key]``, all of which ``several`` gives in order."""
    if len(held) >= _MANY:
        items = tuple(held.values())
        if all(item is None or isinstance(item, _FIXED) for item in items):
            tests.append(f"all(map({text.of(operator.is_)}, {several}, {text.of(items)}))")
            return True
        if all(type(item) in _SCALARS for item in items):
            tests.append(f"all(map({text.of(operator.is_)}, map(type, {several}), {text.of(tuple(map(type, items)))}))")
            return True
    if len(held) > MOST:
        return False
    if not all(type(key) in (str, int) for key in held):  # others are not spelled
        values = text.variable()
        tests.append(f"len({values} := tuple({several})) == {len(held)}")
        held, name = dict(enumerate(held.values())), values
    return all(_tests(item, f"{name}[{key!r}]", text, tests, met, depth + 1) for key, item in held.items())
