def f(x):
    match {"a": x, "b": 2.0}:
        case {"a": a, **rest}:
            return a * len(rest)
    return x
