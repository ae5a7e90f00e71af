"""The programs that are timed, as a user writes them; peers run this same text with their own ``np`` and ``math``."""

from __future__ import annotations

import numpy as np

from srcgrad.inspect.lynx_hare import squared_log_error

__all__ = [
    "determinant", "gmm", "heat", "kalman", "lstm", "lu", "march", "mlp", "ode", "rnn", "runge_kutta", "scalar_loop",
    "squared_log_error",
]  # fmt: skip


def scalar_loop(x, n):
    """Growth in proportion to ``x`` until a threshold, then a setback: one branch per step."""
    s = x
    for _ in range(n):
        if s < 1.0:
            s = s + x * s
        else:
            s = 0.3 * s
    return s


def rnn(w, u, b, xs, targets):
    """Squared error of an Elman network (hidden state ``h``) over a sequence."""
    h = np.tanh(b)
    loss = 0.0
    for t in range(len(xs)):
        h = np.tanh(w @ h + u @ xs[t] + b)
        e = h - targets[t]
        loss = loss + e @ e
    return loss


def mlp(w1, b1, w2, b2, w3, b3, x, y):
    """Mean squared error of a three-layer perceptron over a batch."""
    h1 = np.tanh(x @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    e = h2 @ w3 + b3 - y
    return np.mean(e * e)


def lu(a, w):
    """A weighted sum of the factors that Gaussian elimination without pivoting leaves in place, row by row."""
    n = len(a)
    u = 1.0 * a
    for k in range(n - 1):
        for i in range(k + 1, n):
            m = u[i, k] / u[k, k]
            u[i, k] = m
            for j in range(k + 1, n):
                u[i, j] = u[i, j] - m * u[k, j]
    return np.sum(w * u)


def heat(start, rate, steps):
    """Energy of a rod after explicit steps of the heat equation, its ends held."""
    u = 1.0 * start
    for _ in range(steps):
        u[1:-1] += rate * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def kalman(f, q, h, r, ys, m, p):
    """Negative log-likelihood (less constants) of observations, and how far the filtered means wander."""
    means = np.zeros((len(ys), len(m)))
    loss = 0.0
    for t in range(len(ys)):
        m = f @ m
        p = f @ p @ f.T + q
        v = ys[t] - h @ m
        hp = h @ p
        s = hp @ h.T + r
        inverse = np.linalg.inv(s)
        gain = hp.T @ inverse
        m = m + gain @ v
        p = p - gain @ hp
        p = 0.5 * (p + p.T)
        means[t] = m
        loss = loss + np.log(np.linalg.det(s)) + v @ inverse @ v
    return loss + np.mean(means * means)


def march(x, n):
    """Mean square of a logistic growth from ``x``, every state kept in an array."""
    y = np.zeros(n + 1)
    y[0] = x
    for i in range(n):
        y[i + 1] = y[i] + 0.01 * y[i] * (1.0 - y[i])
    return np.mean(y * y)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm_step(weights, biases, hidden, cell, x):
    """One layer whose gates scale their input element by element."""
    forget = sigmoid(x * weights[0] + biases[0])
    ingate = sigmoid(hidden * weights[1] + biases[1])
    outgate = sigmoid(x * weights[2] + biases[2])
    change = np.tanh(hidden * weights[3] + biases[3])
    cell = cell * forget + ingate * change
    return outgate * np.tanh(cell), cell


def lstm_predict(weights, biases, ends, state, x):
    """The next character from this one; ``state`` holds the hidden and the cell values of each layer."""
    state = state.copy()
    x = x * ends[0]
    for layer in range(len(weights)):
        hidden, cell = lstm_step(weights[layer], biases[layer], state[layer, 0], state[layer, 1], x)
        state[layer, 0] = hidden
        state[layer, 1] = cell
        x = hidden
    return x * ends[1] + ends[2], state


def lstm(weights, biases, ends, state, sequence):
    """Mean negative log-likelihood of a sequence of characters, each predicted from those before it."""
    total = 0.0
    for t in range(len(sequence) - 1):
        y, state = lstm_predict(weights, biases, ends, state, sequence[t])
        total = total + np.sum(sequence[t + 1] * (y - np.log(2.0 + np.sum(np.exp(y)))))
    return -total / ((len(sequence) - 1) * sequence.shape[1])


def chain_rates(x, y):
    """Each component is driven by the one before it."""
    rates = x.copy()
    rates[1:] *= y[:-1]
    return rates


def ode(x, steps):
    """The last component of a chain of equations after classical Runge-Kutta steps up to t = 2."""
    y = np.zeros(len(x))
    h = 2.0 / steps
    for _ in range(steps):
        k1 = chain_rates(x, y)
        k2 = chain_rates(x, y + h / 2 * k1)
        k3 = chain_rates(x, y + h / 2 * k2)
        k4 = chain_rates(x, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y[-1]


def gmm(alphas, means, factors, x, gamma):
    """Log-likelihood (less constants) of a mixture of Gaussians, with a prior on the inverse covariances.

    A row of ``factors`` has the logarithms of the diagonal of a lower triangle, and then what is below it.
    """
    n, d = x.shape
    k = len(alphas)
    logs = factors[:, :d]
    scales = np.exp(logs)
    triangles = np.zeros((k, d, d))
    rows, columns = np.tril_indices(d, -1)
    triangles[:, rows, columns] = factors[:, d:]
    centred = x[:, np.newaxis, :] - means
    scaled = scales * centred + np.einsum("kij,nkj->nki", triangles, centred)
    terms = alphas + np.sum(logs, axis=1) - 0.5 * np.sum(scaled * scaled, axis=2)
    largest = np.max(terms, axis=1)
    likelihood = np.sum(largest + np.log(np.sum(np.exp(terms - largest[:, np.newaxis]), axis=1)))
    mixture = n * np.log(np.sum(np.exp(alphas)))
    prior = 0.5 * gamma * gamma * (np.sum(scales * scales) + np.sum(factors[:, d:] ** 2))
    return likelihood - mixture - prior


def minor(a, m, n, r, c):
    """The determinant of the rows and columns that are left: ``r`` and ``c`` say which follows which, from m on."""
    row, column, before = r[m], c[m], m
    if n == 1:
        return a[row, column]
    total = 0.0
    sign = 1.0
    r[m] = r[row]
    for _ in range(n):
        c[before] = c[column]
        total = total + sign * a[row, column] * minor(a, m, n - 1, r, c)
        c[before] = column
        sign = -sign
        before, column = column, c[column]
    r[m] = row
    return total


def determinant(a):
    """By minors; rows and columns are taken out of linked lists in place, as CppAD's ``det_of_minor`` does."""
    m = len(a)
    following = [*range(1, m + 1), 0]
    return minor(a, m, m, following, following.copy())


def runge_kutta(p, n):
    """Sum of squares of the states of two species, integrated by the classical Runge-Kutta method into an array."""
    h = 10.0 / n
    y = np.zeros((n + 1, 2))
    y[0] = [1.0, 0.5]
    for i in range(n):
        k1 = _rates(y[i], p)
        k2 = _rates(y[i] + h / 2 * k1, p)
        k3 = _rates(y[i] + h / 2 * k2, p)
        k4 = _rates(y[i] + h * k3, p)
        y[i + 1] = y[i] + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(y * y)


def _rates(y, p):
    return np.array([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])
