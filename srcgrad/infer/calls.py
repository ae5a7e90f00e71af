"""Calls: of the user's functions and classes, which are entered, and of built-in ones, by the table of effects.

Enters: what is called and its arguments.  Leaves: what it returns, and the heap after it; None where it never returns.
What is in no table is unknown code: it keeps, changes and calls what it can reach.
"""

from __future__ import annotations

import inspect
import logging
from collections import OrderedDict
from dataclasses import replace
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.frontend.applying import differentiated, transform_of, written_out
from srcgrad.infer import named, sparse
from srcgrad.infer.applying import (
    OPERATORS,
    applied,
    called_data,
    is_fresh,
    is_operator,
    with_objects,
    without_dtype,
)
from srcgrad.infer.arithmetic import arithmetic
from srcgrad.infer.assigned import is_reflective, is_replaced
from srcgrad.infer.builtin import followed, merged_into, text_of
from srcgrad.infer.called import by_class, by_rule, is_by_rule, is_ruled
from srcgrad.infer.dispatch import by_methods
from srcgrad.infer.examples import constant_of_kinds, results, results_of_draw, results_of_method
from srcgrad.infer.generators import is_left_by_exceptions, lists_of
from srcgrad.infer.heap import Contents, Heap, Site, together
from srcgrad.infer.iteration import elements, iterate, over_iterators
from srcgrad.infer.lists import rearranged
from srcgrad.infer.making import made_by
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.objects import (
    CONTAINERS,
    MAPPINGS,
    Made,
    class_of,
    container,
    is_method,
    is_only_data,
    is_plain,
    looked_up,
    of_each,
    shown,
)
from srcgrad.infer.outside import ORDERING, is_of_library, is_remembering, note_stores
from srcgrad.infer.parameters import Given, bind, defaults_of, stored_defaults
from srcgrad.infer.reasons import NOT_FOLLOWED, of_maker, reaching
from srcgrad.infer.sets import set_method
from srcgrad.infer.values import (
    ANY,
    SCALARS,
    Array,
    At,
    Atom,
    Bound,
    Exact,
    Of,
    Value,
    are_arrays,
    are_numbers,
    exact,
    is_unchanging,
    of,
    union,
    unknown,
)
from srcgrad.infer.views import as_lists, seen_again
from srcgrad.ir.operations import Cell
from srcgrad.ir.regions import Function
from srcgrad.language.effects import Effect, member, method, of_function
from srcgrad.language.models import CLASSES, MODELS, is_of_model
from srcgrad.language.models.array_modules import model_in_numpy
from srcgrad.language.models.derivatives import TRANSFORMS, is_run_on_copies, program_of
from srcgrad.language.models.elementwise import fields_of
from srcgrad.language.operators import IN_PLACE_METHODS, by_place
from srcgrad.rules.table import is_constant, lookup, refusal
from srcgrad.runtime.binding import cached_function

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.ir.regions import Statement


def call(analysis: Analysis, frame: Frame, statement: Statement, function: Value, given: Given, heap: Heap) -> Made:
    """Call one of several functions."""
    frame.may_raise(heap)
    if function.is_any:
        return ANY, analysis.unknown([function, *given.values()], heap)
    objects = {atom for atom in function.atoms if isinstance(atom, At) and atom.site.kind is None}
    objects -= {atom for atom in objects if isinstance(atom, At) and atom.site in analysis.closures}
    each = [_one(analysis, frame, statement, atom, given, heap) for atom in by_class(function) if atom not in objects]
    if objects:
        each.append(called_data(analysis, frame, statement, given.after(Value(frozenset(objects))), heap))
    return together(each)


def _one(analysis: Analysis, frame: Frame, statement: Statement, atom: Any, given: Given, heap: Heap) -> Made:
    if isinstance(atom, Exact):
        given, heap = over_iterators(analysis, frame, statement, atom.value, given, heap)
    match atom:
        case Exact(value=found) if (program := program_of(found)) is not None:
            return _of_program(analysis, frame, statement, program, given, heap)
        case Exact(value=found) if (model := model_of(found)) is not None:
            made = analysis.lowered(model)
            assert made is not None
            defaults = defaults_of(analysis, model, made)
            if transform_of(found) is not None:
                given = given.replaced(_by_rule)
            return _entered(analysis, frame, statement, made, model.__globals__, {}, defaults, given, heap)
        case Exact(value=FunctionType() as function) if function is analysis.root or not is_by_rule(function):
            with analysis.assigned.trusted(is_ruled(function)):
                made_ = _of_function(analysis, frame, statement, function, given, heap)
            if is_ruled(function) and made_ is not None:
                found_, heap = (ANY, heap) if made_ is NotImplemented else made_
                return by_rule(analysis, frame, statement, given, found_, heap)
            if made_ is not NotImplemented:
                return made_  # type: ignore[no-any-return]
        case Exact(value=found) if (plain := plain_function(found)) is not found:
            return call(analysis, frame, statement, exact(plain), given, heap)
        case Exact(value=found) if is_remembering(found):
            made_ = call(analysis, frame, statement, exact(cached_function(found)), given, heap)
            if made_ is None or made_[0].consists_of(is_unchanging):
                return made_
            return made_[0], analysis.unknown([made_[0]], made_[1])  # what it returns again, others may change
        case Exact(value=np.vectorize() as found):
            held = {name: exact(each) for name, each in fields_of(found).items()}
            receiver, heap = container(frame, statement, heap, np.vectorize, Contents(fields=held), "outside")
            return call(analysis, frame, statement, receiver, given, heap)
        case Exact(value=MethodDescriptorType() | WrapperDescriptorType() as found) if given.positional:
            receiver, rest = given.positional[0], replace(given, positional=given.positional[1:])
            if found is vars(dict)["update"] and (merged := merged_into(analysis, receiver, rest, heap)) is not None:
                return exact(None), merged
            if (model := MODELS.get(found)) is not None:
                return call(analysis, frame, statement, exact(model), given, heap)
            kinds = {class_of(one) for one in receiver.atoms}
            if not receiver.is_any and kinds == {found.__objclass__}:  # ``list.append`` of a list
                return of_each(receiver, heap, lambda one, heap: _of_builtin(
                    analysis, frame, statement, Value(frozenset((one,))), found.__name__, rest, heap))  # fmt: skip
            return _of_library(analysis, frame, statement, found, given, heap)
        case At(site=site) if site in analysis.closures:
            made, namespace, cells = analysis.closures[site]
            defaults = stored_defaults(made, heap[site])
            return _entered(analysis, frame, statement, made, namespace, cells, defaults, given, heap)
        case At(site=Site(kind=kind)) if kind is not None and is_method(looked_up(kind, "__call__")):
            receiver = Value(frozenset((atom,)))
            return call(analysis, frame, statement, exact(looked_up(kind, "__call__")), given.after(receiver), heap)
        case Exact(value=type() as kind) if kind is not np.random.RandomState:
            return made_by(analysis, frame, statement, kind, given, heap)
        case Exact(value=function) if type(function) not in SCALARS and is_by_rule(function):
            return _of_library(analysis, frame, statement, function, given, heap)
        case Bound(receiver=receiver, function=FunctionType() as function):
            return call(analysis, frame, statement, exact(function), given.after(receiver), heap)
        case Bound(receiver=receiver, name=name):
            return _of_builtin(analysis, frame, statement, receiver, name, given, heap)
        case Exact() | Of() | Array() if not callable(getattr(atom, "value", None)):
            return None  # it cannot be called
        case At(site=Site(kind=kind)) if kind in CONTAINERS:
            return None
    return ANY, analysis.unknown([Value(frozenset((atom,))), *given.values()], heap)


def plain_function(found: Any) -> Any:
    """The function that ``srcgrad.compile`` was given; anything else as it is."""
    is_compiled = not isinstance(found, type) and hasattr(type(found), "__srcgrad_function__")
    return found.__srcgrad_function__() if is_compiled else found


def is_callable(value: Value) -> bool:
    """Whether a value may be a function."""
    return value.is_any or any(
        isinstance(atom, Bound) or isinstance(atom, Exact) and callable(atom.value) and not isinstance(atom.value, type)
        or isinstance(atom, At) and atom.site.kind is FunctionType for atom in value.atoms
    )  # fmt: skip


def model_of(found: Any) -> Any:
    """The function that does what one of the standard library does, or a function of such a model itself."""
    if is_of_model(found):
        return found
    transform = transform_of(found)
    if transform is not None:
        return TRANSFORMS.get(transform)
    if not isinstance(found, FunctionType | BuiltinFunctionType | type(np.sum)) and not is_remembering(found):
        return MODELS.get(found) if isinstance(found, type) and is_of_library(found) else None
    model = MODELS.get(found)
    return model_in_numpy(found) if model is None else model


def _by_rule(value: Value) -> Value:
    """A function that is differentiated: one with a rule, or without a text of its own, as the text that calls it."""
    return replace(value, atoms=frozenset(map(_by_text, value.atoms)))


def _by_text(atom: Atom) -> Atom:
    match atom:
        case Exact(value=found) if is_ruled(found):
            return Exact(differentiated(found))
        case Exact(value=found) if callable(found) and not isinstance(found, FunctionType | type):
            return Exact(written_out(found))
        case Bound(receiver=Value(atoms=atoms, is_any=False), function=FunctionType() as function) if len(atoms) == 1:
            (receiver,) = atoms
            if isinstance(receiver, Exact) and isinstance(receiver.value, type):
                return Exact(written_out(MethodType(function, receiver.value)))
    return atom


# --- functions of the user's -----------------------------------------------------------------------------------------
def _of_function(
    analysis: Analysis, frame: Frame, statement: Statement, function: FunctionType, given: Given, heap: Heap
) -> Any:
    """A function of Python, which is entered; ``NotImplemented`` of one whose text cannot be read."""
    if is_replaced(analysis.assigned, function):
        return ANY, analysis.unknown([exact(function), *given.values()], heap)
    made = analysis.lowered(function)
    if made is None:
        return NotImplemented
    defaults, captured = defaults_of(analysis, function, made), analysis.cells_of(function, made)
    return _entered(analysis, frame, statement, made, function.__globals__, captured, defaults, given, heap)


def _entered(
    analysis: Analysis, frame: Frame, statement: Statement, function: Function, namespace: Any, cells: Any,
    defaults: dict[Any, Value], given: Given, heap: Heap,
) -> Made:  # fmt: skip
    bound = bind(frame, statement, function.parameters, defaults, given, heap)
    if bound is None:
        return None
    if frame.is_unknown:
        analysis.run_unknown(function, namespace, cells)
        return ANY, heap
    arguments, heap = bound
    made = analysis.enter(function, namespace, cells, arguments, heap, frame, statement)
    if made is None or not is_run_on_copies(function.name, namespace):
        return made
    return made[0], made[1].join(heap)  # as Python does, which leaves the arguments as they were


def _of_program(
    analysis: Analysis, frame: Frame, statement: Statement, program: FunctionType, given: Given, heap: Heap
) -> Made:
    """The program of a derivative that was made outside.  By what it differentiates is no number that may change."""
    made = analysis.lowered(program)
    assert made is not None
    cells: dict[Cell, Site] = {}
    for cell in made.free:
        held = inspect.getclosurevars(program).nonlocals[cell.variable]
        if isinstance(held, tuple):
            value, heap = container(frame, statement, heap, tuple, Contents(parts=tuple(map(exact, held))), "argnums")
        else:
            value = exact(held) if isinstance(held, int) else analysis.outside.value(held)
        whole, heap = container(
            frame, statement, heap, CellType, Contents(fields={"cell": value}), f"cell {cell.variable}"
        )
        (cells[cell],) = (atom.site for atom in whole.atoms if isinstance(atom, At))
    return _entered(analysis, frame, statement, made, program.__globals__, cells, {}, given, heap)


# --- built-in functions and methods ----------------------------------------------------------------------------------
def _of_library(
    analysis: Analysis, frame: Frame, statement: Statement, function: Any, given: Given, heap: Heap
) -> Made:
    positional, keywords = by_place(function, given.positional, given.keywords)
    given = replace(given, positional=positional, keywords=keywords)
    values = given.values()
    if sparse.is_of_products(function):
        return sparse.function(analysis, frame, statement, function, given, heap)
    made = followed(analysis, frame, statement, function, given, heap)
    if made is not NotImplemented:
        return made  # type: ignore[no-any-return]
    if is_reflective(function) or function is vars and not all(isinstance(a, At) for v in values for a in v.atoms):
        is_of_ours = str(frame.namespace.get("__name__")).startswith("srcgrad.")  # of a model, which says so
        analysis.assigned.give_up(NOT_FOLLOWED if is_of_ours else reaching(f"{function.__name__}()"))
    if (why := of_maker(function)) is not None:
        return unknown(why), analysis.unknown(values, heap)
    if refusal(function) is not None and any(map(is_callable, values)):  # of what the function captured nothing is seen
        return ANY, analysis.unknown(values, heap)
    is_told = lookup(function) is not None or is_constant(function) or refusal(function) is not None
    if isinstance(function, FunctionType) and not is_told and _is_read(function):
        inside = _of_function(analysis, frame, statement, function, given, heap)  # its derivative is that of its text
        if inside is not NotImplemented:
            return inside  # type: ignore[no-any-return]
    if is_operator(function, len(given.positional)) and not given.keywords and given.more is None:
        symbol, in_place = OPERATORS[function]
        return arithmetic(analysis, frame, statement, symbol, given.positional, in_place, heap)
    if function is divmod and len(given.positional) == 2 and not is_plain(analysis, heap, *values):
        return by_methods(
            analysis, frame, statement, "divmod", given.positional, False, heap,
            lambda plain: _of_library(analysis, frame, statement, function, Given(plain), heap),
        )  # fmt: skip
    if function is iter and len(given.positional) == 1 == len(values):
        return iterate(analysis, frame, statement, values[0], heap)
    if function is next and 0 < len(values) < 3 and not given.keywords:
        held, heap = elements(analysis, frame, statement, values[0], heap)
        return union(held, *values[1:]), heap
    if function is logging.getLogger:
        return container(frame, statement, heap, logging.Logger, Contents())
    if (function is np.random.default_rng or function is np.random.RandomState) and is_plain(analysis, heap, *values):
        kind = np.random.Generator if function is np.random.default_rng else np.random.RandomState
        return container(frame, statement, heap, kind, Contents())
    if not given.keywords:
        if (constant := constant_of_kinds(function, given.positional, heap, given.more)) is not None:
            return constant, heap
    owner = getattr(function, "__self__", None)
    effect = of_function(function)
    if not is_fresh(effect, given):
        analysis.note_store(values, heap)
    if is_fresh(effect, given) and not effect.calls:
        positional, heap = lists_of(analysis, frame, given.positional, heap)
        given = replace(given, positional=positional)
        values = given.values()
    is_our_own = is_constant(function) and str(getattr(function, "__module__", "")).startswith("srcgrad.runtime.")
    if not effect.is_known and (lookup(function) is not None or is_our_own):  # named by a formula of SciPy's
        effect = Effect(returns="view")
    known = results(function, given.positional, given.keywords, heap) if is_fresh(effect, given) else None
    if known is None and (again := seen_again(frame, statement, function, given, heap)) is not None:
        return again
    if known is not None:
        return shown(frame, statement, heap, known)
    if not effect.is_known or effect.calls or not is_plain(analysis, heap, *values):
        own = [analysis.outside.value(owner)] if _has_owner(function) else []
        note_stores(analysis.assigned, function, values)
        return ANY, analysis.unknown([*values, *own], heap)
    effect, kept = with_objects(effect, function, without_dtype(function, given), heap)
    return applied(analysis, frame, statement, effect, kept, heap)


#: Libraries whose functions compute with numbers, so that their derivative is that of their text.
_READ = ("numpy", "scipy", "statistics", "colorsys")


def _is_read(function: FunctionType) -> bool:
    """Whether a function of a library is entered: one that computes, or of which the table of effects says
    nothing, and methods that Python has added to a class."""
    return function in ORDERING or function.__module__.partition(".")[0] in _READ or not of_function(function).is_known


def _has_owner(function: Any) -> bool:
    owner = getattr(function, "__self__", None)
    return isinstance(function, BuiltinFunctionType) and owner is not None and not hasattr(owner, "__file__")


def _of_builtin(
    analysis: Analysis, frame: Frame, statement: Statement, receiver: Value, name: str, given: Given, heap: Heap
) -> Made:
    """A method of an object of a built-in class."""
    values = (receiver, *given.values())
    if receiver.is_any:
        return ANY, analysis.unknown(values, heap)
    if sparse.may_be_matrix(receiver):
        return sparse.method(analysis, frame, statement, receiver, name, given, heap)
    (atom,) = receiver.atoms if len(receiver.atoms) == 1 else (None,)
    kind: Any = np.ndarray if isinstance(atom, Array) else None
    if isinstance(atom, At):
        kind = atom.site.kind
    elif isinstance(atom, Exact):
        kind = type(atom.value)
    elif isinstance(atom, Of):
        kind = atom.kind
    if name == "detach" and not given.values() and receiver.consists_of(is_only_data):
        return receiver, heap  # of a tensor in its place: ``stop_gradient``
    if name == "__init__" and isinstance(kind, type) and _is_of_object(kind) and not given.values():
        return exact(None), heap
    if name == "__init__" and isinstance(atom, At) and isinstance(kind, type) and issubclass(kind, BaseException):
        held = heap[atom.site]  # Python's own, which keeps the arguments
        return exact(None), analysis.store(heap, atom.site, replace(held, rest=union(held.rest, *given.values())))
    if isinstance(atom, At) and is_named_tuple(kind):
        found = named.method(analysis, frame, statement, atom, name, given, heap)
        if found is not NotImplemented:
            return found  # type: ignore[no-any-return]
    if kind in (np.random.Generator, np.random.RandomState) and given.more is None:
        drawn = results_of_draw(kind, name, given.positional, given.keywords, heap)
        if drawn is not None:
            return shown(frame, statement, heap, drawn)
    if kind in CLASSES and is_method(held := looked_up(kind, name)):
        return call(analysis, frame, statement, exact(held), given.after(receiver), heap)
    if getattr(kind, name, None) in (dict.update, OrderedDict.update):
        if (merged := merged_into(analysis, receiver, given, heap)) is not None:
            return exact(None), merged
    model = MODELS.get(getattr(kind, name, None)) if kind in CONTAINERS else None
    if model is not None:
        return call(analysis, frame, statement, exact(model), given.after(receiver), heap)
    if isinstance(atom, At) and name == "throw" and is_left_by_exceptions(analysis, atom.site, heap):
        frame.may_raise(heap)
        analysis.raised = union(analysis.raised, *given.values())
        return None
    if kind is slice and name == "indices" and are_numbers(*given.values()):
        return container(frame, statement, heap, tuple, Contents(parts=(of(int),) * 3))
    is_array = kind is None and name == "sort" and "key" not in [key for key, _ in given.keywords]  # or as of one
    effect = member(np.ndarray, name) if is_array else method(name) if kind is None else member(kind, name)
    if name == "resize":
        analysis.assigned.is_reshaped = True
    if kind is str and isinstance(atom, Exact) and (made := text_of(atom, name, given)) is not None:
        return made, heap
    if kind in (int, float, complex, bool, bytes) or isinstance(kind, type) and issubclass(kind, np.generic):
        effect = Effect()  # numbers change nothing, and hold nothing
    if not is_fresh(effect, given.after(receiver)):
        analysis.note_store(values, heap)
    if isinstance(atom, At):
        for followed_ in (rearranged, set_method):
            changed = followed_(analysis, frame, statement, atom, name, given, heap)
            if changed is not NotImplemented:
                return changed  # type: ignore[no-any-return]
    is_view = isinstance(atom, At) and kind in (None, *MAPPINGS) and name in ("items", "keys", "values")
    if is_view and not given.values():
        view = type(getattr({} if kind is None else kind(), name)())  # of data it is that of a dict, too
        return container(frame, statement, heap, view, Contents(fields={"of": receiver}))
    if isinstance(atom, Array) and name in IN_PLACE_METHODS and len(values) == 2 and are_numbers(*values):
        return arithmetic(analysis, frame, statement, IN_PLACE_METHODS[name], values, True, heap)
    if name == "tolist" and not given.values() and are_arrays(receiver, of_numbers=True):
        return as_lists(frame, statement, receiver, heap)
    if isinstance(atom, Array) and is_fresh(effect, given.after(receiver)):
        known = results_of_method(name, receiver, given.positional, given.keywords, heap)
        if known is not None:
            return shown(frame, statement, heap, known)
        if (again := seen_again(frame, statement, name, given.after(receiver), heap, is_method=True)) is not None:
            return again
    if is_fresh(effect, given.after(receiver)) and not effect.calls:
        positional, heap = lists_of(analysis, frame, given.positional, heap)
        given = replace(given, positional=positional)
        values = (receiver, *given.values())
    if not effect.is_known or effect.calls and given.values() or not is_plain(analysis, heap, *values):
        return ANY, analysis.unknown(values, heap)
    return applied(analysis, frame, statement, effect, without_dtype(name, given.after(receiver)), heap)


def _is_of_object(kind: type) -> bool:
    """Whether ``object`` is the only base of a class that is not the user's."""
    return [base for base in kind.__mro__ if is_of_library(base)] == [object]
