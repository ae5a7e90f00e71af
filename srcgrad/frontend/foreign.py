"""Values whose class decides what operators mean: sparse matrices, which are constants, and what is refused.

Enters: statements as they are written, operators, attributes and methods whose operand is known to be of such a
class.  Leaves: the products of ``srcgrad.runtime.scipy.sparse``; constants, of which the class is
found by running the same on a tiny matrix; a refusal for all else::

    A.T @ x              t = A.T;  product(t, x)
    2.0 * A - B          constants
    A.multiply(x).sum()  t = entries(A, x);  np.sum(t)
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Iterator
from functools import cached_property
from types import ModuleType
from typing import Any, cast

import gast
import numpy as np

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.callees import spelled
from srcgrad.frontend.classed import Foreign, Weighted
from srcgrad.frontend.desugar.build import call, call_runtime, constant, placed
from srcgrad.frontend.generated import Generated
from srcgrad.frontend.handing import is_of_sparse
from srcgrad.frontend.known import DATA, Known, choices_of, classes_in
from srcgrad.frontend.meeting import known_of
from srcgrad.frontend.normal_form import (
    Apply,
    Bind,
    Copy,
    Fixed,
    Operation,
    Statement,
    Unruled,
)
from srcgrad.frontend.scope import importable
from srcgrad.frontend.uses import CONSTANT_ATTRIBUTES, bound, described, names_in, operands_of
from srcgrad.rules.formula import literal
from srcgrad.rules.memory import LIBRARIES, home_of
from srcgrad.rules.table import load_library, lookup, operator_of
from srcgrad.rules.template import Rule
from srcgrad.runtime.exact import gives_once, is_sparse, named, refused_kind, require_exact
from srcgrad.syntax.globals import GlobalReference, reference
from srcgrad.syntax.parse import names_read, walk

Made = tuple[gast.expr, Operation]

_WHAT_WORKS = "A @ x, x @ A, A.dot(x), A.T, A.multiply(x), sums of matrices and spsolve(A, b) work; or pass A.toarray()"
#: Methods of a sparse matrix that are constants.
_CONSTANT_METHODS = frozenset(
    """transpose conj conjugate copy toarray diagonal sum mean trace tocsr tocsc tocoo todia tobsr todok tolil asformat
    astype power getnnz count_nonzero max min todense getH""".split()
)
#: NumPy's modules and functions that make arrays of other classes.
_MAKERS = (np.matrix, np.asmatrix, np.bmat)
_MAKING = ("numpy.ma", "numpy.matlib", "numpy.rec", "numpy.char", "numpy.matrixlib")
_TRUSTED = LIBRARIES | {"srcgrad"}
_PREDICATES = frozenset("isMaskedArray isMA isarray is_masked".split())


_ASKS_SPARSE = frozenset({"issparse", "isspmatrix"})
_OUTSIDE = "make sparse matrices outside of the function, or of arrays by np.zeros and stores; " + _WHAT_WORKS


_DEPENDS = "a sparse matrix that depends on what is differentiated"
_CONSUMED = "sum it, multiply it by an array, or write .toarray(), and give it a name of its own"


class ForeignValues(Generated):
    """What is computed with values whose class decides what operators mean."""

    numbers: frozenset[str]  # the parameters that are certainly numbers

    @cached_property
    def sums(self) -> list[Operation]:
        """The sums of what has the entries of a sparse matrix, as they are written."""
        return []

    # --- what is refused ---------------------------------------------------------------------------------------------
    def noted(self, statement: Statement) -> None:
        super().noted(statement)
        if self.source.generated:
            return
        for name in bound(statement):
            known = self.table.of(name)
            self._refuse_inexact(known, statement)
            weighted = [each for each in self.table.bound.get(name, ()) if isinstance(each, Weighted)]
            if any(each != known for each in weighted):
                raise self._depends("has the name of something else as well", statement)
        made = statement.operation if isinstance(statement, Bind) else None
        if isinstance(made, Unruled) and made.makes is not None:
            return
        for atom in operands_of(statement):
            known = self.table.resolved(self.known_atom(atom))
            self._refuse_inexact(known, statement)
            if any(isinstance(c, Foreign) and is_sparse(c.kind) for c in choices_of(known)):
                raise self._missing(described(statement), statement)
        is_ours = isinstance(made, Apply) and (is_of_sparse(made.function) or made in self.sums)
        if not (isinstance(made, Copy) or is_ours):
            for name in names_in(statement):
                if any(isinstance(c, Weighted) for c in choices_of(self.table.of(name))):
                    raise self._depends("is used in another way than by a sum or a product", statement)

    def nested(self, node: gast.expr) -> gast.expr:
        self._refuse_iterators(node)
        expression = super().nested(node)
        if any(isinstance(c, Weighted) for name in names_read(expression) for c in choices_of(self.table.of(name))):
            raise self.refuse(node, f"{_DEPENDS} decides what carries no derivative", _CONSUMED)
        return expression

    def _refuse_iterators(self, node: gast.expr) -> None:
        before, self.relied = self.relied, {}  # these facts decide nothing
        try:
            for asked in _asked_for_items(node):
                known = self.peek(asked)
                if isinstance(known, Foreign) and gives_once(known.kind):
                    reason, hint = cast("tuple[str, str]", refused_kind(known.kind))
                    raise self.refuse(asked, f"this is {reason}", hint)
        finally:
            self.relied = before

    def _depends(self, what: str, statement: Statement) -> UnsupportedSyntax:
        return UnsupportedSyntax(f"{_DEPENDS} {what}", statement.span, hint=_CONSUMED)

    def _refuse_inexact(self, known: Known, statement: Statement) -> None:
        for kind in classes_in(known, self.table.resolved) if not isinstance(known, Weighted) else ():
            refused = refused_kind(kind)
            if refused is not None and isinstance(known, Foreign):
                raise UnsupportedSyntax(f"this is {refused[0]}", statement.span, label="used here", hint=refused[1])

    def _missing(self, what: str, statement: Statement) -> UnsupportedSyntax:
        return UnsupportedSyntax(f"{what}: sparse matrices are constants", statement.span, hint=_WHAT_WORKS)

    def _refuse(self, node: gast.AST, what: str) -> UnsupportedSyntax:
        return self.refuse(node, f"{what}: sparse matrices are constants", _WHAT_WORKS)

    def admit_call(self, node: gast.Call) -> bool:
        static = self.scope.static_of(node.func)
        if static is not None:
            self._refuse_making(node) if isinstance(node.func, gast.Call) else self._refuse_makers(node, static.value)
        return super().admit_call(node)

    def call(self, node: gast.Call) -> Made:
        static = self.scope.static_of(node.func)
        if static is not None:
            self._refuse_makers(node, static.value)
        expression, operation = super().call(node)
        if static is not None and isinstance(operation, Fixed | Unruled) and isinstance(expression, gast.Call):
            function = static.value
            if not self.source.generated and home_of(function) not in _TRUSTED and not isinstance(function, type):
                place = f"what {spelled(node.func)} gives, {self.source.span(node).origin},"
                expression = call_runtime(require_exact, [expression, constant(place, node)], node)
        return expression, operation

    def _refuse_makers(self, node: gast.Call, function: object) -> None:
        """Refuse, in what a user wrote, calls that make arrays whose class decides what operators mean."""
        if home_of(self.source.function) in ("numpy", "scipy") or self.source.generated:
            return
        module = str(getattr(function, "__module__", None) or "")
        made = module.startswith(_MAKING) and getattr(function, "__name__", "") not in _PREDICATES
        sparse = module.startswith("scipy.sparse") and lookup(function) is None and not isinstance(function, type)
        if sparse and getattr(function, "__name__", "") not in _ASKS_SPARSE:
            name = getattr(function, "__name__", type(function).__name__)
            raise self.refuse(node, f"there is no derivative rule for {name} of scipy.sparse", _OUTSIDE)
        if made or any(function is each for each in _MAKERS):
            name = getattr(function, "__name__", type(function).__name__)
            reason = f"{name} makes an array of a class that decides what operators mean: it has no derivative"
            raise self.refuse(node, reason, "make a plain array: np.asarray(...), and masks with np.where")

    def known_truth(self, test: gast.expr) -> bool | None:
        match test:
            case gast.Call(func=func, args=[subject], keywords=[]):
                static = self.scope.static_of(func)
                asked = "" if static is None else getattr(static.value, "__name__", "")
                if asked == "issparse" and self._sparse(self.peek(subject)) is not None:
                    return True
        return super().known_truth(test)

    def handed_out(self, atom: gast.expr, rule: Rule, function: object, node: gast.expr) -> gast.expr:
        if any(isinstance(c, Foreign) for c in choices_of(self.known_atom(atom))) and not is_of_sparse(function):
            raise self._refuse(node, f"{rule.name} is given a sparse matrix")
        return super().handed_out(atom, rule, function, node)

    # --- sparse matrices ---------------------------------------------------------------------------------------------
    def _sparse(self, known: Known) -> type | None:
        """The class of a sparse matrix, where all that a value may be are of one; None of any other value."""
        kinds = [c.kind for c in choices_of(known) if isinstance(c, Foreign) and is_sparse(c.kind)]
        return kinds[0] if kinds and len(kinds) == len(choices_of(known)) else None

    def _sparse_at(self, node: gast.expr) -> type | None:
        return self._sparse(self.peek(node))

    def makes_object(self, node: gast.AST) -> bool:
        return super().makes_object(node) or self._makes_sparse(node)

    def _makes_sparse(self, node: gast.AST) -> bool:
        """Whether an expression that is no path may give a sparse matrix."""
        match node:
            case gast.Call(func=gast.Attribute(value=value)) | gast.Attribute(value=value):
                return self._is_sparse(value)
            case gast.BinOp(left=left, right=right):
                return self._is_sparse(left) or self._is_sparse(right)
            case gast.UnaryOp(operand=operand):
                return self._is_sparse(operand)
        return False

    def _is_sparse(self, node: gast.AST) -> bool:
        return any(isinstance(c, Foreign | Weighted) for c in choices_of(self.peek(node))) or self._makes_sparse(node)

    def operate(self, node: gast.expr, op: gast.AST, atoms: list[gast.expr]) -> Made:
        known = [self.known_atom(atom) for atom in atoms]
        if any(isinstance(each, Weighted) for each in known):
            return self._of_weighted(node, op, atoms, known)
        kinds = [self._sparse(each) for each in known]
        if not any(kinds):
            return super().operate(node, op, atoms)
        function: Any = operator_of(type(op))
        if len(atoms) == 1:
            made = placed(gast.UnaryOp(op, atoms[0]), node)
            return self._constant(node, made, lambda A: function(A), kinds[0], spelled="this operator")
        made = placed(gast.BinOp(atoms[0], op, atoms[1]), node)
        if all(kinds):
            other = kinds[1]
            return self._constant(node, made, lambda A: function(A, _tiny(other)), kinds[0], spelled="this operator")
        place = 0 if kinds[0] else 1
        matrix, dense = atoms[place], atoms[1 - place]
        kind = kinds[place]
        is_number = self._is_number(dense)
        if is_number and isinstance(op, gast.Mult | gast.Div | gast.Pow):
            run: Callable[[Any], Any] = (lambda A: function(A, 2)) if place == 0 else (lambda A: function(2, A))
            return self._constant(node, made, run, kind, spelled="this operator")
        if is_number:
            raise self._refuse(node, "a number is added to a sparse matrix")
        if isinstance(op, gast.Mult) and _is_matrix(kind):
            op = gast.MatMult()  # it looks, when it runs, that this is no number
        if isinstance(op, gast.MatMult):
            return self._times_array(node, matrix, dense, left=place == 1)
        if isinstance(op, gast.Mult):
            return self._weighted(node, matrix, dense, kind)
        raise self._refuse(node, "this operator on a sparse matrix and an array")

    def _times_array(self, node: gast.expr, matrix: gast.expr, dense: gast.expr, *, left: bool) -> Made:
        rules = _rules()
        return self._applied(rules.product_left, [dense, matrix], node) if left else self._applied(
            rules.product, [matrix, dense], node
        )

    def _applied(self, function: Callable[..., object], atoms: list[gast.expr], node: gast.expr) -> Made:
        rule = lookup(function)
        assert rule is not None
        made = call(reference(importable(function.__name__, function)), atoms, node)
        return made, Apply(rule, function, rule.bind(function, atoms, {}))

    def _constant(
        self, node: gast.expr, made: gast.expr, run: Callable[[Any], Any], kind: type | None, *, spelled: str
    ) -> Made:
        """A constant made of a sparse matrix, its class found by running the same on a tiny one."""
        assert kind is not None
        try:
            result = run(_tiny(kind))
        except (TypeError, ValueError, NotImplementedError, AttributeError) as error:
            raise self._refuse(node, f"{spelled} of a {named(kind)} raises {type(error).__name__}: {error}") from error
        known, found = known_of(result), cast("Any", type(result))
        refused = refused_kind(found)
        if refused is not None:
            raise self.refuse(node, f"{spelled} of a {named(kind)} is {refused[0]}", "use a sparse array, csr_array(A)")
        reason = "a sparse matrix depends on what is differentiated"
        hint = "factors and entries of sparse matrices are constants: write s * (A @ x) instead of (s * A) @ x"
        refusal = UnsupportedSyntax(reason, self.source.span(node), label="this varies", hint=hint)
        makes = known if isinstance(known, Foreign) else DATA
        names = tuple(sorted(names_read(made)))  # products have no adjoint of their matrix: none of them may vary
        return made, Unruled(refusal, given=names, makes=makes) if names or isinstance(makes, Foreign) else Fixed()

    def _is_number(self, atom: gast.expr) -> bool:
        """Whether an operand is certainly a number."""
        if isinstance(atom, gast.Constant):
            return isinstance(atom.value, int | float | complex)
        if not isinstance(atom, gast.Name) or isinstance(atom, GlobalReference):
            return isinstance(atom, GlobalReference) and isinstance(atom.binding.value, int | float | complex)
        if atom.id in self.numbers and atom.id not in self.scope.rebound:
            return True
        binders = [s for s in self.out if isinstance(s, Bind) and s.target == atom.id]
        return bool(binders) and all(map(_gives_number, binders))

    # --- attributes and methods --------------------------------------------------------------------------------------
    def attribute(self, node: gast.Attribute) -> Made:
        if self.scope.static_of(node) is not None or not self._is_sparse(node.value):
            return super().attribute(node)
        atom = self.value(node.value)
        kind = self._sparse(self.known_atom(atom))
        if kind is None or node.attr not in CONSTANT_ATTRIBUTES:
            raise self._refuse(node, f"the attribute {node.attr!r} of a sparse matrix")
        name = node.attr
        made = placed(gast.Attribute(atom, name, gast.Load()), node)
        return self._constant(node, made, lambda A: getattr(A, name), kind, spelled=f"the attribute {name!r}")

    def admit_attribute(self, node: gast.Attribute) -> None:
        if self._sparse_at(node.value) is not None and node.attr in CONSTANT_ATTRIBUTES | {"data"}:
            return
        super().admit_attribute(node)

    def admit_method(self, node: gast.Call) -> None:
        if not self._is_sparse(node.func.value):
            super().admit_method(node)

    def bind_method(self, target: Callable[[], str], node: gast.Call) -> bool:
        return not self._is_sparse(node.func.value) and super().bind_method(target, node)

    def method_call(self, node: gast.Call) -> Made:
        func = node.func
        static = self.scope.static_of(func.value)
        if static is not None or not self._is_sparse(func.value):
            return super().method_call(node)
        atom, name = self.value(func.value), func.attr
        known = self.known_atom(atom)
        if isinstance(known, Weighted):
            return self._method_of_weighted(node, atom, known)
        kind = self._sparse(known)
        if kind is None:
            raise self._refuse(node, f"the method {name!r} of what may be a sparse matrix")
        if name in ("dot", "multiply") and len(node.args) == 1 and not node.keywords:
            return self._dot_or_multiply(node, atom, kind)
        literals = [literal(argument) for argument in node.args]
        keywords = {keyword.arg: literal(keyword.value) for keyword in node.keywords}
        known_here = all(is_known for is_known, _ in [*literals, *keywords.values()]) and None not in keywords
        if name not in _CONSTANT_METHODS or not known_here and name != "astype":
            raise self._refuse(node, f"the method {name!r} of a sparse matrix")
        if not known_here:
            literals, keywords = [(True, float)], {}
        given = [value for _, value in literals]
        named_ones: dict[str, Any] = {str(key): value for key, (_, value) in keywords.items()}
        arguments = [self.settle(argument) for argument in node.args]
        made = call(placed(gast.Attribute(atom, name, gast.Load()), func), arguments, node)
        made.keywords = [placed(gast.keyword(k.arg, self.settle(k.value)), k) for k in node.keywords]
        run = operator.methodcaller(name, *given, **named_ones)
        return self._constant(node, made, run, kind, spelled=f"the method {name!r}")

    def _dot_or_multiply(self, node: gast.Call, atom: gast.expr, kind: type) -> Made:
        name = node.func.attr
        other = self.value(node.args[0])
        kind_of_other = self._sparse(self.known_atom(other))
        is_number = self._is_number(other)
        if kind_of_other is not None or is_number:
            made = call(placed(gast.Attribute(atom, name, gast.Load()), node.func), [other], node)
            tiny = 2.0 if kind_of_other is None else _tiny(kind_of_other)
            return self._constant(node, made, lambda A: getattr(A, name)(tiny), kind, spelled=f"the method {name!r}")
        if name == "dot":
            return self._times_array(node, atom, other, left=False)
        return self._weighted(node, atom, other, kind)

    # --- the entries of A.multiply(x) --------------------------------------------------------------------------------
    def _weighted(self, node: gast.expr, matrix: gast.expr, dense: gast.expr, kind: type | None) -> Made:
        assert kind is not None
        is_local = isinstance(matrix, gast.Name) and not isinstance(matrix, GlobalReference)
        pattern = self.held_operation(matrix, Copy(matrix.id) if is_local else Fixed(), node)
        return self._applied(_rules().entries, [pattern, dense], node)

    def _of_weighted(self, node: gast.expr, op: gast.AST, atoms: list[gast.expr], known: list[Known]) -> Made:
        first = known[0]
        is_product = isinstance(op, gast.MatMult) or isinstance(first, Weighted) and isinstance(op, gast.Mult) and (
            _is_matrix(first.kind)
        )
        if len(atoms) == 2 and isinstance(first, Weighted) and not isinstance(known[1], Weighted | Foreign):
            if is_product:
                return self._times(node, atoms[0], first, atoms[1])
        raise self._refuse(node, f"this operator on {_DEPENDS}")

    def _times(self, node: gast.expr, atom: gast.expr, known: Weighted, other: gast.expr) -> Made:
        pattern = placed(gast.Name(known.pattern, gast.Load(), None, None), node)
        return self._applied(_rules().spread_product, [pattern, atom, other], node)

    def _method_of_weighted(self, node: gast.Call, atom: gast.expr, known: Weighted) -> Made:
        name = node.func.attr
        pattern = placed(gast.Name(known.pattern, gast.Load(), None, None), node)
        if name == "sum" and not node.args and not node.keywords:
            made, operation = self._applied(np.sum, [atom], node)
            self.sums.append(operation)
            return made, operation
        if name == "toarray" and not node.args and not node.keywords:
            return self._applied(_rules().spread, [pattern, atom], node)
        if name == "dot" and len(node.args) == 1 and not node.keywords:
            return self._times(node, atom, known, self.value(node.args[0]))
        raise self.refuse(node, f"the method {name!r} of {_DEPENDS}", _CONSUMED)


def _asked_for_items(node: gast.expr) -> Iterator[gast.expr]:
    """What may be asked for its items by an expression without a derivative, which may be evaluated again: operands in
    it, and the expression itself, as in the head of a loop."""
    yield node
    for part in walk(node):
        match part:
            case gast.Compare(ops=operators, comparators=right):
                yield from (v for v, o in zip(right, operators, strict=True) if isinstance(o, gast.In | gast.NotIn))
            case gast.Call(args=given, keywords=keywords):
                yield from (*given, *(keyword.value for keyword in keywords))
            case gast.Starred(value=value):
                yield value


def _rules() -> Any:
    """The products with sparse matrices; whoever has a sparse matrix has imported SciPy."""
    load_library("scipy.sparse._base")
    found: ModuleType = importlib.import_module("srcgrad.runtime.scipy.sparse")
    return found


def _tiny(kind: Any) -> Any:
    return kind(np.eye(2))


def _is_matrix(kind: Any) -> bool:
    """Whether ``*`` is the product of matrices."""
    return issubclass(kind, importlib.import_module("scipy.sparse").spmatrix)


def _gives_number(statement: Bind) -> bool:
    """Whether what is bound is certainly a number: one outside, ``float(...)``, or made of such."""
    if isinstance(statement.operation, Apply) and statement.operation.function in (float, int, complex):
        return True
    if not isinstance(statement.operation, Fixed):
        return False
    for node in walk(statement.expression):
        if isinstance(node, GlobalReference):
            value = node.binding.value
            if not isinstance(value, int | float | complex | ModuleType):
                return False
        elif isinstance(node, gast.Name | gast.Call | gast.Subscript):
            return False
    return True
