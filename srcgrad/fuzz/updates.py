"""What updates a container or an array, for programs to call where no statement of its own stands.

Each is a function of the module, so that a call of it may be nested in a test, an index, a text or a comprehension.
"""

from __future__ import annotations

#: How an object is made of a number, what updates it, and a number that is read of it after that.
UPDATES = (
    ("[{v}, 0.5]",
     "append(v * v)|extend([v, 0.25])|insert(0, v)|reverse()|sort()|__setitem__(0, v * v)",
     "{q}[0] * {q}[-1]"),
    ("deque([{v}, 0.5])",
     "append(v * v)|appendleft(v * v)|extendleft([v * v, v])|rotate()|reverse()",
     "{q}[0] * {q}[1]"),
    ("{{'p': {v}, 'r': 0.5}}",
     "update({'p': v * v})|update(p=v * v)|setdefault('z', v)|pop('r')",
     "{q}['p']"),
    ("np.array([{v}, 0.5])",
     "fill(v * v)|sort()|put([0], v * v)|__imul__(v)"
     "|clip(-0.3, 0.3, q)|cumsum(0, None, q)",
     "np.sum({q} * {q})"),
)  # fmt: skip
#: Where the call of a function stands, and what number it leaves.
POSITIONS = (
    ("if {call} is None or {v} > -9.0:", "    {s} = {read}"),
    ("{s} = [{v}, 1.0][int({call} is None)]", "{s} = {s} + {read}"),
    # The length of the text itself would change with the value.
    ("{s} = {v} * len([f'{{{call}}}'])", "{s} = np.sin({s}) * {read}"),
    ("{s} = 1.0 + len([k for k in (0, 1) if {call} is None])", "{s} = {s} * {read}"),
    ("assert {call} is None or True", "{s} = {read}"),
    ("{call}", "{s} = {read}"),
)
_EACH = [(k, j, update) for k, (_, updates, _) in enumerate(UPDATES) for j, update in enumerate(updates.split("|"))]
#: The marks and the text of each function, for the module.
FUNCTIONS = tuple(
    ((f"update{k}_{j}(",), f"def update{k}_{j}(q, v):\n    return q.{update}\n\n\n") for k, j, update in _EACH
)
