# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""A set of objects that equal themselves alone, which programs have in place of a ``set`` of such.

What a set holds has no derivative; what an ``ObjectSet`` holds are values of a dict, by their identity, so that the
fields of its objects have theirs.  It is gone over in the order in which the objects were put in; that of a ``set`` is
by their addresses, on which no program can rely.

>>> one, two = object(), object()
>>> held = ObjectSet([one, two, one])
>>> len(held), one in held, len(held - ObjectSet([two])), held == ObjectSet([two, one])
(2, True, 1, True)
"""

from __future__ import annotations


class ObjectSet:
    __srcgrad_stands_for__ = set  # its objects are looked into, as those of the user's classes are

    def __init__(self, items=(), /):
        self.held = {}
        for item in items:
            self.held[id(item)] = item

    def add(self, item, /):
        self.held[id(item)] = item

    def discard(self, item, /):
        if id(item) in self.held:
            del self.held[id(item)]

    def remove(self, item, /):
        if id(item) not in self.held:
            raise KeyError("it is not in the set")
        del self.held[id(item)]

    def pop(self, /):
        if not self.held:
            raise KeyError("pop from an empty set")
        return self.held.popitem()[1]

    def clear(self, /):
        self.held.clear()

    def copy(self, /):
        return ObjectSet(self)

    def __copy__(self):
        return ObjectSet(self)

    def __contains__(self, item, /):
        return id(item) in self.held

    def __iter__(self):
        return iter(self.held.values())

    def __len__(self):
        return len(self.held)

    # --- with others -------------------------------------------------------------------------------------------------
    def update(self, /, *others):
        for other in others:
            for item in other:
                self.held[id(item)] = item

    def union(self, /, *others):
        made = ObjectSet(self)
        for other in others:
            for item in other:
                made.held[id(item)] = item
        return made

    def difference(self, /, *others):
        made = ObjectSet(self)
        for other in others:
            for item in other:
                if id(item) in made.held:
                    del made.held[id(item)]
        return made

    def difference_update(self, /, *others):
        for other in others:
            for item in ObjectSet(other):
                if id(item) in self.held:
                    del self.held[id(item)]

    def intersection(self, /, *others):
        made = ObjectSet(self)
        for other in others:
            held = ObjectSet(other).held
            for item in ObjectSet(made):
                if id(item) not in held:
                    del made.held[id(item)]
        return made

    def intersection_update(self, /, *others):
        self.held = self.intersection(*others).held

    def symmetric_difference_update(self, other, /):
        self.held = self.symmetric_difference(other).held

    def symmetric_difference(self, other, /):
        made = ObjectSet(self)
        for item in ObjectSet(other):
            if id(item) in self.held:
                del made.held[id(item)]
            else:
                made.held[id(item)] = item
        return made

    def isdisjoint(self, other, /):
        for item in other:
            if id(item) in self.held:
                return False
        return True

    def issubset(self, other, /):
        return self <= ObjectSet(other)

    def issuperset(self, other, /):
        for item in other:
            if id(item) not in self.held:
                return False
        return True

    def __or__(self, other, /):
        return self.union(other) if isinstance(other, ObjectSet) else NotImplemented

    def __and__(self, other, /):
        return self.intersection(other) if isinstance(other, ObjectSet) else NotImplemented

    def __sub__(self, other, /):
        return self.difference(other) if isinstance(other, ObjectSet) else NotImplemented

    def __xor__(self, other, /):
        return self.symmetric_difference(other) if isinstance(other, ObjectSet) else NotImplemented

    def __ior__(self, other, /):
        if not isinstance(other, ObjectSet):
            return NotImplemented
        self.update(other)
        return self

    def __isub__(self, other, /):
        if not isinstance(other, ObjectSet):
            return NotImplemented
        self.difference_update(other)
        return self

    def __iand__(self, other, /):
        if not isinstance(other, ObjectSet):
            return NotImplemented
        self.held = self.intersection(other).held
        return self

    def __ixor__(self, other, /):
        if not isinstance(other, ObjectSet):
            return NotImplemented
        self.held = self.symmetric_difference(other).held
        return self

    def __le__(self, other, /):
        if not isinstance(other, ObjectSet):
            return NotImplemented
        for item in self.held.values():
            if item not in other:
                return False
        return True

    def __lt__(self, other, /):
        if not isinstance(other, ObjectSet):
            return NotImplemented
        return len(self) < len(other) and self <= other

    def __ge__(self, other, /):
        return other <= self if isinstance(other, ObjectSet) else NotImplemented

    def __gt__(self, other, /):
        return other < self if isinstance(other, ObjectSet) else NotImplemented

    def __eq__(self, other, /):
        return isinstance(other, ObjectSet) and len(self) == len(other) and self <= other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        return "{" + ", ".join([repr(item) for item in self.held.values()]) + "}" if self.held else "set()"
