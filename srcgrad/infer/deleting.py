"""``del base.name``: what it runs, and that an object does not have the field any more.

Enters: an object and a name.  Leaves: the heap behind it; None where it raises whatever the object is::

    del p.cached               p has no field of this name; what its class holds by it is seen again
    del p.value                of a property: its deleter has run
"""

from __future__ import annotations

from dataclasses import replace
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

from srcgrad.frontend.classes import is_generated_init
from srcgrad.infer.heap import Heap
from srcgrad.infer.objects import ABSENT, Made, class_of, is_method, looked_up, of_each
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.values import At, Atom, Value, exact

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.ir.regions import Statement


def delete_attribute(
    analysis: Analysis, frame: Frame, statement: Statement, base: Value, name: str, heap: Heap
) -> Made:
    frame.may_raise(heap)
    analysis.note_store([base])
    if base.is_any:
        return exact(None), analysis.unknown([base], heap)
    return of_each(base, heap, lambda atom, heap: _deleted(analysis, frame, statement, atom, name, heap))


def _deleted(analysis: Analysis, frame: Frame, statement: Statement, atom: Atom, name: str, heap: Heap) -> Made:
    receiver, kind = Value(frozenset((atom,))), class_of(atom)
    if not isinstance(atom, At) or kind is None or is_of_library(kind) or analysis.assigned.is_open(kind):
        return exact(None), analysis.unknown([receiver], heap)
    method: Any = looked_up(kind, "__delattr__")
    if is_method(method):
        return analysis.call(frame, statement, exact(method), (receiver, exact(name)), heap)
    held: Any = looked_up(kind, name)
    if isinstance(held, property):
        if held.fdel is None:
            return None
        if is_method(held.fdel):
            return analysis.call(frame, statement, exact(held.fdel), (receiver,), heap)
    is_plain = method is object.__delattr__ and (held is ABSENT or not hasattr(type(held), "__delete__"))
    hides = held is not ABSENT and is_generated_init(kind)  # whose objects are taken to have the field
    if not is_plain or isinstance(held, MemberDescriptorType) or hides or heap.is_seen(atom.site):
        return exact(None), analysis.unknown([receiver], heap)
    contents = heap[atom.site]
    fields = {each: value for each, value in contents.fields.items() if each != name or not contents.single}
    if not contents.get(name):
        return None
    order = None if contents.order is None else tuple(other for other in contents.order if other != name)
    changed = replace(contents, fields=fields, sure=contents.sure - {name}, order=order)
    return exact(None), analysis.store(heap, atom.site, changed)
