"""The text of the package as trees, which tests of the whole of it read: each file is parsed, and walked, once."""

from __future__ import annotations

import ast
import gc
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent / "srcgrad"
MODULES = sorted(ROOT.rglob("*.py"))


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def nodes_of(text: str) -> Mapping[type, list[ast.AST]]:
    """The nodes of the tree of a text, by their class."""
    found: dict[type, list[ast.AST]] = defaultdict(list)
    for node in ast.walk(parsed(text)):
        found[type(node)].append(node)
    return found


@cache
def read() -> None:
    """Parses every file.  The collector waits: it would go through all trees again and again, for most of the time."""
    gc.disable()
    try:
        for path in MODULES:
            nodes_of(text_of(path))
    finally:
        gc.enable()


def forget() -> None:
    for kept in (parsed, nodes_of, read):
        kept.cache_clear()
