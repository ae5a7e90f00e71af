"""Run a normal form: its text is executed, and its callees' normal forms with it.

``printed``: loops with the headings that the user wrote, calls of user functions as he wrote them.  ``bare``: every
loop counts, every callee is run from its own normal form, with its arguments aligned: what the analyses see.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import gast

from srcgrad.emit.load import load
from srcgrad.emit.printer import emit
from srcgrad.ir.as_python import as_python
from srcgrad.ir.normal_form import (
    Append,
    Apply,
    Bind,
    Block,
    Call,
    Callee,
    Derived,
    Effect,
    For,
    Function,
    Guarded,
    Held,
    If,
    Return,
    Statement,
    Texts,
    Unpack,
    While,
    With,
)
from srcgrad.pipeline import Module
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import GlobalReference, reference
from srcgrad.syntax.parse import clone, walk
from tests.normal_forms import normal_form_of


def printed(function: Function) -> Callable[..., object]:
    return _load(as_python(function), bare=False)


def bare(function: Function, *, aligned: bool = False) -> Callable[..., object]:
    return _load(as_python(replace(function, body=_bare_block(function.body)), aligned=aligned), bare=True)


def _bare_block(block: Block) -> Block:
    return Block(tuple(_bare(statement) for statement in block.statements))


def _bare(statement: Statement) -> Statement:
    match statement:
        case Bind(operation=Call(callee=callee, arguments=arguments)):
            head = reference(GlobalBinding("callee", callee))
            return replace(statement, expression=gast.Call(head, list(arguments), []))
        case For(body=body):
            return replace(statement, body=_bare_block(body), heading=None, elements=0)
        case If(body=body, orelse=orelse):
            return replace(statement, body=_bare_block(body), orelse=_bare_block(orelse))
        case While(body=body) | With(body=body):
            return replace(statement, body=_bare_block(body))
    return statement


def _load(definition: gast.FunctionDef, *, bare: bool) -> Callable[..., object]:
    made = clone(definition)
    namespace: dict[str, object] = {}
    for node in walk(made):
        for name in node._fields:
            child = getattr(node, name, None)
            if isinstance(child, list):
                child[:] = [_named(item, namespace, bare) for item in child]
            elif isinstance(child, GlobalReference):
                setattr(node, name, _named(child, namespace, bare))
    module = ast.Module([gast.gast_to_ast(made)], [])
    exec(compile(ast.fix_missing_locations(module), "<normal form>", "exec"), namespace)
    function = namespace[definition.name]
    assert callable(function)
    return function


def _named(node: object, namespace: dict[str, object], is_bare: bool) -> object:
    if not isinstance(node, GlobalReference):
        return node
    binding = node.binding
    value = binding.value if binding.cell is None else binding.cell()
    if isinstance(value, Callee):
        value = _Lazy(value)
    elif isinstance(value, Held):
        text = value
        value = _emitted(lambda module: module.held(text))
        _TEXTS[text.callee.function].append(value)
    elif isinstance(value, Texts):
        value = _TEXTS[value.function]
    name = f"global_{id(value if binding.cell is None else binding)}"
    namespace[name] = value
    namespace.setdefault("kept", []).append((value, binding))  # type: ignore[attr-defined]
    made = gast.Name(name, gast.Load(), None, None)
    return gast.Starred(made, gast.Load()) if isinstance(binding.value, Texts) else made


_TEXTS: dict[object, list[object]] = defaultdict(list)  # what was made of each local function, whoever asks for it


class _Lazy:
    """A callee that is compiled when it is called first; recursion ends with the program's own."""

    compiled: dict[Callee, Callable[..., object]] = {}

    def __init__(self, callee: Callee) -> None:
        self.callee = callee

    def __call__(self, *arguments: object) -> object:
        if self.callee not in self.compiled:
            if isinstance(self.callee.function, Derived | Guarded):
                made = _emitted(lambda module: module.copied(self.callee))
            else:
                made = bare(check(normal_form_of(self.callee)), aligned=True)
            self.compiled[self.callee] = made
        return self.compiled[self.callee](*arguments)


class _Part(Module):
    """A module for one function, where others make the values of local functions that it asks about."""

    def name_texts(self) -> None:
        for call in [node for node in walk(*self.functions) if isinstance(node, gast.Call)]:
            asked = [a.binding.value for a in call.args if isinstance(a, GlobalReference)]
            texts = [_TEXTS[value.function] for value in asked if isinstance(value, Texts)]
            call.args += [gast.Starred(reference(GlobalBinding("texts", each)), gast.Load()) for each in texts]
        super().name_texts()


def _emitted(named: Callable[[Module], gast.expr]) -> Callable[..., object]:
    """What has no normal form of its own, as the compiler writes it."""
    module = _Part()
    name = named(module)
    module.finish()
    assert isinstance(name, gast.Name)
    return load(emit(module.functions), name.id, label="bare")


# --- what a normal form may contain ----------------------------------------------------------------------------------
STAYS_OUT = (gast.NamedExpr, gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.Await)


def check(function: Function) -> Function:
    """Assert what ``ir.normal_form`` promises, and return the function."""
    bound = set(function.parameters) | {name for name in _bound(function.body)}
    _check_block(function.body, bound)
    last = function.body.statements[-1]
    assert isinstance(last, Return), "control falls off the end"
    return function


def _bound(block: Block) -> list[str]:
    names: list[str] = []
    for statement in block.statements:
        match statement:
            case Bind(target=target):
                names.append(target)
            case Unpack(targets=targets):
                names += targets
            case For(index=index, body=body):
                names += [index, *_bound(body)]
            case If(body=body, orelse=orelse):
                names += [*_bound(body), *_bound(orelse)]
            case While(body=body) | With(body=body):
                names += _bound(body)
            case _:
                targets = getattr(statement, "targets", ())
                names += targets
    return names


def _atom(node: gast.expr, bound: set[str]) -> None:
    assert isinstance(node, gast.Name | gast.Constant), ast.dump(gast.gast_to_ast(node))
    assert not isinstance(node, GlobalReference)
    _nested(node, bound)


def _nested(node: gast.AST, bound: set[str]) -> None:
    for inner in walk(node):
        assert not isinstance(inner, STAYS_OUT), type(inner).__name__
        if isinstance(inner, gast.Name) and not isinstance(inner, GlobalReference):
            assert inner.id in bound, f"{inner.id} is no local"


def _check_block(block: Block, bound: set[str]) -> None:
    for statement in block.statements:
        match statement:
            case Bind(expression=expression, operation=operation):
                _nested(expression, bound)
                match operation:
                    case Apply(rule=rule, arguments=arguments):
                        for parameter, argument in arguments.items():
                            if parameter not in rule.sensitive:
                                _nested(argument, bound)
                            elif isinstance(argument, gast.Tuple):
                                assert parameter == rule.variadic
                                for element in argument.elts:
                                    _atom(element, bound)
                            else:
                                _atom(argument, bound)
                    case Call(arguments=arguments):
                        for argument in arguments:
                            _atom(argument, bound)
            case Append(sequence=sequence, value=value):
                assert sequence in bound
                _nested(value, bound)
            case Effect(statement=inner):
                _nested(inner, bound)
            case If(test=test, body=body, orelse=orelse):
                _nested(test, bound)
                _check_block(body, bound)
                _check_block(orelse, bound)
            case For(iterable=iterable, body=body):
                _nested(iterable, bound)
                _check_block(body, bound)
            case While(test=test, body=body):
                _nested(test, bound)
                _check_block(body, bound)
            case With(body=body):
                _check_block(body, bound)
            case Return(value=value):
                _atom(value, bound)
