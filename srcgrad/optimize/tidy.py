"""Say the same in fewer words.

    v = np.sin(x)                    v1 = np.sin(x)
    y = v * 2.0                      y = v1 * 2.0
    v1 = v                 →         v = v1 + y
    v = v + y                        if not c:
    if c:                                v = -v
        pass
    else:
        v = -v

A version that keeps what a name held is bound under its own name at once; ``if``s that ask one thing twice in a row are
joined; an empty branch turns its test round.
"""

from __future__ import annotations

from bisect import bisect_left

import gast

from srcgrad.analysis.references import is_truth
from srcgrad.optimize.aliases import Aliases
from srcgrad.optimize.effects import Effects
from srcgrad.optimize.known import Known
from srcgrad.optimize.occurrences import Counts, Table
from srcgrad.optimize.scan import COMPOUND, blocks, blocks_below
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import names_bound, names_read, same_tree, walk


def tidy(known: Known) -> bool:
    """Tidy a function in place; whether anything changed."""
    function, effects = known.function, known.effects
    changed = _turn_tests(function, effects)
    if any(isinstance(statement, gast.Try) for statement in known.statements):
        return changed
    if changed:
        known.changed()
    if _join_tests(function, effects):
        known.changed()
        changed = True
    return _rename_versions(known) or changed


# --- versions --------------------------------------------------------------------------------------------------------
def _rename_versions(known: Known) -> bool:
    """``v = E; ...; v1 = v; v = F``: bind v1 at once."""
    counts = known.counts
    temporaries = known.temporaries - counts.foreign
    changed = False
    for statements, positions in known.copies:
        copies = [
            (position, statements[position].targets[0].id, statements[position].value.id)
            for position in positions
            if _is_version(statements[position], temporaries, counts)
        ]
        if not copies:
            continue
        table = known.table(statements, changed)
        gone: set[int] = set()
        for position, version, name in copies:
            first = _bound_before(name, position, statements, table)
            if first is None or not _rebound_after(name, position, table):
                continue
            uses = table.uses[version]
            if uses.positions[0] != position or any(first < exit_ < position for exit_ in table.exits):
                continue
            _rename(statements, first, name, version, table, known.effects)
            gone.add(position)
        if gone:
            changed = True
            statements[:] = [statement for position, statement in enumerate(statements) if position not in gone]
    return changed


def _is_version(statement: gast.stmt, temporaries: frozenset[str], counts: Counts) -> bool:
    match statement:
        case gast.Assign(targets=[gast.Name(id=version)], value=gast.Name(id=name)):
            return (
                version in temporaries
                and counts.binds.get(version) == 1
                and name not in counts.foreign
                and name != version
            )
    return False


def _bound_before(name: str, position: int, statements: list[gast.stmt], table: Table) -> int | None:
    """The last statement before ``position`` that binds the name, if it does just that."""
    binds = table.uses[name].binds
    before = bisect_left(binds, position) - 1
    if before < 0:
        return None
    match statements[binds[before]]:
        case gast.Assign(targets=[gast.Name(id=target)]) if target == name:
            return binds[before]
    return None


def _rebound_after(name: str, position: int, table: Table) -> bool:
    """Whether the block surely binds the name again, before any statement that has it below its own line."""
    uses = table.uses[name]
    for index in range(bisect_left(uses.positions, position + 1), len(uses.positions)):
        where, kind = uses.positions[index], uses.kinds[index]
        if kind == "w":
            return not any(position < exit_ < where for exit_ in table.exits)
        if kind == "n":
            return False
    return False


def _rename(
    statements: list[gast.stmt], first: int, name: str, version: str, table: Table, effects: Effects
) -> None:
    """Rename the binding at ``first`` and the reads up to the statement that binds the name again, its own included."""
    definition = statements[first]
    assert isinstance(definition, gast.Assign)
    definition.targets[0].id = version
    effects.forget(definition)
    positions, binds = table.uses[name].positions, table.uses[name].binds
    last = binds[bisect_left(binds, first + 1)]
    for index in range(bisect_left(positions, first + 1), len(positions)):
        if positions[index] > last:
            return
        for node in walk(statements[positions[index]]):
            if isinstance(node, gast.stmt):
                effects.forget(node)
            elif isinstance(node, gast.Name) and not isinstance(node, GlobalReference) and node.id == name:
                if isinstance(node.ctx, gast.Load):
                    node.id = version


# --- tests -----------------------------------------------------------------------------------------------------------
def _turn_tests(function: gast.FunctionDef, effects: Effects) -> bool:
    """``if c: pass`` with an ``else`` becomes ``if not c``; an ``else: pass`` goes."""
    changed = False
    for statements, _ in blocks(function):
        for statement in statements:
            if not isinstance(statement, gast.If):
                continue
            if statement.orelse and _is_empty(statement.orelse):
                statement.orelse = []
                changed = True
            if statement.orelse and _is_empty(statement.body):
                statement.body, statement.orelse = statement.orelse, []
                statement.test = negated(statement.test)
                effects.forget(statement)
                changed = True
    return changed


def _is_empty(statements: list[gast.stmt]) -> bool:
    return all(isinstance(statement, (gast.Pass, Comment)) for statement in statements)


def negated(test: gast.expr) -> gast.expr:
    """The opposite of a test; of ``<`` only with a ``not``, because of nan."""
    match test:
        case gast.UnaryOp(op=gast.Not()):
            return test.operand
        case gast.Compare(ops=[op]):
            opposites = {gast.Is: gast.IsNot, gast.IsNot: gast.Is, gast.In: gast.NotIn, gast.NotIn: gast.In}
            if type(op) in opposites:
                return gast.Compare(test.left, [opposites[type(op)]()], test.comparators)
        case gast.Constant(value=bool() as value):
            return gast.Constant(not value, None)
    return gast.UnaryOp(gast.Not(), test)


def _join_tests(function: gast.FunctionDef, effects: Effects) -> bool:
    """``if c: A`` and then ``if c: B`` is one ``if``, when A leaves c alone."""
    aliases: Aliases | None = None
    changed = False
    pending = [function.body]  # blocks of what stays: the block of an ``if`` that was joined is part of another
    while pending:
        statements = pending.pop()
        position = 0
        while position < len(statements) - 1:
            if type(statements[position]) is not gast.If:
                position += 1
                continue
            follower = position + 1
            while follower < len(statements) and isinstance(statements[follower], Comment):
                follower += 1
            match statements[position], statements[follower] if follower < len(statements) else None:
                case gast.If() as one, gast.If() as two if same_tree(one.test, two.test) and effects.pure(one.test):
                    if not _is_answered(one.test, function, effects.data):
                        position += 1
                        continue
                    between = statements[position + 1 : follower]
                    if any(not comment.text.strip() for comment in between) or (between and two.orelse):
                        position += 1
                        continue
                    aliases = aliases or Aliases(function, effects)
                    if _leaves_alone(one, effects, aliases):
                        one.body += between + two.body
                        one.orelse += two.orelse
                        effects.forget(one)
                        del statements[position + 1 : follower + 1]
                        changed = True
                        continue
            position += 1
        pending += [block for each in statements if isinstance(each, COMPOUND) for block in blocks_below(each)]
    return changed


def _is_answered(test: gast.expr, function: gast.FunctionDef, data: frozenset[str]) -> bool:
    """Whether a test asks no object for its truth or its length, by a method of its class that may store."""
    asked = [test]
    for node in walk(test):
        match node:
            case gast.BoolOp(values=values):
                asked += values
            case gast.UnaryOp(op=gast.Not(), operand=operand):
                asked.append(operand)
            case gast.Call(func=GlobalReference() as called, args=args) if called.binding.value in (bool, len):
                asked += args
    return all(_is_truth(each) or _is_data(each, function, data) for each in asked)


def _is_data(asked: gast.expr, function: gast.FunctionDef, data: frozenset[str]) -> bool:
    """Whether what is asked is known to be a number, an array or a container, or holds the answer to a test."""
    if not isinstance(asked, gast.Name) or isinstance(asked, GlobalReference):
        return isinstance(asked, gast.BoolOp | gast.UnaryOp | gast.BinOp)
    bound = [s.value for s in walk(function) if isinstance(s, gast.Assign) and asked.id in names_bound(*s.targets)]
    return asked.id in data or bool(bound) and all(_is_truth(value) for value in bound)


def _is_truth(value: gast.expr) -> bool:
    """Whether a value is a truth value or number by what makes it, or comes from a tape of such."""
    match value:
        case gast.Call(func=gast.Attribute(attr="pop")):
            return True
        case gast.Call(func=GlobalReference() as called):
            return called.binding.value is len or is_truth(value)
    return is_truth(value) or isinstance(value, gast.Compare | gast.Constant | gast.BinOp)


def _leaves_alone(statement: gast.If, effects: Effects, aliases: Aliases) -> bool:
    """Whether neither branch touches what the test sees."""
    effect = effects.of(statement)
    names = names_read(statement.test)
    if effect.barrier or effect.binds & set(names):
        return False
    return aliases.classes(names).isdisjoint(aliases.classes_of(effect.changes))
