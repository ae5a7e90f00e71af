"""Methods as values: a pair of what names the method and the object that it was read of.

Enters: reads of methods that are not called at once.  Leaves: pairs, and what a call does with one::

    f = model.loss          f = ("loss", model)
    y = f(x)                y = f[1].loss(x)

So the object is kept as any item is, and its class decides which method a name is, as when it was read.  A class that a
method is bound to has a name of its own, and is known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from srcgrad.frontend.classes import found, is_user_class
from srcgrad.infer.facts import Facts
from srcgrad.infer.heap import Site
from srcgrad.infer.values import At, Bound, Exact, Value, are_methods, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Assign, Block, If, Loop, Statement, With, operands_of, parts_of
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.syntax.globals import importable, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


def is_method(atom: Any) -> bool:
    """Whether an atom is a method of the user's."""
    return isinstance(atom, Bound) and isinstance(atom.function, FunctionType)


def are_methods_of_users(value: Value) -> bool:
    """Whether a value is a method of the user's, whichever it is."""
    return value.consists_of(is_method)


def holds_methods(facts: Facts, value: Value, kinds: tuple[type, ...] = ()) -> bool:
    """Whether a value is a method of the user's or an object of certain classes, or may hold one."""
    pending, seen = [value], set[Site]()
    while pending:
        for atom in pending.pop().atoms:
            if is_method(atom) or isinstance(atom, At) and atom.site.kind in kinds:
                return True
            if isinstance(atom, At) and atom.site not in seen:
                seen.add(atom.site)
                contents = facts.contents.get(atom.site)
                pending += [] if contents is None else contents.values()
    return False


def is_looked_up(facts: Facts, base: Value, name: str) -> bool:
    """Whether a name is a method that the classes of these objects hold, which no field of theirs hides."""
    return bool(base.atoms) and not base.is_any and all(
        isinstance(atom, Exact) and isinstance(atom.value, type) and not is_lent(found(atom.value, name), atom.value)
        or isinstance(atom, Exact) and isinstance(atom.value, Enum) and name not in vars(atom.value)
        and isinstance(found(type(atom.value), name), FunctionType)
        or _kind(atom) is not None and isinstance(found(_kind(atom), name), FunctionType | classmethod)
        and not _may_have_field(facts, atom, name) for atom in base.atoms - {Exact(None)}
    )  # fmt: skip


def is_lent(held: object, owner: object) -> bool:
    """Whether what a class, a module or a member of an enumeration holds is a method of another object."""
    return isinstance(held, MethodType) and not isinstance(held.__self__, type) and held.__self__ is not owner


def without_attribute(facts: Facts, base: Value, name: str) -> set[Any]:
    """The objects of a value that have neither a field nor a method of a name."""
    return {atom for atom in base.atoms if (kind := _kind(atom)) is not None and not hasattr(kind, name)
            and not hasattr(kind, "__getattr__") and not _may_have_field(facts, atom, name)}  # fmt: skip


def is_field(base: Value, name: str) -> bool:
    """Whether a name is no method of the classes of these objects, so that what is read is a field."""
    return bool(base.atoms) and not base.is_any and all(
        _kind(atom) is not None and not hasattr(_kind(atom), name) for atom in base.atoms - {Exact(None)}
    )


def is_lookup(method: Value, base: Value, name: str) -> bool:
    """Whether a method is read of what has it by its class, and not of a field that holds one."""
    return are_methods(method) and not (any(map(is_method, method.atoms)) and is_field(base, name))


def _kind(atom: Any) -> Any:
    """The user's class that the objects of an atom are of."""
    kind = atom.site.kind if isinstance(atom, At) else None
    return kind if kind is not None and is_user_class(kind) else None


def _may_have_field(facts: Facts, atom: Any, name: str) -> bool:
    contents = facts.contents.get(atom.site)
    return contents is None or facts.is_seen(atom.site) or name in contents.fields or bool(contents.others)


# --- what is read ----------------------------------------------------------------------------------------------------
def label(atom: Bound) -> str:
    """What names a method in its pair."""
    static = _class_of(atom)
    return atom.name if static is None else f"{static.__module__}.{static.__qualname__}.{atom.name}"


def by_label(methods: Iterable[Any]) -> dict[str, list[Any]]:
    """Methods by what names them in their pairs."""
    found_: dict[str, list[Any]] = {}
    for atom in sorted(methods, key=str):
        found_.setdefault(label(atom), []).append(atom)
    return found_


def _class_of(atom: Bound) -> Any:
    """The class that a method is bound to."""
    values = [one.value if isinstance(one, Exact) else None for one in atom.receiver.atoms]
    return values[0] if len(values) == 1 and isinstance(values[0], type) else None


def as_pairs(made: Reduced, body: Block) -> Block:
    """A body in which pairs stand for the methods that are kept."""
    called, others = set[Operand](), set[Operand]()
    for part in parts_of(body):
        given = list(operands_of(part))
        if isinstance(part, ir.Call):
            called.add(part.function)
            given.remove(part.function)
        others.update(given)
    return _with_pairs(made, body, others)


def _with_pairs(made: Reduced, body: Block, kept: set[Operand]) -> Block:
    statements: list[Statement] = []
    for statement in body.statements:
        match statement:
            case Assign(targets=(target,), operation=ir.GetAttribute(base=base, name=name)) if (
                target in kept and any(map(is_method, made.value(target).atoms))
            ):
                statements.append(_pair(made, statement, made.value(target), base, name))
            case If(body=inner, orelse=orelse):
                sides = _with_pairs(made, inner, kept), _with_pairs(made, orelse, kept)
                statements.append(replace(statement, body=sides[0], orelse=sides[1]))
            case Loop(body=inner) | With(body=inner):
                other = replace(statement, body=_with_pairs(made, inner, kept))
                statements.append(made.renewed(statement, other))
            case _:
                statements.append(statement)
    return Block(tuple(statements), body.exit)


def _pair(made: Reduced, statement: Assign, value: Value, base: Operand, name: str) -> Assign:
    """A method that is read, as its pair; a field that holds one stays as it is."""
    owner = made.value(base)
    if is_field(owner, name):
        return statement
    atoms: list[Any] = sorted(value.atoms, key=str)
    labels = {label(atom) for atom in atoms if is_method(atom)}
    if not are_methods_of_users(value) or len(labels) != 1 or not is_looked_up(made.facts, owner, name):
        made.refuse("E0416", statement.node, "a method as a value")
    of_classes = any(_class_of(atom) is not None for atom in atoms)
    receiver: Operand = Literal(None) if of_classes else base
    return replace(statement, operation=ir.Make("tuple", (Literal(labels.pop()), receiver)))


# --- what is called --------------------------------------------------------------------------------------------------
def receiver_of(made: Reduced, call: ir.Call, node: Any) -> tuple[Operand, str, list[Statement]] | None:
    """The object of a method that is called, the name of the method, and what reads the object; None where that is not
    known."""
    value, read = made.value(call.function), made.origins.get(call.function)
    while isinstance(read, ir.Copy):
        read = made.origins.get(read.source)
    if not are_methods_of_users(value):
        return None
    atoms: list[Any] = list(value.atoms)
    if (static := _class_of(atoms[0])) is not None and len(atoms) == 1:
        return Literal(Spelled(reference(importable(static.__name__, static)), static)), atoms[0].name, []
    if any(_class_of(atom) is not None for atom in atoms):
        return None
    if isinstance(read, ir.GetAttribute):
        base = made.known.get(read.base, read.base)
        lacking = without_attribute(made.facts, made.value(base), read.name)
        rest = Value(made.value(base).atoms - lacking, made.value(base).is_any)
        if is_looked_up(made.facts, rest, read.name):
            if not lacking:
                return base, read.name, []
            held = made.version("t", rest)  # where it was looked up, the others raised
            return held, read.name, [Assign((held,), ir.Copy(base), node)]
        if not is_field(made.value(base), read.name):
            return None
    if len({label(atom) for atom in atoms}) != 1 or come_from_outside(made, value):
        return None
    held = made.version("t", union(*(atom.receiver for atom in atoms)))
    return held, atoms[0].name, [Assign((held,), ir.GetItem(call.function, Literal(1)), node)]


def come_from_outside(made: Reduced, value: Value) -> bool:
    """Whether a method may be one that was there before the program began: that is no pair."""
    outside = {atom.function for atom in made.facts.methods}
    return any(isinstance(atom, Bound) and atom.function in outside for atom in value.atoms)
