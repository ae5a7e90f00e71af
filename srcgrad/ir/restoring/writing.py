"""The last step of restoring: names are put in, and block arguments become assignments or nothing.

>>> import gast
>>> from srcgrad.ir.operations import Version
>>> from srcgrad.ir.regions import Block, Function, Parameters, Return
>>> from srcgrad.ir.restoring.functions import planned
>>> from srcgrad.ir.restoring.names import Naming, named
>>> from srcgrad.ir.restoring.tree import of_version
>>> a, b, c, d = (Version(text, text[0]) for text in ("a", "b", "a2", "b2"))
>>> body = Block((), Return(c))
>>> f = Function("f", "f", Parameters((), (a, b)), (), (), body, gast.Pass())
>>> naming = Naming(planned(f, set(), frozenset()))
>>> swap = [Copies([c, d], [of_version(b), of_version(a)]), gast.Return(of_version(c))]
>>> named(naming, swap)
True
>>> pairs, _ = written(naming, swap)
>>> [part.id for part in pairs.targets[0].elts], [part.id for part in pairs.value.elts]
(['a', 'b'], ['b', 'a'])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gast

from srcgrad.errors import InternalError, Span
from srcgrad.ir.operations import UNBOUND
from srcgrad.ir.restoring.reaching import NOTHING
from srcgrad.ir.restoring.tree import Copies, assigned, body_of, is_nothing, name

if TYPE_CHECKING:
    from srcgrad.ir.restoring.names import Naming

_SUITES = ("body", "orelse", "finalbody")


def written(naming: Naming, body: list[Any]) -> list[Any]:
    """Statements with names, of Python alone."""
    found: list[Any] = []
    for statement in body:
        if isinstance(statement, Copies):
            for made in _copied(naming, statement):
                made.comes_from = statement.comes_from
                found.append(made)
            continue
        found.append(_statement(naming, statement))
        if isinstance(statement, gast.FunctionDef) and statement.name != statement.wanted:
            found.append(_renamed(statement))
    return found


def _renamed(node: Any) -> Any:
    """A function is called as it was, whatever its definition is called."""
    target = gast.Attribute(name(node.name), "__name__", gast.Store())
    return assigned([target], gast.Constant(node.wanted, None))


def written_generator(naming: Naming, node: Any) -> None:
    """Put the names of its own scope into a generator expression; its first iterable is of the scope around."""
    first = node.generators[0]
    source, first.iter = first.iter, None
    node.elt, node.generators = _expression(naming, node.elt), _expression(naming, node.generators)
    first.iter = source


def _copied(naming: Naming, copies: Copies) -> list[Any]:
    """Block arguments: those that keep their names are left out."""
    pairs: list[tuple[str, Any]] = []
    perhaps: list[tuple[str, Any]] = []  # of what may hold no value
    gone: list[Any] = []
    for place, (target, value) in enumerate(zip(copies.targets, copies.values, strict=True)):
        text = naming.name(target)
        if is_nothing(value):
            if target.variable is None:
                continue  # what a pattern binds is read where it matched alone
            held = copies.found.get(place, NOTHING)
            if naming.holds_none:
                gone.append(assigned([name(text, gast.Store)], gast.Constant(None, None)))
                continue
            gone += [] if held == NOTHING else _unbound(text, UNBOUND in held or bool(held & naming.doubtful))
            continue
        spelled = _expression(naming, value)
        if not (isinstance(spelled, gast.Name) and spelled.id == text):
            is_doubtful = getattr(value, "version", None) in naming.doubtful and not naming.holds_none
            (perhaps if is_doubtful else pairs).append((text, spelled))
    written_here = {text for text, _ in [*pairs, *perhaps]}
    if perhaps and any(value.id in written_here for _, value in perhaps):
        raise InternalError(f"{sorted(written_here)} change places, and may hold nothing", Span.unknown())
    made: list[Any] = []
    if len(pairs) == 1:
        made.append(assigned([name(pairs[0][0], gast.Store)], pairs[0][1]))
    elif pairs:
        targets = gast.Tuple([name(text, gast.Store) for text, _ in pairs], gast.Store())
        made.append(assigned([targets], gast.Tuple([value for _, value in pairs], gast.Load())))
    for text, value in perhaps:
        handler = gast.ExceptHandler(name("NameError"), None, _unbound(text, True))
        made.append(gast.Try([assigned([name(text, gast.Store)], value)], [handler], [], []))
    return [*made, *gone]


def _unbound(text: str, perhaps: bool) -> list[Any]:
    """A name is left without a value; ``perhaps`` it has none."""
    bound = [assigned([name(text, gast.Store)], gast.Constant(None, None))] if perhaps else []
    return [*bound, gast.Delete([name(text, gast.Del)])]


def _statement(naming: Naming, node: Any) -> Any:
    if isinstance(node, gast.FunctionDef | gast.ClassDef):
        return _definition(naming, node)
    for field in node._fields:
        value: Any = getattr(node, field, None)
        if field in _SUITES:
            suite = written(naming, value)
            setattr(node, field, body_of(suite) if field == "body" else suite)
        elif field == "handlers":
            for handler in value:
                handler.type = _expression(naming, handler.type)
                handler.name = None if handler.name is None else _expression(naming, handler.name)
                handler.body = body_of(written(naming, handler.body))
        elif field == "cases":
            for case in value:
                case.pattern = _expression(naming, case.pattern)
                case.guard = _expression(naming, case.guard)
                case.body = body_of(written(naming, case.body))
        else:
            setattr(node, field, _expression(naming, value))
    return node


def _captured(naming: Naming, pattern: Any) -> str:
    """The name that a part of a pattern binds."""
    return str(_expression(naming, pattern.target).id)


def _definition(naming: Naming, node: Any) -> Any:
    """A definition whose body has its names already."""
    text = _expression(naming, node.target).id
    private = node.wanted.startswith("__") and text.endswith(node.wanted)
    node.name = node.wanted if private else text
    node.decorator_list = [_expression(naming, part) for part in node.decorator_list]
    if isinstance(node, gast.ClassDef):
        node.bases = [_expression(naming, part) for part in node.bases]
        node.keywords = [_expression(naming, part) for part in node.keywords]
    else:
        node.args = _expression(naming, node.args)
        node.returns = _expression(naming, node.returns)
    return node


def _expression(naming: Naming, node: Any) -> Any:
    """An expression with names; what an inner function has is done."""
    match node:
        case list():
            return [_expression(naming, part) for part in node]
        case gast.Name():
            if hasattr(node, "version"):
                made = gast.Name(naming.name(node.version), node.ctx, _expression(naming, node.annotation), None)
                made.version = node.version
                return made
            node.annotation = _expression(naming, node.annotation)
            return node
        case gast.MatchAs(pattern=inner, name=bound):
            return gast.MatchAs(_expression(naming, inner), None if bound is None else _captured(naming, node))
        case gast.MatchStar(name=bound):
            return gast.MatchStar(None if bound is None else _captured(naming, node))
        case gast.MatchMapping(rest=rest) if rest is not None:
            keys, patterns = _expression(naming, node.keys), _expression(naming, node.patterns)
            return gast.MatchMapping(keys, patterns, _captured(naming, node))
        case gast.BoolOp(op=op, values=values):
            parts = [_expression(naming, part) for part in values]
            last = values[-1]
            if isinstance(last, gast.BoolOp) and last.origin is node.origin and type(last.op) is type(op):
                parts[-1:] = parts[-1].values
            made = gast.BoolOp(op, parts)
            made.origin = node.origin
            return made
        case gast.alias():
            text = _expression(naming, node.target).id
            plain = not node.renamed and text == node.plain
            return gast.alias(node.name, None if plain else text)
        case gast.Lambda():
            node.args = _expression(naming, node.args)
            return node
        case gast.GeneratorExp():
            node.generators[0].iter = _expression(naming, node.generators[0].iter)
            return node
        case gast.AST():
            pass
        case _:
            return node
    for field in node._fields:
        setattr(node, field, _expression(naming, getattr(node, field, None)))
    return node
