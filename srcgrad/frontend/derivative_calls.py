"""Calls of derivatives inside of a differentiated function.

Enters: a call of ``grad(g)``, of a derivative made outside, of ``vjp`` or ``jvp``, of what ``jacobian``, ``hessian`` or
``hvp`` makes.  Leaves: calls of ``Derived`` functions, which are compiled like any other callee, what local functions
captured being passed to them; so a variable of the outer function is never taken for one of the inner derivative::

    jvp(g, (x, n), (v, None))      ->      jvp_g(x, n, v)
    hessian(g)(x)                  ->      columns = [jvp_grad_g(x, e)[1] for e in units(x)]; stacked, reshaped
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.derivatives import derived, derived_object, transform_of
from srcgrad.frontend.desugar.build import call, constant, load, placed, store, subscript
from srcgrad.frontend.function_values import FunctionValues
from srcgrad.frontend.normal_form import Call, Derived, Operation
from srcgrad.frontend.scope import Static
from srcgrad.rules.formula import literal, spelling
from srcgrad.syntax.globals import GlobalBinding, GlobalReference, of_runtime, reference

_UNITS = of_runtime(runtime.units)
_DENSE = ("jacobian", "hessian")


class DerivativeCalls(FunctionValues):
    """Calls of derivatives."""

    def derivative_call(self, function: object, node: gast.Call) -> tuple[gast.expr, Operation] | None:
        """A call of what is known to be a derivative, or a transformation that is called at once; else None."""
        made = function if isinstance(function, Derived) else derived_object(function)
        if made is not None:
            self.define_defaults(node.func)
            return self.derived_call(made, node)
        match transform_of(function):
            case "vjp":
                return self._vjp(node)
            case "jvp":
                return self._jvp(node)
        return None

    def derived_call(self, made: Derived, node: gast.Call) -> tuple[gast.expr, Operation]:
        if made.mode != "forward":
            return self.user_call(made, node, Static(made, None))
        count = len(node.args) - len(made.wanted)
        primals = placed(gast.Call(node.func, node.args[:count], node.keywords), node)
        expression, operation = self.user_call(made, primals, Static(made, None))
        assert isinstance(operation, Call) and isinstance(expression, gast.Call)
        tangents = [self.value(argument) for argument in node.args[count:]]
        whole = placed(gast.Call(expression.func, [*operation.arguments, *tangents], []), node)
        return whole, Call(operation.callee, (*operation.arguments, *tangents))

    def made_and_called(self, node: gast.Call) -> tuple[gast.expr, Operation] | None:
        """``jacobian(f)(x)``, ``hessian(f)(x)`` and ``hvp(f)(x, v)``."""
        maker = node.func
        assert isinstance(maker, gast.Call)
        static = self.scope.static_of(maker.func)
        kind = None if static is None else transform_of(static.value)
        if kind not in (*_DENSE, "hvp") or node.keywords:
            return None
        inner = None if not maker.args else self.scope.static_of(maker.args[0])
        self.define_defaults(maker.args[0] if inner is not None else maker)
        argnums = self._argnums(maker, 1)
        if inner is None or type(argnums) is not int or any(isinstance(a, gast.Starred) for a in node.args):
            return None
        function: object = inner.value
        if kind != "jacobian":
            function = derived("reverse", function, argnums)
        pushed = None if function is None else derived("forward", function, (argnums,))
        if pushed is None:
            return None
        arguments = [self._once(argument) for argument in node.args]
        head = reference(GlobalBinding("jvp", pushed))
        if kind == "hvp":
            return self.subscript(subscript(self.value(call(head, arguments, node)), constant(1, node), node))
        return self._derivative_columns(head, arguments, arguments[argnums], node)

    def _derivative_columns(
        self, head: GlobalReference, arguments: list[gast.expr], x: gast.expr, node: gast.Call
    ) -> tuple[gast.expr, Operation]:
        unit, columns = self.fresh("unit"), self.fresh("columns")
        self.scope.locals.discard(unit)
        column = subscript(call(head, [*arguments, load(unit, node)], node), constant(1, node), node)
        directions = call(reference(_UNITS), [x], node)
        self.bind(
            columns, placed(gast.ListComp(column, [gast.comprehension(store(unit, node), directions, [], 0)]), node)
        )
        listed = load(columns, node)
        stacked = call(spelling(np.stack), [listed, constant(-1, node)], node)
        first = subscript(listed, constant(0, node), node)
        shapes = [call(spelling(np.shape), [of], node) for of in (first, x)]
        shape = placed(gast.BinOp(shapes[0], gast.Add(), shapes[1]), node)
        return self.operation(call(spelling(np.reshape), [stacked, shape], node))

    def _once(self, argument: gast.expr) -> gast.expr:
        """An argument that may be written several times."""
        return argument if self.scope.static_of(argument) is not None else self.value(argument)

    def _vjp(self, node: gast.Call) -> tuple[gast.expr, Operation]:
        static = self.scope.static_of(node.args[0]) if node.args else None
        given = {keyword.arg for keyword in node.keywords}
        primals = list(node.args[1:])
        argnums = self._argnums(node, None) if "argnums" in given else tuple(
            j for j, primal in enumerate(primals) if self.scope.static_of(primal) is None
        )
        known = static is not None and not any(isinstance(primal, gast.Starred) for primal in primals)
        argnums = argnums if isinstance(argnums, tuple) else (argnums,)
        made = derived("split", static.value, argnums) if static is not None and known and None not in argnums else None
        if made is None:
            raise self._unknown_derivative(node, "vjp")
        self.define_defaults(node.args[0])
        keywords = [keyword for keyword in node.keywords if keyword.arg != "argnums"]
        inner = placed(gast.Call(node.args[0], primals, keywords), node)
        return self.derived_call(replace(made, tupled=True), inner)

    def _jvp(self, node: gast.Call) -> tuple[gast.expr, Operation]:
        match node:
            case gast.Call(
                args=[function, gast.Tuple(elts=primals) | gast.List(elts=primals), tangents], keywords=[]
            ) if isinstance(tangents, gast.Tuple | gast.List) and len(primals) == len(tangents.elts):
                static = self.scope.static_of(function)
                moving = [t for t in tangents.elts if not (isinstance(t, gast.Constant) and t.value is None)]
                argnums = tuple(j for j, t in enumerate(tangents.elts) if t in moving)
                made = None if static is None else derived("forward", static.value, argnums)
                starred = any(isinstance(part, gast.Starred) for part in (*primals, *tangents.elts))
                if made is not None and not starred:
                    self.define_defaults(function)
                    return self.derived_call(made, placed(gast.Call(function, [*primals, *moving], []), node))
        raise self._unknown_derivative(node, "jvp")

    def _unknown_derivative(self, node: gast.Call, name: str) -> Exception:
        return self.refuse(
            node,
            f"what {name} is asked for here is not known when this is compiled",
            "give it a function by its name, and its primals and tangents one by one",
        )

    def _argnums(self, node: gast.Call, position: int | None) -> Any:
        """The argnums of a transformation; None if they are not spelled out."""
        given = [keyword.value for keyword in node.keywords if keyword.arg == "argnums"]
        others = [keyword for keyword in node.keywords if keyword.arg != "argnums"]
        if position is not None:
            if others or len(node.args) > position + 1:
                return None
            given += node.args[position:]
        if not given:
            return 0
        known, value = literal(given[0])
        return value if known else None
