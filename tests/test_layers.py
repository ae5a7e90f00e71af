"""The rooms of srcgrad import each other in one direction only (imports inside functions included).

``errors → {runtime, syntax} → language → rules → ir → {frontend → infer → specialise → analysis → transform →
batching → optimize → emit → programs → {cache, requests} | eager} → pipeline → observe → api → {parallel, check,
inspect}``: left never imports right, and the compiler never meets the eager machine.  Within a room, classes have one
trade each, and few files import one another.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.package import MODULES, ROOT, forget, nodes_of, parsed, read, text_of
from tests.parameters import for_each

COMPILER = ("frontend", "infer", "specialise", "analysis", "transform", "batching", "optimize", "emit")
GROUND = ("errors",)
PUBLIC = "the package itself"
BASE = (*GROUND, "runtime", "syntax", "language")

#: What each room may import, besides itself.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "errors": (),
    "refusals": GROUND,
    "tracebacks": GROUND,
    "runtime": GROUND,
    "syntax": GROUND,
    "language": (*GROUND, "runtime"),
    "rules": BASE,
    "ir": (*BASE, "rules"),
    **{room: (*BASE, "rules", "ir", *COMPILER[:index]) for index, room in enumerate(COMPILER)},
    "spec": (*BASE, "rules", "ir", *COMPILER),
    "eager": (*BASE, "rules"),
    "programs": (*BASE, "frontend", "emit"),
    "cache": (*BASE, "rules", "frontend", "emit", "programs", PUBLIC),
    "requests": (*BASE, "rules", "ir", *COMPILER),
    "faults": ("errors", "frontend", "programs"),
    "passes": (*BASE, "rules", "ir", *COMPILER),
    "pipeline": (*BASE, "rules", "ir", *COMPILER, "spec", "programs", "requests", "faults", "passes"),
    "observe": (*BASE, "rules", "ir", *COMPILER, "spec", "programs", "requests", "faults", "passes", "pipeline"),
    "api": (
        *BASE, "rules", "ir", *COMPILER, "spec", "eager", "programs", "cache", "requests", "faults", "passes",
        "pipeline", "observe", "tracebacks",
    ),
    "check": (*BASE, "rules", "ir", *COMPILER, "spec", "eager", "programs", "pipeline", "api", "tracebacks"),
    "scipy": ("errors", "api", "tracebacks"),
    "fuzz": (*BASE, "refusals", "rules", "ir", *COMPILER, "spec", "eager", "programs", "requests", "pipeline", "api"),
    "parallel": (*BASE, "programs", "api", PUBLIC),
    "inspect": (
        *BASE, "refusals", "rules", "ir", *COMPILER, "spec", "eager", "programs", "cache", "pipeline", "observe", "api",
        "check", "fuzz", PUBLIC,
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
    "data": ("operations",),
    "utils": ("autograd", "data"),
}


def imports(text: str, module: str, is_package: bool = False) -> Iterator[tuple[int, str]]:
    """Line and absolute name of everything that ``module`` imports, wherever in the file."""
    yield from imported(importing(text), module, is_package)


def importing(text: str) -> list[ast.AST]:
    """The nodes that may import something."""
    nodes = nodes_of(text)
    return [*nodes[ast.Import], *nodes[ast.ImportFrom], *nodes[ast.Call]]


def imported(nodes: Iterable[ast.AST], module: str, is_package: bool = False) -> Iterator[tuple[int, str]]:
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in nodes:
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


@pytest.fixture(scope="module")
def package() -> Iterator[None]:
    """The files of the package, read at once; the trees go afterwards, since the collector has to look at each part."""
    read()
    yield
    forget()


@pytest.mark.usefixtures("package")
@for_each(MODULES)
def test_layer(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] in FRONT:
        return
    assert parts[0] in MAY_IMPORT, f"{parts[0]} is no room of DESIGN §3"
    assert breaches(text_of(path), *named(path)) == []


@pytest.mark.usefixtures("package")
@for_each([path for path in MODULES if EAGER in path.parents and not (path.parent == EAGER and path.stem in FRONT)])
def test_core_of_eager_imports_no_package_of_it(path: Path) -> None:
    assert outward(text_of(path), *named(path)) == []


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


@pytest.mark.usefixtures("package")
@for_each(MODULES)
def test_module_is_named_for_what_it_does(path: Path) -> None:
    assert path.stem not in {"utils", "helpers", "helper", "common", "misc"}
    if "utils" in path.parts:  # PyTorch's names, under which programs import: nothing is done there
        body = parsed(text_of(path)).body
        assert all(isinstance(node, ast.Expr | ast.ImportFrom | ast.Assign) for node in body), f"{path} holds code"


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


# --- cohesion --------------------------------------------------------------------------------------------------------
LINKS = 3  # of inheritance, within the package
MEMBERS = 40  # functions of one class, and as many fields
CIRCLE = 6  # files of a room that import one another


@dataclass(frozen=True)
class Class:
    """One class statement: its name, its bases in the package by theirs, its functions and its fields."""

    name: str
    bases: tuple[str, ...]
    functions: frozenset[str]
    fields: frozenset[str]


def classes(texts: Mapping[str, tuple[str, bool]]) -> dict[str, Class]:
    """The classes of modules, each given by its text and whether it is a package."""
    found = {}
    for module, (text, is_package) in texts.items():
        tree = parsed(text)
        bound = {name.rpartition(".")[2]: name for _, name in imports(text, module, is_package)}
        bound |= {node.name: f"{module}.{node.name}" for node in tree.body if isinstance(node, ast.ClassDef)}
        for node in nodes_of(text)[ast.ClassDef]:
            spelled = [ast.unparse(base).partition("[")[0].partition(".") for base in node.bases]
            bases = tuple(bound.get(head, head) + dot + rest for head, dot, rest in spelled)
            functions = (part.name for part in node.body if isinstance(part, ast.FunctionDef))
            own = frozenset(name for name in functions if not (name.startswith("__") and name.endswith("__")))
            name = f"{module}.{node.name}"
            found[name] = Class(name, bases, own, frozenset(_fields(node)) - own)
    return found


def _fields(node: ast.ClassDef) -> Iterator[str]:
    """What a class declares or binds, and what its functions bind of ``self``."""
    targets = (t for part in node.body if isinstance(part, ast.Assign) for t in part.targets)
    declared = (part.target for part in node.body if isinstance(part, ast.AnnAssign))
    yield from (target.id for target in (*targets, *declared) if isinstance(target, ast.Name))
    for part in ast.walk(node):
        match part:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name


def links(made: Class, known: Mapping[str, Class]) -> int:
    """How many links of inheritance lie between a class and the furthest one of the package that it derives from."""
    return max((1 + links(known[base], known) for base in made.bases if base in known), default=0)


def members(made: Class, known: Mapping[str, Class], interfaces: Set[str] = frozenset()) -> frozenset[str]:
    """The functions of a class (methods and properties), with those that it inherits from classes of the package.

    Not counted is what a class does not choose: special methods, which are Python's, and what comes from a class that a
    package offers to its users, as ``nn.Module`` is, whose interface it has to have.
    """
    inherited = (members(known[base], known, interfaces) for base in made.bases if base in known)
    offered = (known[base].functions for base in made.bases if base in interfaces)
    return made.functions.union(*inherited).difference(*offered)


def fields(made: Class, known: Mapping[str, Class]) -> frozenset[str]:
    """The data of an object of a class: what it and its bases declare, or bind of ``self``."""
    return made.fields.union(*(fields(known[base], known) for base in made.bases if base in known))


def run_time_imports(text: str, module: str, is_package: bool = False) -> set[str]:
    """What a module imports when it is loaded or when its functions run: not what only annotations name."""
    tests = ((node, node.test) for node in nodes_of(text)[ast.If])
    guarded = (node for node, test in tests if isinstance(test, ast.Name) and test.id == "TYPE_CHECKING")
    named_only = {inner for node in guarded for part in node.body for inner in ast.walk(part)}
    return {name for _, name in imported((n for n in importing(text) if n not in named_only), module, is_package)}


def circles(texts: Mapping[str, tuple[str, bool]]) -> list[list[str]]:
    """The modules that import one another, directly or over others of their room: longest first."""
    graph: dict[str, set[str]] = {}
    for module, (text, is_package) in texts.items():
        named = run_time_imports(text, module, is_package)
        targets = {name if name in texts else name.rpartition(".")[0] for name in named} - {module}
        graph[module] = {t for t in targets if t in texts and t.split(".")[:2] == module.split(".")[:2]}
    reached: dict[str, set[str]] = {}
    for module in graph:
        seen, pending = set[str](), [module]
        while pending:
            for target in graph[pending.pop()] - seen:
                seen.add(target)
                pending.append(target)
        reached[module] = seen
    together = {frozenset(o for o in reached[m] if m in reached[o]) for m in graph if m in reached[m]}
    return sorted((sorted(circle) for circle in together), key=len, reverse=True)


TEXTS = {named(path)[0]: (text_of(path), named(path)[1]) for path in MODULES}


@cache
def every_class() -> dict[str, Class]:
    return classes(TEXTS)


@cache
def offered() -> frozenset[str]:
    """What the packages import into their own names for their users."""
    return frozenset(n for m, (text, is_package) in TEXTS.items() if is_package for _, n in imports(text, m, True))


def _each_class() -> Iterator[Class]:
    """Read when the test runs: the files of the package take seconds to parse."""
    yield from every_class().values()


@pytest.mark.usefixtures("package")
@for_each(_each_class())
def test_class_has_one_trade(made: Class) -> None:
    known = every_class()
    assert links(made, known) <= LINKS, f"{made.name} inherits over {links(made, known)} links"
    own = members(made, known, offered())
    assert len(own) <= MEMBERS, f"{made.name} has {len(own)} functions: {', '.join(sorted(own))}"
    data = fields(made, known)
    assert len(data) <= MEMBERS, f"{made.name} has {len(data)} fields: {', '.join(sorted(data))}"


@pytest.mark.usefixtures("package")
def test_no_more_than_a_few_files_import_one_another() -> None:
    assert [circle for circle in circles(TEXTS) if len(circle) > CIRCLE] == []


def test_what_is_inherited_counts() -> None:
    texts = {
        "srcgrad.a.one": ("class One:\n    def f(self): ...\n    def __len__(self): ...", False),
        "srcgrad.a.two": ("from srcgrad.a.one import One\nclass Two(One[int]):\n    def g(self): self.y = 1", False),
        "srcgrad.a.more": ("from srcgrad.a import two\nclass More(two.Two):\n    x: int", False),
    }
    known = classes(texts)
    assert links(known["srcgrad.a.more.More"], known) == 2
    assert members(known["srcgrad.a.more.More"], known) == {"f", "g"}
    assert members(known["srcgrad.a.more.More"], known, {"srcgrad.a.one.One"}) == {"g"}
    assert fields(known["srcgrad.a.more.More"], known) == {"x", "y"}


@pytest.mark.parametrize(
    "back",
    ["from srcgrad.a.one import f", "def g():\n    from srcgrad.a.one import f", "from . import one"],
)
def test_a_circle_is_seen(back: str) -> None:
    texts = {"srcgrad.a.one": ("import srcgrad.a.two", False), "srcgrad.a.two": (back, False)}
    assert circles(texts) == [["srcgrad.a.one", "srcgrad.a.two"]]


def test_annotations_make_no_circle() -> None:
    back = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from srcgrad.a.one import f"
    assert circles({"srcgrad.a.one": ("import srcgrad.a.two", False), "srcgrad.a.two": (back, False)}) == []
