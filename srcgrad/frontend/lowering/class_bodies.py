"""The bodies of classes that a function defines: what their statements do, and what their methods read of the function.

Enters: a class statement, its scope and the place where it stands.  Leaves: the variables of functions around that its
methods read, and the same body, in which they are read from the object; raises ``Refused`` where that is not the same.
"""

from __future__ import annotations
import __future__

from collections.abc import Iterator
from dataclasses import dataclass
from types import CellType
from typing import Any

import gast

from srcgrad.frontend.classes import CAPTURED
from srcgrad.frontend.lowering.fixed import Fixed, Made, Refused
from srcgrad.frontend.lowering.names import Scope, nodes_within
from srcgrad.frontend.names import bound_by
from srcgrad.syntax.parse import parameters_of, walk

AS_TEXT = __future__.annotations.compiler_flag


@dataclass(frozen=True)
class Place:
    """Where a class statement stands: the blocks around it in its functions, from the outermost one on."""

    blocks: tuple[_Block, ...] = ()

    def inside(self, scope: Scope, before: list[gast.stmt], *, repeats: bool) -> Place:
        is_repeated = repeats or any(block.is_repeated for block in self.blocks if block.scope is scope)
        return Place((*self.blocks, _Block(scope, before, is_repeated)))

    @property
    def is_repeated(self) -> bool:
        """Whether its function may come to it more than once in a call."""
        return self.blocks[-1].is_repeated

    def settles(self, owner: Scope, name: str) -> bool:
        """Whether a variable is bound before this place, and never again."""
        has_value = name in _parameters(owner.node)
        counted = int(has_value)
        for block in self.blocks:
            for statement in block.before if block.scope is owner and not block.is_repeated else ():
                found = sum(bound_by(part).count(name) for part in nodes_within([statement]))
                is_plain = not any(hasattr(statement, part) for part in ("orelse", "items", "cases"))
                counted, has_value = counted + found, has_value or bool(found) and is_plain
        return has_value and counted == bindings(owner, name)


@dataclass(frozen=True)
class _Block:
    """A block of statements as far as they stand before a class, and whether a loop of its function repeats it."""

    scope: Scope
    before: list[gast.stmt]
    is_repeated: bool


class Body:
    """The body of a class: what its statements are, and what its methods read of the functions around."""

    def __init__(self, fixed: Fixed, around: Scope, node: Any, place: Place) -> None:
        self.fixed, self.around, self.node, self.place = fixed, around, node, place
        self.scope = around.inner[node]
        self.captured: dict[str, Scope] = {}
        self.free: dict[str, CellType] = {}  # the cells of the class's functions that are filled when it is made
        self.own: CellType | None = None  # that of the class itself
        self.reads: list[tuple[Method, gast.Name, Scope]] = []  # of variables of functions around, with their scopes
        self.calls: list[tuple[Method, gast.Call, Scope, dict[str, Scope]]] = []  # of classes, and what these capture

    def read(self) -> None:
        """Look at each statement; raises where one does more than define."""
        own = frozenset[str]()
        for statement in self.node.body:
            match statement:
                case gast.Pass() | gast.Expr(value=gast.Constant()):
                    continue
                case gast.FunctionDef(name=name):
                    self._define(statement, own)
                    own |= {name}
                case gast.Assign(targets=[gast.Name(id="__slots__")], value=gast.List(elts=parts)):
                    for part in parts:
                        self.fixed.require(self.scope, part, own)
                case gast.Assign(targets=targets, value=value) if all(map(_are_names, targets)):
                    self.fixed.require(self.scope, value, own)
                    own |= {each.id for each in walk(*targets) if isinstance(each, gast.Name)}
                case gast.AnnAssign(target=gast.Name(id=name), annotation=annotation, value=value):
                    if not self.fixed.source.function.__code__.co_flags & AS_TEXT:
                        self._require_annotation(annotation, own)
                    if value is not None:
                        self.fixed.require(self.scope, value, own)
                        own |= {name}
                case _:
                    raise Refused("its body does more than define methods and constants")
        if self.scope.global_names or self.scope.outer_names:
            raise Refused("its body stores into variables outside of it")
        for part in self.scope.parts:
            if isinstance(part, gast.Name):
                self._fill(part.id, self.scope.find(part.id))
        for inner in self.scope.inner.values():  # lambdas among its constants
            if not isinstance(inner.node, gast.FunctionDef):
                self._follow(Method(inner, None))

    def _require_annotation(self, annotation: gast.expr, own: frozenset[str]) -> None:
        for part in walk(annotation):
            if isinstance(part, gast.Name | gast.Call):
                self.fixed.require(self.scope, part, own)

    def _define(self, method: gast.FunctionDef, own: frozenset[str]) -> None:
        args = method.args
        for expression in (*method.decorator_list, *args.defaults, *filter(None, args.kw_defaults)):
            self.fixed.require(self.scope, expression, own)
        fixed = [self._decorator(each) for each in method.decorator_list]
        first = next((each.id for each in (*args.posonlyargs, *args.args)), None)
        has_object = method.name != "__new__" and staticmethod not in fixed and classmethod not in fixed
        self._follow(Method(self.scope.inner[method], first if has_object else None))

    def _decorator(self, node: gast.expr) -> Any:
        is_own = isinstance(node, gast.Attribute) and node.attr in ("setter", "getter", "deleter")
        return property if is_own else self.fixed.value(self.scope, node)

    def _follow(self, method: Method) -> None:
        """Note what a method reads of the functions around, and what objects it makes."""
        for scope in _scopes_below(method.scope):
            for part in scope.parts:
                match part:
                    case gast.Nonlocal(names=names) if any(not _is_below(scope.find(n), method.scope) for n in names):
                        raise Refused("a method stores into a variable of the function")
                    case gast.Call(func=gast.Name(id=name)):
                        owner = scope.find(name)
                        if self._is_this(name, owner):
                            self.calls.append((method, part, scope, self.captured))
                        elif owner is not None and (known := self.fixed.made.get((owner, name))) is not None:
                            join(self.captured, known.captured)
                            self.calls.append((method, part, scope, known.captured))
                    case gast.Call(func=called) if (this := _class_of(called)) is not None:
                        if this == method.first and scope.find(this) is method.scope:  # which holds what it reads
                            self.calls.append((method, part, scope, self.captured))
                    case gast.Name(id=name):
                        owner = scope.find(name)
                        is_own = owner is self.scope or owner is not None and _is_below(owner, method.scope)
                        if not is_own and not self._fill(name, owner):
                            assert owner is not None
                            self._require_settled(name, owner)
                            join(self.captured, {name: owner})
                            self.reads.append((method, part, scope))

    def _is_this(self, name: str, owner: Scope | None) -> bool:
        return owner is self.around and name == self.node.name

    def _fill(self, name: str, owner: Scope | None) -> bool:
        """Fill the cell of a variable that is settled when the class is made; whether a name is one, or is global."""
        if owner is None:
            function = self.fixed.source.function
            captured = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
            if name in captured:
                self.free[name] = captured[name]
            return True
        if self._is_this(name, owner):
            self.own = self.free[name] = self.own or CellType()
            return True
        if (known := self.fixed.made.get((owner, name))) is not None:
            self.free[name] = CellType(known.kind)
            return True
        return False

    def _require_settled(self, name: str, owner: Scope) -> None:
        """Raise unless a variable is bound before the class statement, and never again."""
        if owner.is_class:
            raise Refused(f"its methods read {name!r} of a class around")
        if not self.place.settles(owner, name):
            raise Refused(f"its methods read the variable {name!r}, which may be bound after it")

    # --- what is written ---------------------------------------------------------------------------------------------
    def rewrite(self) -> None:
        """Read variables of the functions around from the object, and hand them to objects that methods make."""
        replaced = {id(read): _of_object(method, read, read.id, scope) for method, read, scope in self.reads}
        for method, call, scope, captured in self.calls:
            call.keywords += [gast.keyword(CAPTURED + name, _of_object(method, call, name, scope)) for name in captured]
        if replaced:
            _Replacing(replaced).visit(self.node)
        for method in self.node.body:
            if isinstance(method, gast.FunctionDef):  # what annotations say is of no matter, and may read anything
                args, method.returns = method.args, None
                for parameter in (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg):
                    if parameter is not None:
                        parameter.annotation = None


@dataclass(frozen=True)
class Method:
    """A function of a class, and the parameter that is the object, if there is one."""

    scope: Scope
    first: str | None


def _class_of(called: gast.expr) -> str | None:
    """The name of the object whose class an expression is: ``type(self)``, ``self.__class__``."""
    match called:
        case gast.Call(func=gast.Name(id="type"), args=[gast.Name(id=this)], keywords=[]):
            return str(this)
        case gast.Attribute(value=gast.Name(id=this), attr="__class__"):
            return str(this)
    return None


def _are_names(target: gast.expr) -> bool:
    return isinstance(target, gast.Name) or isinstance(target, gast.Tuple) and all(map(_are_names, target.elts))


def _of_object(method: Method, node: gast.AST, name: str, scope: Scope) -> Any:
    """A read of a variable of a function around from the object of a method."""
    if method.first is None:
        raise Refused(f"a function of it that has no object needs the variable {name!r}")
    if bindings(method.scope, method.first) != 1 or scope.find(method.first) is not method.scope:
        raise Refused(f"a method that reads the variable {name!r} binds {method.first!r} again")
    this = gast.Name(method.first, gast.Load(), None, None)
    return _placed(gast.Attribute(this, CAPTURED + name, gast.Load()), node)


# --- variables -------------------------------------------------------------------------------------------------------
def bindings(scope: Scope, name: str) -> int:
    """How often a scope binds a variable."""
    count = int(name in _parameters(scope.node))
    count += sum(bound_by(part).count(name) for part in scope.parts)
    for inner in _scopes_below(scope):
        for part in inner.parts:
            is_stored = isinstance(part, gast.Nonlocal) and name in part.names
            is_walrus = inner is not scope and isinstance(part, gast.NamedExpr) and part.target.id == name
            is_deleted = inner is scope and isinstance(part, gast.Name) and isinstance(part.ctx, gast.Del)
            count += 2 * (is_stored or is_walrus or is_deleted and part.id == name)
    return count


def _parameters(node: Any) -> frozenset[str]:
    return parameters_of(node.args) if isinstance(node, gast.FunctionDef | gast.Lambda) else frozenset()


def require_once(scope: Scope, name: str) -> None:
    if bindings(scope, name) != 1:
        raise Refused(f"the variable {name!r} is bound more than once")


def join(captured: dict[str, Scope], more: dict[str, Scope]) -> None:
    for name, owner in more.items():
        if captured.setdefault(name, owner) is not owner:
            raise Refused(f"methods read two variables that are called {name!r}")


def _scopes_below(scope: Scope) -> Iterator[Scope]:
    yield scope
    for inner in scope.inner.values():
        yield from _scopes_below(inner)


def _is_below(scope: Scope | None, root: Scope) -> bool:
    while scope is not None and scope is not root:
        scope = scope.parent
    return scope is root


def hand_over(scope: Scope, owner: Scope, name: str, made: Made) -> None:
    """Hand the variables that methods read to the objects that a function makes; methods of other classes see to
    themselves."""
    if not made.captured:
        return
    for part in scope.parts:
        if isinstance(part, gast.Call) and isinstance(part.func, gast.Name) and part.func.id == name:
            if scope.find(name) is owner and all(scope.find(each) is of for each, of in made.captured.items()):
                part.keywords += [
                    gast.keyword(CAPTURED + each, _placed(gast.Name(each, gast.Load(), None, None), part))
                    for each in made.captured
                ]
    for inner in scope.inner.values():
        if not inner.is_class:
            hand_over(inner, owner, name, made)


# --- text ------------------------------------------------------------------------------------------------------------
class _Replacing(gast.NodeTransformer):
    """Puts expressions in the places of names."""

    def __init__(self, replaced: dict[int, gast.expr]) -> None:
        self.replaced = replaced

    def visit_Name(self, node: gast.Name) -> gast.expr:
        found = self.replaced.get(id(node))
        if found is not None and not isinstance(node.ctx, gast.Load):
            raise Refused("a method stores into a variable of the function")
        return node if found is None else found


def _placed(made: Any, node: gast.AST) -> Any:
    for part in gast.walk(made):
        if "lineno" in part._attributes:
            gast.copy_location(part, node)
    return made
