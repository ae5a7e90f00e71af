"""NumPy's functions and methods that store into an array, as the stores that they are.

Enters: calls.  Leaves: ``Store`` and ``AddAt`` of values that pure functions compute::

    np.add(x, y, out=w)          t = np.add(x, y);  w[...] = t               its value is w
    np.copyto(y, e, where=m)     y[m] = broadcast_to(e, y.shape)[m]
    y.sort()                     t = np.sort(y);  y[...] = t
    np.put(y, k, e)              y[flat_places(y, k)] = np.resize(e, ...)
    np.add.at(y, k, e)           every index counts, repeated ones too
    rng.shuffle(y)               p = shuffled(rng, y);  t = np.take(y, p, 0);  y[...] = t
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.callees import is_inert, spelled
from srcgrad.frontend.desugar.build import call, constant, load, placed, subscript
from srcgrad.frontend.normal_form import AddAt, Copy, Effect, Exchange, Pack, Store
from srcgrad.frontend.stores import Stores
from srcgrad.rules.calling import signature_of
from srcgrad.rules.formula import literal
from srcgrad.rules.table import lookup, method
from srcgrad.syntax.globals import GlobalBinding, reference
from srcgrad.syntax.parse import walk

_NUMPY = GlobalBinding("np", np, "numpy", None, None)
_RANDOM = GlobalBinding("random", np.random, "numpy.random", None, None)
_REDUCING = {"reduce": 3, "accumulate": 3, "reduceat": 4}  # where the methods of ufuncs take ``out``
_UNBUFFERED = "np.{0}.at repeats its operation where an index is repeated"


class InPlace(Stores):
    """Calls that are stores."""

    # --- results that are put into an array --------------------------------------------------------------------------
    def outputs(self, node: gast.Call) -> list[gast.expr | None] | None:
        """What a call of a library function stores its results into; None if it makes new ones."""
        if not node.args and not node.keywords:
            return None
        named = [k.value for k in node.keywords if k.arg == "out"]
        static = self.scope.static_of(node.func)
        function = static.value if static is not None else None
        if static is None and isinstance(node.func, gast.Attribute):
            function = method(node.func.attr)
        if not named:
            if function is np.nan_to_num and static is not None and _is_false(node, "copy"):
                return [node.args[0]] if node.args else None
            position = self._place_of_output(node, function, static is None)
            several = isinstance(function, np.ufunc)  # every argument after its operands is an output
            named = [] if position is None else list(node.args[position:] if several else node.args[position:][:1])
        if not named or not self._is_ruled(function):
            return None
        if len(named) == 1 and isinstance(named[0], gast.Tuple):
            named = list(named[0].elts)
        found = [None if _is_none(one) else one for one in named]
        return found if any(one is not None for one in found) else None

    def _is_ruled(self, function: object) -> bool:
        return function is not None and (lookup(function) is not None or is_inert(function))

    @staticmethod
    def _place_of_output(node: gast.Call, function: object, is_method: bool) -> int | None:
        """The position of ``out`` where that many arguments are given."""
        position = None
        owner = getattr(function, "__self__", None)
        if isinstance(function, np.ufunc):
            position = function.nin
        elif isinstance(owner, np.ufunc):
            position = _REDUCING.get(getattr(function, "__name__", ""))
        elif function is not None and len(node.args) > 1:
            signature = signature_of(function)
            known = [] if signature is None else list(signature.parameters.values())
            named = [p.name for p in known if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
            several = any(p.kind is p.VAR_POSITIONAL for p in known)
            position = named.index("out") if "out" in named and not several else None
        if position is not None and is_method:
            position -= 1
        starred = any(isinstance(argument, gast.Starred) for argument in node.args)
        return position if position is not None and not starred and position < len(node.args) else None

    def stores_result(self, node: gast.Call) -> bool:
        return self.outputs(node) is not None

    def _stored_result(self, node: gast.Call, *, wanted: bool = True) -> gast.expr:
        """Write a call with outputs; its value is the output, or the tuple of outputs if that is ``wanted``."""
        outputs = self.outputs(node)
        assert outputs is not None
        plain, where = self._without_outputs(node, outputs)
        if any(isinstance(part, gast.Call) for output in outputs if output is not None for part in walk(output)):
            static = self.scope.static_of(node.func)
            several = static is not None and isinstance(static.value, np.ufunc)
            last = len(plain.args) if several else 1  # of the others the rest are axes, places and the like
            plain.args[:last] = [self.value(argument) for argument in plain.args[:last]]
        bases = [None if output is None else self.stored_into(output) for output in outputs]
        if where is not None:
            return self._store_where(node, plain, where, bases)
        results = self.value(plain)
        if len(bases) == 1 and not self._has_several(plain):
            assert bases[0] is not None
            self._check_output(node, bases[0], results)
            self._put(bases[0], constant(Ellipsis, node), results)
            return load(bases[0], node)
        parts: list[gast.expr] = []
        for j, base in enumerate(bases):
            part = self.value(subscript(results, constant(j, node), node))
            parts.append(part if base is None else load(base, node))
            if base is not None:
                self._check_output(node, base, part)
                self._put(base, constant(Ellipsis, node), part)
        if not wanted:
            return parts[0]
        packed = self.fresh()
        self.emit(packed, placed(gast.Tuple(parts, gast.Load()), node), Pack("tuple", tuple(parts)))
        return load(packed, node)

    def _check_output(self, node: gast.Call, base: str, made: gast.expr, *, masked: bool = False) -> None:
        """A store may repeat and cast what it stores where NumPy refuses an output of that shape or dtype."""
        static = self.scope.static_of(node.func)
        function = method(node.func.attr) if static is None else static.value
        casting, exact = _OUTPUTS.get(function, ("unsafe", True))
        if isinstance(function, np.ufunc) or getattr(function, "__name__", "") == "outer":
            casting, exact = "same_kind", False
        given = [keyword.value for keyword in node.keywords if keyword.arg == "casting"]
        word = self.settle(given[0]) if given else constant(casting, node)
        shape = constant(None if masked else exact, node)
        check = self._runtime("require_output", node, load(base, node), made, word, shape)
        self.out.append(Effect(placed(gast.Expr(check), node), self.span))

    def _has_several(self, node: gast.Call) -> bool:
        static = self.scope.static_of(node.func)
        return static is not None and isinstance(static.value, np.ufunc) and static.value.nout > 1

    def _without_outputs(
        self, node: gast.Call, outputs: Sequence[gast.expr | None]
    ) -> tuple[gast.Call, gast.expr | None]:
        """The call that makes new results, and the ``where`` of a ufunc."""
        static = self.scope.static_of(node.func)
        function = method(node.func.attr) if static is None else static.value
        words = getattr(None if static is None else signature_of(function), "parameters", None)
        takes = words is None or "out" in words or any(p.kind is p.VAR_KEYWORD for p in words.values())
        if function is not np.nan_to_num and (not takes or function in _WITHOUT_OUTPUT):
            raise self.refuse(node, f"{spelled(node.func)} does not store into out=", "store its result: y[...] = ...")
        dropped = {"out", "copy"} if function is np.nan_to_num else {"out"}
        where = None
        if isinstance(function, np.ufunc):
            dropped.add("where")
            where = next((k.value for k in node.keywords if k.arg == "where" and not _is_true(k.value)), None)
        position = None
        if not any(k.arg == "out" for k in node.keywords):
            position = self._place_of_output(node, function, static is None)
        arguments = list(node.args if position is None else node.args[:position])
        if position is not None and not isinstance(function, np.ufunc) and len(node.args) > position + 1:
            arguments += [constant(None, node), *node.args[position + 1 :]]
        keywords = [k for k in node.keywords if k.arg not in dropped]
        return placed(gast.Call(node.func, arguments, keywords), node), where

    def _store_where(
        self, node: gast.Call, plain: gast.Call, where: gast.expr, bases: Sequence[str | None]
    ) -> gast.expr:
        """A ufunc that computes some of the elements: the others keep what they held, and have no partials."""
        if len(bases) != 1 or bases[0] is None or self._has_several(plain):
            raise self.refuse(node, "where= of a ufunc of several results cannot be reversed", "store under a mask")
        base = bases[0]
        operands = [self.value(argument) for argument in plain.args]
        mask = self._held(self._runtime("where_places", node, load(base, node), where))
        chosen = [o if isinstance(o, gast.Constant) else self._runtime("at_mask", node, o, mask) for o in operands]
        made = self.value(placed(gast.Call(plain.func, chosen, plain.keywords), node))
        self._check_output(node, base, made, masked=True)
        self._put(base, mask, made)
        return load(base, node)

    def bind_call(self, target: Callable[[], str], node: gast.Call) -> bool:
        if self.outputs(node) is not None:
            value = self._stored_result(node)
            assert isinstance(value, gast.Name)
            self.emit(target(), value, Copy(value.id))
            return True
        return super().bind_call(target, node)

    # --- calls for what they change ----------------------------------------------------------------------------------
    def change(self, node: gast.Call) -> bool:
        """Write a call that is made for what it stores; whether it is one."""
        if self.outputs(node) is not None:
            self._stored_result(node, wanted=False)
            return True
        static = self.scope.static_of(node.func)
        if static is not None:
            if getattr(static.value, "__name__", "") == "at" and isinstance(
                getattr(static.value, "__self__", None), np.ufunc
            ):
                self._store_at(node, static.value.__self__)  # type: ignore[attr-defined]
                return True
            if static.value is np.random.shuffle:
                rng = node.func.value if isinstance(node.func, gast.Attribute) else reference(_RANDOM)
                self._shuffle(node, rng)
                return True
            for function, write in _FUNCTIONS:
                if static.value is function:
                    write(self, node)
                    return True
            return False
        if not isinstance(node.func, gast.Attribute) or self.is_object(node.func.value):
            return False
        write_method = _METHODS.get(node.func.attr)
        if node.func.attr == "sort" and any(k.arg in ("key", "reverse") for k in node.keywords):
            return False  # a list's
        if node.func.attr == "shuffle":
            self._shuffle(node, self.settle(node.func.value))
            return True
        if write_method is None:
            return False
        write_method(self, node)
        return True

    def _given(self, node: gast.Call, names: str) -> dict[str, gast.expr]:
        """The arguments of a call by name."""
        known = names.split()
        given = dict(zip(known, node.args, strict=False))
        given |= {k.arg: k.value for k in node.keywords}
        if len(node.args) > len(known) or not given.keys() <= set(known) or any(
            isinstance(argument, gast.Starred) for argument in node.args
        ):
            raise self.refuse(node, "this call stores into an array, and its arguments are not known", "write them out")
        return given

    def _needed(self, node: gast.Call, given: dict[str, gast.expr], *names: str) -> list[gast.expr]:
        for name in names:
            if name not in given:
                raise self.refuse(node, f"this call needs the argument {name!r}")
        return [given[name] for name in names]

    def _fill(self, node: gast.Call) -> None:
        (value,) = self._needed(node, self._given(node, "value"), "value")
        base = self.stored_into(node.func.value)
        self._put(base, constant(Ellipsis, node), self.value(value))

    def _sort(self, node: gast.Call) -> None:
        base = self.stored_into(node.func.value)
        if not node.args and not node.keywords:  # of a list or an array: facts will tell
            expression = placed(gast.Attribute(load(base, node), "sort", gast.Load()), node)
            self.emit(self.fresh(), placed(gast.Call(expression, [], []), node), Exchange(base, "sort", ()))
            return
        self._replace(node, base, "sort")

    def _partition(self, node: gast.Call) -> None:
        self._replace(node, self.stored_into(node.func.value), "partition")

    def _replace(self, node: gast.Call, base: str, name: str) -> None:
        """Store what NumPy's function of that name makes of an array into the array."""
        made = self._numpy(name, node, load(base, node), *node.args)
        made.keywords = list(node.keywords)
        self._put(base, constant(Ellipsis, node), self.value(made))

    def _put_method(self, node: gast.Call) -> None:
        given = self._given(node, "indices values mode")
        self._put_flat(node, self.stored_into(node.func.value), given, "indices", "values")

    def _put_function(self, node: gast.Call) -> None:
        given = self._given(node, "a ind v mode")
        self._put_flat(node, self.stored_into(self._needed(node, given, "a")[0]), given, "ind", "v")

    def _put_flat(self, node: gast.Call, base: str, given: dict[str, gast.expr], places: str, values: str) -> None:
        index, value = self._needed(node, given, places, values)
        mode = [given["mode"]] if "mode" in given else []
        held = self._held(self._runtime("flat_places", node, load(base, node), index, *mode))
        self._put_repeated(node, base, held, value)

    def _put_repeated(self, node: gast.AST, base: str, places: gast.expr, value: gast.expr) -> None:
        """Store values that are repeated, or cut off, to the number of places."""
        self._put(base, places, self._repeated(node, value, self._sized(node, places)))

    def _sized(self, node: gast.AST, places: gast.expr) -> gast.expr:
        first = subscript(places, constant(0, node), node)
        return placed(gast.Attribute(first, "shape", gast.Load()), node)

    def _repeated(self, node: gast.AST, value: gast.expr, shape: gast.expr) -> gast.expr:
        atom = self.value(value)
        return atom if isinstance(atom, gast.Constant) else self.value(self._numpy("resize", node, atom, shape))

    def _copyto(self, node: gast.Call) -> None:
        given = self._given(node, "dst src casting where")
        target, value = self._needed(node, given, "dst", "src")
        base = self.stored_into(target)
        stored = self.value(value)
        where = given.get("where")
        if where is None or _is_true(where):
            self._put(base, constant(Ellipsis, node), stored)
            return
        mask = self._held(self._runtime("where_places", node, load(base, node), where))
        if not isinstance(stored, gast.Constant):
            stored = self.value(self._runtime("at_mask", node, stored, mask))
        self._put(base, mask, stored)

    def _place(self, node: gast.Call) -> None:
        target, mask, values = self._needed(node, self._given(node, "arr mask vals"), "arr", "mask", "vals")
        base = self.stored_into(target)
        held = self._held(self._runtime("mask_places", node, load(base, node), mask))
        self._put(base, held, self._repeated(node, values, self._numpy("count_nonzero", node, held)))

    def _putmask(self, node: gast.Call) -> None:
        target, mask, values = self._needed(node, self._given(node, "a mask values"), "a", "mask", "values")
        base = self.stored_into(target)
        held = self._held(self._runtime("mask_places", node, load(base, node), mask))
        shape = placed(gast.Attribute(load(base, node), "shape", gast.Load()), node)
        stored = self._repeated(node, values, shape)
        if not isinstance(stored, gast.Constant):
            stored = self.value(subscript(stored, held, node))
        self._put(base, held, stored)

    def _put_along_axis(self, node: gast.Call) -> None:
        given = self._given(node, "arr indices values axis")
        target, indices, values = self._needed(node, given, "arr", "indices", "values")
        axis = given.get("axis", constant(-1, node))
        base = self.stored_into(target)
        held = self._held(self._runtime("along_places", node, load(base, node), indices, axis))
        self._put(base, held, self.value(values))

    def _fill_diagonal(self, node: gast.Call) -> None:
        given = self._given(node, "a val wrap")
        target, value = self._needed(node, given, "a", "val")
        base = self.stored_into(target)
        wrap = [given["wrap"]] if "wrap" in given else []
        held = self._held(self._runtime("diagonal_places", node, load(base, node), *wrap))
        self._put_repeated(node, base, held, value)

    def _store_at(self, node: gast.Call, ufunc: np.ufunc) -> None:
        name = ufunc.__name__
        if ufunc is not np.add and ufunc is not np.subtract:
            raise self.refuse(
                node, _UNBUFFERED.format(name), f"where no index is repeated, write y[i] = np.{name}(y[i], e)"
            )
        target, indices, value = self._needed(node, self._given(node, "a indices b"), "a", "indices", "b")
        base = self.stored_into(target)
        index = self.settle(indices, calls=False)
        added = self.value(value if ufunc is np.add else placed(gast.UnaryOp(gast.USub(), value), node))
        function = placed(gast.Attribute(self._numpy_name("add", node), "at", gast.Load()), node)
        self.out.append(AddAt(base, index, added, self.span, function, shared=True))

    def _shuffle(self, node: gast.Call, rng: gast.expr) -> None:
        given = self._given(node, "x axis")
        base = self.stored_into(self._needed(node, given, "x")[0])
        axis = self.settle(given["axis"]) if "axis" in given else constant(0, node)
        order = self._held(self._runtime("shuffled", node, rng, load(base, node), axis))
        self._put(base, constant(Ellipsis, node), self.value(self._numpy("take", node, load(base, node), order, axis)))

    def _resize(self, node: gast.Call) -> None:
        raise self.refuse(
            node, "a change of an array's size in place cannot be reversed", "write y = np.resize(y, shape)"
        )

    # --- through .flat -----------------------------------------------------------------------------------------------
    def store_flat(self, target: gast.Subscript, value: gast.expr) -> None:
        """``y.flat[index] = value``."""
        stored = self.value(value)
        base, places = self.flat_place(target)
        self._put_repeated(target, base, places, stored)

    def flat_place(self, target: gast.Subscript) -> tuple[str, gast.expr]:
        base = self.stored_into(target.value.value)
        return base, self._held(self._runtime("flat_places", target, load(base, target), _indexed(target.slice)))

    # --- small parts -------------------------------------------------------------------------------------------------
    def _put(self, base: str, index: gast.expr, value: gast.expr) -> None:
        self.out.append(Store(base, index, value, self.span))

    def _held(self, expression: gast.expr) -> gast.expr:
        """A name for an expression without a derivative, which is evaluated once."""
        return self.held(self.settle(expression))

    def _runtime(self, name: str, at: gast.AST, *arguments: gast.expr) -> gast.Call:
        head = reference(GlobalBinding(name, getattr(runtime, name), "srcgrad.runtime", name, None))
        return call(head, arguments, at)

    def _numpy_name(self, name: str, at: gast.AST) -> gast.expr:
        return placed(gast.Attribute(reference(_NUMPY), name, gast.Load()), at)

    def _numpy(self, name: str, at: gast.AST, *arguments: gast.expr) -> gast.Call:
        return call(self._numpy_name(name, at), arguments, at)


_METHODS: dict[str, Callable[[InPlace, gast.Call], None]] = {
    "fill": InPlace._fill,
    "sort": InPlace._sort,
    "partition": InPlace._partition,
    "put": InPlace._put_method,
    "resize": InPlace._resize,
}
_FUNCTIONS: tuple[tuple[object, Callable[[InPlace, gast.Call], None]], ...] = (
    (np.copyto, InPlace._copyto),
    (np.put, InPlace._put_function),
    (np.place, InPlace._place),
    (np.putmask, InPlace._putmask),
    (np.put_along_axis, InPlace._put_along_axis),
    (np.fill_diagonal, InPlace._fill_diagonal),
)


#: What takes ``out=`` and leaves it as it is, in NumPy 2.
_WITHOUT_OUTPUT = (np.fft.hfft, np.fft.ifft2, np.fft.irfft2)
#: How NumPy casts results to an output, and whether it wants exactly their shape; reductions cast to any dtype.
_OUTPUTS: dict[object, tuple[str, bool]] = {
    **dict.fromkeys((np.clip, np.fix, np.nan_to_num, np.percentile, np.quantile), ("same_kind", False)),
    **dict.fromkeys((np.nanmedian, np.nanpercentile, np.nanquantile), ("unsafe", False)),
    **dict.fromkeys((np.concatenate, np.round, np.around, np.stack), ("same_kind", True)),
    **dict.fromkeys((np.nanmean, np.nanstd, np.nanvar, np.ptp, np.std), ("same_kind", True)),
    **dict.fromkeys((np.dot, np.linalg.multi_dot), ("equiv", True)),
    **dict.fromkeys((np.take, np.compress), ("back", True)),
    **{one: ("same_kind", True) for name, one in vars(np.fft).items() if name.endswith(("fft", "fft2", "fftn"))},
    np.einsum: ("safe", True),
}


def _indexed(index: gast.expr) -> gast.expr:
    """An index as a value: slices spelled as calls."""
    if not isinstance(index, gast.Slice):
        return index
    none = constant(None, index)
    head = reference(GlobalBinding("slice", slice, "builtins", "slice", None))
    return call(head, [index.lower or none, index.upper or none, index.step or none], index)


def _is_none(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) and node.value is None


def _is_true(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) and node.value is True


def _is_false(node: gast.Call, name: str) -> bool:
    return any(k.arg == name and literal(k.value) == (True, False) for k in node.keywords)
