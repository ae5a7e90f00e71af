"""Calls: rules, declared constants, user functions, and the builtins that are loops.

Enters: a ``gast.Call``.  Leaves: ``Apply`` for a function in the table, ``Fixed`` for a declared constant, ``Call`` for a
user function with its arguments in the order of its normal form, ``Unruled`` for what has neither source nor rule::

    helper(x * 2, act=np.tanh)     ->     t = x * 2;  t2 = helper(t)       Callee(helper, act=np.tanh)
"""

from __future__ import annotations


import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FunctionType, ModuleType

import gast

from srcgrad.frontend.desugar import expressions as control
from srcgrad.frontend.desugar.build import call_builtin, constant, load, placed, store
from srcgrad.frontend.methods import Methods
from srcgrad.frontend.normal_form import Apply, Call, Callee, Fixed, LocalFunction, Operation, Pack, Unpack
from srcgrad.frontend.scope import Static, Variable, closure_of, holders, importable, is_callee
from srcgrad.frontend.signatures import Default, Signature, called_parameters, signature_of
from srcgrad.rules.table import is_constant, lookup
from srcgrad.rules.template import Rule, UnsupportedCall
from srcgrad.syntax.globals import GlobalBinding, GlobalReference, reference
from srcgrad.syntax.parse import names_read

# Builtins whose value carries no derivative whatever they are given.
LIBRARIES = (sys.stdlib_module_names | {"numpy", "scipy"}) - {"__main__"}
INERT = (
    bool, bytes, callable, chr, format, getattr, hasattr, hash, hex, id, int, isinstance, issubclass, len, ord, print,
    range, repr, slice, str, type,
)  # fmt: skip
ITERATORS = (enumerate, filter, frozenset, iter, map, reversed, set, zip)
EFFECTS = (eval, exec, globals, input, locals, next, open, setattr, delattr, vars)


@dataclass
class Arguments:
    """The evaluated arguments of one call."""

    positional: list[gast.expr | Static] = field(default_factory=list)
    star: gast.Name | None = None  # *xs of unknown length, and how many positional arguments precede it
    before: int = 0
    named: dict[str, gast.expr | Static] = field(default_factory=dict)
    rest: gast.expr | None = None  # **d of unknown keys


class Calls(Methods):
    """Calls of every kind; methods are in ``frontend.methods``."""

    lengths: dict[str, int | tuple[str, ...]]

    def call(self, node: gast.Call) -> tuple[gast.expr, Operation]:
        static = self.scope.static_of(node.func)
        if static is None:
            if isinstance(node.func, gast.Attribute):
                return self.method_call(node)
            raise self._unknown(node)
        function = static.value
        if isinstance(function, LocalFunction):
            return self.user_call(function, node, static)
        node = self._spliced(node)
        rule = self.rule_of(function)
        if rule is not None:
            assert static.expression is not None
            return self.apply(rule, function, node, static.expression)
        if makes_iterator(function):
            name = getattr(function, "__name__", "it")
            raise self.refuse(
                node, f"an iterator made by {name} is used as a value", f"loop over it, or write list({name}(...))"
            )
        if function is dict and not node.args and all(k.arg is not None for k in node.keywords):
            keys = [constant(keyword.arg, keyword) for keyword in node.keywords]
            return self.operation(placed(gast.Dict(keys, [k.value for k in node.keywords]), node))
        if is_inert(function):
            return self.settle(node), Fixed()
        if isinstance(function, functools.partial):
            return self.call(_unwrapped(function, node))
        target = as_python(function)
        if target is not None:
            return self.user_call(target, node, static)
        if isinstance(function, ModuleType):
            raise self.refuse(node, f"the module {function.__name__} is called")
        if isinstance(function, type) and not issubclass(function, BaseException) and function.__module__ != "builtins":
            if not function.__module__.startswith(("numpy", "math")):
                raise self.refuse(
                    node, f"an object of class {function.__name__} is made", "user objects come in a later version"
                )
        self.refuse_mutation(node, function)
        settled = self.settle(node)
        return settled, self.unruled(node, settled, spelled(node.func))

    def rule_of(self, function: object) -> Rule | None:
        """The rule of a function, if it has one; lists and other objects that cannot be looked up have none."""
        try:
            return lookup(function)
        except TypeError:
            return None

    def _unknown(self, node: gast.Call) -> Exception:
        match node.func:
            case gast.Name(id=name):
                return self.refuse(
                    node.func,
                    f"which function {name!r} is, is not known when this is compiled",
                    "bind it once, or pass it as an argument of the function that is differentiated",
                    label="called here",
                )
            case gast.Subscript():
                return self.refuse(node.func, "a function taken from a container", "choose it with if and call it by name")
        return self.refuse(node.func, "the function called here is itself computed", "give it a name with def")

    # --- rules -------------------------------------------------------------------------------------------------------
    def apply(
        self,
        rule: Rule,
        function: object,
        node: gast.Call,
        spelling: gast.expr | None,
        receiver: gast.expr | None = None,
        arguments: Sequence[gast.expr] | None = None,
    ) -> tuple[gast.expr, Operation]:
        """A ruled function; as a method, ``receiver`` is the atom it is called on and ``arguments`` what is bound."""
        given = list(node.args if arguments is None else arguments)
        keywords = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.refuse(keyword.value, f"keywords of {rule.name} that are not known here", "write them out")
            keywords[keyword.arg] = keyword.value
        if keywords.get("out") is not None and not _is_none(keywords["out"]):
            raise self.refuse(keywords["out"], f"{rule.name} stores into an array", "use its result: " + _LATER)
        keywords.pop("out", None)
        try:
            bound = rule.bind(function, [*([] if receiver is None else [receiver]), *given], keywords)
        except UnsupportedCall as error:
            raise self.refuse(node, str(error)) from None
        owner: dict[int, str] = {}
        for parameter, expression in bound.items():
            owner[id(expression)] = parameter
            if parameter == rule.variadic and isinstance(expression, gast.Tuple):
                owner.update((id(element), parameter) for element in expression.elts)
        done: dict[int, gast.expr] = {} if receiver is None else {id(receiver): receiver}
        for expression in [*given, *keywords.values()]:
            if owner.get(id(expression)) in rule.differentiable:
                done[id(expression)] = self.value(expression)
            else:
                done[id(expression)] = self.settle(expression, calls=False)
        values: dict[str, gast.expr] = {}
        for parameter, expression in bound.items():
            if id(expression) in done:
                values[parameter] = done[id(expression)]
            elif parameter == rule.variadic and isinstance(expression, gast.Tuple):
                elements = [done[id(element)] for element in expression.elts]
                values[parameter] = placed(gast.Tuple(elements, gast.Load()), node)
            else:
                values[parameter] = self.settle(expression, calls=False)
        printed: list[gast.expr] = []
        for expression in node.args:
            printed += [done[id(expression)]] if id(expression) in done else self._parts(expression, given, done)
        named = [placed(gast.keyword(k.arg, done[id(k.value)]), k) for k in node.keywords if id(k.value) in done]
        head = spelling
        if receiver is not None:
            assert isinstance(node.func, gast.Attribute)
            head = placed(gast.Attribute(receiver, node.func.attr, gast.Load()), node.func)
        return placed(gast.Call(head, printed, named), node), Apply(rule, function, values)

    def _parts(
        self, expression: gast.expr, given: Sequence[gast.expr], done: dict[int, gast.expr]
    ) -> list[gast.expr]:
        """What the user wrote as one of several arguments that were bound as one tuple."""
        for other in given:
            if isinstance(other, gast.Tuple):
                for element, settled in zip(other.elts, getattr(done[id(other)], "elts", ())):
                    if element is expression:
                        return [settled]
        return [self.settle(expression)]

    def _spliced(self, node: gast.Call) -> gast.Call:
        """``f(*(a, b))`` as ``f(a, b)``."""
        if not any(isinstance(argument, gast.Starred) for argument in node.args):
            return node
        made: list[gast.expr] = []
        for argument in node.args:
            if isinstance(argument, gast.Starred) and isinstance(argument.value, gast.Tuple | gast.List):
                made += argument.value.elts
            elif isinstance(argument, gast.Starred) and self._known_length(argument.value) is not None:
                count = self._known_length(argument.value)
                assert count is not None
                made += self._unpacked(argument.value, count, node)
            else:
                made.append(argument)
        return placed(gast.Call(node.func, made, node.keywords), node)

    def _known_length(self, node: gast.expr) -> int | None:
        length = self.lengths.get(node.id) if isinstance(node, gast.Name) else None
        return length if isinstance(length, int) else None

    def _unpacked(self, node: gast.expr, count: int, at: gast.AST) -> list[gast.expr]:
        source = self.value(node)
        assert isinstance(source, gast.Name)
        names = [self.fresh() for _ in range(count)]
        if names:
            self.out.append(Unpack(tuple(names), source.id, self.span))
        return [load(name, at) for name in names]

    # --- user functions ----------------------------------------------------------------------------------------------
    def user_call(
        self, function: FunctionType | LocalFunction, node: gast.Call, static: Static
    ) -> tuple[gast.expr, Operation]:
        signature = signature_of(function)
        arguments = self._evaluated(node)
        bound, packed = self._bound(signature, arguments, node)
        statics: list[tuple[str, object]] = []
        passed: list[gast.expr] = []
        carried: list[Variable] = []
        for parameter in signature.parameters:
            argument = bound[parameter]
            if _is_none(argument) and parameter in called_parameters(function):
                statics.append((parameter, None))
            elif isinstance(argument, Static):
                statics.append((parameter, argument.value))
                if isinstance(argument.value, LocalFunction):
                    carried += holders(closure_of(argument.value))
            else:
                passed.append(argument)
        own = list(closure_of(function).actual) if isinstance(function, LocalFunction) else []
        passed += [load(self.local(variable), node) for variable in [*own, *carried]]
        callee = Callee(function, tuple(statics), tuple(packed.items()))
        self._refuse_growth(callee, node)
        return self._printed(node, static, callee, signature, arguments, passed), Call(callee, tuple(passed))

    def _refuse_growth(self, callee: Callee, node: gast.AST) -> None:
        functions = [callee.function, *(value for _, value in callee.statics)]
        if any(isinstance(f, LocalFunction) and closure_of(f).depth > 16 for f in functions):
            raise self.refuse(
                node,
                "a recursion that wraps its function argument anew at every level",
                "pass the same function down, with numbers as arguments",
            )

    def _printed(
        self,
        node: gast.Call,
        static: Static,
        callee: Callee,
        signature: Signature,
        arguments: Arguments,
        passed: list[gast.expr],
    ) -> gast.expr:
        """The call as the user wrote it, on atoms; as it is compiled where his text has no meaning by itself."""
        plain = not callee.statics and arguments.star is None and arguments.rest is None
        if static.expression is not None and plain and callee.function is static.value:
            named = [placed(gast.keyword(name, value), node) for name, value in arguments.named.items()]
            return placed(gast.Call(static.expression, list(arguments.positional), named), node)
        head = reference(GlobalBinding(signature.name, callee))
        return placed(gast.Call(placed(head, node.func), list(passed), []), node)

    def _evaluated(self, node: gast.Call) -> Arguments:
        """Every argument in Python's order: atoms, and callables that are known now."""
        made = Arguments()
        for argument in node.args:
            if not isinstance(argument, gast.Starred):
                made.positional.append(self._argument(argument))
                continue
            if isinstance(argument.value, gast.Tuple | gast.List):
                made.positional += [self._argument(element) for element in argument.value.elts]
                continue
            length = self._known_length(argument.value)
            if length is not None:
                made.positional += self._unpacked(argument.value, length, argument)
                continue
            source = self.value(argument.value)
            if made.star is not None or not isinstance(source, gast.Name):
                raise self.refuse(argument, "two starred arguments of unknown length", "pass the values one by one")
            made.star, made.before = source, len(made.positional)
        for keyword in node.keywords:
            if keyword.arg is not None:
                made.named[keyword.arg] = self._argument(keyword.value)
                continue
            value = keyword.value
            keys = self.lengths.get(value.id) if isinstance(value, gast.Name) else None
            if isinstance(value, gast.Dict) and all(isinstance(key, gast.Constant) for key in value.keys):
                made.named |= {k.value: self._argument(v) for k, v in zip(value.keys, value.values, strict=True)}
            elif isinstance(keys, tuple):
                for key in keys:
                    made.named[key] = self.value(
                        placed(gast.Subscript(value, constant(key, value), gast.Load()), value)
                    )
            elif made.rest is None:
                made.rest = self.value(value)
            else:
                raise self.refuse(value, "two ** arguments of unknown keys", "pass the values one by one")
        return made

    def _argument(self, node: gast.expr) -> gast.expr | Static:
        static = self.scope.static_of(node)
        return self.value(node) if static is None or isinstance(static.value, ModuleType) else static

    def _bound(
        self, signature: Signature, arguments: Arguments, node: gast.Call
    ) -> tuple[dict[str, gast.expr | Static], dict[str, int | tuple[str, ...]]]:
        """One argument per parameter, and what is known of ``*args`` and ``**kwargs``."""
        known: dict[str, int | tuple[str, ...]] = {}
        bound: dict[str, gast.expr | Static] = {}
        extra: list[gast.expr | Static] = list(arguments.positional)
        whole: gast.expr | None = None
        if arguments.star is not None:
            extra, whole = self._spread(signature, arguments, node)
        for parameter, argument in zip(signature.positional, extra):
            bound[parameter] = argument
        extra = extra[len(signature.positional) :]
        if extra and signature.variadic is None:
            raise self.refuse(
                node,
                f"{signature.name} takes {len(signature.positional)} positional arguments, "
                f"{len(signature.positional) + len(extra)} are given",
            )
        if signature.variadic is not None:
            if whole is None:
                known[signature.variadic] = len(extra)
                whole = self._packed(extra, "tuple", node)
            elif extra:
                raise self.refuse(node, "values before a starred argument of unknown length", "pack them into it first")
            elif isinstance(whole, gast.Name) and whole.id in self.lengths:
                known[signature.variadic] = self.lengths[whole.id]
            bound[signature.variadic] = whole
        self._bind_named(signature, arguments, bound, known, node)
        for parameter in signature.parameters:
            if parameter not in bound:
                bound[parameter] = self._default(signature, parameter, node)
        return bound, known

    def _bind_named(
        self,
        signature: Signature,
        arguments: Arguments,
        bound: dict[str, gast.expr | Static],
        known: dict[str, int | tuple[str, ...]],
        node: gast.Call,
    ) -> None:
        by_name = {*signature.positional[signature.positional_only :], *signature.keyword_only}
        others: dict[str, gast.expr | Static] = {}
        for name, argument in arguments.named.items():
            if name in by_name:
                if name in bound:
                    raise self.refuse(node, f"{signature.name} is given two values for {name!r}")
                bound[name] = argument
            elif signature.keywords is None:
                raise self.refuse(node, f"{signature.name} has no parameter {name!r}")
            else:
                others[name] = argument
        if arguments.rest is not None:
            if signature.keywords is None or others or by_name - set(bound):
                raise self.refuse(
                    node, "which keywords ** passes on is not known when this is compiled", "pass them one by one"
                )
            bound[signature.keywords] = arguments.rest
        elif signature.keywords is not None:
            known[signature.keywords] = tuple(others)
            bound[signature.keywords] = self._packed(list(others.values()), "dict", node, tuple(others))

    def _spread(
        self, signature: Signature, arguments: Arguments, node: gast.Call
    ) -> tuple[list[gast.expr | Static], gast.expr | None]:
        """``f(a, *xs, b)``: the positional arguments that a fixed arity makes of it, and what goes to ``*args`` whole."""
        assert arguments.star is not None
        before, after = arguments.positional[: arguments.before], arguments.positional[arguments.before :]
        rest = [p for p in signature.positional[len(before) :] if p not in arguments.named]
        if signature.variadic is not None and not rest and not after:
            extra = before[len(signature.positional) :]
            return before[: len(signature.positional)] + extra, arguments.star
        if any(p in signature.defaults for p in rest):
            raise self.refuse(
                node,
                f"how many arguments * passes to {signature.name} is not known when this is compiled",
                "pass them one by one",
            )
        names = [self.fresh() for _ in range(len(rest) - len(after))]
        if signature.variadic is not None:
            if after:
                raise self.refuse(node, "arguments after a starred argument", "pass them one by one")
            star = self.fresh()
            self.out.append(Unpack((*names, star), arguments.star.id, self.span, star=len(names)))
            return [*before, *(load(name, node) for name in names)], load(star, node)
        if names:
            self.out.append(Unpack(tuple(names), arguments.star.id, self.span))
        return [*before, *(load(name, node) for name in names), *after], None

    def _packed(
        self, values: Sequence[gast.expr | Static], kind: str, node: gast.AST, keys: tuple[str, ...] = ()
    ) -> gast.expr:
        atoms: list[gast.expr] = []
        for value in values:
            if isinstance(value, Static):
                raise self.refuse(node, "a function passed through * or **", "give the parameter a name of its own")
            atoms.append(value)
        target = self.fresh()
        if kind == "dict":
            names = tuple(constant(key, node) for key in keys)
            self.emit(target, placed(gast.Dict(list(names), atoms), node), Pack("dict", tuple(atoms), names))
        else:
            self.emit(target, placed(gast.Tuple(atoms, gast.Load()), node), Pack("tuple", tuple(atoms)))
        return load(target, node)

    def _default(self, signature: Signature, parameter: str, node: gast.Call) -> gast.expr | Static:
        default: Default | None = signature.defaults.get(parameter)
        match default:
            case None:
                raise self.refuse(node, f"{signature.name} is not given its argument {parameter!r}")
            case Variable():
                return load(self.local(default), node)
            case GlobalBinding():
                return self.held(placed(reference(default), node))
        return default

    # --- calls that become statements, and calls that stay nested ----------------------------------------------------
    def bind_call(self, target: Callable[[], str], node: gast.Call) -> bool:
        static = self.scope.static_of(node.func)
        function = None if static is None else static.value
        if self.consumes(node):
            self._consume(target(), function, node)
            return True
        if _is_one_of(function, list, tuple) and len(node.args) == 1 and not node.keywords:
            if function is tuple and self.rule_of(tuple) is None:
                return False
            if isinstance(node.args[0], gast.GeneratorExp) and function is list:
                self.bind(target(), placed(gast.ListComp(node.args[0].elt, node.args[0].generators), node))
                return True
            if self._is_iterator(node.args[0]) or (function is list and self.rule_of(list) is None):
                name = self.fresh("v")
                generator = gast.comprehension(store(name, node), node.args[0], [], 0)
                listed = placed(gast.ListComp(load(name, node), [generator]), node)
                self.scope.locals.discard(name)
                if function is list:
                    self.bind(target(), listed)
                else:
                    self.bind(target(), call_builtin("tuple", [self.value(listed)], node))
                return True
        if isinstance(node.func, gast.Attribute) and static is None:
            return self.bind_method(target, node)
        return False

    def _is_iterator(self, node: gast.expr) -> bool:
        if not isinstance(node, gast.Call):
            return False
        if isinstance(node.func, gast.Attribute) and node.func.attr in ("values", "items"):
            return True
        static = self.scope.static_of(node.func)
        return static is not None and _is_one_of(static.value, enumerate, zip, map, reversed)

    def consumes(self, node: gast.Call) -> bool:
        static = self.scope.static_of(node.func)
        if static is None or not node.args or not isinstance(node.args[0], gast.GeneratorExp):
            return False
        # ``break`` leaves one loop, so a search through several is a list first.
        return static.value is sum or (_is_one_of(static.value, any, all) and len(node.args[0].generators) == 1)

    def _consume(self, target: str, function: object, node: gast.Call) -> None:
        generator = node.args[0]
        made = self.renamed(generator)
        start = node.args[1] if len(node.args) > 1 else None
        for keyword in node.keywords:
            start = keyword.value
        first = self.value(start) if start is not None else constant(0, node)
        reads = target in names_read(made)

        def write(name: str) -> None:
            if function is sum:
                self.within(made, lambda: self.run(control.total(made, first, name)))
            else:
                self.within(made, lambda: self.run(control.any_or_all(made, name, is_any=function is any)))

        self._through(target, reads, write)

    def admit_call(self, node: gast.Call) -> bool:
        if isinstance(node.func, GlobalReference):
            self.refuse_mutation(node, node.func.binding.value)
            return False
        static = self.scope.static_of(node.func)
        if static is not None:
            if _is_one_of(static.value, *EFFECTS):
                raise self.refuse(node, f"a call of {spelled(node.func)}", "call it outside of the function")
            self.refuse_mutation(node, static.value)
            return False
        if isinstance(node.func, gast.Attribute):
            self.admit_method(node)
            return True
        raise self._unknown(node)

    def refuse_mutation(self, node: gast.Call, function: object) -> None:
        name = getattr(function, "__name__", "")
        owner = getattr(function, "__self__", None)
        if _is_one_of(function, *EFFECTS):
            raise self.refuse(node, f"a call of {spelled(node.func)}", "call it outside of the function")
        if name in STORES and (_home_of(function).startswith(("numpy", "random", "heapq", "bisect")) or owner is not None):
            raise self.refuse(node, f"{spelled(node.func)} changes its argument in place", _LATER)
        if name in ("at",) and type(owner).__name__ == "ufunc":
            raise self.refuse(node, f"{spelled(node.func)} changes its argument in place", _LATER)
        for keyword in node.keywords:
            if keyword.arg == "out" and not _is_none(keyword.value):
                raise self.refuse(keyword.value, f"{spelled(node.func)} stores into an array", _LATER)


STORES = frozenset(
    "copyto put putmask place put_along_axis fill_diagonal shuffle heappush heappop heapify insort".split()
)
_LATER = "stores into arrays and containers come in a later version"


def makes_iterator(function: object) -> bool:
    """Whether a function's result is consumed by iterating, or has no order to index."""
    return any(function is known for known in ITERATORS) or getattr(function, "__module__", None) == "itertools"


def _home_of(function: object) -> str:
    owner = getattr(function, "__self__", None)
    return str(getattr(function, "__module__", None) or getattr(type(owner), "__module__", None) or "")


def _is_one_of(function: object, *known: object) -> bool:
    return any(function is one for one in known)


def _is_none(node: object) -> bool:
    return isinstance(node, gast.Constant) and node.value is None


def is_inert(function: object) -> bool:
    try:
        return function in INERT or is_constant(function)
    except TypeError:
        return False


def as_python(function: object) -> FunctionType | None:
    """The user's Python function behind a callable, if there is one; libraries of numbers are ruled, not read."""
    if isinstance(function, FunctionType):
        root = str(function.__module__).split(".")[0]
        return None if root in LIBRARIES else function
    made = getattr(function, "__srcgrad_function__", None)
    if made is not None and not isinstance(function, type):
        plain = made()
        return plain if isinstance(plain, FunctionType) else None
    return None


def _unwrapped(partial: functools.partial[object], node: gast.Call) -> gast.Call:
    """A call of a partial application as one of its function; what was applied is read from the object."""
    bound: list[gast.expr] = [_held_by(partial, value) for value in partial.args]
    given = {keyword.arg for keyword in node.keywords}
    keywords = [gast.keyword(k, _held_by(partial, v)) for k, v in partial.keywords.items() if k not in given]
    head = reference(importable("function", partial.func))
    return placed(gast.Call(head, [*bound, *node.args], [*keywords, *node.keywords]), node)


def _held_by(partial: functools.partial[object], value: object) -> gast.expr:
    if value is None or type(value) in (bool, int, float, complex, str):
        return gast.Constant(value, None)
    return reference(importable("applied", value) if is_callee(value) else GlobalBinding("applied", value))


def spelled(node: gast.AST) -> str:
    """A dotted name as the user wrote it."""
    match node:
        case gast.Name(id=name):
            return str(name)
        case gast.Attribute(value=value, attr=attr):
            return f"{spelled(value)}.{attr}"
    return "this function"


