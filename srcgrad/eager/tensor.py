"""Tensors: an array, the node that made it, and what PyTorch says about both.

``array`` is a NumPy array, or a NumPy number for a 0-d result (which computes several times faster); whoever needs a
0-d array that can be written or viewed asks for ``storage()``.  What is rare is a class attribute until it is set.
The functions and methods are in ``srcgrad.eager.operations``; here is the state.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.eager import dtypes, messages
from srcgrad.eager.graph import Node, accumulator, sequence
from srcgrad.eager.modes import state
from srcgrad.eager.size import Size, device, strided

if TYPE_CHECKING:
    pass

new = object.__new__


DETACHED = 1 << 40  # how far versions are moved when a tensor is detached in place


class MovedCounter(list[int]):
    """The counter of a tensor that was detached in place: that of its aliases, at another version than was saved."""

    def __init__(self, counter: list[int]) -> None:
        self.shared, self.shift = counter, DETACHED
        if isinstance(counter, MovedCounter):
            self.shared, self.shift = counter.shared, counter.shift + DETACHED

    def __getitem__(self, place: Any) -> Any:
        return self.shared[0] + self.shift

    def __setitem__(self, place: Any, version: Any) -> None:
        self.shared[0] = version - self.shift

    def __bool__(self) -> bool:
        return True


class Tensor:
    """An n-dimensional array that remembers how it was made."""

    array: Any
    node: Node | None = None
    number = 0  # which output of the node
    leaf_grad = False  # a leaf that requires grad
    gradient: Tensor | None = None
    counter: list[int] | None = None  # [version], shared by base, views and detached aliases
    _accumulator: Any = None  # a weak reference to the leaf's AccumulateGrad
    base: Tensor | None = None
    alias: Any = None  # how a view is made again from its base
    turned: Any = None  # of a base whose shape was changed in place: the way there, and back to what views were made of
    hooks: OrderedDict[int, Any] | None = None
    post_accumulate: OrderedDict[int, Any] | None = None
    inference = False
    retains = False
    conjugated = False  # PyTorch's is a view of what it is the conjugate of, this one has memory of its own
    born = -1  # when it was made, among the nodes, where that was inside a transform and without one

    if TYPE_CHECKING:  # the operations register their methods here
        __add__: Any
        __radd__: Any
        __sub__: Any
        __rsub__: Any
        __mul__: Any
        __rmul__: Any
        __truediv__: Any
        __rtruediv__: Any
        __pow__: Any
        __rpow__: Any
        __neg__: Any
        __matmul__: Any
        __invert__: Any
        __getitem__: Any
        __setitem__: Any

        def __getattr__(self, name: str) -> Any: ...

    # --- making ------------------------------------------------------------------------------------------------------
    @staticmethod
    def of(array: Any, requires_grad: bool = False) -> Tensor:
        """A leaf that holds ``array``."""
        made: Tensor = new(Tensor)
        made.array = array
        if state.transform_level:
            made.born = next(sequence)
        if requires_grad:
            made.requires_grad_()
        return made

    def storage_array(self) -> Any:
        """The array itself, a 0-d one for numbers: what can be written to and viewed."""
        array = self.array
        if not isinstance(array, np.ndarray):
            array = self.array = np.array(array)
        return array

    # --- the graph ---------------------------------------------------------------------------------------------------
    def edge(self) -> tuple[Node | None, int]:
        """Where this tensor's gradient goes."""
        node = self.grad_node()
        if node is not None:
            return node, self.number
        return (accumulator(self), 0) if self.leaf_grad else (None, 0)

    def grad_node(self) -> Node | None:
        """The node that made this tensor; for a view of a base that was changed since, a new one."""
        if self.alias is not None:
            self.alias.refresh(self)
        return self.node

    def reattached(self, node: Node) -> Tensor:
        """As a saved input: itself."""
        return self

    def origin(self, node: Node) -> tuple[str, int]:
        """The name of what made this tensor, for messages, without its number of overload; empty for a leaf."""
        made = self.grad_node()
        if made is None:
            return "", 0
        return stripped(made.name()), self.number

    @property
    def requires_grad(self) -> bool:
        """Whether it has a node, is a leaf that was said to, or shares the memory of a base that does."""
        if self.node is not None or self.leaf_grad:
            return True
        return self.alias is not None and self.alias.base.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: Any) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if self.grad_node() is not None:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables." + ("" if value else _DETACH)
            )
        if value and dtypes.of(self.array).category < 2:
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        self._become_leaf(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Change whether a leaf requires grad."""
        if state.transform_level and any(level.strict for level in state.transforms):
            raise RuntimeError(messages.REQUIRES_GRAD_IN_TRANSFORM)
        if self.node is not None:
            if not requires_grad:
                raise RuntimeError("you can only change requires_grad flags of leaf variables." + _DETACH)
            return self
        if requires_grad and dtypes.of(self.array).category < 2:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        self._become_leaf(requires_grad)
        return self

    def _become_leaf(self, requires_grad: bool) -> None:
        if requires_grad and self.inference and not state.inference:
            raise RuntimeError(messages.INFERENCE_REQUIRES_GRAD)
        self.leaf_grad = requires_grad

    @property
    def is_leaf(self) -> bool:
        return self.grad_node() is None

    @property
    def grad_fn(self) -> Node | None:
        return self.grad_node()

    @property
    def output_nr(self) -> int:
        return self.number

    @property
    def grad(self) -> Tensor | None:
        if self.node is not None and not self.retains and self.gradient is None:
            warnings.warn(messages.NONLEAF_GRAD, UserWarning, stacklevel=2)
        return self.gradient

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            self._check_grad(value)
        self.gradient = value

    @grad.deleter
    def grad(self) -> None:
        self.gradient = None

    def _check_grad(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if value.array.shape != self.array.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value.array.shape)}' to a tensor of size "
                f"'{list(self.array.shape)}'. Please ensure that the gradient and the tensor are the same size"
            )
        if value.array.dtype != self.array.dtype:
            given, mine = dtypes.of(value.array), dtypes.of(self.array)
            raise RuntimeError(messages.GRAD_DTYPE.format(given=given.long_name.lower(), mine=mine.long_name))

    @property
    def retains_grad(self) -> bool:
        return self.retains

    @property
    def _version(self) -> int:
        if self.inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self.counter is None else self.counter[0] % DETACHED

    @property
    def _base(self) -> Tensor | None:
        return self.base

    def _is_view(self) -> bool:
        return self.base is not None

    # --- what it is --------------------------------------------------------------------------------------------------
    @property
    def dtype(self) -> dtypes.dtype:
        return dtypes.OF_NUMPY[self.array.dtype]

    @property
    def shape(self) -> Size:
        return Size(self.array.shape)

    @property
    def ndim(self) -> int:
        return self.array.ndim  # type: ignore[no-any-return]

    @property
    def device(self) -> device:
        return device("cpu")

    @property
    def layout(self) -> Any:
        return strided

    __hash__ = object.__hash__

    def __len__(self) -> int:
        if not self.array.ndim:
            raise TypeError("len() of a 0-d tensor")
        return len(self.array)


Tensor.__module__ = "torch"  # as PyTorch's prints


class SavedResult:
    """A result as its own node saves it: the array without the tensor, which would make a cycle."""

    __slots__ = ("array", "counter", "number")

    def __init__(self, array: Any, counter: list[int] | None, number: int = 0) -> None:
        self.array = array
        self.counter = counter
        self.number = number

    def reattached(self, node: Node) -> Tensor:
        """The result as a tensor of the graph again."""
        slices = None if node.slices is None else node.slices()
        if slices is not None:
            part: Tensor = slices.part(self.array)
            part.counter = self.counter
            return part
        made: Tensor = new(Tensor)
        made.array = self.array
        made.counter = self.counter
        made.node = node
        made.number = self.number
        return made

    def origin(self, node: Node) -> tuple[str, int]:
        return stripped(node.name()), self.number


class SavedResults:
    """Several results, as their own node saves them."""

    __slots__ = ("array", "counter")

    def __init__(self, arrays: tuple[Any, ...], counter: list[int]) -> None:
        self.array = arrays
        self.counter = counter

    def reattached(self, node: Node) -> tuple[Tensor, ...]:
        """The results as tensors of the graph again."""
        return tuple(SavedResult(a, None, i).reattached(node) for i, a in enumerate(self.array))

    def origin(self, node: Node) -> tuple[str, int]:
        return stripped(node.name()), 0


class SavedList:
    """A list of tensors and other values, as a node saves it."""

    __slots__ = ("items", "versions")

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self.versions = [item._version if isinstance(item, Tensor) else 0 for item in items]

    @property
    def array(self) -> list[Any]:
        return [item.array if isinstance(item, Tensor) else item for item in self.items]

    @property
    def counter(self) -> list[int] | None:
        """A counter that tells of a change of any item since it was saved."""
        now = [item._version if isinstance(item, Tensor) else 0 for item in self.items]
        return None if now == self.versions else [1]

    def reattached(self, node: Node) -> list[Any]:
        """The items themselves."""
        return self.items

    def origin(self, node: Node) -> tuple[str, int]:
        for item, then in zip(self.items, self.versions, strict=True):
            if isinstance(item, Tensor) and item._version != then:
                return item.origin(node)
        return "", 0


def stripped(name: str) -> str:
    """``Mul`` of ``MulBackward0``, ``Squeeze1`` of ``SqueezeBackward1``."""
    head = name.rstrip("0123456789")
    if not head.endswith("Backward"):
        return name
    number = name[len(head) :]
    return head.removesuffix("Backward") + (number if number != "0" else "")


_DETACH = (
    " If you want to use a computed variable in a subgraph that doesn't require differentiation use "
    "var_no_grad = var.detach()."
)
