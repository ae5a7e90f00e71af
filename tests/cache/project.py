"""A user's modules in a folder, read again as another process would, and a count of what is compiled."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from srcgrad.api import compiling
from srcgrad.api.kept import Variant
from srcgrad.cache import kept
from srcgrad.rules.edition import edition


class Project:
    """``write`` puts text into modules; ``read`` imports all of them anew; ``compiled`` holds what was compiled."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder, self.cache = folder, cache
        self.names: dict[str, None] = {}
        self.compiled: list[str] = []

    def write(self, **texts: str) -> None:
        for name, text in texts.items():
            self.names[name] = None
            (self.folder / f"{name}.py").write_text(text, encoding="utf-8")

    def read(self, name: str = "model") -> ModuleType:
        for each in self.names:
            sys.modules.pop(each, None)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    def asks(self, call: Callable[[ModuleType], Any]) -> tuple[Any, bool]:
        """What a call gives with modules that are imported anew, and whether anything was compiled for it."""
        self.compiled.clear()
        return call(self.read()), bool(self.compiled)

    def entries(self) -> list[Path]:
        return sorted(self.cache.rglob("*.srcgrad"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    folder = tmp_path / "project"
    folder.mkdir()
    made = Project(folder, tmp_path / "cache")
    monkeypatch.setenv("SRCGRAD_CACHE", str(made.cache))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = edition()  # tests that ran in this process may have given rules
    monkeypatch.setattr(kept, "edition", lambda: edition() - before)
    plain = compiling.compiled

    def counted(derivative: Any, function: Any, values: Any, variant: Variant) -> Any:
        made.compiled.append(variant.mode)
        return plain(derivative, function, values, variant)

    monkeypatch.setattr(compiling, "compiled", counted)
    yield made
    for name in made.names:
        sys.modules.pop(name, None)
