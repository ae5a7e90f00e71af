"""NumPy's own Python: ``numpy.polynomial``, and of ``numpy`` the functions that are formulas in Python.

Of each polynomial module the functions of one name are taken in turn, so that the six bases together show all of them.
"""

from __future__ import annotations

from tests.installed.entry import entries, numbers, rising, signed, weights

X, C, D, C2 = numbers(4, high=0.9), signed(5), signed(3, seed=1), signed(3, 2)

ENTRIES = [
    *entries(
        "numpy.polynomial.polynomial",
        ("polyadd", (C, D), (0, 1)),
        ("polycompanion", (C,)),
        ("polyder", (C,)),
        ("polydiv", (C, D), (0, 1)),
        ("polyfromroots", (D,)),
        ("polygrid3d", (numbers(2), numbers(2, seed=1), numbers(2, seed=2), signed(2, 2, 2)), (0, 1, 2, 3)),
        ("polyint", (C,)),
        ("polyline", (0.7, 1.3), (0, 1)),
        ("polymul", (C, D), (0, 1)),
        ("polymulx", (C,)),
        ("polypow", (D, 3)),
        ("polysub", (C, D), (0, 1)),
        ("polyval", (X, C), (0, 1)),
        ("polyval3d", (X, X + 0.1, X + 0.2, signed(2, 3, 2)), (0, 1, 2, 3)),
        ("polyvalfromroots", (X, D), (0, 1)),
        ("polyvander", (X, 3)),
        ("polyvander2d", (X, X + 0.1, [1, 2]), (0, 1)),
    ),
    *entries(
        "numpy.polynomial.chebyshev",
        ("cheb2poly", (C,)),
        ("chebcompanion", (C,)),
        ("chebder", (C,)),
        ("chebint", (C,)),
        ("chebmul", (C, D), (0, 1)),
        ("chebmulx", (C,)),
        ("chebpow", (D, 2)),
        ("chebval", (X, C), (0, 1)),
        ("chebvander", (X, 3)),
        ("chebweight", (X,)),
        ("poly2cheb", (C,)),
    ),
    *entries(
        "numpy.polynomial.legendre",
        ("legder", (C,)),
        ("legint", (C,)),
        ("legmulx", (C,)),
        ("legval", (X, C), (0, 1)),
        ("legvander", (X, 3)),
        ("leg2poly", (C,)),
    ),
    *entries("numpy.polynomial.hermite", ("hermval", (X, C), (0, 1)), ("hermmulx", (C,)), ("hermweight", (X,))),
    *entries("numpy.polynomial.hermite_e", ("hermeval", (X, C), (0, 1)), ("hermevander", (X, 3))),
    *entries("numpy.polynomial.laguerre", ("lagval", (X, C), (0, 1)), ("lagmulx", (C,)), ("lagder", (C,))),
    *entries("numpy.polynomial.polyutils", ("mapparms", ([0.2, 1.3], [0.7, 2.9]), (0, 1)), ("trimcoef", (C,))),
    *entries(
        "numpy",
        ("average.__wrapped__", (numbers(4, 3), 0, weights(4)), (0, 2)),
        ("corrcoef.__wrapped__", (signed(3, 5),)),
        ("cov.__wrapped__", (signed(3, 5),)),
        ("cross.__wrapped__", (signed(4, 3), signed(4, 3, seed=1)), (0, 1)),
        ("ediff1d.__wrapped__", (C,)),
        ("gradient.__wrapped__", (numbers(6),)),
        ("kaiser", (6, 3.1), 1),
        ("kron.__wrapped__", (C2, signed(2, 2)), (0, 1)),
        ("nanmean.__wrapped__", (numbers(3, 4), 0)),
        ("nanvar.__wrapped__", (numbers(3, 4), 0)),
        ("poly.__wrapped__", (D,)),
        ("polyder.__wrapped__", (C,)),
        ("polyint.__wrapped__", (C,)),
        ("polyval.__wrapped__", (C, X), (0, 1)),
        ("sinc.__wrapped__", (X,)),
        ("trapezoid.__wrapped__", (numbers(5), rising(5)), (0, 1)),
        ("unwrap.__wrapped__", (rising(6, 0.0, 20.0),)),
        ("vander.__wrapped__", (X, 4)),
    ),
    *entries(
        "numpy.linalg",
        ("cond.__wrapped__", (signed(3, 3), "fro")),
        ("matrix_power.__wrapped__", (signed(3, 3), 5)),
        ("multi_dot.__wrapped__", ([signed(2, 3), signed(3, 4), signed(4, 2)],)),
        ("norm.__wrapped__", (signed(3, 4), "fro")),
        ("vector_norm.__wrapped__", (signed(5),)),
    ),
]
