"""Sets: real ones, which the forward sweep alone makes, changes and reads; nothing in them varies.

Enters: displays, comprehensions, calls, operators and methods of what is known to be a set.  Leaves: ``Unruled``s that
say which set they change and what is put in (``analysis.activity`` refuses what varies), and lists of the items, in
the set's own order, where they are looped over::

    seen.add(i)                ->     t = seen.add(i)            changes seen, is given i
    for j in a | b:            ->     t = a | b;  items = list(t);  for j in items:
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast

from srcgrad import runtime
from srcgrad.errors import UnresolvedName, UnsupportedSyntax
from srcgrad.frontend.defaulting import Defaulting
from srcgrad.frontend.desugar import expressions as control
from srcgrad.frontend.desugar.build import call_builtin, call_runtime, constant, load, method_call, placed, subscript
from srcgrad.frontend.known import NONE, PLAIN, Bag, Entries, Items, Known, choices_of, classes_in
from srcgrad.frontend.methods import UNKNOWN
from srcgrad.frontend.normal_form import Bind, Effect, Fixed, Index, Operation, Statement, Unpack, Unruled
from srcgrad.frontend.plans import Items as ItemsPlan
from srcgrad.frontend.plans import Plan
from srcgrad.frontend.scope import Variable
from srcgrad.language import effects
from srcgrad.syntax.globals import GlobalReference, builtin, reference
from srcgrad.syntax.parse import names_read, walk

_PUTS = {"add": 1, "discard": 1, "remove": 1, "clear": 0, "pop": 0}  # how many arguments
_IN_PLACE: dict[type, str] = {
    gast.BitOr: "update",
    gast.BitAnd: "intersection_update",
    gast.Sub: "difference_update",
    gast.BitXor: "symmetric_difference_update",
}
_MAKES = effects.returning(frozenset, "element")
_OWN = effects.updating_only(set)
_ASKS = effects.returning(frozenset, "fresh")


class Sets(Defaulting):
    """Writes what is done with sets."""

    # --- what is one -------------------------------------------------------------------------------------------------
    def set_at(self, node: gast.AST) -> Bag | None:
        """What is known of the set that a path leads to."""
        factory = self._factory_of(node)
        static = None if factory is None else self.scope.static_of(factory)
        if static is not None and static.value is set:
            return Bag(set)  # of a defaultdict
        try:
            if isinstance(node, gast.Name) and not self._seems_set(node):
                return None  # nothing is relied on
            known = self.peek(node)
        except UnresolvedName:  # the target of a comprehension
            return None
        choices = [choice for choice in choices_of(known) if choice != NONE]
        return choices[0] if len(choices) == 1 and isinstance(choices[0], Bag) else None

    def _seems_set(self, node: gast.Name) -> bool:
        meaning = None if isinstance(node, GlobalReference) else self.scope.resolve(node.id, node)
        if not isinstance(meaning, Variable):
            return False
        name = self.local(meaning)
        known = self.assumed[name] if name in self.assumed else self.table.names.get(name, PLAIN)
        return any(isinstance(choice, Bag) for choice in choices_of(self.table.resolved(known)))

    def _is_set(self, node: gast.AST) -> bool:
        """Whether an expression is surely a set, as a path to one or as what makes one."""
        match node:
            case gast.Set() | gast.SetComp():
                return True
            case gast.BinOp(op=op) if type(op) in _IN_PLACE:
                return any(self._is_set(operand) for operand in _operands(node))
            case gast.Call(func=gast.Attribute(value=value, attr=attr)) if attr in _MAKES:
                return self._is_set(value)
            case gast.Call():
                return self._makes(node, set) or self._makes(node, frozenset)
        return self.set_at(node) is not None

    def _is_mapping(self, node: gast.expr) -> bool:
        return super()._is_mapping(node) and not self._is_set(node)

    # --- making ------------------------------------------------------------------------------------------------------
    def operation(self, node: gast.expr) -> tuple[gast.expr, Operation]:
        match node:
            case gast.Set(elts=elements):
                if any(isinstance(element, gast.Starred) for element in elements):
                    raise self.refuse(node, "a set display of the items of another", "write a | b")
                atoms = [self._key(element) for element in elements]
                return placed(gast.Set(list(map(self._checked, atoms))), node), self._kept(node, atoms, set)
            case gast.SetComp(elt=element, generators=generators):
                listed = placed(gast.ListComp(element, generators), node)
                return self.operation(call_builtin("set", [listed], node))
            case gast.BinOp(left=left, op=op, right=right) if self._is_set(node):
                (one, kind), (other, _) = map(self._operand, (left, right))
                return placed(gast.BinOp(one, op, other), node), self._kept(node, (), kind)
        return super().operation(node)

    def call(self, node: gast.Call) -> tuple[gast.expr, Operation]:
        for kind in (set, frozenset):
            if self._makes(node, kind) and len(node.args) <= 1 and not node.keywords:
                atoms, given = self._items_given(node.args)
                return call_builtin(kind.__name__, atoms, node), self._kept(node, given, kind)
        if isinstance(node.func, gast.Attribute) and node.func.attr in _MAKES | _ASKS and self._is_set(node.func.value):
            base = self.name_of(node.func.value)
            atoms, given = self._items_given(node.args)
            makes = self._kind_of(load(base, node)) if node.func.attr in _MAKES else None
            made = method_call(load(base, node), node.func.attr, atoms, node)
            return made, self._kept(node, given if makes else (), makes)
        return super().call(node)

    def _operand(self, node: gast.expr) -> tuple[gast.expr, type]:
        """An atom for an operand beside a set, and which kind of set it is."""
        outside = self._global_value(node)
        atom = self.value(node)
        return atom, type(outside) if isinstance(outside, set | frozenset) else self._kind_of(atom)

    def _kind_of(self, atom: gast.expr) -> type:
        known = self.set_at(atom)
        if known is None:
            raise self.refuse(atom, "this may be a set or something else", "write set(...) of it")
        return known.kind

    def _kept(
        self, node: gast.AST, given: Sequence[gast.expr], makes: type | None = None, changes: str | None = None
    ) -> Unruled:
        """The operation of what puts ``given`` into a set that it makes, or that it ``changes``."""
        refusal = UnsupportedSyntax(
            "what is put into a set varies: its derivative would be lost there",
            self.source.span(node),
            label="this varies",
            hint="sets are for numbers of things, keys and text; keep what varies in a list or dict",
        )
        known: Known = PLAIN if makes is None else Bag(makes)
        names = () if self.source.generated else tuple(names_read(*given))
        return Unruled(refusal, True, names, changes, known)

    def _key(self, node: gast.expr) -> gast.expr:
        """An atom that is put into a set."""
        if classes_in(self.peek(atom := self.value(node)), self.table.resolved):
            raise self.refuse(
                node,
                "an object is put into a set, and what is read from it there would not be followed",
                "put in what tells it apart, a number or a name",
            )
        return atom

    def _checked(self, atom: gast.expr) -> gast.expr:
        """In our own output, where more seems to vary than does, the run looks at what is put into a set."""
        if not self.source.generated or isinstance(atom, gast.Constant):
            return atom
        return call_runtime(runtime.unvaried, [atom], atom)

    def _items_given(self, nodes: Sequence[gast.expr]) -> tuple[list[gast.expr], list[gast.expr]]:
        """Atoms for what sets are made of; which of them may vary: items of sets and keys of dicts never do."""
        atoms: list[gast.expr] = []
        given: list[gast.expr] = []
        for node in nodes:
            if isinstance(node, gast.Starred):
                raise self.refuse(node, "the items of a set that are given with a star", "write out what is given")
            listed = node
            if isinstance(node, gast.GeneratorExp):
                listed = placed(gast.ListComp(node.elt, node.generators), node)
            elif not self._is_set(node):
                listed = self.consumed(node)
            atom = self._key(listed)
            known = self.peek(atom)
            is_dict = isinstance(known, Entries) or isinstance(known, Items) and known.kind is dict
            if not (isinstance(known, Bag) or is_dict or self._is_mapping(node)):
                given.append(atom)
                atom = self._checked(atom)
            atoms.append(atom)
        return atoms, given

    # --- changing ----------------------------------------------------------------------------------------------------
    def _change_of_set(self, node: gast.Call) -> bool:
        """Whether a call is of a method by which a set changes."""
        func = node.func
        if not isinstance(func, gast.Attribute) or node.keywords or self.scope.static_of(func) is not None:
            return False
        if _PUTS.get(func.attr) == len(node.args) or func.attr in _IN_PLACE.values():
            known = self.set_at(func.value)
            return known == Bag(set) or isinstance(self._global_value(func.value), set)
        return False

    def _refuse_change(self, node: gast.Call) -> None:
        if node.func.attr in _OWN and not self.is_global(node.func):
            raise self.refuse(node, "what changes here is not known to be a set", UNKNOWN)
        super()._refuse_change(node)

    def needs_statements(self, *nodes: gast.AST) -> bool:
        calls = (inner for node in nodes for inner in walk(node) if isinstance(inner, gast.Call))
        return any(map(self._change_of_set, calls)) or super().needs_statements(*nodes)

    def _linear(self, node: gast.expr) -> gast.expr:
        return self.value(node) if isinstance(node, gast.Call) and self._change_of_set(node) else super()._linear(node)

    def change(self, node: gast.Call) -> bool:
        node = self._with_receiver(node)
        if not self._change_of_set(node):
            return super().change(node)
        self._change_set(node, self.fresh)
        return True

    def bind_call(self, target: Callable[[], str], node: gast.Call) -> bool:
        if self._change_of_set(node):
            self._change_set(node, target)
            return True
        if self._makes(node, list) and len(node.args) == 1 and not node.keywords and self._is_set(node.args[0]):
            self._list_items(target(), node.args[0])
            return True
        return super().bind_call(target, node)

    def _with_receiver(self, node: gast.Call) -> gast.Call:
        """``d.setdefault(k, set()).add(i)``: the set that a call gives under a name."""
        match node.func:
            case gast.Attribute(value=gast.Call() as inner, attr="add" | "discard" | "update") if not (
                self.is_object(inner) or self.makes_object(inner) or self.scope.static_of(node.func) is not None
            ):
                func = placed(gast.Attribute(self.value(inner), node.func.attr, gast.Load()), node.func)
                return placed(gast.Call(func, node.args, node.keywords), node)
        return node

    def _change_set(self, node: gast.Call, target: Callable[[], str]) -> None:
        base, name = self._changed(node.func.value), node.func.attr
        if name == "update" and len(node.args) == 1 and (source := self.generated(node.args[0])) is not None:
            one = self.renamed(source)
            self.within(one, lambda: self.run(control.each_into(one, base, "add")))
            self.emit(target(), constant(None, node), Fixed())
            return
        if name in _PUTS:
            given = [self._key(argument) for argument in node.args]
            atoms = list(map(self._checked, given))
        else:
            atoms, given = self._items_given(node.args)
        made = method_call(load(base, node), name, list(atoms), node)
        self.emit(target(), made, self._kept(node, given, None, base))

    def _changed(self, node: gast.expr) -> str:
        """The local name of a set that changes."""
        base = self.stored_into(node)
        self._kind_of(load(base, node))
        return base

    def in_place(self, node: gast.BinOp) -> gast.expr:
        known = self.set_at(node.left)
        if known is None or type(node.op) not in _IN_PLACE:
            return super().in_place(node)
        if known.kind is frozenset:
            return self.value(node)
        base = self._changed(node.left)
        other, _ = self._operand(node.right)
        made = method_call(load(base, node), _IN_PLACE[type(node.op)], [other], node)
        self.emit(self.fresh(), made, self._kept(node, (), None, base))
        return load(base, node)

    def store_augmented(self, target: gast.Subscript, operator: gast.operator, value: gast.expr) -> None:
        if self.set_at(target) != Bag(set):
            super().store_augmented(target, operator, value)
            return
        part = self.name_of(subscript(target.value, target.slice, target))
        self.in_place(placed(gast.BinOp(load(part, target), operator, value), target))

    def noted(self, statement: Statement) -> None:
        """What comes out of a container and should be a set is looked at: something else may have been put in."""
        match statement:
            case Bind(target=target, operation=Index()):
                targets: tuple[str, ...] = (target,)
            case Unpack(targets=targets):
                pass
            case _:
                return
        for name in () if self.source.generated else targets:
            for known in choices_of(self.table.of(name)):
                if isinstance(known, Bag):
                    at = gast.Name(name, gast.Load(), None, None)
                    kind = reference(builtin(known.kind.__name__))
                    made = call_runtime(runtime.require_set, [at, kind], at)
                    self.out.append(Effect(placed(gast.Expr(made), at), self.span))

    # --- reading -----------------------------------------------------------------------------------------------------
    def admit_method(self, node: gast.Call) -> None:
        if not (node.func.attr in _MAKES | _ASKS and self._is_set(node.func.value)):
            super().admit_method(node)

    def plan(self, node: gast.expr, rebound: set[str]) -> Plan | None:
        if self._calls(node, reversed) and isinstance(node, gast.Call) and any(map(self._is_set, node.args)):
            raise self.refuse(node, "a set has no order to be reversed", "write reversed(sorted(...)), or leave it out")
        constants = isinstance(node, gast.Set) and all(isinstance(element, gast.Constant) for element in node.elts)
        if constants or not self._is_set(node):
            return super().plan(node, rebound)
        atom = self.value(node)
        items = self._list_items(self.fresh("items"), atom)
        if isinstance(atom, gast.Name) and not isinstance(atom, GlobalReference):
            self.walk(atom.id, items, node)
        return ItemsPlan(items)

    def _is_iterator(self, node: gast.expr) -> bool:
        return self._is_set(node) or super()._is_iterator(node)

    def _listed_iterator(self, node: gast.expr) -> gast.expr | None:
        if self._is_set(node):
            return load(self._list_items(self.fresh("items"), node), node)
        return super()._listed_iterator(node)

    def _list_items(self, target: str, node: gast.expr) -> str:
        """Bind a list of the items that a set has now, in its order."""
        self._kind_of(atom := self.value(node))
        self.emit(target, call_builtin("list", [atom], node), self._kept(node, ()))
        return target


def _operands(node: gast.BinOp) -> list[gast.expr]:
    """The operands of a chain of operators that sets have."""
    found: list[gast.expr] = []
    pending: list[gast.expr] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, gast.BinOp) and type(part.op) in _IN_PLACE:
            pending += [part.right, part.left]
        elif not isinstance(part, gast.BinOp):
            found.append(part)
    return found
