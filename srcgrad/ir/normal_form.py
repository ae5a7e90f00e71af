"""The normal form: one operation per statement, structured control flow, every callee resolved.

Enters: nothing; this module only declares the door between the front end and the analyses.  Statements compare by
identity, so that side tables can be keyed by them.  Differentiable operands are atoms (a ``Name``, a ``Constant``);
expressions that carry no derivative (tests, indices, axes) stay nested.

``s = s * np.sin(x[i + 1])`` becomes::

    t = x[i + 1]            Bind(Index)
    t2 = np.sin(t)          Bind(Apply np.sin)
    s2 = s * t2             Bind(Apply operator.mul)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Protocol

import gast

from srcgrad.errors import Span, SrcgradError
from srcgrad.rules.table import Rule


# --- what a call site may name ---------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class LocalFunction:
    """A ``def`` or ``lambda`` inside a differentiated function.

    ``captured`` are the enclosing function's locals that it reads (also through other local functions that it calls),
    in order of first appearance.  They are read when it is called, as Python reads its cells.  Two are equal when they
    share their definition and the callables that are fixed in it: then they have one normal form and one derivative.
    """

    name: str
    node: gast.AST
    source: object  # the ``Source`` of the outermost enclosing function
    captured: tuple[str, ...]
    scope: object  # what tells two of one text apart

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LocalFunction) and self.scope == other.scope

    def __hash__(self) -> int:
        return hash(self.scope)


@dataclass(frozen=True)
class Derived:
    """The derivative of a function, taken inside of a differentiated one: a callee with that function's parameters.

    ``mode`` is reverse, value (with the gradient), split (the value and its pullback) or forward, which takes the
    tangents of what is ``wanted`` last.  ``bound`` are parameters that its callers do not pass: the object of a method.
    """

    function: object  # FunctionType | LocalFunction | Derived
    mode: str
    wanted: tuple[str, ...]
    tupled: bool = False  # one gradient comes as a tuple too
    bound: tuple[str, ...] = ()


@dataclass(frozen=True)
class Guarded:
    """An attempt of a function: a callee that returns ``(value, None)``, or ``(None, exception)`` if it is caught.
    ``by``: the function of the runtime that does it; those that store are refused where something was stored first."""
    function: FunctionType | LocalFunction
    caught: tuple[type[BaseException], ...]
    by: str = "attempt"


@dataclass(frozen=True, eq=False)
class Stretch:
    """Some passes of a loop, from one to another, as a function of these two numbers and of what the passes read."""

    name: str


@dataclass(frozen=True, eq=False)
class Checkpointed:
    """A loop of which few states are kept, as a function of how many passes it has (None: until it ends), of how many
    states are kept and passes recorded at once, and of what the passes read: first of the ``states`` of its state, then
    of the ``written`` arrays that they store into and never read.

    It returns the state and copies of these arrays; ``stretch`` returns the state, behind the number of passes of the
    loop if it ``ends`` by itself, and stores into the arrays that it is given."""

    name: str
    stretch: Callee
    states: int
    written: int
    ends: bool


class Kind(Protocol):
    """The facts about a kind of call that the passes query (``specialise.instances``)."""

    @property
    def may_hold_functions(self) -> bool:
        """Whether what is given or returned may be, or hold, a function for which a tuple or a text stands."""

    @property
    def objects(self) -> frozenset[str]:
        """The parameters that are objects or containers, and no numbers or arrays."""


@dataclass(frozen=True)
class Callee:
    """One function for one kind of call: the key under which its derivative is compiled.

    ``makes``: of an ``__init__``, as a function that returns the new object, the class of that.  ``instance``: the kind
    of call; None where nothing is said of its arguments yet.  ``recorded``: of a function that is run again in the
    reverse sweep, as it is recorded there.
    """

    function: FunctionType | LocalFunction | Derived | Guarded | Stretch | Checkpointed
    makes: type | None = None
    instance: Kind | None = None
    recorded: bool = False


def unguarded(callee: Callee) -> Callee:
    """What an attempt attempts."""
    assert isinstance(callee.function, Guarded)
    return replace(callee, function=callee.function.function)


@dataclass(frozen=True)
class Held:
    """What a global reference names where a local function is made a value: the text that the emitted module holds."""

    callee: Callee
    captured: int  # how many parameters, the last ones, are what it captured


@dataclass(frozen=True)
class Texts:
    """Where a value is asked whether it is a local function: all its texts, one for the classes of what it captured."""

    function: object  # LocalFunction, or what is one in our own output


# --- operations ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Copy:
    """``v = w``: another name for the same value, which is a local function made ``of`` one of these, if any."""

    source: str
    of: tuple[object, ...] = ()


@dataclass(frozen=True, eq=False)
class Fixed:
    """An expression without a derivative: literals, comparisons, shapes, declared constants, f-strings."""


@dataclass(frozen=True, eq=False)
class Apply:
    """A ruled function.  ``arguments`` maps the rule's own parameter names to expressions, only those given.

    A variadic parameter (``*operands``) maps to a ``gast.Tuple`` of atoms.
    """

    rule: Rule
    function: object
    arguments: Mapping[str, gast.expr]


@dataclass(frozen=True, eq=False)
class Call:
    """A user function; ``arguments`` are aligned with ``Function.parameters`` of the callee's normal form (atoms)."""

    callee: Callee
    arguments: tuple[gast.expr, ...]


@dataclass(frozen=True, eq=False)
class Index:
    """``base[index]``, read only."""

    base: str
    index: gast.expr


@dataclass(frozen=True, eq=False)
class Pack:
    """A tuple, list or dict display of atoms, or an object made of its fields.

    ``keys`` are constants (of a dict, or the names of an object's fields); ``of`` is the class of an object or tuple.
    """

    kind: str  # "tuple" | "list" | "dict" | "object"
    elements: tuple[gast.expr, ...]
    keys: tuple[gast.expr, ...] = ()
    of: type | None = None


@dataclass(frozen=True, eq=False)
class Field:
    """``base.name``, a field of an object of a user's class; ``shared``: its class has one of this name as well."""

    base: str
    name: str
    shared: bool = False


@dataclass(frozen=True, eq=False)
class Exchange:
    """``base.method(...)``: a built-in container's own method that may change it and may return a part of it.

    ``arguments`` are what it takes, in order: what is put into the container is an atom, a place or key any expression.
    ``held`` are the positions of what is put in.
    """

    base: str
    method: str
    arguments: tuple[gast.expr, ...]
    held: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Create:
    """A new object of a user's class, before its ``__init__``."""

    kind: type


@dataclass(frozen=True, eq=False)
class Unruled:
    """A call that has no derivative rule: as ``Fixed`` while no name it reads is varied, else ``refusal`` is raised.

    ``draws``: of a generator of random numbers, or of a set, whose results are memory of their own.  ``given``: what is
    put into a set, or makes a sparse matrix, which alone may not vary, of use or not."""

    refusal: SrcgradError
    draws: bool = False
    given: tuple[str, ...] | None = None
    changes: str | None = None  # the name of the set that changes


Operation = Copy | Fixed | Apply | Call | Index | Pack | Field | Exchange | Create | Unruled


# --- statements ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Bind:
    """``target = expression``.  ``expression`` is the printable form; ``operation`` says what it means.

    Of ``target += ...``, ``inplace``: others may see the old value, which must be no ``ndarray`` and no list;
    ``renewed``: nothing else sees it, its dtype and shape must stay; ``owned``: so it is in our own output, where they
    do stay."""

    target: str
    expression: gast.expr
    operation: Operation
    span: Span
    inplace: bool = False
    renewed: bool = False
    owned: bool = False


@dataclass(frozen=True, eq=False)
class Unpack:
    """``a, *b, c = source``; ``star`` is the position of the starred target."""

    targets: tuple[str, ...]
    source: str
    span: Span
    star: int | None = None


@dataclass(frozen=True, eq=False)
class Append:
    """``sequence.append(value)``: value is an atom or a ``gast.Tuple`` of atoms (a tape)."""

    sequence: str
    value: gast.expr
    span: Span


@dataclass(frozen=True, eq=False)
class Pop:
    """``a, b = sequence.pop()``; ``tupled`` is False for ``a = sequence.pop()``."""

    targets: tuple[str, ...]
    sequence: str
    span: Span
    tupled: bool = True


@dataclass(frozen=True, eq=False)
class AddAt:
    """``buffer[index] += value`` (generated code only).

    The function owns the buffer, and no other name sees it, unless it is ``shared``: then it is a shadow, or something
    that a user's program stores into."""

    buffer: str
    index: gast.expr
    value: gast.expr
    span: Span
    function: gast.expr | None = None  # the callee where the text is a call ``add_at(buffer, index, value)``
    shared: bool = False


@dataclass(frozen=True, eq=False)
class Store:
    """``base[index] = value``: into an array (elements change), or into a container (an item is replaced)."""

    base: str
    index: gast.expr
    value: gast.expr  # an atom
    span: Span


@dataclass(frozen=True, eq=False)
class AugStore:
    """``base[index] op= value``.  ``part`` and ``result`` are names reserved for what it takes apart into."""

    base: str
    index: gast.expr
    operator: gast.operator
    value: gast.expr  # an atom
    span: Span
    part: str
    result: str


@dataclass(frozen=True, eq=False)
class SetField:
    """``base.name = value``."""

    base: str
    name: str
    value: gast.expr  # an atom
    span: Span


@dataclass(frozen=True, eq=False)
class Delete:
    """``del base[index]``, or ``del base.name`` where ``name`` is given."""

    base: str
    index: gast.expr | None
    span: Span
    name: str | None = None


@dataclass(frozen=True, eq=False)
class Effect:
    """A statement kept for its effect, forward and once: print, assert, raise, a bare call, pass."""

    statement: gast.stmt
    span: Span


@dataclass(frozen=True, eq=False)
class If:
    test: gast.expr
    body: Block
    orelse: Block
    span: Span


@dataclass(frozen=True, eq=False)
class For:
    """``for index in iterable``: ``iterable`` is a ``range(...)`` call when ``counted``.

    Every iteration over arrays, lists, tuples, zip, enumerate, reversed and dict views is counted: a hidden index and,
    at the head of the body, ``Bind``s that read the element (``element=True`` loops print as the user wrote them).
    Otherwise the items carry no derivative and are recorded where the adjoint needs them.
    """

    index: str
    iterable: gast.expr
    body: Block
    span: Span
    counted: bool = True
    heading: tuple[gast.expr, gast.expr] | None = None  # (target, iterable) as the user wrote them
    elements: int = 0  # the first ``elements`` statements of the body are what ``heading`` binds
    indexed: bool = False  # the loop runs over items, which the body reads by their places

    @property
    def reading(self) -> Sequence[Statement]:
        """The statements among which those are that read the items which the loop runs over."""
        return self.body.statements[: self.elements or None] if self.indexed else ()


@dataclass(frozen=True, eq=False)
class While:
    test: gast.expr
    body: Block
    span: Span


@dataclass(frozen=True, eq=False)
class With:
    """A context manager, entered again in the reverse sweep, or ``once``; ``refusal`` is raised if ``given`` vary."""

    items: tuple[gast.AST, ...]
    body: Block
    span: Span
    once: bool = False
    given: tuple[str, ...] = ()
    refusal: SrcgradError | None = None


@dataclass(frozen=True, eq=False)
class Break:
    span: Span


@dataclass(frozen=True, eq=False)
class Continue:
    span: Span


@dataclass(frozen=True, eq=False)
class Return:
    value: gast.expr  # a local Name or a Constant
    span: Span


Statement = (Bind | Unpack | Append | Pop | AddAt | Store | AugStore | SetField | Delete | Effect
             | If | For | While | With | Break | Continue | Return)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Block:
    statements: tuple[Statement, ...]


@dataclass(frozen=True, eq=False)
class Function:
    """The normal form of one callee.  ``str()`` is Python text."""

    name: str
    parameters: tuple[str, ...]
    body: Block
    source: object
    span: Span
    defaults: Mapping[str, gast.expr] = field(default_factory=dict)
    variadic: str | None = None  # the name of *args, an ordinary (tuple) parameter here
    keywords: str | None = None  # the name of **kwargs, an ordinary (dict) parameter here
    keyword_only: frozenset[str] = frozenset()
    captured: tuple[str, ...] = ()  # trailing parameters that carry what local functions captured
    temporaries: frozenset[str] = frozenset()  # names that the compiler made
    generated: bool = False  # our own output, whose accumulations own their buffers

    def __str__(self) -> str:
        from srcgrad.ir.as_python import text_of

        return text_of(self)
