// What happened on the way: events, limits and friction that sticks, as a table, and as marks on the time bar.

import type { Happened } from "./data";
import type { DiagnosisHost } from "./diagnosis";
import { button, el, format } from "./ui";

/** Rows of the table; the rest is counted. */
const MOST = 300;

/** One word for a reader: an event of the file has a name, a limit does something. */
export function words(h: Happened): string { return h.kind === "event" ? h.name : `${h.name}: ${h.kind}`; }

/** Joints, drives and forces that are not there at a time, because events have taken them out or have not put them in yet. */
export function absent(open: string[], events: Happened[], time: number): Set<string> {
  const out = new Set(open);
  for (const h of events) {
    if (h.t > time) break;
    for (const name of h.off ?? []) out.add(name);
    for (const name of h.on ?? []) out.delete(name);
  }
  return out;
}
/** The last event up to a time that has changed what the mechanism is made of. */
export function changed(events: Happened[], time: number): Happened | undefined {
  return events.filter((h) => h.t <= time && (h.off ?? h.on ?? h.locked ?? h.freed) !== undefined).at(-1);
}

/** The joint or body of a limit such as `knee.min`. */
const place = (name: string): string[] => [name, name.replace(/\.[^.]*$/, "")];

/** Tables of events, one for each result that has any. */
export function eventTables(results: { label: string; events: Happened[] }[], host: DiagnosisHost): HTMLElement[] {
  return results.filter((r) => r.events.length > 0).map(({ label, events }) => {
    const has = { speed: events.some((h) => h.speed), impulse: events.some((h) => h.impulse), lost: events.some((h) => h.lost) };
    const head = ["time [s]", "what", "", ...(has.speed ? ["rate before", "after"] : []), ...(has.impulse ? ["impulse"] : []), ...(has.lost ? ["lost [J]"] : [])];
    const number = (x: number | undefined) => el("td", { class: "number" }, x === undefined || x === 0 ? "" : format(x));
    const rows = events.slice(0, MOST).map((h) => {
      const row = el("tr", {}, el("td", { class: "number" }, button(String(Number(h.t.toPrecision(7))), `Jump to ${words(h)}`, () => host.jump(h.t))), el("td", {}, h.name), el("td", {}, h.kind === "event" ? "" : h.kind),
        ...(has.speed ? [number(h.speed?.[0]), number(h.speed?.[1])] : []), ...(has.impulse ? [number(h.impulse)] : []), ...(has.lost ? [number(h.lost)] : []));
      row.addEventListener("pointerenter", () => host.highlight(place(h.name)));
      row.addEventListener("pointerleave", () => host.highlight([]));
      return row;
    });
    const lost = events.reduce((sum, h) => sum + (h.lost ?? 0), 0), many = `${events.length} ${events.length === 1 ? "event" : "events"}${lost > 0 ? `, ${format(lost)} J lost` : ""}`;
    return el("section", { class: "events" }, el("h2", {}, `Events${results.length > 1 ? ` of ${label}` : ""}`), el("p", { class: "hint" }, many),
      el("div", { class: "wide" }, el("table", {}, el("thead", {}, el("tr", {}, ...head.map((t, k) => el("th", { class: k === 1 || k === 2 ? "" : "number" }, t)))), el("tbody", {}, ...rows))),
      events.length > MOST ? el("p", { class: "hint" }, `and ${events.length - MOST} more in events.csv of the result`) : null);
  });
}

/** Marks of a bar: events that a pixel or two cannot keep apart are one. */
export function eventMarks(events: Happened[], start: number, span: number): { time: number; text: string }[] {
  const out: { time: number; text: string; last: number; count: number }[] = [];
  for (const h of events) {
    const before = out[out.length - 1];
    if (before && h.t - before.last < 0.004 * span) {
      before.last = h.t;
      before.count++;
      if (before.count < 5) before.text += `; ${words(h)}`;
    } else if (h.t >= start && h.t <= start + span) out.push({ time: h.t, last: h.t, count: 1, text: words(h) });
  }
  return out.map(({ time, text, count, last }) => ({ time, text: count > 4 ? `${text} and ${count - 4} more until ${format(last)} s` : text }));
}
