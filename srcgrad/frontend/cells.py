"""Names that a local function binds for the function around it: each becomes a list of one item, which both change.

Enters: the tree of a function.  Leaves: the same tree, changed in place, without ``nonlocal`` for these names; what a
list cannot stand for (a name bound by ``:=``, ``except``, ``import``, ``del``, a pattern, or read in some cases before
it has a value) stays, and is refused by the fence.  This is closure conversion with a cell for each variable that is
assigned to (Kranz et al., *ORBIT*, 1986)::

    total = 0.0                                 total = [0.0]
    def add(v):                                 def add(v):
        nonlocal total                  ->
        total = total + v                           total[0] = total[0] + v
    add(x); return total                        add(x); return total[0]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import gast

from srcgrad import runtime
from srcgrad.frontend.desugar.build import assign, call_runtime, constant, load, placed, store
from srcgrad.frontend.names import COMPREHENSIONS, bound_by, declared_in, names_evaluated, parts_of_scope
from srcgrad.frontend.unassigned import unassigned_in
from srcgrad.syntax.parse import parameters_of, walk


def with_cells(root: gast.AST) -> None:
    """Put cells in place of the names that local functions of ``root`` bind for it, or for one another."""
    if isinstance(root, gast.FunctionDef) and any(isinstance(node, gast.Nonlocal) for node in walk(root)):
        _function(root, frozenset())


def _function(node: gast.FunctionDef, outer: frozenset[str]) -> None:
    """``outer``: the names that stand for cells around the function."""
    parameters, own = parameters_of(node.args), _own(node)
    made = sorted({name for inner in _inside(node) for name in _bound_outside(inner)} & own)
    made = [name for name in made if all(_is_plain(part, name) for part in walk(*node.body))]
    if made:
        early = (unassigned_in(node).names - parameters).intersection(made)
        seen = {name for name in early if _can_be_looked_at(node.body, name)}
        made = [name for name in made if name not in early - seen]
        _look_at(node.body, seen)
    cells = (outer - own) | frozenset(made)
    start = 1 if isinstance(node.body[0], gast.Expr) and isinstance(node.body[0].value, gast.Constant) else 0
    firsts = {name: None if name in parameters else _first(node.body, name) for name in made}
    _replace(node.body, cells)
    for name in made:
        first = firsts[name]
        if first is None:
            value = load(name, node.body[0]) if name in parameters else constant(None, node.body[0])
            node.body.insert(start, assign(name, _listed(value), node.body[0]))
        else:
            first.targets, first.value = [store(name, first)], _listed(first.value)


def _can_be_looked_at(body: list[gast.stmt], name: str) -> bool:
    """Whether each read of a name is one that its statement makes in any case, and none of them may be caught."""
    nodes = list(walk(*body))
    reads = sum(n.id == name and isinstance(n.ctx, gast.Load) for n in nodes if isinstance(n, gast.Name))
    reads += sum(_augmented(node) == [name] for node in nodes)
    sure = sum(_read_by(node).count(name) for node in nodes if isinstance(node, gast.stmt))
    return reads == sure and not any(isinstance(node, gast.Try | gast.With) for node in nodes)


def _look_at(body: list[gast.stmt], names: set[str]) -> None:
    """Put a look in front of each statement that reads one of the names, which begin as None."""
    for place in reversed(range(len(body) if names else 0)):
        statement = body[place]
        inside = names - _own(statement) if isinstance(statement, gast.FunctionDef) else names
        for field in ("body", "orelse"):
            _look_at(getattr(statement, field, []), inside)
        for case in getattr(statement, "cases", []):
            _look_at(case.body, inside)
        for name in sorted(names.intersection(_read_by(statement))):
            given = [load(name, statement), constant(name, statement)]
            body.insert(place, placed(gast.Expr(call_runtime(runtime.require_assigned, given, statement)), statement))


def _read_by(statement: gast.stmt) -> list[str]:
    return [*(name.id for name in names_evaluated(statement)), *_augmented(statement)]


def _augmented(node: gast.AST) -> list[str]:
    return [node.target.id] if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name) else []


def _listed(value: gast.expr) -> gast.expr:
    return placed(gast.List([value], gast.Load()), value)


def _first(body: list[gast.stmt], name: str) -> gast.Assign | None:
    """The assignment that binds a name, if nothing before it in the text has to do with the name."""
    for statement in body:
        mentions = [n for n in walk(statement) if isinstance(n, gast.Name | gast.Nonlocal) and name in _names_of(n)]
        match statement:
            case gast.Assign(targets=[gast.Name(id=target)]) if target == name and len(mentions) == 1:
                return statement
        if mentions:
            return None
    return None


def _names_of(node: gast.Name | gast.Nonlocal) -> list[str]:
    return list(node.names) if isinstance(node, gast.Nonlocal) else [node.id]


# --- scopes ----------------------------------------------------------------------------------------------------------
def _inside(node: gast.FunctionDef) -> Iterator[gast.FunctionDef]:
    return (part for part in parts_of_scope(node.body) if isinstance(part, gast.FunctionDef))


def _stored(node: gast.FunctionDef) -> set[str]:
    return {name for part in parts_of_scope(node.body) for name in bound_by(part)}


def _own(node: gast.FunctionDef) -> frozenset[str]:
    """The names that are a function's own."""
    return frozenset((parameters_of(node.args) | _stored(node)) - declared_in(node))


def _bound_outside(node: gast.FunctionDef) -> set[str]:
    """The names around a local function that it, or a function in it, binds."""
    below = {name for inner in _inside(node) for name in _bound_outside(inner)}
    return (below - _own(node)) | (declared_in(node) & _stored(node))


def _is_plain(node: gast.AST, name: str) -> bool:
    """Whether a node binds a name, if at all, by an assignment or as the target of a loop."""
    match node:
        case gast.NamedExpr(target=gast.Name(id=bound)) | gast.ExceptHandler(name=gast.Name(id=bound)):
            return bool(bound != name)
        case gast.FunctionDef(name=bound) | gast.ClassDef(name=bound) | gast.MatchAs(name=bound):
            return bool(bound != name)
        case gast.MatchStar(name=bound) | gast.MatchMapping(rest=bound):
            return bool(bound != name)
        case gast.Name(id=bound, ctx=gast.Del()):
            return bool(bound != name)
        case gast.withitem(optional_vars=gast.AST() as target):
            return all(not (isinstance(part, gast.Name) and part.id == name) for part in walk(target))
        case gast.alias(name=bound, asname=other):
            return bool((other or bound.split(".")[0]) != name)
        case gast.Global(names=names):
            return name not in names
    return True


# --- the names in their scopes ---------------------------------------------------------------------------------------
def _replace(parts: list[gast.stmt] | list[gast.expr], cells: frozenset[str]) -> None:
    """Let ``name[0]`` stand for every name of a cell, in a list of trees of one scope."""
    pending: list[object] = [parts]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            for j, part in enumerate(node):
                if isinstance(part, gast.Name) and part.id in cells:
                    node[j] = _item(part)
                else:
                    pending.append(part)
        elif isinstance(node, gast.FunctionDef):
            pending += [node.args.defaults, node.args.kw_defaults, node.decorator_list]
            _function(node, cells)
        elif isinstance(node, gast.Lambda):
            pending += [node.args.defaults, node.args.kw_defaults]
            _replace_fields(node, ("body",), cells - parameters_of(node.args))
        elif isinstance(node, COMPREHENSIONS):
            _comprehension(node, cells)
        elif isinstance(node, gast.Nonlocal):
            node.names = [name for name in node.names if name not in cells]
        elif isinstance(node, gast.AST):
            pending += _fields(node, node._fields, cells)
            if isinstance(node, gast.AnnAssign) and not isinstance(node.target, gast.Name):
                node.simple = 0


def _fields(node: gast.AST, names: Iterable[str], cells: frozenset[str]) -> Iterator[object]:
    """The fields of a node that hold more nodes, the names of cells replaced."""
    for name in names:
        part = getattr(node, name, None)
        if isinstance(part, gast.Name) and part.id in cells:
            setattr(node, name, _item(part))
        elif isinstance(part, list | gast.AST):
            yield part


def _replace_fields(node: gast.AST, names: Iterable[str], cells: frozenset[str]) -> None:
    for part in _fields(node, names, cells):
        _replace(part if isinstance(part, list) else [part], cells)


def _comprehension(node: gast.AST, cells: frozenset[str]) -> None:
    """The targets of a comprehension are its own; what its first loop runs over is read outside."""
    first, *_ = node.generators
    _replace_fields(first, ("iter",), cells)
    targets = {n.id for each in node.generators for n in walk(each.target) if isinstance(n, gast.Name)}
    inner = cells - targets
    _replace_fields(node, ("elt", "key", "value"), inner)
    for generator in node.generators:
        _replace_fields(generator, ("ifs",) if generator is first else ("iter", "ifs"), inner)


def _item(name: gast.Name) -> gast.expr:
    return placed(gast.Subscript(load(name.id, name), constant(0, name), name.ctx), name)
