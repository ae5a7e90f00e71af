class Dataset:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        self.n = self.n - 1
        if self.n < 0:
            raise StopIteration
        return float(self.n)


def f(x):
    s = 0.0
    for v in Dataset(3):
        s = s + v * x
    return s
