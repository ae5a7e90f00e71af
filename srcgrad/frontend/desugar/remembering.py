"""``functools.cache`` and ``lru_cache`` of local functions, as a dict that the functions fill.

Only of functions that store nothing outside of themselves, so that it is no matter how often their bodies run.  What
is remembered is read again, with its derivative; of a function in a module only what it computes is known, and it is
computed each time.  A floating-point number may vary: what was found for an equal one has another derivative, and is
not taken (``runtime.is_exact``), so that what may be stored into is refused there (``runtime.require_unshared``)::

    @cache                              c_memo = {}
    def c(n):                           def c(n):
        return x[n] * c(n - 1)  ->          key = (n,)
                                            if is_exact(key) and key in c_memo: return c_memo[key]
                                            found = x[n] * c(n - 1); require_unshared(key, found)
                                            c_memo[key] = found; return found
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast

from srcgrad import runtime
from srcgrad.frontend.desugar.build import (
    assign,
    branch,
    call_runtime,
    compare,
    constant,
    load,
    placed,
    subscript,
    tuple_of,
    with_bodies,
)
from srcgrad.frontend.storing import root_of, stored_in
from srcgrad.syntax.parse import walk

#: Expressions whose value something else may hold.
_HELD = gast.Name | gast.Attribute | gast.IfExp | gast.BoolOp | gast.NamedExpr


def remembering(node: gast.FunctionDef, fresh: Callable[[str], str]) -> list[gast.stmt]:
    """A definition without its decorator, which remembers what it returns; ``fresh`` hands out names."""
    memo, key, found = fresh(f"{node.name}_memo"), fresh("key"), fresh("found")
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    if node.args.vararg is not None:
        given.append(node.args.vararg)

    def kept(at: gast.AST, context: gast.expr_context) -> gast.Subscript:
        return placed(gast.Subscript(load(memo, at), load(key, at), context), at)

    def held(at: gast.AST) -> list[gast.expr]:
        return [load(key, at), load(found, at)]

    def returned(statement: gast.Return) -> list[gast.stmt]:
        value = constant(None, statement) if statement.value is None else statement.value
        return [
            assign(found, value, statement),
            placed(gast.Expr(call_runtime(runtime.require_unshared, held(statement), statement)), statement),
            assign(kept(statement, gast.Store()), load(found, statement), statement),
            placed(gast.Return(load(found, statement)), statement),
        ]

    exact = call_runtime(runtime.is_exact, [load(key, node)], node)
    asked = placed(gast.BoolOp(gast.And(), [exact, compare(load(key, node), gast.In(), load(memo, node), node)]), node)
    body = [
        assign(key, tuple_of([load(each.id, node) for each in given], node), node),
        branch(asked, [placed(gast.Return(subscript(load(memo, node), load(key, node), node)), node)], [], node),
        *_with_returns(node.body, returned),
    ]
    empty = placed(gast.Dict([], []), node)
    return [assign(memo, empty, node), with_bodies(node, body=body, decorator_list=[])]


def keeps_to_itself(node: gast.FunctionDef) -> bool:
    """Whether a function can be remembered: it stores only into what it has made, as far as its text tells."""
    if node.args.kwarg is not None:
        return False  # the order in which they are given tells as well
    made: dict[str, list[gast.expr]] = {}
    for inner in walk(*node.body):
        match inner:
            case gast.Assign(targets=targets, value=value):
                for target in targets:
                    if isinstance(target, gast.Name):
                        made.setdefault(target.id, []).append(value)
            case gast.Nonlocal() | gast.Global() | gast.Yield() | gast.YieldFrom():
                return False
    own = {name for name, values in made.items() if not any(isinstance(value, _HELD) for value in values)}
    return not any(root_of(target) not in own for inner in walk(*node.body) for target in stored_in(inner))


def _with_returns(body: Sequence[gast.stmt], write: Callable[[gast.Return], list[gast.stmt]]) -> list[gast.stmt]:
    """Statements with others in place of each ``return`` of their own function."""
    made: list[gast.stmt] = []
    for statement in body:
        if isinstance(statement, gast.Return):
            made += write(statement)
        elif isinstance(statement, gast.FunctionDef | gast.ClassDef):
            made.append(statement)
        else:
            made.append(_with_returns_inside(statement, write))
    return made


def _with_returns_inside(node: gast.AST, write: Callable[[gast.Return], list[gast.stmt]]) -> gast.AST:
    """A statement, a handler or a case of a match."""
    blocks: dict[str, object] = {}
    for name in ("body", "orelse", "finalbody"):
        if isinstance(getattr(node, name, None), list):
            blocks[name] = _with_returns(getattr(node, name), write)
    for name in ("handlers", "cases"):
        if hasattr(node, name):
            blocks[name] = [_with_returns_inside(part, write) for part in getattr(node, name)]
    return with_bodies(node, **blocks) if blocks else node
