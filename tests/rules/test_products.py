"""Products through the compiler: dtypes of partners, call forms, einsum in every spelling, higher orders, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import check_grads, grad, hessian, jvp
from srcgrad.errors import SrcgradError
from srcgrad.programs import options
from srcgrad.runtime import transposed_subscripts, uneinsum, unmatmul_left, unmatmul_right
from tests.parameters import share_by_day

rng = np.random.default_rng(31)


def draw(shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
    x = rng.standard_normal(shape)
    return np.asarray(x + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else x, dtype)


def size(y: Any) -> Any:
    """A real number that depends on every entry of y, not through its modulus alone."""
    return np.real(np.sum(y * (0.3 - 0.8j))) + np.real(np.sum(y * np.conj(y)))


def slope(f: Callable[..., Any], arguments: tuple[Any, ...], directions: tuple[Any, ...]) -> float:
    """The derivative along directions, numerically."""
    wide = [np.asarray(x, np.result_type(x.dtype, np.float64)) for x in arguments]
    h = 1e-5
    ends = [f(*(x + step * d for x, d in zip(wide, directions, strict=True))) for step in (h, -h)]
    return float((ends[0] - ends[1]) / (2 * h))


def matmul(a, b):
    return size(a @ b)


def dot(a, b):
    return size(np.dot(a, b))


def inner(a, b):
    return size(np.inner(a, b))


def outer(a, b):
    return size(np.outer(a, b))


def vdot(a, b):
    return size(np.vdot(a, b))


def vecdot(a, b):
    return size(np.vecdot(a, b))


def tensordot(a, b):
    return size(np.tensordot(a, b, 1))


def kron(a, b):
    return size(np.kron(a, b))


def cross(a, b):
    return size(np.cross(a, b))


def einsum(a, b):
    return size(np.einsum("...i,...i->...", a, b))


DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
PRODUCTS = [matmul, dot, inner, outer, vdot, vecdot, tensordot, kron, cross, einsum]


@pytest.mark.parametrize(
    ("product", "specialise"),
    [
        *(pytest.param(f, True, id=f"facts-{f.__name__}") for f in PRODUCTS),
        *share_by_day([pytest.param(f, False, id=f"no facts-{f.__name__}") for f in PRODUCTS], 3),
    ],
)
@pytest.mark.costly(2)
def test_each_partial_has_the_dtype_of_its_factor(product: Callable[..., Any], specialise: bool) -> None:
    """Real beside complex, single beside double: the cotangent of each is of its own kind, and right."""
    for i, first in enumerate(DTYPES):
        for second in DTYPES[1 - i % 2 :: 2]:  # half of the pairs, which hold every kind of difference
            a, b = draw((3,), first), draw((3,), second)
            with options(specialise=specialise):
                found = grad(product, argnums=(0, 1))(a, b)
            assert [x.dtype for x in found] == [first, second]
            directions = tuple(draw((3,), np.result_type(x.dtype, np.float64)) for x in (a, b))
            expected = slope(product, (a, b), directions)
            got = sum(np.real(np.sum(x * d)) for x, d in zip(found, directions, strict=True))
            single = {np.dtype(first), np.dtype(second)} & {np.dtype(np.float32), np.dtype(np.complex64)}
            np.testing.assert_allclose(got, expected, rtol=2e-4 if single else 1e-7, atol=1e-4 if single else 1e-7)


def test_same_dtypes_have_the_short_text() -> None:
    """The text people would write, only where it gives each factor its own dtype."""
    a, b = draw((2, 3)), draw((3, 2))

    def text(a: Any, b: Any) -> str:
        from inspect import getsource

        from srcgrad.api.derivative import Derivative

        derivative = Derivative(matmul, (0, 1), mode="reverse")
        return getsource(derivative.program(derivative.parameters.bind((a, b), {})).entry)

    assert "@ b.T" in text(a, b) and "unmatmul" not in text(a, b)
    assert "unmatmul_left" in text(a.astype(np.float32), b)
    assert "unmatmul_right" in text(a, b.astype(complex))


def test_integer_partners() -> None:
    a, b = draw((2, 3)), np.arange(6).reshape(3, 2)
    np.testing.assert_array_equal(grad(lambda a, b: np.sum(a @ b))(a, b), np.ones((2, 2)) @ b.T)
    np.testing.assert_array_equal(grad(lambda a: np.sum(np.dot(a, [1, 2, 3])))(a), [[1.0, 2.0, 3.0]] * 2)
    np.testing.assert_array_equal(grad(lambda v: np.dot(np.cross([0, 0, 1], v), [1, 2, 3]))(a[0]), [2, -1, 0])


def test_vdot_conjugates_its_first_factor() -> None:
    """x_bar pairs with x_dot as Re(x_bar * x_dot): HIPS autograd's and JAX's convention."""
    a, b = draw((3,), complex), draw((3,), complex)
    a_bar, b_bar = grad(lambda a, b: np.real(np.vdot(a, b)), argnums=(0, 1))(a, b)
    np.testing.assert_allclose(a_bar, np.conj(b))
    np.testing.assert_allclose(b_bar, np.conj(a))


# --- call forms ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "f, shapes",
    [
        (lambda a, b: np.sum(a.dot(b) ** 2), [(2, 3), (3, 2)]),
        (lambda a, b: np.sum(np.dot(b=b, a=a) ** 2), [(2, 3), (3,)]),
        (lambda a, b: np.sum(np.matmul(a, b, order="C") ** 2), [(4, 2, 3), (3, 2)]),
        (lambda a, b: np.sum(np.cross(a, b, axisa=0, axisb=1, axisc=0) ** 2), [(3, 2), (2, 3)]),
        (lambda a, b: np.sum(np.cross(a, b, axis=0) ** 3), [(3, 2), (3, 2)]),
        (lambda a, b: np.sum(np.linalg.cross(a, b, axis=-2) ** 3), [(2, 3, 1), (3, 4)]),
        (lambda a, b: np.sum(np.tensordot(a, b, axes=([1, 0], [0, -1])) ** 2), [(2, 3, 2), (3, 4, 2)]),
        (lambda a, b: np.sum(np.tensordot(a, b, axes=0) ** 2), [(2,), (3, 2)]),
        (lambda a, b: np.sum(np.kron(a, b) ** 2), [(2, 1, 2), (3,)]),
        (lambda a, b: np.sum(np.vecdot(a, b, axis=0) ** 2), [(3, 2), (3, 2)]),
        (lambda a, b: np.sum(np.trace(a @ b, offset=1, axis1=1, axis2=0) ** 2), [(3, 2), (2, 3)]),
        (lambda a, b: np.sum((a @ b).diagonal(-1) ** 2) + (b @ a).trace(), [(3, 2), (2, 3)]),
        (lambda a, b: np.sum(np.linalg.diagonal(a, offset=1) * np.linalg.trace(b)) ** 2, [(2, 3, 3), (2, 3, 3)]),
        (lambda a, b: np.sum(np.linalg.multi_dot([a, b, a, b]) ** 2), [(2, 3), (3, 2)]),
        (lambda a, b: np.sum(np.linalg.matrix_power(a @ b, 3) * np.linalg.matrix_power(b @ a, 0)), [(3, 3), (3, 3)]),
        (lambda a, b: np.sum(np.linalg.matrix_transpose(a) * b) ** 2, [(4, 2, 3), (3, 2)]),
    ],
)
@pytest.mark.costly(2)
def test_call_forms(f: Callable[..., Any], shapes: list[tuple[int, ...]]) -> None:
    """Both directions, first and second order, against numbers."""
    check_grads(f, *map(draw, shapes))


def test_matvec_and_vecmat() -> None:
    check_grads(lambda a, b: size(np.matvec(a, b)), draw((2, 3, 2), complex), draw((1, 2)))
    check_grads(lambda a, b: size(np.vecmat(a, b)), draw((3,), complex), draw((2, 3, 2), complex))


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) >= "2.5.0", reason="NumPy 2.5 takes vectors of length 3 only")
@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
@pytest.mark.parametrize("shapes", [((2,), (2,)), ((3, 2), (2,)), ((2,), (3,)), ((4, 3), (1, 2))])
@pytest.mark.costly(2, first=1)
def test_cross_of_plane_vectors(shapes: tuple[tuple[int, ...], ...]) -> None:
    """Deprecated by NumPy 2.0, and refused from 2.5 on."""
    check_grads(lambda a, b: np.sum(np.cross(a, b) ** 2), *map(draw, shapes))


EMPTY = [((0, 3), (3, 2)), ((2, 0), (0, 2)), ((3, 0, 2), (2, 0)), ((0,), (0,)), ((0, 2), (2,))]


@pytest.mark.parametrize("shapes", EMPTY)
def test_empty_factors(shapes: tuple[tuple[int, ...], ...]) -> None:
    a, b = shapes
    for f in (
        lambda a, b: np.sum(a @ b),
        lambda a, b: np.sum(np.dot(a, b)),
        lambda a, b: np.sum(np.tensordot(a, b, 1)),
    ):
        with options(specialise=False):
            found = grad(f, argnums=(0, 1))(np.ones(a), np.ones(b))
        assert [x.shape for x in found] == [a, b] and not any(np.any(x) for x in found)


def test_batches_of_one_factor_are_summed_without_an_array_per_batch() -> None:
    """The cotangent of shared weights is one product: no array of batch times weights."""
    import tracemalloc

    x, w = np.ones((2000, 3, 8)), np.ones((8, 100))
    g = x @ w
    for unmatmul in (unmatmul_right, unmatmul_left):
        tracemalloc.start()
        unmatmul(g, x, w)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1_000_000


LINE_A, LINE_B, LINE_M = draw((3,)), draw((3,)), draw((3, 3))


LINES = [
    lambda t: np.sum((LINE_M * np.sin(t) @ (LINE_A * t)) ** 2),
    lambda t: np.sum(np.dot(LINE_M * np.sin(t), LINE_M * t) ** 2),
    lambda t: np.sum(np.inner(LINE_M * np.sin(t), LINE_A * t) ** 2),
    lambda t: np.sum(np.outer(LINE_M * np.sin(t), LINE_A * t) ** 2),
    lambda t: np.vdot(LINE_M * np.sin(t), LINE_M * t) ** 2,
    lambda t: np.sum(np.vecdot(LINE_M * np.sin(t), LINE_A * t) ** 2),
    lambda t: np.sum(np.tensordot(LINE_M * np.sin(t), LINE_M * t, axes=([0], [1])) ** 2),
    lambda t: np.sum(np.kron(LINE_M * np.sin(t), LINE_A * t) ** 2),
    lambda t: np.sum(np.cross(LINE_A + np.sin(t), LINE_B * t) ** 2),
    lambda t: np.sum(np.einsum("ii,ij->j", LINE_M * np.sin(t), LINE_M * t) ** 2),
    lambda t: np.linalg.multi_dot([LINE_A * t, LINE_M * np.sin(t), LINE_M + t, LINE_B]),
    lambda t: np.trace(np.linalg.matrix_power(LINE_M * np.sin(t) + t, 4)),
    lambda t: np.sum(np.diagonal(np.linalg.matrix_power(LINE_M * np.sin(t) + t, -2)) ** 2),
]


@pytest.mark.parametrize(
    "f",
    share_by_day(LINES, 12),
    ids="matmul dot inner outer vdot vecdot tensordot kron cross einsum multi_dot power inverse".split(),
)
@pytest.mark.costly(1, first=1)
def test_third_order(f: Callable[..., Any]) -> None:
    second = grad(grad(f))
    h = 1e-4
    expected = (8 * (second(0.7 + h) - second(0.7 - h)) - (second(0.7 + 2 * h) - second(0.7 - 2 * h))) / (12 * h)
    np.testing.assert_allclose(grad(second)(0.7), expected, rtol=1e-6, atol=1e-6)


def test_power_of_a_matrix_by_hand() -> None:
    a, g = draw((3, 3)), draw((3, 3))
    at = a.T
    cube = grad(lambda a: np.sum(np.linalg.matrix_power(a, 3) * g))(a)
    np.testing.assert_allclose(cube, g @ at @ at + at @ g @ at + at @ at @ g)
    inverse = np.linalg.inv(at)
    np.testing.assert_allclose(
        grad(lambda a: np.sum(np.linalg.matrix_power(a, -1) * g))(a), -(inverse @ g @ inverse), rtol=1e-9
    )


# --- einsum ----------------------------------------------------------------------------------------------------------
def ik(a, b):
    return np.sum(np.einsum("ij,jk->ik", a, b) ** 2)


@pytest.mark.parametrize(
    "f",
    [
        lambda a, b: np.sum(np.einsum("ij,jk", a, b, optimize=True) ** 2),
        lambda a, b: np.sum(np.einsum("ij , jk -> ik", a, b, optimize="greedy", order="F") ** 2),
        lambda a, b: np.sum(np.einsum("...j,jk->...k", a, b, dtype=np.float64) ** 2),
    ],
    ids=["optimize", "spaces", "dtype"],
)
def test_einsum_spelled_in_other_ways(f: Callable[..., Any]) -> None:
    a, b = draw((2, 3)), draw((3, 4))
    for found, expected in zip(grad(f, argnums=(0, 1))(a, b), grad(ik, argnums=(0, 1))(a, b), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    directions = draw((2, 3)), draw((3, 4))
    np.testing.assert_allclose(jvp(f, (a, b), directions)[1], jvp(ik, (a, b), directions)[1], rtol=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        lambda a, b: np.sum(np.einsum(a, [0, 1], b, [1, 2], [0, 2]) ** 2),
        lambda a, b: np.sum(np.einsum(a, (5, 3), b, [3, 4]) ** 2),
        lambda a, b: np.sum(np.einsum(a, [..., 0], b, [0, 1], [..., 1]) ** 2),
    ],
    ids=["lists", "no result", "ellipsis"],
)
def test_einsum_with_lists_of_subscripts(f: Callable[..., Any]) -> None:
    test_einsum_spelled_in_other_ways(f)


def test_lists_of_subscripts_that_change_are_refused() -> None:
    def f(a, b):
        labels = [0, 1]
        y = np.einsum(a, labels, b, [1, 2], [0, 2])
        labels[0] = 2
        return np.sum(y**2)

    with pytest.raises(SrcgradError, match="subscripts"):
        grad(f)(draw((2, 3)), draw((3, 4)))


def test_lists_of_subscripts_that_are_not_literals_are_refused() -> None:
    """The operand in the place of the subscripts would be taken for a constant."""

    def f(a, b, first, second):
        return np.sum(np.einsum(a, first, b, second))

    arguments = draw((2, 3)), draw((3, 4)), [0, 1], [1, 2]
    with pytest.raises(SrcgradError, match="subscripts"):
        grad(f)(*arguments)
    with pytest.raises((SrcgradError, NotImplementedError), match="subscripts"):
        grad(f, argnums=1)(*arguments)
    with pytest.raises((SrcgradError, NotImplementedError), match="subscripts"):
        jvp(f, arguments, (None, draw((3, 4)), None, None))


def test_random_einsums_and_their_transposes() -> None:
    """Repeated labels, axes of size 1 that are repeated, ellipses, implicit results; the transpose's transpose too."""
    for _ in range(300):
        subscripts, operands = random_einsum()
        y = np.einsum(subscripts, *operands)
        _is_transposed(lambda *o: np.einsum(subscripts, *o), y, subscripts, operands)
        g, i = draw(y.shape, y.dtype), int(rng.integers(len(operands)))
        turned = transposed_subscripts(subscripts, i, len(operands))
        inner = [g, *operands[:i], *operands[i + 1 :]]
        like = operands[i]
        _is_transposed(lambda *o: uneinsum(turned, like, *o), uneinsum(turned, like, *inner), turned, inner)


def _is_transposed(f: Callable[..., Any], y: Any, subscripts: str, operands: list[Any]) -> None:
    g = draw(np.shape(y), y.dtype)
    for i, x in enumerate(operands):
        others = operands[:i] + operands[i + 1 :]
        partial = uneinsum(transposed_subscripts(subscripts, i, len(operands)), x, g, *others)
        assert partial.shape == x.shape and partial.dtype == x.dtype
        direction = draw(x.shape, x.dtype)
        moved = f(*operands[:i], direction, *operands[i + 1 :])
        left, right = np.real(np.sum(g * moved)), np.real(np.sum(partial * direction))
        np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9, err_msg=f"{subscripts} {i}")


def random_einsum() -> tuple[str, list[Any]]:
    sizes = {c: int(rng.integers(1, 4)) for c in "abcd"}
    batch = [int(n) for n in rng.integers(1, 3, 2)]
    terms, operands = [], []
    for _ in range(int(rng.integers(1, 4))):
        labels = "".join(rng.choice(list("abcd"), int(rng.integers(0, 4))))
        short = {c for c in labels if rng.random() < 0.15}
        shape = [1 if c in short else sizes[c] for c in labels]
        if rng.random() < 0.3:
            width, place = int(rng.integers(0, 3)), int(rng.integers(0, len(labels) + 1))
            shape[place:place] = [n if rng.random() < 0.7 else 1 for n in batch[2 - width :]]
            labels = labels[:place] + "..." + labels[place:]
        terms.append(labels)
        operands.append(draw(tuple(shape), np.complex128 if rng.random() < 0.3 else np.float64))
    subscripts = ",".join(terms)
    if rng.random() < 0.8:
        out = [c for c in sorted(set(subscripts) - set(",.")) if rng.random() < 0.5]
        rng.shuffle(out)
        subscripts += "->" + ("..." if "..." in subscripts else "") + "".join(out)
    return subscripts, operands


def test_a_long_einsum_is_contracted_in_a_good_order() -> None:
    """Without a search for one, the transpose of four matrices of 40 x 40 would take 40**5 multiplications."""
    import time

    matrices = [draw((40, 40)) for _ in range(4)]
    g = draw((40, 40))
    begin = time.perf_counter()
    partial = uneinsum(transposed_subscripts("ab,bc,cd,de->ae", 1, 4), matrices[1], g, matrices[0], *matrices[2:])
    assert time.perf_counter() - begin < 0.5
    np.testing.assert_allclose(partial, matrices[0].T @ g @ (matrices[2] @ matrices[3]).T)


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "f, name",
    [
        (lambda a: np.sum(np.matmul(a, a, axes=[(0, 1), (0, 1), (0, 1)])), "axes"),
        (lambda a: np.sum(np.matmul(a, a, dtype=np.float32)), "dtype"),
        (lambda a: np.sum(np.matmul(a, a, axis=0)), "axis"),
        (lambda a: np.sum(np.vecdot(a, a, axes=[0, 0, ()])), "axes"),
        (lambda a: np.sum(np.einsum("ij->j", a, casting="unsafe")), "casting"),
    ],
)
def test_forms_that_are_refused_by_name(f: Callable[..., Any], name: str) -> None:
    with pytest.raises(SrcgradError, match=f"'{name}' is not supported"):
        grad(f)(draw((2, 2)))


def test_a_list_of_varying_numbers_is_an_array_where_one_is_meant() -> None:
    assert grad(lambda x: np.sum(np.dot([x, 1.0], [2.0, 3.0])))(0.5) == 2.0


def test_hessian_of_a_quadratic_form() -> None:
    a, x = draw((3, 3)), draw((3,))
    for f in (
        lambda x: x @ a @ x,
        lambda x: np.dot(x, np.dot(a, x)),
        lambda x: np.einsum("i,ij,j", x, a, x),
        lambda x: np.inner(x, np.inner(a, x)),
        lambda x: np.vdot(x, np.matmul(a, x)),
        lambda x: np.sum(np.outer(x, x) * a),
        lambda x: np.tensordot(x, np.tensordot(a, x, 1), 1),
        lambda x: np.linalg.multi_dot([x, a, x]),
        lambda x: np.trace(np.kron(x[None, :], x[:, None]) @ a.T),
    ):
        np.testing.assert_allclose(hessian(f)(x), a + a.T, rtol=1e-10, atol=1e-12)


def test_torch_agrees_up_to_conjugation() -> None:
    torch = pytest.importorskip("torch")
    a, b = draw((2, 3), complex), draw((3, 2), complex)
    ours = srcgrad.grad(lambda a, b: np.sum(np.abs(a @ b) ** 2), argnums=(0, 1))(a, b)
    theirs = [torch.tensor(x, requires_grad=True) for x in (a, b)]
    torch.sum(torch.abs(theirs[0] @ theirs[1]) ** 2).backward()
    for x, t in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(x, np.conj(t.grad.numpy()))
