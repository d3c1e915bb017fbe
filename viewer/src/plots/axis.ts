// Round ticks for linear and logarithmic axes.

import { format } from "../ui";

export interface Tick { at: number; text: string; minor?: boolean }

/** At least two ticks, so that every axis has a scale; else about `most`. */
export function linearTicks(lo: number, hi: number, most: number): Tick[] {
  const span = hi - lo;
  if (!(span > 0)) return [];
  const inside = (step: number) => Math.floor(hi / step + 1e-9) - Math.ceil(lo / step - 1e-9) + 1;
  const raw = span / Math.max(1, most), p = 10 ** Math.floor(Math.log10(raw)), out: Tick[] = [];
  const steps = [10, 5, 2, 1, 0.5, 0.2].map((m) => m * p), fine = steps.filter((s) => s >= raw * (1 - 1e-9)).reverse();
  const step = [...fine.slice(0, 1), ...steps.filter((s) => s < raw)].find((s) => inside(s) >= 2) ?? steps.at(-1)!;
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + step * 1e-9; k++) out.push({ at: k * step, text: "" });
  names(out.map((t) => t.at), step).forEach((text, k) => { out[k]!.text = text; });
  return out;
}

/** Numbers of an axis: with the fewest digits that give every tick correctly. */
export function names(ticks: number[], step: number): string[] {
  const short = (text: string) => text.replace(/(\.\d*?)0+(?=e|$)/, "$1").replace(/\.(?=e|$)/, "");
  for (let digits = 3; digits < 17; digits++) {
    const list = ticks.map((x) => short(format(x, digits)));
    if (list.every((text, k) => Math.abs(Number(text.replaceAll("\u2212", "-")) - ticks[k]!) <= 0.02 * step)) return list;
  }
  return ticks.map(String);
}

const RAISED = ["\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074", "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"];

/** Ticks at powers of ten; `lo` and `hi` are logarithms. */
export function logTicks(lo: number, hi: number, most: number): Tick[] {
  const step = Math.max(1, Math.ceil((hi - lo) / Math.max(1, most))), out: Tick[] = [];
  for (let k = Math.ceil(lo); k <= hi; k++) {
    const text = String(Math.abs(k)).split("").map((c) => RAISED[Number(c)]).join("");
    out.push({ at: k, text: k % step === 0 ? `10${k < 0 ? "\u207b" : ""}${text}` : "", minor: k % step !== 0 });
  }
  return out;
}
