"""Sparse matrices: constants of which products with arrays are written as functions that have rules.

Enters: operators, attributes and methods of which an operand is a sparse matrix.  Leaves: the products of
``srcgrad.runtime.scipy.sparse``; constants, which are refused where what they are made of varies; a refusal for all
else.  What an array weighs is kept as the vector of its entries, beside the name of the matrix::

    A.T @ x              t = A.T;  product(t, x)
    W = A.multiply(x)    p = A;  W = entries(p, x)
    W @ v                spread_product(p, W, v)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NoReturn

import gast
import numpy as np

from srcgrad.errors import UnsupportedSyntax
from srcgrad.infer.data import is_data
from srcgrad.infer.sparse import CONSTANT_METHODS, is_matrix, is_weighed, may_be_matrix
from srcgrad.infer.values import Array, Bound, Exact, Of, Value
from srcgrad.ir import normal_form as nf
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Version
from srcgrad.ir.regions import Assign, blocks_of, operands_of, walk
from srcgrad.ir.restoring.pending import own_operands
from srcgrad.rules.table import load_library, lookup
from srcgrad.specialise.context import Context
from srcgrad.specialise.reduced import Reduced
from srcgrad.syntax.build import call, load, placed
from srcgrad.syntax.globals import importable, reference
from srcgrad.syntax.parse import walk as nodes_of

Made = tuple[gast.expr, nf.Operation]
_WHAT_WORKS = "A @ x, x @ A, A.dot(x), A.T, A.multiply(x), sums of matrices and spsolve(A, b) work; or pass A.toarray()"
_VARIES = "a sparse matrix depends on what is differentiated"
_WEIGHED = "a sparse matrix that depends on what is differentiated"
_FACTORS = "factors and entries of sparse matrices are constants: write s * (A @ x) instead of (s * A) @ x"
_CONSUMED = "sum it, multiply it by an array, or write .toarray(), and give it a name of its own"
#: What is done with a matrix that an array weighs.
_METHODS = ("sum", "toarray", "dot")


def _refuse(context: Context, what: str) -> NoReturn:
    raise UnsupportedSyntax(f"{what}: sparse matrices are constants", context.span, code="E0508", hint=_WHAT_WORKS)


def operated(context: Context, op: gast.AST, atoms: list[gast.expr], node: Any) -> Made | None:
    """An operator of which an operand is a sparse matrix; None of any other."""
    values = [context.value(operand) for operand in atoms]
    if not any(map(may_be_matrix, values)):
        return None
    if any(is_weighed(atom) for value in values for atom in value.atoms):
        if isinstance(op, gast.MatMult) and values[0].consists_of(is_weighed) and _are_arrays(values[1]):
            return _spread_product(context, node, atoms[0], atoms[1], node.left)
        _refuse_weighed(context, "is used in another way than by a sum or a product")
    if len(atoms) == 1 and values[0].consists_of(is_matrix):
        return _constant(context, placed(gast.UnaryOp(op, atoms[0]), node), node)
    if len(atoms) == 1:
        _refuse(context, "this operator on what may be a sparse matrix")
    places = [place for place in (0, 1) if values[place].consists_of(is_matrix)]
    others = [value for place, value in enumerate(values) if place not in places]
    if all(map(_are_numbers, others)) and places and (
        not others or isinstance(op, gast.Mult) or places == [0] and isinstance(op, gast.Div | gast.Pow)
    ):
        return _constant(context, placed(gast.BinOp(atoms[0], op, atoms[1]), node), node)
    if not others or not all(map(_are_arrays, others)) or not places:
        _refuse(context, "this operator on a sparse matrix")
    if isinstance(op, gast.Mult) and context.value(node).consists_of(is_weighed):
        return _entries(context, node, atoms[places[0]], atoms[1 - places[0]])
    are_products = {_is_product(atom) for atom in values[places[0]].atoms}
    if isinstance(op, gast.MatMult) or isinstance(op, gast.Mult) and are_products == {True}:
        rules = _rules()
        return _applied(rules.product if places == [0] else rules.product_left, atoms, node)
    _refuse(context, "this operator on a sparse matrix and an array")


def attribute(context: Context, node: gast.Attribute, base: gast.expr) -> Made:
    """``A.T``."""
    if context.value(node).is_any or not context.value(base).consists_of(is_matrix):
        _refuse(context, f"the attribute {node.attr!r} of a sparse matrix")
    return _constant(context, placed(gast.Attribute(base, node.attr, gast.Load()), node), node)


def method(
    context: Context, node: gast.Call, bound: Bound, take: Callable[[Context, Any], gast.expr]
) -> Made | None:
    """A method of a sparse matrix; None of any other.  ``take`` gives the name of an expression."""
    receiver, name = bound.receiver, bound.name
    if not may_be_matrix(receiver):
        return None
    is_alone = not node.args and not node.keywords
    if receiver.consists_of(is_weighed):
        held = take(context, node.func.value)
        if name == "sum" and is_alone:
            return _applied(np.sum, [held], node)
        if name == "toarray" and is_alone:
            return _applied(_rules().spread, [_pattern(context, node.func.value), held], node)
        if name == "dot" and len(node.args) == 1 and not node.keywords and _are_arrays(context.value(node.args[0])):
            return _spread_product(context, node, held, take(context, node.args[0]), node.func.value)
        _refuse_weighed(context, "is used in another way than by a sum or a product")
    if not receiver.consists_of(is_matrix) or context.value(node).is_any:
        _refuse(context, f"the method {name!r} of a sparse matrix")
    matrix = take(context, node.func.value)
    if name in ("dot", "multiply"):
        other = take(context, node.args[0])
        if context.value(node).consists_of(is_weighed):
            return _entries(context, node, matrix, other)
        if name == "dot" and _are_arrays(context.value(other)):
            return _applied(_rules().product, [matrix, other], node)
        if not (_are_numbers(context.value(other)) or context.value(other).consists_of(is_matrix)):
            _refuse(context, f"the method {name!r} of a sparse matrix")
        arguments = [other]
    elif name not in CONSTANT_METHODS:
        _refuse(context, f"the method {name!r} of a sparse matrix")
    else:
        arguments = [take(context, argument) for argument in node.args]
    made: Any = call(placed(gast.Attribute(matrix, name, gast.Load()), node), arguments, node)
    made.keywords = [placed(gast.keyword(k.arg, take(context, k.value)), k) for k in node.keywords]
    return _constant(context, made, node)


def made_by(
    context: Context, node: gast.Call, function: Any, settled: Callable[[Context, Any], gast.expr]
) -> Made | None:
    """A matrix that a function gives of constants: ``turned(A)``; None of any other call."""
    if not _is_of_sparse(function) or not context.value(node).consists_of(is_matrix):
        return None
    return _constant(context, settled(context, node), node)


def require_no_matrix(context: Context, function: Any, given: list[Any]) -> None:
    """Refuse a function whose rule is one of arrays."""
    if any(may_be_matrix(context.value(argument)) for argument in given) and not _is_of_sparse(function):
        _refuse(context, f"{getattr(function, '__name__', 'a function')} is given a sparse matrix")


def require_whole(context: Context, name: gast.Name) -> None:
    """Refuse, in what is computed as it is, a name that holds the entries of a matrix in its place."""
    if any(map(is_weighed, context.value(name).atoms)):
        _refuse_weighed(context, "decides what carries no derivative")


def misused(made: Reduced) -> str | None:
    """What is done with a matrix that an array weighs, which is kept as its entries, other than to sum or multiply it;
    None where nothing is."""
    exits = [made.function.body.exit]
    for _, statement in walk(made.function.body):
        exits += [block.exit for block in blocks_of(statement)]
        given = own_operands(statement)
        weighed = [each for each in given if any(map(is_weighed, made.value(each).atoms))]
        match statement:
            case _ if not weighed or isinstance(statement, Assign) and isinstance(statement.operation, ir.Copy):
                continue
            case Assign(operation=ir.Operator(symbol="@", operands=(first, _))) if weighed == [first]:
                continue
            case Assign(operation=ir.GetAttribute(name=name)) if name in _METHODS:
                continue
            case Assign(operation=ir.Call(function=function)) if weighed == [function]:
                continue
        return f"{_WEIGHED} is used in another way than by a sum or a product"
    if any(is_weighed(atom) for each in exits for one in operands_of(each) for atom in made.value(one).atoms):
        return f"{_WEIGHED} has the name of something else as well"
    return None


def _refuse_weighed(context: Context, what: str) -> NoReturn:
    raise UnsupportedSyntax(f"{_WEIGHED} {what}", context.span, code="E0508", hint=_CONSUMED)


def _constant(context: Context, made: gast.expr, node: Any) -> Made:
    """What is made of constants; refused where one of them varies."""
    value = context.value(node)
    if value.is_any or not value.atoms:
        _refuse(context, "this operator on a sparse matrix")
    refusal = UnsupportedSyntax(_VARIES, context.span, code="E0508", label="this varies", hint=_FACTORS)
    # Products have no adjoint of their matrix, so that its being of use says nothing: nothing of it may vary.
    given = tuple(dict.fromkeys(str(part.id) for part in nodes_of(made) if context.is_local(part)))
    return made, nf.Unruled(refusal, given=given)


def _rules() -> Any:
    """The products with sparse matrices; whoever has a sparse matrix has imported SciPy."""
    load_library("scipy.sparse._base")
    return importlib.import_module("srcgrad.runtime.scipy.sparse")


def _applied(function: Any, atoms: list[gast.expr], node: gast.AST) -> Made:
    rule = lookup(function)
    assert rule is not None
    made = call(reference(importable(function.__name__, function)), atoms, node)
    return made, nf.Apply(rule, function, rule.bind(function, atoms, {}))


def _entries(context: Context, node: Any, matrix: gast.expr, other: gast.expr) -> Made:
    """The entries of a matrix that an array weighs, which is kept under a name of its own."""
    version = getattr(node, "computes", None)
    if not isinstance(version, Version) or not isinstance(matrix, gast.Name):
        _refuse(context, "this product of a sparse matrix")
    pattern = context.fresh()
    context.out.append(nf.Bind(pattern, matrix, nf.Copy(matrix.id), context.span))
    context.patterns[version] = pattern
    return _applied(_rules().entries, [load(pattern, node), other], node)


def _spread_product(context: Context, node: Any, held: gast.expr, other: gast.expr, whole: Any) -> Made:
    return _applied(_rules().spread_product, [_pattern(context, whole), held, other], node)


def _pattern(context: Context, whole: Any) -> gast.expr:
    """The name of the matrix whose entries a version holds: the same in each round, since a version has one origin."""
    version = getattr(whole, "version", getattr(whole, "computes", None))
    copied = {
        statement.targets[0]: statement.operation.source
        for _, statement in walk(context.reduced.function.body)
        if isinstance(statement, Assign) and isinstance(statement.operation, ir.Copy) and len(statement.targets) == 1
    }
    while version not in context.patterns and version in copied:
        version = copied[version]
    if version not in context.patterns:
        _refuse_weighed(context, "has the name of something else as well")
    return load(context.patterns[version], whole)


def _is_product(atom: Any) -> bool:
    """Whether ``*`` is the product of matrices."""
    return issubclass(atom.site.kind, importlib.import_module("scipy.sparse").spmatrix)


def _are_arrays(value: Value) -> bool:
    return value.consists_of(lambda atom: isinstance(atom, Array) and atom.rank != 0 or is_data(atom))


def _are_numbers(value: Value) -> bool:
    return value.consists_of(lambda atom: isinstance(atom, Of | Exact))


def _is_of_sparse(function: object) -> bool:
    """Whether a function is one of the products with sparse matrices, whose results are arrays."""
    module = str(getattr(function, "__module__", ""))
    return module == "srcgrad.runtime.scipy.sparse" or module.startswith("scipy.sparse.linalg")
