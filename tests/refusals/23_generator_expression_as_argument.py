from functools import reduce


def f(xs):
    return reduce(
        lambda total, x: total * x,
        (x * x for x in xs if x > 0),
    )
