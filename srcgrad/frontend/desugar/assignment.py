"""Annotated, chained, parallel, nested and starred assignment, one name or one flat unpacking per statement.

Enters: ``gast.Assign`` or ``gast.AnnAssign``.  Leaves: assignments with a single target, a name or a flat tuple of
names whose value is no display::

    a, b = b, a + b      ->      t = b;  b = a + b;  a = t
    a, *b = x, y, z      ->      a = x;  b = [y, z]
    p, (q, r) = f(x)     ->      p, t = f(x);  q, r = t
    a = b = x + 1        ->      a = x + 1;  b = a
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast

from srcgrad.frontend.desugar.build import assign, load, placed, store, targets, with_bodies
from srcgrad.frontend.desugar.loops import unpacked_inside
from srcgrad.syntax.parse import names_bound, names_read, walk

Fresh = Callable[[str], str]
Pairs = list[tuple[gast.expr, gast.expr]]


def annotated(statement: gast.AnnAssign) -> list[gast.stmt]:
    """``x: T = value`` binds x; a bare ``x: T`` does nothing at run time."""
    if statement.value is None:
        return []
    return [placed(gast.Assign([statement.target], statement.value, None), statement)]


def plain(statement: gast.Assign, fresh: Fresh, *, closures: bool = False) -> list[gast.stmt]:
    """One target per assignment, evaluated and bound in Python's order.

    ``closures``: local functions are about, whose calls read locals that the caller's text does not name.
    """
    value = statement.value
    if len(statement.targets) == 1:
        return _single(statement.targets[0], value, statement, fresh, closures)
    made: list[gast.stmt] = []
    rest = list(statement.targets)
    if isinstance(value, gast.Constant) or (isinstance(value, gast.Name) and not _rebound(value.id, rest)):
        shared = value
    elif isinstance(rest[0], gast.Name) and not _rebound(rest[0].id, rest[1:]):
        made.append(assign(rest[0], value, statement))
        shared = load(rest.pop(0).id, statement)
    else:
        name = fresh("t")
        made.append(assign(name, value, statement))
        shared = load(name, statement)
    for target in rest:
        made += _single(target, shared, statement, fresh, closures)
    return made


def _rebound(name: str, chain: list[gast.expr]) -> bool:
    """Whether a target of a chain rebinds ``name`` before the last one is assigned, other than to itself."""
    return any(name in names_bound(target) and not isinstance(target, gast.Name) for target in chain[:-1])


def _single(target: gast.expr, value: gast.expr, at: gast.stmt, fresh: Fresh, closures: bool) -> list[gast.stmt]:
    if not isinstance(target, gast.Tuple | gast.List):
        return [assign(target, value, at)]
    pairs = _paired(target, value, at)
    if pairs is None:
        return unpack(target, value, at, fresh)
    return _parallel(pairs, at, fresh, closures)


def _paired(target: gast.expr, value: gast.expr, at: gast.stmt) -> Pairs | None:
    """The assignments that a display on both sides amounts to; None if the value is no display that fits."""
    if not isinstance(target, gast.Tuple | gast.List):
        return [(target, value)]
    if not isinstance(value, gast.Tuple | gast.List) or any(isinstance(e, gast.Starred) for e in value.elts):
        return None
    stars = [j for j, element in enumerate(target.elts) if isinstance(element, gast.Starred)]
    elements = list(value.elts)
    wanted = list(target.elts)
    if stars:
        first, after = stars[0], len(wanted) - stars[0] - 1
        if len(elements) < first + after:
            return None
        middle = elements[first : len(elements) - after]
        elements[first : len(elements) - after] = [placed(gast.List(middle, gast.Load()), value)]
        wanted[first] = wanted[first].value
    if len(wanted) != len(elements):
        return None
    pairs: Pairs = []
    for one, element in zip(wanted, elements, strict=True):
        inner = _paired(one, element, at)
        pairs += [(one, element)] if inner is None else inner
    return pairs


def _parallel(pairs: Pairs, at: gast.stmt, fresh: Fresh, closures: bool) -> list[gast.stmt]:
    """Evaluate every value from left to right, then bind; directly where no later value reads the target."""
    made: list[gast.stmt] = []
    late: list[gast.stmt] = []
    bound = [names_bound(target) for target, _ in pairs]
    repeated = len(frozenset[str]().union(*bound)) < sum(map(len, bound))
    within = [value for pair in pairs for value in pair if not isinstance(value, gast.Name)]
    bound.append(frozenset(n.target.id for n in walk(*within) if isinstance(n, gast.NamedExpr)))
    for position, (target, value) in enumerate(pairs):
        rest = [later for _, later in pairs[position + 1 :]]
        # The base and the index of a target further left are evaluated before this target is bound.
        rest += [earlier for earlier, _ in pairs[:position] if not isinstance(earlier, gast.Name)]
        if isinstance(target, gast.Name) and not repeated and not _may_read(rest, target.id, closures):
            made.append(assign(target, value, at))
        elif isinstance(value, gast.Constant) or (
            isinstance(value, gast.Name) and isinstance(target, gast.Subscript) and not _binds(bound, value.id)
        ):
            late += _single(target, value, at, fresh, closures)
        else:
            name = fresh("t")
            made.append(assign(name, value, at))
            late += _single(target, load(name, at), at, fresh, closures)
    return made + late


def _binds(bound: list[frozenset[str]], name: str) -> bool:
    return any(name in names for names in bound)


def _may_read(values: list[gast.expr], name: str, closures: bool) -> bool:
    """Whether evaluating ``values`` may read a local: by its name, or through a call of a local function."""
    if name in names_read(*values):
        return True
    return closures and any(isinstance(node, gast.Call) for node in walk(*values))


def unpack(target: gast.Tuple | gast.List, value: gast.expr, at: gast.stmt, fresh: Fresh) -> list[gast.stmt]:
    """A flat unpacking of ``value`` into names, then an assignment for every other target.

    Targets are assigned from left to right: a name after one that stores waits for it, and so does one that a display
    before it binds too.
    """
    flat: list[gast.expr] = []
    nested: list[gast.stmt] = []
    nodes = list(walk(*target.elts))
    names = [node.id for node in nodes if isinstance(node, gast.Name)]
    stored = len(set(names)) < len(names) and any(isinstance(node, gast.Tuple | gast.List) for node in nodes)
    for element in target.elts:
        inner = element.value if isinstance(element, gast.Starred) else element
        stored = stored or any(isinstance(node, gast.Subscript | gast.Attribute) for node in walk(inner))
        if isinstance(inner, gast.Tuple | gast.List):
            name = fresh("t")
            nested += unpack(inner, load(name, at), at, fresh)
            inner = store(name, at)
        elif stored:
            name = fresh("t")
            nested.append(assign(inner, load(name, at), at))
            inner = store(name, at)
        flat.append(placed(gast.Starred(inner, gast.Store()), at) if isinstance(element, gast.Starred) else inner)
    return [assign(targets(flat, target), value, at), *nested]


def staged(body: Sequence[gast.stmt], fresh: Fresh) -> list[gast.stmt]:
    """The statements with every value of a parallel assignment evaluated before the first name is bound, and the parts
    of what a loop goes over unpacked by statements."""
    made: list[gast.stmt] = []
    for statement in body:
        match statement:
            case gast.Assign(
                targets=[gast.Tuple(elts=names) | gast.List(elts=names)],
                value=gast.Tuple(elts=values) | gast.List(elts=values),
            ) if len(names) == len(values) and not any(isinstance(e, gast.Starred) for e in (*names, *values)):
                held = [fresh("t") for _ in values]
                made += [assign(t, value, statement) for t, value in zip(held, values, strict=True)]
                made += [assign(name, load(t, statement), statement) for name, t in zip(names, held, strict=True)]
            case gast.Assign(targets=targets, value=gast.Tuple() | gast.List() as value) if not all(
                isinstance(target, gast.Name) for target in targets
            ):
                whole = fresh("t")
                made += [assign(whole, value, statement), with_bodies(statement, value=load(whole, statement))]
            case gast.Delete(targets=[_, _, *_] as targets):
                made += [placed(gast.Delete([target]), statement) for target in targets]
            case gast.If() | gast.For() | gast.While():
                if isinstance(statement, gast.For):
                    statement = unpacked_inside(statement, fresh)
                inner, orelse = staged(statement.body, fresh), staged(statement.orelse, fresh)
                made.append(with_bodies(statement, body=inner, orelse=orelse))
            case gast.With():
                made.append(with_bodies(statement, body=staged(statement.body, fresh)))
            case _:
                made.append(statement)
    return made


def augmented(statement: gast.AugAssign) -> gast.BinOp:
    """The operation of ``x += value`` on a name; whether it may also change x in place is for the caller to prove."""
    return placed(
        gast.BinOp(load(statement.target.id, statement.target), statement.op, statement.value), statement
    )


def flattened(target: gast.expr) -> list[gast.expr]:
    """The targets in a display, nested or not."""
    if not isinstance(target, gast.Tuple | gast.List):
        return [target]
    return [part for element in target.elts for part in flattened(element)]
