def f(x):
    try:
        y = 1.0 / x
    finally:
        return x
    return y
