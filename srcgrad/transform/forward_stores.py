"""Tangents of memory that is stored into: bound wherever the value is bound, as the value is, and stored into with it.

Enters: statements that bind names of a mutable class that moves (``analysis.moving``), or store into one.  Leaves: the
statements with their tangents, in which ``v_dot`` shares memory with ``w_dot`` exactly where v shares memory with w::

    y = np.sin(x)          y = np.sin(x);  y_dot = x_dot * np.cos(x)
    v = y[1:3]             v = y[1:3];     v_dot = y_dot[1:3]
    v[0] = a               v_dot[0] = a_dot;  v[0] = a
    y = np.zeros(n)        y = np.zeros(n);   y_dot = np.zeros_like(y)        a later store may make it vary
    rows.append(y)         rows.append(y);    rows_dot.append(y_dot)

A store of tangents comes first: it changes no value, so that places and keys are what they were.  Where a store may
raise what the program catches, the value comes first: where that raised, the tangent is what it was.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.memory import is_immutable
from srcgrad.errors import InternalError
from srcgrad.ir.normal_form import (
    AddAt,
    Apply,
    AugStore,
    Bind,
    Call,
    Copy,
    Create,
    Delete,
    Exchange,
    Field,
    Fixed,
    Index,
    Pack,
    SetField,
    Statement,
    Store,
    Unruled,
)
from srcgrad.rules.facts import Array, Fact, Mapping, Sequence, is_floating
from srcgrad.rules.formula import object_of
from srcgrad.rules.memory import CHANGES, makes_new
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.marks import seen_elsewhere
from srcgrad.syntax.parse import clone, names_read, walk
from srcgrad.transform.apart import Outside, check_apart
from srcgrad.transform.build import add_in_place, assign, constant, index_value, load, method, subscript
from srcgrad.transform.forward_memory import method_of
from srcgrad.transform.forward_statements import (
    apply_tangent,
    argument_facts,
    around,
    call_tangent,
    functional_tangent,
    pack_tangent,
    primal,
    restated,
)
from srcgrad.transform.operands import calls_to, is_local
from srcgrad.transform.primal_results import field_tangent
from srcgrad.transform.shadows import may_be_users
from srcgrad.transform.tangent_sweep import TangentSweep

Put = Callable[[gast.expr, gast.expr], gast.stmt]  # (place, tangent) -> the store of it


def bind_tangent(sweep: TangentSweep, statement: Bind) -> list[gast.stmt]:
    target, made = statement.target, statement.operation
    if isinstance(made, Exchange):
        return _exchange(sweep, statement, made)
    if target not in sweep.mirrored:
        if isinstance(made, Call) and _stores(sweep, made):
            return call_tangent(sweep, statement, made)
        return functional_tangent(sweep, statement)
    if not sweep.tangents.moves(statement) and not isinstance(made, Pack | Create | Fixed):
        return [primal(sweep, statement), *sweep.zero(target, statement)]
    match made:
        case Apply():
            return apply_tangent(sweep, statement, made)
        case Call():
            kept, like = _like_arguments(sweep, statement, made)
            return [*kept, *call_tangent(sweep, statement, made), *like]
        case Unruled(refusal=refusal):
            raise refusal
        case Fixed():
            return _fixed(sweep, statement)
        case Copy(source=source):
            value = sweep.dot_of(load(source), statement)
        case Index(base=base, index=index):
            value = subscript(load(sweep.dot(base)), clone(index))
        case Field(base=base, name=name, shared=shared):
            value = field_tangent(sweep.dot(base), name, shared=shared, held=sweep.fact(target))
        case Pack():
            value = pack_tangent(sweep, made, statement)
        case Create():
            value = gast.Dict([], [])
    return around(sweep, statement, [assign(sweep.dot(target), value)])


def _like_arguments(sweep: TangentSweep, statement: Bind, made: Call) -> tuple[list[gast.stmt], list[gast.stmt]]:
    """What a callee returns may share memory with arguments, and its tangent with theirs: both, or neither.

    The statements before the call, where the result takes the name of an argument, and those after it.
    """
    target = statement.target
    given = [n for a in made.arguments for n in atoms(a) if sweep.tangents.varied(n, statement)]
    pairs = [(n, sweep.dot(n)) for n in dict.fromkeys(given)]
    kept: list[gast.stmt] = []
    if target in given:
        held = (sweep.fresh(target), sweep.fresh(f"{target}_dot"))
        kept = [assign(new, load(old)) for new, old in zip(held, (target, sweep.dot(target)), strict=True)]
        pairs = [held if n == target else (n, n_dot) for n, n_dot in pairs]
    if not pairs:
        return [], []
    dot = sweep.dot(target)
    known = [load(name) for pair in pairs for name in pair]
    return kept, [assign(dot, call_runtime(runtime.tangent_like, load(dot), load(target), *known))]


def _stores(sweep: TangentSweep, made: Call) -> bool:
    """Whether a callee stores into something whose tangent is mirrored."""
    stored = sweep.calls.summary_of(made.callee, argument_facts(sweep, made)).stored
    return any(name in sweep.mirrored for j in stored for name in atoms(made.arguments[j]))


def _fixed(sweep: TangentSweep, statement: Bind) -> list[gast.stmt]:
    """A value without derivative: zero, in the memory of what it may be a view of."""
    target = statement.target
    code = [restated(statement), *sweep.zero(target, statement)]
    shown = [n for n in dict.fromkeys(names_read(statement.expression)) if n in sweep.mirrored and n != target]
    made = makes_new(object_of(getattr(statement.expression, "func", None)), method_of(statement.expression))
    if shown and not made and not isinstance(statement.expression, gast.Compare):
        pairs = [load(name) for n in shown for name in (n, sweep.dot(n))]
        like = call_runtime(runtime.tangent_like, load(sweep.dot(target)), load(target), *pairs)
        code.append(assign(sweep.dot(target), like))
    return code


def store_tangent(sweep: TangentSweep, statement: Store) -> list[gast.stmt]:
    base = statement.base
    if base not in sweep.mirrored:
        return [restated(statement)]
    value = _stored(sweep, statement.value, base, statement)
    return _beside(sweep, statement, statement.index, value, lambda i, g: _put(sweep, base, i, g))


def _stored(sweep: TangentSweep, atom: gast.expr, base: str, statement: Store | AugStore) -> gast.expr:
    """The tangent of what is stored; integers hold none."""
    fact = sweep.fact(base)
    if _is_floating_array(fact):
        varies = any(sweep.tangents.varied(name, statement) for name in atoms(atom))
        value = sweep.dot_of(atom, statement) if varies else constant(0.0)
        is_array = not varies or isinstance(sweep.fact_of(atom), Array)
        return value if is_array else call_runtime(runtime.stored, value, load(base))
    value = sweep.dot_of(atom, statement)
    if isinstance(fact, Sequence | Mapping):
        return value
    return call_runtime(runtime.stored, value, load(base))


def aug_store_tangent(sweep: TangentSweep, statement: AugStore) -> list[gast.stmt]:
    base, operator = statement.base, statement.operator
    if base not in sweep.mirrored:
        return [restated(statement)]
    if isinstance(operator, gast.Mult | gast.Div):
        value = _scaled(sweep, statement)
        return _beside(sweep, statement, statement.index, value, lambda i, g: _put(sweep, base, i, g))
    if not isinstance(operator, gast.Add | gast.Sub):
        raise InternalError("an augmented store was not taken apart", statement.span)
    if not any(sweep.tangents.varied(name, statement) for name in atoms(statement.value)):
        return [restated(statement)]
    value = _stored(sweep, statement.value, base, statement)

    def put(place: gast.expr, given: gast.expr) -> gast.stmt:
        return seen_elsewhere(_augmented(_put(sweep, base, place, given), operator))

    return _beside(sweep, statement, statement.index, value, put)


def _scaled(sweep: TangentSweep, statement: AugStore) -> gast.expr:
    """The tangent of a place that is multiplied or divided, read before the place changes."""
    base, atom, index, by = statement.base, statement.value, statement.index, type(statement.operator)
    moved: gast.expr = subscript(load(sweep.dot(base)), clone(index))
    strong = sweep.calls.strong_zeros
    scaled: gast.expr = gast.BinOp(moved, by(), clone(atom))
    if strong:
        scaled = call_runtime(runtime.where_nonzero, clone(moved), scaled)
    if not any(sweep.tangents.varied(name, statement) for name in atoms(atom)):
        return scaled
    place, rate = subscript(load(base), clone(index)), sweep.dot_of(atom, statement)
    term: gast.expr = gast.BinOp(place, gast.Mult(), rate)
    if by is gast.Div:
        square = gast.BinOp(clone(atom), gast.Mult(), clone(atom))
        term = gast.BinOp(term, gast.Div(), square)
    if strong:
        term = call_runtime(runtime.where_nonzero, clone(rate), term)
    return gast.BinOp(scaled, gast.Sub() if by is gast.Div else gast.Add(), term)


def _put(sweep: TangentSweep, base: str, index: gast.expr, value: gast.expr) -> gast.Assign:
    return gast.Assign([gast.Subscript(load(sweep.dot(base)), index, gast.Store())], value, None)


def _beside(sweep: TangentSweep, statement: Statement, index: gast.expr, value: gast.expr, put: Put) -> list[gast.stmt]:
    if sweep.attempted:
        return _value_first(sweep, restated(statement), index, value, put)
    return [put(clone(index), value), restated(statement)]


def _value_first(
    sweep: TangentSweep, primal: gast.stmt, index: gast.expr, value: gast.expr, put: Put
) -> list[gast.stmt]:
    """A store that may raise, which is caught: the tangent, and the place, are those of before it.

    Any array that the place is read of may be stored into here: two arguments may show one memory.
    """
    code: list[gast.stmt] = []
    index = _settled(sweep, index, code)
    if not isinstance(value, gast.Name | gast.Constant):
        held = sweep.fresh("moved")
        code.append(assign(held, value))
        value = load(held)
    return [*code, primal, put(index, value)]


def _settled(sweep: TangentSweep, index: gast.expr, code: list[gast.stmt]) -> gast.expr:
    """An index whose parts are read once, by ``code``, and stay as they are."""
    match index:
        case gast.Tuple(elts=elements):
            return gast.Tuple([_settled(sweep, e, code) for e in elements], gast.Load())
        case gast.Slice(lower=lower, upper=upper, step=step):
            return gast.Slice(*(None if e is None else _settled(sweep, e, code) for e in (lower, upper, step)))
    if not any(is_local(name) and not is_immutable(sweep.fact(name.id)) for name in walk(index)):
        return clone(index)
    place = sweep.fresh("place")
    code.append(assign(place, call_runtime(runtime.snapshot, clone(index))))
    return load(place)


def addition_tangent(sweep: TangentSweep, statement: AddAt) -> list[gast.stmt]:
    buffer, index = statement.buffer, statement.index
    lasts = not may_be_users(statement) or _is_floating_array(sweep.fact(buffer))  # else integers may be added to
    primal = _added(sweep, statement, buffer, index, clone(statement.value))
    if not lasts or statement.shared and statement.function is None and not _is_whole(sweep, statement):
        primal = restated(statement)  # which raises what it raises
    if not (sweep.tangents.needed_after(buffer, statement) and sweep.tangents.moves(statement)):
        return [primal]
    value = sweep.dot_of(statement.value, statement)
    if not lasts:
        value = call_runtime(runtime.stored, value, load(buffer))
    if sweep.attempted:
        return _value_first(sweep, primal, index, value, lambda i, g: _added(sweep, statement, sweep.dot(buffer), i, g))
    code = [primal, _added(sweep, statement, sweep.dot(buffer), index, value)]
    if not all(_is_number(sweep, name) for name in names_read(index)):
        code.reverse()  # where the place is read of what is added to, it is the one before that
    return code


def _is_number(sweep: TangentSweep, name: str) -> bool:
    fact = sweep.fact(name)
    return isinstance(fact, Array) and fact.shape == ()


def _added(sweep: TangentSweep, statement: AddAt, buffer: str, index: gast.expr, value: gast.expr) -> gast.stmt:
    """``buffer[index] += value``, of the buffer of the statement or of its tangent."""
    fact = sweep.fact(statement.buffer)
    if isinstance(fact, Array) and not fact.scalar and fact.shape and _is_basic(sweep, index):
        code: gast.stmt = add_in_place(subscript(load(buffer), clone(index)), value)
    elif _is_whole(sweep, statement):
        code = gast.AugAssign(gast.Name(buffer, gast.Store(), None, None), gast.Add(), value)
        return seen_elsewhere(code)  # it is the memory that is added to, and not the name that is bound again
    elif isinstance(index, gast.Constant) and index.value is ...:
        code = gast.Expr(call_runtime(runtime.accumulate, load(buffer), value))
    else:
        code = gast.Expr(call_runtime(runtime.add_at, load(buffer), index_value(index), value))
    return seen_elsewhere(code) if statement.shared or statement.buffer in sweep.mirrored else code


def _is_whole(sweep: TangentSweep, statement: AddAt) -> bool:
    """Whether a statement of our own adds to all of an array, so that ``buffer += value`` says it, of tangents too."""
    is_all = isinstance(statement.index, gast.Constant) and statement.index.value is ...
    buffer, value = sweep.fact(statement.buffer), sweep.fact_of(statement.value)
    if not is_all or not sweep.function.generated or not isinstance(buffer, Array) or not isinstance(value, Array):
        return False
    is_complex = (buffer.dtype or "").startswith("complex")
    return bool(buffer.shape) and is_floating(buffer.dtype) and (value.is_real or is_complex)


def _is_basic(sweep: TangentSweep, index: gast.expr) -> bool:
    """Whether no element is met twice: integers and slices only."""
    fact = sweep.fact(index.id) if is_local(index) else None
    if isinstance(fact, Sequence) and fact.kind == "tuple":
        return fact.items is not None and all(map(_is_whole_number, fact.items))
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return all(_is_slice(part) or _is_integer(sweep, part) for part in parts)


def _is_integer(sweep: TangentSweep, part: gast.expr) -> bool:
    match part:
        case gast.BinOp(left=left, right=right):
            return _is_integer(sweep, left) and _is_integer(sweep, right)
        case gast.UnaryOp(op=gast.USub(), operand=operand):
            return _is_integer(sweep, operand)
        case gast.Constant(value=value):
            return type(value) is int
    return is_local(part) and _is_whole_number(sweep.fact(part.id))


def _is_whole_number(fact: Fact) -> bool:
    return isinstance(fact, Array) and fact.shape == () and (fact.dtype or "").startswith(("int", "uint"))


def set_field_tangent(sweep: TangentSweep, statement: SetField) -> list[gast.stmt]:
    if statement.base not in sweep.mirrored:
        return [restated(statement)]
    value, base = sweep.dot_of(statement.value, statement), statement.base
    return _beside(sweep, statement, constant(statement.name), value, lambda i, g: _put(sweep, base, i, g))


def delete_tangent(sweep: TangentSweep, statement: Delete) -> list[gast.stmt]:
    if statement.base not in sweep.mirrored:
        return [restated(statement)]
    index = constant(statement.name) if statement.index is None else clone(statement.index)
    target = gast.Subscript(load(sweep.dot(statement.base)), index, gast.Del())
    code = [gast.Delete([target]), restated(statement)]
    return code[::-1] if sweep.attempted else code


def _exchange(sweep: TangentSweep, statement: Bind, made: Exchange) -> list[gast.stmt]:
    """The same method of the tangent, with the tangents of what is put in."""
    target, base = statement.target, made.base
    if base not in sweep.mirrored:
        needed = sweep.tangents.needed_after(target, statement)
        return [restated(statement), *(sweep.zero(target, statement) if needed else [])]
    dot = sweep.dot(base)
    if object_of(getattr(statement.expression, "func", None)) in CHANGES:
        given = [
            sweep.dot_of(argument, statement) if j in made.held else clone(argument)
            for j, argument in enumerate(made.arguments)
        ]
        return [restated(statement), gast.Expr(gast.Call(clone(statement.expression.func), given, []))]
    match made.method:
        case "remove":
            place = method(base, "index", *map(clone, made.arguments))
            code: list[gast.stmt] = [gast.Delete([gast.Subscript(load(dot), place, gast.Del())])]
        case "sort":
            order = call_runtime(runtime.argsorted, load(base), *map(clone, made.arguments))
            items = call_runtime(runtime.gather, load(dot), order)
            everything = gast.Subscript(load(dot), gast.Slice(None, None, None), gast.Store())
            code = [gast.Assign([everything], items, None)]
        case _:
            arguments = [
                sweep.dot_of(argument, statement) if j in made.held else clone(argument)
                for j, argument in enumerate(made.arguments)
            ]
            value = method(dot, made.method, *arguments)
            code = [assign(sweep.dot(target), value)]
    if made.method in ("remove", "sort") and sweep.tangents.needed_after(target, statement):
        return [*code, restated(statement), assign(sweep.dot(target), constant(None))]
    return [*code, restated(statement)]


def entered(sweep: TangentSweep, active: list[str], stored: list[str], outside: Outside | None) -> list[gast.stmt]:
    """Arguments at the door: what is ``stored`` into is copied, with tangents of the same layout; ``outside``
    tells what is read there."""
    code: list[gast.stmt] = []
    if stored:
        assert outside is not None
        apart = check_apart(sweep.function, stored, lambda name: is_immutable(sweep.fact(name)), outside)
        code += [] if apart is None else [apart]
        copies = call_runtime(runtime.private, *map(load, stored))
        targets = [gast.Name(name, gast.Store(), None, None) for name in stored]
        target = targets[0] if len(targets) == 1 else gast.Tuple(targets, gast.Store())
        code.append(gast.Assign([target], copies, None))
    for name in stored:
        if name in active and name in sweep.mirrored:
            own = call_runtime(runtime.entering, load(name), load(sweep.dot(name)))
            code.append(assign(sweep.dot(name), own))
    return code


def zero_at_entry(sweep: TangentSweep, parameter: str) -> list[gast.stmt]:
    """The tangent of a parameter that is not differentiated."""
    if parameter in sweep.mirrored and not _is_floating_array(sweep.fact(parameter)):
        # Of an argument with gaps the zeros have gaps too.
        return [assign(sweep.dot(parameter), call_runtime(runtime.entering, load(parameter)))]
    return sweep.zero(parameter)


def _is_floating_array(fact: Fact) -> bool:
    return isinstance(fact, Array) and not fact.scalar and fact.shape != () and is_floating(fact.dtype)


def _is_slice(part: gast.expr) -> bool:
    return isinstance(part, gast.Slice) or (isinstance(part, gast.Call) and calls_to(part, slice))


def _augmented(stored: gast.Assign, operator: gast.operator) -> gast.AugAssign:
    return gast.AugAssign(stored.targets[0], type(operator)(), stored.value)
