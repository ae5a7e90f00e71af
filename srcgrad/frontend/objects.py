"""Objects of the user's classes: fields, properties, methods and operators, found on the class while compiling.

Enters: attribute reads, calls and operators whose operand is an object of a known class (``frontend.known``).  Leaves:
``Field`` for a field, ``Call`` of the method's function with the object as its first argument.  Where an object is one
of several classes, the class is asked for when the program runs::

    y = layer(x)        layer: Linear or Tanh         if type(layer) is Linear:
                                                          t = layer(x)          Call Linear.__call__
                                                      else:
                                                          t = layer(x)          Call Tanh.__call__
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from types import FunctionType

import gast

from srcgrad import runtime
from srcgrad.frontend.bound_methods import MethodRead, Place, method_signature, place_of, places_kept, read_here
from srcgrad.frontend.callees import SHAPES, as_python, require_not_none
from srcgrad.frontend.classes import (
    ABSENT,
    found,
    intercepts,
    is_descriptor,
    is_field,
    is_method,
)
from srcgrad.frontend.desugar.build import call_builtin, call_runtime, compare, constant, load, placed, tuple_of
from srcgrad.frontend.implicit import stores_unseen, storing_method
from srcgrad.frontend.knowing import Knowing
from srcgrad.frontend.known import (
    NEVER,
    NONE,
    Closed,
    Instance,
    Known,
    Own,
    Value,
    choices_of,
    holds_objects,
    instances_of,
    is_named_tuple,
)
from srcgrad.frontend.normal_form import Block, Copy, Effect, Field, Fixed, If, Index, LocalFunction, Operation, Texts
from srcgrad.frontend.replacing import of_the_text
from srcgrad.frontend.scope import Static, importable
from srcgrad.frontend.signatures import Signature
from srcgrad.rules.memory import makes_new
from srcgrad.rules.table import CONSTANT_MEMBERS, FIELDS, is_constant, lookup
from srcgrad.rules.table import attribute as attribute_function
from srcgrad.rules.table import method as method_function
from srcgrad.runtime.objects import is_object, is_seen_by_others, own_item_method
from srcgrad.syntax.globals import GlobalBinding, reference

Made = tuple[gast.expr, Operation]


class Objects(Knowing):
    """What is read of, called on and computed with objects."""

    @abstractmethod
    def user_call(self, function: FunctionType | LocalFunction, node: gast.Call, static: Static) -> Made:
        """A call of a function with source."""

    @abstractmethod
    def construct(self, kind: type, node: gast.Call, static: Static) -> Made:
        """A call of a class."""

    # --- attributes --------------------------------------------------------------------------------------------------
    def attribute_of(self, node: gast.Attribute) -> Made | None:
        """``object.name``; None if what is before the dot is no object that is known."""
        if self.is_super(node.value):
            raise self.refuse(node, "an attribute of super()", "read it off the object, or call a method of super()")
        base, known = self.receiver(node.value)
        if base is not node.value:
            self.put(node, "value", base)
        if known in (NONE, NEVER) and not self._is_of_arrays(node):
            return self._of_none(base, node, known)
        if not holds_objects(known):
            return None
        atom = self.value(base)
        assert isinstance(atom, gast.Name)
        instances = instances_of(known)
        having = [c for c in instances if self._has(c, node.attr)]
        if not having:
            raise self._no_attribute(instances[0], node)
        if all(self._reads_field(c, node.attr) for c in having):
            shared = (c for c in having if not is_field(found(c.kind, node.attr)))  # the class may stand in
            return self._read(atom, next(shared, having[0]), node)
        return self.dispatch(atom, having, node, lambda choice: self._read(atom, choice, node))  # type: ignore[arg-type]

    def _is_of_arrays(self, node: gast.Attribute | gast.Call) -> bool:
        name = node.attr if isinstance(node, gast.Attribute) else node.func.attr
        known = attribute_function(name) or method_function(name) or name in SHAPES | FIELDS | CONSTANT_MEMBERS
        return bool(known) or name in vars(list) or name in vars(dict)

    def _of_none(self, base: gast.expr, node: gast.Attribute | gast.Call, known: Known) -> Made:
        """What is read of None raises when it is run, unless the name is found to hold an object elsewhere too."""
        name = node.attr if isinstance(node, gast.Attribute) else node.func.attr
        if known == NEVER:
            return call_runtime(runtime.never, [self.value(base), constant(name, node)], node), Fixed()
        return placed(gast.Attribute(self.value(base), name, gast.Load()), node), Fixed()

    def _has(self, known: Instance, name: str) -> bool:
        return found(known.kind, name) is not ABSENT or name in dict(known.fields) or name in self.table.fields

    def _reads_field(self, known: Instance, name: str) -> bool:
        if is_named_tuple(known.kind):
            return False
        raw = found(known.kind, name)
        held = name in dict(known.fields) or name in self.table.fields
        return is_field(raw) or (held and not is_descriptor(raw))

    def _no_attribute(self, known: Instance, node: gast.Attribute) -> Exception:
        if found(known.kind, "__getattr__") is not ABSENT:
            return self.refuse(
                node, f"class {known.kind.__name__} decides by __getattr__ what {node.attr!r} is", "give it a property"
            )
        reason = f"an object of class {known.kind.__name__} has no attribute {node.attr!r}"
        return self.refuse(node, reason, label="no such attribute")

    def _read(self, atom: gast.Name, known: Instance, node: gast.Attribute) -> Made:
        kind, name = known.kind, node.attr
        self._admit_attribute(known, name, node)
        if name in SHAPES:  # not one of an array
            self.hand_on(node)
        expression = placed(gast.Attribute(atom, name, gast.Load()), node)
        if self._reads_field(known, name):
            if not self._has(known, name):
                raise self._no_attribute(known, node)
            raw = found(kind, name)
            return self.field_text(expression, raw), Field(atom.id, name, not is_field(raw))
        raw = found(kind, name)
        if is_named_tuple(kind) and name in kind._fields:  # type: ignore[attr-defined]
            place = constant(kind._fields.index(name), node)  # type: ignore[attr-defined]
            return placed(gast.Subscript(atom, place, gast.Load()), node), Index(atom.id, place)
        if isinstance(raw, property) and raw.fget is not None:
            if found(kind, "__getattr__") is not ABSENT:
                raise self.refuse(node, f"a __getattr__ answers where the property {name!r} raises", "make it a method")
            return self.method(raw.fget, atom, [], [], node, expression)
        if isinstance(raw, FunctionType) and place_of(node) in self._places_kept:
            return call_runtime(runtime.bound, [atom, constant(name, node)], node), Fixed()
        if isinstance(raw, FunctionType | classmethod):
            self._refuse_method(node, place_of(node), method_signature([known], name))
        if is_descriptor(raw) and not callable(raw):
            raise self.refuse(
                node,
                f"{name!r} of class {kind.__name__} is a {type(raw).__name__}, which decides itself what is read",
                "make it a property or a field",
            )
        owner = placed(reference(importable(kind.__name__, kind)), node)  # its memory is no part of the object's
        is_code = callable(raw) and not is_object(raw)
        return (expression if is_code else placed(gast.Attribute(owner, name, gast.Load()), node)), Fixed()

    @of_the_text
    def _places_kept(self) -> frozenset[Place]:
        return places_kept([self.scope.node])

    def refuse_method_read(self, node: gast.Attribute) -> None:
        """Refuse a method that is read inside of an expression that stays as it is."""
        for place, signature in read_here([node], self.peek):
            self._refuse_method(node, place, signature)

    def _refuse_method(self, node: gast.Attribute, place: Place, signature: Signature | None) -> None:
        raise MethodRead(f"the method {node.attr!r} is used as a value", self.source.span(node), place, signature)

    def field_text(self, expression: gast.Attribute, raw: object) -> gast.expr:
        """The text of a field that is read: by a function where the name means something else of arrays, or the class
        holds what may be stored into under this name."""
        name = expression.attr
        is_plain = attribute_function(name) is None and name not in SHAPES | FIELDS | CONSTANT_MEMBERS
        if is_plain and not is_seen_by_others(raw):
            return expression
        return call_runtime(runtime.attribute, [expression.value, constant(name, expression)], expression)

    def _admit_class(self, kind: type, node: gast.AST) -> None:
        name = intercepts(kind)
        if name is not None:
            raise self.refuse(node, f"class {kind.__name__} decides by {name} what its attributes are", "use fields")
        name = storing_method(kind)
        if name is not None:
            raise self.refuse(node, *stores_unseen(kind, name))
        name = own_item_method(kind)
        if name is not None:
            reason = f"the named tuple {kind.__name__} decides by {name} what its items are"
            raise self.refuse(node, reason, "give the method another name")

    def _admit_attribute(self, known: Instance, name: str, node: gast.AST) -> None:
        kind = known.kind
        self._admit_class(kind, node)
        if name in dict(known.fields) and is_method(found(kind, name)):
            raise self.refuse(
                node, f"a field of an object of class {kind.__name__} hides the method {name!r}", "give it another name"
            )

    # --- methods -----------------------------------------------------------------------------------------------------
    def method_of(self, node: gast.Call) -> Made | None:
        """``object.name(...)``; None if what is before the dot is no object that is known."""
        func = node.func
        if self.is_super(func.value):
            return self.super_call(node)
        base, known = self.receiver(func.value)
        if base is not func.value:
            func = placed(gast.Attribute(base, func.attr, gast.Load()), func)
            self.put(node, "func", func)
        if known in (NONE, NEVER) and not self._is_of_arrays(node):
            return self._of_none(base, node, known)
        if not holds_objects(known):
            return None
        atom = self.value(base)
        assert isinstance(atom, gast.Name)
        instances = instances_of(known)
        having = [c for c in instances if self._has(c, func.attr)]
        if not having:
            raise self._no_attribute(instances[0], func)
        return self.dispatch(atom, having, node, lambda choice: self._call_member(atom, choice, node))

    def _call_member(self, atom: gast.Name, known: Known, node: gast.Call) -> Made:
        assert isinstance(known, Instance)
        kind, name = known.kind, node.func.attr
        self._admit_attribute(known, name, node)
        raw = found(kind, name)
        expression = placed(gast.Attribute(atom, name, gast.Load()), node.func)
        if is_field(raw) or name in dict(known.fields) and not is_descriptor(raw):
            held = self.table.resolved(self.table.field(known, name))
            if any(isinstance(choice, Own) for choice in choices_of(held)):
                return self._call_kept(atom, kind, expression, held, node)
            return self._call_held(expression, held, node)
        if isinstance(raw, property):
            made, operation = self._read(atom, known, placed(gast.Attribute(atom, name, gast.Load()), node.func))
            target = self.fresh()
            self.emit(target, made, operation)
            return self.call(placed(gast.Call(load(target, node), node.args, node.keywords), node))
        if isinstance(raw, staticmethod):
            return self.method(raw.__func__, None, node.args, node.keywords, node, expression)
        if isinstance(raw, classmethod):
            owner = reference(importable(kind.__name__, kind))
            return self.method(raw.__func__, owner, node.args, node.keywords, node, expression)
        if is_named_tuple(kind) and name in ("_replace", "_asdict"):
            return self.named_tuple_method(atom, kind, node)
        if isinstance(raw, FunctionType):
            return self.method(raw, atom, node.args, node.keywords, node, expression)
        if callable(raw) and not is_descriptor(raw):
            return self._call_value(raw, name, node)
        raise self.refuse(
            node,
            f"the method {name!r} of class {kind.__name__} is a {type(raw).__name__}",
            "write it as a plain function in the class",
        )

    @abstractmethod
    def named_tuple_method(self, atom: gast.Name, kind: type, node: gast.Call) -> Made:
        """``_replace`` and ``_asdict``."""

    def _call_held(self, expression: gast.expr, held: Known, node: gast.Call) -> Made:
        """A call of what a field holds."""
        if isinstance(held, Value) and held.value is not None:
            return self._call_value(held.value, getattr(held.value, "__name__", "function"), node)
        target = self.fresh("function")
        self.emit(target, *self.operation(expression))
        return self.call(placed(gast.Call(load(target, node), node.args, node.keywords), node))

    def _call_kept(self, owner: gast.Name, kind: type, read: gast.expr, held: Known, node: gast.Call) -> Made:
        """A call of a method that an object keeps in a field: of the object, by the method's name."""
        atom = load(self.fresh("function"), node)
        self.emit(atom.id, *self.operation(read))
        choices = sorted((c for c in choices_of(held) if c != NONE), key=lambda c: not isinstance(c, Own))
        missing = [c.name for c in choices if isinstance(c, Own) and not isinstance(found(kind, c.name), FunctionType)]
        if missing:
            raise self.refuse(node, f"a method {missing[0]!r} is called, which class {kind.__name__} has not")
        names = tuple_of([constant(c.name, node) for c in choices if isinstance(c, Own)], node)
        checked = call_runtime(runtime.require_bound, [atom, owner, names], node)
        self.out.append(Effect(placed(gast.Expr(checked), node), self.span))
        self._owners[atom.id] = owner

        def write(choice: Known) -> Made:
            if not isinstance(choice, Own):
                return self.call(placed(gast.Call(atom, node.args, node.keywords), node))
            spelled = placed(gast.Attribute(owner, choice.name, gast.Load()), node.func)
            return self.method(found(kind, choice.name), owner, node.args, node.keywords, node, spelled)

        return self.dispatch(atom, choices, node, write)

    @cached_property
    def _owners(self) -> dict[str, gast.Name]:
        """The objects of which the methods are that names hold."""
        return {}

    def _owner_of(self, path: gast.expr) -> tuple[gast.Name, type]:
        """The object whose method a path leads to: that before the dot, or that of the method which is being read;
        which is looked at when the program runs."""
        base = path
        while isinstance(base, gast.Subscript):
            base = base.value
        this = self.scope.node.args.args[:1]
        for owner in [base.value] if isinstance(base, gast.Attribute) else [load(name.id, path) for name in this]:
            known = self.peek(owner)
            if isinstance(known, Instance):
                atom = self.value(owner)
                assert isinstance(atom, gast.Name)
                return atom, known.kind
        reason = "a method that an object keeps in a field is called otherwise than where it is read"
        raise self.refuse(path, reason, "call it there: object.field(...)", label="whose method this is is not known")

    def _call_value(self, function: object, name: str, node: gast.Call) -> Made:
        head = placed(reference(importable(name, function)), node.func)
        return self.call(placed(gast.Call(head, node.args, node.keywords), node))

    def call_of(self, node: gast.Call) -> Made | None:
        """A call of a local name that holds a function, or an object with ``__call__``; None if neither is known."""
        func, known = self.receiver(node.func)
        if any(isinstance(choice, Own) for choice in choices_of(known)):
            return self._call_kept(*self._owner_of(func), func, known, node)
        # Local functions last: what is taken for one is looked at, whatever else it turns out to be.
        choices = sorted((c for c in choices_of(known) if c != NONE), key=lambda c: isinstance(c, Closed))
        if not choices or not all(map(_is_called_directly, choices)):
            return None
        atom = self.value(func)
        assert isinstance(atom, gast.Name)

        def write(choice: Known) -> Made:
            if isinstance(choice, Value):
                return self._call_value(choice.value, getattr(choice.value, "__name__", "function"), node)
            if isinstance(choice, Closed):
                return self.call_closed(atom, choice, node)
            assert isinstance(choice, Instance)
            raw = found(choice.kind, "__call__")
            if not isinstance(raw, FunctionType):
                raise self.refuse(node, f"an object of class {choice.kind.__name__} is called", "it has no __call__")
            return self.method(raw, atom, node.args, node.keywords, node, atom)

        return self.dispatch(atom, choices, node, write)

    @abstractmethod
    def call_closed(self, atom: gast.Name, known: Closed, node: gast.Call) -> Made:
        """A call of a local function that is a value."""

    @abstractmethod
    def super_call(self, node: gast.Call) -> Made:
        """``super().name(...)``."""

    def method(
        self,
        function: object,
        first: gast.expr | None,
        args: Sequence[gast.expr],
        keywords: Sequence[gast.keyword],
        node: gast.expr,
        spelled: gast.expr | None,
    ) -> Made:
        """A call of a class's function with the object as its first argument; ``spelled`` is how it is written."""
        if _looks_new(node):
            self.hand_on(node)
        target = as_python(function)
        if target is None:
            raise self.refuse(node, f"the method {spelling_of(function)} of a library", "call it outside")
        head = reference(GlobalBinding(target.__name__, target))
        receiver = [] if first is None else [first]
        call = placed(gast.Call(head, [*receiver, *args], list(keywords)), node)
        if lookup(target) is not None or is_constant(target):
            return self.call(call)  # its rule goes before its text
        expression, operation = self.user_call(target, call, Static(function, head))
        if spelled is None or not isinstance(expression, gast.Call) or expression.func is not head:
            return expression, operation
        if isinstance(node, gast.Attribute):
            return spelled, operation
        given = expression.args[len(receiver) :]
        return placed(gast.Call(spelled, given, expression.keywords), node), operation

    @abstractmethod
    def hand_on(self, node: gast.expr) -> None:
        """What the statements being written name may be held, or returned, by the method that ``node`` calls."""

    # --- one of several classes --------------------------------------------------------------------------------------
    def dispatch(
        self, atom: gast.Name, choices: Sequence[Known], node: gast.expr, write: Callable[[Known], Made]
    ) -> Made:
        """What is written for each class, behind a test of the class where there are several."""
        if NONE not in choices and NONE in choices_of(self.peek(atom)):
            self.out += [Effect(check, self.span) for check in require_not_none(atom, node)]
        if len(choices) == 1:
            return write(choices[0])
        target = self.fresh()
        branches = []
        for choice in choices:
            outer = dict(self.narrowed)
            self.narrowed[atom.id] = choice

            def one(choice: Known = choice) -> None:
                self.emit(target, *write(choice))

            branches.append((self._test(atom, choice, node), self.block(one)))
            self.narrowed = outer
        _, orelse = branches.pop()
        for test, body in reversed(branches[1:]):
            orelse = Block((If(test, body, orelse, self.span),))
        test, body = branches[0]
        self.out.append(If(test, body, orelse, self.span))
        return load(target, node), Copy(target)

    def _test(self, atom: gast.Name, choice: Known, node: gast.expr) -> gast.expr:
        if isinstance(choice, Instance):
            kind = reference(importable(choice.kind.__name__, choice.kind))
            return compare(call_builtin("type", [load(atom.id, node)], node), gast.Is(), kind, node)
        if isinstance(choice, Closed):
            return asked_of(runtime.is_made_of, atom, [choice.function], node)
        if isinstance(choice, Own):
            return call_runtime(runtime.is_bound, [atom, self._owners[atom.id], constant(choice.name, node)], node)
        assert isinstance(choice, Value)
        name = getattr(choice.value, "__name__", "function")
        return compare(load(atom.id, node), gast.Is(), reference(importable(name, choice.value)), node)


def _is_called_directly(known: Known) -> bool:
    if isinstance(known, Closed):
        return isinstance(known.function, LocalFunction)  # in our own output a plain function is called by its name
    return isinstance(known, Instance | Value)


def asked_of(look: Callable[..., object], atom: gast.Name, functions: Iterable[object], node: gast.AST) -> gast.expr:
    """``is_made_of(f, function)``, or ``made_of``."""
    texts = [reference(GlobalBinding("function", Texts(function))) for function in functions]
    return call_runtime(look, [load(atom.id, node), *texts], node)


def spelling_of(function: object) -> str:
    return str(getattr(function, "__qualname__", function))


def _looks_new(node: gast.expr) -> bool:
    """Whether the text of what a method gives looks like what holds no memory but its own: of an array it would."""
    match node:
        case gast.Attribute(attr=name) | gast.Call(func=gast.Attribute(attr=name)):
            return name.startswith("__") or name in SHAPES or makes_new(method_function(name), name)
    return False
