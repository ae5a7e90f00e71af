"""Text that is made of what varies is not read back as a number, in whatever functions that happens."""

from __future__ import annotations

import ast
import copy
import operator
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import UnsupportedSyntax
from srcgrad.programs import options
from srcgrad.runtime.refusals import Refused


class Labelled:
    def __init__(self, x):
        self.x = x

    def label(self):
        return f"{self.x}"

    def read(self):
        return float(self.label())


def label(x):
    return f"{x}"


def labels(x, n):
    return [f"{x}"] if n == 0 else labels(x, n - 1)


def parse(text):
    return float(text.split("=")[1])


def from_a_callee(x):
    return float(label(x)) * x


def in_a_callee(x):
    return parse("x=" + str(x)) * x


def from_a_method(x):
    return float(Labelled(x).label()) * x


def inside_a_method(x):
    return Labelled(x).read() * x


def through_recursion(x):
    return sum(float(t) for t in labels(x, 3)) * x


def in_an_attempt(x):
    try:
        t = parse(f"x={x}")
    except ValueError:
        t = 1.0
    return x * t


def as_a_key(x):
    weights = {str(x): 1.0}
    weights[f"{2 * x}"] = x
    return sum(float(key) for key in weights)


def in_pairs(x):
    return sum(float(key) * value for key, value in {f"{v}": v for v in [x, 2 * x]}.items())


def put_in_order(x):
    return float(sorted([f"{x}", "1.0"])[0]) + float(max(str(x), "0"))


def in_an_array(x):
    return np.array([f"{x}"]).astype(float)[0] * x


def in_a_part(x):
    return np.float64(f"{x:.6f}"[:6]) * x


def in_an_exception(x):
    try:
        raise ValueError(x)
    except ValueError as error:
        return float(str(error)) * x


def by_a_parser(x):
    return ast.literal_eval(str(x)) * x


def taken_apart(x):
    labels = [f"{x}"]
    labels.extend(["2.0"])
    first, *rest = labels
    return float(first) + float(rest[0])


def of_numpy(x):
    return float(np.str_(x)) * float(np.char.add(str(x), "0"))


FORM, FORMS = "%r", {"x": b"%a"}


class Formed:
    form = "%r"

    def __init__(self):
        self.own = "{v}"


def written(form, *given):
    return form % given


def by_a_named_format(x):
    return float(FORM % x) * x


def by_a_format_of_a_class(x):
    return float(Formed.form % x) * x


def by_a_format_of_an_object(x):
    return float(Formed().form % x) * float(Formed().own.format_map({"v": x}))


def by_a_format_that_is_given(x):
    return float(written("%r", x)) * x


def by_a_format_that_is_chosen(x):
    return sum(float(form % x) for form in ("%r", "%s"))


def by_a_method_of_a_format(x):
    return float(FORM.__mod__(x)) * x


def by_a_format_of_bytes(x):
    return float(FORMS["x"] % x) * float(b"%a" % x)


def by_a_format_that_is_augmented(x):
    form = FORM
    form %= x
    return float(form) * x


def by_a_field_that_is_augmented(x):
    held = Formed()
    held.form %= x
    return float(held.form) * x


def by_an_item_that_is_augmented(x):
    forms = {"x": FORM}
    forms["x"] %= x
    return float(forms["x"]) * x


def in_an_element(x):
    return float(np.array([f"{x}"]).item()) * float(np.array([f"{x}"]).compress([True])[0])


def in_a_copy(x):
    return float(copy.deepcopy(f"{x}")) * float(copy.deepcopy({"x": np.array([f"{x}"])})["x"][0])


def in_a_sum_of_lists(x):
    return float(sum([[f"{x}"]], [])[0]) * x


def in_a_slice(x):
    return float(operator.getitem(f"{x}", slice(0, 9))) * x


def texts(x):
    made = np.empty(1, "U40")
    made[0] = f"{x}"
    return made


def in_an_array_of_a_callee(x):
    return np.array(list(texts(x)[0].split()), dtype=float)[0] * x


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize(
    "function",
    [
        by_a_named_format, by_a_format_of_a_class, by_a_format_of_an_object, by_a_format_that_is_given,
        by_a_format_that_is_chosen, by_a_method_of_a_format, by_a_format_of_bytes, by_a_format_that_is_augmented,
        by_a_field_that_is_augmented, by_an_item_that_is_augmented, in_an_element, in_a_copy, in_a_sum_of_lists,
        in_a_slice, in_an_array_of_a_callee,
        from_a_callee, in_a_callee, from_a_method, inside_a_method, through_recursion, in_an_attempt, as_a_key,
        in_pairs, put_in_order, in_an_array, in_a_part, in_an_exception, by_a_parser, taken_apart, of_numpy,
    ],
)  # fmt: skip
def test_a_number_from_text_of_what_varies_is_refused(function: Callable[..., object], specialise: bool) -> None:
    with options(specialise=specialise):
        for derivative in (lambda: srcgrad.grad(function)(2.0), lambda: srcgrad.jvp(function, (2.0,), (1.0,))):
            words = "read from text|may be a set|what runs|StopIteration|is not known"
            with pytest.raises((srcgrad.UnsupportedSyntax, Refused), match=words) as error:
                derivative()
            assert "^" in str(error.value) and "test_text.py" in str(error.value)


def reads_a_constant(x):
    return parse("x=3.5") * x


def keys_are_labels(x):
    values = {label(2.0): x, label(len([x])): 2 * x}
    return values["2.0"] * float("2.5") + values["1"]


def measures_text(x):
    return float(len(label(x))) * x


def prints(x):
    t = label(x)
    print(t, parse("x=" + t), FORM % x)
    return x * x


def takes_remainders(x):
    n, k = len([x, x]), int(3 * x + 0.5)
    return x * float(k % (n + 2)) + float(x % (n * x + 1.0)) + float(np.array([x]).item()) + float(copy.deepcopy(x))


def augments_text(x):
    names, row, held = {"x": "%d"}, {"x": x}, Formed()
    names["x"] %= len([x])
    row["x"] %= 5.0
    held.own += names["x"]
    held.form %= 2.5
    return row["x"] ** 2 * float(names["x"]) + float(held.form) * x + float(len(held.own)) * 0.125 * x


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (reads_a_constant, 3.5), (keys_are_labels, 4.5), (measures_text, 3.0), (prints, 4.0), (takes_remainders, 5.0),
        (augments_text, 7.0),
    ],
)  # fmt: skip
@pytest.mark.costly(3)
def test_other_uses_of_text_are_right(function: Callable[..., object], wanted: float) -> None:
    for specialise in (True, False):
        with options(specialise=specialise):
            np.testing.assert_allclose(srcgrad.grad(function)(2.0), wanted)
            np.testing.assert_allclose(srcgrad.jvp(function, (2.0,), (1.0,))[1], wanted)


def test_a_number_from_text_in_a_container_that_varies_is_refused() -> None:
    def f(x):
        total = 0.0
        for key, value in [("1", x), ("2", 2 * x)]:
            total += value * float(key)
        return total

    for derivative in (lambda: srcgrad.grad(f)(2.0), lambda: srcgrad.jvp(f, (2.0,), (1.0,))):
        with pytest.raises(TypeError, match="text carries no derivative"):
            derivative()


def test_numbers_beside_text_in_a_container_are_read() -> None:
    def f(x):
        row = {"name": f"{x}", "value": x, "all": np.array([x, x])}
        return float(np.sum(row["all"])) + float(row["value"])

    def stores(x):
        row = {"name": f"{x}", "value": x, "all": np.array([x, x])}
        z = np.zeros(3)
        z[0] = row["value"]
        z[1:] = row["all"]
        return np.sum(z)

    for function, specialise in ((f, True), (stores, True), (stores, False)):
        with options(specialise=specialise):
            assert srcgrad.grad(function)(2.0) == 3.0
            assert srcgrad.jvp(function, (2.0,), (1.0,)) == (6.0, 3.0)


def text_stored_as_numbers(x):
    numbers = np.zeros(2)
    numbers[:] = x.astype(str)
    return np.sum(numbers * x)


def numbers_stored_as_text(x):
    names = np.empty(2, dtype="U12")
    names[:] = x
    return np.float64(names[0]) * x[1]


def numbers_copied_as_text(x):
    names = np.array(["a long name", "b"])
    np.copyto(names, x, casting="unsafe")
    return names.astype(float)[1] * x[0]


def made_like_text(x):
    names = x.astype(np.array(["a long name"]).dtype)
    return np.sum(names.astype(np.float64) * x)


def by_the_name_of_a_dtype(x):
    return np.sum(x.astype("U32").astype(float) * x)


def by_a_dtype_that_is_given(x):
    return np.sum(as_dtype(x, "S24") * x)


def as_dtype(x, dtype):
    return np.array(x, dtype).astype(float)


def by_a_keyword(x):
    return np.float64(np.asarray(x, dtype="U32")[0]) * x[1]


def bytes_of_the_numbers(x):
    return np.sum(np.frombuffer(bytes(x)) * x)


def converted_to_objects(x):
    return x.astype(object)[0] * x[1]


def numbers_among_objects(x):
    row = np.array([None, "b"])
    row[0] = x[1] * 2.0
    return row[0] * x[0]


def read_by_the_dtype_of_an_array(x):
    """The number was read by no function that counted as reading, and powers of it took no text."""
    return np.array([f"{x[0]:.9f}"], float)[0] ** 2


def read_by_the_dtype_of_one_number(x):
    return np.asarray(f"{x[0]:.9f}", dtype="f8") * x[0]


def read_by_the_dtype_within_an_expression(x):
    return x[0] * len(x) * float(np.array([str(v) for v in x], dtype=float)[1] > 2.0) * np.asarray(str(x[0]), float)


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize(
    "function",
    [
        text_stored_as_numbers, numbers_stored_as_text, numbers_copied_as_text, made_like_text, numbers_among_objects,
        by_the_name_of_a_dtype, by_a_dtype_that_is_given, by_a_keyword, bytes_of_the_numbers, converted_to_objects,
        read_by_the_dtype_of_an_array, read_by_the_dtype_of_one_number, read_by_the_dtype_within_an_expression,
    ],
)  # fmt: skip
def test_numbers_that_go_through_arrays_of_text_are_refused(function: Callable[..., object], specialise: bool) -> None:
    x = np.array([1.5, 2.5])
    with options(specialise=specialise):
        for derivative in (lambda: srcgrad.grad(function)(x), lambda: srcgrad.jvp(function, (x,), (x,))):
            words = r"(?s)(from text|of dtype (<U|.S|object)|dtype is object|stores into what may be no array).*\^"
            with pytest.raises((srcgrad.SrcgradError, TypeError), match=words):
                derivative()


def test_text_and_nothing_may_take_the_place_of_arrays() -> None:
    def f(x):
        table = {"p": x, "q": x * 2.0}
        table["p"] = np.asarray("p")
        table["r"] = np.asarray(table.get("none"))
        return np.sum(table["q"] * x)

    x = np.array([1.5, 2.5])
    for specialise in (True, False):
        with options(specialise=specialise):
            np.testing.assert_allclose(srcgrad.grad(f)(x), 4.0 * x)
            np.testing.assert_allclose(srcgrad.jvp(f, (x,), (x,))[1], 4.0 * x @ x)


class Log:
    def __init__(self):
        self.lines = []

    def put(self, v):
        self.lines.append(f"{v}")


def note(table, v):
    table["k"].append(f"{v}")


def in_a_list_of_a_dict(x):
    table = {"k": []}
    table["k"].append(f"{x[0]}")
    return float(table["k"][0]) * x[1]


def put_there_by_a_callee(x):
    table = {"k": []}
    note(table, x[0])
    return float(table["k"][0]) * x[1]


def put_there_by_a_method(x):
    log = Log()
    log.put(x[0])
    return float(log.lines[-1]) * x[1]


def under_another_name(x):
    rows = [[]]
    row = rows[0]
    row.append(f"{x[0]}")
    return float(rows[0][0]) * x[1]


def under_another_field(x):
    log = Log()
    log.other = log.lines
    log.put(x[0])
    return float(log.other[0]) * x[1]


def under_another_key(x):
    table, other = {"k": []}, {}
    other["z"] = table["k"]
    other["z"].append(f"{x[0]}")
    return float(table["k"][0]) * x[1]


def under_any_key(x):
    table = {"a": ["1.0"], "b": ["2.0"]}
    for key in table:
        table[key].append(f"{x[0]}")
    return float(table["b"][1]) * x[1]


def share(table, other):
    other["z"] = table


def joined_by_a_callee(x):
    table, other = {"k": []}, {}
    share(table, other)
    table["k"].append(f"{x[0]}")
    return float(other["z"]["k"][0]) * x[1]


def first(table):
    return table["k"]


def got_from_a_callee(x):
    table = {"k": []}
    first(table).append(f"{x[0]}")
    return float(table["k"][0]) * x[1]


def by_setdefault(x):
    table = {}
    table.setdefault("k", []).append(f"{x[0]}")
    return float(table["k"][0]) * x[1]


def by_update(x):
    table = {"k": "1.0"}
    table.update({"k": f"{x[0]}"})
    return float(table["k"]) * x[1]


def deep_down(x):
    table = {"a": {"b": {"c": {"d": {"e": []}}}}}
    table["a"]["b"]["c"]["d"]["e"].append(f"{x[0]}")
    return float(table["a"]["b"]["c"]["d"]["e"][0]) * x[1]


def added_to_an_item(x):
    table = {"k": ""}
    table["k"] += f"{x[0]}"
    return float(table["k"]) * x[1]


@pytest.mark.parametrize(
    "function",
    [
        in_a_list_of_a_dict, put_there_by_a_callee, put_there_by_a_method, under_another_name, under_another_field,
        under_another_key, under_any_key, joined_by_a_callee, got_from_a_callee, by_setdefault, by_update, deep_down,
        added_to_an_item,
    ],
)  # fmt: skip
def test_text_that_is_reached_by_another_way_is_refused(function: Callable[..., object]) -> None:
    x = np.array([1.5, 2.5])
    for derivative in (lambda: srcgrad.grad(function)(x), lambda: srcgrad.jvp(function, (x,), (x,))):
        with pytest.raises(srcgrad.UnsupportedSyntax, match="from text"):
            derivative()


def test_numbers_beside_text_are_read() -> None:
    def f(x):
        table = {"log": [], "v": x[0] * x[1]}
        table["log"].append(f"{x[0]}")
        rows = [(f"row {v}", v * v) for v in x]
        return float(table["v"]) + sum(float(row[1]) for row in rows)

    x = np.array([1.5, 2.5])
    np.testing.assert_allclose(srcgrad.grad(f)(x), x[::-1] + 2.0 * x)


class Ledger:
    def __init__(self):
        self.lines, self.total, self.values = [], 0.0, []

    def note(self, v):
        self.lines.append(str(v))
        self.values.append(v * v)
        self.total = self.total + v


def logs_beside_values(x):
    log = {"msg": [], "val": []}
    for v in x:
        log["msg"].append(f"{v:.2f}")
        log["val"].append(v * v)
    for name, entries in log.items():
        print(name, entries)
    return float(log["val"][0]) * x[1]


def logs_in_an_object(x):
    ledger = Ledger()
    for v in x:
        ledger.note(v)
    return float(ledger.total) * x[0] + float(ledger.values[1])


def logs_in_a_callee(x):
    log = {"k": [], "v": []}
    log["v"].append(x[0] * x[1])
    note(log, x[0])
    log.setdefault("more", []).append(f"{x[1]}")
    return float(log["v"][0])


@pytest.mark.parametrize(
    ("function", "wanted"),
    [(logs_beside_values, [7.5, 2.25]), (logs_in_an_object, [5.5, 6.5]), (logs_in_a_callee, [2.5, 1.5])],
)
@pytest.mark.costly(1, first=2)
def test_values_beside_a_log_in_a_container_are_read(function: Callable[..., object], wanted: list[float]) -> None:
    x = np.array([1.5, 2.5])
    for specialise in (True, False):
        with options(specialise=specialise):
            np.testing.assert_allclose(srcgrad.grad(function)(x), wanted)
            np.testing.assert_allclose(srcgrad.jvp(function, (x,), (x,))[1], np.dot(wanted, x))


def from_a_string(t, x):
    return np.fromstring(t, sep=" ")[0]


def by_loadtxt(t, x):
    return np.loadtxt([t, "1"])[0]


def by_genfromtxt(t, x):
    return np.genfromtxt([t])


def by_longdouble(t, x):
    return np.longdouble(t)


def by_half(t, x):
    return np.float16(t)


def by_full(t, x):
    return np.full(2, t, dtype=float)[0]


def by_full_like(t, x):
    return np.full_like(x, t)[0]


def stored_at_a_place(t, x):
    y = np.zeros(1)
    y[0] = t
    return y[0]


def stored_in_a_slice(t, x):
    y = np.zeros(2)
    y[:] = [t, "1"]
    return y[0]


def filled(t, x):
    y = np.zeros(2)
    y.fill(t)
    return y[0]


def put(t, x):
    y = np.zeros(2)
    np.put(y, [0], [t])
    return y[0]


def copied(t, x):
    y = np.zeros(2)
    np.copyto(y, np.array([t] * 2), casting="unsafe")
    return y[0]


def store(y, t):
    y[0] = t


def stored_by_a_callee(t, x):
    y = np.zeros(1)
    store(y, t)
    return y[0]


def stacked(t, x):
    return np.stack([np.array(t)]).astype("f8")[0]


def by_what_is_chosen(t, x):
    f = float if x[0] > 0 else int
    return f(t)


@pytest.mark.parametrize(
    "read",
    [
        from_a_string, by_loadtxt, by_genfromtxt, by_longdouble, by_half, by_full, by_full_like, stored_at_a_place,
        stored_in_a_slice, filled, put, copied, stored_by_a_callee, stacked, by_what_is_chosen,
    ],
)  # fmt: skip
def test_text_is_a_number_to_no_function_of_numpy(read: Callable[..., object]) -> None:
    def f(x):
        return read(str(float(x[0])), x) * x[1]

    x = np.array([1.5, 2.5])
    for specialise in (True, False):
        with options(specialise=specialise), pytest.raises(srcgrad.UnsupportedSyntax, match="from text"):
            srcgrad.grad(f)(x)


def test_whole_numbers_and_arrays_of_names_lose_nothing() -> None:
    def f(x):
        names = [f"{v:.0f}" for v in x]
        places = np.array(["a long name", "b"])
        places[0] = names[1]
        kinds = np.unique(np.concatenate([np.array(names), np.array(["c"])]))
        return int(names[0]) * x[1] * len(kinds) * len(names[0] + str(places))

    x = np.array([2.0, 3.0])
    for specialise in (True, False):
        with options(specialise=specialise):
            np.testing.assert_allclose(srcgrad.grad(f)(x), [0.0, f(x) / x[1]])


def repeated_text(x):
    text = str(float(x[0])) * 1
    return float(text) * x[1]


def by_a_function_of_a_dict(x):
    readers = {"r": float}
    return readers["r"](str(float(x[0]))) * x[1]


@pytest.mark.parametrize("function", [repeated_text, by_a_function_of_a_dict])
def test_text_that_is_repeated_or_read_by_what_a_dict_holds_is_refused(function: Callable[..., object]) -> None:
    x = np.array([1.5, 2.5])
    for derivative in (lambda: srcgrad.grad(function)(x), lambda: srcgrad.jvp(function, (x,), (x,))):
        with pytest.raises(srcgrad.UnsupportedSyntax, match="from text"):
            derivative()


class Reading:
    def __init__(self):
        self.text, self.number = "", 0.0

    def note(self, v):
        self.text = f"{v}"

    def read(self):
        self.number = float(self.text)


def read_by_one_method_for_another(x):
    reading = Reading()
    reading.note(x[0])
    reading.read()
    return reading.number * x[1]


def keep_read(numbers, t):
    numbers[0] = float(t)


def kept_in_a_list_by_a_callee(x):
    numbers = [0.0]
    keep_read(numbers, str(float(x[0])))
    return numbers[0] * x[1]


def kept_in_an_array_by_a_callee(x):
    numbers = np.zeros(1)
    keep_read(numbers, str(float(x[0])))
    return numbers[0] * x[1]


def fill(view, t):
    view[:] = float(t)


def stored_into_a_view_by_a_callee(x):
    numbers = np.zeros((2, 2))
    fill(numbers[0], str(x[0]))
    return np.sum(numbers) * x[1]


def stored_into_a_row(x):
    numbers = np.zeros((2, 2))
    numbers[0][1] = str(float(x[0]))
    return np.sum(numbers) * x[1]


def labelled(x):
    return {"k": f"{x[0]}"}


def attempted_in_a_dict(x):
    try:
        made = labelled(x)
    except ValueError:
        made = {"k": "1.0"}
    return float(made["k"]) * x[1]


def fail(text):
    raise ValueError(text)


def raised_by_a_callee(x):
    try:
        fail(f"{x[0]}")
    except ValueError as error:
        return float(str(error)) * x[1]
    return x[1]


def a_key_that_was_read(x):
    table = {float(str(x[0])): 1.0}
    return sum(key for key in table) * x[1]


def text_of_a_key(x):
    table = {float(x[0]): 1.0}
    return float([str(key) for key in table][0]) * x[1]


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize(
    "function",
    [
        read_by_one_method_for_another, kept_in_a_list_by_a_callee, kept_in_an_array_by_a_callee,
        stored_into_a_view_by_a_callee, stored_into_a_row, attempted_in_a_dict, raised_by_a_callee,
        a_key_that_was_read, text_of_a_key,
    ],
)  # fmt: skip
def test_what_is_read_and_kept_elsewhere_is_refused(function: Callable[..., object], specialise: bool) -> None:
    """Silently wrong once: numbers that a callee had read were not followed, nor text in the result of an attempt."""
    x = np.array([1.5, 2.5])
    with options(specialise=specialise):
        for derivative in (lambda: srcgrad.grad(function)(x), lambda: srcgrad.jvp(function, (x,), (x,))):
            with pytest.raises((srcgrad.UnsupportedSyntax, Refused), match="E060[13]"):
                derivative()


def read_for_the_log_alone(x):
    reading = Reading()
    reading.note(x[0])
    reading.read()
    print(reading.number)
    return x[0] * x[1]


def asked_of_a_set(x):
    seen, total = set(), 0.0
    for v in x:
        label = f"{v:.1f}"
        if label not in seen:
            seen.add(label)
            total += v * v
    return total


@pytest.mark.parametrize(
    ("function", "wanted"), [(read_for_the_log_alone, [2.5, 1.5]), (asked_of_a_set, [3.0, 5.0])]
)
@pytest.mark.costly(1, first=1)
def test_text_that_is_read_for_no_result_or_asked_for_in_a_set_is_right(
    function: Callable[..., object], wanted: list[float]
) -> None:
    x = np.array([1.5, 2.5])
    for specialise in (True, False):
        with options(specialise=specialise):
            np.testing.assert_allclose(srcgrad.grad(function)(x), wanted)
            np.testing.assert_allclose(srcgrad.jvp(function, (x,), (x,))[1], np.dot(wanted, x))


def records_warnings(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(str(x * x), stacklevel=1)
    return x * float(str(caught[0].message))


def warns_in_an_expression(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        unit = warnings.warn(str(x * x), stacklevel=1) or 1.0
    return unit * float(str(caught[0].message))


def warns_of_a_constant(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("3.0", stacklevel=1)
    return x * float(str(caught[0].message))


def counts_warnings(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(str(x * x), stacklevel=1)
    return x * x * len(caught)


def test_what_is_warned_of_is_text_in_what_a_manager_gives() -> None:
    """Once a gradient without the part of the number that was read from the warning."""
    for specialise in (True, False):
        with options(specialise=specialise):
            for function in (records_warnings, warns_in_an_expression):
                with pytest.raises((TypeError, UnsupportedSyntax), match="E0601"):
                    srcgrad.grad(function)(0.7)
            np.testing.assert_allclose(srcgrad.grad(counts_warnings)(0.7), 1.4)
            np.testing.assert_allclose(srcgrad.grad(warns_of_a_constant)(0.7), 3.0)
