def f(x):
    for i in range(3):
        yield x * i
