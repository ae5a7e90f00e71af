"""``einsum``, as PyTorch takes it apart: diagonals, permutations, and products of pairs as batches of matrices."""

from __future__ import annotations

import math
from typing import Any

from srcgrad.eager.operations.matrix import bmm
from srcgrad.eager.operations.rearranging import diagonal, movedim
from srcgrad.eager.operations.reductions import sum as sum_of
from srcgrad.eager.operations.shaping import permute, reshape, unsqueeze, view
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@function("einsum")
def einsum(equation: Any, *operands: Any) -> Tensor:
    """Sums of products, by the letters of the dimensions; or by lists of numbers below 52 after each operand."""
    if isinstance(equation, Tensor):
        equation, operands = _of_lists([equation, *operands])
    tensors: list[Tensor] = list(
        operands[0] if len(operands) == 1 and isinstance(operands[0], list | tuple) else operands
    )
    terms, output = _parsed(equation.replace(" ", ""), tensors)
    if len(terms) != len(tensors):
        few = "more" if len(tensors) > len(terms) else "fewer"
        raise RuntimeError(f"einsum(): {few} operands were provided than specified in the equation")
    summed = list(dict.fromkeys(c for term in terms for c in term if c not in output))
    letters = [*output, *summed]
    _check_sizes(terms, tensors)
    laid = [_laid_out(term, tensor, letters) for term, tensor in zip(terms, tensors, strict=True)]
    result = laid[0]
    places = list(range(len(output), len(letters)))
    if len(laid) == 1:
        return sum_of(result, tuple(places)) if places else result
    for number, other in enumerate(laid[1:], 1):
        last = {i for i in places if all(later.array.shape[i] == 1 for later in laid[number + 1 :])}
        result = _pair(result, other, last)
    return view(result, result.array.shape[: len(output)]) if places else result


def _of_lists(given: list[Any]) -> tuple[str, tuple[Any, ...]]:
    """The equation that lists of numbers after the operands, and one for the output, stand for."""
    output = [given.pop()] if len(given) % 2 else []
    operands, lists = given[::2], given[1::2]

    def spelled(places: Any) -> str:
        for i in places:
            if i is not Ellipsis and not 0 <= i < len(_LETTERS):
                raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
        return "".join("..." if i is Ellipsis else _LETTERS[i] for i in places)

    return "->".join([",".join(map(spelled, lists)), *map(spelled, output)]), tuple(operands)


def _check_sizes(terms: list[list[str]], tensors: list[Tensor]) -> None:
    """Refuse letters that mean two sizes."""
    seen: dict[str, int] = {}
    for number, (term, tensor) in enumerate(zip(terms, tensors, strict=True)):
        for c, n in zip(term, tensor.array.shape, strict=True):
            known = seen.setdefault(c, n)
            if known == 1:
                seen[c] = n
            elif n not in (1, known) and term.count(c) == 1:
                raise RuntimeError(
                    f"einsum(): subscript {c} has size {n} for operand {number} which does not broadcast with "
                    f"previously seen size {known}"
                )


def _parsed(equation: str, tensors: list[Tensor]) -> tuple[list[list[str]], list[str]]:
    """The letters of each operand and of the output; an ellipsis is spelled by letters of its own."""
    left, arrow, right = equation.partition("->")
    terms: list[list[str]] = []
    widest = 0
    parts = left.split(",")
    for part, tensor in zip(parts, tensors, strict=False):
        if "..." in part:
            widest = max(widest, tensor.array.ndim - len(part.replace("...", "")))
    for number, part in enumerate(parts):
        ndim = tensors[number].array.ndim if number < len(tensors) else 0
        count = ndim - len(part.replace("...", "")) if "..." in part else 0
        terms.append(_spelled(part, [f"...{i}" for i in range(widest - count, widest)]))
        if number < len(tensors) and len(terms[-1]) != ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(terms[-1])}) does not match the number of "
                f"dimensions ({ndim}) for operand {number} and no ellipsis was given"
            )
    dots = [f"...{i}" for i in range(widest)]
    if arrow:
        output = _spelled(right, dots)
        for c in output:
            if not any(c in term for term in terms):
                raise RuntimeError(
                    f"einsum(): output subscript {c} does not appear in the equation for any input operand"
                )
        return terms, output
    every = [c for term in terms for c in term]
    return terms, dots + sorted(c for c in set(every) if every.count(c) == 1 and not c.startswith("."))


def _spelled(part: str, dots: list[str]) -> list[str]:
    if "..." not in part:
        return list(part)
    before, _, after = part.partition("...")
    return [*before, *dots, *after]


def _laid_out(term: list[str], tensor: Tensor, letters: list[str]) -> Tensor:
    """The operand with one dimension for every letter, in order; letters that it lacks have size one."""
    term = list(term)
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            i = term.index(c)
            j = term.index(c, i + 1)
            if tensor.array.shape[i] != tensor.array.shape[j]:
                raise RuntimeError(
                    f"einsum(): subscript {c} is repeated for operand 0 but the sizes don't match, "
                    f"{tensor.array.shape[j]} != {tensor.array.shape[i]}"
                )
            tensor = movedim(diagonal(tensor, 0, i, j), -1, i)
            del term[j]
    for c in letters:
        if c not in term:
            tensor = unsqueeze(tensor, tensor.array.ndim)
            term.append(c)
    return permute(tensor, [term.index(c) for c in letters])


def _pair(left: Tensor, right: Tensor, summed: set[int]) -> Tensor:
    """The product of two operands of one layout; summed dimensions are left with size one."""
    shapes = left.array.shape, right.array.shape
    for i in sorted(summed):
        m, n = shapes[0][i], shapes[1][i]
        if n == 1 and m != 1:
            left = sum_of(left, i, True)
        elif m == 1 and n != 1:
            right = sum_of(right, i, True)
    a, b = left.array.shape, right.array.shape
    for i, (m, n) in enumerate(zip(a, b, strict=True)):
        if m != n and 1 not in (m, n):
            raise RuntimeError(
                "einsum(): operands do not broadcast with remapped shapes [original->remapped]: "
                f"{list(a)} and {list(b)} differ at dimension {i}"
            )
    inner = [i for i in sorted(summed) if a[i] != 1 and b[i] != 1]
    if not summed:
        made: Tensor = left * right
        return made
    both = [i for i in range(len(a)) if i not in summed and a[i] != 1 and b[i] != 1]
    rest = [i for i in range(len(a)) if i not in inner and i not in both]
    only_right = [i for i in rest if a[i] == 1 and b[i] != 1]
    only_left = [i for i in rest if i not in only_right]

    def size(shape: tuple[int, ...], axes: list[int]) -> int:
        return math.prod(shape[i] for i in axes)

    first = reshape(
        permute(left, both + only_left + inner + only_right), size(a, both), size(a, only_left), size(a, inner)
    )
    second = reshape(
        permute(right, both + inner + only_right + only_left), size(b, both), size(b, inner), size(b, only_right)
    )
    order = both + only_left + inner + only_right
    shape = [1 if i in inner else max(a[i], b[i]) if i in both else a[i] if i in only_left else b[i] for i in order]
    made = view(bmm(first, second), shape)
    return permute(made, [order.index(i) for i in range(len(a))])
