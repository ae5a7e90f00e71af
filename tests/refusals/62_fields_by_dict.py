"""Once a gradient of zero: what is read of ``__dict__`` was taken for a constant."""


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def doubled(self):
        held = self.__dict__
        self.x = 2.0 * self.x
        return held["x"]


def f(x):
    return Point(x, x * x).doubled()
