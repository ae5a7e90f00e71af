"""What a program stores into modules, classes and functions, and what gives an analysis up.

Enters: stores, as the analysis meets them.  Leaves: whether an attribute is still the one that was there before.  The
analysis starts again until nothing more is noted, so that what is read before a store knows of it.

>>> class Point: scale = 2.0
>>> assigned = Assigned()
>>> assigned.note(Point, "scale")
>>> assigned.may_be(Point, "scale"), assigned.may_be(Point, "shift"), assigned.is_open(Point)
(True, False, True)
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any

from srcgrad.frontend.classes import is_local
from srcgrad.infer.reasons import STORED, TOO_LONG, TOO_MANY, Place, Reason, reaching, replacing
from srcgrad.infer.unrolling import Again as Again
from srcgrad.infer.unrolling import Unrolled

#: Attributes that hand out what a program holds elsewhere: its frames, cells and namespaces, whole classes of objects.
REFLECTIVE = frozenset(
    "__globals__ __closure__ cell_contents f_locals f_globals f_back tb_frame gi_frame gi_yieldfrom cr_frame "
    "__builtins__ __subclasses__ __context__ __cause__ __traceback__".split()
)
#: Attributes by which an object becomes another one when they are stored to.
REPLACING = frozenset({"__class__", "__bases__", "__dict__"})
#: Attributes of arrays that say how their memory is read.
SHAPING = frozenset({"shape", "dtype", "strides"})
#: Functions that do the same.
_NAMES = frozenset(
    "locals globals exec eval breakpoint reload _getframe exc_info exception _current_frames settrace setprofile "
    "currentframe stack trace getclosurevars getinnerframes getouterframes".split()
)
_MODULES = frozenset("gc traceback ctypes _ctypes pdb code".split())
_PLAIN = frozenset("__doc__ __name__ __qualname__ __module__ __wrapped__ __signature__ __annotations__".split())


def is_reflective(function: Any) -> bool:
    """Whether a function of a library hands out, or changes, what its arguments do not reach."""
    home, name = getattr(function, "__module__", None), getattr(function, "__name__", "")
    return name in _NAMES and home in ("builtins", "sys", "inspect", "importlib") or str(home) in _MODULES


class Assigned:
    """The attributes that are stored to: of an object, or of any object that has one of a name."""

    def __init__(self) -> None:
        self._of: set[tuple[int, str]] = set()
        self._whole: dict[int, object] = {}
        self._anywhere: set[str] = set()
        self.object_sets: set[object] = set()  # what makes sets of objects, as nodes of the text
        #: Generator expressions that run inside themselves, by the namespace of their function and their place, and
        #: whether lists are taken in their place.
        self.listed: dict[tuple[int, tuple[int, int]], bool] = {}
        self.texts: dict[object, Any] = {}  # the functions with lists in their place
        self.is_reshaped = False  # some array gets another dtype or rank
        self.why: Reason | None = None  # anything may be anything
        self.place: Place | None = None  # where that is so
        self.is_trusted = False
        self.unrolled = Unrolled()
        self.stop: Callable[[Reason], bool] = lambda why: False  # ends the program where it is, if it can
        self.now: Callable[[], Place | None] = lambda: None  # where the analysis is

    def __len__(self) -> int:
        """It grows with all that is noted."""
        return len(self._of) + len(self._whole) + len(self._anywhere) + self.is_reshaped + self.is_lost

    @property
    def is_lost(self) -> bool:
        """Whether anything may be anything."""
        return self.why is not None

    @contextmanager
    def trusted(self, is_trusted: bool) -> Iterator[None]:
        """Functions that have a rule do what the rule says of them: their text gives nothing up."""
        outer, self.is_trusted = self.is_trusted, is_trusted or self.is_trusted
        yield
        self.is_trusted = outer

    def list_generator(self, namespace: object, place: tuple[int, int]) -> None:
        """Note a generator expression that would be resumed while it runs; raises ``Again`` where that is new."""
        if (id(namespace), place) not in self.listed:
            self.listed[id(namespace), place] = True
            raise Again

    def leave_generator(self, namespace: object, place: tuple[int, int]) -> None:
        """Note that a generator expression is to stay one."""
        self.listed[id(namespace), place] = False
        raise Again

    def note_objects(self, node: object) -> None:
        """Note what makes a set of objects; raises ``Again`` where that is new."""
        if node not in self.object_sets:
            self.object_sets.add(node)
            raise Again

    def begin_again(self) -> None:
        """Forget what gave an analysis up that ended before its time."""
        self.is_trusted, self.why, self.place = False, None, None

    def give_up(self, why: Reason) -> None:
        """Note that from here on anything may be anything."""
        if self.is_trusted and why is not TOO_LONG:
            return
        if self.why is None and (why in (TOO_LONG, TOO_MANY) or not self.stop(why)):
            self.why, self.place = why, self.now()

    def note(self, owner: object, name: str) -> None:
        """A store to an attribute of a module, class or function, or to a name of a namespace."""
        self.note_shape(name)
        self._require_outside(owner)
        self._of.add((_identity(owner), name))

    def note_object(self, owner: object) -> None:
        """Stores to attributes of which the names are not known."""
        self._require_outside(owner)
        self._whole[_identity(owner)] = owner

    def _require_outside(self, owner: object) -> None:
        """A class that each call makes again has in none of them what was stored into it in another."""
        if is_local(owner) or hasattr(owner, "__srcgrad_definition__"):
            self.give_up(STORED)

    def note_anywhere(self, name: str) -> None:
        """A store to an attribute of what may be any object."""
        self.note_shape(name)
        self._anywhere.add(name)

    def note_shape(self, name: str) -> None:
        self.is_reshaped |= name in SHAPING
        if name in REPLACING:
            self.give_up(replacing(name))

    def note_code(self, code: CodeType, namespace: object) -> None:
        """What a function stores of which the text cannot be read."""
        for instruction in _instructions(code):
            name = instruction.argval
            if instruction.opname in ("STORE_ATTR", "DELETE_ATTR"):
                self.note_anywhere(name)
            elif instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                self.note(namespace, name)
            elif isinstance(name, str) and name in REFLECTIVE | _NAMES | {"setattr", "vars", "__dict__"}:
                self.give_up(reaching(name))

    def may_be(self, owner: object, name: str) -> bool:
        """Whether an attribute may be another one than it was."""
        owners = owner.__mro__ if isinstance(owner, type) else (owner,)
        return name in self._anywhere or any(
            _identity(one) in self._whole or (_identity(one), name) in self._of for one in owners
        )

    def is_open(self, kind: type) -> bool:
        """Whether objects of a class may get other methods than it has."""
        own = {_identity(base) for base in kind.__mro__}
        if not own.isdisjoint(self._whole) or any(owner in own for owner, _ in self._of):
            return True
        return any(
            name.startswith("__") and name.endswith("__") and name not in _PLAIN
            or any(_is_special(vars(base).get(name)) for base in kind.__mro__)
            for name in self._anywhere
        )  # fmt: skip


def _is_special(held: object) -> bool:
    return callable(held) or hasattr(type(held), "__get__")


def _identity(owner: object) -> int:
    """Of a module the identity of its namespace, which its functions know it by."""
    return id(vars(owner) if isinstance(owner, ModuleType) else owner)


def _instructions(code: CodeType) -> Iterator[dis.Instruction]:
    yield from dis.get_instructions(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _instructions(constant)


def is_replaced(assigned: Assigned, function: FunctionType) -> bool:
    """Whether a call of a function may run other code, or take other defaults, than it has."""
    return any(assigned.may_be(function, name) for name in ("__code__", "__defaults__", "__kwdefaults__"))
