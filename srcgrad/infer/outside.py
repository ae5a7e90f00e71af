"""Abstraction of what is there before the program runs: arguments, globals, captured cells, attributes of modules.

Enters: an object.  Leaves: its ``Value``, and what the sites of it hold.  An array is a site for its memory, so that
views of one base share it; containers and objects of the user's are looked into, to a depth; the rest is data.

>>> outside, x = Outside(Assigned(), print), np.zeros((2, 3))
>>> outside.value(2.0), outside.value(x), outside.value([x[0]])
(2.0, float64[2]@ndarray, list)
>>> next(iter(outside.value([x[0]]).atoms)).site in outside.contents
True
"""

from __future__ import annotations

import functools
import gc
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import cache
from inspect import Parameter, Signature
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
    NoneType,
    SimpleNamespace,
)
from typing import Any

import numpy as np

from srcgrad.frontend.journal import note_class
from srcgrad.infer.assigned import Assigned
from srcgrad.infer.examples import is_named
from srcgrad.infer.heap import Contents, Site
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.reasons import TOO_MANY, Reason, hidden, of_class
from srcgrad.infer.values import ANY, SCALARS, Array, At, Atom, Bound, Exact, Of, Value, at, exact, union, unknown
from srcgrad.language.effects import is_compiled_ufunc, of_function
from srcgrad.language.members import WRITERS
from srcgrad.language.models.array_modules import canonical
from srcgrad.rules.table import is_constant, lookup, refusal
from srcgrad.runtime.binding import cached_function
from srcgrad.runtime.exact import is_sparse
from srcgrad.runtime.objects import LIBRARIES, fields_of, is_object, package_of

#: Containers whose items are looked at one by one.
SEQUENCES = (list, tuple, deque)
PROXY = "mappingproxy"
MAPPINGS = (dict, defaultdict, OrderedDict, Counter)
#: Classes of what a program computes with, of which another call may be given another object.
_DATA = (*SCALARS, np.generic, np.ndarray, list, tuple, dict, set, frozenset, deque)
_LONGEST, _DEEPEST = 50, 6  # of what is looked into
_MOST = 20_000  # parts of one object, and objects that are looked into
_HOLDS = 1 << 14  # the flag of classes whose objects tell the garbage collector what they hold
_REMEMBERING: Any = type(functools.cache(len))
COMPILED_BY_CYTHON: Any = type(np.random.default_rng)  # of functions that are compiled by Cython
_OF_LEAVES = frozenset("builtins decimal datetime re array _struct _thread mmap random _random".split())


#: What joins the items that it is indexed by.
JOINING = (np.r_, np.c_)
#: Objects of NumPy that make arrays of the bounds that they are indexed by.
GRIDS = (np.mgrid, np.ogrid)
INDEXED = (*JOINING, *GRIDS)


def is_of_library(value: object) -> bool:
    """Whether Python or a library defines a function, class or module, or the class of an object."""
    if isinstance(value, ModuleType):
        home: Any = value.__name__
    elif isinstance(value, FunctionType | BuiltinFunctionType) or isinstance(value, COMPILED_BY_CYTHON):
        home = value.__module__
        if isinstance(value, FunctionType) and home is None:  # ``exec`` has made it
            return False
    else:
        home = package_of(value if isinstance(value, type) else type(value))
    return isinstance(home, str) and home.partition(".")[0] in LIBRARIES or home is None


#: The methods that ``functools.total_ordering`` adds to a class: their texts call the one that the class has.
ORDERING = frozenset(function for added in vars(functools)["_convert"].values() for _, function in added)


def is_of_users(atom: Atom) -> bool:
    """Whether an atom is a class of the user's, or an object of one."""
    kind = atom.site.kind if isinstance(atom, At) else getattr(atom, "value", None)
    return isinstance(kind, type) and not is_of_library(kind)


def runs_users(value: object) -> bool:
    """Whether a function, a class, or an object that is known itself may run code of the user's: a member of an
    enumeration whose class defines operators."""
    if isinstance(value, FunctionType | type):
        return True
    users = [base for base in type(value).__mro__ if not is_of_library(base)]
    return any(name.startswith("__") and name not in _MAKING and isinstance(held, FunctionType) for base in users
               for name, held in vars(base).items() if not is_of_library(held))  # fmt: skip


_MAKING = ("__init__", "__new__", "__init_subclass__")


def is_remembering(value: object) -> bool:
    """Whether an object is a function of the user's, or of a library, under ``functools.cache`` or ``lru_cache``."""
    return isinstance(value, _REMEMBERING) and isinstance(cached_function(value), FunctionType)


def is_known_by_kind(value: object) -> bool:
    """Whether a program that is compiled for kinds of arguments depends on no more than the kind of an object."""
    is_own = type(value) is SimpleNamespace or not is_of_library(value)
    return isinstance(value, _DATA) or is_object(value) and is_own


def runs_no_code(value: object) -> bool:
    """Whether an object, and what it holds, is data: nothing of the user's runs when its methods are called."""
    parts = parts_of(value)
    return parts is not None and not any(map(_is_users, parts))


def _is_users(part: object) -> bool:
    return not is_of_library(part)


def parts_of(value: object) -> list[object] | None:
    """An object and all that it holds; None where that is too much, or cannot be found out.

    What is in a function of the user's, in a class or in a module is not listed.
    """
    pending, found = [value], dict[int, object]()
    while pending:
        part = pending.pop()
        kind: Any = type(part)
        if id(part) in found or kind is CodeType:
            continue
        found[id(part)] = part
        if len(found) > _MOST:
            return None
        if isinstance(part, np.ndarray):
            pending += [] if part.base is None else [part.base]
            pending += part.ravel().tolist() if part.dtype.hasobject else []
        elif isinstance(part, np.flatiter):
            pending.append(part.base)
        elif isinstance(part, FunctionType):
            if is_of_library(part):
                pending += [*(part.__closure__ or ()), *(part.__defaults__ or ())]
        elif kind.__flags__ & _HOLDS and not isinstance(part, ModuleType | type):
            pending += [held for held in gc.get_referents(part) if held is not kind]
        elif not (isinstance(part, ModuleType | type | np.generic | np.dtype) or _is_leaf(part)):
            return None
    return list(found.values())


def _is_leaf(part: object) -> bool:
    """Whether an object that does not tell what it holds holds nothing but numbers and text."""
    return isinstance(part, type(np.sum)) or is_compiled_ufunc(part) or type(part).__module__ in _OF_LEAVES


def parts_of_model(found: object) -> dict[str, Any] | None:
    """The fields that an object of a library class has in its model; None of a class whose objects are not known."""
    if type(found) in (SimpleNamespace, ChainMap):
        return dict(vars(found))
    if type(found) is functools.partial and not found.__reduce__()[2][3]:  # the attributes that it was given
        return {"func": found.func, "args": found.args, "keywords": found.keywords}
    return None


def _tells(found: Mapping[Any, Any]) -> bool:
    """Whether a mapping is that of the parameters that a signature tells."""
    return bool(found) and all(type(held) is Parameter for held in found.values())


def is_distribution(found: Any) -> bool:
    """Whether an object is a distribution of SciPy's of which methods have rules, or none: ``scipy.stats.norm``."""
    if package_of(type(found)) != "scipy":
        return False
    methods = [getattr(found, name, None) for name in ("logpdf", "logpmf")]
    return any(lookup(method) is not None or refusal(method) is not None for method in methods)


def _is_listed(found: Any) -> bool:
    """Whether the tables of rules or of effects say what a function that is no function of Python does."""
    return lookup(found) is not None or is_constant(found) or of_function(found).is_known


@cache
def _same_method(found: MethodType | BuiltinFunctionType) -> MethodType | BuiltinFunctionType:
    """One object for all that are equal: Python makes one whenever a method is looked up."""
    return found


class Outside:
    """The sites of objects from outside, and what they hold.

    Objects that are not looked into, and hold the user's, are unknown code: ``reach`` gets what they hold.
    """

    def __init__(self, assigned: Assigned, reach: Callable[[list[Any]], None]) -> None:
        self.contents: dict[Site, Contents] = {}
        self.objects: dict[Site, object] = {}  # so that no other object gets the identity of one of them
        self._values: dict[int, Value] = {}
        self._alive: list[object] = []
        self.methods: set[Bound] = set()
        self._assigned, self._reach = assigned, reach
        self.by_kind: Callable[[Any], Value] | None = None  # where values are known by their kinds alone
        self.data: Site | None = None  # what stands for numbers and arrays where nothing is said of them

    def value(self, found: Any, depth: int = 0) -> Value:
        """The abstraction of an object, which is the same each time."""
        if self.by_kind is not None and is_known_by_kind(found):
            return self.by_kind(found)
        return self.value_itself(found, depth)

    def value_itself(self, found: Any, depth: int = 0) -> Value:
        """The abstraction of this very object, whatever others of its kind are."""
        kind = type(found)
        if isinstance(found, type):
            note_class(found)
        is_static = isinstance(found, FunctionType | ModuleType | type | Enum) or found is np._NoValue
        if kind in SCALARS or is_static or is_compiled_ufunc(found):
            return exact(canonical(found))
        if isinstance(found, BuiltinFunctionType) and isinstance(found.__self__, ModuleType | NoneType):
            return exact(found)
        if is_remembering(found) or callable(found) and package_of(kind) == "srcgrad":  # a derivative
            return exact(found)
        if kind in (Signature, Parameter):
            return exact(found)
        if kind is np.vectorize or any(found is each for each in INDEXED):
            return exact(found)  # what it calls or joins is looked at where it is called or indexed
        if is_sparse(kind) and (matrix := contents_of_sparse(found)) is not None:
            site = self._site(kind, found)
            self.contents[site] = matrix
            return at(site)
        if not callable(found) and (is_sparse(kind) or of_class(found) is not None):
            return unknown(of_class(found))  # its class decides what is computed with it
        if isinstance(found, COMPILED_BY_CYTHON) and is_of_library(found) or is_distribution(found):
            return exact(found)
        if isinstance(found, MethodType) and (is_distribution(found.__self__) or _is_listed(found)):
            return exact(_same_method(found))
        if isinstance(found, BuiltinFunctionType) and isinstance(found.__self__, np.ufunc):  # np.add.outer
            return exact(_same_method(found))
        if callable(found) and is_of_library(kind) and lookup(found) is not None:
            return exact(found)
        if isinstance(found, np.generic):
            return Value(frozenset((Of(kind),)))
        writer = next((made for each, made in WRITERS.items() if isinstance(found, each) and is_of_library(kind)), None)
        if writer is not None:
            site = self._site(writer, found)
            self.contents.setdefault(site, Contents(single=False))
            return at(site)
        known = self._values.get(id(found))
        if known is not None:
            return known
        if len(self._values) > _MOST:
            self.give_up(TOO_MANY)
            return ANY
        self._alive.append(found)
        if isinstance(found, BuiltinFunctionType):
            return self._noted(found, exact(found))
        if kind is np.ndarray and found.dtype.kind in "biufcSUmM" and is_named(found.dtype):
            base = _base(found)
            whole = self._values.get(id(base))
            if whole is not None and not any(isinstance(atom, Array) for atom in whole.atoms):
                return self._noted(found, whole)
            return self._noted(found, Value(frozenset((Array(self._memory(found), found.dtype.str, found.ndim),))))
        if isinstance(found, MethodType) and isinstance(found.__func__, FunctionType):
            return self._noted(found, self._bound(found, depth))
        return self._looked_into(found, depth) or self._whole(found)

    def may_keep_index(self, value: Value) -> bool:
        """Whether a value may be an object of a library that gives, or holds, what it is indexed by: ``np.s_``."""
        found = (self.objects.get(atom.site) for atom in value.atoms if isinstance(atom, At) and atom.site.kind is None)
        return any(
            isinstance(getattr(type(each), "__getitem__", None), FunctionType) and not isinstance(each, Mapping)
            for each in found
        )

    def is_open(self, kind: type) -> bool:
        """Whether objects of a class may get other methods than it has."""
        return self._assigned.is_open(kind)

    def give_up(self, why: Reason) -> None:
        """Anything may be anything."""
        self._assigned.give_up(why)

    def _bound(self, found: MethodType, depth: int) -> Value:
        method = Bound(self.value(found.__self__, depth + 1), found.__name__, found.__func__)
        self.methods.add(method)
        return Value(frozenset((method,)))

    def _looked_into(self, found: Any, depth: int) -> Value | None:
        """The value of a container or object whose items or fields are looked at one by one; None of others."""
        kind: Any = type(found)
        is_tuple = is_named_tuple(kind)
        is_container = (is_tuple or kind in (*SEQUENCES, *MAPPINGS, set, frozenset)) and len(found) <= _LONGEST
        is_container = is_container and not getattr(found, "__dict__", None)
        kind, is_container = (dict, True) if kind is MappingProxyType and _tells(found) else (kind, is_container)
        parts = parts_of_model(found)
        is_instance = is_object(found) and not is_of_library(found) and not self._assigned.is_open(kind)
        if depth >= _DEEPEST or not (is_container or is_instance or parts is not None):
            return None
        site = self._site(kind, found)
        if type(found) is MappingProxyType:  # which is read as a dict is, and is none
            site = replace(site, name=PROXY)
            self.objects[site] = found
        value = self._noted(found, at(site))
        note_class(kind)

        def inside(held: Any) -> Value:
            return self.value(held, depth + 1)

        if is_instance and not is_tuple:
            fields = {name: inside(held) for name, held in fields_of(found).items()}
            made = Contents(fields=fields, order=tuple(fields))
        elif parts is not None:
            made = Contents(fields={name: inside(held) for name, held in parts.items()})
        elif kind in MAPPINGS and all(type(key) in (str, int) for key in found):
            made = Contents(entries=tuple((key, inside(held)) for key, held in found.items()))
        elif kind in SEQUENCES or is_tuple:
            made = Contents(parts=tuple(map(inside, found)))
        elif kind in MAPPINGS:
            made = Contents().with_sides(union(*map(inside, found)), union(*map(inside, found.values())))
        else:
            made = Contents(rest=union(*map(inside, found)))
        if kind is defaultdict:
            made = replace(made, fields={"default_factory": inside(found.default_factory)})
        self.contents[site] = made
        return value

    def _whole(self, found: Any) -> Value:
        """The value of an object that is not looked into."""
        parts = parts_of(found)
        if parts is None:
            self.give_up(hidden(found))
            return self._noted(found, ANY)
        own = [part for part in parts if not (type(part) in SCALARS or isinstance(part, np.generic | ModuleType))]
        if any(map(_is_users, own)):
            self._noted(found, ANY)
            self._reach([type(part) for part in own if not isinstance(part, type | FunctionType)])
            self._reach([part for part in own if part is not found])
            return self._noted(found, exact(found)) if isinstance(found, np.ufunc) else ANY  # what it runs has run
        if callable(found) and not any(map(_is_memory, own)):
            return self._noted(found, exact(found))
        site = self._site(None, found)
        value = at(site)
        held = [value]
        for part in own:
            known = self._known(part)
            if known is None:
                self._noted(part, value)
            else:
                held.append(known)
        self.contents[site] = Contents(single=False, rest=union(*held), others=union(*held))
        return value

    def _known(self, part: Any) -> Value | None:
        """The value of an object, or of other views of its memory, if it was looked at before."""
        if isinstance(part, FunctionType | type | BuiltinFunctionType):
            return exact(part)
        if isinstance(part, np.ndarray):
            site = Site(np.ndarray, id(_base(part)), "outside")
            if site in self.contents:
                return Value(frozenset((Array(site),)))
        return self._values.get(id(part))

    def again(self, found: Any) -> Value:
        """The value of an object that a site stands for, or of all data."""
        if isinstance(found, Site):
            return at(found)
        return at(self.cell(found)) if isinstance(found, CellType) else self.value(found)

    def cell(self, cell: CellType) -> Site:
        """The site of a cell that a function from outside captures."""
        site = self._site(CellType, cell)
        if site not in self.contents:
            try:
                held = self.value(cell.cell_contents)
            except ValueError:
                held = Value(frozenset())
            self.contents[site] = Contents(fields={"cell": held})
        return site

    def _site(self, kind: type | None, found: object) -> Site:
        site = Site(kind, id(found), "outside")
        self.objects[site] = found
        return site

    def _memory(self, found: np.ndarray[Any, Any]) -> Site:
        """The site of the memory of an array, which its views share."""
        site = Site(np.ndarray, id(_base(found)), "outside")
        self.objects[site] = found
        self.contents.setdefault(site, Contents())
        return site

    def _noted(self, found: object, value: Value) -> Value:
        self._alive.append(found)
        self._values[id(found)] = value
        return value


def _is_memory(part: object) -> bool:
    return isinstance(part, np.ndarray | list | set | deque | bytearray)


def _base(array: np.ndarray[Any, Any]) -> object:
    """What owns the memory of an array."""
    found: Any = array
    while isinstance(found, np.ndarray) and found.base is not None:
        found = found.base
    return found


#: Libraries of which no function stores into classes, modules or functions that it is given.
_READING = frozenset("builtins operator _operator math cmath numpy functools itertools collections copy".split())


def note_stores(assigned: Assigned, function: Any, values: Sequence[Value]) -> None:
    """Stores of a function of a library that is not known, into classes, modules and functions that it is given."""
    home = getattr(function, "__module__", None) or type(function).__module__
    stores = function in (setattr, delattr) or getattr(function, "__name__", "") in ("__setattr__", "__delattr__")
    if not stores and home.partition(".")[0] in _READING:
        return
    for value in values[:1] if stores else values:
        if value.is_any and stores:
            assigned.give_up(Reason("E0109", "this may store to any attribute of anything", "this call"))
        for atom in value.atoms:
            if isinstance(atom, Exact) and isinstance(atom.value, type | ModuleType | FunctionType):
                if not is_of_library(atom.value) and (stores or isinstance(atom.value, type)):
                    assigned.note_object(atom.value)


def contents_of_sparse(found: Any) -> Contents | None:
    """The dtype of a sparse matrix, as its contents; None of a vector, and of what holds no floats or integers."""
    if found.ndim != 2 or found.dtype.kind not in "biufc" or not is_named(found.dtype):
        return None
    return Contents(single=False, fields={"dtype": exact(found.dtype)})
