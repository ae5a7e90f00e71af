"""Operands and operations of the IR: what one statement computes (``ir.regions`` has the statements).

An operand is a ``Version``, which is bound once, or a ``Literal``.  A variable that another function or an exception
handler can see in the middle of its life is a ``Cell`` instead, which is read and written.  Operations compare by
identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from srcgrad.ir.regions import Function


class _Marker:
    """A value that no program holds."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


UNBOUND = _Marker("UNBOUND")  # what a variable holds before it is assigned, and after ``del``
END = _Marker("END")  # what ``Next`` gives of an iterator that is exhausted


# --- operands --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Version:
    """A name that one statement, parameter or region binds, once; ``variable`` is the user's name for it, if any."""

    name: str
    variable: str | None = None

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class Literal:
    """A constant of the text."""

    value: object

    def __repr__(self) -> str:
        return repr(self.value)


Operand: TypeAlias = Version | Literal


@dataclass(frozen=True, eq=False)
class Cell:
    """A variable that is read and written: captured by an inner function, or bound where an exception may intervene."""

    name: str
    variable: str


# --- operations ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Copy:
    """Another name for a value."""

    source: Operand


@dataclass(frozen=True, eq=False)
class Bound:
    """A value, or ``UnboundLocalError`` where its variable holds none."""

    source: Version
    variable: str


@dataclass(frozen=True, eq=False)
class ReadCell:
    """What a cell holds, or ``UnboundLocalError``; ``NameError`` where the cell belongs to an enclosing function."""

    cell: Cell


@dataclass(frozen=True, eq=False)
class WriteCell:
    cell: Cell
    value: Operand


@dataclass(frozen=True, eq=False)
class FreshCell:
    """A new, empty cell under a name: of a comprehension, each time it runs."""

    cell: Cell


@dataclass(frozen=True, eq=False)
class DeleteCell:
    cell: Cell


@dataclass(frozen=True, eq=False)
class ReadGlobal:
    """A global or builtin by its name, as it is now."""

    name: str


@dataclass(frozen=True, eq=False)
class WriteGlobal:
    name: str
    value: Operand


@dataclass(frozen=True, eq=False)
class DeleteGlobal:
    name: str


@dataclass(frozen=True, eq=False)
class ReadName:
    """A name in the body of a class: of its namespace, else of ``cell``, else a global or builtin."""

    name: str
    cell: Cell | None = None


@dataclass(frozen=True, eq=False)
class WriteName:
    """A name in the namespace of a class."""

    name: str
    value: Operand


@dataclass(frozen=True, eq=False)
class DeleteName:
    name: str


@dataclass(frozen=True, eq=False)
class GetAttribute:
    base: Operand
    name: str


@dataclass(frozen=True, eq=False)
class SetAttribute:
    base: Operand
    name: str
    value: Operand


@dataclass(frozen=True, eq=False)
class DeleteAttribute:
    base: Operand
    name: str


@dataclass(frozen=True, eq=False)
class GetItem:
    base: Operand
    index: Operand


@dataclass(frozen=True, eq=False)
class SetItem:
    base: Operand
    index: Operand
    value: Operand


@dataclass(frozen=True, eq=False)
class DeleteItem:
    base: Operand
    index: Operand


@dataclass(frozen=True, eq=False)
class Operator:
    """``+ - * / // % ** @ << >> & | ^`` of two operands, ``in_place`` or not; ``+ - ~ not`` of one, and its truth,
    ``bool``."""

    symbol: str
    operands: tuple[Operand, ...]
    in_place: bool = False


@dataclass(frozen=True, eq=False)
class Compare:
    """``== != < <= > >= is in``, ``is not`` and ``not in``: what the operator gives, which need not be a bool."""

    symbol: str
    left: Operand
    right: Operand


@dataclass(frozen=True, eq=False)
class Call:
    """``function(*positional, *star, **keywords, **rest)``."""

    function: Operand
    positional: tuple[Operand, ...] = ()
    star: Operand | None = None
    keywords: tuple[tuple[str, Operand], ...] = ()
    rest: Operand | None = None


@dataclass(frozen=True, eq=False)
class Make:
    """A new tuple, list, set or slice of its ``elements``, or a dict of ``keys`` and elements."""

    kind: str
    elements: tuple[Operand, ...] = ()
    keys: tuple[Operand, ...] = ()


@dataclass(frozen=True, eq=False)
class Insert:
    """Put a value into a list or set, or under ``key`` into a dict, that a display or comprehension is making."""

    container: Operand
    value: Operand
    key: Operand | None = None


@dataclass(frozen=True, eq=False)
class Extend:
    """Put what ``*source`` or ``**source`` holds into a list, set or dict that is being made.

    With a ``function`` these are the keywords of its call: a key that is there already raises ``TypeError``.
    """

    container: Operand
    source: Operand
    function: Operand | None = None


@dataclass(frozen=True, eq=False)
class Unpack:
    """The items of an iterable, as many as there are targets; those at ``star`` are a list of the rest."""

    source: Operand
    count: int
    star: int | None = None


@dataclass(frozen=True, eq=False)
class Iterate:
    """``iter(source)``."""

    source: Operand


@dataclass(frozen=True, eq=False)
class Next:
    """The next item of an iterator, or ``END``."""

    iterator: Operand


@dataclass(frozen=True, eq=False)
class Format:
    """A replacement field of an f-string: ``conversion`` is ``str``, ``repr``, ``ascii`` or None."""

    value: Operand
    conversion: str | None = None
    specification: Operand | None = None


@dataclass(frozen=True, eq=False)
class Join:
    """The text of an f-string of its parts, which are all text."""

    parts: tuple[Operand, ...]


@dataclass(frozen=True, eq=False)
class Import:
    """``import module``, or ``from module import names`` with ``level`` dots: the module that the statement finds."""

    module: str
    names: tuple[str, ...] = ()
    level: int = 0
    whole: bool = True  # of ``import a.b``: a; otherwise a.b


@dataclass(frozen=True, eq=False)
class ImportName:
    """``name`` of ``from module import name``: an attribute, or a module inside of a package."""

    module: Operand
    name: str


@dataclass(frozen=True, eq=False)
class MakeFunction:
    """A function object; ``defaults`` are those of the last positional parameters, the others go by name."""

    function: Function
    defaults: tuple[Operand, ...] = ()
    keyword_defaults: tuple[tuple[str, Operand], ...] = ()
    annotations: tuple[tuple[str, Operand], ...] = ()


@dataclass(frozen=True, eq=False)
class MakeClass:
    """A class, from what its body leaves in its namespace; ``made`` where it is made when it is compiled, else why not.
    """

    body: Function
    bases: Operand
    keywords: Operand
    made: type | None = None
    why: str | None = None


@dataclass(frozen=True, eq=False)
class MatchSequence:
    """Whether a subject is a sequence of ``count`` items, or of that many at least."""

    subject: Operand
    count: int
    at_least: bool


@dataclass(frozen=True, eq=False)
class MatchMapping:
    """Whether a subject is a mapping of ``count`` items at least."""

    subject: Operand
    count: int


@dataclass(frozen=True, eq=False)
class MatchKeys:
    """Whether a mapping has these keys, and a tuple of their values, then a dict of the ``rest`` where it is asked."""

    subject: Operand
    keys: tuple[Operand, ...]
    rest: bool


@dataclass(frozen=True, eq=False)
class MatchClass:
    """Whether a subject is an instance of a class and has the attributes that ``count`` positional patterns and
    ``names`` mean, and a tuple of these attributes."""

    subject: Operand
    of: Operand
    count: int
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Super:
    """``super()``, which means the class in ``cell`` and the method's ``first`` argument if it is Python's own; any
    other ``function`` is called."""

    function: Operand
    cell: Cell | None
    first: Operand


@dataclass(frozen=True, eq=False)
class Yield:
    """Suspend a generator; the value is what ``send`` gives."""

    value: Operand


@dataclass(frozen=True, eq=False)
class YieldFrom:
    source: Operand


Operation: TypeAlias = (
    Copy | Bound | ReadCell | WriteCell | FreshCell | DeleteCell | ReadGlobal | WriteGlobal | DeleteGlobal | ReadName
    | WriteName | DeleteName | GetAttribute | SetAttribute | DeleteAttribute | GetItem | SetItem | DeleteItem | Operator
    | Compare | Call | Make | Insert | Extend | Unpack | Iterate | Next | Format | Join | Import | ImportName
    | MakeFunction | MakeClass | MatchSequence | MatchMapping | MatchKeys | MatchClass | Super | Yield | YieldFrom
)  # fmt: skip
