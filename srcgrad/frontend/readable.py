"""Whether a library's function is inside of the language: found out by reading it, once for each edition of the rules.

Enters: a callee.  Leaves: None, or the refusal that reading it ends with.  A function that is being read already,
further up, is taken to be readable: if it is not, that is found there.
"""

from __future__ import annotations

from functools import lru_cache

from srcgrad.errors import LanguageError, SourceUnavailable, UnsupportedSyntax
from srcgrad.frontend.normal_form import Callee
from srcgrad.frontend.normalize import normalize
from srcgrad.rules.edition import edition

_reading: set[Callee] = set()


def why_not(callee: Callee) -> LanguageError | None:
    """The refusal of a callee, or None."""
    return None if callee in _reading else _found(callee, edition())


@lru_cache(maxsize=1024)
def _found(callee: Callee, _: object) -> LanguageError | None:
    _reading.add(callee)
    try:
        normalize(callee)
    except LanguageError as error:
        return error
    except SourceUnavailable as error:
        return UnsupportedSyntax(error.reason, error.span, hint=error.hint)
    finally:
        _reading.discard(callee)
    return None
