"""Modules that register their parameters under names, as neural networks are written."""

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


class Parameter:
    def __init__(self, value):
        self.value = value
        self.history = []

    def update(self, by):
        self.history.append(self.value)
        self.value = self.value - by
        return self


class Module:
    def __init__(self):
        self.parameters = {}

    def register(self, name, value):
        self.parameters[name] = Parameter(value)
        return self.parameters[name]

    def __call__(self, x):
        return self.forward(x)


class Scale(Module):
    def __init__(self, factor, shift):
        super().__init__()
        self.factor = self.register("factor", factor)
        self.shift = self.register("shift", shift)

    def forward(self, x):
        return x * self.factor.value + self.shift.value


class Bend(Module):
    def __init__(self, gain):
        super().__init__()
        self.gain = gain

    def forward(self, x):
        return np.tanh(self.gain * x)


class Chain(Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = list(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@directed(vector(3))
def parameters_in_a_dict_and_in_fields(x):
    layer = Scale(x[0], x[1])
    layer.factor.update(x[2] * 0.1)
    total = layer(x[1])
    for name, parameter in layer.parameters.items():
        total = total + parameter.value**2 * len(name)
    return total


@directed(vector(3))
def a_chain_of_layers_of_two_classes(x):
    network = Chain(Scale(x[0], x[1]), Bend(x[2]), Scale(x[2], x[0]))
    before = network(x[1])
    first = network.layers[0]
    first.factor.update(before * 0.1)
    return before * network(x[2]) + first.factor.history[0] * network.layers[2].shift.value


@directed(vector(3))
def parameters_of_all_layers(x):
    network = Chain(Scale(x[0], x[1]), Bend(x[2]))
    penalty = 0.0
    for layer in network.layers:
        for parameter in layer.parameters.values():
            penalty = penalty + parameter.value**2
    return penalty * network(x[2])
