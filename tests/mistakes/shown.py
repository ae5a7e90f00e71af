"""What a terminal and a notebook show of the programs beside: ``python -m tests.mistakes.shown terminal`` prints a
JSON object of texts by program.

What depends on the machine is left out: the folders of libraries and their line numbers, those of emitted text, and the
carets that newer Pythons draw under lines of a traceback (those of srcgrad's own messages stay).  Of a
notebook's traceback the lines stay at which it points.
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import os
import re
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import srcgrad

HERE = Path(__file__).parent
PROGRAMS = sorted((HERE / "programs").glob("[0-9]*.py"))
_ROOT = Path(srcgrad.__file__).parent.parent
_RUN = re.compile(r"# run: (\S+)$", re.MULTILINE)
_FOLDERS = re.compile(r"[^\s\"]*/(?:site-packages|lib/python3\.\d+)/")
_CARETS = re.compile(r"^    +[ ~^]*[~^]\n", re.MULTILINE)
_SUGGESTION = re.compile(r"\. Did you mean: '\w+'\?")  # of Python's own, which newer ones make
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_EMITTED = re.compile(r'(<srcgrad \S+) [0-9a-f]{8}>("?(?:, line |:))\d+')


def how(path: Path) -> str | None:
    """How a program is run if not by its name: from standard input (``<``), after ``-c``, or at the prompt (``-i``)."""
    found = _RUN.search(path.read_text(encoding="utf-8"))
    return None if found is None else found[1]


def _same_everywhere(text: str) -> str:
    text = _SUGGESTION.sub("", text.replace(f"{_ROOT}/", ""))
    text = re.sub(rf'({_FOLDERS.pattern}|(?="srcgrad/)|(?=srcgrad/))([^"\n]*?)(", line |:)\d+', r"\2\3N", text)
    return _EMITTED.sub(r"\1>\2N", _ADDRESS.sub("0x", _CARETS.sub("", text)))


@contextlib.contextmanager
def _caught() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream), warnings.catch_warnings():
        warnings.simplefilter("default")
        yield stream


def in_terminal(path: Path) -> str:
    """What ``python NN_name.py`` prints."""
    text, name = path.read_text(encoding="utf-8"), path.name
    if (run := how(path)) is not None:
        return _same_everywhere(_run(text, run))
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = ModuleType("__main__")
    module.__file__ = name
    before, sys.modules["__main__"] = sys.modules["__main__"], module
    try:
        with _caught() as stream:
            try:
                exec(compile(text, name, "exec"), module.__dict__)
            except Exception as error:
                assert error.__traceback__ is not None
                traceback.print_exception(error.with_traceback(error.__traceback__.tb_next))
    finally:
        sys.modules["__main__"] = before
    return _same_everywhere(stream.getvalue())


def _run(text: str, how: str) -> str:
    options = ["-c", text] if how == "-c" else ["-i", "-q"] if how == "-i" else ["-"]
    given = "" if how == "-c" else text
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    run = subprocess.run(
        [sys.executable, *options], input=given, capture_output=True, text=True, timeout=60, env=environment
    )
    return run.stdout + re.sub(r"^(>>> |\.\.\. )+\n?", "", run.stderr, flags=re.MULTILINE)


def run_by_name(path: Path) -> str:
    """What a process that is really run prints of a program."""
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    run = subprocess.run(
        [sys.executable, path.name], cwd=path.parent, capture_output=True, text=True, timeout=60, env=environment
    )
    return _same_everywhere((run.stdout + run.stderr).replace(f"{path.parent}/", ""))


def in_notebook(path: Path, shell: object) -> str:
    """What the cell that holds the program, the third one that is run, prints."""
    shell.execution_count = 3  # type: ignore[attr-defined]
    with _caught() as stream:
        shell.run_cell(path.read_text(encoding="utf-8"), store_history=True)  # type: ignore[attr-defined]
    lines = stream.getvalue().splitlines(keepends=True)
    shown = [line for line in lines if not re.match(r" +\d+(?! \|) |-{20,}", line)]  # no lines around those pointed at
    return re.sub(r"\n{2,}", "\n", _same_everywhere("".join(shown)))


def _shell() -> object:
    from IPython.core.history import HistoryManager
    from IPython.core.interactiveshell import InteractiveShell

    HistoryManager.enabled = False
    return InteractiveShell.instance(colors="nocolor")


def main() -> None:
    """Print the texts of all programs, as one of the two shows them."""
    if sys.argv[1] == "terminal":
        is_kept = {"-c", "-i"} if sys.version_info >= (3, 13) else {}  # by Python, which makes them no mistakes
        shown = {path.stem: in_terminal(path) for path in PROGRAMS if how(path) not in is_kept}
    else:
        shell = _shell()
        shown = {path.stem: in_notebook(path, shell) for path in PROGRAMS if how(path) is None}
    json.dump(shown, sys.stdout)


if __name__ == "__main__":
    main()
