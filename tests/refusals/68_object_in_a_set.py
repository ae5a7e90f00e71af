class Node:
    def __init__(self, value):
        self.value = value


def f(x):
    seen = {Node(x), Node(x * x)}
    return sum(node.value for node in seen)
