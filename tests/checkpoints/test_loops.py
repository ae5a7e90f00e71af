"""Derivatives of checkpointed loops are those of the loops, which the same text without ``checkpointed`` gives."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.transform.checkpointing import _Text
from tests.checkpoints import programs
from tests.checkpoints.wrapping import module_of
from tests.parameters import share_by_day

TEXT = inspect.getsource(programs)
FUNCTIONS = [each for each in ast.parse(TEXT).body if isinstance(each, ast.FunctionDef)]
NAMES = [each.name for each in FUNCTIONS if each.args.args[0].arg == "x"]
NUMBERS = [(1, "1"), (2, "None"), (50, "2")]
X = np.array([0.7, 1.3, 0.4])


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The programs with these numbers, or without ``checkpointed``."""
    folder = tmp_path_factory.mktemp("checkpoints")

    @cache
    def of(snapshots: int = 0, recorded: str = "") -> ModuleType:
        if not snapshots:
            return module_of(re.sub(r"checkpointed\((.*), snapshots=S, recorded=R\)", r"\1", TEXT), "recorded", folder)
        text = TEXT.replace("snapshots=S, recorded=R", f"snapshots={snapshots}, recorded={recorded}")
        return module_of(text, f"kept_{snapshots}_{recorded}", folder)

    return of


def arguments(function: Any, n: int) -> tuple[Any, ...]:
    return (X, 0.1, n) if "a" in inspect.signature(function).parameters else (X, n)


def flat(result: Any) -> np.ndarray:
    parts = result if isinstance(result, tuple) else (result,)
    return np.concatenate([flat(p) if isinstance(p, tuple) else np.ravel(p) for p in parts])


def differs(one: Any, other: Any, function: str, n: int) -> bool:
    """Whether value and gradient of a program in two modules differ by more than the order of a sum."""
    made = [srcgrad.value_and_grad(f)(*arguments(f, n)) for f in (getattr(m, function) for m in (one, other))]
    return not np.allclose(*map(flat, made), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(("name", "numbers"), share_by_day(itertools.product(NAMES, NUMBERS), 2))
def test_gradients_are_those_of_the_loop(written, name, numbers):
    for n in (0, 1, 7):
        if n or name != "none_state":  # whose value is None then
            assert not differs(written(), written(*numbers), name, n)


@pytest.mark.parametrize("name", share_by_day(["tuples", "heat", "newton", "matrix", "history"], 3))
def test_in_every_mode(written, name):
    plain, kept = (getattr(m, name) for m in (written(), written(2, "2")))
    rest = arguments(plain, 5)[1:]
    v = np.array([0.3, -0.2, 0.5])

    def each(f: Any) -> Any:
        def of(x):
            return f(x, *rest)

        value, pull = srcgrad.vjp(of, X)
        first, second = pull(1.0), pull(1.0)
        assert np.array_equal(first, second)
        yield value
        yield first
        yield from srcgrad.jvp(of, (X,), (v,))
        yield srcgrad.hvp(of)(X, v)
        yield srcgrad.hessian(of)(X)
        yield srcgrad.grad(lambda y: np.sum(srcgrad.grad(of)(y) ** 2))(X)
        for changed in ({"optimise": False}, {"sink": False}, {"repeat": False}):
            with srcgrad.options(**changed):
                yield srcgrad.grad(of)(X)

    for mine, theirs in zip([*each(plain)], [*each(kept)], strict=True):
        assert np.allclose(mine, theirs, rtol=1e-12, atol=1e-13)


NUMBERS_SPELLED = """
import numpy as np
from srcgrad import checkpointed

SNAPSHOTS = 3

class Settings:
    snapshots = 2

def half(k):
    return k // 2

def f(x, settings, k=2):
    s = x[0]
    for i in checkpointed(range(len(x)), SNAPSHOTS):
        s = s * x[i] + i
    for j, v in checkpointed(enumerate(x), snapshots=settings.snapshots, recorded=max(1, len(x) - SNAPSHOTS)):
        s = s * v + j
    for i in checkpointed(range(4), recorded=half(k), snapshots=SNAPSHOTS * k):
        s = s * x[i % 3]
    while checkpointed(s < 9.0, SNAPSHOTS, Settings.snapshots):
        s = s * 1.5 + x[2]
    return s
"""


def test_the_numbers_may_be_any_that_are_known_before(tmp_path):
    kept = module_of(NUMBERS_SPELLED, "numbers_kept", tmp_path)
    text = re.sub(r"checkpointed\((range\(len\(x\)\)|range\(4\)|enumerate\(x\)|s < 9.0),.*:", r"\1:", NUMBERS_SPELLED)
    plain = module_of(text, "numbers_plain", tmp_path)
    derivative = srcgrad.grad(kept.f)
    assert np.allclose(derivative(X, kept.Settings()), srcgrad.grad(plain.f)(X, plain.Settings()), rtol=1e-13)
    assert derivative.source_for(X, kept.Settings()).count("in stretches(") == 4


@pytest.mark.parametrize(("numbers", "error"), [("0", ValueError), ("2, 0", ValueError), ("1.5", TypeError)])
def test_numbers_that_mean_nothing_are_refused(numbers, error, tmp_path):
    text = f"""
from srcgrad import checkpointed

def f(x):
    for i in checkpointed(range(3), {numbers}):
        x = x * x
    return x
"""
    function = module_of(text, "refused_" + re.sub(r"\W", "_", numbers), tmp_path).f
    for called in (function, srcgrad.grad(function)):
        with pytest.raises(error, match="number of"):
            called(0.5)


def test_the_text_says_what_is_kept(written):
    text = srcgrad.grad(written(2, "1").simple).source_for(X, 5)
    assert "for action, first, last in reversal(kept, passes, snapshots, recorded):" in text
    assert "kept.append((first, (s,)))" in text


# --- memory ----------------------------------------------------------------------------------------------------------
def peak(function: Any, *given: Any) -> int:
    import tracemalloc

    for _ in range(2):  # the second call makes the door of the program
        function(*given)
    tracemalloc.start()
    try:
        function(*given)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_passes(written):
    plain, kept = (srcgrad.grad(m.simple) for m in (written(), written(3, "2")))
    assert peak(kept, X, 4_000) < 0.1 * peak(plain, X, 4_000)
    assert peak(kept, X, 4_000) < 2 * peak(kept, X, 200)


def test_what_passes_write_and_do_not_read_is_no_part_of_a_state(written):
    few, many = (srcgrad.grad(written(count, "2").history) for count in (3, 50))
    assert peak(many, X, 4_000) < 1.2 * peak(few, X, 4_000)  # of a trajectory of 32,000 bytes
    assert "kept.append((first, (s,)))" in few.source_for(X, 5)


# --- what cannot be run again, or kept -------------------------------------------------------------------------------
REFUSED = {
    "draws": ("E0123", "s = s * x[1] + np.random.rand()"),
    "prints": ("E0123", "print(s)"),
    "reads": ("E0123", "s = s * np.loadtxt('a')"),
    "calls_what_draws": ("E0123", "s = s + noise()"),
    "changes_a_list": ("E0122", "held[0] = held[0] * s"),
    "binds_what_has_no_value": ("E0122", "after = s"),
    "changes_an_object": ("E0122", "model.a = model.a * s"),
    "calls_a_method_that_changes_one": ("E0122", "model.advance()"),
    "appends": ("E0122", "held.append(s)"),
    "changes_an_array_in_a_list": ("E0122", "arrays[0][1] = s"),
    "adds_to_a_set": ("E0123", "seen.add(i)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_place_and_reason(name, tmp_path):
    code, line = REFUSED[name]
    text = f"""
import numpy as np
from srcgrad import checkpointed

class Model:
    def __init__(self):
        self.a = 1.0

    def advance(self):
        self.a = self.a * 2.0

def noise():
    return np.random.standard_normal()

def f(x):
    s, held, arrays, seen, model = x[0], [x[1], 2.0], [x * 1.0, x * 2.0], set(), Model()
    for i in checkpointed(range(4), snapshots=2):
        s = s * x[1]
        {line}
    {"s = s + after" if "after" in line else ""}
    return s + held[0] + model.a + np.sum(arrays[0]) + len(seen)
"""
    with pytest.raises(srcgrad.UnsupportedSyntax) as caught:
        srcgrad.grad(module_of(text, f"refused_{name}", tmp_path).f)(X)
    assert caught.value.code == code
    assert caught.value.span is not None and "^" in str(caught.value)


SHARED = {
    "views of one array": ("u = x * 2.0; v = u[1:]", "v[0] = v[0] * 0.5; u[2] = u[2] + v[0]", "E0701"),
    "two names in the end": ("u = x * 2.0; v = x * 3.0", "u[0] = u[0] * 0.5; v = u", "E0701"),
    "two views": ("u = x * 2.0; v = u[1:]; w = u[:2]", "w[1] = w[1] * v[0]", "E0701"),
    "a list that changes later": ("v = [x[0], x[1]]; u = x * len(v[:])", "u = u * v[0]", "E0122"),
    "a name outside": ("u = x * 2.0; v = u", "u = u * 0.5; u[0] = 1.0", "E0122"),
    "what is changed later": ("v = x * 2.0; u = v", "u = v if i == 1 else v * 1.0", "E0122"),
}


@pytest.mark.parametrize("name", SHARED)
def test_memory_that_is_shared_is_refused(name, tmp_path):
    before, inside, code = SHARED[name]
    text = f"""
import numpy as np
from srcgrad import checkpointed

def f(x):
    {before}
    for i in checkpointed(range(3), snapshots=2):
        {inside}
    v[1] = 3.0
    return np.sum(u * u) + v[0] + v[1]
"""
    module = module_of(text, "shared_" + name.replace(" ", "_"), tmp_path)
    with pytest.raises(Exception, match=code):
        srcgrad.grad(module.f)(X)


@pytest.mark.parametrize("given", ["u, u", "u[:2], u[1:]"])
@pytest.mark.parametrize("reads", ["", " + b[0]"])
def test_arguments_that_are_one_array_are_refused(given, reads, tmp_path):
    text = f"""
import numpy as np
from srcgrad import checkpointed

def inner(a, b):
    s = 1.0
    for i in checkpointed(range(4), snapshots=2, recorded=1):
        s = s * a[i % 2]
        b[i % 2] = s{reads}
    return s

def f(x):
    u = x * 1.0
    return inner({given}) * np.sum(u * u)
"""
    module = module_of(text, f"one_array_{len(given)}_{len(reads)}", tmp_path)
    with pytest.raises(ValueError, match="b is stored into and shares memory with a"):
        srcgrad.grad(module.f)(X)


# --- faults that are planted -----------------------------------------------------------------------------------------
def _with(text: str, before: str, after: str) -> str:
    assert before in text
    return text.replace(before, after)


FAULTS = {
    "a state is not put back": ("_, ({state}) = {kept}[-1]", "{state} = {kept}[0][1]"),
    "an adjoint of a parameter is not added": ("__srcgrad_add__({bars[p]}, {part[p]})", "{part[p]}"),
    "passes are not run": ('f"            {self._stretch()}"', '"            pass"'),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name, written, monkeypatch):
    lines = inspect.getsource(_Text.backward_half)
    namespace: dict[str, Any] = dict(vars(inspect.getmodule(_Text)))
    exec("class Faulty:\n" + _with(lines, *FAULTS[name]), namespace)
    monkeypatch.setattr(_Text, "backward_half", namespace["Faulty"].backward_half)
    assert any(differs(written(), written(2, "1"), each, 7) for each in ("simple", "by_number", "matrix"))
