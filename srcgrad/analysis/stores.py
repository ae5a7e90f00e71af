"""Augmented assignments taken apart, by what is known of what they assign to.

Enters: ``Function`` and the facts about its names.  Leaves: the same function without ``Bind.inplace``; what remains of
``AugStore`` adds to, subtracts from, multiplies or divides a view or element of an array::

    y[i] **= e         t = y[i];  t2 = t ** e;  y[i] = t2         y is an array
    y[:] = [a, b]      t = np.array([a, b]);  y[:] = t            y is an array
    d[k] += e          t = d[k];  t += e;  d[k] = t               d may be a container: what lies in it may be an array
    y += e             y[...] += e                                y is an array
    y[i] = y[i] - e    y[i] -= e                                  y is an array of float64, e real
    s += e             s = s + e                                  s is a number
    y.sort()           t = np.sort(y);  y[...] = t                y is an array
    v += e             if isinstance(v, np.ndarray):              nothing is known of v
                           v[...] += e
                       else:
                           v = v + e

A dtype that the operation widens is brought back by the store, as it is by NumPy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.analysis.indices import indexed
from srcgrad.analysis.regions import is_basic
from srcgrad.analysis.values import fact_of_expression, is_arithmetic
from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.ir.normal_form import (
    Apply,
    AugStore,
    Bind,
    Block,
    Call,
    Copy,
    Effect,
    Exchange,
    Fixed,
    For,
    Function,
    If,
    Index,
    Operation,
    Statement,
    Store,
    While,
    With,
)
from srcgrad.rules.facts import UNKNOWN, Array, Fact, Sequence, Static, Unknown, as_array, is_discrete
from srcgrad.rules.facts import Mapping as MappingFact
from srcgrad.rules.table import lookup, operator_of
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import GlobalReference, builtin, call_runtime, of_runtime, reference
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone, names_read, same_tree
from srcgrad.syntax.parse import walk as nodes_of

Facts = Mapping[str, Fact]
_INTO_PLACES = gast.Add | gast.Sub | gast.Mult | gast.Div


def stores_lowered(
    function: Function, facts: Facts, solve: Callable[[Function], Facts], shown: bool = False
) -> tuple[Function, Facts]:
    """The function with its augmented assignments taken apart, and the facts, solved again where names were added.

    ``shown``: the text is to be read, and leaves out what looks whether a new array is like the one in its place.
    """
    function, facts = _with_arrays(function, facts, solve)
    made = _Items(function, facts).function()
    if made is not function:
        function, facts = made, solve(made)
    made = _Names(function, facts, shown).function()
    if made is not function:
        function, facts = made, solve(made)
    made = _Sums(function, facts).function()
    if made is not function:
        function, facts = made, solve(made)
    return _with_arrays(function, facts, solve)


def _with_arrays(function: Function, facts: Facts, solve: Callable[[Function], Facts]) -> tuple[Function, Facts]:
    """The function without operators of an array and a list; that a result is an array is known when its operand is:
    of ``a = x * rows; b = a * rows`` the second after the first."""
    while (made := _Operands(function, facts).function()) is not function:
        function, facts = made, solve(made)
    return function, facts


class Lowering:
    """Replaces statements one by one; the function stays the same object where nothing is replaced."""

    def __init__(self, function: Function, facts: Facts, shown: bool = False) -> None:
        self.start = function
        self.facts = facts
        self.shown = shown
        self.namer: Namer | None = None
        self.made: set[str] = set()
        self.is_told = not any(isinstance(self.fact(name), Unknown) for name in function.parameters)  # of arguments

    def function(self) -> Function:
        body = self._block(self.start.body)
        if body is self.start.body:
            return self.start
        return replace(self.start, body=body, temporaries=self.start.temporaries | self.made)

    def replaced(self, statement: Statement) -> list[Statement] | None:
        raise NotImplementedError

    def fact(self, name: str) -> Fact:
        return self.facts.get(name, UNKNOWN)

    def fresh(self, stem: str = "t") -> str:
        if self.namer is None:
            self.namer = Namer(_names(self.start))
        name = self.namer.fresh(stem)
        self.made.add(name)
        return name

    def require_kind(self, part: str, base: str, index: gast.expr, computed: Bind) -> list[Statement]:
        """What ``part op= value``, where the part is ``base[index]``, requires: that rounding brings the result to the
        dtype, and that it has the shape of the part, since a store takes axes of length 1 away."""
        both = computed.expression
        assert isinstance(both, gast.BinOp)
        into, value = as_array(self.fact(base)), as_array(fact_of_expression(both.right, self.fact))
        by, place = value.dtype, indexed(into, index, lambda each: fact_of_expression(each, self.fact))
        axes = len(place.shape or ()) if isinstance(place, Array) else 0
        if value.shape is None or len(value.shape) > axes:
            given = [gast.Constant("same_kind", None), gast.Constant("shape", None)]
            check = call_runtime(runtime.require_output, _load(part), _load(computed.target), *given)
            return [Effect(gast.Expr(check), computed.span)]
        stays = is_discrete(by) and not isinstance(both.op, gast.Div | gast.Pow)
        is_cut = (is_discrete(into.dtype) or into.dtype is None and (into.real or self.is_told)) and not stays
        is_complex = by is not None and by.startswith("complex") and by != into.dtype
        if not (is_cut or is_complex):
            return []
        rule = gast.Constant("same_kind", None)
        check = call_runtime(runtime.require_cast, _load(part), _load(computed.target), rule)
        return [Effect(gast.Expr(check), computed.span)]

    def takes(self, place: Fact, value: gast.expr) -> bool:
        """Whether adding in place is adding: the value is real, and no rank makes the sum larger than the place."""
        if isinstance(value, gast.Constant):
            return type(value.value) in (int, float)
        added = self.fact(value.id) if isinstance(value, gast.Name) else Unknown()
        if not isinstance(added, Array) or not isinstance(place, Array) or not added.is_real:
            return False
        return added.shape is not None and place.shape is not None and len(added.shape) <= len(place.shape)

    def scales(self, base: str, index: gast.expr, op: gast.operator, value: gast.expr) -> bool:
        """Whether ``base[index] op= value`` multiplies or divides what lies there, element by element, as it is."""
        fact = self.fact(base)
        if not isinstance(op, gast.Mult | gast.Div) or not isinstance(fact, Array) or fact.dtype != "float64":
            return False
        place = indexed(fact, index, lambda part: fact_of_expression(part, self.fact))
        return bool(fact.shape) and is_basic(index, self.fact) and self.takes(place, value)

    def array_of(self, display: gast.expr, span: Span, maker: Callable[..., object] = np.array) -> Bind:
        """``t = np.array(display)``, or what else makes an array of it."""
        rule = lookup(maker)
        assert rule is not None
        apply = Apply(rule, maker, rule.bind(maker, [display], {}))
        head = _numpy(maker.__name__) if maker in (np.array, np.copy) else reference(of_runtime(maker))
        return Bind(self.fresh(), gast.Call(head, [clone(display)], []), apply, span)

    def _block(self, block: Block) -> Block:
        out: list[Statement] = []
        for statement in block.statements:
            made = self.replaced(statement)
            if made is None:
                out.append(self.with_blocks(statement))
            else:
                out += made
        return block if all(a is b for a, b in zip(out, block.statements)) else Block(tuple(out))

    def with_blocks(self, statement: Statement) -> Statement:
        match statement:
            case If(body=body, orelse=orelse):
                first, second = self._block(body), self._block(orelse)
                changed = first is not body or second is not orelse
                return replace(statement, body=first, orelse=second) if changed else statement
            case For(body=body) | While(body=body) | With(body=body):
                inner = self._block(body)
                return replace(statement, body=inner) if inner is not body else statement
        return statement


class _Operands(Lowering):
    """An operator of an array and a list, which NumPy makes an array of."""

    def replaced(self, statement: Statement) -> list[Statement] | None:
        if not isinstance(statement, Bind) or not isinstance(statement.operation, Apply):
            return None
        both, made = statement.expression, statement.operation
        if not isinstance(both, gast.BinOp):
            return None
        facts = [self.fact(n.id) if isinstance(n, gast.Name) else Unknown() for n in (both.left, both.right)]
        left, right = (isinstance(fact, Sequence) for fact in facts)
        if left == right or not is_arithmetic(made.function, facts[0] if right else facts[1]):
            return None
        held = self.array_of(both.left if left else both.right, statement.span)
        operands = (_load(held.target), both.right) if left else (both.left, _load(held.target))
        expression, operation = operated(both.op, *operands)
        return [held, replace(statement, expression=expression, operation=operation)]


class _Items(Lowering):
    """``base[index] op= value``, and what was to look whether ``base`` keeps references where its dtype tells."""

    def replaced(self, statement: Statement) -> list[Statement] | None:
        match statement:
            case Effect(gast.Expr(value=gast.Call(func=GlobalReference(binding=head), args=[gast.Name(id=name)]))):
                is_asked = head.value is runtime.require_elements
                return [] if is_asked and _holds_numbers(self.fact(name)) else None
        if isinstance(statement, Bind) and isinstance(statement.operation, Exchange):
            return self._sorted(statement, statement.operation)
        if not isinstance(statement, AugStore):
            return None
        base, index, op, span = statement.base, statement.index, statement.operator, statement.span
        is_array = isinstance(self.fact(base), Array)
        if is_array and isinstance(statement.value, gast.Name) and isinstance(self.fact(statement.value.id), Sequence):
            made = self.array_of(statement.value, span)
            held = replace(statement, value=_load(made.target))
            return [made, *(self.replaced(held) or [held])]
        if is_array and isinstance(op, gast.Add | gast.Sub) and is_basic(index, self.fact):
            return None
        if self.scales(base, index, op, statement.value):
            return None
        part, result = statement.part, statement.result
        loaded = gast.Subscript(_load(base), clone(index), gast.Load())
        load = Bind(part, loaded, Index(base, clone(index)), span)
        expression, operation = operated(op, _load(part), statement.value)
        if is_array:
            computed = Bind(result, expression, operation, span)
            checks = self.require_kind(part, base, index, computed)
            return [load, computed, *checks, Store(base, index, _load(result), span)]
        return [load, Bind(part, expression, operation, span, inplace=True), Store(base, index, _load(part), span)]

    def _sorted(self, statement: Bind, made: Exchange) -> list[Statement] | None:
        """``y.sort()`` of what may be an array."""
        fact = self.fact(made.base)
        if made.method != "sort" or made.arguments or isinstance(fact, Sequence):
            return None
        rule = lookup(np.sort)
        assert rule is not None
        result, given = self.fresh(), _load(made.base)
        call = gast.Call(_numpy("sort"), [given], [])
        apply = Apply(rule, np.sort, rule.bind(np.sort, [given], {}))
        everything = gast.Constant(Ellipsis, None)
        stored: list[Statement] = [
            Bind(result, call, apply, statement.span), Store(made.base, everything, _load(result), statement.span)
        ]  # fmt: skip
        if isinstance(fact, Array):
            return stored
        return [If(_is_array(made.base), Block(tuple(stored)), Block((statement,)), statement.span)]


def _holds_numbers(fact: Fact) -> bool:
    """Whether a value is surely an array of numbers."""
    return isinstance(fact, Array) and (fact.real or fact.dtype is not None and not np.dtype(fact.dtype).hasobject)


class _Names(Lowering):
    """``name op= value``: of an array in place, where other names may see what the name holds or it may not fit."""

    def replaced(self, statement: Statement) -> list[Statement] | None:
        if not isinstance(statement, Bind) or not (statement.inplace or statement.renewed):
            return None
        plain = replace(statement, inplace=False, renewed=False)
        fact = self.fact(statement.target)
        if statement.renewed and not (isinstance(fact, Array) and not fact.scalar and self._may_change(fact)):
            return self._renewed(plain) if isinstance(fact, Unknown) and not self.shown else [plain]
        match fact:
            case Static() | Array(scalar=True) | Sequence(kind="tuple"):
                return [plain]
            case Array(shape=tuple() as shape) if shape:
                return self._in_place(statement)
            case Sequence() | MappingFact():
                return [self._extended(statement)]
        arguments = [_load(statement.target), gast.Constant(statement.span.origin, None)]
        called = call_runtime(runtime.require_number, *arguments)
        check = Effect(gast.Expr(called), statement.span)
        test = _is_array(statement.target)
        return [If(test, Block(tuple(self._in_place(statement))), Block((check, plain)), statement.span)]

    def _renewed(self, plain: Bind) -> list[Statement]:
        """A new value in place of one that nobody else sees: an array would have kept its shape and dtype."""
        result = self.fresh()
        check = call_runtime(runtime.require_alike, _load(plain.target), _load(result))
        copied = Bind(plain.target, _load(result), Copy(result), plain.span)
        return [replace(plain, target=result), Effect(gast.Expr(check), plain.span), copied]

    def _may_change(self, fact: Array) -> bool:
        """Whether the arrays of a name may differ in dtype or shape."""
        return fact.dtype is None or None in fact.shape if fact.shape else fact.shape is None and self.is_told

    def _in_place(self, statement: Bind) -> list[Statement]:
        target, span, both = statement.target, statement.span, statement.expression
        assert isinstance(both, gast.BinOp)
        everything = gast.Constant(Ellipsis, None)
        if isinstance(both.right, gast.Name) and isinstance(self.fact(both.right.id), Sequence):
            made = self.array_of(both.right, span)
            expression, operation = operated(both.op, both.left, _load(made.target))
            return [made, *self._in_place(replace(statement, expression=expression, operation=operation))]
        is_kept = isinstance(both.op, gast.Add | gast.Sub) or self.scales(target, everything, both.op, both.right)
        if is_kept and _is_atom(both.right):
            return [AugStore(target, everything, both.op, both.right, span, target, target)]
        result = self.fresh()
        computed = Bind(result, both, statement.operation, span)
        checks = self.require_kind(target, target, everything, computed)
        return [computed, *checks, Store(target, everything, _load(result), span)]

    def _extended(self, statement: Bind) -> Statement:
        both = statement.expression
        assert isinstance(both, gast.BinOp)
        fact = self.fact(statement.target)
        method = "extend" if isinstance(fact, Sequence) and isinstance(both.op, gast.Add) else None
        method = "update" if isinstance(fact, MappingFact) and isinstance(both.op, gast.BitOr) else method
        if method is None or not _is_atom(both.right):
            kind = fact.kind if isinstance(fact, Sequence) else "dict"
            raise UnsupportedSyntax(
                f"this operator changes a {kind} in place in a way that cannot be reversed", statement.span,
                code="E0311", hint="build the container in one display",
            )  # fmt: skip
        call = gast.Call(gast.Attribute(_load(statement.target), method, gast.Load()), [both.right], [])
        return Bind(self.fresh(), call, Exchange(statement.target, method, (both.right,), (0,)), statement.span)


class _Sums(Lowering):
    """``t = v[i]; r = t - e; v[i] = r`` is ``v[i] -= e``: its adjoint takes nothing out of the place.  So it is
    with a factor."""

    def __init__(self, function: Function, facts: Facts) -> None:
        super().__init__(function, facts)
        self.mentions: Counter[str] | None = None

    def replaced(self, statement: Statement) -> list[Statement] | None:
        return None

    def _block(self, block: Block) -> Block:
        statements = list(block.statements)
        for store in block.statements:
            found = self._summed(store, statements) if isinstance(store, Store) else None
            if found is not None:
                made, parts = found
                statements = [made if s is store else s for s in statements if s not in parts]
        changed = len(statements) < len(block.statements)
        return super()._block(Block(tuple(statements)) if changed else block)

    def with_blocks(self, statement: Statement) -> Statement:
        made = super().with_blocks(statement)
        if isinstance(made, For) and isinstance(statement, For):  # the reads of the elements stay
            first = slice(0, statement.elements)
            return made if made.body.statements[first] == statement.body.statements[first] else statement
        return made

    def _summed(self, store: Store, statements: list[Statement]) -> tuple[AugStore, list[Bind]] | None:
        base, index, value = self.fact(store.base), store.index, store.value
        if not isinstance(base, Array) or base.dtype != "float64" or not base.shape or not is_basic(index, self.fact):
            return None
        end = statements.index(store)
        total = self._part(value, statements[:end])
        both = total.expression if total is not None else None
        if total is None or not isinstance(both, gast.BinOp) or not isinstance(both.op, _INTO_PLACES):
            return None
        load = self._part(both.left, statements[:end])
        if load is None or not isinstance(load.operation, Index) or load.operation.base != store.base:
            return None
        place = indexed(base, index, lambda part: fact_of_expression(part, self.fact))
        if not same_tree(load.operation.index, index) or not self.takes(place, both.right):
            return None
        fixed = {store.base, *names_read(index)}
        between = statements[statements.index(load) + 1 : end]
        if not all(isinstance(s, Bind) and _only_computes(s) and s.target not in fixed for s in between):
            return None
        late = {bound for s in between[between.index(total) + 1 :] for bound in bound_here(s)}
        if not late.union((load.target,)).isdisjoint(names_read(both.right)):
            return None
        made = AugStore(store.base, index, both.op, both.right, store.span, load.target, total.target)
        return made, [load, total]

    def _part(self, value: gast.expr, before: list[Statement]) -> Bind | None:
        """What binds a name of ours that is read here alone."""
        if not isinstance(value, gast.Name) or value.id not in self.start.temporaries:
            return None
        if self.mentions is None:
            self.mentions = Counter(name for s in walk(self.start.body) for name in _mentioned(s))
        binds = [s for s in before if isinstance(s, Bind) and s.target == value.id and not s.inplace]
        return binds[0] if len(binds) == 1 and self.mentions[value.id] == 2 else None


def _only_computes(statement: Bind) -> bool:
    return not statement.inplace and isinstance(statement.operation, Apply | Index | Fixed | Copy)


def _mentioned(statement: object) -> set[str]:
    """Every name in the parts of a statement, its operation's included, but for the blocks below it."""
    found: set[str] = set()
    pending = list(vars(statement).values())
    while pending:
        value = pending.pop()
        match value:
            case str():
                found.add(value)
            case gast.AST():
                found.update(node.id for node in nodes_of(value) if isinstance(node, gast.Name))
            case tuple() | list():
                pending += value
            case dict():
                pending += value.values()
            case Apply() | Index() | Call():
                pending += vars(value).values()
    return found


def operated(op: gast.operator, left: gast.expr, right: gast.expr) -> tuple[gast.expr, Operation]:
    """An operator applied to atoms."""
    expression = gast.BinOp(left, op, right)
    function = operator_of(type(op))
    rule = lookup(function)
    return expression, Fixed() if rule is None else Apply(rule, function, rule.bind(function, [left, right], {}))


# --- small parts -----------------------------------------------------------------------------------------------------
def _load(name: str) -> gast.Name:
    return gast.Name(name, gast.Load(), None, None)


def _builtin(name: str) -> gast.expr:
    return reference(builtin(name))


def _numpy(name: str) -> gast.expr:
    return gast.Attribute(reference(GlobalBinding("np", np, "numpy", None, None)), name, gast.Load())


def _is_array(name: str) -> gast.expr:
    return gast.Call(_builtin("isinstance"), [_load(name), _numpy("ndarray")], [])


def _is_atom(node: gast.expr) -> bool:
    return isinstance(node, gast.Name | gast.Constant)


def _names(function: Function) -> set[str]:
    """Every name that a function mentions."""
    found = set(function.parameters)
    for statement in walk(function.body):
        found.update(bound_here(statement))
        for value in vars(statement).values():
            if isinstance(value, str):
                found.add(value)
            elif isinstance(value, gast.AST):
                found.update(names_read(value))
    return found
