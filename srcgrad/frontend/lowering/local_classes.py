"""Classes that a function defines for itself, made once: closure conversion of class statements.

Enters: the tree of a function, before it is lowered.  Leaves: the same tree, in which each class statement whose bases,
decorators and body are known when it is compiled holds the class that it makes.  What methods read of the function is
handed to the objects when they are made, as fields of their own (Johnsson, *Lambda lifting*, 1985)::

    class P:                                class P:
        def __init__(self, v):                  def __init__(self, v):
            self.v = v                              self.v = v
        def sq(self):                  ->       def sq(self):
            return self.v**2 * k                    return self.v**2 * self._captured_k
    return P(x).sq()                        return P(x, _captured_k=k).sq()      the field is set before __init__ runs

Python makes another class in each call.  That cannot be told as long as no object of it, nor the class, is held when
the call has ended (``infer.local_classes``), the statement runs once in a call, and nothing that the class holds is
changed.  A variable that methods read is bound once, before the class; else the methods would see what is bound later.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import dataclasses
import enum
import functools
import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import CellType, CodeType, FunctionType, MemberDescriptorType, ModuleType, GetSetDescriptorType, resolve_bases
from typing import Any

import gast

from srcgrad.frontend.guards import is_compiled_in
from srcgrad.frontend.journal import note_compiled_in
from srcgrad.frontend.lowering.names import Scope, names_bound, nodes_within, scopes_of
from srcgrad.frontend.mangling import written_name
from srcgrad.frontend.names import bound_by
from srcgrad.frontend.source import Source
from srcgrad.runtime.objects import is_users
from srcgrad.syntax.parse import clone, parameters_of, walk

#: What the fields are called that hold variables of the function.
CAPTURED = "_captured_"
#: What a class statement may call: it runs nothing of the user's.
_CALLED = (
    dataclasses.dataclass, dataclasses.field, enum.auto, enum.unique, property, staticmethod, classmethod,
    functools.cached_property, functools.total_ordering, typing.final,
)  # fmt: skip
_SCALARS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_FACTORY = "srcgrad_class"
_AS_TEXT = __future__.annotations.compiler_flag


def convert_classes(source: Source) -> None:
    """Make the classes that the tree of a function defines; a statement that is none is told why (``refused``)."""
    if any(isinstance(node, gast.ClassDef) for node in walk(source.node)):
        _Converter(source).function(scopes_of(source.node))


class _Refused(Exception):
    """Why a class statement is not converted."""


@dataclass(frozen=True)
class _Made:
    """A class and the variables that its methods read, each with the scope whose it is."""

    kind: type
    captured: dict[str, Scope]


@dataclass
class _Place:
    """Where a class statement stands: the blocks around it in its functions, with its place in each."""

    blocks: list[tuple[Scope, list[gast.stmt], int]] = field(default_factory=list)
    is_repeated: bool = False

    def inside(self, scope: Scope, block: list[gast.stmt], index: int, *, repeats: bool) -> _Place:
        return _Place([*self.blocks, (scope, block, index)], self.is_repeated or repeats)

    def follows(self, owner: Scope, name: str) -> bool:
        """Whether a statement that stands before this place in any case binds a variable."""
        return any(
            name in names_bound([statement]) and not any(map(partial(hasattr, statement), ("orelse", "items", "cases")))
            for scope, block, index in self.blocks if scope is owner for statement in block[:index]
        )  # fmt: skip


class _Converter:
    """The classes of one function that are made so far."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.made: dict[tuple[Scope, str], _Made] = {}

    # --- where classes stand -----------------------------------------------------------------------------------------
    def function(self, scope: Scope, place: _Place | None = None) -> None:
        if isinstance(scope.node, gast.FunctionDef):
            self.block(scope, scope.node.body, _Place(place.blocks if place else []), repeats=False)

    def block(self, scope: Scope, body: list[gast.stmt], place: _Place, *, repeats: bool) -> None:
        for index, statement in enumerate(body):
            here = place.inside(scope, body, index, repeats=repeats)
            match statement:
                case gast.ClassDef():
                    self.define(scope, statement, here)
                case gast.FunctionDef():
                    self.function(scope.inner[statement], here)
                case _:
                    is_loop = isinstance(statement, gast.For | gast.While)
                    for inner in _blocks_of(statement):
                        self.block(scope, inner, here, repeats=is_loop)

    def define(self, scope: Scope, node: Any, place: _Place) -> None:
        """Make the class of a statement, which is emptied, or note why there is none."""
        if hasattr(node, "made") or hasattr(node, "refused"):
            return
        before = clone(node)
        try:
            made = self.converted(scope, node, place)
        except _Refused as why:
            node.__dict__.update(before.__dict__)
            node.refused = str(why)
            return
        if _bindings(scope, node.name) == 1:
            self.made[scope, node.name] = made
        _hand_over(scope, scope, node.name, made)
        node.made = made.kind
        node.decorator_list, node.bases, node.keywords, node.body = [], [], [], [gast.copy_location(gast.Pass(), node)]

    # --- one class ---------------------------------------------------------------------------------------------------
    def converted(self, scope: Scope, node: Any, place: _Place) -> _Made:
        if place.is_repeated:
            raise _Refused("each turn of the loop makes another class")
        if any(isinstance(part, gast.Yield | gast.YieldFrom) for part in scope.parts):
            raise _Refused("a generator makes it, several of which may run at a time")
        if node.keywords or getattr(node, "type_params", None):
            raise _Refused("its statement has keywords or parameters")
        for expression in (*node.decorator_list, *node.bases):
            self.require_fixed(scope, expression, frozenset())
        body = _Body(self, scope, node, place)
        body.read()
        decorators = [self.value(scope, expression) for expression in node.decorator_list]
        bases = tuple(self.value(scope, expression) for expression in node.bases)
        for base in bases:
            _require_base(base)
            for each in self.made.values():
                if each.kind is base:
                    _join(body.captured, each.captured)
        body.rewrite()
        try:
            kind = self.built(scope, node, bases, body.free)
            for decorator in reversed(decorators):
                kind = decorator(kind)
        except Exception as error:
            raise _Refused(f"its statement raises {type(error).__name__}") from error
        if (cell := body.own) is not None:
            cell.cell_contents = kind
        _require_plain(kind, body.captured)
        if cell is not None or body.captured:
            _require_once(scope, node.name)
        kind.__srcgrad_captured__ = tuple(CAPTURED + name for name in body.captured)
        return _Made(kind, body.captured)

    def require_fixed(self, scope: Scope, node: Any, own: frozenset[str]) -> None:
        """Raise unless an expression of a class statement is the same in each call, and runs nothing of the user's."""
        match node:
            case gast.Constant():
                return
            case gast.Name(id=name):
                if name not in own:
                    self.require_known(scope, name)
                return
            case gast.Attribute(value=gast.Name(id=name), attr="setter" | "getter" | "deleter") if name in own:
                return
            case gast.Attribute(value=base, attr=name):
                self.require_fixed(scope, base, frozenset())
                module = self.value(scope, base)
                held = getattr(module, name, None)
                is_fixed = is_compiled_in(held) or type(held) in _SCALARS and not is_users(module)
                if isinstance(module, ModuleType) and is_fixed:
                    return
            case gast.Tuple(elts=parts) | gast.List(elts=parts):
                for part in parts:
                    self.require_fixed(scope, part, own)
                return
            case gast.UnaryOp(operand=operand):
                return self.require_fixed(scope, operand, own)
            case gast.BinOp(left=left, right=right) | gast.Subscript(value=left, slice=right):
                self.require_fixed(scope, left, own)
                return self.require_fixed(scope, right, own)
            case gast.Lambda():
                return
            case gast.Call(func=function, args=args, keywords=keywords):
                self.require_fixed(scope, function, frozenset())
                if any(self.value(scope, function) is each for each in _CALLED):
                    for part in (*args, *(keyword.value for keyword in keywords)):
                        self.require_fixed(scope, part, own)
                    return
        raise _Refused("its statement does more than define methods and constants")

    def require_known(self, scope: Scope, name: str) -> None:
        owner = scope.find(name)
        if owner is not None:
            if (owner, name) not in self.made:
                raise _Refused(f"its statement reads the variable {name!r} of the function")
            return
        binding = self.source.resolve(name)
        if binding is None:
            raise _Refused(f"its statement reads {name!r}, which has no value")
        if binding.cell is None:
            return
        function = self.source.function
        if type(binding.value) not in _SCALARS or name in function.__code__.co_freevars:
            raise _Refused(f"its statement reads {name!r}, which may change")
        note_compiled_in(function.__globals__, name)

    def value(self, scope: Scope, node: Any) -> Any:
        """What a fixed expression means."""
        names: dict[str, Any] = {}
        for part in walk(node):
            if isinstance(part, gast.Name):
                owner = scope.find(part.id)
                binding = None if owner is not None else self.source.resolve(part.id)
                names[part.id] = binding.value if binding is not None else self.made[owner, part.id].kind  # type: ignore[index]
        expression = ast.fix_missing_locations(gast.gast_to_ast(gast.Expression(clone(node))))
        return eval(compile(expression, self.source.filename, "eval"), names)

    # --- the class object --------------------------------------------------------------------------------------------
    def built(self, scope: Scope, node: Any, bases: tuple[Any, ...], free: dict[str, CellType]) -> Any:
        """The class of a statement, whose functions have the places of the user's file and names of the user's."""
        function, name = self.source.function, written_name(node)
        statement = clone(node)
        statement.decorator_list, statement.bases, statement.name = [], [], name
        given = gast.arguments([gast.Name(each, gast.Param(), None, None) for each in free], [], None, [], [], None, [])
        factory = gast.FunctionDef(_FACTORY, given, [statement], [], None, None, [])
        tree = ast.fix_missing_locations(gast.gast_to_ast(gast.Module([gast.copy_location(factory, node)], [])))
        flags = function.__code__.co_flags & _AS_TEXT
        whole = compile(tree, self.source.filename, "exec", flags, dont_inherit=True)
        (outer,) = (each for each in whole.co_consts if isinstance(each, CodeType) and each.co_name == _FACTORY)
        (code,) = (each for each in outer.co_consts if isinstance(each, CodeType) and each.co_name == name)
        code = _renamed(code, f"{_FACTORY}.<locals>.{name}", _qualified(self.source, scope, name))
        cells = tuple(free[each] for each in code.co_freevars)
        body = FunctionType(code, function.__globals__, name, None, cells)
        made = builtins.__build_class__(body, name, *bases)  # type: ignore[attr-defined]
        definitions = {(each.name, _first_line(each)): each for each in node.body if isinstance(each, gast.FunctionDef)}
        for inner in _functions_of(made):
            if (definition := definitions.get((inner.__name__, inner.__code__.co_firstlineno))) is not None:
                definition = clone(definition)
                definition.decorator_list = []
                inner.__srcgrad_definition__ = definition, self.source.file  # type: ignore[attr-defined]
        return made


class _Body:
    """The body of a class: what its statements are, and what its methods read of the functions around."""

    def __init__(self, converter: _Converter, around: Scope, node: Any, place: _Place) -> None:
        self.converter, self.around, self.node, self.place = converter, around, node, place
        self.scope = around.inner[node]
        self.captured: dict[str, Scope] = {}
        self.free: dict[str, CellType] = {}  # the cells of the class's functions that are filled when it is made
        self.own: CellType | None = None  # that of the class itself
        self.reads: list[tuple[_Method, gast.Name, Scope, Scope]] = []  # with the scope of each, and of the variable
        self.calls: list[tuple[_Method, gast.Call, Scope, dict[str, Scope]]] = []  # of classes, and what these capture

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
                case gast.Assign(targets=targets, value=value) if all(isinstance(each, gast.Name) for each in targets):
                    self.converter.require_fixed(self.scope, value, own)
                    own |= {each.id for each in targets}
                case gast.AnnAssign(target=gast.Name(id=name), annotation=annotation, value=value):
                    if not self.converter.source.function.__code__.co_flags & _AS_TEXT:
                        self.converter.require_fixed(self.scope, annotation, own)
                    if value is not None:
                        self.converter.require_fixed(self.scope, value, own)
                        own |= {name}
                case _:
                    raise _Refused("its body does more than define methods and constants")
        if self.scope.global_names or self.scope.outer_names:
            raise _Refused("its body stores into variables outside of it")
        for part in self.scope.parts:
            if isinstance(part, gast.Name):
                self._fill(part.id, self.scope.find(part.id))
        for inner in self.scope.inner.values():  # lambdas among its constants
            if not isinstance(inner.node, gast.FunctionDef):
                self._follow(_Method(inner, None))

    def _define(self, method: gast.FunctionDef, own: frozenset[str]) -> None:
        args = method.args
        for expression in (*method.decorator_list, *args.defaults, *filter(None, args.kw_defaults)):
            self.converter.require_fixed(self.scope, expression, own)
        fixed = [self._decorator(each) for each in method.decorator_list]
        first = next((each.id for each in (*args.posonlyargs, *args.args)), None)
        has_object = method.name != "__new__" and staticmethod not in fixed and classmethod not in fixed
        self._follow(_Method(self.scope.inner[method], first if has_object else None))

    def _decorator(self, node: gast.expr) -> Any:
        is_own = isinstance(node, gast.Attribute) and node.attr in ("setter", "getter", "deleter")
        return property if is_own else self.converter.value(self.scope, node)

    def _follow(self, method: _Method) -> None:
        """Note what a method reads of the functions around, and what objects it makes."""
        for scope in _scopes_below(method.scope):
            for part in scope.parts:
                match part:
                    case gast.Nonlocal(names=names) if any(not _is_below(scope.find(n), method.scope) for n in names):
                        raise _Refused("a method stores into a variable of the function")
                    case gast.Call(func=gast.Name(id=name)):
                        owner = scope.find(name)
                        if self._is_this(name, owner):
                            self.calls.append((method, part, scope, self.captured))
                        elif owner is not None and (known := self.converter.made.get((owner, name))) is not None:
                            _join(self.captured, known.captured)
                            self.calls.append((method, part, scope, known.captured))
                    case gast.Name(id=name):
                        owner = scope.find(name)
                        is_own = owner is self.scope or owner is not None and _is_below(owner, method.scope)
                        if not is_own and not self._fill(name, owner):
                            assert owner is not None
                            self._require_settled(name, owner)
                            _join(self.captured, {name: owner})
                            self.reads.append((method, part, scope, owner))

    def _is_this(self, name: str, owner: Scope | None) -> bool:
        return owner is self.around and name == self.node.name

    def _fill(self, name: str, owner: Scope | None) -> bool:
        """Fill the cell of a variable that is settled when the class is made; whether a name is one, or is global."""
        if owner is None:
            function = self.converter.source.function
            captured = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
            if name in captured:
                self.free[name] = captured[name]
            return True
        if self._is_this(name, owner):
            self.own = self.free[name] = self.own or CellType()
            return True
        if (known := self.converter.made.get((owner, name))) is not None:
            self.free[name] = CellType(known.kind)
            return True
        return False

    def _require_settled(self, name: str, owner: Scope) -> None:
        """Raise unless a variable is bound once, before the class statement."""
        if owner.is_class:
            raise _Refused(f"its methods read {name!r} of a class around")
        _require_once(owner, name)
        is_parameter = isinstance(owner.node, gast.FunctionDef) and name in parameters_of(owner.node.args)
        if not is_parameter and not self.place.follows(owner, name):
            raise _Refused(f"its methods read the variable {name!r}, which may be bound after it")

    # --- what is written ---------------------------------------------------------------------------------------------
    def rewrite(self) -> None:
        """Read variables of the functions around from the object, and hand them to objects that methods make."""
        replaced = {id(read): _of_object(method, read, read.id, scope) for method, read, scope, _ in self.reads}
        for method, call, scope, captured in self.calls:
            call.keywords += [
                gast.keyword(CAPTURED + name, _of_object(method, call, name, scope)) for name in captured
            ]
        if replaced:
            _Replacing(replaced).visit(self.node)
        for method in self.node.body:
            if isinstance(method, gast.FunctionDef):  # what annotations say is of no matter, and may read anything
                args, method.returns = method.args, None
                for parameter in (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg):
                    if parameter is not None:
                        parameter.annotation = None


@dataclass(frozen=True)
class _Method:
    """A function of a class, and the parameter that is the object, if there is one."""

    scope: Scope
    first: str | None


def _of_object(method: _Method, node: gast.AST, name: str, scope: Scope) -> Any:
    """A read of a variable of a function around from the object of a method."""
    if method.first is None:
        raise _Refused(f"a function of it that has no object needs the variable {name!r}")
    if _bindings(method.scope, method.first) != 1 or scope.find(method.first) is not method.scope:
        raise _Refused(f"a method that reads the variable {name!r} binds {method.first!r} again")
    this = gast.Name(method.first, gast.Load(), None, None)
    return _placed(gast.Attribute(this, CAPTURED + name, gast.Load()), node)


# --- variables -------------------------------------------------------------------------------------------------------
def _bindings(scope: Scope, name: str) -> int:
    """How often a scope binds a variable."""
    node: Any = scope.node
    count = int(isinstance(node, gast.FunctionDef | gast.Lambda) and name in parameters_of(node.args))
    count += sum(bound_by(part).count(name) for part in scope.parts)
    for inner in _scopes_below(scope):
        for part in inner.parts:
            is_stored = isinstance(part, gast.Nonlocal) and name in part.names
            is_walrus = inner is not scope and isinstance(part, gast.NamedExpr) and part.target.id == name
            count += 2 * (is_stored or is_walrus)
    return count


def _require_once(scope: Scope, name: str) -> None:
    if _bindings(scope, name) != 1:
        raise _Refused(f"the variable {name!r} is bound more than once")


def _join(captured: dict[str, Scope], more: dict[str, Scope]) -> None:
    for name, owner in more.items():
        if captured.setdefault(name, owner) is not owner:
            raise _Refused(f"methods read two variables that are called {name!r}")


def _scopes_below(scope: Scope) -> Iterator[Scope]:
    yield scope
    for inner in scope.inner.values():
        yield from _scopes_below(inner)


def _is_below(scope: Scope | None, root: Scope) -> bool:
    while scope is not None and scope is not root:
        scope = scope.parent
    return scope is root


def _hand_over(scope: Scope, owner: Scope, name: str, made: _Made) -> None:
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
            _hand_over(inner, owner, name, made)


# --- classes ---------------------------------------------------------------------------------------------------------
def _require_base(base: Any) -> None:
    for kind in () if base is typing.NamedTuple else resolve_bases((base,)):
        if not isinstance(kind, type) or type(kind) not in (type, enum.EnumType) and kind is not typing.Generic:
            raise _Refused("a class of one of its bases is made by a class of its own")
        if any("__init_subclass__" in vars(each) and is_users(each) for each in kind.__mro__):
            raise _Refused("a base runs __init_subclass__")


def _require_plain(kind: Any, captured: dict[str, Scope]) -> None:
    """Raise if a class holds what methods may change, or its objects have no place for what they read."""
    if not isinstance(kind, type):
        raise _Refused("its decorators make something else of it")
    for name, held in vars(kind).items():
        is_made = name.startswith("_") and (name.endswith("_") or issubclass(kind, tuple))  # by Python itself
        if not (is_made or _is_unchanging(held)):
            raise _Refused(f"it holds {name!r}, which may be changed")
    if captured and (not kind.__dictoffset__ or issubclass(kind, tuple | enum.Enum | BaseException)):
        raise _Refused("its methods read variables of the function, and its objects have no fields for them")


def _is_unchanging(held: Any) -> bool:
    if isinstance(held, tuple | frozenset):
        return type(held) in (tuple, frozenset) and all(map(_is_unchanging, held))
    kinds = (*_SCALARS, FunctionType, property, staticmethod, classmethod, functools.cached_property, type, enum.Enum,
             MemberDescriptorType, GetSetDescriptorType)  # fmt: skip
    return isinstance(held, kinds) or type(held).__name__ in ("_tuplegetter", "property", "member")


def _functions_of(kind: type) -> Iterator[FunctionType]:
    for held in vars(kind).values():
        match held:
            case property():
                parts: Sequence[Any] = (held.fget, held.fset, held.fdel)
            case staticmethod() | classmethod():
                parts = (held.__func__,)
            case functools.cached_property():
                parts = (held.func,)
            case _:
                parts = (held,)
        yield from (part for part in parts if isinstance(part, FunctionType))


# --- text ------------------------------------------------------------------------------------------------------------
class _Replacing(gast.NodeTransformer):
    """Puts expressions in the places of names."""

    def __init__(self, replaced: dict[int, gast.expr]) -> None:
        self.replaced = replaced

    def visit_Name(self, node: gast.Name) -> gast.expr:
        found = self.replaced.get(id(node))
        if found is not None and not isinstance(node.ctx, gast.Load):
            raise _Refused("a method stores into a variable of the function")
        return node if found is None else found


def _placed(made: Any, node: gast.AST) -> Any:
    for part in gast.walk(made):
        if "lineno" in part._attributes:
            gast.copy_location(part, node)
    return made


def _blocks_of(statement: Any) -> Iterator[list[gast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield block
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def _first_line(node: Any) -> int:
    return int(min([node.lineno, *(each.lineno for each in node.decorator_list)]))


def _qualified(source: Source, scope: Scope, name: str) -> str:
    parts = [name]
    here: Scope | None = scope
    while here is not None and here.parent is not None:
        parts.insert(0, f"{written_name(here.node)}.<locals>")  # type: ignore[arg-type]
        here = here.parent
    return ".".join([f"{source.qualname}.<locals>", *parts])


def _renamed(code: CodeType, before: str, after: str) -> CodeType:
    """The code of a class, with another qualified name, and what stands in it with it."""
    constants = tuple(
        _renamed(each, before, after) if isinstance(each, CodeType) else after if each == before else each
        for each in code.co_consts
    )
    return code.replace(co_qualname=after + code.co_qualname.removeprefix(before), co_consts=constants)
