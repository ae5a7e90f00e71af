"""Names that hold an object, and then or else a number, an array or a list: what the object says had no derivative.

Where the names can be told apart the programs are right; one that may be either is looked at when it runs
(``test_run_time``).
"""


import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


class Pair:
    def __init__(self, values):
        self.values = values
        self.size = values[2]

    def __getitem__(self, i):
        return self.values[i]

    def __len__(self):
        return len(self.values)


@directed(vector(4))
def the_name_of_an_object_is_bound_again(x):
    """Once wrong in silence: the items of the object were taken for those of a list."""
    p = Pair(x)
    p = p[0] * p[1]
    q = Pair(x * x)
    s = q[2] * p
    q = 1.0
    return s * q * x[3]


def product(v):
    v = v[0] * v[1]
    return v


@directed(vector(4))
def a_parameter_that_holds_an_object_is_bound_again(x):
    return product(Pair(x)) * product(x) * x[2]


@directed(vector(4))
def the_name_of_an_object_is_none_at_first(x):
    p, best = None, None
    p = Pair(x)
    for i in range(3):
        q = Pair(x * (i + 1.0))
        if best is None or q.values[0] > best.values[0]:
            best = q
    return p[0] * best[1] + best[2]


@directed(vector(4))
def a_field_that_is_called_like_an_attribute_of_arrays(x):
    s = Pair(x)
    s = s.size * x[1]
    return s


@directed(vector(4))
def an_array_where_an_object_might_be(x):
    near = x[0] < -9.0
    p = Pair(x) if near else x * x
    rows = [x, Pair(x)]
    return p[0] * p[1] + rows[0][1] * rows[1][2]


class Compared:
    def __init__(self, slope):
        self.slope = slope

    def __lt__(self, other):
        return self.slope * other


def steepest(x):
    return Compared(x[1] * x[1])


@directed(vector(4))
def what_a_comparison_gives_beside_a_call(x):
    """Once zero in silence: a comparison of what a call makes stayed as it was, and is no number of its own."""
    return (steepest(x) < x[0]) * x[2] + (Compared(x[3]) < x[1]) * 2.0 + (x[2] > steepest(x)) * 3.0


@directed(vector(4))
def a_parameter_that_is_none_in_a_branch(x):
    if len(x) > 9:
        x = None
    return np.sum((2.0 + x.reshape(2, 2)) ** 2) + x.sum() * x.T[1]
