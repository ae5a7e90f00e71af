"""From the IR back to Python as its author wrote it.

Enters: a ``Function``.  Leaves: its definition as a gast tree.  What is computed comes from operations and operands
alone; the origin of a statement (``node``) only says in which *form* the user wrote it: a conditional expression or an
``if``, a comprehension or a loop.  So a stage that changes the IR gets the user's text with that change, and whatever
has no origin, or no longer fits it, is written in a simpler form that means the same.

>>> import gast
>>> from srcgrad.frontend.lowering import lowered
>>> made = lowered(lambda x, i: x[i] if x[i] > 0 else -x[i])
>>> print(made)
def function(x, i):
    t = x[i]
    t2 = t > 0
    if t2:
        t3 = x[i]
        t6 = t3
    else:
        t4 = x[i]
        t5 = -t4
        t6 = t5
    return t6
<BLANKLINE>
>>> print(gast.unparse(restored(made)))
lambda x, i: x[i] if x[i] > 0 else -x[i]

What decides the names is in ``names``, what is nested in ``pending``; the other modules are named after the forms that
they restore.
"""

from __future__ import annotations

from typing import Any

from srcgrad.ir.regions import Function
from srcgrad.ir.restoring.functions import definition
from srcgrad.syntax.depth import unless_too_deep
from srcgrad.syntax.parse import located


def restored(function: Function) -> Any:
    """The definition of a function, as a gast tree; a lambda is one again."""
    return unless_too_deep(lambda: located(definition(function), function.node))
