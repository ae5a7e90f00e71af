"""What models ask the analysis about values, beyond what Python can ask."""

from __future__ import annotations


def is_data(value: object) -> bool:
    """Whether nothing is said of a value but that it is data, which a program that runs never asks.

    >>> is_data(2.0)
    False
    """
    return False


def functions_in(sequence: object) -> int:
    """How many items a tuple or list has, where all are known and some are functions; a program that runs does not ask.

    >>> functions_in((abs, min))
    0
    """
    return 0
