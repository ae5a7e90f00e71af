"""The abstract heap: what the objects hold that each allocation site stands for.

Enters: sites, and what is stored.  Leaves: a ``Heap``, which is never changed: each store gives another one, so that
branches share what they do not change.  A site that stands for one object is updated strongly (what is stored replaces
what was there); one that stands for many weakly (what is stored is added).

What came from outside are sites too, one for each memory.  A site of no class stands for *data*: objects of built-in
and library classes, which hold nothing but each other and run no code of the user's.

>>> from srcgrad.infer.values import at
>>> site, heap = Site(list, "held = [1.0]"), Heap({})
>>> heap = heap.allocated(site, Contents(parts=(exact(1.0),)))
>>> heap.updated(site, Contents(parts=(exact(2.0),)))[site].items  # one object: instead of what was there
2.0
>>> again = heap.allocated(site, Contents(parts=(exact(1.0),)))  # in a loop: many objects
>>> again.updated(site, Contents(parts=(exact(2.0),)))[site].items, heap.exposed([at(site)])[site].items
(1.0 | 2.0, any)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any

from srcgrad.infer.values import ANY, NEVER, Array, At, Atom, Bound, Value, exact, union


@dataclass(frozen=True)
class Site:
    """Where objects are made: a statement with the call that it runs in, or an object from outside.

    ``kind`` is their class, None of data.
    """

    kind: type | None
    origin: object
    context: object = None
    name: str = ""
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.kind, self.origin, self.context, self.name)))

    def __hash__(self) -> int:  # sites are looked up more often than anything else
        return self._hash

    def __str__(self) -> str:
        return f"{'data' if self.kind is None else self.kind.__name__}{self.name and ' ' + self.name}"


@dataclass(frozen=True)
class Contents:
    """What the objects of a site hold.

    ``parts`` are the items of a sequence, one by one, ``entries`` those of a mapping by their keys, where all of them
    are known; ``rest`` are items and keys otherwise.  ``apart`` are the keys and the values of which ``rest`` is the
    union, where they are told apart.  ``fields`` are attributes, ``others`` stands for every attribute that is not
    listed.  ``sure`` are those that each object has, ``order`` all of them, as they were set first, and None where that
    is not known.  ``single``: the site stands for one object.
    """

    single: bool = True
    parts: tuple[Value, ...] | None = None
    entries: tuple[tuple[Any, Value], ...] | None = None
    rest: Value = NEVER
    fields: Mapping[str, Value] = field(default_factory=dict)
    others: Value = NEVER
    apart: tuple[Value, Value] | None = None
    sure: frozenset[str] = frozenset()
    order: tuple[str, ...] | None = ()

    def __post_init__(self) -> None:
        if self.apart is not None and (self.entries is not None or not self.rest or union(*self.apart) != self.rest):
            object.__setattr__(self, "apart", None)  # what was put in since is either

    @cached_property
    def items(self) -> Value:
        """One of the items, of a mapping one of the values or keys."""
        return union(self.rest, *(self.parts or ()), *(() if self.entries is None else (self.keys, self.held)))

    @cached_property
    def keys(self) -> Value:
        """One of the keys of a mapping."""
        if self.entries is not None:
            return union(*(exact(key) for key, _ in self.entries))
        return self.rest if self.apart is None else self.apart[0]

    @cached_property
    def held(self) -> Value:
        """One of the values of a mapping."""
        if self.entries is not None:
            return union(*(value for _, value in self.entries))
        return self.rest if self.apart is None else self.apart[1]

    @property
    def sides(self) -> tuple[Value, Value] | None:
        """The keys and the values of a mapping; None where they are not told apart."""
        is_empty = self.parts is None and not self.rest
        return (self.keys, self.held) if self.entries is not None or is_empty else self.apart

    def with_sides(self, keys: Value, values: Value) -> Contents:
        """With further entries, of which it is not known what key has which value."""
        rest, sides = union(self.items, keys, values), self.sides
        apart = None if sides is None else (union(sides[0], keys), union(sides[1], values))
        return replace(self, parts=None, entries=None, rest=rest if apart is None else union(*apart), apart=apart)

    def get(self, name: str) -> Value:
        return self.fields.get(name, self.others)

    def mapped(self, inside: Callable[[Value], Value]) -> Contents:
        """With other values in the place of items and fields."""
        return replace(
            self,
            parts=None if self.parts is None else tuple(map(inside, self.parts)),
            entries=None if self.entries is None else tuple((key, inside(value)) for key, value in self.entries),
            rest=inside(self.rest),
            apart=None if self.apart is None else (inside(self.apart[0]), inside(self.apart[1])),
            fields={name: inside(held) for name, held in self.fields.items()},
            others=inside(self.others),
        )

    def values(self) -> Iterator[Value]:
        yield self.items
        yield from self.fields.values()
        yield self.others


UNKNOWN = Contents(single=False, rest=ANY, others=ANY)  # what unknown code has seen


class Heap:
    """Sites and their contents.

    ``seen`` are the sites that unknown code may hold, ``before`` what objects from outside held before the program ran.
    """

    def __init__(
        self,
        before: Mapping[Site, Contents],
        contents: Mapping[Site, Contents] | None = None,
        seen: frozenset[Site] = frozenset(),
    ) -> None:
        self._before = before
        self._contents = dict(contents or {})
        self._reached: dict[tuple[int, ...], tuple[tuple[Value, ...], frozenset[Site], list[Value]]] = {}
        self.seen = seen

    def __getitem__(self, site: Site) -> Contents:
        if site in self.seen:
            return UNKNOWN
        return self._contents.get(site) or self._before.get(site, UNKNOWN)

    def is_seen(self, site: Site) -> bool:
        return site in self.seen

    def __iter__(self) -> Iterator[Site]:
        return iter(self._contents)

    def items(self) -> Iterator[tuple[Site, Contents]]:
        """The sites, and what they hold as far as unknown code has not seen them."""
        return iter(self._contents.items())

    def allocated(self, site: Site, contents: Contents) -> Heap:
        """With a new object of a site; where there was one before, the site stands for many from now on."""
        if site in self._contents:
            contents = replace(joined(self._contents[site], contents), single=False)
        return self.with_all({site: contents})

    def updated(self, site: Site, contents: Contents) -> Heap:
        """With other contents: instead of those that were there if the site stands for one object, besides otherwise.
        """
        return self.all_updated({site: contents})

    def all_updated(self, contents: Mapping[Site, Contents]) -> Heap:
        """The same of several sites."""
        made: dict[Site, Contents] = {}
        for site, new in contents.items():
            before = self[site]
            if not before.single:
                new = replace(joined(before, new), single=False)
            if new != before:
                made[site] = new
        return self.with_all(made) if made else self

    def with_all(self, contents: Mapping[Site, Contents]) -> Heap:
        """With these contents, instead of those that were there."""
        return Heap(self._before, {**self._contents, **contents}, self.seen)

    def reachable(self, roots: Iterable[Value]) -> tuple[frozenset[Site], list[Value]]:
        """The sites that can be reached from values, and the values that are held on the way."""
        given = tuple(roots)
        known = self._reached.get(ids := tuple(map(id, given)))  # one index is looked at for each of many objects
        if known is None:
            known = self._reached[ids] = (given, *self._reachable(given))
        return known[1], known[2]

    def _reachable(self, roots: Iterable[Value]) -> tuple[frozenset[Site], list[Value]]:
        found: set[Site] = set()
        pending, held = list(roots), list[Value]()
        met: set[int] = set()  # one value is often held by all that can be reached from it
        atoms: set[Atom] = set()
        while pending:
            value = pending.pop()
            if id(value) in met:
                continue
            met.add(id(value))
            held.append(value)
            new = value.atoms - atoms
            atoms |= new
            for site in _sites(new):
                if site not in found:
                    found.add(site)
                    if site not in self.seen:
                        pending += [part for part in self[site].values() if part.atoms or part.is_any]
        return frozenset(found), held

    def __contains__(self, site: Site) -> bool:
        return site in self._contents

    def own(self, site: Site) -> Contents:
        """What a site holds as far as unknown code has not changed it."""
        return self._contents[site]

    def part(self, sites: Iterable[Site], seen: Iterable[Site]) -> Heap:
        """These sites alone."""
        contents = {site: self._contents[site] for site in sites if site in self._contents}
        return Heap(self._before, contents, frozenset(seen))

    def is_same(self, other: Heap) -> bool:
        return self.seen == other.seen and self._contents == other._contents

    def exposed(self, roots: Iterable[Value]) -> Heap:
        """Where unknown code has seen what is reachable from values: it may hold anything, for good."""
        seen = self.seen | self.reachable(roots)[0]
        return self if seen == self.seen else Heap(self._before, self._contents, seen)

    def join(self, other: Heap) -> Heap:
        """One of two; an object that one of them lacks is made in the other one alone."""
        if self is other:
            return self
        mine, theirs, before = self._contents, other._contents, self._before
        made = {**mine, **theirs}
        for site, one in mine.items():
            if (two := theirs.get(site)) is not one:  # most are the same
                two = two or before.get(site)
                made[site] = one if two is None or one == two else joined(one, two)
        for site, new in theirs.items():
            if site not in mine and (old := before.get(site)) is not None and old != new:
                made[site] = joined(old, new)
        return Heap(self._before, made, self.seen | other.seen)

    def __le__(self, other: Heap) -> bool:
        """Whether everything that this stands for is in the other one."""
        if not self.seen <= other.seen:
            return False
        return self is other or all(
            site in other.seen or (site in other._contents or site in self._before) and within(contents, other[site])
            for site, contents in self._contents.items()
        )


def sites_of(value: Value) -> Iterator[Site]:
    """The sites that a value refers to itself."""
    return _sites(value.atoms)


def _sites(atoms: Iterable[Atom]) -> Iterator[Site]:
    for atom in atoms:
        if isinstance(atom, At | Array):
            yield atom.site
        elif isinstance(atom, Bound):
            yield from _sites(atom.receiver.atoms)


def joined(one: Contents, other: Contents) -> Contents:
    """The contents of one of two objects."""
    if one is other:
        return one
    rest = union(one.rest, other.rest)
    parts, entries, apart = None, None, None
    if one.parts is not None and other.parts is not None and len(one.parts) == len(other.parts):
        parts = tuple(map(union, one.parts, other.parts))
    else:
        rest = union(rest, *(one.parts or ()), *(other.parts or ()))
    listed = [None if c.entries is None else [key for key, _ in c.entries] for c in (one, other)]
    if listed[0] is not None and listed[0] == listed[1]:
        entries = tuple((k, union(a, b)) for (k, a), (_, b) in zip(one.entries or (), other.entries or (), strict=True))
    elif one.sides is not None and other.sides is not None:
        keys, values = map(union, one.sides, other.sides)
        rest, apart = union(rest, keys, values), (keys, values)
    else:
        for contents in (one, other):
            if contents.entries is not None:
                rest = union(rest, contents.keys, contents.held)
    names = {**one.fields, **other.fields}
    fields = {name: union(one.get(name), other.get(name)) for name in names}
    others = union(one.others, other.others)
    sure, order = one.sure & other.sure, one.order if one.order == other.order else None
    return Contents(one.single and other.single, parts, entries, rest, fields, others, apart, sure, order)


def within(one: Contents, other: Contents) -> bool:
    """Whether the contents of one are among those that the other stands for."""
    if other.single and not one.single:
        return False
    return joined(one, other) == other


def together(each: Sequence[tuple[Value, Heap] | None]) -> tuple[Value, Heap] | None:
    """What one of several ways gives, and the heap after it; None where none of them comes back."""
    found = [made for made in each if made is not None]
    if not found:
        return None
    heaps = {id(heap): heap for _, heap in found}  # most ways change nothing
    return union(*(value for value, _ in found)), reduce(Heap.join, heaps.values())
