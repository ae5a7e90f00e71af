"""Gradients that are pickled by their text do what the live ones do; files that could not are refused."""

from __future__ import annotations

import importlib.util
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from srcgrad import ArgumentError, SeedError, SrcgradError, grad, hessian, hvp, jacfwd, jacobian, value_and_grad

V = np.array([1.0, 2.0])

#: Derivatives of functions that are found under no name, each with arguments.
PICKLED = {
    "a position among *args": (grad(lambda *xs: xs[0] * xs[1] ** 2, 1), (2.0, 3.0), {}),
    "after a parameter": (value_and_grad(lambda x, *xs: x * xs[0] * xs[1] ** 2, (0, 2)), (2.0, 3.0, 4.0), {}),
    "all of *args": (grad(lambda *xs: xs[0] * xs[1] ** 2, "xs"), (2.0, 3.0), {}),
    "repeated": (grad(lambda x, y: np.sum(x) * y, (0, 0, 1)), (V, 3.0), {}),
    "twice among *args": (grad(lambda *xs: xs[0] * xs[1] ** 2, (1, 1, 0)), (2.0, 3.0), {}),
    "keywords": (grad(lambda x, **k: x * x * k["a"]), (2.0,), {"a": 3.0}),
    "defaults": (grad(lambda x, k=V, *, m=3.0, n: np.sum(x * x * k) * m * n), (V,), {"n": 2.0}),
    "auxiliary": (value_and_grad(lambda x, *xs: (x * xs[0], [x]), 1, has_aux=True), (2.0, 3.0), {}),
    "holomorphic": (grad(lambda *zs: zs[0] * zs[1] ** 2, 1, holomorphic=True), (1j, 2.0 + 1j), {}),
    "second": (grad(grad(lambda *xs: xs[0] * xs[1] ** 3, 1), 1), (2.0, 3.0), {}),
    "second and first": (grad(grad(lambda *xs: xs[0] * xs[1] ** 3, 1), (0, 1)), (2.0, 3.0), {}),
}

#: Calls that the live derivative refuses, and the pickled one.
REFUSED = {
    "not holomorphic": (grad(lambda z: z.real + 0j, holomorphic=True), (2.0 + 1j,), SeedError, "not holomorphic"),
    "real": (grad(lambda z: z * z, holomorphic=True), (2.0,), ArgumentError, "argument z is real"),
    "an integer": (grad(lambda x: x * x), (2,), ArgumentError, "argument x is the integer 2"),
    "not given": (grad(lambda *xs: xs[0] * 1.0, 1), (2.0,), ArgumentError, r"xs\[1\] is not given"),
    "no pair": (grad(lambda x: x * x, has_aux=True), (2.0,), SeedError, "returns .value, auxiliary."),
    "no number": (grad(lambda *xs: xs[1] * 2.0, 1), (2.0, V), SeedError, r"\(2,\)"),
    "inner no number": (grad(grad(lambda x: x * 2.0)), (V,), SrcgradError, r"\(2,\)"),
}


def same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple | list):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(np.all(one == other))


@pytest.mark.parametrize("name", PICKLED)
def test_what_is_pickled_by_its_text_does_what_it_did(name: str) -> None:
    live, args, kwargs = PICKLED[name]
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(live))))
    assert type(again).__name__ == "Saved"
    assert same(again(*args, **kwargs), live(*args, **kwargs))


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_pickled_by_its_text_refuses_what_it_did(name: str) -> None:
    live, args, error, message = REFUSED[name]
    for call in (live, pickle.loads(pickle.dumps(live))):
        with pytest.raises(error, match=message):
            call(*args)


# --- files ------------------------------------------------------------------------------------------------------------
def several(*xs: Any) -> Any:
    return xs[0] * xs[1] ** 2


def with_keywords(x: Any, **k: Any) -> Any:
    return x * k["a"]


def product(x: Any, y: Any = 2.0) -> Any:
    return x * y


def paired(x: Any) -> Any:
    return x * x, x


class Model:
    """A method."""

    def scaled(self, x: Any) -> Any:
        return x * 2.0


@pytest.mark.parametrize(
    ("derivative", "message"),
    [
        (grad(several, 1), r"xs of \*xs would be one argument"),
        (grad(several, "xs"), r"xs of \*xs would be one argument"),
        (grad(grad(several, 1), 1), r"xs of \*xs would be one argument"),
        (value_and_grad(with_keywords), r"k of \*\*k would be one argument"),
        (grad(product, (0, 0)), "asked for twice"),
        (grad(paired, has_aux=True), r"has_aux=True[\s\S]*lambda x: f\(x\)\[0\]"),
        (grad(product, holomorphic=True), "the check that there is a complex derivative"),
        (jacobian(product), r"jacobian\(f\) is not saved"),
        (jacfwd(product), r"jacfwd\(f\) is not saved"),
        (hessian(product), r"hessian\(f\) is not saved"),
        (hvp(product), r"hvp\(f\) is not saved"),
    ],
)
def test_what_the_text_alone_does_not_do_is_not_saved(derivative: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=f"(?s)saved as a file.*{message}|{message}"):
        derivative.save(tmp_path / "saved.py")
    assert not (tmp_path / "saved.py").exists()


def test_what_is_saved_is_called_as_the_live_one(tmp_path: Path) -> None:
    live = value_and_grad(product, (1, 0))
    live.save(tmp_path / "saved_product.py")
    spec = importlib.util.spec_from_file_location("saved_product", tmp_path / "saved_product.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.value_and_grad_product(3.0) == live(3.0) == (6.0, (3.0, 2.0))
    assert module.value_and_grad_product(3.0, y=4.0) == live(3.0, y=4.0)
