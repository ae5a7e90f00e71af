"""The rule table for people: one rule with its text, the list of all, and the page of the documentation.

Enters: the name of a function, ``np.einsum``.  Leaves: text that says which list it is in, by what it has a derivative,
in which forms it may be called, what happens at kinks, and the rule itself as its author wrote it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import linecache
import textwrap
from collections.abc import Callable, Iterable
from importlib.metadata import version
from types import FunctionType
from typing import Any

import gast
import numpy as np

from srcgrad.emit.convert import to_ast
from srcgrad.inspect.target import BadTarget
from srcgrad.rules.calling import NEUTRAL, signature_of
from srcgrad.rules.catalogue import (
    NUMPY,
    PYTHON,
    Entry,
    entries,
    installed_libraries,
    member_statuses,
    members,
    statuses,
)
from srcgrad.rules.formula import displayed, literal
from srcgrad.rules.table import attribute, lookup, member_refusal, method, refusal
from srcgrad.rules.template import Rule
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import walk

_OPERANDS = 2  # of which a rule shows what it writes for each of them
THEMES = {"numpy": "NumPy", "builtins": "Python's own"}


# --- one rule --------------------------------------------------------------------------------------------------------
def describe(name: str) -> str:
    """What the table says of one function, named as users write it (``np.einsum``, ``ndarray.sum``, ``math.sin``)."""
    if name.startswith("ndarray."):
        return _member(name.removeprefix("ndarray."))
    function = named(name)
    shown = name
    rule = lookup(function)
    if rule is not None:
        return _ruled(shown, rule, function)
    if "constant" in statuses(function):
        return f"{shown}: constant\n\nNo derivative flows through it, whatever it is given."
    declared = refusal(function)
    if declared is not None:
        return f"{shown}: refused where its arguments vary\n\n{declared.reason}\nhint: {declared.hint}"
    return f"{shown}: in no list\n\nhint: write a rule with @srcgrad.rule, or declare it with srcgrad.constant"


def named(name: str) -> Any:
    """The object that a dotted name means: ``np`` and ``numpy``, modules, builtins."""
    dotted = "numpy" + name[2:] if name == "np" or name.startswith("np.") else name
    parts = dotted.split(".")
    for count in range(len(parts), -1, -1):
        module = ".".join(parts[:count]) or "builtins"
        try:
            value: Any = importlib.import_module(module)
        except ImportError:
            continue
        try:
            for part in parts[count:]:
                value = getattr(value, part)
        except AttributeError:
            continue
        return value
    raise BadTarget(f"there is no function {name!r}; write it as in a program: np.sum, math.sin, scipy.special.expit")


def _member(name: str) -> str:
    meant = method(name) or attribute(name)
    if meant is not None:
        return f"ndarray.{name}: as {displayed(meant)}\n\n{describe(displayed(meant))}"
    declared = member_refusal(name)
    if declared is not None:
        return f"ndarray.{name}: refused\n\n{declared.reason}\nhint: {declared.hint}"
    if member_statuses(name):
        return f"ndarray.{name}: constant\n\nIt tells of shapes, kinds and memory, not of numbers."
    raise BadTarget(f"arrays have no method or attribute {name!r}" if name not in members() else f"{name}: in no list")


def _ruled(name: str, rule: Rule, function: Callable[..., object]) -> str:
    kinds = {
        "elementwise": "elementwise (each element by itself; the same formula is its tangent)",
        "linear": f"linear in {', '.join(rule.linear)} (the tangent is the function itself on the tangent)",
        "rule": "rule (adjoint and tangent written side by side)",
    }
    others = [displayed(f) for f in rule.functions if displayed(f) != name]
    lines = [f"{name}: ruled", "", inspect.cleandoc(rule.__doc__ or ""), ""]
    rows = [
        ("kind", kinds[rule.kind]),
        ("derivatives by", ", ".join(sorted(rule.differentiable, key=rule.parameters.index)) or "nothing: zero"),
        ("refused by", "; ".join(f"{p}: {reason}" for p, (reason, _) in rule.refusals.items())),
        ("call", call_form(rule, function)),
        ("without effect", ", ".join(sorted(_ignored(rule, function)))),
        ("not supported", ", ".join(declined(rule, function))),
        ("shared with", ", ".join(others)),
    ]
    lines += [f"{head + ':':16}{text}" for head, text in rows if text]
    adjoint, tangent = rule.expanded(_OPERANDS)
    for template in rule.templates():
        text = _source(template)
        if template is rule.template and adjoint is not None and text[-1].strip() == "return None":
            text = [f"{text[0]}, written for the operands of each call; for {_OPERANDS} of them:", *text[1:-1]]
            text.append(f"    return {_written(adjoint)}")
        lines += ["", *text]
    if tangent is not None:
        lines += ["", f"# its tangent for {_OPERANDS} operands:", _written(tangent)]
    return "\n".join(lines)


def _written(expression: gast.expr) -> str:
    """An expression of a rule as Python."""
    names = {id(n.binding): n.binding.preferred for n in walk(expression) if isinstance(n, GlobalReference)}
    return ast.unparse(to_ast(expression, names))


def call_form(rule: Rule, function: object) -> str:
    """The call as the rule understands it: parameters, defaults, other names, values that are allowed."""
    parts = []
    count = len(rule.parameters)
    if isinstance(function, np.ufunc):
        count = function.nin
    for p in rule.parameters[:count] if rule.kind == "elementwise" else rule.parameters:
        text = f"*{p}" if p == rule.variadic else p
        if p in rule.defaults:
            text += f"={_value(literal(rule.defaults[p])[1])}"
        if p in rule.allowed:
            text += f" in ({', '.join(map(_value, rule.allowed[p]))})"
        parts.append(text)
    named_too = [f"{name} for {p}" for name, p in sorted(rule.synonyms.items())]
    return f"({', '.join(parts)})" + (f", {', '.join(named_too)}" if named_too else "")


def _value(value: object) -> str:
    return "np.inf" if value == np.inf else repr(value)


def _parameters(function: object) -> list[str]:
    if isinstance(function, np.ufunc):
        return ["out", "where", "casting", "order", "dtype", "subok", "signature"]
    signature = signature_of(function)
    return [] if signature is None else list(signature.parameters)


def _ignored(rule: Rule, function: object) -> set[str]:
    return set(rule.ignored) & set(_parameters(function))


def declined(rule: Rule, function: object) -> list[str]:
    """Parameters of the function that the rule takes in their neutral form only, or not at all."""
    known = {*rule.parameters, *rule.synonyms, *rule.ignored}
    positional = rule.parameters[: len(_parameters(function))]
    return [
        f"{name} (only {_value(NEUTRAL[name])})" if name in NEUTRAL else name
        for position, name in enumerate(_parameters(function))
        if name not in known and not (position < len(positional) and _is_positional(function, name))
    ]


def _is_positional(function: object, name: str) -> bool:
    signature = signature_of(function)
    return signature is not None and signature.parameters[name].kind in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    )


def _source(template: FunctionType) -> list[str]:
    code = template.__code__
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    text = textwrap.dedent("".join(inspect.getblock(lines))).rstrip()
    place = code.co_filename.replace("\\", "/").rpartition("/srcgrad/rules/")[2]
    return [f"# {place}:{code.co_firstlineno}", *text.splitlines()]


# --- all of them -----------------------------------------------------------------------------------------------------
def everything() -> list[Entry]:
    """Every entry of NumPy, Python and what is installed of the optional libraries."""
    return entries(NUMPY + PYTHON + installed_libraries())


def overview(status: str = "ruled", word: str = "") -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows of one list, the functions whose name contains ``word``."""
    found = [entry for entry in everything() if entry.status == status and word in entry.name]
    if status == "ruled":
        rows: list[tuple[str, ...]] = []
        for entry in found:
            rule = _rule_of(entry)
            by = ", ".join(sorted(rule.differentiable, key=rule.parameters.index)) or "zero"
            rows.append((entry.name, rule.kind, by))
        return ("function", "kind", "derivatives by"), rows
    if status == "refused":
        return ("function", "because"), [(entry.name, _reason(entry)[0]) for entry in found]
    return ("function",), [(entry.name,) for entry in found]


def counts(found: Iterable[Entry]) -> dict[str, int]:
    """How many functions are in each list."""
    made = {"ruled": 0, "constant": 0, "refused": 0}
    for entry in found:
        if entry.status is not None:
            made[entry.status] += 1
    return made


def _rule_of(entry: Entry) -> Rule:
    if isinstance(entry.function, str):
        meant = method(entry.function) or attribute(entry.function)
        rule = lookup(meant)
    else:
        rule = lookup(entry.function)
    assert rule is not None
    return rule


def _reason(entry: Entry) -> tuple[str, str]:
    declared = member_refusal(entry.function) if isinstance(entry.function, str) else refusal(entry.function)
    return ("", "") if declared is None else (declared.reason, declared.hint)


# --- the page --------------------------------------------------------------------------------------------------------
def versions() -> str:
    """The libraries that the page is about, by minor version."""
    found = [f"NumPy {_minor(np.__version__)}"]
    if installed_libraries():
        found.append(f"SciPy {_minor(version('scipy'))}")
    return ", ".join(found)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def page() -> str:
    """``docs/rules.md``: every function that is ruled or refused, and the names of the constants."""
    found = everything()
    numbers = counts(found)
    lines = [
        "# The rule table",
        "",
        f"What srcgrad knows about each function, made by `srcgrad rules --page` for {versions()}.  {numbers['ruled']}",
        f"functions have a rule, {numbers['constant']} have no derivative and count as constants, {numbers['refused']}",
        "are refused.",
        "",
        "The columns are: the function; the calls that are accepted; the parameters with respect to which it is",
        "differentiated; the kind of rule (*elementwise*: on each element separately; *linear*: jointly linear in",
        "these parameters; *rule*: all else); and what the function computes, or a note on its derivative.  There",
        "*cotangent* is another word for adjoint, and *slope* for derivative.",
        "",
        "`srcgrad rules np.einsum` prints one rule with its text.  Rules of your own are written in the same way:",
        "see [own rules](own_rules.md).  [Kinks](kinks.md) says what happens at corners, ties and infinities.",
    ]
    for library in NUMPY + PYTHON + installed_libraries():
        inside = entries((library,))
        lines += ["", f"## {THEMES.get(library, library)}", *_ruled_table(inside), *_others(inside)]
    return "\n".join(lines) + "\n"


def _ruled_table(found: list[Entry]) -> list[str]:
    rows = []
    for entry in found:
        if entry.status == "ruled":
            rule = _rule_of(entry)
            by = ", ".join(sorted(rule.differentiable, key=rule.parameters.index)) or "zero"
            sentence = inspect.cleandoc(rule.__doc__ or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
            form = call_form(rule, entry.function).replace("|", "\\|")
            rows.append(f"| `{entry.name}` | `{form}` | {by} | {rule.kind} | {sentence} |")
    if not rows:
        return []
    return ["", "| function | call | derivatives by | kind | |", "|---|---|---|---|---|", *rows]


def _others(found: list[Entry]) -> list[str]:
    lines: list[str] = []
    refused: dict[tuple[str, str], list[str]] = {}
    for entry in found:
        if entry.status == "refused":
            refused.setdefault(_reason(entry), []).append(f"`{entry.name}`")
    if refused:
        lines += ["", "Refused where the arguments vary:", ""]
        lines += [f"- {', '.join(names)}: {reason}; {hint}." for (reason, hint), names in refused.items()]
    constants = [f"`{entry.name}`" for entry in found if entry.status == "constant"]
    if constants:
        lines += ["", "Constant:", "", textwrap.fill(", ".join(constants), 120, break_long_words=False)]
    return lines
