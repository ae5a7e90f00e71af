"""``check_grads`` in all modes: what it compares, who stands alone, and that a fault of either machine is seen."""

from __future__ import annotations

import array
import itertools
import linecache
import math
import sys
import types

import numpy as np
import pytest

import srcgrad
from srcgrad import check_grads
from srcgrad.check import MODES, GradientMismatch
from srcgrad.eager import plain
from srcgrad.inspect.cli import main

X = np.array([0.4, -1.2, 0.7])
NUMBERS = itertools.count()


def energy(x, w, n):
    total = 0.0
    for k in range(n):
        if x[k] > 0.0:
            total = total + math.sin(float(x[k])) * w
        else:
            total = total + np.sum(np.outer(x, x)) ** 2
    return total


def test_every_mode_takes_part_and_agrees():
    report = check_grads(energy, X, 0.5, 3)
    assert MODES == ("reverse", "forward", "eager", "numeric")
    assert {(one.mode, one.order) for one in report} == {
        ("reverse", 1),
        ("forward", 1),
        ("eager", 1),
        ("forward over reverse", 2),
        ("eager over eager", 2),
    }
    assert [argument.name for argument in report.arguments] == ["x", "w"]
    for argument in report.arguments:
        assert set(argument.derivatives) == set(MODES) and argument.alone is None and argument.largest < 1e-8
    assert str(report).splitlines()[0].startswith("x: reverse ")


def test_modes_can_be_chosen():
    assert [one.mode for one in check_grads(energy, X, 0.5, 3, modes=["eager"], order=1)] == ["eager"]
    assert {one.mode for one in check_grads(energy, X, 0.5, 3, modes=("reverse", "numeric"), order=1)} == {"reverse"}
    with pytest.raises(srcgrad.ArgumentError, match="the modes are reverse, forward, eager, numeric"):
        check_grads(energy, X, 0.5, 3, modes=["sideways"])


def program(text, **names):
    """A function of a text of its own."""
    filename = f"<check {next(NUMBERS)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    module = types.ModuleType(f"checked_{len(sys.modules)}")
    module.__dict__.update(np=np, srcgrad=srcgrad, **names)
    sys.modules[module.__name__] = module
    exec(compile(text, filename, "exec"), module.__dict__)
    return module


def test_a_wrong_rule_leaves_the_numbers_alone():
    module = program(
        "def doubled(x):\n    return 2.0 * x\n\n"
        "@srcgrad.elementwise(doubled)\ndef doubled_rule(x, *, y, y_bar):\n    return 3.0 * y_bar\n\n"
        "def f(x, v):\n    return np.sum(doubled(x) + v)\n"
    )
    with pytest.raises(GradientMismatch, match="order 1 in reverse mode gives") as raised:
        check_grads(module.f, X, X)
    assert "x: reverse " in str(raised.value) and "numeric stands alone" in str(raised.value)
    assert "v: " not in str(raised.value)
    first, second = raised.value.report.arguments
    assert first.alone == "numeric" and second.alone is None


def test_a_fault_of_the_eager_machine_leaves_it_alone(monkeypatch):
    original = plain.Run.__call__

    def faulty(self, seed):
        first, *others = original(self, seed)
        return 1.0001 * first, *others

    monkeypatch.setattr(plain.Run, "__call__", faulty)
    with pytest.raises(GradientMismatch) as raised:
        check_grads(energy, X, 0.5, 3, order=1, tolerance=1e-6)
    assert raised.value.report.arguments[0].alone == "eager"


def test_a_small_difference_of_exact_modes_counts(monkeypatch):
    original = plain.Run.__call__
    monkeypatch.setattr(plain.Run, "__call__", lambda self, seed: tuple(g + 3e-8 for g in original(self, seed)))
    with pytest.raises(GradientMismatch, match="differ by"):
        check_grads(energy, X, 0.5, 3, order=1)


def test_what_cannot_run_eagerly_is_left_out_unless_it_is_asked_for(monkeypatch):
    def refuse(self, *_):
        raise NotImplementedError("a reason")

    monkeypatch.setattr(plain.Run, "__init__", refuse)
    report = check_grads(energy, X, 0.5, 3)
    assert report.left_out == {"eager": "a reason"} and "eager left out: a reason" in str(report)
    with pytest.raises(srcgrad.ArgumentError, match="this cannot run eagerly: a reason"):
        check_grads(energy, X, 0.5, 3, modes=("reverse", "eager"))


def test_a_compiled_derivative_inside_a_program_is_refused():
    inner = srcgrad.grad(lambda x: np.sum(x**3))
    with pytest.raises(NotImplementedError, match="inside a program is not followed eagerly"):
        plain.vjp(lambda x: np.sum(inner(x)), X, argnums=(0,))


def test_containers_complex_numbers_and_starred_arguments():
    def f(p, *rest):
        return np.sum(np.abs(p["z"]) ** 2 * p["w"][0]) + rest[0] * rest[1]

    report = check_grads(f, {"z": X + 1j, "w": [X, 3], "name": "a"}, 0.3, 0.7)
    assert [argument.name for argument in report.arguments] == ["p", "rest[0]", "rest[1]"]


def test_the_command_shows_both_tables(tmp_path, capsys):
    path = tmp_path / "model.py"
    path.write_text("import numpy as np\n\ndef f(x, w):\n    return np.sum(np.tanh(x) * w)\n", encoding="utf-8")
    assert main(["check", f"{path}:f", "--args", "np.ones(3), 2.0"]) == 0
    text = capsys.readouterr().out
    assert "eager over eager" in text and "furthest apart" in text
    assert main(["check", f"{path}:f", "--args", "np.ones(3), 2.0", "--modes", "eager,numeric", "--order", "1"]) == 0
    assert "reverse" not in capsys.readouterr().out


# --- plain programs run eagerly --------------------------------------------------------------------------------------
def both(f, *args):
    """The cotangents of a program by both machines."""
    value, pullback = plain.vjp(f, *args, argnums=range(len(args)))
    return pullback(np.ones_like(value)[()])


def test_stores_into_arrays_are_followed():
    def f(x):
        y = np.zeros(3)
        y[0] = x[1] * x[2]
        y[1:] += x[:2]
        y *= 2.0
        np.multiply(y, x, out=y)
        return np.sum(y * y)

    def pure(x):
        y = 2.0 * np.array([x[1] * x[2], x[0], x[1]]) * x
        return np.sum(y * y)

    np.testing.assert_allclose(both(f, X)[0], srcgrad.grad(pure)(X), rtol=1e-12)


def test_a_store_through_a_view_is_seen_in_the_whole():
    def f(x):
        y = np.outer(x, x)
        row = y[1]
        row[0] = x[2] * 3.0
        row += 1.0
        return np.sum(y * y) + row[0]

    def pure(x):
        y = np.outer(x, x)
        row = np.array([x[2] * 3.0, y[1, 1], y[1, 2]]) + 1.0
        return np.sum(y[0] * y[0]) + np.sum(row * row) + np.sum(y[2] * y[2]) + row[0]

    np.testing.assert_allclose(both(f, X)[0], srcgrad.grad(pure)(X), rtol=1e-12)


def test_a_store_is_seen_by_all_that_share_the_memory():
    def f(x):
        y = x * 1.0
        row = y[:2]
        y[0] = x[1]
        return np.sum(row * row)

    np.testing.assert_array_equal(both(f, X)[0], [0.0, 4.0 * X[1], 0.0])


def test_a_store_changes_nothing_of_the_callers():
    whole = np.zeros(3)
    kept = [1.0]

    def stored(x):
        whole[0] = x[0]
        kept.append(x[1])
        x[2] = 5.0
        return whole[0] * kept[-1] * x[2]

    given = X.copy()
    np.testing.assert_allclose(both(stored, given)[0], [5.0 * X[1], 5.0 * X[0], 0.0])
    assert whole[0] == 0.0 and kept == [1.0] and (given == X).all()


def test_methods_are_followed():
    class Holder:
        def area(self, x):
            return math.sqrt(x) * self.scale

    holder = Holder()
    holder.scale = 2.0
    np.testing.assert_allclose(both(lambda x: holder.area(x[0]), X)[0], [1.0 / math.sqrt(X[0]), 0.0, 0.0])


def test_memory_shared_by_two_arguments_is_not_stored_into():
    def f(x, y):
        x[0] = y[1]
        return np.sum(x * y)

    whole = np.arange(4.0)
    with pytest.raises(NotImplementedError, match="shares memory with another argument"):
        plain.vjp(f, whole[:3], whole[1:], argnums=(0, 1))
    assert plain.vjp(lambda x, y: np.sum(x * y), whole[:3], whole[1:], argnums=(0, 1))[0] == 8.0


def test_what_stores_in_a_way_that_is_not_known_is_refused():
    def into_integers(x):
        k = np.zeros(2, int)
        k[0] = x[0] * 10.0
        return k[0] * x[1]

    def into_parts(x):
        z = x * (1.0 + 2.0j)
        z.real[0] = x[1]
        return np.sum(z.imag)

    def by_a_library(x):
        buffer = np.zeros(3)
        np.nditer(buffer, op_flags=["readwrite"])[0] = x[0]
        return np.sum(buffer)

    def over_itself(x):
        y = np.lib.stride_tricks.as_strided(np.zeros(3), (3, 3), (0, 8))
        y[1] = x
        return np.sum(y)

    assert np.array_equal(both(into_integers, X)[0], [0.0, int(X[0] * 10.0), 0.0])
    for f in (into_parts, by_a_library, over_itself):
        with pytest.raises((NotImplementedError, ValueError)):
            both(f, X)


def test_nothing_loses_its_derivative_in_silence():
    with pytest.raises(NotImplementedError, match="no derivative rule"):
        both(lambda x: np.sum(np.union1d(x, x)), X)
    with pytest.raises(NotImplementedError, match="would lose its derivative"):
        both(lambda x: array.array("d", [x[0]])[0] * x[1], X)


def test_numbers_stay_what_they_are():
    def f(a, x):
        assert isinstance(a, float) and isinstance(x, np.ndarray) and isinstance(x[0], np.floating)
        assert (a * x).dtype == np.dtype(np.float32)
        seen = f"{a:.2f} {len(x)} {x.shape} {round(a, 1)} {type(a) is float} {type(x) is float}"
        assert seen == "0.25 3 (3,) 0.2 True False"
        return np.sum(a * x) * (2.0 if a > 0 else 1.0)

    x = X.astype(np.float32)
    a_bar, x_bar = both(f, 0.25, x)
    assert type(a_bar) is float and x_bar.dtype == np.float32
    assert a_bar == pytest.approx(2.0 * np.sum(x))
