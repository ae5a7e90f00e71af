def f(x):
    for i in range(3):
        try:
            x = x * i
        finally:
            print(x)
    return x
