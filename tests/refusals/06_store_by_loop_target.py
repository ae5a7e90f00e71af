def f(x, cell):
    for cell.value in range(3):
        x = x * 2.0
    return x
