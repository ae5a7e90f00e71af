"""Lists and dicts of objects, as many as an argument says, beside lists and arrays of numbers that come from them."""

from collections import defaultdict, deque, namedtuple

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed

Event = namedtuple("Event", "time amount")


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


class Doubled:
    def __init__(self, v):
        self.v = v

    def value(self):
        return self.v * 2.0


class Cubed:
    def __init__(self, v):
        self.v = v

    def value(self):
        return self.v**3


class Holder:
    def __init__(self, x):
        self.items = [Doubled(x[0]), Cubed(x[1])]

    def drop(self):
        self.items.pop(0)


def dropped(items):
    del items[0]


@directed(vector(3))
def the_first_is_another_after_a_pop(x):
    """Once wrong in silence, as the five that follow: the first item of a list was taken for what it was made with."""
    items = [Doubled(x[0]), Cubed(x[1]), Doubled(x[2])]
    gone = items.pop(0)
    return items[0].value() * gone.value()


@directed(vector(3))
def the_first_is_another_when_reversed(x):
    items = [Doubled(x[0]), Cubed(x[1])]
    items.reverse()
    return items[0].value() * x[2]


@directed(vector(3))
def the_first_is_another_under_another_name(x):
    items = [Doubled(x[0]), Cubed(x[1])]
    same = items
    same.remove(items[0])
    return items[0].value() * x[2]


@directed(vector(3))
def the_first_is_another_after_a_method(x):
    holder = Holder(x)
    holder.drop()
    return holder.items[0].value() * x[2]


@directed(vector(3))
def the_first_is_another_after_a_call(x):
    items = [Doubled(x[0]), Cubed(x[1])]
    dropped(items)
    return items[0].value() * x[2]


@directed(vector(3))
def the_last_is_another_after_a_pop(x):
    items = [Doubled(x[0]), Cubed(x[1])]
    items.pop()
    return items[-1].value() * x[2]


@directed(vector(3))
def a_queue_of_objects(x):
    queue = deque([Spring(v, 0.1) for v in x])
    total = 0.0
    while queue:
        spring = queue.popleft()
        total = total + spring.energy(x[1])
        if spring.rest < 0.3:
            queue.append(Spring(spring.k * x[0], spring.rest + 0.2))
    return total


@directed(vector(3))
def a_queue_of_named_tuples(x):
    queue = deque()
    for i, v in enumerate(x):
        queue.append(Event(0.5 * i, v))
    balance = 1.0
    while queue:
        event = queue.popleft()
        balance = balance * np.exp(0.1 * event.time) + event.amount
    return balance


@directed(vector(3))
def a_dict_filled_in_a_loop(x):
    springs = {}
    for i, v in enumerate(x):
        springs[i] = Spring(v, 0.2)
    springs[2].k = springs[2].k * springs[1].k
    return sum([springs[i].energy(x[0]) for i in springs])


@directed(vector(4))
def groups_of_objects(x):
    groups = defaultdict(list)
    for i, v in enumerate(x):
        groups[i % 2].append(Spring(v, 0.1 * i))
    return sum([sum([spring.energy(x[0]) for spring in group]) ** 2 for group in groups.values()])


@directed(vector(4))
def a_grid_of_objects(x):
    grid = [[Spring(v * w, 0.1) for v in x[:2]] for w in x[2:]]
    grid[0][1].k = grid[1][0].k
    return sum([sum([spring.energy(x[3]) for spring in row]) for row in grid])


@directed(vector(4), order=1)
def lists_joined_and_asked_about(x):
    """Once wrong in silence: the items of joined lists were taken for numbers."""
    doubled, cubed = [Doubled(x[0])], [Cubed(x[1])]
    total = 0.0
    for item in doubled + cubed:
        total = total + (x[2] if isinstance(item, Cubed) else x[3] ** 2) * item.value()
    return total


@directed(vector(3))
def a_list_extended_in_place(x):
    items = [Doubled(x[0]), Cubed(x[1])]
    items += [Spring(x[2], 0.1)]
    total = 0.0
    for item in items:
        total = total + (item.energy(x[0]) if isinstance(item, Spring) else item.value())
    return total


@directed(vector(3))
def a_copy_of_a_list_grows(x):
    items = [Doubled(x[0]), Cubed(x[1])]
    more = items.copy()
    more.append(Doubled(x[2]))
    joined = more[:1] + items[1:]
    return more[2].value() * items[1].value() * joined[0].value()


@directed(vector(3))
def one_object_repeated(x):
    items = [Doubled(x[0])] * 2
    items[0].v = x[1]
    return items[1].value() * x[2]


def dropped_at(items):
    items.pop(0)


def through_2(items):
    dropped_at(items)


def through_3(items):
    through_2(items)


def through_4(items):
    through_3(items)


def through_5(items):
    through_4(items)


def through_6(items):
    through_5(items)


def through_7(items):
    through_6(items)


def through_8(items):
    through_7(items)


@directed(vector(3))
def the_first_is_another_after_a_chain_of_calls(x):
    """Once wrong in silence: what the eighth function of a chain does was not looked into."""
    items = [Doubled(x[0]), Cubed(x[1])]
    through_8(items)
    return items[0].value() * x[2]


@directed(vector(3))
def the_first_is_another_under_a_name_that_may_be_an_array(x):
    """Once wrong in silence: a callee that was compiled for no classes was not asked what it does."""
    items = [Doubled(x[0]), Cubed(x[1])]
    same = x if x[0] > 50.0 else items
    dropped_at(same)
    return items[0].value() * x[2]


class Subscriber:
    def __init__(self, board, first):
        self.first = first
        board.append(self)
        first[0] = first[0] * first[1]


Row = namedtuple("Row", "cells total")


@directed(vector(3))
def made_for_what_they_do_alone(x):
    """Objects that no name keeps: what their ``__init__`` does is part of the program."""
    board = []
    y = x * 2.0
    Subscriber(board, y)
    Subscriber(board, y[1:])
    if x[0] > 0.0:
        Row(y, np.sum(y))
    return board[0].first[0] * board[1].first[0] * len(board)


def value_under_p(table):
    return table["p"].value()


def scaled_by_n(table):
    return table["n"] * table["p"].value()


@directed(vector(3))
def a_callee_is_given_a_dict_whose_entries_have_changed(x):
    """Once wrong in silence: the callee was compiled for the classes that the dict was made with."""
    table = {"p": Doubled(x[0]), "q": Cubed(x[1])}
    before = value_under_p(table)
    table["p"] = table["q"]
    copy = {**table}
    copy["q"] = Doubled(x[2])
    return before * value_under_p(table) + copy["q"].value() * value_under_p(copy)


@directed(vector(3))
def an_entry_is_another_within_try(x):
    """Once wrong in silence: what stands in ``try`` is a callee of ours."""
    try:
        table = {"p": Doubled(x[0]), "q": Cubed(x[1])}
        table["p"] = table["q"]
        table["r"] = Cubed(x[2])
        result = table["p"].value() * table["r"].value()
    except ValueError:
        result = x[2]
    return result


@directed(vector(3))
def entries_of_objects_and_numbers_change(x):
    table = {"p": Doubled(x[0]), "n": x[1]}
    others = [Doubled(x[1])]
    others.append(Doubled(x[2]))
    table["n"] = x[2] * x[0]
    first = scaled_by_n(table)
    table["p"] = Doubled(x[1] * x[0])
    return first * scaled_by_n(table) * others[1].value()


@directed(vector(3))
def copies_of_a_list_of_objects(x):
    """Once refused when it ran: the copy of a list was taken for an array."""
    parts = [Doubled(x[0]), Cubed(x[1])]
    copy = parts.copy()
    copy[0].v = copy[0].v * x[2]
    return copy[0].value() * parts[1].value() * parts[0].value()


@directed(vector(3))
def slices_of_lists_of_objects_are_stored_into(x):
    """Once wrong in silence: the items of what a slice was given were not seen."""
    items = [Doubled(x[0]), Doubled(x[1])]
    table = {"items": items}
    table["items"][:1] = [Cubed(x[1]), Cubed(x[2])]
    items[0:0] = (Cubed(x[0]),)
    return items[0].value() * items[1].value() * items[3].value() * items[2].value()


@directed(vector(3))
def an_entry_that_was_replaced_is_taken_out(x):
    table = {"p": Doubled(x[0]), "q": Doubled(x[1])}
    table["p"] = Cubed(x[2])
    taken = table.pop("p")
    key, other = table.popitem()
    return taken.value() * other.value()
