"""What exceptions hold that are raised where something catches them, and whether a handler looks into them.

Enters: a statement that raises, or a handler.  Leaves: the values that an exception carries to the handler, which are
in the hands of unknown code where it does more than raise it again.
"""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any

from srcgrad.infer.applying import parts_of
from srcgrad.infer.frames import Frame
from srcgrad.infer.heap import Heap
from srcgrad.infer.objects import CONTAINERS, class_of
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.values import At, Bound, Exact, Value, is_unchanging
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Operand
from srcgrad.ir.regions import Assign, Fall, Function, Handler, Raise, blocks_of, operands_of, walk
from srcgrad.ir.restoring.pending import own_operands

if TYPE_CHECKING:
    from srcgrad.infer.interpreter import Analysis


def throw(analysis: Analysis, given: list[Value], heap: Heap) -> Heap:
    """The heap after ``raise``, which calls a class; what catches an exception may look into it."""
    if any(value.is_any or any(map(_is_of_users, value.atoms)) for value in given):
        return analysis.unknown(given, heap, is_run=False)
    sites, held = analysis.reachable(heap, given)
    if sites or not all(not value.is_any and all(map(_is_text_or_class, value.atoms)) for value in held):
        analysis.carried.update(given)
        analysis.throws_data = True
    return heap


def _is_of_users(atom: Any) -> bool:
    """Whether an atom is a class of the user's, or an object of one."""
    kind = atom.site.kind if isinstance(atom, At) else getattr(atom, "value", None)
    return isinstance(kind, type) and not is_of_library(kind)


def _is_text_or_class(atom: Any) -> bool:
    return is_unchanging(atom) or isinstance(atom, Exact) and isinstance(atom.value, type | NoneType)


def held_by_exceptions(frame: Frame, operation: ir.Operation) -> list[Value]:
    """What the exceptions may hold that an operation raises: of built-in containers the key that is not there."""
    held = list(operands_of(operation))
    match operation:
        case ir.GetAttribute(base=base, name=name) if (kinds := _kinds_of_containers(frame[base])) and all(
            hasattr(kind, name) for kind in kinds
        ):
            return []
        case ir.GetItem(base=base, index=index) | ir.DeleteItem(base=base, index=index) if (
            _kinds_of_containers(frame[base])
        ):
            return [frame[index]]
        case ir.Call(function=function) if (atoms := frame[function].atoms) and not frame[function].is_any and all(
            isinstance(a, Bound) and a.function is None and _kinds_of_containers(a.receiver) for a in atoms
        ):
            held = [operand for operand in held if operand is not function]
    return list(frame.all(held))


def _kinds_of_containers(value: Value) -> set[type]:
    """The classes of a value that is one of several built-in containers; none of any other."""
    kinds = {class_of(atom) if isinstance(atom, At) else None for atom in value.atoms}
    is_known = not value.is_any and all(kind in CONTAINERS for kind in kinds)
    return {kind for kind in kinds if kind is not None} if is_known else set()


#: Exceptions of which objects hold text alone where Python or NumPy raises them.
_OF_TEXT = (ValueError, TypeError, IndexError, ArithmeticError, AssertionError, RuntimeError)


def holds_text(analysis: Analysis, frame: Frame, handler: Handler, heap: Heap) -> bool:
    """Whether what is caught holds none of the operands of what raised it: a ``KeyError`` holds the key."""
    if handler.kinds is None or not isinstance(handler.kinds.exit, Fall) or analysis.throws_data:
        return False
    value = frame[handler.kinds.exit.values[0]]
    parts = parts_of(value, heap)
    return all(
        not part.is_any and all(isinstance(a, Exact) and a.value in _OF_TEXT for a in part.atoms)
        for part in ((value,) if parts is None else parts)
    )


def looks_into(function: Function, handler: Handler) -> bool:
    """Whether a handler does anything with what it catches but raise it again, or as the cause of another exception."""
    caught: set[Operand | ir.Cell] = {handler.caught}
    for block, statement in walk(handler.body):
        match statement:
            case Assign(operation=ir.Copy(source=source) | ir.Bound(source=source)) if source in caught:
                caught.update(statement.targets)
            case Assign(operation=ir.WriteCell(cell=cell, value=value)) if value in caught:
                if cell in function.free or _is_captured(function, cell):
                    return True
                caught.add(cell)
            case Assign(operation=ir.ReadCell(cell=cell)) if cell in caught:
                caught.update(statement.targets)
            case _ if not caught.isdisjoint(own_operands(statement)):
                return True
        blocks = (block, *blocks_of(statement))
        if any(not isinstance(b.exit, Raise) and not caught.isdisjoint(operands_of(b.exit)) for b in blocks):
            return True
    return not isinstance(handler.body.exit, Raise) and not caught.isdisjoint(operands_of(handler.body.exit))


def _is_captured(function: Function, cell: ir.Cell) -> bool:
    """Whether a function or class inside of a function may read one of its cells."""
    made = (s.operation for _, s in walk(function.body) if isinstance(s, Assign))
    inner = [each.function if isinstance(each, ir.MakeFunction) else getattr(each, "body", None) for each in made]
    return any(cell in each.free for each in inner if isinstance(each, Function))
