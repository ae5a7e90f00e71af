"""One rule for both machines: a runnable template, and the slices of it that they need.

Enters: a template function (``srcgrad.rules.formula``).  Leaves: ``Slice``s, the part of its text that the wanted
partials need; the compiler inlines a slice, the eager machine compiles and calls the same one.  With ::

    @elementwise(np.arctan2, math.atan2)
    def arctan2(x1, x2, *, z, z_bar):
        r2 = x1 * x1 + x2 * x2
        return z_bar * x2 / r2, -z_bar * x1 / r2

the slice for ``x1`` alone is ``r2 = x1 * x1 + x2 * x2`` and ``unbroadcast(z_bar * x2 / r2, x1)``.  The kinds derive
what authors need not write: *elementwise* has a diagonal Jacobian, so that the same formula is the tangent, and is
unbroadcast by the kind; *linear* in an argument ``a`` means ``f(a_dot, b)``; a *rule* has its tangent beside it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from types import FunctionType
from typing import Any

import gast

from srcgrad.errors import InternalError, MissingRule
from srcgrad.rules import laws, placing, slicing
from srcgrad.rules.arguments import Argument, Joint, alike, rank
from srcgrad.rules.calling import UnsupportedCall, bind
from srcgrad.rules.casting import DTYPE, Given, Manner, cast_facts, casts, check_dtype, manner_of
from srcgrad.rules.edition import renew
from srcgrad.rules.facts import UNKNOWN, Array, Fact, Unknown, as_array, number
from srcgrad.rules.formula import Formula, constant, displayed, formula_of, is_number, literal, spelling
from srcgrad.rules.laws import Head
from srcgrad.rules.placing import inline
from srcgrad.rules.results import dtype_of, elementwise, of_library
from srcgrad.rules.rewriting import item, read
from srcgrad.rules.slicing import Slice
from srcgrad.runtime.binding import decides_binding

__all__ = ["Argument", "Rule", "Slice", "UnsupportedCall", "alike", "inline", "rank"]

Expansion = Callable[[Mapping[str, gast.expr]], gast.expr]
Variants = list[tuple[tuple[Joint, ...], dict[str, object], FunctionType]]


class Rule:
    """The derivative of a family of functions that share a formula, parameters named as NumPy names them."""

    def __init__(
        self, kind: str, functions: tuple[Callable[..., object], ...], template: FunctionType,
        linear: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        head = Head.of(laws.check_template(template, functions[0] if functions else None))
        adjoint = [name for name in head.keywords if name.endswith("_bar")]
        if len(head.keywords) != 2 or len(adjoint) != 1 or adjoint[0][:-4] not in head.keywords:
            raise laws.broken(
                template,
                "needs its result and its adjoint as keyword-only parameters",
                hint=f"def {template.__name__}({', '.join(head.parameters) or 'x'}, *, y, y_bar)",
            )
        self.kind, self.functions = kind, functions
        self.template = template
        self.name = getattr(functions[0], "__name__", template.__name__) if functions else template.__name__
        self.parameters = head.parameters
        self.variadic = head.variadic
        self.adjoint = adjoint[0]
        self.result = adjoint[0][:-4]
        self.defaults: dict[str, gast.expr] = {p: constant(value) for p, value in head.defaults.items()}
        self._decides: tuple[object, ...] | None = None  # of the function of a user's rule: by what its calls are bound
        self.linear = linear
        self.synonyms: dict[str, str] = {}
        self.ignored: frozenset[str] = frozenset()
        self.allowed: dict[str, tuple[object, ...]] = {}
        self.refusals: dict[str, tuple[str, str]] = {}  # parameter -> reason and hint
        self.arranged: Callable[[list[gast.expr]], list[gast.expr]] | None = None
        self.neutral: dict[str, object] = {}
        self.guests: frozenset[object] = frozenset()  # functions of libraries, some of which return Python's numbers
        self.keeps_integers = False
        self.matrices: tuple[str, ...] = ()  # parameters that SciPy takes with fewer than two dimensions as well
        self.wrapping: tuple[tuple[str, tuple[str, ...]], ...] = ()  # integers that wrap around inside, by kind
        self.own_dtype = False  # whether results have a dtype that their operands do not tell
        self.pointwise = kind == "elementwise"  # an element of the result depends on one of each operand
        self.drops_neutral = False  # whether a default 0 that is added, 1 that multiplies, is left out of the text
        self.casts = kind == "elementwise" and any(map(casts, functions))  # takes dtype=
        self.casts_operands = True  # to that dtype; else only the result is
        self.sums: Callable[..., object] | None = None  # what adds two terms of the tangent that are containers
        self.__doc__ = template.__doc__
        self._tangent: FunctionType | None = None
        self._tangent_variants: Variants = []
        self._expand: Expansion | None = None
        self._expand_tangent: Expansion | None = None
        self._variants: Variants = []
        self._infer: Callable[..., Fact] | None = None
        self._flat: list[dict[str, object]] = []
        self._formulas: dict[FunctionType, Formula] = {}
        self._slices: dict[object, Slice] = {}
        if not laws.is_own(template):
            self.follow()
            self.refuse(laws.UNSAID, **laws.unsaid(self))

    def follow(self) -> None:
        """Take the defaults of the function of a user's rule, where it has others than before."""
        if laws.is_own(self.template):
            return
        decides, known = decides_binding(self.functions[0]) if self.functions else (), self._decides
        if known is None or len(decides) != len(known) or not all(map(operator.is_, decides, known)):
            said = Head.of(self.template).defaults
            self.defaults = {p: constant(value) for p, value in {**laws.check_rule(self), **said}.items()}
            self._decides = decides
            self._slices.clear()

    def __repr__(self) -> str:
        return f"<{self.kind} {', '.join(map(displayed, self.functions))}>"

    # --- what authors add --------------------------------------------------------------------------------------------
    def tangent(self, template: FunctionType) -> Rule:
        """Decorator: the tangent, ``def f(a, b, *, y, a_dot, b_dot)``, one returned term per tangent."""
        if not laws.is_own(self.template):
            laws.check_tangent(self, template)
        self._tangent = template
        self._slices.clear()
        renew()
        return self

    def when(self, *joint: Joint, **conditions: object) -> Callable[[FunctionType], Rule]:
        """Decorator: the formula for calls whose arguments meet ``conditions``, literals or predicates of Argument, and
        ``joint``, predicates of all arguments by parameter."""

        def add(template: FunctionType) -> Rule:
            if not laws.is_own(self.template):
                laws.check_case(self, template, conditions)
            self._variants.append((joint, conditions, template))
            renew()
            return self

        return add

    def tangent_when(self, *joint: Joint, **conditions: object) -> Callable[[FunctionType], Rule]:
        """Decorator: the tangent for calls whose arguments meet ``conditions``."""

        def add(template: FunctionType) -> Rule:
            self._tangent_variants.append((joint, conditions, template))
            renew()
            return self

        return add

    def expand(self, adjoint: Expansion | None, tangent: Expansion) -> Rule:
        """Write the partial of the variadic parameter, and the tangent, from the expressions of one call."""
        self._expand, self._expand_tangent = adjoint, tangent
        return self

    def infer(self, function: Callable[..., Fact]) -> Rule:
        """Decorator: the fact of the result, ``def f(arguments, literals) -> Fact``."""
        self._infer = function
        renew()
        return self

    def flat_when(self, **conditions: object) -> Rule:
        """The calls whose derivative is zero, so that none is written."""
        self._flat.append(conditions)
        return self

    def accept(
        self,
        *,
        ignored: Collection[str] = (),
        allowed: Mapping[str, tuple[object, ...]] | None = None,
        neutral: Mapping[str, object] | None = None,
        **synonyms: str,
    ) -> Rule:
        """Keywords that change no value, values that a parameter is restricted to, keywords that may only be given as
        the literal that changes nothing, other names of parameters."""
        self.ignored |= frozenset(ignored)
        self.allowed.update(allowed or {})
        self.neutral.update(neutral or {})
        self.synonyms.update(synonyms)
        renew()
        return self

    def refuse(self, hint: str, **reasons: str) -> Rule:
        """Parameters by which the function varies, but without a derivative here: raised only where they are active."""
        self.refusals.update({parameter: (reason, hint) for parameter, reason in reasons.items()})
        return self

    def arrange(self, function: Callable[[list[gast.expr]], list[gast.expr]]) -> Rule:
        """Another way of giving the positional arguments, turned into the one that the rule knows."""
        self.arranged = function
        return self

    # --- what both machines ask --------------------------------------------------------------------------------------
    @cached_property
    def differentiable(self) -> frozenset[str]:
        """The parameters with a partial that is not None; a variadic one whose partials are written for each call."""
        written = frozenset(self._partials(self.template))
        return written.union([self.variadic] if self._expand and self.variadic else [])

    @property
    def options(self) -> tuple[str, ...]:
        """What a call may give besides the parameters: the dtype in which a ufunc computes."""
        return (DTYPE,) if self.casts and DTYPE not in self.parameters else ()

    @property
    def sensitive(self) -> frozenset[str]:
        """The parameters with which the result varies: those with a partial, and those that are refused if active."""
        return self.differentiable.union(self.refusals) if self.refusals else self.differentiable

    def is_flat(self, given: Given, facts: Mapping[str, Fact]) -> bool:
        """Whether the derivative of a call is known to be zero."""
        return any(
            all(self._meets(self._argument(p, given, facts), condition) for p, condition in conditions.items())
            for conditions in self._flat
        )

    @property
    def has_tangent(self) -> bool:
        return self.kind != "rule" or bool(self._tangent or self._expand_tangent) or not self.differentiable

    def bind(self, function: object, args: list[gast.expr], keywords: Mapping[str, gast.expr]) -> dict[str, gast.expr]:
        """The given arguments by parameter; raises UnsupportedCall for a form of call that has no derivative here."""
        return bind(self, function, args, keywords)

    def adjoint_slice(
        self,
        wanted: Collection[str],
        given: Given,
        *,
        scalar: bool = False, strong: bool = False,
        facts: Mapping[str, Fact] | None = None,
    ) -> Slice:
        """The text for the partials of ``wanted``; ``given`` names the arguments of the call.

        Where ``given`` maps to their expressions, literals choose the formula and a variadic display is unrolled;
        ``facts`` may choose it too; ``scalar`` and ``strong`` are those of its ``Manner``.
        """
        self._check_refused(wanted, given)
        manner = manner_of(self, given, facts, scalar, strong)
        facts = cast_facts(self, given, facts, manner)
        key = self._key("adjoint", wanted, given, manner, facts)
        if key is None or key not in self._slices:
            template = self._chosen(self._variants, self.template, given, facts)
            partials = self._partials(template)
            if self._expand is not None and self.variadic is not None and self.variadic in wanted:
                if not isinstance(given, Mapping):
                    raise InternalError(f"{self.name} needs the expressions of its operands", stage="rules")
                partials[self.variadic] = self._expand(given)
            made = slicing.adjoint(self, self._formula(template), partials, set(wanted), given, manner)
            if key is None:
                return made
            self._slices[key] = made
        return self._slices[key]

    def tangent_slice(
        self,
        active: Collection[str],
        given: Given,
        *,
        scalar: bool = False, strong: bool = False,
        facts: Mapping[str, Fact] | None = None,
    ) -> Slice:
        """The text for the tangent of the result, ``y_dot``, in terms of ``p_dot`` for every active parameter."""
        self._check_refused(active, given)
        manner = manner_of(self, given, facts, scalar, strong)
        facts = cast_facts(self, given, facts, manner)
        key = self._key("tangent", active, given, manner, facts)
        if key is not None and key in self._slices:
            return self._slices[key]
        unknown = set(active) - self.differentiable
        if unknown:
            raise InternalError(f"{self.name} has no derivative by {sorted(unknown)}", stage="rules")
        written = self._chosen(self._tangent_variants, self._tangent, given, facts)
        expanded: dict[str, gast.expr] = {}
        if self._expand_tangent is not None and self.variadic is not None and self.variadic in active:
            if not isinstance(given, Mapping):
                raise InternalError(f"{self.name} needs the expressions of its operands", stage="rules")
            expanded = {self.variadic: self._expand_tangent(given)}
        if written is not None:
            head = Head.of(written)
            formula = self._formula(written)
            dots = [name for name in head.keywords if name.endswith("_dot")]
            terms = formula.returned
            if len(dots) == 1 and len(terms) > 1:
                terms = (gast.Tuple(list(terms), gast.Load()),)
            if len(dots) != len(terms):
                raise InternalError(f"the tangent of {self.name} returns {len(terms)} terms for {len(dots)} tangents")
            by_parameter = {dot[:-4]: term for dot, term in zip(dots, terms, strict=True)} | expanded
            made = slicing.tangent(self, formula, by_parameter, set(active), given, manner)
        elif expanded:
            made = slicing.tangent(self, Formula((), ()), expanded, set(active), given, manner)
        elif self.kind == "elementwise":
            template = self._chosen(self._variants, self.template, given, facts)
            formula, partials = self._formula(template), self._partials(template)
            made = slicing.diagonal_tangent(self, formula, partials, set(active), given, manner)
        elif self.kind == "linear":
            made = slicing.linear_tangent(self, spelling(self.functions[0]), set(active), given, manner)
        else:
            raise MissingRule(
                f"{displayed(self.functions[0])} has no tangent", code="E0506",
                hint=f"write @{self.template.__name__}.tangent below the rule in {self.template.__module__}",
            )
        if key is not None:
            self._slices[key] = made
        return made

    def shape(
        self,
        arguments: Mapping[str, Fact],
        literals: Mapping[str, object] | None = None,
        function: object = None,
    ) -> Fact:
        """The fact of the result; ``literals`` are arguments known by value, ``function`` is the one called."""
        known = {p: literal(d)[1] for p, d in self.defaults.items() if p not in arguments}
        known.update(literals or {})
        if self.casts and DTYPE in arguments:
            others = {p: fact for p, fact in arguments.items() if p != DTYPE}
            plain = as_array(self.shape(others, {p: v for p, v in known.items() if p != DTYPE}, function))
            if getattr(function, "__module__", None) == "cmath":
                return plain
            return Array(plain.shape, None if function is None else dtype_of(arguments, known, None), plain.scalar)
        if self._infer is not None:
            return self._strong(self._infer(arguments, known), function)
        if self.kind == "elementwise":
            operands = [as_array(fact) for fact in arguments.values()]
            made = elementwise(function, self.functions, operands, keeps_integers=self.keeps_integers)
            return self._strong(made, function)
        return Unknown()

    def compile_adjoint(
        self,
        wanted: Collection[str],
        given: Given,
        *,
        count: int | None = None,
        scalar: bool = False,
        facts: Mapping[str, Fact] | None = None,
    ) -> Callable[..., tuple[Any, ...]]:
        """The slice as a callable of the given arguments in the rule's order, the result and its adjoint; it returns
        one partial per wanted parameter, in order.  ``count`` is the number of variadic operands, passed as a tuple."""
        piece = self.adjoint_slice(wanted, placing.operands(self, given, count), scalar=scalar, facts=facts)
        names = [p for p in (*self.parameters, *self.options) if p in given] + [self.result, self.adjoint]
        return placing.callable_of(piece, names, [p for p in self.parameters if p in wanted], f"{self.name}_adjoint")

    def compile_tangent(
        self,
        active: Collection[str],
        given: Given,
        *,
        count: int | None = None,
        scalar: bool = False,
        facts: Mapping[str, Fact] | None = None,
    ) -> Callable[..., Any]:
        """The tangent as a callable of the given arguments, the result, and the active tangents, all in order."""
        piece = self.tangent_slice(active, placing.operands(self, given, count), scalar=scalar, facts=facts)
        names = [p for p in (*self.parameters, *self.options) if p in given] + [self.result]
        names += [f"{p}_dot" for p in self.parameters if p in active]
        return placing.callable_of(piece, names, [f"{self.result}_dot"], f"{self.name}_tangent")

    def _check_refused(self, wanted: Collection[str], given: Given) -> None:
        check_dtype(self, given)
        for parameter in self.parameters:
            if parameter in wanted and parameter in self.refusals:
                (reason, hint), name = self.refusals[parameter], displayed(self.functions[0])
                message = f"{name} has no derivative by its argument {parameter!r}: {reason}"
                raise MissingRule(message, code="E0504", hint=hint)

    # --- formulas ----------------------------------------------------------------------------------------------------
    def _formula(self, template: FunctionType) -> Formula:
        if template not in self._formulas:
            self._formulas[template] = formula_of(template)
        return self._formulas[template]

    def templates(self) -> list[FunctionType]:
        """Every formula as it was written: adjoint, variants, tangent."""
        templates = [self.template, *(t for *_, t in self._variants), *(t for *_, t in self._tangent_variants)]
        return templates + ([self._tangent] if self._tangent else [])

    def expanded(self, count: int) -> tuple[gast.expr | None, gast.expr | None]:
        """What is written for a call with so many operands in the place of the variadic parameter: their partials, and
        the tangent."""
        if self.variadic is None:
            return None, None

        def given(*several: str) -> dict[str, gast.expr]:
            each = {p: read(p) for p in self.parameters if p not in self.defaults and p != self.variadic}
            made = {name: gast.Tuple([item(name, i) for i in range(count)], gast.Load()) for name in several}
            return {**each, **made}

        adjoint = None if self._expand is None else self._expand(given(self.variadic))
        dots = self.variadic, f"{self.variadic}_dot"
        return adjoint, None if self._expand_tangent is None else self._expand_tangent(given(*dots))

    def formulas(self) -> list[Formula]:
        """Every formula of this rule, read."""
        return [self._formula(template) for template in self.templates()]

    def _partials(self, template: FunctionType) -> dict[str, gast.expr]:
        """Partials by parameter, those that are None left out; trailing ones may be missing altogether."""
        names: tuple[str, ...] = self.parameters
        returned = self._formula(template).returned
        if self.kind == "linear":
            if len(returned) == len(self.linear):
                names = self.linear
            elif len(returned) != len(names):
                raise laws.broken(template, f"returns {len(returned)} partials for {', '.join(self.linear)}")
        if len(returned) > len(names):
            raise laws.broken(template, "returns more partials than it has parameters")
        return {
            p: partial
            for p, partial in zip(names, returned, strict=False)
            if not (isinstance(partial, gast.Constant) and partial.value is None)
        }

    def _chosen(
        self,
        variants: Variants,
        otherwise: Any,
        given: Given,
        facts: Mapping[str, Fact] | None,
    ) -> Any:
        arguments = {p: self._argument(p, given, facts) for p in self.parameters} if variants else {}
        for joint, conditions, template in variants:
            if all(self._meets(arguments[p], c) for p, c in conditions.items()) and all(c(arguments) for c in joint):
                return template
        return otherwise

    def _argument(self, parameter: str, given: Given, facts: Mapping[str, Fact] | None) -> Argument:
        fact = (facts or {}).get(parameter, UNKNOWN)
        if parameter not in given:
            expression = self.defaults.get(parameter)
        else:
            expression = given[parameter] if isinstance(given, Mapping) else None
        known, value = (False, None) if expression is None else literal(expression)
        if known and isinstance(fact, Unknown) and is_number(expression):
            fact = number(type(value).__name__)
        count = len(expression.elts) if parameter == self.variadic and isinstance(expression, gast.Tuple) else None
        return Argument(known, value, fact, count)

    @staticmethod
    def _meets(argument: Argument, condition: object) -> bool:
        if callable(condition):
            return bool(condition(argument))
        return argument.is_literal and type(argument.literal) is type(condition) and argument.literal == condition

    def _key(
        self, what: str, wanted: Collection[str], given: Given, manner: Manner, facts: Mapping[str, Fact] | None
    ) -> object:
        """A key under which a slice can be shared, or None when it depends on the expressions of this one call."""
        if self.variadic is not None and isinstance(given, Mapping):
            return None
        chosen = (
            self._chosen(self._variants, None, given, facts),
            self._chosen(self._tangent_variants, None, given, facts),
        )
        numbers = tuple(isinstance(given, Mapping) and p in given and is_number(given[p]) for p in self.parameters)
        return what, frozenset(wanted), frozenset(given), manner, chosen, numbers

    # --- facts -------------------------------------------------------------------------------------------------------
    def _strong(self, fact: Fact, function: object) -> Fact:
        """Python's numbers become NumPy's when a NumPy function returns them; unknown when no function is named."""
        if self.guests and (function is None or function in self.guests):
            return of_library(fact)
        if isinstance(fact, Array) and fact.dtype in ("int", "float", "complex"):
            home = getattr(function, "__module__", None) or ""
            if home in ("math", "_operator", "builtins"):
                return fact
            strong = {"int": "int64", "float": "float64", "complex": "complex128"}[fact.dtype]
            is_numpy = type(function).__name__ == "ufunc" or home.startswith("numpy")
            return Array(fact.shape, strong if is_numpy else None, fact.scalar)
        return fact
