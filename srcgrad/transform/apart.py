"""The check at a function's entry that what it stores into is nothing else under another name: no other argument, and
nothing that the function, or what it calls, reads outside."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeAlias

import gast

from srcgrad import runtime
from srcgrad.ir.normal_form import Function
from srcgrad.syntax.globals import call_runtime
from srcgrad.transform.build import constant, load

Outside: TypeAlias = Callable[[], Mapping[str, gast.expr]]


def check_apart(
    function: Function, stored: Collection[str], is_number: Callable[[str], bool], outside: Outside
) -> gast.Expr | None:
    """``require_apart({"x": x}, {"a": a, "G": G})``; None where nothing can share memory with what is stored into."""
    if not stored:
        return None
    others: dict[str, gast.expr] = {p: load(p) for p in function.parameters if p not in stored and not is_number(p)}
    for name, node in outside().items():
        others[f"the global {name}" if name in function.parameters else name] = node
    if len(stored) == 1 and not others:
        return None
    mine = {name: load(name) for name in stored}
    groups = [gast.Dict([constant(n) for n in group], list(group.values())) for group in (mine, others)]
    return gast.Expr(call_runtime(runtime.require_apart, *groups))
