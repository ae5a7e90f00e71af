"""Random joint programs for the optimiser: scalars and arrays, views, tapes, effects, loops, exits, early returns.

A program is made of statements that never fail, whatever their order: every name is bound before it is read, arrays
have three elements, and values stay small.  Names that start with ``t`` or end in ``_bar`` are the compiler's.
"""

from __future__ import annotations

import random

SCALARS = ("s", "u", "v", "t1", "t2", "t3", "t4", "t5", "s_bar", "u_bar")
ARRAYS = ("x", "y", "z", "ta1", "ta2", "ta3", "x_bar", "y_bar")
TEMPORARIES = frozenset(name for name in (*SCALARS, *ARRAYS) if name.startswith("t") or name.endswith("_bar"))


class Program:
    """One random program; ``text`` is its source."""

    def __init__(self, source: random.Random, length: int = 14) -> None:
        self.random = source
        self.lines: list[str] = []
        self.scalars = {"s", "u"}
        self.arrays = {"x", "y"}
        self.tapes = 0
        self.loops = 0
        self.budget = length
        self.emit(0, "def f(s, u, x, y):")
        self.block(1, in_loop=False)
        self.emit(1, self.final_return())
        self.text = "\n".join(self.lines) + "\n"

    def emit(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    # --- expressions -------------------------------------------------------------------------------------------------
    def scalar(self, depth: int = 2) -> str:
        kind = self.random.randrange(12 if depth else 3)
        name = self.random.choice(sorted(self.scalars))
        match kind:
            case 0 | 1 | 2:
                return name
            case 3:
                return self.pick("0.5", "1.0", "2.0", "0.0", "0.25")
            case 4 | 5 | 6:
                return f"({self.scalar(depth - 1)} {self.pick('+', '-', '*')} {self.scalar(depth - 1)})"
            case 7:
                return f"np.sin({self.scalar(depth - 1)})"
            case 8:
                return f"(-{self.scalar(depth - 1)})"
            case 9:
                return f"{self.random.choice(sorted(self.arrays))}[{self.pick('0', '1', '2', '-1')}]"
            case 10:
                return f"np.sum({self.array(depth - 1)})"
            case _:
                body, other = self.scalar(depth - 1), self.scalar(depth - 1)
                return f"({body} if {self.test()} else {other})"

    def array(self, depth: int = 2) -> str:
        kind = self.random.randrange(9 if depth else 3)
        name = self.random.choice(sorted(self.arrays))
        match kind:
            case 0 | 1 | 2:
                return name
            case 3 | 4:
                return f"({self.array(depth - 1)} {self.pick('+', '-', '*')} {self.array(depth - 1)})"
            case 5:
                return f"({self.scalar(depth - 1)} * {self.array(depth - 1)})"
            case 6:
                return f"np.cos({self.array(depth - 1)})"
            case 7:
                return f"{name}[::{self.pick('1', '-1')}]"
            case _:
                same = f"({name} / 1.0)", f"(1.0 * {name})", f"np.where(False, 0.0, {name})"
                return self.pick(f"np.zeros_like({name})", *same)

    def test(self) -> str:
        name = self.random.choice(sorted(self.scalars))
        return self.pick(f"{name} > 0.1", f"not {name} < 0.3", f"{self.scalar(1)} > {self.scalar(1)}", f"{name} > 0.1")

    # --- statements --------------------------------------------------------------------------------------------------
    def block(self, depth: int, in_loop: bool) -> None:
        count = 0
        while self.budget > 0 and (count == 0 or self.random.random() < (0.97 if depth == 1 else 0.75)):
            self.budget -= 1
            count += 1
            if self.statement(depth, in_loop):
                return
        if not count:
            self.emit(depth, "pass")

    def statement(self, depth: int, in_loop: bool) -> bool:
        """One statement; whether control cannot come past it."""
        kind = self.random.randrange(30)
        if kind < 9:
            self.bind(depth, self.random.choice(SCALARS), self.scalar())
        elif kind < 13:
            self.bind(depth, self.random.choice(ARRAYS), self.array())
        elif kind < 15:
            name = self.random.choice(sorted(self.arrays))
            index = self.pick("0", "1", "2")
            self.emit(depth, self.pick(f"{name}[{index}] += {self.scalar()}", f"{name}[{index}] = {self.scalar()}"))
        elif kind < 16:
            self.emit(depth, f"{self.random.choice(sorted(self.arrays))} += {self.array(1)}")
        elif kind < 17:
            self.emit(depth, f"{self.random.choice(sorted(self.scalars))} += {self.scalar(1)}")
        elif kind < 18:
            name = self.random.choice(sorted(self.arrays))
            self.emit(depth, f"add_at({name}, {self.pick('0', '1')}, {self.scalar(1)})")
        elif kind < 20:
            self.effect(depth)
        elif kind < 21:
            one, two = self.random.sample(SCALARS, 2)
            self.emit(depth, f"{one}, {two} = {self.scalar(1)}, {self.scalar(1)}")
            self.scalars |= {one, two}
        elif kind < 22:
            self.emit(depth, self.pick('"# remark"', '"#"'))
        elif kind < 26 and depth < 4:
            self.branch(depth, in_loop)
        elif kind < 29 and depth < 4:
            self.loop(depth)
        elif in_loop and depth > 2:
            self.emit(depth, self.pick("break", "continue"))
            return True
        elif depth > 1 and self.random.random() < 0.3:
            self.emit(depth, self.final_return())
            return True
        else:
            self.bind(depth, self.random.choice(SCALARS), self.random.choice(sorted(self.scalars)))
        return False

    def bind(self, depth: int, name: str, value: str) -> None:
        self.emit(depth, f"{name} = {value}")
        (self.scalars if name in SCALARS else self.arrays).add(name)

    def effect(self, depth: int) -> None:
        argument = self.pick(self.scalar(1), self.array(1))
        call = f"noise({argument})"
        match self.random.randrange(5):
            case 0:
                self.emit(depth, call)
            case 1 | 2:
                self.emit(depth, f"mangle({self.random.choice(sorted(self.arrays))}, {self.scalar(1)})")
            case _:
                self.bind(depth, self.random.choice(SCALARS), call)

    def branch(self, depth: int, in_loop: bool) -> None:
        known = set(self.scalars), set(self.arrays)
        test = self.test()
        self.emit(depth, f"if {test}:")
        self.block(depth + 1, in_loop)
        self.scalars, self.arrays = set(known[0]), set(known[1])
        if self.random.random() < 0.5:
            self.emit(depth, "else:")
            self.block(depth + 1, in_loop)
            self.scalars, self.arrays = set(known[0]), set(known[1])
        if self.random.random() < 0.2:
            self.emit(depth, f"if {test}:")
            self.block(depth + 1, in_loop)
            self.scalars, self.arrays = set(known[0]), set(known[1])

    def loop(self, depth: int) -> None:
        known = set(self.scalars), set(self.arrays)
        self.loops += 1
        count = f"k{self.loops}"
        kind = self.random.randrange(4)
        if kind == 0:
            self.emit(depth, f"{count} = 0")
            self.emit(depth, f"while {count} < 3 and {self.scalar(1)} < 5.0:")
            self.emit(depth + 1, f"{count} = {count} + 1")
            self.block(depth + 1, True)
        elif kind == 1:
            self.taped(depth)
        else:
            self.emit(depth, f"for {count} in range({self.pick('0', '1', '2', '3')}):")
            self.block(depth + 1, True)
            if self.random.random() < 0.15:
                self.emit(depth, "else:")
                self.scalars, self.arrays = set(known[0]), set(known[1])
                self.block(depth + 1, False)
        self.scalars, self.arrays = set(known[0]), set(known[1])

    def taped(self, depth: int) -> None:
        """A forward loop that records and a reverse loop that reads what it recorded."""
        self.tapes += 1
        tape, count = f"tape{self.tapes}", f"k{self.loops}"
        array, one = self.random.choice(sorted(self.arrays)), self.random.choice(sorted(self.scalars))
        known = set(self.scalars), set(self.arrays)
        self.emit(depth, f"{tape} = []")
        self.emit(depth, f"for {count} in range(3):")
        recorded = array if self.random.random() < 0.7 else self.array(1)
        self.emit(depth + 1, f"{tape}.append(({one}, {recorded}))")
        self.block(depth + 1, False)
        self.scalars, self.arrays = set(known[0]), set(known[1])
        self.emit(depth, f"for {count} in reversed(range(3)):")
        first, second = self.random.choice(SCALARS), self.random.choice(ARRAYS)
        self.emit(depth + 1, f"{first}, {second} = {tape}.pop()")
        self.scalars.add(first)
        self.arrays.add(second)
        self.block(depth + 1, False)
        if self.random.random() < 0.5:
            self.emit(depth, f"assert not {tape}")

    def final_return(self) -> str:
        parts = [self.scalar(1), self.array(1)]
        parts += self.random.sample(sorted(self.scalars), min(2, len(self.scalars)))
        parts += self.random.sample(sorted(self.arrays), min(2, len(self.arrays)))
        return f"return {', '.join(parts)}"
