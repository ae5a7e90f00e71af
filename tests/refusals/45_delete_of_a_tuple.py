def f(x):
    a, b = x, x * 2.0
    del (a, b)
    return x
