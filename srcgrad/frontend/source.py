"""The source of a function: its tree with places in the user's file, and what its non-local names mean.

Enters: a function object.  Leaves: a ``Source``; the decorators of its tree are stripped, private names of a class
mangled; it is read once per compile, and nobody changes it.  Requires that the text can be found: in a file, a notebook
cell, any linecache entry, or, for code that srcgrad emitted, on the function itself.

>>> rate = 2.0
>>> square, scaled = lambda x: x * x, lambda x: x * rate
>>> print(source_of(scaled))
lambda x: x * rate
>>> source_of(scaled).resolve("rate").value
2.0
"""

from __future__ import annotations

import builtins
import difflib
import inspect
import linecache
import os
import re
import sys
import textwrap
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType, MethodType, ModuleType
from typing import Any

import gast

from srcgrad.errors import SourceChanged, SourceUnavailable, Span, UnresolvedName
from srcgrad.frontend.journal import note_function, remembered
from srcgrad.frontend.locate import File, Place, locate, parsed
from srcgrad.frontend.managers import as_entered
from srcgrad.frontend.mangling import mangle
from srcgrad.runtime.objects import is_object
from srcgrad.syntax.bindings import GlobalBinding, OfCell, OfNamespace
from srcgrad.syntax.globals import builtin, public_home
from srcgrad.syntax.parse import children, from_ast

_DEFINITION = re.compile(r"(async\s+)?\w+\s+\w+")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, eq=False)
class Source:
    """A function, the tree of its definition, and the file that it stands in.

    ``node`` is a ``gast.FunctionDef``, ``AsyncFunctionDef`` or ``Lambda`` whose places are those of the file.
    ``receiver`` is the object that a bound method passes as its first argument.  ``generated`` marks code that srcgrad
    emitted, which may accumulate into buffers and keep tapes.
    """

    function: FunctionType
    node: Any
    qualname: str
    file: File
    generated: bool
    receiver: object = None
    _bindings: dict[str, GlobalBinding] = field(default_factory=dict, repr=False)

    def is_shared(self, statement: gast.stmt) -> bool:
        """Whether a statement of code that srcgrad emitted adds to memory that other names may see."""
        lines: frozenset[int] = self.function.__globals__.get("__srcgrad_shared__", frozenset())
        return self.generated and statement.lineno in lines

    @property
    def filename(self) -> str:
        return self.file.filename

    @property
    def text(self) -> str:
        """The definition as it stands in the file, without decorators, moved to the left margin."""
        lines = list(self.file.lines[self.node.lineno - 1 : self.node.end_lineno])
        lines[-1] = _characters(lines[-1], self.node.end_col_offset)
        if isinstance(self.node, gast.Lambda):
            lines[0] = lines[0][len(_characters(lines[0], self.node.col_offset)) :]
        return textwrap.dedent("\n".join(lines))

    def __str__(self) -> str:
        return self.text

    def line(self, number: int) -> str:
        """Line ``number`` of the file, from 1; empty where there is none."""
        return self.file.lines[number - 1] if 0 < number <= len(self.file.lines) else ""

    def span(self, node: gast.AST | None = None) -> Span:
        """The place of ``node`` (by default of the definition): of a compound statement, its header."""
        node = self.node if node is None else node
        extent = _extent(node)
        if extent is None:
            return Span.unknown()
        (line, start), (end_line, end) = extent
        if end_line > len(self.file.lines):
            return Span.unknown()
        column, end_column = len(_characters(self.line(line), start)), len(_characters(self.line(end_line), end))
        header = _header(node)
        if header is not None and (found := header.match(self.line(line), column)):
            end_line, end_column = line, found.end()
        text = "\n".join(self.file.lines[line - 1 : end_line])
        return Span(self.filename, self.name, line, column, end_line, end_column, text)

    @property
    def name(self) -> str:
        """The qualified name as messages say it: without the functions around."""
        return self.qualname.rsplit("<locals>.", 1)[-1]

    def resolve(self, name: str, span: Span | None = None) -> GlobalBinding | None:
        """What a name that is not local means: closure variable, global or builtin, in this order.

        Functions, classes, modules and other callables are fixed now; objects of the user's classes, and any other
        value, are read again at each call.  A name that means nothing gives None, or raises ``UnresolvedName`` at
        ``span`` where one is given.
        """
        if name not in self._bindings:
            binding = self._resolve(name, span)
            if binding is None:
                return None
            self._bindings[name] = binding
        return self._bindings[name]

    def _resolve(self, name: str, span: Span | None) -> GlobalBinding | None:
        closure = dict(zip(self.function.__code__.co_freevars, self.function.__closure__ or ()))
        namespace = self.function.__globals__
        if name in closure:
            try:
                value = closure[name].cell_contents
            except ValueError:
                if span is None:
                    return None
                raise UnresolvedName(
                    f"the variable {name!r} of the enclosing function has no value yet",
                    span, code="E0115",
                    hint="differentiate the function after the variable is assigned",
                ) from None
            return _binding(name, value, None, OfCell(closure[name], name))
        emitted = namespace.get("__srcgrad_bindings__", {})
        if name in emitted:
            binding: GlobalBinding = emitted[name]  # of the user's module, which is read again at each call
            return binding
        if name in namespace:
            value = namespace[name]
            # What is captured beside it is written as a value: so is a number or text that a module holds.
            home = None if closure and type(value) in _LITERALS else namespace
            return _binding(name, value, home, OfNamespace(namespace, name))
        if hasattr(builtins, name):
            return builtin(name)
        if span is None:
            return None
        known = [*self.function.__code__.co_varnames, *closure, *namespace, *vars(builtins)]
        close = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {close[0]!r}?" if close else "define or import it before the function is differentiated"
        raise UnresolvedName(f"the name {name!r} is not defined", span, code="E0115", label="no such name", hint=hint)


@remembered
def source_of(function: Callable[..., object]) -> Source:
    """The source of a function, lambda or bound method.

    Raises ``SourceUnavailable`` for what has no Python text: builtins, classes, other callables, code typed after
    ``python -c``.  Warns with ``SourceChanged`` if the file was edited after the function was made.
    """
    receiver = function.__self__ if isinstance(function, MethodType) else None
    plain = function.__func__ if isinstance(function, MethodType) else function
    if not isinstance(plain, FunctionType):
        raise SourceUnavailable(f"{_described(plain)} has no Python source", code="E0215", hint=_remedy(plain))
    code = plain.__code__
    if (definition := getattr(plain, "__srcgrad_definition__", None)) is not None:  # of a class made in a function
        node, file = definition
        note_function(plain, node)
        return Source(plain, node, code.co_qualname, file, False, receiver)
    file = _file_of(plain)
    try:
        place, edited = locate(code, file)
    except LookupError as error:
        if code.co_filename.startswith("<string"):
            raise _never_kept(plain) from None  # since 3.13 ``python -c`` keeps its own text under that name
        raise SourceUnavailable(
            f"the source of {code.co_qualname} cannot be found in {code.co_filename}: {error.args[0]}",
            code="E0215",
            hint="give the functions lines of their own"
            if "told apart" in error.args[0]
            else "import the module again",
        ) from None
    tree, is_ours = _tree(place), is_generated(plain)
    if is_ours:
        as_entered(tree, plain.__globals__)
    source = Source(plain, tree, code.co_qualname, file, is_ours, receiver)
    note_function(plain, source.node, None if edited else file.digest)
    if edited and not source.generated:
        place_text = source.span().place
        warnings.warn(
            f"{place_text}: {source.name} was edited after it was imported; its derivative is that of the new text, "
            "not of the function that runs",
            SourceChanged,
            stacklevel=4,
        )
    return source


def _never_kept(function: FunctionType) -> SourceUnavailable:
    filename = function.__code__.co_filename
    whence, hint = f"it was compiled from {filename}", "put it in a file and import it"
    if filename.startswith("<stdin"):
        whence, hint = "the program was read from standard input", "put it in a file, and run that"
        if hasattr(sys, "ps1"):
            whence = "it was typed at the prompt"
            hint = "put it in a file and import it; IPython, Jupyter and the prompt of Python 3.13 keep what is typed"
        whence += ", and Python keeps no text of that"
    elif filename.startswith("<string"):
        hint += ", or say what the text is before it is executed:\n" + _KEEPING
        if sys.argv[:1] == ["-c"] and function.__globals__ is vars(sys.modules["__main__"]):
            whence, hint = "the program stands on the command line", "put it in a file, and run that"
    return SourceUnavailable(
        f"the source of {function.__qualname__} is not available: {whence}",
        code="E0215",
        hint=f"srcgrad reads the text of a function: {hint}",
    )


_KEEPING = """import linecache
linecache.cache["<made>"] = len(text), None, text.splitlines(True), "<made>"
exec(compile(text, "<made>", "exec"), namespace)"""


def _file_of(function: FunctionType) -> File:
    filename = function.__code__.co_filename
    text = getattr(function, "__srcgrad_source__", None)
    if not isinstance(text, str):
        text = _read(function)
    if not text.strip():
        raise _never_kept(function)
    try:
        return parsed(text, filename)
    except (SyntaxError, ValueError) as error:
        raise SourceUnavailable(
            f"the source of {function.__qualname__} is not available: {filename} is no Python ({error})",
            code="E0215",
            hint="import the module again",
        ) from None
    except (RecursionError, MemoryError):
        raise SourceUnavailable(
            f"{filename} holds an expression that is nested too deep for Python's parser",
            code="E0215",
            hint="split the expression into statements",
        ) from None


def _read(function: FunctionType) -> str:
    filename = function.__code__.co_filename
    if os.path.exists(filename):
        linecache.checkcache(filename)  # entries without a file stay: a notebook's cells live only there
    lines = linecache.getlines(filename, function.__globals__)
    if not lines:
        try:  # 3.13 keeps what is typed at the prompt and after -c where only inspect finds it
            lines = inspect.findsource(function)[0]
        except (OSError, TypeError, IndexError):
            lines = []
    return "".join(lines)


def is_generated(function: FunctionType) -> bool:
    """Whether a function is one that srcgrad wrote."""
    return hasattr(function, "__srcgrad_source__") or function.__code__.co_filename.startswith("<srcgrad ")


def _tree(place: Place) -> Any:
    node = from_ast(place.node)
    if not isinstance(node, gast.Lambda):
        node.decorator_list = []
    mangle(node, place.owner)
    return node


_LITERALS = (bool, int, float, complex, str, bytes, type(None))


# --- what a name means -----------------------------------------------------------------------------------------------
def _binding(
    name: str, value: object, namespace: dict[str, object] | None, reader: Callable[[], object]
) -> GlobalBinding:
    if isinstance(value, ModuleType) or callable(value) and not is_object(value):
        return GlobalBinding(name, value, *_home(value, name, namespace))
    return GlobalBinding(name, value, *_global_home(value, name, namespace), reader)


def _home(value: object, name: str, namespace: dict[str, object] | None) -> tuple[str | None, str | None]:
    """The module and attribute from which a fixed object can be imported: its own, else where the user has it."""
    if isinstance(value, ModuleType):
        return (value.__name__, None) if sys.modules.get(value.__name__) is value else (None, None)
    return public_home(value, name) or _global_home(value, name, namespace)


def _global_home(value: object, name: str, namespace: dict[str, object] | None) -> tuple[str | None, str | None]:
    module = None if namespace is None else namespace.get("__name__")
    if isinstance(module, str) and getattr(sys.modules.get(module), "__dict__", None) is namespace:
        return module, name
    return None, None


# --- places ----------------------------------------------------------------------------------------------------------
def _characters(line: str, offset: int) -> str:
    """The part of a line before a column in utf-8 bytes."""
    return line[:offset] if line.isascii() else line.encode()[:offset].decode(errors="replace")


def _extent(node: gast.AST) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where a node starts and ends; of a compound statement the header, of a node without a place, what is below it."""
    first, last = node, node
    match node:
        case gast.If() | gast.While():
            last = node.test
        case gast.For() | gast.AsyncFor():
            last = node.iter
        case gast.Match():
            last = node.subject
        case gast.With() | gast.AsyncWith():
            last = node.items[-1].optional_vars or node.items[-1].context_expr
        case gast.ExceptHandler():
            last = node.type or node
        case _ if "lineno" not in node._attributes:
            below = [child for child in children(node) if getattr(child, "lineno", None) is not None]
            if not below:
                return None
            first, last = below[0], below[-1]
    line, end_line = getattr(first, "lineno", None), getattr(last, "end_lineno", None)
    if line is None or end_line is None:
        return None
    return (line, first.col_offset), (end_line, last.end_col_offset)


def _header(node: gast.AST) -> re.Pattern[str] | None:
    """What the header of ``node`` looks like, where the tree has no place for its end."""
    match node:
        case gast.FunctionDef() | gast.AsyncFunctionDef() | gast.ClassDef():
            return _DEFINITION
        case gast.Try() | gast.TryStar() | gast.ExceptHandler(type=None):
            return _WORD
        case _:
            return None


# --- what has no source ----------------------------------------------------------------------------------------------
def _described(function: object) -> str:
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if not isinstance(name, str):
        return f"a {type(function).__name__}"
    kind = "the class " if isinstance(function, type) else ""
    return f"{kind}{module}.{name}" if isinstance(module, str) and module != "builtins" else f"{kind}{name}"


def _remedy(function: object) -> str:
    if isinstance(getattr(function, "__wrapped__", None), FunctionType):
        return "differentiate the function that it wraps: __wrapped__"
    if isinstance(function, type):
        return "differentiate a function that makes the object"
    if isinstance(getattr(function, "func", None), FunctionType):
        return "write the partial application as a lambda"
    if callable(function) and not hasattr(function, "__name__"):
        return "differentiate its method: f.__call__"
    return "give it a rule with srcgrad.rule"
