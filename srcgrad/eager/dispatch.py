"""One operation applied: computed by NumPy, recorded as a node whose formula is a rule of the shared table.

``Operation`` is a function of the table with the name that PyTorch gives its node; ``call`` applies one.  The functions
that are called most are made in ``srcgrad.eager.elementwise``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import gast
import numpy as np

from srcgrad.eager import messages
from srcgrad.eager.formulas import INPUT, LIST, PLAIN, RESULT, SHAPE, Formula, stand_in
from srcgrad.eager.graph import Node, alone_class, list_class, node_class, sequence
from srcgrad.eager.lifted_arrays import by_rule, is_escape, on_arrays
from srcgrad.eager.modes import anomaly, state
from srcgrad.eager.recorders import REAL, applier, recorder
from srcgrad.eager.saved_names import NAMES, PARAMETERS
from srcgrad.eager.tensor import SavedList, SavedResult, SavedResults, Tensor, new
from srcgrad.rules.facts import Fact, fact_of
from srcgrad.rules.formula import constant
from srcgrad.rules.rewriting import item, read
from srcgrad.rules.table import lookup
from srcgrad.rules.template import Rule


class Operation:
    """A function of the rule table under PyTorch's name, and what PyTorch calls the values that it saves."""

    def __init__(
        self, function: Callable[..., Any], node: str, slots: Mapping[str, str] | None = None,
        rule: Rule | None = None, again: bool = False,
    ) -> None:  # fmt: skip
        self.function = function
        self.run = by_rule(function)
        self.again = again  # the result, which PyTorch's node does not save, is computed again where a rule reads it
        self.node = node_class(node)
        self.slots = dict(slots or {})
        self._rule = rule
        self._formulas: dict[Any, Formula] = {}
        self.appliers: dict[Any, Callable[..., Any]] = {}  # by case, for ``call``

    @property
    def rule(self) -> Rule:
        if self._rule is None:
            self._rule = lookup(self.function)
            if self._rule is None:
                raise NotImplementedError(f"there is no derivative rule for {self.function}")
        return self._rule

    def saves(self, tensors: tuple[str, ...], wanted: tuple[str, ...]) -> set[str]:
        """The parameters, or the result, that PyTorch's node saves where all of its gradients are wanted."""
        if not set(tensors) & self.rule.differentiable <= set(wanted):
            return set()
        found: set[str] = set()
        for name in NAMES.get(self.node.__name__, ("", ""))[0].split():
            if name == "result":
                found.add(self.rule.result)
                continue
            known = [p for p in tensors if self.slots.get(p) == name]
            known = known or [p for p in PARAMETERS.get(name, ()) if p in tensors and p not in self.slots][:1]
            if not known and name in PARAMETERS:
                return set()  # a number in the place of an operand, by which no gradient is wanted
            found.update(known)
        return found

    def recomputes(self) -> bool:
        """Whether PyTorch's node computes from its operands alone what the rule may read off the result."""
        names = set(NAMES.get(self.node.__name__, ("", ""))[0].split())
        return self.again or (self.rule.pointwise and bool(names) and names <= {"self", "other"})

    def formula(
        self,
        tensors: tuple[str, ...],
        wanted: tuple[str, ...],
        statics: Mapping[str, Any],
        facts: Mapping[str, Fact] | None = None,
        alike: bool = False,
        key: Any = None,
        lists: Mapping[str, int] | None = None,
        watches: bool = False,
    ) -> Formula:
        """The formula for these tensor parameters and Python values, made once."""
        whole = (tensors, wanted, alike, key, watches)
        known = self._formulas.get(whole)
        if known is None:
            given: dict[str, gast.expr] = {}
            for p in (*self.rule.parameters, *self.rule.options):
                if lists and p in lists and p == self.rule.variadic:
                    given[p] = gast.Tuple([item(p, i) for i in range(lists[p])], gast.Load())
                elif p in tensors:
                    given[p] = read(p)
                elif p in statics:
                    value = statics[p]
                    given[p] = constant(value) if _is_literal(value) else read(p)
            known = self._formulas[whole] = Formula(
                self.rule, given, tensors, wanted, facts=facts, alike=alike, slots=self.slots, lists=lists,
                watches=watches, again=self.function if self.recomputes() else None, kept=self.saves(tensors, wanted),
            )  # fmt: skip
        return known

    def node_of(self, lists: tuple[str, ...]) -> type[Node]:
        """The class of the node; one that spreads lists of partials where parameters are lists."""
        return list_class(self.node) if lists else self.node

    def learned(self, values: Mapping[str, Any], wanted: tuple[str, ...], node: Node) -> Callable[..., Any] | None:
        """The function that answers the next call of the case of which ``node`` is; None where there is none."""
        tensors = {p: isinstance(v, Tensor) for p, v in values.items()}
        real = node.dtype in REAL and all(v.array.dtype.kind != "c" for v in values.values() if isinstance(v, Tensor))
        if not real or self.rule.variadic in values or type(node) is not self.node:
            return None
        by_name = {p: p in self.rule.defaults and not isinstance(self.function, np.ufunc) for p in values}
        arguments = [(p, by_name[p]) for p in self.rule.parameters if p in values]
        edges = {p: p in wanted for p, is_tensor in tensors.items() if is_tensor}
        record = recorder(node.formula, self.node, tuple(values), keeps=node.keeps)
        return applier(self.run, record, tensors, arguments, edges)

    def compute(self, values: Mapping[str, Any]) -> Any:
        """The function of the values, as arrays: by position where NumPy wants it so."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for p in self.rule.parameters:
            if p not in values:
                continue
            value = unwrapped(values[p])
            if p == self.rule.variadic:
                args += value
            elif p in self.rule.defaults and not isinstance(self.function, np.ufunc):
                kwargs[p] = value
            else:
                args.append(value)
        try:
            return self.run(*args, **kwargs)
        except Exception as error:
            if not is_escape(error):
                raise
            return on_arrays(self.run)(*args, **kwargs)


def unwrapped(value: Any) -> Any:
    """Tensors as arrays, in lists and tuples too."""
    if isinstance(value, Tensor):
        return value.array
    if isinstance(value, list | tuple) and _is_list(value):
        return type(value)(unwrapped(item) for item in value)
    return value


def _is_literal(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_literal, value))
    return value is None or isinstance(value, bool | int | float | str)


# --- recording -------------------------------------------------------------------------------------------------------
def record(
    result: Tensor,
    kind: type[Node],
    formula: Formula,
    edges: tuple[tuple[Node | None, int], ...],
    values: Mapping[str, Any],
) -> Node:
    """Make the node of a result: edges, what the formula reads, and the versions that it had."""
    node = new(kind)
    node.edges = edges
    node.formula = formula
    node.sequence = next(sequence)
    array = result.array
    node.shape = array.shape
    node.dtype = array.dtype
    node.slots = formula.slots
    saved: list[Any] = []
    versions: list[int] | None = None
    for source, p in formula.sources:
        if source is INPUT:
            item = values[p]
            counter = item.counter
            if counter is not None:
                if item.inference:
                    raise RuntimeError(messages.INFERENCE_SAVED)
                if counter[0]:
                    if versions is None:
                        versions = [0] * len(formula.sources)
                    versions[len(saved)] = counter[0]
        elif source is RESULT:
            counter = result.counter
            if counter is None:
                counter = result.counter = [0]
            elif counter[0]:
                if versions is None:
                    versions = [0] * len(formula.sources)
                versions[len(saved)] = counter[0]
            item = SavedResult(array, counter, result.number)
        elif source is PLAIN:
            item = values[p]
        elif source is LIST:
            item = SavedList(list(values[p]) if p in formula.piece.reads else stand_ins(values[p]))
        else:
            given = values[p].array if p in values else array
            item = stand_in(given.shape, given.dtype)
        saved.append(item)
    node.saved = tuple(saved)
    if versions is not None:
        node.versions = tuple(versions)
    if formula.keeps:
        node.keeps = True
    if anomaly.enabled:
        from srcgrad.eager.anomaly import remember

        remember(node)
    if state.saved_hooks:
        from srcgrad.eager.saved import pack

        pack(node, formula)
    if any(getattr(getattr(v, "array", None), "dtype", array.dtype).kind == "c" for v in values.values()):
        node.meets_complex = True
    result.node = node
    return node


def stand_ins(items: Any) -> list[Any]:
    """Stand-ins for the tensors of a list."""
    return [stand_in(t.array.shape, t.array.dtype) if isinstance(t, Tensor) else t for t in items]


def _requires(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.requires_grad
    return isinstance(value, list | tuple) and any(_requires(item) for item in value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(item, Tensor) for item in value)


def call(
    operation: Operation,
    values: Mapping[str, Any],
    *,
    facts: bool = False,
    saved: Mapping[str, Any] | None = None,
    array: Any = None,
) -> Any:
    """An operation on tensors, lists of tensors and Python values, given by parameter of its rule.

    ``facts`` lets ranks and dtypes choose among the formulas of the rule; ``saved`` are further ``_saved_`` attributes
    of the node; ``array`` is the result where it is computed already.  Several results come back as a tuple.
    """
    key = watched = None
    if state.recording and not anomaly.enabled and not state.saved_hooks:
        if saved is not None:
            watched = watched_among(saved.values())
        key = _case(values, watched is not None, facts)
        applied = operation.appliers.get(key)
        if applied is not None:
            made = applied(array, *values.values())
            if type(made) is Tensor:
                if saved is not None:
                    node: Any = made.node
                    node.statics, node.watched = saved, watched
                return made
            array, key = made, None
    if array is None:
        array = operation.compute(values)
    several = isinstance(array, tuple | list)
    needs = [p for p, v in values.items() if _requires(v)] if state.recording else []
    if needs:
        wanted = tuple(p for p in needs if p in operation.rule.differentiable)
        floating = any(a.dtype.kind in "fc" for a in (array if several else (array,)) if hasattr(a, "dtype"))
        if wanted and floating:
            made = _recorded(operation, values, wanted, array, several, facts, saved)
            if key is not None and not several:
                _learn(operation, key, values, wanted, made.node)
            return made
    if several:
        return tuple(_plain(a) for a in array)
    return _plain(array)


_MOST = 64  # cases that an operation learns: numbers that never come again are not worth it
_NUMBERS = frozenset((bool, int, float, str, type(None)))
_WHOLE = frozenset((int,))
_PICKS = frozenset((np.ndarray, slice, int))  # an array in an index and what may be beside it: no formula asks which


def _case(values: Mapping[str, Any], watches: bool, facts: bool = False) -> Any:
    """What the way of recording a call depends on; None where that is more than a few types and numbers.

    ``watches``: tensors are saved by name; ``facts``: ranks too, of arrays that say them.
    """
    key: list[Any] = [*values]
    for value in values.values():
        kind = type(value)
        if kind is Tensor or isinstance(value, Tensor):
            array = value.array
            grad = value.node is not None or value.leaf_grad or (value.alias is not None and value.requires_grad)
            if not facts:
                key += (array.dtype, grad)
            elif type(array) is np.ndarray or isinstance(array, np.generic):
                key += (array.dtype, grad, type(array), array.ndim)
            else:
                return None
        elif kind in _NUMBERS:
            key += (kind, value)
        elif kind is np.ndarray:
            key.append(kind)
        elif kind is tuple:
            kinds = set(map(type, value))
            if kinds <= _WHOLE:
                key.append(value)
            elif np.ndarray in kinds and kinds <= _PICKS:
                key.append(np.ndarray)
            else:
                return None
        else:
            return None
    if watches:
        key.append(Tensor)
    return tuple(key)


def _learn(operation: Operation, key: Any, values: Mapping[str, Any], wanted: tuple[str, ...], node: Node) -> None:
    """Make the function that answers the next call of this case."""
    if len(operation.appliers) < _MOST:
        made = operation.learned(values, wanted, node)
        if made is not None:
            operation.appliers[key] = made


def _plain(array: Any) -> Any:
    if not hasattr(array, "dtype"):
        return array
    result: Tensor = new(Tensor)
    result.array = array
    if state.inference:
        result.inference, result.counter = True, [0]
    if state.transform_level:
        result.born = next(sequence)
    return result


def _recorded(
    operation: Operation,
    values: Mapping[str, Any],
    wanted: tuple[str, ...],
    array: Any,
    several: bool,
    facts: bool,
    saved: Mapping[str, Any] | None,
) -> Any:
    tensors = tuple(p for p, v in values.items() if isinstance(v, Tensor) or _is_list(v))
    lists = tuple(p for p in tensors if not isinstance(values[p], Tensor))
    statics = {p: v for p, v in values.items() if p not in tensors}
    known = {p: fact_of(values[p].array, p) for p in tensors if p not in lists} if facts else None
    key: tuple[Any, ...] = (*((p, v) if _hashable(v) else p for p, v in statics.items()), *lists)
    key += tuple(len(values[p]) for p in lists)
    if known is not None:
        key += tuple(known.values())
    counts = {p: len(values[p]) for p in lists}
    watched = None if saved is None else watched_among(saved.values())
    watches = watched is not None
    formula = operation.formula(tensors, wanted, statics, known, key=key, lists=counts, watches=watches)
    edges: list[tuple[Node | None, int]] = []
    for p in tensors:
        if p in lists:
            edges += [t.edge() if isinstance(t, Tensor) and p in wanted else (None, 0) for t in values[p]]
        else:
            edges.append(values[p].edge() if p in wanted else (None, 0))
    if not several:
        result: Tensor = new(Tensor)
        result.array = array
        node = record(result, operation.node_of(lists), formula, tuple(edges), values)
        if not formula.keeps and only_places(formula, values):
            node.keeps = True
        if saved is not None:
            node.statics = saved
            node.watched = watched
        return result
    first: Tensor = new(Tensor)
    first.array = array[0]
    kind = operation.node_of(lists)
    node = record(first, kind if len(array) > 1 else alone_class(kind), formula, tuple(edges), values)
    node.outputs = len(array)
    if node.outputs > 1:
        node.shape = tuple(a.shape for a in array)
        node.dtype = tuple(a.dtype for a in array)
    if saved is not None:
        node.statics = saved
        node.watched = watched
    counter = [0]
    for i, (source, _) in enumerate(formula.sources):
        if source is RESULT:
            assert node.saved is not None
            node.saved = (*node.saved[:i], SavedResults(tuple(array), counter), *node.saved[i + 1 :])
    results = [first]
    for number, one in enumerate(array[1:], 1):
        made: Tensor = new(Tensor)
        made.array = one
        if one.dtype.kind in "fc":
            made.node, made.number = node, number
        elif state.transform_level:
            made.born = next(sequence)
        results.append(made)
    return tuple(results)


def watched_among(values: Iterable[Any]) -> tuple[tuple[Tensor, int], ...] | None:
    """The tensors among what a node saves by name, indices and masks, with their versions."""
    found: list[tuple[Tensor, int]] = []
    for value in values:
        kind = type(value)
        if kind in _NUMBERS:
            continue
        for one in value if kind is not Tensor and isinstance(value, list | tuple) else (value,):
            if isinstance(one, Tensor) and not one.inference:
                if one.counter is None:
                    one.counter = [0]
                found.append((one, one.counter[0]))
    return tuple(found) or None


def only_places(formula: Formula, values: Mapping[str, Any]) -> bool:
    """Whether a node saves only shapes, axes and places, which PyTorch does not free: it can be gone through again."""
    return all(kind is SHAPE or (kind is PLAIN and _is_place(values[p])) for kind, p in formula.sources)


def _is_place(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_place, value))
    return isinstance(value, int | slice | np.dtype | None)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
