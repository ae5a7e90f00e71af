"""The tangent of one statement of the normal form, beside the statement itself.

Enters: a ``Bind``, ``Unpack``, ``Append`` or ``Pop``.  Leaves: the primal statement and the statements that
bind the tangents of what it binds, in an order in which each reads the values that it means::

    y = np.exp(x)     ->   y = np.exp(x);  y_dot = x_dot * y           the result is read
    s = s * x         ->   s_dot = s_dot * x + s * x_dot;  s = s * x    what is overwritten is read: tangent first
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import Activity, atoms, inputs
from srcgrad.analysis.cfg import bound_here
from srcgrad.analysis.summaries import Summary
from srcgrad.analysis.values import fact_of_expression, is_copy, is_defaulting
from srcgrad.errors import InternalError, MissingRule
from srcgrad.ir.as_python import statement_as_python
from srcgrad.ir.normal_form import (
    Append,
    Apply,
    Bind,
    Call,
    Callee,
    Copy,
    Create,
    Exchange,
    Field,
    Fixed,
    Function,
    Index,
    Pack,
    Pop,
    Statement,
    Unpack,
    Unruled,
)
from srcgrad.rules.facts import (
    Array,
    Fact,
    Sequence,
    Static,
    Unknown,
    broadcast,
    is_floating,
    keeps_complex,
    same_dtype,
    same_shape,
)
from srcgrad.rules.template import Slice, inline
from srcgrad.syntax.globals import GlobalReference, call_runtime
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone, names_read, walk
from srcgrad.transform.build import (
    assign,
    call,
    constant,
    load,
    method,
    minus_lists,
    numpy_call,
    store,
    subscript,
    sum_by_numpy,
    tuple_of,
    unpack,
)
from srcgrad.transform.calls import constant_fact
from srcgrad.transform.forward_liveness import Tangents, tangents_of
from srcgrad.transform.primal_results import RESULT, field_tangent, naming_result
from srcgrad.transform.reverse import WEAK
from srcgrad.transform.widening import widening


class Calls(Protocol):
    """How a call site reaches the tangent program of its callee: the name of a function beside this one.

    ``strong_zeros``: how rules are written (``rules.strong_zeros``); ``shown``: the text is made to be read."""

    strong_zeros: bool
    shown: bool

    def tangent(self, callee: Callee, active: tuple[bool, ...], facts: tuple[Fact, ...]) -> gast.expr: ...

    def primal(self, callee: Callee) -> gast.expr | None: ...

    def summary_of(self, callee: Callee, facts: tuple[Fact, ...]) -> Summary: ...


class StatementTangent:
    """Tangents of simple statements; ``transform.forward`` drives it through blocks, branches and loops."""

    def __init__(
        self,
        function: Function,
        activity: Activity,
        facts: Mapping[str, Fact],
        calls: Calls,
        mirrored: frozenset[str] = frozenset(),
        beside: frozenset[str] = frozenset(),
        *,
        attempted: bool = False,
    ) -> None:
        self.function = function
        self.activity = activity
        self.facts = facts
        self.calls = calls
        self.mirrored = mirrored
        self.beside = beside
        self.attempted = attempted  # what a store raises may be caught
        self.tangents: Tangents = tangents_of(activity, mirrored)
        self.namer = Namer(_names_taken(function, activity))
        self.dots: dict[str, str] = {}
        self.temporaries: set[str] = set()

    # --- names, facts, zeros -----------------------------------------------------------------------------------------
    def dot(self, name: str) -> str:
        """The name of the tangent of ``name``."""
        if name not in self.dots:
            self.dots[name] = self.namer.fresh(f"{name}_dot")
        return self.dots[name]

    def fresh(self, stem: str) -> str:
        name = self.namer.fresh(stem)
        self.temporaries.add(name)
        return name

    def fact(self, name: str) -> Fact:
        return self.facts.get(name, Unknown())

    def fact_of_atom(self, atom: gast.expr) -> Fact:
        if isinstance(atom, gast.Tuple):  # the operands of a variadic rule
            return Sequence("tuple", tuple(map(self.fact_of_atom, atom.elts)))
        return self.fact(atom.id) if is_local(atom) else constant_fact(atom)

    def zero_of(self, atom: gast.expr, fact: Fact | None = None) -> gast.expr:
        """The zero tangent of an atom, in the shape of its value."""
        match fact or self.fact_of_atom(atom):
            case Array(shape=(), scalar=scalar) if scalar or not (is_local(atom) and atom.id in self.mirrored):
                return constant(0.0)
            case Static(value) if not hasattr(value, "dtype") and not isinstance(value, complex):
                return constant(None)
            case Array(shape=tuple(), dtype=dtype, scalar=False) if is_floating(dtype):
                return numpy_call("zeros_like", clone(atom))
        return call_runtime(runtime.zeros_like, clone(atom))

    def zero(self, name: str, binder: Bind | None = None) -> list[gast.stmt]:
        """Give ``name`` the tangent zero, where ``binder`` has just bound it."""
        fact: Fact | None = None
        if binder is not None and isinstance(binder.operation, Fixed):
            fact = fact_of_expression(binder.expression, self.fact)
        return [assign(self.dot(name), self.zero_of(load(name), fact))]

    def dot_of(self, atom: gast.expr, statement: Statement) -> gast.expr:
        """The tangent of an operand as it stands before a statement: zero where it is not varied."""
        if isinstance(atom, gast.Tuple | gast.List):
            return type(atom)([self.dot_of(element, statement) for element in atom.elts], gast.Load())
        if is_local(atom) and self.tangents.varied(atom.id, statement):
            return load(self.dot(atom.id))
        return self.zero_of(atom)

    def argument_facts(self, made: Call) -> tuple[Fact, ...]:
        return tuple(self.fact_of_atom(argument) for argument in made.arguments)

    # --- bindings ----------------------------------------------------------------------------------------------------
    def _bind(self, statement: Bind) -> list[gast.stmt]:
        target, made = statement.target, statement.operation
        if isinstance(made, Unruled) and target in self.activity.useful_after(statement):
            if any(self.tangents.varied(n, statement) for n in inputs(statement)):
                raise made.refusal
        if not self.tangents.needed_after(target, statement):
            return [self._primal(statement)]
        if not self.tangents.moves(statement):
            if isinstance(made, Pack) and not made.elements:
                return [self._primal(statement), assign(self.dot(target), clone(statement.expression))]
            return [self._primal(statement), *self.zero(target, statement)]
        match made:
            case Copy(source=source):
                value: gast.expr = load(self.dot(source))
            case Index(base=base, index=index):
                value = subscript(load(self.dot(base)), clone(index))
            case Field(base=base, name=name, shared=shared):
                value = field_tangent(self.dot(base), name, shared=shared, held=self.fact(target))
            case Pack():
                value = self._pack(made, statement)
            case Apply():
                return self._apply(statement, made)
            case Call():
                return self._call(statement, made)
            case Unruled(refusal=refusal):
                raise refusal
            case Fixed() | Create() | Exchange():
                raise InternalError("an expression without derivative has a tangent", statement.span)
        return self._around(statement, [assign(self.dot(target), value)])

    def _primal(self, statement: Bind) -> gast.stmt:
        if isinstance(statement.operation, Call):
            function = self.calls.primal(statement.operation.callee)
            if function is not None:
                return assign(statement.target, call(function, *map(clone, statement.operation.arguments)))
        return restated(statement)

    def _around(self, statement: Bind, code: list[gast.stmt]) -> list[gast.stmt]:
        """The tangent after its primal statement; before it, or around it, where it reads what that overwrites."""
        read = names_read(*code)
        primal = restated(statement)
        if statement.target not in read:
            return [primal, *naming_result(code, statement.target)]
        if RESULT not in read:
            return [*code, primal]
        held = self.fresh(statement.target)
        return [
            assign(held, clone(statement.expression)),
            *naming_result(code, held),
            assign(statement.target, load(held)),
        ]

    def _pack(self, made: Pack, statement: Bind) -> gast.expr:
        elements = [self.dot_of(element, statement) for element in made.elements]
        if made.kind in ("dict", "object"):
            value = gast.Dict([clone(key) for key in made.keys], elements)
            return call_runtime(runtime.defaulting, value) if is_defaulting(statement) else value
        return gast.List(elements, gast.Load()) if made.kind == "list" else tuple_of(elements)

    def _call(self, statement: Bind, made: Call) -> list[gast.stmt]:
        active = tuple(any(self.tangents.varied(n, statement) for n in atoms(a)) for a in made.arguments)
        function = self.calls.tangent(made.callee, active, self.argument_facts(made))
        dots = [self.dot_of(a, statement) for a, is_active in zip(made.arguments, active, strict=True) if is_active]
        value = call(function, *map(clone, made.arguments), *dots)
        return [unpack([statement.target, self.dot(statement.target)], value)]

    def _apply(self, statement: Bind, made: Apply) -> list[gast.stmt]:
        rule = made.rule
        active = frozenset(
            p for p, argument in made.arguments.items()
            if p in rule.sensitive and any(self.tangents.varied(n, statement) for n in atoms(argument))
        )  # fmt: skip
        facts = {p: self.fact_of_atom(argument) for p, argument in made.arguments.items()}
        piece = self._slice(made, active, facts, statement)
        binding: dict[str, gast.expr] = dict(made.arguments)
        for parameter in active:
            binding[f"{parameter}_dot"] = self.dot_of(made.arguments[parameter], statement)
        wider = widening(
            piece, rule, facts, active, binding, load(RESULT), self.fresh, self.calls.shown, statement.span
        )
        prelude, values = inline(piece, {**binding, rule.result: load(RESULT)}, self.fresh)
        (value,) = values.values()
        if isinstance(statement.expression, gast.BinOp):
            value = minus_lists(value, [binding[f"{p}_dot"] for p in active if not isinstance(facts[p], Array)])
            if isinstance(statement.expression.op, gast.Add | gast.Sub) and _takes_list(facts):
                value = sum_by_numpy(value)
        if is_copy(statement) and not isinstance(facts["a"], Array):
            value = call_runtime(runtime.own, binding["a_dot"])  # of a list or dict as well
        value = self._narrowed(_spread(value), piece, made, facts, self.fact(statement.target))
        value = self.apart(value, statement, made)
        return self._around(statement, [*wider, *prelude, assign(self.dot(statement.target), value)])

    def apart(self, value: gast.expr, statement: Bind, made: Apply) -> gast.expr:
        """A tangent that shares memory with no other where the values share none, if that may matter."""
        return call_runtime(runtime.own, value) if self._may_share(value, statement) else value

    def _slice(self, made: Apply, active: frozenset[str], facts: Mapping[str, Fact], statement: Bind) -> Slice:
        known = [self.fact(statement.target), *facts.values()]
        scalar = _is_python(made.function) and all(isinstance(f, Array) and f.scalar and f.is_real for f in known)
        try:
            strong = self.calls.strong_zeros
            return made.rule.tangent_slice(active, made.arguments, scalar=scalar, strong=strong, facts=facts)
        except MissingRule as missing:
            if missing.span is not None and missing.span.known:
                raise
            raise MissingRule(missing.reason, statement.span, code=missing.code, hint=missing.hint) from None

    @staticmethod
    def _narrowed(value: gast.expr, piece: Slice, made: Apply, facts: Mapping[str, Fact], result: Fact) -> gast.expr:
        """Drop a ``rebroadcast`` that the facts prove idle: what the tangent reads has the result's shape and dtype."""
        if not (isinstance(value, gast.Call) and calls_to(value, runtime.rebroadcast)):
            return value
        if any(isinstance(n, gast.Constant) and isinstance(n.value, complex) for n in walk(value)):
            return value  # of real operands too it is complex, until it is narrowed
        read = {n.id for n in walk(*piece.body, *piece.values.values()) if isinstance(n, gast.Name)}
        if made.rule.kind != "elementwise":
            read -= piece.shapes - piece.reads  # what is read for its shape only does not broadcast
        whole: Array | None = None
        unread: list[Fact] = []
        for parameter, fact in facts.items():
            if parameter in read or f"{parameter}_dot" in read:
                operand = fact if isinstance(fact, Array) else Array()
                whole = operand if whole is None else broadcast(whole, operand)
            else:
                unread.append(fact)
        if whole is None or not isinstance(result, Array):
            return value
        fits = same_shape(whole, result) or all(isinstance(f, Array) and f.shape == () for f in unread)
        weak = made.rule.kind == "elementwise" and keeps_complex(made.function)
        weak = weak and all(isinstance(f, Array) and f.dtype in WEAK for f in unread)
        if fits and (weak or same_dtype(whole, result) or (whole.is_real and result.is_real)):
            bare: gast.expr = value.args[0]
            return bare
        return value

    def _may_share(self, value: gast.expr, statement: Bind) -> bool:
        """Whether a tangent would be a second name for one that is added to in place, where the values are two."""
        while isinstance(value, gast.Call) and calls_to(value, runtime.rebroadcast):
            value = value.args[0]
        fact = self.fact(statement.target)
        if not isinstance(value, gast.Name) or isinstance(fact, Array) and fact.scalar:
            return False
        changing = self.tangents.buffers | self.mirrored | self.beside
        return any(n in changing for n in (statement.target, *inputs(statement)))

    def _unpack(self, statement: Unpack) -> list[gast.stmt]:
        needed = [t for t in statement.targets if self.tangents.needed_after(t, statement)]
        if not needed:
            return [restated(statement)]
        if not self.tangents.moves(statement):
            return [restated(statement), *(s for target in dict.fromkeys(needed) for s in self.zero(target))]
        targets: list[gast.expr] = [store(self.dot(t)) for t in statement.targets]
        if statement.star is not None:
            targets[statement.star] = gast.Starred(targets[statement.star], gast.Store())
        made = gast.Assign([gast.Tuple(targets, gast.Store())], load(self.dot(statement.source)), None)
        return [restated(statement), made]

    # --- sequences that grow, buffers that are added to ---------------------------------------------------------------
    def _append(self, statement: Append) -> list[gast.stmt]:
        sequence = statement.sequence
        if not self.tangents.needed_after(sequence, statement):
            return []
        if isinstance(statement.value, gast.Tuple):
            positions = self.tangents.positions(sequence)
            elements = statement.value.elts
            whole = sequence in self.tangents.escaping
            parts: list[gast.expr] = []
            for j in positions:
                if self.tangents.needed_entry(statement, j):
                    parts.append(self.dot_of(elements[j], statement))
                else:
                    parts.append(self.zero_of(elements[j]) if whole else constant(None))
            value = tuple_of(parts)
        else:
            value = self.dot_of(statement.value, statement)
        return [gast.Expr(method(self.dot(sequence), "append", value))]

    def _pop(self, statement: Pop) -> list[gast.stmt]:
        code: list[gast.stmt] = []
        if self.tangents.pops(statement):
            value = method(self.dot(statement.sequence), "pop")
            if statement.tupled:
                positions = self.tangents.positions(statement.sequence)
                code.append(unpack([self.dot(statement.targets[j]) for j in positions], value))
            else:
                code.append(assign(self.dot(statement.targets[0]), value))
        for position, target in enumerate(statement.targets):
            if self.tangents.needed_after(target, statement) and not self.tangents.moves_entry(statement, position):
                code += self.zero(target)
        return code


def restated(statement: Statement) -> gast.stmt:
    """The user's statement, as a tree of its own."""
    return clone(statement_as_python(statement))


def is_local(atom: gast.AST) -> bool:
    return isinstance(atom, gast.Name) and not isinstance(atom, GlobalReference)


def calls_to(expression: gast.Call, function: object) -> bool:
    return isinstance(expression.func, GlobalReference) and expression.func.binding.value is function


def _takes_list(facts: Mapping[str, Fact]) -> bool:
    """Whether operands may be a list and a number of NumPy, which makes an array of it; its tangent may be Python's."""
    arrays = [fact for fact in facts.values() if isinstance(fact, Array)]
    return len(arrays) < len(facts) and any(fact.scalar and fact.dtype not in (None, *WEAK) for fact in arrays)


def _is_python(function: object) -> bool:
    """Whether a function of numbers gives Python's numbers: those of ``math``, operators, builtins."""
    return getattr(function, "__module__", None) in ("math", "_operator", "builtins")


def _spread(value: gast.expr) -> gast.expr:
    """``f(*(a, b))`` as ``f(a, b)``."""
    for node in walk(value):
        if isinstance(node, gast.Call):
            spread: list[gast.expr] = []
            for argument in node.args:
                is_display = isinstance(argument, gast.Starred) and isinstance(argument.value, gast.Tuple)
                spread += argument.value.elts if is_display else [argument]
            node.args = spread
    return value


def _names_taken(function: Function, activity: Activity) -> list[str]:
    """Every name that the function's text contains, globals included."""
    taken: dict[str, None] = dict.fromkeys(function.parameters)
    for statement in activity.graph.heads:
        taken.update(dict.fromkeys(bound_here(statement)))
        for part in vars(statement).values():
            for node in part if isinstance(part, tuple) else (part,):
                if isinstance(node, gast.AST):
                    taken.update((n.id, None) for n in walk(node) if isinstance(n, gast.Name))
    return list(taken)
