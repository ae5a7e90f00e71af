"""Adjoints of sequences: displays, unpacking, lists that loops fill, tapes, and buffers that are added to.

Enters: ``Pack``, ``Unpack``, ``Append``, ``Pop`` or ``AddAt``.  Leaves: the statements of its adjoint.  The adjoint of
a list has one entry per entry of the list at every moment, so ``append`` and ``pop`` are each other's adjoint::

    tape.append((s, u))      ->     s_bar2, u_bar2 = tape_bar.pop()
    s, u = tape.pop()        ->     tape_bar.append((s_bar, u_bar))
"""

from __future__ import annotations

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.references import reference, referring
from srcgrad.ir.normal_form import AddAt, Append, Bind, Block, Pack, Pop, Unpack
from srcgrad.rules.facts import Array, Sequence, same_dtype
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.parse import clone
from srcgrad.transform.build import assign, constant, load, method, subscript, tuple_of, unpack
from srcgrad.transform.contributions import AdjointVariables


class SequenceAdjoint(AdjointVariables):
    """Adjoints of the statements that build, take apart, fill and empty sequences."""

    def pack(self, statement: Bind, pack: Pack, varied: object) -> list[gast.stmt]:
        target = statement.target
        keys: list[gast.expr] = list(pack.keys) or [constant(j) for j in range(len(pack.elements))]
        contributions = [
            (name, subscript(self.bar_name(target), clone(key)))
            for key, element in zip(keys, pack.elements, strict=True)
            for name in atoms(element)
            if name in varied  # type: ignore[operator]
        ]
        return self.distribute(target, contributions)

    def unpack(self, statement: Unpack, block: Block, position: int) -> list[gast.stmt]:
        if not any(t in self.bars for t in statement.targets):
            return []
        varied = self.activity.varied_after(statement)
        source = statement.source
        if source not in self.activity.varied_before(statement):
            for target in statement.targets:
                self.bars.drop(target)
            return []
        code: list[gast.stmt] = []
        parts: list[gast.expr] = []
        for j, target in enumerate(statement.targets):
            if target in self.bars:
                part: gast.expr = self.bar_name(target)
            elif target in varied:
                code += self.zero(target, block, position + 1)
                part = self.bar_name(target)
            else:
                part = constant(None)
            parts.append(gast.Starred(part, gast.Load()) if j == statement.star else part)
        if statement.star is not None:
            return code + self._unpack_starred(statement, parts, block, position)
        whole = tuple_of(parts)
        if not isinstance(self.fact(source), Sequence):
            whole = call_runtime(runtime.pack_like, whole, reference(source, block, position, shape_only=True))
        for target in statement.targets:
            self.bars.drop(target)
        return code + self.add(source, whole)

    def _unpack_starred(
        self, statement: Unpack, parts: list[gast.expr], block: Block, position: int
    ) -> list[gast.stmt]:
        """The starred target has the places between those counted from either end."""
        star, count = statement.star, len(parts)
        assert star is not None
        source = statement.source
        held: list[gast.stmt] = []
        if source in statement.targets:
            for j, part in enumerate(parts):
                value = part.value if isinstance(part, gast.Starred) else part
                if isinstance(value, gast.Name) and value.id == self.bar(source):
                    kept = load(self.fresh(f"{source}_bar"))
                    held.append(assign(kept.id, value))
                    parts[j] = gast.Starred(kept, gast.Load()) if isinstance(part, gast.Starred) else kept
        for target in statement.targets:
            self.bars.drop(target)
        code: list[gast.stmt] = held
        for j, part in enumerate(parts):
            if isinstance(part, gast.Starred):
                rest = constant(star + 1 - count) if star + 1 < count else None
                place: gast.expr = gast.Slice(constant(star), rest, None)
                part = self._rest(source, part.value, place, block, position)
            else:
                place = constant(j if j < star else j - count)
            if not (isinstance(part, gast.Constant) and part.value is None):
                code += self.add_at(source, place, part, block, position)
        return code

    def _rest(self, source: str, part: gast.expr, place: gast.Slice, block: Block, position: int) -> gast.expr:
        """The cotangent of the starred target: a list, which of an array without more rows has not their shape."""
        fact = self.fact(source)
        if not isinstance(fact, Array) or fact.rank == 1 or isinstance(part, gast.Constant):
            return part
        rest = subscript(reference(source, block, position, shape_only=True), clone(place))
        return call_runtime(runtime.rearray, part, rest)

    def append(self, statement: Append, block: Block, position: int) -> list[gast.stmt]:
        sequence = statement.sequence
        if sequence in self.bars:
            code = self.own(sequence)
        elif sequence in self.activity.outlived:
            code = self.zero(sequence, block, position + 1)
        else:
            return []
        varied = self.activity.varied_before(statement)
        popped = method(self.bar(sequence), "pop")
        if not isinstance(statement.value, gast.Tuple):
            names = atoms(statement.value)
            if names and names[0] in varied:
                return code + self.add(names[0], popped)
            return [*code, gast.Expr(popped)]
        positions = self.activity.tape_positions(sequence)
        if not positions:
            return code
        targets: list[str] = []
        contributions: list[tuple[str, gast.expr]] = []
        for j in positions:
            names = atoms(statement.value.elts[j]) if j < len(statement.value.elts) else ()
            part = self.fresh(f"{names[0]}_bar" if names else "unused")
            targets.append(part)
            if names and names[0] in varied:
                contributions.append((names[0], load(part)))
        code.append(unpack(targets, popped))
        for name, value in contributions:
            code += self.add(name, value)
        return code

    def pop(self, statement: Pop, block: Block, position: int) -> list[gast.stmt]:
        sequence = statement.sequence
        positions = self.activity.tape_positions(sequence) if statement.tupled else (0,)
        held = sequence in self.bars or sequence in self.activity.outlived
        held = held or any(target in self.bars for target in statement.targets)
        if not positions or not held:
            for target in statement.targets:
                self.bars.drop(target)
            return []
        code = self.own(sequence) if sequence in self.bars else self.zero(sequence, block, position + 1)
        parts: list[gast.expr] = []
        for j in positions:
            target = statement.targets[j]
            if target not in self.bars:
                code += self.zero(target, block, position + 1)
            parts.append(self.bar_name(target))
        value = tuple_of(parts) if statement.tupled else parts[0]
        code.append(gast.Expr(method(self.bar(sequence), "append", value)))
        for target in statement.targets:
            self.bars.drop(target)
        return code

    def add_up(self, statement: AddAt, block: Block, position: int) -> list[gast.stmt]:
        names = atoms(statement.value)
        if statement.buffer not in self.bars or not names:
            return []
        if names[0] not in self.activity.varied_before(statement):
            return []
        read: gast.expr = subscript(self.bar_name(statement.buffer), referring(statement.index, block, position))
        mine, buffer = self.fact(names[0]), self.fact(statement.buffer)
        fits = isinstance(mine, Array) and isinstance(buffer, Array) and (
            same_dtype(mine, buffer) or (mine.is_real and buffer.is_real)
        )
        if not self.may_be_container(names[0]) and not (
            fits and self.is_scalar(names[0]) and self.is_array(statement.buffer)
        ):
            read = call_runtime(runtime.unbroadcast, read, reference(names[0], block, position, shape_only=True))
        return self.add(names[0], read)
