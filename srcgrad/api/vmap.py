"""``vmap``: a function over a batch of arguments, as one program.

Enters: a function of one example.  Leaves: a function of arrays in which the examples lie along an axis.  Its program
is that of the function with one more axis in front of what differs from example to example (``srcgrad.batching``).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.api.arguments import described, holds_objects, is_static
from srcgrad.api.derivative import Derivative
from srcgrad.api.kept import Variant
from srcgrad.errors import ArgumentError, ExampleByExample, InternalError, NotBatched, SrcgradError
from srcgrad.runtime import each_example, of_numbers, over_batch, require_examples
from srcgrad.runtime.batches import OneByOne
from srcgrad.runtime.isolation import kept_apart
from srcgrad.tracebacks import door, hide_frames

if TYPE_CHECKING:
    from srcgrad.batching.carried import Carried
    from srcgrad.programs import Compiled

Axes = Any  # an integer, None, or a tuple, list or dict of such


@door
def vmap(f: Callable[..., Any] | None = None, in_axes: Axes = 0, out_axes: Axes = 0) -> Any:
    """``f`` over a batch of examples, as one program: loops over examples become axes of arrays.

    ``vmap(f)`` takes f's arguments with one more axis, along which the examples lie, and returns f's result with one
    more axis.  ``in_axes`` says which axis that is: an integer for all arguments, or a tuple with an entry for each
    positional argument, None for one that is the same for every example.  Where an argument is a tuple, list or dict,
    its entry may be one too, part by part.  What is passed by name has the examples along its first axis, as with JAX.
    ``out_axes`` says where the axis stands in the result, None for a result that is the same for all examples.
    Negative axes count from the end; sizes that differ, and axes that an array does not have, raise ``ArgumentError``.

    The results are those of a loop over the examples, up to rounding.  Gradients of examples:
    ``vmap(grad(loss), in_axes=(None, 0, 0))(weights, xs, ys)``.  Derivatives of ``vmap(f)`` are taken as of any
    function.  What cannot be done for all examples at once, such as a test that differs from one example to the other,
    is done example by example: the warning ``ExampleByExample`` says what, and in which line, once.  Functions that
    draw random numbers are run so too, with other numbers for each example.
    """
    if f is None:
        return lambda function: Vmapped(function, in_axes, out_axes)
    return Vmapped(f, in_axes, out_axes)


class Vmapped(Derivative):
    """What ``vmap`` returns."""

    def __init__(self, primal: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0) -> None:
        self.in_axes, self.out_axes = _axes(in_axes, "in_axes"), _axes(out_axes, "out_axes")
        self._said: set[str] = set()
        self._reasons: dict[object, str] = {}
        self._function = primal
        self._loop: Any = None
        super().__init__(primal, (), mode="batched")

    @door
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        try:
            values = self.bind(args, kwargs)
            axes = self.axes_of(values, len(args), kwargs)
            batch = Examples(self.parameters.names, values, axes)
            return self._run(batch)
        except Exception as failure:
            hide_frames(failure)
            raise

    def _run(self, batch: Examples) -> Any:
        made = self._at_once(batch) if batch.size else None
        if made is not None:
            outcome, carried = made
            return batch.returned(outcome, carried, self.out_axes)
        return self._one_by_one(batch)

    def _at_once(self, batch: Examples) -> tuple[Any, Carried] | None:
        """The result of the program, and which parts of it have the batch; None where there is no program."""
        from srcgrad.programs import present_options

        compiled = self._compiled(batch)
        if compiled is None:
            return None
        self.ran = compiled
        moved = batch.moved()
        arguments = self.arguments(kept_apart(moved, is_stored_into=True) if compiled.changes_saved else moved)
        try:
            outcome = compiled.entry(*arguments)
        except OneByOne:
            return None
        except Exception as failure:  # the function raises for an example, which says it best
            if present_options().check:
                self._one_by_one(batch)
                raise InternalError("The program over a batch raised where no example does") from failure
            return None
        inner = self._innermost
        if inner is None:
            return apart(outcome, arguments, is_shared=compiled.reads_arrays), compiled.returned
        return self._fitted(inner, outcome, compiled, batch)

    def _fitted(self, inner: Derivative, outcome: Any, compiled: Compiled, batch: Examples) -> tuple[Any, Carried]:
        from srcgrad.batching.carried import LEAF

        whole = batch.repeated()
        outcome = completed(outcome, compiled.returned, batch.size)
        if inner.mode == "value":
            return (outcome[0], inner.results.fitted(outcome[1], whole, shared=True)), LEAF
        return inner.results.fitted(outcome, whole, shared=compiled.reads_arrays), LEAF

    @property
    def _innermost(self) -> Derivative | None:
        """The gradient that is batched, whose results are fitted."""
        inner = self.primal
        return inner if isinstance(inner, Derivative) and inner.mode != "batched" else None

    def _compiled(self, batch: Examples) -> Compiled | None:
        from srcgrad.programs import present_options

        key = batch.key
        if key in self._reasons or not present_options().specialise:
            return None
        try:
            if any(holds_objects(v) and _has_axis(a) for v, a in zip(batch.values, batch.axes, strict=True)):
                raise NotBatched("an object of a class differs from example to example")
            values = batch.example()
            carried = tuple(c for c, v in zip(batch.carried(), values, strict=True) if not is_static(v))
            compiled = self.variant(values, Variant("batched", carried=carried))
        except NotBatched as reason:
            self._say(key, reason.reason, reason.span)
            return None
        except SrcgradError as refusal:
            self._say(key, f"it has no program ({refusal.reason})", refusal.span)
            return None
        for name, span in compiled.slow:
            where = span.origin if span is not None and span.known else self.__qualname__
            self._warn(f"{where}: {name} has no batching rule; it runs example by example")
        return compiled

    def asked(self) -> None:
        """No program over a batch is kept in the cache: which parts of its result have one is not written there."""
        return None

    def _say(self, key: object, reason: str, span: Any) -> None:
        self._reasons[key] = reason
        where = span.origin if span is not None and span.known else self.__qualname__
        self._warn(f"{where}: {reason}; {self._name} runs example by example")

    def _warn(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            warnings.warn(text, ExampleByExample, stacklevel=_depth())

    def _one_by_one(self, batch: Examples) -> Any:
        if not batch.size:
            return batch.returned_empty(self._called_with(batch.example()), self.out_axes)
        made = [self._called_with(batch.at(i)) for i in range(batch.size)]
        return _stacked(made, self.out_axes)

    def _called_with(self, values: tuple[Any, ...]) -> Any:
        if self._innermost is None:  # a gradient copies what its function stores into
            values = kept_apart(values, is_stored_into=True)
        return self.parameters.call(self._function if not self.parameters.first else self.primal, values)

    # --- what differentiates this ------------------------------------------------------------------------------------
    def __srcgrad_derived__(self) -> None:
        return None

    def __srcgrad_function__(self) -> Any:
        """A function whose text is that of a loop over the examples."""
        from srcgrad.frontend.applying import transforming  # with the compiler

        if self._loop is None:
            more = f"{self.in_axes!r}, {self.out_axes!r}"
            self._loop = transforming(vmap, self._function, more, self, self.parameters.passed)
        return self._loop

    def text_of(self, values: tuple[Any, ...] | None, *, is_flat: bool = True) -> FunctionType:
        """The program over a batch with the axes where the caller has them; a loop where there is no such program."""
        made = None if values is None else self._whole_text(values)
        return self.__srcgrad_function__() if made is None else made

    def _whole_text(self, values: tuple[Any, ...]) -> FunctionType | None:
        from srcgrad.batching.carried import LEAF

        if not self.parameters.plain or self.parameters.first or any(map(is_static, values)):
            return None
        axes = self.axes_of(values, len(values), {})
        batch = Examples(self.parameters.names, values, axes)
        compiled = self._compiled(batch)
        if compiled is None or type(self.out_axes) is not int or _calls_functions(compiled):
            return None
        if self._innermost is not None and not _is_raw(self._innermost, batch.example()):
            return None  # a program gives no cotangents for parts that are integers, and fits no dtypes
        if any(not (axis is None or type(axis) is int) for axis in batch.axes):
            return None
        returned = compiled.returned
        if not _is_whole(returned):
            return None
        moved = [
            name if not axis else f"np.moveaxis({name}, {axis}, 0)"
            for name, axis in zip(batch.names, batch.axes, strict=True)
        ]
        batched = [name for name, axis in zip(moved, batch.axes, strict=True) if axis is not None]
        call = f"batch({', '.join(moved)})"
        if self.out_axes and returned != LEAF:
            return None
        if self.out_axes:
            call = f"np.moveaxis({call}, 0, {self.out_axes})"
        checked = f"    require_examples({', '.join(batched)})\n" if len(batched) > 1 else ""
        name = f"vmap_{self._name}" if self._name.isidentifier() else "vmap_function"
        text = f"def {name}({', '.join(batch.names)}):\n{checked}    return {call}\n"
        namespace: dict[str, Any] = {"np": np, "require_examples": require_examples, "batch": compiled.entry}
        namespace["__name__"] = self.__module__
        if not namespace.keys().isdisjoint(batch.names) or name in batch.names:
            return None
        exec(compile(text, f"<srcgrad vmap of {self.__module__}.{self.__qualname__}>", "exec"), namespace)
        made: FunctionType = namespace[name]
        made.__srcgrad_source__ = text  # type: ignore[attr-defined]
        return made

    def axes_of(self, values: tuple[Any, ...], count: int, kwargs: Mapping[str, Any]) -> tuple[Axes, ...]:
        """One entry for each parameter."""
        in_axes, first = self.in_axes, len(self.parameters.first)
        if isinstance(in_axes, tuple) and len(in_axes) != count:
            raise ArgumentError(
                f"in_axes has {len(in_axes)} entries, vmap({self._name}) is called with {count} positional arguments",
                hint="give one entry for each, None for what is the same for every example",
            )
        given = list(in_axes) if isinstance(in_axes, tuple) else [in_axes] * count
        found: list[Axes] = [None] * first
        for name, parameter in list(self.parameters.signature.parameters.items())[first:]:
            if parameter.kind is Parameter.VAR_POSITIONAL:
                found.append(tuple(given))
                given = []
            elif parameter.kind is Parameter.VAR_KEYWORD:
                found.append(0 if values[self.parameters.names.index(name)] else None)
            elif name in kwargs:
                found.append(0)
            elif given and parameter.kind is not Parameter.KEYWORD_ONLY:
                found.append(given.pop(0))
            else:
                found.append(None)
        return tuple(found)

    def __repr__(self) -> str:
        return f"<srcgrad vmap of {self.__module__}.{self.__qualname__}>"

    def __reduce__(self) -> Any:
        return type(self), (self._function, self.in_axes, self.out_axes)


def _is_raw(gradient: Derivative, values: tuple[Any, ...]) -> bool:
    """Whether what the program of a gradient gives is handed out as it is."""
    chosen = [values[gradient.parameters.names.index(name)] for name, position in gradient.chosen if position is None]
    simple = all(getattr(value, "dtype", None) in (np.float64, np.float32) for value in chosen)
    return gradient.results.is_plain and simple and not gradient.has_aux and not gradient.holomorphic


def _calls_functions(compiled: Compiled) -> bool:
    """Whether a program calls functions that are handed over, which has no derivative."""
    named = [binding.value for _, binding in compiled.emission.bindings if binding.cell is None]
    return any(value is each_example or value is of_numbers for value in named)


def _is_whole(carried: Carried) -> bool:
    """Whether every part of a result has the batch."""
    from srcgrad.batching.carried import LEAF, Items

    return carried == LEAF or isinstance(carried, Items) and all(map(_is_whole, carried.parts))


def _depth() -> int:
    """How many frames below the user's call this is."""
    frame, depth = sys._getframe(1), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith("srcgrad."):
        frame, depth = frame.f_back, depth + 1  # type: ignore[assignment]
    return depth


def _axes(axes: Axes, what: str) -> Axes:
    """Axes as they are said, lists as tuples at the top."""
    if isinstance(axes, list) and what == "in_axes":
        axes = tuple(axes)
    for one in _leaves(axes):
        if one is not None and (isinstance(one, bool) or not isinstance(one, int | np.integer)):
            raise ArgumentError(f"{what} is an integer, None, or a tuple of such, not {described(one)}")
    return axes


def _leaves(axes: Axes) -> Iterator[Any]:
    if isinstance(axes, tuple | list):
        for one in axes:
            yield from _leaves(one)
    elif isinstance(axes, dict):
        for one in axes.values():
            yield from _leaves(one)
    else:
        yield axes


def _has_axis(axes: Axes) -> bool:
    return any(one is not None for one in _leaves(axes))


def _parts(value: Any, axes: Axes, where: str) -> list[tuple[Any, Any, Axes, str]] | None:
    """The parts of a container with their axes; None of a leaf."""
    if isinstance(value, tuple | list):
        if isinstance(axes, tuple | list):
            if len(axes) != len(value):
                raise ArgumentError(f"in_axes has {len(axes)} entries for {where}, which has {len(value)} parts")
            return [(k, v, a, f"{where}[{k}]") for k, (v, a) in enumerate(zip(value, axes, strict=True))]
        return [(k, v, axes, f"{where}[{k}]") for k, v in enumerate(value)]
    if isinstance(value, dict):
        if isinstance(axes, dict):
            if axes.keys() != value.keys():
                raise ArgumentError(f"in_axes has the keys {list(axes)} for {where}, which has {list(value)}")
            return [(k, v, axes[k], f"{where}[{k!r}]") for k, v in value.items()]
        return [(k, v, axes, f"{where}[{k!r}]") for k, v in value.items()]
    if isinstance(axes, tuple | list | dict):
        raise ArgumentError(f"in_axes has several entries for {where}, which is {described(value)}")
    return None


def _mapped(value: Any, axes: Axes, make: Callable[[Any, Axes, str], Any], where: str) -> Any:
    """``make`` of each leaf that has an axis."""
    if axes is None:
        return value
    parts = _parts(value, axes, where)
    if parts is None:
        return value if axes is None or value is None else make(value, axes, where)
    made = {key: _mapped(part, axis, make, place) for key, part, axis, place in parts}
    return _rebuilt(value, made)


def _rebuilt(value: Any, parts: dict[Any, Any]) -> Any:
    if isinstance(value, dict):
        return parts
    if isinstance(value, tuple):
        return type(value)(*parts.values()) if hasattr(value, "_fields") else tuple(parts.values())
    return list(parts.values())


class Examples:
    """The arguments of one call, and along which of their axes the examples lie."""

    def __init__(self, names: tuple[str, ...], values: tuple[Any, ...], axes: tuple[Axes, ...]) -> None:
        self.names, self.values = names, values
        sizes: dict[str, int] = {}

        def looked(leaf: Any, axis: int, where: str) -> int:
            rank = np.ndim(leaf) if isinstance(leaf, np.ndarray | np.generic | int | float | complex) else None
            if rank is None:
                raise ArgumentError(f"{where} is {described(leaf)}: it has no axis along which examples lie")
            if not -rank <= axis < rank:
                what = "a number, which has no axes" if not rank else f"an array of {rank} axes"
                raise ArgumentError(
                    f"in_axes asks for axis {axis} of {where}, which is {what}",
                    hint="None stands for what is the same for every example",
                )
            sizes[where] = leaf.shape[axis]
            return axis % rank

        self.axes = tuple(
            _axes_inside(value, axis, looked, name) for name, value, axis in zip(names, values, axes, strict=True)
        )
        if not sizes:
            raise ArgumentError(
                "no argument has an axis along which examples lie", hint="in_axes must have an entry that is not None"
            )
        if len(set(sizes.values())) > 1:
            told = ", ".join(f"{where} has {size}" for where, size in sizes.items())
            raise ArgumentError(f"the arguments have different numbers of examples: {told}")
        self.size = next(iter(sizes.values()))

    def _over(self, make: Callable[[Any, Axes, str], Any]) -> tuple[Any, ...]:
        return tuple(_mapped(v, a, make, n) for n, v, a in zip(self.names, self.values, self.axes, strict=True))

    @property
    def key(self) -> object:
        from srcgrad.api.arguments import kinds_of

        return kinds_of(self.example()), repr(self.axes)

    def at(self, i: int) -> tuple[Any, ...]:
        """The arguments of one example."""
        return self._over(lambda leaf, axis, where: leaf[(slice(None),) * axis + (i,)])

    def example(self) -> tuple[Any, ...]:
        """Arguments like those of one example."""
        if self.size:
            return self.at(0)
        return self._over(
            lambda leaf, axis, where: np.zeros(leaf.shape[:axis] + leaf.shape[axis + 1 :], leaf.dtype)[()]
        )

    def moved(self) -> tuple[Any, ...]:
        """The arguments with the examples along the first axis."""
        return self._over(
            lambda leaf, axis, where: leaf if not axis else np.ascontiguousarray(np.moveaxis(leaf, axis, 0))
        )

    def repeated(self) -> tuple[Any, ...]:
        """The arguments with the examples along the first axis of every part."""

        def whole(value: Any, axes: Axes) -> Any:
            if axes is None:
                return repeated(value, self.size)
            parts = _parts(value, axes, "")
            if parts is None:
                return value
            return _rebuilt(value, {key: whole(part, axis) for key, part, axis, _ in parts})

        return tuple(whole(v, a) for v, a in zip(self.moved(), self.axes, strict=True))

    def carried(self) -> tuple[Carried, ...]:
        """Which parts of the arguments have the batch."""
        from srcgrad.batching.carried import LEAF, items, keys

        def inside(value: Any, axes: Axes) -> Carried:
            if axes is None or value is None:
                return None
            parts = _parts(value, axes, "")
            if parts is None:
                return LEAF
            if isinstance(value, dict):
                return keys((key, inside(part, axis)) for key, part, axis, _ in parts)
            return items(inside(part, axis) for _, part, axis, _ in parts)

        return tuple(inside(v, a) for v, a in zip(self.values, self.axes, strict=True))

    def returned(self, outcome: Any, carried: Carried, out_axes: Axes) -> Any:
        """The result as the caller gets it."""
        return _placed(outcome, carried, out_axes, self.size, "the result")

    def returned_empty(self, outcome: Any, out_axes: Axes) -> Any:
        """The result for no example at all, where ``outcome`` is what one has the shape of."""

        def empty(value: Any) -> Any:
            parts = _parts(value, None, "")
            if parts is None:
                return np.zeros((0, *np.shape(value)), np.asarray(value).dtype)
            return _rebuilt(value, {key: empty(part) for key, part, _, _ in parts})

        from srcgrad.batching.carried import LEAF

        return _placed(empty(outcome), LEAF, out_axes, 0, "the result")


def _axes_inside(value: Any, axes: Axes, looked: Callable[[Any, int, str], int], where: str) -> Axes:
    """Axes for each leaf, none of them negative."""
    if axes is None or value is None:
        return None
    parts = _parts(value, axes, where)
    if parts is None:
        return looked(value, int(axes), where)
    made = {key: _axes_inside(part, axis, looked, place) for key, part, axis, place in parts}
    return made if isinstance(value, dict) else tuple(made.values())


def repeated(value: Any, size: int) -> Any:
    """A view of each leaf along a new first axis."""
    parts = _parts(value, None, "")
    if parts is not None:
        return _rebuilt(value, {key: repeated(part, size) for key, part, _, _ in parts})
    if isinstance(value, np.ndarray | np.generic | int | float | complex) and not isinstance(value, bool):
        return np.broadcast_to(value, (size, *np.shape(value)))
    return value


def completed(outcome: Any, carried: Carried, size: int) -> Any:
    """A result whose every part has the batch."""
    from srcgrad.batching.carried import LEAF

    if outcome is None:
        return None
    parts = _parts(outcome, None, "")
    if parts is not None:
        return _rebuilt(outcome, {
            key: completed(part, LEAF if carried == LEAF else _at(carried, key), size) for key, part, _, _ in parts
        })  # fmt: skip
    if carried is None:
        return over_batch(outcome, size)
    if np.shape(outcome)[:1] != (size,):
        raise InternalError("a result of a program over a batch does not have it", stage="batching")
    return outcome


def apart(outcome: Any, arguments: Any, *, is_shared: bool) -> Any:
    """A result that shares no memory with the arguments, nor one part with another."""
    held: list[Any] = []
    _map_arrays(arguments, held.append)

    def own(array: Any) -> Any:
        if is_shared or any(np.may_share_memory(array, other) for other in held):
            return array.copy()
        held.append(array)
        return array

    return _map_arrays(outcome, own)


def _map_arrays(value: Any, make: Callable[[Any], Any]) -> Any:
    parts = _parts(value, None, "")
    if parts is not None:
        return _rebuilt(value, {key: _map_arrays(part, make) for key, part, _, _ in parts})
    return make(value) if isinstance(value, np.ndarray) else value


def _at(carried: Carried, key: Any) -> Carried:
    from srcgrad.batching.carried import Items, Keys, part_of

    match carried:
        case Items(parts=parts):
            part: Carried = parts[key]
            return part
        case Keys(parts=entries):
            found: dict[object, Carried] = dict(entries)
            return found.get(key)
    return part_of(carried)


def _placed(outcome: Any, carried: Carried, out_axes: Axes, size: int, where: str) -> Any:
    """A result with the batch where ``out_axes`` says."""
    from srcgrad.batching.carried import LEAF

    if outcome is None:
        return None
    if isinstance(outcome, tuple | list | dict):
        try:
            parts = _parts(outcome, out_axes, where)
        except ArgumentError as error:
            raise ArgumentError(error.reason.replace("in_axes", "out_axes")) from None
        assert parts is not None
        return _rebuilt(
            outcome,
            {key: _placed(part, carried if carried == LEAF else _at(carried, key), axis, size, place)
             for key, part, axis, place in parts},
        )  # fmt: skip
    if isinstance(out_axes, tuple | list | dict):
        raise ArgumentError(f"out_axes has several entries for {where}, which is {described(outcome)}")
    if out_axes is None:
        if carried is not None:
            raise ArgumentError(f"out_axes is None for {where}, which differs from example to example")
        return outcome
    if carried is not None and np.shape(outcome)[:1] != (size,):
        raise InternalError("a result of a program over a batch does not have it", stage="batching")
    if carried is None:
        if not isinstance(outcome, np.ndarray | np.generic | int | float | complex):
            raise ArgumentError(f"{where} is {described(outcome)}: a batch of such is no array")
        outcome = over_batch(outcome, size)
    if not -outcome.ndim <= out_axes < outcome.ndim:
        raise ArgumentError(f"out_axes asks for axis {out_axes} of {where}, which has {outcome.ndim} axes")
    return outcome if not out_axes else np.moveaxis(outcome, 0, out_axes)


def _stacked(made: list[Any], out_axes: Axes, where: str = "the result") -> Any:
    """The results of all examples as one."""
    first = made[0]
    if first is None:
        return None
    if isinstance(first, tuple | list | dict):
        try:
            parts = _parts(first, out_axes, where)
        except ArgumentError as error:
            raise ArgumentError(error.reason.replace("in_axes", "out_axes")) from None
        assert parts is not None
        return _rebuilt(first, {
            key: _stacked([_item(one, key, where) for one in made], axis, place) for key, _, axis, place in parts
        })  # fmt: skip
    if isinstance(out_axes, tuple | list | dict):
        raise ArgumentError(f"out_axes has several entries for {where}, which is {described(first)}")
    if not isinstance(first, np.ndarray | np.generic | int | float | complex):
        raise ArgumentError(f"{where} is {described(first)}: a batch of such is no array")
    if out_axes is None:
        if any(not np.array_equal(one, first) for one in made[1:]):
            raise ArgumentError(f"out_axes is None for {where}, which differs from example to example")
        return first
    shapes = {np.shape(one) for one in made}
    if len(shapes) > 1:
        raise ArgumentError(f"{where} has another shape for one example than for another: {sorted(shapes)}")
    return np.stack(made, axis=out_axes)


def _item(value: Any, key: Any, where: str) -> Any:
    try:
        return value[key]
    except (LookupError, TypeError):
        raise ArgumentError(f"{where} has other parts for one example than for another") from None



vmap.__srcgrad_transform__ = "vmap"  # type: ignore[attr-defined]
