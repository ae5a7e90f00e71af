"""Functions, lambdas, generator expressions and classes, each restored with variables of its own.

>>> import gast
>>> from srcgrad.frontend.lowering import lowered
>>> from srcgrad.ir.restoring import restored
>>> def counter(start=0):
...     def count(step=start):
...         nonlocal start
...         start += step
...         return sum(s for s in range(start))
...     return count
>>> print(gast.unparse(restored(lowered(counter))).strip())
def counter(start):
<BLANKLINE>
    def count(step=start):
        nonlocal start
        start += step
        return sum((s for s in range(start)))
    return count
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Operand, Version
from srcgrad.ir.regions import Assign, Function, Loop, Return, Statement, walk
from srcgrad.ir.restoring.names import Naming, named, versions_of
from srcgrad.ir.restoring.operations import keywords_of, place_of
from srcgrad.ir.restoring.pending import Layout, Pad, Part, Plan, emit, plain, push, take, uses_of, waiting
from srcgrad.ir.restoring.targets import stored
from srcgrad.ir.restoring.tree import assigned, body_of, name, of_version
from srcgrad.ir.restoring.writing import written, written_generator
from srcgrad.syntax.parse import children
from srcgrad.syntax.parse import walk as nodes_of


def planned(
    function: Function, refused: set[Statement], outer: frozenset[str], layout: Layout | None = None
) -> Plan:
    has_match = any(isinstance(s.node, gast.Match) for _, s in walk(function.body))
    made = Plan(function, uses_of(function), refused, names_of(function), outer=outer, has_match=has_match)
    made.layout = layout or Layout()
    return made


def restored_body(function: Function, outer: frozenset[str], layout: Layout | None = None) -> list[Any]:
    """The statements of a function, with names.  What cannot be named is refused, and written in another form."""
    from srcgrad.ir.restoring.statements import Around, block

    refused: set[Statement] = set() if layout is None else set(layout.refused)
    while True:
        plan = planned(function, refused, outer, layout)
        before = len(refused)
        body = block(plan, function.body, Around(), _parameters_kept(function))
        naming = Naming(plan)
        if len(refused) == before and named(naming, body):
            break
        assert len(refused) > before, function.name
    made = written(naming, body)
    if isinstance(function.body.exit, Return) and _is_implicit(function) and _is_none(made[-1] if made else None):
        made = made[:-1]
    return [*_declared(function, plan), *_local(function, naming, made), *made]


def _local(function: Function, naming: Naming, body: list[Any]) -> list[Any]:
    """What makes variables local that no statement binds any more: what bound them is never reached, and left out."""
    if isinstance(function.node, gast.ClassDef):
        return []
    bound = {version.variable or version.name for version in function.parameters} | _bound(body)
    read = {
        node.id for node in nodes_of(*body) if isinstance(node, gast.Name)
        and isinstance(node.ctx, gast.Load | gast.Del)
    } & {naming.name(version) for version in versions_of(naming)}  # fmt: skip
    missing = sorted((read | {cell.variable for cell in function.cells}) - bound)
    binds = [assigned([name(text, gast.Store)], gast.Constant(None, None)) for text in missing]
    return [gast.If(gast.Constant(False, None), binds, [])] if binds else []


def _bound(body: list[Any]) -> set[str]:
    """The names that the statements of a function bind, not those of the scopes inside."""
    found: set[str] = set()
    pending: list[Any] = list(body)
    while pending:
        node = pending.pop()
        match node:
            case gast.FunctionDef(name=text) | gast.ClassDef(name=text):
                found.add(text)
                pending += [*node.decorator_list, *(node.args.defaults if isinstance(node, gast.FunctionDef) else [])]
                continue
            case gast.Lambda():
                pending += [default for default in [*node.args.defaults, *node.args.kw_defaults] if default is not None]
                continue
            case gast.comprehension():
                pending += [node.iter, *node.ifs]
                continue
            case gast.Name(id=text, ctx=gast.Store() | gast.Del()):
                found.add(text)
            case gast.alias():
                found.add((node.asname or node.name).split(".")[0])
            case gast.Nonlocal(names=names) | gast.Global(names=names):
                found.update(names)
            case gast.MatchAs(name=str() as text) | gast.MatchStar(name=str() as text):
                found.add(text)
            case gast.MatchMapping(rest=str() as text):
                found.add(text)
        pending += children(node)
    return found


def names_of(function: Function) -> set[str]:
    """The names that a function, and those inside of it, use but for versions."""
    found = {cell.variable for cell in (*function.cells, *function.free)}
    for _, statement in walk(function.body):
        if isinstance(statement, Assign):
            match statement.operation:
                case ir.ReadGlobal(name=text) | ir.WriteGlobal(name=text) | ir.DeleteGlobal(name=text):
                    found.add(text)
                case ir.ReadName(name=text) | ir.WriteName(name=text) | ir.DeleteName(name=text):
                    found.add(text)
                case ir.FreshCell(cell=cell):
                    found.add(cell.variable)
                case ir.MakeFunction(function=inner) | ir.MakeClass(body=inner):
                    found |= names_of(inner)
    return found


def _parameters_kept(function: Function) -> int:
    """How many statements put parameters into the cells that they are."""
    kept = 0
    parameters = set(function.parameters)
    for statement in function.body.statements:
        match statement:
            case Assign(operation=ir.WriteCell(cell=cell, value=Version() as value)) if (
                value in parameters and value.variable == cell.variable and statement.node is function.node
            ):
                kept += 1
            case _:
                break
    return kept


def _is_implicit(function: Function) -> bool:
    """Whether the user let the function end without ``return``."""
    body = getattr(function.node, "body", None)
    return not (isinstance(body, list) and body and isinstance(body[-1], gast.Return))


def _is_none(statement: Any) -> bool:
    return isinstance(statement, gast.Return) and isinstance(statement.value, gast.Constant) and (
        statement.value.value is None
    )


def _declared(function: Function, plan: Plan) -> list[Any]:
    """``nonlocal`` and ``global``, as the user grouped them."""
    free = {cell.variable for cell in function.free}
    own = {v.variable for v in function.parameters} | {cell.variable for cell in function.cells}
    captured: set[str] = set()
    globals_: set[str] = set()
    needed_globals: set[str] = set()
    for made in _operations(function):
        match made:
            case ir.WriteCell(cell=cell) | ir.DeleteCell(cell=cell) if cell in function.free:
                captured.add(cell.variable)
            case ir.ReadGlobal(name=text):
                globals_.add(text)
                needed_globals |= {text} & (plan.outer - own)
            case ir.WriteGlobal(name=text) | ir.DeleteGlobal(name=text):
                globals_.add(text)
                needed_globals.add(text)
    needed = {gast.Nonlocal: captured, gast.Global: needed_globals}
    found: list[Any] = []
    for part in gast.walk(gast.Module(_own_statements(function.node), [])):
        if isinstance(part, gast.Nonlocal | gast.Global):
            is_outer = isinstance(part, gast.Nonlocal)
            names = [text for text in part.names if (text in free if is_outer else text not in free | own)]
            if names:
                found.append(type(part)(names))
                needed[type(part)] -= set(names)
    return [*found, *(kind(sorted(names)) for kind, names in needed.items() if names)]


def _operations(function: Function) -> list[ir.Operation]:
    """The operations of a function, those of generator expressions included: what these bind is of the function."""
    found: list[ir.Operation] = []
    for _, statement in walk(function.body):
        if isinstance(statement, Assign):
            found.append(statement.operation)
            match statement.operation:
                case ir.MakeFunction(function=inner) if isinstance(inner.node, gast.GeneratorExp):
                    found += _operations(inner)
    return found


#: Statements in which no others stand that are of the same definition.
_WITHOUT_STATEMENTS = (gast.Assign, gast.AugAssign, gast.Expr, gast.Return, gast.FunctionDef, gast.ClassDef)


def _own_statements(node: gast.AST) -> list[gast.AST]:
    """The statements of a definition, without those of definitions inside."""
    pending: list[Any] = node.body[::-1] if isinstance(node, gast.FunctionDef | gast.ClassDef) else []
    found = []
    while pending:
        part = pending.pop()
        if isinstance(part, gast.Nonlocal | gast.Global):
            found.append(part)
        elif not isinstance(part, _WITHOUT_STATEMENTS):
            pending += [c for c in children(part) if not isinstance(c, gast.expr)][::-1]
    return found


# --- definitions -----------------------------------------------------------------------------------------------------
def definition(function: Function) -> Any:
    """The definition of a function: a lambda where it is one and fits one.  Its object has the defaults."""
    body = restored_body(function, local_names(function))
    arguments = _arguments(function, [], {}, {})
    if isinstance(function.node, gast.Lambda) and len(body) == 1 and isinstance(body[0], gast.Return):
        return gast.Lambda(arguments, body[0].value)
    text = function.name if function.name.isidentifier() else "function"
    return gast.FunctionDef(text, arguments, body_of(_documented(function, body)), [], None, None, [])


def local_names(function: Function) -> frozenset[str]:
    """The variables that inner functions see."""
    return frozenset(cell.variable for cell in (*function.cells, *function.free))


def _documented(function: Function, body: list[Any]) -> list[Any]:
    if function.documentation is None:
        return body
    return [gast.Expr(gast.Constant(function.documentation, None)), *body]


def _arguments(
    function: Function, defaults: list[Any], by_name: dict[str, Any], annotations: dict[str, Any]
) -> Any:
    given = function.parameters

    def parameter(version: Version) -> Any:
        return gast.Name(version.variable or version.name, gast.Param(), annotations.get(version.name), None)

    return gast.arguments(
        [parameter(v) for v in given.positional],
        [parameter(v) for v in given.positional_only],
        None if given.variadic is None else parameter(given.variadic),
        [parameter(v) for v in given.keyword_only],
        [by_name.get(v.name) for v in given.keyword_only],
        None if given.rest is None else parameter(given.rest),
        defaults,
    )


def _decorated(statements: Sequence[Statement], at: int, held: Version) -> tuple[list[Operand], int, Version]:
    """What a function or class is handed through before it is bound; where that ends, and with what."""
    decorators: list[Operand] = []
    node = statements[at].node
    place = at + 1
    while place < len(statements):
        match statements[place]:
            case Assign(targets=(result,), operation=ir.Call(function=of, positional=(given,), star=None, keywords=(),
                        rest=None)) as here if given is held and here.node is node:  # fmt: skip
                decorators.insert(0, of)
                held, place = result, place + 1
            case _:
                break
    return decorators, place, held


def function(pad: Pad, statements: Sequence[Statement], at: int) -> int:
    """``def`` or ``lambda``; where it ends."""
    here = statements[at]
    assert isinstance(here, Assign) and isinstance(here.operation, ir.MakeFunction)
    made, inner = here.operation, here.operation.function
    values = [*made.defaults, *(v for _, v in made.keyword_defaults), *(v for _, v in made.annotations)]
    outer = pad.plan.outer | local_names(inner)
    body = restored_body(inner, outer)
    if isinstance(inner.node, gast.Lambda) and len(body) == 1 and isinstance(body[0], gast.Return):
        arguments = _given(inner, made, [plain(pad.plan, part.value) for part in take(pad, values)])
        push(pad, here.targets[0], Part(gast.Lambda(arguments, body[0].value), node=here.node))
        return at + 1
    decorators, behind, held = _decorated(statements, at, here.targets[0])
    bind = _binding(pad, statements, behind, held)
    if bind is None or pad.plan.uses[here.targets[0]] != 1:
        decorators, behind, bind = [], at + 1, None
    parts = [plain(pad.plan, part.value) for part in take(pad, [*decorators, *values])]
    arguments = _given(inner, made, parts[len(decorators) :])
    target = of_version(here.targets[0], gast.Store) if bind is None else bind
    returns = dict(zip([key for key, _ in made.annotations], parts[len(parts) - len(made.annotations) :], strict=True))
    suite = body_of(_documented(inner, body))
    node = gast.FunctionDef("", arguments, suite, parts[: len(decorators)], returns.get("return"), None, [])
    _called(pad, node, target, inner.name)
    return behind + (bind is not None)


def _given(inner: Function, made: ir.MakeFunction, parts: list[Any]) -> Any:
    count, named_count = len(made.defaults), len(made.keyword_defaults)
    by_name = dict(zip([key for key, _ in made.keyword_defaults], parts[count : count + named_count], strict=True))
    kinds = dict(zip([key for key, _ in made.annotations], parts[count + named_count :], strict=True))
    return _arguments(inner, parts[:count], by_name, kinds)


def _binding(pad: Pad, statements: Sequence[Statement], at: int, held: Version) -> Any:
    """The name that a definition is bound to."""
    bind = statements[at] if at < len(statements) else None
    if isinstance(bind, Assign) and stored(bind) is held and pad.plan.uses[held] == 1:
        place = place_of(bind.operation, bind.targets)
        if place is not None:
            return place
    return None


def _called(pad: Pad, node: Any, target: Any, wanted: str) -> None:
    """Write a definition, whose name is that of its target once it is known."""
    node.target, node.wanted = target, wanted
    if hasattr(target, "version") and wanted.isidentifier():
        pad.plan.called[target.version] = wanted
    emit(pad, node)


def generator_expression(pad: Pad, statements: Sequence[Statement], at: int) -> bool:
    """A generator expression, from its function and the call of it."""
    from srcgrad.ir.restoring.choices import generator

    here, behind = statements[at], statements[at + 1] if at + 1 < len(statements) else None
    assert isinstance(here, Assign) and isinstance(here.operation, ir.MakeFunction)
    inner, made = here.operation.function, here.targets[0]
    match behind:
        case Assign(operation=ir.Call(function=of, positional=(first,), star=None, keywords=(), rest=None)) if (
            of is made
        ):
            pass
        case _:
            return False
    entry = waiting(pad, first)
    loops = [s for s in inner.body.statements if isinstance(s, Loop)]
    if entry is None or entry is not pad.pending[-1] or entry.uses != 1 or entry.part.source is None:
        return False
    if pad.plan.uses[made] != 1 or len(loops) != 1 or len(inner.body.statements) != 1:
        return False
    refused: set[Statement] = set()
    plan = planned(inner, refused, pad.plan.outer | local_names(inner))
    node = generator(plan, loops[0], entry.part.source)
    naming = Naming(plan)
    if node is None or refused or not named(naming, node.body_shape):
        return False
    written_generator(naming, node)
    pad.pending.pop()
    node.shape = [gast.Expr(entry.part.source)]
    push(pad, behind.targets[0], Part(node, node=here.node))
    return True


def class_(pad: Pad, statements: Sequence[Statement], at: int) -> int:
    """A class; where it ends."""
    here = statements[at]
    assert isinstance(here, Assign) and isinstance(here.operation, ir.MakeClass)
    made, inner = here.operation, here.operation.body
    body = _class_body(inner, pad.plan.outer)
    decorators, behind, held = _decorated(statements, at, here.targets[0])
    bind = _binding(pad, statements, behind, held)
    if bind is None or pad.plan.uses[here.targets[0]] != 1:
        decorators, behind, bind = [], at + 1, None
    parts = take(pad, [*decorators, made.bases, made.keywords])
    bases, keywords = parts[-2:]
    spread = [gast.Starred(plain(pad.plan, bases.value), gast.Load())]
    node = gast.ClassDef(
        "",
        bases.value.elts if isinstance(bases.value, gast.Tuple) else spread,
        keywords_of(keywords, here.node),
        body_of(body),
        [plain(pad.plan, part.value) for part in parts[:-2]],
        [],
    )
    target = of_version(here.targets[0], gast.Store) if bind is None else bind
    _called(pad, node, target, inner.name)
    return behind + (bind is not None)


def annotated(pad: Pad, statements: Sequence[Statement], at: int) -> int | None:
    """An annotation in the body of a class, from where ``__annotations__`` is read; where it ends."""
    from srcgrad.ir.restoring.statements import run

    here = statements[at]
    assert isinstance(here, Assign)
    behind = at + 1
    while behind < len(statements):
        last = statements[behind]
        if isinstance(last, Assign) and isinstance(last.operation, ir.SetItem):
            break
        behind += 1
    match statements[behind] if behind < len(statements) else None:
        case Assign(operation=ir.SetItem(base=base, index=ir.Literal(value=str() as text), value=kind)) if (
            base is here.targets[0] and pad.plan.uses[base] == 1
        ):
            inner = Pad(pad.plan)
            run(inner, statements[at + 1 : behind], None)
            (given,) = take(inner, [kind])
            if not inner.is_clear:
                return None
            value = None
            before = statements[at - 1] if at else None
            match pad.out[-1] if pad.out and not pad.pending else None:
                case gast.Assign(targets=[gast.Name(id=bound)], value=stored_value) if (
                    before is not None and before.node is here.node and bound == text
                ):
                    value = stored_value
                    pad.out.pop()
            emit(pad, gast.AnnAssign(name(text, gast.Store), plain(pad.plan, given.value), value, 1))
            return behind + 1
    return None


def _class_body(inner: Function, outer: frozenset[str]) -> list[Any]:
    """The body of a class: what its preparation does anyway is left out, and annotations are written as such."""
    made = restored_body(inner, outer)
    is_annotated = any(isinstance(node, gast.AnnAssign) for part in made for node in gast.walk(part))
    found: list[Any] = []
    for statement in made:
        match statement:
            case gast.Assign(targets=[gast.Name(id="__annotations__")], value=gast.Dict(keys=[])) if is_annotated:
                continue
            case gast.Assign(targets=[gast.Name(id="__doc__")], value=gast.Constant(value=str())) if not found:
                statement = gast.Expr(statement.value)
        found.append(statement)
    return found

