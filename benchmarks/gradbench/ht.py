"""ht: distances between measured points and a hand's surface in a pose, and their Jacobian, by forward mode.

The pose has 26 parameters; with ``us``, each measured point has two coordinates in its triangle besides, on which
only its own three distances depend, so that their columns are computed together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import srcgrad
from benchmarks.gradbench.served import Served, Timed, plain


def pose_parameters(theta, bones):
    """A row per bone behind the global rotation, scale and translation; two angles at each finger's first joint."""
    pose = np.zeros((bones + 3, 3))
    pose[0] = theta[:3]
    pose[1] = 1.0
    pose[2] = theta[3:6]
    place = 6
    row = 5
    for _ in range(5):
        for joint in range(3):
            pose[row, 0] = theta[place]
            place += 1
            if joint == 0:
                pose[row, 1] = theta[place]
                place += 1
            row += 1
        row += 1
    return pose


def euler_rotation(angles):
    """R_z R_y R_x of the angles about x, z and y."""
    sx, sz, sy = np.sin(angles)
    cx, cz, cy = np.cos(angles)
    return np.array(
        [
            [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
            [-sy, cy * sx, cy * cx],
        ]
    )


def axis_rotation(axis):
    """The rotation about an axis by its length."""
    angle = np.sqrt(np.sum(axis**2))
    if angle < 1e-4:
        return np.eye(3)
    x, y, z = axis / angle
    s, c = np.sin(angle), np.cos(angle)
    return np.array(
        [
            [x * x + (1.0 - x * x) * c, x * y * (1.0 - c) - z * s, x * z * (1.0 - c) + y * s],
            [x * y * (1.0 - c) + z * s, y * y + (1.0 - y * y) * c, y * z * (1.0 - c) - x * s],
            [x * z * (1.0 - c) - y * s, y * z * (1.0 - c) + x * s, z * z + (1.0 - z * z) * c],
        ]
    )


def vertices(theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights, mirrored):
    """Where the vertices of the hand are, a row each."""
    pose = pose_parameters(theta, len(parents))
    absolutes = []
    positions = np.zeros((len(base_positions), 3))
    for bone in range(len(parents)):
        relative = np.eye(4)
        relative[:3, :3] = euler_rotation(pose[bone + 3])
        absolute = base_relatives[bone] @ relative
        if parents[bone] >= 0:
            absolute = absolutes[parents[bone]] @ absolute
        absolutes.append(absolute)
        transform = absolute @ inverse_base_absolutes[bone]
        positions += (base_positions @ transform[:3].T) * weights[:, bone : bone + 1]
    if mirrored:
        positions = positions * np.array([-1.0, 1.0, 1.0])
    return positions @ (axis_rotation(pose[0]) * pose[1]).T + pose[2]


def objective(theta, us, hand, corners, points):
    """``corners`` has a vertex for each point, or with ``us`` the three of its triangle."""
    found = vertices(theta, *hand)
    if len(us) == 0:
        return np.ravel(points - found[corners])
    u, v = us[:, :1], us[:, 1:]
    first, second, third = found[corners[:, 0]], found[corners[:, 1]], found[corners[:, 2]]
    return np.ravel(points - (u * first + v * second + (1.0 - u - v) * third))


def moved(step, theta, us, hand, corners, points):
    """Along a step of the coordinates in the triangles, which is the same for all points, and of the pose."""
    count = len(step) - len(theta)
    return objective(theta + step[count:], us + step[:count] if count else us, hand, corners, points)


along = srcgrad.jacfwd(moved)


def jacobian(theta, us, hand, corners, points):
    """All columns by one sweep along 26 or 28 directions."""
    return along(np.zeros(len(theta) + 2 * bool(len(us))), theta, us, hand, corners, points)


def arguments(message: dict[str, Any]) -> tuple[Any, ...]:
    data = message["data"]
    model = data["model"]
    names = ("base_relatives", "inverse_base_absolutes", "base_positions", "weights")
    arrays = (np.array(model[name], dtype=np.float64) for name in names)
    hand = model["parents"], *arrays, model["is_mirrored"]
    us = np.array(message["us"], dtype=np.float64).reshape(-1, 2)
    corners = np.array(data["correspondences"])
    if len(us):
        corners = np.array(model["triangles"])[corners]
    return np.array(message["theta"], dtype=np.float64), us, hand, corners, np.array(data["points"], dtype=np.float64)


FUNCTIONS = {"objective": Served(objective, arguments, plain), "jacobian": Served(jacobian, arguments, plain)}
TIMED = Timed(objective, jacobian)


def sample(small: bool = False, complicated: bool = True) -> dict[str, Any]:
    """A made-up hand: 22 bones, of which each finger's hang on one another."""
    rng = np.random.default_rng(31337)
    bones, count, measured = 22, 12 if small else 544, 4 if small else 100
    parents = [-1, *(0 if bone % 4 == 1 else bone - 1 for bone in range(1, bones))]
    relatives = np.tile(np.eye(4), (bones, 1, 1))
    relatives[:, :3] += 0.1 * rng.normal(size=(bones, 3, 4))
    absolutes: list[Any] = []
    for bone, parent in enumerate(parents):
        absolutes.append(relatives[bone] if parent < 0 else absolutes[parent] @ relatives[bone])
    weights = rng.uniform(size=(count, bones))
    triangles = rng.integers(0, count, (2 * count, 3))
    return {
        "theta": (0.3 * rng.normal(size=26)).tolist(),
        "us": rng.uniform(0.0, 0.5, (measured, 2)).tolist() if complicated else [],
        "data": {
            "model": {
                "bone_count": bones,
                "bone_names": [f"bone {number}" for number in range(bones)],
                "parents": parents,
                "base_relatives": relatives.tolist(),
                "inverse_base_absolutes": np.linalg.inv(np.array(absolutes)).tolist(),
                "base_positions": np.hstack((rng.normal(size=(count, 3)), np.ones((count, 1)))).tolist(),
                "weights": (weights / weights.sum(axis=1, keepdims=True)).tolist(),
                "triangles": triangles.tolist(),
                "is_mirrored": False,
            },
            "correspondences": rng.integers(0, len(triangles) if complicated else count, measured).tolist(),
            "points": rng.normal(size=(measured, 3)).tolist(),
        },
    }
