"""Functions of one's own inside transforms: their ``jvp`` and ``vmap`` in place of what their ``forward`` does."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from srcgrad.eager import pytree
from srcgrad.eager.batched import Batched
from srcgrad.eager.crossing import dual_in, part_of
from srcgrad.eager.graph import Border
from srcgrad.eager.levels import Level, Pair, Part, enter, leave, level_of, made_of, named, pair, part
from srcgrad.eager.lifted_arrays import is_lifted, topmost
from srcgrad.eager.modes import no_grad, state
from srcgrad.eager.tensor import Tensor

_NEEDS_SETUP = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override "
    "the setup_context staticmethod. For more details, please see "
    "https://pytorch.org/docs/main/notes/extending.func.html"
)
_NEEDS_JVP = "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."


class VmapInfo(NamedTuple):
    """What ``Function.vmap`` is told."""

    batch_size: int
    randomness: str


def applied(cls: Any, separate: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``cls.apply`` inside transforms; NotImplemented where it is the same as outside."""
    if not separate and any(level.strict for level in state.transforms):
        raise RuntimeError(_NEEDS_SETUP)
    top = topmost([arg.array for arg in args if isinstance(arg, Tensor)])
    level = None if top is None else level_of(top)
    if level is None:
        return NotImplemented
    if not isinstance_of(top, Batched):
        return _with_tangents(cls, separate, args, kwargs, level)
    own = getattr(cls, "vmap", None)
    if own is None:
        if level.strict and not cls.generate_vmap_rule:
            raise RuntimeError(
                f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and "
                "implement the vmap staticmethod or set generate_vmap_rule=True. For more information, please see "
                "https://pytorch.org/docs/main/notes/extending.func.html"
            )
        return NotImplemented
    in_dims = tuple(0 if _of(arg, level) else None for arg in args)
    given = [leave(arg, level, 0) if d == 0 else arg for arg, d in zip(args, in_dims, strict=True)]
    output, out_dims = own(VmapInfo(level.count, level.randomness), in_dims, *given)
    leaves, spec = pytree.flatten(output)
    dims = pytree.spread(out_dims, spec, lambda d: d is None or isinstance(d, int)) or [0] * len(leaves)
    return pytree.unflatten(
        spec, [one if d is None else enter(one, level, d) for one, d in zip(leaves, dims, strict=True)]
    )


def isinstance_of(array: Any, kind: type) -> bool:
    """``isinstance`` by the type itself, for lifted arrays say that they are NumPy's."""
    return issubclass(type(array), kind)


def _of(arg: Any, level: Level) -> bool:
    return isinstance(arg, Tensor) and is_lifted(arg.array) and bool(arg.array.level == level.id)


def _with_tangents(cls: Any, separate: bool, args: Any, kwargs: Any, level: Level) -> Any:
    """``forward`` of the primals and ``jvp`` of the tangents, as dual tensors of a level.

    Where the arguments themselves are part of a graph, what flows back through the result has two ways to go: a
    derivative of the result goes through ``backward``, which is given dual tensors, so that its own derivative is
    right; a derivative of its primal or its tangent goes back through ``forward`` and ``jvp``.
    """
    from srcgrad.eager.autograd.function import Function

    primals = [part(arg, level, "primal") if _of(arg, level) else arg for arg in args]
    if cls.jvp is Function.jvp:
        raise NotImplementedError(_NEEDS_JVP)
    output, context = _run(cls, separate, primals, kwargs)
    context.in_jvp = True
    tangents = cls.jvp(context, *(_tangent(context, arg, level) for arg in args))
    context.in_jvp, context.saved_for_forward = False, ()
    outputs = output if isinstance(output, tuple) else (output,)
    dots = tangents if isinstance(tangents, tuple) else (tangents,)
    made = tuple(
        one if dot is None or not isinstance(one, Tensor) else pair(one, dot, level)
        for one, dot in zip(outputs, dots, strict=True)
    )
    if state.recording and any(isinstance(arg, Tensor) and arg.requires_grad for arg in args):
        made = _with_both_ways(cls, separate, args, context, (primals, outputs, made), isinstance(output, tuple), level)
    return made if isinstance(output, tuple) else made[0]


def _run(cls: Any, separate: bool, primals: list[Any], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The output for the primals, which may belong to levels further out, and a context for ``jvp``."""
    if separate:
        output = cls.apply(*primals, **kwargs)
        context = cls._backward_cls()
        context.needs_input_grad = tuple(isinstance(p, Tensor) and p.requires_grad for p in primals)
        cls.setup_context(context, tuple(primals), output)
        return output, context
    if state.recording and any(isinstance(p, Tensor) and p.requires_grad for p in primals):
        output = cls.apply(*primals, **kwargs)
        for one in pytree.flatten(output)[0]:
            if isinstance(one, Tensor) and type(one.node) is cls._backward_cls:
                return output, one.node
    context = cls._backward_cls()
    context.needs_input_grad = (False,) * len(primals)
    with no_grad():
        output = cls.forward(context, *primals, **kwargs)
    return output, context


class Fork(Border):
    """Behind a dual result of a Function: a cotangent of it all goes to ``backward``, a pair of them to the parts."""

    def apply(self, g: Any) -> Any:
        if self._is_pair(g):
            return [None, part_of(g, self.level.id, "tangent"), part_of(g, self.level.id, "primal")]
        return [g, None, None]

    def apply_to_tensors(self, g: Any) -> Any:
        if self._is_pair(g.array):
            return [None, part(g, self.level, "tangent"), part(g, self.level, "primal")]
        return [g, None, None]

    def _is_pair(self, array: Any) -> bool:
        dual = dual_in(array, self.level.id)
        return dual is not None and bool(dual.paired)


def _with_both_ways(
    cls: Any, separate: bool, args: Any, context: Any, results: tuple[Any, Any, Any], several: bool, level: Level
) -> tuple[Any, ...]:
    """The dual outputs with both ways back."""
    from srcgrad.eager.autograd.function import attached, begun

    primals, outputs, duals = results
    changed = {id(primal): arg for primal, arg in zip(primals, args, strict=True) if isinstance(arg, Tensor)}
    whole: list[Any] = []
    for one, dual in zip(outputs, duals, strict=True):
        whole.append(changed.get(id(one), made_of(dual.array)) if isinstance(one, Tensor) else one)
    output = tuple(whole) if several else whole[0]
    node = begun(cls, args)
    with no_grad():
        if separate:
            cls.setup_context(node, tuple(args), output)
        else:
            _fill(node, context, [*zip(primals, args, strict=True)], [*zip(outputs, whole, strict=True)])
    node.takes_none = False
    _wait_for_gradients(duals, {arg.edge()[0] for arg in args if isinstance(arg, Tensor)}, level)
    rear = attached(node, args, output, True)
    made: list[Any] = []
    for one, dual in zip(rear if several else (rear,), duals, strict=True):
        if not isinstance(one, Tensor) or one.node is not node:
            made.append(one)
            continue
        result = one if any(one is arg for arg in args) else made_of(dual.array)
        front = dual.node.edges if type(dual.node) is Pair else ((None, 0), (None, 0))
        result.node, result.number = named(Fork, one)(level, dual.array, ((node, one.number), *front)), 0
        result.array = dual.array
        made.append(result)
    return tuple(made)


def _wait_for_gradients(duals: tuple[Any, ...], before: set[Any], level: Level) -> None:
    """Let nothing run between dual results and arguments where no gradient arrives, for that is the way not taken."""
    stack: list[Any] = [dual.node for dual in duals if isinstance(dual, Tensor)]
    while stack:
        node = stack.pop()
        if node is None or node in before or (isinstance(node, Part) and node.level is level):
            continue
        before.add(node)
        if node.takes_none:
            node.takes_none = False
        stack += [target for target, _ in node.edges]


def _fill(node: Any, context: Any, inputs: list[tuple[Any, Any]], outputs: list[tuple[Any, Any]]) -> None:
    """Give a node what ``forward`` put into its context, with the dual tensors for their primals."""

    def dual(value: Any) -> Any:
        if isinstance(value, Tensor):
            for primal, whole in (*inputs, *outputs):
                if value is primal or (value.node is context and _place(primal, context) == value.number):
                    return whole
        return value

    of_graph = {*vars(node), *dir(type(node))}
    for name, value in vars(context).items():
        if name not in of_graph or name == "materialize":
            setattr(node, name, dual(value))
    node.to_save = tuple(map(dual, context.saved_tensors))
    fixed = [p for p, _ in outputs if isinstance(p, Tensor) and context.kept is not None and not p.requires_grad]
    node.non_differentiable = tuple(map(dual, (*context.non_differentiable, *fixed)))


def _place(value: Any, context: Any) -> int | None:
    """Which output of a context's node a value is."""
    return value.number if isinstance(value, Tensor) and value.node is context else None


def _tangent(context: Any, arg: Any, level: Level) -> Any:
    if _of(arg, level):
        return part(arg, level, "tangent")
    if isinstance(arg, Tensor) and context.materialize and arg.array.dtype.kind in "fc":
        return made_of(np.zeros(arg.array.shape, arg.array.dtype))
    return None
