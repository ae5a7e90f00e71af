"""``check_grads``: a function's derivatives in every mode, against numbers and against each other.

Enters: a plain function and arguments to check it at.  Leaves: a ``Report``, or ``GradientMismatch`` naming the mode,
the argument and the two numbers, and which mode stands alone.  *reverse* and *forward* are compiled programs; *eager*
runs the function's own code operation by operation (``srcgrad.eager.plain``), so that the compiler has no part in it.
The numeric side is a central difference in a random direction, extrapolated to zero step (Richardson; Press et al.,
*Numerical Recipes*, §5.7), so that its own error is far below the tolerance.  Directions of complex arguments are
complex; of a complex value a random combination of real and imaginary parts is compared.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from srcgrad.api.arguments import is_floating, leaves_of
from srcgrad.api.dense import Slope
from srcgrad.api.derivative import Derivative
from srcgrad.api.transforms import directed, jvp, vjp
from srcgrad.errors import ArgumentError, SrcgradError
from srcgrad.runtime import zeros_like
from srcgrad.runtime.binding import called_signature
from srcgrad.runtime.shadows import cloned
from srcgrad.tracebacks import door

MODES = ("reverse", "forward", "eager", "numeric")
EXACT = 1e-8  # what modes that know no step size may differ by


class GradientMismatch(SrcgradError, AssertionError):
    """A derivative disagrees with finite differences, or with another mode; ``report`` holds every comparison."""

    report: Report | None = None


@dataclass(frozen=True)
class Disagreement:
    """One comparison: the derivative along a random direction in a mode (``left``) and by differences (``right``)."""

    mode: str
    order: int
    left: float
    right: float

    @property
    def relative(self) -> float:
        return _relative(self.left, self.right)


@dataclass(frozen=True)
class Argument:
    """One argument: the derivative along a random direction in every mode, and how far the modes are apart."""

    name: str
    derivatives: Mapping[str, float]
    largest: float = 0.0  # the largest relative difference of two modes
    between: tuple[str, ...] = ()  # those two
    alone: str | None = None  # the mode without which the others agree


@dataclass(frozen=True)
class Report(Sequence[Disagreement]):
    """What ``check_grads`` compared: a sequence of comparisons with finite differences, and results per argument."""

    comparisons: tuple[Disagreement, ...]
    arguments: tuple[Argument, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)  # modes that cannot run the function, and why

    def __getitem__(self, index: Any) -> Any:
        return self.comparisons[index]

    def __len__(self) -> int:
        return len(self.comparisons)

    def __str__(self) -> str:
        lines = []
        for argument in self.arguments:
            given = ", ".join(f"{mode} {value:.10g}" for mode, value in argument.derivatives.items())
            alone = f"; {argument.alone} stands alone" if argument.alone else ""
            lines.append(f"{argument.name}: {given}; largest difference {argument.largest:.1e}{alone}")
        lines += [f"{mode} left out: {reason}" for mode, reason in self.left_out.items()]
        return "\n".join(lines)


@door
def check_grads(
    f: Callable[..., Any],
    *args: Any,
    order: int = 2,
    modes: Sequence[str] = MODES,
    tolerance: float | None = None,
    seed: int = 0,
) -> Report:
    """Compare the derivatives of ``f`` at ``args`` in all ``modes`` with each other and with finite differences.

    The modes are ``"reverse"`` and ``"forward"`` (compiled), ``"eager"`` (f run by ``srcgrad.eager``) and
    ``"numeric"`` (central differences in double precision, which always take part).  ``order`` is the highest order of
    the derivatives that are compared, 1 or 2; second derivatives only if f returns one real number.  All floating-point
    arguments, and containers of them, are differentiated along random directions (``seed`` makes these), complex ones
    along complex directions.  The value of f may have any structure.

    Returns a report of each argument, which can be printed.  Raises ``GradientMismatch`` if a mode differs from finite
    differences by more than ``tolerance`` (relative to the larger of the two numbers and 1), or if two exact modes
    differ by more than 1e-8.  The message says which mode disagrees with all the others, if one does.  The default
    tolerance is 1e-6, or larger if the arguments or the value have less than double precision.  If f cannot run
    eagerly, that mode is left out, and ``report.left_out`` says why; with ``modes`` given, it is an error.
    """
    if order not in (1, 2):
        raise ArgumentError(f"order is 1 or 2, not {order!r}")
    unknown = [mode for mode in modes if mode not in MODES]
    if unknown:
        raise ArgumentError(f"there is no mode {unknown[0]!r}", hint=f"the modes are {', '.join(MODES)}")
    random = np.random.default_rng(seed)
    moving = tuple(j for j, a in enumerate(args) if _has_floats(a))
    if not moving:
        raise ArgumentError("no argument is a floating-point number or an array of them")
    directions = tuple(_random_like(args[j], random) for j in moving)
    value, pullback = vjp(f, *args, argnums=moving)
    weights = _random_like(value, random)
    coarsest = 100.0 * _coarsest((value, *(args[j] for j in moving)))
    if tolerance is None:
        tolerance = max(1e-6, coarsest)
    point = _Point(f, args, moving, directions, weights)
    found: dict[str, tuple[float, ...]] = {}
    whole: dict[str, tuple[Any, ...]] = {}
    left_out: dict[str, str] = {}
    second: list[Disagreement] = []
    if "reverse" in modes:
        whole["reverse"] = pullback(weights)
        found["reverse"] = tuple(map(_inner, whole["reverse"], directions))
    if "forward" in modes:
        found["forward"] = point.forward()
    is_number = isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.ndim == 0)
    twice = order == 2 and is_number and not np.iscomplexobj(value)
    if "eager" in modes:
        try:
            run = point.run_eagerly()
            whole["eager"] = run(weights)
            found["eager"] = tuple(map(_inner, whole["eager"], directions))
            if twice:
                second.append(point.second_eager(run))
        except NotImplementedError as error:
            if modes is not MODES:
                raise ArgumentError(f"this cannot run eagerly: {error}") from error
            left_out["eager"] = str(error)
    found["numeric"] = point.numeric()
    comparisons = [Disagreement(mode, 1, sum(values), sum(found["numeric"])) for mode, values in found.items()]
    comparisons = [one for one in comparisons if one.mode != "numeric"]
    if twice:
        comparisons += [*_second(f, args, moving, directions), *second]
    exact = max(min(tolerance, EXACT), coarsest)
    report = Report(tuple(comparisons), tuple(point.compared(found, whole, tolerance, exact)), left_out)
    for comparison in comparisons:
        if not comparison.relative <= tolerance:
            raise _mismatch(
                f"order {comparison.order} in {comparison.mode} mode gives {comparison.left!r} where numbers give"
                f" {comparison.right!r}: a relative difference of {comparison.relative:.1e}",
                report,
                tolerance,
            )
    for argument in report.arguments:
        if not argument.largest <= (tolerance if "numeric" in argument.between else exact):
            raise _mismatch(
                f"{' and '.join(argument.between)} differ by {argument.largest:.1e}, relatively, along {argument.name}",
                report,
                0.0,
            )
    return report


def _mismatch(reason: str, report: Report, tolerance: float) -> GradientMismatch:
    """The error, with the arguments where modes differ and who stands alone."""
    blamed = [argument for argument in report.arguments if not argument.largest <= tolerance]
    text = "".join(f"\n  {line}" for line in str(Report((), tuple(blamed))).splitlines())
    hint = "a kink, a jump or noise at this point makes the numeric side wrong: try another point"
    error = GradientMismatch(reason + text, hint=hint)
    error.report = report
    return error


@dataclass(frozen=True)
class _Point:
    """A function at a point, with the directions along which its derivatives are compared."""

    f: Callable[..., Any]
    args: tuple[Any, ...]
    moving: tuple[int, ...]
    directions: tuple[Any, ...]
    weights: Any

    def forward(self) -> tuple[float, ...]:
        """The derivative along each argument's direction by the tangent program, the other arguments at rest."""
        made = []
        for j in self.moving:
            tangents: list[Any] = [None] * len(self.args)
            for other, direction in zip(self.moving, self.directions, strict=True):
                tangents[other] = direction if other == j else zeros_like(self.args[other])
            _, tangent = jvp(self.f, self.args, tuple(tangents))
            made.append(_inner(self.weights, tangent))
        return tuple(made)

    def numeric(self) -> tuple[float, ...]:
        """The same by differences."""

        def along(j: int) -> Callable[[float], float]:
            return lambda t: _inner(self.weights, self.f(*self.at(t, j)))

        return tuple(_slope(along(j)) for j in self.moving)

    def at(self, t: float, only: int) -> list[Any]:
        """The arguments with one of them moved."""
        moved = list(cloned(self.args))  # the function may store into them
        moved[only] = _moved(moved[only], self.directions[self.moving.index(only)], t)
        return moved

    def run_eagerly(self) -> Any:
        """The function run by the eager machine."""
        from srcgrad.eager import plain

        return plain.Run(self.f, self.args, self.moving)

    def second_eager(self, run: Any) -> Disagreement:
        """The Hessian along the direction, the eager gradient recorded and differentiated again."""
        from srcgrad.eager import plain

        change = _inner_all(run.second(self.directions), self.directions)

        def along(t: float) -> float:
            moved = list(self.args)
            for j, direction in zip(self.moving, self.directions, strict=True):
                moved[j] = _moved(self.args[j], direction, t)
            return _inner_all(plain.Run(self.f, moved, self.moving)(1.0), self.directions)

        return Disagreement("eager over eager", 2, change, _slope(along))

    def compared(
        self,
        found: Mapping[str, tuple[float, ...]],
        whole: Mapping[str, tuple[Any, ...]],
        tolerance: float,
        exact: float,
    ) -> Iterable[Argument]:
        """Each argument with its largest disagreement and who stands alone."""
        for place, j in enumerate(self.moving):
            given = {mode: values[place] for mode, values in found.items()}
            apart = {pair: _relative(given[pair[0]], given[pair[1]]) for pair in combinations(given, 2)}
            if len(whole) == 2:
                one, other = (cotangents[place] for cotangents in whole.values())
                pair = tuple(whole)
                apart[pair] = max(apart[pair], _apart(one, other))  # type: ignore[index]
            # Numbers have an error of their own: who differs is asked in units of what each pair may differ by.
            allowed = {pair: tolerance if "numeric" in pair else exact for pair in apart}
            worst = max(apart, key=lambda pair: (_sized(apart[pair]) / allowed[pair], _sized(apart[pair])))
            bad = [pair for pair in apart if not apart[pair] <= allowed[pair]]
            alone = [mode for mode in given if bad and all(mode in pair for pair in bad)]
            outcast = alone[0] if len(alone) == 1 and len(given) > 2 else None
            yield Argument(_name(self.f, j), given, apart[worst], worst, outcast)


def _sized(difference: float) -> float:
    return np.inf if np.isnan(difference) else difference


def _relative(left: float, right: float) -> float:
    if left == right:  # infinite ones too
        return 0.0
    return abs(left - right) / max(abs(left), abs(right), 1.0)


def _apart(one: Any, other: Any) -> float:
    """The largest difference of two cotangents, element by element, relative to the largest element and 1."""
    pairs = zip(leaves_of(one, ""), leaves_of(other, ""), strict=True)
    worst = 0.0
    for (a, _), (b, _) in pairs:
        if a is None or b is None or not np.size(a):
            continue
        a, b = np.asarray(a), np.asarray(b)
        differ = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
        worst = max(worst, _sized(float(np.max(differ))) / max(1.0, float(np.max(np.abs(b)))))
    return worst


def _name(f: Callable[..., Any], place: int) -> str:
    """An argument by its name in the signature, one of ``*args`` by its place there."""
    parameters = [*called_signature(f).parameters.values()]
    for k, parameter in enumerate(parameters):
        if parameter.kind is parameter.VAR_POSITIONAL:
            return f"{parameter.name}[{place - k}]"
        if k == place:
            return parameter.name
    return f"argument {place}"


def _second(
    f: Callable[..., Any], args: tuple[Any, ...], moving: tuple[int, ...], directions: tuple[Any, ...]
) -> list[Disagreement]:
    """The Hessian along the direction: forward over reverse against the numeric slope of the gradient."""
    gradient = Derivative(f, moving, mode="reverse")
    values = gradient.bind(args, {})
    named = zip(moving, directions, strict=True)
    change = Slope(gradient).along(values, tuple(directed(v, args[j], f"argument {j}") for j, v in named))

    def along(t: float) -> float:
        moved = list(cloned(args))
        for j, direction in zip(moving, directions, strict=True):
            moved[j] = _moved(args[j], direction, t)
        return _inner_all(gradient(*moved), directions)

    return [Disagreement("forward over reverse", 2, _inner_all(change, directions), _slope(along))]


def _slope(along: Callable[[float], float], step: float = 1e-2, levels: int = 6) -> float:
    """The derivative at 0 by Richardson extrapolation; the entry of the table with the least estimated error."""
    table: list[list[float]] = []
    best, error = np.nan, np.inf
    for level in range(levels):
        h = step / 2**level
        row = [(along(h) - along(-h)) / (2 * h)]
        for k in range(level):
            row.append(row[k] + (row[k] - table[-1][k]) / (4 ** (k + 1) - 1))
            estimate = max(abs(row[k + 1] - row[k]), abs(row[k + 1] - table[-1][k]))
            if estimate < error:
                best, error = row[k + 1], estimate
        table.append(row)
    return float(best)


def _has_floats(value: Any) -> bool:
    return any(is_floating(leaf) for leaf, _ in leaves_of(value, ""))


def _coarsest(value: Any) -> float:
    """The greatest rounding unit of the floating-point numbers in a value."""
    dtypes = (np.asarray(leaf).dtype for leaf, _ in leaves_of(value, "") if is_floating(leaf))
    return max((float(np.finfo(dtype).eps) for dtype in dtypes), default=0.0)


def _mapped(value: Any, change: Callable[[Any, Any], Any], other: Any) -> Any:
    """The structure of ``value`` with ``change`` of each floating-point leaf and its counterpart in ``other``."""
    if isinstance(value, deque):
        return deque((_mapped(item, change, part) for item, part in zip(value, other, strict=True)), value.maxlen)
    if isinstance(value, tuple | list):
        items = [_mapped(item, change, part) for item, part in zip(value, other, strict=True)]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: _mapped(item, change, other[key]) for key, item in value.items()}
    return change(value, other) if is_floating(value) else value


def _random_like(value: Any, random: np.random.Generator) -> Any:
    """A random direction in the structure of ``value``; what has no derivative is left as it is."""

    def draw(leaf: Any, _: Any) -> Any:
        drawn: Any = random.standard_normal(np.shape(leaf))
        if np.iscomplexobj(leaf):
            drawn = drawn + 1j * random.standard_normal(np.shape(leaf))
        return np.asarray(drawn, leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(drawn)

    return _mapped(value, draw, value)


def _moved(value: Any, direction: Any, t: float) -> Any:
    """``value + t * direction``, in double precision where it is less."""

    def move(leaf: Any, along: Any) -> Any:
        if isinstance(leaf, np.ndarray | np.generic):
            moved: Any = np.asarray(leaf) + np.asarray(along, np.result_type(leaf, np.float64)) * t
            return np.asarray(moved) if isinstance(leaf, np.ndarray) else moved
        return leaf + t * along

    return _mapped(value, move, direction)


def _inner(a: Any, b: Any) -> float:
    if isinstance(b, tuple | list | deque):
        return sum(_inner(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(b, dict):
        return sum(_inner(a[key], item) for key, item in b.items())
    if a is None or b is None or not (_has_floats(a) and _has_floats(b)):
        return 0.0
    return float(np.real(np.sum(np.asarray(a) * np.asarray(b))))


def _inner_all(a: Any, b: Any) -> float:
    return sum(_inner(x, y) for x, y in zip(a, b, strict=True))
