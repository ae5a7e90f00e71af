"""Adjoint variables in the reverse sweep: their names, zeros, ownership, and contributions to them.

Enters: the activity and facts of a function.  Leaves: ``AdjointVariables``, on which the adjoints of statements are
built.  The first contribution to an adjoint assigns, later ones add; in place only to a buffer that is owned::

    x_bar = s_bar * u                       first
    x_bar = x_bar + t_bar * x               second (x_bar += t_bar * x for an owned array)
    x_bar[i] += v_bar                       one place of an owned buffer: O(1)
"""

from __future__ import annotations

from collections.abc import Mapping

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import Activity
from srcgrad.analysis.numeric import numeric_names
from srcgrad.analysis.references import Reference, reference
from srcgrad.analysis.regions import is_basic
from srcgrad.ir.normal_form import Append, Block, Pop, Statement
from srcgrad.rules.facts import Array, Fact, Unknown, is_floating
from srcgrad.syntax.globals import GlobalReference, call_runtime
from srcgrad.syntax.marks import seen_elsewhere
from srcgrad.syntax.namer import Namer
from srcgrad.transform.build import (
    add_in_place,
    assign,
    builtin_call,
    constant,
    load,
    store,
    subscript,
    tuple_of,
)
from srcgrad.transform.cotangents import Cotangents
from srcgrad.transform.shadows import Shadows


class AdjointVariables:
    """Names and buffers of adjoints; ``bars`` is the state at the present point of the sweep."""

    def __init__(
        self, activity: Activity, facts: Mapping[str, Fact], namer: Namer, shadows: Shadows | None = None
    ) -> None:
        self.shadows = shadows
        self.shadowed: Mapping[str, str] = {} if shadows is None else shadows.bars
        self.here: tuple[Block, int, int] | None = None  # where the sweep stands: before and after
        self.now: Statement | None = None  # the statement that it passes
        self.activity = activity
        self.facts = facts
        self.namer = namer
        self.names: dict[str, str] = {}
        self.temporaries: set[str] = set()
        self.bars = Cotangents()
        self.lists: set[str] = {s.sequence for s in activity.graph.heads if isinstance(s, Append | Pop)}
        self.lists -= set(self.shadowed)

    # --- names and facts ---------------------------------------------------------------------------------------------
    def bar(self, name: str) -> str:
        """The name of the adjoint of ``name``."""
        if name not in self.names:
            self.names[name] = self.namer.fresh(f"{name}_bar")
        return self.names[name]

    def fresh(self, stem: str) -> str:
        name = self.namer.fresh(stem)
        self.temporaries.add(name)
        return name

    def fact(self, name: str) -> Fact:
        return self.facts.get(name, Unknown())

    def is_scalar(self, name: str) -> bool:
        fact = self.fact(name)
        return isinstance(fact, Array) and fact.shape == ()

    def is_array(self, name: str) -> bool:
        """Provably an ``ndarray`` of one or more dimensions."""
        fact = self.fact(name)
        return isinstance(fact, Array) and not fact.scalar and bool(fact.shape)

    def may_be_container(self, name: str) -> bool:
        return not isinstance(self.fact(name), Array) and name not in numeric_names(self.activity.function)

    def adds_plainly(self, name: str, value: gast.expr) -> bool:
        """Whether ``+`` adds this contribution to the adjoint of ``name``, be it a number, an array or a container.

        Our own output hands None on where a path bound nothing: through copies, sequences and calls, which compute
        nothing from it.
        """
        if self.activity.function.generated and not isinstance(self.fact(name), Array) and _is_handed_on(value):
            return False
        return is_arithmetic(value) or not self.may_be_container(name)

    # --- shadows -----------------------------------------------------------------------------------------------------
    def stand(self, statement: Statement, block: Block, position: int) -> None:
        """The sweep is about to pass a statement."""
        self.now = statement
        start, end = position, position + 1
        if self.shadows is not None:
            start, end = self.shadows.groups.get(statement, (start, end))
        self.here = block, start, end

    def shadow(self, name: str, *, after: bool = False) -> Reference:
        """The shadow of ``name`` before or after the present statement."""
        assert self.here is not None and self.now is not None and self.shadows is not None
        block, start, end = self.here
        if after and self.now in self.shadows.results_frozen:
            return reference(self.shadows.results_frozen[self.now], block, end)
        if not after and name in self.shadows.frozen.get(self.now, ()):
            return reference(self.shadows.frozen[self.now][name][1], block, end)
        return reference(self.shadowed[name], block, end if after else start)

    def _add_to_shadow(self, name: str, value: gast.expr) -> list[gast.stmt]:
        place = self.shadow(name)
        if self.adds_in_place(name):
            place.ctx = gast.Store()
            return [seen_elsewhere(gast.AugAssign(place, gast.Add(), value))]
        return [seen_elsewhere(gast.Expr(call_runtime(runtime.accumulate, place, value)))]

    def adds_in_place(self, name: str) -> bool:
        """Whether the shadow of a name is surely an array that takes any adjoint of the name."""
        fact = self.fact(name)
        return self.is_array(name) and isinstance(fact, Array) and is_floating(fact.dtype)

    # --- contributions -----------------------------------------------------------------------------------------------
    def zero(self, name: str, block: Block, position: int) -> list[gast.stmt]:
        """Give ``name`` a zero adjoint in the shape of its value there."""
        if self.is_scalar(name):
            value: gast.expr = constant(0.0)
        else:
            value = call_runtime(runtime.zeros_like, reference(name, block, position, shape_only=True))
        self.bars.assign(name, owned=True)
        return [assign(self.bar(name), value)]

    def own(self, name: str) -> list[gast.stmt]:
        """Make the adjoint of ``name`` a buffer that may be added to in place."""
        if self.bars.owned.get(name, False) or self.is_scalar(name):
            return []
        self.bars.assign(name, owned=True)
        bar = load(self.bar(name))
        if name in self.lists:
            return [assign(self.bar(name), call_runtime(runtime.as_list, bar))]
        return [assign(self.bar(name), call_runtime(runtime.own, bar))]

    def add(self, name: str, value: gast.expr) -> list[gast.stmt]:
        """Add a contribution to the adjoint of ``name``: the first one assigns; to a shadow, in place."""
        if name in self.shadowed:
            return self._add_to_shadow(name, value)
        bar = self.bar(name)
        if name not in self.bars:
            self.note_sharing(value)
            # What NumPy made of a list is an array: it becomes a list before an item is taken from it.
            self.bars.assign(name, owned=is_fresh(value) and name not in self.lists)
            return [assign(bar, value)]
        if self.bars.owned[name] and self.is_array(name):
            return [gast.AugAssign(store(bar), gast.Add(), value)]
        present = load(bar)
        if self.adds_plainly(name, value) and name not in self.lists:
            total: gast.expr = gast.BinOp(present, gast.Add(), value)
        else:
            total = call_runtime(runtime.add, present, value)
        self.bars.assign(name, owned=name not in self.lists)
        return [assign(bar, total)]

    def note_sharing(self, value: gast.expr) -> None:
        """A contribution that is, or may view, another adjoint leaves neither of them owned."""
        if is_fresh(value) or _is_taken_off(value):
            return
        mentioned = {n.id for n in gast.walk(value) if isinstance(n, gast.Name)}
        for name in list(self.bars.owned):
            if self.bar(name) in mentioned:
                self.bars.share(name)

    def add_at(self, name: str, index: gast.expr, value: gast.expr, block: Block, position: int) -> list[gast.stmt]:
        """Add a contribution to one place of the adjoint of ``name``, in place; a number has no places."""
        if name in self.shadowed:
            place = self.shadow(name)
            if self.adds_in_place(name) and is_basic(index, self.fact):
                return [seen_elsewhere(add_in_place(subscript(place, index), value))]
            return [seen_elsewhere(gast.Expr(call_runtime(runtime.add_at, place, index_value(index), value)))]
        if self.is_scalar(name) or not self.is_array(name) and _takes_no_axis(index):
            like = reference(name, block, position, shape_only=True)
            return self.add(name, call_runtime(runtime.untake, value, like, index_value(index)))
        code: list[gast.stmt] = []
        if name not in self.bars:
            code += self.zero(name, block, position)
        code += self.own(name)
        bar = self.bar(name)
        if self.is_array(name) and self._is_basic(index):
            code.append(add_in_place(subscript(load(bar), index), value))
        else:
            code.append(gast.Expr(call_runtime(runtime.add_at, load(bar), index_value(index), value)))
        return code

    def _is_basic(self, index: gast.expr) -> bool:
        """Whether NumPy reads this index as a view or one element, so that no element is met twice."""
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        return all(
            isinstance(part, gast.Slice)
            or (isinstance(part, gast.Constant) and not isinstance(part.value, bool))
            or (isinstance(part, gast.UnaryOp) and isinstance(part.operand, gast.Constant))
            or self._is_integer(part)
            for part in parts
        )

    def _is_integer(self, part: gast.expr) -> bool:
        if isinstance(part, gast.Name) and not isinstance(part, GlobalReference):
            fact = self.fact(part.id)
            return isinstance(fact, Array) and fact.shape == () and (fact.dtype or "").startswith(("int", "uint"))
        if isinstance(part, gast.BinOp):
            return self._is_integer(part.left) and self._is_integer(part.right)
        return isinstance(part, gast.Constant) and type(part.value) is int

    def bar_name(self, name: str) -> gast.Name:
        """The adjoint of what the present statement binds to ``name``, or of a functional name."""
        return self.shadow(name, after=True) if name in self.shadowed else load(self.bar(name))

    def distribute(self, target: str, contributions: list[tuple[str, gast.expr]]) -> list[gast.stmt]:
        """Hand the adjoint of ``target`` on; what goes back to ``target`` itself is formed last, from the old one."""
        code: list[gast.stmt] = []
        own: list[gast.expr] = []
        for name, value in contributions:
            if name == target and name not in self.shadowed:
                own.append(value)
            else:
                code += self.add(name, value)
        if not own:
            self.bars.drop(target)
            return code
        total = own[0]
        for value in own[1:]:
            total = (
                gast.BinOp(total, gast.Add(), value)
                if self.adds_plainly(target, total) and self.adds_plainly(target, value)
                else call_runtime(runtime.add, total, value)
            )
        if isinstance(total, gast.Name) and total.id == self.bar(target):
            return code
        self.note_sharing(total)
        fresh = is_fresh(total)
        self.bars.assign(target, owned=fresh)
        return [*code, assign(self.bar(target), total)]


def index_value(index: gast.expr) -> gast.expr:
    """What stands between brackets, as an argument: ``a:b`` is ``slice(a, b)``."""
    match index:
        case gast.Slice(lower=lower, upper=upper, step=step):
            bounds = [bound or constant(None) for bound in (lower, upper, step)]
            return builtin_call(slice, *(bounds if step else bounds[:2]))
        case gast.Tuple(elts=elements):
            return tuple_of([index_value(element) for element in elements])
    return index


def calls_function(expression: gast.expr, function: object) -> bool:
    return (
        isinstance(expression, gast.Call)
        and isinstance(expression.func, GlobalReference)
        and expression.func.binding.value is function
    )


FRESH = (runtime.zeros_like, runtime.own, runtime.add)


def is_fresh(value: gast.expr) -> bool:
    """Whether evaluating makes a new object that nobody else holds."""
    if isinstance(value, gast.BinOp | gast.Constant):
        return True
    if isinstance(value, gast.UnaryOp):
        return not isinstance(value.op, gast.UAdd)
    return any(calls_function(value, function) for function in FRESH)


def _is_taken_off(value: gast.expr) -> bool:
    """Whether a value is popped off a list, which has it no more: the list is as much its owner's as before."""
    match value:
        case gast.Call(func=gast.Attribute(attr="pop")):
            return True
    return False


def _is_handed_on(value: gast.expr) -> bool:
    """Whether a contribution is another adjoint, a part of one, or what a callee's reverse sweep returns."""
    if isinstance(value, gast.Call):
        return isinstance(value.func, gast.Name) and not isinstance(value.func, GlobalReference)
    return isinstance(value, gast.Name | gast.Subscript)


def is_arithmetic(value: gast.expr) -> bool:
    """Whether the value is certainly a number or an array, so that ``+`` adds."""
    return isinstance(value, gast.BinOp | gast.UnaryOp) or calls_function(value, runtime.unbroadcast) or (
        isinstance(value, gast.Constant) and isinstance(value.value, int | float | complex)
    )


def _takes_no_axis(index: gast.expr) -> bool:
    """Whether a number of NumPy's may be indexed so as well: ``x[...]``, ``x[..., None]``, ``x[()]``."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return all(isinstance(p, gast.Constant) and (p.value is None or p.value is ...) for p in parts)
