from collections import Counter


def f(xs):
    return Counter(
        (x * x for x in xs if x > 0),
    )
