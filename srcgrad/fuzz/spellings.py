"""The same program under other spellings: names shared between values that have nothing to do with one another.

Enters: a program as text.  Leaves: one in which some local names are spelt like others of the same function, or are
bound to a value of another type on a branch that never runs.  What it computes may be something else, since the judge
asks for its derivative by numbers; that it runs is seen here::

    v0 = x * 2.0                    v0 = x * 2.0
    s0 = np.sum(v0)         ->      v0 = np.sum(v0)
    return s0 * a                   return v0 * a
"""

from __future__ import annotations

import ast

import numpy as np

from srcgrad.fuzz import numbers
from srcgrad.fuzz.agreement import OutOfTime, time_limit
from srcgrad.fuzz.choices import Choices

TRIES = 4


def respelled(text: str, choices: Choices) -> str:
    """The program with a few names spelt like others, as far as it still runs."""
    for _ in range(TRIES):
        tree = ast.parse(text)
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        function = choices.pick(functions)
        bound = _bound(function)
        if len(bound) < 2:
            continue
        old, new = choices.pick(bound), choices.pick([*bound, *(argument.arg for argument in function.args.args)])
        if choices.chance(25):
            argument = function.args.args[0].arg
            value = choices.pick(("'none'", "{}", "[]", "0", "None"))
            function.body.insert(0, ast.parse(f"if {argument} is None:\n    {old} = {value}").body[0])
        else:
            for node in ast.walk(function):
                if isinstance(node, ast.Name) and node.id == old:
                    node.id = new
        made = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        text = made if _runs(made) else text
    return text


def _bound(function: ast.FunctionDef) -> list[str]:
    """The local names of a function that no function inside of it mentions."""
    inside = {
        name.id
        for node in ast.walk(function)
        if isinstance(node, ast.FunctionDef | ast.Lambda) and node is not function
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
    }
    names = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    parameters = {argument.arg for argument in function.args.args}
    return sorted(names - inside - parameters)


def _runs(text: str) -> bool:
    try:
        function = numbers.load(text.replace("np.empty(4)", "np.full(4, np.nan)"))  # what nobody has written shows
    except SyntaxError:  # as of a name that a comprehension binds, and := as well
        return False
    try:
        with np.errstate(all="ignore"), time_limit(1):  # a counter that is spelt like another may never end
            result = numbers.ravel(function(*numbers.point_of(function)))
    except (Exception, OutOfTime):
        return False
    finally:
        numbers.forget(function)
    return bool(result.size and np.all(np.isfinite(result)))
