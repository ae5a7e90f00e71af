"""Calls of derivatives inside of a differentiated function.

Enters: a call of what ``grad(f)``, or another transformation that has programs of its own, returned.  Leaves: a call of
a ``Derived`` callee of the instance of f, with what f captured behind its arguments, and tangents or a cotangent last::

    def g(y):                                  t = grad_g(x, x)         its parameters: y, and the x that g captured
        return x * y**3                        return t * x
    return grad(g)(x) * x
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

from srcgrad.frontend.applying import differentiated
from srcgrad.frontend.classes import is_user_class
from srcgrad.infer.calls import plain_function
from srcgrad.infer.heap import Site
from srcgrad.infer.objects import class_of, looked_up
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import NEVER, At, Atom, Bound, Exact, Value, exact
from srcgrad.ir import normal_form as nf
from srcgrad.ir import operations as ir
from srcgrad.ir.copied import bound_by
from srcgrad.ir.operations import Operand, Version
from srcgrad.ir.regions import Assign, Function, Statement, walk
from srcgrad.ir.restoring.functions import names_of
from srcgrad.language.effects import member, of_function
from srcgrad.language.models.derivatives import (
    PROGRAMS,
    TRANSFORMS,
    gradient,
    jacobian_vector,
    program_of,
    value_and_gradient,
)
from srcgrad.specialise.captures import unpacked
from srcgrad.specialise.closures import called_apart
from srcgrad.specialise.functions import Closure, at_site, function_at, is_made
from srcgrad.specialise.receivers import receiver_of
from srcgrad.syntax.namer import Namer

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


_Argnums: TypeAlias = int | tuple[int, ...]
#: What runs the function once where it is called, as its program does.
_ONCE = (gradient, value_and_gradient, jacobian_vector)


@dataclass(frozen=True, eq=False)
class _Differentiated:
    """A function, its calls inside of its derivative, and by which of its parameters it is differentiated.

    ``leading``: the object that a method is bound to; ``before`` reads it."""

    closure: Closure
    summaries: Sequence[Summary]
    modes: tuple[tuple[str, _Argnums | None], ...]  # the innermost derivative first; None: by all that is passed
    leading: tuple[Operand, ...] = ()
    before: tuple[Statement, ...] = ()


def is_program(closure: Closure) -> bool:
    """Whether a function stands for a derivative that is compiled."""
    return closure.owner in PROGRAMS and closure.function.name == "program" and not closure.is_outside


def made_outside(found: Any, text: Function) -> Closure:
    """The program of a derivative that was made outside."""
    mode, *_ = found.__srcgrad_derived__()
    return Closure(text, TRANSFORMS[mode], {}, {})


def derivative_called(
    made: Reduced, statement: Assign, call: ir.Call, closure: Closure, summaries: Sequence[Summary]
) -> tuple[list[Statement], Operand | None] | None:
    """A call of a derivative; None where what it is a derivative of is not known well enough."""
    from srcgrad.specialise.callees import bound  # which calls derivatives

    found = _differentiated(made, closure, summaries, statement)
    if found is None or not found.summaries or call.star is not None:
        return None
    if closure.owner not in _ONCE and _draws(found.summaries):
        made.refuse(
            "E0213", statement.node, "a function that draws random numbers, and is run more than once for a derivative,"
        )
    beside = _beside(made, found.modes[-1], call)
    if beside is None:
        return None
    places, more = beside
    given_first = (*found.leading, *call.positional[: len(call.positional) - _count(found.modes[-1], call)])
    found = _with_arity(found, len(given_first))
    parameters = found.closure.function.parameters
    positional = [v.variable or v.name for v in (*parameters.positional_only, *parameters.positional)]
    own, positional = tuple(positional[: len(found.leading)]), positional[len(found.leading) :]
    chosen = [*(argnums for _, argnums in found.modes[:-1] if argnums is not None), places]
    if len(chosen) < len(found.modes) or any(place >= len(positional) for each in chosen for place in _listed(each)):
        return None
    before = [*found.before]
    primals = replace(call, positional=given_first)
    given = bound(made, found.closure, primals, statement, before, found.summaries)
    if given is None:
        return None

    def derived(function: Any) -> Any:
        for (mode, _), argnums in zip(found.modes, chosen, strict=True):
            names = tuple(dict.fromkeys(positional[place] for place in _listed(argnums)))
            function = nf.Derived(function, mode, names, isinstance(argnums, tuple), own)
        return function

    apart = called_apart(made, statement, found.closure, given, found.summaries, derived, more)
    return None if apart is None else ([*before, *apart], None)


def _draws(summaries: Sequence[Summary]) -> bool:
    """Whether functions that are called may draw random numbers."""
    pending, seen = list(summaries), set[Summary]()
    while pending:
        summary = pending.pop()
        seen.add(summary)
        for _, statement in walk(summary.function.body):
            if isinstance(statement, Assign) and isinstance(statement.operation, ir.Call):
                called = statement.operation.function
                if isinstance(called, Version) and any(map(_is_drawing, summary.values.get(called, NEVER).atoms)):
                    return True
        pending += [each for found in summary.calls.values() for each in found if each not in seen]
    return False


def _is_drawing(atom: Atom) -> bool:
    if isinstance(atom, Bound):
        kinds = {class_of(one) for one in atom.receiver.atoms}
        return any(member(kind, atom.name).draws for kind in kinds if kind is not None)
    return isinstance(atom, Exact) and callable(atom.value) and of_function(atom.value).draws


def _listed(argnums: _Argnums) -> tuple[int, ...]:
    return argnums if isinstance(argnums, tuple) else (argnums,)


def _count(last: tuple[str, _Argnums | None], call: ir.Call) -> int:
    """How many tangents or cotangents stand behind the arguments."""
    mode, argnums = last
    if mode == "forward":
        return len(call.positional) // 2 if argnums is None else len(_listed(argnums))
    return int(mode == "pulled")


def _beside(
    made: Reduced, last: tuple[str, _Argnums | None], call: ir.Call
) -> tuple[_Argnums, tuple[Operand, ...]] | None:
    """By which arguments a function is differentiated, and the tangents or the cotangent that stand behind them."""
    mode, argnums = last
    count = len(call.positional) - _count(last, call)
    more = call.positional[count:]
    if argnums is not None:
        return argnums, more
    if mode == "pulled":
        return tuple(range(count)), more
    if any(exact(None) <= made.value(operand) and made.value(operand) != exact(None) for operand in more):
        return None
    places = tuple(place for place, operand in enumerate(more) if made.value(operand) != exact(None))
    return (places, tuple(more[place] for place in places)) if places else None


def _with_arity(found: _Differentiated, count: int) -> _Differentiated:
    """A function of ``*args`` with a parameter for each of the ``count`` arguments that it is given."""
    function = found.closure.function
    parameters = function.parameters
    rest, first = parameters.variadic, (*parameters.positional_only, *parameters.positional)
    if rest is None:
        return found
    fixed, versions = _fixed(function, max(count - len(first), 0))
    summaries: list[Summary] = []
    for summary in found.summaries:
        whole = summary.arguments[rest]
        parts = [summary.heap[atom.site].parts for atom in whole.atoms if isinstance(atom, At)]
        if whole.is_any or len(parts) != 1 or parts[0] is None or len(parts[0]) != len(versions):
            return found
        passed = dict(zip(versions, parts[0], strict=True))
        given = {version: {**summary.arguments, **passed}[version] for version in fixed.parameters}
        values, reached = {**summary.values, **passed}, {*summary.reached, fixed.body.statements[0]}
        summaries.append(replace(summary, function=fixed, arguments=given, values=values, reached=reached))
    return replace(found, closure=replace(found.closure, function=fixed, is_outside=False), summaries=summaries)


def _fixed(function: Function, count: int) -> tuple[Function, list[Version]]:
    known = _FIXED.setdefault(function, {})
    if count not in known:
        rest, parameters = function.parameters.variadic, function.parameters
        assert rest is not None
        stem = rest.variable or rest.name
        others = [*parameters, *(version for _, each in walk(function.body) for version in bound_by(each))]
        namer = Namer({*names_of(function), *(name for v in others for name in (v.name, v.variable) if name)})
        versions = [Version(name, name) for name in (namer.fresh(f"{stem}_{place}") for place in range(count))]
        made = Assign((rest,), ir.Make("tuple", tuple(versions)), function.node)
        fixed = replace(parameters, positional=(*parameters.positional, *versions), variadic=None)
        body = replace(function.body, statements=(made, *function.body.statements))
        known[count] = replace(function, parameters=fixed, body=body), versions
    return known[count]


#: Functions of ``*args``, as functions of so many parameters: the same each time.
_FIXED: WeakKeyDictionary[Function, dict[int, tuple[Function, list[Version]]]] = WeakKeyDictionary()


def _differentiated(
    made: Reduced, closure: Closure, summaries: Sequence[Summary], statement: Assign
) -> _Differentiated | None:
    cells = {cell.variable: (cell, site) for summary in summaries for cell, site in summary.cells.items()}
    if any(summary.cells != summaries[0].cells for summary in summaries):
        return None
    heap = summaries[0].heap
    argnums: _Argnums | None = None
    assert "argnums" in cells or closure.owner is jacobian_vector
    if "argnums" in cells and (held := heap[cells["argnums"][1]].get("cell")) != exact(None):
        argnums = _argnums(held, summaries[0])
        if argnums is None:
            return None
    cell, site = cells["f"]
    value = heap[site].get("cell")
    if value.is_any or len(value.atoms) != 1:
        return None
    (atom,) = value.atoms
    modes = tuple(
        (mode, (argnums,) if mode in ("forward", "pulled") and isinstance(argnums, int) else argnums)
        for mode in PROGRAMS[closure.owner]
    )
    inner = [
        summary for outer in summaries for at, found in outer.calls.items()
        if isinstance(at, Assign) and isinstance(at.operation, ir.Call) and at.operation.star is not None
        for summary in found
    ]  # fmt: skip
    if not inner or any(summary.function is not inner[0].function for summary in inner):
        return None
    read = made.version("t", value)
    reading: list[Statement] | None = None
    if cell in closure.cells:
        reading = [Assign((read,), ir.ReadCell(closure.cells[cell]), statement.node)]
    found = _function(made, atom, read, reading, inner[0].function, statement)
    if found is None:
        return None
    function, leading, before = found
    if not is_program(function):
        return _Differentiated(function, inner, modes, leading, tuple(before))
    below = _differentiated(made, function, inner, statement)
    if below is None or below.modes[-1][0] in ("forward", "pulled"):
        return None
    return replace(below, modes=(*below.modes, *modes), before=(*before, *below.before))


def _function(
    made: Reduced, atom: Any, held: Version, reading: list[Statement] | None, text: Function, statement: Assign
) -> tuple[Closure, tuple[Operand, ...], list[Statement]] | None:
    """The function that is differentiated, the object that it is a method of, and what reads the two of a variable."""
    from srcgrad.specialise.callees import outer_closure

    if is_made(atom) and function_at(atom) is text:
        if (closure := at_site(made, atom.site)) is not None:
            return closure, (), []
        read = None if reading is None else unpacked(made, held, text, statement.node)
        return None if read is None or reading is None else (read[0], (), [*reading, *read[1]])
    if isinstance(atom, Exact) and program_of(atom.value) is not None:
        return made_outside(atom.value, text), (), []
    plain = plain_function(atom.value) if isinstance(atom, Exact) else None
    if isinstance(plain, FunctionType) and differentiated(plain) is plain:
        return (outer_closure(plain, text), (), []) if plain.__code__.co_name == text.name else None
    if reading is None:
        return None
    if isinstance(atom, Bound) and isinstance(atom.function, FunctionType):
        receiver = receiver_of(made, ir.Call(held), statement.node)
        if receiver is None or atom.function.__code__.co_name != text.name:
            return None
        return outer_closure(atom.function, text), (receiver[0],), [*reading, *receiver[2]]
    if isinstance(atom, At) and atom.site.kind is not None and is_user_class(atom.site.kind):
        method = looked_up(atom.site.kind, "__call__")
        is_called = isinstance(method, FunctionType) and method.__code__.co_name == text.name
        return (outer_closure(method, text), (held,), reading) if is_called else None
    return None


def _argnums(value: Value, summary: Summary) -> _Argnums | None:
    """The places of the parameters; None where they are not known, or are names."""
    if value.is_any or len(value.atoms) != 1:
        return None
    (atom,) = value.atoms
    if isinstance(atom, Exact):
        held = atom.value if type(atom.value) is tuple else (atom.value,)
        return atom.value if held and all(type(place) is int and place >= 0 for place in held) else None  # type: ignore[return-value]
    if not isinstance(atom, At) or atom.site.kind is not tuple:
        return None
    parts = summary.heap[Site(tuple, atom.site.origin, atom.site.context, atom.site.name)].parts
    given = [_argnums(part, summary) for part in parts or ()]
    places = tuple(place for place in given if isinstance(place, int))
    return places if places and len(places) == len(given) else None
