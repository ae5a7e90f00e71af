"""Random programs as text: nested loops, branches, exits, calls, arrays of shapes (4,) and (2, 2), scalars.

Every program is ``def f(a, b, x, y, m)``: a and b scalars, x and y vectors of length 4, m a 2 x 2 matrix, and up to
three functions that it calls.  Types of names: "s" scalar, "v" vector, "m" matrix, "i" integer, "f" function of one
scalar.  A name is read only where it is certainly bound.  Numbers stay tame: what is assigned in a loop is bounded by
sin or tanh most of the time.
"""

from __future__ import annotations

from tests.generator.choices import Choices
from tests.generator.expressions import Scope, Signature
from tests.generator.statements import PARAMETERS, Writer, indent

HEADER = "import math\n\nimport numpy as np\n"


def function(choices: Choices, name: str, parameters: dict[str, str], result: str, others: list[Signature]) -> str:
    """One function as text."""
    budget = choices.integer(2, 12 if name == "f" else 5)
    writer = Writer(choices, others, result, budget)
    scope = Scope(dict(parameters))
    lines: list[str] = []
    while writer.budget > 0:
        made, reachable = writer.statement(scope)
        lines += made
        if not reachable:
            break
    else:
        reachable = True
    if reachable or not lines:
        lines.append(writer.result_statement(scope))
    return "\n".join([f"def {name}({', '.join(parameters)}):", *indent(lines)]) + "\n"


def program(choices: Choices) -> str:
    """A module with the function ``f`` and the functions that it calls."""
    texts = [HEADER]
    signatures: list[Signature] = []
    for k in range(choices.integer(0, 3)):
        kinds = [choices.pick(("s", "v", "s", "m")) for _ in range(choices.integer(1, 3))]
        parameters = {f"{_LETTERS[type_]}{i}": type_ for i, type_ in enumerate(kinds)}
        result = choices.pick(("s", "v", "s", "m", "ss", "sv"))
        name = f"g{k}"
        if choices.chance(15) and len(result) == 1:
            texts.append(recursive(choices, name, parameters, result, signatures))
            signatures.append(Signature(name, (*kinds, "i"), result, counted=True))
        else:
            texts.append(function(choices, name, parameters, result, signatures))
            signatures.append(Signature(name, tuple(kinds), result))
    result = choices.pick(("s", "s", "v", "s", "sv"))
    texts.append(function(choices, "f", PARAMETERS, result, signatures))
    return "\n\n".join(texts)


_LETTERS = {"s": "c", "v": "r", "m": "h"}


def recursive(choices: Choices, name: str, parameters: dict[str, str], result: str, others: list[Signature]) -> str:
    """A function that calls itself with its counter lowered."""
    writer = Writer(choices, others, result, choices.integer(1, 4))
    scope = Scope(dict(parameters) | {"deep": "i"})
    base = writer.result_statement(scope.inner())
    lines = ["if deep <= 0:", f"    {base}"]
    while writer.budget > 0:
        made, reachable = writer.statement(scope)
        lines += made
        if not reachable:
            return "\n".join([f"def {name}({', '.join([*parameters, 'deep'])}):", *indent(lines)]) + "\n"
    arguments = [writer.expression(scope, type_, 1) for type_ in parameters.values()]
    again = f"{name}({', '.join([*arguments, 'deep - 1'])})"
    lines.append(f"return np.sin({again}) * 0.9 + {writer.expression(scope, result, 1)}")
    return "\n".join([f"def {name}({', '.join([*parameters, 'deep'])}):", *indent(lines)]) + "\n"
