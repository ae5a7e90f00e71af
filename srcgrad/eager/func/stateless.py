"""Modules as functions of their parameters: ``functional_call``, ``stack_module_state``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from srcgrad.eager.tensor import Tensor


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other values for its parameters and buffers; what is not given stays."""
    if isinstance(parameter_and_buffer_dicts, dict):
        values = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, list | tuple):
        if not all(isinstance(one, dict) for one in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        names = [name for one in parameter_and_buffer_dicts for name in one]
        repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        values = {name: value for one in parameter_and_buffer_dicts for name, value in one.items()}
    else:
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    given = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, values, tie_weights, strict):
        return module(*given, **(kwargs or {}))


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function itself: what it computes here does not depend on how it writes and views memory."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}.")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return wrapper


def _owner(module: Any, name: str) -> tuple[Any, str]:
    *path, last = name.split(".")
    for one in path:
        module = getattr(module, one)
    return module, last


@contextmanager
def _replaced(module: Any, values: dict[str, Any], tie: bool, strict: bool) -> Iterator[None]:
    """The module with other tensors, put back at the end."""
    known = dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers(remove_duplicate=False))
    unexpected = [name for name in values if name not in known]
    missing = [name for name in known if name not in values]
    if tie:
        groups: dict[int, list[str]] = {}
        for name, tensor in known.items():
            groups.setdefault(id(tensor), []).append(name)
        values = dict(values)
        for names in groups.values():
            said = [name for name in names if name in values]
            if said:
                for name in names:
                    values.setdefault(name, values[said[0]])
        missing = [name for name in known if name not in values]
    if strict and (unexpected or missing):
        text = f"Error(s) in reparametrizing for {type(module).__name__}:"
        if unexpected:
            text += "\n\tUnexpected key(s): " + ", ".join(f"'{name}'" for name in unexpected) + "."
        if missing:
            text += "\n\tMissing key(s): " + ", ".join(f"'{name}'" for name in missing) + "."
        raise RuntimeError(text)
    before: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for name, value in values.items():
            if name not in known:
                continue
            owner, last = _owner(module, name)
            table = owner._parameters if last in owner._parameters else owner._buffers
            before.append((table, last, table[last]))
            table[last] = value
        yield
    finally:
        for table, last, value in reversed(before):
            table[last] = value


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of models of one kind, stacked, for ``vmap`` over the models."""
    from srcgrad.eager.operations.joining import stack

    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    made: list[dict[str, Any]] = []
    for named in ("named_parameters", "named_buffers"):
        tables = [dict(getattr(m, named)()) for m in models]
        together: dict[str, Any] = {}
        for name in tables[0]:
            tensors = [table[name] for table in tables]
            leaf = all(isinstance(t, Tensor) and t.is_leaf for t in tensors)
            if leaf and len({t.requires_grad for t in tensors}) > 1:
                raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
            whole = stack(tensors)
            together[name] = whole.detach().requires_grad_(tensors[0].requires_grad) if leaf else whole
        made.append(together)
    return made[0], made[1]
