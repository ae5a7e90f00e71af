from srcgrad import no_grad


def record(values, x):
    return values, x


def f(x, values):
    with no_grad():
        record(values, x)
    return x * x
