"""Slices as text: what a call inlines, what it reads, and the calls that are refused."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gast
import numpy as np
import pytest

from srcgrad.errors import MissingRule, RuleError
from srcgrad.rules import table
from srcgrad.rules.facts import Array, Fact, Sequence, Static, Unknown, broadcast, fact_of, join, number, same_shape
from srcgrad.rules.table import constant, elementwise, is_constant, linear, lookup, method, operator_of, rule
from srcgrad.rules.template import Rule, UnsupportedCall, inline
from srcgrad.runtime import angle_slope
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import quote
from tests.parameters import for_each
from tests.rules.samples import SAMPLES
from tests.rules.test_rules import FUNCTIONS, bound, case_id


def text_of(expression: gast.AST) -> str:
    class Plain(gast.NodeTransformer):  # type: ignore[misc]
        def visit_GlobalReference(self, node: GlobalReference) -> gast.Name:
            return gast.Name(node.id, gast.Load(), None, None)

    return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(Plain().visit(expression))))


def dot(expression: gast.expr) -> gast.expr:
    match expression:
        case gast.Tuple(elts=elements):
            return gast.Tuple([dot(element) for element in elements], gast.Load())
        case gast.Name(id=name):
            return quote(f"{name}_dot")
    return quote("None")


def emitted(
    function: Callable[..., Any],
    call: str,
    *,
    wanted: list[str] | None = None,
    facts: Mapping[str, Fact] | None = None,
    scalar: bool = False,
    tangent: bool = False,
) -> list[str]:
    """The lines that a call ``f(...)`` inlines, as ``name = text``; the result is ``y``, its adjoint ``y_bar``."""
    made = lookup(function)
    assert made is not None
    node = quote(call)
    bound = made.bind(function, node.args, {k.arg: k.value for k in node.keywords})
    wanted = wanted or [p for p in bound if p in made.differentiable and not isinstance(bound[p], gast.Constant)]
    ask = made.tangent_slice if tangent else made.adjoint_slice
    given = {**bound, **{f"{p}_dot": dot(bound[p]) for p in wanted}} if tangent else bound
    piece = ask(wanted, given, scalar=scalar, facts=facts)
    binding = {**bound, made.result: quote("y"), made.adjoint: quote("y_bar")}
    binding |= {f"{p}_dot": dot(bound[p]) for p in wanted}
    statements, values = inline(piece, binding, Namer(["a", "b", "y"]).fresh)
    lines = [f"{s.targets[0].id} = {text_of(s.value)}" for s in statements]
    return lines + [f"{p}: {text_of(value)}" for p, value in values.items()]


MATRIX, VECTOR = Array((None, None), "float64"), Array((None,), "float64")


@pytest.mark.parametrize(
    ("function", "call", "options", "expected"),
    [
        (np.multiply, "f(a, b)", {}, ["x1: unbroadcast(y_bar * b, a)", "x2: unbroadcast(y_bar * a, b)"]),
        (np.multiply, "f(a, 2.0)", {}, ["x1: y_bar * 2.0"]),
        (np.multiply, "f(a, b)", {"scalar": True}, ["x1: y_bar * b", "x2: y_bar * a"]),
        (np.multiply, "f(a, b)", {"tangent": True}, ["z_dot: a_dot * b + b_dot * a"]),
        (np.add, "f(a, b)", {"tangent": True, "wanted": ["x1"]}, ["z_dot: rebroadcast(a_dot, y)"]),
        (operator.pow, "f(a, 3)", {}, ["x1: y_bar * 3 * a ** (3 - 1)"]),
        (operator.pow, "f(a, 2)", {}, ["x1: y_bar * 2.0 * a"]),
        (operator.pow, "f(a, 0)", {}, ["x1: y_bar * power_partial(a, 0, 1, 0)"]),
        (operator.pow, "f(a, n)", {"wanted": ["x1"]}, ["x1: unbroadcast(y_bar * power_partial(a, n, 1, 0), a)"]),
        (np.arctan2, "f(a, b)", {"wanted": ["x1"]}, ["x1: unbroadcast(y_bar * angle_slope(a, b), a)"]),
        (math.sin, "f(a)", {"scalar": True}, ["x: y_bar * math.cos(a)"]),
        (
            math.asin,
            "f(a)",
            {"scalar": True, "facts": {"x": number("float")}},
            ["x: quotient(y_bar, math.sqrt((1.0 - a) * (1.0 + a)))"],
        ),
        (np.arcsin, "f(a)", {"facts": {"x": VECTOR}}, ["x: y_bar / np.sqrt((1.0 - a) * (1.0 + a))"]),
        (np.arcsin, "f(a)", {"facts": {"x": Array((None,), "complex128")}}, ["x: y_bar / half_circle(a)"]),
        (np.arcsin, "f(a)", {}, ["x: quotient(y_bar, half_circle(a))"]),
        (np.sqrt, "f(a)", {"facts": {"x": VECTOR}}, ["x: y_bar / (2.0 * y)"]),
        (np.sqrt, "f(a)", {"facts": {"x": number("float")}}, ["x: quotient(y_bar, 2.0 * y)"]),
        (np.log, "f(a)", {}, ["x: y_bar / a"]),
        (np.log, "f(a)", {"facts": {"x": number("float")}}, ["x: quotient(y_bar, a)"]),
        (operator.pow, "f(a, 0.5)", {"facts": {"x1": VECTOR}}, ["x1: y_bar * 0.5 / a ** (1 - 0.5)"]),
        (operator.pow, "f(a, 0.5)", {}, ["x1: quotient(y_bar * 0.5, a ** (1 - 0.5))"]),
        (operator.pow, "f(2, a)", {}, ["x2: y_bar * y * math.log(2)"]),
        (abs, "f(a)", {"facts": {"x": VECTOR}}, ["x: y_bar * np.sign(a)"]),
        (abs, "f(a)", {}, ["x: y_bar * np.sign(np.conjugate(a))"]),
        (np.sin, "f(a, dtype='float64')", {"facts": {"x": VECTOR}}, ["x: y_bar * np.cos(a)"]),
        (
            np.sin,
            "f(a, dtype='float32')",
            {"facts": {"x": VECTOR}},
            ["x: unbroadcast(y_bar * np.cos(astype(a, 'float32')), a)"],
        ),
        (
            np.sin,
            "f(a, dtype='float32')",
            {"tangent": True},
            ["z_dot: rebroadcast(a_dot * np.cos(astype(a, 'float32')), y)"],
        ),
        (np.add, "f(a, 1, dtype=d)", {}, ["x1: unastype(y_bar, a, d)"]),
        (math.log, "f(a)", {"scalar": True}, ["x: y_bar / a"]),
        (np.exp, "f(a)", {}, ["x: y_bar * y"]),
        (np.sum, "f(a)", {}, ["a: unreduce(y_bar, a)"]),
        (np.sum, "f(a, axis=0)", {}, ["a: unreduce(y_bar, a, 0)"]),
        (np.sum, "f(a, axis=0)", {"tangent": True}, ["y_dot: np.sum(a_dot, axis=0)"]),
        (np.mean, "f(a)", {}, ["a: unreduce(y_bar / count(a), a)"]),
        (np.max, "f(a, 1)", {}, ["a: unreduce(y_bar, a, 1) * ties(a, y, 1)"]),
        (np.linalg.norm, "f(a)", {}, ["x: unreduce(safe_divide(y_bar, y), a) * np.conjugate(a)"]),
        (np.matmul, "f(a, b)", {}, ["x1: unmatmul_left(y_bar, a, b)", "x2: unmatmul_right(y_bar, a, b)"]),
        (
            np.matmul,
            "f(a, b)",
            {"facts": {"x1": MATRIX, "x2": VECTOR}},
            ["x1: y_bar[:, np.newaxis] * b", "x2: a.T @ y_bar"],
        ),
        (np.dot, "f(a, b)", {"facts": {"a": MATRIX, "b": MATRIX}}, ["a: y_bar @ b.T", "b: a.T @ y_bar"]),
        (np.linalg.inv, "f(a)", {}, ["a: -(y.mT @ y_bar @ y.mT)"]),
        (np.linalg.inv, "f(a)", {"tangent": True}, ["b_dot: -(y @ a_dot @ y)"]),
        (np.where, "f(c, a, 0.0)", {}, ["x: unbroadcast(np.where(c, y_bar, 0.0), a)"]),
        (np.maximum, "f(a, 0.0)", {}, ["x1: y_bar * wins(a, 0.0)"]),
        (
            max,
            "f(a, 0.0)",
            {},
            ["place = chosen_number((a, 0.0), True)", "args: (y_bar * (place == 0), y_bar * (place == 1))"],
        ),
        (max, "f(a)", {}, ["args: (untake(y_bar, a, chosen(a, True)),)"]),
        (
            np.einsum,
            "f('ij,jk->ik', a, b)",
            {},
            ["operands: (uneinsum('ik,jk->ij', a, y_bar, b), uneinsum('ik,ij->jk', b, y_bar, a))"],
        ),
        (
            np.einsum,
            "f('ij,jk->ik', a, b)",
            {"tangent": True},
            ["y_dot: np.einsum('ij,jk->ik', a_dot, b) + np.einsum('ij,jk->ik', a, b_dot)"],
        ),
        (math.hypot, "f(a, 1.0)", {"tangent": True, "wanted": ["coordinates"]}, ["z_dot: a_dot * safe_divide(a, y)"]),
        (np.concatenate, "f(a)", {}, ["arrays: unconcatenate(y_bar, a)"]),
        (np.transpose, "f(a)", {}, ["a: np.transpose(y_bar)"]),
        (np.clip, "f(a, min=0.0)", {}, ["a: masked(y_bar, is_within(a, 0.0, None))"]),
    ],
)
def test_a_call_inlines(function: Any, call: str, options: dict[str, Any], expected: list[str]) -> None:
    assert emitted(function, call, **options) == expected


def test_locals_are_renamed_and_the_callers_names_are_not_captured() -> None:
    made = lookup(angle_slope)
    assert made is not None
    node = quote("f(w, z_bar)")
    piece = made.adjoint_slice({"x"}, made.bind(angle_slope, node.args, {}))
    binding = {"y": quote("w"), "x": quote("z_bar"), "z": quote("y"), "z_bar": quote("x")}
    statements, values = inline(piece, binding, Namer(["w", "z_bar", "y", "x"]).fresh)
    assert [text_of(s.value) for s in statements] == ["angle_slope(z_bar, w)"]
    assert statements[0].targets[0].id == "w2"
    assert text_of(values["x"]) == "unbroadcast(x * (w2 * w2 - y * y), z_bar)"


def test_operands_named_like_parameters_are_kept_apart() -> None:
    lines = emitted(np.einsum, "f('i,i', subscripts, y_bar2)", wanted=["operands"])
    assert lines == [
        "operands: (uneinsum(',i->i', subscripts, y_bar, y_bar2), uneinsum(',i->i', y_bar2, y_bar, subscripts))"
    ]


def test_what_is_read() -> None:
    made = lookup(np.multiply)
    assert made is not None
    assert made.adjoint_slice({"x1"}, {"x1", "x2"}).reads == {"x2"}
    assert made.adjoint_slice({"x1"}, {"x1", "x2"}).shapes == {"x1"}
    made = lookup(np.exp)
    assert made is not None
    assert made.adjoint_slice({"x"}, {"x"}).reads == {"z"}
    made = lookup(np.sum)
    assert made is not None
    piece = made.adjoint_slice({"a"}, {"a"})
    assert (piece.reads, piece.shapes) == (frozenset(), {"a"})


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("function", "call", "message"),
    [
        (np.sum, "f(a, out=b)", "np.sum: the argument 'out' is not supported"),
        (np.sin, "f(a, b)", "np.sin: the argument 'out' is not supported"),
        (np.sin, "f(a, where=m)", "np.sin: the argument 'where' is not supported: where it is false the result"),
        (np.clip, "f(a, 0, 1, where=m)", "np.clip: the argument 'where' is not supported: where it is false"),
        (np.add, "f(a, b, c)", "np.add: the argument 'out' is not supported"),
        (np.add, "f(a, b, signature='dd->d')", "np.add: the argument 'signature' is not supported"),
        (np.modf, "f(a, b, None)", "np.modf: the argument 'out' is not supported"),
        (np.sign, "f(a, dtype=d)", "np.sign: the argument 'dtype' is not supported"),
        (math.sin, "f(a, dtype=d)", "math.sin: the argument 'dtype' is not supported"),
        (np.nan_to_num, "f(a, copy=False)", "np.nan_to_num: the argument 'copy' must be the literal True"),
        (np.einsum, "f(s, *ops)", "np.einsum: the number of arguments after * is not known when this is compiled"),
        (sorted, "f(a, key=k)", "sorted: the argument 'key' is not supported"),
        (max, "f(a, default=d)", "max: the argument 'default' is not supported"),
        (pow, "f(a, b, m)", "pow"),
        (np.sum, "f(a, a=b)", "np.sum: the argument 'a' is given twice"),
    ],
)
def test_a_form_of_call_without_a_derivative_is_refused_by_name(function: Any, call: str, message: str) -> None:
    node = quote(call)
    made = lookup(function)
    assert made is not None
    with pytest.raises(UnsupportedCall) as refusal:
        made.bind(function, node.args, {k.arg: k.value for k in node.keywords})
    assert str(refusal.value).startswith(message)


def test_neutral_arguments_are_accepted() -> None:
    assert emitted(np.sum, "f(a, 0, None, None, True)") == ["a: unreduce(y_bar, a, 0, True)"]
    assert emitted(np.sin, "f(a, out=None, where=True)") == ["x: y_bar * np.cos(a)"]
    assert emitted(np.sin, "f(a, None, casting='unsafe', order=o, subok=s, dtype=None)") == ["x: y_bar * np.cos(a)"]


# --- users' rules ----------------------------------------------------------------------------------------------------
def softplus(x: Any) -> Any:
    return np.log1p(np.exp(x))


def scaled(a: Any, factor: float = 2.0) -> Any:
    return a * factor


def halves(x: Any) -> Any:
    return x / 2.0


def branching(x: Any) -> Any:
    return x


def test_users_write_rules_the_same_way() -> None:
    @elementwise(softplus)
    def softplus_rule(x, *, y, y_bar):  # type: ignore[no-untyped-def]
        """The logistic function."""
        return y_bar / (1.0 + np.exp(-x))

    assert lookup(softplus) is softplus_rule
    assert emitted(softplus, "f(a)") == ["x: y_bar / (1.0 + np.exp(-a))"]
    (x_bar,) = softplus_rule.compile_adjoint({"x"}, {"x"})(0.0, softplus(0.0), 1.0)
    assert x_bar == 0.5

    @linear(scaled, "a")
    def scaled_rule(a, factor=2.0, *, y, y_bar):  # type: ignore[no-untyped-def]
        return y_bar * factor

    assert emitted(scaled, "f(a)", tangent=True) == ["y_dot: scaled(a_dot)"]

    constant(halves)
    assert is_constant(halves)

    @rule(halves)
    def halves_rule(x, *, y, y_bar):  # type: ignore[no-untyped-def]
        return y_bar / 2.0

    assert not is_constant(halves)
    with pytest.raises(MissingRule, match="halves has no tangent"):
        halves_rule.tangent_slice({"x"}, {"x"})


def test_a_rule_with_control_flow_is_refused() -> None:
    with pytest.raises(RuleError, match="only assignments"):

        @rule(branching)
        def branching_rule(x, *, y, y_bar):  # type: ignore[no-untyped-def]
            if y_bar:
                return y_bar
            return 0.0


def test_a_rule_without_result_and_adjoint_is_refused() -> None:
    with pytest.raises(RuleError, match="keyword-only"):

        @rule(branching)
        def branching_rule(x, y_bar):  # type: ignore[no-untyped-def]
            return y_bar


@pytest.fixture(autouse=True)
def table_as_it_was() -> Any:
    table.rules()
    before, constants = dict(table._rules), set(table._constants)
    yield
    table._rules.clear()
    table._rules.update(before)
    table._constants.clear()
    table._constants.update(constants)


# --- the table -------------------------------------------------------------------------------------------------------
def test_look_ups() -> None:
    assert lookup(np.sin) is lookup(math.sin)
    assert lookup(operator_of(gast.MatMult)) is lookup(np.matmul)
    assert lookup([]) is None
    assert not is_constant([])
    assert method("sum") is np.sum
    assert method("fill") is None
    assert table.attribute("T") is np.transpose
    assert is_constant(np.floor)
    assert isinstance(lookup(np.zeros), Rule) and not lookup(np.zeros).differentiable  # type: ignore[union-attr]


# --- facts -----------------------------------------------------------------------------------------------------------
F64 = "float64"


@pytest.mark.parametrize(
    ("function", "arguments", "literals", "expected"),
    [
        (np.multiply, {"x1": Array((3, 1), F64), "x2": Array((4,), "float32")}, {}, Array((3, 4), F64)),
        (np.multiply, {"x1": Array(("x.0",), "float32"), "x2": Static(2.0)}, {}, Array(("x.0",), "float32")),
        (operator.mul, {"x1": number("float"), "x2": number("int")}, {}, number("float")),
        (np.multiply, {"x1": number("float"), "x2": number("int")}, {}, number(F64)),
        (math.sin, {"x": number("float")}, {}, number("float")),
        (np.sin, {"x": number("float")}, {}, number(F64)),
        (np.sin, {"x": Array((3,), "int64")}, {}, Array((3,), F64)),
        (np.sum, {"a": Array((2, 3), F64)}, {}, number(F64)),
        (np.sum, {"a": Array((2, "x.1"), F64)}, {"axis": 0}, Array(("x.1",), F64)),
        (np.sum, {"a": Array((2, 3), F64)}, {"axis": 1, "keepdims": True}, Array((2, 1), F64)),
        (np.sum, {"a": Array((2, 3), F64), "axis": number("int")}, {}, Array(None, F64)),
        (np.matmul, {"x1": Array((2, 3), F64), "x2": Array((3,), F64)}, {}, Array((2,), F64)),
        (np.dot, {"a": Array((3,), F64), "b": Array((3,), F64)}, {}, number(F64)),
        (np.reshape, {"a": Array((6,), F64), "shape": Unknown()}, {"shape": (2, -1)}, Array((2, None), F64)),
        (np.transpose, {"a": Array((2, "n"), F64)}, {}, Array(("n", 2), F64)),
        (np.zeros, {"shape": Sequence("tuple", (number("int"), Static(3)))}, {}, Array((None, 3), F64)),
        (np.stack, {"arrays": Sequence("list", None, Array((3,), F64))}, {}, Array((None, None), F64)),
    ],
)
def test_facts_of_results(function: Any, arguments: dict[str, Fact], literals: dict[str, Any], expected: Fact) -> None:
    made = lookup(function)
    assert made is not None
    assert made.shape(arguments, literals, function) == expected


@for_each(FUNCTIONS, case_id, by_day=4)
def test_facts_are_true_of_samples(case: tuple[Rule, Callable[..., Any]]) -> None:
    """Whatever a rule promises of its result holds for every sample of the numeric test."""
    made, function = case
    for sample in SAMPLES[function]:
        call = bound(made, function, sample)
        arguments: dict[str, Fact] = {p: fact_of(v, p) for p, v in call.values.items()}
        literals = {
            p: v for p, v in call.values.items() if isinstance(v, int | str | tuple | None) and p != made.variadic
        }
        holds(made.shape(arguments, literals, function), call.evaluate(call.values), function, sizes(call.values))
        holds(made.shape(arguments, {}), call.evaluate(call.values), function, sizes(call.values))


def sizes(values: Mapping[str, Any]) -> dict[str, int]:
    """The dimensions that symbols of the facts stand for, of arrays and integers, those in sequences included."""
    arrays = [each for p, v in values.items() for each in _arrays(p, v)]
    lengths = {f"{p}.{i}": n for p, v in arrays if isinstance(v, np.ndarray) for i, n in enumerate(v.shape)}
    return lengths | {f"{p}.v": v for p, v in arrays if type(v) is int}


def _arrays(p: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, np.ndarray) or type(value) is int:
        yield p, value
    for i, part in enumerate(value if isinstance(value, tuple | list) else ()):
        yield from _arrays(f"{p}[{i}]", part)


def holds(fact: Fact, value: Any, function: Any, symbols: Mapping[str, int]) -> None:
    if isinstance(fact, Sequence):
        assert isinstance(value, tuple if fact.kind == "tuple" else list), (function, fact)
        items = fact.items if fact.items is not None else (fact.item or Unknown(),) * len(value)
        for item, part in zip(items, value, strict=True):
            holds(item, part, function, symbols)
    if not isinstance(fact, Array):
        return
    if fact.scalar:
        assert not isinstance(value, np.ndarray), function
    if fact.shape is not None:
        assert len(fact.shape) == np.ndim(value), (function, fact, value)
        for dimension, size in zip(fact.shape, np.shape(value), strict=True):
            if dimension is not None:
                assert symbols.get(dimension, -1) == size if isinstance(dimension, str) else dimension == size, (
                    function,
                    fact,
                )
    if fact.dtype is not None:
        actual = str(value.dtype) if isinstance(value, np.ndarray | np.generic) else type(value).__name__
        assert fact.dtype == actual, (function, fact, value)


def test_joining_and_broadcasting() -> None:
    assert join(Array((2, 3), F64), Array((4, 3), F64)) == Array((None, 3), F64)
    assert join(Array((2,), F64), Array((2, 3), F64)) == Array(None, F64)
    assert join(Static(1.0), Static(2.0)) == number("float")
    assert join(number("float"), Array((3,), F64)) == Array(None, None, real=True)
    assert join(Sequence("list", (number(), number())), Sequence("list", (number(),))) == Sequence(
        "list", None, number()
    )
    assert broadcast(Array(("n",), F64), Array((1,), F64)) == Array(("n",), F64)
    assert broadcast(Array(("n",), F64), Array(("m",), F64)) == Array((None,), F64)
    assert broadcast(Array(("n",), F64), Array((3,), F64)) == Array((3,), F64)
    assert same_shape(Array(("n", 3)), Array(("n", 3)))
    assert not same_shape(Array((None,)), Array((None,)))
