"""What is kept of one kind of refusal, and how it is printed.

Enters: a code, and two programs in which ``f`` is differentiated: one that is refused, and what to write in its place.
Leaves: an ``Entry``, whose programs the tests run.

>>> entry = Entry("E0999", "an example", "It shows the form.", "def f(x): ...", "def f(x): return x", at="2.0")
>>> print(entry.called)
srcgrad.grad(f)(2.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill


@dataclass(frozen=True)
class Entry:
    """``example`` is refused with this code where ``by`` of it is called with the arguments ``at``, ``instead`` is not.

    ``instead_at`` are the arguments of ``instead`` where they are others, ``asked`` the further queries of the
    derivative of ``example``, and ``since`` the version of Python that can read it.
    """

    code: str
    title: str
    meaning: str
    example: str
    instead: str
    at: str = "0.5"
    by: str = "grad"
    instead_at: str | None = None
    asked: str | None = None
    since: tuple[int, int] = (3, 11)

    @property
    def called(self) -> str:
        """The call that is refused."""
        return f"srcgrad.{self.by}(f)({self.at})" if self.asked is None else self.asked

    @property
    def called_instead(self) -> str:
        """The call that is not."""
        return f"srcgrad.{self.by}(f)({self.at if self.instead_at is None else self.instead_at})"

    @property
    def refused(self) -> str:
        """The program that is refused."""
        return program(self.example, self.called)

    @property
    def written(self) -> str:
        """The program to write in its place."""
        return program(self.instead, self.called_instead)

    def __str__(self) -> str:
        return "\n".join([
            f"{self.code}: {self.title}", "", fill(self.meaning, 100),
            "", "This is refused:", "", indented(self.refused),
            "", "Write instead:", "", indented(self.written),
        ])  # fmt: skip


def program(text: str, call: str) -> str:
    """A program as it is printed and run: its imports, the function ``f``, and the call of its derivative."""
    head = "import numpy as np\n\nimport srcgrad" if "np." in text + call else "import srcgrad"
    lines = text.strip("\n").split("\n")
    own = [line for line in lines if line.startswith(("import ", "from "))]
    rest = "\n".join(line for line in lines if line not in own).strip("\n")
    imports = "\n".join([*own, *([""] if own and "numpy" in head else []), head])
    return f"{imports}\n\n\n{rest}\n\n\n{call}"


def indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))
