def f(x, y):
    values = {x, y, x * y}
    return sum(values)
