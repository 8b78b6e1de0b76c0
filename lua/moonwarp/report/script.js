// SPDX-License-Identifier: MIT
//
// What a report does beyond showing itself: the exact values of a point under the pointer or the
// focus, tables that sort, light or dark, folding. It is at the end of the page, and nothing in
// the page waits for it.
"use strict";
(() => {
  const root = document.documentElement;
  const tip = document.getElementById("tip");
  const NEAR = 22; // px of the screen around a point that belong to it
  const MARK = 8; // px of a chart around a mark that lies on a bar
  const around = (event, selector) => event.target.closest?.(selector); // the document has no closest

  // ---- tooltips -----------------------------------------------------------------------------------

  let shown = null; // the point whose tooltip is shown

  // The browser's tooltip would cover ours: a title is removed when it is read.
  const words = (point) => {
    const title = point.querySelector("title");
    if (title) {
      point.setAttribute("aria-label", title.textContent.replaceAll("\n", ", "));
      point.dataset.words = title.textContent;
      title.remove();
    }
    return point.dataset.words;
  };

  const hide = () => {
    shown?.classList.remove("on");
    shown = null;
    tip.hidden = true;
  };

  const place = () => {
    const box = shown.getBoundingClientRect();
    const left = box.left + box.width / 2 - tip.offsetWidth / 2, above = box.top - tip.offsetHeight - 8;
    tip.style.left = Math.max(4, Math.min(left, root.clientWidth - tip.offsetWidth - 4)) + "px";
    tip.style.top = (above < 4 ? box.bottom + 8 : above) + "px";
  };

  const show = (point) => {
    if (point === shown) return;
    hide();
    shown = point;
    point.classList.add("on");
    tip.textContent = words(point);
    tip.hidden = false;
    place();
  };

  // The points of a chart and where they are, in the chart's own px: gnuplot moves a point's mark by
  // transform="translate(68.25,485.20) scale(5.62)".
  const pointsOf = (chart) => [...chart.querySelectorAll(".point")].filter((point) => !point.closest(".off"))
    .map((point) => {
      const { e: x, f: y } = point.querySelector("use").transform.baseVal.consolidate().matrix;
      return { point, x, y };
    });

  const isLadder = (chart) => chart.classList.contains("ladder");

  const nearest = (chart, event) => {
    const to = chart.getScreenCTM();
    const x = (event.clientX - to.e) / to.a, y = (event.clientY - to.f) / to.d;
    let best = null, least = (NEAR / to.a) ** 2;
    for (const one of pointsOf(chart)) {
      const along = one.x - x; // all of a bar is near, but a mark on it is nearer
      const distance = (isLadder(chart) && along > 0 ? Math.min(along, MARK) : along) ** 2 + (one.y - y) ** 2;
      if (distance < least) [best, least] = [one.point, distance];
    }
    return best;
  };

  const onPointer = (event) => {
    const chart = around(event, ".chart");
    const point = chart && nearest(chart, event);
    if (point) show(point);
    else if (document.activeElement !== shown) hide();
  };

  // One stop of the Tab key per chart. Arrows move along a series and to the next one. A ladder's
  // bars run downwards: there the axes are exchanged.
  const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

  const neighbour = (point, step) => {
    const chart = point.closest(".chart"), turned = isLadder(chart);
    const [across, along] = turned ? step.toReversed() : step;
    const curves = [...Map.groupBy(pointsOf(chart), (one) => one.point.closest(".curve, .rest")).values()];
    const at = curves.findIndex((curve) => curve.some((one) => one.point === point));
    const own = curves[at].findIndex((one) => one.point === point), from = curves[at][own];
    if (along) return curves[at][own + along]?.point;
    const distance = (one) => turned ? Math.abs(one.y - from.y) : Math.abs(one.x - from.x);
    return curves[at + across]?.sort((a, b) => distance(a) - distance(b))[0].point;
  };

  const set = (element, attributes) => {
    for (const [name, value] of Object.entries(attributes)) element?.setAttribute(name, value);
  };

  // An entry of the key turns its curve off and on, with the error bars and points that follow it.
  const turn = (entry) => {
    const curve = entry.closest(".curve"), off = curve.classList.toggle("off");
    for (let next = curve.nextElementSibling; next?.matches(".rest"); next = next.nextElementSibling) {
      next.classList.toggle("off", off);
    }
    set(entry, { "aria-pressed": !off });
  };

  const onKey = (event) => {
    if (event.key === "Escape") return hide();
    const target = event.target, step = STEPS[event.key];
    const entry = target.matches(".entry") && (event.key === "Enter" || event.key === " ");
    if (!entry && !(step && target.matches(".point"))) return;
    event.preventDefault();
    if (entry) return turn(target);
    const next = neighbour(target, step);
    if (!next) return;
    set(target, { tabindex: -1 });
    set(next, { tabindex: 0, role: "img" });
    next.focus();
  };

  for (const chart of document.querySelectorAll(".chart")) {
    set(chart.querySelector(".point"), { tabindex: 0, role: "img" });
    for (const curve of chart.querySelectorAll(".curve")) {
      set(curve.querySelector(".entry"), { tabindex: 0, role: "button", "aria-pressed": true,
        "aria-label": curve.querySelector("title")?.textContent ?? "" });
    }
  }
  document.addEventListener("pointermove", onPointer, { passive: true });
  document.addEventListener("pointerdown", onPointer, { passive: true });
  document.addEventListener("keydown", onKey);
  document.addEventListener("focusin", (event) => event.target.matches(".point") ? show(event.target) : hide());
  document.addEventListener("scroll", () => shown && place(), { passive: true, capture: true });

  // ---- sorting ------------------------------------------------------------------------------------

  // Numbers by value before texts by alphabet; empty cells last in both directions.
  const compare = (a, b, sign) => a.empty - b.empty || sign * (Number.isNaN(a.number) - Number.isNaN(b.number)
    || a.number - b.number || a.text.localeCompare(b.text, undefined, { numeric: true }));

  const sort = (button) => {
    const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
    const keyed = [...body.rows].map((row) => {
      const cell = row.cells[head.cellIndex], text = cell.textContent.trim();
      return { row, text, empty: /^[-–]?$/.test(text), number: Number(cell.dataset.v ?? (text || NaN)) };
    });
    body.append(...keyed.sort((a, b) => compare(a, b, sign)).map((one) => one.row));
  };

  for (const head of document.querySelectorAll(".sortable th:not([data-plain])")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
  }

  // ---- light or dark, folding ---------------------------------------------------------------------

  const theme = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const label = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  const changeTheme = () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("moonwarp-theme", root.dataset.theme); } catch { /* a file: page may have none */ }
    label();
  };
  system.addEventListener("change", label);
  label();

  const unfold = (button) => {
    const all = [...document.querySelectorAll("details")], open = !all.every((one) => one.open);
    for (const one of all) one.open = open;
    button.textContent = open ? "Fold all" : "Unfold all";
  };

  // A link to a folded run opens it.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener("hashchange", reveal);
  reveal();

  const BUTTONS = { ".entry": turn, "th button": sort, "#theme": changeTheme, "#unfold": unfold };
  document.addEventListener("click", (event) => {
    for (const [selector, act] of Object.entries(BUTTONS)) {
      const button = around(event, selector);
      if (button) act(button);
    }
  });
})();
