"""Objects as arguments, results and seeds of derivatives: what their gradients look like, what is refused."""

from __future__ import annotations

import dataclasses
import linecache
import pickle
import types
from typing import Any, NamedTuple

import numpy as np
import pytest

from srcgrad import ArgumentError, SrcgradError, UnsupportedSyntax, grad, jvp, vjp


class Linear:
    def __init__(self, w, b):
        self.w = w
        self.b = b

    def __call__(self, x):
        return self.w @ x + self.b


class Tanh:
    def __call__(self, x):
        return np.tanh(x)


class Network:
    def __init__(self, layers, scale):
        self.layers = layers
        self.scale = scale
        self.name = "network"

    @property
    def doubled(self):
        return 2.0 * self.scale

    def predict(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.doubled * x

    def loss(self, x):
        return np.sum(self.predict(x) ** 2)

    @grad
    def own_gradient(self, x):
        return self.loss(x)

    @grad(argnums="x")
    def gradient(self, x):
        return self.loss(x)


@dataclasses.dataclass
class Point:
    x: float
    y: float

    def norm(self):
        return np.sqrt(self.x**2 + self.y**2)


class Pair(NamedTuple):
    u: float
    v: float


def loss(network, x):
    return network.loss(x)


def network() -> Network:
    return Network([Linear(np.array([[0.5, -0.2], [0.1, 0.3]]), np.array([0.1, 0.2])), Tanh()], 0.7)


X = np.array([0.3, -0.4])


def slope(f: Any, h: float = 1e-6) -> float:
    return float((f(h) - f(-h)) / (2 * h))


def test_the_gradient_of_an_object_has_its_fields():
    gradient = grad(loss, argnums="network")(network(), X)
    assert isinstance(gradient, types.SimpleNamespace) and isinstance(gradient.layers, list)
    assert gradient.name is None and vars(gradient.layers[1]) == {}

    def moved(h):
        n = network()
        n.layers[0].w[0, 1] += h
        n.scale += h
        return loss(n, X)

    np.testing.assert_allclose(gradient.layers[0].w[0, 1] + gradient.scale, slope(moved), rtol=1e-7)


def test_the_gradient_of_a_dataclass_is_one():
    gradient = grad(Point.norm)(Point(3.0, 4.0))
    assert isinstance(gradient, Point)
    np.testing.assert_allclose(dataclasses.astuple(gradient), (0.6, 0.8))


def test_the_gradient_of_a_named_tuple_is_one():
    assert grad(lambda p: p.u * p.v)(Pair(2.0, 3.0)) == Pair(3.0, 2.0)


def test_bound_methods_and_callable_objects():
    n = network()
    expected = grad(loss, argnums=1)(n, X)
    for derivative in (grad(n.loss), n.gradient, grad(n.loss, argnums="x")):
        np.testing.assert_allclose(derivative(X), expected, rtol=1e-12)
    assert n.own_gradient(X).scale == grad(loss)(n, X).scale
    layer = n.layers[0]
    value, pullback = vjp(layer, X)
    np.testing.assert_allclose(pullback(np.ones(2))[0], layer.w.sum(0))
    np.testing.assert_allclose(value, layer(X))


def test_tangents_and_seeds_have_fields_too():
    n = network()
    zero = {"w": None, "b": np.ones(2)}
    _, tangent = jvp(lambda n: loss(n, X), (n,), ({"layers": [zero, None], "scale": 1.0},))
    gradient = grad(loss)(n, X)
    np.testing.assert_allclose(tangent, gradient.layers[0].b.sum() + gradient.scale, rtol=1e-10)
    value, pullback = vjp(lambda p, s: Point(p.x * s, p.y), Point(1.0, 2.0), 3.0)
    assert value == Point(3.0, 2.0)
    assert pullback(Point(1.0, 1.0)) == (Point(3.0, 1.0), 1.0)


def test_arguments_stay_as_they_were():
    def changes(p, s):
        p.x = p.x * s
        p.z = p.x
        return p.z * p.y

    p = Point(1.5, 2.0)
    assert grad(changes)(p, 0.5) == Point(1.0, 0.75)
    assert vars(p) == {"x": 1.5, "y": 2.0}


def appended_under_two_names(x):
    items = []
    for v in x:
        items.append(v * v)
    same = items
    same.append(items[0] * 2.0)
    return items[3] * items[1] + sum(same)


def most_methods_of_a_list(x):
    items = [v for v in x]
    items.reverse()
    items.extend([x[0] * 2.0, x[1]])
    items.extend(x)
    items += [x[2]]
    items.sort(key=lambda v: -v)
    items.remove(items[2])
    del items[0]
    s = 0.0
    for i, v in enumerate(items):
        s = s + v * (i + 1.0)
    items.clear()
    return s * s + len(items)


@pytest.mark.parametrize("function", [appended_under_two_names, most_methods_of_a_list])
@pytest.mark.costly(1)
def test_lists_that_change(function):
    x, d = np.array([0.3, 0.5, 0.7]), np.array([0.2, -1.0, 0.4])
    expected = slope(lambda h: function(x + h * d))
    np.testing.assert_allclose(grad(function)(x) @ d, expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(function, (x,), (d,))[1], expected, rtol=1e-6)


def test_a_gradient_of_an_object_can_be_pickled():
    again = pickle.loads(pickle.dumps(grad(Point.norm)))
    assert again(Point(3.0, 4.0)) == grad(Point.norm)(Point(3.0, 4.0))


# --- what is refused -------------------------------------------------------------------------------------------------
class Watched:
    def __init__(self, w):
        self.w = w

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


class Guarded:
    def __init__(self, w):
        object.__setattr__(self, "w", w)

    def __setattr__(self, name, value):
        raise AttributeError(name)


class Metered(type):
    def __call__(cls, *args):
        return super().__call__(*args)


class Counted(metaclass=Metered):
    def __init__(self, w):
        self.w = w


def reads_watched(p):
    return p.w * 2.0


def sets_guarded(p, x):
    p.w = x
    return x


def makes_counted(x):
    return Counted(x).w


def misses(p):
    return p.x * p.z


def unknown(p):
    return p.norm()


class Turned(NamedTuple):
    first: float
    second: float

    def __getitem__(self, i):
        return tuple.__getitem__(self, 1 - i)


class Handing(NamedTuple):
    first: float
    second: float

    def __iter__(self):
        return iter((self.second, 3.0))


def makes_turned(x):
    t = Turned(x, 3.0)
    return t[0] * t[0]


def unpacks_handing(x):
    a, b = Handing(x, x * x)
    return a * b


class Lazy:
    def __init__(self, a):
        self.a = a
        self.kept = None

    def area(self):
        if self.kept is None:
            self.kept = self.a * self.a
        return self.kept

    def __len__(self):
        self.area()
        return 3


class Told:
    def __init__(self, a):
        self.a = [a]

    def __str__(self):
        parts = []
        parts.append(str(len(self.a)))
        return "".join(parts)

    def __bool__(self):
        self.a.append(2.0)
        return True


def measures(x):
    o = Lazy(x)
    if len(o) == 3:
        o.a = o.a * 2.0
    return o.area() * x


def asks(x):
    o = Told(x)
    return o.a[0] * x if o else x


class Counting:
    def __init__(self, a):
        self.a, self.asked = a, 0.0 * a

    def __float__(self):
        self.asked = self.asked + self.a
        return 1.0


class Ranked:
    def __init__(self, a):
        self.a, self.asked = a, 0.0 * a

    def __lt__(self, other):
        self.asked = self.asked + self.a
        return self.a < other.a

    def __getitem__(self, i):
        self.asked = self.asked + self.a
        return [1, 2][i]

    @property
    def worth(self):
        self.asked = self.asked + self.a
        return self.a


def doubled(box):
    box.a[0] *= 2.0


class Box:
    def __init__(self, a):
        self.a = a * np.ones(2)

    def _hit(self):
        self.a = self.a * 3.0


class ByHelper(Box):
    def __len__(self):
        doubled(self)
        return 2


class ByAlias(Box):
    def __len__(self):
        u = self.a
        u *= 2.0
        return 2


class ByFunction(Box):
    def __bool__(self):
        np.multiply(self.a, 2.0, out=self.a)
        return True


class ByBase(Box):
    def __bool__(self):
        super()._hit()
        return True


class ByClass(Box):
    def __index__(self):
        Box._hit(self)
        return 1


class ByName(Box):
    def __len__(self):
        hit = self._hit
        hit()
        return 1


class BySetting(Box):
    def __len__(self):
        setattr(self, "a", self.a * 2.0)
        return 1


class IntoAnother(Box):
    def __contains__(self, w):
        w[0] *= 3.0
        return True


class ByProperty(Box):
    @property
    def length(self):
        self._hit()
        return 2

    def __len__(self):
        return self.length


class Describing(Box):
    """Stores nothing into itself: text grows by what looks like a store."""

    def __str__(self):
        text = self.__class__.__name__
        text += " ".join([str(each) for each in self.a])
        return text

    def __len__(self):
        n = 0
        for each in self.a:
            n += 1 if each > 0 else 0
        return n

    def __eq__(self, other):
        return vars(self) == vars(other)

    __hash__ = None


@pytest.mark.parametrize(
    "kind", [ByHelper, ByAlias, ByFunction, ByBase, ByClass, ByName, BySetting, IntoAnother, ByProperty]
)
def test_classes_whose_implicit_methods_store_in_any_way(kind):
    """Once wrong in silence but for a store in the method itself."""

    def f(x):
        return np.sum(kind(x).a) * x

    assert grad(f)(2.0) == 8.0


def test_classes_whose_implicit_methods_only_read_are_followed():
    def f(x):
        o = Describing(x)
        return np.sum(o.a) * len(o) * x + len(str(o)) * x

    assert grad(f)(2.0) == 4 * 2 * 2.0 + len(str(Describing(2.0)))


def writes_a_number(x):
    o = Counting(x)
    print("%f" % o)
    return o.asked * x


def compares_pairs(x):
    a, b = Ranked(x), Ranked(2.0 * x)
    return a.asked * x if (a, 1) < (b, 2) else x


def seeks(x):
    o = Ranked(x)
    return o.asked * x if 2 in o else x


def asks_for_a_property(x):
    o = Ranked(x)
    return o.asked * x if hasattr(o, "worth") else x


REFUSED = [
    (
        writes_a_number,
        (2.0,),
        "Counting.__float__ stores, and is called where no call is written",
    ),
    (compares_pairs, (2.0,), "this comparison asks __lt__ of class Ranked, which is not followed here"),
    (asks_for_a_property, (2.0,), "hasattr may run methods of class Ranked, which are not followed here"),
    (makes_turned, (2.0,), "the named tuple Turned decides by __getitem__ what its items are"),
    (unpacks_handing, (2.0,), "the named tuple Handing decides by __iter__ what its items are"),
    (reads_watched, (Watched(1.0),), "class Watched decides by __getattribute__ what its attributes are"),
    (sets_guarded, (Guarded(1.0), 2.0), "class Guarded decides by __setattr__ what its fields are"),
    (makes_counted, (1.0,), "class Counted decides by __new__ or a metaclass what its objects are"),
]


@pytest.mark.parametrize(("function", "arguments", "reason"), REFUSED)
def test_what_decides_itself_is_refused(function, arguments, reason):
    with pytest.raises(UnsupportedSyntax) as error:
        grad(function)(*arguments)
    assert error.value.reason == reason
    assert error.value.span.known


def test_what_inference_follows_is_asked():
    def slope(function):
        return (function(2.0 + 1e-6) - function(2.0 - 1e-6)) / 2e-6

    assert grad(measures)(2.0) == pytest.approx(slope(measures))
    assert grad(asks)(2.0) == pytest.approx(slope(asks))
    assert grad(seeks)(2.0) == pytest.approx(slope(seeks))


class Doubling(list):
    def __getitem__(self, i):
        return 2.0 * list.__getitem__(self, i)


def first_squared(t):
    return t[0] * t[0]


@pytest.mark.parametrize("given", [Turned(2.0, 3.0), Doubling([2.0]), types.SimpleNamespace(t=[Doubling([2.0])])])
@pytest.mark.parametrize("derivative", [grad, lambda f: lambda t: jvp(f, (t,), (t,))])
def test_an_argument_that_decides_by_a_method_what_its_items_are_is_refused(given, derivative):
    """Once wrong in silence: the items were taken for those that the tuple or list holds."""
    with pytest.raises(ArgumentError, match="whose class decides by __getitem__ what its items are"):
        derivative(first_squared)(given)


class Indexed(type):
    def __getitem__(cls, index):
        return index * index


class Items(metaclass=Indexed):
    pass


class Adding:
    def __init__(self, level):
        self.level = level

    def __add__(self, other):
        return Adding(self.level * 2.0 + other.level)

    def __radd__(self, other):
        return Adding(self.level + other)

    def __xor__(self, other):
        return self.level * other.level


class Ufuncs:
    def __init__(self, level):
        self.level = level

    def __array_ufunc__(self, ufunc, method, *arguments):
        return arguments[0] * self.level * 2.0

    def __rmul__(self, other):
        return other * self.level


def rounded_with_a_star(x):
    pair = (Adding(x[0]), 2)
    return round(*pair)


#: Functions that ask objects for what is not followed: their derivative was lost in silence, or they failed inside.
ASKED = {
    "the metaclass of Items decides what its items are": lambda x: Items[x[0] * x[1]],
    "no derivative rule for np.bitwise_xor": lambda x: np.bitwise_xor(Adding(x[0]), Adding(x[1])),
    "no derivative rule for np.round": lambda x: np.round(Adding(x[0])),
    "class Adding has no __round__ with source": lambda x: round(Adding(x[0]), ndigits=2),
    "class Adding has no __invert__ with source": lambda x: ~Adding(x[0]),
    "which argument is which is not known here": lambda x: round(Adding(x[0]), **{"ndigits": 2}),
    "round may run methods of class Adding": rounded_with_a_star,
    "sum adds objects of class Adding to a number first": lambda x: sum([Adding(e) for e in x]).level,
    "array is given objects of class Adding": lambda x: np.array([Adding(e) for e in x], dtype=float)[1],
    "class Ufuncs decides by __array_ufunc__ what operators": lambda x: x[0] * Ufuncs(x[1]),
}


@pytest.mark.parametrize("reason", ASKED)
def test_what_objects_are_asked_is_refused(reason):
    with pytest.raises(SrcgradError, match=reason) as error:
        grad(ASKED[reason])(np.array([1.5, 2.5]))
    assert error.value.span.known


def sum_of_objects_by_a_loop(x):
    total = 0.0
    for value in x:
        total = total + Adding(value)
    return float(np.abs(total))


def test_an_object_in_the_place_of_a_number_is_not_asked_as_if_it_were_one():
    with pytest.raises(UnsupportedSyntax, match="np.abs may run methods of class Adding"):
        grad(sum_of_objects_by_a_loop)(np.array([1.5, 2.5]))


def given_an_object_at_run_time(x):
    g = lambda p: p.x * 2.0
    for _ in range(2):
        g = lambda p, g=g: g(p) * 2.0
    return g(Point(x, 2.0))


def test_a_function_known_at_run_time_is_given_an_object():
    assert grad(given_an_object_at_run_time)(1.0) == 8.0


def test_the_program_without_arguments_does_not_know_classes():
    with pytest.raises(UnsupportedSyntax, match="it depends on the class of an argument"):
        _ = grad(unknown).source
    assert "norm" in grad(unknown).source_for(Point(3.0, 4.0))


def test_an_object_that_contains_itself_has_no_gradient():
    p = Point(1.0, 2.0)
    p.x = p
    with pytest.raises(ArgumentError, match="argument p contains itself"):
        grad(unknown)(p)


class Squaring:
    def at(self, x):
        return x * x


class Cubing:
    def at(self, x):
        return x * x * x


class Holder:
    def __init__(self):
        self.kind = Squaring()


def nested(deep: int) -> Any:
    """A program that changes the class of a field this many calls down."""
    lines = ["def step_0(h, x):", "    h.kind = Cubing()", "    return 2.0 * x"]
    for k in range(1, deep):
        lines += [f"def step_{k}(h, x):", f"    return step_{k - 1}(h, x) + 1.0"]
    lines += ["def program(x):", "    h = Holder()", "    t = h.kind.at(x)"]
    lines += [f"    t = t + step_{deep - 1}(h, x)", "    return t + h.kind.at(x)"]
    text, filename = "\n".join(lines) + "\n", f"<{deep} calls deep>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names: dict[str, Any] = {"Holder": Holder, "Cubing": Cubing}
    exec(compile(text, filename, "exec"), names)
    return names["program"]


def test_what_is_changed_twenty_calls_down_is_known():
    assert grad(nested(20))(1.5) == pytest.approx(2 * 1.5 + 2.0 + 3 * 1.5**2)


def test_what_may_be_changed_too_deep_down_is_refused():
    with pytest.raises(UnsupportedSyntax, match=r"(?s)methods of class Holder, Squaring, which are not followed.*\^"):
        grad(nested(50))(1.5)


class Rounded:
    def __init__(self, level):
        self.level = level

    def __round__(self, digits=None):
        return self.level * 3.0

    def __xor__(self, other):
        return self.level * other


def an_object_or_a_number(x):
    g = Rounded(x[0] * x[1]) if x[0] > 0 else x[0]
    return round(g) * x[1]


def objects_among_numbers(x):
    return sum([round(g) * x[1] for g in [Rounded(x[0]), x[1]]])


def bits_of_objects_among_numbers(x):
    total = 0.0
    for g in [Rounded(x[0]), 2]:
        total = total + (g ^ 3) * x[1]
    return total


@pytest.mark.parametrize("f", [an_object_or_a_number, objects_among_numbers])
def test_an_object_that_stands_where_a_number_may_is_not_rounded(f):
    with pytest.raises(UnsupportedSyntax, match="__round__ of class Rounded"):
        grad(f)(np.array([1.5, 2.0]))


def test_bits_of_an_object_beside_those_of_a_number():
    np.testing.assert_allclose(grad(bits_of_objects_among_numbers)(np.array([1.5, 2.0])), [6.0, 5.5])


class WithAnAnswer:
    def __init__(self, v):
        self.v = v

    def __getattr__(self, name):
        return 3.0

    @property
    def checked(self):
        if self.v < 5.0:
            raise AttributeError("too small")
        return self.v


def test_a_property_beside_getattr_is_refused():
    """Python asks ``__getattr__`` where the property raises AttributeError; that error left the function."""
    with pytest.raises(UnsupportedSyntax, match=r"(?s)__getattr__ answers where.*'checked'.*\^"):
        grad(lambda x: WithAnAnswer(x).checked * x)(1.3)
