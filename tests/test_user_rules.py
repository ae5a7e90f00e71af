"""Rules that users write: their text in the output, their call forms, what is said of those that break a law."""

from __future__ import annotations

import functools
import linecache
import math
import operator
import os
import pickle
import statistics
import subprocess
import sys
import textwrap
import types
from itertools import count

import numpy as np
import pytest

import srcgrad
from srcgrad import check_grads, grad, hessian, hvp, jvp, vjp
from srcgrad.errors import RuleError
from srcgrad.rules.table import lookup
from tests import user_functions
from tests.user_functions import bin_of, logistic, program, smoothed, weighted

X, W = np.array([0.3, -0.4, 0.8]), np.array([0.5, 1.5, -0.7])
_cells = count()


def cell(text: str, **names: object) -> types.SimpleNamespace:
    """A notebook cell: text in ``linecache``, names of ``__main__``'s kind."""
    filename = f"<cell {next(_cells)}>"
    text = textwrap.dedent(text)
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {"__name__": "cells", "np": np, "srcgrad": srcgrad, "math": math, **names}
    exec(compile(text, filename, "exec"), namespace)
    return types.SimpleNamespace(**namespace)


# --- what a rule gives -----------------------------------------------------------------------------------------------
def test_every_kind_agrees_with_numbers():
    check_grads(program, X, W)
    check_grads(lambda x: np.sum(logistic(x) * x), X)
    check_grads(lambda x: logistic(x) * x, 0.3)
    check_grads(lambda x, w: weighted(x, w, power=3) + weighted(x, w, 1) + weighted(x, w, verbose=True), X, W)
    check_grads(lambda x, k: smoothed(x, np.ones(2) / 2) ** 2, X, 1.0)


def test_a_linear_rule_says_nothing_of_its_other_parameters():
    with pytest.raises(srcgrad.MissingRule, match="'kernel'") as caught:
        grad(lambda x, k: np.sum(smoothed(x, k)), (0, 1))(X, W[:2])
    assert "smoothed(x, k)" in str(caught.value)
    with pytest.raises(srcgrad.MissingRule, match="'kernel'"):
        jvp(lambda x, k: smoothed(x, k), (X, W[:2]), (X, W[:2]))
    made = cell(
        """
        def shifted(x, by):
            return x + np.floor(by)

        @srcgrad.linear(shifted, "x")
        def shifted_rule(x, by, *, y, y_bar):
            return y_bar, None
        """
    )
    shifted = made.shifted
    assert grad(lambda x, by: shifted(x, by) * by, (0, 1))(2.0, 3.5) == (3.5, 5.0)


def test_the_text_of_a_rule_stands_in_the_output_with_its_names_imported():
    def f(x):
        return np.sum(logistic(x))

    source = grad(f).source
    assert "from tests.user_functions import SHARPNESS, logistic, slope" in source
    assert "* SHARPNESS * slope(" in source
    assert "logistic_rule" not in source


def test_globals_of_a_rule_are_read_at_the_call(monkeypatch):
    gradient = grad(lambda x: logistic(x))
    before = gradient(0.0)
    monkeypatch.setattr(user_functions, "SHARPNESS", 4.0)
    assert gradient(0.0) == pytest.approx(2.0 * before)


def test_a_formula_for_an_option():
    def f(x, w):
        return weighted(x, w, 1)

    assert "**" not in grad(f).source.split('"""')[-1]


def test_a_rule_goes_before_the_source_of_its_function():
    made = cell(
        """
        def doubled(x):
            return x + x

        @srcgrad.elementwise(doubled)
        def doubled_rule(x, *, y, y_bar):
            return 3.0 * y_bar
        """
    )
    doubled = made.doubled
    assert grad(lambda x: doubled(x))(1.0) == 3.0


def test_the_rule_of_a_function_that_is_differentiated_itself_where_its_text_is_refused():
    made = cell(
        """
        import decimal

        def squared(x, factor=None):
            return float(decimal.Decimal(float(x)) ** 2 * (1 if factor is None else factor))

        @srcgrad.rule(squared)
        def squared_rule(x, *, y, y_bar):
            return 2.0 * x * y_bar

        @squared_rule.tangent
        def squared_tangent(x, *, y, x_dot):
            return 2.0 * x * x_dot
        """
    )
    assert grad(made.squared)(1.5) == 3.0
    assert hessian(made.squared)(1.5) == 2.0
    assert jvp(made.squared, (1.5,), (2.0,)) == (2.25, 6.0)
    with pytest.raises(srcgrad.SrcgradError, match="the argument 'factor' is not supported"):
        grad(made.squared)(1.5, 3)


def test_functions_of_the_library_by_their_rules():
    data = [1.3, 0.4, 2.7, 1.9]
    for function in (statistics.mean, statistics.variance, statistics.pvariance, statistics.stdev, statistics.pstdev):
        check_grads(function, data)
        assert grad(function)(data) == grad(lambda x, function=function: function(x))(data)


def test_declared_constants_are_not_looked_into():
    edges = np.array([0.0, 0.5])
    got = grad(lambda x: np.sum(x * bin_of(x, edges)))(X)
    np.testing.assert_array_equal(got, bin_of(X, edges))


def test_builtins_and_functions_of_other_libraries_and_ufuncs():
    made = cell(
        """
        ufunc = np.frompyfunc(lambda x: x * x, 1, 1)
        compiled = math.frexp  # a builtin function of C

        @srcgrad.elementwise(ufunc)
        def ufunc_rule(x, *, y, y_bar):
            return 2.0 * x * y_bar
        """
    )
    ufunc = made.ufunc
    assert grad(lambda x: ufunc(x) * 1.0)(3.0) == 6.0

    import statistics

    @srcgrad.rule(statistics.fmean)
    def fmean_rule(data, *, y, y_bar):
        return np.full_like(data, y_bar / len(data))

    check_grads(lambda x: statistics.fmean(x * x), X, modes=["reverse"], order=1)

    @srcgrad.rule(operator.attrgetter("real"))
    def getter_rule(x, *, y, y_bar):
        return y_bar


def into_its_argument(x, w):
    x[0] = w
    return np.sum(x)


def into_an_output(x):
    return float(np.sum(np.add(x, 1.0, out=x)))


def by_a_method(x):
    x.T.fill(2.0)
    return 2.0


def by_a_function(x):
    np.copyto(x, 1.0)
    return 2.0


def into_an_augmented_one(x):
    x += 1.0
    x[0] = 2.0
    return 2.0


def into_its_own(x, found, scale, **more):
    more[str(x)] = 1.0
    for each in map(lambda x: x.sort(), [[2.0, 1.0]]):
        assert each is None
    y = x.copy()
    y[0] = 1.0
    x = np.array(x)
    x[1] = 2.0
    found["calls"] += 1
    scale.calls = found["calls"]
    return int(np.sum(x * y))


def test_a_function_that_stores_into_its_argument_gets_no_rule():
    def template(x, w, *, y, y_bar):
        return y_bar * np.ones_like(x), y_bar

    with pytest.raises(RuleError, match=r"into_its_argument stores into its argument x(?s:.*)\^\^\^\^") as refused:
        srcgrad.rule(into_its_argument)(template)
    assert "x[0] = w" in str(refused.value)
    for function in (into_an_output, by_a_method, by_a_function, into_an_augmented_one):
        with pytest.raises(RuleError, match="stores into its argument x"):
            srcgrad.constant(function)
    srcgrad.constant(into_its_own)


def test_order_two_and_three_through_a_rule():
    def f(x):
        return np.sum(logistic(x) * x)

    y = logistic(X)
    first = 2.0 * y * (1.0 - y)
    second = 2.0 * first * (1.0 - 2.0 * y)
    np.testing.assert_allclose(np.diag(hessian(f)(X)), 2.0 * first + X * second)
    np.testing.assert_allclose(hvp(f)(X, np.ones(3)), 2.0 * first + X * second)

    def third(x):
        return grad(grad(grad(lambda x: logistic(x))))(x)

    y = logistic(0.4)
    p1 = 2.0 * y * (1.0 - y)
    p2 = 2.0 * p1 * (1.0 - 2.0 * y)
    assert third(0.4) == pytest.approx(2.0 * p2 * (1.0 - 2.0 * y) - 4.0 * p1 * p1)


def test_a_complex_partial_of_a_real_argument_is_narrowed():
    made = cell(
        """
        def turned(x):
            return np.exp(1j * x)

        @srcgrad.elementwise(turned)
        def turned_rule(x, *, y, y_bar):
            return 1j * y_bar * y
        """
    )
    turned = made.turned
    check_grads(lambda x: np.sum((turned(x) * (0.3 + 0.5j) * np.abs(x)).real), X)
    check_grads(lambda z: np.sum((turned(np.abs(z)) * (0.3 + 0.5j)).real), X + 0.7j)
    assert grad(lambda x: np.sum(turned(x).real))(X.astype(np.float32)).dtype == np.float32


# --- one rule after another ------------------------------------------------------------------------------------------
def test_redefinition_replaces_and_compiled_programs_do_not_stay():
    made = cell(
        """
        def cubed(x):
            return x**3

        def f(x):
            return cubed(x) * 2.0
        """
    )
    f, cubed = made.f, made.cubed
    gradient, curvature = grad(f), hessian(f)
    assert gradient(2.0) == 24.0
    pullback = vjp(f, 2.0)[1]

    @srcgrad.elementwise(cubed)
    def first(x, *, y, y_bar):
        return 10.0 * y_bar

    assert gradient(2.0) == 20.0
    assert pullback(1.0)[0] == 24.0, "what was run with the old rule stays"
    assert vjp(f, 2.0)[1](1.0)[0] == 20.0
    assert curvature(2.0) == 0.0

    @srcgrad.elementwise(cubed)
    def second(x, *, y, y_bar):
        return 3.0 * x * x * y_bar

    assert gradient(2.0) == 24.0
    assert curvature(2.0) == 24.0
    assert lookup(cubed).template.__name__ == "second"
    srcgrad.constant(cubed)
    assert gradient(2.0) == 0.0

    @srcgrad.rule(cubed)
    def third(x, *, y, y_bar):
        return 3.0 * x * x * y_bar

    assert gradient(2.0) == 24.0
    with pytest.raises(srcgrad.MissingRule, match="tangent"):
        jvp(f, (2.0,), (1.0,))

    @third.tangent
    def third(x, *, y, x_dot):
        return 3.0 * x * x * x_dot

    assert jvp(f, (2.0,), (1.0,))[1] == 24.0


def test_rules_of_srcgrad_can_be_replaced():
    made = cell(
        """
        def ours(x):
            return np.cbrt(x)
        """
    )
    old = lookup(np.cbrt)
    gradient = grad(made.ours)
    assert gradient(1.0) == pytest.approx(1.0 / 3.0)

    @srcgrad.elementwise(np.cbrt)
    def cbrt_rule(x, *, y, y_bar):
        return 7.0 * y_bar

    try:
        assert gradient(1.0) == 7.0
    finally:
        from srcgrad.rules import edition, table

        table._rules[np.cbrt] = old
        edition.renew()
    assert gradient(1.0) == pytest.approx(1.0 / 3.0)


# --- where rules are written -----------------------------------------------------------------------------------------
def test_a_rule_in_a_closure():
    def made_with(factor):
        def scaled(x):
            return factor * x

        @srcgrad.elementwise(scaled)
        def scaled_rule(x, *, y, y_bar):
            return factor * y_bar

        return scaled

    three, five = made_with(3.0), made_with(5.0)
    assert grad(lambda x: three(x) * five(x))(1.0) == 30.0


def run(text: str, tmp_path, name: str = "program.py") -> str:
    path = tmp_path / name
    path.write_text(textwrap.dedent(text))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), str(tmp_path)])}
    made = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment, check=False)
    assert made.returncode == 0, made.stderr
    return made.stdout


MODULE = """
import numpy as np
import srcgrad

SCALE = 3.0

def helped(x):
    return x * SCALE

def tripled(x):
    return helped(x)

@srcgrad.elementwise(tripled)
def tripled_rule(x, *, y, y_bar):
    return helped(y_bar)

def f(x):
    return np.sum(tripled(x) ** 2)
"""


def test_rules_of_a_module_in_saved_and_pickled_programs(tmp_path):
    (tmp_path / "users.py").write_text(MODULE)
    first = run(
        """
        import pickle, numpy as np, srcgrad, users
        gradient = srcgrad.grad(users.f)
        gradient.save("SAVED.py".replace("SAVED", __file__[:-3] + "_saved"))
        open(__file__ + ".pickle", "wb").write(pickle.dumps([gradient, srcgrad.grad(lambda x: users.f(x) * 2.0)][0]))
        print(gradient(np.ones(2)))
        """,
        tmp_path,
    )
    again = run(
        f"""
        import pickle, sys, numpy as np
        sys.path.insert(0, {str(tmp_path)!r})
        import program_saved
        assert "srcgrad.rules.table" not in sys.modules or True
        print(program_saved.grad_f(np.ones(2)))
        print(pickle.load(open({str(tmp_path / "program.py.pickle")!r}, "rb"))(np.ones(2)))
        """,
        tmp_path,
        "again.py",
    )
    assert first.strip() == "[18. 18.]"
    assert again.split("\n")[:2] == ["[18. 18.]"] * 2


def test_rules_of_main(tmp_path):
    text = MODULE + textwrap.dedent(
        """
        gradient = srcgrad.grad(f)
        print(gradient(np.ones(2)))
        try:
            gradient.save(__file__ + ".out")
        except srcgrad.SrcgradError as error:
            print("__main__" in str(error))
        """
    )
    assert run(text, tmp_path).split("\n")[:2] == ["[18. 18.]", "True"]


def test_a_derivative_with_a_rule_pickles_by_its_text():
    def f(x):
        return np.sum(logistic(x))

    gradient = pickle.loads(pickle.dumps(grad(f)))
    np.testing.assert_allclose(gradient(X), grad(f)(X))


# --- what is refused -------------------------------------------------------------------------------------------------
def refused(text: str, **names: object) -> str:
    with pytest.raises(srcgrad.RuleError) as caught:
        made = cell("def f(x, y=1.0):\n    return x * y\n\n" + textwrap.dedent(text), **names)
        grad(made.program)(1.0)
    assert isinstance(caught.value, srcgrad.LanguageError) and not isinstance(caught.value, srcgrad.InternalError)
    return str(caught.value)


LAWS = {
    "a branch": (
        """
        @srcgrad.rule(f)
        def f_rule(x, y=1.0, *, z, z_bar):
            if x > 0:
                return z_bar * y, None
            return 0.0, None
        """,
        ["straight line", "    7 |     if x > 0:", "^^^^^^^^", "np.where"],
    ),
    "no return": (
        """
        @srcgrad.rule(f)
        def f_rule(x, y=1.0, *, z, z_bar):
            bar = z_bar * y
        """,
        ["return", "bar = z_bar * y"],
    ),
    "a parameter assigned to": (
        """
        @srcgrad.rule(f)
        def f_rule(x, y=1.0, *, z, z_bar):
            x = x + 1.0
            return z_bar * y, None
        """,
        ["new name", "x = x + 1.0"],
    ),
    "another parameter": (
        """
        @srcgrad.rule(f)
        def f_rule(t, y=1.0, *, z, z_bar):
            return z_bar * y, None
        """,
        ["'t'", "def f_rule(t, y=1.0, *, z, z_bar)", "f(x, y=1.0)"],
    ),
    "a parameter missing": (
        """
        def g(x, scale):
            return x * scale

        @srcgrad.rule(g)
        def g_rule(x, *, z, z_bar):
            return z_bar
        """,
        ["lacks the parameter 'scale'", "g(x, scale)"],
    ),
    "another default": (
        """
        @srcgrad.rule(f)
        def f_rule(x, y=2.0, *, z, z_bar):
            return z_bar * y, z_bar * x
        """,
        ["y=2.0", "y=1.0"],
    ),
    "too few partials": (
        """
        @srcgrad.rule(f)
        def f_rule(x, y=1.0, *, z, z_bar):
            return z_bar * y
        """,
        ["1 partial for 2 parameters", "return z_bar * y", "x, y"],
    ),
    "too many partials": (
        """
        @srcgrad.rule(f)
        def f_rule(x, y=1.0, *, z, z_bar):
            return z_bar * y, z_bar * x, None
        """,
        ["3 partials for 2 parameters"],
    ),
    "no adjoint": (
        """
        @srcgrad.rule(f)
        def f_rule(x, y=1.0, *, z):
            return z, None
        """,
        ["keyword-only", "def f_rule(x, y=1.0, *, z)"],
    ),
    "no result": (
        """
        @srcgrad.rule(f)
        def f_rule(x, y=1.0, z_bar=None):
            return z_bar * y, None
        """,
        ["keyword-only"],
    ),
    "an unknown name": (
        """
        @srcgrad.rule(f)
        def f_rule(x, y=1.0, *, z, z_bar):
            return z_bar * yy, None

        def program(x):
            return f(x)
        """,
        ["'yy'", "return z_bar * yy, None", "               ^^"],
    ),
    "the name of its function": (
        """
        @srcgrad.rule(f)
        def f(x, y=1.0, *, z, z_bar):
            return z_bar * y, None
        """,
        ["has the name of the function", "f_rule"],
    ),
    "no function named": (
        """
        @srcgrad.rule
        def f_rule(x, y=1.0, *, z, z_bar):
            return z_bar * y, None
        """,
        ["not told which function", "@rule(function)"],
    ),
    "a lambda": ("srcgrad.rule(f)(lambda x, y=1.0, *, z, z_bar: (z_bar, None))", ["lambda"]),
    "a tangent without its tangents": (
        """
        @srcgrad.rule(f)
        def f_rule(x, y=1.0, *, z, z_bar):
            return z_bar * y, z_bar * x

        @f_rule.tangent
        def f_tangent(x, y=1.0, *, z, x_dot):
            return x_dot * y
        """,
        ["*, z, x_dot, y_dot"],
    ),
    "a tangent with too many terms": (
        """
        @srcgrad.rule(f)
        def f_rule(x, y=1.0, *, z, z_bar):
            return z_bar * y, z_bar * x

        @f_rule.tangent
        def f_tangent(x, y=1.0, *, z, x_dot, y_dot):
            return x_dot * y, x * y_dot, 0.0
        """,
        ["3 terms for 2 tangents"],
    ),
    "linear in nothing": (
        """
        @srcgrad.linear(f)
        def f_rule(x, y=1.0, *, z, z_bar):
            return z_bar * y, None
        """,
        ["linear in no parameter"],
    ),
    "a partial for what it is not linear in": (
        """
        @srcgrad.linear(f, "x")
        def f_rule(x, y=1.0, *, z, z_bar):
            return z_bar * y, z_bar * x
        """,
        ["'y'", "not said to be linear", "z_bar * x"],
    ),
    "linear in what it does not have": (
        """
        @srcgrad.linear(f, "t")
        def f_rule(x, y=1.0, *, z, z_bar):
            return z_bar * y
        """,
        ["'t'"],
    ),
    "a case with other parameters": (
        """
        @srcgrad.rule(f)
        def f_rule(x, y=1.0, *, z, z_bar):
            return z_bar * y, None

        @f_rule.when(y=1.0)
        def f_case(x, *, z, z_bar):
            return z_bar
        """,
        ["other parameters"],
    ),
    "a case of nothing": (
        """
        @srcgrad.rule(f)
        def f_rule(x, y=1.0, *, z, z_bar):
            return z_bar * y, None

        @f_rule.when(option=1)
        def f_case(x, y=1.0, *, z, z_bar):
            return z_bar, None
        """,
        ["'option'"],
    ),
    "no function at all": ("srcgrad.constant(3.0)", ["float"]),
}


@pytest.mark.parametrize("law", LAWS)
def test_broken_laws_are_told_to_the_author(law):
    text, said = LAWS[law]
    message = refused(text)
    for part in said:
        assert part in message, message


def test_a_function_without_rule_in_a_rule_matters_only_at_order_two():
    made = cell(
        """
        unruled = np.frompyfunc(lambda x: x * 2.0, 1, 1)

        def squared(x):
            return x * x

        @srcgrad.elementwise(squared)
        def squared_rule(x, *, y, y_bar):
            return y_bar * unruled(x)
        """
    )
    squared = made.squared
    assert grad(lambda x: squared(x))(3.0) == 6.0
    with pytest.raises(srcgrad.MissingRule, match="unruled") as caught:
        hessian(lambda x: squared(x))(3.0)
    assert "squared(x)" in caught.value.span.text  # the user's call that leads there


def test_arguments_that_a_rule_does_not_have_are_refused_where_they_are_given():
    made = cell(
        """
        def f(x, where=True, scale=1.0):
            return x * scale if where else x

        @srcgrad.rule(f)
        def f_rule(x, scale=1.0, *, y, y_bar):
            return y_bar * scale, y_bar * x
        """
    )
    f = made.f
    assert grad(lambda x: f(x))(1.0) == 1.0
    with pytest.raises(srcgrad.UnsupportedSyntax, match="where"):
        grad(lambda x: f(x, where=False))(1.0)
    assert grad(lambda x: f(x, where=True))(1.0) == 1.0, "what the function assumes may be said"


def test_a_rule_takes_the_defaults_of_its_function():
    made = cell(
        """
        def f(x, scale=3.0):
            return x * scale

        @srcgrad.rule(f)
        def f_rule(x, scale, *, y, y_bar):
            return y_bar * scale, y_bar * x
        """
    )
    f = made.f
    assert grad(lambda x: f(x))(1.0) == 3.0
    assert grad(lambda x: f(x, 4.0))(1.0) == 4.0


def test_a_function_with_a_rule_may_return_a_view():
    """``y += 1`` on what a ruled function of a user returns changes what the function was given, here x itself."""
    made = cell(
        """
        def same(x):
            return x

        @srcgrad.linear(same, "x")
        def same_rule(x, *, y, y_bar):
            return y_bar

        def f(x):
            y = same(x)
            y += 1.0
            return np.sum(x * y)
        """
    )
    np.testing.assert_allclose(grad(made.f)(X.copy()), 2.0 * (X + 1.0))


def test_a_rule_goes_before_the_text_of_a_function_that_is_differentiated_itself():
    square = cell("""
    def square(x, k=np.float64(2.0)):
        return x * x * k
    """).square

    @srcgrad.rule(square)
    def square_rule(x, k, *, y, y_bar):
        return y_bar * 10.0, y_bar * 0.0

    still = cell("def still(x):\n    return x * x").still
    srcgrad.constant(still)
    assert grad(square)(3.0) == grad(lambda x: square(x, 2.0))(3.0) == grad(lambda x: grad(square)(x) * x)(3.0) == 10.0
    assert vjp(square, 3.0)[1](2.0) == (20.0,)
    assert hessian(square)(3.0) == 0.0
    assert grad(still)(3.0) == 0.0
    assert jvp(still, (3.0,), (1.0,)) == (9.0, 0.0)
    assert grad(srcgrad.stop_gradient)(3.0) == 0.0


class Scaled:
    def __init__(self, w):
        self.w = w

    def by_method(self, x):
        return self.w * x * x

    @staticmethod
    def by_static(x):
        return x * x


@srcgrad.rule(Scaled.by_method)
def by_method_rule(self, x, *, y, y_bar):
    return None, y_bar * 200.0 * self.w * x


@srcgrad.rule(Scaled.by_static)
def by_static_rule(x, *, y, y_bar):
    return y_bar * 100.0


def through_an_object(x):
    made = Scaled(2.0)
    return made.by_method(x) + made.by_static(x)


def test_a_method_called_through_an_object_has_the_rule_of_its_function():
    assert grad(through_an_object)(3.0) == 1300.0
    assert grad(lambda o, x: o.by_method(x), 1)(Scaled(2.0), 3.0) == 1200.0


def test_a_rule_of_a_function_with_the_name_that_calls_it():
    made = cell("""
    def applied(x):
        return x * x

    def of_applied(applied, second=None, third=2.0, /):
        return applied * applied * third if second is None else -applied
    """)

    @srcgrad.rule(made.applied)
    def applied_rule(x, *, y, y_bar):
        return y_bar * 20.0 * x

    @srcgrad.rule(made.of_applied)
    def of_applied_rule(applied, second=None, third=2.0, *, y, y_bar):
        return y_bar * 2.0 * applied * third, None, None

    assert grad(made.applied)(3.0) == 60.0
    assert srcgrad.value_and_grad(made.of_applied)(3.0, None, 5.0) == (45.0, 30.0)


def test_a_rule_of_a_wrapped_function_is_its_own():
    def first(x):
        return x * x

    @srcgrad.rule(first)
    def first_rule(x, *, y, y_bar):
        return y_bar * 10.0

    assert grad(lambda x: grad(first)(x) * x)(3.0) == 10.0

    @functools.wraps(first)
    def second(x):
        return x * x * x

    @srcgrad.rule(second)
    def second_rule(x, *, y, y_bar):
        return y_bar * 100.0

    assert grad(lambda x: grad(second)(x) * x)(3.0) == 100.0
