"""Every public callable of NumPy, ``math``, Python's numbers and SciPy, and which of three lists it is in.

A function is *ruled*, *constant* (no derivative flows through it, whatever it is given) or *refused* (its value varies,
there is no derivative here, and a reason is given).  ``entries`` walks what is installed; what is new in a later NumPy
and in no list has status None, which ``tests/rules/test_lists.py`` does not let pass.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import MethodType, ModuleType
from typing import Any, Literal

import numpy as np

from srcgrad.rules.table import (
    CONSTANT_MEMBERS,
    LIBRARIES,
    attribute,
    is_constant,
    load_library,
    lookup,
    member_refusal,
    method,
    refusal,
)

Status = Literal["ruled", "constant", "refused"]

NUMPY = ("numpy", "numpy.linalg", "numpy.fft", "numpy.random")
PYTHON = ("math", "builtins")
#: The builtins that compute with numbers; iterators and containers are the compiler's business.
NUMERIC_BUILTINS = tuple("abs all any bool complex divmod float int len max min pow range round sorted sum".split())
#: The distributions whose methods the table answers for; those of the others have no rule.
DISTRIBUTIONS = tuple(
    "norm t beta gamma chi2 poisson dirichlet multivariate_normal expon laplace uniform lognorm".split()
)
SHORT = {"numpy": "np", "builtins": ""}


@dataclass(frozen=True)
class Entry:
    """A public name, the function behind it, and every list that holds it."""

    name: str
    function: Any
    statuses: tuple[Status, ...]

    @property
    def status(self) -> Status | None:
        return self.statuses[0] if self.statuses else None


def statuses(function: object) -> tuple[Status, ...]:
    """The lists that hold a function; more or less than one is a fault of the table."""
    found: list[Status] = []
    if lookup(function) is not None:
        found.append("ruled")
    if is_constant(function):
        found.append("constant")
    if refusal(function) is not None:
        found.append("refused")
    return tuple(found)


def member_statuses(name: str) -> tuple[Status, ...]:
    """The lists that hold a method or attribute of arrays."""
    meant = [function for function in (method(name), attribute(name)) if function is not None]
    found = [status for function in meant for status in statuses(function)]
    if name in CONSTANT_MEMBERS:
        found.append("constant")
    if member_refusal(name) is not None:
        found.append("refused")
    return tuple(found)


def entries(libraries: tuple[str, ...] = NUMPY + PYTHON) -> list[Entry]:
    """The public callables of the named modules, the methods of ufuncs and arrays with those of ``numpy``, by name."""
    found: list[Entry] = []
    for library in libraries:
        module = _imported(library)
        found += (Entry(name, function, statuses(function)) for name, function in _public(library, module))
        if library == "numpy":
            found += (Entry(name, function, statuses(function)) for name, function in ufunc_methods(module))
            found += (Entry(f"ndarray.{name}", name, member_statuses(name)) for name in members())
    return sorted(found, key=lambda entry: entry.name)


def installed_libraries() -> tuple[str, ...]:
    """The optional libraries that are installed here; their private modules promise nothing."""
    public = (name for name in LIBRARIES if "._" not in name)
    return tuple(name for name in public if importlib.util.find_spec(name.split(".")[0]) is not None)


def _imported(library: str) -> ModuleType:
    if library in LIBRARIES:
        load_library(library)
    return importlib.import_module(library)


def _public(library: str, module: ModuleType) -> Iterator[tuple[str, Callable[..., object]]]:
    if library == "scipy.stats":
        yield from _distributions(module)
        return
    prefix = SHORT.get(library, library.replace("numpy.", "np."))
    for name in dir(module) if module is not builtins else NUMERIC_BUILTINS:
        value = getattr(module, name)
        if not name.startswith("_") and callable(value) and not _is_error(value):
            yield (f"{prefix}.{name}" if prefix else name), value


def _distributions(module: ModuleType) -> Iterator[tuple[str, Callable[..., object]]]:
    """The methods of the distributions that ``DISTRIBUTIONS`` names."""
    for name in DISTRIBUTIONS:
        distribution = getattr(module, name)
        for method_name in dir(distribution):
            value = getattr(distribution, method_name)
            if not method_name.startswith("_") and isinstance(value, MethodType):
                yield f"scipy.stats.{name}.{method_name}", value


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def ufunc_methods(module: ModuleType) -> Iterator[tuple[str, Callable[..., object]]]:
    """``np.add.reduce`` and its kin, those that the ufunc has."""
    for name in dir(module):
        ufunc = getattr(module, name)
        if not isinstance(ufunc, np.ufunc) or ufunc.__name__ != name:
            continue  # an alias: np.abs is np.absolute
        yield f"np.{name}.at", ufunc.at
        if ufunc.nin == 2 and ufunc.nout == 1 and ufunc.signature is None:
            for method in ("reduce", "accumulate", "reduceat", "outer"):
                yield f"np.{name}.{method}", getattr(ufunc, method)


def members() -> list[str]:
    """The public methods and attributes of arrays."""
    return [name for name in dir(np.ndarray) if not name.startswith("_")]

