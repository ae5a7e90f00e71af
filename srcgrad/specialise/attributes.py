"""Reads of fields of objects of the user's classes, as operations of the normal form.

Enters: an attribute of an object, of one class or of several.  Leaves: its expression and operation::

    p.x               Field: each of the classes may keep it
    pair.first        Index: named tuples are tuples
    Model.rate        Fixed: of the class, where no object has a field of this name
"""

from __future__ import annotations

import gast

from srcgrad import runtime
from srcgrad.frontend.classes import found, intercepts, is_field
from srcgrad.frontend.held import ABSENT, is_descriptor
from srcgrad.infer.named import index_of, is_named_tuple
from srcgrad.infer.values import At
from srcgrad.ir import normal_form as nf
from srcgrad.language.members import SHAPES
from srcgrad.rules.table import CONSTANT_MEMBERS, FIELDS
from srcgrad.rules.table import attribute as attribute_function
from srcgrad.runtime.objects import is_seen_by_others
from srcgrad.specialise.context import Context
from srcgrad.specialise.operands import Made, named
from srcgrad.syntax.build import call_runtime, constant, load, placed
from srcgrad.syntax.globals import importable, reference


def read(context: Context, node: gast.Attribute, kinds: list[type], held: str | None = None) -> Made:
    """A field of an object that is of one of these classes, under a name that it may have."""
    name = node.attr
    raws = [found(kind, name) for kind in kinds]
    held = held or named(context, node.value)
    if any(map(is_named_tuple, kinds)):
        place = index_of(raws[0], kinds[0], name) if len(kinds) == 1 else None
        if place is None:
            context.refuse("E0410", node, "an attribute of a named tuple")
        at = constant(place, node)
        return placed(gast.Subscript(load(held, node), at, gast.Load()), node), nf.Index(held, at)
    for kind, raw in zip(kinds, raws, strict=True):
        if intercepts(kind) or found(kind, "__getattr__") is not ABSENT or not is_field(raw) and is_descriptor(raw):
            context.refuse("E0410", node, f"the attribute {name!r} of {kind.__name__}")
    if len(kinds) == 1 and not is_field(raws[0]) and not _has_field(context, node, name):
        owner = reference(importable(kinds[0].__name__, kinds[0]))  # its memory is no part of the object's
        return placed(gast.Attribute(owner, name, gast.Load()), node), nf.Fixed()
    expression = placed(gast.Attribute(load(held, node), name, gast.Load()), node)
    is_plain = attribute_function(name) is None and name not in SHAPES | FIELDS | CONSTANT_MEMBERS
    if not is_plain or any(map(is_seen_by_others, raws)):  # as ``field_text`` of the front end says
        expression = call_runtime(runtime.attribute, [expression.value, constant(name, node)], node)
    return expression, nf.Field(held, name, not all(map(is_field, raws)))


def _has_field(context: Context, node: gast.Attribute, name: str) -> bool:
    """Whether an object may have a field of its own, which hides what its class holds."""
    atoms = [atom for atom in context.value(node.value).atoms if isinstance(atom, At)]
    contents = [context.facts.contents.get(atom.site) for atom in atoms]
    return any(held is None or name in held.fields or held.others for held in contents) or any(
        context.facts.is_seen(atom.site) for atom in atoms
    )
