def f(x, table):
    del table["a"], table["b"]
    return x * table["c"]
