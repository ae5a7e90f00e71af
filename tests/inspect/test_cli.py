"""The command line: what each command prints, and one clear line with status 2 for bad input."""

from __future__ import annotations

import subprocess
import sys

import pytest

import srcgrad
from srcgrad.inspect.cli import STAGES, main

MODEL = """\
import numpy as np


def loss(x, w):
    s = 0.0
    for i in range(3):
        s = s + w * np.sin(x)
    return s


def wrong_shape(x):
    return np.array([x, x])


def generator(x):
    yield x
"""


WRONG_RULE = """\
import srcgrad


def double(x):
    return 2.0 * x


@srcgrad.elementwise(double)
def double_rule(x, *, y, y_bar):
    return 3.0 * y_bar


def doubled(x):
    return double(x)
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("cli_model", "_cli_model"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    path = tmp_path / "cli_model.py"
    path.write_text(MODEL)
    return path


def test_show_prints_a_function_that_compiles(model, capsys):
    assert main(["show", f"{model}:loss"]) == 0
    text = capsys.readouterr().out
    assert "def grad_loss(x, w" in text and "# cli_model.py:7" in text
    compile(text, "shown", "exec")


def test_show_shows_the_program_for_arguments(model, capsys):
    assert main(["show", f"{model}:loss", "--args", "2.0, w=3.0"]) == 0
    assert "unbroadcast" not in capsys.readouterr().out
    assert main(["show", f"{model}:loss", "--generic"]) == 0
    assert "unbroadcast" in capsys.readouterr().out


def test_show_shows_second_order_and_writes_a_file(model, capsys, tmp_path):
    assert main(["show", f"{model}:loss", "--order", "2", "-o", str(tmp_path / "h.py")]) == 0
    assert capsys.readouterr().out == ""
    text = (tmp_path / "h.py").read_text()
    assert "def jvp_grad_loss(x, w, x_dot)" in text and "Tangent of the gradient of cli_model.loss" in text


def test_annotate_writes_a_page(model, capsys, tmp_path):
    path = tmp_path / "loss.html"
    assert main(["annotate", f"{model}:loss", "--args", "2.0, 3.0", "-o", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}\n"
    assert "Whole run: " in path.read_text()
    assert main(["annotate", f"{model}:loss", "--generic", "-o", str(path)]) == 0
    assert "unbroadcast" in path.read_text()


def test_profile_prints_what_lines_cost(model, capsys):
    assert main(["profile", f"{model}:loss", "--args", "2.0, 3.0"]) == 0
    assert "s = s + w * np.sin(x)" in capsys.readouterr().out


def test_diff_compares_two_gradients(model, capsys, tmp_path):
    other = tmp_path / "changed.py"
    other.write_text(MODEL.replace("w * np.sin(x)", "w * w * np.sin(x)").replace("import", "# moved\nimport"))
    assert main(["diff", f"{model}:loss", f"{model}:loss"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["diff", f"{model}:loss", f"{other}:loss", "--args", "2.0, 3.0"]) == 1
    text = capsys.readouterr().out
    assert text.startswith(f"--- {model}:loss\n+++ {other}:loss\n") and "s = s + w * w * np.sin(x)" in text
    assert main(["diff", f"{model}:loss", f"{other}:loss", "-o", str(tmp_path / "d.html")]) == 1
    assert "class=&quot;" not in (tmp_path / "d.html").read_text()


@pytest.mark.parametrize(
    ("argnums", "returned"), [("0", "x_bar"), ("w", "w_bar"), ("0,w", "x_bar"), ("0, 1", "w_bar"), ("-1", "w_bar")]
)
def test_show_differentiates_the_chosen_arguments(model, capsys, argnums, returned):
    assert main(["show", f"{model}:loss", f"--argnums={argnums}"]) == 0
    assert returned in capsys.readouterr().out


@pytest.mark.parametrize(("mode", "expected"), [("forward", "def jvp_loss("), ("split", "def loss_bwd(")])
def test_show_in_other_modes(model, capsys, mode, expected):
    assert main(["show", f"{model}:loss", "--mode", mode]) == 0
    assert expected in capsys.readouterr().out


def test_explain_prints_every_stage(model, capsys):
    assert main(["explain", f"{model}:loss"]) == 0
    text = capsys.readouterr().out
    assert [line for line in text.splitlines() if line.startswith("# ===")] == [f"# === {stage}" for stage in STAGES]
    assert "def grad_loss(" in text


def test_explain_lists_what_is_refused_where_it_is_reached(tmp_path, capsys):
    path = tmp_path / "hidden.py"
    path.write_text("""
def f(x, k):
    if k:
        print(locals())
    return x * x


def g(x):
    return locals()
""")
    assert main(["explain", f"{path}:f", "--at", "refusals"]) == 0
    assert capsys.readouterr().out.startswith("E0109  hidden.py:4  where it is reached: locals() reaches names")
    assert main(["explain", f"{path}:g", "--at", "refusals"]) == 0
    assert capsys.readouterr().out.startswith("E0109  hidden.py:9  locals() reaches names")


def test_why_prints_one_code_or_all(capsys):
    assert main(["why", "e0102"]) == 0
    assert capsys.readouterr().out.startswith("E0102: a generator is differentiated\n")
    assert main(["why"]) == 0
    assert "\n  E0102  a generator is differentiated\n" in capsys.readouterr().out
    assert main(["why", "E0000"]) == 2
    assert capsys.readouterr().err == "srcgrad: E0000 is no code of a refusal; srcgrad why lists them\n"


def test_explain_prints_one_stage(model, capsys):
    assert main(["explain", f"{model}:loss", "--at", "normalize"]) == 0
    assert "np.sin(x)" in capsys.readouterr().out


def test_check_says_that_derivatives_agree(model, capsys):
    assert main(["check", f"{model}:loss", "--args", "0.3, w=np.float64(2.0)"]) == 0
    lines = capsys.readouterr().out.splitlines()
    heads = [line.split()[0] for line in lines if line]
    assert heads == ["mode", "reverse", "forward", "eager", "forward", "eager", "argument", "x", "w"]


def test_check_of_a_wrong_rule_is_status_1(model, capsys):
    model.write_text(WRONG_RULE)
    assert main(["check", f"{model}:doubled", "--args", "0.3"]) == 1
    assert "order 1 in reverse mode gives" in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit) as raised:
        main(["--version"])
    assert raised.value.code == 0 and capsys.readouterr().out == f"srcgrad {srcgrad.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "nowhere.py:f"], "srcgrad: no such file: nowhere.py"),
        (["show", "{model}:los"], "srcgrad: no function 'los' in {model}; did you mean 'loss'?"),
        (["show", "{model}:quux"], "srcgrad: no function 'quux' in {model} (it defines loss, "),
        (["show", "{model}:loss", "--generic", "--args", "1.0"], "srcgrad: --generic is the program for any arguments"),
        (["show", "{model}:loss", "--order", "2", "--mode", "split"], "srcgrad: --order 2 is the tangent of the"),
        (["annotate", "{model}:loss", "-o", "/nowhere/f.html"], "srcgrad: cannot write /nowhere/f.html: "),
        (["profile", "{model}:loss", "--args", "'a', 1.0"], "ArgumentError: "),
        (["show", "{model}"], "srcgrad: expected FILE.py:function"),
        (["show", "{model}:loss", "--argnums", "7"], "ArgumentError: "),
        (["show", "{model}:loss", "--argnums", "nothing"], "ArgumentError: "),
        (["check", "{model}:loss"], "srcgrad: {model}:loss fails with (): TypeError: "),
        (["check", "{model}:loss", "--args", "0.3,,"], "srcgrad: cannot read --args '0.3,,': SyntaxError"),
        (["check", "{model}:loss", "--args", "0.3, 1.0", "--modes", "sideways"], "srcgrad: --modes takes reverse"),
        (["check", "{model}:generator", "--args", "1.0"], "UnsupportedSyntax: "),
    ],
)
def test_bad_input_is_one_clear_line_and_status_2(model, capsys, arguments, message):
    assert main([item.format(model=model) for item in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(message.format(model=model)) and captured.out == ""
    if message.startswith("srcgrad: "):
        assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "srcgrad: the following arguments are required: COMMAND"),
        (["derive"], "srcgrad: argument COMMAND: invalid choice: 'derive'"),
        (["show"], "srcgrad show: the following arguments are required: FUNCTION"),
        (["show", "m:f", "--mode", "sideways"], "srcgrad show: argument --mode: invalid choice: 'sideways'"),
        (["show", "m:f", "--argnums", "0,+"], "srcgrad show: argument --argnums: expected positions and names"),
        (["explain", "m:f", "--at", "nowhere"], "srcgrad explain: argument --at: invalid choice: 'nowhere'"),
        (["check", "m:f", "--order", "3"], "srcgrad check: argument --order: invalid choice: 3"),
    ],
)
def test_a_wrong_command_line_is_one_clear_line_and_status_2(capsys, arguments, message):
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith(message) and error.count("\n") == 1


def test_a_refused_program_shows_its_caret(model, capsys):
    assert main(["show", f"{model}:generator"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("UnsupportedSyntax: ") and "16 |     yield x" in error and "^^^^^" in error


def test_a_reader_that_stops_reading_is_no_error(model):
    command = f'"{sys.executable}" -m srcgrad show "{model}:loss"'
    done = subprocess.run(f"{command} | true", shell=True, capture_output=True, text=True, timeout=120)
    assert done.stderr == ""


def test_python_dash_m_is_the_same_command():
    done = subprocess.run([sys.executable, "-m", "srcgrad", "show", "nowhere.py:f"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "srcgrad: no such file: nowhere.py\n")
