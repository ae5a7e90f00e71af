"""What scripts do before and around the gradients, as PyTorch 2.13 does it; files, and what is missing."""

from __future__ import annotations

import io
import json
import pickle
import random
import subprocess
import sys
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad
import srcgrad.eager as torch
from srcgrad.eager import warned
from tests.eager.recording import recorded, run

PROGRAMS = recorded("contact")
THEMES = sorted({name.partition(".")[0] for name in PROGRAMS})


@pytest.mark.parametrize("theme", THEMES)
def test_programs_print_what_pytorch_printed(theme: str) -> None:
    for name, entry in PROGRAMS.items():
        if name.startswith(f"{theme}."):
            out, error = run(entry["program"])
            assert (out, error) == (entry["out"], entry["error"]), name


# --- files -----------------------------------------------------------------------------------------------------------
def state() -> dict[str, Any]:
    weight = torch.arange(12.0).reshape(3, 4)
    return {"model": {"w": weight, "row": weight[1], "n": torch.tensor(3)}, "step": 7, "names": ["a", ("b", 2.5)]}


def written(value: Any, **options: Any) -> bytes:
    stream = io.BytesIO()
    torch.save(value, stream, **options)
    return stream.getvalue()


def read(content: bytes, **options: Any) -> Any:
    return torch.load(io.BytesIO(content), **options)


def zipped(structure: Any, *arrays: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("structure.json", json.dumps(structure))
        for number, array in enumerate(arrays):
            archive.writestr(f"arrays/{number}.npy", array)
    return stream.getvalue()


def of(content: Any) -> dict[str, Any]:
    return {"format": "srcgrad.eager", "version": 1, "content": content}


def header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        return a.dtype is b.dtype and torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and a == b


def test_a_truncated_file_is_one_error() -> None:
    whole = written(state())
    assert same(read(whole), state())
    for end in [*range(0, len(whole), 37), len(whole) - 1]:
        with pytest.raises(RuntimeError, match="torch.load"):
            read(whole[:end])


@pytest.mark.parametrize("seed", range(4))
def test_an_altered_file_is_one_error_or_what_was_written(seed: int) -> None:
    """What checksums do not cover, dates and comments, may be altered without harm."""
    whole, rng = written(state()), random.Random(seed)
    for _ in range(150):
        altered = bytearray(whole)
        for _ in range(rng.choice((1, 1, 3, 12))):
            place = rng.randrange(len(altered))
            altered[place] = rng.randrange(256)
        if rng.random() < 0.2:
            del altered[rng.randrange(len(altered)) :][: rng.randrange(1, 60)]
        try:
            found = read(bytes(altered))
        except RuntimeError as error:
            assert str(error).startswith("torch.load: ")
        else:
            assert same(found, state())


_TERABYTES = header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }")
HOSTILE: dict[str, Any] = {
    "claims terabytes": zipped(of(["tensor", 0, False]), _TERABYTES),
    "claims terabytes in dimensions": zipped(
        of(["tensor", 0, False]), header("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,) * 3, }")
    ),
    "negative": zipped(of(["tensor", 0, False]), header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }")),
    "objects": zipped(of(["array", 0]), header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }") + bytes(8)),
    "code in a header": zipped(of(["array", 0]), header("__import__('os').abort()")),
    "a long header": zipped(of(["array", 0]), header("{" + " " * 60_000)),
    "a view beyond its memory": zipped(of(["tensor", 0, False, [9], [1], 0]), header(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }") + bytes(8)),
    "a view that repeats": zipped(of(["tensor", 0, False, [10**12], [0], 0]), header(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }") + bytes(8)),
    "a view of negative strides": zipped(of(["tensor", 0, False, [2], [-1], 1]), header(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }") + bytes(16)),
    "no such array": zipped(of(["tensor", 5, False])),
    "a name in place of a number": zipped(of(["tensor", "../../etc/passwd", False])),
    "an unknown kind": zipped(of(["exec", "1"])),
    "a mapping": zipped(of({"a": 1})),
    "a list as a key": zipped(of(["d", [["l"], 1]])),
    "a half pair": zipped(of(["d", [1]])),
    "an unknown dtype": zipped(of(["dtype", "__class__"])),
    "a wrong device": zipped(of(["device", "moon"])),
    "base64": zipped(of(["b", "%%%"])),
    "later": zipped({"format": "srcgrad.eager", "version": 2, "content": 1}),
    "another format": zipped({"format": "x", "version": 1, "content": 1}),
    "no mapping": zipped([1]),
    "no structure": zipped(of(1)).replace(b"structure.json", b"structura.json"),
    "a pickle": pickle.dumps([1, 2]),
    "text": b"hello",
    "nothing": b"",
}  # fmt: skip

@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_one_error_and_allocates_nothing(name: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(RuntimeError, match="^torch.load: "):
            read(HOSTILE[name])
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_lists_in_lists_without_end_are_one_error() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("structure.json", '{"format": "srcgrad.eager", "version": 1, "content": ' + '["l",' * 100_000)
    with pytest.raises(RuntimeError, match="^torch.load: "):
        read(stream.getvalue())
    nested: Any = 1
    for _ in range(5000):
        nested = ["l", nested]
    with pytest.raises((RuntimeError, RecursionError)):
        read(zipped(of(nested)))


def test_compressed_parts_are_refused_before_they_are_read() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("structure.json", json.dumps(of(1)))
        archive.writestr("arrays/0.npy", bytes(10_000_000))
    with pytest.raises(RuntimeError, match="compressed"):
        read(stream.getvalue())


class _Marker:
    ran = False

    def __reduce__(self) -> Any:
        return exec, ("from tests.eager.test_contact import _Marker; _Marker.ran = True",)


def test_pickles_are_written_and_read_where_that_is_asked_for_and_only_there() -> None:
    net = torch.nn.Linear(2, 2)
    with pytest.raises(pickle.PicklingError, match=r"not torch\.nn\.modules\.linear|state_dict"):
        written(net)
    content = written(net, pickle_module=pickle)
    with pytest.raises(RuntimeError, match="torch.load"):
        read(content)
    assert torch.equal(read(content, weights_only=False).weight, net.weight)
    assert same(read(written(state()), weights_only=False), state())
    for options in ({}, {"weights_only": True}, {"pickle_module": pickle}):
        with pytest.raises(RuntimeError):
            read(pickle.dumps(_Marker()), **options)
    assert not _Marker.ran


def test_a_file_of_pytorch_says_what_to_do() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("archive/data.pkl", b"")
    with pytest.raises(RuntimeError, match="written by PyTorch"):
        read(stream.getvalue())


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (lambda: 1, pickle.PicklingError),
        ({"a": object()}, pickle.PicklingError),
        (np.array(["a"]), pickle.PicklingError),
        (range(3), pickle.PicklingError),
    ],
)
def test_what_is_no_data_is_refused_by_name(value: Any, error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(error, match="torch.save writes tensors"):
        torch.save(value, tmp_path / "a.pt")
    assert not (tmp_path / "a.pt").exists()


def test_a_container_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="holds itself"):
        written(endless)


def test_the_same_values_make_the_same_file_and_views_stay_views() -> None:
    assert written(state()) == written(state())
    loaded = read(written(state()))["model"]
    loaded["row"][0] = 99.0
    assert loaded["w"][1, 0].item() == 99.0
    part = torch.zeros(1000)[:1]
    assert len(written(part.clone())) < 1000 < len(written(part))


# --- what there is not -----------------------------------------------------------------------------------------------
def test_what_is_missing_says_where_one_is_and_what_to_use() -> None:
    for attempt, use in (
        (lambda: torch.distributions, "log_softmax"),
        (lambda: torch.sparse_coo_tensor, "dense"),
        (lambda: torch.nn.MultiheadAttention, "scaled_dot_product_attention"),
        (lambda: torch.nn.utils.rnn.pack_padded_sequence, "pad_sequence"),
        (lambda: torch.optim.RAdam, "AdamW"),
        (lambda: torch.optim.lr_scheduler.CyclicLR, "LambdaLR"),
        (lambda: torch.cuda.nvtx, "CPU"),
        (lambda: torch.quantize_per_tensor, "float32"),
    ):
        with pytest.raises(AttributeError, match="torch here is srcgrad.eager") as caught:
            attempt()
        assert use in str(caught.value)
        assert not caught.value.args[0].endswith(".")
    with pytest.raises(AttributeError) as caught:
        torch.foo
    assert str(caught.value) == "module 'torch' has no attribute 'foo'"
    assert "torch here is srcgrad.eager" in caught.value.__notes__[0]
    assert not hasattr(torch, "distributions")


def test_what_is_missing_says_so_where_it_is_imported() -> None:
    with pytest.raises(ImportError, match="torch here is srcgrad.eager, which has SGD"):
        from srcgrad.eager.optim import RAdam  # noqa: F401
    with pytest.raises(ImportError, match="pad them"):
        from srcgrad.eager.nn.utils.rnn import PackedSequence  # noqa: F401


def test_bfloat16_has_a_name_and_no_tensors() -> None:
    named = torch.bfloat16
    assert repr(named) == "torch.bfloat16" and named is not torch.float16 and pickle.loads(pickle.dumps(named)) is named
    assert (named.is_floating_point, named.is_complex, named.is_signed, named.itemsize) == (True, False, True, 2)
    for attempt in (
        lambda: torch.ones(2, dtype=torch.bfloat16),
        lambda: torch.tensor(1.0, dtype=torch.bfloat16),
        lambda: torch.ones(2).to(torch.bfloat16),
        lambda: torch.ones(2).bfloat16(),
        lambda: torch.nn.Linear(2, 2, dtype=torch.bfloat16),
        lambda: torch.nn.Linear(2, 2).to(torch.bfloat16),
        lambda: torch.finfo(torch.bfloat16),
        lambda: torch.set_default_dtype(torch.bfloat16),
    ):
        with pytest.raises(TypeError, match="there are no tensors of torch.bfloat16"):
            attempt()


# --- what does nothing, and says so once -----------------------------------------------------------------------------
@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warned, "_given", set())


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("use", "word"),
    [
        (lambda: torch.autocast("cuda"), "autocast"),
        (lambda: torch.cuda.amp.autocast(), "autocast"),
        (lambda: torch.amp.GradScaler("cuda"), "GradScaler"),
        (lambda: torch.cuda.amp.GradScaler(), "GradScaler"),
        (lambda: torch.utils.data.DataLoader([1], num_workers=2), "num_workers"),
    ],
)
def test_what_does_nothing_says_so_once(use: Callable[[], Any], word: str) -> None:
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        use()
        use()
    assert len(given) == 1 and word in str(given[0].message) and "torch here is srcgrad.eager" in str(given[0].message)
    assert given[0].filename == __file__


@pytest.mark.usefixtures("fresh")
def test_what_is_switched_off_says_nothing_and_training_goes_on() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        w = torch.ones(2, requires_grad=True)
        optimizer, scaler = torch.optim.SGD([w], lr=0.5), torch.amp.GradScaler("cuda", enabled=False)

        @torch.autocast("cuda", enabled=False)
        def loss() -> Any:
            return (w * w).sum()

        scaler.scale(loss()).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    assert w.tolist() == [0.0, 0.0]
    assert (scaler.get_scale(), scaler.is_enabled(), scaler.state_dict()) == (1.0, False, {})


# --- compile ---------------------------------------------------------------------------------------------------------
def energy(x: Any) -> Any:
    return np.sum(np.sin(x) * x)


def test_compile_takes_functions_of_numpy_and_leaves_the_rest() -> None:
    compiled = torch.compile(energy)
    x = torch.tensor([0.3, -0.7], dtype=torch.float64, requires_grad=True)
    y = compiled(x)
    assert y.grad_fn.name() == "EnergyBackward"
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), srcgrad.grad(energy)(np.array([0.3, -0.7])))
    net = torch.nn.Linear(2, 2)
    assert torch.compile(net, mode="reduce-overhead") is net and torch.compile(torch.sin) is torch.sin
    assert torch.compile(energy, disable=True) is energy
    with pytest.raises(AssertionError):
        torch.compile(3)

    @torch.compile(fullgraph=True)
    def of_tensors(t: Any) -> Any:
        return torch.std(t)

    assert of_tensors(torch.tensor([1.0, 3.0])).item() == pytest.approx(2**0.5)


# --- the engine ------------------------------------------------------------------------------------------------------
def test_parts_that_no_gradient_reaches_have_none() -> None:
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return None

    x = torch.ones(4, requires_grad=True)
    for create in (False, True):
        a, b = x.chunk(2)
        (found,) = torch.autograd.grad(Nothing.apply(a).sum(), x, allow_unused=True, create_graph=create)
        assert found is None
        (found,) = torch.autograd.grad((Nothing.apply(a) + b * b).sum(), x, create_graph=create)
        assert found.tolist() == [0.0, 0.0, 2.0, 2.0]


def parts(x: Any) -> Any:
    return x[1, 2:] * x[-1, :2] + x[0, 1] * x[2].sum() + x[1:3, -1] + (x[:, ::2] ** 3).sum()


@pytest.mark.parametrize("create", [False, True])
def test_views_by_different_indices_go_back_to_their_own_places(create: bool) -> None:
    """The second view of a kind is recorded as the first was; where it is must not be."""
    values = np.random.default_rng(0).standard_normal((4, 4))
    x = torch.tensor(values, requires_grad=True)
    (found,) = torch.autograd.grad((parts(x) ** 2).sum(), x, create_graph=create)
    for _ in range(2):
        (again,) = torch.autograd.grad((parts(x) ** 2).sum(), x, create_graph=create)
        assert torch.equal(found, again)
    compiled = srcgrad.grad(squared_parts)(values)
    np.testing.assert_allclose(found.detach().numpy(), compiled, rtol=1e-12)
    if create:
        assert torch.autograd.gradgradcheck(lambda t: (parts(t) ** 2).sum(), x)


def squared_parts(x: Any) -> Any:
    return np.sum((x[1, 2:] * x[-1, :2] + x[0, 1] * np.sum(x[2]) + x[1:3, -1] + np.sum(x[:, ::2] ** 3)) ** 2)


@pytest.mark.parametrize("create", [False, True])
def test_gradients_by_some_inputs_are_those_among_all(create: bool) -> None:
    """What leads to other inputs is not computed."""
    rng = np.random.default_rng(1)
    shapes = (3, 4), (5, 4), (5,), (3, 5), (5, 2)
    x, w, b, m, v = (torch.tensor(rng.standard_normal(shape), requires_grad=True) for shape in shapes)

    def loss() -> Any:
        y = torch.nn.functional.linear(x, w, b) * m.sigmoid()
        y = torch.where(m > 0, y / (2 + m * m), y.tanh() * b)
        return (torch.nn.functional.layer_norm(y, (5,), b, m[0]) @ v).logsumexp(1).sum()

    inputs = (x, w, b, m, v)
    everything = torch.autograd.grad(loss(), inputs, create_graph=create)
    for number, one in enumerate(inputs):
        (alone,) = torch.autograd.grad(loss(), one, create_graph=create)
        np.testing.assert_allclose(alone.detach().numpy(), everything[number].detach().numpy(), rtol=1e-12)
        if create:
            (second,) = torch.autograd.grad((alone**2).sum(), x)
            (same,) = torch.autograd.grad((everything[number] ** 2).sum(), x, retain_graph=True)
            np.testing.assert_allclose(second.numpy(), same.numpy(), rtol=1e-10)


def test_the_largest_of_a_window_is_the_first_of_several() -> None:
    from srcgrad.runtime import neural_layers

    rng = np.random.default_rng(2)
    settings = (
        ((2, 2), (2, 2), (0, 0), (1, 1)), ((3, 3), (2, 2), (1, 1), (1, 1)), ((3, 2), (1, 2), (1, 0), (2, 1)),
        ((1, 1), (1, 1), (0, 0), (1, 1)), ((2, 3), (3, 1), (1, 1), (1, 2)),
    )  # fmt: skip
    shape = 2, 3, 9, 10
    for kernel, stride, padding, dilation in settings:
        sizes = zip(shape[2:], kernel, stride, padding, dilation, strict=True)
        out = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in sizes)
        for x in (
            rng.integers(0, 3, shape).astype(np.float32),
            np.where(rng.random(shape) < 0.2, -np.inf, 1.0),
            np.where(rng.random(shape) < 0.1, np.nan, 1.0),
        ):
            found = neural_layers.largest_in_order(x, kernel, stride, padding, dilation, out)
            places = neural_layers.largest_places(x, kernel, stride, padding, dilation, out)
            if found is not None:
                np.testing.assert_array_equal(found[1], places)
                np.testing.assert_array_equal(found[0], neural_layers.take_places(x, places, 2))
            assert found is not None or not np.isfinite(x).all()


def test_modules_of_accelerators_are_imported_as_in_pytorch(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\nimport torch.backends.cudnn as cudnn\nimport torch.cuda.amp\n"
        "from torch.cuda.amp import autocast, GradScaler\nfrom torch.utils.data import DataLoader, Dataset\n"
        "import torch.nn.utils.rnn as rnn\nfrom torch.testing import assert_close\nimport torch.version\n"
        "cudnn.benchmark = True\nassert torch.backends.cudnn.benchmark and torch.backends.cudnn is cudnn\n"
        "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\nprint(torch.ones(1, device=device))\n"
        "try:\n    from torch.distributions import Categorical\nexcept ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-m", "srcgrad.eager", str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    shown, said = done.stdout.splitlines()
    assert shown == "tensor([1.])"
    assert said.startswith("No module named 'torch.distributions': torch here is srcgrad.eager, which has no")
