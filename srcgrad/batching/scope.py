"""What the pass knows of one function while it rewrites it, and the few trees of which its text is made.

Enters: the facts of names for one example, and what each name carries so far.  Leaves: operands, and trees::

    tree("np.sum(_0, axis=_1)", x, axis)
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.values import fact_of_expression
from srcgrad.batching.carried import LEAF, Carried, Each, Items, Keys, Unbatchable, join, part_of, written
from srcgrad.rules import facts
from srcgrad.rules.facts import Array, Fact, Static, Unknown, as_array
from srcgrad.rules.formula import literal, object_of
from srcgrad.rules.rewriting import rebuilt
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import builtin, of_runtime, reference
from srcgrad.syntax.parse import clone, quote

_NUMPY = reference(GlobalBinding("np", np, "numpy", None, None))


def tree(text: str, *parts: gast.expr) -> Any:
    """An expression: ``_0``, ``_1`` ... stand for the parts, other names for ``np``, builtins and the runtime."""

    def meant(node: gast.AST) -> gast.expr | None:
        if not isinstance(node, gast.Name):
            return None
        if node.id[0] == "_" and node.id[1:].isdigit():
            return clone(parts[int(node.id[1:])])
        if node.id == "np":
            return _NUMPY
        return reference(builtin(node.id) if hasattr(builtins, node.id) else of_runtime(getattr(runtime, node.id)))

    return rebuilt(_quoted(text), meant)


@cache
def _quoted(text: str) -> gast.expr:
    return quote(text)


def number(value: int) -> gast.expr:
    """An integer, as it is written."""
    return gast.Constant(value, None) if value >= 0 else gast.UnaryOp(gast.USub(), gast.Constant(-value, None))


def shown(*values: object) -> gast.expr:
    """A literal tuple of integers."""
    return gast.Tuple([number(value) for value in values], gast.Load())  # type: ignore[arg-type]


@dataclass(frozen=True)
class Operand:
    """An expression of the batched program, what it carries, and the one of an example's with its fact."""

    node: gast.expr
    carried: Carried
    fact: Fact
    original: gast.expr

    @property
    def is_batched(self) -> bool:
        return self.carried is not None

    @property
    def rank(self) -> int | None:
        """How many axes an example has; None where that is not known."""
        if isinstance(self.fact, Static) and not isinstance(self.fact.value, np.ndarray | bool | int | float | complex):
            return None
        return as_array(self.fact).rank

    @property
    def literal(self) -> tuple[bool, Any]:
        return literal(self.original)


@dataclass
class Scope:
    """One function: ``carried`` grows until nothing changes; ``size`` is the name of the number of examples."""

    facts: Mapping[str, Fact]
    size: str
    carried: dict[str, Carried] = field(default_factory=dict)
    changed: bool = False
    uses_size: bool = False
    #: Whether the expression that was rewritten last holds a copy where an example's may hold a view.
    copies: bool = False
    slow: Callable[[object], None] = lambda function: None

    def fact(self, expression: gast.expr) -> Fact:
        return fact_of_expression(expression, lambda name: self.facts.get(name, Unknown()))

    def grow(self, name: str, carried: Carried) -> None:
        """Let a name carry this too."""
        before = self.carried.get(name)
        after = join(before, carried)
        if after != before:
            self.carried[name] = after
            self.changed = True

    def any_part(self, container: Operand) -> Carried:
        """What a part carries of which it is not known which one it is: all parts have to carry the same."""
        whole, part = container.carried, part_of(container.carried)
        if isinstance(whole, Items | Keys):
            parts = whole.parts if isinstance(whole, Items) else tuple(one for _, one in whole.parts)
            if any(one != part for one in parts):
                if not (isinstance(container.original, gast.Name) and container.original.id in self.carried):
                    raise Unbatchable("a part of a container whose parts differ in what they carry")
                alike = Items((part,) * len(parts)) if isinstance(whole, Items) else (
                    Keys(tuple((key, part) for key, _ in whole.parts))
                )
                self.grow(container.original.id, alike)
        return part

    def number_of_examples(self) -> gast.expr:
        self.uses_size = True
        return gast.Name(self.size, gast.Load(), None, None)

    def raised(self, operand: Operand, carried: Carried) -> gast.expr:
        """The operand where it has to carry this: repeated along the batch where it does not."""
        if operand.carried == carried or carried is None:
            return operand.node
        if isinstance(operand.node, gast.Tuple | gast.List) and isinstance(carried, Items):
            parts = operand.carried.parts if isinstance(operand.carried, Items) else (None,) * len(carried.parts)
            elements = [
                self.raised(Operand(node, had, Unknown(), node), wanted)
                for node, had, wanted in zip(operand.node.elts, parts, carried.parts, strict=True)
            ]
            return type(operand.node)(elements, gast.Load())
        if operand.carried is not None:
            if join(operand.carried, carried) != carried:
                raise Unbatchable("what a container carries differs")
            return self._raised_inside(operand, carried)
        if isinstance(operand.node, gast.Constant) and operand.node.value is None:
            return operand.node
        if isinstance(operand.node, gast.List | gast.Tuple) and not operand.node.elts:
            return operand.node
        size = self.number_of_examples()
        if isinstance(operand.node, gast.Call) and object_of(operand.node.func) is runtime.zeros_like:
            parts = () if carried == LEAF else (written(carried),)
            return tree(f"zeros_over_batch(_0, _1{', _2' * len(parts)})", operand.node.args[0], size, *parts)
        if carried == LEAF:
            is_list = isinstance(operand.fact, facts.Sequence) or isinstance(operand.node, gast.List | gast.Tuple)
            array = tree("np.asarray(_0)", operand.node) if is_list else operand.node  # of a list each part is repeated
            return tree("over_batch(_0, _1)", array, size)
        return tree("over_batch(_0, _1, _2)", operand.node, size, written(carried))

    def _raised_inside(self, operand: Operand, carried: Carried) -> gast.expr:
        match operand.carried, carried:
            case Items(parts=had), Items(parts=wanted) if isinstance(operand.node, gast.Tuple | gast.List) and (
                len(operand.node.elts) == len(had) == len(wanted)
            ):  # what has the batch already may be memory that is stored into: it stays that memory
                parts = zip(operand.node.elts, had, wanted, strict=True)
                elements = [self.raised(Operand(node, before, Unknown(), node), after) for node, before, after in parts]
                return type(operand.node)(elements, gast.Load())
            case Items(parts=had), Items(parts=wanted):
                if not any(part is not None for part in had):
                    size = self.number_of_examples()
                    return tree("over_batch(_0, _1, _2)", operand.node, size, written(carried))
        if isinstance(carried, Each) and isinstance(operand.carried, Items):
            whole = Items((carried.part,) * len(operand.carried.parts))
            return operand.node if whole == operand.carried else self._raised_inside(operand, whole)
        raise Unbatchable("what a container carries differs")


def rank_of(node: gast.expr, *, batched: bool) -> gast.expr:
    """How many axes a batch of this has, where the program runs."""
    return tree("np.ndim(_0)", node) if batched else tree("np.ndim(_0) + 1", node)


def widened(operand: Operand, rank: int) -> gast.expr:
    """A batch whose examples have ``rank`` axes at least, of length one in front."""
    assert operand.rank is not None
    missing = rank - operand.rank
    if missing <= 0 or not operand.is_batched:
        return operand.node
    return tree(f"_0[:, {', '.join(['np.newaxis'] * missing)}]", operand.node)


def lined_up(operands: Sequence[Operand]) -> list[gast.expr]:
    """Operands that are broadcast together: the axes of examples from the end, the batch in front of all."""
    if any(operand.is_batched and operand.carried != LEAF for operand in operands):
        raise Unbatchable("arithmetic with a list whose items differ from example to example")
    known = [operand.rank for operand in operands if operand.rank is not None]
    if len(known) == len(operands):
        return [widened(operand, max(known)) for operand in operands]
    made = []
    for operand in operands:
        others = [o for o in operands if o is not operand and o.rank != 0]
        if operand.is_batched and others:
            ranks = [o.rank for o in others if o.rank is not None]
            if operand.rank is not None and len(ranks) == len(others):
                made.append(widened(operand, max(ranks)))
                continue
            if any(not isinstance(o.node, gast.Name | gast.Constant) for o in others):
                raise Unbatchable("the number of axes of an operand is not known")
            made.append(
                tree("with_rank(_0, _1)", operand.node, most([rank_of(o.node, batched=o.is_batched) for o in others]))
            )
        else:
            made.append(operand.node)
    return made


def most(ranks: list[gast.expr]) -> gast.expr:
    """The largest of numbers of axes, where the program runs."""
    if len(ranks) == 1:
        return ranks[0]
    return gast.Call(reference(builtin("max")), ranks, [])


def is_number(fact: Fact) -> bool:
    """Whether an example is surely one number, which nothing is stored into."""
    return isinstance(fact, Array) and fact.scalar
