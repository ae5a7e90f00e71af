"""What a member of a built-in class does, observed: calls with many operands, which are compared before and after.

Enters: a class and the name of a member.  Leaves: ``Observed``: which operands it updated, which it put into its
object, whose memory its result is, whether lengths changed, and what it raised.
"""

from __future__ import annotations

import contextlib
import gc
import io
import itertools
import warnings
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np


class Number(float):
    """A number that can be told from others by its identity."""


def numbers() -> list[Number]:
    return [Number(2.5), Number(0.5), Number(1.5)]


def items() -> dict[str, Number]:
    return dict(zip("pqr", numbers(), strict=True))


#: How an object of each class is made.
OBJECTS: dict[type, Callable[[], Any]] = {
    list: numbers,
    tuple: lambda: tuple(numbers()),
    dict: items,
    set: lambda: set(numbers()),
    frozenset: lambda: frozenset(numbers()),
    deque: lambda: deque(numbers()),
    defaultdict: lambda: defaultdict(lambda: Number(7.0), items()),
    OrderedDict: lambda: OrderedDict(items()),
    Counter: lambda: Counter({"p": 2, "q": 1, "r": -1}),
    str: lambda: "text of p",
    bytes: lambda: b"text of p",
    np.ndarray: lambda: np.array([[2.5, 0.5], [1.5, 3.5]]),
    np.random.Generator: lambda: np.random.default_rng(3),
}
_ONE: tuple[Callable[[], Any], ...] = (
    lambda: 0, lambda: 2, lambda: 0.5, lambda: 2.5, lambda: Number(9.0), lambda: "p", lambda: "z", lambda: None,
    lambda: numbers()[:2], lambda: {"p": Number(4.0), "s": Number(5.0)}, lambda: [("p", Number(4.0))],
    lambda: {2.5, 8.0}, lambda: deque(numbers()), lambda: Counter("pqs"), lambda: slice(0, 1), lambda: b"t",
    lambda: np.array([1.0, 0.5]), lambda: [[1, 0], [0, 1]], lambda: (), lambda: True, lambda: float,
    lambda: [0.25, 0.75],
)  # fmt: skip
_TWO: tuple[Callable[[], Any], ...] = (
    lambda: (0, Number(9.0)), lambda: ("p", Number(9.0)), lambda: ("z", Number(9.0)), lambda: (2.5, 3.0),
    lambda: (3, 0.5),
    lambda: (slice(0, 1), numbers()[:2]), lambda: (0, 1), lambda: ("t", "s"), lambda: (b"t", b"s"), lambda: (0.0, 1.0),
    lambda: ([0, 1], [7.0, 8.0]), lambda: ((0, 1), 7.0), lambda: (2, [0.5, 0.5]), lambda: ([0.0, 1.0], np.eye(2)),
    lambda: (5, 4, 3), lambda: (0.1, 0.2, 0.5), lambda: ([3, 4], 2), lambda: (float, 0), lambda: (7.5, float),
)  # fmt: skip
#: Operands that only one member takes.
_OWN: dict[str, tuple[Callable[[], tuple[tuple[Any, ...], dict[str, Any]]], ...]] = {
    "sort": (lambda: ((), {"reverse": True}), lambda: ((), {"key": abs})),
    "update": (lambda: ((), {"p": Number(4.0)}), lambda: ((), {"z": Number(4.0)})),
    "popitem": (lambda: ((), {"last": False}),),
    "format": (lambda: (("a",), {"of": 3}),),
    "byteswap": (lambda: ((True,), {}),),
    "setflags": (lambda: ((), {"write": False}),),
    "resize": (lambda: ((6,), {"refcheck": False}), lambda: (((3, 2),), {"refcheck": False})),
    "setfield": (lambda: ((7.5, float), {}),),
    "__setattr__": (lambda: (("shape", (4,)), {}), lambda: (("default_factory", list), {})),
    "__setstate__": (lambda: ((1, (2,), np.dtype(float), False, np.zeros(2).tobytes()), {}),),
    "__array_function__": (lambda: ((np.sum, (np.ndarray,), (np.eye(2),), {}), {}),),
    "__array_ufunc__": (lambda: ((np.add, "__call__", np.eye(2), np.eye(2)), {}),),
    "__buffer__": (lambda: ((0,), {}),),
    "__release_buffer__": (),
    "hypergeometric": (lambda: ((5, 4, 3), {}),),
    "multivariate_hypergeometric": (lambda: (([3, 4], 2), {}),),
    "tofile": (lambda: ((io.BytesIO(),), {}),),
    "dump": (lambda: ((io.BytesIO(),), {}),),
    "to_device": (lambda: (("cpu",), {}),),
}
#: Where an array's methods take ``out``, after how many other operands.
_OUTPUTS = {
    "all": (None,), "any": (None,), "argmax": (None,), "argmin": (None,), "choose": ([np.eye(2), np.eye(2)],),
    "clip": (0.0, 1.0), "compress": ([True, True], 0), "cumprod": (0, None), "cumsum": (0, None), "dot": (np.eye(2),),
    "max": (None,), "mean": (None, None), "min": (None,), "prod": (None, None), "round": (0,), "std": (None, None),
    "sum": (None, None), "take": ([[0, 1], [0, 1]], None), "trace": (0, 0, 1, None), "var": (None, None),
    "conj": (), "conjugate": (), "ptp": (None,),
}  # fmt: skip


@dataclass
class Observed:
    """What was seen over all calls."""

    calls: int = 0  # that did not raise
    updates: set[str] = field(default_factory=set)  # "self", "arguments"
    keeps: bool = False
    returns: set[str] = field(default_factory=set)  # fresh, alias, element, view
    lengths: bool = False
    raises: set[type[BaseException]] = field(default_factory=set)
    notes: set[str] = field(default_factory=set)


def operands(kind: type, name: str) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Positional and named operands to try."""
    yield from (made() for made in _OWN.get(name, ()))
    if kind is np.ndarray and name in _OUTPUTS:
        given = _OUTPUTS[name]
        for out in (np.zeros((2, 2)), np.zeros(()), np.zeros(2), np.zeros((), bool), np.zeros((), int), np.zeros(4)):
            yield (*given, out), {}
            yield given, {"out": out}
    if kind is np.random.Generator:
        for out in (np.zeros(2), np.ones((2, 2))):
            yield (), {"out": out}
            yield (2.0,), {"out": out}
            yield (out,), {"out": out}
        yield (), {}
    if name in ("tofile", "dump", "__release_buffer__"):
        return
    yield (), {}
    for one in _ONE:
        yield (one(),), {}
    yield (OBJECTS[kind](),), {}
    for two in _TWO:
        yield two(), {}
    if kind is not np.ndarray and kind is not np.random.Generator:
        for one, other in itertools.product(_ONE[:9], repeat=2):
            yield (one(), other()), {}


def observe(kind: type, name: str) -> Observed:
    """Every call of one member, or one reading of an attribute, with what changed around it."""
    seen = Observed()
    member = getattr(kind, name)
    called = callable(member) and name != "__class__"
    for positional, named in operands(kind, name) if called else [((), {})]:
        subject = OBJECTS[kind]()
        given = [*positional, *named.values()]
        before = state(subject), [state(each) for each in given]
        size, inside, held = _size(subject), _reachable(subject), [_reachable(each) for each in given]
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                result = getattr(subject, name)
                result = result(*positional, **named) if called else result
            except Exception as error:
                seen.raises.add(type(error))
                if "argument" not in str(error):
                    seen.notes.add("no arity")
                if name != "__init__" and state(subject) != before[0]:
                    seen.updates.add("self")
                continue
        seen.calls += 1
        if state(subject) != before[0]:
            seen.updates.add("self")
        seen.lengths = seen.lengths or _size(subject) != size
        if [state(each) for each in given] != before[1]:
            seen.updates.add("arguments")
        new = _reachable(subject).keys() - inside.keys()
        seen.keeps = seen.keeps or any(not new.isdisjoint(each) for each in held)
        seen.returns.add(_origin(result, subject, inside, given, held))
        del result
    return seen


def state(subject: Any) -> object:
    """What can be compared before and after: values, order, identities, memory."""
    match subject:
        case np.ndarray():
            return subject.shape, subject.dtype, subject.strides, subject.flags.writeable, subject.tobytes()
        case np.random.Generator() if hasattr(subject.bit_generator, "seed_seq"):
            seeds = subject.bit_generator.seed_seq
            return repr(subject.bit_generator.state), getattr(seeds, "n_children_spawned", 0)
        case io.BytesIO():
            return subject.getvalue()
        case dict():
            factory = getattr(subject, "default_factory", None)
            return [(key, id(value)) for key, value in subject.items()], vars_of(subject), factory
        case deque():
            return [id(value) for value in subject], subject.maxlen
        case set() | frozenset():
            return sorted(map(id, subject))
        case list() | tuple():
            return [id(value) for value in subject]
    return repr(subject)


def vars_of(subject: Any) -> list[str]:
    return sorted(getattr(subject, "__dict__", {}))


def _size(subject: Any) -> object:
    match subject:
        case np.ndarray():
            return subject.shape
        case np.random.Generator():
            return None
    return len(subject)


def _reachable(root: Any) -> dict[int, Any]:
    """The objects with an identity that an operand is made of: numbers of this test, arrays, containers."""
    found: dict[int, Any] = {}
    pending = [root]
    while pending:
        each = pending.pop()
        if id(each) in found or not isinstance(each, _TRACED):
            continue
        if not (each is root or isinstance(each, Number | np.ndarray | list | dict | set | deque)):
            continue
        found[id(each)] = each
        if not isinstance(each, np.ndarray | np.random.Generator):
            pending += gc.get_referents(each)
    return found


_TRACED = (Number, np.ndarray, np.random.Generator, list, tuple, dict, set, frozenset, deque, str, bytes)


def _origin(result: Any, subject: Any, inside: dict[int, Any], given: list[Any], held: list[dict[int, Any]]) -> str:
    """Whose memory a result is, the most that can be: the operand's own, a view of it, its elements, or its own."""
    if result is subject and isinstance(subject, str | bytes | tuple | frozenset):
        return "fresh"  # what cannot change has no identity that matters
    if result is subject or any(result is each for each in given if isinstance(each, _MUTABLE)):
        return "alias"
    arrays = [each for each in (subject, *given) if isinstance(each, np.ndarray)]
    if isinstance(result, np.ndarray):
        return "view" if any(np.shares_memory(result, each) for each in arrays) else "fresh"
    if isinstance(result, tuple | list) and any(isinstance(each, np.ndarray) for each in result):
        return "view" if any(np.shares_memory(a, b) for a in result for b in arrays) else "fresh"
    within = inside.keys() | {number for each in held for number in each}
    if isinstance(result, Number):
        return "element" if id(result) in within else "fresh"
    if isinstance(result, int | float | complex | str | bytes | type(None) | np.generic | type(NotImplemented)):
        return "fresh"
    if isinstance(result, type) or not _tracked(result):
        return "fresh"
    return _of_references(result, subject, given, inside, held)


def _of_references(
    result: Any, subject: Any, given: list[Any], inside: dict[int, Any], held: list[dict[int, Any]]
) -> str:
    found: set[int] = set()
    pending = [result]
    for _ in range(200):
        if not pending:
            break
        each = pending.pop()
        if id(each) in found or isinstance(each, type) or type(each).__name__ in ("module", "function"):
            continue
        found.add(id(each))
        pending += gc.get_referents(each)
        base = getattr(each, "__self__", None)
        pending += [base] if isinstance(base, _MUTABLE) else []
    mutable = [each for each in (subject, *given) if isinstance(each, _MUTABLE)]
    if any(id(each) in found for each in mutable):
        return "view"
    numbers_of = {number for each in (inside, *held) for number, made in each.items() if isinstance(made, Number)}
    return "element" if not numbers_of.isdisjoint(found) else "fresh"


def _tracked(result: Any) -> bool:
    return gc.is_tracked(result) or hasattr(result, "__self__") or bool(gc.get_referents(result))


_MUTABLE = (list, dict, set, deque, np.ndarray, np.random.Generator)
