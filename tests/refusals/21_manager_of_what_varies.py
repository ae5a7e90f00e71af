import contextlib


@contextlib.contextmanager
def scaled(x):
    if x > 0.0:
        yield 2.0 * x
    else:
        yield x * x


def f(x):
    with scaled(x) as y:
        return y * y
