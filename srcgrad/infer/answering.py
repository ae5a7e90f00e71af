"""Operations that ask objects of the user's for an answer: for their text, or whether they are equal.

Enters: what is printed or compared, and the names of the methods that may be asked.  Leaves: the heap behind these
methods, each of which has run for all objects of its class; None where other code may run::

    print(layer)                 runs Layer.__repr__ and what that calls
    layer in [first, second]     runs Layer.__eq__
    setting == other             of dataclasses: compares their fields, which runs the __eq__ of these

The operation stays as it is, since its result has no derivative; ``specialise.answers`` refuses methods that change
something.
"""

from __future__ import annotations

import dataclasses
from types import FunctionType
from typing import TYPE_CHECKING, Any

from srcgrad.frontend.classes import is_plain_class
from srcgrad.infer.heap import Heap, Site
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.objects import class_of, is_method, looked_up
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.values import NEVER, SCALARS, Array, At, Atom, Bound, Exact, Of, Value, exact, of, union
from srcgrad.language.models import CLASSES

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.infer.parameters import Given
    from srcgrad.ir.regions import Statement

#: Methods that text is made by: of ``print``, of ``format`` and of ``%``; and those that ``==`` and ``in`` ask.
SHOWN = ("__repr__", "__str__", "__format__", "__float__", "__int__", "__index__")
COMPARED = ("__eq__", "__ne__")
#: What NumPy looks for in an object before it takes it for a number.
OF_ARRAYS = (
    "__array__", "__array_ufunc__", "__array_priority__", "__array_interface__", "__array_struct__", "__buffer__",
    "__len__",
)  # fmt: skip
#: Functions that make text of what they are given.
_SHOWING = (str, repr, print, format, ascii)
_ROUNDS = 4  # of methods that change what others read, after which they are unknown code


def shown_by(
    analysis: Analysis, frame: Frame, statement: Statement, function: Any, given: Given, heap: Heap
) -> Heap | None:
    """The heap behind ``str``, ``print`` and their like of objects of the user's; None of another function."""
    if given.more is not None or not any(function is each for each in _SHOWING):
        return None
    if any(name not in ("sep", "end", "flush") for name, _ in given.keywords):  # ``file`` has a method of its own
        return None
    return answered(analysis, frame, statement, SHOWN, given.values(), heap)


def answered(
    analysis: Analysis, frame: Frame, statement: Statement, names: tuple[str, ...], values: tuple[Value, ...],
    heap: Heap,
) -> Heap | None:  # fmt: skip
    """The heap behind an operation that may run these methods of the objects that it comes across."""
    for _ in range(_ROUNDS):
        found = _asked(analysis, names, values, heap)
        if found is None:
            return None
        objects, met = found
        behind = heap
        for kind, receivers in objects.items():
            for name in names:
                method = looked_up(kind, name)
                if not is_method(method) or is_generated(kind, name):
                    continue
                given = (met,) if names == COMPARED else (of(str),) if name == "__format__" else ()
                made = analysis.call(frame, statement, exact(method), (receivers, *given), behind)
                if made is not None and names == COMPARED and not made[0].consists_of(_is_answer):
                    return None  # it is asked in turn whether it is true
                behind = behind if made is None else behind.join(made[1])
        analysis.facts.answered.add(statement)
        if behind <= heap:
            return heap
        heap = heap.join(behind)
    return None


def _is_answer(atom: Atom) -> bool:
    """Whether an atom is a truth value or a number, which is asked for its truth without running anything."""
    return isinstance(atom, Of) or isinstance(atom, Exact) and type(atom.value) in SCALARS


def _asked(
    analysis: Analysis, names: tuple[str, ...], values: tuple[Value, ...], heap: Heap
) -> tuple[dict[type, Value], Value] | None:
    """The objects of the user's classes that are come across, through containers and through fields that a dataclass
    shows, and all that is; None where something else may run code of the user's."""
    objects: dict[type, Value] = {}
    pending, visited = list(values), set[Site]()
    met = union(*values)
    while pending:
        value = pending.pop()
        if value.is_any:
            return None
        met = union(met, value)
        for atom in value.atoms:
            if isinstance(atom, Bound):
                return None  # something else stands for methods that are kept, as for functions
            if isinstance(atom, Exact) and not _answers_itself(atom.value, names):
                return None
            if not isinstance(atom, At | Array) or atom.site in visited:
                continue
            visited.add(atom.site)
            kind: Any = class_of(atom)
            if heap.is_seen(atom.site) or kind in CLASSES or isinstance(atom, At) and atom.site.kind is BaseException:
                return None
            if kind is FunctionType:
                return None
            if kind is not None and not is_of_library(kind):
                if analysis.assigned.is_open(kind) or not all(_is_known(kind, name) for name in names):
                    return None
                if names == COMPARED and any(hasattr(kind, name) for name in OF_ARRAYS):
                    return None  # NumPy's numbers would make an array of it
                objects[kind] = union(objects.get(kind, NEVER), Value(frozenset((atom,))))
                if not is_named_tuple(kind) and not any(is_generated(kind, name) for name in names):
                    continue
            pending += heap[atom.site].values()
    return objects, met


def _answers_itself(value: object, names: tuple[str, ...]) -> bool:
    """Whether an object that is known itself runs no code of the user's."""
    if isinstance(value, type):
        return is_plain_class(value)
    return is_of_library(value) or not any(is_method(looked_up(type(value), name)) for name in names)


def _is_known(kind: type, name: str) -> bool:
    """Whether it is known what a class does under a name: a method of the user's, one that ``dataclass`` has written,
    or what every object has."""
    held: Any = looked_up(kind, name)
    if is_generated(kind, name):
        plain = looked_up(kind, "__getattribute__") is object.__getattribute__ and not hasattr(kind, "__getattr__")
        fields = [looked_up(kind, field.name) for field in dataclasses.fields(kind)]
        return plain and not any(isinstance(each, property) for each in fields)
    if is_method(held) or not hasattr(kind, name):
        return True
    return held is getattr(object, name, None) or is_named_tuple(kind) and (
        held is getattr(tuple, name, None) or isinstance(held, FunctionType)
    )


def is_generated(kind: type, name: str) -> bool:
    """Whether ``dataclass`` has written a method of a class, which shows or compares its fields."""
    home: Any = next((base for base in kind.__mro__ if name in vars(base)), None)
    if home is None or "__dataclass_params__" not in vars(home):
        return False
    held = vars(home)[name]
    inner = getattr(held, "__wrapped__", held)  # what shows a dataclass keeps out of circles
    return getattr(getattr(inner, "__code__", None), "co_filename", "") == "<string>"
