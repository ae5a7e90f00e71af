"""The rooms of srcgrad import each other in one direction only (imports inside functions included).

``errors → {runtime, syntax} → language → rules → ir → {frontend → infer → specialise → analysis → transform →
optimize → emit | eager} → pipeline → api → {parallel, check, inspect}``: left never imports right, and the compiler
never meets the eager machine.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest

from srcgrad.pipeline import Module
from tests.parameters import for_each

ROOT = Path(__file__).parent.parent / "srcgrad"

COMPILER = ("frontend", "infer", "specialise", "analysis", "transform", "optimize", "emit")
GROUND = ("errors",)
PUBLIC = "the package itself"
BASE = (*GROUND, "runtime", "syntax", "language")

#: What each room may import, besides itself.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "errors": (),
    "refusals": GROUND,
    "runtime": GROUND,
    "syntax": GROUND,
    "language": (*GROUND, "runtime"),
    "rules": BASE,
    "ir": (*BASE, "rules"),
    **{room: (*BASE, "rules", "ir", *COMPILER[:index]) for index, room in enumerate(COMPILER)},
    "spec": (*BASE, "rules", "ir", *COMPILER),
    "eager": (*BASE, "rules"),
    "programs": (*BASE, "rules", "ir", *COMPILER, "spec"),
    "faults": ("errors", "frontend", "programs"),
    "pipeline": (*BASE, "rules", "ir", *COMPILER, "spec", "programs", "faults"),
    "api": (*BASE, "rules", "ir", *COMPILER, "spec", "eager", "programs", "faults", "pipeline"),
    "check": (*BASE, "rules", "ir", *COMPILER, "spec", "eager", "programs", "pipeline", "api"),
    "fuzz": (*BASE, "refusals", "rules", "ir", *COMPILER, "spec", "eager", "programs", "pipeline", "api"),
    "parallel": (*BASE, "programs", "api", PUBLIC),
    "inspect": (
        *BASE, "refusals", "rules", "ir", *COMPILER, "spec", "eager", "programs", "pipeline", "api", "check", "fuzz",
        PUBLIC,
    ),
}
#: The package itself and its command only hand on what is above.
FRONT = ("__init__", "__main__")

EAGER = ROOT / "eager"
#: The modules that lie directly in ``eager``: tensors, graph and engine, and what they stand on.
CORE = frozenset(path.stem for path in EAGER.glob("*.py") if path.stem not in FRONT)
#: What each package of ``eager`` may import of ``eager``, besides itself and the core, which imports none of them.
PACKAGES: dict[str, tuple[str, ...]] = {
    "operations": (),
    "func": ("operations", "autograd"),  # they meet in custom functions, which every transform has to treat
    "autograd": ("operations", "func"),
    "nn": ("operations", "autograd"),
    "optim": (),
    "utils": ("autograd",),
}


def imports(text: str, module: str, is_package: bool = False) -> Iterator[tuple[int, str]]:
    """Line and absolute name of everything that ``module`` imports, wherever in the file."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import():
                yield from ((node.lineno, alias.name) for alias in node.names)
            case ast.ImportFrom(level=0):
                yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
            case ast.ImportFrom():
                above = package[: len(package) - node.level + 1]
                base = ".".join([*above, *([node.module] if node.module else [])])
                yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
            case ast.Call(func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module")):
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield node.lineno, first.value


def breaches(text: str, module: str, is_package: bool = False) -> list[str]:
    """The imports of a module that go from left to right."""
    room = module.split(".")[1]
    found = []
    for line, name in imports(text, module, is_package):
        parts = name.split(".")
        if parts[0] != "srcgrad":
            continue
        target = parts[1] if len(parts) > 1 else PUBLIC
        if target != room and target not in MAY_IMPORT[room]:
            found.append(f"{module}:{line} imports {name}: {room} may not import {target}")
    return found


def outward(text: str, module: str, is_package: bool = False) -> list[str]:
    """The imports of a module of ``eager`` that lead out of the core, or to a package not listed for its own."""
    part = module.split(".")[2]
    allowed = CORE if part in CORE else {*CORE, part, *PACKAGES[part]}
    found = []
    for line, name in imports(text, module, is_package):
        parts = name.split(".")
        if parts[:2] == ["srcgrad", "eager"] and (len(parts) == 2 or parts[2] not in allowed):
            found.append(f"{module}:{line} imports {name}")
    return found


def named(path: Path) -> tuple[str, bool]:
    """The name of the module in a file, and whether it is a package."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    return ".".join(parts[:-1] if is_package else parts), is_package


MODULES = sorted(path for path in ROOT.rglob("*.py"))


@for_each(MODULES)
def test_layer(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] in FRONT:
        return
    assert parts[0] in MAY_IMPORT, f"{parts[0]} is no room of DESIGN §3"
    assert breaches(path.read_text(encoding="utf-8"), *named(path)) == []


@for_each([path for path in MODULES if EAGER in path.parents and not (path.parent == EAGER and path.stem in FRONT)])
def test_core_of_eager_imports_no_package_of_it(path: Path) -> None:
    assert outward(path.read_text(encoding="utf-8"), *named(path)) == []


@pytest.mark.parametrize(
    "text",
    [
        "import srcgrad.eager.operations.joining",
        "from srcgrad.eager import func",
        "from srcgrad.eager import vmap",
        "from srcgrad import eager",
        "from . import autograd",
        "from .nn.module import Module",
        "def f():\n    from srcgrad.eager.operations import picking",
        "if TYPE_CHECKING:\n    from srcgrad.eager.optim import SGD",
        "def f():\n    import_module('srcgrad.eager.utils.checkpoint')",
    ],
)
def test_a_way_out_of_the_core_is_seen(text: str) -> None:
    assert outward(text, "srcgrad.eager.engine")


def test_packages_of_eager_import_the_core_and_what_lies_left_of_them() -> None:
    assert {path.name for path in EAGER.iterdir() if (path / "__init__.py").exists()} == PACKAGES.keys()
    assert not outward("from srcgrad.eager import graph\nfrom .dispatch import call", "srcgrad.eager.engine")
    assert not outward("from ..operations import joining\nfrom . import forward", "srcgrad.eager.func.batching")
    assert outward("from srcgrad.eager.func import vmap", "srcgrad.eager.operations.joining")


@for_each(MODULES)
def test_module_is_of_readable_size_and_named_for_what_it_does(path: Path) -> None:
    assert path.stem not in {"utils", "helpers", "helper", "common", "misc"}
    if "utils" in path.parts:  # PyTorch's names, under which programs import: nothing is done there
        body = ast.parse(path.read_text(encoding="utf-8")).body
        assert all(isinstance(node, ast.Expr | ast.ImportFrom | ast.Assign) for node in body), f"{path} holds code"
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= 440, f"{path.relative_to(ROOT)} has {lines} lines"


def test_compiler_and_eager_never_meet() -> None:
    assert all("eager" not in MAY_IMPORT[room] for room in (*COMPILER, "rules", "runtime", "pipeline"))
    assert not set(MAY_IMPORT["eager"]) & set(COMPILER)


@pytest.mark.parametrize(
    "text",
    [
        "import srcgrad.emit.printer",
        "from srcgrad.emit import printer",
        "from srcgrad import emit",
        "def f():\n    from srcgrad.emit.printer import emit",
        "from ..emit import printer",
        "if TYPE_CHECKING:\n    from ..emit.printer import emit",
        "import srcgrad",
        "import importlib\nimportlib.import_module('srcgrad.emit.printer')",
    ],
)
def test_a_breach_is_seen(text: str) -> None:
    assert breaches(text, "srcgrad.rules.table")


def test_allowed_imports_are_no_breach() -> None:
    text = "import numpy\nfrom srcgrad.errors import Span\nfrom . import template\nfrom ..syntax import parse"
    assert breaches(text, "srcgrad.rules.table") == []


def _hands_on(value: object) -> bool:
    """Whether a method also calls the one that it hides."""
    return isinstance(value, FunctionType) and {"super", value.__name__} <= set(value.__code__.co_names)


@pytest.mark.parametrize("whole", [Module])
def test_no_part_of_a_class_hides_a_private_method_of_another(whole: type) -> None:
    """The module is a chain of mixins: a second method of a name would replace the first."""
    seen: dict[str, type] = {}
    hidden: list[tuple[str, str, str]] = []
    for part in whole.__mro__:
        for name, value in vars(part).items():
            if not name.startswith("_") or name.endswith("__") or getattr(value, "__isabstractmethod__", False):
                continue
            if not isinstance(value, FunctionType | property | staticmethod | classmethod):
                continue
            if name in seen and not _hands_on(vars(seen[name])[name]):
                hidden.append((name, seen[name].__name__, part.__name__))
            seen[name] = part
    assert hidden == []
