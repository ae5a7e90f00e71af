"""What exceptions hold: what raises them puts it there, and a handler may read it.

Enters: what is raised, a handler.  Leaves: what the handler's variable may be, and the heap then::

    except IndexError as error:        error: data, which holds text
    except KeyError as error:          error: any, which may hold a key
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from srcgrad.infer.applying import parts_of
from srcgrad.infer.heap import Contents, Heap
from srcgrad.infer.objects import CONTAINERS, class_of, looked_up
from srcgrad.infer.outside import is_of_library, is_of_users
from srcgrad.infer.values import ANY, At, Atom, Bound, Exact, Value, at, is_unchanging, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Operand
from srcgrad.ir.regions import Assign, Fall, Function, Handler, Raise, Statement, blocks_of, operands_of, walk
from srcgrad.ir.restoring.pending import own_operands

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis


def raised(analysis: Analysis, frame: Frame, given: Sequence[Value], heap: Heap) -> Heap:
    """The heap after an exception is raised, with its cause: whoever catches it may see what it holds."""
    analysis.local_classes.throw(heap, given)
    if frame.raised is None:
        return heap
    analysis.raised = union(analysis.raised, *given[:1])
    sites, held = analysis.reachable(heap, given)
    if all(site.kind is None and site.context != "outside" for site in sites) and not any(
        value.is_any or any(not is_unchanging(a) and not _is_exception(a) for a in value.atoms) for value in held
    ):
        return heap  # text alone
    if any(value.is_any or any(map(is_of_users, value.atoms)) for value in given):  # a class is called
        return analysis.unknown(given, heap, is_run=False)
    analysis.carried.update(given)
    analysis.throws_data = True
    return heap


def _is_exception(atom: Atom) -> bool:
    """Whether an atom is a class of exceptions of Python's own, or an object of one, or data."""
    if isinstance(atom, Exact):
        return isinstance(atom.value, type) and issubclass(atom.value, BaseException) and is_of_library(atom.value)
    return isinstance(atom, At) and atom.site.kind is None


def caught(
    analysis: Analysis, frame: Frame, statement: Statement, handler: Handler, heap: Heap
) -> tuple[Value, Heap]:
    """What the variable of a handler may be, and the heap as its body finds it."""
    is_named = handler.kinds is not None and isinstance(handler.kinds.exit, Fall)
    kinds = frame[handler.kinds.exit.values[0]] if is_named else ANY  # type: ignore[union-attr]
    if (analysis.throws_data or not _hold_text(kinds, heap)) and _looks_into(frame.function, handler):
        heap = analysis.unknown(list(analysis.carried), heap)
    thrown = Value(frozenset(atom for atom in analysis.raised.atoms if isinstance(atom, At)))
    if not are_of_text(analysis, kinds, heap) or analysis.facts.opaque or frame.is_unknown:
        return union(thrown, ANY), heap
    site = frame.site(None, statement, handler)
    made = union(at(site), thrown)
    return made, heap.allocated(site, Contents(single=False, rest=made, others=made))


# --- what operations raise -------------------------------------------------------------------------------------------
def held_by(frame: Frame, operation: ir.Operation) -> list[Value]:
    """What the exceptions may hold that an operation raises: of built-in containers the key that is not there."""
    held = list(operands_of(operation))
    match operation:
        case ir.Copy() | ir.Bound() | ir.WriteCell() | ir.Make(kind="tuple" | "list" | "slice") | ir.MakeFunction():
            return []
        case ir.Compare(symbol="is" | "is not"):
            return []
        case ir.GetAttribute(base=base, name=name) if (kinds := _kinds_of_containers(frame[base])) and all(
            hasattr(kind, name) for kind in kinds
        ):
            return []
        case ir.SetAttribute(base=base, name=name) if _keeps_any(frame[base], name):
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


def _keeps_any(value: Value, name: str) -> bool:
    """Whether a store into an attribute raises nothing: of objects of the user's, whose classes leave it to Python."""
    kinds = {atom.site.kind if isinstance(atom, At) else None for atom in value.atoms}
    return not value.is_any and all(
        kind is not None and not is_of_library(kind) and looked_up(kind, "__setattr__") is object.__setattr__
        and kind.__dictoffset__ != 0 and not hasattr(type(looked_up(kind, name)), "__set__")
        for kind in kinds
    )  # fmt: skip


def _kinds_of_containers(value: Value) -> set[type]:
    """The classes of a value that is one of several built-in containers; none of any other."""
    kinds = {class_of(atom) if isinstance(atom, At) else None for atom in value.atoms}
    is_known = not value.is_any and all(kind in CONTAINERS for kind in kinds)
    return {kind for kind in kinds if kind is not None} if is_known else set()


# --- handlers --------------------------------------------------------------------------------------------------------
#: Exceptions of which objects hold text alone where Python or NumPy raises them.
_OF_TEXT = (ValueError, TypeError, IndexError, ArithmeticError, AssertionError, RuntimeError)


def are_of_text(analysis: Analysis, kinds: Value, heap: Heap) -> bool:
    """Whether what is caught of these classes, one or a tuple of several, is known to hold text alone."""
    is_known = not analysis.raised.is_any and all(map(_is_exception, analysis.raised.atoms))
    return is_known and not analysis.throws_data and _hold_text(kinds, heap)


def _hold_text(kinds: Value, heap: Heap) -> bool:
    """Whether what is caught holds none of the operands of what raised it: a ``KeyError`` holds the key."""
    parts = parts_of(kinds, heap)
    return all(
        not part.is_any and all(isinstance(a, Exact) and a.value in _OF_TEXT for a in part.atoms)
        for part in ((kinds,) if parts is None else parts)
    )


def _looks_into(function: Function, handler: Handler) -> bool:
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
