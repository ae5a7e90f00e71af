def f(x):
    match (x, 2.0):
        case (y, 1.0) | (_, y):
            return y * x
    return x
