"""What is asked of a program: in which modes its derivative is compared, and with which options of the compiler."""

from __future__ import annotations

from dataclasses import dataclass

from srcgrad.fuzz.choices import RandomChoices

MODES = (
    "joint", "pair", "forward", "second", "reverse over reverse", "eager", "bound again", "batched", "one sweep",
    "linear", "run again",
)  # fmt: skip


@dataclass(frozen=True)
class Check:
    """One way of asking for the derivative: the mode, and the options of the compiler that are changed."""

    mode: str
    changed: tuple[str, ...] = ()  # of the names of programs.Options, all true otherwise

    def __str__(self) -> str:
        return " ".join([self.mode, *(f"without {option}" for option in self.changed)])


@dataclass(frozen=True)
class Plan:
    """What is asked of one program."""

    checks: tuple[Check, ...]
    moving: tuple[int, ...] | None = None  # positions of the differentiated arguments; None: all


THOROUGH = Plan(
    tuple(
        Check(mode, changed)
        for mode in ("joint", "pair", "forward")
        for changed in ((), ("sink",), ("specialise",), ("sizes",), ("optimise",))
    )
    + (Check("second"), Check("second", ("sink",)), Check("reverse over reverse"), Check("eager"))
)


def usual(number: int) -> Plan:
    """The plan of the program of this number: reverse, mostly as a pair, and forward always; a share of every other."""
    c = RandomChoices(number * 7919 + 1)
    sink = ("sink",) if c.chance(50) else ()
    checks = [Check("pair" if c.chance(70) else "joint", sink), Check("forward")]
    shares: tuple[tuple[int, Check], ...] = (
        (10, Check("pair", ("specialise", *sink))),
        (8, Check("forward", ("specialise",))),
        (5, Check("joint", ("specialise",))),
        (6, Check("pair", ("optimise",))),
        (4, Check("pair", () if sink else ("sink",))),
        (10, Check("second", sink)),
        (4, Check("reverse over reverse", sink)),
        (25, Check("eager")),
        (6, Check("bound again")),
    )
    checks += [check for share, check in shares if c.chance(share)]
    other = RandomChoices(number * 7919 + 3)  # so that the numbers of programs that were found keep their plans
    checks += [Check(mode, ("sizes", *sink)) for mode in ("pair", "forward") if other.chance(6)]
    many = RandomChoices(number * 7919 + 4)
    shared = ((8, "batched"), (5, "one sweep"), (5, "linear"))
    checks += [Check(mode, sink) for share, mode in shared if many.chance(share)]
    checks += [Check("run again", sink)] if other.chance(15) else []
    moving: tuple[int, ...] | None = None
    if c.chance(30):
        moving = tuple(k for k in range(5) if c.chance(50)) or (2,)
    return Plan(tuple(checks), moving)


def given(number: int, modes: tuple[str, ...]) -> Plan:
    """The plan of the program of this number where each is asked in these modes: the options change, one at a time."""
    c = RandomChoices(number * 7919 + 2)
    options = ((), (), ("sink",), ("sink",), ("specialise",), ("optimise",))
    return Plan(tuple(Check(mode, c.pick(options)) for mode in modes), usual(number).moving)
