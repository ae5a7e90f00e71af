"""The five programs whose pages are looked at, and where their pages are made."""

from __future__ import annotations

import numpy as np

import srcgrad
from tests.observe import programs


def hostile(x):
    """Ends the page's own script: </script><script>document.title = "owned"</script>"""
    note = '<script>document.title = "owned"</script><img src=x onerror="document.title=\'owned\'">'
    # </code></div><script>document.title = "owned"</script> &amp; "quotes"
    return x * x * len(note)


def refused_where_reached(x, mode):
    if mode == "draw":
        return x * eval("x")
    return x * x


PROGRAMS = {
    "loop": (programs.layers, (np.full((4, 4), 0.1), np.ones(4), 3)),
    "stores": (programs.heat, (np.linspace(0.0, 1.0, 6), 3, 0.1)),
    "objects": (programs.springs, (0.3,)),
    "callee": (programs.calls, (np.array([7.0]),)),
}


def annotated(name: str):
    """The page of a program: measured, but for that of second order."""
    if name == "second order":
        return srcgrad.hvp(programs.layers).annotate()
    function, arguments = PROGRAMS[name]
    return srcgrad.grad(function).annotate(*arguments)
