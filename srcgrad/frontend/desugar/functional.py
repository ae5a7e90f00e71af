"""Functions made of functions, as lambdas; decorators of local functions, as calls.

Enters: the body of a function, and what its names mean outside.  Leaves: the body with ``functools.partial``,
``operator.itemgetter``, ``attrgetter`` and ``methodcaller`` written out, and without ``functools.wraps``, which has no
effect on what is computed::

    g = partial(f, a, k=b)      ->      g = lambda *rest, given=a, k=b: f(given, *rest, k=k)

    @twice                      ->      def g_plain(v): ...
    def g(v): ...                       g = twice(g_plain)
"""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Callable, Sequence

import gast
import numpy as np

from srcgrad.frontend.desugar.build import (
    assign,
    call,
    call_builtin,
    constant,
    load,
    placed,
    subscript,
    tuple_of,
    with_bodies,
)
from srcgrad.frontend.desugar.remembering import keeps_to_itself
from srcgrad.rules.rewriting import rebuilt
from srcgrad.runtime.written import vectorized
from srcgrad.syntax.globals import GlobalBinding, reference
from srcgrad.syntax.parse import walk

Meaning = Callable[[str], object]  # of a name that the function does not bind; None of any other
Maker = Callable[[gast.Call, Callable[[str], str], Meaning], gast.expr | None]


def written_out(body: Sequence[gast.stmt], meaning: Meaning, fresh: Callable[[str], str]) -> list[gast.stmt]:
    """The body with every such call as a lambda."""

    def change(node: gast.AST) -> gast.AST | None:
        match node:
            case gast.Call(func=func):
                maker = _MAKERS.get(_object(func, meaning))
                return None if maker is None else maker(rebuilt_inside(node), fresh, meaning)
            case gast.With(items=[first, *rest]) if rest and concerns(node):  # one inside of the other
                return rebuilt(with_bodies(node, items=[first], body=[with_bodies(node, items=rest)]), change)
            case gast.With(items=[gast.withitem(context_expr=gast.Call() as manager, optional_vars=None)]) if (
                _object(manager.func, meaning) is contextlib.suppress
            ):
                return _suppressing(rebuilt_inside(node), manager)
            case gast.FunctionDef(decorator_list=[_, *_] as decorators):
                kept = [d for d in decorators if not _is_wraps(d, meaning)]
                if len(kept) == 1 and _remembers(kept[0], meaning) and keeps_to_itself(node):
                    kept = [reference(_CACHE)]
                if kept != decorators:
                    return with_bodies(rebuilt_inside(node), decorator_list=kept)
        return None

    def rebuilt_inside(node: gast.AST) -> gast.AST:
        fields = {name: getattr(node, name, None) for name in node._fields}
        for name, value in fields.items():
            if isinstance(value, list):
                fields[name] = [rebuilt(item, change) if isinstance(item, gast.AST) else item for item in value]
            elif isinstance(value, gast.AST):
                fields[name] = rebuilt(value, change)
        return placed(type(node)(**fields), node)

    def concerns(statement: gast.stmt) -> bool:
        return any(
            (isinstance(n, gast.Call) and _object(n.func, meaning) in (*_MAKERS, contextlib.suppress))
            or (isinstance(n, gast.FunctionDef) and any(_has_meaning(d, meaning) for d in n.decorator_list))
            for n in walk(statement)
        )

    return [rebuilt(s, change) if concerns(s) else s for s in body]


def undecorated(node: gast.FunctionDef, fresh: Callable[[str], str]) -> list[gast.stmt]:
    """A decorated definition as a plain one and a call for each decorator."""
    plain, before = fresh(f"{node.name}_plain"), list[gast.stmt]()
    decorators = list(node.decorator_list)
    if any(isinstance(part, gast.Call) for part in walk(*node.args.defaults, *filter(None, node.args.kw_defaults))):
        for place, decorator in enumerate(decorators):  # which are evaluated before the defaults
            if any(isinstance(part, gast.Call) for part in walk(decorator)):
                decorators[place] = load(fresh("decorator"), decorator)
                before.append(assign(decorators[place].id, decorator, decorator))
    made: gast.expr = load(plain, node.decorator_list[-1])  # where it is called: the name is bound after that
    for decorator in reversed(decorators):
        made = call(decorator, [made], decorator)
    return [*before, with_bodies(node, name=plain, decorator_list=[]), assign(node.name, made, node)]


def _object(node: gast.AST, meaning: Meaning) -> object:
    match node:
        case gast.Name(id=name):
            found = meaning(name)
        case gast.Attribute(value=gast.Name(id=name), attr=attr):
            found = getattr(meaning(name), attr, None)
        case _:
            return None
    return found if any(found is each for each in _KNOWN) else None  # an object may say that it equals anything


def _is_wraps(node: gast.AST, meaning: Meaning) -> bool:
    return isinstance(node, gast.Call) and _object(node.func, meaning) is functools.wraps


def _remembers(node: gast.AST, meaning: Meaning) -> bool:
    """Whether a decorator keeps what a function returns, of whatever type the arguments are."""
    if isinstance(node, gast.Call):
        sizes = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "maxsize")]
        plain = len(sizes) == len(node.args) + len(node.keywords) <= 1
        return plain and _object(node.func, meaning) is functools.lru_cache
    return _object(node, meaning) in (functools.cache, functools.lru_cache)


def _has_meaning(node: gast.AST, meaning: Meaning) -> bool:
    return _is_wraps(node, meaning) or _remembers(node, meaning)


def _suppressing(node: gast.With, manager: gast.Call) -> gast.Try:
    """``with suppress(kinds):`` as a handler that does nothing."""
    kinds = tuple_of(manager.args, manager)
    handler = placed(gast.ExceptHandler(kinds, None, [placed(gast.Pass(), node)]), manager)
    return placed(gast.Try(node.body, [handler], [], []), node)


def _is_outside(function: gast.expr, meaning: Meaning) -> bool:
    """Whether a function is named outside of the one that is read, so that it is the same when it is called."""
    while isinstance(function, gast.Attribute):
        function = function.value
    return isinstance(function, gast.Name) and meaning(function.id) is not None


def _partial(node: gast.Call, fresh: Callable[[str], str], meaning: Meaning) -> gast.expr | None:
    starred = any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
    if starred or not node.args:
        return None
    function, *given = node.args
    keywords = [str(keyword.arg) for keyword in node.keywords]

    def own(stem: str) -> str:
        """A name that is none of the keywords."""
        return next(name for name in iter(lambda: fresh(stem), None) if name not in keywords)

    names = [own("given") for _ in given]
    if not _is_outside(function, meaning):
        names.insert(0, own("applied"))
        given.insert(0, function)
        function = load(names[0], node)
    rest = own("rest")
    first = [load(name, node) for name in (names[1:] if len(given) == len(node.args) else names)]
    passed: list[gast.expr] = [*first, placed(gast.Starred(load(rest, node), gast.Load()), node)]
    others = own("others")
    named = [placed(gast.keyword(name, load(name, node)), node) for name in keywords]
    named.append(placed(gast.keyword(None, load(others, node)), node))
    only = [(name, value) for name, value in zip(names, given, strict=True)]
    only += [(str(keyword.arg), keyword.value) for keyword in node.keywords]
    body = placed(gast.Call(function, passed, named), node)
    return _lambda([], rest, only, body, node, others)


def _vectorized(node: gast.Call, fresh: Callable[[str], str], meaning: Meaning) -> gast.expr | None:
    """``np.vectorize(f)``, of results of the first one's dtype or of floats."""
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    floats = set(given) == {"otypes"} and _says_float(given["otypes"], meaning)
    if len(node.args) != 1 or isinstance(node.args[0], gast.Starred) or (node.keywords and not floats):
        return None
    rest, function = fresh("rest"), node.args[0]
    only: list[tuple[str, gast.expr]] = []
    if not _is_outside(function, meaning):
        only = [(fresh("applied"), function)]
        function = load(only[0][0], node)
    if floats:
        function = giving_floats(function, fresh("row"), node)
    head = reference(GlobalBinding("vectorized", vectorized, vectorized.__module__, "vectorized"))
    arrays = placed(gast.Starred(load(rest, node), gast.Load()), node)
    typed = [gast.keyword("typed", constant(True, node))] if floats else []
    return _lambda([], rest, only, placed(gast.Call(head, [function, arrays], typed), node), node)


def _says_float(types: gast.expr, meaning: Meaning) -> bool:
    match types:
        case gast.List(elts=[gast.Name(id=name)]):
            return meaning(name) is float
        case gast.List(elts=[gast.Attribute(value=gast.Name(id=name), attr="float64")]):
            return meaning(name) is np
        case gast.Constant(value=str() as text) | gast.List(elts=[gast.Constant(value=str() as text)]):
            return text == "d"
    return False


def giving_floats(function: gast.expr, row: str, node: gast.AST) -> gast.Lambda:
    """``lambda *row: float(function(*row))``."""
    called = call(function, [placed(gast.Starred(load(row, node), gast.Load()), node)], node)
    return _lambda([], row, [], call_builtin("float", [called], node), node)


def _item_getter(node: gast.Call, fresh: Callable[[str], str], meaning: Meaning) -> gast.expr | None:
    if not node.args or node.keywords or any(isinstance(a, gast.Starred) for a in node.args):
        return None
    owner = fresh("owner")
    names = [fresh("place") for _ in node.args]
    items: list[gast.expr] = [subscript(load(owner, node), load(name, node), node) for name in names]
    constants = [isinstance(a, gast.Constant) for a in node.args]
    items = [
        subscript(load(owner, node), a, node) if is_constant else item
        for a, item, is_constant in zip(node.args, items, constants, strict=True)
    ]
    only = [(n, a) for n, a, is_constant in zip(names, node.args, constants, strict=True) if not is_constant]
    return _lambda([owner], None, only, items[0] if len(items) == 1 else tuple_of(items, node), node)


def _attribute_getter(node: gast.Call, fresh: Callable[[str], str], meaning: Meaning) -> gast.expr | None:
    names = [a.value for a in node.args if isinstance(a, gast.Constant) and isinstance(a.value, str)]
    if not names or len(names) != len(node.args) or node.keywords:
        return None
    owner = fresh("owner")
    items: list[gast.expr] = []
    for name in names:
        item: gast.expr = load(owner, node)
        for part in name.split("."):
            item = placed(gast.Attribute(item, part, gast.Load()), node)
        items.append(item)
    return _lambda([owner], None, [], items[0] if len(items) == 1 else tuple_of(items, node), node)


def _method_caller(node: gast.Call, fresh: Callable[[str], str], meaning: Meaning) -> gast.expr | None:
    match node.args:
        case [gast.Constant(value=str() as name), *arguments] if all(k.arg for k in node.keywords):
            owner = fresh("owner")
            if not all(isinstance(a, gast.Constant) for a in [*arguments, *(k.value for k in node.keywords)]):
                return None
            method = placed(gast.Attribute(load(owner, node), name, gast.Load()), node)
            return _lambda([owner], None, [], placed(gast.Call(method, arguments, list(node.keywords)), node), node)
    return None


def _lambda(
    positional: list[str],
    rest: str | None,
    only: list[tuple[str, gast.expr]],
    body: gast.expr,
    node: gast.AST,
    others: str | None = None,
) -> gast.Lambda:
    def parameter(name: str) -> gast.Name:
        return placed(gast.Name(name, gast.Param(), None, None), node)

    arguments = gast.arguments(
        [parameter(name) for name in positional],
        [],
        None if rest is None else parameter(rest),
        [parameter(name) for name, _ in only],
        [value for _, value in only],
        None if others is None else parameter(others),
        [],
    )
    return placed(gast.Lambda(arguments, body), node)


_OPERATORS = (operator.itemgetter, operator.attrgetter, operator.methodcaller, np.vectorize)
_MAKERS: dict[object, Maker] = {
    functools.partial: _partial,
    operator.itemgetter: _item_getter,
    operator.attrgetter: _attribute_getter,
    operator.methodcaller: _method_caller,
    np.vectorize: _vectorized,
}
_KNOWN = (functools.partial, functools.wraps, functools.cache, functools.lru_cache, contextlib.suppress, *_OPERATORS)
_CACHE = GlobalBinding("cache", functools.cache)
