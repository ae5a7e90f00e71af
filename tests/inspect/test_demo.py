"""The optimiser by itself, the model's data, and the demonstration as a newcomer sees it."""

from __future__ import annotations

import math
from importlib.util import find_spec

import numpy as np
import pytest

from srcgrad.inspect.demo import bfgs, main, trajectory
from srcgrad.inspect.lynx_hare import START, pelts, squared_log_error

OPTIMUM = (0.540, 0.0272, 0.796, 0.0237, 34.6, 5.84)


def rosenbrock(x):
    a, b = x
    value = (1.0 - a) ** 2 + 100.0 * (b - a * a) ** 2
    return value, np.array([-2.0 * (1.0 - a) - 400.0 * a * (b - a * a), 200.0 * (b - a * a)])


def test_bfgs_follows_a_curved_valley():
    minimum = bfgs(rosenbrock, np.array([-1.2, 1.0]), tolerance=1e-8)
    np.testing.assert_allclose(minimum.x, [1.0, 1.0], atol=1e-7)
    assert minimum.evaluations < 100


def test_bfgs_steps_back_from_where_the_objective_fails():
    def barrier(x):  # math.log raises for x <= 0
        return float(x[0]) - math.log(float(x[0])), 1.0 - 1.0 / x

    assert bfgs(barrier, np.array([50.0])).x[0] == pytest.approx(1.0, abs=1e-6)


def test_bfgs_reports_every_iteration_and_never_climbs():
    values = []
    bfgs(rosenbrock, np.array([-1.2, 1.0]), report=lambda minimum: values.append(minimum.value))
    assert len(values) > 5 and values == sorted(values, reverse=True)


def test_bfgs_refuses_a_start_without_a_value():
    with pytest.raises(ValueError, match="not finite at the starting point"):
        bfgs(lambda x: (math.inf, x), np.zeros(2))


def test_the_pelts_are_those_of_the_published_table():
    years, hare, lynx = pelts()
    assert (years[0], years[-1], len(years)) == (1900, 1920, 21)
    assert (hare[3], lynx[4]) == (77.4, 59.4)


def test_the_plotted_curve_is_the_fitted_model():
    years, hare, lynx = pelts()
    curve = trajectory(np.log(START), len(years) - 1)[:, ::20]
    assert np.sum(np.log(curve / [hare, lynx]) ** 2) == pytest.approx(squared_log_error(np.log(START), hare, lynx))


def test_the_demonstration_reaches_the_optimum(tmp_path, capsys):
    picture = tmp_path / "fit.png"
    minimum = main(picture)
    assert minimum.value == pytest.approx(2.0187, abs=5e-5)
    np.testing.assert_allclose(np.exp(minimum.x), OPTIMUM, rtol=3e-3)
    text = capsys.readouterr().out
    assert "lynx_hare.py:" in text, "the adjoint quotes the user's lines"
    assert "fit: iteration" in text and "published" in text and "value and gradient, compiled" in text
    assert picture.is_file() == (find_spec("matplotlib") is not None)
