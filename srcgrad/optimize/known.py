"""What is known of a function until a pass changes it: effects, aliases, liveness, each worked out once.

Most passes change nothing most of the time, and what they ask is the dearest part of them.
"""

from __future__ import annotations

import gast

from srcgrad.optimize.aliases import Aliases
from srcgrad.optimize.effects import Effects
from srcgrad.optimize.liveness import Liveness, liveness


class Known:
    """``aliases`` and ``liveness`` are of the function as it was when ``changed`` was called last."""

    def __init__(self, function: gast.FunctionDef, temporaries: frozenset[str], effects: Effects) -> None:
        self.function = function
        self.temporaries = temporaries  # names of the compiler's, which may vanish
        self.effects = effects
        self._aliases: Aliases | None = None
        self._liveness: Liveness | None = None

    @property
    def aliases(self) -> Aliases:
        if self._aliases is None:
            self._aliases = Aliases(self.function, self.effects)
        return self._aliases

    @property
    def liveness(self) -> Liveness:
        if self._liveness is None:
            self._liveness = liveness(self.function, self.effects, self.aliases)
        return self._liveness

    def changed(self) -> None:
        """Forget what a change may have made untrue; lines that changed are forgotten where they are changed."""
        self.effects.renew()
        self._aliases = self._liveness = None
