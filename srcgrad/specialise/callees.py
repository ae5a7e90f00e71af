"""Calls of functions that are values: which one it is, and in which form the call is written.

Enters: a call of the IR, what its function may be.  Leaves: the statements that do the same::

    m = make_model(k)                   w = k * 0.5                  written out: the variables of make_model, which m
    y = m(x)                            y = np.tanh(w * x)           captured, are variables of the function around

    f = np.sin if n > 2 else sq         if f is np.sin:              one of several: a branch on which one it is
    y = f(x)                                y = np.sin(x)
                                        else:
                                            y = sq(x)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial, update_wrapper, wraps
from types import CellType, FunctionType, NoneType
from typing import TYPE_CHECKING, Any

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.applying import transform_of
from srcgrad.frontend.source import source_of
from srcgrad.infer.calls import model_of
from srcgrad.infer.heap import Site
from srcgrad.infer.objects import class_of
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import NEVER, At, Bound, Exact, Value, are_of, exact, union
from srcgrad.ir import operations as ir
from srcgrad.ir.copied import Renaming, bound_by
from srcgrad.ir.operations import Cell, Literal, Operand, Version
from srcgrad.ir.regions import (
    Assign,
    Block,
    Fall,
    Function,
    Statement,
    walk,
)
from srcgrad.ir.restoring.pending import uses_of
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.ir.rewriting import with_operands
from srcgrad.language.models import MODELS
from srcgrad.language.models.derivatives import program_of, vector_jacobian
from srcgrad.rules.table import lookup
from srcgrad.runtime.binding import OfDefault, default_objects
from srcgrad.specialise.arguments import only_arguments, only_passed_on, spread_out
from srcgrad.specialise.captures import holds_kept_inside, unpacked
from srcgrad.specialise.choices import chosen
from srcgrad.specialise.closures import called_apart, calls_itself
from srcgrad.specialise.derivatives import derivative_called, is_program, made_outside
from srcgrad.specialise.fields import holds_objects
from srcgrad.specialise.functions import (
    Closure,
    Partial,
    closure_of,
    function_at,
    holds_made,
    is_made,
)
from srcgrad.specialise.inlining import has_attempts, is_written_out, with_one_end
from srcgrad.specialise.instances import runs_users, static_of
from srcgrad.specialise.iterators import hands_iterators
from srcgrad.specialise.receivers import receiver_of
from srcgrad.specialise.rows import distance, taken_now
from srcgrad.specialise.stepping import generator_of
from srcgrad.specialise.unassigned import refuse_unassigned
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import importable, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced

#: Statements in place of a call, and what it returns; None where that is bound by them.
Written = tuple[list[Statement], Operand | None]
_NESTED = 3  # times that a function is written out in itself
_FLAT = 400  # statements that are written out in a text that is to be flat


def called(made: Reduced, statement: Assign, reduce: Callable[[Block], Block]) -> Written | None:
    """A call in another form; None of one that is written as it is.  ``reduce`` reduces what is written instead."""
    call = with_operands(statement.operation, made.known.get)
    assert isinstance(call, ir.Call)
    before: list[Statement] = []
    (target,) = statement.targets
    is_spread = call.rest is None and (call.star is None or call.star in made.rests)
    if not is_spread:
        spread = spread_out(made, call, statement, before)
        if spread is None and (call.star in made.arguments or call.rest in made.arguments):  # which was not made
            source = made.source_of(made.frame.owner)
            raise UnsupportedSyntax(
                "a call with stars cannot be differentiated here", source.span(statement.node), code="E0206"
            )
        if spread is None:
            taken = taken_now(made, statement, call) or distance(made, statement, call)
            return None if taken is None else (taken, None)
        inner = _assign(made, statement, spread, target)
        return list(reduce(Block((*before, inner), Fall())).statements), None
    value = made.value(call.function)
    if value.is_any or not value.atoms:
        return None
    texts = {function_at(atom) if is_made(atom) else None for atom in value.atoms}
    if len(value.atoms) > 1 and (None in texts or len(texts) > 1):
        branches = None if call.star is not None else chosen(made, statement, call, value, reduce)
        return None if branches is None else (branches, None)
    atom, *others = value.atoms
    known = made.functions.made.get(call.function)
    if isinstance(atom, At) and atom.site.kind is partial and atom.site.context == "outside" and call.star is None:
        parts = _partial_outside(made, statement, call.function, atom.site)
        if parts is not None:
            return _of_partial(made, statement, call, parts[1], target, reduce, parts[0])
    if _is_wrapping(made, atom) and len(call.positional) == 1 and not call.keywords:
        return [], call.positional[0]
    summaries = made.called.get(statement, [])
    if not summaries:
        return None
    if is_made(atom):
        own = [each for each in summaries if each.function is function_at(atom)]
        if not own:
            return None
        if others and not isinstance(known, Closure) or (closure := closure_of(made, call.function, atom)) is None:
            read = unpacked(made, call.function, function_at(atom), statement.node)
            if read is None:
                return None
            closure, before = read
        written = of_closure(made, statement, call, closure, own, reduce)
        return None if written is None else ([*before, *written[0]], written[1])
    given = [made.value(operand) for operand in call.positional]
    if isinstance(atom, Bound) and atom.function is None and (
        runs_users(made.facts, summaries) or any(generator_of(made, value) is not None for value in given)
    ):
        return _of_container(made, statement, call, atom, summaries, reduce)
    function = atom.value if isinstance(atom, Exact) else None
    if program_of(function) is not None:
        return derivative_called(made, statement, call, made_outside(function, summaries[-1].function), summaries)
    is_text = isinstance(function, FunctionType) or function is not None and model_of(function) is not None
    is_written = transform_of(function) is not None or _hands_functions(made, statement, call, target)
    if lookup(function) is not None:
        is_beyond = _is_beyond_its_rule(made, function, call)
        is_written = is_beyond or model_of(function) is not None and _hands_objects(made, call)
    is_written = is_written or _stands_flat(made, function, summaries)
    if is_text and is_written:
        text, owner = summaries[-1].function, model_of(function) or function
        # The program of a vjp stores into copies of its arguments, the call that gives its value into these themselves.
        if owner is vector_jacobian and any(summary.changes for summary in summaries):
            made.refuse("E0213", statement.node, "vjp of a function that stores into its arguments")
        if function is wraps or any(each.function is not text for each in summaries):
            return None
        assert isinstance(owner, FunctionType)
        closure = outer_closure(owner, text)
        return of_closure(made, statement, call, closure, summaries, reduce)
    return None


def of_holder(made: Reduced, statement: Assign, reduce: Callable[[Block], Block]) -> Written | None:
    """A method of an object that holds functions that the program makes, or one that returns functions which do not
    carry what they captured, written out: that is what a function of its own would not see, or show."""
    call, summaries = statement.operation, made.called.get(statement, [])
    if not isinstance(call, ir.Call) or call.star is not None or call.rest is not None or not summaries:
        return None
    call = with_operands(call, made.known.get)
    methods = {atom.function if isinstance(atom, Bound) else None for atom in made.value(call.function).atoms}
    read = receiver_of(made, call, statement.node) if len(methods) == 1 else None
    returned = made.value(statement.targets[0])
    (method,), text = methods if len(methods) == 1 else (None,), summaries[-1].function
    is_needed = read is not None and (holds_made(made, made.value(read[0])) or holds_kept_inside(made, returned))
    if read is None or not is_needed and not _stands_flat(made, method, summaries):
        return None
    if not isinstance(method, FunctionType) or any(each.function is not text for each in summaries):
        return None
    whole = replace(call, positional=(read[0], *call.positional))
    written = of_closure(made, statement, whole, outer_closure(method, text), summaries, reduce)
    return None if written is None else ([*read[2], *written[0]], written[1])


def _of_container(
    made: Reduced, statement: Assign, call: ir.Call, method: Bound, summaries: list[Summary],
    reduce: Callable[[Block], Block],
) -> Written | None:  # fmt: skip
    """A method of a container by its model, where that runs code of the user's: ``sort`` of objects that compare."""
    read, text = made.origins.get(call.function), summaries[-1].function
    kinds = {class_of(atom) for atom in method.receiver.atoms}
    model = MODELS.get(getattr(kinds.pop(), method.name, None)) if len(kinds) == 1 else None
    is_one = all(each.function is text for each in summaries)
    if not isinstance(read, ir.GetAttribute) or not isinstance(model, FunctionType) or not is_one:
        return None
    base = made.known.get(read.base, read.base)
    whole = replace(call, positional=(base, *call.positional))
    return of_closure(made, statement, whole, outer_closure(model, text), summaries, reduce)


def _is_beyond_its_rule(made: Reduced, function: object, call: ir.Call) -> bool:
    """Whether items are put in order in a way that the rule does not know: by a key, with a default, or as tuples."""
    has_more = any(name in ("key", "default") for name, _ in call.keywords)
    of_several = function is not sorted and len(call.positional) > 1 and all(
        are_of(made.value(operand), tuple, list) for operand in call.positional
    )  # fmt: skip
    return function in (min, max, sorted) and (has_more or of_several)


def _stands_flat(made: Reduced, function: object, summaries: Sequence[Summary]) -> bool:
    """Whether the call of a function of the user's is written out in a text that is to be flat."""
    if not made.is_flat or not isinstance(function, FunctionType) or is_of_library(function) or lookup(function):
        return False
    text = summaries[-1].function
    if any(each.function is not text for each in summaries) or calls_itself(summaries) or not is_written_out(text):
        return False
    if has_attempts(text.body) or source_of(function).generated:
        return False
    size = sum(1 for _ in walk(text.body))
    if made.functions.written + size > _FLAT:
        return False
    made.functions.written += size
    return True


def _assign(made: Reduced, old: Assign, call: ir.Call, target: Version) -> Assign:
    inner = Assign((target,), call, old.node)
    made.called[inner] = made.called.get(old, [])
    return inner


def _hands_functions(made: Reduced, statement: Assign, call: ir.Call, target: Version) -> bool:
    """Whether functions that the program makes are passed to a call or returned by it, or iterators are passed."""
    given = [*call.positional, *(operand for _, operand in call.keywords)]
    return hands_iterators(made, statement, call) or any(operand in made.functions.made for operand in given) or any(
        holds_made(made, made.value(operand)) for operand in (*given, target)
    )  # fmt: skip


def _hands_objects(made: Reduced, call: ir.Call) -> bool:
    """Whether objects of the user's are passed to a call, of which the rule of a function knows nothing."""
    given = [*call.positional, *(operand for _, operand in call.keywords)]
    return any(holds_objects(made.facts, made.value(operand)) for operand in given)


def outer_closure(owner: FunctionType, text: Function) -> Closure:
    """A function from outside."""
    return Closure(text, owner, {}, _outer_defaults(owner, text), is_outside=True)


def _outer_defaults(function: FunctionType, inner: Function) -> dict[Version, Operand | Cell]:
    """The defaults of a function from outside, read from the function object."""
    found: dict[Version, Operand | Cell] = {}
    defaults = default_objects(function)
    for version in inner.parameters:
        name = version.variable or version.name
        if name in defaults:
            held = defaults[name]
            if type(held) in (bool, int, float, complex, str, bytes, NoneType):  # and none of NumPy's, say
                found[version] = Literal(held)
            else:
                read = OfDefault(function, name)
                is_fixed = callable(held)
                binding = importable(name, held) if is_fixed else GlobalBinding(f"{name}_default", held, cell=read)
                found[version] = Literal(Spelled(reference(binding), held))
    return found


def _is_wrapping(made: Reduced, atom: Any) -> bool:
    """Whether an object is ``wraps(f)``, which returns the function that it is given."""
    if not isinstance(atom, At) or atom.site.kind is not partial:
        return False
    contents = made.facts.contents.get(atom.site)
    return contents is not None and contents.get("func") == exact(update_wrapper)


def _of_partial(
    made: Reduced, statement: Assign, call: ir.Call, known: Partial, target: Version,
    reduce: Callable[[Block], Block], before: Sequence[Statement] = (),
) -> Written:  # fmt: skip
    named = dict(known.keywords) | dict(call.keywords)
    whole = ir.Call(known.function, (*known.positional, *call.positional), None, tuple(named.items()))
    inner = Assign((target,), whole, statement.node)
    # The model of the class calls the function by its one call with stars.
    made.called[inner] = [
        summary for outer in made.called.get(statement, []) for at, found in outer.calls.items()
        if isinstance(at, Assign) and isinstance(at.operation, ir.Call) and at.operation.star is not None
        for summary in found
    ]  # fmt: skip
    return list(reduce(Block((*before, inner), Fall())).statements), None


def _partial_outside(
    made: Reduced, statement: Assign, whole: Operand, site: Site
) -> tuple[list[Statement], Partial] | None:
    """What an object of ``functools.partial`` holds, which was there before: it is read where it is called."""
    contents = made.facts.contents.get(site)
    if contents is None or site.context != "outside":
        return None
    before: list[Statement] = []

    def read(operation: ir.Operation, value: Value) -> Version:
        found = made.version("t", value)
        before.append(Assign((found,), operation, statement.node))
        return found

    held = [atom for name in ("args", "keywords") for atom in contents.get(name).atoms]
    if not all(isinstance(atom, At) and atom.site in made.facts.contents for atom in held):
        return None
    given, named = (made.facts.contents[atom.site] for atom in held if isinstance(atom, At))
    if given.parts is None or named.entries is None:
        return None
    function = static_of(contents.get("func"))
    if not isinstance(function, FunctionType):
        return None
    args, keywords = (read(ir.GetAttribute(whole, name), contents.get(name)) for name in ("args", "keywords"))
    return before, Partial(
        Literal(Spelled(reference(importable(function.__name__, function)), function)),
        tuple(read(ir.GetItem(args, Literal(place)), part) for place, part in enumerate(given.parts)),
        tuple((str(key), read(ir.GetItem(keywords, Literal(key)), part)) for key, part in named.entries),
    )


# --- written out -----------------------------------------------------------------------------------------------------
def of_closure(
    made: Reduced, statement: Assign, call: ir.Call, closure: Closure, summaries: Sequence[Summary],
    reduce: Callable[[Block], Block],
) -> Written | None:  # fmt: skip
    function, before = closure.function, list[Statement]()
    if is_program(closure):
        return derivative_called(made, statement, call, closure, summaries)
    given = bound(made, closure, call, statement, before, summaries)
    if given is None:
        return None
    if not calls_itself(summaries) and not _recurs(made, closure) and is_written_out(function):
        written = _written_out(made, statement, closure, given, summaries, reduce)
        if written is not None:
            return [*before, *written[0]], written[1]
    apart = called_apart(made, statement, closure, given, summaries)
    return None if apart is None else ([*before, *apart], None)


def _written_out(
    made: Reduced, statement: Assign, closure: Closure, given: Mapping[Version, Operand],
    summaries: Sequence[Summary], reduce: Callable[[Block], Block],
) -> Written | None:  # fmt: skip
    """The statements of a function; None where its text does not end in one place, once ``try`` is taken apart."""
    function, known = closure.function, made.functions.saved()
    cells = {cell: made.new_cell(cell.variable) for cell in function.cells}
    for summary in summaries:
        for cell, home in cells.items():
            homes = made.functions.homes.setdefault(Site(CellType, cell, summary.context), [])
            if home not in homes:
                homes.append(home)
    cells |= closure.cells

    def note(new: Statement, old: Statement) -> None:
        made.functions.origins[new] = old
        made.functions.places[new.node] = closure.owner
        made.take_over(new, old, summaries)
        for one, other in zip(bound_by(new), bound_by(old), strict=True):
            made.values[one] = union(*(each.values.get(other, NEVER) for each in summaries))

    nodes: dict[int, Any] = {}

    def placed(node: Any) -> Any:
        """The node of a statement, which is another one for each call that is written out."""
        if id(node) not in nodes:
            nodes[id(node)] = copy(node)
            made.functions.callers[nodes[id(node)]] = statement.node
        return nodes[id(node)]

    versions: dict[Operand, Operand] = dict(given.items())
    at = placed if made.is_flat else None
    renaming = Renaming(versions, cells, lambda version: made.namer.fresh(version.variable or "t"), note, at)
    copied = renaming.block(function.body)
    outer = made.frame
    made.frame = replace(
        outer, owner=closure.owner, cells=cells, outer=_captured_outside(closure),
        summaries=tuple(summaries), function=function,
    )
    refuse_unassigned(made)
    made.functions.around.append(closure)
    made.only_arguments |= only_arguments(copied)
    made.uses.update(uses_of(replace(function, body=copied)))
    whole = reduce(copied)
    if has_attempts(whole):
        whole = made.apart(made, replace(function, body=whole))
    body = with_one_end(whole, lambda version: made.namer.fresh(version.variable or "t"))
    made.functions.around.pop()
    made.frame = outer
    if body is None:
        made.functions.restore(known)
        return None
    (target,) = statement.targets
    made.values.update((v, made.value(target)) for v in _unvalued(made, body))
    return list(body.statements), body.exit.value  # type: ignore[union-attr]


def _recurs(made: Reduced, closure: Closure) -> bool:
    """Whether a function is being written out already, or functions that are made again at every level are."""
    same = [each for each in made.functions.around if each.function is closure.function]
    return len(same) > _NESTED or any(each.cells and dict(each.cells) == dict(closure.cells) for each in same)


def _unvalued(made: Reduced, body: Block) -> list[Version]:
    return [v for _, s in walk(body) for v in bound_by(s) if v not in made.values]


def _captured_outside(closure: Closure) -> frozenset[Cell]:
    return frozenset(cell for cell in closure.function.free if cell not in closure.cells)


def bound(
    made: Reduced, closure: Closure, call: ir.Call, statement: Assign, before: list[Statement],
    summaries: Sequence[Summary],
) -> dict[Version, Operand] | None:  # fmt: skip
    """The operands of the parameters of a function that is written out; None where the call does not fit."""

    def of_all(version: Version) -> Value:
        return union(*(each.arguments[version] for each in summaries))

    parameters = closure.function.parameters
    positional = (*parameters.positional_only, *parameters.positional)
    given: dict[Version, Operand] = dict(zip(positional, call.positional, strict=False))
    named = dict(call.keywords)
    for version in (*positional, *parameters.keyword_only):
        name = version.variable or version.name
        if version in given:
            continue
        default = closure.defaults.get(version)
        if name in named and version not in parameters.positional_only:
            given[version] = named.pop(name)
        elif isinstance(default, Cell):
            given[version] = held = made.version("t", of_all(version))
            before.append(Assign((held,), ir.ReadCell(default), statement.node))
        elif default is not None:
            given[version] = default
        else:
            return None
    left = call.positional[len(positional) :]
    if call.star is not None and (left or parameters.variadic is None):
        return None
    if left and parameters.variadic is None or named and parameters.rest is None:
        return None
    if (rest := parameters.variadic) is not None and call.star is not None:
        given[rest] = call.star
    elif rest is not None:
        given[rest] = whole = made.version("t", of_all(rest))
        before.append(Assign((whole,), ir.Make("tuple", tuple(left)), statement.node))
        made.displays[whole] = tuple(left)
    if (others := parameters.rest) is not None:
        given[others] = whole = made.version("t", of_all(others))
        keys = tuple(map(Literal, named))
        before.append(Assign((whole,), ir.Make("dict", tuple(named.values()), keys), statement.node))
        if others in only_passed_on(closure.function):
            made.arguments[whole] = dict(named)
    return given
