"""Functions over a batch, statement by statement.

Enters: a function in normal form, the facts of its names, and what its parameters carry.  Leaves: the function whose
values carry the batch, and what its parameters and its result carry.

What a name carries grows over all of its bindings, whatever their order, until nothing changes; a binding that lacks
the batch is repeated along it.  Where memory is stored into, names that may share it have to carry the same, so that
the memory is repeated where it is made and nowhere else::

    def f(x, n):                      def f_batch(x, n):
        s = np.zeros(n)                   s = over_batch(np.zeros(n), len(x))
        for i in range(n):                for i in range(n):
            s[i] = s[i - 1] + x[i]            s[:, i] = s[:, i - 1] + x[:, i]
        return s                          return s
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace

import gast

from srcgrad import runtime
from srcgrad.analysis.cfg import walk
from srcgrad.analysis.memory import Solver
from srcgrad.batching.carried import LEAF, Carried, Each, Items, Keys, Leaf, Unbatchable, each, items, join, part_of
from srcgrad.batching.expressions import indexed, key_of, operands, part_at, plain, rewritten
from srcgrad.batching.facts import spelled_out
from srcgrad.batching.operations import applied
from srcgrad.batching.scope import Operand, Scope, is_number, tree, widened
from srcgrad.errors import Span
from srcgrad.ir.as_python import statement_as_python
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    Apply,
    AugStore,
    Bind,
    Block,
    Break,
    Call,
    Callee,
    Continue,
    Copy,
    Delete,
    Effect,
    Exchange,
    Field,
    Fixed,
    For,
    Function,
    Guarded,
    If,
    Index,
    Pack,
    Pop,
    Return,
    SetField,
    Statement,
    Store,
    Unpack,
    Unruled,
    While,
    With,
)
from srcgrad.language import effects
from srcgrad.rules.facts import Array, Fact, Sequence, Unknown
from srcgrad.rules.facts import Mapping as MappingFact
from srcgrad.rules.formula import literal, object_of
from srcgrad.syntax.parse import clone, names_read
from srcgrad.syntax.parse import walk as nodes_of
from srcgrad.transform.build import index_value

Called = Callable[[Callee, tuple[Fact, ...], tuple[Carried, ...]], "Signature"]


@dataclass
class Signature:
    """A function over a batch: how it is called, what its parameters have to carry and what its result does."""

    callee: Callee
    name: str
    parameters: tuple[Carried, ...]
    result: Carried = None


@dataclass(frozen=True)
class Memory:
    """Which names may share memory that is stored into: of arrays, and of containers alone."""

    arrays: frozenset[str]
    containers: frozenset[str]
    fresh: Callable[[Bind], bool]
    root: Callable[[str], str]


def memory_of(function: Function, facts: Mapping[str, Fact], summary_of: Callable[..., object]) -> Memory:
    """What is stored into, here or in a callee."""
    solver = Solver(function, facts, summary_of)  # type: ignore[arg-type]
    statements = walk(function.body)
    for statement in statements:
        solver.flow(statement)
    for statement in statements:
        solver.store(statement)
    arrays = {name for name, _, containers in solver.changes if not containers}
    containers = {name for name, _, only in solver.changes if only}
    for statement in statements:
        match statement:
            case AddAt(buffer=name):
                fact = facts.get(name, Unknown())
                (containers if isinstance(fact, Sequence | MappingFact) else arrays).add(name)
                if not isinstance(fact, Array):
                    containers.add(name)
            case Append(sequence=name) | Pop(sequence=name):
                containers.add(name)
    movable = solver.names - solver.immutable

    def sharing(stored: Set[str]) -> frozenset[str]:
        roots = {solver.find(name) for name in stored if name not in solver.immutable}
        return frozenset(name for name in movable if solver.find(name) in roots)

    def fresh(statement: Bind) -> bool:
        match statement.operation:
            case Apply() as made:
                return not list(solver._handed_on(made, statement.expression))
            case Fixed():
                return not solver.sources(statement.expression)
            case Pack():
                return False
        return False

    return Memory(sharing(arrays), sharing(containers), fresh, solver.find)


@dataclass
class Writer:
    """Rewrites one function; ``called`` gives the callee over a batch."""

    function: Function
    scope: Scope
    memory: Memory
    called: Called
    primal: Callable[[Callee], gast.expr | None]
    drawing: Callable[[Callee], bool]
    result: Carried = None
    at: Span | None = None

    # --- the whole ---------------------------------------------------------------------------------------------------
    def solved(self, parameters: tuple[Carried, ...]) -> list[gast.stmt]:
        for name, carried in zip(self.function.parameters, parameters, strict=True):
            self.scope.carried[name] = join(self.scope.carried.get(name), carried)
        while True:
            self.scope.changed = False
            body = self.block(self.function.body)
            if not self.scope.changed:
                return body

    def block(self, block: Block) -> list[gast.stmt]:
        made = [each for statement in block.statements for each in self._located(statement)]
        return made or [gast.Pass()]

    def _located(self, statement: Statement) -> list[gast.stmt]:
        self.at = statement.span
        if draws(statement):
            raise Unbatchable("random numbers are drawn")
        made = self.statement(statement)
        for each_ in made:
            if statement.span.known:
                each_.lineno, each_.col_offset = statement.span.line, statement.span.column
                each_.span = statement.span
        return made

    def _is_plain(self, *roots: gast.AST) -> bool:
        return not any(self.scope.carried.get(name) is not None for name in names_read(*roots))

    # --- flows -------------------------------------------------------------------------------------------------------
    def give(self, value: Operand, target: Carried) -> gast.expr:
        """A value where it is returned or put, to carry what the target does."""
        if target == value.carried or target is None:
            return value.node
        source = value.original
        if isinstance(source, gast.Name) and source.id in self.scope.facts and self._moves(source.id, target):
            self.scope.grow(source.id, target)
            return value.node
        return self.scope.raised(value, target)

    def _moves(self, name: str, target: Carried) -> bool:
        """Whether memory behind a name is stored into, so that it may not be repeated here but where it is made."""
        if name in self.memory.arrays:
            return True
        return name in self.memory.containers and not isinstance(target, Leaf)

    def bound(self, name: str, value: Operand, *, fresh: bool) -> gast.expr:
        """What is assigned to a name."""
        self.scope.grow(name, value.carried)
        target = self.scope.carried.get(name)
        if target == value.carried or target is None:
            return value.node
        source = value.original
        if self._moves(name, target) and not fresh:
            if isinstance(source, gast.Name):
                self.scope.grow(source.id, target)
                return value.node
            raise Unbatchable("memory that is stored into is seen under two names")
        return self.scope.raised(value, target)

    # --- statements --------------------------------------------------------------------------------------------------
    def statement(self, statement: Statement) -> list[gast.stmt]:
        match statement:
            case Bind():
                return [self._bind(statement)]
            case Unpack(targets=targets, source=source, star=star):
                return self._unpack(statement, targets, source, star)
            case Append(sequence=sequence, value=value):
                return [self._append(sequence, value, statement)]
            case Pop(targets=targets, sequence=sequence, tupled=tupled):
                return self._pop(statement, targets, sequence, tupled)
            case AddAt(buffer=base, index=index, value=value):
                return [self._store(statement, base, index, value, gast.Add())]
            case Store(base=base, index=index, value=value):
                return [self._store(statement, base, index, value, None)]
            case AugStore(base=base, index=index, value=value, operator=operator):
                return [self._store(statement, base, index, value, operator)]
            case If(test=test, body=body, orelse=orelse):
                asked = plain(self.scope, test, "a test")
                return [gast.If(asked, self.block(body), self.block(orelse) if orelse.statements else [])]
            case While(test=test, body=body):
                return [gast.While(plain(self.scope, test, "a test"), self.block(body), [])]
            case For():
                return [self._loop(statement)]
            case Return(value=value):
                return [self._return(value)]
            case Effect(statement=inner):
                return self._effect(statement, inner)
            case With(items=managers, body=body):
                if not self._is_plain(*managers):
                    raise Unbatchable("a context manager differs from example to example")
                return [gast.With(list(managers), self.block(body), None)]
            case Break() | Continue():
                return [statement_as_python(statement)]
            case SetField(base=base, value=value):
                if self._is_plain(value) and self.scope.carried.get(base) is None:
                    return [statement_as_python(statement)]
                raise Unbatchable("a field of an object differs from example to example")
            case Delete(base=base, index=index):
                if self.scope.carried.get(base) is None and (index is None or self._is_plain(index)):
                    return [statement_as_python(statement)]
                raise Unbatchable("an item is deleted")
        raise AssertionError(statement)

    def _return(self, value: gast.expr) -> gast.stmt:
        made = rewritten(self.scope, value)

        result = join(self.result, made.carried)
        if result != self.result:
            self.result, self.scope.changed = result, True
        return gast.Return(self.give(made, result))

    def _effect(self, statement: Effect, inner: gast.stmt) -> list[gast.stmt]:
        if self._is_plain(inner):
            return [clone(inner)]
        if isinstance(inner, gast.Expr) and isinstance(inner.value, gast.Call):
            called = inner.value.func
            function = getattr(getattr(called, "binding", None), "value", None)
            if function in (runtime.readable, runtime.asked):
                return []
            read = names_read(*inner.value.args)
            if function is runtime.require_arithmetic and all(self.scope.carried.get(n) in (None, LEAF) for n in read):
                return [clone(inner)]
        raise Unbatchable("a statement that is run for its effect reads what differs from example to example")

    def _loop(self, statement: For) -> gast.stmt:
        if not statement.counted and not self._is_plain(statement.iterable):
            raise Unbatchable("what a loop runs over differs from example to example")
        iterable = plain(self.scope, statement.iterable, "how often a loop runs")
        body = statement.body.statements
        written = statement.heading is not None and self._is_plain(
            statement.heading[1], *(read.expression for read in body[: statement.elements] if isinstance(read, Bind))
        ) and not any(
            self.scope.carried.get(name) is not None
            for read in body[: statement.elements]
            for name in (read.targets if isinstance(read, Unpack) else (read.target,) if isinstance(read, Bind) else ())
        )
        if written:
            assert statement.heading is not None
            self.block(Block(body[: statement.elements]))
            target, over = statement.heading
            return gast.For(target, over, self.block(Block(body[statement.elements :])), [], None)
        index = gast.Name(statement.index, gast.Store(), None, None)
        return gast.For(index, iterable, self.block(statement.body), [], None)

    # --- bindings ----------------------------------------------------------------------------------------------------
    def _bind(self, statement: Bind) -> gast.stmt:
        target, operation = statement.target, statement.operation
        self.scope.copies = False
        match operation:
            case Call():
                value = self._call(operation, statement)
                return _assign(target, self.bound(target, value, fresh=False))
            case Exchange():
                value = self._exchange(operation, statement)
                return _assign(target, self.bound(target, value, fresh=False))
            case Unruled() if operation.draws or not self._is_plain(statement.expression):
                raise Unbatchable("random numbers are drawn" if operation.draws else "a call without a rule")
            case Field() if not self._is_plain(statement.expression):
                raise Unbatchable("a field of an object differs from example to example")
        if self._is_plain(statement.expression) and self.scope.carried.get(target) is None:
            return statement_as_python(statement)
        if statement.inplace and not is_number(self.scope.facts.get(target, Unknown())):
            raise Unbatchable("a container is changed in place")
        value = self._value(statement)
        if self.scope.copies and target in self.memory.arrays and not self.memory.fresh(statement):
            raise Unbatchable("memory that is stored into is copied")
        node = self._bound_view(statement, target, value)
        return _assign(target, node)

    def _bound_view(self, statement: Bind, target: str, value: Operand) -> gast.expr:
        """A view, or another name, of memory that is stored into carries what that does."""
        fresh = self.memory.fresh(statement) or is_number(self.scope.facts.get(target, Unknown()))
        self.scope.grow(target, value.carried)
        wanted = self.scope.carried.get(target)
        if wanted is not None and wanted != value.carried and self._moves(target, wanted) and not fresh:
            match statement.operation:
                case Copy(source=source):
                    self.scope.grow(source, wanted)
                    return value.node
                case Index(base=base, index=index):
                    self._grow_at(base, index, wanted)
                    return value.node
                case Pack(elements=elements):
                    parts = wanted.parts if isinstance(wanted, Items) else (part_of(wanted),) * len(elements)
                    for element, part in zip(elements, parts, strict=True):
                        if isinstance(element, gast.Name) and part is not None and self._moves(element.id, part):
                            self.scope.grow(element.id, part)
                    return self.scope.raised(value, wanted)
                case Apply(arguments=arguments):
                    names = [a.id for a in arguments.values() if isinstance(a, gast.Name) and a.id in self.scope.facts]
                    shared = [name for name in names if name in self.memory.arrays | self.memory.containers]
                    if len(shared) == 1:
                        self.scope.grow(shared[0], wanted)
                        return value.node
            raise Unbatchable("memory that is stored into is seen under two names")
        made = self.scope.raised(value, wanted)
        match statement.operation:
            case Index(base=base, index=index) if base in self.memory.arrays:
                whole = self.scope.facts.get(base, Unknown())
                if isinstance(whole, Sequence | MappingFact):
                    return made  # the part itself, which may be memory that is stored into
                if not isinstance(whole, Array) and target in self.memory.arrays:
                    raise Unbatchable("whether this is an array or a container is not known")
                if wanted == LEAF and not self.scope.copies and value.carried == LEAF:
                    return self._number_apart(made, self.scope.facts.get(target, Unknown()), index)
        return made

    @staticmethod
    def _number_apart(made: gast.expr, fact: Fact, index: gast.expr) -> gast.expr:
        """A place of memory that is stored into: of a number NumPy makes a copy, and of a batch of numbers a view."""
        if is_number(fact):
            return tree("_0.copy()", made)
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        shows = any(isinstance(part, gast.Slice) or literal(part) in ((True, None), (True, ...)) for part in parts)
        if shows or isinstance(fact, Array) and fact.shape:
            return made
        return tree("numbers_apart(_0)", made)

    def _grow_at(self, base: str, index: gast.expr, wanted: Carried) -> None:
        """Let what a container or an array holds at a place carry this."""
        fact = self.scope.facts.get(base, Unknown())
        present = self.scope.carried.get(base)
        if isinstance(fact, Array) or present == LEAF:
            self.scope.grow(base, LEAF)
        elif isinstance(fact, Sequence | MappingFact) or present is not None:
            self.scope.grow(base, self._holding(base, index, wanted))
        else:
            raise Unbatchable("whether this is an array or a container is not known")

    def _holding(self, base: str, index: gast.expr | None, part: Carried) -> Carried:
        """What a container carries that holds this at a place."""
        fact, present = self.scope.facts.get(base, Unknown()), self.scope.carried.get(base)
        if isinstance(index, gast.Slice):
            return each(part_of(part))
        known, place = (False, None) if index is None else literal(index)
        if isinstance(fact, Sequence) and fact.items is not None and known and type(place) is int:
            count = len(fact.items)
            if not isinstance(present, Each) and -count <= place < count:
                return items(part if k == place % count else None for k in range(count))
        if isinstance(fact, MappingFact) and fact.items is not None and known:
            return Keys(tuple((key, part if key == place else None) for key, _ in fact.items))
        return each(part)

    def _value(self, statement: Bind) -> Operand:
        expression, operation = statement.expression, statement.operation
        fact = self.scope.facts.get(statement.target, Unknown())
        match operation:
            case Index(base=base, index=index):
                whole = rewritten(self.scope, gast.Name(base, gast.Load(), None, None))
                made, carried = indexed(self.scope, whole, index, self.scope.fact(expression))
                return Operand(made, carried, fact, expression)
            case Apply(function=function, arguments=arguments) if isinstance(expression, gast.Call | gast.Attribute):
                given = operands(self.scope, arguments)
                if not any(operand.is_batched for operand in given.values()):
                    return rewritten(self.scope, expression)
                is_copy = isinstance(expression, gast.Call) and getattr(expression.func, "attr", "") == "flatten"
                if isinstance(expression, gast.Call) and getattr(expression.func, "attr", None) in ("astype", "copy"):
                    return rewritten(self.scope, expression)
                made, carried = applied(self.scope, function, given, fact)
                if is_copy and statement.target in self.memory.arrays:
                    made = tree("_0.copy()", made)
                return Operand(made, carried, fact, expression)
            case Pack(kind="object"):
                raise Unbatchable("an object is made of what differs from example to example")
            case Pack(kind=kind, elements=elements) if kind in ("tuple", "list"):
                parts = [rewritten(self.scope, element) for element in elements]
                shown = gast.Tuple if kind == "tuple" else gast.List
                if not isinstance(expression, gast.Tuple | gast.List):
                    raise Unbatchable("a container of a class of its own")
                carried = items(part.carried for part in parts)
                return Operand(shown([part.node for part in parts], gast.Load()), carried, fact, expression)
        return rewritten(self.scope, expression)

    # --- containers --------------------------------------------------------------------------------------------------
    def _container(self, name: str) -> Operand:
        fact = self.scope.facts.get(name, Unknown())
        return Operand(_load(name), self.scope.carried.get(name), fact, _load(name))

    def _unpack(
        self, statement: Unpack, targets: tuple[str, ...], source: str, star: int | None
    ) -> list[gast.stmt]:
        whole = self.scope.carried.get(source)
        count = len(targets)
        if star is not None and (whole is not None or any(self.scope.carried.get(t) is not None for t in targets)):
            raise Unbatchable("a star takes what differs from example to example")
        if whole == LEAF:
            for name in targets:
                self.scope.grow(name, LEAF)
            rows = tree("np.moveaxis(_0, 1, 0)", _load(source))
            if source in self.memory.arrays:
                rows = tree("_0.copy()", rows)
                if not all(is_number(self.scope.facts.get(name, Unknown())) for name in targets):
                    raise Unbatchable("rows of memory that is stored into")
            return [_unpacked(targets, rows)]
        if isinstance(whole, Items) and len(whole.parts) == count:
            parts = whole.parts
        else:
            parts = (self.scope.any_part(self._container(source)),) * count
        after: list[gast.stmt] = []
        for place, (name, part) in enumerate(zip(targets, parts, strict=True)):
            self.scope.grow(name, part)
            wanted = self.scope.carried.get(name)
            if wanted == part:
                continue
            if self._moves(name, wanted) or self._moves(source, wanted):
                self._grow_at(source, gast.Constant(place, None), wanted)
            else:
                value = Operand(_load(name), part, Unknown(), _load(name))
                after.append(_assign(name, self.scope.raised(value, wanted)))
        return [statement_as_python(statement), *after]

    def _append(self, sequence: str, value: gast.expr, statement: Append) -> gast.stmt:
        made = rewritten(self.scope, value)
        self.scope.grow(sequence, each(made.carried))
        wanted = part_of(self.scope.carried.get(sequence))
        node = self._held(value, made, wanted)
        return gast.Expr(gast.Call(gast.Attribute(_load(sequence), "append", gast.Load()), [node], []))

    def _held(self, value: gast.expr, made: Operand, wanted: Carried) -> gast.expr:
        """A value that is put into a container, to carry what that does."""
        if isinstance(value, gast.Tuple) and isinstance(made.node, gast.Tuple) and isinstance(wanted, Items):
            had = made.carried.parts if isinstance(made.carried, Items) else (None,) * len(value.elts)
            parts = [
                self.give(Operand(node, carried, Unknown(), original), part)
                for node, carried, original, part in zip(made.node.elts, had, value.elts, wanted.parts, strict=True)
            ]
            return gast.Tuple(parts, gast.Load())
        return self.give(made, wanted)

    def _pop(
        self, statement: Pop, targets: tuple[str, ...], sequence: str, tupled: bool
    ) -> list[gast.stmt]:
        whole = self.scope.carried.get(sequence)
        if whole == LEAF:
            raise Unbatchable("an array is popped")
        part = self.scope.any_part(self._container(sequence))
        parts: tuple[Carried, ...] = (part,)
        if tupled:
            count = len(targets)
            if isinstance(part, Items) and len(part.parts) != count:
                raise Unbatchable("tuples of another length are popped")
            parts = part.parts if isinstance(part, Items) else (part_of(part),) * count
            if part == LEAF:
                raise Unbatchable("rows are popped")
        after: list[gast.stmt] = []
        for place, (name, one) in enumerate(zip(targets, parts, strict=True)):
            self.scope.grow(name, one)
            wanted = self.scope.carried.get(name)
            if wanted == one:
                continue
            if self._moves(name, wanted):
                self.scope.grow(sequence, each(items(
                    wanted if k == place else None for k in range(len(targets))
                ) if tupled else wanted))  # fmt: skip
            else:
                value = Operand(_load(name), one, Unknown(), _load(name))
                after.append(_assign(name, self.scope.raised(value, wanted)))
        return [statement_as_python(statement), *after]

    def _exchange(self, made: Exchange, statement: Bind) -> Operand:
        whole = self.scope.carried.get(made.base)
        fact = self.scope.facts.get(statement.target, Unknown())
        if made.method == "append" and len(made.arguments) == 1:
            (value,) = made.arguments
            held = rewritten(self.scope, value)
            self.scope.grow(made.base, each(held.carried))
            node = self._held(value, held, part_of(self.scope.carried.get(made.base)))
            call = gast.Call(gast.Attribute(_load(made.base), "append", gast.Load()), [node], [])
            return Operand(call, None, fact, statement.expression)
        if whole is None and self._is_plain(*made.arguments):
            return Operand(statement.expression, None, fact, statement.expression)
        if made.method == "pop" and self._is_plain(*made.arguments) and not isinstance(whole, Leaf | Keys):
            part = self.scope.any_part(self._container(made.base))
            return Operand(statement.expression, part, fact, statement.expression)
        raise Unbatchable(f"the method {made.method} of a container")

    # --- stores ------------------------------------------------------------------------------------------------------
    def _store(
        self, statement: Store | AugStore | AddAt, base: str, index: gast.expr, value: gast.expr,
        operator: gast.operator | None,
    ) -> gast.stmt:  # fmt: skip
        scope = self.scope
        if isinstance(index, gast.Name):
            index = spelled_out(index, scope.fact(index))
        made = rewritten(scope, value)
        fact, present = scope.facts.get(base, Unknown()), scope.carried.get(base)
        if made.carried is None and present is None and self._is_plain(index):
            return statement_as_python(statement)
        function = statement.function if isinstance(statement, AddAt) else None
        is_array = isinstance(fact, Array) or present == LEAF
        if not is_array:
            self._grow_at(base, index, made.carried if made.carried is not None else None)
            return self._stored_in_container(statement, base, index, value, made, function)
        scope.grow(base, LEAF)
        whole = Operand(_load(base), LEAF, fact, _load(base))
        found = key_of(scope, whole, index)
        if found is None:
            raise Unbatchable("a store at places that differ from example to example")
        key, is_gathered = found
        at = scope.fact(gast.Subscript(_load(base), index, gast.Load()))
        rank = at.rank if isinstance(at, Array) else None
        node = made.node
        if made.is_batched:
            if made.carried != LEAF:
                raise Unbatchable("a list is stored into an array")
            if made.rank is not None and rank is not None:
                node = widened(made, rank)
            elif rank != 0 and made.rank is None or rank is None:
                target = gast.Subscript(_load(base), key, gast.Load())
                node = tree("with_rank(_0, np.ndim(_1))", made.node, target)
        adds = isinstance(operator, gast.Add)
        if function is not None and getattr(getattr(function, "binding", None), "value", None) is runtime.accumulate:
            return gast.Expr(gast.Call(function, [_load(base), node], []))
        repeats = is_gathered and any(
            scope.fact(part).rank != 0  # type: ignore[union-attr]
            for part in (index.elts if isinstance(index, gast.Tuple) else [index])
            if not isinstance(part, gast.Slice) and isinstance(scope.fact(part), Array)
        )
        if adds and (function is not None or repeats):
            if not (function is not None or isinstance(statement, AddAt)):
                raise Unbatchable("a store at places that differ from example to example")
            return gast.Expr(tree("add_at(_0, _1, _2)", _load(base), index_value(key), node))
        target = gast.Subscript(_load(base), key, gast.Store())
        if operator is None:
            return gast.Assign([target], node, None)
        return gast.AugAssign(target, operator, node)

    def _stored_in_container(
        self, statement: Store | AugStore | AddAt, base: str, index: gast.expr, value: gast.expr, made: Operand,
        function: gast.expr | None,
    ) -> gast.stmt:  # fmt: skip
        if not self._is_plain(index):
            raise Unbatchable("a place in a container differs from example to example")
        wanted = part_at(self.scope, self._container(base), index)
        if function is not None and getattr(getattr(function, "binding", None), "value", None) is runtime.accumulate:
            raise Unbatchable("cotangents of a container are added")
        if isinstance(statement, AugStore) and wanted is not None:
            raise Unbatchable("an item of a container is changed in place")
        node = self._held(value, made, wanted)
        return statement_as_python(replace(statement, value=node))

    # --- calls -------------------------------------------------------------------------------------------------------
    def _call(self, made: Call, statement: Bind) -> Operand:
        given = [rewritten(self.scope, argument) for argument in made.arguments]
        fact = self.scope.facts.get(statement.target, Unknown())
        facts = tuple(operand.fact for operand in given)
        carried = tuple(operand.carried for operand in given)
        if isinstance(made.callee.function, Guarded):
            if any(carried) or self.drawing(made.callee):
                raise Unbatchable("an exception may be caught")
            return Operand(self._spelled(made, statement), None, fact, statement.expression)
        signature = self.called(made.callee, facts, carried)
        for operand, wanted in zip(given, signature.parameters, strict=True):
            if wanted != operand.carried and isinstance(operand.original, gast.Name):
                if self._moves(operand.original.id, wanted):
                    self.scope.grow(operand.original.id, wanted)
        if not any(part is not None for part in (*signature.parameters, signature.result)):
            if self.drawing(made.callee):
                raise Unbatchable("random numbers are drawn")
            return Operand(self._spelled(made, statement), None, fact, statement.expression)
        arguments = [
            self.scope.raised(operand, wanted) for operand, wanted in zip(given, signature.parameters, strict=True)
        ]
        arguments.append(self.scope.number_of_examples())
        call = gast.Call(_load(signature.name), arguments, [])
        return Operand(call, signature.result, fact, statement.expression)

    def _spelled(self, made: Call, statement: Bind) -> gast.expr:
        head = self.primal(made.callee)
        return statement.expression if head is None else gast.Call(head, list(map(clone, made.arguments)), [])


def draws(statement: Statement) -> bool:
    """Whether a statement draws random numbers, which are others for each example."""
    match statement:
        case Bind(operation=Unruled(draws=True)):
            return True
        case Bind(expression=expression):
            roots: tuple[gast.AST, ...] = (expression,)
        case Effect(statement=inner):
            roots = (inner,)
        case If(test=test) | While(test=test):
            roots = (test,)
        case For(iterable=iterable):
            roots = (iterable,)
        case _:
            return False
    calls = [node for node in nodes_of(*roots) if isinstance(node, gast.Call)]
    return any(effects.of_function(found).draws for call in calls if callable(found := object_of(call.func)))


def _load(name: str) -> gast.Name:
    return gast.Name(name, gast.Load(), None, None)


def _assign(name: str, value: gast.expr) -> gast.stmt:
    return gast.Assign([gast.Name(name, gast.Store(), None, None)], value, None)


def _unpacked(names: tuple[str, ...], value: gast.expr) -> gast.stmt:
    targets = [gast.Name(name, gast.Store(), None, None) for name in names]
    return gast.Assign([gast.Tuple(targets, gast.Store())], value, None)
