"""States of modules stored back into them, with PyTorch's account of what does not fit."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

import numpy as np

from srcgrad.eager.tensor import Tensor


class IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """The names that a state lacks, and those that a module does not have."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


IncompatibleKeys.__name__ = "_IncompatibleKeys"


def load(module: Any, state: Mapping[str, Any], strict: bool, assign: bool) -> IncompatibleKeys:
    """Store tensors under their dotted names; errors are collected and raised together."""
    if not isinstance(state, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state)}.")
    held = module.state_dict(keep_vars=True)
    missing = [name for name in held if name not in state]
    unexpected = [name for name in state if name not in held]
    errors: list[str] = []
    for name, target in held.items():
        if name not in state:
            continue
        given = state[name]
        if not isinstance(given, Tensor):
            errors.append(
                f'While copying the parameter named "{name}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(given)}"
            )
        elif given.array.shape != target.array.shape:
            errors.append(
                f"size mismatch for {name}: copying a param with shape {given.shape} from checkpoint, the shape in "
                f"current model is {target.shape}."
            )
        elif assign:
            target.array = given.storage_array()
        else:
            storage = target.storage_array()
            storage[...] = np.asarray(given.array)
            if target.counter is None:
                target.counter = [0]
            target.counter[0] += 1
    if strict:
        if unexpected:
            errors.insert(0, f"Unexpected key(s) in state_dict: {_listed(unexpected)}. ")
        if missing:
            errors.insert(0, f"Missing key(s) in state_dict: {_listed(missing)}. ")
    if errors:
        lines = "\n\t".join(errors)
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{lines}")
    return IncompatibleKeys(missing, unexpected)


def _listed(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
