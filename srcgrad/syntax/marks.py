"""Marks on generated trees: what their text does not say, and who reads that text again has to know.

``x_bar[i] += e`` adds to a buffer that one name holds.  Marked, other names may see the buffer: it is a shadow, or what
a user's program stores into.  The lines of the marked statements travel with the loaded functions.

A *role* says what a statement is for.  Statements that have none belong to the sweep of what they stand in or behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    import gast

AnyStatement = TypeVar("AnyStatement", bound="gast.stmt")

#: In the forward sweep: the user's statements, and what is kept for the reverse sweep.  In the reverse sweep: adjoints,
#: what was kept and is read again, values that are computed again.  In forward mode: values with their tangents.
Role = Literal["primal", "record", "adjoint", "recall", "recompute", "tangent"]

#: The sweep that a role belongs to, by what it computes.
SWEEP: dict[Role, Role] = {
    "primal": "primal", "record": "primal",
    "adjoint": "adjoint", "recall": "adjoint", "recompute": "adjoint",
    "tangent": "tangent",
}  # fmt: skip


def seen_elsewhere(statement: AnyStatement) -> AnyStatement:
    """The statement, marked."""
    statement.seen_elsewhere = True
    return statement


def is_seen_elsewhere(statement: gast.stmt) -> bool:
    return getattr(statement, "seen_elsewhere", False)


def term_by_term(statement: AnyStatement) -> AnyStatement:
    """``x += a + b`` of arrays, marked: one term may be added after the other, so that no memory holds their sum."""
    statement.term_by_term = True
    return statement


def is_term_by_term(statement: gast.stmt) -> bool:
    return getattr(statement, "term_by_term", False)


def whole(statement: AnyStatement) -> AnyStatement:
    """``x += e``, marked: e has the shape and dtype of x, of one axis, so that it may be all that x holds."""
    statement.whole = True
    return statement


def is_whole(statement: gast.stmt) -> bool:
    return getattr(statement, "whole", False)


def in_role(statement: AnyStatement, role: Role) -> AnyStatement:
    """The statement, with its role unless it has one."""
    if role_of(statement) is None:
        statement.role = role
    return statement


def role_of(statement: gast.stmt) -> Role | None:
    return getattr(statement, "role", None)
