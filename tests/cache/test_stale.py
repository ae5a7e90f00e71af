"""A program that is kept is not used where anything that it was compiled from is another; else it is, to the bit."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import grad
from srcgrad.cache import keys
from tests import oracle
from tests.cache.asked import bits
from tests.cache.project import Project

MODEL = """
import enum
import functools
import numpy as np
from dataclasses import dataclass
from other import outer, Base

RATE = 2.0
SCALES = [1.0, 2.0]
TABLE = np.ones(3)
ACTIVATIONS = {"one": np.sin, "two": outer}


class Kind(enum.IntEnum):
    PLAIN = 1
    SQUARE = 2


MODE = Kind.PLAIN


@dataclass
class Layer(Base):
    weight: float = 1.5

    def apply(self, x):
        return self.weight * x + self.shift(x)


def inner(x):
    return x * x


def loss(x, power=2):
    made = Layer()
    total = inner(x) * RATE + made.apply(x) + outer(x) ** power
    for scale in SCALES:
        total = total + scale * x
    if MODE is Kind.SQUARE:
        total = total * x
    return total + ACTIVATIONS["one"](x) + np.sum(TABLE) * x


def make(f, k):
    def made(x):
        return f(x) * k

    return made


captured = make(inner, 3.0)
halved = functools.partial(lambda k, x: k * x * x, 0.5)
"""
OTHER = """
import numpy as np


class Base:
    factor = 0.25

    def shift(self, x):
        return self.factor * x * x


def outer(x):
    return np.cos(x)
"""


def kept(project: Project, call: Callable[[Any], Any]) -> Any:
    """What a call gives; it is compiled, kept and found again."""
    project.write(model=MODEL, other=OTHER)
    first, was_compiled = project.asks(call)
    assert was_compiled and project.entries()
    second, was_compiled = project.asks(call)
    assert not was_compiled
    assert np.asarray(second).tobytes() == np.asarray(first).tobytes()
    return first


def loss_at(module: Any) -> Any:
    return grad(module.loss)(0.75)


def fresh(project: Project, call: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """What is compiled now gives."""
    monkeypatch.setenv("SRCGRAD_CACHE", "off")
    try:
        return project.asks(call)[0]
    finally:
        monkeypatch.setenv("SRCGRAD_CACHE", str(project.cache))


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("model", "inner(x) * RATE", "inner(x) * x * RATE"),
        ("model", "return x * x\n", "return x * x * x\n"),
        ("other", "np.cos(x)", "np.exp(x)"),
        ("other", "self.factor * x * x", "self.factor * x"),
        ("model", "RATE = 2.0", "RATE = 2"),
        ("model", "RATE = 2.0", "RATE = np.ones(1)[0]"),
        ("model", "SCALES = [1.0, 2.0]", "SCALES = [1.0, 2.0, 3.0]"),
        ("model", "SCALES = [1.0, 2.0]", "SCALES = (1.0, 2.0)"),
        ("model", "TABLE = np.ones(3)", "TABLE = np.ones((3, 1))"),
        ("model", "TABLE = np.ones(3)", "TABLE = np.ones(3, np.float32)"),
        ("model", '"one": np.sin', '"one": np.cos'),
        ("model", '"one": np.sin', '"one": outer'),
        ("model", "MODE = Kind.PLAIN", "MODE = Kind.SQUARE"),
        ("model", "weight: float = 1.5", "weight: float = 2.5"),
        ("other", "factor = 0.25", "factor = 1"),
        ("model", "power=2", "power=3"),
        ("model", "def inner(x):", "inner = np.square\n\n\ndef another(x):"),
        ("model", "class Layer(Base):", "class Middle(Base):\n    factor = 0.5\n\n\n@dataclass\nclass Layer(Middle):"),
        ("model", "RATE = 2.0", "RATE = 2.0\nabs = len"),
    ],
)
def test_a_change_of_what_was_read(project: Project, monkeypatch, module: str, old: str, new: str) -> None:
    before = kept(project, loss_at)
    text = {"model": MODEL, "other": OTHER}[module]
    assert old in text
    project.write(**{module: text.replace(old, new, 1)})
    got, was_compiled = project.asks(loss_at)
    assert was_compiled
    assert got == fresh(project, loss_at, monkeypatch)
    project.write(**{module: text})  # and what was there before is found again
    again, was_compiled = project.asks(loss_at)
    assert again == before and not was_compiled


@pytest.mark.parametrize(
    ("old", "new", "slope"),
    [
        ("RATE = 2.0", "RATE = 5.0", 4.5),
        ("SCALES = [1.0, 2.0]", "SCALES = [1.0, 4.0]", 2.0),
        ("TABLE = np.ones(3)", "TABLE = np.ones(4)", 1.0),
    ],
)
def test_numbers_are_read_as_they_are(project: Project, monkeypatch, old: str, new: str, slope: float) -> None:
    """They are no part of a program, and here they stand in a file of their own, whose text is none."""
    text = MODEL.replace("RATE = 2.0\nSCALES = [1.0, 2.0]\nTABLE = np.ones(3)\n", "from numbers_of import *\n")
    numbers = "import numpy as np\nRATE = 2.0\nSCALES = [1.0, 2.0]\nTABLE = np.ones(3)\n"
    project.write(model=text, other=OTHER, numbers_of=numbers)
    before, _ = project.asks(loss_at)
    project.write(numbers_of=numbers.replace(old, new))
    got, was_compiled = project.asks(loss_at)
    assert not was_compiled and got - before == pytest.approx(slope)
    assert got == fresh(project, loss_at, monkeypatch)


def test_what_was_captured(project: Project, monkeypatch) -> None:
    assert kept(project, lambda m: grad(m.captured)(2.0)) == 12.0
    assert project.asks(lambda m: grad(m.make(m.inner, 5.0))(2.0)) == (20.0, False)  # a number is read as it is
    assert project.asks(lambda m: grad(m.make(m.inner, 5))(2.0)) == (20.0, True)
    assert project.asks(lambda m: grad(m.make(m.outer, 3.0))(2.0)) == (-3.0 * np.sin(2.0), True)
    assert project.asks(lambda m: grad(m.make(np.exp, 3.0))(2.0)) == (3.0 * np.exp(2.0), True)
    assert project.asks(lambda m: grad(m.make(np.sin, 3.0))(2.0)) == (3.0 * np.cos(2.0), True)
    assert project.asks(lambda m: grad(m.make(m.inner, 3.0))(2.0)) == (12.0, False)


def test_what_partial_functions_hold(project: Project) -> None:
    import functools

    assert kept(project, lambda m: grad(m.halved)(2.0)) == 2.0
    assert project.asks(lambda m: grad(functools.partial(m.halved.func, 2.0))(2.0))[0] == 8.0
    assert project.asks(lambda m: grad(functools.partial(m.inner))(2.0))[0] == 4.0


SHARED = """
def product(f, g, x):
    return f(x) * g(x)


def make(k):
    def made(x):
        return x * k[0]

    return made


def counted():
    n = 1.0

    def more(x):
        nonlocal n
        n = n + 1.0
        return n * x

    def read(x):
        return n * x

    return more, read


def both(more, read, x):
    y = more(x)
    return y + read(x)
"""


def test_functions_that_are_one_and_functions_that_are_two(project: Project) -> None:
    """Their texts are the same: which of the arguments are the same function is what differs."""

    def one(module: Any) -> Any:
        f = module.make([2.0])
        return grad(module.product, 2)(f, f, 3.0)

    def two(module: Any) -> Any:
        return grad(module.product, 2)(module.make([2.0]), module.make([5.0]), 3.0)

    project.write(model=SHARED)
    for call, expected in ((one, 24.0), (two, 60.0)):
        assert project.asks(call) == (expected, True)
    for call, expected in ((two, 60.0), (one, 24.0)):
        assert project.asks(call) == (expected, False)


def test_variables_that_two_functions_share(project: Project, monkeypatch) -> None:
    def shared(module: Any) -> Any:
        return grad(module.both, 2)(*module.counted(), 3.0)

    def apart(module: Any) -> Any:
        return grad(module.both, 2)(module.counted()[0], module.counted()[1], 3.0)

    project.write(model=SHARED)
    found = []
    for call in (shared, apart, shared, apart):
        try:
            got = project.asks(call)[0]
        except srcgrad.SrcgradError as refusal:
            got = type(refusal)
        found.append(got)
    expected = []
    for call in (shared, apart):
        try:
            expected.append(fresh(project, call, monkeypatch))
        except srcgrad.SrcgradError as refusal:
            expected.append(type(refusal))
    assert found == expected * 2


@pytest.mark.parametrize("change", [{"strong_zeros": True}, {"optimise": False}, {"sink": False}])
def test_options(project: Project, change: dict[str, bool]) -> None:
    kept(project, loss_at)

    def changed(module: Any) -> Any:
        with srcgrad.options(**change):
            return loss_at(module)

    assert project.asks(changed)[1]
    assert not project.asks(changed)[1]
    assert not project.asks(loss_at)[1]


@pytest.mark.parametrize("way", ["grad", "vjp", "nested"])
def test_sizes_that_are_equal_in_other_places(project: Project, way: str) -> None:
    """A program serves the pattern of sizes that it was compiled for, in each process, and all sizes of it."""
    project.write(model="""
import numpy as np
from srcgrad import grad

def f(x, b):
    return np.sum(np.tanh(x + b) * b) + np.sum(x[:1] * b)

slopes = grad(f, (0, 1))

def g(x, b):
    x_bar, b_bar = slopes(x, b)
    return np.sum(x_bar * x) + np.sum(b_bar * b)
""")

    def call(module: Any, n: int, m: int) -> Any:
        x, b = 1.0 + np.arange(n) / 4.0, 3.0 - np.arange(m) / 3.0
        if way == "vjp":
            return srcgrad.vjp(module.f, x, b)[1](1.0)
        return grad(module.f if way == "grad" else module.g, (0, 1))(x, b)

    def without_sizes(module: Any, n: int, m: int) -> Any:
        with srcgrad.options(sizes=False):
            return call(module, n, m)

    def asked(n: int, m: int) -> bool:
        expected = project.asks(lambda module: without_sizes(module, n, m))[0]
        made, was_compiled = project.asks(lambda module: call(module, n, m))
        for one, other in zip(made, expected, strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=1e-12)
        return was_compiled

    patterns = [(2, 2), (1, 2), (2, 1), (1, 1)]
    assert [asked(*sizes) for sizes in patterns] == [True] * 4
    assert [asked(*sizes) for sizes in [*patterns, (3, 3), (1, 5), (4, 1)]] == [False] * 7


def test_a_loaded_program_knows_its_pattern_of_sizes(project: Project) -> None:
    project.write(model="import numpy as np\n\n\ndef f(x, y):\n    return np.sum(x * y[:-1])\n")
    values = np.arange(2.0), np.arange(3.0)
    for _ in range(2):
        derivative = grad(project.read().f)
        derivative(*values)
        assert derivative.ran.pattern == (2, 3)
        with srcgrad.options(sizes=False):
            derivative(*values)
        assert derivative.ran.pattern == ()


def test_what_is_asked_for(project: Project) -> None:
    """Modes, arguments and their kinds are told apart."""
    project.write(model="import numpy as np\n\n\ndef f(x, y):\n    return np.sum(x * x) * y\n")
    x = np.arange(3.0)
    calls: list[Callable[[Any], Any]] = [
        lambda m: grad(m.f)(x, 2.0), lambda m: grad(m.f, 1)(x, 2.0), lambda m: grad(m.f, (0,))(x, 2.0)[0],
        lambda m: grad(m.f)(3.0, 2.0), lambda m: grad(m.f)(x, 2), lambda m: grad(m.f)(x.astype(np.float32), 2.0),
        lambda m: grad(m.f)(x[None], 2.0), lambda m: srcgrad.value_and_grad(m.f)(x, 2.0)[1],
        lambda m: srcgrad.vjp(m.f, x, 2.0)[1](1.0), lambda m: srcgrad.jvp(m.f, (x, 2.0), (x, 1.0))[1],
        lambda m: grad(lambda x: np.sum(grad(m.f)(x, 2.0)))(x), lambda m: srcgrad.hessian(m.f)(x, 2.0),
        lambda m: srcgrad.hvp(m.f)(x, 2.0, x),
    ]  # fmt: skip
    first = [project.asks(call) for call in calls]
    assert all(was_compiled for _, was_compiled in first[:10])  # the others have programs in common
    for (expected, _), call in zip(first, calls):
        got, was_compiled = project.asks(call)
        assert [*map(bits, oracle.leaves(got))] == [*map(bits, oracle.leaves(expected))]
        assert not was_compiled


def test_members_of_enumerations(project: Project) -> None:
    project.write(model="""
import enum


class Kind(enum.IntEnum):
    A = 1
    B = 2


class Other(enum.IntEnum):
    A = 1


def f(x, kind):
    return x * x if kind is Kind.A else x * x * x
""")
    assert project.asks(lambda m: grad(m.f)(2.0, m.Kind.A)) == (4.0, True)
    assert project.asks(lambda m: grad(m.f)(2.0, m.Kind.B)) == (12.0, True)
    assert project.asks(lambda m: grad(m.f)(2.0, m.Other.A)) == (12.0, True)
    assert project.asks(lambda m: grad(m.f)(2.0, m.Kind.A)) == (4.0, False)


def test_a_rule_of_the_users(project: Project, monkeypatch) -> None:
    from srcgrad.rules import edition

    kept(project, loss_at)
    before = len(project.entries())
    monkeypatch.setattr(edition, "_changes", edition._changes + 1)  # as ``srcgrad.rule`` does
    assert project.asks(loss_at)[1]
    assert len(project.entries()) == before


@pytest.mark.parametrize("what", ["srcgrad", "numpy", "python", "text"])
def test_other_versions(project: Project, monkeypatch, what: str) -> None:
    kept(project, loss_at)
    match what:
        case "srcgrad":
            monkeypatch.setattr(srcgrad, "__version__", "0.0.1")
        case "numpy":
            monkeypatch.setattr(np, "__version__", "2.0.0")
        case "python":
            monkeypatch.setattr(sys, "version", "3.11.0 (another)")
        case "text":
            monkeypatch.setattr(keys, "text_of_srcgrad", lambda: "another text")
    keys.environment.cache_clear()
    try:
        assert project.asks(loss_at)[1]
        assert not project.asks(loss_at)[1]
    finally:
        monkeypatch.undo()
        keys.environment.cache_clear()


def test_the_text_of_srcgrad(tmp_path, monkeypatch) -> None:
    """Each file counts; what is newer than the process may not be what runs in it."""
    (tmp_path / "emit").mkdir()
    for path in ("one.py", "emit/two.py"):
        (tmp_path / path).write_text("x = 1\n")
    monkeypatch.setattr(keys, "_PACKAGE", str(tmp_path))
    with pytest.raises(keys.Unportable):
        keys.text_of_srcgrad()
    monkeypatch.setattr(srcgrad, "loaded_at", 2**63)
    before = keys.text_of_srcgrad()
    assert keys.text_of_srcgrad() == before
    (tmp_path / "emit" / "two.py").write_text("x = 2\n")
    assert keys.text_of_srcgrad() != before


def test_srcgrad_that_is_edited_while_it_runs(project: Project, monkeypatch) -> None:
    """Nothing is kept of a process whose modules may be of two texts."""
    project.write(model=MODEL, other=OTHER)
    monkeypatch.setattr("srcgrad.cache.kept.is_unchanged", lambda: False)
    assert project.asks(loss_at)[1]
    assert not project.entries()


@pytest.mark.parametrize("library", ["gast", "astor"])
def test_another_version_of_what_the_compiler_stands_on(project: Project, monkeypatch, library: str) -> None:
    import srcgrad.cache.facts as facts

    kept(project, loss_at)
    plain = facts.os.stat

    def stat(path: Any, *more: Any, **options: Any) -> Any:
        told = plain(path, *more, **options)
        if f"/{library}/" not in str(path):
            return told
        return type("told", (), {"st_size": told.st_size + 1, "st_mtime_ns": told.st_mtime_ns, "st_mode": told.st_mode})

    monkeypatch.setattr(facts.os, "stat", stat)
    assert project.asks(loss_at)[1]


def test_a_file_that_was_edited_after_it_was_imported(project: Project) -> None:
    """Its derivative is that of the new text, which the code of the process is not."""
    kept(project, loss_at)
    before = len(project.entries())
    module = project.read()
    project.write(model=MODEL.replace("return x * x\n", "return x * x * x\n"))
    project.compiled.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcgrad.SourceChanged)
        loss_at(module)
    assert project.compiled and len(project.entries()) == before


def test_functions_of_a_library_that_were_replaced(project: Project, monkeypatch) -> None:
    project.write(model="import numpy as np\n\n\ndef f(x):\n    return np.sin(x)\n")
    call: Callable[[Any], Any] = lambda m: grad(m.f)(0.5)
    assert project.asks(call) == (np.cos(0.5), True)
    assert project.asks(call) == (np.cos(0.5), False)
    monkeypatch.setattr(np, "sin", np.cos)
    assert project.asks(call) == (fresh(project, call, monkeypatch), True)


def test_modules_that_are_there_and_are_not(project: Project) -> None:
    project.write(model="""
def f(x):
    try:
        import surely_missing_module as module
    except ImportError:
        return x * x
    return module.cube(x)
""")
    call: Callable[[Any], Any] = lambda m: grad(m.f)(2.0)
    assert project.asks(call)[0] == 4.0
    project.write(surely_missing_module="def cube(x):\n    return x * x * x\n")
    assert project.asks(call) == (12.0, True)


def test_what_was_registered_as_a_subclass(project: Project) -> None:
    text = """
from abc import ABC


class Shape(ABC):
    pass


class Square:
    pass

{}
def f(x, shape):
    return x * x if isinstance(shape, Shape) else x * x * x
"""
    call: Callable[[Any], Any] = lambda m: grad(m.f)(2.0, m.Square())
    elsewhere = "from model import Shape, Square\nShape.register(Square)\n"
    project.write(model=text.format(""), elsewhere=elsewhere)
    assert project.asks(call)[0] == 12.0

    def registering(module: Any) -> Any:
        import elsewhere  # noqa: F401

        return call(module)

    assert project.asks(registering) == (4.0, True)
    assert project.asks(call)[0] == 12.0


def test_methods_that_an_object_of_another_class_has(project: Project) -> None:
    text = """
class A:
    def f(self, x):
        return x * x


class B:
    def f(self, x):
        return x * x * x


def g(o, x):
    return o.f(x)
"""
    project.write(model=text)
    assert project.asks(lambda m: grad(m.g, 1)(m.A(), 2.0)) == (4.0, True)
    assert project.asks(lambda m: grad(m.g, 1)(m.B(), 2.0)) == (12.0, True)
    assert project.asks(lambda m: grad(m.A().f)(2.0))[0] == 4.0
    assert project.asks(lambda m: grad(m.A().f)(2.0)) == (4.0, False)

    def replaced(module: Any) -> Any:
        module.A.f = module.B.f
        return grad(module.g, 1)(module.A(), 2.0)

    assert project.asks(replaced) == (12.0, True)


def test_guards_of_a_loaded_program(project: Project) -> None:
    """What changes while the process runs is seen as ever."""
    kept(project, loss_at)
    module = project.read()
    gradient = grad(module.loss)
    project.compiled.clear()
    first = gradient(0.75)
    assert not project.compiled
    module.RATE = 5.0
    assert gradient(0.75) - first == pytest.approx(4.5) and not project.compiled
    module.inner = lambda x: x
    assert gradient(0.75) - first == pytest.approx(2.0) and project.compiled
    project.compiled.clear()
    module.ACTIVATIONS["one"] = np.cos
    gradient(0.75)
    assert project.compiled


def test_what_nobody_can_tell_in_another_process_is_not_kept(project: Project) -> None:
    project.write(model="def f(x, g):\n    return g(x)\n")

    def call(module: Any) -> Any:
        namespace: dict[str, Any] = {}
        text = "def g(x):\n    return x * x\n"
        import linecache

        linecache.cache["<made here>"] = len(text), None, text.splitlines(True), "<made here>"
        exec(compile(text, "<made here>", "exec"), namespace)
        return grad(module.f)(2.0, namespace["g"])

    assert project.asks(call) == (4.0, True)
    assert project.asks(call) == (4.0, True)
    assert not project.entries()


def test_an_entry_holds_all_of_a_program() -> None:
    """Who adds a field to these adds it to the entries, or nothing is kept any more."""
    from srcgrad.cache.kept import _HELD

    for kind, held in _HELD.items():
        assert [*kind.__dataclass_fields__] == held.split()


def test_a_new_kind_of_guards_is_not_passed_over() -> None:
    from dataclasses import make_dataclass

    from srcgrad.cache.describing import Describing
    from srcgrad.cache.facts import facts_of
    from srcgrad.frontend.guards import Guards

    assert facts_of(Guards(), Describing()) is not None
    more: Any = make_dataclass("More", [("more", tuple, ())], bases=(Guards,), frozen=True)
    import srcgrad.cache.facts as facts

    plain, facts.Guards = facts.Guards, more
    try:
        with pytest.raises(facts.Unportable, match="more"):
            facts_of(more(), Describing())
    finally:
        facts.Guards = plain
