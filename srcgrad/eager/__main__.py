"""``python -m srcgrad.eager SCRIPT.py [ARGS]``: run a script for which ``import torch`` means this module.

``torch.nn``, ``torch.autograd`` and every other name below ``torch`` mean the modules of the same name here; what is
not here cannot be imported, and says so.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import srcgrad.eager
from srcgrad.eager.absent import advice

HERE = "srcgrad.eager"


class _Loader(importlib.abc.Loader):
    """Hands out a module that is there already."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the module stays what it was


class AsTorch(importlib.abc.MetaPathFinder):
    """Finds ``torch`` and what is below it in this package."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if name != "torch" and not name.startswith("torch."):
            return None
        module = found(name)
        if module is None:
            said = advice(name.removeprefix("torch."))
            text = f"No module named {name!r}" + (f": {said}" if said else f" in {HERE}, which means torch here")
            raise ModuleNotFoundError(text, name=name)
        spec = importlib.machinery.ModuleSpec(name, _Loader(module), is_package=hasattr(module, "__path__"))
        if hasattr(module, "__path__"):
            spec.submodule_search_locations = list(module.__path__)
        return spec


def found(name: str) -> ModuleType | None:
    """The module that a name of PyTorch's means: one of that name here, or an attribute that is a module."""
    here = HERE + name.removeprefix("torch")
    try:
        if importlib.util.find_spec(here) is not None:
            return importlib.import_module(here)
    except ModuleNotFoundError:
        pass
    module: object = srcgrad.eager
    for part in name.split(".")[1:]:
        module = getattr(module, part, None)
    return module if isinstance(module, ModuleType) else None


def install() -> None:
    """Let ``import torch`` mean this module from now on, in this process."""
    for name in [name for name in sys.modules if name == "torch" or name.startswith("torch.")]:
        del sys.modules[name]
    sys.meta_path.insert(0, AsTorch())


def main(argv: Sequence[str]) -> int:
    """Run the script named first, with the rest as its arguments."""
    if not argv or argv[0] in ("-h", "--help"):
        print("usage: python -m srcgrad.eager SCRIPT.py [ARGS]", file=sys.stdout if argv else sys.stderr)
        return 0 if argv else 2
    script = Path(argv[0])
    if not script.is_file():
        print(f"srcgrad.eager: no such file: {script}", file=sys.stderr)
        return 2
    install()
    sys.argv = [*argv]
    sys.path[0] = str(script.resolve().parent)
    runpy.run_path(str(script), run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
