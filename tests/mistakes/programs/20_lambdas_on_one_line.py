"""Two lambdas that look the same stand in one line."""

import srcgrad

f, g = [lambda x: x * scale for scale in (2.0, 3.0)], (lambda x: x * scale)
scale = 4.0
print(srcgrad.grad(g)(1.0))
