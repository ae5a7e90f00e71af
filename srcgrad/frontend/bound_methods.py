"""Methods as values: written as lambdas that hold the object, once it is known that a name after a dot is a method.

Enters: the body of a function, and the places in it where a method is read but not called.  Leaves: the body with local
functions there; their signature is the method's, so that ``grad(model.loss)`` knows what it is asked for::

    g = model.loss          ->      g = lambda x, k=2.0, *, this=model: this.loss(x, k)

Which places these are is found out while the function is written: what raises ``MethodRead`` is written again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FunctionType

import gast

from srcgrad import runtime
from srcgrad.errors import Span, UnresolvedName, UnsupportedSyntax
from srcgrad.frontend.classes import found
from srcgrad.frontend.desugar.build import load, placed
from srcgrad.frontend.known import Instance, Known, Own, instances_of
from srcgrad.frontend.scope import Static
from srcgrad.frontend.signatures import Signature, signature_of
from srcgrad.rules.rewriting import rebuilt
from srcgrad.syntax.globals import GlobalReference, reference
from srcgrad.syntax.parse import children, walk

Place = tuple[int, int, int, int]
Methods = Mapping[Place, Signature | None]  # None: nothing is known of the signature, so it takes any arguments
_ANY = Signature("method", (), 0, "arguments", (), None)


def place_of(node: gast.AST) -> Place:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def places_kept(body: Iterable[gast.AST]) -> frozenset[Place]:
    """Where methods of an object may be read to be kept in a field of the same object, as ``Own``."""
    found: set[Place] = set()
    for node in walk(*body):
        match node:
            case gast.Assign(targets=[gast.Attribute(value=gast.Name(id=owner))], value=value):
                pending = [value]
                while pending:
                    match pending.pop():
                        case gast.Attribute(value=gast.Name(id=name)) as read if name == owner:
                            found.add(place_of(read))
                        case gast.IfExp(body=first, orelse=second):
                            pending += [first, second]
                        case gast.Dict(values=parts) | gast.List(elts=parts) | gast.Tuple(elts=parts):
                            pending += parts
                        case gast.Subscript(value=gast.Dict() | gast.List() | gast.Tuple() as container):
                            pending.append(container)
    return frozenset(found)


def kept_method(expression: gast.expr) -> Own | None:
    """What is known of ``bound(object, name)``."""
    match expression:
        case gast.Call(func=GlobalReference(binding=binding), args=[_, gast.Constant(value=name)]):
            return Own(name) if binding.value is runtime.bound else None
    return None


def method_signature(known: Iterable[Known], name: str) -> Signature | None:
    """How a method is called without its object; None where the classes that it may belong to differ."""
    made: list[Signature] = []
    for instance in known:
        assert isinstance(instance, Instance)
        raw = found(instance.kind, name)
        function = raw.__func__ if isinstance(raw, staticmethod | classmethod) else raw
        if not isinstance(function, FunctionType):
            return None
        signature = signature_of(function)
        if not isinstance(raw, staticmethod):
            if not signature.positional:
                return None
            rest = max(0, signature.positional_only - 1)
            signature = Signature(
                name,
                signature.positional[1:],
                rest,
                signature.variadic,
                signature.keyword_only,
                signature.keywords,
                signature.defaults,
            )
        made.append(signature)
    first = made[0]
    return first if all(_shape(each) == _shape(first) for each in made) else None


def _shape(signature: Signature) -> tuple[object, ...]:
    defaults = tuple((n, type(d), d.value) for n, d in signature.defaults.items() if isinstance(d, gast.Constant))
    others = tuple((n, id(d)) for n, d in signature.defaults.items() if not isinstance(d, gast.Constant))
    kinds = (signature.positional, signature.positional_only, signature.keyword_only)
    return (*kinds, signature.variadic is None, signature.keywords is None, defaults, others)


def read_here(body: Iterable[gast.AST], peek: Callable[[gast.AST], Known]) -> Iterator[tuple[Place, Signature | None]]:
    """The places in a body where methods of objects that are known are read and not called."""
    pending: list[gast.AST] = list(body)
    kept = places_kept(pending)
    while pending:
        node = pending.pop()
        match node:
            case gast.Attribute() if place_of(node) in kept:
                continue
            case gast.FunctionDef() | gast.Lambda():
                continue
            case gast.Call(func=gast.Attribute(value=value), args=args, keywords=keywords):
                pending += [value, *args, *keywords]
                continue
            case gast.Attribute(value=value, attr=name, ctx=gast.Load()):
                try:
                    known = instances_of(peek(value))
                except UnresolvedName:  # the target of a comprehension
                    known = []
                raws = [found(instance.kind, name) for instance in known]
                if raws and all(isinstance(raw, FunctionType | classmethod) for raw in raws):
                    yield place_of(node), method_signature(known, name)
        pending += children(node)


class MethodRead(UnsupportedSyntax):
    """A method is read as a value at a place where that was not known yet."""

    def __init__(self, reason: str, span: Span, place: Place, signature: Signature | None) -> None:
        super().__init__(reason, span, hint="call it here")
        self.found = {place: signature}


def with_methods(body: Sequence[gast.stmt], methods: Methods, fresh: Callable[[str], str]) -> list[gast.stmt]:
    """The body with a lambda in each of these places."""
    if not methods:
        return list(body)

    def change(node: gast.AST) -> gast.AST | None:
        match node:
            case gast.Attribute(value=value) if _is_read(node, methods):
                return _written(node, rebuilt(value, change), methods[place_of(node)] or _ANY, fresh)
        return None

    return [rebuilt(s, change) if any(_is_read(node, methods) for node in walk(s)) else s for s in body]


def _is_read(node: gast.AST, methods: Methods) -> bool:
    return isinstance(node, gast.Attribute) and isinstance(node.ctx, gast.Load) and place_of(node) in methods


def _written(node: gast.Attribute, owner: gast.expr, signature: Signature, fresh: Callable[[str], str]) -> gast.Lambda:
    this = fresh("this")
    while this in signature.parameters:
        this = fresh("this")

    def parameter(name: str) -> gast.Name:
        return placed(gast.Name(name, gast.Param(), None, None), node)

    def default(name: str) -> gast.expr:
        held = signature.defaults[name]
        if isinstance(held, gast.Constant):
            return held
        if isinstance(held, Static):
            assert held.expression is not None
            return held.expression
        return placed(reference(held), node)  # type: ignore[arg-type]

    count = signature.positional_only
    positional = [parameter(name) for name in signature.positional]
    arguments = gast.arguments(
        positional[count:],
        positional[:count],
        None if signature.variadic is None else parameter(signature.variadic),
        [*map(parameter, signature.keyword_only), parameter(this)],
        [default(n) if n in signature.defaults else None for n in signature.keyword_only] + [owner],
        None if signature.keywords is None else parameter(signature.keywords),
        [default(name) for name in signature.positional if name in signature.defaults],
    )
    passed: list[gast.expr] = [load(name, node) for name in signature.positional]
    if signature.variadic is not None:
        passed.append(placed(gast.Starred(load(signature.variadic, node), gast.Load()), node))
    named = [placed(gast.keyword(name, load(name, node)), node) for name in signature.keyword_only]
    if signature.keywords is not None:
        named.append(placed(gast.keyword(None, load(signature.keywords, node)), node))
    method = placed(gast.Attribute(load(this, node), node.attr, gast.Load()), node)
    return placed(gast.Lambda(arguments, placed(gast.Call(method, passed, named), node)), node)
