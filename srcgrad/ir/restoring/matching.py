"""``match``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gast

from srcgrad.ir import operations as ir
from srcgrad.ir.regions import Assign, If
from srcgrad.ir.restoring.pending import Pad, emit, plain, take
from srcgrad.ir.restoring.tree import assigned, call, name, of_version

if TYPE_CHECKING:
    from srcgrad.ir.restoring.statements import Around


def match(pad: Pad, here: If, around: Around) -> bool:
    return False


def pattern_test(pad: Pad, here: Assign) -> None:
    """One test of a pattern on its own, as a ``match`` of two cases."""
    raise NotImplementedError


_ = (Any, gast, ir, emit, plain, take, assigned, call, name, of_version)
