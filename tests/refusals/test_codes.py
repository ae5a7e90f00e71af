"""The registry of refusals: every place that refuses names a code of it, and every code is used and explained."""

from __future__ import annotations

import ast
import importlib
import linecache
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import srcgrad
from srcgrad.refusals import Entry, entries, overview, page, program
from tests.package import MODULES, ROOT, nodes_of, text_of
from tests.parameters import share_by_day

ENTRIES = list(entries().values())

#: What refuses, by the name that is called: where its code stands, as a keyword or in front.
KEYWORD = {"UnsupportedSyntax", "UnresolvedName", "MissingRule", "SourceUnavailable"}
FIRST = {"RefusedType", "RefusedValue", "RefusedMode", "RefusedPath", "Reason", "Refusal", "refuse", "refused",
         "refuse_at"}  # fmt: skip
#: Calls of the same names that refuse nothing themselves: they are asked what a class, an array or a rule is.
OTHERS = {
    ("rules/", "refuse"): "an argument of a rule, which is refused by E0504",
    ("pipeline.py", "refuse"): "keys, which are refused by E0603",
    ("ir/restoring/reaching.py", "refuse"): "roots that are not restored together",
    ("transform/shadowing.py", "refused"): "one text, with its code",
}
CODE = re.compile(r"E0[1-7]\d\d")
CALLED = re.compile(rf"\b({'|'.join(KEYWORD | FIRST)})\s*\(")


def _sites() -> Iterator[tuple[str, ast.Call, str]]:
    """Every call in the package that refuses, with the file and the name that is called."""
    for path in MODULES:
        file = path.relative_to(ROOT).as_posix()
        if file.startswith(("eager/", "refusals/")):
            continue  # PyTorch's own errors; the registry itself
        if not CALLED.search(text_of(path)):
            continue  # most files refuse nothing, and need not be parsed
        for node in nodes_of(text_of(path))[ast.Call]:
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in KEYWORD or name in FIRST and not _is_another(file, name, node):
                yield file, node, name


def _is_another(file: str, name: str, node: ast.Call) -> bool:
    is_method = isinstance(node.func, ast.Attribute)
    return any(file.startswith(start) and name == each for start, each in OTHERS if is_method)


def _code(node: ast.Call, name: str) -> ast.expr | None:
    if name in KEYWORD:
        return next((word.value for word in node.keywords if word.arg == "code"), None)
    first = node.args[0] if node.args else None
    return None if isinstance(first, ast.Starred) and name != "refuse_at" else first


def test_every_place_that_refuses_names_a_code() -> None:
    """A code that stands there, or one that is passed on: no place has none."""
    missing = []
    for file, node, name in _sites():
        code = _code(node, name)
        if isinstance(code, ast.Constant):
            is_named = isinstance(code.value, str) and code.value in entries()
        else:  # handed on: a parameter, or the code of a reason or refusal
            is_named = code is not None and ast.unparse(code).split(".")[-1].lstrip("*") in ("code", "use")
        if not is_named:
            missing.append(f"{file}:{node.lineno}: {ast.unparse(node)[:90]}")
    assert not missing, "\n".join(missing)


def test_every_code_is_used_and_registered() -> None:
    used = {
        code
        for path in MODULES
        if "refusals" not in path.relative_to(ROOT).parts and CODE.search(text_of(path))
        for node in nodes_of(text_of(path))[ast.Constant]
        if isinstance(node.value, str) and CODE.fullmatch(code := node.value)
    }
    assert used == set(entries())


def test_codes_come_in_order_and_titles_are_told_apart() -> None:
    codes = [entry.code for entry in ENTRIES]
    assert codes == sorted(set(codes))
    assert len({entry.title for entry in ENTRIES}) == len(codes)


def _run(text: str, name: str) -> tuple[ModuleType, Any]:
    """The module of a program, and what its last line gives."""
    body, call = text.rsplit("\n\n\n", 1)
    linecache.cache[name] = (len(body), None, body.splitlines(keepends=True), name)
    module = ModuleType(Path(name).stem)
    exec(compile(body, name, "exec"), module.__dict__)
    return module, call


def _on_its_pythons(entry: Entry) -> Any:
    """An example that the first Python may not read is asked on the others, which leave out what is slow."""
    return pytest.param(entry, id=entry.code, marks=() if entry.since > (3, 11) else pytest.mark.slow)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("entry", map(_on_its_pythons, ENTRIES))
def test_the_example_is_refused_with_this_code(entry: Entry) -> None:
    if sys.version_info < entry.since:
        pytest.skip("this version of Python does not read it")
    module, call = _run(entry.refused, f"{entry.code}.py")
    with pytest.raises(Exception) as caught:
        eval(call, module.__dict__)
    error: Any = caught.value
    assert getattr(error, "code", None) == entry.code, f"{type(error).__name__}: {error}"
    text = str(error)
    assert text.partition("\n")[0].endswith(f" [{entry.code}]")
    if isinstance(error, srcgrad.SourceUnavailable):
        return  # there is no text to show
    assert re.search(rf"^  {entry.code}\.py:\d+, in \S", text, re.MULTILINE), text
    assert re.search(r"^ +\| *\^+", text, re.MULTILINE), text


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.code)
def test_what_is_written_instead_is_not_refused(entry: Entry) -> None:
    module, call = _run(entry.written, f"{entry.code}_instead.py")
    eval(call, module.__dict__)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("entry", share_by_day([pytest.param(entry, id=entry.code) for entry in ENTRIES], 3))
def test_what_is_written_instead_is_right(entry: Entry) -> None:
    module, _ = _run(entry.written, f"{entry.code}_instead.py")
    given = entry.at if entry.instead_at is None else entry.instead_at
    arguments = eval(f"(lambda *given: given)({given})", module.__dict__)
    with warnings.catch_warnings(action="ignore"):
        srcgrad.check_grads(module.f, *arguments, order=1, modes=("reverse", "forward"))


def test_every_code_is_listed_and_shown() -> None:
    listed = overview()
    for entry in ENTRIES:
        assert f"{entry.code}  {entry.title}" in listed
        assert entry.refused in page()
        assert max(map(len, str(entry).splitlines())) <= 120, entry.code


def test_the_page_is_the_registry() -> None:
    path = ROOT.parent / "docs" / "refusals.md"
    assert path.read_text(encoding="utf-8") == page(), "srcgrad why --page > docs/refusals.md"


def test_imports_stand_before_the_package() -> None:
    assert program("import math\n\n\ndef f(x):\n    return np.sin(x)", "f(1.0)").startswith(
        "import math\n\nimport numpy as np\n\nimport srcgrad\n\n\ndef f"
    )


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    sys.modules.pop("srcgrad.refusals.language", None)
    importlib.import_module("srcgrad.refusals")
    assert "srcgrad.refusals.language" not in sys.modules
