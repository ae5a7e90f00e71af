"""Results of a derivative share no memory with each other or with what it was given: a store is seen in one of them.

Enters: the emitted text of a derivative that is called by its text: saved, read, or differentiated again.  Leaves: the
same text, with a copy of each result that is not seen to be memory of its own::

    return unbroadcast(t_bar, a), unbroadcast(t_bar, b)    ->    ..., unshared(unbroadcast(t_bar, b))
    return x_bar * w, zeros_like(w)                        ->    the same

Within a program cotangents are shared as they like, because nothing is added to one that is not owned; but callers
store into what they get.  Every expression that makes memory is a *source*; a name has the sources of all that is bound
to it, without regard to order, and what is not known has ``GIVEN``.  So two results share memory only if they have a
source in common, and the parts of one only if something put it together that is not known to keep them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import gast

from srcgrad import runtime
from srcgrad.analysis.outside import may_change
from srcgrad.rules.formula import object_of
from srcgrad.rules.memory import makes_new
from srcgrad.rules.table import method
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.globals import GlobalReference, call_runtime
from srcgrad.syntax.parse import walk

GIVEN = -1  # the source of what somebody else may hold: an argument, a global, whatever is not known
SEED = -2  # the seed of a gradient, which is one number, of an array's class perhaps

#: What hands on its first argument, or an array made from it.
_HANDS_ON = frozenset({runtime.unbroadcast, runtime.unreduce})
#: What changes the numbers in its first argument, and puts nothing into it that is not a copy.
_ADDS = frozenset({runtime.add_at, runtime.accumulate, runtime.claim})
#: What makes an array, or a container whose parts share no memory.
_APART = frozenset(
    {
        runtime.zeros_like, runtime.untake, runtime.add, runtime.each_once, runtime.unshared,
        runtime.unmatmul_left, runtime.unmatmul_right, runtime.undot_left, runtime.undot_right, runtime.unproduct,
    }
)  # fmt: skip


@dataclass(frozen=True)
class _Memory:
    """``sources``: what may have made the memory; ``shared``: its parts may share some; ``numeric``: it is an array, or
    a number, and no container."""

    sources: frozenset[int] = frozenset()
    shared: bool = False
    numeric: bool = True

    def __or__(self, other: _Memory) -> _Memory:
        sources = self.sources | other.sources
        return _Memory(sources, self.shared or other.shared, self.numeric and other.numeric)


_NOTHING = _Memory()
_ANYTHING = _Memory(frozenset((GIVEN,)), shared=True, numeric=False)


@dataclass(frozen=True)
class Returning:
    """What a function returns, and what in it is the reverse sweep: ``beside``: ``value, results``, of which the value
    is what the differentiated function returned, and stays as it is; ``seed``: the parameter that is one number;
    ``is_sweep``: there is no forward sweep in it."""

    beside: bool = False
    seed: str | None = None
    is_sweep: bool = False


class Sweeps:
    """The backward functions of a module, whose text says whether what a call of one returns is new, and is apart."""

    def __init__(self, functions: Iterable[gast.FunctionDef]) -> None:
        self.functions = {function.name: function for function in functions}
        self.answers: dict[str, bool] = {}

    def make_apart(self, call: gast.Call) -> bool:
        match call.func:
            case gast.Name(id=name) if not isinstance(call.func, GlobalReference) and name in self.functions:
                if name not in self.answers:
                    self.answers[name] = False  # while it is looked at: it may call itself
                    self.answers[name] = self._makes_apart(self.functions[name])
                return self.answers[name]
        return False

    def _makes_apart(self, function: gast.FunctionDef) -> bool:
        memory = _Names(function, Returning(is_sweep=True), self)
        returned = [node.value for node in walk(function) if isinstance(node, gast.Return)]
        held = [memory.of(value) for value in returned if value is not None]
        return not any(each.shared or GIVEN in each.sources for each in held)


def keep_results_apart(function: gast.FunctionDef, returning: Returning, sweeps: Sweeps) -> None:
    """Copy what ``function`` returns where it is not seen to be apart."""
    memory = _Names(function, returning, sweeps)
    for statement in memory.nodes:
        if not isinstance(statement, gast.Return) or statement.value is None:
            continue
        taken = {GIVEN}
        if not returning.beside:
            statement.value = _kept_apart(statement.value, taken, memory)
        elif isinstance(statement.value, gast.Tuple) and len(statement.value.elts) == 2:
            value, results = statement.value.elts
            taken |= memory.of(value).sources
            statement.value = gast.Tuple([value, _kept_apart(results, taken, memory)], gast.Load())


def _kept_apart(results: gast.expr, taken: set[int], memory: _Names) -> gast.expr:
    if isinstance(results, gast.Tuple):
        return gast.Tuple([_kept_apart(result, taken, memory) for result in results.elts], gast.Load())
    held = memory.of(results)
    if held.shared or held.sources & taken:
        return call_runtime(runtime.unshared, results)
    taken |= held.sources
    return results


#: The nodes that bind names or change what they hold.
_NOTED = (gast.Assign, gast.For, gast.AugAssign, gast.Expr, gast.Call)


class _Names:
    """The memory that the names of one function may hold."""

    def __init__(self, function: gast.FunctionDef, returning: Returning, callees: Sweeps) -> None:
        self.function, self.callees, self.nodes = function, callees, list(gast.walk(function))
        self._sources: dict[gast.AST, int] = {}
        self.held: dict[str, _Memory] = {}
        for node in self.nodes:
            if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store | gast.Param):
                self.held[node.id] = _ANYTHING if isinstance(node.ctx, gast.Param) else self.held.get(node.id, _NOTHING)
        if returning.seed is not None:
            self.held[returning.seed] = _Memory(frozenset((SEED,)))
        self.sweeps = self._sweep(returning.is_sweep)
        self._note_others()
        noted = [node for node in self.nodes if isinstance(node, _NOTED)]
        before: dict[str, _Memory] | None = None
        while before != self.held:
            before = dict(self.held)
            for node in noted:
                self._note(node)

    def _sweep(self, whole: bool) -> set[int]:
        """The nodes of the reverse sweep, which an empty comment opens: in it ``+`` and ``*`` are arithmetic, elsewhere
        they may join lists, and repeat them."""
        body = self.function.body
        first = next((j for j, s in enumerate(body) if isinstance(s, Comment) and not s.text), len(body))
        return {id(node) for node in walk(*body[0 if whole else first :])}

    def _note_others(self) -> None:
        """Names that something else binds than an assignment or a loop."""
        bound = {
            id(name) for node in self.nodes for target in _targets(node) for name in walk(target)
        }  # fmt: skip
        for node in self.nodes:
            if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store | gast.Del) and id(node) not in bound:
                self.held[node.id] = _ANYTHING

    def _join(self, name: str, memory: _Memory) -> None:
        self.held[name] = self.held.get(name, _NOTHING) | memory

    def _source(self, node: gast.AST) -> frozenset[int]:
        return frozenset((self._sources.setdefault(node, len(self._sources)),))

    # --- statements --------------------------------------------------------------------------------------------------
    def _note(self, node: gast.AST) -> None:
        match node:
            case gast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value)
            case gast.For(target=target, iter=iterable):
                item = self.of(iterable)
                self._bind_all(target, _Memory(item.sources | self._source(node), shared=True, numeric=False))
            case gast.AugAssign(target=gast.Name(id=name), value=value):
                # Of a number it binds the name to what is new; a list is lengthened.
                added = self.of(value)
                is_number = added.numeric or id(node) in self.sweeps
                self._join(name, _Memory(self._source(node)) if is_number else added)
            case gast.AugAssign(target=target, value=value):
                if not (self.of(value).numeric or id(node) in self.sweeps):
                    self._put(target, value)
            case gast.Expr(value=gast.Call() as call) if object_of(call.func) not in _ADDS:
                self._given_to(call)
            case gast.Call() as call if id(call) not in self.sweeps and self._kind(call) is None:
                self._given_to(call)

    def _bind(self, target: gast.expr, value: gast.expr) -> None:
        match target, value:
            case gast.Tuple(elts=targets), gast.Tuple(elts=values) if len(targets) == len(values):
                for one, part in zip(targets, values, strict=True):
                    self._bind(one, part)
            case gast.Tuple(elts=targets), gast.Call() if self.callees.make_apart(value):
                for one in targets:
                    self._bind_all(one, _Memory(self._source(one), numeric=False))
            case gast.Subscript() | gast.Attribute(), gast.Constant():
                pass
            case gast.Subscript() | gast.Attribute(), _:
                self._put(target, value)
            case _:
                self._bind_all(target, self.of(value))

    def _bind_all(self, target: gast.expr, memory: _Memory) -> None:
        for name in walk(target):
            if isinstance(name, gast.Name) and isinstance(name.ctx, gast.Store):
                self._join(name.id, memory)
        if not isinstance(target, gast.Name):
            for part in walk(target):
                if isinstance(part, gast.Subscript | gast.Attribute):
                    self._put_memory(part, memory)

    def _put(self, place: gast.expr, value: gast.expr) -> None:
        self._put_memory(place, self.of(value))

    def _put_memory(self, place: gast.expr, memory: _Memory) -> None:
        """What is put into a container is held by it, and perhaps by another name."""
        while isinstance(place, gast.Subscript | gast.Attribute):
            place = place.value
        if isinstance(place, gast.Name):
            self._join(place.id, _Memory(memory.sources, shared=True, numeric=self._is_numeric(place.id)))

    def _is_numeric(self, name: str) -> bool:
        return self.held.get(name, _NOTHING).numeric

    def _given_to(self, call: gast.Call) -> None:
        """A call of what is not known may put anything into what it is given."""
        for node in (call.func, *call.args, *call.keywords):
            for name in walk(node):
                if isinstance(name, gast.Name) and not isinstance(name, GlobalReference) and name.id in self.held:
                    self._join(name.id, _ANYTHING)

    # --- expressions -------------------------------------------------------------------------------------------------
    def of(self, value: gast.expr) -> _Memory:
        match value:
            case gast.Constant() | gast.Compare() | gast.JoinedStr() | gast.Slice():
                return _Memory(numeric=not isinstance(value, gast.Slice))
            case gast.Name() if not isinstance(value, GlobalReference):
                return self.held.get(value.id, _ANYTHING)
            case gast.BinOp(op=operator, left=left, right=right):
                operands = (self.of(left), self.of(right))
                if self._is_arithmetic(value, operator, operands):
                    return _Memory(self._source(value))
                return _Memory(operands[0].sources | operands[1].sources, shared=True, numeric=False)
            case gast.UnaryOp():
                return _Memory(self._source(value))
            case gast.Tuple(elts=parts) | gast.List(elts=parts) | gast.Dict(values=parts):
                return self._display(parts)
            case gast.IfExp(body=body, orelse=orelse):
                return self.of(body) | self.of(orelse)
            case gast.Subscript(value=whole) | gast.Starred(value=whole):
                return self.of(whole)
            case gast.Attribute(value=whole) if object_of(value) is None:
                return self.of(whole)
            case gast.Call():
                return self._call(value)
        known = object_of(value)
        return _NOTHING if known is not None and not may_change(known) else _ANYTHING

    def _is_arithmetic(self, value: gast.expr, operator: gast.AST, operands: tuple[_Memory, _Memory]) -> bool:
        """Whether the result is new: ``+`` joins two lists, ``*`` repeats one."""
        if id(value) in self.sweeps or not isinstance(operator, gast.Add | gast.Mult):
            return True
        if isinstance(operator, gast.Add):
            return any(operand.numeric for operand in operands)
        return all(operand.numeric for operand in operands)

    def _display(self, parts: list[gast.expr]) -> _Memory:
        held = _Memory(numeric=False)
        for part in map(self.of, parts):
            meets = bool(part.sources & held.sources)
            held = _Memory(held.sources | part.sources, held.shared or part.shared or meets, numeric=False)
        return held

    def _kind(self, call: gast.Call) -> str | None:
        """How a call treats memory, where it is known: it makes some, or hands on that of its first argument."""
        function = object_of(call.func)
        if self.callees.make_apart(call):
            return "makes apart"
        if function is runtime.one_for:
            return "number"
        if function is runtime.pack_like and call.args:
            return "packs"
        if _is_among(function, _HANDS_ON) and call.args:
            return "hands on"
        if _is_among(function, _APART):
            return "makes"
        if _is_among(function, _ADDS):
            return "adds"
        if function is not None:
            if not makes_new(function):
                return None
            return "makes several" if str(getattr(function, "__module__", None)).startswith("srcgrad.") else "makes"
        if isinstance(call.func, gast.Attribute) and call.func.attr != "copy":
            return "makes" if makes_new(method(call.func.attr), call.func.attr) else None
        return None

    def _call(self, call: gast.Call) -> _Memory:
        source = self._source(call)
        match self._kind(call):
            case "number":
                return _NOTHING
            case "packs":
                return self.of(call.args[0])
            case "hands on":
                given = self.of(call.args[0])
                return _Memory(given.sources | source, given.shared)
            case "makes":
                return _Memory(source, numeric=object_of(call.func) not in _APART)
            case "makes apart":
                return _Memory(source, numeric=False)
            case "makes several":
                return _Memory(source, shared=True, numeric=False)
        operands = [*call.args, *(keyword.value for keyword in call.keywords)]
        if isinstance(call.func, gast.Attribute) and object_of(call.func) is None:
            operands.append(call.func.value)
        sources = source.union(*(self.of(operand).sources for operand in operands))
        return _Memory(sources, shared=True, numeric=False)


def _is_among(function: object, functions: frozenset[object]) -> bool:
    try:
        return function in functions
    except TypeError:
        return False


def _targets(node: gast.AST) -> Iterator[gast.expr]:
    match node:
        case gast.Assign(targets=targets):
            yield from targets
        case gast.For(target=target) | gast.AugAssign(target=target):
            yield target
