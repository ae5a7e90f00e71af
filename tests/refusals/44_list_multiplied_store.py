def f(x):
    history = [0.0] * 4
    for i in range(3):
        history[i + 1] = history[i] * x
    return history[3]
