"""From the desugared tree to the normal form: one operation per statement, every name and callee resolved.

Enters: a ``Callee``: a function object, or a local function, with its function-valued arguments fixed.  Leaves: its
``Function``.  Requires that the fence admits the source.  Linear in the size of the function; recursion follows
nesting only::

    def f(x, w, act):                       def f(x, w):                  Callee(f, act=np.tanh)
        for v in x:                             for v in x:
            w += act(v) * w          ->             t = np.tanh(v)
        return w                                    t2 = t * w
                                                    w = w + t2
                                                return w
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from types import FunctionType

import gast

from srcgrad.errors import SrcgradError, UnsupportedSyntax
from srcgrad.frontend import fence
from srcgrad.frontend.blurring import with_unknown
from srcgrad.frontend.bound_methods import MethodRead, Methods, Place, read_here, with_methods
from srcgrad.frontend.desugar import desugar
from srcgrad.frontend.desugar.build import constant
from srcgrad.frontend.desugar.exits import ends
from srcgrad.frontend.desugar.functional import written_out
from srcgrad.frontend.desugar.imports import without_imports
from srcgrad.frontend.desugar.iterators import by_places
from srcgrad.frontend.desugar.unpacking import one_by_one
from srcgrad.frontend.folding import Folding, Initialiser
from srcgrad.frontend.inference import ROUNDS, Table, inferred
from srcgrad.frontend.known import DATA, NUMBER, PLAIN, Data, Items, Known, OneOf, Plain, Result
from srcgrad.frontend.local_classes import without_classes
from srcgrad.frontend.names import Definition, body_of, identifiers
from srcgrad.frontend.namespaces import settled
from srcgrad.frontend.normal_form import Callee, Derived, Function, Guarded, LocalFunction, Return, unguarded
from srcgrad.frontend.replacing import as_it_was, written
from srcgrad.frontend.scope import (
    Fresh,
    Scope,
    Static,
    Variable,
    closure_of,
    local_in,
)
from srcgrad.frontend.signatures import (
    Signature,
    default_expressions,
    definition_of,
    receiver_of,
    refused_as_a_whole,
    signature_of,
    text_of,
)
from srcgrad.frontend.source import Source, meaning_outside
from srcgrad.frontend.spreading import lasting
from srcgrad.frontend.statements import Statements
from srcgrad.frontend.stopping import detached
from srcgrad.frontend.telling import any_objects, bears_out, meets_objects, moves, returns
from srcgrad.frontend.unassigned import refuse_unassigned
from srcgrad.frontend.webs import split
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import parameters_of

#: What a callee is written as; a refusal is kept, as a function that many others call is refused once.
Form = Function | UnsupportedSyntax


def normalize(callee: Callee) -> Function:
    """The normal form of a callee; raises ``LanguageError`` where the program is outside of the language."""
    import traceback

    f = callee.function
    stack = traceback.extract_stack(limit=12)
    where = " < ".join(f"{x.name}" for x in reversed(stack[-9:-1]))
    with open("/tmp/fx/normalize.log", "a") as log:
        import os
        log.write(f"{type(f).__name__} {getattr(f, '__qualname__', '?')} {'makes' if callee.makes else ''} | {where} | {os.environ.get('PYTEST_CURRENT_TEST','')}\n")
    return _normal(callee)


def _normal(callee: Callee) -> Function:
    from srcgrad.pipeline import Module
    return Module().normalized(callee)
    forms = _forms.get()
    if forms is None:
        with remembering({}):
            return normalize(callee)
    if callee not in forms:
        before, key = _unknown.get(), (callee, _underway.get())
        made = _unsettled.get().get(key)
        if made is not None:
            _unknown.set(before + 1)
            return _or_refused(made)
        try:
            made = _normalize(callee)
        except _TooDeep as found:
            if key[1]:
                raise
            raise found.refusal() from None
        except UnsupportedSyntax as refusal:
            made = refusal
        if key[1] and _unknown.get() != before:
            _unsettled.get()[key] = made  # made while others were, about which something was asked
            return _or_refused(made)
        forms[callee] = made
    return _or_refused(forms[callee])


def _or_refused(made: Form) -> Function:
    if isinstance(made, UnsupportedSyntax):
        raise made.with_traceback(None)
    return made


@contextmanager
def remembering(forms: dict[Callee, Form]) -> Iterator[None]:
    """Inside, every callee is written once."""
    token, unsettled, unknown = _forms.set(forms), _unsettled.set({}), _unknown.set(0)
    try:
        yield
    finally:
        _forms.reset(token)
        _unsettled.reset(unsettled)
        _unknown.reset(unknown)


def _normalize(callee: Callee) -> Function:
    if callee.classes and all(known in (DATA, NUMBER, PLAIN) for _, known in callee.classes):
        try:
            made = _with_classes(replace(callee, classes=tuple(each for each in callee.classes if each[1] == NUMBER)))
        except UnsupportedSyntax:
            made = None
        if made is not None and not meets_objects(made):
            return made  # that its arguments are numbers and arrays is asked for only where it matters
    return _with_classes(callee)


def _with_classes(callee: Callee) -> Function:
    source, node, parent = definition_of(callee)
    with as_it_was(node):
        return _of_text(callee, source, node, parent)


def _of_text(callee: Callee, source: Source, node: Definition, parent: Scope | None) -> Function:
    if parent is None:
        fence.admit(source)
        refuse_unassigned(source)
    assumed: Mapping[str, Known] = {}
    table = Table({}, returned, stored)
    methods: dict[Place, Signature | None] = {}
    for _ in range(ROUNDS):
        writer, made = _written(callee, source, node, parent, assumed, table, methods)
        if not writer.relied and not writer.entry and not any_objects(made, writer.table):
            return with_unknown(replace(made, sets=moves(made)), writer.table)
        before, table = table, inferred(made, writer.at_first, returned, stored)
        table.handed = writer.table.handed
        # Tests, and calls, are written by what is known so far: of what is set below them in a loop as well.
        in_time = writer.table.same_changes(table) and before.same_changes(table)
        borne_out = all(bears_out(table.of(name), known) for name, all_of in writer.relied.items() for known in all_of)
        if in_time and borne_out:
            return with_unknown(replace(made, returns=returns(made, table), sets=table.changes()), table)
        assumed = {name: known for name, known in table.names.items() if name not in made.temporaries}
    raise UnsupportedSyntax(
        f"which classes the objects in {made.name} have is not known when this is compiled",
        source.span(node),
        hint="give objects of different classes names of their own",
    )


def _written(
    callee: Callee,
    source: Source,
    node: Definition,
    parent: Scope | None,
    assumed: Mapping[str, Known],
    table: Table,
    methods: dict[Place, Signature | None],
) -> tuple[Normalizer, Function]:
    """A function as it is written with these assumptions; ``methods`` gains the places where methods are read."""
    while True:
        namer = Namer(identifiers(node))
        writer = Normalizer(callee, source, node, parent, namer, assumed, table, methods)
        with written(node, writer.replaced):
            try:
                made = writer.function()
                if writer.table.handed == table.handed:
                    return writer, made
                table.handed = writer.table.handed
            except UnsupportedSyntax as refusal:
                more = refusal.found if isinstance(refusal, MethodRead) else {}
                more = {**dict(read_here(writer.text, writer.peek)), **more}
                if more.keys() <= methods.keys():
                    raise
                methods |= more


_underway: ContextVar[frozenset[Callee]] = ContextVar("srcgrad_underway", default=frozenset())
_forms: ContextVar[dict[Callee, Form] | None] = ContextVar("srcgrad_forms", default=None)
_unsettled: ContextVar[dict[tuple[Callee, frozenset[Callee]], Form]] = ContextVar("srcgrad_unsettled")
_unknown: ContextVar[int] = ContextVar("srcgrad_unknown", default=0)  # results that were not looked into
DEEPEST = 40  # calls in calls that are looked into for the classes of their results
DEEPEST_OF_RECURSIONS = 16  # of them where functions call each other, so that there are many ways down
REPEATED = 1  # of them calls of a function that is being looked into already, with arguments of other classes


def returned(callee: Callee) -> Known:
    """What is known of the result of a call; nothing of one that is being looked into already (recursion)."""
    if isinstance(callee.function, Guarded):
        return Items(tuple, (returned(unguarded(callee)), PLAIN))
    underway = _underway.get()
    if callee.makes is not None and any(other.makes == callee.makes for other in underway):
        _unknown.set(_unknown.get() + 1)  # it is refused for what is underway: elsewhere it may not be
        raise refused_as_a_whole(callee, "a constructor makes an object of its class", "make it before, and pass it in")
    if not _looked_into(callee, underway):
        return PLAIN
    token = _underway.set(underway | {callee})
    try:
        known = normalize(callee).returns
        if isinstance(known, OneOf):
            others = [choice for choice in known.choices if choice != Result(callee)]
            known = OneOf(tuple(others)) if len(others) > 1 else others[0]
        known = Table({}, returned, stored).resolved(PLAIN if known is None else known)  # type: ignore[arg-type]
    except _TooDeep:
        raise
    except SrcgradError:
        if callee.makes is not None:
            raise
        return PLAIN  # whether it matters is seen where the call is differentiated
    finally:
        _underway.reset(token)
    return known


def stored(callee: Callee) -> Iterable[tuple[str, Known]]:
    """Which fields a callee sets, of whatever object, and what it puts there."""
    if isinstance(callee.function, Guarded):
        return stored(unguarded(callee))
    underway = _underway.get()
    if not _looked_into(callee, underway):
        return ()
    token = _underway.set(underway | {callee})
    try:
        return normalize(callee).sets  # type: ignore[return-value]
    except _TooDeep:
        raise
    except SrcgradError:
        return ()
    finally:
        _underway.reset(token)


def _looked_into(callee: Callee, underway: frozenset[Callee]) -> bool:
    """Whether a callee is looked into for what is known of it; noted where it is not."""
    functions = {each.function for each in underway}
    repeated = len(underway) - len(functions) + (callee.function in functions)
    deepest = DEEPEST_OF_RECURSIONS if _unknown.get() else DEEPEST
    if isinstance(callee.function, FunctionType | LocalFunction) and callee not in underway and repeated <= REPEATED:
        if len(underway) < deepest:
            return True
        if any(not isinstance(known, Data | Plain) for _, known in callee.classes):
            raise _TooDeep(callee)
    _unknown.set(_unknown.get() + 1)
    return False


class _TooDeep(Exception):
    """A callee, too deep down to be looked into, may do something to objects."""

    def refusal(self) -> UnsupportedSyntax:
        reason = "what this does to the objects that it is given is not known: calls are nested too deep"
        return refused_as_a_whole(self.args[0], reason, "nest calls that are given objects less deep")


class Normalizer(Statements):
    """Writes one function: its parameters, what it captured, its body."""

    def __init__(
        self,
        callee: Callee,
        source: object,
        node: Definition,
        parent: Scope | None,
        namer: Namer,
        assumed: Mapping[str, Known],
        before: Table,
        methods: Methods,
    ) -> None:
        self.table = Table({}, returned, stored)
        self.table.fields, self.table.puts = dict(before.fields), list(before.puts)
        self.table.handed = set(before.handed)
        self.table.generated = source.generated  # type: ignore[attr-defined]
        self.assumed, self.relied, self.narrowed = assumed, {}, {}
        self.table.assumed = assumed
        self.given: tuple[str, ...] = ()  # the fields that a dataclass has set before __post_init__
        self.callee = callee
        self.node = node
        self.made: set[str] = set()
        fresh = Fresh(namer, self.made)
        body = with_methods(body_of(node), methods, fresh)
        body, statics = settled(source, node, body, dict(callee.statics))  # type: ignore[arg-type]
        body = without_imports(body, parameters_of(node.args))
        body = without_classes(body, source, parameters_of(node.args))  # type: ignore[arg-type]
        meaning = meaning_outside(source)  # type: ignore[arg-type]
        self.webs: dict[str, str] = {}
        if not source.generated:  # type: ignore[attr-defined]
            body, self.webs = split(body, parameters_of(node.args), meaning, namer.fresh)
        self.text = body
        body = one_by_one(written_out(detached(body), meaning, fresh), meaning)
        body = by_places(body, parameters_of(node.args), meaning, fresh)
        if isinstance(callee.makes, Initialiser):
            body = self._folded(callee.makes, body, source, fresh)  # type: ignore[arg-type]
        body = desugar(body, fresh, meaning)
        depth = max(
            [0 if parent is None else parent.depth]
            + [closure_of(local).depth + 1 for value in statics.values() if (local := local_in(value)) is not None]
        )
        scope = Scope(source, node, body, parent, {}, depth, self.webs)  # type: ignore[arg-type]
        super().__init__(scope, namer, {})
        self.temporaries |= self.made
        scope.locals |= set(self.given)
        self.captured: list[str] = []
        cells: dict[Variable, str] = {}
        if isinstance(callee.function, LocalFunction):
            for variable in closure_of(callee.function).variables:
                cells[variable] = self._capture(variable)
        self.cells = cells
        fixed: dict[str, object] = {}
        for name, value in statics.items():
            fixed[name] = self._rehomed_in(value)
        # A parameter that is bound again holds its function as a value.
        scope.fixed = {name: value for name, value in fixed.items() if name not in scope.rebound}
        self.held_at_entry = {name: value for name, value in fixed.items() if name in scope.rebound}
        self.lengths = lasting(dict(callee.lengths), scope)
        known = dict(callee.classes)
        given: dict[str, Known] = {n: known[j] for j, n in enumerate(self._parameters()) if j in known}  # type: ignore[misc]
        self.numbers = frozenset(name for name, each in given.items() if each == NUMBER)
        self.entry = given | dict.fromkeys(self.numbers, DATA) if len(self.numbers) < len(given) else {}
        again = [name for name in self._parameters() if name in scope.rebound and not self.table.generated]
        self.at_first = dict.fromkeys(again, PLAIN) | self.entry  # which is joined with what is bound later
        self.table.names.update(self.at_first)

    def _folded(self, made: Initialiser, body: list[gast.stmt], source: Source, fresh: Fresh) -> list[gast.stmt]:
        """The body of an ``__init__`` as that of a function that returns the object."""

        def refuse(node: gast.AST, reason: str, hint: str) -> UnsupportedSyntax:
            return UnsupportedSyntax(reason, source.span(node), hint=hint)

        this = receiver_of(self.node)
        if this is None:
            raise refuse(self.node, "this __init__ has no name for its object", "write def __init__(self, ...)")
        folding = Folding(made.function, made.kind, this, made.given, refuse, fresh)
        self.given = tuple(folding.parameters.values())
        return folding.body(body)

    def _parameters(self) -> tuple[str, ...]:
        """The parameters of the normal form."""
        signature = signature_of(text_of(self.callee))
        statics = dict(self.callee.statics)
        names = signature.parameters if self.callee.makes is None else (*self.given, *signature.parameters[1:])
        return (*(name for name in names if name not in statics), *self.captured)

    def _capture(self, variable: Variable) -> str:
        """A parameter for a variable that comes from outside, under its own name where the text means it by that."""
        name = variable.name
        if name in self.captured or self.scope.owner(name) is not variable.scope:
            name = self.namer.fresh(name)
        self.namer.reserve(name)
        self.captured.append(name)
        return name

    def _rehomed_in(self, value: object) -> object:
        match value:
            case LocalFunction():
                return self._rehomed(value)
            case Derived():
                return replace(value, function=self._rehomed_in(value.function))
        return value

    def _home(self, variable: Variable) -> Variable:
        """A parameter of this function for a variable that came with a function."""
        home = Variable(self.scope, self._capture(variable))
        self.scope.locals.add(home.name)
        return home

    def _rehomed(self, function: LocalFunction) -> LocalFunction:
        """A function that came as an argument: what it captured came with it, in parameters of this function."""
        closure = closure_of(function)
        actual = tuple(map(self._home, closure.actual))
        defaults: dict[str, Variable | Static | gast.Constant] = {}
        for name, default in closure.defaults.items():  # in the order of ``holders``
            if isinstance(default, Variable):
                default = self._home(default)
            elif isinstance(default, Static):
                default = replace(default, value=self._rehomed_in(default.value))
            defaults[name] = default
        made = replace(closure, actual=actual, defaults=defaults)
        return LocalFunction(function.name, function.node, function.source, function.captured, made)

    def function(self) -> Function:
        signature = signature_of(text_of(self.callee))
        block = self.block(self._body)
        statics = dict(self.callee.statics)
        parameters = self._parameters()
        name = "function" if isinstance(self.node, gast.Lambda) else self.node.name
        return Function(
            name=name,
            parameters=parameters,
            body=block,
            source=self.source,
            span=self.source.span(self.node),
            defaults={} if self.callee.makes is not None else self._defaults(parameters),
            variadic=signature.variadic,
            keywords=signature.keywords,
            keyword_only=frozenset(name for name in signature.keyword_only if name not in statics),
            captured=tuple(self.captured),
            temporaries=frozenset(self.temporaries),
            webs=self.webs,
            generated=self.source.generated,
        )

    def _defaults(self, parameters: Sequence[str]) -> dict[str, gast.expr]:
        function = text_of(self.callee)
        return {} if isinstance(function, LocalFunction) else default_expressions(function, parameters)

    def _body(self) -> None:
        for name, value in self.held_at_entry.items():
            self.bind_function(name, value, self.node)
        self.begin_unset(self.node)
        self.run(self.scope.body)
        if not self.left and not ends(self.scope.body):
            self.span = self.source.span(self.scope.body[-1] if self.scope.body else self.node)
            self.out.append(Return(constant(None, self.node), self.span))
