"""Fields of objects of the user's classes: which values have some, and into which nothing can be stored.

Enters: a value, or an attribute that is stored into.  Leaves: whether it is or holds an object, or a refusal::

    p.x = v              a field, unless a property, a slot or the class itself takes it
    pair.first = v       refused: named tuples do not change
"""

from __future__ import annotations

from typing import Any, NoReturn

import gast
import numpy as np

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.classes import found, is_field, is_user_class, setter
from srcgrad.infer.facts import Facts
from srcgrad.infer.heap import Site
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.values import Array, At, Bound, Value
from srcgrad.specialise.context import Context


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
