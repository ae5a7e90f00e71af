class Point:
    __match_args__ = ("x",)


def f(x):
    match x:
        case Point(y):
            return y
    return x
