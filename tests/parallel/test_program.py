"""A program travels as text, is compiled once, and reads what the client's function would read now."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import srcgrad
from srcgrad.parallel import SendingError, grad, report, value_and_grad, work
from srcgrad.parallel.fingerprints import fingerprint
from srcgrad.parallel.program import sent_outside
from srcgrad.parallel.request import EMPTY, Request
from srcgrad.parallel.transforms import Reverse
from tests.parallel import losses, settings
from tests.parallel.conftest import Shuffled
from tests.parallel.losses import bits, made_of, shards_of, squares

W = np.linspace(-1.0, 1.0, 4)
SHARDS = shards_of(9)
ROOT = Path(__file__).parent.parent.parent


def request_of(f, shard, w=W):
    kind = Reverse(srcgrad.Derivative(f, mode="value"))
    request = Request(kind, kind.prepared((w, EMPTY), {}))
    request.meet(shard)
    return request


def program_of(f, shard=SHARDS[0]):
    (program,) = request_of(f, shard).programs.values()
    return program


def test_the_address_is_that_of_the_content():
    first, second = made_of(2.0, 1.0), made_of(3.0, 1.0)
    assert program_of(first).address == program_of(second).address  # what differs is no text
    assert program_of(first).address != program_of(squares).address
    again = pickle.loads(pickle.dumps(program_of(first)))
    assert again.address == program_of(first).address and again == program_of(first)


def test_a_program_is_small_text():
    program = program_of(squares)
    assert "def squares_fwd" in program.text and "def squares(" not in program.text
    assert len(pickle.dumps(program)) < 3000


@pytest.mark.parametrize("shards", [[1, 2, 3], [2, 1, 3]])
def test_a_shard_that_is_the_default_is_no_constant_of_the_program(shards):
    """All integers share a program, written at the first of them."""

    def loss(w, shard=1, power="cube"):
        if shard == 1 and power == "cube":
            return np.sum(w**3)
        return np.sum(shard * w**2)

    assert np.array_equal(grad(loss)(W, shards), 3 * W**2 + 4 * W + 6 * W)


def test_workers_do_not_compile(processes):
    """The compiler is not even imported where a program runs, and the client compiles once for all calls."""
    program = (
        "import sys, pickle; from srcgrad.parallel.work import Prepared, Shards, run\n"
        "programs, step, shard = pickle.load(sys.stdin.buffer)\n"
        "outcome = run(Prepared(programs, step), Shards(0, [shard]))\n"
        "print(len(outcome.blocks), [m for m in ('gast', 'srcgrad.pipeline', 'srcgrad.frontend') if m in sys.modules])"
    )
    request = request_of(squares, SHARDS[0])
    request.base = srcgrad.parallel.transforms.replace(request.base, combine=srcgrad.parallel.structure.added)
    step = request.step(lambda compiled: sent_outside(compiled, False))
    sent = pickle.dumps((request.programs, step, SHARDS[0]))
    found = subprocess.run([sys.executable, "-c", program], input=sent, capture_output=True, cwd=ROOT, timeout=60)
    assert found.stdout.split() == [b"1", b"[]"], found.stderr.decode()
    g = grad(squares, executor=processes)
    for _ in range(3):
        g(W, SHARDS)
        assert report().compiled == 1


def test_a_program_stays_in_the_worker(processes):
    big = np.zeros(100_000)
    g = grad(added_up, executor=processes)
    g(big, [1.0] * 40)
    assert report().sent < 5 * big.nbytes  # parameters go to each worker once, not with each of the tasks
    assert report().tasks > 6
    g = grad(lambda w, shard: np.mean(shard[0] @ w * 3.0), executor=processes)
    sent = []
    for k in range(1, 7):
        g(k * W, SHARDS)
        sent.append(report().sent)
    with_program = [bytes_ > min(sent) + 1000 for bytes_ in sent]
    assert with_program[0] and sum(with_program) <= 2  # the program goes to each of two workers once in its life


def test_a_worker_that_has_forgotten_asks_again():
    with Shuffled(1, 1) as executor:
        g = grad(squares, executor=executor)
        expected = g(W, SHARDS)
        for kept in (work._programs, work._prepared):
            kept._values.clear()
        assert np.array_equal(g(W, SHARDS), expected) and report().shards == len(SHARDS)


def added_up(w, shard):
    return np.sum(w) * shard


@pytest.mark.parametrize("where", ["threads", "processes"])
def test_a_rebound_global_is_seen(where, processes, monkeypatch):
    g = value_and_grad(squares, executor=processes if where == "processes" else None)
    value, slope = g(W, SHARDS)
    monkeypatch.setattr(losses, "SCALE", 1.0)
    twice, steeper = g(W, SHARDS)
    assert twice == 2.0 * value and np.array_equal(steeper, 2.0 * slope)


@pytest.mark.parametrize("where", ["threads", "processes"])
def test_a_rebound_attribute_of_a_module_is_seen(where, processes, monkeypatch):
    g = value_and_grad(settled, executor=processes if where == "processes" else None)
    assert g(2.0, [1.0, 2.0])[0] == 2.0 * 3.0 * 2.0 + 2.0
    monkeypatch.setattr(settings, "FACTOR", 5.0)
    assert g(2.0, [1.0, 2.0])[0] == 2.0 * 3.0 * 5.0 + 2.0
    monkeypatch.setattr(settings.inner, "SHIFT", 3.0)
    assert g(2.0, [1.0, 2.0])[0] == 2.0 * 3.0 * 5.0 + 6.0


def settled(w, shard):
    return w * shard * settings.FACTOR + settings.inner.SHIFT


@pytest.mark.parametrize("where", ["threads", "processes"])
def test_a_changed_closure_is_seen(where, processes):
    k = 2.0

    def loss(w, shard):
        return w * shard * k

    g = value_and_grad(loss, executor=processes if where == "processes" else None)
    assert g(3.0, [1.0, 2.0]) == (18.0, 6.0)
    k = 4.0
    assert g(3.0, [1.0, 2.0]) == (36.0, 12.0)


@pytest.mark.parametrize("where", ["threads", "processes"])
def test_a_helper_that_is_bound_again_is_compiled_again(where, processes, monkeypatch):
    g = value_and_grad(helped, executor=processes if where == "processes" else None)
    assert g(3.0, [1.0, 2.0]) == (27.0, 18.0)
    monkeypatch.setattr(sys.modules[__name__], "helper", lambda w: w * w * w)
    assert g(3.0, [1.0, 2.0]) == (81.0, 81.0)


def helper(w):
    return w * w


def helped(w, shard):
    return helper(w) * shard


STEP = 1


def counted(n):
    return n + STEP


def with_constant(w, shard):
    return w * shard * counted(1)


def test_a_function_that_is_another_one_in_a_worker_is_refused(processes, monkeypatch):
    """It is called without a derivative, so that the worker imports it."""
    g = value_and_grad(with_constant, executor=processes)
    assert g(3.0, [1.0, 2.0]) == (18.0, 6.0)

    def changed(n):
        return n + 2

    changed.__qualname__ = changed.__name__ = "counted"
    monkeypatch.setattr(sys.modules[__name__], "counted", changed)
    text = "counted differs between the client and a worker, or reads other data there\n  hint: start the workers again"
    with pytest.raises(SendingError, match=text):
        g(3.0, [1.0, 2.0])
    assert value_and_grad(with_constant)(3.0, [1.0, 2.0]) == (27.0, 9.0)  # threads read it as it is


def test_so_is_one_that_reads_other_numbers(processes, monkeypatch):
    g = value_and_grad(with_constant, executor=processes)
    monkeypatch.setattr(sys.modules[__name__], "STEP", 2)
    with pytest.raises(SendingError, match="counted differs between the client and a worker"):
        g(3.0, [1.0, 2.0])


CLOSURE = "def g(k):\n  def h(x): return x + k\n  return h\n"
PARTIAL = "from functools import cache, partial\n"
READS = "def f(x): return x + K"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(x): return x + 1", "def f(x): return x + 2"),
        ("def f(x, k=1): return x + k", "def f(x, k=2): return x + k"),
        ("def f(x, *, k=1): return x + k", "def f(x, *, k=2): return x + k"),
        ("K = 1\ndef f(x): return x + K", "K = 2\ndef f(x): return x + K"),
        ("def g(x): return x\ndef f(x): return g(x)", "def g(x): return -x\ndef f(x): return g(x)"),
        (CLOSURE + "f = g(1)", CLOSURE + "f = g(2)"),
        ("class f:\n  def m(self): return 1", "class f:\n  def m(self): return 2"),
        ("class f:\n  K = 1", "class f:\n  K = 2"),
        ("class g: K = 1\nclass f(g): pass", "class g: K = 2\nclass f(g): pass"),
        ("class f:\n  @staticmethod\n  def m(): return 1", "class f:\n  @staticmethod\n  def m(): return 2"),
        ("class f:\n  @property\n  def m(self): return 1", "class f:\n  @property\n  def m(self): return 2"),
        ("import numpy\nK = numpy.ones(2)\n" + READS, "import numpy\nK = numpy.zeros(2)\n" + READS),
        ("K = {'a': 1.0}\n" + READS, "K = {'a': 2.0}\n" + READS),
        ("K = {'a', 'b'}\n" + READS, "K = {'a', 'c'}\n" + READS),
        ("class C: pass\nK = C()\nK.v = 1\n" + READS, "class C: pass\nK = C()\nK.v = 2\n" + READS),
        (PARTIAL + "K = partial(max, 1)\n" + READS, PARTIAL + "K = partial(max, 2)\n" + READS),
        (PARTIAL + "@cache\ndef K(): return 1\n" + READS, PARTIAL + "@cache\ndef K(): return 2\n" + READS),
        ("def f(x): return [g for g in x if g > 1]", "def f(x): return [g for g in x if g > 2]"),
    ],
)
def test_fingerprints_tell_functions_apart(one, other):
    first, again, second = ({"__name__": "theirs"} for _ in range(3))
    exec(one, first)
    exec("\n\n" + one, again)
    exec(other, second)
    assert fingerprint(first["f"]) == fingerprint(again["f"]) != fingerprint(second["f"])


def test_a_recursive_function_has_a_fingerprint():
    assert fingerprint(recursive) == fingerprint(recursive)


def recursive(n):
    return 1 if n == 0 else n * recursive(n - 1)


def test_another_version_is_refused():
    program = srcgrad.parallel.transforms.replace(program_of(squares), version="0.0.1")
    with pytest.raises(SendingError, match=r"^the client has srcgrad 0.0.1, a worker "):
        program.code()


def test_functions_among_the_arguments(processes):
    for executor in (None, processes):
        g = value_and_grad(applied, executor=executor)
        assert g(2.0, [1.0, 3.0], np.square) == (16.0, 16.0)
        assert g(2.0, [1.0, 3.0], helper) == (16.0, 16.0)


def applied(w, shard, function):
    return function(w) * shard


def test_functions_among_the_data_are_compiled_where_they_are_met(processes):
    for executor in (None, processes):
        assert value_and_grad(looked_up, executor=executor)(2.0, [0, 1, 0], [helper, helped_once]) == (20.0, 27.0)


def helped_once(w):
    return w**3 + 2.0 * w - 4.0 + w**2 * 1.0 + w * 1.0 - 2.0


def looked_up(w, shard, functions):
    return functions[shard](w) * 1.0 + w * 0.0 if shard < 2 else w


def test_what_a_program_stores_into_stays_as_it_was(processes):
    shards = [np.ones(3), np.ones(3)]
    for executor in (None, processes):
        first = value_and_grad(storing, executor=executor)(2.0, shards)
        assert bits(first) == bits(value_and_grad(storing, executor=executor)(2.0, shards))
        assert [shard.tolist() for shard in shards] == [[1.0] * 3] * 2


def storing(w, shard):
    shard[0] = w * w
    shard += w
    return np.sum(shard)
