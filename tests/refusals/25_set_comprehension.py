def f(xs):
    return sum({x * x for x in xs})
