"""Indexing: views by integers and slices, copies by lists, tensors and masks, and stores through both."""

from __future__ import annotations

import operator
from contextlib import nullcontext
from typing import Any

import numpy as np

from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.formulas import PLAIN
from srcgrad.eager.lifted_arrays import as_array, indexed, is_lifted
from srcgrad.eager.modes import anomaly, no_grad, state
from srcgrad.eager.operations.shaping import unsqueeze, wrapped
from srcgrad.eager.registry import function
from srcgrad.eager.slices import Replay
from srcgrad.eager.tensor import Tensor
from srcgrad.eager.views import attach, view_of, write

_select = Operation(operator.getitem, "SelectBackward0")
_slice = Operation(operator.getitem, "SliceBackward0")
_alias = Operation(np.positive, "AliasBackward0")
_index = Operation(operator.getitem, "IndexBackward0", {"a": "self"})
_unbind = Operation(operator.getitem, "UnbindBackward0")
VALID = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {kind})"


def getitem(input: Tensor, index: Any) -> Tensor:
    """``input[index]``."""
    given = index if type(index) is tuple else (index,)
    if given and len(given) <= input.array.ndim and all(map(_is_plain, given)):
        return _basic(input, list(given))
    parts = normalized(input, index)
    if any(_is_advanced(part) for part in parts):
        return _advanced(*_selected(input, parts, several(index)))
    return _basic(input, parts)


def _is_plain(part: Any) -> bool:
    """Whether a part of an index is a number or a slice without a step that stands as it is."""
    kind = type(part)
    if kind is slice:
        return part.step is None and type(part.start) in _BOUNDS and type(part.stop) in _BOUNDS
    return kind is int


_BOUNDS = frozenset((int, type(None)))


def normalized(input: Tensor, index: Any) -> list[Any]:
    """The parts of an index, checked: ints, slices, None, Ellipsis, arrays."""
    ndim = input.array.ndim
    given = several(index)
    parts = [_part(part) for part in given]
    taken = sum(_consumes(part) for part in parts)
    if not ndim and not isinstance(index, tuple) and isinstance(parts[0], int):
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number"
        )
    if taken > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    return parts


def several(index: Any) -> list[Any]:
    """The parts of an index: a short list that holds more than numbers is taken for a tuple."""
    if isinstance(index, tuple):
        return list(index)
    sequence = isinstance(index, list | range) and len(index) < 32
    if sequence and any(part is None or part is Ellipsis or isinstance(part, _PARTS) for part in index):
        return list(index)
    return [index]


_PARTS = (Tensor, slice, list, tuple, range, np.ndarray)


def _part(part: Any) -> Any:
    """One part of an index as NumPy takes it."""
    if isinstance(part, Tensor):
        array = part.array
        if array.dtype.kind in "iu" and not array.ndim:
            return array if is_lifted(array) else int(array)
        if array.dtype.kind not in "iub":
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        return as_array(array)
    if part is None or part is Ellipsis:
        return part
    if isinstance(part, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(part, bool | np.bool_):
        return np.asarray(part)
    if isinstance(part, slice):
        step = 1 if part.step is None else operator.index(part.step)
        if step <= 0:
            raise ValueError("step must be greater than zero")
        return slice(_bound(part.start), _bound(part.stop), step)
    if isinstance(part, list | range | tuple | np.ndarray):
        array = np.asarray([_part(item) if isinstance(item, Tensor) else item for item in part])
        if array.dtype.kind == "f" and not array.size:
            array = array.astype(np.int64)
        if array.dtype.kind not in "iub":
            raise IndexError(VALID.format(kind=_kind(part)))
        return array
    try:
        return operator.index(part)
    except TypeError:
        raise IndexError(VALID.format(kind=_kind(part))) from None


def _kind(part: Any) -> str:
    return type(part).__name__


def _bound(value: Any) -> Any:
    return int(value.array) if isinstance(value, Tensor) else value


def _consumes(part: Any) -> int:
    """How many dimensions a part of an index speaks of."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, np.ndarray) and part.dtype.kind == "b":
        return part.ndim
    return 1


def _is_advanced(part: Any) -> bool:
    return isinstance(part, np.ndarray)


def _basic(input: Tensor, parts: list[Any], to_write: bool = False) -> Tensor:
    """A view, made as PyTorch makes it: one operation for each part that does something.

    ``to_write``: where no part does, the tensor itself.
    """
    made = input
    dim = taken = 0  # in the view so far, and in the input
    for part in parts:
        if part is Ellipsis:
            missing = input.array.ndim - sum(map(_consumes, parts))
            dim += missing
            taken += missing
            continue
        if part is None:
            made = unsqueeze(made, dim)
            dim += 1
            continue
        if isinstance(part, slice):
            made = sliced(made, dim, part, len(parts) == 1 and not to_write)
            dim += 1
        else:
            made = select(made, dim, part, taken)
        taken += 1
    if made is input and not to_write:
        made = view_of(input, _alias, {"x": input}, lambda a: a[...])
    return made


def sliced(input: Tensor, dim: int, part: slice, alone: bool) -> Tensor:
    """Part of a dimension; a slice of everything is nothing, unless it stands alone."""
    length = input.array.shape[dim]
    start, stop, step = part.indices(length)
    if (start, stop, step) == (0, length, 1) and not alone:
        return input
    where = (slice(None),) * dim + (slice(start, max(start, stop), step),)
    saved = {
        "dim": dim,
        "start": start if part.start is None else part.start,
        "end": 9223372036854775807 if part.stop is None else part.stop,
        "step": step,
        "self_sym_sizes": tuple(input.array.shape),
    }
    return _viewed(input, _slice, where, lambda a: a[where], saved)


_appliers: dict[Any, Any] = {}  # of views by integers and slices, by operation and dtype


def _viewed(input: Tensor, operation: Operation, where: tuple[Any, ...], replay: Replay, saved: Any) -> Tensor:
    """A view by integers and slices; one of plain memory is recorded as the last one was."""
    whole = input.array
    if type(whole) is not np.ndarray or not state.recording or anomaly.enabled or state.saved_hooks:
        return view_of(input, operation, {"a": input, "b": where}, replay, saved=saved)
    case = operation, whole.dtype
    applied = _appliers.get(case)
    if applied is None or not input.requires_grad:
        made = view_of(input, operation, {"a": input, "b": where}, replay, saved=saved)
        if made.node is not None and (PLAIN, "b") in made.node.formula.sources:  # it reads where, whatever that is
            _appliers[case] = operation.learned({"a": input, "b": where}, ("a",), made.node)
        return made
    made = applied(replay(whole), input, where)
    if type(made) is not Tensor:
        return view_of(input, operation, {"a": input, "b": where}, replay, saved=saved)
    node: Any = made.node
    node.statics, node.picked = saved, where
    return attach(made, input, replay)


@function("select", method=True)
def select(input: Tensor, dim: int, index: int, _named: int | None = None) -> Tensor:
    """One slice along a dimension, without that dimension; an error may name the dimension otherwise."""
    axis = wrapped(dim, input.array.ndim)
    size = input.array.shape[axis]
    if not -size <= index < size:
        at = axis if _named is None else _named
        raise IndexError(f"index {index} is out of bounds for dimension {at} with size {size}")
    where = (slice(None),) * axis + (index,)
    saved = {"dim": dim, "index": index, "self_sym_sizes": tuple(input.array.shape)}
    place = (*where, ...)  # so that the last element is an array too
    return _viewed(input, _select, where, lambda a: a[place], saved)


def _selected(
    input: Tensor, parts: list[Any], given: list[Any], to_write: bool = False
) -> tuple[Tensor, list[Any], list[Any]]:
    """The view by the numbers in an index that holds arrays too, and the rest of the index.

    To NumPy a number beside arrays is one of them: ``x[0, :, [1, 2]]`` has the axis of the list first.  PyTorch takes
    numbers as views before it looks at arrays, so that the axis of the list stays where it is.
    """
    if not any(isinstance(part, int) for part in parts):
        return input, parts, given
    whole = slice(None)
    view: list[Any] = []
    for part in parts:
        if part is not None:
            view += [part] if part is Ellipsis or isinstance(part, int) else [whole] * _consumes(part)
    rest = [(part, one) for part, one in zip(parts, given, strict=True) if not isinstance(part, int)]
    return _basic(input, view, to_write), [part for part, _ in rest], [one for _, one in rest]


def _advanced(input: Tensor, parts: list[Any], given: list[Any]) -> Tensor:
    """A copy of the elements that arrays and masks pick."""
    index = tuple(parts)
    check_masks(input, parts)
    saved = {"self_sym_sizes": input.array.shape, "indices": _indices(parts, given)}
    made: Tensor = call(_index, {"a": input, "b": index}, array=_picked(input.array, index), saved=saved)
    return made


def _indices(parts: list[Any], given: list[Any]) -> tuple[Tensor | None, ...]:
    """The tensors that index, as the node keeps them; None in the places of slices before the last."""
    made: list[Tensor | None] = []
    for part, one in zip(parts, given, strict=True):
        if isinstance(one, Tensor):
            made.append(one)
        else:
            made.append(Tensor.of(part) if _is_advanced(part) else None)
    while made and made[-1] is None:
        made.pop()
    return tuple(made)


def _picked(array: Any, index: tuple[Any, ...]) -> Any:
    try:
        return indexed(as_array(array), index)
    except IndexError as error:
        raise IndexError(_translated(str(error))) from None


def _translated(text: str) -> str:
    """NumPy's sentence about an index out of bounds in PyTorch's words."""
    if "is out of bounds for axis" in text:
        return text.replace("axis", "dimension")
    if "shape mismatch" in text:
        return "shape mismatch: indexing tensors could not be broadcast together"
    return text


def check_masks(input: Tensor, parts: list[Any]) -> None:
    """Refuse a mask of another shape than what it masks."""
    dim = 0
    missing = input.array.ndim - sum(map(_consumes, parts))
    for place, part in enumerate(parts):
        if part is Ellipsis:
            dim += missing
        elif isinstance(part, np.ndarray) and part.dtype.kind == "b":
            covered = input.array.shape[dim : dim + part.ndim]
            for offset, (m, n) in enumerate(zip(part.shape, covered, strict=True)):
                if m != n:
                    raise IndexError(
                        f"The shape of the mask {list(part.shape)} at index {offset} does not match the shape of the "
                        f"indexed tensor {list(input.array.shape)} at index {dim + offset}"
                    )
            dim += part.ndim
        elif part is not None:
            dim += 1
        del place


# --- stores ----------------------------------------------------------------------------------------------------------
def setitem(self: Tensor, index: Any, value: Any) -> None:
    """``self[index] = value``."""
    parts = normalized(self, index)
    if not isinstance(value, Tensor):
        if isinstance(value, np.ndarray):
            value = Tensor.of(value)
    if any(_is_advanced(part) for part in parts):
        from srcgrad.eager.operations.scattering import put

        with nullcontext() if _is_recorded(self, value) else no_grad():
            target, parts, given = _selected(self, parts, several(index), True)
        put(target, tuple(parts), value, _indices(parts, given))
        return
    if all(part is Ellipsis for part in parts):
        _store(self, value)
        return
    with nullcontext() if _is_recorded(self, value) else no_grad():
        part = _basic(self, parts, True)
    _store(part, value)


def _is_recorded(target: Tensor, value: Any) -> bool:
    """Whether a store is seen by a graph, so that the view that it writes to must be."""
    return isinstance(value, Tensor) and value.requires_grad or target.requires_grad or target.alias is not None


def _store(part: Tensor, value: Any) -> None:
    """Write a number or a tensor into a view."""
    if isinstance(value, Tensor) and value.array.ndim:
        given = value
        while given.array.ndim > part.array.ndim and given.array.shape[0] == 1:
            given = select(given, 0, 0)
        if given.array.shape != part.array.shape:
            given = given.expand(part.array.shape)
        part.copy_(given)
        return
    part.fill_(value)


@function("unbind", method=True)
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension, one node for all."""
    from srcgrad.eager.operations.splitting import split_views

    axis = wrapped(dim, input.array.ndim)
    places = [(slice(None),) * axis + (i,) for i in range(input.array.shape[axis])]
    return split_views(input, places, "UnbindBackward0", {"dim": dim})


def iterate(self: Tensor) -> Any:
    """The slices along the first dimension."""
    if not self.array.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(unbind(self, 0))


setattr(Tensor, "__getitem__", getitem)  # noqa: B010
setattr(Tensor, "__setitem__", setitem)  # noqa: B010
setattr(Tensor, "__iter__", iterate)  # noqa: B010
__all__ = ["getitem", "iterate", "normalized", "select", "setitem", "unbind", "write"]
