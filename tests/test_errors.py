"""Spans, carets and the exception tree."""

from __future__ import annotations

import copy
import doctest
import os
import pickle
import subprocess
import sys
import traceback

import pytest

from srcgrad import errors
from srcgrad.errors import Span, SrcgradError, render


def at(line: str, under: str, filename: str = "model.py") -> Span:
    """The span of the first ``under`` in ``line``, which is line 42 of function ``step``."""
    start = line.index(under)
    return Span(filename, "step", 42, start, 42, start + len(under), line)


def shown(line: str, under: str, label: str | None = None) -> list[str]:
    return render("reason", at(line, under), label).splitlines()[2:]


def test_a_refusal_reads_as_the_design_says() -> None:
    span = at("    yield err", "yield err")
    text = render("a generator cannot be reversed", span, "this function yields", "return a list")
    assert text == (
        "a generator cannot be reversed\n"
        "  model.py:42, in step\n"
        "    42 |     yield err\n"
        "       |     ^^^^^^^^^ this function yields\n"
        "  hint: return a list"
    )


def test_without_a_place_only_reason_and_hint_remain() -> None:
    assert render("reason") == "reason"
    assert render("reason", Span.unknown(), hint="do this\nor that") == "reason\n  hint: do this\n        or that"


def test_tabs_are_expanded_in_the_line_and_below_it() -> None:
    assert shown("\tif a:\tb[0] = 1", "b[0]") == ["    42 |     if a:   b[0] = 1", "       |             ^^^^"]


def test_wide_and_combining_characters_keep_the_caret_in_place() -> None:
    assert shown("名前 = y", "y") == ["    42 | 名前 = y", "       |        ^"]
    assert shown("y = 名前", "名前") == ["    42 | y = 名前", "       |     ^^^^"]
    assert shown("e\u0301 = y", "y") == ["    42 | e\u0301 = y", "       |     ^"]


@pytest.mark.parametrize("under", ["a0 ", "a30", "a59"])
def test_a_long_line_is_cut_around_the_caret(under: str) -> None:
    line = "x = " + " + ".join(f"a{i}" for i in range(60)) + " "
    text, carets = shown(line, under)
    assert len(text) <= 120
    start, end = carets.index("^"), carets.rindex("^") + 1
    assert text[start:end] == under
    assert ("…" in text[:12]) == (under != "a0 ")
    assert text.endswith("…") == (under != "a59")


def test_a_long_line_that_is_underlined_whole_is_cut_too() -> None:
    line = "x = " + " + ".join(f"a{i}" for i in range(60))
    text, carets = shown(line, line, "long")
    assert max(len(text), len(carets.removesuffix(" long"))) <= 125


def test_every_line_of_a_short_span_is_underlined_without_its_indentation() -> None:
    span = Span("model.py", "step", 9, 8, 11, 5, "    y = g(a,\n\n    b)  # why")
    assert render("reason", span, "here").splitlines()[2:] == [
        "     9 |     y = g(a,",
        "       |         ^^^^",
        "    10 |",
        "    11 |     b)  # why",
        "       |     ^ here",
    ]


def test_the_middle_of_a_long_span_is_left_out() -> None:
    lines = [f"    row{i}," for i in range(8)]
    span = Span("model.py", "step", 1, 4, 8, 8, "\n".join(lines))
    assert render("reason", span, "here").splitlines()[2:] == [
        "    1 |     row0,",
        "      |     ^^^^^",
        "    2 |     row1,",
        "      |     ^^^^^",
        "    . |",
        "    8 |     row7,",
        "      |     ^^^^ here",
    ]


def test_a_file_is_shown_relative_to_the_working_directory() -> None:
    assert at("x", "x", os.path.abspath("model.py")).place == "model.py:42"
    assert at("x", "x", os.path.join(os.getcwd(), "pkg", "model.py")).file == os.path.join("pkg", "model.py")
    assert at("x", "x", os.path.join(os.sep, "elsewhere", "model.py")).file == "model.py"
    assert at("x", "x", "<ipython-input-3>").file == "<ipython-input-3>"
    assert Span.unknown().place == "<unknown>"


def test_the_code_of_a_span_is_one_line() -> None:
    assert at("    w = a * b  # why", "w = a * b").code == "w = a * b"
    assert Span("m.py", "f", 1, 4, 2, 6, "y = g(a,\n    b)").code == "g(a, b)"
    assert Span.unknown().code == ""


KINDS = {
    "LanguageError": SyntaxError,
    "UnsupportedSyntax": SyntaxError,
    "UnresolvedName": SyntaxError,
    "MissingRule": NotImplementedError,
    "SeedError": ValueError,
    "ArgumentError": TypeError,
    "SourceUnavailable": OSError,
    "InternalError": Exception,
}


@pytest.mark.parametrize("name", KINDS)
def test_exceptions_keep_their_text_through_pickle_and_copy(name: str) -> None:
    kind = getattr(errors, name)
    assert issubclass(kind, SrcgradError) and issubclass(kind, KINDS[name])
    error = kind("reason", at("y = x", "x"), label="this", hint="do that")
    for twin in (error, pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is kind
        assert str(twin) == str(error)
        assert (twin.reason, twin.span, twin.label, twin.hint) == ("reason", error.span, "this", "do that")
    assert "reason" in str(error) and "^ this\n  hint: do that" in str(error)


def test_an_internal_error_names_the_stage_and_shows_its_door() -> None:
    error = errors.InternalError("two names for one slot", stage="normalize", door="def f(x):\n    return x")
    assert str(error) == "srcgrad failed in normalize: two names for one slot\n\ndef f(x):\n    return x"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_python_prints_the_rendering_once() -> None:
    error = errors.UnsupportedSyntax("reason", at("y = x", "x"), hint="do that")
    expected = f"srcgrad.errors.UnsupportedSyntax: {error}\n"
    assert "".join(traceback.format_exception_only(error)) == expected
    program = (
        "from srcgrad.errors import *\n"
        "raise UnsupportedSyntax('reason', Span('model.py', 'step', 42, 4, 42, 5, 'y = x'), hint='do that')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.stderr.endswith(expected)


def test_the_example_of_the_module() -> None:
    assert doctest.testmod(errors).attempted > 0 == doctest.testmod(errors).failed


def test_emitted_code_names_files_the_same_from_every_directory(monkeypatch, tmp_path):
    span = Span(str(tmp_path / "models" / "model.py"), "step", 42, 0, 42, 1, "x")
    monkeypatch.chdir(tmp_path)
    assert (span.place, span.origin, span.base) == (f"models{os.sep}model.py:42", "model.py:42", "model.py")
    monkeypatch.chdir(tmp_path.parent)
    assert span.origin == "model.py:42"
    generated = Span("<srcgrad pkg/f:adjoint 12345678>", "f", 3, 0, 3, 1, "x")
    assert generated.origin == "<srcgrad pkg/f:adjoint 12345678>:3"
    assert Span.unknown().origin == "<unknown>"
