# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Models of objects that call: ``functools.partial``, cached functions, ``operator.itemgetter`` and its like.

>>> Partial(int, "11", base=2)(), Items(1, 0)("ab"), Attributes("real")(2.5), Method("upper")("a")
(3, ('b', 'a'), 2.5, 'A')
"""

from __future__ import annotations

import functools
import operator

from srcgrad.language.models.table import MADE, models, stands_for


# --- functools -------------------------------------------------------------------------------------------------------
@models(functools.partial)
def partial(func, /, *args, **keywords):
    def applied(*more, **others):
        return func(*args, *more, **{**keywords, **others})

    return applied


MADE[__name__, "applied"] = functools.partial


@stands_for(functools.partial)
class Partial:
    """Of an object that was there before, whose parts are known."""

    def __init__(self, func, /, *args, **keywords):
        self.func, self.args, self.keywords = func, args, keywords

    def __call__(self, /, *args, **keywords):
        return self.func(*_after(self.args, args), **_and(self.keywords, keywords))


def _after(some, others):
    return (*some, *others) if some and others else some or others


def _and(some, others):
    return {**some, **others} if some and others else some or others


@models(functools.wraps)
def wraps(wrapped, assigned=functools.WRAPPER_ASSIGNMENTS, updated=functools.WRAPPER_UPDATES):
    return Partial(functools.update_wrapper, wrapped=wrapped, assigned=assigned, updated=updated)


@models(functools.cache)
def cache(user_function, /):
    return Cached(user_function, None, False)


@models(functools.lru_cache)
def lru_cache(maxsize=128, typed=False):
    if callable(maxsize):
        return Cached(maxsize, 128, typed)
    return lambda function: Cached(function, maxsize, typed)


@stands_for(type(functools.cache(abs)))
class Cached:
    """The keys of what is held, and the results in the same order, the one that was asked for last at the end."""

    def __init__(self, user_function, maxsize, typed):
        self.__wrapped__ = user_function
        self.most, self.is_typed, self.keys, self.results = maxsize, typed, [], []

    def __call__(self, /, *args, **keywords):
        if self.most is not None and self.most < 1:
            return self.__wrapped__(*args, **keywords)
        named = tuple(keywords.items())
        is_alone = len(args) == 1 and not named and (type(args[0]) is int or type(args[0]) is str)  # 1, not 1.0
        kinds = tuple([type(part) for part in (*args, *keywords.values())]) if self.is_typed else is_alone
        key = (args, named, kinds)
        hash(key)
        for place in range(len(self.keys)):
            if self.keys[place] == key:
                result = self.results[place]
                if self.most is not None:
                    self.keys.append(self.keys.pop(place))
                    self.results.append(self.results.pop(place))
                return result
        result = self.__wrapped__(*args, **keywords)
        self.keys.append(key)
        self.results.append(result)
        if self.most is not None and len(self.keys) > self.most:
            self.keys.pop(0)
            self.results.pop(0)
        return result

    def cache_clear(self):
        self.keys.clear()
        self.results.clear()


# --- operator --------------------------------------------------------------------------------------------------------
@stands_for(operator.itemgetter)
class Items:
    def __init__(self, item, /, *items):
        self.first, self.rest = item, items

    def __call__(self, obj, /):
        if not self.rest:
            return obj[self.first]
        return (obj[self.first], *[obj[item] for item in self.rest])


@stands_for(operator.attrgetter)
class Attributes:
    def __init__(self, attr, /, *attrs):
        self.first, self.rest = attr, attrs

    def __call__(self, obj, /):
        if not self.rest:
            return _attribute(obj, self.first)
        return (_attribute(obj, self.first), *[_attribute(obj, name) for name in self.rest])


def _attribute(obj, path):
    if "." not in path:
        return getattr(obj, path)
    for name in path.split("."):
        obj = getattr(obj, name)
    return obj


@stands_for(operator.methodcaller)
class Method:
    def __init__(self, name, /, *args, **keywords):
        self.name, self.given, self.named = name, args, keywords

    def __call__(self, obj, /):
        return getattr(obj, self.name)(*self.given, **self.named)


@models(operator.not_)
def not_(a, /):
    return not a


@models(operator.truth)
def truth(a, /):
    return bool(a)


@models(operator.eq)
def eq(a, b, /):
    return a == b


@models(operator.ne)
def ne(a, b, /):
    return a != b


@models(operator.lt)
def lt(a, b, /):
    return a < b


@models(operator.le)
def le(a, b, /):
    return a <= b


@models(operator.gt)
def gt(a, b, /):
    return a > b


@models(operator.ge)
def ge(a, b, /):
    return a >= b


@models(operator.is_)
def is_(a, b, /):
    return a is b


@models(operator.is_not)
def is_not(a, b, /):
    return a is not b


@models(operator.contains)
def contains(a, b, /):
    return b in a


@models(operator.getitem)
def getitem(a, b, /):
    return a[b]


@models(operator.setitem)
def setitem(a, b, c, /):
    a[b] = c


@models(operator.delitem)
def delitem(a, b, /):
    del a[b]


@models(operator.countOf)
def count_of(a, b, /):
    found = 0
    for item in a:
        if item is b or item == b:
            found = found + 1
    return found


@models(operator.indexOf)
def index_of(a, b, /):
    at = 0
    for item in a:
        if item is b or item == b:
            return at
        at = at + 1
    raise ValueError("it is not among the items")


@models(operator.call)
def call(obj, /, *args, **kwargs):
    return obj(*args, **kwargs)
