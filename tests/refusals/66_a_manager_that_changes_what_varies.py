import contextlib


class Model:
    def __init__(self, w):
        self.w = w


@contextlib.contextmanager
def doubled(model):
    for factor in (2.0,):
        model.w = model.w * factor
        yield
    model.w = model.w + 1.0


def f(x):
    model = Model(1.0)
    with doubled(model):
        model.w = model.w * x
        if x > 1.0:
            return model.w
    return model.w
