"""NumPy's functions and methods that store into an array, as the stores that they are.

Enters: calls.  Leaves: ``Store`` and ``AddAt`` of values that pure functions compute::

    np.copyto(y, e, where=m)     y[m] = broadcast_to(e, y.shape)[m]
    y.sort()                     t = np.sort(y);  y[...] = t
    np.put(y, k, e)              y[flat_places(y, k)] = np.resize(e, ...)
    np.add.at(y, k, e)           every index counts, repeated ones too
    rng.shuffle(y)               p = shuffled(rng, y);  t = np.take(y, p, 0);  y[...] = t
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.desugar.build import call, call_runtime, constant, index_value, load, placed, subscript
from srcgrad.frontend.freshness import Sharing
from srcgrad.frontend.names import free_names
from srcgrad.frontend.normal_form import AddAt, Effect, Exchange
from srcgrad.frontend.outputs import Outputs, is_true
from srcgrad.syntax.globals import GlobalBinding, reference
from srcgrad.syntax.parse import walk

_NUMPY = GlobalBinding("np", np, "numpy", None, None)
_RANDOM = GlobalBinding("random", np.random, "numpy.random", None, None)
_UNBUFFERED = "np.{0}.at repeats its operation where an index is repeated"


class InPlace(Outputs):
    """Calls that are stores."""

    @property
    @abstractmethod
    def sharing(self) -> Sharing:
        """Which names of the function share memory."""

    @property
    @abstractmethod
    def sharing_of_objects(self) -> Sharing:
        """Which names of the function may hold one array object."""

    def reshape(self, name: str, target: gast.Attribute, value: gast.expr) -> bool:
        """``name.shape = value`` as a binding of the name; whether no other name may hold the array object.

        One that another name, a container, the caller or a local function holds would have the new shape there too.
        """
        local = (node for node in walk(*self.scope.body) if isinstance(node, gast.FunctionDef | gast.Lambda))
        captured = map(free_names, local)
        own = isinstance(target.value, gast.Name) and self.scope.owner(target.value.id) is self.scope
        alone = own and self.sharing_of_objects.owns(name)
        if not alone or name in self.table.handed or any(name in names for names in captured):
            return False
        reshape = placed(gast.Attribute(reference(_NUMPY), "reshape", gast.Load()), target)
        made = call(reshape, [load(name, target), value], target)
        made.keywords = [placed(gast.keyword("copy", constant(False, target)), target)]
        self.bind(name, made)
        return True

    # --- calls for what they change ----------------------------------------------------------------------------------
    def change(self, node: gast.Call) -> bool:
        """Write a call that is made for what it stores; whether it is one."""
        if self.outputs(node) is not None:
            self._stored_result(node, wanted=False)
            return True
        if self.hides_output(node):
            self.bind(self.fresh(), node)
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
        write_method = CHANGING_METHODS.get(node.func.attr)
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
        base = self._changed_by_method(node)
        self._put(base, constant(Ellipsis, node), self.value(value))

    def _changed_by_method(self, node: gast.Call) -> str:
        """The array that a method changes in place; a number of NumPy's has the method too, and stays what it is."""
        base = self.stored_into(node.func.value)
        if not self.sharing.owns(base):
            check = call_runtime(runtime.require_memory, [load(base, node)], node)
            self.out.append(Effect(placed(gast.Expr(check), node), self.span))
        return base

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
        self._put_flat(node, self._changed_by_method(node), given, "indices", "values")

    def _put_function(self, node: gast.Call) -> None:
        given = self._given(node, "a ind v mode")
        self._put_flat(node, self.stored_into(self._needed(node, given, "a")[0]), given, "ind", "v")

    def _put_flat(self, node: gast.Call, base: str, given: dict[str, gast.expr], places: str, values: str) -> None:
        index, value = self._needed(node, given, places, values)
        mode = given.get("mode", constant("raise", node))
        held = self._held(call_runtime(runtime.flat_places, [load(base, node), index, mode], node))
        self._put_repeated(node, base, held, value)

    def _put_repeated(self, node: gast.AST, base: str, places: gast.expr, value: gast.expr) -> None:
        """Store values that are repeated, or cut off, to the number of places."""
        self._put(base, places, self._repeated(node, base, value, self._sized(node, places)))

    def _sized(self, node: gast.AST, places: gast.expr) -> gast.expr:
        first = subscript(places, constant(0, node), node)
        return placed(gast.Attribute(first, "shape", gast.Load()), node)

    def _repeated(self, node: gast.AST, base: str, value: gast.expr, shape: gast.expr) -> gast.expr:
        atom = self.value(value)
        if isinstance(atom, gast.Constant):
            return atom
        check = call_runtime(runtime.require_items, [load(base, node), atom], node)
        self.out.append(Effect(placed(gast.Expr(check), node), self.span))
        return self.value(self._numpy("resize", node, atom, shape))

    def _copyto(self, node: gast.Call) -> None:
        given = self._given(node, "dst src casting where")
        target, value = self._needed(node, given, "dst", "src")
        base = self.stored_into(target)
        stored = self.value(value)
        self._check_cast(node, base, stored, given.get("casting", constant("same_kind", node)))
        where = given.get("where")
        if where is None or is_true(where):
            self._put(base, constant(Ellipsis, node), stored)
            return
        mask = self._held(call_runtime(runtime.where_places, [load(base, node), where], node))
        if not isinstance(stored, gast.Constant):
            stored = self.value(call_runtime(runtime.at_mask, [stored, mask], node))
        self._put(base, mask, stored)

    def _check_cast(self, node: gast.Call, base: str, stored: gast.expr, casting: gast.expr) -> None:
        """A store casts what these functions refuse to cast."""
        if not (isinstance(stored, gast.Constant) and isinstance(casting, gast.Constant) and casting.value is None):
            check = call_runtime(runtime.require_cast, [load(base, node), stored, self.settle(casting)], node)
            self.out.append(Effect(placed(gast.Expr(check), node), self.span))

    def _place(self, node: gast.Call) -> None:
        target, mask, values = self._needed(node, self._given(node, "arr mask vals"), "arr", "mask", "vals")
        base = self.stored_into(target)
        held = self._held(call_runtime(runtime.mask_places, [load(base, node), mask], node))
        values = self.value(values)
        self._check_cast(node, base, values, constant(None, node))
        self._put(base, held, self._repeated(node, base, values, self._numpy("count_nonzero", node, held)))

    def _putmask(self, node: gast.Call) -> None:
        target, mask, values = self._needed(node, self._given(node, "a mask values"), "a", "mask", "values")
        base = self.stored_into(target)
        held = self._held(call_runtime(runtime.mask_places, [load(base, node), mask], node))
        values = self.value(values)
        self._check_cast(node, base, values, constant(None, node))
        shape = placed(gast.Attribute(load(base, node), "shape", gast.Load()), node)
        stored = self._repeated(node, base, values, shape)
        if not isinstance(stored, gast.Constant):
            stored = self.value(subscript(stored, held, node))
        self._put(base, held, stored)

    def _put_along_axis(self, node: gast.Call) -> None:
        given = self._given(node, "arr indices values axis")
        target, indices, values = self._needed(node, given, "arr", "indices", "values")
        axis = given.get("axis", constant(-1, node))
        base = self.stored_into(target)
        held = self._held(call_runtime(runtime.along_places, [load(base, node), indices, axis], node))
        self._put(base, held, self.value(values))

    def _fill_diagonal(self, node: gast.Call) -> None:
        given = self._given(node, "a val wrap")
        target, value = self._needed(node, given, "a", "val")
        base = self.stored_into(target)
        wrap = [given["wrap"]] if "wrap" in given else []
        held = self._held(call_runtime(runtime.diagonal_places, [load(base, node), *wrap], node))
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
        if ufunc is np.subtract:
            given = self.value(value)
            if not isinstance(given, gast.Constant):
                check = call_runtime(runtime.require_signed, [given], node)
                self.out.append(Effect(placed(gast.Expr(check), node), self.span))
                given = self.value(self._numpy("asarray", node, given))  # NumPy makes an array of a list
            value = placed(gast.UnaryOp(gast.USub(), given), node)
        added = self.value(value)
        function = placed(gast.Attribute(self._numpy_name("add", node), "at", gast.Load()), node)
        self.out.append(AddAt(base, index, added, self.span, function, shared=True))

    def _shuffle(self, node: gast.Call, rng: gast.expr) -> None:
        given = self._given(node, "x axis")
        base = self.stored_into(self._needed(node, given, "x")[0])
        axis = self.settle(given["axis"]) if "axis" in given else constant(0, node)
        order = self._held(call_runtime(runtime.shuffled, [rng, load(base, node), axis], node))
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
        if isinstance(stored, gast.Name) and self.sharing.sources(value):
            given = [load(base, target), stored, constant(self.span.origin, target)]
            check = placed(gast.Expr(call_runtime(runtime.require_disjoint, given, target)), target)
            self.out.append(Effect(check, self.span))
        self._put_repeated(target, base, places, stored)

    def flat_place(self, target: gast.Subscript) -> tuple[str, gast.expr]:
        base = self.stored_into(target.value.value)
        places = call_runtime(runtime.flat_places, [load(base, target), index_value(target.slice)], target)
        return base, self._held(places)

    def _numpy_name(self, name: str, at: gast.AST) -> gast.expr:
        return placed(gast.Attribute(reference(_NUMPY), name, gast.Load()), at)

    def _numpy(self, name: str, at: gast.AST, *arguments: gast.expr) -> gast.Call:
        return call(self._numpy_name(name, at), arguments, at)


CHANGING_METHODS: dict[str, Callable[[InPlace, gast.Call], None]] = {
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
