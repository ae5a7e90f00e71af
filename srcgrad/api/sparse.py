"""``jacobian(f, sparsity=...)``: a sparse Jacobian from a few products, by colouring.

Enters: a function of one real array, and which entries of its Jacobian may differ from zero.  Leaves: a SciPy sparse
array.  Columns that share no row get one colour, and are found by one product of the Jacobian with the sum of their
unit vectors; or rows that share no column, by products from the left (Curtis, Powell & Reid, *On the estimation of
sparse Jacobian matrices*, 1974).  SciPy has such a colouring, in a module that is private.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.api.arguments import Argnums, described
from srcgrad.api.dense import Dense, Jacobian
from srcgrad.api.sweeps import pushed_all
from srcgrad.api.transforms import Pullback, pushed
from srcgrad.errors import ArgumentError, SparsityError

if TYPE_CHECKING:
    import numpy.typing as npt
    import scipy.sparse

#: How many columns are found at once where the pattern is looked for.
_COLUMNS = 256


def coloured(pattern: scipy.sparse.csc_array) -> npt.NDArray[np.intp]:
    """A colour for each column, such that columns of one colour have no row in common; greedy, densest columns first.

    >>> import scipy.sparse
    >>> coloured(scipy.sparse.csc_array(np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]]))).tolist()
    [1, 0, 0]
    """
    starts, rows = pattern.indptr, pattern.indices
    taken: list[set[int]] = [set() for _ in range(pattern.shape[0])]
    colours = np.zeros(pattern.shape[1], np.intp)
    for column in np.argsort(starts[:-1] - starts[1:], kind="stable"):
        met = [taken[row] for row in rows[starts[column] : starts[column + 1]]]
        forbidden = set().union(*met)
        colour = next(c for c in range(len(forbidden) + 1) if c not in forbidden)
        colours[column] = colour
        for one in met:
            one.add(colour)
    return colours


class _Plan:
    """A pattern, and the products that find its entries: with columns, or (``turned``) from the left with rows."""

    def __init__(self, pattern: scipy.sparse.csc_array) -> None:
        self.pattern = pattern
        columns, rows = coloured(pattern), coloured(pattern.T.tocsc())
        self.turned = _count(rows) < _count(columns)
        self.colours = rows if self.turned else columns
        self.count = _count(self.colours)
        self.rows, self.columns = pattern.tocoo().coords

    def seeds(self) -> npt.NDArray[np.float64]:
        """The sums of unit vectors, one for each colour, and a random vector."""
        size = self.pattern.shape[0 if self.turned else 1]
        made = np.zeros((self.count + 1, size))
        made[self.colours, np.arange(size)] = 1.0
        made[-1] = np.random.default_rng().uniform(0.5, 1.5, size)
        return made

    def entries(self, products: npt.NDArray[Any]) -> scipy.sparse.csr_array:
        """The Jacobian, from its products with ``seeds``."""
        import scipy.sparse

        if self.turned:
            found = products[self.colours[self.rows], self.columns]
        else:
            found = products[self.colours[self.columns], self.rows]
        return scipy.sparse.coo_array((found, (self.rows, self.columns)), self.pattern.shape).tocsr()

    def is_right(self, made: scipy.sparse.csr_array, seed: npt.NDArray[Any], product: npt.NDArray[Any]) -> bool:
        """Whether the product with a random vector is that of what was found, as far as rounding tells."""
        whole = made.T if self.turned else made
        scale = abs(whole) @ np.abs(seed)
        allowed = 10.0 * np.sqrt(np.finfo(product.dtype).eps) * (scale + 1e-3 * np.max(scale, initial=0.0))
        difference = np.abs(whole @ seed - product)
        return bool(np.all(~np.isfinite(product) | (difference <= allowed)))


def _count(colours: npt.NDArray[np.intp]) -> int:
    return int(np.max(colours, initial=-1)) + 1


class SparseJacobian(Dense):
    name = "jacobian"
    title = "Sparse Jacobian"
    mode = "forward"

    def __init__(self, primal: Callable[..., Any], argnums: Argnums, sparsity: Any) -> None:
        super().__init__(primal, argnums)
        if isinstance(self.argnums, tuple):
            raise ArgumentError("a sparse Jacobian is by one argument", hint="give argnums as a position or a name")
        if isinstance(sparsity, str) and sparsity != "auto":
            raise ArgumentError(f"sparsity is a pattern or 'auto', not {sparsity!r}")
        self.sparsity = sparsity
        self.backward = Jacobian(primal, argnums)
        self._plans: dict[tuple[int, int], _Plan] = {}

    def __srcgrad_underivable__(self) -> tuple[str, str] | None:
        return "jacobian(f, sparsity=...) is not differentiated", "differentiate jacobian(f), or f itself"

    def __reduce__(self) -> Any:
        return type(self), (self.primal, self.argnums, self.sparsity)

    def at(self, values: tuple[Any, ...], inputs: tuple[Any, ...]) -> Any:
        (x,) = inputs
        pullback = Pullback(self.backward.derivative, values, watched=False)
        value = pullback.value
        for what, found in (("argument", x), ("result", value)):
            if not isinstance(found, np.ndarray) or found.dtype.kind != "f":
                raise ArgumentError(
                    f"a sparse Jacobian is of an array of real numbers by one; the {what} is {described(found)}"
                )
        shape = value.size, x.size
        plan = self._plan(shape)
        if plan is not None:
            made = self._found(plan, values, x, pullback)
            if made is not None:
                return made
            if not self._is_auto:
                raise SparsityError(
                    "the Jacobian has entries that are not in its sparsity pattern",
                    hint="give a pattern that holds everywhere, or sparsity='auto'",
                )
        return self._looked_for(values, x, shape)

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.sparsity, str)

    def _plan(self, shape: tuple[int, int]) -> _Plan | None:
        if shape not in self._plans and not self._is_auto:
            import scipy.sparse

            pattern = scipy.sparse.csc_array(self.sparsity)
            if pattern.shape != shape:
                raise ArgumentError(f"the Jacobian has shape {shape}, its sparsity pattern {pattern.shape}")
            self._plans[shape] = _Plan(_as_pattern(pattern))
        return self._plans.get(shape)

    def _found(
        self, plan: _Plan, values: tuple[Any, ...], x: Any, pullback: Pullback
    ) -> scipy.sparse.csr_array | None:
        """The Jacobian by the products of a plan; None where it has other entries."""
        seeds = plan.seeds()
        if plan.turned:
            value = pullback.value
            units = [seed.reshape(value.shape).astype(value.dtype) for seed in seeds]
            (found,) = self.backward.pulled(pullback, values, (), units)
            products = np.stack([np.asarray(row).reshape(-1) for row in found])
        else:
            products = self._products(values, x, seeds)
        made = plan.entries(products[:-1])
        return made if plan.is_right(made, seeds[-1], products[-1]) else None

    def _products(self, values: tuple[Any, ...], x: Any, seeds: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The products of the Jacobian with vectors, in rows."""
        directions = [(seed.reshape(x.shape).astype(x.dtype),) for seed in seeds]
        found = pushed_all(self.derivative, values, directions, self.sweeps) if len(seeds) > 1 else None
        if found is None:
            found = [pushed(self.derivative, values, direction)[1] for direction in directions]
        return np.stack([np.asarray(column).reshape(-1) for column in found])

    def _looked_for(self, values: tuple[Any, ...], x: Any, shape: tuple[int, int]) -> scipy.sparse.csr_array:
        """The Jacobian column by column; its entries, and those that were met before, are the pattern from now on."""
        import scipy.sparse

        parts = []
        for start in range(0, x.size, _COLUMNS):
            units = np.eye(min(_COLUMNS, x.size - start), x.size, start)
            parts.append(scipy.sparse.csc_array(self._products(values, x, units).T))
        made = scipy.sparse.hstack(parts, format="csc") if parts else scipy.sparse.csc_array(shape)
        known = self._plans.get(shape)
        whole = _as_pattern(made) if known is None else _as_pattern(_as_pattern(made) + known.pattern)
        self._plans[shape] = _Plan(whole)
        return made.tocsr()


def _as_pattern(matrix: Any) -> scipy.sparse.csc_array:
    """Ones where a sparse matrix has entries that are not zero."""
    made = matrix.tocsc().astype(bool).astype(np.int8)
    made.eliminate_zeros()
    made.sum_duplicates()
    return made
