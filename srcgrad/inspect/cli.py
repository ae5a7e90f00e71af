"""The command ``srcgrad``: show, annotate, profile, compare, explain and check the derivative of a function named on
the command line; the rule table; what a refusal means; the cache; a hunt with random programs; a demo.

Exit status: 0 done, 1 a check that failed or derivatives that differ (or our own fault), 2 input that is wrong or a
program that is refused, with one clear line, or the refusal with its caret, on the standard error.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

import srcgrad
from srcgrad.api.dense import Dense
from srcgrad.api.derivative import Derivative
from srcgrad.cache import folder
from srcgrad.check import MODES
from srcgrad.emit.emission import Emission
from srcgrad.inspect.report import print_code, table
from srcgrad.inspect.target import BadTarget, argnums_of, resolve
from srcgrad.runtime.binding import called_signature

TARGET = "FILE.py:function or package.module:function"
Result = TypeVar("Result")
STAGES = ("source", "lower", "infer", "normalize", "passes", "analysis", "reverse", "emit", "refusals")


class _Parser(argparse.ArgumentParser):
    """argparse, but a wrong command line costs one line instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    options = _parser().parse_args(argv)
    command: Callable[[argparse.Namespace], int] = options.run
    try:
        status = command(options)
        sys.stdout.flush()
        return status
    except BadTarget as error:
        print(f"srcgrad: {error}", file=sys.stderr)
        return 2
    except srcgrad.SrcgradError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1 if isinstance(error, srcgrad.InternalError) else 2
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="srcgrad", description="Turn a Python/NumPy function into the source of its derivative.")
    parser.add_argument("--version", action="version", version=f"srcgrad {srcgrad.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    show = commands.add_parser("show", help="print the source of the derivative")
    _add_function(show)
    show.add_argument("--mode", choices=("reverse", "forward", "split"), default="reverse", help="default: reverse")
    show.add_argument("--order", type=int, choices=(1, 2), default=1, help="2: the program of hvp (default: 1)")
    show.add_argument("--args", metavar="EXPR", help="the program for these arguments, such as 'np.ones(3), n=5'")
    show.add_argument("--generic", action="store_true", help="the program that assumes nothing of its arguments")
    show.add_argument("-o", "--output", type=Path, metavar="FILE", help="write it there")
    show.set_defaults(run=_show)

    annotate = commands.add_parser("annotate", help="write a page with the function beside its derivative")
    _add_function(annotate)
    annotate.add_argument("--args", metavar="EXPR", help="run it with these arguments, and show what each line costs")
    annotate.add_argument("--generic", action="store_true", help="the program that assumes nothing of its arguments")
    annotate.add_argument("--order", type=int, choices=(1, 2), default=1, help="2: the program of hvp (default: 1)")
    annotate.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: FUNCTION.html")
    annotate.set_defaults(run=_annotate)

    profile = commands.add_parser("profile", help="print what each line costs in time and memory")
    _add_function(profile)
    profile.add_argument("--args", metavar="EXPR", default="", help="the arguments, such as 'np.ones(3), 2.0, n=5'")
    profile.set_defaults(run=_profile)

    diff = commands.add_parser("diff", help="compare the derivatives of two functions")
    diff.add_argument("old", metavar="OLD", help=TARGET)
    diff.add_argument("new", metavar="NEW", help=TARGET)
    _add_argnums(diff)
    diff.add_argument("--args", metavar="EXPR", help="the programs for these arguments")
    diff.add_argument("-o", "--output", type=Path, metavar="FILE", help="write a page there")
    diff.set_defaults(run=_diff)

    explain = commands.add_parser("explain", help="print the program as a stage of the compiler sees it")
    _add_function(explain)
    explain.add_argument("--at", choices=STAGES, default=None, help="this stage only")
    explain.set_defaults(run=_explain)

    check = commands.add_parser("check", help="compare the derivatives with numeric ones")
    check.add_argument("function", metavar="FUNCTION", help=TARGET)
    check.add_argument("--args", metavar="EXPR", default="", help="the arguments, such as 'np.ones(3), 2.0, n=5'")
    check.add_argument("--order", type=int, choices=(1, 2), default=2, help="derivatives up to this order (default: 2)")
    check.add_argument("--modes", default=",".join(MODES), help=f"default: {','.join(MODES)}")
    check.set_defaults(run=_check)

    rules = commands.add_parser("rules", help="print the rule table, or the rule of one function")
    rules.add_argument("name", nargs="?", metavar="NAME", help="a function as in a program, such as np.einsum")
    rules.add_argument("--list", choices=("ruled", "constant", "refused"), default="ruled", help="default: ruled")
    rules.add_argument("--match", metavar="WORD", default="", help="only functions whose name contains this")
    rules.add_argument("--page", action="store_true", help="print the whole table as a page of documentation")
    rules.set_defaults(run=_rules)

    why = commands.add_parser("why", help="print what the code of a refusal means, and what to write instead")
    why.add_argument("code", nargs="?", metavar="CODE", help="such as E0102; without one, all of them are listed")
    why.add_argument("--page", action="store_true", help="print them all as a page of documentation")
    why.set_defaults(run=_why)

    fuzz = commands.add_parser("fuzz", help="compare the derivatives of random programs with numbers")
    fuzz.add_argument("--minutes", type=float, default=1.0, help="how long (default: 1)")
    fuzz.add_argument("--seed", type=int, default=0, help="the number of the first program (default: 0)")
    fuzz.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    fuzz.add_argument("--count", type=int, default=None, help="end after so many programs")
    fuzz.add_argument("--stop", type=int, default=10, help="end after so many findings (default: 10)")
    fuzz.add_argument("--shrink", type=float, default=30.0, help="seconds for one finding (default: 30)")
    fuzz.add_argument("--longest", type=int, default=9, help="statements of a program, about (default: 9)")
    fuzz.add_argument("--without", default="", metavar="LIST", help="leave out stores, views, containers, …")
    fuzz.add_argument("--modes", default="", metavar="LIST", help="compare each program in these: pair, second, …")
    fuzz.add_argument("--out", type=Path, default=None, metavar="FOLDER", help="write a test for each finding there")
    fuzz.add_argument("--every", action="store_true", help="list every construct with its count")
    fuzz.add_argument("--print", type=int, default=None, dest="number", metavar="N", help="print program N, judged")
    fuzz.set_defaults(run=_fuzz)

    serve = commands.add_parser("serve", help="open a page on this machine that shows the gradient of what is typed")
    serve.add_argument("--port", type=int, default=0, help="default: one that is free")
    serve.add_argument("--limit", type=float, default=10.0, metavar="SECONDS", help="for one program (default: 10)")
    serve.set_defaults(run=_serve)

    cache = commands.add_parser("cache", help="print where compiled programs are kept, how many, and their size")
    cache.add_argument("--clear", action="store_true", help="remove them all")
    cache.set_defaults(run=_cache)

    demo = commands.add_parser("demo", help="fit a predator-prey model to real counts with a compiled gradient")
    demo.add_argument("--plot", type=Path, default=Path("lynx_hare.png"), metavar="FILE", help="where the plot goes")
    demo.add_argument("--no-plot", action="store_const", const=None, dest="plot", help="draw nothing")
    demo.set_defaults(run=_demo)
    return parser


def _cache(options: argparse.Namespace) -> int:
    home = folder.chosen()
    if home is None:
        print("the cache is off (SRCGRAD_CACHE=off)" if os.environ.get("SRCGRAD_CACHE") else "there is no home folder")
        return 0
    if options.clear:
        count = folder.clear(home)
        print(f"{home}: removed {count} file{'s' * (count != 1)}")
        return 0
    sizes = [size for _, size, path in folder.files(home) if path.endswith(folder.SUFFIX)]
    is_believed = not os.path.exists(home) or folder.is_own_folder(home)
    print(f"{home}: {len(sizes)} program{'s' * (len(sizes) != 1)}, {sum(sizes) / 1e6:.1f} MB")
    if not is_believed:
        print("it is not used: it belongs to another user, or others may write to it")
    return 0


def _add_function(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("function", metavar="FUNCTION", help=TARGET)
    _add_argnums(parser)


def _add_argnums(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--argnums",
        type=_argnums,
        default=0,
        metavar="LIST",
        help="positions and names to differentiate, such as 0 or 0,w (default: 0)",
    )


def _argnums(text: str) -> int | str | tuple[int | str, ...]:
    """``0``, ``w`` or ``0,w`` as what ``srcgrad.grad`` takes."""
    try:
        return argnums_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _show(options: argparse.Namespace) -> int:
    text = _emission(_program(options, options.mode), options.args, generic=options.generic).text
    if options.output is None:
        print_code(text)
    else:
        _write(options.output, text)
    return 0


def _annotate(options: argparse.Namespace) -> int:
    from srcgrad.api.looking import annotated

    derivative = _program(options)
    if options.args is None:
        compiled = derivative.program(None, shown=True) if options.generic else derivative.shown()
        made = annotated(derivative, compiled)
    else:
        args, kwargs = _arguments(options.args)
        made = _called(options.function, options.args, lambda: derivative.annotate(*args, **kwargs))
    path = options.output or Path(f"{options.function.rpartition(':')[2]}.html")
    _write(path, made.html)
    print(path)
    return 0


def _profile(options: argparse.Namespace) -> int:
    derivative = srcgrad.Derivative(_function(options), options.argnums)
    args, kwargs = _arguments(options.args)
    print(_called(options.function, options.args, lambda: derivative.profile(*args, **kwargs)))
    return 0


def _diff(options: argparse.Namespace) -> int:
    from srcgrad.observe.comparing import as_page, as_text, compared

    names = options.old, options.new
    old, new = (
        _emission(srcgrad.Derivative(_differentiated(name), options.argnums), options.args) for name in names
    )
    changes = compared(old, new)
    if options.output is not None:
        _write(options.output, as_page(changes, names))
    elif changes:
        print(as_text(changes, names))
    return 1 if changes else 0


def _program(options: argparse.Namespace, mode: str = "reverse") -> srcgrad.Derivative:
    """The derivative that is looked at: of second order, the program along a direction."""
    function = _function(options)
    if options.order == 1:
        return srcgrad.Derivative(function, options.argnums, mode=mode)
    if mode != "reverse":
        raise BadTarget("--order 2 is the tangent of the gradient: it takes no --mode")
    along: Any = srcgrad.hvp(function, options.argnums)
    program: srcgrad.Derivative = along.program
    return program


def _emission(derivative: srcgrad.Derivative, args: str | None, *, generic: bool = False) -> Emission:
    """What is shown of a derivative: its program for arguments, else by annotations, else for any arguments."""
    if args is not None and generic:
        raise BadTarget("--generic is the program for any arguments: it takes no --args")
    if args is not None:
        positional, keywords = _arguments(args)
        return derivative.program_for(derivative.bind(positional, keywords)).emission
    return (derivative.program(None, shown=True) if generic else derivative.shown()).emission


def _called(name: str, args: str, call: Callable[[], Result]) -> Result:
    try:
        return call()
    except srcgrad.SrcgradError:
        raise
    except Exception as error:
        raise BadTarget(f"{name} fails with ({args}): {type(error).__name__}: {error}") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise BadTarget(f"cannot write {path}: {error.strerror}") from None


def _explain(options: argparse.Namespace) -> int:
    derivative = srcgrad.Derivative(_function(options), options.argnums)
    if options.at:
        print_code(derivative.explain(at=options.at))
        return 0
    for stage in STAGES:
        print(f"# === {stage}")
        print_code(derivative.explain(at=stage))
        print()
    return 0


def _function(options: argparse.Namespace) -> Callable[..., Any]:
    return _differentiated(options.function)


def _differentiated(target: str) -> Callable[..., Any]:
    function: Any = resolve(target)
    primal: Callable[..., Any] = function.primal if isinstance(function, Derivative | Dense) else function
    return primal  # `@srcgrad.grad` on the user's own function: show what is inside


def _check(options: argparse.Namespace) -> int:
    function = _function(options)
    args, kwargs = _arguments(options.args)
    try:
        bound = called_signature(function).bind(*args, **kwargs)
        function(*args, **kwargs)
    except Exception as error:
        raise BadTarget(f"{options.function} fails with ({options.args}): {type(error).__name__}: {error}") from error
    if bound.kwargs:
        raise BadTarget(f"check passes positional arguments only, {', '.join(bound.kwargs)} cannot be given")
    modes = tuple(options.modes.split(","))
    if not set(modes) <= set(MODES):
        raise BadTarget(f"--modes takes {', '.join(MODES)}, with commas, found {options.modes!r}")
    if modes == MODES:
        modes = MODES  # by default what cannot run eagerly is left out
    try:
        compared = srcgrad.check_grads(function, *bound.args, order=options.order, modes=modes)
    except AssertionError as error:
        print(f"{options.function}: {error}", file=sys.stderr)
        return 1
    rows = [(one.mode, one.order, one.left, one.right, f"{one.relative:.0e}") for one in compared]
    print(table(("mode", "order", "derivative", "by numbers", "difference"), rows, digits=10))
    pairs = [(one.name, " and ".join(one.between), f"{one.largest:.0e}") for one in compared.arguments]
    print("\n" + table(("argument", "furthest apart", "difference"), pairs))
    for mode, reason in compared.left_out.items():
        print(f"{mode} left out: {reason}")
    return 0


def _arguments(text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments that ``text``, the inside of a call, would pass."""

    def collect(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, kwargs

    try:
        args, kwargs = eval(f"collect({text})", {"collect": collect, "np": np, "numpy": np, "math": math})
    except Exception as error:
        raise BadTarget(f"cannot read --args {text!r}: {type(error).__name__}: {error}") from error
    return args, kwargs


def _rules(options: argparse.Namespace) -> int:
    from srcgrad.inspect import rulebook

    if options.page:
        print(rulebook.page(), end="")
    elif options.name:
        print_code(rulebook.describe(options.name))
    else:
        header, rows = rulebook.overview(options.list, options.match)
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        for row in (header, *rows):
            print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
        numbers = rulebook.counts(rulebook.everything())
        print("\n" + ", ".join(f"{count} {status}" for status, count in numbers.items()))
    return 0


def _why(options: argparse.Namespace) -> int:
    from srcgrad import refusals

    if options.page:
        print(refusals.page(), end="")
    elif options.code is None:
        print(refusals.overview())
    elif (entry := refusals.entry(options.code)) is not None:
        print_code(str(entry))
    else:
        raise BadTarget(f"{options.code} is no code of a refusal; srcgrad why lists them")
    return 0


def _fuzz(options: argparse.Namespace) -> int:
    from srcgrad.fuzz.command import run

    return run(options)


def _demo(options: argparse.Namespace) -> int:
    from srcgrad.inspect.demo import main as demo

    demo(options.plot)
    return 0


def _serve(options: argparse.Namespace) -> int:
    from srcgrad.inspect.serve import serve

    try:
        serve(options.port, options.limit)
    except OSError as error:
        raise BadTarget(f"cannot listen on port {options.port}: {error.strerror}") from error
    return 0
