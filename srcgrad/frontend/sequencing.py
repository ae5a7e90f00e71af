"""Python's order of evaluation within a statement: operands are evaluated before what may change what they read.

Enters: a statement whose expressions are still nested.  Leaves: the same statement with atoms in place of operands that
a later operand may change; what they evaluate to is bound before, from left to right.  Nothing is moved where no
operand changes anything, so other statements stay as they are written::

    out[len(q)] += q.pop() ** 2      ->     t = len(q);  out[t] += q.pop() ** 2
    f(c[0], step(c), len(c))         ->     t = c[0];  f(t, step(c), len(c))

The order is that of the language reference, 6.16: left to right, values before targets, the base and the index of an
augmented assignment before its value, positional arguments before those by keyword.  Names that are rebound within a
statement (``:=``) are copied where they are read (``Writing.pending``).  Operands that are evaluated under a condition
(``and``, ``if``, comprehensions) become statements of their own, which come here in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Protocol

import gast

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.callees import makes_iterator
from srcgrad.frontend.desugar.build import call_builtin, placed
from srcgrad.frontend.known import Known
from srcgrad.frontend.names import COMPREHENSIONS, names_of
from srcgrad.frontend.normal_form import LocalFunction
from srcgrad.frontend.scope import Scope, Static
from srcgrad.language import effects
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import children, walk

_VIEWS = effects.returning(dict, "view")
#: Evaluated in part, or more than once: their parts are sequenced where they become statements.
_CONDITIONAL = gast.IfExp | gast.BoolOp | gast.Lambda | COMPREHENSIONS


class Evaluator(Protocol):
    """The writer of a function, as far as the order of evaluation needs it."""

    scope: Scope
    relied: dict[str, list[Known]]

    def value(self, node: gast.expr) -> gast.expr: ...

    def may_change(self, node: gast.AST) -> bool: ...

    def may_be_changed(self, node: gast.expr) -> bool: ...

    def is_global(self, node: gast.AST) -> bool: ...

    def is_object(self, node: gast.AST) -> bool: ...

    def refuse(self, node: gast.AST, reason: str, hint: str | None = None) -> UnsupportedSyntax: ...

    def known_length(self, node: gast.expr) -> int | None: ...


def ordered_statement(writer: Evaluator, statement: gast.stmt) -> gast.stmt:
    """The statement with atoms in place of what its later operands may change."""
    heads = _heads(statement)
    changing = _changing(writer, [node for _, node in heads])
    if not changing:
        return statement
    order = _Order(writer, changing)
    if isinstance(statement, gast.AugAssign):
        # The value is evaluated after what the target holds has been read: by whoever writes the statement.
        target = order.target(statement.target, later=id(statement.value) in changing)
        return _with(statement, {"target": target})
    if isinstance(statement, gast.Assign):
        (target,) = statement.targets
        value = order.expression(statement.value)
        if id(target) in changing:
            value = order.settled(value)
        return _with(statement, {"value": value, "targets": [order.target(target)]})
    return _with(statement, dict(zip([name for name, _ in heads], order.sequence([n for _, n in heads]), strict=True)))


def ordered(writer: Evaluator, node: gast.expr) -> gast.expr:
    """The expression with atoms in place of what its later operands may change."""
    changing = _changing(writer, [node])
    return _Order(writer, changing).expression(node) if changing else node


def changes_something(writer: Evaluator, node: gast.expr) -> bool:
    """Whether evaluating an expression may change what others read."""
    return id(node) in _changing(writer, [node])


def _heads(statement: gast.stmt) -> list[tuple[str, gast.expr]]:
    """The expressions that a statement always evaluates itself, once, in order, by the names of their fields."""
    match statement:
        case gast.Assign(targets=[target], value=value):
            return [("value", value), ("targets", target)]
        case gast.AugAssign(target=target, value=value):
            return [("target", target), ("value", value)]
        case gast.Return(value=gast.expr() as value) | gast.Expr(value=value):
            return [("value", value)]
        case gast.If(test=test) | gast.Assert(test=test):
            return [("test", test)]
        case gast.For(iter=iterable):
            return [("iter", iterable)]
        case gast.Raise(exc=raised, cause=cause):
            return [(name, node) for name, node in (("exc", raised), ("cause", cause)) if node is not None]
    return []


def _changing(writer: Evaluator, roots: Iterable[gast.AST]) -> set[int]:
    """The nodes, by identity, whose evaluation may change something: those that do, and all around them."""
    around: dict[int, gast.AST] = {}
    found: set[int] = set()
    pending = list(roots)
    inside = [node for node in _evaluated_with(pending) if isinstance(node, COMPREHENSIONS)]
    with writer.scope.naming(names_of(generator.target for node in inside for generator in node.generators)):
        # What is known of objects only adds to what may change, so that nothing is decided by it.
        outer, writer.relied = writer.relied, {}
        try:
            _mark(writer, pending, around, found)
        finally:
            writer.relied = outer
    return found


def names_in(function: gast.AST) -> frozenset[str]:
    """The names that a local function binds, as parameters, variables or functions, and those inside of it."""
    found = {node.id for node in walk(function) if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load)}
    return frozenset(found).union(node.name for node in walk(function) if isinstance(node, gast.FunctionDef))


def _mark(writer: Evaluator, pending: list[gast.AST], around: dict[int, gast.AST], found: set[int]) -> None:
    while pending:
        node = pending.pop()
        if writer.may_change(node):
            inner: gast.AST | None = node
            while inner is not None and id(inner) not in found:
                found.add(id(inner))
                inner = around.get(id(inner))
        for child in _evaluated(node):
            around[id(child)] = node
            pending.append(child)


def _evaluated_with(roots: Iterable[gast.AST]) -> Iterator[gast.AST]:
    pending = list(roots)
    while pending:
        node = pending.pop()
        yield node
        pending += _evaluated(node)


def _evaluated(node: gast.AST) -> Iterable[gast.AST]:
    """The parts of an expression that are evaluated with it."""
    if isinstance(node, gast.Lambda):
        return [*node.args.defaults, *(default for default in node.args.kw_defaults if default is not None)]
    return children(node)


def _with(node: gast.AST, parts: dict[str, object]) -> gast.AST:
    """A node with other parts; itself where they are its own."""
    given = {name: getattr(node, name, None) for name in node._fields}
    same = all(part is given[name] or part == given[name] for name, part in parts.items())
    return node if same else placed(type(node)(**(given | parts)), node)


class _Order:
    """Evaluates operands of one statement; ``changing`` are the nodes whose evaluation may change something."""

    def __init__(self, writer: Evaluator, changing: set[int]) -> None:
        self.writer = writer
        self.changing = changing

    def target(self, node: gast.expr, *, later: bool = False) -> gast.expr:
        """A target; ``later``: what is evaluated after its base and its index may change something."""
        if not isinstance(node, gast.Subscript | gast.Attribute) or not (later or id(node) in self.changing):
            return node
        names = ["value", "slice"] if isinstance(node, gast.Subscript) else ["value"]
        made = self.sequence([getattr(node, name) for name in names])
        if later:
            made = [self.settled(part) for part in made]
        return _with(node, dict(zip(names, made, strict=True)))

    def sequence(self, nodes: list[gast.expr]) -> list[gast.expr]:
        """Operands from left to right: those before one that changes something are evaluated before it."""
        made: list[gast.expr] = []
        done = 0
        for node in nodes:
            if id(node) in self.changing:
                made[done:] = [self.settled(part) for part in made[done:]]
                done = len(made)
                node = self.expression(node)
            made.append(node)
        return made

    def expression(self, node: gast.expr) -> gast.expr:
        """An expression with atoms in place of what its own later operands may change."""
        if id(node) not in self.changing or isinstance(node, _CONDITIONAL):
            return node
        match node:
            case gast.BinOp():
                return self._chain(node)
            case gast.Compare() if len(node.ops) > 1:
                return node
            case gast.Compare():
                left, right = self.sequence([node.left, *node.comparators])
                return _with(node, {"left": left, "comparators": [right]})
            case gast.Call():
                return self._call(node)
            case gast.Dict():
                return self._dict(node)
            case gast.NamedExpr():
                return _with(node, {"value": self.expression(node.value)})
        slots = list(_slots(node))
        return _replaced(node, slots, self.sequence([child for _, _, child in slots]))

    def _chain(self, node: gast.BinOp) -> gast.expr:
        """A chain of operators, innermost first, in a loop."""
        steps: list[gast.BinOp] = []
        left: gast.expr = node
        while isinstance(left, gast.BinOp) and id(left) in self.changing:
            steps.append(left)
            left = left.left
        left = self.expression(left)
        for step in reversed(steps):
            right = step.right
            if id(right) in self.changing:
                left = self.settled(left)
                right = self.expression(right)
            left = _with(step, {"left": left, "right": right})
        return left

    def _call(self, node: gast.Call) -> gast.expr:
        receiver = node.func.value if self._is_method(node.func) else None
        first = [] if receiver is None else [receiver]
        keywords = [keyword.value for keyword in node.keywords]
        if any(id(value) in self.changing for value in keywords):
            self._refuse_lone_star(node)
        made = self.sequence([*first, *node.args, *keywords])
        if not self._is_users(node.func) or any(map(self._is_read_later, made)):
            made = [self.settled(part) for part in made]  # what is read once the call has all operands is not yet read
        function = node.func
        if receiver is not None:
            function = _with(function, {"value": made[0]})
            made = made[1:]
        named = [_with(k, {"value": v}) for k, v in zip(node.keywords, made[len(node.args) :], strict=True)]
        if any(each.arg is None for each in named):
            named = [self._spread(old, new, node) for old, new in zip(node.keywords, named, strict=True)]
        return _with(node, {"func": function, "args": made[: len(node.args)], "keywords": named})

    def _refuse_lone_star(self, node: gast.Call) -> None:
        """``f(*q, k=q.pop())``: Python takes the items of ``q`` after the keywords, if nothing stands beside it."""
        match node.args:
            case [gast.Starred(value=value)] if not isinstance(value, gast.Tuple | gast.List):
                reason = "a keyword may change what is unpacked before it"
                raise self.writer.refuse(node, reason, "bind its value before")

    def _is_method(self, function: gast.expr) -> bool:
        """Whether what is called is read of a value, which is evaluated before the arguments."""
        return isinstance(function, gast.Attribute) and self.writer.scope.static_of(function) is None

    def _is_users(self, function: gast.expr) -> bool:
        """Whether what is called is Python code, to which operands are handed as they are."""
        static: Static | None = self.writer.scope.static_of(function)
        return static is None or isinstance(static.value, FunctionType | LocalFunction)

    def _spread(self, old: gast.keyword, new: gast.keyword, node: gast.Call) -> gast.keyword:
        """``**d``, whose entries are taken before what follows is evaluated."""
        values = [keyword.value for keyword in node.keywords]
        later = values[next(j for j, keyword in enumerate(node.keywords) if keyword is old) + 1 :]
        if old.arg is not None or isinstance(new.value, gast.Dict) or not any(id(v) in self.changing for v in later):
            return new
        return _with(new, {"value": self.writer.value(call_builtin("dict", [new.value], old))})

    def _dict(self, node: gast.Dict) -> gast.expr:
        """A display: each key before its value.  All are evaluated, since the two are written as two lists."""
        if any(key is None for key in node.keys):
            return node  # frontend.dicts takes its parts one by one
        flat = [part for pair in zip(node.keys, node.values, strict=True) for part in pair]
        made = self.sequence(flat)
        if not all(isinstance(key, gast.Constant) for key in node.keys):
            made = [self.settled(part) for part in made]
        return _with(node, {"keys": made[::2], "values": made[1::2]})

    # --- operands that are evaluated now -----------------------------------------------------------------------------
    def settled(self, node: gast.expr) -> gast.expr:
        """An operand evaluated now: an atom, or a display of atoms; what nothing can change stays as it is."""
        writer = self.writer
        match node:
            case gast.Constant() | gast.Name() | GlobalReference():
                return node
            case gast.GeneratorExp(generators=[first, *rest]):
                outermost = _with(first, {"iter": self._iterated(first.iter)})
                return _with(node, {"generators": [outermost, *rest]})
            case gast.Lambda(args=arguments):
                if not any(map(writer.may_be_changed, _evaluated(node))):
                    return node
                defaults = [self.settled(default) for default in arguments.defaults]
                named = [None if default is None else self.settled(default) for default in arguments.kw_defaults]
                return _with(node, {"args": _with(arguments, {"defaults": defaults, "kw_defaults": named})})
            case gast.Starred(value=value):
                if isinstance(value, gast.Tuple | gast.List) or writer.known_length(value) is not None:
                    return _with(node, {"value": self.settled(value)})
                return _with(node, {"value": writer.value(call_builtin("list", [value], node))})
            case gast.Tuple() | gast.List() | gast.Set() | gast.Slice():
                slots = list(_slots(node))
                return _replaced(node, slots, [self.settled(child) for _, _, child in slots])
            case gast.Dict() if all(key is not None for key in node.keys):
                flat = [self.settled(part) for pair in zip(node.keys, node.values, strict=True) for part in pair]
                return _with(node, {"keys": flat[::2], "values": flat[1::2]})
            case gast.FormattedValue():
                text = placed(gast.JoinedStr([node]), node)
                return placed(gast.FormattedValue(writer.value(text), -1, None), node)
            case gast.Attribute(value=value, attr="flat"):
                return _with(node, {"value": self.settled(value)})
            case gast.Call(func=gast.Attribute(value=value) as view) if self._is_view(node):
                return _with(node, {"func": _with(view, {"value": self.settled(value)})})
            case gast.Call(args=args) if self._is_lazy(node):
                if self._begins_at_the_end(node) and writer.may_be_changed(node):
                    reason = "an iterator that begins at the end of what an operand after it may lengthen"
                    raise writer.refuse(node, reason, "evaluate that operand before")
                return _with(node, {"args": [self.settled(argument) for argument in args]})
        if id(node) not in self.changing and not writer.may_be_changed(node):
            return node
        owner = node.value if isinstance(node, gast.Attribute) else node  # what a module holds: no store reaches it
        if writer.is_global(node) or writer.scope.static_of(owner) is not None or writer.scope.static_of(node):
            return node
        return writer.value(node)

    def _iterated(self, node: gast.expr) -> gast.expr:
        """What the outermost ``for`` of a generator goes over: it is evaluated when the generator is made, and its
        items are read later."""
        if self._is_view(node):
            reason = "a generator over a dict that an operand after it may change"
            raise self.writer.refuse(node, reason, "evaluate that operand before, or take a list")
        return self.settled(node)

    def _is_view(self, node: gast.expr) -> bool:
        """Whether this makes a view of a dict, which shows what the dict holds when it is read."""
        match node:
            case gast.Call(func=gast.Attribute(value=value, attr=attr), args=[], keywords=[]) if attr in _VIEWS:
                return self.writer.scope.static_of(value) is None and not self.writer.is_object(value)
        return False

    def _is_read_later(self, node: gast.expr) -> bool:
        """Whether this is an operand whose items are read once the call has all of them."""
        return isinstance(node, gast.GeneratorExp) or self._is_view(node) or (
            isinstance(node, gast.Call) and self._is_lazy(node)
        )

    def _begins_at_the_end(self, node: gast.Call) -> bool:
        static: Static | None = self.writer.scope.static_of(node.func)
        return static is not None and static.value is reversed

    def _is_lazy(self, node: gast.Call) -> bool:
        """Whether a call makes what is read later, as a loop over it goes."""
        static: Static | None = self.writer.scope.static_of(node.func)
        return static is not None and (makes_iterator(static.value) or static.value in (range, slice))


Slot = tuple[str, int | None, gast.expr]


def _slots(node: gast.AST) -> Iterator[Slot]:
    """The operands of an expression that are evaluated with it, left to right: field, place in a list, operand."""
    for name in node._fields:
        part = getattr(node, name, None)
        if isinstance(part, list):
            yield from ((name, j, each) for j, each in enumerate(part) if isinstance(each, gast.expr))
        elif isinstance(part, gast.expr):
            yield name, None, part


def _replaced(node: gast.AST, slots: list[Slot], made: list[gast.expr]) -> gast.AST:
    parts: dict[str, object] = {}
    for (name, place, _), operand in zip(slots, made, strict=True):
        if place is None:
            parts[name] = operand
        else:
            parts.setdefault(name, list(getattr(node, name)))[place] = operand  # type: ignore[index]
    return _with(node, parts)
