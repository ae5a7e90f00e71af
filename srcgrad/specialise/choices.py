"""Calls of one of several functions: a branch on which one it is.

Enters: a call of the IR, what its function may be.  Leaves: statements with one call in each branch::

    f = np.sin if n > 2 else sq         if f is np.sin:         functions from outside: by identity
    y = f(x)                                y = np.sin(x)
                                        else:                   functions that the program makes: by their texts,
                                            y = sq(x)           methods: by the names in their pairs
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import BuiltinFunctionType, MethodType, ModuleType, NoneType
from typing import TYPE_CHECKING, Any

from srcgrad.frontend.classes import found, is_generated_init, is_user_class
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import At, Exact, Value, exact, of
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Fall, Function, If, Statement
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.language.operators import method_of
from srcgrad.specialise.captures import captures_of, is_tuple
from srcgrad.specialise.functions import at_site, function_at, is_made, text_of
from srcgrad.specialise.missing import raising
from srcgrad.specialise.receivers import by_label, come_from_outside, is_method
from srcgrad.syntax.globals import importable, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


def chosen(
    made: Reduced, statement: Assign, call: ir.Call, value: Value, reduce: Callable[[Block], Block]
) -> list[Statement] | None:
    """The statements in place of a call; None where it is not known which function it is."""
    if any(isinstance(atom, Exact) and isinstance(atom.value, MethodType) for atom in value.atoms):
        made.refuse(
            "E0416", statement.node, "one of several methods of a library's objects"
        )  # looking up makes another
    (target,) = statement.targets
    summaries = made.called.get(statement, [])
    choices = _choices(made, statement, call, value)
    if choices is None or len(choices) < 2:
        return None
    tuples = Value(frozenset(
        a for a in value.atoms if is_method(a) or is_made(a) and is_tuple(made.facts, function_at(a))
    ))  # fmt: skip
    block: Block | None = None
    for place, (function, asked, atoms) in reversed(list(enumerate(choices))):
        result = made.version("t", _given(made.value(target), atoms))
        if function is None:
            side = raising(made, statement.node, TypeError, "'NoneType' object is not callable")
        else:
            inner = Assign((result,), ir.Call(function, call.positional, None, call.keywords), statement.node)
            made.called[inner] = [each for each in summaries if any(_is_of(each, atom) for atom in atoms)]
            copied = [Assign((function,), ir.Copy(call.function), statement.node)] if _is_read(made, function) else []
            side = Block((*copied, inner), Fall((result,)))
        if block is None:
            block = side
            continue
        tested, before = _test(made, call.function, asked, tuples, statement)
        joined = made.version("t", made.value(target)) if place else target
        block = Block((*before, If((joined,), tested, side, block, statement.node)), Fall((joined,)))
    assert block is not None
    return list(reduce(Block(block.statements, Fall())).statements)


#: A function, or None where it is None, how it is distinguished from others, and what it may be.
_Choice = tuple[Any, ir.Compare, list[Any]]


def _choices(made: Reduced, statement: Assign, call: ir.Call, value: Value) -> list[_Choice] | None:
    """The functions that a value may be: those for which tuples stand last, which are told by what comes first in
    them."""
    methods = {atom for atom in value.atoms if is_method(atom)}
    if come_from_outside(made, Value(frozenset(methods))):
        return None
    others: list[_Choice] = []
    tuples: list[_Choice] = []

    def add_tuple(held: Version, name: str, atoms: list[Any]) -> None:
        label = made.version("t", exact(name))
        tuples.append((held, ir.Compare("==", label, Literal(name)), atoms))

    texts: dict[Function, list[Any]] = {}
    for atom in sorted(value.atoms - methods - {Exact(None)}, key=_place):
        if is_made(atom):
            texts.setdefault(function_at(atom), []).append(atom)
        elif isinstance(atom, Exact) and callable(atom.value):
            name = getattr(atom.value, "__name__", "function")
            function = Literal(Spelled(reference(importable(name, atom.value)), atom.value))
            others.append((function, ir.Compare(_same(atom.value), call.function, function), [atom]))
        else:
            return None
    if len({*map(text_of, texts)}) < len(texts):
        return None
    for text, group in texts.items():
        held = made.version("f", Value(frozenset(group)))
        closure = at_site(made, group[0].site) if len(group) == 1 else None
        if closure is not None:
            made.functions.made[held] = closure
        elif captures_of(made.facts).carried(text) is None:
            return None
        if is_tuple(made.facts, text):
            add_tuple(held, text_of(text), group)
        else:
            others.append((held, ir.Compare("==", call.function, Literal(text_of(text))), group))
    for name, group in by_label(methods).items():
        add_tuple(made.version("f", Value(frozenset(group))), name, group)
    if Exact(None) in value.atoms:
        others.insert(0 if tuples else len(others), (None, ir.Compare("is", call.function, Literal(None)), []))
    return others + tuples


def _same(function: object) -> str:
    """What says of a function whether it is the one that is called: of ``np.add.outer`` that they are equal, since each
    look-up makes another object."""
    is_method = isinstance(function, BuiltinFunctionType) and not isinstance(function.__self__, ModuleType | NoneType)
    return "==" if is_method else "is"


def _place(atom: Any) -> tuple[str, str]:
    """The order of functions in a choice: that of their texts where they are called alike, as two lambdas are."""
    return str(atom), text_of(function_at(atom)) if is_made(atom) else ""


def _test(
    made: Reduced, function: Operand, asked: ir.Compare, tuples: Value, statement: Assign
) -> tuple[Operand, list[Statement]]:
    """Whether a function is a choice, and what asks that."""
    tested, before = made.version("t", of(bool)), list[Statement]()
    if asked.left is not function:  # what comes first in a tuple
        assert isinstance(asked.left, Version)
        made.values[asked.left] = of(str)
        held = made.version("f", tuples)
        before.append(Assign((held,), ir.Copy(function), statement.node))
        before.append(Assign((asked.left,), ir.GetItem(held, Literal(0)), statement.node))
    elif isinstance(asked.right, Literal) and isinstance(asked.right.value, str):
        made.functions.texts.add(asked.right.value)
    return tested, [*before, Assign((tested,), asked, statement.node)]


def _is_read(made: Reduced, function: Operand) -> bool:
    """Whether a choice is read of what stands for it."""
    return isinstance(function, Version) and function not in made.functions.made


def _class_of(atom: Any) -> type | None:
    """The class of the user's that is called."""
    kind = getattr(atom, "value", None)
    return kind if isinstance(kind, type) and is_user_class(kind) else None


def _given(value: Value, atoms: list[Any]) -> Value:
    """What a call gives of one of several functions: of a class, its objects."""
    kind = _class_of(atoms[0]) if len(atoms) == 1 else None
    if kind is None:
        return value
    return replace(value, atoms=frozenset(a for a in value.atoms if isinstance(a, At) and a.site.kind is kind))


def _is_of(summary: Summary, atom: Any) -> bool:
    if is_made(atom):
        return summary.function is function_at(atom)
    function = atom.function if is_method(atom) else atom.value
    if (kind := _class_of(atom)) is not None:
        first = next(iter(summary.arguments.values()), None)
        is_own = first is not None and first.consists_of(lambda a: isinstance(a, At) and a.site.kind is kind)
        function = found(kind, "__post_init__" if is_generated_init(kind) else "__init__")
        return is_own and getattr(function, "__qualname__", None) == summary.function.qualname
    if (name := method_of(function)) is not None:
        return summary.function.name == name
    code = getattr(function, "__code__", None)
    namespace = getattr(function, "__globals__", None)
    is_of_text = code is not None and summary.namespace is namespace and summary.function.name == code.co_name
    return is_of_text and (not is_method(atom) or summary.function.qualname == function.__qualname__)
