"""The inspector in a real browser: clicks, keyboard, both themes, without JavaScript, and in a notebook's frame.

Chromium and its driver come from the system's packages (``chromium``, ``chromium-driver``), Selenium from the extra
``browser``.  Where one of them is missing these tests are skipped; ``.ci/run`` has them.
``SRCGRAD_SCREENSHOTS=FOLDER`` keeps the pictures.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import srcgrad
from tests.observe import pages, programs

webdriver = pytest.importorskip("selenium.webdriver", reason="the extra browser is not installed")
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="chromium and chromedriver are not installed")

NAMES = ("loop", "stores", "objects", "callee", "second order")


def started(*arguments, scripts=True):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1360,860", *arguments):
        options.add_argument(argument)
    if not scripts:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(DRIVER))


@pytest.fixture(scope="module")
def browser():
    made = started()
    yield made
    made.quit()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("pages")
    for name in NAMES:
        pages.annotated(name).save(made / f"{name.replace(' ', '_')}.html")
    return made


def opened(browser, folder, name):
    browser.get((folder / f"{name.replace(' ', '_')}.html").as_uri())
    keep(browser, name)
    return browser


def keep(browser, name):
    if wanted := os.environ.get("SRCGRAD_SCREENSHOTS"):
        browser.save_screenshot(str(Path(wanted) / f"{name.replace(' ', '_')}.png"))


def shown(browser, selector):
    return [one for one in browser.find_elements(By.CSS_SELECTOR, selector) if one.is_displayed()]


def lit(browser):
    """The lines that are lit, as texts of both sides."""
    left, right = (
        [line for line in pane.find_elements(By.CSS_SELECTOR, ".lit, .here") if line.is_displayed()]
        for pane in browser.find_elements(By.CSS_SELECTOR, ".pane")
    )
    code = lambda line: line.find_element(By.CSS_SELECTOR, "code").text.strip()
    return list(map(code, left)), list(map(code, right))


def user_line(browser, text):
    pane = browser.find_elements(By.CSS_SELECTOR, ".pane")[0]
    (found,) = [line for line in pane.find_elements(By.CSS_SELECTOR, ".ln") if line.text.strip().endswith(text)]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_without_complaint_and_asks_for_nothing(browser, folder, name):
    browser.get_log("performance")
    opened(browser, folder, name)
    assert browser.get_log("browser") == []
    told = [entry["message"] for entry in browser.get_log("performance")]
    assert all('"url":"file:' in message for message in told if "Network.requestWillBeSent" in message)
    assert [tab.text for tab in shown(browser, '[role="tab"]')] == ["Normal form", "Derivative", "Optimised"]
    assert len(shown(browser, '[role="tabpanel"]')) == 1
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def test_hovering_lights_up_what_belongs_together(browser, folder):
    opened(browser, folder, "loop")
    line = user_line(browser, "h = np.tanh(w @ h)")
    ActionChains(browser).move_to_element(line.find_element(By.CSS_SELECTOR, "code")).perform()
    left, right = lit(browser)
    assert left == ["h = np.tanh(w @ h)"]
    assert any("np.tanh(w @ h)" in text for text in right) and any("h_bar" in text for text in right)
    ActionChains(browser).move_to_element(browser.find_element(By.CSS_SELECTOR, "h1")).perform()
    assert lit(browser) == ([], [])


def test_a_click_stays_and_scrolls_the_other_side(browser, folder):
    opened(browser, folder, "stores")
    user_line(browser, "u = new").click()
    ActionChains(browser).move_to_element(browser.find_element(By.CSS_SELECTOR, "h1")).perform()
    left, right = lit(browser)
    assert left == ["u = new"] and right
    first = [line for line in shown(browser, ".pane + .pane .lit")][0]
    pane = browser.find_elements(By.CSS_SELECTOR, ".pane")[1]
    top = first.rect["y"] - pane.rect["y"]
    assert 0 <= top <= pane.rect["height"]
    keep(browser, "stores_clicked")


def test_the_keyboard_reaches_everything(browser, folder):
    opened(browser, folder, "objects")
    press = lambda *keys: [ActionChains(browser).send_keys(key).perform() for key in keys]
    active = lambda: browser.switch_to.active_element
    for _ in range(20):
        press(Keys.TAB)
        if "ln" in (active().get_attribute("class") or "").split():
            break
    assert "def springs(x):" in active().text
    press(Keys.ARROW_DOWN)
    assert "for spring in" in active().text  # what leaves no trace in the derivative is passed over
    press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert "energy" in active().text and active().get_attribute("id").startswith("optimised-")
    press(Keys.ARROW_LEFT)
    assert "spring.energy(x)" in active().text
    press("1")
    assert [panel.get_attribute("id") for panel in shown(browser, '[role="tabpanel"]')] == ["normal"]
    assert lit(browser)[1]  # the same line, in this stage
    press("2")
    assert [tab.text for tab in shown(browser, '[aria-selected="true"]')] == ["Derivative"]
    press(Keys.ESCAPE)
    assert lit(browser) == ([], [])


def test_a_call_opens_its_callee(browser, folder):
    opened(browser, folder, "callee")
    (call,) = [a for a in shown(browser, ".pane:first-child code a") if a.text == "helper"]
    call.click()
    assert lit(browser)[0] == ["def helper(v):"]
    called = [a for a in shown(browser, '[role="tabpanel"] code a') if a.text == "helper_bwd"][0]
    called.click()
    assert any(text.startswith("def helper_bwd(") for text in lit(browser)[1])


def test_tabs_by_mouse_and_by_arrow_keys(browser, folder):
    opened(browser, folder, "second order")
    tabs = shown(browser, '[role="tab"]')
    tabs[0].click()
    assert [panel.get_attribute("id") for panel in shown(browser, '[role="tabpanel"]')] == ["normal"]
    ActionChains(browser).send_keys(Keys.ARROW_RIGHT).perform()
    assert browser.switch_to.active_element.text == "Derivative"


def test_light_and_dark(browser, folder):
    opened(browser, folder, "loop")
    paper = lambda: browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    before = paper()
    browser.find_element(By.CSS_SELECTOR, ".theme").click()
    assert paper() != before
    keep(browser, "loop_dark")
    browser.find_element(By.CSS_SELECTOR, ".theme").click()
    assert paper() == before


def test_text_stands_out_from_what_is_behind_it(browser, folder):
    """Every colour of text has at least the contrast of 4.5 that WCAG asks for, lit or not, in both themes."""
    opened(browser, folder, "stores")
    for theme in ("light", "dark"):
        found = browser.execute_script(
            "document.documentElement.dataset.theme = arguments[0];"
            "const style = getComputedStyle(document.documentElement);"
            "return Object.fromEntries(arguments[1].map((n) => [n, style.getPropertyValue('--' + n).trim()]))",
            theme, ["paper", "lit", "ink", "faint", "keyword", "string", "comment", "number", "link", "bad"],
        )  # fmt: skip
        for name in ("ink", "faint", "keyword", "string", "comment", "number", "link", "bad"):
            assert contrast(found[name], found["paper"]) >= 4.5, (theme, name)
            if name not in ("faint", "bad"):
                assert contrast(found[name], found["lit"]) >= 4.5, (theme, name, "lit")


def contrast(one, other):
    """The contrast ratio of two colours (WCAG 2.2, relative luminance)."""
    lights = []
    for colour in (one, other):
        parts = np.array([int(colour[j : j + 2], 16) / 255 for j in (1, 3, 5)])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        lights.append(float(linear @ [0.2126, 0.7152, 0.0722]))
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_hostile_text_does_not_run(browser, tmp_path):
    path = tmp_path / "hostile.html"
    srcgrad.grad(pages.hostile).annotate().save(path)
    browser.get(path.as_uri())
    assert browser.title.startswith("Gradient of tests.observe.pages.hostile")
    assert browser.get_log("browser") == []


def test_a_narrow_window_puts_one_side_above_the_other(browser, folder):
    size = browser.get_window_size()
    try:
        browser.set_window_size(520, 900)
        opened(browser, folder, "loop")
        left, right = browser.find_elements(By.CSS_SELECTOR, ".pane")
        assert right.rect["y"] >= left.rect["y"] + left.rect["height"] - 1
    finally:
        browser.set_window_size(size["width"], size["height"])


def test_a_notebook_shows_the_page_in_a_frame(browser, tmp_path):
    path = tmp_path / "cell.html"
    path.write_text(f"<!doctype html><body>{srcgrad.grad(programs.layers)._repr_html_()}</body>", encoding="utf-8")
    browser.get(path.as_uri())
    browser.switch_to.frame(0)
    user_line(browser, "h = np.tanh(w @ h)").click()
    assert lit(browser)[1]
    browser.switch_to.default_content()
    keep(browser, "notebook")


def test_without_javascript_all_stages_stand_below_each_other(folder):
    plain = started(scripts=False)
    try:
        plain.get((folder / "callee.html").as_uri())
        assert len(shown(plain, '[role="tabpanel"]')) == 3
        assert not shown(plain, ".theme") and not shown(plain, '[role="tab"]')
        link = shown(plain, ".pane:first-child a.no")[1]
        target = link.get_attribute("href").rpartition("#")[2]
        link.click()
        assert plain.current_url.endswith(f"#{target}")
        assert plain.find_element(By.CSS_SELECTOR, ":target").get_attribute("id") == target
        keep(plain, "without_javascript")
    finally:
        plain.quit()


def test_paper_shows_all_of_it(browser, folder):
    opened(browser, folder, "loop")
    pdf = browser.print_page()
    assert len(pdf) > 10_000
