"""Recurrent layers and their cells: Elman's, Hochreiter & Schmidhuber's (1997), and Cho et al.'s gated units (2014).

A layer computes what the input adds at all times in one product; what is left in the loop is a product with the
state, and the gates.  They are PyTorch's equations, with two biases and, for gated units, the state's bias inside of
the reset.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager.nn import init
from srcgrad.eager.nn.functional.layers import addmm_of, dropout, linear
from srcgrad.eager.nn.linear import empty
from srcgrad.eager.nn.module import Module
from srcgrad.eager.operations.creation import on_cpu
from srcgrad.eager.operations.joining import cat, stack
from srcgrad.eager.tensor import Tensor

State = tuple[Tensor, ...]  # (h,), and (h, c) of an LSTM
Step = Callable[[tuple[Tensor, ...], State, Tensor, Any, Any], State]


def _elman(activation: str) -> Step:
    def step(inward: tuple[Tensor, ...], state: State, weight: Tensor, bias: Any, _projection: Any) -> State:
        made = addmm_of(inward[0], state[0], weight)
        return (getattr(made if bias is None else made + bias, activation)(),)

    return step


def _long_short(inward: tuple[Tensor, ...], state: State, weight: Tensor, bias: Any, projection: Any) -> State:
    h, c = state
    gates = addmm_of(inward[0], h, weight)
    i, f, g, o = (gates if bias is None else gates + bias).chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
    return (h if projection is None else h @ projection.t()), c


def _gated(inward: tuple[Tensor, ...], state: State, weight: Tensor, bias: Any, projection: Any) -> State:
    (h,), (x_gates, x_new) = state, inward
    size = h.array.shape[1]
    gates, n = (h @ weight if bias is None else addmm_of(bias, h, weight)).split([2 * size, size], 1)
    reset, update = (x_gates + gates).sigmoid().chunk(2, 1)
    n = (x_new + reset * n).tanh()
    return ((h - n) * update + n,)


#: Of each mode: how many gates there are, and a step.  A step of gated units takes the state's bias, others have it
#: added to what the input adds.
STEPS: dict[str, tuple[int, Step]] = {
    "RNN_TANH": (1, _elman("tanh")),
    "RNN_RELU": (1, _elman("relu")),
    "LSTM": (4, _long_short),
    "GRU": (3, _gated),
}


def _inward(mode: str, input: Tensor, weight: Tensor, bias: Any, state_bias: Any) -> tuple[tuple[Tensor, ...], Any]:
    """What the input adds to the gates, in the parts that a step takes, and the bias that is left for the steps."""
    if mode == "GRU":
        size = weight.array.shape[0] // 3
        return linear(input, weight, bias).split([2 * size, size], -1), state_bias
    if state_bias is not None:
        bias = state_bias if bias is None else bias + state_bias
    return (linear(input, weight, bias),), None


class RNNBase(Module):
    """Layers of recurrent units over a sequence, in one direction or in both."""

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        on_cpu(device)
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._check_sizes(dropout)
        self._all_weights: list[list[str]] = []
        gates, out = STEPS[mode][0] * hidden_size, proj_size or hidden_size
        for layer in range(num_layers):
            below = input_size if not layer else out * self._directions
            for direction in range(self._directions):
                end = f"_l{layer}{'_reverse' if direction else ''}"
                shapes: dict[str, tuple[int, ...]] = {"weight_ih": (gates, below), "weight_hh": (gates, out)}
                if bias:
                    shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
                if proj_size:
                    shapes |= {"weight_hr": (proj_size, hidden_size)}
                for name, shape in shapes.items():
                    setattr(self, name + end, empty(*shape, dtype=dtype))
                self._all_weights.append([name + end for name in shapes])
        self.reset_parameters()

    def _check_sizes(self, dropout: Any) -> None:
        if isinstance(dropout, bool) or not isinstance(dropout, int | float) or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={self.num_layers}",
                stacklevel=4,
            )
        for name in ("input_size", "hidden_size"):
            if not isinstance(getattr(self, name), int):
                raise TypeError(f"{name} should be of type int, got: {type(getattr(self, name)).__name__}")
        for name in ("hidden_size", "num_layers"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def reset_parameters(self) -> None:
        """Start with new random numbers."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing: only kernels of accelerators want parameters in one piece."""

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    # --- checks ------------------------------------------------------------------------------------------------------
    def _checked(self, input: Tensor, given: tuple[Tensor, ...] | None, batched: bool) -> None:
        """Refuse an input, or states for two or three dimensions, that the parameters do not fit."""
        known = self._parameters["weight_ih_l0"]
        assert known is not None
        if input.array.dtype != known.array.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({known.dtype}). Convert input: "
                f"input.to({known.dtype}), or convert model: model.to({input.dtype})"
            )
        if given is not None and any(t.array.ndim != (3 if batched else 2) for t in given):
            kind, wanted = ("batched 3-D", 3) if batched else ("unbatched 2-D", 2)
            names, dims = ("hx and cx", " tensors") if len(given) == 2 else ("hx", " tensor")
            found = ", ".join(f"{t.array.ndim}-D" for t in given)
            found = f"({found})" if len(given) == 2 else found
            raise RuntimeError(f"For {kind} input, {names} should also be {wanted}-D but got {found}{dims}")
        if input.array.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.array.shape[-1]}"
            )

    def _fitting(self, state: tuple[Tensor, ...], count: int) -> None:
        for number, (tensor, size) in enumerate(zip(state, self._sizes(), strict=True)):
            expected = (self.num_layers * self._directions, count, size)
            if tensor.array.shape != expected:
                name = f"hidden[{number}]" if len(state) == 2 else "hidden"
                raise RuntimeError(f"Expected {name} size {expected}, got {list(tensor.array.shape)}")

    def _sizes(self) -> tuple[int, ...]:
        """How large the states of a unit are."""
        out = self.proj_size or self.hidden_size
        return (out, self.hidden_size) if self.mode == "LSTM" else (out,)

    # --- running -----------------------------------------------------------------------------------------------------
    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """The outputs of the last layer at all times, and the states of all layers at the end."""
        ndim = input.dim()
        if ndim not in (2, 3):
            got = f"{ndim}D" + ("" if self.mode == "LSTM" else " tensor")
            name = "RNN" if self.mode.startswith("RNN") else self.mode
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {got} instead")
        batched, long_short = ndim == 3, self.mode == "LSTM"
        given = None if hx is None else (hx[0], hx[1]) if long_short else (hx,)
        self._checked(input, given, batched)
        x = input if batched else input.unsqueeze(1)
        x = x.transpose(0, 1) if self.batch_first and batched else x
        if not x.array.shape[0]:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        count = x.array.shape[1]
        if given is None:
            shapes = [(self.num_layers * self._directions, count, size) for size in self._sizes()]
            state = tuple(Tensor.of(np.zeros(shape, x.array.dtype)) for shape in shapes)
        else:
            state = given if batched else tuple(t.unsqueeze(1) for t in given)
        self._fitting(state, count)
        output, last = self._layers(x, state)
        output = output.transpose(0, 1) if self.batch_first and batched else output
        if not batched:
            output, last = output.squeeze(1), tuple(t.squeeze(1) for t in last)
        return output, (last if long_short else last[0])

    def _layers(self, x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        ends: list[State] = []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(self._directions):
                number = layer * self._directions + direction
                made, end = self._run(x, tuple(t[number] for t in state), number, bool(direction))
                outputs.append(made)
                ends.append(end)
            x = outputs[0] if len(outputs) == 1 else cat(outputs, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                x = dropout(x, self.dropout, True)
        return x, tuple(stack(list(parts)) for parts in zip(*ends, strict=True))

    def _run(self, x: Tensor, state: State, number: int, backwards: bool) -> tuple[Tensor, State]:
        """One layer in one direction: its outputs at all times, and its state at the end."""
        weights: dict[str, Any] = {
            name.partition("_l")[0]: self._parameters[name] for name in self._all_weights[number]
        }
        inward, bias = _inward(
            self.mode, x, weights["weight_ih"], weights.get("bias_ih"), weights.get("bias_hh")
        )
        weight, projection, step = weights["weight_hh"].t(), weights.get("weight_hr"), STEPS[self.mode][1]
        outputs: list[Tensor] = []
        times = [*zip(*(part.unbind(0) for part in inward), strict=True)]
        for parts in reversed(times) if backwards else times:
            state = step(parts, state, weight, bias, projection)
            outputs.append(state[0])
        if backwards:
            outputs.reverse()
        return stack(outputs), state

    def extra_repr(self) -> str:
        """Sizes, and what is not the default."""
        plain = {
            "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False,
        }  # fmt: skip
        given = [f"{name}={getattr(self, name)}" for name, value in plain.items() if getattr(self, name) != value]
        return ", ".join([str(self.input_size), str(self.hidden_size), *given])


class RNN(RNNBase):
    """Elman's units: ``h' = tanh(W x + b + U h + c)``, or with relu."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, device: Any = None,
        dtype: Any = None, *, proj_size: int = 0,
    ) -> None:  # fmt: skip
        _without_projection(proj_size)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        options = (num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype)
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, *options)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory: a cell that is forgotten, written to and read through gates."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        options = (num_layers, bias, batch_first, dropout, bidirectional, proj_size, device, dtype)
        super().__init__("LSTM", input_size, hidden_size, *options)


class GRU(RNNBase):
    """Gated units: a state that is mixed with a new one, which a reset gate lets it take part in."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, device: Any = None, dtype: Any = None, *, proj_size: int = 0,
    ) -> None:  # fmt: skip
        _without_projection(proj_size)
        options = (num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype)
        super().__init__("GRU", input_size, hidden_size, *options)


def _without_projection(proj_size: int) -> None:
    if proj_size:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


# --- cells -----------------------------------------------------------------------------------------------------------
class RNNCellBase(Module):
    """One step of a unit."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        on_cpu(device)
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        self.weight_ih = empty(num_chunks * hidden_size, input_size, dtype=dtype)
        self.weight_hh = empty(num_chunks * hidden_size, hidden_size, dtype=dtype)
        for name in ("bias_ih", "bias_hh"):
            setattr(self, name, empty(num_chunks * hidden_size, dtype=dtype)) if bias else self.register_parameter(
                name, None
            )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start with new random numbers."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size else 0.0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        """Sizes, and what is not the default."""
        made = f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else f", bias={self.bias}")
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return made + (f", nonlinearity={nonlinearity}" if nonlinearity != "tanh" else "")

    def _stepped(self, mode: str, input: Tensor, given: tuple[Tensor, ...] | None) -> State:
        """The state after one step, of one example or of a batch of them."""
        name, ndim = type(self).__name__, input.dim()
        if ndim not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {ndim}D instead")
        for tensor in given or ():
            if tensor.dim() not in (1, 2):
                raise ValueError(f"{name}: Expected hidden to be 1D or 2D, got {tensor.dim()}D instead")
        x = input if ndim == 2 else input.unsqueeze(0)
        if x.array.shape[1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {x.array.shape[1]} expected {self.input_size}"
            )
        count = x.array.shape[0]
        if given is None:
            kept = 2 if mode == "LSTM" else 1
            state = tuple(Tensor.of(np.zeros((count, self.hidden_size), x.array.dtype)) for _ in range(kept))
        else:
            state = given if ndim == 2 else tuple(t.unsqueeze(0) for t in given)
        for number, tensor in enumerate(state):
            shape = tensor.array.shape
            if shape[0] != count:
                raise RuntimeError(f"Input batch size {count} doesn't match hidden{number} batch size {shape[0]}")
            if shape[-1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{number} has inconsistent hidden_size: got {shape[-1]}, expected {self.hidden_size}"
                )
        inward, bias = _inward(mode, x, self.weight_ih, self.bias_ih, self.bias_hh)
        made = STEPS[mode][1](inward, state, self.weight_hh.t(), bias, None)
        return made if ndim == 2 else tuple(t.squeeze(0) for t in made)


class RNNCell(RNNCellBase):
    """One step of Elman's unit."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._stepped(f"RNN_{self.nonlinearity.upper()}", input, None if hx is None else (hx,))[0]


class LSTMCell(RNNCellBase):
    """One step of long short-term memory."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The next state and cell."""
        h, c = self._stepped("LSTM", input, None if hx is None else (hx[0], hx[1]))
        return h, c


class GRUCell(RNNCellBase):
    """One step of a gated unit."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state."""
        return self._stepped("GRU", input, None if hx is None else (hx,))[0]


for _kind in (RNN, LSTM, GRU, RNNCell, LSTMCell, GRUCell):
    _kind.__module__ = "torch.nn.modules.rnn"
