def f(x):
    if x > 0:
        from math import log, sin

        return log(x) * sin(x)
    return x
