"""``python -m benchmarks.rules``: the gradient of one call of sixty functions, at sizes 10, 1,000 and 1,000,000.

For each function f the program is ``np.sum(f(x))``.  Time: the gradient (value included) over the plain program,
medians, one thread, the contenders taking turns.  Memory: the peak that is allocated over the size of x.  autograd runs
the same text; torch its own spelling where it has one.  ``--check`` demands that nothing is slower than autograd and
that the median at size 10 is at least 1.5 times faster.
"""

from __future__ import annotations

import argparse
import linecache
import math
import platform
import statistics
import sys
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import srcgrad
from benchmarks.__main__ import measure
from srcgrad.inspect.report import duration, table

SIZES = (10, 1_000, 1_000_000)
FASTER = 1.5


@dataclass(frozen=True)
class Call:
    """One function: its text over ``x`` (and ``y`` of the same shape), PyTorch's text, and what x is."""

    name: str
    text: str
    torch: str | None = None
    kind: str = "vector"


CALLS = (
    Call("add", "x + y", "x + y"),
    Call("multiply", "x * y", "x * y"),
    Call("divide", "x / y", "x / y"),
    Call("power", "x ** 3", "x ** 3"),
    Call("power, float", "x ** 1.7", "x ** 1.7"),
    Call("exp", "np.exp(x)", "torch.exp(x)"),
    Call("log", "np.log(x)", "torch.log(x)"),
    Call("log1p", "np.log1p(x)", "torch.log1p(x)"),
    Call("sqrt", "np.sqrt(x)", "torch.sqrt(x)"),
    Call("sin", "np.sin(x)", "torch.sin(x)"),
    Call("tanh", "np.tanh(x)", "torch.tanh(x)"),
    Call("arctan2", "np.arctan2(x, y)", "torch.atan2(x, y)"),
    Call("logaddexp", "np.logaddexp(x, y)", "torch.logaddexp(x, y)"),
    Call("root of squares", "np.sqrt(x * x + y * y)", "torch.sqrt(x * x + y * y)"),
    Call("absolute", "np.abs(x)", "torch.abs(x)"),
    Call("maximum", "np.maximum(x, y)", "torch.maximum(x, y)"),
    Call("where", "np.where(x > 0.5, x, y)", "torch.where(x > 0.5, x, y)"),
    Call("clip", "np.clip(x, 0.3, 0.7)", "torch.clip(x, 0.3, 0.7)"),
    Call("sinc", "np.sinc(x)", "torch.sinc(x)"),
    Call("sum", "np.sum(x)", "torch.sum(x)"),
    Call("sum, axis", "np.sum(x, axis=0)", "torch.sum(x, 0)", "matrix"),
    Call("mean", "np.mean(x)", "torch.mean(x)"),
    Call("mean, axis", "np.mean(x, axis=1)", "torch.mean(x, 1)", "matrix"),
    Call("var", "np.var(x)", "torch.var(x, correction=0)"),
    Call("std, axis", "np.std(x, axis=0)", "torch.std(x, 0, correction=0)", "matrix"),
    Call("prod", "np.prod(x)", "torch.prod(x)", "factors"),
    Call("max", "np.max(x)", "torch.amax(x)"),
    Call("min, axis", "np.min(x, axis=0)", "torch.amin(x, 0)", "matrix"),
    Call("cumsum", "np.cumsum(x)", "torch.cumsum(x, 0)"),
    Call("norm", "np.linalg.norm(x)", "torch.linalg.norm(x)"),
    Call("norm, axis", "np.linalg.norm(x, axis=1)", "torch.linalg.norm(x, dim=1)", "matrix"),
    Call("sort", "np.sort(x) * y", "torch.sort(x).values * y"),
    Call("reshape", "np.reshape(x, (-1, 2))", "torch.reshape(x, (-1, 2))"),
    Call("transpose", "x.T * y.T", "x.T * y.T", "matrix"),
    Call("concatenate", "np.concatenate((x, y))", "torch.cat((x, y))"),
    Call("stack", "np.stack((x, y))", "torch.stack((x, y))"),
    Call("roll", "np.roll(x, 3) * y", "torch.roll(x, 3) * y"),
    Call("repeat", "np.repeat(x, 2)", "torch.repeat_interleave(x, 2)"),
    Call("tile", "np.tile(x, 2)", "torch.tile(x, (2,))"),
    Call("slice", "x[1:] * x[:-1]", "x[1:] * x[:-1]"),
    Call("element", "x[2]", "x[2]"),
    Call("fancy index", "x[np.array([0, 2, 0])]", "x[torch.tensor([0, 2, 0])]"),
    Call("mask", "x[x > 0.5]", "x[x > 0.5]"),
    Call("triu", "np.triu(x)", "torch.triu(x)", "square"),
    Call("diagonal", "np.diagonal(x)", "torch.diagonal(x)", "square"),
    Call("trace", "np.trace(x)", "torch.trace(x)", "square"),
    Call("dot", "np.dot(x, y)", "torch.dot(x, y)"),
    Call("matmul", "x @ y", "x @ y", "square"),
    Call("matrix-vector", "x @ x[0]", "x @ x[0]", "square"),
    Call("einsum", "np.einsum('ij,jk->ik', x, y)", "torch.einsum('ij,jk->ik', x, y)", "square"),
    Call("outer", "np.outer(x, y[:10])", "torch.outer(x, y[:10])"),
    Call("tensordot", "np.tensordot(x, y, 1)", "torch.tensordot(x, y, 1)", "square"),
    Call("inv", "np.linalg.inv(x)", "torch.linalg.inv(x)", "positive definite"),
    Call("solve", "np.linalg.solve(x, x[0])", "torch.linalg.solve(x, x[0])", "positive definite"),
    Call("det", "np.linalg.slogdet(x)[1]", "torch.linalg.slogdet(x)[1]", "positive definite"),
    Call("cholesky", "np.linalg.cholesky(x)", "torch.linalg.cholesky(x)", "positive definite"),
    Call("eigh", "np.linalg.eigh(x)[0]", "torch.linalg.eigh(x)[0]", "positive definite"),
    Call("svd", "np.linalg.svd(x, full_matrices=False)[1]", "torch.linalg.svd(x, full_matrices=False)[1]", "square"),
    Call("fft", "np.abs(np.fft.fft(x))", "torch.abs(torch.fft.fft(x))"),
    Call("rfft", "np.real(np.fft.rfft(x))", "torch.real(torch.fft.rfft(x))"),
    Call("convolve", "np.convolve(x, y[:5])", None),
    Call("interp", "np.interp(x, np.array([0.0, 0.4, 1.0]), y[:3])", None),
    Call("cumprod", "np.cumprod(x)", "torch.cumprod(x, 0)"),
    Call("median", "np.median(x)", "torch.quantile(x, 0.5)"),
)


def argument(kind: str, size: int, seed: int) -> Any:
    """Numbers between 0.1 and 0.9 in the shape that the function wants, about ``size`` of them; factors are near 1, so
    that their product stays in the range of the dtype."""
    rng = np.random.default_rng(seed)
    side = max(3, math.isqrt(size))
    match kind:
        case "vector":
            return rng.uniform(0.1, 0.9, size)
        case "factors":
            return 1.0 + rng.uniform(-1.0, 1.0, size) / math.sqrt(size)
        case "matrix":
            return rng.uniform(0.1, 0.9, (max(2, size // 5), 5))
        case "square":
            return rng.uniform(0.1, 0.9, (side, side))
    root = rng.uniform(-0.5, 0.5, (side, side))
    return root @ root.T + np.eye(side)


def program(text: str, module: str) -> Callable[..., Any]:
    """``def f(x, y): return np.sum(text)`` with a text of its own, over NumPy, autograd's NumPy or torch."""
    source = f"def f(x, y):\n    return {'torch' if module == 'torch' else 'np'}.sum({text})\n"
    filename = f"<benchmark {module} {text}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    scope: dict[str, Any] = {"__name__": "benchmarks.rules"}
    if module == "torch":
        import torch

        scope["torch"] = torch
    elif module == "autograd":
        import autograd.numpy

        scope["np"] = autograd.numpy
    else:
        scope["np"] = np
    exec(compile(source, filename, "exec"), scope)
    return scope["f"]  # type: ignore[no-any-return]


def contenders(call: Call, x: Any, y: Any) -> dict[str, Callable[[], Any]]:
    """Calls without arguments by name; a peer that is not installed, or cannot do it, is left out."""
    plain = program(call.text, "numpy")
    gradient = srcgrad.value_and_grad(plain)
    made: dict[str, Callable[[], Any]] = {"primal": lambda: plain(x, y), "compiled": lambda: gradient(x, y)}
    expected = made["compiled"]()[1]
    try:
        import autograd

        theirs = autograd.value_and_grad(program(call.text, "autograd"))
        if np.allclose(theirs(x, y)[1], expected, rtol=1e-6, atol=1e-9):
            made["autograd"] = lambda: theirs(x, y)
    except Exception as error:
        print(f"  {call.name}: autograd {type(error).__name__}: {error}"[:100], file=sys.stderr)
    if call.torch is not None:
        try:
            made["torch"] = _with_torch(call.torch, x, y)
        except ImportError:
            pass
    return made


def _with_torch(text: str, x: Any, y: Any) -> Callable[[], Any]:
    import torch

    torch.set_num_threads(1)
    f = program(text, "torch")
    leaf, other = torch.tensor(x, requires_grad=True), torch.tensor(y)

    def run() -> Any:
        leaf.grad = None
        f(leaf, other).backward()
        return leaf.grad

    run()
    return run


def peak(call: Callable[[], Any]) -> int:
    """The most bytes that a call holds at once, its result included."""
    call()
    tracemalloc.start()
    call()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def main(argv: list[str] | None = None) -> int:
    """Print one table per size; with ``--check``, status 1 where a bound is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rules", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="functions whose name contains TEXT")
    parser.add_argument("--size", type=int, choices=SIZES, help="this size only")
    parser.add_argument("--rounds", type=int, default=9, help="rounds per function (default: 9)")
    parser.add_argument("--check", action="store_true", help="exit with status 1 where a bound is broken")
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, one thread, medians of {options.rounds} rounds")
    broken: list[str] = []
    for size in SIZES if options.size is None else (options.size,):
        rows, ratios = [], []
        for call in CALLS:
            if options.only not in call.name:
                continue
            x, y = argument(call.kind, size, 1), argument(call.kind, size, 2)
            calls = contenders(call, x, y)
            times = measure(calls, options.rounds)
            memory = {
                name: peak(calls[name]) / x.nbytes for name in ("primal", "compiled", "autograd") if name in calls
            }
            faster = times.ratio("autograd", "compiled") if "autograd" in times else math.nan
            if faster < 1.0:
                broken.append(f"{call.name} at size {size}: {faster:.2f} times as fast as autograd")
            ratios += [faster] if faster == faster else []
            rows.append(
                (
                    call.name,
                    *(duration(times[name]) if name in times else "-" for name in ("primal", "compiled")),
                    *(f"{times.ratio(name, 'primal'):.1f}" if name in times else "-" for name in PEERS),
                    f"{faster:.2f}" if faster == faster else "-",
                    *(f"{memory[name]:.1f}" if name in memory else "-" for name in ("primal", "compiled", "autograd")),
                )
            )
            print(f"  measured {call.name} at size {size}", file=sys.stderr)
        if not rows:
            continue
        middle = statistics.median(ratios) if ratios else math.nan
        print(f"\n## Size {size:,}\n")
        print(table(HEADER, rows))
        print(f"\nautograd ÷ compiled: median {middle:.2f} over {len(ratios)} functions")
        if size == SIZES[0] and middle < FASTER:
            broken.append(f"size {size}: the median is {middle:.2f} times as fast as autograd, less than {FASTER}")
    if broken:
        print("\nBounds broken:", *broken, sep="\n  ")
    return 1 if broken and options.check else 0


PEERS = ("compiled", "autograd", "torch")
HEADER = (
    "gradient of", "primal", "compiled", "c/primal", "a/primal", "t/primal", "a/c", "mem primal", "mem compiled",
    "mem autograd",
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
