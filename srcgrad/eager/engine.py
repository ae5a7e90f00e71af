"""The engine: gradients flow from the outputs to the leaves, each node once, the last recorded first.

Nodes wait in a heap by sequence number until every gradient of theirs has arrived; leaves run at once, in the order in
which their last gradients are handed out.
Gradients are arrays; with ``create_graph`` they are tensors and what is done to them is recorded.  Traversal is a loop,
so graphs may be as deep as memory allows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence, Set
from heapq import heappop, heappush, heapreplace
from typing import Any

import numpy as np

from srcgrad.eager import dtypes, messages
from srcgrad.eager.accumulation import accumulate_into
from srcgrad.eager.flat import tensor_partials
from srcgrad.eager.graph import AccumulateGrad, Node
from srcgrad.eager.levels import check_home, gradients_of_batch, of_primal
from srcgrad.eager.lifted_arrays import concerns, is_lifted
from srcgrad.eager.modes import anomaly, state
from srcgrad.eager.recovery import recovered
from srcgrad.eager.size import Size
from srcgrad.eager.tasks import Root, Task
from srcgrad.eager.tensor import Tensor


def run(
    roots: Sequence[Root],
    *,
    keep: bool,
    create: bool,
    captures: dict[tuple[int, int], int] | None = None,
    accumulate: bool = True,
    targets: Sequence[Node] = (),
    leaf_hooks: bool = False,
) -> list[Any]:
    """Send the roots' gradients back.

    ``captures``: (id of a node, output number) of the gradients that are wanted, by position in the result; then only
    nodes on the way to ``targets`` run, and with ``accumulate`` the targets themselves, leaves and others.
    ``leaf_hooks``: gradients captured at leaves have been through the hooks of the leaves.
    """
    waiting, reach, needed = _dependencies(roots, targets if captures is not None else None)
    captured: list[Any] = [None] * (0 if captures is None else len(captures))
    buffers: dict[Node, Any] = {}
    sums: set[Node] = set()  # the nodes whose gradient is an array that nobody else has, as it was made here
    heap: list[tuple[int, Node]] = []
    before = state.recording
    state.recording = create
    outer = state.__dict__.get("task")
    task = state.__dict__["task"] = Task(waiting, reach, captures)
    handed = task.handed
    try:
        for node, number, g in roots:
            if not create and g is not None:
                handed.add(id(g))
            _put(buffers, node, number, g)
        for node in {id(node): node for node, _, _ in roots}.values():
            if not waiting.get(node):
                if type(node) is AccumulateGrad:
                    _arrived(node, buffers.pop(node, None), create, task, captured, accumulate, leaf_hooks)
                else:
                    heappush(heap, (-node.sequence, node))
        ready: Node | None = None  # a node whose gradients have all arrived, before it is put on the heap
        while heap or ready is not None:
            if ready is None:
                node = heappop(heap)[1]
            elif heap and heap[0][0] < -ready.sequence:
                node = heapreplace(heap, (-ready.sequence, ready))[1]
            else:
                node = ready
            ready = None
            g = buffers.pop(node, None)
            direct = node.direct
            if direct is None and (node.tensor_hooks is not None or node.retained is not None):
                from srcgrad.eager.hooks import run_tensor_hooks

                g = run_tensor_hooks(node, g, create)
            if captures is not None:
                _capture(captures, captured, node, g)
                if node not in (reach if accumulate else needed):
                    continue
            partials = None
            quick = direct is not None and g is not None and not create and not anomaly.enabled
            if quick and node.picked is not None and _added(node, g, buffers, sums):
                partials = (None,)
            elif quick:
                try:
                    ways = None if reach is None else _needed(node, reach)
                    partials = direct(node, g) if ways is None else node.formula.part(ways, False)(node, g)
                except Exception:
                    # A formula changes nothing, so the whole way is gone instead: it raises what is wrong by name
                    # (freed, changed in place), or runs example by example. No gradient comes of the failed attempt.
                    partials = None
            if partials is None:
                partials = _applied(node, g, create, reach)
            g = None  # so that a leaf can tell whether it alone holds what it is given
            if not keep:
                if direct is None or node.watched is not None:
                    node.release()
                elif not node.keeps:
                    node.saved = None
            for (target, number), partial in zip(node.edges, partials):
                if target is None or (reach is not None and target not in reach):
                    continue
                if partial is not None:
                    if target.outputs > 1:
                        _put(buffers, target, number, partial)
                    else:
                        known = buffers.get(target)
                        if known is None:
                            buffers[target] = partial
                            if quick and node.picked is not None and type(partial) is np.ndarray:
                                sums.add(target)  # zeros, but for what was picked
                        elif target in sums and known.dtype is partial.dtype and known.shape == partial.shape:
                            np.add(known, partial, known)
                        else:
                            buffers[target] = known = known + partial
                            if type(known) is np.ndarray and type(partial) is np.ndarray:
                                sums.add(target)
                left = waiting[target] = waiting[target] - 1
                if not left:
                    if type(target) is AccumulateGrad:
                        _arrived(target, buffers.pop(target, None), create, task, captured, accumulate, leaf_hooks)
                    else:
                        if ready is not None:
                            heappush(heap, (-ready.sequence, ready))
                        ready = target
        for callback in task.callbacks:  # which may queue more
            callback()
    finally:
        state.recording = before
        state.__dict__["task"] = outer
    return captured


def _arrived(
    leaf: AccumulateGrad, g: Any, create: bool, task: Task, captured: list[Any], accumulate: bool, leaf_hooks: bool
) -> None:
    """The whole gradient of a leaf, captured or added to its ``grad``."""
    captures = task.captures
    if captures is not None:
        if leaf_hooks and leaf.variable.hooks:
            from srcgrad.eager.hooks import as_gradient, as_tensor, through_hooks

            g = as_gradient(through_hooks(leaf.variable.hooks, as_tensor(g)), create)
        _capture(captures, captured, leaf, g)
        if not accumulate or leaf not in task.needed:
            return
    accumulate_into(leaf, g, create, task.handed)


def _dependencies(roots: Sequence[Root], targets: Sequence[Node] | None) -> tuple[dict[Node, int], Any, Any]:
    """How many gradients each node waits for; with targets, the nodes at which gradients may arrive, and among them
    those that must run for it."""
    waiting: dict[Node, int] = {node: 0 for node, _, _ in roots}
    stack = [*waiting]
    order: list[Node] = []
    while stack:
        node = stack.pop()
        order.append(node)
        for target, _ in node.edges:
            if target is not None:
                known = waiting.get(target)
                if known is None:
                    waiting[target] = 1
                    stack.append(target)
                else:
                    waiting[target] = known + 1
    if targets is None:
        return waiting, None, None
    reach = set(targets)
    needed: set[Node] = set()
    # Nodes are newer than what they depend on, so that one pass from the oldest finds every way to a target.
    for node in sorted(order, key=_age):
        if any(target in reach for target, _ in node.edges):
            needed.add(node)
            reach.add(node)
    return waiting, reach, needed


def _age(node: Node) -> int:
    return -1 if type(node) is AccumulateGrad else node.sequence


def _put(buffers: dict[Node, Any], node: Node, number: int, g: Any) -> None:
    """Add a gradient to what waits at an output of a node."""
    if node.outputs == 1:
        known = buffers.get(node)
        if g is not None:
            buffers[node] = g if known is None else known + g
        return
    several = buffers.get(node)
    if several is None:
        several = buffers[node] = [None] * node.outputs
    if g is not None:
        several[number] = g if several[number] is None else several[number] + g


def _capture(captures: dict[tuple[int, int], int], captured: list[Any], node: Node, g: Any) -> None:
    if node.outputs == 1:
        place = captures.get((id(node), 0))
        if place is not None:
            captured[place] = g
        return
    for number in range(node.outputs):
        place = captures.get((id(node), number))
        if place is not None and g is not None:
            captured[place] = g[number]


def _added(node: Node, g: Any, buffers: dict[Node, Any], sums: set[Node]) -> bool:
    """Whether the gradient of a part could be added in its place to the sum that waits for the whole."""
    target = node.edges[0][0]
    if target not in sums or node.saved is None:
        return False
    total = buffers[target]
    if total.dtype is not g.dtype or total.shape != node.saved[0].shape:
        return False
    total[node.picked] += g
    return True


def _needed(node: Node, reach: Set[Node]) -> tuple[bool, ...] | None:
    """The edges of a node with a plain formula that lead to a target, where not all of them do."""
    needed = tuple([target in reach for target, _ in node.edges])
    plain = type(node).apply_to_tensors is Node.apply_to_tensors and not node.formula.lists and not node.posthooks
    return needed if plain and not all(needed) and len(needed) == len(node.formula.outputs) else None


def _applied(node: Node, g: Any, create: bool, reach: Set[Node] | None = None) -> Any:
    """What a node makes of the gradient of its output, hooks included.

    ``reach``: the nodes at which gradients are wanted, where that is not everywhere.
    """
    if node.prehooks:
        from srcgrad.eager.hooks import run_prehooks

        g = run_prehooks(node, g, create)
    if g is None and not node.takes_none:
        partials: Any = (None,) * len(node.edges)
    elif anomaly.enabled:
        from srcgrad.eager.anomaly import applied

        partials = applied(node, g, create)
    elif create:
        partials = tensor_partials(node, g, None if reach is None else _needed(node, reach))
    else:
        try:
            partials = node.apply(g)
        except Exception as error:
            if not concerns(error, (g,), node.saved):
                raise
            partials = recovered(node, g, error)
    if node.posthooks:
        from srcgrad.eager.hooks import run_posthooks

        partials = run_posthooks(node, partials, g, create)
    return partials


def called(node: Node, *grads: Any) -> Any:
    """``node(*grads)``: the gradients of its inputs as tensors, recorded where recording is on."""
    if len(grads) != node.outputs:
        raise TypeError(f"expected {node.outputs} arguments, got {len(grads)} instead")
    create = state.recording
    given = [g if g is None or create else g.array for g in grads]
    g = given[0] if node.outputs == 1 else given
    if isinstance(node, AccumulateGrad):
        accumulate_into(node, g, create, {id(g)})
        return ()
    if g is None and not node.takes_none:
        partials: Any = (None,) * len(node.edges)
    else:
        partials = tensor_partials(node, g) if create else node.apply(g)
    made = tuple(p if p is None or isinstance(p, Tensor) else Tensor.of(p) for p in partials)
    made += (None,) * (len(node.edges) - len(made))
    return made[0] if len(made) == 1 else made


Node.__call__ = called  # type: ignore[method-assign]

# --- the doors -------------------------------------------------------------------------------------------------------
def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Accumulate the gradients of ``tensors`` with respect to the leaves, or to ``inputs``."""
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if state.transform_level and any(level.strict for level in state.transforms):
        raise RuntimeError(messages.IN_TRANSFORM)
    outputs = as_tuple(tensors)
    if inputs is not None:
        inputs = as_tuple(inputs)
        if not inputs:
            raise RuntimeError(messages.EMPTY_INPUTS.format(function="backward"))
    keep = create_graph if retain_graph is None else retain_graph
    roots = seeds(outputs, grad_tensors, create_graph)
    if create_graph:
        from srcgrad.eager.warned import warn_once

        warn_once(messages.CREATE_GRAPH_CYCLE)
    if inputs is None:
        run(roots, keep=keep, create=create_graph)
        return
    places, targets = wanted(inputs)
    for tensor in inputs:
        if isinstance(tensor, Tensor) and tensor.node is not None:
            tensor.retain_grad()
    run(roots, keep=keep, create=create_graph, captures=places, accumulate=True, targets=targets)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of ``outputs`` with respect to ``inputs``, without accumulating any."""
    if materialize_grads and allow_unused is False:
        raise ValueError(messages.MATERIALIZE)
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    outputs, inputs = as_tuple(outputs), as_tuple(inputs)
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    if not inputs:
        raise RuntimeError(messages.EMPTY_INPUTS.format(function="grad"))
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched and grad_outputs is not None:
        return _batched(outputs, inputs, as_tuple(grad_outputs), keep, create_graph, allow_unused, materialize_grads)
    roots = seeds(outputs, grad_outputs, create_graph)
    for tensor in inputs:
        if not isinstance(tensor, Tensor) or not tensor.requires_grad:
            if not hasattr(tensor, "node") or not (getattr(tensor, "requires_grad", True)):
                raise RuntimeError(messages.INPUT_WITHOUT_GRAD)
    places, targets = wanted(inputs)
    grads = run(
        roots, keep=keep, create=create_graph, captures=places, accumulate=False, targets=targets, leaf_hooks=True
    )
    made: list[Any] = []
    handed: set[int] = {id(g) for _, _, g in roots}
    for index, tensor in enumerate(inputs):
        node, number = tensor.edge()
        g = grads[places[id(node), number]]
        if is_lifted(getattr(g, "array", g)):
            check_home(g, tensor, True)
            g = of_primal(g)
        if g is None:
            if not allow_unused:
                raise RuntimeError(messages.UNUSED.format(index=index))
            if materialize_grads:
                if not isinstance(tensor, Tensor):
                    raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
                made.append(Tensor.of(np.zeros(tensor.array.shape, tensor.array.dtype)))
                continue
            made.append(None)
            continue
        if not isinstance(g, Tensor):
            if isinstance(g, np.ndarray) and (g.base is not None or id(g) in handed):
                g = np.copy(g, order="C")
            handed.add(id(g))
            g = Tensor.of(g)
        made.append(g)
    return tuple(made)


def _batched(
    outputs: Any, inputs: Any, seeds_of: Any, keep: bool, create: bool, allow_unused: bool, materialize: bool
) -> tuple[Any, ...]:
    """The gradients for each entry along the first dimension of the seeds, all at once where that is possible."""
    for index, (seed, output) in enumerate(zip(seeds_of, outputs, strict=False)):
        given, expected = Size(seed.array.shape), Size(output.array.shape)
        if given[1:] != expected:
            raise RuntimeError(messages.BATCHED_SEED.format(index=index, given=given[2:], expected=expected))

    def once(given: Any, keep: bool) -> Any:
        return grad(outputs, inputs, given, keep, create, True, allow_unused, False, materialize)

    return gradients_of_batch(once, seeds_of, keep)


def as_tuple(value: Any) -> tuple[Any, ...]:
    """One tensor or a sequence of them."""
    if isinstance(value, Tensor) or hasattr(value, "ownership_token"):
        return (value,)
    return tuple(value)


def wanted(inputs: Sequence[Any]) -> tuple[dict[tuple[int, int], int], list[Node]]:
    """Places for the gradients of the inputs, and the nodes at which they arrive."""
    places: dict[tuple[int, int], int] = {}
    nodes: list[Node] = []
    for tensor in inputs:
        node, number = tensor.edge()
        if node is None:
            raise RuntimeError(messages.INPUT_WITHOUT_GRAD)
        places.setdefault((id(node), number), len(places))
        nodes.append(node)
    return places, nodes


def seeds(outputs: Sequence[Any], grads: Any, create: bool) -> list[Root]:
    """The roots of a backward pass: each output's node with the gradient it starts from."""
    given: Sequence[Any] = (None,) * len(outputs) if grads is None else as_seeds(grads)
    if len(given) < len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
    roots: list[Root] = []
    for index, (tensor, g) in enumerate(zip(outputs, given, strict=False)):
        node, number = tensor.edge()
        if node is None:
            raise RuntimeError(messages.NO_GRAPH.format(index=index))
        if isinstance(tensor, Tensor):
            shape, dtype = tensor.array.shape, tensor.array.dtype
        else:
            shape, dtype = node.shape, node.dtype
            if node.outputs > 1:
                shape, dtype = shape[number], dtype[number]
        roots.append((node, number, _seed(index, g, shape, dtype, create)))
    return roots


def as_seeds(grads: Any) -> Sequence[Any]:
    return (grads,) if isinstance(grads, Tensor) else tuple(grads)


def _seed(index: int, g: Any, shape: tuple[int, ...], dtype: Any, create: bool) -> Any:
    if g is None:
        size = 1
        for n in shape:
            size *= n
        if size != 1:
            raise RuntimeError(messages.NOT_SCALAR)
        if dtype.kind == "c":
            raise RuntimeError(messages.NOT_REAL.format(dtype=dtypes.OF_NUMPY[dtype]))
        one = np.ones(shape, dtype) if shape else dtype.type(1)
        return Tensor.of(one) if create else one
    if not isinstance(g, Tensor):
        raise TypeError(messages.SEED_TYPE.format(kind=type(g).__name__))
    if g.array.shape != shape:
        raise RuntimeError(messages.SEED_SHAPE.format(index=index, given=Size(g.array.shape), expected=Size(shape)))
    if (g.array.dtype.kind == "c") != (dtype.kind == "c"):
        raise RuntimeError(messages.SEED_COMPLEX.format(index=index, given=g.dtype, expected=dtypes.OF_NUMPY[dtype]))
    if create:
        return g if g.array.dtype == dtype else g.to(dtypes.OF_NUMPY[dtype])
    return g.array if g.array.dtype == dtype else g.array.astype(dtype)
