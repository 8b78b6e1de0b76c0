// SPDX-License-Identifier: MIT
//
// What a report does beyond showing itself: the exact values of a point under the pointer or the
// focus, tables that sort, light or dark, folding. It is the last thing in the page, and nothing in
// the page waits for it.
"use strict";
(() => {
  const root = document.documentElement;
  const tip = document.getElementById("tip");
  const NEAR = 22; // px of the screen around a point that belong to it
  const MARK = 8; // px of a chart around a mark that lies on a bar

  // ---- tooltips -----------------------------------------------------------------------------------

  let shown = null; // the point that is told about

  // The browser's own tooltip would come on top of ours: a title goes when it was read.
  const words = (use) => {
    const title = use.querySelector("title");
    if (title) {
      use.setAttribute("aria-label", title.textContent.replaceAll("\n", ", "));
      use.dataset.words = title.textContent;
      title.remove();
    }
    return use.dataset.words;
  };

  const hide = () => {
    if (!shown) return;
    shown.classList.remove("on");
    shown = null;
    tip.hidden = true;
  };

  const place = (use) => {
    const box = use.getBoundingClientRect();
    const x = box.left + box.width / 2, y = box.top;
    const left = Math.max(4, Math.min(x - tip.offsetWidth / 2, root.clientWidth - tip.offsetWidth - 4));
    const above = y - tip.offsetHeight - 8;
    tip.style.left = left + "px";
    tip.style.top = (above < 4 ? box.bottom + 8 : above) + "px";
  };

  const show = (use) => {
    if (use === shown) return;
    hide();
    shown = use;
    use.classList.add("on");
    tip.textContent = words(use);
    tip.hidden = false;
    place(use);
  };

  const points = new WeakMap(); // of a chart: its points, with their places in the chart's own px

  const pointsOf = (chart) => {
    if (!points.has(chart)) {
      points.set(chart, [...chart.querySelectorAll("use")].map((use) =>
        ({ use, x: use.x.baseVal.value, y: use.y.baseVal.value, bar: use.closest(".bars") !== null })));
    }
    return points.get(chart);
  };

  const nearest = (chart, event) => {
    const box = chart.getBoundingClientRect();
    const scale = chart.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
    let best = null, least = (NEAR * scale) ** 2;
    for (const point of pointsOf(chart)) {
      const along = point.x - x; // all of a bar is near, but a mark on it is nearer
      const distance = (point.bar && along > 0 ? Math.min(along, MARK) : along) ** 2 + (point.y - y) ** 2;
      if (distance < least) [best, least] = [point.use, distance];
    }
    return best;
  };

  const chartOf = (event) => event.target instanceof Element ? event.target.closest(".chart") : null;

  const onPointer = (event) => {
    const chart = chartOf(event);
    const use = chart && nearest(chart, event);
    if (use) show(use);
    else if (!shown || document.activeElement !== shown) hide();
  };

  // One stop of the Tab key a chart; arrows go on from there: along a series, and to the next one.
  const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

  // A ladder's bars follow each other downwards: there the axes change places.
  const neighbour = (use, step) => {
    const ladder = use.closest(".ladder") !== null, axis = ladder ? "y" : "x";
    const [series, along] = ladder ? [step[1], step[0]] : step;
    const groups = [...use.closest(".chart").querySelectorAll("g")].filter((g) => g.querySelector("use"));
    const group = use.parentNode;
    const inner = [...group.querySelectorAll("use")];
    if (along) return inner[inner.indexOf(use) + along];
    const other = groups[groups.indexOf(group) + series];
    if (!other) return undefined;
    const at = use[axis].baseVal.value;
    return [...other.querySelectorAll("use")].reduce((a, b) =>
      Math.abs(b[axis].baseVal.value - at) < Math.abs(a[axis].baseVal.value - at) ? b : a);
  };

  const move = (from, to) => {
    from.setAttribute("tabindex", "-1");
    to.setAttribute("tabindex", "0");
    to.setAttribute("role", "img");
    to.focus();
  };

  const onKey = (event) => {
    if (event.key === "Escape") return hide();
    const use = event.target;
    if (!(use instanceof SVGUseElement) || !STEPS[event.key]) return;
    event.preventDefault();
    const next = neighbour(use, STEPS[event.key]);
    if (next) move(use, next);
  };

  for (const chart of document.querySelectorAll(".chart")) {
    const first = chart.querySelector("use");
    if (!first) continue;
    first.setAttribute("tabindex", "0");
    first.setAttribute("role", "img");
  }
  document.addEventListener("pointermove", onPointer, { passive: true });
  document.addEventListener("pointerdown", onPointer, { passive: true });
  document.addEventListener("keydown", onKey);
  document.addEventListener("focusin", (event) => {
    if (event.target instanceof SVGUseElement) show(event.target);
    else hide();
  });
  document.addEventListener("scroll", () => shown && place(shown), { passive: true, capture: true });

  // ---- sorting ------------------------------------------------------------------------------------

  const numberOf = (cell) => {
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    const text = cell.textContent.trim();
    return /^[-+]?[\d.]+(e[-+]?\d+)?$/i.test(text) ? Number(text) : NaN;
  };

  // Numbers by value before texts by alphabet; empty cells last whichever way.
  const compare = (a, b, sign) => {
    const empty = (one) => one.text === "" || one.text === "-" || one.text === "–";
    if (empty(a) || empty(b)) return empty(a) - empty(b);
    const [x, y] = [Number.isNaN(a.number), Number.isNaN(b.number)];
    if (!x && !y) return sign * (a.number - b.number);
    if (x !== y) return sign * (x - y);
    return sign * a.text.localeCompare(b.text, undefined, { numeric: true });
  };

  const sort = (head) => {
    const table = head.closest("table"), body = table.tBodies[0];
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
    const keyed = [...body.rows].map((row) => {
      const cell = row.cells[head.cellIndex];
      return { row, number: numberOf(cell), text: cell.textContent.trim() };
    });
    keyed.sort((a, b) => compare(a, b, sign)); // stable (ECMAScript 2019)
    body.append(...keyed.map((one) => one.row));
  };

  for (const head of document.querySelectorAll(".sortable th:not([data-plain])")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
  }
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("th button") : null;
    if (button) sort(button.closest("th"));
  });

  // ---- light or dark, folding ---------------------------------------------------------------------

  const theme = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  const label = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("moonwarp-theme", root.dataset.theme); } catch { /* a file: page may have none */ }
    label();
  });
  system.addEventListener("change", label);
  label();

  const unfold = document.getElementById("unfold");
  unfold.addEventListener("click", () => {
    const all = [...document.querySelectorAll("details")];
    const open = !all.every((one) => one.open);
    for (const one of all) one.open = open;
    unfold.textContent = open ? "Fold all" : "Unfold all";
  });

  // A link to a run that is folded away opens it.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
