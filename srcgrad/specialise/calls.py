"""Calls: of functions with rules, of the user's functions, classes and methods, for the kind of call that each is."""

from __future__ import annotations

import copy
import inspect
from dataclasses import replace
from enum import EnumType
from types import FunctionType
from typing import Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.applying import transform_of
from srcgrad.frontend.classes import found, is_user_class
from srcgrad.frontend.signatures import signature_of
from srcgrad.infer.calls import model_of, plain_function
from srcgrad.infer.data import is_data
from srcgrad.infer.emitted import ASKING
from srcgrad.infer.enumerations import are_members
from srcgrad.infer.facts import Facts
from srcgrad.infer.items import is_index
from srcgrad.infer.objects import is_only_data
from srcgrad.infer.outside import COMPILED_BY_CYTHON, is_of_library, is_remembering
from srcgrad.infer.reasons import of_class
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import SCALARS, Array, At, Atom, Bound, Exact, Of, Value, is_unchanging, union
from srcgrad.ir import normal_form as nf
from srcgrad.ir import operations as ir
from srcgrad.language.effects import is_of_emitted, is_reading, of_function
from srcgrad.language.effects import method as method_of_builtin
from srcgrad.rules.formula import is_named_number, object_of
from srcgrad.rules.table import is_constant, lookup, refusal
from srcgrad.rules.table import method as method_function
from srcgrad.rules.template import Rule, UnsupportedCall
from srcgrad.runtime.binding import cached_function
from srcgrad.runtime.objects import is_object
from srcgrad.runtime.outputs import keeps_references
from srcgrad.specialise import containers, emitted, sets, sparse, stores
from srcgrad.specialise.carrying import MERGING
from srcgrad.specialise.context import Context
from srcgrad.specialise.dispatching import Method
from srcgrad.specialise.fields import holds_objects
from srcgrad.specialise.instances import fixed_parameters, instance_of, starts_alone, static_of, widest
from srcgrad.specialise.joining import JOINING
from srcgrad.specialise.managers import LOCKS
from srcgrad.specialise.operands import (
    Made,
    are_writers,
    atom,
    is_container,
    is_of_arrays,
    is_spelled,
    is_varied_container,
    named,
    settled,
)
from srcgrad.specialise.receivers import is_lent, is_looked_up
from srcgrad.specialise.set_operations import SETS
from srcgrad.specialise.unruled import is_drawing, missing_rule, names_given
from srcgrad.specialise.unruled_calls import unruled
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.build import call_runtime, constant, load, placed
from srcgrad.syntax.globals import importable, reference
from srcgrad.syntax.parse import clone, spelled, walk


def call(context: Context, node: gast.Call) -> Made:
    made = getattr(node, "statement", None)
    if made is None and isinstance(node.func, gast.Name) and node.func.id == "slice":  # spelled as a call
        return settled(context, node), nf.Fixed()
    if made is None:
        context.refuse("E0413", node, "an operator that is written as a call")
    operation = made.operation
    if isinstance(operation, ir.Make) and operation.kind == "set":  # an empty one, which has no display
        return sets.displayed(context, placed(gast.Set([]), node))
    if not isinstance(operation, ir.Call):
        context.refuse("E0206", node, "a call with stars")
    called = context.reduced.calls.get(made)
    function = static_of(context.reduced.value(operation.function))
    methods = [getattr(one, "function", None) for one in context.reduced.value(operation.function).atoms]
    started = found(function, "__init__") if isinstance(function, type) and is_user_class(function) else function
    is_users = isinstance(started, FunctionType) or all(isinstance(one, FunctionType) for one in methods)
    is_passed = operation.star in context.reduced.rests and called is not None and is_users
    if operation.star is not None and not is_passed or operation.rest is not None:
        if is_constant(function) and function is not slice and not _may_keep(context, node, operation, function):
            return settled(context, node), nf.Fixed()
        context.refuse("E0206", node, "a call with stars")
    if function is not None and not is_spelled(node.func):  # read from a container: it is known which one it is
        atom(context, node.func)
        head = reference(importable(getattr(function, "__name__", "f"), function))
        computes = getattr(node, "computes", None)
        node = placed(gast.Call(head, node.args, node.keywords), node)
        node.statement, node.computes = made, computes
    if isinstance(function, nf.Callee):  # an attempt, or a local function, with all of its parameters
        given = tuple(atom(context, argument) for argument in node.args)
        context.written.add(made)
        return placed(gast.Call(node.func, list(given), []), node), nf.Call(function, given)
    if context.source.generated and (built := emitted.operation(context, node, function)) is not None:
        return built
    if function is runtime.defaulting and not node.args:  # the items of a dict that is made
        return call_runtime(function, [gast.Dict([], [])], node), nf.Pack("dict", (), ())
    if any(function is kind for kind in (bool, int, float, complex, str)) and not node.args and not node.keywords:
        return constant(function(), node), nf.Fixed()
    is_ruled = lookup(function) is not None or is_constant(function)
    if is_ruled and isinstance(function, FunctionType) and not is_of_library(function):
        context.written.add(made)  # its rule stands for its text
    if called is not None and made in context.reduced.methods and not is_ruled:
        return _of_method(context, node, called, function, context.reduced.methods[made])
    # The model of a derivative tells what its results are like, and not what they are.
    instead: Any = None if transform_of(function) is not None else model_of(function) or plain_function(function)
    is_kept = is_remembering(function) and model_of(function) is None
    if called and is_kept and all(_is_value(context.facts, each) for each in _given(context, made)):
        instead = cached_function(function)  # given equal numbers it returns what it would return without its cache
    elif called and is_kept and not any(map(context.is_local, walk(node))):
        context.written.add(made)
        return settled(context, node), nf.Fixed()
    elif is_kept:  # of an object it returns what it did for an equal one
        context.refuse("E0212", node, "a call of a cached function that is given other things than numbers and texts")
    if called is not None and isinstance(instead, FunctionType) and not is_ruled:
        return of_user(context, node, called, instead, list(node.args), node.func)
    if isinstance(function, type) and issubclass(function, BaseException) and context.is_fixed(node):
        if all(starts_alone(context.facts, summary) for summary in called or ()):
            context.written.add(made)
        return settled(context, node), nf.Fixed()  # what is raised, and not looked into
    if type(function) is EnumType and (are_members(context.value(node)) or not context.value(node)):  # or it raises
        return settled(context, node), nf.Fixed()
    if isinstance(function, type) and is_user_class(function):
        from srcgrad.specialise.constructing import constructed  # which calls an ``__init__``

        return constructed(context, node, called, function)
    if isinstance(function, type) and function in SETS:
        return sets.constructed(context, node, function)
    if isinstance(function, type) and (built := containers.constructed(context, node, function)) is not None:
        return built
    if function is not None:
        return _of_library(context, node, function)
    value = context.reduced.value(operation.function)
    bounds = [each for each in value.atoms if isinstance(each, Bound)]
    names = {(each.name, each.function) for each in bounds}
    is_method = not value.is_any and len(names) == 1 and all(map(is_only_data, value.atoms - {*bounds}))
    if is_method and isinstance(node.func, gast.Attribute):
        bound = replace(bounds[0], receiver=union(*(each.receiver for each in bounds)))
        if bound.function is None:
            if (product := sparse.method(context, node, bound, atom)) is not None:
                return product
            changed = sets.method(context, node, bound) or containers.method(context, node, bound)
            changed = changed or stores.method(context, node, bound)
            if changed is not None and isinstance(changed[1], nf.Exchange) and not bound.name.startswith("pop"):  # None
                context.out.append(nf.Bind(context.fresh(), *changed, context.span))
                changed = constant(None, node), nf.Fixed()
            return changed or _method(context, node, bound)
        base = context.value(node.func.value)
        owner = node.func.value
        is_outside = is_spelled(owner) and not is_lent(object_of(node.func), object_of(owner))
        is_read = is_outside or is_looked_up(context.facts, base, node.func.attr)
        if called is not None and is_read and isinstance(bound.function, FunctionType):
            receiver = atom(context, node.func.value)
            head = placed(gast.Attribute(receiver, node.func.attr, gast.Load()), node.func)
            return of_user(context, node, called, bound.function, [receiver, *node.args], head, skipped=1)
    context.refuse("E0201", node, "this call")


def _given(context: Context, made: Any) -> list[Value]:
    operation = made.operation
    return [*map(context.reduced.value, (*operation.positional, *(operand for _, operand in operation.keywords)))]


def _is_value(facts: Facts, value: Value) -> bool:
    """Whether a value is a number, a text, or a tuple of such, which stays as it is."""
    def is_one(atom: Any) -> bool:
        if isinstance(atom, At) and atom.site.kind is tuple and atom.site in facts.contents:
            return all(_is_value(facts, held) for held in facts.contents[atom.site].values() if held)
        return isinstance(atom, Of) or isinstance(atom, Exact) and type(atom.value) in SCALARS

    return value.consists_of(is_one)


def _of_method(context: Context, node: gast.Call, called: list[Summary], function: FunctionType, how: Method) -> Made:
    """A method of an object, spelled as one."""
    receiver = atom(context, node.args[0])
    head = placed(gast.Attribute(receiver, how.name, gast.Load()), node)
    made, operation = of_user(context, node, called, function, [receiver, *node.args[1:]], head, skipped=1)
    return (head if how.is_read else made), operation


def _require_fitting(context: Context, node: gast.Call, function: FunctionType) -> None:
    """Refuse a call that Python refuses, by what it says of it."""
    if any(isinstance(each, gast.Starred) for each in node.args) or any(each.arg is None for each in node.keywords):
        return
    try:
        inspect.signature(function, follow_wrapped=False).bind(*node.args, **{k.arg: k.value for k in node.keywords})
    except TypeError as error:
        raise UnsupportedSyntax(
            f"this call does not fit {function.__name__}(): {error}", context.span, code="E0207"
        ) from None


#: Functions whose second operand is a dtype.
_OF_DTYPE = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.fromiter)


def _require_no_references(context: Context, node: gast.Call, position: int | None) -> None:
    """Refuse a call of NumPy's that puts references to arrays or containers into an array of objects; where the dtype
    is not known, when it runs.  ``position``: of the dtype, where it may be given without its name."""
    named_ones = [keyword.value for keyword in node.keywords if keyword.arg == "dtype"]
    dtypes = named_ones or ([] if position is None else node.args[position : position + 1])
    given = [each for each in (*node.args, *(k.value for k in node.keywords)) if each not in dtypes]
    if not dtypes or all(_is_unchanging_inside(context, each) for each in given):
        return
    (dtype,) = dtypes
    value = context.value(dtype)
    statics = [atom.value for atom in value.atoms if isinstance(atom, Exact)]
    if object_of(dtype) is not None:
        statics = [object_of(dtype)]
    if any(map(keeps_references, statics)):
        context.refuse("E0507", node, "an array of objects that holds arrays or containers", hint="keep them in a list")
    if value.is_any or len(statics) < max(len(value.atoms), 1):
        check = call_runtime(runtime.require_elements, [load(named(context, dtype), node)], node)
        context.out.append(nf.Effect(placed(gast.Expr(check), node), context.span))


def _is_unchanging_inside(context: Context, node: gast.AST) -> bool:
    """Whether a value is a number or a text, an array of numbers, or a list or tuple of numbers and texts."""

    def is_one(atom: Atom) -> bool:
        if isinstance(atom, Array):
            return atom.number is not None
        if not (isinstance(atom, At) and atom.site.kind in (list, tuple)):
            return is_unchanging(atom)
        held = context.facts.contents.get(atom.site)
        return held is not None and (not held.items or held.items.consists_of(is_unchanging))

    return context.value(node).consists_of(is_one)


def _of_library(context: Context, node: gast.Call, function: Any) -> Made:
    if str(getattr(function, "__module__", "")).partition(".")[0] == "numpy":
        _require_no_references(context, node, 1 if any(function is one for one in _OF_DTYPE) else None)
    if isinstance(function, FunctionType):
        _require_fitting(context, node, function)
    if function in LOCKS and not node.args:
        return settled(context, node), nf.Fixed()
    changed = sets.copied(context, node, function) or stores.function(context, node, function)
    changed = changed or sparse.made_by(context, node, function, settled)
    if changed is not None:
        return changed
    rule = lookup(function)
    if rule is not None:
        return _applied(context, node, rule, function, None, list(node.args))
    effect = of_function(function)
    is_computed = effect.is_known and not (effect.updates or effect.keeps or effect.calls or effect.draws)
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    is_apart = is_of_emitted(function) and effect.returns == "fresh" or function in ASKING
    if is_constant(function) and not context.is_fixed(node) and not is_apart and any(
        is_varied_container(context, context.value(operand))
        or function in MERGING and any(map(is_data, context.value(operand).atoms)) for operand in given
    ):  # what it gives may hold what that holds
        context.refuse("E0205", node, f"a call of {getattr(function, '__name__', function)} with a container")
    is_counting = isinstance(function, COMPILED_BY_CYTHON) and all(is_index(context.value(o)) for o in given)
    if is_constant(function) or is_computed and (is_counting or context.is_fixed(node)):
        made = settled(context, node)
        if isinstance(function, FunctionType) and not is_of_library(function) and any(
            map(is_data, context.value(node).atoms)
        ):  # its text does not tell what it gives
            place = f"what {spelled(node.func)} gives, {context.span.origin},"
            made = call_runtime(runtime.require_plain, [made, constant(place, node)], node)
        return made, nf.Fixed()
    names = names_given(node)
    is_alone = not (effect.updated(len(node.args), names) or effect.keeps or effect.calls)
    if effect.is_known and is_alone and not isinstance(function, type):  # whose objects may have operators of their own
        return unruled(context, node, None, function, draws=effect.draws)
    if refusal(function) is not None:
        raise missing_rule(spelled(node.func), function, context.span)
    context.refuse("E0501", node, f"a call of {getattr(function, '__name__', function)}")


def _may_keep(context: Context, node: gast.Call, call: ir.Call, function: Any) -> bool:
    """Whether a constant function that is called with stars may store into what they give, or hold it in its result."""
    effect, has_star, has_rest = of_function(function), call.star is not None, call.rest is not None
    if effect.is_known and effect.updated(len(call.positional), dict(call.keywords), star=has_star, rest=has_rest):
        return True
    if effect.is_known and effect.returns == "fresh" and not effect.keeps and function not in MERGING:
        return False  # such as ``np.common_type``, which describes what it is given
    return not context.is_fixed(node) and not context.value(node).consists_of(
        lambda each: isinstance(each, Array) and each.number is not None or is_unchanging(each)
    )


def _method(context: Context, node: gast.Call, bound: Bound) -> Made:
    atoms, name, given = bound.receiver.atoms, bound.name, [*node.args, *node.keywords]
    if is_of_arrays(name) and method_of_builtin(name).updated(1 + len(node.args), names_given(node)):
        context.refuse_member(node, name, "method")  # a store into what may be no array
    if name == "astype":
        _require_no_references(context, node, 0)
    if is_drawing(bound):
        hint = "draw from the standard distribution, and scale and shift what is drawn"
        return unruled(context, node, f"{name} of a generator", hint=hint, draws=True)
    if are_writers(bound.receiver):
        return settled(context, node), nf.Fixed()
    is_copied = name == "copy" and not given  # lists and dicts as well
    is_theirs = is_copied or is_of_arrays(name)
    atoms = frozenset(a for a in atoms if isinstance(a, Array | Of | Exact) or not (is_theirs and is_only_data(a)))
    is_data = not bound.receiver.is_any and all(isinstance(a, Array | Of | Exact) for a in atoms)
    scalars = {a for a in atoms if isinstance(a, Of) or isinstance(a, Exact) and type(a.value) in SCALARS}
    is_scalar = bool(atoms) and scalars == atoms
    function = method_function(name)
    rule = None if function is None else lookup(function)
    is_of_text = atoms and all(isinstance(a, Exact) and type(a.value) is str or a == Of(str) for a in atoms)
    is_fixed = context.is_fixed(node) or is_constant(function) or is_of_text
    if is_data and rule is None and is_fixed and (is_scalar or is_reading(method_of_builtin(name))):
        return settled(context, node), nf.Fixed()
    if not is_data or rule is None or not is_scalar and not all(isinstance(a, Array | Of) for a in atoms):
        context.refuse_member(node, name, "method")
    arguments = list(node.args)
    if name in ("reshape", "transpose") and len(arguments) > 1:
        arguments = [placed(gast.Tuple(arguments, gast.Load()), node)]
    return _applied(context, node, rule, function, node.func.value, arguments)


def _applied(
    context: Context, node: gast.Call, rule: Rule, function: Any, receiver: Any, arguments: list[Any]
) -> Made:
    """A function with a rule."""
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    # Where a method of the user's takes part in a copy, the analysis has noted it as unknown code.
    is_copy = function in (copy.copy, copy.deepcopy)
    looks_only = is_copy or is_of_emitted(function)
    sparse.require_no_matrix(context, function, given)
    is_users = isinstance(function, FunctionType) and not is_of_library(function)
    if not (looks_only or is_users) and any(holds_objects(context.facts, context.value(each)) for each in given):
        context.refuse("E0205", node, "a function that is applied to objects")
    if any(id(object_of(argument)) in JOINING or any(
        isinstance(one, Exact) and id(one.value) in JOINING for one in context.value(argument).atoms
    ) for argument in given):  # fmt: skip
        why = of_class(np.r_)
        assert why is not None
        raise UnsupportedSyntax(why.message, context.span, code=why.code, hint=why.hint)
    if function in (min, max) and len(given) > 1 and any(map(is_container, map(context.value, given))):
        context.refuse("E0415", node, "an extremum of tuples")
    for keyword in node.keywords:  # ``-np.inf``, which a rule is to see as a number
        keyword.value = settled(context, keyword.value) if _is_option(context, keyword.value) else keyword.value
    options = {id(each): settled(context, each) for each in arguments if _is_option(context, each)}
    arguments, node.args = ([options.get(id(e), e) for e in given] for given in (arguments, node.args))
    first = [] if receiver is None else [receiver]
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    if "out" in keywords:
        context.refuse("E0302", node, "a call that stores into an array")
    if rule.arranged is not None:
        arguments = [_listed(context, each) or each for each in arguments]
    try:
        bound = rule.bind(function, [*first, *arguments], keywords)
    except UnsupportedCall as why:
        raise UnsupportedSyntax(str(why), context.span, code="E0504") from None
    done: dict[int, Any] = {}
    for parameter, expression in bound.items():
        parts = expression.elts if parameter == rule.variadic and isinstance(expression, gast.Tuple) else [expression]
        for part in parts:
            is_read = parameter in rule.sensitive and not _is_option(context, part)
            if is_users and is_read and holds_objects(context.facts, context.value(part)):
                context.refuse("E0205", node, "a function that is applied to objects")
            items = sets.argument(context, function, part) if is_read else None
            done[id(part)] = items or (containers.argument(context, part) if is_read else settled(context, part))
    operands: dict[str, Any] = {}
    for parameter, expression in bound.items():
        if id(expression) in done:
            operands[parameter] = done[id(expression)]
        else:
            operands[parameter] = placed(gast.Tuple([done[id(e)] for e in expression.elts], gast.Load()), node)
    printed = [done.get(id(a), a) for a in node.args]
    named_ = [placed(gast.keyword(k.arg, done.get(id(k.value), k.value)), k) for k in node.keywords]
    head = node.func
    if receiver is not None:
        head = placed(gast.Attribute(done[id(receiver)], node.func.attr, gast.Load()), node.func)
    return placed(gast.Call(head, printed, named_), node), nf.Apply(rule, function, operands)


def _is_option(context: Context, node: Any) -> bool:
    """Whether an argument is a number that a module names, by which a rule may be chosen."""
    names = [name for name in walk(node) if isinstance(name, gast.Name)]
    return not any(map(context.is_local, names)) and is_named_number(settled(context, clone(node)))


def _listed(context: Context, node: Any) -> gast.List | None:
    """A list or tuple of the program that holds the same integers at all times, as its display."""
    sites = [atom.site for atom in context.value(node).atoms if isinstance(atom, At)]
    if len(sites) != 1 or not context.value(node).consists_of(lambda atom: isinstance(atom, At)):
        return None
    held = context.facts.contents.get(sites[0])
    is_made = sites[0].kind in (list, tuple) and isinstance(sites[0].origin, tuple) and sites[0].origin[0] != "argument"
    if not is_made or context.facts.is_seen(sites[0]) or held is None or held.parts is None or held.rest:
        return None
    labels: list[gast.expr] = []
    for part in held.parts:
        one = next(iter(part.atoms), None)
        if part.is_any or len(part.atoms) != 1 or not isinstance(one, Exact):
            return None
        if type(one.value) is not int and one.value is not ...:
            return None
        labels.append(constant(one.value, node))
    return placed(gast.List(labels, gast.Load()), node)


def of_user(
    context: Context,
    node: Any,
    summaries: list[Summary],
    function: FunctionType,
    given: list[Any],
    head: gast.expr,
    *,
    skipped: int = 0,
    kind: type | None = None,
) -> Made:
    """A function of the user's: an operand for each of its parameters."""
    if is_of_library(function) and any(s.function.qualname != function.__qualname__ for s in summaries):
        # The summaries are those of the user's functions that it calls.
        context.refuse("E0207", node, f"a call of {function.__name__}")
    if (called := widest(summaries)) is None:
        context.refuse("E0201", node, "a call of what may be one of several functions")
    context.written.add(getattr(node, "statement", None))
    signature = signature_of(function)
    bound = dict(zip(signature.positional, given, strict=False))
    keywords = node.keywords if isinstance(node, gast.Call) else []
    own = {*signature.positional[signature.positional_only :], *signature.keyword_only}
    bound |= {keyword.arg: keyword.value for keyword in keywords if keyword.arg in own}
    more = given[len(signature.positional) :]
    given = given[: len(signature.positional)]
    is_passed = len(more) == 1 and isinstance(more[0], gast.Starred)  # the tuple of the others, as it is
    left = [atom(context, argument.value if is_passed else argument) for argument in more]
    others = {keyword.arg: atom(context, keyword.value) for keyword in keywords if keyword.arg not in own}
    if left and signature.variadic is None or others and signature.keywords is None or None in others:
        context.refuse("E0207", node, "a call that does not fit")
    passed: dict[str, gast.expr] = {}
    spelled: dict[str, gast.expr] = {}  # the call as the function itself takes it
    fixed = {version.variable or version.name for version in fixed_parameters(called)}
    for parameter in signature.parameters:
        if parameter in fixed:  # the callee was written for it
            if parameter in bound:
                spelled[parameter] = settled(context, bound[parameter])
            continue
        if parameter in bound:
            passed[parameter] = atom(context, bound[parameter])
            continue
        if parameter == signature.variadic and is_passed:
            passed[parameter] = left[0]
            continue
        if parameter == signature.variadic:
            display: Any = placed(gast.Tuple(left, gast.Load()), node)
            passed[parameter] = _bound_to(context, display, nf.Pack("tuple", tuple(left)))
            continue
        if parameter == signature.keywords:
            keys = tuple(constant(key, node) for key in others)
            display = placed(gast.Dict(list(keys), list(others.values())), node)
            passed[parameter] = _bound_to(context, display, nf.Pack("dict", tuple(others.values()), keys))
            continue
        default = signature.defaults.get(parameter)
        if isinstance(default, GlobalBinding):
            if callable(default.value) and not is_object(default.value):
                context.refuse("E0211", node, "a function that is a default")
            passed[parameter] = _bound_to(context, placed(reference(default), node), nf.Fixed())
            continue
        if default is None:
            context.refuse("E0211", node, "a default that is not known when this is compiled")
        passed[parameter] = default
    statics = [static_of(context.value(argument)) for argument in passed.values()]
    if any(static is not None and not isinstance(static, np.dtype) for static in statics):
        context.refuse("E0211", node, "a function that is passed on")
    spelled |= passed
    others_ = [placed(gast.Starred(one, gast.Load()), node) for one in left] if is_passed else left
    written = [*(spelled[name] for name in signature.positional[skipped : len(given)]), *others_]
    named = [placed(gast.keyword(k.arg, {**spelled, **others}[k.arg]), k) for k in keywords]
    expression = placed(gast.Call(head, written, named), node)
    if kind is not None:
        del passed[signature.positional[0]]
    instance = instance_of(function, called, context.facts, kind, is_flat=context.reduced.is_flat)
    callee = nf.Callee(function, makes=kind, instance=instance)
    return expression, nf.Call(callee, tuple(passed.values()))


def _bound_to(context: Context, expression: gast.expr, operation: nf.Operation) -> gast.expr:
    name = context.fresh()
    context.out.append(nf.Bind(name, expression, operation, context.span))
    return load(name, expression)
