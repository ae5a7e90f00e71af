"""Sequences of different lengths side by side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from srcgrad.eager.operations.joining import stack
from srcgrad.eager.tensor import Tensor


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences as one tensor, times first or the batch first, the shorter ones filled up."""
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: " f"{type(sequences)}"
        )
    parts = list(sequences)
    for number, part in enumerate(parts):
        if not isinstance(part, Tensor):
            raise TypeError(f"expected Tensor as element {number} in argument 0, but got {type(part).__name__}")
    longest = max(part.size(0) for part in parts)
    filled = [_filled(part, longest - part.size(0), padding_value, padding_side == "left") for part in parts]
    made: Tensor = stack(filled, 0 if batch_first else 1)
    return made


def _filled(part: Tensor, lacking: int, value: float, left: bool) -> Tensor:
    from srcgrad.eager.nn.functional.padding import pad

    sides = (lacking, 0) if left else (0, lacking)
    made: Tensor = pad(part, (0, 0) * (part.dim() - 1) + sides, value=value)
    return made


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded tensor, each of its length."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:length] for row, length in zip(rows, lengths.tolist(), strict=True)]
