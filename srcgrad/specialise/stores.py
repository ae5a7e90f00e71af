"""NumPy's functions and methods that store into an array, as the stores that they are.

Enters: calls.  Leaves: ``Store`` and ``AddAt`` of what functions compute that change nothing, and what the call gives::

    np.add(x, y, out=w)          t = np.add(x, y);  w[...] = t               it is w
    np.copyto(y, e, where=m)     y[m] = at_mask(e, m)
    y.sort(axis=0)               t = np.sort(y, axis=0);  y[...] = t
    np.put(y, k, e)              y[flat_places(y, k)] = np.resize(e, ...)
    np.add.at(y, k, e)           every index counts, repeated ones too
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.infer.values import Array, At, Atom, Bound, Value, are_arrays, are_numbers, are_of, exact, is_unchanging
from srcgrad.ir import normal_form as nf
from srcgrad.ir import operations as ir
from srcgrad.language.effects import method as effect_of_method
from srcgrad.language.effects import of_function
from srcgrad.rules.outputs import WITHOUT_OUTPUT, names_after_output, output_of, position_of_output, takes_output
from srcgrad.rules.table import is_constant, lookup
from srcgrad.rules.table import method as method_function
from srcgrad.rules.template import UnsupportedCall
from srcgrad.specialise.containers import applied, exchanged, fixed
from srcgrad.specialise.context import Context
from srcgrad.specialise.fields import holds_objects
from srcgrad.specialise.operands import Made, atom, is_of_arrays, named, settled
from srcgrad.specialise.operators import operate
from srcgrad.specialise.unruled import GENERATORS, names_given
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.build import call_runtime, constant, index_value, load, placed, subscript, tuple_of
from srcgrad.syntax.globals import reference

_NUMPY = GlobalBinding("np", np, "numpy", None, None)
_RANDOM = GlobalBinding("random", np.random, "numpy.random", None, None)
_NEW = "let it make a new array, and use that"
#: The arguments of a call by the names of their parameters.
Given = dict[str, gast.expr]


def function(context: Context, node: gast.Call, called: Any) -> Made | None:
    """A function that stores into an array; None of any other."""
    owner = getattr(called, "__self__", None)
    if isinstance(owner, np.ufunc) and called.__name__ == "at":
        return _at(context, node, owner)
    if called is np.random.shuffle:
        return _shuffle(context, node, reference(_RANDOM))
    if called is np.nan_to_num and any(_is_uncopied(keyword) for keyword in node.keywords):
        return _cleared(context, node)
    known = next((known for one, known in _FUNCTIONS.items() if one is called), None)
    if known is not None:
        parameters, write = known
        given = _given(context, node, parameters.split())
        base = _base(context, node, given)
        array, *stored = given.values()
        for each in stored:
            refuse_objects(context, array, each)
        write(context, node, base, given)
        return constant(None, node), nf.Fixed()
    names = names_given(node)
    effect = of_function(called).without_idle(node.args, node.keywords)
    updated = effect.updated(len(node.args), names) if effect.is_known else frozenset()
    if called is runtime.tangent_like:  # which only moves to where the tangents lie: a rule says what it gives
        return None
    if updated - {effect.output}:
        context.refuse("E0302", node, "a call that stores into an array, its output or an operand,", hint=_NEW)
    if updated:
        return _outputs(context, node, called, None)
    return None


def method(context: Context, node: gast.Call, bound: Bound) -> Made | None:
    """A method that stores into an array; None of any other."""
    assert isinstance(node.func, gast.Attribute)
    receiver, name = bound.receiver, bound.name
    if name == "shuffle" and are_of(receiver, *GENERATORS):
        return _shuffle(context, node, settled(context, node.func.value))
    is_sort = name == "sort" and not {keyword.arg for keyword in node.keywords} & {"key", "reverse"}  # as of lists
    if not are_arrays(stored := _without_numbers(receiver), data=is_of_arrays(name) or is_sort):
        return None
    if not effect_of_method(name).updated(1 + len(node.args), [str(keyword.arg) for keyword in node.keywords]):
        return None
    base = None
    if stored != receiver or not are_arrays(receiver) and _is_element(context, node.func.value):
        base = named(context, node.func.value)
        check = call_runtime(runtime.require_memory, [load(base, node)], node)
        context.out.append(nf.Effect(placed(gast.Expr(check), node), context.span))
    if name == "sort" and not node.args and not node.keywords:
        return exchanged(context, base or named(context, node.func.value), "sort", [], (), node)
    if name in _METHODS:
        _METHODS[name](context, node, base or named(context, node.func.value))
        return constant(None, node), nf.Fixed()
    called = method_function(name)
    if called is None or lookup(called) is None:
        context.refuse_member(node, name, "method")
    return _outputs(context, node, called, node.func.value)


def _without_numbers(value: Value) -> Value:
    """A value without the numbers that are no output, which NumPy refuses."""
    return replace(value, atoms=frozenset(atom for atom in value.atoms if not is_unchanging(atom)))


def _is_element(context: Context, node: Any) -> bool:
    """Whether a value is an item of another one."""
    made = context.reduced.origins.get(node.version) if hasattr(node, "version") else None
    while isinstance(made, ir.Copy):
        made = context.reduced.origins.get(made.source)
    return isinstance(made, ir.GetItem | ir.Next) or isinstance(node, gast.Subscript)


# --- outputs ---------------------------------------------------------------------------------------------------------
def _outputs(context: Context, node: gast.Call, called: Any, receiver: Any) -> Made:
    """A call that puts its results into arrays that it is given."""
    words = {keyword.arg: keyword.value for keyword in node.keywords}
    is_ufunc = isinstance(called, np.ufunc)
    if called in WITHOUT_OUTPUT or not takes_output(called) or called is np.nan_to_num or None in words:
        context.refuse("E0302", node, "a call that stores into an array", hint=_NEW)
    arguments = [*([] if receiver is None else [receiver]), *node.args]
    place = None if "out" in words else position_of_output(called, len(arguments))
    given = [words["out"]] if place is None else arguments[place:] if is_ufunc else arguments[place : place + 1]
    if place is not None and not is_ufunc:  # what stands behind the output gets a name
        behind = names_after_output(called)
        if len(arguments) > place + 1 + len(behind):
            context.refuse("E0302", node, "a call that stores into an array", hint=_NEW)
        words |= dict(zip(behind, arguments[place + 1 :], strict=False))
        arguments = arguments[: place + 1]
    if len(given) == 1 and isinstance(given[0], gast.Tuple):
        given = list(given[0].elts)
    where = words.get("where") if is_ufunc else None
    where = None if isinstance(where, gast.Constant) and where.value is True else where
    results = called.nout if is_ufunc else 1
    if len(given) > results or where is not None and results > 1:
        context.refuse("E0302", node, "a call that stores into an array", hint=_NEW)
    # All that is given is evaluated in the order of the text, the outputs among it.
    done = {id(part): atom(context, part) for part in arguments if all(part is not out for out in given)}
    outputs = [None if _is_none(context, out) else named(context, out) for out in given]
    if any(
        base is not None and not are_arrays(_without_numbers(context.value(out)), data=True)
        for base, out in zip(outputs, given, strict=True)
    ):  # fmt: skip
        context.refuse("E0302", node, "a call that stores into what may be no array")
    dropped = {"out", "where", "casting"} if is_ufunc else {"out"}
    more = {key: settled(context, value) for key, value in words.items() if key not in dropped}
    operands = [done[id(part)] for part in arguments if id(part) in done]
    mask = None
    if where is not None and outputs[0] is not None:
        mask = fixed(context, call_runtime(runtime.where_places, [load(outputs[0], node), atom(context, where)], node))
        operands = [o if isinstance(o, gast.Constant) else _bound(context, applied(
            context, runtime.at_mask, [o, mask], node)) for o in operands]  # fmt: skip
    made = _bound(context, _computed(context, node, called, receiver, operands, more))
    casting, is_exact = output_of(called)
    if "initial" in more and not _is_none(context, words["initial"]):
        is_exact += " start"
    if casting == "equiv" and any(
        not isinstance(a, Array) or a.rank in (0, None) for out in given for a in context.value(out).atoms
    ):
        context.refuse("E0302", node, "a product that may be a number, into an output,")
    word = settled(context, words["casting"]) if "casting" in words else constant(casting, node)
    parts = []
    for number, base in enumerate(outputs):
        part = made
        if results > 1:
            read = subscript(made, constant(number, node), node)
            part = _bound(context, (read, nf.Index(made.id, read.slice)))
        parts.append(part if base is None else load(base, node))
        if base is not None:
            is_exact = f"axes {is_exact}" if casting == "equiv" else is_exact  # np.dot returns a number
            shape = constant(None if mask is not None else is_exact, node)
            check = call_runtime(runtime.require_output, [load(base, node), part, word, shape], node)
            context.out.append(nf.Effect(placed(gast.Expr(check), node), context.span))
            _put(context, base, constant(Ellipsis, node) if mask is None else mask, part)
    if results == 1:
        (only,) = parts
        return only, nf.Copy(only.id)
    if len(parts) < results:
        context.refuse("E0302", node, "a call that stores some of its results into arrays")
    return placed(gast.Tuple(parts, gast.Load()), node), nf.Pack("tuple", tuple(parts))


def _computed(
    context: Context, node: gast.Call, called: Any, receiver: Any, operands: list[gast.expr], more: Given
) -> Made:
    """The same call without outputs."""
    rule = lookup(called)
    keywords = [placed(gast.keyword(key, value), node) for key, value in more.items()]
    head = settled(context, node.func) if receiver is None else placed(
        gast.Attribute(operands[0], node.func.attr, gast.Load()), node.func
    )
    expression = placed(gast.Call(head, operands[receiver is not None :], keywords), node)
    if rule is None and not is_constant(called) and not context.is_fixed(node):
        context.refuse("E0501", node, f"a call of {getattr(called, '__name__', called)}")
    if rule is None:
        return expression, nf.Fixed()
    try:
        return expression, nf.Apply(rule, called, rule.bind(called, operands, more))
    except UnsupportedCall as why:
        raise UnsupportedSyntax(str(why), context.span, code="E0504") from None


def _is_none(context: Context, node: Any) -> bool:
    return isinstance(node, gast.Constant) and node.value is None or context.value(node) == exact(None)


# --- stores ----------------------------------------------------------------------------------------------------------
def _copyto(context: Context, node: gast.Call, base: str, given: Given) -> None:
    stored, where = given["src"], given.get("where")
    _check_cast(context, node, base, stored, given.get("casting", constant("same_kind", node)))
    if where is None or isinstance(where, gast.Constant) and where.value is True:
        _put(context, base, constant(Ellipsis, node), stored)
        return
    mask = fixed(context, call_runtime(runtime.where_places, [load(base, node), where], node))
    if not isinstance(stored, gast.Constant):
        stored = _bound(context, applied(context, runtime.at_mask, [stored, mask], node))
    _put(context, base, mask, stored)


def _check_cast(context: Context, node: gast.Call, base: str, stored: gast.expr, casting: gast.expr) -> None:
    """A store casts what these functions refuse to cast."""
    check = call_runtime(runtime.require_cast, [load(base, node), stored, casting], node)
    context.out.append(nf.Effect(placed(gast.Expr(check), node), context.span))


def _put_flat(context: Context, node: gast.Call, base: str, given: Given) -> None:
    mode = given.get("mode", constant("raise", node))
    places = fixed(context, call_runtime(runtime.flat_places, [load(base, node), given["ind"], mode], node))
    _put(context, base, places, _repeated(context, node, base, given["v"], _sized(places, node)))


def _place(context: Context, node: gast.Call, base: str, given: Given) -> None:
    mask = fixed(context, call_runtime(runtime.mask_places, [load(base, node), given["mask"]], node))
    _check_cast(context, node, base, given["vals"], constant(None, node))
    count = placed(gast.Call(_numpy("count_nonzero", node), [mask], []), node)
    _put(context, base, mask, _repeated(context, node, base, given["vals"], count))


def _putmask(context: Context, node: gast.Call, base: str, given: Given) -> None:
    mask = fixed(context, call_runtime(runtime.mask_places, [load(base, node), given["mask"]], node))
    _check_cast(context, node, base, given["values"], constant(None, node))
    shape = placed(gast.Attribute(load(base, node), "shape", gast.Load()), node)
    stored = _repeated(context, node, base, given["values"], shape)
    if isinstance(stored, gast.Name):
        read = subscript(stored, mask, node)
        stored = _bound(context, (read, nf.Index(stored.id, read.slice)))
    _put(context, base, mask, stored)


def _put_along_axis(context: Context, node: gast.Call, base: str, given: Given) -> None:
    axis = given.get("axis", constant(-1, node))
    places = fixed(context, call_runtime(runtime.along_places, [load(base, node), given["indices"], axis], node))
    _put(context, base, places, given["values"])


def _fill_diagonal(context: Context, node: gast.Call, base: str, given: Given) -> None:
    wrap = [given["wrap"]] if "wrap" in given else []
    places = fixed(context, call_runtime(runtime.diagonal_places, [load(base, node), *wrap], node))
    _put(context, base, places, _repeated(context, node, base, given["val"], _sized(places, node)))


def _fill(context: Context, node: gast.Call, base: str) -> None:
    (value,) = _given(context, node, ["value"]).values()
    refuse_objects(context, named_as(base, node.func.value), value)
    _put(context, base, constant(Ellipsis, node), value)


def _rearranged(context: Context, node: gast.Call, base: str) -> None:
    """``y.partition(k)``: what NumPy's function of that name makes of the array is stored into it."""
    called = getattr(np, node.func.attr)
    words = {str(keyword.arg): settled(context, keyword.value) for keyword in node.keywords}
    operands = [load(base, node), *(settled(context, argument) for argument in node.args)]
    keywords = [placed(gast.keyword(key, value), node) for key, value in words.items()]
    rule = lookup(called)
    assert rule is not None
    expression = placed(gast.Call(_numpy(called.__name__, node), operands, keywords), node)
    made = _bound(context, (expression, nf.Apply(rule, called, rule.bind(called, operands, words))))
    _put(context, base, constant(Ellipsis, node), made)


def _put_method(context: Context, node: gast.Call, base: str) -> None:
    given = _given(context, node, ["indices", "values", "mode"])
    refuse_objects(context, named_as(base, node.func.value), given["values"])
    names = {"indices": "ind", "values": "v", "mode": "mode"}
    _put_flat(context, node, base, {names[name]: value for name, value in given.items()})


def _at(context: Context, node: gast.Call, ufunc: np.ufunc) -> Made:
    if ufunc is not np.add and ufunc is not np.subtract:
        reason = f"np.{ufunc.__name__}.at repeats its operation where an index is repeated"
        hint = f"where no index is repeated, write y[i] = np.{ufunc.__name__}(y[i], e)"
        raise UnsupportedSyntax(reason, context.span, code="E0302", hint=hint)
    given = _given(context, node, ["a", "indices", "b"])
    base, added = _base(context, node, given), given["b"]
    if ufunc is np.subtract:
        if not isinstance(added, gast.Constant):
            check = call_runtime(runtime.require_signed, [added], node)
            context.out.append(nf.Effect(placed(gast.Expr(check), node), context.span))
        if not are_numbers(context.value(added)):  # NumPy makes an array of a list
            added = _bound(context, _applied(np.asarray, [added], node))
        added = _bound(context, operate(context, gast.USub(), [added], node))
    text = placed(gast.Attribute(_numpy("add", node), "at", gast.Load()), node)
    context.out.append(nf.AddAt(base, given["indices"], added, context.span, text, shared=True))
    return constant(None, node), nf.Fixed()


def _is_uncopied(keyword: gast.keyword) -> bool:
    return keyword.arg == "copy" and isinstance(keyword.value, gast.Constant) and keyword.value.value is False


def _cleared(context: Context, node: gast.Call) -> Made:
    """``np.nan_to_num(x, copy=False)``, which gives the array itself, of one without axes a number."""
    given = _given(context, node, ["x", "copy", "nan", "posinf", "neginf"])
    base = _base(context, node, given)
    more = {name: value for name, value in given.items() if name not in ("x", "copy")}
    made = _bound(context, _computed(context, node, np.nan_to_num, None, [load(base, node)], more))
    _put(context, base, constant(Ellipsis, node), made)
    whole = tuple_of((), node)
    result = _bound(context, (subscript(load(base, node), whole, node), nf.Index(base, whole)))
    return result, nf.Copy(result.id)


def _shuffle(context: Context, node: gast.Call, rng: gast.expr) -> Made:
    given = _given(context, node, ["x", "axis"])
    base, axis = _base(context, node, given), given.get("axis", constant(0, node))
    order = fixed(context, call_runtime(runtime.shuffled, [rng, load(base, node), axis], node))
    made = _bound(context, _applied(np.take, [load(base, node), order, axis], node))
    _put(context, base, constant(Ellipsis, node), made)
    return constant(None, node), nf.Fixed()


# --- through .flat ---------------------------------------------------------------------------------------------------
def is_flat(context: Context, node: Any) -> bool:
    """Whether an expression is ``array.flat``."""
    return isinstance(node, gast.Attribute) and node.attr == "flat" and are_arrays(
        context.value(node.value), data=True
    )


def flat_place(context: Context, target: gast.Subscript) -> tuple[str, gast.expr]:
    """The array and the index that ``array.flat[index]`` stands for."""
    base = named(context, target.value.value)
    index = settled(context, target.slice)
    places = call_runtime(runtime.flat_places, [load(base, target), index_value(index)], target)
    return base, fixed(context, places)


def store_flat(context: Context, target: gast.Subscript, stored: gast.expr) -> None:
    """``y.flat[index] = value``, whose elements are stored one after the other."""
    base, places = flat_place(context, target)
    refuse_objects(context, named_as(base, target.value.value), stored)
    if isinstance(stored, gast.Name):
        given = [load(base, target), stored, constant(context.span.origin, target)]
        check = placed(gast.Expr(call_runtime(runtime.require_disjoint, given, target)), target)
        context.out.append(nf.Effect(check, context.span))
    _put(context, base, places, _repeated(context, target, base, stored, _sized(places, target)))


# --- parts -----------------------------------------------------------------------------------------------------------
def _given(context: Context, node: gast.Call, names: list[str]) -> Given:
    """The arguments of a call, evaluated, by the names of their parameters."""
    if len(node.args) > len(names) or any(isinstance(argument, gast.Starred) for argument in node.args):
        context.refuse("E0302", node, "this form of a call that stores into an array")
    given = {name: atom(context, argument) for name, argument in zip(names, node.args, strict=False)}
    if given.keys() & {keyword.arg for keyword in node.keywords} or names[0] not in given:
        context.refuse("E0302", node, "this form of a call that stores into an array")
    given |= {str(keyword.arg): atom(context, keyword.value) for keyword in node.keywords}
    missing = [name for name in names if name not in given and name not in _OPTIONAL]
    if missing or not given.keys() <= set(names):
        context.refuse("E0302", node, "this form of a call that stores into an array")
    return given


_OPTIONAL = ("axis", "casting", "mode", "where", "wrap", "copy", "nan", "posinf", "neginf")


def _base(context: Context, node: gast.Call, given: Given) -> str:
    """The name of the array that a function stores into, which is its first parameter."""
    base = next(iter(given.values()))
    if not isinstance(base, gast.Name) or not are_arrays(context.value(base), data=True):
        context.refuse("E0302", node, "a call that stores into what may be no array")
    return str(base.id)


def named_as(base: str, node: gast.AST) -> gast.Name:
    """The name of what an expression gave, which may be what the expression may be."""
    made = load(base, node)
    vars(made).update({name: part for name, part in vars(node).items() if name in ("version", "computes")})
    return made


def refuse_objects(context: Context, base: Any, value: gast.expr) -> None:
    """Refuse objects that are stored into what may be an array, which makes numbers of them, and references to arrays
    and containers, which an array of objects keeps."""
    arrays = context.value(base)
    if (arrays.is_any or any(isinstance(one, Array) for one in arrays.atoms)) and holds_objects(
        context.facts, context.value(value)
    ):
        context.refuse("E0302", value, "an object that is stored into what may be an array")
    may_hold = arrays.is_any or any(map(_may_hold_references, arrays.atoms))
    if may_hold and not context.value(value).consists_of(is_unchanging):
        check = call_runtime(runtime.require_elements, [load(named(context, base), value)], value)
        context.out.append(nf.Effect(placed(gast.Expr(check), value), context.span))


def _may_hold_references(atom: Atom) -> bool:
    """Whether what is stored into may be an array of objects, which keeps a reference to what it is given."""
    if isinstance(atom, Array):
        return atom.dtype is None or atom.dtype.hasobject
    return isinstance(atom, At) and atom.site.kind is None


def _put(context: Context, base: str, index: gast.expr, value: gast.expr) -> None:
    context.out.append(nf.Store(base, index, value, context.span))


def _bound(context: Context, made: Made) -> gast.Name:
    name = context.fresh()
    context.out.append(nf.Bind(name, *made, context.span))
    return load(name, made[0])


def _repeated(context: Context, node: gast.AST, base: str, value: gast.expr, shape: gast.expr) -> gast.expr:
    """A value that is repeated, or cut off, to a number of places of an array."""
    if isinstance(value, gast.Constant):
        return value
    if not are_numbers(context.value(value)):
        check = call_runtime(runtime.require_items, [load(base, node), value], node)
        context.out.append(nf.Effect(placed(gast.Expr(check), node), context.span))
    return _bound(context, _applied(np.resize, [value, shape], node))


def _applied(function: Any, operands: list[gast.expr], node: gast.AST) -> Made:
    """A call of a function of NumPy's that has a rule."""
    rule = lookup(function)
    assert rule is not None
    expression = placed(gast.Call(_numpy(function.__name__, node), operands, []), node)
    return expression, nf.Apply(rule, function, rule.bind(function, operands, {}))


def _sized(places: gast.expr, node: gast.AST) -> gast.expr:
    first = subscript(places, constant(0, node), node)
    return placed(gast.Attribute(first, "shape", gast.Load()), node)


def _numpy(name: str, at: gast.AST) -> gast.expr:
    return placed(gast.Attribute(reference(_NUMPY), name, gast.Load()), at)


_FUNCTIONS: dict[Any, tuple[str, Callable[[Context, gast.Call, str, Given], None]]] = {
    np.copyto: ("dst src casting where", _copyto),
    np.put: ("a ind v mode", _put_flat),
    np.place: ("arr mask vals", _place),
    np.putmask: ("a mask values", _putmask),
    np.put_along_axis: ("arr indices values axis", _put_along_axis),
    np.fill_diagonal: ("a val wrap", _fill_diagonal),
}
_METHODS: dict[str, Callable[[Context, gast.Call, str], None]] = {
    "fill": _fill,
    "sort": _rearranged,
    "partition": _rearranged,
    "put": _put_method,
}
