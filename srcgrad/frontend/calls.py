"""Calls: rules, declared constants, user functions, and the builtins that are loops.

Enters: a ``gast.Call``.  Leaves: ``Apply`` for a function in the table, ``Fixed`` for a declared constant, ``Call`` for
a user function (``frontend.user_calls``), ``Unruled`` for what has neither source nor rule::

    helper(x * 2, act=np.tanh)     ->     t = x * 2;  t2 = helper(t)       Callee(helper, act=np.tanh)
"""

from __future__ import annotations

import copy
import functools
from collections import deque
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.callees import (
    EFFECTS,
    as_library,
    as_python,
    is_dtype_of_objects,
    is_inert,
    is_one_of,
    is_plain_vectorized,
    makes_iterator,
    spelled,
    unwrapped,
)
from srcgrad.frontend.classes import COPYING, decides_copies
from srcgrad.frontend.derivative_calls import DerivativeCalls
from srcgrad.frontend.derivatives import transform_of
from srcgrad.frontend.desugar import expressions as control
from srcgrad.frontend.desugar.build import call_builtin, constant, load, placed, store
from srcgrad.frontend.desugar.functional import giving_floats
from srcgrad.frontend.known import NONE, classes_in
from srcgrad.frontend.normal_form import Apply, Fixed, LocalFunction, Operation
from srcgrad.frontend.scope import importable
from srcgrad.frontend.side_effects import update_of_operands
from srcgrad.frontend.spreading import spread
from srcgrad.frontend.user_calls import is_none
from srcgrad.rules.calling import signature_of
from srcgrad.rules.formula import displayed, is_named_number, literal
from srcgrad.rules.memory import home_of
from srcgrad.rules.table import lookup, refusal
from srcgrad.rules.template import Rule, UnsupportedCall
from srcgrad.runtime.written import VECTORIZED, vectorized
from srcgrad.syntax.globals import GlobalBinding, GlobalReference, reference
from srcgrad.syntax.parse import names_read


class Calls(DerivativeCalls):
    """Calls of every kind; methods are in ``frontend.methods``."""

    def call(self, node: gast.Call) -> tuple[gast.expr, Operation]:
        static = self.scope.static_of(node.func)
        if static is None:
            if isinstance(node.func, gast.Attribute):
                return self.method_call(node)
            if isinstance(node.func, gast.Call):
                dense = self.made_and_called(node)
                if dense is not None:
                    return dense
                self._refuse_making(node.func)
            made = self.call_of(node)
            if made is not None:
                return made
            return self.called_value(self.value(node.func), node)
        function = static.value
        if isinstance(function, LocalFunction):
            self.define_defaults(node.func)
            return self.user_call(function, node, static)
        derivative = self.derivative_call(function, node)
        if derivative is not None:
            return derivative
        if is_one_of(function, functools.cache, functools.lru_cache):
            raise self.refuse(
                node,
                "what a function made in here has returned is remembered",
                "leave the decorator out, or put the function into the module",
            )
        if is_one_of(function, runtime.attempt, runtime.attempt_store, runtime.attempt_whole):
            return self.attempted(node)
        if function is runtime.closure:
            return self.generated_closure(node)
        made = self.made_of(function, node, static)
        if made is not None:
            return made
        node = self._spliced(node)
        made = self.answered(function, node)
        if made is not None:
            return made
        if function is vectorized and 2 < len(node.args) <= len(VECTORIZED) + 1:
            return self._vectorized(VECTORIZED[len(node.args) - 2], node.args, node.keywords, node)
        if isinstance(function, np.vectorize) and is_plain_vectorized(function) and not node.keywords:
            inner: gast.expr = reference(importable("function", function.pyfunc))
            typed = [gast.keyword("typed", constant(True, node))] if function.otypes is not None else []
            if typed:
                inner = giving_floats(inner, self.fresh("row"), node)
            if 1 <= len(node.args) <= len(VECTORIZED):
                return self._vectorized(VECTORIZED[len(node.args) - 1], [inner, *node.args], typed, node)
        if function is deque:
            node = self._queue(node)
        if function is copy.deepcopy and node.args:
            node = self._deeply_copied(node)
        rule = lookup(function)
        if rule is not None:
            assert static.expression is not None
            return self.apply(rule, function, node, static.expression)
        if makes_iterator(function):
            name = getattr(function, "__name__", "it")
            raise self.refuse(
                node, f"an iterator made by {name} is used as a value", f"loop over it, or write list({name}(...))"
            )
        pairs = self.made_dict(node, function)
        if pairs is not None:
            return self.operation(pairs)
        if function is dict and not node.args and all(k.arg is not None for k in node.keywords):
            keys = [constant(keyword.arg, keyword) for keyword in node.keywords]
            return self.operation(placed(gast.Dict(keys, [k.value for k in node.keywords]), node))
        if is_inert(function):
            return self.settle(node), Fixed()
        if isinstance(function, functools.partial):
            return self.call(unwrapped(function, node))
        target = as_python(function)
        if target is not None:
            return self.user_call(target, node, static)
        library = as_library(function)
        if library is not None and names_read(*node.args, *node.keywords):
            return self.library_call(library, node, static)
        if isinstance(function, ModuleType):
            raise self.refuse(node, f"the module {function.__name__} is called")
        if isinstance(function, type) and not issubclass(function, BaseException) and function.__module__ != "builtins":
            if not function.__module__.startswith(("numpy", "math")):
                raise self.refuse(
                    node, f"an object of class {function.__name__} is made", "make it outside, and pass it in"
                )
        self.refuse_mutation(node, function)
        self._refuse_calling(node, function)
        settled = self.settle(node)
        return settled, self.unruled(node, settled, spelled(node.func), function)

    def _vectorized(
        self, function: FunctionType, args: list[gast.expr], keywords: list[gast.keyword], node: gast.Call
    ) -> tuple[gast.expr, Operation]:
        """A call of ``np.vectorize``'s for so many arrays."""
        name = function.__name__
        head = reference(GlobalBinding(name, function, function.__module__, name))
        return self.call(placed(gast.Call(head, args, keywords), node))

    def _deeply_copied(self, node: gast.Call) -> gast.Call:
        """``copy.deepcopy`` of an atom, in which no object decides itself how it is copied."""
        subject = self.value(node.args[0])
        for kind in classes_in(self.peek(subject), self.table.resolved):
            if decides_copies(kind, COPYING):
                raise self.refuse(
                    node, f"how an object of class {kind.__name__} is copied is not known", "call the class"
                )
        return placed(gast.Call(node.func, [subject, *node.args[1:]], node.keywords), node)

    def _queue(self, node: gast.Call) -> gast.Call:
        """``deque(items)`` of a list."""
        if node.args and isinstance(node.args[0], gast.List | gast.ListComp):
            return node
        items = call_builtin("list", node.args[:1], node) if node.args else placed(gast.List([], gast.Load()), node)
        return placed(gast.Call(node.func, [items, *node.args[1:]], node.keywords), node)

    def _refuse_calling(self, node: gast.Call, function: object) -> None:
        """A function of NumPy's that calls the functions it is given, or was given when it was made."""
        made = refusal(type(function))
        if made is not None:
            raise self.refuse(node, f"{displayed(type(function))}: {made.reason}", made.hint)
        known = refusal(function)
        given = [part for a in node.args for part in (a.elts if isinstance(a, gast.List | gast.Tuple) else [a])]
        if known is not None and any(isinstance(a, gast.Lambda) or self.scope.static_of(a) is not None for a in given):
            raise self.refuse(node, f"{displayed(function)}: {known.reason}", known.hint)

    def _refuse_making(self, node: gast.Call) -> None:
        """Functions that NumPy makes of functions, and derivatives of what is not known."""
        made = self.scope.static_of(node.func)
        if made is None:
            return
        self._refuse_calling(node, made.value)
        if transform_of(made.value) is not None:
            raise self.refuse(
                node,
                f"what {spelled(node.func)} is asked for here is not known when this is compiled",
                "give it a function by its name, and argnums as a literal",
            )

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
        originals = list(node.args if arguments is None else arguments)
        given = [self._named_number(argument) for argument in originals]
        keywords = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.refuse(keyword.value, f"keywords of {rule.name} that are not known here", "write them out")
            keywords[keyword.arg] = self._named_number(keyword.value)
        if keywords.get("out") is not None and not is_none(keywords["out"]):
            raise self.refuse(keywords["out"], f"{rule.name} stores into an array", "use its result")
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
            self._refuse_function(rule, expression)
            if owner.get(id(expression)) in rule.sensitive and not is_named_number(expression):
                done[id(expression)] = self.handed_out(self.value(expression), rule, function, expression)
            else:
                done[id(expression)] = self.settle(expression, calls=False)
        for original, expression in zip(originals, given, strict=True):
            done[id(original)] = done[id(expression)]
        for keyword in node.keywords:
            if keyword.arg in keywords:
                done[id(keyword.value)] = done[id(keywords[keyword.arg])]
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
        made = placed(gast.Call(head, printed, named), node)
        if is_dtype_of_objects(values.get("dtype")):
            name = f"{rule.name} of a dtype of objects or records"
            return made, self.unruled(node, made, name, hint="make an array of numbers")
        return made, Apply(rule, function, values)

    def _refuse_function(self, rule: Rule, node: gast.expr) -> None:
        """What a library's function would call is not followed; a rule of the user's says what to do with it."""
        static = self.scope.static_of(node)
        given = static is not None and isinstance(static.value, FunctionType | LocalFunction)
        if given and rule.template.__module__.startswith("srcgrad.rules."):
            raise self.refuse(node, f"{rule.name} is given a function, which is not followed", "write what it computes")

    def _named_number(self, node: gast.expr) -> gast.expr:
        """``np.inf`` with its module resolved, so that a rule sees the number; any other expression as it is."""
        number = node.operand if isinstance(node, gast.UnaryOp) else node
        if not isinstance(number, gast.Attribute) or self.scope.static_of(number.value) is None:
            return node
        settled = self.settle(node)
        return settled if is_named_number(settled) else node

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
        """``f(*(a, b), **{"c": d})`` as ``f(a, b, c=d)``."""
        starred = any(isinstance(argument, gast.Starred) for argument in node.args)
        if not starred and all(keyword.arg is not None for keyword in node.keywords):
            return node
        made: list[gast.expr] = []
        for argument in node.args:
            if isinstance(argument, gast.Starred) and isinstance(argument.value, gast.Tuple | gast.List):
                made += argument.value.elts
            elif isinstance(argument, gast.Starred) and self.known_length(argument.value) is not None:
                count = self.known_length(argument.value)
                assert count is not None
                made += self.unpacked(argument.value, count, node)
            else:
                made.append(argument)
        return placed(gast.Call(node.func, made, spread(node.keywords, self.lengths)), node)

    # --- calls that become statements, and calls that stay nested ----------------------------------------------------
    def bind_call(self, target: Callable[[], str], node: gast.Call) -> bool:
        static = self.scope.static_of(node.func)
        function = None if static is None else static.value
        if self.consumes(node):
            self._consume(target(), function, node)
            return True
        if is_one_of(function, list, tuple) and len(node.args) == 1 and not node.keywords:
            items = node.args[0]
            if function is tuple and not isinstance(items, gast.GeneratorExp) and not self._is_iterator(items):
                return False
            if isinstance(items, gast.GeneratorExp):
                listed = placed(gast.ListComp(items.elt, items.generators), node)
            else:
                name = self.fresh("v")
                generator = gast.comprehension(store(name, node), items, [], 0)
                listed = placed(gast.ListComp(load(name, node), [generator]), node)
                self.scope.locals.discard(name)
            made = listed if function is list else call_builtin("tuple", [self.value(listed)], node)
            self.bind(target(), made)
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
        return static is not None and is_one_of(static.value, enumerate, zip, map, reversed)

    def consumes(self, node: gast.Call) -> bool:
        static = self.scope.static_of(node.func)
        if static is None or not node.args:
            return False
        if static.value is next:
            return self._drawn_from(node) is not None
        if not isinstance(node.args[0], gast.GeneratorExp):
            return False
        return is_one_of(static.value, sum, any, all)

    def _drawn_from(self, node: gast.Call) -> gast.expr | None:
        """What ``next`` takes the first item of, where nothing else reads the iterator."""
        iterator = node.args[0]
        if len(node.args) > 2 or node.keywords:
            return None
        if isinstance(iterator, gast.GeneratorExp):
            several = len(iterator.generators) > 1  # ``break`` leaves one loop
            return placed(gast.ListComp(iterator.elt, iterator.generators), node) if several else iterator
        static = self.scope.static_of(iterator.func) if isinstance(iterator, gast.Call) else None
        if static is not None and static.value is iter and len(iterator.args) == 1:
            return iterator.args[0]
        return iterator if self.draws(iterator) else None

    def _first_of(self, items: gast.expr | None, node: gast.Call) -> gast.GeneratorExp:
        if isinstance(items, gast.GeneratorExp):
            return items
        name = self.fresh("item")
        self.scope.locals.discard(name)
        return placed(gast.GeneratorExp(load(name, node), [gast.comprehension(store(name, node), items, [], 0)]), node)

    def draws(self, node: gast.expr) -> bool:
        """Whether an expression makes an iterator that a loop can run through."""
        static = self.scope.static_of(node.func) if isinstance(node, gast.Call) else None
        return static is not None and is_one_of(static.value, enumerate, zip, map, reversed)

    def _consume(self, target: str, function: object, node: gast.Call) -> None:
        generator = self._first_of(self._drawn_from(node), node) if function is next else node.args[0]
        made = self.renamed(generator)
        start = node.args[1] if len(node.args) > 1 else None
        for keyword in node.keywords:
            start = keyword.value
        nothing = None if function is next else constant(0, node)
        first = nothing if start is None else self.value(start)
        reads = target in names_read(made)

        def write(name: str) -> None:
            if function is next:
                found = self.fresh("found")
                self.within(made, lambda: self.run(control.first(made, first, name, found)))
            elif function is sum:
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
            if is_one_of(static.value, *EFFECTS):
                raise self.refuse(node, f"a call of {spelled(node.func)}", "call it outside of the function")
            self.refuse_mutation(node, static.value)
            return False
        if isinstance(node.func, gast.Attribute):
            self.admit_method(node)
            return True
        if isinstance(node.func, gast.Call):
            self._refuse_making(node.func)
        return False

    def refuse_mutation(self, node: gast.Call, function: object) -> None:
        if is_one_of(function, *EFFECTS):
            raise self.refuse(node, f"a call of {spelled(node.func)}", "call it outside of the function")
        complaint = update_of_operands(node, function, self.scope.locals, self._is_nothing)
        if complaint is not None and not self.source.generated:
            raise self.refuse(node, *complaint)
        for keyword in node.keywords:
            if keyword.arg == "out" and not is_none(keyword.value):
                raise self.refuse(keyword.value, f"{spelled(node.func)} stores into an array", "use its result")
        if home_of(function) == "scipy":
            self._refuse_stores_of_scipy(node, function)

    def _is_nothing(self, node: gast.expr) -> bool:
        return is_none(node) or self.peek(node) == NONE

    def _refuse_stores_of_scipy(self, node: gast.Call, function: object) -> None:
        """``output=`` that is an array and no dtype, and ``overwrite_x=True``."""
        signature = signature_of(function)
        places = [] if signature is None else list(signature.parameters)
        given = [*zip(places, node.args, strict=False), *((keyword.arg, keyword.value) for keyword in node.keywords)]
        for name, value in given:
            known, constant = literal(value)
            static = self.scope.static_of(value)
            is_dtype = known or (static is not None and isinstance(static.value, type))
            if (name == "output" and not is_dtype) or ((name or "").startswith("overwrite_") and constant is not False):
                raise self.refuse(value, f"{spelled(node.func)} stores into an array", "use its result")
