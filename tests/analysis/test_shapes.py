"""What is inferred of every name, and that it is true of every value that the corpus' programs give it."""

from __future__ import annotations

import inspect
import linecache
import sys
import warnings
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import gast
import numpy as np
import pytest

from srcgrad.analysis.cfg import walk
from srcgrad.analysis.changes import Put
from srcgrad.analysis.indices import indexed
from srcgrad.analysis.shapes import NOTHING_KNOWN, Outcome, inert, result, same_shape, shapes
from srcgrad.analysis.symbols import seen_from_inside
from srcgrad.api.sizes import dimensions_of, symbols_of
from srcgrad.ir.normal_form import Bind, Call, Callee, Derived, Function, Guarded, Held, Return, Unpack, unguarded
from srcgrad.rules.facts import (
    Array,
    Dimension,
    Fact,
    Mapping,
    Object,
    Sequence,
    Static,
    Unknown,
    fact_of,
    integer,
    is_natural,
    is_size,
    number,
    taken_apart,
)
from tests.corpus import OF_DATA
from tests.corpus.example import Case
from tests.derivatives import fresh
from tests.frontend.running import bare
from tests.normal_forms import normal_form, normal_form_of
from tests.parameters import some_by_day


def facts_of(
    function: Callable[..., Any], *arguments: Any, with_sizes: bool = False
) -> tuple[Function, dict[str, Fact]]:
    named = dict(zip(inspect.signature(function).parameters, arguments, strict=True))
    normal = normal_form(function)
    symbols = symbols_of(arguments) if with_sizes else None
    entry = {name: fact_of(named[name], name, symbols) for name in normal.parameters}
    return normal, dict(shapes(normal, entry, outcome_of))


def outcome_of(callee: Callee, facts: tuple[Fact, ...], active: tuple[Callee, ...] = ()) -> Outcome:
    """What a callee returns, nothing known of recursive ones."""
    if callee in active or isinstance(callee.function, Derived):
        return NOTHING_KNOWN
    if isinstance(callee.function, Guarded):
        inside = outcome_of(unguarded(callee), facts, active)
        return Outcome(Sequence("tuple", (inside.result or Unknown(), Unknown())), inside.put)
    normal = normal_form_of(callee)
    seen = seen_from_inside(facts, normal.parameters)
    entry = dict(zip(normal.parameters, seen.inside, strict=True))
    made = result(normal, shapes(normal, entry, lambda c, f: outcome_of(c, f, (*active, callee))))
    return Outcome(seen.outside(made), Put(Unknown()))


VECTOR, MATRIX = np.ones(4), np.ones((4, 3))


# --- one program per fact --------------------------------------------------------------------------------------------
def loop_sum(x, n):
    s = 0.0
    for i in range(n):
        s = s + x[i]
    return s


def test_a_python_float_that_meets_float64_keeps_a_dtype():
    _, facts = facts_of(loop_sum, VECTOR, 3)
    assert facts["x"] == Array(("x.0",), "float64")
    assert facts["s"] == number("float64")
    assert facts["i"] == number("int")


def test_a_python_float_that_meets_float32_has_no_one_dtype():
    _, facts = facts_of(loop_sum, VECTOR.astype(np.float32), 3)
    assert facts["s"] == number(None)


def grows(x):
    s = 0.0
    for _ in range(2):
        s = s + x
    return s


def test_a_number_that_becomes_an_array_has_no_rank():
    normal, facts = facts_of(grows, VECTOR)
    assert facts["s"] == Array(None, "float64")
    assert result(normal, facts) == Array(None, "float64")


def indexing(m, i):
    row = m[i]
    entry = m[i, 0]
    column = m[:, 1]
    new = m[None, :, ..., 2]
    part = m[1:, :2]
    rows = m[[0, 2, 2]]
    mask = m > 0.0
    chosen = m[mask]
    pairs = m[[0, 1], [1, 2]]
    return row, entry, column, new, part, rows, mask, chosen, pairs


def test_indexing():
    _, facts = facts_of(indexing, MATRIX, 1)
    float64 = "float64"
    assert facts["row"] == Array(("m.1",), float64)
    assert facts["entry"] == number(float64)
    assert facts["column"] == Array(("m.0",), float64)
    assert facts["new"] == Array((1, "m.0"), float64)
    assert facts["part"] == Array(("m.0-1", "part.1"), float64)
    assert facts["rows"] == Array((3, "m.1"), float64)
    assert facts["mask"] == Array(("m.0", "m.1"), "bool")
    assert facts["chosen"] == Array(("chosen.0",), float64)
    assert facts["pairs"] == Array((2,), float64)


def slices(u):
    inner = u[1:-1]
    late = u[2:]
    early = u[:-2]
    twice = late[:]
    again = u[1:][:-1]
    back = u[::-1]
    return inner, late, early, twice, again, back


def test_slices_that_cut_off_as_much_are_as_long():
    _, facts = facts_of(slices, VECTOR)
    for name in ("inner", "late", "early", "twice", "again"):
        assert facts[name] == Array(("u.0-2",), "float64"), name
    assert facts["back"] == Array(("u.0",), "float64")


BOUNDS = (None, -3, -2, -1, 0, 1, 2, 3)


def test_a_length_by_symbols_holds_of_every_length():
    """One symbol, one length: empty arrays and slices longer than the array included."""
    index = [slice(a, b, step) for a in BOUNDS for b in BOUNDS for step in (None, 1, -1, 2)]
    bound = [gast.Constant(b, None) for b in BOUNDS]
    nodes = dict(zip(BOUNDS, bound, strict=True))
    unknown = Array(("x.0",), "float64")
    known: dict[object, list[slice]] = {}
    for part in index:
        step = None if part.step is None else gast.Constant(part.step, None)
        given = gast.Slice(nodes.get(part.start), nodes.get(part.stop), step)
        made = indexed(unknown, given, lambda _: Unknown())
        assert isinstance(made, Array) and made.shape is not None
        if made.shape[0] is not None:
            known.setdefault(made.shape[0], []).append(part)
    assert {"x.0", "x.0-1", "x.0-2", "x.0-3", "x.0-4"} <= set(known)
    for symbol, parts in known.items():
        for n in range(8):
            less = int(str(symbol).partition("-")[2] or 0)
            assert {len(range(n)[part]) for part in parts} == {max(0, n - less)}, (symbol, n)


def containers(x, y):
    pair = (x, 2)
    table = {"a": x, "b": "text"}
    a, b = pair
    first, *rest = (x, y, 3)
    return pair, table["a"], table["b"], a, b, first, rest


def test_containers():
    _, facts = facts_of(containers, 1.0, VECTOR)
    real, y = number("float"), Array(("y.0",), "float64")
    assert facts["pair"] == Sequence("tuple", (real, integer("pair[1].v")))
    assert (facts["a"], facts["b"]) == (real, integer("pair[1].v"))
    assert facts["table"] == Mapping((("a", real), ("b", Static("text"))))
    assert facts["rest"] == Sequence("list", (y, integer("t[2].v")))


def comprehension(x):
    made = [v * 2.0 for v in x]
    return made


def test_a_list_that_grows_has_the_fact_of_what_is_appended():
    _, facts = facts_of(comprehension, MATRIX)
    assert facts["made"] == Sequence("list", None, Array(("x.1",), "float64"))


def integers(x, n):
    half = n / 2
    whole = n // 2
    size = x.shape[0] - 1
    count = len(x)
    is_long = count > n
    text = f"{n}"
    mode = "full"
    return half, whole, size, count, is_long, text, mode


def test_what_carries_no_derivative():
    _, facts = facts_of(integers, VECTOR, 3)
    assert facts["half"] == number("float") and not inert(facts["half"])
    for name in ("whole", "size", "count", "is_long", "text", "mode", "n"):
        assert inert(facts[name]), (name, facts[name])


@pytest.mark.parametrize("fact", [Unknown(), number(None), number("float32"), Sequence("list"), Mapping()])
def test_what_is_not_known_may_carry_a_derivative(fact):
    assert not inert(fact)


def symbols(x):
    y = x[1:]
    z = y * 2.0
    s = z
    for i in range(3):
        s = s + z
        t = s[i:]
        u = t * 2.0
    return y, z, s, t, u


def test_a_name_bound_once_has_a_shape_of_its_own():
    _, facts = facts_of(symbols, VECTOR)
    assert same_shape(facts, "y", "z") and same_shape(facts, "s", "z")
    assert not same_shape(facts, "x", "y")
    assert not same_shape(facts, "t", "u"), "in a loop a name stands for many values"


def deeper(x, n):
    t = (x,)
    for _ in range(n):
        t = (t, x)
    return t


def test_facts_stop_climbing():
    _, facts = facts_of(deeper, 1.0, 3)
    assert facts["t"] == Sequence("tuple", None, Unknown())


def helper(a, b=2.0):
    if a > b:
        return a
    return b * 1.0


def caller(x, y):
    small = helper(x)
    large = helper(y[0], y[1])
    return small, large


def test_what_a_call_returns():
    _, facts = facts_of(caller, 1.0, VECTOR)
    assert facts["small"] == number("float")
    assert facts["large"] == number("float64")


def sums(x, n):
    made = [v * 2.0 for v in x]
    kept = [k for k in range(n)]
    return sum(made), sum(made, 0.5), sum(x), sum(kept), sum([x[0], 1.0])


def test_a_sum_of_no_items_is_an_integer():
    """``sum([])`` is the int 0, whatever would have been in the list."""
    normal, facts = facts_of(sums, VECTOR, 3)
    made = result(normal, facts)
    real = number(None, real=True)
    assert made == Sequence("tuple", (real, real, real, integer("t7.v"), number("float64")))
    assert all(holds(made, bare(normal, aligned=True)(x, n), {}) for x in (VECTOR, VECTOR[:1]) for n in (0, 2))
    assert type(sum(VECTOR[:0])) is int and type(sum([])) is int


def endless(n):
    return endless(n - 1) if n else 1.0


def test_nothing_is_assumed_of_a_recursive_result():
    _, facts = facts_of(endless, 3)
    assert facts["t"] == Unknown() or isinstance(facts["t"], Array)


def test_a_long_program_is_one_pass():
    lines = ["def long(x):", "    a0 = x * 1.0"]
    lines += [f"    a{k + 1} = a{k} * 2.0 + a{max(k - 3, 0)}" for k in range(300)]
    namespace: dict[str, Any] = {}
    text = "\n".join([*lines, "    return a300"])
    linecache.cache["<long>"] = (len(text), None, text.splitlines(keepends=True), "<long>")
    exec(compile(text, "<long>", "exec"), namespace)
    _, facts = facts_of(namespace["long"], VECTOR)
    assert facts["a300"] == Array(("x.0",), "float64")


# --- facts are promises ----------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("case", some_by_day(OF_DATA, 6))
@pytest.mark.costly(10)
def test_facts_hold_of_every_value(case):
    assert list(broken_promises(case)) == []


@pytest.mark.slow
@pytest.mark.parametrize("case", some_by_day([case for case in OF_DATA if dimensions_of(case.arguments)], 6))
@pytest.mark.costly(10)
def test_facts_of_sizes_hold_of_every_value(case):
    assert list(broken_promises(case, with_sizes=True)) == []


def broken_promises(case: Case, *, with_sizes: bool = False) -> Iterator[str]:
    normal, facts = facts_of(case.function, *values_of(case), with_sizes=with_sizes)
    lowered = bare(normal, aligned=True)
    seen: list[str] = []
    sizes: dict[str, int] = {"float32": 0} if "float32" in repr(facts) else {}
    tried = attempts(normal)

    def watch(frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code is not lowered.__code__:  # type: ignore[attr-defined]
            return None
        for name, value in frame.f_locals.items():
            if name in tried and tried[name](value):
                continue
            if not holds(facts.get(name, Unknown()), value, sizes):
                seen.append(f"{case}: {name} is {describe(value)}, not {facts[name]}")
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = lowered(*(v for v in fresh(values_of(case)) if not isinstance(v, FunctionType)))
    finally:
        sys.settrace(before)
    if not holds(result(normal, facts), outcome, sizes):
        seen.append(f"{case}: returns {describe(outcome)}, not {result(normal, facts)}")
    yield from dict.fromkeys(seen)


def attempts(normal: Function) -> dict[str, Callable[[Any], bool]]:
    """The names of what an attempt gives, and whether a value there says that it raised: nothing is read of it then."""
    attempted = attempted_in(normal)
    values = {s.targets[0] for s in walk(normal.body) if isinstance(s, Unpack) and s.source in attempted}
    return {**dict.fromkeys(values, lambda value: value is None), **dict.fromkeys(attempted, has_raised)}


def attempted_in(normal: Function) -> dict[str, Callee]:
    """The names that hold outcomes of attempts: pairs of a value and an exception, one of which is None."""
    found: dict[str, Callee] = {}
    for statement in walk(normal.body):
        match statement:
            case Bind(target=target, operation=Call(callee=Callee(function=Guarded()) as tried)):
                found[target] = tried
            case Unpack(targets=(first, _), source=source) if source in found:
                part = normal_form_of(unguarded(found[source]))
                inside = attempted_in(part)
                for last in walk(part.body):
                    if isinstance(last, Return) and getattr(last.value, "id", None) in inside:
                        found[first] = inside[last.value.id]  # type: ignore[attr-defined]
    return found


def has_raised(pair: Any) -> bool:
    """Whether an attempt, or one inside of it, gave an exception and no value."""
    if pair is None:
        return True  # what was attempted by an attempt that raised
    value, raised = pair
    if raised is not None:
        return value is None and isinstance(raised, BaseException)
    return type(value) is tuple and len(value) == 2 and isinstance(value[1], BaseException) and has_raised(value)


def is_text_of(text: Held, value: Any) -> bool:
    """Whether a value is the emitted text of a local function: its parameters, those it captured by keyword only."""
    if not isinstance(value, FunctionType):
        return False
    parameters = normal_form_of(text.callee).parameters
    named = inspect.getfullargspec(value)
    every = [*named.args, *filter(None, (named.varargs, named.varkw)), *named.kwonlyargs]
    captured = parameters[len(parameters) - text.captured :]
    return sorted(every) == sorted(parameters) and set(captured) <= set(named.kwonlyargs)


def values_of(case: Case) -> tuple[Any, ...]:
    bound = inspect.signature(case.function).bind(*case.arguments, **case.keywords)
    bound.apply_defaults()
    return tuple(bound.arguments.values())


def describe(value: Any) -> str:
    shape = np.shape(value) if isinstance(value, np.ndarray) else ""
    return f"{type(value).__name__} {getattr(value, 'dtype', '')} {shape}"


def is_dimension(dimension: Dimension, length: int, sizes: dict[str, int]) -> bool:
    if not isinstance(dimension, str):
        return dimension in (None, length)
    whole, cut = taken_apart(dimension)
    if cut and whole in sizes:
        return length == max(0, sizes[whole] - cut)
    return sizes.setdefault(dimension, length) == length and (length > 1 or not is_size(dimension))


def is_integer_of(dimension: Dimension, value: int, sizes: dict[str, int]) -> bool:
    """Whether an integer is what its fact says: the length of what it makes, if it makes anything."""
    if isinstance(dimension, str) and dimension.endswith(".v"):
        return sizes.setdefault(dimension, value) == value
    return value < 0 and not is_natural(dimension) or is_dimension(dimension, value, sizes)


def holds(fact: Fact, value: Any, sizes: dict[str, int]) -> bool:
    """Whether a fact is true of a value; ``sizes`` remembers what each symbol stood for.

    Where single precision occurs, Python's numbers and NumPy's are told apart.
    """
    match fact:
        case Unknown():
            return True
        case Array(shape=shape, dtype=dtype, scalar=scalar):
            if not isinstance(value, bool | int | float | complex | np.ndarray | np.generic):
                return False
            if scalar and isinstance(value, np.ndarray):
                return False
            kind = str(value.dtype) if isinstance(value, np.ndarray | np.generic) else type(value).__name__
            wide = {"float": "float64", "int": "int64"} if "float32" not in sizes else {}
            if dtype is not None and wide.get(dtype, dtype) != wide.get(kind, kind):
                return False
            if fact.value is not None and not is_integer_of(fact.value, value, sizes):
                return False
            if shape is None:
                return True
            return len(shape) == np.ndim(value) and all(
                is_dimension(n, m, sizes) for n, m in zip(shape, np.shape(value), strict=True)
            )
        case Sequence(kind=kind, items=items, item=item):
            if not isinstance(value, tuple if kind == "tuple" else list):
                return False
            if items is not None:
                return len(items) == len(value) and all(holds(f, v, sizes) for f, v in zip(items, value, strict=True))
            return item is None or all(holds(item, v, sizes) for v in value)
        case Mapping(items=items):
            if not isinstance(value, dict):
                return False
            return items is None or all(key in value and holds(f, value[key], sizes) for key, f in items)
        case Object(items=items):
            return all(hasattr(value, name) and holds(f, getattr(value, name), sizes) for name, f in items or ())
        case Static(Held() as text):
            return is_text_of(text, value)
        case Static(expected):
            return type(value) is type(expected) or (value is expected) or isinstance(expected, ModuleType)
    return False
