"""What goes to a worker by name, and is compared there with what the client means by it.

Enters: on the client, what is to be sent.  Leaves: ``Sealed``, its bytes, and a ``Reference`` to each of the user's
functions and classes that the bytes hold as names.  In a worker: the value, or a ``SendingError`` that names what
differs.
"""

from __future__ import annotations

import hashlib
import importlib
import pickle
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

from srcgrad.parallel.errors import SendingError
from srcgrad.parallel.fingerprints import fingerprint, is_installed, package_of, version_of
from srcgrad.parallel.pickling import noted


@dataclass(frozen=True)
class Reference:
    """A function, class or module that a worker imports; ``digest`` is empty for what libraries define."""

    module: str
    attribute: str | None
    digest: str = ""
    by_version: bool = False  # the digest is the version of an installed package

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
        if self.digest and self not in _compared:
            if (version_of(found) if self.by_version else fingerprint(found)) != self.digest:
                raise SendingError(
                    f"{name} differs between the client and a worker, or reads other data there",
                    hint="start the workers again after a change, or pass what it reads as an argument; "
                    "what functools.cache keeps is left out",
                )
            _compared.add(self)
        return found


#: What was the same here as on the client once, before functions of the user's ran, which may keep state in modules.
_compared: set[Reference] = set()


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

    def opened(self) -> Any:
        """The value, once what it holds by name is found to be the same here."""
        for reference in self.references:
            reference.value()
        return pickle.loads(self.data)


class Seal:
    """Makes bytes of what is sent in one call, in which functions and classes do not change."""

    def __init__(self) -> None:
        self._references: dict[int, tuple[Any, Reference]] = {}  # by the identity of what is referred to, kept alive

    def __call__(self, value: Any, by_value: bool) -> Sealed:
        data, named = noted(value, by_value)
        return Sealed(data, tuple(map(self._reference, named)))

    def _reference(self, named: Any) -> Reference:
        if id(named) not in self._references:
            by_version = is_installed(package_of(named))
            digest = version_of(named) if by_version else fingerprint(named)
            self._references[id(named)] = named, Reference(named.__module__, named.__qualname__, digest, by_version)
        return self._references[id(named)][1]
