"""Trees before and after cells are put in place of names that local functions bind."""

from __future__ import annotations

import gast
import pytest



def rewritten(text: str) -> str:
    (node,) = gast.parse(text).body
    with_cells(node)
    return str(gast.unparse(node)).strip().replace("nonlocal \n", "nonlocal\n")


def test_a_name_is_a_list_of_one_item_wherever_it_means_the_same():
    assert (
        rewritten("""
def f(x, n):
    'doc'
    total: float = 0.0
    count = 0
    def add(v, start=count):
        nonlocal total, count, n
        total += v
        n, count = count, n
        return [total for total in v if count] + [(lambda n: n + count)(v)]
    def other(total):
        return total
    return add(x) + total
""")
        == """def f(x, n):
    \"\"\"doc\"\"\"
    total = [None]
    n = [n]
    total[0]: float = 0.0
    count = [0]

    def add(v, start=count[0]):
        nonlocal
        total[0] += v
        n[0], count[0] = (count[0], n[0])
        return [total for total in v if count[0]] + [(lambda n: n + count[0])(v)]

    def other(total):
        return total
    return add(x) + total[0]"""
    )


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    t = x\n    def g():\n        nonlocal t\n        (t := 1.0)\n    return t",
        "def f(x):\n    t = x\n    def g():\n        nonlocal t\n        t = 1.0\n    del t\n    return x",
        "def f(x):\n    t = x\n    def g():\n        nonlocal t\n        return t\n    return g()",
    ],
)
def test_what_a_list_cannot_stand_for_stays(text):
    (node,) = gast.parse(text).body
    assert rewritten(text) == str(gast.unparse(node)).strip()
