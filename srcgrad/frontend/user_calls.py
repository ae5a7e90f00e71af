"""Calls of user functions: arguments bound as Python binds them, functions among them fixed.

Enters: a call whose callee is a function with source, or a local function.  Leaves: ``Call`` with one atom for every
parameter of the callee's normal form, what local functions captured last::

    helper(*xs, act=np.tanh)     ->     t, t2 = xs;  helper(t, t2)        Callee(helper, act=np.tanh)
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType

import gast

from srcgrad import runtime
from srcgrad.errors import LanguageError, UnsupportedSyntax
from srcgrad.frontend.callees import spelled, without_cache
from srcgrad.frontend.desugar.build import call_builtin, constant, load, placed
from srcgrad.frontend.dicts import Dicts
from srcgrad.frontend.folding import Initialiser, is_foldable
from srcgrad.frontend.known import NONE, PLAIN, Blurred, Items, Value, matters
from srcgrad.frontend.names import surely_read
from srcgrad.frontend.normal_form import Call, Callee, Derived, Dynamic, LocalFunction, Operation, Pack, Unpack, Unruled
from srcgrad.frontend.scope import Static, Variable, closure_of, holders, importable, local_in
from srcgrad.frontend.signatures import Default, Signature, attribute_parameters, called_parameters, signature_of
from srcgrad.frontend.spreading import spread
from srcgrad.frontend.telling import cut
from srcgrad.syntax.globals import GlobalBinding, GlobalReference, reference


@dataclass
class Arguments:
    """The evaluated arguments of one call."""

    positional: list[gast.expr | Static] = field(default_factory=list)
    star: gast.Name | None = None  # *xs of unknown length, and how many positional arguments precede it
    before: int = 0
    named: dict[str, gast.expr | Static] = field(default_factory=dict)
    rest: gast.expr | None = None  # **d of unknown keys


class Undecided(Exception):
    """Which parameters get which arguments is known only when the program runs."""

    def __init__(self, refusal: UnsupportedSyntax) -> None:
        super().__init__()
        self.refusal = refusal


class UserCalls(Dicts):
    """Calls of functions with source."""

    def user_call(
        self, function: FunctionType | LocalFunction | Derived, node: gast.Call, static: Static
    ) -> tuple[gast.expr, Operation]:
        signature = signature_of(function)
        arguments = self._evaluated(node)
        try:
            bound, packed = self._bound(signature, arguments, node)
        except Undecided as undecided:
            return self.called_later(static, arguments, node, undecided.refusal)
        statics: list[tuple[str, object]] = []
        passed: list[gast.expr] = []
        places: list[str] = []
        carried: list[Variable] = []
        for parameter in signature.parameters:
            argument = bound[parameter]
            if is_none(argument) and parameter in called_parameters(function):
                statics.append((parameter, None))
            elif isinstance(argument, Static):
                statics.append((parameter, argument.value))
                local = local_in(argument.value)
                if local is not None:
                    carried += holders(closure_of(local))
            else:
                passed.append(argument)
                places.append(parameter)
        if isinstance(static.value, functools._lru_cache_wrapper) and passed:
            if signature.keywords in places:
                raise self.refuse(node, "what is remembered of **keywords", "name the parameters of the function")
            self.look(runtime.require_hashed, passed, node)
        local = local_in(function)
        own = [] if local is None else list(closure_of(local).actual)
        read = set() if local is None else {name.id for name in surely_read(local.node)}
        for variable in own:
            if variable.scope is self.scope and self.scope.is_captured_early(variable.name) and variable.name in read:
                named = [constant(variable.name, node)] if self.scope.begins_as_none(variable.name) else []
                self.look(runtime.require_assigned, [load(variable.name, node), *named], node)
        passed += [load(self.local(variable), node) for variable in [*own, *carried]]
        looked_into = attribute_parameters(function)
        nones = frozenset(j for j, parameter in enumerate(places) if parameter in looked_into)
        callee = Callee(function, tuple(statics), tuple(packed.items()), self.classes_of(passed, nones))
        self._refuse_wrapping(callee, node)
        return self._printed(node, static, callee, signature, arguments, passed), Call(callee, tuple(passed))

    def called_later(
        self, static: Static, arguments: Arguments, node: gast.Call, refusal: UnsupportedSyntax
    ) -> tuple[gast.expr, Operation]:
        """A call that is bound when the program runs; ``refusal`` where it cannot be."""
        raise NotImplementedError

    def classes_of(
        self, passed: Sequence[gast.expr], nones: frozenset[int] = frozenset()
    ) -> tuple[tuple[int, object], ...]:
        """Which of the arguments are objects, or hold some; ``nones``: where it matters that one is None or empty."""
        known = [(j, self.table.settled(self.table.enriched(self.known_atom(atom)))) for j, atom in enumerate(passed)]
        known = [(j, self.table.seen_through(each) if isinstance(each, Blurred) else each) for j, each in known]
        told = [(j, cut(each)) for j, each in known if each != PLAIN and (j in nones or not isinstance(each, Value))]
        decides = any(
            matters(each) or isinstance(each, Blurred) or each == NONE or j in nones and isinstance(each, Items)
            for j, each in told
        )
        return tuple(told) if decides else ()

    # --- objects -----------------------------------------------------------------------------------------------------
    def arguments_of(
        self, function: FunctionType, node: gast.Call, skipped: int, defaults: dict[str, gast.expr]
    ) -> dict[str, gast.expr | Static]:
        signature = signature_of(function)
        signature = replace(signature, positional=signature.positional[skipped:], positional_only=0)
        arguments = self._evaluated(node)
        given = {*signature.positional[: len(arguments.positional)], *arguments.named}
        if arguments.star is None and arguments.rest is None:
            arguments.named |= {name: self.value(node) for name, node in defaults.items() if name not in given}
        try:
            return self._bound(signature, arguments, node)[0]
        except Undecided as undecided:
            raise undecided.refusal from None

    def initialise(self, made: Initialiser, node: gast.Call) -> tuple[gast.expr, Operation]:
        if not is_foldable(made):
            return self.initialised(made, node)
        signature = signature_of(made.function)
        own, this = signature.positional[1:], () if signature.positional_only else signature.positional[:1]
        signature = replace(signature, positional=(*made.given, *own), positional_only=0)
        arguments = self._evaluated(node)
        for name in arguments.named.keys() & this:
            raise self.refuse(node, f"{signature.name} is given two values for {name!r}")
        bound, packed = self._bound(signature, arguments, node)
        statics: list[tuple[str, object]] = []
        passed: list[gast.expr] = []
        for parameter in signature.parameters:
            argument = bound[parameter]
            if isinstance(argument, Static) and argument.value is not None and argument.expression is not None:
                statics.append((parameter, argument.value))
            else:
                passed.append(self._atom(argument, node))
        classes = self.classes_of(passed, frozenset(range(len(passed))))
        callee = Callee(made.function, tuple(statics), tuple(packed.items()), classes, made)
        head = reference(GlobalBinding(made.kind.__name__, callee))
        return placed(gast.Call(placed(head, node.func), list(passed), []), node), Call(callee, tuple(passed))
    def library_call(
        self, function: FunctionType, node: gast.Call, static: Static
    ) -> tuple[gast.expr, Operation]:
        """A call of a library's function without a rule: read like a user's, and run as it is where it cannot be read
        and nothing that it is given varies."""
        from srcgrad.frontend.readable import why_not  # it normalizes, as this does

        expression, operation = self.user_call(function, node, static)
        refused: LanguageError | None = None
        if isinstance(operation, Call) and isinstance(operation.callee.function, Dynamic):
            refused = self.refuse(node, "what * or ** passes on here is not known when this is compiled")
        elif isinstance(operation, Call):
            refused = why_not(operation.callee)
        if refused is None:
            return expression, operation
        assert isinstance(operation, Call)
        assert isinstance(expression, gast.Call)
        if isinstance(expression.func, GlobalReference) and expression.func.binding.value is operation.callee:
            expression = self._by_name(signature_of(function), operation, static, node, refused)
        made = self.unruled(node, expression, spelled(node.func), function)
        if isinstance(made, Unruled):
            place = "" if refused.span is None else f" ({refused.span.place})"
            made.refusal.hint = f"{made.refusal.hint}\nit cannot be read: {refused.reason.splitlines()[0]}{place}"
        return expression, made

    def _by_name(
        self, signature: Signature, operation: Call, static: Static, node: gast.Call, refused: LanguageError
    ) -> gast.expr:
        """The call with every argument under its parameter's name, functions among them included."""
        fixed = dict(operation.callee.statics)
        spelled = {
            name: constant(None, node) if value is None else reference(importable(name, value))
            for name, value in fixed.items()
            if not isinstance(value, LocalFunction)
        }
        variadic = {signature.variadic, signature.keywords} - {None}
        if variadic or len(spelled) < len(fixed) or static.expression is None:
            raise refused
        rest = iter(operation.arguments)
        given = {name: spelled[name] if name in spelled else next(rest) for name in signature.parameters}
        first = signature.parameters[: signature.positional_only]
        named = [placed(gast.keyword(name, given[name]), node) for name in signature.parameters if name not in first]
        return placed(gast.Call(static.expression, [given[name] for name in first], named), node)

    def _refuse_wrapping(self, callee: Callee, node: gast.AST) -> None:
        functions = [callee.function, *(value for _, value in callee.statics)]
        local = [found for f in functions if (found := local_in(f)) is not None]
        if any(closure_of(f).depth > 16 for f in local):
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
        if static.expression is not None and plain and callee.function is without_cache(static.value):
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
            length = self.known_length(argument.value)
            if length is not None:
                made.positional += self.unpacked(argument.value, length, argument)
                continue
            source = self.value(argument.value)
            if made.star is not None or not isinstance(source, gast.Name):
                raise self.refuse(argument, "two starred arguments of unknown length", "pass the values one by one")
            made.star, made.before = source, len(made.positional)
        for keyword in spread(node.keywords, self.lengths):
            if keyword.arg is not None:
                made.named[keyword.arg] = self._argument(keyword.value)
            elif made.rest is None:
                made.rest = self.value(keyword.value)
            else:
                raise self.refuse(keyword.value, "two ** arguments of unknown keys", "pass the values one by one")
        return made

    def named_keywords(self, node: gast.Call) -> list[gast.keyword]:
        made = spread(node.keywords, self.lengths)
        if any(keyword.arg is None for keyword in made):
            raise self.refuse(
                node, "which keywords ** passes on is not known when this is compiled", "pass them one by one"
            )
        return made

    def _argument(self, node: gast.expr) -> gast.expr | Static:
        static = self.scope.static_of(node)
        if static is not None:
            self.define_defaults(node)
            return static
        known = self.peek(node)
        if isinstance(known, Value) and known.value is not None:
            return Static(known.value, reference(importable(getattr(known.value, "__name__", "function"), known.value)))
        return self.value(node)

    def known_length(self, node: gast.expr) -> int | None:
        length = self.lengths.get(node.id) if isinstance(node, gast.Name) else None
        return length if isinstance(length, int) else None

    def unpacked(self, node: gast.expr, count: int, at: gast.AST) -> list[gast.expr]:
        source = self.value(node)
        assert isinstance(source, gast.Name)
        names = [self.fresh() for _ in range(count)]
        if names:
            self.out.append(Unpack(tuple(names), source.id, self.span))
        return [load(name, at) for name in names]

    # --- binding -----------------------------------------------------------------------------------------------------
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
            else:
                whole = self.value(call_builtin("tuple", [whole], node))
            bound[signature.variadic] = whole
        self._bind_named(signature, arguments, bound, known, node)
        for parameter in signature.parameters:
            if parameter not in bound:
                bound[parameter] = self._default_of(signature, parameter, node)
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
                raise Undecided(
                    self.refuse(
                        node, "which keywords ** passes on is not known when this is compiled", "pass them one by one"
                    )
                )
            bound[signature.keywords] = self.value(placed(gast.Dict([None], [arguments.rest]), node))
        elif signature.keywords is not None:
            known[signature.keywords] = tuple(others)
            bound[signature.keywords] = self._packed(list(others.values()), "dict", node, tuple(others))

    def _spread(
        self, signature: Signature, arguments: Arguments, node: gast.Call
    ) -> tuple[list[gast.expr | Static], gast.expr | None]:
        """``f(a, *xs, b)``: the positional arguments that a fixed arity makes of it, and what is ``*args`` whole."""
        assert arguments.star is not None
        before, after = arguments.positional[: arguments.before], arguments.positional[arguments.before :]
        rest = [p for p in signature.positional[len(before) :] if p not in arguments.named]
        if signature.variadic is not None and not rest and not after:
            extra = before[len(signature.positional) :]
            return before[: len(signature.positional)] + extra, arguments.star
        if any(p in signature.defaults for p in rest):
            raise Undecided(
                self.refuse(
                    node,
                    f"how many arguments * passes to {signature.name} is not known when this is compiled",
                    "pass them one by one",
                )
            )
        names = [self.fresh() for _ in range(len(rest) - len(after))]
        if signature.variadic is not None:
            if after:
                raise self.refuse(node, "arguments after a starred argument", "pass them one by one")
            star = self.fresh()
            self._look_how_many(arguments.star.id, len(names), signature.name, node, is_rest=True)
            self.out.append(Unpack((*names, star), arguments.star.id, self.span, star=len(names)))
            return [*before, *(load(name, node) for name in names)], load(star, node)
        if names:
            self._look_how_many(arguments.star.id, len(names), signature.name, node)
            self.out.append(Unpack(tuple(names), arguments.star.id, self.span))
        return [*before, *(load(name, node) for name in names), *after], None

    def _look_how_many(self, star: str, count: int, name: str, node: gast.AST, *, is_rest: bool = False) -> None:
        given = [load(star, node), *(constant(value, node) for value in (count, name, is_rest))]
        self.look(runtime.require_given, given, node)

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

    def _default_of(self, signature: Signature, parameter: str, node: gast.Call) -> gast.expr | Static:
        default: Default | None = signature.defaults.get(parameter)
        match default:
            case None:
                raise self.refuse(node, f"{signature.name} is not given its argument {parameter!r}")
            case Variable():
                return load(self.local(default), node)
            case GlobalBinding():
                return self.held(placed(reference(default), node))
        return default


def is_none(node: object) -> bool:
    return isinstance(node, gast.Constant) and node.value is None
