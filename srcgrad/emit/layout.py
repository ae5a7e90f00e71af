"""Logical lines laid out as black lays them out, 88 columns wide."""

from __future__ import annotations

from srcgrad.emit.tokens import render, tokenize

WIDTH = 88
_INDENT = "    "


def lay_out(text: str, depth: int) -> list[str]:
    """The physical lines of one logical line at an indentation of ``depth`` levels."""
    return [_INDENT * depth + render(tokenize(text))]
