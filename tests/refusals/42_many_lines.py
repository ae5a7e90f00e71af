def f(x):
    return sum(
        {
            x,
            x * 2.0,
            x * 3.0,
            x * 4.0,
        }
    )
