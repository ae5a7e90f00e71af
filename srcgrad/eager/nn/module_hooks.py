"""Calls of modules that have hooks: around ``forward``, and around the gradients of inputs and outputs."""

from __future__ import annotations

from typing import Any

from srcgrad.eager.autograd.function import Function
from srcgrad.eager.tensor import Tensor


class BackwardHookFunction(Function):
    """The inputs or the outputs as they are, with a node whose gradients are all of theirs together."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        ctx.mark_non_differentiable(*[a for a in args if isinstance(a, Tensor) and not a.requires_grad])
        return tuple(a.view_as(a) for a in args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads


def called(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``forward`` and all the hooks of a module around it."""
    for hook, with_kwargs in list(module._forward_pre_hooks.values()):
        if with_kwargs:
            made = hook(module, args, kwargs)
            if made is not None:
                if not (isinstance(made, tuple) and len(made) == 2):
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {made}."
                    )
                args, kwargs = made
        else:
            made = hook(module, args)
            if made is not None:
                args = made if isinstance(made, tuple) else (made,)
    watched = _Watched(module) if module._backward_hooks or module._backward_pre_hooks else None
    if watched is not None:
        args = watched.inputs(args)
    result = module.forward(*args, **kwargs)
    for hook, with_kwargs in list(module._forward_hooks.values()):
        made = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
        if made is not None:
            result = made
    return result if watched is None else watched.outputs(result)


class _Watched:
    """One call whose gradients are told to hooks."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.hooks = list(module._backward_hooks.values())
        self.prehooks = list(module._backward_pre_hooks.values())
        self.grad_outputs: Any = None
        self.has_input_node = False

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments behind a node that waits for all their gradients."""
        places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        if not any(args[i].requires_grad for i in places):
            return args
        made = BackwardHookFunction.apply(*[args[i] for i in places])
        node = next(t.grad_fn for t in made if t.grad_fn is not None)
        self.has_input_node = True

        def done(_: Any, grads: Any) -> Any:
            if self.grad_outputs is None:
                return None
            grads = self._told(grads)
            self.grad_outputs = None
            return grads

        node.register_prehook(lambda grads: done(None, grads))
        found = dict(zip(places, made, strict=True))
        return tuple(found.get(i, a) for i, a in enumerate(args))

    def _told(self, grads: Any) -> Any:
        for hook in self.hooks:
            made = hook(self.module, grads, self.grad_outputs)
            if made is not None:
                grads = made if isinstance(made, tuple) else (made,)
        return grads

    def outputs(self, result: Any) -> Any:
        """The results behind a node at which their gradients arrive together."""
        several = isinstance(result, tuple | list)
        items = list(result) if several else [result]
        places = [i for i, a in enumerate(items) if isinstance(a, Tensor)]
        if not any(items[i].requires_grad for i in places):
            return result
        made = BackwardHookFunction.apply(*[items[i] for i in places])
        node = next(t.grad_fn for t in made if t.grad_fn is not None)

        def arrived(grads: Any) -> Any:
            for hook in self.prehooks:
                changed = hook(self.module, grads)
                if changed is not None:
                    grads = changed if isinstance(changed, tuple) else (changed,)
            self.grad_outputs = grads
            if not self.has_input_node:
                self._told((None,))
                self.grad_outputs = None
            return grads

        node.register_prehook(arrived)
        for i, t in zip(places, made, strict=True):
            items[i] = t
        return type(result)(items) if several else items[0]
