"""Fresh names and bindings."""

from __future__ import annotations

import keyword

from srcgrad.syntax.globals import builtin, reference
from srcgrad.syntax.namer import Namer


def test_the_wanted_name_is_given_when_it_is_free() -> None:
    namer = Namer(["x", "x_bar2"])
    assert [namer.fresh("x_bar") for _ in range(3)] == ["x_bar", "x_bar3", "x_bar4"]
    assert namer.fresh("x") == "x2"


def test_a_name_that_ends_in_a_digit_is_numbered_apart() -> None:
    namer = Namer(["k1"])
    assert [namer.fresh("k1"), namer.fresh("k1"), namer.fresh("k")] == ["k1_2", "k1_3", "k"]


def test_keywords_and_reserved_names_are_never_given() -> None:
    namer = Namer()
    namer.reserve("tape", "np")
    assert namer.fresh("tape") == "tape2"
    assert not keyword.iskeyword(namer.fresh("lambda"))
    assert "np" in namer and "numpy" not in namer


def test_a_copy_goes_its_own_way() -> None:
    namer = Namer(["x"])
    other = namer.copy()
    assert namer.fresh("x") == other.fresh("x") == "x2"


def test_many_fresh_names_take_linear_time() -> None:
    namer = Namer(["t"])
    names = [namer.fresh("t") for _ in range(20_000)]
    assert len(set(names)) == 20_000 and names[-1] == "t20001"


def test_a_builtin_is_bound_to_its_object() -> None:
    leaf = reference(builtin("range"))
    assert (leaf.id, leaf.binding.value, leaf.binding.module, leaf.binding.cell) == ("range", range, "builtins", None)
