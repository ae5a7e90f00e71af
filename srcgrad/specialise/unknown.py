"""Why an operation is refused of which it is not known what it runs.

Enters: a statement that may run unknown code.  Leaves: the reason, as far as one is known: what an operand is, that a
function of a library has no rule, or which construct it is::

    y = x * masked         this is a numpy.MaskedArray, whose mask no derivative rule sees
    import helpers         this import cannot be differentiated
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

import gast
import numpy as np

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.callees import spelled
from srcgrad.infer.outside import is_of_users
from srcgrad.infer.reasons import IMPORT, Reason, of_maker, reason_of
from srcgrad.infer.values import At, Exact, Value
from srcgrad.ir import operations as ir
from srcgrad.ir.regions import Statement, operands_of
from srcgrad.rules.table import lookup, refusal
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.unruled import missing_rule

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced

#: What is said of operations that are not followed.
_CONSTRUCTS: dict[type, Reason] = {
    ir.MakeClass: Reason(
        "a class inside a differentiated function that each call makes anew",
        "its statement reads local variables, or does more than define it",
        "define it in the module",
    ),
    ir.Import: IMPORT,
    ir.ImportName: IMPORT,
    ir.Super: Reason(
        "which method super() means is not known when this is compiled", hint="call it as Base.method(self, ...)"
    ),
    ir.WriteGlobal: Reason(
        "a store into a global cannot be reversed", "this name is bound outside", "return the new value as a result"
    ),
}
_CONSTRUCTS[ir.DeleteGlobal] = _CONSTRUCTS[ir.WriteGlobal]
def refuse_unknown(made: Reduced, statement: Statement) -> NoReturn:
    """Refuse a statement that may run anything."""
    operation, node, source = getattr(statement, "operation", None), statement.node, made.source_of(made.frame.owner)
    function = static_of(made.value(operation.function)) if isinstance(operation, ir.Call) else None
    given = [made.value(made.known.get(operand, operand)) for operand in _read(statement)]
    why: Reason | None
    if lookup(function) is not None and any(map(_is_function, given[1:])):
        assert isinstance(node, gast.Call)
        why = Reason(f"{spelled(node.func)} is given a function, which is not followed", hint="write what it computes")
    elif callable(function) and lookup(function) is None and _is_named(function):
        name = spelled(node.func) if isinstance(node, gast.Call) else function.__name__
        if (why := of_maker(function)) is None:
            raise missing_rule(name, function, source.span(node))
    else:
        why = _CONSTRUCTS.get(type(operation)) or _of_operands(made, statement) or _of_objects(operation, given)
    if why is None:
        made.refuse(node, "what runs here")
    raise UnsupportedSyntax(why.message, source.span(node), label=why.label, hint=why.hint)


def _is_function(value: Value) -> bool:
    return any(isinstance(a, Exact) and isinstance(a.value, FunctionType) or isinstance(a, At) and (
        a.site.kind is FunctionType) for a in value.atoms)  # fmt: skip


def _is_named(function: Any) -> bool:
    """Whether a function is of NumPy's or SciPy's, or compiled: its name is all that can be said of it."""
    home = str(getattr(function, "__module__", None)).partition(".")[0]
    return isinstance(function, np.ufunc) or home in ("numpy", "scipy") or refusal(function) is not None


def _of_operands(made: Reduced, statement: Statement) -> Reason | None:
    """What is said of an operand of which it is not known what it is."""
    values = [made.value(made.known.get(operand, operand)) for operand in _read(statement)]
    return next(filter(None, map(reason_of, values)), None)


def _of_objects(operation: Any, given: list[Value]) -> Reason | None:
    """What is said of an operation on objects of the user's that is not followed."""
    kinds = [a.site.kind for value in given for a in value.atoms if isinstance(a, At) and is_of_users(a)]
    match operation:
        case ir.Iterate() if kinds and kinds[0] is not None:
            name = kinds[0].__name__
            return Reason(f"a loop over an object of class {name}, whose __iter__ is not followed",
                          hint="loop over what it holds")  # fmt: skip
        case ir.Make(kind="set") | ir.Insert() if kinds:
            return Reason("an object is put into a set, and what is read from it there would not be followed",
                          hint="put in what tells it apart, a number or a name")  # fmt: skip
    return None


def _read(statement: Statement) -> list[Any]:
    operation = getattr(statement, "operation", None)
    return [*operands_of(statement if operation is None else operation)]
