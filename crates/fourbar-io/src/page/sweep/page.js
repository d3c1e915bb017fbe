"use strict";
// The page of a sweep, or of the steps of a search: parallel coordinates, scatter and heat map of its cases. All share one selection of
// cases and one picked case, which moves in a frame where the page carries the mechanism.
(() => {
  const data = JSON.parse(document.getElementById("fourbar-data").textContent);
  const { columns, cases, values, status, failures } = data;
  const live = JSON.parse(document.getElementById("fourbar-live").textContent);
  const search = data.kind === "history", one = search ? "step" : "case", One = search ? "Step" : "Case";
  document.title = `${data.title} \u00b7 Fourbar`;
  const n = cases.length;
  const app = document.getElementById("app");
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const make = (tag, parent, text, cls) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (cls) e.className = cls;
    parent.append(e);
    return e;
  };
  const finite = (x) => typeof x === "number" && Number.isFinite(x);
  const short = (x) => {
    if (!finite(x)) return "";
    const a = Math.abs(x);
    return a !== 0 && (a < 1e-3 || a >= 1e5) ? x.toExponential(3).replace(/\.?0+e/, "e") : String(Number(x.toPrecision(5)));
  };
  const label = (c) => (c.unit && c.unit !== "1" ? `${c.name} [${c.unit}]` : c.name);
  // Ranges of the columns; a constant one gets some room, and one that differs by rounding alone is constant.
  const ranges = values.map((v) => {
    let lo = Infinity, hi = -Infinity;
    for (const x of v) if (finite(x)) { lo = Math.min(lo, x); hi = Math.max(hi, x); }
    if (lo > hi) return [0, 1];
    return hi - lo <= 1e-9 * Math.max(Math.abs(lo), Math.abs(hi)) ? [lo - (Math.abs(lo) || 1) * 0.05, hi + (Math.abs(hi) || 1) * 0.05] : [lo, hi];
  });
  // What is missing has no share: a failed case is neither low nor high.
  const share = (k, x) => (finite(x) ? (x - ranges[k][0]) / (ranges[k][1] - ranges[k][0]) : NaN);

  // A scale of colours that keeps its order without colour vision: dark blue over green to yellow.
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  // On dark paper its dark end is lighter.
  const ends = { true: [[128, 92, 200], [92, 124, 196]], false: [[68, 1, 84], [59, 82, 139]] };
  const scale = [[33, 145, 140], [94, 201, 98], [253, 231, 37]];
  const colour = (s) => {
    if (!finite(s)) return ink("--soft");
    const stops = [...ends[dark.matches], ...scale], t = Math.min(Math.max(s, 0), 1) * (stops.length - 1);
    const i = Math.min(Math.floor(t), stops.length - 2);
    const mix = stops[i].map((a, c) => Math.round(a + (stops[i + 1][c] - a) * (t - i)));
    return `rgb(${mix.join(",")})`;
  };

  const header = make("header", app);
  make("h1", header, data.title);
  const failed = status.filter((s) => s !== "ok").length;
  make("span", header, search ? `${n} improvements on the way; ${data.file}` : `${n} cases, ${n - failed} ok${failed ? `, ${failed} failed` : ""}; ${data.file}`, "sub");
  const main = make("main", app);

  const sets = columns.map((c, k) => k).filter((k) => columns[k].role === "set");
  const measures = columns.map((c, k) => k).filter((k) => columns[k].role === "measure");
  const state = {
    x: search ? 0 : sets[0] ?? 0, y: measures[0] ?? columns.length - 1, hue: measures[0] ?? 0,
    hx: sets[0] ?? 0, hy: sets[1] ?? sets[0] ?? 0, hz: measures[0] ?? 0,
    picked: -1, brushes: columns.map(() => null),
  };
  const inside = (i) => state.brushes.every((b, k) => !b || (finite(values[k][i]) && values[k][i] >= b[0] && values[k][i] <= b[1]));
  let chosen = new Uint8Array(n);

  const views = [];
  const redraw = () => {
    for (let i = 0; i < n; i++) chosen[i] = inside(i) ? 1 : 0;
    views.forEach((v) => v());
    tell();
  };

  // A plot: a canvas with the size of its place, in points of the screen.
  const plot = (section, height, draw) => {
    const box = make("div", section, undefined, "plot");
    const canvas = make("canvas", box);
    const tip = make("div", box, "", "tip");
    tip.hidden = true;
    const view = () => {
      const w = box.clientWidth, r = window.devicePixelRatio || 1;
      if (w === 0) return;
      canvas.width = Math.max(1, Math.round(w * r));
      canvas.height = Math.round(height * r);
      canvas.style.height = `${height}px`;
      const g = canvas.getContext("2d");
      g.setTransform(r, 0, 0, r, 0, 0);
      g.font = "11px system-ui, sans-serif";
      draw(g, w, height);
    };
    views.push(view);
    const at = (e) => { const b = canvas.getBoundingClientRect(); return [e.clientX - b.left, e.clientY - b.top]; };
    const show = (text, x, y) => {
      tip.hidden = !text;
      if (!text) return;
      tip.textContent = text;
      tip.style.left = `${Math.min(x + 12, box.clientWidth - 180)}px`;
      tip.style.top = `${Math.max(y - 30, 0)}px`;
    };
    return { canvas, at, show, box };
  };
  const choose = (parent, text, list, key) => {
    const l = make("label", parent, `${text} `);
    const s = make("select", l);
    s.id = `choose-${key}`;
    list.forEach((k) => { const o = make("option", s, label(columns[k])); o.value = k; o.selected = k === state[key]; });
    s.addEventListener("change", () => { state[key] = Number(s.value); redraw(); });
  };
  const ticks = (lo, hi, count) => {
    const raw = (hi - lo) / count, p = 10 ** Math.floor(Math.log10(raw)), f = raw / p;
    const step = (f < 1.5 ? 1 : f < 3.5 ? 2 : f < 7.5 ? 5 : 10) * p;
    const out = [];
    for (let t = Math.ceil(lo / step - 1e-9) * step; t <= hi + 1e-9 * step && out.length < 30; t += step) out.push(Math.abs(t) < 1e-12 * step ? 0 : t);
    return out;
  };

  // Parallel coordinates: an axis a column, a line a case; dragging along an axis keeps the cases in between.
  const parallel = make("section", main, undefined, "wide");
  parallel.id = "parallel";
  make("h2", parallel, "All columns");
  const dragged = make("p", parallel, "Drag along an axis to keep the cases between two values, click it to take that back; click a line to pick it. Colour is the column chosen below.", "hint");
  dragged.id = "how";
  // Names of neighbouring axes stand in two rows where one has no room for them.
  const BOTTOM = 18, SIDE = 70;
  let TOP = 34;
  const axisX = (k, w) => SIDE + (columns.length < 2 ? 0 : (k * (w - 2 * SIDE)) / (columns.length - 1));
  const height = 280;
  const axisY = (k, x) => TOP + (1 - share(k, x)) * (height - TOP - BOTTOM);
  const p = plot(parallel, height, (g, w) => {
    const gap = (w - 2 * SIDE) / Math.max(1, columns.length - 1), widths = columns.map((c) => g.measureText(label(c)).width);
    const rows = widths.some((b, k) => k > 0 && (widths[k - 1] + b) / 2 + 8 > gap) ? 2 : 1;
    TOP = 20 + 14 * rows;
    const line = (i, style, width, alpha) => {
      g.beginPath();
      let open = false;
      for (let k = 0; k < columns.length; k++) {
        const v = values[k][i];
        if (!finite(v)) { open = false; continue; }
        if (open) g.lineTo(axisX(k, w), axisY(k, v)); else g.moveTo(axisX(k, w), axisY(k, v));
        open = true;
      }
      g.strokeStyle = style; g.lineWidth = width; g.globalAlpha = alpha;
      g.stroke();
    };
    const alpha = Math.max(0.05, Math.min(0.8, 60 / Math.sqrt(n * 20)));
    for (let i = 0; i < n; i++) if (!chosen[i]) line(i, ink("--line"), 1, alpha * 0.5);
    for (let i = 0; i < n; i++) if (chosen[i]) line(i, colour(share(state.hue, values[state.hue][i])), 1, alpha);
    if (state.picked >= 0) line(state.picked, ink("--accent"), 2.5, 1);
    g.globalAlpha = 1;
    columns.forEach((c, k) => {
      const x = axisX(k, w);
      g.strokeStyle = ink("--soft"); g.lineWidth = 1;
      g.beginPath(); g.moveTo(x, TOP); g.lineTo(x, height - BOTTOM); g.stroke();
      g.fillStyle = ink("--ink"); g.textAlign = "center";
      g.fillText(label(c), x, rows === 2 && k % 2 ? 26 : 12, Math.max(40, Math.min(rows * gap - 8, 2 * Math.min(x, w - x))));
      g.fillStyle = ink("--soft");
      g.fillText(short(ranges[k][1]), x, TOP - 6);
      g.fillText(short(ranges[k][0]), x, height - 4);
      const b = state.brushes[k];
      if (b) { g.fillStyle = ink("--accent"); g.globalAlpha = 0.25; g.fillRect(x - 7, axisY(k, b[1]), 14, axisY(k, b[0]) - axisY(k, b[1])); g.globalAlpha = 1; }
    });
  });
  let drag = null;
  /** The case whose line passes nearest to a place between two axes. */
  const lineAt = (x, y, w) => {
    const k = columns.findIndex((_, k) => k + 1 < columns.length && axisX(k, w) <= x && x <= axisX(k + 1, w));
    if (k < 0) return -1;
    const s = (x - axisX(k, w)) / (axisX(k + 1, w) - axisX(k, w));
    let best = -1, d = 8;
    for (let i = 0; i < n; i++) {
      const [a, b] = [values[k][i], values[k + 1][i]];
      if (!chosen[i] || !finite(a) || !finite(b)) continue;
      const off = Math.abs((1 - s) * axisY(k, a) + s * axisY(k + 1, b) - y);
      if (off < d) { d = off; best = i; }
    }
    return best;
  };
  const valueAt = (k, y) => {
    const s = 1 - (y - TOP) / (height - TOP - BOTTOM);
    return ranges[k][0] + Math.min(Math.max(s, 0), 1) * (ranges[k][1] - ranges[k][0]);
  };
  p.canvas.addEventListener("pointerdown", (e) => {
    const [x, y] = p.at(e), w = p.box.clientWidth;
    const k = columns.findIndex((_, k) => Math.abs(axisX(k, w) - x) < 14);
    if (k < 0) { pick(lineAt(x, y, w)); return; }
    drag = { k, from: y };
    p.canvas.setPointerCapture(e.pointerId);
  });
  p.canvas.addEventListener("pointermove", (e) => {
    if (!drag) return;
    const y = p.at(e)[1];
    const [a, b] = [valueAt(drag.k, drag.from), valueAt(drag.k, y)];
    state.brushes[drag.k] = Math.abs(y - drag.from) > 3 ? [Math.min(a, b), Math.max(a, b)] : null;
    redraw();
  });
  p.canvas.addEventListener("pointerup", (e) => {
    if (drag && Math.abs(p.at(e)[1] - drag.from) <= 3) { state.brushes[drag.k] = null; redraw(); }
    drag = null;
  });

  // Scatter: any column over any other.
  const scatter = make("section", main);
  scatter.id = "scatter";
  make("h2", scatter, "Two columns");
  const every = columns.map((_, k) => k);
  const c1 = make("div", scatter, undefined, "controls");
  choose(c1, "across", every, "x");
  choose(c1, "up", every, "y");
  choose(c1, "colour", every, "hue");
  const M = { l: 62, r: 12, t: 10, b: 34 };
  const frame = (g, w, h, kx, ky, cell) => {
    const X = (x) => M.l + share(kx, x) * (w - M.l - M.r), Y = (y) => h - M.b - share(ky, y) * (h - M.t - M.b);
    g.strokeStyle = ink("--line"); g.fillStyle = ink("--soft"); g.lineWidth = 1; g.textAlign = "center";
    for (const t of ticks(...ranges[kx], Math.max(2, w / 110))) { if (!cell) { g.beginPath(); g.moveTo(X(t), M.t); g.lineTo(X(t), h - M.b); g.stroke(); } g.fillText(short(t), X(t), h - M.b + 14); }
    g.textAlign = "right";
    for (const t of ticks(...ranges[ky], 6)) { if (!cell) { g.beginPath(); g.moveTo(M.l, Y(t)); g.lineTo(w - M.r, Y(t)); g.stroke(); } g.fillText(short(t), M.l - 6, Y(t) + 4); }
    g.textAlign = "center"; g.fillStyle = ink("--ink");
    g.fillText(label(columns[kx]), (M.l + w - M.r) / 2, h - 4);
    g.save(); g.translate(11, (h - M.b + M.t) / 2); g.rotate(-Math.PI / 2); g.fillText(label(columns[ky]), 0, 0); g.restore();
    return [X, Y];
  };
  let spots = [];
  const s = plot(scatter, 320, (g, w, h) => {
    const [X, Y] = frame(g, w, h, state.x, state.y, false);
    spots = [];
    // The steps of each start of a search are one line.
    if (search && state.x === 0) {
      g.strokeStyle = ink("--soft"); g.lineWidth = 1;
      g.beginPath();
      for (let i = 0; i < n; i++) {
        const [a, b] = [values[state.x][i], values[state.y][i]];
        if (!finite(a) || !finite(b)) continue;
        if (i > 0 && values[1][i] === values[1][i - 1] && finite(values[state.y][i - 1])) g.lineTo(X(a), Y(b)); else g.moveTo(X(a), Y(b));
      }
      g.stroke();
    }
    const size = n > 5000 ? 1.5 : n > 500 ? 2.5 : 4;
    for (let pass = 0; pass < 2; pass++)
      for (let i = 0; i < n; i++) {
        const [a, b] = [values[state.x][i], values[state.y][i]];
        if (chosen[i] !== pass || !finite(a) || !finite(b)) continue;
        g.fillStyle = pass ? colour(share(state.hue, values[state.hue][i])) : ink("--line");
        g.beginPath(); g.arc(X(a), Y(b), size, 0, 7); g.fill();
        spots.push([X(a), Y(b), i]);
      }
    if (state.picked >= 0 && finite(values[state.x][state.picked]) && finite(values[state.y][state.picked])) {
      g.strokeStyle = ink("--accent"); g.lineWidth = 2;
      g.beginPath(); g.arc(X(values[state.x][state.picked]), Y(values[state.y][state.picked]), size + 4, 0, 7); g.stroke();
    }
  });
  const nearest = (list, x, y) => {
    let best = -1, d = 18 ** 2;
    for (const [a, b, i] of list) { const q = (a - x) ** 2 + (b - y) ** 2; if (q < d) { d = q; best = i; } }
    return best;
  };
  const words = (i) => `${one} ${cases[i]}\n` + columns.map((c, k) => `${label(c)}  ${short(values[k][i])}`).join("\n");
  s.canvas.addEventListener("pointermove", (e) => { const [x, y] = s.at(e), i = nearest(spots, x, y); s.show(i < 0 ? "" : words(i), x, y); });
  s.canvas.addEventListener("pointerleave", () => s.show("", 0, 0));
  s.canvas.addEventListener("click", (e) => { pick(nearest(spots, ...s.at(e))); });

  // Heat map: one measure over two parameters, in cells that hold the mean of their cases; cells whose cases failed are hatched.
  const heat = make("section", main);
  heat.id = "heat";
  // Steps of a search do not fill a plane.
  heat.hidden = search || sets.length === 0;
  if (heat.hidden) scatter.className = "wide";
  make("h2", heat, "A measure over two parameters");
  const c2 = make("div", heat, undefined, "controls");
  choose(c2, "across", sets, "hx");
  choose(c2, "up", sets, "hy");
  choose(c2, "colour", measures.length ? measures : every, "hz");
  const levels = (k) => {
    const all = [...new Set(values[k].filter(finite))].sort((a, b) => a - b);
    if (all.length <= 120) return all;
    const m = Math.max(4, Math.min(40, Math.round(Math.sqrt(n / 3))));
    return Array.from({ length: m }, (_, i) => ranges[k][0] + ((i + 0.5) / m) * (ranges[k][1] - ranges[k][0]));
  };
  const index = (list, x) => {
    let lo = 0, hi = list.length - 1;
    while (hi - lo > 1) { const m = (lo + hi) >> 1; if (list[m] <= x) lo = m; else hi = m; }
    return Math.abs(list[lo] - x) <= Math.abs(list[hi] - x) ? lo : hi;
  };
  let cells = [];
  const q = plot(heat, 320, (g, w, h) => {
    const [lx, ly] = [levels(state.hx), levels(state.hy)];
    const sum = new Map();
    for (let i = 0; i < n; i++) {
      const key = index(ly, values[state.hy][i]) * lx.length + index(lx, values[state.hx][i]);
      const c = sum.get(key) || { total: 0, count: 0, failed: 0, first: i };
      const v = values[state.hz][i];
      if (finite(v)) { c.total += v; c.count++; if (c.count === 1) c.first = i; } else c.failed++;
      sum.set(key, c);
    }
    const W = (w - M.l - M.r - 50) / lx.length, H = (h - M.t - M.b) / ly.length;
    cells = [];
    for (const [key, c] of sum) {
      const [ix, iy] = [key % lx.length, Math.floor(key / lx.length)];
      const [x, y] = [M.l + ix * W, h - M.b - (iy + 1) * H];
      if (c.count) {
        g.fillStyle = colour(share(state.hz, c.total / c.count));
        g.fillRect(x, y, W + 0.5, H + 0.5);
      } else {
        g.fillStyle = ink("--faint"); g.fillRect(x, y, W + 0.5, H + 0.5);
        g.strokeStyle = ink("--soft"); g.lineWidth = 1;
        g.beginPath(); g.moveTo(x, y + H); g.lineTo(x + W, y); g.stroke();
      }
      cells.push([x, y, W, H, c]);
    }
    g.fillStyle = ink("--soft"); g.textAlign = "center";
    const every = (list, room) => Math.max(1, Math.ceil(list.length / room));
    lx.forEach((v, i) => { if (i % every(lx, w / 70) === 0) g.fillText(short(v), M.l + (i + 0.5) * W, h - M.b + 14); });
    g.textAlign = "right";
    ly.forEach((v, i) => { if (i % every(ly, 12) === 0) g.fillText(short(v), M.l - 6, h - M.b - (i + 0.5) * H + 4); });
    g.textAlign = "center"; g.fillStyle = ink("--ink");
    g.fillText(label(columns[state.hx]), (M.l + w - 62) / 2, h - 4);
    g.save(); g.translate(11, (h - M.b + M.t) / 2); g.rotate(-Math.PI / 2); g.fillText(label(columns[state.hy]), 0, 0); g.restore();
    for (let i = 0; i < 60; i++) { g.fillStyle = colour(1 - i / 59); g.fillRect(w - 50, M.t + (i * (h - M.t - M.b)) / 60, 12, (h - M.t - M.b) / 60 + 0.5); }
    g.fillStyle = ink("--soft"); g.textAlign = "left";
    g.fillText(short(ranges[state.hz][1]), w - 35, M.t + 8, 35);
    g.fillText(short(ranges[state.hz][0]), w - 35, h - M.b, 35);
    if (state.picked >= 0) {
      const [x, y] = [M.l + index(lx, values[state.hx][state.picked]) * W, h - M.b - (index(ly, values[state.hy][state.picked]) + 1) * H];
      g.strokeStyle = ink("--accent"); g.lineWidth = 2.5; g.strokeRect(x, y, W, H);
    }
  });
  const cellAt = (x, y) => cells.find(([a, b, w, h]) => x >= a && x < a + w && y >= b && y < b + h);
  q.canvas.addEventListener("pointermove", (e) => {
    const [x, y] = q.at(e), c = cellAt(x, y);
    q.show(c ? words(c[4].first) + (c[4].count > 1 ? `\nmean of ${c[4].count} cases ${short(c[4].total / c[4].count)}` : "") : "", x, y);
  });
  q.canvas.addEventListener("pointerleave", () => q.show("", 0, 0));
  q.canvas.addEventListener("click", (e) => { const c = cellAt(...q.at(e)); if (c) pick(c[4].first); });

  // The picked case, and what failed. The frame stays where it is while the words are written anew.
  const detail = make("section", main, undefined, "wide");
  detail.id = "detail";
  const moving = make("section", main, undefined, "wide");
  moving.id = "moving";
  moving.hidden = true;
  const pick = (i) => {
    if (i < 0) return;
    state.picked = i;
    if (!moving.hidden) move(i);
    redraw();
  };
  const given = (i) => [...data.set, ...columns.flatMap((c, k) => (c.role === "set" && finite(values[k][i]) ? [[c.name, `${values[k][i]}${c.unit && c.unit !== "1" ? " " + c.unit : ""}`]] : []))];
  const move = (i) => {
    const mark = 'id="fourbar-data">', from = live.indexOf(mark) + mark.length, to = live.indexOf("</" + "script>", from);
    const page = JSON.parse(live.slice(from, to));
    page.live.set = given(i);
    page.live.run = true;
    moving.textContent = "";
    moving.hidden = false;
    make("h2", moving, `${One} ${cases[i]} in motion`);
    const frame = make("iframe", moving);
    frame.title = "The mechanism of the picked case";
    frame.srcdoc = live.slice(0, from) + JSON.stringify(page).replaceAll("<", "\\u003c") + live.slice(to);
  };
  const shell = (text) => (/^[A-Za-z0-9._+*/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const tell = () => {
    detail.textContent = "";
    const head = make("h2", detail, state.picked < 0 ? `Click a point, a line or a cell to pick a ${one}` : `${One} ${cases[state.picked]}`);
    head.id = "picked";
    const kept = chosen.reduce((a, b) => a + b, 0);
    if (kept < n) make("p", detail, `${kept} of ${n} lie between the values chosen on the axes.`, "hint");
    if (state.picked >= 0) {
      const i = state.picked;
      const t = make("table", detail);
      columns.forEach((c, k) => { const r = make("tr", t); make("th", r, label(c)); make("td", r, short(values[k][i])); });
      if (status[i] !== "ok") { const r = make("tr", t); make("th", r, status[i]); make("td", r, failures[i] || ""); }
      const p = make("p", detail, undefined, "hint");
      if (live !== null && moving.hidden) {
        const b = make("button", p, "See it move");
        b.id = "move";
        b.addEventListener("click", () => { move(state.picked); redraw(); moving.scrollIntoView({ behavior: "smooth" }); });
      }
      make("span", p, live === null ? "See it move: " : moving.hidden ? " or by the command " : "As a page of its own: ");
      make("code", p, `fourbar view ${shell(data.file)}${given(i).map(([k, v]) => ` --set ${shell(`${k}=${v}`)}`).join("")}`);
    }
    const reasons = new Map();
    status.forEach((st, i) => { if (st !== "ok") { const key = data.codes[i] || st; const r = reasons.get(key) || [0, i]; r[0]++; reasons.set(key, r); } });
    if (reasons.size) {
      make("h2", detail, "Cases that failed");
      const t = make("table", detail);
      for (const [code, [count, i]] of [...reasons].sort((a, b) => b[1][0] - a[1][0])) {
        const r = make("tr", t);
        make("td", r, String(count)); make("td", r, code); make("td", r, `case ${cases[i]}: ${failures[i] || status[i]}`);
      }
    }
  };
  window.addEventListener("resize", redraw);
  dark.addEventListener("change", redraw);
  redraw();
})();
