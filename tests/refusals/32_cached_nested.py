from functools import cache


def f(x):
    @cache
    def power(n):
        return x**n

    return power(2) + power(3)
