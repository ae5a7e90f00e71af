# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Model of ``np.nditer`` over one array: views of its elements, in the order of the memory.

>>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
>>> elements = nditer(x, ["multi_index"], ["readwrite"])
>>> for item in elements:
...     item[...] = item * sum(elements.multi_index)
>>> x
array([[0., 2.],
       [3., 8.]])
"""

from __future__ import annotations

import numpy as np

from srcgrad.language.models.table import models, stands_for, unknown
from srcgrad.runtime.places import place_in_memory


@models(np.nditer)
def nditer(
    op, flags=None, op_flags=None, op_dtypes=None, order="K", casting="safe", op_axes=None, itershape=None, buffersize=0
):
    if order != "K" or not (op_dtypes is op_axes is itershape is None):
        unknown()
    is_fixed = op_flags is None or op_flags == ["readonly"] or op_flags == [["readonly"]]
    if not is_fixed and op_flags != ["readwrite"] and op_flags != [["readwrite"]]:
        unknown()
    if not isinstance(op, np.ndarray):
        unknown()  # a list is of several arrays
    if not np.size(op):
        raise ValueError("Iteration of zero-sized operands is not enabled")
    if is_fixed and (flags is None or flags == []):
        return elements(op, int(np.size(op)))
    return Walk(op, is_fixed) if flags is None or flags == [] or flags == ["multi_index"] else unknown()


@stands_for(np.nditer)
def elements(array, count):
    for at in range(count):
        yield element(array, at, True)


def element(array, at, is_fixed):
    view = array[place_in_memory(array, at) + (Ellipsis,)]  # which keeps it an array
    return np.broadcast_to(view, ()) if is_fixed else view


class Walk:
    __srcgrad_stands_for__ = np.nditer

    def __init__(self, array, is_fixed):
        self.array, self.is_fixed, self.at, self.is_closed = array, is_fixed, 0, False
        self.given = 0  # how many places to go on when the next element is asked for: one when this one was given

    def __iter__(self):
        while not self.is_closed and self.at + self.given < np.size(self.array):
            self.at = self.at + self.given
            self.given = 1
            yield element(self.array, self.at, self.is_fixed)
        self.at = np.size(self.array)

    def __getitem__(self, which):
        self.require_open()
        return element(self.array, self.at, self.is_fixed) if which == 0 else unknown()

    def require_open(self):
        if self.is_closed:
            raise ValueError("Iterator is past the end")

    @property
    def multi_index(self):
        self.require_open()
        return place_in_memory(self.array, self.at)

    @property
    def finished(self):
        return self.at >= np.size(self.array)

    def iternext(self):
        self.at = np.size(self.array) if self.is_closed else self.at + 1
        return self.at < np.size(self.array)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, place):
        self.is_closed = True
