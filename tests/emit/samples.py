"""Statements and expressions in all shapes that emitted code takes, drawn at random."""

from __future__ import annotations

import random

NAMES = ("x", "y_bar", "weights", "alpha_bar2", "s", "np", "result", "tape", "some_longer_name")
FUNCTIONS = ("np.sin", "unbroadcast", "np.where", "f", "np.linalg.norm", "tape.pop", "x.sum")


class Sample:
    """Draws expressions of a given depth, and statements."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def many(self, counts: tuple[int, ...], depth: int) -> list[str]:
        return [self.expression(depth) for _ in range(self.random.choice(counts))]

    def expression(self, depth: int) -> str:
        draw = self.random
        if depth <= 0 or draw.random() < 0.12:
            return draw.choice([*NAMES, "1.0", "2", "0", "-1", "'axis'", "None", "1e-05", "3j"])
        below = depth - 1
        a, b, c = (self.expression(below) for _ in range(3))
        match draw.randrange(20):
            case 0 | 1 | 2 | 3 | 4:
                return f"({a} {draw.choice(['+', '-', '*', '/', '@', '//', '%', '**'])} {b})"
            case 5:
                return f"(-{a})"
            case 6 | 7 | 8 | 9 | 10:
                arguments = self.many((0, 1, 2, 3), below)
                if draw.random() < 0.3:
                    arguments.append(f"axis={a}")
                return f"{draw.choice(FUNCTIONS)}({', '.join(arguments)})"
            case 11 | 12:
                indices = a, f"{a}:{b}", ":", f"{b}:", f":{a}:{b}", "..."
                return f"{draw.choice(NAMES)}[{', '.join(draw.choices(indices, k=draw.choice([1, 1, 2])))}]"
            case 13:
                return f"({', '.join(self.many((1, 2, 3, 4), below))},)"
            case 14:
                return f"[{', '.join(self.many((0, 1, 2, 3), below))}]"
            case 15:
                return f"({a} if {b} else {c})"
            case 16:
                return f"({a} {draw.choice(['<', '==', 'is not', 'in', 'not in', '>='])} {b})"
            case 17:
                return f"({a} {draw.choice(['and', 'or'])} {b})"
            case 18:
                return f"(not {a})"
            case _:
                return draw.choice([f"[{a} for q in {b} if {c}]", f"(lambda q: {a})", f"({a}).T", "f'{x} {y!r:>10}'"])

    def statement(self) -> str:
        draw = self.random
        depth = draw.choice([1, 2, 3, 4])
        a, b = self.expression(depth), self.expression(depth)
        name = draw.choice(NAMES)
        tail = "\n        pass"
        return draw.choice(
            [
                f"{name} = {a}",
                f"{name}[{self.expression(2)}] += {a}",
                f"return {', '.join(self.many((1, 1, 2, 3, 6), depth))}",
                f"{', '.join(draw.choices(NAMES, k=draw.choice([2, 3])))} = {a}",
                f"{', '.join(draw.choices(NAMES, k=9))} = tape.pop()",
                f"tape.append({a})",
                f"a = b = {a}",
                f"assert {a}, 'message'",
                f"raise ValueError({a})",
                f"x = {', '.join(self.many((2, 5), depth))}",
                f"if {a}:{tail}",
                f"for i, j in {a}:{tail}",
                f"while {a}:{tail}\n    else:\n        y = {b}",
                f"with np.errstate({a}):{tail}",
            ]
        )

    def function(self, count: int) -> str:
        parameters = [f"parameter{i}" for i in range(self.random.choice([0, 1, 3, 8, 12]))]
        lines = "\n    ".join(self.statement() for _ in range(count))
        return f"def f({', '.join(parameters)}):\n    {lines}\n"
