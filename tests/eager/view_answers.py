"""What random programs of views and in-place writes answer, compared, recorded.

Every statement may raise; the next one runs all the same.  ``python -m tests.eager.view_answers FIRST COUNT`` runs
programs beside an installed PyTorch and prints where the two differ; with ``--record`` it writes what the tests read.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tests.eager.view_programs import Program, draw

RECORDED = Path(__file__).parent / "recorded" / "views.json"
SHOWN = 300  # programs of which the answers are recorded in full
NUMBER = re.compile(r"Output \d")  # which of several saved views is looked at first is not the point here

CLASSES = '''
class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x
    @staticmethod
    def backward(ctx, g):
        return 2 * g

class DoubledFirst(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.size = x.shape
        x = x[0]
        x.mul_(2)
        return x
    @staticmethod
    def backward(ctx, g):
        made = torch.zeros(ctx.size, dtype=g.dtype)
        made[0] = 3 * g
        return made

class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, g):
        return 2 * g

class Whole(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)
    @staticmethod
    def backward(ctx, g):
        return 2 * g

class First(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.size = x.shape
        return x[0]
    @staticmethod
    def backward(ctx, g):
        made = torch.zeros(ctx.size, dtype=g.dtype)
        made[0] = 2 * g
        return made

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x
    @staticmethod
    def backward(ctx, g):
        return 2 * g
'''  # fmt: skip


def written(value: Any) -> str:
    """Numbers to seven digits, without the noise of rounding."""
    flat = np.asarray(value).ravel()
    if flat.dtype.kind == "c":
        flat = np.stack([flat.real, flat.imag], -1).ravel()
    return " ".join(f"{round(float(x), 9) + 0.0:.7g}" for x in flat)


def failed(error: Exception) -> str:
    """Class and first words of an exception."""
    return f"{type(error).__name__}: {NUMBER.sub('Output', str(error))[:70]}"


def state(torch: Any, tensor: Any) -> str:
    """Flags, version and node of a tensor, as they are now."""
    try:
        node = tensor.grad_fn
        name = (
            "-" if node is None else node.name().replace("FillBackward3", "FillBackward2")
        )  # which depends on versions
    except RuntimeError as error:
        name = failed(error)
    flags = f"{int(tensor.requires_grad)}{int(tensor.is_leaf)}{int(tensor._is_view())}{int(tensor.retains_grad)}"
    return f"{flags} {tensor._version} {name}"


def answers(program: Program, torch: Any) -> list[str]:
    """What the statements raise, and in the end each variable: values, state, gradient."""
    found: list[str] = []
    names: dict[str, Any] = {"torch": torch}
    torch.set_default_dtype(torch.float64)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(CLASSES, names)
            hidden = set(names)
            for name, (values, requires) in program.leaves.items():
                names[name] = torch.tensor(values.tolist(), requires_grad=requires)
            names["state"] = lambda tensor: found.append(state(torch, tensor))
            for i, statement in enumerate(program.statements):
                try:
                    exec(statement, names)
                except Exception as error:
                    found.append(f"{i} {failed(error)}")
            for name, tensor in names.items():
                if name in hidden or not isinstance(tensor, torch.Tensor):
                    continue
                values = written(tensor.detach().resolve_conj().numpy(force=True))
                found.append(f"{name} = {values} | {shown(torch, tensor)}")
    finally:
        torch.set_default_dtype(torch.float32)
    return found


def shown(torch: Any, tensor: Any) -> str:
    """State and gradient of a variable in the end; one that fails says how."""
    try:
        described = state(torch, tensor)
    except RuntimeError as error:
        described = failed(error)
    g = tensor.grad
    if g is None:
        return described
    return f"{described} | {written(g.detach().resolve_conj().numpy(force=True))} {int(g.requires_grad)}"


def recorded() -> dict[str, Any]:
    """What PyTorch 2.13 answered: ``answers`` of the first programs, and of all of them a ``digest`` each.

    None and "-" stand for programs that end in an internal error of PyTorch's.
    """
    return json.loads(RECORDED.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def digest(found: list[str]) -> str:
    """Eight digits that differ where answers do."""
    return hashlib.sha256("\n".join(found).encode()).hexdigest()[:8]


def fails_inside(found: list[str]) -> bool:
    """Whether PyTorch's own checks of itself have failed."""
    return any("INTERNAL ASSERT" in line or "Expected isFloatingType" in line for line in found)


# --- numbers ---------------------------------------------------------------------------------------------------------
def difference(program: Program, torch: Any) -> str | None:
    """Where the gradients of a smooth program are not the derivatives of its numbers; None where they are."""
    exact = gradients(program, torch)
    if not program.smooth or exact is None:
        return None
    step = 1e-5
    for name, (values, requires) in program.leaves.items():
        if not requires or values.dtype.kind == "c":
            continue
        for place in np.ndindex(values.shape):
            ends = []
            for side in (step, -step):
                moved = values.copy()
                moved[place] += side
                leaves = {n: (moved if n == name else v, False) for n, (v, _) in program.leaves.items()}
                ends.append(loss(Program(leaves, program.statements), torch))
            slope = (ends[0] - ends[1]) / (2 * step)
            given = 0.0 if exact[name] is None else float(exact[name][place])
            if not abs(slope - given) <= 1e-5 * max(1.0, abs(slope)):
                return f"{name}{list(place)}: {given} for {slope}"
    return None


def gradients(program: Program, torch: Any) -> dict[str, Any] | None:
    """The gradients of the leaves, None where a statement raises."""
    names = finished(program, torch)
    if names is None:
        return None
    made = {name: names[name].grad for name in program.leaves}
    return {name: None if g is None else np.asarray(g.detach().numpy()) for name, g in made.items()}


def loss(program: Program, torch: Any) -> float:
    """The loss of a program by numbers alone."""
    names = finished(
        Program(program.leaves, [s for s in program.statements if ".backward" not in s and "retain" not in s]), torch
    )
    assert names is not None
    return float(names["loss"].detach().numpy())


def finished(program: Program, torch: Any) -> dict[str, Any] | None:
    """The names at the end of a program; None where a statement raises."""
    names: dict[str, Any] = {"torch": torch, "state": lambda tensor: None}
    torch.set_default_dtype(torch.float64)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(CLASSES, names)
            for name, (values, requires) in program.leaves.items():
                names[name] = torch.tensor(values.tolist(), requires_grad=requires)
            for statement in program.statements:
                exec(statement, names)
    except Exception:
        return None
    finally:
        torch.set_default_dtype(torch.float32)
    return names


def main() -> None:
    """Run programs beside an installed PyTorch."""
    import torch as theirs

    import srcgrad.eager as ours

    first, count = int(sys.argv[1]), int(sys.argv[2])
    records: dict[str, list[Any]] = {"answers": [], "digests": []}
    wrong = numbers = 0
    for seed in range(first, first + count):
        program = draw(seed)
        expected = answers(program, theirs)
        inside = fails_inside(expected)
        records["digests"].append("-" if inside else digest(expected))
        if len(records["answers"]) < SHOWN:
            records["answers"].append(None if inside else expected)
        if "--record" in sys.argv or inside:
            continue
        found, slopes = answers(program, ours), difference(program, ours)
        numbers += slopes is not None
        if found != expected or slopes:
            wrong += found != expected
            print(f"--- {seed}\n{program.text()}")
            print(*(f"  PyTorch {line}" for line in expected if line not in found), sep="\n")
            print(*(f"  here    {line}" for line in found if line not in expected), sep="\n")
            print(slopes or "")
    if "--record" in sys.argv:
        lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in records["answers"])
        digests = " ".join(records["digests"])
        RECORDED.write_text(f'{{"answers":[\n{lines}\n],"digests":"{digests}"}}\n', encoding="utf-8")
    print({"programs": count, "other answers": wrong, "other numbers": numbers})


if __name__ == "__main__":
    main()
