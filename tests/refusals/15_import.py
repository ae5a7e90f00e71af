def f(x):
    import math

    return math.sin(x)
