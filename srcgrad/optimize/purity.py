"""Which calls have no effect, and what raises nothing."""

from __future__ import annotations

import builtins
import math

import gast
import numpy as np

from srcgrad.language import effects
from srcgrad.language.effects import is_compiled_ufunc, is_function
from srcgrad.optimize.aliases import callee_of
from srcgrad.optimize.effects import IN_PLACE
from srcgrad.optimize.scan import statements_of
from srcgrad.rules.table import lookup
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import walk

_BUILTINS = frozenset(
    id(getattr(builtins, name))
    for name in "abs bool complex dict divmod enumerate float frozenset int isinstance len list max min pow range "
    "reversed round set slice sorted str sum tuple type zip".split()
)
_MATH = frozenset(id(value) for value in vars(math).values() if callable(value))
_EFFECTS = frozenset(
    id(value)
    for value in (np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal, np.save, np.savez)
)
_EFFECTS_HERE = IN_PLACE | {
    "alongside", "followed", "handed", "made_of", "never", "one_for", "raised_augmenting", "raised_by_manager",
    "raised_in_place",
    "raised_entering", "raised_iterating", "left_early", "tried",
    "require_apart", "require_arithmetic", "require_assigned",
    "require_disjoint", "require_exact",
    "require_kind",
    "require_plain",
    "require_entry",
    "require_fields",
    "require_rows",
    "require_examples", "require_length", "require_mapping", "require_new", "require_order",
    "require_count", "require_no_object", "require_number", "require_real", "require_output", "require_key",
    "require_keys", "require_places",
    "require_bound_of_slice", "require_cast", "require_items", "require_alike", "require_hashed",
    "require_memory", "require_elements",
    "require_kept", "require_matrix", "require_wide",
    "require_signed",
    "require_given", "shuffled", "step",
    "unwritten",
}  # fmt: skip


def enters(function: gast.FunctionDef) -> bool:
    """Whether a function enters a context manager of the program, which may catch what is raised inside."""
    managers = (item for s in statements_of(function) if isinstance(s, gast.With) for item in s.items)
    return any(isinstance(item.context_expr, gast.Name) for item in managers)


def silent(expression: gast.expr) -> bool:
    """What raises nothing, if it is pure: where an exception may be caught, anything else has to be evaluated."""
    return all(map(_is_quiet, walk(expression)))


def _is_quiet(node: gast.AST) -> bool:
    if isinstance(node, gast.Dict):  # which raises where a key has no hash
        return all(isinstance(key, gast.Constant) for key in node.keys)
    return isinstance(node, _QUIET) or isinstance(node, gast.Call) and _is_quiet_call(node)


def _is_quiet_call(call: gast.Call) -> bool:
    function = callee_of(call.func)
    home = getattr(function, "__module__", None) or ""
    return home.startswith("srcgrad.runtime") and getattr(function, "__name__", "") in _QUIET_HERE


_QUIET = (gast.Name, gast.Constant, gast.Tuple, gast.List, gast.Is, gast.IsNot)
_QUIET_HERE = frozenset("as_list frozen items_like part_like shadow snapshot view_like zeros_like".split())


def pure(call: gast.Call) -> bool:
    """Calls of NumPy's functions, math's, the runtime's, harmless builtins and SciPy's with a rule."""
    function = callee_of(call.func)
    if function is None:
        return isinstance(call.func, gast.Attribute) and call.func.attr in _METHODS
    if id(function) in _EFFECTS:
        return False
    if id(function) in _BUILTINS or id(function) in _MATH:
        return True
    if isinstance(function, np.dtype) or is_compiled_ufunc(function):
        return True
    if is_compiled_ufunc(getattr(function, "__self__", None)):
        return getattr(function, "__name__", "") != "at"
    if isinstance(call.func, GlobalReference) and (call.func.binding.module or "").startswith("srcgrad.runtime"):
        return not _EFFECTS_HERE & {call.func.binding.attribute, call.func.binding.preferred}
    module = getattr(function, "__module__", None) or ""
    if module.startswith("scipy."):
        return lookup(function) is not None  # its draws, searches and settings have no rules
    return is_function(function) and module.partition(".")[0] == "numpy" and not module.startswith("numpy.random")


_METHODS = effects.reading(np.ndarray, dict)
