"""One operation applied: computed by NumPy, recorded as a node whose formula is a rule of the shared table.

``Operation`` is a function of the table with the name that PyTorch gives its node.  ``elementwise`` makes the functions
that are called most, with as few steps as Python allows; ``apply`` is for all the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gast
import numpy as np

from srcgrad.eager import dtypes, messages
from srcgrad.eager.dtypes import DIMENSIONED, NUMBER, OF_NUMPY, ZERO_DIM
from srcgrad.eager.formulas import INPUT, LIST, PLAIN, RESULT, Formula, stand_in
from srcgrad.eager.graph import Node, accumulator, list_class, node_class, sequence
from srcgrad.eager.modes import anomaly, state
from srcgrad.eager.tensor import SavedList, SavedResult, SavedResults, Tensor, new
from srcgrad.rules.facts import Fact, fact_of
from srcgrad.rules.formula import constant
from srcgrad.rules.rewriting import item, read
from srcgrad.rules.table import lookup
from srcgrad.rules.template import Rule

_FLOATING = frozenset(map(np.dtype, (np.float16, np.float32, np.float64, np.complex64, np.complex128)))


class Operation:
    """A function of the rule table under PyTorch's name, and what PyTorch calls the values that it saves."""

    def __init__(
        self, function: Callable[..., Any], node: str, slots: Mapping[str, str] | None = None, rule: Rule | None = None
    ) -> None:
        self.function = function
        self.node = node_class(node)
        self.slots = dict(slots or {})
        self._rule = rule
        self._formulas: dict[Any, Formula] = {}

    @property
    def rule(self) -> Rule:
        if self._rule is None:
            self._rule = lookup(self.function)
            if self._rule is None:
                raise NotImplementedError(f"there is no derivative rule for {self.function}")
        return self._rule

    def formula(
        self,
        tensors: tuple[str, ...],
        wanted: tuple[str, ...],
        statics: Mapping[str, Any],
        facts: Mapping[str, Fact] | None = None,
        alike: bool = False,
        key: Any = None,
        lists: Mapping[str, int] | None = None,
    ) -> Formula:
        """The formula for these tensor parameters and Python values, made once."""
        whole = (tensors, wanted, alike, key)
        known = self._formulas.get(whole)
        if known is None:
            given: dict[str, gast.expr] = {}
            for p in self.rule.parameters:
                if lists and p in lists and p == self.rule.variadic:
                    given[p] = gast.Tuple([item(p, i) for i in range(lists[p])], gast.Load())
                elif p in tensors:
                    given[p] = read(p)
                elif p in statics:
                    value = statics[p]
                    given[p] = constant(value) if _is_literal(value) else read(p)
            known = self._formulas[whole] = Formula(
                self.rule, given, tensors, wanted, facts=facts, alike=alike, slots=self.slots, lists=lists or ()
            )
        return known

    def node_of(self, lists: tuple[str, ...]) -> type[Node]:
        """The class of the node; one that spreads lists of partials where parameters are lists."""
        return list_class(self.node) if lists else self.node

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
        return self.function(*args, **kwargs)


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
    if state.saved_hooks or state.saved_hooks_disabled:
        from srcgrad.eager.saved import pack

        pack(node, formula)
    result.node = node
    return node


def stand_ins(items: Any) -> list[Any]:
    """Stand-ins for the tensors of a list."""
    return [stand_in(t.array.shape, t.array.dtype) if isinstance(t, Tensor) else t for t in items]


def _requires(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.node is not None or value.leaf_grad
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
    if array is None:
        array = operation.compute(values)
    several = isinstance(array, tuple | list)
    needs = [p for p, v in values.items() if _requires(v)] if state.recording else []
    if needs:
        wanted = tuple(p for p in needs if p in operation.rule.differentiable)
        floating = any(a.dtype.kind in "fc" for a in (array if several else (array,)) if hasattr(a, "dtype"))
        if wanted and floating:
            return _recorded(operation, values, wanted, array, several, facts, saved)
    if several:
        return tuple(_plain(a) for a in array)
    return _plain(array)


def _plain(array: Any) -> Any:
    if not hasattr(array, "dtype"):
        return array
    result: Tensor = new(Tensor)
    result.array = array
    if state.inference:
        result.inference = True
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
    formula = operation.formula(tensors, wanted, statics, known, key=key, lists={p: len(values[p]) for p in lists})
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
        if saved is not None:
            node.statics = saved
        return result
    first: Tensor = new(Tensor)
    first.array = array[0]
    node = record(first, operation.node_of(lists), formula, tuple(edges), values)
    node.outputs = len(array)
    node.shape = tuple(a.shape for a in array)
    node.dtype = tuple(a.dtype for a in array)
    if saved is not None:
        node.statics = saved
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
        results.append(made)
    return tuple(results)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


# --- elementwise operations, the fast way ----------------------------------------------------------------------------
def elementwise_unary(
    function: Callable[[Any], Any],
    operation: Operation,
    name: str,
    *,
    floats: bool = True,
    parameter: str = "x",
) -> Callable[[Tensor], Tensor]:
    """``f(input)`` of a function of one argument; ``floats``: integers become the default floating dtype."""
    formulas: list[Formula] = []
    kind = operation.node
    saves_result = saves_input = False

    def first() -> Formula:
        nonlocal saves_result, saves_input
        formula = operation.formula((parameter,), (parameter,), {})
        sources = [source for source, _ in formula.sources]
        saves_result, saves_input = RESULT in sources, INPUT in sources
        formulas.append(formula)
        return formula

    def f(input: Tensor) -> Tensor:
        try:
            a = input.array
        except AttributeError:
            raise TypeError(
                f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
            ) from None
        if a.dtype not in _FLOATING and floats:
            a = a.astype(dtypes.get_default_dtype().numpy)
        result: Tensor = new(Tensor)
        result.array = function(a)
        made = input.node
        if state.recording and (made is not None or input.leaf_grad):
            formula = formulas[0] if formulas else first()
            if input.alias is not None:
                made = input.grad_node()
            edge = (made, input.number) if made is not None else (accumulator(input), 0)
            record(result, kind, formula, (edge,), {parameter: input})
        elif state.inference:
            result.inference = True
        return result

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"``{name}`` of each element."
    return f


def elementwise_binary(
    function: Callable[[Any, Any], Any],
    operation: Operation,
    name: str,
    *,
    floats: bool = False,
    parameters: tuple[str, str] = ("x1", "x2"),
) -> Callable[[Any, Any], Tensor]:
    """``f(input, other)`` of a function of two arguments, one of which may be a number."""
    formulas: dict[Any, Formula] = {}
    kind = operation.node
    x1, x2 = parameters

    def formula_of(mask: int, alike: bool, numbers: int) -> Formula:
        tensors = tuple(p for p, is_number in zip(parameters, (numbers & 1, numbers & 2), strict=True) if not is_number)
        wanted = tuple(p for p, bit in zip(parameters, (1, 2), strict=True) if mask & bit)
        facts = {parameters[numbers - 1]: fact_of(1.0, "")} if numbers else None
        made = Formula(
            operation.rule, parameters, tensors, wanted, facts=facts, alike=alike, slots=operation.slots,
            outputs=parameters,
        )  # fmt: skip
        formulas[mask, alike, numbers] = made
        return made

    def f(input: Any, other: Any) -> Tensor:
        result: Tensor = new(Tensor)
        numbers = 0
        if isinstance(other, Tensor):
            if not isinstance(input, Tensor):
                numbers = 1
                a, b = input, other.array
                a, b, alike = settled(a, b, floats)
            else:
                a, b = input.array, other.array
                if a.dtype is b.dtype and a.dtype in _FLOATING:
                    alike = a.shape == b.shape
                else:
                    a, b, alike = settled(a, b, floats)
        else:
            numbers = 2
            a, b = input.array, other
            if type(b) is not float or a.dtype not in _FLOATING:
                a, b, alike = settled(a, b, floats, name)
            else:
                alike = True
        try:
            result.array = function(a, b)
        except ValueError:
            raise shape_error(a, b) from None
        if state.recording:
            mask = 0
            if not numbers & 1 and (input.node is not None or input.leaf_grad):
                mask = 1
            if not numbers & 2 and (other.node is not None or other.leaf_grad):
                mask |= 2
            if mask and OF_NUMPY[result.array.dtype].category >= 2:
                formula = formulas.get((mask, alike, numbers)) or formula_of(mask, alike, numbers)
                if numbers == 2:
                    edges: Any = (input.edge(), (None, 0))
                elif numbers == 1:
                    edges = ((None, 0), other.edge())
                else:
                    edges = (
                        input.edge() if mask & 1 else (None, 0),
                        other.edge() if mask & 2 else (None, 0),
                    )
                record(result, kind, formula, edges, {x1: input, x2: other})
                return result
        if state.inference:
            result.inference = True
        return result

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"``{name}`` of each pair of elements, broadcast."
    return f


def settled(a: Any, b: Any, floats: bool, name: str = "") -> tuple[Any, Any, bool]:
    """Operands in the dtype that PyTorch computes in; whether they have one shape and dtype, as they were given."""
    common = dtypes.result_type([_standing(a), _standing(b)])
    if floats and common.category < 2:
        common = dtypes.get_default_dtype()
    given = [value for value in (a, b) if hasattr(value, "dtype")]
    alike = all(value.dtype == common.numpy for value in given) and len({value.shape for value in given}) == 1
    return _as(a, common), _as(b, common), alike


def _standing(value: Any) -> tuple[dtypes.dtype, int]:
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return dtypes.of_number(value), NUMBER
    return dtypes.of(value), DIMENSIONED if value.ndim else ZERO_DIM


def _as(value: Any, common: dtypes.dtype) -> Any:
    if hasattr(value, "dtype"):
        return value if value.dtype == common.numpy else value.astype(common.numpy)
    return common.numpy.type(value)


def shape_error(a: Any, b: Any) -> RuntimeError:
    """The error about shapes that do not broadcast."""
    left, right = np.shape(a), np.shape(b)
    rank = max(len(left), len(right))
    padded = [(1,) * (rank - len(s)) + s for s in (left, right)]
    for dimension in reversed(range(rank)):
        m, n = padded[0][dimension], padded[1][dimension]
        if m != n and 1 not in (m, n):
            return RuntimeError(messages.BROADCAST.format(a=m, b=n, dimension=dimension))
    return RuntimeError(f"shapes {left} and {right} do not broadcast")
