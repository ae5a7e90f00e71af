"""Trees: from text, copied, compared, and the names they read."""

from __future__ import annotations

import ast
import doctest
import importlib

import gast
import pytest

from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.globals import reference
from srcgrad.syntax.parse import (
    children,
    clone,
    from_ast,
    located,
    names_bound,
    names_read,
    parameters_of,
    parse,
    quote,
    quote_statements,
    same_tree,
    walk,
)

PROGRAM = '''
import os as system, sys
from a.b import (c, d as e)
@decorator(1)
async def g(p, /, a: int = 1, *rest, k=2, l, **more) -> "text":
    """Docstring."""
    async with a as b, c: pass
    async for i in j: await k
    return [x async for x in y if z]
class C(Base, metaclass=M):
    x: int = 1
    y: float
def f(x, *, y=(1, 2)):
    global G
    def inner():
        nonlocal x
        x += 1; del x
    for a, (b, *c) in d:
        while a < b <= c != d is not None:
            if a and not b or c: break
            elif ~a: continue
            else: pass
        else: a = b = c[1:2, ..., ::3].attr
    try: raise E from None
    except (A, B) as error: print(error)
    except C: pass
    else: pass
    finally: assert a, f"{a!r:>{width}} text {b=}"
    with open(p) as q, r: a @= b // c ** -d
    match a:
        case 1 | None | "s" | -1: pass
        case [x, *rest, {"k": v, **kw}]: pass
        case Point(x=0, y=_) as point if point: pass
    yield (yield from lambda u, *v, w=1: (u if v else {**w, "k": 1, 2: {3, 4}}))
    return {a: b for a in c for d in e if f}, {a for a in b}, (a for a in b), [*a, *b], (y := 1), f(*a, k=1, **b)
'''


def test_our_conversion_gives_what_gast_gives() -> None:
    ours, theirs = from_ast(ast.parse(PROGRAM)), gast.parse(PROGRAM)
    assert gast.dump(ours) == gast.dump(theirs)
    for a, b in zip(ast.walk(ours), ast.walk(theirs)):
        if hasattr(b, "lineno"):  # gast leaves the name of an exception without a place
            assert [getattr(a, place) for place in b._attributes] == [getattr(b, place) for place in b._attributes]


def test_every_field_of_every_node_is_present() -> None:
    for node in walk(parse(PROGRAM)):
        assert all(hasattr(node, field) for field in node._fields), gast.dump(node)


def test_a_clone_is_equal_and_shares_nothing_that_could_change() -> None:
    tree = parse(PROGRAM)
    copy = clone(tree)
    assert gast.dump(copy, include_attributes=True) == gast.dump(tree, include_attributes=True)
    originals = {id(node) for node in walk(tree) if node._fields or node._attributes}
    assert not any(id(node) in originals for node in walk(copy))
    assert not {id(node.body) for node in walk(tree) if hasattr(node, "body")} & {
        id(node.body) for node in walk(copy) if hasattr(node, "body")
    }


def test_a_clone_shares_references_to_globals() -> None:
    leaf = reference(GlobalBinding("np", ast, "ast"))
    call = gast.Call(leaf, [gast.Name("x", gast.Load(), None, None)], [])
    copy = clone(call)
    assert copy is not call and copy.func is leaf and copy.args[0] is not call.args[0]
    assert clone(leaf) is leaf


def test_a_comment_is_a_leaf_statement() -> None:
    comment = Comment("s = s + 1")
    assert isinstance(comment, gast.stmt) and list(children(comment)) == []
    copy = clone(comment)
    assert copy is not comment and copy.text == "s = s + 1"
    assert same_tree(comment, copy) and not same_tree(comment, Comment("other"))


def test_deep_trees_need_no_recursion() -> None:
    tree: gast.expr = gast.Name("x", gast.Load(), None, None)
    for _ in range(6_000):
        tree = gast.BinOp(tree, gast.Add(), gast.Name("y", gast.Load(), None, None))
    copy = clone(tree)
    assert same_tree(tree, copy)
    assert names_read(tree) == ["x", "y"]
    located(copy, quote_at(3))
    assert copy.lineno == 3
    assert sum(1 for _ in walk(tree)) == 18_001
    assert from_ast(ast.parse("+".join(["x"] * 800), mode="eval").body).op is not None


def quote_at(line: int) -> gast.expr:
    return parse("\n" * (line - 1) + "z").body[0].value


def test_quote_has_no_place_until_it_is_located() -> None:
    tree = quote("  a + b[i]\n")
    assert not any(hasattr(node, "lineno") for node in walk(tree))
    tree.left.lineno = 1
    located(tree, quote_at(7))
    assert (tree.lineno, tree.left.lineno, tree.right.slice.lineno) == (7, 1, 7)
    first, second = quote_statements("x = 1\nreturn x")
    assert isinstance(first, gast.Assign) and isinstance(second, gast.Return) and not hasattr(second, "lineno")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("b + a * b", ["b", "a"]),
        ("x[i:j, k].T", ["x", "i", "j", "k"]),
        ("f(x, *y, k=z, **w)", ["f", "x", "y", "z", "w"]),
        ("lambda x, y=z, *a: x + y + a + w", ["z", "w"]),
        ("[x + c for x in xs if x > d]", ["xs", "d", "c"]),
        ("[x for x in x]", ["x"]),
        ("[y for x in xs for y in x]", ["xs"]),
        ("{k: v + a for k, (v, *_) in items}", ["items", "a"]),
        ("(n := x) + n", ["x", "n"]),
        ("f'{a:{b}}'", ["a", "b"]),
        ("a if b else c", ["b", "a", "c"]),
        ("1.0", []),
    ],
)
def test_names_read(text: str, names: list[str]) -> None:
    assert sorted(names_read(quote(text))) == sorted(names)
    assert names_read(quote(text))[:1] == names[:1]


def test_references_to_globals_are_not_read_as_locals() -> None:
    leaf = reference(GlobalBinding("np", ast, "ast"))
    assert names_read(gast.Attribute(leaf, "pi", gast.Load())) == []


def test_names_bound() -> None:
    loop = parse("for (a, [b, *c]), d[e], f.g in x: pass").body[0]
    assert names_bound(loop.target) == {"a", "b", "c"}
    function = parse("def f(a, /, b, *c, d=1, **e): pass").body[0]
    assert parameters_of(function.args) == {"a", "b", "c", "d", "e"}


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("a + b", "(a  +  b)", True),
        ("'x'", '"x"', True),
        ("1", "1.0", False),
        ("1", "True", False),
        ("0.0", "-0.0", False),
        ("a + b", "a - b", False),
        ("f(x)", "f(x, y)", False),
        ("f(x)", "f(x=x)", False),
        ("x[1:]", "x[1:None]", False),
        ("1e400 - 1e400", "1e400 - 1e400", True),
    ],
)
def test_same_tree(left: str, right: str, same: bool) -> None:
    assert same_tree(quote(left), quote(right)) is same


def test_not_a_number_is_the_same_program_as_itself() -> None:
    assert same_tree(gast.Constant(float("nan"), None), gast.Constant(float("nan"), None))
    assert not same_tree(gast.Constant(float("nan"), None), gast.Constant(0.0, None))


def test_references_are_the_same_when_they_mean_the_same_object_for_good() -> None:
    a, b = reference(GlobalBinding("np", ast)), reference(GlobalBinding("numpy", ast))
    assert same_tree(a, b)
    assert not same_tree(a, reference(GlobalBinding("np", gast)))
    assert not same_tree(a, gast.Name("np", gast.Load(), None, None))
    changing = GlobalBinding("G", 1.0, cell=lambda: 1.0)
    assert same_tree(reference(changing), reference(changing))
    assert not same_tree(reference(changing), reference(GlobalBinding("G", 1.0, cell=lambda: 1.0)))


@pytest.mark.parametrize("module", ["parse", "globals", "namer", "comment"])
def test_the_examples_of_the_modules(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"srcgrad.syntax.{module}"))
    assert result.attempted > 0 == result.failed
