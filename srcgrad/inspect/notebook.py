"""The cell magic ``%%grad`` of IPython and Jupyter: ``%load_ext srcgrad`` adds it.

Enters: a cell that defines functions, and on the line of the magic, if wanted, a call.  Leaves: what the call gives,
its gradient, and the text of the gradient, as an object with these three.

    %%grad f(np.ones(3), 2.0)
    def f(x, w):
        return np.sum(np.sin(w * x))

IPython is imported by whoever loads the extension, and not here.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import srcgrad
from srcgrad.api.derivative import Derivative
from srcgrad.inspect.calls import evaluated, last_function, parsed
from srcgrad.inspect.target import argnums_of


@dataclass(frozen=True)
class Shown:
    """What a cell shows: the value and the gradient of the call, None where there is none, and the text."""

    value: Any
    gradient: Any
    source: str
    called: bool

    def __repr__(self) -> str:
        head = f"value     {self.value!r}\ngradient  {self.gradient!r}\n\n" if self.called else ""
        return head + self.source

    def _repr_html_(self) -> str:
        from IPython.display import Code

        rows = (("value", self.value), ("gradient", self.gradient)) if self.called else ()
        head = "".join(f"<tr><th>{name}</th><td><pre>{escape(repr(value))}</pre></td></tr>" for name, value in rows)
        shown: Any = Code
        return (f"<table>{head}</table>" if head else "") + str(shown(self.source, language="python")._repr_html_())


def register(shell: Any) -> None:
    """Add ``%%grad`` to a shell of IPython."""

    def grad(line: str, cell: str) -> Shown | None:
        """Run the cell, and show a value, its gradient and the text of the gradient.

        ::

            %%grad [-a ARGNUMS] [CALL]

        ``CALL``, such as ``f(np.ones(3), n=2)``, may name any function of the notebook.  Without it the text of the
        last function that the cell defines is shown, right for any arguments.  ``-a`` chooses what to differentiate
        for by positions and names, such as ``-a 0,w`` (default: 0).  A refusal is printed with its place.
        """
        argnums, call = _line(line.strip())
        if not shell.run_cell(cell, store_history=False).success:
            return None  # IPython has shown why
        function: Callable[..., Any]
        args: tuple[Any, ...] = ()
        kwargs: dict[str, Any] = {}
        if call is None:
            function = _last_function(cell, shell)
        else:
            function, args, kwargs = evaluated(call, shell.user_ns)
        try:
            if call is None:
                return Shown(None, None, _of_cell(Derivative(function, argnums).source, function), called=False)
            value, gradient = srcgrad.value_and_grad(function, argnums)(*args, **kwargs)
            text = Derivative(function, argnums).source_for(*args, **kwargs)
            return Shown(value, gradient, _of_cell(text, function), called=True)
        except srcgrad.SrcgradError as error:
            print(_of_cell(f"{type(error).__name__}: {error}", function), file=sys.stderr)
            return None

    shell.register_magic_function(grad, magic_kind="cell", magic_name="grad")


def _of_cell(text: str, function: Callable[..., Any]) -> str:
    """``text`` with "cell" in the place of the file that IPython invents for a cell (``1198796469.py``)."""
    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    return text if not file or os.path.exists(file) else text.replace(os.path.basename(file), "cell")


def _usage(message: str) -> Exception:
    """The error that IPython shows as one line."""
    from IPython.core.error import UsageError

    error: Exception = UsageError(message)
    return error


def _line(text: str) -> tuple[Any, ast.Call | None]:
    """``-a 0,w f(x)`` as argnums and a call."""
    argnums: Any = 0
    if option := re.match(r"-a\s*(\S+)\s*", text):
        text = text[option.end() :]
        try:
            argnums = argnums_of(option[1])
        except ValueError as error:
            raise _usage(f"%%grad -a: {error}") from None
    try:
        return argnums, parsed(text) if text else None
    except ValueError as error:
        raise _usage(f"%%grad: {error}") from None


def _last_function(cell: str, shell: Any) -> Callable[..., Any]:
    name = last_function(cell)
    if name is None:
        raise _usage("%%grad: the cell defines no function, and its line calls none")
    found: Callable[..., Any] = shell.user_ns[name]
    return found
