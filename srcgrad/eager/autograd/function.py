"""``torch.autograd.Function``: an operation whose forward and backward are written by its user.

The context that both get is the node of the graph itself.  Forward runs without recording; what it returns is attached
to the node.  Saved inputs come back as the same objects, saved outputs as the tensors they became.
"""

from __future__ import annotations

from inspect import signature
from typing import Any, ClassVar

import numpy as np

from srcgrad.eager import messages
from srcgrad.eager.autograd.once import once_differentiable as once_differentiable
from srcgrad.eager.graph import Node, modified, sequence
from srcgrad.eager.modes import anomaly, no_grad, state
from srcgrad.eager.slots import PUBLIC
from srcgrad.eager.tensor import SavedResult, Tensor
from srcgrad.eager.views import IN_FUNCTION, ONE_OF_SEVERAL, bump, check_recordable, rebase

# What a context offers, beside what every node does; and what PyTorch's has for machinery that is not here.
CONTEXT = (
    "_forward_cls", "_raw_saved_tensors", "apply", "dirty_tensors", "mark_dirty", "mark_non_differentiable",
    "needs_input_grad", "non_differentiable", "save_for_backward", "save_for_forward", "saved_for_forward",
    "saved_tensors", "saved_variables", "set_materialize_grads", "to_save",
)  # fmt: skip
NOT_HERE = (
    "_autograd_function_id", "_compiled_autograd_backward_state", "_compiled_autograd_key",
    "_get_compiled_autograd_symints", "_get_user_fn", "_input_grad_buffers", "_is_pure_view",
    "_materialize_non_diff_grads", "_register_hook", "apply_boxed", "apply_jvp", "input_grad_buffers",
    "mark_shared_storage", "materialize_grads", "maybe_clear_saved_tensors", "output_grad_dtypes",
    "set_output_grad_dtype",
)  # fmt: skip


class FunctionCtx:
    """What forward may tell about its inputs and outputs."""

    to_save: tuple[Any, ...] = ()
    dirty: tuple[Tensor, ...] = ()
    non_differentiable: tuple[Tensor, ...] = ()
    materialize = True
    needs_input_grad: tuple[bool, ...] = ()
    saved_for_forward: tuple[Any, ...] = ()
    in_jvp = False

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors, or None, for backward; each is checked to be unchanged then."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for the forward mode."""
        for tensor in tensors:
            if not (isinstance(tensor, Tensor) or tensor is None):
                raise TypeError(messages.SAVE_FOR_FORWARD)
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say that forward changed these inputs in place."""
        self.dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say that these outputs carry no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether gradients that are not there are zeros (the default) or None."""
        self.materialize = value


class BackwardCFunction(Node, FunctionCtx):
    """The node of a user's operation, and the context of its forward and backward."""

    _forward_cls: ClassVar[Any]
    takes_none = True
    kept: tuple[Any, ...] | None = None
    positions: tuple[int, ...] = ()  # which arguments have an edge
    count = 0  # of arguments
    metadata_of: tuple[Any, ...] = ()
    differentiable: tuple[bool, ...] = ()
    single = True

    def __repr__(self) -> str:
        return object.__repr__(self)

    def __dir__(self) -> list[str]:
        return [*dir(object), *CONTEXT, *NOT_HERE, *PUBLIC]

    def __getattr__(self, name: str) -> Any:
        if name in NOT_HERE:
            return None
        return super().__getattr__(name)

    @property
    def dirty_tensors(self) -> tuple[Tensor, ...]:
        return self.dirty

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        return self.kept or ()

    # --- what backward asks ------------------------------------------------------------------------------------------
    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What forward saved: for ``backward``, and for ``jvp`` while that runs."""
        if self.in_jvp:
            return self.saved_for_forward
        if self.saved is None:
            raise RuntimeError(messages.FREED)
        if self.kept is None:
            return self.to_save
        made: list[Any] = []
        for item, then in zip(self.kept, self.versions or (0,) * len(self.kept), strict=True):
            if item is None:
                made.append(None)
                continue
            counter = item.counter
            if counter is not None and counter[0] != then:
                raise modified(self, item, counter[0], then)
            made.append(item.reattached(self))
        return tuple(made)

    saved_variables = saved_tensors

    # --- the engine --------------------------------------------------------------------------------------------------
    def apply(self, g: Any) -> Any:
        made = self._backward([None if one is None else Tensor.of(one) for one in self._arrived(g)])
        return [None if one is None else one.array for one in made]

    def apply_to_tensors(self, g: Any) -> Any:
        return self._backward(self._arrived(g))

    def _arrived(self, g: Any) -> list[Any]:
        """The gradients of the outputs, none of which may be there."""
        if self.outputs == 1:
            return [g]
        return [None] * self.outputs if g is None else list(g)

    def release(self) -> None:
        if self.kept:
            self.saved = None
            self.kept = ()

    def _backward(self, grads: list[Any]) -> list[Any]:
        if not self.takes_none and all(one is None for one in grads):
            return [None] * len(self.edges)
        cls = self._forward_cls
        given: list[Any] = []
        floating = iter(range(len(self.metadata_of)))
        for place in floating:
            shape, dtype = self.metadata_of[place]
            g = grads[place] if place < len(grads) else None
            if g is None and self.materialize and shape is not None:
                g = Tensor.of(np.zeros(shape, dtype))
            given.append(g)
        has_backward, has_vjp = cls.backward is not Function.backward, cls.vjp is not Function.vjp
        if has_backward and has_vjp:
            raise RuntimeError(messages.BACKWARD_AND_VJP)
        made = (cls.vjp if has_vjp else cls.backward)(self, *given)
        return self._checked(made if isinstance(made, tuple | list) else (made,))

    def _checked(self, made: Any) -> list[Any]:
        name = type(self).__name__
        grads = list(made)
        while len(grads) > self.count and grads[-1] is None:
            grads.pop()
        if len(grads) != self.count:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {self.count}, got {len(made)})"
            )
        kept: list[Any] = []
        for place, g in enumerate(grads):
            if place not in self.positions:
                if g is not None:
                    raise RuntimeError(
                        f"function {name} returned a gradient different than None at position {place + 1}, but the "
                        "corresponding forward input was not a Variable"
                    )
                continue
            if g is not None and not isinstance(g, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(g).__name__})")
            kept.append(self._fitted(g, len(kept)))
        return kept

    def _fitted(self, g: Tensor | None, place: int) -> Tensor | None:
        """A gradient in the shape and dtype of the input it belongs to."""
        if g is None:
            return None
        shape, dtype = self.inputs[place]
        if g.array.shape != shape:
            try:
                fits = np.broadcast_shapes(shape, g.array.shape) == g.array.shape
            except ValueError:
                fits = False
            if not fits:
                raise RuntimeError(
                    messages.INVALID_GRADIENT.format(
                        name=type(self).__name__, index=place, given=list(g.array.shape), expected=list(shape)
                    )
                )
            extra = g.array.ndim - len(shape)
            axes = (
                *range(extra),
                *(extra + i for i, n in enumerate(shape) if n == 1 and g.array.shape[extra + i] != 1),
            )
            g = g.sum(axes).reshape(shape)
        if g.array.dtype != dtype and dtype.kind in "fc":
            from srcgrad.eager.dtypes import OF_NUMPY

            g = g.to(OF_NUMPY[dtype])
        return g

    inputs: tuple[tuple[Any, Any], ...] = ()


class _Meta(type):
    """Gives every Function its class of node, ``<Name>Backward``."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls._backward_cls = type(
            f"{name}Backward", (BackwardCFunction,), {"_forward_cls": cls, "__module__": "torch.autograd.function"}
        )


class Function(metaclass=_Meta):
    """An operation of one's own: static ``forward(ctx, ...)`` and ``backward(ctx, *grads)``; call it with ``apply``."""

    _backward_cls: ClassVar[type[BackwardCFunction]]
    generate_vmap_rule = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(messages.LEGACY_FUNCTION)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Fill the context where ``forward`` does not take it."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """The gradients of the inputs, one per argument of forward."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    @staticmethod
    def vjp(ctx: Any, *grads: Any) -> Any:
        """Another name for ``backward``."""
        raise NotImplementedError("vjp is not implemented.")

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """The tangents of the outputs, for the forward mode."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run ``forward`` on the arguments and record the operation."""
        separate = cls.setup_context is not Function.setup_context
        if separate:  # which is given what ``forward`` takes by default too
            bound = signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        if state.transform_level:
            from srcgrad.eager.func.custom import applied

            made = applied(cls, separate, args, kwargs)
            if made is not NotImplemented:
                return made
        node = begun(cls, args)
        records = state.recording and any(node.needs_input_grad)
        with no_grad():
            output = cls.forward(*args, **kwargs) if separate else cls.forward(node, *args, **kwargs)
            if separate:
                cls.setup_context(node, args, output)
        for place, item in enumerate(node.to_save):
            if item is not None and not isinstance(item, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {place} is of type {type(item).__name__}"
                )
        if not isinstance(output, Tensor | tuple):
            return output
        if anomaly.enabled and records:
            from srcgrad.eager.anomaly import remember

            remember(node)
        return attached(node, args, output, records)


def begun(cls: type[Function], args: tuple[Any, ...]) -> BackwardCFunction:
    """The node of an operation on these arguments, which is the context of its forward."""
    node = cls._backward_cls()
    tensors = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
    node.needs_input_grad = tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in args)
    node.edges = tuple(args[i].edge() for i in tensors)
    node.positions = tuple(tensors)
    node.count = len(args)
    node.inputs = tuple((args[i].array.shape, args[i].array.dtype) for i in tensors)
    node.sequence = next(sequence)
    return node


def attached(node: BackwardCFunction, args: tuple[Any, ...], output: Any, records: bool) -> Any:
    """The outputs of forward, as outputs of the node."""
    outputs = output if isinstance(output, tuple) else (output,)
    for item in node.dirty:
        if not any(item is one for one in outputs):
            raise RuntimeError(messages.DIRTY_NOT_RETURNED)
    node.outputs = len(outputs)
    made: list[Any] = []
    metadata: list[Any] = []
    for number, one in enumerate(outputs):
        if not isinstance(one, Tensor):
            made.append(one)
            metadata.append((None, None))
            continue
        metadata.append((one.array.shape, one.array.dtype))
        made.append(_output(node, args, one, number, records))
    views = [one.alias for one in made if isinstance(one, Tensor) and one.alias is not None]
    if views and records and sum(isinstance(one, Tensor) and one.node is node for one in made) > 1:
        for view in views:
            view.circumstance = ONE_OF_SEVERAL
    node.metadata_of = tuple(metadata)
    node.dirty = node.non_differentiable = ()  # which belong to the graph, and would make a cycle
    node.shape = metadata[0][0] if node.outputs == 1 else tuple(shape for shape, _ in metadata)
    node.dtype = metadata[0][1] if node.outputs == 1 else tuple(dtype for _, dtype in metadata)
    if records:
        _keep(node, outputs, made)
    else:
        node.kept = None
    return tuple(made) if isinstance(output, tuple) else made[0]


def _output(node: BackwardCFunction, args: tuple[Any, ...], one: Tensor, number: int, records: bool) -> Tensor:
    """What forward returned, with the node where it has a derivative; an input as a view of itself."""
    is_input = any(one is arg for arg in args)
    dirty = any(one is item for item in node.dirty)
    if dirty:
        bump(one)
    differentiable = (
        records and one.array.dtype.kind in "fc" and not any(one is item for item in node.non_differentiable)
    )
    if not differentiable and one.requires_grad:
        if is_input:
            one = one.detach()
        elif one.alias is None:
            one.detach_()
    elif differentiable and dirty:
        if one.requires_grad and one.node is None:
            raise RuntimeError(messages.LEAF_IN_FUNCTION)
        check_recordable(one)
        if one.alias is not None and node.outputs > 1:
            raise RuntimeError(messages.DIRTY_VIEW)
        rebase(one, node, number, _edge_of(node, args, one))
        one.gradient = None
    elif is_input and not dirty:
        with no_grad():
            one = one.view(one.array.shape)
    if differentiable and not dirty:
        one.node, one.number = node, number
        if one.alias is None:
            one.leaf_grad = False
        elif one.counter is not None:
            one.alias.version = one.counter[0]
    if one.alias is not None and not (is_input and dirty):
        one.alias.circumstance = IN_FUNCTION
    return one


def _edge_of(node: BackwardCFunction, args: tuple[Any, ...], one: Tensor) -> Any:
    """The edge of the node to an input, as it was before forward."""
    return next((node.edges[i] for i, place in enumerate(node.positions) if args[place] is one), (None, 0))


def _keep(node: BackwardCFunction, outputs: tuple[Any, ...], made: list[Any]) -> None:
    """Turn what forward asked to save into slots that make no cycle."""
    kept: list[Any] = []
    versions: list[int] = []
    for item in node.to_save:
        if item is None:
            kept.append(None)
            versions.append(0)
            continue
        number = next((i for i, one in enumerate(outputs) if one is item), None)
        versions.append(item._version)
        if number is not None and isinstance(made[number], Tensor) and made[number].node is node:
            if item.counter is None:
                item.counter = [0]
            kept.append(SavedResult(item.array, item.counter, number))
        else:
            kept.append(item)
    node.kept = tuple(kept)
    node.versions = tuple(versions)
    node.to_save = ()
    if state.saved_hooks:
        from srcgrad.eager.saved import packed

        node.kept = tuple(item if item is None else packed(node, item, state.saved_hooks[-1]) for item in kept)
        node.versions = (0,) * len(kept)


for _class in (FunctionCtx, BackwardCFunction, Function):
    _class.__module__ = "torch.autograd.function"  # as PyTorch prints them
