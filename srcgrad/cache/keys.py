"""Under which key a program is kept: what is asked, of which function, for which kinds of arguments, by which versions.

What the function reads is no part of the key: that is known when it is compiled, and stands among the facts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

import srcgrad
from srcgrad.cache.describing import Describing, Unportable
from srcgrad.cache.digests import sha256
from srcgrad.cache.folder import FORMAT

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: Rooms that neither compile a program nor run in one.
_APART = frozenset({"eager", "inspect", "fuzz", "parallel", "refusals", "data", "__pycache__"})


def key_of(asked: tuple[Any, ...], met: Describing) -> str:
    """The key for what is asked, in which the function and the kinds of its arguments stand as objects."""
    told = repr((environment(), met.of(asked, exact=True)))
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


@cache
def environment() -> tuple[object, ...]:
    """What else decides what is compiled: Python, NumPy, srcgrad, the machine."""
    machine = os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")
    python = sys.version, sys.implementation.cache_tag, sys.flags.optimize, sys.prefix
    return FORMAT, *python, sys.platform, machine, np.__version__, np.__file__, srcgrad.__version__, text_of_srcgrad()


def text_of_srcgrad() -> str:
    """A digest of the files of the package, by name, size and time.

    Raises ``Unportable`` where one is newer than the process: modules may have been loaded before or after that.
    """
    found = sorted(_files(_PACKAGE, ""))
    if found and max(time for *_, time in found) > srcgrad.loaded_at:
        raise Unportable("srcgrad was changed since it was imported")
    return sha256(repr((_PACKAGE, found)).encode()).hexdigest()


def is_unchanged() -> bool:
    """Whether srcgrad's files are those of which the key was made."""
    try:
        return text_of_srcgrad() == environment()[-1]
    except (Unportable, OSError):
        return False


def _files(folder: str, inside: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                told = entry.stat()
                yield inside + entry.name, told.st_size, told.st_mtime_ns
            elif entry.name not in _APART and "." not in entry.name and entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, f"{inside}{entry.name}/")
