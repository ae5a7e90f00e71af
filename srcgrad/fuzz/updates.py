"""What updates a container or an array, where no statement of its own stands: in a test, an index, a text or a
comprehension.  Each is a function of the module as well, which is called there.
"""

from __future__ import annotations

import re

#: How an object is made of a number, what updates it, and a number that is read of it after that.
UPDATES = (
    ("[{v}, 0.5]",
     "q.append(v * v)|q.extend([v, 0.25])|q.insert(0, v)|q.reverse()|q.sort()|q.__setitem__(0, v * v)",
     "{q}[0] * {q}[-1]"),
    ("deque([{v}, 0.5])",
     "q.append(v * v)|q.appendleft(v * v)|q.extendleft([v * v, v])|q.rotate()|q.reverse()",
     "{q}[0] * {q}[1]"),
    ("{{'p': {v}, 'r': 0.5}}",
     "q.update({'p': v * v})|q.update(p=v * v)|q.setdefault('z', v)|q.pop('r')",
     "{q}['p']"),
    ("np.array([{v}, 0.5])",
     "q.fill(v * v)|q.sort()|q.put([0], v * v)|q.__imul__(v)|q.__iadd__(v * q)"
     "|q.clip(-0.3, 0.3, q)|q.cumsum(0, None, q)|np.add(q, v * q, out=q)|np.multiply(q, v, q)|np.copyto(q, v * q)",
     "np.sum({q} * {q})"),
)  # fmt: skip
#: Where the call of a function stands, and what number it leaves.
POSITIONS = (
    ("if {call} is None or {v} > -9.0:", "    {s} = {read}"),
    ("{s} = [{v}, 1.0][int({call} is None)]", "{s} = {s} + {read}"),
    # The length of the text itself would change with the value.
    ('{s} = {v} * len([f"{{{call}}}"])', "{s} = np.sin({s}) * {read}"),
    ("{s} = 1.0 + len([k for k in (0, 1) if {call} is None])", "{s} = {s} * {read}"),
    ("assert {call} is None or True", "{s} = {read}"),
    ("{s} = {v} if len([{call}]) > 0 else 1.0", "{s} = {s} * {read}"),
    ("{call}", "{s} = {read}"),
)


def updating(kind: int, place: int, q: str, v: str) -> str:
    """The text of an update itself, of an object called ``q`` by a number called ``v``."""
    return re.sub(r"\b[qv]\b", lambda found: {"q": q, "v": v}[found[0]], UPDATES[kind][1].split("|")[place])


_EACH = [(k, j, update) for k, (_, updates, _) in enumerate(UPDATES) for j, update in enumerate(updates.split("|"))]
#: The marks and the text of each function, for the module.
FUNCTIONS = tuple(
    ((f"update{k}_{j}(",), f"def update{k}_{j}(q, v):\n    return {update}\n\n\n") for k, j, update in _EACH
)
