def f(x):
    y = x * x
    del y
    return x
