// One chart as SVG: the same drawing on the page and in the exported file.

import { interval, type Column } from "../motion";
import { linearTicks, logTicks } from "./axis";

export interface Curve { column: Column; label: string; color: string; dash: string }
export interface ChartLook { ink: string; soft: string; grid: string; paper: string; accent: string; curves: string[] }
export interface Chart {
  svg: SVGSVGElement; toTime(x: number): number; toX(t: number): number; cursor: SVGLineElement; dots: SVGCircleElement[];
  toY(y: number): number; range: [number, number];
}
export interface ChartSpec {
  curves: Curve[]; x: [number, number]; log: boolean; width: number; height: number; look: ChartLook;
  /** Printed above the curves, for the exported file. */
  heading?: string; legend?: boolean; unit: string;
}

// Curves of one plot, told apart by colour-blind readers: Paul Tol's bright scheme with the accent as its red.
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
function extent(curves: Curve[], [a, b]: [number, number], log: boolean): [number, number] {
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
  const size = Math.max(hi - lo, Math.max(Math.abs(lo), Math.abs(hi)) * 1e-9, 1e-300);
  return [lo - size * 0.07, hi + size * 0.07];
}

export function drawChart(spec: ChartSpec): Chart {
  const { width, height, look, x: [ta, tb], log } = spec;
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("xmlns", NS);
  for (const [k, v] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT, "font-size": 11 })) svg.setAttribute(k, String(v));
  const rows = spec.legend ? Math.ceil(spec.curves.length / 2) : 0;
  const top = (spec.heading ? 34 : 16) + rows * 16, left = 52, right = width - 10, bottom = height - 32 + (spec.heading ? 0 : 10);
  const range = extent(spec.curves, spec.x, log), [ya, yb] = range;
  const toX = (t: number) => left + ((t - ta) / (tb - ta || 1)) * (right - left);
  const value = (y: number) => (log ? Math.log10(Math.abs(y)) : y);
  const toY = (y: number) => bottom - ((value(y) - ya) / (yb - ya || 1)) * (bottom - top);
  if (spec.heading) {
    add(svg, "rect", { x: 0, y: 0, width, height, fill: look.paper });
    add(svg, "text", { x: 12, y: 17, fill: look.ink, "font-size": 13, "font-weight": 600 }, spec.heading);
  }
  if (spec.legend) spec.curves.forEach((c, k) => {
    const x0 = left + (k % 2) * ((right - left) / 2), y0 = 32 + 16 * Math.floor(k / 2);
    add(svg, "line", { x1: x0, x2: x0 + 18, y1: y0 - 4, y2: y0 - 4, stroke: c.color, "stroke-width": 2, "stroke-dasharray": c.dash });
    add(svg, "text", { x: x0 + 24, y: y0, fill: look.ink }, c.label);
  });
  const ticksY = log ? logTicks(ya, yb, (bottom - top) / 26) : linearTicks(ya, yb, (bottom - top) / 30);
  for (const tick of ticksY) {
    const y = bottom - ((tick.at - ya) / (yb - ya || 1)) * (bottom - top);
    add(svg, "line", { x1: left, x2: right, y1: y, y2: y, stroke: look.grid, "stroke-width": tick.minor ? 0.5 : 1 });
    add(svg, "text", { x: left - 6, y: y + 3.5, "text-anchor": "end", fill: look.soft }, tick.text);
  }
  for (const tick of linearTicks(ta, tb, (right - left) / 70)) {
    const x = toX(tick.at);
    add(svg, "line", { x1: x, x2: x, y1: bottom, y2: bottom + 4, stroke: look.soft });
    add(svg, "text", { x, y: bottom + 15, "text-anchor": "middle", fill: look.soft }, tick.text);
  }
  add(svg, "line", { x1: left, x2: right, y1: bottom, y2: bottom, stroke: look.soft });
  if (spec.heading) add(svg, "text", { x: right, y: height - 6, "text-anchor": "end", fill: look.soft }, "t in s");
  if (spec.unit) add(svg, "text", { x: left - 6, y: top - 6, "text-anchor": "end", fill: look.soft }, spec.unit);

  const clip = `clip${++clips}`, defs = add(svg, "defs", {}), region = add(defs, "clipPath", { id: clip });
  add(region, "rect", { x: left, y: top - 2, width: right - left, height: bottom - top + 4 });
  const body = add(svg, "g", { "clip-path": `url(#${clip})`, fill: "none" });
  for (const c of spec.curves) {
    if (c.column.lo && c.column.hi) add(body, "path", { d: bandPath(c.column, spec.x, toX, toY), fill: c.color, "fill-opacity": 0.22 });
    add(body, "path", { d: linePath(c.column, spec.x, toX, toY, right - left), stroke: c.color, "stroke-width": 1.6, "stroke-dasharray": c.dash, "stroke-linejoin": "round" });
  }
  const cursor = add(svg, "line", { y1: top, y2: bottom, x1: left, x2: left, stroke: look.accent, "stroke-width": 1, visibility: "hidden" });
  const dots = spec.curves.map((c) => add(svg, "circle", { r: 3, fill: c.color, stroke: look.paper, "stroke-width": 1, visibility: "hidden" }));
  return { svg, toX, toY, range, cursor, dots, toTime: (x) => ta + ((x - left) / (right - left)) * (tb - ta) };
}
let clips = 0;

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
