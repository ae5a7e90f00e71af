"""Modules that hold others: in a row, in a list, in a dictionary."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from srcgrad.eager.nn.module import Module, indented
from srcgrad.eager.nn.parameter import Parameter
from srcgrad.eager.tensor import Tensor


def _place(index: Any, count: int) -> int:
    place: int = operator.index(index)
    if not -count <= place < count:
        raise IndexError(f"index {place} is out of range")
    return place % count


class Sequential(Module):
    """Modules called one after the other."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for key, module in args[0].items():
                self.add_module(key, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input: Any) -> Any:
        """What the last module gives."""
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return list(self._modules.values())[_place(index, len(self))]

    def __setitem__(self, index: Any, module: Module) -> None:
        setattr(self, list(self._modules)[_place(index, len(self))], module)

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)
        for name in names[index] if isinstance(index, slice) else [names[_place(index, len(self))]]:
            del self._modules[name]
        self._renumber()

    def _renumber(self) -> None:
        kept = list(self._modules.values())
        self._modules.clear()
        self._modules.update({str(i): module for i, module in enumerate(kept)})

    def append(self, module: Module) -> Sequential:
        """Put a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Sequential:
        """Put a module before the one at an index."""
        kept = list(self._modules.values())
        kept.insert(index, module)
        self._modules.clear()
        self._modules.update({str(i): m for i, m in enumerate(kept)})
        return self

    def extend(self, sequential: Iterable[Module]) -> Sequential:
        """Put modules at the end."""
        for module in sequential:
            self.append(module)
        return self


class ModuleList(Module):
    """Modules in a list."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])  # type: ignore[arg-type]
        return self._modules[str(_place(index, len(self)))]

    def __setitem__(self, index: Any, module: Module) -> None:
        setattr(self, str(_place(index, len(self))), module)

    def __delitem__(self, index: Any) -> None:
        kept = list(self._modules.values())
        del kept[index]
        self._modules.clear()
        self._modules.update({str(i): m for i, m in enumerate(kept)})

    def append(self, module: Module) -> ModuleList:
        """Put a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> None:
        """Put a module before the one at an index."""
        kept = list(self._modules.values())
        kept.insert(index, module)
        self._modules.clear()
        self._modules.update({str(i): m for i, m in enumerate(kept)})

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Put modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def __repr__(self) -> str:
        """Equal neighbours are written once."""
        texts = [repr(module) for module in self]
        if not texts:
            return f"{self._get_name()}()"
        groups: list[tuple[int, int, str]] = []
        for i, text in enumerate(texts):
            if groups and groups[-1][2] == text:
                groups[-1] = (groups[-1][0], i, text)
            else:
                groups.append((i, i, text))
        lines = [
            f"({first})" + f": {text}" if first == last else f"({first}-{last}): {last - first + 1} x {text}"
            for first, last, text in groups
        ]
        return f"{self._get_name()}(\n  " + "\n  ".join(indented(line, 2) for line in lines) + "\n)"


class _Named(Module):
    """Members that are reached as those of a dictionary are."""

    def _members(self) -> dict[str, Any]:
        raise NotImplementedError

    def __getitem__(self, key: str) -> Any:
        return self._members()[key]

    def __delitem__(self, key: str) -> None:
        del self._members()[key]

    def __len__(self) -> int:
        return len(self._members())

    def __iter__(self) -> Iterator[str]:
        return iter(self._members())

    def __contains__(self, key: str) -> bool:
        return key in self._members()

    def keys(self) -> Any:
        """The names."""
        return self._members().keys()

    def values(self) -> Any:
        """The members."""
        return self._members().values()

    def items(self) -> Any:
        """Names and members."""
        return self._members().items()


class ModuleDict(_Named):
    """Modules in a dictionary."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def _members(self) -> dict[str, Any]:
        return self._modules

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def clear(self) -> None:
        """Let go of all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Let go of a module."""
        return self._modules.pop(key)

    def update(self, modules: Any) -> None:
        """Keep modules under names."""
        for key, module in modules.items() if isinstance(modules, Mapping) else modules:
            self[key] = module


class ParameterList(Module):
    """Parameters in a list."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        if values is not None:
            self.extend(values)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def __getitem__(self, index: int) -> Any:
        return self._parameters[str(_place(index, len(self)))]

    def append(self, value: Any) -> ParameterList:
        """Put a parameter at the end."""
        made = value if isinstance(value, Parameter) or not isinstance(value, Tensor) else Parameter(value)
        setattr(self, str(len(self)), made)
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Put parameters at the end."""
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """One line for each parameter."""
        lines = [
            f"  ({i}): Parameter containing: [torch.{'.'.join([t.dtype.name])} of size {'x'.join(map(str, t.shape))}]"
            for i, t in enumerate(self)
        ]
        return "\n".join(lines)


class ParameterDict(_Named):
    """Parameters in a dictionary."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def _members(self) -> dict[str, Any]:
        return self._parameters

    def __setitem__(self, key: str, value: Any) -> None:
        self.register_parameter(key, value if isinstance(value, Parameter) else Parameter(value))

    def update(self, parameters: Any) -> None:
        """Keep parameters under names."""
        for key, value in parameters.items() if isinstance(parameters, Mapping) else parameters:
            self[key] = value
