"""Small local functions are written out where they are called.

Enters: ``Function``, and the normal form of any callee.  Leaves: the same function without the calls of local
functions that are straight lines: a ``def`` or ``lambda`` inside the differentiated function cannot stand in the
emitted module as it is (it reads its surroundings), and a pair for two multiplications costs more than they do::

    def rhs(u):                         t = k * u
        return k * u           →        y = t + u
    y = rhs(u) + u

Every inlined statement keeps the span of the line it comes from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import gast

from srcgrad.errors import Span
from srcgrad.frontend.normal_form import (
    AugStore,
    Bind,
    Block,
    Call,
    Callee,
    Copy,
    Fixed,
    For,
    Function,
    If,
    LocalFunction,
    Operation,
    Pack,
    Return,
    Statement,
    Store,
    Unpack,
    While,
    With,
)
from srcgrad.frontend.renaming import renamed, renamed_expression
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone, walk

WRITTEN_OUT = (Bind, Unpack, Store, AugStore)  # the statements of a straight line
LONGEST = 16  # statements of a callee that is written out
MOST = 400  # statements that one function may grow by


def inline_local_functions(function: Function, normal_form_of: Callable[[Callee], Function | None]) -> Function:
    """``normal_form_of`` gives None for a callee that is being worked out already (recursion)."""
    inliner = _Inliner(function, normal_form_of)
    body = inliner.block(function.body)
    if not inliner.grown:
        return function
    return replace(function, body=body, temporaries=function.temporaries | inliner.made)


class _Inliner:
    def __init__(self, function: Function, normal_form_of: Callable[[Callee], Function | None]) -> None:
        self.normal_form_of = normal_form_of
        self.namer = Namer([*function.parameters, *_names(function.body)])
        self.reads = _reads(function.body)
        self.temporaries = function.temporaries
        self.made: frozenset[str] = frozenset()
        self.grown = 0

    def block(self, block: Block) -> Block:
        made: list[Statement] = []
        statements = list(block.statements)
        j = 0
        while j < len(statements):
            statement = statements[j]
            following = statements[j + 1] if j + 1 < len(statements) else None
            body = self._body(statement)
            if body is not None and isinstance(statement, Bind):
                unpacked = self._unpacks(statement, following)
                made += self._written_out(statement, body, following if unpacked else None)
                j += 2 if unpacked else 1
                continue
            made.append(self._inside(statement))
            j += 1
        return Block(tuple(made)) if made != statements else block

    def _inside(self, statement: Statement) -> Statement:
        match statement:
            case If(body=body, orelse=orelse):
                first, second = self.block(body), self.block(orelse)
                changed = first is not body or second is not orelse
                return replace(statement, body=first, orelse=second) if changed else statement
            case For(body=body) | While(body=body) | With(body=body):
                inner = self.block(body)
                return replace(statement, body=inner) if inner is not body else statement
        return statement

    def _body(self, statement: Statement) -> Function | None:
        """The callee's normal form, if this statement calls a straight-line local function."""
        match statement:
            case Bind(operation=Call(callee=callee)) if isinstance(callee.function, LocalFunction):
                function = self.normal_form_of(callee)
            case _:
                return None
        if function is None or self.grown + len(function.body.statements) > MOST:
            return None
        *lines, last = function.body.statements or (None,)
        straight = all(isinstance(s, WRITTEN_OUT) and not getattr(s, "inplace", False) for s in lines)
        if straight and isinstance(last, Return) and 0 < len(lines) <= LONGEST:
            return function
        return None

    def _unpacks(self, statement: Bind, following: Statement | None) -> bool:
        """Whether the result goes straight into names, so that no tuple need be made."""
        return (
            isinstance(following, Unpack)
            and following.source == statement.target
            and following.star is None
            and statement.target in self.temporaries
            and self.reads.get(statement.target) == 1
        )

    def _written_out(self, statement: Bind, callee: Function, unpack: Statement | None) -> list[Statement]:
        made = statement.operation
        assert isinstance(made, Call)
        code: list[Statement] = []
        bound = {name for line in callee.body.statements for name in _binds(line)}
        names: dict[str, str] = {}
        for parameter, argument in zip(callee.parameters, made.arguments, strict=True):
            is_name = isinstance(argument, gast.Name) and not isinstance(argument, GlobalReference)
            if is_name and parameter not in bound:
                names[parameter] = argument.id
                continue
            names[parameter] = fresh = self._fresh(parameter)
            operation: Operation = Copy(argument.id) if is_name else Fixed()
            code.append(Bind(fresh, clone(argument), operation, statement.span))
        for name in sorted(bound - set(callee.parameters)):
            names[name] = self._fresh(name)
        *lines, last = callee.body.statements
        assert isinstance(last, Return)
        self.grown += len(lines)
        code += [renamed(line, names) for line in lines]
        return code + self._results(statement, renamed_expression(last.value, names), code, unpack)

    def _results(
        self, statement: Bind, value: gast.expr, code: list[Statement], unpack: Statement | None
    ) -> list[Statement]:
        """Bind the result under the names that the caller has for it."""
        tail = code[-1]
        if isinstance(unpack, Unpack):
            match tail:
                case Bind(target=made, operation=Pack(kind="tuple", elements=elements)) if (
                    isinstance(value, gast.Name) and made == value.id and len(elements) == len(unpack.targets)
                ):
                    code.pop()
                    return self._bound_together(unpack, elements)
            return [*self._results(statement, value, code, None), unpack]
        if isinstance(tail, Bind) and isinstance(value, gast.Name) and tail.target == value.id:
            code[-1] = replace(tail, target=statement.target)
            return []
        return [_copied(statement.target, value, statement.span)]

    def _bound_together(self, unpack: Unpack, elements: tuple[gast.expr, ...]) -> list[Statement]:
        """``a, b = x, y`` reads every value before it binds any name."""
        code: list[Statement] = []
        late: list[Statement] = []
        for j, (target, element) in enumerate(zip(unpack.targets, elements, strict=True)):
            read_later = any(isinstance(e, gast.Name) and e.id == target for e in elements[j + 1 :])
            if read_later:
                held = self._fresh(target)
                code.append(_copied(held, element, unpack.span))
                late.append(_copied(target, gast.Name(held, gast.Load(), None, None), unpack.span))
            else:
                code.append(_copied(target, element, unpack.span))
        return code + late

    def _fresh(self, name: str) -> str:
        fresh = self.namer.fresh(name)
        self.made |= {fresh}
        return fresh


def _copied(target: str, value: gast.expr, span: Span) -> Bind:
    is_name = isinstance(value, gast.Name) and not isinstance(value, GlobalReference)
    return Bind(target, clone(value), Copy(value.id) if is_name else Fixed(), span)


def _binds(line: Statement) -> tuple[str, ...]:
    match line:
        case Bind(target=target):
            return (target,)
        case Unpack(targets=targets):
            return targets
        case AugStore(part=part, result=result):
            return (part, result)
    return ()


def _statements(block: Block) -> list[Statement]:
    found: list[Statement] = []
    pending = [block]
    while pending:
        for statement in pending.pop().statements:
            found.append(statement)
            pending += [v for v in vars(statement).values() if isinstance(v, Block)]
    return found


def _names(block: Block) -> list[str]:
    """Every name that the statements mention."""
    found: dict[str, None] = {}
    for statement in _statements(block):
        for value in vars(statement).values():
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, str):
                    found[part] = None
                elif isinstance(part, gast.AST):
                    found.update((n.id, None) for n in walk(part) if isinstance(n, gast.Name))
    return list(found)


def _reads(block: Block) -> dict[str, int]:
    """How often each name is read."""
    counts: dict[str, int] = {}
    for statement in _statements(block):
        parts: list[object] = [v for v in vars(statement).values() if not isinstance(v, Block)]
        for part in [p for v in parts for p in (v if isinstance(v, tuple) else (v,))]:
            if isinstance(part, gast.AST):
                for node in walk(part):
                    if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load):
                        counts[node.id] = counts.get(node.id, 0) + 1
        if isinstance(statement, Unpack):
            counts[statement.source] = counts.get(statement.source, 0) + 1
    return counts
