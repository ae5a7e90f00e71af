# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"
"""Models of ``functools.reduce``, ``map``, ``filter`` and ``itertools``.

What an original does when it is called, its model does then; what it does for each item, a generator does.

>>> list(chain("ab", "c")), reduce(lambda a, b: a * b, [2, 3, 4])
(['a', 'b', 'c'], 24)
"""

from __future__ import annotations

import functools
import itertools
import operator

from srcgrad.language.asked import functions_in
from srcgrad.language.models.table import Absent, models, stands_for, unknown


def contained(searched, item):
    """``in`` of an object without ``__contains__``."""
    for each in searched:
        if each is item or each == item:
            return True
    return False


def turned(sequence):
    """``reversed`` of an object without ``__reversed__``."""
    return indexed_backwards(sequence, len(sequence))


@stands_for(reversed)
def indexed_backwards(sequence, count):
    for behind in range(count):
        try:
            item = sequence[count - 1 - behind]
        except (IndexError, StopIteration):
            return
        yield item


class _Sequence:
    def __getitem__(self, at): ...


#: The class of iterators that index an object.
INDEXING = type(iter(_Sequence()))


@stands_for(INDEXING)
def indexed(sequence):
    """``iter`` of an object that has ``__getitem__`` and no ``__iter__``."""
    at = 0
    while True:
        try:
            item = sequence[at]
        except (IndexError, StopIteration):
            return
        yield item
        at = at + 1


# --- functools -------------------------------------------------------------------------------------------------------
@models(functools.reduce)
def reduce(function, sequence, initial=Absent, /):
    count = functions_in(sequence)
    if 0 < count <= 8:  # what each step makes of functions is another one
        total = sequence[0] if initial is Absent else function(initial, sequence[0])
        if count > 1 and len(sequence) > 1:
            total = function(total, sequence[1])
        if count > 2 and len(sequence) > 2:
            total = function(total, sequence[2])
        if count > 3 and len(sequence) > 3:
            total = function(total, sequence[3])
        if count > 4 and len(sequence) > 4:
            total = function(total, sequence[4])
        if count > 5 and len(sequence) > 5:
            total = function(total, sequence[5])
        if count > 6 and len(sequence) > 6:
            total = function(total, sequence[6])
        if count > 7 and len(sequence) > 7:
            total = function(total, sequence[7])
        return total if len(sequence) == count else unknown()
    items = iter(sequence)
    total = next(items, Absent) if initial is Absent else initial
    if total is Absent:
        raise TypeError("reduce() of empty iterable with no initial value")
    for item in items:
        total = function(total, item)
    return total


# --- itertools -------------------------------------------------------------------------------------------------------
@models(itertools.accumulate)
def accumulate(iterable, func=None, *, initial=None):
    return accumulated(iter(iterable), operator.add if func is None else func, initial)


@stands_for(itertools.accumulate)
def accumulated(items, function, initial):
    total = next(items, Absent) if initial is None else initial
    if total is Absent:
        return
    yield total
    for item in items:
        total = function(total, item)
        yield total


@models(itertools.chain)
@stands_for(itertools.chain)
def chain(*iterables):
    for iterable in iterables:
        yield from iterable


@models(itertools.chain.from_iterable)
def chain_from_iterable(iterable, /):
    return chained(iter(iterable))


@stands_for(itertools.chain)
def chained(iterables):
    for iterable in iterables:
        yield from iterable


@models(itertools.compress)
def compress(data, selectors):
    return compressed(zip(iter(data), iter(selectors)))


@stands_for(itertools.compress)
def compressed(pairs):
    for item, chosen in pairs:
        if chosen:
            yield item


@models(itertools.count)
@stands_for(itertools.count)
def count(start=0, step=1):
    at = start
    while True:
        yield at
        at = at + step


@models(itertools.cycle)
def cycle(iterable, /):
    return cycled(iter(iterable))


@stands_for(itertools.cycle)
def cycled(items):
    seen = []
    for item in items:
        seen.append(item)
        yield item
    while seen:
        for item in seen:
            yield item


@models(itertools.dropwhile)
def dropwhile(predicate, iterable, /):
    return dropped(predicate, iter(iterable))


@stands_for(itertools.dropwhile)
def dropped(predicate, items):
    drops = True
    for item in items:
        drops = drops and bool(predicate(item))
        if not drops:
            yield item


@models(itertools.takewhile)
def takewhile(predicate, iterable, /):
    return taken(predicate, iter(iterable))


@stands_for(itertools.takewhile)
def taken(predicate, items):
    for item in items:
        if not predicate(item):
            return
        yield item


@models(filter)
def filter_(function, iterable, /):
    return filtered(function, iter(iterable))


@stands_for(filter)
def filtered(function, items):
    for item in items:
        if item if function is None else function(item):
            yield item


@models(itertools.filterfalse)
def filterfalse(function, iterable, /):
    return left_out(function, iter(iterable))


@stands_for(itertools.filterfalse)
def left_out(function, items):
    for item in items:
        if not (item if function is None else function(item)):
            yield item


@models(map)
def map_(function, iterable, /, *iterables):
    if iterables:
        return mapped_together(function, zip(iterable, *iterables))
    return mapped(function, iter(iterable))


@stands_for(map)
def mapped(function, items):
    for item in items:
        yield function(item)


@stands_for(map)
def mapped_together(function, items):
    for item in items:
        yield function(*item)


@models(itertools.starmap)
def starmap(function, iterable, /):
    return star_mapped(function, iter(iterable))


@stands_for(itertools.starmap)
def star_mapped(function, items):
    for item in items:
        yield function(*item)


@models(itertools.pairwise)
def pairwise(iterable, /):
    return paired(iter(iterable))


@stands_for(itertools.pairwise)
def paired(items):
    before = next(items, Absent)
    if before is Absent:
        return
    for item in items:
        yield before, item
        before = item


@models(itertools.islice)
def islice(iterable, *places):
    given = slice(*places)
    start = 0 if given.start is None else operator.index(given.start)
    step = 1 if given.step is None else operator.index(given.step)
    stop = None if given.stop is None else operator.index(given.stop)
    if start < 0 or step < 1 or stop is not None and stop < 0:
        raise ValueError("islice() takes places that are None or not negative, and a positive step")
    return sliced(iter(iterable), start, stop, step)


@stands_for(itertools.islice)
def sliced(items, start, stop, step):
    at, wanted = 0, start
    while stop is None or at < max(stop, start):
        item = next(items, Absent)
        if item is Absent:
            return
        if at == wanted and (stop is None or at < stop):
            wanted = wanted + step
            yield item
        at = at + 1


@models(itertools.repeat)
def repeat(object, times=Absent):
    return repeated(object, None if times is Absent else operator.index(times))


@stands_for(itertools.repeat)
def repeated(item, times):
    at = 0
    while times is None or at < times:
        yield item
        at = at + 1


@models(itertools.product)
def product(*iterables, repeat=1):
    pools = [tuple(iterable) for iterable in iterables] * repeat if repeat else []
    strides, count = [], 1
    for pool in pools[::-1]:
        strides.append(count)
        count = count * len(pool)
    return products(pools, strides[::-1], range(count))


@stands_for(itertools.product)
def products(pools, strides, places):
    for at in places:
        yield tuple([pool[at // stride % len(pool)] for pool, stride in zip(pools, strides)])


@models(itertools.permutations)
def permutations(iterable, r=None):
    pool = tuple(iterable)
    return permuted(pool, _size(len(pool) if r is None else r))


@stands_for(itertools.permutations)
def permuted(pool, r):
    pending = [[]]
    while pending:
        places = pending.pop()
        if len(places) == r:
            yield tuple([pool[at] for at in places])
        elif len(places) < r:
            pending.extend([[*places, at] for at in reversed(range(len(pool))) if at not in places])


@models(itertools.combinations)
def combinations(iterable, r):
    return combined(tuple(iterable), _size(r))


@models(itertools.combinations_with_replacement)
def combinations_with_replacement(iterable, r):
    return repeatedly_combined(tuple(iterable), _size(r))


@stands_for(itertools.combinations)
def combined(pool, r):
    pending = [[]]
    while pending:
        places = pending.pop()
        if len(places) == r:
            yield tuple([pool[at] for at in places])
        else:
            pending.extend(_longer(places, len(pool), 1))


@stands_for(itertools.combinations_with_replacement)
def repeatedly_combined(pool, r):
    pending = [[]]
    while pending:
        places = pending.pop()
        if len(places) == r:
            yield tuple([pool[at] for at in places])
        else:
            pending.extend(_longer(places, len(pool), 0))


def _longer(places, count, apart):
    first = places[-1] + apart if places else 0
    return [[*places, at] for at in reversed(range(first, count))]


def _size(r):
    if operator.index(r) < 0:
        raise ValueError("r must be non-negative")
    return operator.index(r)


@models(itertools.zip_longest)
def zip_longest(*iterables, fillvalue=None):
    return zipped([iter(iterable) for iterable in iterables], fillvalue)


@stands_for(itertools.zip_longest)
def zipped(sources, filling):
    going = [True] * len(sources)
    while True:
        row = []
        for place, source in enumerate(sources):
            if going[place]:
                item = next(source, Absent)
                going[place] = item is not Absent
            row.append(item if going[place] else filling)
        if not any(going):
            return
        yield tuple(row)
