"""The page says which lines belong together, escapes what comes from programs, and needs nothing but itself."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import srcgrad
from srcgrad.observe.comparing import as_text, compared
from srcgrad.observe.listing import listing
from srcgrad.observe.page import coloured
from tests.observe import pages, programs


class Reader(HTMLParser):
    """Elements with their attributes, and the text of each line."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.lines, self.open = [], {}, []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.elements.append((tag, attrs))
        if tag in ("meta", "img", "br", "link", "input"):
            return
        self.open.append(attrs.get("id") if "ln" in (attrs.get("class") or "").split() else None)

    def handle_endtag(self, tag):
        self.open.pop()

    def handle_data(self, data):
        for line in filter(None, self.open):
            self.lines[line] = self.lines.get(line, "") + data

    def having(self, **attributes):
        names = {name.replace("_", "-"): value for name, value in attributes.items()}
        return [a for _, a in self.elements if all(a.get(name) == value for name, value in names.items())]


def marks_of(function, *args):
    derivative = srcgrad.grad(function)
    found = listing(derivative.program_for(derivative.bind(args, {})), "title")
    first = function.__code__.co_firstlineno
    return {line - first: marks for (file, line), marks in found.marks.items() if file == 0}, found


def test_lines_are_marked_by_what_they_do():
    marks, found = marks_of(programs.heat, np.linspace(0.0, 1.0, 6), 3, 0.1)
    assert marks[5].active and not marks[4].active and "items" in marks[4].recorded
    assert [stage.name for stage in found.stages] == ["normal", "reverse", "optimised"]
    assert [part.name for part in found.sources] == ["heat"]
    assert [line.number for line in found.sources[0].lines] == list(range(*_extent(programs.heat, 8)))
    marks, _ = marks_of(programs.layers, np.full((4, 4), 0.1), np.ones(4), 3)
    assert marks[3].recorded and marks[3].active and not marks[4].recomputed


def _extent(function, count):
    first = function.__code__.co_firstlineno
    return first, first + count


def test_callees_and_methods_are_beside_the_function():
    _, found = marks_of(programs.springs, 0.3)
    assert [part.name for part in found.sources] == ["springs", "Spring.__init__", "Spring.energy"]


def test_every_line_leads_to_a_line_of_the_users():
    html = pages.annotated("callee").html
    reader = Reader(html)
    ids = {a["id"] for _, a in reader.elements if "id" in a}
    links = [a["href"] for tag, a in reader.elements if tag == "a"]
    assert links and all(link.startswith("#") and link[1:] in ids for link in links)
    first = programs.helper.__code__.co_firstlineno
    assert reader.lines[f"u-0-{first + 1}"].endswith("return np.sqrt(np.sum(v**2) - 4.0)")
    emitted = reader.having(data_k=f"0-{first + 1}")
    assert len(emitted) > 3


def test_a_call_leads_to_its_callee():
    reader = Reader(pages.annotated("callee").html)
    texts = [text for text in reader.lines.values() if "helper(v * (3 - k))" in text]
    assert texts
    assert {"#u1", "#optimised-f2", "#optimised-f3"} <= {a.get("href") for tag, a in reader.elements if tag == "a"}


@pytest.mark.parametrize("name", ["loop", "stores", "objects", "callee", "second order"])
def test_the_page_needs_nothing_but_itself(name):
    html = pages.annotated(name).html
    reader = Reader(html)
    loading = [a for _, a in reader.elements if any(k in a for k in ("src", "srcset", "data", "action", "style"))]
    assert not loading and "http" not in html.replace('http-equiv="Content', "")
    (policy,) = [a["content"] for a in reader.having(http_equiv="Content-Security-Policy")]
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    ids = [a["id"] for _, a in reader.elements if "id" in a]
    assert len(ids) == len(set(ids))


def test_what_comes_from_a_program_is_escaped():
    html = srcgrad.grad(pages.hostile).annotate().html
    assert html.count("<script>") == 1 == html.count("</script>")
    assert "<img" not in html and "&lt;script&gt;" in html
    reader = Reader(html)
    first = pages.hostile.__code__.co_firstlineno
    assert reader.lines[f"u-0-{first + 3}"].endswith('</script> &amp; "quotes"')
    shown = srcgrad.grad(pages.hostile)._repr_html_()
    assert shown.count("<") == 2 and "<script" not in shown


def test_a_file_with_an_evil_name_is_escaped(tmp_path):
    path = tmp_path / '"><script>alert(1)<.py'.replace("/", "")
    path.write_text("def f(x):\n    return x * x\n")
    namespace = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    html = srcgrad.grad(namespace["f"]).annotate().html
    assert html.count("<script>") == 1 and "&lt;script&gt;alert(1)&lt;.py" in html


def test_a_refusal_that_is_reached_is_marked():
    text = srcgrad.grad(pages.refused_where_reached).annotate().html
    assert "Refused if reached: " in text and 'class="tag refused"' in text


def test_a_notebook_shows_why_a_function_is_refused():
    def generates(x):
        yield x * "<b>"

    text = srcgrad.grad(generates)._repr_html_()
    assert "E0102" in text and "&lt;b&gt;" in text and "<b>" not in text


def test_a_measured_run_shades_lines_and_shows_costs():
    reader = Reader(pages.annotated("loop").html)
    heats = [a["class"] for _, a in reader.elements if "heat" in (a.get("class") or "")]
    assert heats
    assert any(re.search(r"\d+ B in 3", text) for text in reader.lines.values())


def test_explain_is_text_and_shows_the_page_in_a_notebook():
    told = srcgrad.grad(programs.layers).explain()
    assert told.startswith("def layers(w, x, n):") and isinstance(told, str)
    assert "data-open=&quot;normal&quot;" in told._repr_html_()
    assert srcgrad.grad(programs.layers).explain("refusals")._repr_html_() is None


def test_text_that_is_no_python_is_shown_as_it_is():
    assert coloured(["%timeit f(x) <", "x = 'a"], {})[0] == "%timeit f(x) &lt;"


def faster(u, steps, alpha):
    """The same, without a loop over the places."""
    for step in range(steps):
        new = u.copy()
        new[1:-1] = u[1:-1] + alpha * (u[:-2] - 2.0 * u[1:-1] + u[2:])
        u = new
    return np.sum(u**2)


def renamed(w, x, n):
    h = x
    # a comment more, which moves what follows
    for step in range(n):
        h = np.tanh(w @ h)
    return np.sum(h**2)


def test_derivatives_are_compared_without_where_they_come_from():
    old, new = (srcgrad.grad(f).shown().emission for f in (programs.layers, renamed))
    changes = [row for rows in compared(old, new) for row in rows if row.sign != " "]
    assert [row.text[:12] for row in changes] == ["def grad_lay", "def grad_ren"]
    old, new = (srcgrad.grad(f).shown().emission for f in (programs.heat, faster))
    text = as_text(compared(old, new), ("old", "new"))
    assert text.startswith("--- old\n+++ new\n@@ -") and "\n+" in text and "\n-" in text
    assert compared(old, old) == []
