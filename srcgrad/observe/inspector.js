"use strict";
// Lights up the lines that belong together, opens stages as tabs, and moves by keyboard.  Without it the page reads
// from top to bottom, and line numbers are links.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const panes = all(".pane");
  const tabs = all('[role="tab"]');
  const stages = all('[role="tabpanel"]');
  const status = document.querySelector("[aria-live]");
  const byKey = new Map();
  for (const line of all(".ln[data-k]")) {
    const key = line.dataset.k;
    if (!byKey.has(key)) byKey.set(key, []);
    byKey.get(key).push(line);
  }
  const isShown = (element) => !element.closest("[hidden]");
  const paneOf = (element) => panes.find((pane) => pane.contains(element));
  const linesIn = (pane) => all(".ln[data-k]", pane).filter(isShown);
  let pinned = null;

  function light(line) {
    for (const lit of all(".lit, .here")) lit.classList.remove("lit", "here");
    if (!line) return;
    for (const other of byKey.get(line.dataset.k)) other.classList.add(other === line ? "here" : "lit");
  }
  function partners(line) {
    const own = paneOf(line);
    return byKey.get(line.dataset.k).filter((other) => isShown(other) && paneOf(other) !== own);
  }
  function pin(line, { scroll = true, focus = true } = {}) {
    for (const other of all('.ln[tabindex="0"]', paneOf(line))) other.tabIndex = -1;
    line.tabIndex = 0;
    pinned = line;
    if (focus) line.focus({ preventScroll: true });
    light(line);
    line.scrollIntoView({ block: "nearest" });
    const found = partners(line);
    if (scroll && found.length) found[0].scrollIntoView({ block: "center" });
    const number = line.querySelector(".no").textContent;
    if (status) status.textContent = `Line ${number} belongs to ${found.length} line${found.length === 1 ? "" : "s"} on the other side`;
  }
  function open(name) {
    for (const tab of tabs) {
      const chosen = tab.dataset.stage === name;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    for (const stage of stages) stage.hidden = stage.dataset.stage !== name;
    document.querySelector("#about").textContent = stages.find((s) => s.dataset.stage === name).dataset.about;
    for (const pane of panes) {
      const lines = linesIn(pane);
      if (lines.length && !lines.some((line) => line.tabIndex === 0)) lines[0].tabIndex = 0;
    }
    if (pinned && isShown(pinned)) pin(pinned, { focus: false });
    else light(null);
  }
  function follow(hash) {
    const target = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
    if (!target) return false;
    const stage = target.closest('[role="tabpanel"]');
    if (stage) open(stage.dataset.stage);
    const line = target.matches(".ln") ? target : target.querySelector(".ln[data-k]");
    if (line && line.dataset.k) pin(line);
    target.scrollIntoView({ block: "center" });
    return true;
  }
  document.addEventListener("pointerover", (event) => light(event.target.closest(".ln[data-k]") || pinned));
  document.addEventListener("focusin", (event) => {
    const line = event.target.closest(".ln[data-k]");
    if (line && line !== pinned) pin(line, { focus: false });
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && follow(link.hash)) {
      event.preventDefault();
      history.replaceState(null, "", link.hash);
      return;
    }
    const tab = event.target.closest('[role="tab"]');
    if (tab) open(tab.dataset.stage);
    const line = event.target.closest(".ln[data-k]");
    if (line && !String(getSelection())) pin(line);
    if (event.target.closest(".theme")) theme();
  });
  function theme() {
    const isDark = getComputedStyle(root).colorScheme === "dark";
    root.dataset.theme = isDark ? "light" : "dark";
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = document.activeElement;
    const line = at && at.closest(".ln[data-k]");
    const onTab = at && at.matches('[role="tab"]');
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (line && step) {
      const lines = linesIn(paneOf(line));
      const next = lines[lines.indexOf(line) + step];
      if (next) pin(next);
    } else if (line && ["ArrowRight", "ArrowLeft", "Enter"].includes(event.key)) {
      if (at !== line && event.key === "Enter") return; // a link in the line
      const found = partners(line);
      if (found.length) pin(found[0]);
    } else if (onTab && ["ArrowRight", "ArrowLeft"].includes(event.key)) {
      const turn = event.key === "ArrowRight" ? 1 : tabs.length - 1;
      const next = tabs[(tabs.indexOf(at) + turn) % tabs.length];
      open(next.dataset.stage);
      next.focus();
    } else if (tabs[Number(event.key) - 1]) {
      open(tabs[Number(event.key) - 1].dataset.stage);
    } else if (event.key === "t") {
      theme();
    } else if (event.key === "Escape") {
      pinned = null;
      light(null);
      if (at) at.blur();
    } else return;
    event.preventDefault();
  });
  const main = document.querySelector("main");
  if (main.dataset.together) {
    for (const pane of panes) {
      pane.addEventListener("scroll", () => {
        for (const other of panes) if (other !== pane) other.scrollTop = pane.scrollTop;
      });
    }
  }
  const first = main.dataset.open;
  if (tabs.some((tab) => tab.dataset.stage === first)) open(first);
  follow(location.hash);
})();
