"""The passes from the normal form to what both transforms take, in order, with what each requires and gives.

Enters: a ``Form``, a function in normal form with the facts of its names.  Leaves: a ``Form`` of which all ``GIVEN``
holds.  A pass returns the same function where it changes nothing, so most programs are copied by few of them.
``srcgrad explain FILE.py:function --at passes`` prints a program after each pass that changed it; with
``options(check=True)`` each is followed by the checks of ``spec.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from srcgrad.analysis.admission import Assumed, admitted, exact_at_entry
from srcgrad.analysis.elements import elements_named
from srcgrad.analysis.lengths import lengths_kept
from srcgrad.analysis.operands import lists_made_arrays
from srcgrad.analysis.overlapping import order_kept
from srcgrad.analysis.stores import stores_lowered
from srcgrad.analysis.summaries import Summary
from srcgrad.analysis.webs import webs_named
from srcgrad.ir.normal_form import Callee, Function
from srcgrad.rules.facts import Fact

Facts: TypeAlias = Mapping[str, Fact]


@dataclass(frozen=True)
class Form:
    """A function in normal form, and the facts of its names."""

    function: Function
    facts: Facts


@dataclass(frozen=True)
class Queries:
    """Queries that the passes make to the module that is being compiled."""

    generic: bool  # nothing is known of arguments
    is_open: bool  # the function is called with arguments at whose classes nobody has looked
    kinds: Mapping[str, str]  # of arguments of such a function, where they are known
    assumed: Assumed
    solve: Callable[[Function], Facts]  # the facts of a function that a pass has changed
    summary_of: Callable[[Callee, tuple[Fact, ...]], Summary]  # what a call does to memory
    changes: Callable[[Callee], bool]  # whether a callee may change what it is given

    @property
    def reads_lists(self) -> bool:
        """Whether operands of which nothing is known are left to the adjoint, which refuses lists."""
        return self.generic and not self.assumed.stores


@dataclass(frozen=True)
class Pass:
    """``run`` makes ``gives`` hold of a form of which ``requires`` holds; what held before goes on holding."""

    name: str
    gives: str
    run: Callable[[Form, Queries], Form]
    requires: tuple[str, ...] = ()


PLAIN_ARGUMENTS = "arguments are of the classes that NumPy and Python define"
ARRAYS = "operands that NumPy makes arrays of are arrays, or are looked at when the program runs"
STORES = "stores into arrays are statements; what is assigned in place is a container, or looked at"
TYPES = "every statement means for its operands what its rule says"
WEBS = "bindings that no read joins have names of their own, where something is stored into"
ELEMENTS = "items of short lists and tuples that are read by their places have names of their own"
ORDER = "no store reads the memory that it writes"
LENGTHS = "a loop makes the passes that its source made, or raises"
GIVEN = (PLAIN_ARGUMENTS, ARRAYS, STORES, TYPES, WEBS, ELEMENTS, ORDER, LENGTHS)


def _arguments(form: Form, queries: Queries) -> Form:
    return replace(form, function=exact_at_entry(form.function, queries.kinds)) if queries.is_open else form


def _arrays(form: Form, queries: Queries) -> Form:
    looks = queries.reads_lists, queries.assumed.shown
    return Form(*lists_made_arrays(form.function, form.facts, queries.solve, *looks))


def _stores(form: Form, queries: Queries) -> Form:
    return Form(*stores_lowered(form.function, form.facts, queries.solve, queries.assumed.shown))


def _types(form: Form, queries: Queries) -> Form:
    return replace(form, function=admitted(form.function, form.facts, queries.assumed))


def _webs(form: Form, queries: Queries) -> Form:
    if not queries.assumed.stores or form.function.generated:
        return form
    function = webs_named(form.function, form.facts)
    return form if function is form.function else Form(function, queries.solve(function))


def _elements(form: Form, queries: Queries) -> Form:
    if form.function.generated:
        return form
    function = elements_named(form.function, form.facts)
    return form if function is form.function else Form(function, queries.solve(function))


def _order(form: Form, queries: Queries) -> Form:
    return replace(form, function=order_kept(form.function, form.facts, queries.summary_of))


def _lengths(form: Form, queries: Queries) -> Form:
    return replace(form, function=lengths_kept(form.function, form.facts, queries.changes))


PASSES = (
    Pass("arguments", PLAIN_ARGUMENTS, _arguments),
    Pass("arrays", ARRAYS, _arrays),
    Pass("stores", STORES, _stores, (ARRAYS,)),  # which operators join lists is decided by then
    Pass("types", TYPES, _types, (ARRAYS, STORES)),  # `x += e` of an array is a store by then
    Pass("webs", WEBS, _webs, (STORES,)),  # `x += e` of an array binds no name by then
    Pass("elements", ELEMENTS, _elements, (STORES,)),  # `x[0] += e` of a list is a store of a sum by then
    Pass("order", ORDER, _order, (STORES,)),
    Pass("lengths", LENGTHS, _lengths),
)


def prepared(form: Form, queries: Queries) -> Iterator[tuple[Pass, Form]]:
    """Each pass with the form that it leaves; the last form is what the transforms take."""
    for each in PASSES:
        form = each.run(form, queries)
        yield each, form
