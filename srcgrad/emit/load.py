"""From text to live functions, and to files.

Enters: an ``Emission``.  Leaves: its functions, executed in a namespace that holds the objects the text names, with
their source in ``linecache`` for as long as they live (it goes at the first load after that); or a file that another
interpreter imports.
"""

from __future__ import annotations

import linecache
import weakref
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from types import CodeType, FunctionType
from typing import Any, overload

from srcgrad.emit.emission import Emission
from srcgrad.errors import InternalError, NonFiniteError, Span, SrcgradError
from srcgrad.frontend.guards import Guards
from srcgrad.runtime.refusals import Refused
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.marks import SWEEP, Role

MODULE = "srcgrad.emitted"  # __module__ of emitted functions; no such module exists


def load(
    emission: Emission, name: str, *, label: str = "", guards: Guards | None = None, filename: str = "",
    code: CodeType | None = None,
) -> FunctionType:  # fmt: skip
    """Execute an emission and return its function ``name``; ``code`` is what ``code_of`` made of it.

    ``label`` appears in tracebacks as ``<srcgrad pkg.mod.f:adjoint 1f2e3d4c>``, the ``filename`` of the text; one of
    the same functions that was loaded before has one.  Imports are not executed: the very
    objects that the bindings hold are put into the namespace.  Every function made has ``__srcgrad_source__``; the
    namespace, which is their ``__globals__``, has ``__srcgrad_bindings__``, ``__srcgrad_line_map__``, the lines that
    add to memory of several names, and the guards of what the program was compiled from.
    """
    code = code or code_of(emission, label, filename)
    filename = code.co_filename
    namespace: dict[str, Any] = {
        "__name__": MODULE,
        "__file__": filename,
        "__srcgrad_bindings__": dict(emission.bindings),
        "__srcgrad_line_map__": emission.line_map,
        "__srcgrad_roles__": emission.roles,
        "__srcgrad_shared__": emission.shared,
        "__srcgrad_guards__": guards,
    }
    namespace.update((identifier, binding.value) for identifier, binding in emission.bindings)
    _read_again(namespace)  # a binding of emitted text holds what there was when that was compiled
    exec(code, namespace)
    for made in namespace.values():
        if isinstance(made, FunctionType) and made.__globals__ is namespace:
            made.__srcgrad_source__ = emission.text  # type: ignore[attr-defined]
    function = namespace.get(name)
    if not isinstance(function, FunctionType):
        raise InternalError(f"no function {name} in the emitted text", stage="emit", door=emission.text)
    _show(filename, emission, function)
    return function


def code_of(emission: Emission, label: str, filename: str = "") -> CodeType:
    """The code of the functions of an emission, under the name that tracebacks show."""
    if not filename:
        import hashlib

        filename = f"<srcgrad {label} {hashlib.sha256(emission.text.encode()).hexdigest()[:8]}>"
    return _code("\n" * emission.above + emission.text.split("\n", emission.above)[-1], filename)


@lru_cache(maxsize=256)
def _code(functions: str, filename: str) -> CodeType:
    code: CodeType = compile(functions, filename, "exec", dont_inherit=True)
    return code


def _shown(text: str, line_map: Mapping[int, Span]) -> Iterator[str]:
    """The text as tracebacks, warnings and debuggers show it: each statement says from which line of the user's it is.
    """
    is_quoted = False
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        quotes = line.count('"""') % 2 == 1
        span = line_map.get(number)
        is_code = not (is_quoted or '"""' in line or line.lstrip().startswith("#"))
        yield f"{line}  # {span.seen}\n" if is_code and span is not None and span.known else f"{line}\n"
        is_quoted ^= quotes


class _Text(Sequence[str]):
    """The lines of a text as they are shown, made when they are first read.

    It lives until the next load, and would keep what the names of an emission mean.
    """

    def __init__(self, text: str, line_map: Mapping[int, Span]) -> None:
        self._text, self._line_map = text, line_map

    @cached_property
    def _lines(self) -> list[str]:
        return list(_shown(self._text, self._line_map))

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return self._lines[place]

    def __len__(self) -> int:
        return len(self._lines)


class _Entry(tuple[Any, ...]):
    """A ``linecache`` entry that counts the loaded functions whose text it is, and knows the places of its lines."""

    users: int = 0
    line_map: Mapping[int, Span]

    @cached_property
    def mapped(self) -> list[int]:
        """Its lines, in order."""
        return sorted(self.line_map)


_unused: deque[tuple[str, _Entry]] = deque()


def of_users(span: Span | None) -> Span | None:
    """The user's place of a line, where it is one of emitted text: its own, or that of the nearest line above."""
    entry = None if span is None else linecache.cache.get(span.filename)
    if span is None or not isinstance(entry, _Entry) or not entry.line_map:
        return span
    return entry.line_map[entry.mapped[max(bisect_right(entry.mapped, span.line) - 1, 0)]]


def _show(filename: str, emission: Emission, function: FunctionType) -> None:
    """Keep the text in ``linecache`` while ``function`` lives; ``checkcache`` spares an entry whose mtime is None."""
    _forget()
    entry = linecache.cache.get(filename)
    if not isinstance(entry, _Entry):
        entry = _Entry((len(emission.text), None, _Text(emission.text, emission.line_map), filename))
        linecache.cache[filename] = entry
    entry.line_map = emission.line_map
    entry.__dict__.pop("mapped", None)
    entry.users += 1
    weakref.finalize(function, _hide, filename, entry).atexit = False


def _hide(filename: str, entry: _Entry) -> None:
    """Leave an entry that nobody uses to the next load: a function may die while ``linecache`` walks its entries."""
    entry.users -= 1
    if entry.users == 0:
        _unused.append((filename, entry))


def _forget() -> None:
    while _unused:
        filename, entry = _unused.popleft()
        if entry.users == 0 and linecache.cache.get(filename) is entry:
            del linecache.cache[filename]


def refresh(function: FunctionType) -> None:
    """Read the live globals and closure variables of an emitted function again."""
    _read_again(function.__globals__)


def _read_again(namespace: dict[str, Any]) -> None:
    bindings: Mapping[str, GlobalBinding] = namespace["__srcgrad_bindings__"]
    for identifier, binding in bindings.items():
        if binding.cell is not None:
            namespace[identifier] = binding.cell()


#: What stands before the place in a note: in the forward sweep the program computes what the user's line does.
_DOING = {"primal": "while computing", "adjoint": "in the adjoint of", "tangent": "in the tangent of"}


def annotate(exception: BaseException, function: FunctionType) -> None:
    """Add one note to an exception from emitted code: ``in the adjoint of model.py:14: `w = a * b```.

    The line is the innermost one of the user's.  Where a model is written out in place of a call, it is the next one
    behind it in the text: of what the model calls, or the statement with the call.
    """
    if isinstance(exception, NonFiniteError):
        return  # says all of that
    from srcgrad.language.folders import is_installed

    filename = function.__code__.co_filename
    line_map: Mapping[int, Span] = function.__globals__.get("__srcgrad_line_map__", {})
    roles: Mapping[int, Role] = function.__globals__.get("__srcgrad_roles__", {})
    span = own = None
    last = 0
    traceback = exception.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == filename:
            last = traceback.tb_lineno
            span = line_map.get(last, span)
            own = own if span is None or is_installed(span.filename) else span
        traceback = traceback.tb_next
    if own is None and span is not None:
        own = next(
            (line_map[at] for at in sorted(line_map) if at > last and not is_installed(line_map[at].filename)), None
        )
    span = own or span
    if span is None or not span.known:
        return
    if isinstance(exception, SrcgradError | Refused) and exception.span is None:
        exception.place(span)
    note = f"{_DOING[SWEEP[roles.get(last, 'adjoint')]]} {span.place}: `{span.code}`"
    if note not in getattr(exception, "__notes__", []):
        exception.add_note(note)
