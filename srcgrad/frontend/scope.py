"""Names: which are local, which are captured, which are known while compiling.

Enters: a function's tree, its desugared body, and the scope around it.  Leaves: a ``Scope`` that resolves every name to
a ``Variable`` (a local of this or an enclosing function), a ``Static`` (a module or a callable, known while compiling)
or a ``GlobalBinding`` (data)::

    def f(x, a):
        g = np.sin                      g      Static np.sin: bound once, to a callable
        h = lambda y: g(y) * a          h      Static LocalFunction that captures Variable a
        return h(x) + SCALE             SCALE  GlobalBinding
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from types import MethodType, ModuleType
from typing import TypeAlias

import gast
import numpy as np

from srcgrad.errors import UnresolvedName
from srcgrad.frontend.callables import is_callee
from srcgrad.frontend.derivatives import derived_by, transform_of
from srcgrad.frontend.names import (
    Definition,
    bindings,
    body_of,
    default_values,
    free_names,
    names_of,
    parts_of_scope,
)
from srcgrad.frontend.normal_form import Derived, Guarded, LocalFunction
from srcgrad.frontend.source import Source
from srcgrad.frontend.unassigned import Unassigned, place_of, unassigned_in
from srcgrad.rules.table import is_constant, lookup, refusal
from srcgrad.runtime.written import written
from srcgrad.syntax.globals import GlobalBinding, GlobalReference, public_home, reference
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import parameters_of, walk


@dataclass(frozen=True)
class Variable:
    """A name of one activation of a function."""

    scope: Scope
    name: str


@dataclass(frozen=True, eq=False)
class Static:
    """A module or callable known while compiling, or a parameter known to be None in place of one.

    ``expression`` spells it; a local function has no spelling.
    """

    value: object
    expression: gast.expr | None


Meaning: TypeAlias = Variable | Static | GlobalBinding


@dataclass(frozen=True, eq=False)
class Closure:
    """What a local function needs besides its text.

    ``variables`` are what it captures, by their lexical homes; ``actual`` says where the holder of the function finds
    them now: they differ once the function has been passed on as an argument.  ``reached`` are the local functions that
    came as arguments, or are differentiated, inside of it.  Two closures are equal when they share the definition and
    the callables fixed in it, so that their derivatives are one text.
    """

    scope: Scope
    key: tuple[object, ...]
    variables: tuple[Variable, ...]
    actual: tuple[Variable, ...]
    defaults: Mapping[str, Variable | Static | gast.Constant]
    depth: int
    reached: tuple[LocalFunction, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Closure) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def _static(value: object, expression: gast.expr) -> Static:
    """A callable under its name; in the place of some of the standard library's, what is read for them."""
    instead = written(value)
    if instead is None or lookup(value) is not None or is_constant(value):
        return Static(value, expression)
    return Static(instead, expression)


# --- scopes ----------------------------------------------------------------------------------------------------------
@dataclass(eq=False)
class Scope:
    """The names of one function while it is compiled."""

    source: Source
    node: Definition
    body: list[gast.stmt]
    parent: Scope | None = None
    fixed: Mapping[str, object] = field(default_factory=dict)  # parameters whose callable is known
    depth: int = 0
    webs: Mapping[str, str] = field(default_factory=dict)  # the spelling of names that are webs of others' names
    locals: set[str] = field(init=False)
    rebound: frozenset[str] = field(init=False)  # parameters that the body binds
    comprehended: set[str] = field(init=False)  # what comprehensions in the body bind
    _definitions: dict[str, gast.AST | None] = field(init=False, default_factory=dict)
    _statics: dict[str, Static | None] = field(init=False, default_factory=dict)
    _functions: dict[int, LocalFunction] = field(init=False, default_factory=dict)
    _marked: dict[str, bool] = field(init=False, default_factory=dict)
    defaults: dict[int, dict[str, Variable | Static | gast.Constant]] = field(init=False, default_factory=dict)

    @property
    def parameters(self) -> frozenset[str]:
        return parameters_of(self.node.args)

    def __post_init__(self) -> None:
        parameters = parameters_of(self.node.args)
        counts: dict[str, int] = dict.fromkeys(parameters, 1)
        for name, definition in bindings(*self.body):
            counts[name] = counts.get(name, 0) + 1
            self._definitions[name] = definition
        self._definitions = {
            name: definition
            for name, definition in self._definitions.items()
            if counts[name] == 1 and name not in parameters
        }
        self.rebound = frozenset(name for name in parameters if counts[name] > 1)
        self.locals = set(counts) | {name for name, _ in bindings(*body_of(self.node))}
        inside = names_of(node.target for node in walk(*self.body) if isinstance(node, gast.comprehension))
        names = (part for part in parts_of_scope(body_of(self.node)) if isinstance(part, gast.Name))
        read = {name.id for name in names if isinstance(name.ctx, gast.Load)}
        self.comprehended = inside - read  # outside of them these mean nothing

    def resolve(self, name: str, at: gast.AST) -> Meaning:
        """What a name means here; raises ``UnresolvedName`` if it means nothing."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.locals:
                return scope.static(name) or Variable(scope, name)
            scope = scope.parent
        binding = self.source.resolve(name)
        if binding is None and name in self.comprehended:
            return Variable(self, name)
        if binding is None:  # only now: a place takes longer to work out than a name
            binding = self.source.resolve(name, self.source.span(at))
        assert binding is not None
        return _static(binding.value, reference(binding)) if is_callee(binding.value) else binding

    def static(self, name: str) -> Static | None:
        """The callable or module that one of this scope's own names is bound to, once and for all."""
        if name not in self._statics:
            self._statics[name] = None  # a name defined through itself is no constant
            self._statics[name] = self._static(name)
        return self._statics[name]

    def _static(self, name: str) -> Static | None:
        if name in self.fixed:
            value = self.fixed[name]
            if value is None or isinstance(value, LocalFunction | Derived):
                return Static(value, gast.Constant(None, None) if value is None else None)
            return _static(value, reference(importable(name, value)))
        match self._definitions.get(name):
            case gast.FunctionDef() | gast.Lambda() as node:
                return Static(self.function(name, node), None)
            case gast.Name() | gast.Attribute() | gast.Call() as expression:
                static = self.static_of(expression)
                local = None if static is None else local_in(static.value)
                while isinstance(expression, gast.Call) and expression.args:
                    expression = expression.args[0]
                is_own = isinstance(expression, gast.Lambda)
                # Another name keeps the defaults of the definition that ran last before it was bound.
                return None if local is not None and has_defaults(local.node) and not is_own else static
        return None

    def static_of(self, node: gast.AST) -> Static | None:
        """The module or callable that an expression spells, if that is known while compiling."""
        match node:
            case GlobalReference():
                value = node.binding.value
                return _static(value, node) if is_callee(value) else None
            case gast.Name(id=name) if name in self.comprehended and self.owner(name) is None:
                return None  # asked about before the comprehension that binds it is written
            case gast.Name():
                meaning = self.resolve(node.id, node)
                return meaning if isinstance(meaning, Static) and meaning.value is not None else None
            case gast.Attribute():
                base = self.static_of(node.value)
                if base is None:
                    return None
                if not isinstance(base.value, ModuleType | type | np.ufunc):
                    return self._ruled_method(base, node)
                value = self.attribute(base.value, node)
                if not is_callee(value):
                    return None
                return _static(value, gast.copy_location(gast.Attribute(base.expression, node.attr, gast.Load()), node))
            case gast.Lambda():
                return Static(self.function("function", node), None)
            case gast.Call(func=gast.Name() | gast.Attribute() as func, args=[first, *_]):
                transform = self.static_of(func)
                if transform is not None and transform_of(transform.value) is not None:
                    inner = self.static_of(first)
                    made = None if inner is None else derived_by(transform.value, inner.value, node)
                    return None if made is None else Static(made, None)
        return None

    def _ruled_method(self, base: Static, node: gast.Attribute) -> Static | None:
        """A method of an object that the table knows, such as ``scipy.stats.norm.logpdf``."""
        value = getattr(base.value, node.attr, None)
        if not isinstance(value, MethodType) or not (lookup(value) or is_constant(value) or refusal(value)):
            return None
        return Static(value, gast.copy_location(gast.Attribute(base.expression, node.attr, gast.Load()), node))

    def attribute(self, owner: object, node: gast.Attribute) -> object:
        try:
            return getattr(owner, node.attr)
        except AttributeError:
            kind = "module" if isinstance(owner, ModuleType) else "class"
            raise UnresolvedName(
                f"{kind} {getattr(owner, '__name__', owner)} has no attribute {node.attr!r}",
                self.source.span(node),
                label="no such attribute",
            ) from None

    # --- local functions ---------------------------------------------------------------------------------------------
    def function(self, name: str, node: Definition) -> LocalFunction:
        """The local function of a definition in this scope; one object per definition, once the names of the
        comprehensions around it are variables."""
        if id(node) not in self._functions:
            variables, fixed, reached, depth = self._captured(node)
            place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
            closure = Closure(
                self,
                (self.source.function, place, name, _parameters_told(node.args), tuple(fixed.items())),
                variables,
                variables,
                self.defaults.setdefault(id(node), {}),
                depth,
                reached,
            )
            made = LocalFunction(name, node, self.source, tuple(variable.name for variable in variables), closure)
            if any(n in self.comprehended and self.owner(n) is None for n in free_names(node)):
                return made
            self._functions[id(node)] = made
        return self._functions[id(node)]

    def find_again(self) -> None:
        """Forget what local functions capture, since one that they may call has got a default that is a variable."""
        self._functions.clear()
        for name, static in list(self._statics.items()):
            if static is not None and local_in(static.value) is not None:
                del self._statics[name]

    def _captured(
        self, node: Definition
    ) -> tuple[tuple[Variable, ...], dict[str, object], tuple[LocalFunction, ...], int]:
        """The variables that a local function reads, itself or through the local functions that it calls; the callables
        fixed in it; the local functions among these and those that are differentiated; and how deep functions fixed in
        functions go."""
        variables: dict[Variable, None] = {}
        fixed: dict[str, object] = {}
        reached: list[LocalFunction] = []
        depth = self.depth
        seen: set[int] = set()
        pending: list[tuple[Scope, Definition]] = [(self, node)]
        while pending:
            scope, definition = pending.pop()
            seen.add(id(definition))
            for name in free_names(definition):
                owner = scope.owner(name)
                if owner is None:
                    continue
                if name in owner.fixed:
                    value = owner.fixed[name]
                    fixed[name] = value
                    local = local_in(value)
                    if local is not None:
                        closure = closure_of(local)
                        reached.append(local)
                        variables.update((variable, None) for variable in holders(closure))
                        depth = max(depth, closure.depth + 1)
                    continue
                inner = owner.definition(name)
                if (inner is not node or definition is not node) and owner.is_marked(name):
                    variables.setdefault(Variable(owner, name))
                if inner is None:
                    static = owner.static(name)
                    if static is None:
                        variables.setdefault(Variable(owner, name))
                    elif (derived := local_in(static.value)) is not None:
                        reached.append(derived)
                        variables.update((variable, None) for variable in holders(closure_of(derived)))
                    continue
                for default in owner.defaults.get(id(inner), {}).values():
                    if isinstance(default, Variable):
                        variables.setdefault(default)
                if id(inner) not in seen:
                    pending.append((owner, inner))
        return tuple(variables), fixed, tuple(reached), depth

    def owner(self, name: str) -> Scope | None:
        """The scope that binds a name; None for globals."""
        scope: Scope | None = self
        while scope is not None and name not in scope.locals:
            scope = scope.parent
        return scope

    @contextmanager
    def naming(self, names: Iterable[str]) -> Iterator[None]:
        """Inside, names of comprehensions and of local functions are variables of this scope, of which nothing is
        known; what functions capture is found again behind it."""
        own, functions = frozenset(names) - self.locals, self._functions
        self.locals |= own
        self._functions = functions if not own else dict(functions)
        try:
            yield
        finally:
            self.locals -= own
            self._functions = functions

    def only_value(self, name: str) -> gast.expr | None:
        """The expression that a name of this scope is bound to, where that is its only binding."""
        found = self._definitions.get(name)
        return None if isinstance(found, gast.FunctionDef) else found

    def definition(self, name: str) -> Definition | None:
        """The local function that a name of this scope is bound to, through aliases."""
        found = self._definitions.get(name)
        for _ in range(len(self._definitions)):
            if not isinstance(found, gast.Name) or self.owner(found.id) is not self:
                break
            found = self._definitions.get(found.id)
            if isinstance(found, gast.FunctionDef | gast.Lambda) and has_defaults(found):
                return None
        return found if isinstance(found, gast.FunctionDef | gast.Lambda) else None

    def is_marked(self, name: str) -> bool:
        """Whether a name that is bound once, to a function or module, may be read where nothing has bound it yet; it is
        known all the same what it means, and the name holds a mark."""
        if name not in self._marked:
            # What a local function captures is asked once the defaults of the others are known.
            is_function = isinstance(self._definitions.get(name), gast.FunctionDef | gast.Lambda)
            is_early = name in self.unassigned.names
            self._marked[name] = is_early and (is_function or self.static(name) is not None)
        return self._marked[name]

    def is_early(self, node: gast.Name) -> bool:
        """Whether a name of this scope is read where nothing may have bound it yet; what desugaring made is not."""
        place = place_of(node)
        return place is not None and self.unassigned.places.get(place) == self.webs.get(node.id, node.id)

    def is_captured_early(self, name: str) -> bool:
        """Whether a local function that reads a variable of this scope may be called where nothing has bound it yet."""
        return self.webs.get(name, name) in self.unassigned.through and not self.is_marked(name)

    def begins_as_none(self, name: str) -> bool:
        """Whether a variable of this scope may be passed to a local function that does not read it in that call."""
        return self.webs.get(name, name) in self.unassigned.passed and not self.is_marked(name)

    @cached_property
    def unassigned(self) -> Unassigned:
        """The reads of variables that nothing may have bound yet; text of ours reads nothing too early."""
        return Unassigned([], frozenset()) if self.source.generated else unassigned_in(self.node)


def _parameters_told(arguments: gast.arguments) -> tuple[object, ...]:
    """The parameters of a function and the defaults that are literals, which those of a method's lambda may not share
    with another's of the same place."""
    names = [p.id for p in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    defaults = [*arguments.defaults, *arguments.kw_defaults]
    values = tuple((type(d.value), d.value) if isinstance(d, gast.Constant) else None for d in defaults)
    return len(arguments.posonlyargs), tuple(names), values


def has_defaults(node: gast.AST) -> bool:
    """Whether a local function has defaults that are not the same each time it is defined."""
    assert isinstance(node, gast.FunctionDef | gast.Lambda)
    return not all(isinstance(default, gast.Constant) for default in default_values(node.args))


def local_in(function: object) -> LocalFunction | None:
    """The local function that a function is, or is a derivative of."""
    while isinstance(function, Derived | Guarded):
        function = function.function
    return function if isinstance(function, LocalFunction) else None


def closure_of(function: LocalFunction) -> Closure:
    assert isinstance(function.scope, Closure)
    return function.scope


def all_reached(function: LocalFunction) -> Iterator[LocalFunction]:
    """The local functions that came as arguments, or are differentiated, inside of a local function, and inside of
    these."""
    for inner in closure_of(function).reached:
        yield inner
        yield from all_reached(inner)


def holders(closure: Closure) -> list[Variable]:
    """The variables that must be passed on with a function: what it captures, and the defaults that it keeps, or what
    these capture."""
    found = list(closure.actual)
    for default in closure.defaults.values():
        if isinstance(default, Variable):
            found.append(default)
        elif isinstance(default, Static) and (local := local_in(default.value)) is not None:
            found += holders(closure_of(local))
    return found


def importable(name: str, value: object) -> GlobalBinding:
    """A binding for a callable that came as an argument: importable if it has a home, else only by its object."""
    home = public_home(value, name)
    return GlobalBinding(name, value) if home is None else GlobalBinding(home[1], value, *home)


class Fresh:
    """Names handed out before there is a scope to put them in."""

    def __init__(self, namer: Namer, made: set[str]) -> None:
        self.namer = namer
        self.made = made

    def __call__(self, stem: str) -> str:
        name = self.namer.fresh(stem)
        self.made.add(name)
        return name
