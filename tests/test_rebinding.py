"""What is compiled is what runs: names, methods, code and defaults that are bound again between two calls.

A module is written to a file and imported; between two calls one statement changes what its functions mean.  Value and
derivatives must be those of the function as it is then, in every mode, and nothing may be compiled again before.
"""

from __future__ import annotations

import abc
import gc
import importlib
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import srcgrad
import srcgrad.eager as torch
from srcgrad import grad, hvp, jvp, value_and_grad, vjp
from srcgrad.check import check_grads

CELLS = itertools.count()
"""One number a cell: what was registered for an earlier one stays readable."""

MODULE = """
import functools
from collections import defaultdict
from types import ModuleType
from typing import NamedTuple
import numpy as np
import {name}_parts as parts
import {name}_parts.inner

def square(x):
    return x * x

def cube(x, scale=1.0):
    return x * x * x * scale

act = np.sin
def first(given, x, options=None):
    return x * x * given[0] * (options or {"a": 1.0})["a"]

power = functools.partial(cube, scale=2.0)
by_list = functools.partial(first, [2.0, 3.0], options={"a": 2.0})
derived = srcgrad_grad(lambda x: np.sum(square(x)))
total = functools.partial(lambda k, x: np.sum(x**2 * k), 2.0)
derived_of_partial, in_a_list = srcgrad_grad(total), [functools.partial(cube), srcgrad_grad(total)]
by_names = defaultdict(lambda: 2.0, act=square)

class Base:
    slope = 3.0

    def inherited(self, x):
        return x * x

class Model(Base):
    def method(self, x):
        return np.sin(x)

    @property
    def twice(self):
        return 2.0

    @staticmethod
    def fixed(x):
        return x * 4.0

    def __call__(self, x):
        return x * 5.0

    def __mul__(self, x):
        return x * 6.0

class Other:
    def method(self, x):
        return np.exp(x)

    def __call__(self, x):
        return np.exp(x)

class Cached:
    def __init__(self, x):
        self.x = x

    @functools.cached_property
    def field(self):
        return self.x * 3.0

    @classmethod
    def made(cls, x, k=2.0):
        return np.sum(x * x * k)

made_up = Cached.made

class Pair(NamedTuple):
    a: float
    b: float = 3.0

class Setting:
    __match_args__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b

squared, each, FAR = functools.partial(cube), np.vectorize(lambda v: v * v), 1.0
model, pair, scale_of_all = Model(), Pair(1.0, 2.0), 1.5

def closure():
    inner = np.sin
    def f(x):
        return np.sum(inner(x))
    def rebind(g):
        nonlocal inner
        inner = g
    return f, rebind

held, rebind = closure()
other_parts = ModuleType('parts')
other_parts.inner = ModuleType('inner')
other_parts.inner.deep = square

def by_name(x): return np.sum(act(x))
def by_helper(x): return np.sum(square(x)) + np.sum(parts.helper(x))
def by_inner(x): return np.sum(parts.inner.deep(x))
def by_local_import(x):
    from {name}_parts import helper
    return np.sum(helper(x))
def by_class(x): return np.sum(Model().method(x))
def by_method(x): return np.sum(model.method(x))
def by_base(x): return np.sum(model.inherited(x) * model.slope)
def by_property(x): return np.sum(x * x * model.twice)
def by_static(x): return np.sum(Model.fixed(x) * x)
def by_call(x): return np.sum(model(x) * x)
def by_operator(x): return np.sum((model * x) * x)
def by_tuple(x): return np.sum(x * x) * (pair + pair)[0]
def by_builtin(x): return np.sum(abs(x) * x)
def by_partial(x): return np.sum(power(x))
def by_items(x): return np.sum(by_list(x))
def by_default(x): return np.sum(cube(x))
def by_gradient(x): return np.sum(grad(by_name)(x) ** 2) + np.sum(derived(x) ** 2)
def by_number(x): return np.sum(x * x * parts.RATE)
def by_axis(x): return np.sum(np.sum(x[None, :] * x[:, None] * x, axis=parts.AXIS) ** 2)
def by_added(x): return np.sum(squared(x))
def by_absent(x): return np.sum(x * x * parts.SLOPE) if hasattr(parts, "SLOPE") else np.sum(x * x)
def by_attempt(x):
    try:
        slope = parts.SLOPE
    except AttributeError:
        slope = 1.0
    return np.sum(x * x * slope)
def by_branch(x): return np.sum(x * x) if x[0] < FAR else np.sum(parts.later(x))
def by_vectorized(x): return np.sum(each(x))
def by_pattern(x):
    match Setting(x * x, x):
        case Setting(a, b):
            return np.sum(a * a * b)
def by_fields(x): return np.sum(x * Pair(2.0).b)
def by_cached(x): return np.sum(Cached(x).field * x)
def by_class_method(x): return made_up(x)
def by_derived(x): return np.sum(derived_of_partial(x) * x)
def by_list_of_them(x): return np.sum(in_a_list[0](x) * in_a_list[1](x))
def by_factory(x): return np.sum(by_names["act"](x)) * by_names.default_factory()
def by_value(x): return np.sum(sum(map(act, [x, x * x])))
def grad(f): return srcgrad_grad(f)
grad = srcgrad_grad
"""
PARTS = """
import numpy as np
from {name}_parts import inner
RATE, AXIS = 2.0, 0
def helper(x):
    return x * x * 7.0
"""
INNER = "def deep(x):\n    return x * x * x\n"

#: The function that is differentiated, and the statement that changes what it means.
REBINDING = {
    "a global callee": ("by_name", "act = np.cos"),
    "a global callee that is a user's": ("by_name", "act = cube"),
    "a global callee that becomes an object": ("by_name", "act = Other()"),
    "a helper defined again": ("by_helper", "def square(x):\n    return np.exp(x)"),
    "an attribute of a module": ("by_helper", "parts.helper = cube"),
    "an attribute of a module inside": ("by_inner", "parts.inner.deep = np.sin"),
    "a module under a name": ("by_inner", "parts = other_parts"),
    "a name imported inside": ("by_local_import", "parts.helper = np.sin"),
    "a class": ("by_class", "Model = Other"),
    "an object of another class": ("by_method", "model = Other()"),
    "a method": ("by_method", "Model.method = lambda self, x: np.tanh(x)"),
    "a method that hides that of a base": ("by_base", "Model.inherited = lambda self, x: np.tanh(x)"),
    "a method of a base": ("by_base", "Base.inherited = lambda self, x: np.tanh(x)"),
    "the bases": ("by_base", "Model.__bases__ = (type('Base', (Base,), {'inherited': lambda self, x: np.tanh(x)}),)"),
    "a number of a class": ("by_base", "Base.slope = np.array([1.0, 2.0])"),
    "a property": ("by_property", "Model.twice = property(lambda self: 9.0)"),
    "a static method": ("by_static", "Model.fixed = staticmethod(np.tanh)"),
    "__call__": ("by_call", "Model.__call__ = lambda self, x: np.tanh(x)"),
    "an operator": ("by_operator", "Model.__mul__ = lambda self, x: np.tanh(x)"),
    "an operator of a tuple": ("by_tuple", "Pair.__add__ = lambda self, other: (7.0, 8.0)"),
    "a builtin": ("by_builtin", "abs = np.exp"),
    "a partial application": ("by_partial", "power = functools.partial(cube, scale=5.0)"),
    "a keyword of a partial application": ("by_partial", "power.keywords['scale'] = 5.0"),
    "an item of a list in a partial application": ("by_items", "by_list.args[0][0] = 5.0"),
    "an item of a dict in a partial application": ("by_items", "by_list.keywords['options']['a'] = 5.0"),
    "a list in a partial application": ("by_items", "by_list.args[0].insert(0, 5)"),
    "a dict in a partial application": ("by_items", "by_list.keywords['options'] = {'a': 5.0, 'b': 1.0}"),
    "defaults": ("by_default", "cube.__defaults__ = (5.0,)"),
    "code": ("by_default", "cube.__code__ = (lambda x, scale=1.0: np.tanh(x)).__code__"),
    "code of the function itself": ("by_default", "by_default.__code__ = by_name.__code__"),
    "a closure variable": ("held", "rebind(np.cos)"),
    "a callee of a gradient": ("by_gradient", "act = np.cos"),
    "a callee of a gradient that is a global": ("by_gradient", "def square(x):\n    return np.exp(x)"),
    "a number of a module": ("by_number", "parts.RATE = np.array([2.0, 3.0])"),
    "an axis": ("by_axis", "parts.AXIS = 1"),
    "a keyword that a partial application gets": ("by_added", "squared.keywords['scale'] = 5.0"),
    "an attribute that a module gets": ("by_absent", "parts.SLOPE = np.array([2.0, 3.0])"),
    "an attribute that a module gets, in an attempt": ("by_attempt", "parts.SLOPE = 2.0"),
    "a callee that a module gets": ("by_branch", "parts.later, FAR = np.exp, -1.0"),
    "the function of np.vectorize": ("by_vectorized", "each.pyfunc = lambda v: v * v * v"),
    "what a pattern reads": ("by_pattern", "Setting.__match_args__ = ('b', 'a')"),
    "defaults of a named tuple": ("by_fields", "Pair.__new__.__defaults__ = (5.0,)"),
    "a field of a named tuple": ("by_fields", "Pair.b = Pair.a"),
    "the state of a partial application": ("by_partial", "power.__setstate__((first, ([3.0],), {}, {}))"),
    "the state of one in a list": ("by_list_of_them", "in_a_list[0].__setstate__((square, (), {}, {}))"),
    "the state of one that is differentiated": ("by_derived", "total.__setstate__((total.func, (5.0,), {}, {}))"),
    "the same in a list": ("by_list_of_them", "total.__setstate__((total.func, (5.0,), {}, {}))"),
    "the function of a cached property": ("by_cached", "vars(Cached)['field'].func = lambda self: self.x**3"),
    "a default of a class method": ("by_class_method", "Cached.made.__func__.__defaults__ = (5.0,)"),
    "the default of a dict": ("by_factory", "by_names.default_factory = lambda: 5.0"),
    "an item of a dict with a default": ("by_factory", "by_names['act'] = np.sin"),
    "a function that is a value": ("by_value", "act = np.cos"),
}  # fmt: skip
#: Those that every mode is asked for; the others reverse, as a pair and as one function, and forward.
EVERYWHERE = ("a global callee", "an attribute of a module", "a class", "a method", "an operator", "code", "defaults")
READ_AGAIN = {
    "a number of a class", "a function that is a value", "an item of a list in a partial application",
    "an item of a dict in a partial application", "a list in a partial application",
}
X = np.array([0.3, 0.7])
V = np.array([1.0, -2.0])


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    name = "rebound"
    (tmp_path / f"{name}_parts").mkdir()
    (tmp_path / f"{name}_parts" / "__init__.py").write_text(PARTS.format(name=name))
    (tmp_path / f"{name}_parts" / "inner.py").write_text(INNER)
    text = MODULE.replace("{name}", name)
    (tmp_path / f"{name}.py").write_text("from srcgrad import grad as srcgrad_grad\n" + text)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield importlib.import_module(name)
    for each in [each for each in sys.modules if each.startswith(name)]:
        del sys.modules[each]


def central(f: Callable[..., Any], x: np.ndarray, v: np.ndarray, h: float = 1e-5) -> Any:
    return (f(x + h * v) - f(x - h * v)) / (2.0 * h)


def changed(module: ModuleType, statement: str) -> None:
    """Run a statement in the module, as a cell of a notebook does; its text can be read."""
    import linecache

    filename = f"<cell {next(CELLS)}>"
    linecache.cache[filename] = (len(statement), None, [f"{line}\n" for line in statement.split("\n")], filename)
    exec(compile(statement, filename, "exec"), vars(module))


def tensors(f: Callable[..., Any], x: np.ndarray) -> tuple[Any, Any]:
    leaf = torch.tensor(x, requires_grad=True)
    value = srcgrad.compile(f)(leaf)
    value.backward()
    return value.detach().item(), leaf.grad.numpy()


@pytest.mark.parametrize("kind", REBINDING)
@pytest.mark.costly(4, first=1)
def test_every_mode_follows(module: ModuleType, kind: str) -> None:
    name, statement = REBINDING[kind]
    f = getattr(module, name)
    both, second = value_and_grad(f), hvp(f)

    def pulled(x: np.ndarray) -> tuple[Any, Any]:
        value, pullback = vjp(f, x)
        return value, pullback(1.0)[0]

    def pushed(x: np.ndarray) -> tuple[Any, Any]:
        return jvp(f, (x,), (V,))

    def look() -> list[Any]:
        made = [both(X), pulled(X), pushed(X)]
        return [*made, tensors(f, X), second(X, V)] if kind in EVERYWHERE else made

    look()
    programs = both.program((X,))
    look()
    assert both.program((X,)) is programs, "nothing has changed"
    before = f(X)
    changed(module, statement)
    found = look()
    value, slope = f(X), central(f, X, V)
    assert value != before, "the statement must show"
    assert both.program((X,)) is not programs or kind in READ_AGAIN
    for mode, (got, derivative) in zip(("value_and_grad", "vjp", "jvp", "eager"), found, strict=False):
        along = derivative if mode == "jvp" else derivative @ V
        np.testing.assert_allclose([got, along], [value, slope], rtol=1e-7, err_msg=mode)
    if len(found) > 4:
        np.testing.assert_allclose(found[4], central(lambda x: both(x)[1], X, V), rtol=1e-6, err_msg="hvp")
    if kind in EVERYWHERE:
        check_grads(f, X, order=1, modes=("eager",))


def test_a_module_is_loaded_again(module: ModuleType, tmp_path: Path) -> None:
    derivative = value_and_grad(module.by_helper)
    derivative(X)
    path = tmp_path / "rebound_parts" / "__init__.py"
    path.write_text(PARTS.format(name="rebound").replace("x * x * 7.0", "np.sin(x) * 70.0"))
    importlib.reload(module.parts)
    value, gradient = derivative(X)
    np.testing.assert_allclose([value, gradient @ V], [module.by_helper(X), central(module.by_helper, X, V)], rtol=1e-7)


def test_what_is_shown_and_saved_follows(module: ModuleType, tmp_path: Path) -> None:
    derivative = grad(module.by_name)
    assert "np.cos(x)" in derivative.source
    changed(module, "act = np.exp")
    assert "exp as act" in derivative.source and "np.cos(x)" not in derivative.source
    derivative.save(tmp_path / "saved_gradient.py")
    assert "exp as act" in (tmp_path / "saved_gradient.py").read_text()


def test_an_object_that_is_called(module: ModuleType) -> None:
    derivative = value_and_grad(module.model)
    assert derivative(0.5) == (2.5, 5.0)
    changed(module, "def call(self, x, power=3):\n    return x**power\n\nModel.__call__ = call")
    assert derivative(0.5) == (0.125, 0.75)
    changed(module, "Model.__call__.__defaults__ = (2,)")
    assert derivative(0.5) == (0.25, 1.0)
    vjp(module.model, 0.5)
    assert vars(module.model) == {}


def test_a_field_that_hides_a_method_is_refused(module: ModuleType) -> None:
    derivative = grad(module.by_method)
    derivative(X)
    module.model.method = np.tanh
    with pytest.raises(srcgrad.UnsupportedSyntax, match="a method as a value"):
        derivative(X)


def test_a_name_that_is_gone_is_refused(module: ModuleType) -> None:
    derivative = grad(module.by_name)
    derivative(X)
    del module.act
    with pytest.raises(srcgrad.UnresolvedName, match="'act' is not defined"):
        derivative(X)


@pytest.mark.nightly
def test_programs_of_helpers_that_are_gone_are_not_kept(module: ModuleType) -> None:
    derivative = grad(module.by_helper)
    sizes = []
    for k in range(6):
        changed(module, f"def square(x):\n    return x * {k}.0")
        derivative(X), derivative(X[0])
        if k in (2, 5):
            gc.collect()
            sizes.append(sum(type(one).__name__ == "Compiled" for one in gc.get_objects()))
    assert sizes[0] == sizes[1]


class Plain:
    def __init__(self, w):
        self.w = w


class Registry(abc.ABC):
    """An abstract class, of which other classes are registered as subclasses."""


def by_registry(a, o):
    return a * o.w * (5.0 if isinstance(o, Registry) else 7.0)


def test_a_class_that_is_registered_later():
    kind, derivative = type("Registered", (Plain,), {}), value_and_grad(by_registry)
    for expected in (14.0, 10.0):  # the class says which objects are instances
        assert derivative(1.0, kind(2.0)) == (expected, expected)
        Registry.register(kind)


def by_product(x, w):
    return np.sum(x * w)


@pytest.mark.parametrize("specialise", [True, False])
def test_a_class_that_gets_an_operator_is_refused(specialise: bool) -> None:
    kind: Any = type("Weights", (np.memmap,), {})
    w, derivative = np.array([2.0, 3.0]).view(kind), grad(by_product)
    with srcgrad.options(specialise=specialise):
        np.testing.assert_array_equal(derivative(X, w), [2.0, 3.0])
        kind.__rmul__ = lambda self, x: x * 10.0
        with pytest.raises(srcgrad.ArgumentError, match="whose __rmul__ decides"):
            derivative(X, w)


def by_kind_of_key(a, d):
    s = 0.0
    for k, v in d.items():
        s = s + v * a * (2.0 if isinstance(k, bool) else 3.0 if isinstance(k, float) else 5.0)
    return s


def test_keys_that_are_equal_and_of_other_classes():
    derivative = value_and_grad(by_kind_of_key)
    for key in (1, True, 1.0, 0, -0.0):
        if type(key) is int:
            assert derivative(1.0, {key: 2.0}) == (10.0, 10.0)
        else:  # dicts with such keys are not told apart by their kinds
            with pytest.raises(srcgrad.UnsupportedSyntax, match="what an object of class dict holds is not known"):
                derivative(1.0, {key: 2.0})


def ruled(x, k=2.0):
    return np.sum(x * x * k)


@srcgrad.rule(ruled)
def ruled_rule(x, k, *, y, y_bar):
    return y_bar * 2.0 * x * k, None


def test_a_rule_takes_the_defaults_that_its_function_has_then():
    inside, at_the_door = grad(lambda x: ruled(x)), grad(ruled)
    for default in (2.0, 5.0):
        ruled.__defaults__ = (default,)
        np.testing.assert_allclose(inside(X), 2.0 * X * default)
        np.testing.assert_allclose(at_the_door(X), 2.0 * X * default)


@pytest.mark.parametrize("specialise", [True, False])
def test_a_class_in_which_an_operator_replaces_another_attribute_is_refused(specialise: bool) -> None:
    kind: Any = type("Weights", (np.memmap,), {"scale": 1.0})
    w, derivative = np.array([2.0, 3.0]).view(kind), grad(by_product)
    with srcgrad.options(specialise=specialise):
        np.testing.assert_array_equal(derivative(X, w), [2.0, 3.0])
        del kind.scale
        kind.__rmul__ = lambda self, x: x * 10.0
        with pytest.raises(srcgrad.ArgumentError, match="whose __rmul__ decides"):
            derivative(X, w)
