import numpy as np


def f(x, k):
    options = {}
    if k:
        options["tensor"] = False
    return np.sum(np.polynomial.polynomial.polyval(0.5, x, **options))
