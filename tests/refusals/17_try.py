def f(x):
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return 0.0
