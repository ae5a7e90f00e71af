"""Imports on abstract values: modules that are there are themselves.

Enters: the name of a module, the heap.  Leaves: the module, or what it holds under a name; anything of one that is not
imported yet::

    import numpy as np                 np: numpy
    from math import pi                pi: 3.141592653589793
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from srcgrad.infer.frames import Frame
from srcgrad.infer.heap import Heap
from srcgrad.infer.objects import Made, get_attribute
from srcgrad.infer.reasons import IMPORT
from srcgrad.infer.values import Exact, exact, unknown
from srcgrad.ir import operations as ir

if TYPE_CHECKING:
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.ir.regions import Statement


def import_module(analysis: Analysis, frame: Frame, statement: Statement, op: ir.Import, heap: Heap) -> Made:
    frame.may_raise(heap)
    top = op.module.partition(".")[0] if not op.names and op.whole else op.module
    if op.level or top not in sys.modules or op.module not in sys.modules:
        return unknown(IMPORT), heap
    return exact(sys.modules[top]), heap


def import_name(analysis: Analysis, frame: Frame, statement: Statement, op: ir.ImportName, heap: Heap) -> Made:
    frame.may_raise(heap)
    atom = next(iter(frame[op.module].atoms)) if len(frame[op.module].atoms) == 1 else None
    if isinstance(atom, Exact) and isinstance(atom.value, ModuleType) and op.name in vars(atom.value):
        return get_attribute(analysis, frame, statement, frame[op.module], op.name, heap)
    return unknown(IMPORT), heap
