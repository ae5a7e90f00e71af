"""Fields that classes set by themselves: ``dataclass`` those that it is given, ``cached_property`` those read first.

Enters: a class and the arguments of a call.  Leaves: the object with its fields, on which ``__post_init__`` has run::

    s = Setting(x, parts=[])           Setting, of the fields rate=x, parts=[] and scale, its default
    s.scale                            the field of the object, which hides the default in the class
"""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from srcgrad.frontend.classes import captured_by, is_generated_init, sets_default
from srcgrad.infer.heap import Heap, Site
from srcgrad.infer.objects import Made, is_method, looked_up, set_attribute
from srcgrad.infer.values import ANY, NEVER, At, Atom, Value, exact, union

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.infer.parameters import Given
    from srcgrad.ir.regions import Statement


def always_has(heap: Heap, atom: Atom, name: str) -> bool:
    """Whether every object of an atom has a field of its own: it was set here, and unknown code, which may delete
    fields, has not seen it."""
    if isinstance(atom, At) and name in heap[atom.site].sure:
        return True
    match atom:
        case At(site=Site(kind=type() as kind, origin=tuple()) as site) if is_generated_init(kind):
            given = [field.name for field in dataclasses.fields(kind) if field.init]
            return name in given and not heap.is_seen(site)
    return False


def computed(
    analysis: Analysis, frame: Frame, statement: Statement, receiver: Value, held: Any, name: str, heap: Heap
) -> Made:
    """A field that ``functools.cached_property`` computes where an object has none yet."""
    sites = [atom.site for atom in receiver.atoms if isinstance(atom, At)]
    own = union(NEVER, *(heap[site].get(name) for site in sites))
    lacking = frozenset(atom for atom in receiver.atoms if not always_has(heap, atom, name))
    if not lacking:
        return own, heap
    if held.attrname != name or any(map(heap.is_seen, sites)):
        return ANY, analysis.unknown([receiver], heap)
    receiver = Value(lacking)
    made = analysis.call(frame, statement, exact(held.func), (receiver,), heap)
    if made is None:
        return (own, heap) if own else None
    value, after = made
    stored = set_attribute(analysis, frame, statement, receiver, name, value, after)
    if stored is None:
        return None
    return (union(own, value), heap.join(stored)) if own else (value, stored)


def made(
    analysis: Analysis, frame: Frame, statement: Statement, kind: Any, receiver: Value, given: Given, heap: Heap
) -> Made:
    """An object of a dataclass."""
    fields = dataclasses.fields(kind)
    stores = looked_up(kind, "__setattr__") is not object.__setattr__ and not kind.__dataclass_params__.frozen
    plain = {field.name for field in fields if field.init} == set(kind.__init__.__annotations__) - {"return"}
    is_open = given.more is not None and any(f.default_factory is not dataclasses.MISSING for f in fields)
    if is_open or stores or not is_generated_init(kind) or not plain:
        return receiver, analysis.unknown([receiver, *given.values()], heap)
    taken = [field.name for field in fields if field.init and not field.kw_only]
    values = dict(zip(taken, given.positional, strict=False)) | dict(given.keywords)
    for field in fields:
        if field.name in values:
            continue
        if field.default_factory is not dataclasses.MISSING:
            built = analysis.call(frame, statement, exact(field.default_factory), (), heap)
            if built is None:
                return None
            values[field.name], heap = built
        elif field.init and given.more is not None:  # of which any may be any of the others
            is_needed = field.default is dataclasses.MISSING
            values[field.name] = union(given.more, NEVER if is_needed else analysis.outside.value(field.default))
        elif field.init and field.default is dataclasses.MISSING:
            return None
        elif field.init or sets_default(kind, field):
            values[field.name] = analysis.outside.value(field.default)
    (atom,) = receiver.atoms
    assert isinstance(atom, At)
    contents = heap[atom.site]
    captured = {name: contents.get(name) for name in captured_by(kind)}
    order = tuple(field.name for field in fields if field.name in values)
    heap = analysis.store(heap, atom.site, replace(contents, fields={**captured, **values}, order=order))
    after = looked_up(kind, "__post_init__")
    if not is_method(after):
        return receiver, heap
    run = analysis.call(frame, statement, exact(after), (receiver,), heap)
    return None if run is None else (receiver, run[1])
