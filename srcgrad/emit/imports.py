"""What stands above the functions of an emitted module: a header, imports, and constants that have no import.

>>> from srcgrad.syntax.bindings import GlobalBinding
>>> import numpy
>>> print("\\n".join(preamble("", [("np", GlobalBinding("np", numpy, "numpy")), ("G", GlobalBinding("G", 9.81))])))
import numpy as np
<BLANKLINE>
G = 9.81
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from srcgrad.emit.convert import constant
from srcgrad.emit.layout import WIDTH, lay_out
from srcgrad.emit.naming import is_builtin
from srcgrad.errors import InternalError
from srcgrad.runtime.objects import has_fields
from srcgrad.syntax.bindings import GlobalBinding

Bindings = Sequence[tuple[str, GlobalBinding]]


def preamble(header: str, bindings: Bindings) -> list[str]:
    """The lines above the first function."""
    sections = [header.strip().split("\n") if header.strip() else [], _imports(bindings), _constants(bindings)]
    lines: list[str] = []
    for section in sections:
        if section:
            lines += ["", *section] if lines else section
    return lines


def _imports(bindings: Bindings) -> list[str]:
    modules: list[str] = []
    attributes: dict[str, list[str]] = {}
    for identifier, binding in bindings:
        if not is_importable(binding) or is_builtin(identifier, binding):
            continue
        assert binding.module is not None
        if binding.attribute is None:
            plain = identifier == binding.module
            modules.append(f"import {binding.module}" if plain else f"import {binding.module} as {identifier}")
        else:
            same = identifier == binding.attribute
            entry = binding.attribute if same else f"{binding.attribute} as {identifier}"
            attributes.setdefault(binding.module, []).append(entry)
    lines = sorted(modules)
    for module in sorted(attributes):
        names = sorted(attributes[module])
        line = f"from {module} import {', '.join(names)}"
        if len(line) <= WIDTH:
            lines.append(line)
        else:
            lines += [f"from {module} import (", *(f"    {name}," for name in names), ")"]
    return lines


def _constants(bindings: Bindings) -> list[str]:
    lines: list[str] = []
    for identifier, binding in bindings:
        if not is_importable(binding):
            literal = literal_text(binding.value)
            if literal is None:
                lines.append(f"# {identifier}: {_described(binding.value)}, bound when compiled")
            else:
                lines += lay_out(f"{identifier} = {literal}", 0)
    return lines


def is_importable(binding: GlobalBinding) -> bool:
    """Whether another process finds the object under its module and attribute."""
    return binding.module is not None and "." not in (binding.attribute or "")


def literal_text(value: object) -> str | None:
    """Python text of a number, string, None, or tuple of those; None for everything else."""
    try:
        return ast.unparse(constant(value))
    except InternalError:
        return None


def _described(value: object) -> str:
    kind: Any = type(value)
    name = None if has_fields(kind) else getattr(value, "__qualname__", None)  # objects answer anything
    return f"{kind.__name__} {name}" if isinstance(name, str) else f"a value of type {kind.__module__}.{kind.__name__}"
