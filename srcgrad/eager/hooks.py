"""Hooks: functions that see gradients pass, and may replace them.

On the way through a non-leaf: tensor hooks, retained gradients, the node's prehooks, the node, its posthooks.  At a
leaf: tensor hooks, prehooks of its node, accumulation, post-accumulation hooks, posthooks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from srcgrad.eager.graph import AccumulateGrad, Node
from srcgrad.eager.tensor import Tensor

_ids = itertools.count()


class RemovableHandle:
    """A registered hook; ``remove()`` takes it out, as does leaving it as a context manager."""

    def __init__(self, table: dict[int, Any], hook: Callable[..., Any]) -> None:
        self.id = next(_ids)
        self.table = table
        table[self.id] = hook

    def remove(self) -> None:
        """Take the hook out."""
        self.table.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def as_tensor(g: Any) -> Any:
    """A gradient as hooks see it."""
    return g if g is None or isinstance(g, Tensor) else Tensor.of(g)


def as_gradient(g: Any, create: bool) -> Any:
    """A gradient as the engine holds it."""
    return g if create or g is None else g.array


def through_hooks(hooks: dict[int, Any], g: Any) -> Any:
    """A gradient through the hooks of a tensor, in order of registration."""
    for hook in [*hooks.values()]:
        made = hook(g)
        if made is not None:
            if not isinstance(made, Tensor):
                raise TypeError(f"expected Variable, but hook returned '{type(made).__name__}'")
            if g is not None and made.array.shape != g.array.shape:
                raise RuntimeError(f"hook '{getattr(hook, '__name__', repr(hook))}' has changed the size of value")
            g = made
    return g


def run_tensor_hooks(node: Node, g: Any, create: bool) -> Any:
    """The gradients of a node's outputs through the hooks of those outputs, then kept where they are retained."""
    for number in range(node.outputs):
        one = g if node.outputs == 1 else None if g is None else g[number]
        hooks = (node.tensor_hooks or {}).get(number)
        if hooks:
            one = as_gradient(through_hooks(hooks, as_tensor(one)), create)
        retained = (node.retained or {}).get(number)
        if retained is not None:
            retained(as_tensor(one))
        if node.outputs == 1:
            g = one
        elif g is not None:
            g[number] = one
    return g


def run_prehooks(node: Node, g: Any, create: bool) -> Any:
    """The gradients of a node's outputs through the hooks that run before it."""
    grads = tuple(map(as_tensor, g if node.outputs > 1 else (g,)))
    for hook in [*(node.prehooks or {}).values()]:
        made = hook(grads)
        if made is not None:
            grads = made if isinstance(made, tuple) else (made,)
    back = [as_gradient(one, create) for one in grads]
    return back if node.outputs > 1 else back[0]


def run_posthooks(node: Node, partials: Any, g: Any, create: bool) -> Any:
    """The gradients of a node's inputs through the hooks that run after it."""
    inputs = tuple(map(as_tensor, partials)) + (None,) * (len(node.edges) - len(partials))
    outputs = tuple(map(as_tensor, g if node.outputs > 1 else (g,)))
    for hook in [*(node.posthooks or {}).values()]:
        made = hook(inputs, outputs)
        if made is not None:
            inputs = made if isinstance(made, tuple) else (made,)
    return [as_gradient(one, create) for one in inputs]


def accumulate_with_hooks(node: AccumulateGrad, g: Any, create: bool, handed: set[int]) -> None:
    """What happens at a leaf that has hooks."""
    from srcgrad.eager.engine import add_to_grad

    leaf = node.variable
    if leaf.hooks:
        g = as_gradient(through_hooks(leaf.hooks, as_tensor(g)), create)
    if node.prehooks:
        g = run_prehooks(node, g, create)
    if g is not None:
        add_to_grad(leaf, g, create, handed)
    for hook in [*(leaf.post_accumulate or {}).values()]:
        if hook(leaf) is not None:
            raise RuntimeError("Tensor post accumulate grad hooks should return None.")
    for hook in [*(node.posthooks or {}).values()]:
        hook((), (as_tensor(g),))
