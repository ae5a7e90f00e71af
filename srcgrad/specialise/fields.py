"""Fields of objects of the user's classes: read and set, where nothing but the field takes part.

Enters: an attribute of an object, of one class or of several.  Leaves: an operation of the normal form::

    p.x               Field: each of the classes may keep it
    pair.first        Index: named tuples are tuples
    Model.rate        Fixed: of the class, where no object has a field of this name
    p.x = v           SetField
"""

from __future__ import annotations

from typing import Any, NoReturn

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.classes import ABSENT, found, intercepts, is_descriptor, is_field, is_user_class, setter
from srcgrad.infer.facts import Facts
from srcgrad.infer.heap import Site
from srcgrad.infer.named import index_of, is_named_tuple
from srcgrad.infer.values import Array, At, Bound, Value
from srcgrad.ir import normal_form as nf
from srcgrad.language.members import SHAPES
from srcgrad.rules.table import CONSTANT_MEMBERS, FIELDS
from srcgrad.rules.table import attribute as attribute_function
from srcgrad.runtime.objects import is_seen_by_others
from srcgrad.specialise.context import Context
from srcgrad.specialise.expressions import Made, named
from srcgrad.syntax.build import call_runtime, constant, load, placed
from srcgrad.syntax.globals import importable, reference


def holds_objects(facts: Facts, value: Value) -> bool:
    """Whether a value is an object of the user's, or a container that holds one."""
    pending, met = [value], set[Site]()
    while pending:
        for atom in pending.pop().atoms:
            if isinstance(atom, Bound) and atom.function is not None:
                return True
            if not isinstance(atom, At) or atom.site in met:
                continue
            met.add(atom.site)
            kind = atom.site.kind
            if kind is not None and is_user_class(kind) and not is_named_tuple(kind):
                return True
            if (contents := facts.contents.get(atom.site)) is not None:
                pending.append(contents.items)
    return False


def holds_kind(facts: Facts, value: Value, kind: type) -> bool:
    """Whether a value may be an object of a class, or hold one."""
    pending, met = [value], set[Site]()
    while pending:
        held = pending.pop()
        if held.is_any:
            return True
        sites = {atom.site for atom in held.atoms if isinstance(atom, At)} - met
        if any(site.kind is kind for site in sites):
            return True
        met |= sites
        pending += [part for site in sites if site in facts.contents for part in facts.contents[site].values()]
    return False


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


def require_settable(context: Context, node: Any, kinds: list[type], name: str) -> None:
    """Refuse a store that something else than a field takes."""
    for kind in kinds:
        raw = found(kind, name)
        is_taken = not is_field(raw) and hasattr(type(raw), "__set__")
        if is_named_tuple(kind) or setter(kind) is not None or is_taken:
            context.refuse("E0410", node, f"a store into the attribute {name!r} of {kind.__name__}")


def refuse_of_class(context: Context, target: gast.Attribute, kinds: list[type]) -> None:
    """Refuse to change what may be an array that a class holds for every object."""
    for kind in kinds:
        held = context.value(target)
        is_own = held and not any(isinstance(a, Array) and a.site.context == "outside" for a in held.atoms)
        if isinstance(found(kind, target.attr), np.ndarray) and (not is_own or held.is_any):
            raise UnsupportedSyntax(
                f"this stores into the array {target.attr!r} that class {kind.__name__} holds for every object",
                context.span, code="E0307", hint="give the object an array of its own",
            )  # fmt: skip


def refuse_store(context: Context, target: gast.Attribute) -> NoReturn:
    """Refuse a store into an attribute of what is no object of a class that is known."""
    if target.attr == "shape":
        code, message = "E0306", "the shape of an array that something else may hold is set in place"
        hint = f"write {'y' if not isinstance(target.value, gast.Name) else target.value.id} = np.reshape(...)"
    else:
        code = "E0301"
        message = f"a store into the attribute {target.attr!r} of an object whose class is not known"
        hint = "call the derivative with the object, whose class is known then, or see source_for(...)"
    raise UnsupportedSyntax(message, context.span, code=code, hint=hint)
