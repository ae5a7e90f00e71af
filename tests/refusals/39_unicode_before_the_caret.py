def f(温度, y):
    名前 = "値"; y = {温度, 温度 * 2.0}  # fmt: skip
    return y
