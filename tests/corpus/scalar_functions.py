"""``math`` and the builtins that numeric code uses."""

import math

import numpy as np

from tests.corpus.example import example, vector


@example(0.6, analytic=False)
def math_trigonometry(x):
    return math.sin(x) * math.cos(x) + math.tan(x) - math.atan(x) + math.asin(x) * math.acos(x)


@example(0.6, analytic=False)
def math_exponentials(x):
    return math.exp(x) * math.log(x) + math.log2(x) + math.log10(x) + math.log1p(x) - math.expm1(x)


@example(0.6, analytic=False)
def math_hyperbolic(x):
    return math.sinh(x) * math.cosh(x) + math.tanh(x) + math.asinh(x) + math.atanh(x)


@example(0.6, 1.7, analytic=False)
def math_of_two(x, y):
    return math.pow(x, y) + math.hypot(x, y) * math.atan2(y, x) + math.fmod(y, x) + math.sqrt(x * y)


@example(0.6, analytic=False)
def math_absolute_and_constants(x):
    return math.fabs(x - 1.0) * math.pi + math.floor(3.7 * x) + math.ceil(x) * x + math.e * x - math.copysign(x, -1.0)


@example(-0.6, 0.3, analytic=False)
def builtin_abs_min_max(x, y):
    return abs(x) * max(x, y) + min(x, y, 0.1) * max(x * x, 0.2) - abs(y)


@example(vector(4))
def builtin_sum_and_len(x):
    return sum(x) / len(x) + sum([x[0], x[1] * x[2]], 1.0)


@example(vector(4))
def builtin_min_max_of_arrays(x):
    return max(x) * min(x) + max([x[0], x[1]])


@example(0.7, analytic=False)
def float_and_int(x):
    k = int(3.9)
    return float(x) * k + float(x * x) + int(True) + bool(k) * x


@example(1.3, 0.4)
def builtin_pow(x, y):
    return pow(x, 3) + pow(x, y)


@example(5.3, 1.7, analytic=False)
def builtin_divmod(x, y):
    q, r = divmod(x, y)
    return q * y + r * r


@example(0.7, analytic=False)
def builtin_round(x):
    return round(x) * x + round(2.567, 1) * x * x


@example([0.7, -0.2, 0.4], analytic=False)
def builtin_sorted(values):
    ordered = sorted(values)
    return ordered[0] + 2.0 * ordered[1] + 3.0 * ordered[2] ** 2


@example(vector(4))
def builtin_range_and_list(x):
    indices = list(range(4))
    s = 0.0
    for k in indices[::-1]:
        s = s * 0.5 + x[k]
    return s


@example(vector(4))
def builtin_all_any_isinstance(x):
    if isinstance(x, np.ndarray) and all(np.real(v) < 10.0 for v in (0.1, 0.2)) and any([False, True]):
        return np.sum(x * x)
    return 0.0


@example(0.4, 0.9)
def gaussian_with_math_constants(x, s):
    return np.exp(-0.5 * (x / s) ** 2) / (s * math.sqrt(2.0 * math.pi))


@example(0.8, analytic=False)
def math_on_scalars_in_a_loop(x):
    y = x
    for k in range(1, 5):
        y = math.sin(y) + x / k
        if math.isnan(y) or y > math.inf:
            return 0.0
    return y


@example(0.3, analytic=False)
def error_function(x):
    return math.erf(x) * x + math.erfc(2.0 * x)


@example(2.3, analytic=False)
def gamma_functions(x):
    return math.lgamma(x)


@example(0.6, 0.8)
def operator_variety(x, y):
    a = +x - -y
    b = x**2 / y
    c = not a > 5.0
    d = 7 // 2 + 7 % 4 + (3 << 1) + (6 & 3) + (4 | 1) + (5 ^ 1) + ~2
    return a * b + c * x + d * y
