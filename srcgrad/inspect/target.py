"""``FILE.py:function`` or ``package.module:function`` on a command line, made a function object; ``0,w``, made argnums.

A file is imported as Python would import it if it were run from where it lies: its folder comes first on ``sys.path``,
and a file inside a package is imported under its dotted name, so that its relative imports work.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType


class BadTarget(Exception):
    """What the user named cannot be found or imported; the message is one line."""


def resolve(target: str) -> object:
    """The object named by ``FILE.py:function`` or ``package.module:function`` (``Class.method`` works too)."""
    place, colon, name = target.rpartition(":")
    if not colon or not place or not name:
        raise BadTarget(f"expected FILE.py:function or package.module:function, found {target!r}")
    module = _import_file(Path(place)) if place.endswith(".py") else _import_module(place)
    found: object = module
    for attribute in name.split("."):
        try:
            found = getattr(found, attribute)
        except AttributeError:
            raise BadTarget(f"no function {name!r} in {place}{_meant(found, attribute, module)}") from None
    if not callable(found):
        raise BadTarget(f"{name!r} in {place} is not a function but {type(found).__name__}")
    return found


def _meant(holder: object, name: str, module: ModuleType) -> str:
    """The name that is nearly the same, else what there is."""
    near = difflib.get_close_matches(name, [one for one in dir(holder) if callable(getattr(holder, one, None))], 1)
    return f"; did you mean {near[0]!r}?" if near else _defined(module)


def argnums_of(text: str) -> int | str | tuple[int | str, ...]:
    """``0``, ``w`` or ``0,w`` as what ``srcgrad.grad`` takes; raises ValueError for anything else."""
    items = text.replace(" ", "").split(",")
    chosen = tuple(int(item) if item.lstrip("-").isdigit() else item for item in items)
    if not all(isinstance(item, int) or item.isidentifier() for item in chosen):
        raise ValueError(f"expected positions and names such as 0,w, found {text!r}")
    return chosen[0] if len(chosen) == 1 else chosen


def _defined(module: ModuleType) -> str:
    names = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    public = [name for name in names if not name.startswith("_")][:8]
    return f" (it defines {', '.join(public)})" if public else ""


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise BadTarget(f"no such file: {path}")
    folder, parts = path.resolve().parent, [path.stem]
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    sys.path.insert(0, str(folder))
    if len(parts) > 1:
        return _guarded(".".join(parts).removesuffix(".__init__"), str(path))
    there = sys.modules.get(path.stem)
    if there is not None and getattr(there, "__file__", None) == str(path.resolve()):
        return there
    name = path.stem if there is None else f"_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise BadTarget(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise _failed(str(path), error) from error
    return module


def _import_module(name: str) -> ModuleType:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    return _guarded(name, name)


def _guarded(name: str, shown: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise BadTarget(f"no module named {error.name!r}") from None
        raise _failed(shown, error) from error
    except Exception as error:
        raise _failed(shown, error) from error


def _failed(shown: str, error: Exception) -> BadTarget:
    reason = " ".join(str(error).split())
    return BadTarget(f"importing {shown} failed: {type(error).__name__}: {reason}")
