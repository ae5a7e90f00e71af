"""A rule of the shared table made ready to run: on arrays, and, for derivatives of derivatives, on tensors.

Enters: a rule, the parameters that are given, those whose partials are wanted.  Leaves: a ``Formula`` that takes a node
and the gradient of its output.  What the formula reads is what the node saves; of what it reads only the shape of, a
stand-in is kept that holds no memory, and that PyTorch does not count as saved.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.eager import messages
from srcgrad.eager.graph import Node, conjugated
from srcgrad.eager.lifted_arrays import opened
from srcgrad.eager.tensor import Tensor
from srcgrad.rules.facts import Fact
from srcgrad.rules.laws import is_own
from srcgrad.rules.reading import readings
from srcgrad.rules.rewriting import read, rebuilt
from srcgrad.rules.slicing import Slice
from srcgrad.rules.template import Rule
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import GlobalReference, reference

# What an entry of a node's ``saved`` is.
INPUT = "input"  # the tensor that was given
RESULT = "result"  # the tensor that was made, as a SavedResult
PLAIN = "plain"  # a number, an axis: a Python value
SHAPE = "shape"  # a stand-in for an array of which only shape and dtype are read
LIST = "list"  # a list of tensors and values, those of which only the shape is read as stand-ins


@lru_cache(maxsize=4096)
def stand_in(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of this shape and dtype that holds one element."""
    made = np.broadcast_to(np.zeros((), dtype), shape)
    return made if shape else made[()]


def as_tensor(value: Any) -> Any:
    """An array among the Python values of a call, which an operator of NumPy's would not let a tensor join, as one."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufc":
        return Tensor.of(value)
    return value


def _zeros(shape: Any, dtype: Any) -> Tensor:
    return Tensor.of(np.zeros(shape, dtype))


def _parts(index: gast.AST) -> list[gast.AST]:
    """The parts of an index."""
    return list(index.elts) if isinstance(index, gast.Tuple) else [index]


def _runs_backwards(index: gast.AST) -> bool:
    """Whether a slice has a negative step, which tensors do not take, but NumPy's rules do."""
    steps = [part.step for part in _parts(index) if isinstance(part, gast.Slice)]
    return any(isinstance(step, gast.UnaryOp) and isinstance(step.op, gast.USub) for step in steps)


def _as_object(part: gast.AST, change: Callable[[Any], Any]) -> gast.expr:
    """A part of an index as a value: a slice as a call of ``slice``."""
    if not isinstance(part, gast.Slice):
        return rebuilt(part, change)
    ends = [gast.Constant(None, None) if e is None else rebuilt(e, change) for e in (part.lower, part.upper, part.step)]
    return gast.Call(read("slice"), ends, [])


_OF_SCIPY = "srcgrad.rules.scipy."


class Formula:
    """The partials of one rule for one set of wanted parameters, and what must be saved for them.

    ``run(node, g)`` gives one partial per tensor parameter, None where it is not wanted, as arrays; ``lifted(node, g)``
    the same as tensors.
    """

    def __init__(
        self,
        rule: Rule,
        given: Collection[str] | Mapping[str, gast.expr],
        tensors: Sequence[str],
        wanted: Collection[str],
        *,
        facts: Mapping[str, Fact] | None = None,
        alike: bool = False,
        slots: Mapping[str, str] | None = None,
        outputs: Sequence[str] | None = None,
        lists: Mapping[str, int] | None = None,
        watches: bool = False,
        again: Callable[..., Any] | None = None,
        kept: Collection[str] = (),
    ) -> None:
        self.rule = rule
        self.watches = watches  # nodes have tensors in ``watched`` that must not have changed
        self.lists = lists or {}  # how long the parameters are that are lists of tensors
        self.tensors = tuple(tensors)  # parameters that are tensors; others are Python values
        self.outputs = self.tensors if outputs is None else tuple(outputs)  # one partial for each, as the edges
        self.lengths = tuple(self.lists.get(p) for p in self.outputs)
        piece = rule.adjoint_slice(set(wanted), given, facts=facts)
        if rule.kind == "elementwise" and not is_own(rule.template):
            piece = narrowed(piece)  # nobody knows of what dtype a user's function makes its results
        if again is not None and rule.result in piece.reads:
            piece = computed_again(piece, rule, again)
        piece = without_broadcasting(piece) if alike else piece
        if rule.kind == "elementwise" and rule.template.__module__.startswith(_OF_SCIPY):
            piece = narrowed(piece)  # SciPy's functions of short floats and of numbers beside them are of float64
        self.piece = piece
        self.sources: list[tuple[str, str]] = []  # (kind, parameter) of everything that is saved, in order
        reads = self.piece.reads | set(kept)  # ``kept``: what PyTorch's node saves, whether or not the rule reads it
        for p in (*rule.parameters, *rule.options):
            if p in given and p in reads | self.piece.shapes:
                kind = PLAIN if p not in self.tensors else INPUT if p in reads else SHAPE
                self.sources.append((LIST if p in self.lists else kind, p))
        if rule.result in reads | self.piece.shapes:
            self.sources.append((RESULT if rule.result in reads else SHAPE, rule.result))
        self.keeps = all(kind == SHAPE or (kind == LIST and p not in reads) for kind, p in self.sources)
        self.slots = {(slots or {}).get(p, p): i for i, (_, p) in enumerate(self.sources)}
        self.run = self._compiled(None)
        self._lifted: Callable[..., Any] | None = None
        self._opened: Callable[..., Any] | None = None
        self._parts: dict[Any, Callable[..., Any]] = {}  # for some of the edges alone

    def part(self, needed: tuple[bool, ...], as_tensors: bool) -> Callable[..., Any]:
        """The formula for the edges that are needed; what is only there for others is not computed."""
        known = self._parts.get((needed, as_tensors))
        if known is None:
            from srcgrad.eager.lifting import lifted

            made = self._compiled(lifted if as_tensors else None, needed=needed)
            known = self._parts[needed, as_tensors] = made
        return known

    @property
    def opened(self) -> Callable[..., Any]:
        """The formula on arrays some of which are lifted, where a function in it insists on plain memory."""
        if self._opened is None:
            self._opened = self._compiled(opened, as_tensors=False)
        return self._opened

    @property
    def lifted(self) -> Callable[..., Any]:
        """The formula on tensors: every function in it is recorded in its turn."""
        if self._lifted is None:
            from srcgrad.eager.lifting import lifted

            self._lifted = self._compiled(lifted)
        return self._lifted

    def on_tensors(self, node: Node, g: Any, needed: tuple[bool, ...] | None = None) -> Any:
        """The partials as tensors, recorded; of complex gradients in PyTorch's convention."""
        if not (isinstance(g, list) or g.array.dtype.kind == "c" or node.meets_complex):
            return self.lifted(node, g) if needed is None else self.part(needed, True)(node, g)
        from srcgrad.eager.lifting import lifted

        conjugate = lifted(np.conjugate)
        return conjugated(self.lifted(node, conjugated(node.whole(g, _zeros), conjugate)), conjugate)

    def _compiled(
        self, translate: Callable[[object], object] | None, as_tensors: bool | None = None,
        needed: tuple[bool, ...] | None = None,
    ) -> Callable[..., Any]:  # fmt: skip
        namespace: dict[str, object] = {"_RuntimeError": RuntimeError, "_FREED": messages.FREED}
        namespace["_as_tensor"] = as_tensor
        seen: dict[int, str] = {}

        def change(node: gast.AST) -> gast.expr | None:
            if isinstance(node, GlobalReference):
                key = id(node.binding.value)
                if key not in seen:
                    seen[key] = f"global_{len(seen)}"
                    value = node.binding.value
                    namespace[seen[key]] = value if translate is None else translate(value)
                return read(seen[key])
            if translate is not None and isinstance(node, gast.Subscript) and _runs_backwards(node.slice):
                namespace["_reversed_item"] = translate(operator.getitem)
                index = [_as_object(part, change) for part in _parts(node.slice)]
                whole = index[0] if len(index) == 1 else gast.Tuple(index, gast.Load())
                return gast.Call(read("_reversed_item"), [rebuilt(node.value, change), whole], [])
            return None

        body: list[gast.stmt] = [rebuilt(statement, change) for statement in self.piece.body]
        values = [rebuilt(self.piece.values[p], change) if p in self.piece.values else None for p in self.outputs]
        if needed is not None:
            values = [value if wanted else None for value, wanted in zip(values, needed, strict=True)]
            body = read_later(body, [value for value in values if value is not None])
        body.append(
            gast.Return(gast.Tuple([gast.Constant(None, None) if v is None else v for v in values], gast.Load()))
        )
        arguments = gast.arguments(
            [gast.Name(p, gast.Param(), None, None) for p in ("_node", self.rule.adjoint)], [], None, [], [], None, []
        )
        module = gast.Module([gast.FunctionDef("partials", arguments, body, [], None, None, [])], [])
        tree = gast.gast_to_ast(module)
        unpacking = self._unpacking(translate is not None if as_tensors is None else as_tensors)
        tree.body[0].body[:0] = ast.parse(unpacking).body
        exec(compile(ast.fix_missing_locations(tree), f"<{self.rule.name}>", "exec"), namespace)
        return namespace["partials"]  # type: ignore[return-value]

    def _unpacking(self, as_tensors: bool) -> str:
        """Text that takes what the node saved into the formula's parameters, versions checked."""
        if not self.sources:
            return ""
        if self.watches:
            lines = ["if _node.watched is not None:", "    _node.check_versions()"]
        else:
            lines = []
        items = [f"_s{i}" for i in range(len(self.sources))]
        lines += ["_saved = _node.saved", "if _saved is None:", "    raise _RuntimeError(_FREED)"]
        lines.append(f"{', '.join(items)}, = _saved")
        written = "(_c := {}.counter) is not None and (_c[0] or _node.versions is not None)"
        watch = {INPUT: written, LIST: "{}.counter is not None", RESULT: "{}.counter[0]"}
        watched = [
            watch[kind].format(item) for item, (kind, _) in zip(items, self.sources, strict=True) if kind in watch
        ]
        if watched:
            lines += [f"if {' or '.join(watched)}:", "    _node.check_versions()"]
        for item, (kind, p) in zip(items, self.sources, strict=True):
            if kind is PLAIN and as_tensors:
                lines.append(f"{p} = _as_tensor({item})")
            elif kind in (PLAIN, SHAPE):
                lines.append(f"{p} = {item}")
            else:
                lines.append(f"{p} = {item}.reattached(_node)" if as_tensors else f"{p} = {item}.array")
        return "\n".join(lines)


def read_later(body: list[gast.stmt], values: list[gast.expr]) -> list[gast.stmt]:
    """The statements that the values need."""

    def names(node: gast.AST) -> set[str]:
        return {inner.id for inner in gast.walk(node) if isinstance(inner, gast.Name)}

    reads = set[str]().union(*map(names, values))
    kept: list[gast.stmt] = []
    for statement in reversed(body):
        plain = isinstance(statement, gast.Assign) and all(isinstance(t, gast.Name) for t in statement.targets)
        if not plain or reads & {t.id for t in statement.targets}:
            kept.append(statement)
            reads |= names(statement)
    return kept[::-1]


def narrowed(piece: Slice) -> Slice:
    """The slice with every partial brought to the shape and dtype of its operand."""

    def fitted(p: str, value: gast.expr) -> gast.expr:
        match value:
            case gast.Call(func=GlobalReference(binding=binding)) if binding.value is runtime.unbroadcast:
                return value
        head = reference(GlobalBinding("unbroadcast", runtime.unbroadcast))
        return gast.Call(head, [value, read(p)], [])

    values = {p: fitted(p, value) for p, value in piece.values.items()}
    return Slice(piece.body, values, piece.reads, piece.shapes | values.keys())


def computed_again(piece: Slice, rule: Rule, function: Callable[..., Any]) -> Slice:
    """The slice without the result, which may be written to: the function is called with the operands again."""
    name = getattr(function, "__name__", rule.name)
    value = gast.Call(reference(GlobalBinding(name, function)), [read(p) for p in rule.parameters], [])
    first = gast.Assign([gast.Name(rule.result, gast.Store(), None, None)], value)
    reads = piece.reads - {rule.result} | set(rule.parameters)
    return Slice((first, *piece.body), piece.values, reads, piece.shapes - {rule.result})


def without_broadcasting(piece: Slice) -> Slice:
    """The slice for operands of one shape and dtype: nothing is summed down."""

    def change(node: gast.AST) -> gast.expr | None:
        match node:
            case gast.Call(func=GlobalReference(binding=binding), args=[g, *_]) if binding.value is runtime.unbroadcast:
                return rebuilt(g, change)
        return None

    values = {p: rebuilt(value, change) for p, value in piece.values.items()}
    body = tuple(rebuilt(statement, change) for statement in piece.body)
    reads, shapes = readings([*(statement.value for statement in body), *values.values()])
    return Slice(body, values, piece.reads & reads, piece.shapes & shapes)
