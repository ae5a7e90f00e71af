def model():
    calls = 0

    def f(x):
        nonlocal calls
        calls += 1
        return x * calls

    return f


f = model()
