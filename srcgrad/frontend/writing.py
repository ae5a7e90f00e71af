"""Where the statements of one function are written down, and the errors that point at its text.

Enters: a scope.  Leaves: the statements of the block being written; ``frontend.nested``, ``frontend.expressions``,
``frontend.calls`` and ``frontend.loops`` add, each in a class on the one before, what is written there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import gast

from srcgrad.errors import MissingRule, Span, SrcgradError, UnsupportedSyntax
from srcgrad.frontend.callees import names_carrying
from srcgrad.frontend.desugar.build import call_runtime, placed
from srcgrad.frontend.normal_form import Bind, Block, Call, Effect, Fixed, Operation, Statement, Unruled
from srcgrad.frontend.replacing import Replacements
from srcgrad.frontend.scope import Scope, Variable
from srcgrad.rules.table import refusal
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import names_read

AS_A_STATEMENT = "call it as a statement of its own, or make a new value"


class Writing:
    """The block being written is ``out``; ``span`` is the user's statement it comes from."""

    text: Sequence[gast.stmt]  # the body of the function, one name for each web
    webs: dict[str, str]  # the spelling of names that are webs of others' names

    def __init__(self, scope: Scope, namer: Namer, cells: Mapping[Variable, str]) -> None:
        self.scope = scope
        self.source = scope.source
        self.namer = namer
        self.cells = cells
        self.out: list[Statement] = []
        self.span = Span.unknown()
        self.open_statements: list[gast.stmt] = []  # the one being written, and those around it
        self.replaced = Replacements()
        self.temporaries: set[str] = set()
        self.lists: set[str] = set()  # lists under construction by comprehensions
        self.pending: Counter[str] = Counter()  # names that a walrus of this statement has yet to bind
        self.comprehended: set[str] = set()  # names that comprehensions have bound
        self.open: set[str] = set()  # of those, the names of comprehensions around this point

    # --- supplied by the classes that build on this one --------------------------------------------------------------
    @abstractmethod
    def run(self, statements: Iterable[gast.stmt]) -> None:
        """Write desugared statements."""

    @abstractmethod
    def value(self, node: gast.expr) -> gast.expr:
        """An atom for the value of an expression: a local name or a constant."""

    @abstractmethod
    def held(self, expression: gast.expr) -> gast.expr:
        """An atom that holds a settled expression."""

    @abstractmethod
    def call(self, node: gast.Call) -> tuple[gast.expr, Operation]:
        """The operation of a call."""

    @abstractmethod
    def attribute(self, node: gast.Attribute) -> tuple[gast.expr, Operation]:
        """The operation of reading an attribute."""

    @abstractmethod
    def admit_call(self, node: gast.Call) -> bool:
        """Refuse a nested call that may change its operands; whether it is a method call."""

    @abstractmethod
    def admit_attribute(self, node: gast.Attribute) -> None:
        """Refuse a nested attribute that is not known."""

    @abstractmethod
    def bind_call(self, target: Callable[[], str], node: gast.Call) -> bool:
        """Write ``target() = node`` if the call is one that becomes statements; else do nothing."""

    @abstractmethod
    def consumes(self, node: gast.Call) -> bool:
        """Whether a call runs through a generator as it is made."""

    @abstractmethod
    def gives_objects(self, node: gast.Call) -> bool:
        """Whether a call may be given objects of the user's, or containers of such."""

    def stores_result(self, node: gast.Call) -> bool:
        """Whether a call stores its result into an array that it is given."""
        return False

    # --- writing -----------------------------------------------------------------------------------------------------
    def refuse(
        self, node: gast.AST, reason: str, hint: str | None = None, *, label: str | None = None
    ) -> UnsupportedSyntax:
        span = self.source.span(node)  # of what desugaring made there is none: then that of the statement
        return UnsupportedSyntax(reason, span if span.known else self.span, label=label, hint=hint)

    def fresh(self, stem: str = "t") -> str:
        name = self.namer.fresh(stem)
        self.temporaries.add(name)
        self.scope.locals.add(name)
        return name

    def emit(
        self,
        target: str,
        expression: gast.expr,
        operation: Operation,
        *,
        inplace: bool = False,
        renewed: bool = False,
    ) -> None:
        is_called = isinstance(operation, Call)  # what a function returns takes the place of what was there
        self.out.append(
            Bind(target, expression, operation, self.span, inplace and not is_called, renewed and not is_called)
        )

    def look(self, function: Callable[..., None], given: Sequence[gast.expr], node: gast.AST) -> None:
        """Write a call of the runtime that only raises."""
        called = call_runtime(function, list(given), node)
        self.out.append(Effect(placed(gast.Expr(called), node), self.span))

    def block(self, write: Callable[[], None]) -> Block:
        """What ``write`` writes, as a block of its own."""
        outer, self.out = self.out, []
        try:
            write()
            return Block(tuple(self.out))
        finally:
            self.out = outer

    def local(self, variable: Variable) -> str:
        """The local name that holds a variable here."""
        return variable.name if variable.scope is self.scope else self.cells[variable]

    def unruled(
        self,
        node: gast.AST,
        expression: gast.expr,
        name: str,
        function: object = None,
        *,
        hint: str | None = None,
        draws: bool = False,
    ) -> Operation:
        """A call without a rule: harmless while nothing it reads varies."""
        if not names_read(expression):
            return Fixed()
        declared = refusal(function)
        if declared is not None:
            message, advice = f"{name} has no derivative: {declared.reason}", declared.hint
        else:
            short = name.rsplit(".", 1)[-1]
            message = f"there is no derivative rule for {name}"
            advice = hint or (
                f"write one: @srcgrad.rule({name}) above the adjoint of {short},\n"
                f"or declare srcgrad.constant({name}) if it has no derivative"
            )
        error: SrcgradError = MissingRule(
            message, self.source.span(node), label="its argument varies", hint=advice
        )
        made = Unruled(error, draws)
        self._hold_unruled(expression, made)
        return made

    def _hold_unruled(self, expression: gast.expr, made: Unruled) -> None:
        """What the call is given was evaluated before it where it could not stay nested: it may vary as well."""
        given = self.temporaries.intersection(names_read(expression))
        for place in reversed(range(len(self.out))):
            held = self.out[place]
            if isinstance(held, Bind) and held.target in given and isinstance(held.operation, Fixed):
                if names_carrying(held.expression):
                    self.out[place] = replace(held, operation=made)
                    given |= self.temporaries.intersection(names_read(held.expression))
