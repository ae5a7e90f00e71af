"""From the tree of a function to the untyped IR (``srcgrad.ir``).

Enters: a function object whose text can be found.  Leaves: an ``ir.regions.Function``; what is refused raises
``UnsupportedSyntax`` with its place::

    lowered(lambda x: x * x)        def function(x):
                                        t = x * x
                                        return t
"""

from srcgrad.frontend.lowering.functions import converted, lower, lowered, with_lists

__all__ = ["converted", "lower", "lowered", "with_lists"]
