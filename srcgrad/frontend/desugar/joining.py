"""What ``np.r_`` and ``np.c_`` join: the items of their index, where ranges are spelled as calls.

Enters: an index.  Leaves: its items::

    np.r_[0:3, x]        np.arange(0, 3), x
    np.r_[0:1:5j]        np.linspace(0, 1, 5)
    np.r_["0,2", x]      None: a directive says how they are joined
"""

from __future__ import annotations

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.desugar.build import call, constant, placed
from srcgrad.syntax.globals import GlobalBinding, reference

#: What an index of these objects of NumPy means: the items are joined, by number of the object.
JOINING = {id(np.r_): runtime.join_rows, id(np.c_): runtime.join_columns}


def items_joined(index: gast.expr) -> list[gast.expr] | None:
    """What ``np.r_[index]`` joins, ranges spelled as calls; None where it may be given a directive."""
    items: list[gast.expr] = []
    for item in index.elts if isinstance(index, gast.Tuple) else [index]:
        match item:
            case gast.Slice(lower=start, upper=stop, step=gast.Constant(value=complex() as count)) if stop is not None:
                first = constant(0, item) if start is None else start
                items.append(_of_numpy("linspace", [first, stop, constant(int(abs(count)), item)], item))
            case gast.Slice(lower=start, upper=stop, step=None | gast.Constant(value=int() | float()) as step):
                if stop is None:
                    return None
                first = constant(0, item) if start is None else start
                items.append(_of_numpy("arange", [first, stop, *([] if step is None else [step])], item))
            case gast.Slice() | gast.Constant(value=str()):
                return None
            case _:
                items.append(item)
    return items


def _of_numpy(name: str, arguments: list[gast.expr], at: gast.AST) -> gast.Call:
    head = placed(gast.Attribute(reference(GlobalBinding("np", np, "numpy", None)), name, gast.Load()), at)
    return call(head, arguments, at)
