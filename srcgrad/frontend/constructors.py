"""Objects made inside a differentiated function: classes, dataclasses, named tuples.

Enters: a call of a user's class.  Leaves: a ``Pack`` of the fields, where the class does nothing but set them, or a
``Call`` of its ``__init__`` as a function that returns the object (``frontend.folding``)::

    p = Point(a, b)         Pack object of Point: x=a, y=b
"""

from __future__ import annotations

import copy
import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from types import FunctionType, MethodType, SimpleNamespace

import gast

from srcgrad import runtime
from srcgrad.frontend.asked import Asked
from srcgrad.frontend.callees import as_python, spelled
from srcgrad.frontend.classes import (
    ABSENT,
    COPYING,
    decides_copies,
    found,
    initial_fields,
    is_generated_init,
    is_user_class,
    makes_plainly,
    sets_default,
    setter,
)
from srcgrad.frontend.desugar.build import call_runtime, constant, load, placed
from srcgrad.frontend.folding import Initialiser, Maker
from srcgrad.frontend.knowing import given_to
from srcgrad.frontend.known import NONE, Instance, Known, choices_of, holds_objects, is_named_tuple
from srcgrad.frontend.normal_form import Copy, Effect, Field, Fixed, Index, Pack
from srcgrad.frontend.objects import Made, asked_of
from srcgrad.frontend.scope import Static, importable
from srcgrad.rules.table import is_constant, lookup
from srcgrad.syntax.globals import reference
from srcgrad.syntax.parse import walk

_INIT_ONLY = dataclasses._FIELD_INITVAR  # type: ignore[attr-defined]
_OF_CLASS = dataclasses._FIELD_CLASSVAR  # type: ignore[attr-defined]


class Constructors(Asked):
    """Calls of classes."""

    lengths: dict[str, int | tuple[str, ...]]  # of ``*args`` and ``**kwargs``, and of dicts that are written out

    @abstractmethod
    def arguments_of(
        self, function: FunctionType, node: gast.Call, skipped: int, defaults: dict[str, gast.expr]
    ) -> dict[str, gast.expr | Static]:
        """One argument per parameter of a function but the first ``skipped``; ``defaults`` are evaluated if needed."""

    def construct(self, kind: type, node: gast.Call, static: Static) -> Made:
        self._admit_class(kind, node)
        if kind is SimpleNamespace:
            return self._namespace(node)
        if is_named_tuple(kind):
            return self._named_tuple(kind, node, static)
        if not makes_plainly(kind):
            raise self.refuse(
                node, f"class {kind.__name__} decides by __new__ or a metaclass what its objects are", "use __init__"
            )
        if setter(kind) is not None:
            raise self.refuse(
                node, f"class {kind.__name__} decides by __setattr__ what its fields are", "set the fields plainly"
            )
        if is_generated_init(kind):
            return self._dataclass(kind, node, static)
        initialiser = found(kind, "__init__")
        if initialiser is object.__init__:
            if node.args or node.keywords:
                raise self.refuse(node, f"{kind.__name__}() takes no arguments")
            return self._packed_object(kind, (), (), node)
        if not isinstance(initialiser, FunctionType):
            raise self.refuse(node, f"the __init__ of class {kind.__name__} has no source", "make the object outside")
        return self.initialise(Initialiser(kind, initialiser), node)

    def made_of(self, function: object, node: gast.Call, static: Static) -> Made | None:
        """A call of a class whose objects are looked into; None for any other callable."""
        if function is super:
            raise self.refuse(node, "super() is used as a value", "call a method of it: super().name(...)")
        if isinstance(function, Maker):
            return self.make(function, node)
        if isinstance(function, Initialiser):
            return self.initialise(function, node)
        if function is runtime.made:
            kind = self.scope.static_of(node.args[0])
            assert kind is not None and isinstance(kind.value, type)
            names, values = [key.value for key in node.args[1].keys], node.args[1].values
            return self._packed_object(kind.value, names, [self.value(value) for value in values], node)
        if function is runtime.made_of or function is runtime.is_made_of:
            return self._asked_again(function, node)
        if function is runtime.attribute:
            atom = self.value(node.args[0])
            assert isinstance(atom, gast.Name)
            field = Field(atom.id, node.args[1].value, shared=True)
            return call_runtime(runtime.attribute, [atom, node.args[1]], node), field
        if isinstance(function, MethodType) and is_user_class(function.__self__) and lookup(function) is None:
            owner = reference(importable(function.__self__.__name__, function.__self__))  # type: ignore[attr-defined]
            return self.method(function.__func__, owner, node.args, node.keywords, node, static.expression)
        if isinstance(function, MethodType):
            self._refuse_bound(function, node)
        if function is dataclasses.replace:
            return self._replaced(node)
        if function is copy.copy and len(node.args) == 1:
            return self._copied_by_module(node)
        if not is_user_class(function) or lookup(function) is not None or is_constant(function):
            return None
        assert isinstance(function, type)
        return self.construct(function, node, static)

    def _refuse_bound(self, function: MethodType, node: gast.Call) -> None:
        """Refuse the method of an object outside that a name holds: what it stores into its arguments is not seen."""
        own = as_python(function.__func__) is not None and is_user_class(type(function.__self__))
        if not own or lookup(function) is not None or is_constant(function):
            return
        if any(isinstance(part, gast.Name) and part.id in self.scope.locals for part in walk(*given_to(node))):
            reason = f"{spelled(node.func)} is a method of an object outside of the function"
            raise self.refuse(node, reason, f"call it by its object: object.{function.__name__}(...)")

    def _asked_again(self, function: object, node: gast.Call) -> Made:
        """``made_of(f, function)`` in our own output: what is written anew has texts of its own."""
        atom = self.value(node.args[0])
        assert isinstance(atom, gast.Name)
        statics = [self.scope.static_of(argument) for argument in node.args[1:]]
        functions = tuple(static.value for static in statics if static is not None)
        if function is runtime.is_made_of:
            return asked_of(runtime.is_made_of, atom, functions, node), Fixed()
        return asked_of(runtime.made_of, atom, functions, node), Copy(atom.id, functions)

    def initialised(self, made: Initialiser, node: gast.Call) -> Made:
        """A new object, and a call of the ``__init__`` that changes it."""
        given, rest = node.args[: len(made.given)], node.args[len(made.given) :]
        target = self.fresh()
        atoms = [self.value(argument) for argument in given]
        self.emit(target, *self._packed_object(made.kind, made.given, atoms, node))
        call = placed(gast.Call(node.func, rest, node.keywords), node)
        self.emit(self.fresh(), *self.method(made.function, load(target, node), rest, node.keywords, call, None))
        return load(target, node), Copy(target)

    @abstractmethod
    def named_keywords(self, node: gast.Call) -> list[gast.keyword]:
        """The keywords of a call, those that ``**`` passes on among them."""

    @abstractmethod
    def initialise(self, made: Initialiser, node: gast.Call) -> Made:
        """A call of an ``__init__`` as a function that returns the object."""

    def make(self, maker: Maker, node: gast.Call) -> Made:
        """The end of a folded ``__init__``."""
        return self._packed_object(maker.kind, maker.fields, [self._field_value(part) for part in node.args], node)

    def _field_value(self, part: gast.expr) -> gast.expr:
        static = self.scope.static_of(part)
        if static is None:
            return self.value(part)
        self.define_defaults(part)
        return self._atom(static, part)

    def _packed_object(self, kind: type, names: Sequence[str], atoms: Sequence[gast.expr], node: gast.AST) -> Made:
        keys = tuple(constant(name, node) for name in names)
        fields = placed(gast.Dict(list(keys), list(atoms)), node)
        expression = call_runtime(runtime.made, [reference(importable(kind.__name__, kind)), fields], node)
        return expression, Pack("object", tuple(atoms), keys, kind)

    def _namespace(self, node: gast.Call) -> Made:
        if node.args or any(keyword.arg is None for keyword in node.keywords):
            raise self.refuse(node, "a namespace with fields that are not named here", "name its fields")
        atoms = [self.value(keyword.value) for keyword in node.keywords]
        return self._packed_object(SimpleNamespace, [str(k.arg) for k in node.keywords], atoms, node)

    def _atom(self, argument: gast.expr | Static, node: gast.AST) -> gast.expr:
        if not isinstance(argument, Static):
            return argument
        value = argument.value
        if argument.expression is None:
            return self.held_operation(*self.function_value(argument, node), node)
        if value is None:
            return argument.expression
        return self.held(placed(reference(importable(getattr(value, "__name__", "function"), value)), node))

    # --- named tuples ------------------------------------------------------------------------------------------------
    def _named_tuple(self, kind: type, node: gast.Call, static: Static) -> Made:
        if not isinstance(kind.__new__, FunctionType) or tuple.__new__ is kind.__new__:
            raise self.refuse(node, f"class {kind.__name__} has no plain __new__", "make the object outside")
        if kind.__new__.__code__.co_filename != "<string>" and not kind.__new__.__code__.co_filename.startswith(
            "<factory namedtuple"
        ):
            raise self.refuse(node, f"class {kind.__name__} has a __new__ of its own", "make the object by a function")
        bound = self.arguments_of(kind.__new__, node, 1, {})
        atoms = [self._atom(bound[name], node) for name in kind._fields]  # type: ignore[attr-defined]
        return self._named(kind, atoms, node)

    def _named(self, kind: type, atoms: list[gast.expr], node: gast.AST) -> Made:
        head = reference(importable(kind.__name__, kind))
        return placed(gast.Call(placed(head, node), atoms, []), node), Pack("tuple", tuple(atoms), (), kind)

    def named_tuple_method(self, atom: gast.Name, kind: type, node: gast.Call) -> Made:
        names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
        given = {keyword.arg: self.value(keyword.value) for keyword in node.keywords}
        unknown = [name for name in given if name not in names]
        if node.args or unknown:
            raise self.refuse(node, f"the fields of class {kind.__name__} are {', '.join(names)}")
        atoms: list[gast.expr] = []
        for j, name in enumerate(names):
            if name in given:
                atoms.append(given[name])
                continue
            part = self.fresh(name)
            place = constant(j, node)
            self.emit(part, placed(gast.Subscript(atom, place, gast.Load()), node), Index(atom.id, place))
            atoms.append(load(part, node))
        if node.func.attr == "_replace":
            return self._named(kind, atoms, node)
        keys = [constant(name, node) for name in names]
        return placed(gast.Dict(list(keys), list(atoms)), node), Pack("dict", tuple(atoms), tuple(keys))

    # --- dataclasses -------------------------------------------------------------------------------------------------
    def _dataclass(self, kind: type, node: gast.Call, static: Static) -> Made:
        fields = initial_fields(kind)
        missing = dataclasses.MISSING
        made = [f for f in fields if f.default_factory is not missing and f.init]
        factories = {f.name: self._factory(f.default_factory, node) for f in made}
        bound = self.arguments_of(kind.__init__, node, 1, factories)  # type: ignore[misc]
        names: list[str] = []
        atoms: list[gast.expr] = []
        rest: list[gast.expr] = []
        for field in fields:
            if field._field_type is _OF_CLASS:  # type: ignore[attr-defined]
                continue
            if field._field_type is _INIT_ONLY:  # type: ignore[attr-defined]
                rest.append(self._atom(bound[field.name], node))
            elif field.init:
                names.append(field.name)
                atoms.append(self._atom(bound[field.name], node))
            elif field.default_factory is not missing:
                names.append(field.name)
                atoms.append(self.value(self._factory(field.default_factory, node)))
            elif sets_default(kind, field):
                if type(field.default) not in (bool, int, float, str, type(None)):
                    raise self.refuse(node, f"the default of the field {field.name!r} is set in a class with slots")
                names.append(field.name)
                atoms.append(constant(field.default, node))
        after = found(kind, "__post_init__")
        expression, operation = self._packed_object(kind, names, atoms, node)
        if not isinstance(after, FunctionType):
            given = [f for f in fields if f.init and f._field_type is not _OF_CLASS]  # type: ignore[attr-defined]
            if not rest and len(names) == len(given):
                only = {f.name for f in fields if f.kw_only}
                positional = [a for n, a in zip(names, atoms, strict=True) if n not in only]
                keywords = [gast.keyword(n, a) for n, a in zip(names, atoms, strict=True) if n in only]
                head = placed(reference(importable(kind.__name__, kind)), node)
                expression = placed(gast.Call(head, positional, keywords), node)
            return expression, operation
        call = placed(gast.Call(node.func, [*atoms, *rest], []), node)
        return self.initialise(Initialiser(kind, after, tuple(names)), call)

    def _replaced(self, node: gast.Call) -> Made:
        """``dataclasses.replace(object, ...)``: a call of the class with the fields that are not replaced."""
        subject, known = self.receiver(node.args[0])
        if not isinstance(known, Instance) or not dataclasses.is_dataclass(known.kind) or len(node.args) > 1:
            raise self.refuse(node, "dataclasses.replace of an object whose class is not known", "call the class")
        atom = self.value(subject)
        keywords = self.named_keywords(node)
        given = {keyword.arg for keyword in keywords}
        for field in dataclasses.fields(known.kind):
            if field.init and field.name not in given:
                read = placed(gast.Attribute(atom, field.name, gast.Load()), node)
                keywords.append(placed(gast.keyword(field.name, read), node))
        head = reference(importable(known.kind.__name__, known.kind))
        made = placed(gast.Call(placed(head, node), [], keywords), node)
        return self.construct(known.kind, made, Static(known.kind, head))

    def _copied_by_module(self, node: gast.Call) -> Made | None:
        """``copy.copy``: of an object a new one with the same fields, or what its class says."""
        atom = self.value(node.args[0])
        known = self.known_atom(atom)
        if not holds_objects(known):
            self.put(node, "args", [atom])
            return None
        if any(isinstance(choice, Instance) is (choice == NONE) for choice in choices_of(known)):
            raise self.refuse(node, "a copy of what may be an object or a container", "copy each where it is known")
        assert isinstance(atom, gast.Name)
        name = atom
        choices = sorted(choices_of(known), key=lambda choice: choice == NONE)  # which is asked for last
        return self.dispatch(name, choices, node, lambda choice: self._copied_object(name, choice, node))

    def _copied_object(self, atom: gast.Name, known: Known, node: gast.Call) -> Made:
        if not isinstance(known, Instance):
            return constant(None, node), Fixed()
        kind = known.kind
        own = found(kind, "__copy__")
        if isinstance(own, FunctionType):
            return self.method(own, atom, [], [], node, None)
        if is_named_tuple(kind) or decides_copies(kind, COPYING[1:]):
            raise self.refuse(node, f"how an object of class {kind.__name__} is copied is not known", "call the class")
        names = [name for name, _ in known.fields]
        told = placed(gast.Tuple([constant(name, node) for name in names], gast.Load()), node)
        checked = call_runtime(runtime.require_fields, [atom, told], node)
        self.out.append(Effect(placed(gast.Expr(checked), node), self.span))
        atoms = [self.value(placed(gast.Attribute(atom, name, gast.Load()), node)) for name in names]
        return self._packed_object(kind, names, atoms, node)

    def _factory(self, factory: object, node: gast.AST) -> gast.expr:
        """What a ``default_factory`` makes, as an expression."""
        if factory is list:
            return placed(gast.List([], gast.Load()), node)
        if factory is dict:
            return placed(gast.Dict([], []), node)
        name = getattr(factory, "__name__", "factory")
        return placed(gast.Call(reference(importable(name, factory)), [], []), node)

    # --- operators ---------------------------------------------------------------------------------------------------
    def _number_handed(self, atom: gast.expr, right: Known, node: gast.expr) -> gast.expr:
        assert isinstance(right, Instance)
        if isinstance(atom, gast.Constant) or getattr(right.kind, "__array_ufunc__", ...) is None:
            return atom
        is_sequence = all(found(right.kind, name) is not ABSENT for name in ("__len__", "__getitem__"))
        told = [constant(True, node)] if is_sequence else []
        checked = call_runtime(runtime.require_reflected, [atom, constant(right.kind.__name__, node), *told], node)
        self.out.append(Effect(placed(gast.Expr(checked), node), self.span))
        return self.value(call_runtime(runtime.handed, [atom, constant(right.kind.__name__, node)], node))
