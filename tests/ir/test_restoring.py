"""Restored text is the user's, and means the same: run in place of the functions, with nested values in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import gast
import numpy as np
import pytest

import tests.directed.running  # noqa: F401  (the directed programs are recorded when their modules are imported)
from srcgrad.errors import InternalError
from srcgrad.frontend.lowering import lowered
from srcgrad.ir import operations as ir
from srcgrad.ir import regions
from srcgrad.ir.restoring import restored
from srcgrad.ir.restoring.names import Naming, named
from srcgrad.ir.restoring.pending import Plan, uses_of
from srcgrad.ir.restoring.tree import Copies, of_version
from srcgrad.ir.restoring.writing import written as with_names
from tests.corpus.example import Case
from tests.evaluation_order import program
from tests.hunted import random_program
from tests.ir.language import PROGRAMS as LANGUAGE
from tests.ir.rewriting import comparable, rewriting, text_of, user_text, without_origins
from tests.ir.running import assert_same, checked, functions_of, outcome
from tests.ir.test_interpreter import ORDERED, PROGRAMS, runnable
from tests.parameters import for_each

#: Functions whose restored text is another than the user's, and why.
DIFFERENT = {
    "bool_ops": "a choice that a constant decides is no choice in the IR",
    "deleted_names_and_items": "the IR does not say where a variable is deleted that nothing reads",
    "del_name": "the IR does not say where a variable is deleted that nothing reads",
    "del_two": "the IR does not say where a variable is deleted that nothing reads",
    "documented": "a constant on its own computes nothing",
    "index_that_an_augmented_store_binds": "the value reads what the index of an operator in place binds",
    "prints_asserts_and_formats": "pass beside other statements",
    "private_names": "a private name of a class, written as in the class",
    "stores": "several places after one del",
    "the_body_of_a_class": "an annotation in parentheses, which is evaluated only",
}


def _runs(function: Any, arguments: tuple[Any, ...], keywords: Any, change: Any = None) -> None:
    expected = outcome(function, arguments, keywords)
    with rewriting(functions_of(function, arguments, keywords), *([change] if change else [])):
        assert_same(outcome(function, arguments, keywords), expected)


# --- the same values, effects and exceptions -------------------------------------------------------------------------
@for_each(runnable(12))
def test_programs(case: Case) -> None:
    """Corpus and directed programs, with all functions and methods that they call."""
    _runs(case.function, case.arguments, case.keywords)


@pytest.mark.nightly
@for_each(runnable())
def test_all_programs(case: Case) -> None:
    _runs(case.function, case.arguments, case.keywords)


@for_each(LANGUAGE, name=lambda entry: f"{entry[0].__name__}{entry[1]}")
def test_the_language(entry: tuple[FunctionType, tuple[object, ...]]) -> None:
    """One part of the language each; what raises, raises the same."""
    _runs(*entry, {})


def _ordered(name: tuple[str, str, str], change: Any = None) -> None:
    try:
        made = program(*name)
    except SyntaxError:
        return
    _runs(made.function, (np.array([1.3, 0.7, 1.1]),), {}, change)


@for_each(ORDERED[::96])
def test_order_of_evaluation(name: tuple[str, str, str]) -> None:
    """Forms of statements whose operands change what the others read; some raise, in both."""
    _ordered(name)


@pytest.mark.nightly
@for_each(ORDERED)
def test_order_of_evaluation_in_every_form(name: tuple[str, str, str]) -> None:
    _ordered(name)


def _random_program(number: int, change: Any = None) -> None:
    with random_program(number) as (function, given):
        _runs(function, given, {}, change)


@for_each(range(50))
def test_random_programs(number: int) -> None:
    """Programs of the hunt, those that raise included."""
    _random_program(number)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, 5000, 500))
def test_many_random_programs(first: int) -> None:
    for number in range(first, first + 500):
        _random_program(number)


# --- without the user's forms ----------------------------------------------------------------------------------------
@for_each(LANGUAGE, name=lambda entry: f"{entry[0].__name__}{entry[1]}")
def test_the_language_without_origins(entry: tuple[FunctionType, tuple[object, ...]]) -> None:
    """Statements that do not say where they come from are written in the simplest form, which means the same."""
    _runs(*entry, {}, without_origins)


@for_each(runnable(36, 5))
def test_programs_without_origins(case: Case) -> None:
    _runs(case.function, case.arguments, case.keywords, without_origins)


@pytest.mark.nightly
@for_each(runnable())
def test_all_programs_without_origins(case: Case) -> None:
    _runs(case.function, case.arguments, case.keywords, without_origins)


@pytest.mark.nightly
@for_each(ORDERED[::10])
def test_order_of_evaluation_without_origins(name: tuple[str, str, str]) -> None:
    _ordered(name, without_origins)


# --- the same text ---------------------------------------------------------------------------------------------------
FUNCTIONS: dict[CodeType, FunctionType] = {
    function.__code__: function for function in [case.function for case in PROGRAMS] + [entry[0] for entry in LANGUAGE]
}


def _different(functions: Iterable[FunctionType]) -> set[str]:
    return {f.__name__ for f in functions if comparable(text_of(checked(f))) != comparable(user_text(f))}


def test_text_is_that_of_the_user() -> None:
    """One in ten functions; the exceptions are those of the table, and only those."""
    chosen = list(FUNCTIONS.values())[::10]
    assert _different(chosen) == DIFFERENT.keys() & {function.__name__ for function in chosen}


@pytest.mark.nightly
def test_all_text_is_that_of_the_user() -> None:
    """At least 99 in 100 functions are restored as they were written."""
    assert _different(FUNCTIONS.values()) == DIFFERENT.keys()
    assert len(DIFFERENT) < 0.01 * len(FUNCTIONS)


# --- changes of the IR -----------------------------------------------------------------------------------------------
def changed(block: regions.Block, change: Callable[[regions.Assign], regions.Assign | None]) -> regions.Block:
    """A block with each of its operations changed, or left out, those of regions included."""
    kept: list[regions.Statement] = []
    for statement in block.statements:
        match statement:
            case regions.Assign():
                kept += [made for made in [change(statement)] if made is not None]
            case regions.If(body=body, orelse=orelse):
                kept.append(replace(statement, body=changed(body, change), orelse=changed(orelse, change)))
            case regions.Loop(body=body) | regions.With(body=body):
                kept.append(replace(statement, body=changed(body, change)))
            case _:
                kept.append(statement)
    return replace(block, statements=tuple(kept))


def energy(x, weights, rate=2.0):
    total = 0.0
    for i, (v, w) in enumerate(zip(x, weights)):
        if v > 0.5 and w is not None:
            total += rate * v[i] ** 2 - w
        print(total, "so far")
    a, x[0] = total, sum(v * 2 for v in x)
    return total if a < 1 else [total, -a]


def _text_after(change: Callable[[regions.Assign], regions.Assign | None]) -> str:
    made = lowered(energy)
    return text_of(replace(made, body=changed(made.body, change)))


def _user(old: str = "", new: str = "") -> str:
    text = comparable(user_text(energy))
    assert old in text
    return text.replace(old, new) if old else text


def test_another_operator_is_written_where_the_old_one_was() -> None:
    def change(statement: regions.Assign) -> regions.Assign:
        match statement.operation:
            case ir.Operator(symbol="**", operands=operands):
                return replace(statement, operation=ir.Operator("@", operands))
            case ir.Compare(symbol=">", left=left, right=right):
                return replace(statement, operation=ir.Compare("<=", left, right))
        return statement

    expected = _user("v > 0.5", "v <= 0.5").replace("v[i] ** 2", "(v[i] @ 2)")
    assert comparable(_text_after(change)) == expected


def test_another_constant_is_written_where_the_old_one_was() -> None:
    def change(statement: regions.Assign) -> regions.Assign:
        match statement.operation:
            case ir.Operator(symbol="**", operands=(base, ir.Literal(value=2))):
                return replace(statement, operation=ir.Operator("**", (base, ir.Literal(-0.5))))
        return statement

    assert comparable(_text_after(change)) == _user("v[i] ** 2", "v[i] ** (-0.5)")


def test_a_statement_that_is_left_out_is_not_written() -> None:
    def change(statement: regions.Assign) -> regions.Assign | None:
        match statement.operation:
            case ir.Call(positional=(_, ir.Literal(value="so far"))) | ir.ReadGlobal(name="print"):
                return None
        return statement

    assert comparable(_text_after(change)) == _user("        print(total, 'so far')\n")


def test_a_value_that_is_used_twice_gets_a_name_and_the_rest_stays() -> None:
    """The test of the branch is also what the last list holds: it is computed once, before."""
    tests: list[ir.Version] = []

    def change(statement: regions.Assign) -> regions.Assign:
        match statement.operation:
            case ir.Compare(symbol="<"):
                tests.extend(statement.targets)
            case ir.Make(kind="list", elements=(first, _)):
                return replace(statement, operation=ir.Make("list", (first, tests[0])))
            case ir.Operator(symbol="-", operands=(_,)):
                return replace(statement, operation=ir.Copy(ir.Literal(None)))
        return statement

    text = _text_after(change)
    assert "    t = a < 1\n" in text and "[total, t]" in text
    assert comparable(text).split("    t = a < 1")[0] == _user().split("    return")[0]


# --- nesting and names -----------------------------------------------------------------------------------------------
NODE = gast.parse("pass").body[0]
X, Y = ir.Version("x", "x"), ir.Version("y", "y")


def function_of(*statements: regions.Statement, result: ir.Operand) -> regions.Function:
    parameters = regions.Parameters((), (X, Y))
    body = regions.Block(statements, regions.Return(result))
    return regions.Function("f", "f", parameters, (), (), body, NODE)


def do(operation: ir.Operation, *targets: ir.Version) -> regions.Assign:
    return regions.Assign(targets, operation, NODE)


def lines(made: regions.Function) -> list[str]:
    return text_of(made).splitlines()[1:]


@pytest.mark.parametrize(
    ("order", "text"),
    [
        ((0, 1), ["    return x.a - y.b"]),
        ((1, 0), ["    t = x.a", "    return y.b - t"]),
        ((0, 0), ["    t = x.a", "    y.b", "    return t - t"]),
    ],
)
def test_what_is_nested_keeps_its_order(order: tuple[int, int], text: list[str]) -> None:
    """Reads are nested in the order in which they are made, and once."""
    parts = ir.Version("t1"), ir.Version("t2")
    last = ir.Version("t3")
    made = function_of(
        do(ir.GetAttribute(X, "a"), parts[0]),
        do(ir.GetAttribute(Y, "b"), parts[1]),
        do(ir.Operator("-", tuple(parts[j] for j in order)), last),
        result=last,
    )
    assert lines(made) == text


def test_a_store_between_is_not_passed() -> None:
    """A read before a store stays before it."""
    before = ir.Version("t1")
    made = function_of(
        do(ir.GetAttribute(X, "a"), before), do(ir.SetAttribute(X, "a", Y)), result=before
    )
    assert lines(made) == ["    t = x.a", "    x.a = y", "    return t"]


def test_versions_of_a_variable_that_are_live_at_once_have_two_names() -> None:
    second, third = ir.Version("x2", "x"), ir.Version("t")
    made = function_of(do(ir.Copy(Y), second), do(ir.Operator("+", (X, second)), third), result=third)
    assert lines(made) == ["    x2 = y", "    return x + x2"]


def test_block_arguments_change_places_at_once() -> None:
    heads = ir.Version("x2", "x"), ir.Version("y2", "y")
    test = ir.Version("t")
    ended = ir.Version("x3", "x")
    swap = regions.Block((), regions.Continue((heads[1], heads[0])))
    leave = regions.Block((), regions.Break((heads[0],)))
    body = regions.Block(
        (do(ir.Compare("<", *heads), test), regions.If((), test, swap, leave, NODE)), regions.Unreachable()
    )
    made = function_of(regions.Loop((ended,), heads, (X, Y), body, NODE), result=ended)
    assert "            x, y = y, x" in lines(made) or "            x, y = (y, x)" in lines(made)
    space: dict[str, Any] = {}
    exec(text_of(made), space)
    assert space["f"](1, 2) == 2 and space["f"](3, 2) == 3


def test_a_read_that_no_name_can_serve_is_an_internal_error() -> None:
    """Two versions that have to share a name, and are both read: no text is better than a wrong one."""
    second = ir.Version("x2", "x")
    plan = Plan(function_of(result=X), uses_of(function_of(result=X)))
    body = [Copies([second], [of_version(Y)]), gast.Return(of_version(X)), ]
    naming = Naming(plan)
    assert named(naming, body) and naming.name(second) != naming.name(X)
    assert gast.unparse(with_names(naming, body)[1]).strip() == "return x"
    with pytest.raises(InternalError, match="no names for x"):
        named(Naming(plan), [gast.Delete([of_version(X, gast.Del)]), gast.Return(of_version(X))])


def captured_in_rounds(n):
    made = []
    for k in range(2):
        made.append([lambda: i + k for i in range(n + k)])
    return [get() for gets in made for get in gets]


def test_a_variable_that_is_new_in_each_round_is_one_of_a_comprehension_only() -> None:
    """As a variable of the function it would be one cell; no text is better than a wrong one."""
    _runs(captured_in_rounds, (2,), {})
    with pytest.raises(InternalError, match="i of captured_in_rounds is a new one in each round"):
        restored(without_origins(checked(captured_in_rounds)))


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    if x == 0: return x\n" + "".join(f"    elif x == {k}: pass\n" for k in range(300)),
        f"def f(x):\n    return {' + '.join(['x'] * 1500)}\n",
        f"def f(x):\n    return {' and '.join(['x'] * 500)}\n",
    ],
    ids=["elif", "sum", "and"],
)
@pytest.mark.costly(1)
def test_programs_deeper_than_the_recursion_limit(text: str, tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text(text, encoding="utf-8")
    space: dict[str, Any] = {}
    exec(compile(text, str(tmp_path / "deep.py"), "exec"), space)
    assert isinstance(restored(lowered(space["f"])), gast.FunctionDef)
