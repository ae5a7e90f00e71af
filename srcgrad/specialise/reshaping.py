"""Arrays that get another shape in place: a variable is bound to the array in that shape, if nothing else holds it.

::

    y = np.zeros(4)                  y = np.zeros(4)
    y.shape = 2, 2          ->       y = np.reshape(y, (2, 2), copy=False)

Views of the array keep their own shapes, so that only other names of the object matter, and what holds it.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcgrad.infer.values import Bound, are_arrays
from srcgrad.ir import normal_form as nf
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Operand, Version
from srcgrad.ir.regions import Assign, Block, Break, Continue, Fall, If, Loop, Return, blocks_of, operands_of, walk
from srcgrad.language.effects import method, of_function
from srcgrad.rules.table import lookup
from srcgrad.specialise.context import Context
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.reduced import Reduced
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.build import constant, load, placed
from srcgrad.syntax.globals import reference

#: Attributes and methods that give another object than the array itself, whatever its dtype.
_OTHERS = frozenset("T copy dot dtype fill flat flatten max mean min ndim prod ravel reshape size sort sum".split())
_NUMPY = GlobalBinding("np", np, "numpy", None, None)


def reshaped(context: Context, target: gast.Attribute, shape: gast.expr) -> bool:
    """Write ``y.shape = shape``; whether it is that, of a name that alone holds the array."""
    base: Any = target.value
    if target.attr != "shape" or not isinstance(base, gast.Name) or not are_arrays(context.value(base)):
        return False
    version = getattr(base, "version", None)
    if not isinstance(version, Version) or not is_held_alone(context.reduced, version):
        return False
    rule, given = lookup(np.reshape), [load(base.id, target), shape]
    words = {"copy": constant(False, target)}
    assert rule is not None
    function = placed(gast.Attribute(reference(_NUMPY), "reshape", gast.Load()), target)
    keywords = [placed(gast.keyword(name, value), target) for name, value in words.items()]
    made = placed(gast.Call(function, given, keywords), target)
    context.out.append(
        nf.Bind(base.id, made, nf.Apply(rule, np.reshape, rule.bind(np.reshape, given, words)), context.span)
    )
    return True


def is_held_alone(made: Reduced, version: Version) -> bool:
    """Whether an array is new where its variable is bound, and nothing but the variable holds it."""
    if version.variable is None or version in made.function.parameters:
        return False
    web, pending = {version}, [version]
    while pending:
        one = pending.pop()
        more = _joined(made, one)
        if more is None or not all(
            isinstance(other, Version) and other.variable in (None, version.variable) for other in more
        ):
            return False
        new = {other for other in more if isinstance(other, Version)} - web
        web |= new
        pending += new
    return web.isdisjoint(made.function.parameters)


def _joined(made: Reduced, version: Version) -> set[Operand] | None:
    """The versions that hold the same array as one of them; None where anything else may."""
    found: set[Operand] = set()
    for around, statement in walk(made.function.body):
        if isinstance(statement, Assign):
            if version in statement.targets and not _is_new(made, statement, found):
                return None
            if version in operands_of(statement.operation) and not _reads(made, statement, version, found):
                return None
        if isinstance(statement, If | Loop):
            for place, target in enumerate(statement.targets):
                ways = [block.exit for block in _leaving(statement)]
                values = [way.values for way in ways if isinstance(way, Fall | Break | Continue)]
                given = [each[place] for each in values if len(each) > place]
                found.update({target} if version in given else ())
                found.update(given if target is version else ())
        if isinstance(statement, Loop):
            for head, first, place in zip(statement.heads, statement.initial, range(len(statement.heads)), strict=True):
                again = [b.exit.values[place] for b in _leaving(statement) if isinstance(b.exit, Continue)]
                found.update({head} if version in (first, *again) else ())
                found.update((first, *again) if head is version else ())
        if isinstance(around.exit, Return | Fall | Break | Continue):
            continue
        if version in operands_of(around.exit):
            return None
    return found - {version}


def _leaving(statement: If | Loop) -> list[Block]:
    """The blocks that may give values to what a region binds."""
    inner = list(blocks_of(statement))
    return [*inner, *(block for each in inner for block, _ in walk(each)), *(
        other for each in inner for _, s in walk(each) for other in blocks_of(s))]  # fmt: skip


def _is_new(made: Reduced, statement: Assign, found: set[Operand]) -> bool:
    """Whether what is bound is another object than all before, or one of those that are found."""
    match statement.operation:
        case ir.Operator(in_place=True, operands=(changed, *_)):
            found.add(changed)
            return True
        case ir.Operator():
            return statement not in made.calls
        case ir.Copy(source=Version() as source) if source.variable is None:
            found.add(source)
            return True
        case ir.Call(function=function):
            effect = of_function(static_of(made.value(function)))
            is_function = static_of(made.value(function)) is not None and statement not in made.calls
            return is_function and effect.is_known and effect.returns == "fresh" and not effect.updates
    return False


def _reads(made: Reduced, statement: Assign, version: Version, found: set[Operand]) -> bool:
    """Whether a statement reads an array, and does not keep it."""
    match statement.operation:
        case ir.Operator(in_place=True, operands=(changed, *_)) if changed is version:
            found.update(statement.targets)
            return True
        case ir.Operator() | ir.Compare() | ir.Iterate():
            return statement not in made.calls
        case ir.GetItem(base=base, index=index):
            return base is version is not index and are_arrays(made.value(base))
        case ir.SetItem(base=base, index=index):
            return index is not version and are_arrays(made.value(base))
        case ir.GetAttribute(name=name):
            return name in _OTHERS or name == "shape"
        case ir.SetAttribute(base=base, name="shape", value=value):
            return base is version is not value
        case ir.Copy():
            found.update(statement.targets)
            return True
        case ir.Call(function=function):
            called = static_of(made.value(function))
            effect = of_function(called)
            if called is None or not effect.is_known or effect.returns != "fresh" or effect.updates or effect.keeps:
                return _is_method(made, function) and statement not in made.calls
            return statement not in made.calls
    return False


def _is_method(made: Reduced, function: Operand) -> bool:
    return made.value(function).consists_of(
        lambda a: isinstance(a, Bound) and a.function is None and a.name in _OTHERS and not method(a.name).keeps
    )
