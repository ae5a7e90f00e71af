def f(x):
    try:
        y = (z := x * 2.0) / x
    except ZeroDivisionError:
        y = z = x
    return y * z
