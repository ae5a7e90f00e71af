"""The function was made by exec."""

import srcgrad

namespace = {}
exec("def square(x):\n    return x**2", namespace)
print(srcgrad.grad(namespace["square"])(3.0))
