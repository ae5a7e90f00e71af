"""Arrays of another module than that of the programs that read them."""

import numpy as np

PLACE = np.array([0.7, -0.4, 1.3])
PLACES = [PLACE]


def first():
    return PLACES[0][0]
