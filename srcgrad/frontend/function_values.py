"""Functions as values: kept in names and containers, chosen, returned, called where only the run tells which they are.

Enters: an expression that means a function.  Leaves: an atom for it, for a local function a ``Closure`` made of what it
captured; and calls of such values (``Dynamic``), whose derivative is found when the program runs::

    f = np.sin if n > 2 else lambda v: v * a    ->    if n > 2: f = np.sin
    return f(x)                                       else: f = closure(function, "", a)
                                                      return f(x)

A closure holds the values that its variables have when it is made.  Python reads them when it is called: where one of
them may be bound again in between, the program is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from types import ModuleType

import gast

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.classes import found, is_field, is_frozen
from srcgrad.frontend.desugar.build import constant, load, placed, tuple_of
from srcgrad.frontend.desugar.raising import RAISED_BY_COUNTS, is_count, may_catch
from srcgrad.frontend.known import Bag, Closed, Entries, Items, choices_of, instances_of
from srcgrad.frontend.names import Definition, free_names, surely_read
from srcgrad.frontend.normal_form import (
    Call,
    Callee,
    Copy,
    Derived,
    Dynamic,
    Fixed,
    Guarded,
    Held,
    LocalFunction,
    Operation,
    Pack,
    Unpack,
)
from srcgrad.frontend.objects import asked_of
from srcgrad.frontend.scope import Scope, Static, Variable, all_reached, closure_of, importable, local_in
from srcgrad.frontend.signatures import Signature, signature_of
from srcgrad.frontend.user_calls import Arguments, UserCalls
from srcgrad.language import effects
from srcgrad.syntax.globals import GlobalBinding, GlobalReference, of_runtime, reference
from srcgrad.syntax.parse import children, clone, walk

Place = tuple[int, int]
Extent = tuple[Place, Place]
_CLOSURE = of_runtime(runtime.closure)


class FunctionValues(UserCalls):
    """Functions that are computed with."""

    # --- values ------------------------------------------------------------------------------------------------------
    def function_value(self, static: Static, node: gast.expr) -> tuple[gast.expr, Operation]:
        function = static.value
        local = local_in(function)
        if isinstance(function, ModuleType):
            raise self.refuse(node, f"the module {function.__name__} is used as a value", "name what is read of it")
        if local is None and not isinstance(function, Derived):
            assert static.expression is not None
            return static.expression, Fixed()
        names: list[str] = []
        atoms: list[gast.expr] = []
        captured: list[Variable] = []
        if local is not None:
            self._refuse_late(local, node)
            for name, default in closure_of(local).defaults.items():
                names.append(name)
                atoms.append(self._default_atom(default, node))
            captured = list(closure_of(local).actual)
            if isinstance(function, Derived) and names:
                raise self.refuse(node, "the derivative of a function with defaults is used as a value", "call it here")
        atoms += [load(self.local(variable), node) for variable in captured]
        classes = () if local is None else self._classes_held(signature_of(local), names, atoms)
        callee = Callee(function, classes=classes)  # type: ignore[arg-type]
        return self.closure(callee, " ".join(names), atoms, len(captured), node)

    def bind_function(self, name: str, function: object, node: gast.AST) -> None:
        """Write ``name = function``, for None too."""
        if function is None:
            self.emit(name, constant(None, node), Fixed())
            return
        spelled = None if local_in(function) is not None else reference(importable(name, function))
        self.emit(name, *self.function_value(Static(function, spelled), load(name, node)))

    def closure(
        self, callee: Callee, names: str, atoms: list[gast.expr], captured: int, node: gast.AST
    ) -> tuple[gast.expr, Operation]:
        head = reference(GlobalBinding("function", Held(callee, captured)))
        elements = (head, constant(names, node), *atoms)
        return placed(gast.Call(reference(_CLOSURE), list(elements), []), node), Pack("tuple", elements)

    def generated_closure(self, node: gast.Call) -> tuple[gast.expr, Operation]:
        """``closure(function, names, ...)`` in our own output."""
        static = self.scope.static_of(node.args[0])
        assert static is not None
        names = node.args[1]
        assert isinstance(names, gast.Constant)
        atoms = [self.value(argument) for argument in node.args[2:]]
        defaults = names.value.split()
        count = len(atoms) - len(defaults)
        signature = signature_of(static.value)  # type: ignore[arg-type]
        signature = replace(signature, keyword_only=signature.keyword_only[: len(signature.keyword_only) - count])
        callee = Callee(static.value, classes=self._classes_held(signature, defaults, atoms))  # type: ignore[arg-type]
        return self.closure(callee, names.value, atoms, count, node)

    def _classes_held(
        self, signature: Signature, defaults: Sequence[str], atoms: Sequence[gast.expr]
    ) -> tuple[tuple[int, object], ...]:
        """Which objects a closure holds, by the parameters of its text: those with defaults, then what it captured."""
        parameters = signature.parameters
        places = [parameters.index(name) for name in defaults]
        places += range(len(parameters), len(parameters) + len(atoms) - len(defaults))
        return tuple(sorted(((places[j], known) for j, known in self.classes_of(atoms)), key=lambda held: held[0]))

    def _default_atom(self, default: Variable | Static | gast.Constant, node: gast.expr) -> gast.expr:
        match default:
            case Variable():
                return load(self.local(default), node)
            case Static():
                return self._atom_of(default, node)
        return default

    # --- calls -------------------------------------------------------------------------------------------------------
    def called_value(self, function: gast.expr, node: gast.Call) -> tuple[gast.expr, Operation]:
        """A call of a function that is known only when the program runs; ``function`` is an atom."""
        passed: list[gast.expr] = [function]
        printed: list[gast.expr] = []
        star: gast.expr | None = None
        for argument in node.args:
            if isinstance(argument, gast.Starred):
                if star is not None or argument is not node.args[-1]:
                    raise self.refuse(argument, "arguments after a starred one of a function not known yet")
                star = self.value(argument.value)
                printed.append(placed(gast.Starred(star, gast.Load()), argument))
            else:
                printed.append(self.value(argument))
                passed.append(printed[-1])
        count = len(passed) - 1
        passed += [] if star is None else [star]
        names: list[str] = []
        rest: gast.expr | None = None
        keywords: list[gast.keyword] = []
        for keyword in node.keywords:
            atom = self.value(keyword.value)
            keywords.append(placed(gast.keyword(keyword.arg, atom), keyword))
            if keyword.arg is None and (rest is not None or keyword is not node.keywords[-1]):
                raise self.refuse(keyword.value, "keywords after ** of a function that is not known yet")
            if keyword.arg is None:
                rest = atom
            else:
                names.append(keyword.arg)
                passed.append(atom)
        passed += [] if rest is None else [rest]
        shape = Dynamic(count, star is not None, tuple(names), rest is not None)
        return placed(gast.Call(function, printed, keywords), node), Call(Callee(shape), tuple(passed))

    def call_closed(self, atom: gast.Name, known: Closed, node: gast.Call) -> tuple[gast.expr, Operation]:
        """A call of a local function that is a value: what it holds is read off it."""
        part = self.fresh("function")
        self.emit(part, asked_of(runtime.made_of, atom, [known.function], node), Copy(atom.id, (known.function,)))
        assert isinstance(known.held, Items)
        assert known.held.items is not None
        names = tuple(self.fresh("c") for _ in known.held.items)
        if len(names) > 2:
            self.out.append(Unpack(names, part, self.span))
        local = known.function
        assert isinstance(local, LocalFunction)
        closure = closure_of(local)
        held = [Variable(self.scope, name) for name in names[2:]]
        count = len(held) - len(closure.actual)
        defaults = dict(zip(closure.defaults, held[:count], strict=True))
        moved = replace(closure, actual=tuple(held[count:]), defaults=defaults)
        return self.user_call(replace(local, scope=moved), node, Static(local, load(part, node)))

    def called_later(
        self, static: Static, arguments: Arguments, node: gast.Call, refusal: UnsupportedSyntax
    ) -> tuple[gast.expr, Operation]:
        values = [*arguments.positional, *arguments.named.values()]
        if self.source.generated or arguments.before < len(arguments.positional) and arguments.star is not None:
            raise refusal
        atoms = [self._atom_of(value, node) for value in values]
        given = atoms[: len(arguments.positional)]
        if arguments.star is not None:
            given.append(placed(gast.Starred(arguments.star, gast.Load()), node))
        named = zip(arguments.named, atoms[len(arguments.positional) :], strict=True)
        keywords = [placed(gast.keyword(name, atom), node) for name, atom in named]
        if arguments.rest is not None:
            keywords.append(placed(gast.keyword(None, arguments.rest), node))
        function = static.expression if local_in(static.value) is not None else None
        if function is None:
            function = self.held_operation(*self.function_value(static, node.func), node)
        return self.called_value(function, placed(gast.Call(function, given, keywords), node))

    def _atom_of(self, value: gast.expr | Static, node: gast.expr) -> gast.expr:
        return self.held_operation(*self.function_value(value, node), node) if isinstance(value, Static) else value

    # --- attempts ----------------------------------------------------------------------------------------------------
    def attempted(self, node: gast.Call) -> tuple[gast.expr, Operation]:
        """``attempt(function, (exceptions), ...)``, which ``try`` is taken apart into."""
        function, caught, *arguments = node.args
        static = self.scope.static_of(function)
        assert static is not None
        local = local_in(static.value)
        if local is not None and self._never_raises(local, caught.elts):
            *before, last = map(clone, local.node.body)
            given = constant(None, node)
            if isinstance(last, gast.Return):
                given = self.value(last.value)
            else:
                before.append(last)
            self.run(before)
            both = (given, constant(None, node))
            return tuple_of(list(both), node), Pack("tuple", both)
        passed = [self.value(argument) for argument in arguments]
        if local is not None:
            passed += [load(self.local(variable), node) for variable in closure_of(local).actual]
        kinds = tuple(kind for each in caught.elts for kind in self._exceptions(each))
        if local is not None and not any(issubclass(kind, NameError) for kind in kinds):
            self.require_assigned(name for name in surely_read(local.node) if not self.scope.is_marked(name.id))
        tried = self.scope.static_of(node.func)
        assert tried is not None
        guarded = Guarded(static.value, kinds, tried.value.__name__)  # type: ignore[arg-type,attr-defined]
        callee = Callee(guarded, classes=self.classes_of(passed))
        head = reference(GlobalBinding("attempt", callee))
        return placed(gast.Call(head, list(passed), []), node), Call(callee, tuple(passed))

    def begin_unset(self, node: gast.AST) -> None:
        """Begin with None for what a local function reads, which is passed it, and may have no value then: marks of
        functions and modules, and variables."""
        inside = [inner for inner in walk(*self.scope.body) if isinstance(inner, Definition)]
        for name in dict.fromkeys(name for inner in inside for name in free_names(inner)):
            if name in self.scope.locals and (self.scope.is_marked(name) or self.scope.begins_as_none(name)):
                self.emit(name, constant(None, node), Fixed())

    def require_assigned(self, names: Iterable[gast.Name]) -> None:
        """Read the variables among these that nothing may have bound yet, since facts may stand in for their reads, and
        look at the marks of functions and modules: Python raises where there is no value."""
        seen: set[str] = set()
        for node in names:
            owner = self.scope.owner(node.id)
            if owner is None or node.id in seen:
                continue
            is_early, variable = owner.is_early(node), Variable(owner, node.id)
            if owner.is_marked(node.id) and (is_early or variable in self.cells):
                self.look(runtime.require_defined, [load(self.local(variable), node), constant(node.id, node)], node)
            elif owner.begins_as_none(node.id) and (is_early or variable in self.cells):
                self.look(runtime.require_assigned, [load(self.local(variable), node), constant(node.id, node)], node)
            elif is_early and not owner.is_marked(node.id):
                self.look(runtime.require_assigned, [self.value(load(node.id, node))], node)
            else:
                continue
            seen.add(node.id)

    def _never_raises(self, part: LocalFunction, caught: Sequence[gast.expr]) -> bool:
        """Whether the one statement of an attempt is a change that a built-in container, or a field, always admits, or
        counts items, and what else may stand there raises nothing that is caught."""
        may_lack = may_catch(AttributeError, caught)
        match part.node:
            case gast.FunctionDef(body=[gast.Return(value=value)]) if is_count(value):
                return not any(may_catch(kind, caught) for kind in RAISED_BY_COUNTS) and not any(
                    self.is_object(node) for node in walk(value) if isinstance(node, gast.Name)
                )
            case gast.FunctionDef(
                body=[gast.Expr(value=gast.Call(func=gast.Attribute(value=gast.Name() as base, attr=attr), args=given))]
            ):
                plain = all(isinstance(argument, gast.Name | gast.Constant) for argument in given)
                # What an update reads of pairs of keys and values raises otherwise here, and would be caught.
                never = attr == "update" or not effects.method(attr).raises
                return plain and never and not self.is_object(base) and (not may_lack or self.is_container(base))
            case gast.FunctionDef(body=[gast.Assign(targets=[gast.Attribute(value=gast.Name() as base, attr=attr)])]):
                kinds = [known.kind for known in instances_of(self.peek(base))]
                return bool(kinds) and all(is_field(found(kind, attr)) and not is_frozen(kind) for kind in kinds)
        return False

    def is_container(self, node: gast.expr) -> bool:
        """Whether an expression is surely a container that was made here."""
        choices = list(choices_of(self.peek(node)))
        return bool(choices) and all(isinstance(choice, Bag | Entries | Items) for choice in choices)

    def _exceptions(self, node: gast.expr) -> Iterator[type[BaseException]]:
        static = self.scope.static_of(node)
        value: object = None if static is None else static.value
        if static is None and isinstance(node, gast.Name):
            meaning = self.scope.resolve(node.id, node)
            value = meaning.value if isinstance(meaning, GlobalBinding) else None
        for kind in value if isinstance(value, tuple) else (value,):
            if not (isinstance(kind, type) and issubclass(kind, BaseException)):
                raise self.refuse(
                    node, "which exceptions are caught here is not known when this is compiled", "name their classes"
                )
            yield kind

    # --- what is bound later -----------------------------------------------------------------------------------------
    def _refuse_late(self, function: LocalFunction, node: gast.AST) -> None:
        """Refuse a closure one of whose variables may be bound again after it is made.

        What a function that came as an argument reads is bound where that function is defined, which is earlier.
        """
        for variable in closure_of(function).variables:
            if variable.name in self.open and variable.scope is self.scope:
                self._late(variable.name, node)
            at = node if variable.scope is self.scope else function.node
            if is_bound_after(variable, at, same=variable.scope is self.scope):
                self._late(variable.name, node)
        for inner in all_reached(function):
            home = closure_of(inner)
            for variable in home.variables:
                if is_bound_after(variable, inner.node, same=variable.scope is home.scope, of_itself=True):
                    self._late(variable.name, node)

    def _late(self, name: str, node: gast.AST) -> None:
        raise self.refuse(
            node,
            f"a function that reads {name!r} is kept as a value, and {name!r} may be bound again before it is called",
            f"give it the present value as a default: lambda ..., {name}={name}: ...",
            label="it reads the variable when it is called",
        )


def is_bound_after(variable: Variable, at: gast.AST, *, same: bool, of_itself: bool = False) -> bool:
    """Whether a variable may be bound after ``at`` has run; ``same``: where ``at`` stands in the variable's scope.

    ``of_itself``: what ``at`` is decorated with may bind the variable to what it makes of it.
    """
    places = list(_bindings_of(variable.name, variable.scope))
    if not same:  # it may run at any time
        return len(places) + (variable.name in variable.scope.parameters) > 1 or any(loops for _, loops in places)
    line = getattr(at, "lineno", None)
    if line is None:
        return len(places) > 1
    here = (line, getattr(at, "col_offset", 0))
    end = (getattr(at, "end_lineno", line), getattr(at, "end_col_offset", 0))
    for place, loops in places:
        if place > end or of_itself and place == end:
            return True
        if any(first <= here <= last for first, last in loops):
            return True
    return False


def _bindings_of(name: str, scope: Scope) -> Iterator[tuple[Place, tuple[Extent, ...]]]:
    """Where a name is bound: the end of what binds it, and the extents of the loops around that."""
    pending: list[tuple[gast.AST, tuple[Extent, ...], Place]] = [(s, (), (0, 0)) for s in scope.body]
    while pending:
        node, loops, end = pending.pop()
        match node:
            case gast.FunctionDef():
                if node.name == name:
                    yield _extent(node)[1], loops
                continue
            case gast.Lambda():
                continue
            case gast.For() | gast.While():
                loops, end = (*loops, _extent(node)), _extent(node)[0]
            case gast.If() | gast.With() | gast.Match() | gast.Try():
                end = _extent(node)[0]
            case gast.stmt():
                end = _extent(node)[1]
            case gast.Name(id=found, ctx=gast.Store() | gast.Del()) if found == name:
                yield end, loops
        pending += [(child, loops, end) for child in children(node) if not isinstance(child, GlobalReference)]


def _extent(node: gast.AST) -> Extent:
    first = (getattr(node, "lineno", None) or 0, getattr(node, "col_offset", None) or 0)
    return first, (getattr(node, "end_lineno", None) or first[0], getattr(node, "end_col_offset", None) or first[1])
