"""Programs that are kept: looked up before one is compiled, and written when one was.

Enters: a request to the compiler.  Leaves: the ``Compiled`` program that it would make, loaded from a file, or
None.  The compiler is not loaded for it.  Whatever is not as it was when the program was kept is compiled again; what
cannot be told in another process (``Unportable``) keeps a program from being written at all.
"""

from __future__ import annotations

import marshal
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from srcgrad.cache import folder as files
from srcgrad.cache.describing import Describing, Unportable
from srcgrad.cache.facts import binding_here, binding_of, facts_of, guards_here
from srcgrad.cache.keys import is_unchanged, key_of
from srcgrad.emit.emission import Emission
from srcgrad.emit.load import code_of, load
from srcgrad.errors import Span
from srcgrad.programs import Compiled, present_options
from srcgrad.rules.edition import edition

_SPAN = tuple(Span.__dataclass_fields__)
#: What an entry holds: with a field more, it would say too little.  ``slow`` and ``returned`` are of programs over a
#: batch, which have no entries.
_HELD: dict[Any, str] = {
    Compiled: "span emission entry backward scalar_result changes_saved guards repeats looks pattern of slow returned "
    "break_even",
    Emission: "text line_map bindings above shared roles",
}
#: What goes wrong where an entry, or what a user's object answers when it is asked, is not as expected.
_FAILURES = (Exception,)


class Question:
    """A request to the compiler, under the key of the cache."""

    def __init__(self, folder: str, key: str, asked: tuple[Any, ...]) -> None:
        self.folder, self.key, self._asked = folder, key, asked

    def met(self) -> Describing:
        """The function and its arguments, described as in the process that kept a program."""
        made = Describing()
        made.of(self._asked, exact=True)
        return made

    def answer(self, again: Callable[[], Compiled]) -> Compiled | None:
        """The program that was kept; ``again`` compiles it, for what is shown of its stages."""
        for path in files.candidates(self.folder, self.key):
            content = files.read(path)
            found = None if content is None else self._loaded(content, again)
            if found is not None:
                files.mark_used(path)
                return found
        return None

    def _loaded(self, content: bytes, again: Callable[[], Compiled]) -> Compiled | None:
        try:
            key, facts, bindings, program = marshal.loads(content)
            met = self.met()
            guards = guards_here(facts, met) if key == self.key else None
            if guards is None:
                return None
            meant = tuple((identifier, binding_here(binding, met)) for identifier, binding in bindings)
            (text, above, shared, code, label, names, span, lines,
             scalar, changes_saved, repeats, looks, pattern) = program  # fmt: skip
            places = _Places(lines)
            emission = Emission(text, _Lines(places), meant, above, frozenset(shared), _Roles(places))
            entry = load(emission, names[0], label=label, guards=guards, code=code)
            backward = None if names[1] is None else entry.__globals__[names[1]]
        except (Unportable, RecursionError):
            return None
        except _FAILURES:
            if present_options().check:
                raise
            return None
        told = scalar, changes_saved, guards, repeats, looks, pattern
        return Compiled(_span(span), emission, entry, backward, *told, of=lambda: again().of())

    def keep(self, compiled: Compiled) -> None:
        """Write a program that was compiled, unless it depends on what another process cannot tell."""
        try:
            content = self.written(compiled)
        except (Unportable, RecursionError):
            return
        except _FAILURES:
            if present_options().check:
                raise
            return
        if edition() == 0 and is_unchanged() and files.write(self.folder, self.key, content):
            _trim_now_and_then(self.folder)

    def written(self, compiled: Compiled) -> bytes:
        """A program as bytes; raises ``Unportable``."""
        if any([*kind.__dataclass_fields__] != held.split() for kind, held in _HELD.items()):
            raise Unportable("a program holds more than an entry does")
        if compiled.slow or compiled.returned is not None:
            raise Unportable("a program over a batch has no entry")
        met, emission = self.met(), compiled.emission
        facts = facts_of(compiled.guards, met)
        bindings = [(identifier, binding_of(binding, met)) for identifier, binding in emission.bindings]
        if not compiled.is_current():
            raise Unportable("what the program was compiled from changed")
        label = compiled.entry.__code__.co_filename.removeprefix("<srcgrad ").rpartition(" ")[0]
        names = compiled.entry.__name__, None if compiled.backward is None else compiled.backward.__name__
        program = (
            emission.text, emission.above, tuple(sorted(emission.shared)), code_of(emission, label), label, names,
            _parts(compiled.span), _packed(emission), compiled.scalar_result, compiled.changes_saved,
            compiled.repeats, compiled.looks, compiled.pattern,
        )  # fmt: skip
        return marshal.dumps((self.key, facts, tuple(bindings), program))


def question(asked: tuple[Any, ...]) -> Question | None:
    """The look-up in the cache; None where it is off, or where the request means something in this process alone.

    Rules of the user's count as such: a program says nothing of which rule it was made with.
    """
    folder = files.chosen()
    if folder is None or edition() != 0:
        return None
    try:
        return Question(folder, key_of(asked, Describing()), asked)
    except (Unportable, OSError, RecursionError):
        return None


_writes = 0
_counting = threading.Lock()


def _trim_now_and_then(folder: str) -> None:
    """Look at the size of the folder at the first write of a process, and at some later ones."""
    global _writes
    with _counting:
        _writes += 1
        is_due = _writes % 64 == 1
    if is_due:
        files.trim(folder)


# --- places ----------------------------------------------------------------------------------------------------------
def _parts(span: Span) -> tuple[Any, ...]:
    held = (getattr(span, name) for name in _SPAN)
    return tuple(_parts(one) if isinstance(one, Span) else one for one in held)


def _span(parts: tuple[Any, ...]) -> Span:
    made = Span(*parts)
    return made if made.caller is None else replace(made, caller=_span(parts[-1]))


def _packed(emission: Emission) -> bytes:
    spans: dict[Span, int] = {}
    lines = [(line, spans.setdefault(span, len(spans))) for line, span in emission.line_map.items()]
    return marshal.dumps(([_parts(span) for span in spans], lines, list(emission.roles.items())))


class _Places:
    """The places and roles of the lines of a text, read when they are asked for."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed

    @cached_property
    def both(self) -> tuple[dict[int, Span], dict[int, Any]]:
        spans, lines, roles = marshal.loads(self._packed)
        made = [_span(parts) for parts in spans]
        return {line: made[number] for line, number in lines}, dict(roles)


class _OfLines(Mapping[int, Any]):
    """A mapping by lines that is made when it is first read."""

    def __init__(self, places: _Places) -> None:
        self._places = places

    def _read(self) -> Mapping[int, Any]:
        raise NotImplementedError

    def __getitem__(self, line: int) -> Any:
        return self._read()[line]

    def __iter__(self) -> Iterator[int]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


class _Lines(_OfLines):
    def _read(self) -> Mapping[int, Any]:
        return self._places.both[0]


class _Roles(_OfLines):
    def _read(self) -> Mapping[int, Any]:
        return self._places.both[1]
