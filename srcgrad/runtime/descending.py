"""Recursion over nested values without Python's stack, whose limit a linked list of a thousand nodes would meet.

>>> @descending
... def depth(x):
...     return 1 + (yield (x[0],)) if x else 0
>>> nested = []
>>> for _ in range(5000):
...     nested = [nested]
>>> depth(nested)
5000
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Generator
from typing import Any, ParamSpec, TypeVar

import numpy as np

from srcgrad.runtime.objects import is_object

P = ParamSpec("P")
R = TypeVar("R")

#: What a step yields are the arguments of a recursive call; what it is sent is the result of that.
Step = Generator[tuple[Any, ...], Any, R]


def descending(step: Callable[P, Step[R]]) -> Callable[P, R]:
    """The function that is recursive by ``yield arguments`` in place of ``itself(*arguments)``."""

    begun: Callable[..., Step[R]] = step

    @functools.wraps(step)
    def walk(*arguments: P.args, **named: P.kwargs) -> R:
        open_calls = [step(*arguments, **named)]
        answer: Any = None
        while open_calls:
            try:
                inner: Any = open_calls[-1].send(answer)
            except StopIteration as ended:
                open_calls.pop()
                answer = ended.value
            else:
                open_calls.append(begun(*inner))
                answer = None
        return answer  # type: ignore[no-any-return]

    return walk


#: The classes of most leaves, known at once.
_PLAIN = frozenset({float, int, complex, bool, type(None), str, np.ndarray, np.float64})


def is_nested(x: Any) -> bool:
    """Whether a value holds others."""
    return type(x) not in _PLAIN and (isinstance(x, tuple | list | dict | deque) or is_object(x))
