"""The list of passes: each is given what it requires, and does what it says to a program."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import grad, pipeline
from srcgrad.passes import GIVEN, PASSES, prepared


def total(x, rows):
    return np.sum(np.square(rows) * x)


def stored(x):
    y = x * 1.0
    y[0] *= 2.0
    return np.sum(y)


def copied(x):
    y = x * x
    y = y.copy()
    y[0] = 1.0
    return np.sum(y)


def moved_across(x):
    y = np.outer(x, x)
    y[1] = y[:, 2]
    return np.sum(y)


def filled_meanwhile(x):
    rows = {0: x}
    for key in rows:
        rows.update({key: x})
    return rows[0]


#: What a pass writes into a program that it changes.
WRITTEN = {
    "arguments": (total, "require_plain(x, 'argument x')"),
    "arrays": (total, "= operand(rows)"),
    "stores": (stored, "y[0] = t"),
    "types": (filled_meanwhile, "require_places(keys"),
    "webs": (copied, "y2 = y.copy()"),
    "order": (moved_across, "require_order(y, 1, t"),
    "lengths": (filled_meanwhile, "step(walk"),
}


def test_each_pass_is_given_what_it_requires():
    held: list[str] = []
    for each in PASSES:
        assert set(each.requires) <= set(held), each.name
        held.append(each.gives)
    assert tuple(held) == GIVEN


@pytest.mark.parametrize("name", [each.name for each in PASSES])
def test_a_pass_writes_what_it_gives(name, monkeypatch):
    function, expected = WRITTEN[name]
    texts: list[tuple[str, str]] = []

    def recorded(form, queries):
        texts.append(("", str(form.function)))
        for done, left in prepared(form, queries):
            texts.append((done.name, str(left.function)))
            yield done, left

    monkeypatch.setattr(pipeline, "prepared", recorded)
    grad(function).explain(at="passes")
    before, after = next((a, b) for (_, a), (done, b) in zip(texts, texts[1:], strict=False) if done == name)
    assert expected in after
    assert expected not in before
