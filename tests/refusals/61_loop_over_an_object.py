class Doubled:
    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return self.values[i]

    def __iter__(self):
        for value in self.values:
            yield value * 2.0


def f(x):
    total = 1.0
    for value in Doubled(x):
        total = total * value
    return total
