"""What models ask the analysis about values, beyond what Python can ask."""

from __future__ import annotations


def is_data(value: object) -> bool:
    """Whether nothing is said of a value but that it is data: no program runs this."""
    raise NotImplementedError
