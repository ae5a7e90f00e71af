def f(xs):
    total = yield from xs
    return total
