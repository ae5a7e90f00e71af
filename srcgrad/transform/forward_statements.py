"""The tangent of one statement of the normal form, beside the statement itself.

Enters: a ``Bind``, ``Unpack``, ``Append`` or ``Pop``.  Leaves: the primal statement and the statements that
bind the tangents of what it binds, in an order in which each reads the values that it means::

    y = np.exp(x)     ->   y = np.exp(x);  y_dot = x_dot * y           the result is read
    s = s * x         ->   s_dot = s_dot * x + s * x_dot;  s = s * x    what is overwritten is read: tangent first
"""

from __future__ import annotations

from collections.abc import Mapping

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import atoms, inputs
from srcgrad.analysis.values import is_copy, is_defaulting
from srcgrad.errors import InternalError, MissingRule
from srcgrad.ir.as_python import statement_as_python
from srcgrad.ir.normal_form import (
    Append,
    Apply,
    Bind,
    Call,
    Copy,
    Create,
    Exchange,
    Field,
    Fixed,
    Index,
    Pack,
    Pop,
    Statement,
    Unpack,
    Unruled,
)
from srcgrad.rules.facts import (
    Array,
    Fact,
    broadcast,
    keeps_complex,
    same_dtype,
    same_shape,
)
from srcgrad.rules.template import Slice, inline
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.marks import term_by_term
from srcgrad.syntax.parse import clone, names_read, walk
from srcgrad.transform.build import (
    assign,
    builtin_call,
    call,
    constant,
    load,
    method,
    minus_lists,
    store,
    subscript,
    sum_by_numpy,
    tuple_of,
    unpack,
)
from srcgrad.transform.forward_memory import apart
from srcgrad.transform.operands import WEAK, calls_to, gives_python_numbers
from srcgrad.transform.primal_results import RESULT, field_tangent, naming_result
from srcgrad.transform.tangent_sweep import TangentSweep
from srcgrad.transform.widening import widening


def argument_facts(sweep: TangentSweep, made: Call) -> tuple[Fact, ...]:
    return tuple(sweep.fact_of(argument) for argument in made.arguments)


def functional_tangent(sweep: TangentSweep, statement: Bind) -> list[gast.stmt]:
    """A binding whose memory nothing stores into."""
    target, made = statement.target, statement.operation
    if isinstance(made, Unruled) and target in sweep.activity.useful_after(statement):
        if any(sweep.tangents.varied(n, statement) for n in inputs(statement)):
            raise made.refusal
    if not sweep.tangents.needed_after(target, statement):
        return [primal(sweep, statement)]
    if not sweep.tangents.moves(statement):
        if isinstance(made, Pack) and not made.elements:
            return [primal(sweep, statement), assign(sweep.dot(target), clone(statement.expression))]
        return [primal(sweep, statement), *sweep.zero(target, statement)]
    match made:
        case Copy(source=source):
            value: gast.expr = load(sweep.dot(source))
        case Index(base=base, index=index):
            value = subscript(load(sweep.dot(base)), clone(index))
        case Field(base=base, name=name, shared=shared):
            value = field_tangent(sweep.dot(base), name, shared=shared, held=sweep.fact(target))
        case Pack():
            value = pack_tangent(sweep, made, statement)
        case Apply():
            return apply_tangent(sweep, statement, made)
        case Call():
            return call_tangent(sweep, statement, made)
        case Unruled(refusal=refusal):
            raise refusal
        case Fixed() | Create() | Exchange():
            raise InternalError("an expression without derivative has a tangent", statement.span)
    return around(sweep, statement, [assign(sweep.dot(target), value)])


def primal(sweep: TangentSweep, statement: Bind) -> gast.stmt:
    """The statement itself, calling the function that this module has for a callee."""
    if isinstance(statement.operation, Call):
        function = sweep.calls.primal(statement.operation.callee)
        if function is not None:
            return assign(statement.target, call(function, *map(clone, statement.operation.arguments)))
    return restated(statement)


def around(sweep: TangentSweep, statement: Bind, code: list[gast.stmt]) -> list[gast.stmt]:
    """The tangent after its primal statement; before it, or around it, where it reads what that overwrites."""
    read = names_read(*code)
    if statement.target not in read:
        return [restated(statement), *naming_result(code, statement.target)]
    if RESULT not in read:
        return [*code, restated(statement)]
    held = sweep.fresh(statement.target)
    return [
        assign(held, clone(statement.expression)),
        *naming_result(code, held),
        assign(statement.target, load(held)),
    ]


def pack_tangent(sweep: TangentSweep, made: Pack, statement: Bind) -> gast.expr:
    elements = [sweep.dot_of(element, statement) for element in made.elements]
    if made.kind in ("dict", "object"):
        value = gast.Dict([clone(key) for key in made.keys], elements)
        return call_runtime(runtime.defaulting, value) if is_defaulting(statement) else value
    return gast.List(elements, gast.Load()) if made.kind == "list" else tuple_of(elements)


def call_tangent(sweep: TangentSweep, statement: Bind, made: Call) -> list[gast.stmt]:
    active = tuple(any(sweep.tangents.varied(n, statement) for n in atoms(a)) for a in made.arguments)
    function = sweep.calls.tangent(made.callee, active, argument_facts(sweep, made))
    dots = [sweep.dot_of(a, statement) for a, is_active in zip(made.arguments, active, strict=True) if is_active]
    value = call(function, *map(clone, made.arguments), *dots)
    return [unpack([statement.target, sweep.dot(statement.target)], value)]


def apply_tangent(sweep: TangentSweep, statement: Bind, made: Apply) -> list[gast.stmt]:
    rule = made.rule
    active = frozenset(
        p for p, argument in made.arguments.items()
        if p in rule.sensitive and any(sweep.tangents.varied(n, statement) for n in atoms(argument))
    )  # fmt: skip
    facts = {p: sweep.fact_of(argument) for p, argument in made.arguments.items()}
    piece = _slice(sweep, made, active, facts, statement)
    binding: dict[str, gast.expr] = dict(made.arguments)
    for parameter in active:
        binding[f"{parameter}_dot"] = sweep.dot_of(made.arguments[parameter], statement)
    wider = widening(
        piece, rule, facts, active, binding, load(RESULT), sweep.fresh, sweep.calls.shown, statement.span
    )
    prelude, values = inline(piece, {**binding, rule.result: load(RESULT)}, sweep.fresh)
    (value,) = values.values()
    if isinstance(statement.expression, gast.BinOp):
        value = minus_lists(value, [binding[f"{p}_dot"] for p in active if not isinstance(facts[p], Array)])
        if isinstance(statement.expression.op, gast.Add | gast.Sub) and _takes_list(facts):
            value = sum_by_numpy(value)
    if is_copy(statement) and not isinstance(facts["a"], Array):
        value = call_runtime(runtime.own, binding["a_dot"])  # of a list or dict as well
    value = _narrowed(_spread(value), piece, made, facts, sweep.fact(statement.target))
    value = apart(sweep, value, statement, made)
    if _makes_float(made, [facts[p] for p in active], sweep.fact(statement.target)):
        value = builtin_call(float, value)
    if _is_in_place(sweep, statement, prelude, value):
        return [*wider, _added(statement.target, statement.expression), _added(sweep.dot(statement.target), value)]
    return around(sweep, statement, [*wider, *prelude, assign(sweep.dot(statement.target), value)])


def _makes_float(made: Apply, operands: list[Fact], result: Fact) -> bool:
    """Whether a function of ``math`` makes a float of a number of NumPy's, whose arithmetic is slower: what is computed
    from the one stays Python's, and so does what is computed from its tangent."""
    is_float = isinstance(result, Array) and result.scalar and result.dtype == "float"
    if not is_float or getattr(made.function, "__module__", None) != "math":
        return False
    numbers = [f for f in operands if isinstance(f, Array) and f.shape == () and f.is_real]
    return len(numbers) == len(operands) and any(f.dtype not in WEAK for f in numbers)


def _is_in_place(sweep: TangentSweep, statement: Bind, prelude: list[gast.stmt], value: gast.expr) -> bool:
    """Whether our own output adds to a buffer, and the same can be done to its tangent."""
    target, fact = statement.target, sweep.fact(statement.target)
    if target not in sweep.tangents.renewed or not statement.owned or prelude:
        return False
    if not isinstance(fact, Array) or not fact.shape or not fact.is_real:
        return False
    match statement.expression, value:
        case gast.BinOp(right=added), gast.BinOp(left=gast.Name(id=dot), right=dot_added):
            is_real = all(isinstance(f, Array) and f.is_real for f in map(sweep.fact, names_read(added)))
            return is_real and dot == sweep.dot(target) and dot not in names_read(dot_added)
    return False


def _added(name: str, total: gast.expr) -> gast.stmt:
    assert isinstance(total, gast.BinOp)
    return term_by_term(gast.AugAssign(store(name), clone(total.op), clone(total.right)))


def _slice(
    sweep: TangentSweep, made: Apply, active: frozenset[str], facts: Mapping[str, Fact], statement: Bind
) -> Slice:
    known = [sweep.fact(statement.target), *facts.values()]
    plain = all(isinstance(f, Array) and f.scalar and f.is_real for f in known)
    scalar = plain and gives_python_numbers(made.function)
    try:
        strong = sweep.calls.strong_zeros
        return made.rule.tangent_slice(active, made.arguments, scalar=scalar, strong=strong, facts=facts)
    except MissingRule as missing:
        if missing.span is not None and missing.span.known:
            raise
        raise MissingRule(missing.reason, statement.span, code=missing.code, hint=missing.hint) from None


def _narrowed(value: gast.expr, piece: Slice, made: Apply, facts: Mapping[str, Fact], result: Fact) -> gast.expr:
    """Drop a ``rebroadcast`` that the facts prove idle: what the tangent reads has the result's shape and dtype."""
    if not (isinstance(value, gast.Call) and calls_to(value, runtime.rebroadcast)):
        return value
    if any(isinstance(n, gast.Constant) and isinstance(n.value, complex) for n in walk(value)):
        return value  # of real operands too it is complex, until it is narrowed
    read = {n.id for n in walk(*piece.body, *piece.values.values()) if isinstance(n, gast.Name)}
    if made.rule.kind != "elementwise":
        read -= piece.shapes - piece.reads  # what is read for its shape only does not broadcast
    whole: Array | None = None
    unread: list[Fact] = []
    for parameter, fact in facts.items():
        if parameter in read or f"{parameter}_dot" in read:
            operand = fact if isinstance(fact, Array) else Array()
            whole = operand if whole is None else broadcast(whole, operand)
        else:
            unread.append(fact)
    if whole is None or not isinstance(result, Array):
        return value
    fits = same_shape(whole, result) or all(isinstance(f, Array) and f.shape == () for f in unread)
    weak = made.rule.kind == "elementwise" and keeps_complex(made.function)
    weak = weak and all(isinstance(f, Array) and f.dtype in WEAK for f in unread)
    if fits and (weak or same_dtype(whole, result) or (whole.is_real and result.is_real)):
        bare: gast.expr = value.args[0]
        return bare
    return value


def unpack_tangent(sweep: TangentSweep, statement: Unpack) -> list[gast.stmt]:
    needed = [t for t in statement.targets if sweep.tangents.needed_after(t, statement)]
    if not needed:
        return [restated(statement)]
    if not sweep.tangents.moves(statement):
        return [restated(statement), *(s for target in dict.fromkeys(needed) for s in sweep.zero(target))]
    targets: list[gast.expr] = [store(sweep.dot(t)) for t in statement.targets]
    if statement.star is not None:
        targets[statement.star] = gast.Starred(targets[statement.star], gast.Store())
    made = gast.Assign([gast.Tuple(targets, gast.Store())], load(sweep.dot(statement.source)), None)
    return [restated(statement), made]


def append_tangent(sweep: TangentSweep, statement: Append) -> list[gast.stmt]:
    sequence = statement.sequence
    if not sweep.tangents.needed_after(sequence, statement):
        return []
    if isinstance(statement.value, gast.Tuple):
        positions = sweep.tangents.positions(sequence)
        elements = statement.value.elts
        whole = sequence in sweep.tangents.escaping
        parts: list[gast.expr] = []
        for j in positions:
            if sweep.tangents.needed_entry(statement, j):
                parts.append(sweep.dot_of(elements[j], statement))
            else:
                parts.append(sweep.zero_of(elements[j]) if whole else constant(None))
        value = tuple_of(parts)
    else:
        value = sweep.dot_of(statement.value, statement)
    return [gast.Expr(method(sweep.dot(sequence), "append", value))]


def pop_tangent(sweep: TangentSweep, statement: Pop) -> list[gast.stmt]:
    code: list[gast.stmt] = []
    if sweep.tangents.pops(statement):
        value = method(sweep.dot(statement.sequence), "pop")
        if statement.tupled:
            positions = sweep.tangents.positions(statement.sequence)
            code.append(unpack([sweep.dot(statement.targets[j]) for j in positions], value))
        else:
            code.append(assign(sweep.dot(statement.targets[0]), value))
    for position, target in enumerate(statement.targets):
        if sweep.tangents.needed_after(target, statement) and not sweep.tangents.moves_entry(statement, position):
            code += sweep.zero(target)
    return code


def restated(statement: Statement) -> gast.stmt:
    """The user's statement, as a tree of its own."""
    return clone(statement_as_python(statement))


def _takes_list(facts: Mapping[str, Fact]) -> bool:
    """Whether operands may be a list and a number of NumPy, which makes an array of it; its tangent may be Python's."""
    arrays = [fact for fact in facts.values() if isinstance(fact, Array)]
    return len(arrays) < len(facts) and any(fact.scalar and fact.dtype not in (None, *WEAK) for fact in arrays)


def _spread(value: gast.expr) -> gast.expr:
    """``f(*(a, b))`` as ``f(a, b)``."""
    for node in walk(value):
        if isinstance(node, gast.Call):
            spread: list[gast.expr] = []
            for argument in node.args:
                is_display = isinstance(argument, gast.Starred) and isinstance(argument.value, gast.Tuple)
                spread += argument.value.elts if is_display else [argument]
            node.args = spread
    return value
