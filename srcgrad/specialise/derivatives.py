"""Calls of derivatives inside of a differentiated function.

Enters: a call of what ``grad(f)`` or ``value_and_grad(f)`` returned.  Leaves: a call of a ``Derived`` callee of the
instance of f, with what f captured as its last arguments::

    def g(y):                                  t = grad_g(x, x)         its parameters: y, and the x that g captured
        return x * y**3                        return t * x
    return grad(g)(x) * x
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

from srcgrad.frontend.applying import differentiated
from srcgrad.infer.heap import Site
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import At, Exact, Value
from srcgrad.ir import normal_form as nf
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Operand
from srcgrad.ir.regions import Assign, Function, Statement
from srcgrad.language.models.derivatives import TRANSFORMS, Derivative
from srcgrad.specialise.closures import called_apart
from srcgrad.specialise.functions import Closure, at_site, function_at, is_made

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


@dataclass(frozen=True, eq=False)
class _Differentiated:
    """A function, its calls inside of its derivative, and by which of its parameters it is differentiated."""

    closure: Closure
    summaries: Sequence[Summary]
    modes: tuple[tuple[str, Any], ...]  # the innermost derivative first


def derivative_called(
    made: Reduced, statement: Assign, call: ir.Call, closure: Closure, summaries: Sequence[Summary]
) -> tuple[list[Statement], Operand | None] | None:
    """A call of a derivative; None where what it is a derivative of is not known well enough."""
    from srcgrad.specialise.callees import bound  # which calls derivatives

    found = _differentiated(made, closure, summaries)
    if found is None or not found.summaries:
        return None
    before: list[Statement] = []
    given = bound(made, found.closure, call, statement, before, found.summaries)
    parameters = found.closure.function.parameters
    positional = [v.variable or v.name for v in (*parameters.positional_only, *parameters.positional)]
    if given is None:
        return None

    def derived(function: Any) -> Any:
        for mode, argnums in found.modes:
            chosen = argnums if isinstance(argnums, tuple) else (argnums,)
            names = tuple(dict.fromkeys(positional[place] for place in chosen))
            function = nf.Derived(function, mode, names, isinstance(argnums, tuple))
        return function

    if any(place >= len(positional) for _, argnums in found.modes
           for place in (argnums if isinstance(argnums, tuple) else (argnums,))):  # fmt: skip
        return None
    apart = called_apart(made, statement, found.closure, given, found.summaries, derived)
    return None if apart is None else ([*before, *apart], None)


def _differentiated(made: Reduced, closure: Closure, summaries: Sequence[Summary]) -> _Differentiated | None:
    cells = {cell.variable: site for summary in summaries for cell, site in summary.cells.items()}
    if any(summary.cells != summaries[0].cells for summary in summaries):
        return None
    heap = summaries[0].heap
    argnums = _argnums(heap[cells["argnums"]].get("cell"), summaries[0])
    value = heap[cells["f"]].get("cell")
    mode = next(name for name, model in TRANSFORMS.items() if model is closure.owner)
    if argnums is None or value.is_any or len(value.atoms) != 1:
        return None
    (atom,) = value.atoms
    inner = [
        summary for outer in summaries for at, found in outer.calls.items()
        if isinstance(at, Assign) and isinstance(at.operation, ir.Call) and at.operation.star is not None
        for summary in found
    ]  # fmt: skip
    if not inner or any(summary.function is not inner[0].function for summary in inner):
        return None
    function = _function(made, atom, inner[0].function)
    if function is None:
        return None
    if function.owner in TRANSFORMS.values():
        below = _differentiated(made, function, inner)
        return None if below is None else _Differentiated(
            below.closure, below.summaries, (*below.modes, (mode, argnums))
        )  # fmt: skip
    return _Differentiated(function, inner, ((mode, argnums),))


def _function(made: Reduced, atom: Any, text: Function) -> Closure | None:
    from srcgrad.specialise.callees import outer_closure

    if is_made(atom) and function_at(atom) is text:
        if atom.site.kind is Derivative:
            return Closure(text, made.functions.owners[text], {}, {}) if text in made.functions.owners else None
        return at_site(made, atom.site)
    if isinstance(atom, Exact) and isinstance(atom.value, FunctionType) and differentiated(atom.value) is atom.value:
        return outer_closure(atom.value, text) if atom.value.__code__.co_name == text.name else None
    return None


def _argnums(value: Value, summary: Summary) -> int | tuple[int, ...] | None:
    """The places of the parameters; None where they are not known, or are names."""
    if value.is_any or len(value.atoms) != 1:
        return None
    (atom,) = value.atoms
    if isinstance(atom, Exact):
        return atom.value if type(atom.value) is int and atom.value >= 0 else None
    if not isinstance(atom, At) or atom.site.kind is not tuple:
        return None
    parts = summary.heap[Site(tuple, atom.site.origin, atom.site.context, atom.site.name)].parts
    given = [_argnums(part, summary) for part in parts or ()]
    places = tuple(place for place in given if isinstance(place, int))
    return places if places and len(places) == len(given) else None
