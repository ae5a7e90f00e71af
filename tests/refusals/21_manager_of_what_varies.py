import contextlib


@contextlib.contextmanager
def scaled(x):
    for factor in (1.0, 2.0):
        if x < factor:
            yield factor * x
            return


def f(x):
    with scaled(x) as y:
        return y * y
