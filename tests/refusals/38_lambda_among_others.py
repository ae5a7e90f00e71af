square, f, cube = lambda x: x * x, lambda x: sum({x, 1.0}), lambda x: x**3
