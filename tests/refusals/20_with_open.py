def f(x, path):
    with open(path) as stream:
        return x * len(stream.read())
