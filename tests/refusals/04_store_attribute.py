class Cell:
    state = 1.0

    def step(self, x):
        self.state = self.state + x
        return self.state * x


f = Cell().step
