"""Lists and dicts of objects, as many as an argument says, beside lists and arrays of numbers that come from them."""

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


class Spring:
    def __init__(self, k, rest):
        self.k = k
        self.rest = rest

    def energy(self, x):
        return 0.5 * self.k * (x - self.rest) ** 2

    def stiffen(self, by):
        self.k = self.k * by


class Chain:
    def __init__(self, ks):
        self.parts = [Spring(k, 0.2) for k in ks]
        self.log = []
        self.stiffest = None

    def energy(self, x):
        total = 0.0
        for part in self.parts:
            e = part.energy(x)
            self.log.append(e)
            total = total + e
        return total

    def stiffen(self, by):
        for part in self.parts:
            part.stiffen(by)
        self.stiffest = max([part.k for part in self.parts])

    def add(self, k):
        self.parts.append(Spring(k, 0.4))


def made(ks):
    parts = []
    for k in ks:
        parts.append(Spring(k, 0.1))
    return parts


def total(parts, x):
    return sum([part.energy(x) for part in parts])


def stiffened(parts, by):
    for part in parts:
        part.stiffen(by)


@directed(vector(3))
def a_list_handed_to_functions(x):
    parts = [Spring(k, 0.1) for k in x]
    before = total(parts, x[1])
    stiffened(parts, x[2])
    return before * total(parts, x[0])


@directed(vector(3))
def a_list_that_a_function_made(x):
    parts = made(x * x)
    stiffened(parts[1:], x[2])
    energies = [part.energy(x[0]) for part in parts]
    return energies[0] * energies[2] + total(parts, x[1])


@directed(vector(3))
def an_array_of_their_numbers(x):
    parts = made(x)
    energies = np.zeros(3)
    for i, part in enumerate(parts):
        energies[i] = part.energy(x[0])
    parts[0].stiffen(energies[1])
    return energies.sum() * parts[0].energy(x[1])


@directed(vector(3))
def dicts_of_objects_and_of_numbers(x):
    parts = {"one": Spring(x[0], 0.1), "two": Spring(x[1], x[2])}
    energies = {}
    for name, part in parts.items():
        energies[name] = part.energy(x[0])
    parts["one"].stiffen(energies["two"])
    return energies["one"] * parts["one"].energy(x[1])


@directed(vector(3))
def an_object_with_a_list_and_a_log(x):
    chain = Chain(x)
    chain.energy(x[0])
    chain.stiffen(x[1])
    chain.energy(x[2])
    return sum(chain.log) * chain.stiffest


@directed(vector(3))
def objects_added_later(x):
    chain = Chain(x[:2])
    first = chain.energy(x[2])
    chain.add(x[0] * x[1])
    chain.stiffen(x[2])
    return first * chain.energy(x[1]) + chain.log[2] * chain.parts[-1].k


@directed(vector(3))
def two_lists_of_two_classes(x):
    chains = [Chain(x), Chain(x[1:])]
    springs = [Spring(x[0], 0.3)]
    springs.append(Spring(x[1], 0.5))
    energies = [chain.energy(x[0]) for chain in chains] + [spring.energy(x[2]) for spring in springs]
    return np.prod(energies) + chains[1].log[0]
