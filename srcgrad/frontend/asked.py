"""Functions of Python and of ``operator`` that ask the objects they are given.

Enters: a call of a function that is known, wherever it was found: by its name, in a dict, as one of several.  Leaves:
the call of a method, or the operator, that it means::

    round(u, ndigits=2)     u.__round__(2)          operator.xor(u, v)      u ^ v
    sum([u, v])             0 + u + v               math.floor(u)           u.__floor__()
"""

from __future__ import annotations

import math
import operator
from types import FunctionType
from typing import Any

import gast
import numpy as np

from srcgrad.frontend.classes import ABSENT, BINARY, COMPARISONS, UNARY, found, is_user_class
from srcgrad.frontend.desugar.build import load, placed, store, with_bodies
from srcgrad.frontend.knowing import given_to
from srcgrad.frontend.known import Items, holds_objects, instances_of, is_named_tuple
from srcgrad.frontend.normal_form import Copy
from srcgrad.frontend.objects import Made
from srcgrad.frontend.operators import Operators
from srcgrad.rules.calling import signature_of
from srcgrad.rules.table import lookup, operator_of
from srcgrad.runtime.objects import package_of
from srcgrad.syntax.globals import GlobalReference

_BY_METHOD: dict[int, str] = {id(each): f"__{each.__name__}__" for each in (abs, float, complex, round)}
_BY_METHOD |= {id(each): f"__{each.__name__}__" for each in (math.floor, math.ceil, math.trunc, operator.abs)}
#: Functions that are operators -> what ``ast`` calls these.
_AS_OPERATORS: dict[int, type] = {id(operator_of(kind)): kind for kind in (*BINARY, *UNARY, *COMPARISONS)}
_AS_OPERATORS |= {id(pow): gast.Pow, id(operator.inv): gast.Invert}
#: What gives truth values and whole numbers, whatever an object says.
_TELLS = frozenset("is_ is_not not_ truth contains index length_hint countOf indexOf".split())
#: What NumPy rounds by a method of the object's, without a rule.
_ROUNDING = (np.round, np.around, np.fix)
_DISPLAYS = gast.List | gast.Tuple | gast.ListComp


def _asks(function: object) -> bool:
    """Whether what a function gives may be what a method of an object says."""
    if id(function) in _BY_METHOD or id(function) in _AS_OPERATORS or function is divmod:
        return True
    return getattr(function, "__module__", "") == "_operator" and getattr(function, "__name__", "") not in _TELLS


def _has_own(kind: type, method: str | None, operation: Any) -> bool:
    """Whether a class has a method of the user's that a function asks."""
    names = (method, *BINARY.get(operation, ()), UNARY.get(operation), COMPARISONS.get(operation))
    return any(isinstance(found(kind, name), FunctionType) for name in names if name is not None)


def _is_atom(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant | gast.Name) and not isinstance(node, GlobalReference)


class Asked(Operators):
    """Calls of functions that ask objects."""

    def answered(self, function: object, node: gast.Call) -> Made | None:
        """What a function gives for objects; None where it is given none, or asks them nothing."""
        if self.source.generated:
            return None
        if function is hasattr:
            self._refuse_storing_property(node)
            return None
        if function is sum:
            return self._sum_of_objects(node)
        by_numpy = isinstance(function, np.ufunc) or any(function is each for each in _ROUNDING)
        if by_numpy and lookup(function) is None:
            return self._without_objects(function, node)
        if not _asks(function):
            return None
        if any(isinstance(each, gast.Starred) for each in node.args):
            return self._of_starred(node)
        for each in given_to(node):
            if self._makes_unread(each):
                self.value(each)  # which refuses it: the function may hand out what varies
        if not any(map(self.is_or_makes_object, given_to(node))):
            return None
        if node.keywords or not all(map(_is_atom, node.args)):
            return self.call(self._of_atoms(function, node))
        kinds = [each.kind for known in map(self.known_atom, node.args) for each in instances_of(known)]
        method = _BY_METHOD.get(id(function))
        kind = _AS_OPERATORS.get(id(function))
        if all(is_named_tuple(each) and not _has_own(each, method, kind) for each in kinds):
            return None  # tuples, which the functions know themselves
        if method is not None:
            return self._said(node, method)
        match node.args:
            case [operand] if kind in UNARY:
                return self.operation(placed(gast.UnaryOp(kind(), operand), node))
            case [left, right] if kind in BINARY:
                return self.operation(placed(gast.BinOp(left, kind(), right), node))
            case [left, right] if kind in COMPARISONS:
                return self.operation(placed(gast.Compare(left, [kind()], [right]), node))
            case [base, index] if function is operator.getitem:
                return self.operation(placed(gast.Subscript(base, index, gast.Load()), node))
            case [_, _] if function is divmod and (made := self._of_two(node, "__divmod__", "__rdivmod__", node.args)):
                return made
        name = getattr(function, "__name__", "this function")
        raise self.refuse(node, f"{name} is given an object", "call the method of the object that it calls")

    def _refuse_storing_property(self, node: gast.Call) -> None:
        """Refuse ``hasattr`` of a property that stores, which it calls."""
        match node.args:
            case [value, gast.Constant(value=str() as name)] if (kind := self.storing_property(value, name)):
                reason = f"the property {name!r} of class {kind.__name__} stores into its object, and hasattr calls it"
                raise self.refuse(node, reason, "ask for another attribute")

    def _said(self, node: gast.Call, method: str) -> Made | None:
        """``abs(object)`` and the like, of which a method of the object knows what they are."""
        subject, *others = node.args
        known = self.known_atom(subject)
        if not holds_objects(known):
            return None
        kinds = [each.kind for each in instances_of(known)]
        if method in ("__floor__", "__ceil__") and all(found(kind, method) is ABSENT for kind in kinds):
            return None  # of what ``__float__`` says: a whole number
        if method == "__round__" and [getattr(each, "value", ...) for each in others] == [None]:
            others = []  # as where it is left out
        return self._operated(node, method, [subject, *others], known)

    def _of_starred(self, node: gast.Call) -> Made | None:
        """A call whose arguments only the run tells, among which may be no objects."""
        starred = [each.value for each in node.args if isinstance(each, gast.Starred)]
        if not all(map(_is_atom, starred)):
            return self.call(with_bodies(node, args=[self._atom_of_argument(each) for each in node.args]))
        if any(self.opaque_in(each) is not None for each in starred):
            raise self.refuse(node, "objects are given with a star", "write out what is given")
        return None

    def _atom_of_argument(self, node: gast.expr) -> gast.expr:
        if isinstance(node, gast.Starred):
            return placed(gast.Starred(self.value(node.value), gast.Load()), node)
        return self.value(node)

    def _makes_unread(self, node: gast.AST) -> bool:
        """Whether an expression makes an object of a class that is not looked into."""
        static = self.scope.static_of(node.func) if isinstance(node, gast.Call) else None
        kind = None if static is None else static.value
        if not isinstance(kind, type) or is_user_class(kind):
            return False
        return package_of(kind) not in ("builtins", "numpy")

    def _of_atoms(self, function: object, node: gast.Call) -> gast.Call:
        """A call with atoms, keywords in the places of the parameters that they name."""
        args = [self.value(each) for each in node.args]
        keywords = {keyword.arg: self.value(keyword.value) for keyword in node.keywords}
        signature = signature_of(function)
        try:
            if keywords and (signature is None or None in keywords):
                raise TypeError
            bound = signature.bind(*args, **keywords) if keywords and signature is not None else None
        except TypeError:
            bound = None
            if keywords:
                reason = "which argument is which is not known here"
                raise self.refuse(node, reason, "give them without names") from None
        return with_bodies(node, args=args if bound is None else list(bound.args), keywords=[])

    def _sum_of_objects(self, node: gast.Call) -> Made | None:
        """``sum(objects)``: their sum one by one, by their methods."""
        if not node.args or not isinstance(node.args[0], gast.Name | gast.Attribute | gast.Subscript | _DISPLAYS):
            return None
        items, *rest = node.args
        if isinstance(items, _DISPLAYS):
            return self.call(with_bodies(node, args=[self.value(items), *rest]))
        known = self.table.settled(self.peek(items))
        if not isinstance(known, Items) or not holds_objects(known.any()):
            return None
        kinds = [each.kind for each in instances_of(known.any())]
        if any(map(is_named_tuple, kinds)):
            return None
        adds = any(found(kind, "__add__") is not ABSENT for kind in kinds)
        if adds and not any(map(self.is_or_makes_object, given_to(node)[1:])):
            reason = f"sum adds objects of class {kinds[0].__name__} to a number first, and to one another after that"
            raise self.refuse(node, reason, "give it an object to start with")
        name = self.fresh("item")
        generator = gast.comprehension(store(name, node), items, [], 0)
        self.scope.locals.discard(name)
        each = placed(gast.GeneratorExp(load(name, node), [generator]), node)
        atom = self.value(with_bodies(node, args=[each, *rest]))
        assert isinstance(atom, gast.Name)
        return atom, Copy(atom.id)

    def _without_objects(self, function: object, node: gast.Call) -> Made | None:
        """A function of NumPy's without a derivative, which would ask objects for methods."""
        if any(self.is_or_makes_object(each) and not _is_atom(each) for each in node.args):
            return self.call(with_bodies(node, args=[self.value(each) for each in node.args]))
        for each in node.args:
            kind = self.opaque_in(each) if _is_atom(each) else None
            if kind is not None:
                name = getattr(function, "__name__", "this function")
                raise self.refuse(node, f"{name} is given an object of class {kind.__name__}", "write the operator")
        return None
