"""The graph: nodes that know how to turn the gradient of their output into gradients of their inputs.

A node holds edges, (node, output number) per input or (None, 0); what its formula reads, with the version that each
tensor had; and the formula, a slice of a rule of the shared table.  Results that are saved are held as arrays, never as
tensors, so that a graph has no reference cycle and dies with its last tensor.
"""

from __future__ import annotations

import functools
import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from srcgrad.eager import dtypes, messages
from srcgrad.eager.handles import RemovableHandle
from srcgrad.eager.lifted_arrays import concerns
from srcgrad.eager.modes import anomaly, state

if TYPE_CHECKING:
    from srcgrad.eager.formulas import Formula
    from srcgrad.eager.tensor import Tensor

Edge = tuple["Node | None", int]
sequence = itertools.count()
RELEASED = object()  # where a tensor was that a node saved by name


class Node:
    """One recorded operation; the class's name is what PyTorch prints."""

    public_name: ClassVar[str | None] = None  # where name() is more than the class's name
    outputs = 1
    edges: tuple[Edge, ...] = ()
    saved: tuple[Any, ...] | None = ()
    versions: tuple[int, ...] | None = None
    formula: Formula
    sequence: int
    shape: Any = ()
    dtype: Any = None
    slots: Any = None  # what the saved values are called, in order
    statics: Any = None  # further _saved_ attributes, by name
    watched: Any = None  # (tensor, its version) of the tensors among those
    meets_complex = False  # a complex input of a real output
    slices: Any = None  # a weak reference to the CopySlices that runs this node in its own place
    keeps = False  # nothing that is saved counts as freed
    picked: Any = None  # of a view of plain memory by integers and slices: where in the tensor it is
    takes_none = False  # runs although no gradient has arrived
    direct: Any = None  # the formula's run, while nothing but it has to be looked at: no hook, no complex number
    # What is rarely there; who sets it takes ``direct`` away.
    tensor_hooks: dict[int, Any] | None = None
    prehooks: OrderedDict[int, Any] | None = None
    posthooks: OrderedDict[int, Any] | None = None
    retained: dict[int, Any] | None = None
    _metadata: dict[str, Any] | None = None

    if TYPE_CHECKING:  # the engine and the names of what is saved register their methods here
        __call__: Any
        _input_metadata: Any
        saved_attribute: Any
        raw_saved: Any

    # --- what people see ---------------------------------------------------------------------------------------------
    def name(self) -> str:
        """The name of the operation."""
        return self.public_name or type(self).__name__

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        """The nodes of the inputs, each with the number of its output."""
        return self.edges

    @property
    def metadata(self) -> dict[str, Any]:
        """A dictionary for anybody's use."""
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    @property
    def requires_grad(self) -> bool:
        return True

    def _sequence_nr(self) -> int:
        return self.sequence

    def _set_sequence_nr(self, number: int) -> None:
        self.sequence = number

    @property
    def _register_hook_dict(self) -> Any:
        self.direct = None
        return functools.partial(setattr, self, "posthooks")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_saved_"):
            return self.saved_attribute(name[7:])
        if name.startswith("_raw_saved_"):
            return self.raw_saved(name[11:])
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def register_hook(self, hook: Callable[..., Any]) -> Any:
        """Call ``hook(grad_inputs, grad_outputs)`` after this node has run."""
        self.direct = None
        if self.posthooks is None:
            self.posthooks = OrderedDict()
        return RemovableHandle(self.posthooks, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> Any:
        """Call ``hook(grad_outputs)`` before this node runs."""
        self.direct = None
        if self.prehooks is None:
            self.prehooks = OrderedDict()
        return RemovableHandle(self.prehooks, hook)

    # --- what the engine asks ----------------------------------------------------------------------------------------
    def apply(self, g: Any) -> Any:
        """Gradients of the inputs, one per edge, as arrays; ``g`` is an array."""
        if isinstance(g, list) or g.dtype.kind == "c" or self.meets_complex:
            g = self.whole(g, np.zeros)
            try:
                return conjugated(self.formula.run(self, conjugated(g, np.conjugate)), np.conjugate)
            except Exception as error:
                if not concerns(error, (g,), self.saved):
                    raise
                return conjugated(self.formula.opened(self, conjugated(g, np.conjugate)), np.conjugate)
        try:
            return self.formula.run(self, g)
        except Exception as error:
            if not concerns(error, (g,), self.saved):
                raise
            return self.formula.opened(self, g)

    def apply_to_tensors(self, g: Any) -> Any:
        """The same on tensors, recorded."""
        return self.formula.on_tensors(self, g)

    def whole(self, g: Any, zeros: Callable[..., Any]) -> Any:
        """The gradients of all outputs, as a rule asks for them: zeros where none has arrived."""
        if not isinstance(g, list) or self.outputs == 1:
            return g
        return [zeros(s, d) if one is None else one for one, s, d in zip(g, self.shape, self.dtype, strict=True)]

    def check_versions(self) -> None:
        """Raise where something that was saved has been changed since."""
        if self.watched is not None:
            for tensor, then in self.watched:
                if tensor.counter is not None and tensor.counter[0] != then:
                    raise modified(self, tensor, tensor.counter[0], then)
        if self.saved is None:
            raise RuntimeError(messages.FREED)
        versions = self.versions or (0,) * len(self.saved)
        for item, then in zip(self.saved, versions, strict=True):
            counter = getattr(item, "counter", None)
            if counter is not None and counter[0] != then:
                raise modified(self, item, counter[0], then)

    def release(self) -> None:
        """Let go of what was saved."""
        if not self.keeps:
            self.saved = None
            if self.watched is not None:
                self.statics = {name: RELEASED if holds_tensor(v) else v for name, v in self.statics.items()}
                self.watched = None


def conjugated(values: Any, conjugate: Callable[[Any], Any]) -> Any:
    """Complex gradients in the other convention: rules pair without conjugation, PyTorch's gradients with it."""
    if isinstance(values, list | tuple):
        return [conjugated(value, conjugate) for value in values]
    if values is None:
        return None
    if type(values) is complex:  # -1j times a NumPy number is Python's
        return np.conjugate(values)
    array = getattr(values, "array", values)
    return conjugate(values) if getattr(array, "dtype", None) is not None and array.dtype.kind == "c" else values


def holds_tensor(value: Any) -> bool:
    """Whether a value is a tensor or a sequence with one."""
    if type(value) in _NUMBERS:
        return False
    return hasattr(value, "storage_array") or (isinstance(value, list | tuple) and any(map(holds_tensor, value)))


_NUMBERS = frozenset((bool, int, float, str, type(None)))


def modified(node: Node, item: Any, now: int, then: int) -> RuntimeError:
    """The error about a saved tensor that was changed, or detached, in place."""
    if now >> 40 != then >> 40:
        return RuntimeError(messages.DETACHED_INPLACE)
    owner, number = item.origin(node)
    origin = f", which is output {number} of {owner}," if owner else ""
    hint = messages.MODIFIED_HINT_ANOMALY if anomaly.enabled else messages.MODIFIED_HINT
    array = item.array
    shape = "[" + ", ".join(map(str, array.shape)) + "]"
    text = messages.MODIFIED.format(
        kind=kind_of(dtypes.of(array)), shape=shape, origin=origin, now=now, then=then, hint=hint
    )
    return RuntimeError(text)


def kind_of(dtype: dtypes.dtype) -> str:
    """What that message calls the tensor: ``torch.FloatTensor``, but ``CPUBoolType``."""
    if dtype.category in (0, 3):
        return f"CPU{dtype.type_name.removesuffix('Tensor')}Type"
    return f"torch.{dtype.type_name}"


class Border(Node):
    """A node that changes no number: gradients cross a level there."""

    keeps = True
    level: Any

    def __init__(self, level: Any, result: Any, edges: tuple[Any, ...]) -> None:
        self.level = level
        self.sequence = next(sequence)
        self.edges = edges
        self.shape, self.dtype = result.shape, result.dtype


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds what arrives to the leaf's ``grad``."""

    public_name = "torch::autograd::AccumulateGrad"
    sequence = (1 << 64) - 1  # it never waits for others

    def __init__(self, variable: Tensor) -> None:
        self.variable = variable

    @property
    def shape(self) -> Any:
        return self.variable.array.shape

    @property
    def dtype(self) -> Any:
        return self.variable.array.dtype


Node.__module__ = "torch.autograd.graph"  # as PyTorch prints them
AccumulateGrad.__module__ = "builtins"


def accumulator(leaf: Tensor) -> AccumulateGrad:
    """The one node of a leaf."""
    known = leaf._accumulator
    node = None if known is None else known()
    if node is None:
        node = AccumulateGrad(leaf)
        leaf._accumulator = weakref.ref(node)
    return node


class _Expanding(Node):
    """A node whose gradient is an expanded one in PyTorch: a leaf takes a copy of it, which counts as a write."""

    def apply(self, g: Any) -> Any:
        partials = super().apply(g)
        if type(self.edges[0][0]) is AccumulateGrad:
            task = state.__dict__.get("task")
            if task is not None:
                task.handed.add(id(partials[0]))
        return partials


_classes: dict[str, type[Node]] = {}
_expanding = ("SumBackward0", "SumBackward1")


def node_class(name: str) -> type[Node]:
    """The class of nodes of one name, ``MulBackward0``."""
    if name not in _classes:
        short = name.rpartition("::")[2]
        kind = _Expanding if short in _expanding else Node
        made = type(short, (kind,), {"public_name": name if short != name else None, "__module__": "builtins"})
        _classes[name] = made
    return _classes[name]


_mixed: dict[tuple[type[Node], type[Node]], type[Node]] = {}


def mixed(behaviour: type[Node], kind: type[Node]) -> type[Node]:
    """Nodes of one kind by name that behave otherwise."""
    if (behaviour, kind) not in _mixed:
        members = {"public_name": kind.public_name, "__module__": kind.__module__}
        _mixed[behaviour, kind] = type(kind.__name__, (behaviour, kind), members)
    return _mixed[behaviour, kind]


class _Spread(Node):
    """A node some of whose partials are lists, one item for each tensor of a list that was given."""

    def apply(self, g: Any) -> Any:
        return _flat(super().apply(g), self.formula.lengths)

    def apply_to_tensors(self, g: Any) -> Any:
        return _flat(super().apply_to_tensors(g), self.formula.lengths)


def _flat(partials: Any, lengths: tuple[int | None, ...]) -> list[Any]:
    """Partials with those of lists spread out: one that is an array, as rules of arrays make, by its first axis."""
    made: list[Any] = []
    for p, length in zip(partials, lengths, strict=True):
        if length is None:
            made.append(p)
        elif p is None:
            made += [None] * length
        else:
            parts = p if isinstance(p, list | tuple) else [p[i] for i in range(len(p))]
            if len(parts) != length:
                raise ValueError(f"{len(parts)} partial derivatives by a list of {length}")
            made += parts
    return made


def list_class(kind: type[Node]) -> type[Node]:
    """The same class of node, for operations on lists of tensors."""
    name = f"{kind.__name__} of lists"
    if name not in _classes:
        _classes[name] = type(
            kind.__name__, (_Spread,), {"public_name": kind.public_name, "__module__": kind.__module__}
        )
    return _classes[name]


class _Alone(Node):
    """A node whose formula takes a list of gradients, of which there is one."""

    def apply(self, g: Any) -> Any:
        return super().apply([g])

    def apply_to_tensors(self, g: Any) -> Any:
        return super().apply_to_tensors([g])


def alone_class(kind: type[Node]) -> type[Node]:
    """The same class of node, for a list of results that holds one."""
    name = f"{kind.__module__}.{kind.__name__} {'of lists ' * issubclass(kind, _Spread)}alone"
    if name not in _classes:
        _classes[name] = type(
            kind.__name__, (_Alone, kind), {"public_name": kind.public_name, "__module__": kind.__module__}
        )
    return _classes[name]
