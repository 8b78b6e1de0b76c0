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
    if (!shown) return;
    shown.classList.remove("on");
    shown = null;
    tip.hidden = true;
  };

  const place = (point) => {
    const box = point.getBoundingClientRect();
    const x = box.left + box.width / 2, y = box.top;
    const left = Math.max(4, Math.min(x - tip.offsetWidth / 2, root.clientWidth - tip.offsetWidth - 4));
    const above = y - tip.offsetHeight - 8;
    tip.style.left = left + "px";
    tip.style.top = (above < 4 ? box.bottom + 8 : above) + "px";
  };

  const show = (point) => {
    if (point === shown) return;
    hide();
    shown = point;
    point.classList.add("on");
    tip.textContent = words(point);
    tip.hidden = false;
    place(point);
  };

  const places = new WeakMap(); // of a chart: its points and where they are, in the chart's own px

  // gnuplot moves a point's mark: transform="translate(68.25,485.20) scale(5.62)".
  const pointsOf = (chart) => {
    if (!places.has(chart)) {
      places.set(chart, [...chart.querySelectorAll(".point")].map((point) => {
        const { e: x, f: y } = point.querySelector("use").transform.baseVal.consolidate().matrix;
        return { point, x, y };
      }));
    }
    return places.get(chart).filter(({ point }) => !point.closest(".off"));
  };

  const nearest = (chart, event) => {
    const to = chart.getScreenCTM(), ladder = chart.classList.contains("ladder");
    const x = (event.clientX - to.e) / to.a, y = (event.clientY - to.f) / to.d;
    let best = null, least = (NEAR / to.a) ** 2;
    for (const one of pointsOf(chart)) {
      const along = one.x - x; // all of a bar is near, but a mark on it is nearer
      const distance = (ladder && along > 0 ? Math.min(along, MARK) : along) ** 2 + (one.y - y) ** 2;
      if (distance < least) [best, least] = [one.point, distance];
    }
    return best;
  };

  const chartOf = (event) => event.target instanceof Element ? event.target.closest(".chart") : null;

  const onPointer = (event) => {
    const chart = chartOf(event);
    const point = chart && nearest(chart, event);
    if (point) show(point);
    else if (!shown || document.activeElement !== shown) hide();
  };

  // One stop of the Tab key a chart; arrows go on from there: along a series, and to the next one. A ladder's
  // bars follow each other downwards: there the axes change places.
  const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

  const neighbour = (point, step) => {
    const chart = point.closest(".chart"), ladder = chart.classList.contains("ladder");
    const [across, along] = ladder ? [step[1], step[0]] : step;
    const all = pointsOf(chart), own = all.find((one) => one.point === point);
    const curveOf = (one) => one.point.closest(".curve, .rest");
    const curves = [...new Set(all.map(curveOf))];
    const at = curves.indexOf(curveOf(own));
    const on = (index) => all.filter((one) => curveOf(one) === curves[index]);
    if (along) return on(at)[on(at).indexOf(own) + along]?.point;
    const distance = (one) => Math.abs(ladder ? one.y - own.y : one.x - own.x);
    return on(at + across).sort((a, b) => distance(a) - distance(b))[0]?.point;
  };

  const beStop = (point) => {
    point.setAttribute("tabindex", "0");
    point.setAttribute("role", "img");
  };

  // An entry of the key turns its curve off and on, with the error bars and points that follow it.
  const turn = (entry) => {
    const curve = entry.closest(".curve");
    const off = curve.classList.toggle("off");
    for (let next = curve.nextElementSibling; next?.matches(".rest"); next = next.nextElementSibling) {
      next.classList.toggle("off", off);
    }
    curve.querySelector(".entry").setAttribute("aria-pressed", String(!off));
  };

  const onKey = (event) => {
    if (event.key === "Escape") return hide();
    const target = event.target instanceof Element ? event.target : null;
    if (target?.matches(".entry") && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      turn(target);
    }
    if (!target?.matches(".point") || !STEPS[event.key]) return;
    event.preventDefault();
    const next = neighbour(target, STEPS[event.key]);
    if (!next) return;
    target.setAttribute("tabindex", "-1");
    beStop(next);
    next.focus();
  };

  for (const chart of document.querySelectorAll(".chart")) {
    const first = chart.querySelector(".point");
    if (first) beStop(first);
    for (const curve of chart.querySelectorAll(".curve")) {
      const entry = curve.querySelector(".entry");
      for (const [name, value] of [["tabindex", "0"], ["role", "button"], ["aria-pressed", "true"],
        ["aria-label", curve.querySelector("title")?.textContent ?? ""]]) entry?.setAttribute(name, value);
    }
  }
  document.addEventListener("click", (event) => {
    const entry = event.target instanceof Element ? event.target.closest(".entry") : null;
    if (entry) turn(entry);
  });
  document.addEventListener("pointermove", onPointer, { passive: true });
  document.addEventListener("pointerdown", onPointer, { passive: true });
  document.addEventListener("keydown", onKey);
  document.addEventListener("focusin", (event) => {
    if (event.target.matches(".point")) show(event.target);
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
