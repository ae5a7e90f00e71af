"""Programs that call what updates its object, in every position: the table of effects says what, this says where."""

from __future__ import annotations

from collections.abc import Iterator

_IMPORTS = """import bisect, heapq, operator
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np
"""
_ITEMS = "    s, k = 0.0, 1.0\n    for v in q{0}:\n        s, k = s + k * v, k + 0.5\n    return s\n"
_READ = {
    "sequence": _ITEMS.format(""),
    "mapping": _ITEMS.format(".values()"),
    "set": "    return a * sum([v for v in (1, 2, 3, 4, 5) if v in q])\n",
    "array": "    return np.sum(q * np.array([1.0, 1.5, 2.0, 2.5]))\n",
    "generator": "    return a * q.random()\n",
}
_SEQUENCE = """q.append(a * b)|q.extend([a * b, 2.0])|q.insert(0, a * b)|q.pop()|q.remove(q[0])|q.reverse()|q.clear()
q.__setitem__(0, a * b)|q.__delitem__(0)|q.__iadd__([a * b])|q.__imul__(2)|q.__init__([a * b])|operator.setitem(q, 0, a)
operator.iadd(q, [a * b])|bisect.insort(q, a * b)|getattr(q, 'append')(a * b)"""
_MAPPING = """q.update({'p': a * b})|q.update(p=a * b)|q.pop('p')|q.pop('z', 1.0)|q.popitem()|q.setdefault('z', a * b)
q.clear()
q.__setitem__('p', a * b)|q.__delitem__('p')|q.__ior__({'p': a * b})|q.__init__({'p': a * b})
operator.setitem(q, 'p', a)
dict.update(q, {'p': a * b})|getattr(q, 'update')({'p': a * b})"""
#: How each object is made and read, and what updates it.
OBJECTS: dict[str, tuple[str, str, str]] = {
    "list": (
        "sequence",
        "[a, b, a * b + 1.0]",
        f"{_SEQUENCE}\nq.sort()|q.sort(key=np.sin, reverse=True)|list.append(q, a * b)|heapq.heappush(q, a * b)"
        "|heapq.heapify(q)",
    ),
    "deque": (
        "sequence",
        "deque([a, b, a * b + 1.0])",
        f"{_SEQUENCE}\nq.appendleft(a * b)|q.extendleft([a * b, 2.0])|q.popleft()|q.rotate()"
        "|deque.extendleft(q, [a * b])",
    ),
    "dict": ("mapping", "{'p': a, 'q': b, 'r': 2.0 * a}", _MAPPING),
    "OrderedDict": (
        "mapping",
        "OrderedDict([('p', a), ('q', b), ('r', 2.0 * a)])",
        f"{_MAPPING}\nq.move_to_end('p')|q.popitem(last=False)",
    ),
    "defaultdict": (
        "mapping",
        "defaultdict(float, {'p': a, 'q': b, 'r': 2.0 * a})",
        f"{_MAPPING}\nq.__getitem__('z')|q.__missing__('z')",
    ),
    "Counter": (
        "mapping",
        "Counter({'p': a, 'q': b, 'r': 2.0 * a})",
        f"{_MAPPING}\nq.subtract({{'p': a * b}})|q._keep_positive()",
    ),
    "set": (
        "set",
        "{1, 2, 3}",
        """q.add(4)|q.discard(2)|q.remove(2)|q.pop()|q.clear()|q.update({4, 5})|q.difference_update({1})
q.intersection_update({1})|q.symmetric_difference_update({1, 5})|q.__ior__({5})|q.__isub__({1})|q.__init__({4})
set.add(q, 5)""",
    ),
    "ndarray": (
        "array",
        "np.array([a, b, a * b, a + b])",
        """q.fill(a * b)|q.sort()|q.partition(1)|q.put([0, 1], a * b)|q.itemset(0, a * b)|q.resize(4)|q.byteswap(True)
q.setfield(a * b, float)|q.setflags(write=False)|q.__setitem__(0, a * b)|q.__iadd__(a * b)|q.__imul__(a)
q.__itruediv__(a)
q.__ipow__(2)|q.clip(0.0, 0.5, q)|q.clip(0.0, 0.5, out=q)|q.cumsum(0, None, q)|q.round(1, q)|q.take([0, 1, 1, 2], out=q)
q.dot(a, q)|np.copyto(q, a * b)|np.put(q, [0], a * b)|np.putmask(q, [True, False, False, True], a * b)
np.add.at(q, [0], a)
np.random.default_rng(1).shuffle(q)|np.sin(q, q)|np.add(q, a, out=q)|np.einsum('i->i', q * a, out=q)
np.ndarray.fill(q, a)
np.nan_to_num(q * q, copy=False)|operator.iadd(q, a)|np.cumsum(q, 0, None, q)""",
    ),
    "Generator": (
        "generator",
        "np.random.default_rng(3)",
        "q.random()|q.normal(a)|q.integers(3)|q.permutation(3)|q.spawn(1)",
    ),
}
_CALLEE = "def g(q, a, b):\n    {0}\n    return 2.0\n\n\n"
_TAIL = "def g(q, a, b):\n    return {0}\n\n\n"
_MAKE = "def f(a, b):\n    q = {1}\n    s = 1.0\n"
_END = "    return s * read(q, a)\n"
POSITIONS: dict[str, str] = {
    "statement": _MAKE + "    {0}\n" + _END,
    "callee": _CALLEE + _MAKE + "    s = g(q, a, b)\n" + _END,
    "test of a callee": _CALLEE + _MAKE + "    if g(q, a, b) > 1.0:\n        s = 3.0\n" + _END,
    "test": _MAKE + "    if ({0}) is None:\n        s = 3.0\n" + _END,
    "tail": _TAIL + _MAKE + "    g(q, a, b)\n" + _END,
    "test of a tail": _TAIL + _MAKE + "    if g(q, a, b) is None:\n        s = 3.0\n" + _END,
    "index": _MAKE + "    s = [a, b][int(({0}) is None)]\n" + _END,
    "index of a tail": _TAIL + _MAKE + "    s = [a, b][int(g(q, a, b) is None)]\n" + _END,
    "default": _MAKE + "    def h(k=({0})):\n        return 2.0 * a\n    s = h()\n" + _END,
    "comprehension": _MAKE + "    s = len([{0} for _ in range(1)])\n" + _END,
    "condition of a comprehension": _TAIL
    + _MAKE
    + "    s = 1.0 + len([0 for _ in (0, 1) if g(q, a, b) is None])\n"
    + _END,
    "try": _MAKE + "    try:\n        {0}\n        s = 2.0\n    except Exception:\n        s = 3.0\n" + _END,
    "try of a callee": _CALLEE
    + _MAKE
    + "    try:\n        s = g(q, a, b)\n    except Exception:\n        s = 3.0\n"
    + _END,
    "lambda": _MAKE + "    h = lambda: {0}\n    s = 1.0 if h() is None else 2.0\n" + _END,
    "text": _TAIL + _MAKE + "    t = f'{{g(q, a, b)}}'\n" + _END,
    "item": "def g(o, a, b):\n    q = o[0]\n    {0}\n    return 2.0\n\n\n"
    + _MAKE
    + "    if g([q], a, b) > 1.0:\n        s = b\n"
    + _END,
    "while": _CALLEE + _MAKE + "    n = 0\n    while n < g(q, a, b):\n        n += 1\n" + _END,
    "range": _CALLEE + _MAKE + "    for k in range(int(g(q, a, b))):\n        s = s + a\n" + _END,
    "assertion": _CALLEE + _MAKE + "    assert g(q, a, b) == 2.0\n" + _END,
    "alias": _MAKE + "    p = q\n    q = p\n    if ({0}) is not None and a > 0.0:\n        s = 2.0\n    q = p\n" + _END,
}


def programs() -> Iterator[tuple[str, str]]:
    """A name and the text of a module with ``f(a, b)``, for each update in each position."""
    for name, (kind, made, updates) in OBJECTS.items():
        for update in updates.replace("\n", "|").split("|"):
            for position, text in POSITIONS.items():
                module = f"{_IMPORTS}\n\ndef read(q, a):\n{_READ[kind]}\n\n{text.format(update, made)}"
                yield f"{name}: {update} in {position}", module
