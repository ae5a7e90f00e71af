"""Fit the Lotka-Volterra equations to the lynx and hare pelts of 1900-1920: ``python examples/lynx_hare.py``.

``squared_log_error`` is a plain Python function (srcgrad/inspect/lynx_hare.py): a Runge-Kutta loop, a nested function,
scalars and lists.  ``srcgrad.value_and_grad`` turns it into the source of its gradient; ``srcgrad demo`` does the same
with timings, the generated text and a plot.
"""

import numpy as np

import srcgrad
from srcgrad.inspect.demo import bfgs
from srcgrad.inspect.lynx_hare import PARAMETERS, PUBLISHED, START, pelts, squared_log_error

years, hare, lynx = pelts()
value_and_gradient = srcgrad.value_and_grad(squared_log_error)
minimum = bfgs(lambda theta: value_and_gradient(theta, hare, lynx), np.log(START))

if __name__ == "__main__":
    print(f"error {minimum.value:.4f} after {minimum.evaluations} gradients")
    for name, fitted, published in zip(PARAMETERS, np.exp(minimum.x), [*PUBLISHED, None, None], strict=True):
        print(f"{name:14} {fitted:8.4f}" + (f"   published {published}" if published else ""))
