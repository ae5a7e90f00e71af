"""The doors of the compiler: what it makes keeps to them, and every way to break one is seen."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gast
import numpy as np
import pytest

from srcgrad import pipeline, programs, runtime
from srcgrad.analysis.references import decision, hidden, reference
from srcgrad.api.derivative import Derivative
from srcgrad.errors import InternalError, Span
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    Apply,
    Bind,
    Block,
    Break,
    Copy,
    Effect,
    Fixed,
    For,
    Function,
    Index,
    Pack,
    Pop,
    Return,
    Statement,
    Unpack,
)
from srcgrad.spec import check_emitted, check_normal_form
from srcgrad.syntax import globals as syntax_globals
from srcgrad.syntax.parse import quote, quote_statements
from srcgrad.transform.control import pass_head
from tests.corpus import CASES
from tests.normal_forms import normal_form
from tests.parameters import some_by_day

HERE = Span("model.py", "f", 7, 4, 7, 9, "    y = x")
ROOT = Path(__file__).parent.parent


def program(x, n):
    s = x
    for i in range(n):
        s = s * np.sin(s + i)
    return s


NORMAL = normal_form(program)


def with_first(*statements: Statement) -> Function:
    """The normal form above with more statements at its head."""
    return replace(NORMAL, body=Block((*statements, *NORMAL.body.statements)))


def bind(target: str, text: str, operation: Any) -> Bind:
    return Bind(target, quote(text), operation, HERE)


MULTIPLY = next(
    s.operation
    for outer in NORMAL.body.statements
    if isinstance(outer, For)
    for s in outer.body.statements
    if isinstance(s, Bind) and isinstance(s.operation, Apply) and "mul" in str(s.operation.function)
)
LOOP = next(s for s in NORMAL.body.statements if isinstance(s, For))


def test_the_programs_here_are_in_order() -> None:
    check_normal_form(NORMAL)
    check_normal_form(with_first(bind("y", "x", Copy("x"))))


@pytest.mark.parametrize("case", some_by_day(CASES[::7], 4))
def test_what_the_compiler_makes_keeps_to_the_doors(case: Any) -> None:
    with programs.options(check=True):
        for mode in ("reverse", "split", "forward"):
            Derivative(case.function, case.argnums, mode=mode).source_for(*case.arguments, **case.keywords)


BROKEN_NORMAL_FORMS: dict[str, Function] = {
    "a BinOp is given to multiply, not an atom": with_first(
        bind("y", "(x + x) * x", replace(MULTIPLY, arguments=dict.fromkeys(MULTIPLY.arguments, quote("x + x"))))
    ),
    "the rule multiply has no parameter z": with_first(
        bind("y", "x * x", replace(MULTIPLY, arguments={"z": quote("x")}))
    ),
    "the rule multiply is not that of its function": with_first(bind("y", "x + x", replace(MULTIPLY, function=np.add))),
    "a copy does not print as the name that it copies": with_first(bind("y", "n", Copy("x"))),
    "an element of x does not print as one": with_first(bind("y", "n[0]", Index("x", quote("0")))),
    "there is no display set": with_first(bind("y", "{x}", Pack("set", (quote("x"),)))),
    "keys and elements of a display do not pair": with_first(bind("y", "{}", Pack("dict", (quote("x"),)))),
    "a Call is in a tuple, not an atom": with_first(bind("y", "(f(x),)", Pack("tuple", (quote("abs(x)"),)))),
    "ghost is read and never bound": with_first(bind("y", "ghost", Copy("ghost"))),
    "a NamedExpr stands in an expression": with_first(bind("y", "(z := 1)", Fixed())),
    "a Reference stands in an expression": with_first(Bind("y", reference("x", NORMAL.body, 0), Fixed(), HERE)),
    "a statement stands in two places": with_first(*[bind("y", "x", Copy("x"))] * 2),
    "statements follow an exit": with_first(Return(quote("x"), HERE)),
    "an exit of a loop stands outside of loops": replace(NORMAL, body=Block((Break(HERE),))),
    "a Compare is returned, not an atom": replace(NORMAL, body=Block((Return(quote("x < n"), HERE),))),
    "a Tuple is returned, not an atom": replace(NORMAL, body=Block((Return(quote("(x, n)"), HERE),))),
    "no target 2 to unpack the rest into": with_first(Unpack(("a", "b"), "x", HERE, star=2)),
    "one popped value goes to one name": with_first(Pop(("a", "b"), "x", HERE, tupled=False)),
    "a BinOp is appended, not an atom": with_first(Append("x", quote("n + 1"), HERE)),
    "a user's program stores into a buffer": with_first(AddAt("x", quote("0"), quote("n"), HERE)),
    "a Assign is kept for its effect": with_first(Effect(quote_statements("y = x")[0], HERE)),
    "a counted loop runs over a range": with_first(replace(LOOP, iterable=quote("x"), body=Block(()))),
    "a loop reads more elements than its body has": with_first(replace(LOOP, elements=1, body=Block(()))),
    "two parameters have one name": replace(NORMAL, parameters=("x", "n", "n")),
    "rest is no parameter": replace(NORMAL, variadic="rest"),
    "captured variables are not the last parameters": replace(NORMAL, captured=("x",)),
}


@pytest.mark.parametrize("fault", BROKEN_NORMAL_FORMS)
def test_a_broken_normal_form_is_seen(fault: str) -> None:
    with pytest.raises(InternalError, match=fault.replace("(", r"\(")):
        check_normal_form(BROKEN_NORMAL_FORMS[fault])


def emitted(text: str, change: Callable[[gast.FunctionDef], object] | None = None) -> list[gast.FunctionDef]:
    made = [s for s in quote_statements(text) if isinstance(s, gast.FunctionDef)]
    if change is not None:
        change(made[0])
    return made


def calling(function: object, name: str) -> gast.expr:
    binding = syntax_globals.GlobalBinding(name, function, "srcgrad.runtime", name)
    return gast.Call(syntax_globals.reference(binding), [quote("x")], [])


def returning(expression: gast.expr) -> list[gast.FunctionDef]:
    return emitted("def f(x):\n    pass", lambda f: f.body.append(gast.Return(expression)))


def test_emitted_functions_may_call_each_other_and_bind_as_python_binds() -> None:
    check_emitted(
        emitted(
            "def f(x, *rest):\n"
            "    a, *b = [g(k) for k in x if k]\n"
            "    for i, (j, c) in rest:\n        a[i] += (lambda t: t + c)(j)\n"
            "    return a, b\n\n\n"
            "def g(x):\n    return x"
        )
    )
    check_emitted(returning(calling(runtime.zeros_like, "zeros_like")))


def no_rule(x: object) -> object:
    return x


def in_a_loop(text: str, inner: gast.stmt) -> list[gast.FunctionDef]:
    return emitted(text, lambda f: f.body[0].body.insert(0, inner))


BROKEN_EMISSIONS: dict[str, Callable[[], list[gast.FunctionDef]]] = {
    "ghost is read and never bound": lambda: emitted("def f(x):\n    return x + ghost"),
    "k is read and never bound": lambda: emitted("def f(x):\n    return (lambda k: k)(x) + k"),
    "the placeholder Reference is left": lambda: returning(reference("x", NORMAL.body, 0)),
    "the placeholder Hidden is left": lambda: returning(hidden(NORMAL.body.statements[0], "saved")),
    "the placeholder Decision is left": lambda: returning(decision(NORMAL.body.statements[0])),
    "a PassHead is no statement of generated code": lambda: in_a_loop(
        "def f(x):\n    for i in x:\n        pass", pass_head(NORMAL.body)
    ),
    "a Try is no statement of generated code": lambda: emitted(
        "def f(x):\n    try:\n        pass\n    finally:\n        pass"
    ),
    "a FunctionDef is no statement of generated code": lambda: emitted("def f(x):\n    def g():\n        pass"),
    "a Global is no statement of generated code": lambda: emitted("def f(x):\n    global y"),
    "3.0 is called": lambda: returning(calling(3.0, "three")),
    "srcgrad.runtime.no_rule has no rule": lambda: returning(calling(no_rule, "no_rule")),
}


@pytest.mark.parametrize("fault", BROKEN_EMISSIONS)
def test_a_broken_emission_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "no_rule", no_rule, raising=False)
    with pytest.raises(InternalError, match=fault):
        check_emitted(BROKEN_EMISSIONS[fault]())


def test_the_checks_run_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = with_first(bind("y", "ghost", Copy("ghost")))
    monkeypatch.setattr(pipeline, "specialised", lambda instance: broken)
    with programs.options(check=True), pytest.raises(InternalError, match="ghost is read and never bound"):
        Derivative(program).source_for(0.5, 2)


def test_the_suite_runs_with_them() -> None:
    assert programs.present_options().check


def test_the_environment_asks_for_them() -> None:
    answer = "from srcgrad.programs import present_options; print(present_options().check)"
    for value, expected in (("1", "True"), ("0", "False")):
        environment = os.environ | {"SRCGRAD_CHECK": value, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", answer]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60)
        assert done.stdout.strip() == expected
