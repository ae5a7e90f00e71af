def f(xs):
    squares = [(x * x for x in xs)]
    return sum(squares[0])
