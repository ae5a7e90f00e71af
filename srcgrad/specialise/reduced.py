"""A function that is reduced, and what was found out about its operands and about the functions written out in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import gast

from srcgrad.errors import Span, UnresolvedName, UnsupportedSyntax
from srcgrad.frontend.source import Source, source_of
from srcgrad.frontend.unassigned import Unassigned, unassigned_in
from srcgrad.infer.facts import Facts
from srcgrad.infer.heap import Contents, joined
from srcgrad.infer.reasons import otherwise
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import NEVER, At, Value, exact
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Function, Statement, walk
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.language.models import is_of_model
from srcgrad.specialise.functions import Functions
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import reference
from srcgrad.syntax.namer import Namer

if TYPE_CHECKING:
    from srcgrad.infer.generators import Generator
    from srcgrad.specialise.dispatching import Method
    from srcgrad.specialise.places import Kept
    from srcgrad.specialise.records import Record
    from srcgrad.specialise.viewing import View

AnyStatement = TypeVar("AnyStatement", bound=Statement)


@dataclass(frozen=True, eq=False)
class Frame:
    """The function whose statements are being reduced: itself, or one that is written out in it."""

    owner: FunctionType  # by whose globals its names are meant
    cells: Mapping[ir.Cell, ir.Cell]  # its cells, and what it captured: the variables that they are
    outer: frozenset[ir.Cell]  # cells of the functions around, which were there before
    summaries: tuple[Summary, ...]  # of its calls
    function: Function

    @cached_property
    def not_reached(self) -> frozenset[Statement]:
        """Statements that are reached in none of its calls; none of a function that was not analysed itself."""
        statements = {statement for _, statement in walk(self.function.body)}
        reached: set[Statement] = set().union(*(each.reached for each in self.summaries))
        return frozenset() if statements.isdisjoint(reached) else frozenset(statements - reached)

    @cached_property
    def searched(self) -> frozenset[Operand]:
        """What ``in`` searches, by whatever name it was bound before."""
        operations = [s.operation for _, s in walk(self.function.body) if isinstance(s, Assign)]
        found = {o.right for o in operations if isinstance(o, ir.Compare) and o.symbol in ("in", "not in")}
        sources = {s.targets[0]: s.operation.source for _, s in walk(self.function.body)
                   if isinstance(s, Assign) and isinstance(s.operation, ir.Copy)}  # fmt: skip
        while found and (more := {sources[copy] for copy in found if copy in sources} - found):
            found |= more
        return frozenset(found)

    @cached_property
    def unassigned(self) -> Unassigned:
        """The reads of its variables that may come before a binding."""
        return unassigned_in(self.function.node)


@dataclass(eq=False)
class Reduced:
    """A function that is reduced, and what was found out about its operands."""

    function: Function
    owner: FunctionType
    facts: Facts
    frame: Frame
    called: dict[Statement, list[Summary]]  # what the statements call that are being reduced
    apart: Callable[[Reduced, Function], Block]  # the body of a function without ``try``
    functions: Functions = field(default_factory=Functions)
    known: dict[Operand, Operand] = field(default_factory=dict)  # what stands for an operand
    calls: dict[Statement, list[Summary]] = field(default_factory=dict)  # of the functions that statements call
    stars: dict[tuple[Statement, str], Contents] = field(default_factory=dict)  # what those hold that statements read
    values: dict[Version, Value] = field(default_factory=dict)
    unassigned: set[ir.Cell] = field(default_factory=set)  # which functions may read that are called before
    cells: set[ir.Cell] = field(default_factory=set)  # of the function, and of those that are written out in it
    namer: Namer = field(default_factory=lambda: Namer(()))
    this: Version | None = None  # the object that an ``__init__`` makes
    fields: dict[str, ir.Cell] = field(default_factory=dict)  # the variables that are its fields
    displays: dict[Operand, tuple[Operand, ...]] = field(default_factory=dict)  # the items of tuples
    tuples: dict[Operand, tuple[Operand, ...]] = field(default_factory=dict)  # the items of those without a name
    uses: Counter[Operand] = field(default_factory=Counter)  # how often operands are read
    iterators: set[Operand] = field(default_factory=set)  # over nothing, and views
    only_arguments: dict[Operand, list[Assign]] = field(default_factory=dict)  # lists and dicts that only calls read
    arguments: dict[Operand, list[Operand] | dict[str, Operand] | None] = field(default_factory=dict)  # their items
    rests: set[Operand] = field(default_factory=set)  # tuples of arguments, which a callee is given as they are
    parts: int = 0  # how many parts of it are attempted
    taken: dict[Operand, tuple[ir.Operation, ...]] = field(default_factory=dict)  # what patterns take apart
    origins: dict[Operand, ir.Operation] = field(default_factory=dict)  # the operations that bind versions
    methods: dict[Statement, Method] = field(default_factory=dict)  # how calls of methods are spelled
    records: dict[Operand, Record] = field(default_factory=dict)  # objects of models that are not made
    kept: dict[Operand, Kept] = field(default_factory=dict)  # iterators, which are not made
    held: dict[ir.Cell, Kept] = field(default_factory=dict)  # those of variables that are read and written
    views: dict[Operand, View] = field(default_factory=dict)  # of dicts, which are made where they are read
    viewed: dict[ir.Cell, View] = field(default_factory=dict)  # those of variables that are read and written
    stepped: set[Statement] = field(default_factory=set)  # calls of models that make some
    steps: set[Statement] = field(default_factory=set)  # of generators: out of which comes no StopIteration
    asked: dict[Operand, tuple[Kept, Operand]] = field(default_factory=dict)  # items, and whether there is one
    endings: dict[Operand, Operand] = field(default_factory=dict)  # tests whether there is none, by items
    ended: Mapping[Statement, UnsupportedSyntax] = field(default_factory=dict)  # where the text ends, refused
    is_flat: bool = False  # whether what it calls is written out in it where it can be
    is_conditional: bool = False  # whether what is reduced stands under a test, or behind one that may return
    sources: dict[FunctionType, Source] = field(default_factory=dict)  # of the functions that are written out in it

    def refuse(
        self, code: str, node: gast.AST, what: str, *, label: str | None = None, hint: str | None = None
    ) -> NoReturn:
        reason, span = f"{what} cannot be differentiated here", self.place_of(node)
        raise UnsupportedSyntax(reason, span, code=code, label=label, hint=hint or otherwise(code))

    def place_of(self, node: gast.AST) -> Span:
        """The place of a node, or of the function where the node has none."""
        has_place = getattr(node, "lineno", None) is not None
        return self.source_of(self.frame.owner).span(node) if has_place else self.source_of(self.owner).span()

    def refuse_at(self, code: str, what: str, node: gast.AST | None) -> NoReturn:
        """Refuse what is done at a node, which may stand in the text of a function that is written out here."""
        owner = self.functions.places.get(node, self.owner)
        if is_of_model(owner) or getattr(node, "lineno", None) is None:
            owner, node = self.owner, None
        span = self.source_of(owner).span(node)
        raise UnsupportedSyntax(f"{what} cannot be differentiated here", span, code=code, hint=otherwise(code))

    def source_of(self, owner: FunctionType) -> Source:
        """The source of a function, which is parsed once."""
        if owner not in self.sources:
            self.sources[owner] = source_of(owner)
        return self.sources[owner]

    def require_global(self, name: str, at: gast.AST) -> GlobalBinding:
        """What a global name means; refused where it means nothing."""
        source = self.source_of(self.frame.owner)
        binding = source.resolve(name) or source.resolve(name, source.span(at))  # which says why it means nothing
        if binding is None:
            raise UnresolvedName(
                f"the name {name!r} is not defined", source.span(at), code="E0115", label="no such name"
            )
        return binding

    def global_reference(self, name: str, at: gast.AST) -> Any:
        """The reference that a global name is."""
        return reference(self.require_global(name, at))

    def value(self, operand: Operand) -> Value:
        """What an operand may be."""
        if isinstance(operand, Literal):
            return exact(operand.value.value if isinstance(operand.value, Spelled) else operand.value)
        return self.values.get(operand, NEVER)

    def take_over(self, new: Statement, old: Statement, runs: Sequence[Summary | Generator]) -> None:
        """Note of a copy of a statement what it calls, and what stars hold that it reads."""
        self.called[new] = [inner for run in runs for inner in run.calls.get(old, ())]
        for side in ("parts", "entries"):
            found = [run.stars[old, side] for run in runs if (old, side) in run.stars]
            if found:
                self.stars[new, side] = reduce(joined, found)

    def renewed(self, statement: Statement, made: AnyStatement) -> AnyStatement:
        """Another form of a statement, of which it is still known what it calls."""
        if statement in self.calls:
            self.calls[made] = self.calls[statement]
        return made

    def is_of_sequence(self, iterator: Operand) -> bool:
        """Whether an iterator is that of a list or tuple, or a ``zip`` of nothing: it runs no code of the user's."""
        kinds: tuple[type, ...] = (type(iter([])), type(iter(())))
        found = [a.site if isinstance(a, At) else None for a in self.value(iterator).atoms]
        return bool(found) and all(site is not None and (
            site.kind in kinds or site.kind is zip and self.facts.contents[site].parts == ()) for site in found)

    def version(self, stem: str, value: Value) -> Version:
        """A version of the compiler's own."""
        made = Version(self.namer.fresh(stem), None)
        self.values[made] = value
        return made

    def new_cell(self, stem: str) -> ir.Cell:
        """A variable of the compiler's own, which is read and written."""
        variable = self.namer.fresh(stem)
        made = ir.Cell(variable, variable)
        self.cells.add(made)
        return made
