"""break, continue, return and loop-else."""

import numpy as np

from tests.corpus.example import example, matrix, vector


@example(0.9)
@example(5.0)
def simple_break(x):
    s = x
    for i in range(10):
        s = s * 1.3 + 0.1 * i
        if s > 4.0:
            break
    return s * x


@example(vector(7))
def simple_continue(x):
    s = 1.0
    for value in x:
        if value < 0.0:
            continue
        s = s * value + 0.3
    return s


@example(vector(7), 0.4)
def break_and_continue(x, a):
    s = a
    for i in range(len(x)):
        if i == 1:
            continue
        s = s + x[i] * s
        if s < -0.5:
            s = s * s
            continue
        if s > 2.5:
            s = s - a
            break
        s = np.sin(s) + a
    return s


@example(vector(6))
@example(-vector(6))
def return_from_a_loop(x):
    s = 0.0
    for value in x:
        s = s + value**2
        if s > 1.0:
            return s * value
        s = s + value
    return -s


@example(vector(6), 0.2)
@example(vector(6), 5.0)
def loop_else(x, limit):
    s = limit
    for value in x:
        s = s + value * s
        if s < 0.15:
            s = s * 3.0
            break
    else:
        s = s * s
    return s


@example(0.4)
@example(2.0)
def while_else(x):
    n = 0
    while n < 5:
        x = x * 1.2
        if x > 3.0:
            x = x - 1.0
            break
        n += 1
    else:
        x = np.sin(x)
    return x * x


@example(7.0)
@example(0.1)
def while_true_break(x):
    y = x
    k = 0
    while True:
        y = 0.5 * (y + x / y)
        k += 1
        if k >= 6 or abs(y * y - x) < 1e-3:
            break
    return y


@example(matrix(3, 4))
@example(matrix(3, 4, 1))
def break_out_of_the_inner_loop(m):
    s = 0.3
    for i in range(3):
        for j in range(4):
            s = s + m[i, j] * s
            if m[i, j] > 0.5:
                break
            s = s * 0.9
        s = s + m[i, 0]
    return s


@example(matrix(3, 4))
@example(matrix(3, 4, 2))
def flag_leaves_two_loops(m):
    s = 1.0
    done = False
    for row in m:
        for value in row:
            s = s * (1.0 + 0.5 * value)
            if s < 0.6:
                done = True
                break
        if done:
            break
        s = s + 0.2 * row[0]
    return s**2


@example(0.5, 0.5)
@example(0.5, -0.5)
@example(-0.5, 0.5)
def early_returns(x, y):
    if x < 0.0:
        return y * y
    z = x * y
    if z < 0.0:
        return np.sin(z)
    z = z + x
    return z * z


@example(0.7, 1)
@example(0.7, 5)
@example(-0.7, 5)
def returns_on_some_paths(x, n):
    y = x
    if n > 3:
        y = y * 2.0
        if x < 0.0:
            return y * x
        y = y + 1.0
    else:
        for i in range(n):
            y = y * x
            if y > 0.1 * i + 0.3:
                return np.exp(y)
    return y * y


@example(vector(5), 2)
@example(vector(5), 9)
def return_inside_while_inside_for(x, n):
    s = 0.5
    for i in range(5):
        k = 0
        while k < 3:
            s = s * 0.8 + x[i]
            k += 1
            if k + i > n:
                return s * x[0]
            if s < 0.0:
                break
        s = s + 0.1
    return s - x[1]


@example(vector(5))
def continue_in_while(x):
    i = 0
    s = 0.0
    while i < 5:
        value = x[i]
        i += 1
        if value < -0.2:
            continue
        s = s * value + value
    return s


@example(vector(5), 0.1)
def every_exit_at_once(x, a):
    s = a
    for i in range(6):
        t = s
        if i > 4:
            return s + x[0]
        for j in range(4):
            if j == 3 and s > 1.0:
                break
            if x[j] < 0.0 and i < 2:
                s = s + x[j] * a
                continue
            if s > 6.0:
                return s * t
            s = s * 1.3 + x[j] * 0.5
        else:
            s = s - t * 0.5
        s = s + t * t * 0.1
    return s


@example(0.3)
def break_before_anything(x):
    s = x
    for _ in range(4):
        break
    else:
        s = s * s
    return s * 2.0


@example(0.9, 30)
def mandelbrot(c, limit):
    """Escape time with a smooth value at the escape."""
    z = 0.0
    for n in range(limit):
        z = z * z + c
        if z > 4.0:
            return n + 1.0 - np.log(np.log(z)) / np.log(2.0)
    return z


@example(2.1, 0.0, 2.05)
def bisection_with_exit(x, low, high):
    """Root of t**2 = x; the last midpoint is refined by one Newton step, which carries the derivative."""
    for _ in range(60):
        middle = 0.5 * (low + high)
        if high - low < 0.3:
            break
        if middle * middle > x:
            high = middle
        else:
            low = middle
    return middle - (middle * middle - x) / (2.0 * middle)


@example(vector(6))
def exit_sees_the_value_before_the_update(x):
    previous = 0.0
    for value in x:
        current = previous * 0.5 + value
        if current < previous:
            return previous * current
        previous = current
    return previous
