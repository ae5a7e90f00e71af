"""The pages of the site are executed as they are built, and formulas are set as MathML."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

for needed in ("sphinx", "myst_parser", "furo", "matplotlib"):
    pytest.importorskip(needed)

ROOT = Path(__file__).resolve().parent.parent
PAGE = """\
# Squares

With $x^2$ and

$$ \\bar x = 2 x \\bar y $$

```python
import numpy as np
import srcgrad
```

```python
def square(x):
    return np.sum(np.sin(x) ** 2)


print(srcgrad.grad(square).source)
```

```py
raise AssertionError("shown, not run")
```

```python
import matplotlib.pyplot as plt

plt.plot([1.0, 2.0])
plt.title("A line")
print("drawn")
```
"""


def build(folder: Path, page: str) -> subprocess.CompletedProcess[str]:
    source = folder / "site"
    source.mkdir()
    (source / "index.md").write_text(page, encoding="utf-8")
    for name in ("extensions", "_static", "matplotlibrc", "conf.py"):
        (source / name).symlink_to(ROOT / "docs" / name)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(source), str(folder / "html")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_page_shows_what_its_blocks_print_and_draw(tmp_path):
    built = build(tmp_path, PAGE)
    assert built.returncode == 0, built.stderr
    html = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    text = re.sub(r"<[^>]+>", "", html)
    assert "def grad_square(x, value_bar=1.0):" in text
    assert "# index.py:6   return np.sum(np.sin(x) ** 2)" in text, "the lines are those of the page's program"
    assert text.index("drawn") > text.index("shown, not run")
    assert '<img alt="A line"' in html and (tmp_path / "html" / "_images" / "index.png").exists()
    assert html.count("<math") == 2
    loaded = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="([^"]*)"', html)
    assert loaded and not [address for address in loaded if "//" in address], "the site works without a network"


def test_a_block_that_raises_fails_the_build_and_is_named(tmp_path):
    built = build(tmp_path, "# Fault\n\n```python\nx = 1\n```\n\n```python\nx / 0\n```\n")
    assert built.returncode != 0
    assert "index.md: the block in line 7 raises" in built.stderr and "ZeroDivisionError" in built.stderr
