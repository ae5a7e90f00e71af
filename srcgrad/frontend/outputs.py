"""NumPy's functions and methods that put their results into an array that they are given.

Enters: calls with outputs.  Leaves: ``Store`` of what the same call without them makes::

    np.add(x, y, out=w)          t = np.add(x, y);  w[...] = t               its value is w
    np.sin(x, out=w, where=m)    w[m] = np.sin(x[m])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.callees import is_inert, spelled
from srcgrad.frontend.desugar.build import call_runtime, constant, load, placed, subscript
from srcgrad.frontend.normal_form import Copy, Effect, Pack, Store
from srcgrad.frontend.scope import Static
from srcgrad.frontend.spreading import spread
from srcgrad.frontend.stores import Stores
from srcgrad.frontend.user_calls import is_none
from srcgrad.rules.calling import UnsupportedCall, signature_of
from srcgrad.rules.formula import literal
from srcgrad.rules.outputs import WITHOUT_OUTPUT, output_of, position_of_output, takes_output
from srcgrad.rules.table import lookup, method
from srcgrad.syntax.parse import walk


class Outputs(Stores):
    """Calls that store their results."""

    def outputs(self, node: gast.Call) -> list[gast.expr | None] | None:
        """What a call of a library function stores its results into; None if it makes new ones."""
        if not node.args and not node.keywords:
            return None
        node = self._displayed(node)
        named = [k.value for k in node.keywords if k.arg == "out"]
        function, static = self._called(node)
        if not named:
            if function is np.nan_to_num and static is not None and _is_false(node, "copy"):
                return [node.args[0]] if node.args else None
            position = self._place_of_output(node, function, static is None)
            named = [] if position is None else list(node.args[position:])
            if named and isinstance(function, np.ufunc):  # every argument after its operands is an output
                if len(named) > function.nout:
                    what = f"{spelled(node.func)} takes {function.nin} operands and {function.nout} outputs"
                    raise self.refuse(node, f"{what}, {len(node.args)} arguments are given")
                named += [constant(None, node)] * (function.nout - len(named))  # the others are new arrays
            else:
                named = named[:1]
        if not named or not self._is_ruled(function):
            return None
        if len(named) == 1 and isinstance(named[0], gast.Tuple):
            named = list(named[0].elts)
        found = [None if is_none(one) else one for one in named]
        return found if any(one is not None for one in found) else None

    def _called(self, node: gast.Call) -> tuple[object, Static | None]:
        """The function that a call or a method means, and what its text names."""
        static = self.scope.static_of(node.func)
        if static is None and isinstance(node.func, gast.Attribute):
            return method(node.func.attr), None
        return (None if static is None else static.value), static

    def _displayed(self, node: gast.Call) -> gast.Call:
        """``f(*(a, b), **{"out": c})`` as ``f(a, b, out=c)``."""
        if not _is_starred(node):
            return node
        arguments: list[gast.expr] = []
        for argument in node.args:
            value = argument.value if isinstance(argument, gast.Starred) else None
            arguments += value.elts if isinstance(value, gast.Tuple | gast.List) else [argument]
        return placed(gast.Call(node.func, arguments, spread(node.keywords, self.lengths)), node)

    def hides_output(self, node: gast.Call) -> bool:
        """Whether ``*`` or ``**`` of a call may give an array that it stores its result into."""
        node = self._displayed(node)
        function, static = self._called(node)
        if not _is_starred(node) or not self._is_ruled(function) or not takes_output(function):
            return False
        lengths = [self.known_length(a.value) if isinstance(a, gast.Starred) else 1 for a in node.args]
        if None not in lengths and all(keyword.arg is not None for keyword in node.keywords):
            position = position_of_output(function, sum(filter(None, lengths)))
            if position is None or sum(filter(None, lengths)) <= position - (static is None):
                return False
        if lookup(function) is None:
            raise self.refuse(node, f"what {spelled(node.func)} is given here may be out=", "write its arguments out")
        return True

    def _is_ruled(self, function: object) -> bool:
        return function is not None and (lookup(function) is not None or is_inert(function))

    @staticmethod
    def _place_of_output(node: gast.Call, function: object, is_method: bool) -> int | None:
        """The position of ``out`` where that many arguments are given."""
        position = position_of_output(function, len(node.args))
        if position is not None and is_method:
            position -= 1
        starred = any(isinstance(argument, gast.Starred) for argument in node.args)
        return position if position is not None and not starred and position < len(node.args) else None

    def stores_result(self, node: gast.Call) -> bool:
        return self.outputs(node) is not None or self.hides_output(node)

    def _stored_result(self, node: gast.Call, *, wanted: bool = True) -> gast.expr:
        """Write a call with outputs; its value is the output, or the tuple of outputs if that is ``wanted``."""
        node = self._displayed(node)
        outputs = self.outputs(node)
        assert outputs is not None
        node, found = self._in_order(node, outputs)
        plain, where = self._without_outputs(node)
        bases = [None if o is None else found.get(id(o)) or self.stored_into(o) for o in outputs]
        if where is not None:
            return self._store_where(node, plain, where, bases)
        results = self.value(plain)
        if len(bases) == 1 and not self._has_several(plain):
            assert bases[0] is not None
            self._check_output(node, bases[0], results, wanted=wanted)
            self._put(bases[0], constant(Ellipsis, node), results)
            return load(bases[0], node)
        parts: list[gast.expr] = []
        for j, base in enumerate(bases):
            part = self.value(subscript(results, constant(j, node), node))
            parts.append(part if base is None else load(base, node))
            if base is not None:
                self._check_output(node, base, part, alone=None in bases)
                self._put(base, constant(Ellipsis, node), part)
        if not wanted:
            return parts[0]
        packed = self.fresh()
        self.emit(packed, placed(gast.Tuple(parts, gast.Load()), node), Pack("tuple", tuple(parts)))
        return load(packed, node)

    def _in_order(
        self, node: gast.Call, outputs: Sequence[gast.expr | None]
    ) -> tuple[gast.Call, dict[int, str]]:
        """The call with what is given to it evaluated as far as calls among that may change what comes after, or what
        came before; and the names of the outputs that were found on the way, by the ``id`` of what spells them."""
        expressions = [*node.args, *(keyword.value for keyword in node.keywords)]
        bound = {part.target.id for part in walk(*expressions) if isinstance(part, gast.NamedExpr)}
        mentions = [part.id for part in walk(*expressions) if isinstance(part, gast.Name) and part.id in bound]
        if len(mentions) > len(bound):
            what = "a name is bound and read among what is given to a call with outputs"
            raise self.refuse(node, what, "bind it before")
        static = self.scope.static_of(node.func)
        if static is None:
            expressions.insert(0, node.func.value)
        last = max((j for j, e in enumerate(expressions) if any(isinstance(n, gast.Call) for n in walk(e))), default=-1)
        found: dict[int, str] = {}
        if last < 0:
            return node, found
        varied = self._varied_of(node)
        done: dict[int, gast.expr] = {}
        for expression in expressions[: last + 1]:
            parts = [part for part in walk(expression) if any(part is output for output in outputs)]
            for output in parts:
                found[id(output)] = self.stored_into(output)
                done[id(output)] = load(found[id(output)], output)  # of np.nan_to_num, an operand too
            if not parts and not self._is_still(expression):
                known = id(expression) in varied
                done[id(expression)] = self.value(expression) if known else self.held(self.settle(expression))
        func = node.func
        if static is None and id(func.value) in done:
            func = placed(gast.Attribute(done[id(func.value)], func.attr, gast.Load()), func)
        arguments = [done.get(id(argument), argument) for argument in node.args]
        keywords = [gast.keyword(keyword.arg, done.get(id(keyword.value), keyword.value)) for keyword in node.keywords]
        return placed(gast.Call(func, arguments, keywords), node), found

    def _varied_of(self, node: gast.Call) -> set[int]:
        """The ``id`` of every expression that a derivative goes through."""
        plain, _ = self._without_outputs(node)
        static = self.scope.static_of(plain.func)
        function = method(plain.func.attr) if static is None else static.value
        rule = lookup(function)
        receiver = [plain.func.value] if static is None else []
        if rule is None:
            return set(map(id, receiver))
        words = {keyword.arg: keyword.value for keyword in plain.keywords if keyword.arg is not None}
        try:
            bound = rule.bind(function, [*receiver, *plain.args], words)
        except UnsupportedCall as error:
            raise self.refuse(plain, str(error)) from None
        return {id(part) for name, given in bound.items() if name in rule.sensitive for part in walk(given)}

    def _is_still(self, node: gast.expr) -> bool:
        """Whether this is the same whenever it is evaluated: a constant, a name, or what is known of a module."""
        if isinstance(node, gast.Tuple | gast.List):
            return all(map(self._is_still, node.elts))
        if isinstance(node, gast.UnaryOp):
            return isinstance(node.operand, gast.Constant)
        if isinstance(node, gast.Attribute):
            return self.scope.static_of(node.value) is not None
        return isinstance(node, gast.Constant | gast.Name)

    def _check_output(
        self, node: gast.Call, base: str, made: gast.expr, *,
        masked: bool = False, alone: bool = False, wanted: bool = False,
    ) -> None:
        """A store may repeat and cast what it stores where NumPy refuses an output of that shape or dtype; results
        beside an output that is given ``alone`` would have its shape."""
        static = self.scope.static_of(node.func)
        function = method(node.func.attr) if static is None else static.value
        casting, exact = output_of(function)
        given = [keyword.value for keyword in node.keywords if keyword.arg == "casting"]
        word = self.settle(given[0]) if given else constant(casting, node)
        exact = f"axes {exact}" if wanted and casting == "equiv" else exact  # np.dot returns a number
        shape = constant(None if masked else "alone" if alone else exact, node)
        check = call_runtime(runtime.require_output, [load(base, node), made, word, shape], node)
        self.out.append(Effect(placed(gast.Expr(check), node), self.span))

    def _has_several(self, node: gast.Call) -> bool:
        static = self.scope.static_of(node.func)
        return static is not None and isinstance(static.value, np.ufunc) and static.value.nout > 1

    def _without_outputs(self, node: gast.Call) -> tuple[gast.Call, gast.expr | None]:
        """The call that makes new results, and the ``where`` of a ufunc."""
        static = self.scope.static_of(node.func)
        function = method(node.func.attr) if static is None else static.value
        words = getattr(None if static is None else signature_of(function), "parameters", None)
        takes = words is None or "out" in words or any(p.kind is p.VAR_KEYWORD for p in words.values())
        if function is not np.nan_to_num and (not takes or function in WITHOUT_OUTPUT):
            raise self.refuse(node, f"{spelled(node.func)} does not store into out=", "store its result: y[...] = ...")
        dropped = {"out", "copy"} if function is np.nan_to_num else {"out"}
        where = None
        if isinstance(function, np.ufunc):
            dropped.add("where")
            where = next((k.value for k in node.keywords if k.arg == "where" and not is_true(k.value)), None)
        position = None
        if not any(k.arg == "out" for k in node.keywords):
            position = self._place_of_output(node, function, static is None)
        arguments = list(node.args if position is None else node.args[:position])
        if position is not None and not isinstance(function, np.ufunc) and len(node.args) > position + 1:
            arguments += [constant(None, node), *node.args[position + 1 :]]
        keywords = [k for k in node.keywords if k.arg not in dropped]
        return placed(gast.Call(node.func, arguments, keywords), node), where

    def _store_where(
        self, node: gast.Call, plain: gast.Call, where: gast.expr, bases: Sequence[str | None]
    ) -> gast.expr:
        """A ufunc that computes some of the elements: the others keep what they held, and have no partials."""
        if len(bases) != 1 or bases[0] is None or self._has_several(plain):
            raise self.refuse(node, "where= of a ufunc of several results cannot be reversed", "store under a mask")
        base = bases[0]
        operands = [self.value(argument) for argument in plain.args]
        mask = self._held(call_runtime(runtime.where_places, [load(base, node), where], node))
        chosen = [
            o if isinstance(o, gast.Constant) else call_runtime(runtime.at_mask, [o, mask], node) for o in operands
        ]
        made = self.value(placed(gast.Call(plain.func, chosen, plain.keywords), node))
        self._check_output(node, base, made, masked=True)
        self._put(base, mask, made)
        return load(base, node)

    def bind_call(self, target: Callable[[], str], node: gast.Call) -> bool:
        if self.outputs(node) is not None:
            value = self._stored_result(node)
            assert isinstance(value, gast.Name)
            self.emit(target(), value, Copy(value.id))
            return True
        return super().bind_call(target, node)

    # --- small parts -------------------------------------------------------------------------------------------------
    def _put(self, base: str, index: gast.expr, value: gast.expr) -> None:
        self.require_no_object(base, value)
        self.out.append(Store(base, index, value, self.span))

    def _held(self, expression: gast.expr) -> gast.expr:
        """A name for an expression without a derivative, which is evaluated once."""
        return self.held(self.settle(expression))


def is_true(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) and node.value is True


def _is_false(node: gast.Call, name: str) -> bool:
    return any(k.arg == name and literal(k.value) == (True, False) for k in node.keywords)


def _is_starred(node: gast.Call) -> bool:
    """Whether a call has ``*`` or ``**``."""
    return any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
