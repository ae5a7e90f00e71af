"""A small delta debugger on the tree of a program: delete statements, unwrap compound ones, shorten expressions.

Enters: a text, and a predicate that says whether a text still shows the fault.  Leaves: a text from which no single
step can be taken.
"""

from __future__ import annotations

import ast
import copy
import time
import warnings
from collections.abc import Callable, Iterator

Predicate = Callable[[str], bool]


def shrink(text: str, fails: Predicate, *, seconds: float = 120.0) -> str:
    """The smallest text found that still fails."""
    end = time.monotonic() + seconds
    best = ast.unparse(ast.parse(text)) + "\n"
    if not fails(best):
        return text
    progress = True
    while progress:
        progress = False
        for candidate in candidates(best):
            if time.monotonic() > end:
                return best
            if len(candidate) < len(best) and fails(candidate):
                best, progress = candidate, True
                break
    return best


def candidates(text: str) -> Iterator[str]:
    """Programs one step smaller, the largest steps first."""
    tree = ast.parse(text)
    seen: set[str] = set()
    for change in (*_statements(tree), *_expressions(tree)):
        made = copy.deepcopy(tree)
        try:
            if not change(made):
                continue
            ast.fix_missing_locations(made)
            candidate = ast.unparse(made) + "\n"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                compile(candidate, "<candidate>", "exec")
        except (SyntaxError, ValueError, IndexError):
            continue
        if candidate not in seen and candidate != text:
            seen.add(candidate)
            yield candidate


Change = Callable[[ast.Module], bool]
_BLOCKS = ("body", "orelse")


def _blocks(tree: ast.AST) -> list[tuple[ast.AST, str]]:
    return [(node, name) for node in ast.walk(tree) for name in _BLOCKS if isinstance(getattr(node, name, None), list)]


def _statements(tree: ast.Module) -> list[Change]:
    changes: list[tuple[int, Change]] = []
    for place, (node, name) in enumerate(_blocks(tree)):
        block = getattr(node, name)
        if name == "orelse" and block:
            changes.append((len(block) + 50, _drop_block(place)))
        for k, statement in enumerate(block):
            size = sum(isinstance(inner, ast.stmt) for inner in ast.walk(statement))
            changes.append((size, _delete(place, k)))
            for inner in _BLOCKS:
                if getattr(statement, inner, None) and not isinstance(statement, ast.FunctionDef):
                    changes.append((size, _unwrap(place, k, inner)))
    return [change for _, change in sorted(changes, key=lambda pair: -pair[0])]


def _delete(place: int, k: int) -> Change:
    def change(tree: ast.Module) -> bool:
        node, name = _blocks(tree)[place]
        block = getattr(node, name)
        if len(block) == 1 and name == "body":
            return False
        del block[k]
        return True

    return change


def _drop_block(place: int) -> Change:
    def change(tree: ast.Module) -> bool:
        node, name = _blocks(tree)[place]
        setattr(node, name, [])
        return True

    return change


def _unwrap(place: int, k: int, inner: str) -> Change:
    def change(tree: ast.Module) -> bool:
        node, name = _blocks(tree)[place]
        block = getattr(node, name)
        block[k : k + 1] = getattr(block[k], inner)
        return True

    return change


def _places(tree: ast.AST) -> list[tuple[ast.AST, str, int | None]]:
    """Every place that holds an expression that is read."""
    places: list[tuple[ast.AST, str, int | None]] = []
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                places.append((node, name, None))
            elif isinstance(value, list):
                places += [(node, name, k) for k, item in enumerate(value) if isinstance(item, ast.expr)]
    return places


def _get(node: ast.AST, name: str, k: int | None) -> ast.expr:
    value = getattr(node, name)
    found: ast.expr = value if k is None else value[k]
    return found


def _expressions(tree: ast.Module) -> list[Change]:
    changes: list[tuple[int, Change]] = []
    for place, (node, name, k) in enumerate(_places(tree)):
        expression = _get(node, name, k)
        if isinstance(getattr(expression, "ctx", None), ast.Store):
            continue
        size = sum(1 for _ in ast.walk(expression))
        for child in range(len([c for c in ast.iter_child_nodes(expression) if isinstance(c, ast.expr)])):
            changes.append((size, _hoist(place, child)))
        if size > 1 and not isinstance(expression, ast.Tuple | ast.Attribute):
            changes.append((size, _constant(place, 0.5)))
        if isinstance(expression, ast.Constant) and isinstance(expression.value, int) and expression.value > 1:
            changes.append((1, _constant(place, 1)))
    return [change for _, change in sorted(changes, key=lambda pair: -pair[0])]


def _set(tree: ast.Module, place: int, value: ast.expr) -> None:
    node, name, k = _places(tree)[place]
    if k is None:
        setattr(node, name, value)
    else:
        getattr(node, name)[k] = value


def _hoist(place: int, child: int) -> Change:
    def change(tree: ast.Module) -> bool:
        expression = _get(*_places(tree)[place])
        children = [c for c in ast.iter_child_nodes(expression) if isinstance(c, ast.expr)]
        _set(tree, place, children[child])
        return True

    return change


def _constant(place: int, value: float) -> Change:
    def change(tree: ast.Module) -> bool:
        _set(tree, place, ast.Constant(value))
        return True

    return change
