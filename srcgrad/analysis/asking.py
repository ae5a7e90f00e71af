"""Whether a test, or what is made again, may be evaluated once more: an answer that changes what is asked is kept.

Looking for an item in an iterator takes items out of it, and the truth of an object is a method of its class.  So what
is looked for in, and what is asked for its truth, has to be known to be a number, an array or a container of Python's::

    if 2 in keys:   keys is a dict: asked again           keys may be an iterator: the answer is kept
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from collections.abc import Mapping as Facts

import gast
import numpy as np

from srcgrad.analysis.values import fact_of_expression
from srcgrad.rules.facts import Array, Fact, Mapping, Sequence, Static
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import walk

_DATA = (list, tuple, dict, set, frozenset, deque, range, str, bytes, int, float, complex, np.ndarray, np.generic)
#: What has an answer of its own, whatever its operands are.
_ANSWERS = gast.Compare | gast.BinOp | gast.Constant | gast.Tuple | gast.List | gast.Set | gast.Dict | gast.Call


def changes_nothing(
    expression: gast.expr, fact: Callable[[str], Fact], *, truth: bool = False, told: bool = False
) -> bool:
    """Whether evaluating changes nothing that it asks.

    ``truth``: the expression itself is asked for its truth too.  ``told``: what the function is called with is known,
    so that what is not known came out of a call, and ``len`` of it may be a method.
    """
    asked = [*_searched(expression), *(_asked_for_truth(expression) if truth else ())]
    if told:
        asked += _measured(expression)
    return all(_is_data(operand, fact) for operand in asked)


def _searched(expression: gast.expr) -> Iterator[gast.expr]:
    """What ``in`` looks into."""
    for node in walk(expression):
        if isinstance(node, gast.Compare):
            yield from (c for op, c in zip(node.ops, node.comparators, strict=True) if isinstance(op, _SEARCHES))


_SEARCHES = gast.In | gast.NotIn


def _measured(expression: gast.expr) -> Iterator[gast.expr]:
    """The operand of ``len``."""
    for node in walk(expression):
        match node:
            case gast.Call(func=GlobalReference() as function, args=[operand]) if function.binding.value is len:
                yield operand


def _asked_for_truth(expression: gast.expr) -> Iterator[gast.expr]:
    pending = [expression]
    while pending:
        node = pending.pop()
        match node:
            case gast.BoolOp(values=values):
                pending += values
            case gast.UnaryOp(op=gast.Not(), operand=operand):
                pending.append(operand)
            case _:
                yield node


def _is_data(operand: gast.expr, fact: Callable[[str], Fact]) -> bool:
    if isinstance(operand, _ANSWERS):
        return True
    if isinstance(operand, GlobalReference):  # of which class it is is one of the guards of the program
        return type(operand.binding.value) in _DATA or isinstance(operand.binding.value, np.generic)
    return _says_data(fact_of_expression(operand, fact))


def data_names(facts: Facts[str, Fact]) -> frozenset[str]:
    """The names of numbers, arrays and containers."""
    return frozenset(name for name, known in facts.items() if _says_data(known))


def _says_data(known: Fact) -> bool:
    if isinstance(known, Static):
        return known.value is None or isinstance(known.value, _DATA)
    return isinstance(known, Array | Sequence | Mapping)
