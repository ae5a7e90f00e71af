"""Pickles, and what they hold by name alone.

A function or class of a module is pickled as its name, and whoever reads it imports that name.  What goes so is noted,
so that it can be compared (``references``).

>>> noted([len, ValueError, dumps]).named  # of Python and srcgrad
{}
"""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass, field
from functools import cache
from types import FunctionType
from typing import Any

from srcgrad.runtime.objects import LIBRARIES

_BY_NAME = FunctionType | type


def dumps(value: Any, by_value: bool) -> bytes:
    """A value pickled; ``by_value`` with what no module defines, as Dask and loky pickle."""
    if by_value:
        import cloudpickle

        by_cloudpickle: bytes = cloudpickle.dumps(value, protocol=5)
        return by_cloudpickle
    return pickle.dumps(value, protocol=5)


@dataclass
class Noted:
    """A pickled value, with the user's functions and classes that it holds as names, and the functions that it holds as
    code, which read modules by their names."""

    data: bytes = b""
    named: dict[int, Any] = field(default_factory=dict)
    written: dict[int, FunctionType] = field(default_factory=dict)


def noted(value: Any, by_value: bool = False) -> Noted:
    """A value pickled, with what it refers to."""
    file, found = io.BytesIO(), Noted()
    kind: Any = _by_value() if by_value else _Noting
    kind(file, found).dump(value)
    found.data = file.getvalue()
    return found


class _Noting(pickle.Pickler):
    def __init__(self, file: io.BytesIO, found: Noted) -> None:
        super().__init__(file, protocol=5)
        self._found = found

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, _BY_NAME):
            _note(value, self._found)
        return NotImplemented


@cache
def _by_value() -> type:
    import cloudpickle

    class NotingByValue(cloudpickle.Pickler):  # type: ignore[misc,unused-ignore]
        def __init__(self, file: io.BytesIO, found: Noted) -> None:
            super().__init__(file, protocol=5)
            self._found = found

        def reducer_override(self, value: Any) -> Any:
            made = super().reducer_override(value)
            if made is NotImplemented and isinstance(value, _BY_NAME):
                _note(value, self._found)
            elif isinstance(value, FunctionType):
                self._found.written[id(value)] = value
            return made

    return NotingByValue


def _note(value: Any, found: Noted) -> None:
    if str(value.__module__).partition(".")[0] not in LIBRARIES:
        found.named[id(value)] = value
