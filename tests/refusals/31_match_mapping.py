def f(x, options):
    match options:
        case {"scale": 2}:
            return 2.0 * x
    return x
