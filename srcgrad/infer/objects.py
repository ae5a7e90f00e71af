"""Python's data model on abstract values: attributes, items, iteration, operators, truth.

Enters: operands.  Leaves: what the operation gives, and the heap after it; None where it raises whatever the operands
are.  A method of the user's that is found is entered; what is not understood is unknown code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import Field, replace
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from srcgrad.frontend.classes import CAPTURED, captured_by, is_cached, is_computed, is_plain_class
from srcgrad.frontend.journal import note_read
from srcgrad.infer import sparse
from srcgrad.infer.assigned import REFLECTIVE, SHAPING
from srcgrad.infer.data import DESCRIBING, besides_data, is_attribute, is_data, is_of_methods
from srcgrad.infer.enumerations import are_members, of_enumeration, property_of_members
from srcgrad.infer.examples import Result, attribute_of_number
from srcgrad.infer.heap import Contents, Heap, Site, together
from srcgrad.infer.named import index_of, is_named_tuple
from srcgrad.infer.outside import MAPPINGS as MAPPINGS
from srcgrad.infer.outside import ORDERING, PROXY, SEQUENCES, is_of_library, runs_users
from srcgrad.infer.reasons import NOT_HANDED, reaching
from srcgrad.infer.values import (
    ANY,
    NEVER,
    SCALARS,
    Array,
    At,
    Atom,
    Bound,
    Exact,
    Of,
    Value,
    at,
    exact,
    of,
    union,
)
from srcgrad.language.effects import member
from srcgrad.language.models import CLASSES, is_of_model
from srcgrad.language.models.iterators import indexed, turned
from srcgrad.runtime.objects import defines, slot_of

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.ir.regions import Statement

Made: TypeAlias = "tuple[Value, Heap] | None"
CONTAINERS = (*SEQUENCES, *MAPPINGS, set, frozenset)
ABSENT = object()


# --- what values are -------------------------------------------------------------------------------------------------
def is_plain(analysis: Analysis, heap: Heap, *values: Value) -> bool:
    """Whether none of the user's code can run when methods of these values are called, and of what they hold."""
    if all(value.consists_of(_is_builtin) for value in values):  # as most indices and bounds do
        return True
    return are_plain(analysis, heap, *heap.reachable(values))


def _is_builtin(atom: Atom) -> bool:
    """Whether an atom is a number or text, and no object of a class that is derived from those."""
    return isinstance(atom, Of) or isinstance(atom, Exact) and type(atom.value) in SCALARS


def are_plain(analysis: Analysis, heap: Heap, sites: Set[Site], held: Sequence[Value]) -> bool:
    """The same of these sites and values, which are all that can be reached."""
    if any(value.is_any for value in held) or not heap.seen.isdisjoint(sites):
        return False
    kinds = {site.kind for site in sites if site.kind is not None}
    if any(kind is FunctionType or kind in CLASSES or not is_of_library(kind) for kind in kinds):
        return False
    if analysis.generators and any(site in analysis.generators for site in sites):
        return False
    return not any(
        isinstance(atom, Bound) and atom.function is not None
        or isinstance(atom, Exact) and not is_of_library(atom.value) and runs_users(atom.value)
        for atom in frozenset[Atom]().union(*(value.atoms for value in held))
    )  # fmt: skip


def data(frame: Frame, statement: Statement, heap: Heap, *held: Value, part: object = None) -> tuple[Value, Heap]:
    """A new object of a library, which may hold these values."""
    site = frame.facts.data or frame.site(None, statement, part)  # it may be one of the arguments
    value = at(site)
    rest = union(value, *(besides_data(frame, each, heap) for each in held))
    return value, heap.allocated(site, Contents(single=False, rest=rest, others=rest))


def container(
    frame: Frame, statement: Statement, heap: Heap, kind: type | None, contents: Contents, part: object = None
) -> tuple[Value, Heap]:
    site = frame.site(kind, statement, part)
    return at(site), heap.allocated(site, contents)


def shown(
    frame: Frame, statement: Statement, heap: Heap, results: Iterable[Result], part: object = None
) -> tuple[Value, Heap]:
    """New objects of which class, dtype and rank are known."""
    atoms: set[Atom] = set()
    for result in results:
        if result.type_string:
            site = frame.site(np.ndarray, statement, part)
            heap = heap.allocated(site, Contents())
            atoms.add(Array(site, result.type_string, result.rank))
        else:
            atoms.add(Of(result.kind))
    return Value(frozenset(atoms)), heap


def looked_up(kind: type, name: str) -> Any:
    """What a class, or the model of it, or one of its bases holds under a name; ``ABSENT`` otherwise."""
    bases = CLASSES.get(kind, kind).__mro__
    return next((slot_of(vars(base)[name], name) for base in bases if name in vars(base)), ABSENT)


def is_method(found: object) -> bool:
    """Whether something is a function that is entered."""
    return isinstance(found, FunctionType) and (not is_of_library(found) or found in ORDERING) or is_of_model(found)


def iterates_itself(analysis: Analysis, kind: Any) -> bool:
    """Whether it is known what makes iterators of the objects of a class."""
    is_known = kind in CLASSES or not is_of_library(kind) and not analysis.assigned.is_open(kind)
    return kind is not None and is_known and is_method(iterating(kind))


def iterating(kind: type) -> Any:
    """What makes iterators of objects of a class: a method, or what indexes them where there is none."""
    is_indexed = not hasattr(kind, "__iter__") and isinstance(looked_up(kind, "__getitem__"), FunctionType)
    return indexed if is_indexed else looked_up(kind, "__iter__")


def reversing(kind: type) -> Any:
    """What makes iterators that go backwards over objects of a class."""
    is_indexed = not hasattr(kind, "__reversed__") and all(
        isinstance(looked_up(kind, name), FunctionType) for name in ("__getitem__", "__len__")
    )
    return turned if is_indexed else looked_up(kind, "__reversed__")


def class_of(atom: Atom) -> type | None:
    """The class of every object of an atom, where it is one; what was raised is of any class of exceptions."""
    match atom:
        case At(site=Site(kind=kind)) if kind in (BaseException, sparse.Entries):
            return None
        case At(site=Site(kind=kind, name=name)) if kind is dict and name == PROXY:
            return MappingProxyType
        case Exact(value=value):
            return type(value)
        case Of(kind=kind) | At(site=Site(kind=kind)):
            return kind
        case Array():
            return np.ndarray
    return None


def is_only_data(atom: Atom) -> bool:
    """Whether an atom is data, of which nothing is called but its methods."""
    if isinstance(atom, Exact):
        return type(atom.value) in SCALARS
    return isinstance(atom, Array | Of) or isinstance(atom, At) and atom.site.kind in (None, slice, *CONTAINERS)


# --- truth -----------------------------------------------------------------------------------------------------------
def truth(analysis: Analysis, frame: Frame, value: Value, heap: Heap) -> tuple[set[bool], Heap] | None:
    """What ``bool(value)`` may give; methods of the user's that it runs have run."""
    decided: set[bool] = set()
    if value.is_any:
        frame.may_raise(heap)
        return {True, False}, analysis.unknown([value], heap)
    for atom in value.atoms:
        match atom:
            case Exact(value=found) if type(found) in SCALARS:
                decided.add(bool(found))
            case Bound(receiver=receiver) if any(map(is_data, receiver.atoms)):
                decided |= {True, False}  # or it is an attribute
            case Exact(value=FunctionType() | ModuleType() | BuiltinFunctionType()) | Bound():
                decided.add(True)
            case At(site=Site(kind=kind)) if kind in CONTAINERS or is_named_tuple(kind):
                contents = heap[atom.site]
                known = contents.parts if contents.parts is not None else contents.entries
                decided |= {True, False} if known is None else {bool(known)}  # all that it stands for have as many
            case At(site=Site(kind=kind)) if kind is not None and not is_of_library(kind):
                if defines(kind, "__bool__") or defines(kind, "__len__"):
                    decided |= {True, False}
                    frame.may_raise(heap)
                    heap = analysis.unknown([value], heap)
                else:
                    decided.add(True)
            case _:
                frame.may_raise(heap)
                decided |= {True, False}
                if isinstance(atom, At) and atom.site.kind in CLASSES:
                    heap = analysis.unknown([value], heap)
    return (decided, heap) if decided else None


# --- attributes ------------------------------------------------------------------------------------------------------
def of_each(base: Value, heap: Heap, one: Callable[[Atom, Heap], Made]) -> Made:
    """What one of the objects of a value gives: each from the same heap; None where all of them raise."""
    return together([one(atom, heap) for atom in base.atoms])


#: Attributes by which a class gets other instances, or a function other defaults, without a store.
_HANDED_OUT = ("register", "__kwdefaults__")


def get_attribute(analysis: Analysis, frame: Frame, statement: Statement, base: Value, name: str, heap: Heap) -> Made:
    frame.may_raise(heap)
    if name in REFLECTIVE:
        analysis.assigned.give_up(reaching(name))
    if name.startswith(CAPTURED) and not base.consists_of(lambda atom: name in captured_by(class_of(atom))):
        analysis.assigned.give_up(NOT_HANDED)  # a method of a local class is given something else
    if name in _HANDED_OUT and not base.consists_of(lambda atom: _is_method_of_users(atom, name)):
        analysis.assigned.note_anywhere(name)
    if base.is_any:
        if name == "__dict__":
            analysis.assigned.give_up(reaching(name))
        return ANY, analysis.unknown([base], heap)
    if sparse.may_be_matrix(base):
        return sparse.attribute(analysis, frame, statement, base, name, heap)
    _require_shown(analysis, frame, base, name, heap, is_store=False)
    kinds = {class_of(atom) for atom in base.atoms}
    if len(base.atoms) > 1 == len(kinds) and are_members(base) and (read := property_of_members(analysis, base, name)):
        return analysis.call(frame, statement, exact(read), (base,), heap)
    if len(base.atoms) > 1 == len(kinds) and all(isinstance(atom, At) for atom in base.atoms) and (
        (kind := kinds.pop()) is not None and not is_of_library(kind) and is_computed(looked_up(kind, name))
    ):  # a method that is run once for all of its objects
        site = min((atom.site for atom in base.atoms if isinstance(atom, At)), key=str)
        return _of_instance(analysis, frame, statement, base, site, name, heap)
    return of_each(base, heap, lambda atom, heap: _attribute(analysis, frame, statement, atom, name, heap))


def stands_for(kind: Any) -> type | None:
    """The class whose objects those of a model stand for, of which they are in the program; None of any other class."""
    found = vars(kind).get("__srcgrad_stands_for__") if isinstance(kind, type) else None
    return found if isinstance(found, type) else None


def _require_shown(analysis: Analysis, frame: Frame, base: Value, name: str, heap: Heap, *, is_store: bool) -> None:
    """Give up where a program of the user's would see that an object is one of a model: it is of another class there,
    with other attributes."""
    if str(frame.namespace.get("__name__")).startswith("srcgrad.") or "__srcgrad_line_map__" in frame.namespace:
        return
    for atom in base.atoms:
        kind: Any = class_of(atom)
        if not isinstance(atom, At) or (shown := stands_for(kind)) is None:
            continue
        is_shared = isinstance(vars(kind).get(name), FunctionType | property) and hasattr(shown, name)
        is_lacking = not (hasattr(kind, name) or hasattr(shown, name) or name in heap[atom.site].fields)
        if is_store or not is_shared and (name.startswith("__") or not is_lacking):
            analysis.assigned.give_up(reaching(name))


def _is_method_of_users(atom: Atom, name: str) -> bool:
    """Whether an attribute is one that the user's class of an object defines as a method."""
    kind = atom.site.kind if isinstance(atom, At) else None
    return kind is not None and not is_of_library(kind) and is_method(looked_up(kind, name))


def _attribute(analysis: Analysis, frame: Frame, statement: Statement, atom: Atom, name: str, heap: Heap) -> Made:
    receiver = Value(frozenset((atom,)))
    match atom:
        case Array() | Of() | At(site=Site(kind=None)) if name == "detach":  # of a tensor in its place
            return Value(frozenset((Bound(receiver, name),))), heap
        case Exact(value=found) if type(found) not in SCALARS:
            return _of_object(analysis, frame, statement, receiver, found, name, heap)
        case Exact() | Of():
            kind = atom.kind if isinstance(atom, Of) else type(atom.value)
            number = attribute_of_number(kind, name)
            if isinstance(number, tuple):
                return container(frame, statement, heap, tuple, Contents(parts=()))
            if number is not None:
                return number, heap
            return _of_builtin(frame, statement, receiver, kind, name, heap)
        case Array():
            from srcgrad.infer.views import attribute  # what they give are objects in turn

            made = attribute(frame, statement, atom, name, heap)
            return made or _of_builtin(frame, statement, receiver, np.ndarray, name, heap)
        case Bound(receiver=receiver, function=None) if all(map(is_data, receiver.atoms)) and not is_of_methods(name):
            return None  # or it is no method, but an attribute
        case At(site=Site(kind=kind)) if kind is BaseException:
            return ANY, analysis.unknown([receiver], heap)
        case At(site=Site(kind=None)) if name in DESCRIBING or name == "flat":
            from srcgrad.infer.views import described, elements_of

            return (elements_of if name == "flat" else described)(frame, statement, atom, name, heap)
        case At(site=Site(kind=None)):
            held = heap[atom.site].get(name)
            return (held if is_attribute(name) else union(Value(frozenset((Bound(receiver, name),))), held)), heap
        case At(site=Site(kind=kind)) if kind is super:
            return _of_super(analysis, frame, statement, receiver, heap[atom.site], name, heap)
        case At(site=Site(kind=kind)) if kind in CLASSES:
            return _of_modelled(analysis, frame, statement, receiver, atom.site, name, heap)
        case At(site=Site(kind=kind)) if is_of_library(kind) and kind is not FunctionType and not is_named_tuple(kind):
            if kind is defaultdict and name == "default_factory" and not _is_unread(frame, atom.site):
                return heap[atom.site].get(name), heap
            return _of_builtin(frame, statement, receiver, kind, name, heap)
        case At(site=Site(kind=kind)) if kind is not FunctionType:
            return _of_instance(analysis, frame, statement, receiver, atom.site, name, heap)
    return ANY, analysis.unknown([receiver], heap)


def _is_unread(frame: Frame, site: Site) -> bool:
    """Whether a factory is that of an argument, which only the model of the dict knows: it is another one then."""
    is_argument = isinstance(site.origin, tuple) and site.origin[0] == "argument"
    return is_argument and not str(frame.namespace.get("__name__", "")).startswith("srcgrad.")


def _of_object(
    analysis: Analysis, frame: Frame, statement: Statement, receiver: Value, found: Any, name: str, heap: Heap
) -> Made:
    """An attribute of a module, class, function or another object that is known itself."""
    if analysis.assigned.may_be(found, name):
        return ANY, analysis.unknown([receiver], heap)
    if isinstance(found, ModuleType):
        if name == "__dict__":
            analysis.assigned.give_up(reaching(name))
        if not is_of_library(found):
            note_read(vars(found), name)
        is_there = hasattr(found, name)  # which loads what a module loads when it is first read
        if not is_there:
            return None
        held = vars(found).get(name, ABSENT)
        if held is ABSENT and is_of_library(found) and getattr(found, name) is getattr(found, name):
            held = getattr(found, name)  # a module that only passes on what another holds: numpy.char of NumPy 2.5
        if held is ABSENT:
            return ANY, analysis.unknown([receiver], heap)
        if isinstance(held, float | str) and found.__name__.partition(".")[0] in ("numpy", "math", "scipy"):  # np.inf
            return exact(held), heap
        return analysis.outside.value(held), heap
    if is_plain_class(found):
        if name in ("__name__", "__qualname__"):
            return of(str), heap
        held = looked_up(found, name)
        held = held.__func__ if isinstance(held, staticmethod) else held
        if isinstance(held, classmethod) and is_method(held.__func__):
            return Value(frozenset((Bound(receiver, name, held.__func__),))), heap
        if isinstance(held, FunctionType) or held is not ABSENT and not hasattr(type(held), "__get__"):
            return analysis.outside.value(held), heap
    made = of_enumeration(analysis, frame, statement, receiver, found, name, heap)
    if made is not NotImplemented:
        return made
    if isinstance(found, Field) and name in ("name", "init", "repr", "compare", "kw_only"):
        return exact(getattr(found, name)), heap  # as the class says, which is looked at again
    if is_of_library(found) and not isinstance(found, FunctionType):
        try:
            return analysis.outside.value(getattr(found, name)), heap
        except AttributeError:
            return None
    return ANY, analysis.unknown([receiver], heap)


def _of_builtin(frame: Frame, statement: Statement, receiver: Value, kind: Any, name: str, heap: Heap) -> Made:
    """An attribute of an object of a built-in or library class: a method, or data."""
    held = looked_up(kind, name)
    if held is ABSENT and hasattr(kind, "__dict__") and kind in (*SCALARS, *CONTAINERS, np.ndarray):
        return None
    method = Value(frozenset((Bound(receiver, name),)))
    if callable(held) and not isinstance(held, type):
        return method, heap
    value, heap = data(frame, statement, heap, receiver if member(kind, name).returns != "fresh" else NEVER)
    if isinstance(held, GetSetDescriptorType | MemberDescriptorType | property) and kind is np.ndarray:
        (atom,) = receiver.atoms
        assert isinstance(atom, Array | At)
        seen = Value(frozenset((Array(atom.site),)))
        return (value if member(kind, name).returns == "fresh" else union(value, seen)), heap
    return union(value, method), heap


def _of_instance(
    analysis: Analysis, frame: Frame, statement: Statement, receiver: Value, site: Site, name: str, heap: Heap
) -> Made:
    """An attribute of an object of a class of the user's: data descriptors, then fields, then what the class holds."""
    kind: Any = site.kind
    usual = tuple.__getattribute__ if is_named_tuple(kind) else object.__getattribute__
    is_intercepted = defines(kind, "__getattr__") or looked_up(kind, "__getattribute__") is not usual
    if is_intercepted or analysis.assigned.may_be(kind, name):
        return ANY, analysis.unknown([receiver], heap)
    held = looked_up(kind, name)
    if name == "__class__" and held is vars(object)["__class__"]:
        analysis.local_classes.ask([kind])
        return exact(kind), heap
    if (place := index_of(held, kind, name)) is not None:
        parts = heap[site].parts
        return (heap[site].items if parts is None else parts[place]), heap
    if is_named_tuple(kind) and name in ("_replace", "_asdict"):
        return Value(frozenset((Bound(receiver, name),))), heap
    if isinstance(held, property) and is_method(held.fget):
        return analysis.call(frame, statement, exact(held.fget), (receiver,), heap)
    if held is not ABSENT and hasattr(type(held), "__set__") and not isinstance(held, MemberDescriptorType):
        return ANY, analysis.unknown([receiver], heap)
    own = heap[site].get(name)
    from srcgrad.infer.dataclassed import always_has, computed  # which look classes up in turn
    if is_cached(held):
        return computed(analysis, frame, statement, receiver, held, name, heap)
    if held is ABSENT or always_has(heap, At(site), name) or isinstance(held, MemberDescriptorType):
        return (own, heap) if own else None
    if isinstance(held, classmethod) and is_method(held.__func__):
        return union(own, Value(frozenset((Bound(exact(kind), name, held.__func__),)))), heap
    if isinstance(held, staticmethod):
        return union(own, analysis.outside.value(held.__func__)), heap
    if is_method(held):
        return union(own, Value(frozenset((Bound(receiver, name, held),)))), heap
    if hasattr(type(held), "__get__"):
        return ANY, analysis.unknown([receiver], heap)
    return union(own, analysis.outside.value(held)), heap


def _of_modelled(
    analysis: Analysis, frame: Frame, statement: Statement, receiver: Value, site: Site, name: str, heap: Heap
) -> Made:
    """An attribute of an object of a library class that has a model."""
    kind: Any = site.kind
    held, own = looked_up(kind, name), heap[site].get(name)
    if isinstance(held, property):
        return analysis.call(frame, statement, exact(held.fget), (receiver,), heap)
    if is_method(held):
        return union(own, Value(frozenset((Bound(receiver, name),)))), heap
    from srcgrad.infer.dataclassed import always_has  # which looks classes up in turn
    if own and (held is ABSENT or always_has(heap, At(site), name)):
        return own, heap
    return ANY, analysis.unknown([receiver], heap)


def _of_super(
    analysis: Analysis, frame: Frame, statement: Statement, receiver: Value, contents: Contents, name: str, heap: Heap
) -> Made:
    """``super().name``: a method or property of the classes behind one, in the order of the object's."""
    found: list[Value] = []
    for owner in contents.get("class").atoms:
        for atom in contents.get("self").atoms:
            kind: Any = atom.site.kind if isinstance(atom, At) else getattr(atom, "value", None)
            known = isinstance(owner, Exact) and isinstance(kind, type) and owner.value in kind.__mro__
            if not known or is_of_library(kind) or analysis.assigned.is_open(kind):
                return ANY, analysis.unknown([receiver], heap)
            behind = kind.__mro__[kind.__mro__.index(owner.value) + 1 :]  # type: ignore[union-attr]
            held = next((vars(base)[name] for base in behind if name in vars(base)), ABSENT)
            function = held.__func__ if isinstance(held, classmethod) and isinstance(atom, Exact) else held
            of_object = isinstance(atom, At) and isinstance(held, FunctionType | WrapperDescriptorType)
            if not (is_method(function) or isinstance(held, WrapperDescriptorType)) or not (
                of_object or isinstance(held, classmethod)
            ):
                return ANY, analysis.unknown([receiver], heap)
            method = function if isinstance(function, FunctionType) else None
            found.append(Value(frozenset((Bound(Value(frozenset((atom,))), name, method),))))
    if not found:
        return ANY, analysis.unknown([receiver], heap)
    return union(*found), heap


def set_attribute(
    analysis: Analysis, frame: Frame, statement: Statement, base: Value, name: str, value: Value, heap: Heap
) -> Heap | None:
    frame.may_raise(heap)
    analysis.note_store([base])
    if name not in SHAPING or base.is_any or any(isinstance(a, Array) or is_data(a) for a in base.atoms):
        analysis.assigned.note_shape(name)
    if base.is_any:
        analysis.assigned.note_anywhere(name)
        return analysis.unknown([base, value], heap)
    _require_shown(analysis, frame, base, name, heap, is_store=True)
    made = of_each(base, heap, lambda atom, heap: _stored(analysis, frame, statement, atom, name, value, heap))
    return None if made is None else made[1]


def _stored(
    analysis: Analysis, frame: Frame, statement: Statement, atom: Atom, name: str, value: Value, heap: Heap
) -> Made:
    """A store into an attribute of one object."""
    done, receiver = exact(None), Value(frozenset((atom,)))
    match atom:
        case Exact(value=found) if type(found) not in SCALARS:
            analysis.assigned.note(found, name)
            return done, analysis.unknown([value], heap)
        case At(site=Site(kind=None) as site):
            others = union(heap[site].others, value)
            return done, analysis.store(heap, site, replace(heap[site], others=others))
        case At(site=Site(kind=kind) as site) if kind is defaultdict and name == "default_factory":
            fields = {**heap[site].fields, name: value}
            return done, analysis.store(heap, site, replace(heap[site], fields=fields))
        case At(site=Site(kind=kind)) if kind is FunctionType or is_of_library(kind) and kind not in CLASSES:
            return done, analysis.unknown([receiver, value], heap)
        case At(site=Site(kind=type() as kind) as site):
            held = looked_up(kind, name)
            if isinstance(held, property) and is_method(held.fset):
                return analysis.call(frame, statement, exact(held.fset), (receiver, value), heap)
            own = looked_up(kind, "__setattr__") in (object.__setattr__, BaseException.__setattr__)
            if not own or hasattr(type(held), "__set__") and not isinstance(held, MemberDescriptorType):
                return done, analysis.unknown([receiver, value], heap)
            contents = heap[site]
            fields, sure, order = {**contents.fields, name: value}, contents.sure | {name}, contents.order
            order = order if order is None or name in order else (*order, name)
            return done, analysis.store(heap, site, replace(contents, fields=fields, sure=sure, order=order))
    return done, heap
