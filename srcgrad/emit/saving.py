"""From text to files.

Enters: an ``Emission``.  Leaves: a file that another interpreter imports.
"""

from __future__ import annotations

import os

from srcgrad.emit.emission import Emission
from srcgrad.emit.imports import is_importable, literal_text
from srcgrad.errors import SrcgradError


def save(emission: Emission, path: str | os.PathLike[str]) -> None:
    """Write an emission as a file that can be imported without the compiler."""
    for identifier, binding in emission.bindings:
        if is_importable(binding) and binding.module != "__main__":
            continue
        if is_importable(binding):
            raise SrcgradError(
                f"{identifier} lives in __main__: a saved file cannot import it",
                hint=f"move {identifier} to a module",
            )
        if literal_text(binding.value) is None:
            raise SrcgradError(
                f"{identifier} is a {type(binding.value).__name__} that a saved file can neither import nor spell",
                hint=f"make {identifier} an argument, or a global of a module",
            )
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(emission.text)
