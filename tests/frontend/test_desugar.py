"""Every feature of the language that desugaring removes: a program, and the smaller program it becomes."""

from __future__ import annotations

import builtins
import textwrap

import gast
import pytest

from srcgrad.ir.as_python import unparse
from srcgrad.frontend.desugar import desugar, expressions
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import parse, same_tree, walk

SMALLER = {
    "swap": ("a, b = b, a", "t = b; b = a; a = t"),
    "parallel, independent": ("a, b = x, y", "a = x; b = y"),
    "parallel, second reads first": ("a, b = x, a + 1", "t = x; b = a + 1; a = t"),
    "parallel, a constant waits": ("a, b = 1.0, a", "b = a; a = 1.0"),
    "parallel, a target twice": ("a, a = x, y", "t = x; t2 = y; a = t; a = t2"),
    "starred, of a display": ("a, *b, c = x, y, z, w", "a = x; b = [y, z]; c = w"),
    "starred, of a value": ("a, *b = f(x)", "a, *b = f(x)"),
    "starred display on the right": ("a, b = x, *y", "a, b = (x, *y)"),
    "nested": ("a, (b, [c, *d]) = f(x)", "a, t = f(x); b, t2 = t; c, *d = t2"),
    "nested, of displays": ("(a, b), c = (x, y), f(z)", "a = x; b = y; c = f(z)"),
    "nested, of a display and a value": ("(a, b), c = f(x), y", "t = f(x); c = y; a, b = t"),
    "chained": ("a = b = x + 1", "a = x + 1; b = a"),
    "chained name": ("a = b = x", "a = x; b = x"),
    "chained with a tuple": ("(a, b) = c = f(x)", "t = f(x); a, b = t; c = t"),
    "annotated": ("a: float = x", "a = x"),
    "annotation alone": ("a: float\nb = x", "b = x"),
    "pass": ("pass\na = x", "a = x"),
    "loop else": (
        """
        for v in xs:
            if v:
                break
            while v:
                break
        else:
            s = 1
        """,
        """
        broke = False
        for v in xs:
            if v:
                broke = True
                break
            while v:
                break
        if not broke:
            s = 1
        """,
    ),
    "loop else without a break": ("while x:\n    x = f(x)\nelse:\n    s = 1", "while x:\n    x = f(x)\ns = 1"),
    "break in the else of an inner loop": (
        """
        while x:
            for v in x:
                y = v
            else:
                break
        else:
            s = 1
        """,
        """
        broke = False
        while x:
            for v in x:
                y = v
            broke = True
            break
        if not broke:
            s = 1
        """,
    ),
    "match": (
        """
        match f(x):
            case 1 | -2:
                y = 1
            case None:
                y = 2
            case "a" if x > 0:
                y = 3
            case _:
                y = 4
        """,
        """
        subject = f(x)
        if subject == 1 or subject == -2:
            y = 1
        elif subject is None:
            y = 2
        elif subject == 'a' and x > 0:
            y = 3
        else:
            y = 4
        """,
    ),
    "match of a name": ("match x:\n    case 1:\n        y = 1", "if x == 1:\n    y = 1"),
    "early return": (
        """
        if c:
            return a
        s = b
        return s
        """,
        """
        if c:
            value = a
        else:
            s = b
            value = s
        return value
        """,
    ),
    "returns in a chain": (
        """
        if a:
            return 1
        elif b:
            raise ValueError
        elif c:
            x = 2
        else:
            return
        return x
        """,
        """
        if a:
            value = 1
        elif b:
            raise ValueError
        elif c:
            x = 2
            value = x
        else:
            value = None
        return value
        """,
    ),
    "what follows would be copied": (
        "if a:\n    if b:\n        return 1\n    x = 2\nreturn x",
        "if a:\n    if b:\n        return 1\n    x = 2\nreturn x",
    ),
    "return in a loop": (
        "if a:\n    return 1\nfor i in x:\n    return i\nreturn 2",
        "if a:\n    return 1\nfor i in x:\n    return i\nreturn 2",
    ),
    "return at the end of with": (
        "if a:\n    return 1\nwith m():\n    return x",
        "if a:\n    value = 1\nelse:\n    with m():\n        value = x\nreturn value",
    ),
    "falls off the end": (
        "if a:\n    return x\nb = 1",
        "if a:\n    value = x\nelse:\n    b = 1\n    value = None\nreturn value",
    ),
}


@pytest.mark.parametrize("name", SMALLER)
def test_a_feature_becomes_a_smaller_program(name):
    before, after = (textwrap.dedent(text).strip() for text in SMALLER[name])
    assert text_of(before) == canonical(after)


def test_returns_nested_deeper_than_eight_stay():
    body = "\n".join(f"if c == {k}:\n    return {k}" for k in range(12)) + "\nreturn x"
    assert text_of(body) == canonical(body)


def test_a_local_function_may_read_what_is_assigned():
    before = "g = lambda y: y * a\na, b = x, g(y)"
    assert text_of(before) == canonical("g = lambda y: y * a; t = x; b = g(y); a = t")


def test_the_tree_that_enters_is_not_changed():
    program = "for a, (b, c) in x:\n    if a:\n        break\nelse:\n    a, b = b, a"
    tree = parse(program)
    desugar(tree.body, names(tree).fresh, vars(builtins).get)
    assert same_tree(tree, parse(program))


def test_every_node_that_is_made_has_a_place():
    for before, _ in SMALLER.values():
        tree = parse(textwrap.dedent(before).strip())
        for node in walk(*desugar(tree.body, names(tree).fresh, vars(builtins).get)):
            if "lineno" in node._attributes:
                assert getattr(node, "lineno", None) is not None, unparse(node)


EXPRESSIONS = {
    "ternary": (lambda e: expressions.ternary(e, "t"), "a if c else b", "if c:\n    t = a\nelse:\n    t = b"),
    "and": (
        lambda e: expressions.short_circuit(e, "t"),
        "a and b and c",
        "t = a\nif t:\n    t = b\n    if t:\n        t = c",
    ),
    "or": (lambda e: expressions.short_circuit(e, "t"), "a or b", "t = a\nif not t:\n    t = b"),
    "chain": (
        lambda e: expressions.comparison_chain(e, "t", ["l", "m", "n"]),
        "a < b <= c != d",
        "l = a\nm = b\nt = l < m\nif t:\n    n = c\n    t = m <= n\n    if t:\n        t = n != d",
    ),
    "list comprehension": (
        lambda e: expressions.list_comprehension(e, "t"),
        "[v * w for v in xs if v if w for w in ys]",
        """
        t = []
        for v in xs:
            if v:
                if w:
                    for w in ys:
                        t.append(v * w)
        """,
    ),
    "sum": (
        lambda e: expressions.total(e, gast.Constant(0, None), "t"),
        "(v for v in xs)",
        "t = 0\nfor v in xs:\n    t = t + v",
    ),
    "any": (
        lambda e: expressions.any_or_all(e, "t", is_any=True),
        "(v for v in xs)",
        "t = False\nfor v in xs:\n    if v:\n        t = True\n        break",
    ),
    "all": (
        lambda e: expressions.any_or_all(e, "t", is_any=False),
        "(v for v in xs)",
        "t = True\nfor v in xs:\n    if not v:\n        t = False\n        break",
    ),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_an_expression_becomes_statements(name):
    take_apart, before, after = EXPRESSIONS[name]
    made = take_apart(parse(before).body[0].value)
    assert "\n".join(unparse(statement) for statement in made) == textwrap.dedent(after).strip()


def names(tree):
    return Namer(node.id for node in walk(tree) if isinstance(node, gast.Name))


def text_of(program):
    tree = parse(program)
    return "\n".join(unparse(statement) for statement in desugar(tree.body, names(tree).fresh, vars(builtins).get))


def canonical(program):
    return "\n".join(unparse(statement) for statement in parse(program).body)
