"""The texts of local functions that are values: what an emitted module holds of them.

Enters: references that name a local function.  Leaves: functions of the module, and names of them in their place::

    s = Solver(closure(function, "", k))      ->      def function_text(y, *, k): ...
                                                      s = Solver(closure(function_text, "", k))
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace
from typing import Protocol

import gast

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax, render
from srcgrad.ir.as_python import as_python
from srcgrad.ir.normal_form import Callee, Derived, Function, Held, Texts
from srcgrad.rules.rewriting import rebuilt
from srcgrad.syntax.globals import GlobalReference, of_runtime, reference
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import quote_statements, walk
from srcgrad.transform.build import load
from srcgrad.transform.entries import stem


class TextsHeld(Protocol):
    """What the module of emitted functions that holds them provides."""

    namer: Namer
    functions: list[gast.FunctionDef]
    pending: list[Callable[[], None]]
    held_texts: dict[Held, str]
    asks_for_texts: bool  # whether a value is asked, somewhere, whether it is a local function

    def normalized(self, callee: Callee) -> Function: ...

    def copied(self, callee: Callee) -> gast.expr: ...

    def add(
        self, function: gast.FunctionDef, temporaries: Set[str], data: frozenset[str] = frozenset()
    ) -> None: ...


def _held(module: TextsHeld, made: Held) -> gast.expr:
    """The text of a local function that is a value: what it captured comes in its last, keyword-only parameters."""
    if made not in module.held_texts:
        name = module.held_texts[made] = module.namer.fresh(f"{stem(made.callee)}_text")
        module.pending.append(lambda: _hold(module, made, name))
    return load(module.held_texts[made])


def _hold(module: TextsHeld, made: Held, name: str) -> None:
    try:
        function = module.normalized(made.callee)
    except UnsupportedSyntax as refusal:  # without the classes of its arguments, which calls by its name know
        module.add(_unwritten(name, made.captured, refusal), set())
        return
    if isinstance(made.callee.function, Derived):
        function = replace(function, captured=function.parameters[len(function.parameters) - made.captured :])
    text = as_python(function)
    text.name = name
    module.add(text, function.temporaries)


def name_texts(module: TextsHeld) -> None:
    """Write every text of a local function where a value is asked whether it is one."""
    if not module.asks_for_texts:
        return
    for call in walk(*module.functions):
        if isinstance(call, gast.Call) and any(map(_texts_of, call.args)):
            asked = [_texts_of(argument) for argument in call.args]
            call.args = [a for a, texts in zip(call.args, asked, strict=True) if texts is None]
            call.args += [load(n) for h, n in module.held_texts.items() if Texts(h.callee.function) in asked]


def found_here(module: TextsHeld, function: gast.FunctionDef) -> gast.FunctionDef:
    """The function with functions of this module in place of what names them."""

    def found(leaf: gast.AST) -> gast.expr | None:
        if isinstance(leaf, GlobalReference):
            if isinstance(leaf.binding.value, Held):
                return _held(module, leaf.binding.value)
            if isinstance(leaf.binding.value, Callee):
                return module.copied(leaf.binding.value)
        return None

    named = [node.binding.value for node in walk(function) if isinstance(node, GlobalReference)]
    module.asks_for_texts = module.asks_for_texts or any(isinstance(value, Texts) for value in named)
    if not any(isinstance(value, Held | Callee) for value in named):
        return function
    made: gast.FunctionDef = rebuilt(function, found)
    return made


def _texts_of(node: gast.AST) -> Texts | None:
    value = node.binding.value if isinstance(node, GlobalReference) else None
    return value if isinstance(value, Texts) else None


def _unwritten(name: str, captured: int, refusal: UnsupportedSyntax) -> gast.FunctionDef:
    held = "".join(f", c{j}" for j in range(captured))
    text = render(refusal.reason, refusal.span, refusal.label, refusal.hint)
    (made,) = quote_statements(f"def {name}(*given{held}, **named):\n    refuse({refusal.code!r}, {text!r})")
    head = reference(of_runtime(runtime.unwritten))
    made.body[0].value.func = head
    return made
