"""Nested containers of values: tuples, lists, dictionaries and named tuples taken apart and put together again.

leaves, spec = flatten({"a": 1, "b": (2, 3)})  # [1, 2, 3]
unflatten(spec, leaves)                        # {"a": 1, "b": (2, 3)}
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from srcgrad.eager.size import Size


@dataclass(frozen=True)
class Spec:
    """The containers without their leaves; ``kind`` is None at a leaf, ``extra`` are keys and the like."""

    kind: Any
    extra: Any
    children: tuple[Spec, ...]

    @property
    def num_leaves(self) -> int:
        """How many leaves fit in."""
        return 1 if self.kind is None else sum(child.num_leaves for child in self.children)

    def __repr__(self) -> str:
        return self._written(0)

    def _written(self, indent: int) -> str:
        if self.kind is None:
            return "*"
        inside = (",\n" + " " * (indent + 2)).join(child._written(indent + 2) for child in self.children)
        extra = list(self.extra) if isinstance(self.extra, tuple) else self.extra
        return f"TreeSpec({self.kind.__name__}, {extra}, [{inside}])"


class _Star:
    def __repr__(self) -> str:
        return "*"


def picture(spec: Spec) -> str:
    """The containers as they print, with a star for each leaf."""
    return repr(unflatten(spec, [_Star()] * spec.num_leaves))


LEAF = Spec(None, None, ())


def _opened(tree: Any) -> tuple[Any, Any, list[Any]] | None:
    """The kind of a container, what is needed to make it again, and its items; None for a leaf."""
    kind = type(tree)
    if kind in (tuple, list, Size):
        return kind, None, list(tree)
    if kind in (dict, OrderedDict):
        return kind, tuple(tree), list(tree.values())
    if kind is defaultdict:
        return kind, (tree.default_factory, tuple(tree)), list(tree.values())
    if isinstance(tree, tuple) and hasattr(kind, "_fields"):
        return kind, None, list(tree)
    return None


def is_leaf(tree: Any) -> bool:
    """Whether a value is no container."""
    return _opened(tree) is None


def flatten(tree: Any) -> tuple[list[Any], Spec]:
    """The leaves in order, and the containers that they were in."""
    opened = _opened(tree)
    if opened is None:
        return [tree], LEAF
    kind, extra, items = opened
    leaves: list[Any] = []
    children: list[Spec] = []
    for item in items:
        inside, spec = flatten(item)
        leaves += inside
        children.append(spec)
    return leaves, Spec(kind, extra, tuple(children))


def unflatten(spec: Spec, leaves: Iterable[Any]) -> Any:
    """The containers with these leaves."""
    return _closed(spec, iter(leaves))


def _closed(spec: Spec, leaves: Any) -> Any:
    if spec.kind is None:
        return next(leaves)
    items = [_closed(child, leaves) for child in spec.children]
    if spec.kind is dict or spec.kind is OrderedDict:
        return spec.kind(zip(spec.extra, items, strict=True))
    if spec.kind is defaultdict:
        return defaultdict(spec.extra[0], zip(spec.extra[1], items, strict=True))
    if spec.kind in (tuple, list, Size):
        return spec.kind(items)
    return spec.kind(*items)


def mapped(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """``function`` of every leaf, with the leaves at the same places in trees of the same form."""
    leaves, spec = flatten(tree)
    columns = [flatten(other)[0] for other in others]
    return unflatten(spec, [function(*row) for row in zip(leaves, *columns, strict=True)])


def spread(prefix: Any, tree_spec: Spec, is_end: Callable[[Any], bool] = is_leaf) -> list[Any] | None:
    """A value for each leaf, given by a tree that may stop early; None where the two do not fit."""
    if tree_spec.kind is None or is_end(prefix):
        return [prefix] * tree_spec.num_leaves if is_end(prefix) else None
    opened = _opened(prefix)
    if opened is None or opened[0] is not tree_spec.kind or len(opened[2]) != len(tree_spec.children):
        return None
    made: list[Any] = []
    for item, child in zip(opened[2], tree_spec.children, strict=True):
        inside = spread(item, child, is_end)
        if inside is None:
            return None
        made += inside
    return made
