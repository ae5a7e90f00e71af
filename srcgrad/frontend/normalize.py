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

from collections.abc import Sequence

import gast

from srcgrad.frontend import fence
from srcgrad.frontend.desugar import desugar
from srcgrad.frontend.desugar.build import constant
from srcgrad.frontend.desugar.exits import ends
from srcgrad.frontend.normal_form import (
    Callee,
    Function,
    LocalFunction,
    Return,
)
from srcgrad.frontend.scope import (
    Definition,
    Scope,
    Variable,
    body_of,
    closure_of,
    holders,
    identifiers,
)
from srcgrad.frontend.signatures import default_objects, signature_of
from srcgrad.frontend.source import source_of
from srcgrad.frontend.statements import Statements
from srcgrad.frontend.stopping import detached
from srcgrad.syntax.globals import GlobalBinding, reference
from srcgrad.syntax.namer import Namer


def normalize(callee: Callee) -> Function:
    """The normal form of a callee; raises ``LanguageError`` where the program is outside of the language."""
    function = callee.function
    if isinstance(function, LocalFunction):
        parent = closure_of(function).scope
        source = parent.source
        node: Definition = function.node
    else:
        parent = None
        source = source_of(function)
        fence.admit(source)
        node = source.node
    namer = Namer(identifiers(node))
    writer = Normalizer(callee, source, node, parent, namer)
    return writer.function()


class Normalizer(Statements):
    """Writes one function: its parameters, what it captured, its body."""

    def __init__(self, callee: Callee, source: object, node: Definition, parent: Scope | None, namer: Namer) -> None:
        self.callee = callee
        self.node = node
        self.made: set[str] = set()
        body = desugar(detached(body_of(node)), _Fresh(namer, self.made))
        statics = dict(callee.statics)
        depth = max(
            [0 if parent is None else parent.depth]
            + [closure_of(value).depth + 1 for value in statics.values() if isinstance(value, LocalFunction)]
        )
        scope = Scope(source, node, body, parent, {}, depth)  # type: ignore[arg-type]
        super().__init__(scope, namer, {})
        self.temporaries |= self.made
        self.lengths = dict(callee.lengths)
        self.captured: list[str] = []
        cells: dict[Variable, str] = {}
        if isinstance(callee.function, LocalFunction):
            for variable in closure_of(callee.function).variables:
                cells[variable] = self._capture(variable)
        self.cells = cells
        fixed: dict[str, object] = {}
        for name, value in statics.items():
            fixed[name] = self._rehomed(value) if isinstance(value, LocalFunction) else value
        scope.fixed = fixed

    def _capture(self, variable: Variable) -> str:
        """A parameter for a variable that comes from outside, under its own name where the text means it by that."""
        name = variable.name
        if name in self.captured or self.scope.owner(name) is not variable.scope:
            name = self.namer.fresh(name)
        self.namer.reserve(name)
        self.captured.append(name)
        return name

    def _rehomed(self, function: LocalFunction) -> LocalFunction:
        """A function that came as an argument: what it captured came with it, in parameters of this function."""
        closure = closure_of(function)
        homes: dict[Variable, Variable] = {}
        moved: list[Variable] = []
        for variable in holders(closure):
            home = Variable(self.scope, self._capture(variable))
            self.scope.locals.add(home.name)
            moved.append(home)
            homes[variable] = home
        defaults = {
            name: homes[default] if isinstance(default, Variable) else default
            for name, default in closure.defaults.items()
        }
        made = type(closure)(
            closure.scope, closure.key, closure.variables, tuple(moved[: len(closure.actual)]), defaults, closure.depth
        )
        return LocalFunction(function.name, function.node, function.source, function.captured, made)

    def function(self) -> Function:
        signature = signature_of(self.callee.function)
        block = self.block(self._body)
        statics = dict(self.callee.statics)
        parameters = tuple(name for name in signature.parameters if name not in statics)
        name = "function" if isinstance(self.node, gast.Lambda) else self.node.name
        return Function(
            name=name,
            parameters=(*parameters, *self.captured),
            body=block,
            source=self.source,
            span=self.source.span(self.node),
            defaults=self._defaults(parameters),
            variadic=signature.variadic,
            keywords=signature.keywords,
            keyword_only=frozenset(name for name in signature.keyword_only if name not in statics),
            captured=tuple(self.captured),
            temporaries=frozenset(self.temporaries),
            generated=self.source.generated,
        )

    def _defaults(self, parameters: Sequence[str]) -> dict[str, gast.expr]:
        function = self.callee.function
        if isinstance(function, LocalFunction):
            return {}
        made: dict[str, gast.expr] = {}
        for name, default in signature_of(function).defaults.items():
            if name in parameters:
                if isinstance(default, gast.Constant):
                    made[name] = default
                elif isinstance(default, GlobalBinding):
                    made[name] = reference(default)
                else:
                    made[name] = reference(GlobalBinding(f"{name}_default", default_objects(function)[name]))
        return made

    def _body(self) -> None:
        self.run(self.scope.body)
        if not self.left and not ends(self.scope.body):
            self.span = self.source.span(self.scope.body[-1] if self.scope.body else self.node)
            self.out.append(Return(constant(None, self.node), self.span))


class _Fresh:
    """Names handed out before there is a scope to put them in."""

    def __init__(self, namer: Namer, made: set[str]) -> None:
        self.namer = namer
        self.made = made

    def __call__(self, stem: str) -> str:
        name = self.namer.fresh(stem)
        self.made.add(name)
        return name
