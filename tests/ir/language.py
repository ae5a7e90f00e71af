"""Functions that use one part of the language each; ``PROGRAMS`` holds them with arguments."""

from __future__ import annotations

import contextlib
import functools
import operator as op
from collections.abc import Callable
from typing import Any

PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def given(*arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Record a function with arguments."""

    def record(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append((function, arguments))
        return function

    return record


class Log(list):
    """What was done, in order."""

    def __call__(self, word: Any) -> Any:
        self.append(word)
        return word


class Manager:
    def __init__(self, log: Log, swallows: bool = False) -> None:
        self.log, self.swallows = log, swallows

    def __enter__(self) -> str:
        self.log("enter")
        return "entered"

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        self.log(("exit", kind))
        return self.swallows


# --- loops -----------------------------------------------------------------------------------------------------------
@given([1, 2, 3], 2)
@given([1, 3], 2)
@given([], 2)
def else_of_loops(xs, stop):
    for x in xs:
        if x == stop:
            found = "broken"
            break
    else:
        found = "whole"
    n = 0
    while n < 3:
        n += 1
        if n == stop + 1:
            break
    else:
        n = -n
    return found, n


@given([[1, 2], [3], []])
def a_break_in_the_else_of_a_loop(rows):
    seen = []
    for row in rows:
        for item in row:
            seen.append(item)
            if item == 2:
                break
        else:
            if len(row) == 1:
                continue
            seen.append("end")
            break
        seen.append("after")
    return seen


@given(0)
@given(2)
def a_variable_that_only_a_loop_binds(n):
    for i in range(n):
        last = i
    return last, i


@given(3)
def loops_that_never_end_normally(n):
    while True:
        n -= 1
        if n < 0:
            return "out"
        while True:
            break


@given({"a": 1})
def changes_while_iterated(d):
    for key in d:
        d[key + "b"] = 2
    return d


# --- variables -------------------------------------------------------------------------------------------------------
@given(True)
@given(False)
def deleted(flag):
    x = 1
    if flag:
        del x
    return x


@given(3)
def deleted_in_a_loop(n):
    out = []
    for i in range(n):
        value = i
        out.append(value)
        del value
    return out, value  # noqa: F821


@given(2)
def counters(n):
    made = []
    for i in range(n):
        def count(step=i):
            nonlocal total
            total += step + i
            return total
        made.append(count)
    total = 10
    return [f() for f in made], total


@given(3)
def lambdas_in_a_comprehension(n):
    i = "outer"
    return [f() for f in [lambda: i for i in range(n)]], [g() for g in ((lambda: j) for j in range(n))], i


@given([1, 2, 3])
def assigned_in_comprehensions(xs):
    kept = [y := x * 2 for x in xs if (last := x) > 1]
    return kept, y, last, any((hit := v) > 1 for v in xs), hit


@given(1)
def read_before_it_is_bound(x):
    def inner():
        return late
    try:
        inner()
    except NameError as error:
        kind = type(error).__name__
    late = x
    return kind, inner()


@given()
def a_global():
    global _made_here
    _made_here = 4
    read = _made_here
    del _made_here
    try:
        return _made_here
    except NameError:
        return read


# --- exceptions ------------------------------------------------------------------------------------------------------
@given([1])
@given([])
@given(None)
def the_parts_of_try(xs):
    log = []
    try:
        log.append("body")
        value = xs[0]
    except IndexError as error:
        log.append(repr(error))
    except (TypeError, KeyError):
        log.append("type")
        raise ValueError("again") from None
    else:
        log.append(value)
    finally:
        log.append("final")
    return log


@given()
def finally_overrides():
    log = []
    def inner():
        for i in range(4):
            try:
                log.append(i)
                if i == 1:
                    continue
                if i == 2:
                    return "inside"
            finally:
                log.append("f")
                if i == 2:
                    break
        return "behind"
    return inner(), log


@given()
def raised_again():
    seen = []
    try:
        try:
            raise KeyError("a")
        except KeyError:
            try:
                raise IndexError("b")
            except IndexError as second:
                seen.append(type(second.__context__))
            raise
    except KeyError as error:
        seen.append(error.args)
        cause = error
    try:
        raise ValueError from cause
    except ValueError as error:
        seen.append(error.__cause__ is cause)
    try:
        error  # noqa: F821
    except UnboundLocalError:
        seen.append("gone")
    return seen


@given()
def stop_iteration_passes():
    try:
        return next(iter(()))
    except StopIteration:
        return "stopped"


@given(1)
@given(0)
def asserted(x):
    assert x, f"no {x}"
    return x


@given([True, False])
def managers(swallow):
    log = Log()
    for swallows in swallow:
        try:
            with Manager(log, swallows) as name, contextlib.suppress(KeyError):
                value = log(name)
                raise KeyError if swallows else ValueError
            log("went on")
        except ValueError:
            log(("caught", value))
    for _ in range(2):
        with Manager(log):
            continue
    with Manager(log):
        return log
    return None


@given()
def no_manager():
    with 3:
        pass


# --- calls and displays ----------------------------------------------------------------------------------------------
@given([1, 2], {"k": 3})
def spread(a, d):
    log = Log()
    def f(*args, **kwargs):
        return args, kwargs
    first = f(*a), f(0, *a, 3, *a), f(**d), f(*log(a), j=log(1), **log(d))
    second = [*a, 0, *a], (*a, 1), {*a, 5}, {**d, "k": 4, **{"z": 1}}
    try:
        f(k=1, **d)
    except TypeError as error:
        log(type(error))
    return first, second, log


@given(1, 2)
def signatures(p, /, q, *rest, k=3, **more):
    def inner(a, /, b=p, *, c=q, d):
        return a, b, c, d
    try:
        inner(1, 2, 3)
    except TypeError:
        return inner(0, d=1), inner(0, b=2, d=4, c=5), rest, k, more


@given([3, [4, 5], 6])
def unpacked(v):
    a, (b, *c), d = v
    *e, f = v
    [g] = [a]
    (h,) = (a,)
    for i, (j, k) in [(1, (2, 3))]:
        pass
    try:
        a, b = 1, 2, 3
    except ValueError:
        pass
    return a, b, c, d, e, f, g, h, i, j, k


@given(3.14159, "x")
def formatted(v, w):
    n = 3
    return f"{v:.{n}f}|{w!r:>5}|{w!s}|{v=:.1f}|{{}}", f"{w}" "tail"


@given(5)
def chains(x):
    log = Log()
    return (1 < log(x) < 10 > log(3)), (log(0) and log(1)), (log(0) or log(2) or log(3)), (x if log(0) else -x), log


@given([1, 2, 3, 4])
def stores(v):
    v[1:3], v[0] = [9, 9, 9], v[1]
    v[-1] += v[0]
    v[::2] = [0] * len(v[::2])
    del v[0], v[-1:]
    a = b = v
    return a is b, v


# --- generators ------------------------------------------------------------------------------------------------------
@given(3)
def sent_and_thrown(n):
    def running():
        total = 0
        while True:
            try:
                got = yield total
            except ValueError:
                total = -1
                continue
            except GeneratorExit:
                log.append("closed")
                raise
            if got is None:
                return total
            total += got
    def around():
        result = yield from running()
        yield ("result", result)
    log = []
    g = around()
    out = [next(g), g.send(n), g.throw(ValueError), g.send(n), g.send(None)]
    other = running()
    next(other)
    other.close()
    return out, log


@given(4)
def lazily(n):
    log = Log()
    g = (log(i) * k for i in range(n) if i % 2 for k in (1, 2))
    log("made")
    return next(g), log[:], list(g), log


@given()
def a_generator_that_stops_itself():
    def g():
        yield 1
        next(iter(()))
    try:
        return list(g())
    except RuntimeError:
        return "runtime error"


# --- classes ---------------------------------------------------------------------------------------------------------
@given(2)
def a_class(n):
    class Base:
        """Counts."""

        made: int = n
        others = [made_twice for made_twice in range(n)]

        def __init__(self, v):
            self.__v = v

        def value(self):
            return self.__v + n

        @property
        def twice(self):
            return 2 * self.value()

        @classmethod
        def build(cls, v):
            return cls(v)

    class Derived(Base):
        def value(self):
            return super().value() * 10

        def kind(self):
            return __class__.__name__

    d = Derived.build(3)
    d.made += 1
    return d.value(), d.twice, d.kind(), Base.made, d.made, Base.others, Base.__doc__, Base.__annotations__["made"]


@given(3)
def a_decorated_function(n):
    def twice(f):
        @functools.wraps(f)
        def inner(*args):
            return f(*args), f(*args)
        return inner

    @twice
    @functools.lru_cache(maxsize=None)
    def fibonacci(k):
        return k if k < 2 else op.add(fibonacci(k - 1)[0], fibonacci(k - 2)[1])

    return fibonacci(n), fibonacci.__name__


# --- match -----------------------------------------------------------------------------------------------------------
class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


@given([1, 2, 3])
@given((1,))
@given([0, 5])
@given({"kind": "a", "rest": 1})
@given({"kind": "b"})
@given(Point(0, 7))
@given(Point(1, 7))
@given("text")
@given(3.5)
@given(None)
def matched(v):
    match v:
        case [first, *rest] if first and len(rest) > 1:
            return "many", first, rest
        case [1] | [0, _] as whole:
            return "short", whole
        case {"kind": "a", **others}:
            return "a", others
        case {"kind": kind}:
            return kind
        case Point(0, y=y):
            return "origin", y
        case Point(x, y):
            return x, y
        case str(text) | bytes(text):
            return text
        case None:
            return "none"
    return "nothing", first


@given(1, 9)
@given([2, 1], 9)
@given([1, 2], 1)
@given({"k": 1}, 9)
@given("s", 9)
@given(3.5, 9)
def variables_that_cases_change(v, z):
    a = 0
    match v:
        case 1:
            a = 1
        case [x, y] if x > y:
            a = x
        case {"k": b}:
            z = b
        case str():
            return 5
        case (p, q):
            a, z = p, q
    match z:
        case 1:
            a = a + 1
        case _:
            a = a - 1
    return a, z


@given("json")
def imported(name):
    import os.path
    import os.path as path
    from collections import OrderedDict as Ordered
    from collections import abc
    return os.path is path, Ordered.__name__, abc.__name__, name


# --- what a review found ---------------------------------------------------------------------------------------------
@given()
def private_names():
    class Outer:
        def __init__(self, __a):
            __x = __a
            self.__y = __x

        class __Inner:
            __z = 1

        def read(self):
            def inner():
                nonlocal __n
                __n += 1
            __n = self.__y
            inner()
            for __i in range(2):
                __n += __i
            try:
                raise KeyError(__n)
            except KeyError as __e:
                return __e.args, __i, self.__Inner.__name__, sorted(k for k in vars(self.__Inner) if "z" in k)

        __Outer = 2

    return Outer(3).read(), [name for name in vars(Outer) if "_Outer" in name]


@given()
def the_body_of_a_class():
    class Body:
        for i in range(3):
            for _ in range(2):
                pass
            else:
                break
        name = __qualname__
        x: int = 1
        (y): int = 2
        kept = dict(__annotations__)

    return Body.i, Body.name, list(Body.kept)


@given()
def a_class_used_while_it_is_made():
    class Meta(type):
        def __new__(mcls, name, bases, space, **kw):
            return super().__new__(mcls, name, bases, space)

    class Base(metaclass=Meta):
        def __init_subclass__(cls, **kw):
            super().__init_subclass__()
            cls.made = kw, cls().who()

        def who(self):
            return "base"

    class Derived(Base, tag=1):
        def who(self):
            return super().who(), __class__.__name__

    return Derived.made


@given([1, 2])
def a_global_bound_in_a_generator_expression(xs):
    global _hit_here
    return any((_hit_here := v) > 1 for v in xs), _hit_here


@given(1)
def a_name_that_is_global_in_one_function_only(x):
    def first():
        global PROGRAMS
        def inner():
            global _other
            _other = 1
            return len(PROGRAMS) > 1
        return inner()
    def second():
        return x
    return first(), second()


@given([KeyError, ValueError])
def handlers_that_compute_what_they_catch(kinds):
    try:
        raise KeyError
    except tuple(k for k in kinds if k is ValueError):
        return "wrong"
    except (kinds[0] if kinds else TypeError):
        return "right"


@given()
def contexts_of_exceptions():
    def fails():
        raise ValueError
    def cleans():
        try:
            fails()
        finally:
            pass
    seen = []
    try:
        fails()
    except ValueError as error:
        seen.append(error.__context__)
    try:
        raise KeyError
    except KeyError:
        try:
            cleans()
        except ValueError as error:
            seen.append(type(error.__context__))
    fails()


class Counted:
    def __init__(self, log, truth):
        self.log, self.truth = log, truth

    def __bool__(self):
        self.log(self.truth)
        return self.truth

    def __lt__(self, other):
        return self

    def __eq__(self, other):
        return self


@given()
def tested_once():
    log = Log()
    yes, no = Counted(log, True), Counted(log, False)
    for value in (yes, no):
        if value and yes or no:
            log("a")
        if not (value < yes < no):
            log("b")
        kept = (value and yes), (value or no), (value < yes < no)
        while value or no:
            break
        out = [1 for _ in "x" if value and no]
        match [value, value]:
            case [1, 2] | [3, _] if value or yes:
                log("c")
    return log, len(kept), out


@given()
def methods_of_a_manager_that_are_not_functions():
    class Static:
        @staticmethod
        def __enter__():
            return "entered"

        __exit__ = staticmethod(lambda *error: True)

    with Static() as name:
        raise ValueError
    return name


@given(range(10**12))
def a_pattern_that_needs_few_items(v):
    match v:
        case [a, *_, b]:
            return a, b
    return None


@given(5)
@given({"a": 1})
def keys_that_are_evaluated_for_mappings_only(v):
    match v:
        case {op.missing: _}:
            return "never"
        case _:
            return "other"


@given([1, 2])
def a_shadowed_super(v):
    class Base:
        def m(self):
            super = lambda: 5
            return super()
    return Base().m()


@given()
def keywords_between_two_stars():
    log = Log()
    try:
        dict(**{"b": 1}, b=log(1), c=log(2))
    except TypeError:
        log("twice")
    try:
        return {[]: log(3), "a": log(4), **{}}
    except TypeError:
        return log


@given(3)
def annotations_of_inner_functions(n):
    def inner(a: int, /, b: str = "b", *rest: float, c: list[int], **more: dict) -> None:
        return a
    return inner.__annotations__, inner(n, c=[])
