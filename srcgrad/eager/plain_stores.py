"""Stores of a plain program that runs eagerly: what NumPy changes in place, as replaced elements.

Which element of a store ends up where is asked of NumPy itself: the same store is done into an array of integers, with
numbers that tell the elements of the value apart.  So casts, masks, repeated indices and cycles are NumPy's.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from srcgrad.eager.lifting import lifted
from srcgrad.eager.plain_operators import NotFollowed
from srcgrad.eager.plain_values import Followed, applied, arrays_in, tensors_of, unfollowed
from srcgrad.eager.tensor import Tensor

Perform = Callable[[Any, Any], object]


def stored(target: Followed, perform: Perform, value: Any) -> None:
    """``perform(array, value)`` on the memory of ``target``; it must only place elements of ``value``."""
    if isinstance(value, list | tuple):
        value = applied(np.array, (value,), {})
    raw = unfollowed(value)
    if _is_constant(target, value):
        perform(target.array, raw)
        return
    tags = np.full(target.array.shape, -1)
    perform(tags, np.arange(np.size(raw)).reshape(np.shape(raw)))
    placed(target, lambda: perform(target.array, raw), tags, value)


def replaced(target: Followed, perform: Callable[[], object], value: Any) -> None:
    """``perform`` makes all of ``target`` hold ``value``."""
    if _is_constant(target, value):
        perform()
        return
    raw = unfollowed(value)
    tags = np.broadcast_to(np.arange(np.size(raw)).reshape(np.shape(raw)), target.array.shape)
    placed(target, perform, tags, value)


def placed(target: Followed, perform: Callable[[], object], tags: Any, value: Any) -> None:
    """``perform`` puts element ``tags[place]`` of ``value`` into each place of ``target`` where that is no -1."""
    if target.array.dtype.kind not in "fc":
        raise NotFollowed("numbers with a derivative stored into memory of another type are not followed")
    hit = tags >= 0
    given = tensors_of(value)

    def taken() -> Tensor:
        flat = lifted(np.ravel)(given) if isinstance(given, Tensor) else np.ravel(given)
        made = lifted(np.take)(flat, tags[hit]) if isinstance(flat, Tensor) else flat[tags[hit]]
        return made if isinstance(made, Tensor) else Tensor.of(made)

    target.memory.change(target.array, perform, hit, taken)


def _is_constant(target: Followed, value: Any) -> bool:
    """Whether a store needs no record: integers, and where no derivative is carried before or after."""
    if target.array.dtype.kind not in "fc":
        return True
    return not (target.memory.varies or (isinstance(value, Followed) and value.varies))


def permuted(target: Followed, perform: Callable[[], object], order: Callable[[Any], Any]) -> None:
    """``perform`` moves the elements of ``target`` as ``order`` moves those of an array of integers."""
    if not target.memory.varies:
        perform()
        return
    tags = np.arange(target.array.size).reshape(target.array.shape)
    placed(target, perform, order(tags), target)


# --- functions and methods that store --------------------------------------------------------------------------------
def _is_stored(target: Any) -> bool:
    return isinstance(target, Followed) and target.array is not None


def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    mask = unfollowed(where)
    stored(dst, lambda array, given: np.copyto(array, given, _casting(array, casting), mask), src)


def _casting(array: Any, casting: str) -> Any:
    """What numbers of elements may be cast as anything to."""
    return casting if array.dtype.kind in "fc" else "unsafe"


def _put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    places = unfollowed(ind)
    stored(a, lambda array, given: np.put(array, places, given, mode), v)


def _place(arr: Any, mask: Any, vals: Any) -> None:
    chosen = unfollowed(mask)
    stored(arr, lambda array, given: np.place(array, chosen, given), vals)


def _putmask(a: Any, mask: Any, values: Any) -> None:
    chosen = unfollowed(mask)
    stored(a, lambda array, given: np.putmask(array, chosen, given), values)


def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    stored(a, lambda array, given: np.fill_diagonal(array, given, wrap), val)


def _put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    places = unfollowed(indices)
    stored(arr, lambda array, given: np.put_along_axis(array, places, given, axis), values)


def _fill(target: Followed, value: Any) -> None:
    stored(target, lambda array, given: array.fill(given), value)


def _sort(target: Followed, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
    def moved(tags: Any) -> Any:
        return np.take_along_axis(tags, np.argsort(target.array, axis, kind, order, stable=stable), axis)

    permuted(target, lambda: target.array.sort(axis, kind, order, stable=stable), moved)


def _partition(target: Followed, kth: Any, axis: int = -1, kind: Any = "introselect", order: Any = None) -> None:
    def moved(tags: Any) -> Any:
        return np.take_along_axis(tags, np.argpartition(target.array, kth, axis, kind, order), axis)

    permuted(target, lambda: target.array.partition(kth, axis, kind, order), moved)


def _at(ufunc: np.ufunc) -> Callable[..., None]:
    def at(a: Any, indices: Any, *b: Any) -> None:
        places = unfollowed(indices)
        raw = [unfollowed(one) for one in b]
        if _is_constant(a, b[0] if b else None):
            ufunc.at(a.array, places, *raw)
            return
        met = np.arange(a.array.size).reshape(a.array.shape)[places]
        flat = applied(np.ravel, (a,), {})
        others = [applied(np.ravel, (applied(np.broadcast_to, (one, np.shape(met)), {}),), {}) for one in b]
        now: dict[int, Any] = {}
        for k, place in enumerate(np.ravel(met).tolist()):
            held = now[place] if place in now else flat[place]
            now[place] = applied(ufunc, (held, *(one[k] for one in others)), {})
        tags = np.full(a.array.size, -1)
        tags[[*now]] = np.arange(len(now))
        made = applied(np.array, ([*now.values()],), {})
        placed(a, lambda: ufunc.at(a.array, places, *raw), tags.reshape(a.array.shape), made)

    return at


METHODS: dict[str, Callable[..., None]] = {
    "fill": _fill,
    "sort": _sort,
    "partition": _partition,
    "put": lambda target, indices, values, mode="raise": _put(target, indices, values, mode),
}
_FUNCTIONS: dict[Any, Callable[..., None]] = {
    np.copyto: _copyto,
    np.put: _put,
    np.place: _place,
    np.putmask: _putmask,
    np.fill_diagonal: _fill_diagonal,
    np.put_along_axis: _put_along_axis,
    np.ndarray.fill: _fill,
    np.ndarray.sort: _sort,
    np.ndarray.partition: _partition,
    np.ndarray.put: METHODS["put"],
    np.random.shuffle: lambda x: _shuffled(np.random.mtrand._rand, x),
}


def function(called: Any) -> Callable[..., None] | None:
    """What a function that stores into its first argument does, or None."""
    owner = getattr(called, "__self__", None)
    if isinstance(owner, np.ufunc) and called.__name__ == "at":
        return _at(owner)
    if isinstance(owner, np.random.Generator | np.random.RandomState) and called.__name__ == "shuffle":
        return lambda x, axis=0: _shuffled(owner, x, axis)
    try:
        return _FUNCTIONS.get(called)
    except TypeError:  # what cannot be hashed is none of these
        return None


def _shuffled(generator: Any, x: Any, axis: int = 0) -> None:
    along = {"axis": axis} if isinstance(generator, np.random.Generator) else {}
    twin = copy.deepcopy(generator)

    def moved(tags: Any) -> Any:
        twin.shuffle(tags, **along)
        return tags

    permuted(x, lambda: generator.shuffle(x.array, **along), moved)


# --- out= ------------------------------------------------------------------------------------------------------------
def into(out: Any, function: Callable[..., Any], args: Any, kwargs: dict[str, Any], member: str | None) -> Any:
    """``out=``, with ``where=`` of a ufunc: the result placed in arrays that are there already."""
    targets = out if isinstance(out, tuple) else (out,)
    if not all(map(_is_stored, targets)):
        raise NotFollowed("out= with an array that is not followed, or with only some of the results")
    given, named = [*map(unfollowed, args)], {name: unfollowed(value) for name, value in kwargs.items()}
    compute = function if member is None else getattr(given.pop(0), member)
    arrays = tuple(target.array for target in targets)
    where = named.get("where", True)
    masked = isinstance(function, np.ufunc) and where is not True
    done = False

    def perform() -> None:
        nonlocal done
        if not done:
            done = True
            compute(*given, out=arrays if isinstance(out, tuple) else arrays[0], **named)

    if not (any(target.memory.varies for target in targets) or _varies_any(args, kwargs)):
        perform()
        return out if len(targets) > 1 else targets[0]
    if masked:
        shape = arrays[0].shape
        mask = np.broadcast_to(where, shape)
        args = [applied(np.broadcast_to, (arg, shape), {})[mask] for arg in args]
        kwargs = {name: value for name, value in kwargs.items() if name != "where"}
    kwargs = {name: value for name, value in kwargs.items() if name != "casting"}
    made = applied(function, tuple(args), kwargs, member)
    for target, part in zip(targets, made if len(targets) > 1 else [made], strict=True):
        if masked and target.array.dtype.kind in "fc":
            tags = np.full(shape, -1)
            tags[mask] = np.arange(np.count_nonzero(mask))
            placed(target, perform, tags, part)
        else:
            replaced(target, perform, part)
    return out if len(targets) > 1 else targets[0]


def _varies_any(args: Any, kwargs: dict[str, Any]) -> bool:
    operands = [*args, *kwargs.values()]
    return any(isinstance(one, Followed) and one.varies for one in operands) or any(
        array.varies for array in arrays_in(operands)
    )


class Flat:
    """``array.flat``: its elements in C order, to be read and stored into."""

    def __init__(self, array: Followed) -> None:
        self._array = array

    def __getitem__(self, index: Any) -> Any:
        copied = applied(np.copy, (applied(np.ravel, (self._array,), {}),), {})
        return copied[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        place = unfollowed(index)

        def perform(array: Any, given: Any) -> None:
            array.flat[place] = given

        stored(self._array, perform, value)

    def __len__(self) -> int:
        return int(self._array.array.size)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))
