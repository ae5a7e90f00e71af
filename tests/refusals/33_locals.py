def f(x):
    y = x * x
    return locals()["y"]
