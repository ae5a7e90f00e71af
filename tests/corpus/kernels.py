"""Small scientific programs as people write them."""

import math

import numpy as np

from tests.corpus.example import example, matrix, positive, vector


@example(2.0)
def newton_square_root(a):
    x = a
    for _ in range(20):
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-12:
            break
        x = new
    return x


@example(0.8, 0.3)
def kepler(mean_anomaly, eccentricity):
    """E - e sin E = M by Newton's method, then the radius."""
    e = mean_anomaly
    for _ in range(10):
        step = (e - eccentricity * np.sin(e) - mean_anomaly) / (1.0 - eccentricity * np.cos(e))
        e = e - step
        if np.real(step) ** 2 < 1e-24:
            break
    return 1.0 - eccentricity * np.cos(e)


@example(0.1, 1.3, 5.0, 40)
def logistic_growth(n, rate, capacity, steps):
    dt = 0.1
    for _ in range(steps):
        n = n + dt * rate * n * (1.0 - n / capacity)
    return n


@example(0.3, 0.2, 12)
def euler_pendulum(angle, speed, steps):
    for _ in range(steps):
        speed = speed - 0.05 * np.sin(angle)
        angle = angle + 0.05 * speed
    return angle * angle + speed


@example(np.array([1.0, 0.5]), np.array([0.6, 0.03, 0.8, 0.02]), 6)
def rk4_lotka_volterra(state, parameters, steps):
    alpha, beta, gamma, delta = parameters

    def rate(y):
        prey, predator = y
        return np.array([alpha * prey - beta * prey * predator, delta * prey * predator - gamma * predator])

    h = 0.1
    for _ in range(steps):
        k1 = rate(state)
        k2 = rate(state + 0.5 * h * k1)
        k3 = rate(state + 0.5 * h * k2)
        k4 = rate(state + h * k3)
        state = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return np.sum(np.log(state) ** 2)


def harmonic(t, y, stiffness):
    return np.array([y[1], -stiffness * y[0] + 0.1 * np.cos(t)])


@example(np.array([1.0, 0.0]), 2.5)
def rk4_with_a_callee(y, stiffness):
    t, h = 0.0, 0.2
    while t < 1.0:
        k1 = harmonic(t, y, stiffness)
        k2 = harmonic(t + h / 2, y + h / 2 * k1, stiffness)
        k3 = harmonic(t + h / 2, y + h / 2 * k2, stiffness)
        k4 = harmonic(t + h, y + h * k3, stiffness)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    return y[0] ** 2 + y[1]


@example(matrix(4, 4), matrix(4, 2, 1), vector(4), matrix(5, 2, 2))
def rnn(w, u, h, inputs):
    loss = 0.0
    for x in inputs:
        h = np.tanh(w @ h + u @ x)
        loss = loss + np.sum(h**2)
    return loss / len(inputs)


@example(
    {"w1": matrix(4, 3), "b1": vector(4), "w2": matrix(2, 4, 1), "b2": vector(2)}, matrix(5, 3, 3), matrix(5, 2, 4)
)
def mlp_mean_squared_error(params, x, y):
    hidden = np.tanh(x @ params["w1"].T + params["b1"])
    output = hidden @ params["w2"].T + params["b2"]
    return np.mean((output - y) ** 2)


@example(matrix(3, 4), np.array([2, 0, 3]))
def softmax_cross_entropy(logits, labels):
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_z = np.log(np.sum(np.exp(shifted), axis=1))
    picked = shifted[np.arange(len(labels)), labels]
    return np.mean(log_z - picked)


@example(vector(5), 0.7)
def horner(coefficients, x):
    result = 0.0
    for c in reversed(coefficients):
        result = result * x + c
    return result


@example(vector(5), 0.3)
def chebyshev_by_clenshaw(c, x):
    b1 = b2 = 0.0
    for k in range(len(c) - 1, 0, -1):
        b1, b2 = 2.0 * x * b1 - b2 + c[k], b1
    return x * b1 - b2 + c[0]


@example(vector(6), vector(6, 1))
def kalman_filter(observations, noise):
    """One-dimensional, random walk state."""
    mean, variance = 0.0, 1.0
    log_likelihood = 0.0
    for z, q in zip(observations, noise):
        variance = variance + 0.1 + q * q
        gain = variance / (variance + 0.5)
        innovation = z - mean
        log_likelihood = log_likelihood - 0.5 * (np.log(variance + 0.5) + innovation**2 / (variance + 0.5))
        mean = mean + gain * innovation
        variance = (1.0 - gain) * variance
    return log_likelihood


@example(vector(5))
def discrete_fourier_transform(x):
    """Power of two frequencies by loops, without complex numbers."""
    n = len(x)
    power = 0.0
    for k in range(1, 3):
        re, im = 0.0, 0.0
        for t in range(n):
            angle = 2.0 * math.pi * k * t / n
            re += x[t] * math.cos(angle)
            im -= x[t] * math.sin(angle)
        power = power + (re * re + im * im) * k
    return power


@example(positive(3), positive(3, 1))
def nbody_energy(masses, positions):
    energy = 0.0
    for i in range(3):
        for j in range(i + 1, 3):
            distance = np.sqrt((positions[i] - positions[j]) ** 2 + 0.01)
            energy -= masses[i] * masses[j] / distance
    return energy


@example(100.0, 105.0, 0.2, 0.03)
def binomial_option(spot, strike, volatility, rate):
    """Expected pay-off over a recombining tree, summed with binomial weights."""
    steps = 6
    dt = 1.0 / steps
    up = np.exp(volatility * math.sqrt(dt))
    p = (np.exp(rate * dt) - 1.0 / up) / (up - 1.0 / up)
    value = 0.0
    for k in range(steps + 1):
        price = spot * up ** (2 * k - steps)
        value = value + math.comb(steps, k) * p**k * (1.0 - p) ** (steps - k) * np.maximum(price - strike, 0.0)
    return np.exp(-rate) * value


@example(vector(8), vector(3, 1))
def convolution_by_loops(signal, kernel):
    total = 0.0
    for i in range(len(signal) - len(kernel) + 1):
        y = 0.0
        for j, k in enumerate(kernel):
            y += signal[i + j] * k
        total += np.tanh(y)
    return total


@example(positive(4) / 8.0, matrix(4, 4))
def hidden_markov_forward(start, scores):
    transition = np.exp(scores)
    transition = transition / np.sum(transition, axis=1, keepdims=True)
    alpha = start / np.sum(start)
    log_likelihood = 0.0
    for t in range(4):
        alpha = (alpha @ transition) * np.array([0.5, 0.1 * t, 0.3, 0.7])
        total = np.sum(alpha)
        log_likelihood = log_likelihood + np.log(total)
        alpha = alpha / total
    return log_likelihood


@example(np.array([-1.2, 1.0, 0.7]))
def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@example(1.5, 0.4)
def simpson(a, b):
    n = 6
    h = (b - a) / n
    s = np.exp(-a * a) + np.exp(-b * b)
    for i in range(1, n):
        weight = 4.0 if i % 2 == 1 else 2.0
        t = a + i * h
        s += weight * np.exp(-t * t)
    return s * h / 3.0


@example(0.5, 0.9)
def secant_method(a, b):
    def f(t):
        return t**3 + t - 1.0

    fa, fb = f(a), f(b)
    for _ in range(4):
        a, b = b, b - fb * (b - a) / (fb - fa)
        fa, fb = fb, f(b)
        if abs(np.real(fb)) < 1e-3:
            break
    return b


@example(matrix(2, 4), vector(4), 6)
def lstm_like_gates(w, x, steps):
    c = 0.0
    h = 0.1
    for _ in range(steps):
        z = w @ np.array([h, c, 1.0, x[0]])
        gate = 1.0 / (1.0 + np.exp(-z[0]))
        c = gate * c + (1.0 - gate) * np.tanh(z[1])
        h = gate * np.tanh(c)
    return h + np.sum(x) * c


@example(matrix(6, 2), np.array([0, 1, 1, 0, 1, 0]), vector(3))
def logistic_regression(x, labels, weights):
    loss = 0.0
    for row, label in zip(x, labels):
        score = weights[0] + row @ weights[1:]
        if label == 1:
            loss += np.log1p(np.exp(-score))
        else:
            loss += np.log1p(np.exp(score))
    return loss / len(labels) + 0.01 * np.sum(weights**2)


@example(0.7, 0.2, 15)
def adaptive_step(x, tolerance, limit):
    """A step that is halved or doubled by a test on the values."""
    t, h = 0.0, 0.4
    n = 0
    while t < 1.0 and n < limit:
        full = x + h * np.cos(x)
        half = x + 0.5 * h * np.cos(x)
        half = half + 0.5 * h * np.cos(half)
        n += 1
        if np.abs(np.real(full - half)) > np.real(tolerance) * 0.05:
            h = 0.5 * h
            continue
        x = half
        t = t + h
        h = 1.5 * h
    return x * tolerance


@example(vector(4), matrix(4, 4))
def attention(q, keys):
    scores = keys @ q / math.sqrt(len(q))
    weights = np.exp(scores - np.max(scores))
    weights = weights / weights.sum()
    return np.sum(np.tanh(weights @ keys) * q)


@example(positive(3), 0.3)
def fixed_point_iteration(x, damping):
    y = x
    for k in range(30):
        new = (1.0 - damping) * y + damping * np.cos(y) * x
        change = np.sum((new - y) ** 2)
        y = new
        if change < 1e-3:
            break
    return np.sum(y)


@example(0.3, 0.4)
def spherical_coordinates(theta, phi):
    r = np.array([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])
    rotation = np.array([[np.cos(phi), -np.sin(phi), 0.0], [np.sin(phi), np.cos(phi), 0.0], [0.0, 0.0, 1.0]])
    return np.sum(rotation @ r * np.array([1.0, 2.0, 3.0]))
