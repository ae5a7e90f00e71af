"""Expressions, one operation per statement: operands become atoms, what carries no derivative stays nested.

Enters: gast expressions in a scope.  Leaves: ``Bind`` statements in Python's order of evaluation::

    s = s * np.sin(x[i + 1])     ->     t = x[i + 1];  t2 = np.sin(t);  s = s * t2
    n = x.shape[0] - 1           ->     n = x.shape[0] - 1

Chains of operators are walked in a loop: a sum of thousands of terms is a program like any other.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType

import gast

from srcgrad.errors import MissingRule, Span, SrcgradError, UnsupportedSyntax
from srcgrad.frontend.desugar import expressions as control
from srcgrad.frontend.desugar.build import load, placed
from srcgrad.frontend.normal_form import (
    Apply,
    Bind,
    Block,
    Copy,
    Fixed,
    Index,
    LocalFunction,
    Operation,
    Pack,
    Statement,
    Unruled,
)
from srcgrad.frontend.scope import COMPREHENSIONS, Scope, Static, Variable, names_of
from srcgrad.rules.table import lookup, operator_of
from srcgrad.syntax.globals import GlobalBinding, GlobalReference, reference
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone, names_read, walk

BITWISE = (gast.BitAnd, gast.BitOr, gast.BitXor, gast.LShift, gast.RShift)
CONTROL = gast.IfExp | gast.BoolOp | gast.Compare | gast.ListComp | gast.GeneratorExp
DISPLAYS = (gast.List, gast.Tuple, gast.ListComp)
LATER = "building containers and storing into arrays come in a later version"
_FOLDED: Mapping[type, Callable[[object], object]] = {gast.USub: operator.neg, gast.UAdd: operator.pos}  # type: ignore[dict-item]


class Expressions:
    """Where the statements of one function are written down; ``out`` is the block being written."""

    def __init__(self, scope: Scope, namer: Namer, cells: Mapping[Variable, str]) -> None:
        self.scope = scope
        self.source = scope.source
        self.namer = namer
        self.cells = cells
        self.out: list[Statement] = []
        self.span = Span.unknown()
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

    # --- writing -----------------------------------------------------------------------------------------------------
    def refuse(
        self, node: gast.AST, reason: str, hint: str | None = None, *, label: str | None = None
    ) -> UnsupportedSyntax:
        return UnsupportedSyntax(reason, self.source.span(node), label=label, hint=hint)

    def fresh(self, stem: str = "t") -> str:
        name = self.namer.fresh(stem)
        self.temporaries.add(name)
        self.scope.locals.add(name)
        return name

    def emit(self, target: str, expression: gast.expr, operation: Operation, *, inplace: bool = False) -> None:
        self.out.append(Bind(target, expression, operation, self.span, inplace))

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

    # --- values ------------------------------------------------------------------------------------------------------
    def value(self, node: gast.expr) -> gast.expr:
        """An atom for the value of an expression: a local name or a constant."""
        match node:
            case gast.Constant():
                return node
            case gast.UnaryOp(op=op, operand=gast.Constant(value=int() | float() | complex() as number)) if (
                type(op) in _FOLDED and not isinstance(number, bool)
            ):
                return placed(gast.Constant(_FOLDED[type(op)](number), None), node)
            case GlobalReference():
                pass
            case gast.Name():
                meaning = self.scope.resolve(node.id, node)
                if isinstance(meaning, Variable) and not self.pending[node.id]:
                    return load(self.local(meaning), node)
                if isinstance(meaning, Static) and meaning.value is None:
                    return placed(gast.Constant(None, None), node)
            case gast.NamedExpr():
                self.bind(node.target.id, node.value)
                self.pending[node.target.id] -= 1
                return self.value(load(node.target.id, node.target))
        if isinstance(node, CONTROL):
            target = self.fresh()
            self.bind(target, node)
        elif isinstance(node, gast.Call) and self.bind_call(made := _Later(self.fresh), node):
            target = made()
        else:
            expression, operation = self.operation(node)
            target = self.fresh()  # after its operands, so that temporaries are numbered as they are bound
            self.emit(target, expression, operation)
        return load(target, node)

    def bind(self, target: str, node: gast.expr, *, inplace: bool = False) -> None:
        """Write ``target = node``."""
        match node:
            case gast.IfExp() if (known := self.known_truth(node.test)) is not None:
                self.bind(target, node.body if known else node.orelse)
            case gast.IfExp() if not self.is_plain(node):
                self.run(control.ternary(node, target))
            case gast.BoolOp() if not self.is_plain(node):
                target_read = target in names_read(*node.values[1:])
                self._through(target, target_read, lambda t: self.run(control.short_circuit(node, t)))
            case gast.Compare() if len(node.ops) > 1 and self.needs_statements(node):
                middles = [self.fresh() for _ in node.comparators[:-1]]
                target_read = target in names_read(node)
                self._through(target, target_read, lambda t: self.run(control.comparison_chain(node, t, middles)))
            case gast.ListComp() | gast.GeneratorExp():
                made = self.renamed(node)
                self._through(target, target in names_read(made), lambda t: self.comprehend(made, t))
            case gast.NamedExpr():
                self.emit(target, *self._copied(self.value(node)))
            case gast.Call() if self.bind_call(lambda: target, node):
                pass
            case _:
                expression, operation = self.operation(node)
                self.emit(target, expression, operation, inplace=inplace)

    def _through(self, target: str, is_read: bool, write: Callable[[str], None]) -> None:
        """Write to the target itself, or through a temporary where what is written still reads the target."""
        name = self.fresh() if is_read else target
        write(name)
        if is_read:
            self.emit(target, *self._copied(load(name, gast.Pass())))

    def _copied(self, atom: gast.expr) -> tuple[gast.expr, Operation]:
        return atom, Copy(atom.id) if isinstance(atom, gast.Name) else Fixed()

    def operation(self, node: gast.expr) -> tuple[gast.expr, Operation]:
        """One operation on atoms for an expression that is no control flow."""
        match node:
            case GlobalReference():
                return node, Fixed()
            case gast.Name():
                return self._name(node)
            case gast.BinOp(op=op) if not isinstance(op, BITWISE):
                return self.arithmetic(node)
            case gast.UnaryOp(op=gast.USub() | gast.UAdd()):
                return self._unary(node)
            case gast.Call():
                return self.call(node)
            case gast.Attribute():
                return self.attribute(node)
            case gast.Subscript():
                return self.subscript(node)
            case gast.Tuple() | gast.List() | gast.Dict():
                return self._pack(node)
            case gast.Set() if not all(isinstance(element, gast.Constant) for element in node.elts):
                raise self.refuse(node, "a set of computed values", "sets carry no derivative: use a tuple or a list")
            case gast.SetComp() | gast.DictComp():
                kind = "set" if isinstance(node, gast.SetComp) else "dict"
                raise self.refuse(node, f"a {kind} comprehension", LATER)
            case gast.Lambda():
                raise self.refuse(
                    node,
                    "a function is used as a value here",
                    "bind it to one name, call it, or pass it to a function that calls it",
                )
            case gast.Starred():
                raise self.refuse(node, "a starred value of unknown length", LATER)
        return self.settle(node), Fixed()

    def _name(self, node: gast.Name) -> tuple[gast.expr, Operation]:
        meaning = self.scope.resolve(node.id, node)
        if isinstance(meaning, Variable):
            name = self.local(meaning)
            return load(name, node), Copy(name)
        if isinstance(meaning, GlobalBinding):
            return placed_reference(meaning, node), Fixed()
        if meaning.value is None:
            return placed(gast.Constant(None, None), node), Fixed()
        raise self.refuse(
            node,
            f"the function {node.id!r} is used as a value here",
            "bind it to one name, call it, or pass it to a function that calls it",
            label="a module or function",
        )

    # --- arithmetic --------------------------------------------------------------------------------------------------
    def arithmetic(self, node: gast.BinOp) -> tuple[gast.expr, Operation]:
        """A chain of binary operators, innermost first; parts without a local name stay one expression."""
        chain: list[gast.BinOp] = []
        first: gast.expr = node
        while isinstance(first, gast.BinOp) and not isinstance(first.op, BITWISE):
            chain.append(first)
            first = first.left
        closed = self.closed(first)
        left = first if closed is None else closed
        is_atom = False
        while chain:
            step = chain.pop()
            right = self.closed(step.right) if closed is not None else None
            if closed is not None and right is not None:
                left = closed = placed(gast.BinOp(left, step.op, right), step)
                continue
            if _is_text(step.left) or _is_text(step.right):
                expression: gast.expr = placed(gast.BinOp(left, step.op, step.right), step)
                settled = placed(gast.BinOp(left if is_atom else self.settle(left), step.op, self.settle(step.right)), step)
                expression, operation = settled, Fixed()
            else:
                for operand in (step.left, step.right):
                    if isinstance(operand, DISPLAYS):
                        raise self.refuse(operand, "an operator on a tuple or list", LATER)
                if closed is not None:
                    left = self.held(closed)
                elif not is_atom:
                    left = self.value(left)
                expression, operation = self.operate(step, step.op, [left, self.value(step.right)])
            closed, is_atom = None, True
            if not chain:
                return expression, operation
            target = self.fresh()
            self.emit(target, expression, operation)
            left = load(target, step)
        return left, Fixed()

    def _unary(self, node: gast.UnaryOp) -> tuple[gast.expr, Operation]:
        closed = self.closed(node.operand)
        if closed is not None:
            return placed(gast.UnaryOp(node.op, closed), node), Fixed()
        return self.operate(node, node.op, [self.value(node.operand)])

    def operate(self, node: gast.expr, op: gast.AST, atoms: list[gast.expr]) -> tuple[gast.expr, Operation]:
        """An operator applied to atoms."""
        function = operator_of(type(op))
        rule = lookup(function)
        if len(atoms) == 1:
            expression: gast.expr = placed(gast.UnaryOp(op, atoms[0]), node)
        else:
            expression = placed(gast.BinOp(atoms[0], op, atoms[1]), node)
        if rule is None:
            return expression, self.unruled(node, expression, getattr(function, "__name__", type(op).__name__))
        return expression, Apply(rule, function, rule.bind(function, atoms, {}))

    def closed(self, node: gast.expr) -> gast.expr | None:
        """An expression of numbers that names no local, ready to stay as it is; None for any other."""
        for inner in walk(node):
            match inner:
                case gast.Constant(value=int() | float() | complex()) | gast.operator() | gast.expr_context():
                    continue
                case gast.BinOp() | gast.unaryop() | gast.UnaryOp(op=gast.USub() | gast.UAdd()):
                    continue
                case gast.Name(ctx=gast.Load()):
                    meaning = self.scope.resolve(inner.id, inner) if not isinstance(inner, GlobalReference) else None
                    if isinstance(meaning, Static) and inner is not node:
                        continue  # the root of np.pi
                    if isinstance(meaning, GlobalBinding) and isinstance(meaning.value, int | float | complex):
                        continue
                case gast.Attribute() if self.is_number(inner):
                    continue
            return None
        return self.nested(node)

    def is_number(self, node: gast.Attribute) -> bool:
        """Whether an attribute is a number in a module, such as ``np.pi``."""
        owner = self.scope.static_of(node.value)
        if owner is None or isinstance(owner.value, LocalFunction):
            return False
        return isinstance(self.scope.attribute(owner.value, node), int | float | complex)

    def held(self, expression: gast.expr) -> gast.expr:
        """An atom that holds a settled expression."""
        if isinstance(expression, gast.Constant):
            return expression
        if isinstance(expression, gast.UnaryOp) and isinstance(expression.operand, gast.Constant):
            return self.value(expression)
        target = self.fresh()
        self.emit(target, expression, Fixed())
        return load(target, expression)

    # --- displays and subscripts -------------------------------------------------------------------------------------
    def _pack(self, node: gast.Tuple | gast.List | gast.Dict) -> tuple[gast.expr, Operation]:
        if isinstance(node, gast.Dict):
            for key in node.keys:
                if not isinstance(key, gast.Constant):
                    raise self.refuse(key or node, "a dict with computed keys", f"keys must be literals; {LATER}")
            values = tuple(self.value(element) for element in node.values)
            return placed(gast.Dict(list(node.keys), list(values)), node), Pack("dict", values, tuple(node.keys))
        elements: list[gast.expr] = []
        for element in node.elts:
            if isinstance(element, gast.Starred) and isinstance(element.value, gast.Tuple | gast.List):
                elements += [self.value(inner) for inner in element.value.elts]
            else:
                elements.append(self.value(element))
        kind = "list" if isinstance(node, gast.List) else "tuple"
        return placed(type(node)(elements, gast.Load()), node), Pack(kind, tuple(elements))

    def subscript(self, node: gast.Subscript) -> tuple[gast.expr, Operation]:
        """``base[index]``: an ``Index`` of a local; of a global or a shape, a fixed value."""
        root = node.value
        while isinstance(root, gast.Subscript | gast.Attribute):
            if isinstance(root, gast.Attribute) and root.attr == "shape":
                return self.settle(node), Fixed()
            root = root.value
        if isinstance(root, gast.Name) and not isinstance(self.scope.resolve(root.id, root), Variable):
            settled = self.settle(node)
            builder = node.value.attr if isinstance(node.value, gast.Attribute) else ""
            if builder in ("r_", "c_"):
                return settled, self.unruled(node, settled, f"np.{builder}", hint="use np.concatenate or np.stack")
            return settled, Fixed()
        base = self.value(node.value)
        index = self.settle(node.slice, calls=False)
        expression = placed(gast.Subscript(base, index, gast.Load()), node)
        return expression, Index(base.id, index) if isinstance(base, gast.Name) else Fixed()

    # --- what carries no derivative ----------------------------------------------------------------------------------
    def unruled(self, node: gast.AST, expression: gast.expr, name: str, *, hint: str | None = None) -> Operation:
        """A call without a rule: harmless while nothing it reads varies."""
        if not names_read(expression):
            return Fixed()
        short = name.rsplit(".", 1)[-1]
        refusal: SrcgradError = MissingRule(
            f"there is no derivative rule for {name}",
            self.source.span(node),
            label="its argument varies",
            hint=hint or f"write one: @srcgrad.rule({name}) above the adjoint of {short},\n"
            f"or declare srcgrad.constant({name}) if it has no derivative",
        )
        return Unruled(refusal)

    def is_plain(self, node: gast.expr) -> bool:
        """Whether a ternary or and/or yields a truth value, text or literal, so that it may stay an expression."""
        pending = [node]
        while pending:
            inner = pending.pop()
            match inner:
                case gast.IfExp():
                    pending += [inner.body, inner.orelse]
                case gast.BoolOp():
                    pending += inner.values
                case gast.Constant() | gast.Compare() | gast.UnaryOp(op=gast.Not()) | gast.JoinedStr():
                    continue
                case gast.UnaryOp(op=gast.USub(), operand=gast.Constant()):
                    continue
                case gast.Call(func=gast.Name(id="isinstance" | "bool" | "callable" | "len")):
                    continue
                case _:
                    return False
        return not self.needs_statements(node)

    def known_truth(self, test: gast.expr) -> bool | None:
        """What a test says that only asks whether function-valued parameters are given; None if it asks more."""
        match test:
            case gast.UnaryOp(op=gast.Not(), operand=operand):
                inner = self.known_truth(operand)
                return None if inner is None else not inner
            case gast.Compare(left=gast.Name() as name, ops=[op], comparators=[gast.Constant(value=None)]):
                static = self._static_name(name)
                if static is None or not isinstance(op, gast.Is | gast.IsNot):
                    return None
                return (static.value is None) == isinstance(op, gast.Is)
            case gast.Name():
                static = self._static_name(test)
                return None if static is None else static.value is not None
        return None

    def _static_name(self, node: gast.Name) -> Static | None:
        if isinstance(node, GlobalReference):
            return None
        meaning = self.scope.resolve(node.id, node)
        return meaning if isinstance(meaning, Static) and not isinstance(meaning.value, ModuleType) else None

    def needs_statements(self, *nodes: gast.AST) -> bool:
        """Whether an expression binds names, loops, or calls a local function, which emitted code does not hold."""
        for node in walk(*nodes):
            if isinstance(node, gast.NamedExpr | gast.Lambda | COMPREHENSIONS):
                return True
            if isinstance(node, gast.Name) and not isinstance(node, GlobalReference):
                meaning = self.scope.resolve(node.id, node)
                if isinstance(meaning, Static) and isinstance(meaning.value, LocalFunction):
                    return True
        return False

    def settle(self, node: gast.expr, *, calls: bool = True) -> gast.expr:
        """An expression that stays nested, its names resolved; what cannot stay is evaluated before it.

        ``calls=False`` also moves calls out, so that the expression may be evaluated again.
        """
        expression = self._linear(node) if self.needs_statements(node) else self.nested(node)
        if any(self.pending[name] for name in names_read(expression)):
            return self._pinned(expression)
        return expression if calls else self._lift(expression)

    def nested(self, node: gast.expr) -> gast.expr:
        """A copy of an expression in which every name is resolved."""
        holder = gast.Expr(clone(node))
        pending: list[gast.AST] = [holder]
        while pending:
            parent = pending.pop()
            skipped = ""
            if isinstance(parent, gast.Call) and self.admit_call(parent):
                pending.append(parent.func)
                skipped = "func"
            for name in parent._fields:
                child = getattr(parent, name, None)
                if name == skipped:
                    continue
                if isinstance(child, list):
                    child[:] = [self._leaf(c, pending) if isinstance(c, gast.AST) else c for c in child]
                elif isinstance(child, gast.AST):
                    setattr(parent, name, self._leaf(child, pending))
        expression: gast.expr = holder.value
        return expression

    def _leaf(self, node: gast.AST, pending: list[gast.AST]) -> gast.AST:
        match node:
            case GlobalReference():
                return node
            case gast.Name(ctx=gast.Load()):
                meaning = self.scope.resolve(node.id, node)
                if isinstance(meaning, Variable):
                    return load(self.local(meaning), node)
                if isinstance(meaning, GlobalBinding):
                    return placed_reference(meaning, node)
                assert meaning.expression is not None
                return clone(meaning.expression)
            case gast.Attribute():
                static = self.scope.static_of(node)
                if static is not None and static.expression is not None:
                    return clone(static.expression)
                self.admit_attribute(node)
        pending.append(node)
        return node

    def _linear(self, node: gast.expr) -> gast.expr:
        """Evaluate what cannot stay nested, and all that Python evaluates before it."""
        match node:
            case gast.NamedExpr() | gast.BoolOp() | gast.IfExp() | gast.Lambda():
                return self.value(node)
            case gast.ListComp() | gast.GeneratorExp() | gast.SetComp() | gast.DictComp():
                return self.value(node)
            case gast.Compare() if len(node.ops) > 1:
                return self.value(node)
            case gast.Call():
                static = self.scope.static_of(node.func)
                if static is not None and isinstance(static.value, LocalFunction):
                    return self.value(node)
                if self.consumes(node):
                    return self.value(node)
                if any(isinstance(inner, gast.Name) and self._is_local_function(inner) for inner in node.args):
                    return self.value(node)
        made = placed(type(node)(**{name: getattr(node, name, None) for name in node._fields}), node)
        places: list[tuple[object, str | int, gast.expr]] = []
        for name in node._fields:
            child = getattr(node, name, None)
            if isinstance(child, list):
                items = [clone(c) if isinstance(c, gast.keyword) else c for c in child]
                setattr(made, name, items)
                for position, item in enumerate(items):
                    if isinstance(item, gast.keyword):
                        places.append((item, "value", item.value))
                    elif isinstance(item, gast.expr):
                        places.append((items, position, item))
            elif isinstance(child, gast.expr) and not (isinstance(node, gast.Call) and name == "func"):
                places.append((made, name, child))
        last = max(k for k, (_, _, child) in enumerate(places) if self.needs_statements(child))
        if isinstance(node, gast.Call):
            made.func = self._function_of(node, made)
        for k, (holder, key, child) in enumerate(places):
            done = self._linear(child) if self.needs_statements(child) else self.nested(child)
            if k < last:
                done = self._pinned(done)
            if isinstance(holder, list):
                holder[key] = done  # type: ignore[index]
            else:
                setattr(holder, key, done)  # type: ignore[arg-type]
        return made

    def _function_of(self, node: gast.Call, made: gast.Call) -> gast.expr:
        static = self.scope.static_of(node.func)
        if static is not None and static.expression is not None:
            return clone(static.expression)
        self.admit_call(made)
        if not isinstance(node.func, gast.Attribute):
            raise self.refuse(node.func, "the function called here is not known", "call a function by its name")
        receiver = self.settle(node.func.value)
        return placed(gast.Attribute(self._pinned(receiver), node.func.attr, gast.Load()), node.func)

    def _is_local_function(self, node: gast.Name) -> bool:
        static = self.scope.static_of(node)
        return static is not None and isinstance(static.value, LocalFunction)

    def _pinned(self, expression: gast.expr) -> gast.expr:
        """A settled expression whose value is taken now, slices and stars by their parts."""
        match expression:
            case gast.Constant():
                return expression
            case gast.Slice():
                parts = [p and self._pinned(p) for p in (expression.lower, expression.upper, expression.step)]
                return placed(gast.Slice(*parts), expression)
            case gast.Tuple() if any(isinstance(element, gast.Slice) for element in expression.elts):
                return placed(gast.Tuple([self._pinned(e) for e in expression.elts], gast.Load()), expression)
            case gast.FormattedValue():
                value = self._pinned(expression.value)
                return placed(gast.FormattedValue(value, expression.conversion, expression.format_spec), expression)
            case gast.Starred():
                return placed(gast.Starred(self._pinned(expression.value), gast.Load()), expression)
            case gast.Name() if not self.pending[expression.id]:
                return expression
        return self.held(expression)

    def _lift(self, expression: gast.expr) -> gast.expr:
        """Move the calls of a settled expression into temporaries, the largest call expressions that are values."""
        if not any(isinstance(inner, gast.Call) and not is_cheap(inner) for inner in walk(expression)):
            return expression
        match expression:
            case gast.Slice() | gast.Starred():
                for name in expression._fields:
                    part = getattr(expression, name)
                    if isinstance(part, gast.expr):
                        setattr(expression, name, self._lift(part))
                return expression
            case gast.Tuple():
                expression.elts = [self._lift(element) for element in expression.elts]
                return expression
        return self.held(expression)

    # --- comprehensions ----------------------------------------------------------------------------------------------
    def comprehend(self, node: gast.ListComp | gast.GeneratorExp, target: str) -> None:
        """``target = [...]``, the names of the comprehension being free here (see ``renamed``)."""
        self.lists.add(target)
        self.within(node, lambda: self.run(control.list_comprehension(node, target)))
        self.lists.discard(target)

    def within(self, node: gast.ListComp | gast.GeneratorExp, write: Callable[[], None]) -> None:
        names = names_of(generator.target for generator in node.generators)
        self.comprehended |= names
        self.scope.locals |= names
        outer, self.open = self.open, self.open | names
        write()
        self.open = outer

    def renamed(self, node: gast.ListComp | gast.GeneratorExp) -> gast.ListComp | gast.GeneratorExp:
        """The comprehension with names of its own: those that mean something else in the function are replaced."""
        mapping: dict[str, str] = {}
        own = names_of(generator.target for generator in node.generators)
        for name in sorted(own):
            if name in self.open or (name in self.scope.locals and name not in self.comprehended) or self._is_used(name):
                mapping[name] = self.fresh(name)
        if not mapping:
            return node
        made = clone(node)
        first = made.generators[0]
        outermost = first.iter
        first.iter = placed(gast.Constant(None, None), node)  # evaluated outside of the comprehension's scope
        for inner in rename_sites(made):
            if inner.id in mapping:
                inner.id = mapping[inner.id]
        first.iter = outermost
        return made

    def _is_used(self, name: str) -> bool:
        """Whether the function reads a global or captured variable of this name."""
        if self._outside is None:
            from_outside = [n for statement in self.scope.body for n in names_read(statement)]
            self._outside = set(from_outside)
        return name in self._outside and name not in self.scope.locals

    _outside: set[str] | None = None


class _Later:
    """A name that is taken when it is asked for first."""

    def __init__(self, fresh: Callable[[], str]) -> None:
        self.fresh = fresh
        self.name: str | None = None

    def __call__(self) -> str:
        if self.name is None:
            self.name = self.fresh()
        return self.name


def rename_sites(root: gast.AST) -> list[gast.Name]:
    """The names in a comprehension that may be its own: not the parameters of lambdas inside, nor what they hide."""
    found: list[gast.Name] = []
    pending: list[tuple[gast.AST, frozenset[str]]] = [(root, frozenset())]
    while pending:
        node, hidden = pending.pop()
        if isinstance(node, GlobalReference):
            continue
        if isinstance(node, gast.Name):
            if node.id not in hidden:
                found.append(node)
            continue
        inside = hidden
        if isinstance(node, gast.Lambda):
            inside = hidden | names_of([*node.args.args, *node.args.posonlyargs, *node.args.kwonlyargs])
        elif isinstance(node, COMPREHENSIONS) and node is not root:
            inside = hidden | names_of(generator.target for generator in node.generators)
        for name in node._fields:
            child = getattr(node, name, None)
            below: Sequence[object] = child if isinstance(child, list) else [child]
            pending += [(inner, inside) for inner in below if isinstance(inner, gast.AST)]
    return found


def is_cheap(node: gast.Call) -> bool:
    """Whether a call may be evaluated as often as its statement's expression is."""
    if isinstance(node.func, GlobalReference):
        return node.func.binding.value in (len, range, slice, tuple, isinstance)
    return isinstance(node.func, gast.Attribute) and node.func.attr in ("ndim", "shape", "size")


def placed_reference(binding: GlobalBinding, at: gast.AST) -> GlobalReference:
    return placed(reference(binding), at)


def _is_text(node: gast.expr) -> bool:
    return isinstance(node, gast.JoinedStr) or (isinstance(node, gast.Constant) and isinstance(node.value, str | bytes))
