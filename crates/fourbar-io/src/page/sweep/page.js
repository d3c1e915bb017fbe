"use strict";
// The page of a sweep: parallel coordinates, scatter and heat map of its cases. All three share one selection of cases and one picked case.
(() => {
  const data = JSON.parse(document.getElementById("fourbar-data").textContent);
  const { columns, cases, values, status, failures } = data;
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
    return a !== 0 && (a < 1e-3 || a >= 1e5) ? x.toExponential(3) : String(Number(x.toPrecision(5)));
  };
  const label = (c) => (c.unit && c.unit !== "1" ? `${c.name} [${c.unit}]` : c.name);
  // Ranges of the columns; a constant one gets some room.
  const ranges = values.map((v) => {
    let lo = Infinity, hi = -Infinity;
    for (const x of v) if (finite(x)) { lo = Math.min(lo, x); hi = Math.max(hi, x); }
    if (lo > hi) return [0, 1];
    return lo === hi ? [lo - (Math.abs(lo) || 1) * 0.05, hi + (Math.abs(hi) || 1) * 0.05] : [lo, hi];
  });
  const share = (k, x) => (x - ranges[k][0]) / (ranges[k][1] - ranges[k][0]);

  // A scale of colours that keeps its order without colour vision: dark blue over green to yellow.
  const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  const colour = (s) => {
    if (!finite(s)) return ink("--soft");
    const t = Math.min(Math.max(s, 0), 1) * (stops.length - 1);
    const i = Math.min(Math.floor(t), stops.length - 2);
    const mix = stops[i].map((a, c) => Math.round(a + (stops[i + 1][c] - a) * (t - i)));
    return `rgb(${mix.join(",")})`;
  };

  const header = make("header", app);
  make("h1", header, data.title);
  const failed = status.filter((s) => s !== "ok").length;
  make("span", header, `${n} cases, ${n - failed} ok${failed ? `, ${failed} failed` : ""}; ${data.file}`, "sub");
  const main = make("main", app);

  const sets = columns.map((c, k) => k).filter((k) => columns[k].role === "set");
  const measures = columns.map((c, k) => k).filter((k) => columns[k].role === "measure");
  const state = {
    x: sets[0] ?? 0, y: measures[0] ?? columns.length - 1, hue: measures[0] ?? 0,
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
  make("p", parallel, "Drag along an axis to keep the cases between two values, click it to take that back. Colour is the measure chosen below.", "hint");
  const TOP = 34, BOTTOM = 18, SIDE = 70;
  const axisX = (k, w) => SIDE + (columns.length < 2 ? 0 : (k * (w - 2 * SIDE)) / (columns.length - 1));
  const height = 280;
  const axisY = (k, x) => TOP + (1 - share(k, x)) * (height - TOP - BOTTOM);
  const p = plot(parallel, height, (g, w) => {
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
      g.fillText(label(c), x, 12, (w - 2 * SIDE) / Math.max(1, columns.length - 1) + 20);
      g.fillStyle = ink("--soft");
      g.fillText(short(ranges[k][1]), x, TOP - 6);
      g.fillText(short(ranges[k][0]), x, height - 4);
      const b = state.brushes[k];
      if (b) { g.fillStyle = ink("--accent"); g.globalAlpha = 0.25; g.fillRect(x - 7, axisY(k, b[1]), 14, axisY(k, b[0]) - axisY(k, b[1])); g.globalAlpha = 1; }
    });
  });
  let drag = null;
  const valueAt = (k, y) => {
    const s = 1 - (y - TOP) / (height - TOP - BOTTOM);
    return ranges[k][0] + Math.min(Math.max(s, 0), 1) * (ranges[k][1] - ranges[k][0]);
  };
  p.canvas.addEventListener("pointerdown", (e) => {
    const [x, y] = p.at(e), w = p.box.clientWidth;
    const k = columns.findIndex((_, k) => Math.abs(axisX(k, w) - x) < 14);
    if (k < 0) return;
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
  const words = (i) => `case ${cases[i]}\n` + columns.map((c, k) => `${label(c)}  ${short(values[k][i])}`).join("\n");
  s.canvas.addEventListener("pointermove", (e) => { const [x, y] = s.at(e), i = nearest(spots, x, y); s.show(i < 0 ? "" : words(i), x, y); });
  s.canvas.addEventListener("pointerleave", () => s.show("", 0, 0));
  s.canvas.addEventListener("click", (e) => { const i = nearest(spots, ...s.at(e)); if (i >= 0) { state.picked = i; redraw(); } });

  // Heat map: one measure over two parameters, in cells that hold the mean of their cases; cells whose cases failed are hatched.
  const heat = make("section", main);
  heat.id = "heat";
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
  q.canvas.addEventListener("click", (e) => { const c = cellAt(...q.at(e)); if (c) { state.picked = c[4].first; redraw(); } });

  // The picked case, and what failed.
  const detail = make("section", main, undefined, "wide");
  detail.id = "detail";
  const tell = () => {
    detail.textContent = "";
    const head = make("h2", detail, state.picked < 0 ? "Click a point or a cell to pick a case" : `Case ${cases[state.picked]}`);
    head.id = "picked";
    const kept = chosen.reduce((a, b) => a + b, 0);
    if (kept < n) make("p", detail, `${kept} of ${n} cases lie between the values chosen on the axes.`, "hint");
    if (state.picked >= 0) {
      const i = state.picked;
      const t = make("table", detail);
      columns.forEach((c, k) => { const r = make("tr", t); make("th", r, label(c)); make("td", r, short(values[k][i])); });
      if (status[i] !== "ok") { const r = make("tr", t); make("th", r, status[i]); make("td", r, failures[i] || ""); }
      const given = columns.map((c, k) => (c.role === "set" ? ` --set ${c.name}='${values[k][i]}${c.unit && c.unit !== "1" ? " " + c.unit : ""}'` : "")).join("");
      make("p", detail, "See it move:", "hint");
      make("code", detail, `fourbar view ${data.file}${given}${data.set}`);
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
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  redraw();
})();
