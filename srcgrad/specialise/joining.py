"""What ``np.r_`` and ``np.c_`` join, as calls of functions that have a rule.

Enters: a statement of the IR that indexes one of them.  Leaves: the statements in its place::

    y = np.r_[x, 0:3]        t = np.arange(0, 3);  y = join_rows((x, t))

A directive (``np.r_["0,2", x]``) is refused, and so is an index of which it is not known that it is no tuple.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad import runtime
from srcgrad.infer.heap import Site
from srcgrad.infer.values import Array, At, Exact, Of, Value, at
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Assign, Statement
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.ir.rewriting import with_operands
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import of_runtime, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced

#: What an index of these objects of NumPy means: the items are joined, by number of the object.
JOINING = {id(np.r_): runtime.join_rows, id(np.c_): runtime.join_columns}


def joined(made: Reduced, statement: Assign) -> list[Statement] | None:
    """The call that an index of ``np.r_`` or ``np.c_`` is; None of any other statement."""
    match with_operands(statement.operation, made.known.get):
        case ir.GetItem(base=Literal(value=Spelled(value=joining)), index=index) if id(joining) in JOINING:
            function = JOINING[id(joining)]
        case _:
            return None
    before: list[Statement] = []
    items = made.displays.get(index) if _may_be(made.value(index), tuple) else (index,)
    if items is None:
        made.refuse("E0420", statement.node, "an index of what joins arrays that may be a tuple")
    given = tuple(_item(made, made.known.get(item, item), statement, before) for item in items)
    together = made.version("t", at(Site(tuple, (statement, "joined"), made.frame.summaries[0].context)))
    before.append(Assign((together,), ir.Make("tuple", given), statement.node))
    made.displays[together] = given
    head = Literal(Spelled(reference(of_runtime(function)), function))
    before.append(Assign(statement.targets, ir.Call(head, (together,)), statement.node))
    return before


def _item(made: Reduced, item: Operand, statement: Assign, before: list[Statement]) -> Operand:
    """An item, which is a range where it is spelled as a slice."""
    value, display = made.value(item), made.origins.get(item)
    if not isinstance(display, ir.Make) or display.kind != "slice":
        if _may_be(value, slice, tuple, str):
            made.refuse("E0420", statement.node, "an item of what joins arrays that may be a slice, a tuple or a text")
        return item
    start, stop, *step = (made.known.get(part, part) for part in display.elements)
    if isinstance(start, Literal) and start.value is None:
        start = Literal(0)
    by = step[0].value if step and isinstance(step[0], Literal) else None
    if isinstance(stop, Literal) and stop.value is None or step and not isinstance(step[0], Literal):
        made.refuse("E0420", statement.node, "a range that is joined")
    name, given = "arange", [start, stop, *([] if by is None else [Literal(by)])]
    if isinstance(by, complex):
        name, given = "linspace", [start, stop, Literal(int(abs(by)))]
    function: Any = getattr(np, name)
    head = reference(GlobalBinding(name, function, "numpy", name))
    target = made.version("t", Value(frozenset((Array(Site(np.ndarray, (statement, item), "joined"), "<f8", 1),))))
    before.append(Assign((target,), ir.Call(Literal(Spelled(head, function)), tuple(given)), statement.node))
    return target


def _may_be(value: Value, *kinds: type) -> bool:
    def is_one(atom: Any) -> bool:
        match atom:
            case Exact(value=found):
                return isinstance(found, kinds)
            case Of(kind=kind):
                return issubclass(kind, kinds)
            case At(site=Site(kind=kind)):
                return kind is not None and issubclass(kind, kinds)
        return False

    return value.is_any or any(map(is_one, value.atoms))
