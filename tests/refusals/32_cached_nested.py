from functools import lru_cache


def f(x):
    @lru_cache(typed=True)
    def power(n):
        return x**n

    return power(2) + power(3)
