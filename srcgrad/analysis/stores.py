"""Stores into objects, as the analyses and the transforms take them.

Enters: ``Function`` and the facts about its names.  Leaves: the same function, or ``UnsupportedSyntax``.
"""

from __future__ import annotations

from srcgrad.analysis.cfg import walk
from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.normal_form import AugStore, Bind, Delete, Exchange, Function, SetField, Store


def refuse_stores(function: Function) -> None:
    """Raise ``UnsupportedSyntax`` at the first statement that stores into an object of the user's."""
    for statement in walk(function.body):
        match statement:
            case Store() | AugStore():
                reason = "an array store cannot be reversed yet"
            case SetField() | Delete() | Bind(operation=Exchange()):
                reason = "a change of an object cannot be reversed yet"
            case _:
                continue
        raise UnsupportedSyntax(
            reason,
            statement.span,
            label="this stores into an object",
            hint="build the array in one expression: np.where, np.concatenate, np.stack([... for ...])",
        )
