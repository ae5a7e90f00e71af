"""Required contents: before which stores the reverse sweep has to know what a place held.

Enters: the control-flow graph, the classes whose elements the adjoint of each statement reads, and the class that each
store changes.  Leaves: the stores that are undone.  Forward, by union, never killed: a reference that was recorded
outlives the name, so that a class whose elements were ever read keeps being required::

    y = np.sin(x)           the adjoint reads x
    s = np.sum(y * y)       the adjoint reads y       {y}
    y[0] = a                undone: s comes before
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from srcgrad.analysis.cfg import Graph, Names, solve
from srcgrad.ir.normal_form import Statement


def undone(
    graph: Graph,
    touched: Mapping[Statement, frozenset[str]],
    stores: Mapping[Statement, Collection[str]],
    entry: Iterable[str],
    inside: Mapping[Statement, frozenset[str]],
) -> set[Statement]:
    """The stores, and calls that store, of which a class is read by the adjoint of a statement that may come before, or
    of the store itself.  What a callee reads ``inside`` of its own sweep it looks after itself."""
    names = Names()
    reads = _masks(graph, touched, names)
    within = _masks(graph, inside, names)
    start = sum(names.add(root) for root in dict.fromkeys(entry))

    def transfer(node: int, state: int) -> int:
        return state | reads.get(node, 0) | within.get(node, 0)

    ins, _ = solve(graph, transfer, start)
    found: set[Statement] = set()
    for statement, roots in stores.items():
        node = graph.heads[statement]
        if (ins[node] | reads.get(node, 0)) & names.mask(roots):
            found.add(statement)
    return found


def _masks(graph: Graph, read: Mapping[Statement, frozenset[str]], names: Names) -> dict[int, int]:
    return {graph.heads[statement]: sum(names.add(root) for root in sorted(roots)) for statement, roots in read.items()}
