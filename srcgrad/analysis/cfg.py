"""The control-flow graph of a normal form, and the one solver that every data-flow analysis here uses.

Enters: ``Function``.  Leaves: ``Graph`` (numbered nodes with successors) and ``solve``, which runs monotone transfer
functions over integer bit sets to their fixpoint with a worklist in reverse post-order (Nielson, Nielson & Hankin,
*Principles of Program Analysis*, §6.1).  Neither recurses over the statements of a block: only over nesting.

A simple statement is one node.  A compound statement has a *head* (its test, or the choice to make another pass) and a
*tail* (the point where control goes on after it)::

    if c:            head -> body ... -> tail
        a = b        head -> orelse ... -> tail
    while c:         head -> body ... -> head;  head -> tail;  break -> tail;  continue -> head
        ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, wraps
from heapq import heappop, heappush
from typing import TypeVar

import gast

from srcgrad import runtime
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    AugStore,
    Bind,
    Block,
    Break,
    Continue,
    Delete,
    Effect,
    Exchange,
    For,
    Function,
    If,
    Pop,
    Return,
    SetField,
    Statement,
    Store,
    Unpack,
    Unruled,
    While,
    With,
)
from srcgrad.syntax.globals import GlobalReference

Kept = TypeVar("Kept")
ENTRY, EXIT = 0, 1


class Names:
    """A numbering of names, so that a set of them is an ``int``."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.position: dict[str, int] = {}
        self.listed: list[str] = []
        for name in names:
            self.add(name)

    def add(self, name: str) -> int:
        if name not in self.position:
            self.position[name] = len(self.listed)
            self.listed.append(name)
        return 1 << self.position[name]

    def mask(self, names: Iterable[str]) -> int:
        """The bit set of those of ``names`` that are numbered."""
        bits = 0
        for name in names:
            if name in self.position:
                bits |= 1 << self.position[name]
        return bits

    @property
    def all(self) -> int:
        return (1 << len(self.listed)) - 1


@dataclass(frozen=True)
class NameSet:
    """An immutable set of names over a shared numbering."""

    names: Names
    bits: int

    def __contains__(self, name: object) -> bool:
        position = self.names.position.get(name) if isinstance(name, str) else None
        return position is not None and bool(self.bits >> position & 1)

    def __iter__(self) -> Iterator[str]:
        bits = self.bits
        while bits:
            low = bits & -bits
            yield self.names.listed[low.bit_length() - 1]
            bits ^= low

    def __or__(self, other: NameSet) -> NameSet:
        return NameSet(self.names, self.bits | other.bits)

    def __and__(self, other: NameSet) -> NameSet:
        return NameSet(self.names, self.bits & other.bits)

    def __sub__(self, other: NameSet) -> NameSet:
        return NameSet(self.names, self.bits & ~other.bits)

    def __bool__(self) -> bool:
        return bool(self.bits)

    def __len__(self) -> int:
        return self.bits.bit_count()


def bound_here(statement: Statement) -> tuple[str, ...]:
    """The names that this statement itself binds, nested statements apart (a loop binds its index)."""
    match statement:
        case Bind(target=target):
            return (target,)
        case Unpack(targets=targets) | Pop(targets=targets):
            return targets
        case For(index=index):
            return (index,)
    return ()


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """The blocks nested directly in a statement."""
    match statement:
        case If(body=body, orelse=orelse):
            return (body, orelse)
        case For(body=body) | While(body=body) | With(body=body):
            return (body,)
    return ()


def walk(block: Block) -> tuple[Statement, ...]:
    """Every statement of a block and of the blocks inside it, in program order.

    Blocks do not change, and every analysis asks for the statements of the same ones: they are kept with the block.
    """
    kept = vars(block)  # a table of blocks would never lose one: its statements lead to the functions they are of
    if "walked" not in kept:
        found: list[Statement] = []
        pending = [*reversed(block.statements)]
        while pending:
            statement = pending.pop()
            found.append(statement)
            for inner in reversed(blocks_of(statement)):
                pending.extend(reversed(inner.statements))
        kept["walked"] = tuple(found)
    walked: tuple[Statement, ...] = kept["walked"]
    return walked


def kept_with_function(answer: Callable[[Function], Kept]) -> Callable[[Function], Kept]:
    """Work an answer out once and keep it with the function, which does not change; ``replace`` makes one without."""
    place = f"{answer.__module__}.{answer.__qualname__}"

    @wraps(answer)
    def of(function: Function) -> Kept:
        kept = vars(function)
        if place not in kept:
            kept[place] = answer(function)
        found: Kept = kept[place]
        return found

    return of


@dataclass(eq=False)
class Graph:
    """Nodes are integers; ``statements[n]`` is the statement of node n (None at entry and exit)."""

    statements: list[Statement | None] = field(default_factory=lambda: [None, None])
    is_tail: list[bool] = field(default_factory=lambda: [False, False])
    successors: list[list[int]] = field(default_factory=lambda: [[], []])
    heads: dict[Statement, int] = field(default_factory=dict)
    tails: dict[Statement, int] = field(default_factory=dict)

    def node(self, statement: Statement, *, tail: bool = False) -> int:
        self.statements.append(statement)
        self.is_tail.append(tail)
        self.successors.append([])
        return len(self.statements) - 1

    def edge(self, source: int | None, target: int) -> None:
        if source is not None:
            self.successors[source].append(target)

    @cached_property
    def predecessors(self) -> list[list[int]]:
        """Of the whole graph: asked for when it is built."""
        inverse: list[list[int]] = [[] for _ in self.statements]
        for source, targets in enumerate(self.successors):
            for target in targets:
                inverse[target].append(source)
        return inverse

    @cached_property
    def from_entry(self) -> list[int]:
        """The nodes that control can reach, each before its successors except along back edges."""
        return _reverse_postorder(self.successors, ENTRY)

    @cached_property
    def from_exit(self) -> list[int]:
        """The nodes from which control can reach the exit, each before its predecessors except along back edges."""
        return _reverse_postorder(self.predecessors, EXIT)


def graph_of(function: Function) -> Graph:
    """The graph of a function; statements that control cannot reach have nodes without predecessors."""
    kept = vars(function)
    if "graph" not in kept:
        graph = Graph()
        end = _block(graph, function.body, ENTRY, ())
        graph.edge(end, EXIT)
        kept["graph"] = graph
    found: Graph = kept["graph"]
    return found


def _block(graph: Graph, block: Block, at: int | None, loops: tuple[tuple[int, int], ...]) -> int | None:
    for statement in block.statements:
        head = graph.node(statement)
        graph.heads[statement] = graph.tails[statement] = head
        graph.edge(at, head)
        match statement:
            case If(body=body, orelse=orelse):
                tail = graph.tails[statement] = graph.node(statement, tail=True)
                graph.edge(_block(graph, body, head, loops), tail)
                graph.edge(_block(graph, orelse, head, loops), tail)
                at = tail
            case For(body=body) | While(body=body):
                tail = graph.tails[statement] = graph.node(statement, tail=True)
                end = _block(graph, body, head, (*loops, (head, tail)))
                graph.edge(end, head)
                graph.edge(head, tail)
                at = tail
            case With(body=body):
                tail = graph.tails[statement] = graph.node(statement, tail=True)
                graph.edge(_block(graph, body, head, loops), tail)
                at = tail
            case Break():
                graph.edge(head, loops[-1][1])
                at = None
            case Continue():
                graph.edge(head, loops[-1][0])
                at = None
            case Return():
                graph.edge(head, EXIT)
                at = None
            case _:
                at = head
    return at


def solve(
    graph: Graph,
    transfer: Callable[[int, int], int],
    start: int,
    *,
    backward: bool = False,
    must: int | None = None,
) -> tuple[list[int], list[int]]:
    """The fixpoint of ``out = transfer(node, in)``; returns (in, out), seen in the direction of the analysis.

    ``start`` is the state at the entry (at the exit when ``backward``).  Paths join by union; with ``must`` (the full
    set) they join by intersection, starting from the full set.
    """
    onward = graph.predecessors if backward else graph.successors
    first, order = (EXIT, graph.from_exit) if backward else (ENTRY, graph.from_entry)
    rank = {node: position for position, node in enumerate(order)}
    bottom = 0 if must is None else must
    incoming = [bottom] * len(graph.statements)
    outgoing = [bottom] * len(graph.statements)
    incoming[first] = start
    queue = list(range(len(order)))
    queued = set(queue)
    while queue:
        position = heappop(queue)
        queued.discard(position)
        node = order[position]
        outgoing[node] = transfer(node, incoming[node])
        for target in onward[node]:
            merged = incoming[target] | outgoing[node] if must is None else incoming[target] & outgoing[node]
            if merged != incoming[target]:
                incoming[target] = merged
                if rank[target] not in queued:
                    queued.add(rank[target])
                    heappush(queue, rank[target])
    return incoming, outgoing


def _reverse_postorder(successors: list[list[int]], first: int) -> list[int]:
    """Nodes that can be reached from ``first``, each before its successors except along back edges."""
    seen = {first}
    finished: list[int] = []
    stack = [(first, iter(successors[first]))]
    while stack:
        node, rest = stack[-1]
        target = next((t for t in rest if t not in seen), None)
        if target is None:
            finished.append(node)
            stack.pop()
        else:
            seen.add(target)
            stack.append((target, iter(successors[target])))
    return finished[::-1]


def definitely_assigned(function: Function, graph: Graph) -> tuple[Names, list[int], list[int]]:
    """The names bound on every path to (in) and out of (out) each node."""
    names = Names(function.parameters)
    kills: dict[int, int] = {}
    for node, statement in enumerate(graph.statements):
        if statement is not None and not graph.is_tail[node] and not isinstance(statement, For):
            found = dict.fromkeys((*bound_here(statement), *looked_at(statement)))
            kills[node] = sum(names.add(name) for name in found)
    indices = {statement: names.add(statement.index) for statement in graph.heads if isinstance(statement, For)}

    def transfer(node: int, state: int) -> int:
        return state | kills.get(node, 0)

    # A loop's index is bound inside its body only: the pass that binds it is an edge, so the body's first node gets it.
    first_in_body = {
        graph.successors[graph.heads[loop]][0]: bit for loop, bit in indices.items() if loop.body.statements
    }

    def with_index(node: int, state: int) -> int:
        return transfer(node, state | first_in_body.get(node, 0))

    ins, outs = solve(graph, with_index, names.mask(function.parameters), must=names.all)
    for node, bit in first_in_body.items():
        ins[node] |= bit
    return names, ins, outs


def looked_at(statement: Statement) -> tuple[str, ...]:
    """The variable that has a value behind this statement, since Python raises otherwise."""
    match statement.statement if isinstance(statement, Effect) else None:
        case gast.Expr(value=gast.Call(func=GlobalReference() as function, args=[gast.Name(id=name)])):
            return (name,) if function.binding.value is runtime.require_assigned else ()
    return ()


def stores_of(statement: Statement) -> tuple[str, ...]:
    """The names whose contents (not binding) this statement changes."""
    match statement:
        case Append(sequence=sequence) | Pop(sequence=sequence):
            return (sequence,)
        case AddAt(buffer=buffer):
            return (buffer,)
        case Store(base=base) | AugStore(base=base) | SetField(base=base) | Delete(base=base):
            return (base,)
        case Bind(operation=Exchange(base=base) | Unruled(changes=str() as base)):
            return (base,)
    return ()
