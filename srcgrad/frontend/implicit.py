"""Methods that Python calls where no call is written: for ``len(o)``, ``if o``, ``v in o``, ``f"{o}"``, ``[o] < [v]``.

They are not read where they only answer.  One that stores into its object does more: what it stores had no derivative,
and the call might be left out where nobody needs the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import FunctionType, ModuleType

import gast

from srcgrad.errors import SrcgradError
from srcgrad.frontend.classes import ABSENT, defining_class, found
from srcgrad.frontend.journal import remembered
from srcgrad.frontend.names import Definition, body_of
from srcgrad.frontend.source import source_of
from srcgrad.frontend.storing import root_of, stored_in
from srcgrad.language import effects
from srcgrad.rules.memory import LIBRARIES
from srcgrad.syntax.parse import names_bound, names_read, parameters_of, walk

_IMPLICIT = """
__len__ __length_hint__ __bool__ __contains__ __eq__ __ne__ __hash__
__index__ __int__ __float__ __complex__ __str__ __repr__ __format__ __getattr__
""".split()
_TEXTS = frozenset({"__str__", "__repr__", "__format__"})
#: What asks the items of a container, and where no ``__contains__`` is written.
_ORDERING = ("__lt__", "__le__", "__gt__", "__ge__")
_NUMBERS = ("__abs__", "__round__", "__floor__", "__ceil__", "__trunc__", "__divmod__", "__pow__")
_AS_ARRAY = ("__array__", "__array_ufunc__", "__array_function__", "__copy__", "__deepcopy__", "__reversed__")
_SEEKING = ("__iter__", "__getitem__", "__next__")


@remembered
def storing_method(kind: type) -> str | None:
    """The first of these methods of a class that stores, itself or by another of its methods."""
    return next((name for name in _IMPLICIT if _stores(kind, name)), None)


@remembered
def storing_where_given(kind: type) -> str | None:
    """The first method that stores, of those that a function of Python or NumPy may run of what it is given."""
    others = (*_ORDERING, *_SEEKING, *_AS_ARRAY, *_NUMBERS)
    return storing_method(kind) or next((name for name in others if _stores(kind, name)), None)


def stores_unseen(kind: type, name: str) -> tuple[str, str]:
    """Reason and hint of the refusal."""
    reason = f"{name} of class {kind.__name__} stores, and is called where no call is written"
    return reason, "store in a method that is called by its name"


@remembered
def storing_comparison(kind: type, seeks: bool) -> str | None:
    """The first of the methods that store, of those that compare objects in containers, or look for an item in one."""
    if seeks and found(kind, "__contains__") is not ABSENT:
        return None
    return next((name for name in (_SEEKING if seeks else _ORDERING) if _stores(kind, name)), None)


@remembered
def may_store_asked(kind: type, names: tuple[str, ...]) -> str | None:
    """The first method that a class has of those that Python looks for, if it is not seen to do no more than answer.

    Besides stores, methods of what the object holds are such: of which class that is is not known.
    """
    name = next((name for name in names if found(kind, name) is not ABSENT), None)
    raw = None if name is None else found(kind, name)
    if name is None or not isinstance(raw, FunctionType):
        return None
    return name if _stores(kind, name) or _asks_others(kind, raw) else None


def _asks_others(kind: type, function: FunctionType) -> bool:
    """Whether a method takes an item out of an iterator, or calls a method that is neither known nor of its class."""
    if str(function.__globals__.get("__name__")).partition(".")[0] in LIBRARIES:
        return False
    try:
        body = body_of(source_of(function).node)
    except (SrcgradError, OSError):
        return function.__code__.co_filename != "<string>"  # what is not read may do anything
    own = function.__code__.co_varnames
    for node in walk(*body):
        match node:
            case gast.Call(func=gast.Name(id="next")):
                return True
            case gast.Call(func=gast.Attribute(value=value, attr=name)) if root_of(value) in own:
                is_own = isinstance(value, gast.Name) and found(kind, name) is not ABSENT
                if not is_own and not effects.is_reading(effects.method(name)):
                    return True
    return False


@remembered
def stores_as(kind: type, name: str) -> bool:
    """Whether one method of a class stores."""
    return _stores(kind, name)


def storing_property(kind: type, name: str) -> bool:
    """Whether an attribute is a property that stores into its object."""
    return isinstance(found(kind, name), property) and _stores(kind, name)


def _stores(kind: type, name: str) -> bool:
    return _may_store(kind, found(kind, name), name in _TEXTS, set())


def _may_store(kind: type, raw: object, is_text: bool, seen: set[FunctionType]) -> bool:
    """Whether a method or function, or another one that it names, stores into what it is given, or reads from outside.

    What a field holds is of no class that is known here: of its methods only those that have the names of a list's or
    an array's tell anything.
    """
    raw = raw.fget if isinstance(raw, property) else raw
    if not isinstance(raw, FunctionType) or raw in seen or raw.__code__.co_filename == "<string>":
        return False
    if str(raw.__globals__.get("__name__")).partition(".")[0] in LIBRARIES:
        return False  # a class of a library's, or what ``dataclass`` wraps around ``__repr__``
    seen.add(raw)
    try:
        node = source_of(raw).node
    except (SrcgradError, OSError):
        return False
    body = body_of(node)
    given = _aliases(node, body)
    own = names_bound(*body)
    for inner in walk(*body):
        if isinstance(inner, gast.Global | gast.Nonlocal):
            return True
        for target in stored_in(inner):
            root = root_of(target)
            # Text grows by ``+=`` as well as a list does.
            if root in given and not (is_text and isinstance(inner, gast.AugAssign) and target is inner.target):
                return True
            if root is not None and root not in given | own and not _is_function_of(raw, root, inner):
                return True
        if any(_may_store(kind, named, is_text, seen) for named in _named(inner, kind, raw, given)):
            return True
    return False


def _is_function_of(function: FunctionType, root: str, node: gast.AST) -> bool:
    """Whether a call is of a function of a module: ``np.append`` has the name of a method that stores."""
    return isinstance(node, gast.Call) and isinstance(function.__globals__.get(root), ModuleType)


def _aliases(node: Definition, body: Sequence[gast.stmt]) -> set[str]:
    """The parameters, and the names bound to them or to what lies in them."""
    given = set(parameters_of(node.args))
    while True:
        before = len(given)
        for inner in walk(*body):
            match inner:
                case gast.Assign(targets=targets, value=value) if root_of(value) in given:
                    given |= names_bound(*targets)
                case gast.For(target=target, iter=value) | gast.comprehension(target=target, iter=value):
                    if not given.isdisjoint(names_read(value)):
                        given |= names_bound(target)
                case gast.NamedExpr(target=target, value=value) if root_of(value) in given:
                    given |= names_bound(target)
        if len(given) == before:
            return given


def _named(node: gast.AST, kind: type, function: FunctionType, given: set[str]) -> Iterator[object]:
    """The methods and functions that an expression names: of the object, of the class before its own, and global."""
    match node:
        case gast.Attribute(value=gast.Call(func=gast.Name(id="super")), attr=attr):
            yield found(kind, attr, defining_class(function))
        case gast.Attribute(value=gast.Name(id=name), attr=attr):
            if name in given:
                yield found(kind, attr)
            elif isinstance(owner := function.__globals__.get(name), type):
                yield found(owner, attr)
        case gast.Name(id=name, ctx=gast.Load()) if name not in given:
            yield function.__globals__.get(name)
