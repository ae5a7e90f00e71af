"""The laws of templates, and what an author is told who breaks one: the reason, the line with a caret, a hint.

Enters: a template, or a rule and the function it is for.  Leaves: its statements and what it returns, or ``RuleError``.
What users write is checked where it is written, as far as it can be: names may still be defined below.

    @srcgrad.rule(scaled)                     RuleError: the rule scaled_rule returns 1 partial for 2 parameters
    def scaled_rule(x, factor, *, y, y_bar):    model.py:9, in scaled_rule
        return y_bar * factor                     9 |     return y_bar * factor
                                                    |     ^^^^^^^^^^^^^^^^^^^^^ one for each of x, factor
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, Protocol

import gast

from srcgrad.errors import InternalError, RuleError, SourceUnavailable, Span, SrcgradError
from srcgrad.runtime.binding import documented_signature
from srcgrad.runtime.objects import LIBRARIES
from srcgrad.syntax.parse import parameters_of, parse, walk

_REFUSED = (gast.Yield, gast.YieldFrom, gast.Await, gast.NamedExpr)


@dataclass(frozen=True)
class Head:
    """The parameters of a template, read from its code object: no source is needed to know them."""

    parameters: tuple[str, ...]
    variadic: str | None
    keywords: tuple[str, ...]  # keyword-only: result, adjoint, tangents
    defaults: Mapping[str, object]

    @classmethod
    def of(cls, template: FunctionType) -> Head:
        code = template.__code__
        names, count, only = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
        variadic = names[count + only] if code.co_flags & inspect.CO_VARARGS else None
        given = template.__defaults__ or ()
        defaults = dict(zip(names[count - len(given) : count], given, strict=True))
        parameters = names[:count] + ((variadic,) if variadic else ())
        return cls(parameters, variadic, names[count : count + only], defaults)


@dataclass(frozen=True, eq=False)
class Text:
    """A template as it is written: assignments to names, then what is returned; names are not looked up yet."""

    body: tuple[tuple[str, gast.expr], ...]
    returned: tuple[gast.expr, ...]
    place: gast.AST  # the return statement


def is_own(template: Callable[..., object]) -> bool:
    """Whether a template is one of srcgrad's: a fault in it is no user's."""
    return str(getattr(template, "__module__", "")).startswith("srcgrad.rules.")


def broken(
    template: FunctionType,
    reason: str,
    node: gast.AST | None = None,
    *,
    label: str | None = None,
    hint: str | None = None,
) -> SrcgradError:
    """The error for a template that breaks a law, with a caret under ``node``, or under its first line."""
    reason = f"the rule {template.__name__} {reason}"
    if is_own(template):
        return InternalError(f"{reason} ({template.__module__})", stage="rules")
    return RuleError(reason, _place(template, node), label=label, hint=hint)


def written(template: FunctionType, own: Sequence[str]) -> Text:
    """The statements of a template; ``own`` are its parameters.  The laws: a straight line and one return."""
    node = definition(template)
    statements = list(node.body)
    if statements and isinstance(statements[0], gast.Expr) and isinstance(statements[0].value, gast.Constant):
        del statements[0]
    names = set(own)
    body: list[tuple[str, gast.expr]] = []
    for statement in statements[:-1]:
        match statement:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if name not in names:
                names.add(name)
                body.append((name, value))
            case _:
                raise broken(
                    template,
                    "is no straight line: only assignments to new names may come before the return",
                    statement,
                    label="no assignment to a new name",
                    hint="np.where chooses between values; a loop or a branch goes into a function that the rule calls",
                )
    match statements:
        case [*_, gast.Return(value=gast.expr() as value) as last]:
            returned = tuple(value.elts) if isinstance(value, gast.Tuple) else (value,)
        case _:
            raise broken(
                template,
                "does not end in a return: the last statement must return the partials",
                statements[-1] if statements else None,
            )
    for inner in walk(*(value for _, value in body), *returned):
        if isinstance(inner, _REFUSED) or (isinstance(inner, gast.Starred) and inner in returned):
            raise broken(template, "is no straight line", inner, label="not possible in a rule")
    return Text(tuple(body), returned, last)


@cache
def _definitions(filename: str, text: str) -> dict[tuple[str, int], Any]:
    """Every function definition of a file by name and first line, decorators included."""
    found: dict[tuple[str, int], Any] = {}
    for node in walk(parse(text, filename)):
        if isinstance(node, gast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[node.name, first] = node
    return found


def _lines(template: FunctionType) -> list[str]:
    return linecache.getlines(template.__code__.co_filename, template.__globals__)


def definition(template: FunctionType) -> Any:
    """The definition of a template, in the text of its file or notebook cell."""
    code = template.__code__
    text = "".join(_lines(template))
    node = _definitions(code.co_filename, text).get((code.co_name, code.co_firstlineno)) if text else None
    if node is None or [p.id for p in (*node.args.posonlyargs, *node.args.args)] != _positional(template):
        raise SourceUnavailable(
            f"the text of the rule {template.__qualname__} is not found in {code.co_filename}",
            code="E0215",
            hint="write the rule with def, in a file or a notebook cell, and import it again when it was edited",
        )
    return node


def _positional(template: FunctionType) -> list[str]:
    return list(template.__code__.co_varnames[: template.__code__.co_argcount])


def _place(template: FunctionType, node: gast.AST | None) -> Span | None:
    """The place of a node of a template: of the definition, its heading."""
    lines = [line.rstrip("\n") for line in _lines(template)]
    if node is None:
        try:
            node = definition(template)
        except SourceUnavailable:
            return None
    line, end = node.lineno, node.end_lineno
    if isinstance(node, gast.FunctionDef | gast.If | gast.For | gast.While | gast.With | gast.Try):
        end, last = line, len(lines[line - 1].rstrip().rstrip(":").encode())
    else:
        last = node.end_col_offset

    def column(number: int, offset: int) -> int:
        return len(lines[number - 1].encode()[:offset].decode())

    text = "\n".join(lines[line - 1 : end])
    name = template.__qualname__.rsplit("<locals>.", 1)[-1]
    start = column(line, node.col_offset)
    return Span(template.__code__.co_filename, name, line, start, end, column(end, last), text)


# --- a template and the function it is for ---------------------------------------------------------------------------
def check_template(template: object, function: object) -> FunctionType:
    """Refuse what is no function written with def, and a rule that takes the name of its function away."""
    if not isinstance(template, FunctionType) or template.__name__ == "<lambda>":
        kind = "a lambda" if isinstance(template, FunctionType) else f"a {type(template).__name__}"
        raise RuleError(f"a rule is a function written with def, not {kind}")
    if not is_own(template) and template.__globals__.get(template.__name__) is function:
        raise broken(
            template,
            "has the name of the function it is for, which it would replace",
            hint=f"call it {template.__name__}_rule",
        )
    return template


def check_function(function: object, decorator: str) -> None:
    """Refuse a decorator that was not given a function to be differentiated."""
    if not callable(function):
        raise RuleError(f"{decorator} takes the function that the rule is for, not a {type(function).__name__}")
    if isinstance(function, FunctionType) and function.__kwdefaults__ is None:
        code = function.__code__
        only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        if any(name.endswith("_bar") for name in only):
            raise broken(
                function, f"is not told which function it is for: write @{decorator}(function) above it"
            )
    if isinstance(function, FunctionType) and str(function.__module__).partition(".")[0] not in LIBRARIES:
        _check_stores(function)


_VIEWS = frozenset({"T", "mT", "flat", "real", "imag"})
#: Methods of arrays, and functions of NumPy by their last names, that store into an array, the first argument of these.
_STORING_METHODS = frozenset({"fill", "sort", "partition", "resize", "setfield", "byteswap", "itemset"})
_STORING_FUNCTIONS = frozenset({"copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", "at"})


def _check_stores(function: FunctionType) -> None:
    """Refuse a function that stores into an array that it is given: it is called as it is, and nothing reverses that.

    Told from its text, where this is available: from stores by index, methods, ``out=`` and functions of NumPy into a
    parameter that is bound nowhere else.  ``x += 1`` is none: it may be of numbers.
    """
    try:
        node = definition(function)
    except (SrcgradError, SyntaxError):
        return
    nodes = list(walk(*node.body))
    augmented = {inner.target for inner in nodes if isinstance(inner, gast.AugAssign)}
    bound = {
        inner.id for inner in nodes
        if isinstance(inner, gast.Name) and not isinstance(inner.ctx, gast.Load) and inner not in augmented
    }  # fmt: skip
    made = [each for each in (node.args.vararg, node.args.kwarg) if each is not None]
    inside = [inner.args for inner in nodes if isinstance(inner, gast.FunctionDef | gast.Lambda)]
    own = parameters_of(node.args) - bound - {each.id for each in made} - frozenset().union(*map(parameters_of, inside))
    for inner in nodes:
        for stored in _stored(inner):
            while isinstance(stored, gast.Subscript) or isinstance(stored, gast.Attribute) and stored.attr in _VIEWS:
                stored = stored.value
            if isinstance(stored, gast.Name) and stored.id in own:
                raise RuleError(
                    f"{function.__name__} stores into its argument {stored.id}, which is not reversed: "
                    "a function with a rule, or a constant one, is called as it is",
                    _place(function, inner.value if isinstance(inner, gast.keyword) else inner),
                    hint="let it store into a copy, or into what is no argument",
                )


def _stored(node: gast.AST) -> list[gast.expr]:
    """What a node certainly stores into, if that is an array."""
    match node:
        case gast.Subscript(slice=gast.Constant(value=str())):  # of a dict
            return []
        case gast.Subscript(value=stored, ctx=gast.Store() | gast.Del()):
            return [stored]
        case gast.Call(func=gast.Attribute(value=stored, attr=attr)) if attr in _STORING_METHODS:
            return [stored]
        case gast.Call(func=gast.Attribute(attr=attr), args=[stored, *_]) if attr in _STORING_FUNCTIONS:
            return [stored]
        case gast.keyword(arg="out", value=gast.Tuple(elts=outputs)):
            return list(outputs)
        case gast.keyword(arg="out", value=stored):
            return [stored]
    return []


def _check_parameters(template: FunctionType, head: Head, function: object) -> dict[str, object]:
    """Compare the parameters of a user's rule with those of the function it is for, where that tells them.

    Returns the defaults that the function has and the rule does not say.
    """
    parameters = [p for p in head.parameters if p != head.variadic]
    defaults = head.defaults
    try:
        signature = documented_signature(function)
    except (TypeError, ValueError):
        return {}
    theirs = signature.parameters
    kinds = inspect.Parameter
    by_name = [p for p in theirs.values() if p.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)]
    free = any(p.kind in (kinds.VAR_KEYWORD, kinds.VAR_POSITIONAL, kinds.POSITIONAL_ONLY) for p in theirs.values())
    name = getattr(function, "__name__", "the function")
    for parameter in parameters:
        if parameter not in theirs and not free:
            raise broken(
                template,
                f"has a parameter {parameter!r} that {name} does not have",
                label=f"{name}{signature}",
                hint="name the parameters as the function does",
            )
    for other in by_name:
        if other.name not in parameters and other.default is other.empty:
            raise broken(
                template,
                f"lacks the parameter {other.name!r} of {name}",
                label=f"{name}{signature}",
                hint=f"add {other.name}, with the partial None if there is no derivative by it",
            )
    missing: dict[str, object] = {}
    for other in by_name:
        if other.default is other.empty or other.name not in parameters:
            continue
        if other.name not in defaults:
            if _is_literal(other.default):
                missing[other.name] = other.default
        elif type(defaults[other.name]) is not type(other.default) or defaults[other.name] != other.default:
            raise broken(
                template,
                f"assumes {other.name}={defaults[other.name]!r} where {name} has {other.name}={other.default!r}",
                hint="leave the default out: the rule takes that of the function",
            )
    return missing


def _is_literal(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_literal, value))
    return value is None or type(value) in (bool, int, float, complex, str)


class Rule(Protocol):
    """What is said of a rule here."""

    kind: str
    functions: tuple[Callable[..., object], ...]
    template: FunctionType
    linear: tuple[str, ...]
    parameters: tuple[str, ...]
    result: str
    adjoint: str


def check_rule(rule: Rule) -> dict[str, object]:
    """Hold a user's rule to the laws; returns the defaults that its function has and it does not say."""
    missing: dict[str, object] = {}
    for function in rule.functions[:1]:
        missing = _check_parameters(rule.template, Head.of(rule.template), function)
    if rule.kind == "linear":
        _check_linear(rule)
    _partials(rule, rule.template)
    return missing


def _partials(rule: Rule, template: FunctionType) -> Text:
    """A user's template as it is written, with one partial for each parameter, or for each linear one."""
    text = written(template, [*rule.parameters, rule.result, rule.adjoint])
    names = rule.linear or rule.parameters
    if len(text.returned) != len(names) and not (rule.linear and len(text.returned) == len(rule.parameters)):
        count = f"{len(text.returned)} partial{'s' if len(text.returned) != 1 else ''}"
        raise broken(
            template,
            f"returns {count} for {len(names)} parameter{'s' if len(names) != 1 else ''}",
            text.place,
            label=f"one for each of {', '.join(names)}",
            hint="write the partials in the return statement, None for a parameter without a derivative",
        )
    return text


def _check_linear(rule: Rule) -> None:
    """Refuse a linear rule that does not say in which of its parameters the function is linear."""
    unknown = [name for name in rule.linear if name not in rule.parameters]
    if unknown or not rule.linear:
        reason = f"is linear in {unknown[0]!r}, which is no parameter of it" if unknown else "is linear in no parameter"
        named = ", ".join(map(repr, rule.parameters[:1]))
        raise broken(rule.template, reason, hint=f"write @srcgrad.linear(function, {named})")


UNSAID = "return a partial for each parameter, None where there is no derivative; or write a tangent, with srcgrad.rule"


def unsaid(rule: Rule) -> dict[str, str]:
    """The parameters that a linear rule says nothing of: a derivative by them is refused, not taken for zero."""
    text = written(rule.template, [*rule.parameters, rule.result, rule.adjoint])
    others = [name for name in rule.parameters if name not in rule.linear]
    if rule.kind != "linear" or not others:
        return {}
    if len(text.returned) == len(rule.linear):
        return dict.fromkeys(others, f"its rule is linear in {' and '.join(rule.linear)}, and says nothing of others")
    for name, partial in zip(rule.parameters, text.returned, strict=True):
        if name in others and not (isinstance(partial, gast.Constant) and partial.value is None):
            raise broken(
                rule.template,
                f"has a partial for {name!r}, in which it is not said to be linear",
                partial,
                hint="name it beside the others; or write the tangent, with @srcgrad.rule",
            )
    return {}


def check_case(rule: Rule, template: FunctionType, conditions: Iterable[str]) -> None:
    """Refuse a formula for a special case whose parameters are not those of the rule, nor those of its conditions."""
    mine, head = Head.of(template), Head.of(rule.template)
    if (mine.parameters, set(mine.keywords)) != (head.parameters, set(head.keywords)):
        heading = ", ".join([*head.parameters, "*", *head.keywords])
        raise broken(template, f"has other parameters than the rule it is a case of, which has ({heading})")
    for name in conditions:
        if name not in head.parameters:
            raise broken(template, f"is for a value of {name!r}, which is no parameter of the rule")
    _partials(rule, template)


def check_tangent(rule: Rule, template: FunctionType) -> None:
    """Refuse a user's tangent that does not take the result and the tangent of every parameter with a partial."""
    text, head = _partials(rule, rule.template), Head.of(template)
    names = rule.linear if len(text.returned) == len(rule.linear) else rule.parameters
    dots = [name for name in head.keywords if name.endswith("_dot")]
    wanted = [
        f"{name}_dot"
        for name, partial in zip(names, text.returned, strict=False)
        if not (isinstance(partial, gast.Constant) and partial.value is None)
    ]
    if list(head.keywords) != [rule.result, *dots] or dots != wanted:
        heading = ", ".join(["*", rule.result, *wanted])
        raise broken(template, f"needs the keyword-only parameters {heading}", hint="write them after the others")
    terms = written(template, [*head.parameters, *head.keywords])
    if len(terms.returned) != len(dots) and len(dots) != 1:
        raise broken(
            template,
            f"returns {len(terms.returned)} terms for {len(dots)} tangents",
            terms.place,
            label=f"one for each of {', '.join(dots)}",
            hint="the tangent of the result is their sum",
        )
