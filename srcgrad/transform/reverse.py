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

from collections.abc import Mapping
from typing import Protocol

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import Activity, atoms, inputs
from srcgrad.analysis.cfg import walk
from srcgrad.analysis.numeric import numeric_names
from srcgrad.analysis.required import hidden, reference, referring
from srcgrad.errors import InternalError
from srcgrad.frontend.normal_form import (
    AddAt,
    Append,
    Apply,
    Bind,
    Block,
    Call,
    Callee,
    Copy,
    Fixed,
    Function,
    Index,
    Pack,
    Pop,
    Return,
    Unpack,
)
from srcgrad.rules.facts import Array, Fact, Sequence, Static, Unknown, same_shape
from srcgrad.rules.template import inline
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone
from srcgrad.transform.build import (
    add_in_place,
    assign,
    call,
    call_runtime,
    constant,
    load,
    method,
    numpy_call,
    store,
    subscript,
    tuple_of,
    unpack,
)
from srcgrad.transform.cotangents import Cotangents


class Calls(Protocol):
    """How a call site reaches the derivative of its callee: names of functions beside this one."""

    def pair(
        self, callee: Callee, active: tuple[bool, ...], facts: tuple[Fact, ...]
    ) -> tuple[gast.expr, gast.expr]: ...

    def primal(self, callee: Callee) -> gast.expr | None: ...


class StatementAdjoint:
    """Adjoints of simple statements; ``transform.control`` drives it through blocks, branches and loops."""

    def __init__(
        self,
        activity: Activity,
        facts: Mapping[str, Fact],
        calls: Calls,
        namer: Namer,
        seed: gast.expr,
    ) -> None:
        self.activity = activity
        self.facts = facts
        self.calls = calls
        self.namer = namer
        self.seed = seed
        self.names: dict[str, str] = {}
        self.temporaries: set[str] = set()
        self.bars = Cotangents()
        self.saved_calls: set[Bind] = set()
        self.numeric = numeric_names(activity.function)
        self.wide: dict[str, str] = {}  # temporary whose adjoint was left in a larger shape -> the name that has it
        self.widenable = _widenable(activity.function)
        # Sequences that this function pops are empty where its reverse sweep starts; the others are lists it fills.
        self.stacks: set[str] = {s.sequence for s in activity.graph.heads if isinstance(s, Pop)}
        self.lists: set[str] = {
            s.sequence for s in activity.graph.heads if isinstance(s, Append | Pop)
        }

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
        return not isinstance(self.fact(name), Array) and name not in self.numeric

    # --- adjoint variables -------------------------------------------------------------------------------------------
    def zero(self, name: str, block: Block, position: int) -> list[gast.stmt]:
        """Give ``name`` a zero adjoint in the shape of its value there."""
        if name in self.stacks:
            value: gast.expr = gast.List([], gast.Load())
        elif self.is_scalar(name):
            value = constant(0.0)
        elif self.is_array(name):
            value = numpy_call("zeros_like", reference(name, block, position, shape_only=True))
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
        """Add a contribution to the adjoint of ``name``: the first one assigns."""
        bar = self.bar(name)
        if name not in self.bars:
            self._note_sharing(value)
            self.bars.assign(name, owned=_is_fresh(value))
            return [assign(bar, value)]
        if self.bars.owned[name] and self.is_array(name):
            return [gast.AugAssign(store(bar), gast.Add(), value)]
        present = load(bar)
        if self.may_be_container(name) and not _is_arithmetic(value):
            total: gast.expr = call_runtime(runtime.add, present, value)
        else:
            total = gast.BinOp(present, gast.Add(), value)
        self.bars.assign(name, owned=True)
        return [assign(bar, total)]

    def _note_sharing(self, value: gast.expr) -> None:
        """A contribution that is, or may view, another adjoint leaves neither of them owned."""
        if _is_fresh(value):
            return
        mentioned = {n.id for n in gast.walk(value) if isinstance(n, gast.Name)}
        for name in list(self.bars.owned):
            if self.bar(name) in mentioned:
                self.bars.share(name)

    def add_at(self, name: str, index: gast.expr, value: gast.expr, block: Block, position: int) -> list[gast.stmt]:
        """Add a contribution to one place of the adjoint of ``name``, in place."""
        code: list[gast.stmt] = []
        if name not in self.bars:
            code += self.zero(name, block, position)
        code += self.own(name)
        bar = self.bar(name)
        if self.is_array(name) and self._is_basic(index):
            code.append(add_in_place(subscript(load(bar), index), value))
        else:
            code.append(gast.Expr(call_runtime(runtime.add_at, load(bar), index, value)))
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

    # --- statements --------------------------------------------------------------------------------------------------
    def bind(self, statement: Bind, block: Block, position: int) -> list[gast.stmt]:
        target = statement.target
        varied = self.activity.varied_before(statement)
        if target not in self.bars:
            return []
        if target not in self.activity.useful_after(statement):
            self.bars.drop(target)
            return []
        match statement.operation:
            case Fixed():
                self.bars.drop(target)
                return []
            case Copy(source=source):
                if source not in varied:
                    self.bars.drop(target)
                    return []
                return self._distribute(target, [(source, self._bar_name(target))])
            case Index(base=base, index=index):
                return self._index(statement, base, index, block, position, base in varied)
            case Pack():
                return self._pack(statement, statement.operation, varied)
            case Apply():
                return self._apply(statement, statement.operation, block, position, varied)
            case Call():
                return self._call(statement, statement.operation, block, position, varied)
        raise InternalError(f"the adjoint of {type(statement.operation).__name__} is not known", statement.span)

    def _bar_name(self, name: str) -> gast.Name:
        return load(self.bar(name))

    def _distribute(self, target: str, contributions: list[tuple[str, gast.expr]]) -> list[gast.stmt]:
        """Hand the adjoint of ``target`` on; what goes back to ``target`` itself is formed last, from the old one."""
        code: list[gast.stmt] = []
        own: list[gast.expr] = []
        for name, value in contributions:
            if name == target:
                own.append(value)
            else:
                code += self.add(name, value)
        if not own:
            self.bars.drop(target)
            return code
        total = own[0]
        for value in own[1:]:
            total = (
                call_runtime(runtime.add, total, value)
                if self.may_be_container(target) and not (_is_arithmetic(total) and _is_arithmetic(value))
                else gast.BinOp(total, gast.Add(), value)
            )
        if isinstance(total, gast.Name) and total.id == self.bar(target):
            return code
        self._note_sharing(total)
        fresh = _is_fresh(total)
        self.bars.assign(target, owned=fresh)
        return [*code, assign(self.bar(target), total)]

    def _index(
        self, statement: Bind, base: str, index: gast.expr, block: Block, position: int, varied: bool
    ) -> list[gast.stmt]:
        target = statement.target
        if not varied:
            self.bars.drop(target)
            return []
        code: list[gast.stmt] = []
        value: gast.expr = self._bar_name(target)
        place = referring(index, block, position)
        if base == target:
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

    def _pack(self, statement: Bind, pack: Pack, varied: object) -> list[gast.stmt]:
        target = statement.target
        keys: list[gast.expr] = list(pack.keys) or [constant(j) for j in range(len(pack.elements))]
        contributions = [
            (name, subscript(self._bar_name(target), clone(key)))
            for key, element in zip(keys, pack.elements, strict=True)
            for name in atoms(element)
            if name in varied  # type: ignore[operator]
        ]
        return self._distribute(target, contributions)

    def _apply(self, statement: Bind, apply: Apply, block: Block, position: int, varied: object) -> list[gast.stmt]:
        target = statement.target
        wanted = frozenset(
            p
            for p, argument in apply.arguments.items()
            if p in apply.rule.differentiable and any(n in varied for n in atoms(argument))  # type: ignore[operator]
        )
        if not wanted:
            self.bars.drop(target)
            return []
        scalar = self.is_scalar(target) and all(
            self.is_scalar(n) for p in wanted for n in atoms(apply.arguments[p])
        )
        piece = apply.rule.adjoint_slice(wanted, frozenset(apply.arguments), scalar=scalar and _is_math(apply.function))
        binding: dict[str, gast.expr] = {
            p: referring(e, block, position) for p, e in apply.arguments.items()
        }
        binding[apply.rule.result] = reference(target, block, position + 1)
        binding[apply.rule.adjoint] = self._bar_name(target)
        prelude, partials = inline(piece, binding, self.fresh)
        code: list[gast.stmt] = list(prelude)
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
        return code + self._distribute(target, contributions)

    def _spread(
        self, argument: gast.Tuple | gast.List, partial: gast.expr, varied: object, code: list[gast.stmt]
    ) -> list[tuple[str, gast.expr]]:
        """A sequence of partials, one per operand of a variadic rule."""
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

        A temporary that is used once, and was itself made elementwise, can keep the larger shape: its own operands are
        summed down instead, and its value need not be known for its shape's sake.
        """
        target = statement.target
        if kind != "elementwise":
            return partial
        bare = partial
        if isinstance(partial, gast.Call) and _calls(partial, runtime.unbroadcast):
            bare = partial.args[0]
        source = self.wide.get(target, target)
        if name in self.widenable:
            if source != target or bare is not partial:
                self.wide[name] = source
            return bare
        if bare is partial and source == target:
            return partial
        narrow = call_runtime(runtime.unbroadcast, bare, reference(name, block, position, shape_only=True))
        return self._narrowed(narrow, name, source)

    def _narrowed(self, partial: gast.Call, name: str, target: str) -> gast.expr:
        """Drop an ``unbroadcast`` that the facts prove idle; to a scalar it is a sum."""
        mine, result = self.fact(name), self.fact(target)
        if isinstance(mine, Array) and isinstance(result, Array) and _same_dtype(mine, result):
            if same_shape(mine, result):
                return partial.args[0]
            if mine.shape == () and result.shape:
                return numpy_call("sum", partial.args[0])
        return partial

    def _call(self, statement: Bind, made: Call, block: Block, position: int, varied: object) -> list[gast.stmt]:
        target = statement.target
        operands = [atoms(a) for a in made.arguments]
        active = tuple(any(n in varied for n in names) for names in operands)  # type: ignore[operator]
        if not any(active):
            self.bars.drop(target)
            return []
        self.saved_calls.add(statement)
        _, backward = self.calls.pair(made.callee, active, self.argument_facts(made))
        result = call(backward, hidden(statement, "saved"), self._bar_name(target))
        names = [n[0] for n, is_active in zip(operands, active, strict=True) if is_active]
        code: list[gast.stmt] = []
        if len(names) == 1:
            return self._distribute(target, [(names[0], result)])
        parts = [self.fresh(f"{name}_bar") for name in names]
        code.append(unpack(parts, result))
        return code + self._distribute(
            target, [(n, load(p)) for n, p in zip(names, parts, strict=True)]
        )

    def argument_facts(self, made: Call) -> tuple[Fact, ...]:
        return tuple(
            self.fact(a.id) if isinstance(a, gast.Name) and not isinstance(a, GlobalReference) else constant_fact(a)
            for a in made.arguments
        )

    def unpack(self, statement: Unpack, block: Block, position: int) -> list[gast.stmt]:
        if not any(t in self.bars for t in statement.targets):
            return []
        varied = self.activity.varied_after(statement)
        source = statement.source
        if source not in self.activity.varied_before(statement):
            for target in statement.targets:
                self.bars.drop(target)
            return []
        code: list[gast.stmt] = []
        parts: list[gast.expr] = []
        for j, target in enumerate(statement.targets):
            if target in self.bars:
                part: gast.expr = self._bar_name(target)
            elif target in varied:
                code += self.zero(target, block, position + 1)
                part = self._bar_name(target)
            else:
                part = constant(None)
            parts.append(gast.Starred(part, gast.Load()) if j == statement.star else part)
        whole = tuple_of(parts)
        if not isinstance(self.fact(source), Sequence):
            whole = call_runtime(runtime.pack_like, whole, reference(source, block, position, shape_only=True))
        old = self.fresh(f"{source}_bar")
        code.append(assign(old, whole))
        for target in statement.targets:
            self.bars.drop(target)
        return code + self.add(source, load(old))

    def append(self, statement: Append, block: Block, position: int) -> list[gast.stmt]:
        sequence = statement.sequence
        if sequence not in self.bars:
            return []
        varied = self.activity.varied_before(statement)
        code = self.own(sequence)
        popped = method(self.bar(sequence), "pop")
        if not isinstance(statement.value, gast.Tuple):
            names = atoms(statement.value)
            if names and names[0] in varied:
                return code + self.add(names[0], popped)
            return [*code, gast.Expr(popped)]
        positions = self.activity.tape_positions(sequence)
        if not positions:
            return code
        targets: list[str] = []
        contributions: list[tuple[str, gast.expr]] = []
        for j in positions:
            names = atoms(statement.value.elts[j]) if j < len(statement.value.elts) else ()
            part = self.fresh(f"{names[0]}_bar" if names else "unused")
            targets.append(part)
            if names and names[0] in varied:
                contributions.append((names[0], load(part)))
        code.append(unpack(targets, popped))
        for name, value in contributions:
            code += self.add(name, value)
        return code

    def pop(self, statement: Pop, block: Block, position: int) -> list[gast.stmt]:
        sequence = statement.sequence
        positions = self.activity.tape_positions(sequence) if statement.tupled else (0,)
        if not positions or sequence not in self.bars:
            for target in statement.targets:
                self.bars.drop(target)
            return []
        code = self.own(sequence)
        parts: list[gast.expr] = []
        for j in positions:
            target = statement.targets[j]
            if target not in self.bars:
                code += self.zero(target, block, position + 1)
            parts.append(self._bar_name(target))
        value = tuple_of(parts) if statement.tupled else parts[0]
        code.append(gast.Expr(method(self.bar(sequence), "append", value)))
        for target in statement.targets:
            self.bars.drop(target)
        return code

    def store(self, statement: AddAt, block: Block, position: int) -> list[gast.stmt]:
        names = atoms(statement.value)
        if statement.buffer not in self.bars or not names:
            return []
        if names[0] not in self.activity.varied_before(statement):
            return []
        read: gast.expr = subscript(self._bar_name(statement.buffer), referring(statement.index, block, position))
        if not (self.is_scalar(names[0]) and self.is_array(statement.buffer)):
            read = call_runtime(runtime.unbroadcast, read, reference(names[0], block, position, shape_only=True))
        return self.add(names[0], read)

    def leave(self, statement: Return, block: Block, position: int) -> list[gast.stmt]:
        names = atoms(statement.value)
        if not names or names[0] not in self.activity.varied_before(statement):
            return []
        seed = clone(self.seed)
        if isinstance(seed, gast.Name) and seed.id == self.names.get(names[0]) and names[0] not in self.bars:
            self.bars.assign(names[0], owned=False)
            return []
        return self.add(names[0], seed)


def _widenable(function: Function) -> frozenset[str]:
    """Temporaries made by an elementwise rule and read once."""
    made: set[str] = set()
    reads: dict[str, int] = {}
    for statement in walk(function.body):
        for name in inputs(statement):
            reads[name] = reads.get(name, 0) + 1
        if isinstance(statement, Bind) and isinstance(statement.operation, Apply):
            if statement.operation.rule.kind == "elementwise" and statement.target in function.temporaries:
                made.add(statement.target)
    return frozenset(name for name in made if reads.get(name) == 1)


def constant_fact(expression: gast.expr) -> Fact:
    if isinstance(expression, gast.Constant):
        match expression.value:
            case bool():
                return Array((), "bool", True)
            case int():
                return Array((), "int", True)
            case float():
                return Array((), "float", True)
        return Static(expression.value)
    return Unknown()


def _same_dtype(a: Array, b: Array) -> bool:
    """Whether an adjoint of b is good as an adjoint of a: Python's float and NumPy's float64 are one."""
    alike = {"float": "float64"}
    return a.dtype is not None and alike.get(a.dtype, a.dtype) == alike.get(b.dtype or "", b.dtype)


def _is_math(function: object) -> bool:
    return getattr(function, "__module__", None) in ("math", "_operator", "builtins")


def _calls(expression: gast.expr, function: object) -> bool:
    return (
        isinstance(expression, gast.Call)
        and isinstance(expression.func, GlobalReference)
        and expression.func.binding.value is function
    )


FRESH = (runtime.zeros_like, runtime.own, runtime.add)


def _is_fresh(value: gast.expr) -> bool:
    """Whether evaluating makes a new object that nobody else holds."""
    if isinstance(value, gast.BinOp | gast.Constant):
        return True
    if isinstance(value, gast.UnaryOp):
        return not isinstance(value.op, gast.UAdd)
    return any(_calls(value, function) for function in FRESH)


def _is_arithmetic(value: gast.expr) -> bool:
    """Whether the value is certainly a number or an array, so that ``+`` adds."""
    return isinstance(value, gast.BinOp | gast.UnaryOp) or _calls(value, runtime.unbroadcast) or (
        isinstance(value, gast.Constant) and isinstance(value.value, int | float)
    )
