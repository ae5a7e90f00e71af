"""A call that somebody has typed, ``f(np.ones(3), n=2)``, taken apart into function and arguments.

>>> function, args, kwargs = evaluated(parsed("max(1, 2, key=abs)"), {})
>>> function(*args, **kwargs)
2
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any


def parsed(text: str) -> ast.Call:
    """The call; raises ValueError where ``text`` is anything else."""
    try:
        node: ast.expr | None = ast.parse(text, mode="eval").body
    except SyntaxError:
        node = None
    if not isinstance(node, ast.Call):
        raise ValueError(f"expected a call such as f(np.ones(3)), found {text!r}")
    return node


def evaluated(
    call: ast.Call, names: Mapping[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """The function that is called, and what it is given, with these names; raises what evaluating them raises."""
    arguments = ast.Call(ast.Name("_srcgrad_arguments", ast.Load()), call.args, call.keywords)
    pair = ast.Expression(ast.Tuple([call.func, arguments], ast.Load()))
    code = compile(ast.fix_missing_locations(pair), "<call>", "eval")
    function, (args, kwargs) = eval(code, {**names, "_srcgrad_arguments": lambda *args, **kwargs: (args, kwargs)})
    return function, args, kwargs


def last_function(text: str) -> str | None:
    """The name of the last function that a program defines at its top."""
    names = [one.name for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)]
    return names[-1] if names else None
