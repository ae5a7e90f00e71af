"""Imports on abstract values: what is imported is itself.

Enters: the name of a module, the heap.  Leaves: the module, or what it holds under a name.  It is imported when the
program is compiled, as Python does once when the statement is reached::

    import numpy as np                 np: numpy
    from math import pi                pi: 3.141592653589793
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from srcgrad.frontend.journal import note_compiled_in
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
    try:
        whole = importlib.util.resolve_name("." * op.level + op.module, frame.namespace.get("__package__") or "")
        module = importlib.import_module(whole)
    except ModuleNotFoundError as error:
        if frame.raised is None or op.level or error.name is None or not is_part(error.name, op.module):
            return _unknown(analysis, frame, heap)
        note_compiled_in(sys.modules, whole)
        frame.may_raise(heap)  # where something catches it, the program goes on without the module
        return None
    except Exception:  # what it runs fails
        return _unknown(analysis, frame, heap)
    return exact(sys.modules[whole.partition(".")[0]] if not op.names and op.whole else module), heap


def is_part(name: str, module: str) -> bool:
    """Whether a module is one, or a package that it stands in: what is not there is not missed by another module."""
    return f"{module}.".startswith(f"{name}.")


def import_name(analysis: Analysis, frame: Frame, statement: Statement, op: ir.ImportName, heap: Heap) -> Made:
    atom = next(iter(frame[op.module].atoms)) if len(frame[op.module].atoms) == 1 else None
    if not isinstance(atom, Exact) or not isinstance(atom.value, ModuleType):
        return _unknown(analysis, frame, heap)
    if not hasattr(atom.value, op.name):
        try:
            importlib.import_module(f"{atom.value.__name__}.{op.name}")
        except Exception:
            return _unknown(analysis, frame, heap)
    if op.name in vars(atom.value):
        return get_attribute(analysis, frame, statement, frame[op.module], op.name, heap)
    return analysis.outside.value(getattr(atom.value, op.name)), heap


def _unknown(analysis: Analysis, frame: Frame, heap: Heap) -> Made:
    frame.may_raise(heap)
    analysis.assigned.stop(IMPORT)
    return unknown(IMPORT), heap
