def f(x):
    y = 0.0
    exec("y = x * x")
    return y * x
