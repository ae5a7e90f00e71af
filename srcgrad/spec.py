"""What each door of the compiler may contain, as checks that the tests run with.

Enters: the normal form of a function, or the trees that are about to be printed.  Leaves: nothing, or ``InternalError``
that names the rule and the statement.  ``ir/normal_form.py`` and ``ARCHITECTURE.md`` say the same in words.  The
checks run when ``SRCGRAD_CHECK=1`` is in the environment, and inside ``programs.options(check=True)``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import gast

from srcgrad import runtime
from srcgrad.analysis.cfg import blocks_of, bound_here, walk
from srcgrad.analysis.references import Decision, Hidden, Reference
from srcgrad.errors import InternalError, Span, SrcgradError
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    Apply,
    AugStore,
    Bind,
    Block,
    Break,
    Call,
    Continue,
    Copy,
    Effect,
    For,
    Function,
    If,
    Index,
    Pack,
    Pop,
    Return,
    Statement,
    Store,
    Unpack,
    Unruled,
    While,
    With,
)
from srcgrad.optimize.effects import IN_PLACE
from srcgrad.rules.formula import is_number, object_of
from srcgrad.rules.table import is_constant, lookup, refusal
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import names_bound, names_read, parameters_of
from srcgrad.syntax.parse import walk as nodes_of
from srcgrad.transform.control import PassHead

EXITS = (Break, Continue, Return)
PLACEHOLDERS = (Reference, Hidden, Decision, PassHead)
#: What never stands inside an expression of the normal form: the fence refuses it or desugaring takes it apart.
NEVER = (gast.NamedExpr, gast.Yield, gast.YieldFrom, gast.Await, *PLACEHOLDERS)
#: The statements of generated code.
EMITTED = (
    gast.Assign, gast.AugAssign, gast.Expr, gast.If, gast.For, gast.While, gast.With, gast.Return, gast.Assert,
    gast.Raise, gast.Pass, gast.Break, gast.Continue, gast.Delete, Comment,
)  # fmt: skip


# --- the normal form -------------------------------------------------------------------------------------------------
def check_normal_form(function: Function, after: str = "normalize") -> None:
    """Raise ``InternalError`` unless ``function`` keeps to what ``ir/normal_form.py`` declares, ``after`` a pass."""
    for fault, span in _faults(function):
        raise InternalError(f"{function.name} is not in normal form: {fault}", span, stage=after, door=_text(function))


def _text(function: Function) -> str | None:
    """The program as text, if what is broken can be printed."""
    try:
        return str(function)
    except Exception:
        return None


def _faults(function: Function) -> Iterator[tuple[str, Span]]:
    yield from ((fault, function.span) for fault in _heading(function))
    bound = {*function.parameters, *(name for s in walk(function.body) for name in _bound(s))}
    times = Counter(walk(function.body))
    yield from (("a statement stands in two places", s.span) for s, count in times.items() if count > 1)
    pending: list[tuple[Block, bool]] = [(function.body, False)]
    while pending:
        block, in_loop = pending.pop()
        for statement in block.statements:
            span = statement.span
            if isinstance(statement, Break | Continue) and not in_loop:
                yield "an exit of a loop stands outside of loops", span
            if isinstance(statement, EXITS) and statement is not block.statements[-1]:
                yield "statements follow an exit", span
            for fault in _statement(statement, function):
                yield fault, span
            for name in _read(statement):
                if name not in bound:
                    yield f"{name} is read and never bound", span
            inside = in_loop or isinstance(statement, For | While)
            pending.extend((inner, inside) for inner in blocks_of(statement))


def _heading(function: Function) -> Iterator[str]:
    parameters = function.parameters
    if len(set(parameters)) < len(parameters):
        yield "two parameters have one name"
    special = {function.variadic, function.keywords} - {None}
    for name in (*special, *function.keyword_only, *function.defaults, *function.captured):
        if name not in parameters:
            yield f"{name} is no parameter"
    if function.captured and parameters[-len(function.captured) :] != function.captured:
        yield "captured variables are not the last parameters"


def _statement(statement: Statement, function: Function) -> Iterator[str]:
    for expression in _expressions(statement):
        for node in nodes_of(expression):
            if isinstance(node, NEVER):
                yield f"a {type(node).__name__} stands in an expression"
    match statement:
        case Bind():
            yield from _bind(statement)
        case Unpack(targets=targets, star=star):
            if star is not None and not 0 <= star < len(targets):
                yield f"no target {star} to unpack the rest into"
        case Append(value=value):
            yield from _atomic([value], "appended")
        case Pop(targets=targets, tupled=tupled):
            if not tupled and len(targets) != 1:
                yield "one popped value goes to one name"
        case AddAt(value=value):
            if not function.generated and statement.function is None:
                yield "a user's program stores into a buffer"
            yield from _atomic([value], "added to a buffer")
        case Store(value=value) | AugStore(value=value):
            yield from _atomic([value], "stored", displays=False)
        case Effect(statement=inner):
            if not isinstance(inner, gast.Expr | gast.Assert | gast.Raise | gast.Pass):
                yield f"a {type(inner).__name__} is kept for its effect"
        case For(iterable=iterable, counted=counted, heading=heading, elements=elements, body=body):
            if counted and not (isinstance(iterable, gast.Call) and object_of(iterable.func) is range):
                yield "a counted loop runs over a range"
            if elements > len(body.statements) or (elements and heading is None):
                yield "a loop reads more elements than its body has statements, or has no heading"
        case With(items=items):
            if not items or any(not isinstance(item, gast.withitem) for item in items):
                yield "a with statement has no items"
        case Return(value=value):
            yield from _atomic([value], "returned", displays=False)


def _bind(statement: Bind) -> Iterator[str]:
    expression = statement.expression
    left = getattr(expression, "left", None)
    if statement.inplace and not (isinstance(left, gast.Name) and left.id == statement.target):
        yield "what is computed in place is not what is bound"
    match statement.operation:
        case Copy(source=source, of=of):
            if of:
                expression = expression.args[0] if isinstance(expression, gast.Call) and expression.args else expression
            if not isinstance(expression, gast.Name) or expression.id != source:
                yield "a copy does not print as the name that it copies"
        case Apply(rule=rule, function=called, arguments=arguments):
            if lookup(called) is not rule:
                yield f"the rule {rule.name} is not that of its function"
            for parameter, argument in arguments.items():
                if parameter not in (*rule.parameters, *rule.options):
                    yield f"the rule {rule.name} has no parameter {parameter}"
                elif parameter in rule.sensitive and not is_number(argument):
                    yield from _atomic([argument], f"given to {rule.name}")
        case Call(arguments=arguments):
            yield from _atomic(arguments, "given to a function")
        case Index(base=base):
            match expression:
                case gast.Subscript(value=gast.Name(id=name)) if name == base:
                    pass
                case _:
                    yield f"an element of {base} does not print as one"
        case Pack(kind=kind, elements=elements, keys=keys):
            if kind not in ("tuple", "list", "dict", "object"):
                yield f"there is no display {kind}"
            if len(keys) != (len(elements) if kind in ("dict", "object") else 0):
                yield "keys and elements of a display do not pair"
            yield from _atomic(elements, f"in a {kind}", displays=False)
        case Unruled(refusal=refusal):
            if not isinstance(refusal, SrcgradError):
                yield "a call without a rule has no refusal"


def _atomic(expressions: Iterable[gast.expr], where: str, *, displays: bool = True) -> Iterator[str]:
    """Differentiable operands are local names or constants, or displays of these."""
    for expression in expressions:
        if displays and isinstance(expression, gast.Tuple | gast.List):
            yield from _atomic(expression.elts, where)
        elif not isinstance(expression, gast.Name | gast.Constant):
            yield f"a {type(expression).__name__} is {where}, not an atom"


def _expressions(statement: Statement) -> tuple[gast.AST, ...]:
    """The trees on a statement's own line."""
    match statement:
        case Bind(expression=expression, operation=operation):
            arguments = tuple(operation.arguments.values()) if isinstance(operation, Apply) else ()
            return (expression, *arguments)
        case Append(value=value) | Return(value=value):
            return (value,)
        case AddAt(index=index, value=value) | Store(index=index, value=value) | AugStore(index=index, value=value):
            return (index, value)
        case Effect(statement=inner):
            return (inner,)
        case If(test=test) | While(test=test):
            return (test,)
        case For(iterable=iterable):
            return (iterable,)
        case With(items=items):
            return items
    return ()


def _read(statement: Statement) -> list[str]:
    names = names_read(*_expressions(statement))
    match statement:
        case Unpack(source=name) | Append(sequence=name) | Pop(sequence=name) | AddAt(buffer=name):
            names.append(name)
        case Store(base=name) | AugStore(base=name):
            names.append(name)
    return names


def _bound(statement: Statement) -> Iterator[str]:
    yield from bound_here(statement)
    if isinstance(statement, With):
        yield from names_bound(*statement.items)


# --- emitted functions -----------------------------------------------------------------------------------------------
def check_emitted(functions: Sequence[gast.FunctionDef]) -> None:
    """Raise ``InternalError`` unless the trees are complete, closed, and made of what the fence lets in again."""
    siblings = {function.name for function in functions}
    for function in functions:
        for fault, node in _faults_emitted(function, siblings):
            span = getattr(node, "span", None)
            raise InternalError(f"{function.name} cannot be emitted: {fault}", span, stage="emit")


def check_lines(text: str, above: int, places: Mapping[int, Span], roles: Mapping[int, str]) -> None:
    """Raise ``InternalError`` unless every line below the first ``above`` has a place in the user's file and a role."""
    for number, line in enumerate(text.split("\n"), 1):
        if number > above and line and not (number in places and number in roles):
            raise InternalError(f"no place or role for the line {line.strip()!r}", stage="emit", door=text)


def _faults_emitted(function: gast.FunctionDef, siblings: set[str]) -> Iterator[tuple[str, gast.AST]]:
    bound = set(siblings) | parameters_of(function.args) | names_bound(*function.body)
    pending: list[gast.stmt] = list(function.body)
    while pending:
        statement = pending.pop()
        if not isinstance(statement, EMITTED):
            yield f"a {type(statement).__name__} is no statement of generated code", statement
            continue
        own: list[gast.AST] = []
        for name in statement._fields:
            value = getattr(statement, name, None)
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, gast.stmt):
                    pending.append(part)
                elif isinstance(part, gast.AST):
                    own.append(part)
        for node in nodes_of(*own):
            if isinstance(node, PLACEHOLDERS):
                yield f"the placeholder {type(node).__name__} is left", statement
            elif isinstance(node, gast.Call) and not isinstance(statement, gast.Raise | gast.Assert):
                yield from ((fault, statement) for fault in _callee(node))
        for name in names_read(*own):
            if name not in bound:
                yield f"{name} is read and never bound", statement


def _callee(node: gast.Call) -> Iterator[str]:
    """Whatever is called by a global name exists; of the runtime, it has a rule or carries no derivative.

    A user's own callee without a rule may stand where no derivative passes: that is for the adjoint to refuse.
    """
    function = object_of(node.func)
    if function is None:
        if isinstance(node.func, GlobalReference) or _is_dotted_global(node.func):
            yield f"{gast.dump(node.func)} names nothing"
        return
    if not callable(function):
        yield f"{function!r} is called"
    name = getattr(function, "__name__", None)
    if name is not None and getattr(runtime, name, None) is function and name not in IN_PLACE:
        if lookup(function) is None and not is_constant(function) and refusal(function) is None:
            yield f"srcgrad.runtime.{name} has no rule"


def _is_dotted_global(node: gast.AST) -> bool:
    while isinstance(node, gast.Attribute):
        node = node.value
    return isinstance(node, GlobalReference)
