"""What PyTorch has and this module has not: an error that says so, and what to use in its place.

>>> def look(name):
...     return missing("torch", name)
>>> print(look("distributions"))  # doctest: +ELLIPSIS
module 'torch' has no attribute 'distributions': torch here is srcgrad.eager, which has no distributions; ...
>>> print(look("foo"), look("foo").__notes__)  # doctest: +ELLIPSIS
module 'torch' has no attribute 'foo' ["torch here is srcgrad.eager, PyTorch's autograd on NumPy: ...
"""

from __future__ import annotations

import dis
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

HERE = "torch here is srcgrad.eager"
PAGE = (
    f"{HERE}, PyTorch's autograd on NumPy: docs/eager.md says what of PyTorch is there. For the rest, write it with "
    "what is there, or run the program on PyTorch."
)
DEVICES = "which lives on the CPU; leave devices, streams and memory of devices out"
DENSE = "which has dense tensors alone; use a dense tensor, or index_add and embedding for sparse gradients"
WHOLE = "which runs programs as they are; leave export and tracing out, or use srcgrad.compile for functions of NumPy"
REAL = "which has no reduced or quantized dtypes; use float32, or float16"
LAYER = "which has the common layers; write this one as a Module of those that are there"

#: Names below ``torch``, as regular expressions, and what is said of them; the first that matches is.
ADVICE: tuple[tuple[str, str], ...] = (
    (r"distributions(\..*)?", "which has no distributions; write log_prob with log_softmax, gather or the density"),
    (r"nn\.(parallel.*|DataParallel|SyncBatchNorm)|distributed.*|multiprocessing.*|futures|rpc", (
        "which runs in one process; srcgrad.parallel runs compiled gradients in several"
    )),
    (r"(mps|xpu|mtia|cuda|accelerator|hip)\..*|(mtia|hip|Event|Stream|get_device_module)", DEVICES),
    (r"(sparse|spmm|hspmm|sspaddmm|smm|dsmm|hsmm|saddmm|to_sparse|nested|masked|jagged).*", DENSE),
    (r"nn\.(quantized|quantizable|qat|intrinsic).*|(quantiz|fake_quant|dequant|qint|quint|q_).*", REAL),
    (r"per_(tensor|channel).*|float(8|4)_.*|complex32|chalf|(u?int[1-7])|bits.*|ao(\..*)?", REAL),
    (r"(jit|fx|export|onnx|_dynamo|_inductor|package|compiler|library|ops|classes|hub|overrides)(\..*)?", WHOLE),
    (r"(mkldnn|miopen|cudnn|fbgemm|native|rnn_|lstm|gru|batch_norm_|sym_).*", (
        "which has no kernels by name; use torch.nn and torch.nn.functional"
    )),
    (r"\w*Storage|is_storage|storage|from_file|frombuffer|serialization(\..*)?", (
        "whose tensors hold NumPy arrays; use numpy(), from_numpy(), torch.save and torch.load"
    )),
    (r"(profiler|monitor|autograd\.profiler|utils\.(bottleneck|benchmark|tensorboard))(\..*)?", (
        "which has no profiler; use cProfile, and a file of your own for curves"
    )),
    (r"nn\.(functional\.)?(MultiheadAttention|Transformer.*|multi_head_attention_forward)", (
        "which has no transformer layers; write them with Linear and nn.functional.scaled_dot_product_attention"
    )),
    (r"nn\.Lazy\w+|nn\.Uninitialized\w+", "whose layers are made with their sizes; use the class without Lazy"),
    (r"nn\.utils\.rnn\.(pack\w*|PackedSequence|pad_packed\w*|unpack_sequence)", (
        "which has no packed sequences; pad them (pad_sequence) and mask what is beyond their ends"
    )),
    (r"nn\.utils\.(weight_norm|spectral_norm|remove_\w+|parametriz\w+|parametrize|prune)(\..*)?", (
        "which has no parametrizations; compute the weight in forward"
    )),
    (r"nn\.(functional\.)?(CTCLoss|ctc_loss|EmbeddingBag|embedding_bag|grid_sample|affine_grid|pdist)", LAYER),
    (r"nn\.(functional\.)?(MaxUnpool.*|max_unpool.*|[Ff]ractional.*|LPPool3d|lp_pool3d)", LAYER),
    (r"optim\.(ASGD|Adafactor|Muon|NAdam|RAdam|Rprop|SparseAdam|swa_utils.*)", (
        "which has SGD, Adam, AdamW, Adamax, RMSprop, Adagrad, Adadelta and LBFGS; use one of these"
    )),
    (r"optim\.lr_scheduler\.(CyclicLR|ChainedScheduler|PolynomialLR|ConstantLR|MultiplicativeLR)", (
        "which has no such schedule; LambdaLR takes any function of the epoch"
    )),
    (r"utils\.data\.(IterDataPipe|MapDataPipe|datapipes.*|DistributedSampler|distributed.*|get_worker_info)", (
        "which loads data in one process; use Dataset, IterableDataset and DataLoader"
    )),
    (r"func\..*|autograd\.functional\..*", "which has no such transform; see docs/eager.md for those it has"),
)  # fmt: skip


def advice(name: str) -> str | None:
    """What is said of a name below ``torch``, or None where it is not known to be one of PyTorch's."""
    for pattern, said in ADVICE:
        if re.fullmatch(pattern, name):
            return f"{HERE}, {said}"
    return None


def missing(module: str, name: str) -> Exception:
    """The error about a name of ``torch`` or of a module below it: in its text for PyTorch's names, else in a note.

    It is ImportError where a program imports the name, for the text of an AttributeError would be lost.
    """
    known = advice(f"{module}.{name}".removeprefix("torch."))
    error: Exception
    if _is_imported(sys._getframe(2)):
        error = ImportError(f"cannot import name '{name}' from '{module}': {known or PAGE}", name=name)
        return error
    text = f"module '{module}' has no attribute '{name}'"
    error = AttributeError(text if known is None else f"{text}: {known}", name=name)
    if known is None:
        error.add_note(PAGE)
    return error


def absent_from(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module."""

    def refuse(name: str) -> Any:
        raise missing(module, name)

    return refuse


def _is_imported(frame: FrameType) -> bool:
    """Whether a frame is at the second half of ``from module import name``."""
    return frame.f_lasti >= 0 and dis.opname[frame.f_code.co_code[frame.f_lasti]] == "IMPORT_FROM"
