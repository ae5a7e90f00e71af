"""The function that is written, and the values of its expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import gast
import numpy as np

from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.frontend.source import Source
from srcgrad.infer.data import is_data
from srcgrad.infer.facts import Facts
from srcgrad.infer.reasons import otherwise, reason_of
from srcgrad.infer.values import NEVER, Exact, Value, exact
from srcgrad.ir import normal_form as nf
from srcgrad.ir.operations import UNBOUND
from srcgrad.rules.table import member_refusal
from srcgrad.specialise.planning import Naming
from srcgrad.specialise.reduced import Reduced
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import children, walk

_UNBOUND = Exact(UNBOUND)

#: What to do where the class of an object is not known.
CLASSES = "call the derivative with the object, or see source_for(...); and check the name"


@dataclass(frozen=True)
class Nested:
    """How what is nested is written: the operands of an operation, the body of a loop, a target of several parts.

    The files that write expressions, loops and stores call these through the context: they would import one another."""

    operation: Callable[[Context, Any], tuple[gast.expr, nf.Operation]]
    block: Callable[[Context, list[Any], Callable[[], None]], nf.Block]
    assignment: Callable[[Context, list[Any], gast.expr], None]


@dataclass(eq=False)
class Context:
    """A function that is written."""

    nested: Nested
    reduced: Reduced
    facts: Facts
    naming: Naming
    source: Source
    namer: Namer
    parameters: frozenset[str] = frozenset()
    out: list[nf.Statement] = field(default_factory=list)
    span: Span = field(default_factory=Span.unknown)
    temporaries: set[str] = field(default_factory=set)
    known: dict[str, Value] = field(default_factory=dict)  # what temporaries hold
    written: set[Any] = field(default_factory=set)  # statements that are written as calls of what they run
    patterns: dict[Any, str] = field(default_factory=dict)  # of what holds entries of a sparse matrix, its name
    is_stopped: bool = False  # what is written carries no derivative
    cells: set[str] = field(default_factory=set)  # the variables of the function that inner functions share

    def fresh(self, stem: str = "t") -> str:
        name = self.namer.fresh(stem)
        self.temporaries.add(name)
        return name

    def value(self, node: gast.AST) -> Value:
        """What an expression may be; never of what was not kept apart."""
        version = getattr(node, "version", getattr(node, "computes", None))
        if version is None and isinstance(node, gast.Constant):
            return exact(node.value)
        if version is None and isinstance(node, gast.Name):
            return self.known.get(node.id, NEVER)
        if version is None:
            return NEVER
        value = self.reduced.value(version)
        if _UNBOUND not in value.atoms:
            return value
        return replace(value, atoms=value.atoms - {_UNBOUND})  # what is read was looked at before

    def is_fixed(self, node: gast.AST) -> bool:
        """Whether an expression carries no derivative, or is read by nothing that does."""
        version = getattr(node, "version", getattr(node, "computes", None))
        if version is None:  # written from several operations, or no more than a constant
            return not self.is_local(node) and all(map(self.is_fixed, children(node)))
        return version in self.naming.fixed

    def is_local(self, node: gast.AST) -> bool:
        """Whether a node is a name of the function's own."""
        return isinstance(node, gast.Name) and not isinstance(node, GlobalReference) and (
            hasattr(node, "version") or node.id in self.temporaries or node.id in self.cells
        )  # fmt: skip

    @property
    def place(self) -> Span:
        """Where the statement stands that is written, or else the function."""
        return self.span if self.span.known else self.source.span()

    def refuse_member(self, node: gast.AST, name: str, what: str) -> NoReturn:
        """Refuse a method or attribute, with the reason that the tables give for arrays."""
        known = member_refusal(name)
        base = self.value(getattr(getattr(node, "func", node), "value", node))
        if known is None and base.consists_of(is_data) and not hasattr(np.ndarray, name):
            label = "an object of a class that is not known when this is compiled"
            reason = f"no number, array or container has the {what} {name!r}"
            raise UnsupportedSyntax(reason, self.place, code="E0203", label=label, hint=CLASSES)
        if known is None or reason_of(self.value(node)) is not None:
            self.refuse("E0405", node, f"the {what} {name!r}")
        raise UnsupportedSyntax(f"the {what} {name!r}: {known.reason}", self.place, code=known.code, hint=known.hint)

    def refuse(
        self, code: str, node: gast.AST, what: str, *, label: str | None = None, hint: str | None = None
    ) -> NoReturn:
        """Refuse what is written, or an object in it that nothing is computed with."""
        for part in walk(node):
            if (why := reason_of(self.value(part))) is not None:
                raise UnsupportedSyntax(why.message, self.place, code=why.code, label=why.label, hint=why.hint)
        hint = hint or otherwise(code)
        raise UnsupportedSyntax(f"{what} cannot be differentiated here", self.place, code=code, label=label, hint=hint)
