"""Nothing is compiled at the second call, in whatever way a derivative is asked for."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import (
    SeedError,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jvp,
    pipeline,
    value_and_grad,
    vjp,
)
from srcgrad.rules.edition import edition


def energy(x: Any) -> Any:
    return np.sum(x * x)


def of_list(parts: Any) -> Any:
    return sum([np.sum(part * part) for part in parts])


def with_aux(x: Any) -> Any:
    return np.sum(x**3), x


class Model:
    def __init__(self, w: Any) -> None:
        self.w = w

    def loss(self, x: Any) -> Any:
        return np.sum(self.w * x * x)

    def __call__(self, x: Any) -> Any:
        return self.loss(x)


X = np.array([1.0, 2.0])
MODEL = Model(np.array([2.0, 3.0]))

WAYS: dict[str, Callable[[], Any]] = {
    "grad": lambda: grad(energy)(X),
    "value_and_grad": lambda: value_and_grad(energy)(X),
    "a value that is not proved": lambda: grad(of_list)([X, X]),
    "its value as well": lambda: value_and_grad(of_list)([X, X]),
    "auxiliary": lambda: grad(with_aux, has_aux=True)(X),
    "holomorphic": lambda: grad(energy, holomorphic=True)(np.complex128(1.0 + 2.0j)),
    "vjp": lambda: vjp(energy, X)[1](1.0),
    "jvp": lambda: jvp(energy, (X,), (X,)),
    "grad of a method": lambda: grad(MODEL.loss)(X),
    "vjp of a method": lambda: vjp(MODEL.loss, X)[1](1.0),
    "of another object": lambda: vjp(Model(np.array([5.0, 7.0])).loss, X)[1](1.0),
    "of an object that is called": lambda: grad(MODEL)(X),
    "by an object": lambda: grad(Model.loss)(MODEL, X),
    "hessian": lambda: hessian(energy)(X),
    "hvp": lambda: hvp(energy)(X, X),
    "jacobian": lambda: jacobian(np.square)(X),
    "jacfwd": lambda: jacfwd(np.square)(X),
    "grad of grad": lambda: grad(grad(np.cos))(1.0),
}


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The modes of what is compiled."""
    modes: list[str] = []
    compiling = pipeline._compiled

    def noting(module: Any, request: Any, taken: Any) -> Any:
        modes.append(request.mode)
        return compiling(module, request, taken)

    monkeypatch.setattr(pipeline, "_compiled", noting)
    yield modes


@pytest.mark.parametrize("way", WAYS)
def test_second_call_compiles_nothing(way: str, compiled: list[str]) -> None:
    first = WAYS[way]()
    compiled.clear()
    for _ in range(3):
        np.testing.assert_equal(WAYS[way](), first)
    assert compiled == []


def test_one_program_is_compiled_where_a_value_is_looked_at(compiled: list[str]) -> None:
    def total(parts: Any) -> Any:
        return sum([part * part for part in parts])

    gradient = grad(total)
    assert gradient([1.0, 2.0]) == [2.0, 4.0]
    assert compiled == ["reverse"]
    with pytest.raises(SeedError, match=r"an array of shape \(2,\)"):
        gradient([X, X])
    with pytest.raises(SeedError, match="complex one"):
        gradient([1.0 + 2.0j])
    assert gradient([]) == [] if total([]) == 0.0 and isinstance(total([]), float) else True


def test_of_several_returns_too(compiled: list[str]) -> None:
    def one_of(parts: Any) -> Any:
        if parts[0] > 0.0:
            return sum([part * part for part in parts])
        return parts

    assert value_and_grad(one_of)([1.0, 2.0]) == (5.0, [2.0, 4.0])
    assert compiled == ["value"]
    with pytest.raises(SeedError, match="it returned a list") as raised:
        value_and_grad(one_of)([-1.0, 2.0])
    assert raised.value.span is not None and "one_of" in raised.value.span.text
    assert raised.value.__context__ is None or raised.value.__suppress_context__


def test_value_is_that_of_the_function_where_the_sweep_stores_over_it() -> None:
    def overwritten(x: Any) -> Any:
        made = np.zeros(2)
        made[0] = x[0] * x[1]
        held = [made[0]]
        made[0] = 5.0
        return held[0] if x[0] > 0.0 else x

    value, gradient = value_and_grad(overwritten)(X)
    assert value == 2.0
    np.testing.assert_array_equal(gradient, [2.0, 1.0])


def test_arguments_are_not_kept() -> None:
    def loss(parts: Any) -> Any:
        return np.sum(parts[0] ** 2)

    for call in (grad(loss), lambda parts: grad(loss)(parts), lambda parts: vjp(loss, parts)):
        x = np.ones(3)
        seen = weakref.ref(x)
        call([x])
        del x
        gc.collect()
        assert seen() is None


def test_what_functions_among_the_arguments_captured_is_not_kept() -> None:
    def loss(x: Any, scaled: Any) -> Any:
        return np.sum(scaled(x))

    w = np.ones(2)
    seen = weakref.ref(w)
    grad(loss)(X, lambda x, w=w: w * x)
    del w
    gc.collect()
    assert seen() is None


def test_a_decorated_function_has_programs_of_its_own() -> None:
    import functools

    def plain(x: Any) -> Any:
        return x * x

    assert grad(plain)(3.0) == 6.0

    @functools.wraps(plain)
    def tripled(x: Any) -> Any:
        return 3.0 * plain(x)

    assert grad(tripled)(3.0) == 18.0
    assert grad(plain)(3.0) == 6.0


def test_reading_rules_makes_no_program_stale(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("import numpy as np\ndef f(x):\n    return np.sum(np.sin(x))\n")
    program = (
        "import numpy as np, srcgrad\n"
        "from model import f\n"
        "from srcgrad.rules.edition import edition\n"
        "g = srcgrad.grad(f)\n"
        "g(np.ones(2))\n"
        "first = g.ran\n"
        "import scipy.special, srcgrad.eager, srcgrad.check, srcgrad.rules.elementwise\n"
        "srcgrad.grad(lambda x: x)\n"
        "g(np.ones(2))\n"
        "assert g.ran is first and edition() == 0, edition()\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(srcgrad.__file__).parent.parent)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_rule_of_the_users_does() -> None:
    def bent(x: Any) -> Any:
        return x * x

    def outer(x: Any) -> Any:
        return bent(x)

    gradient = grad(outer)
    assert [gradient(3.0) for _ in range(4)] == [6.0] * 4
    before = edition()

    @srcgrad.rule(bent)
    def bent_rule(x, *, y, y_bar):  # type: ignore[no-untyped-def]
        return 100.0 * y_bar

    assert edition() > before
    assert [gradient(3.0), grad(outer)(3.0)] == [100.0, 100.0]
