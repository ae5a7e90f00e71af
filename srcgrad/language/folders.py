"""Whose files are no user's: those of Python, of installed packages and of srcgrad itself.

>>> is_installed("/home/somebody/model.py")
False
"""

from __future__ import annotations

import os
import site
import sysconfig
from functools import cache


@cache
def _folders() -> tuple[str, ...]:
    paths = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), *site.getsitepackages()}
    paths |= {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    paths.add(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return tuple(os.path.join(path, "") for path in paths if path)


def is_installed(filename: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to srcgrad."""
    return filename.startswith(_folders())
