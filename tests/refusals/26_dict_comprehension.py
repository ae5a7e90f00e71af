def f(xs):
    table = {name: x * x for name, x in xs.items()}
    return table["a"]
