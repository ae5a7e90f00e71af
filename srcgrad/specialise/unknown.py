"""Why an operation is refused of which it is not known what it runs.

Enters: a statement that may run unknown code.  Leaves: the reason, as far as one is known: what an operand is, that a
function of a library has no rule, or which construct it is::

    y = x * masked         this is a numpy.MaskedArray, whose mask no derivative rule sees
    import helpers         this import cannot be differentiated
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from srcgrad.errors import MissingRule, UnsupportedSyntax
from srcgrad.frontend.classes import is_user_class
from srcgrad.infer.calls import model_of
from srcgrad.infer.outside import is_of_library, is_of_users
from srcgrad.infer.reasons import IMPORT, Reason, of_maker, otherwise, reaching, reason_of
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import At, Exact, Value
from srcgrad.ir import operations as ir
from srcgrad.ir.regions import Statement, With, operands_of
from srcgrad.language.models import is_of_model
from srcgrad.language.models.derivatives import PROGRAMS
from srcgrad.rules.table import lookup, refusal
from srcgrad.runtime.exact import named
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.unruled import missing_rule
from srcgrad.specialise.unseen import of_methods
from srcgrad.syntax.parse import spelled

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced

#: What is said of operations that are not followed.
_CONSTRUCTS: dict[type, Reason] = {
    ir.MakeClass: Reason(
        "E0106",
        "a class inside a differentiated function that each call creates again",
        hint="define it in the module",
    ),
    ir.Import: IMPORT,
    ir.ImportName: IMPORT,
    ir.Super: Reason(
        "E0110",
        "which method super() means is not known when this is compiled",
        hint="call it as Base.method(self, ...)",
    ),
    ir.WriteGlobal: Reason(
        "E0108",
        "a store into a global cannot be reversed",
        "this name is bound outside",
        "return the new value as a result",
    ),
}
_CONSTRUCTS[ir.DeleteGlobal] = _CONSTRUCTS[ir.WriteGlobal]


def stopped(made: Reduced, statement: Statement) -> UnsupportedSyntax | MissingRule | None:
    """The refusal of a statement at which a program ends, since it or what it calls may run anything; else None."""
    origin, stops = made.functions.origins.get(statement, statement), made.facts.stops
    if origin in made.ended:
        return made.ended[origin]
    if origin in stops:
        return refusal_of(made, statement)
    called = made.called.get(statement, ())
    if called and all(summary.returned is None for summary in called):
        # Of a manager, and of what stands for a derivative, nothing is written that could refuse in its turn, so what
        # these call is looked at too.
        is_whole = isinstance(statement, With) or any(made.functions.owners.get(s.function) in PROGRAMS for s in called)
        for summary in _ending(called) if is_whole else called:
            if inside := summary.reached & stops.keys():
                return _inside(made, statement, summary, min(inside, key=_line))
    return None


def _ending(called: Sequence[Summary]) -> Iterator[Summary]:
    """Calls that never return, and those in them."""
    met, pending = set[Summary](), list(called)
    while pending:
        summary = pending.pop()
        if summary.returned is None and summary not in met:
            met.add(summary)
            yield summary
            pending += [inner for each in summary.calls.values() for inner in each]


def _line(statement: Statement) -> tuple[int, int]:
    node: Any = statement.node
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _inside(made: Reduced, statement: Statement, summary: Summary, inner: Statement) -> UnsupportedSyntax | MissingRule:
    """The refusal of a call for a statement of what is called: at that, where it is the user's."""
    operation = getattr(statement, "operation", None)
    function = static_of(made.value(operation.function)) if isinstance(operation, ir.Call) else None
    by_methods = of_methods(made, statement)
    is_alone = callable(function) and is_of_library(function) and lookup(function) is None and by_methods is None
    is_alone = is_alone and not str(function.__module__).startswith("srcgrad.")  # nor emitted text
    if is_alone and model_of(function) is None and isinstance(statement.node, gast.Call):
        return missing_rule(spelled(statement.node.func), function, made.place_of(statement.node))
    values = [summary.values[operand] for operand in _read(inner) if operand in summary.values]
    why = made.facts.stops[inner] or next(filter(None, map(reason_of, values)), None) or by_methods
    why = why or _of_attribute(inner) or Reason("E0201", "what this call does is not known")
    owners = (owner for owner, text in made.facts.functions.items() if text is summary.function)
    owner = next((each for each in owners if not is_of_library(each) and not is_of_model(each)), None)
    place = made.place_of(statement.node) if owner is None else made.source_of(owner).span(inner.node)
    return UnsupportedSyntax(why.message, place, code=why.code, label=why.label, hint=why.hint or otherwise(why.code))


def refusal_of(made: Reduced, statement: Statement) -> UnsupportedSyntax | MissingRule:
    """The refusal of a statement that may run anything."""
    operation, node, source = getattr(statement, "operation", None), statement.node, made.source_of(made.frame.owner)
    function = static_of(made.value(operation.function)) if isinstance(operation, ir.Call) else None
    given = [made.value(made.known.get(operand, operand)) for operand in _read(statement)]
    why: Reason | None
    if lookup(function) is not None and any(map(_is_function, given[1:])):
        assert isinstance(node, gast.Call)
        why = Reason(
            "E0205", f"{spelled(node.func)} is given a function, which is not followed", hint="write what it computes"
        )
    elif callable(function) and lookup(function) is None and _is_named(function):
        name = spelled(node.func) if isinstance(node, gast.Call) else function.__name__
        if (why := of_maker(function)) is None:
            return missing_rule(name, function, source.span(node))
    else:
        why = _of_construct(operation) or _of_operands(made, statement)
        why = why or _of_objects(operation, given) or of_methods(made, statement)
    why = made.facts.stops.get(made.functions.origins.get(statement, statement)) or why
    if why is None:
        why = _of_operation(operation, node, function)
    return UnsupportedSyntax(
        why.message, source.span(node), code=why.code, label=why.label, hint=why.hint or otherwise(why.code)
    )


def _of_construct(operation: object) -> Reason | None:
    why = _CONSTRUCTS.get(type(operation))
    return replace(why, label=operation.why) if why is not None and isinstance(operation, ir.MakeClass) else why


def _of_operation(operation: Any, node: gast.AST, function: Any) -> Reason:
    """What is said of an operation where nothing else is known of it: what it is."""
    match operation:
        case ir.Call() if isinstance(function, type):
            held = [kind.__name__ for kind in function.__mro__[1:-1] if kind.__module__ == "builtins"]
            whose = f", which is a {held[0]}," if held and is_user_class(function) else ""
            return Reason("E0408", f"what an object of class {named(function)}{whose} does is not known",
                          hint="make plain objects by __init__, which hold what they need")  # fmt: skip
        case ir.Call():
            is_dotted = isinstance(node, gast.Call) and isinstance(node.func, gast.Name | gast.Attribute)
            called = f"{spelled(node.func)}()" if isinstance(node, gast.Call) and is_dotted else "this call"
            label = None if function is None else f"an object of class {named(type(function))} is called"
            label = "this is compiled code" if isinstance(function, BuiltinFunctionType) else label
            return Reason("E0201", f"what {called} does is not known", label)
        case ir.GetAttribute(name=name):
            return Reason("E0202", f"what the attribute {name!r} of this object is, is not known")
        case ir.GetItem():
            return Reason("E0202", "what an item of this object is, is not known")
    return Reason("E0202", "what this operation runs is not known")


def _is_function(value: Value) -> bool:
    return any(isinstance(a, Exact) and isinstance(a.value, FunctionType) or isinstance(a, At) and (
        a.site.kind is FunctionType) for a in value.atoms)  # fmt: skip


def _is_named(function: Any) -> bool:
    """Whether a function is of NumPy's or SciPy's, or compiled: its name is all that can be said of it."""
    home = str(getattr(function, "__module__", None)).partition(".")[0]
    return isinstance(function, np.ufunc) or home in ("numpy", "scipy") or refusal(function) is not None


def _of_operands(made: Reduced, statement: Statement) -> Reason | None:
    """What is said of an operand of which it is not known what it is."""
    operands = [made.known.get(operand, operand) for operand in _read(statement)]
    of_values = next(filter(None, (reason_of(made.value(operand)) for operand in operands)), None)
    made_by = (type(made.origins.get(operand)) for operand in operands)
    return of_values or next(filter(None, (_CONSTRUCTS.get(kind) for kind in made_by)), None)


def _of_attribute(statement: Statement) -> Reason | None:
    match getattr(statement, "operation", None):
        case ir.GetAttribute(name="__dict__"):
            return reaching("__dict__")
    return None


def _of_objects(operation: Any, given: list[Value]) -> Reason | None:
    """What is said of an operation on objects of the user's that is not followed."""
    kinds = [a.site.kind for value in given for a in value.atoms if isinstance(a, At) and is_of_users(a)]
    match operation:
        case ir.Iterate() if kinds and hasattr(kinds[0], "__iter__"):
            name = getattr(kinds[0], "__name__", "")
            return Reason("E0401", f"a loop over an object of class {name}, whose __iter__ is not followed",
                          hint="loop over what it holds")  # fmt: skip
        case ir.Make(kind="set") | ir.Insert() if kinds:
            return Reason("E0407", "an object is put into a set, and what is read from it there would not be followed",
                          hint="put in what tells it apart, a number or a name")  # fmt: skip
    return None


def _read(statement: Statement) -> list[Any]:
    operation = getattr(statement, "operation", None)
    return [*operands_of(statement if operation is None else operation)]
