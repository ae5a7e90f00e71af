"""What a text says of generators, and of iterators that call functions, that ``StopIteration`` may leave.

Enters: the text of a function.  Leaves: what runs when an item is asked for, and whether it may raise it.  Where
``StopIteration`` leaves a generator expression Python raises ``RuntimeError``; where it leaves a function that ``map``
calls, the loop over the ``map`` ends::

    sum(ask(it) * v for v in x)        RuntimeError, where it is at its end and ask gives next(it)
    sum(map(lambda v: ask(it), x))     what was added up before

Both are written as loops, out of which ``StopIteration`` itself would come.  So what they call is looked at: whether it
asks by ``next`` without a default, raises what may be ``StopIteration``, or calls what does.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Any

import gast

from srcgrad import runtime
from srcgrad.frontend.names import bound_by
from srcgrad.frontend.source import Source, meaning_outside
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import children, walk

REASON = "StopIteration may leave a generator, or a function that an iterator calls, which ends them in another way"
HINT = "give next() a default, or catch StopIteration where it is raised"
#: What makes iterators that call a function: the place of that function among the arguments, and its name.
_CALLING: dict[object, tuple[int, str | None]] = {
    map: (0, None), filter: (0, None), iter: (0, None), itertools.filterfalse: (0, None), itertools.starmap: (0, None),
    itertools.takewhile: (0, None), itertools.dropwhile: (0, None), itertools.accumulate: (1, "func"),
    itertools.groupby: (1, "key"),
}  # fmt: skip
#: Methods that ask an iterator for an item, or raise what they are given.
ASKING = frozenset({"__next__", "send", "throw"})
_READ = ASKING | {"next", "StopIteration"}


def may_ask(code: CodeType) -> bool:
    """Whether a function of which nothing but its code is known may raise ``StopIteration``."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return not _READ.isdisjoint(code.co_names) or any(map(may_ask, inner))


@dataclass(frozen=True)
class Delayed:
    """What runs when an iterator is asked for an item: nodes, or a function that is handed over."""

    at: gast.AST
    nodes: tuple[gast.AST, ...]
    called: tuple[object, ...]  # what is called there, as far as it is known
    is_open: bool  # whether more may be called


@dataclass(eq=False)
class Text:
    """The text of a function."""

    source: Source
    node: gast.AST

    @cached_property
    def _outside(self) -> Callable[[str], object]:
        return meaning_outside(self.source)

    @cached_property
    def _imported(self) -> dict[str, object]:
        """What imports in the function bind."""
        found: dict[str, object] = {}
        for node in walk(self.node):
            for alias in node.names if isinstance(node, gast.Import | gast.ImportFrom) else ():
                if isinstance(node, gast.Import):
                    found[alias.asname or alias.name] = sys.modules.get(alias.name)
                else:
                    found[alias.asname or alias.name] = getattr(sys.modules.get(node.module or ""), alias.name, None)
        return found

    def meaning(self, node: gast.AST | None) -> Any:
        """The object that an expression stands for, where no local variable is read; None of others."""
        match node:
            case GlobalReference():
                return node.binding.value
            case gast.Name(id=name):
                found = self._imported.get(name)
                return self._outside(name) if found is None else found
            case gast.Attribute(value=value, attr=attr):
                held = self.meaning(value)
                return getattr(held, attr, None) if isinstance(held, ModuleType) else None
        return None

    def asks(self, nodes: Iterable[gast.AST], is_caught: bool = False, is_handled: bool = False) -> bool:
        """Whether nodes themselves may raise ``StopIteration``; ``is_handled``: whether what they handle may be it."""
        return any(self._asks(node, is_caught, is_handled) for node in nodes)

    def _asks(self, node: gast.AST, is_caught: bool, is_handled: bool) -> bool:
        match node:
            case gast.Call(func=function, args=[_, _, *_] as given) if self.meaning(function) is next:
                return self.asks(given, is_caught, is_handled)
            case gast.Attribute(attr=attr) if attr in ASKING:
                return not is_caught
            case gast.Name() | gast.Attribute() | GlobalReference() if self.meaning(node) in _SOURCES:
                return not is_caught
            case gast.Raise(exc=raised):
                own = is_handled if raised is None else self._may_be(raised, is_handled)
                return own and not is_caught or self.asks(children(node), is_caught, is_handled)
            case gast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                caught = any(self._catches(handler.type) for handler in handlers)
                if self.asks(body, is_caught or caught, is_handled) or self.asks([*orelse, *final], is_caught):
                    return True
                return any(self.asks(h.body, is_caught, is_handled or self._catches(h.type)) for h in handlers)
            case gast.FunctionDef() | gast.Lambda() | gast.GeneratorExp():
                return self.asks(children(node))  # which run elsewhere
        return self.asks(children(node), is_caught, is_handled)

    def _catches(self, kind: gast.AST | None) -> bool:
        """Whether a handler catches it, for sure or not: where it does not, it is raised again by a ``raise``."""
        kinds = kind.elts if isinstance(kind, gast.Tuple) else [kind]
        found = [self.meaning(each) for each in kinds]
        return kind is None or any(isinstance(each, type) and issubclass(StopIteration, each) for each in found)

    def _may_be(self, raised: gast.AST, is_handled: bool) -> bool:
        kind = self.meaning(raised.func if isinstance(raised, gast.Call) else raised)
        if isinstance(kind, type):
            return issubclass(kind, StopIteration)
        return is_handled or not isinstance(raised, gast.Name) or not self._is_caught(raised.id)

    def _is_caught(self, name: str) -> bool:
        """Whether a name is bound by handlers alone."""
        handlers = [h for h in walk(self.node) if isinstance(h, gast.ExceptHandler) and _named(h) == name]
        bound = [n for n in walk(self.node) if isinstance(n, gast.Name) and n.id == name]
        stores = [n for n in bound if isinstance(n.ctx, gast.Store | gast.Param)]
        return bool(handlers) and len(stores) <= sum(isinstance(h.name, gast.Name) for h in handlers)

    # --- what runs later ---------------------------------------------------------------------------------------------
    @cached_property
    def delayed(self) -> list[Delayed]:
        found: list[Delayed] = []
        heads = {id(node.func) for node in walk(self.node) if isinstance(node, gast.Call)}
        for node in walk(self.node):
            match node:
                case gast.GeneratorExp(elt=element, generators=[first, *rest]):
                    found.append(self._of(node, [element, first.target, *first.ifs, *rest]))
                case gast.Call(func=function) if (place := self._place(function)) is not None:
                    found += self._handed(node, *place)
                case gast.Name() | gast.Attribute() if id(node) not in heads and self._place(node) is not None:
                    found.append(Delayed(node, (), (), True))
        return found

    def _place(self, node: gast.AST) -> tuple[int, str | None] | None:
        made = self.meaning(node)
        return _CALLING.get(made) if isinstance(made, type) or made is iter else None

    def _handed(self, node: gast.Call, place: int, name: str | None) -> Iterator[Delayed]:
        if self.meaning(node.func) is iter and len(node.args) < 2:
            return
        given = [k.value for k in node.keywords if k.arg in (name, None)]
        given += node.args[place : place + 1]
        for function in given:
            match function:
                case gast.Constant():
                    pass
                case gast.Lambda(body=body):
                    yield self._of(node, [body])
                case gast.Name(id=found) if found in self._functions:
                    yield self._of(node, self._functions[found])
                case _:
                    called = self.meaning(function)
                    yield Delayed(node, (function,), (called,) * (called is not None), called is None)
        if any(isinstance(each, gast.Starred) for each in node.args[: place + 1]):
            yield Delayed(node, (), (), True)

    @cached_property
    def _functions(self) -> dict[str, list[gast.AST]]:
        """The functions that stand in the text and alone have their names."""
        found: dict[str, list[gast.AST]] = {}
        bound = Counter(name for node in walk(self.node) for name in bound_by(node))
        for node in walk(self.node):
            match node:
                case gast.FunctionDef(name=name, body=body) if node is not self.node:
                    found[name] = body
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Lambda(body=body)):
                    found[name] = [body]
        return {name: body for name, body in found.items() if bound[name] == 1}

    def _of(self, at: gast.AST, nodes: Sequence[gast.AST]) -> Delayed:
        nodes = [*nodes]
        seen: set[str] = set()
        heads: list[gast.AST] = []
        for node in nodes:  # which grows by the functions that are called
            for call in (each for each in walk(node) if isinstance(each, gast.Call)):
                name = call.func.id if isinstance(call.func, gast.Name) else ""
                if name not in self._functions:
                    heads.append(call.func)
                elif name not in seen:
                    seen.add(name)
                    nodes += self._functions[name]
        called = [self.meaning(head) for head in heads]
        known = tuple(each for each in called if each is not None)
        return Delayed(at, tuple(nodes), known, len(known) < len(called))

    @cached_property
    def called_at_once(self) -> set[object]:
        """What the text calls by name outside of what runs later."""
        later = {id(part) for each in self.delayed for part in walk(*each.nodes)}
        calls = (node for node in walk(self.node) if isinstance(node, gast.Call) and id(node) not in later)
        return {made for node in calls if isinstance(made := self.meaning(node.func), FunctionType)}

    @cached_property
    def has_asking_function(self) -> bool:
        """Whether a function that stands in the text asks, and is not handed over where it stands."""
        later = {id(part) for each in self.delayed for part in walk(*each.nodes)}
        inner = (n for n in walk(self.node) if isinstance(n, gast.FunctionDef | gast.Lambda) and n is not self.node)
        return any(id(n) not in later and self.asks([n]) for n in inner)


_SOURCES = (next, runtime.require_item)


def _named(handler: Any) -> object:
    return handler.name.id if isinstance(handler.name, gast.Name) else handler.name
