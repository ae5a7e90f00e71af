"""Scripts written as published ones are, run without a change: what they print is what PyTorch 2.13 printed.

Text has to be the same; numbers may differ by a thousandth of their size, or in the last digit that is printed, for the
sums of NumPy's and PyTorch's libraries are rounded differently and training carries that on.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))
RELATIVE = 1e-3
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")


def unlike(ours: str, recorded: str) -> list[str]:
    """The pairs of lines that differ by more than rounding; what stands between numbers has to be the same."""
    pairs = list(zip(ours.splitlines(), recorded.splitlines(), strict=False))
    found = [f"{a!r} for {b!r}" for a, b in pairs if not _alike(a, b)]
    if len(ours.splitlines()) != len(recorded.splitlines()):
        found.append(f"{len(ours.splitlines())} lines for {len(recorded.splitlines())}")
    return found


def _alike(ours: str, recorded: str) -> bool:
    if [t.split() for t in NUMBER.split(ours)] != [t.split() for t in NUMBER.split(recorded)]:
        return False
    numbers = zip(NUMBER.findall(ours), NUMBER.findall(recorded), strict=True)
    return all(_close(a, b) for a, b in numbers)


def _close(ours: str, recorded: str) -> bool:
    if "." not in recorded:  # counts and labels
        return ours == recorded
    places, _, exponent = recorded.partition(".")[2].partition("e")
    last = 10.0 ** (int(exponent or 0) - len(places))
    return abs(float(ours) - float(recorded)) <= max(RELATIVE * abs(float(recorded)), 1.01 * last)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
@pytest.mark.costly(7, first=2)
def test_a_script_prints_what_pytorch_printed(script: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "srcgrad.eager", str(script)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert not unlike(done.stdout, script.with_suffix(".out").read_text(encoding="utf-8"))


def test_the_comparison_sees_what_differs() -> None:
    assert not unlike("loss 0.12345 at 3\n", "loss 0.12346 at 3\n")
    assert unlike("loss 0.12445", "loss 0.12346") and unlike("at 4", "at 3") and unlike("lost 1.0", "loss 1.0")
    assert unlike("-0.5", "0.5") and unlike("a", "a\nb") and unlike("1.0 1.0", "1.0")
