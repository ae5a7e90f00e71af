"""How emitted functions are called, what they say of themselves, and what drives a pair.

Enters: a callee, or the halves of a pair.  Leaves: a name, a docstring, or a function of two lines::

    def grad_f(x, value_bar=1.0):
        value, saved = f_fwd(x)
        return f_bwd(saved, value_bar)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType

import gast

from srcgrad import runtime
from srcgrad.errors import Span
from srcgrad.ir.normal_form import Callee, Checkpointed, Derived, Function, Guarded, LocalFunction, Stretch
from srcgrad.rules.facts import Fact, Unknown
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.marks import in_role
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import walk
from srcgrad.transform.build import assign, call, load, tuple_of, unpack
from srcgrad.transform.operands import constant_fact

_DERIVED = {"reverse": "grad", "value": "value_and_grad", "split": "vjp", "pulled": "pulled", "forward": "jvp"}
_KINDS = {
    "reverse": "Gradient",
    "value": "Value and gradient",
    "split": "Forward sweep",
    "forward": "Tangent",
    "batched": "Batch",
    "nested": "Gradient",
    "nested value": "Value and gradient",
    "nested split": "Value and pullback",
    "nested pulled": "Pullback",
    "nested forward": "Tangent",
    "nested linear": "Value and pullback",
}


def stem(callee: Callee) -> str:
    """What the names of a callee's derivatives are made from."""
    if callee.makes is not None:
        return f"make_{callee.makes.__name__}"
    match callee.function:
        case Guarded(function=inner):
            return f"try_{stem(Callee(inner))}"
        case Derived(function=inner, mode=mode):
            return f"{_DERIVED[mode]}_{stem(Callee(inner))}"  # type: ignore[arg-type]
        case LocalFunction(name=name) | Stretch(name=name) | Checkpointed(name=name):
            return name
        case function:
            name = function.__name__
            return "lambda" if name == "<lambda>" else name.strip("_") if name[:2] == name[-2:] == "__" else name


def label(callee: Callee) -> str:
    """How a callee is called in tracebacks."""
    function = callee.function
    return f"{function.__module__}.{function.__qualname__}" if isinstance(function, FunctionType) else stem(callee)


def hidden_names(functions: Sequence[gast.FunctionDef]) -> set[str]:
    """The functions of a module that a local of one of them is called like: it would hide them."""
    names = {function.name for function in functions}
    alike = (node for node in walk(*functions) if isinstance(node, gast.Name) and node.id in names)
    return {node.id for node in alike if isinstance(node.ctx, gast.Store | gast.Param)}


def driver(
    name: str, forward_def: gast.FunctionDef, forward: str, backward: str, *, with_value: bool, stores: bool,
    looks: bool = False,
) -> gast.FunctionDef:  # fmt: skip
    """A function with several returns cannot end its forward sweep in place: run the pair instead.

    ``stores``: the backward half takes back what the forward half stored, so that the value is copied before it.
    ``looks``: the value is seeded if it is one number, and there is no parameter for the seed.
    """
    taken = [p.id for p in forward_def.args.args]
    namer = Namer([*taken, forward, backward])
    value, saved, seed = namer.fresh("value"), namer.fresh("saved"), namer.fresh("value_bar")
    given = call_runtime(runtime.one_for, load(value)) if looks else load(seed)
    gradient: gast.expr = call(load(backward), load(saved), given)
    if with_value:
        gradient = tuple_of([load(value), gradient])
    body: list[gast.stmt] = [
        unpack([value, saved], call(load(forward), *(load(p) for p in taken))),
        *([assign(value, call_runtime(runtime.private, load(value)))] if with_value and stores else []),
        gast.Return(gradient),
    ]
    arguments = gast.arguments(
        [gast.Name(p, gast.Param(), None, None) for p in [*taken, *([] if looks else [seed])]],
        [], None, [], [], None,
        [*forward_def.args.defaults, *([] if looks else [gast.Constant(1.0, None)])],
    )  # fmt: skip
    in_role(body[-1], "adjoint")
    return in_role(gast.FunctionDef(name, arguments, body, [], None, None, []), "primal")


def document(
    entry: gast.FunctionDef, span: Span, callee: Callee, mode: str, wanted: tuple[str, ...], sizes: str = ""
) -> None:
    """Write the docstring of an entry, whose function stands at ``span`` in the user's file; ``sizes`` says which
    arguments it is right for."""
    names = ", ".join(wanted) or "nothing"
    of = f"{label(callee)} ({span.origin})"
    first, made, _ = " ".join((getattr(callee.function, "__doc__", None) or "").split()).partition(". Made by srcgrad;")
    if made:  # a derivative of a derivative
        of = f"the {first[0].lower()}{first[1:]},"
    along = "over" if mode == "batched" else "with respect to"
    text = f"{_KINDS[mode]} of {of} {along} {names}.\nMade by srcgrad; edit {span.base} instead."
    if mode == "batched" and sizes:
        sizes = f"Of an example: {sizes[0].lower()}{sizes[1:]}"
    text += f"\n{sizes}" if sizes else ""
    entry.body.insert(0, gast.Expr(gast.Constant(text, None)))


def entry_facts(function: Function, known: Mapping[str, Fact] | None) -> tuple[Fact, ...]:
    """One fact per parameter; one that is left to its default (a seed) has the fact of the default."""
    if known is None:
        return tuple(Unknown() for _ in function.parameters)
    defaults = {p: constant_fact(e) for p, e in function.defaults.items()}
    return tuple(known.get(p, defaults.get(p, Unknown())) for p in function.parameters)


#: What is differentiated again.
NESTED = {
    "reverse": "nested", "value": "nested value", "split": "nested split", "forward": "nested forward",
    "pulled": "nested pulled", "linear": "nested linear",
}  # fmt: skip
LABELS = {"reverse": "adjoint", "value": "adjoint", "split": "pair", "pulled": "pair", "forward": "tangent"}
LABELS |= {"batched": "batch", "linear": "pair"}
LABELS |= {NESTED[mode]: LABELS[mode] for mode in NESTED}


def unpassed(function: object) -> tuple[str, ...]:
    """The parameters of a local function that no caller passes: what it captured, and the object of a bound method."""
    if not isinstance(function, LocalFunction):
        return ()
    arguments = function.node.args
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return (*function.captured, *(p.id for p, default in named if default is not None))
