"""Reading tuples, lists and dicts of arrays and scalars."""

from typing import NamedTuple

import numpy as np

from tests.corpus.example import example, matrix, vector


class Layer(NamedTuple):
    """Parameters of an affine map."""

    weight: np.ndarray
    bias: np.ndarray


@example((0.3, 0.8))
def tuple_argument(p):
    return p[0] * np.sin(p[1]) + p[-1]


@example((0.3, vector(3)), [0.5, 0.2])
def unpacked_arguments_of_both_kinds(p, q):
    a, v = p
    b, c = q
    return a * np.sum(v) * b + c**2


@example({"w": matrix(2, 3), "b": vector(2)}, vector(3))
def dict_of_parameters(params, x):
    return np.sum(np.tanh(params["w"] @ x + params["b"]))


@example({"a": 0.5, "b": {"c": vector(2), "n": 3.0}})
def nested_dict(tree):
    inner = tree["b"]
    return tree["a"] ** inner["n"] * np.sum(inner["c"])


@example([(matrix(3, 3), vector(3)), (matrix(2, 3, 1), vector(2, 1))], vector(3, 2))
def list_of_layers(layers, x):
    for w, b in layers:
        x = np.tanh(w @ x + b)
    return np.sum(x)


@example([vector(3), vector(3, 1), vector(3, 2)])
def list_by_index(items):
    s = 0.0
    for i in range(len(items)):
        s = s + np.sum(items[i] * items[i - 1])
    return s


@example([0.1, 0.4, 0.9, 1.6])
def slice_of_a_list(values):
    head, *tail = values
    rest = values[2:]
    return head * tail[0] + rest[0] * rest[1] * len(rest)


@example({"x": 0.4, "y": 0.8}, "y", argnums=(0,))
def dynamic_key(table, key):
    return table[key] * table["x"] + table.get("z", 2.0) * table.get("y")


@example(Layer(matrix(2, 2), vector(2)), vector(2, 1))
def named_tuple(layer, x):
    weight, bias = layer
    return np.sum(np.tanh(weight @ x + bias)) + layer[1][0]


@example(0.4, 0.7)
def local_tuples(x, y):
    pair = (x * y, x + y)
    triple = (pair[1], pair, y)
    return pair[0] * triple[1][0] + triple[2] * triple[0]


@example(0.4, 0.7)
def local_list_and_dict(x, y):
    items = [x, y, x * y]
    table = {"p": x + y, "q": items[2]}
    return items[0] * table["p"] + table["q"] * items[-1]


@example((1.5, 0.5, "name", None, vector(2)))
def mixed_leaves(record):
    n, a, name, nothing, v = record
    if nothing is None and name == "name":
        return np.sum(v) * a + n
    return a


@example({"b": 0.3, "a": 0.6})
def unused_and_partly_used(table):
    return table["a"] ** 2


@example([[0.1, 0.2], [0.3, 0.4]])
def nested_lists(rows):
    s = 1.0
    for row in rows:
        for value in row:
            s = s * (1.0 + value)
    return s * rows[1][0]


@example(vector(3), [0.2, 0.5, 0.8])
def structure_comes_out(x, values):
    return {"first": (x * values[0], values[1]), "second": [values[2] * np.sum(x), "three"]}


@example([vector(2), vector(2, 1)], 0.7)
def zipped_containers(items, a):
    s = a
    for i, (u, v) in enumerate(zip(items, items[::-1])):
        s = s + np.sum(u * v) * (i + 1)
    return s


@example({"a": 0.5, "b": -0.25})
def items_of_a_dict(table):
    s = 1.0
    for name, value in table.items():
        s = s * value if name == "a" else s - value**2
    return s + sum(table.values())
