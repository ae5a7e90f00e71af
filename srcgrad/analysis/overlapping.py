"""Stores into an array of what may lie in the same array: a check where NumPy's result may depend on their order.

Enters: ``Function``, the facts, the summaries of its callees.  Leaves: the function with ``require_order`` before such
stores: the value may share memory with the base (``analysis.memory``; parameters may share with one another), and is
not seen to lie in the same strides::

    y[1] = y[:, 2]      ->      t = y[:, 2];  require_order(y, 1, t, "model.py:3");  y[1] = t
    y[1:] = y[:-1]              stays
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import gast

from srcgrad import runtime
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.analysis.memory import memory_classes
from srcgrad.analysis.regions import is_element, parts_of
from srcgrad.analysis.stores import Lowering
from srcgrad.analysis.summaries import Summary
from srcgrad.ir.normal_form import Apply, Bind, Callee, Effect, Function, Index, Statement, Store
from srcgrad.rules.facts import Array, Fact, Unknown
from srcgrad.rules.memory import makes_new
from srcgrad.syntax.build import index_value
from srcgrad.syntax.globals import GlobalReference, call_runtime
from srcgrad.syntax.parse import clone


def order_kept(
    function: Function, facts: Mapping[str, Fact], summary_of: Callable[[Callee, tuple[Fact, ...]], Summary]
) -> Function:
    """The function with its checks; the same object where there are none."""
    if function.generated:
        return function  # what is stored there does not overlap, or is checked already
    stores = [s for s in walk(function.body) if isinstance(s, Store) and _may_be_vector(s, facts)]
    if not stores:
        return function
    binders: dict[str, list[Statement]] = {}
    for statement in walk(function.body):
        for name in bound_here(statement):
            binders.setdefault(name, []).append(statement)
    stores = [s for s in stores if not _is_apart(s, binders)]
    if not stores:
        return function
    classes = memory_classes(function, facts, summary_of)
    given = frozenset(function.parameters)

    def may_overlap(store: Store) -> bool:
        assert isinstance(store.value, gast.Name)
        one, other = classes.members(store.base), classes.members(store.value.id)
        return store.value.id in one or not (given.isdisjoint(one) or given.isdisjoint(other))

    checked = {store for store in stores if may_overlap(store)}
    return _Checks(function, checked).function() if checked else function


def _may_be_vector(store: Store, facts: Mapping[str, Fact]) -> bool:
    """Whether a vector may be stored; of what has more axes NumPy makes a copy where it overlaps."""
    if not isinstance(store.value, gast.Name) or isinstance(store.value, GlobalReference):
        return False
    value, base = facts.get(store.value.id, Unknown()), facts.get(store.base, Unknown())
    if not isinstance(value, Array | Unknown) or not isinstance(base, Array | Unknown):
        return False
    if isinstance(value, Array) and (value.scalar or value.rank == 0):
        return False
    return not is_element(base, store.index, lambda name: facts.get(name, Unknown()))


def _is_apart(store: Store, binders: Mapping[str, list[Statement]]) -> bool:
    """Whether what is stored is new memory, or another part of the base in the same strides."""
    assert isinstance(store.value, gast.Name)
    bound = binders.get(store.value.id, [])
    return bool(bound) and all(_is_new(made) or _is_alike(made, store) for made in bound)


def _is_new(made: Statement) -> bool:
    return isinstance(made, Bind) and isinstance(made.operation, Apply) and makes_new(made.operation.function)


def _is_alike(made: Statement, store: Store) -> bool:
    """``y[1:] = y[:-1]``: the axes that are left are the same, and their steps."""
    if not isinstance(made, Bind) or not isinstance(made.operation, Index) or made.operation.base != store.base:
        return False
    axes, others = parts_of(store.index), parts_of(made.operation.index)
    return len(axes) == len(others) and all(map(_same_step, axes, others))


def _same_step(one: gast.expr, other: gast.expr) -> bool:
    if isinstance(one, gast.Slice) and isinstance(other, gast.Slice):
        return _step(one) is not None and _step(one) == _step(other)
    whole = isinstance(one, gast.Constant) and isinstance(other, gast.Constant)
    return whole and type(one.value) is int and type(other.value) is int


def _step(part: gast.Slice) -> int | None:
    """The step of a slice, None where it is not a literal."""
    if part.step is None:
        return 1
    value = getattr(part.step, "value", None)
    return value if type(value) is int else None


class _Checks(Lowering):
    """Writes the checks before the stores."""

    def __init__(self, function: Function, checked: set[Store]) -> None:
        facts: dict[str, Fact] = {}
        super().__init__(function, facts)
        self.checked = checked

    def replaced(self, statement: Statement) -> list[Statement] | None:
        if not isinstance(statement, Store) or statement not in self.checked:
            return None
        base = gast.Name(statement.base, gast.Load(), None, None)
        place = gast.Constant(statement.span.origin, None)
        index = index_value(clone(statement.index))
        check = call_runtime(runtime.require_order, base, index, clone(statement.value), place)
        return [Effect(gast.Expr(check), statement.span), statement]
