"""The text of a template as a tree: parsed once per file, checked against the laws, its globals resolved.

Enters: a template, an ordinary function such as ::

    def arctan2(x1, x2, *, z, z_bar):
        r2 = x1 * x1 + x2 * x2
        return z_bar * x2 / r2, -z_bar * x1 / r2

Leaves: ``Formula`` with the assignments ``r2 = ...`` and the two returned expressions, in which every name that is no
parameter and no local is a ``GlobalReference``.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import takewhile
from types import FunctionType, ModuleType

import gast

from srcgrad.rules.laws import Head, broken, written
from srcgrad.syntax.bindings import GlobalBinding, OfCell, OfNamespace
from srcgrad.syntax.globals import GlobalReference, reference
from srcgrad.syntax.parse import names_bound, walk

PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


@dataclass(frozen=True, eq=False)
class Formula:
    """A straight line of assignments to names, then what is returned."""

    body: tuple[tuple[str, gast.expr], ...]
    returned: tuple[gast.expr, ...]


def formula_of(template: FunctionType) -> Formula:
    """The formula of a template: its text, in which names that are not its own are resolved."""
    head = Head.of(template)
    text = written(template, [*head.parameters, *head.keywords])
    resolve = _Resolver(template, {*head.parameters, *head.keywords, *(name for name, _ in text.body)})
    return Formula(tuple((name, resolve(value)) for name, value in text.body), tuple(map(resolve, text.returned)))


class _Resolver:
    """Copies an expression, names of the template as they are, others as references to what they mean."""

    def __init__(self, template: FunctionType, own: set[str]) -> None:
        self.template = template
        self.own = own
        self.globals = template.__globals__
        self.cells = dict(zip(template.__code__.co_freevars, template.__closure__ or (), strict=True))
        self.known: dict[str, GlobalReference] = {}

    def __call__(self, expression: gast.expr) -> gast.expr:
        bound = names_bound(expression)
        made = self._copy(expression, self.own | bound)
        assert isinstance(made, gast.expr)
        return made

    def _copy(self, node: gast.AST, own: set[str] | frozenset[str]) -> gast.AST:
        if isinstance(node, gast.Name) and node.id not in own:
            return self.global_(node)
        made = type(node)()
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                value = [self._copy(item, own) if isinstance(item, gast.AST) else item for item in value]
            elif isinstance(value, gast.AST):
                value = self._copy(value, own)
            setattr(made, name, value)
        return made

    def global_(self, node: gast.Name) -> GlobalReference:
        name = node.id
        if name not in self.known:
            if name in self.cells:
                cell = self.cells[name]
                binding = binding_of(name, cell.cell_contents)
                read: Callable[[], object] | None = OfCell(cell, name)
            elif name in self.globals:
                binding = binding_of(name, self.globals[name], self.globals.get("__name__"))
                read = OfNamespace(self.globals, name)
            elif hasattr(builtins, name):
                binding, read = binding_of(name, getattr(builtins, name)), None
            else:
                raise broken(
                    self.template,
                    f"reads {name!r}, which means nothing where it is written",
                    node,
                    label="no such name",
                    hint="a rule may read its parameters, its result and adjoint, names it assigns, and globals",
                )
            if read is not None and not callable(binding.value) and not isinstance(binding.value, ModuleType):
                binding = replace(binding, cell=read)  # data may be another at the next call
            self.known[name] = reference(binding)
        return self.known[name]


# --- how an object is spelled ----------------------------------------------------------------------------------------
def binding_of(name: str, value: object, home: str | None = None) -> GlobalBinding:
    """The binding of an object under a preferred name: where emitted code can import it from."""
    if isinstance(value, ModuleType):
        return GlobalBinding(name, value, value.__name__, None)
    attribute = getattr(value, "__name__", name)
    for module in (*_public(getattr(value, "__module__", None)), home):
        for candidate in (name, attribute):
            if module and getattr(sys.modules.get(module), candidate, _ABSENT) is value:
                return GlobalBinding(name, value, module, candidate)
    return GlobalBinding(name, value)


_ABSENT = object()


def _public(module: str | None) -> tuple[str, ...]:
    """The modules that hand an object on, outermost package first: ``srcgrad.runtime`` before its files."""
    if not module:
        return ()
    parts = module.split(".")
    if parts[:2] == ["srcgrad", "runtime"]:
        return ("srcgrad.runtime", module)
    return (".".join(takewhile(lambda part: not part.startswith("_"), parts)), module)


_SHORT = {"numpy": "np"}


def spelling(function: Callable[..., object]) -> gast.expr:
    """An expression for a function: ``np.linalg.inv``, ``math.sin``, ``unbroadcast``."""
    dotted = qualified(function)
    module, _, attribute = dotted.rpartition(".")
    root = module.split(".")[0]
    if root in ("numpy", "math", "operator") and _follow(dotted) == function:
        expression: gast.expr = reference(GlobalBinding(_SHORT.get(root, root), sys.modules[root], root, None))
        for part in dotted.split(".")[1:]:
            expression = gast.Attribute(expression, part, gast.Load())
        return expression
    if root == "scipy" and _follow(dotted) == function:
        home, *parts = dotted.split(".")[1:]
        expression = reference(GlobalBinding(home, sys.modules[f"scipy.{home}"], f"scipy.{home}", None))
        for part in parts:
            expression = gast.Attribute(expression, part, gast.Load())
        return expression
    return reference(binding_of(getattr(function, "__name__", attribute), function))


def qualified(function: object) -> str:
    """The dotted public name of a function, for messages and spelling."""
    ufunc = getattr(function, "__self__", None)
    if type(ufunc).__name__ == "ufunc":  # a method of a ufunc
        return f"{qualified(ufunc)}.{function.__name__}"  # type: ignore[attr-defined]
    name = getattr(function, "__name__", None) or repr(function)
    module = getattr(function, "__module__", None)
    if module is None and type(function).__name__ == "ufunc":
        homes = ("numpy", "scipy.special")
        module = next((home for home in homes if getattr(sys.modules.get(home), name, None) is function), "")
    if (module or "").startswith("scipy."):
        module = ".".join(str(module).split(".")[:2])  # scipy.stats._distn_infrastructure is nobody's business
        owner = getattr(function, "__self__", None)
        owners = [] if owner is None else [key for key, value in vars(sys.modules[module]).items() if value is owner]
        name = f"{owners[0]}.{name}" if owners else name
    module = {"_operator": "operator"}.get(module or "", module)
    return name if module in (None, "", "builtins") else f"{module}.{name}"


def displayed(function: object) -> str:
    """The name of a function as users write it: ``np.sum``, ``math.sin``, ``sum``."""
    dotted = qualified(function)
    return "np" + dotted[5:] if dotted.startswith("numpy.") else dotted


def _follow(dotted: str) -> object:
    value: object = sys.modules.get(dotted.split(".")[0])
    for part in dotted.split(".")[1:]:
        value = getattr(value, part, None)
    return value


# --- literals --------------------------------------------------------------------------------------------------------
def constant(value: object) -> gast.expr:
    """A literal as an expression."""
    if isinstance(value, tuple):
        return gast.Tuple([constant(item) for item in value], gast.Load())
    if isinstance(value, int | float) and not isinstance(value, bool) and value < 0:
        return gast.UnaryOp(gast.USub(), gast.Constant(-value, None))
    return gast.Constant(value, None)


def literal(expression: gast.expr) -> tuple[bool, object]:
    """Whether an expression is a literal, and its value: constants, their tuples, fixed numbers like ``np.inf``."""
    match expression:
        case gast.Constant(value=value):
            return True, value
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant() | gast.Attribute() as operand):
            known, value = literal(operand)
            return (True, -value) if known and isinstance(value, int | float) else (False, None)
        case gast.Tuple(elts=elements) | gast.List(elts=elements):
            values = [literal(element) for element in elements]
            return all(known for known, _ in values), tuple(value for _, value in values)
        case gast.Attribute(value=GlobalReference() as owner, attr=name) if isinstance(owner.binding.value, ModuleType):
            value = getattr(owner.binding.value, name, _ABSENT)
            return (True, value) if isinstance(value, int | float | str | None) else (False, None)
    return False, None


def is_none(expression: gast.AST) -> bool:
    """Whether an expression is the literal None."""
    return isinstance(expression, gast.Constant) and expression.value is None


def is_named_number(node: gast.expr) -> bool:
    """Whether an expression is a number by its name in a module, or the negative of one: ``-np.inf``."""
    number = node.operand if isinstance(node, gast.UnaryOp) else node
    return isinstance(number, gast.Attribute) and is_number(node)


def is_number(expression: gast.expr | None) -> bool:
    """Whether an expression is a literal number, which broadcasts to any shape and promotes no dtype."""
    if expression is None:
        return False
    known, value = literal(expression)
    return known and isinstance(value, int | float)


def attributes(node: gast.AST) -> list[str]:
    """The attributes that an expression reads of its own names (not of modules)."""
    found: list[str] = []
    for below in walk(node):
        if isinstance(below, gast.Attribute):
            owner = below.value
            while isinstance(owner, gast.Attribute):
                owner = owner.value
            if not isinstance(owner, GlobalReference):
                found.append(below.attr)
    return found


def callees(node: gast.AST) -> list[object]:
    """The objects that an expression calls; what is not resolved is listed by its text."""
    found: list[object] = []
    for below in walk(node):
        if isinstance(below, gast.Call):
            found.append(object_of(below.func))
    return found


def object_of(node: gast.AST) -> object:
    """The object that a dotted name of a template means, or None."""
    match node:
        case GlobalReference():
            return node.binding.value
        case gast.Attribute(value=owner, attr=name):
            base = object_of(owner)
            return None if base is None else getattr(base, name, None)
    return None
