"""Statements whose operands change what others of them read, and stores within one array."""

from __future__ import annotations

from collections.abc import Callable

from srcgrad.fuzz.containers import taken
from srcgrad.fuzz.expressions import scalar
from srcgrad.fuzz.scope import Scope
from srcgrad.fuzz.stores import tame
from srcgrad.fuzz.writer import Writer


def number(writer: Writer, scope: Scope) -> str:
    """A number that stays small."""
    return tame(writer, scope, scalar(writer, scope, 1))


def operands_that_change(writer: Writer, scope: Scope, array: str) -> list[str]:
    """Some operands read something that others change."""
    c = writer.choices
    made, places, numbers, left = _state(writer, scope, writer.own("st"))
    place: Callable[[], str] = lambda: c.pick(places)
    number: Callable[[], str] = lambda: c.pick(numbers)
    total = writer.own("sum")
    writer.met("operands that change", None)
    form = c.pick(
        (
            f"{array}[{place()}] += {number()}",
            f"{array}[{place()}] *= np.cos({number()})",
            f"{array}[{place()}] = {number()} - {array}[{place()}]",
            f"{array}[{place()}:] += {number()} * {number()}",
            f"{array}[{place()}:{place()} + 2] = {number()}",
            f"{array}[{place()}], {total} = {number()}, {number()}",
            f"{total} = {number()} - {number()} * {number()}",
            f"{total} = {array}[{place()}] * {number()} - {array}[{place()}]",
            f"{total} = [{number()}, {number()}, {number()}, 1.0][{place()}]",
            f"{total} = np.sum({array}[{place()}:]) - {number()} * {place()}",
            f"{total} = sum({{{place()}: {number()}, 4 + {place()}: {number()}}}.values())",
            f"{total} = max({number()}, {number()} - {place()})",
            f"{total} = {number()} if {number()} < {number()} else {place()} * 0.5",
            f"{total} = sum([{number()} * {number()} for _ in range(2)])",
        )
    )
    lines = [*made, f"{total} = 0.25", form]
    return [*lines, f"{taken(writer, scope, 's')} = np.sin({total}) + {left}"]


def _state(writer: Writer, scope: Scope, name: str) -> tuple[list[str], tuple[str, ...], tuple[str, ...], str]:
    """What makes something that changes; reads and changes of it as places and as numbers; what is left of it."""
    c = writer.choices
    items = [f"np.sin({scalar(writer, scope, 0)})" for _ in range(3)]
    several = f"[{', '.join([*items, '0.5', *items, '0.3', *items])}]"
    kind = c.integer(0, 3)
    if kind == 0:
        whole = (f"len({name}) % 4", f"int({name}.pop() > 0.4)")
        return [f"{name} = {several}"], whole, (f"{name}[-1]", f"{name}.pop()"), f"len({name}) * {name}[0]"
    if kind == 1:
        first = f"{name} = [0, 3, 1, 2, 0, 1, 3, 2, 1, 0, 2, 1]"
        scaled = (f"{name}[-1] * {items[0]}", f"{name}.pop() * {items[1]}")
        return [first], (f"{name}[-1]", f"{name}.pop()"), scaled, f"len({name}) * 0.1"
    if kind == 2:
        other = writer.own("at")
        lines = [f"{name} = {items[0]}", f"{other} = {c.integer(0, 3)}"]
        again = f"({name} := np.cos({name}) * {items[1]})"
        return lines, (other, f"({other} := ({other} + 1) % 4)"), (name, again), f"{name} * {other}"
    keyed = (f'{name}["k"]', f'{name}.pop("n", 2)', f"len({name})")
    numbers = (f'{name}["v"]', f'{name}.setdefault("w", {items[1]})', f"len({name}) * {items[2]}")
    made = f'{name} = {{"k": {c.integer(0, 3)}, "n": 1, "v": {items[0]}}}'
    return [made], keyed, numbers, f'{name}["v"]'


def rows_of_columns(writer: Writer, scope: Scope, array: str) -> list[str]:
    """A part of a matrix is stored into another part of it."""
    c = writer.choices
    square = writer.own("square")
    j, k = c.integer(0, 3), c.integer(0, 3)
    writer.met("store within one array", None)
    operator = c.pick(("=", "=", "=", "+="))
    parts = c.pick(
        (
            (f"{square}[{j}]", f"{square}[:, {k}]"),
            (f"{square}[1]", f"{square}[:, 2]"),
            (f"{square}[2]", f"{square}[:, {k}]"),
            (f"{square}[:, {j}]", f"{square}[{k}]"),
            (f"{square}[1:]", f"{square}[:-1]"),
            (f"{square}[:]", f"{square}.T"),
            (f"{square}.reshape(-1)[{j}:{j} + 4]", f"{square}.reshape(-1)[{k}:{k} + 10:3]"),
        )
    )
    total = taken(writer, scope, "s")
    head = f"{square} = np.outer({array}, np.cos({array}) + 0.5)"
    return [head, f"{parts[0]} {operator} {parts[1]}", f"{total} = np.sum({square}[1] * {array}) + {square}[3, 2]"]
