"""Levels: what lies between the tensors inside a transform and those outside.

Inside ``vmap`` and ``jvp`` tensors hold lifted arrays; nodes at the border lift gradients and take them down again, as
arrays and, where derivatives are recorded, as tensors.  A tensor from outside that is used inside has no such node in
front of it: when results leave, ``seal`` puts one on every edge that leads out.  Inside ``grad`` and ``vjp`` tensors
are ordinary ones that begin at a ``Track`` node, at which their gradients are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from srcgrad.eager import messages
from srcgrad.eager.batched import Batched
from srcgrad.eager.crossing import dual_in, entered, left, paired, part_of, strangers
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.dual import Dual
from srcgrad.eager.graph import AccumulateGrad, Border, Node, sequence
from srcgrad.eager.lifted_arrays import is_escape, is_lifted, levels
from srcgrad.eager.modes import state
from srcgrad.eager.tensor import Tensor, new

_stack = Operation(np.stack, "StackBackward0")


class Level:
    """One transform while it runs; ``id`` never comes again, ``number`` is how deep it is nested."""

    def __init__(self, kind: str, randomness: str = "error", count: int = 0) -> None:
        self.kind = kind
        self.id = next(levels)
        self.start = next(sequence)
        self.number = 0
        self.active = False
        self.recorded = True  # whether what is outside is recorded
        self.randomness = randomness
        self.count = count  # of examples
        self.borders = 0  # how many nodes lie on its edges
        self.became_dual: list[Callable[[], Tensor | None]] = []  # tensors that are as they were when it ends
        self.strict = kind in ("grad", "jvp", "vmap")  # a transform of torch.func, in which some things are forbidden

    def __enter__(self) -> Level:
        self.recorded = state.recording or self.kind == "dual"
        if self.kind == "grad":
            state.recording = True
        state.transforms = (*state.transforms, self)
        state.transform_level = len(state.transforms)
        self.number = sum(level.strict for level in state.transforms)
        self.active = True
        return self

    def __exit__(self, *_: object) -> None:
        state.transforms = state.transforms[:-1]
        state.transform_level = len(state.transforms)
        if self.kind != "dual":
            state.recording = self.recorded
        self.active = False
        for reference in self.became_dual:
            tensor = reference()
            if tensor is not None and is_lifted(tensor.array) and tensor.array.level == self.id:
                tensor.array = tensor.array.primal


# --- nodes at the border ---------------------------------------------------------------------------------------------
class Track(Border):
    """Where tensors inside ``grad`` and ``vjp`` begin."""

    def apply(self, g: Any) -> Any:
        return [g]

    apply_to_tensors = apply


class Enter(Border):
    """A batch on its way in; its gradient gets its first axis back."""

    dim = 0
    entered: Tensor | None = None

    def apply(self, g: Any) -> Any:
        return [left(g, self.level.id, self.level.count, self.dim)]

    def apply_to_tensors(self, g: Any) -> Any:
        return [leave(g, self.level, self.dim)]


class Leave(Border):
    """A batch on its way out."""

    dim = 0

    def apply(self, g: Any) -> Any:
        return [entered(g, self.level.id, self.dim)]

    def apply_to_tensors(self, g: Any) -> Any:
        return [enter(g, self.level, self.dim)]


class Shed(Border):
    """In front of a tensor that all examples share: their gradients are added up."""

    def apply(self, g: Any) -> Any:
        return [left(g, self.level.id, self.level.count, 0).sum(axis=0)]

    def apply_to_tensors(self, g: Any) -> Any:
        return [leave(g, self.level, 0).sum(0)]


class Pair(Border):
    """A primal and a tangent on their way in as one dual tensor."""

    def apply(self, g: Any) -> Any:
        level, dual = self.level, dual_in(g, self.level.id)
        if dual is None:
            return [g, None]
        if dual.paired:
            return [part_of(g, level.id, "tangent"), part_of(g, level.id, "primal")]
        return [g if level.kind == "dual" else part_of(g, level.id, "primal"), None]

    def apply_to_tensors(self, g: Any) -> Any:
        level, dual = self.level, dual_in(g.array, self.level.id)
        if dual is None:
            return [g, None]
        if dual.paired:
            return [part(g, level, "tangent"), part(g, level, "primal")]
        return [g if level.kind == "dual" else part(g, level, "primal"), None]


class Part(Border):
    """The primal or the tangent of a dual tensor on its way out."""

    name_of_part = "primal"

    def apply(self, g: Any) -> Any:
        zero = np.zeros(g.shape, g.dtype)
        primal, tangent = (zero, g) if self.name_of_part == "primal" else (g, zero)
        return [paired(primal, tangent, self.level.id, True)]

    def apply_to_tensors(self, g: Any) -> Any:
        zero = Tensor.of(np.zeros(g.array.shape, g.array.dtype))
        return [pair(zero, g, self.level, True) if self.name_of_part == "primal" else pair(g, zero, self.level, True)]


class Drop(Border):
    """In front of a tensor that has no tangent: what belongs to its primal goes on."""

    def apply(self, g: Any) -> Any:
        dual = dual_in(g, self.level.id)
        return [g if dual is None else part_of(g, self.level.id, "tangent" if dual.paired else "primal")]

    def apply_to_tensors(self, g: Any) -> Any:
        dual = dual_in(g.array, self.level.id)
        return [g if dual is None else part(g, self.level, "tangent" if dual.paired else "primal")]


_named: dict[tuple[type[Border], str], type[Border]] = {}


def named(kind: type[Border], tensor: Tensor) -> type[Border]:
    """The kind of node under the name of the node that made a tensor inside, which is what people see outside."""
    node = tensor.grad_node()
    name = kind.__name__ if node is None else type(node).__name__
    if (kind, name) not in _named:
        _named[kind, name] = type(name, (kind,), {})
    return _named[kind, name]


# --- tensors across the border ---------------------------------------------------------------------------------------
def made_of(array: Any) -> Tensor:
    """A tensor that holds an array."""
    result: Tensor = new(Tensor)
    result.array = array
    result.born = next(sequence)
    return result


def enter(tensor: Tensor, level: Level, dim: int) -> Tensor:
    """The tensor with dimension ``dim`` as the batch of a level."""
    result = made_of(entered(tensor.storage_array(), level.id, dim))
    if state.recording and level.recorded and tensor.requires_grad:
        node = result.node = Enter(level, result.array, (tensor.edge(),))
        node.dim = dim
        node.entered = tensor
    return result


def leave(tensor: Tensor, level: Level, dim: int) -> Tensor:
    """The batch of a level as dimension ``dim``; what is not batched is repeated."""
    arrived = tensor.node
    if type(arrived) is Enter and arrived.level is level and arrived.dim == dim and arrived.entered is not None:
        return arrived.entered
    result = made_of(left(tensor.array, level.id, level.count, dim))
    if state.recording and level.recorded and tensor.requires_grad:
        seal(tensor, level, Shed)
        node: Any = named(Leave, tensor)(level, result.array, (tensor.edge(),))
        node.dim = dim
        result.node = node
    return result


def pair(primal: Tensor, tangent: Tensor, level: Level, is_cotangent: bool = False) -> Tensor:
    """The dual tensor of a level."""
    result = made_of(paired(primal.array, tangent.array, level.id, is_cotangent))
    if state.recording and level.recorded and (primal.requires_grad or tangent.requires_grad):
        result.node = Pair(level, result.array, (primal.edge(), tangent.edge()))
    return result


def part(tensor: Tensor, level: Level, name: str) -> Tensor:
    """The primal or the tangent of a dual tensor."""
    result = made_of(part_of(tensor.array, level.id, name))
    if state.recording and level.recorded and tensor.requires_grad:
        seal(tensor, level, Drop)
        node: Any = named(Part, tensor)(level, result.array, (tensor.edge(),))
        node.name_of_part = name
        result.node = node
    return result


def of_primal(g: Any) -> Any:
    """What arrived at a tensor, as its gradient: of a pair, the part that belongs to the primal."""
    array = getattr(g, "array", g)
    if not getattr(array, "paired", False):
        return g
    level = level_of(array)
    if array is g or level is None:
        return array.tangent if array is g else made_of(array.tangent)
    return part(g, level, "tangent")


def track(tensor: Tensor, level: Level) -> Tensor:
    """The tensor as a leaf of a level, at which a gradient can be taken."""
    if tensor.array.dtype.kind not in "fc":
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    result = made_of(tensor.array)
    if tensor.counter is not None:
        result.counter = tensor.counter
    edges = (tensor.edge(),) if level.recorded and tensor.requires_grad else ((None, 0),)
    node = Track(level, result.array, edges)
    result.leaf_grad = True
    result._accumulator = lambda: node
    return result


# --- the graph between borders ---------------------------------------------------------------------------------------
def nodes_of(tensor: Tensor) -> Iterator[Node]:
    """Every node on which a tensor depends."""
    node = tensor.edge()[0]
    if node is None:
        return
    seen, stack = {node}, [node]
    while stack:
        node = stack.pop()
        yield node
        for target, _ in node.edges:
            if target is not None and target not in seen:
                seen.add(target)
                stack.append(target)


def seal(tensor: Tensor, level: Level, kind: type[Border]) -> None:
    """Put a node of ``kind`` on every edge from inside a level to a tensor outside."""
    first = tensor.edge()[0]
    borders: dict[tuple[int, int], Border] = {}
    seen, stack = {first}, [first]
    while stack:
        node = stack.pop()
        if node is None or type(node) is AccumulateGrad:
            continue
        if isinstance(node, Enter | Pair | Shed | Drop) and node.level is level:
            continue
        edges: list[Any] = []
        for target, number in node.edges:
            if target is None or _is_inside(target, level):
                edges.append((target, number))
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
                continue
            key = (id(target), number)
            if key not in borders:
                made = borders[key] = kind(level, target if target.outputs == 1 else tensor.array, ((target, number),))
                level.borders += 1
                made.sequence = level.start + level.borders / (1 << 20)  # type: ignore[assignment]
            edges.append((borders[key], 0))
        node.edges = tuple(edges)


def _is_inside(node: Node, level: Level) -> bool:
    if type(node) is AccumulateGrad:
        array = node.variable.array
        return is_lifted(array) and bool(array.level == level.id)
    if isinstance(node, Shed | Drop) and node.level is level:
        return True
    return node.sequence > level.start


def is_alive(tensor: Tensor, leaving: Level | None) -> bool:
    """Whether a tensor depends on anything that requires grad, other than the tensors of the level that is left."""
    for node in nodes_of(tensor):
        if type(node) is AccumulateGrad or (
            isinstance(node, Track) and node.level.active and node.level is not leaving
        ):
            return True
    return False


def stripped(value: Any, level: Level, originals: dict[int, Tensor] | None = None) -> Any:
    """A result of a level outside of it: without a graph, unless it depends on what is outside."""
    if not isinstance(value, Tensor) or not value.requires_grad:
        return value
    if originals and id(value) in originals:
        return originals[id(value)] if level.recorded else originals[id(value)].detach()
    if level.recorded and is_alive(value, level):
        return value
    return made_of(value.array)


def level_of(array: Any) -> Level | None:
    """The level that a lifted array belongs to, while it runs."""
    return next((level for level in state.transforms if level.id == array.level), None)


def check_home(g: Any, tensor: Any, while_running: bool) -> None:
    """Refuse a gradient of a tensor that is batched by a level that the tensor does not belong to.

    ``while_running``: one of a level that runs is welcome.
    """
    array = getattr(g, "array", g)
    if is_lifted(array):
        lost = strangers(array, getattr(tensor, "array", None))
        if while_running:
            lost -= {level.id for level in state.transforms}
        if lost:
            raise RuntimeError(messages.LOST_BATCH)


# --- gradients of several seeds --------------------------------------------------------------------------------------
def gradients_of_batch(once: Callable[[Any, bool], Any], seeds: tuple[Any, ...], keep: bool) -> tuple[Any, ...]:
    """``once(seeds, keep)`` for the entries along the first dimension of the seeds; None stays None."""
    count = len(seeds[0])
    try:
        with Level("batch", "same", count) as level:
            found = once([enter(seed, level, 0) for seed in seeds], keep)
            return tuple(None if g is None else leave(g, level, 0) for g in found)
    except Exception as error:
        if not is_escape(error):
            raise
        rows = [once([seed[i] for seed in seeds], keep or i < count - 1) for i in range(count)]
        return tuple(None if column[0] is None else _stacked(column) for column in zip(*rows, strict=True))


def _stacked(rows: tuple[Tensor, ...]) -> Tensor:
    """Tensors along a new first dimension, by a node that can be gone through again, as PyTorch's."""
    made: Tensor = call(_stack, {"arrays": rows, "axis": 0}, saved={"dim": 0})
    if made.node is not None:
        made.node.keeps = True
    return made


# --- printing --------------------------------------------------------------------------------------------------------
def wrapped_text(tensor: Tensor, text: Callable[..., str]) -> str | None:
    """How a tensor prints inside transforms; None where none has anything to do with it."""
    array = tensor.array
    found = tracks(tensor)
    return _wrapped(array, found, tensor, text) if found or is_lifted(array) else None


def tracks(tensor: Tensor) -> set[int]:
    """The numbers of the transforms that run and take a gradient by what the tensor depends on."""
    if not tensor.requires_grad:
        return set()
    return {node.level.number for node in nodes_of(tensor) if isinstance(node, Track) and node.level.active}


def check_one_derivative(tensor: Tensor, what: str) -> None:
    """Refuse to take a tensor out of the innermost of several transforms alone, as ``.data`` and ``detach_`` do.

    ``detach`` takes it out of all of them, and needs no check.
    """
    if not any(level.strict for level in state.transforms):
        return
    array, count = tensor.storage_array(), 0
    while is_lifted(array):
        count += isinstance(array, Dual)
        array = array.primal if isinstance(array, Dual) else array.values
    if tensor.requires_grad:
        ends = [node for node in nodes_of(tensor) if isinstance(node, Track | AccumulateGrad)]
        count += len({node.level.id if isinstance(node, Track) else 0 for node in ends})
    if count > 1:
        raise NotImplementedError(messages.NESTED_DATA.format(what=what))


def _wrapped(array: Any, tracks: set[int], tensor: Tensor, text: Callable[..., str]) -> str:
    level = level_of(array) if is_lifted(array) else None
    depth = max(tracks, default=0)
    if level is not None and (level.number > depth or (level.kind == "dual" and not depth)):
        if level.kind in ("vmap", "batch"):
            inside = _wrapped(np.moveaxis(array.values, 0, array.dim), tracks, tensor, text)
            head = f"BatchedTensor(lvl={level.number}, bdim={array.dim}, value=\n"
        elif level.kind == "dual":
            primal = made_of(array.primal)
            primal.node, primal.leaf_grad = tensor.node, tensor.leaf_grad
            return text(primal, tangent=format(made_of(array.tangent)))
        else:
            inside = _wrapped(array.primal, tracks, tensor, text)
            head = f"GradTrackingTensor(lvl={level.number}, value=\n"
    elif depth:
        inside = _wrapped(array, tracks - {depth}, tensor, text)
        head = f"GradTrackingTensor(lvl={depth}, value=\n"
    elif is_lifted(array):
        return _wrapped(array.values if isinstance(array, Batched) else array.primal, tracks, tensor, text)
    else:
        plain = made_of(array)
        return text(plain)
    return head + "\n".join("    " + line for line in inside.split("\n")) + "\n)"
