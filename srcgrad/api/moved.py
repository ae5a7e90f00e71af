"""Programs of functions that are made again and again: a lambda in a loop, a function inside of another.

Enters: the program of one function, and another function of the same code.  Leaves: the program of the latter, if all
that the program was compiled from is there what it was: each variable, function and cell of the one is renamed to that
of the other, and the guards of the program are checked for the renamed ones.  What a program reads at each call,
numbers and arrays in closures, may be other ones; what is compiled in may not, but for functions that are of one code
again.

What is kept of the first function is its shape: functions and cells that hold nothing (``Template``).  So no data are
kept that it had captured.

>>> def made(k):
...     return lambda x: k * x
>>> moving = Moving()
>>> one, other = made(2.0), made(3.0)
>>> moving.function(one, other), moving.of(one.__closure__[0]) is other.__closure__[0]
(True, True)
"""

from __future__ import annotations

import gc
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import partial
from threading import Lock
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.api.kept import Slot, is_own_attribute
from srcgrad.emit.emission import Emission
from srcgrad.emit.load import load
from srcgrad.frontend.guards import Guards
from srcgrad.programs import Compiled
from srcgrad.runtime.binding import OfDefault
from srcgrad.syntax.bindings import GlobalBinding, OfCell, OfNamespace

if TYPE_CHECKING:
    from srcgrad.requests import Request

#: How many codes have templates, and how many each has for one kind of call: of other kinds of captured values.
CODES, OF_A_KIND = 256, 4
_MOST = 50_000  # objects that are looked at for references to the first function

_OF_ONE_FUNCTION = ("emission", "entry", "backward", "guards", "of")  # fields of programs
_CONSTANTS = (bool, int, float, complex, str, bytes, type(None))
_LIBRARIES = ("srcgrad", "numpy", "scipy", "builtins", "math", "operator", "functools", "itertools")


class Moving:
    """Which object of another function stands for each of one: functions, cells, and what functions hold."""

    def __init__(self) -> None:
        self._to: dict[int, Any] = {}
        self._from: dict[int, Any] = {}
        self._alive: list[Any] = []

    def of(self, value: Any) -> Any:
        return self._to.get(id(value), value)

    def holds(self, value: object) -> bool:
        return id(value) in self._to

    @property
    def moved(self) -> frozenset[int]:
        """What has another one in its place, by identity."""
        return frozenset(each for each, other in self._to.items() if each != id(other))

    def _pair(self, one: Any, other: Any) -> bool | None:
        """Whether the two may stand for each other; None where that has just been noted."""
        if id(one) in self._to or id(other) in self._from:
            return self.of(one) is other and self._from.get(id(other)) is one
        self._to[id(one)], self._from[id(other)] = other, one
        self._alive += [one, other]
        return None

    def function(self, one: FunctionType, other: FunctionType) -> bool:
        """Whether the other function is of the code of the one, and so are those that they captured."""
        if one is other:
            return self._pair(one, other) is not False
        if one.__code__ is not other.__code__ or one.__globals__ is not other.__globals__:
            return False
        if not (_is_plain(one) and _is_plain(other)) or _told(one) != _told(other):
            return False
        if (known := self._pair(one, other)) is not None:
            return known
        defaults = one.__defaults__ or (), other.__defaults__ or ()
        if len(defaults[0]) != len(defaults[1]) or not all(map(_is_equal, *defaults)):
            return False
        if self._pair(vars(one), vars(other)) is False:
            return False
        return all(map(self._cell, one.__closure__ or (), other.__closure__ or ()))

    def _cell(self, one: CellType, other: CellType) -> bool:
        if (known := self._pair(one, other)) is not None:
            return known
        held, new = _content(one), _content(other)
        if isinstance(held, FunctionType) and isinstance(new, FunctionType):
            return self.function(held, new)
        return True  # guards tell

    def guards(self, guards: Guards) -> Guards:
        """What the program of the other function was compiled from."""
        own = {id(f): (f.__defaults__, f.__kwdefaults__) for f in self._from_functions()}
        return replace(
            guards,
            names=tuple((self.of(space), name, self.of(value)) for space, name, value in guards.names),
            codes=tuple((self.of(function), code) for function, code in guards.codes),
            defaults=tuple((self.of(f), *own.get(id(self.of(f)), held)) for f, *held in guards.defaults),
            cells=tuple((self.of(cell), self.of(value)) for cell, value in guards.cells),
            texts=tuple((self.of(function), text) for function, text in guards.texts),
            data=tuple((self.read(read), kind, how, told) for read, kind, how, told in guards.data),
        )

    def _from_functions(self) -> list[FunctionType]:
        return [value for value in self._to.values() if isinstance(value, FunctionType)]

    def read(self, read: Callable[[], object]) -> Callable[[], object]:
        """What reads a value of the other function where ``read`` reads one of the first."""
        match read:
            case OfCell(cell=cell, name=name):
                return OfCell(self.of(cell), name)
            case OfDefault(function=function, name=name):
                return OfDefault(self.of(function), name)
            case partial(func=function, args=arguments, keywords=keywords) if not keywords:
                return partial(function, *map(self.of, arguments))
        return read


def _told(function: FunctionType) -> tuple[object, ...]:
    """What a function tells of itself, which may be read."""
    return function.__name__, function.__qualname__, function.__module__, function.__doc__


def _is_plain(function: FunctionType) -> bool:
    """Whether a function has nothing of its own but its code, its defaults and what it captured."""
    table = sys.modules.get("srcgrad.rules.table")  # else no rule has been given
    has_rule = table is not None and (table.lookup(function) or table.is_constant(function) or table.refusal(function))
    return not has_rule and not function.__kwdefaults__ and all(map(is_own_attribute, vars(function)))


def _is_equal(one: object, other: object) -> bool:
    """Whether two defaults are one and the same constant."""
    return one is other or type(one) is type(other) and type(one) in _CONSTANTS and repr(one) == repr(other)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


# --- what is kept ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Template:
    """A program of a function that holds no data: ``skeleton``, of the code of the first one."""

    skeleton: FunctionType
    emission: Emission
    guards: Guards
    entry: str
    backward: str | None
    filename: str
    told: dict[str, Any]  # the other fields of the program

    def attached(self, function: FunctionType, request: Callable[[], Request]) -> Compiled | None:
        """The program of another function of the same code; None where it would be compiled to another text."""
        from srcgrad.emit.printer import with_constants

        moving = Moving()
        if not moving.function(self.skeleton, function):
            return None
        guards = moving.guards(self.guards)
        if not guards.check()():
            return None
        emission = with_constants(self.emission, _bindings(self.emission, moving))
        if emission is None:
            return None
        entry = load(emission, self.entry, guards=guards, filename=self.filename)
        second = None if self.backward is None else entry.__globals__[self.backward]
        made = request()
        own: dict[str, Any] = {"emission": emission, "entry": entry, "backward": second, "guards": guards}
        return Compiled(**own, **self.told, of=lambda: made)


def _bindings(emission: Emission, moving: Moving) -> tuple[tuple[str, GlobalBinding], ...]:
    made = []
    for name, binding in emission.bindings:
        if binding.cell is None:
            made.append((name, replace(binding, value=moving.of(binding.value))))
        else:
            read = moving.read(binding.cell)
            made.append((name, replace(binding, value=read(), cell=read)))
    return tuple(made)


def template_of(function: FunctionType, compiled: Compiled) -> Template | None:
    """What can be kept of the program of a function; None where something in it may be this very function's."""
    skeletons: dict[int, FunctionType] = {}
    cells: dict[int, CellType] = {}

    def bare(whole: FunctionType) -> FunctionType:
        if id(whole) not in skeletons:
            closure = tuple(cells.setdefault(id(cell), CellType()) for cell in whole.__closure__ or ())
            made = FunctionType(whole.__code__, whole.__globals__, whole.__name__, whole.__defaults__, closure)
            made.__qualname__, made.__module__, made.__doc__ = whole.__qualname__, whole.__module__, whole.__doc__
            skeletons[id(whole)] = made
            for cell, empty in zip(whole.__closure__ or (), closure, strict=True):
                if isinstance(held := _content(cell), FunctionType):
                    empty.cell_contents = bare(held) if _is_made_per_call(held) else held
        return skeletons[id(whole)]

    def constant(whole: FunctionType) -> bool:
        return all(type(held) in _CONSTANTS for held in whole.__defaults__ or ())

    moving, skeleton = Moving(), bare(function)
    if not moving.function(function, skeleton) or not all(map(constant, skeletons.values())):
        return None
    readers = [binding.cell for _, binding in compiled.emission.bindings if binding.cell is not None]
    fixed = [binding.value for _, binding in compiled.emission.bindings if binding.cell is None]
    if not all(map(_is_read_again, readers)) or not all(moving.holds(v) or _is_of_library(v) for v in fixed):
        return None
    guards = moving.guards(compiled.guards)
    bindings = tuple(
        (name, replace(b, value=moving.of(b.value)) if b.cell is None else replace(b, cell=moving.read(b.cell)))
        for name, b in compiled.emission.bindings
    )
    emission = replace(compiled.emission, bindings=tuple(
        (name, b if b.cell is None else replace(b, value=type(b.value))) for name, b in bindings
    ))  # fmt: skip
    told = {f.name: getattr(compiled, f.name) for f in fields(compiled) if f.name not in _OF_ONE_FUNCTION}
    if _leads_to([guards, [(b.cell, b.value) for _, b in emission.bindings], told], moving.moved):
        return None
    entry, backward = compiled.entry, compiled.backward
    names = entry.__name__, None if backward is None else backward.__name__, entry.__code__.co_filename
    return Template(skeleton, emission, guards, *names, told)


def _is_made_per_call(function: FunctionType) -> bool:
    return bool(function.__closure__) or "<" in function.__qualname__


def _is_read_again(read: Callable[[], object]) -> bool:
    """Whether it is seen what a reader reads."""
    return isinstance(read, OfCell | OfNamespace | OfDefault) or isinstance(read, partial) and not read.keywords


def _is_of_library(value: object) -> bool:
    """Whether an object that a text names is the same for all functions of one code."""
    if isinstance(value, ModuleType | BuiltinFunctionType | np.ufunc | np.dtype) or type(value) in _CONSTANTS:
        return True
    home = getattr(value, "__module__", None)
    is_fixed = isinstance(value, FunctionType | type) or type(value).__module__ == "numpy"
    return is_fixed and isinstance(home, str) and home.partition(".")[0] in _LIBRARIES


def _leads_to(values: Iterable[object], moved: frozenset[int]) -> bool:
    """Whether something refers to what has another one in its place; also where too much would have to be looked at.

    Modules and their namespaces are looked up by name, which guards tell of; so are classes."""
    pending: list[Any] = list(values)
    seen: dict[int, Any] = {}
    while pending:
        value = pending.pop()
        if id(value) in moved or len(seen) > _MOST:
            return True
        if id(value) in seen or isinstance(value, ModuleType | type | CodeType):
            continue
        seen[id(value)] = value
        if isinstance(value, FunctionType):
            pending += [value.__closure__, value.__defaults__, value.__kwdefaults__]
        elif not (isinstance(value, dict) and "__name__" in value and "__builtins__" in value):
            pending += gc.get_referents(value)
    return False


_templates: OrderedDict[tuple[CodeType, Slot], list[Template]] = OrderedDict()
_changing = Lock()


def moved(function: object, asked: Slot, request: Callable[[], Request]) -> Compiled | None:
    """The program of a function, from that of one of the same code; ``asked`` is what it is compiled for."""
    if not isinstance(function, FunctionType) or not _is_made_per_call(function):
        return None
    key = function.__code__, asked
    with _changing:
        templates = _templates.get(key, [])
        if templates:
            _templates.move_to_end(key)
    attached = (template.attached(function, request) for template in templates)
    return next((made for made in attached if made is not None), None)


def patterns_kept(function: object, asked: object) -> set[tuple[int, ...]]:
    """The patterns of sizes for which there are programs of functions of this code; ``asked`` is all else."""
    if not isinstance(function, FunctionType):
        return set()
    with _changing:
        return {slot[1] for code, slot in _templates if code is function.__code__ and slot[0] == asked}


def keep_template(function: object, asked: Slot, compiled: Compiled) -> None:
    """Keep what the program of a function has for others of its code."""
    if not isinstance(function, FunctionType) or not _is_made_per_call(function):
        return
    if (made := template_of(function, compiled)) is None:
        return
    key = function.__code__, asked
    with _changing:
        _templates[key] = [made, *_templates.get(key, [])[: OF_A_KIND - 1]]
        _templates.move_to_end(key)
        while len(_templates) > CODES:
            _templates.popitem(last=False)
