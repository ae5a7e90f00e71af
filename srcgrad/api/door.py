"""A door: the way of a call whose arguments are of the kinds of an earlier one, written for these kinds.

Enters: a derivative, and the program that it ran for some arguments.  Leaves: a function with the parameters of the
derivative.  It looks at all that decides whether that program is the right one: options, rules, the code and the
defaults of the function, the kinds and the equal sizes of the arguments, what the program was compiled from.  Then it
runs it, and hands out what fits as it is.  Where anything differs it runs nothing and returns ``ELSEWHERE``: the long
way decides.

What the long way checks by kinds alone, whether they have a derivative and are computed with as the rules say, was
checked for the program.  What depends on values (a default that is compiled in) is checked here again.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np

from srcgrad.api.arguments import is_static
from srcgrad.api.sizes import pattern_of
from srcgrad.rules import edition
from srcgrad.runtime.isolation import shared_outside
from srcgrad.runtime.objects import fields_of, has_fields, made, mirrored, slots_of
from srcgrad.runtime.reaching import leads_nowhere

if TYPE_CHECKING:
    from srcgrad.api.derivative import Derivative
    from srcgrad.frontend.kind_tests import Spelling
    from srcgrad.programs import Compiled

#: What a door returns that the call does not go through.
ELSEWHERE = object()
#: Classes of arguments that are not copied.
_UNCOPIED = (
    bool, int, float, complex, str, bytes, np.generic, np.ufunc, FunctionType, BuiltinFunctionType, ModuleType, Enum,
    type,
)  # fmt: skip
#: How many kinds of arguments, met in turn, have a door.
MOST = 4
#: Items of a container that are looked at one by one where a result is handed out as it is.
_MOST_FITTED = 100
_NUMBERS = frozenset({float, int, bool, complex, np.float64})
#: The names of Python's own that a door reads, beside those that begin with two underscores.
_USED = (
    "all", "id", "isinstance", "len", "map", "set", "type", "Exception", "AttributeError", "KeyError", "ValueError",
)  # fmt: skip

Door = Callable[..., Any]


class Doors:
    """The doors of a derivative, which each call tries in turn: few are ``open``."""

    def __init__(self) -> None:
        self.open: tuple[Door, ...] = ()
        self._met: WeakSet[Compiled] = WeakSet()  # programs that have run
        self._made: dict[Compiled, Door | None] = {}  # of those that ran again

    def note(self, derivative: Derivative, compiled: Compiled, values: tuple[Any, ...]) -> None:
        """A program runs the long way, for these values: a door is made when it does so again, and once."""
        if compiled in self._made or compiled in derivative.holding or derivative.called is not None:
            return
        if compiled not in self._met:
            self._met.add(compiled)
            return
        self._made = {one: made for one, made in self._made.items() if one.is_current()}
        if len(self._made) < MOST:
            self._made[compiled] = door_for(derivative, compiled, values)
            self.open = tuple(made for made in self._made.values() if made is not None)

    def through(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """What a door gives, or ``ELSEWHERE``."""
        for door in self.open:
            try:
                outcome = door(*args, **kwargs)
            except TypeError as failure:
                traceback = failure.__traceback__
                if traceback is not None and traceback.tb_next is not None:
                    raise
                return ELSEWHERE  # what it is called with does not bind: the long way says so
            if outcome is not ELSEWHERE:
                return outcome
        return ELSEWHERE


def door_for(derivative: Derivative, compiled: Compiled, values: tuple[Any, ...]) -> Door | None:
    """The door for arguments of the kinds of ``values``, one per parameter; None where the long way is needed."""
    from srcgrad.frontend.kind_tests import Spelling

    if not isinstance(derivative.primal, FunctionType) or derivative.parameters.behind:
        return None
    parameters = list(derivative.parameters.signature.parameters.values())
    if derivative.parameters.first and parameters[0].kind is inspect.Parameter.VAR_POSITIONAL:
        return None
    if any(name in _USED or name.startswith("__") for name in derivative.parameters.names):
        return None
    text = Spelling()
    tests = _tests(derivative, compiled, values, text)
    if tests is None:
        return None
    function: Any = derivative.primal
    names = zip(_read(derivative), values, strict=True)
    taken = "".join(f"{name}, " for name, value in names if not is_static(value))
    if derivative.mode == "split":
        own = _Copies(text, is_stored_into=compiled.changes_saved)
        run = own.of_all(_read(derivative), values)
        if run is None:
            return None
        tests += own.tests()
        if compiled.changes_saved and compiled.reads_outside:  # what is stored into may be seen outside
            read = ", ".join(_read(derivative))
            tests.append(f"not {text.of(shared_outside)}(({read},), {text.of(compiled)}.globals)")
        hand_out = _pullback(derivative, compiled, values, text)
    else:
        run, hand_out = [], _handed_out(derivative, compiled, values, text)
    text.objects |= {
        "__derivative": derivative, "__compiled": compiled, "__entry": compiled.entry, "__elsewhere": ELSEWHERE,
        "__namespace": compiled.entry.__globals__, "__holders": sys.getrefcount,
    }  # fmt: skip
    lines = [
        f"def made({_header(derivative)}):",
        "    try:",
        f"        if not ({' and '.join(tests)}):",
        "            return __elsewhere",
        *(f"        {line}" for line in _refreshed(compiled, text)),
        "    except (AttributeError, KeyError, ValueError):",  # what is looked at is not there
        "        return __elsewhere",
        *(f"    {line}" for line in run),
        "    __derivative.ran = __compiled",
        "    try:",
        f"        __outcome = __entry({taken})",
        "    except Exception as __failure:",
        f"        __derivative.failed(__failure, __entry, ({taken}))",
        "        raise",
        *(f"    {line}" for line in hand_out),
    ]
    made: FunctionType = text.function("\n".join(lines) + "\n")
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return made


def _header(derivative: Derivative) -> str:
    """The parameters of a call, those of the derivative's function, whose defaults are put in later."""
    parameters = list(derivative.parameters.signature.parameters.values())[len(derivative.parameters.first) :]
    spelled = list[str]()
    before: Any = inspect.Parameter.POSITIONAL_ONLY
    for each in parameters:
        if before is each.POSITIONAL_ONLY and each.kind is not before and spelled:
            spelled.append("/")
        if each.kind is each.KEYWORD_ONLY and before < each.VAR_POSITIONAL:
            spelled.append("*")
        stars = "*" * (1 if each.kind is each.VAR_POSITIONAL else 2 if each.kind is each.VAR_KEYWORD else 0)
        spelled.append(f"{stars}{each.name}{'' if each.default is each.empty else '=None'}")
        before = each.kind
    return ", ".join([*spelled, *(["/"] if spelled and before is inspect.Parameter.POSITIONAL_ONLY else [])])


def _read(derivative: Derivative) -> list[str]:
    """How the text reads the value of each parameter; the object of a bound method is no parameter of a call."""
    own = len(derivative.parameters.first)
    return ["__receiver" if place < own else name for place, name in enumerate(derivative.parameters.names)]


def _tests(
    derivative: Derivative, compiled: Compiled, values: tuple[Any, ...], text: Spelling
) -> list[str] | None:  # fmt: skip
    from srcgrad.frontend.kind_tests import Arrays, same_kind, same_pattern
    from srcgrad.programs import present_options

    function: Any = derivative.primal
    named = text.of(function)
    tests = [
        f"{text.of(present_options)}() is {text.of(present_options())}",
        f"{text.of(edition.edition)}() == {edition.edition()}",
        f"{named}.__code__ is {text.of(function.__code__)}",
        f"{named}.__defaults__ is {text.of(function.__defaults__)}",
        f"{named}.__kwdefaults__ is {text.of(function.__kwdefaults__)}",
    ]
    for receiver in derivative.parameters.first:
        text.objects["__receiver"] = receiver
    parameters = derivative.parameters.signature.parameters.values()
    arrays: Arrays = []
    for read, value, parameter in zip(_read(derivative), values, parameters, strict=True):
        of_kind = same_kind(value, read, text, arrays)
        if of_kind is None:
            return None
        tests += of_kind
        default = parameter.default
        if type(value) in (bool, int) and type(default) is type(value):  # ``Parameters.constants``
            tests.append(f"({read} == {default!r}) is {value == default}")
    if compiled.pattern:
        if pattern_of(values) != compiled.pattern:
            return None
        tests += same_pattern(arrays, text)
    return [*tests, f"{text.of(compiled.is_current)}()"]


def _refreshed(compiled: Compiled, text: Spelling) -> Iterator[str]:
    """What ``Compiled.refresh`` does."""
    from srcgrad.syntax.bindings import OfCell, OfNamespace

    for name, binding in compiled.emission.bindings:
        match binding.cell:
            case None:
                continue
            case OfCell(cell=cell):
                read = f"{text.of(cell)}.cell_contents"
            case OfNamespace(namespace=namespace, name=variable):
                read = f"{text.of(namespace)}[{variable!r}]"
            case other:
                read = f"{text.of(other)}()"
        yield f"__namespace[{name!r}] = {read}"


# --- pullbacks -------------------------------------------------------------------------------------------------------
class _Copies:
    """How the arguments are copied that a pullback keeps, where each array is a block of memory of its own, as in
    ``kept_apart``, and may be written, and no container is met twice."""

    def __init__(self, text: Spelling, *, is_stored_into: bool) -> None:
        self._text = text
        self._is_stored_into = is_stored_into  # then what functions among the arguments read is looked at
        self._alone: list[str] = []  # tests of arrays
        self._identities: list[str] = []

    def of_all(self, names: list[str], values: tuple[Any, ...]) -> list[str] | None:
        """Statements that bind the copies; None where they are made otherwise."""
        statements = []
        for name, value in zip(names, values, strict=True):
            copied = self._of(value, name)
            if copied is None:
                return None
            if copied != name:
                statements.append(f"{name} = {copied}")
        return statements

    def _of(self, value: Any, read: str) -> str | None:
        kind: Any = type(value)
        if value is None or isinstance(value, _UNCOPIED):
            return read if leads_nowhere(value) or not self._is_stored_into else None
        if kind is np.ndarray:
            array = self._text.of(np.ndarray)
            is_owner = f"{read}.base is None or type({read}.base) is {array} and {read}.base.base is None"
            self._alone.append(f"{read}.flags.forc and {read}.flags.behaved and ({is_owner})")
            self._identities.append(f"id({read} if {read}.base is None else {read}.base)")
            return f"{read}.copy('K')"
        if has_fields(kind) and not slots_of(kind):
            inside = f"{self._text.of(object.__getattribute__)}({read}, '__dict__')"
            fields = self._of(fields_of(value), inside)
            return None if fields is None else f"{self._text.of(made)}({self._text.of(kind)}, {fields})"
        if kind not in (list, tuple, dict):
            return None
        if kind is not tuple:  # of an object, its dict
            self._identities.append(f"id({read})")
        if all(type(i) in _NUMBERS for i in (value.values() if kind is dict else value)):
            return read if kind is tuple else f"{read}.copy()"  # there may be many
        held: dict[Any, Any] = value if kind is dict else dict(enumerate(value))
        parts: dict[Any, str | None] = {key: self._of(item, f"{read}[{key!r}]") for key, item in held.items()}
        if all(copied == f"{read}[{key!r}]" for key, copied in parts.items()):
            return read if kind is tuple else f"{read}.copy()"
        if None in parts.values() or not all(type(key) in (str, int) for key in parts):
            return None
        if kind is dict:
            return f"{{{', '.join(f'{key!r}: {copied}' for key, copied in parts.items())}}}"
        spelled = ", ".join(str(copied) for copied in parts.values())
        return f"[{spelled}]" if kind is list else f"({spelled},)"

    def tests(self) -> list[str]:
        apart = f"len({{{', '.join(self._identities)}}}) == {len(self._identities)}"
        return [*self._alone, *([apart] if len(self._identities) > 1 else [])]


def _pullback(derivative: Derivative, compiled: Compiled, values: tuple[Any, ...], text: Spelling) -> Iterator[str]:
    """The value, and the pullback with a function that runs its backward half for a seed that fits as it is."""
    from srcgrad.api.transforms import Pullback
    from srcgrad.frontend.kind_tests import Spelling

    read = ", ".join(_read(derivative))
    inner = Spelling()
    inner.objects |= {"__derivative": derivative, "__backward": compiled.backward, "__holders": sys.getrefcount}
    lines = [
        f"def made(__saved, __seed, {read}):",
        "    try:",
        "        __outcome = __backward(__saved, __seed)",
        "    except Exception as __failure:",
        "        __derivative.failed(__failure, __backward, (__saved, __seed))",
        "        raise",
        *(f"    {line}" for line in _handed_out(derivative, compiled, values, inner)),
    ]
    pull = inner.function("\n".join(lines) + "\n")
    yield f"return {text.of(Pullback.of_door)}(__derivative, __compiled, ({read},), __outcome, {text.of(pull)})"


# --- what is handed out ----------------------------------------------------------------------------------------------
def _handed_out(derivative: Derivative, compiled: Compiled, values: tuple[Any, ...], text: Spelling) -> Iterator[str]:
    """The result is handed out as it is where it is seen to fit, and nothing else refers to its arrays."""
    results, names = derivative.results, derivative.parameters.names
    value = ""
    shared = str(compiled.reads_arrays or derivative.mode == "split")
    if derivative.mode == "value":
        yield "__value, __outcome = __outcome"
        yield f"if not isinstance(__value, {text.of(float)}):"
        yield "    __derivative.require_scalar(__value, __compiled)"
        value = "__value, "
        shared = f"{shared} or isinstance(__value, {text.of(np.ndarray)})"
    places = [names.index(name) for name, _ in results.chosen]
    read = _read(derivative)
    fits, tests = list[str](), list[str]()
    if results.is_plain:
        if results.tupled:
            tests += [f"type(__outcome) is {text.of(tuple)}", f"len(__outcome) == {len(places)}"]
            tests += [f"__holders(__outcome) == {_BOUND}"]
        parts = [f"__outcome[{k}]" if results.tupled else "__outcome" for k in range(len(places))]
        for place, part in zip(places, parts, strict=True):
            fits += _fit(values[place], read[place], part, tests, text)
    if fits and len(fits) == len(places):
        yield f"if {' and '.join(tests)}:"
        yield f"    return {value}{'(' + ', '.join(fits) + ',)' if results.tupled else fits[0]}"
    yield f"return {value}__derivative.fitted(__outcome, ({', '.join(read)},), shared={shared})"


def _fit(value: Any, read: str, raw: str, tests: list[str], text: Spelling) -> list[str]:
    """The cotangent of ``value`` that is given as ``raw``, as ``as_cotangent`` makes it; tests tell whether it fits,
    and nothing else refers to an array in it, or to a container that holds one.  None where that is not told so."""
    kind: Any = type(value)
    if kind is float or kind is np.float64:
        tests.append(f"type({raw}) in {text.of((float, np.float64))}")
        return [f"{text.of(kind)}({raw})"]
    if value is None or kind in (int, bool, str) or kind is np.ndarray and value.dtype.kind in "biu":
        return ["None"]  # inside of a container: alone they have been refused
    tests.append(f"__holders({raw}) == {_HELD if raw.endswith(']') else _BOUND}")
    if kind is np.ndarray and value.dtype.kind in "fc":
        tests += [f"type({raw}) is {text.of(np.ndarray)}", f"{raw}.dtype is {text.of(value.dtype)}"]
        tests += [f"{raw}.shape == {read}.shape", f"{raw}.base is None"]
        return [raw]
    if kind in (list, tuple, dict) and len(value) > _MOST_FITTED:
        return []
    if kind is list or kind is tuple:
        tests += [f"type({raw}) in {text.of((list, tuple))}", f"len({raw}) == {len(value)}"]
        parts = [p for j, v in enumerate(value) for p in _fit(v, f"{read}[{j}]", f"{raw}[{j}]", tests, text)]
        spelled = f"[{', '.join(parts)}]" if kind is list else f"({', '.join(parts)},)" if parts else "()"
        return [spelled] if len(parts) == len(value) else []
    if not has_fields(kind) if kind is not dict else not all(type(key) in (str, int) for key in value):
        return []
    held: dict[Any, Any] = value if kind is dict else fields_of(value)
    tests += [f"type({raw}) is {text.of(dict)}", f"{raw}.keys() == {text.of(frozenset(held))}"]
    parts = []
    inside = read if kind is dict else f"{text.of(object.__getattribute__)}({read}, '__dict__')"
    for key, item in held.items():
        parts += [f"{key!r}: {part}" for part in _fit(item, f"{inside}[{key!r}]", f"{raw}[{key!r}]", tests, text)]
    spelled = f"{{{', '.join(parts)}}}"
    if kind is not dict:
        spelled = f"{text.of(mirrored)}({read}, {spelled})"
    return [spelled] if len(parts) == len(held) else []


def _bound() -> int:
    made = np.empty(1)
    return sys.getrefcount(made)


def _held() -> int:
    made = (np.empty(1),)
    return sys.getrefcount(made[0])


#: The references to an array that one variable, or one container, refers to and nothing else, as they are counted.
_BOUND, _HELD = _bound(), _held()
