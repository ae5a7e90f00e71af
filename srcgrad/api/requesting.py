"""Requests of a derivative to the compiler, for the arguments of a call.

Enters: a derivative, the function to compile, and the values of a call, None for any.  Leaves: a ``Request``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from srcgrad.api.arguments import is_static, kinds_of
from srcgrad.api.sizes import pattern_of, shapes_told, symbols_of
from srcgrad.rules.facts import fact_of

if TYPE_CHECKING:
    from srcgrad.api.derivative import Derivative
    from srcgrad.api.kept import Variant
    from srcgrad.requests import Request


def request_of(
    derivative: Derivative, function: Callable[..., Any], values: tuple[Any, ...] | None, variant: Variant
) -> Request:
    """The request to the compiler, under the present options."""
    from srcgrad.infer.entry import Constant
    from srcgrad.ir.normal_form import Callee
    from srcgrad.programs import present_options
    from srcgrad.requests import Request

    callee, options = Callee(function), present_options()  # type: ignore[arg-type]
    named, facts = list(zip(derivative.parameters.names, values or (), strict=False)), None
    if values is not None and options.specialise:
        sizes = symbols_of(values) if options.sizes else None
        facts = {name: fact_of(value, name, sizes) for name, value in named if not is_static(value)}
    tupled, is_open = isinstance(derivative.argnums, tuple), values is None and not variant.shown
    own = derivative.parameters.names[: len(derivative.parameters.first)]
    request = Request(callee, derivative.wanted, variant.mode, facts, tupled, is_open, own, variant.shown)
    request = replace(request, is_flat=variant.is_flat, carried=variant.carried)
    if values is not None:
        fixed = derivative.parameters.constants(values, options.varying)
        known = derivative.parameters.spread(tuple(Constant(v) if name in fixed else v for name, v in named))
        known = known if function is derivative.primal else (derivative.arguments(values), {})  # one by one
        if derivative.seeds_later:
            (*positional, _), by_name = known
            known = (*positional, 0.0), by_name
        looks = derivative.looks and not variant.shown and facts is not None and variant.mode in ("reverse", "value")
        request = replace(request, arguments=known, kinds=(kinds_of(values), fixed), looks=looks)
        if facts is not None and options.sizes:
            told = shapes_told(derivative.parameters.names, values)
            request = replace(request, pattern=pattern_of(values), sizes=told)
    elif derivative.parameters.may_be_left_out and function is derivative.primal:
        held = [Constant(v) if is_static(v) else v for v in derivative.parameters.left_out()]
        request = replace(request, arguments=derivative.parameters.spread(tuple(held)), kinds="left out")
    return request
