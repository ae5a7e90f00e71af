"""Objects: fields read and written, methods, classes of every plain kind, as arguments, inside and as results."""

import copy
from dataclasses import dataclass, field, replace
from enum import Enum, Flag, IntEnum, auto
from types import SimpleNamespace

import numpy as np

from tests.corpus.example import matrix, vector
from tests.directed.program import directed


class Cell:
    def __init__(self, value, weight=2.0):
        self.value = value
        self.weight = weight
        self.history = []

    def step(self, a):
        self.history.append(self.value)
        self.value = self.value * self.weight + a
        return self

    @property
    def energy(self):
        return self.value * self.value * self.weight

    @energy.setter
    def energy(self, e):
        self.weight = e / self.value

    @staticmethod
    def twice(v):
        return v * 2.0

    @classmethod
    def unit(cls, v):
        return cls(v, weight=1.0)


@directed(vector(3))
def an_object_made_inside(x):
    cell = Cell(x[0])
    for i in range(3):
        cell.step(x[i])
    return cell.energy + cell.history[1] * x[2]


@directed(vector(3))
def two_names_of_one_object(x):
    cell = Cell(x[0])
    other = cell
    other.value = x[1] * cell.weight
    cell.weight = other.value * x[2]
    return other.weight * cell.value


@directed(vector(3))
def properties_static_and_class_methods(x):
    cell = Cell.unit(x[0])
    cell.energy = Cell.twice(x[1])
    cell.weight += x[2]
    return cell.energy * cell.value


@directed(vector(3))
def an_array_in_a_field_is_stored_into(x):
    cell = Cell(np.sin(x))
    cell.value[0] = x[1] * cell.value[2]
    v = cell.value
    v[1] *= 2.0
    cell.value = cell.value * v
    v[2] = x[0]
    return np.sum(cell.value * v)


class Vector2:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector2(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector2(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Vector2(-self.x, -self.y)

    def __iadd__(self, other):
        self.x = self.x + other.x
        self.y = self.y + other.y
        return self

    def __getitem__(self, i):
        return self.x if i == 0 else self.y

    def __setitem__(self, i, value):
        if i == 0:
            self.x = value
        else:
            self.y = value

    def __len__(self):
        return 2

    def dot(self, other):
        return self.x * other.x + self.y * other.y


@directed(vector(4))
def operators_defined_by_a_class(x):
    u = Vector2(x[0], x[1])
    v = Vector2(x[2], x[3])
    w = u + v * 2.0 + 0.5 * u
    w = -w
    t = w
    t += u
    w[0] = w[1] * v[0]
    return w.dot(t) + t[0] * len(w)


class Layer:
    def __init__(self, w, b):
        self.w = w
        self.b = b

    def __call__(self, h):
        return np.tanh(self.w @ h + self.b)


class Scaled(Layer):
    def __init__(self, w, b, scale):
        super().__init__(w, b)
        self.scale = scale

    def __call__(self, h):
        return super().__call__(h) * self.scale


class Network:
    def __init__(self, *layers):
        self.layers = list(layers)

    def __call__(self, h):
        for layer in self.layers:
            h = layer(h)
        return h


@directed(matrix(3, 3), vector(3), 0.7)
def layers_of_a_network_made_inside(w, b, scale):
    net = Network(Layer(w, b), Scaled(w.T, b, scale), Layer(w * 0.5, b))
    net.layers[2].b = net.layers[2].b * scale
    return np.sum(net(b) ** 2)


@dataclass
class State:
    position: np.ndarray
    velocity: np.ndarray
    time: float = 0.0
    log: list = field(default_factory=list)

    def moved(self, dt):
        return State(self.position + self.velocity * dt, self.velocity * 0.99, self.time + dt, self.log)

    def kick(self, force):
        self.velocity += force
        self.log.append(self.velocity[0])


@directed(vector(2), vector(2, 1), 0.1)
def dataclass_with_methods(x, v, dt):
    state = State(x * 1.0, v * 1.0)
    for i in range(3):
        state.kick(-state.position * dt)
        state = state.moved(dt)
    state = replace(state, time=state.time * 2.0)
    return np.sum(state.position**2) + state.time * state.log[1]


@dataclass(frozen=True)
class Parameters:
    rate: float
    power: float = 2.0

    def __call__(self, v):
        return self.rate * v**self.power


@directed(1.3, 0.7)
def frozen_dataclass_called(a, b):
    p = Parameters(a)
    q = Parameters(b, power=a)
    return p(b) * q(1.5) + p.rate


@directed(0.6, 0.8)
def namespaces(a, b):
    s = SimpleNamespace(u=a, v=[b])
    s.v.append(s.u * b)
    s.u = s.v[1] * a
    s.new = s.u + s.v[0]
    return s.new * s.u


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


@directed(vector(4))
def a_linked_list(x):
    head = None
    for i in range(4):
        head = Node(x[i] * x[0], head)
    head.next.value = head.value * 2.0
    s = 0.0
    node = head
    while node is not None:
        s = s * 0.8 + node.value
        node = node.next
    return s


class Counter:
    made = 0

    def __init__(self, v):
        self.v = v
        self.n = 0

    def __enter__(self):
        self.n += 1
        return self

    def __exit__(self, *what):
        self.n -= 1
        return False

    def add(self, v):
        self.v = self.v + v * self.n


@directed(0.5, 0.8)
def getattr_and_setattr(a, b):
    c = Counter(a)
    name = "v"
    setattr(c, name, getattr(c, name) * b)
    if hasattr(c, "w"):
        return a
    c.w = c.v * a
    return getattr(c, "w") + getattr(c, "missing", b)


def changes_the_object(cell, a):
    cell.value = cell.value * a
    cell.history.append(cell.value)


@directed(0.5, 0.8)
def a_callee_changes_an_object(a, b):
    cell = Cell(a)
    changes_the_object(cell, b)
    changes_the_object(cell, cell.value)
    return cell.value * cell.history[0]


@directed(vector(3))
def objects_in_containers(x):
    cells = {"a": Cell(x[0]), "b": Cell(x[1])}
    order = [cells["a"], cells["b"], cells["a"]]
    for cell in order:
        cell.step(x[2])
    cells["a"].value *= order[1].value
    return order[2].value + order[0].history[1] * cells["b"].weight


@directed(vector(3))
def bound_methods_held_in_names(x):
    cell = Cell(x[0])
    step = cell.step
    step(x[1])
    cell.weight = x[2]
    step(x[1])
    return cell.value


class Slot:
    """Methods that are called as those of arrays and lists are."""

    def __init__(self, v):
        self.v = v

    def put(self, i, v):
        if i == 0:
            self.v = v

    def fill(self, v):
        self.v = self.v * v

    def append(self, v):
        self.v += v

    def sort(self):
        return self.v * 2.0

    def __iadd__(self, other):
        self.v = self.v + other.v
        return self

    def __add__(self, other):
        return Slot(self.v * 100.0)

    def __setitem__(self, i, v):
        self.v = v * i

    def __getitem__(self, i):
        return self.v + i


@directed(vector(4))
def methods_named_as_those_of_arrays(x):
    s = Slot(x[0])
    s.put(0, s.v * x[1])
    s.fill(x[2])
    s.append(x[3])
    return s.sort() * s.v


@directed(vector(4))
def items_and_augmented_operators_of_a_class(x):
    s = Slot(x[0])
    t = s
    t += Slot(x[1])
    s[2] = s[1] * x[2]
    t[3] += x[3]
    return s.v * t.v


class Prepared:
    made = 0

    def __init__(self, v):
        self.v = v
        self.seen = 0.0
        self.prepare()
        self.twice = self.norm * 2.0
        self.made += 1

    def prepare(self):
        self.k = self.v * 2.0

    @property
    def norm(self):
        self.seen = self.seen + self.v
        return self.v * self.v


class Registered(Prepared):
    def __init__(self, register, v, w):
        super().__init__(v)
        register.append(self)
        self.w = w


class Named(Registered):
    def __init__(self, register, v, w):
        super().__init__(register, v, w)
        self.name = "named"

    def prepare(self):
        super().prepare()
        self.k = self.k * self.v


@directed(vector(4))
def base_classes_and_properties_change_what_is_made(x):
    register = []
    p = Named(register, x[0], x[1])
    p.w = p.w * x[2]
    register[0].k = register[0].k * x[3]
    return register[0].w * p.k * p.twice * p.seen * p.made


class Parent:
    def __init__(self, v):
        self.v = v
        self.kids = []
        self.me = self

    def add(self, w):
        kid = Kid(self, w)
        self.kids.append(kid)
        return kid


class Kid:
    def __init__(self, parent, w):
        self.parent = parent
        self.w = w

    def score(self):
        return self.w * self.parent.v * self.parent.me.v


@directed(vector(4))
def objects_that_hold_each_other(x):
    p = Parent(x[0])
    kid = p.add(x[1])
    p.add(x[2])
    s = kid.score()
    p.v = p.v * x[3]
    return s + sum(kid.score() for kid in p.kids)


class Remembering:
    def __init__(self, w):
        self.w = w
        self.given = None

    def forward(self, h):
        self.given = h
        return np.tanh(self.w * h)

    def backward(self, g):
        return self.w * g * self.given


@directed(vector(4), 0.8)
def a_layer_keeps_what_it_is_given(x, a):
    layer = Remembering(x * a)
    for _ in range(2):
        g = layer.backward(layer.forward(x) * a)
        layer.w[1:] -= 0.1 * g[:-1]
    return np.sum(layer.w**2)


class Observer:
    def __init__(self):
        self.seen = []

    def on(self, v):
        self.seen.append(v)
        return v * len(self.seen)

    @property
    def size(self):
        return len(self.seen)


class Subject:
    def __init__(self):
        self.observers = []

    def attach(self, observer):
        self.observers.append(observer)

    def notify(self, v):
        return sum(observer.on(v) for observer in self.observers)


@directed(vector(3))
def observers_that_keep_what_they_see(x):
    subject = Subject()
    first = Observer()
    subject.attach(first)
    subject.attach(Observer())
    total = 0.0
    for v in x:
        total += subject.notify(v * v)
    while first.size > 0:
        total = total * first.seen.pop()
    return total


@directed(vector(4))
def local_functions_that_read_fields(x):
    """Once silently zero: what is read of a parameter was not renamed where the function is written out."""

    def apart(p, q):
        return (p.value - q.value) ** 2

    weighted = lambda p: p.value * p.weight
    a, b = Cell(x[0] * x[1]), Cell(x[2])
    a.weight = x[3]
    return apart(a, b) + weighted(a) * x[0]


@directed(vector(3), order=1)
def local_functions_that_take_from_lists(x):
    def last(items):
        return items.pop()

    items = [x[0] * x[1], x[2]]
    return last(items) * items[0]


class Doubling(Cell):
    def __copy__(self):
        return Doubling(self.value * 2.0, self.weight)


@directed(vector(3), order=1)
def copies_of_objects(x):
    first = Cell(x[0], x[1])
    first.step(x[2])
    second = copy.copy(first)
    second.value = second.value * x[1]
    second.history.append(x[2])
    twice = Doubling(x[1], first.value)
    twice = copy.copy(twice)
    return first.value * second.value * sum(first.history) + twice.value * twice.weight


class Mode(Enum):
    LINEAR = 1
    SQUARE = 2


@dataclass
class Settings:
    weights: np.ndarray
    mode: Mode = Mode.SQUARE


@directed(vector(3))
def a_member_of_an_enumeration_beside_an_array_that_is_stored_into(x):
    settings = Settings(x * 2.0)
    settings.weights[0] = x[1]
    if settings.mode is Mode.SQUARE:
        settings.weights[1] *= x[2]
    return np.sum(settings.weights**2)


class Shape(Enum):
    LINE = 1.0, "line"
    DISK = 2.0, "disk"

    def __init__(self, weight, label):
        self.weight = weight
        self.label = label

    @classmethod
    def usual(cls):
        return cls.DISK

    @staticmethod
    def halved(v):
        return v * 0.5

    @property
    def doubled(self):
        return self.weight * 2.0

    def of(self, v):
        return self.weight * v * v if self is Shape.DISK else self.weight * v


class Axis(IntEnum):
    ROW = 0
    COLUMN = 1


class Access(Flag):
    READ = auto()
    WRITE = auto()


@directed(vector(3), 2.0, "LINEAR", argnums=(0,))
def members_found_by_their_values_and_names(x, number, name):
    first, second = Mode(2), Mode["SQUARE"]
    third, fourth = Mode(int(number)), Mode[name]
    s = np.sum(x**2) if first is second and third is not fourth else np.sum(x)
    try:
        return s * Mode(7).value
    except ValueError:
        return s * third.value + x[0] * fourth.value


@directed(vector(3), Shape.LINE, 1)
def one_of_several_members(x, shape, n):
    s = np.sum(shape.of(x)) + Shape.usual().doubled * x[0]
    for each in Shape:
        s = s + np.sum(each.of(x)) * each.doubled + len(each.label) * each.halved(x[1])
    chosen = Shape.LINE if n else Shape.DISK
    return s * chosen.weight + np.sum(chosen.of(x)) * chosen.doubled


@directed(vector(3))
def members_that_are_keys_places_patterns_and_flags(x):
    totals = {mode: 0.0 for mode in Mode}
    for mode, v in zip(Mode, x):
        totals[mode] += v * v * mode.value
    table, access, axis = np.outer(x, x**2), Access.READ | Access.WRITE, Axis.COLUMN
    s = totals[Mode.SQUARE] + np.sum(np.sum(table, axis=axis) * x) + x[Axis.ROW] * axis.value
    if Access.WRITE in access and access & Access.READ and axis in (1, Axis.ROW):
        s = s * s
    match Mode.LINEAR:
        case Mode.SQUARE:
            return s
        case Mode.LINEAR:
            return s * x[2]
