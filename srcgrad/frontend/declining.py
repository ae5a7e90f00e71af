"""What methods of operators and comparisons answer: whether they decline, so that Python asks the other operand.

Enters: a method for operands of known classes, in whose normal form tests of these are decided.  Leaves: which kinds
of values it may return::

    def __eq__(self, other):
        if not isinstance(other, Point):        Point, Point        {TELLS}
            return NotImplemented               Point, float        {DECLINES}
        return self.x == other.x
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import gast

from srcgrad.errors import LanguageError, SourceUnavailable
from srcgrad.frontend.classes import found
from srcgrad.frontend.implicit import stores_as
from srcgrad.frontend.known import instances_of
from srcgrad.frontend.normal_form import Bind, Call, Callee, Copy, Fixed, Operation, Return
from srcgrad.frontend.unseen import Unseen
from srcgrad.frontend.walking import statements_of
from srcgrad.runtime.reaching import leads_nowhere, read_by
from srcgrad.syntax.globals import GlobalReference

#: NotImplemented; what carries no derivative; anything else.
DECLINES, TELLS, VARIES = "declines", "tells", "varies"


_HINT = "return something else, or test the class of the other operand by isinstance"


class Declining(Unseen):
    """Methods that may return NotImplemented."""

    def declines(self, node: gast.expr, name: str, atoms: list[gast.expr]) -> bool:
        """Whether the method of the first operand declines; of a number, whose class may not be known, the operator
        is run, and raises where what it returns is computed with."""
        asked = self._asked(name, atoms, node, all_of_them=False)
        if any(answers(each) != {DECLINES} for each in asked) or not asked:
            if instances_of(self.known_atom(atoms[1])) and any(DECLINES in answers(each) for each in asked):
                raise self.refuse(node, f"{name} may return NotImplemented, which is known only when it runs", _HINT)
            return False
        if all(map(_does_nothing, asked)):
            return True
        raise self.refuse(node, f"{name} returns NotImplemented here, and does more than that", _HINT)

    def refuse_declining(self, node: gast.expr, name: str, atoms: list[gast.expr]) -> None:
        """Refuse an operator where no other method is asked."""
        if self.declines(node, name, atoms):
            raise self.refuse(node, f"{name} returns NotImplemented here: Python raises a TypeError", _HINT)

    def left_to_python(self, node: gast.expr, name: str, reflected: str, atoms: list[gast.expr]) -> bool:
        """Whether the first method of a comparison may decline: Python asks the other one, and then for identity."""
        first = self._asked(name, atoms, node, all_of_them=False)
        if not any(DECLINES in answers(each) for each in first):
            return False
        first += self._asked(reflected, atoms[::-1], node, all_of_them=True)
        kinds = [each.kind for atom in atoms for each in instances_of(self.known_atom(atom))]
        stores = any(stores_as(kind, asked) for kind in kinds for asked in (name, reflected))
        if stores or any(VARIES in answers(each) for each in first):
            raise self.refuse(node, f"{name} may return NotImplemented, and another method is asked", _HINT)
        return True

    def _asked(self, name: str, atoms: list[gast.expr], node: gast.expr, *, all_of_them: bool) -> list[Operation]:
        """The calls of a method of the first operand, one for each class; or of those that may decline alone."""
        atom, *others = atoms
        made: list[Operation] = []
        for each in instances_of(self.known_atom(atom)):
            raw = found(each.kind, name)
            if not isinstance(raw, FunctionType) or not isinstance(atom, gast.Name):
                continue
            if all_of_them and raw.__code__.co_filename != "<string>" or may_decline(each.kind, raw):
                outer = dict(self.narrowed)
                self.narrowed[atom.id] = each
                made.append(self.method(raw, atom, others, [], node, None)[1])
                self.narrowed = outer
        return made


def answers(operation: Operation, seen: frozenset[Callee] = frozenset()) -> set[str]:
    """The kinds of what a call of a method returns; a call inside of itself, which returns what it does, has none."""
    from srcgrad.frontend.normalize import normalize  # it writes operators, which ask this

    if not isinstance(operation, Call) or operation.callee.makes is not None:
        return {TELLS} if isinstance(operation, Fixed) else {VARIES}
    if operation.callee in seen:
        return set()
    try:
        body = normalize(operation.callee).body
    except (LanguageError, SourceUnavailable):
        return {DECLINES, VARIES}
    bound: dict[str, list[Any]] = {}
    for statement in statements_of(body):
        for name in (getattr(statement, "target", None), *getattr(statement, "targets", ())):
            bound.setdefault(str(name), []).append(statement)
    returned = [statement.value for statement in statements_of(body) if isinstance(statement, Return)]
    return _kinds(returned, bound, seen | {operation.callee})


def may_decline(kind: type, method: FunctionType) -> bool:
    """Whether the text of a method of a class, or of what it calls by its name, names NotImplemented."""
    seen, pending = {method}, [method]
    while pending:
        function = pending.pop()
        if "NotImplemented" in function.__code__.co_names:
            return True
        names = function.__code__.co_names
        held = [place.get(name) for place in map(vars, kind.__mro__) for name in names] + list(read_by(function))
        held = [each.__func__ if isinstance(each, staticmethod | classmethod) else each for each in held]
        called = {each for each in held if isinstance(each, FunctionType) and not leads_nowhere(each)} - seen
        seen |= called
        pending += called
    return False


def _does_nothing(operation: Operation) -> bool:
    """Whether a call of a method does nothing but to return something."""
    from srcgrad.frontend.normalize import normalize  # it writes operators, which ask this

    return isinstance(operation, Call) and all(
        isinstance(each, Return) or isinstance(each, Bind) and isinstance(each.operation, Fixed | Copy)
        for each in statements_of(normalize(operation.callee).body)
    )


def _kinds(returned: list[gast.expr], bound: dict[str, list[Any]], seen: frozenset[Callee]) -> set[str]:
    found: set[str] = set()
    pending, met = list(returned), set[str]()
    while pending:
        value = pending.pop()
        if not isinstance(value, gast.Name) or isinstance(value, GlobalReference):
            found.add(TELLS if isinstance(value, gast.Constant) else VARIES)
            continue
        if value.id in met:
            continue
        met.add(value.id)
        for statement in bound.get(value.id, [None]):
            match statement:
                case Bind(expression=GlobalReference(binding=binding)) if binding.value is NotImplemented:
                    found.add(DECLINES)
                case Bind(expression=gast.Name() as other, operation=Copy()) if not isinstance(other, GlobalReference):
                    pending.append(other)
                case Bind(operation=operation):
                    found |= answers(operation, seen)
                case _:
                    found.add(VARIES)
    return found
