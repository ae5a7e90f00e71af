"""Functions for one kind of call, whose refusals are raised where they are reached.

Enters: an instance.  Leaves: its normal form.  What is refused under a test, or behind one that may return, does not
run in every call: there the text ends with the refusal, and the function is written again::

    if verbose:                              if verbose:
        print(sys._getframe())      ->           raise RefusedMode("_getframe() reaches names and objects ...")
    return x * x                             return x * x
"""

from __future__ import annotations

from collections.abc import Mapping

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.source import source_of
from srcgrad.ir import normal_form as nf
from srcgrad.ir.regions import Assign, Block, Statement, blocks_of
from srcgrad.specialise.conditions import is_test, may_return
from srcgrad.specialise.instances import Instance
from srcgrad.specialise.writing import normal_form

_MOST = 8  # refusals of one function: each takes as long as to write it


def specialised(instance: Instance) -> nf.Function:
    """The normal form of a function for one kind of call.

    What is refused under a test, or behind one that may return, is raised where it is reached.
    """
    ended: dict[Statement, UnsupportedSyntax] = {}
    while True:
        try:
            return normal_form(instance, ended)
        except UnsupportedSyntax as refusal:
            statement = _refused(instance, refusal, ended) if len(ended) < _MOST else None
            if statement is None:
                raise
            ended[statement] = refusal


def _refused(
    instance: Instance, refusal: UnsupportedSyntax, ended: Mapping[Statement, UnsupportedSyntax]
) -> Statement | None:
    """The first statement at the place of a refusal that does not run in every call, and still stands."""
    source, span = source_of(instance.function), refusal.span
    if span is None or span.filename != source.filename:
        return None

    def first(block: Block, is_conditional: bool) -> Statement | None:
        for statement in block.statements:
            is_there = getattr(statement.node, "lineno", None) == span.line
            if is_conditional and is_there and isinstance(statement, Assign) and statement not in ended:
                return statement
            for inner in blocks_of(statement):
                if (found := first(inner, is_conditional or is_test(statement))) is not None:
                    return found
            is_conditional = is_conditional or is_test(statement) and may_return(statement)
        return None

    return first(instance.summary.function.body, False)
