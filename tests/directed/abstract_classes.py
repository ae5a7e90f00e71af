"""Abstract and ordered classes, their constructors, properties and registries, and what ``isinstance`` says of them."""

import abc
import dataclasses
from collections.abc import Callable, Sized
from functools import total_ordering

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


class Shape(abc.ABC):
    registry: dict[str, type] = {}
    scale = 2.0

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        Shape.registry[cls.__name__] = cls

    @abc.abstractmethod
    def area(self): ...

    @property
    @abc.abstractmethod
    def label(self): ...

    @classmethod
    def unit(cls, size=1.0):
        return cls(size)

    @staticmethod
    def square(value):
        return value * value


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.scale * self.square(self.side)

    @property
    def label(self):
        return "square"


@dataclasses.dataclass
class Disc(Shape):
    radius: float

    def area(self):
        return np.pi * self.radius**2

    @property
    def label(self):
        return "disc"

    def __len__(self):
        return 2

    def __call__(self, factor):
        return self.radius * factor


class Registered(abc.ABC):
    """Python asks it for the classes that were registered with it."""


Registered.register(Square)


@directed(vector(3))
def shapes_of_an_abstract_class(x):
    total = 0.0
    for shape in [Square(x[0]), Disc(x[1]), Shape.registry["Square"](x[2])]:
        if isinstance(shape, Shape):
            total = total + shape.area() * len(shape.label)
        if isinstance(shape, Disc):
            total = total + shape.radius
    return total


@directed(vector(2))
def constructors_of_an_abstract_class(x):
    return Square.unit().area() * x[0] + Disc.unit(x[1]).area() * Shape.square(x[0]) + Square.unit(x[0]).area()


@directed(vector(2))
def what_isinstance_says_of_abstract_classes(x):
    square, disc = Square(x[0]), Disc(x[1])
    total = 0.0
    for place, shape in enumerate((square, disc)):
        if isinstance(shape, Registered):
            total = total + (place + 1.0) * shape.area()
        if isinstance(shape, Sized):
            total = total + len(shape) * shape.area()
        if isinstance(shape, Callable):
            total = total + shape(3.0)
    return total


@directed(vector(2))
def cases_of_abstract_classes(x):
    total = 0.0
    for shape in (Square(x[0]), Disc(x[1])):
        match shape:
            case Disc(radius=radius):
                total = total + radius**3
            case Shape() as other:
                total = total + other.area()
    return total


class Ring:
    """It has what is asked for by name below, and no more."""

    def __init__(self, radius):
        self.radius = radius

    def __call__(self, factor):
        return self.radius * factor


class Washer(Ring):
    def __init__(self, radius, hole):
        super().__init__(radius)
        self.hole = hole


def area_of(ring):
    if hasattr(ring, "hole"):
        return ring.radius**2 - ring.hole**2
    return ring.radius**2


@directed(vector(2))
def what_is_asked_for_by_name(x):
    total = 0.0
    for shape in (Square(x[0]), Ring(x[1]), Washer(x[1], x[0])):
        if callable(shape):
            total = total + shape(x[0])
        elif hasattr(shape, "side"):
            total = total + shape.side**3
    return total + area_of(Ring(x[0])) * area_of(Washer(x[1], x[0]))


@total_ordering
class Weight:
    def __init__(self, grams):
        self.grams = grams

    def __eq__(self, other):
        return self.grams == other.grams

    def __lt__(self, other):
        return self.grams < other.grams


@directed(vector(3))
def ordered_by_one_comparison(x):
    weights = [Weight(x[2] + 3.0), Weight(x[0]), Weight(x[1] + 1.0)]
    heavier = weights[0] if weights[0] > weights[1] else weights[2]
    lightest = min(weights) if weights[1] <= weights[0] else weights[0]
    return sorted(weights)[1].grams * max(weights).grams + heavier.grams**2 * lightest.grams
