"""What is known of the classes of values while compiling: which class an object has, which objects a container holds.

Enters: the arguments of a call, or the statements of a normal form.  Leaves: one ``Known`` per name, the join over all
its binders.  It decides which method ``model.predict(x)`` is, nothing else; arrays and numbers are ``Plain``::

    layers = [Linear(w, b), Tanh()]     Items(list, (Instance(Linear), Instance(Tanh)))
    for layer in layers:                layer    OneOf(Instance(Linear), Instance(Tanh))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MemberDescriptorType

from srcgrad.frontend.classed import Foreign, Weighted
from srcgrad.frontend.normal_form import Callee, Held, Pack
from srcgrad.syntax.globals import GlobalBinding, GlobalReference

DEEPEST = 12  # objects inside objects that are told apart
TOLD_APART = 2  # of one class, before all of them are described by one that says what is found in it again


@dataclass(frozen=True)
class Plain:
    """Nothing is known; it is computed with as if it were an array or a number."""


@dataclass(frozen=True)
class Blurred(Plain):
    """As ``Plain``; but it may be an object of one of these classes, or hold one, or be what these calls return."""

    kinds: frozenset[type] = frozenset()
    results: frozenset[Result] = frozenset()


@dataclass(frozen=True)
class Data:
    """Certainly no object of a user's class: an array, a number, text; ``number`` only of arguments of the
    function that is compiled: certainly a number."""

    number: bool = False


@dataclass(frozen=True)
class Instance:
    """An object of exactly this class; a named tuple is one too."""

    kind: type
    fields: tuple[tuple[str, Known], ...] = ()

    def field(self, name: str) -> Known:
        return next((unfolded(known, self) for field, known in self.fields if field == name), PLAIN)


@dataclass(frozen=True)
class Again:
    """Inside of an object of this class, at any depth: another one of which the same is known."""

    kind: type


@dataclass(frozen=True)
class Never:
    """An item of a list or tuple that has none: nothing that is done with it is ever run."""


@dataclass(frozen=True)
class Bag:
    """A set or frozenset: it has no places, and nothing in it varies."""

    kind: type


@dataclass(frozen=True)
class Items:
    """A list or tuple: its items in order, or one ``item`` that stands for all."""

    kind: type
    items: tuple[Known, ...] | None = None
    item: Known = Plain()

    def any(self) -> Known:
        if self.items is None:
            return self.item
        made: Known | None = None
        for item in self.items:
            made = item if made is None else join(made, item)
        return PLAIN if made is None else made


@dataclass(frozen=True)
class Entries:
    """A dict by its keys."""

    items: tuple[tuple[object, Known], ...]

    def any(self) -> Known:
        return Items(tuple, tuple(known for _, known in self.items)).any()


@dataclass(frozen=True)
class Value:
    """None, or a function, by identity."""

    value: object


@dataclass(frozen=True)
class Own:
    """A method of the object that keeps it, in a field or in a container in one; looked at when the program runs."""

    name: str


@dataclass(frozen=True)
class Closed:
    """A local function as a value: its definition, or the function that is its text in our own output, and what is
    known of the tuple that it is."""

    function: object
    held: Known


@dataclass(frozen=True, eq=False)
class OneOf:
    """One of several, in any order, of which at least one is an object or a function."""

    choices: tuple[Known, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OneOf) and frozenset(self.choices) == frozenset(other.choices)

    def __hash__(self) -> int:
        return hash(frozenset(self.choices))


@dataclass(frozen=True)
class Result:
    """What a call of a user function returns; found out when it is asked for."""

    callee: Callee


_Numeric = Plain | Data | Never | Bag | Foreign | Weighted
Known = _Numeric | Instance | Again | Items | Entries | Value | Own | Closed | OneOf | Result
PLAIN = Plain()
DATA = Data()
NUMBER = Data(number=True)
NEVER = Never()
NONE = Value(None)


def is_named_tuple(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and isinstance(getattr(kind, "_fields", None), tuple)


def unfolded(known: Known, outer: Instance) -> Known:
    """What is known of a part of an object: where it says again, the object itself."""

    def change(part: Known) -> Known | None:
        return outer if part == Again(outer.kind) else None

    return changed_inside(known, change, outer.kind)


def folded(known: Known) -> Known:
    """The same, an object that holds others of its class as deep as is not told apart described by itself."""
    match known:
        case Instance(kind=kind, fields=fields):
            if _levels(known, kind) <= TOLD_APART:
                return Instance(kind, tuple((name, folded(part)) for name, part in fields))
            found: list[Known] = []

            def change(part: Known) -> Known | None:
                if not (isinstance(part, Instance) and part.kind is kind):
                    return None
                found.append(Instance(kind, tuple((n, changed_inside(p, change, None)) for n, p in part.fields)))
                return Again(kind)

            change(known)
            made = found[0]
            for each in found[1:]:
                made = join(made, each)
            return made
        case Items(kind=kind, items=items, item=item):
            return Items(kind, None if items is None else tuple(map(folded, items)), folded(item))
        case Closed(held=held):
            return replace(known, held=folded(held))
        case Entries(items=entries):
            return Entries(tuple((key, folded(part)) for key, part in entries))
        case OneOf(choices=choices):
            made = folded(choices[0])
            for choice in choices[1:]:
                made = join(made, folded(choice))
            return made
    return known


def changed_inside(known: Known, change: Callable[[Known], Known | None], opaque: type | None) -> Known:
    """A copy in which ``change`` has replaced parts, outer ones first; objects of ``opaque`` are not looked into."""
    made = change(known)
    if made is not None:
        return made
    match known:
        case Instance(kind=kind, fields=fields) if kind is not opaque:
            return Instance(kind, tuple((name, changed_inside(part, change, opaque)) for name, part in fields))
        case Items(kind=kind, items=items, item=item):
            parts = None if items is None else tuple(changed_inside(part, change, opaque) for part in items)
            return Items(kind, parts, changed_inside(item, change, opaque))
        case Closed(held=held):
            return replace(known, held=changed_inside(held, change, opaque))
        case Entries(items=entries):
            return Entries(tuple((key, changed_inside(part, change, opaque)) for key, part in entries))
        case OneOf(choices=choices):
            return OneOf(tuple(changed_inside(choice, change, opaque) for choice in choices))
    return known


def parts_of(known: Known) -> tuple[Known, ...]:
    """What is known of the parts of a value, or of each value that it may be."""
    match known:
        case Instance(fields=fields):
            return tuple(part for _, part in fields)
        case Items(items=items, item=item):
            return items or (item,)
        case Entries(items=entries):
            return tuple(part for _, part in entries)
        case Closed(held=held):
            return (held,)
        case OneOf(choices=choices):
            return choices
    return ()


def _levels(known: Known, kind: type) -> int:
    """How deep objects of a class are told apart inside of one another."""
    if known == Again(kind):
        return TOLD_APART + 1
    here = isinstance(known, Instance) and known.kind is kind
    return here + max((_levels(part, kind) for part in parts_of(known)), default=0)


def told(known: Items | Entries) -> Known:
    """A container, if it holds anything that can be told, now or later."""
    match known:
        case Items(items=None, item=item):
            inside = [item]
        case Items(items=tuple() as items):
            if not items:
                return known
            inside = list(items)
        case Entries(items=entries):
            inside = [item for _, item in entries]
    if all(isinstance(item, Plain | Data | Never) or item == NONE for item in inside):
        return blurred(*inside)
    return known


def instances_of(known: Known) -> list[Instance]:
    """The objects that a value may be."""
    return [choice for choice in choices_of(known) if isinstance(choice, Instance)]


def text_of(made: Pack) -> Held | None:
    """The text of a local function that is made a value."""
    match made.elements:
        case (GlobalReference(binding=GlobalBinding(value=Held() as text)), *_):
            return text
    return None


def choices_of(known: Known) -> tuple[Known, ...]:
    """What a value may be, told apart."""
    return known.choices if isinstance(known, OneOf) else (known,)


def made_of(known: Known, functions: tuple[object, ...]) -> Known:
    """What is known of a value that is one of these local functions."""
    made: Known = NEVER
    for choice in choices_of(known):
        if isinstance(choice, Closed) and choice.function in functions:
            made = join(made, choice)
    return PLAIN if made == NEVER else made


def holds(known: Known, function: object) -> bool:
    """Whether a value is this local function, or holds one that is."""
    here = isinstance(known, Closed) and known.function == function
    return here or any(holds(part, function) for part in parts_of(known))


def holds_objects(known: Known) -> bool:
    """Whether a value is an object, or one of several."""
    return bool(instances_of(known))


def classes_in(known: Known, resolved: Callable[[Known], Known]) -> set[type]:
    """The classes of the objects that a value may be or hold; ``resolved`` looks into results of calls."""
    found: set[type] = set()
    pending: list[Known] = [known]
    while pending:
        made = resolved(pending.pop())
        if isinstance(made, Instance | Again | Foreign):
            found.add(made.kind)
        pending += parts_of(made)
    return found


def matters(known: Known) -> bool:
    """Whether a callee should be compiled for it: an object, or what holds one."""
    match known:
        case Plain() | Data() | Never() | Value() | Result():
            return False
        case Items(items=None, item=item):
            return matters(item)
        case Items(items=()):
            return False
    return True


def tells(known: Known) -> bool:
    """Whether anything can be decided by it."""
    return not isinstance(known, Plain | Data) and not (isinstance(known, Items) and known.items == ())


def join(a: Known, b: Known) -> Known:
    """What is known of a value that is either ``a`` or ``b``."""
    if a == b or b == NEVER:
        return a
    if a == NEVER:
        return b
    if isinstance(a, Plain) or isinstance(b, Plain) or (DATA in (a, b) and not {a, b} <= {DATA, NONE}):
        return blurred(a, b)
    choices: list[Known] = []
    for known in (a, b):
        for choice in choices_of(known):
            _include(choice, choices)
    return choices[0] if len(choices) == 1 else OneOf(tuple(choices))


def blurred(*several: Known) -> Known:
    """What is left to know of what is one of several that have nothing in common: which objects may be there."""
    kinds: set[type] = set()
    results: set[Result] = set()
    pending: list[Known] = list(several)
    while pending:
        known = pending.pop()
        match known:
            case Blurred():
                kinds |= known.kinds
                results |= known.results
            case Result():
                results.add(known)
            case Instance(kind=kind) | Again(kind=kind) | Foreign(kind=kind):
                kinds.add(kind)
        pending += parts_of(known)
    return Blurred(frozenset(kinds), frozenset(results)) if kinds or results else PLAIN


def _include(choice: Known, choices: list[Known]) -> None:
    for j, other in enumerate(choices):
        match choice, other:
            case Instance(), Instance() if choice.kind is other.kind:
                choices[j] = _instances(choice, other)
                return
            case Again(), Instance() if choice.kind is other.kind:
                return
            case Instance(), Again() if choice.kind is other.kind:
                choices[j] = choice
                return
            case Items(), Items() if choice.kind is other.kind:
                choices[j] = sequences(choice, other)
                return
            case Closed(), Closed() if choice.function == other.function:
                choices[j] = replace(other, held=join(other.held, choice.held))
                return
            case Entries(), Entries():
                names = [k for k, _ in choice.items]
                same = names == [k for k, _ in other.items]
                pairs = zip(choice.items, other.items) if same else ()
                choices[j] = Entries(tuple((k, join(m, n)) for (k, m), (_, n) in pairs))
                return
        if choice == other:
            return
    choices.append(choice)


def _instances(a: Instance, b: Instance) -> Known:
    names = [name for name, _ in a.fields] + [name for name, _ in b.fields if name not in dict(a.fields)]
    joined = []
    one, other = dict(a.fields), dict(b.fields)
    for name in names:
        absent = without(a.kind, name)
        known = join(one.get(name, absent), other.get(name, absent))
        joined.append((name, PLAIN if _depth(known) > 4 else known))
    return Instance(a.kind, tuple(joined))


def without(kind: type, name: str) -> Known:
    """What reading a field gives where an object has none: what its class holds, or never anything."""
    from srcgrad.frontend.meeting import known_of  # which joins what it finds

    for base in kind.__mro__:
        if name in vars(base):
            held = vars(base)[name]
            if isinstance(held, MemberDescriptorType):
                return NEVER
            return PLAIN if hasattr(type(held), "__get__") else known_of(held)
    return NEVER


def is_apart(held: Known, put: Known) -> bool:
    """Whether of a container, an object and a set these are two."""
    sorts = (Items | Entries, Instance, Bag)
    one, other = ([isinstance(known, sort) for sort in sorts] for known in (held, put))
    return any(one) and any(other) and one != other


def sequences(a: Items, b: Items) -> Items:
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        return Items(a.kind, tuple(map(join, a.items, b.items)))
    if a.items == ():
        return Items(a.kind, None, b.any())
    if b.items == ():
        return Items(a.kind, None, a.any())
    return Items(a.kind, None, join(a.any(), b.any()))


def _depth(known: Known) -> int:
    here = isinstance(known, Instance | Items | Entries)
    return here + max(map(_depth, parts_of(known)), default=0)
