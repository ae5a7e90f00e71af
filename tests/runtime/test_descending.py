"""What walks over nested values meets no limit on recursion, once met from some 450 links of a list on."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import srcgrad
from srcgrad import runtime
from srcgrad.runtime.shadows import cloned

LINKS = 3000


def linked():
    head = None
    for k in range(LINKS):
        head = SimpleNamespace(value=float(k), next=head)
    return head


def length(link):
    count = 0
    while link is not None:
        link = link["next"] if isinstance(link, dict) else link.next
        count += 1
    return count


WALKERS = {
    "shadow": runtime.shadow,
    "zeros_like": runtime.zeros_like,
    "add": lambda x: runtime.add(runtime.zeros_like(x), runtime.zeros_like(x)),
    "add nothing": lambda x: runtime.add(runtime.zeros_like(x), None),
    "frozen": runtime.frozen,
    "cloned": cloned,
    "entering": runtime.entering,
    "private": lambda x: runtime.private(x),
    "tangent_like": lambda x: runtime.tangent_like(runtime.entering(x), x),
    "items_like": lambda x: runtime.items_like(x, x.value, None),
    "unshared": lambda x: runtime.unshared(runtime.zeros_like(x)),
    "own_adjoint": lambda x: runtime.own_adjoint(runtime.zeros_like(x), np.zeros(2)),
}


@pytest.mark.parametrize("name", WALKERS)
def test_a_long_list_is_walked(name):
    assert length(WALKERS[name](linked())) == LINKS


class Link:
    def __init__(self, value, next):
        self.value = value
        self.next = next


def reversed_in_place(x, n):
    head = None
    for k in range(n):
        head = Link(x * k, head)
    before = None
    while head is not None:
        following = head.next
        head.next = before
        before, head = head, following
    total = 0.0
    while before is not None:
        total = 0.5 * total + before.value
        before = before.next
    return total


def test_a_long_list_is_differentiated():
    slope = reversed_in_place(1.0, 1200)
    assert np.allclose(srcgrad.grad(reversed_in_place)(0.7, 1200), slope, rtol=1e-12)
