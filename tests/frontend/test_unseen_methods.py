"""Objects and iterators that are asked where no call is written, by what changes them."""

import types

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import UnsupportedSyntax

X = np.array([1.24, 1.34, 0.44])
DIRECTION = np.array([0.3, 0.7, 0.4])
OPTIONS = [{}, {"specialise": False}, {"optimise": False}]
MODES = {
    "reverse": lambda f, *given: srcgrad.value_and_grad(f)(X, *given),
    "forward": lambda f, *given: srcgrad.jvp(f, (X, *given), (DIRECTION, *(None for _ in given))),
    "hvp": lambda f, *given: srcgrad.hvp(f)(X, *given, DIRECTION),
}

#: How an object is asked, the method that answers, and with what.
ASKED = {
    "o": ("__bool__", lambda n: n % 2 == 1),
    "not o": ("__len__", lambda n: n % 2),
    "o and True": ("__bool__", lambda n: n % 2 == 1),
    "len(o) > 0": ("__len__", lambda n: n % 2),
    "1 in o": ("__contains__", lambda n: n % 2 == 1),
    "o in [1, 2]": ("__eq__", lambda n: n % 2 == 1),
    "hash(o) == 1": ("__hash__", lambda n: n % 2),
    "{o: 1} != {}": ("__hash__", lambda n: 3),
    "str(o) == '1'": ("__str__", lambda n: str(n % 2)),
    "f'{o}' == '1'": ("__format__", lambda n: str(n % 2)),
    "int(o) == 1": ("__int__", lambda n: n % 2),
    "float(o) == 1.0": ("__float__", lambda n: float(n % 2)),
    "[True, False][o]": ("__index__", lambda n: n % 2),
    "abs(o) == 1": ("__abs__", lambda n: n % 2),
    "sum(o) == 1": ("__iter__", lambda n: iter([n % 2])),
    "o.missing == 1": ("__getattr__", lambda n: n % 2),
}

#: Where the method is entered as one that is called, so that what it stores into an argument is in a copy of it.
ENTERED = {"o", "not o", "o and True", "len(o) > 0", "1 in o", "float(o) == 1.0", "abs(o) == 1", "sum(o) == 1"}

PROGRAM = """
class Asked:
    def __init__(self):
        self.n = 0

    def {method}(self, *given):
        self.n += 1
        return answer(self.n)

OUTSIDE = Asked()

def branches(x, o):
    s = x[0]
    for _ in range(3):
        if {test}:
            s = s * x[1]
        else:
            s = s + x[2] ** 2
    return s * s if {test} else 3.0 * s

def of_argument(x, o):
    return branches(x, o)

def of_global(x):
    return branches(x, OUTSIDE)

def of_local(x):
    return branches(x, Asked())
"""


COMPARED = """
CALLS = []

class Compared:
    def __eq__(self, other):
        CALLS.append(1)
        return len(CALLS) % 2 == 1

OUTSIDE = Compared()

def chooses(x):
    s = x[0] if OUTSIDE == 3 else x[1]
    return s * s
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    def made(text, **names):
        path = tmp_path / "asked_unseen.py"
        path.write_text(text)
        module = types.ModuleType("asked_unseen")
        vars(module).update(names, __file__=str(path))
        exec(compile(text, str(path), "exec"), vars(module))
        return module

    return made


def outcome(mode, function, options, *given):
    """What a derivative gives; None where it is refused."""
    with srcgrad.options(**options):
        try:
            return MODES[mode](function, *given)
        except UnsupportedSyntax:
            return None


def agrees(found, mode, function, *given):
    """Whether a derivative is that of differences; ``given`` makes the other arguments."""
    if mode == "hvp":
        return True
    value, slope = found
    eps = 1e-6
    above, below = (function(X + sign * eps * DIRECTION, *(one() for one in given)) for sign in (1, -1))
    slope = slope @ DIRECTION if mode == "reverse" else slope
    return np.isclose(value, function(X, *(one() for one in given))) and np.isclose(slope, (above - below) / 2 / eps)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("test", ASKED)
@pytest.mark.costly(4)
def test_an_object_that_is_asked_by_a_method_that_stores_is_refused(program, test, mode):
    method, answer = ASKED[test]
    module = program(PROGRAM.format(method=method, test=test), answer=answer)
    for options in OPTIONS:
        argument = module.Asked()
        found = outcome(mode, module.of_argument, options, argument)
        assert found is None or test in ENTERED and agrees(found, mode, module.of_argument, module.Asked)
        assert argument.n == 0
        assert outcome(mode, module.of_global, options) is None
        assert module.OUTSIDE.n == 0
        made = outcome(mode, module.of_local, options)
        assert made is None or agrees(made, mode, module.of_local)


@pytest.mark.parametrize("mode", MODES)
def test_an_object_outside_that_is_compared_by_a_method_that_stores_is_refused(program, mode):
    module = program(COMPARED)
    assert all(outcome(mode, module.chooses, options) is None for options in OPTIONS)
    assert module.CALLS == []


OTHERS = """
CALLS = [0]

def called():
    CALLS[0] += 1
    return CALLS[0]

class Steps:
    def __init__(self):
        self.n = 0

    def step(self):
        self.n = self.n + 1
        return self.n

class ByFunction:
    def __bool__(self):
        return called() % 2 == 1

class ByField:
    def __init__(self):
        self.steps = Steps()

    def __bool__(self):
        return self.steps.step() % 2 == 1

class Holding:
    def __init__(self):
        self.held = ByField()

def direct(x, o):
    s = x[0]
    for _ in range(3):
        s = s * x[1] if o else s + x[2] ** 2
        if o:
            s = s * x[1]
    return s

def held(x, o):
    s = x[0]
    while o.held:
        s = s * x[1]
    return s

def listed(x, os):
    s = x[0]
    for o in os:
        if o:
            s = s * x[1]
    return s
"""


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("direct", "ByFunction()"),
        ("direct", "ByField()"),
        ("held", "Holding()"),
        ("listed", "[ByField(), ByField()]"),
    ],
)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.costly(2)
def test_a_truth_that_steps_something_else_is_right_or_refused(program, mode, name, make):
    module = program(OTHERS)
    function = getattr(module, name)
    for options in OPTIONS:
        found = outcome(mode, function, options, eval(make, vars(module)))
        assert module.CALLS == [0]
        assert found is None or agrees(found, mode, function, lambda: eval(make, vars(module)))
        module.CALLS[0] = 0


SEARCHED = """
def branches(x):
    it = MADE
    s = x[0]
    for _ in range(3):
        if FOUND in it:
            s = s * x[1]
        else:
            s = s + x[2] ** 2
    if FOUND in it:
        return s * s
    return 3.0 * s

def twice(x):
    it = MADE
    s = x[0]
    if FOUND in it:
        s = s * x[1]
    if FOUND in it:
        s = s * x[2]
    return s

def of_dict(x):
    d = {"it": MADE}
    s = x[0]
    for _ in range(3):
        if FOUND in d["it"]:
            s = s * x[1]
        else:
            s = s + x[2] ** 2
    return s
"""

ITERATORS = {
    "iter": ("2", "iter([1, 2, 3])"),
    "reversed": ("2", "reversed([3, 2, 1])"),
    "enumerate": ("(1, 6)", "enumerate([5, 6, 7])"),
    "of a set": ("2", "iter({1, 2, 3})"),
    "zip": ("(2, 4)", "zip([1, 2], [3, 4])"),
}


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("kind", ITERATORS)
def test_an_iterator_is_searched_once_for_each_time_that_python_does(program, kind, mode):
    looked_for, made = ITERATORS[kind]
    module = program(SEARCHED.replace("FOUND", looked_for).replace("MADE", made))
    for options in OPTIONS:
        for function in (module.branches, module.twice, module.of_dict):
            found = outcome(mode, function, options)
            assert found is None or agrees(found, mode, function)
    assert outcome(mode, module.twice, {}) is not None


UNKNOWN = """
class Counted:
    def __init__(self):
        self.n = 0

    def __len__(self):
        self.n += 1
        return self.n % 2

def of_unknown(x):
    o = made()
    s = x[0]
    for _ in range(3):
        if len(o):
            s = s * x[1]
        else:
            s = s + x[2] ** 2
    if o:
        s = s * x[1]
    if o:
        s = s * x[2]
    return s
"""


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_what_is_not_known_is_asked_as_often_as_python_asks(program, mode):
    module = program(UNKNOWN)
    module.made = srcgrad.constant(lambda: module.Counted())
    for options in ({}, {"optimise": False}):
        found = outcome(mode, module.of_unknown, options)
        assert found is None or agrees(found, mode, module.of_unknown)


def test_objects_whose_methods_only_answer_are_asked_as_before(program):
    module = program("""
class Keys:
    def __init__(self):
        self.keys = [1, 2]

    def __bool__(self):
        return self.keys[0] > 0

    def __len__(self):
        return len(self.keys)

    def __contains__(self, key):
        return key in self.keys

def asks(x, o):
    s = x[0]
    for i in range(3):
        if o and i in o:
            s = s * x[1]
        if len(o) > i:
            s = s + x[2] ** 2
    return s
""")
    for mode in ("reverse", "forward"):
        for options in OPTIONS:
            assert agrees(outcome(mode, module.asks, options, module.Keys()), mode, module.asks, module.Keys)
