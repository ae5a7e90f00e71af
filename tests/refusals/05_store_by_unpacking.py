def f(x):
    y = [0.0, 0.0]
    a, (y[0], b) = x, (x * 2.0, x * 3.0)
    return a * b
