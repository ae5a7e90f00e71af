"""Which names may hold one object, or parts of one: union-find, flow-insensitive.

Each local name has two nodes: ``x``, the object it holds, and ``x.*``, what that object contains.  ``b = a`` and the
view ``b = a[1:3]`` put the objects of a and b into one class, ``t = (a, b)`` puts a and b among the contents of t, and
arithmetic gives something new.  Parameters may be one object, for all we know.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterable

import gast
import numpy as np

from srcgrad.language.effects import is_compiled_ufunc
from srcgrad.optimize.effects import Effects, arguments_of, base_name, is_pop, recognized_change
from srcgrad.optimize.scan import COMPOUND, statements_of
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import parameters_of, walk

_FRESH_NUMPY = (
    "zeros zeros_like ones ones_like full full_like empty empty_like arange linspace eye identity dot outer inner "
    "tensordot sum mean prod max min amax amin var std cumsum cumprod concatenate stack where tile repeat roll copy "
    "shape size ndim argmax argmin count_nonzero any all tril triu trace isclose allclose array_equal"
).split()
_FRESH_BUILTINS = "abs bool complex divmod float int isinstance len pow range round str".split()
_FRESH_RUNTIME = frozenset(("zeros_like", "untake", "shadow", "claim"))
_FRESH = frozenset(
    [id(getattr(np, name)) for name in _FRESH_NUMPY]
    + [id(getattr(builtins, name)) for name in _FRESH_BUILTINS]
    + [id(value) for name, value in vars(math).items() if callable(value)]
)


class Aliases:
    """Classes of the nodes of one function."""

    def __init__(self, function: gast.FunctionDef, effects: Effects) -> None:
        self._parent: dict[str, str] = {}
        self._size: dict[str, int] = {}
        self._unnamed = 0
        self._effects = effects
        self.parameters = parameters_of(function.args)
        for name in self.parameters:
            for other in ("<parameters>", "<parameters>.*"):
                self._join(name, other)
                self._join(f"{name}.*", other)
        self._function: gast.FunctionDef | None = function
        self._changed_classes: frozenset[str] = frozenset()
        self._members: dict[str, set[str]] | None = None

    def _solve(self) -> None:
        """Follow the flows once, when the first question comes: most functions change nothing in place."""
        if self._function is None:
            return
        statements, self._function = statements_of(self._function), None
        changed: set[str] = set()
        for statement in statements:
            self._flow(statement)
            effect = self._effects.of(statement)
            if not isinstance(statement, COMPOUND):
                changed |= effect.changes
            if effect.barrier and self._effects.scan(statement).calls:  # a call may store into all it is given
                changed |= {node for name in effect.header for node in (name, f"{name}.*")}
        self._changed_classes = frozenset(self._find(node) for node in changed)

    # --- questions ---------------------------------------------------------------------------------------------------
    def classes(self, names: Iterable[str]) -> set[str]:
        """The classes that an expression of these names sees into."""
        self._solve()
        return {self._find(node) for name in names for node in (name, f"{name}.*")}

    def classes_of(self, nodes: Iterable[str]) -> set[str]:
        self._solve()
        return {self._find(node) for node in nodes}

    def is_private(self, nodes: Iterable[str]) -> bool:
        """Whether a change of these nodes, all of one name, is seen by that name alone."""
        self._solve()
        if self._members is None:
            self._members = {}
            for node in self._parent | {f"{name}{inner}": "" for name in self.parameters for inner in ("", ".*")}:
                self._members.setdefault(self._find(node), set()).add(node.removesuffix(".*"))
        names = {node.removesuffix(".*") for node in nodes}
        return len(names) == 1 and all(
            self._members.get(self._find(node), names) <= names and node not in self.parameters for node in nodes
        )

    def ever_changed(self, names: Iterable[str]) -> bool:
        """Whether an object that these names may see into is changed in place anywhere."""
        classes = self.classes(names)
        return not self._changed_classes.isdisjoint(classes)

    # --- flows -------------------------------------------------------------------------------------------------------
    def _flow(self, statement: gast.stmt) -> None:
        match statement:
            case gast.Assign():
                for target in statement.targets:
                    self._assign(target, statement.value)
                self._call_joins(statement.value)
            case gast.AugAssign():
                base = base_name(statement.target)
                if base is not None:
                    self._elements(base, statement.value, isinstance(statement.op, gast.Add))
            case gast.For():
                self._take_from(statement.target, statement.iter)
                self._call_joins(statement.iter)
            case gast.With():
                for item in statement.items:
                    if item.optional_vars is not None:
                        self._take_from(item.optional_vars, item.context_expr)
                    self._call_joins(item.context_expr)
            case gast.Expr():
                self._call_joins(statement.value)

    def _assign(self, target: gast.expr, value: gast.expr) -> None:
        match target, value:
            case (gast.Tuple() | gast.List()), (gast.Tuple() | gast.List()) if len(target.elts) == len(value.elts):
                if not any(isinstance(part, gast.Starred) for part in (*target.elts, *value.elts)):
                    for left, right in zip(target.elts, value.elts):
                        self._assign(left, right)
                    return
                self._take_from(target, value)
            case (gast.Tuple() | gast.List()), _:
                self._take_from(target, value)
            case gast.Name(), _:
                self._same(target.id, value)
            case _:
                for name in _local_names(target)[:1]:
                    self._contain(name, value)

    def _same(self, name: str, value: gast.expr) -> None:
        """``name = value``."""
        pending = [value]
        while pending:
            value = pending.pop()
            match value:
                case GlobalReference():
                    if not callable(value.binding.value):
                        self._both(name, f"<global {id(value.binding.value)}>")
                case gast.Name():
                    self._join(name, value.id)
                    self._join(f"{name}.*", f"{value.id}.*")
                case gast.Tuple() | gast.List() | gast.Set():
                    for element in value.elts:
                        if not isinstance(element, gast.Constant):
                            self._contain(name, element)
                case gast.IfExp():
                    pending += [value.body, value.orelse]
                case gast.BoolOp():
                    pending += value.values
                case gast.NamedExpr() | gast.Starred():
                    pending.append(value.value)
                case gast.BinOp():
                    self._elements(name, value, True)
                case gast.Constant() | gast.UnaryOp() | gast.Compare() | gast.JoinedStr():
                    pass
                case gast.Call() if is_fresh_call(value):
                    pass
                case gast.Call() if is_pop(value):
                    owner = value.func.value.id
                    self._join(name, f"{owner}.*")
                    self._join(f"{name}.*", f"{owner}.*")
                case _:
                    for other in _local_names(value):
                        self._both(name, other)

    def _elements(self, name: str, value: gast.expr, added: bool) -> None:
        """``name = a + b`` is new, but lists that are added, and displays that are repeated, share their elements."""
        pending: list[tuple[gast.expr, bool]] = [(value, added)]
        while pending:
            part, added = pending.pop()
            match part:
                case gast.BinOp(op=gast.Add()):
                    pending += [(part.left, added), (part.right, added)]
                case gast.BinOp(op=gast.Mult()):
                    pending += [(part.left, False), (part.right, False)]
                case gast.List() | gast.Tuple():
                    self._same(name, part)
                case gast.Name() | gast.Subscript() | gast.Attribute() | gast.Call() | gast.IfExp() if added:
                    if not (isinstance(part, gast.Call) and is_fresh_call(part)):
                        for other in _local_names(part):
                            self._join(f"{name}.*", f"{other}.*")

    def _contain(self, name: str, element: gast.expr) -> None:
        """``element`` is put into what ``name`` holds."""
        self._unnamed += 1
        part = f"<{self._unnamed}>"
        self._same(part, element)
        self._join(f"{name}.*", part)
        self._join(f"{name}.*", f"{part}.*")

    def _take_from(self, target: gast.expr, value: gast.expr) -> None:
        """Unpacking and iteration: every target may be the value, a view of it, or a part."""
        names = _local_names(target)
        if is_pop(value):
            for name in names:
                self._same(name, value)
            return
        others = _local_names(value)
        for name in names:
            for other in others:
                self._both(name, other)
        if len(names) > 1 and any(isinstance(node, gast.Call) for node in walk(value)):
            for name in names[1:]:
                self._both(name, names[0])

    def _call_joins(self, value: gast.expr) -> None:
        """A call that is not pure may put any argument into any other."""
        change = recognized_change(value)
        if change is not None:
            assert isinstance(value, gast.Call)
            owner = value.func.value.id if isinstance(value.func, gast.Attribute) else value.args[0].id
            for argument in arguments_of(value):
                if not (isinstance(argument, gast.Name) and argument.id == owner):
                    self._contain(owner, argument)
        elif not self._effects.pure(value):
            names = _local_names(value)
            for name in names[1:]:
                self._both(names[0], name)

    def _both(self, left: str, right: str) -> None:
        for node in (left, f"{left}.*"):
            self._join(node, right)
            self._join(node, f"{right}.*")

    # --- union-find --------------------------------------------------------------------------------------------------
    def _find(self, node: str) -> str:
        root = node
        while (above := self._parent.get(root, root)) != root:
            root = above
        while node != root:
            self._parent[node], node = root, self._parent.get(node, root)
        return root

    def _join(self, left: str, right: str) -> None:
        left, right = self._find(left), self._find(right)
        if left == right:
            return
        sizes = self._size.get(left, 1), self._size.get(right, 1)
        if sizes[0] < sizes[1]:
            left, right = right, left
        self._parent[right] = left
        self._parent.setdefault(left, left)
        self._size[left] = sum(sizes)


def is_fresh_call(call: gast.Call) -> bool:
    """Whether the result is a new object that shares nothing with the arguments."""
    if any(word.arg in ("out", None) for word in call.keywords):
        return False
    if isinstance(call.func, gast.Attribute) and call.func.attr == "copy" and not call.args:
        return False  # a list copied shares its elements
    if isinstance(call.func, GlobalReference):
        binding = call.func.binding
        if (binding.module or "").startswith("srcgrad.runtime") and binding.attribute in _FRESH_RUNTIME:
            return True
    function = callee_of(call.func)
    return is_compiled_ufunc(function) or id(function) in _FRESH


def callee_of(expression: gast.expr) -> object:
    """The object that ``np.linalg.norm`` or ``sin`` names, None if it is not a path from a global."""
    path: list[str] = []
    while isinstance(expression, gast.Attribute):
        path.append(expression.attr)
        expression = expression.value
    if not isinstance(expression, GlobalReference):
        return None
    value = expression.binding.value
    for name in reversed(path):
        value = getattr(value, name, None)
    return value


def _local_names(expression: gast.AST) -> list[str]:
    """Every local name of an expression, whatever its context."""
    if type(expression) is gast.Name:
        return [expression.id]
    names = [node for node in walk(expression) if isinstance(node, gast.Name)]
    return list(dict.fromkeys(node.id for node in names if not isinstance(node, GlobalReference)))
