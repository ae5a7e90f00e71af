"""Loops: ``for``, ``while`` and what neither is, a loop that only its body leaves.

>>> import gast
>>> from srcgrad.frontend.lowering import lowered
>>> from srcgrad.ir.restoring import restored
>>> def search(x, y):
...     for i, v in enumerate(x):
...         if v == y:
...             break
...     else:
...         i = None
...     return i
>>> print(gast.unparse(restored(lowered(search))).strip())
def search(x, y):
    for i, v in enumerate(x):
        if v == y:
            break
    else:
        i = None
    return i
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gast

from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Block, Break, Continue, Fall, If, Loop, Statement, blocks_of
from srcgrad.ir.restoring.choices import Over, over
from srcgrad.ir.restoring.pending import Pad, flush, plain, reads_of, settle, take, waiting
from srcgrad.ir.restoring.targets import target
from srcgrad.ir.restoring.tree import Copies, body_of, of_version, operand

if TYPE_CHECKING:
    from srcgrad.ir.restoring.statements import Around


def loop(pad: Pad, given: Sequence[Statement], at: int, around: Around) -> int:
    """A loop, with the ``else`` that stands behind it; where it ends."""
    from srcgrad.ir.restoring.statements import Around, block

    here = given[at]
    assert isinstance(here, Loop)
    behind = given[at + 1] if at + 1 < len(given) else None
    parts = over(here)
    if parts is not None and _is_left_inside(parts.ended):
        parts = None
    source: Any = None
    if parts is not None and here not in pad.plan.refused:
        entry = waiting(pad, parts.iterator)
        last = entry is not None and (entry is pad.pending[-1] or entry.key in pad.plan.layout.movable)
        if entry is not None and last and entry.uses == 1 and entry.part.source is not None:
            pad.pending.remove(entry)
            source = entry.part.source
    settle(pad, reads_of([], here.body))
    flag = _flag(here, behind, parts, pad.plan.uses) if source is not None or _conditional(here) is not None else None
    if isinstance(behind, If) and behind in pad.plan.refused:
        flag = None
    dropped = frozenset(flag or ())
    initial = take(pad, here.initial)
    flush(pad, len(pad.pending))
    begun = [(h, plain(pad.plan, p.value)) for h, p in zip(here.heads, initial, strict=True)]
    kept = [(h, v) for h, v in begun if h not in dropped]
    heads = Copies([h for h, _ in kept], [v for _, v in kept], comes_from=here.node)
    targets = here.targets
    more: tuple[Copies, ...] = ()
    if flag is not None:
        assert isinstance(behind, If) and isinstance(behind.orelse.exit, Fall)
        values = [operand(v) for v in behind.orelse.exit.values]
        more = (Copies(behind.targets, values, behind),) if behind.targets else ()
    inside = Around((), targets, here.heads, more, True, dropped)

    def ended(stop: Block) -> list[Any]:
        """What is done when the loop ends by itself."""
        written = block(pad.plan, stop, Around((), targets, here.heads, (), True, dropped))
        if isinstance(stop.exit, Break):
            assert isinstance(written[-1], gast.Break)
            written = written[:-1]
        if flag is not None:
            assert isinstance(behind, If)
            written += block(pad.plan, behind.body, around.within(behind.targets))
        return written

    if source is not None:
        assert parts is not None
        found = target(pad.plan, parts.body.statements, 0, parts.item, here.node, getattr(here.node, "target", None))
        if found is None or pad.plan.uses[parts.item] != 2:
            found = of_version(parts.item, gast.Store), 0
        body = block(pad.plan, parts.body, inside, found[1])
        made = gast.For(found[0], source, body_of(body), ended(parts.ended), None)
        made.heads, made.comes_from = heads, here.node
        pad.out += [heads, made]
        return at + 1 + (flag is not None)
    test = _conditional(here)
    condition = Pad(pad.plan)
    if test is not None and here not in pad.plan.refused:
        from srcgrad.ir.restoring.statements import run

        run(condition, here.body.statements[:-1], test)
        (part,) = take(condition, [test.test])
        if condition.is_clear:
            body = block(pad.plan, test.body, inside)
            repeated = gast.While(part.tested, body_of(body), ended(test.orelse))
            repeated.comes_from = here.node
            pad.out += [heads, repeated]
            return at + 1 + (flag is not None)
    written = block(pad.plan, here.body, Around((), targets, here.heads, (), True))  # the test behind it stays
    heads = Copies([h for h, _ in begun], [v for _, v in begun], comes_from=here.node)
    asked = getattr(here.node, "test", None)
    truth = asked.value if isinstance(asked, gast.Constant) and asked.value else True
    pad.out += [heads, gast.While(gast.Constant(truth, None), body_of(written), [])]
    return at + 1


def _conditional(here: Loop) -> If | None:
    """The test at the end of the statements of a ``while``."""
    last = here.body.statements[-1] if here.body.statements else None
    if not isinstance(last, If) or last.node is not here.node or last.targets or not isinstance(here.node, gast.While):
        return None
    return None if _is_left_inside(last.orelse) else last


def _is_left_inside(stop: Block) -> bool:
    """Whether a branch in what is done when a loop ends by itself leaves the loop: in an ``else`` it would not."""
    return bool(_exits(replace(stop, exit=Fall()), None))


def _flag(
    here: Loop, behind: Statement | None, parts: Over | None, uses: Mapping[Operand, int]
) -> set[Operand] | None:
    """The versions that say whether a loop ended by itself, where only a test behind the loop reads them."""
    if not (isinstance(behind, If) and behind.node is here.node and behind.test in here.targets):
        return None
    test = _conditional(here)
    stop = parts.ended if parts is not None else test.orelse if test is not None else None
    place = here.targets.index(behind.test)
    if stop is None or not isinstance(stop.exit, Break) or behind.orelse.statements:
        return None
    value = stop.exit.values[place]
    if not isinstance(value, Literal) or value.value is not True or not isinstance(behind.orelse.exit, Fall):
        return None
    leaving = _exits(here.body, stop)
    left = [exit.values[place] for exit in leaving if isinstance(exit, Break)]
    heads = {value for value in left if value in here.heads}
    if any(value not in heads and not _is_false(value) for value in left):
        return None
    read = len([value for value in left if value in heads])
    for head, first, number in zip(here.heads, here.initial, range(len(here.heads)), strict=True):
        if head in heads:
            again = [exit.values[number] for exit in leaving if isinstance(exit, Continue)]
            if not _is_false(first) or any(value is not head and not _is_false(value) for value in again):
                return None
            read += sum(value is head for value in again)
    flag = here.targets[place]
    return {flag, *heads} if read == sum(uses[head] for head in heads) and uses[flag] == 1 else None


def _is_false(value: Operand) -> bool:
    return isinstance(value, Literal) and value.value is False


def _exits(body: Block, but: Block | None) -> list[Break | Continue]:
    """The exits of a loop, without those of loops inside."""
    found: list[Break | Continue] = []
    pending = [body]
    while pending:
        block = pending.pop()
        if block is but:
            continue
        if isinstance(block.exit, Break | Continue):
            found.append(block.exit)
        for statement in block.statements:
            if not isinstance(statement, Loop):
                pending += blocks_of(statement)
    return found

