"""Sparse matrices of SciPy: constants whose class and dtype are known, and what is computed of them.

Enters: operators, attributes and methods of which an operand is a sparse matrix.  Leaves: what they give, found by
running the same on tiny matrices; ANY of what is not known::

    A.T, A + 2.0 * B, A.tocsc()      sparse matrices
    A @ x, A.dot(x), A.sum()         arrays and numbers
    A.multiply(x)                    ``Entries``: a sparse matrix that x weighs
"""

from __future__ import annotations

import itertools
import operator
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.infer.data import is_data
from srcgrad.infer.examples import Result, examples_of, is_named
from srcgrad.infer.heap import Contents, Heap, together
from srcgrad.infer.outside import contents_of_sparse
from srcgrad.infer.values import ANY, NEVER, SCALARS, Array, At, Atom, Bound, Exact, Of, Value, exact, of
from srcgrad.ir.evaluating import BINARY, UNARY
from srcgrad.language.members import SHAPES
from srcgrad.runtime.exact import is_sparse

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.infer.objects import Made
    from srcgrad.infer.parameters import Given
    from srcgrad.ir.regions import Statement

#: Methods of a sparse matrix whose results are constants, of a class that follows from those of their operands.
CONSTANT_METHODS = frozenset(
    """transpose conj conjugate copy toarray diagonal sum mean trace tocsr tocsc tocoo todia tobsr todok tolil asformat
    astype power getnnz count_nonzero max min getH""".split()
)
PRODUCTS = ("dot", "multiply")
_MOST = 16

#: What carries no derivative, or is another matrix of the same class.
_CONSTANT = SHAPES | {"T", "nnz", "format", "real", "imag", "mT"}


class Entries:
    """Stands for the class of ``A.multiply(x)``, which is that of some sparse matrix: its entries may vary."""


def is_matrix(atom: Atom) -> bool:
    return isinstance(atom, At) and isinstance(atom.site.kind, type) and is_sparse(atom.site.kind)


def is_weighed(atom: Atom) -> bool:
    return isinstance(atom, At) and atom.site.kind is Entries


def may_be_matrix(value: Value) -> bool:
    return any(is_matrix(atom) or is_weighed(atom) for atom in value.atoms)


def operated(
    analysis: Analysis, frame: Frame, statement: Statement, symbol: str, operands: tuple[Value, ...], in_place: bool,
    heap: Heap,
) -> Made:  # fmt: skip
    """``A @ x``, ``A + B``, ``-A``; what changes a matrix in its place is unknown code."""
    made = (ANY, heap) if in_place else _operated(frame, statement, symbol, operands, heap)
    return _or_unknown(analysis, made, operands)


def _or_unknown(analysis: Analysis, made: Made, values: tuple[Value, ...]) -> Made:
    """What is not known may run code of the user's, and change all that it reaches."""
    return (ANY, analysis.unknown(values, made[1])) if made is not None and made[0].is_any else made


def _operated(frame: Frame, statement: Statement, symbol: str, operands: tuple[Value, ...], heap: Heap) -> Made:
    if any(is_weighed(atom) for value in operands for atom in value.atoms):
        return _weighed(frame, statement, operands, heap) if symbol == "@" else (ANY, heap)
    if symbol != "@" and any(is_data(atom) for value in operands for atom in value.atoms):
        return ANY, heap  # a number or an array, which other operators treat in several ways
    table: Any = UNARY if len(operands) == 1 else BINARY
    is_product = symbol == "*" and any(not any(map(is_matrix, value.atoms)) for value in operands)
    return _run(frame, statement, table[symbol], operands, heap, weighs=is_product and not _are_constants(operands))


def attribute(
    analysis: Analysis, frame: Frame, statement: Statement, receiver: Value, name: str, heap: Heap
) -> Made:
    """``A.T``, ``A.shape``, and methods."""
    return _or_unknown(analysis, _attribute(frame, statement, receiver, name, heap), (receiver,))


def _attribute(frame: Frame, statement: Statement, receiver: Value, name: str, heap: Heap) -> Made:
    if not receiver.consists_of(lambda atom: is_matrix(atom) or is_weighed(atom)):
        return ANY, heap
    if name in _CONSTANT and not any(map(is_weighed, receiver.atoms)):
        return _run(frame, statement, operator.attrgetter(name), (receiver,), heap)
    return (Value(frozenset((Bound(receiver, name),))) if name in (*CONSTANT_METHODS, *PRODUCTS) else ANY), heap


def method(
    analysis: Analysis, frame: Frame, statement: Statement, receiver: Value, name: str, given: Given, heap: Heap
) -> Made:
    """``A.dot(x)``, ``A.multiply(x)``, ``A.tocsc()``."""
    return _or_unknown(analysis, _method(frame, statement, receiver, name, given, heap), (receiver, *given.values()))


def function(
    analysis: Analysis, frame: Frame, statement: Statement, called: Any, given: Given, heap: Heap
) -> Made:
    """A function of those that stand for products in emitted code: ``product(turned(A), y_bar)``."""
    from srcgrad.infer.objects import data  # whose attributes are these in turn

    values = given.values()
    if given.more is not None or any(value.is_any for value in values):
        return ANY, analysis.unknown(values, heap)
    if called.__name__ == "turned":
        return _or_unknown(analysis, _run(frame, statement, called, values, heap), values)
    return data(frame, statement, heap)  # of numbers alone


def is_of_products(called: Any) -> bool:
    """Whether a function is one of those that stand for products with sparse matrices."""
    return getattr(called, "__module__", None) == "srcgrad.runtime.scipy.sparse"


def _method(frame: Frame, statement: Statement, receiver: Value, name: str, given: Given, heap: Heap) -> Made:
    if given.more is not None:
        return ANY, heap
    names = [key for key, _ in given.keywords]
    if any(map(is_weighed, receiver.atoms)):
        if name == "dot" and len(given.positional) == 1 and not names:
            return _weighed(frame, statement, (receiver, *given.positional), heap)
        is_asked = name in ("sum", "toarray") and not given.values()
        return _of_array(frame, statement, receiver, name, heap) if is_asked else (ANY, heap)
    if name in PRODUCTS and (names or len(given.positional) != 1) or name not in (*CONSTANT_METHODS, *PRODUCTS):
        return ANY, heap
    if "out" in names:
        return ANY, heap

    def run(matrix: Any, *rest: Any) -> Any:
        count = len(rest) - len(names)
        return getattr(matrix, name)(*rest[:count], **dict(zip(names, rest[count:], strict=True)))

    values = (receiver, *given.positional, *(value for _, value in given.keywords))
    is_constant = name != "multiply" or all(is_matrix(atom) or isinstance(atom, Exact) for atom in values[1].atoms)
    return _run(frame, statement, run, values, heap, weighs=not is_constant)


def _examples(value: Value, heap: Heap) -> list[Any] | None:
    """One object for each atom, matrices as the identity."""
    found: list[Any] = []
    for atom in value.atoms:
        if is_matrix(atom):
            assert isinstance(atom, At)
            kind: Any = atom.site.kind
            held = heap[atom.site].get("dtype")
            if not held.consists_of(lambda one: isinstance(one, Exact)):
                return None
            found += [kind(np.eye(2).astype(np.dtype(str(one.value)))) for one in held.atoms if isinstance(one, Exact)]
        elif is_data(atom):
            found += [np.ones(2), np.ones((2, 2))]
        else:
            made = examples_of(Value(frozenset((atom,))), heap)
            if made is None:
                return None
            found += made
    return found if found and not value.is_any else None


def _run(
    frame: Frame, statement: Statement, run: Callable[..., Any], values: tuple[Value, ...], heap: Heap,
    *, weighs: bool = False,
) -> Made:  # fmt: skip
    """What something gives of examples.  ``weighs``: a matrix that it makes of an array is weighed by that."""
    examples = [_examples(value, heap) for value in values]
    known = [part for part in examples if part is not None]
    if len(known) < len(examples) or np.prod([len(part) for part in known]) > _MOST:
        return ANY, heap
    is_open = any(is_data(atom) for value in values for atom in value.atoms)
    made: list[Made] = []
    for chosen in itertools.product(*known):
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                result = run(*chosen)
        except Exception:  # of what does not fit: it tells nothing
            return ANY, heap
        made.append(_shown(frame, statement, result, heap, weighs=weighs, is_open=is_open))
    return together(made)


def _are_constants(values: tuple[Value, ...]) -> bool:
    """Whether values are matrices and numbers, of which a product is a constant where the numbers are."""
    return all(is_matrix(atom) or isinstance(atom, Of | Exact) for value in values for atom in value.atoms)


def _shown(
    frame: Frame, statement: Statement, result: Any, heap: Heap, *, weighs: bool = False, is_open: bool = False
) -> Made:
    """The value of a result.  ``is_open``: what is no matrix is data, since nothing is said of an operand."""
    from srcgrad.infer.objects import container, data, shown  # whose attributes are these in turn

    kind: Any = type(result)
    if is_sparse(kind):
        held = contents_of_sparse(result)
        if held is None:
            return ANY, heap
        return container(frame, statement, heap, Entries if weighs else kind, held)
    if is_open:
        return data(frame, statement, heap)
    if kind is np.ndarray and result.dtype.kind in "biufc" and is_named(result.dtype):
        return shown(frame, statement, heap, [Result(kind, result.dtype.str, result.ndim)])
    if kind is tuple and all(type(part) is int for part in result):
        return container(frame, statement, heap, tuple, Contents(parts=(of(int),) * len(result)))
    if kind in SCALARS or isinstance(result, np.generic):
        return of(kind), heap
    return (exact(result), heap) if isinstance(result, np.dtype) else (ANY, heap)


def _weighed(frame: Frame, statement: Statement, operands: tuple[Value, ...], heap: Heap) -> Made:
    """``W @ v`` of a matrix that an array weighs, and an array."""
    if len(operands) != 2 or not operands[0].consists_of(is_weighed):
        return ANY, heap
    if operands[1].consists_of(is_data):
        return _shown(frame, statement, None, heap, is_open=True)
    if not operands[1].consists_of(lambda atom: isinstance(atom, Array)):
        return ANY, heap
    dtypes = _dtypes(operands[0], heap)
    arrays = [(atom.dtype, atom.rank) for atom in operands[1].atoms if isinstance(atom, Array)]
    if dtypes is None or any(dtype is None or rank is None for dtype, rank in arrays):
        return ANY, heap
    made = [_shown(frame, statement, np.ones((1,) * (rank or 0), np.result_type(one, dtype)), heap)
            for one in dtypes for dtype, rank in arrays if dtype is not None]  # fmt: skip
    return together(made)


def _of_array(frame: Frame, statement: Statement, receiver: Value, name: str, heap: Heap) -> Made:
    """``W.sum()`` and ``W.toarray()``."""
    dtypes = _dtypes(receiver, heap)
    if dtypes is None or not receiver.consists_of(is_weighed):
        return ANY, heap
    arrays = [np.ones((1, 1), dtype) for dtype in dtypes]
    return together([_shown(frame, statement, np.sum(a) if name == "sum" else a, heap) for a in arrays])


def _dtypes(value: Value, heap: Heap) -> list[Any] | None:
    found: list[Any] = []
    for atom in value.atoms:
        held = heap[atom.site].get("dtype") if isinstance(atom, At) else NEVER
        if not held.consists_of(lambda one: isinstance(one, Exact)):
            return None
        found += [one.value for one in held.atoms if isinstance(one, Exact)]
    return found
