class Cell:
    def step(self, x):
        self.state = self.state + x
        return self.state * x


f = Cell().step
