"""What only types can refuse: the statements of a function that mean something else for the values it is given.

Enters: ``Function`` and the facts about its names.  Leaves: the same function, with a check before every statement that
is right for numbers only, or ``UnsupportedSyntax`` where the facts already show that it is wrong:

- ``x += e`` where other names may share x's memory changes an array in place, but is ``x = x + e`` for a number;
- ``+`` and ``*`` join and repeat tuples and lists, but add and multiply arrays: they are other functions then;
- a loop over a dict yields keys, not values, and so does what takes it apart;
- NumPy makes an array of objects of a dict;
- ``round`` and its kin, and bitwise operators, lose the derivative of numbers, but ask objects for methods.
"""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.cfg import blocks_of, bound_here, walk
from srcgrad.analysis.values import is_arithmetic, is_copy
from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.ir.normal_form import (
    Apply,
    AugStore,
    Bind,
    Block,
    Call,
    Effect,
    Exchange,
    Fixed,
    For,
    Function,
    If,
    Index,
    Pack,
    Statement,
    Store,
    Unpack,
    While,
    With,
)
from srcgrad.rules.facts import Array, Fact, Sequence, Static, Unknown, is_real
from srcgrad.rules.facts import Mapping as MappingFact
from srcgrad.rules.formula import object_of
from srcgrad.rules.table import lookup
from srcgrad.syntax.globals import GlobalReference, call_runtime
from srcgrad.syntax.parse import names_read
from srcgrad.syntax.parse import walk as walk_expression

JOINING = (operator.add, operator.mul)

_ROUNDING = (round, math.floor, math.ceil, math.trunc)
_BITWISE = gast.BitAnd | gast.BitOr | gast.BitXor | gast.LShift | gast.RShift

_Checks = dict[Statement, list[Effect]]


@dataclass(frozen=True)
class Assumed:
    """What holds of all functions of a module, and decides what is looked at when they run."""

    shown: bool = False  # the text is to be read: of dicts only what calls returned is looked at
    stores: bool = False  # something is stored into
    rereads: bool = False  # and what operators computed with is read again afterwards


def admitted(function: Function, facts: Mapping[str, Fact], assumed: Assumed = Assumed()) -> Function:
    """The function with its run-time checks; raises ``UnsupportedSyntax`` for what the facts refuse."""
    shown = assumed.shown
    facts = {**facts, **_displayed(function, facts)}
    returned = {s.target for s in walk(function.body) if isinstance(s, Bind) and isinstance(s.operation, Call)}
    asked = frozenset(name for statement in walk(function.body) for name in _asked_of(statement))
    checks: _Checks = {}
    joins = False
    for statement in walk(function.body):
        places = _read_by_places(statement)
        made = [
            _check(runtime.require_places, name, span)
            for name, span in places
            if _may_be_keys(statement, name, span, facts, asked) and (name in returned or not shown)
        ]
        if isinstance(statement, Bind) and isinstance(statement.operation, Fixed):
            _refuse_handing_on(statement, facts)
        asking_keys = [] if shown else _asked_for_keys(statement, facts)
        made += [_check(runtime.require_mapping, name, statement.span) for name in asking_keys]
        if isinstance(statement, Bind) and isinstance(statement.operation, Apply):
            _refuse_arrays_of_dicts(statement, statement.operation, facts)
            reals = [] if shown or function.generated else _read_as_real(statement, statement.operation, facts)
            made += [_check(runtime.require_real, name, statement.span) for name in reals]
            join = _joined(statement, statement.operation, facts)
            joins = joins or join is not None
            if join is not None and join.expression is not statement.expression:
                made += [_check(runtime.require_count, name, span) for name, span in _counts(join, facts)]
        bounds = _bounds_kept(statement, facts)
        made += [_check(runtime.require_bound_of_slice, name, statement.span) for name in dict.fromkeys(bounds)]
        if isinstance(statement, Bind) and statement.inplace and _refuse_store(statement, facts):
            made.append(_check(runtime.require_number, statement.target, statement.span))
        asking = [] if shown else _asking(statement)
        asking = [name for name in asking if isinstance(facts.get(name, Unknown()), Unknown)]
        made += [_check(runtime.require_no_object, name, statement.span) for name in dict.fromkeys(asking)]
        if assumed.rereads and not shown and (operands := _perhaps_of_lists(statement, facts)):
            place = gast.Constant(statement.span.origin, None)
            looked = gast.Expr(call_runtime(runtime.require_arithmetic, *map(_read, operands), place))
            made.append(Effect(looked, statement.span))
        if made:
            checks[statement] = made
    return replace(function, body=_checked(function.body, facts, checks)) if joins or checks else function


#: Operators whose adjoints read their operands.
_READING = gast.Mult | gast.Div | gast.Pow | gast.MatMult | gast.Mod


def _perhaps_of_lists(statement: Statement, facts: Mapping[str, Fact]) -> tuple[str, ...]:
    """The operands of an operator whose adjoint reads them, where one may be a list and the other an array."""
    match statement:
        case Bind(
            expression=gast.BinOp(left=gast.Name(id=left), op=op, right=gast.Name(id=right)), operation=Apply()
        ) if isinstance(op, _READING):
            known = [facts.get(name, Unknown()) for name in (left, right)]
            if any(isinstance(fact, Unknown) for fact in known):
                return left, right
    return ()


def _bounds_kept(statement: Statement, facts: Mapping[str, Fact]) -> Iterator[str]:
    """The names in slices that a program keeps, or stores by, of which it is not known whether they are arrays.

    A slice holds its bounds: where one is an array, it is another slice once the array is stored into.
    """
    match statement:
        case Bind(expression=kept, operation=Fixed()) | Store(index=kept) | AugStore(index=kept):
            bounds = [bound for node in walk_expression(kept) for bound in _bounds_of(node)]
        case _:
            bounds = []
    for name in (bound.id for bound in bounds if isinstance(bound, gast.Name)):
        fact = facts.get(name, Unknown())
        if isinstance(fact, Array) and not fact.scalar:
            reason = f"a slice holds the array {name}, which may change"
            raise UnsupportedSyntax(reason, statement.span, code="E0605", hint=f"give it the number: int({name})")
        if isinstance(fact, Unknown) and name in facts:
            yield name


def _bounds_of(node: gast.AST) -> list[gast.expr]:
    """The bounds of a slice that is a value: ``slice(a, b)``, and what ``np.s_`` is indexed by."""
    match node:
        case gast.Call(func=function, args=bounds) if object_of(function) is slice:
            return list(bounds)
        case gast.Subscript(value=base, slice=index) if any(object_of(base) is one for one in (np.s_, np.index_exp)):
            return [bound for part in walk_expression(index) if isinstance(part, gast.Slice)
                    for bound in (part.lower, part.upper, part.step) if bound is not None]  # fmt: skip
    return []


def exact_at_entry(function: Function, kinds: Mapping[str, str]) -> Function:
    """The function with a look at its arguments, for programs that are called from elsewhere: at the classes of all, or
    at the kinds of those of which it is known."""
    span = function.span
    looks = []
    for name in function.parameters:
        place = gast.Constant(f"argument {name}", None)
        if name in kinds:
            looks.append(call_runtime(runtime.require_kind, _read(name), gast.Constant(kinds[name], None), place))
        else:
            looks.append(call_runtime(runtime.require_plain, _read(name), place))
    statements = [Effect(gast.Expr(look), span) for look in looks]
    return replace(function, body=Block((*statements, *function.body.statements)))


def looked_at(function: Function, looks: Mapping[Statement, list[Effect]]) -> Function:
    """The function with what it looks at before each of these statements."""
    return replace(function, body=_checked(function.body, {}, dict(looks)))


def _displayed(function: Function, facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """The names that hold lists made here, or None, which our own output binds first, where nothing else is known."""
    found: dict[str, Fact] = {}
    others = set(function.parameters)
    for statement in walk(function.body):
        match statement:
            case Bind(target=target, operation=Pack(kind="list")):
                found[target] = Sequence("list", None, Unknown())
            case Bind(expression=gast.Constant(value=None)):
                pass
            case _:
                others.update(bound_here(statement))
    return {n: fact for n, fact in found.items() if n not in others and isinstance(facts.get(n, Unknown()), Unknown)}


def _asking(statement: Statement) -> list[str]:
    """The operands of what rounds, or works on bits, without a derivative: objects would be asked for methods."""
    found: list[str] = []
    if isinstance(statement, Bind) and isinstance(statement.operation, Fixed):
        for node in walk_expression(statement.expression):
            operands: list[gast.expr] = []
            match node:
                case gast.Call(func=func, args=[first, *_]) if any(object_of(func) is each for each in _ROUNDING):
                    operands = [first]
                case gast.BinOp(left=left, op=op, right=right) if isinstance(op, _BITWISE):
                    operands = [left, right]
                case gast.UnaryOp(op=gast.Invert(), operand=operand):
                    operands = [operand]
            found += [each.id for each in operands if type(each) is gast.Name]
    return found


def _asked_for_keys(statement: Statement, facts: Mapping[str, Fact]) -> list[str]:
    """The names that a loop asks for keys, not known to be dicts: an item of them is read by a text somewhere."""
    found: list[str] = []
    for node in walk_expression(statement.expression) if isinstance(statement, Bind) else ():
        match node:
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr="keys")):
                if isinstance(facts.get(name), Array):
                    reason = f"{name} is an array here, and an item of it is read by a key elsewhere"
                    hint = "give the dict and the array names of their own"
                    raise UnsupportedSyntax(reason, statement.span, code="E0418", hint=hint)
                if isinstance(facts.get(name, Unknown()), Unknown):
                    found.append(name)
    return found


def _refuse_arrays_of_dicts(statement: Bind, apply: Apply, facts: Mapping[str, Fact]) -> None:
    """Refuse a dict as an operand of NumPy, which makes an array of objects of it."""
    called = apply.function
    if is_copy(statement):
        return
    if not isinstance(called, np.ufunc) and not (getattr(called, "__module__", None) or "").startswith("numpy"):
        return
    for parameter in apply.rule.sensitive & apply.arguments.keys():
        for name in atoms(apply.arguments[parameter]):
            if _holds_dicts(facts.get(name, Unknown())):
                raise UnsupportedSyntax(
                    "NumPy makes an array of objects of a dict, which has no derivative",
                    statement.span, code="E0418",
                    hint="compute with the dict's values one by one",
                )


#: Functions of NumPy whose value has no derivative, but of objects, as dicts are for it, one of the operands.
_HANDING_ON = (np.logical_or, np.logical_and, np.bitwise_or, np.bitwise_and, np.bitwise_xor)


def _refuse_handing_on(statement: Bind, facts: Mapping[str, Fact]) -> None:
    match statement.expression:
        case gast.Call(func=func, args=given) if any(object_of(func) is one for one in _HANDING_ON):
            known = any(_holds_dicts(facts.get(name, Unknown())) for name in names_read(*given))
            if known or any(isinstance(part, gast.Dict) for part in given):
                raise UnsupportedSyntax(
                    "NumPy gives a dict as it is here", statement.span, code="E0418", hint="write a | b"
                )


def _holds_dicts(fact: Fact | None) -> bool:
    """Whether this is a dict, or a list or tuple that holds one."""
    match fact:
        case MappingFact():
            return True
        case Sequence(items=items, item=item):
            return any(map(_holds_dicts, (item,) if items is None else items))
    return False


def _joined(statement: Bind, apply: Apply, facts: Mapping[str, Fact]) -> Bind | None:
    """``+`` or ``*`` of sequences as the function that it is; None of numbers and arrays."""
    if apply.function not in JOINING:
        return None
    arguments = list(apply.arguments.values())
    known = [facts.get(name, Unknown()) for argument in arguments for name in atoms(argument)]
    if not any(isinstance(fact, Sequence) for fact in known):
        return None
    if any(is_arithmetic(apply.function, fact) for fact in known):
        return None  # with an array
    function: Callable[..., object] = runtime.joined
    if apply.function is operator.mul:
        function = runtime.repeated
        if not (atoms(arguments[0]) and isinstance(facts.get(atoms(arguments[0])[0]), Sequence)):
            arguments.reverse()
    rule = lookup(function)
    assert rule is not None
    made = replace(statement, operation=Apply(rule, function, rule.bind(function, arguments, {})))
    if not any(isinstance(fact, Unknown) or _may_be_arithmetic(fact, apply) for fact in known):
        return made
    # With an array this would be arithmetic: the function looks.
    return replace(made, expression=call_runtime(function, *arguments))


def _counts(join: Bind, facts: Mapping[str, Fact]) -> list[tuple[str, Span]]:
    """How often a list is repeated: of an array the derivative would be lost."""
    assert isinstance(join.operation, Apply)
    if join.operation.function is not runtime.repeated:
        return []
    names = [name for argument in join.operation.arguments.values() for name in atoms(argument)]
    return [(name, join.span) for name in names if not isinstance(facts.get(name, Unknown()), Sequence)]


def _may_be_arithmetic(fact: Fact, apply: Apply) -> bool:
    """Whether ``*`` of this and a list may be NumPy's: that of an array, also of rank 0, and of no integer."""
    return apply.function is operator.mul and isinstance(fact, Array) and not fact.shape and not fact.scalar


def _read_by_places(statement: Statement) -> list[tuple[str, Span]]:
    """What a statement takes the items of by their places, where Python may have meant the keys of a dict."""
    match statement:
        case Bind(operation=Apply(function=made, arguments=given), span=span) if made is tuple or made is sum:
            return [(name, span) for argument in given.values() for name in atoms(argument)]
        case Bind(operation=Exchange(method="extend", arguments=added), span=span):
            return [(name, span) for argument in added for name in atoms(argument)]
        case Unpack(source=source, span=span):
            return [(source, span)]
        case For(index=place):
            found: dict[str, Span] = {}
            for part in statement.reading:
                match part:
                    case Bind(operation=Index(index=gast.Subscript())):
                        pass  # the key at a place
                    case Bind(operation=Index(base=base, index=index), span=span) if place in names_read(index):
                        found.setdefault(base, span)
            return list(found.items())
    return []


def _asked_of(statement: Statement) -> Iterator[str]:
    """The names whose class is asked for: a branch is for values of one kind, whatever is known of all."""
    match statement:
        case If(test=test) | Bind(operation=Fixed(), expression=test):
            for node in walk_expression(test):
                match node:
                    case gast.Call(func=GlobalReference(binding=binding), args=[gast.Name(id=name), _]):
                        if binding.value is isinstance:
                            yield name


def _may_be_keys(
    statement: Statement, name: str, span: Span, facts: Mapping[str, Fact], asked: frozenset[str]
) -> bool:
    """Whether only a check at run time can tell that ``name`` is no dict."""
    fact = facts.get(name, Unknown())
    if isinstance(fact, MappingFact) and name in asked:
        return True
    if isinstance(statement, Bind) and isinstance(statement.operation, Apply) and statement.operation.function is sum:
        return isinstance(fact, Unknown)  # the keys of a proved dict are followed by ``analysis.loss``
    if isinstance(fact, MappingFact) and isinstance(statement, For):
        hint = "write .items(), .values() or .keys()"
        raise UnsupportedSyntax("a loop over a dict goes over its keys", span, code="E0418", hint=hint)
    if isinstance(fact, MappingFact):
        raise UnsupportedSyntax(
            "a dict is taken apart into its keys", span, code="E0418", hint="write list(d), or d.values()"
        )
    return isinstance(fact, Unknown)


def _refuse_store(statement: Bind, facts: Mapping[str, Fact]) -> bool:
    """Whether the statement needs a check at run time."""
    fact = facts.get(statement.target, Unknown())
    if isinstance(fact, Static) or (isinstance(fact, Array) and fact.scalar):
        return False
    if isinstance(fact, Unknown) or (isinstance(fact, Array) and not fact.shape):
        return True
    raise UnsupportedSyntax(
        "an augmented assignment changes an array in place, and other names may see the change",
        statement.span, code="E0303",
        label=f"{statement.target} is an array here",
        hint=f"write {statement.target} = {statement.target} + …, which makes a new array",
    )


def _checked(block: Block, facts: Mapping[str, Fact], checks: _Checks) -> Block:
    made: list[Statement] = []
    for statement in block.statements:
        made += checks.get(statement, ())
        if isinstance(statement, Bind) and isinstance(statement.operation, Apply):
            statement = _joined(statement, statement.operation, facts) or statement
        if blocks_of(statement):
            statement = _with_blocks(statement, facts, checks)
        made.append(statement)
    return Block(tuple(made))


def _with_blocks(statement: Statement, facts: Mapping[str, Fact], checks: _Checks) -> Statement:
    match statement:
        case If(body=body, orelse=orelse):
            return replace(statement, body=_checked(body, facts, checks), orelse=_checked(orelse, facts, checks))
        case For(body=body, elements=elements):
            if any(part in checks for part in body.statements[:elements]):  # the names in a head are not all written
                return replace(statement, body=_checked(body, facts, checks), heading=None, elements=0)
            return replace(statement, body=_checked(body, facts, checks))
        case While(body=body) | With(body=body):
            return replace(statement, body=_checked(body, facts, checks))
    return statement


def _read_as_real(statement: Bind, made: Apply, facts: Mapping[str, Fact]) -> list[str]:
    """What may be a complex number of NumPy's, of which functions of ``math``, distributions and draws read the real
    part: its derivative has none.  Those that compute with operators keep it."""
    home, owner = getattr(made.function, "__module__", None), getattr(made.function, "__self__", None)
    if not (home in _READING_REALS or made.function is cmath.rect or isinstance(owner, np.random.RandomState)):
        return []
    if made.function in _WITH_OPERATORS:
        return []
    names = [name for argument in made.arguments.values() for name in atoms(argument)]
    known = {name: fact for name in names if isinstance(fact := facts.get(name), Array)}
    if any((fact.dtype or "").startswith("complex") for fact in known.values()):
        raise UnsupportedSyntax(
            "this function reads the real part of a complex number alone",
            statement.span,
            code="E0510",
            hint="write z.real",
        )
    return [name for name in names if name not in known or not (known[name].is_real or is_real(known[name].dtype))]


_READING_REALS = ("math", "scipy.stats._distn_infrastructure", "scipy.stats._multivariate")
_WITH_OPERATORS = frozenset({math.prod, getattr(math, "sumprod", math.prod)})


def _check(function: Callable[..., None], name: str, span: Span) -> Effect:
    return Effect(gast.Expr(call_runtime(function, _read(name), gast.Constant(span.origin, None))), span)


def _read(name: str) -> gast.expr:
    return gast.Name(name, gast.Load(), None, None)
