"""The bridge: compiled functions called with eager tensors are one node each; ``no_grad`` and ``detach`` in them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import srcgrad
import srcgrad.eager as torch
from srcgrad import no_grad
from tests import derivatives, oracle
from tests.corpus import FIRST
from tests.parameters import some_by_day
from tests.test_corpus import scalar_result

ROOT = Path(__file__).parent.parent
W = np.array([[0.1, 0.2, -0.5], [0.3, -0.4, 0.7]])
X = np.array([1.0, 2.0, -0.3])


def tensor(value, requires_grad=True):
    return torch.tensor(np.array(value), requires_grad=requires_grad)


def loss(w, x):
    return np.sum(np.tanh(w @ x) ** 2)


def eager_loss(w, x):
    return (torch.tanh(w @ x) ** 2).sum()


# --- one node --------------------------------------------------------------------------------------------------------
def test_on_arrays_the_function_just_runs():
    calls = []

    def f(x):
        calls.append(x)
        return x

    compiled = srcgrad.compile(f)
    assert compiled(X) is X and compiled(3) == 3 and calls[0] is X
    assert compiled.__name__ == "f" and compiled.__wrapped__ is f
    assert repr(compiled).startswith("<srcgrad compiled ")


def test_on_tensors_it_is_one_node():
    w, x = tensor(W), tensor(X, requires_grad=False)
    y = srcgrad.compile(loss)(w, x)
    assert type(y.grad_fn).__name__ == "LossBackward" and y.grad_fn.name() == "LossBackward"
    assert "grad_fn=<LossBackward>" in repr(y)
    assert [node.variable is w for node, _ in y.grad_fn.next_functions] == [True]
    (3.0 * y).backward()
    np.testing.assert_allclose(w.grad.numpy(), 3.0 * srcgrad.grad(loss)(W, X), rtol=1e-14)
    assert x.grad is None


def test_as_a_decorator_and_of_a_compiled_function():
    @srcgrad.compile
    def squared_norm(v):
        return np.sum(v * v)

    v = tensor(X)
    assert type(squared_norm(v).grad_fn).__name__ == "SquaredNormBackward"
    np.testing.assert_allclose(srcgrad.grad(squared_norm)(X), 2.0 * X)
    np.testing.assert_allclose(srcgrad.grad(lambda v: squared_norm(v) ** 2)(X), 4.0 * X * (X @ X))
    assert type(srcgrad.compile()(lambda v: v)(v).grad_fn).__name__ == "LambdaBackward"


def test_in_the_middle_of_an_eager_program():
    w = tensor(W)
    h = srcgrad.compile(lambda w: np.exp(w) * w)(w.sin())
    h.cos().sum().backward()
    other = tensor(W)
    s = other.sin()
    (s.exp() * s).cos().sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), other.grad.numpy(), rtol=1e-13)


def test_several_results_containers_and_what_is_no_tensor():
    @srcgrad.compile
    def model(p, n, *rest, scale=2.0, **names):
        a = p["a"] * n
        return {"sum": np.sum(a * p["b"]) + rest[0], "n": n, "parts": [a * scale, "text", None], "first": a > 1.0}

    a, b = tensor([1.0, 2.0]), tensor([3.0, 4.0], requires_grad=False)
    scale, r = tensor(5.0), tensor(0.5)
    made = model({"a": a, "b": b}, 3, r, scale=scale)
    assert made["n"] == 3 and made["parts"][1:] == ["text", None]
    assert made["first"].dtype is torch.bool and not made["first"].requires_grad
    assert made["sum"].grad_fn is made["parts"][0].grad_fn
    assert {made["sum"].output_nr, made["parts"][0].output_nr} == {0, 1}
    (made["sum"] + made["parts"][0].sum()).backward()
    assert a.grad.tolist() == [24.0, 27.0] and scale.grad.item() == 9.0 and r.grad.item() == 1.0 and b.grad is None
    a.grad = None
    model({"a": a, "b": b}, 3, r)["parts"][0].sum().backward()  # one result alone
    assert a.grad.tolist() == [6.0, 6.0]


def test_without_a_gradient_wanted_nothing_is_recorded_or_compiled():
    calls = []

    @srcgrad.compile
    def f(x):
        calls.append(type(x))  # cannot be compiled: it would have to be
        return x * 2.0, 7

    with torch.no_grad():
        y, n = f(tensor(X))
    assert y.grad_fn is None and not y.requires_grad and n == 7 and calls == [np.ndarray]
    y, _ = f(tensor(X, requires_grad=False))
    assert y.tolist() == (2.0 * X).tolist()


def test_results_share_no_memory_with_arguments():
    x = tensor(X)
    with torch.no_grad():
        y = srcgrad.compile(lambda v: v)(x)
        y += 1.0
    assert x.tolist() == X.tolist()
    y = srcgrad.compile(lambda v: np.exp(v))(x)
    with torch.no_grad():
        y.mul_(0.0)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp(X))  # what the pullback keeps is its own


def test_dtypes_are_those_of_numpy_programs():
    x = torch.tensor([1.0, 2.0], requires_grad=True)  # float32
    y = srcgrad.compile(lambda v: v * 2.0 + 1)(x)
    assert y.dtype is torch.float32
    y.sum().backward()
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [2.0, 2.0]
    one = torch.tensor(3.0, requires_grad=True)
    srcgrad.compile(lambda v: v**2 if v > 0 else v)(one).backward()
    assert one.grad.item() == 6.0


def test_complex_gradients_are_in_the_convention_of_tensors():
    def f(z):
        return np.sum(np.abs(z * z)) + np.sum(z**3).imag

    z = tensor([1 + 2j, 0.5 - 1j])
    srcgrad.compile(f)(z).backward()
    other = tensor([1 + 2j, 0.5 - 1j])
    ((other * other).abs().sum() + (other**3).sum().imag).backward()
    np.testing.assert_allclose(z.grad.numpy(), other.grad.numpy(), rtol=1e-13)
    product = srcgrad.compile(lambda z: z * (1 + 2j))(z)
    z.grad = None
    product.sum().imag.backward()
    np.testing.assert_allclose(z.grad.numpy(), np.conj([-1j * (1 + 2j)] * 2), rtol=1e-13)


# --- again -----------------------------------------------------------------------------------------------------------
def test_the_pullback_is_recorded_under_create_graph():
    w, x = tensor(W), tensor(X)
    mine = []
    for f in (srcgrad.compile(loss), eager_loss):
        (g,) = torch.autograd.grad(f(w, x), w, create_graph=True)
        (h,) = torch.autograd.grad((g * g).sum(), w, create_graph=True)
        mine.append((g, h, *torch.autograd.grad((h * x).sum(), (w, x))))
    assert type(mine[0][0].grad_fn).__name__ == "LossBackwardBackward"
    for one, other in zip(*mine, strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-11, atol=1e-13)


def test_a_second_pass_needs_the_graph_to_be_kept():
    y = srcgrad.compile(loss)(w := tensor(W), X)
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_allclose(w.grad.numpy(), 2.0 * srcgrad.grad(loss)(W, X), rtol=1e-14)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_an_argument_changed_in_place_is_noticed_where_it_is_read_again():
    w = tensor(W)
    v = w * 1.0
    y = srcgrad.compile(loss)(v, X)
    v.mul_(2.0)
    torch.autograd.grad(y, w, retain_graph=True)  # the pullback keeps what it needs for itself
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(y, w, create_graph=True)


def leaf_tensors(value, wanted, found):
    """The value with tensors for its floating leaves."""

    def made(leaf):
        if not (oracle.is_inexact(leaf) or np.iscomplexobj(leaf)):
            return leaf
        found.append(tensor(leaf, requires_grad=wanted))
        return found[-1]

    return oracle.rebuild(value, made)


# A tensor divides by zero as NumPy does; only Python's own numbers raise what these catch.
OF_PYTHON_NUMBERS = ("try_zerodiv", "aug_in_try")

TWICE = [
    case
    for case in FIRST
    if case.order >= 2 and not case.keywords and case.theme != "complex_numbers"
    if case.name not in OF_PYTHON_NUMBERS and scalar_result(case)
]


@pytest.mark.slow
@pytest.mark.parametrize("case", some_by_day(TWICE, 150))
@pytest.mark.costly(2)
def test_the_corpus_over_the_bridge_to_the_second_order(case):
    leaves, ignored = [], []
    arguments = [
        leaf_tensors(a, k in case.argnums, leaves if k in case.argnums else ignored)
        for k, a in enumerate(derivatives.fresh(case.arguments))
    ]
    like = derivatives.chosen(case)
    direction = oracle.seed_like(like, 3)
    moves = [np.asarray(d) for d, x in zip(oracle.leaves(direction), oracle.leaves(like)) if oracle.is_inexact(x)]
    result = srcgrad.compile(case.function)(*arguments)
    grads = torch.autograd.grad(result, leaves, create_graph=True, allow_unused=True)
    expected = derivatives.numbers_like(derivatives.joint(case)[1], like)
    for got, other in zip(grads, expected, strict=True):
        found = np.zeros(np.shape(other)) if got is None else got.detach().numpy()
        np.testing.assert_allclose(found, other, rtol=1e-12, atol=1e-12)
    terms = [
        (g * tensor(d, requires_grad=False)).sum()
        for g, d in zip(grads, moves, strict=True)
        if g is not None and g.requires_grad
    ]
    twice = torch.autograd.grad(sum(terms), leaves, allow_unused=True) if terms else [None] * len(leaves)
    expected = derivatives.numbers_like(derivatives.hessian_vector(case, direction), like)
    for got, other in zip(twice, expected, strict=True):
        found = np.zeros(np.shape(other)) if got is None else got.numpy()
        np.testing.assert_allclose(found, other, rtol=1e-8, atol=1e-9)


# --- derivatives on tensors ------------------------------------------------------------------------------------------
def test_a_gradient_called_with_tensors_is_one_node_too():
    w = tensor(W)
    g = srcgrad.grad(loss)(w, X)
    assert type(g.grad_fn).__name__ == "GradLossBackward"
    (g * g).sum().backward()
    other = tensor(W)
    (h,) = torch.autograd.grad(eager_loss(other, torch.tensor(X)), other, create_graph=True)
    (h * h).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), other.grad.numpy(), rtol=1e-11)
    value, g = srcgrad.value_and_grad(loss)(w, X)
    assert type(value.grad_fn).__name__ == "ValueAndGradLossBackward" and g.grad_fn is value.grad_fn
    with torch.no_grad():
        assert srcgrad.grad(loss)(w, X).grad_fn is None


def test_what_is_not_recorded_says_so():
    with pytest.raises(srcgrad.ArgumentError, match="has_aux"):
        srcgrad.grad(lambda x: (np.sum(x), x), has_aux=True)(tensor(X))
    with pytest.raises(srcgrad.ArgumentError, match=r"given through \*\*"):
        srcgrad.compile(lambda x, **names: x * names["a"])(X, a=tensor(X))
    with pytest.raises(srcgrad.ArgumentError, match="grad, value_and_grad and compile take tensors"):
        srcgrad.vjp(loss, tensor(W), X)
    with pytest.raises(srcgrad.ArgumentError, match="a function is expected"):
        srcgrad.compile(3)
    with pytest.raises(srcgrad.MissingRule):
        srcgrad.compile(lambda x: np.sum(np.union1d(x, x)))(tensor(X))


# --- no_grad and detach ----------------------------------------------------------------------------------------------
def scaled(x):
    with no_grad():
        scale = np.max(np.abs(x))
        total = 0.0
        for v in x:
            total = total + v * v
        if scale > 100.0:
            return scale * x
        a, b = x[0] * 2.0, [x[1]]
    return np.sum(x * x / scale) + total * np.sum(x) + (a + b[0]) * x[0]


def scaled_slope(x):
    scale, total = np.max(np.abs(x)), np.sum(x * x)
    slope = 2.0 * x / scale + total
    slope[0] += 2.0 * x[0] + x[1]
    return slope


def test_no_grad_means_constant():
    def norm_free(x):
        with torch.no_grad(), np.errstate(all="ignore"):
            n = np.sqrt(np.sum(x * x))
        return np.sum(x / n)

    np.testing.assert_allclose(srcgrad.grad(scaled)(X), scaled_slope(X))
    np.testing.assert_allclose(srcgrad.jvp(scaled, (X,), (np.eye(3)[0],))[1], scaled_slope(X)[0])
    np.testing.assert_allclose(srcgrad.grad(norm_free)(X), 1.0 / np.sqrt(X @ X))
    x = tensor(X)
    srcgrad.compile(scaled)(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), scaled_slope(X))
    source = srcgrad.grad(scaled).source
    assert "stop_gradient(np.max(" in source and "no_grad" not in source


def test_detach_means_constant():
    @srcgrad.compile
    def f(x):
        halves = [v.detach() * v for v in x]
        if x[0].detach() > 0.0:
            return np.sum(x.detach() * x) + sum(halves)
        return np.sum(x)

    x = tensor(X)
    f(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), 2.0 * X)
    with torch.no_grad():
        assert f(x).item() == pytest.approx(2.0 * X @ X)
    assert "stop_gradient(x)" in srcgrad.grad(f).source


def test_importing_srcgrad_or_compiling_loads_no_eager(tmp_path):
    (tmp_path / "demo.py").write_text("import numpy as np\n\ndef f(x):\n    return np.sum(x * x)\n", encoding="utf-8")
    program = (
        "import sys, numpy as np, srcgrad, demo\n"
        "f = srcgrad.compile(demo.f)\nf(np.ones(2)); srcgrad.grad(f)(np.ones(2))\n"
        "print([name for name in sys.modules if name.startswith('srcgrad.eager')])"
    )
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{program}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
