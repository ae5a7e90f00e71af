"""Once a gradient of zero: what is read of ``__dict__`` was taken for a constant."""


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def total(self):
        return sum(self.__dict__.values())


def f(x):
    return Point(x, x * x).total()
