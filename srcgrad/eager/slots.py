"""The values that a node saved, under PyTorch's names: ``_saved_self``, ``_saved_dim``, ``_raw_saved_self``.

A rule calls its parameters as NumPy does; here is where ``_saved_other`` is found in the node of ``np.multiply``.  What
PyTorch would save and the rule does not need reads None.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager import dtypes, messages
from srcgrad.eager.formulas import SHAPE
from srcgrad.eager.graph import RELEASED, Node
from srcgrad.eager.saved import SavedTensor
from srcgrad.eager.saved_names import NAMES, PARAMETERS
from srcgrad.eager.size import device, strided
from srcgrad.eager.tensor import Tensor

PUBLIC = (
    "_input_metadata", "_register_hook_dict", "_sequence_nr", "_set_sequence_nr", "metadata", "name", "next_functions",
    "register_hook", "register_prehook", "requires_grad",
)  # fmt: skip
_MISSING = object()


def names_of(node: Node) -> tuple[list[str], list[str]]:
    """The names of the tensors and of the other values that nodes of this kind save."""
    known = NAMES.get(type(node).__name__)
    if known is not None:
        return known[0].split(), known[1].split()
    tensors = [*(node.slots or ())]
    return tensors, [name for name in node.statics or () if name not in tensors]


def listing(node: Node) -> list[str]:
    """The attributes that people may use, as ``dir`` lists them."""
    return [*dir(object), *_public(node)]


def _public(node: Node) -> list[str]:
    if type(node).public_name == "torch::autograd::AccumulateGrad":
        return [*PUBLIC, "variable"]
    tensors, values = names_of(node)
    return [*PUBLIC, *(f"_raw_saved_{n}" for n in tensors), *(f"_saved_{n}" for n in (*tensors, *values))]


def place_of(node: Node, name: str) -> int | None:
    """Where in the node's ``saved`` a value is."""
    slots = node.slots or {}
    if name in slots:
        return slots[name]  # type: ignore[no-any-return]
    formula = getattr(node, "formula", None)
    if formula is None or name not in " ".join(NAMES.get(type(node).__name__, ())).split():
        return None
    parameters = (formula.rule.result,) if name == "result" else PARAMETERS.get(name, ())
    return next((i for i, (_, p) in enumerate(formula.sources) if p in parameters), None)


def saved_attribute(node: Node, name: str) -> Any:
    """What was saved under a name of PyTorch's."""
    if node.statics is not None and name in node.statics:
        if node.statics[name] is RELEASED:
            raise RuntimeError(messages.FREED)
        if node.watched is not None:
            node.check_versions()
        return node.statics[name]
    place = place_of(node, name)
    tensors, values = names_of(node)
    if place is None:
        if name in tensors:
            return None
        derived = _of_input(node, name) if name in values else _MISSING
        if derived is _MISSING:
            raise AttributeError(f"'{type(node).__name__}' object has no attribute '_saved_{name}'")
        return derived
    if node.saved is None:
        raise RuntimeError(messages.FREED)
    node.check_versions()
    item = node.saved[place]
    if node.formula.sources[place][0] is SHAPE:
        return None
    if hasattr(item, "reattached"):
        return item.reattached(node)
    return wrapped_number(item) if name in tensors and isinstance(item, bool | int | float | complex) else item


def wrapped_number(value: complex) -> Tensor:
    """A Python number as a tensor of the widest dtype of its kind, as PyTorch saves one beside a tensor."""
    return Tensor.of(np.array(value))


def _of_input(node: Node, name: str) -> Any:
    """Sizes and dtypes of the first input, which its edge knows; None for what the rule did without."""
    what = name.rpartition("_sym_")[2] if "_sym_" in name else name
    if name in ("alpha", "beta"):
        return 1
    source, number = node.edges[0] if node.edges else (None, 0)
    if source is None or not name.startswith("self"):
        return None
    shape = source.shape[number] if source.outputs > 1 else source.shape
    dtype = source.dtype[number] if source.outputs > 1 else source.dtype
    if what == "sizes":
        return tuple(shape)
    if what == "numel":
        size = 1
        for n in shape:
            size *= n
        return size
    if what == "strides":
        strides = [1] * len(shape)
        for i in range(len(shape) - 1, 0, -1):
            strides[i - 1] = strides[i] * max(shape[i], 1)
        return tuple(strides)
    if name == "self_scalar_type":
        return dtypes.OF_NUMPY[dtype]
    return None


def raw_saved(node: Node, name: str) -> SavedTensor:
    """The slot of a saved tensor by PyTorch's name for it."""
    place = place_of(node, name)
    if place is None and name not in names_of(node)[0]:
        raise AttributeError(f"'{type(node).__name__}' object has no attribute '_raw_saved_{name}'")
    return SavedTensor(node, place)


class InputMetadata:
    """Shape and dtype of what arrives at a node."""

    def __init__(self, shape: Any, dtype: Any) -> None:
        self.shape = None if shape is None else list(shape)
        self.dtype = dtype
        self.device = device("cpu")
        self.layout = strided
        self.is_tensor_subclass = self.is_nested_tensor = self.is_cpp_nested_tensor = False


InputMetadata.__name__ = InputMetadata.__qualname__ = "_InputMetadata"
InputMetadata.__module__ = "torch._C._autograd"


def metadata_of(node: Node) -> tuple[InputMetadata, ...]:
    """Shape and dtype of each output of the forward operation."""
    if node.outputs == 1:
        return (InputMetadata(node.shape, dtypes.OF_NUMPY[node.dtype]),)
    pairs = zip(node.shape, node.dtype, strict=True)
    return tuple(InputMetadata(shape, None if dtype is None else dtypes.OF_NUMPY[dtype]) for shape, dtype in pairs)


Node._input_metadata = property(metadata_of)
Node.saved_attribute, Node.raw_saved = saved_attribute, raw_saved
Node.__dir__ = listing  # type: ignore[method-assign, assignment]
