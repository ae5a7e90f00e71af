"""Arguments of calls with stars, one by one, where it is known how many there are.

Enters: a call of the IR, what its stars may be.  Leaves: a call without stars, and the statements that take
these apart::

    pair = (y, z)
    f(x, *pair, **{"k": x})        ->      f(x, y, z, k=x)
    f(*xs)                         ->      t, t2 = xs;  f(t, t2)         xs is a list of two items at all times, or f
                                                                         has two parameters, which have no defaults
"""

from __future__ import annotations

import dataclasses
from functools import reduce
from inspect import Parameter, Signature, signature
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.classes import initial_fields, is_generated_init, is_user_class
from srcgrad.infer.heap import UNKNOWN, joined
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.objects import looked_up
from srcgrad.infer.values import ANY, At, Bound, Exact, Value, are_of, exact, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Assign, Block, Function, If, Loop, Statement, With, blocks_of, operands_of, walk
from srcgrad.ir.restoring.pending import own_operands
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.ir.rewriting import with_operands
from srcgrad.rules.table import lookup
from srcgrad.specialise.functions import closure_of, defaults_of, function_at, is_made, making
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.places import builtin_of
from srcgrad.specialise.raising import is_caught
from srcgrad.specialise.rows import items_of, items_value
from srcgrad.syntax.globals import of_runtime, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


def does_not_fit(made: Reduced, statement: Statement) -> UnsupportedSyntax | None:
    """The refusal of a call that Python refuses, of a function that the program makes; None of any other statement."""
    call = getattr(statement, "operation", None)
    if not isinstance(call, ir.Call) or call.star is not None or call.rest is not None or made.called.get(statement):
        return None
    atoms = made.value(made.known.get(call.function, call.function)).atoms
    functions = {function_at(atom) if is_made(atom) else None for atom in atoms}
    (function,) = functions if len(functions) == 1 else (None,)
    if function is None:
        return None
    defaults = {version for atom in atoms for version in defaults_of(making(atom))}
    kinds = (
        (Parameter.POSITIONAL_ONLY, function.parameters.positional_only),
        (Parameter.POSITIONAL_OR_KEYWORD, function.parameters.positional),
        (Parameter.VAR_POSITIONAL, (function.parameters.variadic,)),
        (Parameter.KEYWORD_ONLY, function.parameters.keyword_only),
        (Parameter.VAR_KEYWORD, (function.parameters.rest,)),
    )
    parameters = [
        Parameter(version.variable or version.name, kind, default=None if version in defaults else Parameter.empty)
        for kind, versions in kinds for version in versions if version is not None
    ]  # fmt: skip
    try:
        Signature(parameters).bind(*call.positional, **dict(call.keywords))
    except TypeError as error:
        return UnsupportedSyntax(
            f"this call does not fit {function.name}(): {error}", made.place_of(statement.node), code="E0207"
        )
    return None


def spread_out(made: Reduced, call: ir.Call, statement: Assign, before: list[Statement]) -> ir.Call | None:
    """A call with its arguments one by one; None where it is not known how many there are."""
    positional, keywords, rest = list(call.positional), dict(call.keywords), None
    if call.star is not None:
        items = _items(made, call.star, statement, before)
        items = _for_parameters(made, call, statement, before) if items is None else items
        items = _for_fields(made, call, statement, before) if items is None else items
        if items is None:
            items, rest = _for_rest(made, call, statement, before)
        if items is None and _is_greatest(made, call):
            before.append(_how_many(made, call.star, 2, "max", statement.node, is_rest=True))
            return ir.Call(call.function, (call.star,))
        if items is None:
            return None
        positional += items
    if call.rest is not None:
        entries = _entries(made, call.rest, statement, before)
        if entries is None or entries.keys() & keywords.keys():
            return None
        keywords |= entries
    return ir.Call(call.function, tuple(positional), rest, tuple(keywords.items()))


def _is_greatest(made: Reduced, call: ir.Call) -> bool:
    """Whether a call is ``max(*xs)`` or ``min(*xs)``: ``max(xs)`` does the same if there are several items."""
    is_alone = not call.positional and not call.keywords and call.rest is None and not is_caught(made)
    return is_alone and static_of(made.value(call.function)) in (max, min)


def _for_parameters(
    made: Reduced, call: ir.Call, statement: Assign, before: list[Statement]
) -> list[Operand] | None:
    """The items of a star, as many as a function has parameters for, where all of these have to be given."""
    called = made.value(call.function)
    if len(called.atoms) != 1 or called.is_any or call.rest is not None or call.star is None:
        return None
    (atom,) = called.atoms
    static = atom.value if isinstance(atom, Exact) else None
    summaries = made.called.get(statement, [])
    if static is not None and not isinstance(static, FunctionType) and lookup(static) is not None:
        return _for_library(made, call, statement, before, static)
    function, is_bound = _entered(atom)
    if not summaries or any(each.function is not summaries[0].function for each in summaries):
        return None
    text = summaries[0].function
    if is_made(atom):
        is_known = text is function_at(atom) and not _may_have_defaults(made, call, atom)
    else:
        is_known = isinstance(function, FunctionType) and not function.__defaults__ and (
            text.qualname == function.__qualname__
        )
    given = text.parameters
    if not is_known or given.variadic is not None or given.rest is not None:
        return None
    names = {name for name, _ in call.keywords}
    positional = (*given.positional_only, *given.positional)[len(call.positional) + is_bound :]
    left = [version for version in positional if (version.variable or version.name) not in names]
    values = [union(*(each.arguments.get(version, ANY) for each in summaries)) for version in left]
    return _taken(made, call.star, statement, before, values, text.qualname)


def _entered(atom: Any) -> tuple[Any, bool]:
    """The function that a call runs, and whether an object comes before its arguments."""
    static = atom.value if isinstance(atom, Exact) else None
    if isinstance(static, type) and is_user_class(static) and not is_generated_init(static):
        return looked_up(static, "__init__"), True
    return (atom.function, True) if isinstance(atom, Bound) else (static, False)


def _for_library(
    made: Reduced, call: ir.Call, statement: Assign, before: list[Statement], function: Any
) -> list[Operand] | None:
    """The items of a star, as many as a function of a library needs; more are refused when they are there."""
    needed = _needed(function)
    if call.star is None or needed is None or is_caught(made) or call.keywords or needed < 2 or call.positional:
        return None
    item = items_of(made, made.value(call.star))
    if not item.atoms:
        return None
    return _taken(made, call.star, statement, before, [item] * needed, function.__name__, takes_more=True)


def _needed(function: Any) -> int | None:
    """How many arguments a function of a library has to be given; None where nothing tells."""
    if isinstance(function, np.ufunc):
        return function.nin
    try:
        parameters = signature(function).parameters.values()
    except ValueError:
        return None
    if any(p.kind is p.VAR_POSITIONAL or p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters):
        return None
    return sum(p.default is p.empty and p.kind is not p.VAR_KEYWORD for p in parameters)


def _taken(
    made: Reduced, star: Operand, statement: Assign, before: list[Statement], values: list[Value], name: str, *,
    takes_more: bool = False,
) -> list[Operand]:  # fmt: skip
    targets = tuple(made.version("t", value) for value in values)
    if targets:
        before.append(_how_many(made, star, len(targets), name, statement.node, takes_more=takes_more))
        before.append(Assign(targets, ir.Unpack(star, len(targets)), statement.node))
    return list(targets)


def _for_fields(made: Reduced, call: ir.Call, statement: Assign, before: list[Statement]) -> list[Operand] | None:
    """The items of a star, as many as a named tuple has fields, where all of these have to be given."""
    kind = static_of(made.value(call.function))
    names = _fields_of(kind) if isinstance(kind, type) else None
    if names is None or call.keywords or call.rest is not None or call.star is None:
        return None
    if is_caught(made):  # what too few items raise is another exception
        return None
    contents = [made.facts.contents.get(a.site) for a in made.value(statement.targets[0]).atoms if isinstance(a, At)]
    if not contents or None in contents or len(call.positional) >= len(names):
        return None
    known = [each for each in contents if each is not None]
    held = [{**dict(zip(names, each.parts or (), strict=False)), **each.fields} for each in known]
    if not all(each.keys() >= {*names} for each in held):
        return None
    values = [union(*(each[name] for each in held)) for name in names[len(call.positional) :]]
    return _taken(made, call.star, statement, before, values, "__new__" if is_named_tuple(kind) else "__init__")


def _fields_of(kind: Any) -> list[str] | None:
    """The fields that a named tuple or a dataclass is given, all of them by their places and without defaults."""
    if is_named_tuple(kind):
        return None if kind.__new__.__defaults__ else list(kind._fields)
    if not is_user_class(kind) or not is_generated_init(kind):
        return None
    fields = initial_fields(kind)
    missing = dataclasses.MISSING
    is_plain = all(f.init and not f.kw_only and f.default is f.default_factory is missing for f in fields)
    return [field.name for field in fields] if is_plain else None


def _for_rest(
    made: Reduced, call: ir.Call, statement: Assign, before: list[Statement]
) -> tuple[list[Operand] | None, Operand | None]:
    """The items of a star, as many as a function has parameters for, and the tuple of the others."""
    summaries, called = made.called.get(statement, []), made.value(call.function)
    if called.is_any or len(called.atoms) != 1 or not summaries or call.star is None:
        return None, None
    (atom,), text = called.atoms, summaries[0].function
    given, (function, is_bound) = text.parameters, _entered(atom)
    if given.variadic is None or any(each.function is not text for each in summaries):
        return None, None
    if not is_made(atom) and (not isinstance(function, FunctionType) or text.qualname != function.__qualname__):
        return None, None
    left = (*given.positional_only, *given.positional)[len(call.positional) + is_bound :]
    names = {name for name, _ in call.keywords}
    if left and (call.rest is not None or _may_have_defaults(made, call, atom) or names & {
        version.variable or version.name for version in left
    }):  # fmt: skip
        return None, None
    if left and is_caught(made):  # what too few items raise is another exception
        return None, None
    values = [union(*(each.arguments.get(version, ANY) for each in summaries)) for version in (*left, given.variadic)]
    targets, node = tuple(made.version("t", value) for value in values), statement.node
    others = call.star
    if left:
        before.append(_how_many(made, call.star, len(left), text.qualname, node, is_rest=True))
        others = made.version("t", items_value(made, list, items_of(made, values[-1]), node))
        before.append(Assign((*targets[:-1], others), ir.Unpack(call.star, len(targets), len(left)), node))
    before.append(Assign((targets[-1],), ir.Call(builtin_of(tuple), (others,)), node))
    made.rests.add(targets[-1])
    return list(targets[:-1]), targets[-1]


def _how_many(
    made: Reduced, star: Operand, count: int, qualname: str, node: Any, *, is_rest: bool = False,
    takes_more: bool = False,
) -> Assign:  # fmt: skip
    """The check how many items a star gives, of which Python raises another exception than of what is unpacked."""
    check = Literal(Spelled(reference(of_runtime(runtime.require_given)), runtime.require_given))
    name = qualname.rpartition("<locals>.")[-1]
    given = (star, Literal(count), Literal(name), Literal(is_rest), *[Literal(True)] * takes_more)
    return Assign((made.version("t", exact(None)),), ir.Call(check, given), node)


def _may_have_defaults(made: Reduced, call: ir.Call, atom: Any) -> bool:
    if is_made(atom):
        closure = closure_of(made, call.function, atom)
        return closure is None or bool(closure.defaults)
    function, _ = _entered(atom)
    return not isinstance(function, FunctionType) or bool(function.__defaults__)


def _items(made: Reduced, operand: Operand, statement: Assign, before: list[Statement]) -> list[Operand] | None:
    if operand in made.arguments:
        given = made.arguments[operand]
        return list(given) if isinstance(given, list) else None
    if operand in made.displays and _is_tuple(made, operand):
        return list(made.displays[operand])
    parts = _contents(made, operand, (tuple, list), "parts", statement)
    if parts is None:
        return None
    targets = tuple(made.version("t", value) for value in parts)
    if targets:
        before.append(Assign(targets, ir.Unpack(operand, len(targets)), statement.node))
    return list(targets)


def _entries(made: Reduced, operand: Operand, statement: Assign, before: list[Statement]) -> dict[str, Operand] | None:
    if operand in made.arguments:
        given = made.arguments[operand]
        return dict(given) if isinstance(given, dict) else None
    entries = _contents(made, operand, (dict,), "entries", statement)
    if entries is None or any(type(key) is not str for key, _ in entries):
        return None
    found: dict[str, Operand] = {}
    for key, value in entries:
        found[key] = target = made.version("t", value)
        before.append(Assign((target,), ir.GetItem(operand, Literal(key)), statement.node))
    return found


def gathered(made: Reduced, statement: Assign) -> list[Statement] | None:
    """What is put into the list or dict of a call's arguments, which nothing else reads: its items take its place."""
    before: list[Statement] = []
    match with_operands(statement.operation, made.known.get):
        case ir.Make(kind="list" | "dict" as kind, elements=elements, keys=keys) if (
            statement.targets[0] in made.only_arguments and _is_taken_apart(made, statement.targets[0])
        ):
            names = [key.value for key in keys if isinstance(key, Literal) and isinstance(key.value, str)]
            given: list[Operand] | dict[str, Operand] | None = list(elements) if kind == "list" else None
            if kind == "dict" and len(names) == len(elements):
                given = dict(zip(names, elements, strict=True))
            made.arguments[statement.targets[0]] = given
        case ir.Insert(container=container, value=value, key=key) if container in made.arguments:
            held = made.arguments[container]
            if isinstance(held, list):
                held.append(value)
            elif isinstance(held, dict) and isinstance(key, Literal) and isinstance(key.value, str):
                held[key.value] = value
            else:
                made.arguments[container] = None
        case ir.Extend(container=container, source=source, function=function) if container in made.arguments:
            held = made.arguments[container]
            if isinstance(held, list) and (items := _items(made, source, statement, before)) is not None:
                held += items
            elif isinstance(held, dict) and (inner := _entries(made, source, statement, before)) is not None and (
                function is None or not inner.keys() & held.keys()  # two of one keyword, which a call refuses
            ):
                held |= inner
            else:
                made.arguments[container] = None
        case _:
            return None
    return before


def _is_taken_apart(made: Reduced, container: Operand) -> bool:
    """Whether it is known what is put into a container of arguments, and into those that it is put into itself."""
    around = [other for other, puts in made.only_arguments.items() if any(
        isinstance(put.operation, ir.Extend)
        and made.known.get(put.operation.source, put.operation.source) is container for put in puts)]  # fmt: skip
    return _are_known(made, container) and all(_is_taken_apart(made, other) for other in around)


def _are_known(made: Reduced, container: Operand) -> bool:
    """Whether it is known how many items, or which keys, what is put into a container of arguments holds."""
    for put in made.only_arguments[container]:
        assert isinstance(put.operation, ir.Extend)
        source = made.known.get(put.operation.source, put.operation.source)
        if source in made.only_arguments:
            if not _are_known(made, source):
                return False
            continue
        is_display = made.arguments.get(source) is not None or source in made.displays and _is_tuple(made, source)
        if not is_display and _contents(made, source, (tuple, list), "parts", put) is None and (
            _contents(made, source, (dict,), "entries", put) is None
        ):
            return False
    return True


def only_arguments(body: Block) -> dict[Operand, list[Assign]]:
    """The lists and dicts that calls read, whose arguments they are, and nothing else; with what puts into each."""
    found: set[Operand] = set()
    passed: set[Operand | None] = set()
    others: set[Operand] = set()
    extends: list[tuple[Operand, Operand, Assign]] = []
    homes: dict[Operand, Block] = {}
    for exit_ in {around.exit for around, _ in walk(body)}:
        others.update(operands_of(exit_))
    for around, statement in walk(body):
        match statement:
            case Assign(operation=ir.Insert(container=put) | ir.Extend(container=put)) if homes.get(put) is not around:
                others.add(put)  # in a loop or a branch: how often is not known
        match statement:
            case Assign(operation=ir.Call() as call):
                others.update((call.function, *call.positional, *(operand for _, operand in call.keywords)))
                passed.update((call.star, call.rest))
            case Assign(targets=targets, operation=ir.Make(kind="list" | "dict") as make):
                found.update(targets)
                homes.update((target, around) for target in targets)
                others.update(operands_of(make))
            case Assign(operation=ir.Insert(container=_, value=value, key=key)):
                others.update(part for part in (value, key) if part is not None)
            case Assign(operation=ir.Extend(container=container, source=source, function=function)):
                extends.append((container, source, statement))
                others.update([] if function is None else [function])
            case Assign(operation=operation):
                others.update(operands_of(operation))
            case If(test=test):
                others.add(test)
            case Loop(initial=initial):
                others.update(initial)
            case With(manager=manager):
                others.add(manager)
    others.update(operands_of(body.exit))
    while True:
        more = {source for container, source, _ in extends if container not in found - others} - others
        if not more:
            break
        others |= more
    while more := {source for container, source, _ in extends if container in passed} - passed:
        passed |= more
    return {
        operand: [put for container, _, put in extends if container is operand]
        for operand in found - others if operand in passed
    }  # fmt: skip


def _is_tuple(made: Reduced, operand: Operand) -> bool:
    value = made.value(operand)
    return not value.is_any and all(isinstance(a, At) and a.site.kind is tuple for a in value.atoms)


def _contents(
    made: Reduced, operand: Operand, kinds: tuple[type, ...], side: str, statement: Assign
) -> tuple[Any, ...] | None:
    """The items that a value has where a statement reads it, whichever of its objects it is; None where these differ.
    """
    if not are_of(made.value(operand), *kinds):
        return None
    contents = made.stars.get((statement, side))
    if contents is None:
        origin = made.functions.origins.get(statement, statement)
        found = [summary.stars[origin, side] for summary in made.frame.summaries if (origin, side) in summary.stars]
        contents = reduce(joined, found) if found else UNKNOWN
    return None if contents.rest else getattr(contents, side)


def only_passed_on(function: Function) -> set[Operand]:
    """The parameter of a function for keywords, if it is read by calls and their dicts of keywords alone."""
    rest = function.parameters.rest
    if rest is None:
        return set()
    reads = [part for _, s in walk(function.body) for part in (own_operands(s), operands_of_blocks(s)) if rest in part]
    passed = [s for _, s in walk(function.body) if isinstance(s, Assign) and (
        isinstance(s.operation, ir.Extend) and s.operation.source is rest
        or isinstance(s.operation, ir.Call) and s.operation.rest is rest
        and list(operands_of(s.operation)).count(rest) == 1)]  # fmt: skip
    is_alone = rest not in operands_of(function.body.exit) and len(reads) == len(passed)
    return {rest} if is_alone else set()


def operands_of_blocks(statement: Statement) -> list[Operand]:
    return [operand for block in blocks_of(statement) for operand in operands_of(block.exit)]
