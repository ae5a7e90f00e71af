def f(x, path):
    with open(path) as stream:
        print(x, file=stream)
    return x * x
