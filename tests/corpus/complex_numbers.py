"""Complex numbers inside of functions of real ones: names that are real on one path and complex on another."""

import cmath

import numpy as np

from tests.corpus.example import example, matrix, positive, vector

PHASES = np.exp(1j * vector(4, 7))


@example(vector(4), analytic=False)
def spectrum_of_waves(x):
    wave = np.exp(1j * x) + 0.5 * np.exp(-2j * x)
    return np.sum(np.abs(wave) ** 2) + np.sum(wave.real * wave.imag)


@example(0.3, 0.7, analytic=False)
def python_complex(a, b):
    z = complex(a, b) * (1.0 - 2.0j) + a
    w = z * z.conjugate() + z
    return abs(w) + w.real - w.imag


@example(0.4, 3, analytic=False)
@example(0.4, 0, analytic=False)
def turns_complex_in_a_loop(x, n):
    s = x
    for _ in range(n):
        s = s * (0.5 + 1j) + x
    return abs(s) + x


@example(vector(3), 4, analytic=False)
def array_turns_complex_in_a_loop(x, n):
    s = np.zeros(3)
    for k in range(n):
        s = s * 1j + x * k
        if k == 2:
            s = s * (1.0 + x)
    return np.sum(np.abs(s + 0.1) ** 2)


@example(vector(3), 1.0, analytic=False)
@example(vector(3), -1.0, analytic=False)
def complex_on_one_path(x, c):
    if c > 0:
        y = x * (1.0 + 2.0j)
    else:
        y = x + c
    z = y * y
    return np.sum(np.real(z * 0.5) + np.abs(y))


@example(0.6, analytic=False)
def real_again(x):
    z = 1j * x + 0.3
    r = abs(z)
    z = r * r
    return z * np.angle(x + 1j * r)


@example(vector(3), vector(3, 1), analytic=False)
def real_between_complex(a, b):
    z = a + 1j * b
    size = np.abs(z) + 0.1
    w = size * PHASES[:3] + z
    height = np.imag(w)
    return np.sum(np.real(height * w * PHASES[1]) + np.abs(height * 1j + size))


@example(vector(4), analytic=False)
def parts_by_index(x):
    z = x * PHASES
    s = 0.0
    for i in range(4):
        s = s + z[i] * z[3 - i]
    first, *rest = z
    return abs(s) + (first * rest[1]).real + z[0].imag


@example(vector(3), analytic=False)
def comprehension_of_complex_numbers(x):
    points = [v * 1j + v * v for v in x]
    doubled = np.array([p * points[0] for p in points])
    return np.sum(np.abs(doubled) ** 2) + abs(sum(points))


@example({"weight": vector(3), "phase": 0.4, "depth": 2}, analytic=False)
def parameters_in_a_dict(p):
    z = p["weight"] * np.exp(1j * p["phase"])
    for _ in range(p["depth"]):
        z = z * z + p["weight"]
    return np.sum(np.abs(z))


@example(vector(3), 0.2, analytic=False)
def mixed_container(x, a):
    pair = (x, x * 1j, a)
    s = 0.0
    for item in pair[:2]:
        s = s + np.sum(item * item)
    return np.abs(s + pair[2] * 1j) ** 2


def rotated(z, angle):
    return z * np.exp(1j * angle)


def length(z):
    return np.sqrt(z.real**2 + z.imag**2)


@example(vector(3), 0.3, analytic=False)
def called_with_real_and_complex(x, angle):
    once = rotated(x, angle)
    twice = rotated(once, angle * 2.0)
    return np.sum(length(twice + 0.2) + length(once) * x)


@example(0.5, 0.25, analytic=False)
def escape_time(a, b):
    c = complex(a, b)
    z = 0.0
    n = 0
    while abs(z) < 4.0 and n < 12:
        z = z * z + c
        n += 1
    return abs(z) + n * 0.1


@example(0.4, analytic=False)
def returns_out_of_complex_loop(x):
    z = x
    for k in range(6):
        if abs(z) > 1.5:
            return abs(z) * k
        z = z * (1.1 + 0.9j) + 0.1
    return z.real


@example(vector(6), analytic=False)
def power_spectrum(x):
    f = np.fft.fft(x - np.mean(x))
    return np.sum(np.abs(f) ** 4) + np.sum(np.real(f * np.conj(f[0] + 1.0)))


@example(vector(6), analytic=False)
def filtered_by_rfft(x):
    f = np.fft.rfft(x)
    kept = f * np.array([1.0, 0.5, 0.5j, 0.0])
    y = np.fft.irfft(kept, 6)
    return np.sum(y**2 * x)


@example(vector(4), positive(4), analytic=False)
def impedance(r, w):
    z = r + 1.0 / (1j * w) + 1j * w * 0.2
    current = 1.0 / z
    return np.sum(np.abs(current)) + np.sum(np.angle(current) ** 2)


@example(matrix(3, 3), vector(3), analytic=False)
def complex_system(m, b):
    a = m + 1j * np.eye(3) * 2.0
    x = np.linalg.solve(a, b)
    return np.real(np.vdot(x, b * 1j + x)) + np.abs(np.linalg.det(a))


@example(matrix(3, 3), vector(3), analytic=False)
def products_of_real_and_complex(m, v):
    u = m @ (v * PHASES[:3])
    w = np.einsum("ij,j->i", m * 1j, u)
    return np.abs(np.dot(u, w)) + np.sum(np.outer(v, w).imag ** 2)


@example(0.3, 0.8, analytic=False)
def branches_of_the_logarithm(a, b):
    z = complex(a, b)
    return (cmath.log(z) * cmath.sqrt(z)).real + abs(cmath.exp(z * 1j))


@example(vector(4), analytic=False)
def chosen_by_where(x):
    z = np.where(x > 0.0, x * 1j, x)
    y = np.where(np.abs(z) > 0.5, z * z, 0.0)
    return np.sum(np.abs(y + 1.0 + z))


@example(vector(4), vector(4, 1), analytic=False)
def powers_of_complex_numbers(a, b):
    z = a + 1j * b
    return np.sum(np.abs(z**2 + z**3) + np.abs((z + 2.0) ** (0.5 + 0.2j)) + np.abs(2.0**z))


@example(-0.7, 0.5, analytic=False)
def root_of_a_negative_float(x, y):
    """Python's power of a negative float is complex."""
    z = complex(y, x)
    r = abs(z)
    w = (x * r) ** 0.5
    return abs(w * r + y) + r


@example(vector(3), analytic=False)
def conjugates_and_stacks(x):
    z = np.stack([x * 1j, x * x + 0j, x * PHASES[0]])
    h = np.conj(z).T @ z
    return np.sum(h.real**2) + np.sum(np.abs(h[0]))


@example(vector(3).astype(np.float32), tolerance=2e-5, order=1, analytic=False)
def single_precision_complex(x):
    z = x * np.complex64(0.3 + 1j)
    return np.sum(np.abs(z * z + x) ** 2)
