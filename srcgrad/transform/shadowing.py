"""Shadow memory: the adjoint buffers of names whose memory is stored into, bound in the forward sweep beside the names.

Enters: ``Function``, the facts and ``MemoryClasses``.  Leaves: ``Shadows``: the same function with ordinary statements
that bind the shadow of a name wherever the name is bound, and keep what a place held before a store.  From then on a
shadow is a local like any other: versions, records, exits and saved tuples know nothing of shadows::

    y = np.sin(x)              y = np.sin(x);  y_bar = zeros_like(y)
    v = y[1:3]                 v_bar = y_bar[1:3];  v = y[1:3]
    w = v                      w = v;  w_bar = v_bar
    v[0] = a                   v_0 = v[0];  v[0] = a
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.activity import atoms, inputs
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.analysis.literals import literal
from srcgrad.analysis.memory import MemoryClasses
from srcgrad.analysis.numeric import LIST_OPERATORS, numeric_names
from srcgrad.analysis.references import local_names
from srcgrad.analysis.regions import is_element, is_view, parts_of, reads_contents
from srcgrad.analysis.summaries import Summary
from srcgrad.analysis.values import is_copy
from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    Apply,
    AugStore,
    Bind,
    Block,
    Call,
    Copy,
    Create,
    Delete,
    Effect,
    Exchange,
    Field,
    Fixed,
    For,
    Function,
    If,
    Index,
    Pack,
    Pop,
    Return,
    SetField,
    Statement,
    Store,
    Unpack,
    Unruled,
    While,
    With,
)
from srcgrad.ir.renaming import mentioned
from srcgrad.rules.facts import Array, Fact, Sequence
from srcgrad.rules.memory import VIEWS, makes_new
from srcgrad.rules.rewriting import rebuilt
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.parse import clone
from srcgrad.transform.apart import Outside, check_apart
from srcgrad.transform.build import constant, load, method, subscript, tuple_of
from srcgrad.transform.mirror import Mirror, mirror_of
from srcgrad.transform.mirroring import (
    as_before,
    by_targets,
    freeze,
    freeze_result,
    settled_index,
    shadow_append,
    shadow_delete,
    shadow_exchange,
    shadow_pack,
    shadow_part,
    shadow_pop,
    shadow_set_field,
    shadow_store_item,
    shadow_unpack,
)
from srcgrad.transform.shadow_calls import shadow_call, shadow_return
from srcgrad.transform.shadows import PLAIN, Modes, Shadows, is_whole


def shadows_of(
    function: Function,
    facts: Mapping[str, Fact],
    classes: MemoryClasses,
    summary_of: Callable[[Call], Summary],
    modes: Modes = PLAIN,
    *,
    outside: Outside | None,
) -> Shadows | None:
    """The shadows of a function, or None if nothing is stored into; ``outside`` tells what is read there, None
    that this is no door, where nothing is copied."""
    if not classes.shadowed and not modes.given:
        return None
    mirror = mirror_of(function, facts, classes, summary_of, modes, door=outside is not None)
    for name in _in_order(mirror):
        mirror.result.bars[name] = mirror.namer.fresh(f"{name}_bar")
    entry: list[Statement] = []
    with_shadow = modes.shadowed(function.parameters)
    mirror.result.with_shadow = frozenset(with_shadow)
    given = tuple(p for p in function.parameters if p in mirror.shadowed and p not in with_shadow)
    mirror.out = entry
    span = function.span
    if outside is not None and given:
        _private(mirror, given, outside, span)
    _shadow_parameters(mirror, given, span)
    body = _block(mirror, function.body)
    shift = len(entry)
    for statement in body.statements:
        start, end = mirror.result.groups[statement] if statement in mirror.result.groups else (0, 0)
        if end:
            mirror.result.groups[statement] = start + shift, end + shift
    body = Block((*entry, *body.statements))
    temporaries = function.temporaries | mirror.result.owned
    parameters: list[str] = []
    for name in function.parameters:
        parameters += [name, mirror.result.bars[name]] if name in with_shadow else [name]
    defaults = {} if with_shadow else function.defaults
    mirror.result.function = replace(
        function, parameters=tuple(parameters), body=body, temporaries=temporaries, defaults=defaults
    )
    return mirror.result


def _in_order(mirror: Mirror) -> list[str]:
    bound = (name for statement in walk(mirror.function.body) for name in bound_here(statement))
    names = dict.fromkeys([*mirror.function.parameters, *bound])
    return [name for name in names if name in mirror.shadowed]


def _private(mirror: Mirror, given: tuple[str, ...], outside: Outside, span: Span) -> None:
    """Arguments that are stored into are copied at the door, together: what they share they go on sharing."""
    apart = check_apart(mirror.function, given, mirror.is_number, outside)
    if apart is not None:
        check = Effect(apart, span)
        mirror.result.made.add(check)
        mirror.out.append(check)
    made = call_runtime(runtime.private, *(load(name) for name in given))
    if len(given) == 1:
        mirror.add(given[0], made, span, Copy(given[0]))
        return
    both = mirror.namer.fresh("private")
    mirror.add(both, made, span)
    for j, name in enumerate(given):
        part = subscript(load(both), constant(j))
        mirror.add(name, part, span, Copy(name))


def _shadow_parameters(mirror: Mirror, given: tuple[str, ...], span: Span) -> None:
    """Shadows of parameters that come without: those of one class are made together, they may share memory."""
    groups: dict[str, list[str]] = {}
    for name in given:
        groups.setdefault(mirror.result.root(name), []).append(name)
    for names in groups.values():
        if len(names) == 1:
            # The layout of an argument is not known: ``shadow`` has the same.
            mirror.add(mirror.result.bars[names[0]], call_runtime(runtime.shadow, load(names[0])), span)
            continue
        both = mirror.namer.fresh("shadows")
        mirror.add(both, call_runtime(runtime.shadow, tuple_of([load(name) for name in names])), span)
        for j, name in enumerate(names):
            mirror.add(mirror.result.bars[name], subscript(load(both), constant(j)), span)
    for name in given:
        if name in mirror.result.changing and not isinstance(mirror.fact(name), Array):
            # The gradient is that of what the argument holds at first, whatever it holds later.
            mirror.result.entries[name] = entry = mirror.namer.fresh(f"{name}_bar")
            mirror.add(entry, call_runtime(runtime.frozen, mirror.bar(name)), span)


def _block(mirror: Mirror, block: Block, loop: For | None = None) -> Block:
    outer, mirror.out = mirror.out, []
    if loop is not None and loop.index in mirror.shadowed:  # the number of a counted loop gets a cell
        mirror.add(mirror.result.bars[loop.index], mirror.zeros(loop.index), loop.span)
    for statement in (part for whole in block.statements for part in by_targets(mirror, whole)):
        start = len(mirror.out)
        made = _statement(mirror, statement)
        if len(mirror.out) > start + 1:
            mirror.result.groups[made] = start, len(mirror.out)
    made_block = Block(tuple(mirror.out))
    mirror.out = outer
    return made_block


def _statement(mirror: Mirror, statement: Statement) -> Statement:
    match statement:
        case If(body=body, orelse=orelse):
            statement = replace(statement, body=_block(mirror, body), orelse=_block(mirror, orelse))
        case For(body=body):
            mirror.loops += 1
            inner = _block(mirror, body, statement)
            mirror.loops -= 1
            heading, elements = statement.heading, statement.elements
            if inner.statements[:elements] != body.statements[:elements]:
                heading, elements = None, 0
            statement = replace(statement, body=inner, heading=heading, elements=elements)
            if statement.index in mirror.shadowed and not statement.counted:
                raise _refused(statement, "a loop over items that may be stored into")
        case While(body=body) | With(body=body):
            mirror.loops += 1
            statement = replace(statement, body=_block(mirror, body))
            mirror.loops -= 1
        case Bind(target=target) if target in mirror.shadowed:
            _bound(mirror, statement)
            return statement
        case Bind(operation=Call() as made):
            shadow_call(mirror, statement, made)
            return statement
        case Return(value=value) if mirror.modes.result:
            shadow_return(mirror, statement, value)
        case Store(base=base) if base in mirror.shadowed and not isinstance(mirror.fact(base), Array):
            shadow_store_item(mirror, statement)
            return statement
        case Store() | AugStore() | AddAt():
            _stored(mirror, statement)
        case Unpack(targets=targets, source=source) if mirror.shadowed & {*targets, source}:
            shadow_unpack(mirror, statement)
            return statement
        case Append(sequence=name) if name in mirror.shadowed:
            shadow_append(mirror, statement)
            return statement
        case Pop(sequence=name) if name in mirror.shadowed:
            shadow_pop(mirror, statement)
            return statement
        case SetField(base=name) if name in mirror.shadowed:
            shadow_set_field(mirror, statement)
            return statement
        case Delete(base=name) if name in mirror.shadowed:
            shadow_delete(mirror, statement)
            return statement
        case Bind(operation=Exchange(base=name)) if name in mirror.result.idle:
            mirror.result.handed.add(statement)
        case Bind(operation=Exchange(base=name) as made) if name in mirror.shadowed:
            shadow_exchange(mirror, statement, made)
            return statement
        case Bind(operation=Index(base=base, index=index)) if base in mirror.shadowed:
            if not isinstance(mirror.fact(base), Array):
                shadow_part(mirror, statement, base, index)
                return statement
            _settle(mirror, statement, index)
        case Bind(operation=Index(index=index)):
            _settle(mirror, statement, index)
        case Bind(operation=Field(base=base, name=name)) if base in mirror.shadowed:
            shadow_part(mirror, statement, base, constant(name))
            return statement
        case Bind(operation=Apply()):
            _settle_arguments(mirror, statement)
    mirror.out.append(statement)
    return statement


def _bound(mirror: Mirror, statement: Bind) -> None:
    """Bind a shadow beside a name of a mutable class."""
    target, operation, span = statement.target, statement.operation, statement.span
    bar = mirror.result.bars[target]
    match operation:
        case Copy(source=source) if source in mirror.shadowed:
            mirror.out.append(statement)
            if source != target:
                mirror.add(bar, mirror.bar(source), span)
            mirror.result.handed.add(statement)
        case Index(base=base, index=index) if base in mirror.shadowed:
            if not isinstance(mirror.fact(base), Array):
                shadow_part(mirror, statement, base, index)
                return
            _settle(mirror, statement, index)
            if is_view(mirror.fact(base), index, mirror.fact):
                # The reverse sweep may make it at its head, when what the index reads has changed.
                index = mirror.result.places.get(statement) or settled_index(mirror, index, span)
                mirror.add(bar, subscript(mirror.bar(base), clone(index)), span)
                mirror.out.append(statement)
                mirror.result.handed.add(statement)
            else:
                _perhaps_view(mirror, statement, (base,))
        case Field(base=base, name=name) if base in mirror.shadowed:
            shadow_part(mirror, statement, base, constant(name))
        case Exchange(base=base) if base in mirror.shadowed:
            shadow_exchange(mirror, statement, operation)
        case Apply(arguments=arguments) if is_copy(statement) and mirror.is_container(*atoms(arguments["a"])):
            (source,) = atoms(arguments["a"])  # the shadow of a list or dict is copied as well
            mirror.add(bar, method(mirror.result.bars[source], "copy"), span)
            mirror.out.append(statement)
            mirror.result.handed.add(statement)
        case Apply() | Fixed() | Unruled():
            _settle_arguments(mirror, statement)
            sources = _handed_on(mirror, statement)
            shown = _shown_alike(mirror, statement, sources)
            if shown is None:
                _perhaps_view(mirror, statement, sources)
            else:
                mirror.add(bar, shown, span)
                mirror.out.append(statement)
                mirror.result.handed.add(statement)
        case Call():
            shadow_call(mirror, statement, operation)
        case Pack():
            shadow_pack(mirror, statement, operation)
        case Create():
            mirror.out.append(statement)
            mirror.add(bar, gast.Dict([], []), span)
            mirror.result.handed.add(statement)
        case _:
            if isinstance(operation, Index):
                _settle(mirror, statement, operation.index)
            mirror.out.append(statement)
            mirror.add(bar, mirror.zeros(target), span)


def _handed_on(mirror: Mirror, statement: Bind) -> tuple[str, ...]:
    """The names of the target's class whose memory the result of a function may share."""
    operation = statement.operation
    names = list(dict.fromkeys(n.id for n in local_names(statement.expression) if n.id in mirror.shadowed))
    if isinstance(operation, Apply):
        called = statement.expression.func if isinstance(statement.expression, gast.Call) else None
        name = called.attr if isinstance(called, gast.Attribute) else None
        arrays = all(isinstance(mirror.fact(n), Array) for n in names)
        if makes_new(operation.function, name) and (arrays or not is_copy(statement)):
            return ()  # the copy of a list has its items
        names = list(dict.fromkeys(n for e in operation.arguments.values() for n in atoms(e) if n in mirror.shadowed))
    return tuple(n for n in names if mirror.result.root(n) == mirror.result.root(statement.target))


def _shown_alike(mirror: Mirror, statement: Bind, sources: tuple[str, ...]) -> gast.expr | None:
    """The view of a shadow that is as that of its array, where it is sure to be one: written as an index where it can
    be, which costs no call, and which the reverse sweep may write again."""
    made = statement.operation
    if not isinstance(made, Apply) or made.function not in VIEWS or len(sources) != 1:
        return None
    if made.function is np.diagonal:  # which is read-only
        return None
    (source,), (first, *rest) = sources, made.arguments.values()
    fact = mirror.fact(source)
    if not isinstance(first, gast.Name) or first.id != source or not isinstance(fact, Array) or not fact.shape:
        return None
    try:
        options = [literal(each) for each in rest]
    except ValueError:
        return None
    bar = mirror.bar(source)
    if made.function is np.flip and options in ([], [None]):
        backwards: list[gast.expr] = [gast.Slice(None, None, constant(-1)) for _ in fact.shape]
        return subscript(bar, backwards[0] if len(backwards) == 1 else tuple_of(backwards))
    return rebuilt(
        statement.expression, lambda node: clone(bar) if type(node) is gast.Name and node.id == source else None
    )


def _may_join_lists(mirror: Mirror, statement: Bind) -> bool:
    """Whether ``+`` or ``*`` may have made a list, which shares the items of its operands."""
    made, target = statement.operation, statement.target
    if not isinstance(made, Apply) or made.function not in LIST_OPERATORS:
        return False
    known = any(isinstance(mirror.fact(name), Array) for name in inputs(statement))
    return not known and target not in numeric_names(mirror.function)


def _settle(mirror: Mirror, statement: Bind, index: gast.expr) -> None:
    """Keep an index that is read from a container which changes."""
    if reads_contents(index, mirror.result.changing):
        mirror.result.places[statement] = settled_index(mirror, index, statement.span)


def _settle_arguments(mirror: Mirror, statement: Bind) -> None:
    """Keep what an operation reads of containers that change."""
    made = statement.operation
    if not isinstance(made, Apply):
        return
    if made.rule.kind == "elementwise" and getattr(made.function, "__module__", "") == "_operator":
        # An operator takes no list of unknown kind but to join or repeat it, which shares the items.
        names = [n for e in made.arguments.values() for n in atoms(e)]
        freeze(mirror, statement, [n for n in names if isinstance(mirror.fact(n), Sequence)])
        return
    for parameter, argument in made.arguments.items():
        if all(isinstance(part, gast.Name | gast.Constant) for part in parts_of(argument)):
            freeze(mirror, statement, atoms(argument))
        elif reads_contents(argument, mirror.result.changing):
            place = mirror.namer.fresh("place")
            mirror.add(place, call_runtime(runtime.snapshot, clone(argument)), statement.span)
            mirror.result.settled.setdefault(statement, {})[parameter] = load(place)


def _perhaps_view(mirror: Mirror, statement: Bind, sources: tuple[str, ...]) -> None:
    """A result that may be a view of operands: whether it is one is known when it is there."""
    target, span = statement.target, statement.span
    if not sources:
        mirror.out.append(statement)
        if _may_join_lists(mirror, statement):
            look = call_runtime(runtime.require_new, load(target), constant(span.origin))
            mirror.out.append(Effect(gast.Expr(look), span))
            mirror.result.made.add(mirror.out[-1])
        mirror.add(mirror.result.bars[target], mirror.zeros(target), span)
        freeze_result(mirror, statement)
        return
    known: list[gast.expr] = []
    for name in sources:
        known += map(load, as_before(mirror, name, statement))
    mirror.out.append(statement)
    arrays = all(isinstance(mirror.fact(name), Array) for name in sources)
    like = runtime.view_like if arrays else runtime.items_like
    mirror.add(mirror.result.bars[target], call_runtime(like, load(target), *known), span)
    freeze_result(mirror, statement)
    mirror.result.sources[statement] = sources


def _stored(mirror: Mirror, statement: Store | AugStore | AddAt) -> None:
    base = statement.buffer if isinstance(statement, AddAt) else statement.base
    if base not in mirror.shadowed:
        return
    freeze(mirror, statement, [base, *atoms(statement.value)])
    mirror.result.places[statement] = index = settled_index(mirror, statement.index, statement.span)
    old = mirror.result.olds[statement] = mirror.namer.fresh(f"{base}_0")
    read: gast.expr = subscript(load(base), clone(index))
    if isinstance(statement, AddAt) and is_whole(statement, mirror.fact(base)):
        read = call_runtime(runtime.held_inside, load(base))
    elif (source := _copied_from(mirror, base)) is not None:
        read = subscript(load(source), clone(index))  # which nothing stores into
    elif not is_element(mirror.fact(base), index, mirror.fact):
        copied = gast.Call(gast.Attribute(read, "copy", gast.Load()), [], [])
        read = copied if is_view(mirror.fact(base), index, mirror.fact) else call_runtime(runtime.kept, clone(read))
    mirror.add(old, read, statement.span)


def _copied_from(mirror: Mirror, base: str) -> str | None:
    """The array of which ``base`` is a copy that nothing has seen since, where nobody stores into that array."""
    members, bound = mirror.result.classes.members(base), set[str]()
    for statement in reversed(mirror.out):
        if not isinstance(statement, Bind):
            return None
        if statement.target == base:
            made = statement.operation
            if not isinstance(made, Apply) or made.function is not np.copy or len(made.arguments) != 1:
                return None
            (source,) = atoms(made.arguments["a"]) or (base,)
            is_kept = source not in mirror.stored and source not in bound and source not in members
            return source if is_kept and mirror.is_array(source) and not mirror.is_number(source) else None
        if statement not in mirror.result.made and not members.isdisjoint(mentioned(statement)):
            return None
        bound.add(statement.target)
    return None


def _refused(statement: Statement, what: str) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"{what} cannot be reversed yet", statement.span, code="E0304", label="its memory is stored into elsewhere",
        hint="copy the array before it is stored into: np.copy(...)",
    )  # fmt: skip
