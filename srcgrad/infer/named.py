"""Named tuples: tuples of a class of the user's, whose attributes are their items.

Enters: a class or object, the arguments of a call.  Leaves: what is made or read; ``NotImplemented`` where a method of
the user's takes part::

    Pair = namedtuple("Pair", "first second")
    p = Pair(x, second=2.0)            p: Pair, of the parts float64[1]@ndarray and 2.0
    q = p._replace(first=1)            q: Pair, of the parts 1 and 2.0
    p.first, q[1]                      float64[1]@ndarray, 2.0

>>> from collections import namedtuple
>>> is_named_tuple(namedtuple("Pair", "first second")), is_named_tuple(tuple)
(True, False)
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from srcgrad.infer.heap import Contents, Heap, Site
from srcgrad.infer.values import NEVER, At, Value, at, union
from srcgrad.runtime.binding import default_objects

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.infer.parameters import Given
    from srcgrad.ir.regions import Statement

OF_TUPLES = ("__getitem__", "__iter__", "__len__", "__bool__", "__getattribute__", "__getattr__", "__init__")


def is_named_tuple(kind: Any) -> bool:
    """Whether a class is one that ``namedtuple`` makes, and none of its methods decides what its items are."""
    if not isinstance(kind, type) or type(kind) is not type or kind.__bases__ != (tuple,):
        return False
    make = kind.__new__
    home = make.__globals__.get("__name__") if isinstance(make, FunctionType) else None
    return home == f"namedtuple_{kind.__name__}" and not any(name in vars(kind) for name in OF_TUPLES)


def joins_as_tuple(kind: Any) -> bool:
    """Whether a class is a named tuple whose ``+`` and ``*`` are those of tuples."""
    names = ("__add__", "__radd__", "__iadd__", "__mul__", "__rmul__", "__imul__")
    return is_named_tuple(kind) and not any(name in vars(kind) for name in names)


def index_of(held: Any, kind: Any, name: str) -> int | None:
    """The place of the item that an attribute of a named tuple reads; None of other attributes."""
    is_read = is_named_tuple(kind) and type(held).__name__ == "_tuplegetter"
    return held.__reduce__()[1][0] if is_read else None  # whatever name the class holds it under


def made(analysis: Analysis, frame: Frame, statement: Statement, kind: Any, given: Given, heap: Heap) -> Any:
    """A named tuple that a call of its class makes; None where the arguments do not fit."""
    if analysis.assigned.is_open(kind):
        return NotImplemented
    values: dict[str, Value] = dict(zip(kind._fields, given.positional, strict=False))
    named = dict(given.keywords)
    if len(given.positional) > len(kind._fields) or values.keys() & named.keys() or named.keys() - set(kind._fields):
        return None
    defaults = {name: analysis.outside.value(held) for name, held in default_objects(kind.__new__).items()}
    if given.more is not None:  # of which any may be any of the others
        defaults = {name: union(given.more, defaults.get(name, NEVER)) for name in kind._fields}
    values = defaults | values | named
    if len(values) < len(kind._fields):
        return None
    return _allocated(frame, statement, kind, tuple(values[name] for name in kind._fields), heap)


def method(
    analysis: Analysis, frame: Frame, statement: Statement, atom: At, name: str, given: Given, heap: Heap
) -> Any:
    """``_replace`` and ``_asdict`` of named tuples whose items are known."""
    kind: Any = atom.site.kind
    parts = heap[atom.site].parts
    if parts is None or given.positional or given.more is not None or analysis.assigned.is_open(kind):
        return NotImplemented
    if name == "_asdict" and not given.keywords:
        site = frame.site(dict, statement, "named")
        return at(site), heap.allocated(site, Contents(entries=tuple(zip(kind._fields, parts, strict=True))))
    if name != "_replace":
        return NotImplemented
    values = dict(zip(kind._fields, parts, strict=True))
    if not {key for key, _ in given.keywords} <= values.keys():
        return None
    values.update(given.keywords)
    return _allocated(frame, statement, kind, tuple(values.values()), heap)


def _allocated(
    frame: Frame, statement: Statement, kind: type, parts: tuple[Value, ...], heap: Heap
) -> tuple[Value, Heap]:
    site: Site = frame.site(kind, statement, "named")
    return at(site), heap.allocated(site, Contents(parts=parts))
