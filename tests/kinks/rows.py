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

A program may meet points at which one of its functions has no derivative: the corner of `abs`, a tie in `max`, the
logarithm of zero.  The program goes on, so some value has to be returned in place of the derivative.  This page lists
these values, in reverse and in forward mode; each line of the tables is a test (`tests/kinks`).

The gradient in a line is that of the sum of the elements of the expression.  The last column says what PyTorch returns
at the same point: *same*, or the difference; it is empty where PyTorch has no such function.
[Kinks and subgradients](theory.md#kinks-and-subgradients) explains why a convention is needed, and what it cannot
achieve.
"""
STRONG_ZEROS = """
## Strong zeros

A program may compute elements that it does not use in the end, and these may have an infinite slope.  The gradient of
`np.sqrt(x)[1]` at `[0.0, 4.0]` is `[nan, 0.25]`: the adjoint of the unused root is 0, its slope at 0 is infinite, and
0 * inf is nan.  JAX and PyTorch return the same.  The remedy is to change the argument of the root (*Choices*, above).
If the program cannot be changed, an option, off by default, makes zero times infinity zero:

```python
import numpy as np
import srcgrad

with srcgrad.options(strong_zeros=True), np.errstate(invalid="ignore"):
    print(srcgrad.grad(lambda x: np.sqrt(x)[1])(np.array([0.0, 4.0])))
```

With this option an adjoint or a tangent that is zero stays zero when it is multiplied by an infinite or undefined
slope.  Elementwise functions apply this to each element, norms and other reductions to each result.  Functions that mix
elements in other ways (matrix products, decompositions) apply it only if the whole adjoint is zero.

The option gives a wrong result where an adjoint happens to be zero although its variable is used.
`np.sum(np.sqrt(x) ** 2)` is the sum of x, with gradient 1.  At 0 the adjoint of the root is 0, and the option returns 0
instead of 1.
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
