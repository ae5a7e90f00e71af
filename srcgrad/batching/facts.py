"""Facts of the names of emitted text: more than of a user's, since the results of its functions have known forms.

Enters: a statement, and the facts of what it reads.  Leaves: the fact of its value, or None where nothing more is known
than elsewhere::

    x_bar = zeros_like(x)          the form of x
    x_bar = as_list(x_bar)         a list of its items
"""

from __future__ import annotations

from collections.abc import Callable

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.ir.normal_form import Bind
from srcgrad.rules.batching import SAME
from srcgrad.rules.facts import Array, Fact, Mapping, Sequence, Static, Unknown, broadcast, element, is_floating, number
from srcgrad.rules.formula import constant, literal, object_of


def of_emitted(statement: Bind, inner: Callable[[gast.expr], Fact]) -> Fact | None:
    """The fact of a value that a function of the runtime makes."""
    call = statement.expression
    if not isinstance(call, gast.Call) or call.keywords or any(isinstance(a, gast.Starred) for a in call.args):
        return None
    function = object_of(call.func)
    if function is runtime.one_for:
        return number("float")
    if function is slice:
        ends = [literal(argument) for argument in call.args]
        return Static(slice(*(end for _, end in ends))) if all(is_known for is_known, _ in ends) else None
    if not (getattr(function, "__module__", None) or "").startswith("srcgrad.runtime"):
        return None
    facts = [inner(argument) for argument in call.args]
    if function is runtime.as_list and isinstance(facts[0], Sequence):
        return Sequence("list", facts[0].items, facts[0].item)
    if function is runtime.private and len(facts) == 1:
        return facts[0]
    if function is runtime.unarray and len(facts) == 2:
        return cotangent(facts[1])
    if function in (runtime.own, runtime.kept, runtime.snapshot, runtime.frozen, runtime.unshared):
        return facts[0]
    if function is runtime.shadow and len(facts) == 1:
        # A number's shadow is an array without axes, which is added to.
        return _mapped(cotangent(facts[0]), lambda array: Array(array.shape, array.dtype))
    if function in SAME and len(facts) == 1:
        return cotangent(facts[0])
    if function in (runtime.entering, runtime.tangent_like) and all(isinstance(fact, Array) for fact in facts):
        return cotangent(facts[0])  # both have the form of their value, in floating numbers
    if function is runtime.wins and all(isinstance(fact, Array) for fact in facts):
        made = broadcast(*facts)  # type: ignore[arg-type]
        return Array(made.shape, made.dtype if is_floating(made.dtype) else None, made.scalar)
    if function is runtime.ties and isinstance(facts[0], Array):
        return Array(facts[0].shape, facts[0].dtype if is_floating(facts[0].dtype) else None, facts[0].scalar)
    return None


def cotangent(fact: Fact) -> Fact:
    """The form of a cotangent of a value: a list for a sequence, floating numbers."""

    def leaf(array: Array) -> Fact:
        discrete = array.dtype is not None and np.dtype(array.dtype).kind in "biu"
        return Array(array.shape, "float64" if discrete else array.dtype, array.scalar)

    return _mapped(fact, leaf)


def _mapped(fact: Fact, leaf: Callable[[Array], Fact]) -> Fact:
    match fact:
        case Array():
            return leaf(fact)
        case Sequence(items=tuple() as items):
            return Sequence("list", tuple(_mapped(item, leaf) for item in items))
        case Sequence():
            return Sequence("list", None, _mapped(element(fact), leaf))
        case Mapping(items=tuple() as entries):
            return Mapping(tuple((key, _mapped(part, leaf)) for key, part in entries))
    return Unknown()


def spelled_out(index: gast.expr, fact: Fact) -> gast.expr:
    """An index as it is written between brackets, where a name stands for a slice."""
    if isinstance(fact, Static) and isinstance(fact.value, slice):
        ends = (fact.value.start, fact.value.stop, fact.value.step)
        return gast.Slice(*(None if end is None else constant(end) for end in ends))
    return index
