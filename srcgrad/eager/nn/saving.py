"""``torch.save`` and ``torch.load``: a zip of arrays in NumPy's format, and JSON that says how they belong together.

    structure.json      {"format": "srcgrad.eager", "version": 1, "content": ["d", ["weight", ["tensor", 0, ...]]]}
    arrays/0.npy        the memory of the first tensor; views of one memory stay views of one

Nothing is pickled unless it is asked for, so that reading a file runs none of its code.  A file says how large it is in
several places: they have to agree with its length before anything is allocated, and what does not fit is one error,
RuntimeError.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import math
import os
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from srcgrad.eager import dtypes, size
from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.nn.parameter import Parameter
from srcgrad.eager.tensor import Tensor

_FORMAT, _VERSION, _STRUCTURE = "srcgrad.eager", 1, "structure.json"
_LONGEST_HEADER = 10_000
_CONTAINERS: dict[type, str] = {list: "l", tuple: "t", set: "s", frozenset: "f", size.Size: "size"}
_DICTS: dict[type, str] = {dict: "d", OrderedDict: "o"}
_ON_CUDA = (
    "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a "
    "CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
)


class _Damaged(Exception):
    """What a file says cannot be so."""


# --- writing ---------------------------------------------------------------------------------------------------------
class _Writer:
    """Turns a value into JSON's kinds, and collects the arrays on its way."""

    def __init__(self) -> None:
        self.arrays: list[Any] = []
        self.places: dict[Any, int] = {}
        self.open: set[int] = set()  # the containers that are being written

    def written(self, value: Any) -> Any:
        """A value in JSON: itself, or a list that begins with the letter of its kind."""
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else ["float", repr(value)]
        if kind is complex:
            return ["c", self.written(value.real), self.written(value.imag)]
        if kind is bytes:
            return ["b", base64.b64encode(value).decode("ascii")]
        if isinstance(value, dtypes.dtype):
            return ["dtype", value.name]
        if isinstance(value, size.device):
            return ["device", str(value)]
        if isinstance(value, Tensor) and kind in (Tensor, Parameter):
            return self._tensor(value)
        if isinstance(value, np.ndarray | np.generic) and value.dtype in dtypes.OF_NUMPY:
            return ["array" if isinstance(value, np.ndarray) else "number", self._kept(np.ascontiguousarray(value))]
        if kind in _CONTAINERS or kind in _DICTS:
            return self._container(value, kind)
        raise pickle.PicklingError(
            f"torch.save writes tensors, arrays, numbers, text and containers of them, not "
            f"{kind.__module__}.{kind.__qualname__}: save what it consists of (a module's state_dict()), or ask for a "
            "pickle with pickle_module=pickle"
        )

    def _container(self, value: Any, kind: type) -> Any:
        if id(value) in self.open:
            raise ValueError("torch.save: a container holds itself")
        self.open.add(id(value))
        if kind in _DICTS:
            items = [[self.written(key), self.written(item)] for key, item in value.items()]
            made = [_DICTS[kind], *items]
        else:
            made = [_CONTAINERS[kind], *map(self.written, value)]
        self.open.remove(id(value))
        return made

    def _tensor(self, tensor: Tensor) -> Any:
        array = tensor.storage_array()
        if is_lifted(array):
            raise RuntimeError("torch.save: a tensor inside of a transform has no memory of its own")
        name = "parameter" if isinstance(tensor, Parameter) else "tensor"
        owner = _owner(array)
        if owner is None:
            key = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str)
            return [name, self._kept(array, key), tensor.requires_grad]
        item = array.dtype.itemsize
        start = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        view = [list(array.shape), [s // item for s in array.strides], start // item]
        return [name, self._kept(owner.reshape(-1), id(owner), owner), tensor.requires_grad, *view]

    def _kept(self, array: Any, key: Any = None, holds: Any = None) -> int:
        """The number of an array among those of the file."""
        if key is None or key not in self.places:
            self.places[len(self.arrays) if key is None else key] = len(self.arrays)
            self.arrays.append((array, holds))
            return len(self.arrays) - 1
        return self.places[key]


def _owner(array: Any) -> Any:
    """The memory that a tensor's array is a view of, where the view is one that can be said by its strides."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    plain = owner.flags.c_contiguous and owner.dtype == array.dtype and array.size
    item = array.dtype.itemsize
    if not plain or any(s % item or s <= 0 for s in array.strides):
        return None
    return owner if _within(array.shape, [s // item for s in array.strides], 0, owner.size) else None


def _within(shape: Any, strides: Any, start: int, count: int) -> bool:
    """Whether a view stays inside of its memory, and is no larger than that."""
    last = start + sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if n)
    return start >= 0 and last < count and math.prod(shape) <= count


def save(
    obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2, _use_new_zipfile_serialization: bool = True
) -> None:
    """Write a value to a file or a stream: tensors, arrays, numbers, text, and containers of them.

    Anything else is refused with PicklingError, unless ``pickle_module`` asks for a pickle.
    """
    if not isinstance(f, str | os.PathLike) and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    if pickle_module is not None:
        content = pickle_module.dumps(obj, protocol=pickle_protocol)
        with _stream(f, "wb") as stream:
            stream.write(content)
        return
    writer = _Writer()
    structure = {"format": _FORMAT, "version": _VERSION, "content": writer.written(obj)}
    text = json.dumps(structure, allow_nan=False).encode()
    with _stream(f, "wb") as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(_STRUCTURE), text)
        for number, (array, _) in enumerate(writer.arrays):
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asarray(array), version=(1, 0), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(_place(number)), content.getbuffer())


def _place(number: int) -> str:
    return f"arrays/{number}.npy"


@contextlib.contextmanager
def _stream(f: Any, mode: str) -> Iterator[Any]:
    if not isinstance(f, str | os.PathLike):
        yield f
        return
    folder = os.path.dirname(os.path.abspath(f))
    if mode == "wb" and not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    with open(f, mode) as stream:
        yield stream


# --- reading ---------------------------------------------------------------------------------------------------------
def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None,
    mmap: bool | None = None, **pickle_load_args: Any,
) -> Any:  # fmt: skip
    """What ``save`` wrote to a file or a stream.

    A pickle is read where ``weights_only=False`` says that the file is trusted, for it can run any code.  A file that
    is damaged, or none of this module's, raises RuntimeError.
    """
    if isinstance(map_location, str | size.device) and size.device(map_location).type not in ("cpu", "meta"):
        raise RuntimeError(_ON_CUDA)
    if not isinstance(f, str | os.PathLike) and not (hasattr(f, "read") and hasattr(f, "seek")):
        raise AttributeError(
            f"'{type(f).__name__}' object has no attribute 'seek'. You can only torch.load from a file that is "
            "seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it instead."
        )
    with _stream(f, "rb") as stream:
        start = stream.tell()
        if weights_only is False and not stream.read(4).startswith(b"PK"):
            stream.seek(start)
            return (pickle_module or pickle).load(stream, **pickle_load_args)
        stream.seek(start)
        try:
            return _read(stream, start)
        except _Damaged as error:
            raise RuntimeError(f"torch.load: {error}") from None
        except (  # what zipfile, json and NumPy say of damage
            zipfile.BadZipFile, zipfile.LargeZipFile, ValueError, TypeError, KeyError, IndexError, OverflowError,
            EOFError, RecursionError, NotImplementedError, RuntimeError, AttributeError, OSError, SyntaxError,
        ) as error:  # fmt: skip
            said = f"{type(error).__name__}: {error}"
            raise RuntimeError(f"torch.load: the file is damaged, or was not written by torch.save ({said})") from None


def _read(stream: Any, start: int) -> Any:
    length = stream.seek(0, io.SEEK_END) - start
    stream.seek(start)
    with zipfile.ZipFile(stream) as archive:
        entries = archive.infolist()
        names = {entry.filename for entry in entries}
        if any(name.endswith("data.pkl") for name in names):
            raise _Damaged(
                "this file was written by PyTorch, as a pickle; torch here is srcgrad.eager, which reads what its own "
                "torch.save wrote. Save the state there as arrays (numpy.savez), and make tensors of them here"
            )
        if _STRUCTURE not in names:
            raise _Damaged("the file is no file of torch.save: structure.json is missing")
        if len(names) != len(entries) or any(entry.compress_type or entry.flag_bits & 1 for entry in entries):
            raise _Damaged("the file is damaged: its parts are named twice, compressed or encrypted")
        if any(entry.file_size != entry.compress_size for entry in entries) or (
            sum(entry.file_size for entry in entries) > length
        ):
            raise _Damaged("the file is damaged: its parts are said to be larger than the file")
        structure = json.loads(archive.read(_STRUCTURE))
        if not isinstance(structure, dict) or structure.get("format") != _FORMAT:
            raise _Damaged("the file is no file of torch.save: its structure is of another format")
        if structure.get("version") != _VERSION:
            raise _Damaged(f"the file is of version {structure.get('version')!r}, and this module reads {_VERSION}")
        return _Reader(archive).made(structure["content"])


class _Reader:
    """Makes values of JSON's kinds again."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.arrays: dict[int, Any] = {}

    def made(self, value: Any) -> Any:
        """The value that ``_Writer.written`` was given."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if not isinstance(value, list) or not value or not isinstance(value[0], str):
            raise _Damaged(f"the file is damaged: {type(value).__name__} in its structure")
        kind, *parts = value
        if kind in _MAKERS:
            return _MAKERS[kind]([self.made(part) for part in parts])
        if kind in ("d", "o"):
            pairs = [(self.made(key), self.made(item)) for key, item in parts]
            return dict(pairs) if kind == "d" else OrderedDict(pairs)
        if kind in ("array", "number"):
            array = self._array(*parts)
            return array.copy() if kind == "array" else array.reshape(-1)[0]
        if kind in ("tensor", "parameter"):
            return self._tensor(kind, *parts)
        raise _Damaged(f"the file is damaged, or of a later version: there is no kind {kind!r}")

    def _tensor(
        self, kind: str, number: int, requires_grad: bool, shape: Any = None, strides: Any = None, start: int = 0
    ) -> Tensor:
        array = self._array(number)
        if shape is not None:
            numbers = [*shape, *strides, start]
            if len(shape) != len(strides) or not all(type(n) is int and n >= 0 for n in numbers):
                raise _Damaged("the file is damaged: a tensor has no such shape")
            if not _within(shape, strides, start, array.size):
                raise _Damaged("the file is damaged: a tensor is larger than its memory")
            array = np.lib.stride_tricks.as_strided(
                array.reshape(-1)[start:], shape, [s * array.itemsize for s in strides]
            )
        made = Tensor.of(array, requires_grad=False)
        if kind == "parameter":
            return Parameter(made, requires_grad=bool(requires_grad))
        return made.requires_grad_() if requires_grad else made

    def _array(self, number: Any) -> Any:
        if type(number) is not int:
            raise _Damaged("the file is damaged: an array has no number")
        if number not in self.arrays:
            self.arrays[number] = _array_of(self.archive.read(_place(number)))
        return self.arrays[number]


def _array_of(content: bytes) -> Any:
    """The array of a file of NumPy's format, whose header has to agree with its length."""
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise _Damaged("the file is damaged: an array is of another version")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(stream, max_header_size=_LONGEST_HEADER)
    if dtype not in dtypes.OF_NUMPY or any(n < 0 for n in shape):
        raise _Damaged(f"the file is damaged: no tensor has shape {shape} and elements of {dtype}")
    held = memoryview(content)[stream.tell() :]
    if math.prod(shape) * dtype.itemsize != len(held):
        raise _Damaged("the file is damaged: an array is said to be larger, or smaller, than what is there of it")
    return np.frombuffer(bytearray(held), dtype).reshape(shape, order="F" if by_columns else "C")


_MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "l": list,
    "t": tuple,
    "s": set,
    "f": frozenset,
    "size": size.Size,
    "float": lambda parts: float(parts[0]),
    "c": lambda parts: complex(*parts),
    "b": lambda parts: base64.b64decode(parts[0], validate=True),
    "dtype": lambda parts: dtypes.named(parts[0]),
    "device": lambda parts: size.device(parts[0]),
}
