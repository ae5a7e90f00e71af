"""Expressions as functions with a text of their own, which the compiler can read."""

from __future__ import annotations

import cmath
import itertools
import linecache
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

_counter = itertools.count()


@cache
def program(expression: str, *names: str) -> Callable[..., Any]:
    """``def f(x): return <expression>``, of other names where they are given."""
    text = f"def f({', '.join(names or ('x',))}):\n    return {expression}\n"
    filename = f"<program {next(_counter)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scope: dict[str, Any] = {"np": np, "math": math, "cmath": cmath, "__name__": "programs"}
    exec(compile(text, filename, "exec"), scope)
    return scope["f"]  # type: ignore[no-any-return]
