"""GradBench's programs over its protocol: a tool in a process of its own, asked as the other side asks it.

Values and derivatives are checked against numbers that GradBench and ADBench publish, closed forms, and differences of
the functions, which know nothing of the compiler.
"""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from benchmarks.gradbench.__main__ import PROGRAMS
from tests.oracle import differences

ROOT = Path(__file__).resolve().parent.parent


class Tool:
    """The tool, and the side that asks it."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.gradbench"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.numbers = itertools.count()

    def ask(self, **message):
        number = next(self.numbers)
        self.process.stdin.write(json.dumps({"id": number, **message}) + "\n")
        self.process.stdin.flush()
        response = json.loads(self.process.stdout.readline())
        assert response.pop("id") == number
        return response

    def evaluate(self, program, function, given):
        response = self.ask(kind="evaluate", module=program, function=function, input=given)
        assert response["success"], response["error"]
        return response["output"]


@pytest.fixture(scope="module")
def tool():
    tool = Tool()
    yield tool
    tool.process.stdin.close()
    assert tool.process.wait(timeout=60) == 0


def sampled(program):
    return import_module(f"benchmarks.gradbench.{program}").sample(small=True)


def test_messages_are_answered_in_turn(tool):
    assert tool.ask(kind="start", eval="hello")["tool"] == "srcgrad"
    assert tool.ask(kind="define", module="hello") == {"success": True}
    missing = tool.ask(kind="define", module="goodbye")
    assert not missing["success"] and "goodbye" in missing["error"]
    failed = tool.ask(kind="evaluate", module="hello", function="triple", input=1.0)
    assert not failed["success"] and "triple" in failed["error"]
    assert tool.ask(kind="analysis", of=0, valid=True) == {}


def test_a_function_runs_as_often_and_as_long_as_asked(tool):
    given = {"x": [0.0, 1.0], "min_runs": 5, "min_seconds": 0.0}
    response = tool.ask(kind="evaluate", module="lse", function="primal", input=given)
    assert [timing["name"] for timing in response["timings"]] == ["evaluate"] * 5
    given = {"x": [0.0, 1.0], "min_runs": 1, "min_seconds": 0.01}
    response = tool.ask(kind="evaluate", module="lse", function="primal", input=given)
    assert sum(timing["nanoseconds"] for timing in response["timings"]) >= 1e7


def test_hello_gives_the_numbers_of_the_specification(tool):
    x = 1.0
    for _ in range(4):
        y = tool.evaluate("hello", "square", x)
        assert y == x * x
        x = tool.evaluate("hello", "double", y)
        assert x == 2.0 * y
    assert x == 2.0 * 128.0**2  # 1, 2, 8, 128


def test_lse(tool):
    given = sampled("lse")
    e = np.exp(given["x"])
    assert tool.evaluate("lse", "primal", given) == pytest.approx(math.log(e.sum()), rel=1e-14)
    np.testing.assert_allclose(tool.evaluate("lse", "gradient", given), e / e.sum(), rtol=1e-13)


def test_llsq(tool):
    given = sampled("llsq")
    n, x = given["n"], np.array(given["x"])
    t = -1.0 + np.arange(n) * 2.0 / (n - 1)
    residual = np.sign(t) - np.polyval(x[::-1], t)
    assert tool.evaluate("llsq", "primal", given) == pytest.approx(0.5 * np.sum(residual**2), rel=1e-13)
    expected = [-np.sum(residual * t**j) for j in range(len(x))]
    np.testing.assert_allclose(tool.evaluate("llsq", "gradient", given), expected, rtol=1e-12, atol=1e-13)


def test_ode_is_exact_where_the_solution_is_a_polynomial_of_the_fourth_degree(tool):
    given = sampled("ode")
    x = np.array(given["x"])
    expected = [2.0 ** (i + 1) / math.factorial(i + 1) * np.prod(x[: i + 1]) for i in range(4)]
    np.testing.assert_allclose(tool.evaluate("ode", "primal", given), expected, rtol=1e-13)
    np.testing.assert_allclose(tool.evaluate("ode", "gradient", given), expected[-1] / x, rtol=1e-12)


def test_det(tool):
    given = sampled("det")
    a = np.reshape(given["A"], (given["ell"], -1))
    expected = np.linalg.det(a)
    assert tool.evaluate("det", "primal", given) == pytest.approx(expected, rel=1e-11)
    gradient = tool.evaluate("det", "gradient", given)
    np.testing.assert_allclose(gradient, (expected * np.linalg.inv(a).T).ravel(), rtol=1e-10)


def log_posterior(given):
    """The logarithm of the densities themselves, without any trick."""
    from scipy.stats import multivariate_normal, wishart

    d = given["d"]
    shares = np.exp(given["alpha"]) / np.sum(np.exp(given["alpha"]))
    likelihood, prior = np.zeros(given["n"]), 0.0
    for share, mean, q, l in zip(shares, given["mu"], given["q"], given["l"], strict=True):
        factor = np.diag(np.exp(q))
        factor.T[np.triu_indices(d, 1)] = l
        precision = factor.T @ factor
        likelihood += share * multivariate_normal.pdf(given["x"], mean, np.linalg.inv(precision))
        prior += wishart.logpdf(precision, d + given["m"] + 1, np.eye(d) / given["gamma"] ** 2)
    return np.sum(np.log(likelihood)) + prior


def test_gmm(tool):
    given = sampled("gmm")
    assert tool.evaluate("gmm", "objective", given) == pytest.approx(log_posterior(given), rel=1e-11)
    found = tool.evaluate("gmm", "jacobian", given)
    assert set(found) == {"alpha", "mu", "q", "l"}
    for name, part in found.items():
        at = np.array(given[name])
        for place in range(at.size):
            numeric = differences(lambda point, name=name: log_posterior({**given, name: point}), at, unit(at, place))
            assert np.ravel(part)[place] == pytest.approx(float(numeric.value), rel=1e-6, abs=1e-6)


def unit(like, place):
    direction = np.zeros(like.size)
    direction[place] = 1.0
    return direction.reshape(like.shape)


def assert_columns(found, function, at):
    """Each column of a Jacobian is the difference along its unit vector."""
    for place, column in enumerate(np.transpose(found)):
        numeric = differences(function, at, unit(at, place)).value
        np.testing.assert_allclose(column, np.ravel(numeric), rtol=1e-7, atol=1e-7)


def test_lstm(tool):
    program = import_module("benchmarks.gradbench.lstm")
    given = sampled("lstm")
    main, extra, state, sequence = program.arguments(given)
    assert tool.evaluate("lstm", "objective", given) == pytest.approx(program.objective(main, extra, state, sequence))

    def loss(point):
        parts = point[: main.size].reshape(main.shape), point[main.size :].reshape(extra.shape)
        return np.array([program.objective(*parts, state, sequence)])

    point = np.concatenate((main.ravel(), extra.ravel()))
    assert_columns([tool.evaluate("lstm", "jacobian", given)], loss, point)


def test_kmeans_goes_to_the_mean_of_each_cluster(tool):
    given = sampled("kmeans")
    points, centroids = np.array(given["points"]), np.array(given["centroids"])
    distances = np.sum((points[:, None] - centroids) ** 2, axis=2)
    nearest = np.argmin(distances, axis=1)
    assert tool.evaluate("kmeans", "cost", given) == pytest.approx(np.sum(np.min(distances, axis=1)), rel=1e-12)
    means = [points[nearest == k].mean(axis=0) for k in range(len(centroids))]
    np.testing.assert_allclose(tool.evaluate("kmeans", "dir", given), centroids - means, rtol=1e-10, atol=1e-12)


def test_ba(tool):
    program = import_module("benchmarks.gradbench.ba")
    given = sampled("ba")
    n, m, p = (given[name] for name in ("n", "m", "p"))
    found = tool.evaluate("ba", "objective", given)
    assert found["reproj_error"]["repeated"] == found["w_err"]["repeated"] == p
    assert found["w_err"]["element"] == pytest.approx(1.0 - given["w"] ** 2)
    sparse = tool.evaluate("ba", "jacobian", given)
    assert sparse["rows"] == [*range(0, 450, 15), 31 * p]
    block = [*range(11), *range(11 * n, 11 * n + 3), 11 * n + 3 * m]
    assert sparse["cols"] == [*block, *block, 11 * n + 3 * m + p - 1]

    def errors(point):
        camera, place, weight = np.split(point, (11, 14))
        feature = np.array([given["feat"]])
        return program.reprojection_error(camera[None], place[None], weight, feature)[0]

    point = np.array([*given["cam"], *given["x"], given["w"]])
    np.testing.assert_allclose(found["reproj_error"]["elements"], errors(point))
    scale = np.maximum(np.abs(point), 1e-3)  # the coefficients of distortion are tiny, and what they do is large
    numeric = [differences(errors, point, scale * unit(point, place)).value / scale[place] for place in range(15)]
    np.testing.assert_allclose(np.reshape(sparse["vals"][:30], (2, 15)), np.transpose(numeric), rtol=1e-5, atol=1e-6)
    assert sparse["vals"][30] == pytest.approx(-2.0 * given["w"])


def test_ba_gives_the_numbers_of_adbench_for_weights(tool):
    given = {**sampled("ba"), "w": 0.417022}
    assert tool.evaluate("ba", "objective", given)["w_err"]["element"] == pytest.approx(0.82609265151599998, rel=1e-14)
    assert tool.evaluate("ba", "jacobian", given)["vals"][30] == -0.834044


@pytest.mark.parametrize("complicated", [False, True])
def test_ht(tool, complicated):
    program = import_module("benchmarks.gradbench.ht")
    given = program.sample(small=True, complicated=complicated)
    theta, us, *others = program.arguments(given)
    value = program.objective(theta, us, *others)
    np.testing.assert_allclose(tool.evaluate("ht", "objective", given), value)
    found = np.array(tool.evaluate("ht", "jacobian", given))
    assert found.shape == (len(value), 28 if complicated else 26)
    assert_columns(found[:, -26:], lambda point: program.objective(point, us, *others), theta)
    if complicated:
        along = np.zeros((2, us.size))
        along[0, ::2] = along[1, 1::2] = 1.0
        for column, direction in zip(found.T, along, strict=False):
            direction = direction.reshape(us.shape)
            numeric = differences(lambda point: program.objective(theta, point, *others), us, direction)
            np.testing.assert_allclose(column, numeric.value, rtol=1e-7, atol=1e-7)


def nightly(modes):
    """A search takes seconds, so by day one nest of modes is asked."""
    return pytest.param(modes, marks=pytest.mark.nightly)


@pytest.mark.parametrize("modes", ["fr", *map(nightly, ("ff", "rf", "rr"))])
def test_particle_finds_the_number_of_the_specification(tool, modes):
    assert tool.evaluate("particle", modes, {"w": 0.0}) == pytest.approx(0.2071918746486116, rel=1e-9)


@pytest.mark.parametrize("modes", ["rr", *map(nightly, ("ff", "fr", "rf"))])
def test_saddle_finds_the_numbers_of_the_specification(tool, modes):
    assert tool.evaluate("saddle", modes, {"start": [1.0, 1.0]}) == pytest.approx([8.246324826140356e-06] * 4, rel=1e-9)


def test_all_twelve_are_served():
    assert len(PROGRAMS) == 12
    for program in PROGRAMS:
        assert len(import_module(f"benchmarks.gradbench.{program}").FUNCTIONS) in (2, 4)
