"""Several results under names: ``torch.max(x, 0)`` gives ``values`` and ``indices``."""

from __future__ import annotations

from functools import cache
from operator import itemgetter
from typing import Any


class Results(tuple):  # type: ignore[type-arg]
    """A tuple whose items have names too."""

    __slots__ = ()
    fields: tuple[str, ...] = ()

    def __repr__(self) -> str:
        items = ",\n".join(f"{name}={value!r}" for name, value in zip(self.fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{items})"

    def __reduce__(self) -> Any:
        return results, (type(self).__name__, self.fields, *self)


@cache
def results_class(name: str, fields: tuple[str, ...]) -> type[Results]:
    """The class of the results of a function."""
    members: dict[str, Any] = {field: property(itemgetter(place)) for place, field in enumerate(fields)}
    return type(name, (Results,), {**members, "fields": fields, "__slots__": (), "__module__": "torch.return_types"})


def results(name: str, fields: tuple[str, ...], *values: Any) -> Results:
    """The results of a function, named."""
    return results_class(name, fields)(values)


def values_indices(name: str, values: Any, indices: Any) -> Results:
    """What was picked, and where."""
    return results(name, ("values", "indices"), values, indices)
