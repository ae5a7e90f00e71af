"""The gradient of a program that is being typed: what ``srcgrad serve`` runs in a process of its own.

Enters: the text of a program, a call or nothing, and what to differentiate for.  Leaves: the text of the gradient,
value and gradient of the call, what the program printed, or the fault.  The process is killed and replaced when an
answer takes too long, and replaced when it dies.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import multiprocessing
import os
import sys
import tempfile
import threading
import traceback
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

FILE = "live.py"
#: Of what a program prints, and of values, no more characters are shown.
LONGEST = 20_000


@dataclass
class Answer:
    """What is shown beside a program."""

    source: str = ""
    value: str = ""
    gradient: str = ""
    printed: str = ""
    fault: str = ""


def answer(text: str, call: str = "", argnums: str = "0") -> Answer:
    """Run the program in this process, and differentiate the function that is called, or the last that is defined."""
    import srcgrad
    from srcgrad.api.derivative import Derivative
    from srcgrad.inspect.calls import evaluated, last_function, parsed
    from srcgrad.inspect.target import argnums_of

    found, printed = Answer(), io.StringIO()
    module = sys.modules["live"] = ModuleType("live")
    module.__file__ = FILE
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    try:
        with contextlib.redirect_stdout(printed):
            chosen = argnums_of(argnums or "0")
            exec(compile(text, FILE, "exec", dont_inherit=True), vars(module))
            if call.strip():
                function, args, kwargs = evaluated(parsed(call.strip()), vars(module))
                found.source = Derivative(function, chosen).source_for(*args, **kwargs)
                value, gradient = srcgrad.value_and_grad(function, chosen)(*args, **kwargs)
                found.value, found.gradient = str(value)[:LONGEST], str(gradient)[:LONGEST]
            elif (name := last_function(text)) is not None:
                found.source = Derivative(getattr(module, name), chosen).source
            else:
                found.fault = "The program defines no function yet."
    except srcgrad.SrcgradError as error:
        found.fault = f"{type(error).__name__}: {error}"
    except (Exception, SystemExit) as error:
        found.fault = _without_ours(error)
    found.printed = printed.getvalue()[:LONGEST]
    return found


def _without_ours(error: BaseException) -> str:
    """The exception, with the lines of the program alone."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
    lines = traceback.format_list(frames) + traceback.format_exception_only(error)
    return "".join(lines)[-LONGEST:]


class Worker:
    """The process that answers, one program after the other."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._one_at_a_time = threading.Lock()
        self._start()

    def ask(self, text: str, call: str, argnums: str) -> Answer:
        """The answer, or a fault that says that there is none in time."""
        with self._one_at_a_time:
            try:
                self._connection.send((text, call, argnums))
                if self._connection.poll(self.limit):
                    return Answer(**self._connection.recv())
                fault = f"No answer within {self.limit:g} s: the process was ended."
            except (EOFError, OSError):
                fault = "The process that ran the program died."
            self.stop()
            self._start()
            return Answer(fault=fault)

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self._connection.close()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()


def _serve(connection: Connection[Any, Any]) -> None:
    """What the process does: programs in, answers out, in a folder of its own, without the terminal."""
    import srcgrad.pipeline  # noqa: F401  before the first program comes

    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "r+") as nothing:
        os.chdir(folder)
        sys.stdin = sys.stdout = sys.stderr = nothing
        while True:
            try:
                text, call, argnums = connection.recv()
            except EOFError:
                os.chdir("/")
                return
            connection.send(asdict(answer(text, call, argnums)))
