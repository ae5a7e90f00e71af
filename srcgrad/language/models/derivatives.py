# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Models of ``grad``, ``jvp``, ``hessian`` and their like: functions that call a function, and return what its
arguments or its value are like.

Each makes a function ``program``, the calls of which become calls of a derivative that is compiled (``PROGRAMS``); what
else they do is written as it stands here.

>>> gradient(lambda x: x * x)(2.0)
2.0
"""

from __future__ import annotations

from types import FunctionType, NoneType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from srcgrad.language.asked import is_data
from srcgrad.language.models.table import MADE, perhaps, unknown


class Derivative:
    """The class of what they return, in its place: it is no function."""


MADE.update({(__name__, name): Derivative for name in ("derivative", "program")})


def gradient(f=None, argnums=0, *, has_aux=False, holomorphic=False):
    def program(*args, **keywords):
        f(*args, **keywords)
        return _gradients(args, argnums)

    return unknown() if isinstance(f, NoneType) or has_aux or holomorphic else program


def value_and_gradient(f=None, argnums=0, *, has_aux=False, holomorphic=False):
    def program(*args, **keywords):
        return f(*args, **keywords), _gradients(args, argnums)

    return unknown() if isinstance(f, NoneType) or has_aux or holomorphic else program


def vector_jacobian(f, /, *primals, argnums=None):
    def program(*args):
        f(*args[:-1])
        return _gradients(args[:-1], (argnums,) if isinstance(argnums, int) else argnums)

    value = f(*primals)

    def derivative(seed):
        if not isinstance(value, (tuple, list, dict)) and np.shape(seed) != np.shape(value):
            raise ValueError("the seed of a pullback has another shape than the value")
        return program(*primals, seed)

    return value, derivative


def jacobian_vector(f, primals, tangents):
    def program(*args):
        value = f(*args[: len(args) // 2])
        return value, _like(value)

    return program(*primals, *tangents)


def hessian_vector(f=None, argnums=0):
    def program(*args, **keywords):
        f(*args[:-1], **keywords)
        return _gradients(args[:-1], argnums), _gradients(args[:-1], argnums)

    def derivative(*args, **keywords):
        return program(*args, **keywords)[1]

    return unknown() if isinstance(f, NoneType) or not isinstance(argnums, int) else derivative


def jacobian(f=None, argnums=0, *, holomorphic=False):
    def program(*args, **keywords):
        count = len(argnums) if isinstance(argnums, tuple) else 1
        value = f(*args[:-count], **keywords)
        return value, _like(value)

    def derivative(*args, **keywords):
        if isinstance(argnums, int):
            return _by_columns(program, args, keywords, args[argnums] if argnums < len(args) else unknown())
        count = len(argnums)
        if max(argnums) >= len(args):
            return unknown()
        x = args[argnums[0]]
        if count == 1:
            return (_by_columns(program, args, keywords, x),)
        y = args[argnums[1]]
        if count == 2:
            return (
                _by_columns(program, args, keywords, x, (), (y,)),
                _by_columns(program, args, keywords, y, (x,)),
            )
        z = args[argnums[2]]
        return (
            _by_columns(program, args, keywords, x, (), (y, z)),
            _by_columns(program, args, keywords, y, (x,), (z,)),
            _by_columns(program, args, keywords, z, (x, y)),
        )

    is_known = isinstance(argnums, int) or _are_few_places(argnums)
    return unknown() if isinstance(f, NoneType) or holomorphic or not is_known else derivative


def _are_few_places(argnums):
    if not isinstance(argnums, tuple) or not 1 <= len(argnums) <= 3:
        return False
    if len(argnums) == 1:
        return _is_place(argnums[0])
    if len(argnums) == 2:
        return _is_place(argnums[0]) and _is_place(argnums[1]) and argnums[0] != argnums[1]
    first, second, third = argnums
    are_places = _is_place(first) and _is_place(second) and _is_place(third)
    return are_places and first != second and second != third and first != third


def _is_place(argnum):
    return isinstance(argnum, int) and argnum >= 0


def hessian(f=None, argnums=0):
    def program(*args, **keywords):
        f(*args[:-1], **keywords)
        return _gradients(args[:-1], argnums), _gradients(args[:-1], argnums)

    def derivative(*args, **keywords):
        return _by_columns(program, args, keywords, args[argnums] if argnums < len(args) else unknown())

    return unknown() if isinstance(f, NoneType) or not isinstance(argnums, int) else derivative


def batch(f=None, in_axes=0, out_axes=0):
    def derivative(*args):
        count = len(args)  # one by one: a list of integers and floats would be of neither
        if isinstance(in_axes, tuple) and len(in_axes) != count:
            raise ValueError("in_axes of vmap has another number of entries than the call has arguments")
        axes = in_axes if isinstance(in_axes, tuple) else [in_axes for _ in args]
        sizes = [_examples_in(a, axis) for a, axis in zip(args, axes) if not isinstance(axis, NoneType)]
        for size in sizes:
            if size != sizes[0]:
                raise ValueError("the arguments of vmap have different numbers of examples")
        examples = range(sizes[0])
        if count == 1:
            results = [f(_example(args[0], axes[0], i)) for i in examples]
        elif count == 2:
            results = [f(_example(args[0], axes[0], i), _example(args[1], axes[1], i)) for i in examples]
        elif count == 3:
            results = [
                f(_example(args[0], axes[0], i), _example(args[1], axes[1], i), _example(args[2], axes[2], i))
                for i in examples
            ]
        elif count == 4:
            results = [
                f(
                    _example(args[0], axes[0], i), _example(args[1], axes[1], i), _example(args[2], axes[2], i),
                    _example(args[3], axes[3], i),
                )
                for i in examples
            ]  # fmt: skip
        else:
            results = [f(*[_example(a, axis, i) for a, axis in zip(args, axes)]) for i in examples]
        return _stacked(results, out_axes)

    is_known = isinstance(in_axes, (int, tuple)) and isinstance(out_axes, int)
    return unknown() if isinstance(f, NoneType) or not is_known else derivative


def _examples_in(value, axis, depth=1):
    """How many examples lie along an axis of an array, or of the arrays in a container, which holds no other one."""
    if isinstance(value, np.ndarray):
        return np.shape(value)[axis] if isinstance(axis, int) else unknown()
    if depth > 0 and isinstance(value, (tuple, list)):
        return _examples_in(value[0], axis, depth - 1)
    return unknown()


def _example(value, axis, i, depth=1):
    if isinstance(axis, NoneType):
        return value
    if isinstance(value, np.ndarray):
        return np.moveaxis(value, axis, 0)[i]
    if depth > 0 and type(value) is tuple:
        return tuple([_example(part, axis, i, depth - 1) for part in value])
    if depth > 0 and type(value) is list:
        return [_example(part, axis, i, depth - 1) for part in value]
    return unknown()


def _stacked(results, axis, depth=2):
    first = results[0]
    if isinstance(first, (np.ndarray, np.generic, float, int, complex)):
        return np.stack(results, axis)
    if depth > 0 and type(first) is tuple:
        return tuple([_stacked([result[k] for result in results], axis, depth - 1) for k in range(len(first))])
    if depth > 0 and type(first) is list:
        return [_stacked([result[k] for result in results], axis, depth - 1) for k in range(len(first))]
    return unknown()


def _by_columns(program, args, keywords, x, before=(), behind=()):
    """The derivative by ``x``.  Along the other chosen arguments, which stand before and behind it, the tangents are
    zero; their number is written out, since a call takes one star."""
    if np.iscomplexobj(x):
        raise TypeError("a Jacobian by a complex argument has no program inside of a differentiated function")
    directions = np.eye(np.size(x))

    def column(k):
        along = np.reshape(directions[k], np.shape(x))
        if len(before) == 2:
            return program(*args, _zero_tangent(before[0]), _zero_tangent(before[1]), along, **keywords)[1]
        if len(behind) == 2:
            return program(*args, along, _zero_tangent(behind[0]), _zero_tangent(behind[1]), **keywords)[1]
        if len(before) == 1 and len(behind) == 1:
            return program(*args, _zero_tangent(before[0]), along, _zero_tangent(behind[0]), **keywords)[1]
        if len(before) == 1:
            return program(*args, _zero_tangent(before[0]), along, **keywords)[1]
        if len(behind) == 1:
            return program(*args, along, _zero_tangent(behind[0]), **keywords)[1]
        return program(*args, along, **keywords)[1]

    columns = [column(k) for k in range(np.size(x))]
    return np.reshape(np.stack(columns, -1), np.shape(columns[0]) + np.shape(x))


def _zero_tangent(value):
    return np.zeros_like(value) * 1.0


# --- what they return ------------------------------------------------------------------------------------------------
def _gradients(args, argnums):
    if isinstance(argnums, NoneType):
        return tuple([_like(value) for value in args])
    if isinstance(argnums, tuple):
        return tuple([_gradient(args, place) for place in argnums])
    return _gradient(args, argnums)


def _gradient(args, place):
    return _like(args[place]) if isinstance(place, int) else unknown()


def _like(value):
    if is_data(value):
        return np.positive(value) * 1.0
    if isinstance(value, np.ndarray):
        return value * 1.0
    if isinstance(value, float):
        return float(value) if perhaps() else np.float64(value)
    if isinstance(value, complex):
        return complex(value) if perhaps() else np.complex128(value)
    if type(value) is list:
        return [_like(item) for item in value]
    if type(value) is tuple:
        return tuple([_like(item) for item in value])
    if type(value) is dict:
        return {key: _like(item) for key, item in value.items()}
    return unknown()


def is_run_on_copies(name: str, namespace: object) -> bool:
    """Whether a function stands for a program, which copies those of its arguments that it stores into."""
    return namespace is globals() and name == "program"


#: By what a transformation says that it is.
TRANSFORMS: dict[str, Any] = {
    "reverse": gradient, "value": value_and_gradient, "vjp": vector_jacobian, "jvp": jacobian_vector,
    "jacobian": jacobian, "hessian": hessian, "hvp": hessian_vector, "vmap": batch,
}  # fmt: skip
#: In which modes one after the other the function is differentiated of which a transformation makes a ``program``: by
#: the parameters that ``argnums`` says, which the program reads; by all where it is None, or not there.  Tangents stand
#: behind the arguments of the program if the last mode is "forward", and a cotangent if it is "pulled".
PROGRAMS: dict[Any, tuple[str, ...]] = {
    gradient: ("reverse",), value_and_gradient: ("value",), vector_jacobian: ("pulled",), jacobian_vector: ("forward",),
    jacobian: ("forward",), hessian: ("reverse", "forward"), hessian_vector: ("reverse", "forward"),
}  # fmt: skip

_OUTSIDE: WeakKeyDictionary[Any, tuple[object, FunctionType]] = WeakKeyDictionary()


def program_of(found: Any) -> FunctionType | None:
    """The program of a derivative that was made outside; None of anything else."""
    tell = getattr(type(found), "__srcgrad_derived__", None)
    told = None if tell is None else tell(found)
    if told is None:
        return None
    mode, function, argnums = told
    known, program = _OUTSIDE.get(found, (None, None))
    if program is None or known is not function:
        program = TRANSFORMS[mode](function, argnums)
        _OUTSIDE[found] = function, program
    return program
