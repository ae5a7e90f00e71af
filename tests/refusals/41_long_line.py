# ruff: noqa: E501
def f(x, y):
    return [x + 1.0, x + 2.0, x + 3.0, x + 4.0, x + 5.0, x + 6.0, x + 7.0, x + 8.0, x + 9.0, sum({x, y}), x + 10.0, x + 11.0, x + 12.0]  # fmt: skip
