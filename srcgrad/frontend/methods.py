"""Attributes and methods: of arrays as their NumPy functions, of dicts and strings as what they read.

Enters: ``gast.Attribute`` nodes and calls of them.  Leaves: ``Apply`` of the NumPy function, with the text that the
user wrote; what would change its object, or is not known, is refused::

    x.sum(axis=0)     ->     Apply np.sum(a=x, axis=0)
    x.shape           ->     Fixed
    d.get(k, 0.0)     ->     if k in d: t = d[k]  else: t = 0.0
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from types import FunctionType

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.callees import SHAPES, is_one_of
from srcgrad.frontend.constructors import Constructors
from srcgrad.frontend.desugar import expressions as control
from srcgrad.frontend.desugar.build import (
    assign,
    branch,
    call_builtin,
    compare,
    constant,
    load,
    method_call,
    placed,
    subscript,
)
from srcgrad.frontend.known import NONE, matters
from srcgrad.frontend.normal_form import Apply, Copy, Field, Fixed, LocalFunction, Operation
from srcgrad.frontend.scope import Static
from srcgrad.frontend.spreading import spread
from srcgrad.frontend.storing import CHANGES
from srcgrad.frontend.writing import AS_A_STATEMENT
from srcgrad.language import effects
from srcgrad.rules.formula import spelling
from srcgrad.rules.table import CONSTANT_MEMBERS, FIELDS, is_constant, lookup, member_refusal
from srcgrad.rules.table import attribute as attribute_function
from srcgrad.rules.table import method as method_function
from srcgrad.rules.template import Rule
from srcgrad.syntax.globals import GlobalBinding, GlobalReference
from srcgrad.syntax.marks import as_iterator
from srcgrad.syntax.parse import walk

TEXT = frozenset(
    """bit_length capitalize casefold center count encode endswith find format index is_integer isalpha isdigit
    isidentifier isnumeric join ljust lower lstrip replace rjust rsplit rstrip split splitlines startswith strip title
    upper zfill""".split()
)
VIEWS = effects.returning(dict, "view")
UNKNOWN = "a derivative is compiled for the classes of its arguments: see source_for(...), and check the name"
DTYPES = (np.common_type, np.dtype, np.finfo, np.iinfo, np.promote_types, np.result_type)
PLAIN_DATA = (np.ndarray, np.generic, list, tuple, dict, str, bytes, int, float, complex)


class Methods(Constructors):
    """What is read and called through a dot."""

    @abstractmethod
    def apply(
        self,
        rule: Rule,
        function: object,
        node: gast.Call,
        spelling: gast.expr | None,
        receiver: gast.expr | None = None,
        arguments: Sequence[gast.expr] | None = None,
    ) -> tuple[gast.expr, Operation]:
        """The operation of a ruled function."""

    # --- attributes --------------------------------------------------------------------------------------------------
    def attribute(self, node: gast.Attribute) -> tuple[gast.expr, Operation]:
        static = self.scope.static_of(node)
        if static is not None:
            return self.function_value(static, node)
        owner = self.scope.static_of(node.value)
        if owner is not None:
            if isinstance(owner.value, LocalFunction):
                raise self.refuse(node, "an attribute of a local function")
            self.scope.attribute(owner.value, node)
            return self.nested(node), Fixed()
        made = None if self._is_dtype(node.value) else self.attribute_of(node)
        if made is not None:
            return made
        if not self.is_global(node) and node.attr in SHAPES | CONSTANT_MEMBERS and self._may_be_object(node.value):
            node = placed(gast.Attribute(self.value(node.value), node.attr, gast.Load()), node)
            if (made := self.attribute_of(node)) is not None:
                return made
        if self.is_global(node) or node.attr in SHAPES | CONSTANT_MEMBERS or self._is_dtype(node.value):
            return self.settle(node), Fixed()
        function = runtime.field if node.attr in FIELDS else attribute_function(node.attr)
        if function is None and self.source.generated:
            held = self.value(node.value)
            assert isinstance(held, gast.Name)
            return placed(gast.Attribute(held, node.attr, gast.Load()), node), Field(held.id, node.attr)
        if function is None:
            raise self._unknown_attribute(node)
        base = self.value(node.value)
        expression = placed(gast.Attribute(base, node.attr, gast.Load()), node)
        if node.attr == "flat":  # an iterator, which has no shape: the array of the same elements in its place
            expression = as_iterator(placed(gast.Call(spelling(function), [base], []), node))
        rule = lookup(function)
        if rule is None:
            if is_constant(function):
                return expression, Fixed()
            return expression, self.unruled(node, expression, f"the attribute {node.attr!r}", function)
        named = [constant(node.attr, node)] if node.attr in FIELDS else []
        return expression, Apply(rule, function, rule.bind(function, [base, *named], {}))

    def admit_attribute(self, node: gast.Attribute) -> None:
        owner = self.scope.static_of(node.value)
        if owner is not None:
            if isinstance(owner.value, LocalFunction):
                raise self.refuse(node, "an attribute of a local function")
            self.scope.attribute(owner.value, node)
        elif self.is_object(node.value):
            self.refuse_method_read(node)
        elif not (self.is_global(node) or self.peek(node.value) == NONE or self._is_dtype(node.value)):
            known = node.attr in SHAPES | CONSTANT_MEMBERS | FIELDS
            if not (known or attribute_function(node.attr) is not None or self.source.generated):
                raise self._unknown_attribute(node)

    def _unknown_attribute(self, node: gast.Attribute) -> Exception:
        if method_function(node.attr) is not None or node.attr in TEXT | CHANGES | VIEWS:
            return self.refuse(node, f"the method {node.attr!r} is used as a value", "call it here, or write a lambda")
        known = member_refusal(node.attr)
        if known is not None:
            return self.refuse(node, f"the attribute {node.attr!r}: {known.reason}", known.hint)
        return self.refuse(
            node,
            f"the attribute {node.attr!r} is not one of an array",
            UNKNOWN,
            label="what this reads is not known",
        )

    def _unknown_method(self, node: gast.Call) -> Exception:
        name = node.func.attr
        known = member_refusal(name)
        if known is not None:
            return self.refuse(node, f"the method {name!r}: {known.reason}", known.hint)
        return self.refuse(
            node,
            f"the method {name!r} is not one of an array",
            UNKNOWN,
            label="what this calls is not known",
        )

    def _is_dtype(self, node: gast.expr | None) -> bool:
        """Whether an expression is a dtype, or what NumPy tells of one: its attributes are names and limits."""
        match node:
            case gast.Attribute(attr="dtype"):
                return True
            case gast.Call(func=func):
                made = self.scope.static_of(func)
                return made is not None and is_one_of(made.value, *DTYPES)
            case gast.Name(id=name) if name in self.scope.locals:
                return self._is_dtype(self.scope.only_value(name))
        return False

    # --- methods -----------------------------------------------------------------------------------------------------
    def method_call(self, node: gast.Call) -> tuple[gast.expr, Operation]:
        func = node.func
        name = func.attr
        owner = self.scope.static_of(func.value)
        if owner is not None:
            kind = "function" if isinstance(owner.value, LocalFunction | FunctionType) else type(owner.value).__name__
            raise self.refuse(
                node,
                f"a method of an object of class {kind}",
                "pass the object as an argument: a derivative is compiled for the classes of its arguments",
            )
        made = self.method_of(node)
        if made is not None:
            return made
        if self._draws(node):
            settled = self.settle(node, calls=True)
            hint = "draw from the standard distribution, and scale and shift what is drawn"
            return settled, self.unruled(node, settled, f"{name} of a generator", hint=hint, draws=True)
        self._refuse_change(node)
        self._refuse_objects(node)
        if name in TEXT | CONSTANT_MEMBERS:
            if self._may_be_object(func.value):
                head = placed(gast.Attribute(self.value(func.value), name, gast.Load()), func)
                node = placed(gast.Call(head, node.args, node.keywords), node)
                if (made := self.method_of(node)) is not None:
                    return made
            return self.settle(node), Fixed()
        function = method_function(name)
        if function is None:
            raise self._unknown_method(node)
        rule = lookup(function)
        if rule is None:
            settled = self.settle(node)
            if is_constant(function):
                return settled, Fixed()
            return settled, self.unruled(node, settled, getattr(function, "__name__", name), function)
        node = placed(gast.Call(node.func, node.args, spread(node.keywords, self.lengths)), node)
        receiver = self.value(node.func.value)  # by now a name, if it was a call: that is made once
        return self.apply(rule, function, node, None, receiver, self._as_function(name, node))

    def _may_be_object(self, node: gast.expr) -> bool:
        """Whether the owner of a member is an object, or the result of a call: it gets a name, which is checked."""
        if isinstance(node, gast.Name) or self.source.generated:
            return False
        return matters(self.peek(node)) or any(isinstance(part, gast.Call) for part in walk(node))

    def _as_function(self, name: str, node: gast.Call) -> list[gast.expr]:
        """The arguments of a method as its function takes them: ``x.reshape(2, 3)`` is ``np.reshape(x, (2, 3))``."""
        arguments: list[gast.expr] = list(node.args)
        several = len(arguments) > 1 or any(isinstance(argument, gast.Starred) for argument in arguments)
        several = several or (name == "reshape" and len(arguments) == 1 and _is_integer(arguments[0]))
        if name in ("reshape", "transpose") and several:
            return [placed(gast.Tuple(arguments, gast.Load()), node)]
        return arguments

    def _draws(self, node: gast.Call) -> bool:
        """Whether a method is one of a generator of random numbers that is made here, and gives new numbers."""
        if not isinstance(node.func.value, gast.Name) or any(keyword.arg is None for keyword in node.keywords):
            return False
        drawn = effects.method(node.func.attr)
        if not drawn.draws or drawn.updated(1 + len(node.args), [str(keyword.arg) for keyword in node.keywords]):
            return False
        made = self.scope.only_value(node.func.value.id)
        static = self.scope.static_of(made.func) if isinstance(made, gast.Call) else None
        return static is not None and is_one_of(static.value, np.random.default_rng, np.random.RandomState)

    def admit_method(self, node: gast.Call) -> None:
        """A method call that stays nested: it reads, and what it reads is known."""
        if self._draws(node):
            return
        self._refuse_change(node)
        if self.is_global(node.func):
            return
        name = node.func.attr
        if not (name in TEXT | VIEWS | {"get", "copy", "tolist"} or method_function(name) is not None):
            raise self._unknown_method(node)

    def _refuse_change(self, node: gast.Call) -> None:
        name = node.func.attr
        if name in CHANGES and not self.is_global(node.func):
            raise self.refuse(node, f"the method {name!r} changes its object in place", AS_A_STATEMENT)
        if name in CHANGES and isinstance(self._global_value(node.func.value), PLAIN_DATA):
            raise self.refuse(node, f"the method {name!r} changes a global in place", "return the value instead")

    def _refuse_objects(self, node: gast.Call) -> None:
        """Methods of objects that are neither arrays nor plain containers."""
        if not self.is_global(node.func):
            return
        value = self._global_value(node.func.value)
        if value is not None and not isinstance(value, PLAIN_DATA):
            raise self.refuse(
                node,
                f"a method of an object of class {type(value).__name__}",
                "pass the object as an argument: a derivative is compiled for the classes of its arguments",
            )

    def _global_value(self, node: gast.AST) -> object:
        if isinstance(node, GlobalReference):
            return node.binding.value
        if isinstance(node, gast.Name):
            meaning = self.scope.resolve(node.id, node)
            return meaning.value if isinstance(meaning, GlobalBinding | Static) else None
        return None

    def bind_method(self, target: Callable[[], str], node: gast.Call) -> bool:
        """Dict views as lists, and ``get`` as a test and an index."""
        func = node.func
        if self.is_object(func.value):
            return False
        if func.attr in VIEWS and not node.args:
            receiver = self.name_of(func.value)
            keys = self.keys_of(receiver, node)
            if func.attr == "keys":
                self.emit(target(), load(keys, node), Copy(keys))
                return True
            key = self.fresh("k")
            self.scope.locals.discard(key)
            self.bind(target(), control.view_as_list(receiver, keys, key, node, pairs=func.attr == "items"))
            return True
        if func.attr == "get" and 1 <= len(node.args) <= 2 and not node.keywords:
            receiver = self.name_of(func.value)
            key_node = self.held(self.settle(node.args[0]))
            default = self.value(node.args[1]) if len(node.args) == 2 else constant(None, node)
            found = compare(key_node, gast.In(), load(receiver, node), node)
            entry = assign(target(), subscript(load(receiver, node), key_node, node), node)
            self.run([branch(found, [entry], [assign(target(), default, node)], node)])
            return True
        return False

    def keys_of(self, mapping: str, at: gast.AST) -> str:
        """A list of the keys of a dict, in a name of its own; fails when it is run on what is no dict."""
        keys = self.fresh("keys")
        listed = method_call(load(mapping, at), "keys", [], at)
        self.emit(keys, call_builtin("list", [listed], at), Fixed())
        return keys

    def name_of(self, node: gast.expr) -> str:
        """A local name for the value of an expression."""
        atom = self.value(node)
        if not isinstance(atom, gast.Name):
            raise self.refuse(node, "a literal has no such method")
        return str(atom.id)


def only_reads(name: str) -> bool:
    """Whether a method is one of a built-in object that leaves the object as it is."""
    if name in CHANGES:
        return False
    return name in TEXT | CONSTANT_MEMBERS | VIEWS | {"get"} or method_function(name) is not None


def _is_integer(node: gast.expr) -> bool:
    if isinstance(node, gast.UnaryOp):
        node = node.operand
    return isinstance(node, gast.Constant) and isinstance(node.value, int)


