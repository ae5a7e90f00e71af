"""The whole table against numbers: adjoints, tangents, their duality, broadcasting, dtypes, and what is read.

Second derivatives are tested through the compiler; that every order exists is ``test_table_is_closed``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np
import pytest

from srcgrad.rules.facts import fact_of
from srcgrad.rules.formula import constant, displayed, literal
from srcgrad.rules.laws import is_own
from srcgrad.rules.placing import operands
from srcgrad.rules.slicing import Slice
from srcgrad.rules.table import rules
from srcgrad.rules.template import Rule
from srcgrad.runtime.refusals import RefusedMode
from srcgrad.syntax.globals import GlobalReference
from tests.parameters import at_night, for_each
from tests.rules.samples import ALIKE, ANALYTIC, SAMPLES, Call
from tests.rules.trees import is_floating, leaves, map_leaves, moved, pairing, poisoned, random_like, vector

RULES = [rule for rule in rules() if is_own(rule.template)]
FUNCTIONS = [(rule, function) for rule in RULES for function in rule.functions]


@dataclass
class Bound:
    """A sample call of a ruled function, bound to the parameters of its rule."""

    rule: Rule
    function: Callable[..., Any]
    expressions: Mapping[str, gast.expr]
    values: dict[str, Any]

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        args, kwargs = [], {}
        for p in (*self.rule.parameters, *self.rule.options):
            if p not in values or (p in self.rule.options and p not in self.keywords):
                continue
            if p == self.rule.variadic:
                args += values[p]
            elif p in self.keywords:
                kwargs[self.keywords[p]] = values[p]
            else:
                args.append(values[p])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.random.seed(7)  # the same draws at every evaluation
            return self.function(*args, **kwargs, **self.ignored)

    keywords: Mapping[str, str]
    ignored: Mapping[str, Any]

    @property
    def wanted(self) -> list[str]:
        return [
            p
            for p in self.rule.parameters
            if p in self.rule.differentiable and p in self.values and leaves(self.values[p])
        ]

    def arguments(self) -> list[Any]:
        return [self.values[p] for p in (*self.rule.parameters, *self.rule.options) if p in self.values]


def bound(rule: Rule, function: Callable[..., Any], sample: Call, *, floats: bool = False) -> Bound:
    """Literals are bound as literals, where a rule may care; others as names, and so are floats without ``floats``."""
    owner: dict[int, Any] = {}

    def expression(value: Any) -> gast.expr:
        is_literal = _is_literal(value) or (floats and isinstance(value, float))
        made = constant(value) if is_literal else gast.Name("x", gast.Load(), None, None)
        owner[id(made)] = value
        return made

    args = [expression(value) for value in sample.args]
    kwargs = {name: expression(value) for name, value in sample.kwargs.items()}
    expressions = rule.bind(function, args, kwargs)
    values = {}
    for p, made in expressions.items():
        if p == rule.variadic:
            values[p] = tuple(owner[id(e)] for e in made.elts)
        else:
            values[p] = owner.get(id(made), literal(made)[1])  # one that is implied is a literal
    meant = {name: rule.synonyms.get(name, name) for name in kwargs}
    keywords = {p: name for name, p in meant.items() if p in expressions and p != rule.variadic}
    ignored = {name: sample.kwargs[name] for name in kwargs if name not in keywords.values()}
    return Bound(rule, function, expressions, values, keywords, ignored)


def _is_literal(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_literal(item) for item in value)
    return value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and np.isinf(value))


def directional(call: Bound, directions: Mapping[str, Any]) -> Any:
    """J x_dot: a complex step where the function continues, else central differences extrapolated (Richardson)."""

    alike = ALIKE.get(call.function, lambda y, like: y)

    def at(step: complex) -> Any:
        made = {p: moved(v, directions[p], step) if p in directions else v for p, v in call.values.items()}
        return vector(alike(call.evaluate(made), call.evaluate(call.values)))

    is_complex = any(np.iscomplexobj(leaf) for v in call.values.values() for leaf in leaves(v))
    if call.function in ANALYTIC and not is_complex and not set(call.rule.options) & set(call.values):
        return at(1e-30j).imag / 1e-30
    h = 2e-3
    d1, d2, d3 = ((at(k * h) - at(-k * h)) / (2 * k * h) for k in (1, 2, 3))
    return 1.5 * d1 - 0.6 * d2 + 0.1 * d3


def modes(call: Bound) -> dict[str, tuple[Any, Any]]:
    """The ways in which the two machines ask for a slice: by expressions, by names, with facts."""
    # An option whose values are restricted is a literal for both machines.
    unknown = gast.Name("x", gast.Load(), None, None)
    names = {p: e if p in call.rule.allowed else unknown for p, e in call.expressions.items()}
    facts = {p: fact_of(v, p) for p, v in call.values.items()}
    made = {"expressions": (call.expressions, None), "facts": (call.expressions, facts)}
    if call.rule.variadic is None:
        made["names"] = (names, None)
    return made


@dataclass
class Slices:
    """The compiled text of a rule for some of its arguments."""

    wanted: list[str]
    reading: tuple[Slice, Slice]  # adjoint and tangent
    adjoint: Callable[..., Any]
    tangent: Callable[..., Any]


def slices(call: Bound, *, alone: bool = True, known: bool = False) -> list[Slices]:
    """What the rule gives for all wanted arguments, and for each ``alone``, in every mode; each text once.

    ``known``: in the mode alone in which facts are known, which is the usual one.
    """
    made: dict[Any, Slices] = {}
    apart = [[p] for p in call.wanted] if alone and len(call.wanted) > 1 else []
    ways = modes(call)
    for given, facts in [ways["facts"]] if known else ways.values():
        for wanted in [call.wanted, *apart]:
            named = operands(call.rule, given, None)
            pair = (
                call.rule.adjoint_slice(wanted, named, facts=facts),
                call.rule.tangent_slice(wanted, named, facts=facts),
            )
            key = (tuple(wanted), *(part for piece in pair for part in identity_of(piece)))
            if key not in made:
                adjoint = call.rule.compile_adjoint(wanted, given, facts=facts)
                made[key] = Slices(wanted, pair, adjoint, call.rule.compile_tangent(wanted, given, facts=facts))
    return list(made.values())


def identity_of(piece: Slice) -> tuple[Any, ...]:
    """Equal for slices with the same text, globals and reads."""
    trees = (*piece.body, *piece.values.values())
    bindings = [id(n.binding.value) for tree in trees for n in gast.walk(tree) if isinstance(n, GlobalReference)]
    return (*map(gast.dump, trees), *bindings, *piece.values, piece.reads, piece.shapes)


def case_id(case: Any) -> str:
    return displayed(case[1])


def test_every_rule_has_samples() -> None:
    missing = [displayed(function) for _, function in FUNCTIONS if function not in SAMPLES]
    assert not missing, f"add samples to tests/rules/samples: {missing}"
    without = [rule.name for rule in RULES if not any(SAMPLES.get(f) for f in rule.functions)]
    assert not without


def test_every_parameter_is_given_by_a_sample() -> None:
    """Each form of call that a rule accepts is tried: a parameter that no sample gives is a claim without a test."""
    missing = {}
    for rule in RULES:
        given = {p for f in rule.functions for sample in SAMPLES[f] for p in bound(rule, f, sample).values}
        if not set(rule.parameters) <= given:
            missing[displayed(rule.functions[0])] = set(rule.parameters) - given
    assert not missing


@pytest.mark.sampled
@pytest.mark.parametrize("case", FUNCTIONS, ids=case_id)
def test_every_sample(case: tuple[Rule, Callable[..., Any]]) -> None:
    """Adjoint and tangent agree with numbers and each other, and say truly what they read.

    In one direction; in every mode and for each argument alone at the first sample of each form of call.
    """
    rule, function = case
    rng = np.random.default_rng(1)
    seen: set[frozenset[str]] = set()
    for sample in SAMPLES[function]:
        call = bound(rule, function, sample)
        form = frozenset(call.values)
        judge(call, rng, directions=1, known=form in seen)
        seen.add(form)


@pytest.mark.nightly
@pytest.mark.parametrize("case", FUNCTIONS, ids=case_id)
def test_every_sample_in_every_mode(case: tuple[Rule, Callable[..., Any]]) -> None:
    """The same in three directions, in every mode and for each argument alone at every sample."""
    rule, function = case
    rng = np.random.default_rng(1)
    for sample in SAMPLES[function]:
        judge(bound(rule, function, sample), rng, directions=3)


def judge(call: Bound, rng: np.random.Generator, directions: int, known: bool = False) -> None:
    """What the rule gives for one call, in one mode where ``known``."""
    y = call.evaluate(call.values)
    if not call.wanted or not leaves(y):
        return
    made = slices(call, alone=not known, known=known)
    agree_with_numbers_and_each_other(call, y, made, rng, directions)
    reads_are_truthful(call, y, made, rng)
    if isinstance(y, np.ndarray) and y.dtype.kind in "iu":
        nothing_passes_through_integers(call, y, made, rng)


def agree_with_numbers_and_each_other(
    call: Bound, y: Any, made: list[Slices], rng: np.random.Generator, directions: int
) -> None:
    """Each tangent is the directional derivative, each adjoint its transpose."""
    for _ in range(directions):
        y_bar = random_like(y, rng)
        x_dot = {p: random_like(call.values[p], rng) for p in call.wanted}
        alone = {p: directional(call, {p: x_dot[p]}) for p in call.wanted if any([p] == m.wanted for m in made)}
        together = directional(call, x_dot) if len(call.wanted) > 1 else None
        for piece in made:
            expected = alone[piece.wanted[0]] if len(piece.wanted) == 1 else together
            y_dot = piece.tangent(*call.arguments(), y, *(x_dot[p] for p in piece.wanted))
            close(vector(y_dot), expected, rtol=1e-7, atol=1e-8)
            for shape, other in zip(leaves(y), leaves(y_dot), strict=True):
                assert np.shape(shape) == np.shape(other)
            x_bar = piece.adjoint(*call.arguments(), y, y_bar)
            for p, partial in zip(piece.wanted, x_bar, strict=True):
                fit(partial, call.values[p])
            right = sum(pairing(b, x_dot[p]) for p, b in zip(piece.wanted, x_bar, strict=True))
            close(pairing(y_bar, y_dot), right, rtol=1e-10, atol=1e-11)


def close(got: Any, expected: Any, rtol: float, atol: float) -> None:
    """``assert_allclose``, whose report is made only where there is something to report."""
    assert np.shape(got) == np.shape(expected)
    with np.errstate(invalid="ignore"):
        if not np.all(np.abs(got - expected) <= atol + rtol * np.abs(expected)):
            np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)


def reads_are_truthful(call: Bound, y: Any, made: list[Slices], rng: np.random.Generator) -> None:
    """What a slice says that it does not read may be poisoned; of what it reads the shape of, the values may be."""
    y_bar = random_like(y, rng)
    for piece in made:
        if len(piece.wanted) > 1:
            continue
        x_dot = random_like(call.values[piece.wanted[0]], rng)
        for read, function, seed in zip(piece.reading, (piece.adjoint, piece.tangent), (y_bar, x_dot), strict=True):
            expected = function(*call.arguments(), y, seed)
            poison = {p: replaced(v, p, read) for p, v in call.values.items()}
            arguments = [poison[p] for p in (*call.rule.parameters, *call.rule.options) if p in poison]
            result = function(*arguments, replaced(y, call.rule.result, read), seed)
            assert np.array_equal(vector(expected), vector(result), equal_nan=True), read


def nothing_passes_through_integers(call: Bound, y: Any, made: list[Slices], rng: np.random.Generator) -> None:
    """Where a ``dtype`` makes the result one of integers, whatever meets its cotangent or moves its arguments."""
    y_bar = rng.standard_normal(y.shape)
    for piece in made:
        for partial in piece.adjoint(*call.arguments(), y, y_bar):
            assert not np.any(vector(partial))
        y_dot = piece.tangent(*call.arguments(), y, *(random_like(call.values[p], rng) for p in piece.wanted))
        assert np.shape(y_dot) == np.shape(y) and not np.any(y_dot)


def fit(partial: Any, value: Any) -> None:
    """A cotangent has the structure and the shapes of its value."""
    if isinstance(value, tuple | list):
        assert len(partial) == len(value)
        for part, item in zip(partial, value, strict=True):
            fit(part, item)
    elif is_floating(value):
        assert np.shape(partial) == np.shape(value)
        assert np.iscomplexobj(partial) <= np.iscomplexobj(value)


def replaced(value: Any, name: str, piece: Any) -> Any:
    if name in piece.reads:
        return value
    return poisoned(value) if name in piece.shapes else object()


ELEMENTWISE = [
    (rule, f)
    for rule, f in FUNCTIONS
    if isinstance(f, np.ufunc) and rule.kind == "elementwise" and rule.differentiable
    and "d" * f.nin in [loop.split("->")[0] for loop in f.types]  # others take integers, or complex numbers only
]  # fmt: skip
SHAPES = [((2, 3), (3,)), ((2, 1), (1, 3)), ((), (3,)), ((0, 3), (3,)), ((1,), ()), ((2, 3), (1, 1)), ((1, 3), (0, 3))]


@for_each(ELEMENTWISE, case_id, by_day=3)
def test_elementwise_rules_broadcast(case: tuple[Rule, Callable[..., Any]]) -> None:
    rule, function = case
    rng = np.random.default_rng(3)
    low = 1.2 if function is np.arccosh else 0.2
    for shapes in SHAPES:
        arguments = [np.asarray(low + 0.7 * rng.random(s)) for s in (*shapes, (), ())[: function.nin]]
        given = rule.parameters[: function.nin]
        z = function(*arguments)
        z_bar = random_like(np.asarray(z), rng)
        wanted = [p for p in given if p in rule.differentiable]
        dots = {p: np.asarray(rng.standard_normal(np.shape(a))) for p, a in zip(given, arguments, strict=True)}
        bars = rule.compile_adjoint(wanted, given)(*arguments, z, z_bar)
        for p, bar in zip(wanted, bars, strict=True):
            assert np.shape(bar) == np.shape(dots[p])
        for active in ([wanted] if len(wanted) == 1 else [wanted, *([p] for p in wanted)]):
            z_dot = rule.compile_tangent(active, given)(*arguments, z, *(dots[p] for p in active))
            assert np.shape(z_dot) == np.shape(z)
            right = sum(pairing(bar, dots[p]) for p, bar in zip(wanted, bars, strict=True) if p in active)
            np.testing.assert_allclose(pairing(z_bar, z_dot), right, rtol=1e-10, atol=1e-12)


#: What is like a value of integers is no cotangent of it that a rule asks for: nobody wants one.
NEVER_OF_INTEGERS = {"division", "repad_chosen", "unreduce_loss"}
OF_THE_RUNTIME = [
    (rule, f)
    for rule, f in FUNCTIONS
    if displayed(f).startswith("srcgrad.runtime.") and f.__name__ not in NEVER_OF_INTEGERS
]  # fmt: skip


@for_each(OF_THE_RUNTIME, case_id, by_day=3)
def test_transposes_agree_beside_integers(case: tuple[Rule, Callable[..., Any]]) -> None:
    """What casts to the dtype of another argument, or is cut by it, has a transpose that does so too."""
    rule, function = case
    rng = np.random.default_rng(6)
    for sample in SAMPLES[function]:
        call = bound(rule, function, sample)
        for p, value in call.values.items():
            if p in call.wanted or not isinstance(value, np.ndarray) or value.dtype.kind != "f":
                continue
            call.values[p] = (value * 3).astype(np.int64)
            try:
                y = call.evaluate(call.values)
            except (TypeError, ValueError, RefusedMode):
                continue  # the function itself takes no integers
            for piece in slices(call, alone=False, known=True) if leaves(y) else ():
                y_bar, x_dot = random_like(y, rng), [random_like(call.values[q], rng) for q in piece.wanted]
                y_dot = piece.tangent(*call.arguments(), y, *x_dot)
                x_bar = piece.adjoint(*call.arguments(), y, y_bar)
                right = sum(map(pairing, x_bar, x_dot))
                close(pairing(y_bar, y_dot), right, rtol=1e-10, atol=1e-11)
            call.values[p] = value


SINGLE = (np.dtype(np.float32), np.dtype(np.complex64))


def single(x: Any) -> Any:
    return map_leaves(
        lambda leaf: (
            np.asarray(leaf, np.complex64 if np.iscomplexobj(leaf) else np.float32)
            if isinstance(leaf, np.ndarray)
            else leaf
        ),
        x,
    )


@pytest.mark.parametrize("modes", [pytest.param("some", marks=pytest.mark.sampled), at_night("every")])
@pytest.mark.parametrize("case", FUNCTIONS, ids=case_id)
def test_float32_is_kept(case: tuple[Rule, Callable[..., Any]], modes: str) -> None:
    """Cotangents of float32 arrays are float32; so is a tangent where the result is.

    By day at the first sample of each form of call, the very first in every mode.
    """
    rule, function = case
    rng = np.random.default_rng(4)
    seen: set[frozenset[str]] = set()
    for sample in SAMPLES[function]:
        call = bound(rule, function, sample)
        form = frozenset(call.values)
        if modes == "some" and form in seen:
            continue
        known = modes == "some" and bool(seen)
        seen.add(form)
        call.values = {p: single(v) for p, v in call.values.items()}
        y = call.evaluate(call.values)
        weak = any(isinstance(leaf, float | complex) and not isinstance(leaf, np.generic) for leaf in leaves(y))
        if not call.wanted or not leaves(y) or weak:
            continue
        for piece in slices(call, alone=False, known=known):
            y_bar = random_like(y, rng)
            x_bar = piece.adjoint(*call.arguments(), y, y_bar)
            for p, partial in zip(piece.wanted, x_bar, strict=True):
                for leaf, value in zip(leaves(partial), leaves(call.values[p]), strict=True):
                    if isinstance(value, np.ndarray) and all(b.dtype in SINGLE for b in leaves(y)):
                        assert leaf.dtype in SINGLE, (displayed(function), p, sample)
            x_dot = [random_like(call.values[p], rng) for p in piece.wanted]
            y_dot = piece.tangent(*call.arguments(), y, *x_dot)
            for leaf, value in zip(leaves(y_dot), leaves(y), strict=True):
                strong = all(isinstance(dot, np.ndarray) for x in x_dot for dot in leaves(x))
                if isinstance(value, np.ndarray) and strong:
                    assert leaf.dtype == value.dtype, (displayed(function), "tangent", sample)
