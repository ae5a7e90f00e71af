"""What a program was compiled from, compared at each call with what it would be compiled from now.

Enters: a ``Journal``.  Leaves: ``Guards``: each name that the functions read, with the object that it meant; a call
compares by identity what is compiled in (functions, classes, modules), by type and classes what is read again at each
call (numbers, arrays, objects).  They are flat tuples, because every call of every derivative walks them.
"""

from __future__ import annotations

import builtins
import sys
from abc import ABCMeta, get_cache_token
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.frontend.held import ABSENT, is_descriptor, is_generated
from srcgrad.frontend.kind_tests import Spelling, same_kind
from srcgrad.runtime.objects import LIBRARIES, is_object, is_users, package_of

if TYPE_CHECKING:
    from srcgrad.frontend.journal import Journal, Names

_HEAP_TYPE = 1 << 9
#: Attributes of objects of the standard library and of NumPy that say what they do, and may be set.
HOLDING: dict[type, tuple[str, ...]] = {
    partial: ("func", "args", "keywords"), cached_property: ("func", "attrname"), defaultdict: ("default_factory",),
    np.vectorize: ("pyfunc", "otypes", "signature", "excluded", "cache"),
}  # fmt: skip
#: Types of values that are no functions and hold no objects: the type alone has to be the same.
_SCALARS = frozenset({float, int, bool, complex, str, bytes, type(None), np.float64})

Named = tuple[Mapping[str, object], str, object]
Data = tuple[Callable[[], object], type, Callable[[Any], object] | None, object]


@dataclass(frozen=True)
class Guards:
    """``names``: namespace, name, and the very object, ``ABSENT`` where there was none; ``codes`` and ``defaults`` of
    the functions that were read; ``cells`` of closures; ``bases`` and number of attributes of classes; ``held``:
    attributes of objects of the standard library; ``data``: what reads a value, its type, and what describes the value,
    with the description.

    Not compared, since they stay as they are in one process: ``texts`` of the files of functions, as digests, and
    ``fixed``, what modules of libraries hold under names that were read, and which modules were not there."""

    names: tuple[Named, ...] = ()
    codes: tuple[tuple[FunctionType, CodeType], ...] = ()
    defaults: tuple[tuple[FunctionType, object, object], ...] = ()
    cells: tuple[tuple[CellType, object], ...] = ()
    bases: tuple[tuple[type, tuple[type, ...]], ...] = ()
    sizes: tuple[tuple[Mapping[str, object], int], ...] = ()
    held: tuple[tuple[object, str, object], ...] = ()
    data: tuple[Data, ...] = ()
    texts: tuple[tuple[FunctionType, str | None], ...] = ()
    fixed: tuple[Named, ...] = ()

    def check(self) -> Callable[[], bool]:
        """A function that returns whether everything is what it was: one expression, a third of the cost of a loop."""
        text = Spelling()
        spell = text.of
        tests = [
            f"{name!r} not in {spell(space)}" if value is ABSENT else f"{spell(space)}[{name!r}] is {spell(value)}"
            for space, name, value in self.names
        ]
        tests += [f"{spell(function)}.__code__ is {spell(code)}" for function, code in self.codes]
        for function, positional, keywords in self.defaults:
            tests.append(f"{spell(function)}.__defaults__ is {spell(positional)}")
            tests.append(f"{spell(function)}.__kwdefaults__ is {spell(keywords)}")
        tests += [f"{spell(cell)}.cell_contents is {spell(value)}" for cell, value in self.cells if value is not ABSENT]
        tests += [f"{spell(kind)}.__mro__ is {spell(order)}" for kind, order in self.bases]
        tests += [f"len({spell(held)}) == {size}" for held, size in self.sizes]
        tests += [f"{spell(holder)}.{name} is {spell(value)}" for holder, name, value in self.held]
        tests += [_test_of_data(one, text) for one in self.data]
        made: Callable[[], bool] = text.function(_CHECK.format("\n            and ".join(["True", *tests])))
        return made


def _test_of_data(data: Data, text: Spelling) -> str:
    """Whether a value is what it was described as: most are of the very kind, which is seen at a glance."""
    read, kind, describe, described = data
    spelled = _spelled(read, text)
    if describe is None:
        return f"type({spelled}) is {text.of(kind)}"
    whole = f"type(value := {spelled}) is {text.of(kind)} and {text.of(describe)}(value) == {text.of(described)}"
    value = read()
    if describe is itself or type(value) is not kind or describe(value) != described:
        return whole
    tests = same_kind(value, spelled, text)
    return f"({' and '.join(tests)} or {whole})" if tests else whole


def _spelled(read: Callable[[], object], text: Spelling) -> str:
    """The text of a read, without a call where it reads a cell, a namespace or one object."""
    match read:
        case partial(func=function, args=(cell,)) if function is content:
            return f"{text.of(cell)}.cell_contents"
        case partial(func=function, args=(value,)) if function is itself:
            return text.of(value)
        case partial(func=BuiltinFunctionType(__self__=dict() as namespace, __name__="get"), args=(name, _)):
            if name in namespace:  # else it is absent at present, and was
                return f"{text.of(namespace)}[{name!r}]"
    return f"{text.of(read)}()"


_CHECK = """
def made():
    try:
        return (
            {}
        )
    except (AttributeError, KeyError, ValueError):
        return False
"""


def guards_of(journal: Journal) -> Guards:
    """The guards of a program that was compiled while ``journal`` was written."""
    made = _Guards(journal.describe)
    made.texts = journal.texts
    for function, names in journal.functions.items():
        made.function(function, names)
    for kind in list(journal.classes.values()):  # what is looked into from here on is what the guards hold
        made.kind(kind)
    for namespace, name in journal.compiled_in.values():
        made.same(namespace, name, namespace.get(name, ABSENT))
    for namespace, name in journal.reads.values():
        made.name(namespace, name, {})
    return made.guards()


class _Guards:
    """Guards while they are collected, each once."""

    def __init__(self, describe: Callable[[Any], object]) -> None:
        self.describe = describe
        self.names: dict[tuple[int, str], Named] = {}
        self.codes: dict[FunctionType, CodeType] = {}
        self.defaults: dict[FunctionType, tuple[object, object]] = {}
        self.cells: dict[int, tuple[CellType, object]] = {}
        self.kinds: dict[int, tuple[type, tuple[type, ...]]] = {}
        self.sizes: dict[int, tuple[Mapping[str, object], int]] = {}
        self.held: dict[tuple[int, str], tuple[object, str, object]] = {}
        self.data: dict[object, Data] = {}
        self.texts: dict[FunctionType, str | None] = {}
        self.fixed: dict[tuple[int, str], Named] = {}
        self.inner: dict[int, Guards] = {}

    def function(self, function: FunctionType, names: Names) -> None:
        if isinstance(inner := function.__globals__.get("__srcgrad_guards__"), Guards):
            self.inner[id(inner)] = inner  # a derivative that is differentiated: what it was compiled from counts
            return
        self.codes[function] = function.__code__
        if function.__defaults__ or function.__kwdefaults__:
            self.defaults[function] = function.__defaults__, function.__kwdefaults__
        for j, value in enumerate(function.__defaults__ or ()):
            self.value((function, j), partial(itself, value), value)
        keywords: dict[str, Any] = function.__kwdefaults__ or {}
        for name, value in keywords.items():
            self.same(keywords, name, value)
        read = frozenset(_read_by(function.__code__))
        modules: dict[ModuleType, None] = {}
        for cell in function.__closure__ or ():
            value = content(cell)
            if is_compiled_in(value):
                self.cells[id(cell)] = cell, value
                self.reached(value, modules)
            else:
                self.value(id(cell), partial(content, cell), value)
        for name in sorted(names.variables & read):
            self.name(function.__globals__, name, modules)
        for name, level in sorted(names.modules):
            self.module(name, level, function, modules)
        for module in (pending := list(modules)):  # it grows
            for name in sorted(names.attributes):
                if name in vars(module):
                    self.attribute(module, name, modules)
                elif "__getattr__" in vars(module) and is_users(module):
                    self.same(vars(module), name, ABSENT)
            pending += [inner for inner in modules if inner not in pending]

    def name(self, namespace: Mapping[str, object], name: str, modules: dict[ModuleType, None]) -> None:
        value = namespace.get(name, ABSENT)
        if value is ABSENT:
            self.same(namespace, name, ABSENT)
            if hasattr(builtins, name):
                self.same(vars(builtins), name, getattr(builtins, name))
        elif is_compiled_in(value):
            self.same(namespace, name, value)
            self.reached(value, modules)
        else:
            self.value((id(namespace), name), partial(namespace.get, name, ABSENT), value)

    def attribute(self, module: ModuleType, name: str, modules: dict[ModuleType, None]) -> None:
        value = vars(module)[name]
        if is_compiled_in(value):
            self.same(vars(module), name, value)
            self.reached(value, modules)
        elif is_users(module):
            self.value((id(vars(module)), name), partial(vars(module).get, name, ABSENT), value)
        else:
            self.fixed[id(vars(module)), name] = vars(module), name, value

    def module(self, name: str, level: int, function: FunctionType, modules: dict[ModuleType, None]) -> None:
        import importlib.util

        package = function.__globals__.get("__package__") or ""
        try:
            whole = importlib.util.resolve_name("." * level + name, str(package))
        except ImportError:
            return
        parts = whole.split(".")
        for end in range(1, len(parts) + 1):
            module = sys.modules.get(".".join(parts[:end]))
            if module is not None:
                self.same(sys.modules, ".".join(parts[:end]), module)
                self.reached(module, modules)
            else:
                self.fixed[id(sys.modules), ".".join(parts[:end])] = sys.modules, ".".join(parts[:end]), ABSENT

    def reached(self, value: object, modules: dict[ModuleType, None]) -> None:
        self.holder(value)
        if isinstance(value, ModuleType):
            modules.setdefault(value)
        elif isinstance(value, type):
            self.kind(value)
            self.registered(value)
        elif isinstance(value, partial):
            self.sizes[id(value.keywords)] = value.keywords, len(value.keywords)
            for name, given in value.keywords.items():
                self.same(value.keywords, name, given)
            for given in (*value.args, *value.keywords.values()):
                self.value(id(given), partial(itself, given), given)
        elif (function := derived_from(value)) is not None:
            self.value((id(value), "derived"), partial(derived_from, value), function)
        elif isinstance(value, MethodType):
            self.value(id(value), partial(itself, value.__self__), value.__self__)

    def kind(self, kind: type) -> None:
        """What the classes of an object hold: methods, properties, and whether there is a name more or less."""
        if id(kind) in self.kinds or not _may_change(kind):
            return
        self.kinds[id(kind)] = kind, kind.__mro__
        metaclass: type = type(kind)
        for base in (*kind.__mro__, *metaclass.__mro__):
            if id(base) in self.sizes or not _may_change(base):
                continue
            held = vars(base)
            self.sizes[id(base)] = held, len(held)
            for name, value in held.items():
                if is_generated(function := getattr(value, "__func__", value)):  # no text of it is read
                    self.defaults[function] = function.__defaults__, function.__kwdefaults__
                self.holder(value)
                is_special = name.startswith("__")  # such as ``__match_args__``, names of fields
                if is_compiled_in(value) or is_descriptor(value) or value is None or is_special:
                    self.same(held, name, value, base)
                else:
                    self.value((id(base), name), partial(held.get, name, ABSENT), value)

    def holder(self, value: object) -> None:
        """What an object of the standard library calls, which may be set."""
        for name in HOLDING.get(type(value), ()):
            self.held[id(value), name] = value, name, getattr(value, name)

    def same(self, namespace: Mapping[str, object], name: str, value: object, owner: object = None) -> None:
        self.names[id(namespace if owner is None else owner), name] = namespace, name, value

    def registered(self, value: object) -> None:
        """Of an abstract class any class may be made a subclass, by ``register``."""
        if any(isinstance(each, ABCMeta) for each in (value if isinstance(value, tuple) else (value,))):
            self.data[get_cache_token] = get_cache_token, int, itself, get_cache_token()

    def value(self, key: object, read: Callable[[], object], value: object) -> None:
        kind: Any = type(value)
        self.registered(value)
        describe = None if kind in _SCALARS else self.describe
        self.data[key] = read, kind, describe, None if describe is None else describe(value)

    def guards(self) -> Guards:
        own = Guards(
            tuple(self.names.values()),
            tuple(self.codes.items()),
            tuple((function, *values) for function, values in self.defaults.items()),
            tuple(self.cells.values()),
            tuple(self.kinds.values()),
            tuple(self.sizes.values()),
            tuple(self.held.values()),
            tuple(self.data.values()),
            tuple((f, text) for f, text in self.texts.items() if f in self.codes),
            tuple(self.fixed.values()),
        )
        return _joined([own, *self.inner.values()]) if self.inner else own


def _joined(parts: list[Guards]) -> Guards:
    """The guards of several programs, each once: derivatives of derivatives share most of them."""
    return Guards(**{name: _each_once(getattr(part, name) for part in parts) for name in Guards.__dataclass_fields__})


def _each_once(groups: Iterable[tuple[tuple[Any, ...], ...]]) -> tuple[Any, ...]:
    found = {tuple(each if isinstance(each, str) else id(each) for each in one): one for many in groups for one in many}
    return tuple(found.values())


def is_compiled_in(value: object) -> bool:
    """Whether a program holds the very object that a name means: functions, classes and modules."""
    return isinstance(value, ModuleType) or callable(value) and not is_object(value)


def _may_change(kind: type) -> bool:
    """Whether the attributes of a class may be set; what libraries define stays as it is."""
    is_known = isinstance(kind.__module__, str)  # of extension types it may be a descriptor
    return bool(kind.__flags__ & _HEAP_TYPE) and is_known and package_of(kind) not in LIBRARIES


def _read_by(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _read_by(constant)


def derived_from(value: object) -> object:
    """The function that a derivative of srcgrad's is of at present; None of anything else."""
    tell = getattr(type(value), "__srcgrad_derived__", None)
    told = None if tell is None else tell(value)
    return None if told is None else told[1]


def content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return ABSENT


def itself(value: object) -> object:
    return value
