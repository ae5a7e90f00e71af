"""What goes to a worker by name, and is compared there with what the client means by it.

Enters: on the client, what is to be sent.  Leaves: ``Sealed``, its bytes, and a ``Reference`` to each of the user's
functions and classes that the bytes hold as names.  In a worker: the value, or a ``SendingError`` that names what
differs.
"""

from __future__ import annotations

import hashlib
import importlib
import pickle
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from types import FunctionType
from typing import Any

from srcgrad.parallel.errors import SendingError
from srcgrad.parallel.fingerprints import (
    fingerprint,
    fingerprint_of_names,
    is_installed,
    modules_read,
    package_of,
    version_of,
)
from srcgrad.parallel.pickling import noted


@dataclass(frozen=True)
class Reference:
    """A function, class or module that a worker imports; ``digest`` is empty for what libraries define.

    ``names``: those that code reads of a module.  ``by_version``: the digest is the version of an installed package.
    """

    module: str
    attribute: str | None
    digest: str = ""
    names: frozenset[str] = frozenset()
    by_version: bool = False

    def value(self) -> Any:
        """The object in this process; refused where it is another one than on the client."""
        name = self.module if self.attribute is None else f"{self.module}.{self.attribute}"
        try:
            found: Any = importlib.import_module(self.module)
            if self.attribute is not None:
                found = reduce(getattr, self.attribute.split("."), found)
        except (ImportError, AttributeError) as error:
            raise SendingError(
                f"a worker cannot import {name}: {error}", hint="install on the workers what the client imports"
            ) from None
        if self.digest:
            with _comparing:
                self._compare(name, found)
        return found

    def _compare(self, name: str, found: Any) -> None:
        if self in _compared:
            return
        if self.by_version:
            digest = version_of(found)
        else:
            digest = fingerprint_of_names(found, self.names) if self.attribute is None else fingerprint(found)
        if digest != self.digest:
            raise SendingError(
                f"{name} differs between the client and a worker, or reads other data there",
                hint="start the workers again after a change, or pass what it reads as an argument; "
                "what functools.cache keeps is left out",
            )
        _compared.add(self)


#: What was the same here as on the client once, before functions of the user's ran, which may keep state in modules.
_compared: set[Reference] = set()
_comparing = threading.RLock()


@dataclass(frozen=True)
class Sealed:
    """A pickled value, and what it holds by name."""

    data: bytes
    references: tuple[Reference, ...] = ()

    def __len__(self) -> int:
        return len(self.data)

    @cached_property
    def address(self) -> str:
        """The content address."""
        return hashlib.sha256(self.data + repr(self.references).encode()).hexdigest()

    def compare(self) -> None:
        """Refuse what the value holds by name and is another thing here."""
        for reference in self.references:
            reference.value()

    def opened(self) -> Any:
        """The value, once it is compared."""
        self.compare()
        return pickle.loads(self.data)


class Seal:
    """Makes bytes of what is sent in one call, in which functions and classes do not change."""

    def __init__(self) -> None:
        self._references: dict[object, tuple[Any, list[Reference]]] = {}  # by identities, of what is kept alive here

    def __call__(self, value: Any, by_value: bool) -> Sealed:
        found = noted(value, by_value)
        references: dict[Reference, None] = {}
        for named in found.named.values():
            references.update(dict.fromkeys(self._kept(("named", id(named)), named, _of_named)))
        for function in found.written.values():
            references.update(dict.fromkeys(self._kept(("written", id(function)), function, _of_modules)))
        return Sealed(found.data, tuple(references))

    def _kept(self, key: object, of: Any, make: Callable[[Any], list[Reference]]) -> list[Reference]:
        if key not in self._references:
            self._references[key] = of, make(of)
        return self._references[key][1]


def _of_named(named: Any) -> list[Reference]:
    by_version = is_installed(package_of(named))
    digest = version_of(named) if by_version else fingerprint(named)
    return [Reference(named.__module__, named.__qualname__, digest, by_version=by_version)]


def _of_modules(function: FunctionType) -> list[Reference]:
    """What a function that goes as code reads of modules, which go as names."""
    found = []
    for module, names in modules_read(function):
        if is_installed(package_of(module)):
            found.append(Reference(module.__name__, None, version_of(module), by_version=True))
        else:
            found.append(Reference(module.__name__, None, fingerprint_of_names(module, names), names))
    return found
