"""The adjoint of one statement of the normal form.

Enters: a ``Bind``, ``Unpack``, ``Append``, ``Pop``, ``AddAt`` or ``Return`` and the adjoints that are set after it.
Leaves: the statements that turn them into the adjoints before it.  Primal values are read through ``Reference``s, which
say the version they mean; ``analysis.required`` decides later where each comes from::

    s = u * x        ->     u_bar = s_bar * x
                            x_bar = x_bar + s_bar * u       (s_bar is zero from here on: it has no variable)

Where a statement reads what it overwrites (``s = s * u``), the adjoint of the overwritten name is formed last, in one
assignment, from the old one: take the adjoint, zero it, then add (Griewank & Walther, *Evaluating Derivatives*, §3.3).
"""

from __future__ import annotations

import operator
from collections.abc import Mapping

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import Activity, atoms, inputs
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.analysis.references import reference, referring
from srcgrad.errors import InternalError, MissingRule
from srcgrad.ir.normal_form import (
    Apply,
    Bind,
    Block,
    Call,
    Copy,
    Exchange,
    Field,
    Fixed,
    Function,
    Index,
    Pack,
    Return,
    Statement,
    Unruled,
)
from srcgrad.rules.facts import (
    Array,
    Fact,
    Unknown,
    as_array,
    is_floating,
    is_real,
    keeps_complex,
    same_dtype,
    same_shape,
)
from srcgrad.rules.memory import KEEPS_ALIASES, LIBRARIES, home_of
from srcgrad.rules.template import inline
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone
from srcgrad.transform.build import (
    assign,
    constant,
    load,
    numpy_call,
    subscript,
)
from srcgrad.transform.calls import CallAdjoint, Calls
from srcgrad.transform.contributions import calls_function
from srcgrad.transform.cotangents import Cotangents
from srcgrad.transform.shadows import Shadows
from srcgrad.transform.widening import widening


class StatementAdjoint(CallAdjoint):
    """Adjoints of simple statements; ``transform.control`` drives it through blocks, branches and loops."""

    def __init__(
        self,
        activity: Activity,
        facts: Mapping[str, Fact],
        calls: Calls,
        namer: Namer,
        seed: gast.expr,
        shadows: Shadows | None = None,
    ) -> None:
        super().__init__(activity, facts, namer, calls, shadows)
        self.seed = seed
        self.seeds: dict[Statement, str] = {}  # the adjoint of a result of which a part may be an operand's
        self.wide: dict[str, str] = {}  # temporary whose adjoint was left in a larger shape -> the name that has it
        self.widenable = _widenable(activity.function, facts).difference(self.shadowed)
        self.lenient = _lenient(activity.function, facts).difference(self.shadowed)

    # --- statements --------------------------------------------------------------------------------------------------
    def bind(self, statement: Bind, block: Block, position: int) -> list[gast.stmt]:
        target = statement.target
        if self.shadows is not None and statement in self.shadows.calls:
            return self.call_with_shadows(statement, block, position)
        if self.mirrors(statement):
            return self.mirrored(statement, block, position)
        if target in self.shadowed:
            return self._bind_shadowed(statement, block, position)
        if target not in self.bars:
            return []
        if target not in self.activity.useful_after(statement):
            self.bars.drop(target)
            return []
        return self._operation(statement, block, position)

    def _bind_shadowed(self, statement: Bind, block: Block, position: int) -> list[gast.stmt]:
        """The target's adjoint is its shadow, which ends with what the target was bound to."""
        assert self.shadows is not None
        target = statement.target
        if statement in self.shadows.handed or target not in self.activity.useful_after(statement):
            return []
        sources = self.shadows.sources.get(statement, ())
        again = self._holds_twice(statement)
        if again or any(not isinstance(self.fact(name), Array) for name in sources):
            self.seeds[statement] = self.fresh(f"{target}_bar")
        before = self.bars.copy()
        code = self._operation(statement, block, position)
        if again:
            once = call_runtime(runtime.each_once, self.shadow(target, after=True))
            return [assign(self.seeds[statement], once), *code] if code else []
        known = [self.shadow(name) for name in self.shadows.sources.get(statement, ())]
        if not known or not code:
            return code
        if statement in self.seeds:
            test: gast.expr = gast.Compare(load(self.seeds[statement]), [gast.IsNot()], [constant(None)])
            return [
                assign(
                    self.seeds[statement],
                    call_runtime(runtime.own_adjoint, self.shadow(target, after=True), *known),
                ),
                gast.If(test, code, self._without(before, block, position)),
            ]
        test = call_runtime(runtime.separate, self.shadow(target, after=True), *known)
        return [gast.If(test, code, self._without(before, block, position))]

    def _without(self, before: Cotangents, block: Block, position: int) -> list[gast.stmt]:
        """What stands in place of contributions that may be left out: zeros of the adjoints that begin with them.

        ``before``: the adjoints before the contributions.  What holds of one afterwards holds in both cases.
        """
        made: list[gast.stmt] = []
        for name, owned in list(self.bars.owned.items()):
            if name not in before:
                made += self.zero(name, block, position)
            if not owned or not before.owned.get(name, True):
                self.bars.share(name)
        self.bars.pending |= before.pending & self.bars.owned.keys()
        return made

    def _holds_twice(self, statement: Bind) -> bool:
        """Whether a statement makes anew what may hold one memory in two places, whose adjoint belongs to it once."""
        made = statement.operation
        return isinstance(made, Apply) and made.function in KEEPS_ALIASES and not isinstance(
            self.fact(statement.target), Array
        )

    def _operation(self, statement: Bind, block: Block, position: int) -> list[gast.stmt]:
        target = statement.target
        varied = self.activity.varied_before(statement)
        match statement.operation:
            case Fixed():
                self.bars.drop(target)
                return []
            case Unruled(refusal=refusal):
                if not any(name in varied for name in inputs(statement)):
                    self.bars.drop(target)
                    return []
                raise refusal
            case Copy(source=source):
                if source not in varied:
                    self.bars.drop(target)
                    return []
                return self.distribute(target, [(source, self.bar_name(target))])
            case Index(base=base, index=gast.Tuple(elts=[])) if base not in self.shadowed and base in varied:
                return self.distribute(target, [(base, self.bar_name(target))])  # all of it, which may be one number
            case Index(base=base, index=index):
                return self._index(statement, base, index, block, position, base in varied)
            case Field(base=base, name=name):
                return self._index(statement, base, constant(name), block, position, base in varied)
            case Exchange(base=base) if _is_number(self.fact(base)) or not any(n in varied for n in inputs(statement)):
                self.bars.drop(target)  # a number has no such method: nothing after it runs
                return []
            case Pack():
                return self.pack(statement, statement.operation, varied)
            case Apply():
                return self._apply(statement, statement.operation, block, position, varied)
            case Call():
                return self.call(statement, statement.operation, block, position, varied)
        raise InternalError(f"the adjoint of {type(statement.operation).__name__} is not known", statement.span)

    def _index(
        self, statement: Bind, base: str, index: gast.expr, block: Block, position: int, varied: bool
    ) -> list[gast.stmt]:
        target = statement.target
        if not varied:
            self.bars.drop(target)
            return []
        code: list[gast.stmt] = []
        value: gast.expr = self.bar_name(target)
        if self.shadows is not None:
            index = self.shadows.places.get(statement, index)
        place = referring(index, block, position)
        if base == target and base not in self.shadowed:
            # x = x[i]: the old adjoint is the contribution, the new one a buffer of the old x.
            old = self.fresh(f"{target}_bar")
            code.append(assign(old, value))
            self.bars.drop(target)
            value = load(old)
            code += self.add_at(base, place, value, block, position)
            return code
        code += self.add_at(base, place, value, block, position)
        self.bars.drop(target)
        return code

    def _apply(self, statement: Bind, apply: Apply, block: Block, position: int, varied: object) -> list[gast.stmt]:
        target = statement.target
        wanted = frozenset(
            p
            for p, argument in apply.arguments.items()
            if p in apply.rule.sensitive and any(n in varied for n in atoms(argument))  # type: ignore[operator]
        )
        if not wanted:
            self.bars.drop(target)
            return []
        facts = {p: self.fact_of(e) for p, e in apply.arguments.items()}
        scalar = _is_number(self.fact(target)) and all(
            _is_number(self.fact(n)) for p in wanted for n in atoms(apply.arguments[p])
        )
        try:
            scalar, strong = scalar and _is_math(apply.function), self.calls.strong_zeros
            piece = apply.rule.adjoint_slice(wanted, apply.arguments, scalar=scalar, strong=strong, facts=facts)
        except MissingRule as missing:
            raise MissingRule(
                missing.reason, statement.span, code=missing.code, label="this argument varies", hint=missing.hint
            ) from None
        binding: dict[str, gast.expr] = {
            p: referring(self.as_then(statement, p, e), block, position) for p, e in apply.arguments.items()
        }
        binding[apply.rule.result] = reference(target, block, position + 1)
        seed = self.seeds.get(statement)
        binding[apply.rule.adjoint] = self.bar_name(target) if seed is None else load(seed)
        code = widening(
            piece, apply.rule, facts, wanted, binding, binding[apply.rule.adjoint], self.fresh, self.calls.shown,
            statement.span,
        )  # fmt: skip
        prelude, partials = inline(piece, binding, self.fresh)
        code += prelude
        contributions: list[tuple[str, gast.expr]] = []
        for parameter in apply.arguments:
            if parameter not in wanted:
                continue
            argument = apply.arguments[parameter]
            partial = partials[parameter]
            if isinstance(argument, gast.Tuple | gast.List):
                contributions += self._spread(argument, partial, varied, code)
            else:
                name = atoms(argument)[0]
                contributions.append((name, self._fitting(partial, name, apply.rule.kind, statement, block, position)))
        return code + self.distribute(target, contributions)

    def _spread(
        self, argument: gast.Tuple | gast.List, partial: gast.expr, varied: object, code: list[gast.stmt]
    ) -> list[tuple[str, gast.expr]]:
        """A sequence of partials, one per operand of a variadic rule."""
        if isinstance(partial, gast.Tuple) and len(partial.elts) == len(argument.elts):
            pairs = zip(argument.elts, partial.elts, strict=True)
            return [(n, part) for element, part in pairs for n in atoms(element) if n in varied]  # type: ignore[operator]
        parts = self.fresh("parts")
        code.append(assign(parts, partial))
        return [
            (name, subscript(load(parts), constant(j)))
            for j, element in enumerate(argument.elts)
            for name in atoms(element)
            if name in varied  # type: ignore[operator]
        ]

    def _fitting(
        self, partial: gast.expr, name: str, kind: str, statement: Bind, block: Block, position: int
    ) -> gast.expr:
        """A partial of an elementwise rule summed down to the shape of its operand, no sooner than needed.

        A temporary that is used once, and was itself made elementwise, can keep the larger shape and an imaginary part:
        its own operands are summed down instead, and its value need not be known for its shape's sake.
        """
        target = statement.target
        if kind != "elementwise":
            return partial
        bare = partial
        if isinstance(partial, gast.Call) and calls_function(partial, runtime.unbroadcast):
            bare = partial.args[0]
        source = self.wide.get(target, target)
        if name in self.lenient and source == target and self.is_scalar(target):
            return bare
        if name in self.widenable:
            if source != target or bare is not partial or self._leaves_dtype(name, statement):
                self.wide[name] = source
            return bare
        keeps_shape = bare is partial or self._sets_shape(name, statement)
        if source == target and keeps_shape and not self._may_be_longer(name, statement):
            is_narrow = target not in self.lenient or name in self.lenient
            if is_narrow and not self._leaves_dtype(name, statement):
                return bare
        narrow = call_runtime(runtime.unbroadcast, bare, reference(name, block, position, shape_only=True))
        return self._narrowed(narrow, name, source)

    def _sets_shape(self, name: str, statement: Bind) -> bool:
        """Whether every other operand is a plain number, so that the result has the shape and dtype of ``name``."""
        assert isinstance(statement.operation, Apply)
        others = [e for e in statement.operation.arguments.values() if name not in atoms(e)]
        return all(isinstance(f := self.fact_of(e), Array) and f.scalar and f.dtype in WEAK for e in others)

    def _may_be_longer(self, name: str, statement: Bind) -> bool:
        """Whether this may be a list joined to itself or times an integer, a longer list: ``unbroadcast`` looks."""
        assert isinstance(statement.operation, Apply)
        function, operands = statement.operation.function, statement.operation.arguments.values()
        if function not in (operator.add, operator.mul) or not isinstance(self.fact(name), Unknown):
            return False
        others = [as_array(self.fact_of(e)) for e in operands if name not in atoms(e)]
        return not others if function is operator.add else not all(is_floating(fact.dtype) for fact in others)

    def _leaves_dtype(self, name: str, statement: Bind) -> bool:
        """Whether the result may have another dtype than ``name`` although no other operand brings one."""
        assert isinstance(statement.operation, Apply)
        mine, result, function = self.fact(name), self.fact(statement.target), statement.operation.function
        if isinstance(mine, Array) and isinstance(result, Array) and mine.dtype and result.dtype:
            return not same_dtype(mine, result) and keeps_complex(function)
        if statement.operation.rule.own_dtype or home_of(function) not in LIBRARIES:
            return True  # a complex number of a real one; nobody knows what a user's function makes of its operands
        if function not in (operator.pow, pow) or self.is_array(name):
            return False
        # A negative Python float to the power of a fraction is complex.
        base, exponent = list(statement.operation.arguments.values())[:2]
        is_real = isinstance(result, Array) and result.is_real
        return not (is_real or _is_whole(exponent) or isinstance(base, gast.Constant))

    def _narrowed(self, partial: gast.Call, name: str, target: str) -> gast.expr:
        """Drop an ``unbroadcast`` that the facts prove idle; to a scalar it is a sum."""
        mine, result = self.fact(name), self.fact(target)
        if isinstance(mine, Array) and isinstance(result, Array):
            if same_dtype(mine, result) or (mine.is_real and result.is_real):
                if same_shape(mine, result):
                    return partial.args[0]
                if mine.shape == () and result.shape:
                    return numpy_call("sum", partial.args[0])
        return partial

    def leave(self, statement: Return, block: Block, position: int) -> list[gast.stmt]:
        names = atoms(statement.value)
        if not names or names[0] not in self.activity.varied_before(statement):
            return []
        seed = clone(self.seed)
        if self.shadows is not None and statement in self.shadows.results:
            if names[0] in self.shadowed:
                return []  # whoever has the result adds to its shadow
            seed = reference(self.shadows.results[statement], block, position)
        if isinstance(seed, gast.Name) and seed.id == self.names.get(names[0]) and names[0] not in self.bars:
            self.bars.assign(names[0], owned=False)
            return []
        return self.add(names[0], seed)


WEAK = ("int", "float")  # Python numbers: they take the dtype of the array they meet


def _widenable(function: Function, facts: Mapping[str, Fact]) -> frozenset[str]:
    """Temporaries that only elementwise rules of fixed arity make, and that are read once.

    A variadic rule hands its partials on as they are, and any other operation needs the adjoint of its result in the
    shape of the result: an adjoint in a larger shape may reach neither.  Nor may an imaginary part reach the operand of
    a function that makes real numbers of complex ones: elsewhere it is dropped where the operands are found to be real.
    """
    made: set[str] = set()
    others: set[str] = set()
    reads: dict[str, int] = {}
    for statement in walk(function.body):
        for name in inputs(statement):
            reads[name] = reads.get(name, 0) + 1
        match statement:
            case Bind(target=target, operation=Apply() as apply) if _may_widen(apply, facts):
                made.add(target)
            case _:
                others.update(bound_here(statement))
    return frozenset(n for n in made & function.temporaries if n not in others and reads.get(n) == 1)


def _is_whole(exponent: gast.expr) -> bool:
    match exponent:
        case gast.UnaryOp(operand=gast.Constant(value=int() | float() as value)) | gast.Constant(
            value=int() | float() as value
        ):
            return value == int(value)
    return False


def _lenient(function: Function, facts: Mapping[str, Fact]) -> frozenset[str]:
    """Single numbers of unknown dtype whose adjoint may keep an imaginary part although they are real.

    What computes them makes no real numbers of complex ones, so that it is dropped further up.
    """
    found = {n for n, f in facts.items() if isinstance(f, Array) and f.shape == () and not (f.is_real or f.dtype)}
    for statement in walk(function.body):
        match statement:
            case Bind(operation=Fixed()):
                continue
            case Bind(operation=Apply(function=called)) if keeps_complex(called):
                continue
        found.difference_update(bound_here(statement))
    return frozenset(found.difference(function.parameters))


def _may_widen(apply: Apply, facts: Mapping[str, Fact]) -> bool:
    if apply.rule.kind != "elementwise" or apply.rule.variadic:
        return False
    operands = (facts.get(n) for e in apply.arguments.values() for n in atoms(e))
    return keeps_complex(apply.function) or all(isinstance(f, Array) and is_real(f.dtype) for f in operands)


def _is_number(fact: Fact) -> bool:
    """Whether a value is a single real number whose adjoint needs no narrowing: no complex number, no float32."""
    return isinstance(fact, Array) and fact.shape == () and fact.is_real


def _is_math(function: object) -> bool:
    return getattr(function, "__module__", None) in ("math", "_operator", "builtins")
