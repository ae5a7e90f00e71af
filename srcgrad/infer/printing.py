"""What the analysis knows of a function: its IR as text, with the value of each version behind it::

    def half(b, k):               # Box, None
        t = k is None             # True
        ...
"""

from __future__ import annotations

from srcgrad.infer.summaries import Summary
from srcgrad.ir import printing


def text_of(summary: Summary) -> str:
    """A function as it is called with the arguments of a summary; what is not reached has no value."""
    return printing.text_of(summary.function, {version: str(value) for version, value in summary.values.items()})
