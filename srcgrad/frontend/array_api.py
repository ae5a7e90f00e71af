"""What SciPy's and scikit-learn's layer between modules of arrays means when the module is NumPy.

Enters: a call of one of their functions, as the user of NumPy never writes it.  Leaves: the same in NumPy's words, or
None::

    _asarray(x, dtype=d, xp=np)             ->     np.asanyarray(x, dtype=d)
    xp_promote(x, force_floating=True)      ->     np.asanyarray(x, dtype=xp_result_type(x, force_floating=True, xp=np))
    atleast_nd(x, ndim=2)                   ->     np.array(x, ndmin=2, copy=None)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import gast
import numpy as np

from srcgrad.frontend.desugar.build import assign, compare, constant, load, placed
from srcgrad.syntax.globals import GlobalBinding, reference

Words = Mapping[str, gast.expr]


def as_store(statement: gast.Assign) -> gast.Assign | None:
    """``x = at(x, i).set(v)`` and ``x = at(x)[i].set(v)``, which change NumPy's arrays in place, as ``x[i] = v``."""
    match statement:
        case gast.Assign(
            targets=[gast.Name(id=name) as target],
            value=gast.Call(func=gast.Attribute(value=place, attr="set"), args=[value], keywords=[]),
        ):
            match place:
                case gast.Call(args=[gast.Name(id=own), index], keywords=[]) if own == name:
                    pass
                case gast.Subscript(value=gast.Call(args=[gast.Name(id=own)], keywords=[]), slice=index) if own == name:
                    pass
                case _:
                    return None
            base = load(name, target)
            return assign(placed(gast.Subscript(base, index, gast.Store()), statement.value), value, statement)
    return None


def place_of(statement: gast.Assign) -> gast.expr | None:
    """The head of the call ``at(...)`` in such a statement."""
    match statement.value:
        case gast.Call(func=gast.Attribute(value=gast.Call(func=head) | gast.Subscript(value=gast.Call(func=head)))):
            return head
    return None


def in_numpy(name: str, node: gast.Call) -> gast.expr | None:
    """A call of the function of this name on NumPy's arrays."""
    if any(isinstance(argument, gast.Starred) for argument in node.args) or any(k.arg is None for k in node.keywords):
        return None
    make = _MEANINGS.get(name)
    return None if make is None else make(node, {keyword.arg: keyword.value for keyword in node.keywords})


def _call(function: str, node: gast.Call, arguments: list[gast.expr], words: Words) -> gast.expr:
    value: object = np
    for part in function.split("."):
        value = getattr(value, part)
    module, _, attribute = f"numpy.{function}".rpartition(".")
    head = placed(reference(GlobalBinding(attribute, value, module, attribute)), node.func)
    keywords = [placed(gast.keyword(key, word), node) for key, word in words.items()]
    return placed(gast.Call(head, arguments, keywords), node)


def _chosen(words: Words, *names: str) -> dict[str, gast.expr]:
    return {name: words[name] for name in names if name in words}


def _as_array(node: gast.Call, words: Words) -> gast.expr | None:
    plain = _is(words.get("copy"), None, False) and _is(words.get("check_finite"), None, False)
    if len(node.args) != 1 or not plain:
        return None
    return _call("asanyarray", node, list(node.args), _chosen(words, "dtype"))


def _at_least(node: gast.Call, words: Words) -> gast.expr | None:
    if len(node.args) != 1 or "ndim" not in words:
        return None
    return _call("array", node, list(node.args), {"ndmin": words["ndim"], "copy": constant(None, node)})


def _norm(node: gast.Call, words: Words) -> gast.expr | None:
    return _call("linalg.vector_norm", node, list(node.args[:1]), _chosen(words, "axis", "keepdims", "ord"))


def _copied(node: gast.Call, words: Words) -> gast.expr | None:
    return _call("array", node, list(node.args[:1]), {}) if len(node.args) == 1 and "dtype" not in words else None


def _handed_on(node: gast.Call, words: Words) -> gast.expr | None:
    """Masked arrays apart, the arguments themselves."""
    return node.args[0] if len(node.args) == 1 else placed(gast.Tuple(list(node.args), gast.Load()), node)


def _promoted(node: gast.Call, words: Words) -> gast.expr | None:
    """Arrays of the common dtype, and of the common shape where that is asked for; None stays None."""
    names = [a for a in node.args if isinstance(a, gast.Name)]
    if len(names) != len(node.args) or not names or not _is(words.get("broadcast"), None, False, True):
        return None
    spread = words.get("broadcast") is not None and not _is(words["broadcast"], None, False)
    from scipy._lib import _array_api  # who calls it has imported it

    home = _array_api.__name__
    question = reference(GlobalBinding("xp_result_type", _array_api.xp_result_type, home, "xp_result_type"))
    numpy = reference(GlobalBinding("np", np, "numpy", None))
    floating = words.get("force_floating", constant(False, node))
    wanted = [gast.keyword("force_floating", floating), gast.keyword("xp", numpy)]
    made: list[gast.expr] = []
    for name in names:
        dtype = placed(gast.Call(question, list(node.args), [placed(word, node) for word in wanted]), node)
        array = _call("asanyarray", node, [name], {"dtype": dtype})
        if spread:  # the shape of None is that of a number
            shapes = [_call("shape", node, [other], {}) for other in names]
            array = _call("broadcast_to", node, [array, _call("broadcast_shapes", node, shapes, {})], {})
        if len(names) > 1:
            absent = compare(name, gast.Is(), constant(None, node), node)
            array = placed(gast.IfExp(absent, constant(None, node), array), node)
        made.append(array)
    return made[0] if len(made) == 1 else placed(gast.Tuple(made, gast.Load()), node)


def _is(node: gast.expr | None, *values: object) -> bool:
    """Whether a keyword is left out, or one of these constants."""
    return node is None or (isinstance(node, gast.Constant) and any(node.value is value for value in values))


_MEANINGS: dict[str, Callable[[gast.Call, Words], gast.expr | None]] = {
    "_asarray": _as_array,
    "atleast_nd": _at_least,
    "xp_vector_norm": _norm,
    "xp_copy": _copied,
    "_share_masks": _handed_on,
    "xp_promote": _promoted,
}
NAMES = frozenset({*_MEANINGS, "at"})
