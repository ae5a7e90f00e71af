"""The public calls: what they accept, what they return, what they refuse."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import srcgrad
from srcgrad import check_grads, grad, hessian, hvp, jacfwd, jacobian, jvp, stop_gradient, value_and_grad, vjp
from srcgrad.programs import options
from tests import oracle
from tests.corpus.example import matrix, vector


def product(x, y):
    return x * np.sin(y)


def energy(x, w):
    s = 0.0
    for i in range(len(x)):
        s = s + w * x[i] ** 3
    return s


def stretched(x, a):
    return np.sin(a * x) * x


def layered(params, x, scale=2.0):
    for w, b in params["layers"]:
        x = np.tanh(w @ x + b)
    return scale * np.sum(x) + params["bias"]


PARAMETERS = {"layers": [(matrix(2, 3), vector(2)), (matrix(2, 2, 1), vector(2, 1))], "bias": 0.5}


# --- grad and value_and_grad -----------------------------------------------------------------------------------------
def test_grad_by_default_is_of_the_first_argument():
    assert grad(product)(0.5, 0.3) == pytest.approx(np.sin(0.3))


@pytest.mark.parametrize("argnums", [1, "y", -1])
def test_argnums_are_positions_and_names(argnums):
    assert grad(product, argnums)(0.5, 0.3) == pytest.approx(0.5 * np.cos(0.3))


def test_a_tuple_of_argnums_gives_a_tuple():
    got = grad(product, argnums=(1, "x"))(0.5, 0.3)
    assert isinstance(got, tuple)
    assert got == pytest.approx((0.5 * np.cos(0.3), np.sin(0.3)))
    assert isinstance(grad(product, argnums=(0,))(0.5, 0.3), tuple)


def test_keywords_and_defaults():
    x = vector(3)
    one = grad(layered, "params")(PARAMETERS, x)
    two = grad(layered, "params")(PARAMETERS, scale=2.0, x=x)
    np.testing.assert_array_equal(one["layers"][0][0], two["layers"][0][0])
    assert grad(layered, "scale")(PARAMETERS, x) == pytest.approx(layered(PARAMETERS, x, 1.0) - 0.5)


def test_value_and_grad():
    value, gradient = value_and_grad(energy, argnums=(0, 1))(vector(3), 0.7)
    assert value == energy(vector(3), 0.7)
    np.testing.assert_allclose(gradient[0], 2.1 * vector(3) ** 2)
    assert gradient[1] == pytest.approx(np.sum(vector(3) ** 3))


def test_decorators_with_and_without_arguments():
    @grad
    def plain(x):
        return x**3

    @grad(argnums=(0, "w"))
    def chosen(x, w):
        return x * w**2

    @value_and_grad(argnums="w")
    def valued(x, w):
        return x * w**2

    assert plain(2.0) == pytest.approx(12.0)
    assert chosen(2.0, 3.0) == pytest.approx((9.0, 12.0))
    assert valued(2.0, 3.0) == pytest.approx((18.0, 12.0))


def test_has_aux():
    def with_aux(x):
        return np.sum(x**2), {"doubled": 2.0 * x, "name": "aux"}

    gradient, aux = grad(with_aux, has_aux=True)(vector(3))
    np.testing.assert_allclose(gradient, 2.0 * vector(3))
    np.testing.assert_allclose(aux["doubled"], 2.0 * vector(3))
    assert aux["name"] == "aux"
    (value, _), again = value_and_grad(with_aux, has_aux=True)(vector(3))
    assert value == pytest.approx(np.sum(vector(3) ** 2))
    np.testing.assert_array_equal(again, gradient)


def test_the_gradient_has_the_structure_of_the_argument():
    got = grad(layered)(PARAMETERS, vector(3))
    assert list(got) == ["layers", "bias"]
    assert isinstance(got["layers"], list) and isinstance(got["layers"][0], tuple)
    assert got["layers"][0][0].shape == (2, 3) and got["layers"][1][1].shape == (2,)
    assert got["bias"] == 1.0 and isinstance(got["bias"], float)


class Pair(NamedTuple):
    """Two parameters."""

    a: float
    b: np.ndarray


def test_a_named_tuple_stays_one():
    got = grad(lambda p: p[0] * np.sum(p[1]))(Pair(0.5, vector(2)))
    assert isinstance(got, Pair)
    assert got.a == pytest.approx(np.sum(vector(2)))
    np.testing.assert_allclose(got.b, [0.5, 0.5])


def test_an_unused_argument_gets_zeros():
    got = grad(lambda x, y, p: x * 2.0, argnums=(0, 1, 2))(1.0, matrix(2, 3), {"a": vector(2), "b": (0.5,)})
    assert got[0] == 2.0
    np.testing.assert_array_equal(got[1], np.zeros((2, 3)))
    np.testing.assert_array_equal(got[2]["a"], np.zeros(2))
    assert got[2]["b"] == (0.0,)


def test_a_constant_function_has_a_zero_gradient():
    assert grad(lambda x: 3.0)(1.0) == 0.0
    np.testing.assert_array_equal(grad(lambda x: 3.0)(vector(3)), np.zeros(3))


def test_results_do_not_share_memory():
    def both(x, y):
        return np.sum(x + y)

    first, second = grad(both, argnums=(0, 1))(vector(3), vector(3))
    first[0] = 99.0
    assert second[0] == 1.0
    _, pullback = vjp(lambda x: x, vector(3))
    seed = np.ones(3)
    (gradient,) = pullback(seed)
    gradient[0] = 99.0
    assert seed[0] == 1.0


def test_arguments_are_not_changed():
    x = vector(4)
    before = x.copy()
    value_and_grad(energy)(x, 0.3)
    vjp(stretched, x, 0.5)[1](np.ones(4))
    hvp(energy)(x, 0.3, np.ones(4))
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes_stay(dtype):
    x = vector(4).astype(dtype)
    assert grad(lambda v: np.sum(np.sin(v) * v))(x).dtype == dtype
    value, pullback = vjp(lambda v: 2.0 * v, x)
    assert value.dtype == dtype
    assert pullback(np.ones(4, dtype))[0].dtype == dtype
    assert jvp(lambda v: 2.0 * v, (x,), (x,))[1].dtype == dtype
    scalar = grad(lambda a: a * a)(dtype(0.5))
    assert np.asarray(scalar).dtype == dtype


def test_python_floats_stay_python_floats():
    assert type(grad(lambda x: x * x)(0.5)) is float


def test_live_globals_and_closures_are_read_at_the_call():
    factor = 2.0

    def scaled(x):
        return factor * x * x

    gradient = grad(scaled)
    assert gradient(1.0) == 4.0
    factor = 3.0
    assert gradient(1.0) == 6.0


# --- what is refused -------------------------------------------------------------------------------------------------
def test_an_output_that_is_no_scalar_is_refused_with_its_shape():
    with pytest.raises(srcgrad.SeedError, match=r"\(3,\)"):
        grad(stretched)(vector(3), 0.5)
    with pytest.raises(srcgrad.SeedError, match="tuple"):
        grad(lambda x: (x, x))(0.5)
    with pytest.raises(srcgrad.SeedError):
        hessian(stretched)(vector(3), 0.5)


def test_a_scalar_array_of_no_dimensions_is_a_scalar():
    assert grad(lambda x: np.sum(x, keepdims=True).reshape(()))(vector(3)).shape == (3,)


@pytest.mark.parametrize("value", [3, True, np.int64(2), np.arange(3), np.array([True, False]), "text", None])
def test_arguments_without_a_derivative_are_refused(value):
    with pytest.raises(srcgrad.ArgumentError, match="x"):
        grad(lambda x: 1.0)(value)


def test_an_integer_says_what_to_pass():
    with pytest.raises(TypeError, match="3.0"):
        grad(lambda x: x * x)(3)


def test_integers_that_are_not_differentiated_pass():
    assert grad(lambda x, n: x**n)(2.0, 3) == pytest.approx(12.0)


@pytest.mark.parametrize("argnums", [2, "z", (0, 5), -3])
def test_an_argument_that_does_not_exist(argnums):
    with pytest.raises(srcgrad.ArgumentError, match="x, y"):
        grad(product, argnums)(1.0, 2.0)


def test_no_function():
    with pytest.raises(srcgrad.ArgumentError):
        grad(3.0)


def test_wrong_number_of_arguments_is_pythons_own_error():
    with pytest.raises(TypeError):
        grad(product)(1.0)


@pytest.mark.parametrize("seed", [np.ones(2), 1.0, (np.ones(3),), None])
def test_a_seed_of_another_shape_is_refused(seed):
    _, pullback = vjp(stretched, vector(3), 0.5)
    with pytest.raises(srcgrad.SeedError, match=r"\(3,\)"):
        pullback(seed)


def test_a_tangent_of_another_shape_is_refused():
    with pytest.raises(srcgrad.SeedError):
        jvp(stretched, (vector(3), 0.5), (np.ones(2), 1.0))
    with pytest.raises(srcgrad.SrcgradError):
        jvp(stretched, (vector(3), 0.5), (np.ones(3),))


def test_a_failure_inside_emitted_code_names_the_users_line():
    def fails(x):
        y = x * x
        return np.sum(y @ np.ones((4, 4)))

    with pytest.raises(ValueError) as caught:
        grad(fails)(vector(3))
    assert any("test_api.py" in note for note in getattr(caught.value, "__notes__", [])) or "test_api.py" in str(
        caught.value
    )


# --- vjp, jvp --------------------------------------------------------------------------------------------------------
def test_vjp_gives_one_cotangent_per_argument():
    value, pullback = vjp(stretched, vector(3), 0.5)
    np.testing.assert_array_equal(value, stretched(vector(3), 0.5))
    both = pullback(np.ones(3))
    assert isinstance(both, tuple) and len(both) == 2
    only = vjp(stretched, vector(3), 0.5, argnums=1)[1](np.ones(3))
    assert isinstance(only, tuple) and only == pytest.approx((both[1],))
    assert vjp(stretched, vector(3), 0.5, argnums=("a", 0))[1](np.ones(3))[0] == pytest.approx(both[1])


def test_a_pullback_may_be_called_thrice():
    def march(x, a):
        for i in range(5):
            if x[0] > 0.0:
                x = np.sin(a * x)
            else:
                x = x * x
            if i > 2 and np.sum(x) > 100.0:
                return x
        return x

    _, pullback = vjp(march, vector(3), 0.5)
    first = pullback(np.array([1.0, 0.0, 2.0]))
    other = pullback(np.array([2.0, 0.0, 4.0]))
    third = pullback(np.array([1.0, 0.0, 2.0]))
    np.testing.assert_array_equal(first[0], third[0])
    assert first[1] == third[1]
    np.testing.assert_allclose(other[0], 2.0 * first[0])


def test_vjp_of_a_structured_result():
    def split(x, a):
        return {"scaled": a * x, "pair": (np.sum(x), [x * x])}

    _, pullback = vjp(split, vector(2), 0.5)
    x_bar, a_bar = pullback({"scaled": np.array([1.0, 0.0]), "pair": (2.0, [np.array([0.0, 1.0])])})
    np.testing.assert_allclose(x_bar, [0.5 + 2.0, 2.0 + 2.0 * vector(2)[1]])
    assert a_bar == pytest.approx(vector(2)[0])


def test_vjp_with_keywords():
    _, pullback = vjp(layered, PARAMETERS, vector(3), scale=1.0, argnums=1)
    double = vjp(layered, PARAMETERS, vector(3), scale=2.0, argnums=1)[1]
    np.testing.assert_allclose(double(1.0)[0], 2.0 * pullback(1.0)[0])


def test_jvp():
    value, tangent = jvp(product, (0.5, 0.3), (1.0, 2.0))
    assert value == product(0.5, 0.3)
    assert tangent == pytest.approx(np.sin(0.3) + 2.0 * 0.5 * np.cos(0.3))


def test_jvp_of_an_argument_that_does_not_move():
    assert jvp(lambda x, n: x**n, (2.0, 3), (1.0, None))[1] == pytest.approx(12.0)


def test_jvp_and_vjp_are_transposes():
    x, a, x_dot, y_bar = vector(4), 0.7, vector(4, 1), vector(4, 2)
    _, y_dot = jvp(stretched, (x, a), (x_dot, 0.3))
    x_bar, a_bar = vjp(stretched, x, a)[1](y_bar)
    assert np.dot(y_bar, y_dot) == pytest.approx(np.dot(x_bar, x_dot) + a_bar * 0.3, rel=1e-12)


def test_a_function_as_argument():
    def apply(f, x):
        return f(x) * x

    assert vjp(apply, lambda t: t * t, 2.0)[1](1.0) == pytest.approx((12.0,))
    assert grad(apply, argnums=1)(np.sin, 0.5) == pytest.approx(np.sin(0.5) + 0.5 * np.cos(0.5))
    assert grad(apply, argnums=1)(lambda t: 3.0 * t, 0.5) == pytest.approx(3.0)
    assert grad(apply, argnums=1)(lambda t: 4.0 * t, 0.5) == pytest.approx(4.0)


# --- dense derivatives -----------------------------------------------------------------------------------------------
def table(x):
    return np.array([[x[0] * x[1], np.sin(x[2])], [x[0], x[1] ** 2], [x[2], x[0] * x[2]]])


@pytest.mark.parametrize("way", [jacobian, jacfwd])
def test_jacobians_have_output_axes_first(way):
    x = vector(3)
    got = way(table)(x)
    assert got.shape == (3, 2, 3)
    np.testing.assert_allclose(got[0, 0], [x[1], x[0], 0.0])
    np.testing.assert_allclose(got[2, 1], [x[2], 0.0, x[0]])


@pytest.mark.parametrize("way", [jacobian, jacfwd])
def test_jacobian_of_a_matrix_argument_and_several_arguments(way):
    def product_(m, v):
        return m @ v

    by_m, by_v = way(product_, argnums=(0, 1))(matrix(2, 3), vector(3))
    assert by_m.shape == (2, 2, 3) and by_v.shape == (2, 3)
    np.testing.assert_allclose(by_v, matrix(2, 3))
    np.testing.assert_allclose(by_m[1, 1], vector(3))
    np.testing.assert_allclose(by_m[1, 0], np.zeros(3))


@pytest.mark.parametrize("way", [jacobian, jacfwd])
def test_jacobian_of_scalars(way):
    assert np.shape(way(lambda x: x * x)(3.0)) == ()
    assert way(lambda x: x * x)(3.0) == pytest.approx(6.0)
    assert way(energy, argnums="w")(vector(3), 0.5) == pytest.approx(np.sum(vector(3) ** 3))


@pytest.mark.parametrize("way", [jacobian, jacfwd])
def test_jacobian_with_structures(way):
    got = way(lambda p: {"a": p["x"] * p["y"]})({"x": vector(2), "y": 0.5})
    np.testing.assert_allclose(got["a"]["x"], 0.5 * np.eye(2))
    np.testing.assert_allclose(got["a"]["y"], vector(2))


def test_hessian():
    got = hessian(energy)(vector(3), 0.5)
    assert got.shape == (3, 3)
    np.testing.assert_allclose(got, np.diag(3.0 * vector(3)))
    blocks = hessian(energy, argnums=(0, 1))(vector(3), 0.5)
    np.testing.assert_allclose(blocks[0][0], got)
    np.testing.assert_allclose(blocks[0][1], 3.0 * vector(3) ** 2)
    np.testing.assert_allclose(blocks[1][0], 3.0 * vector(3) ** 2)
    assert blocks[1][1] == 0.0


def test_hessian_of_a_matrix_argument():
    m = matrix(2, 2)
    got = hessian(lambda a: np.sum(a @ a))(m)
    assert got.shape == (2, 2, 2, 2)
    np.testing.assert_allclose(got.reshape(4, 4), got.reshape(4, 4).T)


def test_hvp():
    v = vector(3, 1)
    np.testing.assert_allclose(hvp(energy)(vector(3), 0.5, v), 3.0 * vector(3) * v)
    by_x, by_w = hvp(energy, argnums=(0, 1))(vector(3), 0.5, (v, 2.0))
    np.testing.assert_allclose(by_x, 3.0 * vector(3) * v + 2.0 * 3.0 * vector(3) ** 2)
    assert by_w == pytest.approx(np.sum(3.0 * vector(3) ** 2 * v))
    with pytest.raises(srcgrad.SrcgradError):
        hvp(energy)(vector(3), 0.5, np.ones(2))


def test_derivatives_of_derivatives():
    assert grad(grad(lambda x: x**4))(2.0) == pytest.approx(48.0)
    assert jacobian(grad(energy))(vector(3), 0.5) == pytest.approx(np.diag(3.0 * vector(3)))


# --- stop_gradient, check_grads, user rules --------------------------------------------------------------------------
def test_stop_gradient():
    assert stop_gradient(0.5) == 0.5
    assert grad(lambda x: x * stop_gradient(x))(0.5) == 0.5
    assert jvp(lambda x: x * stop_gradient(x), (0.5,), (1.0,))[1] == 0.5


def test_check_grads_passes_and_fails():
    check_grads(stretched, vector(3), 0.5, order=2, modes=("reverse", "forward"))
    check_grads(energy, vector(3), 0.5)
    with pytest.raises(AssertionError):
        check_grads(lambda x: x * stop_gradient(x), 0.5, order=1)


def opaque(x, n):
    return eval("x**n")


def smooth(x):
    return np.sin(x)


def test_user_rules():
    with pytest.raises(srcgrad.SrcgradError):
        grad(lambda x: opaque(x, 3))(2.0)

    @srcgrad.rule(opaque)
    def power(x, n, *, y, y_bar):
        return y_bar * n * x ** (n - 1), None

    @power.tangent
    def power(x, n, *, y, x_dot):
        return x_dot * n * x ** (n - 1)

    assert grad(lambda x: opaque(x, 3) * x)(2.0) == pytest.approx(32.0)
    assert jvp(lambda x: opaque(x, 3), (2.0,), (1.0,))[1] == pytest.approx(12.0)


def test_user_elementwise_rule():
    @srcgrad.elementwise(smooth)
    def smooth_rule(x, *, z, z_bar):
        return z_bar * np.cos(x)

    np.testing.assert_allclose(grad(lambda v: np.sum(smooth(v)))(vector(3)), np.cos(vector(3)))


def announce(x):
    return float(x) > 0.0


def test_user_constant():
    srcgrad.constant(announce)
    assert grad(lambda x: x * x if announce(x) else -x)(2.0) == 4.0


# --- the compiled object ---------------------------------------------------------------------------------------------
def test_the_compiled_object_shows_its_source():
    compiled = grad(energy)
    assert compiled.primal is energy
    assert "def grad_energy(x, w" in compiled.source
    assert "Gradient of" in compiled.source
    assert "test_api.py" in compiled.source
    assert compiled.source == grad(energy).source


def scaled(x: np.ndarray, w: float):
    return np.sum(w * x)


def test_the_source_is_that_of_what_ran_last():
    compiled = grad(energy)
    generic = compiled.source
    assert generic == compiled.generic_source
    compiled(vector(3), 0.5)
    assert compiled.source == compiled.source_for(vector(3), 0.5) != generic == compiled.generic_source
    assert max(compiled.line_map) <= len(compiled.source.splitlines())
    compiled([1.5, 2.0], 0.5)
    assert compiled.source == compiled.source_for([1.5, 2.0], 0.5)


def ruled(x):
    return x * x


def test_the_source_follows_a_rule_that_is_given_later():
    compiled = grad(lambda x: ruled(x) * 2.0)
    compiled(3.0)
    before = compiled.source

    @srcgrad.elementwise(ruled)
    def rule_of_ruled(x, *, y, y_bar):
        return 2.0 * y_bar * x

    assert compiled.source != before
    assert compiled(3.0) == 12.0


def test_before_a_call_the_source_is_what_annotations_say():
    assert "unbroadcast" not in grad(scaled).source
    assert "unbroadcast" in grad(scaled).generic_source
    shaped = np.ndarray[tuple[int, int], np.dtype[np.float64]]

    def product(w, v):
        return np.sum(w @ v)

    product.__annotations__ = {"w": shaped, "v": np.ndarray[tuple[int], np.dtype[np.float64]]}
    with options(sizes=False):
        assert grad(product).source == grad(product).source_for(np.ones((2, 3)), np.ones(3))
    told = "For w (n, m), v (m,) alone, where n and m differ and are more than 1."
    assert told in grad(product).source_for(np.ones((2, 3)), np.ones(3))
    assert " alone" not in grad(product).source
    product.__annotations__ = {"w": "a name that does not exist", "v": float}
    assert grad(product).source == grad(product).generic_source


class Held:
    def __init__(self, k):
        self.k = k

    def energy(self, x):
        return self.k * x**2


def test_a_bound_method_shows_its_source_before_it_is_called():
    compiled = grad(Held(2.0).energy)
    assert "t = self.k" in compiled.source and "def grad_energy(self, x, value_bar=1.0):" in compiled.source
    first = Held.energy.__code__.co_firstlineno
    assert {span.line for span in compiled.line_map.values()} == {first, first + 1}
    assert compiled(3.0) == 12.0


class Coupled:
    def __init__(self, one, scale):
        self.one, self.scale = one, scale

    def energy(self, x):
        return self.one.energy(np.sum(self.scale * x))


def test_a_bound_method_is_saved_as_a_function_of_its_object(tmp_path, monkeypatch):
    grad(Coupled(Held(2.0), np.ones(2)).energy).save(tmp_path / "saved_coupled.py")
    monkeypatch.syspath_prepend(tmp_path)
    saved = importlib.import_module("saved_coupled")
    other = Coupled(Held(3.0), np.array([1.0, 2.0]))
    assert np.array_equal(saved.grad_energy(other, np.ones(2)), grad(other.energy)(np.ones(2)))
    scale = other.scale
    for changed in (Coupled(Held(3), scale), Coupled(Held(3.0), scale[None]), Coupled(other, scale), other.one):
        with pytest.raises(TypeError, match="this program was saved for tests.test_api.Coupled") as caught:
            saved.grad_energy(changed, np.ones(2))
        assert caught.value.code == "E0203"
    with pytest.raises(srcgrad.ArgumentError, match="holds more than numbers"):
        grad(Coupled(Held(2.0), len).energy).save(tmp_path / "refused.py")


class Flagged:
    def __init__(self, flag):
        self.flag = flag

    def energy(self, x):
        return x**2 if isinstance(self.flag, bool) else x**3

    def at_key(self, x):
        return x * self.flag[1]


def test_a_saved_method_tells_truth_values_of_numpy_from_those_of_python_and_keys_by_their_class(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for method, flag, other in (("energy", True, np.bool_(True)), ("at_key", {1: 2.0}, {"1": 2.0})):
        grad(getattr(Flagged(flag), method)).save(tmp_path / f"saved_{method}.py")
        saved = getattr(importlib.import_module(f"saved_{method}"), f"grad_{method}")
        assert saved(Flagged(flag), 3.0) == grad(getattr(Flagged(flag), method))(3.0)
        with pytest.raises(TypeError, match="this program was saved for"):
            saved(Flagged(other), 3.0)


def test_a_method_of_an_object_that_contains_itself_is_not_saved(tmp_path):
    held = Held(2.0)
    held.itself = held
    with pytest.raises(srcgrad.ArgumentError, match="contains itself"):
        grad(held.energy).save(tmp_path / "refused.py")


GRAVITY = 9.81


def falling(mass):
    def weight(x):
        return mass * GRAVITY * x

    return weight


def test_a_closure_over_a_constant_of_a_module_is_saved_without_the_module(tmp_path):
    grad(falling(2.0)).save(tmp_path / "saved_weight.py")
    text = (tmp_path / "saved_weight.py").read_text()
    assert "GRAVITY = 9.81" in text and "test_api" not in text.split("def ")[0]


@pytest.mark.parametrize("derivative", [grad, hvp], ids=["first order", "second order"])
def test_the_line_map_leads_to_the_users_file(derivative):
    compiled = derivative(energy)
    first = energy.__code__.co_firstlineno
    lines = compiled.source.splitlines()
    assert compiled.line_map
    for line, span in compiled.line_map.items():
        assert 1 <= line <= len(lines)
        assert span.filename == __file__
        assert first <= span.line <= first + 4


def test_repr_is_short():
    pullback = vjp(energy, vector(2), 0.5)[1]
    for compiled in (grad(energy), value_and_grad(energy), jacobian(stretched), hvp(energy), pullback):
        text = repr(compiled)
        assert len(text) < 120 and "\n" not in text
        assert "energy" in text or "stretched" in text


def test_explain():
    assert "def" in grad(energy).explain() or "energy" in grad(energy).explain()
    assert grad(energy).explain(at="normalize")
    with pytest.raises(srcgrad.SrcgradError):
        grad(energy).explain(at="nowhere")


grad_of_energy = grad(energy)


@grad
def decorated(x):
    return x**3


@pytest.mark.parametrize(
    "compiled", [grad(energy), grad_of_energy, value_and_grad(energy), grad(energy, argnums=(0, "w")), hvp(energy)]
)
def test_pickles(compiled):
    again = pickle.loads(pickle.dumps(compiled))
    arguments = (vector(3), 0.5, vector(3)) if repr(compiled).startswith("<srcgrad hvp") else (vector(3), 0.5)
    np.testing.assert_array_equal(oracle.ravel(again(*arguments)), oracle.ravel(compiled(*arguments)))


def test_a_decorated_function_pickles():
    assert pickle.loads(pickle.dumps(decorated))(2.0) == pytest.approx(12.0)


def test_a_lambda_pickles_by_its_source():
    compiled = grad(lambda x: x * np.sin(x))
    again = pickle.loads(pickle.dumps(compiled))
    assert again(0.5) == pytest.approx(np.sin(0.5) + 0.5 * np.cos(0.5))


def test_what_was_pickled_by_its_source_checks_what_it_returns():
    with pytest.raises(srcgrad.SeedError, match=r"\(3,\)"):
        pickle.loads(pickle.dumps(grad(lambda x: x * 2.0)))(vector(3))
    again = pickle.loads(pickle.dumps(value_and_grad(lambda x: (x * x, [x]), has_aux=True)))
    assert again(3.0) == ((9.0, [3.0]), 6.0)
    again = pickle.loads(pickle.dumps(grad(lambda z: z * z, holomorphic=True)))
    assert pickle.loads(pickle.dumps(again))(1.0 + 1j) == 2.0 + 2j


def test_a_saved_file_runs_without_the_compiler(tmp_path):
    """It imports NumPy and srcgrad.runtime; gast and astor need not be there."""
    grad(energy, argnums=(0, 1)).save(tmp_path / "energy_gradient.py")
    program = (
        "import sys\n"
        "sys.modules['gast'] = sys.modules['astor'] = None\n"
        "import numpy as np, energy_gradient\n"
        "g = energy_gradient.grad_energy(np.array([1.0, 2.0]), 0.5)\n"
        "assert np.allclose(g[0], [1.5, 6.0]) and g[1] == 9.0, g\n"
        "loaded = sorted(m for m in sys.modules if m.startswith('srcgrad.'))\n"
        "assert all(m.split('.')[1] == 'runtime' for m in loaded), loaded\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(srcgrad.__file__).parent.parent)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_compiled_once_per_kind_of_arguments():
    compiled = grad(energy)
    compiled(vector(3), 0.5)
    first = dict(compiled._variants)
    compiled(vector(5), 0.9)
    assert compiled._variants.keys() == first.keys()


def test_variadic_arguments():
    def total(first, *rest, **options):
        s = first * options["k"]
        for value in rest:
            s = s * value
        return s

    assert grad(total, argnums=(0, 2))(2.0, 3.0, 4.0, k=0.5) == pytest.approx((6.0, 3.0))


def test_methods_of_numpy_classes_are_not_needed_for_lists():
    assert grad(lambda v: v[0] * v[1])([2.0, 3.0]) == [3.0, 2.0]


def test_several_lambdas_on_one_line():
    f, g = (lambda x: x * x), (lambda x: x**3)
    assert (grad(f)(2.0), grad(g)(2.0)) == (4.0, 12.0)
