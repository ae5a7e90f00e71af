"""A comment as a statement, so that generated trees can carry the user's lines into the printed text.

>>> Comment("model.py:5   s = u * x").text
'model.py:5   s = u * x'
"""

from __future__ import annotations

import gast


class Comment(gast.stmt):
    """``# text`` on a line of its own: a statement without effect, and a leaf."""

    _fields = ("text",)
    _attributes = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    text: str

    def __init__(self, text: str) -> None:
        self.text = text
