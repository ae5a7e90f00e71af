"""Functions that read what the tests change on the client: workers have imported it as it was."""

import functools

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
