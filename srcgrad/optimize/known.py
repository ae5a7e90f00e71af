"""Facts of a function that hold until a pass changes it: effects, aliases, liveness, counts, each worked out once.

Most passes change nothing most of the time, and what they ask is the dearest part of them.
"""

from __future__ import annotations

import gast

from srcgrad.optimize.aliases import Aliases
from srcgrad.optimize.effects import Effects
from srcgrad.optimize.liveness import Liveness, liveness
from srcgrad.optimize.occurrences import Counts, Table
from srcgrad.optimize.scan import blocks, statements_of


class Known:
    """Everything is of the function as it was when ``changed`` was called last."""

    def __init__(
        self, function: gast.FunctionDef, temporaries: frozenset[str], effects: Effects,
        cotangents: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        self.function = function
        self.temporaries = temporaries  # names of the compiler's, which may vanish
        self.cotangents = cotangents  # parameters that hold adjoints
        self.effects = effects
        self._aliases: Aliases | None = None
        self._liveness: Liveness | None = None
        self._counts: Counts | None = None
        self._statements: list[gast.stmt] | None = None
        self._copies: list[tuple[list[gast.stmt], list[int]]] | None = None
        self._tables: dict[int, tuple[list[gast.stmt], Table]] = {}

    @property
    def aliases(self) -> Aliases:
        if self._aliases is None:
            self._aliases = Aliases(self.function, self.effects)
        return self._aliases

    @property
    def liveness(self) -> Liveness:
        if self._liveness is None:
            self._liveness = liveness(self.function, self.effects, self.aliases, self.statements)
        return self._liveness

    @property
    def counts(self) -> Counts:
        if self._counts is None:
            self._counts = Counts(self.function, self.effects)
        return self._counts

    @property
    def statements(self) -> list[gast.stmt]:
        """All statements, those in blocks included."""
        if self._statements is None:
            self._statements = statements_of(self.function)
        return self._statements

    @property
    def copies(self) -> list[tuple[list[gast.stmt], list[int]]]:
        """The blocks with copies of names or literals into names, ``a = b`` and ``a = 2.0``, and where these stand."""
        if self._copies is None:
            found = [(block, [j for j, s in enumerate(block) if _is_copy(s)]) for block, _ in blocks(self.function)]
            self._copies = [(block, positions) for block, positions in found if positions]
        return self._copies

    def table(self, statements: list[gast.stmt], again: bool) -> Table:
        """The occurrences in a block; ``again`` where the pass that asks has changed something already."""
        if again:
            return Table(statements, self.effects)
        found = self._tables.get(id(statements))
        if found is None:
            found = self._tables[id(statements)] = statements, Table(statements, self.effects)
        return found[1]

    def changed(self) -> None:
        """Forget what a change may have made untrue; lines that changed are forgotten where they are changed."""
        self.effects.renew()
        self._aliases = self._liveness = self._counts = self._statements = self._copies = None
        self._tables.clear()


def _is_copy(statement: gast.stmt) -> bool:
    if type(statement) is not gast.Assign or len(statement.targets) != 1:
        return False
    return type(statement.targets[0]) is gast.Name and type(statement.value) in (gast.Name, gast.Constant)
