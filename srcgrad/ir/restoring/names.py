"""Names: the versions of one variable share its spelling, as long as every read finds the version that it means.

At first each version is spelled like its variable.  A walk in the order of evaluation then follows which versions each
spelling may hold (reaching definitions: Aho et al., *Compilers*, 9.2.4).  Where a read finds another version than its
own, what overwrote it gets a fresh spelling, and the walk starts again.  Block arguments that keep their spelling are
no assignments; of versions that are *tied* one spelling has to do, or the form that ties them is refused.

>>> import gast
>>> from srcgrad.frontend.lowering import lowered
>>> from srcgrad.ir.restoring import restored
>>> def step(x):
...     while x > 1:
...         x = x / 2
...     return x
>>> print(gast.unparse(restored(lowered(step))).strip())
def step(x):
    while x > 1:
        x = x / 2
    return x
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import gast

from srcgrad.ir.operations import Version
from srcgrad.ir.regions import Statement
from srcgrad.ir.restoring.pending import Plan
from srcgrad.ir.restoring.reaching import Rounds, State, Walk
from srcgrad.ir.restoring.scanning import nodes_of
from srcgrad.ir.restoring.tree import Copies, Inner, is_nothing
from srcgrad.syntax.namer import Namer


@dataclass(eq=False)
class Naming:
    """The names of a function's versions."""

    plan: Plan
    parent: dict[Version, Version] = field(default_factory=dict)  # of the classes of versions that are tied
    reasons: dict[Version, list[Statement]] = field(default_factory=dict)
    spelled: dict[Version, str] = field(default_factory=dict)
    kinds: dict[str, dict[object, str]] = field(default_factory=dict)  # of variables, by kinds, their spelling
    fixed: set[Version] = field(default_factory=set)  # classes of parameters
    loops: list[Rounds] = field(default_factory=list)
    watched: list[State] = field(default_factory=list)  # what a spelling may hold where an exception is handled
    doubtful: set[Version] = field(default_factory=set)  # versions that may hold no value
    inner: set[Version] = field(default_factory=set)  # what comprehensions bind
    alone: set[Version] = field(default_factory=set)  # classes whose spelling nothing else has
    changed: bool = False
    holds_none: bool = False  # what has no value is None

    def root(self, version: Version) -> Version:
        version = self.plan.same.get(version, version)
        while version in self.parent:
            version = self.parent[version]
        return version

    def name(self, version: Version) -> str:
        return self.spelled[self.root(version)]


def named(naming: Naming, body: list[Any]) -> bool:
    """Decide the names of versions for statements; False if a form is refused."""
    plan = naming.plan
    nodes = [node for node in nodes_of(body) if isinstance(node, gast.Name | gast.AugAssign | Copies | Inner)]
    copies = [node for node in nodes if isinstance(node, Copies)]
    inner = [node for node in nodes if isinstance(node, Inner)]
    versions = _tie(naming, nodes)
    naming.doubtful = _doubtful(copies)
    namer = Namer({*plan.names, *plan.outer, *filter(None, (v.variable for v in versions))})
    for parameter in plan.function.parameters:
        naming.fixed.add(naming.root(parameter))
    for version in [*plan.function.parameters, *versions]:
        root = naming.root(version)
        if root not in naming.spelled:
            naming.spelled[root] = _spelling(naming, version, namer)
    outer, bound = _free_names(nodes, inner), _bound_here(nodes, inner)
    naming.inner = {naming.root(version) for scope in inner for version in scope.bound}
    for version in bound:
        root = naming.root(version)
        if root not in naming.fixed and naming.spelled[root] in outer:
            naming.spelled[root] = namer.fresh(version.variable or "t")
    while True:
        naming.changed = False
        for node in copies:
            node.found.clear()
        start: State = {naming.name(p): frozenset({plan.same.get(p, p)}) for p in plan.function.parameters}
        walk = Walk(naming, namer)
        walk.statements(body, start)
        if walk.refused:
            plan.refused |= walk.refused
            return False
        if not naming.changed:
            naming.holds_none = plan.layout.is_bound and _is_copied(naming, copies)
            return True


def versions_of(naming: Naming) -> list[Version]:
    """The versions of the function that have a name, not those of its comprehensions."""
    return [version for version in naming.spelled if version not in naming.inner]


def _spelling(naming: Naming, version: Version, namer: Namer) -> str:
    """The user's name for a variable; another one for its versions of another kind."""
    wanted, kinds = _wanted(naming.plan, version), naming.plan.layout.kinds
    if wanted is None or version not in kinds:
        return wanted or namer.fresh("t")
    alike, kind = naming.kinds.setdefault(wanted, {}), kinds[version]
    if kind not in alike:
        alike[kind] = namer.fresh(wanted) if alike else wanted
    return alike[kind]


def _wanted(plan: Plan, version: Version) -> str | None:
    text = version.variable or plan.called.get(version)
    if text is None and version in plan.function.parameters:
        text = version.name
    return text if text is None or text.isidentifier() else "_"


# --- what is there ---------------------------------------------------------------------------------------------------
def _tie(naming: Naming, nodes: list[Any]) -> list[Version]:
    """Unite what has to share a spelling; all versions."""
    found: dict[Version, None] = {}
    for node in nodes:
        match node:
            case gast.Name() if hasattr(node, "version"):
                found[node.version] = None
            case Copies(targets=targets, values=values, tied=tied):
                found.update(dict.fromkeys(targets))
                for target, value in zip(targets, values, strict=True):
                    if tied is not None and isinstance(value, gast.Name):
                        _unite(naming, target, value.version, tied)
            case gast.AugAssign(target=gast.Name() as target) if getattr(target, "statement", None) is not None:
                found[target.held] = None
                _unite(naming, target.version, target.held, target.statement)
    return list(found)


def _unite(naming: Naming, one: Version, other: Version, reason: Statement) -> None:
    left, right = naming.root(one), naming.root(other)
    if left is not right:
        if left in naming.plan.function.parameters:
            left, right = right, left
        naming.parent[left] = right
        naming.reasons.setdefault(right, []).extend(naming.reasons.pop(left, []))
    naming.reasons.setdefault(right, []).append(reason)


def _doubtful(copies: list[Copies]) -> set[Version]:
    """The versions that some path leaves without a value."""
    pairs = [pair for node in copies for pair in zip(node.targets, node.values, strict=True)]
    found = {target for target, value in pairs if is_nothing(value)}
    while True:
        more = {target for target, value in pairs if getattr(value, "version", None) in found} - found
        if not more:
            return found
        found |= more


def _is_copied(naming: Naming, copies: list[Copies]) -> bool:
    """Whether what may hold no value is given another name."""
    pairs = [pair for node in copies for pair in zip(node.targets, node.values, strict=True)]
    return any(
        value.version in naming.doubtful and naming.name(target) != naming.name(value.version)
        for target, value in pairs if hasattr(value, "version")
    )  # fmt: skip


def _free_names(nodes: list[Any], inner: list[Inner]) -> set[str]:
    """The names that are no versions, but for those of comprehensions."""
    found = {node.id for node in nodes if isinstance(node, gast.Name) and not hasattr(node, "version")}
    return found - {text for scope in inner for text in scope.cells}


def _bound_here(nodes: list[Any], inner: list[Inner]) -> list[Version]:
    """The versions that the function binds itself, outside of comprehensions."""
    apart = {version for scope in inner for version in scope.bound}
    found: dict[Version, None] = {}
    for node in nodes:
        match node:
            case gast.Name(ctx=gast.Store()) if hasattr(node, "version") and node.version not in apart:
                found[node.version] = None
            case Copies(targets=targets, tied=None):
                found.update(dict.fromkeys(targets))
    return list(found)
