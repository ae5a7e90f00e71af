"""Twenty kernels of scientific computing in the manner of NPBench (Ziogas et al., ICS 2021), as a user writes them in
NumPy, and beside each its adjoint, as an engineer who wants speed would write it.

The kernels are PolyBench's and those of the sciences, in our own words.  Each ends in one number.  Its adjoint takes
the same arguments and returns the gradient for those that ``hpc_cases`` names.  An adjoint is that of the program: it
runs the kernel's own text forward, records what it reads again and nothing else, and restores no memory that nobody
reads.  It uses no insight into the mathematics of the kernel that its text does not show.
"""

from __future__ import annotations

import numpy as np

# ---------------------------------------------------------------------------------------------------- stencils


def jacobi_1d(a, b, steps):
    a = a.copy()
    b = b.copy()
    for _ in range(steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])
    return np.sum(a * a)


def jacobi_1d_bar(a, b, steps):
    """The sweeps are linear: nothing is recorded."""
    a = a.copy()
    b = b.copy()
    for _ in range(steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])

    a_bar = 2.0 * a
    b_bar = np.zeros_like(b)
    for _ in range(steps):
        for to_bar, from_bar in ((a_bar, b_bar), (b_bar, a_bar)):
            e_bar = 0.33333 * to_bar[1:-1]
            to_bar[1:-1] = 0.0
            from_bar[:-2] += e_bar
            from_bar[1:-1] += e_bar
            from_bar[2:] += e_bar
    return a_bar, b_bar


def jacobi_2d(a, b, steps):
    a = a.copy()
    b = b.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return np.sum(a * a)


def jacobi_2d_bar(a, b, steps):
    a = a.copy()
    b = b.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])

    a_bar = 2.0 * a
    b_bar = np.zeros_like(b)
    for _ in range(steps):
        for to_bar, from_bar in ((a_bar, b_bar), (b_bar, a_bar)):
            e_bar = 0.2 * to_bar[1:-1, 1:-1]
            to_bar[1:-1, 1:-1] = 0.0
            from_bar[1:-1, 1:-1] += e_bar
            from_bar[1:-1, :-2] += e_bar
            from_bar[1:-1, 2:] += e_bar
            from_bar[2:, 1:-1] += e_bar
            from_bar[:-2, 1:-1] += e_bar
    return a_bar, b_bar


def heat_3d(u, rate, steps):
    u = u.copy()
    for _ in range(steps):
        inner = u[1:-1, 1:-1, 1:-1]
        u[1:-1, 1:-1, 1:-1] = (
            inner
            + rate * (u[2:, 1:-1, 1:-1] - 2.0 * inner + u[:-2, 1:-1, 1:-1])
            + rate * (u[1:-1, 2:, 1:-1] - 2.0 * inner + u[1:-1, :-2, 1:-1])
            + rate * (u[1:-1, 1:-1, 2:] - 2.0 * inner + u[1:-1, 1:-1, :-2])
        )
    return np.sum(u * u)


def heat_3d_bar(u, rate, steps):
    """The rate needs the three curvatures of every step; their sum is enough."""
    u = u.copy()
    curvatures = []
    for _ in range(steps):
        inner = u[1:-1, 1:-1, 1:-1]
        curvature = (
            (u[2:, 1:-1, 1:-1] - 2.0 * inner + u[:-2, 1:-1, 1:-1])
            + (u[1:-1, 2:, 1:-1] - 2.0 * inner + u[1:-1, :-2, 1:-1])
            + (u[1:-1, 1:-1, 2:] - 2.0 * inner + u[1:-1, 1:-1, :-2])
        )
        curvatures.append(curvature)
        inner += rate * curvature

    u_bar = 2.0 * u
    rate_bar = 0.0
    for curvature in reversed(curvatures):
        inner = u_bar[1:-1, 1:-1, 1:-1]
        rate_bar += np.sum(inner * curvature)
        e_bar = rate * inner
        inner -= 6.0 * e_bar
        u_bar[2:, 1:-1, 1:-1] += e_bar
        u_bar[:-2, 1:-1, 1:-1] += e_bar
        u_bar[1:-1, 2:, 1:-1] += e_bar
        u_bar[1:-1, :-2, 1:-1] += e_bar
        u_bar[1:-1, 1:-1, 2:] += e_bar
        u_bar[1:-1, 1:-1, :-2] += e_bar
    return u_bar, rate_bar


def seidel_2d(a, steps):
    a = a.copy()
    n = len(a)
    for _ in range(steps):
        for i in range(1, n - 1):
            a[i, 1:-1] += (
                a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2] + a[i + 1, 1:-1] + a[i + 1, 2:]
            )
            for j in range(1, n - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0
    return np.sum(a * a)


def seidel_2d_bar(a, steps):
    a = a.copy()
    n = len(a)
    for _ in range(steps):
        for i in range(1, n - 1):
            a[i, 1:-1] += (
                a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2] + a[i + 1, 1:-1] + a[i + 1, 2:]
            )
            for j in range(1, n - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0

    a_bar = 2.0 * a
    for _ in range(steps):
        for i in range(n - 2, 0, -1):
            for j in range(n - 2, 0, -1):
                a_bar[i, j] /= 9.0
                a_bar[i, j - 1] += a_bar[i, j]
            row_bar = a_bar[i, 1:-1].copy()
            a_bar[i, 2:] += row_bar
            for row in (a_bar[i - 1], a_bar[i + 1]):
                row[:-2] += row_bar
                row[1:-1] += row_bar
                row[2:] += row_bar
    return a_bar


def fdtd_2d(ex, ey, hz, source):
    """Maxwell's equations on a staggered grid, driven at one edge."""
    ex = ex.copy()
    ey = ey.copy()
    hz = hz.copy()
    for t in range(len(source)):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return np.sum(hz * hz)


def fdtd_2d_bar(ex, ey, hz, source):
    ex = ex.copy()
    ey = ey.copy()
    hz = hz.copy()
    for t in range(len(source)):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])

    ex_bar = np.zeros_like(ex)
    ey_bar = np.zeros_like(ey)
    hz_bar = 2.0 * hz
    source_bar = np.zeros_like(source)
    for t in range(len(source) - 1, -1, -1):
        e_bar = 0.7 * hz_bar[:-1, :-1]
        ex_bar[:-1, 1:] -= e_bar
        ex_bar[:-1, :-1] += e_bar
        ey_bar[1:, :-1] -= e_bar
        ey_bar[:-1, :-1] += e_bar
        e_bar = 0.5 * ex_bar[:, 1:]
        hz_bar[:, 1:] -= e_bar
        hz_bar[:, :-1] += e_bar
        e_bar = 0.5 * ey_bar[1:, :]
        hz_bar[1:, :] -= e_bar
        hz_bar[:-1, :] += e_bar
        source_bar[t] = np.sum(ey_bar[0, :])
        ey_bar[0, :] = 0.0
    return ex_bar, ey_bar, hz_bar, source_bar


def adi(u, rate, steps):
    """The heat equation by Peaceman & Rachford: half a step implicit along columns, half a step along rows."""
    u = u.copy()
    n = len(u)
    v = np.zeros_like(u)
    q = np.zeros_like(u)
    p = np.zeros(n)
    for i in range(1, n - 1):
        p[i] = rate / (1.0 + 2.0 * rate - rate * p[i - 1])
    for _ in range(steps):
        for i in range(1, n - 1):
            right = u[i, 1:-1] + rate * (u[i, 2:] - 2.0 * u[i, 1:-1] + u[i, :-2])
            q[i, 1:-1] = (right + rate * q[i - 1, 1:-1]) / (1.0 + 2.0 * rate - rate * p[i - 1])
        for i in range(n - 2, 0, -1):
            v[i, 1:-1] = p[i] * v[i + 1, 1:-1] + q[i, 1:-1]
        for j in range(1, n - 1):
            right = v[1:-1, j] + rate * (v[2:, j] - 2.0 * v[1:-1, j] + v[:-2, j])
            q[1:-1, j] = (right + rate * q[1:-1, j - 1]) / (1.0 + 2.0 * rate - rate * p[j - 1])
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[j] * u[1:-1, j + 1] + q[1:-1, j]
    return np.sum(u * u)


def adi_bar(u, rate, steps):
    """Every half step keeps its curvatures, its ``q`` and its result."""
    u = u.copy()
    n = len(u)
    p = np.zeros(n)
    pivot = np.zeros(n)
    for i in range(1, n - 1):
        pivot[i] = 1.0 + 2.0 * rate - rate * p[i - 1]
        p[i] = rate / pivot[i]
    tape = []
    for _ in range(steps):
        across = np.empty((n, n - 2))
        q = np.zeros_like(u)
        v = np.zeros_like(u)
        for i in range(1, n - 1):
            across[i] = u[i, 2:] - 2.0 * u[i, 1:-1] + u[i, :-2]
            q[i, 1:-1] = (u[i, 1:-1] + rate * across[i] + rate * q[i - 1, 1:-1]) / pivot[i]
        for i in range(n - 2, 0, -1):
            v[i, 1:-1] = p[i] * v[i + 1, 1:-1] + q[i, 1:-1]
        tape.append((across, q, v))
        across = np.empty((n - 2, n))
        q = np.zeros_like(u)
        u = u.copy()
        for j in range(1, n - 1):
            across[:, j] = v[2:, j] - 2.0 * v[1:-1, j] + v[:-2, j]
            q[1:-1, j] = (v[1:-1, j] + rate * across[:, j] + rate * q[1:-1, j - 1]) / pivot[j]
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[j] * u[1:-1, j + 1] + q[1:-1, j]
        tape.append((across, q, u))

    u_bar = 2.0 * u
    v_bar = np.zeros_like(u)
    q_bar = np.zeros_like(u)
    p_bar = np.zeros(n)
    pivot_bar = np.zeros(n)
    rate_bar = 0.0
    for _ in range(steps):
        across, q, u = tape.pop()
        for j in range(1, n - 1):
            e_bar = u_bar[1:-1, j]
            p_bar[j] += e_bar @ u[1:-1, j + 1]
            u_bar[1:-1, j + 1] += p[j] * e_bar
            q_bar[1:-1, j] += e_bar
            e_bar[:] = 0.0
        for j in range(n - 2, 0, -1):
            e_bar = q_bar[1:-1, j] / pivot[j]
            pivot_bar[j] -= e_bar @ q[1:-1, j]
            rate_bar += e_bar @ (across[:, j] + q[1:-1, j - 1])
            scaled = rate * e_bar
            q_bar[1:-1, j] = 0.0
            q_bar[1:-1, j - 1] += scaled
            v_bar[1:-1, j] += e_bar - 2.0 * scaled
            v_bar[2:, j] += scaled
            v_bar[:-2, j] += scaled
        across, q, v = tape.pop()
        for i in range(1, n - 1):
            e_bar = v_bar[i, 1:-1]
            p_bar[i] += e_bar @ v[i + 1, 1:-1]
            v_bar[i + 1, 1:-1] += p[i] * e_bar
            q_bar[i, 1:-1] += e_bar
            e_bar[:] = 0.0
        for i in range(n - 2, 0, -1):
            e_bar = q_bar[i, 1:-1] / pivot[i]
            pivot_bar[i] -= e_bar @ q[i, 1:-1]
            rate_bar += e_bar @ (across[i] + q[i - 1, 1:-1])
            scaled = rate * e_bar
            q_bar[i, 1:-1] = 0.0
            q_bar[i - 1, 1:-1] += scaled
            u_bar[i, 1:-1] += e_bar - 2.0 * scaled
            u_bar[i, 2:] += scaled
            u_bar[i, :-2] += scaled
    for i in range(n - 2, 0, -1):
        e_bar = p_bar[i] / pivot[i]
        rate_bar += e_bar
        pivot_bar[i] -= e_bar * p[i]
        rate_bar += pivot_bar[i] * (2.0 - p[i - 1])
        p_bar[i - 1] -= rate * pivot_bar[i]
    return u_bar, rate_bar


def divergence_source(u, v, density, dt, dx, dy):
    """The right side of the pressure equation (Barba & Forsyth, *CFD Python*, step 11)."""
    source = np.zeros_like(u)
    ux = (u[1:-1, 2:] - u[1:-1, :-2]) / (2.0 * dx)
    vy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2.0 * dy)
    uy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2.0 * dy)
    vx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2.0 * dx)
    source[1:-1, 1:-1] = density * ((ux + vy) / dt - ux**2 - 2.0 * (uy * vx) - vy**2)
    return source


def pressure_poisson(p, source, dx, dy, iterations):
    for _ in range(iterations):
        before = p.copy()
        p[1:-1, 1:-1] = (
            (before[1:-1, 2:] + before[1:-1, :-2]) * dy**2 + (before[2:, 1:-1] + before[:-2, 1:-1]) * dx**2
        ) / (2.0 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2.0 * (dx**2 + dy**2)) * source[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0.0


def cavity_flow(u, v, viscosity, density, dt, dx, dy, steps, iterations):
    """The lid-driven cavity: kinetic energy after explicit steps of the Navier-Stokes equations."""
    u = u.copy()
    v = v.copy()
    p = np.zeros_like(u)
    for _ in range(steps):
        un = u.copy()
        vn = v.copy()
        source = divergence_source(un, vn, density, dt, dx, dy)
        pressure_poisson(p, source, dx, dy, iterations)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2.0 * density * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + viscosity
            * (
                dt / dx**2 * (un[1:-1, 2:] - 2.0 * un[1:-1, 1:-1] + un[1:-1, :-2])
                + dt / dy**2 * (un[2:, 1:-1] - 2.0 * un[1:-1, 1:-1] + un[:-2, 1:-1])
            )
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2.0 * density * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            + viscosity
            * (
                dt / dx**2 * (vn[1:-1, 2:] - 2.0 * vn[1:-1, 1:-1] + vn[1:-1, :-2])
                + dt / dy**2 * (vn[2:, 1:-1] - 2.0 * vn[1:-1, 1:-1] + vn[:-2, 1:-1])
            )
        )
        u[0, :] = 0.0
        u[:, 0] = 0.0
        u[:, -1] = 0.0
        u[-1, :] = 1.0
        v[0, :] = 0.0
        v[-1, :] = 0.0
        v[:, 0] = 0.0
        v[:, -1] = 0.0
    return np.sum(u * u + v * v)


def cavity_flow_bar(u, v, viscosity, density, dt, dx, dy, steps, iterations):
    """Old velocities, their slopes and curvatures are recorded; pressure enters linearly, so its sweeps are not."""
    u = u.copy()
    v = v.copy()
    p = np.zeros_like(u)
    weight = 1.0 / (2.0 * (dx**2 + dy**2))
    tape = []
    for _ in range(steps):
        un = u.copy()
        vn = v.copy()
        ux = (un[1:-1, 2:] - un[1:-1, :-2]) / (2.0 * dx)
        vy = (vn[2:, 1:-1] - vn[:-2, 1:-1]) / (2.0 * dy)
        uy = (un[2:, 1:-1] - un[:-2, 1:-1]) / (2.0 * dy)
        vx = (vn[1:-1, 2:] - vn[1:-1, :-2]) / (2.0 * dx)
        source = density * ((ux + vy) / dt - ux**2 - 2.0 * (uy * vx) - vy**2)
        pressure = dx**2 * dy**2 * weight * source
        for _ in range(iterations):
            p[1:-1, 1:-1] = ((p[1:-1, 2:] + p[1:-1, :-2]) * dy**2 + (p[2:, 1:-1] + p[:-2, 1:-1]) * dx**2) * weight
            p[1:-1, 1:-1] -= pressure
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0.0
        ui = un[1:-1, 1:-1]
        vi = vn[1:-1, 1:-1]
        u_west = ui - un[1:-1, :-2]
        u_south = ui - un[:-2, 1:-1]
        v_west = vi - vn[1:-1, :-2]
        v_south = vi - vn[:-2, 1:-1]
        u_curved = dt / dx**2 * (un[1:-1, 2:] - 2.0 * ui + un[1:-1, :-2])
        u_curved += dt / dy**2 * (un[2:, 1:-1] - 2.0 * ui + un[:-2, 1:-1])
        v_curved = dt / dx**2 * (vn[1:-1, 2:] - 2.0 * vi + vn[1:-1, :-2])
        v_curved += dt / dy**2 * (vn[2:, 1:-1] - 2.0 * vi + vn[:-2, 1:-1])
        u[1:-1, 1:-1] += (
            viscosity * u_curved
            - ui * (dt / dx) * u_west
            - vi * (dt / dy) * u_south
            - dt / (2.0 * density * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
        )
        v[1:-1, 1:-1] += (
            viscosity * v_curved
            - ui * (dt / dx) * v_west
            - vi * (dt / dy) * v_south
            - dt / (2.0 * density * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
        )
        u[0, :] = 0.0
        u[:, 0] = 0.0
        u[:, -1] = 0.0
        u[-1, :] = 1.0
        v[0, :] = 0.0
        v[-1, :] = 0.0
        v[:, 0] = 0.0
        v[:, -1] = 0.0
        tape.append((ui, vi, ux, vy, uy, vx, u_west, u_south, v_west, v_south, u_curved, v_curved))

    u_bar = 2.0 * u
    v_bar = 2.0 * v
    p_bar = np.zeros_like(p)
    viscosity_bar = 0.0
    for _ in range(steps):
        ui, vi, ux, vy, uy, vx, u_west, u_south, v_west, v_south, u_curved, v_curved = tape.pop()
        for field_bar in (u_bar, v_bar):
            field_bar[0, :] = 0.0
            field_bar[-1, :] = 0.0
            field_bar[:, 0] = 0.0
            field_bar[:, -1] = 0.0
        # what the new velocities read: u_bar and v_bar become those of the old ones
        ui_bar = u_bar[1:-1, 1:-1].copy()
        vi_bar = v_bar[1:-1, 1:-1].copy()
        viscosity_bar += np.sum(ui_bar * u_curved + vi_bar * v_curved)
        for field_bar, e_bar in ((u_bar, ui_bar), (v_bar, vi_bar)):
            west_bar = (dt / dx) * ui * e_bar
            south_bar = (dt / dy) * vi * e_bar
            along_bar = (viscosity * dt / dx**2) * e_bar
            across_bar = (viscosity * dt / dy**2) * e_bar
            field_bar[1:-1, 1:-1] -= west_bar + south_bar + 2.0 * (along_bar + across_bar)
            field_bar[1:-1, :-2] += west_bar + along_bar
            field_bar[:-2, 1:-1] += south_bar + across_bar
            field_bar[1:-1, 2:] += along_bar
            field_bar[2:, 1:-1] += across_bar
        u_bar[1:-1, 1:-1] -= (dt / dx) * (u_west * ui_bar + v_west * vi_bar)
        v_bar[1:-1, 1:-1] -= (dt / dy) * (u_south * ui_bar + v_south * vi_bar)
        ui_bar *= dt / (2.0 * density * dx)
        p_bar[1:-1, 2:] -= ui_bar
        p_bar[1:-1, :-2] += ui_bar
        vi_bar *= dt / (2.0 * density * dy)
        p_bar[2:, 1:-1] -= vi_bar
        p_bar[:-2, 1:-1] += vi_bar
        # the pressure's sweeps
        pressure_bar = np.zeros_like(ui)
        for _ in range(iterations):
            p_bar[-1, :] = 0.0
            p_bar[:, 1] += p_bar[:, 0]
            p_bar[:, 0] = 0.0
            p_bar[1, :] += p_bar[0, :]
            p_bar[0, :] = 0.0
            p_bar[:, -2] += p_bar[:, -1]
            p_bar[:, -1] = 0.0
            e_bar = p_bar[1:-1, 1:-1].copy()
            p_bar[1:-1, 1:-1] = 0.0
            pressure_bar -= e_bar
            along_bar = (dy**2 * weight) * e_bar
            p_bar[1:-1, 2:] += along_bar
            p_bar[1:-1, :-2] += along_bar
            across_bar = (dx**2 * weight) * e_bar
            p_bar[2:, 1:-1] += across_bar
            p_bar[:-2, 1:-1] += across_bar
        # its right side
        source_bar = (dx**2 * dy**2 * weight * density) * pressure_bar
        ux_bar = source_bar * (1.0 / dt - 2.0 * ux) / (2.0 * dx)
        vy_bar = source_bar * (1.0 / dt - 2.0 * vy) / (2.0 * dy)
        uy_bar = source_bar * vx / -dy
        vx_bar = source_bar * uy / -dx
        u_bar[1:-1, 2:] += ux_bar
        u_bar[1:-1, :-2] -= ux_bar
        u_bar[2:, 1:-1] += uy_bar
        u_bar[:-2, 1:-1] -= uy_bar
        v_bar[2:, 1:-1] += vy_bar
        v_bar[:-2, 1:-1] -= vy_bar
        v_bar[1:-1, 2:] += vx_bar
        v_bar[1:-1, :-2] -= vx_bar
    return u_bar, v_bar, viscosity_bar


# ---------------------------------------------------------------------------------------------- linear algebra


def cholesky(a, w):
    """A weighted sum of the factor, which replaces the lower triangle row by row."""
    a = a.copy()
    for i in range(len(a)):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[j, :j]
            a[i, j] /= a[j, j]
        a[i, i] -= a[i, :i] @ a[i, :i]
        a[i, i] = np.sqrt(a[i, i])
    return np.sum(w * np.tril(a))


def cholesky_bar(a, w):
    """The factor that is left in place is all that the adjoint reads."""
    a = a.copy()
    for i in range(len(a)):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[j, :j]
            a[i, j] /= a[j, j]
        a[i, i] -= a[i, :i] @ a[i, :i]
        a[i, i] = np.sqrt(a[i, i])

    a_bar = np.tril(w)
    for i in range(len(a) - 1, -1, -1):
        e_bar = a_bar[i, i] / (2.0 * a[i, i])
        a_bar[i, i] = e_bar
        a_bar[i, :i] -= (2.0 * e_bar) * a[i, :i]
        for j in range(i - 1, -1, -1):
            e_bar = a_bar[i, j] / a[j, j]
            a_bar[i, j] = e_bar
            a_bar[j, j] -= e_bar * a[i, j]
            a_bar[i, :j] -= e_bar * a[j, :j]
            a_bar[j, :j] -= e_bar * a[i, :j]
    return a_bar


def gaussian_process(x, y, log_scale, log_noise):
    """The negative log-likelihood (less a constant) of a Gaussian process with a squared exponential kernel."""
    distance = x[:, None] - x[None, :]
    kernel = np.exp(-0.5 * (distance / np.exp(log_scale)) ** 2) + np.exp(log_noise) * np.eye(len(x))
    factor = np.linalg.cholesky(kernel)
    z = np.linalg.solve(factor, y)
    return 0.5 * (z @ z) + np.sum(np.log(np.diag(factor)))


def gaussian_process_bar(x, y, log_scale, log_noise):
    """The factor's inverse does for both adjoints (Murray, *Differentiation of the Cholesky decomposition*, 2016)."""
    scale = np.exp(log_scale)
    noise = np.exp(log_noise)
    scaled = (x[:, None] - x[None, :]) / scale
    smooth = np.exp(-0.5 * scaled**2)
    factor = np.linalg.cholesky(smooth + noise * np.eye(len(x)))
    inverse = np.linalg.inv(factor)
    z = inverse @ y

    factor_bar = np.outer(z @ inverse, -z)
    np.einsum("ii->i", factor_bar)[:] += 1.0 / np.diag(factor)
    inner_bar = np.tril(factor.T @ factor_bar)
    np.einsum("ii->i", inner_bar)[:] *= 0.5
    kernel_bar = inverse.T @ inner_bar @ inverse
    kernel_bar = 0.5 * (kernel_bar + kernel_bar.T)
    scaled_bar = kernel_bar * smooth * -scaled
    distance_bar = scaled_bar / scale
    x_bar = distance_bar.sum(axis=1) - distance_bar.sum(axis=0)
    return x_bar, -np.sum(scaled_bar * scaled), noise * np.trace(kernel_bar)


def lu(a, w):
    a = a.copy()
    n = len(a)
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return np.sum(w * a)


def lu_bar(a, w):
    a = a.copy()
    n = len(a)
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]

    a_bar = w.copy()
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, i - 1, -1):
            e_bar = a_bar[i, j]
            a_bar[i, :i] -= e_bar * a[:i, j]
            a_bar[:i, j] -= e_bar * a[i, :i]
        for j in range(i - 1, -1, -1):
            e_bar = a_bar[i, j] / a[j, j]
            a_bar[i, j] = e_bar
            a_bar[j, j] -= e_bar * a[i, j]
            a_bar[i, :j] -= e_bar * a[:j, j]
            a_bar[:j, j] -= e_bar * a[i, :j]
    return a_bar


def triangular_solve(l, b):
    x = np.empty_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - l[i, :i] @ x[:i]) / l[i, i]
    return x @ x


def triangular_solve_bar(l, b):
    x = np.empty_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - l[i, :i] @ x[:i]) / l[i, i]

    x_bar = 2.0 * x
    l_bar = np.zeros_like(l)
    b_bar = np.empty_like(b)
    for i in range(len(b) - 1, -1, -1):
        e_bar = x_bar[i] / l[i, i]
        b_bar[i] = e_bar
        l_bar[i, i] = -e_bar * x[i]
        l_bar[i, :i] = -e_bar * x[:i]
        x_bar[:i] -= e_bar * l[i, :i]
    return l_bar, b_bar


def durbin(r):
    """Yule-Walker equations by Durbin's recursion (Golub & Van Loan, *Matrix Computations*, 4.7.3)."""
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = alpha
    for k in range(1, len(r)):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.flip(r[:k]) @ y[:k]) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y @ y


def durbin_bar(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = alpha
    tape = []
    for k in range(1, len(r)):
        before = y[:k].copy()
        tape.append((alpha, beta, before))
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + r[k - 1 :: -1] @ before) / beta
        y[:k] += alpha * before[::-1]
        y[k] = alpha

    y_bar = 2.0 * y
    r_bar = np.zeros_like(r)
    alpha_bar = beta_bar = 0.0
    for k in range(len(r) - 1, 0, -1):
        now, beta_now = alpha, beta
        alpha, beta, before = tape.pop()
        head_bar = y_bar[:k]
        alpha_bar += y_bar[k] + head_bar @ before[::-1]
        head_bar += now * head_bar[::-1]
        e_bar = -alpha_bar / beta_now
        beta_bar += e_bar * now
        r_bar[k] += e_bar
        r_bar[:k] += e_bar * before[::-1]
        head_bar += e_bar * r[k - 1 :: -1]
        alpha_bar = -2.0 * alpha * beta * beta_bar
        beta_bar *= 1.0 - alpha * alpha
    r_bar[0] -= alpha_bar + y_bar[0]
    return r_bar


def gram_schmidt(a, w):
    """A weighted sum of the triangular factor, by the modified method."""
    a = a.copy()
    n = a.shape[1]
    q = np.zeros_like(a)
    r = np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(a[:, k] @ a[:, k])
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = q[:, k] @ a[:, j]
            a[:, j] -= q[:, k] * r[k, j]
    return np.sum(w * r)


def gram_schmidt_bar(a, w):
    """Each step keeps the columns that it projects; the factors stay where they are."""
    a = a.copy()
    n = a.shape[1]
    q = np.zeros_like(a)
    r = np.zeros((n, n))
    tape = []
    for k in range(n):
        r[k, k] = np.sqrt(a[:, k] @ a[:, k])
        q[:, k] = a[:, k] / r[k, k]
        tape.append(a[:, k + 1 :].copy())
        for j in range(k + 1, n):
            r[k, j] = q[:, k] @ a[:, j]
            a[:, j] -= q[:, k] * r[k, j]

    a_bar = np.zeros_like(a)
    r_bar = w.copy()
    for k in range(n - 1, -1, -1):
        before = tape.pop()
        column = q[:, k]
        column_bar = np.zeros_like(column)
        for j in range(n - 1, k, -1):
            e_bar = a_bar[:, j]
            s_bar = r_bar[k, j] - e_bar @ column
            column_bar += s_bar * before[:, j - k - 1] - r[k, j] * e_bar
            e_bar += s_bar * column
        column_bar /= r[k, k]
        a_bar[:, k] += column_bar + (r_bar[k, k] - column_bar @ column) * column
    return a_bar


def gemver(alpha, beta, a, u1, v1, u2, v2, y, z):
    a = a + np.outer(u1, v1) + np.outer(u2, v2)
    x = beta * (y @ a) + z
    w = alpha * (a @ x)
    return w @ w


def gemver_bar(alpha, beta, a, u1, v1, u2, v2, y, z):
    a = a + np.outer(u1, v1) + np.outer(u2, v2)
    ya = y @ a
    x = beta * ya + z
    ax = a @ x

    w_bar = (2.0 * alpha) * ax
    alpha_bar = w_bar @ ax
    e_bar = alpha * w_bar
    x_bar = e_bar @ a
    beta_bar = x_bar @ ya
    f_bar = beta * x_bar
    y_bar = a @ f_bar
    a_bar = np.outer(e_bar, x)
    a_bar += np.outer(y, f_bar)
    return alpha_bar, beta_bar, a_bar, a_bar @ v1, u1 @ a_bar, a_bar @ v2, u2 @ a_bar, y_bar, x_bar


# ------------------------------------------------------------------------------------- data, graphs, particles


def correlation(data, w):
    """A weighted sum of the correlations between columns."""
    mean = np.mean(data, axis=0)
    deviation = np.sqrt(np.mean((data - mean) ** 2, axis=0))
    deviation[deviation <= 0.1] = 1.0
    data = (data - mean) / (np.sqrt(len(data)) * deviation)
    m = data.shape[1]
    result = np.eye(m)
    for i in range(m - 1):
        result[i + 1 :, i] = result[i, i + 1 :] = data[:, i] @ data[:, i + 1 :]
    return np.sum(w * result)


def correlation_bar(data, w):
    """The matrix itself is read by nobody."""
    n, m = data.shape
    centred = data - np.mean(data, axis=0)
    deviation = np.sqrt(np.mean(centred**2, axis=0))
    flat = deviation <= 0.1
    divisor = np.sqrt(n) * np.where(flat, 1.0, deviation)
    data = centred / divisor

    data_bar = np.zeros_like(data)
    for i in range(m - 2, -1, -1):
        row_bar = w[i + 1 :, i] + w[i, i + 1 :]
        data_bar[:, i] += data[:, i + 1 :] @ row_bar
        data_bar[:, i + 1 :] += np.outer(data[:, i], row_bar)
    centred_bar = data_bar / divisor
    deviation_bar = np.where(flat, 0.0, -np.sqrt(n) * np.sum(centred_bar * data, axis=0))
    centred_bar += centred * (deviation_bar / (n * deviation))
    centred_bar -= np.mean(centred_bar, axis=0)
    return centred_bar


def floyd_warshall(path, w):
    """A weighted sum of the shortest paths between all pairs of nodes."""
    path = path.copy()
    for k in range(len(path)):
        path[:] = np.minimum(path, np.add.outer(path[:, k], path[k, :]))
    return np.sum(w * path)


def floyd_warshall_bar(path, w):
    """Where the way over a node was shorter is recorded."""
    path = path.copy()
    tape = []
    for k in range(len(path)):
        way = np.add.outer(path[:, k], path[k, :])
        tape.append(way < path)
        np.minimum(path, way, out=path)

    path_bar = w.copy()
    for k in range(len(path) - 1, -1, -1):
        way_bar = path_bar * tape.pop()
        path_bar -= way_bar
        path_bar[:, k] += way_bar.sum(axis=1)
        path_bar[k, :] += way_bar.sum(axis=0)
    return path_bar


def convolution(images, weights, bias):
    """Mean square of a convolution by windows, as in a network's first layer."""
    n, height, width, _ = images.shape
    size, _, _, channels = weights.shape
    out = np.empty((n, height - size + 1, width - size + 1, channels))
    for i in range(height - size + 1):
        for j in range(width - size + 1):
            window = images[:, i : i + size, j : j + size, :, None]
            out[:, i, j, :] = np.sum(window * weights[None], axis=(1, 2, 3))
    out = np.maximum(out + bias, 0.0)
    return np.mean(out * out)


def convolution_bar(images, weights, bias):
    """Adjoints of sums of products are contractions."""
    n, height, width, _ = images.shape
    size, _, _, channels = weights.shape
    out = np.empty((n, height - size + 1, width - size + 1, channels))
    for i in range(height - size + 1):
        for j in range(width - size + 1):
            window = images[:, i : i + size, j : j + size, :, None]
            out[:, i, j, :] = np.sum(window * weights[None], axis=(1, 2, 3))
    out = np.maximum(out + bias, 0.0)

    out_bar = out * (2.0 / out.size)
    bias_bar = np.sum(out_bar, axis=(0, 1, 2))
    images_bar = np.zeros_like(images)
    weights_bar = np.zeros_like(weights)
    for i in range(height - size + 1):
        for j in range(width - size + 1):
            e_bar = out_bar[:, i, j, :]
            images_bar[:, i : i + size, j : j + size] += np.tensordot(e_bar, weights, (1, 3))
            weights_bar += np.tensordot(images[:, i : i + size, j : j + size], e_bar, (0, 0))
    return images_bar, weights_bar, bias_bar


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def attention(x, wq, wk, wv):
    """Mean square of self-attention, one matrix of weights per head (Vaswani et al., 2017)."""
    q = x @ wq
    k = x @ wk
    v = x @ wv
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
    out = weights @ v
    return np.mean(out * out)


def attention_bar(x, wq, wk, wv):
    """What is subtracted before the exponential changes nothing, so it has no adjoint."""
    q = x @ wq
    k = x @ wk
    v = x @ wv
    scale = 1.0 / np.sqrt(q.shape[-1])
    weights = softmax(q @ np.swapaxes(k, -1, -2) * scale)
    out = weights @ v

    out_bar = out * (2.0 / out.size)
    v_bar = np.swapaxes(weights, -1, -2) @ out_bar
    e_bar = out_bar @ np.swapaxes(v, -1, -2)
    e_bar -= np.sum(e_bar * weights, axis=-1, keepdims=True)
    e_bar *= weights
    e_bar *= scale
    q_bar = e_bar @ k
    k_bar = np.swapaxes(e_bar, -1, -2) @ q
    x_bar = np.sum(q_bar @ np.swapaxes(wq, -1, -2), axis=0)
    x_bar += np.sum(k_bar @ np.swapaxes(wk, -1, -2), axis=0)
    x_bar += np.sum(v_bar @ np.swapaxes(wv, -1, -2), axis=0)
    return x_bar, x.T @ q_bar, x.T @ k_bar, x.T @ v_bar


def azimuthal_mean(data, radius, bins):
    """Roughness of the mean of a picture over rings."""
    largest = np.max(radius)
    result = np.zeros(bins)
    for i in range(bins):
        inner = largest * i / bins
        outer = largest * (i + 1) / bins
        ring = np.logical_and(inner <= radius, radius < outer)
        result[i] = np.mean(data[ring])
    return np.sum(np.diff(result) ** 2)


def azimuthal_mean_bar(data, radius, bins):
    """The rings are recorded."""
    largest = np.max(radius)
    result = np.zeros(bins)
    rings = []
    for i in range(bins):
        inner = largest * i / bins
        outer = largest * (i + 1) / bins
        ring = np.logical_and(inner <= radius, radius < outer)
        values = data[ring]
        rings.append((ring, len(values)))
        result[i] = np.mean(values)

    e_bar = 2.0 * np.diff(result)
    result_bar = np.zeros(bins)
    result_bar[1:] += e_bar
    result_bar[:-1] -= e_bar
    data_bar = np.zeros_like(data)
    for i in range(bins - 1, -1, -1):
        ring, count = rings[i]
        data_bar[ring] += result_bar[i] / count
    return data_bar


def attraction(x, y, z, mass, softening):
    dx = x[None, :] - x[:, None]
    dy = y[None, :] - y[:, None]
    dz = z[None, :] - z[:, None]
    cubed = (dx**2 + dy**2 + dz**2 + softening**2) ** -1.5
    return (dx * cubed) @ mass, (dy * cubed) @ mass, (dz * cubed) @ mass


def n_body(position, velocity, mass, dt, softening, steps):
    """How far bodies spread that attract one another, by the leapfrog method."""
    x, y, z = position
    vx, vy, vz = velocity
    ax, ay, az = attraction(x, y, z, mass, softening)
    for _ in range(steps):
        vx = vx + 0.5 * dt * ax
        vy = vy + 0.5 * dt * ay
        vz = vz + 0.5 * dt * az
        x = x + dt * vx
        y = y + dt * vy
        z = z + dt * vz
        ax, ay, az = attraction(x, y, z, mass, softening)
        vx = vx + 0.5 * dt * ax
        vy = vy + 0.5 * dt * ay
        vz = vz + 0.5 * dt * az
    return np.sum(mass * (x**2 + y**2 + z**2)) + np.sum(mass * (vx**2 + vy**2 + vz**2))


def n_body_bar(position, velocity, mass, dt, softening, steps):
    x, y, z = position
    vx, vy, vz = velocity
    tape = []

    def recorded_attraction():
        dx = x[None, :] - x[:, None]
        dy = y[None, :] - y[:, None]
        dz = z[None, :] - z[:, None]
        squared = dx**2 + dy**2 + dz**2 + softening**2
        cubed = squared**-1.5
        gx = dx * cubed
        gy = dy * cubed
        gz = dz * cubed
        tape.append((dx, dy, dz, squared, cubed, gx, gy, gz))
        return gx @ mass, gy @ mass, gz @ mass

    ax, ay, az = recorded_attraction()
    for _ in range(steps):
        vx = vx + 0.5 * dt * ax
        vy = vy + 0.5 * dt * ay
        vz = vz + 0.5 * dt * az
        x = x + dt * vx
        y = y + dt * vy
        z = z + dt * vz
        ax, ay, az = recorded_attraction()
        vx = vx + 0.5 * dt * ax
        vy = vy + 0.5 * dt * ay
        vz = vz + 0.5 * dt * az

    mass_bar = x**2 + y**2 + z**2 + vx**2 + vy**2 + vz**2
    x_bar, y_bar, z_bar = 2.0 * mass * x, 2.0 * mass * y, 2.0 * mass * z
    vx_bar, vy_bar, vz_bar = 2.0 * mass * vx, 2.0 * mass * vy, 2.0 * mass * vz
    for step in range(steps, -1, -1):
        # the accelerations of a step move the velocities at its end and at the beginning of the next one
        times = 0.5 * dt if step in (0, steps) else dt
        dx, dy, dz, squared, cubed, gx, gy, gz = tape.pop()
        ax_bar, ay_bar, az_bar = times * vx_bar, times * vy_bar, times * vz_bar
        mass_bar += ax_bar @ gx + ay_bar @ gy + az_bar @ gz
        gx_bar = np.outer(ax_bar, mass)
        gy_bar = np.outer(ay_bar, mass)
        gz_bar = np.outer(az_bar, mass)
        squared_bar = (gx_bar * dx + gy_bar * dy + gz_bar * dz) * (-3.0 * cubed / squared)
        dx_bar = gx_bar * cubed + squared_bar * dx
        dy_bar = gy_bar * cubed + squared_bar * dy
        dz_bar = gz_bar * cubed + squared_bar * dz
        x_bar = x_bar + dx_bar.sum(axis=0) - dx_bar.sum(axis=1)
        y_bar = y_bar + dy_bar.sum(axis=0) - dy_bar.sum(axis=1)
        z_bar = z_bar + dz_bar.sum(axis=0) - dz_bar.sum(axis=1)
        if step > 0:
            vx_bar = vx_bar + dt * x_bar
            vy_bar = vy_bar + dt * y_bar
            vz_bar = vz_bar + dt * z_bar
    return np.array((x_bar, y_bar, z_bar)), np.array((vx_bar, vy_bar, vz_bar)), mass_bar
