"""Iterators that are taken apart at once, one call or expression for each target.

Enters: the body of a function, and what its names mean outside.  Leaves: the body in which such iterators are tuples;
only elements that are names or constants are put into an expression, so that nothing is evaluated twice::

    a, b = map(np.asarray, (a, b))        ->      a, b = np.asarray(a), np.asarray(b)
    a, b = (v / s for v in [a, b])        ->      a, b = a / s, b / s
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast

from srcgrad.frontend.desugar.build import assign, call, placed, tuple_of
from srcgrad.rules.rewriting import rebuilt
from srcgrad.syntax.parse import walk

Meaning = Callable[[str], object]  # of a name that the function does not bind; None of any other


def one_by_one(body: Sequence[gast.stmt], meaning: Meaning) -> list[gast.stmt]:
    """The body with each of these assignments written out."""

    def change(node: gast.AST) -> gast.AST | None:
        match node:
            case gast.Assign(targets=[gast.Tuple() | gast.List() as target], value=value):
                values = _values(value, meaning)
                if values is not None and len(values) == len(target.elts):
                    return assign(target, tuple_of(values, value), node)
        return None

    def concerns(statement: gast.stmt) -> bool:
        values = [n.value for n in walk(statement) if isinstance(n, gast.Assign)]
        return any(isinstance(value, gast.Call | gast.GeneratorExp) for value in values)

    return [rebuilt(statement, change) if concerns(statement) else statement for statement in body]


def _values(node: gast.expr, meaning: Meaning) -> list[gast.expr] | None:
    match node:
        case gast.Call(
            func=gast.Name(id=name),
            args=[gast.Name() | gast.Attribute() as function, gast.Tuple(elts=elements) | gast.List(elts=elements)],
            keywords=[],
        ) if meaning(name) is map and not any(isinstance(element, gast.Starred) for element in elements):
            return [call(function, [element], node) for element in elements]
        case gast.GeneratorExp(elt=body, generators=[gast.comprehension(target=gast.Name(id=name), iter=items)]):
            if is_unpacked_at_once(node, len(getattr(items, "elts", ()))):
                return [_with(body, name, element) for element in items.elts]
    return None


def is_unpacked_at_once(node: gast.GeneratorExp, count: int) -> bool:
    """Whether a generator yields one plain expression for each of so many names and constants."""
    match node.generators:
        case [
            gast.comprehension(
                target=gast.Name(), iter=gast.Tuple(elts=elements) | gast.List(elts=elements), ifs=[], is_async=0
            )
        ]:
            plain = all(isinstance(element, gast.Name | gast.Constant) for element in elements)
            return plain and len(elements) == count and _is_plain(node.elt)
    return False


def _with(body: gast.expr, name: str, element: gast.expr) -> gast.expr:
    """The body of a generator with an element in the place of its variable."""
    made: gast.expr = rebuilt(body, lambda inner: _put(inner, name, element))
    return made


def _put(node: gast.AST, name: str, element: gast.expr) -> gast.AST | None:
    match node:
        case gast.Name(id=found) if found == name:
            copied = type(element)(**{field: getattr(element, field) for field in element._fields})
            return placed(copied, node)
    return None


def _is_plain(body: gast.expr) -> bool:
    """Whether names mean the same everywhere in an expression."""
    scopes = (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.NamedExpr)
    return not any(isinstance(inner, scopes) for inner in walk(body))
