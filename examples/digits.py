"""Handwritten digits, learned twice: eagerly, and with a compiled gradient.  ``python examples/digits.py --help``.

The eager half reads as PyTorch's users write it (``import srcgrad.eager as torch``: modules, a loss, an optimizer).
The compiled half is a plain NumPy function of the parameters, and ``srcgrad.value_and_grad`` of it.  Both start from
the same numbers and see the same batches, so that their losses are the same up to rounding.  The data are the 1,797
images of 8 by 8 pixels that come with scikit-learn; ``pip install '.[examples]'`` has what is needed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

import srcgrad
import srcgrad.eager as torch


@dataclass(frozen=True)
class Data:
    """Images as rows of numbers between 0 and 1, and the digits they show."""

    images: np.ndarray
    digits: np.ndarray
    test_images: np.ndarray
    test_digits: np.ndarray


@dataclass
class Run:
    """How one way of training went: the loss of every batch, and the share of test images that are told right."""

    losses: list[float] = field(default_factory=list)
    accuracy: float = 0.0


def load(seed: int = 0, tested: int = 360) -> Data:
    """The images, shuffled; the last ``tested`` ones are kept for the test."""
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(digits))
    images, digits = images[order] / 16.0, digits[order]
    return Data(images[:-tested], digits[:-tested], images[-tested:], digits[-tested:])


def start(hidden: int, seed: int = 0) -> list[np.ndarray]:
    """Weights and biases of two layers, each matrix outputs by inputs."""
    rng = np.random.default_rng(seed)
    made = []
    for inputs, outputs in ((64, hidden), (hidden, 10)):
        made += [rng.normal(size=(outputs, inputs)) / np.sqrt(inputs), np.zeros(outputs)]
    return made


def batches(data: Data, epochs: int, size: int, seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Images and digits, some at a time, in a new order in every epoch; the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        order = rng.permutation(len(data.digits))
        for begin in range(0, len(order) - size + 1, size):
            chosen = order[begin : begin + size]
            yield data.images[chosen], data.digits[chosen]


# --- eager -----------------------------------------------------------------------------------------------------------
def network(parameters: Sequence[np.ndarray]) -> torch.nn.Module:
    """The two layers as modules, with these numbers in them."""
    hidden = len(parameters[1])
    model = torch.nn.Sequential(torch.nn.Linear(64, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, 10)).double()
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), parameters, strict=True):
            parameter.copy_(torch.from_numpy(value))
    return model


def train_eagerly(data: Data, parameters: Sequence[np.ndarray], options: argparse.Namespace) -> Run:
    """Every operation is recorded as it runs, and gone through backward."""
    model, run = network(parameters), Run()
    optimizer = torch.optim.SGD(model.parameters(), lr=options.rate, momentum=options.momentum)
    loss_of = torch.nn.CrossEntropyLoss()

    def accuracy() -> float:
        with torch.no_grad():
            told = model(torch.from_numpy(data.test_images)).argmax(1)
        return float(np.mean(told.numpy() == data.test_digits))

    for images, digits in shown(data, run, "eager   ", accuracy, options):
        optimizer.zero_grad()
        loss = loss_of(model(torch.from_numpy(images)), torch.from_numpy(digits))
        loss.backward()
        optimizer.step()
        run.losses.append(loss.detach().item())
    return run


# --- compiled --------------------------------------------------------------------------------------------------------
def scores(parameters: list[np.ndarray], images: np.ndarray) -> np.ndarray:
    """How much each image looks like each digit."""
    w1, b1, w2, b2 = parameters
    return np.tanh(images @ w1.T + b1) @ w2.T + b2


def cross_entropy(parameters: list[np.ndarray], images: np.ndarray, digits: np.ndarray) -> float:
    """The mean of minus the logarithm of the probability that is given to the digit that is shown."""
    z = scores(parameters, images)
    z = z - np.max(z, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(len(digits)), digits])


def train_compiled(data: Data, parameters: Sequence[np.ndarray], options: argparse.Namespace) -> Run:
    """The gradient is a function of NumPy, made before the first batch."""
    value_and_gradient = srcgrad.value_and_grad(cross_entropy)
    weights, run = [np.array(value) for value in parameters], Run()
    speeds = [np.zeros_like(value) for value in weights]

    def accuracy() -> float:
        return float(np.mean(np.argmax(scores(weights, data.test_images), axis=1) == data.test_digits))

    for images, digits in shown(data, run, "compiled", accuracy, options):
        loss, gradient = value_and_gradient(weights, images, digits)
        for weight, speed, slope in zip(weights, speeds, gradient, strict=True):
            speed *= options.momentum
            speed += slope
            weight -= options.rate * speed
        run.losses.append(float(loss))
    return run


# --- what is seen ----------------------------------------------------------------------------------------------------
def shown(
    data: Data, run: Run, name: str, accuracy: Callable[[], float], options: argparse.Namespace
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The batches, under a bar with the mean loss and the accuracy after the last epoch."""
    from tqdm import tqdm

    epoch = len(data.digits) // options.batch
    given = batches(data, options.epochs, options.batch, options.seed)
    with tqdm(given, name, options.epochs * epoch, disable=options.quiet, unit=" batches") as bar:
        for batch in bar:
            yield batch
            if len(run.losses) % epoch == 0:
                run.accuracy = accuracy()
                bar.set_postfix(loss=f"{np.mean(run.losses[-epoch:]):.4f}", accuracy=f"{run.accuracy:.1%}")


def plot(eager: Run, compiled: Run, file: str) -> None:
    """Both losses over the batches: one as a broad band, the other dashed on top of it, since they coincide."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    width = min(20, len(eager.losses))
    numbers = np.arange(width, len(eager.losses) + 1)
    means = [np.convolve(run.losses, np.full(width, 1 / width), "valid") for run in (eager, compiled)]
    axes.plot(numbers, means[0], color="#f2a65a", linewidth=5, label=f"eager, accuracy {eager.accuracy:.1%}")
    label = f"compiled, accuracy {compiled.accuracy:.1%}"
    axes.plot(numbers, means[1], color="#1f3b73", linewidth=1.3, linestyle=(0, (4, 2)), label=label)
    axes.set(xlabel="batch", ylabel=f"cross-entropy, mean of {width} batches", yscale="log")
    axes.set_title("Digits, learned twice")
    axes.grid(True, alpha=0.3)
    axes.legend()
    figure.savefig(file, dpi=150)


def main(argv: Sequence[str] | None = None) -> tuple[Run, Run]:
    """Train both ways, print what came out, and return it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=10, help="how often all images are seen (default: 10)")
    parser.add_argument("--batch", type=int, default=32, help="images of one step (default: 32)")
    parser.add_argument("--hidden", type=int, default=48, help="units between the layers (default: 48)")
    parser.add_argument("--rate", type=float, default=0.1, help="size of a step (default: 0.1)")
    parser.add_argument("--momentum", type=float, default=0.9, help="what is kept of the step before (default: 0.9)")
    parser.add_argument("--seed", type=int, default=0, help="of the first weights and of the order (default: 0)")
    parser.add_argument("--plot", metavar="FILE", help="draw both losses into FILE (png, pdf, svg)")
    parser.add_argument("--quiet", action="store_true", help="no bars")
    options = parser.parse_args(argv)
    data, parameters = load(options.seed), start(options.hidden, options.seed)
    eager, compiled = train_eagerly(data, parameters, options), train_compiled(data, parameters, options)
    for name, run in (("eager", eager), ("compiled", compiled)):
        print(f"{name:8}  loss {np.mean(run.losses[-20:]):.4f}  accuracy on the test images {run.accuracy:.1%}")
    apart = np.max(np.abs(np.subtract(eager.losses, compiled.losses)))
    print(f"the losses of {len(eager.losses)} batches are apart by {apart:.1e} at most")
    if options.plot:
        plot(eager, compiled, options.plot)
        print(f"wrote {options.plot}")
    return eager, compiled


if __name__ == "__main__":
    main()
