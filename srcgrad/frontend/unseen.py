"""Special methods that a statement runs without a call, and that store.

Enters: a statement, before it is written, and the facts about the names that it reads.  Leaves: nothing, or a refusal
with the place.  What is asked may be asked again by the reverse sweep, left out or asked once where Python asks twice,
and the object may be the caller's: none of this is seen where a method only answers::

    if o: ...        o.__bool__()            k in o         o.__contains__(k)
    d[o]             o.__hash__()            o.missing      o.__getattr__("missing")
"""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType

import gast

from srcgrad.frontend import implicit
from srcgrad.frontend.classes import ABSENT, COMPARISONS, found
from srcgrad.frontend.data_model import run_over
from srcgrad.frontend.known import classes_in, instances_of
from srcgrad.frontend.objects import Objects
from srcgrad.rules.memory import LIBRARIES, home_of
from srcgrad.syntax.parse import names_bound, names_read, parameters_of, walk

#: What looks at the class of an object alone, or at one attribute.
_OF_CLASSES = (isinstance, issubclass, callable, type, id, hasattr, getattr, setattr, delattr, vars, super)
#: What measures its operand or iterates over it, and does nothing to the items.
_HOLDING = (len, range, enumerate, zip, reversed, iter, list, tuple)


def compared_in(node: gast.Compare) -> list[tuple[gast.expr, gast.AST, gast.expr]]:
    """The comparisons of a chain."""
    return list(zip([node.left, *node.comparators], node.ops, node.comparators, strict=False))


class Unseen(Objects):
    """The special methods that a statement runs without a call."""

    def refuse_asking(self, *heads: gast.AST) -> None:
        """Refuse what a statement evaluates itself, where it asks an object by a method that stores."""
        inner = _bound_inside(heads)
        for node in (each for head in heads for each in walk(head)):
            if isinstance(node, gast.Call | gast.Attribute) and inner.isdisjoint(names_read(node)):
                self._refuse_given(node) if isinstance(node, gast.Call) else self._refuse_missing(node)
            if isinstance(node, gast.Compare) and inner.isdisjoint(names_read(node)):
                self._refuse_compared(node)
        for node, operand in (asked for head in heads for asked in _asked(head)):
            if inner.isdisjoint(names_read(operand)):
                self._refuse_asked(node, operand)
        for node in (each for head in heads for each in walk(head) if isinstance(each, gast.Compare)):
            for _, op, right in compared_in(node) if inner.isdisjoint(names_read(node)) else ():
                kinds = [each.kind for each in instances_of(self.peek(right))]
                if isinstance(op, gast.In | gast.NotIn) and any(found(k, "__contains__") is ABSENT for k in kinds):
                    self.refuse_gone_over(node, right)

    def _refuse_given(self, node: gast.Call) -> None:
        """Refuse objects that a function of a library is given, which may run any of their methods."""
        static = self.scope.static_of(node.func)
        if static is not None and any(static.value is each for each in _HOLDING):
            for argument in node.args:
                self._refuse_asked(node, argument)
                if static.value is not len:
                    self.refuse_gone_over(node, argument)
        else:
            if static is not None and (static.value is any or static.value is all):
                self.refuse_gone_over(node, *node.args)
            self.refuse_storing_operand(node)

    def refuse_gone_over(self, node: gast.AST, operand: gast.expr) -> None:
        """Refuse an object whose items are asked for by a method that stores."""
        for kind in sorted({each.kind for each in instances_of(self.peek(operand))}, key=lambda k: k.__qualname__):
            raw = found(kind, "__iter__")
            names = ("__iter__", "__next__", "__getitem__")
            name = next((name for name in names if implicit.stores_as(kind, name)), None)
            if name is None and isinstance(raw, FunctionType) and run_over(raw) is None:
                name = "__iter__"  # what it gives may store when it is asked
            if name is not None:
                raise self.refuse(node, *implicit.stores_unseen(kind, name))

    def _refuse_compared(self, node: gast.Compare) -> None:
        """Refuse objects outside that are compared by a method that stores; what is made here is called by it."""
        for left, op, right in compared_in(node):
            for operand in filter(self.is_global, (left, right) if type(op) in COMPARISONS else ()):
                for kind in (each.kind for each in instances_of(self.peek(operand))):
                    if implicit.stores_as(kind, COMPARISONS[type(op)]):
                        raise self.refuse(node, *implicit.stores_unseen(kind, COMPARISONS[type(op)]))

    def _refuse_missing(self, node: gast.Attribute) -> None:
        """Refuse an attribute that a method makes up, and stores; nothing else is decided by the class here."""
        relied = {name: [*known] for name, known in self.relied.items()}
        known = self.peek(node.value)
        self.relied.clear()
        self.relied.update(relied)
        if any(implicit.stores_as(each.kind, "__getattr__") for each in instances_of(known)):
            self._refuse_asked(node, node.value)

    def _refuse_asked(self, node: gast.expr, operand: gast.expr) -> None:
        for kind in sorted({each.kind for each in instances_of(self.peek(operand))}, key=lambda k: k.__qualname__):
            name = implicit.storing_method(kind)
            if name is None and (name := implicit.may_store_asked(kind, _methods(node, operand))) is not None:
                self._refuse_comparison(node, f"{name} of class {kind.__name__}")
            if name is not None:
                raise self.refuse(node, *implicit.stores_unseen(kind, name))

    def _refuse_comparison(self, node: gast.expr, method: str) -> None:
        if isinstance(node, gast.Compare):
            raise self.refuse(node, f"this comparison asks {method}, which stores into its object", "store before")

    def refuse_storing_operand(self, node: gast.expr) -> None:
        """Refuse an object that is given to what runs its methods unseen, where one of them stores."""
        operands: list[gast.expr]
        match node:
            case gast.Call(func=func, args=args, keywords=keywords) if self._is_of_library(func):
                operands = [*args, *(word.value for word in keywords)]
            case gast.UnaryOp(op=gast.Not(), operand=operand):
                operands = [operand]
            case gast.JoinedStr(values=values) | gast.Set(elts=values):
                operands = values
            case _:
                return
        for kind in sorted({k for each in operands for k in self._classes_given(each)}, key=lambda k: k.__qualname__):
            name = implicit.storing_where_given(kind)
            if name is not None:
                raise self.refuse(node, *implicit.stores_unseen(kind, name))

    def _classes_given(self, operand: gast.expr) -> set[type]:
        """The classes of the objects that an operand may be, or hold."""
        match operand:
            case gast.List(elts=parts) | gast.Tuple(elts=parts) | gast.Set(elts=parts):
                return {kind for part in parts for kind in self._classes_given(part)}
            case gast.Starred(value=inner) | gast.FormattedValue(value=inner):
                return self._classes_given(inner)
            case gast.Constant():
                return set()
        return classes_in(self.peek(operand), self.table.resolved)

    def _is_of_library(self, function: gast.expr) -> bool:
        static = self.scope.static_of(function)
        if static is None or static.value is None or any(static.value is each for each in _OF_CLASSES):
            return False
        return home_of(static.value) in LIBRARIES

    def refuse_storing_comparison(self, node: gast.expr, left: gast.expr, op: gast.AST, right: gast.expr) -> None:
        name = self.storing_comparison(left, op, right)
        if name is not None:
            raise self.refuse(node, f"this comparison asks {name}, which stores into its object", "store before")

    def storing_comparison(self, left: gast.expr, op: gast.AST, right: gast.expr) -> str | None:
        """The method, with its class, that a comparison of containers or a search for an item asks and that stores."""
        seeks = isinstance(op, gast.In | gast.NotIn)
        if not seeks and type(op) not in COMPARISONS:
            return None
        for operand in (right,) if seeks else (left, right):
            parts = walk(operand) if isinstance(operand, gast.Tuple | gast.List) and not seeks else (operand,)
            held = [self.peek(part) for part in parts if isinstance(part, gast.expr)]
            kinds = {each.kind for known in held for each in instances_of(known)}
            if not seeks:
                kinds |= {kind for known in held for kind in classes_in(known, self.table.resolved)}
            for kind in sorted(kinds, key=lambda kind: kind.__qualname__):
                name = implicit.storing_comparison(kind, seeks)
                if name is not None:
                    return f"{name} of class {kind.__name__}"
        return None

    def storing_property(self, value: gast.expr, name: str) -> type | None:
        """The class of an object of which an attribute is a property that stores into it."""
        kinds = (each.kind for each in instances_of(self.peek(value)))
        return next((kind for kind in kinds if implicit.storing_property(kind, name)), None)


def _methods(node: gast.expr, operand: gast.expr) -> tuple[str, ...]:
    """The methods by which Python asks an operand, in the order in which it looks for them."""
    if isinstance(node, gast.Compare) and node is not operand:
        return ("__contains__", "__iter__", "__getitem__")
    if isinstance(node, gast.Call):
        return ("__len__",)
    return ("__bool__", "__len__") if isinstance(node, gast.BoolOp | gast.UnaryOp) or node is operand else ()


def _asked(head: gast.AST) -> Iterator[tuple[gast.expr, gast.expr]]:
    """What is asked for its truth, its hash, its place or an item in an expression, each with where that is written."""
    if isinstance(head, gast.expr):  # the test of an ``if`` or a loop
        yield head, head
    for node in walk(head):
        match node:
            case gast.BoolOp(values=operands) | gast.Set(elts=operands) | gast.JoinedStr(values=operands):
                pass
            case gast.UnaryOp(op=gast.Not(), operand=operand):
                operands = [operand]
            case gast.IfExp(test=operand) | gast.Assert(test=operand) | gast.Subscript(slice=operand):
                operands = [operand]
            case gast.Dict(keys=keys):
                operands = [key for key in keys if key is not None]
            case gast.comprehension(ifs=operands):
                pass
            case gast.FormattedValue(value=operand):
                operands = [operand]
            case gast.Compare(left=left, comparators=comparators, ops=ops):
                operands = [left, *comparators] if any(isinstance(op, gast.In | gast.NotIn) for op in ops) else []
            case _:
                continue
        for operand in operands:
            for part in operand.elts if isinstance(operand, gast.Tuple | gast.List) else (operand,):
                yield node if isinstance(node, gast.expr) else part, part


def _bound_inside(heads: tuple[gast.AST, ...]) -> set[str]:
    """The names that comprehensions and lambdas in expressions bind for themselves."""
    found: set[str] = set()
    for node in walk(*heads):
        match node:
            case gast.comprehension(target=target):
                found |= names_bound(target)
            case gast.Lambda(args=arguments):
                found |= set(parameters_of(arguments))
    return found
