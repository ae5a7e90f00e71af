"""One of the parameters is written without its decimal point."""

import srcgrad


def loss(params):
    return params["slope"] ** 2 + params["offset"] ** 2


print(srcgrad.grad(loss)({"slope": 0.5, "offset": 1}))
