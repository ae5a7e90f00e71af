def f(x, n):
    match n:
        case 0:
            return x
        case other if other > 3:
            return x * other
    return x * x
