"""What type checkers see of derivatives: the parameters of the function, and the type of the gradient.

Nothing here runs.  ``grad(f)`` makes a ``Derivative``; its annotation says ``Gradient``, which has f's parameters.
Four things cannot be said with ``ParamSpec`` (PEP 612), and are not:

- The argument that a number in ``argnums`` chooses is passed by its place.  Where it is chosen by name, and where a
  number is beyond 1, all parameters keep their names, and the gradient is ``Any``.
- A vector behind f's parameters (``hvp``) is typed for functions of up to four parameters; ``hessp``, which has it
  behind the first, for all.
- The gradient by an argument that may be an array or a list is ``Any``; that by an object of a class has the fields of
  one, and is said to be one.
- Arguments of the class ``int`` pass: ``int`` is a ``float`` for type checkers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from srcgrad.api.derivative import Derivative

P = ParamSpec("P")
Q = ParamSpec("Q")
G_co = TypeVar("G_co", covariant=True)
S = TypeVar("S")
X = TypeVar("X")
Y = TypeVar("Y")
#: What a function returns whose gradient is taken: one number, also as an array without axes.
Number = complex | np.number[Any] | np.ndarray[Any, Any]
R = TypeVar("R", bound=Number)
#: What a parameter takes that is declared ``ArrayLike``, ``Iterable[float]``, or not at all.
Several = np.ndarray[Any, Any] | list[float]


class Gradient(Derivative, Generic[P, G_co]):
    """A derivative of a function with the parameters ``P``; calling it gives ``G_co``."""

    if TYPE_CHECKING:

        def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> G_co: ...

        @overload
        def __get__(self, instance: None, owner: type | None = None) -> Gradient[P, G_co]: ...
        @overload
        def __get__(
            self: Gradient[Concatenate[S, Q], G_co], instance: S, owner: type | None = None
        ) -> Callable[Q, G_co]: ...
        def __get__(self, instance: object, owner: type | None = None) -> Any: ...


class Along(Protocol[P, G_co]):
    """A derivative of many sweeps, or of second order: a function with the parameters ``P`` that gives ``G_co``."""

    if TYPE_CHECKING:

        def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> G_co: ...

        @property
        def source(self) -> str: ...

        @property
        def line_map(self) -> Any: ...

        @property
        def generic_source(self) -> str: ...

        def source_for(self, /, *args: Any, **kwargs: Any) -> str: ...

        def annotate(self, /, *args: Any, **kwargs: Any) -> Any: ...

        def explain(self, at: str = "normalize") -> str: ...

        @overload
        def __get__(self, instance: None, owner: type | None = None) -> Along[P, G_co]: ...
        @overload
        def __get__(
            self: Along[Concatenate[S, Q], G_co], instance: S, owner: type | None = None
        ) -> Callable[Q, G_co]: ...
        def __get__(self, instance: object, owner: type | None = None) -> Any: ...


class Decorator(Protocol):
    """``@grad(argnums=...)``: takes the function later."""

    if TYPE_CHECKING:

        def __call__(self, f: Callable[P, Any], /) -> Gradient[P, Any]: ...


class DenseDecorator(Protocol):
    """``@jacobian(argnums=...)``: the same."""

    if TYPE_CHECKING:

        def __call__(self, f: Callable[P, Any], /) -> Along[P, Any]: ...
