import contextlib


@contextlib.contextmanager
def scaled(x):
    yield 2.0 * x


def f(x):
    with scaled(x) as y:
        return y * y
