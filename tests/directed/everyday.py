"""What programs do every day around the numbers: parameters that are left out, flags, texts, decorators, wrappers."""

import numpy as np

from tests.directed.program import directed

X = np.array([0.3, 1.1, -0.7, 0.9])


def weighted(x, w=None, power=2.0):
    if w is None:
        w = np.ones_like(x)
    return np.sum(w * x**power)


@directed(X)
def parameters_that_are_left_out(x):
    """The exponent does not vary: no derivative asks for the logarithm of what is negative."""
    return weighted(x) + weighted(x, x) + weighted(x, power=3)


class Dropout:
    def __init__(self, share, seed):
        self.share, self.state = share, np.random.RandomState(seed)

    def __call__(self, x):
        return x * (self.state.rand(*x.shape) > self.share)


@directed(X)
def draws_of_a_state(x):
    state, drop = np.random.RandomState(0), Dropout(0.3, 1)
    noise = state.randn(4) * x + state.normal(0.0, 0.1, x.shape)
    return np.sum(drop(drop(x) ** 2)) + np.sum(noise**2) + x[state.randint(0, 4)] * state.uniform()


@directed(X)
def a_module_that_may_be_missing(x):
    try:
        import module_that_nobody_has as backend
    except ImportError:
        backend = np
    return backend.sum(backend.sin(x) * x)


@directed(X)
def a_flag_of_an_optional_import(x):
    try:
        from module_that_nobody_has.inner import scaled

        is_there = True
    except ModuleNotFoundError:
        is_there = False
    if is_there:
        return scaled(x)
    return np.sum(x**2)
