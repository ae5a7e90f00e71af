"""Hooks: functions that see gradients pass, and may replace them.

On the way through a non-leaf: tensor hooks, retained gradients, the node's prehooks, the node, its posthooks.  At a
leaf: tensor hooks, prehooks of its node, accumulation, post-accumulation hooks, posthooks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from srcgrad.eager import dtypes, messages
from srcgrad.eager.graph import AccumulateGrad, Node
from srcgrad.eager.handles import Table
from srcgrad.eager.tensor import Tensor


def as_tensor(g: Any) -> Any:
    """A gradient as hooks see it."""
    return g if g is None or isinstance(g, Tensor) else Tensor.of(g)


def as_gradient(g: Any, create: bool) -> Any:
    """A gradient as the engine holds it."""
    return g if create or g is None else g.array


def checked(hook: Callable[..., Any], made: Any, g: Any) -> Tensor:
    """What a hook put in the place of a gradient: a tensor of the same shape and dtype."""
    if not isinstance(made, Tensor):
        raise TypeError(messages.HOOK_RETURNED.format(expected="Variable", kind=type(made).__name__))
    if g is not None:
        name = getattr(hook, "__name__", None) or repr(hook)
        was, now = dtypes.of(g.array), dtypes.of(made.array)
        if was is not now:
            raise RuntimeError(messages.HOOK_TYPE.format(name=name, was=was.type_name, now=now.type_name))
        if made.array.shape != g.array.shape:
            raise RuntimeError(messages.HOOK_SIZE.format(name=name))
    return made


def checked_tuple(hook: Callable[..., Any], made: Any, grads: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same for hooks that see several gradients."""
    if not isinstance(made, tuple):
        raise TypeError(messages.HOOK_RETURNED.format(expected="tuple", kind=type(made).__name__))
    if len(made) != len(grads):
        name = getattr(hook, "__name__", None) or repr(hook)
        raise RuntimeError(messages.HOOK_COUNT.format(name=name, count=len(made), expected=len(grads)))
    return tuple(None if one is None else checked(hook, one, g) for one, g in zip(made, grads, strict=True))


def through_hooks(hooks: Table, g: Any) -> Any:
    """A gradient through the hooks of a tensor, in order of registration."""
    for hook in [*hooks.values()]:
        made = hook(g)
        if made is not None:
            g = checked(hook, made, g)
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
        elif one is not None:
            g = [None] * node.outputs
            g[number] = one
    return g


def run_prehooks(node: Node, g: Any, create: bool) -> Any:
    """The gradients of a node's outputs through the hooks that run before it."""
    several = node.outputs > 1
    grads = tuple(map(as_tensor, (g or [None] * node.outputs) if several else (g,)))
    for hook in [*(node.prehooks or {}).values()]:
        made = hook(grads)
        if made is not None:
            grads = checked_tuple(hook, made, grads)
    back = [as_gradient(one, create) for one in grads]
    return back if several else back[0]


def run_posthooks(node: Node, partials: Any, g: Any, create: bool) -> Any:
    """The gradients of a node's inputs through the hooks that run after it."""
    inputs = tuple(map(as_tensor, partials)) + (None,) * (len(node.edges) - len(partials))
    outputs = tuple(map(as_tensor, (g or [None] * node.outputs) if node.outputs > 1 else (g,)))
    for hook in [*(node.posthooks or {}).values()]:
        made = hook(inputs, outputs)
        if made is not None:
            inputs = checked_tuple(hook, made, inputs)
    return [as_gradient(one, create) for one in inputs]


def accumulate_with_hooks(node: AccumulateGrad, g: Any, create: bool, handed: set[int]) -> None:
    """What happens at a leaf that has hooks."""
    from srcgrad.eager.accumulation import add_to_grad

    leaf = node.variable
    if leaf.hooks:
        g = as_gradient(through_hooks(leaf.hooks, as_tensor(g)), create)
    if node.prehooks:
        g = run_prehooks(node, g, create)
    if g is not None:
        add_to_grad(leaf, g, create, handed)
    for hook in [*(leaf.post_accumulate or {}).values()]:
        made = hook(leaf)
        if made is not None:
            checked(hook, made, None)
    for hook in [*(node.posthooks or {}).values()]:
        made = hook((), (as_tensor(g),))
        if made is not None:
            checked_tuple(hook, made, ())
