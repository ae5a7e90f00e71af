"""What each operation of the IR computes, as Python computes it.

Enters: the ``Frame`` of an activation, and an operation whose operands it holds.  Leaves: the value; exceptions are
those of Python.  ``RUN`` has the function of every operation, but for those that run blocks (``ir.interpreter``).
"""

from __future__ import annotations

import builtins
import importlib
import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CellType
from typing import Any

from srcgrad.ir.operations import (
    END,
    UNBOUND,
    Bound,
    Call,
    Cell,
    Compare,
    Copy,
    DeleteAttribute,
    DeleteCell,
    DeleteGlobal,
    DeleteItem,
    DeleteName,
    Extend,
    Format,
    FreshCell,
    GetAttribute,
    GetItem,
    Import,
    ImportName,
    Insert,
    Iterate,
    Join,
    Literal,
    Make,
    MatchClass,
    MatchKeys,
    MatchMapping,
    MatchSequence,
    Next,
    Operand,
    Operation,
    Operator,
    ReadCell,
    ReadGlobal,
    ReadName,
    SetAttribute,
    SetItem,
    Super,
    Unpack,
    Version,
    WriteCell,
    WriteGlobal,
    WriteName,
)
from srcgrad.ir.regions import (
    Function,
)
from srcgrad.runtime import is_mapping, is_sequence

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "<<": operator.lshift, ">>": operator.rshift,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip
IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv, "//": operator.ifloordiv,
    "%": operator.imod, "**": operator.ipow, "@": operator.imatmul, "<<": operator.ilshift, ">>": operator.irshift,
    "&": operator.iand, "|": operator.ior, "^": operator.ixor,
}  # fmt: skip
UNARY: dict[str, Callable[[Any], Any]] = {
    "+": operator.pos, "-": operator.neg, "~": operator.invert, "not": operator.not_,
    "bool": bool,
}  # fmt: skip
COMPARING: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "is": operator.is_, "is not": operator.is_not, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip
_CONVERSIONS: dict[str | None, Callable[[Any], Any]] = {None: lambda v: v, "str": str, "repr": repr, "ascii": ascii}
_SELF_MATCHING = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


@dataclass
class Frame:
    """One activation of a function."""

    function: Function
    namespace: dict[str, Any]  # globals
    cells: dict[Cell, CellType]
    values: dict[Version, Any] = field(default_factory=dict)
    names: Any = None  # the namespace of a class

    def __getitem__(self, operand: Operand) -> Any:
        return operand.value if isinstance(operand, Literal) else self.values[operand]

    def all(self, operands: Sequence[Operand]) -> tuple[Any, ...]:
        return tuple([self[operand] for operand in operands])


# --- operations ------------------------------------------------------------------------------------------------------
def _bound(frame: Frame, made: Bound) -> Any:
    value = frame[made.source]
    if value is UNBOUND:
        raise UnboundLocalError(
            f"cannot access local variable {made.variable!r} where it is not associated with a value"
        )
    return value


def _read_cell(frame: Frame, made: ReadCell) -> Any:
    try:
        return frame.cells[made.cell].cell_contents
    except ValueError:
        pass  # Python raises the other exception without this one as its context
    raise _empty(frame, made.cell)


def _empty(frame: Frame, cell: Cell) -> NameError:
    if cell in frame.function.free:
        return NameError(
            f"cannot access free variable {cell.variable!r} where it is not associated with a value in enclosing scope"
        )
    return UnboundLocalError(
        f"cannot access local variable {cell.variable!r} where it is not associated with a value"
    )


def _write_cell(frame: Frame, made: WriteCell) -> None:
    frame.cells[made.cell].cell_contents = frame[made.value]


def _fresh_cell(frame: Frame, made: FreshCell) -> None:
    frame.cells[made.cell] = CellType()


def _delete_cell(frame: Frame, made: DeleteCell) -> None:
    _read_cell(frame, ReadCell(made.cell))
    del frame.cells[made.cell].cell_contents


def _read_global(frame: Frame, made: ReadGlobal) -> Any:
    if made.name in frame.namespace:
        return frame.namespace[made.name]
    own = frame.namespace.get("__builtins__", builtins)
    known = own if isinstance(own, dict) else vars(own)
    if made.name in known:
        return known[made.name]
    raise NameError(f"name {made.name!r} is not defined")


def _write_global(frame: Frame, made: WriteGlobal) -> None:
    frame.namespace[made.name] = frame[made.value]


def _delete_global(frame: Frame, made: DeleteGlobal) -> None:
    if made.name not in frame.namespace:
        raise NameError(f"name {made.name!r} is not defined")
    del frame.namespace[made.name]


def _read_name(frame: Frame, made: ReadName) -> Any:
    try:
        return frame.names[made.name]
    except KeyError:
        pass
    return _read_global(frame, ReadGlobal(made.name)) if made.cell is None else _read_cell(frame, ReadCell(made.cell))


def _write_name(frame: Frame, made: WriteName) -> None:
    frame.names[made.name] = frame[made.value]


def _delete_name(frame: Frame, made: DeleteName) -> None:
    try:
        del frame.names[made.name]
    except KeyError:
        raise NameError(f"name {made.name!r} is not defined") from None


def _set_item(frame: Frame, made: SetItem) -> None:
    frame[made.base][frame[made.index]] = frame[made.value]


def _delete_item(frame: Frame, made: DeleteItem) -> None:
    del frame[made.base][frame[made.index]]


def _operator(frame: Frame, made: Operator) -> Any:
    if len(made.operands) == 1:
        return UNARY[made.symbol](frame[made.operands[0]])
    left, right = frame.all(made.operands)
    return (IN_PLACE if made.in_place else BINARY)[made.symbol](left, right)


def _call(frame: Frame, made: Call) -> Any:
    star = () if made.star is None else frame[made.star]
    rest = {} if made.rest is None else frame[made.rest]
    keywords = {name: frame[value] for name, value in made.keywords}
    return frame[made.function](*frame.all(made.positional), *star, **keywords, **rest)


def _make(frame: Frame, made: Make) -> Any:
    elements = frame.all(made.elements)
    match made.kind:
        case "tuple":
            return elements
        case "list":
            return list(elements)
        case "set":
            return set(elements)
        case "slice":
            return slice(*elements)
        case "dict":
            return dict(zip(frame.all(made.keys), elements, strict=True))
    raise AssertionError(made.kind)


def _insert(frame: Frame, made: Insert) -> None:
    container, value = frame[made.container], frame[made.value]
    if made.key is not None:
        container[frame[made.key]] = value
    elif isinstance(container, set):
        container.add(value)
    else:
        container.append(value)


def _extend(frame: Frame, made: Extend) -> None:
    container, source = frame[made.container], frame[made.source]
    if isinstance(container, list):
        container.extend(source)
    elif isinstance(container, set):
        container.update(source)
    elif made.function is None:
        _require_mapping(source, f"'{type(source).__name__}' object is not a mapping")
        container.update(source)
    else:
        called = _described(frame[made.function])
        _require_mapping(source, f"{called} argument after ** must be a mapping, not {type(source).__name__}")
        plain = isinstance(source, dict) and type(source).__iter__ is dict.__iter__  # read without its methods
        for key, value in dict.items(source) if plain else ((key, source[key]) for key in source.keys()):
            if key in container:
                raise TypeError(f"{called} got multiple values for keyword argument {key!r}")
            container[key] = value


def _require_mapping(source: object, otherwise: str) -> None:
    if not hasattr(source, "keys"):
        raise TypeError(otherwise)


def _described(function: object) -> str:
    name = getattr(function, "__qualname__", None)
    module = getattr(function, "__module__", None)
    if not isinstance(name, str):
        return repr(function)
    return f"{module}.{name}()" if isinstance(module, str) and module != "builtins" else f"{name}()"


def _unpack(frame: Frame, made: Unpack) -> Sequence[Any]:
    return unpacked(frame[made.source], made.count, made.star)


def unpacked(source: Any, count: int, star: int | None) -> Sequence[Any]:
    """The items of an iterable for so many targets; Python takes no more of them than it needs."""
    if star is not None:
        items = list(source)
        after = count - star - 1
        if len(items) < count - 1:
            raise ValueError(f"not enough values to unpack (expected at least {count - 1}, got {len(items)})")
        return [*items[:star], items[star : len(items) - after], *items[len(items) - after :]]
    kind = type(source)
    if not hasattr(kind, "__iter__") and not hasattr(kind, "__getitem__"):
        raise TypeError(f"cannot unpack non-iterable {kind.__name__} object")
    iterator = iter(source)
    items = []
    for item in iterator:
        if len(items) == count:
            raise ValueError(f"too many values to unpack (expected {count})")
        items.append(item)
    if len(items) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
    return items


def _next(frame: Frame, made: Next) -> Any:
    return next(frame[made.iterator], END)


def _format(frame: Frame, made: Format) -> str:
    specification = "" if made.specification is None else frame[made.specification]
    return format(_CONVERSIONS[made.conversion](frame[made.value]), specification)


def _import(frame: Frame, made: Import) -> Any:
    given = made.names or None
    module = builtins.__import__(made.module, frame.namespace, None, given, made.level)
    if given is None and not made.whole:
        for part in made.module.split(".")[1:]:
            inner = f"{module.__name__}.{part}"
            module = getattr(module, part) if hasattr(module, part) else sys.modules[inner]
    return module


def _import_name(frame: Frame, made: ImportName) -> Any:
    module = frame[made.module]
    try:
        return getattr(module, made.name)
    except AttributeError:
        pass
    inner = f"{module.__name__}.{made.name}"
    if inner in sys.modules:
        return importlib.import_module(inner)
    raise ImportError(
        f"cannot import name {made.name!r} from {module.__name__!r} ({getattr(module, '__file__', 'unknown location')})"
    )


def _match_sequence(frame: Frame, made: MatchSequence) -> bool:
    subject = frame[made.subject]
    if not is_sequence(subject):
        return False
    return len(subject) >= made.count if made.at_least else len(subject) == made.count


def _match_mapping(frame: Frame, made: MatchMapping) -> bool:
    subject = frame[made.subject]
    return is_mapping(subject) and (not made.count or len(subject) >= made.count)


def _match_keys(frame: Frame, made: MatchKeys) -> tuple[bool, tuple[Any, ...]]:
    subject, keys = frame[made.subject], frame.all(made.keys)
    seen: set[Any] = set()
    values: list[Any] = []
    for key in keys:
        if key in seen:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        seen.add(key)
        value = subject.get(key, UNBOUND)
        if value is UNBOUND:
            return False, ()
        values.append(value)
    if made.rest:
        others = dict(subject)
        for key in keys:
            del others[key]
        values.append(others)
    return True, tuple(values)


def _match_class(frame: Frame, made: MatchClass) -> tuple[bool, tuple[Any, ...]]:
    subject, kind = frame[made.subject], frame[made.of]
    if not isinstance(kind, type):
        raise TypeError("called match pattern must be a class")
    if not isinstance(subject, kind):
        return False, ()
    found: list[Any] = []
    names: list[str] = []
    if made.count:
        given = getattr(kind, "__match_args__", None)
        if given is None and issubclass(kind, _SELF_MATCHING):
            given = ()
            if made.count == 1:
                found.append(subject)
        elif not isinstance(given, tuple | None):
            raise TypeError(f"{kind.__name__}.__match_args__ must be a tuple (got {type(given).__name__})")
        if not found and len(given or ()) < made.count:
            allowed = len(given or ())
            raise TypeError(f"{kind.__name__}() accepts {allowed} positional sub-patterns ({made.count} given)")
        names += [] if found else (given or ())[: made.count]
    for name in made.names:
        if name in names:
            raise TypeError(f"{kind.__name__}() got multiple sub-patterns for attribute {name!r}")
        names.append(name)
    for name in names:
        try:
            found.append(getattr(subject, name))
        except AttributeError:
            return False, ()
    return True, tuple(found)


def _super(frame: Frame, made: Super) -> Any:
    function = frame[made.function]
    if function is not super:
        return function()
    if frame[made.first] is UNBOUND or made.cell is None:
        raise RuntimeError("super(): no arguments" if made.cell is not None else "super(): __class__ cell not found")
    try:
        kind = frame.cells[made.cell].cell_contents
    except ValueError:
        raise RuntimeError("super(): empty __class__ cell") from None
    return super(kind, frame[made.first])


RUN: dict[type[Operation], Callable[[Frame, Any], Any]] = {
    Copy: lambda frame, made: frame[made.source],
    Bound: _bound,
    ReadCell: _read_cell,
    WriteCell: _write_cell,
    FreshCell: _fresh_cell,
    DeleteCell: _delete_cell,
    ReadGlobal: _read_global,
    WriteGlobal: _write_global,
    DeleteGlobal: _delete_global,
    ReadName: _read_name,
    WriteName: _write_name,
    DeleteName: _delete_name,
    GetAttribute: lambda frame, made: getattr(frame[made.base], made.name),
    SetAttribute: lambda frame, made: setattr(frame[made.base], made.name, frame[made.value]),
    DeleteAttribute: lambda frame, made: delattr(frame[made.base], made.name),
    GetItem: lambda frame, made: frame[made.base][frame[made.index]],
    SetItem: _set_item,
    DeleteItem: _delete_item,
    Operator: _operator,
    Compare: lambda frame, made: COMPARING[made.symbol](frame[made.left], frame[made.right]),
    Call: _call,
    Make: _make,
    Insert: _insert,
    Extend: _extend,
    Unpack: _unpack,
    Iterate: lambda frame, made: iter(frame[made.source]),
    Next: _next,
    Format: _format,
    Join: lambda frame, made: "".join(frame.all(made.parts)),
    Import: _import,
    ImportName: _import_name,
    MatchSequence: _match_sequence,
    MatchMapping: _match_mapping,
    MatchKeys: _match_keys,
    MatchClass: _match_class,
    Super: _super,
}
