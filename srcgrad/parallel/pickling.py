"""Pickles, and what they hold by name alone.

A function or class of a module is pickled as its name, and whoever reads it imports that name.  What goes so is noted,
so that it can be compared (``references``).

>>> noted([len, ValueError, dumps])[1] == []  # of Python and srcgrad
True
"""

from __future__ import annotations

import io
import pickle
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


def noted(value: Any, by_value: bool = False) -> tuple[bytes, list[Any]]:
    """A value pickled, and the user's functions and classes in it that are there as names, each once."""
    file, named = io.BytesIO(), dict[int, Any]()
    kind: Any = _by_value() if by_value else _Noting
    kind(file, named).dump(value)
    return file.getvalue(), list(named.values())


class _Noting(pickle.Pickler):
    def __init__(self, file: io.BytesIO, named: dict[int, Any]) -> None:
        super().__init__(file, protocol=5)
        self._named = named

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, _BY_NAME):
            _note(value, self._named)
        return NotImplemented


@cache
def _by_value() -> type:
    import cloudpickle

    class NotingByValue(cloudpickle.Pickler):  # type: ignore[misc,unused-ignore]
        def __init__(self, file: io.BytesIO, named: dict[int, Any]) -> None:
            super().__init__(file, protocol=5)
            self._named = named

        def reducer_override(self, value: Any) -> Any:
            made = super().reducer_override(value)
            if made is NotImplemented and isinstance(value, _BY_NAME):
                _note(value, self._named)
            return made

    return NotingByValue


def _note(value: Any, named: dict[int, Any]) -> None:
    if str(value.__module__).partition(".")[0] not in LIBRARIES:
        named[id(value)] = value
