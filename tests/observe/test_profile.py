"""What a run costs is told by lines of the user's program."""

from __future__ import annotations

import numpy as np

import srcgrad
from srcgrad.observe.profile import seconds, size
from tests.observe import programs


def by_offset(profile, function):
    first = function.__code__.co_firstlineno
    return {span.line - first: cost for span, cost in profile.lines.items() if span.function == function.__name__}


def test_times_passes_and_bytes_belong_to_the_lines_that_cost_them():
    w, x = np.full((40, 40), 0.01), np.ones(40)
    profile = srcgrad.grad(programs.layers).profile(w, x, 25)
    cost = by_offset(profile, programs.layers)
    step = cost[3]
    assert step.passes == 25
    assert step.forward > 0.0 and step.reverse > 0.0
    assert 25 * 320 <= step.recorded <= 2 * 25 * 320 + 2000  # tanh(w @ h) and h, which is one of these
    assert profile.total.recorded >= step.recorded
    assert profile.total.peak >= 25 * 320
    assert profile.total.forward >= step.forward
    gradient = srcgrad.grad(programs.layers)(w, x, 25)
    assert np.all(np.isfinite(gradient))


def test_lines_of_callees_and_methods_are_there():
    profile = srcgrad.grad(programs.springs).profile(0.3)
    assert by_offset(profile, programs.springs) and any(s.function.endswith("energy") for s in profile.lines)


def test_where_the_result_is_not_proved_to_be_one_number_the_pair_is_run():
    profile = srcgrad.grad(programs.calls).profile([np.array([7.0])][0])
    assert any(cost.reverse for cost in profile.lines.values())


def test_the_table_reads_line_by_line():
    text = str(srcgrad.grad(programs.stored).profile(np.ones(4)))
    rows = text.splitlines()
    assert rows[0].startswith("Gradient of tests.observe.programs.stored")
    assert rows[1].split() == ["forward", "reverse", "passes", "recorded", "peak"]
    assert any("h[i] = 1.0 / w[i]" in row for row in rows)
    assert rows[-1].startswith("in all")


def test_units():
    assert [seconds(v) for v in (0.0, 2e-9, 1.5e-6, 0.0371, 2.0)] == ["", "2 ns", "1.5 µs", "37.1 ms", "2 s"]
    assert [size(n) for n in (0, 10, 1024, 3_500_000)] == ["", "10 B", "1 KiB", "3.34 MiB"]
