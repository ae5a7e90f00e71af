def f(x):
    class Point:
        value = x

    return Point().value * x
