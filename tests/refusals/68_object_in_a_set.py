class Node:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other.value

    def __hash__(self):
        return 1


def f(x):
    seen = {Node(x), Node(x * x)}
    return sum(node.value for node in seen)
