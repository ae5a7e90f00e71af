# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Models of context managers of ``contextlib``, and of ``types.SimpleNamespace``.

>>> with Suppressed(KeyError), Nothing(2.0) as held:
...     {}["a"]
>>> held, Namespace(a=1).a
(2.0, 1)
"""

from __future__ import annotations

import contextlib
import types

from srcgrad.language.models.table import Absent, models, stands_for
from srcgrad.runtime.doors import Leaving, leaving


@stands_for(contextlib.nullcontext)
class Nothing:
    def __init__(self, enter_result=None):
        self.enter_result = enter_result

    def __enter__(self):
        return self.enter_result

    def __exit__(self, kind, error, place):
        return None


@stands_for(contextlib.closing)
class Closing:
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, kind, error, place):
        self.thing.close()


@stands_for(contextlib.suppress)
class Suppressed:
    def __init__(self, *exceptions):
        self.exceptions = exceptions

    def __enter__(self):
        return None

    def __exit__(self, kind, error, place):
        return kind is not None and issubclass(kind, self.exceptions)


# --- generators ------------------------------------------------------------------------------------------------------
@models(contextlib.contextmanager)
def contextmanager(func):
    def begun(*args, **kwds):
        return Managed(func, args, kwds)

    return begun


@stands_for(contextlib._GeneratorContextManager)
class Managed:
    def __init__(self, func, args, kwds):
        self.gen = func(*args, **kwds)

    def __enter__(self):
        given = next(self.gen, Absent)
        if given is Absent:
            raise RuntimeError("the generator gave nothing")
        return given

    def __exit__(self, kind, error, place):
        if kind is None:
            if next(self.gen, Absent) is not Absent:
                raise RuntimeError("the generator did not stop")
            return False
        try:
            self.gen.throw(error)
        except BaseException as raised:
            if raised is error:
                return False
            if isinstance(raised, StopIteration):
                return True
            raise
        raise RuntimeError("the generator did not stop after an exception")


# --- of emitted code -------------------------------------------------------------------------------------------------
@stands_for(Leaving)
class Left:
    """What calls the method of a manager where its body raises, and nothing else."""

    def __init__(self, manager):
        self.manager = manager

    def __enter__(self):
        return None

    def __exit__(self, kind, error, place):
        if kind is not None:
            self.manager.__exit__(kind, error, place)


@models(leaving)
def left(manager):
    return Leaving(manager)


# --- types -----------------------------------------------------------------------------------------------------------
@stands_for(types.SimpleNamespace)
class Namespace:
    def __init__(self, /, **named):
        self.__dict__.update(named)


#: Whose ``__exit__`` neither keeps nor changes the exception that it gets.
PASSING = (contextlib.nullcontext, contextlib.closing, contextlib.suppress)
