// One chart as SVG: the same drawing on the page and in the exported file.

import { interval, valueAt, type Column } from "../motion";
import { linearTicks, logTicks } from "./axis";

/** `zero`: all values lie below this floor and are drawn as zero. */
export interface Curve { column: Column; label: string; color: string; dash: string; zero?: number }
export interface ChartLook { ink: string; soft: string; grid: string; paper: string; accent: string; curves: string[] }
export interface Chart {
  svg: SVGSVGElement; toTime(x: number): number; toX(t: number): number; cursor: SVGLineElement; dots: SVGCircleElement[];
  toY(y: number): number; range: [number, number];
  /** Of a plot of one column over another: the time of the sample nearest to a place. */
  nearest?(x: number, y: number): number;
}
export interface ChartSpec {
  curves: Curve[]; x: [number, number]; log: boolean; width: number; height: number; look: ChartLook;
  /** Printed above the curves, for the exported file. */
  heading?: string; legend?: boolean; unit: string;
  /** The column along the horizontal axis; time by default. */
  over?: Column;
}

// Curves of one plot, which colour-blind readers can distinguish: Paul Tol's bright scheme with the accent as its red.
export const LIGHT_CURVES = ["#4477aa", "#e4572e", "#228833", "#aa3377", "#b59d23", "#44a5c2"];
export const DARK_CURVES = ["#7fb0e6", "#ff8560", "#6cc788", "#e08cc0", "#e0cf60", "#7fd6ec"];

const NS = "http://www.w3.org/2000/svg";
const FONT = "ui-sans-serif, system-ui, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', sans-serif";

function add<K extends keyof SVGElementTagNameMap>(parent: Element, tag: K, attributes: Record<string, string | number>, text?: string): SVGElementTagNameMap[K] {
  const e = document.createElementNS(NS, tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, String(v));
  if (text !== undefined) e.textContent = text;
  parent.append(e);
  return e;
}

/** Extremes of the curves over the shown time, with room around them. */
function extent(curves: { column: Column }[], [a, b]: [number, number], log: boolean): [number, number] {
  let lo = Infinity, hi = -Infinity;
  const seen: number[] = [];
  const see = (v: number) => {
    const y = log ? Math.log10(Math.abs(v)) : v;
    if (!Number.isFinite(y)) return;
    lo = Math.min(lo, y);
    hi = Math.max(hi, y);
    if (log) seen.push(y);
  };
  for (const { column: c } of curves) {
    for (let k = 0; k < c.t.length; k++) {
      if (c.t[k]! < a || c.t[k]! > b) continue;
      see(c.y[k]!);
      if (c.lo && c.hi) { see(c.lo[k]!); see(c.hi[k]!); }
    }
  }
  if (lo > hi) return log ? [-1, 1] : [0, 1];
  // A few samples that happen to be nearly zero would stretch a logarithmic axis to nowhere.
  if (log) lo = seen.sort((p, q) => p - q)[Math.floor(seen.length * 0.02)]!;
  if (log) return [Math.floor(lo - 0.15), Math.max(Math.ceil(hi + 0.15), Math.floor(lo - 0.15) + 1)];
  if (lo === 0 && hi === 0) return [-1, 1];
  const size = Math.max(hi - lo, Math.max(Math.abs(lo), Math.abs(hi)) * 1e-6);
  return [lo - size * 0.07, hi + size * 0.07];
}

/** Widens the shorter of two axes until a unit is as long on both, as in a drawing of a path. */
function alike(x: [number, number], y: [number, number], width: number, height: number): [[number, number], [number, number]] {
  const step = Math.max((x[1] - x[0]) / width, (y[1] - y[0]) / height);
  const grown = ([a, b]: [number, number], pixels: number): [number, number] => { const room = (step * pixels - (b - a)) / 2; return [a - room, b + room]; };
  return [grown(x, width), grown(y, height)];
}

/** Width of a text of the axes in pixels, nearly. */
const textWidth = (text: string): number => text.length * 6.3;
/** A text that is cut in its middle where it is wider than there is room. */
function fitted(text: string, room: number): string {
  const most = Math.max(3, Math.floor(room / 6.3));
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${text.slice(0, head)}\u2026${text.slice(text.length - (most - 1 - head))}`;
}

export function drawChart(spec: ChartSpec): Chart {
  const { width, height, look, log, over } = spec;
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("xmlns", NS);
  for (const [k, v] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT, "font-size": 11 })) svg.setAttribute(k, String(v));
  // Two entries in a row where they fit; an entry that is longer than the chart is cut in its middle, where names differ least.
  const wide = spec.curves.some((c) => textWidth(c.label) > (width - 66) / 2 - 34), perRow = wide ? 1 : 2;
  const rows = spec.legend ? Math.ceil(spec.curves.length / perRow) : 0;
  const top = (spec.heading ? 34 : 16) + rows * 16, bottom = height - 32 + (spec.heading ? 0 : 10), right = width - 14;
  const inY = extent(spec.curves, spec.x, log), ticks = (r: [number, number]) => (log ? logTicks(r[0], r[1], (bottom - top) / 26) : linearTicks(r[0], r[1], (bottom - top) / 30));
  const left = Math.max(52, ...ticks(inY).map((t) => textWidth(t.text) + 12));
  let range = inY, horizontal = over ? extent([{ column: over }], spec.x, false) : spec.x;
  // Lengths over lengths are a path: both axes to one scale.
  if (over && !log && over.unit !== "" && spec.curves.every((c) => c.column.unit === over.unit)) [horizontal, range] = alike(horizontal, range, right - left, bottom - top);
  const [ta, tb] = horizontal, [ya, yb] = range;
  const toX = (t: number) => left + ((t - ta) / (tb - ta || 1)) * (right - left);
  const value = (y: number) => (log ? Math.log10(Math.abs(y)) : y);
  const toY = (y: number) => bottom - ((value(y) - ya) / (yb - ya || 1)) * (bottom - top);
  if (spec.heading) {
    add(svg, "rect", { x: 0, y: 0, width, height, fill: look.paper });
    add(svg, "text", { x: 12, y: 17, fill: look.ink, "font-size": 13, "font-weight": 600 }, fitted(spec.heading, (width - 24) / 1.25));
  }
  if (spec.legend) spec.curves.forEach((c, k) => {
    const x0 = left + (k % perRow) * ((right - left) / perRow), y0 = 32 + 16 * Math.floor(k / perRow);
    add(svg, "line", { x1: x0, x2: x0 + 18, y1: y0 - 4, y2: y0 - 4, stroke: c.color, "stroke-width": 2, "stroke-dasharray": c.dash });
    add(svg, "text", { x: x0 + 24, y: y0, fill: look.ink }, fitted(c.label, (right - left) / perRow - 28));
  });
  for (const tick of ticks(range)) {
    const y = bottom - ((tick.at - ya) / (yb - ya || 1)) * (bottom - top);
    add(svg, "line", { x1: left, x2: right, y1: y, y2: y, stroke: look.grid, "stroke-width": tick.minor ? 0.5 : 1 });
    add(svg, "text", { x: left - 6, y: y + 3.5, "text-anchor": "end", fill: look.soft }, tick.text);
  }
  for (const tick of linearTicks(ta, tb, (right - left) / 70)) {
    const x = toX(tick.at), half = textWidth(tick.text) / 2;
    add(svg, "line", { x1: x, x2: x, y1: bottom, y2: bottom + 4, stroke: look.soft });
    add(svg, "text", { x: Math.min(x, width - half - 1), y: bottom + 15, "text-anchor": "middle", fill: look.soft }, tick.text);
  }
  add(svg, "line", { x1: left, x2: right, y1: bottom, y2: bottom, stroke: look.soft });
  const along = over ? `${over.name}${over.unit && over.unit !== "1" ? ` in ${over.unit}` : ""}` : "t in s";
  if (spec.heading) add(svg, "text", { x: right, y: height - 6, "text-anchor": "end", fill: look.soft }, along);
  else if (over) add(svg, "text", { x: right, y: top - 6, "text-anchor": "end", fill: look.soft }, `over ${along}`);
  // From the edge of the chart to the right: however long a unit is, nothing cuts it off.
  if (spec.unit) add(svg, "text", { x: 4, y: top - 6, "text-anchor": "start", fill: look.soft }, spec.unit);

  const clip = `clip${++clips}`, defs = add(svg, "defs", {}), region = add(defs, "clipPath", { id: clip });
  add(region, "rect", { x: left, y: top - 2, width: right - left, height: bottom - top + 4 });
  const body = add(svg, "g", { "clip-path": `url(#${clip})`, fill: "none" });
  const paths = over ? spec.curves.map((c) => points(c.column, over, spec.x, toX, toY)) : [];
  if (over) spec.curves.forEach((c, k) => add(body, "path", { d: joined(paths[k]!), stroke: c.color, "stroke-width": 1.6, "stroke-dasharray": c.dash, "stroke-linejoin": "round" }));
  else for (const c of spec.curves) {
    if (c.column.lo && c.column.hi) add(body, "path", { d: bandPath(c.column, spec.x, toX, toY), fill: c.color, "fill-opacity": 0.22 });
    add(body, "path", { d: linePath(c.column, spec.x, toX, toY, right - left), stroke: c.color, "stroke-width": 1.6, "stroke-dasharray": c.dash, "stroke-linejoin": "round" });
  }
  const cursor = add(svg, "line", { y1: top, y2: bottom, x1: left, x2: left, stroke: look.accent, "stroke-width": 1, visibility: "hidden" });
  const dots = spec.curves.map((c) => add(svg, "circle", { r: 3, fill: c.color, stroke: look.paper, "stroke-width": 1, visibility: "hidden" }));
  const nearest = (x: number, y: number): number => {
    let best = spec.x[0], least = Infinity;
    for (const path of paths) for (const p of path) { const d = Math.hypot(p.x - x, p.y - y); if (d < least) { least = d; best = p.t; } }
    return best;
  };
  return { svg, toX, toY, range, cursor, dots, toTime: (x) => ta + ((x - left) / (right - left)) * (tb - ta), ...(over ? { nearest } : {}) };
}
let clips = 0;

interface Dot { x: number; y: number; t: number }

/** Places of the samples of one column over another; where it has no number there is a gap. */
function points(c: Column, over: Column, x: [number, number], toX: (v: number) => number, toY: (v: number) => number): Dot[] {
  const [from, to] = window_(c, x), out: Dot[] = [];
  for (let k = from; k < to; k++) out.push({ x: toX(valueAt(over, c.t[k]!)), y: toY(c.y[k]!), t: c.t[k]! });
  return out;
}

function joined(path: Dot[]): string {
  let d = "", pen = false;
  for (const p of path) {
    if (!Number.isFinite(p.x + p.y)) { pen = false; continue; }
    d += `${pen ? "L" : "M"}${p.x.toFixed(1)} ${p.y.toFixed(1)}`;
    pen = true;
  }
  return d;
}

/** Samples from just before the shown time to just after it. */
function window_(c: Column, [a, b]: [number, number]): [number, number] {
  if (c.t.length < 2) return [0, c.t.length];
  return [interval(c.t, a), Math.min(c.t.length, interval(c.t, b) + 2)];
}

function linePath(c: Column, x: [number, number], toX: (t: number) => number, toY: (y: number) => number, pixels: number): string {
  const [from, to] = window_(c, x);
  const bucket = Math.floor((to - from) / (pixels * 1.5));
  let d = "", pen = false;
  const point = (k: number) => {
    const y = toY(c.y[k]!);
    if (!Number.isFinite(y)) { pen = false; return; }
    d += `${pen ? "L" : "M"}${toX(c.t[k]!).toFixed(1)} ${y.toFixed(1)}`;
    pen = true;
  };
  if (bucket < 2) for (let k = from; k < to; k++) point(k);
  // More samples than pixels: the extremes of each bucket, so that no spike is lost.
  else for (let k = from; k < to; k += bucket) {
    let lo = k, hi = k;
    for (let i = k; i < Math.min(k + bucket, to); i++) { if (c.y[i]! < c.y[lo]!) lo = i; if (c.y[i]! > c.y[hi]!) hi = i; }
    point(Math.min(lo, hi));
    if (lo !== hi) point(Math.max(lo, hi));
  }
  return d;
}

function bandPath(c: Column, x: [number, number], toX: (t: number) => number, toY: (y: number) => number): string {
  const [from, to] = window_(c, x);
  let there = "", back = "";
  for (let k = from; k < to; k++) {
    const a = toY(c.hi![k]!), b = toY(c.lo![k]!);
    if (!Number.isFinite(a) || !Number.isFinite(b)) continue;
    there += `${there ? "L" : "M"}${toX(c.t[k]!).toFixed(1)} ${a.toFixed(1)}`;
    back = `L${toX(c.t[k]!).toFixed(1)} ${b.toFixed(1)}${back}`;
  }
  return there ? `${there}${back}Z` : "";
}

export function svgText(svg: SVGSVGElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(svg)}\n`;
}

/** The chart as a picture, at twice its size for print. */
export async function svgToPng(svg: SVGSVGElement, factor = 2): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svgText(svg)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    await new Promise((done, fail) => { image.onload = done; image.onerror = () => fail(new Error("the chart could not be drawn")); image.src = url; });
    const canvas = document.createElement("canvas");
    canvas.width = Number(svg.getAttribute("width")) * factor;
    canvas.height = Number(svg.getAttribute("height")) * factor;
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, fail) => canvas.toBlob((b) => (b ? done(b) : fail(new Error("no picture"))), "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}
