def f(x, kind):
    match kind:
        case int() | float():
            return x * kind
        case _:
            return x
