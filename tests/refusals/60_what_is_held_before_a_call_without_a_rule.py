import itertools


def f(xs):
    total = 0.0
    for _, group in itertools.groupby(enumerate(xs), key=lambda pair: pair[0] // 2):
        total += sum(x for _, x in group)
    return total
