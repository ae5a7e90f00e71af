"""What mypy and pyright report of ``user_code.py``, line by line, and what its comments say that they should.

``python -m tests.types.checking`` prints the differences.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

FILE = Path(__file__).with_name("user_code.py")
ROOT = FILE.parent.parent.parent
_EXPECTED = re.compile(r"# error: ([\w-]*) \| (\w*)$")
#: Of this file alone: where srcgrad is not installed, mypy reports its own modules too.
_REPORTED = re.compile(rf"^[^:\n]*{FILE.name}:(\d+): error: .*\[([\w-]+)\]$", re.MULTILINE)


def tool(name: str) -> str | None:
    """The checker of this interpreter's environment, else one on the path."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


def expected(checker: str) -> dict[int, str]:
    """The line numbers of the mistakes, with the code by which the checker reports each."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    found = {number: match for number, line in enumerate(lines, 1) if (match := _EXPECTED.search(line))}
    codes = {number: match[1 if checker == "mypy" else 2] for number, match in found.items()}
    return {number: code for number, code in codes.items() if code}


def reported(checker: str) -> dict[int, set[str]]:
    """The lines that the checker reports, with the codes."""
    found: dict[int, set[str]] = defaultdict(set)
    if checker == "mypy":
        options = ["--strict", "--config-file=", "--hide-error-context", "--no-pretty", "--python-version=3.11"]
        out = _run([tool("mypy") or "mypy", *options, str(FILE)])
        for line, code in _REPORTED.findall(out):
            found[int(line)].add(code)
    else:
        options = ["--outputjson", "--pythonversion=3.11", f"--pythonpath={sys.executable}"]
        out = _run([tool("pyright") or "pyright", *options, str(FILE)])
        for one in json.loads(out[out.index("{") :])["generalDiagnostics"]:
            if one["severity"] == "error":
                found[one["range"]["start"]["line"] + 1].add(one["rule"])
    return dict(found)


def _run(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT).stdout


def differences(checker: str) -> list[str]:
    """Mistakes that are not reported, and reports of what is none."""
    wanted, found = expected(checker), reported(checker)
    silent = {n: code for n, code in wanted.items() if code not in found.get(n, ())}
    unseen = [f"{checker} does not report line {n} ({code})" for n, code in silent.items()]
    return unseen + [f"{checker} reports line {n} ({', '.join(found[n])})" for n in sorted(found) if n not in wanted]


if __name__ == "__main__":
    wrong = [one for checker in ("mypy", "pyright") for one in differences(checker)]
    print("\n".join(wrong) or "mypy and pyright see what the comments say")
    sys.exit(bool(wrong))
