"""How the text of a reverse sweep names what it reads, before anything is planned.

A ``Reference`` is a version of a primal value, a ``Hidden`` something that the forward sweep keeps for the compiler, a
``Decision`` a test that is asked again.  All are leaves; ``transform.adjoint`` replaces them when the plan stands.
"""

from __future__ import annotations

import gast

from srcgrad.ir.normal_form import Bind, Block, Statement
from srcgrad.language.members import SHAPES
from srcgrad.rules.formula import object_of
from srcgrad.rules.reading import SHAPE_ATTRIBUTES, shape_positions
from srcgrad.rules.rewriting import rebuilt
from srcgrad.rules.table import is_constant
from srcgrad.syntax.globals import LOAD, GlobalReference
from srcgrad.syntax.parse import children, names_read, walk


class Reference(gast.Name):
    """A read of a primal value by the reverse sweep: the version of ``id`` just before ``position`` of ``block``."""

    block: Block
    position: int
    shape_only: bool


class Hidden(gast.Name):
    """A read of a value that the forward sweep keeps for the compiler: a trip count, or what a call saved."""

    owner: Statement
    role: str  # "passes" | "saved" | "iterable" | "mask", "mask1" ...


class Decision(gast.Name):
    """The test of a statement, as the reverse sweep asks it again."""

    owner: Statement


def reference(name: str, block: Block, position: int, *, shape_only: bool = False) -> Reference:
    node = Reference(name, LOAD, None, None)
    node.block, node.position, node.shape_only = block, position, shape_only
    return node


def mark_shapes(*trees: gast.AST) -> None:
    """Mark what the text of a rule reads for its shape alone."""
    for node in walk(*trees):
        match node:
            case gast.Call(func=function, args=arguments):
                read = [arguments[j] for j in shape_positions(object_of(function)) if j < len(arguments)]
            case gast.Attribute(value=value, attr=attr) if attr in SHAPE_ATTRIBUTES:
                read = [value]
            case _:
                continue
        for each in read:
            if isinstance(each, Reference):
                each.shape_only = True


class Backward(gast.Name):
    """The backward half of a call that is given shadows, before it is known what it has to restore."""

    owner: Bind


def backward(owner: Bind) -> Backward:
    node = Backward("backward", gast.Load(), None, None)
    node.owner = owner
    return node


def hidden(owner: Statement, role: str) -> Hidden:
    node = Hidden(role, gast.Load(), None, None)
    node.owner, node.role = owner, role
    return node


def decision(owner: Statement) -> Decision:
    node = Decision("test", gast.Load(), None, None)
    node.owner = owner
    return node


def referring(expression: gast.expr, block: Block, position: int) -> gast.expr:
    """A copy of a forward expression in which every local name is a ``Reference`` to its version there."""
    made: gast.expr = rebuilt(
        expression, lambda node: reference(node.id, block, position) if type(node) is gast.Name else None
    )
    return made


CHEAP = (
    gast.BinOp | gast.UnaryOp | gast.BoolOp | gast.Compare | gast.Constant | gast.Subscript | gast.Slice | gast.Tuple
    | gast.Name | gast.Attribute | gast.operator | gast.unaryop | gast.boolop | gast.cmpop | gast.expr_context
)  # fmt: skip


def is_cheap(expression: gast.AST) -> bool:
    """Whether asking again costs no more than recording: few nodes, no calls but ``len``, ``range``, ``reversed``."""
    nodes = list(walk(expression))
    for node in nodes:
        if isinstance(node, gast.Call):
            if not (isinstance(node.func, GlobalReference) and node.func.binding.value in (len, range, reversed)):
                return False
        elif not isinstance(node, CHEAP):
            return False
    return len([n for n in nodes if isinstance(n, gast.expr)]) <= 12


def is_truth(test: gast.expr) -> bool:
    """Whether the answer to a test is the value of it for good; an object that it is the truth of may change later."""
    match test:
        case gast.BoolOp(values=values):
            return all(is_truth(value) for value in values)
        case gast.Call(func=GlobalReference() as function):
            return function.binding.value in (bool, callable, hasattr, isinstance, issubclass)
    return isinstance(test, gast.Compare | gast.Constant) or (
        isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not)
    )


def local_names(expression: gast.AST) -> list[gast.Name]:
    """The nodes of an expression that name locals."""
    return [n for n in walk(expression) if isinstance(n, gast.Name) and not isinstance(n, GlobalReference)]


def names_mentioned(statement: object) -> list[str]:
    """Every name that a statement itself mentions, locals and globals alike."""
    found: list[str] = []
    for value in vars(statement).values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, str):
                found.append(part)
            elif isinstance(part, gast.AST):
                found += [n.id for n in walk(part) if isinstance(n, gast.Name)]
    return found


def names_carrying(*roots: gast.AST) -> list[str]:
    """The local names through which a derivative may reach what stays nested: not those that are read for a shape, in
    a test, or by a function whose value has none."""
    found: dict[str, None] = {}
    pending = list(roots)
    while pending:
        node = pending.pop()
        match node:
            case gast.Attribute(value=gast.Name(), attr=attr) if attr in SHAPES:
                continue
            case gast.Call(func=func) if any((function := object_of(func)) is one for one in _SIZES) or is_constant(
                function
            ):
                continue
            case gast.Compare() | GlobalReference():
                continue
            case gast.Name() | gast.Lambda() | gast.ListComp() | gast.SetComp() | gast.GeneratorExp() | gast.DictComp():
                found.update(dict.fromkeys(names_read(node)))
                continue
        pending += children(node)
    return list(found)


_SIZES = (isinstance, issubclass, len, range, type)
