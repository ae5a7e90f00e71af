"""The corpus of installed functions, and how it was chosen.

Modules were chosen for what they do (numbers in, numbers out, in Python); of a module are taken its functions whose
arguments are numbers and arrays, in alphabetical order, whatever the compiler makes of them.  Left out are functions
that a rule of the table replaces, that only wrap a loop in C, that search (roots, minima, adaptive integrals) and that
have no derivative anywhere.  Those of 30 other packages were chosen by a rule (``choosing``).
"""

from __future__ import annotations

from tests.installed import extras, more, numpy_functions, scipy_functions, scipy_signals, standard_library

ENTRIES = [
    *standard_library.ENTRIES,
    *numpy_functions.ENTRIES,
    *scipy_functions.ENTRIES,
    *scipy_signals.ENTRIES,
    *extras.ENTRIES,
    *more.ENTRIES,
]
