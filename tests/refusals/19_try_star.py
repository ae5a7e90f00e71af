def f(x):
    try:
        return 1.0 / x
    except* ZeroDivisionError:
        x = 0.0
    return x
