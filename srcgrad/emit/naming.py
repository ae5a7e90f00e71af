"""Final identifiers of non-local names.

Enters: the functions of one module, whose non-local names are ``GlobalReference`` leaves.  Leaves: one identifier per
distinct object, or per live cell.  The preferred name is kept unless a function of the module uses it as a local, or
another global has it already: then ``np`` becomes ``np2``.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import gast

from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import walk


@dataclass(frozen=True)
class Naming:
    """``of`` gives the identifier of each binding by identity; ``bindings`` lists them once, in order of appearance."""

    of: Mapping[int, str]
    bindings: tuple[tuple[str, GlobalBinding], ...]


def name_globals(functions: Sequence[gast.FunctionDef]) -> Naming:
    """Choose an identifier for every global that the functions read."""
    taken, references = _survey(functions)
    members: dict[object, list[GlobalBinding]] = {}
    for binding in references:
        members.setdefault(_identity(binding), []).append(binding)
    namer = Namer(taken)
    of: dict[int, str] = {}
    bindings: list[tuple[str, GlobalBinding]] = []
    # Builtins last: ``sum`` of the user's module keeps its name, the builtin is imported under another.
    for group in sorted(members.values(), key=lambda group: group[0].module == "builtins"):
        chosen = _representative(group)
        identifier = namer.fresh(_identifier(chosen.preferred))
        for binding in group:
            of[id(binding)] = identifier
        bindings.append((identifier, chosen))
    return Naming(of, tuple(bindings))


def _survey(functions: Iterable[gast.FunctionDef]) -> tuple[set[str], list[GlobalBinding]]:
    """Every local identifier, and the distinct bindings in the order in which they appear."""
    taken: set[str] = set()
    bindings: dict[int, GlobalBinding] = {}
    for node in walk(*functions):
        match node:
            case GlobalReference():
                bindings.setdefault(id(node.binding), node.binding)
            case gast.Name():
                taken.add(node.id)
            case gast.FunctionDef() | gast.ClassDef():
                taken.add(node.name)
            case gast.alias():
                taken.add((node.asname or node.name).split(".")[0])
    return taken, list(bindings.values())


def _identity(binding: GlobalBinding) -> object:
    """What makes two bindings one name: the object if it is code or a module, otherwise the place that holds it.

    Two globals that hold the same number today may differ tomorrow, so data is told apart by its cell.
    """
    value = binding.value
    if binding.cell is None:
        return ("object", id(value))
    if binding.module is not None:
        return ("global", binding.module, binding.attribute)
    return ("cell", binding.cell)


def _representative(group: list[GlobalBinding]) -> GlobalBinding:
    """A group is live only if all of its members are; an importable member is preferred."""
    fixed = [binding for binding in group if binding.cell is None] or group
    return next((binding for binding in fixed if binding.module is not None), fixed[0])


def _identifier(preferred: str) -> str:
    name = re.sub(r"\W", "_", preferred)
    if not name.isidentifier() or keyword.iskeyword(name):
        name = f"_{name}"
    return name


def is_builtin(identifier: str, binding: GlobalBinding) -> bool:
    """Whether the name needs no import."""
    return binding.module == "builtins" and getattr(builtins, identifier, None) is binding.value
