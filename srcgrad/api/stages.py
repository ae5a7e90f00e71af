"""The text of a program at one stage of the compiler, for ``explain``."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from types import FunctionType

from srcgrad.analysis.activity import Activity
from srcgrad.analysis.admission import Assumed
from srcgrad.analysis.changes import stores_anywhere
from srcgrad.errors import SrcgradError
from srcgrad.frontend.lowering import lowered
from srcgrad.infer import printing
from srcgrad.infer.interpreter import analysed
from srcgrad.infer.summaries import Summary
from srcgrad.ir.normal_form import Callee, Function
from srcgrad.passes import Form, Pass
from srcgrad.pipeline import Module, compile_request
from srcgrad.programs import options
from srcgrad.requests import Request
from srcgrad.rules.facts import Unknown


def text_at(callee: Callee, at: str, wanted: tuple[str, ...] = ()) -> str:
    """The program at a stage: ``source``, ``lower``, ``infer``, ``normalize``, ``passes``, ``analysis``, ``emit``; or,
    of ``refusals``, what is refused of it, when it is compiled or where it is reached."""
    if at == "refusals":
        return _refused(callee, wanted)
    if at == "lower":
        if not isinstance(callee.function, FunctionType):
            raise SrcgradError("only functions with a text of their own are lowered")
        return str(lowered(callee.function))
    if at == "infer":
        return _inferred(callee)
    function = Module().normalized(callee)
    if at in ("source", "fence"):
        return str(function.source)
    if at in ("desugar", "normalize"):
        return str(function)
    module = Module()
    facts = tuple(Unknown() for _ in function.parameters)
    if at == "passes":
        stores = stores_anywhere(callee, module.normalized)
        module.assumed = Assumed(stores=stores, rereads=stores)
        return _changed(function, module.passes(callee, facts, is_open=True))
    if at in ("activity", "analysis"):
        return _explained(module.active(function, wanted or function.parameters, module.facts_of(callee, facts)))
    if at in ("reverse", "optimize", "emit"):
        with options(optimise=at != "reverse"):
            return compile_request(Request(callee, wanted or function.parameters, "reverse", shown=True)).emission.text
    raise SrcgradError(
        f"the compiler has no stage {at!r}",
        hint="one of source, lower, infer, normalize, passes, analysis, reverse, optimize, emit, refusals",
    )


def _refused(callee: Callee, wanted: tuple[str, ...]) -> str:
    """The refusals of a program with their codes and places, each on a line: of one that is refused as a whole that
    alone, else those that its text raises where they are reached."""
    try:
        made = compile_request(Request(callee, wanted or Module().normalized(callee).parameters, "reverse", shown=True))
    except SrcgradError as refusal:
        if refusal.code is None:
            raise
        place = "" if refusal.span is None else refusal.span.origin
        return f"{refusal.code}  {place}  {refusal.reason}\n"
    found: dict[str, None] = {}
    for node in ast.walk(ast.parse(made.emission.text)):
        match node:
            case ast.Call(
                func=ast.Name(id="RefusedMode" | "unwritten"),
                args=[ast.Constant(value=str() as code), ast.Constant(value=str() as reason), *_],
            ):
                span = made.emission.line_map.get(node.lineno)
                place = "" if span is None else span.origin
                found[f"{code}  {place}  where it is reached: {reason.splitlines()[0]}\n"] = None
    return "".join(found) or "nothing is refused\n"


def _changed(function: Function, passes: Iterable[tuple[Pass, Form]]) -> str:
    """The function after each pass that changed it, under what holds from there on."""
    found = []
    for done, form in passes:
        if form.function is not function:
            function = form.function
            found.append(f"# after {done.name!r}: {done.gives}\n{function}")
    return "\n".join(found) or "no pass changes this function\n"


def _explained(facts: Activity) -> str:
    row = "{:5}  {:50}  active after: {}\n"
    return "".join(row.format(s.span.line, s.span.code, ", ".join(facts.active_after(s))) for s in facts.graph.heads)


def _inferred(callee: Callee) -> str:
    """The IR of a function and of what it calls, with what versions may be where nothing is said of its arguments."""
    if not isinstance(callee.function, FunctionType):
        raise SrcgradError("only functions with a text of their own are analysed")
    facts = analysed(callee.function, None)
    if facts is None or not facts.entry or facts.is_lost:
        raise SrcgradError(f"what {callee.function.__name__} does is not known: its text cannot be read")
    pending, found = list(facts.entry), list[Summary]()
    while pending:
        summary = pending.pop(0)
        if summary not in found:
            found.append(summary)
            pending += [inner for inners in summary.calls.values() for inner in inners]
    return "\n".join(map(printing.text_of, found))
