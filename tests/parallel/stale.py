"""Functions that read what the tests change on the client: workers have imported it as it was."""

import functools

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
