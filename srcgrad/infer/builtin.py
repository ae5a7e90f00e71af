"""Built-in functions that are followed by themselves: ``len``, ``isinstance``, ``type``, ``getattr``.

Enters: the function and its arguments.  Leaves: what it returns, and the heap after it; ``NotImplemented`` of another
function, or of arguments that are not known well enough::

    name = "weights"                   name: 'weights'
    w = getattr(layer, name)           w: float64[1]@ndarray
    n = len([w, w])                    n: 2
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import operator
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from inspect import isabstract
from types import (
    BuiltinFunctionType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    SimpleNamespace,
)
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from srcgrad.frontend.classes import is_plain_class, is_user_class
from srcgrad.frontend.journal import note_class, note_parameters
from srcgrad.infer.answering import shown_by
from srcgrad.infer.classes import classes_of, is_hashed_by_identity, is_instance
from srcgrad.infer.copies import copied
from srcgrad.infer.data import is_data
from srcgrad.infer.dispatch import truth_by_methods
from srcgrad.infer.emitted import of_emitted
from srcgrad.infer.generators import lists_of
from srcgrad.infer.heap import Contents, Heap
from srcgrad.infer.iteration import ITERATORS
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.objects import (
    ABSENT,
    CONTAINERS,
    MAPPINGS,
    class_of,
    container,
    data,
    get_attribute,
    is_method,
    is_plain,
    looked_up,
    of_each,
    set_attribute,
    stands_for,
)
from srcgrad.infer.outside import is_of_library, is_of_users
from srcgrad.infer.values import ANY, SCALARS, Array, At, Bound, Exact, Value, are_of, exact, is_unchanging, of, union
from srcgrad.infer.values import are_numbers as are_all_numbers
from srcgrad.language import asked
from srcgrad.language.models import CLASSES, FUNCTIONS, object_sets
from srcgrad.language.operators import OF_FLOATS, method_of
from srcgrad.runtime.binding import decides_binding
from srcgrad.runtime.containers import are_numbers, argsorted, places_of

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.infer.parameters import Given
    from srcgrad.ir.regions import Statement

_Values = tuple[Value, ...]


def followed(analysis: Analysis, frame: Frame, statement: Statement, function: Any, given: Given, heap: Heap) -> Any:
    """What a function of the table below does."""
    known = isinstance(function, FunctionType | BuiltinFunctionType | type)
    if (name := method_of(function)) is not None:
        made = _of_operand(analysis, frame, statement, name, given, heap)
        if made is not NotImplemented:
            return made
    is_asking = any(function is kind for kind in (float, len, bool, *OF_FLOATS))
    if is_asking and len(given.values()) == len(given.positional) == 1:
        made = _of_class(analysis, frame, statement, function, given, heap)
        if made is not NotImplemented:
            return made
    if isinstance(function, BuiltinFunctionType) and function in _OF_MATH:
        positional, heap = lists_of(analysis, frame, given.positional, heap)
        values = (*positional, *given.values()[len(positional) :])
        return of(_OF_MATH[function]), heap if is_plain(analysis, heap, *values) else analysis.unknown(values, heap)
    if function is inspect.signature and len(given.values()) == len(given.positional) == 1:
        return _signature(given.positional[0], heap)
    if function is functools.update_wrapper:
        return _wrapped(analysis, given, heap)
    if not is_plain(analysis, heap, *given.values()):
        behind = shown_by(analysis, frame, statement, function, given, heap)
        if behind is not None:
            frame.may_raise(behind)
            return exact(None) if function is print else of(str), behind
    one = _FOLLOWED.get(function) if known and not given.keywords and given.more is None else None
    if one is not None:
        return one(analysis, frame, statement, given.positional, heap)
    if isinstance(function, FunctionType):
        made = of_emitted(analysis, frame, statement, function, given, heap)
        return made if made is not NotImplemented else copied(analysis, frame, statement, function, given, heap)
    if known and getattr(function, "__name__", "") == "__new__" and isinstance(function, BuiltinFunctionType):
        return _new(analysis, frame, statement, function, given, heap)
    return NotImplemented


def _signature(value: Value, heap: Heap) -> Any:
    """The signature of a function of the user's, where no other one was declared for it."""
    (atom, *others) = value.atoms or (None,)
    function = atom.value if isinstance(atom, Exact) else None
    if value.is_any or others or not isinstance(function, FunctionType):
        return NotImplemented
    if not {"__wrapped__", "__signature__"}.isdisjoint(vars(function)):
        return NotImplemented
    note_parameters(function)
    decides = decides_binding(function)
    known, told = _SIGNATURES.get(function, ((), None))
    if told is None or len(known) != len(decides) or not all(map(operator.is_, known, decides)):
        told = inspect.signature(function)
        _SIGNATURES[function] = decides, told
    return exact(told), heap


#: What functions tell, the same object each time.
_SIGNATURES: WeakKeyDictionary[FunctionType, tuple[tuple[object, ...], inspect.Signature]] = WeakKeyDictionary()


def _of_operand(
    analysis: Analysis, frame: Frame, statement: Statement, name: str, given: Given, heap: Heap
) -> Any:
    """``abs``, ``round`` and their kind of objects of the user's, which are methods of these."""
    receiver, *others = given.positional or (ANY,)
    if name == "__round__" and others == [exact(None)]:  # as if it were not given
        others = []
    if exact(None) <= union(*others) or given.keywords or given.more is not None or not receiver.consists_of(
        lambda a: isinstance(a, At) and is_method(looked_up(class_of(a) or object, name))
    ):
        return NotImplemented
    return of_each(receiver, heap, lambda atom, heap: analysis.call(
        frame, statement, exact(looked_up(atom.site.kind, name)),  # type: ignore[union-attr,arg-type]
        (Value(frozenset((atom,))), *others), heap,
    ))  # fmt: skip


def _of_class(analysis: Analysis, frame: Frame, statement: Statement, function: Any, given: Given, heap: Heap) -> Any:
    """``float``, ``len`` and ``bool`` of objects of the user's: of the class that they always give, or they raise."""
    if function is bool:
        if all(_is_of_library(atom) for atom in given.positional[0].atoms):
            return NotImplemented
        told = truth_by_methods(analysis, frame, statement, given.positional[0], heap)
        return None if told is None else (union(*map(exact, told[0])), told[1])
    name, kind = ("__len__", int) if function is len else ("__float__", float if function is float else int)
    made = _of_operand(analysis, frame, statement, name, given, heap)
    return made if made in (None, NotImplemented) else (of(kind), made[1])


def _is_of_library(atom: Any) -> bool:
    kind = class_of(atom)
    return kind is None or is_of_library(kind)


def _wrapped(analysis: Analysis, given: Given, heap: Heap) -> Any:
    """``update_wrapper``: a function that the program makes holds another one from now on, and its attributes."""
    named = {"wrapped": given.positional[1]} if len(given.positional) == 2 else {}
    named |= dict(given.keywords)
    usual = {"assigned": functools.WRAPPER_ASSIGNMENTS, "updated": functools.WRAPPER_UPDATES}
    if given.more is not None or len(given.positional) not in (1, 2) or not named.keys() <= {"wrapped", *usual}:
        return NotImplemented
    if any(named[name] != analysis.outside.value(held) for name, held in usual.items() if name in named):
        return NotImplemented
    wrapper, wrapped = given.positional[0], named.get("wrapped")
    if wrapped is None or wrapped.is_any or wrapper.is_any:
        return NotImplemented
    if not all(isinstance(a, At) and a.site in analysis.closures for a in wrapper.atoms):
        return NotImplemented
    if not all(class_of(a) is FunctionType or isinstance(a, Exact) and is_of_library(a.value) for a in wrapped.atoms):
        return NotImplemented
    for atom in wrapper.atoms:
        assert isinstance(atom, At)
        contents = heap[atom.site]
        fields = {**contents.fields, "attribute __wrapped__": wrapped}
        heap = analysis.store(heap, atom.site, replace(contents, fields=fields))
    return wrapper, heap


# --- what an object is -----------------------------------------------------------------------------------------------
def _len(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> Any:
    from srcgrad.infer.iteration import ITERATORS, VIEWS  # which ask what objects are in turn

    if len(given) != 1:
        return NotImplemented
    if given[0].consists_of(lambda a: class_of(a) in ITERATORS and class_of(a) not in VIEWS
                            or isinstance(a, At) and a.site in analysis.generators):  # fmt: skip
        return None
    counted = (*CONTAINERS, *SCALARS, np.ndarray, range)  # which ask nothing of what they hold
    kinds = [class_of(atom) for atom in given[0].atoms]
    if given[0].is_any or any(kind not in counted and not is_named_tuple(kind) for kind in kinds):
        if not is_plain(analysis, heap, *given):
            heap = analysis.unknown(given, heap)
    lengths = [length(atom, heap) for atom in given[0].atoms]
    is_counted = not given[0].is_any and None not in lengths
    return (union(*map(exact, lengths)) if is_counted else of(int)), heap


def _are_numbers(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> Any:
    """Whether it is certain that items are numbers; the model that asks is right for numbers either way."""
    items = union(*(heap[atom.site].items for atom in given[0].atoms if isinstance(atom, At)))
    return exact(not given[0].is_any and are_all_numbers(items) and all(map(is_unchanging, items.atoms))), heap


def _is_data(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> Any:
    """Whether a value is data, or else an array or a number."""
    others = [atom for atom in given[0].atoms if not is_data(atom)]
    if len(others) == len(given[0].atoms):
        return exact(False), heap
    is_certain = not given[0].is_any and all(isinstance(a, Array) or is_unchanging(a) for a in others)
    return exact(True) if is_certain else of(bool), heap


def _argsorted(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> Any:
    """Places in the order of keys, which are numbers."""
    if not is_plain(analysis, heap, *given):
        return NotImplemented
    return container(frame, statement, heap, list, Contents(rest=of(int)))


def _places_of(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> Any:
    """The keys of dicts, as they are now; emitted text asks nothing else."""
    if len(given) != 1 or not are_of(given[0], *MAPPINGS):
        return ANY, analysis.unknown(given, heap)
    keys = union(*(heap[atom.site].keys for atom in given[0].atoms if isinstance(atom, At)))
    return container(frame, statement, heap, list, Contents(rest=keys))


def length(atom: Any, heap: Heap) -> int | None:
    """How many items an object of a built-in class has, where they are known one by one."""
    kind = class_of(atom)
    if not isinstance(atom, At) or kind not in (list, tuple, *MAPPINGS) and not is_named_tuple(kind):
        return None
    contents = heap[atom.site]
    held = contents.entries if kind in MAPPINGS else contents.parts
    return None if held is None else len(held)


def _isinstance(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> Any:
    if len(given) != 2:
        return NotImplemented
    kinds = classes_of(analysis, given[1], heap)
    analysis.local_classes.ask(kinds or ())
    answers = [is_instance(atom, kinds) for atom in given[0].atoms]
    is_decided = not given[0].is_any and None not in answers
    is_modelled = any(stands_for(class_of(atom)) for atom in given[0].atoms)  # of another class when the program runs
    if is_decided and (len({*answers}) == 1 or not is_modelled):
        return union(*(exact(answer) for answer in answers)), heap
    if is_modelled:
        return of(bool), analysis.unknown(given, heap)
    if kinds is None or given[0].is_any:
        return _asked(analysis, frame, statement, given, heap)
    left = frozenset(a for a, answer in zip(given[0].atoms, answers, strict=True) if answer is None)
    return _asked(analysis, frame, statement, (Value(left), *given[1:]), heap)  # of which it is not known, are asked


def _asked(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> Any:
    """``isinstance``, ``issubclass`` and ``callable``, where the answer is not known."""
    # The classes of exceptions do not decide what they are, as other classes may.
    asked = [Value(v.atoms - {a for a in v.atoms if isinstance(a, At) and a.site.kind is BaseException}, v.is_any)
             for v in given[:1]]  # fmt: skip
    return (of(bool), heap) if is_plain(analysis, heap, *asked) else NotImplemented


def _callable(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> Any:
    answers = [_is_callable(analysis, atom) for value in given for atom in value.atoms]
    if len(given) == 1 and not given[0].is_any and None not in answers:
        return union(*map(exact, answers)), heap
    return _asked(analysis, frame, statement, given, heap)


def _is_callable(analysis: Analysis, atom: Any) -> bool | None:
    kind = class_of(atom)
    is_users = isinstance(atom, At) and is_plain_class(kind) and not is_of_library(kind)
    if kind is not None and is_users and not analysis.assigned.is_open(kind):
        return looked_up(kind, "__call__") is not ABSENT  # Python asks the class alone
    if isinstance(atom, Bound) or kind in (FunctionType, BuiltinFunctionType, type):
        return True
    if isinstance(atom, Exact) and isinstance(kind, type) and is_of_library(kind):  # as ``np.exp`` is, and ``np.sum``
        return callable(atom.value)
    return False if kind in (*SCALARS, *CONTAINERS, np.ndarray) else None


def _type(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> Any:
    kinds = [class_of(atom) for atom in given[0].atoms] if len(given) == 1 else []
    analysis.local_classes.ask(kinds)
    if len(given) == 1 and given[0].consists_of(lambda atom: is_data(atom) or class_of(atom) is not None) and (
        None in kinds
    ):
        return data(frame, statement, heap)  # a class of a library's, or of Python's
    if not kinds or given[0].is_any or None in kinds:
        return NotImplemented
    if any(map(stands_for, kinds)):
        return ANY, analysis.unknown(given, heap)
    return union(*map(exact, kinds)), heap


def _new(
    analysis: Analysis, frame: Frame, statement: Statement, function: Any, given: Given, heap: Heap
) -> Any:
    """``dict.__new__(Counter)``, ``object.__new__(Layer)``: an object of a class, which is not initialized."""
    values = given.values()
    if len(values) != 1 or given.more is not None or len(values[0].atoms) != 1 or values[0].is_any:
        return NotImplemented
    (atom,) = values[0].atoms
    kind: Any = getattr(atom, "value", None)
    if dataclasses.is_dataclass(kind):  # whose objects have all of their fields otherwise
        return NotImplemented
    if not isinstance(kind, type) or looked_up(kind, "__new__") is not function and kind not in CONTAINERS:
        return NotImplemented
    if kind in CONTAINERS and issubclass(kind, dict):
        fields = {"default_factory": exact(None)} if kind is defaultdict else {}
        return container(frame, statement, heap, kind, Contents(entries=(), fields=fields))
    is_users = is_plain_class(kind) and not isabstract(kind) and function is object.__new__ and not is_of_library(kind)
    if not is_users or analysis.assigned.is_open(kind):
        return NotImplemented
    return container(frame, statement, heap, kind, Contents())


def merged_into(analysis: Analysis, receiver: Value, given: Given, heap: Heap) -> Heap | None:
    """``dict.update``, where all entries are known one by one; None where they are not."""
    (atom,) = receiver.atoms if len(receiver.atoms) == 1 and not receiver.is_any else (None,)
    before = _entries(receiver, heap)
    sources = [_entries(source, heap) for source in given.positional]
    if not isinstance(atom, At) or before is None or None in sources or len(sources) > 1 or given.more is not None:
        return None
    named = [(Exact(name), value) for name, value in given.keywords]
    entries = before | dict(pair for source in sources for pair in (source or {}).items()) | dict(named)
    made = replace(heap[atom.site], entries=tuple((key.value, value) for key, value in entries.items()))
    return analysis.store(heap, atom.site, made)


def _entries(value: Value, heap: Heap) -> dict[Exact, Value] | None:
    (atom,) = value.atoms if len(value.atoms) == 1 and not value.is_any else (None,)
    held = heap[atom.site].entries if isinstance(atom, At) and atom.site.kind in MAPPINGS else None
    return None if held is None else {Exact(key): item for key, item in held}


_OF_TEXTS = frozenset(
    """capitalize casefold endswith find isalnum isalpha isdigit isidentifier islower isspace isupper lower lstrip
    removeprefix removesuffix replace rstrip startswith strip swapcase title upper""".split()
)


def text_of(text: Exact, name: str, given: Given) -> Value | None:
    """What a method of a text that is known gives, where its arguments are known; None where it may be another one."""
    atoms = [next(iter(value.atoms), None) for value in given.positional if len(value.atoms) == 1 and not value.is_any]
    known = [atom.value for atom in atoms if isinstance(atom, Exact) and type(atom.value) in (str, int)]
    if name not in _OF_TEXTS or len(known) < len(given.positional) or given.keywords or given.more is not None:
        return None
    try:
        return exact(getattr(text.value, name)(*known))
    except (TypeError, ValueError):
        return None


# --- attributes by name ----------------------------------------------------------------------------------------------
def _name(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> str | None:
    """The name that is given after an object, where it is known."""
    if len(given) < 2:
        return None
    if (name := _text_of(given[1])) is None and not given[0].is_any and not frame.is_unknown:
        analysis.assigned.unrolled.note(frame, statement, heap)
    return name


def _text_of(value: Value) -> str | None:
    """The text that a value is, where it is one."""
    (atom,) = value.atoms if len(value.atoms) == 1 and not value.is_any else (None,)
    return atom.value if isinstance(atom, Exact) and isinstance(atom.value, str) else None


def _setattr(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> Any:
    name = _name(analysis, frame, statement, given, heap)
    if name is None or len(given) != 3:
        return NotImplemented
    after = set_attribute(analysis, frame, statement, given[0], name, given[2], heap)
    return None if after is None else (exact(None), after)


def _getattr(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> Any:
    name = _name(analysis, frame, statement, given, heap)
    if name is None or len(given) not in (2, 3):
        return NotImplemented
    if len(given) == 3 and (given[0].is_any or any(_may_run(atom, name) for atom in given[0].atoms)):
        return NotImplemented  # what raised, may have changed something before
    found = get_attribute(analysis, frame, statement, given[0], name, heap)
    if len(given) == 2:
        return found
    holds = [_holds(analysis, atom, name, heap) for atom in given[0].atoms]
    analysis.facts.held.setdefault(statement, set()).update(holds)
    if all(holds):
        return found
    if found is None or not any(answer is not False for answer in holds):
        return given[2], heap
    return union(found[0], given[2]), heap.join(found[1])


def _may_run(atom: Any, name: str) -> bool:
    """Whether reading an attribute may run a function that raises."""
    kind = class_of(atom)
    return kind is None or not is_of_library(kind) and hasattr(type(looked_up(kind, name)), "__set__")


def _hasattr(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> Any:
    name = _name(analysis, frame, statement, given, heap)
    if name is not None and len(given) == 2 and not given[0].is_any:
        answers = [_holds(analysis, atom, name, heap) for atom in given[0].atoms]
        if len({*answers}) > 1 and any(stands_for(class_of(atom)) for atom in given[0].atoms):
            return ANY, analysis.unknown(given, heap)  # the run would ask an object of the model
        if None not in answers:
            return union(*map(exact, answers)), heap
        if all(answer is not None or _asks_nothing(analysis, atom, name)
               for atom, answer in zip(given[0].atoms, answers, strict=True)):
            return of(bool), heap
    return _asked(analysis, frame, statement, given, heap)


# --- dataclasses -----------------------------------------------------------------------------------------------------
def _kinds_asked(value: Value) -> list[type | None]:
    """The classes that a value is, or whose objects it is; None where that is not known."""
    if value.is_any:
        return [None]
    return [atom.value if isinstance(atom, Exact) and isinstance(atom.value, type) else class_of(atom)
            for atom in value.atoms]  # fmt: skip


def _fields(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> Any:
    kinds = set(_kinds_asked(given[0])) if len(given) == 1 else set()
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind is None or not dataclasses.is_dataclass(kind) or analysis.assigned.may_be(kind, "__dataclass_fields__"):
        return NotImplemented
    note_class(kind)
    return container(frame, statement, heap, tuple, Contents(parts=tuple(map(exact, dataclasses.fields(kind)))))


def fields_shown(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> Any:
    """``vars`` of objects: a dict of their fields, which is not their own; what is done with it is looked at later."""
    (value,) = given if len(given) == 1 else (ANY,)
    held = [heap[atom.site] for atom in value.atoms if isinstance(atom, At) and _shows_its_fields(analysis, atom, heap)]
    orders = {contents.order for contents in held}
    if value.is_any or len(held) < len(value.atoms) or len(orders) != 1:
        return NotImplemented
    entries = ((name, union(*(contents.fields[name] for contents in held))) for name in orders.pop() or ())
    return container(frame, statement, heap, dict, Contents(entries=tuple(entries)))


def _shows_its_fields(analysis: Analysis, atom: At, heap: Heap) -> bool:
    """Whether ``vars`` of an object holds its fields and nothing else, and reading one runs no code."""
    kind: Any = atom.site.kind
    contents = heap[atom.site]
    if heap.is_seen(atom.site) or contents.others or contents.order is None or {*contents.order} != {*contents.fields}:
        return False
    if kind is SimpleNamespace:
        return True
    has_slots = is_user_class(kind) and any("__slots__" in vars(base) for base in kind.__mro__)
    is_modelled = kind in CLASSES or stands_for(kind) is not None
    return is_user_class(kind) and not (is_modelled or has_slots) and holds_fields(kind) and all(
        _asks_nothing(analysis, atom, name) for name in contents.fields
    )


def holds_fields(kind: type) -> bool:
    """Whether ``__dict__`` of the objects of a class is what holds their fields, and nothing that the class decides."""
    return isinstance(looked_up(kind, "__dict__"), GetSetDescriptorType)


def _is_dataclass(analysis: Analysis, frame: Frame, statement: Statement, given: _Values, heap: Heap) -> Any:
    kinds = _kinds_asked(given[0]) if len(given) == 1 else [None]
    known = [kind for kind in kinds if kind is not None]
    if len(known) < len(kinds):
        return NotImplemented
    for kind in known:
        note_class(kind)
    return union(*(exact(dataclasses.is_dataclass(kind)) for kind in known)), heap


def _holds(analysis: Analysis, atom: Any, name: str, heap: Heap) -> bool | None:
    """Whether the objects of an atom have an attribute; None where it is not known."""
    kind = class_of(atom)
    if (shown := stands_for(kind)) is not None:
        return hasattr(shown, name)
    if isinstance(atom, At) and not heap.is_seen(atom.site) and is_of_users(atom) and kind not in CLASSES:
        return _holds_field(analysis, kind, heap[atom.site], name)
    if isinstance(atom, At) and atom.site in analysis.generators:
        return hasattr(GeneratorType, name)
    if kind is None or kind in CLASSES:
        return None
    if kind in (*SCALARS, list, tuple, dict, set, frozenset, np.ndarray, deque, range, *ITERATORS):
        return hasattr(kind, name)
    return None


def answer_of(analysis: Analysis, function: Any, atom: Any, others: tuple[Value, ...], heap: Heap) -> bool | None:
    """What a function that asks for the class or the attributes of an object answers for those of an atom; None where
    it may say either, or is none of these."""
    if function is callable and not others:
        return _is_callable(analysis, atom)
    if function is isinstance and len(others) == 1:
        return is_instance(atom, classes_of(analysis, others[0], heap))
    if function is hasattr and len(others) == 1 and (name := _text_of(others[0])) is not None:
        return _holds(analysis, atom, name, heap)
    return None


def _holds_field(analysis: Analysis, kind: Any, contents: Contents, name: str) -> bool | None:
    """Whether objects of a class of the user's have an attribute, which no method of it answers for."""
    own = looked_up(kind, "__getattribute__") is not object.__getattribute__
    if own or hasattr(kind, "__getattr__") or analysis.assigned.is_open(kind) or not is_plain_class(kind):
        return None
    held = looked_up(kind, name)
    runs_nothing = is_method(held) or isinstance(held, MemberDescriptorType | staticmethod | classmethod)
    if hasattr(type(held), "__get__") and not runs_nothing:
        return None  # a property, or what computes a field, may raise
    if name in contents.sure or held is not ABSENT and not isinstance(held, MemberDescriptorType):
        return True
    return None if name in contents.fields or contents.others else False


def _asks_nothing(analysis: Analysis, atom: Any, name: str) -> bool:
    """Whether looking for an attribute of an object runs no code of the user's."""
    kind = class_of(atom)
    if isinstance(atom, Exact):
        kind = atom.value if is_plain_class(atom.value) else None
    if kind is None or not is_plain_class(kind) or is_of_library(kind) or analysis.assigned.is_open(kind):
        return False
    if hasattr(kind, "__getattr__") or looked_up(kind, "__getattribute__") is not object.__getattribute__:
        return False
    held = [vars(base)[name] for base in kind.__mro__ if name in vars(base)]
    return not held or is_method(held[0]) or not hasattr(type(held[0]), "__get__")


def _functions_in(analysis: Analysis, frame: Frame, statement: Statement, values: _Values, heap: Heap) -> Any:
    """``asked.functions_in``."""
    (sequence,) = values
    parts = [heap[a.site].parts if isinstance(a, At) and a.site.kind in (tuple, list) else None for a in sequence.atoms]
    counts = {0 if each is None else len(each) for each in parts}
    held = union(*(part for each in parts for part in each or ()))
    is_known = not sequence.is_any and len(counts) == 1 and any(map(_is_function, held.atoms))
    return exact(counts.pop() if is_known else 0), heap


def _is_function(atom: Any) -> bool:
    if isinstance(atom, Exact):
        return callable(atom.value)
    kind = class_of(atom)
    return isinstance(atom, Bound) or kind in FUNCTIONS or kind is not None and is_method(looked_up(kind, "__call__"))


def _classes_of_math() -> Iterator[tuple[Any, type]]:
    """The functions of ``math`` whose results are of one class, whatever they are given."""
    others = {"ceil", "floor", "trunc", "frexp", "modf", "prod", "sumprod"}
    kinds = {bool: ("isclose", "isfinite", "isinf", "isnan"), int: ("comb", "factorial", "gcd", "isqrt", "lcm", "perm")}
    for name, function in vars(math).items():
        if isinstance(function, BuiltinFunctionType) and name not in others:
            yield function, next((kind for kind, names in kinds.items() if name in names), float)


_OF_MATH: dict[Any, type] = dict(_classes_of_math())
_Follow = Callable[["Analysis", "Frame", "Statement", _Values, Heap], Any]
def _id(analysis: Analysis, frame: Frame, statement: Statement, given: tuple[Value, ...], heap: Heap) -> Any:
    """``id`` of objects of the user's, which runs nothing.  Of those from outside a copy may be what the program has,
    which the model of sets may ask alone: it compares them with one another.  It asks what equals itself alone."""
    is_of_set = frame.namespace.get("__name__") == object_sets.__name__

    def is_told(atom: Any) -> bool:
        if is_of_set:
            return is_hashed_by_identity(analysis, atom)
        return isinstance(atom, At) and is_user_class(atom.site.kind) and atom.site.context != "outside"

    if len(given) != 1 or given[0].is_any or not all(is_told(atom) or atom == Exact(None) for atom in given[0].atoms):
        return (ANY, analysis.unknown(given, heap)) if is_of_set else NotImplemented
    return of(int), heap


_FOLLOWED: dict[Any, _Follow] = {
    len: _len,
    id: _id,
    are_numbers: _are_numbers,
    argsorted: _argsorted,
    places_of: _places_of,
    asked.is_data: _is_data,
    asked.functions_in: _functions_in,
    isinstance: _isinstance,
    issubclass: _asked,
    callable: _callable,
    hasattr: _hasattr,
    dataclasses.fields: _fields,
    dataclasses.is_dataclass: _is_dataclass,
    getattr: _getattr,
    setattr: _setattr,
    type: _type,
    vars: fields_shown,
}
