"""The adjoints of ``benchmarks.programs``, written by hand as an engineer who wants speed would write them.

Each takes its program's arguments and returns its gradient only; like the compiled gradients they do no more of the
primal than the gradient needs.  ``tests/test_examples.py`` checks every one against numeric differences.
"""

from __future__ import annotations

import math

import numpy as np


def grad_scalar_loop(x, n):
    """The states are recorded; which branch was taken is read off them."""
    tape = []
    s = x
    for _ in range(n):
        tape.append(s)
        if s < 1.0:
            s = s + x * s
        else:
            s = 0.3 * s

    s_bar = 1.0
    x_bar = 0.0
    for s in reversed(tape):
        if s < 1.0:
            x_bar += s_bar * s
            s_bar += s_bar * x
        else:
            s_bar *= 0.3
    return x_bar + s_bar


def grad_squared_log_error(theta, hare, lynx, steps=20):
    """The stages of every step are recorded as one tuple; the two growth rates of each stage are kept too."""
    a, b, c, d, u, v = start = [math.exp(value) for value in theta]
    dt = 1.0 / steps
    half, sixth = dt / 2, dt / 6
    ends = [(u, v)]
    tape = []
    for _ in range(1, len(hare)):
        for _ in range(steps):
            p1 = a - b * v
            q1 = d * u - c
            k1 = p1 * u
            l1 = q1 * v
            u2 = u + half * k1
            v2 = v + half * l1
            p2 = a - b * v2
            q2 = d * u2 - c
            k2 = p2 * u2
            l2 = q2 * v2
            u3 = u + half * k2
            v3 = v + half * l2
            p3 = a - b * v3
            q3 = d * u3 - c
            k3 = p3 * u3
            l3 = q3 * v3
            u4 = u + dt * k3
            v4 = v + dt * l3
            p4 = a - b * v4
            q4 = d * u4 - c
            tape.append((u, v, p1, q1, u2, v2, p2, q2, u3, v3, p3, q3, u4, v4, p4, q4))
            u = u + sixth * (k1 + 2 * k2 + 2 * k3 + p4 * u4)
            v = v + sixth * (l1 + 2 * l2 + 2 * l3 + q4 * v4)
        ends.append((u, v))

    a_bar = b_bar = c_bar = d_bar = u_bar = v_bar = 0.0
    for year in range(len(hare) - 1, -1, -1):
        u, v = ends[year]
        u_bar += 2.0 * math.log(u / hare[year]) / u
        v_bar += 2.0 * math.log(v / lynx[year]) / v
        if year == 0:
            break
        for _ in range(steps):
            u, v, p1, q1, u2, v2, p2, q2, u3, v3, p3, q3, u4, v4, p4, q4 = tape.pop()
            # stage 4: k = p u, l = q v with p = a - b v, q = d u - c
            k_bar = sixth * u_bar
            l_bar = sixth * v_bar
            p_bar = k_bar * u4
            q_bar = l_bar * v4
            a_bar += p_bar
            b_bar -= p_bar * v4
            c_bar -= q_bar
            d_bar += q_bar * u4
            u_stage = k_bar * p4 + q_bar * d
            v_stage = l_bar * q4 - p_bar * b
            u_new = u_bar + u_stage
            v_new = v_bar + v_stage
            # stage 3
            k_bar = 2 * sixth * u_bar + dt * u_stage
            l_bar = 2 * sixth * v_bar + dt * v_stage
            p_bar = k_bar * u3
            q_bar = l_bar * v3
            a_bar += p_bar
            b_bar -= p_bar * v3
            c_bar -= q_bar
            d_bar += q_bar * u3
            u_stage = k_bar * p3 + q_bar * d
            v_stage = l_bar * q3 - p_bar * b
            u_new += u_stage
            v_new += v_stage
            # stage 2
            k_bar = 2 * sixth * u_bar + half * u_stage
            l_bar = 2 * sixth * v_bar + half * v_stage
            p_bar = k_bar * u2
            q_bar = l_bar * v2
            a_bar += p_bar
            b_bar -= p_bar * v2
            c_bar -= q_bar
            d_bar += q_bar * u2
            u_stage = k_bar * p2 + q_bar * d
            v_stage = l_bar * q2 - p_bar * b
            u_new += u_stage
            v_new += v_stage
            # stage 1
            k_bar = sixth * u_bar + half * u_stage
            l_bar = sixth * v_bar + half * v_stage
            p_bar = k_bar * u
            q_bar = l_bar * v
            a_bar += p_bar
            b_bar -= p_bar * v
            c_bar -= q_bar
            d_bar += q_bar * u
            u_bar = u_new + k_bar * p1 + q_bar * d
            v_bar = v_new + l_bar * q1 - p_bar * b
    return np.array([a_bar, b_bar, c_bar, d_bar, u_bar, v_bar]) * start


def grad_rnn(w, u, b, xs, targets):
    """Backpropagation through time, accumulating in place (as in Karpathy's min-char-rnn)."""
    hs = [np.tanh(b)]
    for x in xs:
        hs.append(np.tanh(w @ hs[-1] + u @ x + b))

    w_bar = np.zeros_like(w)
    u_bar = np.zeros_like(u)
    b_bar = np.zeros_like(b)
    h_bar = np.zeros_like(b)
    for t in range(len(xs) - 1, -1, -1):
        h = hs[t + 1]
        h_bar += 2.0 * (h - targets[t])
        z_bar = h_bar * (1.0 - h * h)
        w_bar += np.outer(z_bar, hs[t])
        u_bar += np.outer(z_bar, xs[t])
        b_bar += z_bar
        h_bar = z_bar @ w
    h = hs[0]
    return w_bar, u_bar, b_bar + h_bar * (1.0 - h * h)


def grad_mlp(w1, b1, w2, b2, w3, b3, x, y):
    """The textbook's backpropagation (Goodfellow, Bengio & Courville, *Deep Learning*, algorithm 6.4)."""
    h1 = np.tanh(x @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    e_bar = (h2 @ w3 + b3 - y) * (2.0 / y.size)
    w3_bar = h2.T @ e_bar
    b3_bar = e_bar.sum(axis=0)
    z2_bar = (e_bar @ w3.T) * (1.0 - h2 * h2)
    w2_bar = h1.T @ z2_bar
    b2_bar = z2_bar.sum(axis=0)
    z1_bar = (z2_bar @ w2.T) * (1.0 - h1 * h1)
    w1_bar = x.T @ z1_bar
    b1_bar = z1_bar.sum(axis=0)
    return w1_bar, b1_bar, w2_bar, b2_bar, w3_bar, b3_bar


def grad_lu(a, w):
    """Nothing is recorded: the factors that are left in place are all that the adjoint reads."""
    n = len(a)
    u = a.copy()
    for k in range(n - 1):
        for i in range(k + 1, n):
            m = u[i, k] = u[i, k] / u[k, k]
            for j in range(k + 1, n):
                u[i, j] -= m * u[k, j]

    u_bar = w.copy()
    for k in range(n - 2, -1, -1):
        for i in range(n - 1, k, -1):
            m = u[i, k]
            m_bar = u_bar[i, k]
            for j in range(n - 1, k, -1):
                e_bar = u_bar[i, j]
                m_bar -= e_bar * u[k, j]
                u_bar[k, j] -= e_bar * m
            u_bar[i, k] = m_bar = m_bar / u[k, k]
            u_bar[k, k] -= m_bar * m
    return u_bar


def grad_heat(start, rate, steps):
    """The curvatures are recorded; the adjoint of a step is a step."""
    u = start.copy()
    curvatures = []
    for _ in range(steps):
        curvature = u[2:] - 2.0 * u[1:-1] + u[:-2]
        curvatures.append(curvature)
        u[1:-1] += rate * curvature

    u_bar = 2.0 * u
    rate_bar = 0.0
    for curvature in reversed(curvatures):
        inner = u_bar[1:-1]
        rate_bar += inner @ curvature
        e_bar = rate * inner
        u_bar[2:] += e_bar
        inner -= 2.0 * e_bar
        u_bar[:-2] += e_bar
    return u_bar, rate_bar


def grad_kalman(f, q, h, r, ys, m, p):
    """The textbook's filter; its matrices are recorded step by step."""
    tape = []
    means = np.zeros((len(ys), len(m)))
    for t in range(len(ys)):
        m0, p0 = m, p
        m = f @ m
        fp = f @ p
        p = fp @ f.T + q
        v = ys[t] - h @ m
        hp = h @ p
        s = hp @ h.T + r
        inverse = np.linalg.inv(s)
        gain = hp.T @ inverse
        m = m + gain @ v
        p = p - gain @ hp
        p = 0.5 * (p + p.T)
        means[t] = m
        tape.append((m0, p0, fp, v, hp, inverse, gain))

    f_bar = np.zeros_like(f)
    q_bar = np.zeros_like(q)
    r_bar = np.zeros_like(r)
    p_bar = np.zeros_like(p)
    m_bar = np.zeros_like(m)
    means_bar = means * (2.0 / means.size)
    for t in range(len(ys) - 1, -1, -1):
        m0, p0, fp, v, hp, inverse, gain = tape.pop()
        m_bar += means_bar[t]
        p_bar = 0.5 * (p_bar + p_bar.T)
        gain_bar = np.outer(m_bar, v) - p_bar @ hp.T
        v_bar = m_bar @ gain + (inverse + inverse.T) @ v
        inverse_bar = np.outer(v, v) + hp @ gain_bar
        s_bar = inverse.T - inverse.T @ inverse_bar @ inverse.T
        hp_bar = inverse @ gain_bar.T - gain.T @ p_bar + s_bar @ h
        r_bar += s_bar
        p_bar += h.T @ hp_bar
        q_bar += p_bar
        m_bar -= v_bar @ h
        fp_bar = p_bar @ f
        f_bar += p_bar.T @ fp + fp_bar @ p0.T + np.outer(m_bar, m0)
        p_bar = f.T @ fp_bar
        m_bar = m_bar @ f
    return f_bar, q_bar, r_bar


def grad_march(x, n):
    """The states are the record."""
    y = np.zeros(n + 1)
    y[0] = x
    for i in range(n):
        y[i + 1] = y[i] + 0.01 * y[i] * (1.0 - y[i])

    y_bar = y * (2.0 / y.size)
    for i in range(n - 1, -1, -1):
        y_bar[i] += y_bar[i + 1] * (1.01 - 0.02 * y[i])
    return y_bar[0]


def _sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def grad_lstm(weights, biases, ends, state, sequence):
    """The gates of every layer and step are recorded; all four gates of a layer are one array."""
    steps, layers = len(sequence) - 1, len(weights)
    scale = -1.0 / (steps * sequence.shape[1])
    hiddens, cells = list(state[:, 0]), list(state[:, 1])
    tape = []
    outputs = []
    for t in range(steps):
        x = sequence[t] * ends[0]
        for layer in range(layers):
            hidden, cell = hiddens[layer], cells[layer]
            w, b = weights[layer], biases[layer]
            forget = _sigmoid(x * w[0] + b[0])
            ingate = _sigmoid(hidden * w[1] + b[1])
            outgate = _sigmoid(x * w[2] + b[2])
            change = np.tanh(hidden * w[3] + b[3])
            cells[layer] = cell * forget + ingate * change
            squashed = np.tanh(cells[layer])
            tape.append((x, hidden, cell, forget, ingate, outgate, change, squashed))
            x = hiddens[layer] = outgate * squashed
        outputs.append((x, x * ends[1] + ends[2]))

    weights_bar = np.zeros_like(weights)
    biases_bar = np.zeros_like(biases)
    ends_bar = np.zeros_like(ends)
    hidden_bars = [np.zeros(len(ends[0])) for _ in range(layers)]
    cell_bars = [np.zeros(len(ends[0])) for _ in range(layers)]
    for t in range(steps - 1, -1, -1):
        x, y = outputs[t]
        exponentials = np.exp(y)
        target = sequence[t + 1]
        y_bar = scale * (target - (np.sum(target) / (2.0 + np.sum(exponentials))) * exponentials)
        ends_bar[1] += y_bar * x
        ends_bar[2] += y_bar
        x_bar = y_bar * ends[1]
        for layer in range(layers - 1, -1, -1):
            x, hidden, cell, forget, ingate, outgate, change, squashed = tape.pop()
            w, w_bar, b_bar = weights[layer], weights_bar[layer], biases_bar[layer]
            x_bar += hidden_bars[layer]
            cell_bar = cell_bars[layer] + x_bar * outgate * (1.0 - squashed * squashed)
            forget_bar = cell_bar * cell * (forget * (1.0 - forget))
            ingate_bar = cell_bar * change * (ingate * (1.0 - ingate))
            outgate_bar = x_bar * squashed * (outgate * (1.0 - outgate))
            change_bar = cell_bar * ingate * (1.0 - change * change)
            w_bar[0] += forget_bar * x
            w_bar[1] += ingate_bar * hidden
            w_bar[2] += outgate_bar * x
            w_bar[3] += change_bar * hidden
            b_bar[0] += forget_bar
            b_bar[1] += ingate_bar
            b_bar[2] += outgate_bar
            b_bar[3] += change_bar
            cell_bars[layer] = cell_bar * forget
            hidden_bars[layer] = ingate_bar * w[1] + change_bar * w[3]
            x_bar = forget_bar * w[0] + outgate_bar * w[2]
        ends_bar[0] += x_bar * sequence[t]
    return weights_bar, biases_bar, ends_bar


def grad_ode(x, steps):
    """The stages are recorded."""
    y = np.zeros(len(x))
    h = 2.0 / steps
    half, sixth = h / 2, h / 6
    factors = x[1:]
    tape = []
    for _ in range(steps):
        k1 = x.copy()
        k1[1:] *= y[:-1]
        y2 = y + half * k1
        k2 = x.copy()
        k2[1:] *= y2[:-1]
        y3 = y + half * k2
        k3 = x.copy()
        k3[1:] *= y3[:-1]
        y4 = y + h * k3
        k4 = x.copy()
        k4[1:] *= y4[:-1]
        tape.append((y, y2, y3, y4))
        y = y + sixth * (k1 + 2 * k2 + 2 * k3 + k4)

    x_bar = np.zeros_like(x)
    inner_bar = x_bar[1:]
    y_bar = np.zeros_like(x)
    y_bar[-1] = 1.0
    for y, y2, y3, y4 in reversed(tape):
        s_bar = sixth * y_bar
        k2_bar = 2 * s_bar
        k3_bar = 2 * s_bar
        inner_bar += s_bar[1:] * y4[:-1]
        x_bar[0] += s_bar[0]
        stage = s_bar[1:] * factors
        y_bar[:-1] += stage
        k3_bar[:-1] += h * stage
        inner_bar += k3_bar[1:] * y3[:-1]
        x_bar[0] += k3_bar[0]
        stage = k3_bar[1:] * factors
        y_bar[:-1] += stage
        k2_bar[:-1] += half * stage
        inner_bar += k2_bar[1:] * y2[:-1]
        x_bar[0] += k2_bar[0]
        stage = k2_bar[1:] * factors
        y_bar[:-1] += stage
        s_bar[:-1] += half * stage
        inner_bar += s_bar[1:] * y[:-1]
        x_bar[0] += s_bar[0]
        y_bar[:-1] += s_bar[1:] * factors
    return x_bar


def grad_gmm(alphas, means, factors, x, gamma):
    """Everything in matrices; the responsibilities of the components are the seeds of the terms."""
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
    terms -= np.max(terms, axis=1)[:, np.newaxis]
    shares = np.exp(terms)
    shares /= np.sum(shares, axis=1)[:, np.newaxis]
    priors = np.exp(alphas)

    terms_bar = np.sum(shares, axis=0)
    scaled_bar = -shares[:, :, np.newaxis] * scaled
    centred_bar = scales * scaled_bar + np.einsum("kij,nki->nkj", triangles, scaled_bar)
    triangles_bar = np.einsum("nki,nkj->kij", scaled_bar, centred)
    factors_bar = np.empty_like(factors)
    weight = gamma * gamma
    scales_bar = np.einsum("nki,nki->ki", scaled_bar, centred) - weight * scales
    factors_bar[:, :d] = terms_bar[:, np.newaxis] + scales_bar * scales
    factors_bar[:, d:] = triangles_bar[:, rows, columns] - weight * factors[:, d:]
    alphas_bar = terms_bar - (n / np.sum(priors)) * priors
    return alphas_bar, -np.sum(centred_bar, axis=0), factors_bar


def _minor(a, m, n, r, c, tape):
    row, column, before = r[m], c[m], m
    if n == 1:
        tape.append((row, column))
        return a[row, column]
    total = 0.0
    sign = 1.0
    r[m] = r[row]
    for _ in range(n):
        c[before] = c[column]
        below = _minor(a, m, n - 1, r, c, tape)
        c[before] = column
        element = sign * a[row, column]
        tape.append((sign, row, column, element, below))
        total += element * below
        sign = -sign
        before, column = column, c[column]
    r[m] = row
    return total


def _minor_bar(a_bar, n, total_bar, tape):
    if n == 1:
        a_bar[tape.pop()] += total_bar
        return
    for _ in range(n):
        sign, row, column, element, below = tape.pop()
        a_bar[row, column] += total_bar * sign * below
        _minor_bar(a_bar, n - 1, total_bar * element, tape)


def grad_determinant(a):
    """Every minor adds to the one gradient; elements and minors are recorded."""
    m = len(a)
    following = [*range(1, m + 1), 0]
    tape = []
    _minor(a, m, m, following, following.copy(), tape)
    a_bar = np.zeros_like(a)
    _minor_bar(a_bar, m, 1.0, tape)
    return a_bar
