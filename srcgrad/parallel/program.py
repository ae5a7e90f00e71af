"""A derivative as it is sent: the text of its program, under an address made of its content.

Enters: on the client a ``Compiled`` program.  Leaves: a ``Program``, plain text and tables, and beside it the values
that the text reads besides its arguments (globals, closure variables), which may be others at the next call.  In a
worker: functions, executed from the text once.  Nothing here needs the compiler.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import srcgrad
from srcgrad.api.derivative import Derivative
from srcgrad.api.fitting import Wanted
from srcgrad.errors import Span
from srcgrad.parallel.errors import SendingError
from srcgrad.parallel.fingerprints import fingerprint, is_of_library
from srcgrad.parallel.references import Reference
from srcgrad.syntax.depth import alone

if TYPE_CHECKING:
    from srcgrad.programs import Compiled
    from srcgrad.syntax.bindings import GlobalBinding


@dataclass(frozen=True)
class View:
    """A module of the user's as the text reads it: the attributes that it names, with their present values."""

    attributes: Mapping[str, Any]

    def value(self) -> SimpleNamespace:
        return SimpleNamespace(**{name: resolved(part) for name, part in self.attributes.items()})


def resolved(value: Any) -> Any:
    """A value as a program reads it in a worker."""
    return value.value() if isinstance(value, Reference | View) else value


@dataclass(frozen=True)
class Program:
    """The text of one derivative for arguments of given kinds, and how its result is brought into their structure."""

    text: str  # of its functions; what stands above them in the emitted text, imports and constants, is ``outside``
    above: int  # how many lines that is
    label: str
    mode: str  # reverse, value, split, forward or slope
    entry: str
    backward: str | None
    function: Span
    lines: tuple[tuple[int, Span], ...]
    wanted: Wanted
    reads_arrays: bool
    changes_saved: bool
    version: str = srcgrad.__version__

    @cached_property
    def address(self) -> str:
        """The content address: equal programs have one, whoever compiled them."""
        return hashlib.sha256(repr(self).encode()).hexdigest()

    @property
    def filename(self) -> str:
        """The name under which tracebacks show the text."""
        return f"<srcgrad {self.label} {self.address[:8]}>"

    def code(self) -> CodeType:
        if self.version != srcgrad.__version__:
            raise SendingError(f"the client has srcgrad {self.version}, a worker {srcgrad.__version__}")
        code: CodeType = compile("\n" * self.above + self.text, self.filename, "exec", dont_inherit=True)
        return code

    def functions(self, code: CodeType, outside: Mapping[str, Any]) -> tuple[FunctionType, FunctionType | None]:
        """The functions of the program, in a namespace of their own that holds the values in ``outside``."""
        namespace: dict[str, Any] = {"__name__": "srcgrad.emitted", "__file__": self.filename}
        namespace.update((name, resolved(value)) for name, value in outside.items())
        exec(code, namespace)
        return namespace[self.entry], None if self.backward is None else namespace[self.backward]


def program_of(gradient: Derivative, compiled: Compiled, mode: str) -> Program:
    """A compiled program as it is sent; ``gradient`` is the derivative to whose arguments its results belong."""
    emission = compiled.emission
    return Program(
        emission.text.split("\n", emission.above)[-1],
        emission.above,
        f"{gradient.__module__}.{gradient.__qualname__}:{mode}",
        mode,
        compiled.entry.__name__,
        None if compiled.backward is None else compiled.backward.__name__,
        compiled.span,
        tuple(emission.line_map.items()),
        gradient.results,
        compiled.reads_arrays,
        compiled.changes_saved,
    )


def outside_of(compiled: Compiled) -> dict[str, Any]:
    """What the text reads besides its arguments, as it is now, for functions in this process."""
    return {name: b.value if b.cell is None else b.cell() for name, b in compiled.emission.bindings}


def sent_outside(compiled: Compiled, by_value: bool) -> dict[str, Any]:
    """The same for workers: what they can import as references, data by value; ``by_value``: what a script defines too.
    """
    tree: ast.Module | None = None
    made: dict[str, Any] = {}
    for name, binding in compiled.emission.bindings:
        if isinstance(binding.value, ModuleType) and not is_of_library(binding.value):
            tree = tree or alone(ast.parse)(compiled.emission.text)
            made[name] = _view(binding.value, name, tree)
        else:
            made[name] = _sent(binding, by_value)
    return made


def _sent(binding: GlobalBinding, by_value: bool) -> Any:
    if binding.cell is not None:
        return binding.cell()
    if binding.module is None or "." in (binding.attribute or "") or by_value and binding.module == "__main__":
        return binding.value
    return _reference(binding.value, binding.module, binding.attribute)


def _reference(value: Any, module: str, attribute: str | None) -> Reference:
    return Reference(module, attribute, "" if is_of_library(value) else fingerprint(value))


def _view(module: ModuleType, name: str, tree: ast.Module) -> View:
    """The attributes of a module that a text reads; of those that are modules of the user's, what it reads of them."""
    paths: set[tuple[str, ...]] = set()
    inner: set[int] = set()
    for node in ast.walk(tree):  # breadth first: an attribute comes before what it is an attribute of
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            path, root = _path(node, inner)
            if isinstance(root, ast.Name) and root.id == name:
                paths.add(path)
                inner.add(id(root))
    if any(isinstance(node, ast.Name) and node.id == name and id(node) not in inner for node in ast.walk(tree)):
        raise SendingError(
            f"the module {module.__name__} is a value in the program, which cannot be sent to workers",
            hint="read its attributes by their names",
        )
    return _snapshot(module, paths)


def _path(node: ast.expr, inner: set[int]) -> tuple[tuple[str, ...], ast.expr]:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        inner.add(id(node))
        names.append(node.attr)
        node = node.value
    return tuple(reversed(names)), node


def _snapshot(module: ModuleType, paths: set[tuple[str, ...]]) -> View:
    attributes: dict[str, Any] = {}
    for first in {path[0] for path in paths}:
        value = getattr(module, first)
        if isinstance(value, ModuleType) and not is_of_library(value):
            attributes[first] = _snapshot(value, {path[1:] for path in paths if path[0] == first and path[1:]})
        elif isinstance(value, ModuleType):
            attributes[first] = Reference(value.__name__, None)
        elif isinstance(value, FunctionType | type):
            attributes[first] = _reference(value, module.__name__, first)
        else:
            attributes[first] = value
    return View(attributes)
