import threading

LOCK = threading.Lock()


def f(x):
    try:
        with LOCK:
            y = 1.0 / x
    except ZeroDivisionError:
        y = x
    return y
