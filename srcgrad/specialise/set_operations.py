"""Operations on sets, in the IR: which there are, and the methods that operators in place are, of dicts as well.

::

    a |= b            m = a.update;  t = m(b);  a = a        the same object, which has changed
    f |= b            f = f | b                              a frozenset does not change
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from srcgrad.infer.values import At, Bound, Exact, Value, are_of, exact
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Operand
from srcgrad.ir.regions import Assign, Statement
from srcgrad.specialise.reduced import Reduced

SETS = (set, frozenset)
#: Methods that ask a set something, and make none.
ASKING = frozenset({"isdisjoint", "issubset", "issuperset"})
_IN_PLACE = {
    "|": "update",
    "&": "intersection_update",
    "-": "difference_update",
    "^": "symmetric_difference_update",
}


def are_sets(value: Value, kinds: tuple[type, ...] = SETS) -> bool:
    """Whether a value is a set, whatever it holds."""
    return are_of(value, *kinds)


def may_be_set(value: Value) -> bool:
    return any(isinstance(atom, At) and atom.site.kind in SETS for atom in value.atoms)


def in_place(made: Reduced, statement: Assign) -> list[Statement] | None:
    """The statements for an operator in place of a set or dict; None of other operations."""
    match statement.operation:
        case ir.Operator(symbol=symbol, operands=(left, right), in_place=True) as operation if symbol in _IN_PLACE:
            held, other = made.known.get(left, left), made.known.get(right, right)
        case _:
            return None
    value, (target,), node = made.value(held), statement.targets, statement.node
    if are_sets(value, (frozenset,)):
        return [replace(statement, operation=replace(operation, operands=(held, other), in_place=False))]
    are_dicts = symbol == "|" and are_of(value, dict) and are_of(made.value(other), dict)
    if not may_be_set(value) and not are_dicts:
        return None
    if not are_dicts and (not are_sets(value, (set,)) or not are_sets(made.value(other))):
        made.refuse("E0407", node, "an operator in place of what may be a set")
    name = _IN_PLACE[symbol]
    method, done = made.version("t", Value(frozenset((Bound(value, name),)))), made.version("t", exact(None))
    return [
        Assign((method,), ir.GetAttribute(held, name), node),
        Assign((done,), ir.Call(method, (other,)), node),
        Assign((target,), ir.Copy(held), node),
    ]


def is_of_sets(operation: ir.Operation, value: Callable[[Operand], Value]) -> bool:
    """Whether an operation makes a set, or calls a method of one that does or that changes it."""
    match operation:
        case ir.Make(kind="set", elements=elements):
            return bool(elements)  # a comprehension is written as statements anyway
        case ir.Operator(symbol=symbol, operands=operands):
            return symbol in _IN_PLACE and any(are_sets(value(operand)) for operand in operands)
        case ir.Call(function=function):
            return any(
                isinstance(atom, Exact) and any(atom.value is kind for kind in SETS)
                or isinstance(atom, Bound) and atom.name not in ASKING and are_sets(atom.receiver)
                for atom in value(function).atoms
            )  # fmt: skip
    return False


def asks(operation: object) -> bool:
    """Whether an operation asks a set for no more than its length, its truth, or what is in it."""
    match operation:
        case ir.Compare():
            return True
        case ir.Operator(symbol="bool" | "not"):
            return True
    return False
