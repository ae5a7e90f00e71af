"""Functions that read what the tests change on the client: workers have imported it as it was."""

import collections
import contextvars
import enum
import functools
import logging
import re
import threading
import weakref
from types import MappingProxyType

from tests.parallel import settings

TABLE = {"least": 2.0}
SCALE = 1.0


class Settings:
    power = 2


SETTINGS = Settings()


def above(shard):
    return int(shard > TABLE["least"])


def counted(w, shard):
    return w * w * above(shard)


def product(w, shard):
    return w * shard


def scaled(item):
    return item * SCALE


def joined(left, right):
    return left + SCALE * right


def raised(shard):
    return int(shard) ** SETTINGS.power


def powers(w, shard):
    return w * raised(shard)


def noting(notes, item):
    notes.append(item)
    return len(notes)


notes = functools.partial(noting, [])


class Level:
    """An object whose method reads a global of this module."""

    def of(self, shard):
        return int(shard * SCALE)


LEVEL = Level()
FUNCTIONS = {"scaled": scaled}


def by_object(w, shard):
    return w * LEVEL.of(shard)


def by_argument(w, shard, level):
    return w * level.of(shard)


def by_table(w, shard):
    return w * FUNCTIONS["scaled"](shard)


def loaded(item):
    return item * SCALE


def inner_read(shard):
    return int(shard * settings.inner.SHIFT)


def imported(shard):
    from tests.parallel.inner_settings import SHIFT

    return int(shard * SHIFT)


def by_name(shard):
    return int(shard * getattr(settings, "FACTOR"))


def first(shard):
    return int(shard)


def second(shard):
    return int(shard) + 1


ONE, OTHER, CHOSEN = first, second, first


def chosen(shard):
    return CHOSEN(shard) + 0 * (ONE(shard) + OTHER(shard))


def helped(w, shard, helper):
    return w * helper(shard)


def read_buffers(item):
    return item["held"][0] + min(item["kept"])


class Mode(enum.Flag):
    ONE = 1
    TWO = 2


class Wrapping:
    """A decorator that is an object."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function, self.scale = function, 2.0

    def __call__(self, item):
        return self.function(item) * self.scale


@Wrapping
def wrapped(item):
    return item


class Attributes(dict):
    pass


ATTRIBUTES = Attributes()
ATTRIBUTES.scale = 2.0


def of_attributes(item):
    return item * ATTRIBUTES.scale


@functools.singledispatch
def dispatched(item):
    return item


@dispatched.register
def _(item: float):
    return item * 2.0


class Node:
    """One of many that refer to each other, with what a class may hold that is no data."""

    log = logging.getLogger(__name__)
    lock = threading.Lock()
    alive = weakref.WeakSet()
    mode = Mode.ONE
    table = MappingProxyType({"a": 1.0})
    chain = collections.ChainMap({"names": {"a", "b", "c"}})
    context = contextvars.ContextVar("context")
    pattern = re.compile("a+")
    kinds = int | str

    def __init__(self):
        self.others = []
        self.value = 1.0


NODES = [Node() for _ in range(20)]
for node in NODES:
    node.others = NODES


def of_nodes(item):
    return item * NODES[0].value


def of_node(item):
    return item.value
