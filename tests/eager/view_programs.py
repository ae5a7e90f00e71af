"""Random programs of views and in-place writes.

A program is drawn with a model beside it, NumPy arrays that are views where the tensors are, so that its shapes fit and
no write depends on the order in which elements are visited.  It knows nothing of the module under test.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.eager.view_steps import views


@dataclass
class Program:
    """Leaves by name, (values, whether it requires grad), and statements.

    ``smooth``: nothing is detached, so that the gradients are the derivatives of the numbers.
    """

    leaves: dict[str, tuple[np.ndarray, bool]] = field(default_factory=dict)
    statements: list[str] = field(default_factory=list)
    smooth: bool = True

    def text(self) -> str:
        """The program as Python."""
        lines = [
            f"{name} = torch.tensor({values.tolist()!r}{', requires_grad=True' * requires})"
            for name, (values, requires) in self.leaves.items()
        ]
        return "\n".join(lines + self.statements)


# --- drawing ---------------------------------------------------------------------------------------------------------
SHAPES = ((), (2,), (3,), (4,), (2, 2), (2, 3), (3, 2), (2, 1), (1, 3), (4, 2), (2, 2, 2))


def addresses(a: np.ndarray) -> np.ndarray:
    """Where in memory each number is, the imaginary parts too."""
    start = a.__array_interface__["data"][0]
    at = np.full(a.shape, start, np.int64)
    for axis, stride in enumerate(a.strides):
        at += np.expand_dims(np.arange(a.shape[axis]) * stride, tuple(range(1, a.ndim - axis)))
    at = at.ravel()
    return np.concatenate([at, at + 8]) if a.dtype.kind == "c" else at


def is_dense(a: np.ndarray) -> bool:
    """Whether the elements fill a stretch of memory, each once."""
    at = np.unique(addresses(a))
    return at.size == a.size * (1 + (a.dtype.kind == "c")) and (at.size < 2 or bool((np.diff(at) == 8).all()))


class Drawing:
    """One program as it is drawn."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.program = Program()
        self.models: dict[str, np.ndarray] = {}
        self.has_complex = self.chance(0.4)
        for name in "abc"[: 2 + self.chance(0.4)]:
            self.leaf(name)
        if not any(requires for _, requires in self.program.leaves.values()):
            name = self.pick(list(self.program.leaves))
            self.program.leaves[name] = (self.program.leaves[name][0], True)
        for name, (values, requires) in list(self.program.leaves.items()):
            if requires and self.chance(0.7):
                self.emit(f"{self.fresh(np.zeros(values.shape, values.dtype))} = {name} * {self.number()}")
        for _ in range(3 + self.below(7)):
            self.statement()
        self.ending()

    def below(self, n: int) -> int:
        return int(self.rng.random() * n)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def pick(self, items: Any) -> Any:
        return items[self.below(len(items))]

    def number(self) -> float:
        return round(0.31 + self.rng.random(), 2)

    def leaf(self, name: str) -> None:
        shape = self.pick(SHAPES)
        values = np.array([self.number() for _ in range(int(np.prod(shape)))]).reshape(shape)
        if self.has_complex and self.chance(0.3):
            values = values + 1j * np.array([self.number() for _ in range(values.size)]).reshape(shape)
        self.program.leaves[name] = (values, self.chance(0.6))
        self.models[name] = values.copy()

    def emit(self, text: str) -> None:
        if any(word in text for word in (".detach()", ".data", "out=", "no_grad")):
            self.program.smooth = False
        self.program.statements.append(text)

    def fresh(self, model: Any, prefix: str = "v") -> str:
        name = f"{prefix}{len(self.models)}"
        self.models[name] = np.array(model) if not isinstance(model, np.ndarray) else model
        return name

    def variable(self, fits: Callable[[np.ndarray], bool] = lambda _: True) -> str | None:
        """A variable, of the later ones rather."""
        names = [name for name, model in self.models.items() if fits(model)]
        return names[max(self.below(len(names)), self.below(len(names)))] if names else None

    # --- statements --------------------------------------------------------------------------------------------------
    def statement(self) -> None:
        weights = (
            (self.view, 30), (self.several, 7), (self.operation, 13), (self.write, 34), (self.bare, 8), (self.probe, 3),
            (self.watch, 3), (self.flag, 3), (self.go_back, 3), (self.custom, 4),
        )  # fmt: skip
        at = self.below(sum(weight for _, weight in weights))
        for kind, weight in weights:
            at -= weight
            if at < 0:
                kind()
                return

    def bare(self) -> None:
        """A view or a write in another mode."""
        start = len(self.program.statements)
        self.pick((self.view, self.write, self.write, self.several, self.operation))()
        mode = self.pick(("no_grad", "no_grad", "no_grad", "enable_grad"))
        for i in range(start, len(self.program.statements)):
            if "\n" not in self.program.statements[i] and not self.program.statements[i].startswith("with"):
                if not any(
                    f".{shape}_(" in self.program.statements[i] for shape in ("t", "transpose", "squeeze", "unsqueeze")
                ):
                    self.program.statements[i] = f"with torch.{mode}(): {self.program.statements[i]}"
        self.program.smooth &= mode != "no_grad"

    def view(self) -> None:
        base = self.variable()
        assert base is not None
        text, replay = self.pick(views(self, base))
        made = replay(self.models[base])
        name = self.fresh(made)
        self.emit(f"{name} = {text.format(base)}")

    def several(self) -> None:
        """Several views made by one function."""
        base = self.variable(lambda a: 0 < a.ndim and a.shape[0] in (2, 3))
        if base is None:
            self.view()
            return
        a = self.models[base]
        n = a.shape[0]
        text, models = self.pick(
            (
                (f"{base}.unbind()", [a[i, ...] for i in range(n)]),
                (f"{base}.split(1)", [a[i : i + 1] for i in range(n)]),
                (f"{base}.chunk({n})", [a[i : i + 1] for i in range(n)]),
                (f"{base}.tensor_split({n})", [a[i : i + 1] for i in range(n)]),
                (f"torch.split({base}, [1, {n - 1}])", [a[:1], a[1:]]),
                (base, [a[i, ...] for i in range(n)]),
            )
        )
        names = [self.fresh(model) for model in models]
        self.emit(f"{', '.join(names)} = {text}")

    def operation(self) -> None:
        """Something computed in memory of its own."""
        a = self.variable()
        assert a is not None
        model = self.models[a]
        b = self.fitting(model)
        real = model.dtype.kind == "f"
        texts = [f"{a} * {b}", f"{a} + {b}", f"{a} * {self.number()}", f"{a}.clone()", f"{a}.sin()", f"{a}.exp()"]
        if real:
            texts += [f"{a}.tanh()", f"torch.where({a} > 0.5, {a}, {b})"] if not self.is_complex(b) else []
        texts += [f"{a}.square()"]
        text = self.pick(texts)
        kind = complex if not real or self.is_complex(b) and b in text.split(" ")[-1] else float
        self.emit(f"{self.fresh(np.zeros(model.shape, kind))} = {text}")

    def is_complex(self, text: str) -> bool:
        name = text.partition(".")[0]
        return name in self.models and self.models[name].dtype.kind == "c"

    def fitting(self, target: np.ndarray, scalar: bool = False) -> str:
        """What can be written to a target: a variable that broadcasts to it, or a number."""

        def fits(a: np.ndarray) -> bool:
            if a.dtype.kind == "c" and target.dtype.kind != "c":
                return False
            try:
                return np.broadcast_shapes(a.shape, target.shape) == target.shape and (not scalar or not a.ndim)
            except ValueError:
                return False

        name = self.variable(fits)
        if name is None or self.chance(0.15):
            return str(self.number())
        model = self.models[name]
        shared = np.intersect1d(addresses(model), addresses(target)).size
        same = model.shape == target.shape and model.strides == target.strides and model.dtype == target.dtype
        same = (
            same
            and (1 not in model.shape or model is target)
            and model.__array_interface__["data"] == target.__array_interface__["data"]
        )
        start = model.__array_interface__["data"] == target.__array_interface__["data"]
        if shared and (
            not same and start and model.size == target.size or not (same or (is_dense(model) and is_dense(target)))
        ):
            return f"{name}.clone()"  # else whose answer depends on the order of the elements
        return name

    def write(self) -> None:
        """A write in place."""
        leaves = [self.models[name] for name, (_, requires) in self.program.leaves.items() if requires]
        bold = self.chance(0.08)

        def fits(a: np.ndarray) -> bool:
            if np.unique(addresses(a)).size < addresses(a).size:
                return bold and 0 in a.strides
            return bold or not any(np.shares_memory(a, leaf) for leaf in leaves)

        v = self.variable(fits)
        if v is None:
            self.operation()
            return
        a = self.models[v]
        self.pick((self.arithmetic, self.arithmetic, self.function, self.store, self.store, self.rarely))(v, a)

    def arithmetic(self, v: str, a: np.ndarray) -> None:
        w = self.fitting(a)
        texts = [
            f"{v} += {w}", f"{v} *= {w}", f"{v} -= {w}", f"{v}.add_({w})", f"{v}.mul_({w})", f"{v}.copy_({w})",
            f"{v}.add_({w}, alpha=0.5)", f"{v}.div_({self.number()})", f"{v}.mul_({w})", f"{v}.sub_({w})",
        ]  # fmt: skip
        if a.dtype.kind == "f":
            texts += [f"{v}.addcmul_({w}, {w}, value=0.5)", f"{v}.lerp_({w}, 0.25)"] if w in self.models else []
        text = self.pick(texts)
        if ".copy_" in text and w not in self.models and not w.endswith("clone()"):
            text = f"{v}.fill_({w})"
        if "lerp" in text and self.models[w].shape != a.shape:
            text = f"{v}.add_({w})"
        self.emit(text)

    def function(self, v: str, a: np.ndarray) -> None:
        texts = [f"{v}.{f}_()" for f in ("sin", "tanh", "neg", "square", "exp", "zero", "sigmoid", "cos", "sqrt")]
        if a.dtype.kind == "f":
            texts += [f"{v}.clamp_(0.2, 1.1)", f"{v}.pow_(2)", f"{v}.relu_()", f"{v}.abs_()"]
            texts += [f"{v}.cumsum_(0)"] if a.ndim else []
        text = self.pick(texts)
        if text.endswith((".sqrt_()", ".tanh_()", ".sigmoid_()")) and a.dtype.kind == "c":
            text = f"{v}.exp_()"  # whose derivatives nobody doubts
        if ".sqrt_" in text:
            text = f"{v}.square_().add_(0.3).sqrt_()"
        self.emit(text)

    def store(self, v: str, a: np.ndarray) -> None:
        """A store at an index, through a mask or at places."""
        if not a.ndim:
            self.emit(f"{v}.fill_({self.fitting(a, scalar=True)})")
            return
        i, j = self.below(a.shape[0]), self.below(a.shape[0])
        places: list[tuple[str, np.ndarray]] = [
            (f"{i}", a[i, ...]), (":1", a[:1]), ("...", a[...]), (f"..., {self.below(a.shape[-1])}", a[..., 0]),
            ("::2", a[::2]),
        ]  # fmt: skip
        if not self.chance(0.4):
            index, part = self.pick(places)
            op = self.pick(("=", "=", "+=", "*="))
            self.emit(f"{v}[{index}] {op} {self.fitting(part)}")
            return
        mask = [self.chance(0.5) for _ in range(a.size)]
        where = f"torch.tensor({np.array(mask).reshape(a.shape).tolist()})"
        rows = np.zeros((2, *a.shape[1:]), a.dtype)
        others = [i, (i + 1) % a.shape[0]][: a.shape[0]]
        texts = [
            f"{v}.masked_fill_({where}, {self.fitting(np.zeros((), a.dtype), scalar=True)})",
            f"{v}[{where}] = {self.tensor(np.zeros((), a.dtype), scalar=True)}",
            f"{v}[torch.tensor([{i}, {i}])] = {self.number()}",
            f"{v}[{others}] = {self.apart(self.fitting(rows[: len(others)]), a)}",
            f"{v}.index_put_((torch.tensor([{i}, {j}]),), {self.apart(self.tensor(rows), a)}, accumulate=True)",
            f"{v}.index_fill_(0, torch.tensor([{i}]), {self.number()})",
        ]
        rowed = self.variable(lambda r: r.shape == rows.shape and r.dtype == rows.dtype)
        if rowed is not None:
            texts += [
                f"{v}.index_add_(0, torch.tensor([{i}, {j}]), {rowed}.clone())",
                f"{v}.index_copy_(0, torch.tensor({others}), {rowed}[: {len(others)}].clone())",
            ]
        if a.dtype.kind == "f" and a.ndim == 2:
            texts += [f"{v}.fill_diagonal_({self.number()})", f"{v}.tril_()", f"{v}.T.triu_()"]
        if a.shape[0] > 1:
            texts += 3 * [
                f"{v}[0], {v}[1] = {v}[1].clone(), {v}[0].clone()",
                f"{v}[[0, 1]] = {v}[[1, 0]]",
            ]
        self.emit(self.pick(texts))

    def apart(self, w: str, target: np.ndarray) -> str:
        """An operand that is read in another order than the target is written to: as a copy, if they share memory."""
        return f"{w}.clone()" if w in self.models and np.shares_memory(self.models[w], target) else w

    def tensor(self, target: np.ndarray, scalar: bool = False) -> str:
        """A tensor to write to a target: what fits to it, made one."""
        w = self.fitting(target, scalar)
        return w if w.partition(".")[0] in self.models else f"torch.tensor({w})"

    def rarely(self, v: str, a: np.ndarray) -> None:
        """Shapes changed in place, ``out=``, what goes past the graph."""
        u, w = self.fitting(a), self.fitting(a)
        texts = [
            f"{v}.detach().add_({u})",
            f"torch.add({v}.clone(), {self.tensor(a)}, out={v})",
            f"torch.mul({v}, {self.number()}, out={v})",
        ]  # fmt: skip
        if not self.has_complex:
            texts += [f"{v}.unsqueeze_(0)", f"{v}.squeeze_()"]
            texts += [f"{v}.t_()", f"{v}.transpose_(0, 1)"] if a.ndim == 2 else []
        if a.ndim:
            texts.append(f"{v}.data.mul_({self.number()})")
        if not any(np.shares_memory(a, other) for name, other in self.models.items() if name != v):
            texts.append(f"{v}.data = {v}.data.clone()")
        if a.dtype.kind == "c":
            texts += 2 * [f"{v}.real.mul_({self.number()})", f"{v}.imag.copy_({v}.real)", f"{v}.imag = {v}.real"]
        text = self.pick(texts)
        del w
        if "out=" in text and a.dtype.kind == "c":
            text = f"{v}.mul_(2.0)"
        changes: dict[str, Callable[[Any], Any]] = {
            ".unsqueeze_": lambda a: a[None], ".squeeze_": lambda a: a.squeeze(), ".t_(": lambda a: a.T,
            ".transpose_": lambda a: a.T, ".data = ": np.copy,
        }  # fmt: skip
        for part, change in changes.items():
            if part in text:
                self.models[v] = change(a)
        self.emit(text)

    def probe(self) -> None:
        self.emit(f"state({self.variable()})")

    def watch(self) -> None:
        v = self.variable()
        if self.chance(0.6):
            self.emit(f"{v}.retain_grad()")
        else:
            self.emit(f"{v}.grad_fn is None and {v}._is_view() or {v}.register_hook(lambda g: 2.0 * g)")
            self.program.smooth = False

    def flag(self) -> None:
        self.emit(f"{self.variable()}.requires_grad_({self.pick(('', 'False'))})")
        self.program.smooth = False

    def go_back(self) -> None:
        v = self.variable()
        assert v is not None
        self.emit(f"({self.real(v)}).sum().backward({self.pick(('', 'retain_graph=True'))})")
        self.program.smooth = False

    def custom(self) -> None:
        v = self.variable()
        assert v is not None
        a = self.models[v]
        made: list[tuple[str, np.ndarray]] = [
            ("Doubled", a.view()), ("Same", a.view()), ("Whole", a.view()), ("Twice", np.zeros(a.shape, a.dtype)),
        ]  # fmt: skip
        if a.ndim:
            made += [("First", a[0, ...]), ("DoubledFirst", a[0, ...])]
        name, model = self.pick(made)
        if name == "Doubled" and (0 in a.strides or self.chance(0.3)):
            name, model = "Twice", np.zeros(a.shape, a.dtype)
        self.emit(f"{self.fresh(model)} = {name}.apply({v})")
        self.program.smooth &= name == "Twice"

    def real(self, v: str) -> str:
        """A real tensor whose sum depends on all of a variable."""
        if self.models[v].dtype.kind == "c":
            return f"({v} * {v}.conj()).real"
        return self.pick((f"{v} * {v}", f"{v} * {self.number()}", f"{v}.sin()"))

    def ending(self) -> None:
        """A number that depends on some variables, and its derivatives."""
        leaves = [name for name, (_, requires) in self.program.leaves.items() if requires]
        chosen = [self.variable() for _ in range(1 + self.below(3))]
        if self.chance(0.5):
            chosen.append(self.pick(leaves))
        terms = [f"{self.number()} * ({self.real(v)}).sum()" for v in chosen if v is not None]
        self.emit(f"loss = {' + '.join(terms)}")
        way = self.rng.random()
        if way < 0.55:
            self.emit("loss.backward()")
        elif way < 0.65:
            self.emit("loss.backward(retain_graph=True)")
            if self.chance(0.5):
                v = self.variable()
                assert v is not None
                self.write()
                self.program.smooth = False
            self.emit("loss.backward()")
            self.program.smooth = False
        else:
            self.emit(f"found = torch.autograd.grad(loss, [{', '.join(leaves)}], create_graph=True, allow_unused=True)")
            self.emit("found = [g for g in found if g is not None and g.requires_grad]")
            self.emit("(0.0 * loss + sum((g * g.conj()).real.sum() for g in found)).backward()")
            self.program.smooth = False


def draw(seed: int) -> Program:
    """The program of a seed."""
    return Drawing(seed).program
