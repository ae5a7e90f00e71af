"""The check at a function's entry that what it stores into is no other argument, and no global, under another name."""

from __future__ import annotations

from collections.abc import Callable, Collection

import gast

from srcgrad import runtime
from srcgrad.analysis.stores import globals_read
from srcgrad.frontend.normal_form import Function
from srcgrad.syntax.globals import call_runtime
from srcgrad.transform.build import constant, load


def check_apart(function: Function, stored: Collection[str], is_number: Callable[[str], bool]) -> gast.Expr | None:
    """``require_apart({"x": x}, {"a": a})``; None where nothing else can share memory with what is stored into."""
    mine = [load(name) for name in stored]
    others: list[gast.Name] = [load(p) for p in function.parameters if p not in stored and not is_number(p)]
    others += globals_read(function)
    if not mine or not others:
        return None
    groups = [gast.Dict([constant(n.id) for n in group], list(group)) for group in (mine, others)]
    return gast.Expr(call_runtime(runtime.require_apart, *groups))
