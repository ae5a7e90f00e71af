"""Text to gast, and what every pass does with a tree: quote, clone, place, compare, list the names it reads.

Enters: Python text or a gast tree.  Leaves: a gast tree whose every field is present.  Nothing here recurses over a
tree, so that an expression of thousands of terms, or an ``elif`` chain of that length, is a program like any other.

>>> names_read(quote("a * np.sin(b) + [c for c in a]"))
['a', 'np', 'b']
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, TypeVar

import gast

from srcgrad.syntax.depth import alone
from srcgrad.syntax.globals import GlobalReference

Node = TypeVar("Node", bound=gast.AST)

_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")
_ABSENT_LISTS = frozenset({"type_params", "decorator_list", "keywords", "type_ignores"})


read = alone(ast.parse)


def parse(text: str, filename: str = "<unknown>") -> gast.Module:
    """The gast tree of a file's text; lines from 1, columns in utf-8 bytes as CPython counts them."""
    return from_ast(read(text, filename))


def quote(text: str) -> gast.expr:
    """The expression that ``text`` spells, without places."""
    return _unplaced(from_ast(read(text.strip(), "<quote>", mode="eval").body))


def quote_statements(text: str) -> list[gast.stmt]:
    """The statements that ``text`` spells, without places."""
    return [_unplaced(from_ast(statement)) for statement in read(text, "<quote>").body]


def from_ast(root: ast.AST) -> Any:
    """The gast tree of a CPython tree (``gast.ast_to_gast`` recurses, and leaves out fields that a version lacks)."""
    made = _shell(root)
    pending: list[tuple[ast.AST, gast.AST]] = [(root, made)]
    while pending:
        old, new = pending.pop()
        for name, value in _contents(old, new):
            match value:
                case list():
                    items: list[object] = []
                    for item in value:
                        if isinstance(item, ast.AST):
                            item, source = _shell(item), item
                            if item._fields:
                                pending.append((source, item))
                        items.append(item)
                    setattr(new, name, items)
                case ast.AST():
                    child = _shell(value)
                    setattr(new, name, child)
                    if child._fields:
                        pending.append((value, child))
                case _:
                    setattr(new, name, value)
    return made


def _shell(node: ast.AST) -> gast.AST:
    """An empty gast node for ``node``, at its place; one for all that have neither content nor place."""
    found: Any = node.__class__
    kind, places, shared = _counterpart(found)
    if shared is not None:
        return shared
    made: gast.AST = kind.__new__(kind)
    here, there = made.__dict__, node.__dict__
    for name in places:
        if name in there:
            here[name] = there[name]
    return made


@cache
def _counterpart(found: Any) -> tuple[Any, tuple[str, ...], gast.AST | None]:
    """The class of gast's for one of Python's, the names of its place, and the node that all of it share, if so."""
    kind = gast.Name if found is ast.arg else getattr(gast, found.__name__)
    places = tuple(name for name in _PLACE if name in kind._attributes)
    return kind, places, None if kind._fields or kind._attributes else kind()


def _contents(old: ast.AST, new: gast.AST) -> Iterator[tuple[str, object]]:
    match old:
        case ast.arg():
            yield "id", old.arg
            yield "ctx", gast.Param()
            yield "annotation", old.annotation
            yield "type_comment", old.type_comment
        case ast.ExceptHandler(name=str() as name):
            yield "type", old.type
            yield "name", ast.copy_location(ast.Name(name, ast.Store()), old)
            yield "body", old.body
        case _:
            for field in new._fields:
                yield field, getattr(old, field, [] if field in _ABSENT_LISTS else None)


# Fields that never hold a node with content: what a name is there for is asked of the name itself.
_NO_NODES = frozenset({"ctx", "id", "attr", "arg", "type_comment", "kind"})


class _Below(dict[type, "tuple[str, ...] | None"]):
    """The fields of a class of nodes in which there may be nodes, last first; None of what is no node, and of dicts."""

    def __missing__(self, kind: Any) -> tuple[str, ...] | None:
        if issubclass(kind, gast.Constant):
            self[kind] = ()
        elif not issubclass(kind, gast.AST) or kind is gast.Dict:
            self[kind] = None
        else:
            self[kind] = tuple(field for field in kind._fields if field not in _NO_NODES)[::-1]
        return self[kind]


BELOW = _Below()


def children(node: gast.AST) -> list[gast.AST]:
    """The nodes directly below ``node``, in the order of its fields, of a dict in pairs; not the contexts of names."""
    fields = BELOW[node.__class__]
    if fields is None:
        return [*_in_pairs(node)]
    found: list[gast.AST] = []
    here = node.__dict__
    for name in reversed(fields):
        value = here.get(name)
        if value is None:
            continue
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, gast.AST)]
        elif isinstance(value, gast.AST):
            found.append(value)
    return found


def _in_pairs(node: Any) -> Iterator[gast.AST]:
    """Each key of a display of a dict before its value, as Python evaluates them; what is spread has no key."""
    return (part for pair in zip(node.keys, node.values, strict=True) for part in pair if part is not None)


def walk(*roots: gast.AST) -> Iterator[gast.AST]:
    """Every node at or below ``roots``, parents first, in source order; not the contexts of names."""
    pending: list[Any] = [*roots][::-1]
    while pending:
        node = pending.pop()
        fields = BELOW[node.__class__]
        if fields is None:
            if node.__class__ is gast.Dict:
                yield node
                pending += [*_in_pairs(node)][::-1]
            continue  # of a name or number, which stands where a node might
        yield node
        here = node.__dict__  # not by ``children``: every pass walks, and this loop is what it costs
        for name in fields:
            value = here.get(name)
            if value is None:
                continue
            if value.__class__ is list:
                pending += value[::-1]
            else:
                pending.append(value)


def nodes_of(body: Iterable[gast.AST]) -> Iterator[gast.AST]:
    """The nodes of the text of a function, without the bodies of the functions in it, the first ones first."""
    pending: list[gast.AST] = list(body)[::-1]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, gast.FunctionDef | gast.Lambda):
            pending += children(node)[::-1]


def clone(node: Node) -> Node:
    """A structural copy that keeps places.  References to globals and nodes without content are shared."""
    kind: Any = type(node)
    if _is_shared(kind):
        return node
    made = _shallow_copy(node)
    pending: list[dict[str, Any]] = [made.__dict__]
    while pending:
        here = pending.pop()
        for name, value in here.items():
            kind = value.__class__
            if kind in _PLAIN:
                continue
            if kind is list:
                here[name] = items = []
                for item in value:
                    if isinstance(item, gast.AST) and not _is_shared(item.__class__):
                        item = _shallow_copy(item)
                        pending.append(item.__dict__)
                    items.append(item)
            elif isinstance(value, gast.AST) and not _is_shared(kind):
                here[name] = value = _shallow_copy(value)
                pending.append(value.__dict__)
    return made


_PLAIN = frozenset({str, int, float, bool, tuple, type(None)})


def _shallow_copy(node: Node) -> Node:
    """A node with the same contents, which are not copied."""
    kind: Any = type(node)
    made: Node = kind.__new__(kind)
    made.__dict__.update(node.__dict__)
    return made


@cache
def _is_shared(kind: Any) -> bool:
    return issubclass(kind, GlobalReference) or not (kind._fields or kind._attributes)


def located(node: Node, origin: gast.AST) -> Node:
    """``node``, every part of it that has no place put at the place of ``origin``.  Changes ``node``."""
    place = {name: getattr(origin, name, None) for name in _PLACE}
    if place["lineno"] is None:
        return node
    for below in walk(node):
        if "lineno" in below._attributes and getattr(below, "lineno", None) is None:
            if not isinstance(below, GlobalReference):
                below.__dict__.update(place)
    return node


def _unplaced(node: Node) -> Node:
    for below in walk(node):
        for name in _PLACE:
            below.__dict__.pop(name, None)
    return node


def names_read(*roots: gast.AST) -> list[str]:
    """The local names that an expression reads, each once, in order; what its own lambdas and comprehensions bind is
    left out, and so are references to globals."""
    if len(roots) == 1 and roots[0].__class__ is gast.Name:
        return [roots[0].id] if isinstance(roots[0].ctx, gast.Load) else []
    return list(dict.fromkeys(name.id for name in visible_names(*roots) if isinstance(name.ctx, gast.Load)))


def visible_names(*roots: gast.AST) -> Iterator[gast.Name]:
    """The names in expressions that mean what they mean around them, in order: not what lambdas and comprehensions
    inside bind, nor references to globals."""
    pending: list[gast.AST] = [*roots]
    pending.reverse()
    while pending:
        node = pending.pop()
        kind = node.__class__
        if kind is gast.Name:
            yield node
        elif kind in _SCOPES:
            outside, inside, bound = _scope(node)
            yield from visible_names(*outside)
            yield from (name for name in visible_names(*inside) if name.id not in bound)
        elif kind is not GlobalReference:
            pending += children(node)[::-1]


_SCOPES = frozenset({gast.Lambda, gast.ListComp, gast.SetComp, gast.GeneratorExp, gast.DictComp})


def _scope(node: Any) -> tuple[list[gast.AST], list[gast.AST], frozenset[str]]:
    """Of a lambda or a comprehension: the expressions outside of its scope, those inside, and the names it binds."""
    if isinstance(node, gast.Lambda):
        return [*_defaults(node.args)], [node.body], parameters_of(node.args)
    first = node.generators[0].iter
    tests = [part for each in node.generators for part in (each.iter, *each.ifs) if part is not first]
    parts = (node.key, node.value) if isinstance(node, gast.DictComp) else (node.elt,)
    return [first], [*tests, *parts], names_bound(*(generator.target for generator in node.generators))


def names_bound(*targets: gast.AST) -> frozenset[str]:
    """The names that assignment targets bind, at any depth of unpacking."""
    return frozenset(
        node.id for node in walk(*targets) if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store)
    )


def parameters_of(arguments: gast.arguments) -> frozenset[str]:
    """Every name that a parameter list binds."""
    return frozenset(name.id for name in _parameters(arguments))


def _parameters(arguments: gast.arguments) -> Iterable[gast.Name]:
    yield from arguments.posonlyargs
    yield from arguments.args
    yield from (name for name in (arguments.vararg,) if name is not None)
    yield from arguments.kwonlyargs
    yield from (name for name in (arguments.kwarg,) if name is not None)


def _defaults(arguments: gast.arguments) -> Iterable[gast.expr]:
    yield from arguments.defaults
    yield from (default for default in arguments.kw_defaults if default is not None)


def same_tree(a: object, b: object) -> bool:
    """Whether two trees are the same program, places aside.  ``1``, ``1.0`` and ``True`` differ, as do ``0.0``
    and ``-0.0``; references to globals agree when they mean the same object."""
    pending: list[tuple[object, object]] = [(a, b)]
    while pending:
        left, right = pending.pop()
        if left is right:
            continue
        if type(left) is not type(right):
            return False
        match left, right:
            case GlobalReference(), GlobalReference():
                if not left.binding.same(right.binding):
                    return False
            case gast.Constant(), gast.Constant():
                if not _same_constant(left.value, right.value):
                    return False
            case gast.AST(), gast.AST():
                pending.extend((getattr(left, name, None), getattr(right, name, None)) for name in left._fields)
            case list(), list():
                if len(left) != len(right):
                    return False
                pending.extend(zip(left, right))
            case _:
                if left != right:
                    return False
    return True


def _same_constant(a: object, b: object) -> bool:
    return type(a) is type(b) and (a == b or a != a) and repr(a) == repr(b)


def spelled(node: gast.AST) -> str:
    """A dotted name as the user wrote it."""
    match node:
        case gast.Name(id=name):
            return str(name)
        case gast.Attribute(value=value, attr=attr):
            return f"{spelled(value)}.{attr}"
    return "this function"
