"""What ``help`` says of a derivative.

>>> def loss(w, x, rate=0.1):
...     'The mean of squared errors.'
>>> print(text("Gradient", "loss", ("w",), loss.__doc__))
Gradient of loss with respect to w.
<BLANKLINE>
In a container, integers, text and None have no derivative: there the result has None.
<BLANKLINE>
The mean of squared errors.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Protocol


class Documented(Protocol):
    """What ``__doc__`` is made from."""

    def _help(self) -> str: ...


class Help:
    """``__doc__`` of the objects of a class, made when it is read; the class has its own."""

    def __init__(self, of_class: str) -> None:
        self.of_class = of_class

    def __get__(self, instance: Documented | None, owner: type) -> str:
        return self.of_class if instance is None else instance._help()


def text(what: str, name: str, wanted: Sequence[str], doc: str | None, taken: str | None = None) -> str:
    """``what`` of the function ``name`` with respect to parameters, what it takes if not the arguments of the function,
    and the docstring of that."""
    lines = [
        f"{what} of {name} with respect to {' and '.join(filter(None, (', '.join(wanted[:-1]), wanted[-1])))}.",
        "",
        *([taken] if taken else []),
        "In a container, integers, text and None have no derivative: there the result has None.",
    ]
    return "\n".join([*lines, *(["", inspect.cleandoc(doc)] if doc else [])])
