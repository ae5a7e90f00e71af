"""``__init__`` as a function that returns the object: fields become locals until the object is made of them.

Enters: the body of an ``__init__`` or ``__post_init__`` and the class that is made.  Leaves: a body without stores into
fields.  Requires that every field is set on every path and that the object is not handed on before it is complete::

    def __init__(self, w):               self_w = w * 2.0
        self.w = w * 2.0          ->     self_n = len(self_w)
        self.n = len(self.w)             return Layer(w=self_w, n=self_n)      (a Pack of the fields)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from types import FunctionType

import gast

from srcgrad.errors import SrcgradError, UnsupportedSyntax
from srcgrad.frontend.bound_methods import place_of, places_kept
from srcgrad.frontend.classes import ABSENT, defining_class, found, is_field
from srcgrad.frontend.desugar.build import assign, call, load, placed
from srcgrad.frontend.journal import remembered
from srcgrad.frontend.names import body_of
from srcgrad.frontend.source import source_of
from srcgrad.syntax.globals import GlobalBinding, GlobalReference, reference
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone, parameters_of, walk

Refuse = Callable[..., SrcgradError]


def stale(kind: type, name: str) -> tuple[str, str]:
    """The reason and the hint where a field is stored into that a function has read while the object was made."""
    reason = f"a function that __init__ of class {kind.__name__} makes keeps the value that the field {name!r} has then"
    return reason, "write a method in place of the function"


@dataclass(frozen=True)
class Maker:
    """Makes an object of its fields, in order; what a folded ``__init__`` ends with."""

    kind: type
    fields: tuple[str, ...]

    def __call__(self, *values: object) -> object:
        raise NotImplementedError


@dataclass(frozen=True)
class Initialiser:
    """An ``__init__`` as a function that returns an object with the fields that it sets.

    ``given`` are the fields that a dataclass has set before its ``__post_init__``, its first arguments here.
    """

    kind: type
    function: FunctionType
    given: tuple[str, ...] = ()

    def __call__(self, *values: object) -> object:
        raise NotImplementedError


@remembered
def fields_set(function: FunctionType, kind: type) -> tuple[str, ...]:
    """The fields that an ``__init__`` sets, those of the base classes' that it calls included, in order."""
    node = source_of(function).node
    this = node.args.args[0].id if node.args.args else ""
    names: dict[str, None] = {}
    for inner in walk(*body_of(node)):
        base = initialised(inner, function, kind, this)
        if base is not None:
            names.update(dict.fromkeys(fields_set(base, kind)))
        match inner:
            case gast.Attribute(value=gast.Name(id=name), attr=attr, ctx=gast.Store()) if name == this:
                names.setdefault(attr)
            case gast.Call() if (stored := _object_setattr(inner, this)) is not None:
                names.setdefault(stored[0])
    return tuple(names)


def initialised(node: gast.AST, function: FunctionType, kind: type, this: str) -> FunctionType | None:
    """The ``__init__`` that ``super().__init__(...)`` or ``Base.__init__(self, ...)`` calls, if it is a user's."""
    match node:
        case gast.Call(func=gast.Attribute(value=gast.Call(func=gast.Name(id="super"), args=[]), attr="__init__")):
            start = defining_class(function)
            raw = ABSENT if start is None else found(kind, "__init__", start)
        case gast.Call(
            func=gast.Attribute(value=gast.Name(id=base), attr="__init__"), args=[gast.Name(id=first), *_]
        ) if first == this:
            binding = source_of(function).resolve(base)
            owner = None if binding is None else binding.value
            raw = found(owner, "__init__") if isinstance(owner, type) else ABSENT
        case _:
            return None
    return raw if isinstance(raw, FunctionType) else None


def _object_setattr(node: gast.Call, this: str) -> tuple[str, gast.expr] | None:
    match node:
        case gast.Call(
            func=gast.Attribute(value=gast.Name(id="object"), attr="__setattr__"),
            args=[gast.Name(id=first), gast.Constant(value=str() as name), value],
        ) if first == this:
            return name, value
    return None


@remembered
def is_foldable(made: Initialiser) -> bool:
    """Whether an ``__init__`` does nothing with the object but set its fields, and call what only reads them."""
    source = source_of(made.function)
    this = source.node.args.args[0].id if source.node.args.args else ""

    def refuse(node: gast.AST, reason: str, hint: str) -> UnsupportedSyntax:
        return UnsupportedSyntax(reason, source.span(node), hint=hint)

    names_set = (field for field in fields_set(made.function, made.kind) if field not in made.given)
    if not all(is_field(found(made.kind, field)) for field in names_set):
        return False  # until a field is set, what the class holds under its name is read
    names = Namer([this])
    try:
        Folding(made.function, made.kind, this, made.given, refuse, names.fresh).body(body_of(source.node))
    except UnsupportedSyntax:
        return False
    if any(isinstance(found(made.kind, name), FunctionType) for name in _kept(body_of(source.node), this)):
        return False  # a method that is kept in a field is one of the object itself
    if any(_changes_object(node, this, made.kind, set()) for node in walk(*body_of(source.node))):
        return False
    bases = (initialised(node, made.function, made.kind, this) for node in walk(*body_of(source.node)))
    return all(is_foldable(Initialiser(made.kind, base)) for base in bases if base is not None)


@remembered
def read_later(kind: type) -> frozenset[str]:
    """The fields of which functions that ``__init__`` makes read the value as it is then, as they become locals."""
    given = tuple(each.name for each in fields(kind)) if is_dataclass(kind) else ()
    makers = ((found(kind, "__init__"), ()), (found(kind, "__post_init__"), given))
    made = [Initialiser(kind, raw, names) for raw, names in makers if isinstance(raw, FunctionType)]
    return frozenset[str]().union(*(_read_later(each.function, kind) for each in made if _is_folded(each)))


def _is_folded(made: Initialiser) -> bool:
    try:
        return is_foldable(made)
    except (SrcgradError, OSError):  # a dataclass has written it: it makes no functions
        return False


@remembered
def _read_later(function: FunctionType, kind: type) -> frozenset[str]:
    node = source_of(function).node
    this = node.args.args[0].id if node.args.args else ""
    body = body_of(node)
    read = set(_read_by_functions(body, this, function))
    bases = [base for inner in walk(*body) if (base := initialised(inner, function, kind, this)) is not None]
    read.update(name for base in bases for name in _read_later(base, kind))
    every = fields_set(function, kind)
    return frozenset(read if read <= {*every} else {*read, *every})  # a method that is read may read any field


def _read_by_functions(body: Sequence[gast.stmt], this: str, function: FunctionType) -> Iterator[str]:
    """The attributes of the object that functions read which are made in the body of one, and may be called later."""
    own = {*function.__code__.co_varnames, *function.__code__.co_cellvars, *function.__code__.co_freevars}
    called = _called_at_once(body, lambda name: name not in own and name not in function.__globals__)
    for made in walk(*body):
        if not isinstance(made, gast.FunctionDef | gast.Lambda) or made in called or this in parameters_of(made.args):
            continue
        for part in walk(*(made.body if isinstance(made, gast.FunctionDef) else [made.body])):
            if isinstance(part, gast.Attribute) and isinstance(part.value, gast.Name) and part.value.id == this:
                yield part.attr


_SORTING = ("sorted", "min", "max")
_CONSUMING = ("list", "tuple", "set", "sum", "any", "all", *_SORTING)


def _called_at_once(body: Sequence[gast.stmt], is_builtin: Callable[[str], bool]) -> set[gast.AST]:
    """The functions that nothing keeps: keys of sorting, what ``list(map(...))`` is given, and those that are called by
    name, outside of other functions."""
    nodes = list(walk(*body))
    found: set[gast.AST] = set()
    inside = {id(part) for node in nodes if isinstance(node, gast.FunctionDef | gast.Lambda) for part in walk(node)}
    called = {id(node.func) for node in nodes if isinstance(node, gast.Call)} - inside
    kept = {n.id for n in nodes if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load) and id(n) not in called}
    for node in nodes:
        if isinstance(node, gast.FunctionDef) and node.name not in kept:
            found.add(node)
        if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name) or not is_builtin(node.func.id):
            continue
        if node.func.id in _SORTING:
            found.update(keyword.value for keyword in node.keywords if keyword.arg == "key")
        match node.args:
            case [gast.Call(func=gast.Name(id="map" | "filter" as maps), args=[function, *_])] if (
                node.func.id in _CONSUMING and is_builtin(maps)
            ):
                found.add(function)
    return found


def _kept(body: Sequence[gast.stmt], this: str) -> Iterator[str]:
    """The names of what is read of the object to be kept in its fields."""
    places = places_kept(body)
    for node in walk(*body):
        if isinstance(node, gast.Attribute) and place_of(node) in places and node.value.id == this:
            yield node.attr


def _changes_object(node: gast.AST, this: str, kind: type, seen: set[object]) -> bool:
    """Whether a node calls a method of the object that sets fields, of itself or through other methods."""
    match node:
        case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attr)) if name == this:
            raw = found(kind, attr)
        case gast.Call(func=gast.Attribute(value=gast.Call(func=gast.Name(id="super")), attr=attr)):
            raw = found(kind, attr)
        case gast.Attribute(value=gast.Name(id=name), attr=attr) if name == this:
            read = found(kind, attr)
            raw = read.fget if isinstance(read, property) else None
        case _:
            return False
    if attr == "__init__" or not isinstance(raw, FunctionType):
        return False
    if raw in seen:
        return False
    seen.add(raw)
    inner = source_of(raw).node
    own = inner.args.args[0].id if inner.args.args else ""
    for part in walk(*body_of(inner)):
        if isinstance(part, gast.Attribute) and not isinstance(part.ctx, gast.Load):
            return True
        if isinstance(part, gast.Name) and part.id == own and isinstance(part.ctx, gast.Store):
            return True
        if _changes_object(part, own, kind, seen):
            return True
    if any(_read_by_functions(body_of(inner), own, raw)):  # which it may return
        return True
    return any(not isinstance(node, gast.Attribute) and _hands_on(node, own) for node in walk(*body_of(inner)))


def _hands_on(node: gast.AST, this: str) -> bool:
    """Whether the object itself is an operand of a node."""
    parts = (getattr(node, field, None) for field in node._fields)
    flat = (one for part in parts for one in (part if isinstance(part, list) else (part,)))
    return any(isinstance(one, gast.Name) and one.id == this for one in flat)


class Folding:
    """Folds one ``__init__``; ``fresh`` gives names that mean nothing else in it."""

    def __init__(
        self,
        function: FunctionType,
        kind: type,
        this: str,
        given: Sequence[str],
        refuse: Refuse,
        fresh: Callable[[str], str],
    ) -> None:
        self.function = function
        self.kind = kind
        self.this = this
        self.refuse = refuse
        self.fresh = fresh
        self.fields = dict.fromkeys((*given, *fields_set(function, kind)))
        self.names = {field: fresh(f"{this}_{field}") for field in self.fields}
        self.parameters = {field: fresh(f"{this}_{field}") for field in given}
        self.object = fresh(this)
        self.set: dict[str, None] = dict.fromkeys(given)
        self.late: frozenset[str] = frozenset()  # what functions have read that a base class made

    def body(self, statements: Sequence[gast.stmt]) -> list[gast.stmt]:
        statements = [clone(statement) for statement in statements]
        first = statements[0]
        made = [assign(self.names[f], load(p, first), first) for f, p in self.parameters.items()]
        for statement in statements:
            made += self._outermost(statement)
            self.set.update(dict.fromkeys(self._certainly_set(made[-1:])))
        last = statements[-1]
        missing = [field for field in self.fields if field not in self.set]
        if missing:
            raise self.refuse(
                last, f"the field {missing[0]!r} is set on some paths through __init__ only", "set it to None first"
            )
        return [*made, placed(gast.Return(self._made(list(self.fields), last)), last)]

    def _outermost(self, statement: gast.stmt) -> list[gast.stmt]:
        if isinstance(statement, gast.Expr) and isinstance(statement.value, gast.Call):
            node = statement.value
            base = initialised(node, self.function, self.kind, self.this)
            if base is not None:
                return self._initialise(node, base)
            if self._initialises_object(node):
                return []
        before = list(self.set)
        is_late = not self.fields.keys() >= {*_read_by_functions([statement], self.this, self.function)}
        self.uses_object = False
        holder = gast.Module([statement], [])
        self._rewrite(holder)
        if is_late:  # it reads a copy of the object, made of what is set by now
            self.late |= self.fields.keys()
        if not self.uses_object:
            return list(holder.body)
        return [assign(self.object, self._made(before, statement), statement), *holder.body]

    def _initialises_object(self, node: gast.Call) -> bool:
        match node:
            case gast.Call(func=gast.Attribute(value=gast.Call(func=gast.Name(id="super"), args=[]), attr="__init__")):
                start = defining_class(self.function)
                return start is not None and found(self.kind, "__init__", start) is object.__init__
        return False

    def _initialise(self, node: gast.Call, base: FunctionType) -> list[gast.stmt]:
        """``super().__init__(...)``: its fields are read off the object that it makes."""
        arguments = node.args if isinstance(node.func.value, gast.Call) else node.args[1:]
        holder = gast.Expr(placed(gast.Call(node.func, list(arguments), node.keywords), node))
        node = holder.value
        head = reference(GlobalBinding(base.__name__, Initialiser(self.kind, base)))
        node.func = placed(head, node.func)
        self.uses_object = False
        self._rewrite(holder)
        if self.uses_object:
            raise self.refuse(node, "an object is used before it is complete", "call super().__init__ first")
        part = self.fresh("base")
        self.late |= _read_later(base, self.kind)
        made = [assign(part, holder.value, node)]
        for field in fields_set(base, self.kind):
            read = placed(gast.Attribute(load(part, node), field, gast.Load()), node)
            made.append(assign(self.names[field], read, node))
            self.set.setdefault(field)
        return made

    def _made(self, fields: list[str], at: gast.AST) -> gast.expr:
        maker = Maker(self.kind, tuple(fields))
        head = reference(GlobalBinding(self.kind.__name__, maker))
        return call(head, [load(self.names[field], at) for field in fields], at)

    def _rewrite(self, root: gast.AST) -> None:
        """Fields as locals, wherever they stand in a statement."""
        pending = [root]
        while pending:
            node = pending.pop()
            if isinstance(node, gast.Return):
                raise self.refuse(node, "__init__ returns before its end", "put the rest into an else")
            for name in node._fields:
                child = getattr(node, name, None)
                if isinstance(child, list):
                    child[:] = [self._replaced(c, pending) if isinstance(c, gast.AST) else c for c in child]
                elif isinstance(child, gast.AST):
                    setattr(node, name, self._replaced(child, pending))

    def _replaced(self, node: gast.AST, pending: list[gast.AST]) -> gast.AST:
        match node:
            case GlobalReference():
                return node
            case gast.Attribute(value=gast.Name(id=name), attr=attr, ctx=context) if name == self.this:
                if attr in self.late and not isinstance(context, gast.Load):
                    raise self.refuse(node, *stale(self.kind, attr))
                if attr in self.names:
                    return placed(gast.Name(self.names[attr], context, None, None), node)
                self.uses_object = True
                return placed(gast.Attribute(load(self.object, node), attr, context), node)
            case gast.Expr(value=gast.Call() as inner) if (stored := _object_setattr(inner, self.this)) is not None:
                made = assign(self.names[stored[0]], stored[1], node)
                pending.append(made)
                return made
            case gast.Name(id=name) if name == self.this:
                raise self.refuse(node, "an object is handed on before its __init__ is done", "set its fields only")
        pending.append(node)
        return node

    def _certainly_set(self, statements: Iterable[gast.stmt]) -> set[str]:
        by_name = {name: field for field, name in self.names.items()}
        certain: set[str] = set()
        for statement in statements:
            match statement:
                case gast.If(body=body, orelse=orelse):
                    certain |= self._certainly_set(body) & self._certainly_set(orelse)
                case gast.With(body=body):
                    certain |= self._certainly_set(body)
                case gast.For() | gast.While() | gast.FunctionDef():
                    continue
                case gast.Assign() | gast.AnnAssign() | gast.AugAssign():
                    stored = [n for n in walk(statement) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)]
                    certain |= {by_name[n.id] for n in stored if n.id in by_name}
        return certain
