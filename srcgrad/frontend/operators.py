"""Operators, subscripts and tests of objects, and which expressions cannot stay nested because they call methods.

Enters: operators whose operand is an object of a known class.  Leaves: ``Call`` of the class's method, the reflected
one where Python takes that::

    u + v               u.__add__(v)                2.0 * v             v.__rmul__(2.0)
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from types import FunctionType

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.callees import SHAPES
from srcgrad.frontend.classes import ABSENT, BINARY, COMPARISONS, UNARY, defining_class, found, is_user_class
from srcgrad.frontend.data_model import counted_field, gives_items_of, run_over
from srcgrad.frontend.declining import Declining
from srcgrad.frontend.desugar.build import call_builtin, call_runtime, constant, index_value, load, placed
from srcgrad.frontend.expressions import BITWISE
from srcgrad.frontend.known import (
    DATA,
    NONE,
    PLAIN,
    Blurred,
    Entries,
    Instance,
    Items,
    Known,
    OneOf,
    Value,
    choices_of,
    classes_in,
    holds_objects,
    instances_of,
    is_named_tuple,
    tells,
)
from srcgrad.frontend.normal_form import Effect, Fixed
from srcgrad.frontend.objects import Made
from srcgrad.frontend.operand_order import REFLECTED, SWAPPED, goes_first, has_method, is_written
from srcgrad.frontend.scope import Static, importable
from srcgrad.frontend.unseen import compared_in
from srcgrad.rules.rewriting import substituted
from srcgrad.rules.template import Rule
from srcgrad.syntax.globals import GlobalReference, reference
from srcgrad.syntax.parse import walk

#: Libraries that are given numbers.
_LIBRARIES = ("numpy", "scipy", "math", "statistics")
_NUMBERS = "pass a list of the numbers that they hold"
BY_CLASS = "test for the class before, or call a method"


def is_opaque(kind: type) -> bool:
    """Whether objects of a class are neither sequences nor arrays, which libraries look into themselves."""
    return not issubclass(kind, (list, tuple, dict, np.ndarray))


class Operators(Declining):
    """What is computed with objects."""

    # --- operators ---------------------------------------------------------------------------------------------------
    def operate(self, node: gast.expr, op: gast.AST, atoms: list[gast.expr]) -> Made:
        known = [self.known_atom(atom) for atom in atoms]
        if not any(holds_objects(each) for each in known):
            return super().operate(node, op, atoms)
        if len(atoms) == 1:
            return self._operated(node, UNARY[type(op)], atoms, known[0])
        if type(op) not in BINARY:
            raise self.refuse(node, "this operator on an object", "call a method")
        return self._of_two(node, *BINARY[type(op)], atoms) or super().operate(node, op, atoms)

    def _of_two(self, node: gast.expr, name: str, reflected: str, atoms: list[gast.expr]) -> Made | None:
        """A call of the method that Python asks; None where no class is known to have it."""
        undecided = self._undecided(node, name, reflected, atoms)
        if undecided is not None:
            several = choices_of(self.known_atom(undecided))
            return self.dispatch(undecided, several, node, lambda _: self._of_classes(node, name, reflected, atoms))
        left, right = map(self.known_atom, atoms)
        has = is_written if name in REFLECTED else has_method
        swapped = isinstance(right, Instance) and has(right.kind, reflected)
        if isinstance(left, Instance) and isinstance(right, Instance) and swapped:
            if goes_first(right.kind, left.kind, reflected):
                self.refuse_declining(node, reflected, atoms[::-1])
                return self._operated(node, reflected, [atoms[1], atoms[0]], right)
        if holds_objects(left) and not (isinstance(left, Instance) and not has(left.kind, name)):
            if not swapped or isinstance(left, Instance) and isinstance(right, Instance) and right.kind is left.kind:
                self.refuse_declining(node, name, atoms)
            if not self.declines(node, name, atoms):
                return self._operated(node, name, atoms, left)
        if isinstance(right, Instance) and not holds_objects(left):
            self._refuse_ufuncs(atoms[0], right.kind, node)
        if swapped:
            if not holds_objects(left):
                atoms = [self._number_handed(atoms[0], right, node), atoms[1]]
            self.refuse_declining(node, reflected, atoms[::-1])
            return self._operated(node, reflected, [atoms[1], atoms[0]], right)
        return None

    def _of_classes(self, node: gast.expr, name: str, reflected: str, atoms: list[gast.expr]) -> Made:
        """What is asked where an operand is of one of its classes."""
        made = self._of_two(node, name, reflected, atoms)
        if made is None:
            raise self.refuse(node, f"an operand is of one of several classes, not all of which have {name}", BY_CLASS)
        return made

    def _undecided(self, node: gast.expr, name: str, reflected: str, atoms: list[gast.expr]) -> gast.Name | None:
        """The operand of several classes, if these decide which operand Python asks; None where that is known."""
        left, right = map(self.known_atom, atoms)
        firsts, seconds = ({each.kind for each in instances_of(known)} for known in (left, right))
        if isinstance(right, Blurred):
            seconds |= right.kinds
        mixed = any(goes_first(b, a, reflected) for a in firsts for b in seconds)
        if name in REFLECTED:
            mixed |= len(firsts) > 1 or len(seconds) > 1 or isinstance(left, OneOf)
        for atom, known in zip(atoms, (left, right), strict=True):
            if not mixed or isinstance(known, Instance) or not isinstance(known, OneOf | Blurred):
                continue
            if not isinstance(atom, gast.Name) or not all(isinstance(each, Instance) for each in choices_of(known)):
                reason = "which operand Python asks first is decided by the class of an object, which is not known here"
                raise self.refuse(node, reason, BY_CLASS)
            return atom
        return None

    def _refuse_ufuncs(self, atom: gast.expr, kind: type, node: gast.expr) -> None:
        """Refuse what numbers and arrays of NumPy ask an object by, and those of Python do not."""
        if not isinstance(atom, gast.Constant) and isinstance(found(kind, "__array_ufunc__"), FunctionType):
            reason = f"class {kind.__name__} decides by __array_ufunc__ what operators of numbers of NumPy's are"
            raise self.refuse(node, reason, "call a method, or set __array_ufunc__ = None in the class")

    @abstractmethod
    def _number_handed(self, atom: gast.expr, right: Known, node: gast.expr) -> gast.expr:
        """A number as the reflected method gets it; an array that takes the operator is refused when it runs."""

    def _operated(self, node: gast.expr, name: str, atoms: list[gast.expr], known: Known) -> Made:
        atom = atoms[0]
        assert isinstance(atom, gast.Name)
        choices = instances_of(known)
        self.hand_on(node)
        swapped, others = SWAPPED.get(name), [c.kind for other in atoms[1:] for c in instances_of(self.peek(other))]
        if swapped and NONE in choices_of(known) and any(has_method(kind, swapped) for kind in others):
            check = call_runtime(runtime.require_not_none, [atom, constant(swapped, node), atoms[1]], node)
            self.out.append(Effect(placed(gast.Expr(check), node), self.span))

        def write(choice: Known) -> Made:
            assert isinstance(choice, Instance)
            raw = found(choice.kind, name)
            if not isinstance(raw, FunctionType):
                raise self.refuse(node, f"class {choice.kind.__name__} has no {name} with source", "call a method")
            expression, operation = self.method(raw, atom, atoms[1:], [], node, None)
            if isinstance(expression, gast.Call) and len(expression.args) == len(atoms):
                spelled = placed(gast.Attribute(atom, name, gast.Load()), node)
                expression = placed(gast.Call(spelled, expression.args[1:], []), node)
            return expression, operation

        return self.dispatch(atom, choices, node, write)

    def operation(self, node: gast.expr) -> Made:
        self.refuse_storing_operand(node)
        match node:
            case gast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                if self.makes_object(left) or self.makes_object(right):  # only what is made tells its class
                    left, right = self.value(left), self.value(right)
                if self._compares(op, left, right):
                    return self._compared(node, op, [self.value(left), self.value(right)])
                self.refuse_storing_comparison(node, left, op, right)
                return super().operation(placed(gast.Compare(left, [op], [right]), node))
            case gast.Compare(left=left, ops=[gast.In() | gast.NotIn() as op], comparators=[right]):
                self.refuse_storing_comparison(node, left, op, right)
            case gast.BinOp(op=op) if isinstance(op, BITWISE) and self.is_or_makes_object(node):
                atoms = [self.value(node.left), self.value(node.right)]
                if any(holds_objects(self.known_atom(atom)) for atom in atoms):
                    return self.operate(node, op, atoms)
                return super().operation(placed(gast.BinOp(atoms[0], op, atoms[1]), node))
            case gast.UnaryOp(op=gast.Invert(), operand=operand) if self.is_or_makes_object(operand):
                atom = self.value(operand)
                if holds_objects(self.known_atom(atom)):
                    return self.operate(node, node.op, [atom])
                return super().operation(placed(gast.UnaryOp(node.op, atom), node))
            case gast.Subscript(value=value, slice=index):
                static = self.scope.static_of(value)
                made = None if static is None else self._item_of_class(static, index, node)
                if made is not None:
                    return made
        return super().operation(node)

    def _item_of_class(self, static: Static, index: gast.expr, node: gast.Subscript) -> Made | None:
        """``Class[index]`` by a method of the user's; None of any other class."""
        kind = static.value
        if not isinstance(kind, type) or not is_user_class(kind):
            return None
        if isinstance(found(type(kind), "__getitem__"), FunctionType):
            raise self.refuse(node, f"the metaclass of {kind.__name__} decides what its items are", "call a function")
        raw = found(kind, "__class_getitem__")
        function = raw.__func__ if isinstance(raw, classmethod) else raw
        if not isinstance(function, FunctionType) or function.__module__ == "typing":
            return None
        return self.method(function, reference(importable(kind.__name__, kind)), [index], [], node, None)

    def _compared(self, node: gast.expr, op: gast.AST, atoms: list[gast.expr]) -> Made:
        """A comparison by the method that Python asks first; by Python itself where that may decline."""
        name, reflected = COMPARISONS[type(op)], REFLECTED[COMPARISONS[type(op)]]
        left, right = map(self.known_atom, atoms)
        is_left = holds_objects(left) and not (isinstance(left, Instance) and not is_written(left.kind, name))
        if isinstance(left, Instance) and isinstance(right, Instance):
            is_left &= not goes_first(right.kind, left.kind, reflected)
        asked = (name, reflected, atoms) if is_left else (reflected, name, atoms[::-1])
        if self.left_to_python(node, *asked):
            return placed(gast.Compare(atoms[0], [op], [atoms[1]]), node), Fixed()
        made = self._of_two(node, name, reflected, atoms)
        assert made is not None
        return made

    def _compares(self, op: gast.AST, left: gast.expr, right: gast.expr) -> bool:
        """Whether a comparison asks a method that the user wrote."""
        name = COMPARISONS[type(op)]
        for known, asked in ((self.peek(left), name), (self.peek(right), REFLECTED[name])):
            choices = choices_of(known)
            if all(isinstance(each, Instance) and is_written(each.kind, asked) for each in choices):
                return True
        return False

    def super_call(self, node: gast.Call) -> Made:
        """``super().name(...)``: the method of the next class of the object's own."""
        source = self.source
        parameters = source.function.__code__.co_varnames
        start = defining_class(source.function)
        known = self.known_name(parameters[0]) if parameters and self.scope.parent is None else PLAIN
        if node.func.value.args or start is None or not isinstance(known, Instance) or start not in known.kind.__mro__:
            raise self.refuse(
                node,
                "which method super() means is not known when this is compiled",
                "call it as Base.method(self, ...)",
            )
        raw = found(known.kind, node.func.attr, start)
        if not isinstance(raw, FunctionType):
            raise self.refuse(node, f"super() finds no method {node.func.attr!r} with source", "call it by its class")
        return self.method(raw, load(parameters[0], node), node.args, node.keywords, node, None)

    # --- iteration ---------------------------------------------------------------------------------------------------
    def iterated(self, node: gast.expr) -> gast.expr:
        """What a loop over an object runs over, which its ``__iter__`` says, or that of its class over a class; any
        other expression as it is."""
        static = self.scope.static_of(node)
        if static is not None and isinstance(static.value, type):
            raw = found(type(static.value), "__iter__")
            if isinstance(raw, FunctionType) and raw.__module__ != "enum":
                reason = f"the metaclass of {static.value.__name__} decides what its items are"
                raise self.refuse(node, reason, "loop over a list")
            return self.held(call_builtin("list", [self.value(node)], node))
        node, known = self.receiver(node)
        instances = [each for each in instances_of(known) if not is_named_tuple(each.kind)]
        if not any(found(each.kind, "__iter__") is not ABSENT for each in instances):
            for each in instances:
                self._require_counted(each, node)
            field = gives_items_of(instances[0].kind) if len(instances) == 1 else None
            return node if field is None else placed(gast.Attribute(self.value(node), field, gast.Load()), node)
        kind = instances[0].kind
        raw = found(kind, "__iter__")
        made = run_over(raw) if isinstance(raw, FunctionType) and len(instances) == 1 else None
        if made is None or not isinstance(raw, FunctionType):
            raise self.refuse(
                node,
                f"a loop over an object of class {kind.__name__}, whose __iter__ is more than iter(...) of its fields",
                "loop over what it holds",
            )
        expression, this = made
        return substituted(expression, {this: self.value(node)})

    def taken_apart(self, node: gast.expr) -> gast.expr:
        """What is unpacked; of an object that is indexed, a list: its shadow has fields, and no items."""
        node = self.iterated(node)
        objects = [each for each in instances_of(self.peek(node)) if not is_named_tuple(each.kind)]
        return call_builtin("list", [node], node) if objects else node

    def run_backwards(self, node: gast.expr) -> tuple[gast.expr, bool]:
        """What ``reversed`` runs over from its end, and whether that is an object that is counted by its ``__len__``.

        An object is asked for ``__reversed__``, or else for ``__len__`` and ``__getitem__``, and not for ``__iter__``.
        """
        node, known = self.receiver(node)
        objects = [each for each in instances_of(known) if not is_named_tuple(each.kind)]
        if not objects:
            return node, False
        kind = objects[0].kind
        raw, *others = (found(kind, name) for name in ("__reversed__", "__len__", "__getitem__"))
        if len(objects) == 1 and raw is ABSENT and all(isinstance(each, FunctionType) for each in others):
            return node, True
        made = run_over(raw, backwards=True) if isinstance(raw, FunctionType) and len(objects) == 1 else None
        if made is None:
            reason = f"an object of class {kind.__name__} is reversed, whose __reversed__ is not"
            raise self.refuse(node, f"{reason} reversed(...) of its fields", "write reversed(...) of what it holds")
        expression, this = made
        return substituted(expression, {this: self.value(node)}), False

    def _require_counted(self, known: Instance, node: gast.expr) -> None:
        """Refuse a loop over an object that Python indexes until an IndexError, where that is not at its length."""
        if found(known.kind, "__getitem__") is not ABSENT:
            field = counted_field(known.kind)
            if field is None or holds_objects(known.field(field)):
                name, hint = known.kind.__name__, "give the class an __iter__ that returns iter(...) of what it holds"
                reason = f"an object of class {name}, which has __getitem__ and no __iter__, is run through"
                raise self.refuse(node, reason, hint)

    def handed_out(self, atom: gast.expr, rule: Rule, function: object, node: gast.expr) -> gast.expr:
        """What a function of a library is given: of an object that it runs through, a list of what that hands out."""
        home = str(getattr(function, "__module__", "numpy")).partition(".")[0]
        kinds = [k for k in (choice.kind for choice in instances_of(self.known_atom(atom))) if is_opaque(k)]
        if not kinds:
            if home in _LIBRARIES and (inside := self.opaque_in(atom)):
                raise self.refuse(node, f"{rule.name} is given objects of class {inside.__name__}", _NUMBERS)
            return atom
        if function in (max, min, sorted, sum, tuple) or home in ("math", "statistics"):
            if all(found(k, "__iter__") is not ABSENT or found(k, "__getitem__") is not ABSENT for k in kinds):
                return self.value(call_builtin("list", [atom], node))
        elif home not in ("numpy", "scipy"):
            return atom
        raise self.refuse(node, f"{rule.name} is given an object of class {kinds[0].__name__}", "pass what it holds")

    def opaque_in(self, atom: gast.expr) -> type | None:
        """The class of objects that a value is, or holds, which NumPy and its like make no numbers of."""
        kinds = classes_in(self.known_atom(atom), self.table.resolved)
        return min(filter(is_opaque, kinds), key=lambda kind: kind.__qualname__, default=None)

    def reads_object(self, node: gast.Subscript) -> bool:
        known = self.peek(node.value)
        return isinstance(known, Blurred) or any(not is_named_tuple(each.kind) for each in instances_of(known))

    def subscript_of(self, node: gast.Subscript) -> Made | None:
        """``object[index]`` by ``__getitem__``; None if it is no object that is known."""
        base, known = self.receiver(node.value)
        if base is not node.value:
            self.put(node, "value", base)
        instances = instances_of(known)
        others = [choice for choice in choices_of(known) if choice not in instances and choice != NONE]
        if not instances or others or any(is_named_tuple(each.kind) for each in instances):
            return None
        atom = self.value(base)
        assert isinstance(atom, gast.Name)

        def write(choice: Known) -> Made:
            assert isinstance(choice, Instance)
            raw = found(choice.kind, "__getitem__")
            if not isinstance(raw, FunctionType):
                reason = f"an object of class {choice.kind.__name__} is indexed"
                raise self.refuse(node, reason, "it has no __getitem__")
            spelled = placed(gast.Attribute(atom, "__getitem__", gast.Load()), node)
            return self.method(raw, atom, [index_value(node.slice)], [], node, spelled)

        return self.dispatch(atom, instances, node, write)

    # --- what stays nested -------------------------------------------------------------------------------------------
    def needs_statements(self, *nodes: gast.AST) -> bool:
        if super().needs_statements(*nodes):
            return True
        if not self.table.names and not self.assumed:
            return False
        return any(self.calls_method(inner) for inner in walk(*nodes))

    def calls_method(self, node: gast.AST) -> bool:
        match node:
            case gast.Call(args=[value, gast.Constant(value=str() as name)]) if self.storing_property(value, name):
                return True
            case gast.Call(func=gast.Attribute(value=value)):
                known = self.peek(value)
                if holds_objects(known) or self.is_super(value) or known == NONE:
                    return True  # of None: the name may be found to hold an object elsewhere
                if isinstance(known, Blurred) and known.kinds and self.is_global(value):
                    return True
                return isinstance(value, gast.Call | gast.IfExp) and self.makes_object(value)
            case gast.Call(func=gast.Name()) if not isinstance(node.func, GlobalReference):
                return holds_objects(self.peek(node.func))
            case gast.Attribute(value=value, attr=attr):
                objects = instances_of(self.peek(value))
                # A field that is called like the shape of an array may vary, where nothing that stays nested does.
                return any(attr in SHAPES or isinstance(found(c.kind, attr), property) for c in objects)
            case gast.Subscript(value=value):
                known = self.peek(value)
                return isinstance(known, Instance) and not is_named_tuple(known.kind)
            case gast.BinOp(left=left, right=right):
                return self.is_object(left) or self.is_object(right)
            case gast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
                return self.is_object(operand)
            case gast.Compare():
                return any(
                    type(op) in COMPARISONS and self._compares(op, left, right)
                    or self.storing_comparison(left, op, right) is not None
                    for left, op, right in compared_in(node)
                )
        return False

    def is_plain(self, node: gast.expr) -> bool:
        return super().is_plain(node) and not any(map(self._compares_what_is_made, walk(node)))

    def _compares_what_is_made(self, node: gast.AST) -> bool:
        """Whether an operand of a comparison may be an object, which only a call that is yet to be read tells."""
        if not isinstance(node, gast.Compare):
            return False
        asked = (each for each in compared_in(node) if type(each[1]) in COMPARISONS)
        return any(self.makes_object(left) or self.makes_object(right) for left, _, right in asked)

    def _linear(self, node: gast.expr) -> gast.expr:
        if (self.table.names or self.assumed) and self.calls_method(node):
            return self.value(node)
        return super()._linear(node)

    def known_truth(self, test: gast.expr) -> bool | None:
        known = super().known_truth(test)
        if known is not None or not (self.table.names or self.assumed):
            return known
        match test:
            case gast.Compare(left=left, ops=[gast.Is() | gast.IsNot() as op], comparators=[gast.Constant(value=None)]):
                held = self.peek(left)
                if isinstance(left, gast.Name) and left.id in self.scope.rebound:
                    return None  # what is known of the name is what it is bound to, not what was given
                if isinstance(held, Value):
                    return (held.value is None) == isinstance(op, gast.Is)
                if isinstance(held, Instance | Items | Entries) and tells(held):
                    return isinstance(op, gast.IsNot)
            case gast.Call(func=func, args=[gast.expr() as subject, kinds], keywords=[]):
                static = self.scope.static_of(func)
                if static is not None and static.value is isinstance:
                    return self._is_of(subject, kinds)
        return None

    def _is_of(self, subject: gast.expr, kinds: gast.expr) -> bool | None:
        """What ``isinstance`` says of an object whose class is known, and of a number about a class of the user's."""
        known = self.peek(subject)
        parts = kinds.elts if isinstance(kinds, gast.Tuple) else [kinds]
        statics = [self.scope.static_of(part) for part in parts]
        classes = [s.value for s in statics if s is not None and isinstance(s.value, type)]
        plain = len(classes) == len(statics) and all(type(kind) in (type, ABCMeta) for kind in classes)
        if known == DATA and plain and all(map(is_user_class, classes)) and isinstance(subject, gast.Name):
            self.rely(subject, known)
            return False
        return issubclass(known.kind, tuple(classes)) if isinstance(known, Instance) and plain else None
