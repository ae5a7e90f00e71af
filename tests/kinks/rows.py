"""A row of the policy as a program, and as a line of the page that shows the policy."""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.kinks.table import THEMES, Row

PAGE = Path(__file__).parents[2] / "docs" / "kinks.md"

INTRODUCTION = """# Kinks and singular points

Where a function has no derivative, a differentiator still has to answer.  This is what srcgrad answers, in reverse and
in forward mode; every line is a test (`tests/kinks`).  The gradient is that of the sum of the expression's elements.
The last column says what PyTorch gives at the same point: *same*, or why it differs; it is empty where PyTorch has no
such function.
"""
STRONG_ZEROS = """
## Strong zeros

Where a result is masked, what was computed for the mask may still have an infinite slope: of `r = np.sqrt(x); r[1]` at
`[0.0, 4.0]` the gradient is `[nan, 0.25]`, since the cotangent of `r[0]` is 0 and 0 * inf is nan.  So do JAX and
PyTorch answer, and the guard goes inside (*Choices*, above).  Compiled programs have an option for it, off by default:

```python
import numpy as np
import srcgrad

with srcgrad.options(strong_zeros=True):
    r_bar = srcgrad.grad(lambda x: np.sqrt(x)[1])(np.array([0.0, 4.0]))  # [0.0, 0.25]
```

A cotangent, or tangent, that is zero then stays zero through a partial that is infinite or undefined: of elementwise
functions element by element, of norms and other reductions for each result, of what mixes elements otherwise (products
of matrices, decompositions) only where all of the cotangent is zero.

What it answers wrongly: a factor that is zero by its value, and not because something is masked.  `np.sum(np.sqrt(x) **
2)` is the sum of x, but at 0 the square sends back the cotangent 0, and the option keeps it: 0 instead of 1.
"""
HEAD = "| expression | at | gradient | because | PyTorch |\n|---|---|---|---|---|"


def rows() -> Iterator[Row]:
    """Every row of the policy."""
    for theme in THEMES:
        yield from theme.rows


def name_of(row: Row) -> str:
    """A row by its expression and point."""
    return f"{row.expression} at {point(row.arguments)}"


@cache
def program(expression: str, names: tuple[str, ...]) -> Callable[..., Any]:
    """The expression as a function with a text of its own."""
    text = f"def row({', '.join(names)}):\n    return {expression}\n"
    filename = f"<kink {expression}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names_in_scope: dict[str, Any] = {"np": np, "math": math, "__name__": "kinks"}
    if "special." in expression:
        from scipy import special

        names_in_scope["special"] = special
    exec(compile(text, filename, "exec"), names_in_scope)
    return names_in_scope["row"]  # type: ignore[no-any-return]


def value(given: Any) -> Any:
    """Lists are arrays; numbers stay numbers."""
    return np.array(given) if isinstance(given, list) else given


def point(arguments: Any) -> str:
    """``x = [0, 1], y = 2``."""
    return ", ".join(f"{name} = {shown(given)}" for name, given in arguments.items())


def shown(given: Any) -> str:
    if isinstance(given, list):
        return f"[{', '.join(map(shown, given))}]"
    if isinstance(given, complex):
        parts = [f"{given.real:g}"] if given.real else []
        if given.imag or not parts:
            parts.append(f"{given.imag:+g}i" if parts else f"{given.imag:g}i")
        return "".join(parts)
    return f"{given:g}"


def page() -> str:
    """The policy as a page of documentation."""
    lines = [INTRODUCTION]
    for theme in THEMES:
        lines += [f"\n## {theme.title}\n", f"{theme.policy}\n", HEAD]
        for row in theme.rows:
            expression = row.expression.replace("|", "\\|")
            peer = row.differs or ("same" if row.torch else "")
            because = row.because.replace("|", "\\|")
            if row.forward is not None:
                because += f"; forward: {point(row.forward)}"
            lines.append(f"| `{expression}` | {point(row.arguments)} | {point(row.gradient)} | {because} | {peer} |")
    return "\n".join([*lines, STRONG_ZEROS])
