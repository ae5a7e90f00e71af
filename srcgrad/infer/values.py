"""Abstract values: sets of atoms, each of which stands for some of the objects that a version may hold.

Enters: nothing.  Leaves: ``Value``, with union and widening.  An atom says what an object is: *this* object, a number
of a class, an array of a rank and dtype, or whatever a site of the heap stands for (``infer.heap``).  ``ANY`` is every
object: of any class, perhaps one that unknown code has seen, and whose methods may run such code.

>>> sorted(map(str, union(exact(1), exact("a")).atoms))
["'a'", '1']
>>> widened(union(exact(1), exact(2))), exact(1) <= widened(exact(1)), ANY <= exact(1)
(int, True, False)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from srcgrad.infer.heap import Site
    from srcgrad.infer.reasons import Reason

#: Classes of functions, which have no items.
FUNCTIONS = (FunctionType, BuiltinFunctionType, np.ufunc, type(np.sum))
#: Classes of which objects hold nothing but their value, so that two that are equal cannot be told apart by a program
#: (but by ``is``, which Python leaves open).
SCALARS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented))
#: How many objects of one class a value lists.
LISTED = 4


@dataclass(eq=False)
class Exact:
    """One object: a constant, a function, a class, a module.  Nothing changes it."""

    value: object

    def __post_init__(self) -> None:
        kind = type(self.value)
        self._key: object = id(self.value)
        if kind in (float, complex):
            self._key = kind, repr(self.value)  # of zeros and what is no number, which do not compare as they differ
        elif kind in SCALARS:
            self._key = kind, self.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exact) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        return repr(self.value) if type(self.value) in SCALARS else str(getattr(self.value, "__name__", self.value))


@dataclass(frozen=True)
class Of:
    """An object of exactly one class of ``SCALARS``, or a number of NumPy's, of any value."""

    kind: type

    def __str__(self) -> str:
        return self.kind.__name__


@dataclass(frozen=True)
class Array:
    """An array whose memory is that of a site, seen with a dtype and rank, where those are known."""

    site: Site
    type_string: str = ""  # ``dtype.str``, since ``dtype == None`` holds of float64; empty: not known
    rank: int | None = None

    @property
    def dtype(self) -> np.dtype[Any] | None:
        return np.dtype(self.type_string) if self.type_string else None

    @property
    def number(self) -> Value | None:
        """One of its elements, where those are numbers."""
        return of(self.dtype.type) if self.dtype is not None and self.dtype.kind in "biufc" else None

    def __str__(self) -> str:
        return f"{self.dtype or 'array'}[{'?' if self.rank is None else self.rank}]@{self.site}"


@dataclass(frozen=True)
class At:
    """An object that a site stands for."""

    site: Site

    def __str__(self) -> str:
        return str(self.site)


@dataclass(frozen=True)
class Bound:
    """A method of an object, not called yet: ``function`` is the user's, or None for one of a built-in class."""

    receiver: Value
    name: str
    function: object = None

    def __str__(self) -> str:
        return f"{self.receiver}.{self.name}"


Atom: TypeAlias = Exact | Of | Array | At | Bound


@dataclass(frozen=True)
class Value:
    """The union of its atoms; ``is_any``: and of every object that unknown code may have seen or made."""

    atoms: frozenset[Atom]
    is_any: bool = False
    why: Reason | None = field(default=None, compare=False)  # it is not known what it is

    def __le__(self, other: Value) -> bool:
        """Whether everything that this stands for is in the other one."""
        if self.is_any and not other.is_any:
            return False
        return all(_within(a, other.atoms) or other.is_any and isinstance(a, Exact | Of) for a in self.atoms)

    def consists_of(self, is_one: Callable[[Atom], bool]) -> bool:
        """Whether it stands for something, and each of its atoms is one of these."""
        return not self.is_any and bool(self.atoms) and all(map(is_one, self.atoms))

    def __bool__(self) -> bool:
        """Whether it stands for anything."""
        return self.is_any or bool(self.atoms)

    def __str__(self) -> str:
        return " | ".join([*["any"] * self.is_any, *sorted(map(str, self.atoms))]) or "never"

    __repr__ = __str__


ANY = Value(frozenset(), is_any=True)
NEVER = Value(frozenset())


def unknown(why: Reason | None) -> Value:
    """Any object, for a reason."""
    return Value(frozenset(), is_any=True, why=why)


def is_unchanging(atom: Atom) -> bool:
    """Whether an atom is a number, a text or a dtype, or a class of numbers in its place."""
    if not isinstance(atom, Exact):
        return isinstance(atom, Of)
    is_class = isinstance(atom.value, type) and (atom.value in SCALARS or issubclass(atom.value, np.generic))
    return is_class or isinstance(atom.value, (*SCALARS, np.generic, np.dtype))


def exact(value: object) -> Value:
    return Value(frozenset((Exact(value),)))


def of(*kinds: type) -> Value:
    return Value(frozenset(map(Of, kinds)))


def at(*sites: Site) -> Value:
    return Value(frozenset(map(At, sites)))


def are_numbers(*values: Value) -> bool:
    """Whether values are numbers, or arrays of numbers."""
    return all(value.consists_of(_is_number) for value in values)


def are_arrays(value: Value, *, of_numbers: bool = False, data: bool = False) -> bool:
    """Whether a value is an array, or one of numbers, or data (which is an array in its place, or raises), whatever it
    is."""
    return value.consists_of(
        lambda atom: isinstance(atom, Array) and not (of_numbers and atom.number is None)
        or data and isinstance(atom, At) and atom.site.kind is None
    )  # fmt: skip


def are_methods(value: Value) -> bool:
    """Whether a value is a method of something, whatever it is."""
    return value.consists_of(lambda atom: isinstance(atom, Bound))


def are_of(value: Value, *kinds: type | None) -> bool:
    """Whether a value is a container or an object of one of these classes, whatever it is."""
    return value.consists_of(lambda atom: isinstance(atom, At) and atom.site.kind in kinds)


def _is_number(atom: Atom) -> bool:
    match atom:
        case Array():
            return atom.number is not None
        case Of(kind=kind):
            return issubclass(kind, bool | int | float | complex | np.number | np.bool_)
        case Exact(value=value):
            return type(value) in (bool, int, float, complex)
    return False


def union(*values: Value) -> Value:
    """What is one of several; many constants of one class become the class."""
    widest = values[0] if values else NEVER
    for value in values:
        if len(value.atoms) > len(widest.atoms):
            widest = value
    for value in values:
        if value is not widest and (value.is_any or not value.atoms <= widest.atoms):
            break
    else:
        return widest  # as in most joins of a loop that is run again
    is_any = any(value.is_any for value in values)
    atoms: frozenset[Atom] = frozenset().union(*(value.atoms for value in values))
    if is_any:
        atoms = frozenset(atom for atom in atoms if not isinstance(atom, Exact | Of))
    counts: dict[type, int] = {}
    for atom in atoms:
        if isinstance(atom, Exact) and type(atom.value) in SCALARS:
            counts[type(atom.value)] = counts.get(type(atom.value), 0) + 1
    many = {kind for kind, count in counts.items() if count > LISTED}
    why = next((value.why for value in values if value.why is not None), None) if is_any else None
    return Value(_without_constants(atoms, many) if many else _reduced(atoms), is_any, why)


def widened(value: Value) -> Value:
    """A value without constants that count, so that loops come to an end."""
    return Value(_without_constants(value.atoms, {int, float, complex, str, bytes}), value.is_any, value.why)


def _without_constants(atoms: frozenset[Atom], kinds: set[type]) -> frozenset[Atom]:
    """Constants of these classes as their class; the truth values and None stay, which there are few of."""
    return _reduced(frozenset(Of(type(a.value)) if isinstance(a, Exact) and type(a.value) in kinds else a
                              for a in atoms))  # fmt: skip


def _reduced(atoms: frozenset[Atom]) -> frozenset[Atom]:
    """Without what another atom of it stands for too."""
    sites, methods = dict[object, list[Atom]](), dict[object, list[Bound]]()
    for atom in atoms:  # only atoms of one site, or of one method, can stand for each other: values may have many
        if isinstance(atom, Array | At):
            sites.setdefault(atom.site, []).append(atom)
        elif isinstance(atom, Bound):
            methods.setdefault((atom.name, atom.function), []).append(atom)
    left: set[Atom] = {a for a in atoms if isinstance(a, Exact) and Of(type(a.value)) in atoms}
    for alike in sites.values():
        if len(alike) > 1:
            left.update(a for a in alike if isinstance(a, Array) and any(_is_seen_by(a, b) for b in alike if b != a))
    for bound in methods.values():
        if len(bound) > 1:
            left.update(a for a in bound if any(a.receiver <= b.receiver for b in bound if b != a))
    return atoms - left if left else atoms


def _is_seen_by(array: Array, other: Atom) -> bool:
    """Whether another atom of one site stands for an array too."""
    if not isinstance(other, Array):
        return True
    return other.type_string in ("", array.type_string) and other.rank in (None, array.rank)


def _within(atom: Atom, atoms: frozenset[Atom]) -> bool:
    if atom in atoms:
        return True
    match atom:
        case Exact(value=value):
            return Of(type(value)) in atoms
        case Array(site=site):
            return any(isinstance(o, Array | At) and o.site == site and _is_seen_by(atom, o) for o in atoms)
        case Bound(receiver=receiver, name=name, function=function):
            return any(
                isinstance(other, Bound) and other.name == name and other.function == function
                and receiver <= other.receiver for other in atoms
            )  # fmt: skip
    return False
