counter = 0


def f(x):
    global counter
    counter = counter + 1
    return x * counter
