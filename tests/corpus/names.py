"""Assignments in every form, and names that invite confusion."""

import numpy as np

from tests.corpus.example import example, matrix, vector

OFFSET = 0.25
SCALE = np.array([1.0, -2.0, 0.5])


@example(0.3, 0.7)
def tuple_swap(x, y):
    x, y = y, x * x
    x, y = y * x, x
    return x - 2.0 * y


@example(0.3, 0.7, 1.1)
def rotation_of_three(x, y, z):
    for _ in range(4):
        x, y, z = y, z, x * y
    return x + 2.0 * y + 3.0 * z


@example(0.3, 0.7)
def chained_assignment(x, y):
    a = b = x * y
    a = a * 2.0
    return a * b


@example(0.4)
def annotated_assignment(x: float) -> float:
    y: float = x * x
    z: "np.ndarray"
    z = y + x
    return z * y


@example(0.4)
def walrus(x):
    if (y := x * x) > 0.1:
        z = y * 3.0
    else:
        z = 1.0
    return (w := z + y) * w


@example(vector(5))
def walrus_in_while(x):
    i = 0
    s = 0.1
    while (value := x[i]) * value < 5.0:
        s = s * value + 1.0
        i += 1
        if i == 5:
            break
    return s


@example(vector(4))
def starred_unpack(x):
    first, *middle, last = x
    a, b = middle
    return first * last + a * b**2


@example(0.3, vector(2))
def nested_unpack(a, v):
    (p, q), [r, s] = (a, a * a), v
    return p * r + q * s


@example(matrix(2, 2))
def unpack_rows(m):
    u, v = m
    (a, b), (c, d) = m
    return np.sum(u * v) + a * d - b * c


@example(0.9)
def augmented_all(x):
    y = x
    y += 1.0
    y *= x
    y -= x * x
    y /= 2.0 + x
    y **= 2
    return y


@example(vector(3))
def augmented_array(x):
    y = x * 1.0
    y += x
    y *= SCALE
    y = y - OFFSET
    return np.sum(y * x)


@example(0.5)
def name_reused_with_another_type(x):
    v = "text"
    v = len(v) * x
    v = np.array([v, x])
    v = np.sum(v * v)
    return v


@example(0.6)
def globals_and_shadowing(x):
    offset = OFFSET * x
    return offset * np.sum(SCALE * x) + OFFSET


@example(0.6, 0.3)
def same_name_as_its_own_function(same_name, y):
    f = same_name * y
    return f * f


@example(0.6)
def prints_asserts_and_formats(x):
    """Effects happen once, forward."""
    y = x * x
    assert y > 0.0, f"got {y}"
    print(f"y = {float(np.real(y)):.3f}", end="")
    if y > 100.0:
        raise ValueError("too large")
    pass
    return y * x


@example(0.6)
def documented(x):
    """A docstring, and

    more of it.
    """
    # a comment
    y = x  # another
    "a string statement"
    return y * y


@example(0.6)
def global_constants_in_a_loop(x):
    s = x
    for k in SCALE:
        s = s * k + OFFSET
    return s


@example(0.2, 0.9)
def underscore_names(_x, __y):
    _ = _x * __y
    _1 = _ + 1.0
    return _ * _1
