"""What is refused stands three calls below."""

import srcgrad


def rounded(x):
    return float(f"{x:.3f}")


def price(x):
    return 1.2 * rounded(x)


def costs(x):
    return price(x) + x


print(srcgrad.grad(costs)(2.0))
